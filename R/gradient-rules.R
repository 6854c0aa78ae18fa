# The derivatives of operations, which gradient() puts together. The rule of an operation gives
# the cotangents of its operands, NULL where there is none, from
#   g   the cotangent of the result; of an operation with several results a list of them,
#       NULL where nothing depends on one
#   x   the operands, in the dtypes that the operation reads them in
#   y   the results
#   at  the attributes, by name; dims and positions count from 1
# The cotangent of a complex number is the derivative by its real part plus i times that by its
# imaginary part; the operations of complex_gradients have rules for it.
# A cotangent has the shape of the result or that of the operand: fit_cotangent() sums over what
# was broadcast and casts to the dtype of the operand.

# What is said of operations whose derivative is "none" in ops.def.
no_gradient <- c(
  "while" = paste0(
    "nv_while() has no derivative; neither have R's `while`, `repeat` and `break` on traced ",
    "conditions and `for` over seq_len() of a traced number, which are made of it: use `for` ",
    "over a tensor"
  ),
  rgamma_slope = "nv_rgamma() has no second derivative by `alpha`",
  incomplete_gamma_slope = "an incomplete gamma function has no second derivative by its shape",
  incomplete_beta_slopes = "an incomplete beta function has no second derivative by its shapes"
)

complex_gradients <- c(
  "add", "sub", "negate", "mul", "div", "abs", "exp", "real", "imag", "conj", "convert",
  "broadcast_to", "reshape", "transpose", "concatenate", "slice", "update", "pad", "take",
  "gather", "reduce_sum", "ifelse", "fft", "rfft", "irfft", "conv", "conv_input", "conv_kernel",
  "matmul", "solve", "inverse",
  "triangular_solve", "chol", "det", "determinant", "lu", "qr", "eigh", "svd", "eig", "eigvals",
  "singular_values", "alias"
)

conjugate <- function(x) if (is_complex_dtype(x)) nv_conj(x) else x

# Of one operand: its cotangent.
of_one <- function(rule) {
  force(rule)
  function(g, x, y, at) list(rule(g, x[[1L]], y[[1L]]))
}

