# Gradients beside those of JAX: of every differentiable operation on shapes of several ranks, and
# of random programs, in f32 and f64. They agree within a number of units in the last place of the
# largest element of a gradient, which is stated below, since sums are in another order.
#
#   Rscript tests/gradients/programs.R [programs] [seed] [shapes]
#
# Needs a python with JAX, which JOIST_JAX_PYTHON names; without, it says so and exits with status 77.

suppressPackageStartupMessages(library(joist))

arguments <- commandArgs(TRUE)
program_count <- if (length(arguments) > 0L) as.integer(arguments[1L]) else 200L
set.seed(if (length(arguments) > 1L) as.integer(arguments[2L]) else 1L)
folder <- Sys.getenv("JOIST_GRADIENT_TESTS", "tests/gradients")
python <- Sys.getenv("JOIST_JAX_PYTHON", Sys.which("python3"))
if (!nzchar(python) || system2(python, c("-c", shQuote("import jax")), FALSE, FALSE) != 0L) {
  cat("note: no python with JAX\n")
  quit("no", status = 77L)
}

# Units in the last place of the largest element of a gradient, or of 1 where that is less.
allowed <- c(operation = 64, decomposition = 4096, program = 4096)

sum_weighed <- function(x) {
  x <- nv_flatten(x)
  sum(x * nv_tensor(cos(seq_len(length(x)) * 1.3) + 0.2, dtype(x)))
}

# ---- operations: R and Python code of `out`, and how the inputs x, y are made ----

shapes <- list(
  integer(), 1L, 2L, 7L, 33L, c(1L, 1L), c(1L, 5L), c(5L, 1L), c(2L, 3L), c(4L, 4L), c(3L, 17L),
  c(64L, 3L), c(1L, 1L, 1L), c(2L, 3L, 4L), c(4L, 1L, 3L), c(1L, 6L, 2L), c(5L, 5L, 5L),
  c(2L, 2L, 2L, 2L), c(3L, 1L, 2L, 4L), c(1L, 3L, 3L, 2L)
)
if (length(arguments) > 2L) shapes <- sample(shapes, as.integer(arguments[3L]))
anywhere <- function(n) runif(n, -0.95, 0.95) + 0.01
positive <- function(n) runif(n, 0.2, 3)
beyond <- function(n) runif(n, 1.2, 4)

