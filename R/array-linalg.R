#' Linear equations and determinants
#'
#' `nv_solve()` solves `a %*% x == b`, and `nv_triangular_solve()` does so for a triangular matrix,
#' of which it reads one triangle; `nv_inv()` inverts a matrix; `nv_chol()` gives the triangular
#' (Cholesky) factor of a symmetric (or Hermitian) positive definite matrix, of which it reads the
#' same triangle;
#' `nv_det()` and `nv_determinant()` give determinants. R's generics `solve()`, `chol()` and
#' `determinant()`, and so `det()`, call them.
#'
#' Everything is computed in double precision and rounded once to the dtype of the result.
#' Equations, inverses and `nv_det()` of real matrices with at most 16 rows share a batch among
#' threads; all else calls the LAPACK that R is linked with, which can only be interrupted between
#' two matrices of a batch. Dimensions after the first two are a batch, as in [nv_matmul()].
#'
#' @param a,x A tensor: a matrix or a batch of matrices.
#' @param b The right-hand sides, as columns of a matrix; a vector is one column, and the solution
#'   is then a vector. `NULL` for the inverse of `a`.
#' @param tol A matrix is singular if its reciprocal condition number is less than this R number, as
#'   for R's [solve()]; with 0, only if it is exactly.
#' @param left `FALSE` solves `x %*% a == b`, with the right-hand sides as rows.
#' @param lower `TRUE` for a lower triangular matrix.
#' @param unit_diag `TRUE` takes the diagonal for ones without reading it.
#' @param transpose `TRUE` solves with `t(a)` instead of `a`.
#' @param logarithm `FALSE` for the modulus itself.
#' @param pivot `FALSE`.
#' @param ... Ignored.
#' @return A tensor of the common dtype of the operands, or of the float that the promotion rules
#'   make of it ([promotion_facts()]). `nv_chol()` gives `R` with `t(R) %*% R == x`, or with
#'   `lower = TRUE` `L` with
#'   `L %*% t(L) == x`. `nv_det()` has the shape of the batch, a scalar without one;
#'   `nv_determinant()` is a list of `modulus`, the logarithm of the absolute value, and
#'   `sign`, which is 1 or -1, or a complex number of modulus 1.
#' @section Errors: `joist_value_error` when a matrix is singular (exactly, or by `tol`), not
#'   positive definite (the leading minor is named), or has elements that are not finite, and for a
#'   `tol` that is not a number, or a `pivot` that is not `FALSE`; `joist_shape_error` when it is
#'   not square or `b` does not fit.
#' @examples
#' a <- nv_tensor(matrix(c(4, 2, 2, 3), 2), "f64")
#' nv_solve(a, c(1, 2))
#' nv_inv(a)
#' nv_matmul(nv_solve(a), a)
#' r <- nv_chol(a)
#' nv_crossprod(r)
#' nv_triangular_solve(r, c(1, 2), lower = FALSE, transpose = TRUE)
#' nv_det(a)
#' nv_determinant(a)
#' @concept slogdet
#' @export
nv_solve <- function(a, b = NULL, tol = .Machine$double.eps) {
  if (is.null(b)) nv_inv(a, tol) else solve_columns("solve", a, b, condition_from(tol))
}

#' @rdname nv_solve
#' @export
nv_inv <- function(a, tol = .Machine$double.eps) {
  linear_algebra("inverse", list(a), condition_from(tol))
}

condition_from <- function(tol) {
  check_number(tol, "tol")
  if (tol != .Machine$double.eps) list(from = tol)
}

#' @rdname nv_solve
#' @export
nv_triangular_solve <- function(a, b, left = TRUE, lower = TRUE, unit_diag = FALSE,
                                transpose = FALSE) {
  check_flag(left, "left")
  check_flag(lower, "lower")
  check_flag(unit_diag, "unit_diag")
  check_flag(transpose, "transpose")
  if (!left) b <- rows_as_columns(b)
  flags <- list(lower = lower, transpose = transpose == left, unit_diagonal = unit_diag)
  x <- solve_columns("triangular_solve", a, b, flags)
  if (left) x else rows_as_columns(x)
}

