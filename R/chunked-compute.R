#' Chunked tensors
#'
#' A chunked tensor keeps its elements in a store: [nv_zarr()] opens one. It has a dtype and a
#' shape, which follow the same rules as those of a tensor. Operations on it are delayed: they
#' return another chunked tensor, of the dtype and shape that the result will have, or raise an
#' error if the operation is not defined. Elements are read only when `nv_compute()` makes a tensor
#' of it, `nv_store()` writes it to a new Zarr array, or it is subset or printed.
#'
#' `nv_chunked()` makes a chunked tensor of a tensor, for example of a file larger than memory that
#' [nv_read_npy()] has mapped; [nv_share()] lets workers read the file. It also takes an array of
#' the package \pkg{DelayedArray}, such as one of \pkg{HDF5Array}. The other way round,
#' `DelayedArray()` of that package takes a chunked tensor; there, a value that R's type cannot hold
#' is an error.
#'
#' These operations are delayed: elementwise operations and functions, with tensors and R values,
#' too; casts; transposing; reshaping that adds or drops extents of 1; reductions over any
#' dimensions; matrix products; [nv_tabulate()]; operations along one dimension, such as
#' [nv_cumsum()] and [nv_sort()]; joining with other chunked tensors, tensors and R values by
#' [nv_concatenate()], [nv_stack()], `rbind()`, `cbind()` and, of vectors, `c()`; and [nv_gather()]
#' with positions in memory. [nv_quantile()] of all elements is exact, and computes at once.
#' All of them run as one program, compiled as by [jit()], block by block: a block is as large as
#' the largest chunk among the operands, and spans the dimension that an operation goes along. For
#' `nv_store()` it is enlarged to whole chunks or shards of the result. Reductions and matrix
#' products within
#' a program, such as the means in `x - nv_mean(x, 1, FALSE)`, are computed before it and kept in
#' memory; reductions of the same blocks, such as those means and standard deviations, in one pass.
#' Arrays whose elements are in C order are processed in that order; elements are transposed
#' only when they go into the memory of a tensor.
#'
#' Sums are combined from the sums of blocks, in an order that depends on the shapes, the chunks and
#' the order of the elements in them. So the bits of a result do not depend on the number of workers
#' or their order, but may differ from those of the same sum in memory. What is told of overflow, or
#' saturated, is up to the policy of [with_promotion()] when blocks are computed; operations that
#' were written where it is `overflow = "ok"` wrap.
#'
#' Memory that is needed at any time: for each worker, as many blocks as it has threads (at most a
#' quarter of the option `joist.memory`, but at least one) of every array of the program and of its
#' result, as much again for
#' encoding and decoding, and what R will collect later; and the results of reductions. For
#' `nv_compute()`, the tensor, and up to 64 blocks of it in each worker. Blocks of a matrix product
#' that read the same chunks are computed together, up to 64 of them, as far as their parts and
#' chunks fit into `joist.memory`, divided by the number of workers. If this session computes
#' reductions first, it keeps up to `joist.memory` of the data read for them, so that the rest of
#' the program does not read these again: of files of a folder only where they have to be decoded
#' and the option is set. `options(joist.memory = )` is a number of bytes, 2^28 (256 MB) by default.
#'
#' `x[...]` takes an index for each dimension, reads the blocks that hold the selected elements, and
#' returns a tensor. Names are those of the coordinates beside an array, see [nv_zarr()].
#' `x[...] <- value` converts the value as assignment to a tensor does and writes
#' it to the store, so that every other chunked tensor of the same array sees it: `print(x)` says
#' `writable` where it does. Anything else than an array of a store that can be written to is an
#' error.
#'
#' @section Workers: Blocks are computed by the workers of [future::plan()], with any backend, by
#'   the daemons of the package \pkg{mirai}, if there are any, or one after another in this session.
#'   Workers get the program and read and
#'   write chunks themselves: they need to see the store under the same path. A worker uses its
#'   share of the cores for threads: [future::availableCores()] in this session (of \pkg{mirai}, as
#'   many as joist may use here), divided by the number of workers.
#'
#'   A program begins in this session, and ends here, too, unless workers would do the rest of it
#'   sooner, as far as can be told after 0.2 seconds, another number by `options(joist.alone = )`;
#'   with 0, workers do all of it. They get as much at a time as makes calls cost less than a
#'   twentieth of the work.
#'
#'   If a worker fails or dies, its blocks are tried again `retries` times: by any free worker, and
#'   the last time by this session. Then the error names the block. Invalid data are an error at
#'   once. A chunk is either complete or absent; a process that died may leave a partial chunk whose
#'   name ends in `.tmp`: it is never read and can be deleted. If this session dies, `nv_store()`
#'   with `resume = TRUE` goes on.
#'
#'   If the package \pkg{progressr} is loaded, progress is signalled.
#' @param x For `nv_compute()` and `nv_store()`, a chunked tensor or a tensor. For `nv_chunked()`, a
#'   tensor, an R array, or an array of \pkg{DelayedArray}, whose type gives the dtype: `bool` for
#'   `logical`, `i32` for `integer`, `f64` for `double`, `c128` for `complex`, `ui8` for `raw`.
#' @param path,node,codecs,order,attributes,overwrite,na,shards See [nv_zarr_create()].
#' @param chunks The extents of a chunk of the result, or one number for all dimensions; `NULL` for
#'   the extents of the blocks of `x`, or, if it has none, for chunks of about a million elements.
#' @param dimnames A list with a name for each dimension, of texts or `NULL`, as `dimnames(x)` may
#'   be.
#'   The names are kept as arrays of text beside the array, as xarray and others read them.
#' @param resume `TRUE` continues an array that an earlier `nv_store()` of the same program began,
#'   and keeps the chunks that are written already. The array records the program in its attribute
#'   `joist_program`. Two programs are the same if they read the same arrays of stores, by name, the
#'   same mapped files, which must not have changed, and equal tensors.
#' @param retries How often a failed block is tried again.
#' @return `nv_chunked()`: a chunked tensor, ambiguous if `x` is. `nv_compute()`: a tensor of the
#'   dtype and ambiguity of `x`. `nv_store()`: the chunked tensor that it wrote, of a known dtype.
#' @section Errors: Those of the operations, when they are called; `joist_value_error` for a chunk
#'   that cannot be read, which is named, for a block that failed too often, for an operation that
#'   needs all elements in memory, for assignment to what cannot be written to, and if `resume`
#'   finds another program; `joist_shape_error` for indices, names and chunks that do not fit;
#'   `joist_dtype_error` for an array of \pkg{DelayedArray} whose type has no dtype.
#' @examples
#' x <- nv_zarr_create(tempfile(), "f32", c(6, 4), chunks = c(2, 4))
#' x[] <- matrix(1:24, 6)
#' centered <- x - nv_mean(x, 1, drop = FALSE)
#' centered
#' nv_compute(nv_reduce_sum(centered^2, 1))
#' rbind(x, centered[1, ])
#' y <- nv_store(centered, tempfile())
#' y[1:2, ]
#' file <- tempfile(fileext = ".npy")
#' nv_write_npy(nv_tensor(matrix(1:24, 6)), file)
#' nv_compute(nv_reduce_sum(nv_chunked(nv_read_npy(file, mmap = TRUE)), 1))
#' @name chunked
NULL

