# Tensors on a GPU compared with the same on the CPU. Without a GPU, what joist tells the user.

gpu <- function() {
  skip_if_not("cuda:0" %in% nv_devices(), "no GPU")
  "cuda:0"
}

there <- function(x) nv_to(x, "cuda:0")
here <- function(x) nv_to(x, "cpu")

float_dtypes <- c("f16", "bf16", "f32", "f64")

# Values that every dtype has, without zeros.
small <- function(dtype, n = 37L) {
  values <- rep_len(c(1, 2, 3, 5, 7), n)
  nv_convert(nv_tensor(values, "f64"), dtype)
}

test_that("without a GPU, asking for one says what is missing", {
  skip_if("cuda:0" %in% nv_devices())
  for (ask in list(
    quote(nv_device("cuda:0")), quote(nv_tensor(1:3, device = "cuda")),
    quote(nv_to(nv_tensor(1:3), "cuda:0")), quote(jit(function(x) x, device = "cuda:0")),
    quote(nv_fill(1, 3, device = "cuda:0")), quote(nv_memory(device = "cuda:0"))
  )) {
    error <- expect_error(eval(ask), class = "joist_device_error")
    expect_match(conditionMessage(error), "cuda")
    expect_match(conditionMessage(error), "driver|toolkit|GPU")
  }
  expect_identical(nv_devices(), "cpu")
})

test_that("diagnostics have a line for each thing", {
  found <- cuda_diagnostics()
  expect_s3_class(found, "data.frame")
  expect_named(found, c("item", "found", "detail"))
  expect_identical(found$item[1L], "build")
  expect_identical(found$found[1L], joist_info()$cuda)
  expect_true(all(nzchar(found$detail)))
  expect_output(print(found), "build")
  if (joist_info()$cuda) {
    expect_identical(found$item, c("build", "driver", "device", "NVRTC", "cuBLAS"))
    expect_identical(found$found[2L], joist_info()$driver)
  } else {
    expect_match(found$detail[1L], "with-cuda")
  }
})

test_that("nv_to() the CPU gives the tensor itself", {
  x <- nv_tensor(1:3)
  expect_identical(nv_to(x, "cpu"), x)
  expect_identical(nv_to(2.5, "cpu"), nv_scalar(2.5, ambiguous = TRUE))
  expect_error(nv_to(x, "tpu"), class = "joist_device_error")
  expect_error(nv_to(nv_aval("f32", 2L), "cpu"), class = "joist_value_error")
})

test_that("data goes there and comes back", {
  gpu()
  for (dtype in dtypes()) {
    for (extents in list(integer(), 5L, c(3L, 4L), c(2L, 0L))) {
      x <- nv_reshape(small(dtype, max(1, prod(extents))), if (prod(extents) > 0) extents else 1L)
      if (prod(extents) == 0) x <- nv_tensor(integer(), shape = extents, dtype = "i32")
      y <- there(x)
      expect_identical(format(device(y)), "cuda:0")
      expect_identical(here(y), x)
      expect_identical(as_array(y), as_array(x))
      expect_identical(there(y), y)
    }
  }
  expect_output(print(there(nv_tensor(matrix(1:6, 2)))), "[ CUDAi32{2x3} ]", fixed = TRUE)
  expect_identical(format(device(nv_tensor(1:3, device = "cuda"))), "cuda:0")
  expect_identical(here(nv_iota(1, "i16", 4L, device = "cuda:0")), nv_iota(1, "i16", 4L))
})

test_that("elementwise operations give the CPU's dtype, flag and bits", {
  gpu()
  binary <- list(`+`, `-`, `*`, `/`, `%/%`, `%%`, `<`, `==`, nv_min, nv_max)
  for (left in dtypes()) {
    for (right in dtypes()) {
      x <- small(left)
      y <- nv_reverse(small(right))
      for (f in binary) {
        want <- tryCatch(f(x, y), joist_error = function(e) NULL)
        if (is.null(want) || startsWith(format(dtype(want)), "c")) next
        got <- f(there(x), there(y))
        expect_identical(format(device(got)), "cuda:0")
        expect_identical(here(got), want)
      }
    }
  }
  x <- small("i32")
  expect_identical(here(there(x) + 1.5), x + 1.5)
  expect_identical(here(2L * there(x)), 2L * x)
  expect_identical(here(nv_ifelse(there(x) > 2L, there(x), 0L)), nv_ifelse(x > 2L, x, 0L))
  expect_identical(here(nv_convert(there(x), "f16")), nv_convert(x, "f16"))
})

