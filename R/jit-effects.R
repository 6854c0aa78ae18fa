# What a traced branch or body changes, wherever the code that does it stands: the variables of all
# environments that can be reached are compared before and after (r/trace/world.c). Those of
# environments made in the trace are carried as local ones are; others cannot change.

# ---- environments ----

# The environments before a branch or body in `frame`. Those of `outer` were there before the trace.
look_around <- function(frame) {
  packages <- c("joist", packages_left_alone)
  if (is.null(flow$outer)) {
    roots <- c(globalenv(), flow$traced, if (flow$first > 1L) user_frames(seq_len(flow$first - 1L)))
    flow$outer <- .Call(joist_r_world, roots, packages, list())
  }
  frames <- user_frames(flow$first - 1L + seq_len(sys.nframe() - flow$first))
  inner <- .Call(joist_r_world, c(frame, frames), packages, flow$outer)
  world <- list(inner = inner, all = c(inner, flow$outer))
  # Arguments that nothing has looked at yet would be computed within a branch. Functions of R may
  # leave theirs alone, as local() does.
  world$before <- .Call(joist_r_world_look, world$all, length(inner), lazy_frames(frames))
  if (.Call(joist_r_world_unsure, world$before)) {
    after <- .Call(joist_r_world_look, world$all, 0L, list())
    changed <- unlist(.Call(joist_r_world_changes, world$before, after))
    if (length(changed) > 0L) {
      fail_trace(
        list(call = NULL), "`", changed[1L], "` is changed by an argument that is first computed ",
        "within a branch or loop on a traced condition; compute it before, by force()"
      )
    }
  }
  world
}

# The frames of functions of R among those of user_frames().
lazy_frames <- function(frames) {
  for (k in rev(seq_along(frames))) {
    if (is_users_home(topenv(frames[[k]], matchThisEnv = NULL))) frames[[k]] <- NULL
  }
  frames
}

# The frames of the user's functions and of what they call.
user_frames <- function(numbers) {
  callers <- sys.parents()
  functions <- lapply(numbers, sys.function)
  frames <- as.list(sys.frames())[numbers]
  frames[!.Call(joist_r_world_own, topenv(), functions, frames, callers[numbers] - numbers[1L])]
}

# The variables that have changed since: slots with `before`, what they had. Others than those made
# in the trace may not have changed, or, if `more`, may only be new; without a site, they may.
changed_slots <- function(world, frame, site, more = FALSE) {
  now <- .Call(joist_r_world_look, world$all, 0L, list())
  names <- .Call(joist_r_world_changes, world$before, now)
  slots <- list()
  for (k in which(lengths(names) > 0L)) {
    env <- world$all[[k]]
    for (name in names[[k]]) {
      slot <- list(name = name, env = env, before = entry_before(world$before[[k]], name, env))
      if (!identical(env, frame)) slot$hidden <- TRUE
      # Reference objects get their methods when these are first called.
      value <- now[[k]][[2L]][match(name, now[[k]][[1L]])]
      if (slot$before$state == "unbound" && inherits(value[[1L]], "refMethodDef")) next
      own <- k <= length(world$inner) || more && is_new(slot)
      if (!is.null(site) && (!own || name == "")) stop_effect(site, slot)
      slots[[paste(k, name)]] <- slot
    }
  }
  slots
}

# The variables of a loop after an iteration. Others that have changed are found.
slots_after <- function(loop) {
  changed <- changed_slots(loop$world, loop$frame, loop$site)
  more <- Filter(function(slot) {
    for (own in loop$slots) {
      if (own$name == slot$name && identical(own$env, slot$env)) {
        return(FALSE)
      }
    }
    !are_same(read_slot(slot), slot$before)
  }, changed)
  if (length(more) > 0L) {
    for (slot in more) put_back(slot)
    stop(structure(
      class = c("joist_more_slots", "condition"),
      list(message = "", call = NULL, slots = unname(more))
    ))
  }
  lapply(loop$slots, read_slot)
}

