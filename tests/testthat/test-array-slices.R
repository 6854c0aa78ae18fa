# Sums of rows and columns, and functions of slices, against base R.

test_that("rows and columns as base R's", {
  set.seed(1)
  for (rank in 2:4) {
    v <- array(as.numeric(sample(0:9, prod(2:(rank + 1)), TRUE)), 2:(rank + 1))
    for (d in c("i8", "ui32", "f16", "f64")) {
      x <- nv_tensor(v, d)
      for (k in seq_len(rank - 1L)) {
        expect_identical(as_array(rowSums(x, dims = k), "double"), rowSums(v, dims = k))
        expect_identical(as_array(colSums(x, dims = k), "double"), colSums(v, dims = k))
        means <- if (kind_of(d) == "float") d else "f32"
        expect_identical(as_array(rowMeans(x, dims = k)), round_to(rowMeans(v, dims = k), means))
        expect_identical(as_array(colMeans(x, dims = k)), round_to(colMeans(v, dims = k), means))
      }
      expect_identical(type_of(rowSums(x)), type_of(nv_reduce_sum(x)))
      expect_identical(type_of(colMeans(x)), type_of(nv_mean(x)))
    }
  }
  f <- function(x) list(rowSums(x * 2), colMeans(x))
  expect_identical(jit(f)(x), f(x))
  expect_error(rowSums(nv_tensor(1:3)), "rank 2", class = "joist_shape_error")
  for (bad in list(0, 4, 1:2, NA)) {
    expect_error(colSums(x, dims = bad), "dims", class = "joist_shape_error")
  }
  # Base R's own see the values.
  for (f in list(base::rowSums, base::colSums, base::rowMeans, base::colMeans)) {
    expect_identical(as.vector(f(x)), as.vector(f(v)))
  }
})

test_that("functions of slices are stacked as apply() does", {
  set.seed(2)
  v <- array(round(rnorm(24), 2), c(2, 3, 4))
  x <- nv_tensor(v, "f64")
  margins <- list(1, 2, 3, c(1, 2), c(3, 1), c(2, 3, 1))
  for (dims in margins) {
    for (f in list(sum, cumsum, function(z) z * 2)) {
      g <- if (identical(f, cumsum)) function(z) cumsum(nv_flatten(z)) else f
      want <- apply(v, dims, function(a) as.vector(f(a)))
      got <- nv_apply(x, dims, g)
      expect_equal(as.vector(as_array(got)), as.vector(want), label = deparse1(dims))
    }
    expect_identical(shape(nv_apply(x, dims, sum)), dim(v)[dims])
    doubled <- nv_apply(x, dims, function(z) z * 2)
    expect_identical(shape(doubled), c(dim(v)[-dims], dim(v)[dims]))
  }
  expect_identical(as_array(nv_apply(x[, , 1], 1, sort)), apply(v[, , 1], 1, sort))
})

test_that("slices keep the dtype, and further arguments reach the function", {
  for (d in dtypes()) {
    x <- sample_tensor(d, shape = c(2, 3))
    rows <- nv_apply(x, 1, function(row) row)
    expect_identical(rows, t(x))
  }
  x <- nv_tensor(matrix(1:6, 2), "i8")
  product <- nv_apply(x, 2, function(z, by) z * by, by = nv_scalar(2L, "i16"))
  expect_identical(type_of(product), "i16")
  either <- nv_apply(x, 1, function(z) if (as_array(z[1]) == 1L) z else z + nv_scalar(1, "f64"))
  expect_identical(type_of(either), "f64")
})

test_that("other results are a list", {
  x <- nv_tensor(matrix(1:6, 2), "i8")
  expect_identical(nv_apply(x, 1, as_array), list(c(1L, 3L, 5L), c(2L, 4L, 6L)))
  ragged <- nv_apply(x, 1, function(z) z[z > 3L])
  expect_identical(lapply(ragged, as_array), list(5L, c(4L, 6L)))
  expect_identical(nv_apply(x, 1, function(z) NULL), list(NULL, NULL))
  expect_identical(nv_apply(x, 1, function(z) list(1, "a")), list(list(1, "a"), list(1, "a")))
  expect_identical(nv_apply(x, 1, function(slice, X) X, X = "b"), list("b", "b")) # nolint
})

