# The steps of random programs. A step takes the values made so far and gives one more, or
# NULL when it picked values it is not for.

chance <- function(p) stats::runif(1L) < p
pick <- function(pool) sample(length(pool), 1L)
kind_of <- function(x) {
  c(bool = "bool", i = "int", ui = "uint", f = "float", c = "complex")[[
    sub("[0-9]+$", "", format(dtype(x)))
  ]]
}
has_order <- function(x) kind_of(x) != "complex"
small <- function(x) all(abs(as.vector(nv_convert(nv_abs(x), "f64"))) <= 1e4)
v <- function(k) paste0("v", k)

# What joist gives, or NULL when it refuses the dtypes.
made <- function(name, value, code, exact = TRUE, bound = 0) {
  value <- tryCatch(value,
    joist_dtype_error = function(e) NULL, joist_promotion_error = function(e) NULL
  )
  if (is.null(value)) {
    return(NULL)
  }
  list(step = name, value = value, code = code, exact = exact, bound = bound)
}

# Two values whose shapes fit.
pair <- function(pool, exact = TRUE) {
  a <- pick(pool)
  b <- pick(pool)
  ok <- length(shape(pool[[a]]$value)) == length(shape(pool[[b]]$value)) &&
    all(shape(pool[[a]]$value) == shape(pool[[b]]$value) |
      shape(pool[[a]]$value) == 1L | shape(pool[[b]]$value) == 1L)
  if (!ok || (exact && !(pool[[a]]$exact && pool[[b]]$exact))) NULL else c(a, b)
}

# Elementwise on two exact values; small ones only, so that floats stay exact.
binary <- function(name, f, code, bound = 0, when = function(x, y) TRUE) {
  force(list(f, code, bound, when))
  function(pool) {
    at <- pair(pool)
    if (is.null(at)) {
      return(NULL)
    }
    x <- pool[[at[1L]]]$value
    y <- pool[[at[2L]]]$value
    if (!small(x) || !small(y) || !when(x, y)) {
      return(NULL)
    }
    made(name, f(x, y), sprintf(code, v(at[1L]), v(at[2L])), bound == 0, bound)
  }
}

unary <- function(name, f, code, bound = 0, when = function(x) TRUE) {
  force(list(f, code, bound, when))
  function(pool) {
    k <- pick(pool)
    x <- pool[[k]]$value
    if (!pool[[k]]$exact || !small(x) || !when(x)) {
      return(NULL)
    }
    made(name, f(x), sprintf(code, v(k)), bound == 0, bound)
  }
}

# Along one dim; `code` takes the value and the 0-based axis.
along <- function(name, f, code, bound = 0, when = function(x, d) TRUE) {
  force(list(f, code, bound, when))
  function(pool) {
    k <- pick(pool)
    x <- pool[[k]]$value
    if (!pool[[k]]$exact || length(shape(x)) == 0L || !small(x)) {
      return(NULL)
    }
    d <- sample(length(shape(x)), 1L)
    if (!when(x, d)) {
      return(NULL)
    }
    made(name, f(x, d), sprintf(code, v(k), d - 1L), bound == 0, bound)
  }
}

not_half <- function(x, ...) format(dtype(x)) != "f16"
not_empty <- function(x, d) all(shape(x) > 0L)
ordered <- function(x, ...) has_order(x)
both_ordered <- function(x, y) has_order(x) && has_order(y)
no_zero <- function(x, y) all(as.vector(nv_convert(y, "f64")) != 0) && has_order(x) && has_order(y)
inexact <- function(x) kind_of(x) %in% c("float", "complex")
extreme <- function(x, d) not_empty(x, d) && has_order(x)
extreme_double <- function(x, d) extreme(x, d) && format(dtype(x)) == "f64"
two_or_more <- function(x, d) not_empty(x, d) && shape(x)[d] > 1L && not_half(x)
not_half_or_int <- function(x, d) inexact(x) && not_half(x)
few_bits <- function(x, y) {
  all(as.vector(nv_convert(y, "f64")) %in% 0:6) && kind_of(x) %in% c("int", "uint") &&
    kind_of(y) %in% c("int", "uint")
}

