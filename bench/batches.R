# Many fits, chains, small systems and networks at once, beside JAX; and sparse Hessians:
#
#   Rscript bench/batches.R [--python=python3] [--results=FOLDER] [--threads=2] [--turns=7]
#                           [--only=TEXT]
#
# The functions of bench/batches.py are the same, of the same bytes; results must agree. Prints the
# milliseconds of a first call, which traces and compiles, and of one after that, of both the least
# of `turns` in which the contestants alternate, and their ratios; for one after that also the
# processor time, which other programs change less. Writes batches.csv to FOLDER.
source("bench/joist.R")
python <- option("python", "python3")
results <- option("results", tempdir())
turns <- as.integer(option("turns", "7"))
threads <- as.integer(option("threads", "2"))
only <- option("only", "")

library(joist)
nv_set_threads(threads)
set.seed(54)

# ---- the cases ----

gamma_fits <- nv_vmap(function(y) {
  loss <- function(p) {
    a <- exp(p[[1]])
    b <- exp(p[[2]])
    -sum(a * log(b) - lgamma(a) + (a - 1) * log(y) - b * y)
  }
  start <- nv_stack(nv_scalar(0, "f64"), -log(mean(y)))
  nv_for(10L, start, function(i, p) {
    p - nv_solve(hessian(loss)(p)$p$p, gradient(loss)(p)$p)
  })
}, in_dims = 2L, out_dims = 2L)

hmc_chains <- function(start, draws, chances, precision) {
  log_density <- function(q) {
    -0.5 * sum(q * nv_flatten(nv_matmul(precision, q))) - 0.05 * sum(q^4)
  }
  slope <- function(q) gradient(log_density)(q)$q
  energy <- function(q, p) log_density(q) - 0.5 * sum(p * p)
  chain <- function(start, draws, chances) {
    begin <- list(q = start, sum = nv_zeros_like(start))
    last <- nv_scan(begin, list(draws, chances), function(at, x) {
      q <- at$q
      moved <- nv_for(10L, list(q = q, p = x[[1L]]), function(i, q, p) {
        p <- p + 0.05 * slope(q)
        q <- q + 0.1 * p
        list(q = q, p = p + 0.05 * slope(q))
      })
      gain <- energy(moved$q, moved$p) - energy(q, x[[1L]])
      q <- nv_ifelse(log(x[[2L]]) < gain, moved$q, q)
      list(list(q = q, sum = at$sum + q), NULL)
    })$carry
    list(last$q, last$sum)
  }
  nv_vmap(chain, in_dims = c(2L, 3L, 2L), out_dims = 2L)(start, draws, chances)
}

solves <- nv_vmap(function(a, b) nv_solve(a, b), in_dims = c(3L, 2L), out_dims = 2L)
inverses <- nv_vmap(function(a) nv_inv(a), in_dims = 3L, out_dims = 3L)

ensemble <- function(first, second, x, y) {
  train <- function(first, second) {
    loss <- function(w) mean((nv_flatten(nv_matmul(tanh(nv_matmul(x, w[[1L]])), w[[2L]])) - y)^2)
    nv_for(100L, list(a = first, b = second), function(i, a, b) {
      slope <- gradient(loss)(list(a, b))$w
      list(a = a - 0.05 * slope[[1L]], b = b - 0.05 * slope[[2L]])
    })
  }
  nv_vmap(train, in_dims = c(3L, 2L), out_dims = list(3L, 2L))(first, second)
}

normal <- function(...) array(stats::rnorm(prod(...)), c(...))
# Symmetric, so that JAX has the same matrices.
matrices <- normal(5, 5, 10000)
matrices <- matrices + aperm(matrices, c(2, 1, 3)) + 8 * c(diag(5))

case <- function(name, f, operands, dtype = "f64", within = 1e-8) {
  list(name = name, f = f, operands = lapply(operands, nv_tensor, dtype), within = within)
}
all_cases <- list(
  case("gamma_fits", gamma_fits, list(
    matrix(stats::rgamma(50 * 10000, rep(stats::runif(10000, 1, 5), each = 50), 2), 50)
  )),
  case("hmc_chains", hmc_chains, list(
    normal(20, 64) / 2, normal(200, 20, 64), matrix(stats::runif(200 * 64), 200),
    crossprod(normal(20, 20)) / 20 + diag(20)
  )),
  case("solves", solves, list(matrices, normal(5, 10000))),
  case("inverses", inverses, list(matrices)),
  case("ensemble", ensemble, list(
    normal(20, 32, 32) / 4, normal(32, 32) / 6, normal(500, 20), normal(500)
  ), "f32", 1e-3)
)
names(all_cases) <- vapply(all_cases, `[[`, "", "name")
all_cases <- all_cases[grep(only, names(all_cases))]