# The entry of a variable as read_slot() gives it, from what joist_r_world_look() saw.
entry_before <- function(looked, name, env) {
  if (name == "") {
    return(list(state = "kept"))
  }
  at <- match(name, looked[[1L]])
  if (is.na(at)) {
    return(read_around(name, env))
  }
  value <- looked[[2L]][[at]]
  if (is_own_promise(value)) {
    return(entry_of_promise(value))
  }
  forced <- looked[[4L]][[at]]
  list(state = "bound", value = if (is.null(forced)) value else forced[[1L]])
}

# An error that ends the trace, also where code of the user handles errors.
fail_trace <- function(site, ...) {
  tryCatch(stop_flow(site, ...), error = function(e) flow$failure <- e)
  stop(flow$failure)
}

stop_effect <- function(site, slot) {
  put_back(slot)
  if (slot$name == ".Random.seed") {
    fail_trace(
      site, "R's random numbers cannot depend on a traced condition: ", header_of(site),
      place_of(site),
      " draws some; call nv_rnorm() or nv_runif() with a key"
    )
  }
  what <- if (slot$name == "") "an attribute of an environment" else paste0("`", slot$name, "`")
  fail_trace(
    site, what, " is outside of the traced function, and ", header_of(site), " changes it on a ",
    "traced condition; return the value instead"
  )
}

is_new <- function(slot) {
  lacks <- slot$before$state == "unbound" || isTRUE(slot$before$around)
  lacks && slot$name != ".Random.seed"
}

# Whether functions call nothing but operators and functions of joist, on values without methods of
# others: they change nothing. Variables are computed first, as in look_around().
are_pure <- function(...) {
  all(vapply(list(...), is_pure, NA))
}

is_pure <- function(f) {
  if (typeof(f) != "closure" || !is.null(attr(body(f), "joist_rewritten"))) {
    return(FALSE)
  }
  code <- as.call(c(list(quote(list)), unname(Filter(Negate(is_empty), formals(f))), body(f)))
  called <- unique(.Call(joist_r_code_called, code))
  if (!all(called %of% pure_words | startsWith(called, "nv_"))) {
    return(FALSE)
  }
  around <- environment(f)
  functions <- lapply(called, get0, envir = around, mode = "function")
  variables <- lapply(setdiff(all.vars(code), names(formals(f))), get0, envir = around)
  all(vapply(functions, function(found) {
    is.primitive(found) || identical(environment(found), topenv())
  }, NA)) && !any(vapply(variables, function(found) is.object(found) && !is_tensor(found), NA))
}

pure_words <- c(
  "(", "{", "+", "-", "*", "/", "^", "%%", "%/%", "<", ">", "<=", ">=", "==", "!=", "!", "&", "|",
  "list", "c", "$", "[[", "[", "sum", "prod", "max", "min", "mean", "exp", "log", "sqrt", "abs",
  "sin", "cos", "tanh", "%*%", "floor", "round", "length"
)

# Runs the functions given to nv_while() and the like, which change no variables of others.
without_effects <- function(call, expr, pure = FALSE) {
  if (pure) {
    return(expr)
  }
  frames <- flow$frames
  on.exit(flow$frames <- frames)
  site <- list(kind = "call", call = call)
  world <- look_around(globalenv())
  flow$frames <- c(frames, list(globalenv()))
  value <- expr
  # The branches of nv_if() are code of the caller, which may have variables for its results.
  for (slot in changed_slots(world, globalenv(), site, TRUE)) {
    put_back(slot)
    if (!is_new(slot)) {
      fail_trace(
        site, "`", slot$name, "` is changed within ", header_of(site), "; return the value instead"
      )
    }
  }
  value
}

# NULL if `expr` changes variables or raises an error, after which all are as before.
without_changes <- function(expr) {
  before <- mget(c("frames", "failure"), flow)
  on.exit(list2env(before, flow))
  world <- look_around(globalenv())
  flow$frames <- c(flow$frames, list(globalenv()))
  value <- tryCatch(expr, error = function(e) NULL)
  slots <- changed_slots(world, globalenv(), NULL)
  for (slot in slots) put_back(slot)
  if (length(slots) == 0L) value
}

put_back <- function(slot) {
  tryCatch(write_slot(slot, slot$before), error = function(e) NULL)
}

