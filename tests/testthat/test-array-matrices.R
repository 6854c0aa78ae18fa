# Complex linear algebra, eigenvalues, LU, and what is composed of them: against base R, by putting
# parts together again, and by exact results.

random_complex_matrix <- function(rows, columns = rows) {
  n <- rows * columns
  matrix(complex(real = rnorm(n), imaginary = rnorm(n)), rows, columns)
}

adjoint_of <- function(x) Conj(t(x))

parts_of <- function(x) {
  lapply(x, function(part) if (ndims(part) == 2L) as.matrix(part) else as_array(part))
}

test_that("equations, inverses and factors of complex matrices are those of base R", {
  set.seed(11)
  for (n in c(1, 2, 5, 16, 17, 30)) {
    a <- random_complex_matrix(n)
    b <- random_complex_matrix(n, 3)
    x <- nv_tensor(a, "c128")
    expect_equal(as.matrix(nv_solve(x, nv_tensor(b, "c128"))), solve(a, b))
    expect_equal(as.matrix(nv_inv(x)), solve(a))
    expect_equal(as_array(nv_det(x)), prod(eigen(a)$values))
    d <- nv_determinant(x)
    expect_equal(as_array(d$sign) * exp(as_array(d$modulus)), prod(eigen(a)$values))
    expect_identical(format(dtype(d$modulus)), "f64")
    h <- adjoint_of(a) %*% a + diag(n)
    y <- nv_tensor(h, "c128")
    r <- as.matrix(nv_chol(y))
    expect_equal(adjoint_of(r) %*% r, h)
    expect_equal(as.matrix(nv_chol(y, lower = TRUE)), adjoint_of(r))
    parts <- parts_of(nv_eigh(y))
    expect_equal(parts$values, eigen(h)$values)
    expect_equal(parts$vectors %*% (parts$values * adjoint_of(parts$vectors)), h)
    upper <- a
    upper[lower.tri(upper)] <- 0
    for (transpose in c(TRUE, FALSE)) {
      got <- nv_triangular_solve(x, nv_tensor(b, "c128"), lower = FALSE, transpose = transpose)
      expect_equal((if (transpose) t(upper) else upper) %*% as.matrix(got), b)
    }
  }
  # c64 is computed in c128 and rounded once.
  x <- nv_tensor(random_complex_matrix(4), "c64")
  expect_identical(nv_inv(x), nv_convert(nv_inv(nv_convert(x, "c128")), "c64"))
  expect_identical(format(dtype(nv_svd(x)$d)), "f32")
  expect_error(nv_inv(nv_tensor(matrix(c(1, 1i, 1i, -1), 2), "c128")), "pivot 2",
    class = "joist_value_error")
  expect_error(nv_svd(nv_tensor(matrix(c(1, 2, complex(real = 1, imaginary = NaN), 4), 2))),
    "row 1, column 2", class = "joist_value_error")
})

test_that("full and reduced factors of every shape multiply to the matrix", {
  set.seed(12)
  for (extents in list(c(5, 3), c(3, 5), c(4, 4), c(1, 3), c(3, 1), c(3, 0), c(0, 3))) {
    z <- random_complex_matrix(extents[1], extents[2])
    for (a in list(z, Re(z))) {
      x <- nv_tensor(a, if (is.complex(a)) "c128" else "f64", extents)
      for (full in c(TRUE, FALSE)) {
        q <- parts_of(nv_qr(x, full))
        expect_equal(q$Q %*% q$R, a)
        expect_equal(max(Mod(adjoint_of(q$Q) %*% q$Q - diag(1, ncol(q$Q))), 0), 0)
        s <- parts_of(nv_svd(x, full))
        k <- seq_along(s$d)
        u <- s$u[, k, drop = FALSE]
        v <- s$v[, k, drop = FALSE]
        expect_equal(u %*% (s$d * adjoint_of(v)), a)
        expect_equal(max(Mod(adjoint_of(s$u) %*% s$u - diag(1, ncol(s$u))), 0), 0)
        expect_equal(max(Mod(adjoint_of(s$v) %*% s$v - diag(1, ncol(s$v))), 0), 0)
        sides <- if (full) extents else rep(min(extents), 2)
        expect_identical(c(ncol(s$u), ncol(s$v), ncol(q$Q)), as.integer(sides[c(1, 2, 1)]))
      }
      parts <- parts_of(nv_lu(x))
      expect_equal(parts$L %*% parts$U, a[parts$p, , drop = FALSE])
      expect_identical(sort(parts$p), seq_len(extents[1]))
    }
  }
  # A singular matrix has an LU decomposition.
  parts <- parts_of(nv_lu(nv_tensor(matrix(c(0, 0, 0, 4), 2), "f64")))
  expect_identical(parts$L %*% parts$U, matrix(c(0, 0, 0, 4), 2)[parts$p, ])
})

