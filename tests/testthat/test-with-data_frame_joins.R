# Joins by several keys beside base R's merge() of row numbers by text.

key_of <- list(
  i64 = function(v) nv_tensor(sprintf("90071992547409%d", 90L + v), "i64"),
  ui64 = function(v) nv_tensor(sprintf("184467440737095515%d", 10L + v), "ui64"),
  f32 = function(v) nv_tensor(v / 3, "f32"), ui8 = function(v) nv_tensor(v, "ui8"),
  masked = function(v) nv_tensor(ifelse(v == 1, NA, v), "i16"),
  text = function(v) c("a", "b", NA, "d", "e")[v], factor = function(v) factor(v, 9:1),
  double = function(v) c(0.5, NaN, NA, 1, 2)[v],
  date = function(v) as.Date("2026-01-01") + v
)
text_of <- function(v, kind) {
  text <- as.character(key_of[[kind]](v))
  paste0(kind, ifelse(is.na(text), "none", text))
}

test_that("joins by several keys are those of text", {
  withr::local_seed(71)
  for (round in 1:60) {
    kinds <- sample(names(key_of), sample.int(3L, 1L))
    n <- sample(c(0L, 1L, 8L, 30L), 2L, TRUE)
    values <- lapply(n, function(n) lapply(kinds, function(kind) sample.int(5L, n, TRUE)))
    frames <- lapply(1:2, function(side) {
      columns <- Map(function(v, kind) key_of[[kind]](v), values[[side]], kinds)
      names(columns) <- paste0("k", seq_along(kinds))
      list2DF(c(columns, list(v = seq_len(n[side]))))
    })
    texts <- lapply(values, function(v) {
      if (length(v[[1L]])) do.call(paste, Map(text_of, v, kinds)) else character()
    })
    pairs <- merge(
      data.frame(t = texts[[1L]], x = seq_len(n[1L])),
      data.frame(t = texts[[2L]], y = seq_len(n[2L]))
    )
    pairs <- pairs[order(pairs$x, pairs$y), ]
    by <- paste0("k", seq_along(kinds))
    rows <- function(how) nv_merge(frames[[1L]], frames[[2L]], by = by, how = how, as = "rows")
    label <- paste(c(n, kinds), collapse = " ")
    expect_identical(rows("inner"), list(x = pairs$x, y = pairs$y), label = label)
    alone <- setdiff(seq_len(n[1L]), pairs$x)
    expect_identical(rows("anti")$x, alone, label = label)
    expect_identical(rows("semi")$x, sort(unique(pairs$x)), label = label)
    want_x <- c(pairs$x, alone)
    want_y <- c(pairs$y, rep(NA, length(alone)))[order(want_x)]
    expect_identical(rows("left"), list(x = sort(want_x), y = want_y), label = label)
    rest <- setdiff(seq_len(n[2L]), pairs$y)
    full <- list(x = c(sort(want_x), rep(NA, length(rest))), y = c(want_y, rest))
    expect_identical(rows("full"), full, label = label)
    joined <- nv_merge(frames[[1L]], frames[[2L]], by = by, how = "full")
    expect_identical(joined$v.x, full$x, label = label)
    expect_identical(joined$v.y, full$y, label = label)
    keys <- ifelse(is.na(full$x), texts[[2L]][full$y], texts[[1L]][full$x])
    made <- Map(function(key, kind) {
      text <- as.character(key)
      paste0(kind, ifelse(is.na(text), "none", text))
    }, unclass(joined)[by], kinds)
    if (length(keys)) expect_identical(unname(do.call(paste, made)), unname(keys), label = label)
  }
})

test_that("keys of two types are compared by their values", {
  x <- data.frame(k = nv_tensor(c("9007199254740993", "5", "18446744073709551615"), "ui64"))
  y <- data.frame(k = nv_tensor(c("9007199254740992", "9007199254740993", "5"), "i64"), v = 1:3)
  rows <- nv_merge(x, y, by = "k", how = "left", as = "rows")
  expect_identical(rows, list(x = 1:3, y = c(2L, 3L, NA)))
  expect_identical(nv_merge(x, data.frame(k = 5, v = 1), by = "k", how = "semi", as = "rows")$x, 2L)
})

