# Builds the package of FOLDER/source for gcov and covr, runs its tests of R, and writes
# FOLDER/r.lines: file, line and number of runs of each line of R, for tools/coverage.
#
#   Rscript tools/coverage.R FOLDER [all | tally | TEST]
#
# The steps `all`, `tally` and TEST run in separate R processes, with the package that was built.
arguments <- commandArgs(TRUE)
folder <- arguments[1L]
source <- file.path(folder, "source")
installed <- file.path(folder, "library")
rscript <- paste(shQuote(file.path(R.home("bin"), "Rscript")), "--vanilla")
root <- getwd()

build <- function() {
  # The kernels are what the core's tests are about: they are left out here, to be fast.
  kernels <- c("core/kernels/%.o: CFLAGS" = "-O2 -fno-profile-arcs -fno-test-coverage")
  options(
    covr.flags = c(CFLAGS = "-O1 --coverage", LDFLAGS = "--coverage", kernels),
    covr.gcov = Sys.which("true") # tools/coverage reads what gcov counted
  )
  run <- paste(rscript, "tools/coverage.R", shQuote(folder), "all")
  covr::package_coverage(
    source,
    type = "none", clean = FALSE, quiet = FALSE, install_path = installed, pre_clean = FALSE,
    code = c(
      sprintf("setwd(%s)", deparse1(root)), sprintf("system(%s)", deparse1(run)),
      "Sys.setenv(COVERAGE_DIR = tempdir())" # this R counts from another time on
    )
  )
}

# covr counts from a hook that runs after .onLoad(): here from when the functions are there.
count_from_the_start <- function(loader = file.path(installed, "joist/R/joist")) {
  hook <- 'setHook(packageEvent(pkg, "onLoad"), function(...) covr:::trace_environment(ns))'
  lines <- readLines(loader)
  stopifnot(sum(lines == hook) == 1L)
  # JOIST_COVERAGE_ADDS names a file that tests/fuzz/calls.R needs in the namespace.
  ours <- 'covr:::trace_environment(ns)
if (nzchar(added <- Sys.getenv("JOIST_COVERAGE_ADDS"))) sys.source(added, ns)'
  writeLines(replace(lines, lines == hook, ours), loader)
}

# Runs each file in a separate R process, as many at a time as there are processors.
run_all <- function() {
  count_from_the_start()
  tests <- file.path(source, "tests")
  files <- list.files(file.path(tests, "testthat"), "^test-.*R$", full.names = TRUE)
  lines <- c(paste("tools/coverage.R", folder, files), file.path(tests, c(
    "promotion/random_functions.R 200", "promotion/random_numbers.R 500", "gradients/random.R 200",
    "zarr/random.R 200"
  )))
  # What tools/test compares with, where it has made the virtual environments.
  python <- function(name) file.path(root, "local/python", name, "bin/python")
  if (file.exists(python("files"))) {
    lines <- c(lines, paste("tests/files/round_trips.R", python("files")))
    if (!nzchar(Sys.getenv("JOIST_TEST_PYTHON"))) Sys.setenv(JOIST_TEST_PYTHON = python("files"))
  }
  if (file.exists(python("arrow"))) {
    lines <- c(lines, paste("tests/arrow/round_trips.R", python("arrow")))
  }
  scripts <- file.path(folder, "scripts")
  writeLines(lines, scripts)
  processors <- max(1L, parallel::detectCores())
  system(sprintf("xargs -P %d -L 1 %s <%s", processors, rscript, shQuote(scripts)))
}

run_file <- function(file) {
  .libPaths(c(installed, .libPaths()))
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = ":"))
  testthat::test_file(
    file,
    package = "joist", load_package = "installed", reporter = "check", stop_on_failure = FALSE
  )
}

# A line is reached where all of its expressions are.
tally <- function() {
  traces <- list.files(installed, "^covr_trace_", full.names = TRUE)
  coverage <- covr:::as_coverage(
    covr:::merge_coverage(traces),
    package = covr:::as_package(source), root = normalizePath(source)
  )
  lines <- covr::tally_coverage(coverage, by = "line")
  lines <- lines[grepl("^R/", lines$filename), c("filename", "line", "value")]
  write.table(
    lines, file.path(folder, "r.lines"),
    sep = "\t", quote = FALSE, row.names = FALSE, col.names = FALSE
  )
}

Sys.setenv(NOT_CRAN = "true")
switch(if (length(arguments) == 1L) "build" else arguments[2L],
  build = build(),
  all = run_all(),
  tally = tally(),
  run_file(arguments[2L])
)
