# Sums of groups of rows.

test_that("nv_segment_sum() gives what rowsum() and tapply() give, in every dtype", {
  ids <- c(2L, 4L, 2L, 1L, 4L, 4L)
  m <- matrix(c(1:6, -2:3), 6)
  want <- matrix(0, 5, 2)
  sums <- rowsum(m, ids)
  want[as.integer(rownames(sums)), ] <- sums
  for (d in c(ints(), floats(), complexes())) {
    if (is_narrow(d)) {
      # Rounded, or wrapped around, once.
      values <- matrix(rep_len(few_values(d), 12), 6)
      exact <- rowsum(values, ids)
      if (!has_zero(d)) { # what a group without rows sums to
        expect_error(nv_segment_sum(nv_tensor(values, d), ids, 5), class = "joist_value_error")
        next
      }
      all_rows <- matrix(0, 5, 2)
      all_rows[as.integer(rownames(exact)), ] <- exact
      got <- nv_segment_sum(nv_tensor(values, d), ids, 5)
      expect_identical(format(dtype(got)), d)
      expect_equal(matrix(as.double(got), 5), converted_to(all_rows, d), label = d)
      next
    }
    if (!startsWith(d, "ui")) {
      got <- nv_segment_sum(nv_tensor(m, d), ids, 5)
      expect_identical(format(dtype(got)), d)
      expect_equal(matrix(as.double(Re(got)), 5), want, label = d)
    }
    x <- nv_tensor(1:6, d)
    for (kind in Filter(function(kind) all(holds(ids, kind)), ints())) {
      got <- nv_segment_sum(x, nv_tensor(ids, kind), 4L)
      expect_equal(as.double(Re(got)), c(4, 4, 0, 13), label = paste(d, kind))
    }
    traced <- jit(function(x, i) nv_segment_sum(x, i, 4L))
    expect_identical(traced(x, nv_tensor(ids, "i64")), nv_segment_sum(x, ids, 4))
  }
  a <- array(1:24, c(4, 3, 2))
  got <- nv_segment_sum(nv_tensor(a), c(1, 3, 1, 3), 3)
  expect_identical(shape(got), c(3L, 3L, 2L))
  expect_equal(as_array(got)[3, 2, 2], sum(a[c(2, 4), 2, 2]))
  expect_true(all(as_array(got)[2, , ] == 0))
  expect_identical(shape(nv_segment_sum(nv_tensor(numeric(), shape = 0L), integer(), 2)), 2L)
  expect_true(ambiguous(nv_segment_sum(c(1, 2), c(1, 1), 1)))
})

test_that("groups out of range are errors, in the last column and in jit() too", {
  m <- nv_tensor(matrix(1:6, 3))
  for (ids in list(c(1, 3, 1), c(0, 1, 1), c(1, 1, -1))) {
    expect_error(nv_segment_sum(m, ids, 2), "out of range", class = "joist_shape_error")
    f <- jit(function(x, i) nv_segment_sum(x, i, 2))
    expect_error(f(m, nv_tensor(ids, "i32")), "out of range", class = "joist_shape_error")
  }
  expect_error(nv_segment_sum(m, 1:2, 2), "2 elements", class = "joist_shape_error")
  expect_error(nv_segment_sum(m, 1:3, 1.5), "`count`", class = "joist_value_error")
})

test_that("sums of groups have derivatives, and the same bits on any number of threads", {
  x <- nv_tensor(matrix(sin(1:8), 4), "f64")
  check_gradient(function(x) sum(nv_segment_sum(x, c(3, 1, 3, 1), 3)^2), x)
  check_gradient(function(x) sum(nv_scatter_add(x, c(4, 2), x[1:2, ] * 2)^2), x)
  set.seed(4)
  ids <- sample(50, 1e5, TRUE)
  values <- nv_tensor(matrix(rnorm(3e5), 1e5), "f32")
  old <- nv_set_threads(1)
  on.exit(nv_set_threads(old))
  got <- nv_segment_sum(values, ids, 50)
  nv_set_threads(2)
  expect_identical(nv_segment_sum(values, ids, 50), got)
  expect_lt(max(abs(as_array(got) - rowsum(as_array(values), ids))), 1e-2)
})

