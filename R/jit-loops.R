#' Loops and branches
#'
#' Loops and branches as operations: in [jit()] the body is traced once and becomes a part of the
#' program, which runs it as often as the values of tensors ask for, without R. Outside of `jit()`
#' the result is the same, in dtype, ambiguity and bits: a program is made, run and dropped.
#'
#' `nv_while()` repeats `body` while `cond` holds, `nv_for()` does it `n` times, and `nv_scan()`
#' once for each position along the first dimension of `xs`, or `length` times. They hand a state
#' on, which starts as `init`: a tensor, an R number, or a nested list of these. `nv_if()` computes
#' one of two expressions.
#'
#' Functions get the whole state as one argument; a function that has an argument for each name of
#' the list `init` gets its elements one by one. `body` returns the next state, in the structure of
#' `init`: the element that is named, or at the position. Everything else that the functions use
#' from outside is constant in the loop. They are traced, as in `jit()`: R code runs once, not in
#' each iteration. Operations on constants are traced, too.
#'
#' In functions that are traced, also in the bodies of these loops, R's own `if`, `while`, `repeat`
#' and `for` do the same, see the section Control flow of [jit()]. Outside of `jit()`, on tensors
#' with values, R runs them.
#'
#' @param init The state before the first iteration: a tensor, an R number, or a nested list.
#' @param cond A function of the state that gives one bool.
#' @param body A function that gives the next state. It gets the state; for `nv_for()` the number of
#'   the iteration, counted from 1, and the state; for `nv_scan()` the state and the slice of `xs`
#'   at a position, or without `xs` the number of that position. For `nv_scan()` it returns a list
#'   of two: the next state, and the output of this iteration, a tensor, a nested list, or `NULL`.
#' @param n The number of iterations: a whole number, or a scalar of an integer dtype; none if it is
#'   negative.
#' @param xs A tensor or a nested list of tensors with the same extent of the first dimension. A
#'   single whole R number `n`, or `NULL` with `length = n`, stands for the positions 1 to `n`, as
#'   `seq_len(n)` does.
#' @param length The number of iterations of `nv_scan()`, a whole R number; none if it is negative.
#'   It must be given if `xs` is `NULL`, and otherwise be the extent of the first dimension of `xs`.
#' @param reverse Whether `nv_scan()` goes from the last position to the first.
#' @param pred One bool.
#' @param true,false What to compute if `pred` is true, and if it is false: expressions, or
#'   functions without arguments. Both are traced, one is computed. They return tensors, R numbers
#'   or nested lists, of the same structure and shapes.
#' @return `nv_while()` and `nv_for()` return the last state. `nv_scan()` returns a list of `carry`,
#'   the last state, and `ys`, the outputs of all iterations along a new first dimension. `nv_if()`
#'   returns the result of the branch. For their dtypes, see the section Dtypes.
#' @section Dtypes: Each tensor of a state has the same dtype in all iterations. One that is
#'   ambiguous before the first iteration takes the known dtype that `body` gives it, if that is the
#'   common dtype of both and `body` then gives the same again: a state of `0` to which tensors of
#'   dtype `f64` are added is `f64`, and exact. A known dtype is kept, and an ambiguous result of
#'   `body` takes it. Everything else is an error: write the conversion. The branches of `nv_if()`
#'   have their common dtype, as those of [nv_ifelse()]. The number of an iteration is ambiguous, as
#'   `1L` is. R numbers in `xs` become tensors of their default dtype.
#' @section Missing values: A state may have missing values from the start, or gain some in the
#'   loop. The result of `cond`, `pred` and `n` must not be missing. While a program is traced, one
#'   that may be missing is an error, whatever its value will be: give it a value by
#'   [nv_replace_na()].
#' @section Errors: `joist_promotion_error` for a state whose dtype `body` changes;
#'   `joist_shape_error` for one whose shape it changes, for branches of two shapes, for `xs`
#'   without a first dimension in common; `joist_value_error` for another structure, for a `cond` or
#'   `pred` that is not a single bool or may be missing, for an `n` or `length` that is not a whole
#'   number, and for a `length` other than that of `xs`. All are raised before the first iteration.
#'   A long loop can be interrupted between two iterations.
#' @section Derivatives: [gradient()] goes through all but `nv_while()`, and through `nv_for()` only
#'   if `n` is an R number or a static argument. Of `nv_if()` it differentiates the branch that is
#'   taken.
#'
#'   The loop runs forward once, whether its value is wanted or not, and its iterations then run
#'   backward. Each forward iteration keeps the state before it, as far as derivatives read it, and
#'   those results of functions such as [nv_tanh()], of matrix products, of reductions and of loops
#'   within the loop that would take long to compute again. Sums and products of elements, and
#'   elements that are taken by position, are computed again. What is kept takes at most 8 times the
#'   memory of the states, of the slices of `xs` and of the outputs of all iterations, or 64 MB in
#'   all if that is more. Exponentials and logarithms are computed again where less is kept then and
#'   it would be more than those states, slices and outputs. Without room for the others, all
#'   functions of elements are, then loops within the loop, and then everything but the states.
#'   [nv_checkpoint()] in `body` keeps nothing of a function.
#' @seealso [nv_ifelse()], which chooses element by element.
#' @examples
#' nv_while(list(i = 1L, total = 0), \(i, total) i <= 10L, \(i, total) {
#'   list(i = i + 1L, total = total + i)
#' })
#' power <- jit(function(x, n) nv_for(n, 1, \(i, y) y * x))
#' power(nv_scalar(2, "f64"), 10L)
#' nv_scan(0, nv_tensor(c(1, 5, 2)), \(carry, x) list(carry + x, carry * x))
#' nv_scan(1, length = 5, body = \(carry, i) list(carry * i, carry))
#' jit(\(x) nv_if(sum(x) > 0, x, -x))(nv_tensor(c(-3, 1)))
#' @export
nv_while <- function(init, cond, body) {
  cond <- traceable(match.fun(cond), "cond")
  body <- traceable(match.fun(body), "body")
  traced_loop(list(init = init), function(given) {
    loop <- settle("nv_while", given$init, function(like) {
      trace_body(like, function(inputs) {
        list(state = call_with_state(body, refill(given$init, inputs)))
      })
    })
    condition <- trace_body(loop$like, function(inputs) {
      holds <- call_with_state(cond, refill(given$init, inputs))
      list(one_bool(holds, "`cond` must give"))
    })
    end_body(condition)
    bodies <- list(condition$body, loop$traced$body)
    refill(given$init, join_masks(apply_bodies("while", loop$start, bodies), loop$like))
  }, are_pure(cond, body))
}

