# Chunked tensors and the arrays of DelayedArray and HDF5Array, against what base R has of the same
# numbers.

made <- function(values, dtype, chunks, ...) {
  x <- nv_zarr_create(tempfile(), dtype, dim(values), chunks, ...)
  x[] <- nv_tensor(values, dtype)
  x
}

numbers <- matrix(c(3, 1, 2, 5, 7, 6, -8, 11, 4, 0, 9, -2, 13, 12, -10, 14, 16, 15, 21, 17), 5)

quietly <- function(code) suppressWarnings(suppressMessages(code))

test_that("a chunked tensor is a seed: block processing gives what base R gives", {
  skip_if_not_installed("DelayedArray")
  array <- function(x) quietly(DelayedArray::DelayedArray(x))
  x <- made(numbers, "f64", c(2, 3))
  d <- array(x)
  expect_s4_class(d, "DelayedMatrix")
  expect_identical(dim(d), c(5L, 4L))
  expect_identical(DelayedArray::type(d), "double")
  expect_identical(DelayedArray::chunkdim(d), c(2L, 3L))
  expect_null(dimnames(d))
  expect_identical(as.array(d), numbers)
  expect_identical(as.array(d[c(5, 1), -2]), numbers[c(5, 1), -2])
  expect_identical(as.array(t(d) * 2 + 1), t(numbers) * 2 + 1)
  expect_equal(DelayedArray::colSums(d), colSums(numbers))
  expect_equal(DelayedArray::rowSums(array(x - nv_mean(x, 1, FALSE))),
    rowSums(sweep(numbers, 2, colMeans(numbers))))
  expect_equal(sum(DelayedArray::blockApply(d, sum) |> unlist()), sum(numbers))
  cube <- base::array(as.numeric(1:60), c(3, 4, 5))
  expect_identical(as.array(array(made(cube, "f32", c(2, 3, 2)))), cube)
})

test_that("types of a seed are R's, and what they cannot hold is an error", {
  skip_if_not_installed("DelayedArray")
  type_of <- c(
    bool = "logical", i8 = "integer", i16 = "integer", i32 = "integer", ui8 = "integer",
    ui16 = "integer", ui32 = "double", i64 = "double", ui64 = "double", f16 = "double",
    bf16 = "double", f32 = "double", f64 = "double", c64 = "complex", c128 = "complex",
    c32 = "complex", bc32 = "complex"
  )
  expect_setequal(names(type_of), wide(dtypes()))
  for (dtype in names(type_of)) {
    x <- made(matrix(c(1, 0, 1, 1), 2), dtype, 1)
    d <- quietly(DelayedArray::DelayedArray(x))
    expect_identical(DelayedArray::type(d), type_of[[dtype]], label = dtype)
    wanted <- matrix(c(1, 0, 1, 1), 2)
    storage.mode(wanted) <- type_of[[dtype]]
    expect_identical(as.array(d), wanted, label = dtype)
  }
  x <- made(matrix(1, 2, 2), "i64", 1)
  x[2, 2] <- nv_scalar("9007199254740993", "i64")
  d <- quietly(DelayedArray::DelayedArray(x))
  expect_error(as.array(d), "9007199254740993", class = "joist_value_error")
  expect_identical(as.array(d[1, , drop = FALSE]), matrix(1, 1, 2))
  x <- made(matrix(-2^31, 1, 1), "i32", 1)
  expect_error(as.array(quietly(DelayedArray::DelayedArray(x))), class = "joist_value_error")
})

