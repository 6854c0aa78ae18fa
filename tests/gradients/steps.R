# The operations that have a derivative, in joist's words and in JAX's. A step has
#   domains  where its operands are from, as in `domains` below
#   code     a function of the shapes of its operands, which gives the text of both, with operands
#            {a}, {b}, {c}; NULL for shapes that it is not for
#   like     operands' shapes, of any shape
#   ok       whether values are far enough from points without a derivative
#   bound    how far a gradient may be from JAX's, in units in the last place: of each element
#            where `each`, otherwise of the largest one
#   covers   the operations whose rules it needs

# How numbers come into the domain of an operation: in random programs by this code, elsewhere they
# are drawn there.
domains <- list(
  any = list(r = "%s", py = "%s", draw = function(n) runif(n, -2, 2)),
  positive = list(
    r = "(sin(%s) * 0.9 + 1.5)", py = "(jnp.sin(%s) * 0.9 + 1.5)",
    draw = function(n) runif(n, 0.2, 3)
  ),
  unit = list(
    r = "(sin(%s) * 0.9)", py = "(jnp.sin(%s) * 0.9)", draw = function(n) runif(n, -0.95, 0.95)
  ),
  above = list(
    r = "(sin(%s) + 2.5)", py = "(jnp.sin(%s) + 2.5)", draw = function(n) runif(n, 1.2, 4)
  ),
  # Square matrices with eigenvalues apart from each other and from zero.
  square = list(r = "ladder(%s)", py = "ladder(%s)", draw = NULL)
)

same <- function(operands) function(extents) rep(list(extents), operands)
far <- function(x) length(x) == 0L || min(abs(x)) > 0.02
apart <- function(x, y) far(as.vector(x) - as.vector(y))
spaced <- function(x) length(x) < 2L || min(diff(sort(as.vector(x)))) > 1e-3

step <- function(r, py, domains = "any", covers, code = NULL, like = NULL, ok = NULL, bound = 8,
                 each = FALSE) {
  if (is.null(code)) code <- function(...) list(r = r, py = py)
  if (is.null(like)) like <- same(length(domains))
  if (is.null(ok)) ok <- function(...) TRUE
  list(
    domains = domains, covers = covers, code = code, like = like, ok = ok, bound = bound,
    each = each
  )
}

# Elementwise, of one operand.
unary <- function(op, py, domain = "any", bound = 8, ok = NULL, r = paste0("nv_", op, "({a})")) {
  step(r, py, domain, op, ok = ok, bound = bound, each = TRUE)
}

fits <- function(a, b) {
  length(a) == 0L || length(b) == 0L ||
    length(a) == length(b) && all(a == b | a == 1L | b == 1L)
}

binary <- function(op, r, py, domains = c("any", "any"), ok = NULL, bound = 8) {
  step(
    domains = domains, covers = op, ok = ok, bound = bound,
    code = function(a, b) if (fits(a, b)) list(r = r, py = py)
  )
}

# Along a dim drawn for each call; in Python dims count from 0.
along <- function(op, r, py, ok = NULL, bound = 8, domain = "any") {
  step(
    domains = domain, covers = op, ok = ok, bound = bound,
    code = function(a) {
      if (length(a) > 0L && all(a > 0L)) {
        d <- sample(length(a), 1L)
        list(r = gsub("DIM", d, r), py = gsub("DIM", d - 1L, py))
      }
    },
    like = function(extents) list(if (length(extents) == 0L) 1L else pmax(extents, 1L))
  )
}

# Matrices, in the first two dims. `n` rows, `m` columns of any shape.
rows_of <- function(e) max(1L, e[1L], na.rm = TRUE)
columns_of <- function(e) max(1L, e[2L], na.rm = TRUE)
batch_of <- function(e) e[-(1:2)]
matrices <- function(e) c(rows_of(e), columns_of(e), batch_of(e))
squares <- function(e) c(rows_of(e), rows_of(e), batch_of(e))
is_square <- function(a) length(a) >= 2L && a[1L] == a[2L] && all(a > 0L)