#' @rdname nv_while
#' @export
nv_for <- function(n, init, body) {
  body <- traceable(match.fun(body), "body")
  turns <- known_turns(n)
  traced_loop(list(n = n, init = init), function(given) {
    n <- turn_count(given$n)
    index <- type_of(1L)
    loop <- settle("nv_for", given$init, function(like) {
      trace_body(c(list(index), like), function(inputs) {
        state <- refill(given$init, inputs[-1L])
        list(state = call_with_state(body, state, inputs[1L]))
      })
    })
    attributes <- if (is.null(turns)) list() else list(turns = turns)
    results <- apply_bodies("for", c(list(n), loop$start), list(loop$traced$body), attributes)
    refill(given$init, join_masks(results, loop$like))
  }, are_pure(body))
}

#' @rdname nv_while
#' @export
nv_scan <- function(init, xs = NULL, body, reverse = FALSE, length = NULL) {
  body <- traceable(match.fun(body), "body")
  if (!isTRUE(reverse) && !isFALSE(reverse)) {
    stop_joist("joist_value_error", "`reverse` must be TRUE or FALSE")
  }
  count <- if (is.null(length)) NULL else known_turns(length, "length")
  xs <- positions_or(xs, count)
  traced_loop(list(init = init, xs = xs), function(given) {
    arrays <- lapply(leaves_of(given$xs), as_operand)
    check_scanned(arrays, leaf_paths(given$xs, "xs"), count)
    slices <- lapply(arrays, function(x) {
      nv_aval(dtype(x), shape(x)[-1L], ambiguous(x), has_mask(x))
    })
    carries <- seq_along(leaves_of(given$init))
    kept <- NULL
    loop <- settle("nv_scan", given$init, function(like) {
      trace_body(c(like, slices), function(inputs) {
        state <- refill(given$init, inputs[carries])
        at <- refill(given$xs, if (length(carries) > 0L) inputs[-carries] else inputs)
        result <- two_parts(call_with_state(body, state, after = list(at)))
        kept <<- result[[2L]]
        list(state = result[[1L]], kept = lapply(leaves_of(kept), as_operand))
      })
    })
    operands <- c(loop$start, split_masks(lapply(arrays, first_dim_last), arrays))
    attributes <- list(carries = length(loop$start), reverse = reverse)
    results <- apply_bodies("scan", operands, list(loop$traced$body), attributes)
    results <- join_masks(results, c(loop$like, loop$traced$outputs$kept))
    stacked <- if (length(carries) > 0L) results[-carries] else results
    list(
      carry = refill(given$init, results[carries]),
      ys = refill(kept, lapply(stacked, last_dim_first))
    )
  }, are_pure(body))
}

