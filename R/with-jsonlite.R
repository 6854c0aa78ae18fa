# The package jsonlite: whole numbers of 64 bits with all of their digits, other tensors as R
# vectors. The method is set when it is loaded; joist itself does not need it.

join_jsonlite <- function(package, ...) {
  where <- new.env(parent = topenv())
  assign(".packageName", "joist", envir = where)
  to_json <- get("asJSON", asNamespace(package))
  setMethod(to_json, "nv_tensor", function(x, ...) json_of(x, to_json, ...), where = where)
}

json_of <- function(x, to_json, collapse = TRUE, auto_unbox = FALSE, na = NULL, ...) {
  far <- is_int64(x) && any(abs(as_array(x, "double")) >= 2^53, na.rm = TRUE)
  if (!far) {
    return(to_json(as_array(x), collapse = collapse, auto_unbox = auto_unbox, na = na, ...))
  }
  if (ndims(x) > 1L) {
    stop_joist(
      "joist_value_error", "asJSON() writes whole numbers beyond 2^53 of rank 1 only; ",
      "nv_flatten() the tensor, or as_array(x, \"character\")"
    )
  }
  digits <- as.vector(as_array(x, "character"))
  # As jsonlite writes R's numbers; "NA" leaves an element of a data frame out.
  if (!identical(na, "NA")) {
    digits[is.na(digits)] <- if (identical(na, "null")) "null" else "\"NA\""
  }
  if (!collapse || auto_unbox && length(digits) == 1L) digits else json_array(digits)
}

json_array <- function(digits) paste0("[", paste(digits, collapse = ","), "]")
