# Programs over blocks: what nv_compute() and nv_store() run.
#
# A program is a list: the space of its blocks (`extents`, `chunks`, and which dims are `inner`,
# summed over), `calls` (operations in their order, with the numbers of their operands), `sources`
# (the types of the arrays and tensors that these read), `results` with their `maps` into the space
# (which of its dims each of theirs follows, 0 for its full extent), `leaves`, what a block reads:
# an array or tensor with a map into the space; the `types` of what it gives, and for results that
# are put together from parts the `lasts`, nodes of reductions or products; the `plan` of C for a
# block, which no other process can have. Whether it is `reversed`, see chunked-reversed.R.

# Of several results, all of them are reductions of tensors with the same blocks, over the same
# dims.
block_program <- function(...) {
  xs <- list(...)
  x <- xs[[1L]]
  node <- node_in(x)
  ys <- xs
  space <- list(
    extents = shape(x), chunks = chunks_of(x), outer = seq_along(shape(x)), inner = integer()
  )
  maps <- list(space$outer)
  if (is_contraction(x) && node$blocks$role == "product") {
    space$extents <- c(shape(x), node$blocks$terms)
    space$chunks <- c(chunks_of(x), node$blocks$step)
    space$inner <- 3L
    ys <- node$operands
    maps <- list(c(1L, 3L), c(3L, 2L))
    turned <- c(isTRUE(node$attributes$transpose_lhs), isTRUE(node$attributes$transpose_rhs))
    maps[turned] <- lapply(maps[turned], rev)
  } else if (is_contraction(x)) {
    ys <- lapply(xs, function(x) node_in(x)$operands[[1L]])
    all <- seq_along(shape(ys[[1L]]))
    space$extents <- shape(ys[[1L]])
    space$inner <- if (node$blocks$role == "counts") all else node$blocks$dims
    space$outer <- setdiff(all, space$inner)
    kept <- if (node$blocks$drop) seq_along(space$outer) else space$outer
    space$chunks <- replace(chunks_of(ys[[1L]]), space$outer, chunks_of(x)[kept])
    maps <- rep_len(list(all), length(ys))
  }
  program <- c(space, recorded_calls(ys), list(
    maps = maps, types = lapply(xs, abstract_of), reversed = FALSE
  ))
  if (is_contraction(x)) {
    program$lasts <- lapply(xs, function(x) {
      node <- node_in(x)
      node$operands <- NULL
      node
    })
  }
  ends <- if (is.null(program$lasts)) program$calls else program$lasts
  program$has_product <- any(vapply(ends, function(one) one$op == "matmul", TRUE))
  with_leaves(program)
}

# Walks from results to what they read, each once. Values have numbers: those of sources, then
# those of calls. The arrays and tensors are in `read`.
recorded_calls <- function(results) {
  known <- new.env(parent = emptyenv())
  read <- list()
  calls <- list()
  number_of <- function(x) {
    if (!is_chunked(x) && length(part_shape(x)) == 0L) {
      return(list(constant = x))
    }
    kept <- if (is_chunked(x) && node_in(x)$kind == "memory") node_in(x)
    if (!is.null(kept)) x <- kept$tensor
    node <- if (is_chunked(x)) node_in(x)
    name <- if (!is.null(kept)) {
      kept$id
    } else if (identical(node$kind, "zarr")) {
      paste(node$array$store$id, node$array$node) # several handles of an array are one source
    } else {
      node$id
    }
    if (!is.null(name) && !is.null(known[[name]])) {
      return(known[[name]])
    }
    if (is.null(node) || node$kind == "zarr") {
      read[[length(read) + 1L]] <<- if (is.null(node)) {
        list(tensor = as_operand(x), large = !is.null(kept))
      } else {
        list(array = node$array)
      }
      number <- list(source = length(read))
    } else {
      operands <- lapply(node$operands, number_of)
      calls[[length(calls) + 1L]] <<- c(
        node[c("op", "attributes", "rules")], list(operands = unname(operands))
      )
      number <- list(call = length(calls))
    }
    if (!is.null(name)) assign(name, number, envir = known)
    number
  }
  results <- lapply(results, number_of)
  types <- lapply(read, function(one) {
    if (is.null(one$array)) abstract_of(one$tensor) else nv_aval(one$array$dtype, one$array$shape)
  })
  list(read = read, sources = types, calls = calls, results = unname(results))
}

# With its plan, and what blocks read: each array and tensor, as often as they need different parts
# of it.
with_leaves <- function(program) {
  plan <- block_plan(program)
  program$plan <- plan$plan
  program$leaves <- Map(function(source, map) {
    leaf <- program$read[[source]]
    leaf$map <- map
    leaf$extents <- shape(program$sources[[source]])
    leaf
  }, plan$sources, plan$maps)
  program$read <- NULL
  program
}

