# Tensors as vectors of the vctrs package, for tibbles. Registered when vctrs and pillar are
# loaded; joist itself needs neither.

# The methods of two classes, which are the same for many.
#' @evalNamespace vctrs_methods()
vctrs_methods <- function() {
  numbers <- c("logical", "integer", "double", "complex")
  vectors <- c(numbers, "raw", "integer64")
  pairs <- c("nv_tensor.nv_tensor", paste0("nv_tensor.", vectors), paste0(vectors, ".nv_tensor"))
  c(
    sprintf("S3method(vctrs::vec_ptype2,%s,common_column)", pairs),
    sprintf("S3method(vctrs::vec_cast,nv_tensor.%s,number_to_column)", vectors),
    sprintf("S3method(vctrs::vec_cast,%s.nv_tensor,column_to_number)", numbers)
  )
}

# What vctrs cuts and puts together: R numbers that hold every value of the dtype, and NA apart from
# them; of 64-bit integers the bits, as the real part of a complex number whose imaginary part is NA
# for missing ones. vctrs calls the functions here for each of many groups: they are short.
#' @exportS3Method vctrs::vec_proxy
vec_proxy.nv_tensor <- function(x, ...) {
  if (!is.atomic(x)) {
    return(proxy_without_values(x))
  }
  if (!is.null(attr(x, "dim", TRUE))) stop_no_column(x)
  wanted <- attr(x, "beyond", TRUE)
  values <- if (is.null(wanted)) .Call(joist_r_column_values, x, 0) else values_beyond(x, wanted)
  if (is.null(values)) {
    return(proxy_without_values(x))
  }
  if (!is.null(attr(x, "names", TRUE))) names(values) <- names(x)
  values
}

stop_no_column <- function(x) {
  stop_joist(
    "joist_shape_error", "a column is a tensor of rank 1, not ", footer(x), "; see nv_flatten()"
  )
}

# NA of the type that the values would have.
proxy_without_values <- function(x) {
  if (!inherits(x, "nv_aval") || ndims(x) > 1L) stop_no_column(x)
  value <- .Call(joist_r_column_values, nv_tensor(0, dtype(x)), 0)
  value[1L] <- NA
  rep(value, length(x))
}

# The values of a column of another dtype that do not all fit `type`, as vec_proxy() gives those of
# `type`: they can be compared with these, but vec_restore() refuses them. Of 64-bit integers the
# imaginary part is then 1.
values_beyond <- function(x, type) {
  switch(typeof(.Call(joist_r_column_values, empty_column(type, FALSE), 0)),
    complex = .Call(joist_r_column_values, x, 1),
    integer = as.integer(as.vector(x)),
    as.double(as.vector(x))
  )
}

# -2^31 of i32 is not representable as an integer of R.
plain_values <- function(x, type = type_string(x)) {
  as <- if (type == "i32") "double"
  values <- .Call(joist_r_as_array, x, as, !is.null(as), Inf)
  if (!is.null(attributes(values))) attributes(values) <- NULL
  values
}

#' @exportS3Method vctrs::vec_restore
vec_restore.nv_tensor <- function(x, to, ...) {
  if (keys_beyond$seen) {
    if (is_matching()) {
      return(compared_keys(x, type_string(to)))
    }
    keys_beyond$seen <- FALSE
  }
  restored <- .Call(joist_r_column_restored, x, to)
  if (is.null(restored)) restored_beyond(x, to) else restored
}

# Whether a key was seen that does not fit the common dtype. From version 0.6 on, vctrs puts the
# keys of both tables in one vector to compare them; then that is one of R numbers.
keys_beyond <- new.env(parent = emptyenv())
keys_beyond$seen <- FALSE

is_matching <- function() {
  matching <- vctrs::vec_locate_matches
  !is.null(Find(function(k) identical(sys.function(k), matching), seq_len(sys.nframe())))
}

# Leaves numbers unchanged, and marks 64-bit integers with their type, so that their halves are
# compared.
compared_keys <- function(x, type) {
  if (is.complex(x)) structure(x, type = type, class = "joist_keys") else x
}

#' @exportS3Method vctrs::vec_proxy
vec_proxy.joist_keys <- function(x, ...) as.vector(unclass(x))

#' @exportS3Method vctrs::vec_proxy_order
vec_proxy_order.joist_keys <- function(x, ...) {
  type <- attr(x, "type")
  x <- vec_proxy.joist_keys(x)
  bits <- proxy_bits(x)
  halves_as <- function(type) .Call(joist_r_column_halves, nv_bitcast_convert(bits, type))
  pick <- function(other, own) ifelse(Im(x) == 1, other, own)
  halves <- Map(pick, halves_as(other_int64(type)), halves_as(type))
  vctrs::new_data_frame(stats::setNames(halves, c("high", "low")))
}

