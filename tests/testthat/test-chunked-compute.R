# Chunked tensors: programs over blocks against the same functions of tensors in memory, and
# against base R.

made <- function(values, dtype, chunks, ..., path = tempfile()) {
  x <- nv_zarr_create(path, dtype, dim(values), chunks, ...)
  x[] <- nv_tensor(values, dtype)
  x
}

# The bytes of a file in the folder of a store; NULL if it does not exist.
file_in <- function(path, key) {
  file <- file.path(path, key)
  if (file.exists(file)) readBin(file, "raw", file.size(file))
}

numbers <- matrix(c(3, 1, 2, 5, 7, 6, -8, 11, 4, 0, 9, -2, 13, 12, -10, 14, 16, 15, 21, 17), 5)

test_that("a chunked tensor describes itself as a tensor does", {
  x <- made(numbers, "f32", c(2, 3))
  expect_identical(dtype(x), as_dtype("f32"))
  expect_identical(shape(x), c(5L, 4L))
  expect_identical(dim(x), c(5L, 4L))
  expect_identical(length(x), 20L)
  expect_true(is_tensor(x))
  expect_output(print(x), "[ Zarr f32{5x4}, chunks 2x3, writable ]", fixed = TRUE)
  expect_output(print(x + 1), "[ Delayed f32{5x4}, blocks 2x3 ]", fixed = TRUE)
  expect_output(print(x, max = 4), "16 more")
  expect_output(print(sum(x)), "^\\[ Delayed f32\\{\\} \\]$")
  expect_output(str(x), "Zarr")
  expect_output(print(summary(x)), "20 elements")
  big <- nv_zarr_create(tempfile(), "f32", c(1e5, 2e4), 1000)
  expect_output(print(big), "[ Zarr f32{100000x20000}, chunks 1000x1000, writable ]", fixed = TRUE)
})

test_that("subsets are those of the matrix, and read the chunks that they need", {
  x <- made(numbers, "f64", c(2, 3))
  for (i in list(1:5, 3, c(5, 1, 1), -2, c(TRUE, FALSE), 0, integer(), 2:4)) {
    for (j in list(1:4, 4, c(4, 2), -(1:3))) {
      expect_identical(as_array(x[i, j, drop = FALSE]), numbers[i, j, drop = FALSE])
    }
  }
  expect_identical(as_array(x[, 2]), numbers[, 2])
  expect_identical(as_array(x[3, ]), numbers[3, ])
  expect_identical(as_array(x[]), numbers)
  expect_identical(as_array(x[[2, 3]]), numbers[2, 3])
  expect_identical(as_array((x * 2)[4:5, 1]), numbers[4:5, 1] * 2)
  expect_identical(as_array((x - nv_mean(x, 1, FALSE))[2, 3]), numbers[2, 3] - mean(numbers[, 3]))
  expect_identical(as_array(nv_reduce_sum(x, 1)[2:3]), colSums(numbers)[2:3])
  expect_identical(as_array(nv_reduce_max(x, 2, FALSE)[4, 1]), max(numbers[4, ]))
  expect_error(x[6, 1], "out of range", class = "joist_shape_error")
  expect_error(x[[1:2, 1]], "one element, and these are 2", class = "joist_shape_error")
  expect_error(x[1, 2, 3], "3 indices", class = "joist_shape_error")
  expect_error(x[3], class = "joist_shape_error")
  # Only one chunk is there to be read.
  folder <- tempfile()
  y <- nv_zarr_create(folder, "f64", c(5, 4), c(2, 3))
  y[] <- nv_tensor(numbers, "f64")
  for (chunk in setdiff(list.files(file.path(folder, "c"), recursive = TRUE), "1/1")) {
    writeBin(raw(1), file.path(folder, "c", chunk))
  }
  expect_identical(as_array(y[4:3, 4]), numbers[4:3, 4])
  expect_error(y[5, 4], "c/2/1", class = "joist_value_error")
})

test_that("assignment writes the elements that are meant, and no others", {
  for (value in list(99L, 1:6)) {
    x <- made(numbers, "i32", c(2, 3))
    wanted <- numbers
    wanted[c(5, 1, 2), c(4, 1)] <- value
    x[c(5, 1, 2), c(4, 1)] <- value
    expect_identical(as_array(x[]) + 0, wanted)
  }
  x[2, ] <- nv_tensor(4:1, "i16")
  expect_identical(as_array(x[2, ]), 4:1)
  x[1, 1] <- max(x[1:2, 2:3])
  y <- nv_zarr_create(tempfile(), "i32", c(5, 4), 2)
  y[, ] <- x
  expect_identical(y[], x[])
  expect_error(x[1, 1] <- 1.5, class = "joist_promotion_error")
  expect_error(x[1, ] <- 1:3, "shape \\{3\\} cannot replace 4", class = "joist_shape_error")
  expect_error(x[3] <- 1L, "an index for each dimension", class = "joist_shape_error")
  z <- x + 1L
  expect_error(z[1, 1] <- 1L, "nv_store", class = "joist_value_error")
})