product <- function(r, py, shape_b, fit) {
  step(
    domains = c("any", "any"), covers = "matmul",
    code = function(a, b) {
      good <- length(a) >= 2L && length(b) == length(a) && all(a > 0L) && all(b > 0L) &&
        identical(batch_of(a), batch_of(b)) && fit(a, b)
      if (good) list(r = r, py = py)
    },
    like = function(e) list(matrices(e), c(shape_b(matrices(e)), batch_of(e)))
  )
}

# Of matrices with so many `rows` at least: what one of a single element gives may be constant.
of_square <- function(op, r, py, bound, operands = 1L, rows = 1L) {
  step(
    domains = c("square", rep("any", operands - 1L)), covers = op, bound = bound,
    code = function(a, b) {
      if (!is_square(a) || a[1L] < rows) return(NULL)
      if (operands == 2L && (length(b) != length(a) || b[1L] != a[1L] || any(b == 0L) ||
            !identical(batch_of(a), batch_of(b)))) {
        return(NULL)
      }
      list(r = r, py = py)
    },
    like = function(e) {
      square <- squares(e)
      square[1:2] <- pmax(square[1:2], rows)
      list(square, c(rows_of(e), columns_of(e), batch_of(e)))[seq_len(operands)]
    }
  )
}

vector_text <- function(x, by = ", ") paste(x, collapse = by)
python_tuple <- function(x) {
  sprintf("(%s)", if (length(x) == 1L) paste0(x, ",") else paste(x, collapse = ", "))
}
r_vector <- function(x) sprintf("c(%s)", paste0(x, collapse = ", "))
not_empty <- function(e) if (length(e) == 0L) 1L else pmax(e, 1L)

# ---- the steps ----

arithmetic <- list(
  add = binary("add", "({a} + {b})", "({a} + {b})"),
  sub = binary("sub", "({a} - {b})", "({a} - {b})"),
  mul = binary("mul", "({a} * {b})", "({a} * {b})"),
  div = binary("div", "({a} / {b})", "({a} / {b})", c("any", "positive")),
  pow = binary("pow", "({a}^{b})", "({a}**{b})", c("positive", "any"), bound = 16),
  square = step("{a}^2L", "{a}**2", covers = "pow", each = TRUE),
  number = step("({a} * 0.75 + 0.1)", "({a} * 0.75 + 0.1)", covers = "mul", each = TRUE),
  mod = binary("mod", "({a} %% {b})", "({a} % {b})", c("any", "positive"),
    ok = function(x, y) {
      q <- as.vector(x) / as.vector(y)
      far(q - round(q))
    }),
  remainder = binary("remainder", "nv_remainder({a}, {b})", "jnp.fmod({a}, {b})",
    c("any", "positive"), ok = function(x, y) {
      q <- as.vector(x) / as.vector(y)
      far(q - round(q))
    }),
  min = binary("min", "nv_min({a}, {b})", "jnp.minimum({a}, {b})", ok = apart),
  max = binary("max", "nv_max({a}, {b})", "jnp.maximum({a}, {b})", ok = apart),
  atan2 = binary("atan2", "nv_atan2({a}, {b})", "jnp.arctan2({a}, {b})", c("any", "positive")),
  clamp = step("nv_clamp(-0.6, {a}, 0.7)", "jnp.clip({a}, -0.6, 0.7)", covers = "clamp",
    ok = function(x) far(x + 0.6) && far(x - 0.7), each = TRUE),
  clamp_all = step(
    domains = c("any", "any"), covers = "clamp",
    code = function(a, b) {
      if (identical(a, b)) {
        list(
          r = "nv_clamp({a}, {b}, {a} + 0.5)", py = "jnp.minimum(jnp.maximum({a}, {b}), {a} + 0.5)"
        )
      }
    },
    ok = function(a, x) apart(a, x) && apart(x, a + 0.5)
  ),
  ifelse = binary("ifelse", "nv_ifelse({a} > 0.1, {a} * {b}, {b})",
    "jnp.where({a} > 0.1, {a} * {b}, {b})", ok = function(x, y) far(x - 0.1)),
  negate = unary("negate", "-{a}", r = "(-{a})"),
  abs = unary("abs", "jnp.abs({a})", ok = far),
  stopped = step("({a} * nv_stop_gradient({a}))", "({a} * lax.stop_gradient({a}))",
    covers = "alias", each = TRUE)
)

