# Complex numbers of two f16 or two bf16: the bits of both parts, rounded once, from definitions;
# what they are computed in; and how they go to files and other libraries.

halves <- c(c32 = "f16", bc32 = "bf16")

# The bytes of a tensor's parts, from those of real tensors.
bytes_of_parts <- function(re, im, dtype) {
  parts <- lapply(list(re, im), function(x) {
    matrix(nv_write_bin(nv_convert(nv_tensor(x, "f64"), halves[[dtype]])), 2L)
  })
  as.vector(rbind(parts[[1L]], parts[[2L]]))
}

# Half way between two numbers in f32, and a little more in f64: rounding twice goes the other way.
hard_parts <- function(dtype) {
  half <- 2^-float_spec(halves[[dtype]])$digits
  near <- c(1 + half, 1 + half + 2^-40, 1 + 3 * half - 2^-40, -1 - half - 2^-40)
  c(near, 2^-30, 65519.99, 65520, 1 / 3)
}

test_that("both parts are rounded once, from whichever dtype", {
  for (d in names(halves)) {
    re <- c(float_values(halves[[d]]), hard_parts(d))
    im <- rev(re)
    x <- complex(real = re, imaginary = im)
    of_c128 <- nv_convert(nv_tensor(x, "c128"), d)
    expect_identical(bytes_of(of_c128), bytes_of_parts(re, im, d))
    expect_identical(nv_write_bin(of_c128), bytes_of_parts(re, im, d))
    expect_values(Re(as.vector(of_c128)), round_to(re, halves[[d]]), d)
    expect_values(Im(as.vector(of_c128)), round_to(im, halves[[d]]), d)
    # What R has is taken so, too, and from c64 the same as from its values.
    fits <- is.finite(round_to(re, halves[[d]])) & is.finite(round_to(im, halves[[d]]))
    expect_identical(bytes_of(nv_tensor(x[fits], d)), bytes_of(of_c128[which(fits)]))
    narrow <- nv_convert(nv_tensor(x, "c128"), "c64")
    expect_identical(
      nv_convert(narrow, d), nv_convert(nv_convert(narrow, "c128"), d)
    )
  }
})

test_that("all dtypes become complex numbers of 32 bits by their real part, and back", {
  for (d in names(halves)) {
    for (other in setdiff(dtypes(), complexes())) {
      x <- sample_tensor(other, 5)
      made <- nv_convert(x, d)
      expect_identical(nv_real(made), nv_convert(x, halves[[d]]), label = paste(other, d))
      expect_true(all(as.vector(nv_imag(made)) == 0))
      expect_identical(nv_convert(made, other), nv_convert(nv_convert(x, halves[[d]]), other))
    }
    # 1,024 elements are converted together.
    many <- nv_tensor(seq_len(2500L) %% 100L, "i16")
    expect_identical(as.vector(nv_convert(many, d)), as.complex(as.vector(many)))
    expect_identical(nv_convert(nv_convert(many, d), "i16"), many)
    both <- nv_convert(nv_convert(nv_tensor(complex_values("c64"), "c64"), "c32"), d)
    expect_identical(as.vector(both), as.vector(nv_convert(nv_convert(both, "c64"), d)))
  }
  expect_identical(nv_convert(nv_tensor(c(0i, 1i), "c32"), "bool"), nv_tensor(c(FALSE, TRUE)))
})

test_that("they compute in c64 and are rounded once", {
  operations <- list(
    `+` = `+`, `-` = `-`, `*` = `*`, `/` = `/`, sqrt = function(x, y) sqrt(x),
    exp = function(x, y) exp(x), cumsum = function(x, y) cumsum(x), sum = function(x, y) sum(x),
    mean = function(x, y) mean(x), Conj = function(x, y) Conj(x), c = function(x, y) c(x, y)
  )
  for (d in names(halves)) {
    x <- nv_tensor(complex_values(d), d)
    y <- rev(x) + 1
    for (name in names(operations)) {
      f <- operations[[name]]
      want <- nv_convert(f(nv_convert(x, "c64"), nv_convert(y, "c64")), d)
      # The running sums are those of c64, each rounded.
      expect_identical(f(x, y), want, label = paste(d, name))
      expect_identical(jit(f)(x, y), want, label = paste(d, "jit", name))
    }
    m <- nv_tensor(array(complex_values(d), c(4L, 4L)), d)
    wide <- nv_convert(m, "c64")
    expect_identical(m %*% m, nv_convert(wide %*% wide, d))
    expect_identical(dtype(nv_fft(x)), as_dtype("c64"))
    expect_identical(dtype(abs(x)), as_dtype(halves[[d]]))
    expect_identical(x == y, nv_convert(x, "c64") == nv_convert(y, "c64"))
  }
})

