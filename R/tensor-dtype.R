#' Data types
#'
#' `as_dtype()` makes a dtype from its name, `format()` writes the name, in the spelling of another
#' library if you like, and `dtypes()` lists all names. The dtypes are `bool`, the signed integers
#' `i8`, `i16`, `i32`, `i64`, the unsigned `ui8`, `ui16`, `ui32`, `ui64`, the floats `f16`, `bf16`,
#' `f32`, `f64` and the complex `c64`, `c128`; the narrow dtypes and the complex numbers of 32 bits
#' below.
#'
#' Names that count bits and names that count bytes clash: `i8` is a byte here and in StableHLO, but
#' eight bytes in NumPy's codes. Byte codes are therefore only read with `style = "numpy"` or
#' `"jep"`. The names of safetensors, such as `F8_E4M3`, are read in every style.
#'
#' @section Narrow dtypes:
#' Integers of 1, 2 and 4 bits (`int1`, `i2`, `i4`, `uint1`, `ui2`, `ui4`; `int1` is -1 and 0, and
#' not called `i1`, which is `bool`) and floats of 4, 6 and 8 bits, named as in StableHLO by their
#' bits of exponent and fraction: `f4E2M1FN`, `f6E2M3FN`, `f6E3M2FN`, `f8E3M4`, `f8E4M3`, `f8E5M2`,
#' `f8E4M3FN`, `f8E4M3B11FNUZ`, `f8E4M3FNUZ`, `f8E5M2FNUZ` and `f8E8M0FNU`. Names of ml_dtypes, JAX
#' and PyTorch (`float8_e4m3fn`) are read and written, too. An element takes a byte of memory; files
#' are packed where their format packs such elements.
#'
#' Integers wrap around modulo 2^bits. Floats compute in `f32` and are rounded once, to nearest,
#' ties to even. What overflows becomes infinity in the formats that have it (`f8E3M4`, `f8E4M3`,
#' `f8E5M2`), NaN in the others of 8 bits, and the largest value in those of 4 and 6 bits, which
#' have no NaN either: NaN becomes zero there. `FNUZ` formats have no -0. `f8E8M0FNU` has the powers
#' of two from 2^-127 to 2^127 and NaN, no zero and no sign; a value half way between two of them is
#' rounded up. All conversions from `f32` give the same bits as ml_dtypes 0.6; `f64` is rounded
#' once, too. (PyTorch 2.15 differs: what overflows becomes the largest `f8E4M3FN`, and the sign is
#' dropped for `f8E8M0FNU`.)
#'
#' A tensor cannot be made of a value that its dtype lacks (NaN for `f4E2M1FN`); [nv_convert()]
#' takes the nearest value instead. See [nv_quantize()] for scales.
#'
#' @section Complex numbers of 32 bits:
#' `c32` and `bc32` are complex numbers of two `f16` or two `bf16`: `complex32` of PyTorch and
#' ml_dtypes, and `bcomplex32`. They compute in `c64`, and both parts are rounded once, also those
#' of a `c128`. What is complex whatever the operand, such as [nv_fft()] and the eigenvalues of a
#' matrix, is `c64`, as of `f16`.
#'
#' @param x A dtype, its name (`"f32"`) or an alias (`"float32"`, `"torch.float32"`, `"u8"`,
#'   `"half"`, `"pred"`, ...), or a tensor, whose dtype is returned. For `format()` and `print()`, a
#'   dtype.
#' @param style How names are spelled: `"anvil"` (`f32`, `ui8`), `"jax"` and `"torch"`
#'   (`float32`, `uint8`), `"jep"` and `"numpy"` (`f4`, `u1`: bytes) or `"stablehlo"`
#'   (`f32`, `ui8`, `i1`, `complex<f32>`).
#' @return `as_dtype()`: a `joist_dtype`, which compares equal to its name. `dtypes()`: a character
#'   vector of all names in canonical order. `format()`: a string.
#' @section Errors: `joist_dtype_error` when there is no such dtype.
#' @examples
#' as_dtype("float32")
#' as_dtype("f4", style = "numpy") == "f32"
#' format(as_dtype("bf16"), style = "jax")
#' dtypes()
#' @export
as_dtype <- function(x, style = "anvil") .Call(joist_r_as_dtype, x, style)

#' @rdname as_dtype
#' @export
dtypes <- function() .Call(joist_r_dtype_names)

#' @rdname as_dtype
#' @param ... Ignored.
#' @export
format.joist_dtype <- function(x, style = "anvil", ...) .Call(joist_r_format_dtype, x, style)

#' @rdname as_dtype
#' @export
print.joist_dtype <- function(x, ...) {
  cat("<dtype ", format(x), ">\n", sep = "")
  invisible(x)
}

#' @export
as.character.joist_dtype <- function(x, ...) format(x)

#' @export
Ops.joist_dtype <- function(e1, e2) {
  switch(.Generic,
    "==" = identical(as_dtype(e1), as_dtype(e2)),
    "!=" = !identical(as_dtype(e1), as_dtype(e2)),
    stop_joist("joist_dtype_error", "dtypes can only be compared with == and !=")
  )
}

#' Facts about a dtype
#'
#' `dtype_info()` returns the range and precision of a dtype, the dtype that it computes in, its
#' real and complex partners, and its names elsewhere, as `finfo()` and `iinfo()` do in NumPy and
#' PyTorch.
#'
#' @param dtype A dtype, its name, or a tensor.
#' @return A list:
#'
#'   * `dtype`, `kind` (`"bool"`, `"int"`, `"uint"`, `"float"` or `"complex"`);
#'   * `bits` of a value and `bytes` of an element in memory;
#'   * `digits`: binary digits of an integer without its sign, of a float's significand with the
#'     implied one, or of a complex number's parts;
#'   * `min` and `max`: the least and the greatest finite value, tensors of rank 0 of the dtype, or
#'     of the dtype of a complex number's parts;
#'   * `eps` and `smallest`, doubles: the distance from 1 to the next number, and the smallest
#'     positive number (a subnormal one); `NA` for bool and integers;
#'   * `compute`, `real`, `complex`: the dtype that operations compute in, that of a complex
#'     number's parts, and a complex dtype of at least 64 bits whose parts hold the values;
#'   * `names`: the name in each style of [format.joist_dtype()];
#'   * `npy`, `safetensors`, `arrow`: the codes in these formats, `NA` where one lacks the dtype.
#' @section Errors: `joist_dtype_error` when there is no such dtype.
#' @examples
#' dtype_info("f16")$max
#' dtype_info("ui64")$max
#' dtype_info("bf16")$eps
#' vapply(dtypes(), function(d) dtype_info(d)$digits, 0L)
#' @export
dtype_info <- function(dtype) {
  info <- dtype_facts(dtype)
  info$min <- nv_scalar(info$min, info$real)
  info$max <- nv_scalar(info$max, info$real)
  info
}

dtype_facts <- function(x) .Call(joist_r_dtype_info, x)

# What R code asks of dtypes, and of the dtypes of tensors.
dtype_kind <- function(x) .Call(joist_r_dtype_kind, x)
is_integer_dtype <- function(x) endsWith(dtype_kind(x), "int") # "uint", too
is_float_dtype <- function(x) dtype_kind(x) == "float"
is_complex_dtype <- function(x) dtype_kind(x) == "complex"
is_inexact_dtype <- function(x) dtype_kind(x) %of% c("float", "complex")
has_nan <- function(x) .Call(joist_r_dtype_has_nan, x)
is_int64 <- function(x) endsWith(type_string(x), "i64") # "ui64", too
