# Places that have warned look at long runs no more: what other places, policies and kinds of
# findings tell stays as it is.

long <- 400000L # elements; shorter runs are looked at, which is quick
wrapping <- function() nv_tensor(rep(c(200L, 3L), long / 2), "ui8")

# The messages of the warnings and errors of code, in one text.
told_by <- function(code) {
  told <- character()
  withCallingHandlers(
    tryCatch(code, joist_error = function(e) told <<- c(told, conditionMessage(e))),
    joist_warning = function(w) {
      told <<- c(told, conditionMessage(w))
      invokeRestart("muffleWarning")
    }
  )
  paste(told, collapse = "\n")
}

test_that("a place that has warned stays silent, and its results are the same", {
  local_promotion(NULL, on = c(overflow = "warn", loss = "warn"))
  x <- wrapping()
  doubled <- function(x) x + x
  told <- told_by(first <- doubled(x))
  expect_match(told, "200,000 results of ui8, the first at position 1,")
  expect_identical(told_by(second <- doubled(x)), "")
  expect_identical(as_array(second), as_array(first))
  expect_identical(as_array(second)[1:4], c(144L, 6L, 144L, 6L))
  # another function, another dtype
  other <- function(x) {
    x + x
  }
  told <- told_by(other(x))
  expect_match(told, "200,000 results of ui8")
  wide <- nv_convert(x, "i16") * 150L
  told <- told_by(doubled(wide))
  expect_match(told, "results of i16")
  expect_identical(told_by(doubled(x)), "")
  expect_identical(told_by(doubled(wide)), "")
})

test_that("policies other than the one that warned are asked", {
  local_promotion(NULL, on = c(overflow = "warn", loss = "warn"))
  x <- wrapping()
  tripled <- function(x) x * 3L
  told <- told_by(tripled(x))
  expect_match(told, "200,000 results of ui8")
  told <- told_by(with_promotion(NULL, tripled(x), on = c(overflow = "error")))
  expect_match(told, "200,000 results of ui8")
  told <- told_by(with_promotion(NULL, tripled(x), on = c(overflow = "warn")))
  expect_match(told, "200,000 results of ui8")
  saturated <- with_promotion(NULL, tripled(x), on = c(overflow = "saturate"))
  expect_identical(as_array(saturated)[1:2], c(255L, 9L))
  expect_identical(told_by(tripled(x)), "")
})

test_that("a handler that makes an error of the warning is called each time", {
  local_promotion(NULL, on = c(overflow = "warn", loss = "warn"))
  x <- wrapping()
  squared <- function(x) x * x
  for (k in 1:3) {
    got <- tryCatch(squared(x), joist_warning = function(w) "stopped")
    expect_identical(got, "stopped")
  }
})

test_that("a compiled function tells of each of its operations once", {
  local_promotion(NULL, on = c(overflow = "warn", loss = "warn"))
  f <- jit(function(x, y) {
    a <- x + x
    b <- y * y
    nv_convert(a, "i32") + nv_convert(b, "i32")
  })
  x <- wrapping()
  small <- nv_tensor(rep(2L, long), "ui8")
  calling <- function(x, y) f(x, y)
  told <- told_by(first <- calling(x, small))
  expect_match(told, "nv_add.*200,000 results")
  expect_identical(told_by(second <- calling(x, small)), "")
  expect_identical(as_array(second), as_array(first))
  # The other operation has told nothing yet.
  told <- told_by(calling(x, x))
  expect_match(told, "nv_mul.*200,000 results")
  expect_identical(told_by(third <- calling(x, x)), "")
  expect_identical(as_array(third)[1:2], c(144L + (200L * 200L) %% 256L, 6L + 9L))
})

test_that("losses of conversions are told once, too", {
  local_promotion(NULL, on = c(overflow = "warn", loss = "warn"))
  i <- nv_tensor(rep(c(16777217L, 1L), long / 2), "i32")
  f <- nv_tensor(rep(0, long), "f32")
  added <- function() i + f
  told <- told_by(first <- added())
  expect_match(told, "rounds 200,000 elements of i32 to f32, the first at position 1")
  expect_identical(told_by(second <- added()), "")
  expect_identical(as_array(second), as_array(first))
})
