# Matrices of derivatives: a directional derivative for each row or column, all at once by
# nv_vmap()'s transformation.

#' Jacobians and Hessians
#'
#' `jacobian(f)` is a function that returns the derivatives of all elements of the value of `f` with
#' respect to all elements of its arguments, `hessian(f)` one that returns the second derivatives of
#' a function with one float scalar as its value. `f` is traced as by [gradient()]. The derivatives
#' of many elements are one computation, as by [nv_vmap()].
#'
#' In reverse mode there is a pass for each element of the value, in forward mode one for each
#' element of the arguments; all passes share what does not depend on the element. A Hessian-vector
#' product needs no Hessian: `nv_jvp(gradient(f), list(x), list(v))$tangent`.
#'
#' @inheritParams gradient
#' @param f A function that returns a float tensor, or a nested list of them; for `hessian()` one
#'   float scalar.
#' @param mode `"reverse"`, `"forward"`, or `"auto"` for the one with fewer passes, for `hessian()`
#'   forward over the gradient.
#' @param sparse Whether to return only the elements that may differ from zero, as a sparse
#'   matrix of
#'   the package Matrix; forward mode.
#' @return A function of the arguments of `f`. That of `jacobian()` returns a named list with an
#'   entry for each argument in `wrt`, of its structure: tensors of the dtype of the argument, with
#'   the extents of the value, then those of the argument. If the value of `f` is a list, it is
#'   a list like it of such lists. That
#'   of `hessian()` returns a named list for each argument in `wrt` of such lists.
#'
#'   With `sparse`, these functions return one matrix of R doubles of all elements of the value in
#'   its rows and of the arguments in `wrt` in its columns: a `dgCMatrix`, or a `dsCMatrix` from
#'   `hessian()`.
#' @section Sparse matrices: Which elements can differ from zero is read from the program of `f`,
#'   loops included, and from the positions by which it indexes, such as those of groups. Columns
#'   without rows in common are computed together: a tridiagonal Hessian takes three passes,
#'   whatever its size. Rows of a Hessian that are nearly full, such as those of parameters that all
#'   observations share, take a pass each. Operations that mix elements, such as decompositions and
#'   sorting, count as depending on all of them, and so do `while` loops.
#' @section Dtypes: As for [gradient()]: derivatives with respect to R numbers of type double are
#'   computed in the dtype that they meet, or in `f64`.
#' @section Errors: `joist_dtype_error` and `joist_value_error` as for [gradient()], and
#'   `joist_value_error` for another `mode`; `joist_shape_error` for `hessian()` of a function with
#'   several elements; `joist_value_error` for `sparse` without the package Matrix, or in a function
#'   that is traced.
#' @seealso [nv_vjp()] and [nv_jvp()] for products with these matrices.
#' @examples
#' f <- function(x, a) c(sum(x) * a, x[1] * x[2])
#' jacobian(f)(nv_tensor(c(1, 2, 3)), nv_scalar(2))
#' hessian(function(x) sum(x^3) + x[1] * x[2])(c(1, 2))$x$x
#' if (requireNamespace("Matrix", quietly = TRUE)) {
#'   hessian(function(x) sum((x[2:5] - x[1:4])^4), sparse = TRUE)(c(1, 2, 4, 3, 5))
#' }
#' @export
jacobian <- function(f, wrt = NULL, mode = c("auto", "reverse", "forward"), sparse = FALSE) {
  mode <- chosen_mode(mode)
  check_flag(sparse, "sparse")
  if (sparse) {
    return(derived_function(f, wrt, sparse_jacobian, symmetric = FALSE))
  }
  derived_function(f, wrt, function(f, arguments, chosen) {
    jacobian_of(f, arguments, chosen, mode)
  })
}

#' @rdname jacobian
#' @export
hessian <- function(f, wrt = NULL, mode = c("auto", "reverse", "forward"), sparse = FALSE) {
  mode <- chosen_mode(mode)
  check_flag(sparse, "sparse")
  if (mode == "auto") mode <- "forward"
  slope_of <- function(f, arguments, chosen) {
    function(...) gradient_of(f, name_like(list(...), arguments), chosen)$grad
  }
  if (sparse) {
    return(derived_function(f, wrt, function(f, arguments, chosen, symmetric) {
      sparse_jacobian(slope_of(f, arguments, chosen), arguments, chosen, symmetric)
    }, symmetric = TRUE))
  }
  derived_function(f, wrt, function(f, arguments, chosen) {
    jacobian_of(slope_of(f, arguments, chosen), arguments, chosen, mode)
  })
}

