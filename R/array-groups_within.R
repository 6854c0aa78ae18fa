#' Cumulative functions and ranks within groups
#'
#' Each element is combined with the earlier ones of its group, as [nv_cumsum()] and its siblings do
#' without groups, or gets its rank among the elements of its group. Groups are those of
#' [nv_segment_sum()].
#'
#' Missing values and NaN are treated as in [nv_cumsum()]: all results after one are missing or NaN,
#' but with `na_rm = TRUE` only its own. Floats are combined in `f64` and rounded once, pairwise, so
#' that errors grow with the logarithm of the size of a group.
#'
#' @inheritParams nv_segment_sum
#' @param ties Which rank equal elements get: the `"average"` of their ranks, the least (`"min"`),
#'   the greatest (`"max"`), or one after the other (`"first"`), as in [rank()].
#' @param decreasing `TRUE` gives the largest element rank 1.
#' @return A tensor of the shape and with the names of `x`. Cumulative functions have the dtype of
#'   [nv_cumsum()] and its siblings; ranks have dtype `f64` for `ties = "average"` and `i32`
#'   otherwise. Elements without a group are missing, and so are the ranks of missing values and
#'   NaN.
#' @section Errors: those of [nv_segment_sum()]; `joist_dtype_error` for extremes and ranks of
#'   complex numbers.
#' @examples
#' x <- nv_tensor(c(3, 1, 2, 5, 4))
#' g <- c("a", "b", "a", "a", "b")
#' nv_segment_cumsum(x, nv_group(g))
#' nv_segment_cummax(x, nv_group(g))
#' nv_segment_rank(x, nv_group(g))
#' @export
nv_segment_cumsum <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  cumulate_groups(x, ids, count, na_rm, dim, nv_cumsum, `+`, 0)
}

#' @rdname nv_segment_cumsum
#' @export
nv_segment_cumprod <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  cumulate_groups(x, ids, count, na_rm, dim, nv_cumprod, `*`, 1)
}

#' @rdname nv_segment_cumsum
#' @export
nv_segment_cummin <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  cumulate_groups(x, ids, count, na_rm, dim, nv_cummin, nv_min)
}

#' @rdname nv_segment_cumsum
#' @export
nv_segment_cummax <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  cumulate_groups(x, ids, count, na_rm, dim, nv_cummax, nv_max)
}

#' @rdname nv_segment_cumsum
#' @export
nv_segment_rank <- function(x, ids, count = NULL, ties = "average", decreasing = FALSE,
                            dim = 1L) {
  check_choice(ties, "ties", c("average", "min", "max", "first"))
  check_flag(decreasing, "decreasing")
  within_groups(carried_number(x), ids, count, FALSE, dim, function(s) {
    by_value <- nv_argsort(s$x, decreasing = decreasing)
    order <- nv_gather(by_value, nv_argsort(nv_gather(s$at, by_value)))
    sorted <- grouped_lines(s, order)
    rank <- sorted$number - sorted$begin
    if (ties != "first" && length(s$x) > 1L) {
      starts <- sorted$starts | nv_replace_na(sorted$x != shifted_back(sorted$x, 1L), TRUE)
      first <- last_number(starts, sorted$number)
      n <- nv_scalar(length(s$x), "i32")
      ends <- nv_concatenate(slice(starts, 2L, 1L, length(s$x) - 1L), scalar_like(TRUE, starts))
      from_end <- last_number(nv_reverse(ends, 1L), sorted$number)
      last <- n - nv_scalar(1L, "i32") - nv_reverse(from_end, 1L)
      rank <- switch(ties,
        min = first - sorted$begin, max = last - sorted$begin,
        average = nv_convert(first + last, "f64") / 2 - nv_convert(sorted$begin, "f64")
      )
    }
    if (ties == "average") rank <- nv_convert(rank, "f64")
    rank <- sorted$back(rank + scalar_like(1, rank))
    if (may_be_na(s$x)) rank <- nv_mask(rank, nv_reshape(nv_is_na(s$x), shape(rank)))
    rank
  })
}

