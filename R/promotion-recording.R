# Recordings of what the operations of a function do with dtypes, which trace_dtypes() and
# compare_rules() read. C records the operations; here is where in the user's code they are.

# Runs `f` on the arguments under the rules and records its operations. Gives a list of `ledger`
# (what C has recorded) and its `events`, `sites` (where the operations are written), `homes` (the
# functions that they are written in), the tensors among `arguments` and `outputs` and, if the
# function failed, `error`: the condition and its place. Memory that ran out says nothing about the
# function, and ends the caller too.
record_operations <- function(f, arguments, rules, label = "f") {
  recorded <- run_recorded(f, name_arguments(f, arguments), promotion_rules(rules), label)
  recorded$sites <- restore_calls(recorded$sites, recorded$homes)
  recorded
}

run_recorded <- function(f, arguments, rules, label = "f") {
  depth <- set_promotion(rules, NULL)
  on.exit(restore_promotion(depth))
  places <- new_places(label)
  ledger <- .Call(joist_r_ledger_begin, places$site, rules)
  numbered <- .Call(joist_r_ledger_arguments, ledger, arguments)
  error <- NULL
  value <- tryCatch(
    withCallingHandlers(
      call_recorded(f, numbered, places),
      error = function(e) {
        if (is.null(error)) {
          error <<- list(condition = e, place = places$failed(sys.nframe() - 1L))
        }
      }
    ),
    error = function(e) if (is.null(error) || inherits(e, "joist_memory_error")) stop(e)
  )
  list(
    given = arguments, ledger = ledger, events = .Call(joist_r_ledger_table, ledger),
    sites = places$table(), homes = places$homes, arguments = argument_leaves(arguments),
    error = error, rules = rules,
    outputs = if (is.null(error)) tensor_leaves(value, quote(value))
  )
}

# Arguments under the names that the function has for them; those of `...` have none of these.
name_arguments <- function(f, arguments) {
  formals <- args(f)
  if (is.null(formals)) {
    return(arguments)
  }
  positions <- stats::setNames(as.list(seq_along(arguments)), names(arguments))
  positions <- as.call(c(quote(f), positions))
  matched <- tryCatch(as.list(match.call(formals, positions))[-1L], error = function(e) NULL)
  if (is.null(matched)) arguments else stats::setNames(arguments[unlist(matched)], names(matched))
}

# Calls the function with names as arguments, so that the conditions that it signals contain no
# values; frames up to those of eval() are not the user's.
call_recorded <- function(f, arguments, places) {
  named <- names(arguments)
  symbols <- sprintf("argument%d", seq_along(arguments))
  if (!is.null(named)) symbols[nzchar(named)] <- named[nzchar(named)]
  frame <- list2env(
    stats::setNames(arguments, symbols),
    parent = list2env(list(recorded_function = f), parent = topenv())
  )
  builtin <- is.primitive(f)
  call <- lapply(symbols, as.name)
  call <- as.call(c(quote(recorded_function), if (builtin) call else stats::setNames(call, named)))
  places$floor <- sys.nframe() + 2L
  eval(call, frame)
}

# The tensors among the arguments, each with the code for it in the function.
argument_leaves <- function(arguments) {
  names <- names(arguments)
  paths <- lapply(seq_along(arguments), function(k) {
    as.name(if (is.null(names) || !nzchar(names[k])) sprintf("..%d", k) else names[k])
  })
  do.call(c, c(list(list()), Map(tensor_leaves, unname(arguments), paths)))
}

# The tensors in nested lists, each with the code that leads to it.
tensor_leaves <- function(x, path) {
  if (is_tensor(x)) {
    return(list(list(tensor = x, path = path)))
  }
  if (!is.list(x) || is.object(x)) {
    return(list())
  }
  names <- names(x)
  leaves <- lapply(seq_along(x), function(k) {
    named <- !is.null(names) && nzchar(names[k])
    at <- if (named) call("$", path, as.name(names[k])) else call("[[", path, k)
    tensor_leaves(x[[k]], at)
  })
  do.call(c, c(list(list()), leaves))
}

