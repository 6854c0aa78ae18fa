# Findings in scripts and packages, against lists written by hand. Each call of lint_promotion() is
# a fresh R, so each script here shows many things.

script_of <- function(..., folder = withr::local_tempdir(.local_envir = parent.frame()),
                      name = "script.R") {
  file <- file.path(folder, name)
  writeLines(c(...), file)
  file
}

found <- function(lint, columns = c("line", "kind", "count")) {
  do.call(paste, unname(as.list(lint[columns])))
}

test_that("a script has findings by line, with a count and what to write instead", {
  before <- list(
    options(), search(), getwd(), get0(".Random.seed", globalenv()),
    ls(globalenv(), all.names = TRUE)
  )
  file <- script_of(
    "library(joist)", # 1
    "options(digits = 3)",
    "set.seed(1)",
    "x <- nv_tensor(c(1, 2), 'f32'); n <- nv_tensor(1:2, 'i32')",
    "times <- function(a, b) {", # 5
    "  a * b",
    "}",
    "for (k in 1:4) times(x, n)",
    "wide <- x + nv_tensor(c(1, 2), 'f64')",
    "small <- nv_tensor(1:2, 'i8') * x", # 10
    "rounded <- nv_tensor(1:2, 'f16') + 2049",
    "suppressWarnings(nv_tensor(16777217))",
    "big <- nv_tensor(16777217)",
    "f <- jit(function(v) {",
    "  v / n", # 15
    "})",
    "f(x)",
    "slope <- gradient(function(w) {",
    "  sum(w - n)",
    "})(x)", # 20
    "looped <- nv_for(3, x, function(i, s) {",
    "  s + n",
    "})",
    "data <- data.frame(id = 1:2)",
    "data$t <- n", # 25
    "data$u <- data$t * x",
    "x[2] <- nv_scalar(7L, 'i32')",
    "cast <- x * nv_convert(n, 'f32')",
    "try(stop('caught'))",
    "late <- function(a) {", # 30
    "  b <- 1",
    "  a",
    "}",
    "late(x + n)",
    "setwd(tempdir())", # 35
    "fails <- function() {",
    "  nv_tensor(1:2)[9]",
    "}",
    "fails()",
    "x * nv_tensor(c(1, 2), 'f64')" # 40: not reached
  )
  lint <- lint_promotion(file)
  expect_s3_class(lint, c("joist_lint", "data.frame"), exact = TRUE)
  # By the definitions of the kinds: i32 does not fit f32, i8 does; 2049 is not in f16, nor 2^24 + 1
  # in f32; widening is f32 to f64.
  expect_identical(found(lint), c(
    "6 lossy 4", "9 widening 1", "10 int_to_float 1", "11 literal 1", "13 loss 1", "15 lossy 1",
    "19 lossy 1", "22 lossy 1", "26 lossy 1", "27 lossy 1", "34 lossy 1", "37 error 1"
  ))
  expect_identical(unique(basename(lint$file)), "script.R")
  at <- function(line) lint[lint$line == line, ]
  expect_identical(at(6)$call, "a * b")
  expect_identical(at(6)[c("from", "to")], data.frame(from = "f32, i32", to = "f32"),
    ignore_attr = TRUE
  )
  expect_match(at(6)$message, "whole numbers beyond 2^24", fixed = TRUE)
  expect_identical(at(6)$instead, "nv_convert(a, \"f64\") * nv_convert(b, \"f64\")")
  expect_identical(at(9)$instead, "nv_convert(x, \"f64\") + nv_tensor(c(1, 2), \"f64\")")
  expect_identical(at(27)$instead, "x[2] <- nv_convert(nv_scalar(7L, \"i32\"), \"f32\")")
  expect_match(at(37)$message, "out of range")
  # What is advised has no findings.
  x <- a <- nv_tensor(c(1, 2), "f32")
  b <- nv_tensor(1:2, "i32")
  strict <- c(widening = "error", int_to_float = "error", lossy = "error")
  for (line in c(6, 9, 27)) {
    expect_no_error(with_promotion(NULL, eval(str2lang(at(line)$instead)), on = strict))
  }
  # The session is as it was.
  after <- list(
    options(), search(), getwd(), get0(".Random.seed", globalenv()),
    ls(globalenv(), all.names = TRUE)
  )
  expect_identical(after, before)

  expect_match(
    format(at(6)),
    "script.R:6: lossy: `a \\* b`: i32 became f32 .* \\(4 times\\)\n +instead"
  )
  expect_output(print(lint), "12 findings in [0-9]+ operations under the rules anvil")
  expect_identical(sum(summary(lint)), 12L)
  expect_s3_class(as.data.frame(lint), "data.frame", exact = TRUE)
  expect_output(print(lint[1:2]), "line")
  lints <- as.data.frame(lint, lintr = TRUE)
  expect_identical(lints$line[1:2], readLines(file)[c(6, 9)])
  expect_identical(lints$linter[1L], "joist_lossy")
  skip_if_not_installed("lintr")
  # By name, since joist does not depend on lintr.
  linters <- getExportedValue("lintr", "assignment_linter")()
  theirs <- as.data.frame(getExportedValue("lintr", "lint")(text = "a = 1", linters = linters))
  expect_identical(names(lints), names(theirs))
})