test_that("sums of many values are those of rowsum() and as exact as sum()", {
  set.seed(5)
  old <- nv_set_threads(1)
  on.exit(nv_set_threads(old))
  wrapped <- function(v, d) {
    nv_convert(nv_tensor(v, if (startsWith(d, "i")) "i64" else "f64"), d)
  }
  # About the numbers of values from which sums are found in chunks, and those are side by side.
  for (count in c(1, 10, 512, 513, 3000)) {
    for (n in unique(c(8 * count - 1, 8 * count, 4096, 4097, 30000))) {
      for (columns in c(1, 3)) {
        ids <- c(sample(count, n, TRUE), use.names = FALSE)
        m <- matrix(sample(-1000:1000, n * columns, TRUE), n)
        want <- matrix(0, count, columns)
        sums <- rowsum(m, ids)
        want[as.integer(rownames(sums)), ] <- sums
        for (d in c("i16", "i64", "f16", "f32", "f64", "c64", "c128")) {
          x <- nv_tensor(m, d)
          nv_set_threads(1)
          got <- nv_segment_sum(x, ids, count)
          nv_set_threads(2)
          expect_identical(nv_segment_sum(x, ids, count), got)
          expect_identical(got, wrapped(want, d), label = paste(d, count, n, columns))
          position <- rep(ids, columns) + rep((seq_len(columns) - 1) * count, each = n)
          start <- nv_tensor(matrix(1, count, columns), d)
          added <- nv_scatter_add(start, position, nv_flatten(x))
          expect_identical(added, wrapped(want + 1, d), label = paste(d, count, n, columns))
          expect_identical(nv_scatter_add(start, ids, x), added)
        }
      }
    }
  }
  tenth <- nv_tensor(rep(0.1, 1e6), "f32")
  one <- nv_tensor(rep(1L, 1e6), "i64")
  expect_identical(nv_segment_sum(tenth, one, 1), nv_reshape(sum(tenth), 1))
  expect_identical(nv_scatter_add(nv_tensor(0, "f32"), one, tenth), nv_reshape(sum(tenth), 1))
  expect_identical(as.double(nv_scatter_add(nv_tensor(0, "bf16"), one, 1)), 999424)
  wide <- nv_segment_sum(nv_tensor(rep(0.1, 1e7), "f64"), rep(1L, 1e7), 1)
  expect_lt(abs(as.double(wide) - 1e6), 1e-7)
  # Zeros are added to a positive zero; infinities of both signs give NaN.
  expect_identical(1 / as.double(nv_segment_sum(nv_tensor(-0, "f64"), 1, 1)), Inf)
  infinite <- nv_segment_sum(nv_tensor(c(Inf, -Inf, 1), "f32"), c(1, 1, 2), 2)
  expect_identical(as.double(infinite), c(NaN, 1))
})

test_that("rows are added to rows, and other shapes are errors", {
  x <- nv_tensor(array(1:24, c(4, 3, 2)), "f32")
  rows <- nv_tensor(array(1:12, c(2, 3, 2)), "f32")
  want <- array(1:24, c(4, 3, 2))
  want[3, , ] <- want[3, , ] + array(1:12, c(2, 3, 2))[1, , ] + array(1:12, c(2, 3, 2))[2, , ]
  expect_equal(as_array(nv_scatter_add(x, c(3, 3), rows)), want)
  expect_error(nv_scatter_add(x, c(3, 5), rows), "out of range", class = "joist_shape_error")
  expect_error(nv_scatter_add(x, 1:3, rows), class = "joist_shape_error")
  expect_error(nv_scatter_add(x, 1:2, rows[, 1:2, ]), class = "joist_shape_error")
  missing <- nv_tensor(matrix(c(1, NA, 3, 4), 2), "f32")
  got <- nv_segment_sum(missing, c(2, 1), 3)
  expect_identical(as.vector(is.na(got)), c(TRUE, FALSE, FALSE, FALSE, FALSE, FALSE))
  expect_identical(as.vector(as_array(got)), c(NA, 1, 0, 4, 3, 0))
})

