#' Make tensors
#'
#' `nv_tensor()` makes a tensor of an R vector or array: a typed n-dimensional array in column-major
#' order. Its dtype is *known* unless `ambiguous = TRUE` says that it is only a guess, like that of
#' an R literal.
#'
#' Making a tensor never changes a value silently: a fraction for an integer dtype and a value out
#' of range are errors (but a float dtype rounds to its precision), and `NA` is a missing value.
#' [nv_convert()] is the explicit cast. Without `dtype`, the default of the promotion rules for the
#' kind of `x` is taken (under anvil: logical `bool`, integer `i32`, double `f32`, complex `c64`; a
#' whole number up to 2^53 that `f32` rounds is a warning of class `joist_rounding_warning`); raw is
#' `ui8`, `bit64::integer64` is `i64` and `float::float32` is `f32`. For `dtype` `i64` or `ui64`,
#' `x` may be strings, as R's numbers cannot hold all whole numbers beyond 2^53. R may have rounded
#' a double of that size when it read it, from code or from a file: where it becomes a 64-bit
#' integer and has more than 48 significant bits, a warning of class `joist_rounding_warning` says
#' so (`with_promotion(NULL, ..., on = c(loss = "ok"))` allows it).
#'
#' @param x A logical, integer, double, complex, raw, integer64 or float32 vector or
#'   array, a tensor, or an array of [Python][python]; for `i64` and `ui64` also character, with
#'   decimal digits or, after `0x`, hexadecimal ones.
#' @param dtype A dtype or its name; `NULL` for the default of the promotion rules.
#' @param shape An integer vector of extents; `NULL` for the dimensions of `x`, or its
#'   length. `integer()` is a scalar.
#' @param ambiguous `TRUE` if the dtype is only a guess.
#' @param device Where the tensor is to be, see [nv_device()]; `NULL` for the CPU, or where `x`
#'   is.
#' @param na What `NA` becomes: `"missing"` for a missing value (see [nv_mask()]), `"nan"` for NaN,
#'   which only float and complex dtypes have, or `"error"`.
#' @param value One value, of the types that `x` can have.
#' @param n Number of rows and columns.
#' @param dim The dimension along which the numbers grow.
#' @param start The first number.
#' @return An `nv_tensor` of dtype `dtype`, or of the default one (known unless `ambiguous`
#'   says otherwise). `nv_scalar()` has rank 0; `nv_fill()` repeats `value`; `nv_iota()` counts
#'   along a dimension; `nv_eye()` is an identity matrix.
#' @section NA: Every `NA` of R (`NA`, `NA_integer_`, `NA_real_`, of `integer64` and `float32`, and
#'   of text) is a missing value of the tensor, in every dtype, and comes out as `NA` again: see
#'   [nv_mask()]. NaN stays NaN, which only float and complex dtypes have.
#' @section Errors: `joist_value_error` for values that cannot be represented (with value, position
#'   and dtype), for `NA` with `na = "error"`, and for factors, dates, lists and, unless `dtype` is
#'   `i64` or `ui64`, strings; `joist_shape_error` when `x` does not fill `shape`;
#'   `joist_dtype_error` for an unknown dtype.
#' @examples
#' nv_tensor(matrix(1:6, 2), "i16")
#' nv_scalar(pi, "f64")
#' nv_fill(0, c(2, 2))
#' nv_iota(1, "i32", shape = c(3, 2))
#' nv_eye(2)
#' nv_scalar("0xcbf29ce484222325", "ui64")
#' try(nv_tensor(c(1.5, 2), "i32"))
#' @export
nv_tensor <- function(x, dtype = NULL, shape = NULL, ambiguous = NULL, device = NULL,
                      na = "missing") {
  if (!is.null(device)) device <- nv_device(device)
  exported <- is.environment(x) && is_python(x)
  if (exported) x <- tensor_of_python(x, na)
  # An R number that jit() traces.
  if (is.object(x) && is_computed(x)) {
    x <- nv_convert(x, if (is.null(dtype)) dtype(x) else dtype, isTRUE(ambiguous))
  }
  made <- .Call(joist_r_make, x, dtype, shape, ambiguous, na, NULL)
  if (na != "missing" && (exported || is_number(x))) made <- without_na(made, na)
  if (is.null(device)) made else nv_to(made, device)
}

# What was made of an R number among the arguments that jit() traces, as `na` says.
without_na <- function(x, na) {
  if (is.null(mask_of(x))) {
    return(x)
  }
  if (na == "error" || !has_nan(x)) {
    stop_joist(
      "joist_value_error", "NA among what is to be ", type_name(x), "; replace it first, or take ",
      "na = \"missing\""
    )
  }
  nv_ifelse(mask_of(x), scalar_like(NaN, x), without_mask(x))
}

