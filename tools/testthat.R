# Runs the testthat tests of the folder given as argument against the installed joist, and
# ends with a line "counts: PASSED FAILED SKIPPED" for tools/test.
folder <- commandArgs(TRUE)[1L]
options(warn = 1L)
results <- as.data.frame(testthat::test_dir(
  folder,
  package = "joist", load_package = "installed", reporter = testthat::CheckReporter,
  stop_on_failure = FALSE
))
passed <- sum(results$passed)
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
