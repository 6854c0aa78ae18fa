# Functions of groups along a dimension of chunked tensors, in one pass: each block gives the sums
# of its groups, or their moments, which are combined in the tree of reductions.

chunked_groups <- function(what, x, ids, count, na_rm, dim, correction = 1) {
  check_flag(na_rm, "na_rm")
  dim <- dims_of(dim, x, "dim", single = TRUE)
  groups <- groups_of_slices(ids, count, shape(x)[dim])
  kept <- new_kept()
  program <- last_program(x, 2L, kept)
  if (is_tensor(program) || program$role != "each") {
    whole <- if (is_tensor(program)) program else computed(program, 2L, kept)[[1L]]
    groups <- grouped_as(groups$ids, groups$count)
    f <- list(
      sum = nv_segment_sum, prod = nv_segment_prod, min = nv_segment_min, max = nv_segment_max,
      mean = nv_segment_mean, count = nv_segment_count
    )[[what]]
    if (is.null(f)) f <- function(...) nv_segment_var(..., correction = correction)
    result <- f(whole, groups, na_rm = na_rm, dim = dim)
    return(if (what == "sd") nv_sqrt(result) else result)
  }
  groups <- c(groups, list(
    dim = dim, what = what, correction = correction, na_rm = na_rm && is_inexact(x)
  ))
  program$kept <- kept
  program$role <- "fold"
  program$inner <- dim
  program$outer <- setdiff(seq_along(program$extents), dim)
  program$groups <- groups
  program$lasts <- list(list(op = "groups", drop = FALSE))
  none <- nv_aval(dtype(x), replace(shape(x), dim, groups$count), ambiguous(x))
  type <- switch(what,
    sum = , min = , max = none, count = nv_aval("i64", shape(none)),
    prod = like(none, nv_cumprod(none_of(none))),
    mean = like(in_double(none), nv_mean(none_of(none))), like_mean(in_double(none), none)
  )
  out <- .Call(joist_r_blank, type)
  run_program(program, retries = 2L, take = function(which, start, block) {
    made <- if (is_integer_dtype(type)) {
      converted_into(block, dtype(type), ambiguous(type))
    } else {
      like(block, type)
    }
    out <<- .Call(joist_r_place, out, as.integer(start), made, FALSE)
  })
  if (!what %in% c("min", "max")) {
    return(out)
  }
  # Extremes of no elements are missing, NaN where these were left out.
  if (groups$na_rm) {
    return(nv_mask(out, nv_is_nan(out)))
  }
  empty <- tabulate(groups$ids, groups$count) == 0L
  along <- replace(rep(1L, ndims(x)), dim, groups$count)
  if (any(empty)) nv_mask(out, nv_tensor(empty, "bool", along)) else out
}

is_inexact <- function(x) is_float_dtype(x) || is_complex_dtype(x)

# The number of the group of each slice, an R integer vector, and how many there are.
groups_of_slices <- function(ids, count, slices) {
  if (inherits(ids, "joist_groups")) {
    count <- ids$count
    ids <- ids$ids
  } else {
    check_whole(count, "count")
    ids <- as_positions(ids, "groups")
    wrong <- by_anvil(as.vector(nv_compute(ids < 1L | ids > count)))
    if (anyNA(wrong) || any(wrong)) {
      stop_joist("joist_shape_error", "groups that are missing or not from 1 to ", count)
    }
  }
  if (length(ids) != slices) {
    stop_joist("joist_shape_error", count_of(length(ids), "group"), " for ", slices, " slices")
  }
  list(ids = as.integer(as.vector(ids)), count = count)
}

grouped_as <- function(ids, count) {
  sizes <- tabulate(ids, count)
  structure(list(ids = nv_tensor(ids, "i32"), count = count, sizes = sizes), class = "joist_groups")
}