elementwise <- list(
  list("-x", "-x", anywhere), list("abs(x)", "jnp.abs(x)", anywhere),
  list("exp(x)", "jnp.exp(x)", anywhere), list("expm1(x)", "jnp.expm1(x)", anywhere),
  list("log(x)", "jnp.log(x)", positive), list("log2(x)", "jnp.log2(x)", positive),
  list("log10(x)", "jnp.log10(x)", positive), list("log1p(x)", "jnp.log1p(x)", positive),
  list("sqrt(x)", "jnp.sqrt(x)", positive), list("nv_rsqrt(x)", "jax.lax.rsqrt(x)", positive),
  list("nv_cbrt(x)", "jnp.cbrt(x)", positive), list("nv_logistic(x)", "jax.nn.sigmoid(x)", anywhere),
  list("sin(x)", "jnp.sin(x)", anywhere), list("cos(x)", "jnp.cos(x)", anywhere),
  list("tan(x)", "jnp.tan(x)", anywhere), list("asin(x)", "jnp.arcsin(x)", anywhere),
  list("acos(x)", "jnp.arccos(x)", anywhere), list("atan(x)", "jnp.arctan(x)", anywhere),
  list("sinh(x)", "jnp.sinh(x)", anywhere), list("cosh(x)", "jnp.cosh(x)", anywhere),
  list("tanh(x)", "jnp.tanh(x)", anywhere), list("asinh(x)", "jnp.arcsinh(x)", anywhere),
  list("acosh(x)", "jnp.arccosh(x)", beyond), list("atanh(x)", "jnp.arctanh(x)", anywhere),
  list("nv_erf(x)", "special.erf(x)", anywhere), list("nv_erfc(x)", "special.erfc(x)", anywhere),
  list("gamma(x)", "special.gamma(x)", positive), list("lgamma(x)", "special.gammaln(x)", positive),
  list("x^3L", "x ** 3", anywhere), list("x + y", "x + y", anywhere), list("x - y", "x - y", anywhere),
  list("x * y", "x * y", anywhere), list("x / y", "x / y", positive), list("x^y", "x ** y", positive),
  list("x %% y", "jnp.mod(x, y)", positive),
  list("nv_remainder(x, y)", "jax.lax.rem(x, y)", positive),
  list("nv_min(x, y)", "jnp.minimum(x, y)", anywhere),
  list("nv_max(x, y)", "jnp.maximum(x, y)", anywhere),
  list("nv_max(x, x)", "jnp.maximum(x, x)", anywhere),
  list("nv_atan2(x, y)", "jnp.arctan2(x, y)", anywhere),
  list("nv_clamp(-0.5, x, 0.5)", "jnp.clip(x, -0.5, 0.5)", anywhere),
  list("nv_ifelse(x > 0, x * y, y)", "jnp.where(x > 0, x * y, y)", anywhere),
  list("nv_reduce_sum(x)", "jnp.sum(x)", anywhere), list("nv_mean(x)", "jnp.mean(x)", anywhere),
  list("nv_reduce_prod(x)", "jnp.prod(x)", beyond),
  list("nv_reduce_min(x)", "jnp.min(x)", anywhere), list("nv_reduce_max(x)", "jnp.max(x)", anywhere),
  list("nv_flatten(x)^2", "jnp.ravel(x, order='F') ** 2", anywhere),
  list("nv_cumsum(nv_flatten(x))", "jnp.cumsum(jnp.ravel(x, order='F'))", anywhere),
  list("nv_cumprod(nv_flatten(x))", "jnp.cumprod(jnp.ravel(x, order='F'))", anywhere),
  list("nv_cummax(nv_flatten(x))", "jax.lax.cummax(jnp.ravel(x, order='F'))", anywhere),
  list("nv_cummin(nv_flatten(x))", "jax.lax.cummin(jnp.ravel(x, order='F'))", anywhere),
  list("nv_sort(nv_flatten(x))^2", "jnp.sort(jnp.ravel(x, order='F')) ** 2", anywhere),
  list("rev(x)", "jnp.ravel(x, order='F')[::-1]", anywhere)
)