#' @rdname nv_tensor
#' @export
nv_scalar <- function(x, dtype = NULL, ambiguous = NULL, device = NULL, na = "missing") {
  if (is.null(device) && !is.object(x) && !is.environment(x)) {
    return(.Call(joist_r_make, x, dtype, integer(), ambiguous, na, NULL))
  }
  nv_tensor(x, dtype, integer(), ambiguous, device, na)
}

#' @rdname nv_tensor
#' @export
nv_fill <- function(value, shape, dtype = NULL, ambiguous = NULL, device = NULL) {
  if (length(value) != 1L) {
    stop_joist(
      "joist_shape_error", "`value` must be one value, which nv_fill() repeats, not ",
      length(value), "; make a tensor of several with nv_tensor(x, shape = )"
    )
  }
  nv_broadcast_to(nv_scalar(value, dtype, ambiguous, device), shape)
}

#' @rdname nv_tensor
#' @export
nv_iota <- function(dim, dtype, shape, start = 1L, ambiguous = FALSE, device = NULL) {
  if (!is.null(device)) device <- nv_device(device)
  if (is_whole(dim) && length(dim) == 1L && dim > length(shape)) {
    stop_joist(
      "joist_shape_error", "`dim` is ", dim, ", the dimension along which the numbers grow, but ",
      "`shape` has ", count_of(length(shape), "extent")
    )
  }
  check_number(start, "start")
  numbers <- .Call(joist_r_operation, "iota", list(), list(
    dim = dim, from = start, shape = shape, dtype = dtype_or_default(dtype, 1L),
    ambiguous = ambiguous
  ))
  place_on(numbers, device)
}

# The requested dtype, or the default that the rules give a tensor of such R values.
dtype_or_default <- function(dtype, value) {
  if (is.null(dtype)) result_dtype(value)$dtype else dtype
}

#' @rdname nv_tensor
#' @export
nv_eye <- function(n, dtype = NULL, device = NULL) {
  check_whole(n, "n")
  nv_diag(nv_fill(1, n, dtype, device = device))
}

#' Abstract tensors
#'
#' `nv_aval()` makes an abstract tensor, which has a dtype and a shape but no data: operations and
#' jitted functions return another `nv_aval` for it, of the dtype, ambiguity and shape that they
#' would give for data.
#'
#' @param dtype A dtype or its name.
#' @param shape An integer vector of extents; `integer()` is a scalar.
#' @param ambiguous `TRUE` if the dtype is only a guess.
#' @param missing `TRUE` for a tensor that has missing values.
#' @return An object of class `nv_aval`, of that dtype and shape, which is also an `nv_tensor`.
#' @section Errors: `joist_dtype_error` for an unknown dtype; `joist_shape_error` for invalid
#'   extents; `joist_value_error` when `ambiguous` or `missing` is neither `TRUE` nor `FALSE`.
#' @examples
#' nv_aval("i32", c(2, 3)) + 1.5
#' jit(\(x, y) exp(x) * y)(nv_aval("bf16", 4), nv_aval("f32", 4))
#' @export
nv_aval <- function(dtype, shape = integer(), ambiguous = FALSE, missing = FALSE) {
  .Call(joist_r_make_aval, dtype, shape, ambiguous, missing)
}

#' Properties of tensors
#'
#' These functions return the shape, dtype, rank, ambiguity and device of a tensor. `dim()` and
#' `length()` work as for R arrays.
#'
#' @param x A tensor; for `is_tensor()` any R object.
#' @return `dtype()`: the [`joist_dtype`][as_dtype()]. `shape()`: an integer vector of extents,
#'   empty for a scalar (`dim()` is `NULL` for a scalar and a vector, as in base R). `ndims()`: the
#'   rank. `ambiguous()`: whether the dtype is only a guess, `TRUE` or `FALSE`. `device()`: the
#'   device of the data, see [nv_device()]. `is_tensor()`: `TRUE` for tensors, otherwise `FALSE`.
#' @section Errors: `joist_value_error` if `x` is not a tensor, except from `is_tensor()`.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "i16")
#' dtype(x)
#' shape(x)
#' ambiguous(x + 1L)
#' @export
shape <- function(x) .Call(joist_r_shape_of, x)

#' @rdname shape
#' @export
dtype <- function(x) .Call(joist_r_dtype_of, x)

#' @rdname shape
#' @export
ndims <- function(x) length(.Call(joist_r_shape_of, x))

#' @rdname shape
#' @export
ambiguous <- function(x) .Call(joist_r_is_ambiguous, x)

#' @rdname shape
#' @export
device <- function(x) {
  at <- .Call(joist_r_device_of, x)
  if (is.null(at)) nv_device("cpu") else at
}

