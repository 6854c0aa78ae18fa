# Sparse Jacobians and Hessians: which elements of the value depend on which elements of the
# arguments is read from the program; columns that share no row are one directional derivative.
#
# A pattern is a sparse matrix of ones, with a row for each element of the arguments and a column
# for each element of a value. Elements are moved as they are: by the operation itself, on their
# numbers.

needs_matrix <- function() {
  if (!requireNamespace("Matrix", quietly = TRUE)) {
    stop_joist("joist_value_error", "`sparse` needs the package Matrix")
  }
  if (is_tracing()) {
    stop_joist("joist_value_error", "sparse derivatives are computed outside of jit() only")
  }
}

# The elements of the Jacobian of `f`, or of a Hessian, which is symmetric, that may not be zero.
sparse_jacobian <- function(f, arguments, chosen, symmetric) {
  plan <- NULL
  values <- in_trace(function(arguments) {
    plan <<- sparsity_plan(f, arguments, chosen)
    plan$wanted
  }, arguments, chosen)
  pattern <- pattern_of_plan(plan, values)
  if (symmetric) pattern <- ones(pattern + Matrix::t(pattern))
  by_input <- Matrix::t(pattern)
  alone <- if (symmetric) dense_rows(diff(pattern@p)) else logical(nrow(pattern))
  skip <- if (symmetric) alone else logical(ncol(pattern))
  colours <- .Call(
    joist_r_colour_columns, by_input@p, by_input@i, pattern@p, pattern@i, alone, skip
  )
  slopes <- in_trace(function(arguments) {
    compressed_columns(f, arguments, chosen, colours)
  }, arguments, chosen)
  slopes <- as_array(nv_convert(slopes, "f64"))
  row <- by_input@i + 1L
  column <- rep(seq_len(ncol(by_input)), diff(by_input@p))
  if (!symmetric) {
    x <- slopes[cbind(row, colours[column])]
    return(Matrix::sparseMatrix(i = row, j = column, x = x, dims = dim(by_input)))
  }
  upper <- row <= column
  row <- row[upper]
  column <- column[upper]
  turned <- alone[row] & !alone[column]
  x <- slopes[cbind(ifelse(turned, column, row), colours[ifelse(turned, row, column)])]
  Matrix::sparseMatrix(i = row, j = column, x = x, dims = dim(by_input), symmetric = TRUE)
}

# The rows that get a pass of their own, so that the others share few.
dense_rows <- function(counts) {
  order <- order(-counts)
  k <- seq(0, min(length(counts) - 1, 1000))
  best <- k[which.min(k + counts[order][k + 1])]
  seq_along(counts) %in% order[seq_len(best)]
}

# How the value changes with the columns of each colour together.
compressed_columns <- function(f, arguments, chosen, colours) {
  inputs <- arguments[chosen]
  inputs[] <- Map(mark_leaves, inputs, argument_labels(arguments)[chosen])
  leaves <- leaves_of(inputs)
  count <- max(colours, 0L)
  first <- cumsum(c(0, lengths(leaves)))
  seeds <- lapply(seq_along(leaves), function(k) {
    own <- colours[first[k] + seq_along(leaves[[k]])]
    same <- nv_tensor(own, "i32", c(length(own), 1L)) == nv_iota(2L, "i32", c(1, count))
    leaf <- leaves[[k]]
    nv_reshape(nv_convert(same, dtype(leaf), ambiguous(leaf)), c(shape(leaf), count))
  })
  slopes <- vmapped(function(...) {
    taken <- marked_value(f, arguments, inputs, chosen)
    tangents_of(taken, seq_along(leaves), list(...))
  }, seeds, lapply(seeds, function(x) list(ndims(x))), Inf)
  rows <- lapply(slopes, function(x) nv_reshape(x, c(length(x) %/% max(count, 1L), count)))
  do.call(nv_concatenate, c(rows, list(dim = 1L)))
}

# ---- what a program does, as lists ----

