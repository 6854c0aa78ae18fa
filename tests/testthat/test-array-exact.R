# Statistics of integers beside fractions of Python (tests/numpy/integer_statistics.py), under rules
# that give doubles.

cases <- utils::read.delim(test_path("saved", "integer_statistics.tsv"), colClasses = "character")

column_of <- function(text, dtype) {
  values <- strsplit(text, " ", fixed = TRUE)[[1L]]
  nv_tensor(if (dtype == "i32") as.numeric(values) else values, dtype)
}

statistics <- list(
  mean = function(x, y) nv_mean(x),
  median = function(x, y) nv_median(x),
  quantile = function(x, y) nv_flatten(nv_quantile(x, 0.375)),
  var = function(x, y) nv_var(x),
  sd = function(x, y) nv_sd(x),
  cov = function(x, y) nv_cov(x, y),
  cor = function(x, y) nv_cor(x, y)
)

expect_exact <- function(f, name) {
  wrong <- character()
  for (k in seq_len(nrow(cases))) {
    case <- cases[k, ]
    got <- expect_silent(f(column_of(case$x, case$dtype), column_of(case$y, case$dtype)))
    want <- as.numeric(case[[name]])
    if (!identical(as.vector(got) + 0, want + 0)) wrong <- c(wrong, paste(k, case$dtype))
  }
  expect_identical(wrong, character(), label = name)
}

test_that("statistics of integers are rounded once", {
  local_promotion("numpy", on = c(loss = "error"))
  for (name in names(statistics)) expect_exact(statistics[[name]], name)
})

test_that("means are so without missing values, too, and where losses are allowed", {
  gaps <- function(x) x[c(NA, seq_len(length(x)), NA)]
  remaining <- list(mean = function(x, y) nv_mean(gaps(x), na_rm = TRUE))
  several <- list(mean = function(x, y) {
    x <- gaps(x)
    mean(c(x, x), na.rm = TRUE)
  })
  for (loss in c("error", "ok")) {
    local_promotion("numpy", on = c(loss = loss))
    expect_exact(statistics$mean, "mean")
    expect_exact(remaining$mean, "mean")
    expect_exact(several$mean, "mean")
  }
  none <- nv_tensor(c(NA_character_, NA_character_), "i64")
  expect_identical(as.vector(mean(none, na.rm = TRUE)), NaN)
  m <- nv_tensor(matrix(c("9007199254740993", NA, "9007199254740995", "1", NA, NA), 2), "i64")
  expect_identical(as.vector(nv_mean(m, 2, na_rm = TRUE)), c(9007199254740994, 1))
  expect_identical(
    as.vector(nv_mean(m, 1, na_rm = TRUE)), c(9007199254740992, 4503599627370498, NaN)
  )
})

test_that("compiled ones, too", {
  local_promotion("numpy", on = c(loss = "error"))
  for (name in c("mean", "quantile", "sd", "cor")) expect_exact(jit(statistics[[name]]), name)
})

test_that("of rows and columns, without missing values, and of pairs that are observed", {
  local_promotion("numpy")
  taken <- which(cases$dtype == "i64" & lengths(strsplit(cases$x, " ")) == 3L)[1:4]
  columns <- lapply(taken, function(k) column_of(cases$x[k], "i64"))
  m <- do.call(cbind, columns)
  want <- as.numeric(cases$var[taken])
  expect_identical(as.vector(nv_var(m, 1)), want)
  expect_identical(as.vector(nv_sd(nv_transpose(m), 2)), as.numeric(cases$sd[taken]))
  expect_identical(diag(as_array(cov(m))), want)
  expect_true(isSymmetric(as_array(cor(m))))
  expect_identical(diag(as_array(cor(m))), rep(1, 4))
  expect_identical(as.vector(nv_mean(m, 1)), as.numeric(cases$mean[taken]))
  expect_identical(as.vector(nv_mean(nv_transpose(m), 2)), as.numeric(cases$mean[taken]))
  # Rows of missing values between those that are not.
  gaps <- m[c(NA, 1, NA, 2, 3), ]
  expect_identical(as.vector(nv_var(gaps, 1, na_rm = TRUE)), want)
  for (use in c("complete.obs", "pairwise.complete.obs")) {
    expect_identical(as_array(cov(gaps, use = use)), as_array(cov(m)))
    expect_identical(as_array(cor(gaps, use = use)), as_array(cor(m)))
  }
  expect_true(all(is.na(as_array(cov(gaps)))))
  # Of each pair of columns those rows that both have.
  apart <- m
  apart[1, 1] <- NA
  pairs <- as_array(cov(apart, use = "pairwise.complete.obs"))
  expect_identical(pairs[2:4, 2:4], as_array(cov(m))[2:4, 2:4])
  expect_identical(pairs[1, ], as.vector(cov(m[2:3, 1], m[2:3, ])))
})

