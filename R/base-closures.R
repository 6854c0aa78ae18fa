# Functions of base R and stats that are closures, and ask nobody what a tensor is: methods for the
# S4 generics that R derives from them, of which there is one for all packages.

setOldClass("nv_tensor")
setOldClass(c("nv_aval", "nv_tensor"))
setOldClass(c("nv_chunked", "nv_tensor"))
setOldClass(c("nv_traced", "nv_tensor"))
setOldClass("nv_qr")

# Each takes the arguments that its generic has, by their names.
# nolint start: object_name_linter.
base_methods <- list(
  rowSums = function(x, na.rm, dims, ...) sums_of(x, na.rm, dims, nv_row_sums),
  colSums = function(x, na.rm, dims, ...) sums_of(x, na.rm, dims, nv_col_sums),
  rowMeans = function(x, na.rm, dims, ...) means_of(x, na.rm, dims, nv_row_means, nv_row_sums),
  colMeans = function(x, na.rm, dims, ...) means_of(x, na.rm, dims, nv_col_means, nv_col_sums),
  which = function(x, arr.ind, useNames) positions_of(x, arr.ind, useNames),
  which.min = function(x) first_extreme(x, nv_argmin),
  which.max = function(x) first_extreme(x, nv_argmax),
  sd = function(x, na.rm) sd_of_tensor(x, na.rm),
  rle = function(x) runs_of(x),
  tabulate = function(bin, nbins) nv_tabulate(bin, if (missing(nbins)) NULL else nbins),
  ifelse = function(test, yes, no) choose_by(test, yes, no),
  diag = function(x, nrow, ncol, names) diagonal_of(x, missing(nrow) && missing(ncol)),
  rank = function(x, na.last, ties.method) rank.nv_tensor(x, na.last, ties.method),
  encodeString = function(x, width, quote, na.encode, justify) {
    base::encodeString(as_array(x, "character"), width, quote, na.encode, justify)
  },
  bitwNot = function(a) nv_bitwise_not(a)
)

base_methods_of_two <- list(
  var = function(x, y, na.rm, use) var_of_tensors(x, y, na.rm, if (!missing(use)) use),
  cov = function(x, y, use, method) cov_of_tensors("cov()", x, y, use, method),
  cor = function(x, y, use, method) cov_of_tensors("cor()", x, y, use, method),
  match = function(x, table, nomatch, incomparables) {
    match.nv_tensor(x, table, nomatch, incomparables)
  },
  `%in%` = function(x, table) `%in%.nv_tensor`(x, table),
  findInterval = function(x, vec, rightmost.closed, all.inside, left.open) {
    interval_of(x, vec, rightmost.closed, all.inside, left.open)
  },
  rowsum = function(x, group, reorder, ...) {
    base::rowsum(x, if (is_tensor(group)) as.vector(group) else group, reorder, ...)
  },
  atan2 = function(y, x) nv_atan2(y, x),
  bitwAnd = function(a, b) nv_bitwise_and(whole(a), whole(b)),
  bitwOr = function(a, b) nv_bitwise_or(whole(a), whole(b)),
  bitwXor = function(a, b) nv_bitwise_xor(whole(a), whole(b)),
  bitwShiftL = function(a, n) nv_shift_left(whole(a), whole(n)),
  bitwShiftR = function(a, n) nv_shift_right_logical(whole(a), whole(n))
)
# nolint end

# Of what qr() gives for a tensor.
base_methods_of_qr <- list(
  qr.Q = function(qr, complete, Dvec) thin_factor(qr, "Q", complete, missing(Dvec)), # nolint
  qr.R = function(qr, complete, ...) thin_factor(qr, "R", complete),
  qr.coef = function(qr, y) least_squares(qr, y),
  qr.fitted = function(qr, y, k) fitted_by(qr, y),
  qr.resid = function(qr, y) nv_sub(y, fitted_by(qr, y)),
  qr.solve = function(a, b, tol) if (missing(b)) solve_by_qr(a) else solve_by_qr(a, b)
)

# From R 4.4 on crossprod() and tcrossprod() are S3 generics, as `%*%` is from R 4.3 on.
if (getRversion() < "4.4.0") {
  base_methods_of_two$crossprod <- function(x, y, ...) nv_crossprod(x, y)
  base_methods_of_two$tcrossprod <- function(x, y, ...) nv_tcrossprod(x, y)
}

# In `where`, for the generics that R derives, or for those of the same names in another namespace.
set_base_methods <- function(where, generics = NULL) {
  for (name in c(names(base_methods), names(base_methods_of_two))) {
    generic <- if (is.null(generics)) name else own_generic(name, generics)
    if (is.null(generic)) next
    one <- name %in% names(base_methods)
    method <- if (one) base_methods[[name]] else base_methods_of_two[[name]]
    formals(method) <- formals(if (is.function(generic)) generic else match.fun(generic))
    signatures <- list("nv_tensor")
    if (!one) signatures <- list(c("nv_tensor", "ANY"), c("ANY", "nv_tensor"), rep("nv_tensor", 2L))
    for (signature in signatures) setMethod(generic, signature, method, where = where)
  }
  if (is.null(generics)) set_qr_methods(where)
}

set_qr_methods <- function(where) {
  for (name in names(base_methods_of_qr)) {
    method <- base_methods_of_qr[[name]]
    formals(method) <- formals(match.fun(name))
    setMethod(name, "nv_qr", method, where = where)
  }
  setMethod("qr.solve", "nv_tensor", method, where = where)
}

# A generic that shares nothing but the name with the one that R derives.
own_generic <- function(name, namespace) {
  found <- get0(name, namespace, inherits = FALSE)
  if (methods::is(found, "genericFunction") && found@package == getNamespaceName(namespace)) found
}

suppressMessages(set_base_methods(topenv())) # it tells of each generic that it derives it

# Before, `%*%` asks S4 objects only: the one function that hides base R's.
if (getRversion() < "4.3.0") {
  `%*%` <- function(x, y) {
    if (is_tensor(x) || is_tensor(y)) nv_matmul(x, y) else base::`%*%`(x, y)
  }
}

#' @importFrom methods is setMethod setOldClass
#' @evalNamespace paste0("exportMethods(\"", base_generics(), "\")")
#' @rawNamespace if (getRversion() < "4.4.0") exportMethods(crossprod, tcrossprod)
#' @rawNamespace if (getRversion() < "4.3.0") export("%*%")
NULL

# What no version of R dispatches by itself.
base_generics <- function() {
  all <- c(names(base_methods), names(base_methods_of_two), names(base_methods_of_qr))
  setdiff(all, c("crossprod", "tcrossprod"))
}

base_method_aliases <- function() {
  one <- paste0(names(base_methods), ",nv_tensor-method")
  two <- lapply(c("nv_tensor,ANY", "ANY,nv_tensor", "nv_tensor,nv_tensor"), function(signature) {
    paste0(names(base_methods_of_two), ",", signature, "-method")
  })
  of_qr <- c(paste0(names(base_methods_of_qr), ",nv_qr-method"), "qr.solve,nv_tensor-method")
  c(one, unlist(two), of_qr)
}
