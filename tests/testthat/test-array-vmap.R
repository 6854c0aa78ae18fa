# nv_vmap() beside a loop over slices; every operation is in tests/batches/sweep.R.

slices_of <- function(x, dim = 1L) lapply(seq_len(shape(x)[dim]), function(k) slice_at(x, dim, k))
slice_at <- function(x, dim, k) {
  at <- rep(list(substitute()), ndims(x))
  at[[dim]] <- k
  do.call(`[`, c(list(x), at))
}

expect_looped <- function(f, ..., in_dims = 1L) {
  all <- list(...)
  count <- shape(all[[1L]])[1L]
  each <- lapply(seq_len(count), function(k) {
    do.call(f, lapply(all, function(x) if (ndims(x) == 1L) x[[k]] else slice_at(x, 1L, k)))
  })
  want <- do.call(nv_stack, each)
  expect_identical(nv_vmap(f)(...), want)
  expect_identical(jit(nv_vmap(f))(...), want)
}

x <- nv_tensor(matrix(c(3, -1, 2, 5, -4, 7, 0.5, 1), 4), "f64")
v <- nv_tensor(c(3, -1, 2, 5), "f64")

test_that("nv_vmap() gives what a loop over slices gives", {
  expect_looped(function(r) r / (1 + abs(r)), x)
  expect_looped(function(r, a) c(max(r), a, r), x, v)
  expect_looped(function(r) nv_sort(r)[2], x)
  expect_looped(function(r, a) nv_ifelse(a > 0, r, -r), x, v)
  expect_looped(function(a) nv_matmul(nv_reshape(c(a, 1, 2, a), c(2, 2)), nv_eye(2, "f64")), v)
  expect_looped(function(r, a) {
    r[1] <- a
    r
  }, x, v)
})

test_that("slices may lie along any dim, of arguments and of results", {
  m <- nv_tensor(array(1:24, c(2, 3, 4)))
  got <- nv_vmap(function(s, w) s * w, in_dims = c(2, NA), out_dims = 3)(m, nv_scalar(2L))
  expect_identical(got, nv_transpose(m * 2L, c(1L, 3L, 2L)))
  named <- nv_tensor(matrix(1:6, 2, dimnames = list(time = c("a", "b"), NULL)))
  expect_identical(names(nv_vmap(sum, in_dims = "time")(named)), c("a", "b"))
  expect_identical(nv_vmap(function(r) r + 1L)(named), named + 1L)
  expect_identical(nv_vmap(function(r) 5, out_dims = NULL)(v), jit(function() 5)())
})

test_that("arguments and results may be nested lists", {
  f <- function(p, k) list(sum = sum(p$a) + k, parts = list(p$b, p$a * 2))
  got <- nv_vmap(f, list(list(a = 1, b = 2), NULL))(list(a = x, b = t(x)), 10)
  expect_identical(got$parts[[1]], x)
  expect_identical(got$sum, nv_reduce_sum(x, 2L) + 10)
  expect_identical(nv_vmap(f, list(k = 1))(list(a = v, b = 1), v)$sum, sum(v) + v)
})

test_that("loops and branches on slices run until all are done", {
  steps <- function(n) {
    k <- 0L
    while (n > 1L) {
      n <- if (n %% 2L == 0L) n %/% 2L else 3L * n + 1L
      k <- k + 1L
    }
    k
  }
  n <- nv_tensor(c(1L, 7L, 27L, 6L))
  expect_identical(as_array(nv_vmap(steps)(n)), c(0L, 16L, 111L, 8L))
  # Code that a slice does not take cannot fail for it.
  at <- function(r, k) {
    while (k <= 2L && r[k] < 0) k <- k + 1L
    if (k <= 2L) r[[k]] else nv_scalar(0, "f64")
  }
  m <- nv_tensor(rbind(c(-1, -2), c(-1, 2), c(3, 4)), "f64")
  expect_identical(as_array(nv_vmap(at, c(1, NA))(m, nv_scalar(1L))), c(0, 2, 3))
  expect_identical(
    as_array(nv_vmap(function(a, b) nv_if(b == 0L, a, a %/% b))(n, nv_tensor(c(0L, 1L, 2L, 4L)))),
    c(1L, 7L, 13L, 1L)
  )
  factorial_of <- function(k) nv_for(k, 1L, function(i, s) s * i)
  expect_identical(as_array(nv_vmap(factorial_of)(n[c(1, 2, 4)])), c(1L, 5040L, 720L))
  # A condition that is the same for all slices.
  square <- nv_tensor(matrix(as.double(1:9), 3), "f64")
  either <- function(r, up) nv_if(up, r * 2, nv_reverse(r, 1L))
  for (up in c(TRUE, FALSE)) {
    got <- nv_vmap(either, c(1, NA))(square, nv_scalar(up))
    expect_identical(got, if (up) square * 2 else nv_reverse(square, 2L))
  }
  expect_looped(function(r) nv_scan(0, r, function(s, e) list(s + e, s * e))$ys, x)
})

test_that("missing values stay with their slices", {
  m <- nv_tensor(matrix(c(1, NA, 3, 4), 2))
  expect_identical(nv_vmap(sum)(m), nv_reduce_sum(m, 2L))
  expect_identical(nv_vmap(function(r) sum(r, na.rm = TRUE))(m), nv_tensor(c(4, 4)))
  expect_identical(nv_vmap(function(r) nv_scalar(NA, "f32"))(m), nv_tensor(c(NA, NA), "f32"))
})

