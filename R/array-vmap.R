# Functions of many slices at once: the program of a function of one slice, with another dim for
# them (core/program/batch.h).

#' Vectorize a function
#'
#' `nv_vmap(f)` is a function of tensors with one dimension more than those that `f` takes: it gives
#' for all slices at once what `f` gives for each. `f` runs once, as in [jit()], and each of its
#' operations becomes one on all slices: many fits, many chains, many small matrices take few
#' operations on large tensors.
#'
#' Values, dtypes, missing values and names are those of a loop over the slices, and the bits as
#' well, except for sums, products and means of floats, matrix products and decompositions, which
#' may add in another order, within their usual error. `nv_vmap()` and [gradient()], [jit()], loops
#' and other `nv_vmap()`s can be nested in any order.
#'
#' Without `jit()`, `f` is traced in every call: write `jit(nv_vmap(f))` for a function that you
#' call often.
#'
#' @param f A function that returns a tensor, an R number, or a nested list of these.
#' @param in_dims The dimension of the arguments along which their slices lie: one for all tensors
#'   and R arrays among them, a number or a name; or a vector or list with an element for each
#'   argument, by name or position, which may be a list like the argument. Arguments with `NULL` or
#'   `NA`, and those that a named `in_dims` leaves out, are passed to `f` as they are.
#' @param out_dims The dimension of the results along which the slices lie: one for all, or a list
#'   like the value of `f`. `NULL` or `NA` for a result that is the same for all slices.
#' @return A function of the arguments of `f`, which returns what `f` does, of the same dtypes.
#'   What does not depend on the slices is
#'   repeated for each.
#' @section Loops and branches: A loop or branch on a condition that is the same for all slices
#'   stays as it is. If the condition depends on the slice, a loop runs until it is false for all,
#'   and slices that are done keep their state; of a branch, both sides are computed for all slices.
#'   Code that could fail or run on is given only to slices that take it.
#' @section Random numbers: The same key gives the same numbers in every slice, as in a loop. Split
#'   the key, and map the keys: `nv_vmap(function(key) nv_rnorm(3, key = key))` of a matrix with a
#'   key in each row.
#' @section Errors: `joist_shape_error` for arguments without the dimension, or of different extents
#'   there; `joist_value_error` for `in_dims` and `out_dims` that do not fit arguments or results,
#'   if no argument has slices, and if a result that is to be the same for all slices is not; those
#'   of `f`.
#' @seealso [nv_apply()], which loops over several dimensions; [nv_scan()], which hands on a state.
#' @examples
#' x <- nv_tensor(matrix(c(3, 1, 2, 5, 4, 7), 2))
#' nv_vmap(function(row) row / sum(row))(x)
#' nv_vmap(function(a, b) sum(a * b), in_dims = c(2, NA))(x, nv_tensor(c(1, 10)))
#' root <- function(a) {
#'   x <- a
#'   while (abs(x * x - a) > 1e-6 * a) x <- (x + a / x) / 2
#'   x
#' }
#' nv_vmap(root)(nv_tensor(c(2, 9, 100), "f64"))
#' nv_vmap(gradient(function(x) x^3))(nv_tensor(c(1, 2, 3)))
#' @export
nv_vmap <- function(f, in_dims = 1L, out_dims = 1L) {
  f <- traceable(match.fun(f), "f")
  names <- names(formals(args(f)))
  check_mapped(in_dims, "in_dims")
  check_mapped(out_dims, "out_dims")
  function_like(f, function(arguments) {
    along <- mapped_arguments(arguments, in_dims, names)
    arguments <- Map(map_along, arguments, along)
    traced_loop(list(arguments), function(given) {
      vmapped(function(...) call_function(f, list(...)), given[[1L]], along, out_dims)
    })
  })
}

# ---- dims ----

is_dims <- function(x) is_whole(x) && all(x >= 1)

check_mapped <- function(dims, name) {
  each <- if (is.list(dims) && !is.object(dims)) dims else list(dims)
  fits <- vapply(each, function(dim) {
    if (is.list(dim) && !is.object(dim)) {
      check_mapped(dim, name)
      return(TRUE)
    }
    if (is.null(dim)) {
      return(TRUE)
    }
    if (!is.atomic(dim) || is.object(dim) || length(dim) == 0L) {
      return(FALSE)
    }
    known <- dim[!is.na(dim)]
    if (is.character(dim)) all(nzchar(dim)) else length(known) == 0L || is_dims(known)
  }, NA)
  if (!all(fits) || is.list(dims) && length(dims) == 0L) {
    stop_joist(
      "joist_value_error", "`", name, "` must be a dimension, a name, NULL or NA, or a list or ",
      "vector of these"
    )
  }
}

