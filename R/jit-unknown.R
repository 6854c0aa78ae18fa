# What R code asks of a traced tensor that only its elements would answer.

# The error for code that reads the elements of `x`; called from C, where they are read. The reader
# may be a function of R, which is then under way, or one of R's primitive functions, which are not
# on the stack: it is looked for in the code of the function that called it.
unknown_values <- function(x) {
  first <- session()$frame
  reader <- NULL # the outermost frame of joist or base R that the user's function has called
  for (frame in rev(seq_len(sys.nframe() - 1L))) {
    if (frame <= first) break
    f <- sys.function(frame)
    if (is.primitive(f)) next # which dispatches
    if (is_own(f)) {
      # Unless the reader stands in code that was handed over.
      if (is.null(reader) || sys.parents()[reader] >= frame) {
        reader <- if (!startsWith(called_name(sys.call(frame)), ".joist_")) frame
      }
    } else if (is_users(f)) {
      call <- if (is.null(reader)) {
        reading_call(body(f), sys.frame(frame))
      } else if (is_own(sys.function(reader))) {
        call_of_frame(reader)
      } else {
        sys.call(reader)
      }
      return(unknown_condition(call, frame))
    } else if (!is_evaluating(f)) {
      reader <- frame
    }
  }
  unknown_condition(NULL, 0L)
}

is_own <- function(f) identical(topenv(environment(f), baseenv()), topenv())

# Functions of base R that evaluate code of their caller, and functions within functions of base R.
is_evaluating <- function(f) {
  !isNamespace(environment(f)) || any(vapply(list(
    base::eval, base::evalq, base::withCallingHandlers, base::tryCatch, base::try, base::do.call,
    base::suppressWarnings, base::suppressMessages, base::local, base::eval.parent, base::with
  ), identical, NA, f))
}

called_name <- function(call) {
  head <- if (is.call(call)) call[[1L]]
  if (is.call(head) && identical(head[[1L]], quote(`::`))) head <- head[[3L]]
  if (is.name(head)) as.character(head) else ""
}

# What identical() says, but traced tensors are the same if they stand for the same value.
are_same <- function(x, y) .Call(joist_r_are_same, x, y)

# A traced or abstract tensor with the names that another tensor has, and no others.
named_like <- function(x, like) .Call(joist_r_named_like, x, like)

# Whether two tensors have the same names at each call.
same_labels <- function(x, y) {
  are_same(attr(x, "names", TRUE), attr(y, "names", TRUE)) &&
    are_same(attr(x, "dimnames", TRUE), attr(y, "dimnames", TRUE))
}

# What to write where a function of R reads values; NULL if nothing is as good.
written_instead <- function(name, call) {
  if (name %of% c("[", "[[") && length(call) > 1L) {
    return(paste0("index a tensor, such as nv_tensor(", short_code(call[[2L]]), ")"))
  }
  if (name %of% names(instead_of)) {
    return(instead_of[[name]])
  }
  own <- counterpart(name)
  if (!is.null(own)) paste0("call ", own, "()")
}

instead_of <- local({
  joined <- "call lapply() and do.call(c, ...) or nv_stack()"
  c(
    sapply = joined, vapply = joined, mapply = "call Map() and do.call(c, ...) or nv_stack()",
    unlist = "call do.call(c, ...)", simplify2array = "call nv_stack()",
    Reduce = "leave out `accumulate`, or call nv_cumsum() or nv_scan()",
    tapply = "call nv_segment_sum()", apply = "call nv_apply()", outer = "call nv_outer()",
    "%o%" = "call nv_outer()", matrix = "call nv_reshape()", array = "call nv_reshape()",
    sweep = "use nv_reshape() and an operator", as.vector = "call nv_flatten()",
    as.integer = "call nv_convert(x, \"i32\")", as.double = "call nv_convert(x, \"f64\")",
    as.numeric = "call nv_convert(x, \"f64\")", as.logical = "call nv_convert(x, \"bool\")",
    as.complex = "call nv_convert(x, \"c128\")", is.na = "call nv_is_na()",
    anyNA = "call nv_reduce_any(nv_is_na(x))", order = "call nv_argsort()",
    rank = "call nv_argsort()", tabulate = "call nv_tabulate()", match = "call nv_match()",
    is.element = "call nv_is_in()", findInterval = "call nv_searchsorted()",
    seq = "loop over `for (i in seq_len(n))`", which = "use the mask, with nv_ifelse()",
    identical = "compare with all(x == y)", all.equal = "compare with all(abs(x - y) < tolerance)",
    crossprod = "call nv_crossprod()"
  )
})