test_that("no spread, one element and no degrees of freedom", {
  local_promotion("numpy")
  same <- nv_tensor(rep("9223372036854775807", 3), "i64")
  expect_identical(as.vector(nv_var(same)), 0)
  expect_identical(as.vector(nv_sd(same)), 0)
  expect_identical(as.vector(nv_cor(same, nv_tensor(c("1", "2", "4"), "i64"))), NaN)
  expect_identical(as.vector(nv_var(same[1])), NaN)
  expect_identical(as.vector(nv_var(same[1], correction = 0)), 0)
  far <- nv_tensor(c("-9223372036854775808", "9223372036854775807"), "i64")
  expect_identical(as.vector(nv_var(far, correction = 2)), Inf)
  expect_identical(as.vector(nv_sd(far, correction = 3)), Inf)
  expect_identical(as.vector(nv_cov(far, far, correction = 2)), Inf)
  expect_identical(as.vector(mean(far)), -0.5)
})

test_that("sums of many elements that the accumulator would round", {
  local_promotion("numpy", on = c(loss = "error"))
  half <- c("4503599627370497", "4503599627370499", "-4503599627370496", "-4503599627370498")
  x <- nv_tensor(rep(half, 300), "i64")
  expect_identical(as.vector(mean(x)), 0.5)
  expect_identical(as.vector(jit(nv_mean)(nv_reshape(x, c(4, 300)))), 0.5)
  expect_equal(as.vector(nv_var(x)), {
    # Distances from the mean, which are in halves, are doubles.
    distance <- c(4503599627370496.5, 4503599627370498.5, -4503599627370496.5, -4503599627370498.5)
    300 * sum(distance[c(1, 3)]^2 + distance[c(2, 4)]^2) / 1199
  }, tolerance = 4e-16)
})

test_that("covariances of 64-bit integers with doubles are rounded once", {
  mixed <- utils::read.delim(
    test_path("saved", "integer_double_moments.tsv"),
    colClasses = "character"
  )
  local_promotion("numpy", on = c(loss = "error"))
  of_both <- list(cov = nv_cov, cor = nv_cor)
  for (k in seq_len(nrow(mixed))) {
    x <- column_of(mixed$x[k], mixed$dtype[k])
    numbers <- as.numeric(strsplit(mixed$y[k], " ", fixed = TRUE)[[1L]])
    y <- nv_tensor(numbers, "f64")
    for (name in names(of_both)) {
      f <- of_both[[name]]
      want <- as.numeric(mixed[[name]][k])
      for (got in list(f(x, y), f(y, x), f(x, numbers), jit(f)(x, y))) {
        expect_identical(as.vector(got), want, label = paste(name, k))
      }
      if (k > 3L) next
      both <- as_array(f(nv_reshape(x, c(length(x), 1L)), cbind(y, y)))
      expect_identical(as.vector(both), c(want, want))
      gaps <- match.fun(name)(x[c(seq_along(x), NA)], y[c(seq_along(y), 1)], use = "complete.obs")
      expect_identical(as.vector(gaps), want)
    }
  }
})

# Columns of the cases of a dtype one after another, and the number of the case of each element.
in_groups <- function(dtype) {
  rows <- which(cases$dtype == dtype)
  parts <- strsplit(cases$x[rows], " ", fixed = TRUE)
  ids <- rep(seq_along(rows), lengths(parts))
  order <- withr::with_seed(1, sample(length(ids)))
  list(text = unlist(parts)[order], ids = ids[order], rows = rows)
}

test_that("statistics of 64-bit integers by group are rounded once, chunked ones, too", {
  local_promotion("numpy", on = c(loss = "error"))
  # Roots of rounded variances.
  by_group <- list(mean = nv_segment_mean, var = nv_segment_var)
  for (dtype in c("i64", "ui64")) {
    given <- in_groups(dtype)
    count <- length(given$rows)
    x <- nv_tensor(given$text, dtype)
    z <- nv_zarr_create(withr::local_tempdir(), dtype, length(x), chunks = 7L)
    z[] <- x
    gaps <- c(rbind(given$text, NA))
    for (name in names(by_group)) {
      f <- by_group[[name]]
      want <- as.numeric(cases[[name]][given$rows])
      expect_identical(as.vector(f(x, given$ids, count)) + 0, want + 0, label = paste(name, dtype))
      expect_identical(as.vector(f(z, given$ids, count)) + 0, want + 0, label = paste(name, dtype))
      removed <- f(nv_tensor(gaps, dtype), rep(given$ids, each = 2L), count, na_rm = TRUE)
      expect_identical(as.vector(removed) + 0, want + 0)
      rows <- f(nv_stack(x, x, dim = 1L), given$ids, count, dim = 2L)
      expect_identical(as.vector(rows[2, ]) + 0, want + 0)
    }
    median <- as.numeric(cases$median[given$rows])
    expect_identical(as.vector(nv_segment_median(x, given$ids, count)) + 0, median + 0)
    sd <- as.vector(nv_segment_sd(x, given$ids, count))
    exact <- as.numeric(cases$sd[given$rows])
    expect_lte(max(abs(sd - exact) / exact), .Machine$double.eps)
  }
})