# ---- elementwise ----

arithmetic_steps <- list(
  add = binary("add", nv_add, "np.add(%s, %s)"),
  sub = binary("sub", nv_sub, "np.subtract(%s, %s)"),
  mul = binary("mul", nv_mul, "np.multiply(%s, %s)"),
  div = binary("div", nv_div, "np.true_divide(%s, %s)", 4),
  floor_div = binary("floor_div", nv_floor_div, "np.floor_divide(%s, %s)", when = no_zero),
  mod = binary("mod", nv_mod, "np.remainder(%s, %s)", when = no_zero),
  min = binary("min", nv_min, "np.minimum(%s, %s)", when = both_ordered),
  max = binary("max", nv_max, "np.maximum(%s, %s)", when = both_ordered),
  lt = binary("lt", nv_lt, "np.less(%s, %s)", when = both_ordered),
  ge = binary("ge", nv_ge, "np.greater_equal(%s, %s)", when = both_ordered),
  eq = binary("eq", nv_eq, "np.equal(%s, %s)"),
  and = binary("and", nv_and, "np.logical_and(%s, %s)"),
  bitwise_xor = binary("bitwise_xor", nv_bitwise_xor, "np.bitwise_xor(%s, %s)"),
  shift_left = binary("shift_left", nv_shift_left, "np.left_shift(%s, %s)", when = few_bits)
)

unary_steps <- list(
  negate = unary("negate", nv_negate, "np.negative(%s)"),
  abs = unary("abs", nv_abs, "np.abs(%s)", 2),
  sign = unary("sign", nv_sign, "np.sign(%s)", when = ordered),
  sqrt = unary("sqrt", nv_sqrt, "np.sqrt(%s)", 4, when = inexact),
  exp = unary("exp", nv_exp, "np.exp(%s)", 8, when = function(x) kind_of(x) == "float"),
  real = unary("real", nv_real, "np.real(%s)"),
  conj = unary("conj", nv_conj, "np.conj(%s)", when = function(x) kind_of(x) != "bool"),
  is_nan = unary("is_nan", nv_is_nan, "np.isnan(%s)")
)

step_ifelse <- function(pool) {
  at <- pair(pool)
  k <- pick(pool)
  if (is.null(at) || !identical(shape(pool[[k]]$value), shape(pool[[at[1L]]]$value))) {
    return(NULL)
  }
  made(
    "ifelse", nv_ifelse(pool[[k]]$value, pool[[at[1L]]]$value, pool[[at[2L]]]$value),
    sprintf("np.where(%s != 0, %s, %s)", v(k), v(at[1L]), v(at[2L]))
  )
}

numpy_names <- c(
  i8 = "int8", i32 = "int32", i64 = "int64", f32 = "float32", f64 = "float64",
  c128 = "complex128", bool = "bool"
)

step_convert <- function(pool) {
  k <- pick(pool)
  x <- pool[[k]]$value
  to <- sample(numpy_names, 1L)
  into_int <- names(to) %in% c("i8", "i32", "i64")
  if (!pool[[k]]$exact || !small(x) || (names(to) == "i8" && kind_of(x) == "float") ||
    (kind_of(x) == "complex" && into_int)) {
    return(NULL)
  }
  made("convert", nv_convert(x, names(to)), sprintf("%s.astype('%s')", v(k), to))
}

# ---- reductions ----

