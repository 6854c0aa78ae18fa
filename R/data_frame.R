#' Tensors in data frames
#'
#' A tensor of rank 1 is one column, with its dtype; of rank 2 each of its columns is one, as
#' those of a matrix are; a scalar is a column of one row. `data.frame()`, `cbind()` and
#' `transform()` take tensors through this method. Subsets, `$`, `rbind()`, [merge()],
#' `split()`, `order()`, `unique()`, `print()`, `str()` and `summary()` of a data frame work
#' with such columns. `as.matrix()`, `t()` and `apply()` make R numbers of them, and so does
#' `rbind()` where a column of the first data frame is an R vector.
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
#'   `c128` have `NA`), and an index of rows that is a tensor.
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

#' Merge data frames by tensors
#'
#' [base::merge()], for data frames whose key in common is a column with a tensor, too, which base R
#' does not compare. All else is passed on to it.
#'
#' @param x,y Data frames, or what [base::merge()] takes.
#' @param ... Arguments of [base::merge()].
#' @return A data frame. A key that is a tensor in `x` or `y` is one in the result: of the dtype of
#'   `x`, or, where there are rows of `y` alone, of the common dtype of both.
#' @section Errors: `joist_promotion_error` when the keys have no common dtype; `joist_value_error`
#'   for a row that is missing in another tensor (only `f64` and `c128` have `NA`).
#' @examples
#' df <- data.frame(x = nv_tensor(3:1, "i8"), y = c("a", "b", "c"))
#' merge(df, data.frame(x = nv_tensor(c(1L, 3L), "i8"), z = 1:2))
#' @export
merge <- function(x, y, ...) {
  if (is.data.frame(x) && is.data.frame(y) && any(vapply(c(x, y), is_tensor, NA))) {
    merge_frames(x, y, ...)
  } else {
    base::merge(x, y, ...)
  }
}

merge_frames <- function(x, y, by = intersect(names(x), names(y)), by.x = by, # nolint
                         by.y = by, incomparables = NULL, ...) { # nolint: object_name_linter.
  at_x <- single_column(by.x, x)
  at_y <- single_column(by.y, y)
  if (is.null(at_x) || is.null(at_y) || !is_tensor(x[[at_x]]) && !is_tensor(y[[at_y]])) {
    return(base::merge(x, y, by.x = by.x, by.y = by.y, incomparables = incomparables, ...))
  }
  # Base R merges by the places of the keys among all their values, in order.
  key_x <- x[[at_x]]
  key_y <- y[[at_y]]
  values <- ordered_values(nv_concatenate(key_x, key_y))
  x[[at_x]] <- as.vector(nv_match(key_x, values))
  y[[at_y]] <- as.vector(nv_match(key_y, values))
  if (!is.null(incomparables)) incomparables <- as.vector(nv_match(incomparables, values))
  merged <- base::merge(x, y, by.x = at_x, by.y = at_y, incomparables = incomparables, ...)
  of_x <- match(merged[[1L]], x[[at_x]])
  merged[[1L]] <- if (is_tensor(key_x) && !anyNA(of_x)) key_x[of_x] else values[merged[[1L]]]
  merged
}

# The number of the only column that `by` names; NULL where there are none or several.
single_column <- function(by, frame) {
  at <- if (is.character(by)) match(by, names(frame)) else if (is.logical(by)) which(by) else by
  if (length(at) == 1L && at %in% seq_along(frame)) as.integer(at)
}

# Complex numbers have no order but that of order().
ordered_values <- function(x) {
  x <- unique(x)
  if (is_complex_dtype(dtype(x))) x[order(as.vector(x))] else nv_sort(x)
}