gradient_rules <- c(matrix_gradient_rules, list(
  # ---- arithmetic ----
  add = function(g, x, y, at) list(g, g),
  sub = function(g, x, y, at) list(g, -g),
  mul = function(g, x, y, at) list(g * conjugate(x[[2L]]), g * conjugate(x[[1L]])),
  div = function(g, x, y, at) {
    list(g / conjugate(x[[2L]]), -(g * conjugate(y[[1L]] / x[[2L]])))
  },
  pow = function(g, x, y, at) {
    base <- x[[1L]]
    exponent <- x[[2L]]
    list(
      g * power_slope(base, exponent),
      function() g * (nv_log(nv_ifelse(base == 0, 1, base)) * y[[1L]])
    )
  },
  mod = function(g, x, y, at) list(g, -(g * (x[[1L]] %/% x[[2L]]))),
  remainder = function(g, x, y, at) list(g, -(g * nv_trunc(x[[1L]] / x[[2L]]))),
  # Of equal operands each has a half.
  min = function(g, x, y, at) {
    share <- share_of(x[[1L]] < x[[2L]], x[[1L]] <= x[[2L]], g)
    list(g * share, g * (1 - share))
  },
  max = function(g, x, y, at) {
    share <- share_of(x[[1L]] > x[[2L]], x[[1L]] >= x[[2L]], g)
    list(g * share, g * (1 - share))
  },
  atan2 = function(g, x, y, at) {
    scale <- g / (x[[1L]] * x[[1L]] + x[[2L]] * x[[2L]])
    list(scale * x[[2L]], -(scale * x[[1L]]))
  },
  # min, operand, max: where the least is greater than the greatest the greatest has it all. None
  # has a part where two are equal, as in JAX.
  clamp = function(g, x, y, at) {
    low <- x[[1L]]
    high <- x[[3L]]
    list(
      nv_ifelse(low > x[[2L]] & low < high, g, 0),
      nv_ifelse(x[[2L]] > low & x[[2L]] < high, g, 0),
      nv_ifelse(nv_max(low, x[[2L]]) > high, g, 0)
    )
  },
  ifelse = function(g, x, y, at) {
    list(NULL, nv_ifelse(x[[1L]], g, 0), nv_ifelse(x[[1L]], 0, g))
  },
  negate = of_one(function(g, x, y) -g),
  abs = of_one(function(g, x, y) {
    if (is_complex_dtype(x)) g * (x / nv_ifelse(y == 0, 1, y)) else g * nv_sign(x)
  }),

  # ---- functions of one number ----
  sqrt = of_one(function(g, x, y) g / (2 * y)),
  rsqrt = of_one(function(g, x, y) -(g * (y / (2 * x)))),
  cbrt = of_one(function(g, x, y) g / (3 * y * y)),
  exp = of_one(function(g, x, y) g * conjugate(y)),
  expm1 = of_one(function(g, x, y) g * nv_exp(x)),
  log = of_one(function(g, x, y) g / x),
  log2 = of_one(function(g, x, y) g / (x * log(2))),
  log10 = of_one(function(g, x, y) g / (x * log(10))),
  log1p = of_one(function(g, x, y) g / (1 + x)),
  logistic = of_one(function(g, x, y) g * (y * nv_logistic(-x))),
  sin = of_one(function(g, x, y) g * nv_cos(x)),
  cos = of_one(function(g, x, y) -(g * nv_sin(x))),
  tan = of_one(function(g, x, y) g * (1 + y * y)),
  sinpi = of_one(function(g, x, y) g * (pi * nv_cospi(x))),
  cospi = of_one(function(g, x, y) -(g * (pi * nv_sinpi(x)))),
  tanpi = of_one(function(g, x, y) g * (pi * (1 + y * y))),
  asin = of_one(function(g, x, y) g / nv_sqrt((1 - x) * (1 + x))),
  acos = of_one(function(g, x, y) -(g / nv_sqrt((1 - x) * (1 + x)))),
  atan = of_one(function(g, x, y) g / (1 + x * x)),
  sinh = of_one(function(g, x, y) g * nv_cosh(x)),
  cosh = of_one(function(g, x, y) g * nv_sinh(x)),
  tanh = of_one(function(g, x, y) g * ((1 - y) * (1 + y))),
  asinh = of_one(function(g, x, y) g / nv_sqrt(x * x + 1)),
  acosh = of_one(function(g, x, y) g / nv_sqrt((x - 1) * (x + 1))),
  atanh = of_one(function(g, x, y) g / ((1 - x) * (1 + x))),
  erf = of_one(function(g, x, y) g * (2 / sqrt(pi) * nv_exp(-(x * x)))),
  erfc = of_one(function(g, x, y) g * (-2 / sqrt(pi) * nv_exp(-(x * x)))),
  gamma = of_one(function(g, x, y) g * (y * nv_digamma(x))),
  lgamma = of_one(function(g, x, y) g * nv_digamma(x)),
  digamma = of_one(function(g, x, y) g * nv_trigamma(x)),
  real = of_one(function(g, x, y) g),
  imag = of_one(function(g, x, y) g * 1i),
  conj = of_one(function(g, x, y) conjugate(g)),
  convert = of_one(function(g, x, y) g),

  # ---- layout ----
  broadcast_to = of_one(function(g, x, y) g),
  reshape = of_one(function(g, x, y) nv_reshape(g, shape(x))),
  transpose = function(g, x, y, at) list(nv_transpose(g, order(at$permutation))),
  concatenate = function(g, x, y, at) {
    extents <- shape(g)
    first <- 1
    lapply(x, function(part) {
      count <- extents
      count[at$dim] <- if (ndims(part) == 0L) 1L else shape(part)[at$dim]
      start <- replace(rep(1, length(extents)), at$dim, first)
      first <<- first + count[at$dim]
      slice(g, start, rep(1L, length(extents)), count)
    })
  },
  require = function(g, x, y, at) list(g, NULL),
  slice = function(g, x, y, at) {
    part <- slice_of(at, shape(x[[1L]]))
    part$g <- nv_reshape(g, part$count)
    list(structure(part, class = "joist_slice_cotangent"))
  },
  update = function(g, x, y, at) {
    part <- slice_of(at, shape(g))
    value <- slice(g, part$start, part$step, part$count)
    list(apply_operation("update", list(g, zero_of(g)), at), like_values(value, x[[2L]]))
  },
  pad = function(g, x, y, at) {
    extents <- shape(x[[1L]])
    edges <- lapply(list(low = at$low, high = at$high, interior = at$interior), function(count) {
      if (is.null(count)) rep(0, length(extents)) else count
    })
    zero <- zero_of(g)
    own <- apply_operation("pad", list(g, zero), list(low = -edges$low, high = -edges$high))
    around <- apply_operation("pad", list(zeros_like(x[[1L]]), scalar_like(1, g)), edges)
    step <- edges$interior + 1
    list(slice(own, rep(1L, length(extents)), step, extents), nv_reduce_sum(g * around))
  },
  take = function(g, x, y, at) list(add_at(x[[1L]], x[[2L]], g)),
  # Of values for one position the last has a part.
  put = function(g, x, y, at) {
    index <- x[[2L]]
    number <- nv_iota(1L, "i64", shape(nv_flatten(index)))
    places <- nv_fill(0L, shape(g), "i64")
    latest <- apply_operation("put", list(places, index, nv_reshape(number, shape(index))))
    taken <- apply_operation("take", list(latest, index)) == nv_reshape(number, shape(index))
    value <- nv_ifelse(taken, apply_operation("take", list(g, index)), 0)
    list(apply_operation("put", list(g, index, zero_of(g))), NULL, like_values(value, x[[3L]]))
  },
  scatter_add = function(g, x, y, at) list(g, NULL, like_values(at_positions(g, x), x[[3L]])),
  scatter_min = function(g, x, y, at) scattered_slopes(g, x, share_scattered(x, y[[1L]])),
  scatter_max = function(g, x, y, at) scattered_slopes(g, x, share_scattered(x, y[[1L]])),
  scatter_mul = function(g, x, y, at) scattered_slopes(g, x, scattered_products(x)),
  gather = function(g, x, y, at) {
    list(add_along(x[[1L]], nv_reshape(x[[2L]], c(1, length(x[[2L]]), 1)), g, at$dim))
  },
  take_along = function(g, x, y, at) {
    list(add_along(x[[1L]], in_lines(x[[2L]], at$dim), g, at$dim))
  },
  sort = function(g, x, y, at) {
    order <- apply_operation("order", list(x[[1L]]), at)
    list(add_along(x[[1L]], in_lines(order, at$dim), g, at$dim))
  },

  # ---- reductions ----
  reduce_sum = function(g, x, y, at) list(spread(g, x[[1L]], at)),
  mean = function(g, x, y, at) {
    count <- prod(shape(x[[1L]])[at$dims])
    share <- nv_convert(nv_convert(g, "f64") / count, dtype(g), ambiguous(g))
    list(spread(share, x[[1L]], at))
  },
  reduce_prod = function(g, x, y, at) {
    operand <- nv_convert(x[[1L]], dtype(g))
    reduced <- lines_of(operand, at$dims)
    before <- nv_cumprod(shifted(reduced$lines, -1L, 1), 1L)
    after <- nv_reverse(nv_cumprod(shifted(nv_reverse(reduced$lines, 1L), -1L, 1), 1L), 1L)
    list(spread(g, operand, at) * reduced$back(before * after))
  },
  # Equal ones share.
  reduce_min = function(g, x, y, at) list(share_extreme(g, x[[1L]], y[[1L]], at)),
  reduce_max = function(g, x, y, at) list(share_extreme(g, x[[1L]], y[[1L]], at)),
  cumsum = function(g, x, y, at) list(sum_from(g, x[[1L]], at$dim)),
  cumprod = function(g, x, y, at) {
    operand <- nv_convert(x[[1L]], dtype(g))
    along <- at$dim
    if (is.null(along)) {
      operand <- nv_flatten(operand)
      along <- 1L
    }
    reduced <- lines_of(operand, along)
    before <- nv_cumprod(shifted(reduced$lines, -1L, 1), 1L)
    slope <- before * products_from(reduced$lines, lines_of(g, along)$lines)
    list(nv_reshape(reduced$back(slope), shape(x[[1L]])))
  },
  cummin = function(g, x, y, at) list(add_extremes(g, x[[1L]], y[[1L]], at$dim)),
  cummax = function(g, x, y, at) list(add_extremes(g, x[[1L]], y[[1L]], at$dim)),

  # ---- random numbers: by the parameters, of the same draw ----
  runif = function(g, x, y, at) {
    low <- nv_convert(x[[2L]], dtype(g))
    share <- (y[[1L]] - low) / (nv_convert(x[[3L]], dtype(g)) - low)
    list(NULL, g * (1 - share), g * share)
  },
  rnorm = function(g, x, y, at) {
    mean <- nv_convert(x[[2L]], dtype(g))
    list(NULL, g, g * ((y[[1L]] - mean) / nv_convert(x[[3L]], dtype(g))))
  },
  rexp = function(g, x, y, at) {
    list(NULL, -(g * (y[[1L]] / nv_convert(x[[2L]], dtype(g)))))
  },
  # By the shape at a fixed probability of smaller numbers.
  rgamma = function(g, x, y, at) {
    wide <- lapply(list(x[[2L]], x[[3L]], y[[1L]]), function(part) {
      nv_broadcast_to(nv_convert(part, "f64"), shape(g))
    })
    slope <- apply_operation("rgamma_slope", list(wide[[1L]], wide[[2L]] * wide[[3L]]))
    list(NULL, g * slope / wide[[2L]], -(g * (wide[[3L]] / wide[[2L]])))
  },

  # ---- signals ----
  fft = function(g, x, y, at) {
    list(fit_extent(transformed_back("fft", g, at), shape(x[[1L]])[at$dim], at$dim))
  },
  # Of the elements that irfft() counts twice, rfft() has half.
  rfft = function(g, x, y, at) {
    part <- transformed_back("irfft", g * middle_weights(0.5, g, at), at)
    list(fit_extent(part, shape(x[[1L]])[at$dim], at$dim))
  },
  irfft = function(g, x, y, at) {
    part <- transformed_back("rfft", g, at)
    part <- part * middle_weights(2, part, at)
    list(fit_extent(part, shape(x[[1L]])[at$dim], at$dim))
  },

  # One sum of products of x, a kernel and y: its derivative by each is made of the other two.
  conv = function(g, x, y, at) {
    list(
      function() convolved("conv_input", g, conjugate(x[[2L]]), x[[1L]], at),
      function() convolved("conv_kernel", conjugate(x[[1L]]), g, x[[2L]], at)
    )
  },
  conv_input = function(g, x, y, at) {
    list(
      function() convolved("conv", g, conjugate(x[[2L]]), x[[1L]], at),
      function() convolved("conv_kernel", g, conjugate(x[[1L]]), x[[2L]], at)
    )
  },
  conv_kernel = function(g, x, y, at) {
    list(
      function() convolved("conv_input", conjugate(x[[2L]]), g, x[[1L]], at),
      function() convolved("conv", conjugate(x[[1L]]), g, x[[2L]], at)
    )
  },

  # ---- distributions: distributions.R ----
  log_beta = function(g, x, y, at) {
    both <- nv_digamma(x[[1L]] + x[[2L]])
    list(g * (nv_digamma(x[[1L]]) - both), g * (nv_digamma(x[[2L]]) - both))
  },
  log_poisson = function(g, x, y, at) {
    count <- x[[1L]]
    mean <- x[[2L]]
    list(g * (nv_log(mean) - nv_digamma(count + 1)), g * (count_ratio(count, mean) - 1))
  },
  log_binomial = function(g, x, y, at) {
    a <- x[[1L]]
    b <- x[[2L]]
    both <- nv_digamma(a + b + 1)
    list(
      g * (nv_log(x[[3L]]) + (both - nv_digamma(a + 1))),
      g * (nv_log1p(-x[[3L]]) + (both - nv_digamma(b + 1))),
      g * (count_ratio(a, x[[3L]]) - count_ratio(b, 1 - x[[3L]]))
    )
  },
  incomplete_gamma = function(g, x, y, at) {
    slope <- share_slope(gamma_log_density(x[[1L]], x[[2L]]), y[[1L]], at)
    by_shape <- function() g * of_share(gamma_slope(x[[1L]], x[[2L]], at$lower), y[[1L]], at)
    list(by_shape, g * slope)
  },
  incomplete_beta = function(g, x, y, at) {
    slope <- share_slope(beta_log_density(x[[1L]], x[[2L]], x[[3L]]), y[[1L]], at)
    by_shape <- function(k) {
      g * of_share(beta_slopes(x[[1L]], x[[2L]], x[[3L]], at$lower)[[k]], y[[1L]], at)
    }
    list(function() by_shape(1L), function() by_shape(2L), g * slope)
  },
  # At a fixed logarithm of the share.
  inverse_gamma = function(g, x, y, at) {
    slope <- quantile_slope(gamma_log_density(x[[1L]], y[[1L]]), x[[2L]], at)
    list(function() -(g * slope * gamma_slope(x[[1L]], y[[1L]], at$lower)), g * slope)
  },
  # By the smaller of x and 1 - x, which has more digits.
  inverse_beta = function(g, x, y, at) {
    turned <- y[[1L]] > 0.5
    a <- nv_ifelse(turned, x[[2L]], x[[1L]])
    b <- nv_ifelse(turned, x[[1L]], x[[2L]])
    end <- nv_ifelse(turned, y[[2L]], y[[1L]])
    slope <- quantile_slope(beta_log_density(a, b, end), x[[3L]], at)
    both <- if (is.null(g[[1L]])) -g[[2L]] else if (is.null(g[[2L]])) g[[1L]] else g[[1L]] - g[[2L]]
    by_shape <- function(k) {
      own <- beta_slopes(a, b, end, at$lower)[[k]]
      other <- beta_slopes(a, b, end, !isTRUE(at$lower))[[3L - k]]
      -(both * slope * nv_ifelse(turned, other, own))
    }
    list(function() by_shape(1L), function() by_shape(2L), both * slope)
  },

  # ---- other names ----
  alias = function(g, x, y, at) {
    rule <- .Call(joist_r_trace_rule, session()$trace, at$mark)
    if (is.null(rule)) list(g) else rule(g, x, y[[1L]])
  },

  # ---- loops and branches: loop_rules.R ----
  "for" = function(g, x, y, at) for_gradient(g, x, y, at),
  scan = function(g, x, y, at) scan_gradient(g, x, y, at),
  "if" = function(g, x, y, at) if_gradient(g, x, y, at)
))

