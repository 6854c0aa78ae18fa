# Signals and linear algebra beside SciPy, JAX and OpenCV, in one process and in turns:
#
#   Rscript bench/signals.R PYTHON [REPETITIONS] [PATTERN]
#
# PYTHON has NumPy, SciPy, JAX and opencv-python-headless. Prints the least elapsed and processor
# times, and joist's over each. JOIST_BENCH_THREADS is the number of threads, 2 by default; JAX
# takes as many as there are processors (taskset -c 0 leaves it one).
threads <- as.integer(Sys.getenv("JOIST_BENCH_THREADS", "2"))
Sys.setenv(RETICULATE_PYTHON = commandArgs(TRUE)[1L], OMP_NUM_THREADS = threads)
repetitions <- as.integer(c(commandArgs(TRUE)[-1L], "7")[1L])
pattern <- c(commandArgs(TRUE)[-(1:2)], "")[1L]
library(joist)
nv_set_threads(threads)
reticulate::source_python(file.path("bench", "signals.py"))

set.seed(1)
complex_numbers <- function(n) nv_tensor(complex(real = rnorm(n), imaginary = rnorm(n)), "c64")
photo <- nv_tensor(array(sample(0:255, 12e6, TRUE), c(3000, 4000)), "ui8")
bytes <- function(x) nv_convert(nv_clamp(0, nv_round(x), 255), "ui8")
batch <- nv_tensor(array(rnorm(32^4), c(32, 32, 32, 32)), "f32")
kernel <- nv_tensor(array(rnorm(64 * 32 * 9), c(64, 32, 3, 3)), "f32")
small <- nv_tensor(array(rnorm(25e4), c(5, 5, 1e4)), "f32")
right <- nv_tensor(array(rnorm(5e4), c(5, 1, 1e4)), "f32")
square <- matrix(rnorm(25e4), 500)
square_tensor <- nv_tensor(square, "f64")
long <- complex_numbers(2^20)
prime <- complex_numbers(99991)
rows <- nv_reshape(complex_numbers(1e6), c(1000, 1000))
plane <- nv_tensor(matrix(rnorm(512^2), 512), "f32")
box <- jit(function(x) {
  bytes(nv_reduce_window(x, 3, "mean", padding = "same", count_padding = FALSE))
})
cubic <- jit(function(x) bytes(nv_resize(x, c(1500, 2000), "cubic", antialias = FALSE)))
median_3 <- jit(function(x) {
  nv_convert(nv_reduce_window(x, 3, "median"), "ui8")
})
slopes <- jit(gradient(function(x, k) sum(nv_conv(x, k, padding = 1)^2)))

cases <- list(
  fft_1048576 = function() nv_fft(long), fft_99991 = function() nv_fft(prime),
  fft_rows_1000x1000 = function() nv_fft(rows, dims = 1), fft_plane_512 = function() nv_fft(plane),
  conv = function() nv_conv(batch, kernel, padding = 1), conv_slopes = function() {
    slopes(batch, kernel)
  },
  box_blur = function() box(photo), median_3 = function() median_3(photo),
  cubic = function() cubic(photo), solve_5 = function() nv_solve(small, right),
  inverse_5 = function() nv_inv(small), eig_500 = function() nv_eig(square_tensor)
)
base <- list(eig_500 = function() eigen(square))

# Elapsed time and processor time of all threads.
milliseconds <- function(f) {
  f()
  start <- proc.time()
  turns <- 0
  repeat { # proc.time() has milliseconds
    f()
    turns <- turns + 1
    time <- proc.time() - start
    if (time[["elapsed"]] > 0.05) {
      return(1000 * c(time[["elapsed"]], time[["user.self"]] + time[["sys.self"]]) / turns)
    }
  }
}
for (name in grep(pattern, names(cases), value = TRUE)) {
  runs <- c(list(joist = cases[[name]]), if (name %in% names(base)) list(base_r = base[[name]]))
  peers <- lapply(stats::setNames(nm = names(peer_cases[[name]])), function(peer) {
    function() unlist(peer_time(name, peer))
  })
  measures <- c(lapply(runs, function(f) function() milliseconds(f)), peers)
  times <- replicate(repetitions, vapply(measures, function(f) f(), c(0, 0)))
  least <- apply(times, 1:2, min)
  over <- least[, 1L] / least
  cat(sprintf("%-20s", name), sprintf("%s %.3g ms, processor %.3g (%.2f, %.2f)", colnames(least),
    least[1L, ], least[2L, ], over[1L, ], over[2L, ]
  ), sep = "  ")
  cat("\n")
}
