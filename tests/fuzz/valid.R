# Calls operations on operands that they are made for: CALLS SEED FIRST, for tests/fuzz/calls, from
# the root of the tree. All dtypes, shapes up to rank 5 with extents of 0 and around the lengths of
# vectors, tiles and blocks, attributes of all kinds; eagerly, and some compiled, where that must
# give the same, and with gradients.
#
# A call gives a value or one of joist's conditions, which are counted; any other error is a
# problem, as is what a sanitizer reports. Each call depends on SEED and its number alone.
numbers <- as.double(commandArgs(TRUE))
suppressPackageStartupMessages(library(joist))
source("tests/testthat/helper-operations.R")
for (name in c("parts", "valid_tensors", "valid_operations", "valid_functions")) {
  source(file.path("tests", "fuzz", paste0(name, ".R")))
}
setwd(tempdir())
options(warn = -1L)
seed <- numbers[2L]
nv_set_threads(1) # what is forked from here has no team of threads

sets <- setdiff(promotion_rule_sets()$id, "anvil")
table_rows <- split(operations, factor(operations$name, operations$name))

random_call <- function() {
  if (chance(0.6)) {
    name <- pick(operations$name)
    call <- operation_call(table_rows[[name]])
  } else {
    name <- sample(names(other_calls), 1L, prob = other_weights)
    call <- other_calls[[name]]()
  }
  call$name <- c(call$name, name)[1L]
  call
}

# ---- what is compared ----

# Bits, but one NaN is as good as another.
same_elements <- function(x, y) {
  identical(dtype(x), dtype(y)) && ambiguous(x) == ambiguous(y) &&
    identical(shape(x), shape(y)) &&
    (identical(nv_write_bin(x, raw()), nv_write_bin(y, raw())) ||
      identical(as_array(x), as_array(y), num.eq = FALSE))
}

same_values <- function(x, y) {
  if (is_tensor(x) && is_tensor(y)) {
    return(same_elements(x, y))
  }
  if (is.list(x)) length(x) == length(y) && all(mapply(same_values, x, y)) else identical(x, y)
}

# ---- calls ----

tally <- NULL
problem <- function(...) {
  tally["problems"] <<- tally["problems"] + 1
  cat("PROBLEM:", ..., "\n", file = stderr())
}

# What a call gives, or its condition; NULL where that was a problem.
outcome <- function(k, name, f, operands) {
  tryCatch(do.call(f, operands), error = function(e) {
    if (inherits(e, "joist_error")) {
      return(e)
    }
    problem("call", k, name, "ended in", class(e)[1L], conditionMessage(e))
    NULL
  })
}

is_refused <- function(x) inherits(x, "joist_error")

# By those operands that have one.
gradient_of <- function(f, operands) {
  floats <- vapply(operands, function(x) is_tensor(x) && kind_of(format(dtype(x))) == "float", NA)
  if (!any(floats)) {
    return(NULL)
  }
  gradient(function(...) {
    y <- f(...)
    nv_reduce_sum(nv_convert(if (is_tensor(y)) y else y[[1L]], "f32"))
  }, which(floats))
}

# The same compiled.
compile_call <- function(k, name, f, operands, eager) {
  compiled <- outcome(k, name, jit(f), operands)
  both <- !is_refused(eager) && !is_refused(compiled)
  tally["compiled"] <<- tally["compiled"] + both
  if (both && !same_values(eager, compiled)) {
    problem("call", k, name, "gives something else when compiled")
  }
}

differentiate_call <- function(k, name, f, operands) {
  slope <- gradient_of(f, operands)
  if (!is.null(slope)) {
    tally["gradients"] <<- tally["gradients"] + !is_refused(outcome(k, name, slope, operands))
  }
}

# Counts it, and how it ended.
count_call <- function(name, refused) {
  tally["calls"] <<- tally["calls"] + 1
  tally["refused"] <<- tally["refused"] + refused
  before <- if (is.null(by_name[[name]])) c(0, 0) else by_name[[name]]
  by_name[[name]] <<- before + c(1, refused)
}

call_operation <- function(k) {
  set.seed((seed * 1e7 + k) %% (2^31 - 1))
  call <- outcome(k, "to be made", random_call, list())
  if (is_refused(call)) problem("call", k, "was not made:", conditionMessage(call))
  if (!is.function(call$f)) {
    return()
  }
  name <- call$name
  writeLines(name, entry_at)
  r <- runif(1L)
  rules <- if (r < 0.05) pick(sets)
  f <- if (is.null(rules)) call$f else function(...) with_promotion(rules, call$f(...))
  eager <- outcome(k, name, f, call$operands)
  count_call(name, is_refused(eager))
  if (isFALSE(call$compiles) || length(call$operands) == 0L || is.null(eager)) {
    return()
  }
  if (r > 0.95) {
    compile_call(k, name, f, call$operands, eager)
  } else if (r > 0.93 && !is_refused(eager)) {
    differentiate_call(k, name, f, call$operands)
  }
}

by_name <- list()
counts <- in_parts(numbers[1L], "valid calls", function(k) {
  if (is.null(tally)) {
    tally <<- c(calls = 0, refused = 0, compiled = 0, gradients = 0, problems = 0)
    nv_set_threads(2)
  }
  call_operation(k)
}, finish = function() list(tally = tally, by_name = by_name), from = numbers[3L], size = 5000)

# ---- what came of them ----

total <- Reduce(`+`, lapply(counts$finished, `[[`, "tally"))
rows <- do.call(rbind, lapply(counts$finished, function(part) {
  data.frame(name = names(part$by_name), t(simplify2array(part$by_name)))
}))
if (length(rows) > 0L) {
  rows <- stats::aggregate(rows[-1L], rows["name"], sum)
  often <- rows[rows[[3L]] > rows[[2L]] / 2, ]
  cat("refused more often than not:", sprintf("%s (%.0f of %.0f)", often[[1L]], often[[3L]],
    often[[2L]]), "\n")
  cat("never called:", setdiff(operations$name, rows$name), "\n")
}
cat(sprintf(
  "valid: %.0f calls of %d functions, of which %.0f gave a value, %.0f a condition of joist; %s\n",
  total[["calls"]], NROW(rows), total[["calls"]] - total[["refused"]], total[["refused"]],
  sprintf(
    "%.0f also compiled, %.0f gradients; %.0f problems, %.0f ended R", total[["compiled"]],
    total[["gradients"]], total[["problems"]], counts$ended + counts$foreign
  )
))
wrong <- total[["problems"]] + counts$ended + counts$foreign
quit("no", status = if (wrong > 0) 1L else 0L)