# ---- what rules are made of ----

apply_operation <- function(op, operands, attributes = list()) {
  .Call(joist_r_operation, op, operands, attributes)
}

# A convolution with the positions of `like`, in the dtype of its operands.
convolved <- function(op, x, y, like, at) {
  at$shape <- shape(like)[2L + seq_along(at$shape)]
  at$dtype <- NULL
  apply_operation(op, list(x, y), at)
}

zero_of <- function(x) scalar_like(0, x)

# Of a traced zero, so that a program does not keep an array of them.
zeros_like <- function(x) nv_broadcast_to(traced_constant(zero_of(x)), shape(x))

# The cotangent of a reduction for each element.
spread <- function(g, x, at) {
  extents <- shape(x)
  nv_broadcast_to(nv_reshape(g, replace(extents, at$dims, 1L)), extents)
}

share_of <- function(before, before_or_equal, g) {
  (nv_convert(before, dtype(g)) + nv_convert(before_or_equal, dtype(g))) / 2
}

share_extreme <- function(g, x, y, at) {
  wide <- if (format(dtype(g)) == "f64") "f64" else "f32"
  same <- nv_convert(x == spread(y, x, at), wide)
  spread(g, x, at) * nv_convert(same / nv_reduce_sum(same, at$dims, drop = FALSE), dtype(g))
}

