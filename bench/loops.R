# Loops, filters and models beside C (one thread) and JAX:
#
#   Rscript bench/loops.R [--python=python3] [--results=FOLDER] [--threads=N] [--turns=11]
#                         [--only=TEXT] [--explain]
#
# Needs a C compiler and, for JAX, a python that has it. Each case of bench/loops.R is written once
# more in bench/loops.c and bench/loops.py; all get the same operands, and their results must agree.
# Prints the milliseconds per call (the median of `turns` turns, in which the contestants alternate)
# and writes loops.csv to FOLDER. "never" and "wait" are the policies of jit(native =). "auto" is
# measured apart: the first call of a function that was traced before, by "never" and by "auto", and
# the seconds until compiled code is there. `--explain` prints, without measuring, the program of
# each case and the calls of the interpreter that its C source has left.
source("bench/joist.R")
python <- option("python", "python3")
results <- option("results", tempdir())
turns <- as.integer(option("turns", "11"))
threads <- as.integer(option("threads", "0"))
only <- option("only", "")
explain <- "--explain" %in% commandArgs(TRUE)
goal <- 0.02 # the shortest timing, in seconds

library(joist)
if (threads > 0L) nv_set_threads(threads)

# ---- the cases ----

# Numbers that look random and are the same in each session.
set.seed(20)
f32 <- function(x) as_array(nv_tensor(x, "f32"))

smooth <- function(n) outer(seq_len(n), seq_len(n), function(i, j) sin(i / 9) * cos(j / 7))

logistic_map <- function(x) nv_for(100000L, x, function(i, x) 3.56 * x * (1 - x))

lorenz_slope <- function(x, y, z) {
  list(10 * (y - x), x * (28 - z) - y, x * y - (8 / 3) * z)
}

lorenz_scalars <- function(x, y, z) {
  h <- 0.001
  at <- function(s, k, h) lorenz_slope(s$x + h * k[[1]], s$y + h * k[[2]], s$z + h * k[[3]])
  nv_for(20000L, list(x = x, y = y, z = z), function(i, s) {
    k1 <- lorenz_slope(s$x, s$y, s$z)
    k2 <- at(s, k1, h / 2)
    k3 <- at(s, k2, h / 2)
    k4 <- at(s, k3, h)
    moved <- function(s, j) s + (h / 6) * (k1[[j]] + 2 * k2[[j]] + 2 * k3[[j]] + k4[[j]])
    list(x = moved(s$x, 1), y = moved(s$y, 2), z = moved(s$z, 3))
  })
}

lorenz_vector <- function(s) {
  h <- 0.001
  slope <- function(s) do.call(nv_stack, lorenz_slope(s[[1]], s[[2]], s[[3]]))
  nv_for(20000L, s, function(i, s) {
    k1 <- slope(s)
    k2 <- slope(s + (h / 2) * k1)
    k3 <- slope(s + (h / 2) * k2)
    k4 <- slope(s + h * k3)
    s + (h / 6) * (k1 + 2 * k2 + 2 * k3 + k4)
  })
}

laplacian <- function(u) {
  n <- shape(u)[1]
  a <- 1:(n - 2)
  b <- 2:(n - 1)
  c <- 3:n
  u[a, b] + u[c, b] + u[b, a] + u[b, c] - 4 * u[b, b]
}

heat_assigned <- function(u) {
  nv_for(500L, u, function(i, u) {
    inner <- 2:(shape(u)[1] - 1)
    u[inner, inner] <- u[inner, inner] + 0.2 * laplacian(u)
    u
  })
}

heat_padded <- function(u) {
  nv_for(500L, u, function(i, u) u + nv_pad(0.2 * laplacian(u), 0, 1, 1))
}

# Hamiltonian Monte Carlo: states and momenta have a row per chain. `draws` are the momenta and
# `chances` uniform numbers, one slice per iteration. Returns the last states, the sum of all
# states, and the number of moves that were accepted.
hmc <- function(log_density, start, draws, chances, step) {
  total <- function(q) sum(log_density(q))
  slope <- function(q) gradient(total)(q)$q
  begin <- list(q = start, sum = nv_zeros_like(start), accepted = nv_fill(0, nrow(start), "f64"))
  last <- nv_scan(begin, list(p = draws, u = chances), function(state, x) {
    q <- state$q
    moved <- nv_for(10L, list(q = q, p = x$p), function(i, q, p) {
      p <- p + (step / 2) * slope(q)
      q <- q + step * p
      list(q = q, p = p + (step / 2) * slope(q))
    })
    energy <- function(q, p) log_density(q) - 0.5 * nv_reduce_sum(p * p, 2L)
    gain <- energy(moved$q, moved$p) - energy(q, x$p)
    accept <- log(x$u) < gain
    q <- nv_ifelse(nv_unsqueeze(accept, 2L), moved$q, q)
    count <- state$accepted + nv_convert(accept, "f64")
    list(list(q = q, sum = state$sum + q, accepted = count), NULL)
  })$carry
  list(last$q, last$sum, last$accepted)
}

