# Fourier transforms beside their definition, and base R's fft().

# The sums of the definition, whose angles are reduced exactly.
by_definition <- function(x, n = length(x), sign = -1) {
  x <- c(x, rep(0, n))[seq_len(n)]
  turns <- outer(seq_len(n) - 1, seq_len(n) - 1) %% n
  drop(exp(sign * 2i * pi * turns / n) %*% x)
}
random_complex <- function(n) complex(real = rnorm(n), imaginary = rnorm(n))
half_of <- function(n) seq_len(n %/% 2 + 1)
unit_of <- function(d) if (d %in% c("f64", "c128")) 2^-52 else 2^-23

expect_near <- function(x, want, d, label) {
  size <- sqrt(mean(Mod(want)^2))
  error <- max(Mod(as_array(x) - want)) / (size * unit_of(d))
  # The sums of the definition are rounded, too.
  expect_lt(error, 6 + 3 * log2(length(want)), label = label)
}

test_that("transforms of every length equal their definition", {
  set.seed(1)
  for (n in c(1:34, 37, 49, 64, 74, 101, 121, 127:129, 210, 257, 1021, 1024, 1155)) {
    z <- random_complex(n)
    want <- by_definition(z)
    for (d in c("c64", "c128")) {
      label <- paste(n, d)
      real <- if (d == "c64") "f32" else "f64"
      z_in <- as_array(nv_tensor(z, d))
      x_in <- as_array(nv_tensor(Re(z), real))
      half <- by_definition(x_in)[half_of(n)]
      expect_near(nv_fft(nv_tensor(z, d)), by_definition(z_in), d, label)
      expect_near(nv_ifft(nv_tensor(z, d)), by_definition(z_in, sign = 1) / n, d, label)
      expect_near(nv_rfft(nv_tensor(x_in, real)), half, d, label)
      expect_near(nv_ihfft(nv_tensor(x_in, real)), Conj(half) / n, d, label)
      expect_near(nv_irfft(nv_tensor(half, d), n), x_in, d, label)
      expect_near(nv_hfft(nv_tensor(Conj(half), d), n), x_in * n, d, label)
    }
  }
})

test_that("long lines equal base R's fft(), and go back", {
  set.seed(2)
  for (n in c(4099, 8191, 8193, 9216, 20000)) {
    z <- random_complex(n)
    for (d in c("c64", "c128")) {
      x <- nv_tensor(z, d)
      real <- nv_tensor(Re(z), if (d == "c64") "f32" else "f64")
      expect_lt(max(Mod(as_array(nv_fft(x)) - fft(z))) / sqrt(n), if (d == "c64") 2e-6 else 1e-11)
      expect_near(nv_ifft(nv_fft(x)), as_array(x), d, paste(n, d))
      expect_near(nv_irfft(nv_rfft(real), n), as_array(real), d, paste(n, d))
      expect_near(nv_rfft(real), as_array(nv_fft(real))[half_of(n)], d, paste(n, d))
    }
  }
})

test_that("lines along any dimension are transformed, as by fft() and mvfft()", {
  set.seed(3)
  for (n in c(1, 2, 6, 16, 37, 45, 74, 1024)) {
    m <- matrix(random_complex(n * 21), n)
    x <- nv_tensor(m, "c128")
    expect_near(nv_fft(x, dims = 1), mvfft(m), "c128", n)
    expect_near(nv_fft(t(x), dims = 2), t(mvfft(m)), "c128", n)
    half <- mvfft(Re(m))[half_of(n), , drop = FALSE]
    expect_near(nv_rfft(nv_tensor(Re(m), "f64"), dims = 1), half, "f64", n)
    expect_near(nv_rfft(nv_tensor(t(Re(m)), "f64"), dims = 2), t(half), "f64", n)
    expect_near(nv_irfft(nv_tensor(half, "c128"), n, 1), Re(m), "f64", n)
  }
  a <- array(random_complex(60), 3:5)
  expect_near(nv_fft(nv_tensor(a, "c128")), fft(a), "c128", "all")
  expect_near(nv_ifft(nv_tensor(a, "c128")), fft(a, TRUE) / 60, "c128", "inverse")
  expect_near(nv_rfft(nv_tensor(Re(a), "f64")), fft(Re(a))[, , 1:3], "c128", "real")
  expect_near(nv_irfft(nv_rfft(nv_tensor(Re(a), "f64")), 3:5), Re(a), "f64", "back")
})

