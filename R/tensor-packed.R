#' Packed tensors
#'
#' A packed tensor has the quantized blocks of a model file, of a few bits per weight, in the
#' place of its elements. It is read by [nv_read_gguf()] or made by [nv_quantize()], and stays
#' packed in memory and in products.
#'
#' `print()` shows the values, the type and the bits per weight. `[` gives values, a tensor of
#' `f32`; only the blocks in question are decoded, so `w[, ids]` looks up some rows of an
#' embedding. `nv_convert(w, "f16")` and [as_tensor()] decode all of it. `t()` of a packed matrix
#' moves nothing.
#'
#' `%*%`, [crossprod()], [tcrossprod()], [nv_matmul()] and its like multiply a packed matrix with
#' a tensor or an R matrix in `f32`; integers that this rounds are a `loss` (see
#' [with_promotion()]), fractions are not. Where blocks lie along the dimension that is summed over,
#' they are decoded within the product: `x %*% w`, `t(w) %*% x` and `crossprod(w, x)` for blocks
#' along the first dimension, which is how files have them. Otherwise the matrix is decoded
#' first. In [jit()], packed tensors are arguments or constants like others; derivatives are with
#' respect to `x`.
#'
#' Where `x` has integers of 8 bits, a tensor of `i8` or one that is packed as Q8_0 or Q8_K along
#' the same dimension, up to 8 columns of it are multiplied with the blocks as integers, whose sums
#' of 16 to 256 are exact and are scaled and added in `f32`.
#' `crossprod(w, nv_quantize(x, type = "q8_0"))` is the fastest product with a vector, and with
#' `"q8_k"` where `w` is Q4_K, Q5_K or Q6_K; its gradient with respect to `x` is zero, as the values
#' of `nv_quantize()` are steps.
#'
#' Types are those of the Python package gguf 0.19: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q8_1, Q2_K to
#' Q6_K, Q8_K, IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, IQ4_NL, IQ4_XS, TQ1_0, TQ2_0,
#' MXFP4, NVFP4, Q1_0 and Q2_0. Values are the same bits as that package's, which has no decoder
#' for Q8_1, Q8_K, Q1_0 and Q2_0.
#'
#' @param x A packed tensor.
#' @param ... As for [`[`][base::Extract] of a tensor of that shape.
#' @param drop `FALSE` to keep dimensions of extent 1.
#' @param na Ignored.
#' @return `[`, `as_tensor()`, `c()`, `rbind()` and `cbind()`: a tensor of `f32`. `dim()`: the
#'   extents. `t()`: a packed matrix.
#' @section Errors: `joist_value_error` for arithmetic with a packed tensor, and for base R's
#'   functions of its elements, such as `range()`, `unlist()`, `is.na()` and `x[1] <- 1`: call
#'   `as_tensor()` first. What does not dispatch sees the list of bytes: `for (e in x)`,
#'   `unlist(list(x))`.
#' @examples
#' w <- nv_quantize(matrix(rnorm(64 * 3), 64), type = "q4_0")
#' w
#' w[1:3, 2]
#' x <- rnorm(64)
#' crossprod(w, x)
#' crossprod(w, nv_quantize(x, type = "q8_0"))
#' nv_convert(w, "bf16")[1:2, ]
#' @name nv_packed
NULL

# Blocks as ui8, of the shape of the elements but for the first extent. The only element is named
# by the type, so that jit() has it in its key; "t" is of a matrix that is turned.
new_packed <- function(bytes, type, turned = FALSE) {
  out <- list(bytes)
  names(out) <- if (turned) paste0("t", type) else type
  class(out) <- "nv_packed"
  out
}

is_packed <- function(x) inherits(x, "nv_packed")

packed_parts <- function(x) c(list(bytes = .subset2(x, 1L)), named_type(attr(x, "names")))

