#' Base R and tensors
#'
#' Base R's functions take tensors, as a tensor is an R vector. Functions that dispatch on their
#' arguments return tensors. All others see the values as logical, integer, double or complex
#' numbers, and return what they return for those.
#'
#' **Tensors result** from arithmetic, comparison, `Math`, `Summary` and `Complex` functions with a
#' tensor first, from `[`, `[[`, `c()`, `rep()`, `rev()`, `sort()`, `unique()`, `t()`, `aperm()`,
#' `rbind()`, `cbind()`, `split()`, `diff()`, `mean()`, `median()`, `quantile()`, `rowsum()`,
#' `solve()`, `chol()`, `%*%`, and from methods for these functions of base R and stats, which are
#' S4 generics while joist is attached: `rowSums()`, `colSums()`, `rowMeans()`, `colMeans()`,
#' `var()`, `sd()`, `cov()`, `cor()`, `pmin()`, `pmax()`, `ifelse()`, `atan2()`, `bitwAnd()` and its
#' relatives, `diag()`, `crossprod()`, `tcrossprod()`, `rle()`, `ave()`, and `qr.Q()` and its
#' relatives.
#' Their arguments are those of base R; of two operands, at least one must be a tensor.
#'
#' **R vectors result** from all other functions: `for`, `if`, `sapply()`, `order()`, `which()`,
#' `is.na()`, `paste()`, `sprintf()`, `table()`, `outer()`, `lm()`, `optim()` and so on. They also
#' result from a function that dispatches on its first argument if only a later one is a tensor:
#' `max(1, x)`, `c(1, x)`. `match()`, `%in%`, `rank()`, `which.min()`, `which.max()` and
#' `complete.cases()` are generics while joist is attached, so that they are exact and fast, but
#' return R vectors. [as_array()] returns the values themselves.
#'
#' **Missing values** are `NA` in every dtype and treated as in base R, see [nv_mask()]:
#' three-valued logic, `na.rm`, `na.last`, `na.omit()`, `NA` equal to `NA` in `match()` and
#' `unique()`, `length(x) <- n` that fills with `NA`. The differences are:
#'
#' * Overflow of integers does not give `NA`, and neither does an index out of range, which is an
#'   error.
#' * Comparisons with NaN are `FALSE`, as in IEEE 754; base R gives `NA`.
#' * `max()` and `min()` of integers are `NA`, not infinite, if `na.rm = TRUE` leaves nothing.
#' * `quantile()` gives missing values if an element is missing; in base R that is an error.
#'
#' **What to watch for:**
#'
#' * Integers wrap, with a warning: `-x` and `diff(x)` of `ui8`, and `sum(x)` of `i64` beyond 2^63.
#'   So `order(-x)` is not a decreasing order; `order(x, decreasing = TRUE)` is.
#' * Integers beyond 2^53, and the `i32` -2^31, are `NA` for functions that do not dispatch,
#'   `cat()`, `for`, `unlist()` and `sapply()` among them. A warning of class
#'   `joist_view_warning` follows with the next call of joist, or when R ends, as R's own functions
#'   cannot give it. Making a tensor of such an `NA` is an error. The `dtype` attribute has integers
#'   beyond 2^53 as text, and the positions of -2^31, so that `identical()`, `unique()` of a list,
#'   `digest::digest()`, `saveRDS(version = 2)` and `dput()` are exact; what `dput()` wrote of
#'   integers beyond 2^53 is an error where it is read. `is.na()`, `match()`, `%in%`,
#'   `unique()`, `factor()`, `merge()`, `order()` and `rank()` are exact, and so are the groups of
#'   `tapply()`, `split()` and `rowsum()`; to collect exact results, call `do.call(c, lapply(...))`.
#'   `aggregate()` by a tensor is not exact, see [as.data.frame.nv_tensor()].
#' * Means, medians and quantiles of integers are `f32`, which has seven digits:
#'   `nv_mean(x, dtype = "f64")`, or `options(joist.promotion = promotion_rules(double = "f64"))`.
#'   Sums of `f16` beyond 65504 are infinite: `sum(nv_convert(x, "f32"))`.
#' * Functions that are written in R compute in the dtype of the tensor: `fivenum(x)` of `ui8` adds
#'   bytes, which wrap, with a warning, and `t.test(x)`, `scale(x)`, `mad(x)` or a weighted `glm()`
#'   have the digits of `f32` or `f16`. Give them `as_array(x)`.
#' * An R matrix beside a tensor of rank 1 with a number for each row is R's operation: the tensor
#'   is repeated over the columns, as R's own code relies on. Beside a tensor of rank 2, and in
#'   [jit()], that is an error.
#' * Results that R's own C code computes element by element keep the dtype of the tensor if that
#'   can hold them: `dnorm(x)` of `f32` is `f32`, rounded. Otherwise, as for fractions of integers
#'   and for what 16-bit floats would round, they are an ambiguous `f64` or `c128`.
#' * `pmin()` and `pmax()` repeat shorter operands, as base R does, with its warning where
#'   the lengths do not match; [nv_min()] and [nv_max()] refuse them.
#' * `x[1]` keeps rank 1 and the name; `x[[1]]` has rank 0 and no name, also in [jit()].
#'   `lapply()` and `as.list()` give such scalars.
#' * `match()` and `%in%` compare as `==` does, in the dtype of the tensor, so that
#'   `nv_tensor(0.1) %in% 0.1` is `TRUE` (not where bit64 is attached and the R vector comes first).
#'   `merge()`, `is.element()`, `cut()` and `findInterval()` compare doubles, and 0.1 in `f32` is
#'   another double than 0.1: convert both to one dtype.
#' * Comparing 64-bit integers with text by `==` is an error; `x %in% "9007199254740993"` works.
#' * In [jit()], where the values are not known, calling a function that does not dispatch, such as
#'   `plogis()` ([nv_logistic()]), is an error. Use [nv_flatten()] instead of `as.vector()` for a
#'   tensor of rank 1.
#'
#' **These do not work:**
#'
#' | | because | write |
#' |---|---|---|
#' | `embed(x, 2)` | `is.vector(x)` is `FALSE` | `embed(as.vector(x), 2)` |
#' | `writeBin(x, con)` | `is.vector(x)` is `FALSE` | [nv_write_bin()] |
#' | `ifelse(p, x, y)`: R vectors `x`, `y`, or an R `p` | gives R numbers | [nv_ifelse()] |
#' | `union()`, `setdiff()` and such beyond 2^53 | they call `as.vector()` | `x[x %in% y]` |
#' | `stack(l)` of a list of tensors | `is.vector(x)` is `FALSE` | `stack(lapply(l, as.vector))` |
#' | `marginSums(x, 1)`, `prop.table(x, 1)` | they copy the class only | `rowSums(x)`, [nv_div()] |
#' | `mean(x, trim = 0.1)` | it has no such argument | `mean(as_array(x), trim = 0.1)` |
#' | `x + y`, `x == y` of `integer64` `y` in R 4.2 | R takes neither method | `x + nv_tensor(y)` |
#' | `y + x` of `integer64` `y`, bit64 4.8 | its method sees doubles | `nv_add(y, x)` |
#' | `if_else()`, `case_when()`, dplyr 1.2 | they refuse classed objects | `as.logical(x > 1)` |
#' | `diag(x)` of one element | it may be a size or a diagonal | [nv_diag()], [nv_eye()] |
#'
#' The S4 generics pass arguments that are not tensors to base R, or to the method of another
#' package, at the cost of an S4 dispatch. If a package that is attached before joist defines a
#' function with one of these names, as BiocGenerics, MatrixGenerics and bit64 do, that function
#' stays in place and gets methods for tensors. Before R 4.3 joist also has a function `%*%`, which
#' passes everything else on.
#'
#' @param x A tensor.
#' @param value For `length<-` a number of elements, for `is.na<-` an index.
#' @param ... Passed on to the function of base R.
#' @return `length<-` and `is.na<-`: the changed tensor. `seq()`: an R vector. For other functions
#'   see Details.
#' @section Errors: `joist_value_error` for a length that is not one number; for an invalid `use` or
#'   `method` of `cov()`, and `use = "all.obs"` with missing values or NaN; and for what depends on
#'   values while [jit()] traces and for [nv_aval()]. `joist_shape_error`
#'   when `yes` or `no` do not fit into the shape of `test`, and for `rle()` of another rank than 1.
#'   `joist_dtype_error` for `var()`, `cov()` and `cor()` of complex tensors.
#' @examples
#' x <- nv_tensor(c(3, 1, 2), "f32")
#' pmax(x, 2)
#' for (e in x) print(e)
#' sapply(x, function(e) e * 2)
#' letters[x]
#' which(x > 1)
#' x[2] <- NA
#' mean(x, na.rm = TRUE)
#' m <- nv_tensor(matrix(c(3, 1, 2, 5, 4, 7), 2))
#' rowSums(m)
#' var(m)
#' ifelse(m > 2, m, 0)
#' bitwAnd(nv_tensor(1:3, "ui8"), 2)
#' nv_tensor(c("9007199254740993", "17"), "i64") %in% "17"
#' @eval paste(c("@aliases %*% pmin pmax complete.cases", base_method_aliases()), collapse = " ")
#' @name base_functions
NULL