# ---- conditions ----

# How a branch ended that has raised an error: never.
stopped <- list(kind = -1L, value = undefined, may = integer())

has_stopped <- function(done) length(done$may) == 0L

# Runs the code of a branch or body. What stop(), warning() and message() raise there in code of the
# user becomes an instruction, which raises it when the program runs.
with_conditions <- function(site, compute) {
  first <- sys.nframe()
  delayedAssign("leave", return(stopped))
  later <- function(functions) {
    function(e) {
      from <- users_call(first, functions)
      if (is.null(from) && is_error_of_plain(e)) {
        # Of R values, which the branch has in the plain run, too.
        .Call(joist_r_poison_explain)
        from <- list(conditionCall(e))
      }
      if (is.null(from)) {
        return()
      }
      e["call"] <- from
      if (is_handled(first, list(base::suppressWarnings, base::suppressMessages))) {
        return()
      }
      if (is_handled(first, list(base::tryCatch, base::try, base::withCallingHandlers))) {
        fail_trace(
          site, functions[1L], "() on a traced condition cannot be handled while jit() traces the ",
          "function (\"", conditionMessage(e), "\"); return a flag instead"
        )
      }
      raise_later(e)
      if (inherits(e, "error")) leave
      invokeRestart(if (inherits(e, "warning")) "muffleWarning" else "muffleMessage")
    }
  }
  withCallingHandlers(
    compute(),
    error = later(c("stop", "stopifnot")), warning = later("warning"), message = later("message")
  )
}

# Whether the plain run has the error, too: one of R or joist, but not of tracing.
is_error_of_plain <- function(e) {
  inherits(e, "error") && !inherits(e, c("joist_trace_error", "joist_mismatch"))
}

# The call of the user's function that has called a function of base R that raises a condition, in a
# list; NULL if none has.
users_call <- function(first, functions) {
  raising <- c(lapply(functions, get, baseenv()), control_stopifnot)
  for (k in seq(sys.nframe(), first + 1L)) {
    if (any(vapply(raising, identical, NA, sys.function(k)))) {
      from <- sys.parents()[k]
      around <- if (from > 0L) environment(sys.function(from)) else globalenv()
      if (is.environment(around) && is_users_home(topenv(around, matchThisEnv = NULL)) &&
        !identical(around, topenv())) {
        return(list(if (from > 0L) sys.call(from)))
      }
    }
  }
}

# Whether code of the user calls one of the functions that handle conditions around a branch or
# body.
is_handled <- function(first, handling) {
  for (k in seq(flow$first + 1L, length.out = max(first - flow$first - 1L, 0L))) {
    if (any(vapply(handling, identical, NA, sys.function(k)))) {
      around <- environment(sys.function(sys.parents()[k]))
      own <- identical(around, topenv()) || identical(around, baseenv()) ||
        identical(around, .BaseNamespaceEnv)
      if (!own) {
        return(TRUE)
      }
    }
  }
  FALSE
}

raise_later <- function(condition) {
  if (is_rewritten_code(condition$call)) condition$call <- users_code(condition$call)
  number <- length(prints$labels) + 1
  prints$labels[number] <- conditionMessage(condition)
  prints$conditions[[as.character(number)]] <- condition
  apply_operation("print", list(traced_constant(nv_scalar(0L))), list(label = number))
  note_effect()
}

# Raises an error in programs that run where `condition` holds.
raise_where <- function(condition, failure, call, frame) {
  site <- list(kind = "stopifnot", call = call, merged = character(), dots = FALSE)
  merged_branches(site, frame, condition, function() {
    raise_later(failure)
    stopped
  }, function() completion(0L), FALSE)
}

# A branch or body without results is kept if it has effects.
note_effect <- function() flow$effects <- flow$effects + 1L

