# The promotion tables and facts of installed libraries, compared with joist's rule sets: every pair
# of a library's dtypes and Python numbers, by its common dtype and by real operations on it.
#
#   Rscript tests/living/tables.R PYTHON NUMPY1 [TORCH]
#
# PYTHON has NumPy 2, ml_dtypes, JAX and array-api-strict, NUMPY1 has NumPy 1.26, TORCH has
# PyTorch; tools/test makes a virtual environment for each. Where joist, a table of a paper and a
# library differ is data, inst/extdata/living.csv; every other difference is a failure, and so is a
# line of that file that is not true any more. JOIST_LIVING_DIFFERENCES names a file for all that
# differ.

suppressPackageStartupMessages(library(joist))

pythons <- commandArgs(TRUE)
if (length(pythons) < 3L) pythons[3L] <- pythons[1L]
scripts <- Sys.getenv("JOIST_LIVING_TESTS", "tests/living")

# What is asked, and the table that a paper has of it.
asked <- data.frame(
  library = c(
    "numpy", "numpy", "jax", "jax_x32", "jax_strict", "jax_strict_x32", "array_api_strict",
    "array_api_strict", "torch"
  ),
  python = c(1L, 2L, 1L, 1L, 1L, 1L, 1L, 1L, 3L),
  rules = c(
    "numpy", "numpy_legacy", "jax", "jax_x32", "jax_strict", "jax_strict_x32", "array_api_2024",
    "array_api", "torch"
  ),
  paper = c(
    "jep9407_numpy.csv", "jep9407_numpy.csv", "jax_docs.csv", "", "", "", "",
    "array_api_issue.csv", "jep9407_pytorch.csv"
  )
)
asked <- asked[asked$rules %in% promotion_rule_sets()$id, ]

# ---- a library's answers ----

ask <- function(library, python) {
  file <- tempfile(fileext = ".csv")
  said <- suppressWarnings(
    system2(python, c(file.path(scripts, "ask.py"), library, file), stdout = TRUE)
  )
  status <- attr(said, "status")
  if (identical(status, 77L)) {
    cat(library, ": ", said, "\n", sep = "")
    return(NULL)
  }
  if (!is.null(status)) stop(library, " did not answer: ", toString(said))
  lines <- strsplit(readLines(file), ",", fixed = TRUE)
  answers <- vapply(lines[-1L], `[[`, "", 2L)
  names(answers) <- vapply(lines[-1L], `[[`, "", 1L)
  list(version = lines[[1L]][[2L]], answers = answers)
}

# ---- joist's answers ----

numbers <- list("b*" = TRUE, "i*" = 1L, "f*" = 1.5, "c*" = 1i)

# Dtypes of up to a byte, by their dtype alone.
small <- setdiff(dtypes(), c(
  "bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32", "f64",
  "c64", "c128"
))

operand <- function(name) {
  if (name %in% names(numbers)) {
    return(numbers[[name]])
  }
  if (name %in% small) {
    return(nv_aval(name, 1L))
  }
  dtype <- sub("()", "", name, fixed = TRUE)
  if (dtype == name) nv_tensor(1L, dtype) else nv_scalar(1L, dtype)
}

operations <- list(
  add = nv_add, sub = nv_sub, mul = nv_mul, div = nv_div, floor_div = nv_floor_div, mod = nv_mod,
  pow = nv_pow, min = nv_min, max = nv_max, atan2 = nv_atan2, eq = nv_eq, lt = nv_lt, and = nv_and,
  bitwise_and = nv_bitwise_and, shift_left = nv_shift_left,
  shift_right = nv_shift_right_arithmetic, concat = nv_concatenate, matmul = nv_matmul,
  where = function(x, y) nv_ifelse(nv_tensor(TRUE), x, y)
)
functions <- list(
  negate = nv_negate, abs = nv_abs, sign = nv_sign, floor = nv_floor, ceil = nv_ceiling,
  trunc = nv_trunc, round = nv_round, invert = nv_bitwise_not, conj = nv_conj, real = nv_real,
  imag = nv_imag, is_nan = nv_is_nan, sqrt = nv_sqrt, exp = nv_exp, log = nv_log, sin = nv_sin,
  tanh = nv_tanh, log1p = nv_log1p, sum = nv_reduce_sum, prod = nv_reduce_prod,
  cumsum = nv_cumsum, cumprod = nv_cumprod, mean = nv_mean, var = nv_var, std = nv_sd,
  median = nv_median, max = nv_reduce_max, min = nv_reduce_min, all = nv_reduce_all,
  any = nv_reduce_any, sort = nv_sort, matmul_self = function(x) nv_matmul(x, x)
)
constructors <- list(
  zeros = function() nv_fill(0, 2L), ones = function() nv_fill(1, 2L), eye = function() nv_eye(2L),
  arange = function() nv_iota(1L, NULL, 3L), runif = function() nv_runif(2L),
  rnorm = function() nv_rnorm(2L), randint = function() nv_randint(2L, 0L, 5L)
)
for (name in names(numbers)) {
  constructors[[paste("full", name)]] <- local({
    x <- numbers[[name]]
    function() nv_fill(x, 2L)
  })
  constructors[[paste("array", name)]] <- local({
    x <- numbers[[name]]
    function() nv_tensor(x)
  })
}

type_text <- function(type) paste0(format(type$dtype), if (type$ambiguous) "?")

answer <- function(code) {
  tryCatch(
    {
      x <- force(code)
      if (is_tensor(x)) paste0(format(dtype(x)), if (ambiguous(x)) "?") else type_text(x)
    },
    joist_error = function(e) "-"
  )
}