test_that("eigenvalues of general matrices are those of base R, in its order", {
  set.seed(13)
  for (n in c(1, 2, 3, 7, 20)) {
    z <- random_complex_matrix(n)
    for (a in list(z, Re(z))) {
      x <- nv_tensor(a, if (is.complex(a)) "c128" else "f64")
      want <- eigen(a)
      got <- parts_of(nv_eig(x))
      expect_equal(got$values, as.complex(want$values))
      expect_equal(got$vectors, want$vectors + 0i)
      expect_equal(as_array(nv_eigvals(x)), as.complex(want$values))
    }
  }
  turn <- nv_tensor(matrix(c(0, 1, -1, 0), 2), "f32")
  expect_identical(as_array(nv_eigvals(turn)), c(1i, -1i))
  expect_identical(type_of(nv_eigvals(turn)), "c64")
  expect_identical(type_of(nv_eig(nv_tensor(diag(2), "f16"))$values), "c64")
  batch <- nv_stack(turn, turn * 2, dim = 3L)
  expect_identical(as_array(nv_eigvals(batch))[, 2], c(2i, -2i))
  expect_identical(jit(nv_eigvals)(batch), nv_eigvals(batch))
  expect_identical(nv_vmap(nv_eigvals, 3L, 2L)(batch), nv_eigvals(batch))
})

test_that("matrices of few rows are solved as LAPACK solves them, one or many", {
  set.seed(14)
  for (n in c(1, 2, 3, 5, 8, 16)) {
    a <- array(rnorm(n * n * 200), c(n, n, 200))
    b <- array(rnorm(n * 2 * 200), c(n, 2, 200))
    x <- nv_tensor(a, "f64")
    solved <- nv_solve(x, nv_tensor(b, "f64"))
    inverse <- nv_inv(x)
    determinants <- as.vector(nv_det(x))
    for (j in c(1:9, 200)) {
      one <- matrix(a[, , j], n)
      bound <- 1e-13 * kappa(one, exact = TRUE)
      got <- array(as_array(solved)[, , j], c(n, 2))
      expect_equal(got, solve(one, matrix(b[, , j], n)), tolerance = bound)
      expect_equal(matrix(as_array(inverse)[, , j], n), solve(one), tolerance = bound)
      expect_equal(determinants[j], det(one), tolerance = bound)
      alone <- as.vector(nv_inv(nv_tensor(one, "f64")))
      expect_identical(alone, as.vector(as_array(inverse)[, , j]))
    }
  }
  # Of several that have no solution, the first is named.
  a[, , c(7, 150)] <- 1
  expect_error(nv_inv(nv_tensor(a, "f64")), "matrix 7 of the batch", class = "joist_value_error")
  a[2, 3, 4] <- Inf
  expect_error(nv_inv(nv_tensor(a, "f64")), "row 2, column 3", class = "joist_value_error")
  # Nearly singular ones are refused, ill-conditioned ones solved, as by base R.
  hilbert <- function(n) 1 / (row(diag(n)) + col(diag(n)) - 1)
  for (n in 2:14) {
    want <- tryCatch(solve(hilbert(n)), error = function(e) NULL)
    got <- tryCatch(nv_inv(nv_tensor(hilbert(n), "f64")), joist_value_error = function(e) NULL)
    expect_identical(is.null(got), is.null(want), label = paste("Hilbert", n))
  }
  tiny <- nv_tensor(diag(c(5e-324, 5e-324)), "f64")
  expect_identical(as_array(nv_det(tiny)), 0)
})

test_that("singular matrices have base R's determinant", {
  for (values in list(matrix(c(1, 2, 2, 4), 2), matrix(0, 3, 3), matrix(c(2, 4, 1, 2), 2))) {
    x <- nv_tensor(values, "f64")
    want <- determinant(values)
    expect_identical(as.vector(det(x)), det(values))
    expect_identical(as.vector(determinant(x)$sign), as.double(want$sign))
    expect_identical(as.vector(determinant(x)$modulus), as.vector(want$modulus))
    expect_identical(as.vector(norm(x)), norm(values))
    expect_identical(kappa(x), kappa(values))
  }
})