#' @rdname base_functions
#' @export
`length<-.nv_tensor` <- function(x, value) {
  if (length(value) != 1L || !is.numeric(value) || is.na(value) || value < 0) {
    stop_joist("joist_value_error", "a length must be one number, 0 or more")
  }
  x <- nv_flatten(x)
  if (value <= length(x)) x[seq_len(value)] else c(x, rep(NA, value - length(x)))
}

#' @rdname base_functions
#' @export
`is.na<-.nv_tensor` <- function(x, value) {
  x[value] <- NA
  x
}

# Sums of the rows of each group, as base R.
#' @rawNamespace S3method(rowsum, nv_tensor)
rowsum.nv_tensor <- function(x, group, reorder = TRUE, na.rm = FALSE, ...) { # nolint
  check_flag(reorder, "reorder")
  if (!ndims(x) %of% 1:2) {
    stop_joist("joist_shape_error", "rowsum() of a tensor of rank ", ndims(x), ", not 1 or 2")
  }
  if (ndims(x) == 1L) x <- nv_unsqueeze(x, 2L)
  if (length(group) != shape(x)[1L]) {
    stop_joist("joist_shape_error", length(group), " groups for ", shape(x)[1L], " rows")
  }
  groups <- nv_group(group, sort = reorder)
  out <- if (groups$count == 0L) {
    nv_reduce_sum(x, 1L, drop = FALSE)[0L, , drop = FALSE]
  } else {
    if (!is_inexact_dtype(x)) x <- like(x, nv_reduce_sum(none_of(x)))
    nv_segment_sum(x, groups, na_rm = na.rm)
  }
  with_names(out, list(as.character(groups$keys), labels_of(x)[[2L]]))
}

