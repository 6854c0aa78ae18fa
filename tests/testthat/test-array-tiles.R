test_that("grids have the coordinates of their dimensions", {
  x <- nv_tensor(1:3)
  y <- nv_tensor(c(0.5, 1.5))
  grid <- nv_meshgrid(x, y, indexing = "ij")
  expect_identical(as_array(grid[[1]]), outer(1:3, 1:2, function(i, j) i))
  expect_identical(as_array(grid[[2]]), outer(1:3, c(0.5, 1.5), function(i, j) j))
  turned <- nv_meshgrid(x, y)
  expect_identical(lapply(turned, as_array), lapply(grid, function(g) t(as_array(g))))
  three <- nv_meshgrid(x, y, 7L)
  expect_identical(lapply(three, shape), rep(list(c(2L, 3L, 1L)), 3))
  expect_identical(nv_meshgrid(), list())
  expect_error(nv_meshgrid(nv_tensor(diag(2))), class = "joist_shape_error")
  expect_error(nv_meshgrid(x, indexing = "yx"), class = "joist_value_error")
})

test_that("tiles repeat whole tensors", {
  x <- matrix(1:6, 2)
  made <- nv_tile(nv_tensor(x, "i16"), c(2, 3))
  expect_identical(as_array(made), x[rep(1:2, 2), rep(1:3, 3)])
  expect_identical(as_array(nv_tile(nv_tensor(x), 2)), x[rep(1:2, 2), ])
  expect_identical(shape(nv_tile(nv_tensor(x), c(1, 1, 4))), c(2L, 3L, 4L))
  expect_identical(shape(nv_tile(nv_tensor(x), 0)), c(0L, 3L))
  expect_identical(as_array(nv_tile(nv_tensor(c(1, NA)), 2)), c(1, NA, 1, NA))
  slopes <- gradient(function(x) sum(nv_tile(x, c(2, 3)) * made))(nv_tensor(x, "f32"))
  expect_identical(as_array(slopes$x), 6 * x)
  expect_error(nv_tile(x, -1), class = "joist_value_error")
})

test_that("matrices rotate by quarters, and an extent of -1 is inferred", {
  x <- matrix(1:6, 2)
  quarter <- function(x) t(x[, rev(seq_len(ncol(x)))])
  want <- x
  for (k in 0:4) {
    expect_identical(as_array(nv_rot90(nv_tensor(x), k)), want)
    expect_identical(as_array(nv_rot90(nv_tensor(x), k - 4)), want)
    expect_identical(as_array(jit(function(x) nv_rot90(x, k))(nv_tensor(x))), want)
    want <- quarter(want)
  }
  expect_identical(as_array(nv_rot90(nv_tensor(x), 1, 2:1)), quarter(quarter(quarter(x))))
  expect_error(nv_rot90(nv_tensor(x), dims = 1), class = "joist_shape_error")
  y <- nv_tensor(x)
  expect_identical(shape(nv_reshape(y, c(-1, 2))), c(3L, 2L))
  expect_identical(shape(nv_reshape(y, -1L)), 6L)
  expect_identical(shape(jit(function(y) nv_reshape(y, c(3, -1)))(y)), c(3L, 2L))
  expect_identical(shape(nv_reshape(1:6, c(3, -1))), c(3L, 2L))
  for (wrong in list(c(-1, 4), c(-1, -1), c(-1, 0), -2)) {
    expect_error(nv_reshape(y, wrong), class = "joist_shape_error")
  }
})

test_that("bits are packed into bytes and taken out of them", {
  bits <- c(TRUE, FALSE, TRUE, TRUE, FALSE, FALSE, FALSE, TRUE, TRUE, FALSE)
  own <- function(b) as.integer(packBits(c(b, logical(-length(b) %% 8)), "raw"))
  x <- nv_tensor(bits)
  expect_identical(as_array(nv_packbits(x, bitorder = "little")), own(bits))
  expect_identical(as_array(nv_packbits(x)), c(177L, 128L))
  for (order in c("big", "little")) {
    packed <- nv_packbits(x, bitorder = order)
    expect_identical(nv_unpackbits(packed, bitorder = order, count = 10), x)
    table <- nv_tensor(matrix(rep(bits, 4), 10))
    for (dim in 1:2) {
      packed <- nv_packbits(table, dim, order)
      back <- nv_unpackbits(packed, dim, order, shape(table)[dim])
      expect_identical(back, table)
      expect_identical(jit(function(x) nv_packbits(x, dim, order))(table), packed)
    }
  }
  expect_identical(as_array(nv_packbits(nv_tensor(c(3L, 0L, NA), "i64"))), NA_integer_)
  expect_identical(shape(nv_packbits(nv_tensor(logical()))), 0L)
  expect_error(nv_packbits(nv_tensor(1)), class = "joist_dtype_error")
  expect_error(nv_unpackbits(nv_tensor(1L)), class = "joist_dtype_error")
  expect_error(nv_unpackbits(nv_tensor(1L, "ui8"), count = 9), class = "joist_value_error")
})
