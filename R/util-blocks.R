# Programs over blocks: what nv_compute() and nv_store() run.
#
# A program is a list: the space of its blocks (`extents`, `chunks`, and which dims are `inner`,
# summed over), `leaves`, each an array or tensor with a map into the space, `nodes` (operations in
# their order, with the numbers of their operands), the `types` of its results, and for those that
# are put together from parts the `lasts`, nodes of reductions or products. Whether it is `turned`,
# see util-turned.R.

# Of several results, all of them are reductions of tensors with the same blocks, over the same
# dims.
block_program <- function(...) {
  xs <- list(...)
  x <- xs[[1L]]
  node <- node_in(x)
  space <- list(
    extents = shape(x), chunks = chunks_of(x), outer = seq_along(shape(x)), inner = integer()
  )
  types <- list(types = lapply(xs, abstract_of))
  if (!is_contraction(x)) {
    return(c(space, traced_blocks(xs, list(space$outer)), types))
  }
  if (node$role$name != "contraction") {
    ys <- lapply(xs, function(x) node_in(x)$operands[[1L]])
    all <- seq_along(shape(ys[[1L]]))
    space$extents <- shape(ys[[1L]])
    space$inner <- if (node$role$name == "counts") all else node$role$dims
    space$outer <- setdiff(all, space$inner)
    kept <- if (isFALSE(node$role$drop)) space$outer else seq_along(space$outer)
    space$chunks <- replace(chunks_of(ys[[1L]]), space$outer, chunks_of(x)[kept])
    blocks <- traced_blocks(ys, rep_len(list(all), length(ys)))
  } else {
    space$extents <- c(shape(x), node$role$terms)
    space$chunks <- c(chunks_of(x), node$role$step)
    space$inner <- 3L
    blocks <- traced_blocks(node$operands, product_maps(node$role, 1:2, 3L))
  }
  lasts <- lapply(xs, function(x) {
    node <- node_in(x)
    node$operands <- NULL
    node
  })
  c(space, blocks, types, list(lasts = lasts))
}

# Walks from results to leaves once. Values have numbers: those of leaves, then those of nodes.
traced_blocks <- function(results, maps) {
  known <- new.env(parent = emptyenv())
  leaves <- list()
  nodes <- list()
  number_of <- function(x, map) {
    kept <- if (is_chunked(x) && node_in(x)$kind == "memory") node_in(x)
    if (!is.null(kept)) x <- kept$tensor
    if (!is_chunked(x) && length(part_shape(x)) == 0L) {
      return(list(constant = x))
    }
    node <- if (is_chunked(x)) node_in(x)
    source <- if (is.null(node)) {
      if (is.null(kept)) length(leaves) + 1L else kept$id
    } else if (node$kind == "zarr") {
      c(node$array$store$id, node$array$node) # several handles of an array are one leaf
    } else {
      node$id
    }
    name <- paste(c(source, map), collapse = " ")
    number <- known[[name]]
    if (!is.null(number)) {
      return(number)
    }
    if (is.null(node) || node$kind == "zarr") {
      leaf <- list(map = map, extents = part_shape(x))
      leaf <- c(leaf, if (is.null(node)) {
        list(tensor = as_operand(x), large = !is.null(kept))
      } else {
        list(array = node$array)
      })
      leaves[[length(leaves) + 1L]] <<- leaf
      number <- list(leaf = length(leaves))
    } else {
      operands <- Map(number_of, node$operands, operand_maps(x, map))
      node$operands <- NULL
      nodes[[length(nodes) + 1L]] <<- list(
        node = node, operands = unname(operands), map = map, extents = shape(x)
      )
      number <- list(node = length(nodes))
    }
    assign(name, number, envir = known)
    number
  }
  results <- Map(number_of, results, maps)
  list(leaves = leaves, nodes = nodes, results = unname(results))
}

# The function of the elements of the leaves that gives a block or the parts of one, compiled for
# each shape that blocks have.
block_function <- function(program) {
  program$leaves <- NULL # which may be large, and come when it is called
  jit(function(extents, leaves) block_or_parts(program, extents, leaves), static = "extents")
}

