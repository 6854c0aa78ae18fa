# What the methods in tensor-base_closures.R compute.

without_nan <- function(x, remove) {
  check_flag(remove, "na.rm")
  if (remove) nan_to(0, x) else x
}

nan_to <- function(value, x) {
  if (may_be_na(x)) nv_ifelse(nv_is_na(x), scalar_like(value, x), without_mask(x)) else x
}

sums_of <- function(x, remove, over) {
  check_flag(remove, "na.rm")
  if (!is_chunked(x)) {
    return(nv_reduce_sum(x, over, na_rm = remove))
  }
  nv_reduce_sum(without_nan(x, remove), over)
}

means_of <- function(x, remove, over) {
  check_flag(remove, "na.rm")
  if (!remove || !may_be_na(x)) {
    return(nv_mean(x, over))
  }
  if (!is_chunked(x)) {
    return(nv_mean(x, over, na_rm = TRUE))
  }
  counts <- nv_reduce_sum(!nv_is_nan(x), over, dtype = "f64")
  mean <- nv_reduce_sum(in_double(without_nan(x, TRUE)), over) / counts
  type <- nv_mean(abstract_of(x), over)
  nv_convert(mean, dtype(type), ambiguous(type))
}

# The dimensions that are rows, the first ones: `colSums()` and its like reduce over them, and
# `rowSums()` over the others.
row_dims <- function(x, dims) {
  rank <- length(part_shape(x))
  if (rank < 2L) {
    stop_joist("joist_shape_error", "rows and columns need rank 2 or more, not ", rank)
  }
  check_dims(dims, "dims", rank - 1L, single = TRUE)
  seq_len(dims)
}

# The position of the first extreme that is not NaN: as in base R, with a name, and empty if there
# is none. If the elements are not known yet, 0 stands for none.
first_extreme <- function(x, name) {
  known <- has_elements(x) && !is_chunked(x)
  if (known && length(x) == 0L) {
    return(integer())
  }
  # Of elements without a mask, the position is that of a NaN only if there is one.
  floats <- has_nan(x)
  at <- if (!floats || known && is.null(mask_of(x))) position_of(name, x, NULL, TRUE)
  if (known) at <- as.vector(at)
  if (floats && (is.null(at) || is.nan(.subset2(x, at)))) {
    largest <- name == "argmax"
    at <- fused(if (largest) "first_largest" else "first_smallest", extreme_number, x, largest)
  }
  if (!known) {
    if (!floats) at <- nv_replace_na(at, 0L)
    return(if (is_traced(x)) traced_position(at, x) else at)
  }
  at <- as.vector(at)
  named_position(at[!is.na(at) & at > 0L], names(x))
}

named_position <- function(at, names) {
  if (length(at) > 0L && !is.null(names)) names(at) <- names[at]
  at
}

# One of R's own numbers, of which only values decide the name.
traced_position <- function(at, x) {
  if (is.null(attr(x, "names", TRUE))) {
    return(as_r_number(at))
  }
  condition <- trace_condition(asking_call(), paste(
    "the name of a position depends on values; leave names out with unname()"
  ))
  at <- nv_reshape(at, 1L)
  as_r_number(named_like(at, .Call(joist_r_with_undecided, abstract_of(at), condition)))
}

extreme_number <- function(x, largest) {
  facts <- dtype_facts(x) # some dtypes of a byte have no infinity
  if (facts$bits <= 8L) x <- nv_convert(x, facts$compute)
  number <- !nv_is_na(x)
  numbers <- nv_ifelse(number, without_mask(x), if (largest) -Inf else Inf)
  found <- number & numbers == (if (largest) nv_reduce_max else nv_reduce_min)(numbers)
  nv_ifelse(nv_reduce_any(found), nv_argmax(found), 0L)
}

# R numbers that are doubles, and what stands for such ones while jit() traces.
is_double <- function(x) {
  is.double(x) && !is.object(x) || (is_number(x) || is_computed(x)) && is_float_dtype(x)
}