test_that("pseudoinverses meet Penrose's four conditions, and ranks are those of the factors", {
  set.seed(15)
  for (rank in 1:3) {
    for (complex in c(TRUE, FALSE)) {
      part <- function(rows, columns) {
        z <- random_complex_matrix(rows, columns)
        if (complex) z else Re(z)
      }
      a <- part(5, rank) %*% part(rank, 4)
      x <- nv_tensor(a, if (complex) "c128" else "f64")
      p <- as.matrix(nv_pinv(x))
      expect_equal(a %*% p %*% a, a)
      expect_equal(p %*% a %*% p, p)
      expect_equal(adjoint_of(a %*% p), a %*% p)
      expect_equal(adjoint_of(p %*% a), p %*% a)
      expect_identical(as.integer(nv_matrix_rank(x)), rank)
      b <- part(5, 2)
      expect_equal(as.matrix(nv_lstsq(x, nv_tensor(b, dtype(x)))), p %*% b)
    }
  }
  a <- matrix(rnorm(12), 6)
  y <- rnorm(6)
  expect_equal(as_array(nv_lstsq(nv_tensor(a, "f64"), y)), unname(coef(lm(y ~ a - 1))))
  expect_identical(as.integer(nv_matrix_rank(nv_tensor(diag(c(1, 1e-3)), "f64"), tol = 0.01)), 1L)
  none <- nv_fill(1, c(3, 0), "f64")
  expect_identical(as.integer(nv_matrix_rank(none)), 0L)
  expect_identical(shape(nv_pinv(none)), c(0L, 3L))
})

test_that("powers, exponentials, products and traces are what they are defined as", {
  set.seed(16)
  a <- matrix(rnorm(16), 4)
  x <- nv_tensor(a, "f64")
  expect_equal(as_array(nv_matrix_power(x, 5)), a %*% a %*% a %*% a %*% a)
  expect_equal(as_array(nv_matrix_power(x, -2)), solve(a) %*% solve(a))
  expect_identical(as_array(nv_matrix_power(x, 0)), diag(4))
  expect_identical(nv_matrix_power(x, 1), x)
  expect_error(nv_matrix_power(x[, 1:2], 2), "square", class = "joist_shape_error")
  e <- eigen(a)
  for (size in c(0, 1e-3, 1, 20)) {
    want <- Re(e$vectors %*% diag(exp(size * e$values)) %*% solve(e$vectors))
    expect_equal(as_array(nv_expm(x * size)), want)
    expect_equal(as_array(jit(nv_expm)(x * size)), want)
  }
  # The exponentials of a nilpotent matrix and of a rotation are known.
  expect_identical(as_array(nv_expm(nv_tensor(matrix(c(0, 0, 2, 0), 2), "f64"))),
    matrix(c(1, 0, 2, 1), 2))
  turn <- nv_tensor(matrix(c(0, 100, -100, 0), 2), "f64")
  expect_equal(as_array(nv_expm(turn)), matrix(c(cos(100), sin(100), -sin(100), cos(100)), 2))
  both <- nv_stack(turn, turn * 0, dim = 3L)
  expect_equal(as_array(nv_expm(both))[, , 2], diag(2))
  expect_identical(type_of(nv_expm(nv_tensor(diag(2), "f32"))), "f32")
  expect_identical(shape(nv_expm(nv_fill(1, c(0, 0), "f64"))), c(0L, 0L))
  b <- array(rnorm(12), c(2, 3, 2))
  expect_equal(as_array(nv_kron(x, nv_tensor(b, "f64"))), kronecker(a, b))
  expect_identical(as.double(nv_kron(nv_tensor(1:2), nv_tensor(3:5))), c(3, 4, 5, 6, 8, 10))
  cross <- nv_cross(nv_tensor(c(1, 2, 3), "f64"), nv_tensor(c(4, 6, 5), "f64"))
  expect_identical(as_array(cross), c(-8, 7, -2))
  rows <- nv_cross(nv_tensor(rbind(1:3, 3:1)), nv_tensor(rbind(4:6, 1:3)), dim = 2)
  expect_identical(as_array(rows), rbind(c(-3L, 6L, -3L), c(4L, -8L, 4L)))
  # Exact until the result, which may saturate.
  near <- nv_tensor(c(100, 100, 0), "i8")
  far <- nv_tensor(c(0, 100, 100), "i8")
  for (run in list(identity, jit)) {
    saturated <- with_promotion(NULL, run(nv_cross)(near, far), on = c(overflow = "saturate"))
    expect_identical(as_array(saturated), c(127L, -128L, 127L))
    fits <- with_promotion(NULL, run(nv_cross)(near, near), on = c(overflow = "error"))
    expect_identical(as_array(fits), integer(3))
    warns <- function() with_promotion(NULL, run(nv_cross)(near, far), on = c(overflow = "warn"))
    expect_warning(made <- warns(), class = "joist_overflow_warning")
    expect_identical(as_array(made), c(16L, -16L, 16L))
  }
  expect_identical(type_of(nv_cross(near, far[c(1, 1, 1)])), "i8")
  for (offset in -5:5) {
    expect_equal(as_array(nv_trace(x, offset)), sum(a[col(a) - row(a) == offset]))
  }
  expect_identical(as_array(nv_trace(nv_tensor(array(1:8, c(2, 2, 2))))), c(5, 13))
})

