#' Eigenvalues of general matrices and LU decompositions
#'
#' `nv_eig()` returns the eigenvalues and eigenvectors of a square matrix, `nv_eigvals()` the
#' eigenvalues alone, in less time. `nv_lu()` returns the factors of the rows of a matrix in another
#' order.
#'
#' Eigenvalues are complex, also if all imaginary parts are 0, and ordered from the largest modulus
#' to the smallest, as by R's [base::eigen()]. Vectors have the length 1. For symmetric matrices
#' [nv_eigh()] is faster and its results are real.
#'
#' With m rows, n columns and k the smaller of both, `L` is m x k, with ones in the diagonal, and
#' `U` is k x n. Row i of `L %*% U` is row `p[i]` of `x`.
#'
#' @inherit nv_solve details
#' @param x A tensor: a matrix or a batch of matrices.
#' @return `nv_eig()`: a list of `values` and `vectors`; `nv_eigvals()`: a tensor. Their dtype is
#'   `c64` or `c128`, by the float that [nv_solve()] returns. `nv_lu()`: a list of the positions `p`
#'   (`i32`) and the factors `L` and `U`. The batch dimensions come last.
#' @section Errors: `joist_value_error` for elements that are not finite (except in `nv_lu()`), with
#'   their position, and if LAPACK does not converge; `joist_shape_error` if the matrix of
#'   `nv_eig()` or `nv_eigvals()` is not square.
#' @examples
#' x <- nv_tensor(matrix(c(0, -1, 1, 0), 2), "f64")
#' nv_eig(x)
#' nv_eigvals(x)
#' nv_lu(x)
#' @export
nv_eig <- function(x) stats::setNames(linear_algebra("eig", list(x)), c("values", "vectors"))

#' @rdname nv_eig
#' @export
nv_eigvals <- function(x) linear_algebra("eigvals", list(x))

#' @rdname nv_eig
#' @export
nv_lu <- function(x) stats::setNames(linear_algebra("lu", list(x)), c("p", "L", "U"))

#' Least squares, pseudoinverses and functions of matrices
#'
#' `nv_lstsq()` finds the `x` that minimizes the sum of squares of `a %*% x - b`, of several the
#' shortest; `nv_pinv()` is the Moore-Penrose inverse of a matrix, `nv_matrix_rank()` its rank.
#' `nv_matrix_power()` multiplies a square matrix by itself, `nv_expm()` is its exponential.
#' `nv_kron()` is the Kronecker product, `nv_cross()` the cross product of vectors of length 3,
#' and `nv_trace()` the sum of a diagonal.
#'
#' Least squares, pseudoinverses and ranks come from [nv_svd()]: singular values of at most `tol`
#' times the largest count as zero. The exponential is computed in double, by scaling and squaring
#' of a Padé approximant, and rounded to the dtype of the result. While [jit()] traces, the
#' norm of the matrix must be at most `5e6`.
#'
#' @param x,a A tensor: a matrix or a batch of matrices. Of `nv_kron()` and `nv_cross()`, a tensor
#'   of any shape.
#' @param b The right-hand sides, as for [nv_solve()].
#' @param y A tensor: the second factor.
#' @param tol A relative tolerance, an R number; `NULL` for the larger extent of the matrix times
#'   the precision of the dtype ([dtype_info()]).
#' @param n A whole R number. For negative ones the inverse is multiplied.
#' @param dim The dimension of length 3, a number or name.
#' @param offset Which diagonal: the main one (0), those above (positive) or below (negative).
#' @return A tensor: of the dtypes of [nv_solve()], [nv_matmul()] (`nv_matrix_power()`, where `n` is
#'   not negative), [nv_mul()] (`nv_kron()`, `nv_cross()`) or [nv_reduce_sum()] (`nv_trace()`);
#'   `nv_matrix_rank()` returns `i64`.
#' @section Errors: Those of [nv_svd()] and [nv_inv()]; `joist_shape_error` for shapes that do not
#'   fit; `joist_value_error` for an invalid `tol`, `n` or `offset`.
#' @references N. J. Higham: The scaling and squaring method for the matrix exponential revisited.
#'   SIAM Journal on Matrix Analysis and Applications 26 (2005), 1179-1193.
#'
#'   G. H. Golub and V. Pereyra: The differentiation of pseudo-inverses and nonlinear least squares
#'   problems whose variables separate. SIAM Journal on Numerical Analysis 10 (1973), 413-432.
#' @examples
#' a <- nv_tensor(matrix(c(1, 1, 1, 1, 2, 3), 3), "f64")
#' nv_lstsq(a, c(1, 2, 2))
#' nv_pinv(a)
#' nv_matrix_rank(a)
#' nv_matrix_power(nv_crossprod(a), 2)
#' nv_expm(nv_tensor(matrix(c(0, 0, 1, 0), 2)))
#' nv_kron(nv_eye(2), a)
#' nv_cross(nv_tensor(c(1, 0, 0)), nv_tensor(c(0, 1, 0)))
#' nv_trace(nv_crossprod(a))
#' @export
nv_lstsq <- function(a, b, tol = NULL) {
  check_tolerance(tol)
  a <- widened_for(as_operand(a), b)
  b <- right_side(b)
  extents <- part_shape(b)
  columns <- if (length(extents) < 2L) with_matrix_shape(b, c(prod(extents), 1)) else b
  solution <- custom_gradient(
    function(a, b) {
      parts <- nv_svd(a)
      nv_matmul(parts$v, reciprocals(parts$d, a, tol) * adjoint_product(parts$u, b))
    },
    function(g, x, a, b) {
      inverse <- nv_pinv(a, tol)
      list(
        slope_of_inverse(product_adjoint(g, as_operand(b)), a, inverse),
        adjoint_product(inverse, g)
      )
    }
  )
  without_column(solution(a, columns), b)
}

