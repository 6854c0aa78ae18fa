# Gradients: rules for all operations beside central differences, dtypes, structure, errors.

test_that("a gradient that gradient() cannot give is an error that names what is missing", {
  v <- nv_tensor(c(1, 2))
  refused <- list(
    "while" = list(
      function(x) sum(nv_while(x, function(x) sum(x) < 9, function(x) x + 1)),
      "nv_while() has no derivative"
    ),
    rgamma_slope = list(
      function(x) sum(gradient(function(x) sum(nv_rgamma(2, x, key = nv_key(1))))(x)$x),
      "nv_rgamma() has no second derivative by `alpha`"
    ),
    incomplete_gamma_slope = list(
      function(x) sum(gradient(function(x) sum(nv_pgamma(2, x)))(x)$x),
      "incomplete gamma function has no second derivative by its shape"
    ),
    incomplete_beta_slopes = list(
      function(x) sum(gradient(function(x) sum(nv_pbeta(0.5, x, 3)))(x)$x),
      "incomplete beta function has no second derivative by its shapes"
    )
  )
  expect_setequal(names(refused), without_gradient)
  for (op in names(refused)) {
    f <- refused[[op]][[1L]]
    expect_true(op %in% as.data.frame(program(f, v))$op, label = op)
    expect_error(gradient(f)(v), refused[[op]][[2L]], class = "joist_value_error", fixed = TRUE)
  }
})

test_that("functions of complex numbers refuse, where those of real ones are piecewise constant", {
  x <- nv_tensor(c(1, 2), "f64")
  # The argument and the sign of 1 + ix depend on x.
  for (f in list(nv_arg, function(z) nv_real(nv_sign(z)))) {
    of_complex <- function(x) sum(f(1 + nv_convert(x, "c128") * 1i))
    expect_error(gradient(of_complex)(x), "complex numbers", class = "joist_dtype_error")
    expect_identical(as.double(gradient(function(x) sum(f(x)))(x)[[1L]]), c(0, 0))
  }
  expect_identical(as.double(gradient(function(x) sum(Im(1 + x * 1i)))(x)[[1L]]), c(1, 1))
  expect_identical(as.double(gradient(function(x) sum(Im(x)))(x)[[1L]]), c(0, 0))
  compared <- function(x) sum(nv_ifelse(nv_convert(x, "c128") == 1, x, 3 * x))
  expect_identical(as.double(gradient(compared)(x)[[1L]]), c(1, 3))
})

test_that("the derivative ends at results that are piecewise constant, not numbers, or random", {
  whole <- function(x) nv_convert(x, "i32")
  of_whole <- function(op, ...) {
    f <- nv(op)
    function(x) f(whole(x), ...)
  }
  # A key that depends on x: programs omit operations on constants.
  key_of <- function(x) nv_fold_in(nv_key(5), whole(x)[[1]])
  sorted <- nv_tensor(c(-1, 0, 1), "f64")
  functions <- c(
    lapply(stats::setNames(nm = c(
      "sign", "floor", "ceiling", "trunc", "round", "round_away", "is_nan", "is_finite",
      "is_infinite", "imag",
      "arg", "argmin", "argmax"
    )), function(op) nv(op)),
    lapply(stats::setNames(nm = c("eq", "ne", "lt", "le", "gt", "ge")), function(op) {
      f <- nv(op)
      function(x) f(x, rev(x))
    }),
    lapply(stats::setNames(nm = c("and", "or", "xor")), function(op) {
      f <- nv(op)
      function(x) f(x > 0, rev(x) > 0)
    }),
    lapply(stats::setNames(nm = c(
      "bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right_arithmetic",
      "shift_right_logical", "round_div"
    )), of_whole, 1L),
    lapply(stats::setNames(nm = c("bitwise_not", "popcnt")), of_whole),
    list(
      floor_div = function(x) x %/% 0.4, not = function(x) !(x > 0),
      bitcast_convert = function(x) nv_bitcast_convert(x, "i64"),
      iota = function(x) nv_iota(1L, "f64", 3L), order = nv_argsort,
      top_k = function(x) nv_top_k(x, 2L)$indices,
      match = function(x) nv_match(x, rev(x)),
      searchsorted = function(x) nv_searchsorted(sorted, x),
      tabulate = function(x) nv_tabulate(abs(whole(x)), 3L),
      pack = function(x) {
        run_operation("pack", list(nv_pad(nv_convert(x, "f32"), nv_scalar(0, "f32"), 0L, 29L)),
          list(k = 8, dtype = "ui8")
        )
      },
      unpack = function(x) {
        bytes <- nv_pad(nv_convert(abs(whole(x)), "ui8"), nv_scalar(0L, "ui8"), 0L, 31L)
        run_operation("unpack", list(bytes), list(k = 8, dtype = "f32"))
      },
      fold_in = key_of,
      random_bits = function(x) nv_random_bits(3L, key = key_of(x)),
      randint = function(x) nv_randint(3L, 0L, 9L, key = key_of(x)),
      rbinom = function(x) nv_rbinom(3L, 9, abs(x) / 4, dtype = "f64", key = key_of(x)),
      rpois = function(x) nv_rpois(3L, abs(x), dtype = "f64", key = key_of(x)),
      rcategorical = function(x) nv_rcategorical(3L, abs(x), key = key_of(x)),
      reduce_any = function(x) nv_reduce_any(x > 0), reduce_all = function(x) nv_reduce_all(x < 9),
      poisson_quantile = function(x) nv_qpois(0.3, abs(x) + 1),
      binomial_quantile = function(x) nv_qbinom(0.3, 5, abs(x) / 4),
      negative_binomial_quantile = function(x) nv_qnbinom(0.3, 5, abs(x) / 4),
      hypergeometric_share = function(x) nv_phyper(x, 9, 8, 5),
      hypergeometric_quantile = function(x) nv_qhyper(abs(x) / 4, 9, 8, 5)
    )
  )
  expect_setequal(names(functions), without_slope)
  x <- nv_tensor(c(1.5, -2, 0.3), "f64")
  for (op in names(functions)) {
    # One is added, so that the product's derivative is not zero.
    factor <- function(x) 1 + sum(nv_convert(functions[[op]](x), "f64"))
    product <- function(x) factor(x) * sum(x)
    if (op != "iota") expect_true(op %in% as.data.frame(program(product, x))$op, label = op)
    want <- rep(as.double(factor(x)), 3)
    expect_true(all(is.finite(want)), label = op)
    expect_equal(as.double(gradient(product)(x)$x), want, tolerance = 1e-12, label = op)
    expect_identical(jit(gradient(product))(x), gradient(product)(x), label = op)
  }
})