test_that("statistics of chunked 64-bit integers are rounded once", {
  local_promotion("numpy", on = c(loss = "error"))
  of_all <- list(mean = nv_mean, var = nv_var, sd = nv_sd)
  for (k in which(cases$dtype %in% c("i64", "ui64"))[1:15]) {
    x <- column_of(cases$x[k], cases$dtype[k])
    z <- nv_zarr_create(withr::local_tempdir(), cases$dtype[k], length(x), chunks = 2L)
    z[] <- x
    for (name in names(of_all)) {
      got <- as.vector(nv_compute(of_all[[name]](z))) + 0
      expect_identical(got, as.numeric(cases[[name]][k]) + 0, label = paste(name, k))
    }
  }
  taken <- which(cases$dtype == "i64" & lengths(strsplit(cases$x, " ")) == 10L)
  columns <- lapply(taken, function(k) column_of(cases$x[k], "i64"))
  m <- do.call(cbind, columns)
  z <- nv_zarr_create(withr::local_tempdir(), "i64", dim(m), chunks = c(3L, 2L))
  z[] <- m
  for (name in names(of_all)) {
    want <- as.numeric(cases[[name]][taken]) + 0
    expect_identical(as.vector(nv_compute(of_all[[name]](z, 1))) + 0, want)
    expect_identical(as.vector(nv_compute(of_all[[name]](nv_transpose(z), 2L))) + 0, want)
    expect_identical(dim(nv_compute(of_all[[name]](z, 1L, drop = FALSE))), c(1L, length(taken)))
  }
  expect_identical(
    as_array(nv_compute(z - nv_reduce_min(z, 1L, drop = FALSE)), as = "character"),
    as_array(m - nv_reduce_min(m, 1L, drop = FALSE), as = "character")
  )
})

test_that("R numbers beside doubles are exact where they are points, breaks or factors", {
  day <- 1.7e9 + c(0, 3600, 7200)
  seen <- nv_tensor(1.7e9 + c(10, 100, 3590, 3610, 7190), "f64")
  counts <- function(...) as.vector(nv_histogram(...)$counts, "double")
  expect_identical(counts(seen, day), c(3, 2))
  expect_identical(counts(seen, 2, range = range(day)), c(3, 2))
  expect_identical(as_array(nv_histogram(seen, day)$breaks), day)
  expect_identical(counts(nv_tensor(c(16777217L, 16777216L)), c(16777216.5, 16777218)), 1)
  one <- nv_tensor(c(1, 1, 1), "f64")
  expect_identical(nv_trapz(one, x = 1.7e9 + c(0, 1800, 3600)), nv_scalar(3600, "f64"))
  at <- nv_scalar(1700001800, "f64")
  expect_identical(nv_interp(at, day[c(1, 3)], c(0, 1)), nv_scalar(0.25, "f64"))
  expect_identical(nv_interp(nv_scalar(0.5, "f64"), c(0, 1), c(0, 0.1)), nv_scalar(0.05, "f64"))
  expect_identical(
    as_array(nv_interp(nv_tensor(c(-1, 9), "f64"), c(0, 1), c(0, 1), left = 0.1, right = 0.7)),
    c(0.1, 0.7)
  )
  expect_identical(as_array(nv_kron(nv_tensor(matrix(1), "f64"), matrix(0.1))), matrix(0.1))
  expect_identical(as_array(nv_cross(nv_tensor(c(1, 0, 0), "f64"), c(0, 0.1, 0))), c(0, 0, 0.1))
  # The dtypes are those of f32 and R numbers.
  expect_identical(dtype(nv_interp(nv_tensor(0.5, "f32"), c(0, 1), c(0, 0.1))), as_dtype("f32"))
  expect_identical(dtype(nv_kron(nv_tensor(matrix(1)), matrix(0.1))), as_dtype("f32"))
})

