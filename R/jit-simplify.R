# sapply(), vapply(), mapply(), unlist() and Reduce() in traced functions. Where results are traced,
# single numbers become a vector of R numbers, as in the plain run; other results go to base R's
# function, which is an error for most.

# The numbers in a list without names as R's own, one after the other with their own names; NULL
# unless all are numbers, some traced. Of R's type `least`, or a wider one.
joined_numbers <- function(x, least = "logical") {
  plain <- is.list(x) && !is.object(x) && is.null(names(x)) && length(x) > 0L
  if (!plain || !all(vapply(x, is_joinable, NA)) || !any(vapply(x, is_traced, NA))) {
    return(NULL)
  }
  named <- any(vapply(x, is_named, NA))
  # One number has no names as a result.
  if (named && sum(lengths(x)) == 1L) {
    return(NULL)
  }
  types <- c(least, vapply(x, typeof, ""))
  type <- if ("double" %of% types) "f64" else if ("integer" %of% types) "i32" else "bool"
  made <- do.call(if (named) base::c else nv_concatenate, lapply(x, function(part) {
    one <- nv_convert(if (is_own_number(part)) carried_number(part) else part, type, TRUE)
    if (ndims(one) == 0L) nv_reshape(one, 1L) else one
  }))
  as_r_number(if (length(made) == 1L) nv_reshape(made, integer()) else made)
}

# R may see integers of 64 bits as NA.
is_joinable <- function(x) {
  fits <- if (is_tensor(x)) is_own_number(x) || !is_int64(x) else !is_named(x)
  is_number_vector(x) && fits && mixed(x) == 0L
}

is_number_vector <- function(x) {
  (is.numeric(x) || is.logical(x)) && length(x) > 0L && is.null(dim(x)) && is_carriable(x)
}

is_named <- function(x) !is.null(attr(x, "names", TRUE))

traced_unlist <- function(x, recursive = TRUE, use.names = TRUE) { # nolint: object_name_linter.
  made <- joined_numbers(x)
  if (is.null(made)) base::unlist(x, recursive, use.names) else made
}

# Results of single numbers as a vector; otherwise what `otherwise` makes of them.
simplified <- function(results, otherwise, least = "logical") {
  made <- if (all(lengths(results) == 1L)) joined_numbers(results, least)
  if (is.null(made)) otherwise(results) else made
}

traced_sapply <- function(X, FUN, ..., simplify = TRUE, USE.NAMES = TRUE) { # nolint
  results <- lapply(X, match.fun(FUN), ...)
  if (USE.NAMES && is.character(X) && is.null(names(results))) names(results) <- X
  if (!USE.NAMES) names(results) <- NULL
  if (isFALSE(simplify)) {
    return(results)
  }
  simplified(results, function(results) {
    base::simplify2array(results, higher = identical(simplify, "array"))
  })
}

traced_vapply <- function(X, FUN, FUN.VALUE, ..., USE.NAMES = TRUE) { # nolint
  if (!is.character(X) && is.null(names(X)) && length(FUN.VALUE) == 1L) {
    results <- lapply(X, match.fun(FUN), ...)
    at <- 0L
    again <- function(...) {
      at <<- at + 1L
      results[[at]]
    }
    wanted <- typeof(FUN.VALUE)
    made <- simplified(results, function(results) NULL, wanted)
    if (!is.null(made) && typeof(made) == wanted) {
      return(unname(made))
    }
    return(base::vapply(X, again, FUN.VALUE, USE.NAMES = USE.NAMES))
  }
  base::vapply(X, FUN, FUN.VALUE, ..., USE.NAMES = USE.NAMES)
}

traced_mapply <- function(FUN, ..., MoreArgs = NULL, SIMPLIFY = TRUE, USE.NAMES = TRUE) { # nolint
  results <- base::mapply(
    match.fun(FUN), ...,
    MoreArgs = MoreArgs, SIMPLIFY = FALSE, USE.NAMES = USE.NAMES
  )
  if (isFALSE(SIMPLIFY)) {
    return(results)
  }
  simplified(results, function(results) {
    base::simplify2array(results, higher = identical(SIMPLIFY, "array"))
  })
}

# Pairs, which base R's function does not simplify, have the values.
traced_reduce <- function(f, x, init, right = FALSE, accumulate = FALSE, ...) {
  if (!accumulate) {
    return(base::Reduce(f, x, init, right, FALSE, ...))
  }
  f <- match.fun(f)
  pair <- function(x) list(x, NULL)
  both <- function(a, b) pair(f(a[[1L]], b[[1L]]))
  x <- lapply(as.list(x), pair)
  made <- if (missing(init)) {
    base::Reduce(both, x, right = right, accumulate = TRUE)
  } else {
    base::Reduce(both, x, pair(init), right, TRUE)
  }
  results <- lapply(made, `[[`, 1L)
  if (isFALSE(list(...)$simplify) || !all(lengths(results) == 1L)) {
    return(results)
  }
  simplified(results, function(results) base::unlist(results, recursive = FALSE))
}

simplifying_functions <- list(
  sapply = traced_sapply, vapply = traced_vapply, mapply = traced_mapply, unlist = traced_unlist,
  Reduce = traced_reduce
)
