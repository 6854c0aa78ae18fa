#' Base functions and tensors
#'
#' What base R does with a tensor. Where R dispatches on its argument, the function works and
#' keeps R's meaning. Where it does not, it finds no vector (nor a list) that it could read, and
#' stops. Of some of these functions, such as `rowSums()` and `which()`, joist has versions that
#' compute with tensors: see [extended]. For the others, this page says what to write instead.
#'
#' **Work on tensors**, and give tensors: arithmetic, comparison, `Math`, `Summary` and
#' `Complex` functions, `[`, `[<-`, `[[`, `c()` and `append()` (of a tensor first), `rep()`,
#' `rev()`, `head()`, `tail()`, `sort()`, `unique()`, `t()`, `aperm()`, `rbind()`, `cbind()`,
#' `subset()`, `sample()`, `mean()`, `median()`, `rowsum()`, `sweep()`, `dim<-`, `length<-` (to
#' shorten),
#' `do.call(rbind, list_of_tensors)`, `Reduce()` of a tensor or a list of them, `Filter()`, and
#' the functions on the page [extended]. `na.rm = TRUE` of `sum()`, `max()`, `mean()` and the like
#' leaves out NaN and `NA_real_`; the largest and the smallest of none are -Inf and Inf.
#'
#' **Work on tensors**, and give R vectors: `as.vector()` and its kin, `matrix()`, `array()`,
#' `is.na()`, `which()`, `order()`, `rank()`, `duplicated()`, `match()`, `%in%`, `factor()`,
#' `cut()`, `paste()`, `format()`, `seq()`, `seq_along()`, `as.Date()`, `table()`, `split()`,
#' `tapply()`, `ave()`, `rowsum()` and `interaction()` by a tensor, `outer()` of rank 1, `y[i] <- x`
#' for an R vector `y`, `svd()`, `plot()`, `hist()` and other plots.
#'
#' **See a list of scalars**: `lapply()`, `sapply()`, `vapply()`, `Map()`, `mapply()`,
#' `as.list()`: each element is a tensor of rank 0. What their function returns is not
#' simplified when it is a tensor, nor is the result of `tapply()` and
#' `Reduce(accumulate = TRUE)`: it stays a list of tensors.
#'
#' **Leave a tensor whole**, as one element of a list: `c(1, x)`, which is `list(1, x)`,
#' `unlist(list(x, y))`, which is `list(x, y)`, and `rapply(list(x), f)`, which calls `f(x)`. For
#' one tensor, write `c(nv_scalar(1), x)` or `nv_concatenate(1, x)`, and `do.call(c, list(x, y))`.
#'
#' **Stop**, because base R does not ask what `x` is. Instead of the left, write the right:
#'
#' | | |
#' |---|---|
#' | `for (e in x)` | `for (e in as.list(x))` |
#' | `y[x]` for an R vector `y` | `y[as.vector(x)]` |
#' | `ifelse(test, x, y)` of a `test` that is no tensor | [nv_ifelse()] |
#' | `if (x)`, `while (x)`, `x && y`, `stopifnot(x)` | `as.logical(x)` |
#' | `vapply(x, f, value)` | let `f` return an R number: `as.vector(f(x))` |
#' | `do.call(f, x)` | `do.call(f, as.list(x))` |
#' | `max(1, x)`, `range(1, x)`, ... | the tensor first: `max(x, 1)` |
#' | `df1 == df2` for data frames with tensors | the columns: `df1$x == df2$x` |
#' | `nchar(x)`, `cat(x)`, `sprintf("%s", x)`, `rnorm(x)`, `1:x` | the same of `as.vector(x)` |
#' | `formatC(x)` | `format(x)` with its arguments |
#' | `diag(x)`, `outer(x, y)` of rank 2 and more | [nv_diag()], [nv_outer()] |
#' | `t.test(x)`, `ecdf(x)`, `fft(x)`, `dnorm(x)`, `beta(x, y)` | the same of `as.vector(x)` |
#' | `combn(x, 2)`, `embed(x, 2)`, `zapsmall(x)`, `jitter(x)` | the same of `as.vector(x)` |
#' | `writeBin(x, con)`, `readBin(con, ...)` | [nv_write_bin()], [nv_read_bin()] |
#' | `complete.cases(x)`, `table(x, useNA = "ifany")` | the same of `as.vector(x)` |
#' | `lm(y ~ x)`, `aggregate(y ~ x, ...)` and other formulas | the same with `as.vector(x)` |
#' | `df[x > 0, ]`, `subset(df, x > 0)` of a data frame | `df[as.vector(x > 0), ]`, `which(x > 0)` |
#' | `df[nrow(df) + 1, ] <- row` | `rbind(df, row)` |
#' | `aes(x, y)` of ggplot2, columns of data.table | the same with `as.vector(x)` |
#' | `as.environment(x)`, `as.function(x)` | that of `as.list(x)` |
#'
#' `isTRUE(x)` is `FALSE`, as `x` is no logical vector. `apply(x, 1, f)` works on R vectors; see
#' [nv_apply()]. `dput()` and `deparse()` show that there is a tensor, but not its values:
#' [saveRDS()] keeps one, `dput(as_array(x))` shows them.
#'
#' `is.numeric()`, `is.integer()`, `is.matrix()` and the like are `FALSE`: a tensor is none of
#' R's own types. Ask for its [dtype()] and its [shape()].
#'
#' @param x A tensor.
#' @param value For `length<-` a number of elements, for `is.na<-` an index.
#' @param subset An index.
#' @param ... Passed on to the function of base R.
#' @return What base R gives for an R vector of the same values; `subset()`, `length<-` and
#'   `is.na<-` a tensor of the dtype of `x`.
#' @section Errors: `joist_value_error`: a tensor has no names, levels or dimnames, no `NA`
#'   except in `f64` and `c128`, and nothing to be lengthened with.
#' @examples
#' x <- nv_tensor(c(3, 1, 2), "f32")
#' sapply(x, as.numeric)
#' cut(x, c(0, 1, 3))
#' do.call(rbind, list(x, x))
#' try(c(1, x))
#' nv_concatenate(1, x)
#' @name base_functions
NULL

