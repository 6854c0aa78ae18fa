# Windows beside loops of R, and values of JAX and NumPy.

# What f() makes of each window, padded by `none`.
by_window <- function(x, window, f, stride, low, high, dilation, none) {
  rank <- length(dim(x))
  padded <- array(none, dim(x) + low + high)
  inner <- lapply(seq_len(rank), function(d) low[d] + seq_len(dim(x)[d]))
  padded <- do.call(`[<-`, c(list(padded), inner, list(value = x)))
  made <- (dim(padded) - (window - 1) * dilation - 1) %/% stride + 1
  places <- as.matrix(expand.grid(lapply(made, seq_len)))
  array(apply(places, 1L, function(p) {
    at <- lapply(seq_len(rank), function(d) {
      (p[d] - 1) * stride[d] + 1 + (seq_len(window[d]) - 1) * dilation[d]
    })
    f(do.call(`[`, c(list(padded), at)))
  }), made)
}

test_that("windows are reduced as by loops, for every function and dtype", {
  set.seed(1)
  for (k in 1:40) {
    rank <- sample.int(3L, 1L)
    each <- function(most) sample.int(most, rank, TRUE)
    window <- each(if (rank == 1L) 20L else 4L)
    dilation <- each(2L)
    low <- each(3L) - 1
    high <- each(3L) - 1
    stride <- if (k %% 3 == 0) window else each(3L)
    x <- array(0, pmax(each(if (rank == 1L) 60L else 7L), (window - 1) * dilation + 1))
    x[] <- sample(0:9, length(x), TRUE)
    d <- sample(c("f16", "f32", "f64", "i8", "ui8", "i32"), 1L)
    padding <- Map(c, low, high)
    for (fun in c("max", "min", "sum", "mean")) {
      none <- switch(fun, max = -Inf, min = Inf, 0)
      want <- by_window(x, window, match.fun(fun), stride, low, high, dilation, none)
      real <- by_window(x * 0 + 1, window, sum, stride, low, high, dilation, 0)
      got <- nv_reduce_window(nv_tensor(x, d), window, fun, stride, padding, dilation)
      same <- if (fun %in% c("max", "min")) dtype(got) == d else TRUE
      expect_true(same)
      found <- as_array(nv_convert(got, "f64"))
      inside <- if (fun %in% c("max", "min")) real > 0 else TRUE
      tolerance <- if (d == "f16") 1e-3 else 1e-6
      expect_equal(as.vector(found)[inside], as.vector(want)[inside], tolerance = tolerance)
      expect_identical(shape(got), as.integer(dim(want)))
    }
  }
})

test_that("padding is neutral, and counted in means if asked for", {
  x <- nv_tensor(matrix(c(-1, -5, -2, -4), 2), "f64")
  expect_identical(as.vector(nv_reduce_window(x, 3, padding = 1)), rep(-1, 4))
  expect_identical(as.vector(nv_reduce_window(x, 3, "sum", padding = "same")), rep(-12, 4))
  expect_identical(as.vector(nv_reduce_window(x, 3, "mean", padding = 1)), rep(-12 / 9, 4))
  own <- nv_reduce_window(x, 3, "mean", padding = 1, count_padding = FALSE)
  expect_identical(as.vector(own), rep(-3, 4))
  far <- nv_reduce_window(nv_tensor(1:2, "f32"), 1, padding = 1)
  expect_identical(as.vector(far), c(-Inf, 1, 2, -Inf))
  i <- nv_reduce_window(nv_tensor(1:2, "i16"), 1, "min", padding = 1)
  expect_identical(as.vector(i), c(32767L, 1L, 2L, 32767L))
  expect_identical(as.vector(nv_reduce_window(nv_tensor(c(FALSE, TRUE, FALSE, FALSE)), 2)),
    c(TRUE, TRUE, FALSE))
})

