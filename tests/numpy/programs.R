# Random programs over the whole surface, run by joist and by NumPy: same dtypes, shapes and
# values. Integers, moved elements and everything computed from small whole numbers must be
# equal; other floats agree within the bound that a step names, in units of the dtype's
# precision.
#
#   Rscript tests/numpy/programs.R [programs] [seed]
#
# Needs python3 with NumPy; without, it says so and exits with status 77.

suppressPackageStartupMessages(library(joist))

arguments <- commandArgs(TRUE)
program_count <- if (length(arguments) > 0L) as.integer(arguments[1L]) else 400L
seed <- if (length(arguments) > 1L) as.integer(arguments[2L]) else 1L
set.seed(seed)
options(joist.promotion = "numpy")

folder <- Sys.getenv("JOIST_NUMPY_TESTS", "tests/numpy")
source(file.path(folder, "steps.R"))

python <- Filter(
  function(path) system2(path, c("-c", shQuote("import numpy")), FALSE, FALSE) == 0L,
  Filter(nzchar, c(Sys.which("python3"), "/usr/bin/python3"))
)
if (length(python) == 0L) {
  cat("note: no python3 with NumPy\n")
  quit("no", status = 77L)
}

# ---- making programs ----

whole_numbers <- function(n, kind) {
  switch(kind,
    bool = sample(0:1, n, TRUE),
    uint = sample(0:9, n, TRUE),
    sample(-9:9, n, TRUE)
  )
}

number_text <- function(x) {
  if (is.complex(x)) paste(Re(x), Im(x), collapse = " ") else paste(x, collapse = " ")
}

new_input <- function(dtype, extents) {
  kind <- sub("[0-9]+$", "", dtype)
  kind <- c(bool = "bool", i = "int", ui = "uint", f = "float", c = "complex")[[kind]]
  n <- prod(extents)
  x <- whole_numbers(n, kind)
  if (kind == "complex") x <- complex(real = x, imaginary = whole_numbers(n, kind))
  if (kind == "bool") x <- as.logical(x)
  list(
    value = nv_tensor(x, dtype, extents), exact = TRUE, bound = 0,
    code = sprintf("full('%s', '%s', %s)", number_text(x * 1L), dtype, python_tuple(extents))
  )
}

python_tuple <- function(x) {
  sprintf("(%s)", if (length(x) == 1L) paste0(x, ",") else paste(x, collapse = ", "))
}

# Those of NumPy itself; it knows ml_dtypes' bfloat16 and float8_e5m2 as bytes.
input_dtypes <- Filter(function(dtype) {
  code <- dtype_info(dtype)$npy
  !is.na(code) && !code %in% c("V2", "f1")
}, dtypes())

# A list of values: the tensor, the code that makes the same with NumPy, whether its numbers
# are exact in both, and by how much they may differ otherwise.
random_program <- function() {
  rank <- sample(1:3, 1L)
  extents <- sample(if (runif(1) < 0.05) 0:3 else 1:5, rank, TRUE)
  pool <- list()
  for (k in seq_len(sample(2:3, 1L))) {
    repeated <- if (runif(1) < 0.2) replace(extents, sample(rank, 1L), 1L) else extents
    pool[[k]] <- new_input(sample(input_dtypes, 1L), as.integer(repeated))
  }
  for (attempt in 1:12) {
    step <- steps[[sample(length(steps), 1L)]]
    made <- step(pool)
    if (!is.null(made)) pool[[length(pool) + 1L]] <- made
  }
  pool
}

# ---- comparing ----

unhex <- function(text) as.numeric(sub("^nan$", "NaN", text))

reference_values <- function(text, dtype) {
  parts <- if (nzchar(text)) strsplit(text, " ", fixed = TRUE)[[1L]] else character()
  if (!startsWith(dtype, "f") && !startsWith(dtype, "c")) {
    return(parts)
  }
  x <- unhex(parts)
  if (startsWith(dtype, "f")) {
    return(x)
  }
  odd <- seq_along(x) %% 2L == 1L
  complex(real = x[odd], imaginary = x[!odd])
}

