#' Tensors in data frames
#'
#' A tensor can be a column of a data frame, in which it keeps its dtype. A tensor of rank 1 makes
#' one column, a tensor of rank 2 one column for each of its columns, as a matrix does, and a scalar
#' a column of one row. Base R and tibbles read the values of such columns: `df[df$x > 5, ]`,
#' `merge()`, `tapply()`, `na.omit()`, `lm()` and [ggplot2::ggplot()] need no conversion. `rbind()`
#' follows the first data frame: where its column is an R vector, tensors become R numbers.
#'
#' In tibbles and in other packages built on vctrs, the common type of two columns is that of
#' [common_dtype()].
#'
#' Missing rows, such as those of `merge(all.x = TRUE)`, `df[NA, ]`, `dplyr::left_join()` and
#' `dplyr::lag()`, are missing values of the column, in every dtype (see [nv_mask()]).
#'
#' dplyr, tibble and base R's functions for one column compare 64-bit integers exactly.
#' `aggregate()` by a tensor, and `duplicated()` and `unique()` of data frames with several columns
#' read the doubles that R sees: whole numbers beyond 2^53 are `NA` there, with a warning of class
#' `joist_view_warning`, so `aggregate()` leaves out their rows. Group by
#' `factor(df$id)` instead, or use [nv_group()], `tapply()`, `rowsum()`, `split()` or `xtabs()`. The
#' largest of each group is `aggregate(x ~ group, df, max)`. Compare ids with strings, as in
#' `df[df$id %in% "9007199254740993", ]`, and add rows by `rbind()`: `df[nrow(df) + 1, ]` copies
#' doubles, with a warning, from which such ids are restored; where that is not possible, as in
#' another order, using them is an error.
#'
#' data.table copies columns as doubles in nearly everything it does, filtering rows included. Keep
#' 64-bit integers there as `integer64`: `as_array(x, "integer64")`.
#'
#' A count of seconds or nanoseconds becomes a date by whole numbers:
#' `as.POSIXct(x %/% 1000000000L, origin = "1970-01-01")`; `x / 1e9` would be `f32`.
#'
#' `write.csv()` and `write.table()` write all digits of columns of rank 1; `data.table::fwrite()`
#' and [cat()] do not. A tensor of rank 2 is written as R's doubles, and is an error where these
#' lack one of its integers: write `as.data.frame(x)`.
#' Read ids with `read.csv(file, colClasses = c(id = "character"))` and convert them with
#' `nv_tensor(df$id, "i64")`.
#'
#' @param x A tensor of rank 0, 1 or 2.
#' @param row.names `NULL` or a character vector with a name for each row.
#' @param optional `TRUE` leaves the names of the columns out.
#' @param ... Ignored.
#' @param nm The name of the column, for a tensor of rank 0 or 1.
#' @param as `"tensor"` for columns that are tensors, `"R"` for R's own vectors, as [to_r()] makes
#'   them.
#' @return A data frame whose columns are tensors of rank 1 with the dtype of `x`, or R vectors.
#' @section Errors: `joist_shape_error` for a rank over 2; `joist_value_error` for a tensor without
#'   data and for an invalid `as`.
#' @examples
#' df <- data.frame(x = nv_tensor(3:1, "i8"), y = c("a", "b", "c"))
#' df[order(df$x), ]
#' rbind(df, data.frame(x = nv_tensor(2.5, "f16"), y = "d"))$x
#' merge(data.frame(y = c("a", "z")), df, all.x = TRUE)
#' as.data.frame(nv_tensor(matrix(1:4, 2), "f16"))
#' @concept csv
#' @concept group by
#' @method as.data.frame nv_tensor
#' @export
as.data.frame.nv_tensor <- function(x, row.names = NULL, optional = FALSE, ...,
                                    nm = deparse1(substitute(x)), as = "tensor") {
  force(nm)
  if (!identical(as, "tensor") && !identical(as, "R")) {
    stop_joist("joist_value_error", "`as` must be \"tensor\" or \"R\"")
  }
  if (!has_elements(x)) {
    stop_joist("joist_value_error", "a tensor without data cannot be a column of a data frame")
  }
  extents <- shape(x)
  if (length(extents) > 2L) {
    stop_joist(
      "joist_shape_error", "a tensor of rank ", length(extents),
      " is not a data frame; nv_reshape() it to rank 2"
    )
  }
  if (length(extents) < 2L) {
    out <- as.data.frame.vector(nv_flatten(x), row.names, optional, nm = nm)
  } else {
    columns <- lapply(seq_len(extents[2L]), function(k) nv_flatten(x[, k]))
    named <- colnames(x)
    if (is.null(named) && !optional) named <- paste0("V", seq_along(columns))
    names(columns) <- named
    rows <- if (is.null(row.names)) rownames(x) else row.names
    if (is.null(rows) || anyDuplicated(rows)) rows <- .set_row_names(extents[1L])
    out <- structure(lapply(columns, unname), row.names = rows, class = "data.frame")
  }
  if (as == "R") to_r(out) else out
}

