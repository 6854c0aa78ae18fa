# R's group generics. One .Call each: the operation is looked up in the operation table.

# R looks for the method of an operator before that of the group, which is a tenth of a small
# operation: each has this one, too.
#' @export
#' @rawNamespace S3method("+", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("-", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("*", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("/", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("^", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("%%", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("%/%", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("==", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("!=", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("<", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method(">", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("<=", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method(">=", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("&", nv_tensor, Ops.nv_tensor)
#' @rawNamespace S3method("|", nv_tensor, Ops.nv_tensor)
Ops.nv_tensor <- function(e1, e2) {
  if (missing(e2)) {
    .Call(joist_r_operator1, .Generic, e1)
  } else {
    .Call(joist_r_operator, .Generic, e1, e2)
  }
}

# From R 4.3 on R asks which of two methods to take: that of tensors, which reads 64-bit integers of
# bit64, and says of others what to call first.
#' @rawNamespace if (getRversion() >= "4.3.0") S3method(chooseOpsMethod, nv_tensor)
chooseOpsMethod.nv_tensor <- function(x, y, mx, my, cl, reverse) { # nolint: object_name_linter.
  !is.data.frame(y)
}

# The functions of the group that have one argument and are one operation.
#' @rawNamespace S3method("abs", nv_tensor, math_function)
#' @rawNamespace S3method("sign", nv_tensor, math_function)
#' @rawNamespace S3method("sqrt", nv_tensor, math_function)
#' @rawNamespace S3method("floor", nv_tensor, math_function)
#' @rawNamespace S3method("ceiling", nv_tensor, math_function)
#' @rawNamespace S3method("exp", nv_tensor, math_function)
#' @rawNamespace S3method("expm1", nv_tensor, math_function)
#' @rawNamespace S3method("log1p", nv_tensor, math_function)
#' @rawNamespace S3method("log2", nv_tensor, math_function)
#' @rawNamespace S3method("log10", nv_tensor, math_function)
#' @rawNamespace S3method("cos", nv_tensor, math_function)
#' @rawNamespace S3method("sin", nv_tensor, math_function)
#' @rawNamespace S3method("tan", nv_tensor, math_function)
#' @rawNamespace S3method("cospi", nv_tensor, math_function)
#' @rawNamespace S3method("sinpi", nv_tensor, math_function)
#' @rawNamespace S3method("tanpi", nv_tensor, math_function)
#' @rawNamespace S3method("acos", nv_tensor, math_function)
#' @rawNamespace S3method("asin", nv_tensor, math_function)
#' @rawNamespace S3method("atan", nv_tensor, math_function)
#' @rawNamespace S3method("cosh", nv_tensor, math_function)
#' @rawNamespace S3method("sinh", nv_tensor, math_function)
#' @rawNamespace S3method("tanh", nv_tensor, math_function)
#' @rawNamespace S3method("acosh", nv_tensor, math_function)
#' @rawNamespace S3method("asinh", nv_tensor, math_function)
#' @rawNamespace S3method("atanh", nv_tensor, math_function)
#' @rawNamespace S3method("gamma", nv_tensor, math_function)
#' @rawNamespace S3method("lgamma", nv_tensor, math_function)
#' @rawNamespace S3method("digamma", nv_tensor, math_function)
math_function <- function(x) .Call(joist_r_operator1, .Generic, x)

#' @export
Math.nv_tensor <- function(x, ...) {
  if (...length() > 0L) {
    return(math_with_arguments(.Generic, x, ...))
  }
  if (startsWith(.Generic, "cum")) {
    return(scan_dim(.Generic, x, NULL, NULL))
  }
  switch(.Generic,
    signif = same_names(nv_signif(x), x),
    trigamma = same_names(nv_trigamma(x), x),
    .Call(joist_r_operator1, .Generic, x)
  )
}

# round(), signif() and log() have a second argument; trunc() ignores others.
math_with_arguments <- function(generic, x, ...) {
  if (generic %of% c("round", "signif")) {
    given <- lapply(list(...), function(part) if (is_tensor(part)) as.vector(part) else part)
    return(do.call(if (generic == "round") nv_round else nv_signif, c(list(x), given)))
  }
  if (generic == "trunc") {
    return(nv_trunc(x))
  }
  stop_joist("joist_value_error", generic, "() of a tensor takes no further arguments")
}

#' @export
log.nv_tensor <- function(x, base = exp(1)) {
  if (missing(base)) {
    return(nv_log(x))
  }
  # Exact for powers of the base, as R's.
  if (is.numeric(base) && !is.object(base) && length(base) == 1L && base %of% c(2, 10)) {
    return(if (base == 2) nv_log2(x) else nv_log10(x))
  }
  nv_log(x) / log(base)
}