test_that("npy files have them as four bytes, whose dtype is to be named", {
  for (d in names(halves)) {
    x <- nv_tensor(array(complex_values(d)[1:6], 2:3), d)
    file <- nv_write_npy(x, raw())
    expect_match(rawToChar(file[11:60]), "'descr': '<V4'", fixed = TRUE)
    expect_error(nv_read_npy(file), "4, type <V4", class = "joist_dtype_error")
    expect_identical(nv_read_npy(file, dtype = d), x)
    # As ml_dtypes has it.
    at <- grepRaw("V4", file, fixed = TRUE)
    file[at] <- charToRaw("W")
    expect_error(nv_read_npy(file), "4, type <W4", class = "joist_dtype_error")
    expect_identical(nv_read_npy(file, dtype = d), x)
  }
})

test_that("Zarr has them by the names of its registry", {
  names <- c(c32 = "complex_float16", bc32 = "complex_bfloat16")
  for (d in names(halves)) {
    folder <- withr::local_tempdir()
    x <- nv_tensor(complex_values(d), d)
    store <- nv_zarr_create(folder, d, length(x), 4L, fill = nv_scalar(0.5 - 2i, d))
    store[] <- x
    text <- paste(readLines(file.path(folder, "zarr.json")), collapse = "")
    expect_match(text, paste0("\"data_type\": \"", names[[d]], "\""), fixed = TRUE)
    expect_match(text, "\"fill_value\": [0.5,-2]", fixed = TRUE)
    expect_identical(nv_compute(nv_zarr(folder)), x)
    unlink(file.path(folder, "c"), recursive = TRUE)
    expect_identical(as.vector(nv_zarr(folder)[]), rep(0.5 - 2i, length(x)))
  }
})

test_that("DLPack has c32 only, and safetensors and R's files of other kinds neither", {
  x <- nv_tensor(complex_values("c32"), "c32")
  y <- nv_convert(x, "bc32")
  expect_identical(nv_from_dlpack(nv_to_dlpack(x)), x)
  expect_error(nv_to_dlpack(y), "DLPack has no bc32", class = "joist_dtype_error")
  expect_identical(nv_bitcast_convert(nv_bitcast_convert(y, "ui32"), "bc32"), y)
  for (z in list(x, y)) {
    expect_error(nv_serialize(list(z = z)), "no type for b?c32", class = "joist_dtype_error")
    file <- withr::local_tempfile()
    saveRDS(z, file)
    expect_identical(readRDS(file), z)
  }
})

test_that("what a rule set says of them is what its library says", {
  common <- function(a, b, rules) {
    tryCatch(
      format(common_dtype(a, b, rules = rules)$dtype),
      joist_promotion_error = function(e) "-"
    )
  }
  expect_identical(common("f16", "c32", "torch"), "c32")
  expect_identical(common("c32", "bc32", "torch"), "c64")
  expect_identical(common("c32", "bc32", "numpy"), "bc32")
  expect_identical(common("c32", "f16", "numpy"), "-")
  expect_identical(common("c32", "i8", "numpy"), "c32")
  expect_identical(common("c32", "c64", "anvil"), "-")
  expect_identical(common("c32", "c32", "anvil"), "c32")
  for (rules in c("jax", "jax_x32", "option3", "numpy_legacy", "tensorflow")) {
    expect_identical(common("c32", "c32", rules), "-", label = rules)
  }
  x <- nv_tensor(1 + 1i, "c32")
  expect_identical(dtype(x * 2), as_dtype("c32"))
  with_promotion("torch", {
    expect_identical(dtype(nv_tensor(1, "bf16") * 1i), as_dtype("bc32"))
    expect_identical(dtype(nv_tensor(1, "f16") * nv_scalar(1i, "c128")), as_dtype("c32"))
    expect_identical(dtype(nv_tensor(1, "f32") * nv_scalar(1i, "c32")), as_dtype("c64"))
  })
})
