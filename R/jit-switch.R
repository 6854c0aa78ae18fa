# Branches by number, and scans of associative functions: from nv_if(), slices and nv_vmap().

#' Branch by number
#'
#' `nv_switch()` computes one of several expressions, the one whose position is `index`, as
#' [switch()] does with a number. In [jit()] all are traced, and one is computed: which one is found
#' by about `log2(n)` comparisons.
#'
#' @param index A scalar of an integer dtype, or a whole R number, counted from 1. One below 1 is
#'   the first branch, one beyond the last branch the last, as in JAX.
#' @param ... The branches: expressions, or functions without arguments, as `true` and `false` of
#'   [nv_if()]. They return tensors, R numbers or nested lists, of the same structure and shapes.
#' @return The result of the branch, of the common dtype of all, as in [nv_if()].
#' @section Errors: `joist_value_error` without branches, for an `index` that is not one whole
#'   number or may be missing, and for branches of different structures; `joist_shape_error` for
#'   branches of different shapes; `joist_promotion_error` without a common dtype.
#' @seealso [nv_if()]; [nv_vmap()], by which all branches are computed for an index of each slice.
#' @examples
#' f <- jit(function(k, x) nv_switch(k, sum(x), prod(x), max(x)))
#' f(nv_scalar(2L), nv_tensor(c(2, 3, 4)))
#' nv_vmap(f, c(1, NA))(nv_tensor(1:3), nv_tensor(c(2, 3, 4)))
#' @export
nv_switch <- function(index, ...) {
  count <- ...length()
  if (count == 0L) stop_joist("joist_value_error", "nv_switch() needs branches")
  traced_loop(list(index = branch_number(index)), function(given) {
    choose <- function(first, last) {
      if (first == last) {
        return(branch_value(...elt(first)))
      }
      middle <- (first + last) %/% 2L
      nv_if(given$index <= middle, choose(first, middle), choose(middle + 1L, last))
    }
    choose(1L, count)
  })
}

branch_number <- function(index) {
  if (!is_tensor(index) || is_number(index)) {
    if (!is_whole(index) || length(index) != 1L) {
      stop_joist("joist_value_error", "`index` of nv_switch() must be one whole number")
    }
    return(nv_scalar(index, "i64"))
  }
  if (!is_integer_dtype(index) || ndims(index) != 0L || has_mask(index)) {
    stop_joist(
      "joist_value_error", "`index` of nv_switch() must be a scalar of an integer dtype, not ",
      type_text(index), if (has_mask(index)) " that may be missing"
    )
  }
  index
}

#' Scan by an associative function
#'
#' `nv_associative_scan()` gives, for each position along the first dimension of `x`, what `f` makes
#' of all slices up to it: the first slice, `f(x1, x2)`, `f(f(x1, x2), x3)` and so on. As `f` is
#' associative, many of these are computed at once, in about `2 log2(n)` calls of `f` on many
#' slices, where [nv_scan()] takes `n` turns.
#'
#' `f` is traced as by [nv_vmap()]. How slices are paired depends on their number alone; for
#' floats, the result differs from that of `nv_scan()` as a sum in another order does.
#'
#' @param x A tensor or a nested list of tensors with the same extent of the first dimension.
#' @param f An associative function of two slices, each with the structure of `x`: `f(f(a, b), c)`
#'   is `f(a, f(b, c))`. It returns a slice of the same structure, shapes and dtypes.
#' @param reverse Whether to go from the last position to the first; `f` then gets the slices
#'   in that order.
#' @return Tensors in the structure of `x`, with its shapes, dtypes and names.
#' @section Errors: `joist_value_error` and `joist_shape_error` for an `x` as for `xs` of
#'   [nv_scan()]; if `f` returns another structure, `joist_value_error`, another shape,
#'   `joist_shape_error`, another dtype, `joist_promotion_error`; those of `f`.
#' @seealso [nv_cumsum()] and its neighbours for sums, products, minima and maxima.
#' @examples
#' nv_associative_scan(nv_tensor(c(3, 1, 4, 1, 5)), pmax)
#' # The linear recurrence h[t] = a[t] * h[t - 1] + b[t]:
#' x <- list(a = nv_tensor(c(0.5, 0.5, 2)), b = nv_tensor(c(1, 1, 1)))
#' nv_associative_scan(x, function(p, q) list(a = p$a * q$a, b = q$a * p$b + q$b))$b
#' @export
nv_associative_scan <- function(x, f, reverse = FALSE) {
  f <- traceable(match.fun(f), "f")
  check_flag(reverse, "reverse")
  traced_loop(list(x = x), function(given) {
    arrays <- lapply(leaves_of(given$x), as_operand)
    paths <- leaf_paths(given$x, "x")
    check_scanned(arrays, paths, NULL, "nv_associative_scan", "x")
    turned <- function(parts) {
      if (reverse) lapply(parts, function(x) nv_reverse(x, ndims(x))) else parts
    }
    parts <- turned(lapply(arrays, first_dim_last))
    along <- list(lapply(parts, ndims))
    combine <- function(a, b) {
      made <- vmapped(f, list(refill(given$x, a), refill(given$x, b)), c(along, along), Inf)
      check_structure(made, given$x, "`f` of nv_associative_scan() gives", "`x`", "x")
      made <- leaves_of(made)
      Map(check_carry, paths, a, made, "nv_associative_scan")
      unname(Map(as_type, made, a))
    }
    results <- lapply(turned(scan_pairs(parts, combine)), last_dim_first)
    refill(given$x, Map(with_labels, results, lapply(arrays, labels_of)))
  })
}

# The slices lie along the last dim. Those of even positions are scans of pairs of neighbours; the
# others take one step more.
scan_pairs <- function(parts, combine) {
  n <- utils::tail(shape(parts[[1L]]), 1L)
  if (n < 2L) {
    return(parts)
  }
  every <- function(parts, start, step, count) {
    lapply(parts, function(x) {
      own <- shape(x)[-ndims(x)]
      ones <- rep(1L, length(own))
      slice(x, c(ones, start), c(ones, step), c(own, count))
    })
  }
  pairs <- n %/% 2L
  even <- combine(every(parts, 1L, 2L, pairs), every(parts, 2L, 2L, pairs))
  even <- scan_pairs(even, combine)
  odd <- every(parts, 1L, 1L, 1L)
  rest <- (n - 1L) %/% 2L
  if (rest > 0L) {
    later <- combine(every(even, 1L, 1L, rest), every(parts, 3L, 2L, rest))
    odd <- Map(function(a, b) nv_concatenate(a, b, dim = ndims(a)), odd, later)
  }
  joined <- Map(function(a, b) {
    both <- nv_stack(a, b, dim = ndims(a))
    nv_reshape(both, c(shape(a)[-ndims(a)], 2L * pairs))
  }, every(odd, 1L, 1L, pairs), even)
  if (n == 2L * pairs) {
    return(joined)
  }
  Map(function(a, b) nv_concatenate(a, b, dim = ndims(a)), joined, every(odd, pairs + 1L, 1L, 1L))
}
