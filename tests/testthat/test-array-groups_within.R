# Cumulative functions and ranks within groups beside base R's ave().

cumulative_functions <- list(
  cumsum = list(nv_segment_cumsum, cumsum, nv_cumsum),
  cumprod = list(nv_segment_cumprod, cumprod, nv_cumprod),
  cummin = list(nv_segment_cummin, cummin, nv_cummin),
  cummax = list(nv_segment_cummax, cummax, nv_cummax)
)

numbers <- function(x) as.numeric(as.vector(x))

test_that("cumulative functions of groups are base R's of each", {
  withr::local_seed(61)
  n <- 60L
  ids <- sample.int(7L, n, TRUE)
  v <- sample.int(3L, n, TRUE)
  holes <- replace(v, c(5L, 20L, 41L), NA)
  left_out <- function(f) {
    function(x) {
      kept <- !is.na(x)
      replace(x, kept, f(x[kept]))
    }
  }
  for (name in names(cumulative_functions)) {
    f <- cumulative_functions[[name]][[1L]]
    base <- cumulative_functions[[name]][[2L]]
    for (d in c("f64", "f32", "i32", "ui8", "i64")) {
      label <- paste(name, d)
      x <- nv_tensor(v, d)
      got <- f(x, ids, 7)
      expect_equal(numbers(got), ave(as.numeric(v), ids, FUN = base), label = label)
      expect_identical(dtype(got), dtype(cumulative_functions[[name]][[3L]](x[1:3])))
      compiled <- jit(function(x, i) f(x, i, 7))(x, nv_tensor(ids, "i32"))
      expect_identical(compiled, got, label = label)
      want <- ave(as.numeric(holes), ids, FUN = base)
      expect_equal(numbers(f(nv_tensor(holes, d), ids, 7)), want, label = label)
      want <- ave(as.numeric(holes), ids, FUN = left_out(base))
      expect_equal(numbers(f(nv_tensor(holes, d), ids, 7, na_rm = TRUE)), want, label = label)
      wide <- f(nv_tensor(rbind(v, rev(v)), d), ids, 7, dim = 2)
      expect_equal(numbers(wide[2, ]), ave(as.numeric(rev(v)), ids, FUN = base), label = label)
    }
    rest <- f(nv_tensor(v, "i32"), nv_group(replace(ids, 1L, NA), na = "drop"))
    expect_identical(which(as.vector(is.na(rest))), 1L)
    expect_length(f(nv_tensor(integer(), "i32"), integer(), 0), 0L)
  }
  one <- nv_tensor(runif(1000), "f64")
  expect_equal(nv_segment_cumsum(one, rep(1L, 1000L), 1), nv_cumsum(one), tolerance = 1e-14)
})

test_that("groups side by side do not overflow together", {
  local_promotion(NULL, on = c(overflow = "warn"))
  big <- nv_tensor(rep("9223372036854775807", 4), "i64")
  expect_no_warning(same <- nv_segment_cumsum(big, 1:4, 4))
  expect_identical(as.character(same), as.character(big))
})

test_that("ranks in groups are base R's of each", {
  withr::local_seed(62)
  ids <- sample.int(6L, 80L, TRUE)
  v <- sample(c(NA, 1:6), 80L, TRUE)
  for (ties in c("average", "min", "max", "first")) {
    rank_of <- function(x) rank(x, na.last = "keep", ties.method = ties)
    want <- ave(as.numeric(v), ids, FUN = rank_of)
    for (d in c("f64", "i64", "ui8")) {
      x <- nv_tensor(v, d)
      expect_equal(numbers(nv_segment_rank(x, ids, 6, ties)), want, label = paste(ties, d))
      compiled <- jit(function(x) nv_segment_rank(x, ids, 6, ties))(x)
      expect_equal(numbers(compiled), want, label = paste(ties, d))
    }
    want <- ave(-as.numeric(v), ids, FUN = rank_of)
    falling <- nv_segment_rank(nv_tensor(cbind(v, v), "i32"), ids, 6, ties, decreasing = TRUE)
    expect_equal(numbers(falling[, 2]), want, label = ties)
  }
})

test_that("cumulative functions of groups have derivatives", {
  ids <- c(1L, 2L, 1L, 2L, 1L, 3L)
  x <- nv_tensor(c(0.5, 2, 1.5, 0.7, 1.1, 3), "f64")
  weights <- c(1, 3, 2, 5, 4, 6)
  for (name in names(cumulative_functions)) {
    f <- cumulative_functions[[name]][[1L]]
    expect_no_error(check_gradient(function(x) sum(f(x, ids, 3) * weights), x))
  }
})

