# Random expressions under the rule sets that are files, each against its system: the dtype of the
# result, or that the system refuses the expression. trees.py draws the expressions and asks the
# systems.
#
#   Rscript tests/living/trees.R PYTHON [COUNT] [SEED] [ID ...]
#
# Systems that PYTHON lacks are named and left out. Counted as left out: what joist has no kernel
# for, or no dtype, and integer division by zero.

suppressPackageStartupMessages(library(joist))

given <- commandArgs(TRUE)
python <- given[1L]
count <- if (length(given) > 1L) given[2L] else "20"
seed <- if (length(given) > 2L) given[3L] else "1"
asked <- c(
  "tf_numpy_all", "tf_numpy_safe", "tf_numpy_legacy", "tf_numpy_prefer32", "tensorflow_2", "keras",
  "mlx", "tinygrad", "octave", "base_r", "c", "arrow", "polars", "duckdb", "array_api_2025", "dask",
  "sparse", "awkward", "blosc2", "pandas", "pandas_nullable", "numexpr", "pytensor", "numba",
  "ndonnx", "datafusion", "clickhouse"
)
if (length(given) > 3L) asked <- given[-(1:3)]

numbers <- list("i*" = 1L, "f*" = 1, "c*" = 1i)
operands <- new.env()
for (dtype in dtypes()) {
  one <- if (dtype == "int1") -1 else 1
  assign(paste0("x_", dtype), nv_tensor(one, dtype, shape = 1L), operands)
  assign(paste0("s_", dtype), nv_scalar(one, dtype), operands)
}
operands$yes <- nv_tensor(TRUE)

dtype_of <- function(expression, rules) {
  code <- str2lang(expression)
  tryCatch(
    with_promotion(rules, format(dtype(suppressWarnings(eval(code, operands))))),
    joist_promotion_error = function(e) {
      if (grepl("a dtype that joist does not have", conditionMessage(e))) "unavailable" else "-"
    },
    joist_dtype_error = function(e) "no kernel",
    joist_error = function(e) "refused by value"
  )
}

wrong <- 0L
for (id in asked) {
  lines <- suppressWarnings(
    system2(python, c("tests/living/trees.py", id, count, seed), stdout = TRUE, stderr = FALSE)
  )
  if (length(lines) == 0L) {
    cat(id, ": not installed\n", sep = "")
    next
  }
  parts <- strsplit(lines, ";", fixed = TRUE)
  theirs <- sub("[?]$", "", vapply(parts, `[`, "", 2L))
  weak <- theirs %in% names(numbers)
  theirs[weak] <- vapply(numbers[theirs[weak]], function(x) {
    format(result_dtype(x, rules = id)$dtype)
  }, "")
  expressions <- vapply(parts, `[`, "", 1L)
  ours <- vapply(expressions, dtype_of, "", rules = id)
  left_out <- ours %in% c("no kernel", "unavailable", "refused by value")
  differs <- ours != theirs & !left_out
  cat(sprintf(
    "%s: %d expressions, %d of them refused, %d left out, %d differences\n", id, length(ours),
    sum(theirs == "-"), sum(left_out), sum(differs)
  ))
  if (any(differs)) {
    cat(sprintf("  %s: %s, %s by joist\n", expressions, theirs, ours)[differs], sep = "")
  }
  wrong <- wrong + sum(differs)
}
quit(status = if (wrong > 0L) 1L else 0L)
