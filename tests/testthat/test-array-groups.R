# Groups beside base R's on text keys, which are exact.

key_makers <- list(
  i64 = function(n) nv_tensor(paste0("90071992547409", 90:99)[sample.int(10, n, TRUE)], "i64"),
  ui64 = function(n) {
    nv_tensor(paste0("184467440737095516", c("00", "14", "15"))[sample.int(3, n, TRUE)], "ui64")
  },
  i8 = function(n) nv_tensor(sample(-128:127, n, TRUE), "i8"),
  i32 = function(n) nv_tensor(sample.int(2^31 - 1, 5)[sample.int(5, n, TRUE)], "i32"),
  bool = function(n) nv_tensor(sample(c(TRUE, FALSE), n, TRUE)),
  f16 = function(n) nv_tensor(sample(c(-1, 0, 0.5, Inf), n, TRUE), "f16"),
  f64 = function(n) nv_tensor(sample(c(pi, 1e300, -1e-300, NaN), n, TRUE), "f64"),
  wide = function(n) nv_tensor(runif(n %/% 2 + 1)[sample.int(n %/% 2 + 1, n, TRUE)], "f64"),
  c128 = function(n) nv_tensor(complex(real = sample(3, n, TRUE), imaginary = sample(2, n, TRUE))),
  masked = function(n) nv_tensor(sample(c(NA, 1:3), n, TRUE), "ui16"),
  text = function(n) sample(c("a", "b", NA, ""), n, TRUE),
  factor = function(n) factor(sample(c("u", "v", NA), n, TRUE)),
  date = function(n) as.Date("2026-01-01") + sample(0:3, n, TRUE),
  double = function(n) sample(c(1.5, -0, 0, NA, NaN), n, TRUE),
  flag = function(n) sample(c(NA, TRUE, FALSE), n, TRUE)
)

# Equal where elements are; -0 is 0.
as_text <- function(key) {
  text <- as.character(key)
  if (is.double(key)) text[!is.na(key) & key == 0] <- "0"
  if (is.double(key)) text[is.nan(key)] <- "NaN"
  ifelse(is.na(text), "NA", paste0("=", text))
}

test_that("random groupings are those of text keys", {
  withr::local_seed(51)
  for (round in 1:400) {
    n <- sample(c(0L, 1L, 2L, 10L, 100L, 3000L), 1L)
    kinds <- sample(names(key_makers), sample.int(4L, 1L), TRUE)
    keys <- lapply(kinds, function(kind) key_makers[[kind]](n))
    text <- do.call(paste, c(lapply(keys, as_text), sep = "\r"))
    if (n == 0L) text <- character()
    found <- nv_group(keys)
    label <- paste(c(n, kinds), collapse = " ")
    expect_identical(as.vector(found$ids), match(text, unique(text)), label = label)
    expect_identical(as.vector(found$first), which(!duplicated(text)), label = label)
    expect_identical(found$count, length(unique(text)), label = label)
    expect_identical(found$sizes, tabulate(match(text, unique(text)), found$count), label = label)
    for (k in seq_along(keys)) {
      expect_identical(found$keys[[k]], keys[[k]][!duplicated(text)], label = label)
    }
  }
})

test_that("many groups are found by tables, by hashes and from several keys", {
  withr::local_seed(52)
  n <- 2e5
  for (count in c(3, 900, 5000, 1e5)) {
    k <- sample.int(count, n, TRUE)
    want <- match(k, unique(k))
    far <- nv_tensor(k, "i64") * nv_tensor("1000003000000", "i64")
    all <- list(
      nv_tensor(k, "i32"), far, list(far, nv_tensor(k %% 7, "i8")), list(far, far, far)
    )
    for (keys in all) {
      expect_identical(as.vector(nv_group(keys)$ids), want)
      old <- nv_set_threads(1)
      expect_identical(as.vector(nv_group(keys)$ids), want)
      nv_set_threads(old)
    }
  }
})

