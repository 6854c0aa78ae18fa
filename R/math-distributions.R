# What the functions of distributions are made of. They are computed in f64, by operations of the
# core where a formula in R would lose digits, and rounded once.

# What `f` gives for the operands in f64, in the float that belongs to their common dtype: what
# exp() makes of it. NaN and NA stay what they are. `name` is that of the function, which is
# compiled, or NULL if it is not to be.
in_f64 <- function(name, operands, f) {
  plain <- !is.null(name) && !is_tracing()
  for (x in operands) {
    if (is.character(x)) as_operand(x) # result_dtype() would read it as a dtype.
    plain <- plain && is_plain_operand(x)
  }
  names(operands) <- NULL
  if (plain) {
    value <- compiled_distribution(name, operands, parent.frame(), sys.function(-1L))
    if (!is.null(value)) {
      return(value)
    }
  }
  type <- distribution_type(operands)
  wide <- wide_operands(operands)
  value <- do.call(f, wide)
  for (x in rev(wide)) value <- nv_ifelse(nv_is_na(x), x, value)
  value <- masked_as(value, wide)
  nv_convert(value, dtype(type), ambiguous(type))
}

# Missing where an operand is, be another NaN or infinite.
masked_as <- function(value, operands) {
  for (x in operands) {
    mask <- if (is_tensor(x)) mask_of(x)
    if (!is.null(mask)) value <- nv_mask(value, nv_broadcast_to(mask, shape(value)))
  }
  value
}

# A number of the dtype of the result.
distribution_type <- function(operands) {
  common <- .Call(joist_r_result_dtype, operands, NULL)
  if (session()$strict) {
    # The policy judges operands where they meet. R numbers are not rounded, whatever they are.
    met <- lapply(operands, function(x) {
      if (is_tensor(x)) nv_aval(dtype(x), 1L, ambiguous(x)) else as.vector(x)[0L]
    })
    apply_operation("concatenate", met, list(dim = 1L))
  }
  like <- nv_fill(1, integer(), common$dtype, common$ambiguous)
  check_real(like)
  nv_exp(like)
}

# A bare R number is exact until it meets a dtype.
wide_operands <- function(operands, first = first_tensor(operands)) {
  lapply(operands, function(x) {
    check_real(x)
    if (is_tensor(x)) to_float(x, "f64") else beside(nv_convert(x, "f64"), first)
  })
}

# The function as one program, kept for each choice of its flags; NULL where that is an error, which
# is raised with the values known.
compiled_distribution <- function(name, operands, frame, f) {
  key <- paste0(name, frame$lower.tail, frame$log, frame$log.p)
  compiled <- distributions[[key]]
  state <- if (!is.null(compiled)) environment(compiled)$.jit_state
  value <- .Call(joist_r_jit_kept, state, list(operands = operands))
  if (!is_answer(value)) {
    return(value)
  }
  if (is.null(compiled)) {
    flags <- mget(c("lower.tail", "log", "log.p"), frame, "logical", list(NULL))
    compiled <- distributions[[key]] <- jit_of_list(f, flags[lengths(flags) > 0L])
  }
  tryCatch(compiled(operands), joist_error = function(e) NULL)
}

# In an environment without operands, which it would keep.
jit_of_list <- function(f, further) {
  force(f)
  force(further)
  jit(function(operands) do.call(f, c(operands, further)))
}

distributions <- list2env(list(depth = 2))

is_plain_operand <- function(x) {
  if (is_tensor(x)) has_elements(x) || inherits(x, "nv_aval") else is.numeric(x) && !is.object(x)
}

# An operation of operands that are one number or have the shape that they all broadcast to.
distribution_operation <- function(op, operands, ...) {
  many <- vapply(operands, ndims, 0L) > 0L
  shapes <- unique(lapply(operands[many], shape))
  if (length(shapes) > 1L) {
    operands[many] <- do.call(nv_broadcast_arrays, operands[many])
  }
  apply_operation(op, operands, list(...))
}

log_poisson <- function(x, mean) distribution_operation("log_poisson", list(x, mean))
log_binomial <- function(a, b, x) distribution_operation("log_binomial", list(a, b, x))
log_beta <- function(a, b) distribution_operation("log_beta", list(a, b))
gamma_share <- function(a, x, lower, log) {
  distribution_operation("incomplete_gamma", list(a, x), lower = lower, logarithm = log)
}
beta_share <- function(a, b, x, lower, log) {
  distribution_operation("incomplete_beta", list(a, b, x), lower = lower, logarithm = log)
}

check_flags <- function(...) {
  flags <- list(...)
  for (k in seq_along(flags)) check_flag(flags[[k]], names(flags)[k])
}

# Of a density's logarithm.
density_of <- function(value, log) if (log) value else nv_exp(value)

# The logarithm of a probability; NaN of what is none.
log_share <- function(p, log) if (log) p else nv_log(p)

