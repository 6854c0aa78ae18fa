#' Convert tensors in data frames and lists to R vectors
#'
#' `to_r()` converts all tensors in a data frame or a list to R vectors, and leaves everything else
#' unchanged. Models, plots and functions that write text read tensors themselves; use `to_r()` to
#' compute in doubles from there on, as `nls()` and `nlm()` need for their numeric derivatives.
#'
#' R's types hold all values of all dtypes but 64-bit integers beyond 2^53. If doubles round
#' one, the column becomes an `integer64` of the package bit64, if that is installed; otherwise, and
#' for `ui64` beyond 2^63, it is rounded to the nearest doubles, with a warning that says where. For
#' doubles in any case, use `as_array(x, as = "double")` on those columns first.
#'
#' @param x A data frame, tibble, data.table, list or tensor.
#' @return `x` with each tensor in it, at any depth, replaced by what [as_array()] gives for it, or,
#'   if [as_array()] fails because integers are too large, by doubles or an `integer64`.
#' @section Warnings: `joist_rounding_warning` for values that are rounded to a double.
#' @section Errors: `joist_value_error` for a tensor without data ([nv_aval()], or while `jit()`
#'   traces).
#' @examples
#' df <- data.frame(x = nv_tensor(c(1, 2, 3), "f32"), y = nv_tensor(c(2L, 4L, 7L), "ui8"))
#' coef(nls(y ~ a * x + b, to_r(df), start = list(a = 1, b = 1)))
#' @export
to_r <- function(x) {
  if (is_tensor(x)) {
    return(r_numbers(x, "x"))
  }
  if (!is.list(x)) {
    return(x)
  }
  columns <- unclass(x)
  places <- which(vapply(columns, function(column) is_tensor(column) || is.list(column), NA))
  named <- names(x)
  for (k in places) {
    value <- columns[[k]]
    name <- if (is.null(named) || !nzchar(named[k])) paste0("[[", k, "]]") else named[k]
    x[[k]] <- if (is_tensor(value)) r_numbers(value, name) else to_r(value)
  }
  x
}

# as_array(), or integer64 or doubles where that has no type for the integers of `x`.
r_numbers <- function(x, name) {
  tryCatch(as_array(x), joist_value_error = function(e) {
    out <- as_array(x, as = "double")
    rounded <- sum(as.vector(x != out), na.rm = TRUE)
    if (rounded > 0) {
      exact <- if (requireNamespace("bit64", quietly = TRUE)) {
        tryCatch(as_array(x, "integer64"), joist_value_error = function(e) NULL)
      }
      if (!is.null(exact)) return(exact)
      text <- paste0(
        name, ": ", rounded, " of ", length(x), " values of ", format(dtype(x)),
        " are rounded to double"
      )
      warning(structure(
        class = c("joist_rounding_warning", "joist_warning", "warning", "condition"),
        list(message = text, call = NULL)
      ))
    }
    out
  })
}
