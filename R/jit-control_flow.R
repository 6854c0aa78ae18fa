# What the code of jit-rewrite.R calls. On R values these functions say what R's own `if`, `for` and
# `while` do next. On traced tensors they trace branches and bodies, part by part, in the frame of
# the function, and add instructions with regions to the program (see jit-loops.R). What a branch or
# body assigns is the carry.

# What helpers hand over to the code that called them, the frames whose branches and loops are under
# way, and the trace: the number of its first frame, its function, and the environments that were
# there before it.
flow <- list2env(list(
  value = NULL, left = NULL, inside = NULL, taken = NULL, frames = list(), notes = NULL,
  counting = NULL,
  first = NULL, traced = NULL, outer = NULL, effects = 0L, failure = NULL, doubts = FALSE
), parent = emptyenv())

is_traced <- function(x) .Call(joist_r_is_traced, x)

# ---- called by rewritten code ----

# The body of a function that has parts.
control_run <- function(code) {
  parts <- code$parts
  frame <- parent.frame()
  ran <- .Call(joist_r_code_parts, parts, frame)
  if (is.null(ran[[4L]])) {
    return(ran[[2L]])
  }
  value <- run_parts(parts, frame, in_function, ran)$value
  if (is_undefined(value)) NULL else value
}

# Which arm of `switch` comes next: the branch for TRUE, for FALSE, or the value of both.
control_if <- function(site, condition) {
  condition <- condition_of(condition, site)
  if (!is_traced(condition)) {
    return(if (condition) 1L else 2L)
  }
  if (length(site$escapes) > 0L) stop_stuck(site)
  level <- list(needed = site$needed, tail = "none")
  flow$value <- run_branches(site, parent.frame(), condition, level)$value
  3L
}

control_value <- function() {
  value <- flow$value
  flow$value <- NULL
  value
}

control_nothing <- function() invisible(NULL)

# Notes how a part is left from within an expression; its value is that of the part. In code that
# eval() runs in another environment, return() ends that code.
control_leave <- function(how, value = NULL) {
  force(value)
  if (how == "return" && !identical(parent.frame(), flow$inside)) {
    return(value)
  }
  if (is.null(flow$left)) {
    stop_flow(
      list(call = call(how)), "`", how,
      "` must be a statement of the function or loop; here it is ",
      "a part of a condition"
    )
  }
  flow$left <- how
  value
}

# local() with one argument is a function that is called at once, unless the user has another one.
control_local <- function(body, otherwise) {
  if (identical(get0("local", parent.frame(), mode = "function"), local)) body() else otherwise
}

control_exit <- function(site) {
  if (any(vapply(flow$frames, identical, NA, parent.frame()))) {
    stop_flow(site, "on.exit() cannot depend on a traced condition; call it before")
  }
}

# `&&` and `||`, of three values as in R.
control_lazy <- function(site, left, right) {
  and <- site$kind == "&&"
  if (!is_traced(left)) {
    return(lazy_after(site, left, right))
  }
  left <- flag_of(left, site)
  if (!site$simple) {
    return(lazy_branches(site, parent.frame(), left))
  }
  if (!is_traced(right)) {
    right <- as_written(site, right && TRUE)
    if (!is.na(right)) {
      return(if (right == and) left else !and)
    }
  } else {
    right <- flag_of(right, site)
  }
  if (and) left & right else left | right
}

# The value of `&&` or `||` if the left side is an R value.
lazy_after <- function(site, left, right) {
  and <- site$kind == "&&"
  known <- as_written(site, left && TRUE)
  if (!is.na(known) && known != and) {
    return(known)
  }
  if (!is_traced(right)) {
    return(as_written(site, if (and) known && right else known || right))
  }
  right <- flag_of(right, site)
  if (!is.na(known)) {
    return(right)
  }
  if (and) right & NA else right | NA
}

# The right side, where the left one is traced and leaves it open.
lazy_branches <- function(site, frame, left) {
  and <- site$kind == "&&"
  other <- function() {
    done <- run_parts(site$right, frame, in_value)
    right <- flag_of(done$value, site)
    # What is missing on the left stays so unless the right side decides.
    done$value <- if (!has_mask(left)) right else if (and) right & left else right | left
    done
  }
  known <- function() completion(0L, !and)
  open <- if (has_mask(left)) nv_replace_na(left, and) else left
  yes <- if (and) other else known
  no <- if (and) known else other
  merged_branches(site, frame, open, yes, no, TRUE)$value
}

