# Arrow's C Data Interface, and the packages that speak it: nanoarrow, arrow, and Python's pyarrow
# by way of reticulate. Their methods are registered when they are loaded.

#' Tensors and Apache Arrow
#'
#' `nv_to_arrow()` makes an Arrow array of a tensor, `nv_from_arrow()` a tensor of Arrow arrays, by
#' the Arrow C Data Interface. No value is changed on the way: `f16`, `ui32`, `i64` and `ui64` of a
#' Parquet file or a database arrive as they are stored. [as_tensor()] takes arrays of the packages
#' 'nanoarrow' and 'arrow', and of Python's 'pyarrow' by 'reticulate', as they are; their functions
#' `as_nanoarrow_array()`, `infer_nanoarrow_schema()`, `as_arrow_array()` and `infer_type()` take
#' tensors.
#'
#' A tensor of rank 1 is an array of numbers; `bool` is a bit each. A tensor of a higher rank is an
#' array of the extension type `arrow.fixed_shape_tensor`: a row for each index of the first
#' dimension, so that row i is `x[i, , ]`. Arrow stores each row with the last dimension varying
#' fastest, a tensor is stored with the first one: the elements are transposed on the way, and an
#' element has the same indices in R, in Arrow and in the array that pyarrow's
#' `to_numpy_ndarray()` gives. A `permutation` in the type is read. A list of a fixed size is a row
#' of rank 1. Arrow has no `bf16` and no complex numbers.
#'
#' Elements of rank 1 other than `bool` are not copied in either direction: array and tensor share
#' memory that neither writes to, and R may assign to the tensor, which makes a copy. An array of a
#' higher rank has its elements from the transposed tensor. Arrow may release what it got from R in
#' any thread.
#'
#' `nv_from_arrow()` takes an array over, as the interface says: the structure is empty afterwards,
#' and the array is released when R has collected the tensor. Several arrays, and nulls, are copied.
#'
#' @param x A tensor or an R vector.
#' @param as What to make: `"pointers"`, or an array of one of the packages, `"nanoarrow"`,
#'   `"arrow"` or `"pyarrow"` (an object of 'reticulate').
#' @param array An external pointer to a `struct ArrowArray`, or a list of several: the chunks of
#'   one array, one behind the other.
#' @param schema An external pointer to a `struct ArrowSchema`, which is only read.
#' @param na What nulls become in `f16`, `f32` and `f64`: `"error"`, or `"nan"` for NaN (`NA_real_`
#'   in `f64`). In other dtypes a null is always an error.
#' @return `nv_to_arrow()`: a list of two external pointers, `array` and `schema`, or an array.
#'   `nv_from_arrow()`: a tensor of the known dtype that the Arrow type has.
#' @section Errors: `joist_dtype_error` for an Arrow type or a dtype that the other side has not
#'   (the message names it); `joist_value_error` for a null, a structure that was released, is
#'   damaged or is none, and for a package that is not installed; `joist_shape_error` for too many
#'   elements.
#' @source <https://arrow.apache.org/docs/format/CDataInterface.html>,
#'   <https://arrow.apache.org/docs/format/CanonicalExtensions.html>
#' @examples
#' sent <- nv_to_arrow(nv_tensor(c("1", "18446744073709551615"), "ui64"))
#' nv_from_arrow(sent$array, sent$schema)
#' @export
nv_to_arrow <- function(x, as = "pointers") {
  if (!is.character(as) || length(as) != 1L ||
    !as %in% c("pointers", "nanoarrow", "arrow", "pyarrow")) {
    stop_joist(
      "joist_value_error", "`as` must be \"pointers\", \"nanoarrow\", \"arrow\" or \"pyarrow\""
    )
  }
  x <- as_operand(x)
  item <- arrow_item(x)
  if (!is.null(item)) x <- nv_transpose(x)
  pointers <- .Call(joist_r_to_arrow, x, item, .Call(joist_r_arrow_pointers))
  switch(as,
    pointers = pointers,
    nanoarrow = nanoarrow_array(pointers),
    arrow = arrow_class("Array")$import_from_c(
      arrow_address(pointers$array), arrow_address(pointers$schema)
    ),
    pyarrow = pyarrow_class("Array")$`_import_from_c`(
      pyarrow_address(pointers$array), pyarrow_address(pointers$schema)
    )
  )
}

#' @rdname nv_to_arrow
#' @export
nv_from_arrow <- function(array, schema, na = "error") {
  arrays <- if (is.list(array) && !is.object(array)) array else list(array)
  read <- .Call(joist_r_from_arrow, arrays, schema, na)
  if (is.null(read[[2L]])) read[[1L]] else nv_transpose(read[[1L]], read[[2L]])
}

# The extents of each row; NULL where rows are single elements.
arrow_item <- function(x) if (ndims(x) > 1L) shape(x)[-1L]

