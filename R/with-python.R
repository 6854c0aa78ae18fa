#' Tensors and arrays of Python
#'
#' With the package reticulate, tensors go to Python and arrays of Python become tensors, in their
#' own dtype, and without a copy where the order of their elements allows it.
#'
#' @section To Python:
#' Wherever reticulate takes R objects to Python, as arguments of Python functions, in `py$x <- x`
#' and by `reticulate::r_to_py(x)`, a tensor becomes a NumPy array of its dtype. Dtypes that NumPy
#' lacks, `bf16`, `c32`, `bc32` and the integers and floats of up to a byte such as `i4` and
#' `f8E4M3FN`, become those of the Python package 'ml_dtypes', which must be installed. The array is
#' read-only, in Fortran order, and shares the tensor's memory, except for signed integers of fewer
#' than 8 bits and `bc32`;
#' `numpy.array(a)` is a copy that can be written. Python may keep it as long as it likes, and let
#' go of it in any thread. A tensor on a GPU is copied to the CPU first. NumPy arrays have no
#' missing values, so a tensor with missing values is a `joist_value_error`: replace them, or make
#' an array of pyarrow, `a <- nv_to_arrow(x, "pyarrow")`. From that,
#' `a$to_pandas(types_mapper = pandas$ArrowDtype)` makes a nullable array of pandas.
#'
#' Other libraries take `r_to_py(nv_to_dlpack(x))` with their `from_dlpack()`, in all dtypes that
#' they have, but dtypes of fewer than 8 bits only if they ask for DLPack 1.1. Libraries that ask
#' for version 1 share the memory; the others get a copy that they may write to. PyTorch shares it
#' without remembering that it is read-only: call no function there that writes in place, such as
#' `fill_()`, or do so with a copy, of `x$clone()` in Python or of
#' `nv_to_dlpack(x, versioned = FALSE)`.
#'
#' @section From Python:
#' [nv_tensor()] takes NumPy arrays and scalars, arrays of JAX and PyTorch, and whatever else has a
#' `__dlpack__()`, an `__array_interface__` or an `__array__()`. The tensor shares the memory where
#' the elements have R's order (Fortran order, or one dimension) and are aligned numbers in the byte
#' order of this machine; otherwise, and for dtypes of fewer than 8 bits, it is a copy. joist never
#' writes to that memory, but the tensor changes with what Python writes there later: `x$copy()` in
#' Python avoids that.
#'
#' By default, reticulate makes R vectors of NumPy arrays, and so doubles of most numbers. joist
#' does not change that. Import modules with `convert = FALSE`, so that their results stay Python
#' objects, which `nv_tensor()` reads exactly, even an `int64` beyond 2^53.
#'
#' Masked elements of an array of `numpy.ma` are missing values of the tensor, as are nulls of
#' arrays of pyarrow, Series of polars, and Series and nullable arrays of pandas, whose integers are
#' exact. Of
#' other libraries, joist reads what exports Arrow's PyCapsule interface. A data frame is a matrix
#' if all of its columns have one dtype and none is missing; otherwise take its columns.
#'
#' An object that is not an array, or that has bytes that are not a bool, raises a
#' `joist_value_error`; a dtype that joist does not have, such as `object` or `datetime64`, a
#' `joist_dtype_error`.
#' @examplesIf interactive() && requireNamespace("reticulate", quietly = TRUE)
#' np <- reticulate::import("numpy", convert = FALSE)
#' nv_tensor(np$int64("9007199254740993"))
#' reticulate::r_to_py(nv_tensor(matrix(1:6, 2), "ui8"))
#' @name python
NULL

# How NumPy writes a dtype; of one that it lacks, an integer of the same size, and the dtype of
# ml_dtypes that reads the same bits.
numpy_type <- function(type) {
  name <- format(as_dtype(type), style = "numpy")
  own <- is_numpy_code(name)
  size <- .Call(joist_r_dtype_size, nv_aval(type))
  list(
    typestr = paste0(
      if (.Platform$endian == "little") "<" else ">", if (own) name else paste0("u", size)
    ),
    extension = if (!own) name
  )
}

# Whether a name is one of NumPy's codes, a letter and a number of bytes.
is_numpy_code <- function(name) grepl("^[a-z][0-9]+$", name)