# What computes the parts of a block, and what puts parts together.
group_functions <- function(program) {
  groups <- program$groups
  each <- program
  each$role <- "each"
  block <- block_function(each)
  combine <- switch(groups$what,
    var = , sd = joined_groups, min = joined_extremes(nv_min), max = joined_extremes(nv_max),
    prod = function(a, b) list(a[[1L]] * b[[1L]]), function(a, b) Map(`+`, a, b)
  )
  list(
    block = function(extents, leaves, start) {
      rows <- start[groups$dim] + seq_len(extents[groups$dim]) - 1L
      x <- block(extents, leaves)
      by_anvil(part_of_groups(x, groups, grouped_as(groups$ids[rows], groups$count)))
    },
    combine = function(a, b) by_anvil(combine(a, b))
  )
}

part_of_groups <- function(x, groups, own) {
  of <- function(f, x) f(x, own, na_rm = groups$na_rm, dim = groups$dim)
  if (groups$what == "prod") {
    return(list(of(nv_segment_prod, if (is_inexact(x)) in_double(x) else x)))
  }
  n <- if (groups$na_rm || groups$what == "count") {
    of(nv_segment_count, x)
  } else {
    nv_tensor(own$sizes, "i64", replace(rep(1L, ndims(x)), groups$dim, groups$count))
  }
  n <- nv_convert(n, "f64")
  if (groups$what == "count") {
    return(list(n = n))
  }
  empty <- n == nv_scalar(0, "f64")
  none <- function(part) without_mask(nv_ifelse(empty, scalar_like(0, part), part))
  if (groups$what %in% c("min", "max")) {
    found <- of(if (groups$what == "min") nv_segment_min else nv_segment_max, x)
    return(list(x = none(found), n = n))
  }
  if (groups$what == "mean" && is_int64(x)) {
    return(c(lapply(integer_halves(x), function(half) of(nv_segment_sum, half)), list(n = n)))
  }
  if (groups$what == "sum" || groups$what == "mean") {
    return(list(sum = of(nv_segment_sum, terms_of_sum(x, groups$what == "mean")), n = n))
  }
  if (is_int64(x)) {
    return(by_group(x, own, NULL, FALSE, groups$dim, TRUE, segment_moments))
  }
  x <- in_double(x)
  squares <- nv_segment_var(x, own, na_rm = groups$na_rm, dim = groups$dim, correction = 0) * n
  list(mean = none(of(nv_segment_mean, x)), squares = none(squares), n = n)
}

# Sums of floats are in double, and those of narrow integers exact, until all are put together.
terms_of_sum <- function(x, in_mean) {
  if (in_mean || is_inexact(x)) {
    return(in_double(x))
  }
  if (is_integer_dtype(x) && !is_int64(x)) nv_convert(x, "i64", ambiguous(x)) else x
}

joined_extremes <- function(f) {
  function(a, b) {
    none <- nv_scalar(0, "f64")
    list(x = nv_ifelse(a$n == none, b$x, nv_ifelse(b$n == none, a$x, f(a$x, b$x))), n = a$n + b$n)
  }
}

# Parts without elements change nothing.
joined_groups <- function(a, b) {
  if (!is.null(a$first)) {
    return(joined_int64_moments(a, b))
  }
  n <- nv_max(a$n + b$n, nv_scalar(1, "f64"))
  apart <- b$mean - a$mean
  share <- b$n / n
  list(
    mean = a$mean + apart * share,
    squares = a$squares + b$squares + square_size(apart) * (a$n * share), n = a$n + b$n
  )
}

result_of_groups <- function(groups, parts) {
  if (groups$what %in% c("sum", "prod", "min", "max", "count")) {
    none <- if (groups$na_rm && !is.null(parts$x)) parts$n == nv_scalar(0, "f64")
    return(if (is.null(none)) parts[[1L]] else nv_ifelse(none, scalar_like(NaN, parts$x), parts$x))
  }
  if (groups$what == "mean") {
    if (is.null(parts$high)) {
      return(parts$sum / parts$n)
    }
    return(mean_of_sum(pair_of_sums(parts[c("high", "low")]), parts$n))
  }
  if (!is.null(parts$first)) {
    root <- groups$what == "sd"
    return(by_freedom(parts$squares, parts$n, groups$correction, root))
  }
  rest <- nv_max(parts$n - nv_scalar(groups$correction, "f64"), nv_scalar(0, "f64"))
  if (groups$what == "sd") nv_sqrt(parts$squares / rest) else parts$squares / rest
}