# Sums from each element on to the last.
sum_from <- function(g, x, dim) {
  lines <- if (is.null(dim)) nv_flatten(g) else g
  along <- if (is.null(dim)) 1L else dim
  nv_reshape(nv_reverse(nv_cumsum(nv_reverse(lines, along), along), along), shape(x))
}

# The elements that are reduced in dim 1, the others in dim 2, and the way back.
lines_of <- function(x, dims) {
  extents <- shape(x)
  order <- c(dims, setdiff(seq_along(extents), dims))
  inner <- prod(extents[dims])
  list(
    lines = nv_reshape(nv_transpose(x, order), c(inner, prod(extents) / max(inner, 1))),
    back = function(lines) nv_transpose(nv_reshape(lines, extents[order]), order(order))
  )
}

# Lines along dim 1 with `by` elements before the first left out, or as many put there.
shifted <- function(x, by, value) {
  by <- sign(by) * min(abs(by), shape(x)[1L])
  edges <- list(low = c(-by, 0), high = c(by, 0))
  apply_operation("pad", list(x, traced_constant(scalar_like(value, x))), edges)
}

# At each element of a line the sum of g from there on, each times the elements between them: by
# doubling, without a division, so that zeros need no care.
products_from <- function(x, g) {
  factor <- shifted(x, 1L, 0)
  by <- 1L
  while (by < shape(x)[1L]) {
    g <- g + factor * shifted(g, by, 0)
    factor <- factor * shifted(factor, by, 0)
    by <- 2L * by
  }
  g
}