# Whether R's `while` goes on. A traced condition runs the rest of the loop.
control_while <- function(site, condition) {
  condition <- condition_of(condition, site)
  if (!is_traced(condition)) {
    return(condition)
  }
  while_region(site, parent.frame(), condition, completion(0L))
  FALSE
}

# The arm of `switch` for the loop: R's own `for` over control_taken(), or nothing.
control_for <- function(site, values) {
  values <- loop_values(site, values)
  if (is_region_of(values)) {
    for_region(site, parent.frame(), values)
    return(2L)
  }
  flow$taken <- elements_of(site, values)
  control_start(site)
  1L
}

control_taken <- function() {
  values <- flow$taken
  flow$taken <- NULL
  values
}

# A loop that runs by its parts: 1, or 2 if the function has ended in it.
control_loop <- function(site) {
  done <- run_loop(site, parent.frame())
  if (!is_known(done)) stop_stuck(site)
  flow$value <- done$value
  invisible(if (done$kind == 3L) 2L else 1L)
}

# Values as R's `for` goes through them, or its error.
elements_of <- function(site, values) {
  if (is.factor(values)) {
    return(as.character(values))
  }
  if (!is.vector(values) && !is.null(values)) as_written(site, for (value in values) break)
  values
}

control_start <- function(site) {
  trace <- session()$trace
  site$start <- if (!is.null(trace)) .Call(joist_r_trace_length, trace)
  invisible()
}

unrolled_limit <- 1000L

# After a loop over R values. A long one is mentioned once.
control_end <- function(site) {
  trace <- session()$trace
  if (!is.null(trace) && !is.null(site$start) && !isTRUE(flow$notes$unrolled)) {
    added <- .Call(joist_r_trace_length, trace) - site$start
    if (added > unrolled_limit) {
      if (!is.null(flow$notes)) flow$notes$unrolled <- TRUE
      message(structure(
        class = c("joist_unrolled_message", "joist_message", "message", "condition"),
        list(message = paste0(
          header_of(site), place_of(site), " is a loop over R values: jit() has recorded its ",
          "iterations one by one, ", added, " instructions; loop over a tensor, such as ",
          "nv_seq(), to record its body once\n"
        ), call = site$call)
      ))
    }
  }
  invisible()
}

control_switch <- function(site, value) {
  if (is_traced(value)) {
    stop_flow(
      site, "switch() chooses code while jit() traces the function, and a traced tensor has no ",
      "value then; use `if` and `else`, or make the argument static"
    )
  }
  value
}

# A function that is not found by name, in the form that is traced.
control_function <- function(f) if (is.function(f)) rewritten(f) else f

# The value that is assigned to a part of an R vector: a vector that is to hold a traced value, or
# has a traced position, becomes a tensor.
control_fit <- function(site, value) {
  site$at <- NULL
  if (!is_tracing()) {
    return(value)
  }
  frame <- parent.frame()
  # A list holds any value. One that is looked at in another way would be copied when it is changed.
  if (is.name(site$target) && is.list(get0(as.character(site$target), frame))) {
    return(value)
  }
  positions <- lapply(seq_along(site$index), function(k) {
    if (k %in% site$once) {
      return(eval(site$index[[k]], frame))
    }
    tryCatch(eval(site$index[[k]], frame), error = function(e) NULL)
  })
  traced <- any(vapply(positions, is_traced, NA))
  if (is_traced(value) && !is_own_number(value) && holds_r_numbers(site, frame)) {
    value <- seen_by_r(value)
  }
  if (is_tensor(value) || traced) fit_target(site, frame, value)
  if (traced && (has_mask(value) || has_mask(get_target(site, frame)))) {
    stop_flow(
      site, header_of(site), " puts a value that may be missing, or into such values, at a traced ",
      "position; call nv_replace_na() first"
    )
  }
  if (length(positions) == 1L) value <- within_target(site, frame, value, positions[[1L]])
  if (length(site$once) > 0L) site$at <- positions
  value
}

