# Values and variables that branches and loops hand on; see control_flow.R.

# ---- values ----

undefined <- structure(list(), class = "joist_undefined")
is_undefined <- function(x) inherits(x, "joist_undefined")

is_plain_number <- function(x) {
  (is.numeric(x) || is.logical(x) || is.complex(x)) && !is.object(x)
}

is_carriable <- function(x) is_tensor(x) || is_plain_number(x)

# Two values as one: equal R values stay what they are, and each pair of numbers becomes a place,
# to be with_results by a result of the instruction.
merge_values <- function(a, b, plan, path) {
  if (identical(a, b)) {
    return(a)
  }
  if (is_undefined(a)) {
    return(merge_undefined(b, plan, "no"))
  }
  if (is_undefined(b)) {
    return(merge_undefined(a, plan, "yes"))
  }
  if (is_carriable(a) && is_carriable(b)) {
    return(new_place(plan, a, b, joint_type(a, b, path)))
  }
  if (!same_list(a, b)) {
    stop_mismatch("`", path, "` is ", kind_text(a), " if TRUE and ", kind_text(b), " if FALSE")
  }
  paths <- element_paths(a, path)
  for (k in seq_along(a)) {
    part <- merge_values(.subset2(a, k), .subset2(b, k), plan, paths[k])
    if (!is.null(part)) a <- with_element(a, k, part)
  }
  a
}

same_list <- function(x, y) {
  is.list(x) && is.list(y) && length(x) == length(y) && identical(attributes(x), attributes(y))
}

with_element <- function(x, k, value) {
  kept <- attributes(x)
  x <- unclass(x)
  x[k] <- list(value)
  attributes(x) <- kept
  x
}

# A value of one branch, where the other has none and none is asked for.
merge_undefined <- function(x, plan, side) {
  if (is_tensor(x)) {
    pair <- if (side == "yes") list(x, undefined) else list(undefined, x)
    return(new_place(plan, pair[[1L]], pair[[2L]], carried_type(x)))
  }
  if (is.list(x)) {
    for (k in seq_along(x)) {
      part <- merge_undefined(.subset2(x, k), plan, side)
      if (!is.null(part)) x <- with_element(x, k, part)
    }
  }
  x
}

new_place <- function(plan, yes, no, type) {
  plan$pairs <- c(plan$pairs, list(list(yes = yes, no = no, type = type)))
  place(length(plan$pairs))
}

place <- function(number) structure(list(number), class = "joist_place")
is_place <- function(x) inherits(x, "joist_place")

# Nested lists with results in their places.
with_results <- function(x, results) {
  if (is_place(x)) {
    return(results[[unclass(x)[[1L]]]])
  }
  if (is.list(x)) {
    for (k in seq_along(x)) {
      part <- .subset2(x, k)
      if (is.list(part)) x <- with_element(x, k, with_results(part, results))
    }
  }
  x
}

element_paths <- function(x, path) {
  names <- names(x)
  vapply(seq_along(x), function(k) {
    named <- !is.null(names) && nzchar(names[k])
    paste0(path, if (named) paste0("$", names[k]) else paste0("[[", k, "]]"))
  }, "")
}

stop_mismatch <- function(..., kind = NULL) {
  stop(structure(
    class = c("joist_mismatch", "error", "condition"),
    list(message = paste0(...), call = NULL, kind = kind)
  ))
}

kind_text <- function(x) {
  if (is_carriable(x)) {
    return(type_text(carried_type(x)))
  }
  if (is.null(x)) {
    return("NULL")
  }
  if (is.list(x)) paste("a list of", length(x)) else paste("of class", class(x)[1L])
}

# An R number as a tensor: of full precision, where the rules let that yield.
carried_number <- function(x) if (is_double(x) && double_yields()) in_full(x) else as_operand(x)

carried_type <- function(x) {
  if (is_tensor(x) && !is_number(x)) {
    return(abstract_of(x))
  }
  missing <- if (is_number(x)) has_mask(x) else anyNA(x) && any(is.na(x) & !is.nan(x))
  if (is_double(x) && double_yields()) {
    return(nv_aval("f64", part_shape(x), TRUE, missing))
  }
  type <- if (is_number(x)) x else as_operand(x)
  nv_aval(dtype(type), part_shape(x), ambiguous(type), missing)
}

