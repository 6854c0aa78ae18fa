# Sparse matrices of AnnData: groups with `data`, `indices` and `indptr`, as chunked tensors whose
# blocks are dense.

# A sparse matrix from the members and attributes of a group at `where`; NULL for another group.
sparse_tensor <- function(members, attributes, where) {
  kind <- attributes[["encoding-type"]]
  parts <- members[c("data", "indices", "indptr")]
  if (!is.character(kind) || !kind[1L] %in% c("csr_matrix", "csc_matrix") ||
    !all(vapply(parts, is_chunked, NA))) {
    return(NULL)
  }
  lines <- if (kind[1L] == "csr_matrix") 1L else 2L # the dim along which elements are together
  sparse <- checked_sparse(parts, attributes[["shape"]], lines, where)
  extents <- sparse$extents
  size <- .Call(joist_r_dtype_size, parts$data)
  across <- max(1L, extents[-lines])
  chunks <- replace(extents, lines, max(1, 2^24 %/% (across * size)))
  read <- function(low, high, reversed) sparse_part(sparse, low, high, reversed)
  out <- derived_tensor(
    dtype(parts$data), extents, chunks, if (lines == 1L) 1:2 else 2:1, read, where
  )
  leaf <- leaf_in(out)
  leaf$array$sparse <- sparse
  attr(out, "leaves") <- list(leaf)
  attr(out, "zarr_attributes") <- attributes
  out
}

checked_sparse <- function(parts, extents, lines, where) {
  if (!is_whole(extents) || length(extents) != 2L || any(extents < 0)) {
    stop_field(where, "shape", "must be two extents")
  }
  for (name in c("indices", "indptr")) {
    if (ndims(parts[[name]]) != 1L || !is_integer_dtype(parts[[name]])) {
      stop_field(where, name, "must be a vector of integers")
    }
  }
  ends <- as.vector(as_array(nv_convert(nv_compute(parts$indptr), "f64")))
  fits <- length(ends) == extents[lines] + 1 && ends[1L] == 0 && all(diff(ends) >= 0) &&
    ends[length(ends)] == length(parts$data)
  if (!fits) stop_field(where, "indptr", "must rise from 0 to the number of elements")
  if (ndims(parts$data) != 1L || length(parts$indices) != length(parts$data)) {
    stop_field(where, "indices", "must be as many as `data`")
  }
  list(
    data = array_behind(parts$data), indices = array_behind(parts$indices), ends = ends,
    lines = lines, extents = as.integer(extents), where = where
  )
}

# The elements of some lines: their positions across, from 0 on, and their values.
sparse_lines <- function(sparse, first, last) {
  from <- sparse$ends[first]
  to <- sparse$ends[last + 1L]
  if (from == to) {
    return(NULL)
  }
  at <- part_in(sparse$indices, as.integer(from + 1), as.integer(to), FALSE)
  range <- as.numeric(as_array(nv_convert(c(nv_reduce_min(at), nv_reduce_max(at)), "f64")))
  if (range[1L] < 0 || range[2L] >= sparse$extents[-sparse$lines]) {
    stop_field(sparse$where, "indices", "has one outside of the matrix")
  }
  list(at = at, values = part_in(sparse$data, as.integer(from + 1), as.integer(to), FALSE))
}

sparse_part <- function(sparse, low, high, reversed) {
  d <- sparse$lines
  extents <- high - low + 1L
  type <- nv_aval(sparse$data$dtype, c(extents[-d], extents[d]))
  out <- nv_broadcast_to(zero_or_one(format(dtype(type))), shape(type))
  found <- if (all(extents > 0L)) sparse_lines(sparse, low[d], high[d])
  if (!is.null(found)) {
    counts <- diff(sparse$ends[low[d]:(high[d] + 1L)])
    lines <- nv_tensor(rep(seq_along(counts) - 1L, counts), "i64")
    at <- nv_convert(found$at, "i64") - nv_scalar(low[-d] - 1L, "i64")
    values <- found$values
    if (extents[-d] < sparse$extents[-d]) {
      own <- at >= nv_scalar(0L, "i64") & at < nv_scalar(extents[-d], "i64")
      at <- at[own]
      lines <- lines[own]
      values <- values[own]
    }
    # Elements that occur twice are added, as in SciPy.
    combine <- if (dtype(type) == "bool") nv_scatter_max else nv_scatter_add
    out <- combine(out, lines * nv_scalar(extents[-d], "i64") + at + nv_scalar(1L, "i64"), values)
  }
  if ((d == 1L) == reversed) out else nv_transpose(out)
}

# ---- the package Matrix ----

# Elements that are stored are kept, also if they are 0; others are found in the blocks.
sparse_matrix <- function(x) {
  if (ndims(x) != 2L) stop_joist("joist_shape_error", "a dgCMatrix has two dimensions")
  if (is_complex_dtype(x)) stop_joist("joist_dtype_error", "a dgCMatrix has no complex numbers")
  sparse <- array_in(x)$sparse
  if (is.null(sparse)) {
    rows <- base::max(1L, chunks_of(x)[1L])
    parts <- lapply(seq.int(1L, base::max(1L, nrow(x)), rows), function(first) {
      last <- min(nrow(x), first + rows - 1L)
      part <- x[positions_from(first, last - first + 1L), , drop = FALSE]
      methods::as(as_array(part), "CsparseMatrix")
    })
    return(methods::as(do.call(rbind, parts), "dgCMatrix"))
  }
  found <- sparse_lines(sparse, 1L, sparse$extents[sparse$lines])
  at <- as.integer(if (!is.null(found)) as_array(found$at))
  values <- as.double(if (!is.null(found)) as_array(found$values))
  index <- list(i = at + 1L)
  if (sparse$lines == 1L) names(index) <- "j"
  made <- do.call(Matrix::sparseMatrix, c(index, list(
    p = sparse$ends, x = values, dims = sparse$extents
  )))
  methods::as(made, "dgCMatrix")
}
