# PyTorch's checkpoints; tests/files/models.py wrote them.

checkpoint <- function(name) test_path("pytorch", paste0(name, ".pt"))

test_that("state dicts are read", {
  got <- nv_read_pt(checkpoint("state"))
  expect_named(got, c("state", "epoch", "rate", "name", "best", "flags", "big", "pair", "list"))
  x <- nv_tensor(matrix(0:11, 3, byrow = TRUE), "f32")
  expect_identical(got$state$weight, x)
  expect_identical(got$state$turned, t(x))
  expect_identical(as_array(got$state$part), matrix(c(5, 9, 6, 10), 2))
  expect_identical(got$state$longs, nv_tensor(c("1", "-4611686018427387904"), "i64"))
  expect_identical(got$state$scalar, nv_scalar(3, "f32"))
  expect_identical(got$epoch, 7)
  expect_identical(got$rate, 0.5)
  expect_identical(got$name, "gr\u00fc\u00df")
  expect_null(got$best)
  expect_identical(got$flags, list(TRUE, FALSE))
  expect_identical(got$big, -70000)
  expect_identical(got$pair, list(1, "a"))
  expect_identical(got$list[[1]], got$state$longs)
})

test_that("what is not a part of state dicts is refused by its name", {
  expect_error(nv_read_pt(checkpoint("hostile")), "__builtin__[.]print.*not called",
    class = "joist_value_error"
  )
  expect_error(nv_read_pt(checkpoint("beyond")), "beyond its storage", class = "joist_value_error")
  expect_error(nv_read_pt(tempfile()), class = "joist_value_error")
  for (text in c("os\nsystem\n", "builtins\neval\n", "torch\nload\n")) {
    expect_error(
      read_pickle(c(as.raw(0x63), charToRaw(text)), NULL, "little"), "asks for",
      class = "joist_value_error"
    )
  }
})

test_that("names that are not strings, and dicts not made of pairs, are errors of joist", {
  empty <- as.raw(0x5d)
  expect_error(
    read_pickle(c(empty, empty, as.raw(0x93)), NULL, "little"), "not a string",
    class = "joist_value_error"
  )
  pairs <- c(
    as.raw(0x63), charToRaw("collections\nOrderedDict\n"), empty,
    as.raw(c(0x4b, 1, 0x61, 0x85, 0x52, 0x2e))
  )
  expect_error(read_pickle(pairs, NULL, "little"), "not a pair", class = "joist_value_error")
})

test_that("an unknown byte order is an error of joist", {
  bytes <- readBin(checkpoint("state"), "raw", 1e5)
  bytes[grepRaw("little", bytes)] <- as.raw(0L)
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(bytes, file)
  expect_error(nv_read_pt(file), "neither little nor big", class = "joist_value_error")
})

test_that("damaged pickles are errors of joist", {
  con <- unz(checkpoint("state"), "archive/data.pkl", "rb")
  bytes <- readBin(con, "raw", 1e5)
  close(con)
  storage <- function(key) raw(48)
  run <- function(bytes) {
    tryCatch(
      {
        read_pickle(bytes, storage, "little")
        "read"
      },
      joist_error = function(e) "refused", error = function(e) conditionMessage(e)
    )
  }
  set.seed(1)
  seen <- vapply(seq_len(600L), function(k) {
    at <- sample.int(length(bytes), 1L)
    other <- as.raw(sample.int(256L, 1L) - 1L)
    run(if (k %% 3L == 0L) bytes[seq_len(at)] else replace(bytes, at, other))
  }, "")
  expect_identical(setdiff(seen, c("read", "refused")), character())
})
