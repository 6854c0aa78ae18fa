# The derivatives of linear algebra: more rules like those of gradient-rules.R. Those of complex
# numbers are the formulas of real ones, with conjugate transposes.

matrix_gradient_rules <- list(
  # M. B. Giles (2008): Collected matrix derivative results for forward and reverse mode
  # algorithmic differentiation, for the products, solutions, inverses and determinants.
  matmul = function(g, x, y, at) {
    left <- isTRUE(at$transpose_lhs)
    right <- isTRUE(at$transpose_rhs)
    lhs <- conjugate(x[[1L]])
    rhs <- conjugate(x[[2L]])
    list(
      if (left) product_or_outer(rhs, g, right, TRUE) else product_or_outer(g, rhs, FALSE, !right),
      if (right) product_or_outer(g, lhs, TRUE, left) else product_or_outer(lhs, g, !left, FALSE)
    )
  },
  packed_product = function(g, x, y, at) {
    list(NULL, matrix_product(unpack_bytes(x[[1L]], at$k), g, FALSE, FALSE))
  },
  solve = function(g, x, y, at) {
    tol <- if (is.null(at$from)) .Machine$double.eps else at$from
    right <- nv_solve(adjoint(x[[1L]]), g, tol)
    list(-product_adjoint(right, y[[1L]]), right)
  },
  inverse = function(g, x, y, at) {
    list(-product_adjoint(adjoint_product(y[[1L]], g), y[[1L]]))
  },
  triangular_solve = function(g, x, y, at) {
    lower <- isTRUE(at$lower)
    turn <- isTRUE(at$transpose)
    unit <- isTRUE(at$unit_diagonal)
    right <- nv_triangular_solve(
      conjugate(x[[1L]]), g, lower = lower, unit_diag = unit, transpose = !turn
    )
    whole <- if (turn) {
      nv_tcrossprod(conjugate(y[[1L]]), right)
    } else {
      product_adjoint(right, y[[1L]])
    }
    list(-(if (lower) nv_tril(whole, -unit) else nv_triu(whole, as.numeric(unit))), right)
  },
  # Of a symmetric operand, as for eigh(): see ?gradient. I. Murray (2016): Differentiation of the
  # Cholesky decomposition.
  chol = function(g, x, y, at) {
    lower <- if (isTRUE(at$lower)) y[[1L]] else adjoint(y[[1L]])
    inner <- half_lower(adjoint_product(lower, if (isTRUE(at$lower)) g else adjoint(g)))
    across <- conjugate(lower)
    half <- nv_triangular_solve(across, inner, transpose = TRUE)
    list(symmetric(adjoint(nv_triangular_solve(across, adjoint(half), transpose = TRUE))))
  },
  det = function(g, x, y, at) {
    list(as_matrices(g * conjugate(y[[1L]]), x[[1L]]) * adjoint(nv_inv(x[[1L]])))
  },
  determinant = function(g, x, y, at) {
    # Of complex numbers the sign is exp(i t): t changes with the imaginary part of a trace.
    turn <- if (!is.null(g[[1L]]) && is_complex_dtype(g[[1L]])) {
      1i * nv_imag(g[[1L]] * nv_conj(y[[1L]]))
    }
    g <- if (is.null(turn)) g[[2L]] else if (is.null(g[[2L]])) turn else g[[2L]] + turn
    list(if (!is.null(g)) as_matrices(g, x[[1L]]) * adjoint(nv_inv(x[[1L]])))
  },
  lu = function(g, x, y, at) lu_gradient(g, x, y),
  # M. Seeger, A. Hetzel, Z. Dai, E. Meissner, N. D. Lawrence (2017): Auto-differentiating linear
  # algebra. arXiv:1710.08717. Also for eigh(), and for svd() of real numbers.
  qr = function(g, x, y, at) {
    extents <- shape(x[[1L]])
    if (extents[1L] < extents[2L]) {
      stop_joist(
        "joist_value_error", "the QR decomposition of a matrix with fewer rows than columns ",
        "has no derivative here"
      )
    }
    q <- y[[1L]]
    r <- y[[2L]]
    g_q <- if (is.null(g[[1L]])) zeros_like(q) else g[[1L]]
    g_r <- if (is.null(g[[2L]])) zeros_like(r) else g[[2L]]
    inner <- half_lower(product_adjoint(r, g_r) - adjoint_product(g_q, q))
    left <- g_q + nv_matmul(q, inner + adjoint(inner))
    list(adjoint(nv_triangular_solve(r, adjoint(left), lower = FALSE)))
  },
  eigh = function(g, x, y, at) {
    values <- y[[1L]]
    vectors <- y[[2L]]
    inner <- if (is.null(g[[1L]])) zeros_like(vectors) else in_diagonal(g[[1L]])
    if (!is.null(g[[2L]])) {
      inner <- inner + inverse_gaps(values) * adjoint_product(vectors, g[[2L]])
    }
    list(symmetric(product_adjoint(nv_matmul(vectors, inner), vectors)))
  },
  # The phase of vectors is LAPACK's choice, so that only results that do not depend on it have a
  # derivative: C. Boeddeker, P. Hanebrink, L. Drude, J. Heymann, R. Haeb-Umbach (2017): On the
  # computation of complex-valued gradients with application to statistically optimum beamforming.
  eig = function(g, x, y, at) {
    vectors <- y[[2L]]
    inner <- if (is.null(g[[1L]])) zeros_like(vectors) else in_diagonal(g[[1L]])
    if (!is.null(g[[2L]])) {
      across <- adjoint_product(vectors, g[[2L]])
      lengths <- in_rows(diagonal_entries(nv_real(across)))
      own <- adjoint_product(vectors, vectors) * lengths
      inner <- inner + nv_conj(inverse_gaps(y[[1L]])) * (across - own)
    }
    list(nv_solve(adjoint(vectors), product_adjoint(inner, vectors)))
  },
  eigvals = function(g, x, y, at) {
    vectors <- apply_operation("eig", list(x[[1L]]))[[2L]]
    list(nv_solve(adjoint(vectors), product_adjoint(in_diagonal(g), vectors)))
  },
  svd = function(g, x, y, at) svd_gradient(g, x, y),
  singular_values = function(g, x, y, at) svd_gradient(list(g, NULL, NULL), x, nv_svd(x[[1L]]))
)

