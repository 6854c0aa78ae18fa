# Why operands have the common dtype they have. The facts are those of the core, the sentences in
# promotion-explanations.R.

#' Explain a promotion
#'
#' `explain_promotion()` explains the common dtype of operands: what each of them is, the path
#' through the lattice or the cell of the table that decides, whether the result is known or a
#' guess, which values may be lost, and the cast that avoids the loss.
#'
#' A call is explained by its operation, so that operations with one operand (`exp(x)` of integers)
#' and those whose result has another dtype than the operands (`x == y`, `mean(x)`) are explained as
#' they are computed. The operands of the call are evaluated, but not the call itself, unless it is
#' an operand of another one: then both are explained, in the order in which they are computed.
#' An assignment `x[i] <- v` is explained by the dtypes of `x` and `v`. There is nothing to explain
#' about operations that promote nothing, such as casts and those that only move elements.
#'
#' Losses are derived from the dtypes: what may happen to *some* values of an operand. An R number
#' loses nothing, since it is read exactly or refused.
#'
#' @param ... either one call of an operation, such as `x + y`, `x == 1L` or `nv_exp(x)`; or two or
#'   more operands: names of dtypes (`"f32"`, `"i32?"` for an ambiguous one), of nodes of the rules
#'   (`"i*"`), `joist_dtype` objects, tensors and R values.
#' @param envir the environment in which the operands of a call are evaluated.
#' @param x an explanation.
#' @param width the width of lines.
#' @param row.names,optional ignored.
#' @inheritParams common_dtype
#' @return An object of class `joist_explanation`, a list of
#'   * `expression`, the call as text or `NULL`, and `operation`, its name or `NULL`;
#'   * `rules`: a list of `id`, `kind` and `policy`, as in [promotion_rule_sets()];
#'   * `operands`: a data frame with a row each: `label`, `is` (`"tensor"`, `"R value"`, `"dtype"`,
#'     `"node"`), `type`, `node`, `rank` and the range of its value where known (`low`, `high`), how
#'     it took part (`role`, `as`, `idle`), the dtype it is computed in (`read_as`), the message
#'     with which a number is refused (`problem`), `path`, a list of the nodes up to the common one,
#'     and `losses`, a list of limits named by what is lost;
#'   * `steps`: a data frame of the pairs that were combined;
#'   * `cell`: the cell of the [promotion_table()] of two operands;
#'   * `join`, the common type, and `result`, the type of the result, `"?"` at its end marking an
#'     ambiguous one; `NULL` where undefined;
#'   * `certainty`: why the result is known or ambiguous;
#'   * `bounds`: where a lattice has no common type, the lowest nodes above both;
#'   * `cast`: a list of `operand` (its number, 0 for all), `dtype`, `result` and `lossless`, or
#'     `NULL`;
#'   * `error`: the message of an operation that is not defined for the dtype;
#'   * `unavailable`: the name of a result that is a dtype of the rules but not of joist, or `NULL`;
#'   * `inner`: explanations of operands that are calls.
#'
#'   `format()` gives its lines; one names the type in which a system computes where it is not the
#'   type that it gives the result (`numba`, `blosc2`, `openvino`, `pandas_nullable`, `ndonnx`).
#'   `as.data.frame()` has a row per operand, in columns `expression`, `operand`, `is`, `type`,
#'   `path`, `read_as`, `loses` and `result`. In a knitr document it is a table. Where package cli
#'   is installed and the terminal has colours, types are printed in colour.
#' @section Errors: `joist_value_error` for a call that is not an operation, or that promotes
#' nothing, and for fewer than two operands; `joist_dtype_error` for an unknown dtype or node;
#' `joist_promotion_error` for unknown rules. An undefined promotion is not an error here: it is
#' explained.
#' @source Limits of the dtypes: IEEE 754, and the definition of bfloat16.
#' @seealso [promotion_table()], [common_dtype()], [promotion_explorer()]
#' @examples
#' explain_promotion("i32", "f32")
#' explain_promotion("ui64", "i8", rules = "jax")
#' explain_promotion("f16", "i8", rules = "array_api")
#'
#' y <- nv_scalar(2L, "i16")
#' explain_promotion((nv_scalar(TRUE) + 1L) * y)
#' explain_promotion(exp(y))
#' explain_promotion(nv_tensor(1:3, "i8") + 200L, rules = "numpy_legacy")
#' @export
# `envir` is where a call's operands are evaluated, as eval() does: nothing in it is read otherwise.
explain_promotion <- function(..., rules = NULL, envir = parent.frame()) {
  check_environment(envir, "envir")
  expressions <- as.list(substitute(list(...)))[-1L]
  if (length(expressions) > 1L) {
    labels <- vapply(expressions, deparse1, "")
    return(explanation(NULL, NULL, list(...), labels, NULL, rules, list()))
  }
  asked <- if (length(expressions) > 0L) without_parentheses(expressions[[1L]])
  if (is.call(asked) && as.character(asked[[1L]])[1L] %in% c("<-", "=")) {
    place <- asked[[2L]]
    if (is.call(place) && as.character(place[[1L]])[1L] %in% c("[", "[[")) {
      operands <- list(eval(place[[2L]], envir), eval(asked[[3L]], envir))
      labels <- c(deparse1(place[[2L]]), deparse1(asked[[3L]]))
      if (is_tensor(operands[[1L]])) {
        return(explanation(deparse1(asked), "update", operands, labels, NULL, rules, list()))
      }
    }
    asked <- asked[[3L]]
  }
  if (is.null(operation_of(asked))) refuse_to_explain(asked, envir)
  explain_call(asked, rules, envir)$explanation
}

