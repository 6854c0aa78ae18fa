# What joist_array_api makes of several functions of joist. Dimensions and matrices are as joist
# sees them: reversed and transposed.

# Operands of a common rank: the standard puts missing axes first, which are our last.
of_rank <- function(x, rank) {
  if (!is_tensor(x) || ndims(x) == rank) x else nv_reshape(x, c(shape(x), rep(1L, rank - ndims(x))))
}

elementwise <- function(f, x, y) {
  rank <- max(if (is_tensor(x)) ndims(x), if (is_tensor(y)) ndims(y))
  f(of_rank(x, rank), of_rank(y, rank))
}

# A quotient by infinity is rounded down in joist, to -1 or 0, as in base R, Python and NumPy; the
# standard keeps the zero.
floor_quotient <- function(x, y) {
  quotient <- nv_floor_div(x, y)
  if (!is_float(quotient)) {
    return(quotient)
  }
  kept <- nv_is_infinite(y) & nv_is_finite(x)
  nv_ifelse(kept, nv_convert(nv_div(x, y), dtype(quotient)), quotient)
}

is_float <- function(x) format(dtype(x)) %in% c("f32", "f64")

# Of an infinite real part joist's zero has the sign of sin(2 Im(x)), as in C99 and NumPy; the
# standard's has that of Im(x).
hyperbolic_tangent <- function(x) {
  y <- nv_tanh(x)
  if (is_float(x)) {
    return(y)
  }
  far <- nv_is_infinite(nv_real(x)) & nv_is_finite(nv_imag(x))
  limit <- nv_copysign(nv_scalar(1, dtype(nv_real(x))), nv_real(x))
  zero <- nv_copysign(nv_scalar(0, dtype(limit)), nv_imag(x))
  nv_ifelse(far, as_complex(limit, zero), y)
}

# A complex tensor from its parts, both unchanged.
as_complex <- function(real, imaginary) {
  type <- if (dtype(real) == "f32") "c64" else "c128"
  parts <- nv_stack(real, imaginary, dim = 1L)
  nv_read_bin(nv_write_bin(parts), type, shape(real))
}

conjugate <- function(x) if (startsWith(format(dtype(x)), "c")) nv_conj(x) else x

is_in <- function(x, table, invert) {
  found <- nv_is_in(x, table)
  if (invert) nv_not(found) else found
}

choose <- function(condition, x, y) {
  rank <- max(ndims(condition), if (is_tensor(x)) ndims(x), if (is_tensor(y)) ndims(y))
  nv_ifelse(of_rank(condition, rank), of_rank(x, rank), of_rank(y, rank))
}

clip <- function(x, low, high) {
  bounds <- list(low, high)
  rank <- max(ndims(x), unlist(lapply(bounds, function(b) if (is_tensor(b)) ndims(b))))
  type <- dtype(x)
  x <- of_rank(x, rank)
  if (!is.null(low)) low <- of_rank(low, rank)
  if (!is.null(high)) high <- of_rank(high, rank)
  result <- if (is.null(low)) {
    if (is.null(high)) x else nv_min(x, high)
  } else if (is.null(high)) {
    nv_max(x, low)
  } else {
    nv_clamp(low, x, high)
  }
  nv_convert(result, type)
}

broadcast <- function(x, extents) nv_broadcast_to(of_rank(x, length(extents)), extents)

# Counting from 0 on, as i64.
from_zero <- function(x) nv_convert(x, "i64") - nv_scalar(1L, "i64")

from_one <- function(x) nv_convert(x, "i64") + nv_scalar(1L, "i64")

# Positions on an axis of this extent, where negative ones count from its end.
wrapped <- function(indices, extent) {
  indices <- nv_convert(indices, "i64")
  nv_ifelse(indices < nv_scalar(0L, "i64"), indices + nv_scalar(extent, "i64"), indices)
}

take <- function(x, indices, dim) nv_gather(x, from_one(wrapped(indices, shape(x)[dim])), dim)

take_along <- function(x, indices, dim) {
  extents <- pmax(shape(x), shape(indices))
  extents[dim] <- shape(indices)[dim]
  full <- pmax(shape(x), shape(indices))
  full[dim] <- shape(x)[dim]
  at <- from_one(wrapped(indices, shape(x)[dim]))
  nv_take_along(nv_broadcast_to(x, full), nv_convert(nv_broadcast_to(at, extents), "i32"), dim)
}

# x[i, j, ...] for arrays of positions, one for each dimension.
pick <- function(x, ...) {
  at <- list(...)
  rank <- max(vapply(at, ndims, 1L))
  stride <- 1
  position <- nv_scalar(1L, "i64")
  for (k in seq_along(at)) {
    one <- of_rank(wrapped(at[[k]], shape(x)[k]), rank)
    position <- position + one * nv_scalar(stride, "i64")
    stride <- stride * shape(x)[k]
  }
  nv_gather(nv_flatten(x), position)
}