# Whether one of two ambiguous f64 takes the dtype of what it meets, as R numbers do.
double_yields <- function() {
  rules <- list(session()$rules, getOption("joist.promotion"))
  if (!is.null(yields$known) && identical(yields$rules, rules)) {
    return(yields$known)
  }
  number <- nv_aval("f64", 1L, TRUE)
  yields$rules <- rules
  yields$known <- dtype(nv_aval("f32", 1L) * (number * number)) == "f32"
  yields$known
}

# What double_yields() gave, and for which rules.
yields <- new.env(parent = emptyenv())

# R values at full precision, as base R has them.
in_full <- function(x) {
  if (!is.object(x)) {
    nv_tensor(x, "f64", part_shape(x), TRUE)
  } else if (is_computed(x)) {
    full <- .Call(joist_r_trace_in_full, without_mask(x))
    if (has_mask(x)) with_mask(full, mask_of(x)) else full
  } else if (is_number(x)) {
    nv_convert(x, "f64", TRUE)
  } else {
    nv_tensor(x, "f64", part_shape(x), TRUE)
  }
}

# Whether one of two R numbers is a double and the other none that is complex.
are_doubles <- function(x, y) {
  (is_double(x) || is_double(y)) && !is.complex(x) && !is.complex(y) && double_yields()
}

choose_by <- function(test, yes, no) {
  bits <- inherits(yes, "integer64") || inherits(no, "integer64") # base::ifelse() drops the class
  if (has_elements(test) && !is_tensor(yes) && !is_tensor(no) && !bits) {
    truth <- as.logical(test)
    attributes(truth) <- attributes(test)[c("names", "dim", "dimnames")]
    return(base::ifelse(truth, yes, no))
  }
  own <- is_own_number(yes) && is_own_number(no)
  chosen <- if (own && are_doubles(yes, no)) {
    nv_ifelse(test, in_full(yes), in_full(no))
  } else {
    nv_ifelse(test, yes, no)
  }
  if (!identical(shape(chosen), shape(test))) {
    stop_joist(
      "joist_shape_error", "`test` has shape ", shape_text(test), ", but `yes` and `no` together ",
      shape_text(chosen), "; nv_ifelse() gives a tensor of that shape"
    )
  }
  if (own) as_numbers(chosen, max(mixed(yes), mixed(no))) else chosen
}

# Base R's functions of bits read whole numbers in double as integers.
whole <- function(x) if (is.double(x) && is_whole(x)) as.integer(x) else x

# As in base R, each NA and each NaN is a separate run.
runs_of <- function(x) {
  if (ndims(x) != 1L) {
    stop_joist("joist_shape_error", "rle() of a tensor of rank ", ndims(x), "; nv_flatten() it")
  }
  check_elements(x, "rle()")
  local_promotion("anvil") # all is of one dtype, of which some rule sets know nothing
  n <- length(x)
  differs <- if (n > 0L) as.vector(x[-1L] != x[-n])
  last <- if (n > 0L) c(which(differs | is.na(differs)), n) else integer()
  structure(list(lengths = diff(c(0L, last)), values = x[last]), class = "rle")
}

# A scalar of its type without data.
none_of <- function(x) {
  if (!is.atomic(x)) x <- as_operand(x)
  if (is_tensor(x)) .Call(joist_r_type_alone, x) else x[0L]
}

# Base R's diag() of one number is the identity matrix of that size.
diagonal_of <- function(x, alone, names) {
  if (!alone || length(x) == 1L) {
    stop_joist("joist_value_error", "diag() of a tensor gives its diagonal, or a matrix with it; ",
      "see nv_diag() and nv_eye()")
  }
  if (isFALSE(names)) unname(nv_diag(x)) else nv_diag(x)
}

