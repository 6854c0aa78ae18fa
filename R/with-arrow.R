# Arrow's C Data Interface, and the packages that speak it: nanoarrow, arrow, and Python's pyarrow
# by way of reticulate. Their methods are registered when they are loaded.

#' Tensors and Apache Arrow
#'
#' `nv_to_arrow()` makes an Arrow array of a tensor, and `nv_from_arrow()` a tensor of Arrow arrays,
#' by the Arrow C Data Interface. No value is changed: `f16`, `ui32`, `i64` and `ui64` of a Parquet
#' file or a database keep their type. [as_tensor()] accepts arrays of the packages 'nanoarrow' and
#' 'arrow', and of Python's 'pyarrow' through 'reticulate', directly; their functions
#' `as_nanoarrow_array()`, `as_nanoarrow_array_stream()`, `infer_nanoarrow_schema()`,
#' `as_arrow_array()` and `infer_type()` take tensors. `schema` in those of 'nanoarrow' must be the
#' type that the tensor has; `type` in those of 'arrow' is a cast that 'arrow' makes.
#'
#' A tensor of rank 1 is an array of numbers; `bool` is a bit each. A tensor of a higher rank is an
#' array of the extension type `arrow.fixed_shape_tensor`: a row for each index of the first
#' dimension, so that row i is `x[i, , ]`. Arrow stores each row with the last dimension varying
#' fastest, a tensor is stored with the first one: the elements are transposed on the way, and an
#' element has the same indices in R, in Arrow and in the array that pyarrow's `to_numpy_ndarray()`
#' gives. A `permutation` in the type is read. A list of a fixed size is a row of rank 1. Arrow has
#' no `bf16`, no complex numbers, and of the dtypes of up to a byte only `bool`, `i8` and `ui8`:
#' convert others, or pass their bits, such as `nv_bitcast_convert(x, "ui8")`. What the numbers of
#' another extension type mean is known to its maker only: cast such an array to the type that it is
#' stored in.
#'
#' The package 'arrow' (25.0.1) has no class for that extension type, and crashes R when it prints
#' such an array. There a tensor of rank 2 is an array of lists of a fixed size, and one of a higher
#' rank an error. Arrays and columns of the type that come from elsewhere can be given to
#' `as_tensor()`. A `Scalar` is a tensor of rank 0.
#'
#' Elements of rank 1 other than `bool` are not copied in either direction: array and tensor share
#' memory that neither writes to, and R may assign to the tensor, which makes a copy. An array of a
#' higher rank has its elements from the transposed tensor. Arrow may release what it got from R in
#' any thread.
#'
#' `nv_from_arrow()` takes an array over, as the interface says: the structure is empty afterwards,
#' and the array is released when R has collected the tensor. Several arrays are copied.
#'
#' Nulls are missing values, in both directions and in every dtype: the validity bits of the array,
#' or of the elements of its rows. A row that is null is a row of missing values.
#'
#' @param x A tensor or an R vector.
#' @param as What to make: `"pointers"`, or an array of one of the packages, `"nanoarrow"`,
#'   `"arrow"` or `"pyarrow"` (an object of 'reticulate').
#' @param array An external pointer to a `struct ArrowArray`, or a list of several: the chunks of
#'   one array, one behind the other.
#' @param schema An external pointer to a `struct ArrowSchema`, which is only read.
#' @param na What nulls become: `"missing"` values, an `"error"`, or `"nan"`, which is NaN in `f16`,
#'   `f32` and `f64` and an error in other dtypes.
#' @return `nv_to_arrow()`: a list of two external pointers, `array` and `schema`, or an array.
#'   `nv_from_arrow()`: a tensor of the known dtype that the Arrow type has.
#' @section Data frames in 'arrow':
#' `arrow_table()`, `write_parquet()` and the like take data frames with tensors of rank 1 as
#' columns. With `as_data_frame = FALSE` all of them come back exactly, column by column:
#' `as_tensor(table$x)`. Do not read them as data frames: 'arrow' then makes R's numbers of the
#' columns, which rounds large `ui64` and takes the bits of `i64` and `f16` for numbers, and gives
#' these numbers the class and the dtype that the columns had when they were written. A table
#' without these attributes is `do.call(arrow::arrow_table, lapply(df, arrow::as_arrow_array))`.
#' @section Errors: `joist_dtype_error` for an Arrow type or a dtype that the other side does not
#'   have (the message names it); `joist_value_error` for a null that `na` does not accept, a
#'   structure that is invalid, damaged or already released, a table, and for a package that is not
#'   installed; `joist_shape_error` for too many elements, and for a rank over 2 with 'arrow'.
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
  x <- as_operand(x, guess = FALSE)
  if (as == "arrow") check_arrow_rank(x)
  item <- arrow_item(x)
  if (!is.null(item)) x <- nv_transpose(x)
  pointers <- .Call(joist_r_to_arrow, x, item, .Call(joist_r_arrow_pointers))
  switch(as,
    pointers = pointers,
    nanoarrow = nanoarrow_array(pointers),
    arrow = arrow_array(pointers),
    pyarrow = pyarrow_class("Array")$`_import_from_c`(
      pyarrow_address(pointers$array), pyarrow_address(pointers$schema)
    )
  )
}