test_that("groups are sorted by their keys, and missing keys left out", {
  g <- nv_group(nv_tensor(c("9007199254740993", NA, "9007199254740992"), "i64"), sort = TRUE)
  expect_identical(as.character(g$keys), c("9007199254740992", "9007199254740993", NA))
  expect_identical(as.vector(g$ids), c(2L, 3L, 1L))
  for (type in c("bool", "i8", "i32", "ui64", "f16", "f64")) {
    keys <- nv_tensor(if (type == "bool") c(NA, TRUE, FALSE, NA, TRUE) else c(3, NA, 1, 3, 0), type)
    if (startsWith(type, "f")) keys <- c(keys, nv_tensor(c(NaN, -1), type))
    g <- nv_group(keys, sort = TRUE)
    first <- as.vector(nv_group(keys)$first)
    expect_identical(as.vector(g$first), first[order(as.vector(keys)[first])], label = type)
    expect_identical(g$sizes, tabulate(as.vector(g$ids), g$count))
  }
  df <- data.frame(a = c("b", "a", "b", NA), b = c(2, 1, 1, 1))
  g <- nv_group(df, sort = TRUE, na = "drop")
  expect_identical(g$keys, data.frame(a = c("a", "b", "b"), b = c(1, 1, 2)))
  expect_identical(as.vector(g$ids), c(3L, 1L, 2L, NA))
  expect_identical(g$sizes, c(1L, 1L, 1L))
  expect_output(print(g), "<groups: 3 groups of 4 rows>")
  expect_refusal(nv_group(list(1:2, 1:3)), "joist_shape_error", "2 and 3 rows")
  expect_refusal(nv_group(list()), "joist_value_error", "`keys`")
  expect_refusal(nv_group(1, na = "keep"), "joist_value_error", "`na`")
})

# What base R computes of each group, a list of values of `f`.
by_group <- function(x, ids, count, f) {
  vapply(seq_len(count), function(k) as.numeric(f(x[!is.na(ids) & ids == k])), 0)
}

functions_of_groups <- list(
  sum = list(nv_segment_sum, sum), prod = list(nv_segment_prod, prod),
  mean = list(nv_segment_mean, mean), var = list(nv_segment_var, var),
  sd = list(nv_segment_sd, sd), median = list(nv_segment_median, median),
  max = list(nv_segment_max, function(x) if (length(x)) max(x) else NA),
  min = list(nv_segment_min, function(x) if (length(x)) min(x) else NA),
  first = list(nv_segment_first, function(x) x[1L]),
  last = list(nv_segment_last, function(x) x[max(length(x), 1L)]),
  count = list(nv_segment_count, length),
  n_distinct = list(nv_segment_n_distinct, function(x) length(unique(x))),
  any = list(nv_segment_any, function(x) any(x != 0)),
  all = list(nv_segment_all, function(x) all(x != 0)),
  mode = list(nv_segment_mode, function(x) {
    u <- unique(x)
    if (length(u)) u[which.max(tabulate(match(x, u)))] else NA
  })
)

test_that("functions of groups compute what base R computes of each", {
  withr::local_seed(53)
  for (name in names(functions_of_groups)) {
    pair <- functions_of_groups[[name]]
    for (d in c("f64", "f32", "i32", "ui8", "f16")) {
      n <- 200L
      v <- sample.int(3, n, TRUE)
      ids <- sample.int(60L, n, TRUE)
      count <- 61L # the last one has no element
      x <- nv_tensor(v, d)
      want <- by_group(v, ids, count, pair[[2L]])
      if (name %in% c("mean", "var", "sd")) want[is.nan(want)] <- NA
      tolerance <- if (d == "f16") 2e-3 else if (d == "f64") 1e-14 else 1e-6
      got <- as.numeric(as.vector(pair[[1L]](x, ids, count)))
      got[is.nan(got)] <- NA
      expect_equal(got, want, tolerance = tolerance, label = paste(name, d))
      g <- nv_group(ids)
      of_group <- as.numeric(as.vector(pair[[1L]](x, g)))
      expect_equal(of_group, want[g$keys], tolerance = tolerance, label = paste(name, d, "groups"))
      twice <- pair[[1L]](nv_tensor(cbind(v, rev(v)), d), ids, count)
      expect_identical(shape(twice), c(count, 2L), label = paste(name, d, "matrix"))
      second <- as.numeric(as.vector(pair[[1L]](nv_tensor(rev(v), d), ids, count)))
      expect_identical(as.numeric(as.vector(twice[, 2])), second, label = paste(name, d, "matrix"))
    }
  }
})

