# Interrupts and time limits while C computes.

skip_on_cran()

# Something that takes C a second or more, in one call.
long_products <- function() {
  x <- nv_fill(1L, c(3000, 3000), "i64")
  function() nv_matmul(x, x)
}

# The parent process may have made this R ignore SIGINT; from R 4.5 on its children then do, too.
skip_if_interrupts_are_ignored <- function() {
  skip_on_os("windows")
  status <- suppressWarnings(try(readLines("/proc/self/status"), silent = TRUE))
  ignored <- sub("^SigIgn:\\s*", "", grep("^SigIgn:", status, value = TRUE))
  last <- strtoi(substring(ignored, nchar(ignored)), 16L)
  skip_if(isTRUE(bitwAnd(last, 2L) > 0L), "SIGINT is ignored here")
}

# Runs `code` in a fresh R, which interrupts itself after `delay` seconds.
interrupted <- function(code, delay) {
  run_in_fresh_r(c(
    "library(joist)",
    "interrupt_after <- function(delay) {",
    "  system(sprintf('(sleep %f; kill -INT %d) &', delay, Sys.getpid()))",
    "}",
    sprintf("delay <- %f", delay), code
  ))
}

test_that("a time limit is an error of base R", {
  product <- long_products()
  on.exit(setTimeLimit())
  caught <- tryCatch(
    {
      setTimeLimit(elapsed = 0.05, transient = TRUE)
      product()
    },
    error = identity
  )
  setTimeLimit()
  expect_s3_class(caught, "simpleError")
  expect_match(conditionMessage(caught), "time limit")
  expect_silent(sum(nv_fill(1, 1e6)))
})

test_that("a time limit is an error in jit(), too, and later calls work", {
  product <- long_products()
  f <- jit(function(x) nv_matmul(x, nv_matmul(x, x)))
  x <- nv_fill(1L, c(2000, 2000), "i64")
  on.exit(setTimeLimit())
  caught <- tryCatch(
    {
      setTimeLimit(elapsed = 0.2, transient = TRUE)
      f(x)
    },
    error = identity
  )
  setTimeLimit()
  expect_match(conditionMessage(caught), "time limit")
  expect_identical(as_array(f(nv_fill(2L, c(2, 2), "i64"))), matrix(32, 2, 2))
})

test_that("an interrupt can be caught", {
  skip_if_interrupts_are_ignored()
  said <- interrupted(c(
    "x <- nv_fill(1L, c(3000, 3000), 'i64')",
    "got <- tryCatch({",
    "  interrupt_after(delay)",
    "  for (k in 1:20) nv_matmul(x, x)",
    "}, interrupt = function(e) class(e))",
    "print(got)",
    "print(as_array(sum(nv_fill(1, 10))))"
  ), 0.3)
  expect_identical(said, c("[1] \"interrupt\" \"condition\"", "[1] 10"))
})

test_that("a handler may resume what was interrupted", {
  skip_if_interrupts_are_ignored()
  said <- interrupted(c(
    "x <- nv_fill(1L, c(2000, 2000), 'i64')",
    "got <- withCallingHandlers(",
    "  { interrupt_after(delay); for (k in 1:3) y <- nv_matmul(x, x); y },",
    "  interrupt = function(e) { cat('seen\\n'); invokeRestart('resume') }",
    ")",
    "print(as_array(all(got == 2000L)))"
  ), 0.3)
  expect_identical(said, c("seen", "[1] TRUE"))
})

test_that("an assignment in place is whole or did not happen", {
  skip_if_interrupts_are_ignored()
  for (delay in c(0.02, 0.05, 0.1, 0.2)) {
    said <- interrupted(c(
      "n <- 3e7",
      "x <- nv_fill(0L, n, 'ui8')",
      "positions <- rev(seq_len(n))[c(TRUE, FALSE)]",
      "tryCatch({",
      "  interrupt_after(delay)",
      "  for (k in 1:50) x[positions] <- k",
      "}, interrupt = function(e) cat('seen\\n'))",
      "cat(length(unique(x[positions])), '\\n')"
    ), delay)
    expect_identical(said, c("seen", "1 "))
  }
})

test_that("a time limit ends what is sent to a connection, and what is read from one", {
  on.exit(setTimeLimit())
  limited <- function(code) {
    caught <- tryCatch(
      {
        setTimeLimit(elapsed = 0.02, transient = TRUE)
        code()
      },
      error = identity
    )
    setTimeLimit()
    caught
  }
  bytes <- raw(3e8)
  con <- file("/dev/null", "wb")
  sent <- limited(function() write_bytes(con, bytes))
  close(con)
  con <- file("/dev/zero", "rb", raw = TRUE)
  read <- limited(function() read_bytes(con, 3e8))
  close(con)
  for (caught in list(sent, read)) {
    expect_s3_class(caught, "simpleError")
    expect_match(conditionMessage(caught), "time limit")
  }
})

test_that("a time limit that ends inside a connection's function stays one", {
  for (limit in c("reached elapsed time limit", "reached CPU time limit")) {
    ends <- simpleError(limit, quote(readBin()))
    expect_identical(tryCatch(connecting(stop(ends)), error = identity), ends)
  }
  fails <- "the connection fails: broken"
  expect_error(connecting(stop("broken")), fails, class = "joist_value_error")
})
