#' Products with the matrix of derivatives
#'
#' `nv_vjp()` and `nv_jvp()` give derivatives of functions with results of any number and shape: the
#' product of their matrix of derivatives (the Jacobian) with a vector, from the left in `nv_vjp()`,
#' as in [gradient()], and from the right in `nv_jvp()`. `nv_linearize()` gives the product from the
#' right as a function of the vector, for many products at the same arguments: `f` is traced and
#' computed once, and what the products need of it is kept.
#'
#' @param f A function of tensors; its value is a tensor or a nested list of them.
#' @param arguments A list of the arguments of `f`, by name or position. Derivatives are taken with
#'   respect to all of them: float tensors, R numbers of type double, and nested lists of these.
#' @param cotangents A tensor, R number or nested list with the structure of the value of `f`: the
#'   weights of its elements in the sum that is differentiated. They are converted to the dtype of
#'   the value.
#' @param tangents A list like `arguments`: the direction in which the arguments change. They are
#'   converted to the dtypes of the arguments.
#' @return `nv_vjp()`: a list of `value`, that of `f`, and `grad`, the cotangents of the arguments:
#'   a list like `arguments`. `nv_jvp()`: a list of `value` and of `tangent`, its change, which has
#'   the structure, dtypes and shapes of the value. `nv_linearize()`: a list of `value` and of
#'   `tangent`, a function of `tangents` that returns what the `tangent` of `nv_jvp()` is. In a
#'   function that is traced, a call of `tangent` within the body of a loop computes `f` again.
#' @section Errors: `joist_dtype_error` for an argument or a value of `f` that is not a float;
#'   `joist_shape_error` for cotangents or tangents of another structure or shape;
#'   `joist_value_error` for arguments that `f` does not have, and for an operation without a
#'   derivative.
#' @examples
#' f <- function(x, y) list(x * y, sum(x))
#' nv_vjp(f, list(nv_tensor(c(1, 2)), nv_scalar(3)), list(nv_tensor(c(1, 0)), 1))
#' nv_jvp(f, list(nv_tensor(c(1, 2)), nv_scalar(3)), list(nv_tensor(c(0, 1)), 0))$tangent
#' # The product of a Hessian with vectors: the gradient is computed once.
#' slope <- nv_linearize(gradient(function(x) sum(x^3)), list(nv_tensor(c(1, 2), "f64")))
#' slope$tangent(list(c(1, 0)))$x
#' slope$tangent(list(c(0, 1)))$x
#' @export
nv_vjp <- function(f, arguments, cotangents) {
  f <- traceable(match.fun(f), "f")
  check_arguments(f, arguments)
  compute <- function(given) {
    taken <- evaluate_marked(f, given[[1L]])
    seeds <- directions(given[[2L]], taken$value, "cotangents")
    list(value = taken$value, grad = cotangents_of(taken, seeds))
  }
  in_trace(compute, list(arguments, cotangents), 1:2)
}

#' @rdname nv_vjp
#' @export
nv_jvp <- function(f, arguments, tangents) {
  f <- traceable(match.fun(f), "f")
  check_arguments(f, arguments)
  compute <- function(given) {
    map <- linear_map(f, given[[1L]])
    seeds <- directions(given[[2L]], map$inputs, "tangents")
    list(value = map$value, tangent = map$at(seeds))
  }
  in_trace(compute, list(arguments, tangents), 1:2)
}

#' @rdname nv_vjp
#' @export
nv_linearize <- function(f, arguments) {
  f <- traceable(match.fun(f), "f")
  check_arguments(f, arguments)
  again <- function(tangents) nv_jvp(f, arguments, tangents)$tangent
  if (is_tracing()) {
    own <- session()$trace
    map <- linear_map(f, arguments)
    return(list(value = map$value, tangent = function(tangents) {
      if (!identical(session()$trace, own)) {
        return(again(tangents))
      }
      map$at(directions(tangents, map$inputs, "tangents"))
    }))
  }
  inputs <- map_leaves(arguments, as_exact_operand)
  compiled <- NULL
  found <- in_trace(function(given) {
    map <- linear_map(f, given[[1L]])
    kept <- products_of(map)
    compiled <<- kept$compiled
    list(value = map$value, kept = kept$values)
  }, list(arguments), 1L)
  state <- .Call(joist_r_jit_state, 1L, NULL)
  list(value = found$value, tangent = function(tangents) {
    if (is_tracing()) {
      return(again(tangents))
    }
    operands <- c(found$kept, leaves_of(directions(tangents, inputs, "tangents")))
    run_traced(state, compiled, operands, rep(TRUE, length(operands)))
  })
}

