#' Tensors in data frames
#'
#' A tensor of rank 1 is one column, with its dtype; of rank 2 each of its columns is one, as
#' those of a matrix are; a scalar is a column of one row. `data.frame()`, `cbind()` and
#' `transform()` take tensors through this method. Subsets, `$`, `rbind()`, `split()`, `order()`,
#' `unique()`, `print()`, `str()` and `summary()` of a data frame work with such columns, and
#' `merge()` does by other keys; [nv_merge()] and [nv_na_omit()] look into tensors. `rbind()` makes
#' R numbers of them where a column of the first data frame is an R vector. What does not work, such
#' as comparing whole data frames, is listed in [base_functions].
#'
#' Tibbles take tensors of rank 1, too, and so does what is built on the vctrs package: the
#' common type of two columns is that of [common_dtype()]. A column that consists of missing
#' rows only becomes an [nv_aval()]. Other missing rows are `NA` in `f64` and `c128` and an error in
#' the other dtypes, which have none: `dplyr::lag()` and `dplyr::lead()` take a value for them,
#' `default = `.
#'
#' Of a data.table a tensor becomes a column by `D[["t"]] <- x`, and `data.table::setDT(df)` takes
#' the columns of a data frame. data.table's own `:=`, `set()` and `$<-`, from its version 1.17 on
#' also `data.table()` and `cbind()`, look at vectors only, stop at a tensor, and leave the table
#' without it: no function of joist is called on the way.
#'
#' @param x A tensor of rank 2 at most.
#' @param row.names `NULL` or a character vector with a name for each row.
#' @param optional `TRUE` leaves names out.
#' @param ... Ignored.
#' @param nm The name of a single column.
#' @param as `"tensor"` for columns that are tensors, `"R"` for R's own vectors, as [to_r()] makes
#'   them.
#' @return A data frame whose columns are tensors of rank 1 with the dtype of `x`, or R vectors.
#' @section Errors: `joist_shape_error` for a rank over 2; `joist_value_error` for a tensor
#'   without data, another `as`, and a row that is missing (as `merge(all.x = TRUE)` makes them;
#'   only `f64` and `c128` have `NA`).
#' @examples
#' df <- data.frame(x = nv_tensor(3:1, "i8"), y = c("a", "b", "c"))
#' df[order(df$x), ]
#' rbind(df, data.frame(x = nv_tensor(2.5, "f16"), y = "d"))$x
#' as.data.frame(nv_tensor(matrix(1:4, 2), "f16"))
#' @method as.data.frame nv_tensor
#' @export
as.data.frame.nv_tensor <- function(x, row.names = NULL, optional = FALSE, ...,
                                    nm = deparse1(substitute(x)), as = "tensor") {
  force(nm)
  if (!identical(as, "tensor") && !identical(as, "R")) {
    stop_joist("joist_value_error", "`as` must be \"tensor\" or \"R\"")
  }
  if (!has_data(x)) {
    stop_joist("joist_value_error", "a tensor without data is no column of a data frame")
  }
  extents <- shape(x)
  if (length(extents) > 2L) {
    stop_joist(
      "joist_shape_error", "a tensor of rank ", length(extents),
      " is no data frame; nv_reshape() it to rank 2"
    )
  }
  if (length(extents) < 2L) {
    out <- as.data.frame.vector(nv_flatten(x), row.names, optional, nm = nm)
  } else {
    columns <- lapply(seq_len(extents[2L]), function(k) nv_flatten(x[, k]))
    named <- colnames(x)
    if (is.null(named) && !optional) named <- paste0("V", seq_along(columns))
    names(columns) <- named
    if (is.null(row.names)) row.names <- rownames(x)
    if (is.null(row.names) || anyDuplicated(row.names)) row.names <- .set_row_names(extents[1L])
    columns <- lapply(columns, unname)
    out <- structure(columns, row.names = row.names, class = "data.frame")
  }
  if (as == "R") to_r(out) else out
}

#' Data frames with tensors
#'
#' These are [stats::na.omit()] and [base::merge()], which work on columns with tensors: write those
#' instead. NaN in a tensor is missing, and keys are compared by their values.
#'
#' @param object A data frame or a tensor.
#' @param x,y Data frames.
#' @param ... Arguments of [stats::na.omit()] and [base::merge()].
#' @return What [stats::na.omit()] and [base::merge()] return.
#' @section Errors: `joist_value_error` for a tensor while `jit()` traces and for [nv_aval()]: what
#'   is left depends on values.
#' @examples
#' na.omit(data.frame(x = nv_tensor(c(1, NaN, 3), "f16"), y = 1:3))
#' na.omit(nv_tensor(c(1, NaN)))
#' df <- data.frame(x = nv_tensor(3:1, "i8"), y = c("a", "b", "c"))
#' merge(df, data.frame(x = nv_tensor(c(1L, 3L), "i8"), z = 1:2))
#' @export
nv_na_omit <- function(object, ...) stats::na.omit(object, ...)

#' @rdname nv_na_omit
#' @export
nv_merge <- function(x, y, ...) {
  if (!is.data.frame(x) || !is.data.frame(y)) {
    stop_joist("joist_value_error", "nv_merge() takes two data frames")
  }
  merge(x, y, ...)
}

#' @importFrom stats na.omit
#' @export
na.omit.nv_tensor <- function(object, ...) {
  check_elements(object, "na.omit()", "nv_ifelse() with nv_is_nan()")
  NextMethod()
}
