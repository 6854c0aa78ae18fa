# The one place where joist's conditions are raised; called from C, and from R through
# stop_joist().
raise <- function(class, message) {
  stop(structure(
    class = c(class, "joist_error", "error", "condition"),
    list(message = message, call = user_call(sys.nframe() - 1L))
  ))
}

stop_joist <- function(class, ...) raise(class, paste0(...))

# An implicit promotion that the policy in force refuses or warns about; called from C, before
# anything is computed. `places` has those that were warned about.
implicit_promotion <- function(facts, places) {
  site <- finding_site(sys.nframe() - 1L)
  facts$op <- c(exported_operation(site$frames), facts$op)[1L]
  tell_facts(
    facts, places, site, promotion_message, "joist_implicit_promotion", "joist_promotion_error",
    "joist_promotion_warning", "result"
  )
}

# Where warnings about values were given, unless a policy keeps its own list: the calls and the
# functions that they are in, by operation, kind and source reference.
warned_places <- new.env(parent = emptyenv())

# Where C found something: joist's own frames there, the call by which the user entered joist, and
# the function that it is in. Two functions may have the same expression, and source references do
# not tell them apart where R keeps none.
finding_site <- function(frame) {
  frames <- own_frames(frame, 0L)
  entry <- outermost(frames)
  call <- if (!is.null(entry)) call_of_frame(entry)
  around <- function_around(entry)
  list(
    frames = frames, call = call, here = list(call, if (!is.null(around)) body(around)),
    # In a function without source references they are those of a caller.
    lost = !is.null(around) && is.null(attr(around, "srcref"))
  )
}

# The name of what C found there, which other sites may have.
finding_name <- function(facts, site) {
  traced <- isTRUE(facts$traced)
  reference <- if (traced || !site$lost) c(facts$file, facts$reference)
  # Nor do calls in compiled code have any there.
  if (traced && is.null(reference)) reference <- paste0("#", facts$instruction)
  paste(c(facts$op, facts$kind, facts$dtype, facts$result, reference), collapse = " ")
}

was_told <- function(place, site, places) {
  for (told in places[[place]]) if (identical(told, site$here)) return(TRUE)
  FALSE
}

# About which of `found` changed_values() would be silent, as it has warned; called from C before a
# run.
values_were_told <- function(found, places) {
  if (is.null(places)) places <- warned_places
  site <- finding_site(sys.nframe() - 1L)
  vapply(found, function(facts) was_told(finding_name(facts, site), site, places), NA)
}

# Tells of what C found, by an error, or by a warning once per place, with the fields of it that are
# named and those that all conditions have. The file and the line are NA where C found none.
tell_facts <- function(facts, places, site, message, class, error, warning, fields) {
  place <- finding_name(facts, site)
  # A program that wraps on purpose comes here at every operation: first look at what was told.
  if (is.null(places)) places <- warned_places
  if (!facts$refused && was_told(place, site, places)) return(invisible())
  file <- if (is.null(facts$file)) NA_character_ else facts$file
  line <- if (is.null(facts$reference)) NA_integer_ else facts$reference[1L]
  condition <- judged_condition(
    c(paste0("joist_", facts$kind, "_%s"), class), facts$refused, error, warning,
    message = message(facts, file, line), call = site$call, file = file, line = line
  )
  fields <- c("kind", "op", "operands", fields)
  condition[fields] <- facts[fields]
  if (facts$refused) stop(condition)
  warning(condition)
  # Not where a handler made an error of it.
  assign(place, c(places[[place]], list(site$here)), envir = places)
}

# The function that a frame was called from; NULL at top level.
function_around <- function(frame) {
  caller <- if (is.null(frame)) 0L else sys.parents()[frame]
  if (caller > 0L) sys.function(caller)
}

# An error or a warning of a policy, whose classes may have "%s" in place of "error" or "warning".
judged_condition <- function(classes, refused, error, warning, ...) {
  level <- if (refused) "error" else "warning"
  condition <- list(...)
  class(condition) <- c(
    sub("%s", level, classes, fixed = TRUE), if (refused) c(error, "joist_error") else warning,
    level, "condition"
  )
  condition
}

user_loops <- c("while", "if", "for", "scan", "associative_scan", "switch", "apply", "vmap")

