#' Variance, norm and count
#'
#' The variance, the standard deviation, a vector norm, and the number of elements that are not
#' zero: over all dimensions, or over some.
#'
#' The variance is the mean square of the distances from the mean, less the square of the mean
#' distance, which is what rounding the mean costs (Chan, Golub and LeVeque 1983); all of it in
#' double, so that for `f32` and narrower the error is that of rounding the result. Of complex
#' numbers it is the real variance: that of the real parts plus that of the imaginary parts.
#' Sums of squares beyond the range of double, 1e308, are infinite. Of integers whose mean is an
#' `f64` the sums are exact, and only the result is rounded.
#'
#' A result is missing if one of its elements is. `na_rm = TRUE` leaves missing values and NaN out,
#' also of the number of elements.
#'
#' [var()] of a tensor is that of all elements, or of a matrix the covariances of its columns.
#'
#' @param x A tensor, or an R number or array, whose values are exact.
#' @param dims Dimensions to reduce: positive numbers, their names (those of `dimnames(x)`),
#'   or negative numbers of those to keep; `NULL` for all. A traced tensor has no names.
#' @param drop `FALSE` keeps the reduced dimensions with extent 1.
#' @param correction The number that is subtracted from the number of elements to give the divisor:
#'   1 for the estimate from a sample, as base R's [var()] does, 0 for the variance of the elements
#'   themselves. With no more elements than `correction` the result is not finite.
#' @param na_rm `TRUE` leaves out missing values and NaN, which is not possible for a [chunked]
#'   tensor.
#' @param p The norm: 2 for the root of the sum of squares, 1 for the sum of absolute values,
#'   `Inf` for the largest and `-Inf` for the smallest of them; other positive numbers for
#'   the p-th root of the sum of p-th powers.
#' @return A tensor. `nv_var()`, `nv_sd()` and `nv_norm()` have the dtype of [nv_mean()], or
#'   that of its parts if it is complex; `nv_count_nonzero()` is a known `i64`, in which
#'   NaN counts.
#' @section Errors: `joist_shape_error` for a dimension that does not exist;
#'   `joist_value_error` for an invalid `correction` or `p`, for the largest and smallest of no
#'   elements, and for `na_rm = TRUE` with a chunked tensor.
#' @references T. F. Chan, G. H. Golub and R. J. LeVeque: Algorithms for computing the sample
#'   variance. The American Statistician 37 (1983), 242-247.
#' @examples
#' x <- nv_tensor(matrix(c(1, 2, 4, 8, 16, 32), 2))
#' nv_var(x)
#' nv_sd(x, dims = 2)
#' nv_sd(nv_tensor(c(1, NA, 3), "ui8"), na_rm = TRUE)
#' nv_norm(x, dims = 1)
#' nv_count_nonzero(x > 3)
#' @export
nv_var <- function(x, dims = NULL, drop = TRUE, correction = 1, na_rm = FALSE) {
  check_flag(na_rm, "na_rm")
  check_number(correction, "correction")
  variance_of(x, dims, drop, correction, FALSE, na_rm)
}

#' @rdname nv_var
#' @export
nv_sd <- function(x, dims = NULL, drop = TRUE, correction = 1, na_rm = FALSE) {
  check_flag(na_rm, "na_rm")
  check_number(correction, "correction")
  variance_of(x, dims, drop, correction, TRUE, na_rm)
}

#' @rdname nv_var
#' @export
nv_norm <- function(x, dims = NULL, drop = TRUE, p = 2) {
  check_number(p, "p")
  if (is.finite(p) && p <= 0) {
    stop_joist("joist_value_error", "`p` must be positive, Inf or -Inf")
  }
  fused("norm", vector_norm, x, dims_by_name(dims, x), drop, p)
}

#' @rdname nv_var
#' @export
nv_count_nonzero <- function(x, dims = NULL, drop = TRUE) {
  nv_reduce_sum(nv_convert(x, "bool"), dims, drop, dtype = "i64")
}

# x, or a missing element of its rank and dtype if all elements are reduced and one is missing: the
# result is missing.
one_if_missing <- function(x, dims, remove = FALSE) {
  if (!is.null(dims) || remove || !is_tensor(x) || is.null(mask_of(x)) || !has_elements(x)) {
    return(x)
  }
  beside(nv_tensor(NA, dtype(x), rep(1L, ndims(x)), ambiguous(x)), x)
}

