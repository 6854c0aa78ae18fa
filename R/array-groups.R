#' Groups of equal rows
#'
#' `nv_group()` numbers the groups of rows that have equal keys, for [nv_segment_sum()] and the
#' other functions of groups. Keys are compared exactly, also 64-bit integers: missing values equal
#' one another, NaN equals NaN, and `-0` equals `0`. The numbers are the same however many threads
#' there are.
#'
#' @param keys A tensor or an R vector with an element for each row (numbers, strings, factors,
#'   dates), or a list or data frame of several. Rows are in one group if all their keys are equal.
#' @param sort `TRUE` numbers the groups in the order of their keys, with missing values last;
#'   `FALSE` in the order in which they appear.
#' @param na `"group"` for groups of missing values like others; `"drop"` to leave out rows with a
#'   missing value or NaN among their keys.
#' @return A list of class `joist_groups`: `ids`, the number of the group of each row, a tensor of
#'   dtype `i32`, missing for rows that are left out; `count`, the number of groups; `keys`, those
#'   of each group, as vectors of the type that was given; `sizes`, the number of rows of each
#'   group, an R integer vector; `first`, the first row of each group, a tensor of dtype `i32`.
#' @section Errors: `joist_value_error` for keys that are traced, not vectors, or 2^31 rows or
#'   more; `joist_shape_error` for keys of different lengths.
#' @examples
#' g <- nv_group(nv_tensor(c("9007199254740993", "9007199254740992", "9007199254740993"), "i64"))
#' g
#' nv_segment_sum(nv_tensor(c(1, 2, 4)), g)
#' df <- data.frame(a = c("x", "y", "x"), b = c(1, 1, NA))
#' nv_group(df, sort = TRUE)$keys
#' @export
nv_group <- function(keys, sort = FALSE, na = "group") {
  check_flag(sort, "sort")
  if (!identical(na, "group")) check_choice(na, "na", c("group", "drop"))
  tensor <- is_tensor(keys)
  one <- tensor || !is.list(keys)
  long <- FALSE
  if (tensor) {
    keys <- list(keys)
    rows <- length(keys[[1L]])
  } else {
    # Calendar times are lists of fields.
    instants <- function(key) if (inherits(key, "POSIXlt")) as.POSIXct(key) else key
    keys <- instants(keys)
    one <- !is.list(keys)
    keys <- if (one) list(keys) else lapply(unclass(keys), instants)
    long <- vapply(keys, inherits, NA, "integer64")
    keys[long] <- lapply(keys[long], nv_tensor, "i64")
    if (length(keys) == 0L) {
      stop_joist("joist_value_error", "`keys` must have a key")
    }
    rows <- unique(vapply(keys, function(key) as.numeric(length(key)), 0))
    if (length(rows) != 1L) {
      stop_joist("joist_shape_error", "keys of ", paste(rows, collapse = " and "), " rows")
    }
  }
  found <- .Call(joist_r_group, lapply(unname(keys), as_group_key), as.numeric(rows))
  ids <- found[[1L]]
  first <- as.vector(found[[2L]])
  sizes <- found[[3L]]
  of_groups <- lapply(keys, function(key) (if (is_tensor(key)) nv_flatten(key) else key)[first])
  kept <- seq_along(first)
  if (na == "drop") {
    missing <- Reduce(`|`, lapply(of_groups, function(key) as.vector(is.na(key))))
    kept <- kept[!missing]
  }
  if (sort) {
    # Base R leaves NaN and NA in the order in which they appear.
    kept <- kept[if (tensor && !has_nan(of_groups[[1L]])) {
      as.vector(nv_argsort(of_groups[[1L]][kept]))
    } else {
      do.call(order, unname(lapply(of_groups, function(key) sort_key(key[kept]))))
    }]
  }
  if (sort || length(kept) < length(first)) {
    number <- rep(NA_integer_, length(first))
    number[kept] <- seq_along(kept)
    ids <- if (rows == 0) ids else nv_gather(nv_tensor(number, "i32"), ids)
    first <- first[kept]
    sizes <- sizes[kept]
    of_groups <- lapply(of_groups, `[`, kept)
  }
  if (any(long)) of_groups[long] <- lapply(of_groups[long], as_array, "integer64")
  if (!one) of_groups <- list2DF(of_groups, length(kept))
  groups <- list(
    ids = ids, count = length(kept), keys = if (one) of_groups[[1L]] else of_groups,
    sizes = sizes, first = nv_tensor(first, "i32")
  )
  class(groups) <- "joist_groups"
  groups
}

