# Random calls of functions of base and stats on tensors, beside the same calls on R's own values:
#
#   R -f tests/base/random_calls.R --args [CALLS [SEED [SHOWN]]]
#
# A call is an expression of calls.R in `x`, `y` (another tensor like it), `g` (groups) and `k` (a
# number), for a random dtype, rank and shape, with or without names. What it gives has to be what
# it gives for as_array(x) and as_array(y): values, dim, names and dimnames; or an error for both.
# Each difference that is meant has its reason in calls.R. The last lines are "note:" and "counts:".
suppressMessages(library(joist))
arguments <- suppressWarnings(as.numeric(commandArgs(TRUE)))
given <- function(k, otherwise) if (length(arguments) < k) otherwise else arguments[k]
calls <- given(1, 5000)
seed <- given(2, 1)
shown <- given(3, 20)
source("tests/base/calls.R")
set.seed(seed)

dtypes <- c(
  "bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32", "f64",
  "c64", "c128"
)
kind_of <- function(dtype) {
  switch(substr(dtype, 1, 1), i = "int", u = "uint", f = , "float", c = "complex", b = {
    if (dtype == "bool") "bool" else "float"
  })
}

# ---- operands: few values, which all dtypes of a kind hold and functions keep exact ----

random_values <- function(kind, n) {
  switch(kind,
    bool = sample(c(TRUE, FALSE), n, TRUE),
    int = sample(-4:5, n, TRUE),
    uint = sample(0:6, n, TRUE),
    float = sample(seq(-2, 3, by = 0.25), n, TRUE),
    complex = complex(real = sample(-2:3, n, TRUE), imaginary = sample(-2:2, n, TRUE))
  )
}

random_shape <- function(rank) {
  if (rank == 0L) integer() else sample(c(1L, 2L, 3L, 4L), rank, TRUE, c(1, 3, 3, 2))
}

name_list <- function(shape) {
  lapply(seq_along(shape), function(d) {
    if (stats::runif(1) < 0.8 || length(shape) == 1L) paste0(letters[d], seq_len(shape[d]))
  })
}

random_tensor <- function(dtype, shape, named, missing) {
  values <- random_values(kind_of(dtype), prod(shape))
  if (missing) values[stats::runif(length(values)) < 0.25] <- NA
  if (length(shape) > 1L) {
    dim(values) <- shape
    if (named) dimnames(values) <- name_list(shape)
  } else if (named && length(shape) == 1L) {
    names(values) <- name_list(shape)[[1L]]
  }
  nv_tensor(values, dtype, shape = if (length(shape) == 0L) integer())
}

# ---- comparing ----

tolerance_of <- function(dtype) switch(dtype, f16 = 0.02, bf16 = 0.1, f32 = , c64 = 1e-5, 1e-6)

plain <- function(value) {
  if (is_tensor(value)) {
    return(as_array(value))
  }
  if (is.list(value)) {
    attributes <- attributes(value)
    value <- lapply(unclass(value), plain)
    attributes(value) <- attributes
  }
  value
}

# Numbers of any type; attributes are those that calls are about.
essence <- function(value) {
  if (is.function(value) || is.environment(value) || is.language(value)) {
    return(NULL)
  }
  if (is.list(value)) {
    return(list(names = names(value), values = lapply(unclass(value), essence)))
  }
  numbers <- if (is.factor(value)) as.character(value) else as.vector(unclass(value))
  if (is.logical(numbers) || is.integer(numbers)) numbers <- as.numeric(numbers)
  if (is.complex(numbers) && all(is.na(numbers) | Im(numbers) == 0)) numbers <- Re(numbers)
  shape <- dim(value)
  if (length(shape) < 2L) shape <- NULL
  labels <- if (!is.null(shape)) dimnames(value)
  if (all(vapply(labels, is.null, NA))) labels <- NULL # list(NULL, NULL) says nothing
  list(
    values = unname(numbers), dim = shape, names = if (is.null(shape)) names(value),
    dimnames = labels
  )
}

attempt <- function(expression, operands) {
  frame <- list2env(operands, parent = globalenv())
  tryCatch(
    list(value = suppressWarnings(suppressMessages(eval(expression, frame)))),
    error = function(e) list(error = conditionMessage(e))
  )
}

differ <- function(got, want, dtype) {
  if (!is.null(got$error)) {
    return(if (is.null(want$error)) paste("error:", got$error))
  }
  if (!is.null(want$error)) {
    return(paste("base R stops:", want$error))
  }
  same <- tryCatch(
    all.equal(
      essence(plain(want$value)), essence(plain(got$value)),
      tolerance = tolerance_of(dtype), check.attributes = FALSE
    ),
    error = conditionMessage
  )
  if (!isTRUE(same)) paste(same, collapse = "; ")
}

# ---- calls ----

failures <- list()
reasons <- character()
passed <- 0L
for (call in seq_len(calls)) {
  at <- sample.int(length(base_calls), 1L)
  entry <- base_calls[[at]]
  dtype <- sample(dtypes, 1L)
  kind <- kind_of(dtype)
  rank <- sample(0:3, 1L, prob = c(1, 4, 3, 1))
  shape <- random_shape(rank)
  named <- c(sample(c(TRUE, FALSE), 1L), sample(c(TRUE, FALSE), 1L))
  missing <- sample(c(TRUE, FALSE), 2L, TRUE)
  x <- random_tensor(dtype, shape, named[1L], missing[1L])
  y <- random_tensor(dtype, shape, named[2L], missing[2L])
  operands <- list(
    x = x, y = y, g = rep_len(c("u", "v", "w"), max(1, prod(shape))), k = sample(1:3, 1L)
  )
  got <- attempt(entry, operands)
  operands$x <- as_array(x)
  operands$y <- as_array(y)
  want <- attempt(entry, operands)
  difference <- differ(got, want, dtype)
  if (is.null(difference)) {
    passed <- passed + 1L
    next
  }
  reason <- reason_of(deparse1(entry), kind, rank, difference, x, y)
  if (!is.null(reason)) {
    reasons <- c(reasons, reason)
    next
  }
  failures[[length(failures) + 1L]] <- data.frame(
    call = deparse1(entry), dtype = dtype, shape = paste(shape, collapse = "x"),
    named = paste(as.integer(named), collapse = ""), difference = substr(difference, 1, 160)
  )
}

if (length(failures) > 0L) {
  all <- do.call(rbind, failures)
  first <- all[!duplicated(all$call), ]
  for (k in seq_len(min(shown, nrow(first)))) {
    cat(sprintf("%s | %s{%s} %s | %s\n", first$call[k], first$dtype[k], first$shape[k],
      first$named[k], first$difference[k]
    ))
  }
}
if (length(reasons) > 0L) print(sort(table(reasons), decreasing = TRUE))
cat(sprintf(
  "note: %d calls of %d expressions: %d equal, %d differ for a listed reason, %d differ\n",
  calls, length(base_calls), passed, length(reasons), length(failures)
))
cat(sprintf("counts: %d %d 0\n", passed, length(failures)))
quit("no", status = if (length(failures) > 0L) 1L else 0L)