# The gradients of elements and values that are combined at positions, from the slopes of both.
scattered_slopes <- function(g, x, slopes) {
  rows <- at_positions(g, x)
  list(g * slopes$element, NULL, like_values(rows * slopes$value, x[[3L]]))
}

# What the results of scattered values are, or other elements of the same shape.
at_positions <- function(elements, x) {
  if (length(x[[3L]]) != 1L && length(x[[3L]]) != length(x[[2L]])) {
    nv_gather(elements, x[[2L]] + nv_scalar(1L, "i64"), 1L)
  } else {
    apply_operation("take", list(elements, x[[2L]]))
  }
}

added_at <- function(start, x, values) {
  apply_operation("scatter_add", list(start, x[[2L]], values))
}

# Values that equal an extreme share its gradient; an element has it where no value does.
share_scattered <- function(x, y) {
  wide <- if (format(dtype(y)) == "f64") "f64" else "f32"
  extreme <- at_positions(y, x)
  value <- nv_convert(extreme == nv_broadcast_to(x[[3L]], shape(extreme)), wide)
  count <- added_at(nv_fill(0, shape(y), wide), x, value)
  list(
    element = nv_convert(count == zero_of(count), dtype(y)),
    value = nv_convert(value / at_positions(nv_max(count, scalar_like(1, count)), x), dtype(y))
  )
}

