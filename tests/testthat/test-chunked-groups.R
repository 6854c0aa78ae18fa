# Functions of groups of chunked tensors beside those in memory.

functions_of_chunks <- list(
  sum = nv_segment_sum, prod = nv_segment_prod, min = nv_segment_min, max = nv_segment_max,
  mean = nv_segment_mean, var = nv_segment_var, sd = nv_segment_sd,
  count = nv_segment_count
)

test_that("groups along a chunked dimension are those in memory", {
  withr::local_seed(81)
  ids <- sample(c(1:3, 5:6), 50L, TRUE) # group 4 has no element
  for (d in c("f64", "f32", "i32", "ui16")) {
    inexact <- d %in% c("f64", "f32")
    values <- matrix(if (inexact) runif(350) else sample.int(200L, 350L, TRUE), 50L)
    if (inexact) values[3L, 2L] <- NaN
    x <- nv_tensor(values, d)
    z <- nv_zarr_create(tempfile(), d, c(50, 7), chunks = c(13, 3))
    z[] <- x
    for (name in names(functions_of_chunks)) {
      # Products of integers are of 64 bits, and wrap.
      as_array <- function(x) joist::as_array(x, if (name == "prod" && !inexact) "character")
      f <- functions_of_chunks[[name]]
      for (remove in c(FALSE, TRUE)) {
        label <- paste(name, d, remove)
        want <- f(x, ids, 6, na_rm = remove)
        got <- f(z, ids, 6, na_rm = remove)
        expect_identical(type_of(got), type_of(want), label = label)
        expect_equal(as_array(got), as_array(want), tolerance = 1e-6, label = label)
      }
      across <- f(nv_transpose(z), ids, 6, dim = 2)
      expect_equal(as_array(across), t(as_array(f(x, ids, 6))), tolerance = 1e-6, label = label)
      delayed <- f(z * 2L + 1L, nv_group(ids))
      want <- f(x * 2L + 1L, nv_group(ids))
      expect_equal(as_array(delayed), as_array(want), tolerance = 1e-6, label = label)
    }
  }
  dropped <- nv_group(replace(ids, 1:3, NA), na = "drop")
  expect_equal(as_array(nv_segment_mean(z, dropped)), as_array(nv_segment_mean(x, dropped)))
  expect_identical(as_array(rowsum(z, ids)), as_array(rowsum(x, ids)))
  centered <- z - nv_mean(z, 1, FALSE)
  want <- nv_segment_sum(x - nv_mean(x, 1, FALSE), ids, 6)
  expect_equal(as_array(nv_segment_sum(centered, ids, 6)), as_array(want), tolerance = 1e-4)
})

test_that("groups of chunked tensors have the same bits for any number of workers", {
  skip_if_not_installed("future")
  withr::local_seed(82)
  z <- nv_zarr_create(tempfile(), "f64", c(200, 6), chunks = c(9, 4))
  z[] <- nv_tensor(matrix(rnorm(1200), 200L), "f64")
  ids <- sample.int(5L, 200L, TRUE)
  one <- lapply(functions_of_chunks, function(f) f(z, ids, 5))
  withr::local_options(parallelly.fork.enable = TRUE)
  withr::local_options(joist.alone = 0)
  old <- future::plan(future::multicore, workers = 2L)
  withr::defer(future::plan(old))
  for (name in names(one)) {
    expect_identical(functions_of_chunks[[name]](z, ids, 5), one[[name]], label = name)
  }
})

test_that("what groups of chunked tensors cannot be is refused", {
  z <- nv_zarr_create(tempfile(), "f64", c(4, 2), chunks = c(2, 2))
  expect_refusal(nv_segment_sum(z, c(1, 2, 3, 4), 3), "joist_shape_error", "from 1 to 3")
  expect_refusal(nv_segment_sum(z, 1:3, 3), "joist_shape_error", "3 groups for 4 slices")
  expect_refusal(nv_segment_median(z, 1:4, 4), "joist_value_error", "nv_compute()")
})

test_that("functions of chunked tensors leave NaN out, or say that they cannot", {
  x <- nv_tensor(matrix(c(1, NaN, 3, 4), 2), "f32")
  y <- nv_chunked(x)
  for (f in list(nv_reduce_sum, nv_reduce_prod)) {
    expect_identical(nv_compute(f(y, 1L, na_rm = TRUE)), f(x, 1L, na_rm = TRUE))
  }
  more <- list(
    nv_reduce_min, nv_reduce_max, nv_mean, nv_range, nv_cumsum, nv_cumprod, nv_cummin, nv_cummax
  )
  for (f in more) expect_refusal(f(y, 1L, na_rm = TRUE), "joist_value_error", "nv_compute")
  whole <- nv_chunked(nv_tensor(matrix(1:4, 2)))
  expect_identical(as.vector(nv_compute(nv_reduce_max(whole, na_rm = TRUE))), 4L)
})

test_that("groups of chunked complex numbers are those in memory", {
  z <- complex(real = 1:4, imaginary = 4:1)
  for (d in c("c64", "c128")) {
    x <- nv_tensor(z, d)
    for (f in list(nv_segment_mean, nv_segment_sum, nv_segment_var)) {
      expect_identical(nv_compute(f(nv_chunked(x, 2), c(1, 2, 1, 2), 2)), f(x, c(1, 2, 1, 2), 2))
    }
    expect_identical(
      as_array(nv_segment_mean(nv_chunked(x, 2), c(1, 2, 1, 2), 2)), c(2 + 3i, 3 + 2i)
    )
  }
})