test_that("missing values are kept or left out, and rows without a group are left out", {
  withr::local_seed(54)
  for (name in names(functions_of_groups)) {
    pair <- functions_of_groups[[name]]
    v <- sample(c(NA, 1:3), 100L, TRUE)
    ids <- sample(c(NA, 1:20), 100L, TRUE)
    g <- nv_group(ids, sort = TRUE, na = "drop")
    for (d in c("f64", "i32")) {
      x <- nv_tensor(v, d)
      got <- as.numeric(as.vector(pair[[1L]](x, g, na_rm = TRUE)))
      got[is.nan(got)] <- NA
      want <- by_group(v, match(ids, g$keys), g$count, function(y) pair[[2L]](y[!is.na(y)]))
      if (name %in% c("mean", "var", "sd")) want[is.nan(want)] <- NA
      expect_equal(got, want, tolerance = if (d == "f64") 1e-14 else 1e-6, label = paste(name, d))
      if (name %in% c("sum", "mean", "max", "min", "median", "var", "prod")) {
        kept <- as.vector(is.na(pair[[1L]](x, g)))
        holes <- by_group(v, match(ids, g$keys), g$count, anyNA) > 0
        expect_true(all(kept[holes]), label = paste(name, d, "missing"))
      }
    }
  }
})

test_that("means and variances of 64-bit integers are exact before they are rounded", {
  ids <- c(1L, 1L, 1L, 2L)
  x <- nv_tensor(c("9223372036854775001", "9223372036854775101", "9223372036854775201", "7"), "i64")
  expect_identical(as.vector(nv_segment_sd(x, ids, 2))[1L], 100)
  expect_identical(as.character(nv_segment_max(x, ids, 2))[1L], "9223372036854775201")
})

test_that("functions of groups have derivatives and run compiled", {
  x <- nv_tensor(c(1, 5, 2, 5, 0, 3), "f64")
  ids <- c(1L, 2L, 1L, 2L, 3L, 3L)
  for (f in list(
    nv_segment_sum, nv_segment_mean, nv_segment_var, nv_segment_max, nv_segment_min, nv_segment_prod
  )) {
    plain <- f(x, ids, 3)
    expect_identical(jit(function(x) f(x, ids, 3))(x), plain)
    expect_identical(jit(function(x, i) f(x, i, 3))(x, nv_tensor(ids, "i32")), plain)
    slope <- gradient(function(x) sum(f(x, ids, 3) * c(1, 2, 3)))(x)
    step <- 1e-6
    for (k in c(1, 3, 6)) {
      moved <- function(by) {
        y <- as.vector(x)
        y[k] <- y[k] + by
        sum(as.vector(f(nv_tensor(y, "f64"), ids, 3)) * c(1, 2, 3))
      }
      want <- (moved(step) - moved(-step)) / (2 * step)
      expect_equal(as.vector(slope[[1L]])[k], want, tolerance = 1e-5)
    }
  }
  # Equal extremes share the gradient; a product with one zero has the product of the others.
  slopes <- function(f) as.vector(gradient(function(x) sum(f(x, ids, 3)))(x)[[1L]])
  expect_identical(slopes(nv_segment_max)[c(2, 4)], c(0.5, 0.5))
  expect_identical(slopes(nv_segment_prod)[5:6], c(3, 0))
})

test_that("quantiles of groups are those of base R", {
  withr::local_seed(55)
  x <- runif(100)
  ids <- sample.int(7, 100, TRUE)
  got <- as_array(nv_segment_quantile(nv_tensor(x, "f64"), ids, 7, c(0, 0.1, 0.5, 1)))
  of_group <- function(k) quantile(x[ids == k], c(0, 0.1, 0.5, 1), names = FALSE)
  want <- t(vapply(1:7, of_group, numeric(4)))
  expect_equal(got, want)
  # Neither overflows between the greatest numbers nor is NaN between equal infinite ones.
  x <- c(-1.7e308, 1.7e308, Inf, Inf, 1.6e308, Inf)
  ids <- c(1L, 1L, 2L, 2L, 3L, 3L)
  expect_identical(as_array(nv_segment_median(nv_tensor(x, "f64"), ids, 3)), c(0, Inf, Inf))
  got <- as_array(nv_segment_quantile(nv_tensor(x, "f64"), ids, 3, c(0, 0.25, 1)))
  expect_equal(got, rbind(c(-1.7e308, -0.85e308, 1.7e308), Inf, c(1.6e308, Inf, Inf)))
})

