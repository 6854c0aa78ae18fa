#' Reduce windows
#'
#' `nv_reduce_window()` combines the elements of windows that slide over a tensor: their maximum,
#' minimum, sum, mean or median. `nv_max_pool()` and `nv_avg_pool()` do so for the tensors of
#' [nv_conv()], in all dimensions after the batch and the channels. `nv_unfold()` returns the
#' windows themselves.
#'
#' A window of several dimensions is reduced along one after the other, by steps that double the
#' length (all in one compiled pass, without an array of windows): the time grows with the logarithm
#' of the extents of a window. Dilation by a flat square is the maximum of windows, erosion the
#' minimum. Sums and means of floats are computed in double. Elements of an equal extreme
#' share its derivative. For the median of at most 32 elements, minima and maxima of shifted arrays
#' sort all windows at once, by Batcher's odd-even merges; of more, it is [nv_median()] of an array
#' of all windows.
#'
#' @param x A tensor or an R array.
#' @param window Extents of a window: whole R numbers, one for all of `dims` or one for each.
#' @param fun `"max"`, `"min"`, `"sum"`, `"mean"` or `"median"`.
#' @param stride Distances between two windows, one number or one for each of `dims`. Pools have
#'   windows side by side by default.
#' @param padding As of [nv_conv()]. Padding is less than every maximum and more than every minimum;
#'   medians have none.
#' @param dilation Distances between two elements of a window.
#' @param dims Dimensions, or their names; `NULL` for all.
#' @param count_padding For a mean: `TRUE` divides by the number of elements of a window, as PyTorch
#'   does, `FALSE` by the number of those that are not padding.
#' @param dim One dimension, or its name.
#' @return A tensor with the number of windows along each of `dims`: of the dtype of `x` from maxima
#'   and minima, else of the dtype of [nv_reduce_sum()], [nv_mean()] and [nv_median()].
#'   `nv_unfold()` adds a last dimension with the elements of each window. A missing element makes
#'   the results of its windows missing.
#' @references K. E. Batcher: Sorting networks and their applications. AFIPS Spring Joint Computer
#'   Conference 32 (1968), 307-314.
#' @section Errors: `joist_value_error` for windows, strides, padding or dilation that are not
#'   valid; `joist_shape_error` for dimensions that do not exist, and windows larger than the padded
#'   tensor; `joist_dtype_error` for extremes and medians of complex numbers.
#' @examples
#' x <- nv_tensor(matrix(c(1, 5, 2, 4, 3, 9, 8, 7, 6), 3), "f32")
#' nv_reduce_window(x, 2)
#' nv_reduce_window(x, c(3, 1), "mean")
#' shape(nv_max_pool(nv_fill(0, c(8, 3, 32, 32)), 2))
#' shape(nv_avg_pool(nv_fill(0, c(8, 3, 32, 32)), 2))
#' nv_unfold(nv_tensor(1:5), 3)
#' @export
nv_reduce_window <- function(x, window, fun = "max", stride = 1, padding = 0, dilation = 1,
                             dims = NULL, count_padding = TRUE) {
  check_choice(fun, "fun", c("max", "min", "sum", "mean", "median"))
  check_flag(count_padding, "count_padding")
  x <- as_operand(x)
  if (fun %of% c("max", "min", "median")) check_real(x)
  dims <- if (is.null(dims)) seq_len(ndims(x)) else dims_of(dims, x)
  rank <- length(dims)
  window <- window_numbers(window, rank, "window", 1)
  stride <- window_numbers(stride, rank, "stride", 1)
  dilation <- window_numbers(dilation, rank, "dilation", 1)
  reach <- (window - 1) * dilation + 1
  edges <- window_padding(padding, shape(x)[dims], reach, stride)
  if (fun == "median" && any(edges$low + edges$high > 0)) {
    stop_joist("joist_value_error", "a median has no value for padding; use `padding = 0`")
  }
  made <- (shape(x)[dims] + edges$low + edges$high - reach) %/% stride + 1
  if (any(made < 1)) {
    stop_joist(
      "joist_shape_error", "windows of extents ", extents_text(window), " do not fit into extents ",
      extents_text(shape(x)[dims]), " with padding"
    )
  }
  along <- rbind(
    dim = dims, k = window, step = stride, by = dilation, low = edges$low, high = edges$high,
    count = made
  )
  other_names(
    fused("reduce_windows", reduce_windows, x, fun, along, count_padding), x,
    dims[window > 1 | made != shape(x)[dims]]
  )
}

#' @rdname nv_reduce_window
#' @export
nv_max_pool <- function(x, window, stride = window, padding = 0, dilation = 1) {
  nv_reduce_window(x, window, "max", stride, padding, dilation, pooled_dims(x))
}

#' @rdname nv_reduce_window
#' @export
nv_avg_pool <- function(x, window, stride = window, padding = 0, count_padding = TRUE) {
  nv_reduce_window(
    x, window, "mean", stride, padding, 1, pooled_dims(x), count_padding
  )
}

