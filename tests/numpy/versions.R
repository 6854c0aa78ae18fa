# What changed between NumPy 1.26 and NumPy 2: random expressions, for which compare_rules() must
# report those whose dtype differs between the two, and both dtypes must be NumPy's.
#
#   Rscript tests/numpy/versions.R PYTHON1 PYTHON2 [expressions] [seed]
#
# The two have NumPy 1.26 and NumPy 2; tools/test makes a virtual environment for each.

suppressPackageStartupMessages(library(joist))

arguments <- commandArgs(TRUE)
pythons <- c(numpy_legacy = arguments[1L], numpy = arguments[2L])
expression_count <- if (length(arguments) > 2L) as.integer(arguments[3L]) else 300L
set.seed(if (length(arguments) > 3L) as.integer(arguments[4L]) else 1L)
scripts <- Sys.getenv("JOIST_NUMPY_TESTS", "tests/numpy")

# ---- making expressions: each is R code, and the same in Python ----

numpy_names <- c(
  bool = "bool", i8 = "int8", i16 = "int16", i32 = "int32", i64 = "int64", ui8 = "uint8",
  ui16 = "uint16", ui32 = "uint32", ui64 = "uint64", f16 = "float16", f32 = "float32",
  f64 = "float64", c64 = "complex64", c128 = "complex128"
)

pick <- function(x) x[[sample(length(x), 1L)]]

literals <- list(
  list(quote(TRUE), "True"), list(1L, "1"), list(100L, "100"), list(200L, "200"),
  list(300L, "300"), list(70000L, "70000"), list(quote(-1L), "-1"), list(quote(-200L), "-200"),
  list(0.5, "0.5"), list(2, "2.0"), list(1e5, "1e5"), list(1e10, "1e10"), list(1e50, "1e50"),
  list(quote(2i), "2j")
)

# Complex numbers have no order in joist.
ordering <- list(
  list(quote(nv_min), "np.minimum(%s, %s)"), list(quote(nv_max), "np.maximum(%s, %s)")
)
binary <- list(
  list(quote(`+`), "(%s + %s)"), list(quote(`-`), "(%s - %s)"), list(quote(`*`), "(%s * %s)"),
  list(quote(`/`), "(%s / %s)")
)
unary <- list(
  list(quote(`-`), "(-%s)"), list(quote(abs), "np.abs(%s)"), list(quote(sum), "np.sum(%s)")
)

# A tensor, as an argument of the function.
new_tensor <- function(self) {
  dtype <- pick(names(numpy_names))
  vector <- runif(1) < 0.6
  values <- sample(if (dtype == "bool") 0:1 else 1:5, if (vector) 3L else 1L, TRUE)
  name <- paste0("v", length(self$inputs) + 1L)
  typed <- if (dtype == "bool") as.logical(values) else values
  self$inputs[[name]] <- nv_tensor(typed, dtype, if (vector) 3L else integer())
  text <- if (vector) paste0("[", toString(values), "]") else values
  list(
    as.name(name),
    sprintf("%s(%s, '%s')", if (vector) "vector" else "scalar", text, numpy_names[[dtype]])
  )
}

random_code <- function(self, depth) {
  if (depth == 0L || runif(1) < 0.15) {
    return(new_tensor(self))
  }
  if (runif(1) < 0.15) {
    op <- pick(unary)
    x <- random_code(self, depth - 1L)
    return(list(as.call(list(op[[1L]], x[[1L]])), sprintf(op[[2L]], x[[2L]])))
  }
  x <- random_code(self, depth - 1L)
  y <- if (runif(1) < 0.5) pick(literals) else random_code(self, depth - 1L)
  if (runif(1) < 0.5) {
    swapped <- x
    x <- y
    y <- swapped
  }
  complex <- grepl("complex|j", paste(x[[2L]], y[[2L]]))
  op <- pick(if (complex) binary else c(binary, ordering))
  list(as.call(list(op[[1L]], x[[1L]], y[[1L]])), sprintf(op[[2L]], x[[2L]], y[[2L]]))
}

random_expression <- function() {
  self <- new.env()
  self$inputs <- list()
  code <- random_code(self, sample(3L, 1L))
  list(code = code[[1L]], python = code[[2L]], inputs = self$inputs)
}

as_function <- function(expression) {
  inputs <- expression$inputs
  formals <- stats::setNames(rep(as.list(formals(function(x) NULL)), length(inputs)), names(inputs))
  as.function(c(formals, expression$code), globalenv())
}

# ---- comparing ----

expressions <- lapply(seq_len(expression_count), function(k) random_expression())
given <- tempfile(fileext = ".txt")
writeLines(vapply(expressions, `[[`, "", "python"), given)
numpy_dtypes <- vapply(pythons, function(python) {
  results <- tempfile(fileext = ".txt")
  status <- system2(python, c(file.path(scripts, "versions.py"), given, results))
  if (status != 0L) stop("Python did not run")
  readLines(results)
}, character(expression_count))

passed <- 0L
failed <- 0L
for (k in seq_along(expressions)) {
  expression <- expressions[[k]]
  compared <- do.call(
    compare_rules, c(list(as_function(expression), "numpy_legacy", "numpy"), expression$inputs)
  )
  own <- unlist(compared$outputs[1L, names(pythons)])
  own <- ifelse(is.na(own), "error", numpy_names[own])
  changed <- nrow(compared$lines) > 0L || nrow(compared$errors) == 1L
  same <- identical(unname(own), unname(numpy_dtypes[k, ]))
  reported <- own[1L] != own[2L]
  if (same && reported == (numpy_dtypes[k, 1L] != numpy_dtypes[k, 2L]) && (changed || !reported)) {
    passed <- passed + 1L
    next
  }
  failed <- failed + 1L
  if (failed > 20L) next
  cat(
    expression$python, "\n  NumPy: ", toString(numpy_dtypes[k, ]), "; joist: ", toString(own), "\n",
    sep = ""
  )
}
differ <- sum(numpy_dtypes[, 1L] != numpy_dtypes[, 2L])
cat(sprintf("versions: %d passed, %d failed\n", passed, failed))
cat(sprintf("note: %d expressions, %d of them changed in NumPy 2\n", expression_count, differ))
cat(sprintf("counts: %d %d 0\n", passed, failed))
quit("no", status = if (failed > 0L || passed == 0L || differ == 0L) 1L else 0L)