test_that("groups are whole numbers in range, and errors name them and their positions", {
  x <- nv_tensor(1:3)
  expect_refusal(
    nv_segment_sum(x, c(1, 2, 2.5), 3), "joist_value_error",
    c("2.5 at position 3", "not an integer", "round()")
  )
  expect_refusal(nv_segment_sum(x, c("1", "2", "3"), 3), "joist_value_error", "character vector")
  expect_refusal(
    nv_segment_sum(x, c(1, 0, 7), 3), "joist_shape_error",
    c("index 0 at position 2", "nv_segment_sum()", "(1 to 3)")
  )
  traced <- jit(function(x, ids) nv_segment_sum(x, ids, 3))
  expect_refusal(traced(x, c(1L, 2L, 7L)), "joist_shape_error", "index 7 at position 3")
  expect_refusal(
    nv_segment_sum(x, c(1, NA, 2), 3), "joist_value_error",
    c("nv_segment_sum()", "missing values")
  )
  expect_refusal(nv_segment_sum(nv_scalar(1), 1, 1), "joist_shape_error", "scalar")
  expect_refusal(nv_segment_sum(x, 1, 3), "joist_shape_error", c("`ids` has 1 element,", "needs 3"))
})

test_that("the first, last and most frequent elements of groups are without names", {
  x <- nv_tensor(c(a = 5, b = 7), "i8")
  for (f in list(nv_segment_first, nv_segment_last, nv_segment_mode)) {
    expect_null(names(f(x, c(2L, 2L), 3L)))
  }
  expect_identical(names(nv_gather(x, c(2, NA, 1))), c("b", NA, "a"))
})

test_that("means of groups keep imaginary parts, and what is left out does not overflow", {
  y <- nv_tensor(c(1 + 2i, -3 - 1i, 1 + 2i, 0 - 4i), "c128")
  ids <- c(1, 2, 1, 2)
  expect_equal(as_array(nv_segment_mean(y, ids, 2)), c(1 + 2i, -1.5 - 2.5i))
  expect_equal(as_array(nv_segment_mean(y, ids, 2, weights = 1:4)), c(1 + 2i, -1 - 3i))
  expect_error(
    nv_segment_mean(nv_tensor(1:4), ids, 2, weights = 1i * 1:4), class = "joist_dtype_error"
  )
  x <- nv_tensor(c(100, 100, -100, 100, 3), "i8")
  groups <- nv_group(c("a", NA, "a", NA, "b"), na = "drop")
  for (x in list(x, nv_stack(x, x, dim = 2L))) {
    sums <- with_promotion(NULL, nv_segment_sum(x, groups), on = c(overflow = "error"))
    expect_identical(as.vector(sums), rep(c(0L, 3L), ndims(x)))
  }
})

test_that("NaN is left out of flags by group, and means with weights take dims by name", {
  x <- nv_tensor(c(NaN, 0), "f64")
  for (run in list(identity, jit)) {
    any <- run(function(x) nv_segment_any(x, c(1L, 1L), 1L, na_rm = TRUE))
    expect_identical(as.vector(any(x)), FALSE)
  }
  expect_identical(as.vector(nv_compute(nv_reduce_any(nv_chunked(x, 1), na_rm = TRUE))), FALSE)
  m <- nv_tensor(matrix(1:6, 2, dimnames = list(r = c("a", "b"), c = NULL)), "f32")
  expect_identical(
    as.vector(nv_segment_mean(m, c(1, 1), 1, dim = "r", weights = 1:2)),
    as.vector(nv_segment_mean(m, c(1, 1), 1, dim = 1, weights = 1:2))
  )
})