pooled_dims <- function(x) {
  rank <- length(part_shape(x))
  if (rank < 3L) {
    stop_joist(
      "joist_shape_error", "pooling needs a batch, channels and at least one more dimension; `x` ",
      "has rank ", rank
    )
  }
  seq_len(rank)[-(1:2)]
}

# Each column of `along` says how windows go along one dimension.
reduce_windows <- function(x, fun, along, count_padding) {
  along <- apply(along, 2L, as.list)
  if (fun == "median") {
    return(median_windows(x, along))
  }
  n <- prod(vapply(along, `[[`, 0, "k"))
  if (fun %of% c("sum", "mean")) {
    made <- if (fun == "sum") nv_reduce_sum(none_of(x)) else nv_mean(none_of(x))
  }
  way <- if (fun == "mean") "sum" else fun
  over_windows <- function(x) {
    for (at in along) x <- reduce_windows_along(x, way, at)
    x
  }
  # Halves of 64-bit integers have exact sums.
  result <- if (fun == "mean" && is_int64(x)) {
    by_anvil({
      halves <- lapply(in_halves(x), over_windows)
      halves$high + halves$low
    })
  } else if (fun == "sum" && type_string(x) == "i64") {
    by_anvil(joined_halves(lapply(integer_halves(x), over_windows)))
  } else {
    adds <- fun %of% c("sum", "mean")
    over_windows(if (adds) nv_convert(x, sum_type(x, made, n), ambiguous(made)) else x)
  }
  if (fun == "mean") {
    result <- result / if (count_padding) {
      scalar_like(n, result)
    } else {
      counts_of(shape(x), along, result)
    }
  }
  if (!fun %of% c("sum", "mean")) {
    return(result)
  }
  whole <- is_integer_dtype(made)
  if (whole) converted_into(result, dtype(made), ambiguous(made)) else like(result, made)
}

# A dtype for sums of n elements that become `made`: those of integers are exact, those of floats in
# double, as either may exceed the range of a narrower one on the way.
sum_type <- function(x, made, n) {
  if (is_complex_dtype(x)) {
    return("c128")
  }
  digits <- if (is_inexact_dtype(x)) Inf else bits_of(dtype(x)) + log2(n)
  compute <- dtype_facts(dtype(made))$compute
  switch(dtype_kind(made),
    int = "i64", uint = "ui64", float = if (digits > 24) "f64" else compute, compute
  )
}

median_windows <- function(x, along) {
  n <- prod(vapply(along, `[[`, 0, "k"))
  if (n > 32) {
    for (at in along) x <- nv_unfold(x, at$k, at$step, at$by, at$dim)
    return(nv_median(x, ndims(x) - length(along) + seq_along(along)))
  }
  parts <- list(x)
  for (at in along) {
    parts <- unlist(lapply(parts, function(part) {
      lapply(seq_len(at$k) - 1, function(j) window_part(part, at, 1 + j * at$by, at$count, at$step))
    }), recursive = FALSE)
  }
  for (pair in median_network(n)) {
    low <- parts[[pair[1L]]]
    high <- parts[[pair[2L]]]
    parts[[pair[1L]]] <- nv_min(low, high)
    parts[[pair[2L]]] <- nv_max(low, high)
  }
  type <- nv_median(none_of(x))
  middle <- parts[[(n + 1) %/% 2]]
  if (n %% 2 == 0) middle <- halfway(middle, parts[[n %/% 2 + 1]])
  like(middle, type)
}

# Pairs of positions to be put in order, one after the other: those of Batcher's network of n
# elements that the middle depends on.
median_network <- function(n) {
  pairs <- list()
  p <- 1
  while (p < n) {
    k <- p
    while (k >= 1) {
      for (j in seq(k %% p, n - 1, by = 2 * k)) {
        for (i in seq_len(k) - 1) {
          low <- i + j
          high <- low + k
          if (high < n && low %/% (2 * p) == high %/% (2 * p)) {
            pairs[[length(pairs) + 1L]] <- c(low, high) + 1
          }
        }
      }
      k <- k / 2
    }
    p <- 2 * p
  }
  needed <- c((n + 1) %/% 2, n %/% 2 + 1)
  kept <- list()
  for (pair in rev(pairs)) {
    if (any(pair %of% needed)) {
      needed <- union(needed, pair)
      kept <- c(list(pair), kept)
    }
  }
  kept
}

# Elements `first`, `first` + step, ... of which there are n.
window_part <- function(x, at, first, n, step = 1) {
  extents <- replace(shape(x), at$dim, as.integer(n))
  if (identical(extents, shape(x))) {
    return(x)
  }
  ones <- rep(1, ndims(x))
  slice(x, replace(ones, at$dim, first), replace(ones, at$dim, step), extents)
}