# Weighs elements, so that each has another part in the result.
weigh <- function(x) {
  x <- nv_flatten(x)
  sum(x * nv_tensor(cos(seq_len(length(x)) * 1.3) + 0.2, "f64"))
}

u <- c(0.3, -0.7, 0.2, 0.9, -0.4, 0.55)
v <- c(0.5, 0.25, -1.3, 0.7, 1.9, -0.6)
p <- abs(u) + 0.2
m <- matrix(sin(1:12), 3)
a3 <- array(cos((1:24)^1.5), c(2, 3, 4))
zeros <- replace(a3, c(1, 8, 10), 0)
square <- matrix(sin((1:9)^2), 3) + 3 * diag(3)
right <- matrix(cos(1:6), 3)
tall <- matrix(sin((1:15)^1.7), 5)
positions <- nv_tensor(array(c(1L, 3L, 3L, 2L), c(2, 2, 4)))
key <- nv_key(5)
assigned <- function(x, i, j, value) {
  if (is.null(j)) x[i] <- value else x[i, j] <- value
  weigh(x * x)
}

# A function, and its arguments.
case <- function(f, ...) list(f = f, arguments = list(...))
of_op <- function(op, ...) {
  f <- nv(op)
  case(function(...) weigh(f(...)), ...)
}

apply_core <- function(...) joist:::apply_operation(...)