# Values that did not fit: results of integer operations that wrapped, or elements that an implicit
# conversion changed; called from C, after a run. `places` has those that were warned about.
changed_values <- function(found, places) {
  site <- finding_site(sys.nframe() - 1L)
  steps <- c("convert", "compute", user_loops)
  delayedAssign("called", exported_operation(site$frames))
  message <- function(facts, file, line) {
    # These are steps of other functions, too, but what loops over code of the user.
    if (facts$op %of% c("convert", "add", "mul", "abs")) {
      kept <- if (facts$op == "convert") steps[1:2] else steps
      facts$called <- if (!isTRUE(called %of% kept)) called
    }
    changed_message(facts, file, line)
  }
  for (facts in found) {
    tell_facts(
      facts, places, site, message, "joist_changed_values_%s", "joist_value_error",
      "joist_warning", c("dtype", "count", "position")
    )
  }
}

# The same of a conversion that no operation makes, where `level` is not "ok".
judge_rounding <- function(x, dtype, op, level) {
  found <- if (level != "ok") .Call(joist_r_first_change, x, dtype) else 0
  if (found[1L] == 0) {
    return(invisible())
  }
  facts <- list(
    kind = "loss", op = op, dtype = dtype, operands = type_string(x), count = found[2L],
    position = found[1L], refused = level == "error", converts = TRUE, bounded = FALSE
  )
  changed_values(list(facts), NULL)
}

# Those of dtypes of which another one does not hold all values.
changed_dtypes <- function(from, to) {
  from <- setdiff(sub("[?]$", "", from), to)
  loses <- .Call(joist_r_conversion_loses, from, rep_len(to, length(from)))
  if (any(loses)) from[loses] else from
}

changed_message <- function(facts, file, line) {
  count <- grouped_digits(facts$count)
  one <- facts$count == 1
  position <- number_text(facts$position)
  if (!facts$converts) {
    what <- if (one) {
      paste0("1 result of ", facts$dtype, ", at position ", position, ", does")
    } else {
      paste0(count, " results of ", facts$dtype, ", the first at position ", position, ", do")
    }
    flags <- facts$dtype == "bool"
    wide <- if (facts$bounded || facts$dtype %of% c("i64", "ui64")) "f64" else "i64"
    what <- paste0(
      what, " not fit and ", if (facts$bounded || flags) "become" else "wrap", if (one) "s",
      if (facts$bounded) " the nearest number that does",
      if (flags) " TRUE: 1 + 1 does not fit bool"
    )
    advice <- paste0("convert an operand with nv_convert(x, \"", wide, "\")")
  } else {
    # The first operand of nv_ifelse() is not converted.
    converted <- switch(facts$op,
      ifelse = facts$operands[-1L],
      put = ,
      update = ,
      scatter_add = ,
      pad = facts$operands[length(facts$operands)],
      facts$operands
    )
    from <- paste(changed_dtypes(converted, facts$dtype), collapse = " and ")
    whole <- is_integer_dtype(facts$dtype)
    what <- paste0(
      if (facts$kind == "overflow") "wraps " else if (whole) "truncates " else "rounds ",
      if (one) "1 element" else paste(count, "elements"), " of ", from, " to ",
      facts$dtype, if (one) ", at" else ", the first at", " position ", position
    )
    advice <- switch(facts$op,
      as.double = ,
      as.complex = ,
      summary = "use as_array(x, as = \"integer64\") or \"character\"",
      put = ,
      update = "nv_convert() the tensor to a dtype that holds the value, or the value",
      convert = "use nv_convert() with a dtype that holds the values",
      "convert both operands to a dtype that holds the values"
    )
  }
  at <- if (!is.na(line)) paste0(", in ", if (nzchar(file)) paste0(file, ", "), "line ", line)
  subject <- switch(facts$op,
    "update" = ,
    "put" = "assignment",
    "convert" = c(sprintf("nv_%s()", facts$called), "a conversion")[1L],
    "ifelse" = "`if` or nv_ifelse()",
    "as.double" = ,
    "as.complex" = ,
    "summary" = paste0(facts$op, "()"),
    "round_div" = "nv_div()",
    paste0("nv_", c(facts$called, facts$op)[1L], "()")
  )
  if (isTRUE(facts$beyond)) {
    return(paste0(subject, at, ": ", beyond_range(facts, from), "; ", advice))
  }
  if (isTRUE(facts$host) && !facts$converts) {
    return(paste0(subject, ": ", what, at, ", where R has NA; write `0` for `0L`"))
  }
  paste0(
    subject, if (facts$converts) " " else ": ", what, at, "; ", advice,
    ", or allow it by with_promotion(NULL, ..., on = c(", facts$kind, " = \"ok\"))"
  )
}

