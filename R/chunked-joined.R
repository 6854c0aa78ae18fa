# Chunked tensors whose elements are read from others: joined along a dimension, or at positions.
#
# Their leaf has an `array` without codecs and with a function `read(low, high, reversed)`, which
# gives a part of it, transposed if `reversed`. Such an array cannot be written to.

derived_tensor <- function(dtype, shape, chunks, order, read, label, ambiguous = FALSE) {
  store <- structure(
    list(name = label, id = unique_name(), exists = function(key) TRUE),
    class = "nv_zarr_store"
  )
  type <- nv_aval(dtype, shape, ambiguous)
  array <- list(
    type = "array", dtype = format(as_dtype(dtype)), shape = as.integer(shape),
    chunks = as.integer(base::pmax(1L, base::pmin(chunks, shape))), codecs = list(), order = order,
    swapped = FALSE, store = store, node = "", size = .Call(joist_r_dtype_size, type), read = read
  )
  chunked_tensor(type, array$chunks, list(array = array, id = store$id))
}

# Whether an array has its elements in a store.
is_stored <- function(array) !is.null(array) && is.null(array$read)

read_derived <- function(array, starts, stops) {
  turned <- isTRUE(array$reversed)
  Map(function(low, high) {
    if (turned) array$read(rev(low), rev(high), TRUE) else array$read(low, high, FALSE)
  }, starts, stops)
}

# What a chunked tensor is read from: its array, or one whose elements are computed by its program.
# Reductions in it are computed when it is read first.
array_behind <- function(x) {
  array <- array_in(x)
  if (!is.null(array)) {
    return(array)
  }
  kept <- new.env(parent = emptyenv())
  prepare <- function() {
    if (is.null(kept$program)) {
      program <- last_program(x, 2L)
      if (!is_tensor(program) && program$role != "each") {
        program <- computed(program, 2L, NULL)[[1L]]
      }
      if (!is_tensor(program)) program$plan <- NULL # a worker makes its own
      kept$program <- program
    }
    # Compiled functions belong to a process.
    if (!is_tensor(kept$program) && !identical(kept$session, tempdir())) {
      kept$session <- tempdir()
      kept$block <- block_function(kept$program)
    }
  }
  read <- function(low, high, reversed) {
    prepare()
    part <- if (is_tensor(kept$program)) {
      part_of(kept$program, low, high)
    } else {
      program_part(kept$program, kept$block, low, high)
    }
    if (reversed) nv_transpose(part) else part
  }
  array <- array_in(derived_tensor(
    dtype(x), shape(x), chunks_of(x), rev(seq_len(ndims(x))), read, toString(program_text(x))
  ))
  array$prepare <- prepare
  array
}

# Of a program whose blocks are parts of its result. Operations along a dimension need all of it.
program_part <- function(program, f, low, high) {
  whole <- program$chunks >= program$extents
  from <- ifelse(whole, 1L, low)
  to <- ifelse(whole, program$extents, high)
  block <- run_boxes(program, f, list(as.integer(from)), list(as.integer(to)))[[1L]]
  part_of(block, as.integer(low - from + 1L), as.integer(high - from + 1L))
}

part_in <- function(array, low, high, reversed) {
  if (!reversed) {
    return(read_parts(array, list(low), list(high))[[1L]])
  }
  read_parts(reversed_array(array), list(rev(low)), list(rev(high)))[[1L]]
}

# ---- joining ----

# As joist_r_concatenate(), of parts among which there are chunked tensors: `shapes` are extents of
# the parts in the result, or TRUE for vectors.
concatenated <- function(parts, dim, shapes) {
  delayed <- FALSE
  for (part in parts) delayed <- delayed || is_chunked(part)
  if (!delayed) {
    return(.Call(joist_r_concatenate, parts, dim, shapes))
  }
  parts <- parts[!vapply(parts, is.null, NA)]
  types <- lapply(parts, function(x) if (is_chunked(x)) abstract_of(x) else x)
  if (isTRUE(shapes) && any(vapply(parts, function(x) length(part_shape(x)) > 1L, NA))) {
    stop_joist(
      "joist_value_error", "c() needs all elements of a chunked matrix in memory: call ",
      "nv_compute() first"
    )
  }
  type <- .Call(joist_r_concatenate, types, dim, shapes)
  if (length(parts) == 1L && is.null(shapes)) {
    return(parts[[1L]])
  }
  extents <- joist::shape(type)
  rank <- length(extents)
  dim <- if (isTRUE(shapes)) 1L else dims_of(dim, type, "dim", single = TRUE)
  own <- lapply(seq_along(parts), function(k) {
    given <- if (is.list(shapes)) shapes[[k]] else part_shape(parts[[k]])
    if (length(given) == rank) given else replace(extents, dim, 1L)
  })
  pieces <- Map(function(x, given) {
    if (!is_chunked(x)) {
      x <- as_operand(x)
      repeated <- ndims(x) == 0L
      x <- joined_in(type, list(nv_flatten(x)), 1L)
      if (has_mask(x)) stop_joist("joist_value_error", "a chunked tensor has no missing values")
      if (repeated) x <- nv_broadcast_to(nv_reshape(x, integer()), given)
      return(nv_chunked(nv_reshape(x, given)))
    }
    if (identical(shape(x), as.integer(given))) x else nv_reshape(x, given)
  }, parts, own)
  joined_tensor(pieces, dim, type)
}