test_that("weighted sums and means of groups are base R's of each", {
  withr::local_seed(63)
  ids <- sample.int(5L, 50L, TRUE)
  v <- sample(c(NA, 1:9), 50L, TRUE)
  w <- runif(50L)
  each <- function(f) vapply(1:5, function(k) f(v[ids == k], w[ids == k]), 0)
  for (d in c("f64", "i32")) {
    x <- nv_tensor(v, d)
    want <- each(function(x, w) weighted.mean(x, w, na.rm = TRUE))
    got <- numbers(nv_segment_mean(x, ids, 5, TRUE, weights = w))
    expect_equal(got, want, tolerance = if (d == "f64") 1e-14 else 1e-6)
    want <- each(function(x, w) sum(x * w, na.rm = TRUE))
    expect_equal(numbers(nv_segment_sum(x, ids, 5, TRUE, weights = w)), want)
    got <- numbers(nv_segment_mean(x, ids, 5, weights = w))
    expect_equal(got, each(weighted.mean), tolerance = 1e-6)
  }
  m <- nv_tensor(matrix(runif(100), 2), "f64")
  got <- nv_segment_mean(m, ids, 5, dim = 2, weights = nv_tensor(w, "f64"))
  second <- vapply(1:5, function(k) weighted.mean(as.vector(m[2, ])[ids == k], w[ids == k]), 0)
  expect_equal(numbers(got[2, ]), second)
  three <- quote(nv_segment_sum(m, ids, 5, weights = 1:3, dim = 2))
  expect_refusal(eval(three), "joist_shape_error", "3 weights")
  gradient_of <- gradient(function(w) sum(nv_segment_mean(m[1, ], ids, 5, weights = w)))
  expect_length(gradient_of(nv_tensor(w, "f64"))[[1L]], 50L)
})

test_that("functions of groups work along any dimension", {
  withr::local_seed(64)
  a <- array(runif(2 * 30 * 3), c(2, 30, 3))
  ids <- rep_len(1:4, 30)
  for (name in c("sum", "mean", "max", "sd", "median", "prod")) {
    f <- getExportedValue("joist", paste0("nv_segment_", name))
    want <- aperm(apply(a, c(1, 3), function(x) tapply(x, ids, get(name))), c(2, 1, 3))
    got <- as_array(f(nv_tensor(a, "f64"), ids, 4, dim = 2))
    expect_equal(got, unname(want), tolerance = 1e-12, label = name)
  }
  quantiles <- nv_segment_quantile(nv_tensor(a, "f64"), ids, 4, dim = 3 - 1)
  expect_identical(shape(quantiles), c(2L, 4L, 3L, 5L))
  expect_refusal(nv_segment_sum(nv_tensor(a), ids, 4, dim = 4), "joist_shape_error", "`dim`")
})

test_that("products of integers are exact, and watched", {
  withr::local_seed(65)
  for (d in c("i8", "ui16", "i64")) {
    v <- sample.int(5L, 40L, TRUE)
    ids <- sample.int(6L, 40L, TRUE)
    got <- nv_segment_prod(nv_tensor(v, d), ids, 6)
    expect_identical(dtype(got), dtype(nv_reduce_prod(nv_tensor(v[1:2], d))))
    expect_identical(numbers(got), vapply(1:6, function(k) prod(v[ids == k]), 0))
  }
  local_promotion(NULL, on = c(overflow = "warn"))
  two <- nv_tensor(rep(2L, 65L), "i64")
  expect_warning(nv_segment_prod(two, rep(1L, 65L), 1), "1 result of i64")
  expect_identical(numbers(nv_segment_prod(c(two, nv_tensor(0L, "i64")), rep(1L, 66L), 1)), 0)
  expect_warning(nv_scatter_mul(nv_tensor(100L, "i8"), 1, nv_tensor(2L, "i8")), "i8")
})

test_that("elements keep their names, and extremes of groups have none", {
  v <- c(a = 5L, b = 3L, c = 9L, d = 4L)
  ids <- c(1L, 2L, 1L, 2L)
  m <- cbind(A = v, B = rev(v))
  for (name in c("cumsum", "cumprod", "cummin", "cummax", "rank")) {
    f <- getExportedValue("joist", paste0("nv_segment_", name))
    want <- ave(as.numeric(v), ids, FUN = get(name))
    for (run in list(f, jit(f, static = "count"))) {
      expect_identical(as_array(run(nv_tensor(v), ids, 2)) + 0, setNames(want, names(v)))
      expect_identical(dimnames(run(nv_tensor(m), ids, 2)), dimnames(m))
    }
    expect_identical(dimnames(f(nv_tensor(m), c(1, 1), 1, dim = 2)), dimnames(m))
  }
  expect_identical(as_array(nv_segment_max(nv_tensor(v), nv_group(ids))), c(9L, 4L))
  expect_null(names(nv_segment_min(nv_tensor(v), ids, 2)))
})