# The value of `f`, its inputs, and the change of the value as a function of theirs.
linear_map <- function(f, arguments) {
  taken <- evaluate_marked(f, arguments)
  # The gradient is linear in what it is multiplied with: its derivative by that is its transpose.
  unknown <- map_leaves(taken$value, function(leaf) marked(list(zeros_like(leaf))))
  grad <- cotangents_of(taken, unknown)
  taken$at <- function(seeds) cotangents(leaves_of(grad), leaves_of(seeds), unknown)
  taken
}

# The values of the trace that the changes of a linear_map() are computed from, and a program of
# these and of the changes of the inputs.
products_of <- function(map) {
  trace <- session()$trace
  seeds <- map_leaves(map$inputs, function(leaf) marked(list(zeros_like(leaf))))
  first <- .Call(joist_r_trace_length, trace)
  out <- map$at(seeds)
  seeds <- leaves_of(seeds)
  results <- lapply(leaves_of(out), traced_constant)
  values <- .Call(joist_r_trace_captured, trace, results, first, TRUE)
  own <- vapply(seeds, traced_number, 0L)
  values <- Filter(function(x) !traced_number(x) %of% own, values)
  types <- lapply(c(values, seeds), function(x) nv_aval(dtype(x), shape(x), ambiguous(x)))
  compiled <- jit_trace(function(...) {
    made <- .Call(joist_r_body_copy, trace, session()$trace, c(values, seeds), list(...), results)
    refill(out, made)
  }, types, rep(TRUE, length(types)))
  list(values = values, compiled = compiled)
}

check_arguments <- function(f, arguments) {
  if (!is.list(arguments) || is.object(arguments)) {
    stop_joist("joist_value_error", "`arguments` must be a list of the arguments of `f`")
  }
  signature <- args(f)
  call <- as.call(c(quote(f), stats::setNames(as.list(seq_along(arguments)), names(arguments))))
  matched <- tryCatch(match.call(signature, call), error = function(e) {
    stop_joist("joist_value_error", "`arguments` are not those of `f`: ", conditionMessage(e))
  })
  own <- as.list(formals(signature))
  needed <- vapply(seq_along(own), function(k) identical(own[[k]], substitute()), NA)
  lacking <- setdiff(names(own)[needed], c("...", names(matched)))
  if (length(lacking) > 0L) {
    stop_joist("joist_value_error", "`arguments` lack `", lacking[1L], "` of `f`")
  }
}

# The arguments under names of their own, and the value of `f` for them: float tensors of the trace.
evaluate_marked <- function(f, arguments) {
  inputs <- arguments
  inputs[] <- Map(mark_leaves, arguments, argument_labels(arguments))
  value <- map_leaves(call_function(f, inputs), differentiable)
  list(inputs = inputs, value = value)
}

# A value that has derivatives, in the trace.
differentiable <- function(leaf) {
  leaf <- traced_constant(as_operand(leaf))
  if (!is_float_dtype(leaf)) {
    stop_joist(
      "joist_dtype_error", "the value of `f` has a tensor of dtype ", format(dtype(leaf)),
      ", which has no derivative; convert it to a float"
    )
  }
  leaf
}

cotangents_of <- function(taken, seeds) {
  cotangents(leaves_of(taken$value), leaves_of(seeds), taken$inputs)
}

# What the user gives for each leaf of `like`, in its dtype.
directions <- function(given, like, name) {
  own <- leaves_of(given)
  leaves <- leaves_of(like)
  if (length(own) != length(leaves)) {
    stop_joist(
      "joist_shape_error", "`", name, "` has ", length(own), " tensors, not ", length(leaves)
    )
  }
  at <- 0L
  map_leaves(like, function(leaf) {
    at <<- at + 1L
    direction <- as_exact_operand(own[[at]])
    if (!identical(shape(direction), shape(leaf))) {
      stop_joist(
        "joist_shape_error", "tensor ", at, " of `", name, "` has shape ", shape_text(direction),
        ", not ", shape_text(leaf)
      )
    }
    direction <- nv_convert(direction, dtype(leaf), ambiguous(leaf))
    if (is_tracing()) traced_constant(direction) else direction
  })
}

