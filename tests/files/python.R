# Shared by the scripts of this folder: their Python half, which writes and compares in `folder`,
# and how they end.

python <- commandArgs(TRUE)[1L]
tests <- Sys.getenv("JOIST_FILE_TESTS", "tests/files")
folder <- tempfile("files")
dir.create(folder)
counts <- c(passed = 0L, failed = 0L)

# Runs a step of a Python script.
run_python <- function(script, step) {
  path <- shQuote(file.path(tests, script))
  status <- system2(python, c(path, step, shQuote(folder)))
  if (status != 0L) stop(script, " ", step, " failed")
}

finish <- function() {
  unlink(folder, recursive = TRUE)
  cat(sprintf("counts: %d %d 0\n", counts[["passed"]], counts[["failed"]]))
  quit("no", status = as.integer(counts[["failed"]] > 0L))
}
