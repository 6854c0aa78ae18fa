# The dtypes of up to a byte beside ml_dtypes: every code, random and half-way numbers, integers,
# and operations on all pairs of codes.
#
#   Rscript tests/narrow/compare.R PYTHON [NUMBERS] [SEED]
#
# PYTHON has NumPy and ml_dtypes. Codes must be equal, but for what is listed here: any NaN is as
# good as another as the result of an operation, the smaller of two zeros is -0 (IEEE 754-2019,
# minimum), where ml_dtypes gives the second operand, and f64 is rounded once, where ml_dtypes
# rounds to f32 first.

suppressPackageStartupMessages(library(joist))

arguments <- commandArgs(TRUE)
python <- arguments[1L]
count <- if (length(arguments) > 1L) as.integer(arguments[2L]) else 100000L
seed <- if (length(arguments) > 2L) as.integer(arguments[3L]) else 1L
folder <- tempfile("narrow")
dir.create(folder)
script <- file.path(Sys.getenv("JOIST_NARROW_TESTS", "tests/narrow"), "answers.py")
status <- system2(python, c(script, folder, format(count, scientific = FALSE), seed))
if (status != 0L) stop("answers.py failed")

path <- function(...) file.path(folder, paste(c(...), collapse = "."))
bytes <- function(...) {
  file <- path(...)
  nv_tensor(readBin(file, "raw", file.size(file)))
}

passed <- failed <- 0L
check <- function(what, same) {
  same <- as.logical(same)
  passed <<- passed + sum(same)
  if (!all(same)) {
    failed <<- failed + sum(!same)
    cat(what, ": ", sum(!same), " of ", length(same), " differ, the first at ", which(!same)[1L],
      "\n",
      sep = ""
    )
  }
}

codes <- function(x) nv_bitcast_convert(x, "ui8")
of_codes <- function(x, dtype) nv_bitcast_convert(nv_tensor(as.raw(x)), dtype)
same_or_nan <- function(x, y) codes(x) == codes(y) | (is.nan(x) & is.nan(y))
same_or_zero <- function(x, y) same_or_nan(x, y) | (x == 0 & y == 0)

narrow <- Filter(function(dtype) dtype_info(dtype)$compute != dtype & dtype_info(dtype)$bits <= 8,
  dtypes())
f32 <- nv_read_bin(path("f32.bin"), "f32", file.size(path("f32.bin")) / 4)
f64 <- nv_read_bin(path("f64.bin"), "f64", file.size(path("f64.bin")) / 8)
for (dtype in narrow) {
  info <- dtype_info(dtype)
  name <- info$names[["numpy"]]
  every <- of_codes(seq_len(2^info$bits) - 1L, dtype)
  values <- nv_read_bin(path(name, "values"), "f64", 2^info$bits)
  got <- nv_convert(every, "f64")
  check(paste(dtype, "values"), got == values | (is.nan(got) & is.nan(values)))
  signs <- function(x) nv_bitcast_convert(x, "i64") < 0L
  check(paste(dtype, "signs"), signs(got) == signs(values))
  numbers <- if (info$kind == "float") c("f32", "f64")
  for (from in numbers) {
    x <- if (from == "f32") f32 else f64
    want <- bytes(name, paste0("of_", from))
    single <- nv_convert(x, "f32")
    twice <- nv_convert(single, "f64") != nv_convert(x,
      "f64") & codes(nv_convert(single, dtype)) == want
    check(paste(from, "to", dtype), codes(nv_convert(x, dtype)) == want | twice)
  }
  whole <- codes(nv_convert(nv_tensor(-300:299, "i64"), dtype))
  check(paste("i64 to", dtype), whole == bytes(name, "of_i64"))
  left <- of_codes(rep(seq_len(2^info$bits) - 1L, each = 2^info$bits), dtype)
  right <- of_codes(rep(seq_len(2^info$bits) - 1L, 2^info$bits), dtype)
  operations <- list(
    add = nv_add, sub = nv_sub, mul = nv_mul, div = nv_div, eq = nv_eq, lt = nv_lt, le = nv_le,
    min = nv_min, max = nv_max
  )
  for (operation in names(operations)) {
    if (!file.exists(path(name, operation))) next
    want <- bytes(name, operation)
    got <- operations[[operation]](left, right)
    same <- if (dtype(got) == "bool") {
      nv_convert(got, "ui8") == want
    } else if (operation %in% c("min", "max")) {
      same_or_zero(got, nv_bitcast_convert(want, dtype))
    } else if (info$kind == "float") {
      same_or_nan(got, nv_bitcast_convert(want, dtype))
    } else {
      codes(got) == want
    }
    check(paste(dtype, operation), same)
  }
}
cat(passed, " passed, ", failed, " failed\n", sep = "")
if (failed > 0L) quit("no", status = 1L)
