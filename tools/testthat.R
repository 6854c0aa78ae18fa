# Runs the testthat tests of the folder given as argument against the installed joist, and
# ends with a line "counts: PASSED FAILED SKIPPED" for tools/test. A second argument is a regular
# expression of Perl: only test files whose names, without "test-" and ".R", match it run.
arguments <- commandArgs(TRUE)
options(warn = 1L)

# The sums of what was counted; ends R.
report <- function(passed, failed, skipped) {
  cat(sprintf("note: %d passed, %d failed, %d skipped\n", passed, failed, skipped))
  cat(sprintf("counts: %d %d %d\n", passed, failed, skipped))
  quit("no", status = if (failed > 0L || passed == 0L) 1L else 0L)
}

# A collection of garbage takes longer the more a process has kept, so one runs few files. There are
# two at a time, as tests also wait.
files_most <- 16L
names <- sub("[.][Rr]$", "", sub("^test-", "", list.files(arguments[1L], "^test-.*[.][Rr]$")))
if (length(arguments) > 1L) names <- grep(arguments[2L], names, perl = TRUE, value = TRUE)
if (length(names) > files_most) {
  r <- file.path(R.home("bin"), "R")
  died <- c(0L, 1L, 0L) # one failure
  groups <- split(names, (seq_along(names) - 1L) %/% files_most)
  counts <- parallel::mclapply(groups, mc.cores = 2L, mc.preschedule = FALSE, function(names) {
    own <- shQuote(c(arguments[1L], sprintf("^(%s)$", paste(names, collapse = "|"))))
    options <- c("--vanilla", "--no-echo", "-f", "tools/testthat.R", "--args", own)
    log <- suppressWarnings(system2(r, options, stdout = TRUE)) # of an exit status
    writeLines(grep("^(note|counts): ", log, value = TRUE, invert = TRUE))
    last <- utils::tail(c("", log), 1L)
    if (!startsWith(last, "counts: ")) {
      cat("The process that ran these died:", names, "\n")
      return(died)
    }
    as.integer(strsplit(last, " ", fixed = TRUE)[[1L]][-1L])
  })
  counts[lengths(counts) != 3L] <- list(died) # mclapply() has nothing of a child that was killed
  do.call(report, as.list(Reduce(`+`, counts)))
}

# tests/testthat/helper-expectations.R counts most passes here, all but the first of each test:
# testthat's reporters would keep an object for each.
passes <- list2env(list(in_test = FALSE, count = 0))
options(joist_test_passes = passes)
reporter <- R6::R6Class(
  inherit = testthat::CheckReporter,
  public = list(start_test = function(context, test) passes$in_test <- FALSE)
)
results <- as.data.frame(testthat::test_dir(
  arguments[1L],
  filter = if (length(arguments) > 1L) arguments[2L], perl = TRUE,
  package = "joist", load_package = "installed", reporter = reporter$new(),
  stop_on_failure = FALSE
))
if (sum(results$warning) > 0L) {
  cat(sum(results$warning), "warnings in", unique(results$file[results$warning > 0L]), "\n")
}
seconds <- sort(tapply(results$user + results$system, results$file, sum), decreasing = TRUE)
slowest <- utils::head(round(seconds), 10L)
cat("seconds:", paste(names(slowest), slowest, collapse = ", "), "\n")
report(
  sum(results$passed) + passes$count, sum(results$failed) + sum(results$error),
  sum(results$skipped)
)