# An index that may be evaluated only once: control_fit() has done so, if it looked at it.
control_at <- function(site, k, index) {
  if (is.null(site$at)) {
    return(index)
  }
  at <- site$at[[k]]
  if (k == max(site$once)) site$at <- NULL
  at
}

# A vector of R grows where R code assigns beyond its end; a traced one is an error that names it.
within_target <- function(site, frame, value, at) {
  target <- get_target(site, frame)
  grown <- ", and a traced vector does not grow"
  if (is.numeric(at) && !is.object(at) && is_traced(target) && is_carried_vector(target) &&
    any(at > length(target), na.rm = TRUE)) {
    stop_flow(site, header_of(site), " is beyond the end of `", short_code(site$target), "`", grown)
  }
  if (!is_own_number(value) || !is_position(at) || !is_carried_vector(target)) {
    return(value)
  }
  as_r_number(required_within(
    carried_number(value), nv_convert(at, "i64"), length(target), short_code(site$target), grown
  ))
}

holds_r_numbers <- function(site, frame) {
  target <- get_target(site, frame)
  length(target) > 0L && is_own_number(target)
}

is_position <- function(x) {
  is_traced(x) && !has_mask(x) && dtype_kind(dtype(x)) %of% c("int", "uint", "float")
}

is_carried_vector <- function(x) {
  is_tensor(x) && ndims(x) == 1L && (ambiguous(x) || is_own_number(x))
}

get_target <- function(site, frame) {
  tryCatch(eval(site$target, frame), error = function(e) {
    if (inherits(e, "joist_trace_error")) stop(e)
    FALSE
  })
}

fit_target <- function(site, frame, value) {
  target <- get_target(site, frame)
  # By a name, NULL becomes a list.
  if (is.null(target) && is.character(tryCatch(eval(site$one, frame), error = function(e) NULL))) {
    return()
  }
  made <- NULL
  if (length(target) == 0L && (is.null(target) || is_plain_number(target))) {
    # A vector that grows by one: its first element.
    if (is_tensor(value) && length(value) == 1L) {
      made <- nv_fill(0L, 0L, dtype(value), ambiguous(value))
    }
  } else if (is_plain_number(target)) {
    if (is_own_number(value) && is_double(value)) target <- target + 0
    made <- carried_number(target)
    if (ndims(made) == 0L) made <- nv_reshape(made, 1L)
  } else if (is_traced(target) && ambiguous(target)) {
    made <- widened_target(target, value)
  }
  if (!is.null(made)) eval(call("<-", site$target, made), frame)
}

# A traced tensor of an ambiguous dtype takes the dtype of what is assigned to a part of it, as
# other tensors do.
widened_target <- function(target, value) {
  if (!is_carriable(value)) {
    return(NULL)
  }
  type <- carried_type(value)
  if (type_string(type) == type_string(target)) {
    return(NULL)
  }
  joined <- joined_type(target, type)
  if (nzchar(joined) && joined != type_name(target) && joined == type_name(type)) {
    nv_convert(target, dtype(type), ambiguous(type))
  }
}

# c(), max() and the like look for a method of their first argument alone: behind an R number they
# see the R numbers of tensors. NULL, as in `out <- c(out, x)`, is left out. R's own numbers are
# compared and added as R has them.
tensor_first <- function(f, of_numbers = as_r_number) {
  force(f)
  force(of_numbers)
  function(...) {
    if (!is_tracing()) {
      return(f(...))
    }
    parts <- list(...)
    if (!any(vapply(parts, is_traced, NA))) {
      return(f(...))
    }
    parts <- Filter(Negate(is.null), parts)
    values <- names(parts)
    values <- if (is.null(values)) TRUE else values != "na.rm"
    if (is_own_number(parts[[1L]]) && all(vapply(parts, is_carriable, NA))) {
      parts[values] <- lapply(parts[values], seen_by_r)
      how <- max(vapply(list(...), mixed, 0L))
      value <- of_numbers(do.call(f, parts, quote = TRUE))
      if (how > 0L) .Call(joist_r_trace_mixed, value, how)
      return(value)
    }
    do.call(f, parts, quote = TRUE)
  }
}