#' @rdname nv_lstsq
#' @export
nv_pinv <- function(x, tol = NULL) {
  check_tolerance(tol)
  inverse <- custom_gradient(
    function(x) {
      parts <- nv_svd(x)
      product_adjoint(parts$v * turned(reciprocals(parts$d, x, tol)), parts$u)
    },
    function(g, value, x) list(slope_of_inverse(g, x, value))
  )
  inverse(as_operand(x))
}

# The derivative by a matrix whose rank stays: Golub and Pereyra (1973), (4.12).
slope_of_inverse <- function(g, x, inverse) {
  turned_g <- adjoint(g)
  own <- product_adjoint(adjoint_product(inverse, g), inverse)
  left <- nv_matmul(turned_g, product_adjoint(inverse, inverse))
  right <- nv_matmul(adjoint_product(inverse, inverse), turned_g)
  left - nv_matmul(x, nv_matmul(inverse, left)) + right - nv_matmul(nv_matmul(right, inverse), x) -
    own
}

# As a column for each matrix: 1 / d, and 0 for those that count as zero.
reciprocals <- function(d, x, tol) {
  large <- large_values(d, x, tol)
  nv_unsqueeze(nv_ifelse(large, 1 / nv_ifelse(large, d, 1), 0), 2L)
}

large_values <- function(d, x, tol) {
  extents <- shape(x)[1:2]
  if (min(extents) == 0L) {
    return(d > 0)
  }
  if (is.null(tol)) tol <- max(extents) * dtype_facts(dtype(d))$eps
  nv_gt(d, nv_reduce_max(d, 1L, drop = FALSE) * tol)
}

check_tolerance <- function(tol) {
  if (!is.null(tol)) check_number(tol, "tol")
}

#' @rdname nv_lstsq
#' @export
nv_matrix_rank <- function(x, tol = NULL) {
  check_tolerance(tol)
  x <- as_operand(x)
  d <- linear_algebra("singular_values", list(x))
  nv_count_nonzero(large_values(d, x, tol), 1L)
}

#' @rdname nv_lstsq
#' @export
nv_matrix_power <- function(x, n) {
  check_number(n, "n")
  if (!is_whole(n)) stop_joist("joist_value_error", "`n` must be a whole number")
  x <- as_operand(x)
  check_square(x)
  if (n < 0) x <- nv_inv(x)
  n <- abs(n)
  if (n == 0) {
    return(nv_broadcast_to(identity_for(x), shape(x)))
  }
  result <- NULL
  repeat {
    if (n %% 2 == 1) result <- if (is.null(result)) x else nv_matmul(result, x)
    n <- n %/% 2
    if (n == 0) {
      return(result)
    }
    x <- nv_matmul(x, x)
  }
}

check_square <- function(x) {
  extents <- shape(x)
  if (length(extents) < 2L || extents[1L] != extents[2L]) {
    stop_joist("joist_shape_error", "expected square matrices, got the shape ", shape_text(x))
  }
}

# The identity, for each matrix of a batch the same, in the dtype of x.
identity_for <- function(x) {
  extents <- shape(x)
  one <- nv_convert(nv_eye(extents[1L], "f64"), dtype(x), ambiguous(x))
  nv_reshape(one, c(extents[1:2], rep(1L, length(extents) - 2L)))
}