unary <- function(ops, x) stats::setNames(lapply(ops, of_op, x), ops)
cases <- c(
  unary(c(
    "negate", "abs", "exp", "expm1", "logistic", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "atanh", "erf", "erfc", "cbrt", "real", "conj", "gamma",
    "lgamma", "digamma", "sinpi", "cospi", "tanpi"
  ), u),
  unary(c("sqrt", "rsqrt", "log", "log2", "log10", "log1p"), p),
  list(
    acosh = of_op("acosh", p + 1.1),
    add = of_op("add", u, v), sub = of_op("sub", u, v), mul = of_op("mul", u, v),
    div = of_op("div", u, v), min = of_op("min", u, v), max = of_op("max", u, v),
    atan2 = of_op("atan2", u, v), mod = of_op("mod", v, u), remainder = of_op("remainder", v, u),
    pow = of_op("pow", p, v), square = case(function(x) weigh(x^2L), u),
    broadcast = case(function(x, y) weigh(x * y), matrix(u, 2), matrix(v[1:3], 1)),
    scalar = case(function(x, y) weigh(x * y[2]), u, v),
    clamp = case(function(a, x, b) weigh(nv_clamp(a, x, b)), u - 0.1, v, u + 0.5),
    clamp_crossed = case(function(a, x, b) weigh(nv_clamp(a, x, b)), v, u, rev(v) + 0.01),
    ifelse = case(function(x, y) weigh(nv_ifelse(x > 0, x * y, y^2)), u, v),
    convert = case(function(x) sum(nv_convert(x * x, "f64")), u),
    sum = case(function(x) weigh(nv_reduce_sum(x, 2)), a3),
    sum_kept = case(function(x) weigh(nv_reduce_sum(x, c(1, 3), drop = FALSE)), a3),
    mean = case(function(x) weigh(nv_mean(x, 2)^2), a3),
    prod = case(function(x) weigh(nv_reduce_prod(x, 2)), a3),
    prod_of_zeros = case(function(x) weigh(nv_reduce_prod(x, 2)), zeros),
    prod_of_all = case(function(x) nv_reduce_prod(x), replace(v, c(2, 5), 0)),
    prod_of_two = case(function(x) weigh(nv_reduce_prod(x, c(3, 1))), zeros),
    reduce_min = case(function(x) weigh(nv_reduce_min(x, 2)), a3),
    reduce_max = case(function(x) weigh(nv_reduce_max(x, 3, drop = FALSE)^2), a3),
    variance = case(nv_var, u), softmax = case(function(x) weigh(exp(x) / sum(exp(x))), u)
  ),
  lapply(stats::setNames(nm = c("cumsum", "cumprod", "cummin", "cummax")), function(op) {
    of_op(op, a3)
  }),
  lapply(c(along_sum = "cumsum", along_prod = "cumprod", along_min = "cummin"), function(op) {
    f <- nv(op)
    case(function(x) weigh(f(x, 2)), a3)
  }),
  list(
    cumprod_of_zeros = case(function(x) weigh(nv_cumprod(x, 3)), zeros),
    cumprod_of_all = case(function(x) weigh(nv_cumprod(x)), zeros),
    sort = case(function(x) weigh(nv_sort(x, 2)^2), a3),
    decreasing = case(function(x) weigh(nv_sort(x, 3, TRUE)), a3),
    top_k = case(function(x) weigh(nv_top_k(x, 2, 3)$values^2), a3),
    reshape = case(function(x) weigh(nv_reshape(x, c(6, 4))^2), a3),
    transpose = case(function(x) weigh(nv_transpose(x, c(3, 1, 2))^2), a3),
    broadcast_to = case(function(x) weigh(nv_broadcast_to(x, c(3, 4))), matrix(u[1:3], 3)),
    concatenate = case(function(x, y) weigh(nv_concatenate(x, y, x, dim = 2)), m, m^2),
    concatenate_scalars = case(function(x, y) weigh(nv_concatenate(x, y[1], y[2])^2), u, v),
    stack = case(function(x, y) weigh(nv_stack(x, y)), u, v),
    slice = case(function(x) weigh(x[2:3, seq(4, 1, by = -2)]^2), m),
    slices = case(function(x) {
      weigh(x[, 2:3]^2) + weigh(x[, 1]^3) + weigh(sin(x[, 4])) + sum(x) + x[[2, 3]]^2
    }, m),
    slices_apart = case(function(x) weigh(x[5:6]^2) + weigh(x[2:1]^3) + x[[3]]^3, u),
    slices_over = case(function(x) weigh(x[1:4]^2) + weigh(x[3:6]^3) + weigh(x[c(1, 3)]^2), u),
    split = case(function(x) {
      parts <- nv_split(x, dim = 2, sizes = c(1, 0, 3))
      weigh(parts[[3]]^2) + weigh(exp(parts[[1]]))
    }, m),
    empty = case(function(x) sum(x[integer(), ]) + sum(x^2), m),
    excluded = case(function(x) weigh(x[-1, 2]), m),
    scattered = case(function(x) weigh(x[c(1, 1, 3), c(2, 2, 4)]^2), m),
    masked = case(function(x) weigh(x[c(TRUE, FALSE, TRUE, TRUE, FALSE, FALSE)]), u),
    reverse = case(function(x) weigh(rev(x)^2), u),
    update = case(function(x, y) assigned(x, 2:3, 2:4, y), m, matrix(u, 2)),
    update_one = case(function(x, y) assigned(x, 2:3, 2:4, y[2]), m, u),
    put = case(function(x, y) assigned(x, c(5, 1, 5), NULL, y), u, v[1:3]),
    put_one = case(function(x, y) assigned(x, c(5, 1, 6), NULL, y[1]), u, v[1:3]),
    pad = case(function(x, y) weigh(nv_pad(x, y[1], c(1, -1), c(2, 1), c(1, 2))^2), m, u[1:2]),
    crop = case(function(x) weigh(nv_pad(x, 0L, c(-1, 0), c(0, -2))), m),
    gather = case(function(x) weigh(nv_gather(x, nv_tensor(c(3L, 1L, 3L, 2L)), 2)^2), a3),
    gather_one = case(function(x) weigh(nv_gather(x, 2L, 3)), a3),
    gather_matrix = case(function(x) weigh(nv_gather(x, nv_tensor(matrix(c(2L, 1L), 2)), 1)), a3),
    conv = case(function(x, y) {
      x <- nv_reshape(x, c(2, 2, 6))
      weigh(nv_conv(x, nv_reshape(y, c(3, 2, 4)), 2, list(c(1, 2)), 2)^2)
    }, a3, a3),
    conv_groups = case(function(x, y) {
      x <- nv_reshape(x, c(1, 4, 3, 2))
      y <- nv_conv(x, nv_reshape(y, c(4, 3, 2, 1)), c(1, 2), 1, groups = 2, transposed = TRUE)
      weigh(y^2)
    }, a3, a3),
    conv_kernel = case(function(x, y) {
      at <- list(step = 2, low = 1, interior = 1, k = 2, shape = 3)
      x <- nv_reshape(x, c(2, 2, 6))
      weigh(apply_core("conv_kernel", list(x, nv_reshape(y, c(2, 4, 3))), at)^2)
    }, a3, a3),
    fft = case(function(x) weigh(Mod(nv_fft(x, c(5, 3), 2:1))), m),
    fft_parts = case(function(x, y) {
      z <- nv_fft(x * 1i + y, dims = 1)
      weigh(Re(z * Conj(z[3:1, ]) / (z + 2))) + sum(Im(nv_ifft(exp(z / 9), 4, 2, "ortho")))
    }, m, m^2),
    rfft = case(function(x) weigh(abs(nv_rfft(x, c(2, 7), norm = "forward"))), m),
    irfft = case(function(x) weigh(nv_irfft(nv_rfft(x, 8) * (2 + 1i), 7)^2), u),
    hfft = case(function(x) weigh(nv_hfft(nv_ihfft(x) * 1i)^2), u),
    take_along = case(function(x) weigh(nv_take_along(x, positions, 2)^2), a3),
    scatter_add = case(function(x, y) weigh(nv_scatter_add(x, c(1, 3, 3), y)^2), u, v[1:3]),
    scatter_one = case(function(x, y) weigh(nv_scatter_add(x, c(1, 3, 3), y[2])^2), u, v),
    scatter_min = case(function(x, y) weigh(nv_scatter_min(x, c(1, 3, 3), y)^2), u, v[1:3]),
    scatter_max = case(function(x, y) weigh(nv_scatter_max(x, c(1, 3, 3), y)^2), u, v[1:3]),
    scatter_mul = case(function(x, y) weigh(nv_scatter_mul(x, c(1, 3, 3), y)^2), u, v[1:3]),
    triangles = case(function(x) weigh(nv_tril(x) * nv_triu(x, -1)), m),
    diagonal = case(function(x) weigh(nv_diag(x) * nv_diag(x)), m),
    matmul = case(function(x, y) weigh(x %*% y), square, right),
    crossprod = case(function(x, y) weigh(nv_crossprod(x, y)), square, right),
    tcrossprod = case(function(x, y) weigh(nv_tcrossprod(x, y)), t(right), square),
    accumulate = case(function(x, y) weigh(nv_crossprod(x, y, accumulate = "f64")), square, right),
    batch = case(function(x, y) weigh(nv_matmul(x, y)), a3, aperm(a3, c(2, 1, 3))),
    one_for_a_batch = case(function(x, y) weigh(nv_matmul(x, y)), a3, right),
    vector = case(function(x, y) weigh(x %*% y), square, u[1:3]),
    solve = case(function(x, y) weigh(nv_solve(x, y)), square, right),
    solve_vector = case(function(x, y) weigh(nv_solve(x, y)), square, u[1:3]),
    inverse = case(function(x) weigh(nv_inv(x)), square),
    det = case(nv_det, square),
    determinant = case(function(x) nv_determinant(x)$modulus, square),
    chol = case(function(x) weigh(nv_chol(nv_crossprod(x) + nv_eye(3L, "f64"))), square),
    chol_lower = case(function(x) {
      weigh(nv_chol(nv_crossprod(x) + nv_eye(3L, "f64"), TRUE))
    }, square),
    lu = case(function(x) weigh(nv_lu(x)$L) + weigh(nv_lu(x)$U^2), square),
    eig = case(function(x) {
      parts <- nv_eig(x)
      weigh(nv_real(parts$values)) + weigh(nv_abs(parts$vectors))
    }, square),
    eigvals = case(function(x) weigh(nv_abs(nv_eigvals(x))), square),
    singular = case(function(x) weigh(apply_core("singular_values", list(x))), tall),
    pinv = case(function(x) weigh(nv_pinv(x)), tall),
    lstsq = case(function(x, y) weigh(nv_lstsq(x, y)), tall, u[seq_len(nrow(tall))]),
    expm = case(function(x) weigh(nv_expm(x)), square),
    matrix_power = case(function(x) weigh(nv_matrix_power(x, -2)), square),
    kron = case(function(x, y) weigh(nv_kron(x, y)), square, right),
    trace = case(function(x) nv_trace(x, 1)^2, square),
    qr = case(function(x) weigh(nv_qr(x)$Q) + weigh(nv_qr(x)$R), tall),
    qr_r = case(function(x) weigh(nv_qr(x)$R), tall),
    eigh = case(function(x) {
      parts <- nv_eigh(x + t(x))
      weigh(parts$values) + weigh(parts$vectors^2)
    }, square),
    svd = case(function(x) {
      parts <- nv_svd(x)
      weigh(parts$d) + weigh(parts$u^2) + weigh(parts$v^2)
    }, tall),
    svd_wide = case(function(x) weigh(nv_svd(x)$d) + weigh(nv_svd(x)$v^2), t(tall)),
    "for" = case(function(x, y) weigh(nv_for(3, x, function(i, x) sin(x * y) + x)), u, p),
    scan = case(function(x, y) {
      weigh(nv_scan(x[1:2], y, function(s, v) list(sin(s * v), s))$ys)
    }, u, p),
    "if" = case(function(x, y) weigh(nv_if(sum(x) > 0, x * y, x)), u, p),
    lbeta = of_op("lbeta", p, p + 1), beta = of_op("beta", p + 1, rev(p)),
    dnorm = case(function(x, m, s) weigh(nv_dnorm(x, m, s)), v, u, p),
    dnorm_log = case(function(x, m, s) weigh(nv_dnorm(x, m, s, log = TRUE)), v, u, p),
    pnorm = case(function(x, m, s) weigh(nv_pnorm(x, m, s)), v, u, p),
    pnorm_log = case(function(x, m, s) weigh(nv_pnorm(x, m, s, FALSE, TRUE)), 3 * v, u, p),
    qnorm = case(function(x, m, s) weigh(nv_qnorm(x, m, s)), p / 1.5, u, p),
    qnorm_log = case(function(x, m, s) weigh(nv_qnorm(x, m, s, FALSE, TRUE)), -p, u, p),
    dexp = case(function(x, r) weigh(nv_dexp(x, r)), v, p),
    pexp = case(function(x, r) weigh(nv_pexp(x, r)), v, p),
    pexp_log = case(function(x, r) weigh(nv_pexp(x, r, log.p = TRUE)), p, rev(p)),
    qexp = case(function(x, r) weigh(nv_qexp(x, r)), p / 1.5, p),
    dgamma = case(function(x, a, r) weigh(nv_dgamma(x, a, r)), p, 3 * rev(p), p + 1),
    pgamma = case(function(x, r) weigh(nv_pgamma(x, 2.5, r)), p, p + 1),
    pgamma_log = case(function(x, r) {
      weigh(nv_pgamma(x, 0.7, r, FALSE, TRUE))
    }, p, p + 1),
    qgamma = case(function(x, r) weigh(nv_qgamma(x, 2.5, r)), p / 1.5, p),
    qgamma_log = case(function(x, r) weigh(nv_qgamma(x, 0.7, r, FALSE, TRUE)), -p, p),
    dpois = case(function(l) weigh(nv_dpois(0:5, l)), p),
    ppois = case(function(l) weigh(nv_ppois(0:5, l)), 3 * p),
    dbeta = case(function(x, a, b) weigh(nv_dbeta(x, a, b)), p / 1.5, p + 1, rev(p)),
    pbeta = case(function(x) weigh(nv_pbeta(x, 2.5, 0.8)), p / 1.5),
    pbeta_log = case(function(x) weigh(nv_pbeta(x, 2.5, 0.8, FALSE, TRUE)), p / 1.5),
    qbeta = case(function(x) weigh(nv_qbeta(x, 2.5, 1.8)), p / 1.5),
    qbeta_log = case(function(x) weigh(nv_qbeta(x, 2.5, 1.8, FALSE, TRUE)), -p),
    dbinom = case(function(x) weigh(nv_dbinom(0:5, 5, x)), p / 1.5),
    pbinom = case(function(x) weigh(nv_pbinom(0:5, 6, x)), p / 1.5),
    dt = case(function(x, n) weigh(nv_dt(x, n)), v, p + 1),
    pt = case(function(x) weigh(nv_pt(x, 3.5)), v),
    pt_log = case(function(x) weigh(nv_pt(x, 3.5, FALSE, TRUE)), v),
    qt = case(function(x) weigh(nv_qt(x, 3.5)), p / 1.5),
    qt_log = case(function(x) weigh(nv_qt(x, 3.5, FALSE, TRUE)), -p),
    runif = case(function(x, y) weigh(nv_runif(5L, x[1], y[1], "f64", key = key)^2), u, u + 2),
    rnorm = case(function(x, y) weigh(nv_rnorm(5L, x[1], y[1], "f64", key = key)^2), u, p),
    rexp = case(function(x) weigh(nv_rexp(6L, x, "f64", key = key)^2), p),
    rgamma = case(function(x) weigh(nv_rgamma(6L, 1.5, x, "f64", key = key)^2), p)
  )
)
for (lower in c(TRUE, FALSE)) {
  for (turn in c(TRUE, FALSE)) {
    for (unit in c(TRUE, FALSE)) {
      cases[[paste("triangular_solve", lower, turn, unit)]] <- local({
        flags <- list(lower = lower, transpose = turn, unit_diag = unit)
        case(function(x, y) {
          weigh(do.call(nv_triangular_solve, c(list(x, y), flags)))
        }, square, right)
      })
    }
  }
}

