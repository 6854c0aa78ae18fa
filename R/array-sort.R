#' Sort tensors
#'
#' `nv_sort()` sorts the elements, `nv_argsort()` gives the positions that sort them: along a
#' dimension, or all of them. Equal elements keep their order, also when it is decreasing; `-0` and
#' `0` are equal, `FALSE` is less than `TRUE`, and in either direction NaN comes after all numbers
#' and missing values after NaN.
#'
#' `sort()` sorts all elements to rank 1. Like base R's, it leaves out missing values and NaN unless
#' `na.last` is `TRUE` or `FALSE`; while `jit()` traces and for [nv_aval()], where the number of
#' elements cannot depend on values, `na.last = NA` keeps them last. `order()` calls `xtfrm()` for
#' numbers that base R can compare; `nv_argsort()` is faster. Unsigned integers have no negative
#' numbers: `-x` wraps around, so that `order(-x)` is not a decreasing order; use
#' `decreasing = TRUE`.
#'
#' @param x A tensor, or an R number or array.
#' @param dim The dimension along which to sort, or its name; a negative one counts from the last;
#'   `NULL` for all elements in column-major order.
#' @param decreasing `TRUE` for the largest first.
#' @param na.last For `sort()`: `TRUE` to put missing values and NaN last, `FALSE` to put them
#'   first, `NA` to leave them out.
#' @param ... Ignored; `dims` and other arguments of reductions are refused.
#' @return `nv_sort()` and `sort()`: a tensor of the dtype of the operand, with its names from
#'   `sort()` alone; `nv_argsort()`: positions from 1 on, a known `i32`. The shape is that of the
#'   operand, or rank 1 for `dim = NULL`. `xtfrm()`: an R vector of the same order, of the elements
#'   themselves or, where R has no numbers for them (`i64`, `ui64`), of their ranks, of which equal
#'   elements share the smallest.
#' @section Errors: `joist_dtype_error` for complex numbers, which have no order;
#'   `joist_shape_error` for a dimension that does not exist; `joist_value_error` for flags that
#'   are neither `TRUE` nor `FALSE`, for an invalid `na.last` of `sort()`, and for `xtfrm()`
#'   and `order()` while `jit()` traces.
#' @examples
#' x <- nv_tensor(matrix(c(3, 1, 2, 9, 7, 8), 3), "f16")
#' nv_sort(x)
#' nv_sort(x, dim = 1)
#' nv_argsort(x, dim = 1, decreasing = TRUE)
#' sort(nv_tensor(c(2, NA, 1), "ui8"))
#' nv_sort(nv_tensor(c(2, NA, NaN, 1)))
#' order(nv_tensor(c(2, NaN, 1)))
#' @export
nv_sort <- function(x, dim = NULL, decreasing = FALSE) {
  sort_along("sort", x, dim, decreasing)
}

#' @rdname nv_sort
#' @export
nv_argsort <- function(x, dim = NULL, decreasing = FALSE) {
  sort_along("order", carried_number(x), dim, decreasing)
}

sort_along <- function(op, x, dim, decreasing) {
  check_flag(decreasing, "decreasing")
  x <- as_operand(x)
  if (is.null(dim)) {
    if (ndims(x) != 1L) x <- nv_flatten(x)
    dim <- 1L
  }
  .Call(joist_r_operation, op, list(x), list(dim = dim, decreasing = decreasing))
}

#' @rdname nv_sort
#' @method sort nv_tensor
#' @export
sort.nv_tensor <- function(x, decreasing = FALSE, na.last = NA, # nolint: object_name_linter.
                           ...) {
  check_no_dims("sort", "nv_sort()", ...)
  check_na_last(na.last)
  if (isTRUE(list(...)$index.return)) {
    return(sort_with_positions(x, decreasing, na.last))
  }
  check_no_mask(x, na.last)
  if (ndims(x) == 1L && !is.null(names(x))) {
    return(sort_named(x, decreasing, na.last))
  }
  sorted <- nv_sort(x, decreasing = decreasing)
  if (isTRUE(na.last) || !has_elements(sorted) || !may_be_na(x)) {
    return(sorted)
  }
  n <- length(sorted)
  if (n == 0L || !is.na(as_array(sorted[n]))) { # they are the last
    return(sorted)
  }
  count <- n - sum(is.na(sorted))
  if (count == 0L && isFALSE(na.last)) {
    return(sorted)
  }
  numbers <- sorted[seq_len(count)]
  if (is.na(na.last)) numbers else c(sorted[-seq_len(count)], numbers)
}

