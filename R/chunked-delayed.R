# Chunked tensors: abstract ones with leaves in stores or memory, and the program that C records of
# operations on them (src/r/trace/chunked.h).

# A tensor that is a leaf.
chunked_tensor <- function(type, chunks, leaf) {
  leaf$chunks <- as.integer(chunks)
  type <- .Call(joist_r_stored, type)
  attr(type, "chunks") <- leaf$chunks
  attr(type, "leaves") <- list(leaf)
  class(type) <- c("nv_chunked", "nv_tensor")
  type
}

is_chunked <- function(x) inherits(x, "nv_chunked")

chunks_of <- function(x) attr(x, "chunks", TRUE)
program_in <- function(x) attr(x, "program", TRUE)
leaf_in <- function(x) attr(x, "leaves", TRUE)[[1L]]
is_source <- function(x) is.null(program_in(x)) && is.null(leaf_in(x)$of)
# The array of a store that `x` is; NULL for others.
array_in <- function(x) if (is_source(x)) leaf_in(x)$array
abstract_of <- function(x) nv_aval(dtype(x), shape(x), ambiguous(x), !is.null(mask_of(x)))

counted <- new.env(parent = emptyenv())
counted$names <- 0

# That no other process has, either.
unique_name <- function() {
  counted$names <- counted$names + 1
  paste(basename(tempdir()), counted$names)
}

# The variance or its root, or the mean where `correction` is NULL, which are put together from a
# different kind of parts: see moments().
delayed_moments <- function(x, dims, drop, correction = NULL, root = FALSE, dtype = NULL) {
  type <- if (is.null(correction)) {
    nv_mean(abstract_of(x), dims, drop, dtype)
  } else {
    variance(abstract_of(x), dims, drop, correction, root)
  }
  chunked_tensor(type, chunks_of(nv_reduce_sum(in_double(x), dims, drop)), list(
    op = "moments", of = x, folded = as.integer(reduced_dims(dims, ndims(x))), drop = drop,
    correction = correction, root = root
  ))
}

# The operation that puts parts of a reduction together.
combining <- function(op) {
  combine <- op_fact(op, "combine")
  if (nzchar(combine)) combine else "add"
}