test_that("an index that is NA gives NA, and changes nothing", {
  x <- made(matrix(1:20 + 0, 5), "f64", c(2, 3))
  wanted <- matrix(1:20 + 0, 5)
  wanted[c(1, NA), 2] <- 7
  x[c(1, NA), 2] <- 7
  expect_error(x[c(1, NA), 2] <- c(7, 8), "dimension 1 is NA", class = "joist_value_error")
  expect_error(x[3, ] <- c(5, NA, 1, 2), "position 2", class = "joist_value_error")
  expect_identical(as_array(x[]), wanted)
  expect_identical(as_array(x[c(5, NA), 2]), wanted[c(5, NA), 2])
})

test_that("NaN goes into a store and comes out, and NA where `na` says what is written", {
  x <- made(matrix(1:20 + 0, 5), "f64", c(2, 3), na = NaN)
  wanted <- matrix(1:20 + 0, 5)
  wanted[1, 1] <- NaN
  x[1, 1] <- NA
  wanted[3, ] <- c(NaN, 1, NaN, 2)
  x[3, ] <- c(NA, 1, NaN, 2)
  wanted[5, 4] <- NaN
  x[5, 4] <- NA_integer_
  expect_identical(as_array(x[]), wanted)
  expect_identical(as_array(x[c(5, NA, 1), c(NA, 4)]), wanted[c(5, NA, 1), c(NA, 4)])
  expect_identical(as_array(nv_reduce_sum(x[4:5, ] + 0, 2)[NA]), c(NA_real_, NA_real_))
  expect_identical(as_array(nv_reduce_max(x, 2)[c(2, NA)]), c(17, NA))
  single <- made(matrix(1:4, 2), "f32", 1)
  expect_error(single[1, 1] <- NA, "`na =`", class = "joist_value_error")
  expect_identical(as_array(single[NA, 1]), c(NA_real_, NA))
})

test_that("what cannot be assigned changes nothing, and the dimension of an index is named", {
  x <- made(matrix(1:6, 2), "ui8", 1)
  before <- x[]
  expect_error(x[] <- c(9L, 9L, 9L, 9L, 9L, 300L), "does not fit ui8", class = "joist_value_error")
  expect_identical(x[], before)
  expect_error(x[1, 4], "of dimension 2 is out of range \\(1 to 3\\)", class = "joist_shape_error")
  expect_error(x[1, -4], "of dimension 2", class = "joist_shape_error")
  expect_error(x[1, 9] <- 1L, "of dimension 2", class = "joist_shape_error")
})

test_that("delayed operations are those of tensors, bit for bit where nothing is summed", {
  x <- made(numbers, "f32", c(2, 3))
  y <- made(numbers / 7, "f32", c(3, 2))
  xt <- nv_tensor(numbers, "f32")
  yt <- nv_tensor(numbers / 7, "f32")
  row <- nv_tensor(matrix(1:4, 1), "f32")
  programs <- list(
    function(x, y) x * 2 + y / 3L - pi,
    function(x, y) exp(-abs(x)) > y,
    function(x, y) nv_ifelse(x > 0, x, y),
    function(x, y) t(x) * t(y),
    function(x, y) nv_transpose(x + y),
    function(x, y) nv_convert(x, "i16") %/% 2L,
    function(x, y) x * row + 1,
    function(x, y) nv_cumsum(nv_convert(x, "i32"), 1),
    function(x, y) nv_cummax(x, 2) + y,
    function(x, y) nv_cummin(x, -1) + nv_sort(y, -2),
    function(x, y) nv_sort(x, 1, decreasing = TRUE),
    function(x, y) nv_argsort(y, 2),
    function(x, y) nv_argmax(x, 1),
    function(x, y) nv_top_k(x, 2, 1)$values,
    function(x, y) nv_top_k(x + y, 3, 2, decreasing = FALSE)$indices,
    function(x, y) nv_take_along(x, nv_argsort(y, 1), 1),
    function(x, y) nv_take_along(x, nv_tensor(matrix(c(5L, 2L), 2, 4)), 1),
    function(x, y) range(x),
    function(x, y) nv_range(x * y, 1),
    function(x, y) nv_range(x, 2, drop = FALSE),
    function(x, y) nv_reduce_max(x * y, 2),
    function(x, y) nv_reduce_min(x, 1, drop = FALSE) + y,
    function(x, y) max(x),
    function(x, y) any(x > 20),
    function(x, y) nv_reduce_sum(nv_convert(x, "i32"), 1),
    function(x, y) nv_unsqueeze(nv_reduce_all(x > -9, 2), 1),
    function(x, y) x %*% t(x),
    function(x, y) nv_crossprod(x),
    function(x, y) nv_tcrossprod(x, row),
    function(x, y) (x - nv_reduce_max(x, 1, FALSE)) * nv_reduce_min(x, 2, FALSE),
    function(x, y) nv_broadcast_to(nv_reduce_max(x, 1, FALSE), c(5L, 4L))
  )
  for (f in programs) {
    lazy <- f(x, y)
    wanted <- f(xt, yt)
    expect_s3_class(lazy, "nv_chunked")
    expect_identical(
      list(dtype(lazy), shape(lazy), ambiguous(lazy)),
      list(dtype(wanted), shape(wanted), ambiguous(wanted)), label = deparse1(body(f))
    )
    expect_identical(nv_compute(lazy), wanted, label = deparse1(body(f)))
    if (length(shape(lazy)) > 0L) {
      expect_identical(nv_compute(nv_store(lazy, tempfile(), chunks = 2)),
        nv_convert(wanted, dtype(wanted)), label = deparse1(body(f)))
    }
  }
})