# R's stopifnot() in traced functions.
control_stopifnot <- function(...) {
  call <- sys.call(-1L)
  frame <- parent.frame()
  codes <- as.list(substitute(list(...)))[-1L]
  for (k in seq_len(...length())) {
    value <- ...elt(k)
    name <- names(codes)[k]
    text <- if (!is.null(name) && nzchar(name)) {
      name
    } else {
      paste(short_code(codes[[k]]), if (length(value) > 1L) "are not all TRUE" else "is not TRUE")
    }
    failure <- simpleError(text, call)
    if (is_traced(value)) {
      holds <- flag_of(all(value), list(kind = "stopifnot", call = sys.call()))
      if (has_mask(holds)) holds <- nv_replace_na(holds, FALSE)
      raise_where(!holds, failure, sys.call(), frame)
    } else if (!(is.logical(value) && !anyNA(value) && all(value))) {
      stop(failure)
    }
  }
  invisible()
}

# Functions that read or change what a program does not know.
only_outside <- function(name, instead) {
  f <- get(name, baseenv())
  force(instead)
  function(...) {
    if (length(flow$frames) > 0L) {
      call <- list(call = sys.call())
      fail_trace(call, name, "() cannot depend on a traced condition: ", instead)
    }
    f(...)
  }
}

# Whether a variable exists may be what a traced condition decides: the variables of `env` that
# `names` has, or all, are looked at.
check_exists <- function(env, names = NULL, inherits = FALSE) {
  all <- is.null(names)
  while (is.environment(env) && !identical(env, emptyenv())) {
    own <- ls(env, all.names = TRUE, sorted = FALSE)
    for (name in if (all) own else intersect(names, own)) {
      entry <- if (!bindingIsActive(name, env)) read_promised(name, env)
      if (identical(entry$state, "poison") && isTRUE(entry$condition$undecided)) {
        .Call(joist_r_poison_note, entry$condition)
        stop(entry$condition)
      }
      if (may_lack(entry)) {
        stop(trace_condition(sys.call(-1L), paste0(
          "`", name, "` has a value only if a loop before has had an iteration; assign it before ",
          "that loop"
        )))
      }
    }
    names <- setdiff(names, own)
    if (all || !inherits || length(names) == 0L) break
    env <- parent.env(env)
  }
}

# The entry of a variable that a branch or loop may have left without a value.
read_promised <- function(name, env) {
  if (identical(env, globalenv())) {
    return(NULL)
  }
  code <- eval(call("substitute", as.name(name), env))
  if (is_own_promise(code)) entry_of_promise(code) else list(state = "bound", value = code)
}

may_lack <- function(entry) {
  flow$doubts && identical(entry$state, "bound") && is_tensor(entry$value) &&
    is_in_doubt(entry$value)
}

asks_of_variables <- function(name) {
  f <- get(name, baseenv())
  force(f)
  function(...) {
    call <- sys.call()
    frame <- parent.frame()
    call[[1L]] <- f
    if (is_tracing()) {
      asked <- match.call(f, call, envir = frame)
      value <- function(argument) {
        code <- asked[[argument]]
        if (is.null(code)) NULL else eval(code, frame)
      }
      env <- value("envir")
      for (argument in c("pos", "where", if (name %of% c("ls", "objects")) "name")) {
        given <- value(argument)
        if (is.null(env) && is.environment(given)) env <- given
      }
      all <- name %of% c("ls", "objects")
      inherits <- value("inherits")
      if (is.null(inherits)) inherits <- !all
      check_exists(if (is.null(env)) frame else env, if (!all) value("x"), isTRUE(inherits))
    }
    eval(call, frame)
  }
}

asks_of_length <- function(f) {
  force(f)
  function(x) {
    if (is.environment(x) && is_tracing()) check_exists(x)
    f(x)
  }
}

effect_functions <- list(
  exists = asks_of_variables("exists"), ls = asks_of_variables("ls"),
  get0 = asks_of_variables("get0"), objects = asks_of_variables("objects"),
  length = asks_of_length(length), stopifnot = control_stopifnot,
  print = only_outside("print", "call nv_print()"),
  cat = only_outside("cat", "call nv_print()"),
  writeLines = only_outside("writeLines", "call nv_print()"),
  Sys.time = only_outside("Sys.time", "call it before, and use its value"),
  Sys.Date = only_outside("Sys.Date", "call it before, and use its value"),
  date = only_outside("date", "call it before, and use its value"),
  proc.time = only_outside("proc.time", "call it before, and use its value")
)