test_that("other rules change dtypes, or leave them undefined", {
  file <- script_of(
    "library(joist)", # 1
    "x <- nv_tensor(c(1, 2), 'f32'); n <- nv_tensor(1:2, 'i32'); b <- nv_tensor(1:2, 'ui8')",
    "y <- x * n",
    "z <- y - 1",
    "same <- x * x", # 5
    "b + 300L",
    "own <- with_promotion('jax', x + n)"
  )
  lint <- lint_promotion(
    file, "numpy_legacy", c("numpy", "array_api"),
    kinds = c("changes", "undefined", "error")
  )
  # NumPy: f32 with i32 is f64, in 1.x and 2. 300 with ui8 is ui16 in NumPy 1 and an error in
  # NumPy 2 (NEP 50). The array API leaves both undefined.
  numpy <- lint[lint$rules == "numpy", ]
  expect_identical(found(numpy, c("line", "kind", "from")), "6 undefined ui16")
  expect_match(numpy$message, "300")
  strict <- lint[lint$rules == "array_api", ]
  expect_identical(strict$line[strict$kind == "undefined" & strict$starts][1L], 3L)
  expect_match(strict$message[strict$line == 3L][1L], "no common dtype")
  expect_false(any(lint$line %in% c(5L, 7L)))

  lint <- lint_promotion(file, "jax", list(promotion_rules("numpy")), kinds = "changes")
  expect_identical(found(lint, c("line", "from", "to", "starts", "count")), c(
    "3 f32 f64 TRUE 1", "4 f32 f64 FALSE 1"
  ))
  # The cast gives what it was.
  x <- nv_tensor(c(1, 2), "f32")
  n <- nv_tensor(1:2, "i32")
  fixed <- with_promotion("numpy", eval(str2lang(lint$instead[1L])))
  expect_identical(format(dtype(fixed)), "f32")
})

test_that("files of a folder see each other, and what fails in one leaves the others", {
  folder <- withr::local_tempdir()
  script_of("hidden <- x0 * nv_tensor(1:2, 'i32')", folder = folder, name = "0_read.R")
  script_of(
    "library(joist)", "x0 <- nv_tensor(c(1, 2))", "source('0_read.R')", "use(x0, hidden)",
    folder = folder, name = "1_main.R"
  )
  script_of("base::quit(status = 3)", folder = folder, name = "2_quits.R")
  script_of("x <- 1", "y <- (2 +", "z <- )", folder = folder, name = "3_broken.R")
  script_of("", folder = folder, name = "4_empty.R")
  script_of("mean(1:10)", "quit()", "stop('not reached')", folder = folder, name = "5_plain.R")
  script_of(
    "use <- function(a, b) {", "  a / nv_convert(b, 'i64')", "}",
    folder = folder, name = "6_defines.R"
  )
  # Latin-1, with the ends of lines of Windows, and no text.
  writeBin(
    c(
      charToRaw("library(joist)\r\nn <- '"), as.raw(0xe9),
      charToRaw("'\r\nnv_scalar(1L, 'i64') * nv_tensor(1)\r\n")
    ),
    file.path(folder, "7_latin1.R")
  )
  writeBin(c(charToRaw("x <- 1"), as.raw(0L)), file.path(folder, "8_nul.R"))
  lint <- lint_promotion(folder, chdir = TRUE)
  expect_setequal(found(lint, c("line", "kind")), c(
    "1 lossy", "2 lossy", "NA error", "3 error", "3 lossy", "NA error"
  ))
  of <- function(name) found(lint[basename(lint$file) == name, ], c("line", "kind", "count"))
  expect_identical(of("0_read.R"), "1 lossy 1")
  expect_identical(of("6_defines.R"), "2 lossy 1")
  expect_identical(of("2_quits.R"), "NA error 1")
  expect_identical(of("3_broken.R"), "3 error 1")
  expect_identical(of("7_latin1.R"), "3 lossy 1")
  expect_identical(of("8_nul.R"), "NA error 1")
})