#' @rdname nv_while
#' @export
nv_if <- function(pred, true, false) {
  traced_loop(list(pred = pred), function(given) {
    pred <- one_bool(given$pred, "`pred` must be")
    yes <- trace_body(list(), function(inputs) list(value = branch_value(true)))
    no <- trace_body(list(), function(inputs) list(value = branch_value(false)))
    value <- yes$outputs$value
    both <- list(leaves_of(value), leaves_of(no$outputs$value))
    check_structure(no$outputs$value, value, "`false` of nv_if() gives", "`true`", "true")
    types <- Map(branch_type, both[[1L]], both[[2L]], leaf_paths(value, "true"))
    end_body(yes, function() split_masks(Map(as_type, both[[1L]], types), types))
    end_body(no, function() split_masks(Map(as_type, both[[2L]], types), types))
    results <- apply_bodies("if", list(pred), list(yes$body, no$body))
    refill(value, join_masks(results, types))
  })
}

branch_value <- function(value) {
  if (!is.function(value)) {
    return(value)
  }
  own <- as.list(formals(args(value)))
  needed <- vapply(seq_along(own), function(k) identical(own[[k]], substitute()), NA)
  if (length(setdiff(names(own)[needed], "...")) > 0L) {
    stop_joist(
      "joist_value_error", "`true` and `false` of nv_if() must be expressions, or functions ",
      "without arguments"
    )
  }
  rewritten(value)()
}

# ---- traces ----

# Applies `compute` to `given`, a list: in the current trace, or in a new one, whose arguments are
# the tensors in `given`, and which then runs.
traced_loop <- function(given, compute, pure = FALSE) {
  call <- sys.call(-1L)
  if (is_tracing()) {
    return(without_effects(call, compute(given), pure))
  }
  leaves <- leaves_of(given)
  tensors <- vapply(leaves, is_tensor, NA)
  arguments <- unname(leaves[tensors])
  dynamic <- rep(TRUE, length(arguments))
  state <- .Call(joist_r_jit_state, 1L, NULL)
  compiled <- jit_trace(function(...) {
    leaves[tensors] <- list(...)
    without_effects(call, compute(refill(given, leaves)), pure)
  }, arguments, dynamic)
  run_traced(state, compiled, arguments, dynamic)
}

# Traces `compute`, a function of a list of tensors like those of `like`, as a body within the trace
# under way. What it gives are the `outputs`, which end_body() takes.
trace_body <- function(like, compute) {
  begun <- .Call(joist_r_region_begin, session()$trace, split_masks(like, like))
  within_body(begun[[1L]], {
    list(body = begun[[1L]], outputs = compute(join_masks(begun[[2L]], like)))
  })
}

# ---- missing values: the mask of a tensor is an operand, or a result, behind its elements ----

