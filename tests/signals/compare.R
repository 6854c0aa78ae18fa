# The functions of calls.csv beside NumPy's and SciPy's, on twenty shapes, in every float and
# complex dtype that NumPy and ml_dtypes have, and on subnormal and infinite numbers and NaN:
#
#   R -f tests/signals/compare.R --args PYTHON [PATTERN]
#
# `takes` says what the operands are: x and y of any shape, a vector v, a square matrix m, positive
# numbers u, probabilities p, integers k; with a z also of complex numbers, with a v vectors only.
# The peer computes in double. A result may differ by `bound` roundings of each element, of it or
# its operands, of all elements (their root mean square, or the operand's where the result is one
# number), of all of lines (times the logarithm of their number) or of a matrix (times its size and
# condition). Extents are from `least` on. The last line is "counts:".
arguments <- commandArgs(TRUE)
Sys.setenv(RETICULATE_PYTHON = arguments[1L])
suppressMessages(library(joist))
folder <- Sys.getenv("JOIST_SIGNALS_TESTS", "tests/signals")
calls <- read.csv(file.path(folder, "calls.csv"))
calls <- calls[grepl(c(arguments[-1L], "")[1L], calls$name), ]
python <- reticulate::py_run_file(file.path(folder, "peers.py"), convert = FALSE)

set.seed(11)
lengths <- c(0:9, 13, 15:17, 31:33, 63:65, 101, 127:129, 255, 257)
shapes <- c(as.list(lengths), list(c(1, 5), c(7, 3), c(16, 9), c(3, 4, 5), c(0, 5)))
orders <- c(1:10, 12, 15:18, 24, 31:33, 48, 63:65)
wild_numbers <- c(0, -0, NaN, Inf, -Inf, 1, -1, 2^-1074, -2^-1030, 2^-149, 2^-24, 65504, 1e300)

numbers <- function(takes, extents, dtype) {
  n <- prod(extents)
  x <- switch(substr(takes, 1L, 1L),
    u = stats::rexp(n), p = stats::runif(n), m = rnorm(n) + (n == 1),
    k = sample(seq.int(if (startsWith(dtype, "u")) 0L else -11L, 11L), n, TRUE), rnorm(n)
  )
  if (dtype %in% c("c64", "c128")) x <- complex(real = x, imaginary = rnorm(n))
  if (length(extents) > 1L) x <- array(x, extents)
  nv_tensor(x, dtype)
}
wild <- function(takes, dtype) {
  pairs <- expand.grid(x = wild_numbers, y = wild_numbers)
  if (substr(takes, 1L, 1L) == "u") pairs <- abs(pairs)
  if (dtype %in% c("c64", "c128")) pairs <- list(complex(real = pairs$x, imaginary = pairs$y))
  wide <- if (is.list(pairs) && is.complex(pairs[[1L]])) "c128" else "f64"
  lapply(unname(as.list(pairs)), function(x) nv_convert(nv_tensor(x, wide), dtype))
}
in_double <- function(x) {
  nv_convert(x, if (startsWith(format(dtype(x)), "c")) "c128" else "f64")
}

passed <- 0
failed <- character()
check <- function(call, operands, code, told) {
  dtype <- format(dtype(operands[[1L]]))
  y <- operands[length(operands)][[1L]]
  said <- tryCatch({
    result <- eval(code, list(x = operands[[1L]], y = y), globalenv())
    wide <- lapply(operands, function(x) nv_to_dlpack(in_double(x)))
    reticulate::py_to_r(python$judge(
      as.list(call[c("name", "peer", "bound", "scale")]), wide, dtype,
      sub("?", "", format(dtype(result)), fixed = TRUE), nv_to_dlpack(in_double(result))
    ))
  }, error = function(e) paste("error:", conditionMessage(e)))
  if (nzchar(said)) {
    failed <<- c(failed, call$name)
    cat(call$name, dtype, told, said, "\n")
  } else {
    passed <<- passed + 1
  }
}

for (k in seq_len(nrow(calls))) {
  call <- calls[k, ]
  code <- str2lang(call$joist)
  takes <- call$takes
  sizes <- if (startsWith(takes, "m")) {
    lapply(orders[orders >= call$least], rep, 2)
  } else {
    Filter(function(s) s[1L] >= call$least && (!grepl("v", takes) || length(s) == 1L), shapes)
  }
  dtypes <- c("f16", "bf16", "f32", "f64", if (grepl("z", takes)) c("c64", "c128"))
  if (startsWith(takes, "k")) dtypes <- c("i8", "i16", "i32", "ui8", "ui16", "ui32")
  for (dtype in dtypes) {
    for (size in sizes) {
      operands <- lapply(seq_len(1 + grepl("y|kk", takes)), function(k) numbers(takes, size, dtype))
      check(call, operands, code, paste0("(", toString(size), ")"))
    }
    if (call$wild == "yes") {
      check(call, wild(takes, dtype)[seq_len(1 + grepl("y|kk", takes))], code, "wild")
    }
  }
}
cat("note:", nrow(calls), "functions;", length(unique(failed)), "of them differ\n")
cat("counts:", passed, length(failed), 0, "\n")
quit(status = length(failed) > 0)
