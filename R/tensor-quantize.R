#' Quantize
#'
#' `nv_quantize()` divides numbers by scales, so that they fill the range of a narrow dtype, and
#' rounds them to that dtype; `nv_dequantize()` multiplies them by the scales again. There is one
#' scale for all elements, one for each position along some dimensions (per channel), or one for
#' each block of consecutive elements.
#'
#' A scale is the largest magnitude among the elements that share it, divided by the largest value
#' of `dtype`: the largest element becomes that value, and zero stays zero. A
#' scale that is too small to have all its digits is rounded up. Scales of dtype
#' `f8E8M0FNU` are powers of two, as in the Microscaling Formats: 2 to the exponent of the largest
#' magnitude less that of the largest value of `dtype`. Elements may then exceed the range of
#' `dtype`; they take its largest value. Where all elements are zero, the scale is 1. Integers are
#' used from `-max` to `max`: the least value of a signed dtype does not occur.
#'
#' Everything is computed in f32; elements are rounded to nearest, ties to even. Missing elements
#' stay missing, and do not count for a scale. If an element is NaN or infinite, its scale is NaN
#' or infinite, and `nv_dequantize()` makes NaN of it.
#'
#' Products of quantized matrices are products of the values, in `f32` or `i32` by
#' `nv_matmul(accumulate =)`, times the scales; see `vignette("quantization")`.
#'
#' @param x A tensor or an R array of real numbers.
#' @param dtype A signed integer or float dtype of up to 8 bits, or `f16`, `bf16`, `i16`.
#' @param dims Dimensions along which each position has a scale, as numbers or names; `NULL` for
#'   one scale.
#' @param block The number of elements in a block; the last block may be shorter. Positions along
#'   all other dimensions have separate blocks. `NULL` for no blocks.
#' @param block_dim The dimension along which blocks lie.
#' @param scale_dtype The dtype of the scales, a float: `NULL` for `f8E8M0FNU` with `block`, and
#' `f32`
#'   otherwise.
#' @param type A block type of model files, such as "q4_0" or "mxfp4", in the place of all other
#'   arguments but `block_dim`, 1 or 2 for a matrix: the result is a packed tensor, see
#'   [nv_packed]. Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, TQ1_0, TQ2_0 and MXFP4 have the bytes that the
#'   Python package gguf makes, Q8_K those that ggml makes; Q2_K to Q6_K, IQ4_NL and IQ4_XS are
#'   fitted by least squares. Other types cannot be made. Its derivatives are zero.
#' @param values,scales The results of `nv_quantize()`, or other tensors of such shapes.
#' @return `nv_quantize()`: a list of `values`, a tensor of dtype `dtype` and of the shape of `x`,
#' and `scales`, a tensor of dtype `scale_dtype`: a scalar; or of the rank of `x`, where dimensions
#' that share a scale have extent 1, and that of the blocks has one position for each block.
#' With `type`, a packed tensor.
#' `nv_dequantize()`: a tensor of dtype `dtype`, a float, and of the shape of `values`.
#' @section Errors: `joist_dtype_error` for dtypes other than these; `joist_shape_error` for
#'   invalid dimensions, a block that is not a positive whole number, and scales that do not fit
#'   the values; `joist_value_error` for `dims` together with `block`, and with `type` for an
#'   element, or a scale of a block in `f16`, that is not finite.
#' @references Open Compute Project (2023). OCP Microscaling Formats (MX) Specification, version
#' 1.0,
#'   sections 5 and 6.3.
#' @examples
#' weights <- nv_tensor(matrix(c(0.02, -0.5, 0.25, 3, -1, 2), 3), "f32")
#' q <- nv_quantize(weights, "i8", dims = 2)
#' q
#' nv_dequantize(q$values, q$scales)
#' mx <- nv_quantize(weights, "f4E2M1FN", block = 32)
#' mx$scales
#' nv_dequantize(mx$values, mx$scales, block = 32)
#' @seealso [nv_convert()], [nv_matmul()]
#' @export
nv_quantize <- function(x, dtype = "f8E4M3FN", dims = NULL, block = NULL, block_dim = 1L,
                        scale_dtype = NULL, type = NULL) {
  made <- if (!is.null(type) && nargs() == 2L) .Call(joist_r_pack_blocks, x, type)
  if (!is.null(made)) {
    return(made)
  }
  check_real(x)
  x <- within_f32(as_operand(x))
  if (!is.null(type)) {
    if (!missing(dtype) || !is.null(dims) || !is.null(block) || !is.null(scale_dtype)) {
      stop_joist("joist_value_error", "with `type`, only `block_dim` can be given")
    }
    return(packed_by_type(x, type, block_dim))
  }
  type <- quantized_dtype(dtype)
  scale_dtype <- as_scale_dtype(scale_dtype, block)
  if (!is.null(block)) {
    if (!is.null(dims)) {
      stop_joist("joist_value_error", "`dims` and `block` exclude each other: blocks have scales")
    }
    parts <- cut_in_blocks(shape(x), block, block_dim)
    values <- scaled(in_blocks(x, parts), type, parts$at, scale_dtype)
    return(list(
      values = out_of_blocks(values$values, parts),
      scales = nv_reshape(values$scales, parts$scales)
    ))
  }
  rank <- ndims(x)
  shared <- if (is.null(dims)) seq_len(rank) else setdiff(seq_len(rank), dims_of(dims, x))
  found <- scaled(x, type, shared, scale_dtype)
  if (is.null(dims)) found$scales <- nv_reshape(found$scales, integer())
  found
}