#' @rdname shape
#' @export
is_tensor <- function(x) inherits(x, "nv_tensor")

# The number of a traced tensor in its trace; negative for R numbers among the arguments.
traced_number <- function(x) .Call(joist_r_traced_number, x)

# Whether `x` stands for an R number among the arguments that jit() traces; it keeps its exact
# value.
is_number <- function(x) .Call(joist_r_is_number, x)

# ---- of tensors that are not R vectors: traced, abstract and chunked ones, and those saved by
# versions before 0.2 ----

#' @export
length.nv_tensor <- function(x) .Call(joist_r_length_of, x)

#' @export
dim.nv_tensor <- function(x) .Call(joist_r_dim_of, x)

#' @export
is.array.nv_tensor <- function(x) length(shape(x)) > 1L

#' @export
is.matrix.nv_tensor <- function(x) {
  is_one <- length(shape(x)) == 2L
  if (is_one) refuse_to_write_na(x, "give it as.data.frame(x)")
  is_one
}

refuse_to_write_na <- function(x, advice) {
  # In this order, as all elements are searched for the attribute.
  if (!is.null(writing_frame()) && length(attr(x, "dtype", TRUE)) > 1L) {
    stop_joist(
      "joist_value_error", "write.table() would write NA for some elements of a matrix of ",
      format(dtype(x)), "; ", advice
    )
  }
}

# as.matrix() of a data frame asks for the levels of its columns, before it takes them as doubles,
# where none is text.
#' @export
levels.nv_tensor <- function(x) {
  columns <- parent.frame()$X
  is_text <- function(z) is.character(z) || is.object(z) && !is_tensor(z)
  if (ndims(x) == 2L && is.list(columns) && !any(vapply(columns, is_text, NA))) {
    refuse_to_write_na(x, "give it the columns of as.data.frame(x)")
  }
  attr(x, "levels", TRUE)
}

#' Convert a tensor to an R vector or array
#'
#' `as_array()` converts a tensor to an R vector (rank 0 or 1) or array (rank 2 or more), with its
#' names. The conversion is exact: a value that R's type cannot hold is an error, unless you ask for
#' rounding with `as`. Missing values become `NA`, and nothing else does.
#'
#' @param x A tensor.
#' @param as `NULL` for the usual type (see Value), or `"logical"`, `"integer"`, `"double"`,
#'   `"complex"`, `"raw"`, `"integer64"` or `"character"`. An explicit `"double"` or `"complex"`
#'   rounds 64-bit integers to the nearest double. `"integer64"` loads the namespace of 'bit64' if
#'   that is installed.
#' @return An R vector or array with the names of `x`. With `as = NULL` its type is logical for
#'   `bool`, integer for integers of up to 16 bits and `i32`, double for `ui32`, `i64`, `ui64` and
#'   floats, and complex for complex dtypes. Elements of `f64`, `i32` and `c128` are copied only
#'   when they are first written to, or a function of C asks for a pointer to write to.
#' @section Errors: `joist_value_error` for a value that the R type cannot hold exactly (an `i64` or
#'   `ui64` beyond 2^53, or -2^31, R's `NA_integer_`, in an `i32`), for a tensor without data, and
#'   for an invalid `as`; `joist_dtype_error` for an `as` that the dtype cannot become, such as
#'   `"integer"` for a float.
#' @examples
#' as_array(nv_tensor(matrix(1:4, 2), "ui8"))
#' big <- nv_scalar(2^31, "i64") * 2^31
#' as_array(big, as = "character")
#' @export
as_array <- function(x, as = NULL) {
  extents <- shape(x)
  out <- if (is.null(as)) {
    .Call(joist_r_as_array, x, NULL, FALSE, Inf)
  } else if (identical(as, "character")) {
    text_or_na(x)
  } else {
    # Without its methods, R prints an integer64 as the doubles whose bits it has.
    if (identical(as, "integer64")) requireNamespace("bit64", quietly = TRUE)
    .Call(joist_r_as_array, x, as, TRUE, Inf)
  }
  if (length(extents) > 1L) dim(out) <- extents
  names_of(x, out)
}

# The names of a tensor for R values of its shape.
names_of <- function(x, out) {
  if (length(dim(out)) > 1L) {
    if (!is.null(dimnames(x))) dimnames(out) <- dimnames(x)
  } else if (!is.null(names(x))) {
    names(out) <- names(x)
  }
  out
}

text_or_na <- function(x) {
  text <- .Call(joist_r_integer_text, x)
  if (!is.null(text)) {
    return(text)
  }
  text <- .Call(joist_r_format, x, 0L, Inf)
  text[text == "NA"] <- NA
  text
}