# The bits of proxies of 64-bit integers. They may be those of R's NA: that a value is missing is
# said by the imaginary part.
proxy_bits <- function(x) {
  without_mask(.Call(joist_r_make, Re(x), "f64", length(x), FALSE, "missing", NULL))
}

other_int64 <- function(type) if (type == "i64") "ui64" else "i64"

# Of values that may not fit.
restored_beyond <- function(x, to) {
  type <- type_string(to)
  is_ambiguous <- ambiguous(to)
  wide <- type == "i64" || type == "ui64"
  if (!wide || !is.complex(x)) {
    if (!is.null(attr(to, "found", TRUE))) check_held(x, type)
    return(.Call(joist_r_make, x, type, length(x), is_ambiguous, "missing", NULL))
  }
  bits <- proxy_bits(x)
  imaginary <- Im(x)
  other <- if (is.null(attr(to, "beyond", TRUE))) which(imaginary == 1)
  if (length(other) > 0L) {
    stop_not_exact(nv_bitcast_convert(bits, other_int64(type)), other[1L], type)
  }
  restored <- nv_bitcast_convert(bits, type)
  if (is_ambiguous) restored <- nv_convert(restored, type, TRUE)
  if (anyNA(imaginary)) restored <- nv_mask(restored, is.na(imaginary))
  if (!is.null(names(x))) names(restored) <- names(x)
  restored
}

# Order is that of the values; complex numbers have none.
#' @exportS3Method vctrs::vec_proxy_compare
vec_proxy_compare.nv_tensor <- function(x, ...) {
  if (is_complex_dtype(x)) {
    stop_joist("joist_dtype_error", "complex numbers have no order")
  }
  vec_proxy_equal.nv_tensor(x)
}

# 64-bit integers as two numbers, each exact as a double.
#' @exportS3Method vctrs::vec_proxy_equal
vec_proxy_equal.nv_tensor <- function(x, ...) {
  if (!is_compared_by_halves(x)) {
    return(vec_proxy.nv_tensor(x))
  }
  if (!is.null(attr(x, "dim", TRUE))) stop_no_column(x)
  halves <- .Call(joist_r_column_halves, x)
  vctrs::new_data_frame(list(high = halves[[1L]], low = halves[[2L]]))
}

is_compared_by_halves <- function(x) {
  wanted <- attr(x, "beyond", TRUE)
  is_int64(x) && has_elements(x) && (is.null(wanted) || wanted == "i64" || wanted == "ui64")
}

# dplyr's arrange() takes no two columns for one.
#' @exportS3Method vctrs::vec_proxy_order
vec_proxy_order.nv_tensor <- function(x, ...) {
  if (is_compared_by_halves(x)) xtfrm.nv_tensor(x) else vec_proxy_compare.nv_tensor(x)
}

#' @exportS3Method vctrs::vec_ptype_abbr
vec_ptype_abbr.nv_tensor <- function(x, ...) type_name(x)

#' @exportS3Method vctrs::vec_ptype_full
vec_ptype_full.nv_tensor <- function(x, ...) paste0("tensor<", vec_ptype_abbr.nv_tensor(x), ">")

# ---- common type: that of an operation on both ----

# vctrs puts both columns together, or only compares them, as keys. So values beyond the type that
# is found (the attribute "found" says that it was) are refused only where they are put into a
# column of it, by vec_restore().
common_column <- function(x, y, ...) {
  kind <- .Call(joist_r_column_kind, x, y)
  if (kind > 0L) {
    return(if (length(x) == 0L) x else empty_column_of(kind, x))
  }
  if (inherits(x, "nv_tensor") && inherits(y, "nv_tensor") && same_type(x, y)) {
    return(vec_ptype.nv_tensor(x))
  }
  type <- nv_concatenate(abstract_column(x), abstract_column(y))
  structure(empty_column(dtype(type), ambiguous(type)), found = TRUE)
}

#' @exportS3Method vctrs::vec_ptype
vec_ptype.nv_tensor <- function(x, ...) {
  kind <- .Call(joist_r_column_kind, x, x)
  if (kind > 0L) {
    return(empty_column_of(kind, x))
  }
  if (ndims(x) > 1L) stop_no_column(x)
  wanted <- attr(x, "beyond", TRUE)
  structure(empty_column(if (is.null(wanted)) dtype(x) else wanted, ambiguous(x)), found = TRUE)
}

# Made once for each type, as vctrs asks for that of each of many groups.
empty_columns <- new.env(parent = emptyenv())
empty_columns$kept <- list()

empty_column_of <- function(kind, x) {
  kept <- empty_columns$kept
  if (kind <= length(kept) && !is.null(kept[[kind]])) {
    return(kept[[kind]])
  }
  empty_columns$kept[[kind]] <- empty_column(dtype(x), ambiguous(x))
}

empty_column <- function(dtype, ambiguous) {
  .Call(joist_r_make, logical(), dtype, 0L, ambiguous, "error", NULL)
}

