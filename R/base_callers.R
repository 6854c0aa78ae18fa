# Functions of base R that do not ask a generic for what they need, but ask one for something else
# on their way: the method of that one helps them. Each method says what goes wrong without.

# Whether `f` called the method that asks (or the function `further` - 1 frames above it).
called_from <- function(f, further = 1L) {
  identical(sys.function(sys.parent(further + 1L)), f)
}

#' @export
length.nv_tensor <- function(x) {
  n <- attr(x, "shape", TRUE)
  if (length(n) != 1L) {
    n <- prod(n)
    if (n <= .Machine$integer.max) n <- as.integer(n)
  }
  caller <- sys.function(sys.parent())
  if (identical(environment(caller), .BaseNamespaceEnv)) {
    if (identical(caller, base::lengths)) {
      check_aggregate(sys.parents()[sys.parent()], n)
    } else if (identical(caller, base::mapply)) {
      rows_as_numbers(sys.parent())
    } else if (identical(caller, base::`[<-.data.frame`)) {
      return(length_for_columns(x, n, sys.frame(sys.parent())))
    } else if (identical(caller, base::diag) && n != 1L) {
      stop_joist("joist_value_error", "diag() of base R does not know tensors; use nv_diag()")
    } else if (identical(caller, base::outer) && ndims(x) > 1L) {
      stop_joist("joist_value_error", "outer() takes tensors of rank 1 at most; use nv_outer()")
    }
  }
  n
}

# duplicated() of a data frame makes a list of each row by mapply() in Map(). Lists that differ in
# tensors only have the same hash: each would be compared with each.
rows_as_numbers <- function(at) {
  parents <- sys.parents()
  outer <- parents[parents[at]]
  if (length(outer) == 1L && outer > 0L) {
    caller <- sys.function(outer)
    if (identical(caller, base::duplicated.data.frame) ||
      identical(caller, base::anyDuplicated.data.frame)) {
      frame <- sys.frame(at)
      frame$dots <- lapply(frame$dots, function(x) if (is_tensor(x)) mtfrm.nv_tensor(x) else x)
    }
  }
}

# aggregate() makes a matrix of results of several elements, by filling it with the tensors.
check_aggregate <- function(frame, n) {
  parents <- sys.parents()
  for (k in 1:2) if (frame > 0L) frame <- parents[frame]
  if (n != 1L && identical(sys.function(frame), utils::getS3method("aggregate", "data.frame"))) {
    stop_joist(
      "joist_value_error", "aggregate() of tensors: the function must return one element; ",
      "use as.vector() of more"
    )
  }
}

# `df[i, j] <- x` for several columns makes R numbers of a tensor, without its dtype. Here it gets
# the list of the `p` columns of `n` rows.
length_for_columns <- function(x, n, frame) {
  p <- frame[["p"]]
  rows <- frame[["n"]]
  if (!is_tensor(frame$value) || !is.integer(p) || p == 1L || n != rows * p) {
    return(n)
  }
  frame$value <- as.list(as.data.frame.nv_tensor(nv_reshape(x, c(rows, p))))
  p
}

# `df[nrow(df) + 1, ] <- x` lengthens the columns, and data.table takes the length that C sees,
# which is 1: both ask for dimensions first.
#' @export
dim.nv_tensor <- function(x) {
  extents <- field_of(x, "shape")
  if (length(extents) == 1L) check_lengthening(sys.function(sys.parent()))
  if (length(extents) > 0L) extents
}

check_lengthening <- function(caller) {
  home <- topenv(environment(caller), baseenv())
  if (identical(caller, xpdrows)) {
    stop_joist(
      "joist_value_error", "a tensor has no NA to be lengthened with; rbind() rows to the data ",
      "frame"
    )
  }
  if (isNamespace(home) && getNamespaceName(home) == "data.table") {
    stop_joist(
      "joist_value_error", "data.table does not know tensors; use as.vector() of the column, or a ",
      "data frame or tibble"
    )
  }
}

xpdrows <- get("xpdrows.data.frame", baseenv())

# The elements of a tensor have no names. rank() asks for them before it ranks what C takes for
# numbers.
#' @export
names.nv_tensor <- function(x) {
  if (called_from(base::rank)) {
    frame <- parent.frame()
    frame$x <- xtfrm(frame$x)
  }
  NULL
}

# rowsum() asks whether the groups have NA, before it looks for the distinct ones in C.
group_by_values <- function(x, frame) frame$group <- as.vector(x)

# pmax() and pmin() of base R put the attributes of the first operand back on the result: those of
# a tensor are its values. On their way they ask which are NA.
check_extremes <- function() {
  if (called_from(base::pmax, 2L) || called_from(base::pmin, 2L)) {
    stop_joist(
      "joist_value_error", "pmax() and pmin() of base R do not know tensors; use nv_max() and ",
      "nv_min()"
    )
  }
}

# sprintf() takes what is no vector for one element, and then asks for its text or number.
check_sprintf <- function(x) {
  if (called_from(base::sprintf, 2L) && length(x) != 1L) {
    stop_joist("joist_value_error", "sprintf() does not know tensors; use as.character() of it")
  }
}

# encodeString() gives the text the attributes of what it is the text of.
keep_from_text <- function(x) {
  if (called_from(base::encodeString, 2L)) {
    frame <- parent.frame(2L)
    frame$at <- list(dim = if (ndims(x) > 1L) dim(x))
  }
}

# rbind() of data frames lengthens the columns of the first by assigning to `index`, beyond their
# ends.
is_row_binding <- function(index, extents) {
  is.integer(index) && length(index) > 0L && index[1L] == extents + 1 &&
    called_from(base::rbind.data.frame, 2L)
}

# as.matrix() of a data frame looks at the levels of each column before it joins them, which are no
# vectors as they are. Among text it takes the text of numbers, which rounds doubles.
#' @export
levels.nv_tensor <- function(x) {
  if (called_from(base::as.matrix.data.frame)) {
    frame <- parent.frame()
    as_text <- is_long_integer(x) && !all(vapply(frame$x, is_number_column, NA))
    frame$xj <- if (as_text) format(x) else as.vector(x)
    frame[["j.logic"]] <- is.logical(frame$xj)
    frame[["X"]][[frame$j]] <- frame$xj
  }
  NULL
}

is_number_column <- function(x) {
  is_tensor(x) || is.logical(x) || is.complex(x) || is.numeric(x) && !inherits(x, "POSIXct") &&
    !inherits(x, "Date")
}