# Parts in the dtype of `type`. What does not fit it is told of, as concatenating tells.
joined_in <- function(type, parts, along) {
  dtype <- dtype(type)
  same <- all(vapply(parts, function(part) dtype(part) == dtype, NA))
  if (same && length(parts) == 1L) {
    return(parts[[1L]])
  }
  none <- if (!same) nv_aval(dtype, replace(shape(parts[[1L]]), along, 0L), ambiguous(type))
  if (!same) parts <- c(parts, list(.Call(joist_r_blank, none)))
  joined <- .Call(joist_r_concatenate, parts, along, NULL)
  if (dtype(joined) == dtype) joined else nv_convert(joined, dtype)
}

joined_tensor <- function(pieces, dim, type) {
  arrays <- lapply(pieces, array_behind)
  ends <- cumsum(vapply(pieces, function(x) shape(x)[dim], 1L))
  starts <- c(0L, ends[-length(ends)])
  extents <- joist::shape(type)
  read <- function(low, high, reversed) {
    along <- if (reversed) length(low) + 1L - dim else dim
    some <- which(ends >= low[dim] & starts < high[dim])
    found <- lapply(some, function(k) {
      from <- replace(low, dim, max(low[dim], starts[k] + 1L) - starts[k])
      to <- replace(high, dim, min(high[dim], ends[k]) - starts[k])
      part_in(arrays[[k]], from, to, reversed)
    })
    joined_in(type, found, along)
  }
  chunks <- do.call(base::pmax, lapply(pieces, chunks_of))
  bytes <- vapply(arrays, function(array) prod(array$shape) * array$size, 0)
  text <- c("joined along", dim, unlist(lapply(pieces, program_text)))
  prepared(derived_tensor(
    dtype(type), extents, chunks, arrays[[which.max(bytes)]]$order, read, toString(text),
    ambiguous(type)
  ), arrays)
}

# With the functions that must run before the workers get a program.
prepared <- function(x, arrays) {
  all <- Filter(Negate(is.null), lapply(arrays, function(array) array$prepare))
  if (length(all) > 0L) {
    leaf <- leaf_in(x)
    leaf$array$prepare <- function() for (one in all) one()
    attr(x, "leaves") <- list(leaf)
  }
  x
}

# ---- positions ----

# As nv_gather() of positions in memory.
gathered <- function(x, indices, dim) {
  if (ndims(indices) > 1L || is_chunked(indices) || is_traced(indices)) {
    stop_joist(
      "joist_value_error", "positions in a chunked tensor must be a vector in memory"
    )
  }
  dim <- dims_of(dim, x, "dim", single = TRUE)
  type <- nv_gather(abstract_of(x), indices, dim)
  wanted <- vector("list", ndims(x))
  wanted[[dim]] <- indices
  if (anyNA(indices)) {
    stop_joist("joist_value_error", "a chunked tensor has no missing values: a position is NA")
  }
  if (any(as.vector(nv_compute(indices < nv_scalar(1L, dtype(indices)))))) {
    stop_joist("joist_shape_error", "positions must be from 1 on")
  }
  positions <- chosen_positions(wanted, shape(x))[[dim]]
  array <- array_behind(x)
  read <- function(low, high, reversed) {
    at <- Map(seq.int, low, high)
    at[[dim]] <- positions[at[[dim]]]
    if (reversed) stored_part(reversed_array(array), rev(at)) else stored_part(array, at)
  }
  out <- prepared(derived_tensor(
    dtype(x), replace(shape(x), dim, length(positions)), chunks_of(x), array$order, read,
    toString(c("gathered", dim, fingerprint(nv_tensor(positions, "i32")), program_text(x))),
    ambiguous(x)
  ), list(array))
  if (ndims(type) == ndims(out)) out else nv_reshape(out, shape(type))
}

# Positions in the place of names, which are those of the arrays of coordinates.
positions_of_names <- function(x, indices) {
  named <- vapply(indices, is.character, NA)
  if (!any(named) || length(indices) != ndims(x)) {
    return(indices)
  }
  array <- array_in(x)
  all <- if (is_stored(array)) coordinates_of(array)
  indices[named] <- lapply(which(named), function(d) {
    at <- match(indices[[d]], all[[d]])
    if (anyNA(at)) {
      stop_joist(
        "joist_shape_error", "there is no name \"", indices[[d]][is.na(at)][1L], "\" in dimension ",
        d
      )
    }
    at
  })
  indices
}
