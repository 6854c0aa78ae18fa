# Functions of base R that take any list for a list of vectors, and would take a tensor apart. Most
# of them ask a generic about it first: its length, its names, its levels. There they are handed
# what they can use, or are stopped.

# Whether `f` called the method that asks (or the function `further` - 1 frames above it).
called_from <- function(f, further = 1L) {
  identical(sys.function(sys.parent(further + 1L)), f)
}

#' @export
length.nv_tensor <- function(x) {
  n <- .subset2(x, "shape")
  if (length(n) != 1L) {
    n <- prod(n)
    if (n <= .Machine$integer.max) n <- as.integer(n)
  }
  caller <- sys.function(sys.parent())
  if (identical(environment(caller), .BaseNamespaceEnv)) {
    return(length_for(caller, sys.parent(), x, n))
  }
  n
}

# The length for a function of base R whose frame has number `at`.
length_for <- function(caller, at, x, n) {
  if (identical(caller, base::lengths)) {
    return(length_of_part(sys.parents()[at], n))
  }
  frame <- sys.frame(at)
  if (identical(caller, base::table) || identical(caller, base::interaction)) {
    if (is_tensor(frame$args)) {
      frame$args <- list(x)
      return(1L)
    }
  } else if (identical(caller, base::`[<-.data.frame`)) {
    if (is_tensor(frame$value) && exists("p", frame, inherits = FALSE)) {
      frame$value <- columns_for(x, frame)
      return(length(frame$value))
    }
  }
  n
}

# The list that lapply() and the like go through: a scalar for each element. tapply() goes through
# a list of groups.
#' @export
as.list.nv_tensor <- function(x, ...) {
  if (called_from(base::tapply, 2L)) {
    return(list(x))
  }
  flat <- nv_flatten(x)
  lapply(seq_along(flat), function(k) flat[[k]])
}

# Functions that simplify a list call unlist() if lengths() of the parts are what they want.
length_of_part <- function(outer, n) {
  caller <- sys.function(outer)
  if (identical(caller, base::simplify2array)) {
    return(1L) # one thing, which unlist() does not leave one: the list stays a list
  }
  if (identical(caller, base::tapply) || identical(caller, base::Reduce)) {
    return(2L * n) # only 1 is simplified; tapply() leaves out what is empty
  }
  if (identical(caller, base::rbind.data.frame)) {
    check_rows(sys.frame(outer)$allargs)
  } else if (n != 1L && in_aggregate(outer)) {
    stop_joist(
      "joist_value_error", "aggregate() of tensors: the function must return one element; ",
      "use as.vector() of more"
    )
  }
  n
}

in_aggregate <- function(frame) {
  parents <- sys.parents()
  for (k in 1:2) if (frame > 0L) frame <- parents[frame]
  identical(sys.function(frame), utils::getS3method("aggregate", "data.frame"))
}

check_rows <- function(parts) {
  if (any(vapply(parts, is_tensor, NA))) {
    stop_joist(
      "joist_value_error", "a tensor is no row of a data frame; rbind() it as ",
      "list(name = value, ...) or as another data frame"
    )
  }
}

# The list that `df[i, j] <- x` needs: `p` columns of `n` rows, of which some may be new.
columns_for <- function(x, frame) {
  n <- frame$n
  p <- frame$p
  old <- frame$jseq[frame$jseq <= frame$nvars]
  if (frame$has.i && !all(vapply(frame$x[old], is_tensor, NA))) {
    stop_joist(
      "joist_value_error", "a column that is no tensor takes no elements of one; use as.vector()"
    )
  }
  if (p == 1L && length(x) > n) {
    stop_joist("joist_shape_error", "replacement has ", length(x), " rows, data has ", n)
  }
  if (p > 1L && length(x) == n * p) {
    return(as.list(as.data.frame.nv_tensor(nv_reshape(x, c(n, p)))))
  }
  list(nv_flatten(x))
}

# The elements of a tensor have no names; those of the list it is made of are not its own.
#' @export
names.nv_tensor <- function(x) {
  frame <- parent.frame()
  if (called_from(base::rank)) {
    frame$x <- xtfrm(frame$x)
  } else if (called_from(base::rbind.data.frame)) {
    check_row_binding(frame)
  }
  NULL
}

# rowsum() asks whether the groups have NA, before it looks for the distinct ones.
group_by_values <- function(x, frame) frame$group <- as.vector(x)

# rbind() of data frames asks for the names of what it has assigned: a column that was no tensor
# has then been filled with the fields of one.
check_row_binding <- function(frame) {
  filled <- frame$value[[frame$jj]]
  if (!is_tensor(filled)) {
    stop_joist(
      "joist_value_error", "rbind(): column ", frame$jj, " is a tensor in argument ", frame$i,
      " but not in the first; make it one there with nv_tensor()"
    )
  }
}

# It lengthens the columns of the first by assigning to `index`, beyond their ends.
is_row_binding <- function(index, extents) {
  is.integer(index) && length(index) > 0L && index[1L] == extents + 1 &&
    called_from(base::rbind.data.frame, 2L)
}

# as.matrix() of a data frame looks at the levels of each column before it joins them.
#' @export
levels.nv_tensor <- function(x) {
  if (called_from(base::as.matrix.data.frame)) {
    frame <- parent.frame()
    frame$xj <- as.vector(x)
    frame[["j.logic"]] <- is.logical(frame$xj)
    frame[["X"]][[frame$j]] <- frame$xj
  }
  NULL
}

# The fields of a tensor that have classes: do.call(rbind, x) would bind them to a matrix.
bind_fields <- function(...) {
  stop_joist(
    "joist_value_error", "these are the fields of a tensor and no rows or columns; ",
    "do.call() takes a list: as.list() of the tensor, or a list of tensors"
  )
}

#' @exportS3Method rbind joist_dtype
rbind.joist_dtype <- bind_fields

#' @exportS3Method rbind joist_device
rbind.joist_device <- bind_fields

#' @exportS3Method cbind joist_dtype
cbind.joist_dtype <- bind_fields

#' @exportS3Method cbind joist_device
cbind.joist_device <- bind_fields