# log(1 - exp(x)) for x <= 0
log_rest <- function(x) {
  near <- x > -log(2)
  nv_ifelse(near, nv_log(-nv_expm1(nv_ifelse(near, x, -1))), nv_log1p(-nv_exp(x)))
}

# A share that is 0 or 1 everywhere outside, by its tail.
whole_share <- function(all, log) if (log) ifelse(all, 0, -Inf) else as.numeric(all)

# Whole numbers, up to what rounding makes of them, as in R.
nearest_count <- function(x) nv_stop_gradient(nv_round(x))
is_count <- function(x, count) {
  nv_abs(x - count) <= 1e-7 * nv_max(nv_abs(x), 1) & count >= 0 & nv_is_finite(x)
}

#' The beta function
#'
#' `nv_beta(a, b)` is gamma(a) gamma(b) / gamma(a + b), elementwise, and `nv_lbeta()` its logarithm,
#' without the cancellation that the difference of logarithms of gamma functions has.
#'
#' Computed in `f64` and rounded once. In `f64` the error of `nv_lbeta()` is at most 16 ulp of the
#' greater of 1 and the result, that of `nv_beta()` is at most 16 ulp for a + b up to 170; beyond
#' that it grows with the logarithm. Arguments of 0 give infinity, negative ones NaN.
#'
#' @param a,b Tensors, or R numbers or arrays, that broadcast.
#' @return A tensor of a float dtype: the common dtype of `a` and `b` if that is a float, otherwise
#'   the float that the promotion rules make of it, see [promotion_facts()].
#' @section Errors: `joist_promotion_error` when the rules know no common dtype or no float for it;
#'   `joist_dtype_error` for complex tensors; `joist_shape_error` for shapes that do not broadcast;
#'   `joist_value_error` for strings.
#' @references
#' C. Loader (2000): Fast and accurate computation of binomial probabilities.
#' @examples
#' nv_beta(nv_tensor(c(1, 2, 3), "f64"), 2)
#' nv_lbeta(nv_tensor(1e10, "f64"), 1e-3)
#' @export
nv_lbeta <- function(a, b) in_f64("nv_lbeta", list(a, b), log_beta)

#' @rdname nv_lbeta
#' @export
nv_beta <- function(a, b) {
  in_f64("nv_beta", list(a, b), custom_gradient(
    function(a, b) {
      direct <- a + b <= 170 & nv_min(a, b) > 1e-300
      p <- nv_ifelse(direct, a, 1)
      q <- nv_ifelse(direct, b, 1)
      product <- nv_gamma(nv_min(p, q)) * (nv_gamma(nv_max(p, q)) / nv_gamma(p + q))
      beyond <- log_beta(nv_ifelse(direct, 1, a), nv_ifelse(direct, 1, b))
      nv_ifelse(direct, product, nv_exp(beyond))
    },
    function(cotangent, value, a, b) {
      scale <- cotangent * value
      both <- nv_digamma(a + b)
      list(scale * (nv_digamma(a) - both), scale * (nv_digamma(b) - both))
    }
  ))
}

# ---- derivatives of shares ----

# The logarithms of densities of the gamma and the beta distribution, at the ends of their support
# what they are next to it.
gamma_log_density <- function(shape, x) {
  inside <- x > 0 & x < Inf
  t <- nv_ifelse(inside, x, 1)
  value <- log_poisson(shape, t) + (nv_log(shape) - nv_log(t))
  edge <- nv_ifelse(shape < 1, Inf, nv_ifelse(shape == 1, 0, -Inf))
  nv_ifelse(inside, value, nv_ifelse(x == 0, edge, -Inf))
}

beta_log_density <- function(a, b, x) {
  inside <- x > 0 & x < 1
  t <- nv_ifelse(inside, x, 0.5)
  ratio <- nv_log(a) + nv_log(b / (a + b))
  value <- log_binomial(a, b, t) + (ratio - (nv_log(t) + nv_log1p(-t)))
  edge <- function(near, far) {
    nv_ifelse(near < 1, Inf, nv_ifelse(near == 1, nv_log(far), -Inf))
  }
  ends <- nv_ifelse(x == 0, edge(a, b), nv_ifelse(x == 1, edge(b, a), -Inf))
  nv_ifelse(inside, value, ends)
}

share_slope <- function(log_density, share, at) {
  slope <- nv_exp(if (isTRUE(at$logarithm)) log_density - share else log_density)
  if (isTRUE(at$lower)) slope else -slope
}

# How the logarithm of a share changes with a shape, and the share itself.
gamma_slope <- function(a, x, lower) {
  distribution_operation("incomplete_gamma_slope", list(a, x), lower = isTRUE(lower))
}
beta_slopes <- function(a, b, x, lower) {
  distribution_operation("incomplete_beta_slopes", list(a, b, x), lower = isTRUE(lower))
}
of_share <- function(slope, share, at) if (isTRUE(at$logarithm)) slope else slope * share

quantile_slope <- function(log_density, log_p, at) {
  slope <- nv_exp(log_p - log_density)
  if (isTRUE(at$lower)) slope else -slope
}