has_mask <- function(x) is_tensor(x) && !is.null(mask_of(x))

# Tensors without masks; behind each for which there is a mask in `like` its own one.
split_masks <- function(tensors, like) {
  if (!any(vapply(like, has_mask, NA))) {
    return(unname(tensors))
  }
  parts <- Map(function(x, type) {
    if (!has_mask(type)) {
      return(list(x))
    }
    mask <- mask_of(x)
    if (is.null(mask)) mask <- nv_broadcast_to(nv_scalar(FALSE), shape(x))
    list(without_mask(x), mask)
  }, tensors, like)
  as.list(unlist(unname(parts), recursive = FALSE))
}

# The same backwards, with the names in `like`.
join_masks <- function(parts, like) {
  at <- 0L
  unname(lapply(like, function(type) {
    at <<- at + 1L
    x <- parts[[at]]
    if (has_mask(type)) {
      at <<- at + 1L
      x <- with_mask(x, parts[[at]])
    }
    named_like(x, type)
  }))
}

within_body <- function(body, expr) {
  in_session(.Call(joist_r_push_trace, body, TRUE, NULL), expr)
}

# In a body all operations are traced; this is for those whose values are needed at once.
outside_bodies <- function(expr) {
  if (!is_tracing()) {
    return(expr)
  }
  in_session(.Call(joist_r_push_trace, session()$trace, FALSE, NULL), expr)
}

end_body <- function(traced, outputs = function() traced$outputs) {
  within_body(traced$body, .Call(joist_r_region_end, traced$body, outputs()))
}

apply_bodies <- function(op, operands, bodies, attributes = list()) {
  .Call(joist_r_region_apply, session()$trace, op, operands, bodies, attributes)
}

# ---- states ----

# Calls a function with a state between other arguments.
call_with_state <- function(f, state, before = list(), after = list()) {
  names <- names(state)
  one_by_one <- is.list(state) && !is.object(state) && length(state) > 0L && !is.null(names) &&
    all(nzchar(names)) && all(names %of% names(formals(args(f))))
  arguments <- c(before, if (one_by_one) state else list(state), after)
  call_function(f, arguments)
}

# Nested lists like `x` with other leaves.
refill <- function(x, leaves) {
  at <- 0L
  map_leaves(x, function(leaf) {
    at <<- at + 1L
    leaves[[at]]
  })
}

# The code that leads to each leaf.
leaf_paths <- function(x, at) {
  if (is.null(x)) {
    return(character())
  }
  if (!is.list(x) || is.object(x) && !inherits(x, "nv_qr")) {
    return(at)
  }
  names <- names(x)
  unlist(lapply(seq_along(x), function(k) {
    named <- !is.null(names) && nzchar(names[k])
    leaf_paths(x[[k]], paste0(at, if (named) paste0("$", names[k]) else paste0("[[", k, "]]")))
  }))
}

check_structure <- function(x, like, gives, of, at) {
  own <- leaf_paths(x, at)
  wanted <- leaf_paths(like, at)
  if (!identical(own, wanted)) {
    other <- c(setdiff(wanted, own), setdiff(own, wanted))[1L]
    stop_joist(
      "joist_value_error", gives, " another structure than ", of, " has",
      if (!is.na(other)) {
        paste0(": ", if (other %of% own) "there is no " else "it lacks ", "`", other, "`")
      }
    )
  }
}

type_of <- function(x) {
  x <- as_operand(x)
  named_like(abstract_of(x), x)
}

same_type <- function(x, y) type_string(x) == type_string(y) && ambiguous(x) == ambiguous(y)

# What the rules make of both, as text; "" where they have no common dtype.
joined_type <- function(x, y) {
  joined <- tryCatch(
    common_dtype(dtype(x), dtype(y), ambiguous(x), ambiguous(y)),
    joist_promotion_error = function(e) NULL
  )
  if (is.null(joined)) "" else paste0(joined$dtype, if (joined$ambiguous) "?")
}

