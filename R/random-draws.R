#' Keys of random numbers
#'
#' A key determines random tensors: the same key gives the same numbers, whatever the number of
#' threads and the device, now and in [jit()]. A key is used once; make new ones of it with
#' `nv_key_split()` (several) or `nv_fold_in()` (one for each number, such as the step of a loop).
#'
#' The bits are those of Philox 4x32 with 10 rounds: element i of a tensor takes bits from
#' the block whose counter is its position. Not for cryptography.
#'
#' @param seed A whole number of at most 2^53 in size; `NULL` draws a key from R's own random
#'   number generator, which [set.seed()] makes reproducible.
#' @param key A key.
#' @param n How many keys.
#' @param data A whole number, or a tensor of rank 0 with one.
#' @return `nv_key()` and `nv_fold_in()`: a key, which is a tensor of dtype `ui32` and shape
#'   2. `nv_key_split()`: a list of `n` keys that are independent of each other.
#' @section Errors: `joist_value_error` for a seed or `data` that is not a whole number, and for
#'   `seed = NULL` while `jit()` traces; `joist_dtype_error` and `joist_shape_error` for an invalid
#'   key.
#' @references J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw (2011). Parallel random
#'   numbers: as easy as 1, 2, 3. SC11. \doi{10.1145/2063384.2063405}
#' @examples
#' key <- nv_key(42)
#' nv_runif(3, key = key)
#' keys <- nv_key_split(key)
#' nv_rnorm(3, key = keys[[1]])
#' nv_rnorm(3, key = keys[[2]])
#' nv_fold_in(key, 10)
#' @export
nv_key <- function(seed = NULL) {
  if (is.null(seed)) {
    return(session_key())
  }
  whole <- is.numeric(seed) && !is.object(seed) && length(seed) == 1L &&
    isTRUE(abs(seed) <= 2^53) && seed == floor(seed)
  if (!whole) {
    stop_joist("joist_value_error", "`seed` must be one whole number of at most 2^53 in size")
  }
  high <- floor(seed / 2^32)
  nv_tensor(c(seed - high * 2^32, high %% 2^32), "ui32")
}

#' @rdname nv_key
#' @export
nv_key_split <- function(key, n = 2L) {
  check_whole(n, "n")
  .Call(joist_r_key_split, as_key(key), n, list(split = TRUE, dtype = "ui32"))
}

#' @rdname nv_key
#' @export
nv_fold_in <- function(key, data) {
  attributes <- list(split = FALSE, dtype = "ui32")
  .Call(joist_r_operation, "fold_in", list(as_key(key), data), attributes)
}

# A key from R's own generator, whose stream moves on by two numbers.
session_key <- function() {
  if (is_tracing()) {
    stop_joist(
      "joist_value_error", "jit() would draw random numbers once and repeat them in every ",
      "call; make the key an argument of the function and pass it as `key =`"
    )
  }
  .Call(joist_r_make, floor(stats::runif(2L) * 2^32), "ui32", NULL, NULL, "missing", NULL)
}

# A key from R's own generator is where `x` is.
as_key <- function(key, x = NULL) {
  if (is.null(key)) {
    return(beside(session_key(), x))
  }
  if (!inherits(key, "nv_tensor") || dtype(key) != "ui32") {
    stop_joist(
      "joist_dtype_error", "a key is a tensor of dtype ui32, not ",
      if (inherits(key, "nv_tensor")) format(dtype(key)) else class(key)[1L],
      "; make one with nv_key() or nv_key_split()"
    )
  }
  key
}

draw <- function(name, key, parameters, shape, dtype) {
  key <- as_key(key, first_tensor(parameters))
  parameters <- lapply(parameters, fit_parameter, shape)
  .Call(joist_r_operation, name, c(list(key), parameters), list(shape = shape, dtype = dtype))
}

# One value, or one for each element.
fit_parameter <- function(x, shape) {
  extents <- if (inherits(x, "nv_tensor")) shape(x) else dim(x)
  if (length(extents) == 0L || identical(as.numeric(extents), as.numeric(shape))) {
    return(x)
  }
  nv_broadcast_to(x, shape)
}

