# What base R and bit64 answer, for systems.py: their versions, then a line operation,lhs,rhs,result
# for each cell of base_r.csv. Exit status 77 if bit64 is not installed.
if (!requireNamespace("bit64", quietly = TRUE)) quit(status = 77L)
suppressPackageStartupMessages(library(bit64))

operands <- list(
  bool = c(TRUE, FALSE), i32 = 1:2, i64 = as.integer64(1:2), ui8 = as.raw(1:2), f64 = c(1.5, 2),
  c128 = c(1i, 2)
)

node_of <- function(x) {
  if (inherits(x, "integer64")) {
    return("i64")
  }
  nodes <- c(
    logical = "bool", integer = "i32", raw = "ui8", double = "f64", complex = "c128"
  )
  unname(nodes[[typeof(x)]])
}

# combine is c(): ifelse() drops the class of integer64, so that its bits become doubles.
binary <- list(
  common = `+`, divide = `/`, power = `^`, integer_divide = `%/%`, modulo = `%%`, combine = c,
  assign = function(x, y) {
    x[1L] <- y[1L]
    x
  },
  maximum = pmax, bitwise = bitwAnd
)
unary <- list(inexact = sqrt, mean = mean, sum = sum, prod = prod, cumsum = cumsum)

ask <- function(operation, lhs, rhs, ...) {
  call <- c(binary, unary)[[operation]]
  result <- tryCatch(suppressWarnings(node_of(call(...))), error = function(e) "-")
  cat(operation, lhs, rhs, result, sep = ",")
  cat("\n")
}

cat(sprintf("R %s, bit64 %s\n", getRversion(), packageVersion("bit64")))
for (operation in names(binary)) {
  for (lhs in names(operands)) {
    for (rhs in names(operands)) {
      ask(operation, lhs, rhs, operands[[lhs]], operands[[rhs]])
    }
  }
}
for (operation in names(unary)) {
  for (lhs in names(operands)) ask(operation, lhs, "", operands[[lhs]])
}
