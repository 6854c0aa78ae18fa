# nv_resize() beside jax.image.resize() of JAX 0.10.2, nv_interp() beside R's approx().

image <- matrix(c(1, 3, 6, 5, 9, 0, 2, 4, 2, 8, 7, 5), 3)

test_that("images are resized as by JAX", {
  wanted <- list(
        list(c(5, 7), "linear", TRUE, c(1, 1.8, 3, 4.8, 6, 2.428571, 3.514286, 5.142857, 4.371429,
      3.857143, 4.714286, 6.257143, 8.571429, 3.685714, 0.4285714, 3.5, 4.7, 6.5, 3.2, 1,
      2.428571, 3.142857, 4.214286, 3.014286, 2.214286, 5.857143, 5.885714, 5.928571, 4.728571,
      3.928571, 8, 7.6, 7, 5.8, 5)),
        list(c(5, 7), "cubic", TRUE, c(0.5437228, 1.151586, 2.524038, 5.172288, 6.77422, 2.120456,
      3.302856, 5.003224, 4.544172, 4.044005, 4.611415, 6.692184, 8.882021, 3.429575, -0.4443377,
      3.125, 4.816698, 6.6875, 2.777985, -0.03419811, 2.043364, 2.891657, 3.982185, 2.904022,
      2.062524, 6.085983, 6.091025, 5.902936, 4.770331, 4.03943, 8.569394, 8.131297, 7.237981,
      5.884041, 5.087037)),
        list(c(5, 7), "nearest", FALSE, c(1, 1, 3, 6, 6, 1, 1, 3, 6, 6, 5, 5, 9, 0, 0, 2, 2, 4, 2,
      2, 2, 2, 4, 2, 2, 8, 8, 7, 5, 5, 8, 8, 7, 5, 5)),
        list(c(2, 3), "linear", TRUE, c(3.175, 4.425, 4.625, 3.0625, 6.1625, 4.85)),
        list(c(2, 3), "linear", FALSE, c(2.25, 4.75, 4.25, 2.375, 6.875, 5)),
        list(c(2, 3), "cubic", TRUE, c(3.08771, 4.635546, 4.778602, 2.883007, 6.279206, 4.917741)),
        list(c(2, 3), "cubic", FALSE, c(1.880752, 5.048987, 4.140511, 1.696168, 7.197432,
      5.030651)),
        list(c(2, 3), "nearest", FALSE, c(1, 6, 2, 2, 8, 5)),
        list(c(6, 2), "linear", TRUE, c(2.857143, 3.571429, 5, 5, 3.571429, 2.857143, 5, 5.25,
      5.75, 5.25, 3.75, 3)),
        list(c(6, 2), "linear", FALSE, c(3, 3.75, 5.25, 5.25, 3.75, 3, 5, 5.125, 5.375, 5, 4,
      3.5)),
        list(c(6, 2), "cubic", TRUE, c(2.426957, 3.332931, 5.253044, 5.285408, 3.425771, 2.548371,
      5.072557, 5.378898, 6.02902, 5.40212, 3.580563, 2.72071)),
        list(c(6, 2), "cubic", FALSE, c(2.788927, 3.706312, 5.650651, 5.650651, 3.706312,
      2.788927, 4.974048, 5.090597, 5.338123, 4.96273, 4.01374, 3.565744)),
        list(c(6, 2), "nearest", FALSE, c(5, 5, 9, 9, 0, 0, 8, 8, 7, 7, 5, 5))
  )
  for (one in wanted) {
    for (d in c("f64", "f32", "ui8")) {
      got <- nv_resize(nv_tensor(image, d), one[[1]], one[[2]], antialias = one[[3]])
      expect_equal(as.vector(got), one[[4]], tolerance = 2e-6, info = paste(one[[2]], d))
      expect_identical(shape(got), as.integer(one[[1]]))
    }
  }
  expect_true(dtype(nv_resize(nv_tensor(image, "ui8"), c(2, 2), "nearest")) == "ui8")
  expect_true(dtype(nv_resize(nv_tensor(image, "f16"), c(2, 2))) == "f16")
})

test_that("dimensions are those asked for; constants stay, and derivatives are those of sums", {
  x <- nv_tensor(array(as.double(1:24), 2:4), "f64")
  expect_identical(shape(nv_resize(x, c(7, 2), dims = c(3, 1))), c(2L, 3L, 7L))
  expect_equal(as.vector(nv_resize(nv_fill(3, c(5, 6), "f64"), c(3, 9), "cubic")), rep(3, 27))
  for (method in c("linear", "cubic", "nearest")) {
    f <- function(x) sum(nv_resize(x, c(2, 6), method)^2)
    check_gradient(f, nv_tensor(image, "f64"))
    expect_identical(jit(f)(nv_tensor(image, "f64")), f(nv_tensor(image, "f64")))
  }
  gap <- nv_tensor(c(1, NA, 3, 4, 5, 6), "f64")
  expect_identical(is.na(as.vector(nv_resize(gap, 3))), c(TRUE, TRUE, FALSE))
  each <- nv_vmap(function(x) nv_resize(x, 5), 2L, 2L)(nv_tensor(image, "f64"))
  expect_equal(as_array(each), as_array(nv_resize(nv_tensor(image, "f64"), 5)))
  expect_error(nv_resize(x, 0), class = "joist_value_error")
  expect_error(nv_resize(x, 2, "box"), class = "joist_value_error")
  expect_error(nv_resize(x, 2, dims = 4), class = "joist_shape_error")
  expect_error(nv_resize(nv_fill(0, c(0, 2)), c(1, 1)), class = "joist_shape_error")
})

