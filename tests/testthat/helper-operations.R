# The table of operations, and calls of every operation on operands of n elements: for what holds of
# them all, such as the memory they take, the bits that they give on several threads, and what an
# interrupt leaves. Other folders of tests source this file, too.

# A row for each operation of ops.def, which no exported function returns.
operation_table <- function() as.data.frame(.Call(joist:::joist_r_op_names))

# Runs an operation by its name, also one without an R function.
run_operation <- function(...) joist:::apply_operation(...)
# The function of an operation, exported or not.
nv <- function(op) {
  name <- paste0("nv_", op)
  if (name %in% getNamespaceExports("joist")) {
    return(getExportedValue("joist", name))
  }
  function(...) run_operation(op, list(...))
}

# Operations whose results are piecewise constant, not numbers, or random: gradient() ends there.
# test-gradient-functions.R calls each of them.
without_slope <- c(
  "floor_div", "round_div", "sign", "floor", "ceiling", "trunc", "round", "round_away", "is_nan",
  "is_finite", "is_infinite",
  "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not", "bitwise_and", "bitwise_or",
  "bitwise_xor", "bitwise_not", "shift_left", "shift_right_arithmetic", "shift_right_logical",
  "popcnt", "imag", "arg", "bitcast_convert", "iota", "order", "top_k", "match", "searchsorted",
  "tabulate", "pack", "unpack", "argmin", "argmax", "fold_in", "random_bits", "randint", "rbinom",
  "rpois", "rcategorical", "reduce_any", "reduce_all", "poisson_quantile", "binomial_quantile",
  "negative_binomial_quantile", "hypergeometric_share", "hypergeometric_quantile"
)
# Those that gradient() refuses.
without_gradient <- c(
  "while", "rgamma_slope", "incomplete_gamma_slope", "incomplete_beta_slopes"
)

