library(testthat)
library(joist)

# CRAN's machines have minutes for a package: without NOT_CRAN these files run, of every part of
# the package the ones that are quick, and with it all of them.
quick <- c(
  "article", "arguments", "bytes", "comparison", "cumulative", "dtype", "einsum", "facts", "files",
  "jit", "jit-numbers", "linalg", "literals", "matmul", "messages", "printing", "program",
  "promotion", "quantize", "reduce", "saved", "sequences", "shapes", "softmax", "sort"
)
all_files <- identical(Sys.getenv("NOT_CRAN"), "true")
test_check("joist", filter = if (!all_files) paste0("^(", paste(quick, collapse = "|"), ")$"))
