#' Unique elements with their positions and counts, and sets
#'
#' `nv_unique()` gives the elements as [unique()] does, in the order of their first occurrence, and,
#' if asked, where they are. `nv_union()`, `nv_intersect()` and `nv_setdiff()` take the elements of
#' tensors as sets, as base R's functions do with vectors.
#'
#' Elements are compared as by [nv_match()], 64-bit integers exactly: missing values equal one
#' another, NaN equals NaN, and `-0` equals `0`.
#'
#' @param x,y Tensors, or R numbers or arrays.
#' @param inverse `TRUE` for the position of each element of `x` among the unique ones.
#' @param counts `TRUE` for how often each unique element occurs.
#' @param index `TRUE` for the position in `x`, in column-major order, at which each unique element
#'   occurs first.
#' @return A tensor of rank 1, of the dtype of `x` (`nv_union()`: of the common dtype); of R doubles
#'   it is `f64?`, so that no two of them become one, if the rules let that yield to `f32`. With one
#'   of the flags, a list of it, `values`, and of `index` (a known `i32`), `inverse` (a known `i32`
#'   of the shape of `x`) and `counts` (a known `i64`), each if requested. Positions count from 1.
#' @section Errors: `joist_value_error` for flags that are neither `TRUE` nor `FALSE`, while `jit()`
#'   traces and for [nv_aval()]: the shape depends on values; `joist_promotion_error` when the
#'   rules know no common dtype.
#' @examples
#' nv_unique(nv_tensor(c(3, 1, 3)), inverse = TRUE, counts = TRUE)
#' nv_union(nv_tensor(c(3, 1, 3)), c(1, 2))
#' nv_intersect(nv_tensor(c(3, 1, 3)), c(1, 2))
#' nv_setdiff(nv_tensor(c("9007199254740993", "1"), "i64"), 1L)
#' @export
nv_unique <- function(x, inverse = FALSE, counts = FALSE, index = FALSE) {
  check_flag(inverse, "inverse")
  check_flag(counts, "counts")
  check_flag(index, "index")
  x <- number_in_full(x)
  values <- unique(x)
  if (!inverse && !counts && !index) {
    return(values)
  }
  at <- if (inverse || counts) nv_match(x, values)
  c(
    list(values = values),
    if (index) list(index = nv_match(values, x)),
    if (inverse) list(inverse = at),
    if (counts) list(counts = nv_tabulate(at, length(values)))
  )
}

#' @rdname nv_unique
#' @export
nv_union <- function(x, y) {
  if (missing(x)) stop_missing("x")
  if (missing(y)) stop_missing("y")
  # An R number that does not fit is an error beside a tensor.
  part <- function(x, other) {
    plain <- is_tensor(other) && is_plain_numbers(x)
    if (plain) as.vector(x) else nv_flatten(exact_beside(x, other))
  }
  unique(nv_concatenate(part(x, y), part(y, x)))
}

#' @rdname nv_unique
#' @export
nv_intersect <- function(x, y) elements_in(x, y, TRUE)

#' @rdname nv_unique
#' @export
nv_setdiff <- function(x, y) elements_in(x, y, FALSE)

elements_in <- function(x, y, found) {
  if (missing(x)) stop_missing("x")
  if (missing(y)) stop_missing("y")
  values <- unique(if (is_plain_numbers(x)) as.vector(x) else exact_beside(x, y))
  is_found <- nv_is_in(values, y)
  exact_beside(values, y)[if (found) is_found else !is_found]
}