#' Data frames with tensors
#'
#' [stats::na.omit()] and [base::merge()] work on data frames with tensors: write those.
#' `nv_na_omit()` and `nv_merge()` are other names for them. `na.omit()` leaves out missing values
#' and NaN. `merge()` compares keys by their values; with `all = TRUE`, rows without a partner get
#' missing values, in every dtype. Data frames that are merged by one column of integers, all of
#' whose rows need a partner, are sorted by it: rows of one key are then in the order of `x`, and of
#' `y`.
#'
#' With `how`, `nv_merge()` joins by one or more keys (`by`, or `by.x` and `by.y`) of any type,
#' exactly and without text, and keeps the rows in the order of `x`: `"inner"` keeps rows with a
#' partner, `"left"` all rows of `x`, `"full"` also those of `y`, which come last; `"semi"` and
#' `"anti"` keep the rows of `x` with and without a partner. `"rolling"` gives each row of `x` the
#' last row of `y` whose last key is not greater and whose other keys are equal: the last
#' observation carried forward. Keys of two classes are compared by their values: text and factors
#' beside others as text, which the keys of a full join then are, and dates beside date-times as
#' midnight in UTC. Missing keys equal one another, except the last one of a rolling
#' join, which has no partner.
#'
#' @param object A data frame or a tensor.
#' @param x,y Data frames.
#' @param ... Arguments of [stats::na.omit()] and [base::merge()]; with `how`, `by`, `by.x`, `by.y`
#'   and `suffixes`.
#' @param how Which rows are kept; `NULL` for those of [base::merge()].
#' @param as `"data frame"`, or, with `how`, `"rows"` for the numbers of the rows.
#' @return What [stats::na.omit()] and [base::merge()] return; tensors keep their dtype. With
#'   `as = "rows"` a list of `x` and, unless the join is semi or anti, `y`: R integers, NA where a
#'   data frame has no such row.
#' @section Errors: `joist_value_error` for a tensor while `jit()` traces and for [nv_aval()], as
#'   the number of elements that are left depends on values; if `x` or `y` is not a data frame, for
#'   an invalid `how` and for keys that are not columns; for keys of dates, times or durations
#'   beside numbers, and durations beside dates or times; and for a merged data frame of 2^31 rows
#'   or more.
#' @examples
#' na.omit(data.frame(x = nv_tensor(c(1, NA, 3), "ui8"), y = 1:3))
#' na.omit(nv_tensor(c(1, NaN, NA)))
#' df <- data.frame(x = nv_tensor(3:1, "i8"), y = c("a", "b", "c"))
#' merge(df, data.frame(x = nv_tensor(c(1L, 3L), "i8"), z = 1:2))
#' merge(df, data.frame(y = c("a", "d"), z = nv_tensor(1:2, "ui8")), all.x = TRUE)
#' nv_merge(df, data.frame(x = nv_tensor(c(2L, 9L), "i8"), z = 1:2), by = "x", how = "full")
#' trades <- data.frame(s = c("a", "b", "a"), time = nv_tensor(c(3L, 5L, 9L), "i64"))
#' quotes <- data.frame(s = c("a", "a", "b"), time = nv_tensor(c(1L, 4L, 6L), "i64"), bid = 1:3)
#' nv_merge(trades, quotes, by = c("s", "time"), how = "rolling")
#' @export
nv_na_omit <- function(object, ...) stats::na.omit(object, ...)