banana <- function(start, draws, chances) {
  hmc(function(q) {
    x <- q[, 1]
    y <- q[, 2]
    -0.5 * x^2 - 2 * (y - x^2)^2
  }, start, draws, chances, 0.1)
}

# Eight schools: columns are the mean, the log of the standard deviation, and the standardized
# effects of the schools.
schools <- function(start, draws, chances, y, sigma) {
  hmc(function(q) {
    mu <- q[, 1]
    log_tau <- q[, 2]
    eta <- q[, 3:10]
    tau <- exp(log_tau)
    theta <- nv_unsqueeze(mu, 2L) + nv_unsqueeze(tau, 2L) * eta
    z <- (nv_unsqueeze(y, 1L) - theta) / nv_unsqueeze(sigma, 1L)
    prior <- -mu^2 / 50 - 0.5 * (tau / 5)^2 + log_tau
    prior - 0.5 * nv_reduce_sum(eta * eta, 2L) - 0.5 * nv_reduce_sum(z * z, 2L)
  }, start, draws, chances, 0.1)
}

lstm <- function(xs, w, u, b) {
  batch <- shape(xs)[2]
  hidden <- shape(u)[1]
  loss <- function(w, u, b) {
    none <- nv_fill(0, c(batch, hidden), "f32")
    last <- nv_scan(list(h = none, c = none), xs, function(s, x) {
      z <- nv_matmul(x, w) + nv_matmul(s$h, u) + nv_unsqueeze(b, 1L)
      part <- nv_split(z, 4L, 2L)
      c <- nv_logistic(part[[2]]) * s$c + nv_logistic(part[[1]]) * tanh(part[[3]])
      list(list(h = nv_logistic(part[[4]]) * tanh(c), c = c), NULL)
    })$carry
    mean(last$h^2)
  }
  value_and_gradient(loss)(w, u, b)
}

scan_gradient <- function(w, s, xs) {
  value_and_gradient(function(w, s) {
    nv_scan(list(s = s, total = 0), xs, function(state, x) {
      s <- tanh(w * state$s + x)
      list(list(s = s, total = state$total + s * s), NULL)
    })$carry$total
  })(w, s)
}

black_scholes <- function(spot, strike, time, volatility) {
  rate <- 0.03
  spread <- volatility * sqrt(time)
  d1 <- (log(spot / strike) + (rate + 0.5 * volatility^2) * time) / spread
  d2 <- d1 - spread
  below <- function(d) 0.5 * (1 + nv_erf(d * sqrt(0.5)))
  discounted <- strike * exp(-rate * time)
  call <- spot * below(d1) - discounted * below(d2)
  list(call, call - spot + discounted)
}

sobel <- function(image) {
  n <- shape(image)[1]
  p <- nv_pad(image, 0, 1, 1)
  at <- function(i, j) p[i + seq_len(n), j + seq_len(n)]
  across <- at(0, 2) + 2 * at(1, 2) + at(2, 2) - at(0, 0) - 2 * at(1, 0) - at(2, 0)
  along <- at(2, 0) + 2 * at(2, 1) + at(2, 2) - at(0, 0) - 2 * at(0, 1) - at(0, 2)
  sqrt(across^2 + along^2)
}

# To twice the extents, with the centres of the pixels in the same places.
resize <- function(image) {
  n <- shape(image)[1]
  at <- pmin(pmax((seq_len(2 * n) - 0.5) / 2 + 0.5, 1), n)
  low <- pmin(floor(at), n - 1)
  part <- nv_tensor(at - low, "f32")
  rows <- nv_unsqueeze(part, 2L)
  columns <- nv_unsqueeze(part, 1L)
  tall <- image[low, ] * (1 - rows) + image[low + 1, ] * rows
  tall[, low] * (1 - columns) + tall[, low + 1] * columns
}