test_that("reductions, shapes and subsets", {
  gpu()
  x <- nv_tensor(array(1:24, c(2, 3, 4)), "i32")
  y <- there(x)
  expect_identical(here(sum(y)), sum(x))
  for (dims in list(1, 2, 3, c(1, 3), 1:3)) {
    expect_identical(here(nv_reduce_sum(y, dims)), nv_reduce_sum(x, dims))
    expect_identical(here(nv_reduce_max(y, dims)), nv_reduce_max(x, dims))
    expect_equal(as_array(nv_mean(y, dims)), as_array(nv_mean(x, dims)))
  }
  expect_identical(here(nv_reshape(y, c(6, 4))), nv_reshape(x, c(6, 4)))
  expect_identical(here(aperm(y, c(3, 1, 2))), aperm(x, c(3, 1, 2)))
  expect_identical(here(y[2, , 1:2]), x[2, , 1:2])
  expect_identical(here(y[c(5, 1)]), x[c(5, 1)])
  expect_identical(here(nv_concatenate(y, y, dim = 2)), nv_concatenate(x, x, dim = 2))
  z <- y
  z[1, 2, 3] <- 100L
  w <- x
  w[1, 2, 3] <- 100L
  expect_identical(here(z), w)
  expect_identical(here(y), x)
  expect_identical(here(sort(nv_flatten(y))), sort(nv_flatten(x)))
})

test_that("functions make what they need where their tensors are", {
  gpu()
  matrix <- nv_tensor(matrix(c(4, 1, 3, 1, 5, 9, NaN, 6, 2), 3), "f32")
  line <- nv_tensor(c(3L, 1L, 3L, 2L))
  calls <- list(
    quote(nv_tril(matrix)), quote(nv_triu(matrix, 1)), quote(nv_diag(line)),
    quote(nv_pad(line, 0L, 1L, 2L)), quote(nv_gather(line, c(2, 4))), quote(nv_gather(line, 1)),
    quote(nv_outer(line, 2)), quote(nv_outer(1:2, line)), quote(rowSums(matrix, na.rm = TRUE)),
    quote(colMeans(matrix, na.rm = TRUE)), quote(var(matrix, line[1:3])), quote(var(matrix)),
    quote(nv_min(2.5, matrix)), quote(nv_max(matrix, 2)), quote(diag(matrix)),
    quote(nv_broadcast_arrays(line, 1:4, 2)), quote(nv_apply(matrix, 1, sort)),
    quote(nv_apply(nv_reshape(line[0L], c(0L, 3L)), 1, function(x) x * 2)),
    quote(unique(line)), quote(line[duplicated(line)]), quote(nv_which(line == 3L)),
    quote(nv_which(matrix == matrix, TRUE)), quote(nv_median(matrix, 1)),
    quote(nv_quantile(line, 0.3)), quote(nv_norm(matrix, p = 3)), quote(nv_var(line)),
    quote(line[line]), quote(line[line == 3L]), quote(matrix[line[1:3] == 3L, ]),
    quote(matrix[line[2:4], line[c(2, 4)]]), quote(nv_tabulate(line)),
    quote(sum(line, 1L)), quote(max(matrix[, 1L], 2)), quote(range(line, 7L)),
    quote(nv_sample(line, 2L, key = nv_to(nv_key(1), format(device(line)))))
  )
  evaluate <- function(call, place) {
    eval(call, list(matrix = place(matrix), line = place(line)))
  }
  place_of <- function(x) if (is.list(x)) lapply(x, place_of) else format(device(x))
  back <- function(x) if (is.list(x)) lapply(x, back) else here(x)
  for (call in calls) {
    want <- evaluate(call, identity)
    got <- evaluate(call, there)
    expect_equal(back(got), want, label = deparse(call))
    expect_setequal(unlist(place_of(got)), "cuda:0")
  }
  # Without a key the numbers are R's; what is drawn is where the operands are.
  expect_identical(format(device(nv_runif(3L, there(nv_scalar(0)), 2))), "cuda:0")
  expect_identical(format(device(nv_sample(there(line)))), "cuda:0")
  expect_identical(sort(here(nv_sample(there(line)))), sort(line))
  x <- there(line)
  x[there(line) == 3L] <- 0L
  x[there(nv_tensor(2L))] <- 7L
  expect_identical(here(x), nv_tensor(c(0L, 7L, 0L, 2L)))
  expect_identical(result_dtype(there(line), 1.5), result_dtype(line, 1.5))
  expect_error(line[there(line)], "on different devices", class = "joist_device_error")
  expect_error(nv_which(there(line)), class = "joist_dtype_error")
})