tensors_of <- function(arguments, dtype) lapply(arguments, nv_tensor, dtype)

test_that("the gradient of every operation is what differences say, eagerly and in jit()", {
  seen <- character()
  for (name in names(cases)) {
    one <- cases[[name]]
    arguments <- tensors_of(one$arguments, "f64")
    checked <- tryCatch(
      do.call(check_gradient, c(list(jit(one$f)), arguments)),
      joist_error = function(e) fail(paste(name, conditionMessage(e)))
    )
    compiled <- jit(gradient(one$f))
    eager <- do.call(gradient(one$f), arguments)
    if (!identical(do.call(compiled, arguments), eager)) fail(paste(name, "in jit()"))
    seen <- union(seen, as.data.frame(do.call(program, c(list(one$f), arguments)))$op)
    seen <- union(seen, as.data.frame(program(compiled))$op)
    # In f32: rounding, and what a condition number makes of it.
    single <- do.call(gradient(one$f), tensors_of(one$arguments, "f32"))
    for (k in seq_along(single)) {
      expect_identical(format(dtype(single[[k]])), "f32")
      apart <- max(abs(as.double(single[[k]]) - as.double(eager[[k]])))
      if (!(apart < 2e-4 * max(1, abs(as.double(eager[[k]]))))) fail(paste(name, "in f32", apart))
    }
  }
  # "alias" marks values while a function is traced, and programs are without it; the result of
  # "print" has no use; "require" belongs to loops with traced counts, which have no derivative.
  # Products of blocks are in f32 only: test-file-gguf.R has theirs.
  others <- c(without_slope, without_gradient, "alias", "print", "require", "packed_product")
  expect_identical(setdiff(operation_table()$name, c(seen, others)), character())
  expect_false("alias" %in% seen)
})

