# How much memory an operation needs beside its operands and its results: no more than the scratch
# that is written here, in units of the operand of 16 MB.

skip_on_cran()
skip_if_not(file.exists("/proc/self/clear_refs"), "no figures of memory")

# The scratch allowed: copies of the operand that a loop changes or takes apart (of "require", too,
# which is measured in one), keys and positions of what is sorted, tables of transforms: irfft's
# length has a large prime factor, which takes a convolution of twice to four times the length, and
# its tables; both operands with channels first.
allowed <- c(
  scatter_add = 4.5, scatter_min = 4.5, scatter_max = 4.5, scatter_mul = 4.5,
  order = 2.5, searchsorted = 2.4, sort = 1.5, scan = 1.5, "for" = 1.4,
  "while" = 1.4, require = 2.5, fft = 2.5, rfft = 4.5, irfft = 40,
  conv_kernel = 2.5
)
usual <- 0.35

# In a fresh R, where a collection is short: the scratch of each operation.
scratch_of_all <- function(path) {
  library(joist)
  n <- 4e6

  status_bytes <- function(field) {
    line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
    1024 * as.numeric(gsub("[^0-9]", "", line))
  }

  bytes_of_tensors <- function(x) {
    if (is_tensor(x)) return(length(x) * switch(format(dtype(x)),
      bool = , i8 = , ui8 = 1, i16 = , ui16 = , f16 = , bf16 = 2, i32 = , ui32 = , f32 = 4,
      c128 = 16, 8
    ))
    if (is.list(x)) sum(vapply(x, bytes_of_tensors, 0)) else 0
  }

  # Bytes beyond what was there before and what the call gives, in units of the operand.
  scratch_of <- function(call) {
    call() # what is made once
    gc()
    nv_trim_memory()
    writeLines("5", "/proc/self/clear_refs")
    before <- status_bytes("VmRSS")
    result <- call()
    (status_bytes("VmHWM") - before - bytes_of_tensors(result)) / (4 * n)
  }

  set.seed(1)
  source(path, local = TRUE)
  list(scratch = vapply(operation_calls(n)$calls, scratch_of, 0))
}

test_that("an operation needs no more memory than its operands, its results and a stated scratch", {
  scratch <- in_fresh_r(scratch_of_all, normalizePath("helper-operations.R"))$scratch
  expect_gt(length(scratch), 140)
  for (op in names(scratch)) {
    most <- if (op %in% names(allowed)) allowed[[op]] else usual
    expect_lt(scratch[[op]], most, label = paste("the scratch of", op))
  }
})
