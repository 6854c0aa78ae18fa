#' Gradients
#'
#' `gradient(f)` is a function that returns the derivatives of `f` with respect to its arguments, in
#' reverse mode: `f` runs once, forward, and then one rule for each of its operations runs backward.
#' Both are instructions of one program, as [jit()] makes it, so the function can be jitted, its
#' bits are the same with and without `jit()`, and gradients of gradients are second derivatives.
#'
#' `f` is traced as by [jit()], with R's own control flow, except that `while`, `repeat` and `break`
#' on traced conditions have no derivative (a jitted `while` loop may call `gradient()`). Without
#' `jit()` it is traced in every call: write `jit(gradient(f))` for a gradient that you call often.
#' Arguments that are neither in `wrt` nor tensors are passed to `f` unchanged. A jitted `f` keeps
#' its static arguments, which you cannot differentiate with respect to.
#'
#' @param f A function that returns one float scalar, or a float tensor with one element.
#' @param wrt The arguments to differentiate with respect to, by name or position; `NULL` for all
#'   that are given and are not static. They must be float tensors, R numbers of type double, or
#'   nested lists of these.
#' @param value Whether to return the value of `f` as well.
#' @return `gradient()`: a function of the arguments of `f`, which returns a named list with an
#'   entry for each argument in `wrt`, of the structure, dtypes and shapes of the argument; with
#'   `value`, a list of `value`, the value of `f`, and `grad`, that named list.
#'   `value_and_gradient(f)` is `gradient(f, value = TRUE)`.
#' @section Dtypes: A gradient has the dtype, the ambiguity and the shape of the argument. R numbers
#'   of type double keep their exact value: derivatives with respect to them are computed in the
#'   dtype that they meet, or in `f64`, and are an ambiguous `f64`. Derivatives on their way back
#'   are never promoted by the rules in force: where `f` promotes an operand the derivative is
#'   computed in the common dtype, summed over what was broadcast, and rounded once to the dtype of
#'   the operand. So an `f16` weight in an `f32` loss has an `f16` gradient. The gradients of
#'   several uses of a value are added in its dtype. Conversion to an integer or bool has the
#'   derivative zero, and so have comparisons, rounding, positions and random integers.
#' @section Where a derivative is not defined: Equal operands of `nv_min()` and `nv_max()`, and
#'   equal extremes of [nv_reduce_max()], share the derivative; that of [nv_abs()] at 0 is 0. Both
#'   branches of [nv_ifelse()] are computed, and zero times an infinite slope is NaN: keep the
#'   operand of the other branch away from there, as in
#'   `nv_ifelse(x > 0, sqrt(nv_ifelse(x > 0, x, 1)), 0)`. The derivatives of [nv_chol()] and
#'   [nv_eigh()] are with respect to symmetric (or Hermitian) matrices; [nv_qr()] needs at least as
#'   many rows as columns, [nv_lu()] a square matrix. Complex vectors of [nv_eig()], [nv_eigh()] and
#'   [nv_svd()] have a phase that LAPACK chooses: only results that do not depend on it have a
#'   derivative.
#' @section Missing values: If `f` leaves missing elements out, as `sum(x, na.rm = TRUE)` does, the
#'   derivatives with respect to them are zero. If the value of `f` is missing, so are all of its
#'   derivatives.
#' @section Errors: `joist_dtype_error` for an argument in `wrt` or a result that is not a float,
#'   and for operations on complex numbers between them other than arithmetic, their parts, moduli,
#'   layouts, linear algebra and Fourier transforms; `joist_shape_error` for a result of several
#'   elements;
#'   `joist_value_error` for a `wrt` that is not an argument, and for an operation without a
#'   derivative.
#' @examples
#' f <- function(x, y) sum(x * x * y)
#' gradient(f)(nv_tensor(c(1, 2)), nv_tensor(c(3, 4)))
#' gradient(f, wrt = "x")(x = nv_tensor(c(1, 2)), y = 3L)$x
#' gradient(f, "y", value = TRUE)(nv_tensor(c(1, 2)), nv_scalar(3))
#' second <- gradient(function(x) gradient(function(x) x^3)(x)$x)
#' jit(second)(nv_scalar(2))
#' value_and_gradient(function(x) sum(x^2, na.rm = TRUE))(nv_tensor(c(1, NA, 3)))
#' @export
gradient <- function(f, wrt = NULL, value = FALSE) {
  check_flag(value, "value")
  derived_function(f, wrt, function(f, arguments, chosen) {
    found <- gradient_of(f, arguments, chosen)
    if (value) found else found$grad
  })
}

