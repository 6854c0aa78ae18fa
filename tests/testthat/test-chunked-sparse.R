# Sparse matrices of stores, against dense ones and the package Matrix.

skip_if_not_installed("Matrix")

# A group of AnnData with a sparse matrix.
sparse_group <- function(values, kind, dtype = "f32", parts = list(), shape = dim(values)) {
  folder <- tempfile()
  nv_zarr_create_group(folder, attributes = list(`encoding-type` = kind, shape = shape))
  by_row <- kind == "csr_matrix"
  found <- which((if (by_row) t(values) else values) != 0, arr.ind = TRUE)
  own <- list(
    data = nv_convert(nv_tensor(if (by_row) t(values)[found] else values[found]), dtype),
    indices = nv_tensor(found[, 1] - 1L, "i32"),
    indptr = nv_tensor(c(0, cumsum(tabulate(found[, 2], dim(values)[2L - by_row]))), "i64")
  )
  own[names(parts)] <- parts
  for (name in names(own)) nv_store(own[[name]], folder, node = name, chunks = 7)
  nv_zarr(folder)
}

set.seed(1)
numbers <- matrix(rpois(60 * 25, 0.3), 60)
numbers[17, ] <- 0
numbers[, 3] <- 0

test_that("sparse matrices are what they are as dense ones", {
  for (kind in c("csr_matrix", "csc_matrix")) {
    x <- sparse_group(numbers, kind)
    expect_identical(dtype(x), as_dtype("f32"))
    expect_identical(as_array(nv_compute(x)), numbers + 0)
    expect_identical(as_array(x[c(5, 60, 5), -1]), numbers[c(5, 60, 5), -1] + 0)
    expect_identical(as_array(x[17, ]), numbers[17, ] + 0)
    expect_identical(as_array(x[3:40, 7:9]), numbers[3:40, 7:9] + 0)
    expect_equal(as_array(nv_compute(nv_reduce_sum(x, 1))), colSums(numbers))
    expect_equal(as_array(nv_compute(nv_mean(x, 2))), rowMeans(numbers), tolerance = 1e-6)
    expect_equal(as_array(nv_compute(nv_var(x, 1))), apply(numbers, 2, var), tolerance = 1e-6)
    right <- matrix(seq_len(75) / 8, 25)
    expect_equal(as_array(nv_compute(x %*% nv_tensor(right, "f64"))), numbers %*% right)
    logs <- log1p(numbers / pmax(rowSums(numbers), 1) * 1e4)
    scaled <- log1p(x / nv_max(nv_reduce_sum(x, 2, drop = FALSE), 1) * 1e4)
    expect_equal(as_array(nv_compute(scaled)), logs, tolerance = 1e-6)
    expect_identical(as_array(nv_compute(nv_gather(x, c(9, 2), 2))), numbers[, c(9, 2)] + 0)
    expect_identical(as_array(nv_compute(rbind(x, x))), rbind(numbers, numbers) + 0)
    expect_error(x[1, 1] <- 1, "store", class = "joist_value_error")
    kept <- methods::as(x, "dgCMatrix")
    expect_identical(kept, methods::as(methods::as(numbers + 0, "CsparseMatrix"), "dgCMatrix"))
    expect_identical(methods::as(x * 2, "dgCMatrix"), methods::as(kept * 2, "dgCMatrix"))
  }
})

test_that("blocks of a few lines give the same", {
  x <- sparse_group(numbers, "csr_matrix")
  leaf <- attr(x, "leaves")[[1]]
  leaf$chunks <- leaf$array$chunks <- c(7L, 25L)
  attr(x, "leaves") <- list(leaf)
  attr(x, "chunks") <- c(7L, 25L)
  expect_identical(as_array(nv_compute(x)), numbers + 0)
  expect_equal(as_array(nv_compute(nv_reduce_sum(x * x, 1))), colSums(numbers^2))
  expect_equal(as_array(nv_compute(t(x) %*% x)), crossprod(numbers))
  expect_identical(as.matrix(methods::as(x + 0, "dgCMatrix")), numbers + 0)
})

test_that("sparse matrices have the dtype of their elements", {
  few <- (numbers > 0) + 0
  for (dtype in c("bool", "i8", "ui64", "f16", "bf16", "c64", "i64")) {
    x <- sparse_group(few, "csc_matrix", dtype)
    expect_identical(nv_compute(x), nv_convert(nv_tensor(few), dtype))
  }
  expect_error(methods::as(sparse_group(few, "csc_matrix", "c64"), "dgCMatrix"),
    class = "joist_dtype_error"
  )
})

test_that("elements that occur twice are added, and empty matrices read", {
  twice <- sparse_group(matrix(0, 2, 3), "csr_matrix", "f64", list(
    data = nv_tensor(c(1, 2, 4), "f64"), indices = nv_tensor(c(2L, 2L, 0L)),
    indptr = nv_tensor(c(0L, 2L, 3L))
  ))
  expect_identical(as_array(nv_compute(twice)), rbind(c(0, 0, 3), c(4, 0, 0)))
  expect_identical(as.matrix(methods::as(twice, "dgCMatrix")), rbind(c(0, 0, 3), c(4, 0, 0)))
  none <- sparse_group(matrix(0, 4, 0), "csr_matrix", "i32")
  expect_identical(as_array(nv_compute(none)), matrix(0L, 4, 0))
  expect_identical(as_array(sparse_group(matrix(0, 2, 2), "csc_matrix")[]), matrix(0, 2, 2))
})

test_that("sparse matrices that are broken are errors that name the field", {
  broken <- function(field, ..., class = "joist_value_error") {
    expect_error(nv_compute(sparse_group(numbers, "csr_matrix", ...)), field, class = class)
  }
  broken("shape", shape = c(60, -1))
  broken("shape", shape = 60)
  broken("shape", shape = list("a", "b"))
  broken("indptr", shape = c(61, 25))
  n <- sum(numbers != 0)
  ends <- c(0, cumsum(rowSums(numbers != 0)))
  for (wrong in list(ends + 1, rev(ends), replace(ends, 3, n + 5), replace(ends, 61, n - 1))) {
    broken("indptr", parts = list(indptr = nv_tensor(wrong, "i64")))
  }
  broken("indptr", parts = list(indptr = nv_tensor(ends, "f64")))
  broken("indices", parts = list(indices = nv_tensor(rep(0L, n - 1L))))
  broken("indices", parts = list(indices = nv_tensor(rep(25L, n))))
  broken("indices", parts = list(indices = nv_tensor(rep(-1L, n))))
  for (wrong in list(rep(25L, n), rep(-1L, n))) {
    x <- sparse_group(numbers, "csr_matrix", parts = list(indices = nv_tensor(wrong)))
    expect_error(x[1:5, 2], "indices", class = "joist_value_error")
    expect_error(methods::as(x, "dgCMatrix"), "indices", class = "joist_value_error")
  }
})