# Converts a tensor or R number to its own type, or to the type that promotion gives it. R numbers
# are converted exactly.
as_type <- function(x, type) {
  if (!is_tensor(x) || is_number(x)) {
    return(nv_tensor(x, dtype(type), shape(type), ambiguous(type)))
  }
  if (same_type(x, type)) {
    return(x)
  }
  if (!is_inexact_dtype(x)) x <- promoted_to(x, type)
  nv_convert(x, dtype(type), ambiguous(type))
}

# What promotion makes of integers and truths that meet a tensor of that type: a run tells which it
# has changed.
promoted_to <- function(x, type) {
  tryCatch(
    {
      other <- nv_convert(nv_scalar(TRUE), dtype(type), ambiguous(type))
      nv_ifelse(nv_scalar(TRUE), x, other)
    },
    joist_promotion_error = function(e) x
  )
}

# Finds the types that the state has in all iterations. `trace` returns the body for given types of
# the state; its outputs are `state`, and what is kept of an iteration. An ambiguous type becomes
# the one that the body returns, a tensor may have missing values if the one that the body returns
# may, and it has names if the body leaves them as they are. The body is traced again until nothing
# changes.
settle <- function(operation, init, trace) {
  paths <- leaf_paths(init, "init")
  if (length(paths) == 0L) {
    stop_joist("joist_value_error", "`init` of ", operation, "() has no tensor")
  }
  leaves <- leaves_of(init)
  like <- lapply(leaves, type_of)
  repeat {
    traced <- trace(like)
    given <- traced$outputs$state
    check_structure(given, init, paste0("the body of ", operation, "() gives"), "`init`", "init")
    given <- leaves_of(given)
    types <- lapply(given, type_of)
    takes <- mapply(takes_type, like, types)
    gains <- vapply(types, has_mask, NA) & !vapply(like, has_mask, NA)
    loses <- !mapply(same_labels, like, types) & vapply(like, has_labels, NA)
    if (!any(takes | gains | loses)) break
    like <- Map(function(own, type, takes, gains, loses) {
      new <- if (takes) type else own
      type <- nv_aval(dtype(new), shape(own), ambiguous(new), gains || has_mask(own))
      if (loses) type else named_like(type, own)
    }, like, types, takes, gains, loses)
  }
  Map(check_carry, paths, like, types, operation)
  kept <- traced$outputs$kept
  end_body(traced, function() {
    c(split_masks(Map(as_type, given, like), like), split_masks(kept, kept))
  })
  list(traced = traced, like = like, start = split_masks(Map(as_type, leaves, like), like))
}

# Whether a type of the state becomes what the body gives.
takes_type <- function(own, type) {
  ambiguous(own) && !ambiguous(type) && joined_type(own, type) == type_name(type)
}

check_carry <- function(path, own, type, operation) {
  if (!identical(shape(own), shape(type))) {
    stop_joist(
      "joist_shape_error", "`", path, "` of ", operation, "() has shape ", shape_text(own),
      ", and the body gives it shape ", shape_text(type), "; a state keeps its shapes"
    )
  }
  yields <- ambiguous(type) && joined_type(own, type) == type_name(own)
  if (!same_type(own, type) && !yields) {
    stop_joist(
      "joist_promotion_error", "`", path, "` of ", operation, "() is ", type_name(own),
      ", and the body makes it ", type_name(type), "; convert one of them with nv_convert()"
    )
  }
}

# The common type of the values of two branches.
branch_type <- function(yes, no, path) {
  yes_type <- type_of(yes)
  no_type <- type_of(no)
  if (!identical(shape(yes_type), shape(no_type))) {
    stop_joist(
      "joist_shape_error", "`", path, "` of nv_if() has shape ", shape_text(yes_type),
      ", and `", sub("true", "false", path, fixed = TRUE), "` has shape ", shape_text(no_type)
    )
  }
  joined <- list(dtype = dtype(yes_type), ambiguous = ambiguous(yes_type))
  if (!same_type(yes_type, no_type)) joined <- result_dtype(yes, no)
  missing <- has_mask(yes_type) || has_mask(no_type)
  type <- nv_aval(joined$dtype, shape(yes_type), joined$ambiguous, missing)
  if (same_labels(yes_type, no_type)) named_like(type, yes_type) else type
}