test_that("rowsum() takes many groups", {
  withr::local_seed(56)
  group <- sample.int(5000L, 20000L, TRUE)
  x <- matrix(runif(40000), ncol = 2, dimnames = list(NULL, c("a", "b")))
  expect_equal(as_array(rowsum(nv_tensor(x, "f64"), group)), rowsum(x, group))
  expect_equal(as_array(rowsum(nv_tensor(x, "f64"), group, FALSE)), rowsum(x, group, FALSE))
})

test_that("integer64 keys are ordered as the numbers they are", {
  key <- as_array(nv_tensor(c("5", "-3", NA, "9007199254740993", "-3"), "i64"), "integer64")
  for (g in list(nv_group(key, sort = TRUE), nv_group(list(key), sort = TRUE))) {
    found <- if (is.data.frame(g$keys)) g$keys[[1L]] else g$keys
    expect_s3_class(found, "integer64")
    expect_identical(as.character(found), c("-3", "5", "9007199254740993", NA))
    expect_identical(as.vector(g$ids), c(2L, 1L, 4L, 3L, 1L))
  }
  expect_identical(as.vector(nv_group(key, na = "drop")$ids), c(1L, 2L, NA, 3L, 2L))
})

test_that("flags by group are missing only where a missing flag decides, as any() and all()", {
  flags <- c(NA, TRUE, NA, FALSE, TRUE, FALSE, NA)
  ids <- c(1, 1, 2, 2, 3, 3, 4)
  for (na_rm in c(FALSE, TRUE)) {
    base <- function(f) unname(vapply(split(flags, ids), f, NA, na.rm = na_rm))
    for (run in list(function(f, x) f(x, ids, 4, na_rm), function(f, x) {
      jit(function(x) f(x, ids, 4, na_rm))(x)
    })) {
      expect_identical(as.vector(run(nv_segment_any, nv_tensor(flags))), base(any))
      expect_identical(as.vector(run(nv_segment_all, nv_tensor(flags))), base(all))
    }
  }
})

test_that("numbers of groups are checked where only their order counts, too", {
  x <- nv_tensor(1:3)
  for (f in list(nv_segment_rank, nv_segment_cumsum, nv_segment_cummax, nv_segment_n_distinct)) {
    expect_refusal(f(x, c(1L, NA, 1L), 1), "joist_value_error", "missing")
    expect_refusal(f(x, c(1L, 7L, 1L), 1), "joist_shape_error", "index 7")
    expect_refusal(f(x, c(1L, 1L, 1L)), "joist_value_error", "`count` is needed")
  }
  ranked <- jit(function(x, i) nv_segment_rank(x, i, 1))
  expect_refusal(ranked(x, nv_tensor(c(1L, 7L, 1L))), "joist_shape_error", "index 7")
})

test_that("calendar times and raw vectors are keys, in their order", {
  times <- as.POSIXlt(c("2024-01-01", "2023-01-02"), tz = "UTC")
  found <- nv_group(times, sort = TRUE)
  expect_identical(as.vector(found$ids), 2:1)
  expect_identical(found$keys, as.POSIXct(rev(times)))
  expect_identical(as.vector(nv_group(list(times, 1:2), sort = TRUE)$ids), 2:1)
  expect_identical(nv_group(as.raw(c(2, 1, 2)), sort = TRUE)$keys, as.raw(1:2))
})

test_that("groups without a variance add nothing to the derivatives of others", {
  x <- nv_tensor(c(0.7, -1.3, 2.2, 0.4), "f64")
  ids <- c(1, 1, 1, 2)
  v <- as.vector(x)[1:3]
  slopes <- (v - mean(v)) # of half the variance
  of_var <- gradient(function(x) nv_segment_var(x, ids, 3)[1])(x)$x
  expect_equal(as.vector(of_var), c(slopes, 0), tolerance = 1e-14)
  of_sd <- gradient(function(x) sum(nv_segment_sd(x, ids, 3), na.rm = TRUE))(x)$x
  expect_equal(as.vector(of_sd), c(slopes / (2 * sd(v)), 0), tolerance = 1e-14)
  expect_identical(as.vector(nv_segment_var(x, ids, 3))[2:3], c(NaN, NaN))
})