functions <- list(
  sqrt = unary("sqrt", "jnp.sqrt({a})", "positive"),
  rsqrt = unary("rsqrt", "lax.rsqrt({a})", "positive"),
  cbrt = unary("cbrt", "jnp.cbrt({a})", "positive"),
  exp = unary("exp", "jnp.exp({a})", "unit"),
  expm1 = unary("expm1", "jnp.expm1({a})", "unit"),
  log = unary("log", "jnp.log({a})", "positive"),
  log2 = unary("log2", "jnp.log2({a})", "positive"),
  log10 = unary("log10", "jnp.log10({a})", "positive"),
  log1p = unary("log1p", "log1p({a})", "unit"),
  logistic = unary("logistic", "jax.nn.sigmoid({a})"),
  sin = unary("sin", "jnp.sin({a})", bound = 16),
  cos = unary("cos", "jnp.cos({a})", bound = 16),
  tan = unary("tan", "jnp.tan({a})", "unit"),
  sinpi = step("nv_sinpi({a})", "jnp.sin(jnp.pi * {a})", "unit", "sinpi", bound = 16),
  cospi = step("nv_cospi({a})", "jnp.cos(jnp.pi * {a})", "unit", "cospi", bound = 16),
  tanpi = step("nv_tanpi({a} * 0.4)", "jnp.tan(jnp.pi * ({a} * 0.4))", "unit", "tanpi", bound = 64),
  asin = unary("asin", "jnp.arcsin({a})", "unit"),
  acos = unary("acos", "jnp.arccos({a})", "unit"),
  atan = unary("atan", "jnp.arctan({a})"),
  sinh = unary("sinh", "jnp.sinh({a})"),
  cosh = unary("cosh", "jnp.cosh({a})"),
  tanh = unary("tanh", "jnp.tanh({a})", bound = 64),
  asinh = unary("asinh", "jnp.arcsinh({a})"),
  acosh = unary("acosh", "jnp.arccosh({a})", "above"),
  atanh = unary("atanh", "atanh({a})", "unit"),
  erf = unary("erf", "jsp.erf({a})"),
  erfc = unary("erfc", "jsp.erfc({a})"),
  # Digamma has a zero at 1.46, next to which few digits are left.
  gamma = step("nv_gamma({a})", "gamma({a})", "above", "gamma", bound = 16),
  lgamma = step("nv_lgamma({a})", "gammaln({a})", "above", "lgamma", bound = 64),
  digamma = step("nv_digamma({a})", "digamma({a})", "above", "digamma"),
  real = unary("real", "jnp.real({a})"),
  conj = unary("conj", "jnp.conj({a})"),
  # Not in programs: there all is of one dtype.
  convert = step("nv_convert({a}, \"f64\")", "{a}.astype(jnp.float64)", covers = "convert",
    each = TRUE)
)

layout <- list(
  reverse = along("slice", "nv_reverse({a}, DIM)", "jnp.flip({a}, DIM)"),
  broadcast_to = step(
    domains = "any", covers = "broadcast_to",
    code = function(a) {
      to <- ifelse(a == 1L, 3L, a)
      list(
        r = sprintf("nv_broadcast_to({a}, %s)", r_vector(paste0(to, "L", recycle0 = TRUE))),
        py = sprintf("jnp.broadcast_to({a}, %s)", python_tuple(to))
      )
    },
    like = function(e) list(replace(not_empty(e), 1L, 1L))
  ),
  reshape = step(
    domains = "any", covers = "reshape",
    code = function(a) {
      to <- if (length(a) < 2L) c(1L, prod(a)) else c(a[1L] * a[2L], a[-(1:2)])
      list(
        r = sprintf("nv_reshape({a}, %s)", r_vector(to)),
        py = sprintf("jnp.reshape({a}, %s, order='F')", python_tuple(to))
      )
    }
  ),
  transpose = step(
    domains = "any", covers = "transpose",
    code = function(a) {
      if (length(a) < 2L) return(NULL)
      to <- if (length(a) == 2L) 2:1 else sample(length(a))
      list(
        r = sprintf("nv_transpose({a}, %s)", r_vector(to)),
        py = sprintf("jnp.transpose({a}, %s)", python_tuple(to - 1L))
      )
    },
    like = function(e) list(matrices(e))
  )
)

