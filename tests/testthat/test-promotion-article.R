# The code of anvil's article on type promotion, with the dtypes and flags that it shows, called as
# in the article, in jit() and without.

both_ways <- function(f, ...) {
  eager <- f(...)
  expect_identical(jit(f)(...), eager)
  eager
}

test_that("f32 and f64 give f64", {
  sum <- both_ways(nv_add, nv_scalar(1.0, dtype = "f32"), nv_scalar(1.0, dtype = "f64"))
  expect_identical(as_array(sum), 2)
  expect_identical(type_of(sum), "f64")
  expect_output(print(sum), "[ CPUf64{} ]", fixed = TRUE)
})

test_that("common_dtype() of known dtypes", {
  expect_true(common_dtype("f64", "f32")$dtype == "f64")
  expect_true(common_dtype("i64", "f32")$dtype == "f32")
  expect_named(common_dtype("f64", "f32"), c("dtype", "ambiguous"))
  expect_s3_class(common_dtype("f64", "f32")$dtype, "joist_dtype")
})

test_that("default dtypes of literals", {
  out <- jit(\() list(1L, 1.0, TRUE))()
  expect_length(out, 3)
  expect_identical(vapply(out, function(x) format(dtype(x)), ""), c("i32", "f32", "bool"))
  expect_identical(vapply(out, ambiguous, TRUE), c(TRUE, TRUE, FALSE))
  expect_identical(lapply(out, shape), list(integer(), integer(), integer()))
  expect_identical(as_array(out[[1]]), 1L)
  expect_identical(as_array(out[[2]]), 1)
  expect_identical(as_array(out[[3]]), TRUE)
  expect_true(as_dtype("pred") == dtype(out[[3]]))
})

test_that("an ambiguous dtype gives way", {
  expect_identical(common_dtype("f32", "f64", FALSE, TRUE), {
    list(dtype = as_dtype("f32"), ambiguous = FALSE)
  })
  expect_identical(common_dtype("f32", "f64", TRUE, TRUE), {
    list(dtype = as_dtype("f64"), ambiguous = TRUE)
  })
  expect_identical(common_dtype("f32", "f64", FALSE, FALSE), {
    list(dtype = as_dtype("f64"), ambiguous = FALSE)
  })
})

test_that("ambiguity is propagated", {
  intermediate <- NULL
  f <- function(x, y) {
    z <- x + 1L
    intermediate <<- type_of(z)
    z * y
  }
  x <- nv_scalar(TRUE)
  y <- nv_scalar(2L, dtype = "i16")
  for (g in list(f, jit(f))) {
    intermediate <- NULL
    out <- g(x, y)
    expect_identical(intermediate, "i32?")
    expect_identical(as_array(out), 4L)
    expect_identical(type_of(out), "i16")
    expect_output(print(out), "[ CPUi16{} ]", fixed = TRUE)
  }
  # Were z known, the product would be i32.
  known <- both_ways(function(x, y) nv_convert(x + 1L, "i32") * y, x, y)
  expect_identical(type_of(known), "i32")
})

test_that("the two exceptions: ambiguous float with integer, known bool", {
  expect_identical(type_of(both_ways(nv_add, nv_scalar(1L, "i8"), 1.5)), "f32?")
  expect_identical(type_of(both_ways(nv_add, nv_scalar(TRUE), 1L)), "i32?")
  expect_identical(type_of(both_ways(nv_add, nv_scalar(TRUE), 1.5)), "f32?")
  expect_identical(type_of(both_ways(nv_add, nv_scalar(1, "f64"), 1.5)), "f64")
})
