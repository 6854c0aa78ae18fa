# Work in processes of their own, so that one that ends is not the end: for the scripts that
# tests/fuzz/calls runs.

# Beside the temporary folder, which an R that crashes removes.
at <- tempfile("at", dirname(tempdir()))
entry_at <- tempfile("entry", dirname(tempdir()))

# Whether joist still computes what it should.
sure <- function() {
  base::.Call(getDLLRegisteredRoutines("joist")$.Call$joist_r_pop_sessions, 0L)
  stopifnot(identical(as.vector(nv_tensor(1:3) + 1L), 2:4))
}

# Reads what a sanitizer wrote about a process that ended, and whether joist is on its stack: bytes
# that R never wrote can crash R's own functions, too.
report_of <- function(pid) {
  files <- list.files(Sys.getenv("JOIST_REPORTS"), sprintf("[.]%d$", pid), full.names = TRUE)
  lines <- unlist(lapply(files, readLines, warn = FALSE))
  unlink(files)
  ours <- grepl("joist|/(core|r)/[a-z_/]+[.][ch]:", lines)
  list(lines = lines, foreign = length(lines) > 0L && !any(ours))
}

# Seconds of a processor that a process has had; NA where the system does not say.
busy_of <- function(pid) {
  stat <- tryCatch(readLines(sprintf("/proc/%d/stat", pid)), error = function(e) character(),
    warning = function(w) character()
  )
  times <- strsplit(sub("^.*[)] ", "", stat), " ")
  if (length(times) == 1L) sum(as.double(times[[1L]][12:13])) / 100 else NA
}

# What a process gives. One that stays where it is shows its stack and ends: after so many seconds
# of a processor, or ten times as long where it has none.
result_of <- function(job, stuck) {
  poll <- 2
  latest <- NULL
  repeat {
    got <- parallel::mccollect(job, wait = FALSE, timeout = poll)
    if (!is.null(got)) break
    now <- list(at = readBin(at, "double"), busy = busy_of(job$pid), polls = 0)
    if (is.null(latest) || !identical(now$at, latest$at)) latest <- now
    latest$polls <- latest$polls + 1
    over <- c(isTRUE(now$busy - latest$busy > stuck), latest$polls * poll > 10 * stuck)
    hard <- latest$polls * poll > 12 * stuck
    if (any(over)) tools::pskill(job$pid, if (hard) 9L else 6L) # SIGKILL or SIGABRT
  }
  if (!is.null(got[[1L]])) parallel::mccollect(job) # its end
  got[[1L]]
}

# `each(k)` for k of `from` to n, `size` of them in a process, which `finish()` ends; what a process
# was at when it ended otherwise is said. How many ended so, with joist on their stack or without,
# and what `finish()` gave.
in_parts <- function(n, what, each, finish = function() NULL, from = 1, size = 500, stuck = 20) {
  done <- from - 1
  ended <- foreign <- 0
  finished <- list()
  while (done < n) {
    job <- parallel::mcparallel({
      for (k in seq(done + 1, min(done + size, n))) {
        writeBin(as.double(k), at)
        each(k)
      }
      sure()
      list(finish())
    })
    result <- result_of(job, stuck)
    got <- readBin(at, "double")
    if (is.list(result)) {
      finished <- c(finished, result)
    } else {
      dir.create(tempdir(), showWarnings = FALSE)
      setwd(tempdir())
      report <- report_of(job$pid)
      foreign <- foreign + report$foreign
      ended <- ended + !report$foreign
      if (inherits(result, "try-error")) cat(result, file = stderr())
      if (!report$foreign) writeLines(as.character(report$lines), stderr())
      entry <- if (file.exists(entry_at)) readLines(entry_at)
      top <- grep("#[0-2] ", report$lines, value = TRUE)
      whose <- if (report$foreign) c("(in R itself:", top, ")")
      cat("ended by", what, got, entry, whose, "\n", file = stderr())
    }
    if (got %/% 10000 > done %/% 10000) cat(got, what, "\n", file = stderr())
    done <- got
  }
  cat(sprintf(
    "%s: %.0f, of which %.0f ended R, and %.0f more ended it without joist\n",
    what, n - from + 1, ended, foreign
  ), file = stderr())
  list(ended = ended, foreign = foreign, finished = finished)
}