variance_of <- function(x, dims, drop, correction, root, remove) {
  given <- x
  x <- one_if_missing(x, dims, remove)
  bits <- if (length(x) == length(given) && has_digits(x)) span_of(x)
  fused("variance", variance, x, dims_by_name(dims, x), drop, correction, root, remove, bits)
}

# `bits` is given for tensors of integers, which are summed exactly.
variance <- function(x, dims, drop, correction, root, remove = FALSE, bits = NULL) {
  if (is_chunked(x)) {
    if (remove) stop_in_store()
    return(delayed_moments(x, dims, drop, correction, root))
  }
  if (!is.null(bits) && count_reduced(x, dims) > 0) {
    exact <- with_promotion("anvil", exact_variance(x, dims, drop, correction, root, remove, bits))
    return(like_mean(exact, x))
  }
  wide <- from_least(x, dims)
  distance <- wide - nv_mean(wide, dims, FALSE, na_rm = remove)
  n <- nv_scalar(count_reduced(wide, dims), "f64")
  if (remove) { # but not what is NaN as the mean is
    present <- !nv_is_na(wide)
    n <- nv_reduce_sum(present, dims, drop, "f64")
    distance <- nv_ifelse(present, distance, scalar_like(0, wide))
  }
  squares <- nv_reduce_sum(square_size(distance), dims, drop)
  lost <- square_size(nv_reduce_sum(distance, dims, drop)) / n
  rest <- nv_max(n - nv_scalar(correction, "f64"), nv_scalar(0, "f64"))
  result <- (squares - lost) / rest
  like_mean(if (root) nv_sqrt(result) else result, x)
}

vector_norm <- function(x, dims, drop, p) {
  wide <- in_double(x)
  if (is.infinite(p) && count_reduced(wide, dims) == 0) {
    results <- length(nv_reduce_sum(abstract_of(wide), dims))
    if (results > 0L) {
      stop_joist("joist_value_error", "nv_norm() with p = ", p, " needs at least one element")
    }
  }
  result <- if (p == 2) {
    nv_sqrt(nv_reduce_sum(square_size(wide), dims, drop))
  } else if (p == 1) {
    nv_reduce_sum(nv_abs(wide), dims, drop)
  } else if (p == Inf) {
    nv_reduce_max(nv_abs(wide), dims, drop)
  } else if (p == -Inf) {
    nv_reduce_min(nv_abs(wide), dims, drop)
  } else {
    powers <- nv_reduce_sum(nv_pow(nv_abs(wide), nv_scalar(p, "f64")), dims, drop)
    nv_pow(powers, nv_scalar(1 / p, "f64"))
  }
  like_mean(result, x)
}

# The dtype that sums of floats accumulate in.
in_double <- function(x) {
  complex <- if (inherits(x, "nv_tensor")) is_complex_dtype(x) else is.complex(x)
  nv_convert(x, if (complex) "c128" else "f64")
}

# x in double or, if it is of 64-bit integers, which double does not hold, its distances from the
# least of them along `dims`: variances are the same, and differences are not of rounded numbers.
from_least <- function(x, dims) {
  if (!inherits(x, "nv_tensor") || !is_int64(x) || count_reduced(x, dims) == 0) {
    return(in_double(x))
  }
  by_anvil({
    wide <- in_halves(x)
    least <- in_halves(nv_reduce_min(x, dims, drop = FALSE, na_rm = may_be_na(x)))
    if (may_be_na(x)) least <- lapply(least, nv_replace_na, 0)
    half_by_half(wide, least)
  })
}

# Integers as two doubles that are exact, one of which is a multiple of 2^32.
in_halves <- function(x) {
  if (!is_int64(x)) {
    low <- in_double(x)
    return(list(high = double_beside(0, low), low = low))
  }
  halves <- lapply(integer_halves(x), nv_convert, dtype = "f64")
  by_anvil(list(high = halves$high * double_beside(2^32, halves$high), low = halves$low))
}

# Under rules by which each dtype stays what it is.
by_anvil <- function(expr) .Call(joist_r_under_promotion, "anvil", NULL, environment())

# 64-bit integers as two of 32 bits: x is 2^32 * high + low.
integer_halves <- function(x) {
  type <- dtype(x)
  shift <- if (type == "ui64") nv_shift_right_logical else nv_shift_right_arithmetic
  by_anvil(list(
    high = shift(x, beside(nv_scalar(32L, type), x)),
    low = nv_bitwise_and(x, beside(nv_scalar(2^32 - 1, type), x))
  ))
}

# 64-bit integers of the sums of their halves: what does not fit exceeds the range once.
joined_halves <- function(sums) by_anvil(join_halves(sums))