# Traces the calls, and has C plan what a block of the results takes.
block_plan <- function(program) {
  begun <- .Call(joist_r_trace_begin, program$sources, NULL, NULL)
  values <- list()
  value_of <- function(number) {
    if (!is.null(number$source)) {
      begun[[2L]][[number$source]]
    } else if (!is.null(number$call)) {
      values[[number$call]]
    } else {
      number$constant
    }
  }
  for (k in seq_along(program$calls)) {
    values[[k]] <- replay(program$calls[[k]], lapply(program$calls[[k]]$operands, value_of))
  }
  plan <- .Call(
    joist_r_block_plan, lapply(program$results, value_of), program$maps, length(program$extents)
  )
  names(plan) <- c("plan", "sources", "maps")
  plan
}

# The function of the elements of the leaves that gives a block or the parts of one, compiled for
# each shape that blocks have.
block_function <- function(program) {
  plan <- if (is.null(program$plan)) block_plan(program)$plan else program$plan
  reversed <- program$reversed
  parts_of <- parts_function(program)
  jit(
    function(extents, leaves) {
      parts_of(.Call(joist_r_block_append, plan, extents, reversed, leaves))
    },
    static = "extents"
  )
}

# What makes the parts of a result, or is the result where there are none.
parts_function <- function(program) {
  lasts <- program$lasts
  types <- program$types
  if (is.null(lasts)) {
    return(function(values) values[[1L]])
  }
  # The transpose of a product is that of the transposes, the other way round.
  in_order <- if (program$reversed) rev else identity
  switch(lasts[[1L]]$blocks$role,
    product = function(values) list(part_of_product(lasts[[1L]], in_order(values), types[[1L]])),
    counts = function(values) list(replay(lasts[[1L]], values)),
    function(values) Map(part_of_reduction, lasts, values, types)
  )
}

# Parts are kept in the dtype that the core says the operation accumulates in, or computes in.
part_of_product <- function(node, values, type) {
  wide <- .Call(joist_r_part_type, "matmul", type)
  values <- lapply(values, nv_convert, dtype(wide))
  node$attributes <- node$attributes[c("transpose_lhs", "transpose_rhs")]
  replay(node, values)
}

part_of_reduction <- function(node, x, type) {
  dims <- node$blocks$dims
  if (node$op == "variance") {
    return(moments(x, dims))
  }
  op <- if (node$op == "mean") "reduce_sum" else node$op
  attributes <- list(dims = dims, drop = FALSE)
  if (op %in% c("reduce_sum", "reduce_prod")) {
    attributes$dtype <- dtype(.Call(joist_r_part_type, op, type))
  }
  apply_under(op, list(x), attributes, node$rules)
}

# Of a block or of several: the mean, the sum of squared distances from it, and how many elements
# (Chan, Golub and LeVeque 1983). One pass: distances are from the first elements, which are no
# further from the mean than the spread allows.
moments <- function(x, dims) {
  count <- as.numeric(prod(shape(x)[dims]))
  n <- nv_scalar(count, "f64")
  first <- if (count > 0) {
    at_first <- lapply(seq_along(shape(x)), function(d) if (d %in% dims) 1L)
    in_double(.Call(joist_r_subset, x, at_first, FALSE, FALSE))
  } else {
    nv_fill(0, replace(shape(x), dims, 1L), "f64")
  }
  distance <- in_double(x) - first
  sums <- nv_reduce_sum(distance, dims, FALSE)
  squares <- nv_reduce_sum(square_size(distance), dims, FALSE)
  list(mean = first + sums / n, squares = squares - square_size(sums) / n, n = n)
}

joined_moments <- function(a, b) {
  n <- a$n + b$n
  apart <- b$mean - a$mean
  list(
    mean = a$mean + apart * (b$n / n),
    squares = a$squares + b$squares + square_size(apart) * (a$n * (b$n / n)),
    n = n
  )
}

# The results of parts that are put together.
finish_block <- function(program, parts) {
  if (is.null(program$lasts)) {
    return(list(parts))
  }
  Map(function(node, part, type) {
    if (node$op == "mean") {
      count <- nv_scalar(prod(program$extents[node$blocks$dims]), "f64")
      part <- part / nv_convert(count, dtype(part))
    } else if (node$op == "variance") {
      left <- nv_scalar(max(as_array(part$n) - node$attributes$correction, 0), "f64")
      part <- part$squares / left
      if (node$attributes$root) part <- nv_sqrt(part)
    }
    if (node$blocks$drop) part <- nv_reshape(part, shape(part)[program$outer])
    nv_convert(part, dtype(type), ambiguous(type))
  }, program$lasts, parts, program$types)
}

# ---- the blocks ----

# How many blocks there are along each dim of the space, at least one.
block_counts <- function(program) {
  base::pmax(1L, as.integer(ceiling(program$extents / program$chunks)))
}

# The place of block `k`, from 0 on: inner dims run fastest.
block_place <- function(program, k) {
  counts <- block_counts(program)
  order <- c(program$inner, program$outer)
  replace(integer(length(counts)), order, mixed_digits(k, counts[order]))
}

run_block <- function(program, f, k) run_blocks(program, f, k)[[1L]]

