#' Subsets and assignment
#'
#' `[` takes elements of a tensor and `[<-` replaces them, with R's indices: positive, negative,
#' zero, logical (recycled), a matrix with a row per element, empty, and tensors of integers or
#' bools. A mask of the tensor's shape, and any other single index, select in column-major order and
#' give rank 1. `[[` returns one element, of rank 0 and without a name; `x[1]` keeps rank 1 and the
#' name, also in [jit()].
#'
#' While [jit()] traces, an index may be a traced tensor of positions, from 1 on, which are checked
#' when the program runs (see [nv_gather()]); at a traced mask of the tensor's shape, one value can
#' be assigned. How many elements a traced mask selects is not known: use [nv_ifelse()].
#'
#' An index that is `NA` gives a missing value ([nv_mask()]). As in base R, such an index can be
#' used to assign one value, which changes nothing there, but not to assign several.
#'
#' Assignment keeps the tensor's dtype: an ambiguous value of the same kind takes that dtype (`1L`
#' beside integers, `1` beside floats), a known dtype that promotes to it is converted, any other
#' is an error. A value beyond the range of the dtype is an error, of a tensor as of an R number;
#' one of a tensor that is rounded is reported as a loss (see [with_promotion()]). With text, `x`
#' becomes a character vector, as in R. No other variable changes; if no other variable holds the
#' tensor, nothing is copied.
#'
#' Values for the positions right behind the last element of a tensor of rank 1 are appended, as by
#' [c()]: the result has the common dtype, as in base R. [rbind()] of data frames does this.
#'
#' @param x A tensor.
#' @param ... Indices: one for each dimension, or a single one.
#' @param drop `FALSE` keeps dimensions of extent 1; if all dimensions are dropped, the rank is 0.
#' @param exact Ignored.
#' @param value A tensor or an R vector with one element, or as many as are replaced.
#' @return `[` and `[[`: a tensor of the dtype of `x`; `[<-` and `[[<-`: the changed tensor.
#' @section Errors: `joist_shape_error` for an index out of range (its position is named) or a wrong
#'   number of indices or values; `joist_promotion_error` for a value whose dtype does not promote
#'   to that of `x`; `joist_value_error` for names that do not exist, for `NA` as an index in `[[`
#'   and in assignments of several values, and for values out of range.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "i16")
#' x[1, ]
#' x[, -1, drop = FALSE]
#' x[x > 2L]
#' x[[2, 3]]
#' x[1, 2] <- 100L
#' x
#' @name subset
#' @export
`[.nv_tensor` <- function(x, ..., drop = TRUE) {
  taken <- .External2(joist_r_take, x, FALSE)
  if (!is.null(taken)) {
    return(taken)
  }
  indices <- read_indices(shape(x), substitute(c(x, ...)), ...)
  if (is.null(indices)) {
    return(x)
  }
  taken_of(x, function(x) {
    taken <- .Call(joist_r_subset, x, indices, as.logical(drop), FALSE)
    if (is.null(taken)) with_missing(x, indices, drop) else taken
  })
}

is_frame_of_base <- function(frame) identical(parent.env(frame), .BaseNamespaceEnv)

# A subset by indices with NA: takes the first position for it, and puts NA in the place of what
# that gives.
with_missing <- function(x, indices, drop) {
  one <- length(indices) == 1L
  positions <- all_positions(x, indices)
  missing <- lapply(positions, is.na)
  known <- Map(without_na_index, indices, positions)
  # What is out of range is an error, also where base R makes NA of it.
  found <- vapply(missing, function(at) sum(!at), 1L)
  if (any(lengths(known) > found)) do.call(`[`, c(list(x), known))
  if (length(x) == 0L && one && all(missing[[1L]])) {
    return(nv_tensor(rep(NA, sum(missing[[1L]])), dtype(x), ambiguous = ambiguous(x)))
  }
  positions <- Map(function(at, missed) replace(at, missed, 1L), positions, missing)
  taken <- do.call(`[`, c(list(x), positions, drop = FALSE))
  taken[which(Reduce(function(a, b) outer(a, b, "|"), missing))] <- NA
  if (one) {
    if (!is.null(names(taken))) names(taken)[missing[[1L]]] <- NA
    return(taken)
  }
  if (!is.null(dimnames(taken))) {
    labels <- Map(function(label, missed) {
      if (is.null(label)) NULL else replace(label, missed, NA)
    }, dimnames(taken), missing)
    dimnames(taken) <- stats::setNames(labels, names(dimnames(taken)))
  }
  if (isFALSE(as.logical(drop))) {
    return(taken)
  }
  do.call(`[`, c(list(taken), lapply(dim(taken), seq_len)))
}

