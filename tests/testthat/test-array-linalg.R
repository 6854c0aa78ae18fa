# Linear algebra by putting the parts together again, and against base R, in double.

# Of the narrow ones those that hold whole numbers up to 15.
linalg_dtypes <- function() dtypes_with(0:15, setdiff(dtypes(), c("bool", complexes())))

# Of the precision of the result; bf16 has 2^-8.
tolerance_of <- function(x) {
  switch(format(dtype(x)), f64 = 1e-12, f32 = 1e-5, f16 = 4e-3, bf16 = 4e-2, 0.1)
}

# Whole numbers, so that every dtype holds them; symmetric ones are positive definite.
whole_matrix <- function(dtype, rows, columns = rows, symmetric = FALSE) {
  x <- matrix(sample(0:3, rows * columns, TRUE), rows, columns)
  large <- if (is_narrow(dtype)) 12L else 4L * rows
  if (symmetric) x <- (x + t(x)) %/% 2L + diag(large, rows) else diag(x) <- diag(x) + 9L
  storage.mode(x) <- "double"
  x
}

float_result <- function(x) type_of(nv_sqrt(nv_fill(1, 1, dtype(x))))

expect_near <- function(got, want, label) {
  expect_equal(as_array(nv_convert(got, "f64")), want, tolerance = tolerance_of(got), label = label)
}

test_that("equations, inverses and determinants are those of base R, in every dtype", {
  set.seed(1)
  for (dtype in linalg_dtypes()) {
    a <- whole_matrix(dtype, 5)
    b <- whole_matrix(dtype, 5, 2)
    ta <- nv_tensor(a, dtype)
    x <- nv_solve(ta, nv_tensor(b, dtype))
    expect_identical(type_of(x), float_result(ta))
    expect_near(x, solve(a, b), dtype)
    expect_near(nv_solve(ta), solve(a), dtype)
    want <- det(a[1:3, 1:3]) # beyond what narrow floats hold
    if (is_narrow(dtype) && dtype %in% floats()) want <- round_to(want, dtype)
    expect_near(nv_det(ta[1:3, 1:3]), want, dtype)
    right <- if (dtype == "ui4") nv_tensor(b[, 1], dtype) else b[, 1]
    expect_near(solve(ta, right), solve(a, b[, 1]), dtype)
    s <- whole_matrix(dtype, 4, symmetric = TRUE)
    ts <- nv_tensor(s, dtype)
    expect_near(nv_chol(ts), chol(s), dtype)
    expect_near(nv_chol(ts, lower = TRUE), t(chol(s)), dtype)
    expect_identical(type_of(nv_chol(ts)), float_result(ta))
  }
})

test_that("`tol` is the least reciprocal condition number, as for base R's solve()", {
  set.seed(8)
  for (n in c(3, 20)) {
    a <- diag(10^seq(0, -18, length.out = n)) + upper.tri(diag(n)) * 0.1
    b <- matrix(rnorm(2 * n), n)
    x <- nv_tensor(a, "f64")
    expect_error(solve(a, b))
    expect_error(nv_solve(x, b), class = "joist_value_error")
    expect_error(nv_inv(x), class = "joist_value_error")
    expect_equal(as_array(nv_solve(x, b, tol = 0)), solve(a, b, tol = 0))
    expect_equal(as_array(solve(x, b, tol = 0)), solve(a, b, tol = 0))
    expect_equal(as_array(solve(x, tol = 0)), solve(a, tol = 0))
    expect_equal(as_array(jit(function(x) nv_inv(x, tol = 0))(x)), solve(a, tol = 0))
    slope <- gradient(function(x) sum(nv_solve(x, b, tol = 0)))(x)[[1L]]
    want <- -solve(t(a), matrix(1, n, 2), tol = 0) %*% t(solve(a, b, tol = 0))
    expect_equal(as_array(slope), want)
    well <- diag(n) + 0.01
    expect_identical(nv_solve(nv_tensor(well, "f64"), tol = 1e-3), nv_solve(nv_tensor(well, "f64")))
    expect_error(solve(well, tol = 0.99))
    expect_error(nv_solve(nv_tensor(well, "f64"), tol = 0.99), class = "joist_value_error")
  }
  expect_error(nv_inv(nv_tensor(matrix(1, 2, 2)), tol = 0), class = "joist_value_error")
  expect_error(nv_inv(nv_tensor(diag(2)), tol = NA), class = "joist_value_error")
})