# A tensor whose elements are equal where the key is. Strings and other vectors are numbered by R.
as_group_key <- function(key) {
  if (inherits(key, "nv_tensor")) {
    check_elements(key, "nv_group()")
    return(nv_flatten(key))
  }
  if (!is.atomic(key) || is.null(key)) {
    stop_joist("joist_value_error", "a key must be a tensor or a vector, not a ", class(key)[1L])
  }
  plain <- !is.object(key) || is.factor(key) || inherits(key, c("Date", "POSIXct", "difftime"))
  if (!plain || is.character(key) || is.raw(key)) key <- match(key, unique(key))
  key <- as.vector(unclass(key))
  nv_tensor(key, switch(typeof(key), logical = "bool", integer = "i32", complex = "c128", "f64"))
}

sort_key <- function(key) {
  if (inherits(key, "nv_tensor")) xtfrm(key) else if (is.raw(key)) as.integer(key) else key
}

#' @export
print.joist_groups <- function(x, ...) {
  rows <- count_of(length(x$ids), "row")
  cat("<groups: ", count_of(x$count, "group"), " of ", rows, ">\n", sep = "")
  shown <- min(x$count, 6L)
  keys <- if (is.data.frame(x$keys)) x$keys else list2DF(list(key = x$keys), x$count)
  keys$size <- x$sizes
  print(keys[seq_len(shown), , drop = FALSE])
  if (x$count > shown) cat("...", count_of(x$count - shown, "more group"), "\n")
  invisible(x)
}

#' Functions of groups of rows
#'
#' They combine the slices along a dimension, the first by default, by group: `nv_segment_sum()` as
#' [rowsum()] does, the others as their namesakes do: `nv_segment_mean()` as [nv_mean()],
#' `nv_segment_max()` as [nv_reduce_max()]. The groups are those of [nv_group()], or numbered. A
#' result is missing if one of the elements that it is made of is, but for `_any()` and `_all()`
#' where the others decide, and it has the same bits however many threads there are.
#'
#' Sums, products, extremes, means, variances, standard deviations and counts of chunked tensors
#' ([nv_zarr()]) are computed at once, in one pass over the chunks, by the workers of [chunked], and
#' have the same bits however many workers there are.
#'
#' Floats are summed in `f64` and rounded once, except `f32` and `c64` if there are less than half
#' as many slices as groups, which are summed in their own dtype. Means, variances and standard
#' deviations are computed in `f64`; of 64-bit integers exactly, and rounded once.
#'
#' @param x A tensor of rank 1 or more, or an R array, of numbers.
#' @param ids What [nv_group()] returns, or the number of the group of each slice, from 1 on: a
#'   tensor of integers or whole R numbers. Numbers may be traced by [jit()] and are checked when
#'   the program runs.
#' @param count How many groups there are, which must be given for numbers; of those of [nv_group()]
#'   it is known.
#' @param na_rm `TRUE` leaves out missing values and NaN.
#' @param dim The dimension along which slices are grouped, or its name.
#' @param weights Numbers that elements are multiplied by, R numbers beside integers as `f64`: one
#'   for each slice or each element; means are divided by their sum. With `na_rm = TRUE` elements of
#'   missing weights are left out, too.
#' @param correction The number that is subtracted from the number of elements of a group to give
#'   the divisor of its variance.
#' @param probs Probabilities between 0 and 1, R numbers.
#' @return A tensor whose extent along `dim` is `count`. `nv_segment_sum()`, `_min()`, `_max()`,
#'   `_first()`, `_last()` and `_mode()` have the dtype and ambiguity of `x`, with weights that of
#'   the products; `_prod()` the dtype of [nv_reduce_prod()]; `_mean()`,
#'   `_var()` and `_sd()`, `_median()` and `_quantile()` the dtype of [nv_mean()]; `_any()` and
#'   `_all()` are a known `bool`, `_count()` and `_n_distinct()` a known `i64`. A group without an
#'   element has the sum and the count 0, the product 1, `any` FALSE, `all` TRUE, and otherwise a
#'   missing value, NaN for means, variances and standard deviations. The last dimension of
#'   `_quantile()` is that of `probs`.
#' @section Errors: `joist_value_error` for a `count` that is not a whole number of at least 0,
#'   for missing `ids`, and for R numbers among them that are not whole; `joist_shape_error` for a
#'   group out of range, which it names, for a scalar, and if the number of `ids` is not that of
#'   slices; `joist_dtype_error` for `ids` that are not integers, for sums of bools, and for
#'   extremes of complex numbers.
#' @examples
#' x <- nv_tensor(c(1, 2, 3, 4))
#' nv_segment_sum(x, c(1, 2, 2, 1), 3)
#' nv_segment_sum(nv_tensor(matrix(1:6, 3)), c(2, 1, 2), 2)
#' g <- nv_group(c("b", "a", "b", "b"))
#' nv_segment_mean(x, g)
#' nv_segment_max(x, g)
#' nv_segment_median(x, g)
#' nv_segment_mean(x, g, weights = c(1, 2, 3, 4))
#' @export
nv_segment_sum <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L, weights = NULL) {
  if (!is.null(weights)) x <- weighed(x, weights, dim)$x
  if (is_chunked(x)) {
    return(chunked_groups("sum", x, ids, count, na_rm, dim))
  }
  by_group(x, ids, count, na_rm, dim, FALSE, function(s) {
    scattered(s, "scatter_add", scalar_like(0, s$x))
  })
}