# For each argument the dims of its leaves, of which those without slices have NULL.
mapped_arguments <- function(arguments, in_dims, names) {
  given <- given_names(arguments)
  if (is.null(in_dims) || length(in_dims) == 1L && is.null(names(in_dims)) && !is.list(in_dims)) {
    along <- rep(list(in_dims), length(arguments))
    mapped <- vapply(arguments, may_have_slices, NA)
    along[!mapped] <- list(NULL)
  } else if (is.null(names(in_dims))) {
    if (length(in_dims) != length(arguments)) {
      stop_joist(
        "joist_value_error", "`in_dims` has ", length(in_dims), " elements for ",
        length(arguments), " arguments"
      )
    }
    along <- as.list(in_dims)
  } else {
    unknown <- setdiff(names(in_dims), c(given, names))
    if (length(unknown) > 0L) {
      stop_joist("joist_value_error", "`in_dims`: the function has no argument ", unknown[1L])
    }
    along <- lapply(given, function(name) if (nzchar(name)) as.list(in_dims)[[name]])
  }
  Map(spread_dims, along, arguments, argument_labels(arguments))
}

may_have_slices <- function(x) {
  any(vapply(leaves_of(x), function(leaf) {
    is_tensor(leaf) || is.numeric(leaf) || is.logical(leaf) || is.complex(leaf)
  }, NA))
}

# A dim for each leaf of `x`: a list of the same leaves, of which those without slices are NA.
spread_dims <- function(dims, x, label) {
  if (is.list(dims) && is.list(x) && !is.object(x)) {
    if (length(dims) != length(x)) {
      stop_joist("joist_value_error", "the dims of ", label, " are another list than it is")
    }
    if (!is.null(names(dims)) && !is.null(names(x))) dims <- dims[names(x)]
    return(unlist(Map(spread_dims, dims, x, label), recursive = FALSE, use.names = FALSE))
  }
  lapply(leaves_of(x), function(leaf) {
    if (is.null(dims) || length(dims) == 1L && is.na(dims)) {
      return(NA)
    }
    leaf <- as_exact_operand(leaf)
    if (ndims(leaf) == 0L) {
      stop_joist(
        "joist_shape_error", label, " has no dimension along which slices could lie: leave it out ",
        "of `in_dims`"
      )
    }
    dims_of(dims, leaf, "in_dims", single = TRUE)
  })
}

# An argument whose mapped leaves are tensors.
map_along <- function(x, along) {
  at <- 0L
  map_leaves(x, function(leaf) {
    at <<- at + 1L
    if (is.na(along[[at]])) leaf else as_exact_operand(leaf)
  })
}

# ---- tracing ----

# What `f` gives for all slices of arguments along the dims of their leaves.
vmapped <- function(f, arguments, along, out_dims) {
  leaves <- leaves_of(arguments)
  along <- unlist(along)
  mapped <- which(!is.na(along))
  if (length(mapped) == 0L) {
    stop_joist("joist_value_error", "no argument of nv_vmap() has slices; see `in_dims`")
  }
  operands <- Map(dim_last, lapply(leaves[mapped], traced_constant), along[mapped])
  extent <- slice_extent(leaves[mapped], along[mapped])
  types <- Map(type_of_slice, operands, leaves[mapped], along[mapped])
  value <- NULL
  traced <- trace_body(types, function(inputs) {
    leaves[mapped] <- inputs
    value <<- call_function(f, refill(arguments, leaves))
    lapply(leaves_of(value), as_operand)
  })
  kept <- traced$outputs
  end_body(traced, function() split_masks(kept, kept))
  operands <- split_masks(operands, operands)
  made <- batch_body(traced$body, operands, rep(TRUE, length(operands)), extent)
  labels <- Map(function(x, dim) labels_of(x)[dim], leaves[mapped], along[mapped])
  labels <- c(Filter(function(own) !is.null(own[[1L]]), labels), list(list(NULL)))[[1L]]
  results <- join_slices_of(made, kept, extent, labels)
  refill(value, place_slices(results, value, out_dims))
}

slice_extent <- function(leaves, along) {
  extents <- mapply(function(x, dim) shape(x)[dim], leaves, along)
  if (length(unique(extents)) > 1L) {
    stop_joist(
      "joist_shape_error", "the arguments of nv_vmap() have ",
      paste(unique(extents), collapse = " and "), " slices"
    )
  }
  extents[1L]
}

dim_last <- function(x, dim) {
  if (dim == ndims(x)) x else moved_dim(x, c(seq_len(ndims(x))[-dim], dim))
}