arrow_schema <- function(x) {
  .Call(joist_r_to_arrow_schema, dtype(x), arrow_item(x), .Call(joist_r_arrow_pointers)$schema)
}

arrow_address <- function(pointer) .Call(joist_r_arrow_address, pointer)

# ---- nanoarrow ----

nanoarrow_array <- function(pointers) {
  need_package("nanoarrow")
  array <- nanoarrow::nanoarrow_allocate_array()
  nanoarrow::nanoarrow_pointer_move(pointers$array, array)
  nanoarrow::nanoarrow_array_set_schema(array, nanoarrow_schema(pointers$schema))
  array
}

nanoarrow_schema <- function(pointer) {
  schema <- nanoarrow::nanoarrow_allocate_schema()
  nanoarrow::nanoarrow_pointer_move(pointer, schema)
  schema
}

#' @exportS3Method nanoarrow::infer_nanoarrow_schema
infer_nanoarrow_schema.nv_tensor <- function(x, ...) { # nolint: object_name_linter.
  nanoarrow_schema(arrow_schema(x))
}

#' @exportS3Method nanoarrow::as_nanoarrow_array
as_nanoarrow_array.nv_tensor <- function(x, ..., schema = NULL) { # nolint: object_name_linter.
  array <- nv_to_arrow(x, "nanoarrow")
  wanted <- if (!is.null(schema)) nanoarrow::as_nanoarrow_schema(schema)$format
  made <- nanoarrow::infer_nanoarrow_schema(array)$format
  if (!is.null(wanted) && !identical(wanted, made)) {
    stop_joist(
      "joist_dtype_error", "a tensor of ", format(dtype(x)), " is an Arrow array of format \"",
      made, "\", not \"", wanted, "\"; nv_convert() it first"
    )
  }
  array
}

#' @export
as_tensor.nanoarrow_array <- function(x, na = "error", ...) { # nolint: object_name_linter.
  array <- nanoarrow::nanoarrow_allocate_array() # the array itself stays its user's
  nanoarrow::nanoarrow_pointer_export(x, array)
  nv_from_arrow(array, nanoarrow::infer_nanoarrow_schema(x), na)
}

#' @export
as_tensor.nanoarrow_array_stream <- function(x, na = "error", ...) { # nolint: object_name_linter.
  schema <- x$get_schema()
  nv_from_arrow(nanoarrow::collect_array_stream(x), schema, na)
}

# ---- arrow ----

arrow_class <- function(name) {
  need_package("arrow")
  getExportedValue("arrow", name)
}

#' @exportS3Method arrow::infer_type
infer_type.nv_tensor <- function(x, ...) { # nolint: object_name_linter.
  arrow_class("DataType")$import_from_c(arrow_address(arrow_schema(x)))
}

#' @exportS3Method arrow::as_arrow_array
as_arrow_array.nv_tensor <- function(x, ..., type = NULL) { # nolint: object_name_linter.
  array <- nv_to_arrow(x, "arrow")
  if (is.null(type)) array else array$cast(type)
}

#' @export
as_tensor.ArrowDatum <- function(x, na = "error", ...) { # nolint: object_name_linter.
  from_arrow_chunks(if (inherits(x, "ChunkedArray")) x$chunks else list(x), x$type, na)
}

# A schema is exported with each array; without any it is that of the type.
from_arrow_chunks <- function(chunks, type, na, address = arrow_address, name = "export_to_c") {
  pointers <- lapply(chunks, function(chunk) {
    into <- .Call(joist_r_arrow_pointers)
    chunk[[name]](address(into$array), address(into$schema))
    into
  })
  if (length(pointers) > 0L) {
    return(nv_from_arrow(lapply(pointers, `[[`, "array"), pointers[[1L]]$schema, na))
  }
  schema <- .Call(joist_r_arrow_pointers)$schema
  type[[name]](address(schema))
  nv_from_arrow(list(), schema, na)
}

# ---- pyarrow ----

pyarrow_class <- function(name) {
  need_package("reticulate")
  reticulate::import("pyarrow", convert = FALSE)[[name]]
}

# Python's whole numbers have no limit, R's address is a double.
pyarrow_address <- function(pointer) {
  reticulate::import_builtins(convert = FALSE)$int(arrow_address(pointer))
}

#' @export
as_tensor.pyarrow.lib.Array <- function(x, na = "error", ...) { # nolint: object_name_linter.
  from_arrow_chunks(list(x), x$type, na, pyarrow_address, "_export_to_c")
}

#' @export
as_tensor.pyarrow.lib.ChunkedArray <- function(x, na = "error", ...) { # nolint: object_name_linter.
  chunks <- reticulate::iterate(x$iterchunks(), identity)
  from_arrow_chunks(chunks, x$type, na, pyarrow_address, "_export_to_c")
}