test_that("pools are those of images in batches", {
  x <- array(as.double(1:96), c(2, 3, 4, 4))
  got <- nv_max_pool(nv_tensor(x, "f32"), 2)
  expect_identical(shape(got), c(2L, 3L, 2L, 2L))
  expect_equal(as_array(got), x[, , c(2, 4), c(2, 4)])
  mean <- nv_avg_pool(nv_tensor(x, "f32"), c(2, 4))
  expect_equal(as_array(mean)[2, 3, , 1], c(mean(x[2, 3, 1:2, ]), mean(x[2, 3, 3:4, ])))
  over <- nv_max_pool(nv_tensor(x, "f32"), 3, stride = 2, padding = 1)
  expect_identical(shape(over), c(2L, 3L, 2L, 2L))
  expect_error(nv_max_pool(1:3, 2), class = "joist_shape_error")
})

test_that("unfolded windows are slices", {
  m <- nv_tensor(matrix(1:12, 3), "i16")
  got <- as_array(nv_unfold(m, 2, stride = 2, dim = 2))
  expect_identical(got[, 1, ], matrix(1:6, 3))
  expect_identical(got[, 2, ], matrix(7:12, 3))
  expect_identical(dim(as_array(nv_unfold(m, 2, dim = 1))), c(2L, 4L, 2L))
  expect_identical(as.vector(nv_unfold(1:5, 2, dilation = 3)[2, ]), c(2L, 5L))
})

test_that("missing values, derivatives, slices and compiled functions are those of elements", {
  x <- nv_tensor(c(1, NA, 3, 4, 5), "f64")
  expect_identical(as.vector(nv_reduce_window(x, 2)), c(NA, NA, 4, 5))
  y <- nv_tensor(c(3, 1, 4, 1.5, 5, 9, 2), "f64")
  for (fun in c("max", "min", "sum", "mean")) {
    for (k in 2:5) {
      weights <- nv_tensor(seq_len(10 - k), "f64")
      f <- function(x) sum(nv_reduce_window(x, k, fun, padding = 1) * weights)
      check_gradient(f, y)
      expect_identical(jit(f)(y), f(y))
    }
  }
  check_gradient(function(x) sum(nv_max_pool(nv_reshape(x, c(1, 1, 7)), 2)^2), y)
  m <- nv_tensor(matrix(c(5, 3, 8, 1, 9, 2), 3), "f32")
  expect_identical(
    as_array(nv_vmap(function(x) nv_reduce_window(x, 2, padding = 1), 2L, 2L)(m)),
    as_array(nv_reduce_window(m, c(2, 1), padding = list(c(1, 1), c(0, 0))))
  )
})

test_that("rolling statistics equal R's of each window", {
  set.seed(2)
  v <- round(rnorm(30), 2)
  gaps <- replace(v, c(4, 5, 6, 20), NA)
  r <- list(mean = mean, sum = sum, min = min, max = max, var = var, median = stats::median)
  for (fun in names(r)) {
    for (k in c(1, 2, 3, 8)) {
      for (partial in c(FALSE, TRUE)) {
        ends <- if (partial) 1:30 else k:30
        of <- function(x, ...) vapply(ends, function(e) r[[fun]](x[max(1, e - k + 1):e], ...), 0)
        got <- as.vector(nv_rolling(nv_tensor(v, "f64"), k, fun, partial = partial))
        want <- of(v)
        want[is.na(want)] <- NaN
        number <- !is.nan(want)
        expect_equal(got[number], want[number], tolerance = 1e-12, info = paste(fun, k))
        got <- as.vector(nv_rolling(nv_tensor(gaps, "f64"), k, fun, partial = partial))
        expect_identical(is.na(got) & !is.nan(got), vapply(ends, function(e) {
          anyNA(gaps[max(1, e - k + 1):e])
        }, NA), info = paste(fun, k, partial))
        want <- suppressWarnings(of(gaps, na.rm = TRUE))
        got <- nv_rolling(nv_tensor(gaps, "f64"), k, fun, partial = partial, na_rm = TRUE)
        got <- as.vector(got)
        known <- is.finite(want)
        expect_equal(got[known], want[known], tolerance = 1e-12, info = paste(fun, k, partial))
      }
    }
  }
  m <- matrix(c(1, 4, 2, 8, 5, 7), 2)
  expect_equal(as_array(nv_rolling(nv_tensor(m, "f32"), 2, "sum", dim = 2)), m[, 1:2] + m[, 2:3])
  expect_true(all(is.nan(as.vector(nv_rolling(nv_tensor(c(1, NaN, 3)), 2, "median")))))
  check_gradient(function(x) sum(nv_rolling(x, 3, "var")^2), nv_tensor(v[1:7], "f64"))
  check_gradient(function(x) sum(nv_rolling(x, 4, "median")^2), nv_tensor(v[1:7], "f64"))
})