# By name for operations; "common" is answered by common_dtype() and by result_dtype().
own_answers <- function(cell) {
  if (cell %in% names(constructors)) {
    return(answer(constructors[[cell]]()))
  }
  words <- strsplit(cell, " ", fixed = TRUE)[[1L]]
  if (length(words) == 2L) {
    return(answer(functions[[words[1L]]](operand(words[2L]))))
  }
  if (words[1L] != "common") {
    return(answer(operations[[words[1L]]](operand(words[2L]), operand(words[3L]))))
  }
  c(
    answer(result_dtype(operand(words[2L]), operand(words[3L]))),
    if (!any(words %in% names(numbers)) && !any(endsWith(words, "()"))) {
      answer(common_dtype(words[2L], words[3L]))
    }
  )
}

published <- function(file) {
  if (file == "") {
    return(NULL)
  }
  path <- system.file("extdata", file, package = "joist", mustWork = TRUE)
  cells <- as.matrix(read.csv(
    path, row.names = 1, check.names = FALSE, colClasses = "character", na.strings = character()
  ))
  # "i1" is bool in one of them; "b*" is in none.
  dimnames(cells) <- lapply(dimnames(cells), sub, pattern = "^i1$", replacement = "bool")
  sub("^i1$", "bool", cells)
}

# ---- comparing ----

# A line per cell in which joist, the library and the paper are not of one mind.
compare <- function(row) {
  told <- ask(row$library, pythons[row$python])
  if (is.null(told)) {
    return(NULL)
  }
  paper <- published(row$paper)
  cells <- names(told$answers)
  words <- strsplit(cells, " ", fixed = TRUE)
  if (row$rules == "array_api") {
    # It is a table and no library: what it leaves out is no difference.
    inside <- vapply(words, function(w) w[1L] == "common" && all(w[-1L] %in% rownames(paper)), NA)
    cells <- cells[inside]
    words <- words[inside]
  }
  living <- told$answers[cells]
  on_paper <- vapply(words, function(w) {
    if (w[1L] != "common" || !all(w[-1L] %in% rownames(paper))) "" else paper[w[2L], w[3L]]
  }, "")
  own <- with_promotion(row$rules, lapply(cells, own_answers))
  # A library's result_type() of two dtypes says nothing of JAX's weak types.
  plain <- grepl("^common ", cells) & startsWith(row$library, "jax")
  count <- sum(lengths(own))
  own <- vapply(seq_along(own), function(k) {
    texts <- if (plain[k]) sub("?", "", own[[k]], fixed = TRUE) else own[[k]]
    paste(unique(texts), collapse = " or ")
  }, "")
  on_paper[on_paper %in% c("i*", "f*", "c*")] <- ""
  differs <- own != living | (on_paper != "" & on_paper != living)
  found <- data.frame(
    rules = row$rules, library = row$library, version = told$version, cell = cells,
    paper = on_paper, joist = own, living = unname(living), stringsAsFactors = FALSE
  )[differs, ]
  structure(found, cells = count)
}

# Each line stands for cells that differ in one way: `cell`, `joist` and `living` are regular
# expressions, and `count` says how many cells they are true of.
explained <- read.csv(
  system.file("extdata", "living.csv", package = "joist", mustWork = TRUE),
  colClasses = "character", na.strings = character()
)

# Versions that were asked are separated by |.
matches_each <- function(versions, one) {
  vapply(strsplit(versions, "|", fixed = TRUE), function(asked) one %in% asked, NA)
}

matches <- function(pattern, text) grepl(paste0("^(", pattern, ")$"), text, perl = TRUE)

compared <- 0L
failed <- 0L
silent <- character()
everything <- NULL
for (k in seq_len(nrow(asked))) {
  found <- compare(asked[k, ])
  if (is.null(found)) {
    silent <- c(silent, asked$library[k])
    next
  }
  cells <- attr(found, "cells")
  compared <- compared + cells
  everything <- rbind(everything, found)
  lines <- explained[explained$rules == asked$rules[k], ]
  told <- matrix(FALSE, nrow(found), nrow(lines))
  for (line in seq_len(nrow(lines))) {
    fields <- c("cell", "paper", "joist", "living")
    fits <- Map(matches, lines[line, fields], found[fields])
    told[, line] <- Reduce(`&`, fits) & rowSums(told) == 0 # the first that fits
  }
  unexplained <- found[rowSums(told) == 0, ]
  untrue <- colSums(told) != as.integer(lines$count) |
    !matches_each(lines$version, found$version[1L])
  cat(sprintf(
    "%-16s %5d cells, %4d differ, %4d unexplained, %4d of %d lines of living.csv not true\n",
    asked$rules[k], cells, nrow(found), nrow(unexplained), sum(untrue), nrow(lines)
  ))
  failed <- failed + nrow(unexplained) + sum(untrue)
  if (nrow(unexplained) > 0L) print(utils::head(unexplained, 40L), row.names = FALSE)
  if (any(untrue)) print(cbind(lines, found = colSums(told))[untrue, -8L], row.names = FALSE)
}
if (nzchar(file <- Sys.getenv("JOIST_LIVING_DIFFERENCES"))) {
  utils::write.csv(everything, file, row.names = FALSE)
}
cat(sprintf(
  "note: %d cells%s\n", compared,
  if (length(silent) > 0L) paste0("; not here: ", toString(silent)) else ""
))
cat(sprintf("counts: %d %d 0\n", compared - failed, failed))
quit("no", status = if (failed > 0L || compared == 0L) 1L else 0L)
