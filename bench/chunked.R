# Chunked tensors beside Dask, on the same stores of zarr-python, in turns:
#
#   R -f bench/chunked.R --args PYTHON [THREADS [TURNS [ROWS]]]
#
# PYTHON must have dask, zarr 3 and numpy. Prints medians of seconds, and their quotients: at most
# 0.7 is aimed at, and 1 for the Gram matrix. Both have THREADS threads, 2 unless said, and one
# process. On a busy machine the seconds of CPU say more, and with JOIST_BENCH_BEST the fastest turn
# counts, as for bench/run. JOIST_BENCH_CASES names some of the cases, with commas between them.
arguments <- commandArgs(TRUE)
given <- function(k, otherwise) if (length(arguments) < k) otherwise else as.integer(arguments[k])
threads <- given(2, 2L)
turns <- given(3, 7L)
extents <- c(given(4, 16000L), 4000L)
statistic <- if (nzchar(Sys.getenv("JOIST_BENCH_BEST"))) min else stats::median

library(joist)
source("bench/joist.R")
nv_set_threads(threads)
folder <- tempfile("chunked")
dir.create(folder)
peers <- start_peers(arguments[1], threads, file.path(folder, "peers.log"), "bench/chunked.py")

cases <- list(
  "elementwise" = function(x) tanh(x) * 2 + x / (1 + abs(x)),
  "standardize" = function(x) (x - nv_mean(x, 1, FALSE)) / nv_sd(x, 1, FALSE),
  "sum" = function(x) sum(x),
  "column means" = function(x) nv_mean(x, 1),
  "column sds" = function(x) nv_sd(x, 1),
  "largest of rows" = function(x) nv_reduce_max(x, 2),
  "distance" = function(x) sum((x - 1)^2),
  "gram" = function(x) nv_crossprod(x)
)
only <- Sys.getenv("JOIST_BENCH_CASES", paste(names(cases), collapse = ","))
cases <- cases[strsplit(only, ",", fixed = TRUE)[[1L]]]
stored <- c("elementwise", "standardize")

# In the order of NumPy.
sampled <- function(x) {
  values <- as.vector(as_array(if (length(shape(x)) > 1L) t(x) else x))
  values[floor(seq(0, length(values) - 1, length.out = min(length(values), 1000))) + 1]
}

time_joist <- function(path, case, target) {
  gc(full = FALSE)
  start <- proc.time()
  result <- cases[[case]](nv_zarr(path))
  result <- if (nzchar(target)) nv_store(result, target) else nv_compute(result)
  took <- proc.time() - start
  list(seconds = c(took[["elapsed"]], sum(took[1:2])), result = result)
}

run_case <- function(path, case, into) {
  target <- function(k) if (into == "store") file.path(folder, paste0("out", k)) else ""
  one <- function(keep) {
    unlink(file.path(folder, c("out1", "out2")), recursive = TRUE)
    theirs <- ask_numbers(peers, "time", path, case, target(1))
    ours <- time_joist(path, case, target(2))
    if (keep) {
      wanted <- ask_numbers(peers, "values")
      off <- max(abs(sampled(nv_compute(ours$result)) - wanted) / pmax(1, abs(wanted)))
      if (!(off < 1e-3)) stop(case, " disagrees by ", format(off))
    }
    c(ours$seconds, theirs)
  }
  one(TRUE)
  apply(vapply(seq_len(turns), function(k) one(FALSE), numeric(4)), 1, statistic)
}

cat(
  paste0(extents, collapse = "x"), "f32, chunks 1000x1000,", threads, "threads,", turns, "turns;",
  paste(names(peers$versions), peers$versions), "\n\n"
)
cat(sprintf(
  "%-16s %-6s %-6s %8s %8s %6s %9s %8s %6s\n", "case", "codec", "into", "joist", "Dask", "ratio",
  "CPU joist", "CPU Dask", "ratio"
))
for (codec in c("none", if ("zstd" %in% joist:::zarr_codecs()) "zstd")) {
  path <- file.path(folder, codec)
  ask(peers, "make", path, extents[1], extents[2], 1000, codec)
  for (case in names(cases)) {
    for (into in c("memory", if (case %in% stored) "store")) {
      got <- run_case(path, case, into)
      cat(sprintf(
        "%-16s %-6s %-6s %8.3f %8.3f %6.2f %9.3f %8.3f %6.2f\n", case, codec, into, got[1], got[3],
        got[1] / got[3], got[2], got[4], got[2] / got[4]
      ))
    }
  }
}
unlink(folder, recursive = TRUE)
