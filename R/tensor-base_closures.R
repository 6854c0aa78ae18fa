# Functions of base R and stats that do not dispatch, and whose result for a tensor is a tensor, or
# would be wrong without a method: methods for the S4 generics that R derives from them, of which
# there is one for all packages. What base R asks of classes instead is not enough for these:
# * match() and %in%: mtfrm() sees one operand, but f32 0.1 equals R's 0.1 only if both are compared
#   in f32, and an i64 equals "100000" as text and 1e5 as a number. R 4.1 has no mtfrm().
# * which.min(), which.max(): base R converts to double, in which large i64 may be equal.
# * rank(): base R compares pairs of elements by calls of `[` and `>`, some 20 microseconds each.
#   Where it is called without the method, `[` gives it the ranks of elements instead of these.
# * bitwAnd() and its like: base R converts to 32-bit integers and returns these.
# * isTRUE(), isFALSE(): base R answers FALSE for a traced tensor, whose value is not known yet.

setOldClass("nv_tensor")
setOldClass(c("nv_aval", "nv_tensor"))
setOldClass(c("nv_chunked", "nv_tensor"))
setOldClass("nv_qr")
setOldClass("nv_packed")

# What stands beside a tensor among the operands of pmin() and pmax().
setClassUnion("nv_number", c("nv_tensor", "numeric", "logical", "complex", "matrix", "array"))

# Each takes the arguments that its generic has, by their names.
# nolint start: object_name_linter.
base_methods <- list(
  rowSums = function(x, na.rm, dims, ...) sums_of(x, na.rm, -row_dims(x, dims)),
  colSums = function(x, na.rm, dims, ...) sums_of(x, na.rm, row_dims(x, dims)),
  rowMeans = function(x, na.rm, dims, ...) means_of(x, na.rm, -row_dims(x, dims)),
  colMeans = function(x, na.rm, dims, ...) means_of(x, na.rm, row_dims(x, dims)),
  which.min = function(x) first_extreme(x, "argmin"),
  which.max = function(x) first_extreme(x, "argmax"),
  sd = function(x, na.rm) sd_of_tensor(x, na.rm),
  rle = function(x) runs_of(x),
  ave = function(x, ..., FUN) averages_of(x, list(...), FUN),
  ifelse = function(test, yes, no) choose_by(test, yes, no),
  diag = function(x, nrow, ncol, names) diagonal_of(x, missing(nrow) && missing(ncol), names),
  rank = function(x, na.last, ties.method) rank_of(x, na.last, ties.method),
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
  rowsum = function(x, group, reorder, ...) rowsum_by_tensor(x, group, reorder, ...),
  atan2 = function(y, x) nv_atan2(y, x),
  bitwAnd = function(a, b) nv_bitwise_and(whole(a), whole(b)),
  bitwOr = function(a, b) nv_bitwise_or(whole(a), whole(b)),
  bitwXor = function(a, b) nv_bitwise_xor(whole(a), whole(b)),
  bitwShiftL = function(a, n) nv_shift_left(whole(a), whole(n)),
  bitwShiftR = function(a, n) nv_shift_right_logical(whole(a), whole(n))
)

# Of any number of operands, one of which is a tensor.
base_methods_of_all <- list(
  pmin = function(..., na.rm) extremes_of(list(...), na.rm, nv_min, base::pmin),
  pmax = function(..., na.rm) extremes_of(list(...), na.rm, nv_max, base::pmax)
)

# Of tensors, or data frames of them.
base_methods_of_frames <- list(
  complete.cases = function(...) cases_without_na(list(...))
)

# Of what qr() gives for a tensor.
base_methods_of_qr <- list(
  qr.Q = function(qr, complete, Dvec) factor_of(qr, "Q", complete, missing(Dvec)),
  qr.R = function(qr, complete, ...) factor_of(qr, "R", complete),
  qr.coef = function(qr, y) least_squares(qr, y),
  qr.fitted = function(qr, y, k) fitted_by(qr, y),
  qr.resid = function(qr, y) nv_sub(right_side(y), fitted_by(qr, y)),
  qr.solve = function(a, b, tol) {
    if (missing(b)) solve_by_qr(a, tol = tol) else solve_by_qr(a, b, tol)
  }
)

# nolint end

# From R 4.4 on crossprod() and tcrossprod() are S3 generics, as `%*%` is from R 4.3 on.
if (getRversion() < "4.4.0") {
  base_methods_of_two$crossprod <- function(x, y, ...) nv_crossprod(x, y)
  base_methods_of_two$tcrossprod <- function(x, y, ...) nv_tcrossprod(x, y)
}

# The signatures of the methods of each list.
method_lists <- function() {
  pairs <- function(class) list(c(class, "ANY"), c("ANY", class), rep(class, 2L))
  two <- pairs("nv_tensor")
  names <- intersect(c("crossprod", "tcrossprod"), names(base_methods_of_two))
  products <- base_methods_of_two[names]
  mixed <- list(c("nv_tensor", "nv_packed"), c("nv_packed", "nv_tensor"))
  list(
    list(base_methods, list("nv_tensor")), list(base_methods_of_two, two),
    list(base_methods_of_all, list("nv_number")),
    list(base_methods_of_frames, list("nv_number", "data.frame")),
    list(base_methods_of_qr, list("nv_qr")),
    list(base_methods_of_qr["qr.solve"], list("nv_tensor")),
    list(products, c(pairs("nv_packed"), mixed))
  )
}