#' @rdname chunked
#' @export
nv_chunked <- function(x, chunks = NULL) {
  if (is_chunked(x)) {
    return(x)
  }
  if (inherits(x, "DelayedArray")) {
    return(chunked_from_delayed(x, chunks))
  }
  x <- as_operand(as_tensor(x))
  if (!has_elements(x)) stop_joist("joist_value_error", "there are no elements in ", footer(x))
  if (has_mask(x)) {
    stop_joist(
      "joist_value_error", "a chunked tensor has no missing values; call nv_replace_na() first"
    )
  }
  chunks <- if (is.null(chunks)) usual_chunks(shape(x)) else chunk_extents(chunks, shape(x))
  chunked_tensor(abstract_of(x), chunks, list(tensor = x))
}

#' @rdname chunked
#' @export
nv_compute <- function(x, retries = 2L) {
  check_whole(retries, "retries")
  x <- as_operand(x)
  if (!is_chunked(x)) {
    return(x)
  }
  kept <- new_kept()
  program <- last_program(x, retries, kept)
  if (is_tensor(program)) {
    return(program)
  }
  named <- if (is_stored(array_in(x))) coordinates_of(array_in(x))
  if (is.null(named)) named <- attr(x, "dimension_names")
  with_dim_names(computed(program, retries, kept)[[1L]], named)
}