# The R numbers that R code without methods has of a value.
seen_by_r <- function(x) {
  if (is_own_number(x)) {
    return(carried_number(x))
  }
  type <- switch(typeof(x), logical = "bool", integer = "i32", double = "f64", complex = "c128")
  as_r_number(converted_into(x, as_dtype(type), type != "bool"))
}

# Other functions of R's own packages that make R numbers of R numbers, in code of the user: those
# that compute with doubles, whatever the numbers are, and the rest.
rounding_functions <- c("ceiling", "floor", "round", "sign", "signif", "trunc")
functions_of_doubles <- c(
  "%*%", "atan2", "chol", "chol2inv", "colMeans", "colSums", "cor", "cov", "crossprod", "cumprod",
  "det", "log", "mad", "mean", "prop.table", "proportions", "qr.solve", "quantile", "rowMeans",
  "rowSums", "scale", "sd", "solve", "tcrossprod", "trigamma", "var", "weighted.mean",
  # By the version of R.
  Filter(function(name) is.double(get(name, baseenv())(2L)), rounding_functions)
)
number_functions <- union(functions_of_doubles, c(
  rounding_functions, "append", "ave", "cbind", "cummax", "cummin", "cumsum", "diag", "diff",
  "drop", "head", "median", "Mod", "order", "rank", "rbind", "rep", "rep_len", "replace", "rev",
  "rowsum", "sort", "split", "t", "tail", "which.max", "which.min"
))

# Each calls the function of its name, which its environment has.
number_forms <- lapply(stats::setNames(nm = number_functions), function(name) {
  eval(bquote(function(...) {
    given <- if (is_tracing()) list(...)
    tensors <- vapply(given, is_tensor, NA)
    if (!any(tensors) || !all(vapply(given[tensors], is_r_number, NA))) {
      return(.(as.name(name))(...))
    }
    how <- max(vapply(given[tensors], mixed, 0L))
    given[tensors] <- lapply(given[tensors], .(as.name(
      if (any(name == functions_of_doubles)) "double_number" else "carried_number"
    )))
    if (.(any(name == c("cbind", "rbind")))) given <- labelled(given, substitute(list(...)))
    value <- do.call(.(name), given, quote = TRUE)
    as_numbers(.(switch(name,
      cor = quote(na_of_constants(value, given)), cumsum = quote(as_integers(value)), quote(value)
    )), how)
  }))
})

# A correlation with numbers that are all equal is NA in R, and NaN where tensors have it.
na_of_constants <- function(ratio, parts) {
  numbers <- Filter(function(part) is.numeric(part) || is_tensor(part), parts)
  infinite <- lapply(numbers, function(part) nv_reduce_any(nv_is_infinite(part)))
  nv_ifelse(nv_is_nan(ratio) & !Reduce(nv_or, infinite), NA, ratio)
}

# As `cbind()` labels what it binds, by names in the call.
labelled <- function(given, code) {
  labels <- names(given)
  if (is.null(labels)) labels <- character(length(given))
  symbols <- labels == "" & vapply(as.list(code)[-1L], is.name, NA)
  if (!"deparse.level" %of% labels) {
    labels[symbols] <- vapply(as.list(code)[-1L][symbols], as.character, "")
  }
  stats::setNames(given, labels)
}

keeps_numbers <- function(f, name) {
  kept <- number_forms[[name]]
  environment(kept) <- list2env(stats::setNames(list(f), name), parent = topenv())
  kept
}

# Traced tensors, also in a list, as R numbers; see joist_r_trace_mixed() for `how`.
as_numbers <- function(value, how) {
  if (is.list(value) && !is.object(value)) {
    value[] <- lapply(value, as_numbers, how)
  } else if (is.object(value) && is_traced(value)) {
    value <- as_r_number(value)
    if (how > 0L) .Call(joist_r_trace_mixed, value, how)
  }
  value
}

# What is taken of x, or of its numbers in full.
taken_of <- function(x, take) {
  if (is.object(x) && is_traced(x) && is_r_number(x)) {
    return(as_numbers(take(carried_number(x)), mixed(x)))
  }
  take(x)
}