test_that("scalars are computed with as in memory", {
  kept <- nv_scalar(3, "f32")
  stored <- nv_zarr_create(tempfile(), "f32", integer())
  stored[] <- kept
  m <- nv_tensor(matrix(1:6, 2), "i16")
  reshaped <- nv_reshape(nv_chunked(nv_reshape(kept, 1L)), integer())
  for (x in list(nv_chunked(kept), stored, reshaped)) {
    expect_identical(nv_compute(x), kept)
    expect_identical(nv_compute(x + 1), kept + 1)
    expect_identical(nv_compute(sum(x)), sum(kept))
    expect_identical(nv_compute(nv_chunked(m, 1L) * x - x), m * kept - kept)
    expect_identical(nv_compute(nv_store(x * 2, tempfile())), kept * 2)
    expect_identical(x[], kept)
  }
})

test_that("products of matrices accumulate in the dtype that is asked for", {
  a <- matrix(rep_len(c(100, -3, 77, 5, 120), 6 * 50), 6)
  b <- matrix(rep_len(c(90, 12, -7), 50 * 4), 50)
  for (dtype in c("i8", "i16", "f16", "bf16", "f32")) {
    x <- nv_chunked(nv_tensor(a, dtype), c(4L, 7L))
    y <- nv_chunked(nv_tensor(b, dtype), c(9L, 3L))
    for (accumulate in c("f32", "f64", if (startsWith(dtype, "i")) c("i32", "i64"))) {
      got <- nv_compute(nv_matmul(x, y, accumulate))
      expect_identical(format(dtype(got)), accumulate)
      expect_identical(as_array(nv_convert(got, "f64")), a %*% b)
    }
  }
})

test_that("operators repeat one element over an array, as in memory", {
  one <- nv_tensor(5L, "i32", shape = 1L)
  for (shape in list(c(2L, 3L), c(1L, 1L), 1L)) {
    m <- nv_tensor(array(seq_len(prod(shape)), shape), "i32", shape = shape)
    for (x in list(one, nv_chunked(one))) {
      expect_identical(nv_compute(x - nv_chunked(m, 1L)), one - m)
      expect_identical(nv_compute(nv_chunked(m, 1L) > x), m > one)
    }
    expect_identical(nv_compute(nv_chunked(one) - as_array(m)), one - as_array(m))
  }
  # Functions do not. Errors are those of the user's call.
  m <- nv_tensor(matrix(1:6, 2))
  mixed <- function() with_promotion("jax_lax", nv_chunked(m) + nv_tensor(1, "f64"))
  wrong <- tryCatch(mixed(), joist_promotion_error = conditionCall)
  expect_identical(wrong, quote(nv_chunked(m) + nv_tensor(1, "f64")))
  expect_error(nv_add(nv_chunked(one), m), class = "joist_shape_error")
})

test_that("sums are those of base R to the precision of the dtype, for every dtype", {
  set.seed(1)
  values <- matrix(round(rnorm(70) * 8), 10)
  # Zarr has floats of 8 bits of few formats.
  for (dtype in setdiff(wide(dtypes()), "bool")) {
    whole <- if (startsWith(dtype, "ui")) abs(values) else values
    x <- made(whole, dtype, c(3, 2))
    sums <- Re(as_array(nv_compute(nv_reduce_sum(x, 1)), "complex"))
    expect_equal(sums, colSums(whole), tolerance = 1e-2)
    lazy <- nv_mean(x, 2)
    wanted <- nv_mean(nv_tensor(whole, dtype), 2)
    expect_identical(list(dtype(lazy), ambiguous(lazy)), list(dtype(wanted), ambiguous(wanted)))
    expect_equal(nv_compute(lazy), wanted)
  }
  x <- made(values, "f64", c(3, 2))
  expect_equal(as_array(nv_compute(nv_var(x, 1))), apply(values, 2, var))
  expect_equal(as_array(nv_compute(nv_sd(x))), sd(values))
  expect_equal(as_array(nv_compute(nv_cov(x))), cov(values))
  expect_equal(as_array(nv_compute(mean(x))), mean(values))
  expect_equal(as_array(nv_compute(rowSums(x))), rowSums(values))
  expect_equal(as_array(nv_compute(scale(x))), scale(values), ignore_attr = TRUE)
  # Halves are summed in f32: 3000 ones would stop at 2048.
  ones <- nv_zarr_create(tempfile(), "f16", 6000L, 500L, fill = 1)
  expect_identical(as_array(nv_compute(sum(ones))), 6000)
  # As are those of products: their parts are whole numbers, which f32 holds and f16 does not.
  whole <- matrix(sample(0:40, 600, TRUE), 100)
  product <- nv_compute(nv_crossprod(made(whole, "f16", c(9, 4))))
  expect_identical(as_array(product), round_to(crossprod(whole), "f16"))
})

