# Every way that puts a value of one dtype into another: the value is kept, or the user is told, as
# the policy in force says. tests/silence/ways.R asks more.

test_that("no way into another dtype changes a value in silence", {
  expect_identical(wrong_among(questions(1600)), NULL)
})

test_that("integers of bit64 that a float rounds are told of, eager and compiled", {
  id <- bit64::as.integer64("9007199254740993")
  x <- nv_tensor(c(1, 1), "f64")
  put <- function(x, v) {
    x[1] <- v
    x
  }
  mixed <- jit(function(x, v) c(x, v))
  branch <- function(x, v) nv_if(nv_scalar(TRUE), v, x[[1]])
  for (way in list(put, nv_add, mixed, mixed, branch, jit(branch), nv_fill_like)) {
    local_promotion(NULL, on = c(loss = "warn"))
    expect_warning(way(x, id), "9007199254740993 at position 1 is rounded to f64",
      class = "joist_loss_warning"
    )
    local_promotion(NULL, on = c(loss = "error"))
    expect_error(way(x, id), "rounded to f64", class = "joist_loss_error")
    expect_silent(way(x, bit64::as.integer64("9007199254740992")))
    local_promotion(NULL, on = c(loss = "ok"))
    expect_silent(way(x, id))
  }
  # nv_convert() is asked to round.
  local_promotion(NULL, on = c(loss = "error"))
  expect_silent(nv_convert(nv_tensor(id), "f64"))
  expect_silent(jit(function(v) nv_convert(v, "f64"))(id))
})