# R numbers, which are left in full, or a tensor in another shape.
reshaped_number <- function(x, extents) {
  if (!is_traced(x) || format(dtype(x)) == "f64") {
    return(nv_reshape(x, extents))
  }
  taken_of(x, function(x) nv_reshape(x, extents))
}

# R's sums, and largest flags, are integers, and its products doubles.
as_integers <- function(x) {
  if (format(dtype(x)) == "i64") {
    within <- nv_reduce_all(abs(x) <= .Machine$integer.max)
    x <- required(x, within, "a sum of R integers does not fit R's integers; write `0` for `0L`")
  }
  if (format(dtype(x)) == "bool" || is_integer_dtype(x)) x <- nv_convert(x, "i32", TRUE)
  as_r_number(x)
}

as_doubles <- function(x) as_r_number(nv_convert(x, "f64", TRUE))

# R's seq_len() in traced functions.
counted_sequence <- function(length.out) { # nolint: object_name_linter. R's name.
  if (!is_traced(length.out)) {
    return(base::seq_len(length.out))
  }
  if (counts_here(length.out)) {
    return(new_count(length.out))
  }
  stop_joist(
    "joist_value_error", "`", short_code(substitute(length.out)), "` decides about a shape, so ",
    "that jit() must know its value: name the argument in `static`, or write ",
    "`for (i in seq_len(n))`"
  )
}

# `from:to` in the header of `for`. As in R, it counts down if `to` is smaller.
control_range <- function(site, from, to) {
  if (!is_traced(from) && !is_traced(to)) {
    return(as_written(site, from:to))
  }
  bound <- function(x) {
    if (is_traced(x)) {
      return(traced_bound(site, x))
    }
    x <- as_written(site, x:x)
    if (is.integer(x)) x else carried_number(x)
  }
  from <- bound(from)
  to <- bound(to)
  distance <- nv_convert(to, "f64") - nv_convert(from, "f64")
  step <- nv_ifelse(distance < 0, -1L, 1L)
  count <- nv_convert(nv_floor(abs(distance) + 1e-10), "i32") + 1L
  as_count(count, function(at) as_r_number(from + step * (at - 1L)), FALSE)
}

# Asks a question about tensors, which is an error for R's numbers, traced ones included.
type_of_tensors <- function(x, f) f(if (is_computed(x)) vector(typeof(x), 1L) else x)

flow_functions <- list(
  dtype = function(x) type_of_tensors(x, dtype),
  ambiguous = function(x) type_of_tensors(x, ambiguous),
  c = tensor_first(base::c), max = tensor_first(base::max, as_integers),
  min = tensor_first(base::min, as_integers), sum = tensor_first(base::sum, as_integers),
  prod = tensor_first(base::prod, as_doubles), range = tensor_first(base::range, as_integers),
  any = tensor_first(base::any), all = tensor_first(base::all),
  seq_len = counted_sequence, .joist_range = control_range,
  .joist_run = control_run, .joist_if = control_if, .joist_value = control_value,
  .joist_nothing = control_nothing, .joist_local = control_local, .joist_leave = control_leave,
  .joist_exit = control_exit,
  .joist_lazy = control_lazy, .joist_loop = control_loop, .joist_while = control_while,
  .joist_for = control_for, .joist_taken = control_taken, .joist_start = control_start,
  .joist_end = control_end, .joist_switch = control_switch,
  .joist_function = control_function, .joist_fit = control_fit,
  .joist_at = control_at
)

# ---- conditions ----

# TRUE, FALSE, or a traced scalar of dtype bool. One that is missing is R's error, when the program
# comes to it.
condition_of <- function(x, site) {
  flag <- flag_of(x, site)
  if (!is_traced(flag)) {
    if (is.na(flag)) as_written(site, if (x) TRUE)
    return(flag)
  }
  if (!has_mask(flag)) {
    return(flag)
  }
  failure <- simpleError("missing value where TRUE/FALSE needed", site$call)
  raise_where(nv_is_na(flag), failure, site$call, globalenv())
  nv_replace_na(flag, FALSE)
}

