#' Base functions that take tensors
#'
#' Functions of base R and of stats that do not ask what they are given, and stop for a tensor or
#' read it wrongly. joist's versions compute with tensors by the functions named below, and hand
#' everything else to the function of the same name in base R, with the same arguments.
#'
#' | | with a tensor calls |
#' |---|---|
#' | `rowSums()`, `colSums()`, `rowMeans()`, `colMeans()` | [nv_row_sums()] and relatives |
#' | `which()` | [nv_which()] |
#' | `which.min()`, `which.max()` | [nv_argmin()], [nv_argmax()]; NaN is left out, as by base R |
#' | `var()`, `sd()` | [nv_var()], [nv_sd()]; `var()` of a matrix the covariances of its columns |
#' | `cov()`, `cor()` | [nv_cov()], [nv_cor()] |
#' | `pmin()`, `pmax()` | [nv_min()], [nv_max()] |
#' | `ifelse()` | [nv_ifelse()] |
#' | `findInterval()` | [nv_searchsorted()] |
#' | `match()`, `%in%` | [base::match()] of their values |
#' | `rle()`, `unsplit()` | `!=`, [nv_concatenate()] and subsets; `values` of a run are a tensor |
#' | `tabulate()` | [nv_tabulate()] |
#' | `atan2()` | [nv_atan2()] |
#' | `bitwAnd()`, `bitwOr()`, `bitwXor()`, `bitwNot()` | [nv_bitwise_and()] and relatives |
#' | `bitwShiftL()`, `bitwShiftR()` | [nv_shift_left()], [nv_shift_right_logical()] |
#' | before R 4.4 `crossprod()` and `tcrossprod()` | [nv_crossprod()], [nv_tcrossprod()] |
#' | before R 4.3 `%*%` | [nv_matmul()] |
#'
#' Later versions of R dispatch the last ones by themselves.
#'
#' One operand is a tensor; others may be R numbers, which keep their exact values until the common
#' dtype is known. All but `which()`, `match()`, `%in%` and `rle()` also work in [jit()] and on
#' [nv_aval()].
#'
#' Where neither `yes` nor `no` is a tensor, `ifelse()` gives an R vector as base R does, and a
#' tensor only while [jit()] traces. The test must be a tensor where one of them is.
#'
#' Objects that have S4 methods for a function, as sparse matrices of Matrix have for `rowSums()`,
#' get these. With Matrix loaded, its generics have methods for tensors, so that the order in which
#' the packages are attached does not matter.
#'
#' @param x,y A tensor, or what base R takes. For `rowSums()` and its relatives of rank 2 or more;
#'   for `which()` of dtype `bool`; for `crossprod()` and `%*%` as in [nv_matmul()].
#' @param na.rm `TRUE` leaves out NaN (and `NA_real_`) in `rowSums()` and relatives, `pmin()` and
#'   `pmax()`; see `...` for `var()` and `sd()`.
#' @param dims How many dimensions the rows are: `rowSums()` sums over the others, `colSums()` over
#'   these.
#' @param arr.ind `TRUE` for a matrix of one index per dimension, with `useNames` for its columns
#'   to be named.
#' @param useNames See `arr.ind`.
#' @param ... For `pmin()` and `pmax()`, tensors and R numbers whose shapes fit each other. For
#'   `var()`, `sd()`, `cov()` and `cor()`, `na.rm` and `use` as in [stats::cor()]: NaN is left out,
#'   and where no row is left the result is NaN. `method` must be `"pearson"`. For `findInterval()`,
#'   the arguments `rightmost.closed`, `all.inside` and `left.open` of [base::findInterval()].
#'   Otherwise ignored.
#' @param test A tensor.
#' @param yes,no A tensor or R numbers, of the shape of `test`, or with extents of 1.
#' @param table,nomatch,incomparables As in [base::match()]; a tensor or what base R takes.
#' @param vec Sorted elements: a tensor of rank 1 or R numbers.
#' @param bin,nbins As in [nv_tabulate()].
#' @param value A list of tensors of rank 1, or of data frames with tensors, as [split()] gives it.
#' @param f What they were split by: a factor, or what [base::split()] takes.
#' @param drop Whether levels without elements were left out.
#' @param a,b,n Tensors, or R numbers, which may be whole numbers in double as in base R.
#' @return `which()` an R vector of whole numbers (a matrix with `arr.ind`), `match()` and `%in%` an
#'   R vector, as base R; `rle()` an object of class `rle` as [base::rle()], with an R vector of
#'   lengths; the others a tensor of the dtype that the function in the table gives.
#'   `which.min()` and `which.max()` give 0 where all elements are NaN. `findInterval()` of NaN is
#'   the number of intervals, as NaN is the largest.
#' @section Errors: Those of the functions in the table, and `joist_value_error` for `which()`,
#'   `match()`, `rle()` and `use = "all.obs"` while `jit()` traces and for [nv_aval()], and for
#'   another `use` or `method` than these; `joist_shape_error` when `yes` or `no` do not fit into
#'   the shape of `test`, for `rle()` of another rank than 1, and for parts of `unsplit()` that are
#'   not as long as their groups;
#'   `joist_dtype_error` for `var()`, `cov()` and `cor()` of complex tensors.
#' @examples
#' x <- nv_tensor(matrix(c(3, 1, 2, 5, 4, 7), 2))
#' rowSums(x)
#' colMeans(x)
#' which(x > 2, arr.ind = TRUE)
#' which.max(x)
#' var(x)
#' sd(c(x, nv_scalar(NaN)), na.rm = TRUE)
#' cor(x, use = "complete.obs")
#' pmax(x, 2, 4)
#' ifelse(x > 2, x, 0)
#' findInterval(x, c(1, 3, 5))
#' bitwAnd(nv_tensor(1:3, "ui8"), 2)
#' rowSums(matrix(1:6, 2)) # base R's
#' @aliases crossprod tcrossprod %*%
#' @name extended
#' @rawNamespace if (getRversion() < "4.4.0") export(crossprod, tcrossprod)
#' @rawNamespace if (getRversion() < "4.3.0") export("%*%")
NULL

