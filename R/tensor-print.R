extents_text <- function(extents) paste0("{", paste(extents, collapse = "x"), "}")
shape_text <- function(x) extents_text(shape(x))
type_name <- function(x) paste0(format(dtype(x)), if (ambiguous(x)) "?")
type_text <- function(x) paste0(type_name(x), shape_text(x))

# anvil's footer: [ CPUf32{2x3} ]
footer <- function(x) {
  place <- if (is_traced(x)) {
    "TRACE"
  } else if (inherits(x, "nv_aval")) {
    "AVAL"
  } else {
    sub(":0$", "", toupper(format(device(x))))
  }
  paste0("[ ", place, type_text(x), " ]")
}

#' Print tensors
#'
#' `print()` shows the elements in R's layout (integers with all of their digits), then a line with
#' device, dtype (with `?` if it is only a guess) and shape. Of a large tensor it shows the first
#' elements (of a matrix the first rows and columns), and says how much is left out.
#'
#' @param x,object A tensor.
#' @param digits Significant digits; `NULL` for `getOption("digits")`, at most as many as
#'   the dtype has.
#' @param max Largest number of elements that is printed; `NULL` for
#'   `getOption("max.print")`, at most 200.
#' @param ... For `format()` further arguments of [base::format()], of which integers of 32 and
#'   64 bits take `trim`, `width`, `big.mark` and `big.interval`. Otherwise ignored.
#' @return `print()`: `x`, invisibly. `format()`: a character vector or array of the elements, of
#'   the same width as [base::format()] makes them. `str()`: `NULL`, invisibly. `summary()`: for
#'   numbers, a tensor with names: minimum, quartiles, mean, maximum and, if there are any, the
#'   number of missing values.
#' @examples
#' nv_tensor(matrix(1:6, 2), "i16")
#' print(nv_tensor(rnorm(5000)), max = 5)
#' format(nv_scalar(pi, "bf16"))
#' format(nv_tensor(c(5, 1234567), "i64"), big.mark = ",")
#' @export
print.nv_tensor <- function(x, digits = NULL, max = NULL, ...) {
  if (has_elements(x) && length(x) > 0L) {
    if (is.null(max)) max <- min(getOption("max.print"), 200L)
    n <- length(x)
    shown <- if (length(shape(x)) > 1L) corner_values(x, max) else head_values(x, max)
    if (length(shown) > 0L) print(shown, digits = print_digits(x, digits), right = TRUE)
    if (n > length(shown)) {
      cat(" ... ", grouped_digits(n - length(shown)), " more\n", sep = "")
    }
  }
  cat(footer(x), "\n", sep = "")
  invisible(x)
}

# The first elements as R prints them best: numbers where R has them, else text.
head_values <- function(x, n) {
  out <- if (is_long_integer(x)) {
    noquote(.Call(joist_r_format, x, 0L, n))
  } else {
    .Call(joist_r_as_array, x, NULL, FALSE, n)
  }
  if (ndims(x) == 1L && !is.null(names(x))) names(out) <- names(x)[seq_along(out)]
  out
}

# Integers that R would have as doubles, of which it shows seven digits.
is_long_integer <- function(x) format(dtype(x)) %of% c("i32", "ui32", "i64", "ui64")

# The first rows and columns, about as many of one as of the other where neither is short, of as
# many slices as there is room for.
corner_values <- function(x, max) {
  extents <- shape(x)
  if (length(x) > max) {
    columns <- min(extents[2L], max(1, floor(sqrt(max)), max %/% extents[1L]))
    room <- max(1, max %/% columns)
    for (d in c(1L, seq_along(extents)[-(1:2)])) {
      extents[d] <- min(extents[d], room)
      room <- room %/% extents[d]
    }
    extents[2L] <- columns
    x <- do.call(`[`, c(list(x), lapply(extents, seq_len), drop = FALSE))
  }
  shown <- head_values(x, length(x))
  dim(shown) <- extents
  dimnames(shown) <- if (is.character(shown)) matrix_labels(x, extents) else dimnames(x)
  shown
}