#' Stop gradients, and write your own
#'
#' `nv_stop_gradient()` returns its operand, which counts as a constant for derivatives.
#' `custom_gradient()` returns a function with the values of `f` and a derivative that you write,
#' for an `f` whose derivative is not the one you want, is inaccurate, or is not known to joist.
#'
#' @param x A tensor, or an R number or array.
#' @param f A function that returns one float tensor.
#' @param rule A function of the cotangent of the value, the value, and the arguments of `f` as they
#'   were given. It returns a list with the cotangent of each argument, of its shape or a shape that
#'   it was broadcast to; `NULL` for an argument without a derivative. The cotangent of a nested
#'   list is such a list, too. Cotangents are converted to the dtypes of the arguments.
#' @return `nv_stop_gradient()`: a tensor of the dtype, ambiguity, shape and values of `x`.
#'   `custom_gradient()`: a function of the arguments of `f`. It has derivatives with respect to
#'   tensors and nested lists of tensors; other arguments are passed on. Tensors from outside that
#'   `f` uses count as constants.
#' @section Errors: `joist_value_error` for an argument that is not a tensor or not a function as
#'   required, for a value of `f` that is not a tensor, and for a `rule` that does not return a list
#'   with one element per argument, or that returns a list of another structure than an argument.
#' @examples
#' gradient(function(x) x * nv_stop_gradient(x))(nv_scalar(3))
#' # The derivative of rounding, as if it did nothing.
#' round_through <- custom_gradient(nv_round, function(cotangent, value, x) list(cotangent))
#' gradient(function(x) sum(round_through(x)^2))(nv_tensor(c(0.6, 2.2)))
#' @export
nv_stop_gradient <- function(x) {
  x <- as_operand(x)
  if (is_traced(x)) apply_operation("alias", list(x)) else x
}

#' @rdname nv_stop_gradient
#' @export
custom_gradient <- function(f, rule) {
  f <- as_function(match.fun(f), "f")
  rule <- as_function(match.fun(rule), "rule")
  # Rewriting takes longer than most calls on few elements, which need none.
  delayedAssign("traced_f", rewritten(f))
  delayedAssign("traced_rule", rewritten(rule))
  function(...) {
    arguments <- list(...)
    leaves <- traced_leaves(arguments)
    if (length(leaves) == 0L) {
      plain <- if (is_tracing()) traced_f else f
      return(one_tensor(plain(...), arguments, "custom_gradient"))
    }
    stopped <- replace_traced(arguments, lapply(leaves, nv_stop_gradient))
    value <- one_tensor(call_function(traced_f, stopped), arguments, "custom_gradient")
    own_rule <- function(g, x, y) {
      parts <- call_function(traced_rule, c(list(g, y), replace_traced(arguments, x[-1L])))
      parts <- leaf_cotangents(if (is.list(parts)) unname(parts) else parts, unname(arguments))
      c(list(NULL), parts[are_traced(leaves_of(arguments))])
    }
    marked(c(list(value), leaves), own_rule)
  }
}

# What a function of tensors returns, which is to be one tensor.
one_tensor <- function(value, arguments, name) {
  if (!is_tensor(value) && any(vapply(leaves_of(arguments), is_tensor, NA))) {
    stop_joist("joist_value_error", "the function of ", name, "() must return one tensor")
  }
  value
}

# What a rule gives for each leaf of `x`; NULL for those of which it gives none.
leaf_cotangents <- function(parts, x, at = "") {
  if (is.null(x)) {
    return(list())
  }
  if (!is.list(x) || is.object(x)) {
    return(list(parts))
  }
  if (nzchar(at) && is.null(parts)) {
    return(vector("list", length(leaves_of(x))))
  }
  fits <- is.list(parts) && !is.object(parts) && length(parts) == length(x) &&
    (is.null(names(parts)) || identical(names(parts), names(x)))
  if (!fits) {
    stop_joist(
      "joist_value_error", "the rule of a custom gradient must return ",
      if (nzchar(at)) {
        paste0("NULL or a list like argument ", at, " for it")
      } else {
        paste0("a list of ", length(x), ", a cotangent for each argument")
      }
    )
  }
  at <- if (nzchar(at)) rep(at, length(x)) else seq_along(x)
  do.call(c, unname(Map(leaf_cotangents, parts, x, as.character(at))))
}

