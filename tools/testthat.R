# Runs the testthat tests of the folder given as argument against the installed joist, and
# ends with a line "counts: PASSED FAILED SKIPPED" for tools/test. A second argument is a regular
# expression of Perl: only test files whose names, without "test-" and ".R", match it run.
arguments <- commandArgs(TRUE)
options(warn = 1L)

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
passed <- sum(results$passed) + passes$count
failed <- sum(results$failed) + sum(results$error)
skipped <- sum(results$skipped)
if (sum(results$warning) > 0L) {
  cat(sum(results$warning), "warnings in", unique(results$file[results$warning > 0L]), "\n")
}
seconds <- sort(tapply(results$user + results$system, results$file, sum), decreasing = TRUE)
slowest <- utils::head(round(seconds), 10L)
cat("seconds:", paste(names(slowest), slowest, collapse = ", "), "\n")
cat(sprintf("note: %d passed, %d failed, %d skipped\n", passed, failed, skipped))
cat(sprintf("counts: %d %d %d\n", passed, failed, skipped))
quit("no", status = if (failed > 0L || passed == 0L) 1L else 0L)