test_that("the gradient with respect to neighbouring slices lays theirs side by side", {
  f <- function(x) sum(x[, 1]^2) + sum(x[, 4]^3) + sum(x[, 2:3]^2)
  table <- as.data.frame(program(jit(gradient(f)), nv_aval("f64", c(2L, 4L))))
  expect_identical(sum(table$op == "concatenate"), 1L)
  expect_false(any(table$op %in% c("pad", "add") & table$shape == "2x4"))
})

test_that("second derivatives are what differences of gradients say", {
  for (name in names(cases)) {
    one <- cases[[name]]
    arguments <- tensors_of(one$arguments, "f64")
    slope <- function(...) {
      Reduce(`+`, lapply(gradient(one$f)(...), function(x) weigh(x) + sum(x * x)))
    }
    tryCatch(
      do.call(check_gradient, c(list(jit(slope)), arguments, tolerance = 1e-5)),
      joist_error = function(e) fail(paste(name, conditionMessage(e)))
    )
  }
  cube <- function(x) gradient(function(x) gradient(function(x) x^3)(x)$x)(x)$x
  expect_equal(as.double(cube(nv_scalar(2, "f64"))), 12)
  expect_equal(as.double(jit(cube)(nv_scalar(2, "f64"))), 12)
})

# ---- dtypes ----

type_of <- function(x) paste0(format(dtype(x)), if (ambiguous(x)) "?")

test_that("a gradient has the dtype, ambiguity and shape of what it is by, for every pair", {
  for (rules in c("anvil", "jax", "numpy", "torch")) {
    for (left in dtypes_with(c(0, 1, 2, 3), floats())) {
      rights <- if (is_narrow(left)) c(left, "bool", "i32", "f32") else setdiff(partners_of(left),
        complexes())
      for (right in rights) {
        for (flags in list(c(FALSE, FALSE), c(TRUE, FALSE), c(FALSE, TRUE))) {
          x <- nv_tensor(c(1, 2, 3), left, ambiguous = flags[1])
          y <- nv_convert(nv_tensor(c(1, 0, 1)), right, flags[2])
          f <- function(x, y) sum(nv_convert(x * y, "f64"))
          joined <- tryCatch(with_promotion(rules, x * y), joist_promotion_error = identity)
          if (inherits(joined, "error")) next
          got <- with_promotion(rules, gradient(f, "x")(x, y)$x)
          label <- paste(rules, type_of(x), type_of(y))
          if (type_of(got) != type_of(x)) fail(paste(label, type_of(got)))
          if (!identical(as.double(got), c(1, 0, 1))) fail(paste(label, "values"))
          if (!identical(with_promotion(rules, jit(gradient(f, "x"))(x, y)$x), got)) {
            fail(paste(label, "in jit()"))
          }
        }
      }
    }
  }
  succeed()
})

test_that("what flows back is rounded once, to the dtype of the operand", {
  x <- 1 + (1:200) * 2^-12
  y <- sin(1:200)
  weight <- nv_tensor(1, "f16", shape = 1L)
  f <- function(w, x) sum(nv_convert(w, "f32") * x)
  g <- function(w, x) sum(w * x)
  data <- nv_tensor(y, "f32")
  for (h in list(f, g)) {
    got <- gradient(h, "w")(weight, data)$w
    expect_identical(type_of(got), "f16")
    expect_identical(as.double(got), round_to(round_to(sum(round_to(y, "f32")), "f32"), "f16"))
  }
  wide <- gradient(function(x) nv_reduce_sum(x * x, dtype = "f64"))(nv_tensor(x, "f16"))$x
  expect_identical(type_of(wide), "f16")
  expect_identical(as.double(wide), 2 * round_to(x, "f16"))
  # Strictness is about what the user's function does.
  silent <- with_promotion(NULL, gradient(function(x) sum(x * 2))(data), on = c(widening = "error"))
  expect_identical(as.double(silent$x), rep(2, 200))
})

test_that("integers and bools end a derivative", {
  zero <- function(f) gradient(f)(nv_tensor(c(1.5, -2)))$x
  whole <- function(x) sum(nv_convert(nv_convert(x, "i32"), "f32"))
  expect_identical(as.double(zero(whole)), c(0, 0))
  expect_identical(as.double(zero(function(x) sum(nv_convert(x > 0, "f32")))), c(0, 0))
  expect_identical(as.double(zero(function(x) nv_scalar(3))), c(0, 0))
  expect_identical(as.double(zero(function(x) 3)), c(0, 0))
  expect_identical(as.double(zero(function(x) sum(x * (x > 0)))), c(1, 0))
  expect_identical(as.double(zero(function(x) sum(nv_argsort(x) * x))), c(2, 1))
})

test_that("a branch that is not taken gives NaN or, kept away from there, does not", {
  x <- nv_tensor(c(4, 0, -1))
  plain <- gradient(function(x) sum(nv_ifelse(x > 0, sqrt(x), 0)))(x)$x
  expect_identical(is.nan(as.double(plain)), c(FALSE, TRUE, TRUE))
  twice <- gradient(function(x) sum(nv_ifelse(x > 0, sqrt(nv_ifelse(x > 0, x, 1)), 0)))(x)$x
  expect_identical(as.double(twice), c(0.25, 0, 0))
})

# ---- arguments and results ----

test_that("gradients have the structure of the arguments in `wrt`", {
  f <- function(p, x, power = 2) sum((p$a * x + p$b[[1]])^power)
  p <- list(a = nv_tensor(c(1, 2), "f64"), b = list(nv_scalar(3, "f64"), NULL))
  x <- nv_tensor(c(2, 1), "f64")
  got <- gradient(f)(p, x)
  expect_identical(names(got), c("p", "x"))
  expect_identical(lapply(got$p, class), list(a = "nv_tensor", b = "list"))
  expect_identical(as.double(got$p$a), c(20, 10))
  expect_identical(as.double(got$p$b[[1]]), 20)
  expect_null(got$p$b[[2]])
  expect_identical(as.double(got$x), c(10, 20))
  expect_identical(gradient(f, "x")(p, x), got["x"])
  expect_identical(gradient(f, 2:1)(x = x, p = p), got[c("x", "p")])
  expect_identical(gradient(f, c("x", "p"))(p, x, 2), got[c("x", "p")])
  expect_identical(jit(gradient(f))(p, x), got)
  both <- value_and_gradient(f, "x")(p, x)
  expect_identical(both, list(value = f(p, x), grad = got["x"]))
  expect_identical(jit(value_and_gradient(f, "x"))(p, x), both)
  expect_identical(names(formals(gradient(f))), c("p", "x", "power"))
  expect_identical(as.double(gradient(function(x) x * x)(3)$x), 6)
  expect_identical(as.double(gradient(sum)(x)[[1]]), c(1, 1))
  expect_identical(type_of(gradient(function(x) x * x)(3)$x), "f64?")
})