#' Random tensors
#'
#' `nv_runif()` draws uniform numbers from `min` to `max`, without `max` itself; `nv_rnorm()` normal
#' ones; `nv_randint()` whole numbers from `min` to `max`, both of them included; `nv_rbinom()` the
#' number of successes in `size` trials, `nv_rbernoulli()` in one; `nv_random_bits()` integers whose
#' bits are all random.
#'
#' Without a key, one is drawn from R's own generator: `set.seed()` makes the result
#' reproducible, and every call gives other numbers. In [jit()] a key is needed.
#'
#' Uniform numbers have as many random bits as their dtype has digits (8 in `bf16`, 11 in
#' `f16`, 24 in `f32`, 53 in `f64`); `min` and `max` are rounded to the dtype first. Normal
#' numbers are those of Box and Muller, computed in double: up to 6.7 standard deviations
#' from the mean, in `f64` and `c128` up to 9.5. The real and imaginary part of a complex
#' normal number have half of the variance each. All whole numbers of a range are exactly
#' equally likely. Binomial numbers follow their distribution for every size up to 2^53 and
#' every probability, up to the rounding of doubles.
#'
#' @param shape An integer vector of extents; `integer()` for a scalar.
#' @param min,max,mean,sd,size,prob Numbers or tensors with one value, or of shape `shape`
#'   (or that can be broadcast to it). An R number keeps its exact value.
#' @param dtype The dtype of the result: a float dtype for `nv_runif()`, a float or complex
#'   one for `nv_rnorm()`, an integer dtype for `nv_random_bits()`, any for the others. `NULL` is
#'   the dtype that the promotion rules give a double, of `nv_randint()` and `nv_rbinom()` an
#'   integer.
#' @param key A key, see [nv_key()]; `NULL` for one from R's own generator.
#' @return A tensor of dtype `dtype` and shape `shape`.
#' @section Errors: `joist_dtype_error` for a dtype that the function does not give;
#'   `joist_value_error` for limits in the wrong order or beyond the dtype, a negative
#'   standard deviation, a size that is not whole or too large for the dtype, and a
#'   probability outside of 0 to 1, with the position; `joist_value_error` without a key
#'   while `jit()` traces; `joist_shape_error` for parameters that do not fit.
#' @seealso [nv_rexp()], for waiting times, counts and categories; [nv_rlnorm()], for further
#'   distributions; [nv_sample()].
#' @references G. E. P. Box, M. E. Muller (1958). A note on the generation of random normal
#'   deviates. Annals of Mathematical Statistics 29.
#'
#'   W. Hörmann (1993). The generation of binomial random variates. Journal of Statistical
#'   Computation and Simulation 46.
#'
#'   D. Lemire (2019). Fast random integer generation in an interval. ACM Transactions on
#'   Modeling and Computer Simulation 29.
#' @examples
#' set.seed(1)
#' nv_runif(c(2, 3))
#' nv_rnorm(4, mean = nv_tensor(c(0, 10, 20, 30)), dtype = "f64")
#' nv_randint(5, 1L, 6L, key = nv_key(1))
#' nv_rbinom(5, 100, 0.3)
#' nv_rbernoulli(5, 0.9)
#' nv_random_bits(2, "ui64")
#' step <- jit(function(x, key) x + nv_rnorm(shape(x), key = key))
#' step(nv_tensor(c(1, 2)), nv_key(7))
#' @export
nv_runif <- function(shape, min = 0, max = 1, dtype = NULL, key = NULL) {
  draw("runif", key, list(min, max), shape, dtype_or_default(dtype, 0))
}

#' @rdname nv_runif
#' @export
nv_rnorm <- function(shape, mean = 0, sd = 1, dtype = NULL, key = NULL) {
  draw("rnorm", key, list(mean, sd), shape, dtype_or_default(dtype, 0))
}

#' @rdname nv_runif
#' @export
nv_randint <- function(shape, min, max, dtype = NULL, key = NULL) {
  draw("randint", key, list(min, max), shape, dtype_or_default(dtype, 0L))
}

#' @rdname nv_runif
#' @export
nv_rbinom <- function(shape, size, prob, dtype = NULL, key = NULL) {
  draw("rbinom", key, list(size, prob), shape, dtype_or_default(dtype, 0L))
}

#' @rdname nv_runif
#' @export
nv_rbernoulli <- function(shape, prob = 0.5, dtype = "bool", key = NULL) {
  draw("rbinom", key, list(1, prob), shape, dtype)
}

#' @rdname nv_runif
#' @export
nv_random_bits <- function(shape, dtype = "ui32", key = NULL) {
  draw("random_bits", key, list(), shape, dtype)
}