# What the name of a packed tensor says: its type, whether it is turned, facts, and whether its
# blocks are integers of a byte; a code of NA for those of a type that there is not.
named_type <- function(name) {
  known <- read_names[[name]]
  if (is.null(known)) {
    type <- sub("^t", "", name)
    facts <- block_facts(type)
    known <- list(
      type = type, turned = name != type, facts = facts, of_bytes = type %of% c("Q8_0", "Q8_K")
    )
    if (!is.na(facts$code)) assign(name, known, read_names)
  }
  known
}

# What the names of packed tensors say, once they were read.
read_names <- new.env(parent = emptyenv())

# How many elements of a tensor lie along its blocks.
packed_depth <- function(parts, extents) {
  extents[1L] / parts$facts$bytes * parts$facts$elements
}

block_types <- function() .Call(joist_r_block_types)$name

block_facts <- function(type) {
  types <- .Call(joist_r_block_types)
  lapply(types, `[`, match(type, types$name))
}

unpacked <- function(x) {
  parts <- packed_parts(x)
  values <- unpack_bytes(parts$bytes, parts$facts$code)
  if (parts$turned) t(values) else values
}

unpack_bytes <- function(bytes, code) {
  .Call(joist_r_operation, "unpack", list(bytes), list(k = code, dtype = "f32"))
}

#' @rdname nv_packed
#' @export
as_tensor.nv_packed <- function(x, na = "missing", ...) unpacked(x)

#' @rdname nv_packed
#' @export
dim.nv_packed <- function(x) {
  parts <- packed_parts(x)
  extents <- as.integer(shape(parts$bytes))
  extents[1L] <- as.integer(packed_depth(parts, extents))
  if (parts$turned) rev(extents) else extents
}

#' @export
length.nv_packed <- function(x) prod(dim(x))

#' @rdname nv_packed
#' @export
t.nv_packed <- function(x) {
  parts <- packed_parts(x)
  if (ndims(parts$bytes) != 2L) {
    stop_joist("joist_shape_error", "t() is of a matrix, not of shape ", extents_text(dim(x)))
  }
  new_packed(parts$bytes, parts$type, !parts$turned)
}

#' @rdname nv_packed
#' @export
`[.nv_packed` <- function(x, ..., drop = TRUE) {
  extents <- dim(x)
  indices <- read_indices(extents, substitute(c(x, ...)), ...)
  check_flag(drop, "drop")
  if (length(indices) != length(extents) || length(extents) < 2L) {
    return(if (is.null(indices)) unpacked(x) else do.call(`[`, c(list(unpacked(x)), indices)))
  }
  all <- list(substitute())
  indices[vapply(indices, is.null, NA)] <- all
  # Blocks lie along one dimension: that one is indexed when they are decoded.
  parts <- packed_parts(x)
  along <- if (parts$turned) 2L else 1L
  others <- replace(indices, along, all)
  if (parts$turned) others <- rev(others)
  lines <- do.call(`[`, c(list(parts$bytes), others, drop = FALSE))
  values <- unpack_bytes(lines, parts$facts$code)
  if (parts$turned) values <- t(values)
  own <- replace(rep(all, length(extents)), along, indices[along])
  do.call(`[`, c(list(values), own, drop = drop))
}

packed_footer <- function(x) {
  parts <- packed_parts(x)
  bits <- 8 * parts$facts$bytes / parts$facts$elements
  paste0("[ ", parts$type, extents_text(dim(x)), ", ", format(bits), " bits per weight ]")
}

#' @export
print.nv_packed <- function(x, digits = NULL, max = NULL, ...) {
  extents <- dim(x)
  if (is.null(max)) max <- min(getOption("max.print"), 200L)
  if (prod(extents) > 0) {
    # Whole lines of blocks, no more than are shown.
    parts <- packed_parts(x)
    few <- c(list(TRUE), lapply(shape(parts$bytes)[-1L], function(n) seq_len(min(n, max))))
    seen <- do.call(`[`, c(list(parts$bytes), few, drop = FALSE))
    values <- unpack_bytes(seen, parts$facts$code)
    if (parts$turned) values <- t(values)
    shown <- if (length(extents) > 1L) corner_values(values, max) else head_values(values, max)
    print(shown, digits = print_digits(values, digits), right = TRUE)
    left <- prod(extents) - length(shown)
    if (left > 0) cat(" ... ", grouped_digits(left), " more\n", sep = "")
  }
  cat(packed_footer(x), "\n", sep = "")
  invisible(x)
}