join_halves <- function(sums) {
  carried <- integer_halves(sums$low)
  high <- sums$high + carried$high
  unit <- scalar_like(2^32, high)
  if (dtype(high) == "ui64") {
    return(high * unit + carried$low)
  }
  below <- high < 0L
  nv_ifelse(below, high + 1L, high) * unit + nv_ifelse(below, carried$low - unit, carried$low)
}

# Rounded once.
half_by_half <- function(x, y) (x$high - y$high) + (x$low - y$low)

# x - y, of 64-bit integers in f64, rounded once.
exact_difference <- function(x, y) {
  if (!is_int64(x) || !is_int64(y)) {
    return(x - y)
  }
  by_anvil(half_by_half(in_halves(x), in_halves(y)))
}

# |x|^2, without the root that abs() takes.
square_size <- function(x) {
  if (!is_complex_dtype(x)) {
    return(x * x)
  }
  re <- nv_real(x)
  im <- nv_imag(x)
  re * re + im * im
}

# In the type of quantiles of `x`: under some rules, those of an ambiguous tensor have that of means
# of doubles.
like_quantiles <- function(result, x) {
  is_ambiguous <- inherits(x, "nv_tensor") && ambiguous(x)
  default <- is_ambiguous && .Call(joist_r_rules_info, NULL)$quantiles_default
  like_mean(result, if (default) 0.5 else x)
}

# A real tensor of f64 in the type that the mean of `x` has, or its parts.
like_mean <- function(result, x) like(result, real_mean(none_of(x)))

real_mean <- function(x) nv_real(nv_mean(x))

like <- function(x, type) {
  if (.Call(joist_r_same_type, x, type)) x else nv_convert(x, dtype(type), ambiguous(type))
}

# Which of the dimensions are reduced; those in `dims` were checked.
reduced_dims <- function(dims, rank) {
  all <- seq_len(rank)
  if (is.null(dims)) all else if (any(dims < 0)) all[dims] else as.integer(dims)
}

count_reduced <- function(x, dims) prod(shape(x)[reduced_dims(dims, ndims(x))])

# f(x, ...), compiled unless it is being compiled already: in one pass over the operand, or a list
# of operands, where its operations one by one would take several. What comes after `x` is static.
# A compiled program would tell of implicit promotion only once.
fused <- function(name, f, x, ...) {
  if (!.Call(joist_r_can_fuse, x)) {
    return(f(x, ...))
  }
  run <- compiled[[name]]
  if (is.null(run)) run <- compiled[[name]] <- jit(f, static = names(formals(f))[-1L])
  run(x, ...)
}

compiled <- new.env(parent = emptyenv())

#' Median and quantiles
#'
#' The median and quantiles over all dimensions, or over some; also by R's `median()` and
#' `quantile()` (over all). `nv_percentile()` takes percentages instead of probabilities.
#'
#' Quantiles are those of [stats::quantile()], by default of type 7, and are computed in double. A
#' result is missing if one of its elements is missing. Otherwise a NaN among them makes the result
#' NaN, and so does a lack of elements.
#'
#' The quantiles of all elements of a [chunked] tensor are exact, too: its elements are not sorted
#' but counted, by 16 bits of their values at a time. That reads them once for each 16 bits of the
#' dtype. It is not delayed, but done at once.
#'
#' @references R. J. Hyndman and Y. Fan: Sample quantiles in statistical packages. The American
#'   Statistician 50 (1996), 361-365.
#' @inheritParams nv_var
#' @param probs Probabilities, from 0 to 1.
#' @param percent Percentages, from 0 to 100.
#' @param x A tensor.
#' @param na.rm,na_rm `TRUE` leaves out missing values and NaN; where nothing is left, the median is
#'   NaN. This is not possible for a [chunked] tensor.
#' @param type The type of the quantiles, from 1 to 9: see [stats::quantile()].
#' @param names `TRUE` names the result by the percentages.
#' @param ... Ignored; `dims` and other arguments of reductions are refused.
#' @return A tensor of the dtype of [nv_mean()]; under the rules of JAX, for an ambiguous dtype,
#'   that of a mean of doubles. `nv_quantile()` has a first dimension with one extent per
#'   probability before those that are kept.
#' @section Errors: `joist_shape_error` for a dimension that does not exist; `joist_dtype_error` for
#'   complex numbers, which have no order; `joist_value_error` for an invalid probability or type,
#'   and for `na.rm = TRUE` while [jit()] traces and for [nv_aval()], if the tensor may have missing
#'   values or NaN.
#' @examples
#' x <- nv_tensor(matrix(c(3, 1, 2, 5, 4, 7), 2))
#' nv_median(x)
#' nv_median(x, dims = 2)
#' nv_quantile(x, c(0.25, 0.75), dims = 2)
#' nv_percentile(x, 90)
#' quantile(x)
#' median(nv_tensor(c(3, NA, 1), "ui8"), na.rm = TRUE)
#' @export
nv_median <- function(x, dims = NULL, drop = TRUE, na_rm = FALSE) {
  check_flag(na_rm, "na_rm")
  if (na_rm && is_chunked(x)) stop_in_store()
  if (na_rm && length(x) > 0L) {
    return(fused("median_of_present", median_of_present, x, dims_by_name(dims, x), drop))
  }
  x <- one_if_missing(x, dims)
  fused("quantiles", quantiles, x, 0.5, dims_by_name(dims, x), drop, TRUE, 7)
}

