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
    f <- list(sum = nv_segment_sum, mean = nv_segment_mean, count = nv_segment_count)[[what]]
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
    sum = none, count = nv_aval("i64", shape(none)),
    mean = like(in_double(none), nv_mean(none_of(none))), like_mean(in_double(none), none)
  )
  out <- .Call(joist_r_blank, type)
  run_program(program, retries = 2L, take = function(which, start, block) {
    out <<- .Call(joist_r_place, out, as.integer(start), like(block, type), FALSE)
  })
  out
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
    wrong <- as.vector(nv_compute(ids < 1L | ids > count))
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
  list(
    block = function(extents, leaves, start) {
      rows <- start[groups$dim] + seq_len(extents[groups$dim]) - 1L
      part_of_groups(block(extents, leaves), groups, grouped_as(groups$ids[rows], groups$count))
    },
    combine = switch(groups$what, var = , sd = joined_groups, function(a, b) Map(`+`, a, b))
  )
}

part_of_groups <- function(x, groups, own) {
  of <- function(f, x) f(x, own, na_rm = groups$na_rm, dim = groups$dim)
  n <- if (groups$na_rm || groups$what == "count") {
    of(nv_segment_count, x)
  } else {
    nv_tensor(own$sizes, "i64", replace(rep(1L, ndims(x)), groups$dim, groups$count))
  }
  n <- nv_convert(n, "f64")
  if (groups$what == "count") {
    return(list(n = n))
  }
  if (groups$what == "mean" && is_int64(x)) {
    return(c(lapply(integer_halves(x), function(half) of(nv_segment_sum, half)), list(n = n)))
  }
  if (groups$what == "sum" || groups$what == "mean") {
    wide <- groups$what == "mean" || is_inexact(x)
    return(list(sum = of(nv_segment_sum, if (wide) in_double(x) else x), n = n))
  }
  if (is_int64(x)) {
    of_all <- function() by_group(x, own, NULL, FALSE, groups$dim, TRUE, segment_moments)
    return(with_promotion("anvil", of_all()))
  }
  empty <- n == nv_scalar(0, "f64")
  none <- function(part) without_mask(nv_ifelse(empty, nv_scalar(0, "f64"), part))
  x <- in_double(x)
  squares <- nv_segment_var(x, own, na_rm = groups$na_rm, dim = groups$dim, correction = 0) * n
  list(mean = none(of(nv_segment_mean, x)), squares = none(squares), n = n)
}

# Parts without elements change nothing.
joined_groups <- function(a, b) {
  if (!is.null(a$first)) {
    return(with_promotion("anvil", joined_int64_moments(a, b)))
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
  if (groups$what == "sum" || groups$what == "count") {
    return(parts[[1L]])
  }
  if (groups$what == "mean") {
    return(if (is.null(parts$high)) parts$sum / parts$n else with_promotion("anvil", {
      mean_of_sum(pair_of_sums(parts[c("high", "low")]), parts$n)
    }))
  }
  if (!is.null(parts$first)) {
    root <- groups$what == "sd"
    return(with_promotion("anvil", by_freedom(parts$squares, parts$n, groups$correction, root)))
  }
  rest <- nv_max(parts$n - nv_scalar(groups$correction, "f64"), nv_scalar(0, "f64"))
  if (groups$what == "sd") nv_sqrt(parts$squares / rest) else parts$squares / rest
}