reduction_steps <- list(
  sum = along("sum", nv_reduce_sum, "np.sum(%s, axis=%d)", when = not_half),
  sum_all = unary("sum_all", nv_reduce_sum, "np.sum(%s)", when = not_half),
  prod = along("prod", nv_reduce_prod, "np.prod(%s, axis=%d)", 16, when = not_half),
  reduce_min = along("reduce_min", nv_reduce_min, "np.min(%s, axis=%d)", when = extreme),
  reduce_max = along("reduce_max", nv_reduce_max, "np.max(%s, axis=%d)", when = extreme),
  any = along("any", nv_reduce_any, "np.any(%s, axis=%d)"),
  all = along("all", nv_reduce_all, "np.all(%s, axis=%d)"),
  mean = along("mean", nv_mean, "np.mean(%s, axis=%d)", 16, when = not_empty),
  var = along("var", nv_var, "np.var(%s, axis=%d, ddof=1)", 32, when = two_or_more),
  sd = along("sd", nv_sd, "np.std(%s, axis=%d, ddof=1)", 32, when = two_or_more),
  norm = along("norm", nv_norm, "np.linalg.norm(%s, axis=%d)", 32, when = not_half_or_int),
  count_nonzero = along("count_nonzero", nv_count_nonzero, "np.count_nonzero(%s, axis=%d)"),
  median = along("median", nv_median, "np.median(%s, axis=%d)", 32, when = extreme),
  quantile = along(
    "quantile", function(x, d) nv_quantile(x, 0.3, d), "np.quantile(%s, [0.3], axis=%d)", 32,
    when = extreme_double
  )
)

# ---- along a dim ----

# NumPy counts positions from 0, in i64.
position <- function(name, f, code, when) {
  along(name, function(x, d) nv_convert(f(x, d), "i64"), paste(code, "+ 1"), when = when)
}

scan_steps <- list(
  cumsum = along("cumsum", nv_cumsum, "np.cumsum(%s, axis=%d)", when = not_half),
  cumprod = along("cumprod", nv_cumprod, "np.cumprod(%s, axis=%d)", 16, when = not_half),
  cummin = along("cummin", nv_cummin, "np.minimum.accumulate(%s, axis=%d)", when = ordered),
  cummax = along("cummax", nv_cummax, "np.maximum.accumulate(%s, axis=%d)", when = ordered),
  argmin = position("argmin", nv_argmin, "np.argmin(%s, axis=%d)", extreme),
  argmax = position("argmax", nv_argmax, "np.argmax(%s, axis=%d)", extreme),
  sort = along("sort", nv_sort, "np.sort(%s, axis=%d)", when = ordered),
  order = position("order", nv_argsort, "np.argsort(%s, axis=%d, kind='stable')", ordered)
)

fit_product <- function(a, b) {
  x <- a$value
  y <- b$value
  length(shape(x)) == 2L && length(shape(y)) == 2L && shape(x)[2L] == shape(y)[1L] &&
    a$exact && b$exact && small(x) && small(y)
}

step_matmul <- function(pool) {
  a <- pick(pool)
  b <- pick(pool)
  if (!fit_product(pool[[a]], pool[[b]])) {
    return(NULL)
  }
  code <- sprintf("np.matmul(%s, %s)", v(a), v(b))
  made("matmul", nv_matmul(pool[[a]]$value, pool[[b]]$value), code, FALSE, 16)
}

# Indices of two matrices, or of three of which the last two are the same.
step_einsum <- function(pool) {
  a <- pick(pool)
  b <- pick(pool)
  x <- pool[[a]]
  y <- pool[[b]]
  small_matrix <- function(x) x$exact && length(shape(x$value)) == 2L && small(x$value)
  if (!small_matrix(x) || !small_matrix(y)) {
    return(NULL)
  }
  letters_of <- function() paste(sample(c("i", "j", "k", "Z"), 2L, TRUE), collapse = "")
  inputs <- c(letters_of(), letters_of())
  inputs <- inputs[c(1L, 2L, if (chance(0.2)) 2L)]
  own <- unique(strsplit(paste(inputs, collapse = ""), "")[[1L]])
  output <- if (chance(0.6)) sample(own, sample.int(length(own), 1L))
  text <- paste0(
    paste(inputs, collapse = ","), if (!is.null(output)) paste0("->", paste(output, collapse = ""))
  )
  value <- tryCatch(
    do.call(nv_einsum, c(list(text, x$value), rep(list(y$value), length(inputs) - 1L))),
    joist_shape_error = function(e) NULL
  )
  operands <- paste(c(v(a), rep(v(b), length(inputs) - 1L)), collapse = ", ")
  if (is.null(value)) {
    return(NULL)
  }
  made("einsum", value, sprintf("np.einsum('%s', %s)", text, operands), FALSE, 64)
}

