# What a chunk costs besides its bytes: milliseconds for each of many chunks of 1 KB, of the
# processor and of the clock, in this session alone. Fails where the processor needs more than 2 ms.
#
#   Rscript tests/zarr/overhead.R [CHUNKS]

suppressPackageStartupMessages(library(joist))

given <- as.integer(commandArgs(TRUE))
count <- if (length(given) > 0L) given[1L] else 4000L
nv_set_threads(1)
x <- nv_zarr_create(tempfile(), "f32", c(16L * count, 16L), 16L)
good <- TRUE
timed <- function(what, run) {
  time <- system.time(run())
  ms <- 1000 * c(time[["user.self"]] + time[["sys.self"]], time[["elapsed"]]) / count
  good <<- good && ms[1L] < 2
  cat(sprintf("%-24s %.2f ms of the processor, %.2f ms\n", what, ms[1L], ms[2L]))
}
timed("written by x[] <-", function() x[] <- 1)
timed("x * 2 + 1, stored", function() nv_store(x * 2 + 1, tempfile()))
timed("x * 2 + 1, computed", function() nv_compute(x * 2 + 1))
timed("sum of all", function() stopifnot(as_array(nv_compute(sum(x))) == 256 * count))
timed("sums of columns", function() nv_compute(nv_reduce_sum(x, 1)))
timed("crossprod", function() nv_compute(nv_crossprod(x)))
timed("standard deviation", function() nv_compute(nv_sd(x)))
if (!good) quit(status = 1L)