# As the error for an R number is worded.
beyond_range <- function(facts, from) {
  bounds <- dtype_info(facts$dtype)
  one <- facts$count == 1
  paste0(
    if (one) "the element" else paste(grouped_digits(facts$count), "elements"), " of ",
    from, if (one) " at position " else ", the first at position ",
    number_text(facts$position), if (one) " does" else ", do", " not fit ",
    facts$dtype, " (", format(bounds$min), " to ", format(bounds$max), ")"
  )
}

promotion_message <- function(facts, file, line) {
  what <- vapply(which(lengths(facts$kinds) > 0L), function(k) {
    kinds <- paste0("(", paste(facts$kinds[[k]], collapse = ", "), ")")
    if (identical(facts$kinds[[k]], "literal")) {
      where <- if (length(facts$kinds) > 1L) paste("the R number in operand", k) else "an R number"
      paste("rounds", where, "to", facts$taken[k], kinds)
    } else {
      paste("promotes operand", k, "from", facts$operands[k], "to", facts$taken[k], kinds)
    }
  }, "")
  if (length(what) > 3L) what <- c(what[1:2], paste("promotes", length(what) - 2L, "more"))
  last <- length(what)
  if (last > 1L) what <- paste(paste(what[-last], collapse = ", "), "and", what[last])
  subject <- if (facts$op %of% c("update", "put")) {
    "assignment"
  } else {
    paste0(if (!grepl(".", facts$op, fixed = TRUE)) "nv_", facts$op, "()")
  }
  at <- if (!is.na(line)) paste0(", in ", if (nzchar(file)) paste0(file, ", "), "line ", line)
  advice <- if (identical(facts$kind, "literal")) {
    "; give it as a tensor of a dtype that holds it"
  } else {
    "; call nv_convert() where this is meant"
  }
  paste0(subject, " ", what, at, advice, ", or allow it in `on`")
}

# Values that base R, reading the elements of a tensor, saw as NA; called from C by the next
# function of joist.
warn_of_view <- function(count, dtype, reason) {
  values <- paste0(
    "base R read NA for ", number_text(count), " value", if (count != 1) "s", " of ",
    dtype
  )
  message <- switch(reason,
    unrepresentable = paste0(
      values, " that its numbers cannot hold, so the result of an earlier call may be wrong; ",
      "give that call as_array(x, as = \"character\")",
      if (dtype %of% c("i64", "ui64")) " or as = \"integer64\""
    ),
    file = paste0(values, " in a mapped file that has become shorter; read the file again"),
    device = paste0(values, " that could not be copied from the device")
  )
  # Without a call: that of the function that reads the tensor is not known any more.
  warning(structure(
    class = c("joist_view_warning", "joist_warning", "warning", "condition"),
    list(message = message, call = NULL)
  ))
}

# The source location in the innermost function that has kept its source, within the function that
# is traced, if any; called from C.
source_reference <- function() {
  frame <- sys.nframe() - 1L
  first <- session()$frame
  while (frame > first) {
    reference <- attr(sys.call(frame), "srcref")
    if (!is.null(reference)) {
      return(reference)
    }
    frame <- frame - 1L
  }
}

# The frame by which the user entered joist: the outermost of own_frames(); NULL if there is none.
entry_frame <- function(frame, floor = 0L) {
  outermost(own_frames(frame, floor))
}

outermost <- function(frames) if (length(frames) > 0L) frames[length(frames)]

