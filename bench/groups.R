# Functions of groups beside data.table, and sums of rows by group beside base R:
#
#   R_LIBS=<library with joist> R --vanilla --no-echo -f bench/groups.R [--args rows]
#
# Groups 1e7 f64 values (or `rows`) by one i32 key, one i64 key and both, with 1e2, 1e5 and half as
# many groups as rows, on two threads each, and checks the sums. Prints medians of three turns, in
# which the two alternate, in seconds, and their ratio; the key is grouped anew in each turn. Then
# the memory that a sum takes in a process of its own: how far its peak is above what the data take,
# in MB. Takes six minutes and 4 GB.
suppressMessages({
  library(joist)
  library(data.table)
})
rows <- c(as.numeric(commandArgs(TRUE)), 1e7)[1L]
setDTthreads(2L)
nv_set_threads(2L)
set.seed(1)
values <- runif(rows)
x <- nv_tensor(values, "f64")

seconds <- function(f) system.time(f())[["elapsed"]]
report <- function(what, ours, theirs) {
  times <- replicate(3L, c(seconds(ours), seconds(theirs)))
  medians <- apply(times, 1L, median)
  ratio <- medians[1L] / medians[2L]
  cat(sprintf("%-28s %8.3f %8.3f %6.2f\n", what, medians[1L], medians[2L], ratio))
}
by_table <- list(
  sum = function(d) d[, sum(v), by = k], mean = function(d) d[, mean(v), by = k],
  max = function(d) d[, max(v), by = k], sd = function(d) d[, sd(v), by = k]
)
by_tensor <- list(
  sum = nv_segment_sum, mean = nv_segment_mean, max = nv_segment_max, sd = nv_segment_sd
)

cat(sprintf("%-28s %8s %8s %6s\n", "", "joist", "other", "ratio"))
for (count in c(1e2, 1e5, rows / 2)) {
  narrow <- sample.int(count, rows, TRUE)
  keys <- list(i32 = nv_tensor(narrow, "i32"), i64 = nv_tensor(narrow, "i64") * 1000003L)
  tables <- list(
    i32 = data.table(k = narrow, v = values),
    i64 = data.table(k = bit64::as.integer64(narrow) * 1000003L, v = values)
  )
  ours <- as.vector(nv_segment_sum(x, nv_group(keys$i64)))
  stopifnot(isTRUE(all.equal(ours, by_table$sum(tables$i64)$V1)))
  for (kind in names(keys)) {
    for (name in names(by_table)) {
      report(
        sprintf("%s by %.0f groups, %s", name, count, kind),
        function() by_tensor[[name]](x, nv_group(keys[[kind]])),
        function() by_table[[name]](tables[[kind]])
      )
    }
  }
  both <- data.table(k = narrow, j = narrow %% 5L, v = values)
  pair <- list(keys$i32, nv_tensor(narrow %% 5L, "i8"))
  report(
    sprintf("sum by %.0f groups, two keys", count),
    function() nv_segment_sum(x, nv_group(pair)), function() both[, sum(v), by = .(k, j)]
  )
}
# The growth of the peak of resident memory, which is that of a fresh process.
peak_of <- function(expression, count) {
  code <- c(
    "suppressMessages({library(joist); library(data.table)})", "setDTthreads(2L)",
    "nv_set_threads(2L)", sprintf("n <- %.0f", rows), "values <- runif(n)",
    sprintf("narrow <- sample.int(%.0f, n, TRUE)", count), "x <- nv_tensor(values, 'f64')",
    "d <- data.table(k = bit64::as.integer64(narrow) * 1000003L, v = values)",
    "k <- nv_tensor(d$k, 'i64')", "rm(values, narrow); invisible(gc())",
    "peak <- function() as.numeric(gsub('[^0-9]', '', grep('VmHWM',",
    "  readLines('/proc/self/status'), value = TRUE)))",
    "writeLines('5', '/proc/self/clear_refs')", "before <- peak()", expression,
    "cat((peak() - before) / 1024)"
  )
  file <- tempfile(fileext = ".R")
  writeLines(code, file)
  as.numeric(system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", file), stdout = TRUE))
}
for (count in c(1e2, 1e5, rows / 2)) {
  ours <- peak_of("s <- nv_segment_sum(x, nv_group(k))", count)
  theirs <- peak_of("s <- d[, sum(v), by = k]", count)
  what <- sprintf("MB of sum by %.0f groups, i64", count)
  cat(sprintf("%-28s %8.0f %8.0f %6.2f\n", what, ours, theirs, ours / theirs))
}
few <- 1e6
group <- sample.int(1e5, few, TRUE)
part <- nv_tensor(values[seq_len(few)], "f64")
report(
  "rowsum() of 1e6, 1e5 groups", function() rowsum(part, group),
  function() rowsum(values[seq_len(few)], group)
)
