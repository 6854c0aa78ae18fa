# Builds the package of FOLDER/source for gcov and covr, runs its tests of R, and writes
# FOLDER/r.lines: file, line and number of runs of each line of R, for tools/coverage.
arguments <- commandArgs(TRUE)
folder <- arguments[1L]
source <- file.path(folder, "source")

# One file of tests: each in an R of its own, of which as many run as there are processors.
if (length(arguments) > 1L) {
  testthat::test_file(
    arguments[2L],
    package = "joist", load_package = "installed", reporter = "check", stop_on_failure = FALSE
  )
  quit("no")
}

# The kernels are what the core's tests are about: they are left out here, to be fast.
kernels <- c("core/kernels/%.o: CFLAGS" = "-O2 -fno-profile-arcs -fno-test-coverage")
options(
  covr.flags = c(CFLAGS = "-O1 --coverage", LDFLAGS = "--coverage", kernels),
  covr.gcov = Sys.which("true") # tools/coverage reads what gcov counted
)
files <- list.files(file.path(source, "tests/testthat"), "^test-.*R$", full.names = TRUE)
scripts <- c(
  paste("tools/coverage.R", folder, files),
  file.path(source, "tests", c(
    "promotion/random_functions.R 200", "promotion/random_numbers.R 500", "gradients/random.R 200"
  ))
)
lines <- file.path(folder, "scripts")
writeLines(scripts, lines)
Sys.setenv(NOT_CRAN = "true")
setwd(dirname(dirname(normalizePath(folder))))
run <- sprintf(
  "xargs -P %d -L 1 %s --vanilla <%s", max(1L, parallel::detectCores()),
  shQuote(file.path(R.home("bin"), "Rscript")), shQuote(lines)
)
coverage <- covr::package_coverage(
  source,
  type = "none", clean = FALSE, quiet = FALSE, install_path = file.path(folder, "library"),
  pre_clean = FALSE, code = sprintf("system(%s)", deparse1(run))
)
lines <- covr::tally_coverage(coverage, by = "line")
lines <- lines[grepl("^R/", lines$filename), c("filename", "line", "value")]
write.table(
  lines, file.path(folder, "r.lines"),
  sep = "\t", quote = FALSE, row.names = FALSE, col.names = FALSE
)