is_r_number <- function(x) !is_tensor(x) || is_number(x)

joint_type <- function(a, b, path) {
  x <- carried_type(a)
  y <- carried_type(b)
  extents <- joint_shape(shape(x), shape(y), is_r_number(a), is_r_number(b))
  if (is.null(extents)) {
    stop_mismatch(
      "`", path, "` has shape ", shape_text(x), " if TRUE and ", shape_text(y), " if FALSE",
      kind = "joist_shape_error"
    )
  }
  joined <- tryCatch(
    common_dtype(dtype(x), dtype(y), ambiguous(x), ambiguous(y)),
    joist_promotion_error = function(e) {
      stop_mismatch(
        "`", path, "` is ", type_name(x), " if TRUE and ", type_name(y), " if FALSE, which have ",
        "no common dtype",
        kind = "joist_promotion_error"
      )
    }
  )
  nv_aval(joined$dtype, extents, joined$ambiguous, has_mask(x) || has_mask(y))
}

# One element is a scalar or a vector; an R number is either.
joint_shape <- function(x, y, x_number, y_number) {
  if (identical(x, y)) {
    return(x)
  }
  if (prod(x) != 1 || prod(y) != 1) {
    return(NULL)
  }
  if (x_number && length(x) == 0L) {
    return(y)
  }
  if (y_number && length(y) == 0L) {
    return(x)
  }
  if (length(x) <= 1L && length(y) <= 1L) 1L
}

# Converts to a type in which it is carried.
as_carried <- function(x, type) {
  if (is_undefined(x)) {
    zero <- if (format(dtype(type)) == "bool") FALSE else 0L
    return(nv_fill(zero, shape(type), dtype(type), ambiguous(type)))
  }
  if (!is_tensor(x)) {
    return(nv_tensor(x, dtype(type), shape(type), ambiguous(type)))
  }
  x <- as_type(x, nv_aval(dtype(type), shape(x), ambiguous(type)))
  if (identical(shape(x), shape(type))) x else nv_reshape(x, shape(type))
}

# ---- variables ----

# The variables that nodes assign: of the frame, and by `<<-` of functions around it.
slots_of <- function(nodes, frame, site) {
  names <- unique(unlist(lapply(nodes, `[[`, "assigned")))
  supers <- unique(unlist(lapply(nodes, `[[`, "supers")))
  c(
    lapply(names, function(name) list(name = name, env = frame)),
    lapply(supers, function(name) outer_slot(name, frame, site))
  )
}

outer_slot <- function(name, frame, site) {
  at <- parent.env(frame)
  while (!identical(at, emptyenv()) && !exists(name, envir = at, inherits = FALSE)) {
    at <- parent.env(at)
  }
  if (identical(at, emptyenv()) || identical(at, globalenv()) || isNamespace(at) ||
    environmentIsLocked(at)) {
    stop_flow(
      site, "`", name, " <<-` on a traced condition changes a variable outside of the traced ",
      "function; return its value instead"
    )
  }
  list(name = name, env = at, hidden = TRUE)
}

# The code of a promise that joist has put into a frame: a variable without a value, or one whose
# use is noted.
own_promise <- function(name, frame) {
  code <- eval(call("substitute", as.name(name), frame))
  if (is.call(code) && is.function(code[[1L]]) &&
    (identical(code[[1L]], stop_poisoned) || identical(code[[1L]], noted_value))) {
    code
  }
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

read_slot <- function(slot) {
  name <- slot$name
  frame <- slot$env
  if (!exists(name, envir = frame, inherits = FALSE)) {
    return(read_around(name, frame))
  }
  code <- own_promise(name, frame)
  if (is.null(code)) {
    value <- tryCatch(list(get(name, envir = frame)), error = function(e) NULL)
    return(if (is.null(value)) list(state = "kept") else list(state = "bound", value = value[[1L]]))
  }
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
