#' Convolutions
#'
#' `nv_conv()` slides a kernel over one to three dimensions of a tensor and sums products: the
#' convolution of neural networks, in which the kernel is not reversed. `nv_conv1d()`, `nv_conv2d()`
#' and `nv_conv3d()` are `nv_conv()` for that number of dimensions.
#'
#' The dimensions of `x` are those of PyTorch: a batch, channels, and one to three dimensions that
#' the kernel slides over. Those of `kernel` are the channels of the result, the channels of `x`
#' that it sums over (with `groups` equal groups, those of one group), and its extents. Element `[n,
#' o, i]` of the result is the sum of `x[n, c, (i - 1) * stride + (k - 1) * dilation + 1 - low] *
#' kernel[o, c, k]` over all `c` and `k`, where `low` is the padding before the first element, and
#' elements of the padding are 0.
#'
#' With `transposed = TRUE`, `x` is spread out instead: the result is the derivative of an
#' `nv_conv()` of the same arguments with respect to its input, times `x`. The kernel is the one of
#' that `nv_conv()`: its first dimension is the channels of `x`, its second one the channels of the
#' result (of one group).
#'
#' No array of windows is made: parts of `x` are copied as the kernels of [nv_matmul()] need them,
#' and converted if they are `f16`, `bf16` or integers. Sums are those of [nv_matmul()]: `f16` and
#' `bf16` are summed in `f32` and rounded once, integers wrap, and `accumulate` asks for another
#' dtype.
#'
#' An element is missing if a missing one of `x` is within its window, or any is in the part of the
#' kernel that it uses.
#'
#' @param x A tensor or an R array: batch, channels, and one to three more dimensions.
#' @param kernel A tensor or an R array of the same rank.
#' @param stride,dilation Distances between two windows, and between two elements of a window:
#'   positive whole R numbers, one for all dimensions or one for each.
#' @param padding Zeros around `x` (removed from the result if `transposed`): whole R numbers, one
#'   for all dimensions or one for each; a list of pairs of numbers, before and after, one for each
#'   dimension; `"valid"` for none; or `"same"` for as many that there are `extent / stride`
#'   windows, rounded up (`extent * stride` elements if `transposed`). Where their number is odd,
#'   one more is after the elements than before.
#' @param groups A whole R number: channels are divided into so many groups, each with its own
#'   kernels.
#' @param transposed `TRUE` for the transposed convolution.
#' @param output_padding Of a transposed convolution: elements added to the end of each dimension of
#'   the result, whole R numbers less than `stride`.
#' @param accumulate A dtype or its name, for the sums and the result; `NULL` for the common dtype
#'   of the operands.
#' @return A tensor of the common dtype of the operands, or of dtype `accumulate`: batch, channels
#'   and the number of windows along each dimension.
#' @section Errors: `joist_shape_error` if ranks or channels do not fit, or a kernel is larger than
#'   the padded `x`; `joist_value_error` for a stride, padding, dilation or number of groups that is
#'   not valid; `joist_promotion_error` without a common dtype; `joist_dtype_error` for an
#'   `accumulate` that cannot hold all values of an operand.
#' @references Vincent Dumoulin and Francesco Visin: A guide to convolution arithmetic for deep
#'   learning, <https://arxiv.org/abs/1603.07285>.
#' @examples
#' x <- nv_tensor(array(1:16, c(1, 1, 4, 4)), "f32")
#' edge <- nv_tensor(array(c(-1, 1), c(1, 1, 2, 1)), "f32")
#' nv_conv(x, edge)
#' shape(nv_conv(x, edge, stride = 2, padding = "same"))
#' shape(nv_conv(x, edge, stride = 2, transposed = TRUE))
#' nv_conv1d(nv_tensor(array(1:5, c(1, 1, 5)), "i32"), array(1L, c(1, 1, 3)))
#' nv_conv2d(x, edge, stride = 2)
#' shape(nv_conv3d(nv_fill(1, c(2, 3, 8, 8, 8)), nv_fill(1, c(4, 3, 3, 3, 3))))
#' @export
nv_conv <- function(x, kernel, stride = 1, padding = 0, dilation = 1, groups = 1,
                    transposed = FALSE, output_padding = 0, accumulate = NULL) {
  convolve_tensor(
    x, kernel, NULL, stride, padding, dilation, groups, transposed, output_padding, accumulate
  )
}

#' @rdname nv_conv
#' @export
nv_conv1d <- function(x, kernel, stride = 1, padding = 0, dilation = 1, groups = 1,
                      transposed = FALSE, output_padding = 0, accumulate = NULL) {
  convolve_tensor(
    x, kernel, 1L, stride, padding, dilation, groups, transposed, output_padding, accumulate
  )
}