pad <- function(image) nv_pad(image, 0, 1, 1)

convolution <- function(x, kernel) {
  n <- length(x)
  k <- length(kernel)
  nv_for(n, nv_fill(0, n + k - 1L, "f64"), function(i, out) {
    nv_for(k, out, function(j, out) {
      at <- i + j - 1L
      nv_scatter_add(out, at, x[[i]] * kernel[[j]])
    })
  })
}

# The most likely path of a hidden Markov model, and its log likelihood. All arguments are logs
# but `observed`; `emission` has a column per state.
viterbi <- function(start, transition, emission, observed) {
  seen <- nv_gather(emission, observed, 1L)
  forward <- nv_scan(start + seen[1, ], seen[-1, ], function(best, seen) {
    scores <- nv_unsqueeze(best, 2L) + transition
    list(nv_reduce_max(scores, 1L) + seen, nv_argmax(scores, 1L))
  })
  final <- nv_argmax(forward$carry)
  path <- nv_scan(final, forward$ys, function(state, from) {
    list(from[[state]], state)
  }, reverse = TRUE)
  list(max(forward$carry), path$carry, path$ys)
}

chains <- function(n, d) {
  list(
    start = matrix(stats::rnorm(n * d, sd = 0.5), n),
    draws = array(stats::rnorm(200 * n * d), c(200, n, d)),
    chances = matrix(stats::runif(200 * n), 200)
  )
}
log_rows <- function(n, m) {
  p <- matrix(stats::rexp(n * m), n)
  log(p / rowSums(p))
}
picture <- function(n) f32(smooth(n) + matrix(stats::runif(n * n), n))
schools_data <- list(
  y = c(28, 8, -3, 7, -1, 1, 18, 12), sigma = c(15, 10, 16, 11, 9, 11, 10, 18)
)

# Name, function, operands and the largest difference between results.
case <- function(name, f, operands, dtype = "f64", within = 1e-9, dtypes = NULL) {
  tensors <- Map(
    nv_tensor, unname(operands),
    if (is.null(dtypes)) rep(dtype, length(operands)) else dtypes,
    lapply(operands, function(x) if (is.null(dim(x)) && length(x) == 1L) integer() else NULL)
  )
  list(name = name, f = f, operands = tensors, within = within)
}

all_cases <- list(
  case("logistic_map", logistic_map, list(0.31)),
  case("lorenz_scalars", lorenz_scalars, list(1.1, 0.9, 20.5), within = 1e-4),
  case("lorenz_vector", lorenz_vector, list(c(1.1, 0.9, 20.5)), within = 1e-4),
  case("heat_assigned", heat_assigned, list(smooth(100) + matrix(stats::runif(1e4), 100))),
  case("heat_padded", heat_padded, list(smooth(100) + matrix(stats::runif(1e4), 100))),
  case("banana_4", banana, chains(4, 2), within = 1e-6),
  case("banana_64", banana, chains(64, 2), within = 1e-6),
  case("schools_64", schools, c(chains(64, 10), schools_data), within = 1e-6),
  case("lstm", lstm, list(
    array(stats::rnorm(20 * 20 * 32), c(20, 20, 32)),
    matrix(stats::rnorm(32 * 256, sd = 0.15), 32), matrix(stats::rnorm(64 * 256, sd = 0.12), 64),
    stats::rnorm(256, sd = 0.1)
  ), "f32", 2e-4),
  case("scan_gradient", scan_gradient, list(0.7, 0.1, stats::rnorm(10000))),
  case("black_scholes", black_scholes, list(
    stats::runif(1e6, 50, 150), stats::runif(1e6, 50, 150), stats::runif(1e6, 0.1, 2),
    stats::runif(1e6, 0.1, 0.6)
  ), "f32", 1e-3),
  case("sobel", sobel, list(picture(512)), "f32", 1e-5),
  case("resize", resize, list(picture(256)), "f32", 1e-5),
  case("pad", pad, list(picture(512)), "f32", 0),
  case("convolution", convolution, list(stats::rnorm(2000), stats::rexp(50))),
  case("viterbi", viterbi, list(
    log_rows(1, 50)[1, ], log_rows(50, 50), t(log_rows(50, 20)), sample.int(20L, 1000L, TRUE)
  ), dtypes = c("f64", "f64", "f64", "i32"))
)
names(all_cases) <- vapply(all_cases, `[[`, "", "name")
if (nzchar(only)) all_cases <- all_cases[grep(only, names(all_cases))]