#' @rdname nv_median
#' @export
nv_quantile <- function(x, probs = c(0, 0.25, 0.5, 0.75, 1), dims = NULL, drop = TRUE,
                        type = 7) {
  if (!is.numeric(probs) || is.object(probs) || anyNA(probs) || any(probs < 0 | probs > 1)) {
    stop_joist("joist_value_error", "`probs` must be numbers from 0 to 1")
  }
  if (!is_one_of(type, 9)) {
    stop_joist("joist_value_error", "`type` must be a whole number from 1 to 9")
  }
  dims <- dims_by_name(dims, x)
  fused("quantiles", quantiles, x, as.vector(probs), dims, drop, FALSE, type)
}

#' @rdname nv_median
#' @export
nv_percentile <- function(x, percent = c(0, 25, 50, 75, 100), dims = NULL, drop = TRUE, type = 7) {
  valid <- is.numeric(percent) && !is.object(percent) && !anyNA(percent)
  if (!valid || any(percent < 0 | percent > 100)) {
    stop_joist("joist_value_error", "`percent` must be numbers from 0 to 100")
  }
  nv_quantile(x, percent / 100, dims, drop, type)
}

#' @rdname nv_median
#' @importFrom stats median
#' @method median nv_tensor
#' @export
median.nv_tensor <- function(x, na.rm = FALSE, ...) {
  check_no_dims("median", "nv_median()", ...)
  nv_median(numbers_of(x, na.rm))
}

#' @rdname nv_median
#' @importFrom stats quantile
#' @method quantile nv_tensor
#' @export
quantile.nv_tensor <- function(x, probs = seq(0, 1, 0.25), na.rm = FALSE, names = TRUE, type = 7,
                               ...) {
  check_no_dims("quantile", "nv_quantile()", ...)
  out <- nv_quantile(numbers_of(x, na.rm), probs, type = type)
  if (!names || length(probs) == 0L) {
    return(out)
  }
  if (ndims(out) == 0L) out <- nv_unsqueeze(out, 1L)
  with_names(out, names(stats::quantile(0, probs)))
}

# The elements that are not NaN, in a row; all of them where there can be none.
numbers_of <- function(x, remove) {
  check_flag(remove, "na.rm")
  if (remove && may_be_na(x)) x[!is.na(x)] else x
}

quantiles <- function(x, probs, dims, drop, single, type) {
  # What nv_mean() says of the dimensions holds here, before a rank is asked for.
  kept <- shape(nv_mean(shape_of(x), dims, drop))
  counted <- is_chunked(x) && length(reduced_dims(dims, ndims(x))) == ndims(x)
  if (!counted) sorted <- sorted_lines(x, dims)
  n <- if (counted) length(x) else shape(sorted)[1L]
  extents <- c(if (!single) length(probs), kept)
  if (n == 0L) {
    return(like_quantiles(nv_broadcast_to(nv_scalar(NaN, "f64"), extents), x))
  }
  at <- quantile_positions(n, probs, type)
  if (counted) {
    ranks <- unique(c(at$low, at$high, n))
    sorted <- nv_reshape(ranked_elements(x, ranks), c(length(ranks), 1L))
    at[c("low", "high")] <- lapply(at[c("low", "high")], match, ranks)
    n <- match(n, ranks)
  }
  low <- sorted[at$low, , drop = FALSE]
  high <- sorted[at$high, , drop = FALSE]
  value <- interpolated(low, high, nv_tensor(at$part, "f64", shape = c(length(at$part), 1L)))
  last <- in_double(sorted[n, , drop = FALSE]) # NaN is sorted last
  value <- by_anvil(nv_ifelse(nv_is_nan(last), last, value))
  value <- masked_as(value, list(last))
  made <- like_quantiles(nv_reshape(value, extents), x)
  if (!is_tensor(x)) made else with_kept_labels(made, x, dims, drop, single)
}