test_that("f32 is computed in double and rounded once", {
  set.seed(2)
  x <- round_to(matrix(rnorm(36), 6), "f32")
  expect_identical(as_array(nv_inv(nv_tensor(x, "f32"))), round_to(solve(x), "f32"))
  expect_identical(as_array(nv_svd(nv_tensor(x, "f32"))$d),
    round_to(as_array(nv_svd(nv_tensor(x, "f64"))$d), "f32"))
})

test_that("triangular equations are those of backsolve() and forwardsolve()", {
  set.seed(3)
  a <- matrix(rnorm(25), 5) + diag(3, 5)
  b <- matrix(rnorm(10), 5)
  ta <- nv_tensor(a, "f64")
  for (transpose in c(TRUE, FALSE)) {
    expect_equal(as_array(nv_triangular_solve(ta, b, lower = FALSE, transpose = transpose)),
      backsolve(a, b, transpose = transpose))
    expect_equal(as_array(nv_triangular_solve(ta, b, transpose = transpose)),
      forwardsolve(a, b, transpose = transpose))
    for (lower in c(TRUE, FALSE)) {
      triangle <- replace(a, if (lower) upper.tri(a) else lower.tri(a), 0)
      x <- nv_triangular_solve(ta, t(b), left = FALSE, lower = lower, transpose = transpose)
      expect_equal(as_array(x) %*% (if (transpose) t(triangle) else triangle), t(b))
      row <- nv_triangular_solve(ta, b[, 1], left = FALSE, lower = lower, transpose = transpose)
      expect_equal(as_array(row), as_array(x)[1, ])
    }
  }
  unit <- a
  diag(unit) <- 1
  expect_equal(as_array(nv_triangular_solve(ta, b[, 1], lower = FALSE, unit_diag = TRUE)),
    as.vector(backsolve(unit, b[, 1])))
})

orthonormal <- function(q) expect_equal(crossprod(q), diag(ncol(q)), tolerance = 1e-13)

test_that("factors multiply to the matrix", {
  set.seed(4)
  for (extents in list(c(5, 5), c(7, 3), c(3, 7), c(1, 4), c(4, 1))) {
    x <- matrix(rnorm(prod(extents)), extents[1])
    tx <- nv_tensor(x, "f64")
    parts <- lapply(nv_qr(tx), as.matrix)
    expect_equal(parts$Q %*% parts$R, x)
    orthonormal(parts$Q)
    expect_true(all(parts$R[lower.tri(parts$R)] == 0))
    parts <- lapply(nv_svd(tx), as_array)
    expect_equal(parts$d, svd(x)$d)
    expect_equal(parts$u %*% (parts$d * t(parts$v)), x)
    orthonormal(parts$u)
    orthonormal(parts$v)
    s <- crossprod(x)
    parts <- lapply(nv_eigh(nv_tensor(s, "f64")), as_array)
    expect_equal(parts$values, eigen(s)$values)
    expect_equal(parts$vectors %*% (parts$values * t(parts$vectors)), s)
    orthonormal(parts$vectors)
  }
  # Only the triangle that is asked for is read.
  s[upper.tri(s)] <- 99
  expect_identical(as_array(nv_eigh(nv_tensor(s, "f64"))$values), parts$values)
})

test_that("R's generics work on tensors", {
  x <- nv_tensor(matrix(c(4, 2, 1, 2, 5, 3, 1, 3, 6), 3), "f64")
  a <- as_array(x)
  expect_equal(as_array(chol(x)), chol(a))
  expect_equal(as_array(solve(x)), solve(a))
  expect_equal(as_array(solve(x, 1:3)), solve(a, 1:3))
  expect_equal(names(qr(x)), c("Q", "R"))
  expect_equal(as.vector(det(x)), det(a))
  expect_equal(as.vector(determinant(-x)$modulus), as.vector(determinant(-a)$modulus))
  expect_equal(as.vector(determinant(-x, logarithm = FALSE)$modulus), det(a))
  expect_equal(as.vector(determinant(-x)$sign), -1)
})