chosen_mode <- function(mode) {
  modes <- c("auto", "reverse", "forward")
  if (identical(mode, modes)) {
    return("auto")
  }
  if (!is.character(mode) || is.object(mode) || length(mode) != 1L || !mode %in% modes) {
    stop_joist("joist_value_error", "`mode` must be \"auto\", \"reverse\" or \"forward\"")
  }
  mode
}

# For each leaf of the value and each argument in `chosen` the derivatives, in both structures.
jacobian_of <- function(f, arguments, chosen, mode) {
  value <- map_leaves(call_function(f, arguments), differentiable)
  outputs <- leaves_of(value)
  inputs <- arguments[chosen]
  inputs[] <- Map(mark_leaves, inputs, argument_labels(arguments)[chosen])
  leaves <- leaves_of(inputs)
  count <- function(tensors) sum(lengths(tensors))
  forward <- mode == "forward" || mode == "auto" && count(leaves) <= count(outputs)
  passes <- if (forward) forward_passes else reverse_passes
  blocks <- without_prints(passes(f, arguments, chosen, inputs, outputs))
  at <- 0L
  map_leaves(value, function(leaf) {
    at <<- at + 1L
    own <- Map(function(block, input) with_missing_rows(block, leaf, input), blocks[[at]], leaves)
    refill(inputs, own)
  })
}

# If an element of a value is missing, so are all of its derivatives.
with_missing_rows <- function(block, value, input) {
  block <- nv_convert(block, dtype(input), ambiguous(input))
  block <- nv_reshape(block, c(shape(value), shape(input)))
  unknown <- mask_of(value)
  if (is.null(unknown)) {
    return(block)
  }
  unknown <- nv_reshape(unknown, c(shape(value), rep(1L, ndims(input))))
  nv_mask(block, nv_broadcast_to(unknown, shape(block)))
}

# A one for each element of x, and zeros: with a last dim, one slice for each element.
unit_slices <- function(x) {
  n <- length(x)
  same <- nv_iota(1L, "i64", c(n, 1)) == nv_iota(2L, "i64", c(1, n))
  nv_reshape(nv_convert(same, dtype(x), ambiguous(x)), c(shape(x), n))
}

# The value of `f` and its inputs under new names, in the body at hand.
marked_value <- function(f, arguments, inputs, chosen) {
  inputs <- map_leaves(inputs, function(leaf) marked(list(leaf)))
  arguments[chosen] <- inputs
  value <- lapply(leaves_of(call_function(f, arguments)), function(leaf) {
    traced_constant(as_operand(leaf))
  })
  list(inputs = inputs, value = value)
}

# A matrix for each value and input, of all elements of the value in its rows: by a cotangent for
# each.
reverse_passes <- function(f, arguments, chosen, inputs, outputs) {
  lapply(seq_along(outputs), function(k) {
    seeds <- unit_slices(outputs[[k]])
    grad <- vmapped(function(seed) {
      taken <- marked_value(f, arguments, inputs, chosen)
      leaves_of(cotangents(taken$value[k], list(seed), taken$inputs))
    }, list(seeds), list(list(ndims(seeds))), Inf)
    rows <- length(outputs[[k]])
    lapply(grad, function(g) t(nv_reshape(g, c(length(g) %/% max(rows, 1L), rows))))
  })
}

# The same by a tangent for each element of the inputs. The gradient is linear in what it is
# multiplied with: its derivative by that is its transpose.
forward_passes <- function(f, arguments, chosen, inputs, outputs) {
  leaves <- leaves_of(inputs)
  columns <- lapply(seq_along(leaves), function(k) {
    seeds <- unit_slices(leaves[[k]])
    vmapped(function(seed) {
      taken <- marked_value(f, arguments, inputs, chosen)
      tangents_of(taken, k, list(seed))
    }, list(seeds), list(list(ndims(seeds))), Inf)
  })
  lapply(seq_along(outputs), function(r) lapply(columns, `[[`, r))
}

# How values change with some of the inputs.
tangents_of <- function(taken, k, seeds) {
  unknown <- lapply(taken$value, function(leaf) marked(list(zeros_like(leaf))))
  grad <- cotangents(taken$value, unknown, taken$inputs)
  cotangents(leaves_of(grad)[k], seeds, unknown)
}
