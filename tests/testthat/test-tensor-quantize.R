# Loops over dtypes: what is quantized to, and the same by doubles of base R.

kinds <- Filter(function(dtype) {
  facts <- dtype_info(dtype)
  facts$kind %in% c("int", "float") && facts$bits >= 2L && facts$bits <= 16L && dtype != "f8E8M0FNU"
}, dtypes())

# The nearest value of a dtype, from all its values; of two, the one with an even code.
nearest <- function(x, dtype) {
  facts <- dtype_info(dtype)
  largest <- as.numeric(facts$max)
  if (facts$kind == "int") {
    return(pmin(pmax(round(x), -largest), largest))
  }
  codes <- seq_len(2^(facts$bits - 1)) - 1L
  values <- as.numeric(nv_bitcast_convert(nv_tensor(as.raw(codes)), dtype))
  keep <- is.finite(values)
  codes <- codes[keep]
  values <- values[keep]
  vapply(x, function(number) {
    distance <- abs(abs(number) - values)
    best <- which(distance == min(distance))
    best <- best[order(codes[best] %% 2L)][1L]
    sign(number) * values[best]
  }, 0)
}

test_that("values and scales are those of base R's doubles, for every dtype", {
  set.seed(1)
  x <- matrix(as_array(nv_tensor(rnorm(60) * 3, "f32")), 12)
  for (dtype in kinds) {
    facts <- dtype_info(dtype)
    if (facts$bits > 8L) next
    largest <- as.numeric(facts$max)
    q <- nv_quantize(nv_tensor(x, "f32"), dtype, dims = 2)
    expect_identical(format(dtype(q$values)), dtype)
    expect_identical(shape(q$scales), c(1L, 5L))
    scales <- as_array(nv_div(nv_tensor(apply(abs(x), 2, max), "f32"), nv_scalar(largest, "f32")))
    expect_equal(as.numeric(q$scales), as.numeric(scales), info = dtype)
    ratio <- as_array(nv_div(nv_tensor(x, "f32"), q$scales))
    expect_equal(c(as_array(nv_convert(q$values, "f64"))), nearest(c(ratio), dtype), info = dtype)
    back <- as_array(nv_dequantize(q$values, q$scales, dtype = "f64"))
    unit <- if (facts$kind == "int") 1 else as.numeric(facts$eps) * largest
    expect_true(all(abs(back - x) <= rep(scales, each = 12) * unit / 2 * 1.001), info = dtype)
  }
})

test_that("one scale takes the largest element to the largest value", {
  x <- nv_tensor(c(-6, 3, 0, 1.5), "f32")
  for (dtype in kinds) {
    q <- nv_quantize(x, dtype)
    expect_identical(shape(q$scales), integer())
    expect_equal(as.numeric(q$values)[c(1L, 3L)], c(-as.numeric(dtype_info(dtype)$max), 0))
  }
  zero <- nv_quantize(nv_tensor(c(0, 0), "f32"), "i8")
  expect_identical(as.numeric(zero$scales), 1)
  expect_identical(as.numeric(zero$values), c(0, 0))
})

test_that("small numbers lose no more than others where scales have few digits", {
  for (d in c("bf16", "f16", "f8E4M3FN", "f8E5M2", "i8", "i16")) {
    type <- dtype_info(d)
    for (scale_dtype in c("f32", "f16", "f64")) {
      for (size in 10^-c(0, 4, 6:8, 20, 36:40, 44)) {
        if (scale_dtype == "f16" && size < 1e-8) next # no f16 is as small
        x <- nv_tensor(c(1, 0.5, -0.3) * size, "f32")
        q <- nv_quantize(x, d, scale_dtype = scale_dtype)
        scale <- as_array(nv_convert(q$scales, "f64"))
        lost <- abs(as_array(nv_convert(q$values, "f64")) * scale - as_array(nv_convert(x, "f64")))
        step <- if (type$kind == "int") {
          scale / 2
        } else {
          pmax(type$eps / 2 * as_array(nv_convert(nv_abs(x), "f64")), scale * type$smallest / 2)
        }
        expect_true(all(lost <= step * 1.01), label = paste(d, scale_dtype, size))
      }
    }
  }
  expect_values(as.vector(as_array(nv_quantize(rep(0, 3), "bf16")$scales)), 1)
})

# The scale of a block is 2^(floor(log2(largest)) - floor(log2(max))): section 6.3 of the
# specification.
test_that("blocks have scales that are powers of two", {
  small <- 2^c(-125, -128, -127, -130)
  q <- nv_quantize(nv_tensor(small, "f32"), "f4E2M1FN", block = 2)
  expect_identical(as.double(q$scales), c(2^-127, 2^-127))
  expect_identical(as.double(q$values), c(4, 0.5, 1, 0))
  set.seed(2)
  x <- matrix(as_array(nv_tensor(rnorm(70 * 3) * 10^sample(-3:3, 210, TRUE), "f32")), 70)
  for (dtype in c("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E4M3FN", "f8E5M2", "i4", "i8")) {
    largest <- as.numeric(dtype_info(dtype)$max)
    q <- nv_quantize(nv_tensor(x, "f32"), dtype, block = 32)
    expect_identical(format(dtype(q$scales)), "f8E8M0FNU")
    expect_identical(shape(q$scales), c(3L, 3L))
    blocks <- rep(1:3, c(32, 32, 6))
    for (column in 1:3) for (block in 1:3) {
      part <- x[blocks == block, column]
      scale <- 2^(floor(log2(max(abs(part)))) - floor(log2(largest)))
      expect_identical(as.numeric(q$scales[block, column]), scale, info = dtype)
      got <- as.numeric(nv_convert(q$values[which(blocks == block), column], "f64"))
      expect_equal(got, nearest(part / scale, dtype), info = paste(dtype, column, block))
    }
    whole <- as_array(nv_convert(q$values, "f64")) * as_array(nv_convert(q$scales, "f64"))[blocks, ]
    expect_equal(as_array(nv_dequantize(q$values, q$scales, block = 32, dtype = "f64")), whole)
  }
})