# Each operation is called in a dtype that it is made for, or, given a dtype, in that or in what
# joist makes of it, or it is refused. Floats are between 0.1 and 0.9, whole numbers between 11 and
# 90.
#
# list(calls = , operands = ): functions without arguments by the names of operations, and what
# these are called on.
operation_calls <- function(n, dtype = NULL) {
  table <- operation_table()
  given <- !is.null(dtype)
  type <- if (given) dtype else "f32"
  # What has `x` of (0, 1) in its place.
  make <- function(x, dtype = type) {
    nv_convert(nv_tensor(switch(substr(dtype, 1, 1),
      f = , b = if (dtype == "bool") x > 0.5 else x,
      c = complex(real = x, imaginary = rev(x)),
      floor(100 * x) + 1
    )), dtype)
  }
  scalar <- function(x) nv_reshape(make(x), integer())
  has_order <- !startsWith(type, "c")

  side <- floor(sqrt(n))
  v <- make(runif(n, 0.1, 0.9))
  w <- make(runif(n, 0.1, 0.9))
  low <- scalar(0.2)
  high <- scalar(0.8)
  i <- nv_tensor(sample(n), "i32")
  j <- nv_tensor(rep_len(1:4, n), "i32")
  b <- nv_tensor(runif(n) > 0.5)
  numbers <- if (given) list(v, w) else list(i, j)
  sorted <- if (has_order) nv_sort(v)
  m <- nv_reshape(v[seq_len(side^2)], c(side, side))
  key <- nv_key(1)
  drawn <- if (given) dtype
  # What LAPACK decomposes has an eighth of the rows, a 64th of the bytes: more would take minutes.
  few <- side %/% 8
  small <- m[1:few, 1:few] + nv_eye(few, type)
  definite <- nv_crossprod(small)
  inside <- 2:(side - 1)

  # Operations without an R function, on a 64th of the elements: a quantile takes microseconds.
  some <- list(v[seq_len(n / 64)], w[seq_len(n / 64)])
  core <- function(op, operands = some, attributes = list()) {
    force(op)
    force(operands)
    function() run_operation(op, operands, attributes)
  }
  # Blocks of Q8_0, whose code is 8, and numbers that make such.
  lines <- nv_reshape(v[rep_len(seq_len(n), 1024)], c(128, 8))
  blocks <- nv_fill(0L, c(4 * 34, 8), "ui8")
  minus <- if (substr(type, 1, 1) %in% c("b", "u")) identity else `-`

  # Sixteen signals of sixteen channels.
  lines_of_all <- nv_reshape(v[seq_len(n %/% 256 * 256)], c(16, 16, n %/% 256))
  taps <- nv_reshape(w[rep_len(1:4, 768)], c(16, 16, 3))

  counted <- jit(function(n) {
    for (k in seq_len(n)) y <- v
    y
  })

  own <- list(
    log_beta = core("log_beta"), log_poisson = core("log_poisson"),
    log_binomial = core("log_binomial", some[c(1, 2, 2)]),
    incomplete_gamma = core("incomplete_gamma"),
    incomplete_beta = core("incomplete_beta", some[c(1, 2, 2)]),
    incomplete_gamma_slope = core("incomplete_gamma_slope"),
    incomplete_beta_slopes = core("incomplete_beta_slopes", some[c(1, 2, 2)]),
    inverse_gamma = core("inverse_gamma", list(some[[1]], minus(some[[2]]))),
    inverse_beta = core("inverse_beta", list(some[[1]], some[[2]], minus(some[[2]]))),
    poisson_quantile = core("poisson_quantile", list(some[[1]], minus(some[[2]]))),
    binomial_quantile = core("binomial_quantile", list(some[[1]], some[[2]], minus(some[[2]]))),
    negative_binomial_quantile = core(
      "negative_binomial_quantile", list(some[[1]], some[[2]], minus(some[[2]]))
    ),
    hypergeometric_share = core("hypergeometric_share", some[c(1, 1, 1, 2)]),
    hypergeometric_quantile = core(
      "hypergeometric_quantile", list(some[[1]], some[[1]], some[[1]], minus(some[[2]]))
    ),
    ifelse = function() nv_ifelse(b, v, w), clamp = function() nv_clamp(low, v, high),
    convert = function() nv_convert(v, "f64"),
    bitcast_convert = function() nv_bitcast_convert(v, if (given) dtype else "i32"),
    broadcast_to = function() nv_broadcast_to(m[, 1, drop = FALSE], c(side, side)),
    reshape = function() nv_reshape(v, c(n %/% 4, 4)),
    iota = function() nv_iota(1L, type, c(2, n %/% 2), start = 0L),
    take = function() v[i],
    put = function() {
      v[i] <- w
      v
    },
    scatter_add = function() nv_scatter_add(v, i, w),
    scatter_min = function() nv_scatter_min(v, i, w),
    scatter_max = function() nv_scatter_max(v, i, w),
    scatter_mul = function() nv_scatter_mul(v, i, w), concatenate = function() c(v, w),
    transpose = function() t(m), slice = function() m[inside, inside],
    update = function() {
      m[inside, inside] <- low
      m
    },
    pad = function() nv_pad(v, low, 1, 1), gather = function() nv_gather(v, i),
    alias = function() nv_convert(v, type), print = function() nv_print(v),
    require = function() counted(nv_scalar(2L)),
    sort = function() nv_sort(v),
    order = function() nv_argsort(v), top_k = function() nv_top_k(v, 10),
    take_along = function() nv_take_along(v, i, 1L),
    match = function() nv_match(numbers[[1]], numbers[[2]]),
    searchsorted = function() nv_searchsorted(sorted, w),
    tabulate = function() nv_tabulate(numbers[[2]], if (given) 100 else 4),
    matmul = function() nv_matmul(m, m),
    pack = core("pack", list(lines), list(k = 8, dtype = "ui8")),
    unpack = core("unpack", list(blocks), list(k = 8, dtype = "f32")),
    packed_product = core("packed_product", list(blocks, lines), list(k = 8, dtype = "f32")),
    chol = function() nv_chol(definite),
    solve = function() nv_solve(small, small), inverse = function() nv_inv(small),
    triangular_solve = function() nv_triangular_solve(small, small, lower = FALSE),
    det = function() nv_det(small),
    determinant = function() nv_determinant(small), lu = function() nv_lu(small),
    qr = function() nv_qr(small), svd = function() nv_svd(small),
    singular_values = core("singular_values", list(small)),
    eigh = function() nv_eigh(definite), eig = function() nv_eig(small),
    eigvals = function() nv_eigvals(small),
    conv = function() nv_conv(lines_of_all, taps, padding = 1),
    conv_input = function() nv_conv(lines_of_all, taps, padding = 1, transposed = TRUE),
    conv_kernel = core(
      "conv_kernel", list(lines_of_all, lines_of_all), list(step = 1, low = 1, k = 1, shape = 3)
    ),
    fft = function() nv_fft(v), rfft = function() nv_rfft(v), irfft = function() nv_irfft(v),
    argmin = function() nv_argmin(v), argmax = function() nv_argmax(m, 1L),
    fold_in = function() nv_fold_in(key, 1L),
    random_bits = function() nv_random_bits(n, if (given) dtype else "ui32", key = key),
    runif = function() nv_runif(n, dtype = drawn, key = key),
    rnorm = function() nv_rnorm(n, dtype = drawn, key = key),
    randint = function() nv_randint(n, 0L, 1L, dtype = drawn, key = key),
    rbinom = function() nv_rbinom(n, 1, 0.5, dtype = drawn, key = key),
    rexp = function() nv_rexp(n, v, dtype = drawn, key = key),
    rgamma = function() nv_rgamma(n, v, w, dtype = drawn, key = key),
    rgamma_slope = core("rgamma_slope", list(v, w)),
    rpois = function() nv_rpois(n, if (given) 5 else v, dtype = drawn, key = key),
    rcategorical = function() nv_rcategorical(n, c(1, 2, 3), dtype = drawn, key = key),
    "while" = function() {
      nv_while(list(0L, v), function(s) s[[1]] < 2L, function(s) list(s[[1]] + 1L, s[[2]] + w))
    },
    "for" = function() nv_for(2L, v, function(i, v) v + w),
    scan = function() nv_scan(m[1, ], m, function(s, x) list(s + x, NULL)),
    "if" = function() nv_if(b[[1]], v, w)
  )

  # Of the others, one operand or two of a kind that they compute in.
  call_of <- function(row) {
    f <- nv(row$name)
    kinds <- strsplit(row$kinds, " ")[[1]]
    has <- function(kind) given || kind %in% kinds
    operands <- if (has("float")) list(v, w) else if (has("int")) list(i, j) else list(b, b)
    along <- startsWith(row$name, "cum")
    operands <- if (along) list(operands[[1]], 1L) else operands[seq_len(row$least)]
    function() do.call(f, operands)
  }
  names <- table$name
  calls <- lapply(seq_along(names), function(k) {
    if (is.null(own[[names[k]]])) call_of(table[k, ]) else own[[names[k]]]
  })
  names(calls) <- names
  operands <- Filter(is_tensor, as.list(environment()))
  list(calls = calls, operands = operands[sort(names(operands))])
}