#' @rdname gradient
#' @export
value_and_gradient <- function(f, wrt = NULL) gradient(f, wrt, value = TRUE)

# A function of the arguments of `f` that gives what `compute` makes of `f`, the arguments, and the
# positions of those that it has derivatives by; with `symmetric`, outside of a trace.
derived_function <- function(f, wrt, compute, symmetric = NULL) {
  f <- traceable(match.fun(f), "f")
  static <- if (inherits(f, "joist_jit")) environment(f)$.jit_static else character()
  names <- names(formals(args(f)))
  check_wrt(wrt, names, static)
  function_like(f, function(arguments) {
    chosen <- chosen_arguments(arguments, wrt, static, names)
    if (!is.null(symmetric)) {
      needs_matrix()
      return(compute(f, arguments, chosen, symmetric))
    }
    in_trace(function(arguments) compute(f, arguments, chosen), arguments, chosen)
  })
}

# A function of the arguments of `f`, which `run` gets as a list.
function_like <- function(f, run) {
  made <- function() NULL
  formals(made) <- formals(args(f))
  code <- as.call(list(quote(.run), collected_arguments(formals(made))))
  body(made) <- structure(code, joist_rewritten = TRUE) # nothing of it is traced otherwise
  environment(made) <- list2env(list(.run = run), parent = topenv())
  made
}

gradient_of <- function(f, arguments, chosen) {
  inputs <- arguments[chosen]
  inputs[] <- Map(mark_leaves, arguments[chosen], argument_labels(arguments)[chosen])
  arguments[chosen] <- inputs
  value <- call_function(f, arguments)
  check_scalar(value)
  value <- traced_constant(as_operand(value))
  one <- scalar_like(1, value)
  one <- traced_constant(if (ndims(value) == 0L) one else nv_broadcast_to(one, shape(value)))
  grad <- cotangents(list(value), list(one), inputs)
  # A value that is missing has a derivative that is missing.
  unknown <- mask_of(value)
  if (!is.null(unknown)) grad <- map_leaves(grad, nv_mask, nv_reshape(unknown, integer()))
  list(value = value, grad = grad)
}

check_wrt <- function(wrt, names, static) {
  if (is.null(wrt)) {
    return()
  }
  named <- is.character(wrt) && !anyNA(wrt)
  if (!named && !(is_whole(wrt) && all(wrt >= 1)) || length(wrt) == 0L || anyDuplicated(wrt)) {
    stop_joist("joist_value_error", "`wrt` must be names or positions of arguments, each once")
  }
  open <- "..." %in% names
  unknown <- if (named) setdiff(wrt, names) else wrt[wrt > length(names)]
  if (length(unknown) > 0L && !open) {
    stop_joist("joist_value_error", "`wrt`: the function has no argument ", unknown[1L])
  }
  taken <- intersect(if (named) wrt else names[wrt], static)
  if (length(taken) > 0L) {
    stop_joist("joist_value_error", "`wrt`: `", taken[1L], "` is static, it has no derivative")
  }
}

# Positions of the arguments in `wrt` among those that are given.
chosen_arguments <- function(arguments, wrt, static, names) {
  given <- given_names(arguments)
  if (is.null(wrt)) {
    return(which(!given %in% static))
  }
  if (!is.character(wrt) && !"..." %in% names) wrt <- names[wrt]
  at <- if (is.character(wrt)) match(wrt, given) else ifelse(wrt <= length(given), wrt, NA)
  if (anyNA(at)) {
    stop_joist("joist_value_error", "`wrt`: argument ", wrt[is.na(at)][1L], " is not given")
  }
  at
}

given_names <- function(arguments) {
  given <- names(arguments)
  if (is.null(given)) rep("", length(arguments)) else given
}

# The arguments by name, or by position where they have none.
argument_labels <- function(arguments, named = "`%s`", unnamed = "argument %d") {
  given <- given_names(arguments)
  ifelse(nzchar(given), sprintf(named, given), sprintf(unnamed, seq_along(given)))
}

