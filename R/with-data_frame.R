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
  out <- structure(columns, row.names = rows, class = "data.frame")
  if (as == "R") to_r(out) else out
}

#' Leave out rows with missing values
#'
#' As [stats::na.omit()], which keeps the rows of a data frame whatever is in its tensors: here NaN
#' in a tensor is missing, and `NA_real_` in `f64` and `c128`.
#'
#' @param object A data frame or a tensor. Tensors have a method for [stats::na.omit()], too.
#' @param ... Passed on to [stats::na.omit()].
#' @return A data frame without the rows, with their numbers in the attribute `na.action` as from
#'   [stats::na.omit()]; of a tensor the other elements, in its dtype and of rank 1 if some are
#'   left out.
#' @section Errors: `joist_value_error` for a tensor while `jit()` traces and for [nv_aval()]: what
#'   is left depends on values.
#' @examples
#' nv_na_omit(data.frame(x = nv_tensor(c(1, NaN, 3), "f16"), y = 1:3))
#' na.omit(nv_tensor(c(1, NaN)))
#' @export
nv_na_omit <- function(object, ...) {
  tensors <- if (is.data.frame(object)) vapply(object, is_tensor, NA)
  if (!any(tensors)) {
    return(stats::na.omit(object, ...))
  }
  plain <- as.list(object)
  plain[tensors] <- lapply(plain[tensors], is.na)
  plain[tensors] <- lapply(plain[tensors], function(missing) replace(missing, missing, NA))
  left_out <- attr(stats::na.omit(structure(plain, row.names = row.names(object),
    class = "data.frame"
  ), ...), "na.action")
  if (is.null(left_out)) {
    return(object)
  }
  structure(object[-as.vector(left_out), , drop = FALSE], na.action = left_out)
}

#' @importFrom stats na.omit
#' @export
na.omit.nv_tensor <- function(object, ...) {
  check_elements(object, "na.omit()", "nv_ifelse() with nv_is_nan()")
  missing <- is.na(object)
  if (any(missing)) object[!missing] else object
}

#' Merge data frames by tensors
#'
#' As [base::merge()], for data frames whose keys are columns with tensors. (Base R's stops for a
#' single key that is a tensor, and compares several keys as text of their common dtype.)
#'
#' Keys are compared by their values: R numbers that the integers of a tensor can be are, and where
#' the common dtype of two keys would round a whole number, so that different keys became equal,
#' there is an error.
#'
#' @param x,y Data frames.
#' @param ... Arguments of [base::merge()].
#' @return A data frame. A key that is a tensor in `x` or `y` is one in the result: of the dtype of
#'   `x`, or, where there are rows of `y` alone, of the common dtype of both (R numbers take the
#'   tensor's dtype if it holds integers, and them).
#' @section Errors: `joist_promotion_error` when the keys have no common dtype; `joist_value_error`
#'   for a row that is missing in another tensor (only `f64` and `c128` have `NA`), and for a whole
#'   number that the common dtype of the keys rounds.
#' @examples
#' df <- data.frame(x = nv_tensor(3:1, "i8"), y = c("a", "b", "c"))
#' nv_merge(df, data.frame(x = nv_tensor(c(1L, 3L), "i8"), z = 1:2))
#' @export
nv_merge <- function(x, y, ...) {
  if (!is.data.frame(x) || !is.data.frame(y)) {
    stop_joist("joist_value_error", "nv_merge() takes two data frames")
  }
  merge_frames(x, y, ...)
}