# An index without NA and zeros; for a negative one, the positions.
without_na_index <- function(index, positions) {
  index <- as.vector(index)
  if (is.character(index)) {
    return(index[!is.na(index)])
  }
  if (is.logical(index)) {
    return(which(index))
  }
  plain <- is.numeric(index) && !any(index < 0, na.rm = TRUE)
  if (plain) index[!is.na(index) & index >= 1] else positions[!is.na(positions)]
}

# The positions that indices choose, as base R has them: NA where an index is.
all_positions <- function(x, indices) {
  one <- length(indices) == 1L
  labels <- if (one) list(names(x)) else dimnames(x)
  if (is.null(labels)) labels <- vector("list", length(indices))
  Map(function(index, extent, label) {
    if (is.null(index)) {
      return(seq_len(extent))
    }
    unname(stats::setNames(seq_len(extent), label)[as.vector(index)])
  }, indices, if (one) length(x) else shape(x), labels)
}

# The same without NA.
known_positions <- function(x, indices) {
  lapply(all_positions(x, indices), function(positions) positions[!is.na(positions)])
}

#' @rdname subset
#' @export
`[[.nv_tensor` <- function(x, ..., exact = TRUE) {
  taken <- .External2(joist_r_take, x, TRUE)
  if (!is.null(taken)) {
    return(taken)
  }
  indices <- read_indices(shape(x), substitute(c(x, ...)), ...)
  if (is.null(indices)) indices <- vector("list", ndims(x))
  taken_of(x, function(x) .Call(joist_r_subset, x, indices, TRUE, TRUE))
}

#' @rdname subset
#' @export
`[<-.nv_tensor` <- function(x, ..., value) {
  done <- .External2(joist_r_put, x, value, substitute(x), FALSE)
  if (!is.null(done)) {
    return(done)
  }
  if (is.character(value)) {
    # As in R, which format.pval() relies on.
    x <- array_of_text(x)
    x[...] <- value
    return(x)
  }
  in_place <- identical(substitute(x), quote(`*tmp*`))
  if (is.logical(x) && !is.logical(value) && identical(topenv(parent.frame()), .BaseNamespaceEnv)) {
    x <- as_filled(x, value)
  }
  extents <- shape(x)
  vector <- length(extents) == 1L && ...length() == 1L && !missing(..1)
  if (vector && is_append(..1, extents, value)) {
    return(appended(x, rep_len(value, length(..1))))
  }
  indices <- read_indices(extents, substitute(c(x, ...)), ...)
  if (is.null(indices)) indices <- vector("list", length(extents))
  if (any(vapply(indices, is_traced_position, NA))) {
    return(put_traced(x, indices, value))
  }
  if (any(vapply(indices, is_traced, NA))) indices <- lapply(indices, without_na_mask)
  .Call(joist_r_assign, x, indices, value, in_place, FALSE)
}

#' @rdname subset
#' @export
`[[<-.nv_tensor` <- function(x, ..., value) {
  done <- .External2(joist_r_put, x, value, substitute(x), TRUE)
  if (!is.null(done)) {
    return(done)
  }
  in_place <- identical(substitute(x), quote(`*tmp*`))
  extents <- shape(x)
  indices <- read_indices(extents, substitute(c(x, ...)), ...)
  if (is.null(indices)) indices <- vector("list", length(extents))
  if (any(vapply(indices, is_traced_position, NA))) {
    if (any(vapply(indices, length, 0L) != 1L) || length(value) != 1L) {
      stop_joist("joist_shape_error", "[[<- replaces exactly one element")
    }
    return(put_traced(x, indices, value))
  }
  .Call(joist_r_assign, x, indices, value, in_place, TRUE)
}

# As in base R, assigning one value changes nothing where the index is NA.
without_na_mask <- function(index) {
  if (is_traced(index) && may_be_na(index)) nv_replace_na(index, FALSE) else index
}

is_traced_position <- function(index) {
  is_traced(index) && format(dtype(index)) != "bool"
}

