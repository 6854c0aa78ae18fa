# Interrupts and time limits at random moments of calls of every operation on every dtype, of
# compiled functions, assignments in place, files and chunked tensors: RUNS SEED, for
# tests/faults/interrupts, from the root of the tree.
#
# Either ends the call as it would one of base R, or comes too late. Then the operands are what they
# were, what was assigned to is old or new entirely, the bytes of the pool in use, connections and
# settings are as before, and the same call gives what it gives otherwise.
options(warn = 1L)
numbers <- as.double(commandArgs(TRUE))
runs <- c(numbers, 1000)[1L]
set.seed(c(numbers[-1L], 1)[1L])
suppressPackageStartupMessages(library(joist))
source("tests/testthat/helper-operations.R")
objects <- file.path(tempdir(), c("interrupts.c", "interrupts.so"))
stopifnot(
  file.copy("tests/faults/interrupts.c", objects[1L]),
  system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", objects[1L]), stdout = FALSE) == 0L
)
dyn.load(objects[2L])
interrupt_in <- function(seconds) invisible(.C("interrupts_in", as.double(seconds)))

# ---- what is called ----

source("tests/faults/other_calls.R")

# Assignments to y, a copy of v.
assignments <- alist(
  y[i] <- w, y[rev(seq_along(y))[c(TRUE, FALSE)]] <- w[1L], y[b] <- w[1L], y[] <- w[2L],
  y[2:(length(y) - 1L)] <- w[2:(length(y) - 1L)], y[y == y] <- w[3L], y[[3L]] <- w[[1L]],
  y[i] <- w[[1L]]
)

# ---- one call ----

late <- 0
counts <- c(interrupt = 0, limit = 0)
ended <- list()
problems <- 0
problem <- function(...) {
  problems <<- problems + 1
  cat("problem:", ..., "\n")
}
fingerprint <- function(x) rlang::hash(x)
state <- function() {
  list(
    nv_get_threads(), format(promotion_rules()), nrow(showConnections()), sink.number(), getwd(),
    names(warnings())
  )
}
collect <- function() {
  invisible(gc(full = TRUE))
  nv_memory()[["used"]]
}

# What ends `code`, or NULL: an interrupt or a time limit after `seconds`. Either may come when the
# code is finished; then `late` is one more.
ends <- function(code, kind, seconds) {
  arm <- function() {
    if (kind == "interrupt") interrupt_in(seconds)
    if (kind == "limit") setTimeLimit(elapsed = seconds, transient = TRUE)
  }
  disarm <- function() {
    interrupt_in(0)
    setTimeLimit()
  }
  counts[[kind]] <<- counts[[kind]] + 1
  finished <- FALSE
  got <- tryCatch(
    {
      arm()
      code
      finished <- TRUE
      disarm()
      Sys.sleep(0.001) # where an interrupt that came between is seen
      NULL
    },
    interrupt = identity, error = identity
  )
  disarm()
  if (finished) late <<- late + 1
  list(got = got, finished = finished)
}

# Looks at the way `call` ended.
check_end <- function(name, what, end, kind) {
  if (!end$finished) ended[[name]] <<- c(ended[[name]], kind)
  got <- end$got
  fits <- if (is.null(got)) {
    end$finished
  } else if (kind == "interrupt") {
    identical(class(got), c("interrupt", "condition"))
  } else {
    inherits(got, "simpleError") && grepl("time limit", conditionMessage(got), fixed = TRUE)
  }
  if (!fits) {
    said <- if (inherits(got, "error")) conditionMessage(got)
    problem(name, what, kind, "ended by", class(got), said)
  }
}

# The value and the duration of a call, in the smallest of the sets in which it takes a while.
know <- function(name, sets) {
  for (set in sets) {
    first <- tryCatch(fingerprint(set$calls[[name]]()), error = identity)
    if (inherits(first, "error")) return(FALSE) # there is none of this dtype
    seconds <- system.time(value <- set$calls[[name]](), gcFirst = FALSE)[["elapsed"]]
    if (seconds > 0.015) break
  }
  known <- list(set = set, value = fingerprint(value), seconds = max(seconds, 2e-4))
  if (!identical(known$value, first)) problem(name, set$what, "gives another value the next time")
  known
}