#' @rdname nv_quantize
#' @export
nv_dequantize <- function(values, scales, block = NULL, block_dim = 1L, dtype = "f32") {
  check_real(values)
  check_real(scales)
  values <- as_operand(values)
  scales <- nv_convert(as_operand(scales), "f32")
  as_float_dtype(dtype, "dtype")
  if (is.null(block)) {
    return(nv_convert(nv_mul(nv_convert(values, "f32"), scales), dtype))
  }
  parts <- cut_in_blocks(shape(values), block, block_dim)
  if (!identical(as.integer(shape(scales)), parts$scales)) {
    stop_joist(
      "joist_shape_error", "`scales` must have shape (", toString(parts$scales), "), one for each ",
      "block of ", parts$block, " along dimension ", parts$at
    )
  }
  product <- nv_mul(
    in_blocks(nv_convert(values, "f32"), parts),
    nv_reshape(scales, replace(parts$shape, parts$at, 1L))
  )
  nv_convert(out_of_blocks(product, parts), dtype)
}

packed_by_type <- function(x, type, block_dim) {
  check_text(type, "type")
  rank <- ndims(x)
  if (rank == 0L || !identical(block_dim, 1L)) check_dims(block_dim, "block_dim", rank, TRUE)
  facts <- named_type(toupper(type))$facts
  if (is.na(facts$code)) {
    stop_joist("joist_value_error", "there is no block type \"", type, "\"; see ?nv_packed")
  }
  turned <- block_dim == 2L && rank == 2L
  if (block_dim > 1L && !turned) {
    stop_joist("joist_value_error", "blocks lie along dimension 1, or 2 of a matrix")
  }
  if (turned) x <- t(x)
  attributes <- list(k = facts$code, dtype = "ui8")
  new_packed(.Call(joist_r_operation, "pack", list(x), attributes), facts$name, turned)
}

# Values of a dtype and their scales, one for all elements along the dimensions `shared`. Constants
# have a dtype, so that no promotion rule has to know numbers.
# In f32, or an error if elements get lost altogether.
within_f32 <- function(x) {
  if (is_tensor(x) && type_string(x) == "f32") {
    return(x)
  }
  made <- nv_convert(x, "f32")
  if (type_string(x) %of% c("f64", "f64?") && has_elements(x) && !is_chunked(x)) {
    largest <- function(x) max(0, as.double(nv_abs(nv_ifelse(nv_is_finite(x), x, 0))), na.rm = TRUE)
    own <- largest(x)
    if (largest(made) == 0 && own > 0 || own > dtype_info("f32")$max * (1 + 2^-25)) {
      stop_joist("joist_value_error", "numbers as ", format(own), " are beyond f32")
    }
  }
  made
}

scaled <- function(x, type, shared, scale_dtype) {
  zero <- nv_scalar(0, "f32")
  one <- nv_scalar(1, "f32")
  limit <- nv_scalar(as.numeric(type$max), "f32")
  # NaN counts, and makes the scale NaN; what is missing does not.
  present <- if (is.null(mask_of(x))) x else nv_ifelse(mask_of(x), zero, without_mask(x))
  largest <- nv_reduce_max(nv_abs(present), shared, drop = FALSE)
  scales <- if (format(scale_dtype) == "f8E8M0FNU") {
    power_of_two_scales(largest, type)
  } else {
    limited_scales(largest, limit, scale_dtype)
  }
  divisors <- nv_convert(scales, "f32")
  if (has_elements(x) && any(as.vector(nv_is_infinite(divisors) & nv_is_finite(largest)))) {
    stop_joist("joist_value_error", "scales do not fit ", format(scale_dtype))
  }
  divisors <- nv_ifelse(nv_eq(divisors, zero), one, divisors)
  ratio <- nv_div(x, divisors)
  if (type$kind == "int") ratio <- nv_round(ratio)
  list(
    values = nv_convert(nv_clamp(nv_negate(limit), ratio, limit), type$dtype),
    scales = nv_convert(divisors, scale_dtype)
  )
}

