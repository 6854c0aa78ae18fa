#' Covariance and correlation
#'
#' Covariances and correlations of the columns of a matrix with each other, or with those of another
#' matrix; a vector is one column. Also by [cov()] and [cor()], which can leave out NaN.
#'
#' Sums accumulate in double, of the distances from the means; of integers whose mean is an `f64`,
#' and of 64-bit integers with doubles, they are exact, and only results are rounded. A correlation
#' is between -1 and 1, and 1 of a column with itself; a correlation with another column that does
#' not vary is NaN, and so are results of too few observations.
#'
#' @param x,y Tensors, or R vectors or matrices, with equal numbers of rows; `y = NULL` is `x`.
#' @param correction The number that is subtracted from the number of observations to give the
#'   divisor, as in [nv_var()].
#' @return A tensor of the dtype of [nv_mean()] of both: of shape `c(ncol(x), ncol(y))`, or a scalar
#'   where neither is a matrix.
#' @section Errors: `joist_shape_error` when the numbers of rows differ; `joist_dtype_error` for
#'   complex numbers; `joist_value_error` for a `correction` that is not a number.
#' @examples
#' x <- nv_tensor(matrix(c(1, 2, 4, 8, 3, 1, 2, 5), 4))
#' nv_cov(x)
#' nv_cor(x[, 1], x[, 2])
#' cor(x, use = "complete.obs")
#' @export
nv_cov <- function(x, y = NULL, correction = 1) {
  check_number(correction, "correction")
  moments_of(x, y, "everything", correction, "nv_cov()")
}

#' @rdname nv_cov
#' @export
nv_cor <- function(x, y = NULL) moments_of(x, y, "everything", NULL, "nv_cor()")

cov_of_tensors <- function(name, x, y, use = "everything", method = "pearson") {
  if (!identical(method[1L], "pearson")) {
    stop_joist(
      "joist_value_error", name, " of tensors is Pearson's; for ranks take as.matrix() of them"
    )
  }
  if (is.null(y) && !is.data.frame(x) && length(part_shape(x)) != 2L) {
    stop_joist("joist_shape_error", name, " needs `x` and `y`, or a matrix; see nv_var()")
  }
  moments_of(x, y, complete_by(use, name), if (name == "cov()") 1, name)
}

var_of_tensors <- function(x, y, na.rm = FALSE, use = NULL) { # nolint: object_name_linter.
  check_flag(na.rm, "na.rm")
  if (is.null(use)) use <- if (na.rm) "na.or.complete" else "everything"
  if (!identical(use, "everything")) use <- complete_by(use, "var()")
  whole <- use == "everything" && is.null(y) && !is.data.frame(x) && ndims(x) != 2L
  if (whole && !is_complex_dtype(x)) {
    return(variance_of(x, NULL, TRUE, 1, FALSE, FALSE))
  }
  moments_of(x, y, use, 1, "var()")
}

sd_of_tensor <- function(x, na.rm = FALSE) { # nolint: object_name_linter.
  check_flag(na.rm, "na.rm")
  if (!na.rm || !may_be_na(x)) {
    return(variance_of(x, NULL, TRUE, 1, TRUE, FALSE))
  }
  moments_of(nv_flatten(x), NULL, "na.or.complete", 1, "sd()", root = TRUE)
}

# What base R's `use` leaves out; where there is nothing to be left out, "everything" is.
complete_by <- function(use, name) {
  known <- c("all.obs", "complete.obs", "pairwise.complete.obs", "everything", "na.or.complete")
  which <- if (is.character(use) && length(use) == 1L) pmatch(use, known) else NA
  if (is.na(which)) {
    stop_joist("joist_value_error", "`use` of ", name, " must be one of ", toString(known))
  }
  known[which]
}

# Covariances, or correlations where `correction` is NULL; with `root` their roots.
moments_of <- function(x, y, use, correction, name, root = FALSE) {
  columns <- lapply(if (is.null(y)) list(x) else list(x, y), in_columns, name = name)
  type <- nv_mul(none_of(columns[[1L]]), none_of(columns[[length(columns)]]))
  rows <- vapply(columns, matrix_rows, 1L)
  if (length(unique(rows)) > 1L) {
    stop_joist("joist_shape_error", name, " of ", rows[1L], " and ", rows[2L], " rows")
  }
  if (use == "all.obs") check_all_observed(columns, name)
  leaves_out <- !use %of% c("everything", "all.obs") && any(vapply(columns, may_have_nan, NA))
  observed <- if (leaves_out) if (use == "pairwise.complete.obs") "pairwise" else "complete"
  result <- if (rows[1L] > 0L && are_exact(columns, type)) {
    parts <- lapply(columns, function(part) {
      whole <- is_tensor(part) && is_integer_dtype(part)
      if (whole) one_column(part) else wide_columns(part, first_tensor(columns))
    })
    bits <- max(vapply(Filter(is_integer_dtype, parts), span_of, 1))
    with_promotion(
      "anvil", fused("moments", exact_moments, parts, observed, correction, root, bits)
    )
  } else {
    wide <- lapply(columns, wide_columns, tensor = first_tensor(columns))
    moments_of_doubles(wide, observed, correction, root)
  }
  if (!any(vapply(columns, function(part) length(part_shape(part)) == 2L, NA))) {
    result <- nv_reshape(result, integer())
  }
  like_mean(result, type)
}

# Of integers, and of 64-bit integers beside others where the result is in double.
are_exact <- function(columns, type) {
  if (all(vapply(columns, has_digits, NA))) {
    return(TRUE)
  }
  wide <- vapply(columns, function(part) is_tensor(part) && !is_chunked(part) && is_int64(part), NA)
  any(wide) && dtype(nv_mean(type)) == "f64"
}