# x[mask] for a mask of the first axes only, our last dimensions.
masked <- function(x, mask) {
  kept <- ndims(x) - ndims(mask)
  inner <- shape(x)[seq_len(kept)]
  flat <- nv_reshape(x, c(inner, prod(shape(x)[seq_len(ndims(mask)) + kept])))
  nv_gather(flat, nv_which(nv_flatten(mask)), length(inner) + 1L)
}

nonzero <- function(x) {
  found <- nv_which(x != nv_scalar(0L, dtype(x)), arr.ind = TRUE)
  from_zero(found)
}
column_of <- function(x, k) nv_reshape(x[, k], nrow(x))

# NaN is unique, however often it occurs.
distinct <- function(x) {
  x <- nv_flatten(x)
  lost <- as.vector(nv_is_nan(x))
  c(unique(x[!lost]), x[lost])
}

inverse_of <- function(x, values) {
  extents <- shape(x)
  x <- nv_flatten(x)
  at <- nv_match(x, values)
  lost <- which(as.vector(nv_is_nan(x)))
  if (length(lost) > 0L) at[lost] <- length(values) - length(lost) + seq_along(lost)
  nv_reshape(nv_convert(at, "i64"), extents)
}

first_of <- function(x, values) {
  x <- nv_flatten(x)
  at <- nv_match(values, x)
  lost <- which(as.vector(nv_is_nan(x)))
  if (length(lost) > 0L) at[length(values) - length(lost) + seq_along(lost)] <- lost
  nv_convert(at, "i64")
}

count_up <- function(dtype, n, start, step) {
  fraction <- function(x) !is_tensor(x) && is.double(x)
  type <- if (fraction(start) || fraction(step)) "f64" else "i64"
  steps <- nv_iota(1L, type, n, 0L)
  nv_convert(steps * nv_convert(step, type) + nv_convert(start, type), dtype)
}

spaced <- function(dtype, n, start, stop, endpoint) {
  type <- if (startsWith(dtype, "c")) "c128" else "f64"
  gaps <- max(if (endpoint) n - 1 else n, 1)
  at <- nv_convert(nv_iota(1L, "f64", n, 0L), type) / nv_scalar(gaps, type)
  # From both ends, so that both are exact, and nothing overflows.
  one <- nv_scalar(1, type)
  points <- nv_scalar(start, type) * (one - at) + nv_scalar(stop, type) * at
  nv_convert(points, dtype)
}

unit_matrix <- function(dtype, columns, rows, k) {
  at <- nv_iota(1L, "i64", c(columns, rows)) - nv_scalar(as.integer(k), "i64")
  nv_convert(at == nv_iota(2L, "i64", c(columns, rows)), dtype)
}

# The default dtype of the rules for a kind of R values.
default_dtype <- function(x) dtype(nv_tensor(x))

transposed <- function(x) nv_transpose(x, c(2L, 1L, seq_along(shape(x))[-(1:2)]))

matrix_product <- function(x, y) {
  if (min(ndims(x), ndims(y)) == 0L) stop("a scalar is not a matrix")
  vectors <- c(ndims(x), ndims(y)) == 1L
  if (vectors[1L]) x <- nv_reshape(x, c(shape(x), 1L))
  if (vectors[2L]) y <- nv_reshape(y, c(1L, shape(y)))
  rank <- max(ndims(x), ndims(y))
  product <- nv_matmul(of_rank(y, rank), of_rank(x, rank))
  gone <- c(if (vectors[2L]) 1L, if (vectors[1L]) 2L)
  if (length(gone) > 0L) nv_reshape(product, shape(product)[-gone]) else product
}

vector_product <- function(x, y, dim) {
  if (shape(x)[dim] != shape(y)[dim]) stop("vectors of different lengths")
  rank <- max(ndims(x), ndims(y))
  nv_reduce_sum(nv_conj(of_rank(x, rank)) * of_rank(y, rank), dim, dtype = result_dtype(x, y)$dtype)
}

inverted <- function(a) nv_inv(a, tol = 0)

power_of <- function(a, n) if (n < 0) nv_matrix_power(inverted(a), -n) else nv_matrix_power(a, n)

solution <- function(a, b) {
  vector <- ndims(b) == 1L
  b <- if (vector) nv_reshape(b, c(length(b), 1L)) else transposed(b)
  batches <- lapply(list(a, b), function(x) nv_aval("bool", shape(x)[-(1:2)]))
  batch <- shape(elementwise(nv_eq, batches[[1L]], batches[[2L]]))
  a <- broadcast(transposed(a), c(shape(a)[2:1], batch))
  x <- nv_solve(a, broadcast(b, c(shape(b)[1:2], batch)), tol = 0)
  if (vector) nv_reshape(x, shape(x)[-2L]) else transposed(x)
}