# As in base R, positions count only the elements that are not missing.
sort_with_positions <- function(x, decreasing, na.last) { # nolint: object_name_linter.
  check_elements(x, "sort(index.return = TRUE)", "nv_argsort()")
  if (is.na(na.last)) x <- x[!is.na(x)]
  order <- order(x, decreasing = decreasing, na.last = na.last)
  list(x = x[order], ix = order)
}

sort_named <- function(x, decreasing, na.last) { # nolint: object_name_linter.
  if (has_elements(x)) {
    x[order(x, decreasing = decreasing, na.last = na.last)]
  } else {
    x[nv_argsort(x, decreasing = decreasing)]
  }
}

check_no_mask <- function(x, na.last) { # nolint: object_name_linter.
  if (is_traced(x) && is.na(na.last) && !is.null(mask_of(x))) {
    stop_joist(
      "joist_value_error", "sort() leaves missing values out, so that the length of the result ",
      "depends on values, which are not known while jit() traces; use sort(x, na.last = TRUE)"
    )
  }
}

check_na_last <- function(x, others = "") {
  if (!is.logical(x) || length(x) != 1L) {
    stop_joist("joist_value_error", "`na.last` must be TRUE, FALSE or NA", others)
  }
}

# A tensor with data: neither traced nor abstract.
has_elements <- function(x) .Call(joist_r_has_elements, x)

#' @rdname nv_sort
#' @method xtfrm nv_tensor
#' @export
xtfrm.nv_tensor <- function(x) {
  check_elements(x, "xtfrm() and order()", "nv_argsort()")
  if (!format(dtype(x)) %of% c("i64", "ui64") && !is_complex_dtype(x)) {
    # Integers, which R sorts fastest, but the smallest i32 is none of R's.
    ranks <- tryCatch(as.vector(x), joist_value_error = function(e) as.vector(x, "double"))
    return(as_named(ranks, x))
  }
  local_promotion("anvil") # all is of one dtype, of which some rule sets know nothing
  order <- nv_argsort(x)
  sorted <- nv_flatten(x)[order]
  ranks <- as.vector(order)
  n <- length(ranks)
  if (n > 0L) {
    same <- c(FALSE, as.vector(sorted[-1L] == sorted[-n]))
    ranks[ranks] <- cummax(ifelse(is.na(same) | !same, seq_len(n), 0L))
    ranks[is.na(x)] <- NA
  }
  as_named(ranks, x)
}

# As base R's, whose names `-xtfrm(x)` keeps.
as_named <- function(values, x) {
  if (!is.null(names(x))) names(values) <- names(x)
  values
}

# For what cannot be known without the elements.
check_elements <- function(x, what, instead = NULL) {
  if (has_elements(x)) {
    return(invisible())
  }
  message <- paste0(
    what, " of a tensor ", if (grepl(" and ", what)) "depend" else "depends",
    " on its values, which are not known ",
    if (is_traced(x)) "while jit() traces" else "of an nv_aval",
    if (!is.null(instead)) paste0("; use ", instead)
  )
  if (!is_traced(x)) stop_joist("joist_value_error", message)
  condition <- trace_condition(user_call(sys.nframe() - 1L), message)
  .Call(joist_r_poison_note, condition)
  stop(condition)
}

