# Functions of other packages that call methods for each element or group, beside R's doubles,
# bit64's integer64 and a class that has no more than the methods they need:
#
#   R_LIBS=<library with joist> R --vanilla --no-echo -f bench/elements.R
#
# Prints the least processor time of three turns, in which they alternate, in milliseconds, and its
# ratio to those of doubles. vctrs calls methods of any class but R's own for each group, so the
# class tells how much of the ratio is not the tensors'. Takes a minute.
suppressMessages({
  library(joist)
  library(dplyr)
})
# nolint start: object_name_linter.
methods <- list(
  vec_ptype2.plain.plain = function(x, y, ...) x[0L], vec_cast.plain.plain = function(x, to, ...) x,
  vec_proxy.plain = function(x, ...) x,
  vec_restore.plain = function(x, to, ...) structure(x, class = "plain")
)
for (name in names(methods)) {
  generic <- sub("[.].*", "", name)
  registerS3method(generic, sub("^[^.]*[.]", "", name), methods[[name]], asNamespace("vctrs"))
}
`[.plain` <- function(x, i) structure(unclass(x)[i], class = "plain")
`[[.plain` <- function(x, i) structure(unclass(x)[[i]], class = "plain")
Summary.plain <- function(..., na.rm) {
  structure(do.call(.Generic, lapply(list(...), unclass)), class = "plain")
}
# nolint end

set.seed(1)
count <- 1000L
values <- as.double(sample(1e6, 2L * count))
columns <- list(
  double = values, integer64 = bit64::as.integer64(values),
  class = structure(values, class = "plain"), f32 = nv_tensor(values, "f32"),
  i64 = nv_tensor(values, "i64")
)
seconds <- function(f, x) {
  times <- system.time(f(x))
  times[["user.self"]] + times[["sys.self"]]
}
report <- function(what, f, prepare = identity) {
  prepared <- lapply(columns, prepare)
  times <- replicate(3L, vapply(prepared, function(x) {
    tryCatch(seconds(f, x), error = function(e) NA_real_)
  }, 0))
  least <- apply(times, 1L, min)
  cells <- sprintf("%8.0f (%5.1f)", 1000 * least, least / max(least[1L], 0.001))
  cat(sprintf("%-20s", what), cells, "\n")
}
frame <- function(x) tibble(x = x, g = rep(seq_len(count), each = 2L))
grouped <- function(x) group_by(frame(x), g)
nested <- function(x) tidyr::nest(frame(x), data = x)
cat(sprintf("%-20s", ""), sprintf("%16s", names(columns)), "\n")
report("min_rank()", function(x) min_rank(x), function(x) x[1:400])
report("lag() by group", function(d) mutate(d, l = lag(x)), grouped)
report("sum() by group", function(d) summarise(d, s = sum(x)), grouped)
report("first() by group", function(d) summarise(d, s = first(x)), grouped)
report("unnest()", function(d) tidyr::unnest(d, data), nested)
report("map_dbl()", function(x) purrr::map_dbl(x, as.numeric))
report("wilcox.test()", function(x) suppressWarnings(stats::wilcox.test(x[1:200], x[201:400])))
