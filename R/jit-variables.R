# Variables of user functions, read and assigned by branches and loops; see jit-control_flow.R.


# Whether code is that of a promise that joist has put into a frame: a variable without a value, or
# one whose use is noted.
is_own_promise <- function(code) {
  is.call(code) && is.function(code[[1L]]) &&
    (identical(code[[1L]], stop_poisoned) || identical(code[[1L]], noted_value))
}

stop_poisoned <- function(condition) stop(condition)

noted_value <- function(cell) {
  note_cell(cell)
  cell$value
}

note_cell <- function(cell) {
  cell$used <- TRUE
  if (!is.null(cell$up)) note_cell(cell$up)
}

note_use <- function(entry) if (!is.null(entry$cell)) note_cell(entry$cell)

poison <- function(site, message, class = NULL) {
  condition <- structure(
    class = c(
      "joist_trace_error", class, "joist_value_error", "joist_error", "error", "condition"
    ),
    list(message = message, call = site$call)
  )
  list(state = "poison", condition = condition)
}

# Marks a variable of which a traced condition decides whether it exists.
undecided <- function(entry) {
  entry$condition$undecided <- TRUE
  entry
}

read_slot <- function(slot) {
  name <- slot$name
  frame <- slot$env
  if (!exists(name, envir = frame, inherits = FALSE)) {
    return(read_around(name, frame))
  }
  code <- eval(call("substitute", as.name(name), frame))
  if (!is.language(code)) {
    return(list(state = "bound", value = code))
  }
  if (is_own_promise(code)) {
    return(entry_of_promise(code))
  }
  value <- tryCatch(list(get(name, envir = frame)), error = function(e) NULL)
  if (is.null(value)) list(state = "kept") else list(state = "bound", value = value[[1L]])
}

entry_of_promise <- function(code) {
  if (identical(code[[1L]], stop_poisoned)) {
    return(list(state = "poison", condition = code[[2L]]))
  }
  list(state = "bound", value = code[[2L]]$value, cell = code[[2L]])
}

# A variable of that name around the frame is what code reads before it assigns its own.
read_around <- function(name, frame) {
  value <- get0(name, envir = parent.env(frame))
  if (is_carriable(value) || is.list(value) && !is.object(value)) {
    list(state = "bound", value = value, around = TRUE)
  } else {
    list(state = "unbound")
  }
}

write_slot <- function(slot, entry) {
  name <- slot$name
  frame <- slot$env
  switch(entry$state,
    "kept" = NULL,
    "bound" = if (isTRUE(entry$around)) {
      remove_slot(name, frame)
    } else if (is.null(entry$cell)) {
      assign(name, entry$value, envir = frame)
    } else {
      put_promise(name, frame, noted_value, entry$cell)
    },
    "unbound" = remove_slot(name, frame),
    "poison" = put_promise(name, frame, stop_poisoned, entry$condition)
  )
}

remove_slot <- function(name, frame) {
  if (exists(name, envir = frame, inherits = FALSE)) rm(list = name, envir = frame)
}

put_promise <- function(name, frame, f, argument) {
  code <- as.call(list(f, argument))
  eval(as.call(list(
    delayedAssign, name, code,
    eval.env = emptyenv(), assign.env = frame
  )))
}

note_variable <- function(slot, value, up = NULL) {
  cell <- list2env(list(value = value, used = FALSE, up = up), parent = emptyenv())
  put_promise(slot$name, slot$env, noted_value, cell)
  cell
}
