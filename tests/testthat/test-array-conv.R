# nv_conv() beside sums in R's loops, term by term.

# The convolution by its definition, of arrays in double (or complex).
by_terms <- function(x, kernel, stride, low, high, dilation, groups) {
  extents <- dim(x)[-(1:2)]
  taps <- dim(kernel)[-(1:2)]
  made <- (extents + low + high - (taps - 1) * dilation - 1) %/% stride + 1
  result <- array(if (is.complex(x)) 0i else 0, c(dim(x)[1L], dim(kernel)[1L], made))
  each <- dim(kernel)[1L] / groups
  places <- as.matrix(expand.grid(lapply(made, seq_len)))
  offsets <- as.matrix(expand.grid(lapply(taps, seq_len)))
  for (n in seq_len(dim(x)[1L])) for (o in seq_len(dim(kernel)[1L])) {
    first <- (o - 1L) %/% each * dim(kernel)[2L]
    for (p in seq_len(nrow(places))) for (k in seq_len(nrow(offsets))) {
      z <- (places[p, ] - 1) * stride + (offsets[k, ] - 1) * dilation + 1 - low
      if (any(z < 1 | z > extents)) next
      for (ch in seq_len(dim(kernel)[2L])) {
        at <- matrix(c(n, o, places[p, ]), 1L)
        result[at] <- result[at] + x[matrix(c(n, first + ch, z), 1L)] *
          kernel[matrix(c(o, ch, offsets[k, ]), 1L)]
      }
    }
  }
  result
}

random_case <- function(whole = FALSE) {
  rank <- sample.int(3L, 1L)
  groups <- sample.int(3L, 1L)
  each <- function(most) sample.int(most, rank, TRUE)
  taps <- each(3L)
  dilation <- each(2L)
  low <- each(3L) - 1
  high <- each(3L) - 1
  extents <- pmax(each(6L), (taps - 1) * dilation + 1 - low - high)
  channels <- sample.int(3L, 1L)
  numbers <- function(extents) {
    n <- prod(extents)
    array(if (whole) sample(-3:3, n, TRUE) else rnorm(n), extents)
  }
  list(
    x = numbers(c(sample.int(if (rank < 3L) 40L else 3L, 1L), groups * channels, extents)),
    kernel = numbers(c(groups * sample.int(3L, 1L), channels, taps)),
    stride = each(3L), low = low, high = high, dilation = dilation, groups = groups
  )
}

conv_case <- function(case, x, kernel, ...) {
  nv_conv(x, kernel, case$stride, unname(Map(c, case$low, case$high)), case$dilation, case$groups,
    ...)
}
want_case <- function(case, x = case$x, kernel = case$kernel) {
  by_terms(x, kernel, case$stride, case$low, case$high, case$dilation, case$groups)
}
in_dtype <- function(x, d) {
  as_array(nv_convert(nv_tensor(x, d), if (is.complex(x)) "c128" else "f64"))
}

test_that("nv_conv() equals its definition for every dtype", {
  set.seed(1)
  for (k in 1:6) {
    for (d in c("f16", "bf16", "f32", "f64", "c64", "c128", "i8", "i16", "i32", "i64", "ui8")) {
      case <- random_case(whole = !grepl("^[bfc]", d))
      x <- if (d == "ui8") abs(case$x) else case$x
      kernel <- if (d == "ui8") abs(case$kernel) else case$kernel
      if (startsWith(d, "c")) {
        x <- x + 1i * rev(x)
        kernel <- kernel - 2i * rev(kernel)
      }
      tx <- nv_tensor(x, d)
      tk <- nv_tensor(kernel, d)
      got <- conv_case(case, tx, tk)
      expect_true(dtype(got) == d)
      want <- want_case(case, in_dtype(x, d), in_dtype(kernel, d))
      unit <- switch(d, f16 = 1e-3, bf16 = 8e-3, f32 = , c64 = 1e-6, 1e-13)
      found <- as_array(nv_convert(got, if (startsWith(d, "c")) "c128" else "f64"))
      expect_identical(dim(found), dim(want))
      expect_lte(max(0, Mod(found - want)), unit * max(1, Mod(want)) * 4)
      if (d %in% c("i8", "i16", "ui8")) {
        expect_equal(as_array(conv_case(case, tx, tk, accumulate = "i32")), want)
      }
    }
  }
  x <- nv_tensor(array(c(TRUE, FALSE, FALSE), c(1, 1, 3)))
  expect_identical(as.logical(nv_conv(x, array(TRUE, c(1, 1, 2)))), c(TRUE, FALSE))
})