# Numbers the places that operations are called from: `site()` is what C asks for the place of the
# operation that is being recorded, `failed()` gives the one of an error. `label` is how the
# recorded function is called in what is shown, NULL if it only evaluates code of others.
new_places <- function(label) {
  self <- new.env(parent = emptyenv())
  self$label <- label
  self$floor <- 0L
  self$homes <- list()
  self$calls <- 0L
  self$deadline <- Inf
  self$numbers <- new.env(parent = emptyenv())
  found <- list()
  self$site <- function() {
    if (self$deadline < Inf && proc.time()[[3L]] > self$deadline) {
      stop("reached elapsed time limit", call. = FALSE)
    }
    entry <- entry_frame(sys.nframe() - 1L, self$floor)
    place <- place_of_frame(entry, self)
    number <- self$numbers[[place$key]]
    if (is.null(number)) {
      number <- length(found) + 1L
      self$numbers[[place$key]] <- number
      found[[number]] <<- place
    }
    # A call is one run of the outermost function of joist's.
    frame <- sys.frame(entry)
    if (!identical(found[[number]]$frame, frame)) {
      self$calls <- self$calls + 1L
      found[[number]]$frame <<- frame
      found[[number]]$call_number <<- self$calls
    }
    c(number, found[[number]]$call_number)
  }
  # The frame of the function that raise() was called for is below it.
  self$failed <- function(frame) {
    while (frame > self$floor && !identical(sys.function(frame), raise)) frame <- frame - 1L
    entry <- if (frame > self$floor) entry_frame(frame - 1L, self$floor)
    if (!is.null(entry)) place_of_frame(entry, self)
  }
  self$table <- function() {
    lapply(found, function(place) place[c("home", "line", "file", "call", "reference")])
  }
  self
}

# Where the function is called that runs in frame `entry`: in which function (0 for none but the
# recorded call itself), on which line, by which call.
place_of_frame <- function(entry, places) {
  caller <- sys.parents()[entry]
  home <- 0L
  if (caller > places$floor) {
    code <- sys.function(caller)
    home <- Position(
      function(other) identical(body(other$code), body(code)), places$homes,
      nomatch = 0L
    )
    if (home == 0L) {
      home <- length(places$homes) + 1L
      places$homes[[home]] <- list(code = code, name = sys.call(caller)[[1L]])
    }
  }
  reference <- reference_of_frame(entry, caller, places$floor)
  call <- call_of_frame(entry)
  attr(call, "srcref") <- NULL
  if (home == 0L && is.call(call) && !is.null(places$label)) {
    call[[1L]] <- as.name(places$label)
  }
  line <- if (is.null(reference)) NA_integer_ else reference[1L]
  file <- file_of(reference)
  text <- paste(deparse(call, 500L), collapse = " ")
  list(
    key = paste(home, file, line, text), home = home, line = line, file = file, call = call,
    reference = reference
  )
}

# The source of the statement that calls what runs in frame `entry`. R knows the latest statement:
# that may be one of a function which evaluates an argument, and is not the caller, or, in a
# function without braces, that of its caller.
reference_of_frame <- function(entry, caller, floor) {
  own <- if (caller > floor) attr(sys.function(caller), "srcref")
  # Code that a function of base R evaluates, as with() does, may have no source.
  above <- if (caller > floor && is_base_frame(caller)) floor else max(caller, floor)
  for (frame in rev(seq_len(entry))) {
    if (frame <= above) break
    reference <- attr(sys.call(frame), "srcref")
    if (is.null(reference)) next
    callers <- if (is.null(own)) {
      !is_in_callee(reference, frame, caller, floor)
    } else {
      is_within(reference, own)
    }
    if (callers) {
      return(reference)
    }
  }
  own
}

# Whether it is in the source of a function that runs between the two frames.
is_in_callee <- function(reference, frame, caller, floor) {
  for (between in rev(seq_len(frame - 1L))) {
    if (between <= max(caller, floor)) break
    callee <- attr(sys.function(between), "srcref")
    if (!is.null(callee) && is_within(reference, callee)) {
      return(TRUE)
    }
  }
  FALSE
}

is_within <- function(reference, outer) {
  identical(attr(reference, "srcfile"), attr(outer, "srcfile")) &&
    reference[1L] >= outer[1L] && reference[3L] <= outer[3L]
}

is_base_frame <- function(frame) {
  home <- topenv(environment(sys.function(frame)), baseenv())
  identical(home, .BaseNamespaceEnv) || identical(home, baseenv())
}

file_of <- function(reference) {
  file <- attr(reference, "srcfile")
  if (is.null(file)) NA_character_ else basename(file$filename)
}

# A call as its user wrote it: `x[i] <- value` calls `[<-`(`*tmp*`, i, value = value).
shown_call <- function(call) {
  if (!is.call(call)) {
    return(call)
  }
  head <- if (is.name(call[[1L]])) as.character(call[[1L]]) else ""
  if (!endsWith(head, "<-") || nchar(head) < 3L || !identical(call[[2L]], quote(`*tmp*`))) {
    return(call)
  }
  parts <- as.list(call)[-1L]
  value <- parts[[length(parts)]]
  target <- as.call(c(as.name(sub("<-$", "", head)), parts[-length(parts)]))
  as.call(list(quote(`<-`), target, value))
}