# The steps from the inputs to the value, and the tensors that say where elements go.
sparsity_plan <- function(f, arguments, chosen) {
  inputs <- arguments[chosen]
  inputs[] <- Map(mark_leaves, inputs, argument_labels(arguments)[chosen])
  arguments[chosen] <- inputs
  outputs <- leaves_of(map_leaves(call_function(f, arguments), differentiable))
  leaves <- leaves_of(inputs)
  wanted <- new.env(parent = emptyenv())
  wanted$tensors <- list()
  plan <- described_steps(outputs, leaves, wanted)
  plan$wanted <- wanted$tensors
  plan
}

described_steps <- function(outputs, inputs, wanted) {
  traced <- vapply(outputs, is_traced, NA)
  steps <- rev(.Call(joist_r_trace_walk, session()$trace, outputs[traced], inputs))
  list(
    steps = lapply(steps, described_step, wanted),
    inputs = lapply(inputs, described_value), outputs = lapply(outputs, described_value)
  )
}

described_value <- function(x) list(key = value_key(x), shape = shape(x), count = length(x))

# The operand that says where elements go.
index_operand <- c(
  take = 2L, gather = 2L, take_along = 2L, put = 2L, scatter_add = 2L, scatter_min = 2L,
  scatter_max = 2L, scatter_mul = 2L
)

described_step <- function(step, wanted) {
  made <- list(
    op = step$op, at = step$attributes, depends = step$depends,
    operands = lapply(step$operands, described_value),
    results = lapply(step$results, described_value)
  )
  index <- index_operand[step$op]
  if (!is.na(index) && !is.null(wanted)) {
    wanted$tensors <- c(wanted$tensors, list(step$operands[[index]]))
    made$index <- length(wanted$tensors)
  }
  regions <- switch(step$op, scan = , "for" = 1L, "if" = 1:2)
  made$bodies <- lapply(regions, function(region) described_body(step, region))
  made
}

described_body <- function(step, region) {
  trace <- session()$trace
  at <- step$attributes
  operands <- step$operands
  inputs <- switch(step$op,
    scan = c(
      lapply(operands[seq_len(at$carries)], type_of),
      lapply(operands[at$carries + seq_len(at$arrays)], slice_type),
      lapply(utils::tail(operands, length(operands) - at$carries - at$arrays), type_of)
    ),
    "for" = c(list(nv_aval(at$index, integer(), TRUE)), lapply(operands[-1L], type_of)),
    "if" = lapply(if (region == 1L) {
      operands[1L + seq_len(at$captures)]
    } else {
      operands[-seq_len(1L + at$captures)]
    }, type_of)
  )
  described <- NULL
  end_body(trace_body(inputs, function(given) {
    outputs <- inline_body(trace, at$number, region, given)
    described <<- described_steps(outputs, given, NULL)
    outputs
  }))
  described
}

# ---- patterns ----

ones <- function(pattern) {
  pattern <- methods::as(methods::as(pattern, "generalMatrix"), "CsparseMatrix")
  pattern@x[] <- 1
  pattern
}

no_pattern <- function(rows, count) {
  Matrix::sparseMatrix(i = integer(), j = integer(), x = numeric(), dims = c(rows, count))
}

pattern_of_plan <- function(plan, values) {
  counts <- vapply(plan$inputs, `[[`, 0, "count")
  rows <- sum(counts)
  unit <- ones(Matrix::Diagonal(rows))
  first <- cumsum(c(0, counts))
  given <- lapply(seq_along(counts), function(k) {
    unit[, first[k] + seq_len(counts[k]), drop = FALSE]
  })
  do.call(cbind, run_patterns(plan, given, rows, values))
}