# In `where`, for the generics that R derives, or for those of the same names in another namespace.
set_base_methods <- function(where, generics = NULL) {
  for (methods in method_lists()) {
    for (name in names(methods[[1L]])) {
      generic <- generic_of(name, where, generics)
      if (is.null(generic)) next
      method <- methods[[1L]][[name]]
      formals(method) <- formals(generic)
      for (signature in methods[[2L]]) setMethod(generic, signature, method, where = where)
    }
  }
}

generic_of <- function(name, where, generics) {
  if (!is.null(generics)) {
    return(own_generic(name, generics))
  }
  if (name %in% names(c(base_methods_of_all, base_methods_of_frames))) {
    methods::setGeneric(name, signature = "...", where = where)
  } else {
    methods::setGeneric(name, where = where)
  }
  get(name, where)
}

# A package's own generic, which shares only its name with the generic that R derives.
own_generic <- function(name, namespace) {
  found <- get0(name, namespace, inherits = FALSE)
  if (methods::is(found, "genericFunction") && found@package == getNamespaceName(namespace)) found
}

# A dispatch makes a simpleError of any error in an argument that it evaluates. So that conditions
# keep their class, this generic evaluates such arguments before. On `...`, where a dispatch takes
# long, and in match() and %in%, which are called often, it dispatches only on objects, and on `...`
# and in crossprod() and tcrossprod() on those of other classes only.
evaluating_first <- function(generic, name) {
  dispatch <- call("standardGeneric", as.vector(generic@generic))
  home <- environmentName(environment(generic@default)) # a generic on `...` counts as joist's own
  of_base <- call("::", as.name(if (nzchar(home)) home else generic@package), as.name(name))
  code <- if (name %in% names(base_methods_of_frames)) {
    on_frames(base_methods_of_frames[[name]], of_base, dispatch)
  } else if (identical(generic@signature, "...")) {
    own <- base_methods_of_all[[name]]
    bquote({
      objects <- ours <- 0L
      for (part in list(...)) {
        if (is.object(part)) objects <- objects + 1L
        if (inherits(part, "nv_tensor")) ours <- ours + 1L
      }
      if (objects == 0L) {
        .(of_base)(..., na.rm = na.rm)
      } else if (ours == objects) {
        .(own)(..., na.rm = na.rm)
      } else {
        .(dispatch)
      }
    })
  } else if (name %in% c("crossprod", "tcrossprod")) {
    own <- base_methods_of_two[[name]]
    ours <- function(x) bquote(inherits(.(as.name(x)), .(c("nv_tensor", "nv_packed"))))
    bquote(if (.(ours("x")) && (!is.object(y) || .(ours("y")))) .(own)(x, y) else .(dispatch))
  } else if (name %in% c("match", "%in%")) {
    given <- lapply(names(formals(generic)), as.name)
    default <- as.call(c(of_base, given))
    bquote(if (is.object(x) || is.object(table)) .(dispatch) else .(default))
  } else {
    looked_at <- if (name %in% names(base_methods_of_two)) 1:2 else 1L
    first <- lapply(lapply(generic@signature[looked_at], as.name), function(name) {
      bquote(if (!missing(.(name))) .(name))
    })
    as.call(c(quote(`{`), first, dispatch))
  }
  made <- as.function(c(formals(generic), code), envir = environment(generic))
  attributes(made) <- attributes(generic)
  asS4(made)
}

on_frames <- function(own, of_base, dispatch) {
  bquote({
    ours <- ...length() > 0L && inherits(..1, "nv_tensor")
    objects <- if (!ours) Filter(is.object, list(...))
    if (ours || any(rapply(objects, inherits, what = "nv_tensor", how = "unlist"))) {
      .(own)(...)
    } else if (length(objects) == 0L) {
      .(of_base)(...)
    } else {
      .(dispatch)
    }
  })
}

suppressMessages(set_base_methods(topenv())) # it tells of each generic that it derives it

# Before, `%*%` asks S4 objects only: the one function that hides base R's.
if (getRversion() < "4.3.0") {
  `%*%` <- function(x, y) {
    ours <- is_tensor(x) || is_tensor(y) || is_packed(x) || is_packed(y)
    if (ours && !isS4(x) && !isS4(y)) nv_matmul(x, y) else base::`%*%`(x, y)
  }
}

#' @importFrom methods is setClassUnion setMethod setOldClass
#' @evalNamespace paste0("exportMethods(\"", base_generics(), "\")")
#' @rawNamespace if (getRversion() < "4.4.0") exportMethods(crossprod, tcrossprod)
#' @rawNamespace if (getRversion() < "4.3.0") export("%*%")
NULL

# What no version of R dispatches by itself.
base_generics <- function() {
  all <- unique(unlist(lapply(method_lists(), function(methods) names(methods[[1L]]))))
  setdiff(all, c("crossprod", "tcrossprod"))
}

base_method_aliases <- function() {
  unlist(lapply(method_lists(), function(methods) {
    signatures <- vapply(methods[[2L]], paste, "", collapse = ",")
    paste0(outer(names(methods[[1L]]), signatures, paste, sep = ","), "-method", recycle0 = TRUE)
  }))
}
