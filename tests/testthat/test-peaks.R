# How much memory an operation needs beside its operands and its results: no more than the scratch
# that is written here, in units of the operand of 16 MB.

skip_on_cran()
skip_if_not(file.exists("/proc/self/clear_refs"), "no figures of memory")

op_table <- as.data.frame(.Call(joist:::joist_r_op_names))
n <- 4e6
side <- 2000

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
v <- nv_tensor(runif(n, 0.1, 0.9), "f32")
w <- nv_tensor(runif(n, 0.1, 0.9), "f32")
i <- nv_tensor(sample(n), "i32")
b <- v > 0.5
m <- nv_reshape(v, c(side, side))
key <- nv_key(1)
few <- 300L # rows of what LAPACK decomposes: an hour would be needed for 2000
small <- nv_slice(m, c(1, 1), c(few, few)) + few * nv_eye(few)

calls <- list(
  ifelse = function() nv_ifelse(b, v, w), clamp = function() nv_clamp(0.2, v, 0.8),
  convert = function() nv_convert(v, "i32"), bitcast_convert = function() nv_bitcast_convert(v, "i32"),
  broadcast_to = function() nv_broadcast_to(nv_scalar(1, "f32"), n),
  reshape = function() nv_reshape(v, c(side, side)), iota = function() nv_iota(1L, "f32", n),
  take = function() v[i], put = function() nv_put(v, i, w)
)