#' @rdname nv_to_arrow
#' @export
nv_from_arrow <- function(array, schema, na = "missing") {
  arrays <- if (is.list(array) && !is.object(array)) array else list(array)
  read <- .Call(joist_r_from_arrow, arrays, schema, na)
  if (is.null(read[[2L]])) read[[1L]] else nv_transpose(read[[1L]], read[[2L]])
}

# The extents of each row; NULL where rows are single elements.
arrow_item <- function(x) if (ndims(x) > 1L) shape(x)[-1L]

arrow_schema <- function(x, item = arrow_item(x)) {
  .Call(joist_r_to_arrow_schema, dtype(x), item, .Call(joist_r_arrow_pointers)$schema)
}

arrow_address <- function(pointer) .Call(joist_r_arrow_address, pointer)

# A schema is exported with each array; without any it is that of the type.
from_arrow_chunks <- function(chunks, na, address, export, export_type) {
  pointers <- lapply(chunks, function(chunk) {
    into <- .Call(joist_r_arrow_pointers)
    export(chunk, address(into$array), address(into$schema))
    into
  })
  if (length(pointers) > 0L) {
    return(nv_from_arrow(lapply(pointers, `[[`, "array"), pointers[[1L]]$schema, na))
  }
  schema <- .Call(joist_r_arrow_pointers)$schema
  export_type(address(schema))
  nv_from_arrow(list(), schema, na)
}

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
  if (is.null(schema)) {
    return(array)
  }
  wanted <- nanoarrow::as_nanoarrow_schema(schema)
  made <- nanoarrow::infer_nanoarrow_schema(array)
  asked <- arrow_formats(wanted)
  if (!identical(asked, arrow_formats(made)) && !identical(asked, arrow_formats(made, FALSE))) {
    stop_joist(
      "joist_dtype_error", "a tensor of ", format(dtype(x)), " is an Arrow array of format ",
      paste0("\"", arrow_formats(made, FALSE), "\"", collapse = " of "), ", not ",
      paste0("\"", asked, "\"", collapse = " of "), "; nv_convert() it first"
    )
  }
  nanoarrow::nanoarrow_array_set_schema(array, wanted)
  array
}

# The formats of a type and of its children, with the name and metadata of its extension type.
arrow_formats <- function(schema, extension = TRUE) {
  keys <- c("ARROW:extension:name", "ARROW:extension:metadata")
  c(
    if (extension) unlist(schema$metadata[keys], use.names = FALSE), schema$format,
    unlist(lapply(unname(schema$children), arrow_formats, extension))
  )
}

#' @exportS3Method nanoarrow::as_nanoarrow_array_stream
as_nanoarrow_array_stream.nv_tensor <- function(x, ..., # nolint: object_name_linter.
                                                schema = NULL) {
  nanoarrow::basic_array_stream(list(as_nanoarrow_array.nv_tensor(x, schema = schema)))
}

#' @export
as_tensor.nanoarrow_array <- function(x, na = "missing", ...) { # nolint: object_name_linter.
  check_nanoarrow(x)
  array <- nanoarrow::nanoarrow_allocate_array() # the array itself stays its user's
  nanoarrow::nanoarrow_pointer_export(x, array)
  nv_from_arrow(array, nanoarrow::infer_nanoarrow_schema(x), na)
}