has_labels <- function(x) {
  !is.null(attr(x, "names", TRUE)) || !is.null(attr(x, "dimnames", TRUE))
}

# `call`, made in a frame, reads values; NULL if it is not known.
unknown_condition <- function(call, frame) {
  keyword <- called_name(call)
  f <- if (frame > 0L) sys.function(frame)
  name <- if (frame > 0L && !is.null(call)) traced_in(call, sys.frame(frame))
  around <- if (frame > 0L) called_name(sys.call(frame)) else ""
  reader <- if (nzchar(keyword)) {
    paste0("`", short_code(call), "`")
  } else if (around %of% c("", "jitted")) {
    "a function of R"
  } else {
    paste0("a function of R in ", around, "()")
  }
  instead <- written_instead(keyword, call)
  ways <- c(
    instead, if (length(name) > 0L && name[1L] %of% names(formals(f)) && !session()$in_body) {
      "make it a static argument"
    },
    if (is.null(instead)) "use its shape()"
  )
  trace_condition(call, paste0(
    reader, " needs values, which are not known while jit() traces a function; ",
    if (length(name) > 0L) paste0("`", name[1L], "` is a tensor: "), paste(ways, collapse = ", or ")
  ))
}

# An error of R itself that comes of values that are not known is that error.
explain_error <- function(e) {
  call <- conditionCall(e)
  if (is_rewritten_code(call)) {
    e["call"] <- list(users_code(call))
    stop(e)
  }
  if (inherits(e, "joist_error")) {
    return(NULL)
  }
  .Call(joist_r_poison_explain)
  if (is.call(call) && any(vapply(call[-1L], is.environment, NA))) {
    # The user's function calls joist's, which runs its code.
    from <- users_call(flow$first, c("stop", "stopifnot"))
    if (!is.null(from)) {
      e["call"] <- from
      stop(e)
    }
  }
}

# The variables of a call that are traced tensors in a frame.
traced_in <- function(call, frame) {
  is_found <- function(name) {
    !bindingIsActive0(name, frame) &&
      tryCatch(is_traced(get0(name, frame)), error = function(e) FALSE)
  }
  Filter(is_found, all.vars(call))
}

bindingIsActive0 <- function(name, frame) { # nolint: object_name_linter.
  exists(name, frame, inherits = FALSE) && bindingIsActive(name, frame)
}

# The innermost call in code of a primitive function that reads the elements of a traced variable:
# one without a method for tensors, if there is such a call. Words of R's language come last.
reading_call <- function(code, frame) {
  found <- list()
  look <- function(code) {
    if (!is.call(code)) {
      return()
    }
    for (part in as.list(code)) if (is.call(part)) look(part)
    if (may_read(code, frame)) found[[length(found) + 1L]] <<- code
  }
  look(code)
  order <- vapply(found, function(call) {
    name <- as.character(call[[1L]])
    if (name %of% c("if", "while", "for", "&&", "||", "switch", "repeat")) {
      return(3L)
    }
    grouped <- is.function(get0(name, .GenericArgsEnv)) # has a method for a group
    if (grouped || !is.null(utils::getS3method(name, "nv_tensor", optional = TRUE))) 2L else 1L
  }, 1L)
  c(found[order(order)], list(NULL))[[1L]]
}