# The patterns of the outputs, from those of the inputs; NULL in place of one that is empty.
run_patterns <- function(plan, given, rows, values) {
  found <- new.env(parent = emptyenv())
  for (k in seq_along(given)) assign(plan$inputs[[k]]$key, given[[k]], found)
  for (step in plan$steps) {
    x <- lapply(step$operands, function(operand) found[[operand$key]])
    if (all(vapply(x, is.null, NA))) next
    made <- step_patterns(step, x, rows, values)
    for (r in seq_along(made)) {
      if (!is.null(made[[r]])) assign(step$results[[r]]$key, made[[r]], found)
    }
  }
  lapply(plan$outputs, function(output) {
    own <- found[[output$key]]
    if (is.null(own)) no_pattern(rows, output$count) else own
  })
}

moves <- c(
  "reshape", "broadcast_to", "transpose", "slice", "pad", "concatenate", "update", "take", "gather",
  "take_along", "put", "require"
)

step_patterns <- function(step, x, rows, values) {
  op <- step$op
  known <- !op %in% names(index_operand) || !is.null(step$index)
  if (op_fact(op, "derivative") == "zero") {
    return(list(NULL))
  }
  if (length(step$bodies) > 0L) {
    return(switch(op,
      scan = scanned_patterns(step, x, rows), "if" = branch_patterns(step, x, rows),
      "for" = counted_patterns(step, x, rows)
    ))
  }
  if (op == "alias" && length(x) == 1L) {
    return(x)
  }
  family <- op_fact(op, "family")
  if (op %in% moves && known) {
    list(moved_patterns(step, x, rows, values))
  } else if (family == "elementwise") {
    list(each_pattern(step, x))
  } else if (startsWith(op, "scatter") && known) {
    list(scattered_patterns(step, x, values))
  } else if (family == "reduction") {
    list(reduced_pattern(x[[1L]], step$operands[[1L]]$shape, step$at$dims))
  } else if (op == "matmul") {
    list(product_patterns(step, x))
  } else {
    all_patterns(step, x)
  }
}

each_pattern <- function(step, x) {
  union_of(Map(function(pattern, operand) {
    numbers <- if (!is.null(pattern)) broadcast_numbers(operand, step$results[[1L]]$shape)
    if (!is.null(pattern)) pattern[, numbers, drop = FALSE]
  }, x, step$operands))
}

union_of <- function(parts) {
  parts <- Filter(Negate(is.null), parts)
  if (length(parts) < 2L) c(parts, list(NULL))[[1L]] else ones(Reduce(`+`, parts))
}

element_numbers <- function(operand, first = 0) {
  nv_tensor(first + seq_len(operand$count), "i32", operand$shape)
}

broadcast_numbers <- function(operand, shape) {
  as.integer(nv_flatten(nv_broadcast_to(element_numbers(operand), shape)))
}

# Elements go where the operation puts their numbers.
moved_patterns <- function(step, x, rows, values) {
  first <- 1
  all <- list(no_pattern(rows, 1L))
  operands <- lapply(seq_along(x), function(k) {
    operand <- step$operands[[k]]
    if (identical(k, unname(index_operand[step$op]))) {
      return(values[[step$index]])
    }
    if (is.null(x[[k]])) {
      return(nv_fill(1L, operand$shape, "i32"))
    }
    numbers <- element_numbers(operand, first)
    first <<- first + operand$count
    all <<- c(all, list(x[[k]]))
    numbers
  })
  if (step$op == "require") operands[[2L]] <- nv_scalar(TRUE)
  at <- as.integer(nv_flatten(apply_operation(step$op, operands, step$at)))
  do.call(cbind, all)[, at, drop = FALSE]
}

# Elements, and the values that are combined with them.
scattered_patterns <- function(step, x, values) {
  value <- step$operands[[3L]]
  into <- step$operands[[1L]]
  if (is.null(x[[3L]])) {
    return(x[[1L]])
  }
  index <- values[[step$index]]
  numbers <- element_numbers(into)
  at <- as.integer(nv_flatten(at_positions(numbers, list(numbers, index, element_numbers(value)))))
  from <- rep_len(seq_len(value$count), length(at))
  sums <- Matrix::sparseMatrix(i = from, j = at, x = 1, dims = c(value$count, into$count))
  union_of(list(x[[1L]], ones(x[[3L]] %*% sums)))
}