#' @export
as_tensor.nanoarrow_array_stream <- function(x, na = "missing", ...) { # nolint: object_name_linter.
  check_nanoarrow(x)
  schema <- x$get_schema()
  nv_from_arrow(nanoarrow::collect_array_stream(x), schema, na)
}

#' @export
as_tensor.nanoarrow_vctr <- function(x, na = "missing", ...) { # nolint: object_name_linter.
  as_tensor(nanoarrow::as_nanoarrow_array_stream(x), na)
}

check_nanoarrow <- function(x) {
  if (!nanoarrow::nanoarrow_pointer_is_valid(x)) {
    stop_joist(
      "joist_value_error", "this ", class(x)[1L], " was released, or moved to another owner"
    )
  }
}

# ---- arrow ----

arrow_class <- function(name) {
  need_package("arrow")
  getExportedValue("arrow", name)
}

# R's arrow takes each extension type for one that was made in R. Where it is asked for the type of
# arrow.fixed_shape_tensor, as print() asks, R crashes. So a matrix goes as the lists that its rows
# are stored in.
arrow_array <- function(pointers) {
  array <- arrow_class("Array")$import_from_c(
    arrow_address(pointers$array), arrow_address(pointers$schema)
  )
  if (inherits(array, "ExtensionArray")) array$storage() else array
}

check_arrow_rank <- function(x) {
  if (ndims(x) > 2L) {
    stop_joist(
      "joist_shape_error", "the package 'arrow' has no arrays of tensors, and its lists would ",
      "lose the shape of ", footer(x), "; nv_reshape() it to rank 2, or take `as = \"nanoarrow\"`"
    )
  }
}

#' @exportS3Method arrow::infer_type
infer_type.nv_tensor <- function(x, ...) { # nolint: object_name_linter.
  check_arrow_rank(x)
  field <- arrow_class("Field")$import_from_c(arrow_address(arrow_schema(x, NULL)))
  if (ndims(x) > 1L) arrow::fixed_size_list_of(field$type, shape(x)[2L]) else field$type
}

#' @exportS3Method arrow::as_arrow_array
as_arrow_array.nv_tensor <- function(x, ..., type = NULL) { # nolint: object_name_linter.
  array <- nv_to_arrow(x, "arrow")
  if (is.null(type)) array else array$cast(type)
}

#' @export
as_tensor.ArrowDatum <- function(x, na = "missing", ...) { # nolint: object_name_linter.
  if (inherits(x, "Scalar")) {
    row <- as_tensor(x$as_array(), na)
    return(nv_reshape(row, shape(row)[-1L]))
  }
  from_arrow_chunks(
    if (inherits(x, "ChunkedArray")) x$chunks else list(x), na, arrow_address,
    function(chunk, array, schema) chunk$export_to_c(array, schema),
    # A field has its type without an object of it, which an extension type need not have in R.
    function(schema) arrow::arrow_table(x = x)$schema$field(0L)$export_to_c(schema)
  )
}

#' @export
as_tensor.ArrowObject <- function(x, na = "missing", ...) { # nolint: object_name_linter.
  stop_joist(
    "joist_value_error", "an object of class ", class(x)[1L], " is not an array; take a column ",
    "of a Table, as_tensor(x$name). arrow::as_arrow_table() and dplyr::compute() make a Table"
  )
}

#' @export
as_tensor.arrow_dplyr_query <- as_tensor.ArrowObject # nolint: object_name_linter.

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
as_tensor.pyarrow.lib.Array <- function(x, na = "missing", ...) { # nolint: object_name_linter.
  from_pyarrow(list(x), x$type, na)
}

#' @export
as_tensor.pyarrow.lib.ChunkedArray <- function(x, # nolint: object_name_linter.
                                               na = "missing", ...) {
  from_pyarrow(reticulate::iterate(x$iterchunks(), identity), x$type, na)
}

from_pyarrow <- function(chunks, type, na) {
  from_arrow_chunks(
    chunks, na, pyarrow_address,
    function(chunk, array, schema) chunk$`_export_to_c`(array, schema),
    function(schema) type$`_export_to_c`(schema)
  )
}