# How many elements of each window are not padding.
counts_of <- function(extents, along, like) {
  dims <- vapply(along, `[[`, 1, "dim")
  ones <- replace(rep(1L, length(extents)), dims, extents[dims])
  count <- nv_broadcast_to(scalar_like(1, like), ones)
  for (at in along) count <- reduce_windows_along(count, "sum", at)
  count
}

# What combines nothing.
identity_of <- function(x, fun) {
  if (fun == "sum") {
    return(scalar_like(0, x))
  }
  info <- dtype_info(dtype(x))
  value <- if (fun == "max") info$min else info$max
  # Those with these letters have no infinities.
  if (is_float_dtype(x) && !grepl("FN|E8M0", format(dtype(x)))) {
    value <- if (fun == "max") -Inf else Inf
  }
  beside(nv_convert(nv_tensor(value, dtype(x), integer()), dtype(x), ambiguous(x)), x)
}

reduce_windows_along <- function(x, fun, at) {
  both <- switch(fun, max = nv_max, min = nv_min, sum = nv_add)
  rank <- ndims(x)
  if (at$low > 0 || at$high > 0) {
    edge <- function(count) replace(rep(0, rank), at$dim, count)
    x <- nv_pad(x, identity_of(x, fun), edge(at$low), edge(at$high))
  }
  if (at$step == at$k && at$by == 1 && at$k > 1) {
    return(reduce_blocks(x, fun, at))
  }
  part <- function(x, first, n, step = 1) window_part(x, at, first, n, step)
  if (at$k <= at$step * log2(at$k + 1)) {
    pieces <- lapply(seq_len(at$k) - 1, function(j) part(x, 1 + j * at$by, at$count, at$step))
    return(Reduce(both, pieces))
  }
  # Windows of 1, 2, 4, ... elements; their ends overlap, or sums are put together from some.
  length <- 1
  sum <- NULL
  reached <- 0
  left <- at$k
  shifted <- function(x, y, by) {
    n <- min(shape(x)[at$dim], shape(y)[at$dim] - by)
    both(part(x, 1, n), part(y, 1 + by, n))
  }
  repeat {
    if (fun == "sum" && left %% 2 == 1) {
      sum <- if (is.null(sum)) x else shifted(sum, x, reached * at$by)
      reached <- reached + length
    }
    left <- left %/% 2
    if (2 * length > at$k) break
    x <- shifted(x, x, length * at$by)
    length <- 2 * length
  }
  if (fun == "sum") {
    x <- sum
  } else if (length < at$k) {
    x <- shifted(x, x, (at$k - length) * at$by)
  }
  part(x, 1, at$count, at$step)
}

# Windows side by side.
reduce_blocks <- function(x, fun, at) {
  rank <- ndims(x)
  extents <- shape(x)
  before <- extents[seq_len(at$dim - 1L)]
  after <- extents[seq_len(rank) > at$dim]
  x <- slice(x, rep(1, rank), rep(1, rank), replace(extents, at$dim, as.integer(at$k * at$count)))
  x <- nv_reshape(x, c(before, at$k, at$count, after))
  switch(fun,
    max = nv_reduce_max(x, at$dim), min = nv_reduce_min(x, at$dim),
    sum = like(nv_reduce_sum(x, at$dim), x)
  )
}

#' @rdname nv_reduce_window
#' @export
nv_unfold <- function(x, window, stride = 1, dilation = 1, dim = 1L) {
  x <- as_operand(x)
  dim <- dims_of(dim, x, "dim", single = TRUE)
  check_whole(window, "window", 1)
  check_whole(stride, "stride", 1)
  check_whole(dilation, "dilation", 1)
  count <- (shape(x)[dim] - (window - 1) * dilation - 1) %/% stride + 1
  if (count < 1) {
    stop_joist(
      "joist_shape_error", "windows of ", window, " elements do not fit into an extent of ",
      shape(x)[dim]
    )
  }
  rank <- ndims(x)
  extents <- replace(shape(x), dim, as.integer(count))
  if (window <= 16 && !is_chunked(x)) { # more would make a long program in jit()
    bare <- other_names(x, x, dim)
    ones <- rep(1, rank)
    lines <- lapply(seq_len(window), function(k) {
      slice(bare, replace(ones, dim, 1 + (k - 1) * dilation), replace(ones, dim, stride), extents)
    })
    return(concatenated(lines, rank + 1L, rep(list(c(extents, 1L)), window)))
  }
  first <- 1L + (seq_len(count) - 1L) * as.integer(stride)
  at <- rep(first, window) + rep((seq_len(window) - 1L) * as.integer(dilation), each = count)
  made <- nv_gather(x, nv_tensor(at, "i64", c(count, window)), dim)
  if (dim == rank) made else nv_transpose(made, c(seq_len(rank + 1L)[-(dim + 1L)], dim + 1L))
}
