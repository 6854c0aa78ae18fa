# R's own numbers for models, ggplot2 and writers of text.

columns_of <- function() {
  data.frame(
    x = nv_tensor(c(1, 2, 3.5, 4), "f32"), y = nv_tensor(c(3L, 2L, 1L, 7L), "ui8"),
    n = c(4, 3, 1.5, 1)
  )
}
plain_columns <- data.frame(x = c(1, 2, 3.5, 4), y = c(3L, 2L, 1L, 7L), n = c(4, 3, 1.5, 1))

test_that("to_r() makes what R would have had", {
  expect_identical(to_r(columns_of()), plain_columns)
  expect_identical(to_r(nv_tensor(1:3, "i8")), 1:3)
  expect_identical(to_r(list(a = nv_scalar(TRUE), b = list(nv_tensor(2), "z"))), list(
    a = TRUE, b = list(2, "z")
  ))
  expect_identical(to_r("text"), "text")
  for (name in dtypes()) {
    x <- sample_tensor(name, 2)
    expect_identical(to_r(data.frame(x = x))$x, as_array(x))
  }
  expect_identical(as.data.frame(nv_tensor(matrix(1:4, 2), "i16"), as = "R"), data.frame(
    V1 = 1:2, V2 = 3:4
  ))
  expect_error(as.data.frame(nv_tensor(1), as = "python"), class = "joist_value_error")
  expect_error(to_r(nv_aval("f32", 3)), class = "joist_value_error")
})

test_that("to_r() keeps the class of a table", {
  skip_if_not_installed("tibble")
  tibble <- tibble::tibble(x = nv_tensor(1:2, "i8"), s = c("a", "b"))
  expect_identical(to_r(tibble), tibble::tibble(x = 1:2, s = c("a", "b")))
  skip_if_not_installed("data.table")
  table <- data.table::data.table(n = 1:2)
  table <- to_r(table)
  expect_identical(class(table), c("data.table", "data.frame"))
})

test_that("to_r() keeps 64-bit integers where bit64 is installed", {
  skip_if_not_installed("bit64")
  for (d in c("i64", "ui64")) {
    df <- data.frame(id = nv_tensor(c("9007199254740993", NA, "5"), d), small = nv_tensor(1:3, d))
    expect_silent(out <- to_r(df))
    expect_s3_class(out$id, "integer64")
    expect_identical(as.character(out$id), c("9007199254740993", NA, "5"))
    expect_identical(out$small, c(1, 2, 3))
  }
  least <- nv_tensor(c("-9223372036854775808", "1"), "i64") # bit64's NA
  expect_identical(to_r(least), c(-2^63, 1))
  odd <- nv_tensor(c("-9223372036854775808", "9007199254740993"), "i64")
  expect_warning(to_r(odd), "1 of 2 values", class = "joist_rounding_warning")
})

test_that("to_r() says what it rounds", {
  far <- "18446744073709551615" # of no integer64
  df <- data.frame(id = nv_tensor(c(far, "5"), "ui64"), k = 1:2)
  expect_warning(out <- to_r(df), "id: 1 of 2 values of ui64", class = "joist_rounding_warning")
  expect_identical(out, data.frame(id = c(2^64, 5), k = 1:2))
  expect_warning(out <- to_r(nv_tensor(c(far, NA), "ui64")), "1 of 2 values",
    class = "joist_rounding_warning"
  )
  expect_identical(out, c(2^64, NA))
  expect_silent(exact <- to_r(nv_scalar(-2^31, "i32")))
  expect_identical(exact, -2^31)
  expect_silent(exact <- to_r(nv_tensor("9007199254740994", "i64")))
  expect_identical(exact, 9007199254740994)
})

test_that("writers of text take tensors, and what to_r() makes of them", {
  text <- function(df) utils::capture.output(utils::write.csv(df, row.names = FALSE))
  expect_identical(text(to_r(columns_of())), text(plain_columns))
  expect_identical(text(columns_of()), text(plain_columns))
})

test_that("rasters are drawn in their own type", {
  grey <- matrix(c(0, 51, 255, 102), 2)
  expect_identical(as.raster(nv_tensor(grey, "ui8")), as.raster(grey, max = 255))
  expect_identical(as.raster(nv_tensor(grey * 257, "ui16")), as.raster(grey, max = 255))
  expect_identical(as.raster(nv_tensor(grey / 255)), as.raster(grey, max = 255))
  colours <- array(c(0, 255, 51, 0, 102, 255, 9, 1, 2, 3, 4, 5), c(2, 2, 3))
  expect_identical(as.raster(nv_tensor(colours, "ui8")), as.raster(colours, max = 255))
})