test_that("long lines side by side, real ones and those of other lengths, equal the definition", {
  set.seed(5)
  for (n in c(4099, 4200, 9216, 10007)) {
    at <- sort(sample(n, 40))
    turns <- outer(at - 1, seq_len(n) - 1) %% n
    wanted <- function(m, sign = -1) exp(sign * 2i * pi * turns / n) %*% m
    m <- matrix(random_complex(n * 3), n)
    for (d in c("c64", "c128")) {
      real <- if (d == "c64") "f32" else "f64"
      z <- as_array(nv_tensor(m, d))
      r <- as_array(nv_tensor(Re(m), real))
      near <- function(y, want) {
        error <- max(Mod(as_array(y[at, ]) - want)) / sqrt(mean(Mod(want)^2))
        # The sums of the definition are rounded in double.
        expect_lt(error, if (d == "c64") 3e-6 else 1e-12, label = paste(n, d))
      }
      near(t(nv_fft(nv_tensor(t(z), d), dims = 2)), wanted(z))
      near(t(nv_ifft(nv_tensor(t(z), d), dims = 2)), wanted(z, 1) / n)
      near(nv_fft(nv_tensor(r, real), dims = 1), wanted(r))
      near(t(nv_fft(nv_tensor(t(r), real), dims = 2)), wanted(r))
      near(nv_ifft(nv_tensor(r, real), dims = 1), wanted(r, 1) / n)
      near(nv_fft(nv_tensor(z[-(1:9), ], d), n, 1), wanted(rbind(z[-(1:9), ], matrix(0, 9, 3))))
    }
  }
})

test_that("real numbers in lines of any shape have the transform of complex ones", {
  set.seed(6)
  for (n in c(1:9, 15, 16, 37, 74, 512)) {
    x <- nv_tensor(array(rnorm(n * 5 * 9), c(5, n, 9)), "f64")
    for (f in list(nv_fft, nv_ifft)) {
      expect_near(f(x, dims = 2), as_array(f(nv_convert(x, "c128"), dims = 2)), "c128", n)
    }
    expect_near(nv_fft(x, n + 3, 2), as_array(nv_fft(nv_convert(x, "c128"), n + 3, 2)), "c128", n)
  }
})

test_that("real numbers along several dims have the transform of complex ones, and its symmetry", {
  set.seed(7)
  shapes <- list(c(7, 9), c(512, 40), c(1, 4), c(4, 1), c(6, 4, 5), c(5000, 3), c(3, 4200))
  for (d in c("f32", "f64")) {
    for (extents in shapes) {
      x <- nv_tensor(array(rnorm(prod(extents)), extents), d)
      z <- nv_convert(x, if (d == "f32") "c64" else "c128")
      for (f in list(nv_fft, nv_ifft)) expect_near(f(x), as_array(f(z)), d, format(extents))
    }
    x <- nv_tensor(array(rnorm(3 * 18 * 4 * 5), c(3, 18, 4, 5)), d)
    z <- nv_convert(x, if (d == "f32") "c64" else "c128")
    for (dims in list(c(2, 4), c(3, 2), c(4, 1, 3))) {
      n <- replace(shape(x)[dims], 1, 7)
      expect_near(nv_fft(x, dims = dims), as_array(nv_fft(z, dims = dims)), d, format(dims))
      y <- nv_fft(x, n, dims, "ortho")
      expect_near(y, as_array(nv_fft(z, n, dims, "ortho")), d, format(dims))
      expect_identical(jit(function(x) nv_fft(x, n, dims, "ortho"))(x), y)
    }
    f <- function(x) nv_fft(x, dims = c(3, 1))
    mapped <- nv_vmap(f, 2)(x)
    want <- aperm(as_array(nv_fft(z, dims = c(4, 1))), c(2, 1, 3, 4))
    expect_near(mapped, want, d, "mapped")
  }
  y <- as_array(nv_fft(nv_tensor(matrix(rnorm(30), 6), "f64")))
  expect_identical(y[5:6, c(1, 5:2)], Conj(y[3:2, ]))
  parts <- array(c(NA, 1:11), c(2, 3, 2))
  missing <- is.na(as_array(nv_fft(nv_tensor(parts, "f64"), dims = 1:2)))
  expect_identical(missing, array(rep(c(TRUE, FALSE), each = 6), c(2, 3, 2)))
})