# ---- measuring ----

flat <- function(x) {
  if (is_tensor(x)) as.numeric(as_array(x)) else unlist(lapply(x, flat), use.names = FALSE)
}

# Elapsed, and of the processors.
seconds <- function(run, count = 1L) {
  start <- as.numeric(Sys.time())
  used <- sum(proc.time()[1:2])
  for (k in seq_len(count)) run()
  c(as.numeric(Sys.time()) - start, sum(proc.time()[1:2]) - used) / count
}

build_words <- function(case) {
  words <- vapply(seq_along(case$operands), function(k) {
    x <- case$operands[[k]]
    file <- file.path(tempdir(), sprintf("%s-%d.bin", case$name, k))
    writeBin(flat(x), file)
    paste(format(dtype(x)), paste(shape(x), collapse = "x"), file, sep = ":")
  }, "")
  paste(c(case$name, words), collapse = "\t")
}

# Machine code comes while a function is called again: until nothing new has for two seconds.
settle <- function(run) {
  compiled <- function() joist_info()$native$compiled
  last <- compiled()
  changed <- as.numeric(Sys.time())
  while (as.numeric(Sys.time()) - changed < 2) {
    run()
    if (compiled() != last) {
      last <- compiled()
      changed <- as.numeric(Sys.time())
    }
  }
}

measure_case <- function(case) {
  first <- function() seconds(function() do.call(jit(case$f), case$operands))[1L]
  first() # what a session does once
  run <- local({
    f <- jit(case$f)
    function() do.call(f, case$operands)
  })
  settle(run)
  own <- flat(run())
  words <- build_words(case)
  ask(peers, "build", words)
  ask(peers, "save", file.path(tempdir(), "result.bin"))
  other <- readBin(file.path(tempdir(), "result.bin"), "double", length(own) + 1L)
  off <- if (length(own) == length(other)) max(abs(own - other) / pmax(1, abs(own))) else NA
  count <- max(1L, as.integer(0.2 / seconds(run)[1L]))
  times <- replicate(turns, c(
    seconds(run, count), ask_numbers(peers, "time", count), first(),
    as.numeric(ask(peers, "build", words))
  ))
  least <- 1e3 * apply(times, 1L, min)
  row <- data.frame(
    case = case$name, joist = least[1L], jax = least[3L], ratio = least[1L] / least[3L],
    cpu_joist = least[2L], cpu_jax = least[4L], cpu_ratio = least[2L] / least[4L],
    first_joist = least[5L], first_jax = least[6L], first_ratio = least[5L] / least[6L],
    remark = if (isTRUE(off <= case$within)) "" else paste("DIFFERS by", format(off))
  )
  print(format(row, digits = 3L), row.names = FALSE)
  row
}

# ---- sparse Hessians, which JAX lacks ----

measure_hessian <- function(name, f, x) {
  second <- hessian(f, sparse = TRUE)
  second(x)
  times <- 1e3 * apply(replicate(turns, seconds(function() second(x))), 1L, min)
  cat(sprintf(
    "%s: %.0f ms, of the processors %.0f, %d elements\n",
    name, times[1L], times[2L], length(second(x)@x)
  ))
}

peers <- start_peers(python, threads, file.path(results, "batches-python.log"), "bench/batches.py")
rows <- lapply(all_cases, measure_case)
utils::write.csv(do.call(rbind, rows), file.path(results, "batches.csv"), row.names = FALSE)
close(peers$connection)

if (!nzchar(only) && requireNamespace("Matrix", quietly = TRUE)) {
  n <- 40000L
  measure_hessian(
    "chain", function(x) sum((x[2:n] - sin(x[1:(n - 1L)]))^2) + sum(x^4), stats::rnorm(n)
  )
  site <- nv_tensor(rep(seq_len(10000L), each = 3L))
  counts <- nv_tensor(stats::rpois(30000L, 2), "f64")
  measure_hessian("sites", function(b) {
    sum(exp(b[site]) - counts * b[site]) + sum(b^2) / 2
  }, stats::rnorm(10000L))
}