matrices <- list(
  list("x %*% y", "x @ y"), list("nv_crossprod(x, y)", "x.T @ y"), list("nv_tcrossprod(x, y)", "x @ y.T"),
  list("nv_solve(x, y)", "jnp.linalg.solve(x, y)"), list("nv_inverse(x)", "jnp.linalg.inv(x)"),
  list("nv_det(x)", "jnp.linalg.det(x)"),
  list("nv_determinant(x)$modulus", "jnp.linalg.slogdet(x)[1]"),
  list("nv_triangular_solve(x, y)", "solve_triangle(x, y, False, False)"),
  list("nv_triangular_solve(x, y, TRUE, TRUE)", "solve_triangle(x, y, True, True)"),
  list("nv_chol(nv_crossprod(x), TRUE)", "jnp.linalg.cholesky(x.T @ x)"),
  list("nv_qr(x)$R^2", "jnp.linalg.qr(x)[1] ** 2"), list("nv_qr(x)$Q^2", "jnp.linalg.qr(x)[0] ** 2"),
  list("nv_eigh(x + t(x))$values", "jnp.linalg.eigh(x + x.T)[0]"),
  list("nv_eigh(x + t(x))$vectors^2", "jnp.linalg.eigh(x + x.T)[1] ** 2"),
  list("nv_svd(x)$d", "jnp.linalg.svd(x, full_matrices=False)[1]"),
  list("nv_svd(x)$u^2", "jnp.linalg.svd(x, full_matrices=False)[0] ** 2"),
  list("nv_diag(nv_diag(x))", "jnp.diag(jnp.diag(x))"), list("nv_tril(x)", "jnp.tril(x)"),
  list("t(x)[2:1, ]", "x.T[1::-1, :]"), list("x[-1, c(1, 1)]", "x[1:, jnp.array([0, 0])]"),
  list("nv_gather(x, c(2, 1, 2), 2)", "x[:, jnp.array([1, 0, 1])]"),
  list("nv_concatenate(x, y, dimension = 2)", "jnp.concatenate([x, y], 1)"),
  list("nv_pad(x, 1, 2, 0.5, 1)", "jax.lax.pad(x, jnp.asarray(0.5, x.dtype), [(1, 2, 1)] * 2)"),
  list("nv_cumprod(x, 1)", "jnp.cumprod(x, 0)"), list("nv_cummax(x, 2)", "jax.lax.cummax(x, 1)"),
  list("nv_sort(x, 1)^2", "jnp.sort(x, 0) ** 2"),
  list("nv_reduce_sum(x, 1)^2", "jnp.sum(x, 0) ** 2"), list("nv_mean(x, 2)^2", "jnp.mean(x, 1) ** 2"),
  list("nv_reduce_prod(x, 1)", "jnp.prod(x, 0)"), list("nv_reduce_max(x, 2)", "jnp.max(x, 1)"),
  list("exp(x) / nv_reduce_sum(exp(x), 1, drop = FALSE)", "jax.nn.softmax(x, 0)")
)

# R's arrays have a dimension at least: scalars are marked by none.
values_of <- function(make, extents) {
  x <- make(prod(extents))
  if (length(extents) > 0L) array(x, extents) else structure(x, scalar = TRUE)
}

programs <- list()
for (dtype in c("f32", "f64")) {
  for (one in elementwise) {
    for (extents in shapes) {
      inputs <- list(x = values_of(one[[3L]], extents), y = values_of(one[[3L]], extents))
      programs[[length(programs) + 1L]] <- list(
        kind = "operation", dtype = dtype, inputs = inputs, r = sprintf("out <- sum_weighed(%s)", one[[1L]]),
        python = sprintf("out = sum_weighed(%s)", one[[2L]])
      )
    }
  }
  for (one in matrices) {
    for (n in c(2L, 3L, 4L, 6L)) {
      inputs <- list(x = values_of(anywhere, c(n, n)) + 3 * diag(n), y = values_of(anywhere, c(n, n)))
      programs[[length(programs) + 1L]] <- list(
        kind = "decomposition", dtype = dtype, inputs = inputs,
        r = sprintf("out <- sum_weighed(%s)", one[[1L]]),
        python = sprintf("out = sum_weighed(%s)", one[[2L]])
      )
    }
  }
}

# ---- random programs on 3 x 3 matrices ----