# The Python side of joist, told where the functions of C are that it calls.
python_exchange <- local({
  module <- NULL
  function() {
    if (is.null(module)) {
      module <<- reticulate::import_from_path(
        "joist_exchange", system.file("python", package = "joist"),
        convert = FALSE
      )
      module$connect(as.list(.Call(joist_r_dlpack_functions)))
    }
    module
  }
})

#' @exportS3Method reticulate::r_to_py
r_to_py.nv_tensor <- function(x, convert = FALSE) { # nolint: object_name_linter.
  x <- filled_missing(
    x, NULL, "NumPy arrays",
    instead = "nv_replace_na() them, or pass nv_to_arrow(x, \"pyarrow\") to Python"
  )
  if (has_elements(x) && !device(x) == "cpu") x <- nv_to(x, "cpu")
  exchange <- python_exchange()
  type <- numpy_type(format(dtype(x)))
  extents <- as.list(shape(x))
  # DLPack, which keeps the elements alive, has no such dtype.
  if (dtype(x) == "bc32") x <- nv_bitcast_convert(x, "ui32")
  # Integers of few bits have no copies of their sign there.
  if (!is.null(type$extension) && dtype_info(dtype(x))$kind == "int") {
    x <- nv_read_bin(nv_write_bin(x), "ui8", shape(x))
  }
  taken <- .Call(joist_r_dlpack_take, nv_to_dlpack(x))
  in_python(exchange$as_numpy(taken[1L], taken[2L], type$typestr, extents, type$extension))
}

#' @exportS3Method reticulate::r_to_py
r_to_py.nv_dlpack <- function(x, convert = FALSE) { # nolint: object_name_linter.
  exchange <- python_exchange()
  taken <- .Call(joist_r_dlpack_take, x)
  as_object <- if (taken[5L] == "dltensor") exchange$Given else exchange$Lent
  as_object(taken[1L], taken[3L], taken[4L], taken[6L])
}

is_python <- function(x) is.environment(x) && inherits(x, "python.builtin.object")

# A tensor of what a Python object has in memory, or of a copy; what is masked is missing.
tensor_of_python <- function(x, na) {
  exchange <- python_exchange()
  column <- in_python(exchange$column(x))
  if (!is.null(reticulate::py_to_r(column))) {
    return(tensor_of_column(column, exchange, na))
  }
  made <- elements_of_python(x, exchange)
  if (!reticulate::py_to_r(exchange$is_masked(x))) {
    return(made)
  }
  .Call(joist_r_with_mask, made, elements_of_python(exchange$mask_of(x), exchange))
}

tensor_of_column <- function(column, exchange, na) {
  if (reticulate::py_has_attr(column, "missing")) {
    return(.Call(
      joist_r_with_mask, elements_of_python(column$array, exchange),
      elements_of_python(column$missing, exchange)
    ))
  }
  in_python(from_arrow_chunks(
    reticulate::iterate(column$chunks, identity), na, pyarrow_address,
    function(chunk, array, schema) chunk$`_export_to_c`(array, schema),
    function(schema) column$write_schema(schema)
  ))
}

elements_of_python <- function(x, exchange) {
  taken <- reticulate::py_to_r(in_python(exchange$take(x)))
  if (!is.null(taken)) {
    return(nv_from_dlpack(.Call(joist_r_dlpack_pointer, taken[[1L]], taken[[2L]])))
  }
  found <- in_python(exchange$describe(x))
  text <- reticulate::py_to_r(found$text)
  numbers <- function(text) as.numeric(strsplit(text, " ", fixed = TRUE)[[1L]])
  .Call(
    joist_r_from_memory, text[[1L]], dtype_of_python(text[[2L]]), numbers(text[[3L]]),
    numbers(text[[4L]]), found$array
  )
}

dtype_of_python <- function(name) {
  tryCatch(as_dtype(name, style = "jax"), joist_dtype_error = function(e) {
    stop_joist(
      "joist_dtype_error", "joist has no dtype for the elements of this array, ", name,
      "; convert them in Python, by astype()"
    )
  })
}

# What Python finds wrong is an error of joist's.
in_python <- function(expr) {
  tryCatch(expr, error = function(e) {
    if (inherits(e, "joist_error")) stop(e)
    stop_joist("joist_value_error", sub(".*joist: ", "", conditionMessage(e)))
  })
}
