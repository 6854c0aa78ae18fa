#' Base functions and tensors
#'
#' What base R does with a tensor. joist hides no function of base R, and changes none: where R
#' dispatches on its argument, tensors have a method that keeps R's meaning. Where R does not ask
#' what a tensor is, most functions find neither a vector nor a list that they could read, and stop.
#' This page says what to write instead.
#'
#' **Work on tensors**, and give tensors: arithmetic, comparison, `Math`, `Summary` and
#' `Complex` functions, `[`, `[<-`, `[[`, `c()` and `append()` (of a tensor first), `rep()`,
#' `rev()`, `head()`, `tail()`, `sort()`, `unique()`, `t()`, `aperm()`, `rbind()`, `cbind()`,
#' `subset()`, `sample()`, `mean()`, `median()`, `rowsum()`, `sweep()`, `dim<-`, `length<-` (to
#' shorten), `split<-`, `na.omit()`,
#' `do.call(rbind, list_of_tensors)`, `Reduce()` of a tensor or a list of them, and `Filter()`.
#' `na.rm = TRUE` of `sum()`, `max()`, `mean()` and the like
#' leaves out NaN and `NA_real_`; the largest and the smallest of none are -Inf and Inf.
#'
#' **Work on tensors** by methods for the S4 generics that R derives from these functions, and that
#' all packages share:
#'
#' | | with a tensor calls |
#' |---|---|
#' | `rowSums()`, `colSums()`, `rowMeans()`, `colMeans()` | [nv_row_sums()] and relatives |
#' | `which()` | [nv_which()]; gives an R vector |
#' | `which.min()`, `which.max()` | [nv_argmin()], [nv_argmax()]; NaN is left out, as by base R |
#' | `var()`, `sd()` | [nv_var()], [nv_sd()]; `var()` of a matrix the covariances of its columns |
#' | `cov()`, `cor()` | [nv_cov()], [nv_cor()] |
#' | `ifelse()` of a `test` that is a tensor | [nv_ifelse()] |
#' | `findInterval()` | [nv_searchsorted()] |
#' | `match()`, `%in%`, `rank()`, `rowsum()` by a tensor | base R's, which gives R vectors |
#' | `rle()` | `!=` and subsets; `values` of the runs are a tensor |
#' | `tabulate()` | [nv_tabulate()] |
#' | `atan2()` | [nv_atan2()] |
#' | `bitwAnd()`, `bitwOr()`, `bitwXor()`, `bitwNot()` | [nv_bitwise_and()] and relatives |
#' | `bitwShiftL()`, `bitwShiftR()` | [nv_shift_left()], [nv_shift_right_logical()] |
#' | `diag()` without further arguments | [nv_diag()] |
#' | `encodeString()` | base R's, of the text |
#' | `qr.Q()`, `qr.R()`, `qr.coef()`, `qr.fitted()`, `qr.resid()`, `qr.solve()` | [nv_qr()] |
#' | `crossprod()`, `tcrossprod()`, `%*%` | [nv_crossprod()], [nv_tcrossprod()], [nv_matmul()] |
#'
#' One operand is a tensor; others may be R numbers, which keep their exact values until the common
#' dtype is known. All but `which()`, `match()`, `%in%`, `rank()` and `rle()` also work in [jit()]
#' and on [nv_aval()]. `na.rm`, `use`, `dims` and other arguments are those of base R; `method` must
#' be `"pearson"`. Where neither `yes` nor `no` is a tensor, `ifelse()` gives an R vector as base R
#' does, and a tensor only while [jit()] traces.
#'
#' What is no tensor goes to base R, or to the method of another package; it costs the time of an
#' S4 dispatch. As with all S4 generics, an error in an argument is one of class `simpleError` that
#' says which argument was evaluated. Where a package that is attached before joist has a function
#' of its own by one of these names, as BiocGenerics and bit64 have, it stays in place, and those
#' two have methods for tensors (those of bit64 by the first argument only). From R 4.3 on `%*%`,
#' and from R 4.4 on `crossprod()`, dispatch by themselves; before R 4.3, joist has a function `%*%`
#' that passes everything else on to base R's. Called by their full names or from another package,
#' `stats::var()`, `base::which()` and their like are the functions of base R, most of which stop.
#'
#' **Work on tensors**, and give R vectors: `as.vector()` and its kin, `matrix()`, `array()`,
#' `is.na()`, `order()`, `duplicated()`, `factor()`, `aggregate()` of a tensor (a data frame),
#' `cut()`, `paste()`, `format()`, `seq()`, `seq_along()`, `as.Date()`, `table()`, `split()`,
#' `tapply()`, `ave()` and `interaction()` by a tensor, `outer(x, y)` of products, `y[i] <- x`
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
#' **Neither stop nor do what is meant.** Base R leaves no way to tell them. Never use the left:
#'
#' | | | |
#' |---|---|---|
#' | `pmin(x, y)`, `pmax(x, y)` of tensors | give `x` back | [nv_min()], [nv_max()] |
#' | `sprintf("%s", x)` | reads the first element | `sprintf("%s", as.vector(x))` |
#' | `df == 2`, `!df`, `df1 == df2` | a list, or an error | [to_r()] of `df` |
#' | `na.omit(df)` | keeps NaN in tensors | [nv_na_omit()] |
#' | `aggregate(df, by, range)` | tensors in place of elements | a function that gives one element |
#' | `as.matrix(df)`, `t(df)` | a matrix of a list | [to_r()] of `df` |
#' | `merge()` by several keys | compares text of a common dtype | [nv_merge()] |
#' | `df[c("u", "v")] <- x` | R numbers, no dtype | `df[c("u", "v")] <- as.data.frame(x)` |
#' | `ifelse(test, x, y)` of an R vector `test` | R numbers | [nv_ifelse()] |
#' | `nlminb(p, f)` where `f` gives a tensor | takes it for NA | let `f` return an R number |
#'
#' Here `df` is a data frame with tensors as columns. `duplicated(df)` and `unique(df)` of several
#' columns, and `anyDuplicated(df)`, compare bits (so -0 is not 0), and each row with each other one
#' if all columns are tensors, which takes long from some 10,000 rows on.
#'
#' **Stop**, because base R does not ask what `x` is. Instead of the left, write the right:
#'
#' | | |
#' |---|---|
#' | `for (e in x)` | `for (e in as.list(x))` |
#' | `y[x]` for an R vector `y` | `y[as.vector(x)]` |
#' | `if (x)`, `while (x)`, `x && y` | `as.logical(x)` |
#' | `stopifnot(all(x > 0))`, which says that it is not TRUE | `stopifnot(as.logical(all(x > 0)))` |
#' | `vapply(x, f, value)` | let `f` return an R number: `as.vector(f(x))` |
#' | `do.call(f, x)` | `do.call(f, as.list(x))` |
#' | `pmin(x, 1)`, `pmax(1, x)` | [nv_min()], [nv_max()] |
#' | `max(1, x)`, `range(1, x)`, ... | the tensor first: `max(x, 1)` |
#' | `merge(df1, df2)` by a tensor | [nv_merge()] |
#' | `nchar(x)`, `cat(x)`, `rnorm(x)`, `1:x`, `lengths(x)` | the same of `as.vector(x)` |
#' | `aggregate(df, list(x), f)` of a data frame | `aggregate(df, list(as.vector(x)), f)` |
#' | `x + y`, `y == x` of `integer64` `y` | `nv_add(x, y)`, `nv_eq(y, x)`, or `nv_tensor(y)` |
#' | `formatC(x)` | `format(x)` with its arguments |
#' | `unsplit(parts, f)` | `x <- do.call(c, parts); split(x, f) <- parts` |
#' | `t.test(x)`, `ecdf(x)`, `fft(x)`, `dnorm(x)`, `beta(x, y)` | the same of `as.vector(x)` |
#' | `combn(x, 2)`, `embed(x, 2)`, `zapsmall(x)`, `jitter(x)` | the same of `as.vector(x)` |
#' | `writeBin(x, con)`, `readBin(con, ...)` | [nv_write_bin()], [nv_read_bin()] |
#' | `complete.cases(x)`, `table(x, useNA = "ifany")` | the same of `as.vector(x)` |
#' | `lm(y ~ x, df)`, `aggregate(y ~ x, df, f)` and other formulas | `lm(y ~ x, to_r(df))` |
#' | `df[x > 0, ]`, `subset(df, x > 0)` of a data frame | `df[as.vector(x > 0), ]`, `which(x > 0)` |
#' | `df[nrow(df) + 1, ] <- row` | `rbind(df, row)` |
#' | `apply(df, 1, f)`, `colMeans(df)` | [to_r()] of `df` |
#' | `ggplot(df, aes(x, y))`, `jsonlite::toJSON(df)`, `data.table::fwrite(df)` | [to_r()] of `df` |
#' | `optim(p, f)`, `optimize(f, 0:1)`, `nlm(f, p)`, `uniroot()` | let `f` return an R number |
#' | `as.environment(x)`, `as.function(x)` | that of `as.list(x)` |
#'
#' `isTRUE(x)` is `FALSE`, as `x` is no logical vector. `apply(x, 1, f)` works on R vectors; see
#' [nv_apply()]. `dput()` and `deparse()` show that there is a tensor, but not its values:
#' [saveRDS()] keeps one, `dput(as_array(x))` shows them.
#'
#' `is.numeric()`, `is.integer()`, `is.matrix()` and the like are `FALSE`: a tensor is none of
#' R's own types. Ask for its [dtype()] and its [shape()]. `is.array()` is `TRUE` where there are
#' dimensions.
#'
#' @param x A tensor.
#' @param value For `length<-` a number of elements, for `is.na<-` an index.
#' @param subset An index.
#' @param ... Passed on to the function of base R.
#' @return What base R gives for an R vector of the same values; `subset()`, `length<-` and
#'   `is.na<-` a tensor of the dtype of `x`; the functions of the first table a tensor of the dtype
#'   that the function there gives, where it does not say otherwise. `which.min()` and
#'   `which.max()` give 0 where all elements are NaN. `findInterval()` of NaN is the number of
#'   intervals, as NaN is the largest.
#' @section Errors: `joist_value_error`: a tensor has no names, levels or dimnames, no `NA`
#'   except in `f64` and `c128`, and nothing to be lengthened with; for `which()`, `match()`,
#'   `rle()` and `use = "all.obs"` while `jit()` traces and for [nv_aval()], for another `use` or
#'   `method` than these, and for `diag()` of one element. `joist_shape_error` when `yes` or `no`
#'   do not fit into the shape of `test`, and for `rle()` of another rank than 1.
#'   `joist_dtype_error` for `var()`, `cov()` and `cor()` of complex tensors. Those of the functions
#'   in the first table.
#' @examples
#' x <- nv_tensor(c(3, 1, 2), "f32")
#' sapply(x, as.numeric)
#' cut(x, c(0, 1, 3))
#' do.call(rbind, list(x, x))
#' c(1, x)
#' nv_concatenate(1, x)
#' m <- nv_tensor(matrix(c(3, 1, 2, 5, 4, 7), 2))
#' rowSums(m)
#' colMeans(m)
#' which(m > 2, arr.ind = TRUE)
#' which.max(m)
#' var(m)
#' sd(c(x, nv_scalar(NaN)), na.rm = TRUE)
#' cor(m, use = "complete.obs")
#' ifelse(m > 2, m, 0)
#' findInterval(m, c(1, 3, 5))
#' bitwAnd(nv_tensor(1:3, "ui8"), 2)
#' rowSums(matrix(1:6, 2)) # base R's
#' @eval paste(c("@aliases %*%", base_method_aliases()), collapse = " ")
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

