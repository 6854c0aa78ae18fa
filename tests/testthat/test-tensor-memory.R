# How much more memory a call needs than it had, in a fresh R: its result and little else.

skip_on_cran()
skip_if_not(file.exists("/proc/self/status"))

# In MB, of code that is evaluated after `setup`.
peak_of <- function(code, setup = "") {
  said <- run_in_fresh_r(c(
    "library(joist)",
    "peak <- function() {",
    "  line <- grep('^VmHWM', readLines('/proc/self/status'), value = TRUE)",
    "  as.numeric(gsub('[^0-9]', '', line)) / 1024",
    "}",
    "small <- nv_fill(1, 10)", setup, "before <- peak()", code,
    "cat(peak() - before)"
  ))
  as.numeric(said[length(said)])
}

test_that("an identity matrix takes its own memory", {
  expect_lt(peak_of("x <- nv_eye(7000, 'ui8')"), 49 + 15)
})

test_that("a few draws of many need the bits of one part only", {
  # Bits of all would be 480 MB, an order of them 240 more; what is let go of waits for R.
  expect_lt(peak_of("x <- nv_sample(6e7, 3, key = nv_key(1))"), 400)
  expect_lt(
    peak_of("x <- nv_sample(v, 3, key = nv_key(1))", "v <- nv_fill(1L, 6e7, 'ui8')"), 400
  )
})

test_that("when unused tensors are collected depends on their bytes, not on time", {
  used <- function() {
    library(joist)
    nv_set_threads(1)
    x <- nv_tensor(seq_len(1e6), "f32")
    vapply(seq_len(150), function(i) {
      y <- x + x
      nv_memory()[["used"]] / 2^20
    }, 0)
  }
  once <- unlist(in_fresh_r(used)[1:150])
  expect_identical(unlist(in_fresh_r(used)[1:150]), once)
  expect_gt(max(once), 32)
  expect_lt(max(once), 128)
})