#' @export
Complex.nv_tensor <- function(z) {
  if (.Generic == "Mod") nv_abs(z) else .Call(joist_r_operator1, .Generic, z)
}

summary_of_one <- function(op, x) {
  if (op == "sum" && is_chunked(x)) nv_reduce_sum(x) else .Call(joist_r_summary, op, x)
}

#' @export
Summary.nv_tensor <- function(..., na.rm = FALSE) {
  if (.Generic == "range" && "finite" %in% ...names()) {
    return(finite_range(list(...), na.rm))
  }
  if (!identical(na.rm, FALSE)) {
    return(summary_of_numbers(.Generic, list(...), na.rm))
  }
  if (...length() == 1L && .Generic != "range") {
    return(summary_of_one(.Generic, ..1))
  }
  check_no_dims(.Generic, if (.Generic == "range") "nv_range()" else "nv_reduce_sum()", ...)
  if (.Generic == "range") {
    one <- ...length() == 1L && is_chunked(..1)
    return(if (one) nv_range(..1) else both_ends(min(...), max(...)))
  }
  summary_of_several(.Generic, list(...))
}

both_ends <- function(low, high) {
  force(low)
  force(high)
  joined_as(low, nv_concatenate(low, high))
}

# What is joined of values of the dtype of `x`, which some rules do not join with itself.
joined_as <- function(x, expr) if (is_int64(x)) by_anvil(expr) else expr

summary_of_several <- function(generic, parts) {
  # As in base R, arguments without elements are ignored.
  empty <- vapply(parts, function(x) !is_tensor(x) && length(x) == 0L, NA)
  parts <- parts[!empty]
  first <- first_tensor(parts)
  # R numbers are reduced by R, and meet the tensor as one number, whose value is exact.
  plain <- vapply(parts, is_plain_numbers, NA)
  number <- if (any(plain)) list(summary_of_plain(generic, unlist(parts[plain])))
  tensors <- lapply(parts[!plain], function(x) {
    part <- summary_of_one(generic, x)
    # Of R's flags, these are R numbers in traced code, too.
    if (generic %of% c("sum", "prod") && is_own_number(x)) part <- as_r_number(part)
    if (is_tensor(x)) part else beside(part, first)
  })
  combine <- switch(generic,
    sum = nv_add,
    prod = nv_mul,
    min = nv_min,
    max = nv_max,
    any = nv_or,
    all = nv_and
  )
  out <- Reduce(combine, c(tensors, number))
  wide <- if (generic %of% c("sum", "prod")) {
    switch(dtype_kind(dtype(out)), float = "f64", complex = "c128")
  }
  dtypes <- vapply(c(tensors, list(out)), function(x) format(dtype(x)), "")
  if (is.null(wide) || all(dtypes == wide)) {
    return(out)
  }
  # Rounded once: neither each of them to its dtype, nor each of their sums.
  reduce <- if (generic == "sum") nv_reduce_sum else nv_reduce_prod
  like(Reduce(combine, c(lapply(parts[!plain], reduce, dtype = wide), number)), out)
}

is_plain_numbers <- function(x) (is.numeric(x) || is.logical(x)) && !is.object(x)

# A sum or product of R integers beyond the range of R's integers becomes an i64.
summary_of_plain <- function(generic, x) {
  if (generic %of% c("any", "all")) {
    return(do.call(generic, list(x != 0)))
  }
  value <- do.call(generic, list(if (is.integer(x)) as.double(x) else x))
  if (is.logical(x) && generic %of% c("min", "max")) {
    as.logical(value)
  } else if (is.double(x)) {
    value
  } else if (is.na(value) || abs(value) <= .Machine$integer.max) {
    as.integer(value)
  } else {
    nv_scalar(value, "i64")
  }
}

# Without what is missing or NaN: each tensor gives a scalar, R numbers are left out.
summary_of_numbers <- function(generic, parts, remove) {
  check_flag(remove, "na.rm")
  if (generic == "range") {
    ends <- lapply(c("min", "max"), summary_of_numbers, parts, remove)
    return(both_ends(ends[[1L]], ends[[2L]]))
  }
  nothing <- switch(generic,
    sum = ,
    any = 0,
    prod = ,
    all = 1,
    min = Inf,
    max = -Inf
  )
  parts <- lapply(parts, function(x) {
    if (!is_tensor(x)) {
      return(x[!is.na(x)])
    }
    if (is_chunked(x)) nan_to(nothing, x) else rest_of(generic, x)
  })
  parts <- Filter(function(x) is_tensor(x) || length(x) > 0L, parts)
  # The extreme of integers that are all missing is missing: of it only the dtype counts.
  gone <- vapply(parts, function(x) generic %of% c("min", "max") && is_gone(x), NA)
  if (!any(gone) || all(gone)) {
    return(do.call(generic, parts))
  }
  Reduce(function(x, y) nv_ifelse(TRUE, x, y), parts[gone], do.call(generic, parts[!gone]))
}