test_that("derivatives of complex linear algebra are what differences say", {
  set.seed(17)
  z <- random_complex_matrix(3)
  c1 <- nv_tensor(random_complex_matrix(3), "c128")
  joined <- function(re, im) re + im * nv_scalar(1i, "c128")
  weighed <- function(x) sum(nv_real(x * c1)) + sum(nv_real(x * nv_conj(x)))
  hermitian <- function(x) nv_matmul(x, nv_conj(t(x))) + nv_convert(nv_eye(3, "f64"), "c128")
  functions <- list(
    matmul = function(x) weighed(x %*% x), solve = function(x) weighed(nv_solve(x, c1)),
    inverse = function(x) weighed(nv_inv(x)), chol = function(x) weighed(nv_chol(hermitian(x))),
    det = function(x) nv_real(nv_det(x) * (2 + 1i)),
    determinant = function(x) {
      parts <- nv_determinant(x)
      parts$modulus + nv_real(parts$sign * (2 + 1i))
    },
    triangular = function(x) weighed(nv_triangular_solve(x, c1, transpose = TRUE)),
    lu = function(x) weighed(nv_lu(x)$L) + weighed(nv_lu(x)$U),
    qr = function(x) weighed(nv_qr(x)$Q) + weighed(nv_qr(x)$R),
    eigh = function(x) sum(nv_eigh(hermitian(x))$values * nv_tensor(c(1, 2, 4), "f64")),
    eig = function(x) sum(nv_abs(nv_eig(x)$vectors)^2 * nv_tensor(matrix(1:9, 3), "f64")),
    svd = function(x) {
      parts <- nv_svd(x)
      sum(parts$d^3) + weighed(parts$u %*% nv_conj(t(parts$v)))
    },
    pinv = function(x) weighed(nv_pinv(x)), expm = function(x) weighed(nv_expm(x))
  )
  for (name in names(functions)) {
    f <- functions[[name]]
    expect_no_error(
      check_gradient(function(re, im) f(joined(re, im)), nv_tensor(Re(z), "f64"),
        nv_tensor(Im(z), "f64")),
      message = name
    )
  }
})

test_that("components of cross products and elements of nv_expm() keep their names", {
  x <- c(a = 1, b = 2, c = 4)
  want <- c(a = -4, b = 0, c = 1)
  expect_identical(as_array(nv_cross(nv_tensor(x, "f64"), nv_tensor(c(0, 1, 0), "f64"))), want)
  expect_identical(as_array(nv_cross(c(0, 1, 0), nv_tensor(x, "f64"))), -want)
  m <- cbind(u = x, v = x)
  expect_identical(dimnames(nv_cross(nv_tensor(m), m)), dimnames(m))
  m <- matrix(1:4 + 0, 2, dimnames = list(c("r", "s"), c("A", "B")))
  expect_identical(dimnames(nv_expm(nv_tensor(m))), dimnames(m))
})

test_that("a matrix is decomposed in the dtype of the solution", {
  a <- matrix(c(0.125, 2.5, -3.75, 1e5, 7.25, 0.375), 3)
  b <- c(1.1, 2, 3.3)
  want <- base::qr.solve(a, b)
  for (d in c("f32", "f64", "c64")) {
    for (f in list(nv_lstsq, qr.solve)) {
      made <- f(nv_tensor(a, d), nv_tensor(b, "f64"))
      expect_equal(as_array(made), if (d == "c64") want + 0i else want, tolerance = 1e-13)
    }
  }
  expect_identical(type_of(nv_lstsq(nv_tensor(a, "f32"), b)), "f32")
})
