# Reductions of lines of 1 to 64 elements, along the first dim and along the second: nanoseconds per
# element, and how much slower an extent is than the slower of its two neighbours.
#
#   Rscript bench/short_reductions.R [elements] [dtypes] [functions] [extents]
#
# dtypes and functions are names joined by commas, extents an R expression. "1" reduces the first
# dim of an array of k rows, "2" the second of an array of k columns, "2 of k" the long second dim
# of one of k rows.
suppressPackageStartupMessages(library(joist))
given <- commandArgs(TRUE)
elements <- if (length(given) > 0) as.numeric(given[1]) else 2e6
dtypes <- strsplit(if (length(given) > 1) given[2] else "f64,f32,i32,i8", ",")[[1]]
functions <- list(
  sum = nv_reduce_sum, prod = nv_reduce_prod, min = nv_reduce_min, max = nv_reduce_max,
  mean = nv_mean, any = nv_reduce_any, all = nv_reduce_all, argmax = nv_argmax,
  argmin = nv_argmin, var = nv_var, logsumexp = nv_logsumexp, softmax = nv_softmax
)
if (length(given) > 2) functions <- functions[strsplit(given[3], ",")[[1]]]
shapes <- list(
  "1" = function(k) list(c(k, elements %/% k), 1L),
  "2" = function(k) list(c(elements %/% k, k), 2L),
  "2 of k" = function(k) list(c(k, elements %/% k), 2L)
)
dtypes_of <- function(name) if (name %in% c("any", "all")) "bool" else dtypes

# Of this process, so that its neighbours do not count: the least of three times many calls.
seconds <- function(f, x, dim) {
  cpu <- function(times) sum(system.time(for (i in seq_len(times)) f(x, dim), FALSE)[1:2])
  times <- 1
  while ((took <- cpu(times)) < 0.02) times <- times * 2
  min(took, cpu(times), cpu(times)) / times
}

nv_set_threads(1L)
values <- runif(elements)
extents <- if (length(given) > 3) eval(parse(text = given[4])) else 1:64
for (name in names(functions)) {
  for (dtype in dtypes_of(name)) {
    all <- nv_tensor(if (dtype == "bool") logical(elements) | name == "all" else
      if (startsWith(dtype, "f") || dtype == "bf16") values else floor(values * 100), dtype)
    for (shape in names(shapes)) {
      took <- vapply(extents, function(k) {
        what <- shapes[[shape]](k)
        x <- nv_reshape(all[seq_len(prod(what[[1]]))], what[[1]])
        seconds(functions[[name]], x, what[[2]]) / prod(what[[1]]) * 1e9
      }, 0)
      ratio <- took / pmax(c(0, head(took, -1)), c(tail(took, -1), 0))
      worst <- which.max(ratio[-1]) + 1
      cat(sprintf("%-9s %-4s dim %-6s worst %.2f at %d\n", name, dtype, shape, ratio[worst],
                  extents[worst]))
      cat(sprintf("%.2f", took), fill = 100)
    }
  }
}