#' @rdname nv_na_omit
#' @export
nv_merge <- function(x, y, ..., how = NULL, as = "data frame") {
  if (!is.data.frame(x) || !is.data.frame(y)) {
    stop_joist("joist_value_error", "nv_merge() takes two data frames")
  }
  if (!is.null(how)) {
    return(join_frames(x, y, how, as, ...))
  }
  key <- merge_key(x, y, ...)
  if (is.null(key)) {
    return(merge(x, y, ...))
  }
  rows <- matching_rows(x[[key[1L]]], y[[key[2L]]])
  # Names of columns, and warnings about them, are those of a merge without rows.
  named <- names(merge(x[0L, , drop = FALSE], y[0L, , drop = FALSE], ...))
  from_x <- lapply(unclass(x)[c(key[1L], setdiff(names(x), key[1L]))], `[`, rows$x)
  from_y <- lapply(unclass(y)[setdiff(names(y), key[2L])], `[`, rows$y)
  columns <- stats::setNames(c(from_x, from_y), named)
  structure(columns, row.names = .set_row_names(length(rows$x)), class = "data.frame")
}

# The names of the one column of x and of y that rows are merged by, where that may be done by
# sorting whole numbers; else NULL.
merge_key <- function(x, y, ...) {
  given <- list(...)
  option <- function(name, otherwise) if (name %in% names(given)) given[[name]] else otherwise
  by <- option("by", intersect(names(x), names(y)))
  key <- c(option("by.x", by), option("by.y", by))
  others <- setdiff(names(given), c("by", "by.x", "by.y", "suffixes", "no.dups", "sort"))
  usual <- length(given) == sum(nzchar(names(given))) && isTRUE(option("sort", TRUE)) &&
    all(vapply(given[others], isFALSE, NA))
  frames <- is_plain_frame(x, key[1L]) && is_plain_frame(y, key[2L])
  if (!usual || length(key) != 2L || !frames) {
    return(NULL)
  }
  keys <- list(x[[key[1L]]], y[[key[2L]]])
  whole <- all(vapply(keys, is_whole_key, NA))
  if (whole && identical(dtype(keys[[1L]]), dtype(keys[[2L]]))) key
}

is_whole_key <- function(key) {
  is_tensor(key) && has_elements(key) && is_integer_dtype(key) && !anyNA(key)
}

# Whether it has rows, columns that are vectors, and one of this name.
is_plain_frame <- function(x, name) {
  identical(class(x), "data.frame") && nrow(x) > 0L && !anyDuplicated(names(x)) &&
    is.character(name) && name %in% names(x) && all_vectors(x)
}

all_vectors <- function(x) {
  all(vapply(unclass(x), function(column) length(dim(column)) < 2L, NA))
}

# Which rows of x and of y have the same key: sorted by the key, then by the rows of x and of y.
matching_rows <- function(x, y) {
  order_x <- nv_argsort(x)
  order_y <- nv_argsort(y)
  x <- x[order_x]
  y <- y[order_y]
  before <- as_array(nv_searchsorted(y, x))
  times <- as_array(nv_searchsorted(y, x, "right")) - before
  order_x <- as_array(order_x)
  order_y <- as_array(order_y)
  if (max(times) > 1L) {
    if (sum(as.double(times)) > .Machine$integer.max) {
      stop_joist("joist_value_error", "the merged data frame would have more than 2^31 - 1 rows")
    }
    found <- times > 0L
    from_y <- sequence(times[found], before[found] + 1L)
    return(list(x = rep.int(order_x, times), y = order_y[from_y]))
  }
  found <- which(times == 1L)
  list(x = order_x[found], y = order_y[before[found] + 1L])
}

#' @importFrom stats na.omit
#' @export
na.omit.nv_tensor <- function(object, ...) {
  check_elements(object, "na.omit()", "nv_ifelse() with nv_is_na()")
  if (is_chunked(object) && is_inexact(object)) {
    stop_joist(
      "joist_value_error", "na.omit() needs the elements in memory; call nv_compute() first"
    )
  }
  NextMethod()
}
