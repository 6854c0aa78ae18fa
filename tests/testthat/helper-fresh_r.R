# What a fresh R says when it runs lines of code.
run_in_fresh_r <- function(lines) {
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(c(sprintf(".libPaths(%s)", deparse1(.libPaths())), lines), script)
  r <- file.path(R.home("bin"), "Rscript")
  suppressWarnings(system2(r, c("--vanilla", script), stdout = TRUE, stderr = TRUE))
}

# The value of `f(...)` in a fresh R; `f` sees nothing of this one.
in_fresh_r <- function(f, ...) {
  files <- tempfile(c("given", "got"), fileext = ".rds")
  on.exit(unlink(files))
  environment(f) <- globalenv()
  saveRDS(list(f = utils::removeSource(f), arguments = list(...)), files[1])
  code <- bquote({
    given <- readRDS(.(files[1]))
    saveRDS(do.call(given$f, given$arguments), .(files[2]))
  })
  said <- run_in_fresh_r(deparse(code))
  if (!file.exists(files[2])) stop(paste(said, collapse = "\n"))
  c(readRDS(files[2]), said = list(said))
}

# Returns a Python that has these modules: the one named by JOIST_TEST_PYTHON, RETICULATE_PYTHON
# or JOIST_TORCH_PYTHON, the one on the PATH, the system's, or one that tools/test.mk makes.
# Skips the test if none has them, or without reticulate.
python_with <- function(...) {
  testthat::skip_on_cran()
  testthat::skip_if_not_installed("reticulate")
  named <- Sys.getenv(c("JOIST_TEST_PYTHON", "RETICULATE_PYTHON", "JOIST_TORCH_PYTHON"))
  made <- Sys.glob(testthat::test_path("../../local/python/*/bin/python"))
  known <- unique(c(named[nzchar(named)], Sys.which("python3"), "/usr/bin/python3", made))
  imports <- paste0("import ", c(...), collapse = "; ")
  for (python in known[file.exists(known)]) {
    said <- suppressWarnings(
      system2(python, c("-c", shQuote(imports)), stdout = FALSE, stderr = FALSE)
    )
    if (said == 0L) {
      return(python)
    }
  }
  testthat::skip(paste("no Python has the modules", toString(c(...))))
}