#' @rdname extended
#' @export
rowSums <- function(x, na.rm = FALSE, dims = 1L, ...) { # nolint: object_name_linter.
  if (is.object(x)) {
    if (is_tensor(x)) {
      return(sums_of(x, na.rm, dims, nv_row_sums))
    }
    if (isS4(x)) {
      return(s4_generic("rowSums")(x, na.rm = na.rm, dims = dims, ...))
    }
  }
  base::rowSums(x, na.rm, dims, ...)
}

#' @rdname extended
#' @export
colSums <- function(x, na.rm = FALSE, dims = 1L, ...) { # nolint: object_name_linter.
  if (is.object(x)) {
    if (is_tensor(x)) {
      return(sums_of(x, na.rm, dims, nv_col_sums))
    }
    if (isS4(x)) {
      return(s4_generic("colSums")(x, na.rm = na.rm, dims = dims, ...))
    }
  }
  base::colSums(x, na.rm, dims, ...)
}

#' @rdname extended
#' @export
rowMeans <- function(x, na.rm = FALSE, dims = 1L, ...) { # nolint: object_name_linter.
  if (is.object(x)) {
    if (is_tensor(x)) {
      return(means_of(x, na.rm, dims, nv_row_means, nv_row_sums))
    }
    if (isS4(x)) {
      return(s4_generic("rowMeans")(x, na.rm = na.rm, dims = dims, ...))
    }
  }
  base::rowMeans(x, na.rm, dims, ...)
}

#' @rdname extended
#' @export
colMeans <- function(x, na.rm = FALSE, dims = 1L, ...) { # nolint: object_name_linter.
  if (is.object(x)) {
    if (is_tensor(x)) {
      return(means_of(x, na.rm, dims, nv_col_means, nv_col_sums))
    }
    if (isS4(x)) {
      return(s4_generic("colMeans")(x, na.rm = na.rm, dims = dims, ...))
    }
  }
  base::colMeans(x, na.rm, dims, ...)
}

#' @rdname extended
#' @export
which <- function(x, arr.ind = FALSE, useNames = TRUE) { # nolint: object_name_linter.
  if (is.object(x)) {
    if (is_tensor(x)) {
      return(positions_of(x, arr.ind, useNames))
    }
    if (isS4(x)) {
      return(s4_generic("which")(x, arr.ind, useNames))
    }
  }
  base::which(x, arr.ind, useNames)
}

#' @rdname extended
#' @export
which.min <- function(x) { # nolint: object_name_linter.
  if (is.object(x)) {
    if (is_tensor(x)) {
      return(first_extreme(x, nv_argmin))
    }
    if (isS4(x)) {
      return(s4_generic("which.min")(x))
    }
  }
  base::which.min(x)
}