# The same, or NA, or a scalar that may be missing.
flag_of <- function(x, site) {
  if (is.logical(x) && !is.object(x) && length(x) == 1L) {
    return(x)
  }
  if (!is_traced(x)) {
    return(as_written(site, if (x) TRUE else FALSE))
  }
  if (length(x) != 1L) {
    stop_flow(
      site, "the condition of ", header_of(site), " must be one TRUE or FALSE, not a tensor of ",
      "shape ", shape_text(x),
      if (length(x) > 1L) ": its length is more than 1; use all(), any(), or nv_ifelse()",
      class = "joist_shape_error"
    )
  }
  if (is_number(x)) x <- as_operand(x)
  if (ndims(x) != 0L) x <- nv_reshape(x, integer())
  if (format(dtype(x)) != "bool") x <- x != 0L
  x
}

# What R gives, with its error in the place of the user's code.
as_written <- function(site, expr) {
  withCallingHandlers(expr, error = function(e) {
    if (!inherits(e, "joist_error")) {
      e$call <- site$call
      stop(e)
    }
  })
}

# ---- messages ----

header_of <- function(site) {
  if (is.null(site$header)) site$header <- written_header(site)
  site$header
}

written_header <- function(site) {
  code <- site$call
  text <- switch(site$kind,
    "if" = ,
    "while" = paste0(site$kind, " (", short_code(code[[2L]]), ")"),
    "for" = paste0("for (", site$variable, " in ", short_code(code[[3L]]), ")"),
    "repeat" = "repeat",
    short_code(code)
  )
  paste0("`", text, "`")
}

short_code <- function(code) {
  text <- paste(gsub("^ +", "", deparse(users_code(code), 500L)), collapse = " ")
  if (nchar(text) > 60L) paste0(substr(text, 1L, 57L), "...") else text
}

# Code as the user has written it: sites have that of the calls that they are in.
users_code <- function(code) {
  if (!is.call(code)) {
    return(code)
  }
  name <- called_name(code)
  inner <- if (length(code) > 1L && is.call(code[[2L]])) called_name(code[[2L]]) else ""
  at <- switch(name,
    "switch" = if (inner %of% c(".joist_if", ".joist_for", ".joist_loop")) 2L,
    "{" = if (inner == ".joist_start") 2L else if (inner == ".joist_exit") 3L,
    ".joist_part" = , ".joist_part_once" = , ".joist_function" = , ".joist_dispatched" = 2L,
    ".joist_switch" = , ".joist_fit" = , ".joist_local" = 3L,
    ".joist_at" = 4L
  )
  if (!is.null(at)) {
    return(users_code(code[[at]]))
  }
  if (startsWith(name, ".joist_")) {
    if (is.environment(code[[2L]])) {
      return(code[[2L]]$call)
    }
    code[[1L]] <- as.name(substring(name, nchar(".joist_") + 1L))
  }
  for (k in seq_along(code)) if (is.call(code[[k]])) code[[k]] <- users_code(code[[k]])
  code
}

is_rewritten_code <- function(code) is.call(code) && any(startsWith(all.names(code), ".joist_"))

# R's deparse() in traced functions.
users_text <- function(f) {
  force(f)
  function(expr, ...) {
    if (typeof(expr) == "closure" && !is.null(attr(body(expr), "joist_rewritten"))) {
      expr <- as.function(c(lapply(formals(expr), users_code), list(users_code(body(expr)))))
    }
    f(users_code(expr), ...)
  }
}

place_of <- function(site) {
  if (is.null(site$ref)) {
    return("")
  }
  file <- basename(attr(site$ref, "srcfile")$filename)
  named <- length(file) == 1L && nzchar(file) && !startsWith(file, "<")
  paste0(" in ", if (named) paste0(file, ", "), "line ", site$ref[1L])
}

stop_flow <- function(site, ..., class = NULL) {
  stop(structure(
    class = c(
      "joist_trace_error", class, "joist_value_error", "joist_error", "error", "condition"
    ),
    list(message = paste0(..., place_of_message(site)), call = site$call)
  ))
}

place_of_message <- function(site) {
  place <- place_of(site)
  if (nzchar(place)) paste0(",", place) else ""
}

stop_stuck <- function(site) {
  words <- paste0("`", union(site$escapes, site$ways), "`", collapse = " and ")
  stop_flow(
    site, words, " on a traced condition must be a statement of the function or loop; here ",
    header_of(site), " is a part of an expression"
  )
}