# R numbers are values that the rules may look at.
abstract_column <- function(x) if (is_tensor(x)) nv_aval(dtype(x), length(x), ambiguous(x)) else x

# ---- casts: exact, or an error ----

#' @exportS3Method vctrs::vec_cast nv_tensor.nv_tensor
vec_cast.nv_tensor.nv_tensor <- function(x, to, ...) {
  if (.Call(joist_r_column_kind, x, to) > 0L || same_type(x, to)) {
    return(x)
  }
  from <- format(dtype(x))
  wanted <- format(dtype(to))
  if (!ambiguous(x) && is.null(attr(x, "beyond", TRUE)) && !promotes(x, to)) {
    stop_joist(
      "joist_promotion_error", from, " does not promote to ", wanted,
      "; use nv_convert() to make it one all the same"
    )
  }
  at <- first_inexact(x, wanted)
  if (at == 0) {
    return(nv_convert(x, wanted, ambiguous(to)))
  }
  matching <- is_matching()
  if (matching) keys_beyond$seen <- TRUE
  found <- matching || !is.null(attr(to, "found", TRUE))
  if (!found || !is_comparable(x, wanted)) stop_not_exact(x, at, wanted)
  structure(nv_convert(x, from), beyond = wanted)
}

# The position of the first value that the dtype does not hold, or 0. Ambiguous ones are rounded to
# floats as R numbers are, but not whole numbers.
first_inexact <- function(x, dtype) {
  if (is_float_dtype(x) && ambiguous(x) && is_float_dtype(empty_column(dtype, FALSE))) {
    x <- nv_ifelse(nv_floor(x) == x, x, scalar_like(0, x))
  }
  .Call(joist_r_first_change, x, dtype)[1L]
}

# Whether the R numbers that columns of the dtype are compared by hold the values of x.
is_comparable <- function(x, dtype) {
  switch(typeof(.Call(joist_r_column_values, empty_column(dtype, FALSE), 0)),
    complex = is_int64(x) && dtype %in% c("i64", "ui64"),
    integer = is_integer_dtype(x) && .Call(joist_r_first_change, x, "i32")[1L] == 0,
    double = dtype != "f64" && .Call(joist_r_first_change, x, "f64")[1L] == 0,
    FALSE
  )
}

check_exact <- function(x, dtype) {
  at <- if (has_elements(x)) first_inexact(x, dtype) else 0
  if (at > 0) stop_not_exact(x, at, format(dtype))
}

# Of the numbers that vec_restore() is given: those that columns of the dtype gave are exact in it.
check_held <- function(x, dtype) {
  if (!is.double(x)) {
    return(invisible())
  }
  numbers <- nv_tensor(x, "f64", length(x))
  at <- .Call(joist_r_first_change, numbers, dtype)[1L]
  if (at > 0) stop_not_exact(numbers, at, dtype)
}

stop_not_exact <- function(x, at, dtype) {
  whole <- !is_float_dtype(empty_column(dtype, FALSE))
  does_not <- if (whole) " does not fit " else " is not exact in "
  stop_joist(
    "joist_value_error", format(x[at], scientific = FALSE), " at position ", at, does_not, dtype,
    ", the common dtype of the columns; nv_convert() one of them, or both to a dtype that holds ",
    "their values"
  )
}

promotes <- function(x, to) {
  common <- tryCatch(
    common_dtype(dtype(x), dtype(to), ambiguous(x), ambiguous(to)),
    joist_promotion_error = function(e) NULL
  )
  !is.null(common) && common$dtype == dtype(to)
}

number_to_column <- function(x, to, ...) {
  own <- if (inherits(x, "integer64")) "i64" else switch(typeof(x), integer = "i32", double = "f64")
  if (is.null(own)) {
    return(nv_tensor(x, dtype(to), length(x), ambiguous(to)))
  }
  vec_cast.nv_tensor.nv_tensor(nv_tensor(x, own, length(x), ambiguous = TRUE), to)
}

column_to_number <- function(x, to, ...) vctrs::vec_cast(as.vector(as_array(x)), to)

#' @exportS3Method vctrs::vec_cast character.nv_tensor
vec_cast.character.nv_tensor <- function(x, to, ...) as.vector(x, "character")

# ---- printing ----

#' @exportS3Method pillar::type_sum
type_sum.nv_tensor <- function(x) type_name(x)

# glimpse() shows the first values.
#' @exportS3Method pillar::format_glimpse
format_glimpse.nv_tensor <- function(x, ...) {
  if (has_elements(x)) format(x, trim = TRUE) else footer(x)
}

#' @exportS3Method pillar::pillar_shaft
pillar_shaft.nv_tensor <- function(x, ...) {
  if (!has_elements(x)) {
    return(pillar::pillar_shaft(rep(NA, length(x))))
  }
  if (is_int64(x)) {
    return(pillar::new_pillar_shaft_simple(format(x, trim = TRUE), align = "right"))
  }
  pillar::pillar_shaft(plain_values(x), ...)
}
