# Jacobians and Hessians beside central differences, in both modes.

differences <- function(f, x, step = 1e-5) {
  columns <- lapply(seq_along(x), function(k) {
    moved <- function(by) as.double(f(replace(x, k, x[k] + by)))
    (moved(step) - moved(-step)) / (2 * step)
  })
  do.call(cbind, columns)
}

functions <- list(
  elements = function(x) sin(x) * x[1],
  sums = function(x) c(sum(x^2), mean(exp(x))),
  product = function(x) {
    nv_flatten(nv_matmul(nv_reshape(c(x, x[1]), c(2, 2)), nv_eye(2, "f64") + x[[2]]))
  },
  scan = function(x) nv_scan(nv_scalar(1, "f64"), x, function(s, e) list(s * cos(e), s + e^2))$ys,
  branch = function(x) if (sum(x) > 0) x^3 else -x,
  solved = function(x) nv_solve(nv_diag(x + 2) + 0.5, x)
)

test_that("Jacobians and Hessians are those of differences, in both modes", {
  at <- c(0.7, -0.4, 1.1)
  for (name in names(functions)) {
    f <- functions[[name]]
    own <- function(x) f(nv_tensor(x, "f64"))
    for (mode in c("reverse", "forward", "auto")) {
      got <- jacobian(f, mode = mode)(nv_tensor(at, "f64"))$x
      expect_equal(as_array(got), differences(own, at), tolerance = 1e-6, label = name)
    }
    total <- function(x) sum(f(x)^2)
    slope <- function(x) gradient(total)(nv_tensor(x, "f64"))$x
    for (mode in c("reverse", "forward")) {
      got <- jit(hessian(total, mode = mode))(nv_tensor(at, "f64"))$x$x
      expect_equal(as_array(got), differences(slope, at), tolerance = 1e-5, label = name)
    }
  }
})

test_that("Jacobians have the structure of the value, and in it that of the arguments", {
  f <- function(p, b) list(y = p$w * b, z = sum(p$w))
  w <- nv_tensor(matrix(1:6, 2), "f32")
  got <- jacobian(f)(list(w = w), nv_scalar(2))
  expect_named(got, c("y", "z"))
  expect_named(got$y, c("p", "b"))
  expect_identical(shape(got$y$p$w), c(2L, 3L, 2L, 3L))
  expect_identical(got$y$b, w)
  expect_identical(as_array(got$z$p$w), matrix(1, 2, 3))
  expect_named(jacobian(f, "b")(list(w = w), nv_scalar(2))$z, "b")
  expect_identical(as_array(jacobian(function(x) 3 * x)(c(1, 2))$x), diag(3, 2))
  for (mode in c("forward", "reverse")) {
    y <- nv_tensor(c(1, 2), "f64")
    expect_identical(format(dtype(jacobian(function(b) b * y, mode = mode)(w[1:2])[[1]])), "f32")
  }
  expect_identical(format(dtype(hessian(function(x) sum(x^3))(c(1, 2))$x$x)), "f64")
  crossed <- hessian(function(x, y) sum(x) * sum(y^2))(c(1, 2), c(3, 4, 5))
  expect_identical(as_array(crossed$x$y), rbind(c(6, 8, 10), c(6, 8, 10)))
  expect_identical(as_array(crossed$y$x), t(as_array(crossed$x$y)))
})

test_that("derivatives of missing values are missing, and gradient(value = TRUE) gives both", {
  got <- jacobian(function(x) x^2)(nv_tensor(c(1, NA)))$x
  expect_identical(is.na(as_array(got)), rbind(c(FALSE, FALSE), c(TRUE, TRUE)))
  both <- gradient(function(x) sum(x^2), value = TRUE)(nv_tensor(c(1, 2)))
  expect_identical(both, value_and_gradient(function(x) sum(x^2))(nv_tensor(c(1, 2))))
  expect_error(gradient(sum, value = 1), class = "joist_value_error")
})