steps <- list(
  c("%s + %s", "%s + %s"), c("%s - %s", "%s - %s"), c("%s * %s", "%s * %s"),
  c("tanh(%s)", "jnp.tanh(%s)"), c("sin(%s)", "jnp.sin(%s)"), c("nv_logistic(%s)", "jax.nn.sigmoid(%s)"),
  c("(%s %%*%% %s) / 3", "(%s @ %s) / 3"), c("t(%s)", "%s.T"), c("exp(-abs(%s))", "jnp.exp(-jnp.abs(%s))"),
  c("nv_max(%s, %s)", "jnp.maximum(%s, %s)"), c("%s / (1 + %s^2L)", "%s / (1 + %s ** 2)"),
  c("nv_ifelse(%1$s > 0.1, %1$s, %2$s)", "jnp.where(%1$s > 0.1, %1$s, %2$s)"),
  c("nv_cumsum(%s, 1) / 3", "jnp.cumsum(%s, 0) / 3"), c("sqrt(1 + %s^2L)", "jnp.sqrt(1 + %s ** 2)"),
  c("%s[c(3, 1, 1), ]", "%s[jnp.array([2, 0, 0]), :]"), c("%s[, 3:1]", "%s[:, ::-1]"),
  c("%s - nv_mean(%s, 2, drop = FALSE)", "%s - jnp.mean(%s, 1, keepdims=True)"),
  c("nv_atan2(%s, 1 + %s^2L)", "jnp.arctan2(%s, 1 + %s ** 2)")
)
for (k in seq_len(program_count)) {
  names <- c("x", "y")
  r <- python_lines <- character()
  for (n in seq_len(sample(3:29, 1L))) {
    step <- steps[[sample(length(steps), 1L)]]
    used <- c(sample(tail(names, 5L), 1L), sample(names, 1L))
    name <- paste0("v", n)
    filled <- vapply(step, function(text) suppressWarnings(sprintf(text, used[1L], used[2L])), "")
    r <- c(r, paste(name, "<-", filled[1L]))
    python_lines <- c(python_lines, paste(name, "=", filled[2L]))
    names <- c(names, name)
  }
  programs[[length(programs) + 1L]] <- list(
    kind = "program", dtype = if (k %% 2 == 0) "f32" else "f64",
    inputs = list(x = values_of(anywhere, c(3L, 3L)), y = values_of(anywhere, c(3L, 3L))),
    r = c(r, sprintf("out <- sum_weighed(%s)", name)),
    python = c(python_lines, sprintf("out = sum_weighed(%s)", name))
  )
}

# ---- both sides ----

extents_of <- function(x) if (is.null(attr(x, "scalar"))) dim(x) else integer()
tensor_of <- function(x, dtype) nv_tensor(as.vector(x), dtype, extents_of(x))

text <- unlist(lapply(programs, function(one) {
  inputs <- Map(function(name, x) {
    exact <- as.double(tensor_of(x, one$dtype))
    paste(c("I", name, paste(extents_of(x), collapse = ","), sprintf("%a", exact)), collapse = " ")
  }, names(one$inputs), one$inputs)
  c(paste("P", if (one$dtype == "f32") "float32" else "float64"), unlist(inputs), paste("S", one$python), "E")
}))
asked <- tempfile()
answered <- tempfile()
writeLines(text, asked)
status <- system2(python, c(file.path(folder, "reference.py"), asked, answered))
stopifnot(status == 0L)
answers <- strsplit(readLines(answered), " ", fixed = TRUE)

at <- 0L
failed <- 0L
worst <- allowed * 0
for (one in programs) {
  f <- eval(parse(text = c("function(x, y) {", one$r, "out", "}")))
  tensors <- lapply(one$inputs, tensor_of, one$dtype)
  got <- tryCatch(do.call(gradient(f), tensors), error = identity)
  for (name in names(tensors)) {
    at <- at + 1L
    label <- paste0(one$dtype, " ", paste(one$r, collapse = "; "), " by ", name)
    if (inherits(got, "error") || identical(answers[[at]], "error")) {
      cat("ERROR", label, if (inherits(got, "error")) conditionMessage(got) else "of JAX", "\n")
      failed <- failed + 1L
      next
    }
    want <- as.numeric(answers[[at]])
    own <- as.double(got[[name]])
    unit <- (if (one$dtype == "f32") 2^-23 else 2^-52) * max(1, abs(want))
    apart <- if (length(own) == length(want)) max(abs(own - want)) / unit else Inf
    if (!is.finite(apart) || apart > allowed[[one$kind]]) {
      cat("APART", format(apart), label, "\n")
      failed <- failed + 1L
    }
    if (is.finite(apart)) worst[[one$kind]] <- max(worst[[one$kind]], apart)
  }
}
cat(length(programs), "programs,", failed, "gradients apart; largest distance in units:\n")
print(worst)
quit("no", status = as.integer(failed > 0L))
