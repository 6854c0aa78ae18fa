# Counts and quantiles of all elements of a chunked tensor.

test_that("counts are those of base R", {
  values <- matrix(c(1L, 3L, 3L, 7L, 0L, -2L, 3L, 1L, 9L, 2L, 2L, 2L, 5L, 6L, 8L), 5)
  x <- nv_zarr_create(tempfile(), "i16", dim(values), c(2, 2))
  x[] <- values
  counts <- nv_tabulate(x, 8)
  expect_s3_class(counts, "nv_chunked")
  expect_identical(list(dtype(counts), shape(counts)), list(as_dtype("i64"), 8L))
  expect_identical(as_array(nv_compute(counts), "integer"), tabulate(values, 8))
  expect_identical(as_array(nv_compute(counts * 2L), "integer"), 2L * tabulate(values, 8))
  path <- tempfile()
  stored <- nv_store(nv_tabulate(x, 8), path, chunks = 3)
  expect_identical(as_array(stored[], "integer"), tabulate(values, 8))
  # Chunks of the counts that are not there are computed again.
  unlink(file.path(path, "c", "1"))
  again <- nv_store(nv_tabulate(x, 8), path, chunks = 3, resume = TRUE)
  expect_identical(as_array(again[], "integer"), tabulate(values, 8))
  expect_error(nv_tabulate(x), "nv_compute", class = "joist_value_error")
})

test_that("quantiles are those of stats::quantile(), for every dtype and type", {
  set.seed(3)
  probs <- c(seq(0, 1, 0.2), 0.333)
  # Ranks of narrow dtypes are those of what they are converted to: test-array-statistics.R.
  for (dtype in setdiff(wide(dtypes()), complexes())) {
    values <- pmax(-100, pmin(100, round(rnorm(301) * 50)))
    if (dtype == "bool") values <- values > 0
    if (startsWith(dtype, "ui")) values <- abs(values)
    whole <- nv_tensor(matrix(values, 43), dtype)
    if (dtype == "f64") whole <- whole / 7
    x <- nv_zarr_create(tempfile(), dtype, shape(whole), c(10, 3))
    x[] <- whole
    for (type in if (dtype == "f32") 1:9 else 7) {
      wanted <- stats::quantile(as_array(whole, "double") + 0, probs, names = FALSE, type = type)
      got <- nv_quantile(x, probs, type = type)
      expect_identical(dtype(got), dtype(nv_quantile(whole)))
      tolerance <- if (grepl("f16", dtype)) 1e-2 else 1e-6
      expect_equal(as_array(got, "double"), wanted, tolerance = tolerance)
    }
    expect_identical(nv_quantile(x, 0.3, drop = FALSE), nv_quantile(whole, 0.3, drop = FALSE))
    expect_identical(nv_median(x), nv_median(whole))
  }
})

# The elements with these ranks: the quantiles of type 1 that are between two steps.
ranked <- function(x, ranks) nv_quantile(x, (ranks - 0.5) / length(x), type = 1)

test_that("bits at the ends are kept apart", {
  # Doubles hold the differences of all but the first two and the last two.
  extremes <- c("-9223372036854775808", "-9223372036854775807", "-9007199254740991",
    "-9007199254740990", "-4295032832", "-65537", "-65536", "-2", "-1", "0", "1", "65535", "65536",
    "4295032831", "4295032832", "9007199254740990", "9007199254740991", "9223372036854775806",
    "9223372036854775807")
  for (order in list(19:1, c(7:19, 1:6), c(10:1, 19:11))) {
    x <- nv_zarr_create(tempfile(), "i64", 19L, 2L)
    x[] <- nv_tensor(extremes[order], "i64")
    sorted <- with_default_dtypes(c(float = "f64"), ranked(x, 1:19))
    expect_identical(as_array(sorted), as.double(extremes))
  }
  tiny <- c(-Inf, -1, -2^-149, 0, 2^-149, 2^-126, 1, 1 + 2^-23, Inf)
  y <- nv_zarr_create(tempfile(), "f32", 9L, 4L)
  y[] <- tiny[c(4, 9, 1, 7, 3, 8, 2, 6, 5)]
  expect_identical(as_array(ranked(y, c(9:1, 5)), "double"), tiny[c(9:1, 5)])
  # More ranks than are counted at once.
  values <- seq(-1e9, 1e9, length.out = 101)
  z <- nv_zarr_create(tempfile(), "f64", 101L, 13L)
  z[] <- rev(values)
  expect_identical(as_array(ranked(z, 101:1)), rev(values))
})

test_that("what has no quantiles is an error or NaN, as in memory", {
  x <- nv_zarr_create(tempfile(), "f32", c(3, 2), 2)
  x[] <- c(1, 2, NaN, 4, 5, 6)
  expect_identical(as_array(nv_quantile(x, c(0, 1))), c(NaN, NaN))
  expect_identical(as_array(median(x)), NaN)
  empty <- nv_zarr_create(tempfile(), "f32", c(0, 2), 2)
  expect_identical(as_array(nv_median(empty)), NaN)
  complex <- nv_zarr_create(tempfile(), "c64", 2L, 2L)
  expect_error(nv_median(complex), class = "joist_dtype_error")
  # Along a dimension they are sorted, block by block.
  expect_equal(as_array(nv_quantile(nv_ifelse(nv_is_nan(x), 3, x), 0.5, 1)), rbind(c(2, 5)))
})

test_that("the rules decide the dtype, not whether there is a result", {
  x <- nv_zarr_create(tempfile(), "f32", c(7, 3), 2)
  x[] <- rev(1:21)
  for (rules in promotion_rule_sets()$id) {
    got <- function(x) {
      tryCatch(nv_quantile(x, c(0.1, 0.5)), joist_promotion_error = function(e) "refused")
    }
    expect_identical(with_promotion(rules, got(x)), with_promotion(rules, got(x[])))
  }
  expect_identical(as_array(with_promotion("array_api", got(x)), "double"), c(3, 11))
})
