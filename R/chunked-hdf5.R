#' HDF5 files as lists of chunked tensors
#'
#' `nv_hdf5()` opens an HDF5 file, or what is at a `node` of it: a group as a list of its members, a
#' dataset as a [chunked] tensor that reads from the file what is needed. The package 'hdf5r' reads;
#' nothing can be written. An `.h5ad` file of AnnData is the list of `X`, `obs`, `var`, `layers` and
#' so on that [nv_zarr()] makes of an AnnData store.
#'
#' The dimensions are those of the writer, as h5py shows them: the slowest first.
#'
#' Datasets of text, and of other types without a dtype, are what 'hdf5r' makes of them. Sparse
#' matrices of AnnData are chunked tensors, as [nv_zarr()] says.
#'
#' @param path The name of a file.
#' @param node The path of a group or dataset in the file, with slashes; `""` for all of it.
#' @param cf See [nv_zarr()]: so are packed values of NetCDF files read.
#' @return For a dataset a chunked tensor of its dtype (see [as_tensor()]), or an R vector or data
#'   frame; for a group a list of its members, with an attribute `zarr_attributes`, its attributes.
#' @section Errors: `joist_value_error` for a file or node that is not there, and when elements are
#'   read that 'hdf5r' cannot give exactly, see [as_tensor()].
#' @examplesIf requireNamespace("hdf5r", quietly = TRUE)
#' path <- tempfile(fileext = ".h5")
#' file <- hdf5r::H5File$new(path, "w")
#' file[["counts"]] <- matrix(1:6, 2)
#' file$close_all()
#' x <- nv_hdf5(path)$counts
#' x
#' nv_compute(nv_reduce_sum(x, 1))
#' @export
nv_hdf5 <- function(path, node = "", cf = FALSE) {
  check_path(path)
  check_flag(cf, "cf")
  node <- node_of(node)
  need_package("hdf5r")
  if (!file.exists(path)) stop_joist("joist_value_error", "there is no file \"", path, "\"")
  path <- normalizePath(path)
  with_hdf5(path, function(file) open_hdf5(file, path, sub("/$", "", node), cf))
}

# Closes no more than what it opened: others may have the file open, too.
with_hdf5 <- function(path, f) {
  file <- tryCatch(hdf5r::H5File$new(path, "r"), error = function(e) {
    stop_joist("joist_value_error", "\"", path, "\" cannot be read as an HDF5 file")
  })
  on.exit(file$close())
  f(file)
}

open_hdf5 <- function(file, path, node, cf) {
  x <- if (nzchar(node)) tryCatch(file[[node]], error = function(e) NULL) else file
  if (is.null(x)) {
    stop_joist("joist_value_error", "there is no group or dataset \"", node, "\" in ", path)
  }
  if (nzchar(node)) on.exit(x$close())
  if (inherits(x, "H5D")) {
    made <- hdf5_dataset(x, path, node)
    return(if (cf && is_chunked(made)) {
      cf_decoded(made, attr(made, "zarr_attributes"), paste0(path, "/", node))
    } else {
      made
    })
  }
  inside <- names(x)
  members <- lapply(inside, function(name) {
    open_hdf5(file, path, if (nzchar(node)) paste0(node, "/", name) else name, cf)
  })
  names(members) <- inside
  attributes <- hdf5_attributes(x)
  sparse <- sparse_tensor(members, attributes, paste0(path, "/", node))
  if (is.null(sparse)) structure(members, zarr_attributes = attributes) else sparse
}

hdf5_dataset <- function(x, path, node) {
  dtype <- tryCatch(hdf5r_dtype(x), joist_dtype_error = function(e) NULL)
  extent <- as.character(x$get_space()$get_simple_extent_type())
  if (extent == "H5S_NULL") {
    return(if (is.null(dtype)) NULL else nv_chunked(nv_tensor(numeric(), dtype)))
  }
  if (is.null(dtype)) {
    values <- x$read()
    rank <- length(dim(values))
    if (rank > 1L) values <- aperm(values)
    return(if (rank == 1L) as.vector(values) else values)
  }
  if (extent == "H5S_SCALAR") {
    return(nv_chunked(nv_reshape(as_tensor(x), integer())))
  }
  extents <- rev(as.integer(x$dims))
  size <- .Call(joist_r_dtype_size, nv_aval(dtype))
  chunks <- tryCatch(rev(as.integer(x$chunk_dims)), error = function(e) NULL)
  chunks <- if (length(chunks) != length(extents) || anyNA(chunks)) {
    usual_chunks(extents)
  } else {
    grown_chunks(chunks, base::pmax(1L, extents), size, 2^24)
  }
  read <- function(low, high, reversed) {
    at <- Map(function(low, high) low - 1L + seq_len(high - low + 1L), rev(low), rev(high))
    part <- with_hdf5(path, function(file) {
      x <- file[[node]]
      on.exit(x$close())
      hdf5_part(x, at)
    })
    if (reversed) part else nv_transpose(part)
  }
  out <- derived_tensor(
    dtype, extents, chunks, seq_along(extents), read, paste0(path, "/", node)
  )
  attr(out, "zarr_attributes") <- hdf5_attributes(x)
  out
}

# h5attributes() leaves the file open.
hdf5_attributes <- function(x) {
  names <- hdf5r::h5attr_names(x)
  values <- lapply(names, function(name) {
    one <- x$attr_open(name)
    on.exit(one$close())
    as.vector(one$read())
  })
  structure(values, names = names)
}