# `x` with values at positions of which some are traced; these are checked when the program runs.
put_traced <- function(x, indices, value) {
  extents <- if (length(indices) == 1L) length(x) else shape(x)
  strides <- cumprod(c(1, extents))
  single <- length(indices) == 1L
  parts <- lapply(seq_along(indices), function(d) {
    index <- indices[[d]]
    if (!is_tensor(index)) {
      all <- seq_len(extents[d])
      at <- if (is.null(index)) all else all[index]
      if (anyNA(at)) stop_joist("joist_shape_error", "an index is out of range in dimension ", d)
      return(nv_tensor((at - 1) * strides[d], "i64"))
    }
    index <- nv_flatten(nv_convert(nv_tensor_of(index), "i64"))
    if (single) {
      return(index - nv_scalar(1L, "i64"))
    }
    # A position within another row or column is an error, too.
    table <- nv_tensor((seq_len(extents[d]) - 1) * strides[d], "i64")
    nv_gather(table, index, 1L)
  })
  counts <- vapply(parts, length, 0)
  positions <- parts[[1L]]
  for (d in seq_along(parts)[-1L]) {
    rows <- nv_reshape(positions, c(length(positions), 1L))
    columns <- nv_reshape(parts[[d]], c(1L, counts[d]))
    shape <- c(length(positions), counts[d])
    positions <- nv_flatten(nv_broadcast_to(rows, shape) + nv_broadcast_to(columns, shape))
  }
  many <- prod(counts)
  if (!length(value) %of% c(1L, many)) {
    stop_joist(
      "joist_shape_error", length(value), " values cannot replace ", many, " elements"
    )
  }
  if (is_tensor(value) && !is_number(value)) {
    value <- nv_reshape(value, if (length(value) == 1L) integer() else many)
  }
  apply_operation("put", list(x, positions, value))
}

# Base R's own code, such as ifelse(), fills logical vectors with what it chooses.
as_filled <- function(x, value) {
  joined <- result_dtype(x, value)
  converted_into(x, joined$dtype, joined$ambiguous)
}

nv_tensor_of <- function(x) if (is_number(x)) as_operand(x) else x

# Whether these are the positions right behind the last element, and the values fit them.
is_append <- function(index, extent, value) {
  is.numeric(index) && !is.object(index) && isTRUE(index[1L] == extent + 1) &&
    length(value) %of% c(1L, length(index)) && all(index == extent + seq_along(index))
}

# rbind() of data frames, and with that merge() by several keys, must not take rounded whole numbers
# for the same.
appended <- function(x, value) {
  joined <- c(x, value)
  check_exact(x, dtype(joined))
  if (inherits(value, "integer64")) value <- nv_tensor(value)
  if (is_tensor(value)) check_exact(value, dtype(joined))
  joined
}

array_of_text <- function(x) {
  text <- as_array(x, "character")
  if (is.null(dim(x))) names(text) <- names(x) else dimnames(text) <- dimnames(x)
  text
}

# The fields of a tensor are internal.
#' @export
`$.nv_tensor` <- function(x, name) {
  stop_joist(
    "joist_value_error", "$ is not defined for tensors; see dtype(), shape(), ambiguous(), device()"
  )
}

#' @export
`$<-.nv_tensor` <- function(x, name, value) {
  stop_joist("joist_value_error", "$<- is not defined for tensors; make a new one with nv_tensor()")
}

# The indices in `...`: a list with one for each dimension (NULL for all), or with one for the
# whole tensor; NULL for x[]. `call` has the tensor's and their expressions, in which one that is
# left out is seen.
read_indices <- function(extents, call, ...) {
  n <- ...length()
  empty <- .Call(joist_r_empty_indices, call, n)
  if (n == 0L || (n == 1L && empty)) {
    return(NULL)
  }
  given <- vector("list", n)
  for (k in seq_len(n)) {
    if (empty[k]) next
    index <- ...elt(k)
    given[[k]] <- if (is.null(index)) integer() else index
  }
  rank <- length(extents)
  if (n == 1L && rank != 1L) {
    return(list(whole_index(given[[1L]], extents)))
  }
  if (n != rank) {
    stop_joist(
      "joist_shape_error", n, if (n == 1L) " index" else " indices", " for a tensor of rank ", rank
    )
  }
  given
}

# The index of a whole tensor: a matrix of numbers with a row for each element becomes
# column-major positions.
whole_index <- function(index, extents) {
  size <- dim(index)
  if (length(size) != 2L || size[2L] != length(extents)) {
    return(index)
  }
  if (inherits(index, "nv_tensor")) {
    if (dtype(index) == "bool") {
      return(index)
    }
    if (is_traced(index)) {
      stop_joist(
        "joist_value_error", "a matrix of positions must be known while jit() traces; give an ",
        "index for each dimension"
      )
    }
    index <- as_array(index)
  }
  if (!is.numeric(index)) {
    return(index)
  }
  strides <- cumprod(c(1, extents))[seq_along(extents)]
  for (d in seq_along(extents)) {
    where <- paste0(" of dimension ", d)
    bad <- which(index[, d] < 1 | index[, d] >= extents[d] + 1)
    if (length(bad) > 0L) {
      stop_joist(
        "joist_shape_error", "index ", format(index[bad[1L], d], scientific = FALSE),
        " at position ", bad[1L], where, " is out of range (1 to ", extents[d], ")"
      )
    }
  }
  as.vector((trunc(index) - 1) %*% strides) + 1
}