test_that("products of a matrix and itself are those in memory, in memory, in stores and resumed", {
  for (type in c("f32", "f64", "i32")) {
    values <- nv_tensor(matrix(sample(-9:9, 2310, TRUE), 33), type)
    x <- made(as_array(values), type, c(10, 16))
    programs <- list(
      nv_crossprod, nv_tcrossprod, function(x) x %*% t(x), function(x) nv_crossprod(x * 2L) + 1L
    )
    for (f in programs) for (chunks in list(NULL, c(13L, 11L))) {
      want <- as_array(f(values))
      expect_identical(as_array(nv_compute(f(x))), want)
      path <- tempfile()
      y <- nv_store(f(x), path, chunks = chunks)
      expect_identical(as_array(nv_compute(y)), want)
      files <- list.files(file.path(path, "c"), recursive = TRUE, full.names = TRUE)
      unlink(files[seq(1, length(files), 2)])
      expect_identical(as_array(nv_compute(nv_store(f(x), path, resume = TRUE, chunks = chunks))), {
        want
      })
    }
  }
})

test_that("a product of a product of a matrix and itself need not be symmetric", {
  z <- matrix(sample(-5:5, 600, TRUE), 20)
  w <- matrix(sample(-5:5, 900, TRUE), 30)
  for (rows in c(10, 20)) { # in parts, and within the blocks of the other product
    x <- made(z, "f64", c(rows, 10))
    y <- made(w, "f64", c(10, 10))
    twice <- nv_matmul(nv_crossprod(x) * 2, y)
    expect_identical(as_array(nv_compute(nv_matmul(nv_crossprod(x), y))), crossprod(z) %*% w)
    expect_identical(as_array(nv_compute(nv_matmul(y, nv_crossprod(x)))), w %*% crossprod(z))
    expect_identical(as_array(nv_compute(twice)), 2 * crossprod(z) %*% w)
  }
})

test_that("programs are the same whatever the order of the elements in stores", {
  whole <- function(x) nv_convert(x, "i32")
  programs <- list(
    function(x, y) x * 2 + y / 3L - pi,
    function(x, y) t(x) * t(y) + 1,
    function(x, y) nv_cumsum(whole(x), 1) - nv_cummax(whole(y), 2),
    function(x, y) nv_sort(nv_sort(x, 1), 2, decreasing = TRUE),
    function(x, y) nv_argmax(x, 2),
    function(x, y) nv_argmin(x, 1),
    function(x, y) nv_top_k(x, 2, 2)$values + nv_top_k(y, 2, 2)$values,
    function(x, y) nv_take_along(x, nv_argsort(y, 1), 1),
    function(x, y) nv_unsqueeze(x, 2) + nv_unsqueeze(y, 2),
    function(x, y) (x - nv_reduce_max(x, 1, FALSE)) * nv_reduce_min(y, 2, FALSE),
    function(x, y) nv_reduce_sum(whole(x), 1),
    function(x, y) nv_reduce_sum(whole(x), 2, drop = FALSE),
    function(x, y) nv_matmul(whole(x), t(whole(y))),
    function(x, y) nv_crossprod(whole(x), whole(y)),
    function(x, y) nv_tcrossprod(whole(x), nv_tensor(matrix(1:8, 2), "i32")),
    function(x, y) nv_broadcast_to(nv_reduce_max(x, 1, FALSE), c(5L, 4L)) + x
  )
  yt <- nv_tensor(numbers / 7, "f32")
  for (orders in list(c("C", "F"), c("F", "F"), c("F", "C"), c("C", "C"))) {
    x <- made(numbers, "f32", c(2, 3), order = orders[1L])
    y <- made(numbers / 7, "f32", c(3, 2), order = orders[2L])
    for (f in programs) {
      wanted <- f(nv_tensor(numbers, "f32"), yt)
      expect_identical(nv_compute(f(x, y)), wanted, label = deparse1(body(f)))
      for (order in c("C", "F")) {
        stored <- nv_store(f(x, y), tempfile(), order = order)
        expect_identical(nv_compute(stored), nv_convert(wanted, dtype(wanted)),
          label = deparse1(body(f)))
      }
    }
  }
  cube <- array(as.numeric(1:60), c(3, 4, 5))
  for (order in list("C", "F", c(2L, 3L, 1L))) {
    x <- made(cube, "f64", c(2, 3, 2), order = order)
    expect_identical(as_array(nv_compute(nv_transpose(x, c(3, 1, 2)))), aperm(cube, c(3, 1, 2)))
    expect_identical(as_array(nv_compute(nv_reduce_sum(x, c(1, 3)))), apply(cube, 2, sum))
    expect_identical(as_array(nv_compute(nv_reduce_max(x + 1, 2))), apply(cube + 1, c(1, 3), max))
    sums <- aperm(apply(cube, 1:2, cumsum), c(2, 3, 1))
    expect_identical(as_array(nv_compute(nv_cumsum(x, 3))), sums)
    y <- nv_store(nv_transpose(x, c(2, 3, 1)) * 2, tempfile(), chunks = c(3, 2, 2))
    expect_identical(as_array(y[]), aperm(cube, c(2, 3, 1)) * 2)
  }
})

