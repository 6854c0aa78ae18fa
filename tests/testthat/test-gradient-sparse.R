# Sparse derivatives beside dense ones, at random points.

skip_if_not_installed("Matrix")
group <- c(1L, 3L, 2L, 1L, 4L, 4L)
where <- nv_tensor(group, "i32")

functions <- list(
  chain = function(x) (x[2:6] - sin(x[1:5]))^2,
  arrow = function(x) x * x[1] + exp(x[6]),
  groups = function(x) (nv_tensor(c(0.3, 1, 2, 0.1, 0.5, 1.5), "f64") - x[1:4][where])^2 * x[5],
  sums = function(x) nv_segment_sum(x^2, where, 4),
  matrix = function(x) nv_flatten(nv_matmul(nv_reshape(x, c(2, 3)), nv_reshape(x^2, c(3, 2)))),
  rows = function(x) exp(nv_reduce_sum(nv_reshape(x, c(2, 3)), 1L)),
  moves = function(x) nv_reverse(nv_pad(nv_transpose(nv_reshape(x, c(3, 2))), x[[1]], 1, 0), 1L)^2,
  assigned = function(x) {
    y <- x^2
    y[2] <- x[5] * x[6]
    y[c(1, 3)] <- x[[2]]^3
    y
  },
  scan = function(x) {
    nv_scan(nv_scalar(0, "f64"), x, function(before, e) list(e, (e - cos(before))^2))$ys
  },
  counted = function(x) nv_for(2, x, function(i, y) c(y[2:6], x[1])^2),
  branch = function(x) if (x[[1]] > 0) x^2 else c(x[2:6]^3, x[1]),
  sorted = function(x) c(nv_sort(x[1:3])^2, x[4:6]),
  solved = function(x) nv_flatten(nv_solve(nv_diag(x[1:3] + 3), nv_reshape(x[4:6], c(3, 1)))),
  constant = function(x) nv_floor(x) + 1,
  softmax = function(x) x / sum(exp(x))
)

test_that("sparse derivatives are the dense ones, and no element is left out", {
  set.seed(1)
  for (name in names(functions)) {
    f <- functions[[name]]
    total <- function(x) sum(f(x)^2)
    x <- nv_tensor(rnorm(6), "f64")
    dense <- jacobian(f)(x)$x
    dense <- as_array(nv_reshape(dense, c(length(dense) %/% 6L, 6L)))
    expect_equal(as.matrix(jacobian(f, sparse = TRUE)(x)), dense,
      tolerance = 1e-12, ignore_attr = TRUE, label = name)
    expect_equal(as.matrix(hessian(total, sparse = TRUE)(x)), as_array(hessian(total)(x)$x$x),
      tolerance = 1e-10, ignore_attr = TRUE, label = name)
  }
})

test_that("patterns are as sparse as the functions", {
  x <- nv_tensor(c(0.5, 1, 2, 3, -1, 0.2), "f64")
  filled <- function(f) length(jacobian(f, sparse = TRUE)(x)@x)
  expect_identical(filled(functions$chain), 10L)
  expect_identical(filled(functions$groups), 12L)
  expect_identical(filled(functions$scan), 11L)
  expect_identical(filled(functions$sums), 6L)
  expect_s4_class(hessian(function(x) sum(x^3), sparse = TRUE)(x), "dsCMatrix")
})

test_that("all arguments are columns of one matrix", {
  f <- function(b, s) sum((b[2:3] - b[1:2])^2 * exp(s)) + sum(s^2)
  got <- as.matrix(hessian(f, sparse = TRUE)(c(1, 2, 4), 0.5))
  want <- hessian(f)(c(1, 2, 4), 0.5)
  dense <- rbind(
    cbind(as_array(want$b$b), as_array(want$b$s)), c(as_array(want$s$b), as_array(want$s$s))
  )
  expect_equal(got, dense, ignore_attr = TRUE)
})
