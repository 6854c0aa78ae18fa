skip_if_not_installed("Matrix")

values_of <- function(x) unname(if (is_tensor(x)) as_array(x) else as.matrix(x))
sparse <- Matrix::sparseMatrix(
  i = c(1, 2, 3, 4, 2), j = c(1, 2, 3, 1, 3), x = c(0.5, -2, 1.25, 3, 0.1), dims = c(4, 3),
  dimnames = list(NULL, c("a", "b", "c"))
)
square <- Matrix::sparseMatrix(i = c(1:3, 1), j = c(1:3, 2), x = c(2, 4, 0.5, 1), dims = c(3, 3))
matrices <- function(m) {
  list(
    sparse = m, dense = methods::as(m, "unpackedMatrix"), triplets = methods::as(m, "TsparseMatrix")
  )
}
pattern <- methods::as(sparse, "nMatrix")
of_shape <- function(extents, d) {
  values <- rep_len(c(1, 0, 1, 2, 3, 0, 1), prod(extents))
  nv_tensor(if (d == "bool") values > 0 else values, d, extents)
}

products <- list(
  left = function(m, x) m %*% t(x), right = function(m, x) t(x) %*% m,
  crossprod = function(m, x) crossprod(m, x),
  crossprod_right = function(m, x) crossprod(x, m),
  tcrossprod = function(m, x) tcrossprod(m, x),
  tcrossprod_right = function(m, x) tcrossprod(x, m),
  vector = function(m, x) m %*% x[1, ], vector_right = function(m, x) x[, 1] %*% m
)
elementwise <- list(
  times = function(m, x) m * x, times_right = function(m, x) x * m, plus = function(m, x) m + x,
  plus_right = function(m, x) x + m,
  minus = function(m, x) x - m, over = function(m, x) m / (x + 1),
  recycled = function(m, x) m * x[, 1], scalar = function(m, x) m * x[[1]],
  scalar_right = function(m, x) x[[4]] + m,
  greater = function(m, x) m > x, equal = function(m, x) x == m,
  cbind2 = function(m, x) cbind2(m, x), rbind2 = function(m, x) rbind2(x, m),
  cbind = function(m, x) cbind(x, m, x), rbind = function(m, x) rbind(m, x, m),
  column = function(m, x) cbind(m, x[, 1])
)

test_that("matrices of the package Matrix and tensors are computed with as R's matrices are", {
  for (d in c("f64", "f32", "bf16", "i32", "i64", "ui8", "bool", "c64")) {
    x <- of_shape(c(4L, 3L), d)
    tolerance <- if (d == "bf16") 2^-7 else if (d == "f64") 1e-14 else 1e-6
    for (form in names(matrices(sparse))) for (name in names(c(products, elementwise))) {
      if (d == "c64" && name == "greater") next # complex numbers have no order
      f <- c(products, elementwise)[[name]]
      got <- f(matrices(sparse)[[form]], x)
      want <- f(as.matrix(sparse), x)
      label <- paste(d, form, name)
      expect_true(is_tensor(got) || methods::is(got, "sparseMatrix"), label = label)
      if (is_tensor(got)) expect_identical(dtype(got), dtype(want), label = label)
      expect_equal(values_of(got), values_of(want), tolerance = tolerance, label = label)
    }
    expect_equal(colnames(sparse * x), letters[1:3])
  }
})

