# Chunked tensors that are joined or gathered, against base R.

stored <- function(values, dtype = "f64", chunks = c(2, 3), order = "C") {
  x <- nv_zarr_create(tempfile(), dtype, dim(values), chunks, order = order)
  x[] <- nv_tensor(values, dtype)
  x
}

numbers <- matrix(c(3, 1, 2, 5, 7, 6, -8, 11, 4, 0, 9, -2, 13, 12, -10, 14, 16, 15, 21, 17), 5)

test_that("chunked tensors are joined as matrices are", {
  centered <- sweep(numbers, 2, colMeans(numbers))
  for (orders in list(c("C", "C"), c("F", "C"), c("F", "F"))) {
    x <- stored(numbers, order = orders[1])
    y <- stored(numbers * 2, "f32", c(3, 1), orders[2])
    cases <- list(
      list(rbind(x, y), rbind(numbers, numbers * 2)),
      list(cbind(x, y, x), cbind(numbers, numbers * 2, numbers)),
      list(rbind(x, 1:4, y + 1, 7), rbind(numbers, 1:4, numbers * 2 + 1, 7)),
      list(rbind(nv_tensor(numbers), x), rbind(numbers, numbers)),
      list(cbind(x - nv_mean(x, 1, FALSE), y), cbind(centered, numbers * 2)),
      list(nv_concatenate(list(x, y), dim = 2), cbind(numbers, numbers * 2)),
      list(rbind(rbind(x, y), x * 3), rbind(numbers, numbers * 2, numbers * 3)),
      list(rbind(nv_cumsum(x, 1), y), rbind(apply(numbers, 2, cumsum), numbers * 2)),
      list(rbind(t(x) %*% x, x), rbind(crossprod(numbers), numbers)),
      list(nv_gather(x, c(5, 1, 1)), numbers[c(5, 1, 1), ]),
      list(nv_gather(x * 2, nv_tensor(4:2), 2), numbers[, 4:2] * 2),
      list(nv_gather(rbind(x, y), c(6, 2, 10, 6)), rbind(numbers, numbers * 2)[c(6, 2, 10, 6), ]),
      list(t(nv_gather(x, 2:5)) + 1, t(numbers[2:5, ]) + 1)
    )
    for (case in cases) {
      made <- case[[1]]
      want <- unname(case[[2]])
      expect_s3_class(made, "nv_chunked")
      expect_identical(as_array(nv_compute(made)), want)
      expect_identical(as_array(made[3:2, c(1, 3)]), want[3:2, c(1, 3)])
      expect_equal(as_array(nv_compute(nv_reduce_sum(made, 1))), colSums(want))
      kept <- nv_store(made, tempfile(), chunks = c(4, 2), order = orders[2])
      expect_identical(as_array(kept[]), want)
      expect_output(print(made), "Delayed f64", fixed = TRUE)
      expect_error(made[1, ] <- 0, "store", class = "joist_value_error")
    }
    stack <- nv_stack(x, y, dim = 3)
    expect_identical(as_array(nv_compute(stack)), array(c(numbers, numbers * 2), c(5, 4, 2)))
    expect_identical(as_array(nv_compute(nv_gather(x, 3L, 2))), numbers[, 3])
  }
})

test_that("the dtype of what is joined is that of tensors in memory", {
  for (dtype in c("i8", "ui64", "f16", "bool", "c64", "bf16")) {
    values <- nv_convert(nv_tensor(matrix(0:5 %% 2, 2)), dtype)
    x <- nv_chunked(values, c(1, 2))
    for (other in list(values, nv_tensor(matrix(1, 1, 3), "f32"), 1L, TRUE)) {
      want <- tryCatch(unname(rbind(values, other)), joist_error = class)
      got <- tryCatch(nv_compute(rbind(x, other)), joist_error = class)
      expect_identical(got, want)
    }
  }
  v <- nv_chunked(nv_tensor(1:5), 2)
  expect_identical(nv_compute(c(v, 9L, v + 1L)), c(nv_tensor(1:5), 9L, nv_tensor(2:6)))
  expect_identical(nv_compute(nv_concatenate(v)), nv_tensor(1:5))
})