test_that("base R's functions of a QR decomposition read that of a tensor", {
  set.seed(3)
  for (extents in list(c(5, 3), c(3, 3))) {
    a <- matrix(rnorm(prod(extents)), extents[1])
    x <- nv_tensor(a, "f64")
    q <- qr(x)
    expect_s3_class(q, "nv_qr")
    expect_equal(as_array(nv_matmul(qr.Q(q), qr.R(q))), a)
    expect_equal(as_array(nv_crossprod(qr.Q(q))), diag(3))
    for (y in list(rnorm(extents[1]), matrix(rnorm(2 * extents[1]), ncol = 2))) {
      b <- nv_tensor(y, "f64")
      for (side in list(y, b)) {
        expect_equal(as_array(qr.coef(q, side)), qr.coef(qr(a), y))
        expect_equal(as_array(qr.fitted(q, side)), qr.fitted(qr(a), y))
        expect_equal(as_array(qr.resid(q, side)), qr.resid(qr(a), y))
        expect_equal(as_array(qr.solve(q, side)), qr.solve(qr(a), y))
        expect_equal(as_array(qr.solve(x, side)), qr.solve(a, y))
        expect_equal(as_array(solve(q, side)), qr.solve(a, y))
      }
      expect_equal(as_array(jit(function(x, y) qr.coef(qr(x), y))(x, b)), qr.coef(qr(a), y))
    }
    expect_identical(jit(qr)(x), q)
    expect_identical(jit(qr.coef)(q, 1:extents[1]), qr.coef(q, 1:extents[1]))
    complete <- as_array(qr.Q(q, complete = TRUE))
    expect_equal(abs(complete), abs(qr.Q(qr(a), complete = TRUE)))
    expect_equal(complete %*% as_array(qr.R(q, TRUE)), a)
    expect_error(qr.Q(q, Dvec = 1), "Dvec", class = "joist_value_error")
  }
  # By `tol`, as base R.
  hilbert <- 1 / (outer(1:9, 1:9, `+`) - 1)
  h <- nv_tensor(hilbert, "f64")
  for (tol in c(1e-3, 1e-7)) {
    expect_error(qr.solve(hilbert, 1:9, tol = tol))
    expect_error(qr.solve(h, 1:9, tol = tol), class = "joist_value_error")
    expect_error(qr.coef(qr(h, tol = tol), 1:9), class = "joist_value_error")
  }
  want <- qr.solve(hilbert, 1:9, tol = 1e-14)
  expect_equal(as_array(qr.solve(h, 1:9, tol = 1e-14)), want, tolerance = 1e-3)
  expect_equal(as_array(qr.coef(qr(h, tol = 0), 1:9)), want, tolerance = 1e-3)
  expect_error(qr.solve(h, tol = "small"), class = "joist_value_error")
  expect_error(chol(h, pivot = TRUE), class = "joist_value_error")
  expect_equal(as_array(qr.solve(x)), solve(a))
  expect_equal(as_array(solve(q)), solve(a))
  wide <- qr(nv_tensor(matrix(1:6, 2), "f64"))
  expect_error(qr.coef(wide, 1:2), "fewer rows", class = "joist_shape_error")
  expect_output(print(q), "$Q", fixed = TRUE)
  expect_identical(dtype(qr.coef(qr(nv_tensor(a, "f32")), nv_tensor(1:3, "f32"))), as_dtype("f32"))
})

test_that("dimensions after the second are a batch", {
  set.seed(5)
  x <- array(rnorm(3 * 3 * 4 * 2), c(3, 3, 4, 2))
  b <- array(rnorm(3 * 2 * 4), c(3, 2, 4))
  tx <- nv_tensor(x, "f64")
  solution <- nv_solve(tx, b)
  determinants <- nv_det(tx)
  q <- nv_qr(tx)
  s <- nv_svd(tx)
  signs <- nv_determinant(tx)$sign
  expect_identical(shape(determinants), c(4L, 2L))
  expect_identical(shape(s$d), c(3L, 4L, 2L))
  for (i in 1:4) {
    for (j in 1:2) {
      expect_equal(as_array(solution)[, , i, j], solve(x[, , i, j], b[, , i]))
      expect_equal(as_array(determinants)[i, j], det(x[, , i, j]))
      expect_equal(as_array(signs)[i, j], sign(det(x[, , i, j])))
      expect_equal(as_array(s$d)[, i, j], svd(x[, , i, j])$d)
      expect_equal(as_array(nv_matmul(q$Q, q$R))[, , i, j], x[, , i, j])
    }
  }
  expect_equal(as_array(nv_matmul(nv_inv(tx), tx))[, , 2, 2], diag(3))
  expect_identical(shape(nv_solve(tx, 1:3)), c(3L, 4L, 2L))
})