# Several blocks, whose chunks are read side by side, and once where several need the same.
run_blocks <- function(program, f, ks) {
  places <- lapply(ks, function(k) block_place(program, k))
  starts <- lapply(places, function(place) as.integer(place * program$chunks) + 1L)
  stops <- lapply(places, function(place) {
    as.integer(base::pmin(program$extents, (place + 1) * program$chunks))
  })
  asked <- lapply(program$leaves, function(leaf) {
    whole <- leaf$map == 0L
    at <- base::pmax(leaf$map, 1L)
    list(
      low = lapply(starts, function(start) replace(c(start, 0L)[at], whole, 1L)),
      high = lapply(stops, function(stop) replace(c(stop, 0L)[at], whole, leaf$extents[whole]))
    )
  })
  read <- Map(function(leaf, part) {
    if (!is.null(leaf$array)) {
      NULL
    } else if (isTRUE(leaf$reversed)) {
      Map(
        function(low, high) nv_transpose(part_of(leaf$tensor, rev(low), rev(high))),
        part$low, part$high
      )
    } else {
      Map(part_of, list(leaf$tensor), part$low, part$high)
    }
  }, program$leaves, asked)
  names_of <- vapply(program$leaves, function(leaf) {
    if (is.null(leaf$array)) "" else paste(leaf$array$store$id, leaf$array$node)
  }, "")
  for (name in setdiff(names_of, "")) {
    which <- which(names_of == name)
    read[which] <- read_shared(program$leaves[[which[1L]]]$array, asked[which], program$kept)
  }
  lapply(seq_along(ks), function(j) {
    f(extents = stops[[j]] - starts[[j]] + 1L, leaves = lapply(read, function(values) values[[j]]))
  })
}

# What several leaves of an array need, each part of it read once.
read_shared <- function(array, asked, kept) {
  low <- do.call(c, lapply(asked, function(part) part$low))
  high <- do.call(c, lapply(asked, function(part) part$high))
  names <- vapply(seq_along(low), function(k) {
    paste(c(array$store$id, array$node, array$reversed, low[[k]], high[[k]]), collapse = " ")
  }, "")
  first <- !duplicated(names)
  parts <- lapply(names[first], function(name) kept$parts[[name]])
  new <- vapply(parts, is.null, TRUE)
  parts[new] <- read_parts(array, low[first][new], high[first][new])
  for (k in which(new)) keep_part(kept, names[first][k], parts[[k]], array$size)
  of <- rep(seq_along(asked), each = length(asked[[1L]]$low))
  unname(split(parts[match(names, names[first])], of))
}

# A cache of what a run reads for reductions and needs again: `parts` by name, as far as there is
# `room` for them.
new_kept <- function() {
  list2env(list(parts = new.env(parent = emptyenv()), bytes = 0, room = 0), parent = emptyenv())
}

keep_part <- function(kept, name, part, size) {
  bytes <- prod(shape(part)) * size
  if (is.null(kept) || bytes > kept$room) {
    return(invisible(NULL))
  }
  assign(name, part, envir = kept$parts)
  kept$room <- kept$room - bytes
  kept$bytes <- kept$bytes + bytes
}

# Bytes that are read for a block, of each leaf.
leaf_bytes <- function(program) {
  vapply(program$leaves, function(leaf) {
    if (is.null(leaf$array)) {
      return(0)
    }
    own <- leaf$extents
    own[leaf$map > 0L] <- program$chunks[leaf$map[leaf$map > 0L]]
    prod(base::pmin(own, leaf$extents)) * leaf$array$size
  }, 0)
}

# Where the block of a result begins that these belong to.
result_start <- function(program, k, which = 1L) {
  node <- if (!is.null(program$lasts)) program$lasts[[which]]
  if (identical(node$blocks$role, "counts")) {
    return(1L)
  }
  start <- as.integer(block_place(program, k) * program$chunks) + 1L
  kept <- identical(node$blocks$role, "fold") && !node$blocks$drop
  if (kept) replace(start, program$inner, 1L) else start[program$outer]
}

# ---- combining ----

# Parts in the order of blocks, combined in a tree that depends on their number alone: the parts of
# 2^p blocks that begin at a multiple of 2^p make one.
tree_new <- function(combine) {
  levels <- list()
  list(
    add = function(part, level) {
      while (length(levels) > 0L && levels[[length(levels)]]$level == level) {
        part <- combine(levels[[length(levels)]]$part, part)
        levels[[length(levels)]] <<- NULL
        level <- level + 1L
      }
      levels[[length(levels) + 1L]] <<- list(part = part, level = level)
    },
    result = function() {
      part <- NULL
      for (one in rev(levels)) part <- if (is.null(part)) one$part else combine(one$part, part)
      part
    }
  )
}

combiner <- function(lasts) {
  if (is.null(lasts)) {
    return(NULL)
  }
  combine_one <- function(node, a, b) {
    if (node$op == "variance") {
      return(joined_moments(a, b))
    }
    combine <- op_table()$combine[match(node$op, op_table()$name)]
    .Call(joist_r_op2, if (nzchar(combine)) combine else "add", a, b)
  }
  all <- function(a, b) Map(combine_one, lasts, a, b)
  if (length(lasts) == 1L && lasts[[1L]]$op != "variance") all else jit(all)
}
