# Times joist on a GPU beside CuPy, PyTorch and JAX on the same GPU:
#
#   Rscript bench/gpu.R [elements]     268435456 (2^28) by default
#
# Needs a GPU, joist built with CUDA, and for each peer a python3 that has it (bench/gpu.py).
# Prints, per expression, the bytes moved per second as a fraction of those of a copy within
# the GPU's memory by the driver, measured in the same run, and the time of a small operation
# from R. Without R, `make gpu-bench` in tests/core/cuda measures the same.
#
# Operations are compiled when they have come often enough; these are at once.
Sys.setenv(JOIST_CUDA_COMPILE = "always")
library(joist)

if (!"cuda:0" %in% nv_devices()) {
  print(cuda_diagnostics())
  stop("bench/gpu.R needs a GPU")
}

arguments <- commandArgs(TRUE)
n <- if (length(arguments) > 0L) as.numeric(arguments[1L]) else 2^28

# Seconds that `calls` calls take. Sys.time() resolves microseconds, which proc.time() does not.
elapsed <- function(f, calls) {
  nv_synchronize()
  start <- as.numeric(Sys.time())
  for (call in seq_len(calls)) f()
  nv_synchronize()
  as.numeric(Sys.time()) - start
}

# Seconds per call: the least of several runs of at least 0.1 seconds each.
seconds <- function(f, runs = 5L) {
  calls <- 2L
  elapsed(f, 3L)
  while (elapsed(f, calls) < 0.1 && calls < 1e6) calls <- 2L * calls
  min(vapply(seq_len(runs), function(run) elapsed(f, calls) / calls, 0))
}

# Random data: zeros are faster than real values on some hardware.
f32 <- nv_to(nv_convert(nv_tensor(stats::runif(n)), "f32"), "cuda:0")
g32 <- nv_to(nv_convert(nv_tensor(stats::runif(n)), "f32"), "cuda:0")
i32 <- nv_to(nv_tensor(sample.int(1000L, n, replace = TRUE)), "cuda:0")

fused <- jit(function(x, y) {
  z <- x * 2 + y
  z <- z * z - x
  z <- nv_max(z, y) * 0.5 + x
  z <- z * y + 1
  abs(z - x) * 3
})

# Expression, and bytes that it has to move per element. Vectors are put together by copies of
# the driver (cudaMemcpyAsync), one for each.
half <- nv_to(nv_convert(nv_tensor(stats::runif(n %/% 2)), "f32"), "cuda:0")
cases <- list(
  "copy by the driver" = list(function() nv_concatenate(half, half), 8),
  "x + y, f32" = list(function() f32 + g32, 12),
  "i32 + f32" = list(function() i32 + f32, 12),
  "12 operations, fused" = list(function() fused(f32, g32), 12),
  "sum, f32" = list(function() sum(f32), 4)
)

bandwidth <- vapply(cases, function(case) case[[2L]] * n / seconds(case[[1L]]), 0)
copy <- bandwidth[[1L]]
for (name in names(cases)) {
  cat(sprintf("%-28s %8.0f GB/s  %5.1f %% of copy\n", name, bandwidth[[name]] / 1e9,
    100 * bandwidth[[name]] / copy))
}

tiny <- nv_to(nv_tensor(1:10), "cuda:0")
cat(sprintf("%-28s %8.1f us\n", "small operation", 1e6 * seconds(function() tiny + tiny)))

python <- Sys.which("python3")
if (nzchar(python)) {
  system2(python, c(file.path("bench", "gpu.py"), format(n, scientific = FALSE)))
} else {
  cat("no python3: no peers\n")
}
