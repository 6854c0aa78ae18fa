# The bits that every operation gives on every dtype by 1 to 8 threads: ELEMENTS, for
# tests/threads/run, from the root of the tree.
options(warn = 1L)
set.seed(1)
n <- as.double(commandArgs(TRUE))
suppressPackageStartupMessages(library(joist))
source("tests/testthat/helper-operations.R")
teams <- dyn.load(Sys.getenv("JOIST_TEAMS"))
largest <- function() .C("teams_largest", 0L)[[1L]]
stopifnot(nv_set_threads(8) >= 1L, nv_get_threads() == 8L)

types <- dtypes()
# What one thread does for one line, for many of them.
many_lines <- function(operands) {
  m <- operands$m
  positions <- nv_reshape(operands$j[seq_len(length(m))], shape(m))
  list(
    cumprod = function() nv_cumprod(m, 2L), top_k = function() nv_top_k(m, 3L, 1L),
    take_along = function() nv_take_along(m, positions, 1L)
  )
}

same <- function(got, want) identical(serialize(got, NULL), serialize(want, NULL))
table <- operation_table()
team <- matrix(0L, nrow(table), length(types), dimnames = list(table$name, types))
compared <- 0
refused <- 0
wrong <- character()
for (dtype in types) {
  made <- operation_calls(n, dtype)
  calls <- utils::modifyList(made$calls, many_lines(made$operands))
  for (op in names(calls)) {
    nv_set_threads(1)
    largest()
    want <- tryCatch(calls[[op]](), error = identity)
    if (largest() > 1L) wrong <- c(wrong, paste(op, dtype, "does not mind the setting"))
    if (inherits(want, "error")) {
      refused <- refused + 1
      team[op, dtype] <- NA
      next
    }
    for (threads in 2:8) {
      nv_set_threads(threads)
      got <- calls[[op]]()
      compared <- compared + 1
      if (!same(got, want)) wrong <- c(wrong, paste(op, dtype, "by", threads, "threads"))
      team[op, dtype] <- max(team[op, dtype], largest())
    }
  }
}
alone <- apply(team, 1L, function(row) all(row < 2L, na.rm = TRUE))
cat("by one thread for all dtypes:", names(alone)[alone], "\n")
parts <- names(alone)[!alone & apply(team, 1L, function(row) any(row < 2L, na.rm = TRUE))]
for (op in parts) cat(" ", op, "for", types[which(team[op, ] < 2L)], "\n")
writeLines(c(wrong, sprintf(
  "threads: %d results of %d operations on %d dtypes compared, %d calls refused, %d problems",
  compared, nrow(table), length(types), refused, length(wrong)
)))
quit("no", status = if (length(wrong) > 0L) 1L else 0L)