test_that("what does not fit is an error", {
  x <- nv_tensor(1:3, "f32")
  expect_error(nv_reduce_window(x, 4), class = "joist_shape_error")
  expect_error(nv_reduce_window(x, 0), class = "joist_value_error")
  expect_error(nv_reduce_window(x, 2, "mode"), class = "joist_value_error")
  expect_error(nv_reduce_window(nv_tensor(1i), 1), class = "joist_dtype_error")
  expect_error(nv_reduce_window(x, 2, dims = 2), class = "joist_shape_error")
  expect_error(nv_unfold(x, 4), class = "joist_shape_error")
  expect_error(nv_rolling(x, 4), class = "joist_shape_error")
  expect_error(nv_rolling(x, 0), class = "joist_value_error")
  expect_error(nv_rolling(x, 2, "sd"), class = "joist_value_error")
})

test_that("medians of windows are those of median()", {
  x <- matrix(sample(0:255, 12 * 9, TRUE), 12)
  windows_of <- function(k, step = 1, by = 1) {
    at <- function(n) seq(1, n - (k - 1) * by, by = step)
    outer(at(12), at(9), Vectorize(function(i, j) {
      stats::median(x[i + (seq_len(k) - 1) * by, j + (seq_len(k) - 1) * by])
    }))
  }
  for (d in c("ui8", "i16", "f32", "f64")) {
    t <- nv_tensor(x, d)
    for (k in c(2, 3, 5, 6)) { # of 36 elements an array of windows is made
      made <- nv_reduce_window(t, k, "median")
      expect_identical(type_of(made), type_of(nv_median(t)))
      expect_identical(as_array(made) + 0, windows_of(k) + 0)
    }
    made <- nv_reduce_window(t, 3, "median", 2, dilation = 2)
    expect_identical(as_array(made) + 0, windows_of(3, 2, 2) + 0)
  }
  for (n in 1:32) {
    v <- nv_tensor(stats::rnorm(n + 2), "f64")
    want <- vapply(1:3, function(i) stats::median(as.double(v)[i - 1 + seq_len(n)]), 0)
    expect_identical(as.double(nv_reduce_window(v, n, "median")), want)
  }
  odd <- nv_tensor(c(1, NaN, 3, 4, 5, 6, NA, 8, 9), "f32")
  made <- nv_reduce_window(odd, 3, "median")
  expect_identical(as_array(nv_is_na(made)), c(TRUE, TRUE, FALSE, FALSE, TRUE, TRUE, TRUE))
  expect_identical(as_array(made)[3:4], c(4, 5))
  slope <- gradient(function(x) sum(nv_reduce_window(x, 3, "median")))(
    nv_tensor(c(3, 9, 5, 1), "f64")
  )
  expect_identical(as.double(slope$x), c(0, 0, 2, 0))
  expect_error(nv_reduce_window(odd, 3, "median", padding = 1), class = "joist_value_error")
  expect_error(nv_reduce_window(nv_tensor(1i), 1, "median"), class = "joist_dtype_error")
})