moments_of_doubles <- function(wide, observed, correction, root) {
  moments <- if (is.null(observed)) {
    all_moments(wide)
  } else {
    observed_moments(wide, observed_numbers(wide, observed))
  }
  product <- moments$product
  if (is.null(correction)) {
    scale <- nv_sqrt(moments$squares[[1L]]) * nv_sqrt(moments$squares[[2L]])
    none <- double_beside(NaN, product)
    ratio <- nv_ifelse(scale == double_beside(0, product), none, product / scale)
    return(correlation(ratio, moments$count, product, length(wide) == 1L, observed))
  }
  wide_scalar <- function(value) double_beside(value, product)
  result <- product / nv_max(moments$count - wide_scalar(correction), wide_scalar(0))
  if (root) nv_sqrt(result) else result
}

# In double, and where the tensor is.
wide_columns <- function(x, tensor) {
  wide <- from_least(x, if (is_tensor(x) && ndims(x) == 2L) 1L)
  one_column(if (is_tensor(x)) wide else beside(wide, tensor))
}

one_column <- function(x) if (ndims(x) == 2L) x else nv_reshape(x, c(length(x), 1L))

matrix_rows <- function(x) {
  extents <- part_shape(x)
  if (length(extents) == 2L) extents[1L] else as.integer(prod(extents))
}

double_beside <- function(value, x) beside(nv_scalar(value, "f64"), x)

in_columns <- function(x, name) {
  if (is.data.frame(x)) x <- as.matrix(x)
  if (is_tensor(x) && is_complex_dtype(x) || is.complex(x)) {
    stop_joist("joist_dtype_error", name, " is not defined for complex numbers; see nv_var()")
  }
  x
}

may_have_nan <- function(x) if (is_tensor(x)) may_be_na(x) else anyNA(x)

check_all_observed <- function(parts, name) {
  for (part in parts) {
    if (is_tensor(part)) check_elements(part, paste0("use = \"all.obs\" of ", name))
    if (anyNA(part)) {
      stop_joist("joist_value_error", "NA or NaN in ", name, " with use = \"all.obs\"")
    }
  }
}

# Sums of products of distances from the means: of each pair of columns, and of squares of the
# columns of each operand. The distances do not quite add up to 0, which the mean is rounded for.
all_moments <- function(wide) {
  distance <- lapply(wide, function(part) part - nv_mean(part, 1L, drop = FALSE))
  rest <- lapply(distance, nv_reduce_sum, dims = 1L, drop = FALSE)
  count <- double_beside(shape(wide[[1L]])[1L], wide[[1L]])
  square <- Map(function(part, rest) {
    less(nv_reduce_sum(part * part, 1L, drop = FALSE), rest * rest / count, count)
  }, distance, rest)
  last <- length(wide)
  products <- nv_crossprod(distance[[1L]], distance[[last]])
  list(
    product = products - nv_transpose(rest[[1L]]) * rest[[last]] / count,
    count = count,
    squares = list(nv_transpose(square[[1L]]), square[[last]])
  )
}

# Which elements are observed: those of rows in which no column is missing, or for each pair of
# columns of those in which both are numbers.
observed_numbers <- function(parts, observed) {
  number <- lapply(parts, function(part) !nv_is_na(part))
  if (observed == "pairwise") {
    return(number)
  }
  complete <- Reduce(nv_and, lapply(number, nv_reduce_all, dims = 2L, drop = FALSE))
  lapply(parts, function(part) same_names(nv_broadcast_to(complete, shape(part)), part))
}

# Of the elements that are observed: their means are not those of the columns, which the distances
# are taken from.
observed_moments <- function(wide, number) {
  wide <- lapply(wide, without_mask)
  weight <- lapply(number, nv_convert, dtype = "f64")
  distance <- Map(from_mean_of, wide, number)
  last <- length(wide)
  x <- distance[[1L]]
  y <- distance[[last]]
  count <- nv_crossprod(weight[[1L]], weight[[last]])
  left <- nv_crossprod(x, weight[[last]])
  right <- nv_crossprod(weight[[1L]], y)
  list(
    product = nv_crossprod(x, y) - left * right / count,
    count = count,
    squares = list(
      less(nv_crossprod(x * x, weight[[last]]), left * left / count, count),
      less(nv_crossprod(weight[[1L]], y * y), right * right / count, count)
    )
  )
}

# A difference of sums of `count` terms, 0 where it is only rounding.
less <- function(sum, lost, count) {
  left <- sum - lost
  rounding <- sum * count * double_beside(.Machine$double.eps, sum)
  nv_ifelse(left <= rounding, double_beside(0, sum), left)
}

# Distances of the numbers among the elements from the mean of these, and 0 for others.
from_mean_of <- function(part, number) {
  zero <- double_beside(0, part)
  mean <- nv_reduce_sum(nv_ifelse(number, part, zero), 1L, drop = FALSE) /
    nv_reduce_sum(number, 1L, drop = FALSE, dtype = "f64")
  nv_ifelse(number, part - mean, zero)
}

# Of a column with itself it is 1 where there are two observations, as in base R, unless each pair
# has its own.
correlation <- function(ratio, count, product, with_itself, observed) {
  one <- double_beside(1, product)
  result <- same_names(nv_clamp(nv_negate(one), ratio, one), product)
  if (!with_itself) {
    return(result)
  }
  itself <- beside(nv_eye(shape(product)[1L], "bool"), product)
  value <- if (identical(observed, "pairwise")) {
    product / product
  } else {
    nv_ifelse(count > one, one, double_beside(NaN, product))
  }
  same_names(nv_ifelse(itself, value, result), product)
}