# The tensors that a program gives.
computed <- function(program, retries, kept) {
  if (program$role == "none") {
    return(in_memory(program))
  }
  program <- reversed_program(program)
  program$kept <- kept
  reversed <- program$reversed
  out <- lapply(program$types, function(type) {
    .Call(joist_r_blank, if (reversed) reversed_type(type) else type)
  })
  run_program(program, retries = retries, take = function(which, start, block) {
    start <- as.integer(if (reversed) rev(start) else start)
    out[[which]] <<- .Call(joist_r_place, out[[which]], start, block, reversed)
  })
  out
}

# What is computed of tensors in memory alone.
in_memory <- function(program) {
  made <- block_function(program)(integer(), lapply(program$leaves, function(leaf) leaf$tensor))
  Map(function(x, last) {
    if (!is_moments(last)) {
      return(x)
    }
    if (is.null(last$correction)) {
      return(nv_mean(x, last$folded, last$drop))
    }
    variance(x, last$folded, last$drop, last$correction, last$root)
  }, made, program$lasts)
}

# The program of the last stage, after the others have run; or the tensor, if nothing is left to be
# done by blocks. Values that are put together from parts are computed first; those that need none
# of the others together, where they are of the same blocks.
last_program <- function(x, retries, kept = new_kept()) {
  known <- list()
  repeat {
    round <- .Call(joist_r_block_round, x, as.integer(names(known)))
    in_memory <- round$stages[[1L]]$role == "none"
    kept$room <- if (!round$last && worker_count() == 1L) memory_budget() - kept$bytes else 0
    if (round$last && !in_memory) {
      return(stage_program(round$stages[[1L]], known))
    }
    for (stage in round$stages) {
      made <- computed(stage_program(stage, known), retries, kept)
      if (round$last) {
        return(made[[1L]])
      }
      known[as.character(stage$values)] <- made
    }
  }
}

#' @rdname chunked
#' @export
nv_store <- function(x, path, node = "", chunks = NULL, codecs = character(), order = "C",
                     attributes = list(), overwrite = FALSE, resume = FALSE, retries = 2L,
                     na = NULL, shards = NULL, dimnames = NULL) {
  check_flag(resume, "resume")
  check_whole(retries, "retries")
  check_attributes(attributes)
  x <- filled_missing(as_operand(x, guess = FALSE), na, "Zarr arrays")
  extents <- shape(x)
  if (is.null(chunks)) chunks <- if (is_chunked(x)) chunks_of(x) else usual_chunks(extents)
  chunks <- chunk_extents(chunks, extents)
  if (!is.null(dimnames)) check_dimnames(dimnames, extents)
  text <- program_text(x)
  attributes$joist_program <- text
  created <- function() {
    nv_zarr_create(
      path, dtype(x), extents, chunks, node,
      codecs = codecs, order = order, overwrite = overwrite, attributes = attributes, na = na,
      shards = shards, dimension_names = names(dimnames)
    )
  }
  target <- if (resume) begun(path, node, abstract_of(x), chunks, text, na)
  if (is.null(target)) {
    target <- created()
    resume <- FALSE
  }
  array <- array_in(target)
  if (!is.null(dimnames)) write_coordinates(array$store, array$node, dimnames)
  kept <- new_kept()
  if (is_chunked(x)) {
    # Blocks of whole chunks or shards, so that each is written once.
    unit <- unit_extents(array)
    blocks <- ceiling(chunks_of(x) / unit) * unit
    attr(x, "chunks") <- as.integer(base::pmin(.Machine$integer.max, blocks))
    x <- last_program(x, retries, kept)
  }
  if (is_tensor(x)) {
    write_parts(array, list(rep_len(1L, length(extents))), list(x))
    return(target)
  }
  program <- reversed_program(x, array)
  if (program$reversed) array <- reversed_array(array)
  program$kept <- kept
  wanted <- if (resume) blocks_missing(program, array)
  run_program(program,
    retries = retries, target = if (is.null(program$lasts)) array, wanted = wanted,
    take = function(which, start, block) write_parts(array, list(start), list(block))
  )
  target
}