test_that("larger convolutions do, too: many terms, channels and windows", {
  set.seed(2)
  x <- array(rnorm(33 * 70 * 5), c(33, 70, 5))
  kernel <- array(rnorm(58 * 35 * 3), c(58, 35, 3))
  got <- nv_conv(nv_tensor(x, "f64"), nv_tensor(kernel, "f64"), padding = 1, groups = 2)
  want <- array(0, c(33, 58, 5))
  padded <- array(0, c(33, 70, 7))
  padded[, , 2:6] <- x
  for (g in 0:1) for (p in 1:5) for (k in 1:3) {
    o <- g * 29 + 1:29
    want[, o, p] <- want[, o, p] + padded[, g * 35 + 1:35, p + k - 1] %*% t(kernel[o, , k])
  }
  expect_equal(as_array(got), want, tolerance = 1e-13)
  # One image of one channel
  image <- matrix(rnorm(60 * 50), 60)
  blur <- nv_tensor(array(1 / 9, c(1, 1, 3, 3)), "f64")
  smooth <- nv_conv(nv_tensor(array(image, c(1, 1, 60, 50)), "f64"), blur)
  want <- Reduce(`+`, lapply(0:8, function(k) image[k %% 3 + 1:58, k %/% 3 + 1:48])) / 9
  expect_equal(as_array(smooth)[1, 1, , ], want, tolerance = 1e-13)
})

test_that("padding is as asked for", {
  x <- nv_tensor(array(as.double(1:7), c(1, 1, 7)), "f64")
  ones <- array(1, c(1, 1, 4))
  of <- function(...) as.vector(nv_conv(x, ones, ...))
  expect_identical(of(), c(10, 14, 18, 22))
  expect_identical(of(padding = "valid"), of())
  expect_identical(of(padding = 1), c(6, 10, 14, 18, 22, 18))
  expect_identical(of(padding = list(c(0, 2))), c(10, 14, 18, 22, 18, 13))
  # jax.lax.conv(x, ones, (s,), "SAME")
  expect_identical(of(padding = "same"), c(6, 10, 14, 18, 22, 18, 13))
  expect_identical(of(padding = "same", stride = 2), c(6, 14, 22, 13))
  expect_identical(of(padding = "same", stride = 3), c(6, 18, 13))
  # jax.lax.conv_transpose(x[:3], ones, (s,), "SAME")
  y <- x[, , 1:3, drop = FALSE]
  spread <- function(...) as.vector(nv_conv(y, ones, transposed = TRUE, ...))
  expect_identical(spread(stride = 2, padding = "same"), c(1, 3, 3, 5, 5, 3))
  expect_identical(spread(stride = 2), c(1, 1, 3, 3, 5, 5, 3, 3))
  expect_identical(spread(stride = 5), c(1, 1, 1, 1, 0, 2, 2, 2, 2, 0, 3, 3, 3, 3))
  expect_identical(spread(stride = 5, padding = "same"), c(spread(stride = 5), 0))
  expect_identical(spread(stride = 2, padding = 1, output_padding = 1), c(1, 3, 3, 5, 5, 3, 3))
})

test_that("a transposed convolution is the transposed linear map", {
  set.seed(3)
  for (k in 1:25) {
    case <- random_case()
    x <- nv_tensor(case$x, "f64")
    kernel <- nv_tensor(case$kernel, "f64")
    y <- conv_case(case, x, kernel)
    v <- nv_tensor(array(rnorm(length(y)), shape(y)), "f64")
    reach <- (dim(case$kernel)[-(1:2)] - 1) * case$dilation + 1
    extra <- (dim(case$x)[-(1:2)] + case$low + case$high - reach) %% case$stride
    back <- conv_case(case, v, kernel, transposed = TRUE, output_padding = extra)
    expect_identical(shape(back), shape(x))
    expect_equal(sum(as_array(back * x)), sum(as_array(y * v)), tolerance = 1e-11)
  }
})

test_that("gradients are the transposed maps, also for other dtypes than the default", {
  set.seed(4)
  for (k in 1:8) {
    case <- random_case()
    x <- nv_tensor(case$x, "f64")
    kernel <- nv_tensor(case$kernel, "f64")
    made <- shape(conv_case(case, x, kernel))
    v <- nv_tensor(array(rnorm(prod(made)), made))
    f <- function(x, kernel) sum(conv_case(case, x, kernel) * v)
    slopes <- gradient(f)(x, kernel)
    # The sum is linear in each operand.
    expect_equal(sum(as_array(slopes$x * x)), as.double(f(x, kernel)), tolerance = 1e-10)
    expect_equal(sum(as_array(slopes$kernel * kernel)), as.double(f(x, kernel)), tolerance = 1e-10)
    one <- sample.int(length(kernel), 1L)
    unit <- nv_tensor(replace(0 * case$kernel, one, 1), "f64")
    expect_equal(as.double(slopes$kernel)[one], as.double(f(x, unit)), tolerance = 1e-10)
    one <- sample.int(length(x), 1L)
    unit <- nv_tensor(replace(0 * case$x, one, 1), "f64")
    expect_equal(as.double(slopes$x)[one], as.double(f(unit, kernel)), tolerance = 1e-10)
  }
})

