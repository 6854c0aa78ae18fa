# The calls of random_calls.R, and why some of them differ from base R's.

base_calls <- as.list(quote({
  # arithmetic and comparison
  x + y
  x - y
  x * y
  x / (y + 8)
  x + 1
  2 * x
  x - 1L
  x^2
  x %/% 2L
  x %% 3L
  -x
  +x
  x == y
  x != y
  x < y
  x <= y
  x > 1
  x >= 0
  !x
  x & y
  x | y
  xor(x, y)
  # mathematics
  abs(x)
  sqrt(abs(x))
  exp(x)
  expm1(x)
  log(abs(x) + 1)
  log(abs(x) + 1, 3)
  log2(abs(x) + 1)
  log10(abs(x) + 1)
  log1p(abs(x))
  sin(x)
  cos(x)
  tan(x)
  asin(x / 9)
  acos(x / 9)
  atan(x)
  sinh(x)
  cosh(x)
  tanh(x)
  asinh(x)
  acosh(abs(x) + 1)
  atanh(x / 9)
  sinpi(x)
  cospi(x)
  gamma(abs(x) + 1)
  lgamma(abs(x) + 1)
  digamma(abs(x) + 1)
  trigamma(abs(x) + 1)
  beta(abs(x) + 1, abs(y) + 1)
  choose(abs(x) + 5, 2)
  factorial(abs(x))
  sign(x)
  floor(x)
  ceiling(x)
  trunc(x)
  round(x)
  round(x, 1)
  signif(x, 2)
  Re(x)
  Im(x)
  Mod(x)
  Arg(x)
  Conj(x)
  atan2(x, y)
  bitwAnd(x, y)
  bitwOr(x, y)
  # summaries
  sum(x)
  sum(x, y)
  sum(x, na.rm = TRUE)
  sum(x, 1)
  prod(x)
  max(x)
  min(x)
  max(x, y)
  min(x, na.rm = TRUE)
  max(x, 1)
  max(1, x)
  range(x)
  range(x, na.rm = TRUE)
  all(x > 0)
  any(x > 0)
  mean(x)
  mean(x, na.rm = TRUE)
  median(x)
  median(x, na.rm = TRUE)
  var(as.vector(x))
  sd(x)
  sd(x, na.rm = TRUE)
  quantile(x)
  quantile(x, c(0.1, 0.9))
  quantile(x, 0.5, names = FALSE)
  fivenum(x)
  IQR(x)
  mad(x)
  weighted.mean(x, abs(y) + 1)
  cumsum(x)
  cumprod(x)
  cummax(x)
  cummin(x)
  which(x > 0)
  which(x > 0, arr.ind = TRUE)
  which.max(x)
  which.min(x)
  var(x, y)
  cor(x, y)
  cov(x, y)
  var(x)
  # order
  sort(x)
  sort(x, decreasing = TRUE)
  order(x)
  order(x, decreasing = TRUE)
  order(x, y)
  rank(x)
  rank(x, ties.method = "min")
  rev(x)
  is.unsorted(x)
  # sets
  unique(x)
  duplicated(x)
  duplicated(x, fromLast = TRUE)
  anyDuplicated(x)
  match(x, y)
  x %in% y
  match(1, x)
  2 %in% x
  union(x, y)
  intersect(x, y)
  setdiff(x, y)
  is.element(x, y)
  table(x)
  table(x, y)
  tabulate(abs(x) + 1)
  factor(x)
  levels(factor(x))
  as.factor(x)
  cut(x, c(-10, 0, 2, 10))
  cut(x, 3)
  findInterval(x, c(-1, 0, 2))
  rle(as.vector(x))
  split(x, g)
  unsplit(split(x, g), g)
  tapply(x, g, sum)
  tapply(x, g, length)
  ave(x, g)
  aggregate(as.vector(x), list(g), sum)
  by(as.vector(x), g, function(e) sum(e))
  rowsum(x, rep_len(1:2, NROW(x)))
  interaction(as.vector(x), g)
  # subsets
  x[1]
  x[k]
  x[-1]
  x[c(TRUE, FALSE)]
  x[x > 0]
  x[[1]]
  x[0]
  x[1, ]
  x[, 1]
  x[, 1, drop = FALSE]
  x[1, , drop = FALSE]
  x[1, 1]
  x[-1, ]
  x[, , 1]
  x["a1"]
  x[c("a2", "a1")]
  x["a1", ]
  x[, "b1"]
  x["a1", "b1"]
  x["a1", , drop = FALSE]
  x[cbind(1, 1)]
  head(x, 2)
  tail(x, 2)
  head(x, -1)
  subset(x, x > 0)
  replace(x, 1, 2)
  append(x, y)
  append(x, y, after = 1)
  rep(x, 2)
  rep(x, each = 2)
  rep(x, length.out = 5)
  rep_len(x, 5)
  c(x, y)
  c(x, 1)
  c(a = x, b = y)
  c(1, x)
  local({
    x[1] <- 3
    x
  })
  local({
    x[[1]] <- 1
    x
  })
  local({
    x[x > 0] <- 0
    x
  })
  local({
    x[, 1] <- 2
    x
  })
  local({
    x["a1"] <- 2
    x
  })
  local({
    names(x) <- NULL
    x
  })
  local({
    dim(x) <- c(1, length(x))
    x
  })
  local({
    dim(x) <- NULL
    x
  })
  setNames(as.vector(x), g)
  unname(x)
  # shape
  dim(x)
  length(x)
  nrow(x)
  ncol(x)
  NROW(x)
  NCOL(x)
  names(x)
  dimnames(x)
  rownames(x)
  colnames(x)
  t(x)
  aperm(x)
  aperm(x, rev(seq_along(dim(x))))
  cbind(x, y)
  rbind(x, y)
  cbind(x, 1)
  cbind(a = x, b = y)
  rbind(x, k = 1)
  cbind(1, x)
  matrix(x, 1)
  matrix(x, ncol = 1)
  array(x, c(1, length(x)))
  as.matrix(x)
  as.vector(x)
  drop(x)
  outer(x, y)
  outer(as.vector(x), as.vector(y), "+")
  x %o% y
  row(x)
  col(x)
  upper.tri(x)
  diag(x)
  crossprod(x)
  crossprod(x, y)
  tcrossprod(x)
  x %*% t(x)
  t(x) %*% y
  kronecker(x, y)
  rowSums(x)
  colSums(x)
  rowMeans(x)
  colMeans(x)
  rowSums(x, na.rm = TRUE)
  colSums(x, dims = 1)
  apply(x, 1, sum)
  apply(x, 2, max)
  apply(x, 1:2, function(e) e)
  sweep(x, 1, 1)
  sweep(x, 2, rep(1, ncol(x)))
  scale(x)
  prop.table(abs(x) + 1)
  max.col(x, "first")
  asplit(x, 1)
  mapply(function(a, b) as.vector(a) + as.vector(b), x, y)
  arrayInd(1, dim(x))
  # types
  is.numeric(x)
  is.complex(x)
  is.logical(x)
  is.matrix(x)
  is.array(x)
  is.atomic(x)
  is.na(x)
  is.nan(x)
  is.finite(x)
  is.infinite(x)
  anyNA(x)
  complete.cases(x)
  as.integer(x)
  as.numeric(x)
  as.double(x)
  as.logical(x)
  as.complex(x)
  as.character(x)
  mode(x)
  isTRUE(all(x >= 0))
  isTRUE(x)
  identical(as.vector(x), as.vector(y))
  # control
  local({
    s <- 0
    for (e in x) s <- s + e
    s
  })
  if (all(x > 0)) "yes" else "no"
  if (x[[1]] > 0) 1 else 2
  x[[1]] > 0 && TRUE
  stopifnot(length(x) > 0)
  switch(as.character(x[[1]]), "1" = "one", "other")
  ifelse(x > 0, x, y)
  ifelse(x > 0, 1, 0)
  pmin(x, y)
  pmax(x, y)
  pmin(x, 1)
  pmax(1, x)
  pmax(x, y, na.rm = TRUE)
  lapply(x, function(e) as.vector(e) * 2)
  sapply(x, function(e) as.vector(e))
  vapply(x, function(e) as.numeric(Re(e)), 0)
  Map(function(a, b) a, as.list(x), as.list(y))
  Reduce(`+`, x)
  Reduce(`+`, x, accumulate = TRUE)
  Filter(function(e) e > 0, x)
  Position(function(e) e > 0, x)
  do.call(sum, list(x))
  do.call("+", list(x, y))
  unlist(list(as.vector(x), as.vector(y)))
  as.list(x)
  seq_along(x)
  seq_len(length(x))
  seq(1, 9, length.out = length(x))
  letters[abs(x) + 1]
  (1:9)[abs(x) + 1]
  # text
  paste(x)
  paste(x, y, sep = "-")
  toString(x)
  nchar(x)
  sprintf("%s", x)
  format(x)
  formatC(x)
  prettyNum(x)
  as.character(x)
  capture.output(cat(x))
  # statistics
  diff(x)
  diff(x, lag = 2)
  fft(x)
  convolve(as.vector(x), as.vector(y), type = "open")
  embed(as.vector(x), 1)
  combn(as.vector(x), 2)
  zapsmall(x)
  ecdf(x)(1)
  approx(seq_along(x), x, 1)$y
  density(x)$bw
  hist(x, plot = FALSE)$counts
  boxplot.stats(x)$stats
  t.test(x)$statistic
  dnorm(x)
  pnorm(x)
  dist(cbind(as.vector(x), as.vector(y)))
  cor(as.vector(x), as.vector(y))
  lm(y ~ x, list(x = as.vector(x), y = as.vector(y)))$coefficients
  expand.grid(as.vector(x), 1:2)
  data.frame(a = as.vector(x))$a
  nlevels(factor(x))
  rev(as.list(x))
  mean(x > 0)
  sum(x > 0)
  cumall <- cumsum(x > 0)
  trunc(mean(x))
  crossprod(as.vector(x))
  norm(x)
  det(x)
  solve(x + 9 * diag(nrow(x)))
  nlevels(as.factor(x))
  is.vector(as.vector(x))
  vapply(split(x, g), length, 1L)
  rapply(list(x), function(e) as.vector(e) + 1, how = "unlist")
  outer(seq_along(x), seq_along(y))
  mean(x[x > 0])
  # missing values
  sum(x, y, na.rm = TRUE)
  prod(x, na.rm = TRUE)
  max(x, na.rm = TRUE)
  max(x, 1, na.rm = TRUE)
  any(x > 0, na.rm = TRUE)
  all(x > 0, na.rm = TRUE)
  any(x > 0)
  all(x > 0)
  var(as.vector(x), na.rm = TRUE)
  var(x, na.rm = TRUE)
  quantile(x, na.rm = TRUE)
  quantile(x, c(0.2, 0.7), na.rm = TRUE, type = 6)
  colSums(x, na.rm = TRUE)
  rowMeans(x, na.rm = TRUE)
  colMeans(x, na.rm = TRUE)
  rowsum(x, g, na.rm = TRUE)
  cor(x, use = "complete.obs")
  cov(x, use = "pairwise.complete.obs")
  scale(x)
  mean(x > 0, na.rm = TRUE)
  sum(is.na(x))
  sum(!is.na(x) & !is.na(y))
  NA & x
  NA | x > 0
  x & NA
  x > NA
  x + NA
  as.vector(x) + x[seq_along(x)]
  NA^x
  x^0
  x^NA
  1^x
  1L %/% x^0
  x %/% 0.5
  xor(x, NA)
  x[NA]
  x[NA_integer_]
  x[c(1, NA)]
  x[c(TRUE, NA)]
  x[is.na(x)]
  x[!is.na(x)]
  x[is.na(y)]
  x[[1]]
  local({
    x[is.na(x)] <- 0
    x
  })
  local({
    x[1] <- NA
    x
  })
  local({
    x[y > 0] <- NA
    x
  })
  local({
    x[] <- y
    x
  })
  local({
    x[rev(seq_along(x))] <- y
    x
  })
  local({
    is.na(x) <- 1
    x
  })
  local({
    is.na(x) <- which(y > 0)
    x
  })
  local({
    length(x) <- length(x) + 2
    x
  })
  replace(x, is.na(x), y[is.na(x)])
  ifelse(is.na(x), 0, x)
  ifelse(is.na(x), y, x)
  ifelse(x > y, x, y)
  ifelse(x > y, 1L, NA)
  na.omit(as.vector(x))
  as.vector(na.omit(x))
  complete.cases(as.vector(x))
  complete.cases(cbind(as.vector(x), as.vector(y)))
  sort(x, na.last = TRUE)
  sort(x, na.last = FALSE)
  sort(x, decreasing = TRUE, na.last = TRUE)
  order(x, na.last = FALSE)
  order(x, na.last = NA)
  order(y, x)
  rank(x, na.last = "keep")
  rank(x, ties.method = "min")
  xtfrm(as.vector(x))
  unique(c(x, NA, NA))
  duplicated(c(x, y))
  anyDuplicated(x)
  match(x, y)
  match(NA, x)
  match(x, NA)
  x %in% y
  x %in% NA
  union(as.vector(x), as.vector(y))
  setdiff(x, NA)
  is.element(x, y)
  table(x, useNA = "ifany")
  table(x, useNA = "always")
  factor(x)
  factor(x, exclude = NULL)
  addNA(factor(as.vector(x)))
  split(x, is.na(y))
  tapply(x, g, sum, na.rm = TRUE)
  tapply(y, as.vector(x), length)
  aggregate(as.vector(x), list(g), mean, na.rm = TRUE)$x
  local({
    a <- x[seq_along(x)]
    b <- y[seq_along(y)]
    merge(data.frame(a = a), data.frame(a = unique(b), b = seq_along(unique(b))))$b
  })
  local({
    a <- x[seq_along(x)]
    data.frame(a = a, b = seq_along(a))[order(a), ]$b
  })
  subset(data.frame(a = as.vector(x), b = 1), a > 0)$a
  cut(x, c(-3, 0, 3, 9))
  findInterval(sort(as.vector(x)), c(0, 2))
  cumsum(is.na(x))
  cumsum(x)
  cumprod(x)
  cummax(x)
  cummin(x)
  which(is.na(x))
  which(x)
  which.max(c(NA, x))
  pmin(x, NA)
  pmin(x, NA, na.rm = TRUE)
  pmax(x, 1, na.rm = TRUE)
  range(x, y, na.rm = TRUE)
  range(x, finite = TRUE)
  summary(x)[["Mean"]]
  format(x)
  as.character(x)
  as.integer(x)
  as.logical(x)
  as.double(x)
  as.complex(x)
  rev(x)
  rep(x, 2)
  rep(x, each = 2)
  append(x, NA, 1)
  c(x, NA)
  c(NA, x)
  c(x, y)
  rbind(x, NA)
  cbind(x, y)
  t(x)
  aperm(x)
  diff(x)
  outer(x, y)
  x %*% y
  crossprod(x, y)
  x %o% y
  is.finite(x)
  is.infinite(x)
  is.nan(x)
  rle(as.vector(x))$lengths
  rle(x)$lengths
  inverse.rle(rle(x))
  rowSums(is.na(x))
  mapply(function(a, b) is.na(a) + is.na(b), x, y)
  vapply(x, function(e) is.na(e), NA)
  sapply(as.list(x), function(e) if (is.na(e)) 0 else as.vector(e))
  tryCatch(if (x[1] > 0) 1 else 2, error = function(e) "error")
  isTRUE(x[1] > 0)
  identical(x, x)
  identical(as.vector(x), as.vector(y))
  all.equal(x, x)
  nchar(as.vector(x))
  paste(x)
  median(x[!is.na(x)])
  fivenum(x)
  mad(as.vector(x), na.rm = TRUE)
  IQR(x, na.rm = TRUE)
  weighted.mean(x, abs(y) + 1, na.rm = TRUE)
  cor(as.vector(x), as.vector(y), use = "complete.obs")
  lm(y ~ x, list(x = as.vector(x), y = as.vector(y)))$coefficients
  as.vector(unlist(lapply(split(x, g), max, na.rm = TRUE)))
  Reduce(`+`, x, accumulate = TRUE)
  head(x, 2)
  tail(x, 2)
  round(x, 1)
  signif(x, 2)
  zapsmall(x)
  log(abs(x) + 1)
  atan2(x, y)
  Re(x)
  Im(x)
  Mod(x)
  Arg(x)
  Conj(x)
  bitwAnd(abs(x), abs(y))
}))[-1L]