# Transposes every matrix of a batch and leaves a vector alone. An R array keeps its exact values.
rows_as_columns <- function(x) {
  if (length(part_shape(x)) < 2L) {
    x
  } else if (is.object(x)) {
    turned(x)
  } else {
    aperm(x, replace(seq_along(dim(x)), 1:2, 2:1))
  }
}

#' @rdname nv_solve
#' @export
nv_chol <- function(x, lower = FALSE) {
  check_flag(lower, "lower")
  linear_algebra("chol", list(x), list(lower = lower))
}

#' @rdname nv_solve
#' @export
nv_det <- function(x) linear_algebra("det", list(x))

#' @rdname nv_solve
#' @export
nv_determinant <- function(x, logarithm = TRUE) {
  check_flag(logarithm, "logarithm")
  parts <- linear_algebra("determinant", list(x))
  modulus <- parts[[2L]]
  list(modulus = if (logarithm) modulus else nv_exp(modulus), sign = parts[[1L]])
}

#' @rdname nv_solve
#' @export
solve.nv_tensor <- function(a, b, tol = .Machine$double.eps, ...) {
  nv_solve(a, if (!missing(b)) b, tol)
}

#' @rdname nv_solve
#' @export
chol.nv_tensor <- function(x, pivot = FALSE, ...) {
  if (!isFALSE(pivot)) stop_joist("joist_value_error", "chol() of a tensor does not pivot")
  nv_chol(x)
}

#' @rdname nv_solve
#' @export
determinant.nv_tensor <- function(x, logarithm = TRUE, ...) {
  structure(nv_determinant(x, logarithm), class = "det")
}

#' QR, singular value and eigenvalue decompositions
#'
#' `nv_qr()` gives the QR decomposition, also by `qr()`; `nv_svd()` the singular value
#' decomposition; `nv_eigh()` the eigenvalues and eigenvectors of a symmetric matrix, or a Hermitian
#' one, of which it reads the lower triangle.
#'
#' With m rows, n columns and k the smaller of both, `Q` is m x k and `R` is k x n; `d` has k
#' elements, largest first, `u` is m x k and `v` is n x k. `full = TRUE` makes `Q` m x m and `R`
#' m x n, `u` m x m and `v` n x n: no derivative goes through the columns that are added. Of complex
#' matrices, `u %*% diag(d) %*% Conj(t(v))` is `x`. Eigenvalues are ordered from the
#' largest to the smallest, as by R's `eigen()`. The decomposition does not pivot. Signs of
#' columns are those that LAPACK gives.
#'
#' `qr()` gives `Q` and `R` as an object of class `nv_qr`, which [qr.Q()], [qr.R()], [qr.coef()],
#' [qr.fitted()], [qr.resid()], [qr.solve()] and [solve()] read; all but `qr.Q()` and `qr.R()` need
#' at least as many rows as columns, and linearly independent columns: a column that depends on
#' others by `tol`, as in base R's [base::qr()], is an error. Its `$rank`, an R integer for each
#' matrix, counts the others, as base R does; in single precision, `tol` is what rounding leaves.
#'
#' @inherit nv_solve details
#' @param x A tensor: a matrix or a batch of matrices.
#' @param full `TRUE` for square factors.
#' @param tol A column depends on those before it if no more than this part of its length is left
#'   without them: an R number, which [qr.solve()] takes, too.
#' @param a A result of `qr()`.
#' @param b The right-hand sides, as for [nv_solve()]; without them the result is the inverse.
#' @param ... Ignored.
#' @return A list of tensors of the dtype of the operand, or of the float that the promotion rules
#'   make of it: `Q` and `R` from `nv_qr()` and `qr()`; `d`, `u` and `v` from `nv_svd()`; `values`
#'   and `vectors` from `nv_eigh()`. The batch dimensions come last. `solve()`: a tensor.
#' @section Errors: `joist_value_error` for elements that are not finite (except in `nv_qr()`), with
#'   their position, when LAPACK does not converge, and for dependent columns; `joist_shape_error`
#'   if the matrix of `nv_eigh()` is not square.
#' @examples
#' x <- nv_tensor(matrix(c(2, 1, 1, 3, 0, 1), 3), "f64")
#' nv_qr(x)
#' qr.coef(qr(x), c(1, 2, 3)) # least squares
#' s <- nv_svd(x)
#' nv_matmul(s$u * t(s$d), t(s$v))
#' nv_eigh(nv_crossprod(x))
#' @export
nv_qr <- function(x, full = FALSE) {
  check_flag(full, "full")
  parts <- stats::setNames(linear_algebra("qr", list(x)), c("Q", "R"))
  if (full) list(Q = all_columns(parts$Q), R = with_rows(parts$R, shape(parts$Q)[1L])) else parts
}