# Base R would read the groups as doubles, and take integers beyond 2^53 for missing ones.
rowsum_by_tensor <- function(x, group, reorder, ...) {
  if (is_tensor(x)) {
    return(rowsum.nv_tensor(x, group, reorder, ...))
  }
  check_flag(reorder, "reorder")
  if (anyNA(group)) warning("missing values for 'group'", call. = FALSE)
  groups <- nv_group(group, sort = reorder)
  sums <- base::rowsum(x, as.vector(groups$ids), reorder, ...)
  groups <- as.character(groups$keys)
  if (is.data.frame(sums)) {
    return(structure(sums, row.names = groups)) # may be NA, unlike for `row.names<-`
  }
  rownames(sums) <- groups
  sums
}

# R's own, of R numbers.
#' @rdname base_functions
#' @export
seq.nv_tensor <- function(...) {
  given <- list(...)
  made <- do.call(seq, lapply(given, function(x) if (is_tensor(x)) as.vector(x) else x))
  wide <- is.double(made) && any(vapply(given, function(x) is_tensor(x) && is_int64(x), NA))
  if (wide && any(abs(made[-1L]) >= 2^53)) {
    stop_joist(
      "joist_value_error", "seq() computes in double, which does not hold whole numbers beyond ",
      "2^53; add 0:n to the first number instead"
    )
  }
  made
}

#' @export
as.raw.nv_tensor <- function(x) {
  if (dtype(x) == "ui8") as.vector(as_array(x, "raw")) else as.raw(as.vector(x))
}

#' @exportS3Method bit64::as.integer64
as.integer64.nv_tensor <- function(x, ...) as.vector(x, "integer64")

# By R vectors, and of columns that are tensors.
#' @importFrom stats aggregate
#' @export
aggregate.nv_tensor <- function(x, by, ...) {
  by <- lapply(by, function(group) if (is_tensor(group)) as.vector(group) else group)
  stats::aggregate(as.data.frame(x, nm = "x"), by, ...)
}

#' @export
as.Date.nv_tensor <- function(x, ...) as.Date(as.double(x), ...)

#' @export
as.POSIXct.nv_tensor <- function(x, ...) as.POSIXct(as.double(x), ...)

#' @export
as.table.nv_tensor <- function(x, ...) as.table(as.array(x), ...)

#' @importFrom stats as.ts
#' @export
as.ts.nv_tensor <- function(x, ...) stats::as.ts(as_array(x), ...)

# In double, whatever the precision of the dtype, but 64-bit integers exactly.
#' @export
cut.nv_tensor <- function(x, breaks, labels = NULL, include.lowest = FALSE, # nolint
                          right = TRUE, ...) {
  if (!is_int64(x) || length(breaks) == 1L || !has_elements(x)) {
    if (is_tensor(breaks)) breaks <- as.vector(breaks)
    return(cut(as.vector(x), breaks, labels, include.lowest, right, ...))
  }
  n <- length(breaks)
  exact <- is_tensor(breaks) && is_int64(breaks)
  # R numbers are compared as doubles.
  breaks <- if (is_tensor(breaks)) nv_sort(breaks) else exact_beside(sort(breaks), x)
  if (exact && is.null(labels)) {
    labels <- interval_names(as.character(breaks), include.lowest, right)
  }
  # What base R makes of the arguments, whose breaks are doubles.
  own <- if (exact) seq_len(n) else as.vector(breaks)
  made <- cut(double(), own, labels, include.lowest, right, ...)
  code <- as.vector(nv_digitize(x, breaks, right))
  if (include.lowest) {
    ends <- as.vector(nv_eq(x, breaks[if (right) 1L else n]))
    code[which(ends)] <- if (right) 1L else n - 1L
  }
  code[code < 1L | code >= n] <- NA
  if (!is.factor(made)) {
    return(code)
  }
  factor(levels(made)[code], levels(made), ordered = is.ordered(made))
}

interval_names <- function(ends, lowest, right) {
  n <- length(ends)
  names <- paste0(if (right) "(" else "[", ends[-n], ",", ends[-1L], if (right) "]" else ")")
  if (lowest && right) names[1L] <- sub("^.", "[", names[1L])
  if (lowest && !right) names[n - 1L] <- sub(".$", "]", names[n - 1L])
  names
}