test_that("jitted functions, static arguments and traced values from outside", {
  f <- jit(function(x, n, verbose) sum(x^n), static = c("n", "verbose"))
  x <- nv_tensor(c(1, 2))
  want <- list(x = nv_tensor(c(3, 12)))
  expect_identical(gradient(f)(x, 3, TRUE), want)
  expect_identical(jit(gradient(f), static = c("n", "verbose"))(x, 3, FALSE), want)
  expect_error(gradient(f, "n"), "static", class = "joist_value_error")
  outer <- jit(function(x, y) gradient(function(w) sum(w * y * x))(x)$w)
  expect_identical(as.double(outer(nv_tensor(c(2, 3)), nv_tensor(c(5, 7)))), c(10, 21))
  # The same value from outside is a constant.
  confused <- gradient(function(x) gradient(function(y) x * y)(x)$y)
  expect_identical(as.double(confused(nv_scalar(5))$x), 1)
  shared <- function(a) gradient(function(x) x * gradient(function(y) x * y * y)(a)$y)(a)$x
  expect_identical(as.double(shared(nv_scalar(3))), 36)
  expect_identical(as.double(jit(shared)(nv_scalar(3))), 36)
  expect_identical(gradient(function(x) sum(x))(nv_aval("f16", 3))$x, nv_aval("f16", 3))
})

test_that("products with derivatives agree with gradients and with each other", {
  f <- function(x, y) list(a = x %*% y, b = sum(sin(x)))
  x <- nv_tensor(square, "f64")
  y <- nv_tensor(right, "f64")
  co <- list(a = nv_tensor(cos(right), "f64"), b = 2)
  both <- nv_vjp(f, list(x, y = y), co)
  want <- gradient(function(x, y) {
    value <- f(x, y)
    sum(value$a * co$a) + 2 * value$b
  })(x, y)
  expect_identical(names(both$grad), c("", "y"))
  expect_equal(as_array(both$grad[[1]]), as_array(want$x), tolerance = 1e-14)
  expect_equal(as_array(both$grad$y), as_array(want$y), tolerance = 1e-14)
  expect_identical(both$value, f(x, y))
  along <- list(nv_tensor(sin(square), "f64"), nv_tensor(right^2, "f64"))
  moved <- nv_jvp(f, list(x, y), along)
  expect_equal(
    as_array(moved$tangent$a), as_array(along[[1]] %*% y + x %*% along[[2]]), tolerance = 1e-14
  )
  expect_equal(as_array(moved$tangent$b), sum(cos(square) * sin(square)), tolerance = 1e-14)
  expect_identical(jit(function(x, y, t) nv_jvp(f, list(x, y), t))(x, y, along), moved)
  for (name in c("matmul", "svd", "sort", "cumprod", "update", "solve")) {
    one <- cases[[name]]
    arguments <- tensors_of(one$arguments, "f64")
    directions <- lapply(one$arguments, function(a) nv_tensor(sin(a + 1), "f64", dim(a)))
    slope <- do.call(gradient(one$f), arguments)
    want <- sum(mapply(function(g, t) sum(as.double(g) * as.double(t)), slope, directions))
    got <- nv_jvp(one$f, arguments, directions)$tangent
    expect_equal(as.double(got), want, tolerance = 1e-12, label = name)
    linear <- nv_linearize(one$f, arguments)
    expect_identical(linear$tangent(directions), got, label = name)
    expect_identical(linear$value, do.call(jit(one$f), arguments), label = name)
  }
  expect_error(nv_vjp(f, list(x, y), list(1)), "1 tensors, not 2", class = "joist_shape_error")
  expect_error(nv_vjp(f, list(x, y), list(1, 1)), "shape", class = "joist_shape_error")
  expect_error(nv_jvp(function(x) x > 0, list(x), list(x)), "bool", class = "joist_dtype_error")
})

test_that("nv_linearize() computes a function once, for many products", {
  count <- 0
  f <- function(x, w) {
    count <<- count + 1
    state <- nv_scan(x, nv_tensor(1:3), function(s, k) list(tanh(s * w$b) + k, sum(s)))
    list(state$carry, all = state$ys)
  }
  x <- nv_tensor(c(0.5, 0.2, 0.3), "f64")
  arguments <- list(x, w = list(b = nv_scalar(0.7, "f64")))
  linear <- nv_linearize(f, arguments)
  directions <- lapply(1:3, function(k) list(nv_tensor(sin(k * (1:3)), "f64"), list(b = k / 2)))
  got <- lapply(directions, linear$tangent)
  expect_identical(count, 1)
  expect_identical(got, lapply(directions, function(d) nv_jvp(f, arguments, d)$tangent))
  expect_identical(linear$value, f(x, list(b = nv_scalar(0.7, "f64"))))

  # In traced functions, in a loop and around it; of constants, and of missing elements.
  both <- jit(function(x, v) {
    inner <- nv_linearize(sin, list(x))
    moved <- nv_for(2L, v, function(i, v) inner$tangent(list(v)))
    list(moved, inner$tangent(list(v)), inner$value)
  })
  v <- nv_tensor(c(1, 2, 3), "f64")
  want <- list(v * cos(x) * cos(x), v * cos(x), sin(x))
  expect_equal(lapply(both(x, v), as_array), lapply(want, as_array), tolerance = 1e-15)
  outer <- nv_linearize(sin, list(x))
  expect_identical(jit(function(v) outer$tangent(list(v)))(v), outer$tangent(list(v)))
  expect_identical(nv_linearize(function(x) x, list(x))$tangent(list(v)), v)
  constant <- nv_linearize(function(x) nv_tensor(c(1, 2)), list(x))
  expect_identical(constant$tangent(list(v)), nv_tensor(c(0, 0)))
  partly <- list(nv_tensor(c(1, NA, 3)))
  square <- function(x) x * x
  expect_identical(
    nv_linearize(square, partly)$tangent(list(c(1, 1, 1))),
    nv_jvp(square, partly, list(c(1, 1, 1)))$tangent
  )
  expect_error(outer$tangent(list(1)), "shape", class = "joist_shape_error")
  expect_error(outer$tangent(list(v, v)), "2 tensors, not 1", class = "joist_shape_error")
  expect_error(nv_linearize(function(x) x > 0, list(x)), "bool", class = "joist_dtype_error")
})