is_gone <- function(x) is_tensor(x) && has_elements(x) && !is_chunked(x) && is.na(x)

rest_of <- function(generic, x) {
  .Call(joist_r_operation, paste0("reduce_", generic), list(x), list(dims = NULL, na_rm = TRUE))
}

# `finite = TRUE` leaves out infinite values, too.
finite_range <- function(parts, remove) {
  check_flag(parts$finite, "finite")
  finite <- parts$finite
  parts$finite <- NULL
  if (finite) {
    parts <- lapply(parts, function(x) {
      if (!is_tensor(x)) x[is.finite(x)] else if (has_nan(x)) finite_or_nan(x) else x
    })
  }
  do.call(range, c(parts, list(na.rm = finite || remove)))
}

finite_or_nan <- function(x) nv_ifelse(nv_is_finite(x), without_mask(x), scalar_like(NaN, x))

#' @export
mean.nv_tensor <- function(x, ..., na.rm = FALSE) { # nolint: object_name_linter.
  if (...length() > 0L) {
    stop_joist("joist_value_error", "mean() of a tensor takes no further arguments; see nv_mean()")
  }
  means_of(x, na.rm, NULL)
}

#' @export
is.nan.nv_tensor <- function(x) nv_is_nan(x)

#' @export
is.finite.nv_tensor <- function(x) nv_is_finite(x)

#' @export
is.infinite.nv_tensor <- function(x) nv_is_infinite(x)

#' @export
is.na.nv_tensor <- function(x) as_array(nv_is_na(x))

#' @export
anyNA.nv_tensor <- function(x, recursive = FALSE) {
  if (is_traced(x) || !has_elements(x) || is_chunked(x)) {
    return(as.logical(nv_compute(nv_reduce_any(nv_is_na(x)))))
  }
  !is.null(mask_of(x)) || has_nan(x) && as_array(fused("any_nan", any_nan, x))
}

any_nan <- function(x) nv_reduce_any(nv_is_nan(x))

#' Compare tensors
#'
#' `all.equal()` compares the dtypes, ambiguities and shapes of two tensors, which must be the same,
#' and their values, which may differ by a tolerance.
#'
#' @param target,current Tensors.
#' @param tolerance The largest relative difference that counts as equal; `NULL` for the square root
#'   of the machine epsilon of the dtype.
#' @param ... Passed on to [all.equal()] for the values.
#' @return `TRUE`, or a character vector that says what differs: dtype, ambiguity, shape or
#'   values. A `current` that is not a tensor differs.
#' @examples
#' all.equal(nv_tensor(1:3, "f32"), nv_tensor(1:3, "f32") + 1e-6)
#' all.equal(nv_tensor(1:3, "f32"), nv_tensor(1:3, "f64"))
#' @method all.equal nv_tensor
#' @export
all.equal.nv_tensor <- function(target, current, tolerance = NULL, ...) {
  if (!inherits(current, "nv_tensor")) {
    return(paste("target is a tensor, current is", class(current)[1L]))
  }
  differences <- character()
  if (dtype(target) != dtype(current)) {
    both <- paste("dtypes:", format(dtype(target)), "and", format(dtype(current)))
    differences <- c(differences, both)
  }
  if (ambiguous(target) != ambiguous(current)) {
    differences <- c(differences, "one dtype is ambiguous, the other is known")
  }
  if (!identical(shape(target), shape(current))) {
    return(c(differences, paste("shapes:", shape_text(target), "and", shape_text(current))))
  }
  if (is.null(tolerance)) {
    tolerance <- if (is_inexact_dtype(target)) sqrt(dtype_facts(target)$eps) else 2^-26
  }
  complex <- is_complex_dtype(target) || is_complex_dtype(current)
  as <- if (complex) "complex" else "double"
  values <- all.equal(as_array(target, as), as_array(current, as), tolerance = tolerance, ...)
  if (isTRUE(values)) values <- int64_difference(target, current, tolerance)
  if (!isTRUE(values)) differences <- c(differences, values)
  if (length(differences) == 0L) TRUE else differences
}

# The difference of 64-bit integers that are equal as doubles, as all.equal() words it; TRUE where
# it is within the tolerance.
int64_difference <- function(target, current, tolerance) {
  if (!is_int64(target) || !is_int64(current)) {
    return(TRUE)
  }
  distance <- as.vector(nv_abs(exact_difference(target, current)))
  apart <- !is.na(distance) & distance > 0
  mean <- sum(distance[apart]) / sum(abs(as_array(target, "double")[apart]))
  if (any(apart) && mean > tolerance) paste("Mean relative difference:", format(mean)) else TRUE
}