#' @rdname nv_segment_sum
#' @export
nv_segment_prod <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  if (is_chunked(x)) {
    return(chunked_groups("prod", x, ids, count, na_rm, dim))
  }
  by_group(x, ids, count, na_rm, dim, FALSE, function(s) {
    s$x <- like(s$x, s$type)
    scattered(s, "scatter_mul", scalar_like(1, s$x))
  }, nv_cumprod)
}

#' @rdname nv_segment_sum
#' @export
nv_segment_min <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  if (is_chunked(x)) {
    return(chunked_groups("min", x, ids, count, na_rm, dim))
  }
  by_group(x, ids, count, na_rm, dim, FALSE, function(s) segment_extreme("scatter_min", s))
}

#' @rdname nv_segment_sum
#' @export
nv_segment_max <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  if (is_chunked(x)) {
    return(chunked_groups("max", x, ids, count, na_rm, dim))
  }
  by_group(x, ids, count, na_rm, dim, FALSE, function(s) segment_extreme("scatter_max", s))
}

#' @rdname nv_segment_sum
#' @export
nv_segment_any <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  segment_logic("scatter_max", FALSE, x, ids, count, na_rm, dim)
}

#' @rdname nv_segment_sum
#' @export
nv_segment_all <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  segment_logic("scatter_min", TRUE, x, ids, count, na_rm, dim)
}

# Missing only where the missing flags would decide.
segment_logic <- function(operation, none, x, ids, count, na_rm, dim) {
  fold <- function(x, operation, start) {
    by_group(x, ids, count, na_rm, dim, FALSE, function(s) {
      scattered(s, operation, scalar_like(start, s$x))
    })
  }
  if (isTRUE(na_rm) && is_tensor(x) && is_inexact(x)) x <- nan_to(if (none) 1 else 0, x)
  x <- nv_convert(x, "bool")
  unknown <- !isTRUE(na_rm) && !is_chunked(x) && may_be_na(x)
  found <- fold(if (unknown) nv_replace_na(x, none) else x, operation, none)
  if (!unknown) {
    return(found)
  }
  nv_mask(found, fold(nv_is_na(x), "scatter_max", FALSE) & (if (none) found else !found))
}

#' @rdname nv_segment_sum
#' @export
nv_segment_count <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  if (is_chunked(x)) {
    return(chunked_groups("count", x, ids, count, na_rm, dim))
  }
  by_group(x, ids, count, na_rm, dim, TRUE, segment_counts)
}

#' @rdname nv_segment_sum
#' @export
nv_segment_mean <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L, weights = NULL) {
  if (!is.null(weights)) {
    check_real(weights)
    if (is_tensor(weights)) weights <- in_double(weights)
    dim <- dims_of(dim, as_operand(x), "dim", single = TRUE)
    mean <- by_anvil({
      parts <- weighed(in_double(as_operand(x)), weights, dim, na_rm)
      sums <- lapply(parts, nv_segment_sum, ids, count, na_rm, dim)
      sums$x / sums$weights
    })
    return(like(mean, nv_mean(none_of(as_operand(x)))))
  }
  if (is_chunked(x)) {
    return(chunked_groups("mean", x, ids, count, na_rm, dim))
  }
  by_group(x, ids, count, na_rm, dim, FALSE, function(s) like(segment_mean(s), s$type), nv_mean)
}

