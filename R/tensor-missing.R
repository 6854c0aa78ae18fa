#' Missing values
#'
#' `nv_mask()` makes elements missing, `nv_is_na()` says which are missing, `nv_replace_na()`
#' replaces them, and `nv_coalesce()` takes the first value that is not missing. A tensor of any
#' dtype can have missing values. They come from `NA` among the R values it is made of, from
#' `x[2] <- NA` and `is.na(x) <- 2`, from nulls of Arrow, and from `nv_mask()`. They are kept beside
#' the elements, as a *mask* of one byte for each element; a tensor without missing values has no
#' mask, and costs nothing more. NaN is a number of a float dtype, not a missing value; [is.na()] is
#' `TRUE` for both, as in R.
#'
#' @section What operations give:
#' | operations | result |
#' |---|---|
#' | arithmetic, mathematics, comparison | missing where an operand is; `NA^0` and `1^NA` are 1 |
#' | logical and, or, `any()`, `all()` | three-valued logic: `NA & FALSE` is `FALSE` |
#' | `is.nan()`, `is.finite()`, `is.infinite()` | `FALSE` |
#' | [nv_ifelse()] | missing where the condition is, or the element that it chooses |
#' | `[`, `c()`, [nv_reshape()], [nv_gather()] | missing elements stay so; index `NA` gives `NA` |
#' | `sum()`, `mean()`, `max()` | missing if an element is, unless `na.rm = TRUE` leaves them out |
#' | `cumsum()`, `cumprod()`, `cummin()`, `cummax()` | missing from the first missing element on |
#' | [nv_sort()], [nv_argsort()], [nv_top_k()] | missing elements last; `sort()` drops them |
#' | [nv_match()], `%in%`, `unique()`, `duplicated()` | missing values equal one another |
#' | [nv_argmin()], [nv_argmax()], [nv_tabulate()] | missing elements are left out |
#' | `%*%` | missing where an element of the row or the column is |
#' | [nv_chol()], [nv_solve()], [nv_svd()], parameters of random numbers | an error |
#'
#' `na.rm = TRUE` of base R's functions and `na_rm = TRUE` of joist's leave out NaN, too. Integers
#' wrap on overflow, with a warning; they do not become `NA`, as R's do.
#'
#' In [jit()], whether an argument has missing values is part of its signature, and a program that
#' is given missing values has more instructions, for the masks. The [gradient()] with respect to
#' missing elements is zero.
#'
#' @param x A tensor or an R vector.
#' @param missing A bool tensor or a logical vector of one element or of the shape of `x`: `TRUE`
#'   where a value is missing, and `NA` where that is not known, which makes it missing, too.
#' @param value The value that replaces missing values and NaN: an R number, which must be exact in
#'   the dtype of `x`, or a tensor of that dtype, of one element or of the shape of `x`.
#' @param ... Tensors or R vectors of one shape, or scalars.
#' @return `nv_mask()`: `x` with more missing values. `nv_is_na()`: a known `bool` tensor, `TRUE`
#'   where `x` is missing or NaN. `nv_replace_na()`: `x` without missing values or NaN.
#'   `nv_coalesce()`: for each position the first value that is neither missing nor NaN, in the
#'   common dtype.
#' @section Errors: `joist_dtype_error` for a `missing` that is not bool; `joist_shape_error` where
#'   shapes do not fit; `joist_value_error` or `joist_promotion_error` for a `value` that the
#'   dtype of `x` cannot hold.
#' @examples
#' x <- nv_tensor(c(3, NA, 250), "ui8")
#' x + 1L
#' sum(x)
#' sum(x, na.rm = TRUE)
#' x > 100L & FALSE
#' nv_is_na(x)
#' nv_replace_na(x, 0)
#' nv_coalesce(x, nv_tensor(1:3, "ui8"))
#' nv_mask(nv_tensor(1:3, "i16"), c(TRUE, FALSE, FALSE))
#' is.na(x) <- 1
#' x
#' @export
nv_mask <- function(x, missing) {
  x <- as_operand(x)
  missing <- as_operand(missing)
  if (dtype(missing) != "bool") {
    stop_joist("joist_dtype_error", "`missing` must be bool, not ", format(dtype(missing)))
  }
  unknown <- mask_of(missing)
  if (!is.null(unknown)) missing <- by_anvil(nv_or(without_mask(missing), unknown))
  missing <- nv_broadcast_to(missing, shape(x))
  before <- mask_of(x)
  with_mask(x, if (is.null(before)) missing else by_anvil(nv_or(before, missing)))
}

#' @rdname nv_mask
#' @export
nv_is_na <- function(x) {
  if (!is_tensor(x) && is.atomic(x) && anyNA(x)) x <- as_operand(x)
  mask <- if (is_tensor(x)) mask_of(x)
  if (is.null(mask)) nv_is_nan(x) else by_anvil(nv_or(nv_is_nan(with_mask(x, NULL)), mask))
}

#' @rdname nv_mask
#' @export
nv_replace_na <- function(x, value) {
  x <- as_operand(x)
  if (!is_tensor(value)) {
    value <- beside(in_dtype_of(value, x), x)
    if (length(value) == 1L && !is_chunked(x) && !may_be_na(x)) {
      return(x)
    }
  }
  choose <- function() nv_ifelse(nv_is_na(x), value, without_mask(x))
  same <- identical(dtype(value), dtype(x))
  filled <- if (same) by_anvil(choose()) else choose()
  if (!identical(shape(filled), shape(x))) {
    stop_joist(
      "joist_shape_error", "`value` of shape ", shape_text(value), " does not fit ", shape_text(x)
    )
  }
  if (!same && !identical(dtype(filled), dtype(x))) {
    stop_joist(
      "joist_promotion_error", "`value` of ", type_name(value), " cannot take the place of ",
      "missing values of ", type_name(x), ": their common dtype is ", format(dtype(filled)),
      "; convert one of them with nv_convert()"
    )
  }
  filled
}

in_dtype_of <- function(value, x) {
  if (is_number(value)) {
    return(value)
  }
  type <- dtype(x)
  if (length(value) == 1L && !is.object(value)) {
    return(scalar_like(judged(value, type), x))
  }
  nv_tensor(judged(value, type), type, if (length(value) == 1L) integer(), ambiguous(x))
}

#' @rdname nv_mask
#' @export
nv_coalesce <- function(...) {
  parts <- list(...)
  if (length(parts) == 0L) {
    stop_joist("joist_value_error", "nv_coalesce() needs a tensor")
  }
  Reduce(function(a, b) {
    a <- if (is_tensor(a)) a else as_operand(a)
    nv_ifelse(nv_is_na(a), b, without_mask(a))
  }, parts)
}

# The mask of a tensor, a bool tensor; NULL if nothing is missing, or if it is known to be so only
# when it is computed.
mask_of <- function(x) .Call(joist_r_mask_of, x)

# x with that mask and no other; NULL for none.
with_mask <- function(x, mask) .Call(joist_r_with_mask, x, mask)

# The elements, whatever they are where values are missing.
without_mask <- function(x) if (is.null(mask_of(x))) x else with_mask(x, NULL)

# Whether an element may be missing or NaN.
may_be_na <- function(x) has_nan(x) || is_tensor(x) && !is.null(mask_of(x))