test_that("variances are those of base R, whatever the elements are", {
  set.seed(3)
  values <- list(
    rnorm(120), rnorm(120) + 1e7, c(1e9, rnorm(119)), rep(3, 120), c(rnorm(119), NaN), 1:120 * 1e100
  )
  for (v in values) {
    m <- matrix(v, 30)
    x <- made(m, "f64", c(7, 3))
    expect_equal(as_array(nv_compute(nv_var(x, 1))), apply(m, 2, var), tolerance = 1e-9)
    expect_equal(as_array(nv_compute(nv_sd(x, 2))), apply(m, 1, sd), tolerance = 1e-9)
    mean_square <- var(v) * 119 / 120
    expect_equal(as_array(nv_compute(nv_var(x, correction = 0))), mean_square, tolerance = 1e-9)
  }
  z <- complex(real = rnorm(40), imaginary = rnorm(40))
  x <- made(matrix(z, 8), "c128", 3)
  expect_equal(as_array(nv_compute(nv_var(x))), var(Re(z)) + var(Im(z)))
  # Of what was reduced before, which is in memory then.
  y <- made(numbers, "f64", c(2, 3))
  expect_equal(as_array(nv_compute(nv_sd(nv_reduce_max(y, 1)))), sd(apply(numbers, 2, max)))
  # Of one element there is none, and of none.
  expect_identical(as_array(nv_compute(nv_var(x[1, , drop = FALSE], 1))), rep(NaN, 5))
  expect_identical(as_array(nv_compute(nv_var(nv_zarr_create(tempfile(), "f32", c(0, 2), 1), 1))),
    c(NaN, NaN))
  none <- nv_zarr_create(tempfile(), "f32", c(4, 1, 0), 1)
  expect_identical(as_array(nv_compute(nv_var(none))), NaN)
  # beyond f64, as in memory
  for (far in list(c(0.1, 1e300, 1e-300), c(-1e200, 1, 2, 1e200), c(1, Inf, 2))) {
    far <- nv_tensor(far, "f64")
    for (n in 1:4) {
      expect_identical(as_array(nv_compute(nv_var(nv_chunked(far, n)))), as_array(nv_var(far)))
    }
  }
  expect_identical(shape(nv_compute(nv_var(none, 1))), c(1L, 0L))
  # One pass for what is computed of the same blocks.
  reads <- 0L
  path <- tempfile()
  made(matrix(1:12, 4), "f32", 2, path = path)
  counting <- nv_zarr(nv_zarr_store(get = function(key) {
    if (startsWith(key, "c/")) reads <<- reads + 1L
    file_in(path, key)
  }))
  expect_equal(as_array(nv_compute(nv_mean(counting, 1) / nv_sd(counting, 1))),
    colMeans(matrix(1:12, 4)) / apply(matrix(1:12, 4), 2, sd), tolerance = 1e-6)
  expect_identical(reads, 4L)
})

test_that("parts are combined by their number alone", {
  # A sum of doubles, which is rounded otherwise in another order, written out for each number. A
  # unit of work has 1 to 32 of these blocks.
  by_hand <- function(x) {
    if (length(x) == 1L) {
      return(x)
    }
    half <- 2^ceiling(log2(length(x)) - 1)
    by_hand(x[seq_len(half)]) + by_hand(x[-seq_len(half)])
  }
  set.seed(1)
  in_a_row <- 0
  for (n in c(1:40, 63:65, 127, 300)) {
    values <- rnorm(n) * 10^sample(-3:3, n, TRUE)
    x <- nv_chunked(nv_tensor(values, "f64"), 1L)
    expect_identical(as.double(nv_compute(nv_reduce_sum(x))), by_hand(values))
    in_a_row <- in_a_row + (by_hand(values) == Reduce(`+`, values))
  }
  expect_lt(in_a_row, 30)
})

test_that("what base R asks of a matrix is answered", {
  x <- made(numbers, "f64", c(2, 3))
  expect_identical(c(nrow(x), ncol(x), NROW(x)), c(5L, 4L, 5L))
  expect_identical(anyNA(x), FALSE)
  expect_identical(anyNA(x / 0), TRUE)
  expect_equal(as_array(nv_median(x, 1)), apply(numbers, 2, median))
  expect_equal(as_array(nv_compute(cor(x))), cor(numbers))
  expect_equal(as_array(rowsum(x, c(1, 1, 2, 2, 1))), rowsum(numbers, c(1, 1, 2, 2, 1)),
    ignore_attr = TRUE)
})

test_that("a delayed tensor is text and leaves, which can be saved", {
  path <- tempfile()
  x <- made(numbers, "f32", c(2, 3), path = path)
  y <- (x - nv_mean(x, 1, FALSE)) / nv_sd(x, 1, FALSE) + 0.1
  again <- unserialize(serialize(y, NULL))
  expect_identical(nv_compute(again), nv_compute(y))
  expect_identical(nv_compute(again - y), nv_tensor(matrix(0, 5, 4), "f32"))
  # One leaf, however often it is read, and one instruction for what is computed twice.
  program <- attr((x + 1) * (x + 1), "program")
  expect_match(program, "^  %1: f32\\{5x4\\}\n  %2: f32\\{\\}")
  expect_length(attr((x + y) * nv_zarr(path), "leaves"), length(attr(y, "leaves")))
  # What is damaged is not run.
  broken <- x + 1
  attr(broken, "program") <- sub("add(%1", "add(%9", attr(broken, "program"), fixed = TRUE)
  expect_error(nv_compute(broken), "line 3 of a program", class = "joist_value_error")
  attr(broken, "program") <- "return"
  expect_error(nv_compute(broken), class = "joist_value_error")
  attr(broken, "program") <- 1
  expect_error(broken + 1, "damaged", class = "joist_value_error")
})