# ---- results ----

flat <- function(x) {
  if (is_tensor(x)) as.numeric(as_array(x)) else unlist(lapply(x, flat), use.names = FALSE)
}

# "" or what differs: elements relative to the magnitude of the values, those of integers exactly.
difference <- function(own, other, within) {
  if (length(own) != length(other)) return(sprintf("%d values, not %d", length(other), length(own)))
  off <- max(abs(own - other) / pmax(1, abs(own)))
  if (is.na(off) || off > within) sprintf("off by %.2g", off) else ""
}

# ---- explaining ----

# Operations that are groups of their own in a plan, which elementwise ones are not.
whole_array <- c(
  "slice", "update", "pad", "concatenate", "gather", "scatter_add", "matmul", "transpose",
  "argmax", "argmin", "reverse", "where", "sort", "cumsum"
)

explain_case <- function(case) {
  cat("==== ", case$name, "\n", sep = "")
  f <- jit(case$f, native = "never")
  print(do.call(program, c(list(f), case$operands)))
  source <- program(f, what = "c")
  calls <- regmatches(source, gregexpr("native->group\\(native, [0-9]+, [0-9]+\\)", source))[[1L]]
  loops <- lengths(regmatches(source, gregexpr("\nint joist_generated(", source, fixed = TRUE)))
  parts <- lengths(regmatches(source, gregexpr("\nvoid joist_generated(", source, fixed = TRUE)))
  cat(
    sprintf("C source of %d loops and %d elementwise groups; ", loops, parts), length(calls),
    " calls of the interpreter (body, group): ",
    paste(gsub(".*native, |\\)", "", calls), collapse = "; "), "\n",
    sep = ""
  )
  table <- as.data.frame(program(f))
  inside <- table[table$depth > 0 & table$op %in% whole_array, ]
  found <- table(paste(inside$op, inside$shape))
  cat("Operations on whole arrays in loops:", sprintf("%d %s,", found, names(found)), "\n")
}

if (explain) {
  for (case in all_cases) explain_case(case)
  quit(status = 0L)
}

# ---- contestants ----

build_c <- function() {
  object <- file.path(tempdir(), paste0("loops", .Platform$dynlib.ext))
  flags <- "-std=gnu11 -O3 -march=native -fPIC -shared -o"
  made <- system2("gcc", c(flags, object, "bench/loops.c -lm"))
  if (made != 0L) stop("bench/loops.c does not compile")
  dyn.load(object)
}

seconds_here <- function(run, count) {
  start <- as.numeric(Sys.time())
  for (k in seq_len(count)) run()
  (as.numeric(Sys.time()) - start) / count
}

seconds_c <- function(name, count) {
  .C("loops_time", name, as.integer(count), seconds = double(1L))$seconds
}

seconds_jax <- function(count) ask_numbers(peers, "time", count)

# A compiled function that calls `f`. The operands are its variables: the compiler looks at the
# elements of constants, and joist would look in each call whether it has changed them.
caller <- function(f, operands) {
  names(operands) <- paste0("x", seq_along(operands))
  call <- as.call(c(quote(f), lapply(names(operands), as.name)))
  compiler::cmpfun(as.function(list(call), list2env(c(list(f = f), operands))))
}

# The number of calls that take at least `goal` seconds.
repetitions <- function(measure) {
  once <- measure(1L)
  count <- 1L
  while (once * count < goal) {
    count <- max(2L * count, as.integer(min(1e6, goal / max(once, 1e-9))))
    once <- measure(count)
  }
  count
}

figures <- function() joist_info()$native

# What the policy "auto" costs and when it pays.
measure_auto <- function(case) {
  first_call <- function(native) {
    f <- jit(case$f, native = native)
    start <- as.numeric(Sys.time())
    do.call(f, case$operands)
    list(f = f, ms = 1e3 * (as.numeric(Sys.time()) - start), start = start)
  }
  first_call("never") # what R does once: load and compile functions
  never <- first_call("never")
  before <- figures()$compiled
  auto <- first_call("auto")
  until <- NA
  compiled <- before
  changed <- auto$start
  # Until nothing new has been loaded for five seconds.
  while (as.numeric(Sys.time()) - changed < 5) {
    now <- figures()$compiled
    if (now > compiled) {
      compiled <- now
      changed <- as.numeric(Sys.time())
      until <- changed - auto$start
    }
    do.call(auto$f, case$operands)
  }
  list(first_never = never$ms, first_auto = auto$ms, until = 1e3 * until)
}