own_values <- function(x) {
  dtype <- format(dtype(x))
  if (dtype == "bool") {
    return(as.character(as.integer(as.vector(x))))
  }
  if (startsWith(dtype, "f")) {
    return(as.vector(x, "double"))
  }
  if (startsWith(dtype, "c")) as.vector(x) else as.vector(x, "character")
}

precision <- c(f16 = 2^-10, f32 = 2^-23, f64 = 2^-52, c64 = 2^-23, c128 = 2^-52)

same_numbers <- function(own, reference, dtype, bound) {
  if (is.character(own)) {
    return(identical(own, reference))
  }
  if (!identical(is.na(own), is.na(reference))) {
    return(FALSE)
  }
  at <- !is.na(own)
  equal <- own[at] == reference[at]
  scale <- max(Mod(reference[at])[is.finite(Mod(reference[at]))], 2^-14, 0)
  near <- Mod(own[at] - reference[at]) <= bound * precision[[dtype]] * scale
  all(equal | (!is.na(near) & near))
}

difference <- function(step, line) {
  parts <- strsplit(paste0(line, " "), ";", fixed = TRUE)[[1L]]
  parts[length(parts)] <- trimws(parts[length(parts)])
  if (parts[1L] == "error") {
    return(paste("NumPy refuses:", parts[2L]))
  }
  dtype <- format(dtype(step$value))
  if (!identical(dtype, parts[1L])) {
    return(paste("dtype", dtype, "instead of", parts[1L]))
  }
  extents <- as.integer(strsplit(parts[2L], " ", fixed = TRUE)[[1L]])
  if (!identical(as.integer(shape(step$value)), extents)) {
    return(paste("shape", toString(shape(step$value)), "instead of", toString(extents)))
  }
  reference <- reference_values(parts[3L], dtype)
  if (!same_numbers(own_values(step$value), reference, dtype, step$bound)) {
    return(paste("values", toString(own_values(step$value)), "instead of", toString(reference)))
  }
  NULL
}

# ---- running ----

programs <- lapply(seq_len(program_count), function(k) random_program())
lines <- unlist(lapply(programs, function(program) {
  c("program", sprintf("v%d = %s", seq_along(program), vapply(program, `[[`, "", "code")))
}))
statements <- tempfile(fileext = ".txt")
results <- tempfile(fileext = ".txt")
writeLines(lines, statements)
status <- system2(python[[1L]], c(file.path(folder, "reference.py"), statements, results))
if (status != 0L) stop("the reference did not run")
given <- readLines(results)
passed <- 0L
failed <- 0L
at <- 0L
for (program in programs) {
  for (k in seq_along(program)) {
    at <- at + 1L
    wrong <- difference(program[[k]], given[at])
    if (is.null(wrong)) {
      passed <- passed + 1L
      next
    }
    failed <- failed + 1L
    if (failed > 20L) next
    code <- vapply(program[seq_len(k)], `[[`, "", "code")
    cat(sprintf("v%d = %s", seq_len(k), code), sprintf("  v%d: %s", k, wrong), sep = "\n")
  }
}
used <- table(unlist(lapply(programs, function(program) unlist(lapply(program, `[[`, "step")))))
never <- setdiff(names(steps), names(used))
if (program_count >= 400L && length(never) > 0L) {
  failed <- failed + length(never)
  cat("steps that no program took:", never, "\n")
}
cat(sprintf("numpy: %d passed, %d failed\n", passed, failed))
cat(sprintf("note: %d programs compared with NumPy\n", program_count))
cat(sprintf("counts: %d %d 0\n", passed, failed))
quit("no", status = if (failed > 0L || passed == 0L) 1L else 0L)