test_that("what is sparse stays so, and products of sparse matrices and tensors are typed", {
  x <- of_shape(c(4L, 3L), "f32")
  for (out in list(sparse * x, x * sparse, sparse / 2, sparse * nv_scalar(2, "f32"))) {
    expect_s4_class(out, "dgCMatrix")
  }
  expect_s4_class(kronecker(sparse, x), "sparseMatrix")
  expect_equal(values_of(kronecker(sparse, x)), kronecker(values_of(sparse), as_array(x)),
    tolerance = 1e-6
  )
  expect_type_of <- function(out, d) expect_identical(format(dtype(out)), d)
  expect_type_of(sparse %*% t(x), "f32")
  expect_type_of(sparse + x, "f32")
  expect_type_of(t(of_shape(c(4L, 3L), "bf16")) %*% sparse, "bf16")
  # 0.1 is that of f32 on both sides.
  tenth <- nv_tensor(as.matrix(sparse), "f32")
  expect_true(all(as.matrix(sparse == tenth)))
  # Pattern matrices are bool: integers stay exact.
  far <- nv_tensor(c("9007199254740993", "1", "1"), "i64")
  expect_identical(as.vector((pattern %*% far)[1], "character"), "9007199254740993")
  expect_true(anyNA(values_of(sparse + nv_mask(x, x == 0))))
  # In jit(), joist computes.
  f <- jit(function(x) sparse %*% x)
  expect_equal(as_array(f(t(x))), values_of(sparse %*% t(x)), tolerance = 1e-6)
  expect_error(sparse + of_shape(c(3L, 4L), "f32"), class = "joist_shape_error")
})

test_that("tensors are indices of matrices of the package Matrix, and values to assign", {
  at <- nv_tensor(c(1L, 3L), "i8")
  r_at <- c(1, 3)
  put <- list(
    function(m, i, v) {
      m[i, 1] <- v
      m
    }, function(m, i, v) {
      m[, i] <- v
      m
    }, function(m, i, v) {
      m[i, i] <- v
      m
    }, function(m, i, v) {
      m[i, ] <- v
      m
    }, function(m, i, v) {
      m[i] <- v
      m
    }, function(m, i, v) {
      m[] <- v
      m
    }
  )
  take <- list(
    function(m, i) m[i, ], function(m, i) m[, i], function(m, i) m[i, i], function(m, i) m[i],
    function(m, i) m[i, 2], function(m, i) m[2, i, drop = FALSE],
    function(m, i) m[-i, , drop = FALSE],
    function(m, i) m[i > 2, 1]
  )
  for (form in names(matrices(square))) {
    m <- matrices(square)[[form]]
    for (k in seq_along(take)) {
      expect_identical(take[[k]](m, at), take[[k]](m, r_at), label = paste(form, k))
    }
    for (k in seq_along(put)) {
      want <- put[[k]](m, r_at, 7)
      expect_identical(put[[k]](m, at, nv_scalar(7, "f32")), want, label = paste(form, k))
      expect_identical(put[[k]](m, r_at, nv_scalar(7, "f32")), want, label = paste(form, k))
      expect_identical(put[[k]](m, at, 7), want, label = paste(form, k))
    }
  }
})

test_that("systems with matrices and factorizations of the package Matrix are solved", {
  for (d in c("f64", "f32", "bf16", "i32", "bool")) {
    b <- of_shape(c(3L, 2L), d)
    tolerance <- if (d == "bf16") 2^-6 else if (d == "f64") 1e-14 else 1e-6
    want <- solve(as.matrix(square), as_array(b) + 0)
    for (form in names(matrices(square))) {
      m <- matrices(square)[[form]]
      got <- Matrix::solve(m, b)
      expect_identical(dtype(got), dtype(nv_solve(as.matrix(square), b)), label = paste(d, form))
      expect_equal(values_of(got), want, tolerance = tolerance, label = paste(d, form))
      expect_equal(values_of(Matrix::solve(m, b[, 1])), want[, 1, drop = FALSE],
        tolerance = tolerance
      )
    }
    got <- Matrix::solve(nv_tensor(as.matrix(square), "f64"), Matrix::Matrix(want))
    expect_equal(values_of(got), solve(as.matrix(square), want), tolerance = 1e-12)
    factor <- Matrix::Cholesky(Matrix::crossprod(square))
    expect_equal(values_of(Matrix::solve(factor, b)),
      solve(as.matrix(Matrix::crossprod(square)), as_array(b) + 0),
      tolerance = max(tolerance, 1e-12)
    )
  }
  # The kept factors are those of the values before.
  dense <- methods::as(square, "unpackedMatrix")
  Matrix::solve(dense)
  expect_equal(values_of(Matrix::solve(dense, nv_tensor(c(1, 2, 3), "f32"))), solve(
    as.matrix(square), matrix(1:3)
  ), tolerance = 1e-6)
})