#' @rdname nv_segment_sum
#' @export
nv_segment_var <- function(x, ids, count = NULL, correction = 1, na_rm = FALSE, dim = 1L) {
  check_number(correction, "correction")
  if (is_chunked(x)) {
    return(chunked_groups("var", x, ids, count, na_rm, dim, correction))
  }
  by_group(x, ids, count, na_rm, dim, TRUE, function(s) {
    like(segment_variance(s, correction), s$type)
  }, real_mean)
}

#' @rdname nv_segment_sum
#' @export
nv_segment_sd <- function(x, ids, count = NULL, correction = 1, na_rm = FALSE, dim = 1L) {
  check_number(correction, "correction")
  if (is_chunked(x)) {
    return(chunked_groups("sd", x, ids, count, na_rm, dim, correction))
  }
  by_group(x, ids, count, na_rm, dim, TRUE, function(s) {
    like(nv_sqrt(segment_variance(s, correction)), s$type)
  }, real_mean)
}

#' @rdname nv_segment_sum
#' @export
nv_segment_first <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  by_group(x, ids, count, na_rm, dim, TRUE, function(s) {
    shaped(s, taken_rows(s, segment_row(s, "scatter_min")))
  })
}

#' @rdname nv_segment_sum
#' @export
nv_segment_last <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  by_group(x, ids, count, na_rm, dim, TRUE, function(s) {
    shaped(s, taken_rows(s, segment_row(s, "scatter_max")))
  })
}

#' @rdname nv_segment_sum
#' @export
nv_segment_median <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  by_group(x, ids, count, na_rm, dim, TRUE, function(s) {
    shaped(s, segment_quantile(s, sorted_segments(s), 0.5))
  }, real_mean)
}

#' @rdname nv_segment_sum
#' @export
nv_segment_quantile <- function(x, ids, count = NULL, probs = seq(0, 1, 0.25), na_rm = FALSE,
                                dim = 1L) {
  if (!is.numeric(probs) || is.object(probs) || anyNA(probs) || any(probs < 0 | probs > 1)) {
    stop_joist("joist_value_error", "`probs` must be R numbers between 0 and 1")
  }
  by_group(x, ids, count, na_rm, dim, TRUE, function(s) {
    sorted <- sorted_segments(s)
    parts <- lapply(probs, function(p) shaped(s, segment_quantile(s, sorted, p)))
    do.call(nv_stack, c(parts, list(dim = length(s$extents) + 1L)))
  }, real_mean)
}

#' @rdname nv_segment_sum
#' @export
nv_segment_n_distinct <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  by_group(carried_number(x), ids, count, na_rm, dim, TRUE, function(s) {
    s <- check_groups(s)
    pairs <- nv_group(list(s$at, s$x))
    shaped(s, nv_tabulate(s$at[pairs$first] + 1L, s$groups))
  })
}

#' @rdname nv_segment_sum
#' @export
nv_segment_mode <- function(x, ids, count = NULL, na_rm = FALSE, dim = 1L) {
  by_group(x, ids, count, na_rm, dim, TRUE, function(s) {
    pairs <- nv_group(list(s$at, s$x))
    at <- s$at[pairs$first] + 1L
    sizes <- nv_tensor(pairs$sizes, "i32")
    all <- s$groups + s$spare
    most <- nv_segment_max(sizes, at, all)
    often <- as.vector(sizes == nv_gather(most, at))
    row <- nv_segment_min(pairs$first[often], at[often], all)
    shaped(s, taken_rows(s, nv_convert(row, "i64") - nv_scalar(1L, "i64")))
  })
}

