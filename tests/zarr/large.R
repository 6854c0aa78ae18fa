# An array that is larger than memory: columns standardized, a Gram matrix, the mean, the standard
# deviation and quantiles of all elements, each beside what base R finds in double.
#
#   Rscript tests/zarr/large.R [GIGABYTES] [PLAN]
#
# GIGABYTES (40) of f32 in chunks of 4 MB. PLAN is sequential, multisession or sockets, the last two
# with 2 workers. The chunks are files of their own, but every 400th is a further name (a hard link)
# of the same bytes, so that 1.6 GB of disk are enough. All are read, as many times as is computed.
# Prints the largest resident memory of this process and its workers, and fails where that is beyond
# 2 GB or a result is wrong.

Sys.setenv(JOIST_LARGE = Sys.getpid()) # workers inherit it, and are known by it
suppressPackageStartupMessages(library(joist))

given <- commandArgs(TRUE)
gigabytes <- if (length(given) > 0L) as.numeric(given[1L]) else 40
kind <- if (length(given) > 1L) given[2L] else "sequential"
limit <- 2e9

rows <- 2000L
columns <- 500L
count <- max(1L, as.integer(gigabytes * 1e9 / (rows * columns * 4)))
different <- min(count, 400L)

# ---- the array, and what base R finds in it ----

folder <- tempfile("large", fileext = ".zarr")
x <- nv_zarr_create(folder, "f32", c(rows * count, columns), c(rows, columns), order = "F")
chunk_file <- function(k) file.path(folder, "c", k - 1L, "0")

# Multiples of 1/16, so that sums of them and of their squares are exact in double.
key <- nv_key(19)
wanted <- list(sums = 0, squares = 0, gram = 0, counts = 0)
lowest <- -16 * 16
for (k in seq_len(different)) {
  shifted <- nv_rnorm(c(rows, columns), key = nv_fold_in(key, k), dtype = "f32") +
    nv_reshape(nv_iota(1L, "f32", columns), c(1L, columns)) / columns
  chunk <- nv_round(shifted * 16) / 16
  x[seq_len(rows) + (k - 1L) * rows, ] <- chunk
  others <- if (different < count) seq(k, count, by = different)[-1L]
  for (other in others) {
    dir.create(dirname(chunk_file(other)), showWarnings = FALSE)
    stopifnot(file.link(chunk_file(k), chunk_file(other)))
  }
  values <- as_array(chunk, "double")
  times <- length(others) + 1
  wanted$sums <- wanted$sums + times * colSums(values)
  wanted$squares <- wanted$squares + times * colSums(values^2)
  wanted$gram <- wanted$gram + times * crossprod(values[, 1:4], values)
  wanted$counts <- wanted$counts + times * tabulate(values * 16 - lowest, -2 * lowest)
}
stopifnot(sum(wanted$counts) == as.numeric(rows) * count * columns)
n <- as.numeric(rows) * count

# ---- the runs ----

if (kind != "sequential") {
  workers <- if (kind == "sockets") c("localhost", "localhost") else 2L
  strategy <- if (kind == "sockets") future::cluster else future::multisession
  future::plan(strategy, workers = workers)
}

started <- proc.time()[[3L]]
counts <- c(0L, 0L)
say <- function(what, error, tolerance) {
  ok <- isTRUE(error <= tolerance)
  counts <<- counts + c(ok, !ok)
  now <- proc.time()[[3L]]
  cat(sprintf(
    "%-32s %7.0f s  error %.1e, allowed %.0e  %s\n", what, now - started, error, tolerance,
    if (ok) "ok" else "WRONG"
  ))
  started <<- now
}
off <- function(got, wanted, scale = 1) max(abs(as_array(got, "double") - wanted) / scale)

cat(sprintf(
  "%s: %.1f GB of f32, %g x %d in %d chunks\n", kind, 4e-9 * length(x), n, columns, count
))
cat(format(x), "\n")
means <- wanted$sums / n
sds <- sqrt((wanted$squares - n * means^2) / (n - 1))
m <- nv_compute(nv_mean(x, 1, drop = FALSE))
say("means of columns", off(m, means), 1e-5)
s <- nv_compute(nv_sd(x, 1, drop = FALSE))
say("standard deviations of columns", off(s, sds), 1e-6)
z <- (x - m) / s
say("means of standardized columns", off(nv_compute(nv_mean(z, 1)), 0), 1e-5)
squares <- nv_compute(nv_mean(z * z, 1))
say("their mean squares", off(squares, (n - 1) / n), 1e-5)
gram <- nv_compute(nv_crossprod(x))
size <- sqrt(outer(wanted$squares[1:4], wanted$squares))
say("Gram matrix", off(gram[1:4, ], wanted$gram, size), 1e-5)
all <- n * columns
mean_of_all <- sum(wanted$sums) / all
say("mean", off(nv_compute(mean(x)), mean_of_all), 1e-5)
sd_of_all <- sqrt((sum(wanted$squares) - all * mean_of_all^2) / (all - 1))
say("standard deviation", off(nv_compute(nv_sd(x)), sd_of_all), 1e-6)
probs <- c(0, 0.001, 0.25, 0.5, 0.75, 0.999, 1)
below <- cumsum(wanted$counts)
sorted <- function(k) (findInterval(k, c(0, below), left.open = TRUE) + lowest) / 16
at <- 1 + probs * (all - 1)
quantiles <- sorted(floor(at)) * (1 - at %% 1) + sorted(ceiling(at)) * (at %% 1)
say("quantiles", off(nv_quantile(x, probs), quantiles), 1e-6)

# ---- memory ----

peak <- function(pid) {
  lines <- tryCatch(readLines(file.path("/proc", pid, "status")), error = function(e) "")
  as.numeric(gsub("[^0-9]", "", grep("^VmHWM", lines, value = TRUE))) * 1024
}
is_ours <- function(pid) {
  file <- file.path("/proc", pid, "environ")
  text <- tryCatch(
    readBin(file, "raw", 1e6),
    error = function(e) raw(), warning = function(w) raw()
  )
  text[text == 0] <- as.raw(10)
  mark <- paste0("JOIST_LARGE=", Sys.getenv("JOIST_LARGE"))
  mark %in% strsplit(rawToChar(text), "\n", fixed = TRUE)[[1L]]
}
others <- Filter(is_ours, setdiff(list.files("/proc", "^[0-9]+$"), Sys.getpid()))
used <- unlist(lapply(c(Sys.getpid(), others), peak))
cat(sprintf(
  "peak resident memory: %s MB, together %.0f MB of %.0f MB allowed\n",
  paste(sprintf("%.0f", used / 1e6), collapse = " + "), sum(used) / 1e6, limit / 1e6
))
unlink(folder, recursive = TRUE)
counts <- counts + c(sum(used) <= limit, sum(used) > limit)
cat(sprintf("counts: %d %d 0\n", counts[1L], counts[2L]))
if (counts[2L] > 0L) quit(status = 1L)