#' Histograms
#'
#' `nv_histogram()` counts the elements in intervals, `nv_digitize()` says in which interval each
#' element is: the number of `breaks` up to it, as [findInterval()]. Elements and breaks are
#' compared as by [nv_searchsorted()], integers exactly, and by `nv_histogram()` also floats with R
#' numbers.
#'
#' An interval of `nv_histogram()` has its lower break, and the last one both. Elements outside, NaN
#' and missing values are not counted.
#'
#' @param x A tensor, or R numbers.
#' @param breaks Numbers in increasing order, a tensor or an R vector; for `nv_histogram()` also one
#'   whole R number: how many intervals of equal width.
#' @param range The least and the greatest break, if `breaks` is a number; `NULL` for the range of
#'   the elements, and where all are equal, 0.5 to both sides.
#' @param weights A tensor of the shape of `x`: what each element counts; `NULL` for 1.
#' @param density `TRUE` for counts divided by their sum and the widths of the intervals.
#' @param right `TRUE` if an interval has its upper break instead of the lower one.
#' @return `nv_histogram()`: a list of `counts`, a known `i64`, or as from [nv_tabulate()] with
#'   `weights`, and for a density `f64`; and `breaks`. `nv_digitize()`: a known `i32` of the shape
#'   of `x`, from 0 for elements below all breaks; missing where an element is.
#' @section Errors: `joist_value_error` for breaks that are not in order, an invalid number of them
#'   or `range`, and flags that are neither `TRUE` nor `FALSE`; `joist_shape_error` for weights of
#'   another shape; `joist_dtype_error` for complex numbers.
#' @examples
#' nv_histogram(nv_tensor(c(1, 2, 2, 4)), breaks = 3)
#' nv_histogram(nv_tensor(c(1, 2, 2, 4)), breaks = c(0, 2, 4), density = TRUE)
#' nv_digitize(nv_tensor(c(0, 1, 2.5)), c(1, 2, 3))
#' @export
nv_histogram <- function(x, breaks = 10, range = NULL, weights = NULL, density = FALSE) {
  check_flag(density, "density")
  x <- carried_number(x)
  extents <- shape(x)
  x <- nv_flatten(x)
  check_real(x)
  if (density) check_real(weights)
  valid <- is.null(range) || is.numeric(range) && !is.object(range) && length(range) == 2L &&
    all(is.finite(range)) && range[1L] <= range[2L]
  if (!valid) {
    stop_joist("joist_value_error", "`range` must be two finite numbers in increasing order")
  }
  if (!is_tensor(breaks) && length(breaks) == 1L) {
    check_whole(breaks, "breaks", 1)
    breaks <- equal_breaks(x, breaks, range)
  }
  # Elements are compared with R numbers as these are.
  breaks <- by_anvil(exact_beside(breaks, x))
  if (is_float_dtype(x) && type_string(breaks) == "f64") x <- nv_convert(x, "f64")
  n <- length(breaks) - 1L
  if (n < 1L) stop_joist("joist_value_error", "`breaks` must be two numbers or more")
  bin <- by_anvil(nv_ifelse(nv_eq(x, breaks[n + 1L]), n, nv_digitize(x, breaks)))
  counts <- nv_tabulate(bin, n, if (!is.null(weights)) weights_in_a_row(weights, x, extents))
  if (density) {
    wide <- nv_convert(breaks, "f64")
    widths <- slice_along(wide, 1L, 2L, n) - slice_along(wide, 1L, 1L, n)
    counts <- nv_convert(counts, "f64")
    counts <- counts / (nv_reduce_sum(counts) * widths)
  }
  list(counts = counts, breaks = breaks)
}

weights_in_a_row <- function(weights, x, extents) {
  own <- part_shape(weights)
  if (length(own) > 1L && !identical(own, extents)) {
    stop_joist(
      "joist_shape_error", "`weights` have the shape ", extents_text(own), ", not ",
      extents_text(extents)
    )
  }
  nv_flatten(tensor_beside(weights, x))
}

equal_breaks <- function(x, n, range) {
  if (is.null(range)) {
    x <- nv_convert(x, "f64")
    range <- if (length(x) == 0L) {
      c(0, 1)
    } else {
      list(nv_reduce_min(nv_replace_na(x, Inf)), nv_reduce_max(nv_replace_na(x, -Inf)))
    }
  }
  low <- carried_number(range[[1L]])
  high <- carried_number(range[[2L]])
  if (has_value(low) && has_value(high) && !is.finite(as.vector(low) + as.vector(high))) {
    stop_joist("joist_value_error", "the range of the elements is not finite; set `range`")
  }
  equal <- low == high
  nv_linspace(
    nv_ifelse(equal, low - 0.5, low), nv_ifelse(equal, high + 0.5, high), n + 1L,
    dtype = "f64"
  )
}

has_value <- function(x) !is_tensor(x) || has_elements(x)

#' @rdname nv_histogram
#' @export
nv_digitize <- function(x, breaks, right = FALSE) {
  check_flag(right, "right")
  nv_searchsorted(breaks, x, if (right) "left" else "right")
}

#' Sort by several keys, and partially
#'
#' `nv_lexsort()` gives the positions that sort by the first key, elements that are equal there by
#' the second one, and so on, as [order()]. `nv_partition()` puts the first `k` elements in sorted
#' order before all others, which keep their order.
#'
#' @param ... Keys of one shape: tensors, or R numbers or arrays.
#' @param x A tensor, or an R number or array.
#' @param k How many elements to sort, at most the extent of the dimension.
#' @param dim The dimension along which to sort, or its name; a negative one counts from the last;
#'   `NULL` for all elements in column-major order.
#' @param decreasing `TRUE` for the largest first; in `nv_lexsort()` one flag, or one for each key.
#' @return `nv_lexsort()`: positions from 1 on, a known `i32`; `nv_partition()`: a tensor of the
#'   dtype of `x`. The shape is that of the operands, or rank 1 for `dim = NULL`.
#' @section Errors: `joist_shape_error` for keys of different shapes, a dimension that does not
#'   exist, and a `k` above the number of elements; `joist_value_error` without keys, for invalid
#'   flags and a `k` that is not a whole number; `joist_dtype_error` for complex numbers.
#' @examples
#' nv_lexsort(nv_tensor(c(2, 1, 2)), nv_tensor(c(9L, 5L, 7L)))
#' nv_partition(nv_tensor(c(5, 4, 1, 3, 2)), 2)
#' @export
nv_lexsort <- function(..., dim = NULL, decreasing = FALSE) {
  keys <- list(...)
  if (length(keys) == 0L) stop_joist("joist_value_error", "nv_lexsort() needs a key")
  flags <- is.logical(decreasing) && !anyNA(decreasing)
  if (!flags || !length(decreasing) %of% c(1L, length(keys))) {
    stop_joist(
      "joist_value_error", "`decreasing` must be TRUE or FALSE, or one of these for each key"
    )
  }
  decreasing <- rep_len(decreasing, length(keys))
  keys <- lapply(keys, exact_beside, first_tensor(keys))
  if (length(unique(lapply(keys, shape))) > 1L) {
    stop_joist("joist_shape_error", "the keys of nv_lexsort() must have one shape")
  }
  lines <- lapply(keys, line_of, dim)
  at <- NULL
  for (k in rev(seq_along(keys))) {
    along <- lines[[k]]$dim
    key <- lines[[k]]$x
    own <- nv_argsort(if (is.null(at)) key else nv_take_along(key, at, along), along, decreasing[k])
    at <- if (is.null(at)) own else nv_take_along(at, own, along)
  }
  at
}