test_that("blocks along another dimension are those of the transposed matrix", {
  x <- nv_tensor(matrix(as.numeric(1:60), 4), "f32")
  along <- nv_quantize(x, "f8E4M3FN", block = 4, block_dim = 2)
  turned <- nv_quantize(t(x), "f8E4M3FN", block = 4)
  expect_true(all(along$values == t(turned$values)))
  expect_true(all(along$scales == t(turned$scales)))
  expect_equal(
    as_array(nv_dequantize(along$values, along$scales, block = 4, block_dim = 2)),
    t(as_array(nv_dequantize(turned$values, turned$scales, block = 4)))
  )
})

test_that("missing elements stay missing and NaN is not lost", {
  q <- nv_quantize(nv_tensor(c(1, NA, 4), "f32"), "i4")
  expect_identical(as.numeric(q$values), c(2, NA, 7))
  expect_equal(as.numeric(q$scales), as_array(nv_div(nv_scalar(4, "f32"), nv_scalar(7, "f32"))))
  for (bad in c(NaN, Inf)) {
    for (block in list(NULL, 2)) {
      q <- nv_quantize(nv_tensor(c(1, bad), "f32"), "i8", block = block)
      expect_true(all(is.nan(as_array(nv_dequantize(q$values, q$scales, block = block)))))
    }
  }
})

test_that("compiled functions quantize as eager ones do", {
  x <- nv_tensor(matrix(rnorm(64), 32), "f32")
  f <- function(x) {
    q <- nv_quantize(x, "f4E2M1FN", block = 32)
    list(q, nv_dequantize(q$values, q$scales, block = 32))
  }
  expect_equal(jit(f)(x), f(x))
})

test_that("what cannot be quantized is an error", {
  x <- nv_tensor(c(1, 2), "f32")
  for (dtype in c("bool", "ui8", "ui4", "int1", "f8E8M0FNU", "f32", "i32", "c64")) {
    expect_error(nv_quantize(x, dtype), class = "joist_dtype_error")
  }
  expect_error(nv_quantize(x, "i8", scale_dtype = "i8"), class = "joist_dtype_error")
  expect_error(nv_quantize(x, "i8", dims = 1, block = 2), class = "joist_value_error")
  expect_error(nv_quantize(x, "i8", dims = 2), class = "joist_shape_error")
  expect_error(nv_quantize(x, "i8", block = 0), class = "joist_shape_error")
  expect_error(nv_quantize(x, "i8", block = 2, block_dim = 2), class = "joist_shape_error")
  q <- nv_quantize(x, "i8", block = 2)
  expect_error(nv_dequantize(q$values, q$scales, block = 1), class = "joist_shape_error")
  expect_error(nv_dequantize(q$values, q$scales, dtype = "i8"), class = "joist_dtype_error")
})

test_that("numbers beyond f32, and scales beyond their dtype, are errors", {
  for (x in list(c(1e300, 1), c(1e-300, 1e-301))) {
    expect_error(
      nv_quantize(nv_tensor(x, "f64"), "i8", scale_dtype = "f64"), "beyond f32",
      class = "joist_value_error"
    )
  }
  large <- nv_tensor(c(1e10, 2e10), "f32")
  expect_error(
    nv_quantize(large, "i8", scale_dtype = "f16"), "scales do not fit f16",
    class = "joist_value_error"
  )
  expect_identical(as_array(nv_quantize(nv_tensor(c(0, 0), "f64"), "i8")$values), c(0L, 0L))
})

test_that("products of packed tensors tell of integers that f32 rounds", {
  w <- nv_quantize(matrix(seq(-1, 1, length.out = 64), 32), type = "q4_0")
  ids <- nv_tensor(rep("9007199254740993", 32), "i64")
  strictly <- function(f, kind = "loss") {
    expect_error(
      with_promotion(NULL, f(w, ids), on = stats::setNames("error", kind)),
      class = paste0("joist_", kind, "_error")
    )
  }
  strictly(crossprod)
  strictly(function(w, x) t(w) %*% x)
  strictly(function(w, x) w %*% x[1:2])
  strictly(jit(function(w, x) crossprod(w, x)))
  strictly(function(w, x) crossprod(w, rep(16777217, 32)), "literal")
  small <- nv_tensor(seq_len(32), "i64")
  expect_silent(with_promotion(NULL, crossprod(w, small), on = c(loss = "error")))
})