check_scalar <- function(value) {
  if (!is_tensor(value)) value <- if (is.numeric(value) || is.logical(value)) as_operand(value)
  if (is.null(value)) {
    stop_joist("joist_value_error", "a gradient needs a function that returns one float scalar")
  }
  if (length(value) != 1L) {
    stop_joist(
      "joist_shape_error", "a gradient needs a function that returns one float scalar, or a ",
      "tensor with one element, not one of shape ", shape_text(value), "; take its sum or mean"
    )
  }
  if (!is_float_dtype(value)) {
    stop_joist(
      "joist_dtype_error", "a gradient needs a function that returns one float scalar, not ",
      format(dtype(value))
    )
  }
}

# ---- traces ----

# Evaluates a function of arguments in the current trace, or in a new one, which then runs.
# `dynamic` gives the positions of the arguments that are traced; other tensors are traced, too.
in_trace <- function(compute, arguments, dynamic) {
  if (is_tracing()) {
    return(compute(arguments))
  }
  arguments[dynamic] <- lapply(arguments[dynamic], map_leaves, as_exact_operand)
  dynamic <- seq_along(arguments) %in% dynamic | vapply(arguments, is_tensor, NA)
  state <- .Call(joist_r_jit_state, 1L, NULL)
  # The names of the arguments are not those of `compute`, which takes them in one list.
  compiled <- jit_trace(function(...) compute(name_like(list(...), arguments)), arguments, dynamic)
  run_traced(state, compiled, arguments, dynamic)
}

# Runs a program whose operations were recorded, if at all, while it was traced.
run_traced <- function(state, compiled, arguments, dynamic) {
  result <- in_session(
    .Call(joist_r_ledger_pause),
    .Call(joist_r_jit_run, state, compiled, arguments, dynamic, NULL, NULL, NULL)
  )
  if (is_answer(result)) {
    stop_joist(
      "joist_value_error", "a traced tensor was used outside of the function that is traced"
    )
  }
  result
}

# as_operand(), but an R double stays exact until it meets a dtype, if the rules in force let it.
as_exact_operand <- function(x) {
  if (is_double(x) && double_yields()) in_full(x) else as_operand(x)
}

name_like <- function(x, template) stats::setNames(x, names(template))

# A tensor as a value of the trace that is under way.
traced_constant <- function(x) .Call(joist_r_trace_constant, session()$trace, x)

# The elements of nested lists, as jit() takes them; NULL stays NULL.
map_leaves <- function(x, f, ...) {
  if (is.null(x)) {
    return(NULL)
  }
  if (is.list(x) && (!is.object(x) || inherits(x, "nv_qr"))) {
    x[] <- lapply(x, map_leaves, f, ...)
    return(x)
  }
  f(x, ...)
}

leaves_of <- function(x) {
  found <- list()
  map_leaves(x, function(leaf) {
    found[[length(found) + 1L]] <<- leaf
    leaf
  })
  found
}

# Float tensors under names of their own, so that nothing else depends on them.
mark_leaves <- function(x, label) {
  map_leaves(x, function(leaf) {
    leaf <- as_exact_operand(leaf)
    if (!is_float_dtype(leaf)) {
      stop_joist(
        "joist_dtype_error", label, " must be float for derivatives with respect to it, not ",
        format(dtype(leaf)), "; convert it, or leave it out"
      )
    }
    marked(list(leaf))
  })
}

# The first operand under another name, with a rule for the derivative by all operands.
marked <- function(operands, rule = NULL) {
  apply_operation("alias", lapply(operands, traced_constant), list(mark = new_mark(rule)))
}

new_mark <- function(rule) .Call(joist_r_trace_mark, session()$trace, rule)

# ---- backward ----

# The cotangents of the leaves of `inputs`, in their structure, of those of values of the trace.
# Rules compute in the dtypes that they are given: the promotion rules in force have no say.
cotangents <- function(values, seeds, inputs) {
  leaves <- leaves_of(inputs)
  found <- new.env(parent = emptyenv())
  depth <- set_promotion("anvil", promotion_policy(character()))
  on.exit(restore_promotion(depth))
  traced <- vapply(values, is_traced, NA)
  for (k in which(traced)) add_cotangent(found, values[[k]], seeds[[k]])
  for (step in .Call(joist_r_trace_walk, session()$trace, values[traced], leaves)) {
    parts <- run_rule(step, lapply(step$results, cotangent_of, found))
    for (k in which(step$depends)) {
      part <- parts[[k]]
      # One that is made only where it is needed.
      if (is.function(part)) part <- part()
      if (inherits(part, "joist_slice_cotangent")) {
        add_slice(found, step$operands[[k]], part)
      } else if (!is.null(part)) {
        add_cotangent(found, step$operands[[k]], part)
      }
    }
  }
  map_leaves(inputs, function(leaf) {
    cotangent <- cotangent_of(leaf, found)
    if (is.null(cotangent)) zeros_like(leaf) else cotangent
  })
}