merge_frames <- function(x, y, by = intersect(names(x), names(y)), by.x = by, # nolint
                         by.y = by, incomparables = NULL, ...) { # nolint: object_name_linter.
  at_x <- columns_at(by.x, x)
  at_y <- columns_at(by.y, y)
  pairs <- if (length(at_x) == length(at_y)) seq_along(at_x)
  placed <- Filter(function(k) has_places(x[[at_x[k]]], y[[at_y[k]]], length(pairs) == 1L), pairs)
  if (length(placed) == 0L) {
    return(merge(x, y, by.x = by.x, by.y = by.y, incomparables = incomparables, ...))
  }
  # Base R merges by the places of the keys among all their values, in order.
  keys <- lapply(placed, function(k) places(x[[at_x[k]]], y[[at_y[k]]]))
  for (k in seq_along(placed)) {
    x[[at_x[placed[k]]]] <- keys[[k]]$x
    y[[at_y[placed[k]]]] <- keys[[k]]$y
  }
  if (!is.null(incomparables) && length(pairs) == 1L) {
    incomparables <- as.vector(nv_match(incomparables, keys[[1L]]$values))
  }
  merged <- merge(x, y, by.x = at_x, by.y = at_y, incomparables = incomparables, ...)
  for (k in seq_along(placed)) merged[[placed[k]]] <- keys[[k]]$at(merged[[placed[k]]])
  merged
}

# The numbers of the columns that `by` names; NULL where one of them is not there.
columns_at <- function(by, frame) {
  at <- if (is.character(by)) match(by, names(frame)) else if (is.logical(by)) which(by) else by
  if (all(at %in% seq_along(frame))) as.integer(at)
}

# Of several keys base R compares the text, which only tells tensors of one dtype apart.
has_places <- function(x, y, single) {
  if (single || is_tensor(x) != is_tensor(y)) {
    is_tensor(x) || is_tensor(y)
  } else {
    is_tensor(x) && dtype(x) != dtype(y)
  }
}

places <- function(key_x, key_y) {
  values <- ordered_values(keys_together(key_x, key_y))
  from <- list(x = key_x, y = key_y)
  of <- lapply(from, function(key) as.vector(nv_match(in_dtype_of(key, values), values)))
  back <- function(place) {
    of_x <- match(place, of$x)
    if (is_tensor(key_x) && !anyNA(of_x)) key_x[of_x] else values[place]
  }
  c(of, list(values = values, at = back))
}

# R numbers that a tensor of integers can hold take its dtype; all others are joined, unless this
# would round whole numbers, so that different ones were equal.
keys_together <- function(x, y) {
  taken <- if (!is_tensor(y)) in_dtype_of(y, x)
  if (is_tensor(taken)) y <- taken
  taken <- if (!is_tensor(x)) in_dtype_of(x, y)
  if (is_tensor(taken)) x <- taken
  joined <- nv_concatenate(x, y)
  check_exact(x, joined[seq_along(x)])
  check_exact(y, joined[length(x) + seq_along(y)])
  joined
}

in_dtype_of <- function(key, like) {
  if (is_tensor(key) || !is_integer_dtype(like)) {
    return(key)
  }
  tryCatch(
    nv_tensor(key, dtype(like), ambiguous = ambiguous(like)),
    joist_value_error = function(e) key
  )
}

# Whether whole numbers are the same in the dtype of `converted`.
check_exact <- function(x, converted) {
  if (is_integer_dtype(converted) || dtype(converted) == "bool") {
    return(invisible())
  }
  if (is.object(x)) x <- nv_tensor(x)
  if (is.complex(x) || is_tensor(x) && !is_integer_dtype(x)) {
    return(invisible())
  }
  number <- if (is_tensor(x)) as_array(x, "double") else as.double(x)
  rounded <- is_tensor(x) & abs(number) >= 2^53
  if (any(rounded, na.rm = TRUE)) {
    text <- as_array(x[rounded], "character")
    rounded[rounded] <- sprintf("%.0f", number[rounded]) != text
  }
  as_real <- as_array(nv_convert(converted, "f64"))
  bad <- which(is.finite(number) & number == trunc(number) & (rounded | number != as_real))
  if (length(bad) > 0L) {
    stop_joist(
      "joist_value_error", format(x[bad[1L]], scientific = FALSE), " at position ", bad[1L],
      " is not exact in ", format(dtype(converted)), ", the common dtype of the columns; ",
      "nv_convert() the other column to integers, or both to a dtype that holds their values"
    )
  }
}

# Complex numbers have no order but that of order().
ordered_values <- function(x) {
  x <- unique(x)
  if (is_complex_dtype(x)) x[order(as.vector(x))] else nv_sort(x)
}
