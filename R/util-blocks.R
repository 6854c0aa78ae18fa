# Programs over blocks: what nv_compute() and nv_store() run.
#
# A program is a list: the space of its blocks (`extents`, `chunks`, and which dims are `inner`,
# summed over), `leaves`, each an array or tensor with a map into the space, `nodes` (operations in
# their order, with the numbers of their operands), how parts are combined (`combine`, NULL where
# there is one for each block) and finished (`finish`), and the `type` of the result.

block_program <- function(x) {
  node <- node_in(x)
  space <- list(
    extents = shape(x), chunks = chunks_of(x), outer = seq_along(shape(x)), inner = integer()
  )
  if (!is_contraction(x)) {
    return(c(space, traced_blocks(x, space$outer), list(type = abstract_of(x))))
  }
  if (node$role$name != "contraction") {
    y <- node$operands[[1L]]
    all <- seq_along(shape(y))
    space$extents <- shape(y)
    space$inner <- if (node$role$name == "counts") all else node$role$dims
    space$outer <- setdiff(all, space$inner)
    kept <- if (isFALSE(node$role$drop)) space$outer else seq_along(space$outer)
    space$chunks <- replace(chunks_of(y), space$outer, chunks_of(x)[kept])
    blocks <- traced_blocks(y, all)
  } else {
    space$extents <- c(shape(x), node$role$terms)
    space$chunks <- c(chunks_of(x), node$role$step)
    space$inner <- 3L
    maps <- product_maps(node$role, 1:2, 3L)
    blocks <- traced_blocks(node$operands, maps)
  }
  node$operands <- NULL
  c(space, blocks, list(type = abstract_of(x), last = node, combine = combine_of(node)))
}

combine_of <- function(node) if (node$role$name == "contraction") "add" else node$role$combine

# Walks from results to leaves once. Values have numbers: those of leaves, then those of nodes.
traced_blocks <- function(results, maps) {
  if (is_tensor(results)) {
    results <- list(results)
    maps <- list(maps)
  }
  known <- new.env(parent = emptyenv())
  leaves <- list()
  nodes <- list()
  number_of <- function(x, map) {
    if (!is_chunked(x) && length(part_shape(x)) == 0L) {
      return(list(constant = x))
    }
    node <- if (is_chunked(x)) node_in(x)
    source <- if (is.null(node)) {
      paste0("memory ", length(leaves) + 1L)
    } else if (node$kind == "zarr") {
      paste0("zarr ", node$array$store$id, " ", node$array$node)
    } else {
      paste0("node ", node$id)
    }
    name <- paste(c(source, map), collapse = " ")
    number <- known[[name]]
    if (!is.null(number)) {
      return(number)
    }
    if (is.null(node) || node$kind == "zarr") {
      leaf <- list(map = map, extents = part_shape(x))
      leaf <- c(leaf, if (is.null(node)) list(tensor = as_operand(x)) else list(array = node$array))
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

# The function of the elements of the leaves that gives a block or a part of one, compiled for each
# shape that blocks have.
block_function <- function(program) {
  program$leaves <- NULL # which may be large, and come when it is called
  jit(function(extents, leaves) {
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
    part_of_result(program, lapply(program$results, value_of))
  }, static = "extents")
}

part_of_result <- function(program, values) {
  node <- program$last
  if (is.null(node)) {
    return(values[[1L]])
  }
  if (node$role$name == "contraction") {
    flags <- list(transpose_lhs = node$role$turned[1L], transpose_rhs = node$role$turned[2L])
    return(apply_under("matmul", widened(values, program$type), flags, node$rules))
  }
  if (node$role$name == "counts") {
    return(apply_under(node$op, values, node$attributes, node$rules))
  }
  dims <- list(dims = node$role$dims, drop = FALSE)
  wide <- wide_dtype(program$type)
  if (node$op == "mean") {
    return(nv_reduce_sum(nv_convert(values[[1L]], wide), node$role$dims, FALSE, wide))
  }
  if (node$op %in% c("reduce_sum", "reduce_prod")) dims$dtype <- wide
  apply_under(node$op, values, dims, node$rules)
}

# Parts of sums of half precision are kept in f32, as in memory.
wide_dtype <- function(type) {
  if (format(dtype(type)) %in% c("f16", "bf16")) "f32" else format(dtype(type))
}

widened <- function(values, type) {
  if (wide_dtype(type) == format(dtype(type))) values else lapply(values, nv_convert, "f32")
}

finish_block <- function(program, block) {
  node <- program$last
  if (is.null(node)) {
    return(block)
  }
  if (identical(node$op, "mean")) {
    count <- nv_scalar(prod(program$extents[node$role$dims]), "f64")
    block <- block / nv_convert(count, dtype(block))
  }
  if (isTRUE(node$role$drop)) block <- nv_reshape(block, shape(block)[program$outer])
  nv_convert(block, dtype(program$type), ambiguous(program$type))
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

run_block <- function(program, f, k) {
  place <- block_place(program, k)
  start <- as.integer(place * program$chunks) + 1L
  stop <- as.integer(pmin(program$extents, (place + 1) * program$chunks))
  values <- lapply(program$leaves, function(leaf) {
    whole <- leaf$map == 0L
    at <- pmax(leaf$map, 1L)
    low <- ifelse(whole, 1L, c(start, 0L)[at])
    high <- ifelse(whole, leaf$extents, c(stop, 0L)[at])
    if (is.null(leaf$array)) part_of(leaf$tensor, low, high) else read_part(leaf$array, low, high)
  })
  f(extents = stop - start + 1L, leaves = values)
}

# Where the block of the result begins that these belong to.
result_start <- function(program, k) {
  node <- program$last
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

combiner <- function(program) {
  function(a, b) .Call(joist_r_op2, program$combine, a, b)
}