test_that("joining chunked tensors reports changed values as joining in memory does", {
  pairs <- list(c("i16", "bf16"), c("i64", "f32"), c("ui64", "i64"), c("i32", "f16"))
  for (pair in pairs) {
    x <- nv_tensor(rep(dtype_info(pair[1])$max, 3L), pair[1])
    y <- nv_convert(nv_tensor(c(1, 0)), pair[2])
    in_store <- function(part) nv_chunked(part, 2L)
    ways <- list(
      function() nv_compute(c(in_store(x), y)), function() nv_compute(c(x, in_store(y))),
      function() nv_compute(nv_concatenate(in_store(x), in_store(y))),
      function() nv_compute(cbind(nv_reshape(in_store(x), c(1L, 3L)), nv_reshape(y, c(1L, 2L))))
    )
    for (way in ways) {
      local_promotion(NULL, on = c(loss = "ok", overflow = "ok"))
      want <- as_array(c(x, y), as = "character")
      expect_identical(as.vector(as_array(way(), as = "character")), want)
      local_promotion(NULL, on = c(loss = "error", overflow = "error"))
      expect_error(way(), class = "joist_value_error", label = paste(pair, collapse = " in "))
      local_promotion(NULL, on = c(loss = "warn", overflow = "warn"))
      expect_warning(way(), class = "joist_warning")
    }
  }
})

test_that("what cannot be joined or gathered is an error", {
  x <- stored(numbers)
  expect_error(rbind(x, 1:3), class = "joist_shape_error")
  expect_error(cbind(x, x[1:2, ]), class = "joist_shape_error")
  expect_error(c(x, x), "memory", class = "joist_value_error")
  expect_error(rbind(x, c(1, NA, 3, 4)), "missing", class = "joist_value_error")
  expect_error(rbind(x, "a"), class = "joist_error")
  expect_error(nv_gather(x, 6), "out of range", class = "joist_shape_error")
  expect_error(nv_gather(x, 0), class = "joist_shape_error")
  expect_error(nv_gather(x, c(1, NA)), "NA", class = "joist_value_error")
  expect_error(nv_gather(x, 1, 3), class = "joist_shape_error")
  expect_error(nv_gather(x, matrix(1:4, 2)), "vector", class = "joist_value_error")
  expect_error(nv_gather(x, nv_chunked(nv_tensor(1:2))), "memory", class = "joist_value_error")
})

test_that("names of coordinates are indices", {
  x <- nv_store(nv_tensor(numbers[1:2, 1:3]), tempfile(),
    node = "x",
    dimnames = list(cell = c("a", "b"), gene = c("u", "v", "w"))
  )
  expect_identical(as_array(x["b", c("w", "u")]), c(w = numbers[2, 3], u = numbers[2, 1]))
  x["a", "v"] <- 7
  expect_identical(as_array(x[[1, 2]]), 7)
  expect_error(x["z", 1], "no name \"z\" in dimension 1", class = "joist_shape_error")
  expect_error(x["z", ] <- 1, "no name", class = "joist_shape_error")
  expect_error((x + 1)["a", ], "no name", class = "joist_shape_error")
  expect_error(nv_chunked(nv_tensor(1:3))["a"], "no name", class = "joist_shape_error")
})

test_that("workers join and gather, with the same bits, and runs are resumed", {
  skip_if_not_installed("future")
  x <- stored(numbers)
  y <- rbind(x - nv_mean(x, 1, FALSE), nv_gather(x / 3, c(2, 5)))
  want <- nv_compute(y)
  sums <- nv_compute(nv_reduce_sum(y, 2))
  withr::defer(future::plan("sequential"))
  withr::local_options(joist.alone = 0)
  future::plan("multisession", workers = 2)
  expect_identical(nv_compute(y), want)
  expect_identical(nv_compute(nv_reduce_sum(y, 2)), sums)
  path <- tempfile()
  nv_store(y, path)
  unlink(file.path(path, "c/1"), recursive = TRUE)
  expect_identical(nv_store(y, path, resume = TRUE)[], want)
  other <- rbind(x - nv_mean(x, 1, FALSE), nv_gather(x / 3, c(2, 4)))
  expect_error(nv_store(other, path, resume = TRUE), "began", class = "joist_value_error")
})

