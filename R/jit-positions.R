# Elements of R vectors and lists at traced positions: `w[k]` and `l[[k]]` of rewritten code.

# `value` is `x[...]` or `x[[...]]`. It is evaluated as written unless `x` is an R vector and a
# position is traced.
control_part <- function(value, x, ...) {
  if (is.object(x)) {
    return(if (is_computed(x)) number_of_part(value) else value)
  }
  for (k in seq_len(...length())) {
    if (is_traced(...elt(k))) {
      return(part_at(substitute(value), x, list(...), parent.frame()))
    }
  }
  value
}

# The same where positions may be evaluated only once.
control_part_once <- function(value, x, ...) {
  if (is.object(x)) {
    return(if (is_computed(x)) number_of_part(value) else value)
  }
  positions <- list(...)
  if (any(vapply(positions, is_traced, NA))) {
    return(part_at(substitute(value), x, positions, parent.frame()))
  }
  code <- as.list(substitute(value))
  code[Filter(function(k) !is_empty(code[[k]]), seq_along(code)[-(1:2)])] <- positions
  eval(as.call(code), parent.frame())
}

# One of R's numbers fits arrays of any rank.
number_of_part <- function(x) {
  one <- is_traced(x) && length(x) == 1L && ndims(x) == 1L && is.null(attr(x, "names", TRUE))
  if (one) taken_of(x, function(x) nv_reshape(x, integer())) else x
}

part_at <- function(code, x, positions, frame) {
  given <- code
  text <- paste0("`", short_code(code), "`")
  fail <- function(...) stop(trace_condition(users_code(given), paste0(text, ...)))
  extents <- if (is.null(dim(x))) length(x) else dim(x)
  one <- called_name(code) == "[["
  used <- Filter(function(k) !is_empty(code[[k]]), seq_along(code)[-(1:2)])
  if (length(code) - 2L != length(extents)) extents <- length(x)
  for (k in seq_along(positions)) {
    at <- positions[[k]]
    if (!is_traced(at)) {
      code[used[k]] <- list(at)
      next
    }
    d <- used[k] - 2L
    whole <- whole_position(at, fail)
    words <- position_text(short_code(given), extents[d], paste0(
      ", the extent of `", short_code(given[[2L]]), "`"
    ))
    # Where nothing uses the value, too: R's `[[` raises an error, and NA may decide an `if`.
    failure <- errorCondition(words, class = c("joist_value_error", "joist_error"), call = given)
    raise_where(!in_extent(whole, extents[d]), failure, given, frame)
    code[[used[k]]] <- required(whole, in_extent(whole, extents[d]), words)
  }
  if (is.list(x)) {
    if (!one || length(positions) != 1L) {
      fail(" is a part of a list, which a traced position cannot choose; use `[[`")
    }
    return(element_at(x, code[[used]], fail))
  }
  if (!is_plain_number(x)) {
    fail(
      " is of type ", typeof(x), ", which a traced position cannot choose; choose a number, or ",
      "write `if` and `else`"
    )
  }
  named <- !one && (!is.null(names(x)) || !is.null(dimnames(x)))
  code[[2L]] <- carried_number(unname(x))
  taken <- eval(code, frame)
  if (!named) {
    return(as_r_number(if (length(taken) == 1L) nv_reshape(taken, integer()) else taken))
  }
  if (ndims(taken) == 0L) taken <- nv_reshape(taken, 1L)
  condition <- trace_condition(users_code(given), paste0(
    "the names of ", text, " depend on a traced position; leave them out with unname()"
  ))
  as_r_number(named_like(taken, .Call(joist_r_with_undecided, abstract_of(taken), condition)))
}

whole_position <- function(at, fail) {
  if (is_number(at)) at <- as_operand(at)
  if (dtype_kind(dtype(at)) == "complex" || format(dtype(at)) == "bool") {
    fail(" has a traced position of dtype ", format(dtype(at)), "; use nv_ifelse() with a mask")
  }
  if (has_mask(at)) fail(" has a position that may be missing; call nv_replace_na() first")
  nv_convert(at, "i64")
}

# `x`, in programs that raise an error if one of the positions `at` of `name` is outside the extent.
required_within <- function(x, at, extent, name, why) {
  required(x, in_extent(at, extent), position_text(name, extent, why))
}

in_extent <- function(at, extent) nv_reduce_all(at >= 1L & at <= extent)

position_text <- function(name, extent, why) {
  paste0("`", name, "`: a position is not one of 1 to ", extent, why)
}

# The element of a list at one position: numbers of one type, or tensors of one dtype and shape.
element_at <- function(x, at, fail) {
  numbers <- vapply(x, is_plain_number, NA)
  if (all(numbers)) {
    fit <- length(unique(vapply(x, typeof, ""))) == 1L &&
      all(vapply(x, function(part) is.null(attributes(part)), NA))
  } else {
    fit <- all(vapply(x, is_tensor, NA)) && all(vapply(x, function(part) {
      same_carried_type(carried_type(part), carried_type(x[[1L]])) &&
        is_r_number(part) == is_r_number(x[[1L]])
    }, NA))
  }
  if (length(x) == 0L || !fit || length(unique(lengths(x))) != 1L) {
    fail(
      " is an element that a traced position chooses, and the elements differ in type, shape or ",
      "names, or are no numbers; write `if` and `else`"
    )
  }
  if (all(numbers) && all(lengths(x) == 1L)) {
    return(as_r_number(carried_number(unlist(x, use.names = FALSE))[[at]]))
  }
  parts <- lapply(unname(x), function(part) {
    force(part)
    function() if (is_tensor(part)) part else carried_number(part)
  })
  taken <- do.call(nv_switch, c(list(nv_reshape(at, integer())), parts))
  if (is_r_number(x[[1L]])) as_r_number(taken) else taken
}
