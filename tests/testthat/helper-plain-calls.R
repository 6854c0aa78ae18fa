# Calls without tensors of the functions that have methods for tensors and of what is near them,
# errors and all, and the values they are about.
plain_values <- function() {
  m <- matrix(c(1, NA, 3, 4, 5, 6), 2, dimnames = list(c("a", "b"), NULL))
  cube <- array(1:24, 2:4, list(c("p", "q"), NULL, letters[1:4]))
  frame <- data.frame(u = c(1, 2, 4), v = c(2, NA, 3))
  named <- c(a = TRUE, b = NA, c = TRUE)
  f <- factor(c("x", "y", "x", NA))
  date <- as.Date("2024-01-05") + 0:2
  time <- as.POSIXct(date)
  s <- structure(list(1), class = "other")
  as.list(environment())
}

plain_calls <- function() {
  calls <- expression(
    diag(m), diag(3), diag(c(a = 1, b = 2)), diag(2, 3), diag(m, names = FALSE), diag(cube), diag(),
    diag("a"), diag(nrow = 2), diag(1i, 2), diag(frame),
    rank(c(b = 3, a = 1, 3)), rank(c(2, NA), "keep"), rank(f), rank("a"), rank(c(2, 2),
    ties = "max"),
    rank(m), rank(list(1)), rank(), rank(date), rank(1, ties.method = "none"),
    encodeString(c(a = "x", NA)), encodeString("a\n", quote = "'"), encodeString(m),
    encodeString(f),
    encodeString("a", 5, justify = "right"), encodeString(), encodeString("a", justify = "no"),
    rowsum(1:3, c("a", "b", "a")), rowsum(m, 1:2), rowsum(frame, c(1, 1, 2), na.rm = TRUE),
    rowsum(1, 1:2),
    rowsum(1:3, c(2, NA, 2)), rowsum(c(3, 1), factor(c("b", "a")), reorder = FALSE), rowsum("a", 1),
    rowsum(1:3), outer(1:2, 1:3), outer(m, c(a = 1, b = 2)), outer(1:2, 1:2, "-"),
    lengths(list(1, 2:3)),
    rowSums(m), rowSums(m, na.rm = TRUE), rowSums(m, TRUE), rowSums(frame), rowSums(cube, dims = 2),
    rowSums(1:3), rowSums(), rowSums(matrix("a")), rowSums(m, dims = 5), rowSums(m, nonsense = 1),
    rowSums(m, d = 1), rowSums(s), rowSums(matrix(0, 0, 3)),
    colSums(m), colSums(frame, na.rm = TRUE), colSums(cube, d = 2), colSums("a"), colSums(NULL),
    rowMeans(m), rowMeans(frame, TRUE), rowMeans(cube, dims = 2L), rowMeans(list()),
    colMeans(m), colMeans(frame), colMeans(cube), colMeans(TRUE), colMeans(matrix(0, 0, 2)),
    which(named), which(named, useNames = FALSE), which(m > 2, arr.ind = TRUE),
    which(cube > 20, TRUE),
    which(1:3), which(), which(logical()), which(f), which(frame > 1, arr = TRUE), which("a"),
    which.max(c(a = 1, b = 9, c = 9)), which.max(c(NA, NaN)), which.max("a"), which.max(date),
    which.max(f), which.max(list(1, 3)), which.max(), which.max(NULL), which.min(c(b = 3, a = 1)),
    which.min(m), which.min(frame), which.min(character()),
    var(c(1, 2, 4)), var(m), var(t(m), use = "complete.obs"), var(frame, na.rm = TRUE), var(frame),
    var(1:3, c(2, 4, 9)), var(1:3, 1:2), var("a"), var(), var(f), var(1), var(numeric()), var(date),
    var(1:3, use = "nonsense"), var(x = 1:4, y = NULL, TRUE), var(1:3, us = "all.obs"),
    var(y = 1:3, x = 3:1), var(TRUE), var(list(1, 2)), var(1i),
    sd(c(1, 2, 4)), sd(m, TRUE), sd(m, na = TRUE), sd(frame$v), sd("a"), sd(), sd(1), sd(named),
    cov(m), cov(frame, use = "pair"), cov(1:3, c(2, 4, 9)), cov(1:3), cov(t(m), method = "kendall"),
    cov(y = 1:3, x = 3:1), cov("a"), cov(), cov(1:3, 1:2), cov(1:3, 3:1, "all.obs"),
    cor(t(m), use = "complete.obs"), cor(1:4, c(1, 3, 2, 4), method = "spearman"), cor(frame, NULL),
    cor(1:3, 3:1, meth = "k"), cor(1:3), cor(), cor(1i, 2), cor(1:3, c(1, 1, 1)),
    rle(c(1, 1, 2)), rle("a"), rle(f), rle(), rle(x = c(TRUE, NA, NA)), rle(list(1)), rle(m),
    unsplit(list(1:2, 3L), c(1, 2, 1)), unsplit(split(m, 1:3), 1:3),
    unsplit(split(frame, 1:3), 1:3),
    unsplit(list(), c(1, 1)), unsplit(list(1), drop = TRUE, f = "a"), unsplit(1:2, 1:2),
    pmin(1:3, 2), pmin(), pmin(m, 2), pmin(c(a = 1, b = NA), 0:1, na.rm = TRUE),
    pmin(date, date[2]),
    pmin("a", c("b", "A")), pmin(1:3, 1:2), pmin(f, f), pmin(1, NULL), pmin(integer(), 1),
    pmin(list(1), 2), pmin(time, time[2]), pmin(frame, 2), pmin(1, na.rm = "x"),
    pmin(1, stop("own"), 2),
    pmax(1:3, 2.5), pmax(), pmax(cube, 10L), pmax(NA, 1), pmax(NaN, NA, 1, na.rm = TRUE),
    pmax(date[1], date), pmax(a = 1:2, b = 2:1), pmax(1i, 2), pmax(named, FALSE),
    ifelse(named, 1, 2), ifelse(m > 2, m, -m), ifelse(TRUE, "yes", stop("no")),
    ifelse(FALSE, stop("yes"), 1:3), ifelse(NA, 1, 2), ifelse(f == "x", f, 0), ifelse("a", 1, 2),
    ifelse(list(TRUE, 0), 1, 2), ifelse(logical(), 1, 2), ifelse(c(1, 0), date[1:2], date[3]),
    ifelse(), ifelse(TRUE), ifelse(TRUE, 1), ifelse(test = frame > 1, yes = 1, no = 0),
    ifelse(NULL, 1, 2),
    findInterval(c(1.5, NA, 3), 1:3), findInterval(3, 1:3, rightmost.closed = TRUE),
    findInterval(0:4, 1:3, TRUE, TRUE), findInterval(0:4, 1:3, left = TRUE), findInterval(1, 3:1),
    findInterval(1, c(1, NA)), findInterval("a", 1), findInterval(1), findInterval(vec = 1),
    findInterval(vec = 1:3, x = 2), findInterval(date, date), findInterval(1, 2, 3, 4, 5, 6, 7),
    tabulate(c(2, 3, 5)), tabulate(f), tabulate(c(2, 3, 5), nbins = 3), tabulate(f, 5), tabulate(),
    tabulate("a"), tabulate(integer()), tabulate(c(-1, NA, 2)), tabulate(2, NA),
    tabulate(nbins = 2, 1),
    tabulate(date), tabulate(c(TRUE, FALSE)), tabulate(list(1)),
    atan2(1, 2), atan2(m, 2), atan2(c(a = 1), 0), atan2("a", 1), atan2(1), atan2(x = 1, y = 2),
    atan2(1i, 1), atan2(1:3, 1:2), atan2(frame, 1), atan2(f, 1), atan2(numeric(), 1),
    bitwAnd(12L, 10L), bitwAnd(12, 10), bitwAnd(1.5, 1L), bitwAnd(NA, 1L), bitwAnd(1L),
    bitwAnd("a", 1),
    bitwAnd(b = 1L, a = 3L), bitwOr(12L, 3L), bitwOr(c(1, NA), 2), bitwOr(f, 1L), bitwXor(5L, 1:3),
    bitwXor(integer(), 1L), bitwXor(TRUE, FALSE), bitwNot(5L), bitwNot(2.5), bitwNot("a"),
    bitwNot(),
    bitwShiftL(1L, 4L), bitwShiftL(-1, 1L), bitwShiftL(1L, 31L), bitwShiftL(1, n = "a"),
    bitwShiftR(-1, 28), bitwShiftR(8L, 1:3), bitwShiftR(1), bitwShiftR(NA, 2),
    m %*% 1:3, 1:2 %*% m, 1:3 %*% 1:3, m %*% m, "a" %*% 1, f %*% 1, frame %*% 1, 1i %*% 2:3,
    crossprod(m), crossprod(1:3), crossprod(m, 1:2), crossprod(m, m), crossprod("a"), crossprod(),
    crossprod(m, 1:5), crossprod(x = 1:2, y = 3:4), crossprod(m, NULL), tcrossprod(m),
    tcrossprod(1:3), tcrossprod(m, m), tcrossprod(m, 1:7), tcrossprod(y = 1:2, x = 3:4),
    tcrossprod(frame),
    match(f, "x"), match("b", letters), match(3, 1:2, nomatch = 0L), "x" %in% f, match(1, NULL),
    match(c(1, NA), NA, incomparables = FALSE)
  )
  as.list(calls)
}