# Those that R gives a matrix of numbers: of text it would put the labels of columns to the left.
matrix_labels <- function(x, extents) {
  labels <- dimnames(x)
  if (is.null(labels)) labels <- vector("list", length(extents))
  if (is.null(labels[[1L]])) {
    labels[[1L]] <- format(paste0("[", seq_len(extents[1L]), ",]"), justify = "right")
  }
  if (is.null(labels[[2L]])) labels[[2L]] <- paste0("[,", seq_len(extents[2L]), "]")
  labels
}

# Digits beyond the precision of a dtype are noise.
print_digits <- function(x, digits) {
  if (is.null(digits)) digits <- getOption("digits")
  own <- if (is_inexact_dtype(x)) max(3, ceiling(-log10(dtype_facts(x)$eps))) else 15
  as.integer(min(digits, if (own > 15) 22 else own)) # R's own limit
}

#' @rdname print.nv_tensor
#' @export
format.nv_tensor <- function(x, digits = NULL, ...) {
  if (is_traced(x)) check_elements(x, "format()", "print()")
  if (!has_elements(x)) {
    return(footer(x))
  }
  values <- unclass(head_values(x, Inf))
  out <- if (is.character(values)) {
    format_integers(values, ...)
  } else {
    format(values, digits = print_digits(x, digits), ...)
  }
  if (length(shape(x)) > 1L) dim(out) <- shape(x)
  names_of(x, out)
}

# Those of format() that mean something for whole numbers.
format_integers <- function(text, trim = FALSE, width = NULL, big.mark = "", # nolint
                            big.interval = 3L, ...) { # nolint: object_name_linter.
  if (nzchar(big.mark)) {
    text <- prettyNum(text, big.mark = big.mark, big.interval = big.interval)
  }
  if (trim) text else format(text, justify = "right", width = width)
}

# What waldo and testthat compare, and show where it differs: values rather than bytes. The type is
# an attribute, so that expect_true(all(x > 0)) holds, which ignores attributes.
#' @exportS3Method waldo::compare_proxy
compare_proxy.nv_tensor <- function(x, path) {
  if (!has_elements(x)) {
    return(list(object = footer(x), path = path))
  }
  values <- if (is_long_integer(x)) as_array(x, "character") else as_array(x)
  attr(values, "tensor") <- footer(x)
  list(object = values, path = path)
}

#' @rdname print.nv_tensor
#' @importFrom utils str
#' @export
str.nv_tensor <- function(object, ...) {
  head <- if (has_elements(object)) {
    .Call(joist_r_format, object, print_digits(object, 3L), 10)
  }
  more <- if (has_elements(object) && length(object) > 10L) "..."
  cat(" ", paste(c(footer(object), head, more), collapse = " "), "\n", sep = "")
  invisible(NULL)
}

#' @rdname print.nv_tensor
#' @export
summary.nv_tensor <- function(object, ...) {
  if (is_traced(object)) check_elements(object, "summary()")
  if (is_int64(object) && has_elements(object)) {
    judge_rounding(object, "f64", "summary", session()$loss)
  }
  values <- if (has_elements(object)) as_array(object, if (is_int64(object)) "double")
  out <- if (has_elements(object)) summary(as.vector(values), ...) else summary(NULL)
  structure(out, type = footer(object), class = c("summary.nv_tensor", class(out)))
}

# "1 element", "2 elements"
count_of <- function(n, what) paste0(grouped_digits(n), " ", what, if (n != 1) "s")

# Whole numbers in messages, which are the same wherever R's decimal mark is another.
grouped_digits <- function(n) {
  .Call(joist_r_grouped_digits, n)
}

#' @export
print.summary.nv_tensor <- function(x, ...) {
  print(structure(x, type = NULL, class = class(x)[-1L]), ...)
  cat(attr(x, "type"), "\n", sep = "")
  invisible(x)
}

#' @export
format.summary.nv_tensor <- function(x, ...) {
  format(structure(x, type = NULL, class = class(x)[-1L]), ...)
}