test_that("a program is the same whatever else continues it", {
  x <- nv_chunked(nv_tensor(matrix(1:6, 2)), c(1L, 3L))
  program <- function(x) paste(attr(x, "program"))
  of_copy <- function(f, x) program(f(unserialize(serialize(x, NULL))))
  y <- x + 1L
  double <- y * 2L
  triple <- y * 3L # of a copy, as the program of y has been continued
  for (f in list(function(x) x * 2L, function(x) 7L - x, function(x) x + nv_scalar(1L, "i64"))) {
    expect_identical(program(f(y)), of_copy(f, y))
    expect_identical(program(f(x + 1L)), of_copy(f, x + 1L))
    expect_identical(nv_compute(f(x + 1L)), f(nv_compute(x) + 1L))
  }
  expect_identical(program(double), of_copy(function(x) x * 2L, y))
  expect_identical(nv_compute(double), nv_compute(y) * 2L)
  expect_identical(nv_compute(triple), nv_compute(y) * 3L)
  expect_identical(nv_compute(triple - double), nv_compute(y))
  # What a failed operation has added is not part of the next.
  expect_error(y + nv_tensor(1:7), class = "joist_shape_error")
  expect_identical(nv_compute(y - 1L), nv_compute(x))
})

test_that("mistakes are errors before a byte is read", {
  path <- tempfile()
  nv_zarr_create(path, "ui8", c(4, 4), 2)
  store <- nv_zarr_store(get = function(key) {
    if (grepl("^c/", key)) stop("read")
    file_in(path, key)
  })
  y <- nv_zarr(store)
  expect_error(nv_compute(y + 1L), "read")
  expect_error(y + 300L, "300.*ui8", class = "joist_value_error")
  expect_error(y + "a", class = "joist_value_error")
  expect_error(y %*% matrix(1, 3, 2), "columns", class = "joist_shape_error")
  expect_error(y + nv_tensor(1:3), class = "joist_shape_error")
  expect_error(nv_reduce_sum(y, 3), "dimension 3", class = "joist_shape_error")
  expect_error(sin(y) + nv_bitwise_and(sin(y), 1L), "integers", class = "joist_dtype_error")
  one <- nv_tensor(1, "f32")
  expect_error(with_promotion("array_api", y + one), class = "joist_promotion_error")
  error <- tryCatch(y %*% matrix(1, 3, 2), error = identity)
  expect_identical(conditionCall(error), quote(y %*% matrix(1, 3, 2)))
  cube <- nv_chunked(nv_tensor(array(1:8, c(2, 2, 2)), "f32"), 1)
  whole <- expression(
    as_array(y), c(y, y), nv_sort(y), nv_flatten(y), nv_chol(y), nv_svd(y + 0.5), nv_argmax(y),
    nv_cumsum(y), nv_matmul(cube, cube), jit(sum)(y), nv_write_npy(y)
  )
  for (call in whole) {
    expect_error(eval(call), "nv_compute", class = "joist_value_error", label = deparse(call))
  }
  expect_error(jit(function(a) a + y)(1), "jit", class = "joist_value_error")
})

test_that("the rules are those in force when the operation was called", {
  x <- made(matrix(1:4, 2), "i8", 1)
  y <- with_promotion("numpy", sqrt(x))
  expect_identical(dtype(y), as_dtype("f16"))
  expect_identical(nv_compute(y), with_promotion("numpy", sqrt(nv_tensor(matrix(1:4, 2), "i8"))))
  expect_identical(nv_compute(y * x), nv_compute(y) * nv_compute(x))
})

test_that("chunks that are not there are the fill value, whatever is there instead", {
  folder <- tempfile()
  x <- nv_zarr_create(folder, "f64", c(6, 4), c(2, 4), fill = 7)
  x[3:4, ] <- 1
  dir.create(file.path(folder, "c", "2", "0"), recursive = TRUE)
  wanted <- matrix(c(7, 7, 1, 1, 7, 7), 6, 4)
  expect_identical(as_array(nv_compute(x + 0)), wanted)
  expect_identical(as_array(nv_compute(nv_reduce_sum(x, 2))), rowSums(wanted))
})

test_that("extents of 0 and rank 0 are computed with", {
  x <- nv_zarr_create(tempfile(), "f32", c(0, 3), 2)
  expect_identical(nv_compute(x + 1), nv_tensor(numeric(), "f32", c(0, 3)))
  expect_identical(as_array(nv_compute(nv_reduce_sum(x, 1))), c(0, 0, 0))
  expect_identical(shape(nv_compute(nv_reduce_sum(x, 2))), 0L)
  s <- nv_store(nv_scalar(7, "f64"), tempfile())
  expect_identical(nv_compute(s * 2), nv_scalar(14, "f64"))
  expect_identical(s[], nv_scalar(7, "f64"))
  expect_output(print(s), "7")
})