# ---- arguments ----

one_bool <- function(x, what) {
  x <- as_operand(x)
  if (format(dtype(x)) != "bool" || ndims(x) != 0L) {
    stop_joist(
      "joist_value_error", what, " one TRUE or FALSE, a scalar of dtype bool, not ",
      type_text(x)
    )
  }
  if (has_mask(x)) {
    stop_joist(
      "joist_value_error", what, " one TRUE or FALSE, and this may be missing; call ",
      "nv_replace_na() first"
    )
  }
  x
}

# The number of iterations if it is an R number; NULL for a tensor.
known_turns <- function(n, name = "n") {
  if (is_tensor(n) && name == "n") {
    return(NULL)
  }
  if (!is_whole(n) || length(n) != 1L) {
    stop_joist(
      "joist_value_error", "`", name, "` must be one whole number",
      if (is_tensor(n)) ", known when nv_scan() is called; make it a static argument"
    )
  }
  max(n, 0)
}

# What nv_scan() goes along: `xs`, or the numbers of its iterations.
positions_or <- function(xs, count) {
  if (is.null(xs) && is.null(count)) {
    stop_joist("joist_value_error", "nv_scan() needs `xs` or `length`")
  }
  if (!is.null(xs)) {
    single <- !is.list(xs) && !is_tensor(xs) && is.null(dim(xs)) && length(xs) == 1L
    if (!single || !is_whole(xs)) {
      return(xs)
    }
    count <- max(xs, 0)
  }
  nv_tensor(seq_len(count), shape = count)
}

turn_count <- function(n) {
  if (!is_tensor(n) || is_number(n)) {
    return(nv_tensor(n, "i64", integer()))
  }
  if (!is_integer_dtype(n) || ndims(n) != 0L) {
    stop_joist(
      "joist_value_error", "`n` must be a scalar of an integer dtype, not ", type_text(n)
    )
  }
  nv_convert(n, "i64")
}

two_parts <- function(result) {
  if (!is.list(result) || is.object(result) || length(result) != 2L) {
    stop_joist(
      "joist_value_error", "the body of nv_scan() must return a list of two: the next state, and ",
      "what is kept of the iteration, NULL for nothing"
    )
  }
  result
}

check_scanned <- function(arrays, paths, count, operation = "nv_scan", argument = "xs") {
  if (length(arrays) == 0L) {
    stop_joist("joist_value_error", "`", argument, "` of ", operation, "() has no tensor")
  }
  for (k in seq_along(arrays)) {
    if (ndims(arrays[[k]]) == 0L || shape(arrays[[k]])[1L] != shape(arrays[[1L]])[1L]) {
      stop_joist(
        "joist_shape_error", "`", paths[k], "` of ", operation, "() has shape ",
        shape_text(arrays[[k]]),
        if (k > 1L) paste0(" and `", paths[1L], "` has shape ", shape_text(arrays[[1L]])),
        "; their first dimensions must be of one extent"
      )
    }
  }
  if (!is.null(count) && count != shape(arrays[[1L]])[1L]) {
    stop_joist(
      "joist_value_error", "`length` of nv_scan() is ", count, ", and `", paths[1L],
      "` has shape ", shape_text(arrays[[1L]])
    )
  }
}

# Turns run along the last dimension, where slices lie side by side.
first_dim_last <- function(x) {
  moved_dim(x, c(seq_len(ndims(x))[-1L], 1L))
}

last_dim_first <- function(x) {
  rank <- ndims(x)
  moved_dim(x, c(rank, seq_len(rank - 1L)))
}

# Dims of extent 1 only change the shape.
moved_dim <- function(x, permutation) {
  extents <- shape(x)
  if (length(extents) < 2L) {
    return(x)
  }
  if (sum(extents != 1L) < 2L) nv_reshape(x, extents[permutation]) else nv_transpose(x, permutation)
}
