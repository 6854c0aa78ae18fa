# Operations on chunked tensors: what C hands over instead of computing, kept as a tree of nodes.
#
# A chunked tensor has dtype and shape as an abstract one, and two more attributes: `chunks`, the
# extents of the blocks that it is computed in, and `node`, a list with an `id`: of `kind` "zarr"
# with the `array`, of `kind` "memory" with the `tensor`, or of `kind` "operation" with `op`,
# `operands`, `attributes`, the `rules` that were in force, and the `role` of the operation: how
# its blocks come from those of its operands.

chunked_tensor <- function(type, chunks, node) {
  attr(type, "chunks") <- as.integer(chunks)
  attr(type, "node") <- node
  class(type) <- c("nv_chunked", "nv_tensor")
  type
}

is_chunked <- function(x) inherits(x, "nv_chunked")

chunks_of <- function(x) attr(x, "chunks", TRUE)
node_in <- function(x) attr(x, "node", TRUE)
is_source <- function(x) node_in(x)$kind != "operation"
abstract_of <- function(x) nv_aval(dtype(x), shape(x), ambiguous(x))

counted <- new.env(parent = emptyenv())
counted$names <- 0

# That no other process has, either.
unique_name <- function() {
  counted$names <- counted$names + 1
  paste(basename(tempdir()), counted$names)
}

# Called from C.
delayed_operation <- function(op, operands, attributes) {
  if (any(vapply(operands, inherits, TRUE, "nv_traced"))) {
    stop_joist(
      "joist_value_error", "jit() cannot trace operations on a chunked tensor, which are delayed ",
      "as they are"
    )
  }
  given <- lapply(operands, function(x) if (is_chunked(x)) abstract_of(x) else x)
  if (is.null(attributes)) attributes <- list(dims = NULL)[is_reduction(op)] # of sum() and the like
  type <- .Call(joist_r_operation, op, given, attributes)
  role <- role_of(op, operands, attributes, type)
  if (is.null(role)) {
    stop_joist(
      "joist_value_error", "nv_", op, "() of these shapes needs all elements of a chunked tensor ",
      "in memory; call nv_compute() first"
    )
  }
  if (role$name == "elementwise") check_literals(op, given, attributes)
  delayed_node(type, op, operands, attributes, role)
}

delayed_node <- function(type, op, operands, attributes, role) {
  chunked_tensor(type, role$chunks, list(
    kind = "operation", op = op, operands = operands, attributes = attributes, role = role,
    rules = getOption("joist.promotion"), id = unique_name()
  ))
}

# The variance or its root, which is put together from a different kind of parts: see moments().
delayed_variance <- function(x, dims, drop, correction, root) {
  attributes <- list(dims = dims, drop = drop, correction = correction, root = root)
  type <- do.call(variance, c(list(abstract_of(x)), attributes))
  delayed_node(type, "variance", list(x), attributes, role_of_reduction("variance", x, attributes))
}

# R numbers that do not fit the dtype are an error now, by the operation on no elements.
check_literals <- function(op, operands, attributes) {
  literal <- vapply(operands, function(x) !is_tensor(x) && length(x) == 1L, TRUE)
  if (!any(literal)) {
    return()
  }
  none <- lapply(operands, function(x) {
    if (!is_tensor(x)) {
      return(if (length(x) == 1L) x)
    }
    if (ndims(x) == 0L) {
      return(abstract_of(x))
    }
    nv_tensor(integer(), dtype(x), shape = c(0L, shape(x)[-1L]), ambiguous = ambiguous(x))
  })
  abstract <- vapply(none, function(x) is.null(x) || inherits(x, "nv_aval"), TRUE)
  if (!any(abstract)) .Call(joist_r_operation, op, none, attributes)
}

# ---- roles ----

op_table <- function() {
  if (is.null(counted$ops)) counted$ops <- .Call(joist_r_op_names)
  counted$ops
}

is_reduction <- function(op) op_table()$family[match(op, op_table()$name)] == "reduction"

# What an operation does to blocks: a name, the `chunks` of the result, and what else is to be known
# of it; NULL for one that has no blocks.
role_of <- function(op, operands, attributes, type) {
  if (!is_tensor(type)) {
    return(NULL) # several results
  }
  x <- operands[[1L]]
  switch(op_table()$blocks[match(op, op_table()$name)],
    each = if (op == "broadcast_to") {
      role_of_layout(op, x, type)
    } else {
      role_of_elements(operands, type)
    },
    reshape = role_of_layout(op, x, type),
    permute = {
      permutation <- as.integer(attributes$permutation)
      list(name = "transpose", permutation = permutation, chunks = chunks_of(x)[permutation])
    },
    along = if (length(operands) > 1L) {
      role_of_taking(operands, attributes, type)
    } else {
      role_along(x, attributes, type)
    },
    fold = role_of_reduction(op, x, attributes),
    counts = list(name = "counts", combine = "add", chunks = max(1L, shape(type))),
    product = role_of_product(operands, attributes, type)
  )
}

role_of_elements <- function(operands, type) {
  extents <- shape(type)
  chunks <- integer(length(extents))
  for (x in Filter(is_chunked, operands)) {
    own <- shape(x)
    if (length(own) == 0L) next
    wide <- own == extents
    chunks[wide] <- pmax(chunks, chunks_of(x))[wide]
  }
  new <- chunks == 0L
  chunks[new] <- pmax(1L, extents[new])
  list(name = "elementwise", chunks = chunks)
}