test_that("tables that are kept give the same bits", {
  x <- nv_tensor(cos(1:4099), "f32")
  first <- nv_fft(x)
  for (n in 101:112) nv_fft(nv_tensor(seq_len(n), "f32"))
  expect_identical(nv_fft(x), first)
  expect_identical(nv_fft(x), first)
  nv_trim_memory()
  expect_identical(nv_fft(x), first)
})

test_that("lengths, norms and dtypes are as asked for", {
  x <- nv_tensor(c(1, -2, 4), "f64")
  expect_near(nv_fft(x, 5), by_definition(c(1, -2, 4), 5), "c128", "longer")
  expect_near(nv_fft(x, 2), by_definition(c(1, -2)), "c128", "shorter")
  expect_near(nv_rfft(x, 8), by_definition(c(1, -2, 4), 8)[1:5], "c128", "real")
  expect_near(nv_rfft(x, 2), by_definition(c(1, -2)), "c128", "real")
  z <- by_definition(c(1, -2, 4))
  expect_near(nv_fft(x, norm = "ortho"), z / sqrt(3), "c128", "ortho")
  expect_near(nv_fft(x, norm = "forward"), z / 3, "c128", "forward")
  back <- nv_ifft(nv_fft(x, norm = "forward"), norm = "forward")
  expect_near(back, c(1, -2, 4), "f64", "back")
  # Elements that are not there are 0; the imaginary parts of the first and the last are ignored.
  half <- by_definition(c(1, 3i, 0, 0, 0, -3i), sign = 1) / 6
  expect_near(nv_irfft(nv_tensor(c(1 + 2i, 3i), "c128"), 6), Re(half), "f64", "short")
  dtypes <- list(
    c64 = nv_fft(nv_tensor(1:3, "f16")), c64 = nv_rfft(nv_tensor(1:3, "bf16")),
    f32 = nv_irfft(nv_tensor(1:3, "f16")), c128 = nv_fft(nv_tensor(1:3, "f64")),
    f64 = nv_hfft(nv_tensor(1:3, "c128")), c64 = nv_fft(nv_tensor(1:3, "f32"))
  )
  for (k in seq_along(dtypes)) expect_equal(format(dtype(dtypes[[k]])), names(dtypes)[k])
  expect_identical(shape(nv_fft(nv_tensor(numeric(), "f64"))), 0L)
  for (norm in c("backward", "forward", "ortho")) { # base R's fft() of no elements has none
    for (f in list(nv_fft, nv_ifft)) {
      expect_identical(shape(f(nv_tensor(matrix(0, 5, 0)), norm = norm)), c(5L, 0L), label = norm)
    }
  }
  expect_identical(shape(nv_rfft(nv_tensor(matrix(0, 4, 0)), dims = 1)), c(3L, 0L))
})

test_that("results round no more than those of pocketfft", {
  # Root mean square errors that SciPy 1.17.1 has for f32, in units of 2^-24 of that of the results.
  pocketfft <- list(
    c(6, 0.851, 1.069), c(12, 0.936, 1.119), c(16, 0.961, 0.976), c(20, 1.166, 1.354),
    c(116, 1.485, 1.552), c(128, 1.474, 1.473), c(244, 1.629, 1.888),
    c(512, 1.726, 1.739), c(1024, 1.82, 1.831)
  )
  set.seed(3)
  error_of <- function(f, x) {
    want <- as_array(f(nv_convert(x, if (dtype(x) == "f32") "f64" else "c128")))
    sqrt(mean(Mod(as_array(f(x)) - want)^2) / mean(Mod(want)^2)) * 2^24
  }
  for (row in pocketfft) {
    n <- row[1]
    lines <- ceiling(1e5 / n)
    real <- nv_tensor(matrix(rnorm(n * lines), n), "f32")
    half <- nv_tensor(matrix(random_complex((n / 2 + 1) * lines), n / 2 + 1), "c64")
    expect_lt(error_of(function(x) nv_fft(x, dims = 1), real), row[2] * 1.005, label = n)
    expect_lt(error_of(function(x) nv_irfft(x, n, 1), half), row[3] * 1.005, label = n)
  }
  expect_identical(as_array(nv_fft(nv_tensor(c(0, 1, 1), "f64")))[2:3], c(-1 + 0i, -1 + 0i))
  # Roots of unity are the doubles closest to them: sqrt(3) / 2, and some in 113 bits.
  root <- function(n, k) as_array(nv_fft(nv_tensor(c(0, 1, numeric(n - 2)), "f64")))[k + 1]
  expect_identical(root(3, 1), complex(real = -0.5, imaginary = -sqrt(3) / 2))
  expect_identical(Re(root(29, 4)), 0x1.4b76371208a62p-1)
  expect_identical(
    Im(root(29, c(3, 10, 13))),
    c(-0x1.35d9650d47852p-1, -0x1.a7c6da34af89fp-1, -0x1.46f6faf5fcb72p-2)
  )
  y <- as_array(nv_fft(nv_tensor(rnorm(45), "f64")))
  expect_identical(y[2:45], Conj(rev(y[2:45])))
})