#' @rdname nv_conv
#' @export
nv_conv2d <- function(x, kernel, stride = 1, padding = 0, dilation = 1, groups = 1,
                      transposed = FALSE, output_padding = 0, accumulate = NULL) {
  convolve_tensor(
    x, kernel, 2L, stride, padding, dilation, groups, transposed, output_padding, accumulate
  )
}

#' @rdname nv_conv
#' @export
nv_conv3d <- function(x, kernel, stride = 1, padding = 0, dilation = 1, groups = 1,
                      transposed = FALSE, output_padding = 0, accumulate = NULL) {
  convolve_tensor(
    x, kernel, 3L, stride, padding, dilation, groups, transposed, output_padding, accumulate
  )
}

convolve_tensor <- function(x, kernel, dims, stride, padding, dilation, groups, transposed,
                            output_padding, accumulate) {
  check_flag(transposed, "transposed")
  check_whole(groups, "groups", 1)
  extents <- part_shape(x)[-(1:2)]
  taps <- part_shape(kernel)[-(1:2)]
  check_conv_shapes(part_shape(x), part_shape(kernel), dims, groups, transposed)
  rank <- length(taps)
  stride <- window_numbers(stride, rank, "stride", 1)
  dilation <- window_numbers(dilation, rank, "dilation", 1)
  extra <- window_numbers(output_padding, rank, "output_padding", 0)
  if (any(extra >= stride) && any(extra > 0) || !transposed && any(extra > 0)) {
    stop_joist(
      "joist_value_error", "`output_padding` is for transposed convolutions, and less than `stride`"
    )
  }
  reach <- (taps - 1) * dilation + 1
  edges <- window_padding(padding, extents, reach, stride, transposed)
  made <- if (transposed) {
    (extents - 1) * stride + reach - edges$low - edges$high + extra
  } else {
    (extents + edges$low + edges$high - reach) %/% stride + 1
  }
  if (any(extents > 0 & made < 1) || any(taps < 1)) {
    stop_joist(
      "joist_shape_error", "a kernel of extents ", extents_text(taps), " (with dilation ",
      extents_text(reach), ") does not fit into extents ", extents_text(extents), " with padding"
    )
  }
  apply_operation(
    if (transposed) "conv_input" else "conv", list(x, kernel),
    list(
      step = stride, low = edges$low, interior = dilation - 1, k = groups,
      shape = base::pmax(made, 0), dtype = accumulate
    )
  )
}

check_conv_shapes <- function(x, kernel, dims, groups, transposed) {
  rank <- length(kernel)
  if (length(x) != rank || rank < 3L || rank > 5L || !is.null(dims) && rank != dims + 2L) {
    stop_joist(
      "joist_shape_error", "`x` has rank ", length(x), " and `kernel` rank ", rank, ": both must ",
      "have a dimension for the batch or the channels of the result, one for channels, and ",
      if (is.null(dims)) "1 to 3" else dims, " more"
    )
  }
  channels <- if (transposed) kernel[1L] else kernel[2L] * groups
  if (x[2L] != channels || kernel[1L] %% groups != 0) {
    stop_joist(
      "joist_shape_error", "channels do not fit: `x` has ", x[2L], ", `kernel` is ",
      extents_text(kernel), " in ", groups, if (groups == 1) " group" else " groups"
    )
  }
}

# Whole numbers, one for each dimension that windows slide over.
window_numbers <- function(x, rank, name, least) {
  check_static(x, name)
  if (!is_whole(x) || length(x) != 1L && length(x) != rank || any(x < least)) {
    stop_joist(
      "joist_value_error", "`", name, "` must be whole numbers of at least ", least, ", one or ",
      rank
    )
  }
  rep_len(as.double(x), rank)
}

# Padding before and after the elements along each dimension.
window_padding <- function(padding, extents, reach, stride, transposed = FALSE) {
  rank <- length(extents)
  if (is.character(padding)) {
    check_choice(padding, "padding", c("same", "valid"))
    total <- if (padding == "valid") {
      rep(0, rank)
    } else if (transposed) {
      reach - stride # negative: elements are added
    } else {
      base::pmax((ceiling(extents / stride) - 1) * stride + reach - extents, 0)
    }
    low <- base::pmax(total, 0) %/% 2
    return(list(low = low, high = total - low))
  }
  if (is.list(padding) && !is.object(padding)) {
    if (length(padding) != rank || any(lengths(padding) != 2L)) {
      stop_joist("joist_value_error", "`padding` must be a list of ", rank, " pairs of numbers")
    }
    pairs <- lapply(padding, window_numbers, 2L, "padding", 0)
    return(list(low = vapply(pairs, `[`, 0, 1L), high = vapply(pairs, `[`, 0, 2L)))
  }
  both <- window_numbers(padding, rank, "padding", 0)
  list(low = both, high = both)
}