# ---- moving elements ----

# `code` makes the value of `from` anew, elements moved.
moved <- function(name, value, code, from) {
  made(name, value, code, from$exact, from$bound)
}

step_reshape <- function(pool) {
  k <- pick(pool)
  n <- prod(shape(pool[[k]]$value))
  to <- as.integer(if (chance(0.5)) n else c(1L, n))
  code <- sprintf("%s.reshape(%s, order='F')", v(k), python_tuple(to))
  moved("reshape", nv_reshape(pool[[k]]$value, to), code, pool[[k]])
}

step_transpose <- function(pool) {
  k <- pick(pool)
  order <- sample.int(length(shape(pool[[k]]$value)))
  code <- sprintf("np.transpose(%s, %s)", v(k), python_tuple(order - 1L))
  moved("transpose", nv_transpose(pool[[k]]$value, order), code, pool[[k]])
}

step_concatenate <- function(pool) {
  a <- pick(pool)
  b <- pick(pool)
  x <- pool[[a]]$value
  y <- pool[[b]]$value
  d <- sample(max(1L, length(shape(x))), 1L)
  if (length(shape(x)) == 0L || length(shape(x)) != length(shape(y)) ||
    !identical(shape(x)[-d], shape(y)[-d]) || !pool[[a]]$exact || !pool[[b]]$exact) {
    return(NULL)
  }
  code <- sprintf("np.concatenate([%s, %s], axis=%d)", v(a), v(b), d - 1L)
  made("concatenate", nv_concatenate(x, y, dim = d), code)
}

step_subset <- function(pool) {
  k <- pick(pool)
  x <- pool[[k]]$value
  extents <- shape(x)
  if (length(extents) == 0L || any(extents == 0L)) {
    return(NULL)
  }
  indices <- lapply(extents, function(n) sample(n, sample(3L, 1L), TRUE))
  lists <- vapply(indices, function(i) sprintf("[%s]", toString(i - 1L)), "")
  code <- sprintf("%s[np.ix_(%s)]", v(k), paste(lists, collapse = ", "))
  moved("subset", do.call(`[`, c(list(x), indices, drop = FALSE)), code, pool[[k]])
}

step_assign <- function(pool) {
  k <- pick(pool)
  x <- pool[[k]]$value
  n <- prod(shape(x))
  if (n == 0L || kind_of(x) == "bool") {
    return(NULL)
  }
  at <- sample(n, sample(3L, 1L), TRUE)
  x[at] <- 1L
  code <- sprintf(
    "(lambda a: (np.put(a, [%s], 1), a)[1])(%s.flatten(order='F')).reshape(%s.shape, order='F')",
    toString(at - 1L), v(k), v(k)
  )
  moved("assign", x, code, pool[[k]])
}

moving_steps <- list(
  reshape = step_reshape, transpose = step_transpose, concatenate = step_concatenate,
  reverse = along("reverse", nv_reverse, "np.flip(%s, axis=%d)"),
  subset = step_subset, assign = step_assign
)

steps <- c(
  arithmetic_steps, unary_steps, list(ifelse = step_ifelse, convert = step_convert),
  reduction_steps, scan_steps, list(matmul = step_matmul, einsum = step_einsum), moving_steps
)