# The array that a run of the same program has left; NULL if there is none.
begun <- function(path, node, type, chunks, text, na) {
  store <- writable_store(path)
  node <- node_of(node)
  if (!store$exists(paste0(node, "zarr.json"))) {
    return(NULL)
  }
  target <- open_node(store, node, na)
  same <- is_chunked(target) && dtype(target) == dtype(type) &&
    identical(shape(target), shape(type)) && identical(array_in(target)$chunks, chunks) &&
    identical(as.character(attr(target, "zarr_attributes")$joist_program), as.character(text))
  if (!same) {
    stop_joist(
      "joist_value_error", "the array at \"", store$name, "\" is not what this program began"
    )
  }
  target
}

blocks_missing <- function(program, array) {
  inner <- inner_count(program)
  blocks <- seq_len(outer_count(program)) - 1
  all_there <- function(block) {
    start <- result_start(program, block * inner)
    stop <- base::pmin(array$shape, start + block_extents(program) - 1L)
    there <- TRUE
    each_chunk(start, stop, unit_extents(array), function(at, low, high) {
      there <<- there && array$store$exists(chunk_key(array, at))
    })
    there
  }
  blocks[!vapply(blocks, all_there, TRUE)]
}

# How far a block of the result goes.
block_extents <- function(program) {
  switch(program$role,
    counts = shape(program$types[[1L]]),
    fold = if (program$lasts[[1L]]$drop) {
      program$chunks[program$outer]
    } else {
      replace(program$chunks, program$inner, 1L)
    },
    program$chunks[program$outer]
  )
}

# Identifies the elements of a tensor: by its place in a mapped file, or by a checksum.
fingerprint <- function(x) {
  place <- .Call(joist_r_mapped_place, x)
  if (!is.null(place)) {
    return(paste(c("file", place), collapse = " "))
  }
  paste(rev(checksum("crc32c", x)), collapse = "")
}

# A program as text: a line for each leaf and each instruction.
program_text <- function(x) {
  if (!is_chunked(x)) {
    return(paste(type_text(x), fingerprint(x)))
  }
  leaves <- lapply(attr(x, "leaves"), function(leaf) {
    where <- if (!is.null(leaf$of)) {
      values <- vapply(leaf[c("op", "folded", "drop", "correction", "root")], toString, "")
      c(program_text(leaf$of), paste(names(values), values, collapse = ", "))
    } else if (is.null(leaf$array)) {
      fingerprint(leaf$tensor)
    } else {
      paste0(leaf$array$store$name, "/", leaf$array$node)
    }
    c(where, if (!is.null(leaf$chunks)) paste("chunks", paste(leaf$chunks, collapse = "x")))
  })
  text <- program_in(x)
  c(unlist(leaves), if (is.null(text)) type_text(x) else strsplit(text, "\n", fixed = TRUE)[[1L]])
}
