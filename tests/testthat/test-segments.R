# Sums of groups of rows.

test_that("nv_segment_sum() gives what rowsum() and tapply() give, in every dtype", {
  ids <- c(2L, 4L, 2L, 1L, 4L, 4L)
  m <- matrix(c(1:6, -2:3), 6)
  want <- matrix(0, 5, 2)
  sums <- rowsum(m, ids)
  want[as.integer(rownames(sums)), ] <- sums
  for (d in c(ints(), floats(), complexes())) {
    if (!startsWith(d, "ui")) {
      got <- nv_segment_sum(nv_tensor(m, d), ids, 5)
      expect_identical(format(dtype(got)), d)
      expect_equal(matrix(as.double(Re(got)), 5), want, label = d)
    }
    x <- nv_tensor(1:6, d)
    for (kind in setdiff(ints(), character())) {
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
  expect_error(nv_segment_sum(m, 1:2, 2), "2 groups", class = "joist_shape_error")
  expect_error(nv_segment_sum(m, 1:3, 1.5), "`count`", class = "joist_value_error")
})

test_that("sums of groups have derivatives, and the same bits on any number of threads", {
  x <- nv_tensor(matrix(sin(1:8), 4), "f64")
  check_gradient(function(x) sum(nv_segment_sum(x, c(3, 1, 3, 1), 3)^2), x)
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