# Whether code is a call of a primitive function that may read the elements of a traced variable.
may_read <- function(code, frame) {
  name <- if (is.name(code[[1L]])) as.character(code[[1L]]) else ""
  if (name %of% c("", harmless_words) || !is.primitive(get0(name, baseenv(), mode = "function"))) {
    return(FALSE)
  }
  own <- name %of% c("[", "[[") && length(traced_in(code[[2L]], frame)) > 0L
  length(traced_in(code, frame)) > 0L && !own
}

harmless_words <- c(
  "{", "(", "<-", "<<-", "=", "function", "return", "list", "$", "@", "unclass", "length", "dim"
)

# ---- questions about R numbers ----

# An R number among the arguments, or one computed of such, is a tensor while a function is traced,
# as operators must find methods for it. What code asks about its class is answered for the number
# that the plain run has.
is_stand_in <- function(x) is.object(x) && is_traced(x) && is_r_number(x)

plain_like <- function(x) {
  plain <- vector(typeof(x), length(x))
  dim(plain) <- dim(x)
  plain
}

asked_of_plain <- function(f) {
  force(f)
  function(x, ...) f(if (is_stand_in(x)) plain_like(x) else not_mixed(x, 2L), ...)
}

# What the method of a generic is chosen for.
dispatched <- function(x) {
  if (missing(x)) {
    return(NULL)
  }
  x <- not_mixed(x, 3L, sys.call(-1L))
  if (is_stand_in(x)) plain_like(x) else x
}

# An S4 generic whose methods are those of the plain run.
generic_of_plain <- function(f) {
  force(f)
  function(...) {
    given <- list(...)
    for (x in given) not_mixed(x, 3L, sys.call())
    if (!any(vapply(given, is_stand_in, NA))) {
      return(f(...))
    }
    signature <- as.list(match.call(args(f), as.call(c(f, given))))[f@signature]
    classes <- vapply(signature, function(x) {
      if (is.null(x)) "missing" else class(if (is_stand_in(x)) plain_like(x) else x)[1L]
    }, "")
    methods::selectMethod(f, unname(classes))(...)
  }
}

# Questions about names.
asked_of_names <- function(f) {
  force(f)
  function(x, ...) {
    if (is.environment(x) && is_tracing()) check_exists(x)
    f(decided(x), ...)
  }
}

decided <- function(x) if (is.object(x) && is_traced(x)) .Call(joist_r_decided, x) else x

# A flag that only the values decide is one that R has in the plain run.
truth_of <- function(f, is_true) {
  force(f)
  force(is_true)
  function(x) {
    if (!is_traced(x) || !is.logical(x) || length(x) != 1L) {
      return(f(x))
    }
    x <- nv_reshape(as_operand(x), integer())
    if (has_mask(x)) x <- nv_replace_na(x, !is_true)
    as_r_number(if (is_true) x else !x)
  }
}

missing_values <- function(x) {
  if (is.object(x) && is_traced(x)) as_r_number(nv_is_na(as_operand(x))) else is.na(x)
}

# Questions about R's type.
asked_of_type <- function(f) {
  force(f)
  function(x) f(not_mixed(x, 1L))
}

not_mixed <- function(x, how, code = NULL) {
  if (base::bitwAnd(mixed(x), how) > 0L) stop_mixed(code) else x
}

# The error for code whose answer depends on whether a value is an R integer or a double, or an R
# number or a tensor, which a traced condition decides.
stop_mixed <- function(code = NULL) {
  if (is.null(code)) code <- asking_call()
  condition <- trace_condition(code, paste0(
    "`", short_code(code), "` depends on whether ", mixed_text
  ))
  .Call(joist_r_poison_note, condition)
  stop(condition)
}

