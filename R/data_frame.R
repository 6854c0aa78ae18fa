#' Tensors in data frames
#'
#' A tensor of rank 1 is one column, with its dtype; of rank 2 each of its columns is one, as
#' those of a matrix are; a scalar is a column of one row. `data.frame()`, `cbind()`,
#' `transform()` and `merge()` take tensors through this method. Subsets, `$`, `rbind()`,
#' `split()`, `order()`, `unique()`, `print()`, `str()` and `summary()` of a data frame work
#' with such columns. `as.matrix()`, `t()` and `apply()` make R numbers of them.
#'
#' Tibbles take tensors of rank 1, too, and so does what is built on the vctrs package: the
#' common type of two columns is that of [common_dtype()]. A column that consists of missing
#' rows only becomes an [nv_aval()].
#'
#' @param x A tensor of rank 2 at most.
#' @param row.names `NULL` or a character vector with a name for each row.
#' @param optional `TRUE` leaves names out.
#' @param ... Ignored.
#' @param nm The name of a single column.
#' @return A data frame whose columns are tensors of rank 1 with the dtype of `x`.
#' @section Errors: `joist_shape_error` for a rank over 2; `joist_value_error` for a tensor
#'   without data, a row that is missing (as `merge(all.x = TRUE)` makes them; only `f64` and
#'   `c128` have `NA`), a tensor as a row, an index of rows that is a tensor, and `rbind()`
#'   when a column of the first data frame is no tensor and that of another is.
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
  n <- if (length(extents) == 0L) 1L else extents[1L]
  rows <- if (is.null(row.names)) .set_row_names(n) else row.names
  structure(columns, row.names = rows, class = "data.frame")
}
