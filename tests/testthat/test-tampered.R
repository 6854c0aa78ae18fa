# A tensor is a list, and a list of its class may hold anything: an error, never a crash.
tampered <- function(field, value) {
  x <- unclass(nv_tensor(1:3, "i32"))
  x[[field]] <- value
  class(x) <- "nv_tensor"
  x
}

test_that("tensors whose parts were changed are refused", {
  parts <- list(
    tampered("shape", rep(1L, 5000)), tampered("shape", -3L), tampered("shape", NA_integer_),
    tampered("shape", rep(65536L, 4)), tampered("shape", 4L), tampered("dtype", "f33"),
    tampered("dtype", character()), tampered("dtype", 7), tampered("dtype", "f64"),
    tampered("ambiguous", logical()), tampered("payload", "a"), tampered("payload", 1:2),
    structure(list(), class = "nv_tensor"), structure(list(1), class = "nv_tensor")
  )
  for (x in parts) {
    expect_error(nv_add(x, 1L), class = "joist_error")
    expect_error(nv_reduce_sum(x), class = "joist_error")
    expect_error(as_array(x), class = "joist_error")
    expect_error(jit(function(a) a)(x), class = "joist_error")
  }
  expect_error(common_dtype(tampered("dtype", "f33"), "f32"), class = "joist_dtype_error")
})

test_that("traced tensors whose parts were changed are refused", {
  forged <- function(number) {
    jit(function(a) {
      b <- unclass(a)
      b[[6]] <- number
      class(b) <- c("nv_traced", "nv_tensor")
      nv_add(b, b)
    })
  }
  for (number in list(1000000L, -1000000L, integer(), 1.5, NULL)) {
    expect_error(forged(number)(nv_tensor(1:3)), class = "joist_error")
  }
})

test_that("positions and index vectors that do not fit are refused in C, too", {
  x <- nv_tensor(1:6, "i16", shape = c(2, 3))
  ns <- asNamespace("joist")
  subset_of <- function(indices) .Call(ns$joist_r_subset, x, indices, TRUE, FALSE)
  for (indices in list(list(), list(1L, 1L, 1L), list(7L), list(3L, NULL), list("a"), NULL, 1L)) {
    expect_error(subset_of(indices), class = "joist_error")
    code <- function() .Call(ns$joist_r_assign, x, indices, 0L, TRUE, FALSE)
    expect_error(code(), class = "joist_error")
  }
  array_of <- function(name, operands, ...) {
    .Call(ns$joist_r_array, name, operands, NULL, c(...), 2L, NULL)
  }
  far <- nv_tensor(c(0, 6), "i64")
  for (bad in list(far, nv_tensor(c(0, -1), "i64"), nv_tensor(c(0, 1), "f64"))) {
    expect_error(array_of("take", list(x, bad), integer()), class = "joist_error")
    expect_error(array_of("put", list(x, bad, x[[1]]), integer()), class = "joist_error")
  }
  expect_error(array_of("slice", list(x), c(0L, 1L, 3L, 0L, 1L, 1L)), class = "joist_shape_error")
  expect_error(array_of("slice", list(x), c(0L, 1L, -1L, 0L, 1L, 1L)), class = "joist_shape_error")
  expect_error(array_of("slice", list(x), c(1L, -2L, 2L, 0L, 1L, 1L)), class = "joist_shape_error")
  expect_error(array_of("slice", list(x), c(0L, 1L, 1L, 0L, 1L, 1L)), class = "joist_shape_error")
  expect_error(array_of("update", list(x, x[[1]]), c(2L, 1L, 1L, 0L, 1L, 1L)),
    class = "joist_shape_error"
  )
  # A mask whose bytes are no truth values chooses by their lowest bit, and writes nowhere else.
  mask <- unclass(nv_tensor(rep(TRUE, 6)))
  mask$payload <- as.raw(c(255, 2, 3, 4, 0, 1))
  class(mask) <- "nv_tensor"
  y <- nv_tensor(1:6, "i16")
  expect_identical(as_array(y[mask]), c(1L, 3L, 6L))
  expect_error(.Call(ns$joist_r_concatenate, list(), 1L, NULL), class = "joist_shape_error")
  expect_error(nv_concatenate(x, x, dimension = 0L), class = "joist_shape_error")
  expect_error(nv_concatenate(x, x, dimension = NA), class = "joist_shape_error")
})
