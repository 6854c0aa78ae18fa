# Calls what the manual's claims call, and what tests/faults/calls.R has, with a collection of
# garbage at every allocation within C: [STEP], for tests/fuzz/calls, from the root of the tree.
#
# What C has let go of is gone by then, and AddressSanitizer knows it where it had a block of its
# own. The value, or the error, must be that of the same call without. With a STEP of more than 1
# there is a collection at every so many allocations.
step <- as.integer(commandArgs(TRUE)[1L])
suppressPackageStartupMessages(library(joist))
recorder <- getNamespace("joist")$recorder
options(warn = -1L)
claims <- new.env()
sys.source("tests/testthat/documented-claims.R", claims)
sys.source("tests/faults/calls.R", claims)
calls <- unlist(lapply(
  c(list(c(list(NULL), claims$calls)), claims$given_dtypes, claims$raised_errors),
  function(x) as.list(x)[-1L]
), use.names = FALSE)
entries <- character()
recorder$record <- function(entry, arguments) {
  entries <<- union(entries, entry$name)
}

run <- function(call, step) {
  set.seed(1)
  sink(nullfile())
  on.exit({
    recorder$torture <- 0L
    gctorture2(0L)
    sink()
  })
  recorder$torture <- step
  frame <- new.env(parent = claims)
  value <- suppressMessages(tryCatch(eval(call, frame), error = conditionMessage))
  recorder$torture <- 0L
  plain <- tryCatch(serialize(value, NULL), error = function(e) NULL)
  if (is.null(plain)) class(value) else plain
}

problems <- same <- 0L
for (k in seq_along(calls)) {
  call <- calls[[k]]
  cat(k, deparse1(call), "\n") # the last line tells which one ended R
  run(call, 0L) # what is made once per session
  want <- run(call, 0L)
  comparable <- identical(run(call, 0L), want)
  got <- run(call, step)
  if (comparable && !identical(got, want)) {
    problems <- problems + 1L
    cat("PROBLEM: another value\n")
  }
  same <- same + comparable
}
cat(sprintf(
  "torture: %d calls, %d of them compared, through %d entries; %d problems\n", length(calls), same,
  length(entries), problems
))
quit("no", status = if (problems > 0L) 1L else 0L)