#' @rdname nv_lstsq
#' @export
nv_expm <- function(x) {
  x <- as_operand(x)
  check_square(x)
  like <- nv_inv(nv_aval(dtype(x), shape(x), ambiguous(x)))
  local_promotion("anvil")
  wide <- nv_convert(x, if (is_complex_dtype(x)) "c128" else "f64")
  same_names(nv_convert(exponential(wide), dtype(like), ambiguous(like)), x)
}

# Coefficients of the numerator of the Padé approximant of degree 13.
exponential_terms <- c(
  64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
  10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1
)

exponential <- function(x) {
  if (any(shape(x) == 0L)) {
    return(x)
  }
  b <- exponential_terms
  one <- identity_for(x)
  size <- nv_reduce_max(nv_reduce_sum(nv_abs(nv_stop_gradient(x)), 1L, drop = FALSE), 1:2, FALSE)
  # 5.37: norms up to this need no scaling.
  halvings <- nv_max(nv_ceiling(nv_log2(size / 5.371920351148152)), 0)
  x <- x * 2^(-halvings)
  x2 <- nv_matmul(x, x)
  x4 <- nv_matmul(x2, x2)
  x6 <- nv_matmul(x4, x2)
  odd <- nv_matmul(x6, b[14] * x6 + b[12] * x4 + b[10] * x2)
  odd <- nv_matmul(x, odd + b[8] * x6 + b[6] * x4 + b[4] * x2 + b[2] * one)
  even <- nv_matmul(x6, b[13] * x6 + b[11] * x4 + b[9] * x2)
  even <- even + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one
  result <- nv_solve(even - odd, even + odd)
  steps <- if (is_traced(halvings)) 20 else max(as_array(halvings))
  for (k in seq_len(steps)) {
    result <- nv_ifelse(halvings >= k, nv_matmul(result, result), result)
  }
  result
}

#' @rdname nv_lstsq
#' @export
nv_kron <- function(x, y) {
  if (missing(x)) stop_missing("x")
  if (missing(y)) stop_missing("y")
  x <- tensor_beside(x, y)
  y <- tensor_beside(y, x)
  rank <- max(ndims(x), ndims(y))
  outer <- c(shape(x), rep(1L, rank - ndims(x)))
  inner <- c(shape(y), rep(1L, rank - ndims(y)))
  ones <- rep(1L, rank)
  product <- nv_reshape(x, c(rbind(ones, outer))) * nv_reshape(y, c(rbind(inner, ones)))
  nv_reshape(product, outer * inner)
}

#' @rdname nv_lstsq
#' @export
nv_cross <- function(x, y, dim = 1L) {
  if (missing(x)) stop_missing("x")
  if (missing(y)) stop_missing("y")
  x <- tensor_beside(x, y)
  y <- tensor_beside(y, x)
  dim <- dims_of(dim, x, "dim", single = TRUE)
  if (!identical(c(shape(x)[dim], shape(y)[dim]), c(3L, 3L))) {
    stop_joist("joist_shape_error", "both operands of a cross product must have an extent of 3")
  }
  along <- function(x) nv_roll(unname(x), -1L, dim)
  type <- abstract_of(x) * abstract_of(y)
  facts <- dtype_facts(dtype(type))
  # Products fit 64 bits.
  wide <- is_integer_dtype(type) && facts$bits <= 32 && format(dtype(type)) != "ui32"
  if (wide) {
    x <- nv_convert(x, "i64")
    y <- nv_convert(y, "i64")
  }
  rolled <- x * along(y) - along(x) * y
  if (wide) rolled <- converted_into(rolled, dtype(type), ambiguous(type))
  same_names(along(rolled), rolled)
}

#' @rdname nv_lstsq
#' @export
nv_trace <- function(x, offset = 0) {
  check_number(offset, "offset")
  if (!is_whole(offset)) stop_joist("joist_value_error", "`offset` must be a whole number")
  x <- as_operand(x)
  extents <- shape(x)
  if (length(extents) < 2L) {
    stop_joist("joist_shape_error", "a tensor of rank ", length(extents), " has no trace")
  }
  n <- max(0, min(extents[1L] + min(offset, 0), extents[2L] - max(offset, 0)))
  lines <- nv_reshape(x, c(extents[1L] * extents[2L], extents[-(1:2)]))
  first <- 1 + max(offset, 0) * extents[1L] + max(-offset, 0)
  batch <- rep(1L, length(extents) - 2L)
  found <- slice(lines, c(first, batch), c(extents[1L] + 1, batch), c(n, extents[-(1:2)]))
  nv_reduce_sum(found, 1L)
}
