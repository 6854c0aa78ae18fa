#' Find elements
#'
#' `nv_match()` says where each element is first found in a table, as [match()] does, and
#' `nv_is_in()` whether it is found, as `%in%` does. A missing value is found where there is a
#' missing value, NaN where there is NaN, and `-0` is `0`. `nv_searchsorted()` counts the sorted
#' elements that are less than each value (`side = "left"`), or not greater (`"right"`, as
#' [findInterval()]); NaN is the largest. The count of a missing value is missing.
#'
#' Both operands are compared as by [nv_eq()]: integers exactly, with one another and with R
#' numbers, others in their common dtype. [match()] and `%in%` take tensors, too, and give R
#' vectors; they compare tensors with character vectors as text.
#'
#' @param x,values A tensor, or R numbers.
#' @param table A tensor of any shape, or R numbers.
#' @param nomatch The whole number for elements that are not found.
#' @param sorted A tensor of rank 1 or R numbers, sorted as by [nv_sort()].
#' @param side `"left"` or `"right"`.
#' @return `nv_match()`: positions from 1 on; `nv_searchsorted()`: counts from 0 on; both known
#'   `i32`. `nv_is_in()`: known `bool`. The shape is that of `x` or `values`.
#' @section Errors: `joist_promotion_error` when the rules know no common dtype of both;
#'   `joist_value_error` for elements that are not sorted, missing values in `sorted`, an invalid
#'   `side`, and a `nomatch` that is not a whole number; `joist_shape_error` when `sorted` is not of
#'   rank 1; `joist_dtype_error` for complex numbers, which have no order, in `nv_searchsorted()`.
#' @examples
#' x <- nv_tensor(c(3, 1, 4, 1), "f16")
#' nv_match(x, c(1, 2, 3))
#' nv_is_in(x, c(1, 2, 3))
#' nv_match(c(NA, 4), c(x, NA))
#' nv_searchsorted(c(1, 2, 3), x)
#' nv_searchsorted(c(1, 2, 3), x, side = "right")
#' @export
nv_match <- function(x, table, nomatch = 0L) {
  if (!is_whole(nomatch) || length(nomatch) != 1L) {
    stop_joist("joist_value_error", "`nomatch` must be one whole number, which cannot be NA")
  }
  .Call(joist_r_operation, "match", list(x, table), list(nomatch = nomatch))
}

#' @rdname nv_match
#' @export
nv_is_in <- function(x, table) {
  at <- nv_match(x, table)
  by_anvil(at != 0L)
}

#' @rdname nv_match
#' @export
nv_searchsorted <- function(sorted, values, side = "left") {
  if (!is.character(side) || length(side) != 1L || !side %of% c("left", "right")) {
    stop_joist("joist_value_error", "`side` must be \"left\" or \"right\"")
  }
  right <- side == "right"
  one <- is_number(sorted) || !is_tensor(sorted) && is.atomic(sorted)
  if (one && length(sorted) == 1L) sorted <- with_matrix_shape(sorted, 1L) # it has no rank
  .Call(joist_r_operation, "searchsorted", list(sorted, values), list(right = right))
}

# As base R: a position for each element of `x`, `nomatch` where there is none. Numbers compare as
# by nv_eq(), all else as text.
#' @exportS3Method bit64::match
match.nv_tensor <- function(x, table, nomatch = NA_integer_, incomparables = NULL) {
  for (part in list(x, table)) if (is_tensor(part)) check_elements(part, "match()", "nv_match()")
  plain <- is.null(incomparables) || isFALSE(incomparables)
  if (!plain || !are_numbers(x) || !are_numbers(table)) {
    keys <- match_texts(x, table)
    return(base::match(keys[[1L]], keys[[2L]], nomatch, incomparables))
  }
  at <- as.vector(nv_compute(nv_match(in_a_row(x), in_a_row(table))))
  at[at == 0L] <- as.integer(nomatch)
  at
}

#' @rawNamespace S3method(bit64::"%in%", nv_tensor)
`%in%.nv_tensor` <- function(x, table) match.nv_tensor(x, table, 0L) > 0L

are_numbers <- function(x) {
  is_tensor(x) || is.atomic(x) && !is.null(x) && !is.character(x) &&
    (!is.object(x) || inherits(x, c("integer64", "float32")))
}

in_a_row <- function(x) if (is_tensor(x)) nv_flatten(x) else x

# Tensors as text where the other one is text, too, or has levels; else as base R compares them.
match_texts <- function(x, table) {
  texts <- any(vapply(list(x, table), function(part) is.character(part) || is.factor(part), NA))
  as <- if (texts) as.character else mtfrm.nv_tensor
  lapply(list(x, table), function(part) if (is_tensor(part)) as(part) else part)
}