joined <- list(
  concatenate = step(
    domains = c("any", "any"), covers = "concatenate",
    code = function(a, b) {
      if (length(a) == 0L || !identical(a, b) || prod(a) > 18L) return(NULL)
      d <- sample(length(a), 1L)
      list(
        r = sprintf("nv_concatenate({a}, {b}, dim = %d)", d),
        py = sprintf("jnp.concatenate([{a}, {b}], %d)", d - 1L)
      )
    },
    like = function(e) {
      e <- pmin(not_empty(e), 2L)
      list(e, e)
    }
  ),
  slice = step(
    domains = "any", covers = "slice",
    code = function(a) {
      if (length(a) == 0L || a[1L] < 2L) return(NULL)
      open <- strrep(", ", length(a) - 1L)
      if (runif(1) < 0.5) {
        list(r = sprintf("{a}[2:%d%s, drop = FALSE]", a[1L], open), py = "{a}[1:]")
      } else {
        list(
          r = sprintf("{a}[seq(%d, 1, by = -2)%s, drop = FALSE]", a[1L], open), py = "{a}[::-2]"
        )
      }
    },
    like = function(e) list(replace(not_empty(e), 1L, max(2L, e[1L], na.rm = TRUE)))
  ),
  update = step(
    domains = c("any", "any"), covers = "update",
    code = function(a, b) {
      if (length(a) == 0L || a[1L] < 2L || !identical(a, b)) return(NULL)
      open <- strrep(", ", length(a) - 1L)
      list(
        r = sprintf("assign_rows({a}, {b}[2:%d%s, drop = FALSE])", a[1L], open),
        py = "{a}.at[1:].set({b}[1:])"
      )
    },
    like = function(e) {
      e <- replace(not_empty(e), 1L, max(2L, e[1L], na.rm = TRUE))
      list(e, e)
    }
  )
)

padded <- list(
  pad = step(
    domains = "any", covers = "pad",
    code = function(a) {
      if (length(a) == 0L || prod(a) > 18L || any(a == 0L)) return(NULL)
      low <- sample(-1:1, length(a), TRUE)
      high <- sample(0:1, length(a), TRUE)
      interior <- sample(0:1, length(a), TRUE)
      each <- sprintf("(%d, %d, %d)", low, high, interior)
      list(
        r = sprintf("nv_pad({a}, 0.5, %s, %s, %s)", r_vector(low), r_vector(high),
          r_vector(interior)),
        py = sprintf("lax.pad({a}, jnp.asarray(0.5, {a}.dtype), %s)", python_tuple(each))
      )
    },
    like = function(e) list(pmin(not_empty(e), 2L))
  ),
  gather = along("gather", "nv_gather({a}, nv_tensor(c(1L, 1L)), DIM)",
    "jnp.take({a}, jnp.array([0, 0]), DIM)"),
  take = step(
    domains = "any", covers = "take",
    code = function(a) {
      if (length(a) == 0L || any(a == 0L)) return(NULL)
      at <- sample(prod(a), 3L, TRUE)
      list(
        r = sprintf("nv_flatten({a})[%s]", r_vector(at)),
        py = sprintf("jnp.ravel({a}, order='F')[jnp.array([%s])]", vector_text(at - 1L))
      )
    },
    like = function(e) list(not_empty(e))
  )
)