test_that("rolling joins compare keys of two types exactly", {
  last <- function(x, y) {
    frames <- list(list2DF(list(k = x)), list2DF(list(k = y)))
    withCallingHandlers(
      nv_merge(frames[[1L]], frames[[2L]], by = "k", how = "rolling", as = "rows")$y,
      joist_rounding_warning = function(w) invokeRestart("muffleWarning")
    )
  }
  id <- nv_tensor(c("9007199254740993", "9007199254740992", NA, "-5"), "i64")
  expect_identical(last(id, 2^53 + c(0, 2)), c(1L, 1L, NA, NA))
  expect_identical(last(2^53 + c(2, 0, NA), id), c(1L, 2L, NA))
  expect_identical(last(nv_tensor(c(0.5, NaN, 9)), nv_tensor(c(1L, 0L, NA), "ui8")), c(2L, NA, 1L))
  expect_identical(last(nv_tensor(c(5L, 7L)), c(Inf, NaN, 5, -Inf)), c(3L, 3L))
  most <- nv_tensor("18446744073709551615", "ui64")
  expect_identical(last(most, nv_tensor(c("-1", "9223372036854775807"), "i64")), 2L)
  expect_identical(last(nv_tensor(c(-1L, 3L), "i64"), nv_tensor(c(3L, 0L), "ui64")), c(NA, 1L))
})

test_that("columns of more than one dimension keep all of their columns", {
  rows <- list(
    inner = list(2L, 2L), left = list(1:2, c(2L, NA)), full = list(c(1:2, NA), c(2L, NA, 1L))
  )
  taken <- function(column, at) {
    parts <- if (is.data.frame(column)) column else list(as.vector(column))
    unlist(lapply(parts, function(part) matrix(as.vector(part), 2)[at, ]), use.names = FALSE)
  }
  for (column in list(
    matrix(1:4, 2), nv_tensor(matrix(1:4, 2), "ui8"), array(1:8, c(2, 2, 2)),
    nv_tensor(array(1:8, c(2, 2, 2)), "i64"), data.frame(a = 1:2, b = nv_tensor(3:4))
  )) {
    x <- data.frame(k = 1:2)
    x$m <- column
    y <- data.frame(k = 2:3, z = 1:2)
    for (how in names(rows)) {
      both <- list(nv_merge(x, y, by = "k", how = how)$m, nv_merge(y, x, by = "k", how = how)$m)
      for (k in 1:2) {
        at <- rows[[how]][[k]]
        expect_identical(class(both[[k]]), class(column))
        expect_identical(dim(both[[k]]), c(length(at), dim(column)[-1L]))
        made <- unlist(lapply(both[[k]], as.vector), use.names = FALSE)
        expect_equal(made, taken(column, at))
      }
    }
  }
})

test_that("rolling joins carry the last observation forward", {
  withr::local_seed(72)
  for (round in 1:20) {
    n <- c(40L, sample(c(0L, 25L), 1L))
    sides <- lapply(n, function(n) {
      list2DF(list(
        g = nv_tensor(sample.int(3L, n, TRUE), "ui64"),
        t = nv_tensor(sample(c(NA, 1:20), n, TRUE), "i64"), v = runif(n)
      ))
    })
    rows <- nv_merge(sides[[1L]], sides[[2L]], by = c("g", "t"), how = "rolling", as = "rows")
    plain <- lapply(sides, function(side) lapply(side, as.vector))
    want <- vapply(seq_len(n[1L]), function(k) {
      at <- plain[[1L]]$t[k]
      rows <- which(plain[[2L]]$g == plain[[1L]]$g[k] & plain[[2L]]$t <= at)
      if (length(rows)) rows[order(plain[[2L]]$t[rows])][length(rows)] else NA_integer_
    }, 0L)
    expect_identical(rows$y, want)
    joined <- nv_merge(sides[[1L]], sides[[2L]], by = c("g", "t"), how = "rolling")
    expect_identical(joined$v.y, sides[[2L]]$v[want])
  }
  days <- as.Date("2026-01-01") + c(0, 10)
  rows <- nv_merge(
    data.frame(d = days[2] + 5), data.frame(d = days), by = "d", how = "rolling", as = "rows"
  )
  expect_identical(rows$y, 2L)
})