# Why a difference is meant, and when it is: the first that holds. `call` is the text of the call,
# `says()` looks into what random_calls.R says of the difference, `is()` into the call.
reasons_to_differ <- alist( # nolint: cyclocomp_linter.
  "joist also takes what base R refuses" = says("^base R stops"),
  "complex numbers have no order, and are not rounded or made real by the way" =
    kind == "complex" && (says("not defined for|as double|complex|digits") || is("^sd")),
  "on branch cuts R's asinh() and atan() are not on the side that C99 tells" =
    kind == "complex" && is("^asinh|^atan\\("),
  "bool is not a number: + is or, * is and, there is no -" = kind == "bool" &&
    is("[-+*^]|prod|diff|cum|Reduce|fivenum|boxplot|sum|sign"),
  "unsigned integers wrap" = kind == "uint" && is("^-x|x - |diff|order\\(-"),
  "assignment keeps the dtype" = says("cannot be assigned into"),
  "what is not there is an error, not NA" =
    says("is out of range|no names to be indexed by|not by names|there is no name"),
  "a scalar is not a vector" =
    rank == 0L && is("rle|rowsum|diff|boxplot|diag|scale|solve|det|norm|bind|head|t\\(x\\)"),
  "matrices in a higher rank are a batch" =
    rank > 2L &&
      is("%\\*%|rowsum|crossprod|cbind|rbind|scale|solve|det|norm|diag|max.col|upper.tri"),
  "scale() and diag() are about matrices" = rank == 1L && is("^scale") || is("^diag"),
  "the elements of a matrix are looked at, not its rows" =
    rank >= 2L && is("duplicated|anyDuplicated|^unique|subset\\("),
  "bits are those of integers" = is("^bit") && kind == "float",
  "differences and covariances of one row are matrices without names" =
    is("^diff") && says("dim") || is("^cor|^cov") && says("dimnames"),
  "operations on tensors keep dim and names" =
    is("^bit|^atan2|^rep_len|^tail") && says("names|dim"),
  "a scalar has no names" = is("^x\\[.*, ?.*\\]$") && says("names"),
  "a matrix of one element has no name of a vector" =
    is("bind\\(|^t\\(") && any(c(length(x), length(y)) == 1L) && says("dimnames"),
  "a vector that is multiplied as a matrix keeps its names" =
    rank == 1L && is("%\\*%|crossprod") && says("dimnames"),
  "parts are put together without names" = is("^unsplit") && says("names"),
  "the median has no name" = is("^median") && says("names"),
  "where an element is missing, the transform of a line is" = is("^fft") && says("is.NA"),
  "runs have no names" = is("rle\\(x") && says("names"),
  "an extreme of integers, of which none is left, is missing and not infinite" =
    kind %in% c("int", "uint", "bool") && says("is.NA") &&
      is("(max|min|range)\\(?.*(na.rm|finite) = TRUE")
)

reason_of <- function(call, kind, rank, difference, x, y) {
  known <- list(
    says = function(pattern) grepl(pattern, difference),
    is = function(pattern) grepl(pattern, call), kind = kind, rank = rank, x = x, y = y
  )
  holds <- vapply(reasons_to_differ, function(condition) eval(condition, known), NA)
  if (any(holds)) names(reasons_to_differ)[which(holds)[1L]]
}
