# Operations on chunked tensors: what C hands over instead of computing, kept as a tree of nodes.
#
# A chunked tensor has dtype and shape as an abstract one, and two more attributes: `chunks`, the
# extents of the blocks that it is computed in, and `node`, a list with an `id`: of `kind` "zarr"
# with the `array`, of `kind` "memory" with the `tensor`, or of `kind` "operation" with `op`,
# `operands`, `attributes`, the `rules` that were in force, and `blocks`: what C says of how its
# blocks come from those of its operands (see src/r/trace/blocks.h).

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
abstract_of <- function(x) nv_aval(dtype(x), shape(x), ambiguous(x), !is.null(mask_of(x)))

counted <- new.env(parent = emptyenv())
counted$names <- 0

# That no other process has, either.
unique_name <- function() {
  counted$names <- counted$names + 1
  paste(basename(tempdir()), counted$names)
}

# Called from C. R's own operators repeat one element over an array: as in memory.
delayed_operation <- function(op, operands, attributes, as_operator) {
  shapes <- lapply(operands, part_shape)
  if (as_operator && any(lengths(shapes) > 1L)) {
    one <- vapply(operands, is_tensor, TRUE) & vapply(shapes, identical, TRUE, 1L)
    operands[one] <- lapply(operands[one], nv_reshape, integer())
  }
  if (any(vapply(operands, inherits, TRUE, "nv_traced"))) {
    stop_joist(
      "joist_value_error", "jit() cannot trace operations on a chunked tensor, which are delayed ",
      "as they are"
    )
  }
  given <- lapply(operands, function(x) if (is_chunked(x)) abstract_of(x) else x)
  if (is.null(attributes)) attributes <- list(dims = NULL)[is_reduction(op)] # of sum() and the like
  type <- .Call(joist_r_operation, op, given, attributes)
  blocks <- blocks_of(op, operands, attributes, type)
  if (blocks$role == "each") check_literals(op, given, attributes)
  delayed_node(type, op, operands, attributes, blocks)
}

blocks_of <- function(op, operands, attributes, type) {
  chunks <- lapply(operands, function(x) if (is_chunked(x)) chunks_of(x))
  extents <- if (is_tensor(type)) shape(type) else integer() # several have no blocks
  .Call(joist_r_blocks, op, lapply(operands, part_shape), chunks, attributes, extents)
}

delayed_node <- function(type, op, operands, attributes, blocks) {
  chunked_tensor(type, blocks$chunks, list(
    kind = "operation", op = op, operands = operands, attributes = attributes, blocks = blocks,
    rules = current_rules(), id = unique_name()
  ))
}

# The variance or its root, which is put together from a different kind of parts: see moments().
delayed_variance <- function(x, dims, drop, correction, root) {
  attributes <- list(dims = dims, drop = drop, correction = correction, root = root)
  type <- do.call(variance, c(list(abstract_of(x)), attributes))
  blocks <- blocks_of("reduce_sum", list(x), attributes[c("dims", "drop")], type)
  delayed_node(type, "variance", list(x), attributes, blocks)
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

is_reduction <- function(op) op_table()$family[match(op, op_table()$name)] == "reduction"

op_table <- function() {
  if (is.null(counted$ops)) counted$ops <- .Call(joist_r_op_names)
  counted$ops
}

# What has to be put together from the parts that several blocks give.
is_contraction <- function(x) is_chunked(x) && isTRUE(node_in(x)$blocks$parts)

# An operation on operands that are in memory by now, or are traced.
replay <- function(node, operands) {
  if (node$op == "variance") {
    return(do.call(variance, c(operands, node$attributes)))
  }
  apply_under(node$op, operands, node$attributes, node$rules)
}

# Under the rules that were in force when the operation was called.
apply_under <- function(op, operands, attributes, rules) {
  if (is.null(rules)) rules <- "anvil"
  with_promotion(rules, .Call(joist_r_operation, op, operands, attributes))
}