# What `f` makes of each element, in its place and with its name.
within_groups <- function(x, ids, count, na_rm, dim, f, type = identity) {
  x <- tensor_beside(x, ids)
  same_names(by_group(x, ids, count, na_rm, dim, TRUE, function(s) f(check_groups(s)), type), x)
}

# Combines each element with the earlier ones of its group, by doubling: after step k each is
# combined with the 2^k - 1 elements before it. Sums and products of later elements may be beyond
# the range of the dtype where those from the first on are not: the former are exact, and after a
# zero there are only zeros.
cumulate_groups <- function(x, ids, count, na_rm, dim, cumulative, combine, neutral = NULL) {
  within_groups(x, ids, count, na_rm, dim, function(s) {
    type <- s$type
    s$x <- like(s$x, type)
    kind <- if (is.null(neutral)) "extreme" else dtype_kind(type)
    if (kind %of% c("float", "complex")) s$x <- in_double(s$x)
    if (kind == "int" && !is_int64(type)) s$x <- nv_convert(s$x, "i64")
    sorted <- grouped_lines(s, nv_argsort(s$at))
    if (kind %of% c("int", "uint") && neutral == 1) sorted$x <- zero_after_zero(sorted)
    place <- sorted$number - sorted$begin
    longest <- length(place)
    if (has_elements(place) && longest > 0L) longest <- as.vector(nv_reduce_max(place)) + 1
    scan <- function(y) {
      by <- 1L
      while (by < longest) {
        other <- if (is.null(neutral)) y else scalar_like(neutral, y)
        y <- combine(nv_ifelse(place < nv_scalar(by, "i32"), other, shifted_back(y, by)), y)
        by <- 2L * by
      }
      y
    }
    whole <- kind == "int" && is_int64(type) && neutral == 0
    y <- if (whole) join_halves(lapply(integer_halves(sorted$x), scan)) else scan(sorted$x)
    y <- sorted$back(y)
    if (kind == "int") converted_into(y, dtype(type), ambiguous(type)) else like(y, type)
  }, cumulative)
}

zero_after_zero <- function(sorted) {
  x <- sorted$x
  zero <- nv_replace_na(x == scalar_like(0, x), FALSE)
  one <- nv_scalar(1L, "i32")
  after <- last_number(zero, sorted$number + one) > sorted$begin
  nv_ifelse(after & nv_replace_na(x != scalar_like(0, x), FALSE), scalar_like(0, x), x)
}

# The elements of flat segments in an order that has those of a group side by side: their numbers
# from 0 on, whether a group starts there, the number of the first of its group, and the way back.
grouped_lines <- function(s, order) {
  n <- length(s$at)
  number <- beside(nv_iota(1L, "i32", n, start = 0), s$x)
  at <- nv_gather(s$at, order)
  starts <- number == nv_scalar(0L, "i32")
  if (n > 1L) starts <- starts | at != shifted_back(at, 1L)
  back <- function(result) {
    places <- nv_convert(order, "i64") - nv_scalar(1L, "i64")
    result <- .Call(joist_r_operation, "put", list(result, places, result), NULL)
    if (s$spare) result <- nv_mask(result, s$at == nv_scalar(s$groups, "i64"))
    nv_reshape(result, s$shape)
  }
  list(
    x = nv_gather(s$x, order), number = number, starts = starts,
    begin = last_number(starts, number), back = back
  )
}

# The elements `by` places before; the first ones stay.
shifted_back <- function(x, by) {
  nv_concatenate(slice(x, 1L, 1L, by), slice(x, 1L, 1L, length(x) - by))
}

# The last number so far at which a flag is set.
last_number <- function(flags, number) nv_cummax(nv_ifelse(flags, number, nv_scalar(0L, "i32")), 1L)