one_call <- function(name, known) {
  set <- known$set
  call <- set$calls[[name]]
  before <- state()
  kind <- sample(names(counts), 1L)
  value <- NULL
  # What takes no time is called again and again.
  times <- ceiling(0.02 / known$seconds)
  end <- ends(
    for (time in seq_len(times)) value <- call(), kind, runif(1L) * times * known$seconds
  )
  check_end(name, set$what, end, kind)
  if (end$finished && !identical(fingerprint(value), known$value)) {
    problem(name, set$what, kind, "came too late, and another value")
  }
  if (!identical(state(), before)) problem(name, set$what, kind, "settings changed")
  rm(value)
  again <- tryCatch(fingerprint(call()), error = conditionMessage)
  if (!identical(again, known$value)) problem(name, set$what, kind, "afterwards", again)
}

one_assignment <- function(set) {
  code <- sample(assignments, 1L)[[1L]]
  name <- deparse1(code)
  # Compiled, or R would count one more reference, and nothing were in place.
  assign_to_copy <- compiler::cmpfun(eval(bquote(function(v, w, i, b, kind, times, seconds) {
    y <- c(v[1L], v[-1L])
    y[[1L]] <- v[[1L]] # has its own memory from here on
    end <- ends(for (time in seq_len(times)) .(code), kind, seconds)
    list(end, y)
  })))
  old <- fingerprint(set$operands$v)
  frame <- list2env(c(set$operands[c("v", "w", "i", "b")], y = set$operands$v))
  seconds <- system.time(eval(code, frame), gcFirst = FALSE)[["elapsed"]]
  new <- fingerprint(frame$y)
  rm(frame)
  kind <- sample(names(counts), 1L)
  times <- ceiling(0.02 / max(seconds, 2e-4))
  got <- do.call(assign_to_copy, c(
    set$operands[c("v", "w", "i", "b")], kind, times, runif(1L) * times * seconds + 1e-5
  ))
  check_end(name, set$what, got[[1L]], kind)
  is <- fingerprint(got[[2L]])
  if (!is %in% c(old, new)) problem(name, set$what, kind, "torn")
  if (got[[1L]]$finished && is != new) problem(name, set$what, kind, "not assigned")
}

# ---- all of them ----

types <- sample(dtypes())
make_set <- function(n, dtype) {
  made <- operation_calls(n, dtype)
  others <- other_calls(made$operands)
  list2env(list(
    what = sprintf("(%.0f of %s)", n, dtype), operands = made$operands, files = others$files,
    print = fingerprint(made$operands), calls = c(made$calls, others$calls)
  ))
}

# What is left of some calls.
check_rest <- function(sets, used) {
  for (set in sets) {
    if (!identical(fingerprint(set$operands), set$print)) problem(set$what, "an operand changed")
  }
  now <- collect()
  if (now != used) problem(sets[[1L]]$what, "bytes in the pool:", now - used)
}

begin <- proc.time()[["elapsed"]]
each <- 350 # calls on the same operands
done <- 0
while (done < runs) {
  sizes <- floor(10^(5 + runif(1L, 0, 0.6)) * c(1, 10))
  sets <- lapply(sizes, make_set, types[done %/% each %% length(types) + 1L])
  names <- names(sets[[1L]]$calls)
  known <- list()
  used <- collect()
  for (k in seq_len(min(each, runs - done))) {
    if (k %% 7 == 0) {
      one_assignment(sample(sets, 1L)[[1L]])
    } else {
      name <- sample(names, 1L)
      while (isFALSE(known[[name]])) name <- sample(names, 1L)
      if (is.null(known[[name]])) known[[name]] <- know(name, sets)
      if (!isFALSE(known[[name]])) one_call(name, known[[name]])
    }
    done <- done + 1
    if (k %% 20 == 0) check_rest(sets, used)
  }
  for (set in sets) unlink(set$files, recursive = TRUE)
  cat(done, set$what, format(proc.time()[["elapsed"]] - begin), "s\n")
  rm(sets, set, known)
}
for (kind in names(counts)) {
  if (!kind %in% unlist(ended)) problem("no call was ended by", kind)
}
never <- setdiff(operation_table()$name, names(ended))
if (length(never) > 0L) cat("never ended:", never, "\n")
cat(sprintf(
  "interrupts: %.0f with an interrupt and %.0f with a time limit, of which %.0f too late; %s\n",
  counts[["interrupt"]], counts[["limit"]], late,
  sprintf("%.0f s, %.0f problems", proc.time()[["elapsed"]] - begin, problems)
))
quit("no", status = if (problems > 0) 1L else 0L)