# F. R. de Hoog, R. S. Anderssen, M. A. Lukas (2011): Differentiation of matrix functionals using
# triangular factorization. Math. Comp. 80.
lu_gradient <- function(g, x, y) {
  extents <- shape(x[[1L]])
  if (extents[1L] != extents[2L]) {
    stop_joist(
      "joist_value_error", "the LU decomposition of a matrix that is not square has no ",
      "derivative here"
    )
  }
  lower <- y[[2L]]
  upper <- y[[3L]]
  inner <- if (!is.null(g[[2L]])) nv_tril(adjoint_product(lower, g[[2L]]), -1)
  if (!is.null(g[[3L]])) {
    own <- nv_triu(product_adjoint(g[[3L]], upper))
    inner <- if (is.null(inner)) own else inner + own
  }
  left <- nv_triangular_solve(conjugate(lower), inner, unit_diag = TRUE, transpose = TRUE)
  rows <- adjoint(nv_triangular_solve(upper, adjoint(left), lower = FALSE))
  # Row i of these is row y[i] of x.
  order <- nv_argsort(y[[1L]], 1L)
  list(nv_take_along(rows, nv_broadcast_to(nv_unsqueeze(order, 2L), shape(rows)), 1L))
}

# Z.-Q. Wan, S.-X. Zhang (2019): Automatic differentiation for complex valued SVD.
# arXiv:1909.02659.
svd_gradient <- function(g, x, y) {
  d <- y[[1L]]
  u <- y[[2L]]
  v <- y[[3L]]
  inner <- if (is.null(g[[1L]])) zeros_like(in_diagonal(d)) else in_diagonal(g[[1L]])
  gaps <- inverse_gaps(d * d)
  scale <- in_rows(d)
  rest <- NULL
  turn <- NULL
  if (!is.null(g[[2L]])) {
    across <- adjoint_product(u, g[[2L]])
    inner <- inner + gaps * (across - adjoint(across)) * scale
    own <- (g[[2L]] - nv_matmul(u, across)) / scale
    rest <- product_adjoint(own, v)
    turn <- across
  }
  if (!is.null(g[[3L]])) {
    across <- adjoint_product(v, g[[3L]])
    inner <- inner + turned(scale) * (gaps * (across - adjoint(across)))
    own <- product_adjoint(u, (g[[3L]] - nv_matmul(v, across)) / scale)
    rest <- if (is.null(rest)) own else rest + own
    turn <- if (is.null(turn)) -across else turn - across
  }
  if (!is.null(turn) && is_complex_dtype(turn)) {
    inner <- inner + in_diagonal(nv_imag(diagonal_entries(turn)) / d) * 0.5i
  }
  whole <- product_adjoint(nv_matmul(u, inner), v)
  list(if (is.null(rest)) whole else whole + rest)
}

# ---- what these rules are made of ----

# A product of matrices. One of a column and a row is elementwise, and fused with its neighbours.
product_or_outer <- function(x, y, turn_x, turn_y) {
  if (shape(x)[2L - turn_x] != 1L || ndims(x) != ndims(y)) {
    return(matrix_product(x, y, turn_x, turn_y))
  }
  rows <- shape(x)[1L + turn_x]
  columns <- shape(y)[2L - turn_y]
  column <- nv_reshape(x, c(rows, 1L, shape(x)[-(1:2)]))
  column * nv_reshape(y, c(1L, columns, shape(y)[-(1:2)]))
}

# Matrices in the first two dims.
turned <- function(x) {
  dims <- seq_along(shape(x))
  nv_transpose(x, replace(dims, 1:2, 2:1))
}

# Numbers of a batch as matrices of one element.
as_matrices <- function(g, x) nv_reshape(g, c(1, 1, shape(x)[-(1:2)]))

in_rows <- function(x) nv_reshape(x, c(1, shape(x)))

# Where the diagonals are of matrices of which x has a row for each.
diagonals_for <- function(x) {
  n <- shape(x)[1L]
  batch <- rep(1, length(shape(x)) - 1L)
  nv_iota(1L, "i64", c(n, 1, batch)) == nv_iota(2L, "i64", c(1, n, batch))
}

in_diagonal <- function(x) nv_ifelse(diagonals_for(x), in_rows(x), 0)

# 1 / (x[j] - x[i]), and 0 in the diagonal.
inverse_gaps <- function(x) {
  same <- diagonals_for(x)
  gaps <- in_rows(x) - turned(in_rows(x))
  nv_ifelse(same, 0, 1 / nv_ifelse(same, 1, gaps))
}

# Conjugate transposes.
adjoint <- function(x) turned(conjugate(x))

adjoint_product <- function(x, y) nv_crossprod(conjugate(x), y)

product_adjoint <- function(x, y) nv_tcrossprod(x, conjugate(y))

symmetric <- function(x) (x + adjoint(x)) / 2

# The lower triangle with half of the diagonal.
half_lower <- function(x) {
  lower <- nv_tril(x)
  lower - nv_triu(lower) / 2
}

# The sum of columns in which all other elements are 0.
diagonal_entries <- function(x) nv_reduce_sum(nv_tril(nv_triu(x)), 1L)