# Those of joist's own frames that called each other, from `frame` up, be it through base R's
# lapply() and the like. Frames up to `floor` do not count. (The caller of a promise may have
# returned before it is evaluated: R then names a frame as its own parent.)
own_frames <- function(frame, floor) {
  namespace <- topenv()
  parents <- sys.parents()
  own <- integer()
  while (frame > floor) {
    home <- topenv(environment(sys.function(frame)), baseenv())
    if (identical(home, namespace)) {
      own <- c(own, frame)
    } else if (!identical(home, .BaseNamespaceEnv) && !identical(home, baseenv())) {
      break
    }
    # What C evaluates has no frame for a parent.
    frame <- if (parents[frame] < frame) parents[frame] else 0L
  }
  own
}

# What errors call an operation: the exported function that the user called, without "nv_"; called
# from C. A function that another one got as an argument, under whose name it was called, counts as
# called by the user. NULL if there is none.
called_operation <- function() exported_operation(own_frames(sys.nframe() - 1L, 0L))

exported_operation <- function(frames) {
  found <- NULL
  for (frame in frames) {
    name <- grep("^nv_", exported_as(sys.function(frame)), value = TRUE)
    if (length(name) == 0L) next
    found <- sub("^nv_", "", name[1L])
    if (!identical(sys.call(frame)[[1L]], as.name(name[1L]))) break
  }
  found
}

# The names by which joist exports a function. Those with other arguments, which are kept, are not
# compared with it.
exported_as <- local({
  arguments <- NULL
  arguments_of <- function(f) if (is.function(f)) paste(names(formals(f)), collapse = " ") else ""
  function(f) {
    namespace <- topenv()
    if (is.null(arguments)) {
      exported <- mget(getNamespaceExports(namespace), namespace)
      arguments <<- vapply(exported, arguments_of, "")
    }
    names <- names(arguments)[arguments == arguments_of(f)]
    names[vapply(mget(names, namespace), identical, TRUE, f)]
  }
})

user_call <- function(frame) {
  entry <- entry_frame(frame)
  if (!is.null(entry)) call_of_frame(entry)
}

# The call of one of joist's own frames, as its user wrote it.
call_of_frame <- function(entry) {
  call <- sys.call(entry)
  generic <- get0(".Generic", envir = sys.frame(entry), inherits = FALSE)
  if (is.character(generic) && is.call(call)) {
    call[[1L]] <- as.name(generic)
  }
  legible_call(call, sys.frame(entry))
}

# Where R dispatches on values, and in what do.call() and `x[i] <- value` call, the values
# themselves are in the call, and would be deparsed.
legible_call <- function(call, frame) {
  if (is.function(call[[1L]])) {
    name <- exported_as(call[[1L]])
    if (length(name) > 0L) call[[1L]] <- as.name(name[1L])
  }
  if (is.name(call[[1L]]) && endsWith(as.character(call[[1L]]), "<-")) {
    call$value <- eval(quote(substitute(value)), frame)
  }
  for (k in seq_along(call)[-1L]) {
    if (!is.name(call[[k]]) && is_tensor(call[[k]])) call[[k]] <- quote(tensor)
  }
  call
}

# Called from C where nv_tensor() was given no dtype, and the default has no room for a number, or
# where a double becomes a 64-bit integer whose last digits R may not have read: a loss that the
# policy in force warns about or refuses.
tell_of_rounding <- function(number, position, dtype, refused) {
  message <- paste0(
    format(number, digits = 17L), " at position ", position,
    if (dtype %of% c("i64", "ui64")) {
      paste0(
        " is a double beyond 2^53, which R may have rounded when it read it; give 64-bit integers ",
        "as text, as in nv_tensor(\"9007199254740993\", \"", dtype, "\")"
      )
    } else if (is.character(number)) {
      paste0(" is rounded to ", dtype, "; nv_convert() the tensor to a dtype that holds it")
    } else {
      paste0(
        " is rounded to ", dtype, if (dtype == "c64") {
          ", the default dtype of complex numbers; use nv_tensor(x, \"c128\") to keep it"
        } else {
          ", the default dtype of doubles; use nv_tensor(x, \"f64\") or an integer dtype to keep it"
        }
      )
    }
  )
  call <- user_call(sys.nframe() - 1L)
  condition <- judged_condition(
    c("joist_rounding_%s", "joist_loss_%s", "joist_changed_values_%s"), refused,
    "joist_value_error", "joist_warning",
    message = message, call = call, kind = "loss", dtype = dtype, position = position
  )
  if (refused) stop(condition)
  warning(condition)
}