test_that("a run that was stopped goes on with what is there", {
  reads <- 0L
  path <- tempfile()
  made(numbers, "f64", c(1, 4), path = path)
  counting <- nv_zarr_store(get = function(key) {
    if (startsWith(key, "c/")) {
      reads <<- reads + 1L
      if (reads == 4L) stop("stopped")
    }
    file_in(path, key)
  }, label = "counting")
  y <- sqrt(nv_zarr(counting)^2) + 1
  to <- tempfile()
  expect_error(nv_store(y, to), "stopped")
  expect_length(list.files(file.path(to, "c"), recursive = TRUE), 3L)
  expect_error(nv_store(y, to), "overwrite", class = "joist_value_error")
  expect_error(nv_store(y + 1, to, resume = TRUE), "program", class = "joist_value_error")
  before <- reads
  z <- nv_store(y, to, resume = TRUE)
  expect_identical(reads - before, 2L)
  expect_identical(as_array(z[]), abs(numbers) + 1)
  expect_match(attr(z, "zarr_attributes")$joist_program, "sqrt", all = FALSE)
  # Nothing is left to do.
  nv_store(y, to, resume = TRUE)
  expect_identical(reads - before, 2L)
})

test_that("workers give the same bits, also where one is killed", {
  skip_on_cran()
  skip_if_not_installed("future")
  skip_on_os("windows")
  set.seed(2)
  x <- made(matrix(rnorm(3000), 60), "f32", c(7, 9), codecs = "gzip")
  programs <- list(
    (x * 2 + 1) / 3, nv_reduce_sum(exp(x), 1), nv_crossprod(x), mean(x), nv_cumsum(x, 1)
  )
  alone <- lapply(programs, nv_compute)
  stored <- nv_store(scale(x), tempfile())[]
  withr::local_options(joist.alone = 0)
  old <- future::plan(future::multisession, workers = 2L)
  on.exit(future::plan(old))
  expect_identical(lapply(programs, nv_compute), alone)
  expect_identical(nv_store(scale(x), tempfile())[], stored)
  expect_identical(nv_compute(x[1:2, ] + 1), x[1:2, ] + 1)
  # A chunk that cannot be read is named, whichever process reads it.
  path <- tempfile()
  broken <- made(matrix(1:24, 6), "f64", c(1, 4), path = path)
  writeBin(raw(3), file.path(path, "c/4/0"))
  expect_error(nv_compute(broken + 1), "c/4/0", class = "joist_value_error")
  # What fails for another reason is tried again, and then named.
  path <- tempfile()
  nv_zarr_create(path, "f32", 40L, 10L)
  metadata <- file_in(path, "zarr.json")
  failing <- nv_zarr_store(get = function(key) {
    if (key == "c/1") stop("no such luck")
    if (key == "zarr.json") metadata
  })
  expect_error(nv_compute(nv_zarr(failing) + 1, retries = 1), "block 2 failed 2 times.*luck",
    class = "joist_value_error")
  victim <- future::value(future::future(Sys.getpid()))
  tools::pskill(victim, tools::SIGKILL)
  for (again in 1:2) expect_identical(suppressWarnings(lapply(programs, nv_compute)), alone)
})

test_that("memory does not grow with the array", {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/status"))
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "library(joist)",
    "nv_set_threads(1)",
    "peak <- function() {",
    "  line <- grep('VmHWM', readLines('/proc/self/status'), value = TRUE)",
    "  as.numeric(gsub('[^0-9]', '', line))",
    "}",
    "run <- function(n) {",
    "  x <- nv_zarr_create(tempfile(), 'f32', c(n, 500), c(500, 500), fill = 2)",
    "  stopifnot(as_array(nv_compute(sum(x * 3 + 1))) == 7 * 500 * n)",
    "  peak()",
    "}",
    "first <- run(1000)",
    "cat(first, run(400000), '\\n')"
  ), script)
  out <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", script), stdout = TRUE,
    env = paste0("R_LIBS=", paste(.libPaths(), collapse = ":")))
  used <- scan(text = utils::tail(out, 1L), quiet = TRUE)
  # The array has 800 MB, a block 1 MB; R collects garbage when there are some 100 MB of it, and
  # from R 4.6 on when there are up to 300.
  expect_lt(used[2L] - used[1L], if (getRversion() < "4.6.0") 250e3 else 400e3)
})

test_that("head() and tail() read the chunks that they need", {
  m <- matrix(1:24, 6)
  x <- nv_zarr_create(tempfile(fileext = ".zarr"), "i16", dim(m), chunks = c(4, 3))
  x[, ] <- m
  expect_identical(as_array(head(x, 2)), head(m, 2))
  expect_identical(as_array(tail(x, -4)), unname(tail(m, -4)))
  expect_identical(as_array(head(x + 1L, c(5, 1))), head(m, c(5, 1)) + 1L)
  expect_identical(shape(head(x, 0)), c(0L, 4L))
})