test_that("sums, means and medians of windows do not overflow where the result fits", {
  for (d in c("f16", "bf16", "f32", "f64")) {
    most <- as.double(dtype_info(d)$max)
    x <- nv_tensor(c(most, most, -most, -most), d)
    for (f in list(nv_reduce_window, function(x, k, fun) nv_rolling(x, k, fun, na_rm = TRUE))) {
      expect_identical(as.double(f(x, 2, "median")), c(most, 0, -most))
      expect_identical(as.double(f(x, 4, "median")), 0)
      if (d == "f64") next
      expect_identical(as.double(f(x, 2, "mean")), c(most, 0, -most))
      expect_identical(as.double(f(x, 3, "sum")), c(most, -most))
    }
  }
  x <- nv_tensor(array(3e38, c(1, 1, 4, 4)), "f32")
  expect_identical(as.double(nv_avg_pool(x, 2)), rep(as.double(x)[1], 4))
  z <- nv_tensor(rep(3e38 - 3e38i, 2), "c64")
  expect_identical(as_array(nv_reduce_window(z, 2, "mean")), as_array(z)[1])
  ids <- nv_tensor(c("9007199254740993", "9007199254740995", NA), "i64")
  middle <- with_promotion("numpy", nv_rolling(ids, 3, "median", na_rm = TRUE))
  expect_identical(as.double(middle), 9007199254740994)
})

test_that("rolling statistics have the name of the last element, other windows have none", {
  m <- nv_tensor(matrix(1:8 + 0, 4, dimnames = list(letters[1:4], c("A", "B"))), "f64")
  rolling <- jit(nv_rolling, static = c("k", "fun", "dim", "partial", "na_rm"))
  for (fun in c("mean", "sum", "min", "max", "var", "median")) {
    for (na_rm in c(FALSE, TRUE)) {
      for (f in list(nv_rolling, rolling)) {
        expect_identical(dimnames(f(m, 2, fun, na_rm = na_rm)), list(letters[2:4], c("A", "B")))
        expect_identical(names(f(m[, 2], 3, fun, na_rm = na_rm)), letters[3:4])
        expect_identical(dimnames(f(m, 2, fun, 1L, TRUE, na_rm)), dimnames(m))
      }
    }
  }
  expect_identical(dimnames(nv_rolling(m, 2, dim = 2)), list(letters[1:4], "B"))
  for (fun in c("mean", "max", "median")) {
    expect_identical(dimnames(nv_reduce_window(m, c(2, 1), fun)), list(NULL, c("A", "B")))
    stride <- nv_reduce_window(m, 2, fun, stride = 2, dims = 1)
    expect_identical(dimnames(stride), list(NULL, c("A", "B")))
  }
})

test_that("means in windows of integers are of exact sums", {
  numbers <- list(
    i32 = c(100000001, 100000003, 99999999, -100000003), ui32 = c(2^32 - 1, 2^32 - 3, 1, 0),
    i64 = c(2^30, 1, 2, -2^30, 3), i16 = rep(c(32767, -32768, 1), 400), i8 = c(127, -128, 3)
  )
  for (dtype in names(numbers)) {
    x <- numbers[[dtype]]
    for (k in unique(pmin(c(2, 3, 4, 1100), length(x)))) {
      sums <- vapply(k:length(x), function(at) sum(x[(at - k + 1):at]), 0)
      for (run in list(identity, jit)) {
        f <- run(function(x) nv_rolling(x, k))
        want <- nv_tensor(sums / k, ambiguous = TRUE)
        expect_identical(f(nv_tensor(x, dtype)), want, info = dtype)
      }
    }
  }
  partial <- nv_rolling(nv_tensor(numbers$i64, "i64"), 5, partial = TRUE)
  expect_identical(as_array(partial), as_array(nv_tensor(cumsum(numbers$i64) / 1:5, "f32")))
  most <- nv_tensor(c("9223372036854775807", "9223372036854775807", "5"), "i64")
  expect_no_warning(made <- nv_rolling(most, 2))
  expect_identical(as_array(made), c(2^63, 2^62))
})