test_that("slices, names, missing values and compiled functions are those of others", {
  set.seed(5)
  x <- nv_tensor(array(rnorm(2 * 3 * 7 * 4), c(2, 3, 7, 4)), "f64")
  kernel <- nv_tensor(array(rnorm(5 * 3 * 2 * 4), c(5, 3, 2, 4)), "f64")
  each <- lapply(1:4, function(k) as_array(nv_conv(x[, , , k], kernel[, , , k], padding = 1)))
  both <- nv_vmap(function(x, k) nv_conv(x, k, padding = 1), 4L, 4L)(x, kernel)
  expect_equal(as_array(both), array(unlist(each), c(2, 5, 8, 4)))
  one <- nv_vmap(function(x) nv_conv(x, kernel[, , , 1], padding = 1), 4L, 1L)(x)
  expect_equal(as_array(one)[3, , , ], as_array(nv_conv(x[, , , 3], kernel[, , , 1], padding = 1)))
  slopes <- function(x, k) gradient(function(k) sum(nv_conv(x, k, stride = 2)^2))(k)[[1L]]
  all <- nv_vmap(slopes, 4L, 4L)(x, kernel)
  expect_equal(as_array(all[, , , 2]), as_array(slopes(x[, , , 2], kernel[, , , 2])))
  expect_identical(jit(nv_conv)(x[, , , 1], kernel[, , , 1]), nv_conv(x[, , , 1], kernel[, , , 1]))
  named <- array(1, c(2, 1, 3), list(image = c("a", "b"), NULL, NULL))
  taps <- array(1, c(2, 1, 2), list(filter = c("f", "g"), NULL, NULL))
  made <- nv_conv(nv_tensor(named), nv_tensor(taps))
  expect_identical(dimnames(made)[1:2], list(image = c("a", "b"), filter = c("f", "g")))
  gap <- array(c(1, 2, NA, 4, 5, 6), c(1, 1, 6))
  expect_identical(
    as.vector(nv_conv(nv_tensor(gap), array(1, c(1, 1, 2)), padding = 1)),
    c(1, 3, NA, NA, 9, 11, 6)
  )
  taps <- nv_tensor(array(c(1, NA, 1, 1), c(2, 1, 2)))
  expect_identical(
    as.vector(nv_is_na(nv_conv(array(1, c(1, 1, 3)), taps))), c(FALSE, TRUE, FALSE, TRUE)
  )
  threads <- nv_get_threads()
  on.exit(nv_set_threads(threads))
  large <- nv_tensor(array(rnorm(40 * 20 * 30), c(40, 20, 30)), "f32")
  filters <- nv_tensor(array(rnorm(30 * 20 * 5), c(30, 20, 5)), "f32")
  nv_set_threads(1)
  y <- nv_conv(large, filters)
  nv_set_threads(4)
  expect_identical(nv_conv(large, filters), y)
})

test_that("sums that do not fit are counted, or saturate, as those of matrix products", {
  x <- nv_tensor(array(100L, c(1, 1, 4)), "i8")
  ones <- nv_tensor(array(c(1L, 1L, -1L), c(1, 1, 3)), "i8")
  local_promotion(NULL, on = c(overflow = "warn"))
  expect_warning(y <- nv_conv(x, ones, padding = 1), class = "joist_overflow_warning")
  expect_identical(as.vector(y), c(0L, 100L, 100L, -56L))
  top <- with_promotion(NULL, nv_conv(x, ones, padding = 1), on = c(overflow = "saturate"))
  expect_identical(as.vector(top), c(0L, 100L, 100L, 127L))
})

test_that("operands that do not fit are errors that say so", {
  x <- nv_fill(1, c(2, 4, 5))
  expect_error(nv_conv(x, nv_fill(1, c(2, 3, 2))), "channels", class = "joist_shape_error")
  expect_error(nv_conv(x, nv_fill(1, c(2, 4))), "rank", class = "joist_shape_error")
  expect_error(nv_conv2d(x, nv_fill(1, c(2, 4, 1))), "2 more", class = "joist_shape_error")
  expect_error(nv_conv(x, nv_fill(1, c(2, 4, 6))), "fit", class = "joist_shape_error")
  expect_error(nv_conv(x, nv_fill(1, c(3, 2, 1)), groups = 2), class = "joist_shape_error")
  kernel <- nv_fill(1, c(2, 4, 2))
  for (bad in list(0, 1.5, NA, c(1, 2), "a")) {
    expect_error(nv_conv(x, kernel, stride = bad), "stride", class = "joist_value_error")
    expect_error(nv_conv(x, kernel, dilation = bad), "dilation", class = "joist_value_error")
  }
  for (bad in list(-1, "some", list(1), list(1, 2), list(c(0, -1)))) {
    expect_error(nv_conv(x, kernel, padding = bad), "padding", class = "joist_value_error")
  }
  expect_error(nv_conv(x, kernel, output_padding = 1), class = "joist_value_error")
  expect_identical(shape(nv_conv(nv_fill(0, c(0, 4, 5)), kernel)), c(0L, 2L, 4L))
})