test_that("zero extents", {
  none <- nv_tensor(matrix(0, 0, 0), "f64")
  expect_identical(shape(nv_chol(none)), c(0L, 0L))
  expect_identical(as.vector(nv_det(none)), 1)
  expect_identical(as.vector(nv_determinant(none)$modulus), 0)
  expect_identical(shape(nv_solve(none, nv_fill(1, c(0, 3), "f64"))), c(0L, 3L))
  expect_identical(shape(nv_svd(nv_fill(1, c(0, 3), "f64"))$v), c(3L, 0L))
  expect_identical(shape(nv_qr(nv_fill(1, c(3, 0), "f64"))$Q), c(3L, 0L))
  expect_identical(shape(nv_det(nv_fill(1, c(3, 3, 0), "f64"))), 0L)
})

test_that("what has no solution is an error that says where", {
  x <- nv_tensor(matrix(c(1, 2, 2, 4), 2), "f64")
  expect_error(nv_solve(x), "pivot 2", class = "joist_value_error")
  expect_error(nv_solve(nv_tensor(matrix(1:9 / 10, 3), "f64")), "singular",
    class = "joist_value_error")
  expect_error(nv_chol(nv_tensor(diag(c(1, -1, 1)))), "order 2", class = "joist_value_error")
  expect_error(
    nv_triangular_solve(nv_tensor(diag(c(1, 0))), 1:2, lower = FALSE), "diagonal element 2",
    fixed = TRUE, class = "joist_value_error"
  )
  batch <- array(c(diag(2), 1, 1, 1, 1), c(2, 2, 2))
  expect_error(nv_solve(nv_tensor(batch)), "matrix 2 of the batch", class = "joist_value_error")
  for (f in list(nv_svd, nv_eigh, nv_solve)) {
    expect_error(f(nv_tensor(matrix(c(1, 2, NaN, Inf), 2))), "NaN|nan", class = "joist_value_error")
  }
  expect_error(nv_chol(nv_tensor(matrix(NaN, 2, 2))), class = "joist_value_error")
  for (f in list(nv_chol, nv_solve, nv_det, nv_eigh)) {
    expect_error(f(nv_fill(1, c(2, 3))), "square", class = "joist_shape_error")
    expect_error(f(nv_tensor(1:3)), class = "joist_shape_error")
  }
  for (f in list(nv_qr, nv_svd)) expect_error(f(nv_tensor(1:3)), class = "joist_shape_error")
  expect_error(nv_solve(nv_tensor(diag(3)), 1:2), class = "joist_shape_error")
  expect_error(nv_chol(nv_tensor(diag(2)), lower = NA), class = "joist_value_error")
})

test_that("linear algebra traces to the same bits, with shape errors at trace time", {
  set.seed(6)
  x <- nv_tensor(crossprod(matrix(rnorm(16), 4)), "f32")
  all <- function(x) {
    list(nv_chol(x), nv_solve(x, 1:4), nv_inv(x), nv_det(x), nv_determinant(x), nv_qr(x),
      nv_svd(x), nv_eigh(x), nv_triangular_solve(x, x + 1, lower = FALSE))
  }
  bits <- function(results) rapply(results, bytes_of, "nv_tensor", how = "list")
  expect_identical(bits(jit(all)(x)), bits(all(x)))
  got <- jit(all)(nv_aval("i32", c(4, 4)))
  expect_identical(type_of(got[[8]]$vectors), "f32?")
  expect_identical(shape(got[[8]]$vectors), c(4L, 4L))
  expect_error(jit(\(x) nv_chol(x))(nv_aval("f32", c(4, 3))), class = "joist_shape_error")
  expect_error(jit(\(x) nv_chol(x))(-x), class = "joist_value_error")
})