test_that("what is not finite or missing stays in its line", {
  m <- matrix(c(1, NaN, 2, 1:9), 3)
  for (f in list(nv_fft, nv_rfft, nv_irfft)) {
    y <- as_array(f(nv_tensor(m, "f64"), dims = 1))
    expect_true(is.nan(Re(y[1, 1])))
    expect_identical(y[, -1], as_array(f(nv_tensor(m[, -1], "f64"), dims = 1)))
    x <- nv_tensor(replace(m, 2, NA), "f64")
    expect_identical(is.na(as_array(f(x, dims = 1)))[1, ], c(TRUE, FALSE, FALSE, FALSE))
  }
  # Large numbers beside small ones do not round them.
  far <- cbind(c(1e30, 2e30, 3e30, 5e30), c(1, 2, 3, 5))
  y <- as_array(nv_rfft(nv_tensor(far, "f32"), dims = 1))
  expect_identical(y[, 2], as_array(nv_rfft(nv_tensor(far[, 2], "f32"))))
})

test_that("the same bits with and without jit(), for any number of threads", {
  set.seed(4)
  threads <- nv_get_threads()
  on.exit(nv_set_threads(threads))
  for (n in c(30, 4096, 9216, 4099)) {
    x <- nv_tensor(matrix(rnorm(3 * n), n), "f32")
    f <- function(x) {
      Mod(nv_ifft(nv_fft(x, dims = 1) * 2, dims = 1)) + nv_irfft(nv_rfft(x, dims = 1), n, 1)
    }
    nv_set_threads(1)
    y <- f(x)
    nv_set_threads(threads)
    expect_identical(f(x), y)
    expect_identical(jit(f)(x), y)
  }
})

test_that("frequencies are those of the elements, and halves are shifted", {
  expect_equal(as_array(nv_fftfreq(5, 0.5)), c(0, 1, 2, -2, -1) / 2.5)
  expect_equal(as_array(nv_fftfreq(4)), c(0, 1, -2, -1) / 4)
  expect_equal(as_array(nv_rfftfreq(5)), 0:2 / 5)
  expect_equal(as_array(nv_rfftfreq(4)), 0:2 / 4)
  for (n in 1:5) {
    x <- nv_tensor(seq_len(n))
    expect_equal(as_array(nv_fftshift(x))[n %/% 2 + 1], 1L)
    expect_identical(nv_ifftshift(nv_fftshift(x)), x)
  }
  m <- nv_tensor(matrix(1:6, 2))
  expect_equal(as_array(nv_fftshift(m)), matrix(1:6, 2)[2:1, c(3, 1, 2)])
  expect_equal(as_array(nv_fftshift(m, 2)), matrix(1:6, 2)[, c(3, 1, 2)])
})

test_that("a wrong length, norm or dimension is an error", {
  x <- nv_tensor(1:3, "f64")
  for (n in list(0, -1, 1.5, NA, c(2, 2), "3")) {
    expect_error(nv_fft(x, n), class = "joist_value_error")
  }
  expect_error(nv_irfft(nv_tensor(1, "c64")), class = "joist_value_error")
  expect_error(nv_fft(x, norm = "none"), class = "joist_value_error")
  expect_error(nv_fft(nv_scalar(1)), class = "joist_shape_error")
  expect_error(nv_fft(x, dims = 2), class = "joist_shape_error")
  expect_error(nv_rfft(nv_tensor(1i)), class = "joist_dtype_error")
  expect_error(nv_fftfreq(0), class = "joist_value_error")
  expect_error(nv_fftfreq(2, "a"), class = "joist_value_error")
  expect_error(jit(function(n) nv_fft(x, n))(nv_scalar(3L)), class = "joist_value_error")
})
