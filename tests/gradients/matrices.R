# Jacobians and Hessians of random programs of up to 8 operations beside JAX's, in f64, in both
# modes; and sparse ones beside dense ones, also at other points than those that they were made for.
#
#   Rscript tests/gradients/matrices.R PYTHON [programs] [seed]
#
# PYTHON must have JAX.

suppressPackageStartupMessages(library(joist))
arguments <- commandArgs(TRUE)
python <- arguments[1L]
count <- if (length(arguments) > 1L) as.integer(arguments[2L]) else 500L
seed <- if (length(arguments) > 2L) as.integer(arguments[3L]) else 1L
folder <- "tests/gradients"
source(file.path(folder, "steps.R"))
source("tests/testthat/helper-operations.R")
# How programs are made, without those that programs.R makes.
for (line in parse(file.path(folder, "programs.R"))) {
  if (is.call(line) && identical(line[[1L]], as.name("<-")) && is.call(line[[3L]]) &&
    identical(line[[3L]][[1L]], as.name("function"))) {
    eval(line)
  }
}
set.seed(seed)

# All that nothing uses, in a list.
matrix_program <- function() {
  program <- random_program("first", 8L)
  last <- length(program$r)
  parts <- regmatches(program$r[last], gregexpr("(?<=weigh[(])\\w+", program$r[last], perl = TRUE))
  parts <- paste(parts[[1L]], collapse = ", ")
  program$r[last] <- sprintf("list(%s)", parts)
  program$py[last] <- sprintf("return [%s]", parts)
  program
}
flat <- function(f) function(...) do.call(c, lapply(f(...), nv_flatten))
squares <- function(f) function(...) sum(flat(f)(...)^2)

# The blocks of all arguments side by side, and below each other.
columns_of <- function(blocks, rows, sizes) {
  do.call(cbind, Map(function(b, n) matrix(as.double(b), rows, n), blocks, sizes))
}
hessian_matrix <- function(blocks, sizes) {
  do.call(rbind, Map(columns_of, blocks, sizes, MoreArgs = list(sizes = sizes)))
}

text_of <- function(own) if (is.character(own)) own else ""

near <- function(own, reference, bound) {
  if (!identical(dim(own), dim(reference)) || !identical(is.finite(own), is.finite(reference))) {
    return(FALSE)
  }
  both <- is.finite(own)
  all(abs(own - reference)[both] <= bound * max(1, abs(reference[both])))
}

programs <- lapply(seq_len(count), function(k) matrix_program())
files <- tempfile(c("programs", "numbers"))
writeLines(unlist(lapply(programs, record)), files[1L])
reference <- file.path(folder, "matrices.py")
if (system2(python, c(reference, files)) != 0L) stop("JAX did not answer")
numbers <- file(files[2L], "rb")

counts <- c(passed = 0L, failed = 0L)
judge <- function(good, program, what) {
  counts[[if (isTRUE(good)) "passed" else "failed"]] <<-
    counts[[if (isTRUE(good)) "passed" else "failed"]] + 1L
  if (!isTRUE(good)) cat(what, ":", program$steps, "\n ", program$r, "", sep = "\n  ")
}
same_in_sparse <- function(f, x, dense, program, where) {
  made <- list(
    jacobian = jacobian(flat(f), sparse = TRUE), hessian = hessian(squares(f), sparse = TRUE)
  )
  for (kind in names(dense)) {
    own <- tryCatch(unname(as.matrix(do.call(made[[kind]], x))), error = conditionMessage)
    judge(near(own, dense[[kind]], 1e-9), program, paste("sparse", kind, where, text_of(own)))
  }
}

for (program in programs) {
  f <- function_of(program)
  x <- tensors(program, "f64")
  sizes <- lengths(x)
  rows <- length(do.call(flat(f), x))
  columns <- sum(sizes)
  expected <- list(
    jacobian = matrix(readBin(numbers, "double", rows * columns), rows, byrow = TRUE),
    hessian = matrix(readBin(numbers, "double", columns^2), columns, byrow = TRUE)
  )
  for (mode in c("reverse", "forward")) {
    own <- tryCatch(
      columns_of(do.call(jacobian(flat(f), mode = mode), x), rows, sizes),
      error = conditionMessage
    )
    judge(near(own, expected$jacobian, 1e-7), program, paste("Jacobian,", mode, text_of(own)))
    own <- tryCatch(
      hessian_matrix(do.call(hessian(squares(f), mode = mode), x), sizes),
      error = conditionMessage
    )
    judge(near(own, expected$hessian, 1e-6), program, paste("Hessian,", mode, text_of(own)))
  }
  for (where in c("here", "there")) {
    if (where == "there") {
      x <- lapply(x, function(v) v + nv_tensor(rnorm(length(v)), "f64", shape(v)))
    }
    dense <- list(
      jacobian = columns_of(do.call(jacobian(flat(f)), x), rows, sizes),
      hessian = hessian_matrix(do.call(hessian(squares(f)), x), sizes)
    )
    same_in_sparse(f, x, dense, program, where)
  }
}
cat(sprintf("note: %d programs\n", count))
cat(sprintf("counts: %d %d 0\n", counts[["passed"]], counts[["failed"]]))
quit("no", status = as.integer(counts[["failed"]] > 0L))