# Row j, column i of the standard's matrix is column j, row i of ours.
diagonals <- function(x, offset) {
  extents <- shape(x)
  batch <- extents[-(1:2)]
  skip <- max(0L, -offset) * extents[1L] + max(0L, offset)
  n <- max(0L, min(extents[1L] - max(0L, offset), extents[2L] - max(0L, -offset)))
  at <- skip + (seq_len(n) - 1L) * (extents[1L] + 1L) + 1L
  flat <- nv_reshape(x, c(extents[1L] * extents[2L], batch))
  nv_gather(flat, nv_tensor(as.integer(at), "i64", n), 1L)
}

trace_of <- function(x, offset, type = NULL) nv_reduce_sum(diagonals(x, offset), 1L, dtype = type)

eigen_ascending <- function(x) {
  parts <- nv_eigh(x)
  # The standard's matrix is ours, transposed, and so its conjugate.
  vectors <- conjugate(transposed(nv_reverse(parts$vectors, 2L)))
  list(values = nv_reverse(parts$values, 1L), vectors = vectors)
}

cross_product <- function(x, y, dim) {
  rank <- max(ndims(x), ndims(y))
  dim <- rank - dim
  x <- of_rank(x, rank)
  y <- of_rank(y, rank)
  part <- function(x, k) nv_gather(x, k, dim)
  term <- function(i, j) part(x, i) * part(y, j) - part(x, j) * part(y, i)
  nv_stack(term(2L, 3L), term(3L, 1L), term(1L, 2L), dim = dim)
}

scan_sum <- function(f, x, dim, type, initial) {
  result <- f(x, dim, type)
  if (is.null(initial)) {
    return(result)
  }
  extents <- shape(result)
  extents[dim] <- 1L
  nv_concatenate(nv_fill(initial, extents, dtype(result)), result, dim = dim)
}

# TRUE where joist's common dtype of both is the second.
can_cast <- function(from, to) {
  tryCatch(result_dtype(from, to)$dtype == to, joist_promotion_error = function(e) FALSE)
}

norm_of <- function(x, dims, drop, p) {
  if (p > 0 || p == -Inf) {
    return(nv_norm(x, dims, drop, p))
  }
  like <- dtype(nv_norm(x, dims, drop))
  if (p == 0) {
    return(nv_convert(nv_count_nonzero(x, dims, drop), like))
  }
  powers <- nv_reduce_sum(nv_pow(nv_abs(x), nv_scalar(p, like)), dims, drop)
  nv_pow(powers, nv_scalar(1 / p, like))
}

matrix_norm <- function(x, ord, drop) {
  d <- if (ord %in% c("nuc", "2", "-2")) nv_svd(x)$d
  sums <- function(dim) nv_reduce_sum(nv_abs(x), dim, drop = FALSE)
  norm <- switch(ord,
    fro = nv_norm(x, 1:2), nuc = nv_reduce_sum(d, 1L),
    "2" = nv_reduce_max(d, 1L), "-2" = nv_reduce_min(d, 1L),
    "1" = nv_reduce_max(sums(2L), 1:2), "-1" = nv_reduce_min(sums(2L), 1:2),
    "Inf" = nv_reduce_max(sums(1L), 1:2), "-Inf" = nv_reduce_min(sums(1L), 1:2)
  )
  if (drop) norm else nv_reshape(norm, c(1L, 1L, shape(norm)))
}

# Which singular values count, as numbers of their dtype.
large_values <- function(x, d, rtol) {
  type <- dtype(d)
  digits <- if (type == "f32") 23 else 52
  if (is.null(rtol)) rtol <- max(shape(x)[1:2]) * 2^-digits
  if (!is_tensor(rtol)) rtol <- nv_scalar(rtol, type)
  if (ndims(rtol) > 0L) rtol <- nv_unsqueeze(rtol, 1L)
  d > of_rank(nv_convert(rtol, type), ndims(d)) * nv_reduce_max(d, 1L, drop = FALSE)
}

rank_of <- function(x, rtol) {
  d <- nv_svd(x)$d
  nv_count_nonzero(large_values(x, d, rtol), 1L)
}

pseudo_inverse <- function(x, rtol) {
  parts <- nv_svd(x)
  d <- parts$d
  zero <- nv_scalar(0, dtype(d))
  inverse <- nv_ifelse(large_values(x, d, rtol), nv_scalar(1, dtype(d)) / d, zero)
  nv_matmul(parts$v * nv_unsqueeze(inverse, 1L), conjugate(transposed(parts$u)))
}