#' The largest or smallest elements
#'
#' `nv_top_k()` gives the first `k` elements along a dimension in sorted order, without sorting all
#' of it, and where they are. They are those that `nv_sort()` and `nv_argsort()` put first: of equal
#' elements the earlier one, NaN only if there are not `k` numbers, and missing values only if there
#' are not enough NaN, either. `nv_take_along()` takes elements at such positions, and
#' `nv_put_along()` replaces them; at a position that occurs twice, by the last value.
#'
#' @param x A tensor, or an R number or array.
#' @param k How many elements to take, at most the extent of the dimension.
#' @param dim The dimension or its name; a negative one counts from the last; `NULL` for the last.
#' @param decreasing `TRUE` for the largest, `FALSE` for the smallest.
#' @param indices Positions from 1 on: an `i32` tensor, or R integers, whose shape differs from that
#'   of the operand along `dim` only.
#' @param values Numbers for the positions: a tensor of the shape of `indices`, or one that
#'   broadcasts to it, or an R number. They take the dtype of `x` as in assignment, see [subset].
#' @return `nv_top_k()`: a list of `values`, a tensor of the dtype of the operand, and
#'   `indices`, a known `i32`, both with extent `k` along `dim`. `nv_take_along()`: a tensor of
#'   the dtype of the operand and the shape of `indices`; `nv_put_along()`: one of the dtype and the
#'   shape of the operand.
#' @section Errors: `joist_dtype_error` for complex numbers and for positions that are not
#'   `i32`; `joist_shape_error` for a dimension that does not exist, a `k` above the number of
#'   elements, shapes that do not fit, and a position out of range; `joist_value_error` for a `k`
#'   that is not a whole number.
#' @examples
#' x <- nv_tensor(matrix(c(3, 1, 2, 9, 7, 8), 3))
#' nv_top_k(x, 2, dim = 1)
#' nv_take_along(x, nv_argsort(x, dim = 1), dim = 1)
#' nv_put_along(x, nv_argmax(x, dim = 1, drop = FALSE), 0, dim = 1)
#' @concept put_along_axis
#' @export
nv_top_k <- function(x, k, dim = NULL, decreasing = TRUE) {
  check_flag(decreasing, "decreasing")
  x <- as_operand(x)
  check_whole(k, "k")
  if (ndims(x) == 0L) x <- nv_flatten(x)
  if (is.null(dim)) dim <- ndims(x)
  attributes <- list(dim = dim, decreasing = decreasing, k = k)
  indices <- .Call(joist_r_operation, "top_k", list(x), attributes)
  list(values = nv_take_along(x, indices, dim), indices = indices)
}

#' @rdname nv_top_k
#' @export
nv_take_along <- function(x, indices, dim) {
  if (is.null(dim)) dim <- NA
  if (is.integer(indices) && !is_tensor(indices)) indices <- nv_tensor(indices, "i32")
  .Call(joist_r_operation, "take_along", list(x, indices), list(dim = dim))
}

#' @rdname nv_top_k
#' @export
nv_put_along <- function(x, indices, values, dim) {
  x <- as_operand(x)
  indices <- as_positions(indices, "indices")
  dim <- dims_of(dim, x, "dim", single = TRUE)
  extents <- shape(x)
  given <- shape(indices)
  if (length(given) != length(extents) || !identical(given[-dim], extents[-dim])) {
    stop_joist(
      "joist_shape_error", "`indices` of shape ", shape_text(indices),
      " do not fit dimension ", dim, " of ", shape_text(x)
    )
  }
  strides <- c(1, cumprod(extents))
  at <- by_anvil({
    at <- (indices - 1L) * scalar_like(strides[dim], indices)
    for (k in seq_along(extents)[-dim]) {
      own <- replace(rep(1L, length(extents)), k, extents[k])
      at <- at + beside(nv_iota(k, "i64", own, start = 0L), x) * scalar_like(strides[k], at)
    }
    nv_flatten(at) + 1L
  })
  line <- nv_flatten(x)
  if (!is_tensor(values) && length(values) == 0L) {
    stop_joist("joist_shape_error", "`values` has no elements")
  }
  if (is_tensor(values)) values <- nv_flatten(nv_broadcast_to(values, given))
  line[at] <- values
  same_names(nv_reshape(line, extents), x)
}