test_that("derivatives stop and are replaced where the user says so", {
  x <- nv_tensor(c(0.6, 2.2))
  expect_identical(nv_stop_gradient(x), x)
  half <- gradient(function(x) sum(x * nv_stop_gradient(x)))
  expect_identical(as.double(half(x)$x), as.double(x))
  stopped <- jit(function(x) nv_stop_gradient(x * 2) + 1)
  expect_identical(stopped(x), x * 2 + 1)
  calls <- 0
  rule <- function(cotangent, value, x, digits) {
    calls <<- calls + 1
    expect_identical(digits, 3)
    list(cotangent * digits, NULL)
  }
  through <- custom_gradient(function(x, digits) nv_round(x * digits), rule)
  f <- function(x) sum(through(x, 3)^2)
  expect_identical(as.double(gradient(f)(x)$x), 6 * round(as.double(x * 3)))
  expect_identical(calls, 1)
  expect_identical(f(x), jit(f)(x))
  expect_identical(jit(gradient(f))(x), gradient(f)(x))
  # The rule is differentiated in its turn.
  rule <- function(cotangent, value, x) list(cotangent * 5 * x)
  cubed <- custom_gradient(function(x) x * x * x, rule)
  slope <- gradient(function(x) gradient(function(x) cubed(x))(x)$x)
  expect_identical(as.double(slope(nv_scalar(2))$x), 5)
  bad <- custom_gradient(function(x) x, function(cotangent, value, x) cotangent)
  expect_error(gradient(bad)(nv_scalar(1)), "list of 1", class = "joist_value_error")
  wrong <- custom_gradient(function(x) x * x, function(cotangent, value, x) list(cotangent * x))
  expect_error(
    check_gradient(function(x) sum(wrong(x)), x), "element 2",
    class = "joist_value_error"
  )
  # Arguments that are nested lists have cotangents of their structure.
  rule <- function(cotangent, value, p, x) {
    list(list(w = cotangent * 2, deep = list(NULL, cotangent * 3)), cotangent * 5)
  }
  nested <- custom_gradient(function(p, x) sum(p$w * x + p$deep[[2]]), rule)
  p <- list(w = x, deep = list(nv_scalar(7), x))
  for (slopes in list(gradient(nested), jit(gradient(nested)))) {
    found <- slopes(p, x)
    expect_identical(lapply(found[[1]]$deep, as.double), list(0, c(3, 3)))
    expect_identical(as.double(found[[1]]$w), c(2, 2))
    expect_identical(as.double(found[[2]]), c(5, 5))
  }
  for (part in list(1, list(1), list(deep = list(1, 1), w = 1), list(w = 1, deep = list(1)))) {
    other <- custom_gradient(function(p, x) sum(p$w * x), function(...) list(part, NULL))
    expect_error(gradient(other)(p, x), "like argument 1", class = "joist_value_error")
  }
  none <- custom_gradient(function(p, x) sum(p$w * x), function(...) list(NULL, 1))
  expect_identical(as.double(gradient(none)(p, x)[[1]]$w), c(0, 0))
  # A value other than a tensor is refused with and without a trace.
  for (f in list(custom_gradient(list, list), nv_checkpoint(list))) {
    expect_error(f(x), "must return one tensor", class = "joist_value_error")
    expect_error(jit(f)(x), "must return one tensor", class = "joist_value_error")
  }
  expect_identical(custom_gradient(function(x) x * 2, list)(3), 6)
  table <- check_gradient(function(x, y) sum(x * y), x, y = 2, wrt = "x")
  expect_identical(table$argument, c("x", "x"))
  expect_equal(table$gradient, c(2, 2))
})

test_that("what has no gradient is an error that says so", {
  x <- nv_tensor(c(1, 2))
  expect_error(gradient(function(x) x)(x), "shape {2}", class = "joist_shape_error", fixed = TRUE)
  expect_error(gradient(function(x) sum(x > 0))(x), "not i64", class = "joist_dtype_error")
  expect_error(gradient(function(x) list(x))(x), "one float scalar", class = "joist_value_error")
  for (bad in list(1L, TRUE, nv_tensor(1L), nv_tensor(1i))) {
    expect_error(gradient(function(x) sum(x))(bad), "`x`", class = "joist_dtype_error")
  }
  expect_error(gradient(function(x) sum(Re(sqrt(x * 1i))))(x), "complex",
    class = "joist_dtype_error"
  )
  expect_error(gradient(function(x) x, "y"), "no argument y", class = "joist_value_error")
  expect_error(gradient(function(x) x, 2), "no argument 2", class = "joist_value_error")
  expect_error(gradient(function(x) x, NA), "`wrt`", class = "joist_value_error")
  expect_error(gradient(function(x, y) x, "y")(x), "y is not given", class = "joist_value_error")
  expect_error(
    gradient(function(x) if (sum(x) > 0) sum(x))(x), "add `else`",
    class = "joist_trace_error"
  )
  expect_error(
    gradient(function(x) sum(nv_qr(x)$R))(nv_tensor(m)), "fewer rows", class = "joist_value_error"
  )
})

# ---- random functions ----

test_that("gradients of random functions are the same eagerly and in jit(), dtype and flag", {
  for (seed in 1:200) expect_identical(gradient_disagreements(seed), character())
})

# ---- sums at positions ----

test_that("nv_scatter_add() adds in every dtype what base R adds", {
  index <- c(1, 3, 3, 4, 1, 3)
  values <- c(1, 2, 3, 4, 5, 6)
  want <- replace(c(1, 2, 3, 4, 5), c(1, 3, 4), c(1 + 6, 3 + 11, 4 + 4))
  for (d in dtypes_with(c(1:7, 14), setdiff(dtypes(), "bool"))) {
    x <- nv_tensor(c(1, 2, 3, 4, 5), d)
    for (kind in dtypes_with(1:4, setdiff(ints(), "i8"))) {
      got <- nv_scatter_add(x, nv_tensor(index, kind), nv_tensor(values, d))
      expect_identical(dtype(got), dtype(x))
      expect_equal(as.double(Re(got)), want, label = paste(d, kind))
    }
    traced <- jit(function(x, i, v) nv_scatter_add(x, i, v))
    expect_identical(traced(x, nv_tensor(index, "i64"), nv_tensor(values, d)), got)
    if (is_narrow(d)) next # 1L has no dtype in common with narrow floats
    expect_equal(as.double(Re(nv_scatter_add(x, index, 1L))), c(3, 2, 6, 5, 5))
  }
  wrapped <- nv_scatter_add(nv_tensor(250, "ui8"), c(1, 1), nv_tensor(c(3, 4), "ui8"))
  expect_identical(as.double(wrapped), 1)
  complex <- nv_scatter_add(nv_tensor(c(1i, 2)), c(1, 1), nv_tensor(c(1 + 2i, 3i)))
  expect_identical(as.complex(complex), c(1 + 6i, 2 + 0i))
  # Halves: 2048 ones would be lost one by one.
  many <- nv_scatter_add(nv_tensor(2048, "f16"), rep(1, 2048), nv_tensor(1, "f16"))
  expect_identical(as.double(many), 4096)
  for (add in list(nv_scatter_add, jit(function(x, i, v) nv_scatter_add(x, i, v)))) {
    expect_refusal(
      add(x, c(1L, 6L), x[1:2]), "joist_shape_error",
      c("index 6 at position 2 in nv_scatter_add()", "out of range (1 to 5)")
    )
  }
  expect_error(nv_scatter_add(x, 0, x[1]), "index 0 at position 1", class = "joist_shape_error")
  fraction <- expect_refusal(nv_scatter_add(x, 1.5, 1L), "joist_value_error", "1.5 at position 1")
  gathered <- expect_refusal(nv_gather(x, 1.5), "joist_value_error")
  expect_identical(conditionMessage(fraction), conditionMessage(gathered))
  expect_refusal(nv_scatter_add(x, "1", 1L), "joist_value_error", "character vector")
  expect_error(nv_scatter_add(x, c(1, 2), x[1:3]), class = "joist_shape_error")
  expect_error(nv_scatter_add(x, x, x), "integers", class = "joist_dtype_error")
  expect_error(nv_scatter_add(nv_tensor(TRUE), 1, TRUE), class = "joist_dtype_error")
})