test_that("many slices, and large ones, are those of the array", {
  m <- matrix(1:150000, ncol = 2)
  sums <- nv_apply(nv_tensor(m), 1, sum)
  expect_identical(as_array(sums) + 0, rowSums(m))
  expect_identical(as_array(nv_apply(nv_tensor(m), 2, sum)) + 0, colSums(m))
  x <- nv_zarr_create(tempfile(), "f32", c(4, 2), 2)
  expect_error(nv_apply(x, 1, sum), "nv_compute", class = "joist_value_error")
})

test_that("no slices, and slices without elements", {
  x <- nv_tensor(numeric(), "f16", c(0, 3))
  expect_identical(shape(nv_apply(x, 1, function(z) z * 2)), c(3L, 0L))
  expect_identical(type_of(nv_apply(x, 1, nv_cumsum)), "f16")
  expect_identical(as_array(nv_apply(x, 2, sum)), c(0, 0, 0))
})

test_that("compiled functions give the same, and wrong dimensions are refused", {
  x <- nv_tensor(matrix(c(3, 1, 2, 5, 4, 7), 2))
  f <- function(x) nv_apply(x, 1, function(row) row - mean(row))
  expect_identical(jit(f)(x), f(x))
  for (bad in list(0, 3, c(1, 1), integer())) {
    expect_error(nv_apply(x, bad, sum), "dims", class = "joist_shape_error")
  }
  expect_error(nv_apply(x, 1, function(z) stop("mine")), "mine")
})

test_that("slices of a traced tensor are one computation, unless R code tells them apart", {
  m <- array(as.numeric(1:24), 2:4, list(c("a", "b"), NULL, letters[1:4]))
  x <- nv_tensor(m, "f64")
  x <- nv_mask(x, x > 20)
  for (dims in list(1, 2, 3, c(1, 2), c(3, 1), c(2, 3, 1))) {
    for (g in list(function(z) z * 2, function(z) sum(z, na.rm = TRUE), cumsum)) {
      f <- function(x) nv_apply(x, dims, g)
      expect_identical(jit(f)(x), f(x))
    }
  }
  f <- function(x) nv_apply(x, 1, function(row, by) if (row[1] > 2) row / sum(row) else row * by, 3)
  y <- nv_tensor(matrix(c(1, 5, 2, 6, 3, 7), 2), "f64")
  expect_identical(jit(f)(y), f(y))
  rows <- nv_tensor(matrix(as.numeric(1:4000), 2000))
  lines <- function(f, x) length(utils::capture.output(print(program(f, x))))
  of_rows <- function(x) nv_apply(x, 1, function(row) row - sum(row))
  expect_lt(lines(of_rows, rows), 30)
  numbered <- function(x) {
    k <- 0
    last <- NULL
    z <- nv_apply(x, 1, function(row) {
      k <<- k + 1
      last <<- k
      row * k
    })
    list(z, k, last)
  }
  expect_identical(lapply(jit(numbered)(y), as_array), lapply(numbered(y), function(v) {
    if (is.numeric(v) && !inherits(v, "nv_tensor")) v else as_array(v)
  }))
  slope <- gradient(function(x) sum(nv_apply(x, 1, function(row) sum(row^2) * row[1])))(y)$x
  want <- gradient(function(x) sum(rowSums(x^2) * x[, 1]))(y)$x
  expect_equal(as_array(slope), as_array(want))
})

test_that("nv_apply() leaves out names in which slices differ", {
  m <- matrix(c(1, 9, 5, 2, 3, 7), 2, dimnames = list(c("r", "s"), c("A", "B", "C")))
  for (f in list(sort, rev, function(x) x[1:2])) {
    expect_identical(as_array(nv_apply(nv_tensor(m, "f64"), 1, f)), apply(m, 1, f))
  }
})
