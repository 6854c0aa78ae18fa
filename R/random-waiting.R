#' Random waiting times and counts
#'
#' `nv_rexp()` draws exponential numbers, `nv_rgamma()` those of the gamma distribution,
#' `nv_rpois()` Poisson counts, and `nv_rcategorical()` categories, counted from 1, with
#' probabilities in proportion to `exp(logits)`.
#'
#' Keys and shapes are as for [nv_runif()]. Everything is computed in double and rounded once. Gamma
#' numbers are drawn by rejection, and so are Poisson counts of a mean from 10 on: each element
#' draws from its own random bits, so that the same key gives the same numbers for any number of
#' threads. The distributions hold up to the rounding of doubles; a category of a probability below
#' 2^-53 may never be drawn, one with the logit -Inf never is.
#'
#' A rate of 0 gives infinite waiting times, a rate of Inf times of 0; an `alpha` of 0 gives 0 and
#' one of Inf Inf. Derivatives are those of the same draw. With respect to `alpha` it is the
#' derivative of the quantile at a fixed probability, with a relative error of at most 1e-13, except
#' for numbers that are exceeded with a small probability, for which it is 1e-15 divided by that
#' probability. The derivatives of counts and categories are 0.
#'
#' @inheritParams nv_runif
#' @param rate Numbers of at least 0, or tensors with one value or of shape `shape` (or that can be
#'   broadcast to it): the expected number of events per unit of time.
#' @param lambda As `rate`: the mean of the counts, which must fit into the dtype:
#'   `lambda + 12 * sqrt(lambda) + 40` must not exceed 2^53, nor the largest whole number up to
#'   which the dtype holds all whole numbers.
#' @param alpha As `rate`: the shape of the gamma distribution, whose mean is `alpha / rate`.
#' @param logits Numbers or a tensor, finite or -Inf: a vector, with an element for each category,
#'   or with one more dimension than `shape`, the last one, for separate probabilities of each
#'   element.
#' @param dtype The dtype of the result: a float dtype for `nv_rexp()` and `nv_rgamma()`, an integer
#'   or float one for the others. `NULL` is the dtype that the promotion rules give a double, or an
#'   integer.
#' @return A tensor of dtype `dtype` and shape `shape`.
#' @section Errors: `joist_dtype_error` for a dtype that the function does not give;
#'   `joist_value_error` for a rate or `alpha` below 0 or NaN, a `lambda` whose counts do not fit
#'   the dtype, logits that are NaN, Inf or all -Inf, with the position; for a second derivative
#'   with respect to `alpha`, and without a key while `jit()` traces; `joist_shape_error` for
#'   parameters that do not fit.
#' @seealso [nv_runif()], [nv_sample()].
#' @references G. Marsaglia, W. W. Tsang (2000). A simple method for generating gamma variables. ACM
#'   Transactions on Mathematical Software 26.
#'
#'   W. Hörmann (1993). The transformed rejection method for generating Poisson random variables.
#'   Insurance: Mathematics and Economics 12.
#' @examples
#' set.seed(1)
#' nv_rexp(3, rate = 2)
#' nv_rgamma(c(2, 2), alpha = 0.5, rate = nv_tensor(c(1, 10, 1, 10), shape = c(2, 2)))
#' nv_rpois(5, 4.5)
#' nv_rcategorical(5, log(c(0.2, 0.3, 0.5)))
#' @export
nv_rexp <- function(shape, rate = 1, dtype = NULL, key = NULL) {
  draw("rexp", key, list(rate), shape, dtype_or_default(dtype, 0))
}

#' @rdname nv_rexp
#' @export
nv_rgamma <- function(shape, alpha, rate = 1, dtype = NULL, key = NULL) {
  draw("rgamma", key, list(alpha, rate), shape, dtype_or_default(dtype, 0))
}

#' @rdname nv_rexp
#' @export
nv_rpois <- function(shape, lambda, dtype = NULL, key = NULL) {
  draw("rpois", key, list(lambda), shape, dtype_or_default(dtype, 0L))
}

#' @rdname nv_rexp
#' @export
nv_rcategorical <- function(shape, logits, dtype = NULL, key = NULL) {
  check_real(logits)
  known <- is_tensor(logits) && !is_number(logits)
  logits <- if (known) nv_convert(logits, "f64") else nv_tensor(logits, "f64")
  if (ndims(logits) == 0L || length(logits) == 0L) {
    stop_joist("joist_shape_error", "`logits` must have a dimension of categories, at least one")
  }
  weights <- nv_exp(logits - greatest(logits, ndims(logits)))
  draw_category(weights, shape, dtype_or_default(dtype, 1L), as_key(key, logits))
}

draw_category <- function(weights, shape, dtype, key) {
  attributes <- list(shape = shape, dtype = dtype)
  .Call(joist_r_operation, "rcategorical", list(key, weights), attributes)
}
