# Mixed use for a long time in one R: every operation on every dtype, compiled functions, gradients,
# loops, random programs, files, chunked tensors, assignments, errors, forked processes and clusters
# within clusters. What a call gives is what it gave the first time, here or in another process, and
# memory stays flat.
#
#   Rscript tests/faults/hours.R [SECONDS] [SEED]
#
# Two hours unless said. Each minute prints the calls so far and megabytes: of the process that are
# resident, of R's objects, of joist's tensors. The first sixth of the time is not judged; the most
# megabytes of the last third may be a tenth and 16 MB more than those of the time between.
suppressPackageStartupMessages(library(joist))
numbers <- as.double(commandArgs(TRUE))
duration <- c(numbers, 7200)[1L]
set.seed(c(numbers[-1L], 1)[1L])
source("tests/testthat/helper-operations.R")
source("tests/faults/other_calls.R")
for (name in c("functions", "numbers", "loops")) {
  source(sprintf("tests/testthat/helper-random_%s.R", name))
}

problems <- 0
problem <- function(...) {
  problems <<- problems + 1
  cat("problem:", ..., "\n")
}
fingerprint <- function(x) rlang::hash(x)

# What a call gives, in an R of any kind.
outcome <- function(call) tryCatch(fingerprint(call()), error = function(e) conditionMessage(e))

# ---- what is done ----

# Calls on the same operands, twice, and assignments to a copy of one.
use_calls <- function() {
  n <- ceiling(10^runif(1L, 2, 5))
  type <- pick(dtypes())
  what <- sprintf("(%.0f of %s)", n, type)
  made <- operation_calls(n, type)
  others <- other_calls(made$operands)
  files <- others$files
  on.exit(unlink(files, recursive = TRUE))
  before <- fingerprint(made$operands)
  calls <- sample(c(made$calls, others$calls), 40L)
  first <- lapply(calls, outcome)
  y <- made$operands$v
  y[made$operands$i] <- made$operands$w
  y[1L] <- y[2L]
  if (fingerprint(made$operands) != before) problem(what, "an operand changed")
  again <- sample(length(calls), 10L)
  forked <- if (stats::runif(1L) < 0.2) parallel::mclapply(calls[again], outcome, mc.cores = 2L)
  for (k in seq_along(again)) {
    at <- again[k]
    if (!identical(outcome(calls[[at]]), first[[at]])) problem(what, names(calls)[at], "again")
    if (!is.null(forked) && !identical(forked[[k]], first[[at]])) {
      problem(what, names(calls)[at], "in a forked process")
    }
  }
  length(calls) + length(again)
}

# Random programs: eager, compiled and by R's loops.
use_programs <- function() {
  seeds <- sample.int(1e8L, 5L)
  for (seed in seeds) {
    wrong <- c(
      number_disagreements(seed, c("anvil", pick(promotion_rule_sets()$id))),
      loop_disagreements(seed), gradient_disagreements(seed)
    )
    if (length(wrong) > 0L) problem(wrong)
  }
  3 * length(seeds)
}

# Errors by the dozen, printing, tables of promotion, keys and scopes.
use_session <- function() {
  for (rules in promotion_rule_sets()$id) {
    with_promotion(rules, {
      types <- c(sample(dtypes(), 5L), "f32?", "i32?")
      for (one in types) {
        for (other in types) try(format(common_dtype(one, other)), silent = TRUE)
      }
    })
  }
  x <- nv_tensor(stats::runif(60), "f32", c(3, 4, 5))
  bad <- expression(x %*% x, x[61L], nv_reshape(x, 7), x + nv_fill(1, 7L), nv_tensor("a"), x$a$b,
    nv_convert(x, "f31"), jit(function(x) stop("no"))(x), nv_read(tempfile()))
  for (code in rep(bad, 5L)) {
    if (!inherits(try(eval(code), silent = TRUE), "try-error")) problem(deparse1(code), "worked")
  }
  for (k in 1:20) format(x * k)
  20 + 5 * length(bad)
}

# Processes of other kinds, and clusters within one.
use_processes <- function() {
  x <- nv_tensor(stats::rnorm(1000), "f32")
  work <- function(x) {
    suppressPackageStartupMessages(library(joist))
    serialize(jit(function(x) nv_sort(x * 2 + 1) - sum(x))(x), NULL)
  }
  nested <- function(x, work) {
    inner <- parallel::makePSOCKcluster(1L)
    on.exit(parallel::stopCluster(inner))
    parallel::clusterCall(inner, work, x)[[1L]]
  }
  environment(work) <- environment(nested) <- globalenv()
  expected <- work(x)
  cluster <- parallel::makePSOCKcluster(1L)
  on.exit(parallel::stopCluster(cluster))
  got <- list(
    cluster = parallel::clusterCall(cluster, work, x)[[1L]],
    nested = parallel::clusterCall(cluster, nested, x, work)[[1L]],
    forked = parallel::mclapply(1L, function(k) work(x), mc.cores = 2L)[[1L]],
    callr = if (requireNamespace("callr", quietly = TRUE)) callr::r(work, list(x)) else expected
  )
  for (kind in names(got)) if (!identical(got[[kind]], expected)) problem("by", kind)
  length(got)
}

# ---- for as long as is said ----

megabytes <- function() {
  status <- tryCatch(readLines("/proc/self/status"), error = function(e) character())
  resident <- as.double(gsub("\\D", "", grep("^VmRSS", status, value = TRUE)))
  used <- gc(full = TRUE)
  c(
    resident = c(resident, NA)[1L] / 1024, r = sum(used[, 2L]),
    tensors = nv_memory()[["used"]] / 2^20
  )
}

begin <- proc.time()[["elapsed"]]
elapsed <- function() proc.time()[["elapsed"]] - begin
kinds <- list(use_calls, use_programs, use_session, use_processes)
done <- 0
rows <- NULL
while (elapsed() < duration) {
  turn <- sample(4L, 1L, prob = c(6, 6, 3, 1))
  done <- done + kinds[[turn]]()
  if (elapsed() > NROW(rows) * min(60, duration / 30)) {
    rows <- rbind(rows, c(seconds = elapsed(), calls = done, megabytes()))
    cat(sprintf("%6.0f s %8.0f calls", rows[nrow(rows), 1L], done),
      sprintf("%7.1f MB %s", rows[nrow(rows), -(1:2)], colnames(rows)[-(1:2)]), "\n")
  }
}
middle <- rows[, "seconds"] > duration / 6 & rows[, "seconds"] <= duration * 2 / 3
last <- rows[, "seconds"] > duration * 2 / 3
for (name in colnames(rows)[-(1:2)]) {
  most <- c(max(rows[middle, name]), max(rows[last, name]))
  if (isTRUE(most[2L] > 1.1 * most[1L] + 16)) {
    problem(sprintf("%s grew from %.1f to %.1f MB", name, most[1L], most[2L]))
  }
}
cat(sprintf("hours: %.0f calls in %.0f s, %.0f problems\n", done, elapsed(), problems))
quit("no", status = if (problems > 0) 1L else 0L)