value_key <- function(x) as.character(.Call(joist_r_traced_number, x))

cotangent_of <- function(x, found) {
  slices <- found[[slices_key(x)]]
  found[[slices_key(x)]] <- NULL
  for (part in join_slices(slices, shape(x))) add_cotangent(found, x, spread_slice(part, x))
  found[[value_key(x)]]
}

# Cotangents of slices wait for each other: those of neighbours are laid side by side.
slices_key <- function(x) paste("slices of", value_key(x))

add_slice <- function(found, x, part) {
  found[[slices_key(x)]] <- c(found[[slices_key(x)]], list(part))
}

# Elements that are missing have none.
add_cotangent <- function(found, x, part) {
  key <- value_key(x)
  part <- fit_cotangent(part, x)
  mask <- mask_of(x)
  if (!is.null(mask)) part <- nv_ifelse(mask, zeros_like(part), part)
  found[[key]] <- if (is.null(found[[key]])) part else found[[key]] + part
}

# Summed over what was broadcast, then in dtype and ambiguity of x.
fit_cotangent <- function(part, x) {
  part <- as_operand(part)
  from <- shape(part)
  to <- shape(x)
  if (length(to) < length(from)) {
    # A scalar, or one matrix for a batch.
    part <- nv_reduce_sum(part, seq_along(from)[seq_along(from) > length(to)])
    from <- from[seq_along(to)]
  }
  if (length(from) == length(to)) {
    summed <- which(to == 1L & from != 1L)
    if (length(summed) > 0L) part <- nv_reduce_sum(part, summed, drop = FALSE)
  }
  if (is_complex_dtype(part) && !is_complex_dtype(x)) part <- nv_real(part)
  if (format(dtype(part)) != format(dtype(x)) || ambiguous(part) != ambiguous(x)) {
    part <- nv_convert(part, dtype(x), ambiguous(x))
  }
  if (identical(shape(part), to)) part else nv_broadcast_to(part, to)
}

run_rule <- function(step, g) {
  if (all(vapply(g, is.null, NA))) {
    return(NULL)
  }
  complex <- any(vapply(c(step$operands, step$results), is_complex_dtype, NA))
  # Parts, angles and signs of complex numbers are not piecewise constant.
  is_zero <- op_fact(step$op, "derivative") == "zero"
  if (is_zero && !(complex && any(vapply(step$results, has_nan, NA)))) {
    return(NULL)
  }
  rule <- gradient_rules[[step$op]]
  if (complex && !step$op %in% complex_gradients) {
    stop_joist("joist_dtype_error", "nv_", step$op, "() of complex numbers has no derivative")
  }
  if (is.null(rule)) {
    stop_joist("joist_value_error", no_gradient[[step$op]])
  }
  rule(
    if (length(g) == 1L) g[[1L]] else g, operands_as_read(step), lapply(step$results, harmless),
    step$attributes
  )
}

# Without a mask. A number at which elementwise functions have a derivative takes the place of
# missing elements: their cotangent is 0, and 0 times NaN would not be.
harmless <- function(x) {
  mask <- mask_of(x)
  if (is.null(mask)) {
    return(x)
  }
  x <- without_mask(x)
  if (is_float_dtype(x)) nv_ifelse(mask, scalar_like(2, x), x) else x
}

operands_as_read <- function(step) {
  operands <- lapply(step$operands, harmless)
  if (step$op %in% as_they_are) {
    return(operands)
  }
  Map(function(x, read) {
    if (format(dtype(x)) == read) x else nv_convert(x, read)
  }, operands, step$dtypes)
}

# Operations that convert no operand, or whose derivative is that of the conversion.
as_they_are <- c(
  "alias", "convert", "runif", "rnorm", "rexp", "rgamma", "reduce_sum", "reduce_prod",
  "reduce_min", "reduce_max", "mean", "cumsum", "cumprod", "cummin", "cummax"
)