# With the names of the dims of x that a reduction keeps, behind a first dim if it is not single.
with_kept_labels <- function(made, x, dims, drop, single) {
  labels <- labels_of(x)
  reduced <- reduced_dims(dims, ndims(x))
  labels[reduced] <- list(NULL)
  if (drop) labels <- labels[setdiff(seq_along(labels), reduced)]
  with_labels(unname(made), c(if (!single) list(NULL), labels))
}

# The median of the elements that are neither missing nor NaN; NaN where there are none.
median_of_present <- function(x, dims, drop) {
  kept <- shape(nv_mean(shape_of(x), dims, drop))
  x <- as_operand(x)
  middle <- middle_of_present(sorted_lines(nan_as_missing(x), dims), 1L)
  middle <- nv_reshape(nv_replace_na(middle, NaN), kept)
  with_kept_labels(like_quantiles(middle, x), x, dims, drop, TRUE)
}

# With missing elements in the place of NaN.
nan_as_missing <- function(x) if (is_float_dtype(x)) nv_mask(x, nv_is_nan(x)) else x

# The middle of each sorted line, behind whose elements the missing ones are.
middle_of_present <- function(sorted, dim) {
  present <- nv_reduce_sum(!nv_is_na(sorted), dim, drop = FALSE, dtype = "i64")
  element <- function(at) {
    at <- nv_convert(nv_clamp(1L, at, shape(sorted)[dim]), "i32")
    nv_take_along(sorted, at, dim)
  }
  halfway(element((present + 1L) %/% 2L), element(present %/% 2L + 1L))
}

interpolated <- function(low, high, part) by_anvil(interpolate(low, high, part))

interpolate <- function(low, high, part) {
  if (is_int64(low)) {
    low <- in_halves(low)
    high <- in_halves(high)
    distance <- sum_pair(high$high - low$high, high$low - low$low)
    value <- add_pairs(
      sum_pair(low$high, low$low), multiply_pairs(as_pair(part), distance)
    )
    return(value$high + value$low)
  }
  low <- in_double(low)
  high <- in_double(high)
  nv_ifelse(low == high, low, (nv_scalar(1, "f64") - part) * low + part * high)
}

halfway <- function(low, high) interpolated(low, high, nv_scalar(0.5, "f64"))

# Between which of n sorted elements the quantiles are, and which part of the way (Hyndman and Fan
# 1996).
quantile_positions <- function(n, probs, type) {
  # The position of probability p is shift[1] + p (n + 1 - shift[1] - shift[2]).
  shift <- switch(type,
    c(0, 1), c(0, 1), c(-0.5, 1.5), c(0, 1), c(0.5, 0.5), c(0, 0), c(1, 1), c(1, 1) / 3, c(3, 3) / 8
  )
  at <- shift[1L] + probs * (n + 1 - shift[1L] - shift[2L])
  whole <- floor(at + if (type == 7) 0 else 4 * .Machine$double.eps)
  part <- at - whole
  if (type != 7) part[abs(part) < 4 * .Machine$double.eps] <- 0
  if (type == 1) part <- ceiling(part)
  if (type == 2) part <- ifelse(part == 0, 0.5, 1)
  if (type == 3) part <- ifelse(part == 0 & whole %% 2 == 0, 0, 1)
  # At a whole position the other element does not matter, be it infinite.
  within <- function(k) base::pmax(1, base::pmin(n, k))
  list(
    low = within(whole + (part == 1)), high = within(whole + (part > 0)), part = part
  )
}

# A tensor without data of the shape of `x`.
shape_of <- function(x) nv_aval("f64", if (inherits(x, "nv_tensor")) shape(x) else part_shape(x))

# Sorted columns of a matrix: the elements that are reduced together, for each kept position.
sorted_lines <- function(x, dims) {
  x <- as_operand(x)
  rank <- ndims(x)
  reduced <- reduced_dims(dims, rank)
  order <- c(reduced, setdiff(seq_len(rank), reduced))
  if (!identical(order, seq_len(rank))) x <- nv_transpose(x, order)
  n <- count_reduced(x, seq_along(reduced))
  columns <- prod(shape(x)[-seq_along(reduced)])
  if (length(reduced) == 0L) columns <- prod(shape(x))
  nv_sort(nv_reshape(x, c(n, columns)), dim = 1L)
}