placed <- list(
  put = step(
    domains = c("any", "any"), covers = "put",
    code = function(a, b) {
      if (!identical(a, b) || prod(a) < 3) return(NULL)
      at <- sample(prod(a), 3L)
      list(
        r = sprintf("assign_at(nv_flatten({a}), %s, nv_flatten({b})[1:3])", r_vector(at)),
        py = sprintf(
          "jnp.ravel({a}, order='F').at[jnp.array([%s])].set(jnp.ravel({b}, order='F')[:3])",
          vector_text(at - 1L)
        )
      )
    },
    like = function(e) {
      e <- replace(not_empty(e), 1L, max(3L, e[1L], na.rm = TRUE))
      list(e, e)
    }
  ),
  scatter_add = step(
    domains = c("any", "any"), covers = "scatter_add",
    code = function(a, b) {
      if (!identical(a, b) || prod(a) < 3) return(NULL)
      at <- sample(prod(a), 3L, TRUE)
      list(
        r = sprintf("nv_scatter_add(nv_flatten({a}), %s, nv_flatten({b})[1:3])", r_vector(at)),
        py = sprintf(
          "jnp.ravel({a}, order='F').at[jnp.array([%s])].add(jnp.ravel({b}, order='F')[:3])",
          vector_text(at - 1L)
        )
      )
    },
    like = function(e) {
      e <- replace(not_empty(e), 1L, max(3L, e[1L], na.rm = TRUE))
      list(e, e)
    }
  ),
  take_along = along("take_along",
    "nv_take_along({a}, nv_argsort(nv_stop_gradient({a}), DIM), DIM)",
    "jnp.take_along_axis({a}, jnp.argsort({a}, DIM), DIM)", ok = spaced),
  sort = along("sort", "nv_sort({a}, DIM)", "jnp.sort({a}, DIM)", ok = spaced),
  decreasing = along("sort", "nv_sort({a}, DIM, TRUE)", "-jnp.sort(-{a}, DIM)", ok = spaced),
  triangle = step("nv_tril({a})", "U(jnp.tril(M({a})))", covers = "ifelse",
    code = function(a) if (length(a) >= 2L) list(r = "nv_tril({a})", py = "U(jnp.tril(M({a})))"),
    like = function(e) list(matrices(e)))
)

reductions <- list(
  sum = along("reduce_sum", "nv_reduce_sum({a}, DIM)", "jnp.sum({a}, DIM)"),
  sum_kept = along("reduce_sum", "nv_reduce_sum({a}, DIM, drop = FALSE)",
    "jnp.sum({a}, DIM, keepdims=True)"),
  mean = along("mean", "nv_mean({a}, DIM)", "jnp.mean({a}, DIM)"),
  prod = along("reduce_prod", "nv_reduce_prod({a}, DIM)", "jnp.prod({a}, DIM)", bound = 32,
    domain = "positive"),
  reduce_min = along("reduce_min", "nv_reduce_min({a}, DIM)", "jnp.min({a}, DIM)", ok = spaced),
  reduce_max = along("reduce_max", "nv_reduce_max({a}, DIM)", "jnp.max({a}, DIM)", ok = spaced),
  variance = along("mean", "nv_reduce_sum(({a} - nv_mean({a}, DIM, drop = FALSE))^2, DIM)",
    "jnp.sum(({a} - jnp.mean({a}, DIM, keepdims=True))**2, DIM)"),
  cumsum = along("cumsum", "nv_cumsum({a}, DIM)", "jnp.cumsum({a}, DIM)", bound = 32),
  cumprod = along("cumprod", "nv_cumprod({a}, DIM)", "jnp.cumprod({a}, DIM)", bound = 32,
    domain = "positive"),
  cummin = along("cummin", "nv_cummin({a}, DIM)", "lax.cummin({a}, DIM)", ok = spaced),
  cummax = along("cummax", "nv_cummax({a}, DIM)", "lax.cummax({a}, DIM)", ok = spaced)
)

