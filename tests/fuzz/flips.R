# Reads saved objects with flipped bytes, and uses what comes of them: FLIPS SEED FIRST, for
# tests/fuzz/calls, from the root of the tree. Bytes that no R has written may be something else or
# an error; what is wrong ends R with joist on its stack. Each flip depends on SEED and its number
# alone.
numbers <- as.double(commandArgs(TRUE))
suppressPackageStartupMessages(library(joist))
source(file.path("tests", "fuzz", "parts.R"))
saved <- readRDS(list.files(
  file.path("tests", "testthat", "saved"), "[.]rds$",
  full.names = TRUE
)[1L])
setwd(tempdir())
options(warn = -1L)
seed <- numbers[2L]

saved$long <- NULL
for (dtype in names(saved$tensors)) {
  saved[[paste0("tensor_", dtype)]] <- saved$tensors[[dtype]]$tensor
  saved[[paste0("aval_", dtype)]] <- saved$avals[[dtype]]
}
# And as this version saves them.
for (case in saved$tensors) {
  x <- nv_tensor(case$value, case$dtype)
  saved[[paste0("vector_", case$dtype)]] <- nv_flatten(x)
  saved[[paste0("array_", case$dtype)]] <- x
}
saved$named <- nv_tensor(c(a = 1, b = 2))
saved$number <- nv_scalar(3L)
saved$guess_vector <- nv_tensor(1:3, ambiguous = TRUE)
saved$missing_bytes <- nv_tensor(c(1, NA, 3), "ui8")
saved$missing_matrix <- nv_tensor(matrix(c(NA, 2, 3, NA), 2), "f64")
saved$missing_integers <- nv_tensor(c(1L, NA), "i32")
saved$tensors <- saved$avals <- NULL
bytes <- lapply(saved, serialize, connection = NULL)

use <- function(x) {
  for (f in list(
    format, print, dtype, shape, as_array, as.vector, length, function(x) x + 1L, function(x) x[1L],
    function(x) sum(x), function(x) nv_convert(x, "f64"), function(x) c(x, x), nv_serialize,
    function(x) serialize(x, NULL), function(x) identical(x, x), is.na,
    function(x) sum(x, na.rm = TRUE), function(x) x(nv_tensor(1)),
    function(x) common_dtype("i8", "f32", rules = x), function(x) nv_runif(2, key = x),
    function(x) str(x), function(x) x[[1L]] <- 1
  )) {
    tryCatch(f(x), error = function(e) NULL) # try() fails where the call of a condition is a name
  }
}

flip <- function(k) {
  set.seed((seed * 1e7 + k) %% (2^31 - 1))
  raw <- bytes[[sample.int(length(bytes), 1L)]]
  # Behind R's own header.
  at <- 23L + sample.int(length(raw) - 23L, sample.int(3L, 1L), replace = TRUE)
  for (place in at) raw[place] <- xor(raw[place], as.raw(bitwShiftL(1L, sample.int(8L, 1L) - 1L)))
  # Whether it is an error cannot be asked of it: base R stops at some classes.
  read <- FALSE
  try(
    {
      x <- unserialize(raw)
      read <- TRUE
    },
    silent = TRUE
  )
  if (read) use(x)
}

sink(nullfile())
counts <- in_parts(numbers[1L], "flips", flip, from = numbers[3L], stuck = 4)
sink()
quit("no", status = if (counts$ended > 0) 1L else 0L)