test_that("sums at positions have the same bits on any number of threads", {
  set.seed(3)
  n <- 3e5
  x <- nv_tensor(numeric(100), "f32")
  index <- sample(100, n, TRUE)
  values <- round_to(rnorm(n), "f32")
  old <- nv_set_threads(1)
  on.exit(nv_set_threads(old))
  got <- nv_scatter_add(x, index, nv_tensor(values, "f32"))
  nv_set_threads(2)
  expect_identical(nv_scatter_add(x, index, nv_tensor(values, "f32")), got)
  want <- as.vector(rowsum(values, index))
  expect_identical(as.double(got), round_to(want, "f32"))
})

test_that("derivatives with respect to R doubles are as exact as the loss", {
  set.seed(8)
  x <- rnorm(200)
  y <- 1.7 * x - 0.4 + rnorm(200, sd = 1e-3)
  best <- unname(coef(lm(y ~ x)))[2:1]
  near <- best + 1e-7 # where the terms of the gradient nearly cancel
  want <- c(sum(2 * x * (near[1] * x + near[2] - y)), sum(2 * (near[1] * x + near[2] - y)))
  data <- list(x = nv_tensor(x, "f64"), y = nv_tensor(y, "f64"))
  loss <- function(p) sum((p[1] * data$x + p[2] - data$y)^2)
  expect_equal(as_array(gradient(loss)(near)$p), want, tolerance = 1e-7)
  expect_equal(as_array(jit(gradient(loss))(near)$p), want, tolerance = 1e-7)
  expect_equal(as_array(jit(function(p) gradient(loss)(p)$p)(near)), want, tolerance = 1e-7)
  expect_equal(as_array(nv_vjp(loss, list(near), 1)$grad[[1]]), want, tolerance = 1e-7)
  expect_equal(
    as_array(nv_jvp(loss, list(near), list(c(1, 0.1)))$tangent), sum(want * c(1, 0.1)),
    tolerance = 1e-7
  )
  apart <- function(a, b) sum((a * data$x + b - data$y)^2)
  expect_equal(
    unname(vapply(gradient(apart)(near[1], near[2]), as_array, 1)), want, tolerance = 1e-7
  )
  # They yield to the dtype that they meet.
  half <- nv_tensor(c(1, 2), "f16")
  expect_identical(type_of(value_and_gradient(function(p) sum(p * half))(0.1)$value), "f16")
  expect_identical(as_array(gradient(function(p) sum(p * half))(0.1)$p), 3)
  for (rules in promotion_rule_sets()) {
    got <- tryCatch(
      with_promotion(rules, gradient(function(p) sum(p * p))(0.1)$p), joist_error = identity
    )
    if (is_tensor(got)) expect_equal(as_array(got), 0.2, tolerance = 1e-6, info = rules)
  }
})

test_that("a result with one element has a gradient, and a Hessian", {
  x <- nv_tensor(c(1, 2, 3), "f64")
  for (wrap in list(identity, jit)) {
    cubes <- wrap(gradient(function(x) nv_reduce_sum(x^3, drop = FALSE)))
    expect_identical(cubes(x)$x, nv_tensor(c(3, 12, 27), "f64"))
    product <- wrap(gradient(function(x) t(nv_reshape(x, c(3, 1))) %*% nv_reshape(x, c(3, 1))))
    expect_identical(as_array(product(x)$x), c(2, 4, 6))
    second <- wrap(gradient(function(x) {
      gradient(function(x) nv_reduce_sum(x^3, drop = FALSE))(x)$x[2]
    }))
    expect_identical(as_array(second(x)$x), c(0, 12, 0))
    one <- nv_tensor(2, "f64")
    curve <- wrap(gradient(function(x) gradient(function(x) x^3)(x)$x))
    expect_identical(as_array(curve(one)$x), 12)
    both <- wrap(value_and_gradient(function(x) x^2))(one)
    expect_identical(both$value, one^2)
    expect_identical(both$grad$x, 2 * one)
    missing <- wrap(gradient(function(x) nv_reduce_sum(x, drop = FALSE)))(nv_tensor(c(1, NA)))
    expect_identical(as.vector(missing$x), c(NA_real_, NA_real_))
  }
  expect_error(gradient(function(x) x)(x), "one element", class = "joist_shape_error")
})

test_that("counts of 0 have a slope where their probability or mean is 0", {
  slope <- function(f, at) as.vector(gradient(f)(nv_tensor(at, "f64"))[[1L]])
  expect_identical(slope(function(p) nv_dbinom(0, 3, p, log = TRUE), 0), -3)
  expect_identical(slope(function(p) nv_dbinom(2, 2, p, log = TRUE), 1), 2)
  expect_identical(slope(function(m) nv_dpois(0, m, log = TRUE), 0), -1)
  p <- c(0.2, 0.3, 0.5)
  counts <- c(1, 2, 1)
  found <- slope(function(p) nv_dmultinom(counts, p, log = TRUE), p)
  expect_equal(found, counts / p - sum(counts), tolerance = 1e-12)
  expect_equal(
    slope(function(p) nv_dmultinom(counts, p), p),
    dmultinom(counts, prob = p) * (counts / p - sum(counts)),
    tolerance = 1e-12
  )
})