# What `f` makes of the groups of slices along a dimension, which is the first one for `f`. Only the
# type of the result, that of `type(x)`, depends on the rules.
by_group <- function(x, ids, count, na_rm, dim, flat, f, type = identity) {
  if (is_chunked(x)) {
    stop_joist("joist_value_error", "this needs the elements in memory; call nv_compute() first")
  }
  moved <- dim_first(as_operand(x), dim)
  type <- type(none_of(moved$x))
  result <- by_anvil({
    s <- as_segments(moved$x, ids, count, na_rm, flat)
    s$type <- type
    f(s)
  })
  back <- function(made) {
    more <- vector("list", ndims(made) - length(s$labels))
    moved$back(with_labels(made, c(s$labels, more)))
  }
  if (is_tensor(result)) back(result) else rapply(result, back, how = "list")
}

# x with a dimension as the first one, and the way back; dimensions after those of x stay there.
dim_first <- function(x, dim) {
  if (identical(dim, 1L)) {
    return(list(x = x, back = identity))
  }
  dim <- dims_of(dim, x, "dim", single = TRUE)
  first <- c(dim, seq_len(ndims(x))[-dim])
  back <- function(result) nv_transpose(result, c(order(first), seq_len(ndims(result))[-first]))
  list(x = nv_transpose(x, first), back = back)
}

# x times weights, one for each slice or each element, and the weights of all elements, missing
# where products are left out.
weighed <- function(x, weights, dim, remove = FALSE) {
  check_flag(remove, "na_rm")
  x <- as_operand(x)
  if (!is_tensor(weights)) {
    type <- if (is_float_dtype(x)) dtype(x) else "f64"
    weights <- beside(nv_tensor(judged(weights, type), type), x)
  }
  if (!identical(shape(weights), shape(x))) {
    dim <- dims_of(dim, x, "dim", single = TRUE)
    if (length(weights) != shape(x)[dim]) {
      stop_joist(
        "joist_shape_error", count_of(length(weights), "weight"), " for ", shape(x)[dim], " slices"
      )
    }
    weights <- nv_reshape(weights, replace(rep(1L, ndims(x)), dim, length(weights)))
  }
  product <- x * weights
  weights <- nv_broadcast_to(weights, shape(x))
  if (remove && may_be_na(product)) weights <- nv_mask(weights, nv_is_na(product))
  list(x = product, weights = weights)
}

# What the functions of groups work on: `at`, the group of each slice of `x` from 0 on, of
# `groups`; what is left out is in one more, `spare`, behind them; `first` is the first slice of
# each from 1 on, if that is known. `extents` are those of the result. A `flat` x has one dimension,
# in which each column has its own groups.
as_segments <- function(x, ids, count, na_rm = FALSE, flat = FALSE) {
  if (missing(ids)) stop_missing("ids")
  check_flag(na_rm, "na_rm")
  dropped <- FALSE
  first <- NULL
  grouped <- inherits(ids, "joist_groups")
  if (grouped) {
    if (!is.null(count)) stop_joist("joist_value_error", "the groups say what `count` is")
    count <- ids$count
    first <- ids$first
    dropped <- sum(ids$sizes) < length(ids$ids)
    ids <- ids$ids
  } else {
    if (is.null(count)) {
      stop_joist("joist_value_error", "`count` is needed: how many groups there are")
    }
    check_whole(count, "count")
    ids <- as_positions(ids, "groups")
  }
  x <- tensor_beside(x, ids)
  extents <- shape(x)
  if (length(extents) == 0L) {
    stop_joist("joist_shape_error", "groups of a scalar; `x` must have a dimension")
  }
  if (length(ids) != extents[1L]) {
    stop_joist(
      "joist_shape_error", "`ids` has ", count_of(length(ids), "element"), ", but `x` of shape ",
      shape_text(x), " needs ", extents[1L], ", one for each slice along its first dimension"
    )
  }
  at <- (if (grouped) ids else nv_convert(ids, "i64")) - nv_scalar(1L, "i64")
  at <- nv_flatten(beside(at, x))
  s <- list(x = x, at = at, groups = count, spare = FALSE, extents = c(count, extents[-1L]))
  s$shape <- extents
  s$labels <- replace(labels_of(x), 1L, list(NULL))
  s$first <- first
  remove <- na_rm && may_be_na(x)
  if (!flat && !remove && !dropped) s else flat_segments(s, remove, dropped)
}