algebra <- list(
  matmul = product("nv_matmul({a}, {b})", "U(M({a}) @ M({b}))",
    function(a) c(a[2L], 3L), function(a, b) a[2L] == b[1L]),
  crossprod = product("nv_crossprod({a}, {b})", "U(T(M({a})) @ M({b}))",
    function(a) c(a[1L], 3L), function(a, b) a[1L] == b[1L]),
  tcrossprod = product("nv_tcrossprod({a}, {b})", "U(M({a}) @ T(M({b})))",
    function(a) c(3L, a[2L]), function(a, b) a[2L] == b[2L]),
  solve = of_square("solve", "nv_solve({a}, {b})", "U(jnp.linalg.solve(M({a}), M({b})))", 32, 2L),
  inverse = of_square("inverse", "nv_inv({a})", "U(jnp.linalg.inv(M({a})))", 32),
  triangular_solve = of_square("triangular_solve",
    "nv_triangular_solve({a}, {b}, transpose = TRUE)",
    "U(jsl.solve_triangular(M({a}), M({b}), trans=1, lower=True))", 32, 2L),
  upper_solve = of_square("triangular_solve", "nv_triangular_solve({a}, {b}, lower = FALSE)",
    "U(jsl.solve_triangular(M({a}), M({b}), lower=False))", 32, 2L),
  det = of_square("det", "nv_det({a} * 0.25)", "jnp.linalg.det(M({a} * 0.25))", 32),
  determinant = of_square("determinant", "nv_determinant({a})$modulus",
    "jnp.linalg.slogdet(M({a}))[1]", 32),
  chol = of_square("chol", "nv_chol(nv_crossprod({a}))",
    "U(T(jnp.linalg.cholesky(T(M({a})) @ M({a}))))", 64),
  qr = of_square("qr", "(nv_qr({a})$Q^2L + nv_qr({a})$R^2L)",
    "U(jnp.linalg.qr(M({a}))[0]**2 + jnp.linalg.qr(M({a}))[1]**2)", 64),
  svd = of_square("svd", "nv_svd({a})$d", "V(jnp.linalg.svd(M({a}), compute_uv=False))", 512),
  svd_vectors = of_square("svd", "(nv_svd({a})$u^2L + nv_svd({a})$v^2L)",
    "U(jnp.linalg.svd(M({a}))[0]**2 + T(jnp.linalg.svd(M({a}))[2])**2)", 1024, rows = 2L),
  eigh = of_square("eigh", "nv_eigh({a} + turned({a}))$values",
    "V(jnp.linalg.eigh(M({a}) + T(M({a})))[0][..., ::-1])", 256),
  eigh_vectors = of_square("eigh", "nv_eigh({a} + turned({a}))$vectors^2L",
    "U(jnp.linalg.eigh(M({a}) + T(M({a})))[1][..., ::-1]**2)", 2048, rows = 2L)
)

pairs <- function(op, r, py, ok = NULL) {
  binary(op, r, py, c("positive", "positive"), ok = ok, bound = 64)
}
# A slope that is a difference of larger terms has few digits where it is nearly zero.
sloping <- function(...) {
  slopes <- list(...)
  function(a, b) {
    far <- function(f) max(abs(outer(as.vector(a), as.vector(b), f))) > 0.1
    length(a) == 0L || length(b) == 0L || all(vapply(slopes, far, NA))
  }
}
distributions <- list(
  log_beta = pairs("log_beta", "nv_lbeta({a}, {b})", "betaln({a}, {b})"),
  log_poisson = pairs("log_poisson", "nv_dgamma({a}, {b}, log = TRUE)",
    "(({b} - 1) * jnp.log({a}) - {a} - gammaln({b}))",
    ok = sloping(function(a, b) (b - 1) / a - 1, function(a, b) log(a) - digamma(b))),
  log_binomial = pairs("log_binomial", "nv_dbeta(0.3, {a}, {b}, log = TRUE)",
    "(({a} - 1) * jnp.log(0.3) + ({b} - 1) * jnp.log(0.7) - betaln({a}, {b}))",
    ok = sloping(
      function(a, b) log(0.3) + digamma(a + b) - digamma(a),
      function(a, b) log(0.7) + digamma(a + b) - digamma(b)
    )),
  incomplete_gamma = step("nv_pgamma({a}, 2.5)", "jsp.gammainc(2.5, {a})", "positive",
    "incomplete_gamma", bound = 64),
  incomplete_beta = step("nv_pbeta({a} * 0.5 + 0.5, 2.5, 1.7)",
    "jsp.betainc(2.5, 1.7, {a} * 0.5 + 0.5)", "unit", "incomplete_beta", bound = 64),
  normal = step("nv_pnorm({a})", "jsp.ndtr({a})", covers = "erfc", bound = 16),
  normal_log = step("nv_pnorm({a}, log.p = TRUE)", "jsp.log_ndtr({a})", covers = "log", bound = 64),
  normal_quantile = step("nv_qnorm({a} * 0.5 + 0.5)", "ndtri({a} * 0.5 + 0.5)", "unit", "sqrt",
    bound = 64)
)

steps <- c(
  arithmetic, functions, layout, joined, padded, placed, reductions, algebra, distributions
)