# largest / limit, rounded to the dtype: up where it is subnormal and the largest element would not
# fit, or all would be zero.
limited_scales <- function(largest, limit, scale_dtype) {
  facts <- dtype_info(scale_dtype)
  least <- max(facts$smallest, 2^-149)
  scales <- nv_convert(nv_convert(nv_div(largest, limit), scale_dtype), "f32")
  low <- nv_lt(scales, nv_scalar(least / max(facts$eps, 2^-23), "f32"))
  up <- nv_and(low, nv_lt(nv_mul(scales, limit), largest))
  nv_ifelse(up, nv_add(scales, nv_scalar(least, "f32")), scales)
}

# 2^(floor(log2(largest)) - floor(log2(max))), from the bits of f32; NaN if infinite or NaN.
power_of_two_scales <- function(largest, type) {
  local_promotion("anvil") # others may lack ui32
  digits <- nv_scalar(23L, "ui32")
  least <- nv_scalar(as.integer(floor(log2(as.numeric(type$max)))), "i32")
  bits <- nv_shift_right_logical(nv_bitcast_convert(largest, "ui32"), digits)
  exponent <- nv_sub(nv_convert(bits, "i32"), least)
  exponent <- nv_clamp(nv_scalar(0L, "i32"), exponent, nv_scalar(254L, "i32"))
  power <- nv_bitcast_convert(nv_shift_left(nv_convert(exponent, "ui32"), digits), "f32")
  # The least scale is subnormal in f32.
  power <- nv_ifelse(nv_eq(power, nv_scalar(0, "f32")), nv_scalar(2^-127, "f32"), power)
  power <- nv_ifelse(nv_eq(largest, nv_scalar(0, "f32")), nv_scalar(1, "f32"), power)
  nv_convert(nv_ifelse(nv_is_finite(largest), power, nv_scalar(NaN, "f32")), "f8E8M0FNU")
}

# ---- blocks ----

# How a tensor of a shape is cut along a dimension: `shape` has the blocks apart, in dimensions
# `at` (within a block) and `at` + 1.
cut_in_blocks <- function(extents, block, dim) {
  check_dims(dim, "block_dim", length(extents), single = TRUE)
  if (!is_whole(block) || length(block) != 1L || block < 1) {
    stop_joist("joist_shape_error", "`block` must be a positive whole number")
  }
  block <- as.integer(block)
  at <- as.integer(dim)
  count <- as.integer(ceiling(extents[at] / block))
  list(
    at = at, block = block, extents = as.integer(extents),
    missing = count * block - as.integer(extents[at]),
    shape = as.integer(append(replace(extents, at, block), count, at)),
    scales = as.integer(replace(extents, at, count))
  )
}

along_block <- function(parts, amount) replace(integer(length(parts$extents)), parts$at, amount)

in_blocks <- function(x, parts) {
  if (parts$missing > 0L) x <- nv_pad(x, scalar_like(0, x), 0L, along_block(parts, parts$missing))
  nv_reshape(x, parts$shape)
}

out_of_blocks <- function(x, parts) {
  whole <- parts$extents
  whole[parts$at] <- whole[parts$at] + parts$missing
  x <- nv_reshape(x, whole)
  if (parts$missing > 0L) x <- nv_pad(x, scalar_like(0, x), 0L, along_block(parts, -parts$missing))
  x
}

# ---- dtypes ----

quantized_dtype <- function(dtype) {
  type <- dtype_info(dtype)
  if (!type$kind %of% c("int", "float") || type$bits < 2L || type$bits > 16L ||
    format(type$dtype) == "f8E8M0FNU") {
    stop_joist(
      "joist_dtype_error", "numbers are quantized to signed integers and floats of 2 to 16 bits, ",
      "not to ", format(type$dtype)
    )
  }
  type
}

as_float_dtype <- function(dtype, name) {
  type <- dtype_info(dtype)
  if (type$kind != "float") {
    stop_joist("joist_dtype_error", "`", name, "` must be a float dtype, not ", format(type$dtype))
  }
  type$dtype
}

as_scale_dtype <- function(dtype, block) {
  if (is.null(dtype)) dtype <- if (is.null(block)) "f32" else "f8E8M0FNU"
  as_float_dtype(dtype, "scale_dtype")
}