flat_segments <- function(s, remove, dropped) {
  left_out <- if (dropped) nv_is_na(s$at)
  at <- if (dropped) nv_replace_na(s$at, 0L) else s$at
  columns <- prod(s$extents[-1L])
  if (length(s$extents) > 1L) {
    column <- nv_reshape(nv_iota(1L, "i64", columns) - nv_scalar(1L, "i64"), c(1L, columns))
    rows <- c(length(at), columns)
    across <- function(part) nv_flatten(nv_broadcast_to(nv_reshape(part, c(length(at), 1L)), rows))
    if (dropped) left_out <- across(left_out)
    first <- nv_flatten(nv_broadcast_to(beside(column, s$x) * nv_scalar(s$groups, "i64"), rows))
    at <- across(at) + first
    s$x <- nv_flatten(s$x)
  }
  s$groups <- s$groups * columns
  s$first <- NULL
  if (remove) {
    missing <- nv_is_na(s$x)
    left_out <- if (dropped) left_out | missing else missing
    s$x <- without_mask(s$x)
  }
  s$spare <- !is.null(left_out)
  s$at <- if (s$spare) nv_ifelse(left_out, nv_scalar(s$groups, "i64"), at) else at
  s
}

# What `operation` makes of the values of each group, from `start` on.
scattered <- function(s, operation, start, values = s$x) {
  beyond <- if (length(shape(values)) > 1L) shape(values)[-1L]
  groups <- s$groups + s$spare
  if (length(shape(start)) == 0L) start <- nv_broadcast_to(start, c(groups, beyond))
  if (s$spare && ndims(values) > 0L && operation %of% c("scatter_add", "scatter_mul") &&
    is_integer_dtype(values)) {
    # Whether what is left out fits its dtype is not asked.
    out <- nv_reshape(s$at == scalar_like(s$groups, s$at), c(length(s$at), rep(1L, length(beyond))))
    values <- nv_ifelse(out, scalar_like(if (operation == "scatter_mul") 1 else 0, values), values)
  }
  shaped(s, .Call(joist_r_operation, operation, list(start, s$at, values), NULL))
}

# Without the group of what is left out, and with the extents of the result.
shaped <- function(s, result) {
  if (s$spare && length(result) > s$groups) result <- slice(result, 1L, 1L, s$groups)
  if (identical(as.numeric(shape(result)), as.numeric(s$extents))) {
    result
  } else {
    nv_reshape(result, s$extents)
  }
}

# Checks the numbers of groups as scatters do, where only their order is looked at.
check_groups <- function(s) {
  if (may_be_na(s$at)) segment_counts(s)
  numbers <- beside(nv_iota(1L, "i64", s$groups + s$spare, start = 0), s$x)
  s$at <- nv_gather(numbers, s$at + nv_scalar(1L, "i64"))
  s
}

segment_counts <- function(s) {
  number <- function(value) beside(nv_scalar(value, "i64"), s$x)
  scattered(s, "scatter_add", number(0L), number(1L))
}

# The number of elements of each group, in f64; of a row, once for all columns.
segment_sizes <- function(s) {
  if (length(shape(s$x)) > 1L) s$extents <- c(s$groups, rep(1L, length(s$extents) - 1L))
  nv_convert(segment_counts(s), "f64")
}

segment_sum <- function(s, values) {
  scattered(s, "scatter_add", scalar_like(0, values), values)
}

# In f64.
segment_mean <- function(s) {
  add_up <- function(values) segment_sum(s, values)
  sizes <- segment_sizes(s)
  if (!is_int64(s$x)) {
    return(add_up(in_double(s$x)) / sizes)
  }
  mean_of_sum(sum_of_int64(s$x, add_up), sizes)
}

# Of flat segments. See variance().
segment_variance <- function(s, correction) {
  if (is_int64(s$x)) {
    moments <- segment_moments(s)
    return(by_freedom(moments$squares, moments$n, correction, FALSE))
  }
  x <- in_double(s$x)
  each <- s$at + nv_scalar(1L, "i64")
  sizes <- segment_sizes(s)
  mean <- nv_flatten(segment_sum(s, x) / sizes)
  if (s$spare) mean <- nv_concatenate(mean, scalar_like(0, mean))
  distance <- x - nv_gather(mean, each)
  lost <- square_size(segment_sum(s, distance)) / sizes
  rest <- nv_max(sizes - nv_scalar(correction, "f64"), nv_scalar(0, "f64"))
  squares <- segment_sum(s, square_size(distance)) - lost
  # A group that has no variance adds nothing to the derivatives of others: 0 / 0 would be NaN.
  some <- rest > 0
  nv_ifelse(some, squares / nv_ifelse(some, rest, 1), nv_stop_gradient(squares / rest))
}