# Orthonormal columns, and as many more as make a square matrix: of these and columns of zeros, Q
# has the same columns but for their phases.
all_columns <- function(q) {
  extents <- shape(q)
  more <- extents[1L] - extents[2L]
  if (more == 0L) {
    return(q)
  }
  rest <- rep(0, length(extents) - 2L)
  wide <- apply_operation("pad", list(q, zero_of(q)), list(high = c(0, more, rest)))
  found <- nv_stop_gradient(linear_algebra("qr", list(wide))[[1L]])
  start <- c(0, extents[2L], rest) + 1
  nv_concatenate(q, slice(found, start, 1L, replace(extents, 2L, more)), dim = 2L)
}

with_rows <- function(x, n) {
  more <- n - shape(x)[1L]
  high <- replace(rep(0, ndims(x)), 1L, more)
  if (more == 0L) x else apply_operation("pad", list(x, zero_of(x)), list(high = high))
}

#' @rdname nv_qr
#' @export
qr.nv_tensor <- function(x, tol = 1e-07, ...) {
  check_number(tol, "tol")
  made <- nv_qr(x)
  made$R <- with_labels(made$R, replace(labels_of(made$R), 2L, labels_of(x)[2L]))
  structure(made, class = "nv_qr", tol = if (tol != 1e-07) tol)
}

#' @rdname nv_qr
#' @export
solve.nv_qr <- function(a, b, ...) if (missing(b)) solve_by_qr(a) else solve_by_qr(a, b)

#' @export
`$.nv_qr` <- function(x, name) if (name == "rank") qr_rank(x) else unclass(x)[[name]]

# The columns of R depend on each other as those of the matrix do. A complex column is two real
# ones.
qr_rank <- function(qr) {
  factor <- qr$R
  extents <- shape(factor)
  tol <- max(tolerance_of(qr), max(shape(qr$Q)[1L], extents) * dtype_info(factor)$eps)
  elements <- as_array(in_double(factor))
  dim(elements) <- c(extents[1:2], prod(extents[-(1:2)]))
  ranks <- vapply(seq_len(dim(elements)[3L]), function(batch) {
    m <- matrix(elements[, , batch], extents[1L])
    if (length(m) == 0L) {
      return(0L)
    }
    if (!is.complex(m)) {
      return(base::qr(m, tol = tol)$rank)
    }
    pairs <- order(rep(seq_len(ncol(m)), 2L))
    m <- rbind(cbind(Re(m), -Im(m)), cbind(Im(m), Re(m)))[, pairs]
    base::qr(m, tol = tol)$rank %/% 2L
  }, 0L)
  if (length(extents) > 2L) array(ranks, extents[-(1:2)]) else ranks
}

tolerance_of <- function(qr) {
  tol <- attr(qr, "tol", exact = TRUE)
  if (is.null(tol)) 1e-07 else tol
}

#' @export
print.nv_qr <- function(x, ...) {
  print(unclass(x), ...)
  invisible(x)
}

# Of the result of qr().
factor_of <- function(qr, factor, complete, plain = TRUE) {
  check_flag(complete, "complete")
  if (!plain) stop_joist("joist_value_error", "qr.Q() of a tensor has no `Dvec`")
  if (!complete) {
    qr[[factor]]
  } else if (factor == "Q") {
    all_columns(qr$Q)
  } else {
    with_rows(qr$R, shape(qr$Q)[1L])
  }
}