test_that("gradients of nv_vmap() and nv_vmap() of gradients are those of the slices", {
  f <- function(r, a) sum(exp(r) * a) + sum(nv_cumsum(r)^2)
  want <- lapply(1:4, function(k) gradient(f)(slice_at(x, 1L, k), v[[k]]))
  got <- nv_vmap(gradient(f))(x, v)
  expect_equal(got$r, do.call(nv_stack, lapply(want, `[[`, "r")), tolerance = 1e-12)
  total <- gradient(function(r, a) sum(nv_vmap(f)(r, a)))(x, v)
  expect_equal(total$r, got$r, tolerance = 1e-12)
  expect_equal(total$a, got$a, tolerance = 1e-12)
  # A rule of the user's own.
  through <- custom_gradient(nv_round, function(cotangent, value, x) list(cotangent * 2))
  expect_identical(
    as_array(gradient(function(r) sum(nv_vmap(function(a) through(a) * a)(r)))(v)[[1]]),
    as_array(v) * 3
  )
  expect_identical(as_array(nv_vmap(gradient(function(a) through(a)))(v)$a), rep(2, 4))
})

test_that("nv_vmap() can be nested", {
  outer <- nv_vmap(function(a) nv_vmap(function(b) a * b)(v))(v)
  expect_identical(outer, nv_outer(v, v))
  expect_identical(nv_vmap(nv_vmap(function(a, b) a + b))(x, x), x + x)
})

test_that("keys make other numbers in each slice", {
  keys <- do.call(nv_stack, nv_key_split(nv_key(1), 3))
  expect_looped(function(key) nv_rnorm(2, key = key), keys)
  expect_looped(function(k) nv_runif(2, key = nv_fold_in(nv_key(1), k)), nv_tensor(1:3))
})

test_that("a change outside of the function is refused", {
  total <- 0
  expect_error(nv_vmap(function(a) {
    total <<- total + a
    a
  })(v), "total", class = "joist_value_error")
})

test_that("reductions of groups, scatters and assignments have derivatives and slices", {
  set.seed(5)
  groups <- c(1L, 2L, 1L, 3L, 2L, 1L, 3L)
  at <- nv_tensor(c(2L, 5L, 2L))
  weights <- nv_tensor(cos(1:7), "f64")
  segments <- list(
    nv_segment_sum, nv_segment_mean, nv_segment_var, nv_segment_min, nv_segment_max,
    nv_segment_prod
  )
  assigned <- function(x, i, v) {
    x[i] <- v
    x
  }
  scatters <- list(nv_scatter_add, nv_scatter_min, nv_scatter_max, nv_scatter_mul, assigned)
  functions <- c(
    lapply(segments, function(s) function(x) sum(weights[1:3] * s(x, groups, 3L))),
    lapply(scatters, function(s) function(x) sum(weights * s(x, at, x[5:7])))
  )
  x <- nv_tensor(matrix(rnorm(14), 2), "f64")
  for (f in functions) {
    slopes <- nv_vmap(gradient(f))(x)$x
    for (k in 1:2) {
      slice <- as_array(x[k, ])
      moved <- function(j, by) as_array(f(nv_tensor(replace(slice, j, slice[j] + by), "f64")))
      want <- vapply(1:7, function(j) (moved(j, 1e-6) - moved(j, -1e-6)) / 2e-6, 0)
      expect_equal(as_array(slopes[k, ]), want, tolerance = 1e-6)
      expect_equal(as_array(nv_vmap(f)(x)[k]), as_array(f(x[k, ])))
    }
  }
})

test_that("a matrix and slices of another are one product", {
  set.seed(3)
  a <- nv_tensor(matrix(rnorm(12), 4), "f64")
  x <- nv_tensor(array(rnorm(3 * 2 * 5), c(3, 2, 5)), "f64")
  columns <- x[, 1, , drop = FALSE]
  rows <- nv_transpose(columns, c(2, 1, 3))
  one <- list(
    list(function(x) nv_matmul(a, x), x), list(function(x) nv_crossprod(nv_transpose(a), x), x),
    list(function(x) nv_tcrossprod(a, x), rows), list(function(x) nv_tcrossprod(x, a), rows),
    list(function(x) nv_matmul(x, nv_transpose(a)), rows),
    list(function(x) nv_crossprod(x, nv_transpose(a)), columns)
  )
  for (case in one) {
    all <- nv_vmap(case[[1]], in_dims = 3L, out_dims = 3L)
    got <- all(case[[2]])
    for (k in 1:5) expect_equal(as_array(got)[, , k], as_array(case[[1]](case[[2]][, , k]))[, ])
    table <- as.data.frame(program(all, case[[2]]))
    expect_length(strsplit(table$shape[table$op == "matmul"], "x", fixed = TRUE)[[1]], 2L)
  }
  # Not these, which would have to be transposed.
  many <- nv_vmap(function(x) nv_matmul(nv_transpose(x), nv_transpose(a)), in_dims = 3L)
  for (k in 1:5) {
    expect_equal(as_array(many(x))[k, , ], t(as_array(x)[, , k]) %*% t(as_array(a)))
  }
})

test_that("a number that a function repeats stays one", {
  slope <- nv_vmap(gradient(function(q) -0.5 * sum(q * q)), in_dims = 2L, out_dims = 2L)
  x <- nv_tensor(matrix(c(1, 2, 3, 4, 5, 6), 2), "f64")
  expect_identical(slope(x)$q, -x)
  # Where no operand with slices has the extents of the result, it is repeated.
  wide <- nv_vmap(function(s) nv_broadcast_to(nv_scalar(2, "f64"), 3L) * s, out_dims = 2L)
  expect_identical(as_array(wide(x[1, ])), matrix(rep(c(2, 6, 10), each = 3), 3))
})