# Columns are joined that have one number in `group`, of 1 to `count`.
joined_columns <- function(pattern, group, count) {
  sums <- Matrix::sparseMatrix(
    i = seq_along(group), j = group, x = 1, dims = c(length(group), count)
  )
  ones(pattern %*% sums)
}

reduced_pattern <- function(pattern, shape, dims) {
  kept <- replace(shape, dims, 1L)
  group <- broadcast_numbers(list(count = prod(kept), shape = kept), shape)
  joined_columns(pattern, group, prod(kept))
}

# An element depends on a row of one matrix and a column of the other.
product_patterns <- function(step, x) {
  turned <- c(isTRUE(step$at$transpose_lhs), isTRUE(step$at$transpose_rhs))
  result <- step$results[[1L]]$shape
  union_of(lapply(1:2, function(k) {
    if (is.null(x[[k]])) {
      return(NULL)
    }
    shape <- step$operands[[k]]$shape
    along <- if (xor(k == 1L, turned[k])) 2L else 1L
    lines <- reduced_pattern(x[[k]], shape, along)
    kept <- shape
    kept[1:2] <- 1L
    kept[k] <- shape[3L - along]
    kept <- c(kept, rep(1L, length(result) - length(kept)))
    lines[, broadcast_numbers(list(count = prod(kept), shape = kept), result), drop = FALSE]
  }))
}

# Every element depends on all elements of all operands.
all_patterns <- function(step, x) {
  parts <- Filter(Negate(is.null), x)
  whole <- union_of(lapply(parts, function(pattern) {
    joined_columns(pattern, rep(1L, ncol(pattern)), 1L)
  }))
  lapply(step$results, function(result) {
    if (length(whole@i) * result$count > 2e8) {
      stop_joist("joist_value_error", "the matrix is not sparse: nv_", step$op, "() fills it")
    }
    whole[, rep(1L, result$count), drop = FALSE]
  })
}

slice_columns <- function(pattern, turn, turns) {
  count <- ncol(pattern) %/% turns
  pattern[, (turn - 1L) * count + seq_len(count), drop = FALSE]
}

scanned_patterns <- function(step, x, rows) {
  at <- step$at
  own <- seq_len(at$carries)
  arrays <- at$carries + seq_len(at$arrays)
  carry <- x[own]
  turns <- utils::tail(step$operands[[arrays[1L]]]$shape, 1L)
  kept <- vector("list", turns)
  body <- step$bodies[[1L]]
  for (turn in if (isTRUE(at$reverse)) rev(seq_len(turns)) else seq_len(turns)) {
    slices <- lapply(x[arrays], function(pattern) {
      if (!is.null(pattern)) slice_columns(pattern, turn, turns)
    })
    made <- run_patterns(body, c(carry, slices, x[-c(own, arrays)]), rows, NULL)
    carry <- made[own]
    kept[[turn]] <- made[-own]
    if (length(own) == 0L) kept[[turn]] <- made
  }
  stacked <- lapply(seq_len(length(step$results) - length(own)), function(k) {
    do.call(cbind, lapply(kept, `[[`, k))
  })
  c(carry, stacked)
}

counted_patterns <- function(step, x, rows) {
  if (is.null(step$at$turns)) {
    return(all_patterns(step, x))
  }
  own <- 1L + seq_along(step$results)
  for (turn in seq_len(step$at$turns)) {
    x[own] <- run_patterns(step$bodies[[1L]], c(list(NULL), x[-1L]), rows, NULL)
  }
  x[own]
}

branch_patterns <- function(step, x, rows) {
  captures <- x[-1L]
  first <- seq_len(step$at$captures)
  yes <- run_patterns(step$bodies[[1L]], captures[first], rows, NULL)
  no <- run_patterns(step$bodies[[2L]], captures[seq_along(captures) > length(first)], rows, NULL)
  Map(function(a, b) union_of(list(a, b)), yes, no)
}