test_that("nv_interp() equals approx()", {
  set.seed(1)
  xp <- sort(runif(9))
  fp <- rnorm(9)
  x <- c(runif(40, -0.2, 1.2), xp, NaN)
  got <- as.vector(nv_interp(nv_tensor(x, "f64"), nv_tensor(xp, "f64"), nv_tensor(fp, "f64")))
  expect_equal(got[1:49], stats::approx(xp, fp, x[1:49], rule = 2)$y, tolerance = 1e-12)
  expect_true(is.nan(got[50]))
  out <- as.vector(nv_interp(nv_tensor(c(-1, 2), "f64"), xp, fp, left = -7, right = 8))
  expect_equal(out, c(-7, 8))
  # np.interp([1, 2, 3], [1, 2, 2, 3], [10, 20, 30, 40])
  expect_equal(as.vector(nv_interp(c(1, 2, 3), c(1, 2, 2, 3), c(10, 20, 30, 40))), c(10, 30, 40))
  expect_equal(as.vector(nv_interp(c(0, 5), 2, 4)), c(4, 4))
  at <- nv_tensor(c(0.31, 0.62), "f64")
  f <- function(x, fp) sum(nv_interp(x, c(0, 0.5, 1), fp)^2)
  check_gradient(f, at, nv_tensor(c(1, 3, 2), "f64"))
  expect_error(nv_interp(1, 1:3, 1:2), class = "joist_shape_error")
})

test_that("only elements that nv_resize() takes have names", {
  m <- nv_tensor(matrix(1:6, 2, dimnames = list(c("r", "s"), c("A", "B", "C"))), "f32")
  for (f in list(nv_resize, jit(nv_resize, static = c("size", "method")))) {
    for (method in c("linear", "cubic")) {
      expect_identical(dimnames(f(m, c(2, 4), method)), list(c("r", "s"), NULL))
    }
    twice <- list(rep(c("r", "s"), each = 2), colnames(m))
    expect_identical(dimnames(f(m, c(4, 3), "nearest")), twice)
  }
})

test_that("nv_interp() gives the values of points, beside infinite and missing ones too", {
  # What numpy.interp() of NumPy 2.5 gives, which has no missing values.
  for (dtype in c("f32", "f64")) {
    interp <- function(x, xp, fp) as.vector(nv_interp(nv_tensor(x, dtype), xp, fp), "double")
    expect_identical(interp(c(0, 1, 1.5, 2, 4), 1:3, c(Inf, 4, 5)), c(Inf, Inf, Inf, 4, 5))
    expect_identical(interp(2, 1:3, c(3, 4, Inf)), 4)
    expect_identical(interp(1:3, 1:3, c(3, NaN, 5)), c(3, NaN, 5))
    expect_identical(interp(c(1, 1.5, 2, 3), 1:3, c(3, NA, 5)), c(3, NA, NA, 5))
    expect_identical(interp(c(0.5, 1.5), 0:2, c(Inf, Inf, 1)), c(Inf, Inf))
    for (far in c(2, Inf)) expect_identical(interp(c(NaN, 1), 0:2, c(far, 5, 5)), c(NaN, 5))
    most <- if (dtype == "f32") 3e38 else 1e308
    ends <- nv_tensor(c(-most, most), dtype)
    expect_identical(interp(c(0, 0.75, 1), 0:1, ends), as.vector(ends)[c(1, 2, 2)] * c(1, 0.5, 1))
    expect_identical(interp(2, ends, 0:1), 0.5)
  }
  # Differences of 64-bit integers do not wrap.
  ends <- c("-9223372036854775807", "9223372036854775807")
  expect_identical(as_array(nv_interp(nv_tensor("0", "i64"), nv_tensor(ends, "i64"), 0:1)), 0.5)
  expect_identical(as_array(nv_interp(0.5, 0:1, nv_tensor(c(100L, 0L), "ui64"))), 50)
  expect_no_warning(
    below <- nv_interp(nv_tensor(c(0L, 6L), "ui64"), nv_tensor(c(3L, 9L), "ui64"), 0:1)
  )
  expect_identical(as_array(below), c(0, 0.5))
})

test_that("interpolation takes differences in the dtype of its result", {
  f <- c(0.5, 2.5, -3, 1e10)
  for (d in c("f32", "f64")) for (e in c("f32", "f64")) {
    if (d == "f32" && e == "f32") next
    made <- nv_interp(nv_tensor(c(0.25, 2.5), "f64"), nv_tensor(0:3, d), nv_tensor(f, e))
    expect_identical(as.vector(made), approx(0:3, f, c(0.25, 2.5))$y)
  }
})
