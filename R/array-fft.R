#' Fourier transforms
#'
#' `nv_fft()` computes the discrete Fourier transform along dimensions, `nv_ifft()` its inverse.
#' `nv_rfft()` is the transform of real numbers: it returns the first half of the result, of which
#' the rest are conjugates, and `nv_irfft()` is its inverse. `nv_hfft()` and `nv_ihfft()` are the
#' same the other way round: the transform of such a half is real.
#'
#' The transform of `n` elements `x[j]` is the sum over `j` of `x[j] * exp(-2i * pi * j * k / n)`,
#' where `j` and `k` count from 0. Of several dimensions, one is transformed after the other.
#' Without `dims`, all are, as by R's [stats::fft()]; `dims = 1` transforms the columns of a
#' matrix, as [stats::mvfft()] does. These two functions take tensors, too: they compute in double,
#' whatever the dtype, and their result is an ambiguous `c128`.
#'
#' Floats of 32 bits and less are transformed in single precision, others in double. Lengths may
#' have any prime factors. The error is a few units in the last place of the largest element, and
#' grows with the logarithm of the length.
#'
#' @param x A tensor, or an R number or array. `nv_rfft()` and `nv_ihfft()` take real ones.
#' @param n The length along each of `dims`: whole R numbers. Elements beyond it are left out, and
#'   zeros are added up to it. `NULL` for the extents; `nv_irfft()` and `nv_hfft()` then return
#'   `2 * (extent - 1)` elements along the last of `dims`.
#' @param dims Dimensions, or their names; `NULL` for all. Halves are along the last of them.
#' @param norm Which direction divides by `n`: `"backward"` (the inverse), `"forward"`, or
#'   `"ortho"` for both, by the square root.
#' @return A tensor of dtype `c64` or `c128`, or a real one from `nv_irfft()` and `nv_hfft()`.
#'   Along the last of `dims`, `nv_rfft()` and `nv_ihfft()` return `n %/% 2 + 1` elements. A missing
#'   element makes its line missing.
#' @section Errors: `joist_value_error` for an `n` that is not positive whole numbers, one for each
#'   of `dims`, or an unknown `norm`; `joist_shape_error` without dimensions, and for dimensions
#'   that do not exist; `joist_dtype_error` for complex numbers in `nv_rfft()` and `nv_ihfft()`.
#' @examples
#' x <- nv_tensor(c(1, 2, 3, 4), "f64")
#' nv_fft(x)
#' nv_ifft(nv_fft(x))
#' nv_irfft(nv_rfft(x))
#' nv_hfft(nv_ihfft(x))
#' nv_fft(nv_tensor(matrix(1:6, 2), "f32"), dims = 1)
#' @export
nv_fft <- function(x, n = NULL, dims = NULL, norm = "backward") {
  fourier("fft", x, n, dims, norm, FALSE)
}

#' @rdname nv_fft
#' @export
nv_ifft <- function(x, n = NULL, dims = NULL, norm = "backward") {
  fourier("fft", x, n, dims, norm, TRUE)
}

#' @rdname nv_fft
#' @export
nv_rfft <- function(x, n = NULL, dims = NULL, norm = "backward") {
  fourier("rfft", x, n, dims, norm, FALSE)
}

#' @rdname nv_fft
#' @export
nv_irfft <- function(x, n = NULL, dims = NULL, norm = "backward") {
  fourier("irfft", x, n, dims, norm, TRUE)
}

#' @rdname nv_fft
#' @export
nv_hfft <- function(x, n = NULL, dims = NULL, norm = "backward") {
  fourier("irfft", x, n, dims, norm, FALSE)
}

#' @rdname nv_fft
#' @export
nv_ihfft <- function(x, n = NULL, dims = NULL, norm = "backward") {
  fourier("rfft", x, n, dims, norm, TRUE)
}