#' @rdname base_functions
#' @export
`length<-.nv_tensor` <- function(x, value) {
  if (length(value) == 1L && is.numeric(value) && isTRUE(value <= length(x))) {
    return(nv_flatten(x)[seq_len(value)])
  }
  stop_joist(
    "joist_value_error", "a tensor has no NA to be lengthened with; c() it with what to append"
  )
}

#' @export
`names<-.nv_tensor` <- function(x, value) {
  if (is.null(value)) {
    return(x)
  }
  stop_joist("joist_value_error", "the elements of a tensor have no names")
}

#' @export
`dimnames<-.nv_tensor` <- function(x, value) {
  if (is.null(value)) {
    return(x)
  }
  stop_joist("joist_value_error", "the dimensions of a tensor have no names; use as_array()")
}

#' @export
`levels<-.nv_tensor` <- function(x, value) {
  if (is.null(value)) {
    return(x)
  }
  stop_joist("joist_value_error", "a tensor has no levels; use factor()")
}

#' @rdname base_functions
#' @export
`is.na<-.nv_tensor` <- function(x, value) {
  if (!format(dtype(x)) %in% c("f64", "c128")) {
    stop_joist(
      "joist_value_error", "a tensor of dtype ", format(dtype(x)), " has no NA; convert it to f64 ",
      "first, or to an R vector with as.vector()"
    )
  }
  x[value] <- NA_real_
  x
}

#' @rdname base_functions
#' @export
subset.nv_tensor <- function(x, subset, ...) x[subset]

# Sums of the rows of each group, as base R, without the names of the groups.
#' @rawNamespace S3method(rowsum, nv_tensor)
rowsum.nv_tensor <- function(x, group, reorder = TRUE, na.rm = FALSE, ...) { # nolint
  check_flag(reorder, "reorder")
  if (!ndims(x) %in% 1:2) {
    stop_joist("joist_shape_error", "rowsum() of a tensor of rank ", ndims(x), ", not 1 or 2")
  }
  if (ndims(x) == 1L) x <- nv_unsqueeze(x, 2L)
  if (is_tensor(group)) group <- as.vector(group)
  if (length(group) != shape(x)[1L]) {
    stop_joist("joist_shape_error", length(group), " groups for ", shape(x)[1L], " rows")
  }
  x <- without_nan(x, na.rm)
  groups <- if (reorder) sort(unique(group), na.last = TRUE) else unique(group)
  rows <- split(seq_along(group), factor(match(group, groups), seq_along(groups)))
  sums <- lapply(rows, function(at) nv_reduce_sum(x[at, , drop = FALSE], 1L))
  if (length(sums) == 0L) {
    return(nv_reduce_sum(x, 1L, drop = FALSE)[0L, , drop = FALSE])
  }
  do.call(nv_stack, unname(sums))
}

#' @rdname base_functions
#' @export
cut.nv_tensor <- function(x, ...) cut(as.vector(x), ...)

# R's own, of R numbers.
#' @rdname base_functions
#' @export
seq.nv_tensor <- function(...) {
  do.call(seq, lapply(list(...), function(x) if (is_tensor(x)) as.vector(x) else x))
}

#' @export
as.raw.nv_tensor <- function(x) {
  if (dtype(x) == "ui8") as.vector(as_array(x, "raw")) else as.raw(as.vector(x))
}

#' @exportS3Method bit64::as.integer64
as.integer64.nv_tensor <- function(x, ...) as.vector(x, "integer64")

#' @export
as.Date.nv_tensor <- function(x, ...) as.Date(as.double(x), ...)

#' @export
as.POSIXct.nv_tensor <- function(x, ...) as.POSIXct(as.double(x), ...)

#' @export
as.table.nv_tensor <- function(x, ...) as.table(as.array(x), ...)

#' @importFrom stats as.ts
#' @export
as.ts.nv_tensor <- function(x, ...) stats::as.ts(as_array(x), ...)