# The product of all others, also where a factor is zero.
scattered_products <- function(x) {
  zero <- zero_of(x[[1L]])
  one <- scalar_like(1, x[[1L]])
  values <- nv_broadcast_to(x[[3L]], shape(at_positions(x[[1L]], x)))
  without <- function(part) nv_ifelse(part == zero, one, part)
  product <- apply_operation("scatter_mul", list(without(x[[1L]]), x[[2L]], without(values)))
  zeros <- added_at(nv_convert(x[[1L]] == zero, "i32"), x, nv_convert(values == zero, "i32"))
  slope <- function(part, product, zeros) {
    own <- nv_convert(part == zero, "i32")
    nv_ifelse(zeros == own, product / without(part), zero)
  }
  list(
    element = slope(x[[1L]], product, zeros),
    value = slope(values, at_positions(product, x), at_positions(zeros, x))
  )
}

# A tensor of rank 3 whose second dim is `dim`.
in_lines <- function(x, dim) {
  extents <- shape(x)
  before <- seq_len(dim - 1L)
  nv_reshape(x, c(prod(extents[before]), extents[dim], prod(extents[-c(before, dim)])))
}

# Zeros of the shape of x, with values added at positions that count from 0.
add_at <- function(x, index, value) {
  zeros <- nv_broadcast_to(traced_constant(zero_of(value)), shape(x))
  apply_operation("scatter_add", list(zeros, index, nv_reshape(value, shape(index))))
}

# The same at positions along a dim that count from 1: lines of them, or one for all lines.
add_along <- function(x, index, value, dim) {
  lines <- shape(in_lines(x, dim))
  counts <- replace(lines, 2L, shape(index)[2L])
  inner <- nv_iota(1L, "i64", c(lines[1L], 1, 1), start = 0)
  outer <- nv_iota(3L, "i64", c(1, 1, lines[3L]), start = 0)
  at <- (nv_convert(index, "i64") - 1L + outer * lines[2L]) * lines[1L] + inner
  add_at(x, nv_flatten(nv_broadcast_to(at, counts)), nv_flatten(value))
}

# Where cumulative extremes come from: the last element that set a new one.
add_extremes <- function(g, x, y, dim) {
  if (is.null(dim)) {
    flat <- add_extremes(nv_flatten(g), nv_flatten(x), nv_flatten(y), 1L)
    return(nv_reshape(flat, shape(x)))
  }
  lines <- in_lines(y, dim)
  extents <- shape(lines)
  number <- nv_broadcast_to(nv_iota(2L, "i64", c(1, extents[2L], 1)), extents)
  before <- apply_operation(
    "pad", list(lines, zero_of(lines)), list(low = c(0, 1, 0), high = c(0, -1, 0))
  )
  set <- nv_cummax(nv_ifelse(number == 1L | lines != before, number, 1L), 2L)
  add_along(x, set, g, dim)
}