test_that("jitted functions run where their tensors are", {
  gpu()
  constant <- nv_tensor(c(1, 2, 3))
  f <- jit(function(x, k) list(sum = sum(x * k + constant), all = (x > k) & (x < 10)))
  x <- nv_tensor(c(2, 4, 6))
  want <- f(x, 2L)
  got <- f(there(x), 2L)
  expect_identical(lapply(got, here), want)
  expect_identical(lapply(got, function(t) format(device(t))), list(sum = "cuda:0", all = "cuda:0"))
  g <- jit(function(a) a + 1L, device = "cuda:0")
  expect_identical(format(device(g(1L))), "cuda:0")
  expect_error(g(nv_tensor(1:3)), class = "joist_device_error")
  captured <- there(x)
  h <- jit(function(a) a * captured)
  expect_identical(here(h(there(x))), x * x)
  expect_error(h(x), class = "joist_device_error")
})

test_that("errors are the CPU's", {
  gpu()
  x <- there(nv_tensor(1:10))
  y <- there(nv_tensor(c(1:6, 0L, 1:3)))
  expect_error(x %/% y, "position 7", class = "joist_value_error")
  expect_error(x + nv_tensor(1:10), "on different devices", class = "joist_device_error")
  expect_error(x + there(nv_tensor(1:3)), class = "joist_shape_error")
  expect_error(there(nv_tensor(1:3, "ui8")) + 300L, class = "joist_value_error")
})

test_that("tensors on a GPU are saved with their elements and read back on the CPU", {
  gpu()
  file <- withr::local_tempfile()
  for (x in list(nv_tensor(c(a = 1L, b = 2L)), nv_tensor(matrix(1:6 / 4, 2), "bf16"))) {
    saveRDS(there(x), file)
    expect_identical(readRDS(file), x)
    expect_identical(unserialize(serialize(list(there(x)), NULL)), list(x))
  }
})

test_that("memory is given back", {
  gpu()
  before <- nv_memory(device = "cuda:0")
  expect_named(before, c("used", "kept", "available", "total"))
  for (k in 1:20) x <- nv_tensor(numeric(1e6), "f64", device = "cuda:0")
  rm(x)
  gc()
  nv_synchronize()
  expect_lte(nv_memory(device = "cuda:0")[["used"]], before[["used"]])
  # The small ones, too, whose memory is used again before that.
  x <- there(nv_tensor(1:3))
  for (k in 1:3000) y <- x + x
  rm(x, y)
  gc()
  nv_trim_memory()
  expect_lte(nv_memory(device = "cuda:0")[["used"]], before[["used"]])
})

test_that("literals of every dtype reach the GPU", {
  gpu()
  multiply <- jit(function(x, y) x * y)
  for (dtype in setdiff(dtypes(), "bool")) {
    x <- small(dtype)
    # A literal of the dtype's kind, no larger than the dtype holds: i2 has no 2, int1 no 1.
    largest <- as.numeric(format(dtype_info(dtype)$max))
    literal <- if (dtype %in% rownames(byte_floats)) as.double else as.integer
    two <- literal(min(2, largest))
    four <- literal(min(4, largest))
    expect_identical(here(there(x) * two), x * two)
    expect_identical(here(four == there(x)), four == x)
    expect_identical(here(multiply(there(x), two)), multiply(x, two))
    expect_identical(here(nv_pad(there(x), four, 1L, 2L)), nv_pad(x, four, 1L, 2L))
    expect_identical(here(there(x[1L]) * four), x[1L] * four)
  }
  x <- nv_tensor(c(1.5, 2.5), "c128")
  expect_identical(here(there(x) == 2.5 + 0i), x == 2.5 + 0i)
})

test_that("a forked child is told", {
  gpu()
  skip_on_os("windows")
  x <- there(nv_tensor(1:3))
  told <- parallel::mclapply(1:2, function(k) tryCatch(x + k, error = conditionMessage),
    mc.cores = 2L
  )
  expect_match(unlist(told), "fork")
})