operand_words <- function(case, folder) {
  vapply(seq_along(case$operands), function(k) {
    x <- case$operands[[k]]
    file <- file.path(folder, sprintf("%s-%d.bin", case$name, k))
    writeBin(as.numeric(as_array(x)), file)
    paste(format(dtype(x)), paste(shape(x), collapse = "x"), file, sep = ":")
  }, "")
}

number <- function(x) formatC(x, digits = 4, width = 9, format = "g")

print_header <- function() {
  cat(sprintf("%-15s", "ms"), sprintf("%9s", c(
    "C", "JAX", "never", "wait", "wait/C", "wait/JAX", "nev/wait", "1st nev.", "1st auto",
    "compiled", "calls"
  )), "\n")
}

print_row <- function(row) {
  ratios <- c(row$wait / row$c, row$wait / row$jax, row$never / row$wait)
  cat(
    sprintf("%-15s", row$case), number(c(row$c, row$jax, row$never, row$wait, ratios)),
    number(c(row$first_never, row$first_auto, row$compiled_after, row$calls)), row$remark, "\n"
  )
}

measure_case <- function(case) {
  failed <- figures()$failed
  auto <- measure_auto(case)
  contestants <- list()
  values <- list()
  for (native in c("never", "wait")) {
    run <- caller(jit(case$f, native = native), case$operands)
    values[[native]] <- flat(run())
    contestants[[native]] <- local({
      run <- run
      function(count) seconds_here(run, count)
    })
  }
  flat_operands <- lapply(case$operands, flat)
  for (k in seq_along(flat_operands)) {
    .C("loops_operand", k, length(flat_operands[[k]]), flat_operands[[k]])
  }
  .C("loops_room", length(values$never))
  seconds_c(case$name, 1L)
  values$c <- .C("loops_result", double(length(values$never)))[[1L]]
  contestants$c <- function(count) seconds_c(case$name, count)
  if (!is.null(peers)) {
    ask(peers, "build", case$name, paste(operand_words(case, tempdir()), collapse = "\t"))
    ask(peers, "save", file.path(tempdir(), "result.bin"))
    file <- file.path(tempdir(), "result.bin")
    values$jax <- readBin(file, "double", file.size(file) / 8)
    contestants$jax <- seconds_jax
  }
  counts <- lapply(contestants, repetitions)
  times <- sapply(names(contestants), function(who) numeric(), simplify = FALSE)
  for (turn in seq_len(turns)) {
    for (who in if (turn %% 2L) names(contestants) else rev(names(contestants))) {
      times[[who]] <- c(times[[who]], contestants[[who]](counts[[who]]))
    }
  }
  median_ms <- function(who) if (is.null(times[[who]])) NA else 1e3 * stats::median(times[[who]])
  remarks <- if (figures()$failed > failed) paste("NOT COMPILED:", figures()$why)
  for (who in setdiff(names(values), "never")) {
    within <- if (who == "wait") 0 else case$within
    wrong <- difference(values$never, values[[who]], within)
    if (nzchar(wrong)) remarks <- c(remarks, paste("DIFFERS:", who, wrong))
  }
  source <- do.call(program, c(list(jit(case$f)), case$operands, what = "c"))
  row <- data.frame(
    case = case$name, c = median_ms("c"), jax = median_ms("jax"), never = median_ms("never"),
    wait = median_ms("wait"), first_never = auto$first_never, first_auto = auto$first_auto,
    compiled_after = auto$until,
    calls = lengths(regmatches(source, gregexpr("native->group(", source, fixed = TRUE))),
    remark = paste(remarks, collapse = "; ")
  )
  print_row(row)
  row
}

build_c()
peers <- tryCatch(
  start_peers(
    python, if (threads > 0L) threads else parallel::detectCores(),
    file.path(results, "loops-python.log"), "bench/loops.py"
  ),
  error = function(e) {
    cat("without JAX: ", conditionMessage(e), "\n", sep = "")
    NULL
  }
)
print_header()
rows <- lapply(all_cases, function(case) {
  tryCatch(measure_case(case), error = function(e) {
    cat(sprintf("%-15s FAILS: %s\n", case$name, conditionMessage(e)))
    NULL
  })
})
utils::write.csv(do.call(rbind, rows), file.path(results, "loops.csv"), row.names = FALSE)
if (!is.null(peers)) close(peers$connection)