# What base::match() compares, which sees one operand at a time: doubles or, where these would not
# be exact, text. Shorter numbers are written as base R writes the doubles that they may meet.
#' @rawNamespace if (getRversion() >= "4.2.0") S3method(mtfrm, nv_tensor)
mtfrm.nv_tensor <- function(x) {
  check_elements(x, "match()", "nv_match()")
  if (dtype(x) == "bool") {
    return(as.vector(x))
  }
  if (is_int64(x) && matches_integer64(parent.frame())) {
    return(mtfrm(as_array(x, "integer64")))
  }
  keys <- if (is_complex_dtype(x)) as.vector(x) else as.vector(x, "double")
  large <- is_int64(x) & !is.na(keys) & abs(keys) >= 1e15
  if (!any(large)) {
    return(keys)
  }
  ifelse(large, as.character(x), as.character(keys))
}

# Whether base::match(), or merge(), into which R compiles it, has an integer64 vector, of which it
# compares the text ("100000"; a double would be "1e+05") or, with an old bit64, the bits. mtfrm()
# is given one operand, so only the frame of its caller has the other one. Without it, keys of data
# frames would silently fail to match.
matches_integer64 <- function(frame) {
  keys <- mget(c("x", "table", "bx", "by"), frame, ifnotfound = list(NULL))
  identical(parent.env(frame), .BaseNamespaceEnv) && any(vapply(keys, inherits, NA, "integer64"))
}

#' @exportS3Method bit64::rowSums
rowSums.nv_tensor <- function(x, na.rm = FALSE, dims = 1L) { # nolint: object_name_linter.
  sums_of(x, na.rm, -row_dims(x, dims))
}

#' @exportS3Method bit64::colSums
colSums.nv_tensor <- function(x, na.rm = FALSE, dims = 1L) { # nolint: object_name_linter.
  sums_of(x, na.rm, row_dims(x, dims))
}

#' Unique and repeated elements
#'
#' Find unique and repeated elements by their values, in column-major order, also of a matrix, where
#' base R takes rows: missing values equal one another, NaN equals NaN, and `-0` equals `0`.
#'
#' @param x A tensor.
#' @param incomparables `FALSE`, or values that count as equal to no other.
#' @param fromLast `TRUE` to go backwards, so that the last of equal elements is kept.
#' @param ... Ignored; `MARGIN`, `dims` and other arguments of reductions are refused.
#' @return `unique()`: a tensor of rank 1 with the dtype of `x`, without names. `duplicated()`: a
#'   logical vector with an element for each element of `x`. `anyDuplicated()`: the position of the
#'   first repeated element, or 0.
#' @section Errors: `joist_value_error` while `jit()` traces and for [nv_aval()]: what is
#'   repeated depends on values.
#' @examples
#' x <- nv_tensor(c(3, 1, 2, 1), "f16")
#' unique(x)
#' duplicated(x)
#' unique(nv_tensor(c(1, NA, 1, NA), "ui8"))
#' @name unique
#' @method duplicated nv_tensor
#' @export
duplicated.nv_tensor <- function(x, incomparables = FALSE,
                                 fromLast = FALSE, ...) { # nolint: object_name_linter.
  check_elements(x, "duplicated()")
  check_no_dims("duplicated", "nv_group() of a list of columns", ...)
  check_flag(fromLast, "fromLast")
  if (fromLast) {
    return(rev(duplicated.nv_tensor(rev(x), incomparables)))
  }
  repeated <- .Call(joist_r_duplicated, x)
  if (isFALSE(incomparables)) repeated else repeated & !as.vector(nv_is_in(x, incomparables))
}

#' @rdname unique
#' @method anyDuplicated nv_tensor
#' @export
anyDuplicated.nv_tensor <- function(x, incomparables = FALSE,
                                    fromLast = FALSE, ...) { # nolint: object_name_linter.
  check_no_dims("anyDuplicated", "nv_group() of a list of columns", ...)
  early <- has_elements(x) && isFALSE(incomparables) && isFALSE(fromLast)
  if (early && !is.null(mask_of(x))) {
    # The second missing element repeats the first.
    second <- as.vector(nv_which(nv_flatten(mask_of(x))))[2L]
    if (!is.na(second)) x <- slice(nv_flatten(x), 1L, 1L, second)
  }
  n <- length(x)
  most <- 1024 # elements that are searched first
  while (early && most < n / 2) {
    repeated <- which(duplicated.nv_tensor(slice(nv_flatten(x), 1L, 1L, most)))
    if (length(repeated) > 0L) {
      return(repeated[1L])
    }
    most <- most * 4
  }
  repeated <- which(duplicated.nv_tensor(x, incomparables, fromLast))
  if (length(repeated) == 0L) 0L else if (fromLast) max(repeated) else repeated[1L]
}