test_that("what is no join is refused", {
  a <- data.frame(k = 1:2)
  expect_refusal(nv_merge(a, a, by = "k", how = "outer"), "joist_value_error", "`how`")
  expect_refusal(nv_merge(a, a, by = "z", how = "left"), "joist_value_error", "`by`")
  expect_refusal(nv_merge(a, a, by = "k", how = "left", as = "x"), "joist_value_error", "`as`")
})

test_that("keys of two classes are compared by their values, in either order", {
  both <- function(x, y, how) {
    frames <- list(list2DF(list(k = x)), list2DF(list(k = y)))
    list(
      nv_merge(frames[[1L]], frames[[2L]], by = "k", how = how)$k,
      nv_merge(frames[[2L]], frames[[1L]], by = "k", how = how)$k
    )
  }
  f <- factor(c("b", "7"))
  expect_identical(both(f, c("7", "c"), "full"), list(c("b", "7", "c"), c("7", "c", "b")))
  expect_identical(both(f, c(7, 9), "full"), list(c("b", "7", "9"), c("7", "9", "b")))
  expect_identical(both(f, factor("a"), "full")[[1L]], factor(c("b", "7", "a"), c("7", "b", "a")))
  day <- as.Date("2020-01-02")
  noon <- as.POSIXct("2020-01-02 12:00", tz = "UTC")
  for (how in c("inner", "semi", "rolling")) expect_length(both(day, noon - 43200, how)[[1L]], 1L)
  expect_identical(lengths(both(day, noon, "inner")), c(0L, 0L))
  expect_identical(both(day, noon, "full"), list(noon - c(43200, 0), noon - c(0, 43200)))
  expect_identical(both(day, "x", "full"), list(c("2020-01-02", "x"), c("x", "2020-01-02")))
  expect_identical(both(day, NA, "full")[[1L]], c(day, NA))
  for (other in list(5, 5L, as.difftime(5, units = "days"), nv_tensor(5L))) {
    expect_refusal(both(day, other, "inner"), "joist_value_error", "Date")
  }
  long <- as_array(nv_tensor(c(5L, 7L), "i64"), "integer64")
  expect_identical(both(long, c(5, 6), "inner"), list(long[1L], 5))
  expect_identical(as.character(both(long, c(6, 5, NA), "full")[[2L]]), c("6", "5", NA, "7"))
  negative <- data.frame(k = 1:3)
  negative$k <- as_array(nv_tensor(c(-5L, 0L, 7L), "i64"), "integer64")
  for (other in list(as_array(nv_tensor(c(-6L, 1L), "i64"), "integer64"), c(-6, 1))) {
    before <- data.frame(v = c("a", "b"))
    before$k <- other
    expect_identical(nv_merge(negative, before, how = "rolling")$v, c("a", "a", "b"))
  }
  expect_identical(both(long, 7.5, "full"), list(c(5, 7, 7.5), c(7.5, 5, 7)))
  expect_identical(both(long, c("5", "x"), "full")[[1L]], c("5", "7", "x"))
  named <- nv_merge(data.frame(k = 1:2, v = 3:4), data.frame(k = 7:8, l = 1:2),
    by.x = "k", by.y = "l", how = "inner"
  )
  expect_named(named, c("k", "v", "k.y"))
})

test_that("several columns of one name are told of, as by merge()", {
  x <- data.frame(k = 1:2, v = 1:2, v.x = 3:4)
  expect_warning(
    joined <- nv_merge(x, data.frame(k = 1:2, v = 5:6), by = "k", how = "inner"), "\"v.x\"",
    fixed = TRUE
  )
  expect_named(joined, names(suppressWarnings(merge(x, data.frame(k = 1:2, v = 5:6), by = "k"))))
})
