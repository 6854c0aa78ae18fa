# Products of quantized matrices of 4096 x 4096 with a vector beside ggml's, in one process and in
# turns:
#
#   Rscript bench/packed.R INCLUDE LIBRARIES [REPETITIONS] [TYPES]
#
# INCLUDE is the folder of ggml's headers, LIBRARIES that of its shared libraries. TYPES are joined
# by commas. Prints the least elapsed times and joist's over ggml's, which quantizes the vector
# within the product: of the product with a vector of f32, with a quantized one, and with quantizing
# it; how many times as fast as the product of the f32 matrix the second is; and errors relative to
# the product of the blocks' values. JOIST_BENCH_THREADS is the number of threads, 2 by default.
arguments <- c(commandArgs(TRUE), rep(NA, 4))
threads <- as.integer(Sys.getenv("JOIST_BENCH_THREADS", "2"))
turns <- if (is.na(arguments[3L])) 10L else as.integer(arguments[3L])
codes <- c(
  q4_0 = 2L, q4_1 = 3L, q5_0 = 6L, q5_1 = 7L, q8_0 = 8L, q2_k = 10L, q3_k = 11L, q4_k = 12L,
  q5_k = 13L, q6_k = 14L, iq4_nl = 20L, iq4_xs = 23L, mxfp4 = 39L
)
types <- if (is.na(arguments[4L])) names(codes) else strsplit(arguments[4L], ",")[[1L]]
folder <- tempfile()
dir.create(folder)
invisible(file.copy(file.path("bench", "packed.c"), folder))
libraries <- normalizePath(arguments[2L])
writeLines(c(
  paste0("PKG_CPPFLAGS = -I", normalizePath(arguments[1L])),
  paste0("PKG_LIBS = -L", libraries, " -lggml-cpu -lggml-base -Wl,-rpath,", libraries)
), file.path(folder, "Makevars"))
status <- local({
  old <- setwd(folder)
  on.exit(setwd(old))
  system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "packed.c"), stdout = FALSE)
})
if (status != 0L) stop("packed.c does not compile")
dyn.load(file.path(folder, paste0("packed", .Platform$dynlib.ext)))
library(joist)
nv_set_threads(threads)

n <- 4096L
m <- nv_rnorm(c(n, n), dtype = "f32", key = nv_key(1L))
x <- nv_rnorm(c(n, 1L), dtype = "f32", key = nv_key(2L))
single <- function(x) writeBin(as.numeric(x), raw(), size = 4L)
least <- function(f, times) {
  took <- vapply(seq_len(times), function(k) {
    start <- Sys.time()
    f()
    as.numeric(Sys.time()) - as.numeric(start)
  }, 0)
  min(took)
}
for (type in types) {
  w <- nv_quantize(m, type = type)
  of_x <- if (grepl("_k$", type)) "q8_k" else "q8_0"
  q <- nv_quantize(x, type = of_x)
  .C("packed_keep", codes[[type]], c(n, n), threads, as.raw(unclass(w)[[1L]]), single(x))
  ours <- list(
    `f32 vector` = function() crossprod(w, x), quantized = function() crossprod(w, q),
    `with quantizing` = function() crossprod(w, nv_quantize(x, type = of_x)),
    matrix = function() crossprod(m, x)
  )
  times <- replicate(turns, {
    made <- .C("packed_multiply", 20L, least = 1e9, out = single(numeric(n)))
    c(ggml = made$least, vapply(ours, least, 0, times = 20L))
  })
  best <- 1000 * apply(times, 1L, min)
  made <- .C("packed_multiply", 1L, least = 1e9, out = single(numeric(n)))
  want <- as.numeric(crossprod(as_tensor(w), x))
  error <- function(x) sqrt(mean((x - want)^2) / mean(want^2))
  cat(sprintf("%-7s ggml %.3f ms", type, best[["ggml"]]), sprintf(
    "%s %.3f (%.2f)", names(ours)[1:3], best[2:4], best[2:4] / best[["ggml"]]
  ), sprintf("%.1f times as fast as f32", best[["matrix"]] / best[["quantized"]]), sprintf(
    "errors %.1e, %.1e", error(readBin(made$out, "numeric", n, 4L)),
    error(as.numeric(ours$quantized()))
  ), sep = "  ")
  cat("\n")
}