test_that("an array of DelayedArray becomes a chunked tensor, in the dtype that R has it in", {
  skip_if_not_installed("DelayedArray")
  all <- list(
    f64 = numbers, bool = numbers > 3, c128 = 1i * numbers, i32 = matrix(1:20, 5),
    ui8 = matrix(as.raw(1:20), 5)
  )
  for (dtype in names(all)) {
    values <- all[[dtype]]
    x <- nv_chunked(quietly(DelayedArray::DelayedArray(values)), chunks = c(2, 3))
    want <- nv_tensor(if (is.raw(values)) as.integer(values) else values, dtype, shape = c(5, 4))
    expect_identical(dtype(x), dtype(want))
    expect_output(print(x), paste0(dtype, "{5x4}, chunks 2x3, read only ]"), fixed = TRUE)
    expect_identical(as_array(nv_compute(x)), as_array(want))
    expect_identical(as_array(x[c(5, 2), 4:3]), as_array(want[c(5, 2), 4:3]))
  }
  d <- quietly(DelayedArray::DelayedArray(numbers))
  x <- nv_chunked(log(abs(d) + 1) * 2, chunks = 2)
  expect_equal(as_array(nv_compute(nv_reduce_sum(x, 1))), colSums(log(abs(numbers) + 1) * 2))
  # Two arrays of the same class are two leaves.
  y <- nv_chunked(d * 10, chunks = 2)
  expect_identical(as_array(nv_compute(nv_chunked(d, chunks = 2) + y)), numbers * 11)
  expect_identical(as_tensor(d), nv_tensor(numbers, "f64"))
  expect_error(nv_chunked(quietly(DelayedArray::DelayedArray(matrix(letters[1:4], 2)))),
    "character", class = "joist_dtype_error")
  missing <- nv_chunked(quietly(DelayedArray::DelayedArray(matrix(c(1L, NA), 1))))
  expect_error(nv_compute(missing), "missing values", class = "joist_value_error")
  expect_error(x[1, 1] <- 1, class = "joist_value_error")
})

test_that("HDF5Array reads what joist computed, and joist what it wrote", {
  skip_if_not_installed("HDF5Array")
  file <- tempfile(fileext = ".h5")
  written <- quietly(HDF5Array::writeHDF5Array(numbers, file, "m", chunkdim = c(2, 3)))
  x <- nv_chunked(written)
  expect_output(print(x), "f64{5x4}, chunks 2x3, read only ]", fixed = TRUE)
  expect_equal(as_array(nv_compute(nv_crossprod(x))), crossprod(numbers))
  stored <- nv_store(x * 2, tempfile(), codecs = "gzip")
  back <- quietly(HDF5Array::writeHDF5Array(DelayedArray::DelayedArray(stored), file, "n"))
  expect_identical(as.array(back), numbers * 2)
})

test_that("a tensor in memory is chunked, a mapped one among them", {
  file <- tempfile(fileext = ".npy")
  nv_write_npy(nv_tensor(numbers, "f64"), file)
  for (x in list(
    nv_chunked(numbers, 2), nv_chunked(nv_tensor(numbers, "f64"), c(2, 3)),
    nv_chunked(nv_read_npy(file, mmap = TRUE), c(3, 2)), nv_chunked(nv_read_npy(file))
  )) {
    expect_output(print(x), "\\[ Chunked f(32|64)\\{5x4\\}, chunks ")
    expect_equal(as_array(nv_compute(nv_sd(x, 1))), apply(numbers, 2, sd))
    expect_equal(as_array(nv_compute(nv_crossprod(x))), crossprod(numbers))
    expect_identical(as_array(x[2:3, 4]), numbers[2:3, 4])
    y <- made(numbers * 3, "f64", 2)
    expect_identical(as_array(nv_compute(t(x) + t(y))), t(numbers) * 4)
    # The order of the store turns the program around.
    expect_identical(as_array(nv_compute(nv_store(x + y, tempfile()))), numbers * 4)
  }
  flags <- nv_chunked(nv_tensor(1:3, ambiguous = TRUE))
  expect_true(ambiguous(flags) && ambiguous(nv_compute(flags)))
  expect_identical(format(nv_chunked(y)), format(y))
  expect_error(nv_chunked(nv_aval("f32", 3)), class = "joist_value_error")
  expect_error(nv_chunked(numbers, chunks = c(1, 2, 3)), class = "joist_shape_error")
})