test_that("x[] keeps extents of 1, as in base R", {
  for (extents in list(c(4, 1), c(1, 1), 4, 1)) {
    x <- nv_tensor(array(seq_len(prod(extents)), extents))
    for (chunked in list(nv_chunked(x), nv_chunked(x) + 0L)) {
      expect_identical(shape(chunked[]), shape(x[]))
    }
    if (length(extents) == 2L) expect_identical(shape(nv_chunked(x)[, ]), shape(x[, ]))
  }
})

test_that("nv_gather() counts negative dims from the last", {
  x <- nv_tensor(matrix(1:6, 2))
  for (dim in c(-2, -1)) {
    expect_identical(nv_compute(nv_gather(nv_chunked(x), 1L, dim)), nv_gather(x, 1L, dim))
  }
  expect_error(nv_gather(nv_chunked(x), 1L, -3), class = "joist_shape_error")
})

test_that("products and covariances of vectors are those in memory, of one chunk, too", {
  u <- c(4, -1, 4, 2, -3, 2, -6)
  v <- c(1, 2, 0, -5, 3, 1, 1)
  for (d in c("f64", "f32", "i8", "i64")) {
    for (chunks in list(c(7, 7), c(7, 3), c(2, 7), c(2, 3))) {
      x <- nv_chunked(nv_tensor(u, d), chunks[1])
      y <- nv_chunked(nv_tensor(v, d), chunks[2])
      expect_no_warning({
        product <- nv_compute(nv_dot(x, y, contracting_dims = list(1, 1)))
        covariance <- nv_compute(nv_cov(x, y))
      })
      expect_identical(as.double(product), sum(u * v))
      expect_equal(as.double(covariance), cov(u, v), tolerance = 1e-6)
      expect_equal(as.double(nv_compute(nv_cor(x, y))), cor(u, v), tolerance = 1e-6)
    }
  }
})

test_that("what conversions for operations change in chunked tensors is told of", {
  whole <- nv_tensor(matrix(c(16777217, 3, 5, 7), 2), "i32")
  huge <- nv_tensor(matrix(c("18446744073709551615", "3", "5", "7"), 2), "ui64")
  f32 <- nv_tensor(diag(2), "f32")
  i8 <- nv_tensor(diag(2), "i8")
  lossy <- list(
    function(x) x %*% f32, function(x) crossprod(x, f32), nv_softplus, nv_gelu,
    function(x) nv_hypot(x, 0), function(x) nv_copysign(x, 1), function(x) nv_logaddexp(x, 1),
    function(x) nv_frexp(x)$mantissa, function(x) nv_ldexp(x, 1L), function(x) nv_resize(x, c(3, 3))
  )
  wrapping <- list(
    function(x) x %*% i8, function(x) nv_einsum("ij,jk->ik", x, i8),
    function(x) nv_einsum("ij,ij->ij", x, i8), function(x) nv_bitwise_and(x, i8)
  )
  check <- function(f, x, class) {
    for (chunks in list(1L, 2L)) {
      chunked <- nv_chunked(x, chunks)
      local_promotion(NULL, on = c(loss = "error", overflow = "error"))
      expect_error(nv_compute(f(chunked)), class = class, label = deparse1(f))
    }
    local_promotion(NULL, on = c(loss = "ok", overflow = "ok"))
    expect_identical(nv_compute(f(nv_chunked(x, 1L))), f(x), label = deparse1(f))
  }
  for (f in lossy) check(f, whole, "joist_loss_error")
  for (f in wrapping) check(f, huge, "joist_overflow_error")
  large <- nv_chunked(nv_tensor("9007199254740993", "i64"))
  expect_error(
    with_promotion(NULL, nv_compute(sum(large, nv_tensor(1, "f64"))), on = c(loss = "error")),
    class = "joist_loss_error"
  )
  # Sums of groups are exact until they are put together.
  parts <- nv_tensor(c(100L, 100L, -100L, 100L, 100L), "i8")
  for (policy in c("saturate", "ok")) {
    local_promotion(NULL, on = c(overflow = policy))
    sums <- function(x) nv_segment_sum(x, c(1, 1, 1, 2, 2), 2)
    expect_identical(sums(nv_chunked(parts, 1)), sums(parts))
  }
  # A conversion that is asked for tells of nothing.
  local_promotion(NULL, on = c(loss = "error"))
  expect_identical(nv_compute(nv_convert(nv_chunked(whole), "f32")), nv_convert(whole, "f32"))
})