#' @rdname extended
#' @export
which.max <- function(x) { # nolint: object_name_linter.
  if (is.object(x)) {
    if (is_tensor(x)) {
      return(first_extreme(x, nv_argmax))
    }
    if (isS4(x)) {
      return(s4_generic("which.max")(x))
    }
  }
  base::which.max(x)
}

#' @rdname extended
#' @export
atan2 <- function(y, x) {
  if (is.object(y) || is.object(x)) {
    if (is_tensor(y) || is_tensor(x)) {
      return(nv_atan2(y, x))
    }
    if (isS4(y) || isS4(x)) {
      return(s4_generic("atan2")(y, x))
    }
  }
  base::atan2(y, x)
}

#' @rdname extended
#' @export
var <- function(x, y = NULL, ...) {
  if (is.object(x) && is_tensor(x) || is.object(y) && is_tensor(y)) {
    var_of_tensors(x, y, ...)
  } else {
    stats::var(x, y, ...)
  }
}

#' @rdname extended
#' @export
sd <- function(x, ...) {
  if (is.object(x) && is_tensor(x)) sd_of_tensor(x, ...) else stats::sd(x, ...)
}

#' @rdname extended
#' @export
cov <- function(x, y = NULL, ...) {
  if (is.object(x) && is_tensor(x) || is.object(y) && is_tensor(y)) {
    cov_of_tensors("cov()", x, y, ...)
  } else {
    stats::cov(x, y, ...)
  }
}

#' @rdname extended
#' @export
cor <- function(x, y = NULL, ...) {
  if (is.object(x) && is_tensor(x) || is.object(y) && is_tensor(y)) {
    cov_of_tensors("cor()", x, y, ...)
  } else {
    stats::cor(x, y, ...)
  }
}

#' @rdname extended
#' @export
pmin <- function(..., na.rm = FALSE) { # nolint: object_name_linter.
  parts <- list(...)
  if (any_tensor(parts)) {
    parallel_extreme(nv_min, parts, na.rm)
  } else {
    base::pmin(..., na.rm = na.rm)
  }
}

#' @rdname extended
#' @export
pmax <- function(..., na.rm = FALSE) { # nolint: object_name_linter.
  parts <- list(...)
  if (any_tensor(parts)) {
    parallel_extreme(nv_max, parts, na.rm)
  } else {
    base::pmax(..., na.rm = na.rm)
  }
}

#' @rdname extended
#' @export
ifelse <- function(test, yes, no) {
  if (is.object(test) && is_tensor(test)) choose_by(test, yes, no) else base::ifelse(test, yes, no)
}

#' @rdname extended
#' @export
findInterval <- function(x, vec, ...) { # nolint: object_name_linter.
  if (is.object(x) && is_tensor(x) || is.object(vec) && is_tensor(vec)) {
    interval_of(x, vec, ...)
  } else {
    base::findInterval(x, vec, ...)
  }
}

#' @rdname extended
#' @export
tabulate <- function(bin, nbins = max(1L, bin, na.rm = TRUE)) {
  if (is.object(bin) && is_tensor(bin)) {
    nv_tabulate(bin, if (missing(nbins)) NULL else nbins)
  } else if (missing(nbins)) {
    base::tabulate(bin)
  } else {
    base::tabulate(bin, nbins)
  }
}

#' @rdname extended
#' @export
bitwAnd <- function(a, b) { # nolint: object_name_linter.
  if (is.object(a) && is_tensor(a) || is.object(b) && is_tensor(b)) {
    nv_bitwise_and(whole(a), whole(b))
  } else {
    base::bitwAnd(a, b)
  }
}

#' @rdname extended
#' @export
bitwOr <- function(a, b) { # nolint: object_name_linter.
  if (is.object(a) && is_tensor(a) || is.object(b) && is_tensor(b)) {
    nv_bitwise_or(whole(a), whole(b))
  } else {
    base::bitwOr(a, b)
  }
}

#' @rdname extended
#' @export
bitwXor <- function(a, b) { # nolint: object_name_linter.
  if (is.object(a) && is_tensor(a) || is.object(b) && is_tensor(b)) {
    nv_bitwise_xor(whole(a), whole(b))
  } else {
    base::bitwXor(a, b)
  }
}

#' @rdname extended
#' @export
bitwNot <- function(a) { # nolint: object_name_linter.
  if (is.object(a) && is_tensor(a)) nv_bitwise_not(a) else base::bitwNot(a)
}

#' @rdname extended
#' @export
bitwShiftL <- function(a, n) { # nolint: object_name_linter.
  if (is.object(a) && is_tensor(a) || is.object(n) && is_tensor(n)) {
    nv_shift_left(whole(a), whole(n))
  } else {
    base::bitwShiftL(a, n)
  }
}