# Of 64-bit integers in flat segments, as distances from the first of their group.
segment_moments <- function(s) {
  row <- segment_row(s, "scatter_min")
  if (s$spare) row <- nv_concatenate(row, scalar_like(0L, row))
  first <- taken_rows(s, nv_replace_na(row, 0L))
  each <- nv_gather(first, s$at + nv_scalar(1L, "i64"))
  add_up <- function(values) segment_sum(s, values)
  int64_moments(
    s$x, shaped(s, first), each, segment_sizes(s), length(s$at), span_of(s$x), add_up
  )
}

# The first or last row of each group from 0 on; missing in groups without one.
segment_row <- function(s, operation) {
  n <- length(s$at)
  none <- if (operation == "scatter_min") n else -1
  rows <- nv_iota(1L, "i64", n) - nv_scalar(1L, "i64")
  flat <- s
  flat$extents <- s$groups
  found <- scattered(flat, operation, beside(nv_scalar(none, "i64"), s$x), beside(rows, s$x))
  nv_mask(found, found == nv_scalar(none, "i64"))
}

# The elements at rows that count from 0, missing where the row is.
taken_rows <- function(s, row) {
  if (length(s$at) == 0L) {
    return(nv_mask(nv_fill_like(nv_convert(row, dtype(s$x)), 0), nv_is_na(row)))
  }
  x <- if (ndims(s$x) == 1L) unname(s$x) else s$x
  found <- nv_gather(x, nv_replace_na(row, 0L) + nv_scalar(1L, "i64"))
  if (may_be_na(row)) nv_mask(found, nv_is_na(row)) else found
}

# From the elements of first rows, so that no dtype needs a least and a greatest element.
segment_extreme <- function(operation, s) {
  s$x <- unname(s$x)
  if (length(s$extents) > 1L && !s$spare) s <- flat_segments(s, FALSE, FALSE)
  if (!is.null(s$first)) {
    return(scattered(s, operation, nv_gather(s$x, s$first)))
  }
  row <- segment_row(s, "scatter_min")
  empty <- nv_is_na(row)
  start <- taken_rows(s, nv_replace_na(row, 0L))
  if (s$spare) start <- nv_concatenate(start, scalar_like(0, start))
  found <- scattered(s, operation, start)
  if (may_be_na(row)) nv_mask(found, nv_reshape(empty, s$extents)) else found
}

# The elements by group and in each by value, where the elements of each group begin, from 0 on,
# and how many there are.
sorted_segments <- function(s) {
  by_value <- nv_argsort(s$x)
  groups <- nv_gather(s$at, by_value)
  sizes <- nv_flatten(segment_sizes(s))
  list(
    x = nv_gather(s$x, nv_gather(by_value, nv_argsort(groups))),
    sizes = sizes, start = nv_cumsum(sizes) - sizes
  )
}

# Quantiles of type 7, as nv_quantile() computes them; missing or NaN where an element is.
segment_quantile <- function(s, sorted, p) {
  number <- nv_scalar(1, "f64")
  place <- (sorted$sizes - number) * nv_scalar(p, "f64")
  place <- nv_max(place, nv_scalar(0, "f64"))
  element <- function(at) {
    last <- nv_max(sorted$sizes - number, nv_scalar(0, "f64"))
    row <- sorted$start + nv_min(at, last)
    limit <- nv_scalar(max(length(s$at) - 1, 0), "f64")
    taken_rows(list(x = sorted$x, at = s$at), nv_convert(nv_min(row, limit), "i64"))
  }
  # At a whole place both are the same element, be it infinite.
  low <- nv_floor(place)
  value <- interpolated(element(low), element(nv_ceiling(place)), place - low)
  any_of <- function(flags) {
    flat <- s
    flat$extents <- s$groups
    scattered(flat, "scatter_max", scalar_like(FALSE, flags), flags)
  }
  if (has_nan(s$x)) {
    value <- nv_ifelse(any_of(nv_is_nan(without_mask(s$x))), scalar_like(NaN, value), value)
  }
  missing <- mask_of(s$x)
  if (!is.null(missing)) value <- nv_mask(value, any_of(missing))
  like(nv_mask(value, sorted$sizes == nv_scalar(0, "f64")), s$type)
}