#' Check a gradient against differences
#'
#' `check_gradient()` compares [gradient()] with central differences, both in `f64`. Use it to test
#' a [custom_gradient()], or a function that may not be differentiable at its arguments.
#'
#' Float tensors and R numbers of type double among the arguments in `wrt` are converted to `f64`.
#' The function is called twice for each of their elements.
#'
#' @inheritParams gradient
#' @param f A function of tensors that returns one float scalar.
#' @param ... Arguments of `f`.
#' @param step The step of the differences to either side, multiplied by the size of the element
#'   where that is greater than one.
#' @param tolerance The largest error that is accepted: absolute, or relative to the difference
#'   where that is greater than one.
#' @return A data frame with a row for each element of the arguments in `wrt`: `argument` (a name or
#'   number), `position` among its elements, `gradient`, `difference`, and `error`, how far they are
#'   apart by the measure of `tolerance`. It is returned invisibly.
#' @section Errors: `joist_value_error` if an error is greater than `tolerance` or NaN, and for a
#'   `step` or `tolerance` that is not a positive number; `joist_dtype_error` and
#'   `joist_shape_error` as for [gradient()].
#' @examples
#' print(check_gradient(function(x) sum(exp(x) / x), nv_tensor(c(1, 2))))
#' @export
check_gradient <- function(f, ..., wrt = NULL, step = 1e-5, tolerance = 1e-6) {
  f <- as_function(match.fun(f), "f")
  for (number in list(step, tolerance)) {
    if (!is.numeric(number) || length(number) != 1L || is.na(number) || number <= 0) {
      stop_joist("joist_value_error", "`step` and `tolerance` must be positive numbers")
    }
  }
  slope <- gradient(f, wrt)
  static <- if (inherits(f, "joist_jit")) environment(f)$.jit_static else character()
  arguments <- name_arguments(f, list(...))
  chosen <- chosen_arguments(arguments, wrt, static, names(formals(args(f))))
  arguments[chosen] <- lapply(arguments[chosen], map_leaves, function(leaf) {
    leaf <- as_operand(leaf)
    if (is_float_dtype(leaf)) nv_convert(leaf, "f64") else leaf
  })
  grad <- do.call(slope, arguments)
  labels <- argument_labels(arguments, named = "%s", unnamed = "%d")
  rows <- Map(function(at, grad) {
    differences <- differences_by(f, arguments, at, step)
    own <- unlist(lapply(leaves_of(grad), as.double))
    data.frame(
      argument = rep(labels[at], length(own)), position = seq_along(own), gradient = own,
      difference = differences, error = abs(own - differences) / pmax(1, abs(differences))
    )
  }, chosen, grad)
  compared <- do.call(rbind, unname(rows))
  beyond <- which(!(compared$error <= tolerance))
  if (length(beyond) > 0L) {
    worst <- beyond[which.max(replace(compared$error, is.na(compared$error), Inf)[beyond])]
    stop_joist(
      "joist_value_error", "the gradient by element ", compared$position[worst], " of argument ",
      compared$argument[worst], " is ", format(compared$gradient[worst]), ", the difference ",
      format(compared$difference[worst])
    )
  }
  invisible(compared)
}

# The central differences of `f` by all elements of one argument.
differences_by <- function(f, arguments, at, step) {
  value <- function(leaf, k, by) {
    moved <- arguments
    number <- 0L
    moved[[at]] <- map_leaves(arguments[[at]], function(x) {
      number <<- number + 1L
      if (number != leaf) {
        return(x)
      }
      elements <- as.double(x)
      elements[k] <- elements[k] + by
      nv_tensor(elements, "f64", shape(x))
    })
    as.double(call_function(f, moved))
  }
  leaves <- leaves_of(arguments[[at]])
  unlist(lapply(seq_along(leaves), function(leaf) {
    elements <- as.double(leaves[[leaf]])
    missing <- is.na(elements) & !is.nan(elements)
    vapply(seq_along(elements), function(k) {
      if (missing[k]) {
        return(0) # whatever it is
      }
      by <- step * max(1, abs(elements[k]))
      (value(leaf, k, by) - value(leaf, k, -by)) / (2 * by)
    }, 0)
  }))
}