#' @rdname nv_lexsort
#' @export
nv_partition <- function(x, k, dim = NULL, decreasing = FALSE) {
  line <- line_of(as_operand(x), dim)
  first <- nv_top_k(line$x, k, line$dim, decreasing)
  few <- ndims(line$x) == 1L && length(line$x) < 1e4 # of many, sorting is faster
  if (few && k > 0 && .Call(joist_r_can_fuse, line$x)) {
    rest <- unname(line$x)[-as.vector(first$indices)]
    return(by_anvil(nv_concatenate(first$values, rest)))
  }
  by_anvil({
    taken <- beside(nv_fill(FALSE, shape(line$x), "bool"), line$x)
    taken <- nv_put_along(taken, first$indices, TRUE, line$dim)
    rest <- slice_along(nv_argsort(taken, line$dim), line$dim, 1, shape(line$x)[line$dim] - k)
    nv_concatenate(first$values, nv_take_along(line$x, rest, line$dim), dim = line$dim)
  })
}

#' Integrate samples
#'
#' `nv_trapz()` is the integral of the lines between samples of a function, along a dimension.
#'
#' @param y A tensor, or an R number or array: the samples.
#' @param x Where they were taken: a tensor of rank 1 with as many elements as the dimension, or one
#'   of the shape of `y`; `NULL` for the distance `dx`.
#' @param dx The distance of samples, a number.
#' @param dim The dimension, or its name.
#' @return A tensor without dimension `dim`, of the dtype of `y` if that is inexact and otherwise of
#'   the float that the promotion rules make of it; of the common dtype with `x`.
#' @section Errors: `joist_shape_error` for positions of another shape and a dimension that does not
#'   exist; `joist_value_error` for an invalid `dx`.
#' @examples
#' nv_trapz(nv_tensor(c(1, 2, 3)))
#' nv_trapz(nv_tensor(c(0, 1, 4, 9)), nv_tensor(c(0, 1, 2, 3)))
#' @export
nv_trapz <- function(y, x = NULL, dx = 1, dim = 1L) {
  y <- as_operand(y)
  type <- if (is_complex_dtype(y)) y else float_operand(none_of(y))
  y <- summed_in_double(y)
  dim <- dims_of(dim, y, "dim", single = TRUE)
  extents <- shape(y)
  n <- max(0L, extents[dim] - 1L)
  parts <- function(x) {
    list(slice_along(x, dim, min(2L, extents[dim]), n), slice_along(x, dim, 1L, n))
  }
  if (is.null(x)) {
    check_number(dx, "dx")
  } else {
    type <- nv_mul(none_of(type), float_operand(none_of(as_operand(x))))
    y <- computed_for(y, type)
    x <- exact_beside(x, y)
    if (ndims(x) == 1L) x <- nv_reshape(x, replace(rep(1L, length(extents)), dim, length(x)))
    if (ndims(x) != length(extents) || shape(x)[dim] != extents[dim]) {
      stop_joist("joist_shape_error", "`x` and `y` differ in their extent along dimension ", dim)
    }
    own <- if (is_inexact_dtype(x)) computed_for(x, type) else from_least(x, NULL)
    dx <- do.call(nv_sub, parts(nv_broadcast_to(own, extents)))
  }
  like(nv_reduce_sum(do.call(nv_add, parts(y)) * dx / 2, dim), nv_reduce_sum(none_of(type)))
}

# What sums, differences and products of neighbours are computed in: dtypes of less than 32 bits,
# integers and R numbers in double.
summed_in_double <- function(x) {
  wide <- is_tensor(x) && type_string(x) %of% c("f32", "f64", "c64", "c128")
  if (wide && !is_number(x)) x else in_double(x)
}

# The same, for a result of such a type: a difference in f32 would not be one of f64.
computed_for <- function(x, type) {
  if (format(dtype(type)) %of% c("f64", "c128")) in_double(x) else summed_in_double(x)
}