#' @rdname base_functions
#' @export
`is.na<-.nv_tensor` <- function(x, value) {
  if (!has_na(x)) {
    stop_joist(
      "joist_value_error", "a tensor of dtype ", format(dtype(x)), " has no NA; convert it to f64 ",
      "first, or to an R vector with as.vector()"
    )
  }
  x[value] <- NA
  x
}

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

# By R vectors, and of columns that are tensors.
#' @importFrom stats aggregate
#' @export
aggregate.nv_tensor <- function(x, by, ...) {
  by <- lapply(by, function(group) if (is_tensor(group)) as.vector(group) else group)
  stats::aggregate(as.data.frame(x, nm = "x"), by, ...)
}

#' @export
as.Date.nv_tensor <- function(x, ...) as.Date(as.double(x), ...)

#' @export
as.POSIXct.nv_tensor <- function(x, ...) as.POSIXct(as.double(x), ...)

#' @export
as.table.nv_tensor <- function(x, ...) as.table(as.array(x), ...)

#' @importFrom stats as.ts
#' @export
as.ts.nv_tensor <- function(x, ...) stats::as.ts(as_array(x), ...)

# In double, whatever the precision of the dtype.
#' @export
cut.nv_tensor <- function(x, ...) cut(as.vector(x), ...)
