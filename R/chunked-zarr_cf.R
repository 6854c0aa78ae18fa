# Values as the CF conventions pack them: `scale_factor` and `add_offset`, and values that say that
# there is none. Source: <https://cfconventions.org>, 1.11, sections 2.5.1 and 8.1; the attribute
# `_FillValue` of <https://github.com/zarr-developers/zarr-extensions>.

# A chunked tensor of an array with these attributes. `fill` is the fill value of version 2 of Zarr,
# where xarray keeps no attribute.
cf_decoded <- function(x, attributes, where, fill = NULL) {
  stored <- x
  x <- with_cf_sign(x, attributes)
  if (!is.null(fill)) fill <- with_cf_sign(fill, attributes)
  scale <- cf_number(attributes, "scale_factor", where)
  offset <- cf_number(attributes, "add_offset", where)
  fills <- c(
    cf_fills(attributes[["_FillValue"]], "_FillValue", x, where),
    cf_fills(attributes[["missing_value"]], "missing_value", x, where)
  )
  if (is.null(attributes[["_FillValue"]]) && !is.null(fill)) fills <- c(fills, list(fill))
  if (is.null(scale) && is.null(offset) && length(fills) == 0L) {
    return(with_cf_marks(x, stored))
  }
  if (!is_integer_dtype(x) && !is_float_dtype(x)) {
    stop_field(where, "_FillValue", "or a scale of ", format(dtype(x)), " has no meaning")
  }
  out <- if (is_float_dtype(x)) x else with_promotion("anvil", nv_mul(x, nv_scalar(1, "f64")))
  as <- format(dtype(out))
  if (!is.null(scale)) out <- out * nv_scalar(scale, as)
  if (!is.null(offset)) out <- out + nv_scalar(offset, as)
  for (one in fills) out <- nv_ifelse(x == one, nv_scalar(NaN, as), out) # NaN equals nothing
  with_cf_marks(out, stored)
}

with_cf_marks <- function(out, x) {
  for (kept in c("zarr_attributes", "dimension_names")) attr(out, kept) <- attr(x, kept)
  out
}

# Formats without unsigned integers say `_Unsigned = "true"` (the NetCDF Users Guide, Appendix A).
with_cf_sign <- function(x, attributes) {
  unsigned <- tolower(as.character(attributes[["_Unsigned"]]))
  from <- format(dtype(x))
  to <- switch(dtype_kind(from),
    int = if (identical(unsigned, "true")) paste0("u", from),
    uint = if (identical(unsigned, "false")) substring(from, 2L)
  )
  if (is.null(to)) x else nv_bitcast_convert(x, to)
}

cf_number <- function(attributes, field, where) {
  value <- attributes[[field]]
  if (!is.null(value) && (!is.numeric(value) || length(value) != 1L || is.na(value))) {
    stop_field(where, field, "must be a number")
  }
  value
}

# Scalars of the dtype of x. Those of floats are doubles in Base64, as xarray writes them to Zarr.
cf_fills <- function(values, field, x, where) {
  if (is.character(values) && is_float_dtype(x)) {
    values <- vapply(values, function(text) {
      bytes <- base64_bytes(text)
      if (length(bytes) == 8L) readBin(bytes, "double", endian = "little") else NA_real_
    }, 0, USE.NAMES = FALSE)
    if (anyNA(values) && !all(is.nan(values[is.na(values)]))) values <- "wrong"
  }
  wrong <- function(...) stop_field(where, field, "is not a value of ", format(dtype(x)))
  if (is.null(values)) {
    return(NULL)
  }
  if (!is.numeric(values)) wrong()
  whole <- is_integer_dtype(x) && any(abs(values) > 2^53 | values != round(values))
  if (whole) wrong()
  lapply(as.double(values), function(value) {
    # Of signed integers that are read as unsigned ones.
    own <- format(dtype(x))
    signed <- value < 0 && dtype_kind(own) == "uint"
    one <- tryCatch(nv_scalar(value, if (signed) substring(own, 2L) else own), joist_error = wrong)
    if (signed) nv_bitcast_convert(one, own) else one
  })
}

base64_bytes <- function(text) {
  digits <- match(strsplit(sub("=*$", "", text), "")[[1L]], c(LETTERS, letters, 0:9, "+", "/")) - 1L
  if (anyNA(digits)) {
    return(raw())
  }
  bits <- vapply(digits, function(digit) digit %/% 2^(5:0) %% 2, numeric(6))
  whole <- length(bits) %/% 8L
  as.raw(colSums(matrix(bits[seq_len(8L * whole)], 8L) * 2^(7:0)))
}
