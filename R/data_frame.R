#' Tensors in data frames
#'
#' A tensor of rank 1 is one column, with its dtype; of rank 2 each of its columns is one, as
#' those of a matrix are; a scalar is a column of one row. `data.frame()`, `cbind()`,
#' `transform()` and `merge()` take tensors through this method. Subsets, `$`, `rbind()`,
#' `split()`, `order()`, `unique()`, `print()`, `str()` and `summary()` of a data frame work
#' with such columns. `data.matrix()` makes numbers of them.
#'
#' Tibbles take tensors of rank 1, too, and so does what is built on the vctrs package: the
#' common type of two columns is that of [common_dtype()].
#'
#' @param x A tensor of rank 2 at most.
#' @param row.names `NULL` or a character vector with a name for each row.
#' @param optional `TRUE` leaves names out.
#' @param ... Ignored.
#' @param nm The name of a single column.
#' @return A data frame whose columns are tensors of rank 1 with the dtype of `x`.
#' @section Errors: `joist_shape_error` for a rank over 2; `joist_value_error` for a tensor
#'   without data, and for `as.matrix()`, `is.na()`, `t()` and `apply()` of a data frame with
#'   tensors, which base R would take apart. A row that is missing (`merge(all = TRUE)`) can
#'   only be filled in dtypes that have `NA`: `f64` and `c128`.
#' @examples
#' df <- data.frame(x = nv_tensor(3:1, "i8"), y = c("a", "b", "c"))
#' df[order(df$x), ]
#' rbind(df, data.frame(x = nv_tensor(2.5, "f16"), y = "d"))$x
#' as.data.frame(nv_tensor(matrix(1:4, 2), "f16"))
#' @method as.data.frame nv_tensor
#' @export
as.data.frame.nv_tensor <- function(x, row.names = NULL, optional = FALSE, ...,
                                    nm = deparse1(substitute(x))) {
  force(nm)
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
  columns <- if (length(extents) == 2L) {
    lapply(seq_len(extents[2L]), function(k) nv_flatten(x[, k]))
  } else {
    list(nv_flatten(x))
  }
  if (!optional) {
    names(columns) <- if (length(extents) == 2L) paste0("V", seq_along(columns)) else nm
  }
  rows <- if (length(extents) == 0L) 1L else extents[1L]
  if (is.null(row.names)) row.names <- .set_row_names(rows)
  structure(columns, row.names = row.names, class = "data.frame")
}