block_or_parts <- function(program, extents, leaves) {
  values <- list()
  value_of <- function(number) {
    if (!is.null(number$leaf)) {
      leaves[[number$leaf]]
    } else if (!is.null(number$node)) {
      values[[number$node]]
    } else {
      number$constant
    }
  }
  for (k in seq_along(program$nodes)) {
    one <- program$nodes[[k]]
    own <- ifelse(one$map == 0L, one$extents, c(extents, 0L)[pmax(one$map, 1L)])
    values[[k]] <- replay(one$node, lapply(one$operands, value_of), as.integer(own))
  }
  results <- lapply(program$results, value_of)
  if (is.null(program$lasts)) {
    return(results[[1L]])
  }
  last <- program$lasts[[1L]]
  if (last$role$name == "contraction") {
    return(list(part_of_product(last, results, program$types[[1L]])))
  }
  if (last$role$name == "counts") {
    return(list(apply_under(last$op, results, last$attributes, last$rules)))
  }
  Map(part_of_reduction, program$lasts, results, program$types)
}

# Parts are kept in the dtype that the core says the operation accumulates in, or computes in.
part_of_product <- function(node, values, type) {
  flags <- list(transpose_lhs = node$role$turned[1L], transpose_rhs = node$role$turned[2L])
  wide <- .Call(joist_r_part_type, "matmul", type)
  if (dtype(wide) != dtype(type)) values <- lapply(values, nv_convert, dtype(wide))
  apply_under("matmul", values, flags, node$rules)
}

part_of_reduction <- function(node, x, type) {
  dims <- node$role$dims
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
      count <- nv_scalar(prod(program$extents[node$role$dims]), "f64")
      part <- part / nv_convert(count, dtype(part))
    } else if (node$op == "variance") {
      left <- nv_scalar(max(as_array(part$n) - node$attributes$correction, 0), "f64")
      part <- part$squares / left
      if (node$attributes$root) part <- nv_sqrt(part)
    }
    if (isTRUE(node$role$drop)) part <- nv_reshape(part, shape(part)[program$outer])
    nv_convert(part, dtype(type), ambiguous(type))
  }, program$lasts, parts, program$types)
}

# ---- the blocks ----

# How many blocks there are along each dim of the space, at least one.
block_counts <- function(program) {
  pmax(1L, as.integer(ceiling(program$extents / program$chunks)))
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
    as.integer(pmin(program$extents, (place + 1) * program$chunks))
  })
  asked <- lapply(program$leaves, function(leaf) {
    whole <- leaf$map == 0L
    at <- pmax(leaf$map, 1L)
    list(
      low = lapply(starts, function(start) replace(c(start, 0L)[at], whole, 1L)),
      high = lapply(stops, function(stop) replace(c(stop, 0L)[at], whole, leaf$extents[whole]))
    )
  })
  read <- Map(function(leaf, part) {
    if (!is.null(leaf$array)) {
      NULL
    } else if (isTRUE(leaf$turned)) {
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
    paste(c(array$store$id, array$node, array$turned, low[[k]], high[[k]]), collapse = " ")
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
    prod(pmin(own, leaf$extents)) * leaf$array$size
  }, 0)
}

# Where the block of a result begins that these belong to.
result_start <- function(program, k, which = 1L) {
  node <- if (!is.null(program$lasts)) program$lasts[[which]]
  if (identical(node$role$name, "counts")) {
    return(1L)
  }
  start <- as.integer(block_place(program, k) * program$chunks) + 1L
  kept <- !is.null(node) && node$role$name == "reduction" && !node$role$drop
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
    op <- if (node$role$name == "contraction") "add" else node$role$combine
    .Call(joist_r_op2, op, a, b)
  }
  all <- function(a, b) Map(combine_one, lasts, a, b)
  if (length(lasts) == 1L && lasts[[1L]]$op != "variance") all else jit(all)
}
