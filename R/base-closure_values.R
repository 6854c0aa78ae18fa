# What the methods in base-closures.R compute.

without_nan <- function(x, remove) {
  check_flag(remove, "na.rm")
  if (remove) nan_to(0, x) else x
}

nan_to <- function(value, x) {
  if (has_nan(x)) nv_ifelse(nv_is_nan(x), scalar_like(value, x), x) else x
}

sums_of <- function(x, remove, dims, sums) sums(without_nan(x, remove), dims)

means_of <- function(x, remove, dims, means, sums) {
  check_flag(remove, "na.rm")
  if (!remove || !has_nan(x)) {
    return(means(x, dims))
  }
  mean <- sums(in_double(without_nan(x, TRUE)), dims) / sums(!nv_is_nan(x), dims, dtype = "f64")
  type <- means(nv_aval(dtype(x), shape(x), ambiguous(x)), dims)
  nv_convert(mean, dtype(type), ambiguous(type))
}

positions_of <- function(x, per_dimension, names) {
  check_elements(x, "which()", "nv_ifelse() with a mask")
  at <- as_array(nv_which(x))
  if (per_dimension && ndims(x) > 1L) arrayInd(at, shape(x), useNames = names) else at
}

# The first extreme that is not NaN, or 0.
first_extreme <- function(x, position) {
  if (!has_nan(x) || length(x) == 0L) {
    return(position(x))
  }
  largest <- identical(position, nv_argmax)
  fused(if (largest) "first_largest" else "first_smallest", extreme_number, x, largest)
}

extreme_number <- function(x, largest) {
  number <- !nv_is_nan(x)
  numbers <- nv_ifelse(number, x, if (largest) -Inf else Inf)
  found <- number & numbers == (if (largest) nv_reduce_max else nv_reduce_min)(numbers)
  nv_ifelse(nv_reduce_any(found), nv_argmax(found), 0L)
}

# R numbers that are doubles, and what stands for such ones while jit() traces.
is_double <- function(x) is.double(x) || is_number(x) && is_float_dtype(x)

# Whether one of two ambiguous f64 takes the dtype of what it meets, as R numbers do.
double_yields <- function() {
  guess <- nv_aval("f64", 1L, TRUE)
  dtype(nv_aval("f32", 1L) * (guess * guess)) == "f32"
}

# As exact as they are: base R would give them back, and nothing was computed with them yet.
in_full <- function(x) {
  if (is_number(x)) nv_convert(x, "f64", TRUE) else nv_tensor(x, "f64", part_shape(x), TRUE)
}

choose_by <- function(test, yes, no) {
  if (has_elements(test) && !is_tensor(yes) && !is_tensor(no)) {
    truth <- as.logical(test)
    if (ndims(test) > 1L) dim(truth) <- shape(test)
    return(base::ifelse(truth, yes, no))
  }
  chosen <- if (is_double(yes) && is_double(no) && double_yields()) {
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
  chosen
}

# The names are base R's.
interval_of <- function(x, vec, rightmost.closed = FALSE, all.inside = FALSE, # nolint
                        left.open = FALSE, checkSorted = TRUE) { # nolint
  n <- length(vec)
  at <- nv_searchsorted(vec, x, if (left.open) "left" else "right")
  if (n == 0L) {
    return(at)
  }
  if (all.inside) {
    nv_ifelse(at == 0L, 1L, nv_ifelse(at == n, n - 1L, at))
  } else if (rightmost.closed) {
    nv_ifelse(nv_eq(x, vec[[if (left.open) 1L else n]]), if (left.open) 1L else n - 1L, at)
  } else {
    at
  }
}

# Base R's functions of bits read whole numbers in double as integers.
whole <- function(x) if (is.double(x) && is_whole(x)) as.integer(x) else x

# As in base R, each NaN is a run of its own.
runs_of <- function(x) {
  if (ndims(x) != 1L) {
    stop_joist("joist_shape_error", "rle() of a tensor of rank ", ndims(x), "; nv_flatten() it")
  }
  check_elements(x, "rle()")
  local_promotion("anvil") # all is of one dtype, of which some rule sets know nothing
  n <- length(x)
  last <- if (n > 0L) c(which(as.vector(x[-1L] != x[-n])), n) else integer()
  structure(list(lengths = diff(c(0L, last)), values = x[last]), class = "rle")
}

# A scalar of its type without data.
none_of <- function(x) {
  if (!is.atomic(x)) x <- as_operand(x)
  if (is_tensor(x)) nv_aval(dtype(x), integer(), ambiguous(x)) else x[0L]
}

# Base R's diag() of one number is the identity matrix of that size.
diagonal_of <- function(x, alone) {
  if (!alone || length(x) == 1L) {
    stop_joist("joist_value_error", "diag() of a tensor gives its diagonal, or a matrix with it; ",
      "see nv_diag() and nv_eye()")
  }
  nv_diag(x)
}