test_that("an element that is not finite is named as R writes it", {
  for (bad in c(NaN, Inf, -Inf)) {
    x <- nv_tensor(matrix(c(1, 2, bad, 4), 2), "f64")
    expect_error(
      nv_svd(x), paste0("the element ", bad, " in row 1, column 2"),
      fixed = TRUE, class = "joist_value_error"
    )
  }
})

test_that("decompositions are one instruction with several results, of which some may go unused", {
  values <- matrix(c(4, 2, 7, 2, 3, 1, 1, 5, 6), 3)
  x <- nv_tensor(values, "f64")
  f <- function(x) {
    s <- nv_svd(x)
    list(nv_qr(x)$R, s$d, s$v, nv_eigh(nv_crossprod(x))$values, nv_determinant(x)$sign)
  }
  table <- as.data.frame(program(f, x))
  expect_setequal(table$op, c("svd", "qr", "matmul", "eigh", "determinant"))
  expect_identical(table$shape[table$op == "svd"], "{3}, {3x3}, {3x3}")
  expect_identical(table$shape[table$op == "qr"], "{3x3}, {3x3}")
  expect_identical(table$shape[table$op == "determinant"], "{}, {}")
  for (out in list(f(x), jit(f)(x))) {
    expect_equal(abs(as_array(out[[1]])), abs(qr.R(qr(values))))
    expect_equal(as_array(out[[2]]), svd(values)$d)
    expect_equal(abs(as_array(out[[3]])), abs(svd(values)$v))
    expect_equal(as_array(out[[4]]), eigen(crossprod(values))$values)
    expect_equal(as_array(out[[5]]), sign(det(values)))
  }
  only <- jit(function(x) nv_svd(x)$u)
  expect_equal(abs(as_array(only(x))), abs(svd(values)$u))
  expect_identical(shape(nv_svd(nv_aval("f32", c(4, 2, 5)))$u), c(4L, 2L, 5L))
})

test_that("functions of qr() refuse columns that depend on others", {
  x <- matrix(c(1, 2, 3, 2, 4, 6, 1, 0, 1), 3)
  y <- c(1, 2, 4)
  expect_identical(qr(x)$rank, 2L)
  for (d in c("f64", "f32")) {
    q <- qr(nv_tensor(x, d))
    for (f in list(qr.coef, qr.fitted, qr.resid, qr.solve)) {
      expect_error(f(q, y), "column 2 of the matrix depends", class = "joist_value_error")
    }
  }
  dependent <- qr(nv_tensor(cbind(y, 0), "f64"))
  expect_error(qr.coef(dependent, y), "column 2", class = "joist_value_error")
  z <- x[, -2]
  expect_equal(as_array(qr.fitted(qr(nv_tensor(z, "f64")), y)), qr.fitted(qr(z), y))
  expect_equal(as_array(qr.resid(qr(nv_tensor(z, "f64")), y)), qr.resid(qr(z), y))
  # near dependence, as base R takes it
  for (gap in c(1e-5, 1e-9)) {
    near <- cbind(x[, 1], x[, 1] * (1 + gap * c(1, -1, 1)))
    got <- tryCatch(as_array(qr.coef(qr(nv_tensor(near, "f64")), y)), joist_value_error = identity)
    expect_identical(inherits(got, "error"), qr(near)$rank < 2L)
  }
})

test_that("the rank of qr() is base R's", {
  set.seed(8)
  for (k in 1:40) {
    m <- matrix(sample(-2:2, 20, TRUE), sample(c(2, 4, 5), 1))
    for (d in c("f64", "f32")) expect_identical(qr(nv_tensor(m, d))$rank, qr(m)$rank)
    # Columns of u times real factors depend on each other as the real ones do.
    u <- nv_tensor(diag(complex(argument = seq_len(nrow(m)))) %*% m, "c128")
    expect_identical(qr(u)$rank, qr(m)$rank)
  }
  a <- array(c(1, 2, 2, 4, 1, 2, 3, 4), c(2, 2, 2))
  expect_identical(qr(nv_tensor(a, "f64"))$rank, array(1:2))
  expect_identical(qr(nv_tensor(matrix(0, 3, 0), "f64"))$rank, 0L)
  near <- nv_tensor(cbind(1:3, 1:3 + c(0, 1e-4, 0)), "f64")
  expect_identical(c(qr(near)$rank, qr(near, tol = 1e-3)$rank), 2:1)
})