# The call of a function that asks, made by code of the user.
asking_call <- function() {
  first <- session()$frame
  users <- Filter(function(k) {
    k > first && is_users(sys.function(k)) && !is_own(sys.function(k))
  }, seq_len(sys.nframe()))
  at <- seq(max(users, first) + 1L, sys.nframe())
  at <- Filter(function(k) {
    name <- called_name(sys.call(k))
    within <- identical(environment(sys.function(k)), topenv()) ||
      sys.parents()[k] != max(users, first)
    !startsWith(name, ".joist_") && (!within || endsWith(name, ".nv_tensor"))
  }, at)
  code <- sys.call(c(at, first + 1L)[1L])
  if (is.name(code[[1L]])) code[[1L]] <- as.name(sub(".nv_tensor", "", code[[1L]], fixed = TRUE))
  code
}

mixed_text <- paste(
  "a number is an R integer, an R double or a tensor, which a traced condition decides; write `0`",
  "for `0L`, or start with a tensor"
)

check_not_mixed <- function(result) {
  at <- first_misfit(result, "", function(x) base::bitwAnd(mixed(x), 1L) == 0L)
  if (!is.null(at)) {
    stop(trace_condition(NULL, paste0("the result", at, " depends on whether ", mixed_text)))
  }
}

identical_values <- function(x, y, ...) {
  for (part in list(x, y)) decided(not_mixed(part, 3L))
  stand_ins <- c(is_stand_in(x), is_stand_in(y))
  if (!any(stand_ins)) {
    return(identical(x, y, ...))
  }
  same <- are_same(x, y)
  given <- list(x, y)
  if (stand_ins[1L]) x <- plain_like(x)
  if (stand_ins[2L]) y <- plain_like(y)
  alike <- typeof(x) == typeof(y) && length(x) == length(y) &&
    identical(attributes(x), attributes(y))
  if (same || !alike) {
    return(alike)
  }
  if (length(x) == 1L && !has_mask(given[[1L]]) && !has_mask(given[[2L]])) {
    return(same_number(given, is.double(x)))
  }
  condition <- unknown_condition(sys.call(), sys.parent())
  .Call(joist_r_poison_note, condition)
  stop(condition)
}

# Whether two numbers that the program knows are the same, or both NaN.
same_number <- function(given, double) {
  given <- lapply(given, function(part) nv_reshape(carried_number(part), integer()))
  both_nan <- if (double) nv_is_na(given[[1L]]) & nv_is_na(given[[2L]]) else FALSE
  as_r_number((given[[1L]] == given[[2L]]) | both_nan)
}

questions_of_numbers <- c(
  lapply(list(
    class = class, oldClass = oldClass, inherits = inherits, is.object = is.object,
    attributes = function(x) attributes(decided(x)), is.vector = is.vector, is = methods::is,
    is_tensor = function(x) inherits(x, "nv_tensor")
  ), asked_of_plain),
  lapply(list(
    typeof = typeof, is.integer = is.integer, is.double = is.double, is.logical = is.logical,
    storage.mode = storage.mode, mode = mode, is.numeric = is.numeric
  ), asked_of_type),
  lapply(list(
    names = names, dimnames = dimnames, rownames = rownames, colnames = colnames, attr = attr
  ), asked_of_names),
  identical = identical_values, isTRUE = truth_of(isTRUE, TRUE), isFALSE = truth_of(isFALSE, FALSE),
  is.na = missing_values
)
control_functions <- c(
  flow_functions, effect_functions, simplifying_functions, questions_of_numbers,
  deparse = users_text(base::deparse), deparse1 = users_text(base::deparse1),
  .joist_dispatched = dispatched, .joist_part = control_part,
  .joist_part_once = control_part_once,
  stats::setNames(questions_of_numbers, paste0(".joist_", names(questions_of_numbers)))
)
# Those that stand for functions of base R, methods and joist.
names_of_base <- unique(grep("^[.]joist_", names(control_functions), value = TRUE, invert = TRUE))
flow_words <- c(statement_words, names(questions_of_numbers))
