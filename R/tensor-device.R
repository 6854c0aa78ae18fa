#' Devices
#'
#' A device is where the data of a tensor is and where programs run. The `cpu` is always there; a
#' CUDA GPU is `"cuda:0"` (or `"cuda"`), further ones `"cuda:1"` and so on. They exist where joist
#' was built with the CUDA toolkit and the machine has a driver and a GPU: [cuda_diagnostics()] says
#' what is missing.
#'
#' Every operation gives a result where its operands are, with the dtypes, flags and errors of the
#' CPU. R numbers go wherever they are needed. Tensors must be on the same device: `nv_to()` moves
#' one of them (an index on the CPU goes with a tensor on any device). Elementwise operations,
#' reductions, cumulative operations, matrix products, operations that move elements, random numbers
#' and positions of extremes (`nv_argmin()`, `nv_argmax()`) run on the GPU, and so do values of
#' packed tensors ([nv_packed]) of the types Q4_0 to Q8_0 and Q2_K to Q6_K and their products with
#' `f32`. The rest (sorting, searching, `unique()`, `nv_which()`, linear algebra) runs on the CPU
#' with copies of its operands, which takes the time of the copies.
#'
#' Integer and bool results have the CPU's bits. So should random numbers and other floats, with
#' some exceptions: sums, products, means and matrix products (cumulative ones, too: see
#' [nv_cumsum()]), functions and quotients of complex numbers, sines, cosines and tangents of
#' numbers beyond 1e5 (`f32`) or 8e5 (`f64`), and powers of negative numbers. These are accurate to
#' a few units in the last place, and the same from run to run. Where a dtype has no NaN (the floats
#' of 4 and 6 bits), the zero that stands for it may have the other sign.
#'
#' joist's code for GPUs is tested on the CPU with a stand-in for CUDA. It has been compared with
#' the CPU in all dtypes on an H200 (CUDA 13.0), and in part on an H100, but for the kernels
#' of packed tensors.
#'
#' Work on a GPU goes on while R continues; `nv_synchronize()` waits for it. [saveRDS()] and other
#' processes get the elements of a tensor on a GPU, and have them on the CPU. Once CUDA has been
#' used, forked processes (`parallel::mclapply()`) cannot use it.
#'
#' @param name Name of a device.
#' @param x A tensor, or an R number or array.
#' @param device A device or its name.
#' @return `nv_device()`: a `joist_device`. `nv_devices()`: the names of the devices of this machine
#'   that joist can use. `nv_to()`: a tensor with the dtype and data of `x` on `device`, or `x`
#'   itself if it is there already; a packed tensor stays packed. `nv_synchronize()`: `NULL`,
#'   invisibly.
#' @section Errors: `joist_device_error` for a device that does not exist or cannot be used, with
#'   what is missing; when its memory is exhausted; and for a tensor whose data on the device was
#'   lost.
#' @examples
#' nv_devices()
#' nv_device("cpu")
#' device(nv_scalar(1))
#' nv_to(nv_scalar(1), "cpu")
#' if ("cuda:0" %in% nv_devices()) nv_to(nv_tensor(1:3), "cuda:0") + 1L
#' @export
nv_device <- function(name = "cpu") {
  if (inherits(name, "joist_device")) name else .Call(joist_r_device, name)
}

#' @rdname nv_device
#' @export
nv_devices <- function() .Call(joist_r_device_names)

#' @rdname nv_device
#' @export
nv_to <- function(x, device) {
  if (is_packed(x)) {
    parts <- packed_parts(x)
    return(new_packed(nv_to(parts$bytes, device), parts$type, parts$turned))
  }
  .Call(joist_r_to, as_operand(x), format(nv_device(device)))
}

#' @rdname nv_device
#' @export
nv_synchronize <- function(device = "cuda:0") {
  invisible(.Call(joist_r_synchronize, format(nv_device(device))))
}

#' @export
format.joist_device <- function(x, ...) unclass(x)[[2L]]

#' @export
as.character.joist_device <- function(x, ...) format(x)

#' @export
print.joist_device <- function(x, ...) {
  cat("<device ", format(x), ">\n", sep = "")
  invisible(x)
}

#' Diagnose CUDA
#'
#' `cuda_diagnostics()` looks for everything that tensors on a GPU need, and says what to do about
#' what is missing: joist built with CUDA, the driver, a GPU, the run-time compiler NVRTC (programs
#' are compiled by it once they have run often enough; without it an interpreter runs them) and
#' cuBLAS. If programs could not be compiled, it says how many, and why the last one could not. The
#' environment variable `JOIST_CUDA_COMPILE`, which is read when the first program runs, can be set
#' to `always` or `never` instead.
#'
#' @return A data frame of class `cuda_diagnostics` with columns `item`, `found` and `detail`.
#' @examples
#' cuda_diagnostics()
#' @export
cuda_diagnostics <- function() {
  structure(as.data.frame(.Call(joist_r_diagnose)), class = c("cuda_diagnostics", "data.frame"))
}

#' @export
print.cuda_diagnostics <- function(x, ...) {
  marks <- ifelse(x$found, "yes", "no")
  cat(paste0(format(x$item), "  ", format(marks), "  ", x$detail, "\n"), sep = "")
  invisible(x)
}

# A tensor that was made for an operation on `x`, where that is.
beside <- function(made, x) .Call(joist_r_made_beside, made, x)

# as_operand(), but an R number gets where `other` is, and beside a double it is exact.
tensor_beside <- function(x, other) {
  if (missing(x)) stop_missing(substitute(x))
  if (is_tensor(x)) {
    return(x)
  }
  double <- is_tensor(other) && type_string(other) %of% c("f64", "c128")
  if (double) exact_beside(x, other) else beside(as_operand(x), other)
}

# The same, and an R number is exact beside whatever it is.
exact_beside <- function(x, other) {
  if (is_tensor(x)) x else beside(number_in_full(x), other)
}

# R numbers in full, so that no two of them become one.
number_in_full <- function(x) {
  if (is.complex(x) && !is.object(x)) nv_tensor(x, "c128", ambiguous = TRUE) else carried_number(x)
}

# An R number that gets a dtype because it meets a tensor, as the policy in force wants to know.
judged <- function(x, dtype) {
  force(dtype)
  if (!is_tensor(x) && !is.character(x)) .Call(joist_r_judge_met, x, dtype) # text is exact
  x
}

# An R number that stands for something else in that dtype, which must not be another number there.
exact_code <- function(x, dtype, name) {
  tryCatch(
    with_promotion(NULL, judged(x, dtype), on = c(literal = "error")),
    joist_literal_error = function(e) {
      stop_joist(
        "joist_value_error", "`", name, "` is ", number_text(x), ", which ", format(dtype),
        " rounds; give a number that this dtype can hold"
      )
    }
  )
}

# NULL where there is none.
first_tensor <- function(parts) {
  for (part in parts) {
    if (inherits(part, "nv_tensor")) {
      return(part)
    }
  }
}

# What a function that makes tensors made, where it was asked for.
place_on <- function(x, device) if (is.null(device)) x else nv_to(x, device)
