# Calls what the manual's claims call, and what tests/faults/calls.R has, with a collection of
# garbage at every allocation within C: [SECONDS], for tests/fuzz/calls, from the root of the tree.
#
# Objects that C no longer protects are freed by then, and AddressSanitizer notices their use if
# each had its own block. The value, or the error, must be the same as without collections. A call
# that would take longer than SECONDS gets a collection at every so many allocations only. With
# SECONDS 0, each call runs once without collections: for valgrind, with the installed package.
seconds <- as.double(commandArgs(TRUE)[1L])
suppressPackageStartupMessages(library(joist))
recorder <- if (seconds > 0) getNamespace("joist")$recorder else new.env()
options(warn = -1L)
claims <- new.env()
if (seconds > 0) claims$.Call <- getNamespace("joist")$.Call
tests <- "tests"
source("tests/faults/claims.R")
entries <- character()
recorder$record <- function(entry, arguments) entries <<- union(entries, entry$name)

run <- function(call, step) {
  set.seed(1)
  sink(nullfile())
  on.exit({
    recorder$torture <- 0L
    gctorture2(0L)
    sink()
  })
  recorder$torture <- step
  value <- suppressMessages(
    tryCatch(eval(call, new.env(parent = claims)), error = conditionMessage)
  )
  recorder$torture <- 0L
  plain <- tryCatch(serialize(value, NULL), error = function(e) NULL)
  if (is.null(plain)) class(value) else plain
}

# The step with which a call takes about the seconds that are allowed.
step_of <- function(call) {
  once <- system.time(run(call, 0L))[["elapsed"]]
  rare <- 50L
  time <- rare * (system.time(run(call, rare))[["elapsed"]] - once)
  as.integer(max(1, ceiling(time / seconds)))
}

problems <- compared <- whole <- 0L
for (k in seq_along(calls)) {
  call <- calls[[k]]
  cat(k, deparse1(call), "\n") # the last line tells which one ended R
  run(call, 0L) # what is made once per session
  if (seconds == 0) next
  want <- run(call, 0L)
  comparable <- identical(run(call, 0L), want)
  step <- step_of(call)
  got <- run(call, step)
  if (comparable && !identical(got, want)) {
    problems <- problems + 1L
    cat("PROBLEM: another value\n")
  }
  compared <- compared + comparable
  whole <- whole + (step == 1L)
}
cat(sprintf(
  "torture: %d calls of %d entries, %d at every allocation; %d values compared, %d problems\n",
  length(calls), length(entries), whole, compared, problems
))
quit("no", status = if (problems > 0L) 1L else 0L)