solve_by_qr <- function(a, b = NULL, tol = 1e-07) {
  if (!inherits(a, "nv_qr")) a <- qr(widened_for(a, b), tol = tol)
  least_squares(a, if (is.null(b)) nv_eye(shape(a$Q)[1L], dtype(a$Q)) else b)
}

# A matrix that is to be decomposed, in the dtype of the solution for that right side.
widened_for <- function(a, b) {
  if (!is_tensor(a) || !is_tensor(b)) {
    return(a)
  }
  in_float <- function(x) if (is_complex_dtype(x)) none_of(x) else float_operand(none_of(x))
  type <- nv_mul(in_float(a), in_float(b))
  if (dtype(type) == dtype(in_float(a))) a else converted_into(a, dtype(type), ambiguous(type))
}

# A right side in floats, so that rules by which integers win over floats do not round solutions.
right_side <- function(y) {
  if (is_tensor(y)) {
    return(if (is_inexact_dtype(y)) y else float_operand(y))
  }
  if (is.integer(y)) storage.mode(y) <- "double"
  y
}

least_squares <- function(qr, y) {
  y <- right_side(y)
  check_independent(qr)
  extents <- shape(qr$R)
  if (extents[1L] < extents[2L]) {
    stop_joist(
      "joist_shape_error", "a matrix with fewer rows than columns has no least squares solution ",
      "of its own"
    )
  }
  without_column(nv_triangular_solve(qr$R, adjoint_product(qr$Q, y), lower = FALSE), y)
}

fitted_by <- function(qr, y) {
  y <- right_side(y)
  check_independent(qr)
  same_names(without_column(nv_matmul(qr$Q, adjoint_product(qr$Q, y)), y), y)
}

# Without pivoting, Q and R say nothing of columns that depend on others: those of which no more is
# left than a part of their length.
check_independent <- function(qr) {
  factor <- qr$R
  tol <- tolerance_of(qr)
  if (!has_elements(factor)) {
    return(invisible())
  }
  squares <- as_array(in_double(nv_abs(factor)))^2
  n <- min(dim(squares)[1:2])
  dim(squares) <- c(dim(squares)[1:2], length(squares) / prod(dim(squares)[1:2]))
  for (batch in seq_len(dim(squares)[3L])) {
    square <- squares[seq_len(n), seq_len(n), batch]
    square <- matrix(square, n)
    dependent <- which(sqrt(diag(square)) <= tol * sqrt(colSums(square)))
    if (length(dependent) > 0L) {
      stop_joist(
        "joist_value_error", "column ", dependent[1L], " of the matrix depends on those before ",
        "it, so the least squares solution is not unique; leave the column out, or use nv_svd()"
      )
    }
  }
}

# Of one vector on the right side, a vector.
without_column <- function(x, y) {
  if (length(part_shape(y)) >= 2L) {
    return(x)
  }
  with_labels(nv_reshape(x, shape(x)[-2L]), labels_of(x)[-2L])
}

#' @rdname nv_qr
#' @export
nv_svd <- function(x, full = FALSE) {
  check_flag(full, "full")
  parts <- stats::setNames(linear_algebra("svd", list(x)), c("d", "u", "v"))
  if (full) parts[2:3] <- lapply(parts[2:3], all_columns)
  parts
}

#' @rdname nv_qr
#' @export
nv_eigh <- function(x) {
  stats::setNames(linear_algebra("eigh", list(x)), c("values", "vectors"))
}

linear_algebra <- function(op, operands, attributes = NULL) {
  .Call(joist_r_operation, op, operands, attributes)
}

# Right sides may be one vector, as may the solution then.
solve_columns <- function(op, a, b, flags = NULL) {
  extents <- part_shape(b)
  if (length(extents) >= 2L) {
    return(linear_algebra(op, list(a, b), flags))
  }
  n <- prod(extents)
  without_column(linear_algebra(op, list(a, with_matrix_shape(b, c(n, 1))), flags), b)
}