# The type of a slice of `x`, whose last dim is dim `dim` of `like`, which has the names.
type_of_slice <- function(x, like, dim) {
  type <- nv_aval(dtype(x), shape(x)[-ndims(x)], ambiguous(x), has_mask(x))
  if (!has_labels(like) || ndims(x) < 2L) {
    return(type)
  }
  # A reduction keeps the names of the other dims; nothing reads its values.
  named_like(type, nv_reduce_any(without_mask(traced_constant(like)) == zero_of(like), dim))
}

# The instructions of a body on slices of operands: tensors with a last dim for them where there are
# some.
batch_body <- function(body, operands, varies, extent) {
  marks <- .Call(joist_r_region_marks, body)
  new <- vapply(marks, function(mark) {
    rule <- .Call(joist_r_trace_rule, session()$trace, mark[1L])
    new_mark(if (!is.null(rule)) batched_rule(rule, mark[-1L]))
  }, 0L)
  old <- vapply(marks, `[`, 0L, 1L)
  .Call(joist_r_region_batch, session()$trace, body, operands, varies, extent, old, new)
}

# The rule of a mark for operands that may have a dim of slices besides their own ranks.
batched_rule <- function(rule, ranks) {
  function(g, x, y) {
    operands <- c(list(g), x, if (is.list(y)) y else list(y))
    own <- c(ranks[1L], ranks, ranks[1L])
    varies <- mapply(ndims, operands) > own
    if (!any(varies)) {
      return(rule(g, x, y))
    }
    extent <- utils::tail(shape(operands[[which(varies)[1L]]]), 1L)
    types <- Map(function(x, varies) if (varies) slice_type(x) else type_of(x), operands, varies)
    parts <- NULL
    traced <- trace_body(types, function(inputs) {
      parts <<- rule(inputs[[1L]], inputs[seq_along(x) + 1L], inputs[[length(inputs)]])
      lapply(Filter(Negate(is.null), parts), as_operand)
    })
    end_body(traced)
    made <- batch_body(traced$body, operands, varies, extent)
    all <- vector("list", length(parts))
    all[!vapply(parts, is.null, NA)] <- Map(function(part, varies) {
      if (varies) part else last_dim_added(part, extent)
    }, made[[1L]], made[[2L]])
    all
  }
}

last_dim_added <- function(x, extent) {
  extents <- shape(x)
  nv_broadcast_to(nv_reshape(x, c(extents, 1L)), c(extents, extent))
}

# What a batched body gives, in place of the tensors `like`: with a last dim of slices, named as in
# `labels`, if that `varies`.
join_slices_of <- function(made, like, extent, labels) {
  parts <- made[[1L]]
  varies <- made[[2L]]
  at <- 0L
  tensors <- lapply(like, function(type) {
    at <<- at + 1L
    x <- parts[[at]]
    own <- varies[at]
    if (has_mask(type)) {
      at <<- at + 1L
      both <- own | varies[at]
      if (both && !own) x <- last_dim_added(x, extent)
      mask <- parts[[at]]
      if (both && !varies[at]) mask <- last_dim_added(mask, extent)
      own <- both
      x <- with_mask(x, mask)
    }
    list(x = x, varies = own, labels = labels_of(type))
  })
  lapply(tensors, function(tensor) c(tensor, list(extent = extent, along = labels)))
}

# The slices of results along the dims that are asked for.
place_slices <- function(results, value, out_dims) {
  if (!is.list(out_dims)) out_dims <- rep(list(out_dims), length(results))
  dims <- if (length(results) == length(unlist_dims(out_dims))) unlist_dims(out_dims)
  if (is.null(dims)) {
    stop_joist("joist_value_error", "`out_dims` is another list than the value of the function")
  }
  Map(function(result, dim) {
    if (is.na(dim)) {
      if (result$varies) {
        stop_joist(
          "joist_value_error", "a result with `out_dims` of NULL differs between the slices"
        )
      }
      return(with_labels(result$x, result$labels))
    }
    x <- if (result$varies) result$x else last_dim_added(result$x, result$extent)
    if (dim == Inf) dim <- ndims(x) # of joist's own
    check_dims(dim, "out_dims", ndims(x), TRUE)
    own <- seq_len(ndims(x) - 1L)
    if (dim < ndims(x)) x <- moved_dim(x, append(own, ndims(x), dim - 1))
    with_labels(x, append(result$labels, result$along, dim - 1))
  }, results, dims)
}

unlist_dims <- function(dims) {
  if (is.null(dims)) {
    return(list(NA))
  }
  if (!is.list(dims)) as.list(dims) else unlist(lapply(dims, unlist_dims), recursive = FALSE)
}