refuse_to_explain <- function(asked, envir) {
  text <- paste0("`", shorten(deparse1(asked), 40L), "`")
  reason <- if (is.name(asked) && is_tensor(get0(as.character(asked), envir))) {
    paste(text, "is a tensor, which does not know how it was computed: ")
  } else if (is.call(asked) && is.name(asked[[1L]]) && is.null(asked$dtype) &&
    as.character(asked[[1L]]) %in% c("nv_tensor", "nv_scalar", "nv_fill", "as_tensor")) {
    paste0(
      text, " promotes nothing: R's numbers get the default dtype of their type, which ",
      "with_default_dtypes() changes, unless a dtype is given; "
    )
  } else if (is.call(asked)) {
    paste(text, "promotes nothing: ")
  }
  stop_joist(
    "joist_value_error", reason,
    "explain_promotion() takes one call of an operation that promotes, such as x + y or ",
    "nv_exp(x), or two or more dtypes, tensors or R values"
  )
}

# A data frame of columns of one length, some of them lists: as.data.frame() takes most of the time
# of an explanation.
frame_of <- function(columns) {
  structure(columns, class = "data.frame", row.names = .set_row_names(length(columns[[1L]])))
}

operand_names <- function(n) if (n <= 3L) c("x", "y", "z")[seq_len(n)] else paste0("x", seq_len(n))

# ---- calls ----

without_parentheses <- function(expression) {
  while (is.call(expression) && identical(expression[[1L]], quote(`(`))) {
    expression <- expression[[2L]]
  }
  expression
}

# The operation of a call: its name, which arguments are operands, and the dtype it was asked for;
# NULL where it is none that promotes.
operation_of <- function(call) {
  if (!is.call(call)) {
    return(NULL)
  }
  head <- call[[1L]]
  if (is.call(head) && length(head) == 3L && identical(head[[2L]], quote(joist))) head <- head[[3L]]
  if (!is.name(head)) {
    return(NULL)
  }
  name <- as.character(head)
  if (name %in% c("c", "rbind", "cbind")) name <- "concatenate"
  given <- names(call)
  operands <- if (startsWith(name, "nv_")) {
    own_operands(name, call)
  } else {
    setdiff(if (is.null(given)) seq_along(call) else which(!nzchar(given)), 1L)
  }
  op <- .Call(joist_r_explain_op, sub("^nv_", "", name), length(operands))
  if (is.null(op)) {
    return(NULL)
  }
  asked <- if (is.null(call$dtype)) call$accumulate else call$dtype
  list(name = op, operands = operands, dtype = asked)
}

# Of a function of joist the operands come first, as many as the operation takes.
own_operands <- function(name, call) {
  if (!name %in% getNamespaceExports(topenv())) {
    return(integer())
  }
  most <- op_fact(sub("^nv_", "", name), "most")
  arguments <- names(formals(get(name, topenv())))
  wanted <- if (is.na(most) || "..." %in% arguments) character() else utils::head(arguments, most)
  given <- names(call)
  if (is.null(given)) given <- character(length(call))
  unnamed <- setdiff(which(!nzchar(given)), 1L)
  named <- which(given %in% wanted)
  count <- if (length(wanted) > 0L) most - length(named) else length(unnamed)
  at <- c(named, utils::head(unnamed, count))
  # In the order of the function's arguments.
  places <- integer(length(at))
  places[seq_along(named)] <- match(given[named], wanted)
  free <- setdiff(seq_along(at), places[seq_along(named)])
  places[places == 0L] <- utils::head(free, sum(places == 0L))
  at[order(places)]
}

# A list of the explanation, NULL where no operand is a tensor, and of the value, which is computed
# only where it is asked for.
explain_call <- function(expression, rules, envir, wanted = FALSE) {
  call <- without_parentheses(expression)
  operation <- operation_of(call)
  if (is.null(operation)) {
    return(list(value = eval(expression, envir)))
  }
  parts <- lapply(operation$operands, function(at) explain_call(call[[at]], rules, envir, TRUE))
  values <- lapply(parts, function(part) part$value)
  labels <- vapply(operation$operands, function(at) deparse1(without_parentheses(call[[at]])), "")
  found <- NULL
  if (any(vapply(values, is_tensor, TRUE)) || startsWith(deparse1(call[[1L]]), "nv_")) {
    dtype <- eval(operation$dtype, envir)
    inner <- Filter(Negate(is.null), lapply(parts, function(part) part$explanation))
    found <- explanation(
      deparse1(call), operation$name, values, labels, dtype, rules, inner
    )
  } else if (!wanted) {
    stop_joist(
      "joist_value_error", "no operand of `", deparse1(call), "` is a tensor: R computes it, ",
      "and promotes nothing"
    )
  }
  value <- NULL
  if (wanted) {
    call[operation$operands] <- values
    value <- if (is.null(rules)) eval(call, envir) else with_promotion(rules, eval(call, envir))
  }
  list(value = value, explanation = found)
}

explanation <- function(expression, name, operands, labels, dtype, rules, inner) {
  facts <- .Call(joist_r_explain, unname(operands), name, dtype, rules)
  info <- .Call(joist_r_rules_info, rules)
  # What has no name in the call has one in what is said of it.
  is_name <- facts$operands$is %in% c("dtype", "node")
  labels[is_name] <- operand_names(length(labels))[is_name]
  columns <- c(list(label = labels), facts$operands)
  lists <- columns[c("path", "losses")]
  facts$operands <- frame_of(c(columns[setdiff(names(columns), names(lists))], lists))
  facts$steps <- frame_of(facts$steps)
  structure(
    c(
      list(expression = expression, rules = info[c("id", "kind", "policy", "rule")]), facts,
      list(inner = inner)
    ),
    class = "joist_explanation"
  )
}