fourier <- function(op, x, n, dims, norm, reverse) {
  x <- as_operand(x)
  dims <- if (is.null(dims)) seq_along(shape(x)) else dims_of(dims, x)
  if (length(dims) == 0L) {
    stop_joist("joist_shape_error", "a Fourier transform needs at least one dimension")
  }
  check_choice(norm, "norm", c("backward", "forward", "ortho"))
  n <- transform_lengths(op, n, shape(x)[dims])
  last <- length(dims)
  over <- if (norm == "ortho") sqrt(n) else if (reverse == (norm == "backward")) n else n^0
  scale <- 1 / base::pmax(over, 1) # lines may be empty
  if (transforms_at_once(op, x, n, dims)) {
    at <- list(dim = dims[1L], dims = dims[-1L], k = n[1L], reverse = reverse, scale = prod(scale))
    return(apply_operation(op, list(x), at))
  }
  steps <- if (op == "rfft") rev(seq_len(last)) else seq_len(last)
  for (k in steps) {
    x <- apply_operation(
      if (k == last) op else "fft", list(x),
      list(dim = dims[k], k = n[k], reverse = reverse, scale = scale[k])
    )
  }
  x
}

# Real numbers along several dims have transforms of which half need not be computed.
transforms_at_once <- function(op, x, n, dims) {
  op == "fft" && length(dims) > 1L && !is_chunked(x) && !is_complex_dtype(x) &&
    all(n[-1L] == shape(x)[dims[-1L]])
}

transform_lengths <- function(op, n, extents) {
  last <- length(extents)
  if (is.null(n)) {
    n <- extents
    if (op == "irfft") n[last] <- 2 * (extents[last] - 1)
    if (op == "fft" && any(n == 0)) {
      return(n)
    }
  }
  check_static(n, "n")
  if (!is_whole(n) || length(n) != last || any(n < 1 | n > .Machine$integer.max)) {
    stop_joist(
      "joist_value_error", "`n` must be positive whole numbers, one for each of `dims`"
    )
  }
  n
}

#' Frequencies of Fourier transforms
#'
#' `nv_fftfreq()` returns the frequencies that the elements of [nv_fft()] belong to,
#' `nv_rfftfreq()` those of [nv_rfft()]. `nv_fftshift()` moves the frequency 0 to the middle,
#' `nv_ifftshift()` moves it back.
#'
#' @param n The length of the transform, a whole R number.
#' @param d The distance between two samples, an R number.
#' @param dtype A float dtype.
#' @param x A tensor, or an R number or array.
#' @param dims Dimensions to move along, or their names; `NULL` for all.
#' @return A tensor: of rank 1 and the given dtype, or of the dtype and shape of `x`.
#' @section Errors: `joist_value_error` for an `n` that is not a positive whole number, or a `d`
#'   that is not a number.
#' @examples
#' nv_fftfreq(5, d = 0.1)
#' nv_rfftfreq(5)
#' nv_fftshift(nv_fftfreq(5))
#' nv_ifftshift(nv_fftshift(1:5))
#' @export
nv_fftfreq <- function(n, d = 1, dtype = "f64") {
  frequencies(n, d, dtype, function(n) c(seq_len((n + 1) %/% 2) - 1, -rev(seq_len(n %/% 2))))
}

#' @rdname nv_fftfreq
#' @export
nv_rfftfreq <- function(n, d = 1, dtype = "f64") {
  frequencies(n, d, dtype, function(n) seq_len(n %/% 2 + 1) - 1)
}

frequencies <- function(n, d, dtype, numbers) {
  check_static(n, "n")
  check_static(d, "d")
  if (!is_whole(n) || length(n) != 1L || n < 1) {
    stop_joist("joist_value_error", "`n` must be a positive whole number")
  }
  if (!is.numeric(d) || is.object(d) || length(d) != 1L || is.na(d)) {
    stop_joist("joist_value_error", "`d` must be a number")
  }
  nv_tensor(numbers(n) / (n * d), dtype)
}

#' @rdname nv_fftfreq
#' @export
nv_fftshift <- function(x, dims = NULL) shift_halves(x, dims, function(n) n %/% 2)

#' @rdname nv_fftfreq
#' @export
nv_ifftshift <- function(x, dims = NULL) shift_halves(x, dims, function(n) -(n %/% 2))

shift_halves <- function(x, dims, by) {
  x <- as_operand(x)
  dims <- if (is.null(dims)) seq_along(shape(x)) else dims_of(dims, x)
  if (length(dims) == 0L) x else rolled(x, by(shape(x)[dims]), dims)
}
