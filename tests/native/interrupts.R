# Time limits that end compiled loops at random moments, and forks that run them:
#
#   R -f tests/native/interrupts.R --args [TIMES [FORKS]]
#
# After each the loop must give what it gave before. The last line is "counts:".
suppressMessages(library(joist))
arguments <- suppressWarnings(as.numeric(commandArgs(TRUE)))
given <- function(k, otherwise) if (length(arguments) < k) otherwise else arguments[k]
set.seed(1)

f <- jit(native = "wait", function(x, n) {
  nv_for(n, x, \(i, x) nv_for(50L, sin(x) + x[40:1], \(j, x) x * 0.9 + 1))
})
x <- nv_tensor(1:40 / 8, "f64")
known <- as_array(f(x, 20L))
ended <- finished <- wrong <- 0
for (k in seq_len(given(1, 1000))) {
  outcome <- tryCatch(
    {
      setTimeLimit(elapsed = runif(1, 0.001, 0.01), transient = TRUE)
      f(x, 100000L)
      "finished"
    },
    error = function(e) "ended",
    finally = setTimeLimit()
  )
  if (outcome == "ended") ended <- ended + 1 else finished <- finished + 1
  wrong <- wrong + !identical(as_array(f(x, 20L)), known)
}
forks <- seq_len(given(2, 1000))
in_forks <- parallel::mclapply(forks, function(k) as_array(f(x, 20L)), mc.cores = 2L)
wrong <- wrong + sum(!vapply(in_forks, identical, NA, known))
cat("counts:", ended, "ended", finished, "finished", length(in_forks), "forks", wrong, "wrong;",
  joist_info()$native$compiled, "compiled\n")
