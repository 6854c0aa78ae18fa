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
  values_in_r(x, type_string(x))
}

stop_no_column <- function(x) {
  stop_joist(
    "joist_shape_error", "a column is a tensor of rank 1, not ", footer(x), "; see nv_flatten()"
  )
}

# NA of the type that the values would have.
proxy_without_values <- function(x) {
  if (!inherits(x, "nv_aval") || ndims(x) > 1L) stop_no_column(x)
  value <- values_in_r(nv_tensor(0, dtype(x)), type_string(x))
  value[1L] <- NA
  rep(value, length(x))
}

values_in_r <- function(x, type) {
  if (type == "i64" || type == "ui64") {
    bits <- plain_values(nv_bitcast_convert(without_mask(x), "f64"), "f64")
    return(complex(real = bits, imaginary = ifelse(is.na(x), NA, 0)))
  }
  plain_values(x, type)
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
  type <- type_string(to)
  guess <- ambiguous(to)
  wide <- type == "i64" || type == "ui64"
  if (!wide) {
    return(.Call(joist_r_make, x, type, length(x), guess, "missing", NULL))
  }
  # The bits may be those of R's NA: that a value is missing is said by the imaginary part.
  bits <- .Call(joist_r_make, Re(x), "f64", length(x), FALSE, "missing", NULL)
  restored <- nv_bitcast_convert(without_mask(bits), type)
  if (guess) restored <- nv_convert(restored, type, TRUE)
  missing <- is.na(Im(x))
  if (any(missing)) restored <- nv_mask(restored, missing)
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
  proxy <- vec_proxy.nv_tensor(x)
  if (!is_int64(x) || !has_elements(x)) {
    return(proxy)
  }
  base <- nv_scalar(2^32, dtype(x))
  vctrs::new_data_frame(list(high = plain_values(x %/% base), low = plain_values(x %% base)))
}

# dplyr's arrange() takes no two columns for one.
#' @exportS3Method vctrs::vec_proxy_order
vec_proxy_order.nv_tensor <- function(x, ...) {
  proxy <- vec_proxy_compare.nv_tensor(x)
  if (!is.data.frame(proxy)) {
    return(proxy)
  }
  at <- order(proxy$high, proxy$low)
  steps <- diff(proxy$high[at]) != 0 | diff(proxy$low[at]) != 0
  replace(integer(length(at)), at, cumsum(c(TRUE, steps))[seq_along(at)])
}

#' @exportS3Method vctrs::vec_ptype_abbr
vec_ptype_abbr.nv_tensor <- function(x, ...) type_name(x)

#' @exportS3Method vctrs::vec_ptype_full
vec_ptype_full.nv_tensor <- function(x, ...) paste0("tensor<", vec_ptype_abbr.nv_tensor(x), ">")

# ---- common type: that of an operation on both ----

common_column <- function(x, y, ...) {
  if (is_tensor(x) && is_tensor(y) && same_type(x, y)) {
    return(vec_ptype.nv_tensor(x))
  }
  type <- nv_concatenate(abstract_column(x), abstract_column(y))
  empty_column(dtype(type), ambiguous(type))
}

#' @exportS3Method vctrs::vec_ptype
vec_ptype.nv_tensor <- function(x, ...) {
  if (ndims(x) > 1L) stop_no_column(x)
  empty_column(type_string(x), ambiguous(x))
}

empty_column <- function(dtype, guess) {
  .Call(joist_r_make, logical(), dtype, 0L, guess, "error", NULL)
}

# R numbers are values that the rules may look at.
abstract_column <- function(x) if (is_tensor(x)) nv_aval(dtype(x), length(x), ambiguous(x)) else x

# ---- casts: those that assignment makes ----

#' @exportS3Method vctrs::vec_cast nv_tensor.nv_tensor
vec_cast.nv_tensor.nv_tensor <- function(x, to, ...) {
  if (same_type(x, to)) {
    return(x)
  }
  from <- format(dtype(x))
  wanted <- format(dtype(to))
  if (from != wanted && !ambiguous(x) && !promotes(x, to)) {
    stop_joist(
      "joist_promotion_error", from, " does not promote to ", wanted,
      "; use nv_convert() to make it one all the same"
    )
  }
  converted <- nv_convert(x, wanted, ambiguous(to))
  check_exact(x, converted)
  converted
}

# Whether whole numbers are the same in the dtype of `converted`.
check_exact <- function(x, converted) {
  if (!is_integer_dtype(x) || is_integer_dtype(converted) || dtype(converted) == "bool") {
    return(invisible())
  }
  back <- nv_convert(converted, dtype(x))
  bad <- which(as.vector(back != x))
  if (length(bad) > 0L) {
    stop_joist(
      "joist_value_error", format(x[bad[1L]], scientific = FALSE), " at position ", bad[1L],
      " is not exact in ", format(dtype(converted)), ", the common dtype of the columns; ",
      "nv_convert() the other column to integers, or both to a dtype that holds their values"
    )
  }
}

promotes <- function(x, to) {
  common <- tryCatch(
    common_dtype(dtype(x), dtype(to), ambiguous(x), ambiguous(to)),
    joist_promotion_error = function(e) NULL
  )
  !is.null(common) && common$dtype == dtype(to)
}

# R numbers: exact, or an error.
number_to_column <- function(x, to, ...) {
  nv_tensor(x, dtype(to), length(x), ambiguous(to))
}

column_to_number <- function(x, to, ...) vctrs::vec_cast(as.vector(as_array(x)), to)

#' @exportS3Method vctrs::vec_cast character.nv_tensor
vec_cast.character.nv_tensor <- function(x, to, ...) as.vector(x, "character")

# ---- printing ----

#' @exportS3Method pillar::type_sum
type_sum.nv_tensor <- function(x) type_name(x)

# glimpse() shows the first values.
#' @exportS3Method pillar::format_glimpse
format_glimpse.nv_tensor <- function(x, ...) if (has_elements(x)) format(x, trim = TRUE) else footer(x)

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