#' @rdname unique
#' @method unique nv_tensor
#' @export
unique.nv_tensor <- function(x, incomparables = FALSE,
                             fromLast = FALSE, ...) { # nolint: object_name_linter.
  check_elements(x, "unique()")
  check_no_dims("unique", "nv_group() of a list of columns", ...)
  if (isFALSE(incomparables) && isFALSE(fromLast)) {
    return(.Call(joist_r_unique, x))
  }
  nv_flatten(unname(x))[!duplicated.nv_tensor(x, incomparables, fromLast)]
}

#' Find and count elements
#'
#' `nv_which()` gives the positions of TRUE, as a tensor where [which()] gives an R vector;
#' `nv_tabulate()`, also by [tabulate()], counts how often each of 1, 2, ... `nbins` occurs. Missing
#' values are not TRUE, and other values than 1 to `nbins` are not counted. With `weights` each
#' element counts as much as its weight.
#'
#' @param x A `bool` tensor.
#' @param arr.ind `TRUE` for one index per dimension instead of a position in column-major
#'   order.
#' @param bin A tensor of integers, or R numbers; fractions are dropped.
#' @param weights A tensor of numbers of the shape of `bin`; `NULL` for 1 each.
#' @param nbins How many bins; `NULL` for the largest of `bin`, at least 1.
#' @return `nv_which()`: positions from 1 on, a known `i32`, of rank 1, or with `arr.ind` a
#'   matrix with a row for each TRUE. `nv_tabulate()`: counts, a known `i64` of rank 1, or sums of
#'   weights, of their dtype or, of bools and integers but `ui64`, known `i64`.
#' @section Errors: `joist_value_error` for `nv_which()`, and `nv_tabulate()` without `nbins`,
#'   while `jit()` traces, for [nv_aval()] and of [chunked] tensors: the shape depends on values;
#'   `joist_dtype_error` for `nv_which()` of another dtype than `bool`, and `nv_tabulate()` of
#'   complex numbers; `joist_shape_error` for weights of another shape.
#' @examples
#' x <- nv_tensor(matrix(c(3, 1, 2, 9, 7, 8), 3))
#' nv_which(x > 2)
#' nv_which(x > 2, arr.ind = TRUE)
#' nv_tabulate(nv_tensor(c(2L, 3L, 2L)), nbins = 4)
#' nv_tabulate(nv_tensor(c(2L, 3L, 2L)), weights = nv_tensor(c(0.5, 1, 2)))
#' @concept bincount
#' @export
nv_which <- function(x, arr.ind = FALSE) { # nolint: object_name_linter.
  check_flag(arr.ind, "arr.ind")
  x <- as_operand(x)
  check_elements(x, "nv_which()", "nv_ifelse() with a mask")
  .Call(joist_r_which, x, arr.ind)
}

#' @rdname nv_which
#' @export
nv_tabulate <- function(bin, nbins = NULL, weights = NULL) {
  bin <- as_operand(bin)
  if (is_complex_dtype(bin)) {
    stop_joist("joist_dtype_error", "nv_tabulate() is not defined for ", format(dtype(bin)))
  }
  if (is.null(nbins)) {
    check_elements(bin, "the number of bins of nv_tabulate()", "`nbins`")
    most <- if (length(bin) > 0L) max(nv_convert(bin, "i64"), na.rm = TRUE)
    nbins <- if (is.null(most)) 1 else max(1, as_array(nv_replace_na(most, 1), "double"))
  }
  if (!is.null(weights)) {
    return(sums_in_bins(bin, nbins, weights))
  }
  .Call(joist_r_operation, "tabulate", list(bin), list(shape = nbins, dtype = "i64"))
}

# Elements outside of all bins go into an extra bin, which is dropped.
sums_in_bins <- function(bin, nbins, weights) {
  check_whole(nbins, "nbins")
  weights <- tensor_beside(weights, bin)
  if (!identical(shape(weights), shape(bin))) {
    stop_joist(
      "joist_shape_error", "`weights` have the shape ", shape_text(weights), ", not ",
      shape_text(bin)
    )
  }
  if (!is_inexact_dtype(weights) && format(dtype(weights)) != "ui64") {
    weights <- nv_convert(weights, "i64")
  }
  by_anvil({
    bin <- nv_convert(nv_replace_na(bin, 0), "i64")
    bin <- nv_ifelse(bin >= 1L & bin <= nbins, bin, scalar_like(nbins + 1, bin))
    zeros <- nv_broadcast_to(scalar_like(0L, weights), nbins + 1)
    slice_along(nv_scatter_add(zeros, nv_flatten(bin), nv_flatten(weights)), 1L, 1L, nbins)
  })
}
