#' Recompute results instead of keeping them
#'
#' `nv_checkpoint(f)` is a function with the values of `f` whose gradient needs less memory: it does
#' not keep what `f` computes on the way, but runs `f` once more when it comes to its derivative.
#' The bits are the same. `summary()` of a [program()] says what it saves. In the body of a loop,
#' nothing of `f` is kept for each iteration. In a branch of [nv_if()] it has no effect: a gradient
#' computes branches again anyway.
#'
#' @param f A function that returns one float tensor. It may use traced tensors from outside.
#' @return A function of the arguments of `f`, which may be tensors, nested lists of tensors, and
#'   anything else, which is passed on. It returns what `f` returns, of the same dtype, ambiguity
#'   and shape.
#' @section Errors: `joist_value_error` for an `f` that is not a function, and for a value of `f`
#'   that is not a tensor.
#' @examples
#' layer <- function(x) x / sum(x * x)
#' deep <- function(layer) {
#'   function(x) {
#'     for (k in 1:6) x <- layer(x)
#'     sum(x)
#'   }
#' }
#' x <- nv_aval("f32", 1000)
#' summary(program(gradient(deep(layer)), x))
#' pair <- nv_checkpoint(function(x) layer(layer(layer(x))))
#' summary(program(gradient(function(x) sum(pair(pair(x)))), x))
#' @export
nv_checkpoint <- function(f) {
  f <- traceable(match.fun(f), "f")
  function(...) {
    arguments <- list(...)
    now <- session()
    if (is.null(now$trace) || now$in_body) {
      first <- if (now$in_body) .Call(joist_r_trace_instructions, now$trace)
      value <- one_tensor(call_function(f, arguments), arguments, "nv_checkpoint")
      if (now$in_body) .Call(joist_r_trace_again, now$trace, first)
      return(value)
    }
    leaves <- traced_leaves(arguments)
    stopped <- replace_traced(arguments, lapply(leaves, nv_stop_gradient))
    first <- .Call(joist_r_trace_length, now$trace)
    value <- traced_constant(one_tensor(call_function(f, stopped), arguments, "nv_checkpoint"))
    own <- vapply(leaves_of(stopped), field_of_traced, 0L)
    captured <- .Call(joist_r_trace_captured, now$trace, list(value), first, FALSE)
    captured <- Filter(function(x) !traced_number(x) %of% own && is_float_dtype(x), captured)
    again <- function(g, x, y) {
      inputs <- lapply(leaves, held, g)
      given <- list(inputs, captured)
      repeated <- without_prints(call_function(f, replace_traced(arguments, inputs)))
      parts <- cotangents(list(traced_constant(repeated)), list(g), given)
      c(list(NULL), parts[[1L]], parts[[2L]])
    }
    marked(c(list(value), leaves, captured), again)
  }
}

# Under another name, by which nothing is computed before `g` is.
held <- function(x, g) {
  mark <- new_mark(function(g, x, y) list(g, NULL))
  apply_operation("alias", list(x, traced_constant(g)), list(mark = mark, held = TRUE))
}

field_of_traced <- function(x) if (is_traced(x)) traced_number(x) else -1L

are_traced <- function(leaves) vapply(leaves, is_traced, NA)

traced_leaves <- function(arguments) {
  leaves <- leaves_of(arguments)
  leaves[are_traced(leaves)]
}

# Nested lists with other tensors for those of the trace, in their order.
replace_traced <- function(arguments, tensors) {
  leaves <- leaves_of(arguments)
  leaves[are_traced(leaves)] <- tensors
  refill(arguments, leaves)
}
