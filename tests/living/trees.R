# Random expressions under the rule sets that are files, each against its system: the dtype of the
# result and, of the systems of measured_trees.py, its value, or that the system refuses the
# expression. trees.py draws the expressions and asks the systems.
#
#   Rscript tests/living/trees.R PYTHON [COUNT] [SEED] [ID ...]
#
# Systems that PYTHON lacks are named and left out. Counted as left out: what joist has no kernel
# for, or no dtype, and values that joist or the system refuses, such as integer division by zero.
# Where joist differs for a reason is data, tests/living/trees.csv; every other difference is a
# failure. Floats may differ as roundings of their dtypes do.

suppressPackageStartupMessages(library(joist))

given <- commandArgs(TRUE)
python <- given[1L]
count <- if (length(given) > 1L) given[2L] else "20"
seed <- if (length(given) > 2L) given[3L] else "1"
asked <- c(
  "tf_numpy_all", "tf_numpy_safe", "tf_numpy_legacy", "tf_numpy_prefer32", "tensorflow_2", "keras",
  "mlx", "tinygrad", "octave", "base_r", "c", "arrow", "polars", "duckdb", "array_api_2025", "dask",
  "sparse", "awkward", "blosc2", "pandas", "pandas_nullable", "pandas_arrow", "numexpr",
  "pytensor", "numba", "numba_scalar", "ndonnx", "datafusion", "clickhouse", "sqlite", "numpy",
  "jax", "torch", "postgresql", "taichi", "openvino", "onnxscript"
)
if (length(given) > 3L) asked <- given[-(1:3)]

numbers <- list("i*" = 1L, "f*" = 1, "c*" = 1i)
operands <- list2env(list(
  x = function(dtype, value) nv_tensor(value, dtype, shape = 1L),
  s = function(dtype, value) nv_scalar(value, dtype), yes = nv_tensor(TRUE)
))

text_of <- function(x) {
  dtype <- format(dtype(x))
  if (dtype == "bool") return(as.character(as.integer(as.vector(x))))
  if (grepl("i", dtype)) return(as.vector(as_array(x, as = "character")))
  x <- as.vector(x)
  if (is.complex(x)) x <- c(Re(x), Im(x))
  paste(format(x, digits = 17L, trim = TRUE), collapse = " ")
}

answer <- function(expression, rules) {
  code <- str2lang(expression)
  tryCatch(
    {
      x <- with_promotion(rules, suppressWarnings(eval(code, operands)))
      if (is_tensor(x)) c(format(dtype(x)), text_of(x)) else c("number", "")
    },
    joist_promotion_error = function(e) {
      missing <- grepl("a dtype that joist does not have", conditionMessage(e))
      c(if (missing) "unavailable" else "-", "")
    },
    joist_dtype_error = function(e) c("no kernel", ""),
    joist_error = function(e) c("refused by value", "")
  )
}

# How far a result may be off: sixteen roundings to the narrowest float of the expression.
epsilon <- c(f16 = 2^-10, bf16 = 2^-7, f32 = 2^-23, c64 = 2^-23)
is_near <- function(ours, theirs, expression, dtype) {
  if (theirs == "" || ours == theirs) return(TRUE)
  if (theirs %in% c("<NA>", "None")) return(ours == "NaN")
  parts <- lapply(strsplit(c(ours, theirs), " "), function(x) suppressWarnings(as.numeric(x)))
  if (length(parts[[1L]]) != length(parts[[2L]])) return(FALSE)
  if (grepl("i", dtype) && all(grepl("^-?[0-9]+$", c(ours, theirs)))) return(FALSE)
  narrow <- vapply(names(epsilon), grepl, NA, paste(expression, dtype), fixed = TRUE)
  bound <- 16 * max(2^-52, epsilon[narrow])
  difference <- abs(parts[[1L]] - parts[[2L]])
  same <- parts[[1L]] == parts[[2L]] | is.nan(parts[[1L]]) & is.nan(parts[[2L]]) |
    difference <= bound * max(abs(parts[[2L]]))
  all(same %in% TRUE)
}

reasons <- read.csv(
  file.path(Sys.getenv("JOIST_LIVING_TESTS", "tests/living"), "trees.csv"), colClasses = "character"
)
matches <- function(patterns, x) grepl(paste0("^(", patterns, ")$"), x, perl = TRUE)

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
  field <- function(k) vapply(parts, function(x) c(x, "", "")[[k]], "")
  expressions <- field(1L)
  theirs <- sub("[?]$", "", field(2L))
  weak <- theirs %in% names(numbers)
  theirs[weak] <- vapply(numbers[theirs[weak]], function(x) {
    format(result_dtype(x, rules = id)$dtype)
  }, "")
  values <- field(3L)
  ours <- vapply(expressions, answer, c("", ""), rules = id, USE.NAMES = FALSE)
  left_out <- ours[1L, ] %in% c("no kernel", "unavailable", "refused by value") | theirs == "!"
  near <- mapply(is_near, ours[2L, ], values, expressions, ours[1L, ])
  differs <- (ours[1L, ] != theirs | !near) & !left_out
  explained <- logical(length(theirs))
  for (k in which(vapply(reasons$rules, matches, NA, id))) {
    explained <- explained | differs & matches(reasons$expression[k], expressions) &
      matches(reasons$joist[k], paste(ours[1L, ], ours[2L, ])) &
      matches(reasons$system[k], paste(theirs, values))
  }
  left <- differs & !explained
  cat(sprintf(
    "%s: %d expressions, %d of them refused, %d left out, %d values compared, %s\n", id,
    length(theirs), sum(theirs == "-"), sum(left_out), sum(values != "" & !left_out),
    sprintf("%d listed with a reason, %d differences", sum(explained), sum(left))
  ))
  cat(sprintf(
    "  %s: %s %s, %s %s by joist\n", expressions, theirs, values, ours[1L, ], ours[2L, ]
  )[left], sep = "")
  wrong <- wrong + sum(left)
}
quit(status = if (wrong > 0L) 1L else 0L)
