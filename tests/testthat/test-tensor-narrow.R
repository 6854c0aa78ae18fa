# What only dtypes of up to a byte have: bits that no element may have, and values that a format
# lacks.

narrow <- Filter(function(dtype) {
  facts <- dtype_info(dtype)
  facts$bytes == 1L && (facts$bits < 8L && dtype != "bool" || facts$kind == "float")
}, dtypes())
codes <- function(x) as.integer(nv_bitcast_convert(x, "ui8"))
every <- function(dtype) {
  nv_bitcast_convert(nv_tensor(as.raw(seq_len(2^dtype_info(dtype)$bits) - 1L)), dtype)
}

test_that("there are seventeen", {
  expect_length(narrow, 17L)
})

test_that("bits above those of a dtype are dropped", {
  all <- nv_tensor(as.raw(0:255))
  for (dtype in narrow) {
    count <- 2^dtype_info(dtype)$bits
    expect_identical(codes(nv_bitcast_convert(all, dtype)), as.integer(0:255 %% count),
      info = dtype)
  }
})

test_that("bits are those of another dtype of as many", {
  for (pair in list(c("i4", "ui4"), c("i2", "ui2"), c("int1", "uint1"), c("i4", "f4E2M1FN"))) {
    there <- nv_bitcast_convert(every(pair[1]), pair[2])
    expect_identical(codes(there), codes(every(pair[2])))
    expect_identical(codes(nv_bitcast_convert(there, pair[1])), codes(every(pair[1])))
  }
  expect_error(nv_bitcast_convert(every("i4"), "i8"), class = "joist_dtype_error")
  expect_error(nv_bitcast_convert(every("f8E5M2"), "bool"), class = "joist_dtype_error")
})

test_that("random numbers are elements of the dtype", {
  for (dtype in narrow) {
    facts <- dtype_info(dtype)
    if (facts$kind != "float") {
      bits <- codes(nv_random_bits(5000, dtype, nv_key(1)))
      expect_setequal(bits, seq_len(2^facts$bits) - 1L)
      limits <- as.integer(c(as.numeric(facts$min), as.numeric(facts$max)))
      drawn <- as.integer(nv_randint(5000, limits[1], limits[2], dtype = dtype, key = nv_key(2)))
      expect_setequal(drawn, limits[1]:limits[2])
      next
    }
    if (dtype == "f8E8M0FNU") {
      expect_error(nv_runif(3, dtype = dtype), class = "joist_value_error")
      expect_error(nv_randint(3, 0L, 1L, dtype = dtype), class = "joist_value_error")
      next
    }
    units <- as.numeric(nv_runif(5000, dtype = dtype, key = nv_key(3)))
    expect_true(all(units >= 0 & units < 1), info = dtype)
    share <- as.numeric(table(units)) / 5000
    expect_lt(max(abs(share * length(share) - 1)), 0.5) # equally often
    values <- as.numeric(every(dtype))
    between <- as.numeric(nv_runif(2000, min = -1.5, max = 3, dtype = dtype, key = nv_key(4)))
    expect_true(all(between >= -1.5 & between < 3 & between %in% values), info = dtype)
    most <- min(2^facts$digits, floor(as.numeric(facts$max)))
    whole <- as.numeric(nv_randint(5000, -most, most, dtype = dtype, key = nv_key(5)))
    expect_setequal(whole, -most:most)
  }
})

test_that("values that a format lacks are errors when a tensor is made, and converted otherwise", {
  for (dtype in narrow) {
    facts <- dtype_info(dtype)
    values <- as.numeric(every(dtype))
    for (bad in c(NaN, Inf, 0, -1)) {
      has <- if (is.nan(bad)) anyNA(values) else bad %in% values
      if (has) {
        expect_equal(as.numeric(nv_tensor(bad, dtype)), bad)
      } else {
        expect_error(nv_tensor(bad, dtype), class = "joist_value_error")
        expect_no_error(nv_convert(nv_scalar(bad, "f32"), dtype))
      }
    }
  }
})

test_that("the extremes of a dtype with NaN but without infinity are found beside NaN", {
  for (dtype in narrow) {
    values <- as.numeric(every(dtype))
    for (generic in c("which.max", "which.min")) {
      expect_identical(match.fun(generic)(every(dtype)), match.fun(generic)(values))
    }
    sorted <- as.numeric(sort(every(dtype)))
    expect_equal(sorted, sort(values), info = dtype)
    down <- as.numeric(nv_sort(every(dtype), decreasing = TRUE))
    expect_equal(down[!is.nan(down)], sort(values, decreasing = TRUE), info = dtype)
  }
})
