# How much memory an operation needs beside its operands and its results: no more than the scratch
# that is written here, in units of the operand of 16 MB.

skip_on_cran()
skip_if_not(file.exists("/proc/self/clear_refs"), "no figures of memory")

# The scratch allowed: copies of the operand that a loop changes or takes apart, keys and positions
# of what is sorted.
allowed <- c(
  scatter_add = 4.5, order = 2.5, searchsorted = 2.4, sort = 1.5, scan = 1.5, "for" = 1.4,
  "while" = 1.4
)
usual <- 0.35

# In a fresh R, where a collection is short: the scratch of each operation.
scratch_of_all <- function() {
  library(joist)
  op_table <- as.data.frame(.Call(joist:::joist_r_op_names))
  n <- 4e6
  side <- 2000

  status_bytes <- function(field) {
    line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
    1024 * as.numeric(gsub("[^0-9]", "", line))
  }

  bytes_of_tensors <- function(x) {
    if (is_tensor(x)) return(length(x) * switch(format(dtype(x)),
      bool = , i8 = , ui8 = 1, i16 = , ui16 = , f16 = , bf16 = 2, i32 = , ui32 = , f32 = 4,
      c128 = 16, 8
    ))
    if (is.list(x)) sum(vapply(x, bytes_of_tensors, 0)) else 0
  }

  # Bytes beyond what was there before and what the call gives, in units of the operand.
  scratch_of <- function(call) {
    call() # what is made once
    gc()
    nv_trim_memory()
    writeLines("5", "/proc/self/clear_refs")
    before <- status_bytes("VmRSS")
    result <- call()
    (status_bytes("VmHWM") - before - bytes_of_tensors(result)) / (4 * n)
  }

  set.seed(1)
  v <- nv_tensor(runif(n, 0.1, 0.9), "f32")
  w <- nv_tensor(runif(n, 0.1, 0.9), "f32")
  i <- nv_tensor(sample(n), "i32")
  j <- nv_tensor(rep(1:4, n / 4), "i32")
  b <- v > 0.5
  sorted <- nv_sort(v)
  m <- nv_reshape(v, c(side, side))
  key <- nv_key(1)
  # What LAPACK decomposes has an eighth of the rows, a 64th of the bytes: more would take minutes.
  few <- side / 8
  small <- m[1:few, 1:few] + nv_eye(few, "f32")
  definite <- nv_crossprod(small)

  # What has no function of its own, of a 64th of the elements: a quantile takes microseconds.
  some <- list(v[seq_len(n / 64)], w[seq_len(n / 64)])
  core <- function(op, operands = some) {
    force(op)
    force(operands)
    function() joist:::apply_operation(op, operands)
  }

  calls <- list(
    log_beta = core("log_beta"), log_poisson = core("log_poisson"),
    log_binomial = core("log_binomial", some[c(1, 2, 2)]),
    incomplete_gamma = core("incomplete_gamma"),
    incomplete_beta = core("incomplete_beta", some[c(1, 2, 2)]),
    inverse_gamma = core("inverse_gamma", list(some[[1]], -some[[2]])),
    inverse_beta = core("inverse_beta", list(some[[1]], some[[2]], -some[[2]])),
    poisson_quantile = core("poisson_quantile", list(some[[1]], -some[[2]])),
    binomial_quantile = core("binomial_quantile", list(some[[1]], some[[2]], -some[[2]])),
    ifelse = function() nv_ifelse(b, v, w), clamp = function() nv_clamp(0.2, v, 0.8),
    convert = function() nv_convert(v, "f64"),
    bitcast_convert = function() nv_bitcast_convert(v, "i32"),
    broadcast_to = function() nv_broadcast_to(m[, 1, drop = FALSE], c(side, side)),
    reshape = function() nv_reshape(v, c(side, side)), iota = function() nv_iota(1L, "f32", n),
    take = function() v[i],
    put = function() {
      v[i] <- w
      v
    },
    scatter_add = function() nv_scatter_add(v, i, w), concatenate = function() c(v, w),
    transpose = function() t(m), slice = function() m[2:1999, 2:1999],
    update = function() {
      m[2:1999, 2:1999] <- 0
      m
    },
    pad = function() nv_pad(v, 1, 1, 0), gather = function() nv_gather(v, i),
    alias = function() nv_convert(v, "f32"), sort = function() nv_sort(v),
    order = function() nv_order(v), top_k = function() nv_top_k(v, 10),
    take_along = function() nv_take_along(v, i, 1L), match = function() nv_match(i, j),
    searchsorted = function() nv_searchsorted(sorted, w), tabulate = function() nv_tabulate(j, 4),
    matmul = function() nv_matmul(m, m), chol = function() nv_chol(definite),
    solve = function() nv_solve(small, small), inverse = function() nv_inverse(small),
    triangular_solve = function() nv_triangular_solve(small, small), det = function() nv_det(small),
    determinant = function() nv_determinant(small), qr = function() nv_qr(small),
    svd = function() nv_svd(small), eigh = function() nv_eigh(definite),
    argmin = function() nv_argmin(v), argmax = function() nv_argmax(m, 1L),
    fold_in = function() nv_fold_in(key, 1L),
    random_bits = function() nv_random_bits(n, "ui32", key),
    runif = function() nv_runif(n, key = key), rnorm = function() nv_rnorm(n, key = key),
    randint = function() nv_randint(n, 1L, 6L, key = key),
    rbinom = function() nv_rbinom(n, 10, 0.5, key = key),
    rexp = function() nv_rexp(n, v, key = key), rgamma = function() nv_rgamma(n, v, w, key = key),
    rgamma_slope = function() joist:::apply_operation("rgamma_slope", list(v, w)),
    rpois = function() nv_rpois(n, v, key = key),
    rcategorical = function() nv_rcategorical(n, c(1, 2, 3), key = key),
    "while" = function() nv_while(v, function(v) nv_reduce_max(v) < 2, function(v) v + 1),
    "for" = function() nv_for(2L, v, function(i, v) v + w),
    scan = function() nv_scan(m[1, ], m, function(s, x) list(s + x, NULL)),
    "if" = function() nv_if(sum(v) > 0, v, w)
  )

  nv <- function(op) getExportedValue("joist", paste0("nv_", op))
  # Of the others, one operand or two of a kind that they compute in.
  call_of <- function(row) {
    f <- nv(row$name)
    kinds <- strsplit(row$kinds, " ")[[1]]
    has <- function(kind) kind %in% kinds
    operands <- if (has("float")) list(v, w) else if (has("int")) list(i, j) else list(b, b)
    needed <- seq_len(row$least)
    operands <- if (startsWith(row$name, "cum")) list(operands[[1]], 1L) else operands[needed]
    function() do.call(f, operands)
  }

  list(scratch = vapply(op_table$name, function(op) {
    own <- calls[[op]]
    scratch_of(if (is.null(own)) call_of(op_table[match(op, op_table$name), ]) else own)
  }, 0))
}

test_that("an operation needs no more memory than its operands, its results and a stated scratch", {
  scratch <- in_fresh_r(scratch_of_all)$scratch
  expect_gt(length(scratch), 140)
  for (op in names(scratch)) {
    most <- if (op %in% names(allowed)) allowed[[op]] else usual
    expect_lt(scratch[[op]], most, label = paste("the scratch of", op))
  }
})
