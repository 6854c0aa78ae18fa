# The one place where joist's conditions are raised; called from C, and from R through
# stop_joist().
raise <- function(class, message) {
  if (identical(class, "interrupt")) {
    signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    invokeRestart("abort")
  }
  stop(structure(
    class = c(class, "joist_error", "error", "condition"),
    list(message = message, call = user_call(sys.nframe() - 1L))
  ))
}

stop_joist <- function(class, ...) raise(class, paste0(...))

# The frame by which the user entered joist: the outermost of joist's own frames that called
# each other, from `frame` up, be it through base R's lapply() and the like; NULL if there is none.
# Frames up to `floor` do not count. (The caller of a promise may have returned before it is
# evaluated: R then names a frame as its own parent.)
entry_frame <- function(frame, floor = 0L) {
  namespace <- topenv()
  parents <- sys.parents()
  entry <- NULL
  while (frame > floor) {
    home <- topenv(environment(sys.function(frame)), baseenv())
    if (identical(home, namespace)) {
      entry <- frame
    } else if (!identical(home, .BaseNamespaceEnv) && !identical(home, baseenv())) {
      break
    }
    frame <- if (parents[frame] < frame) parents[frame] else 0L
  }
  entry
}

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
    exports <- getNamespaceExports(topenv())
    same <- vapply(exports, function(name) identical(get(name, topenv()), call[[1L]]), TRUE)
    if (any(same)) call[[1L]] <- as.name(exports[same][1L])
  }
  if (is.name(call[[1L]]) && endsWith(as.character(call[[1L]]), "<-")) {
    call$value <- eval(quote(substitute(value)), frame)
  }
  for (k in seq_along(call)[-1L]) {
    if (!is.name(call[[k]]) && is_tensor(call[[k]])) call[[k]] <- quote(tensor)
  }
  call
}