# Start, step and count of a slice, in every dim.
slice_of <- function(at, extents) {
  step <- if (is.null(at$step)) rep(1, length(extents)) else at$step
  list(start = at$start, step = step, count = (at$stop - at$start) / step + 1)
}

# The parts, those that lie side by side along a dimension as one. In all other dims they are whole.
join_slices <- function(parts, extents) {
  if (length(parts) < 2L) {
    return(parts)
  }
  whole <- vapply(parts, function(part) {
    part$start == 1 & part$count == extents & part$step > 0
  }, logical(length(extents)))
  along <- which(!apply(matrix(whole, length(extents)), 1L, all))
  steps <- vapply(parts, function(part) all(part$step == 1 | part$count == 1), NA)
  types <- vapply(parts, function(part) paste(format(dtype(part$g)), ambiguous(part$g)), "")
  if (length(along) != 1L || !all(steps) || length(unique(types)) > 1L) {
    return(parts)
  }
  first <- vapply(parts, function(part) part$start[along], 0)
  after <- first + vapply(parts, function(part) part$count[along], 0)
  ordered <- order(first)
  # Runs of parts of which each starts where the one before it ends.
  run <- cumsum(c(TRUE, first[ordered][-1L] != after[ordered][-length(parts)]))
  lapply(unname(split(parts[ordered], run)), function(side_by_side) {
    one <- side_by_side[[1L]]
    gs <- lapply(side_by_side, `[[`, "g")
    if (length(gs) > 1L) one$g <- apply_operation("concatenate", gs, list(dim = along))
    one$count <- shape(one$g)
    one$step[] <- 1
    one
  })
}

# Zeros of the shape of x, with the cotangent of a slice in its place.
spread_slice <- function(part, x) {
  g <- part$g
  if (any(part$count == 0)) {
    return(zeros_like(x))
  }
  backward <- which(part$step < 0 & part$count > 1)
  if (length(backward) > 0L) g <- nv_reverse(g, backward)
  low <- pmin(part$start, part$start + (part$count - 1) * part$step) - 1
  interior <- ifelse(part$count > 1, abs(part$step) - 1, 0)
  high <- shape(x) - low - part$count - (part$count - 1) * interior
  if (all(low == 0 & high == 0 & interior == 0)) {
    return(g)
  }
  apply_operation(
    "pad", list(g, zero_of(g)), list(low = low, high = high, interior = interior)
  )
}

# The derivative of base^exponent by the base.
power_slope <- function(base, exponent) {
  known <- .Call(joist_r_trace_known, exponent)
  if (is.null(known)) {
    zero <- exponent == 0
    return(nv_ifelse(zero, 0, exponent * base^(nv_ifelse(zero, 1, exponent) - 1)))
  }
  switch(as.character(known), `0` = 0, `1` = 1, `2` = 2 * base, known * base^(known - 1))
}

# Values for one or for all positions.
like_values <- function(g, value) {
  if (prod(shape(value)) == 1 && prod(shape(g)) != 1) g <- nv_reduce_sum(g)
  nv_reshape(g, shape(value))
}

# The transform in the other direction.
transformed_back <- function(op, g, at) {
  at$reverse <- !isTRUE(at$reverse)
  apply_operation(op, list(g), at)
}

# For the half of a transform of length at$k, in x: ones at its ends, where an element is its own
# conjugate, and a weight between them.
middle_weights <- function(weight, x, at) {
  count <- at$k %/% 2 + 1
  weights <- rep(weight, count)
  weights[c(1, if (at$k %% 2 == 0) count)] <- 1
  weights <- nv_tensor(weights, "f64", replace(rep(1, ndims(x)), at$dim, count))
  nv_convert(weights, dtype(x))
}

# With an extent along a dim: cut, or zeros added.
fit_extent <- function(x, extent, dim) {
  high <- replace(rep(0, ndims(x)), dim, extent - shape(x)[dim])
  if (all(high == 0)) x else apply_operation("pad", list(x, zero_of(x)), list(high = high))
}

# 0 for a count of 0, also of a probability or mean of 0.
count_ratio <- function(count, x) {
  none <- count == 0
  nv_ifelse(none, 0, count / nv_ifelse(none, 1, x))
}