# Reshaping only where extents of 1 come or go, and broadcasting with as many dims.
role_of_layout <- function(op, x, type) {
  own <- shape(x)
  extents <- shape(type)
  if (op == "broadcast_to") {
    chunks <- extents
    if (length(own) > 0L) {
      wide <- own == extents
      chunks[wide] <- chunks_of(x)[wide]
    }
    return(list(name = "broadcast", chunks = pmax(1L, chunks)))
  }
  if (!identical(own[own != 1L], extents[extents != 1L])) {
    return(NULL)
  }
  chunks <- rep_len(1L, length(extents))
  chunks[extents != 1L] <- chunks_of(x)[own != 1L]
  list(name = "reshape", chunks = chunks)
}

role_along <- function(x, attributes, type) {
  rank <- ndims(x)
  dim <- if (is.null(attributes$dim) && rank == 1L) 1L else attributes$dim
  if (is.null(dim)) {
    return(NULL)
  }
  if (dim < 0) dim <- rank + 1 + dim
  dim <- as.integer(dim)
  dropped <- ndims(type) < rank
  chunks <- chunks_of(x)
  if (dropped) chunks <- chunks[-dim] else chunks[dim] <- max(1L, shape(type)[dim])
  list(name = "along", dim = dim, dropped = dropped, chunks = chunks)
}

# What several operands have at the same places of the other dims.
role_of_taking <- function(operands, attributes, type) {
  roles <- lapply(Filter(is_chunked, operands), role_along, attributes, type)
  role <- roles[[1L]]
  role$chunks <- do.call(pmax, lapply(roles, function(one) one$chunks))
  role
}

role_of_reduction <- function(op, x, attributes) {
  rank <- ndims(x)
  dims <- attributes$dims
  if (is.null(dims)) dims <- seq_len(rank)
  if (any(dims < 0)) dims <- seq_len(rank)[dims]
  dims <- as.integer(dims)
  kept <- setdiff(seq_len(rank), dims)
  drop <- !isFALSE(attributes$drop)
  chunks <- chunks_of(x)
  chunks <- if (drop) chunks[kept] else replace(chunks, dims, 1L)
  combine <- op_table()$combine[match(op, op_table()$name)]
  list(name = "reduction", dims = dims, drop = drop, combine = combine, chunks = chunks)
}

role_of_product <- function(operands, attributes, type) {
  if (any(vapply(operands, function(x) length(part_shape(x)), 0L) != 2L)) {
    return(NULL)
  }
  blocks <- lapply(operands, function(x) if (is_chunked(x)) chunks_of(x) else part_shape(x))
  turned <- c(isTRUE(attributes$transpose_lhs), isTRUE(attributes$transpose_rhs))
  if (turned[1L]) blocks[[1L]] <- rev(blocks[[1L]])
  if (turned[2L]) blocks[[2L]] <- rev(blocks[[2L]])
  terms <- part_shape(operands[[1L]])[if (turned[1L]) 1L else 2L]
  own <- c(
    if (is_chunked(operands[[1L]])) blocks[[1L]][2L],
    if (is_chunked(operands[[2L]])) blocks[[2L]][1L]
  )
  step <- as.integer(min(max(own), max(1L, terms)))
  list(
    name = if (step >= terms) "product" else "contraction", turned = turned, terms = terms,
    step = step, chunks = pmax(1L, as.integer(c(blocks[[1L]][1L], blocks[[2L]][2L])))
  )
}

# What has to be put together from the parts that several blocks give.
is_contraction <- function(x) {
  is_chunked(x) && isTRUE(node_in(x)$role$name %in% c("reduction", "contraction", "counts"))
}

# ---- where blocks come from ----

# A program runs over a space of blocks, which has its own dims. A map says which of them each dim
# of a tensor follows; 0 stands for its full extent. Returns the maps of the operands of a node.
operand_maps <- function(x, map) {
  node <- node_in(x)
  role <- node$role
  switch(role$name,
    elementwise = ,
    broadcast = lapply(node$operands, function(y) {
      own <- part_shape(y)
      if (length(own) == 0L) integer() else ifelse(own == shape(x), map, 0L)
    }),
    transpose = list(map[match(seq_along(map), role$permutation)]),
    reshape = {
      own <- shape(node$operands[[1L]])
      list(replace(integer(length(own)), own != 1L, map[shape(x) != 1L]))
    },
    along = rep_len(list(
      if (role$dropped) append(map, 0L, role$dim - 1L) else replace(map, role$dim, 0L)
    ), length(node$operands)),
    product = product_maps(role, map, 0L)
  )
}

product_maps <- function(role, map, inner) {
  lhs <- c(map[1L], inner)
  rhs <- c(inner, map[2L])
  list(if (role$turned[1L]) rev(lhs) else lhs, if (role$turned[2L]) rev(rhs) else rhs)
}

# One operation on the blocks of its operands; `extents` are those of its result.
replay <- function(node, values, extents) {
  attributes <- node$attributes
  if (node$op == "variance") {
    return(do.call(variance, c(values, attributes)))
  }
  if (node$role$name %in% c("reshape", "broadcast")) attributes <- list(shape = extents)
  apply_under(node$op, values, attributes, node$rules)
}

# Under the rules that were in force when the operation was called.
apply_under <- function(op, operands, attributes, rules) {
  if (identical(rules, getOption("joist.promotion"))) {
    return(.Call(joist_r_operation, op, operands, attributes))
  }
  old <- options(joist.promotion = rules)
  on.exit(options(old))
  .Call(joist_r_operation, op, operands, attributes)
}