#' @rdname extended
#' @export
bitwShiftR <- function(a, n) { # nolint: object_name_linter.
  if (is.object(a) && is_tensor(a) || is.object(n) && is_tensor(n)) {
    nv_shift_right_logical(whole(a), whole(n))
  } else {
    base::bitwShiftR(a, n)
  }
}

#' @rdname extended
#' @export
rle <- function(x) if (is.object(x) && is_tensor(x)) runs_of(x) else base::rle(x)

#' @rdname extended
#' @export
unsplit <- function(value, f, drop = FALSE) {
  if (is.list(value) && !is.object(value) && any_tensor_within(value)) {
    put_back(value, f, drop)
  } else {
    base::unsplit(value, f, drop)
  }
}

# ---- what later versions of R dispatch by themselves ----

if (getRversion() < "4.4.0") {
  crossprod <- function(x, y = NULL, ...) {
    if (is.object(x) || is.object(y)) {
      if (is_tensor(x) || is_tensor(y)) {
        return(nv_crossprod(x, y))
      }
      if (isS4(x) || isS4(y)) {
        generic <- s4_generic("crossprod")
        return(if (missing(y)) generic(x, ...) else generic(x, y, ...))
      }
    }
    base::crossprod(x, y, ...)
  }
}

if (getRversion() < "4.4.0") {
  tcrossprod <- function(x, y = NULL, ...) {
    if (is.object(x) || is.object(y)) {
      if (is_tensor(x) || is_tensor(y)) {
        return(nv_tcrossprod(x, y))
      }
      if (isS4(x) || isS4(y)) {
        generic <- s4_generic("tcrossprod")
        return(if (missing(y)) generic(x, ...) else generic(x, y, ...))
      }
    }
    base::tcrossprod(x, y, ...)
  }
}

if (getRversion() < "4.3.0") {
  `%*%` <- function(x, y) {
    if (is.object(x) && is_tensor(x) || is.object(y) && is_tensor(y)) {
      nv_matmul(x, y)
    } else {
      base::`%*%`(x, y) # dispatches on S4 objects
    }
  }
}

#' @rdname extended
#' @export
match <- function(x, table, nomatch = NA_integer_, incomparables = NULL) {
  if (is.object(x) && is_tensor(x)) x <- mtfrm.nv_tensor(x)
  if (is.object(table) && is_tensor(table)) table <- mtfrm.nv_tensor(table)
  if (isS4(x) || isS4(table)) {
    return(s4_generic("match")(x, table, nomatch, incomparables))
  }
  base::match(x, table, nomatch, incomparables)
}

#' @rdname extended
#' @export
`%in%` <- function(x, table) match(x, table, nomatch = 0L) > 0L

# ---- S4 ----

# The generic that R derives from a function of base R, of which there is one for all packages, or
# without any S4 methods the function itself.
s4_generic <- function(name) {
  generic <- methods::getGeneric(name, package = "base")
  if (is.null(generic)) get(name, baseenv()) else generic
}

# Matrix exports such generics, which hide functions above if it is attached later.
set_s4_methods <- function(...) {
  where <- new.env(parent = baseenv()) # where the functions above are not seen
  assign(".packageName", "joist", envir = where)
  methods::setOldClass(c("nv_aval", "nv_tensor"), where = where)
  methods::setOldClass(c("nv_traced", "nv_tensor"), where = where)
  set_method <- function(name, ...) {
    # It tells that it makes a generic.
    suppressMessages(methods::setMethod(name, c(...), s4_method(name), where = where))
  }
  for (name in c("rowSums", "colSums", "rowMeans", "colMeans", "which")) {
    set_method(name, "nv_tensor")
  }
  for (name in if (getRversion() < "4.4.0") c("crossprod", "tcrossprod")) {
    for (other in c("ANY", "missing", "nv_tensor")) set_method(name, "nv_tensor", other)
    set_method(name, "ANY", "nv_tensor")
  }
}

# joist's function with the arguments that the generic has.
s4_method <- function(name) {
  method <- get(name, topenv())
  formals(method) <- formals(methods::getGeneric(name, package = "base"))
  method
}

on_load_of_matrix <- function() {
  if (isNamespaceLoaded("Matrix")) {
    set_s4_methods()
  } else {
    setHook(packageEvent("Matrix", "onLoad"), set_s4_methods)
  }
}