test_that("packages are judged by their examples", {
  folder <- withr::local_tempdir()
  package <- file.path(folder, "tiny")
  for (sub in c("R", "man")) dir.create(file.path(package, sub), recursive = TRUE)
  write <- function(name, ...) writeLines(c(...), file.path(package, name))
  write(
    "DESCRIPTION", "Package: tiny", "Version: 0.1", "Title: Tiny", "Description: Tiny.",
    "License: MIT", "Author: A", "Maintainer: B <b@example.org>", "Imports: joist"
  )
  write("NAMESPACE", "import(joist)", "export(scale_it)")
  write(
    "R/scale.R", "# A comment.", "scale_it <- function(x, n) {", "  y <- x * n", "  inner(y)",
    "}", "inner <- function(y) {", "  y + nv_tensor(1, 'f64')", "}"
  )
  write(
    "man/scale_it.Rd", "\\name{scale_it}", "\\title{Scale}", "\\description{Scales.}",
    "\\examples{", "x <- joist::nv_tensor(c(1, 2), \"f32\") # 50\\%", # 5
    "for (i in 1:3) scale_it(x, joist::nv_tensor(1:2, \"i32\"))", "\\dontrun{",
    "stop(\"never\")", "}", "\\dontshow{", "x + joist::nv_tensor(1:2, \"i64\")", "}", "}"
  )
  lint <- lint_promotion(package)
  files <- c("R/scale.R", "R/scale.R", "man/scale_it.Rd")
  expect_identical(lint$file, file.path(normalizePath(package), files))
  expect_identical(found(lint), c("3 lossy 3", "7 widening 3", "11 lossy 1"))
  # A package without joist.
  expect_output(print(lint_promotion("stats4")), "no findings in no operations")
})

test_that("a long script is stopped, and has findings up to there", {
  lint <- lint_promotion(script_of(
    "library(joist)", "stopifnot(commandArgs(TRUE)[2] == 'b c')", "x <- nv_scalar(1L, 'i32')",
    "repeat x * nv_scalar(1, 'f32')"
  ), args = c("a", "b c"), timeout = 1)
  expect_identical(found(lint, c("line", "kind")), c("4 error", "4 lossy"))
  expect_match(lint$message[1L], "time limit")
})

test_that("what cannot be linted is an error", {
  expect_error(lint_promotion("no such file"), "neither", class = "joist_value_error")
  expect_error(lint_promotion(withr::local_tempdir()), "no R scripts", class = "joist_value_error")
  expect_error(lint_promotion(1), class = "joist_value_error")
  document <- script_of("text", name = "a.Rmd")
  expect_error(lint_promotion(document), "purl", class = "joist_value_error")
  expect_error(lint_promotion(document, "none"), class = "joist_promotion_error")
  expect_error(lint_promotion(document, kinds = "odd"), "odd", class = "joist_value_error")
  expect_error(lint_promotion(document, timeout = -1), class = "joist_value_error")
  expect_error(lint_promotion(document, chdir = NA), class = "joist_value_error")
  expect_error(lint_promotion(document, args = 1), class = "joist_value_error")
  for (odd in list(1, TRUE, sum, quote(a), globalenv(), nv_scalar(1))) {
    expect_error(lint_promotion(document, to = odd), class = "joist_value_error")
    expect_error(lint_promotion(document, from = odd), class = "joist_error")
  }
})