test_that("a part is placed into a tensor that another variable has by a copy", {
  place <- getFromNamespace("joist_r_place", "joist")
  address_x <- function() {
    lines <- utils::capture.output({
      .Internal(inspect(x))
      NULL
    })
    payload_address(lines[1])
  }
  zeros <- matrix(0, 3, 2)
  middle <- rbind(0, c(1, 1), 0)
  for (d in c("f32", "f64", "i32", "ui8")) {
    part <- nv_tensor(matrix(1, 1, 2), d)
    x <- nv_tensor(zeros, d)
    y <- x
    x <- .Call(place, x, c(2L, 1L), part, FALSE)
    expect_equal(as_array(y), zeros)
    expect_equal(as_array(x), middle)
    # In place where no other variable has the tensor.
    at <- address_x()
    x <- .Call(place, x, c(1L, 1L), part, FALSE)
    expect_identical(address_x(), at)
    expect_equal(as_array(x), rbind(1, c(1, 1), 0))
    # In a list, too, and for dims in reverse.
    l <- list(nv_tensor(zeros, d))
    m <- l[[1L]]
    l[[1L]] <- .Call(place, l[[1L]], c(2L, 1L), nv_transpose(part), TRUE)
    expect_equal(as_array(l[[1L]]), middle)
    expect_equal(as_array(m), zeros)
    # A part of all is the result, and is not written to later.
    whole <- nv_tensor(zeros, d)
    x <- .Call(place, x, c(1L, 1L), whole, FALSE)
    x <- .Call(place, x, c(2L, 1L), part, FALSE)
    expect_equal(as_array(whole), zeros)
    expect_equal(as_array(x), middle)
  }
  # A vector that R made is not joist's to write to.
  one <- nv_tensor(matrix(1, 1, 2), "f64")
  plain <- structure(c(zeros), dim = dim(zeros), dtype = "f64", class = "nv_tensor")
  expect_equal(as_array(.Call(place, plain, c(2L, 1L), one, FALSE)), middle)
  expect_equal(c(unclass(plain)), c(zeros))
})

test_that("overflow of chunked tensors is that of tensors in memory", {
  seen <- function(f, x, policy) {
    told <- character()
    rm(list = ls(warned_places, all.names = TRUE), envir = warned_places)
    made <- tryCatch(
      withCallingHandlers(
        with_promotion(NULL, as_array(nv_compute(f(x)), as = "character"), on = policy),
        warning = function(w) {
          told <<- "warned"
          invokeRestart("muffleWarning")
        }
      ),
      joist_overflow_error = function(e) "refused"
    )
    c(made, told)
  }
  most <- "9223372036854775807"
  least <- "-9223372036854775807"
  sums <- list(
    c(most, most, least, least), c(most, most, least), c(least, least, most, "-1", "-1"),
    c(least, least, "3"), c(most, "1"), c(least, "-1"), c(least, "-2"), c("-1", "-2", "5")
  )
  alike <- function(f, x, chunks = 1) {
    expect_identical(seen(f, nv_chunked(x, chunks), policy), seen(f, x, policy), info = deparse1(f))
  }
  for (policy in c("warn", "saturate", "error", "ok")) {
    policy <- c(overflow = policy)
    for (numbers in sums) {
      alike(sum, nv_tensor(numbers, "i64"))
      alike(function(x) nv_reduce_sum(x, 1L, drop = FALSE), nv_tensor(numbers, "i64"))
    }
    unsigned <- nv_tensor(c("18446744073709551615", "0", "1"), "ui64")
    for (x in list(unsigned, unsigned[1:2])) alike(sum, x)
    for (f in list(nv_reduce_sum, nv_reduce_prod)) {
      alike(function(x) f(x, dtype = "ui8"), nv_tensor(c(200L, 100L), "ui8"))
    }
    for (column in list(2:4, c(2, 3, 1))) {
      row <- nv_tensor(matrix(c(100, 1, -100), 1), "i8")
      alike(function(x) nv_matmul(x, nv_tensor(column, "i8")), row, c(1, 1))
    }
    # What wraps on purpose does so whatever the policy is.
    bits <- nv_tensor(c(-128, 127, 3), "i8")
    turn <- function(x) nv_rotate_left(x, 2L)
    expect_identical(seen(turn, nv_chunked(bits, 1), policy), c("2", "-3", "12"))
  }
  turned <- with_promotion(NULL, nv_chunked(bits, 1) + 100L, on = c(overflow = "ok"))
  expect_identical(seen(identity, turned, c(overflow = "error")), c("-28", "-29", "103"))
})

test_that("means of infinite complex numbers are those in memory", {
  numbers <- complex(real = c(4, 5, -Inf, 2), imaginary = c(1, Inf, 3, -1))
  for (dtype in c("c64", "c128")) {
    x <- nv_tensor(matrix(numbers, 2), dtype)
    for (dims in list(NULL, 1L, 2L)) {
      want <- as_array(nv_mean(x, dims))
      expect_identical(as_array(nv_compute(nv_mean(nv_chunked(x, c(1, 2)), dims))), want)
    }
  }
})

test_that("subsets of a chunked vector have the shapes of those in memory", {
  x <- nv_tensor(1:6, "ui8")
  path <- withr::local_tempfile()
  for (z in list(nv_chunked(x, 4L), nv_chunked(x, 4L) + 1L, nv_store(x, path))) {
    y <- nv_compute(z)
    for (k in list(3L, -(1:5), c(2L, 4L), integer())) {
      expect_identical(nv_compute(z[k]), y[k])
    }
    expect_identical(nv_compute(z[[2L]]), y[[2L]])
  }
})