type_string <- function(x) unclass(.Call(joist_r_dtype_of, x))

#' @export
as.vector.nv_tensor <- function(x, mode = "any") {
  if (identical(mode, "any") || identical(mode, "numeric")) {
    return(.Call(joist_r_as_array, x, NULL, FALSE, Inf))
  }
  if (identical(mode, "list")) {
    return(as.list(x))
  }
  out <- as_array(x, mode)
  dim(out) <- NULL
  if (identical(mode, "character") && is_inexact_dtype(x)) as_r_text(out) else out
}

# As R writes zeros, without their sign: factor() compares texts.
as_r_text <- function(text) {
  text[text %of% "-0"] <- "0"
  is_complex <- !is.na(text) & endsWith(text, "i")
  if (!any(is_complex)) {
    return(text)
  }
  text[is_complex] <- sub("^-0([+-])", "0\\1", sub("-0i$", "+0i", text[is_complex]))
  text
}

# A scalar for each element.
#' @export
as.list.nv_tensor <- function(x, ...) {
  names <- if (ndims(x) == 1L) names(x)
  if (has_elements(x) && !is_chunked(x)) {
    parts <- .Call(joist_r_pieces, x, integer(), 1, length(x))
  } else {
    parts <- taken_of(x, function(x) {
      flat <- nv_flatten(x)
      lapply(seq_along(flat), function(k) flat[[k]])
    })
  }
  if (is.null(names)) parts else stats::setNames(parts, names)
}

#' @export
as.array.nv_tensor <- function(x, ...) {
  out <- as_array(x)
  if (is.null(dim(out))) as.array(out) else out
}

#' @export
as.matrix.nv_tensor <- function(x, ...) {
  as.matrix(as_array(x))
}

#' @export
as.double.nv_tensor <- function(x, ...) {
  exact <- .Call(joist_r_exact_doubles, x)
  if (!is.null(exact)) {
    return(exact)
  }
  if (is_int64(x) && has_elements(x)) judge_rounding(x, "f64", "as.double", session()$loss)
  .Call(joist_r_as_array, x, "double", TRUE, Inf)
}

#' @export
as.integer.nv_tensor <- function(x, ...) {
  if (is_complex_dtype(x)) {
    stop_joist("joist_dtype_error", "a complex tensor has no order; take Re() first")
  }
  if (!is_float_dtype(x)) {
    return(as.vector.nv_tensor(x, "integer"))
  }
  # As R's, this drops fractions, and NaN is NA; a value that no integer can hold is an error, of
  # which R warns.
  x <- as.vector.nv_tensor(x, "double")
  tryCatch(as.integer(x), warning = function(w) {
    missing <- is.na(x)
    whole <- nv_tensor(replace(trunc(x), missing, 0), "i32")
    replace(as.vector(whole, "integer"), missing, NA)
  })
}

#' @export
as.logical.nv_tensor <- function(x, ...) {
  if (has_elements(x) && has_nan(x) && !is_complex_dtype(x)) {
    return(as.logical(.Call(joist_r_as_array, x, "double", TRUE, Inf)))
  }
  truth <- as_array(nv_convert(x, "bool"))
  # In R, NaN is neither.
  if (has_nan(x)) truth[is.na(x)] <- NA
  as.vector(truth)
}

#' @export
as.complex.nv_tensor <- function(x, ...) {
  if (is_int64(x) && has_elements(x)) judge_rounding(x, "f64", "as.complex", session()$loss)
  # What NA becomes depends on the version of R.
  as.complex(as.vector.nv_tensor(x, if (is_complex_dtype(x)) "complex" else "double"))
}

#' @export
as.character.nv_tensor <- function(x, ...) {
  text <- as.vector.nv_tensor(x, "character")
  if (!is_inexact_dtype(x)) {
    return(text)
  }
  mark <- c(writing_frame()$dec, getOption("OutDec"))[1L]
  if (is_float_dtype(x) && !getOption("scipen") %of% 0) {
    # R chooses between both notations of these digits.
    finite <- is.finite(suppressWarnings(as.numeric(text)))
    text[finite] <- as.character(as.numeric(text[finite]))
    if (getOption("OutDec") != ".") text <- gsub(getOption("OutDec"), ".", text, fixed = TRUE)
  }
  if (mark == ".") text else gsub(".", mark, text, fixed = TRUE)
}

# The frame of write.table() where that calls, which tells as.character() nothing of its decimal
# mark, and gives a matrix to code that sees doubles.
writing_frame <- function() {
  for (level in seq_len(min(6L, sys.nframe() - 1L))) {
    if (identical(sys.function(-level), utils::write.table)) {
      return(sys.frame(-level))
    }
  }
}