# As base R, with the attributes of the first argument where it is not repeated.
extremes_of <- function(parts, remove, larger, of_vectors) {
  if (is.null(first_tensor(parts))) {
    return(do.call(of_vectors, c(parts, list(na.rm = remove))))
  }
  check_flag(remove, "na.rm")
  parts <- unname(parts)
  if (is_tracing() && all(vapply(parts, is_own_number, NA))) {
    how <- max(vapply(parts, mixed, 0L))
    return(as_numbers(largest_of(lapply(parts, carried_number), remove, larger), how))
  }
  largest_of(parts, remove, larger)
}

largest_of <- function(parts, remove, larger) {
  counts <- lengths(parts)
  n <- if (any(counts == 0)) 0 else max(counts)
  first <- parts[[1L]]
  alike <- all(counts == n)
  for (part in parts) alike <- alike && is.null(dim(part))
  if (!alike) parts <- parts_alike(parts, counts, n)
  either <- if (remove) function(a, b) number_of(a, b, larger) else larger
  out <- parts[[1L]]
  for (part in parts[-1L]) out <- either(out, part)
  extents <- if (counts[1L] == n) part_shape(first) else n
  if (!identical(as.integer(extents), shape(out)) && prod(extents) == n) {
    out <- nv_reshape(out, extents)
  }
  if (inherits(out, "nv_aval") || is_chunked(out)) {
    return(out)
  }
  named <- if (ndims(out) > 1L) "dimnames" else "names"
  wanted <- if (counts[1L] == n) attr(first, named, TRUE)
  if (!are_same(attr(out, named, TRUE), wanted)) attr(out, named) <- wanted
  out
}

parts_alike <- function(parts, counts, n) {
  if (n > 0 && any(n %% counts > 0)) warning("an argument will be fractionally recycled")
  shapes <- lapply(parts[counts > 1], part_shape)
  same <- all(counts == 1 | counts == n)
  if (same && all(vapply(shapes[-1L], identical, NA, shapes[[1L]]))) {
    return(parts)
  }
  lapply(parts, repeated, n)
}

repeated <- function(part, n) {
  if (is_tensor(part)) {
    return(rep(nv_flatten(part), length.out = n))
  }
  dim(part) <- NULL
  rep(part, length.out = n)
}

# The other operand where one is missing or NaN.
number_of <- function(a, b, larger) {
  nv_ifelse(nv_is_na(a), b, nv_ifelse(nv_is_na(b), a, larger(a, b)))
}

rank_of <- function(x, na.last, ties.method) { # nolint: object_name_linter.
  if (!identical(na.last, "keep")) check_na_last(na.last, ", or \"keep\"")
  keys <- xtfrm(x)
  names(keys) <- names(x)
  base::rank(keys, na.last, ties.method)
}

# In the common dtype of x and what `f` gives for its groups, as in base R.
averages_of <- function(x, groups, f) {
  groups <- if (length(groups) > 0L) do.call(interaction, c(groups, drop = TRUE))
  values <- if (is.null(groups)) list(f(x)) else unname(lapply(split(x, groups), f))
  if (length(values) == 0L) {
    return(x)
  }
  if (length(x) > 0L) x <- as_filled(x, if (is.null(groups)) values[[1L]] else do.call(c, values))
  if (is.null(groups)) x[] <- values[[1L]] else split(x, groups) <- values
  x
}

# stats asks for the address of a vector before each element that it reads.
cases_without_na <- function(parts) {
  shown <- function(x) {
    if (is_tensor(x)) {
      missing <- is.na(x)
      missing[missing] <- NA
      return(missing)
    }
    if (is.list(x)) x[] <- lapply(x, shown)
    x
  }
  one <- length(parts) == 1L && is_tensor(parts[[1L]]) && is.null(dim(parts[[1L]]))
  if (one) unname(!is.na(parts[[1L]])) else do.call(stats::complete.cases, lapply(parts, shown))
}