#' @export
format.nv_packed <- function(x, ...) packed_footer(x)

#' @export
str.nv_packed <- function(object, ...) {
  cat(" ", packed_footer(object), "\n", sep = "")
  invisible(NULL)
}

# The same function, so that R takes it for a tensor and a packed one, too.
#' @export
Ops.nv_packed <- Ops.nv_tensor

#' @export
c.nv_packed <- c.nv_tensor # nolint: object_name_linter.

#' @export
rbind.nv_packed <- rbind.nv_tensor

#' @export
cbind.nv_packed <- cbind.nv_tensor

# What would see the list of bytes: an error that says to convert the tensor.
refuse_packed <- function(x, ...) {
  stop_joist(
    "joist_value_error", "a packed tensor is not an array of numbers; call as_tensor() first"
  )
}

refusing_generics <- c(
  "Summary", "Math", "Complex", "[[", "[<-", "[[<-", "$<-", "dim<-", "names<-", "length<-",
  "unlist", "unique", "duplicated", "rep", "is.na", "anyNA", "is.nan", "mean", "mtfrm", "as.list",
  "as.vector", "as.double", "as.integer", "as.logical", "as.complex", "as.character"
)

# ---- products ----

# A product one of whose operands is packed; of two with blocks along the dimension that is summed
# over, in one call. The kernel has crossprod(w, x) for blocks along the rows of w; of the others,
# those that turn into it are transposed.
packed_product <- function(lhs, rhs, lhs_transposed, rhs_transposed) {
  made <- .Call(joist_r_packed_product, lhs, rhs, lhs_transposed, rhs_transposed)
  if (!is.null(made)) {
    return(made)
  }
  parts <- if (is_packed(lhs)) packed_parts(lhs)
  others <- if (is_packed(rhs)) packed_parts(rhs)
  if (is.null(parts) || !is.null(others) && is_column_of(parts, others)) { # t(t(y) t(x))
    return(t(packed_product(rhs, lhs, !rhs_transposed, !lhs_transposed)))
  }
  extents <- shape(parts$bytes)
  along <- lhs_transposed != parts$turned && length(extents) == 2L
  plain <- packed_factor(rhs)
  if (ndims(plain) < 2L) {
    shapes <- matrix_shapes(dim(lhs), part_shape(plain), c(lhs_transposed, rhs_transposed))
    plain <- with_matrix_shape(plain, shapes[[2L]])
  }
  if (!along) {
    return(matrix_product(unpacked(lhs), nv_convert(plain, "f32"), lhs_transposed, rhs_transposed))
  }
  operands <- list(parts$bytes, if (rhs_transposed) t(plain) else plain)
  .Call(joist_r_operation, "packed_product", operands, list(k = parts$facts$code, dtype = "f32"))
}

# Whether a packed operand serves as the integers that another is multiplied with: the smaller one,
# if both could.
is_column_of <- function(x, w) {
  x$of_bytes && (!w$of_bytes || prod(shape(x$bytes)) < prod(shape(w$bytes)))
}

# The other operand: `i8` stays `i8`, anything else becomes f32, as the policy in force permits.
packed_factor <- function(x) {
  if (!is_tensor(x) && !is_packed(x)) judged(x, "f32")
  x <- if (is_packed(x)) unpacked(x) else as_exact_operand(x)
  if (is_tensor(x) && identical(format(dtype(x)), "i8")) x else to_float(x, "f32")
}