test_that("differences and sums of neighbours fit where their dtype does not hold them", {
  x <- 1700000000L + c(0L, 1800L, 3600L)
  for (type in c("i32", "ui32", "i64", "ui64")) {
    area <- nv_trapz(nv_tensor(c(1, 1, 1)), nv_tensor(x, type))
    expect_identical(as_array(area), 3600, info = type)
  }
  expect_identical(as_array(nv_trapz(nv_tensor(c(60000, 60000), "f16"))), 60000)
  expect_identical(as_array(nv_interp(1.5, 1:2, nv_tensor(c(-60000, 60000), "f16"))), 0)
  expect_no_warning(made <- nv_interp(nv_tensor(1.5), 1:2, nv_tensor(c(200L, 100L), "ui8")))
  expect_identical(as_array(made), 150)
  for (type in c("i32", "ui32", "i64")) {
    x <- nv_tensor(c(1700000010L, 1700000011L), type)
    expect_equal(as_array(nv_softmax(x)), exp(0:1) / sum(exp(0:1)), tolerance = 1e-6, info = type)
  }
  x <- nv_tensor(c(1700000010L, 1700004001L))
  expect_identical(as_array(nv_log_softmax(x)), c(-3991, 0))
  mean_of <- function(x, type, weights, own) {
    as_array(nv_segment_mean(nv_tensor(x, type), c(1, 1), 1, weights = nv_tensor(weights, own)))
  }
  expect_no_warning({
    expect_identical(mean_of(c(1, 3), "f16", c(60000, 60000), "f16"), 2)
    expect_identical(mean_of(c(1, 3), "f32", c(200, 200), "ui8"), 2)
    expect_equal(mean_of(c(200, 100), "ui8", c(200, 100), "ui8"), 500 / 3, tolerance = 1e-6)
  })
})

test_that("positions, ranks and counts of R numbers are of the numbers themselves", {
  near <- c(16777217, 16777216)
  expect_identical(as_array(nv_argmin(near)), 2L)
  expect_identical(as_array(nv_argmax(rev(near))), 2L)
  expect_identical(as_array(nv_argmin(c(0.1 + 1e-10, 0.1))), 2L)
  for (sorted in list(nv_argsort(near), nv_lexsort(near))) expect_identical(as_array(sorted), 2:1)
  expect_identical(as_array(nv_segment_rank(near, c(1, 1), 1)), c(2, 1))
  expect_identical(as.vector(nv_segment_n_distinct(near, c(1, 1), 1), "double"), 2)
  expect_identical(as.vector(nv_unique(near, counts = TRUE)$counts, "double"), c(1, 1))
  expect_length(nv_unique(near), 2L)
  expect_length(nv_setdiff(near[1], near[2]), 1L)
  expect_length(nv_intersect(near[1], near[2]), 0L)
  expect_identical(nv_unique(c(3, 1, 3)), nv_tensor(c(3, 1), "f64", ambiguous = TRUE))
  bins <- nv_histogram(123456784 + c(5, 1), 123456784 + c(0, 3, 6))
  expect_identical(as.vector(bins$counts, "double"), c(1, 1))
})

test_that("sums of nv_einsum() wrap as products do, and tell of it", {
  wraps <- list(
    list("i->", c(200L, 100L), 44), list("ij->i", matrix(c(200L, 1L, 100L, 1L), 2), c(44, 2)),
    list("ij->", matrix(c(200L, 1L, 100L, 1L), 2), 46), list("ii->", diag(150L, 2L), 44)
  )
  for (case in wraps) {
    x <- nv_tensor(case[[2L]], "ui8")
    for (f in list(nv_einsum, jit(nv_einsum, static = "equation"))) {
      expect_warning(
        made <- with_promotion(NULL, f(case[[1L]], x), on = c(overflow = "warn")),
        class = "joist_overflow_warning"
      )
      expect_identical(as.vector(as_array(made)), as.integer(case[[3L]]))
    }
    on <- c(overflow = "error")
    expect_error(
      with_promotion(NULL, nv_einsum(case[[1L]], x), on = on), class = "joist_overflow_error"
    )
  }
  x <- nv_tensor(c(200L, 100L), "ui8")
  on <- c(overflow = "saturate")
  expect_identical(as_array(with_promotion(NULL, nv_einsum("i->", x), on = on)), 255L)
  expect_warning(
    with_promotion(NULL, nv_einsum("i->", nv_tensor(c(TRUE, TRUE))), on = c(overflow = "warn")),
    class = "joist_overflow_warning"
  )
  expect_identical(as_array(nv_einsum("i->", nv_tensor(c(TRUE, FALSE)))), TRUE)
})
