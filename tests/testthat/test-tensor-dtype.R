# Names, aliases and spellings of dtypes.

# One row per dtype: anvil, jax and torch, jep and numpy byte codes, StableHLO. NumPy has no
# code for bfloat16.
spellings <- list(
  bool = c("bool", "bool", "b1", "i1"),
  i8 = c("i8", "int8", "i1", "i8"), i16 = c("i16", "int16", "i2", "i16"),
  i32 = c("i32", "int32", "i4", "i32"), i64 = c("i64", "int64", "i8", "i64"),
  ui8 = c("ui8", "uint8", "u1", "ui8"), ui16 = c("ui16", "uint16", "u2", "ui16"),
  ui32 = c("ui32", "uint32", "u4", "ui32"), ui64 = c("ui64", "uint64", "u8", "ui64"),
  f16 = c("f16", "float16", "f2", "f16"), bf16 = c("bf16", "bfloat16", "bf", "bf16"),
  f32 = c("f32", "float32", "f4", "f32"), f64 = c("f64", "float64", "f8", "f64"),
  c64 = c("c64", "complex64", "c8", "complex<f32>"),
  c128 = c("c128", "complex128", "c16", "complex<f64>"),
  int1 = c("int1", "int1", "int1", "int1"), i2 = c("i2", "int2", "int2", "i2"),
  i4 = c("i4", "int4", "int4", "i4"), uint1 = c("uint1", "uint1", "uint1", "uint1"),
  ui2 = c("ui2", "uint2", "uint2", "ui2"), ui4 = c("ui4", "uint4", "uint4", "ui4")
)
# Those of ml_dtypes, in which StableHLO's f8E4M3FN is float8_e4m3fn.
for (name in rownames(byte_floats)) {
  ml_dtype <- tolower(sub("^f([468])", "float\\1_", name))
  spellings[[name]] <- c(name, ml_dtype, ml_dtype, name)
}
spellings$c32 <- c("c32", "complex32", "complex32", "complex<f16>")
spellings$bc32 <- c("bc32", "bcomplex32", "bcomplex32", "complex<bf16>")
column <- c(anvil = 1, jax = 2, torch = 2, jep = 3, numpy = 3, stablehlo = 4)

test_that("the dtypes are in canonical order", {
  expect_identical(dtypes(), names(spellings))
})

test_that("a dtype is read by its name and prints it", {
  for (d in dtypes()) {
    x <- as_dtype(d)
    expect_s3_class(x, "joist_dtype")
    expect_identical(format(x), d)
    expect_identical(as.character(x), d)
    expect_output(print(x), paste0("<dtype ", d, ">"), fixed = TRUE)
    expect_identical(as_dtype(x), x)
  }
})

test_that("every style is written and read back", {
  for (style in names(column)) {
    for (d in dtypes()) {
      spelling <- spellings[[d]][[column[[style]]]]
      if (style == "numpy" && d == "bf16") spelling <- "bfloat16"
      expect_identical(format(as_dtype(d), style = style), spelling)
      expect_identical(format(as_dtype(spelling, style = style)), d)
    }
  }
  expect_error(as_dtype("f32", style = "fortran"), "stablehlo", class = "joist_value_error")
  expect_error(format(as_dtype("f32"), style = "fortran"), class = "joist_value_error")
})

test_that("aliases are read", {
  aliases <- c(
    i1 = "bool", pred = "bool", logical = "bool", int8 = "i8", int16 = "i16", int32 = "i32",
    int64 = "i64", u8 = "ui8", u16 = "ui16", u32 = "ui32", u64 = "ui64", uint8 = "ui8",
    uint16 = "ui16", uint32 = "ui32", uint64 = "ui64", float16 = "f16", half = "f16",
    bfloat16 = "bf16", float32 = "f32", float = "f32", single = "f32", float64 = "f64",
    double = "f64", complex64 = "c64", complex128 = "c128",
    complex32 = "c32", bcomplex32 = "bc32", chalf = "c32"
  )
  for (alias in names(aliases)) expect_identical(format(as_dtype(alias)), aliases[[alias]])
  expect_identical(format(as_dtype("i8")), "i8")
  expect_identical(format(as_dtype("i8", style = "numpy")), "i64")
  expect_identical(format(as_dtype("i1", style = "jep")), "i8")
})

test_that("dtypes compare with dtypes and names, both ways round", {
  pairs <- expand.grid(a = dtypes(), b = dtypes(), stringsAsFactors = FALSE)
  same <- pairs$a == pairs$b
  over_pairs <- function(f) unlist(unname(Map(f, pairs$a, pairs$b)))
  expect_identical(over_pairs(function(a, b) as_dtype(a) == b), same)
  expect_identical(over_pairs(function(a, b) b == as_dtype(a)), same)
  expect_identical(over_pairs(function(a, b) b != as_dtype(a)), !same)
  expect_identical(over_pairs(function(a, b) as_dtype(a) == as_dtype(b)), same)
  expect_true(as_dtype("f64") == "float64")
  expect_true(common_dtype("f64", "f32")$dtype == "f64")
  expect_error(as_dtype("f32") < "f64", "==", class = "joist_dtype_error")
  expect_error(as_dtype("f32") == "f33", "f33", class = "joist_dtype_error")
})

test_that("an invalid dtype is an error", {
  for (bad in list("f33", "", NA_character_, c("f32", "f64"), 32, NULL, "i3", "u1", list())) {
    expect_error(as_dtype(bad), class = "joist_dtype_error")
  }
  expect_error(as_dtype("f33"), "f33")
  expect_error(nv_tensor(1, "f33"), "f33", class = "joist_dtype_error")
  expect_error(nv_convert(1, "f33"), "f33", class = "joist_dtype_error")
  expect_error(nv_aval("f33", 1), "f33", class = "joist_dtype_error")
  expect_error(nv_iota(1, "f33", 3), "f33", class = "joist_dtype_error")
})

test_that("a conversion of a tensor to its own dtype gives an equal one", {
  for (d in dtypes()) {
    x <- nv_reshape(sample_tensor(d), length(sample_tensor(d)))
    names(x) <- paste0("n", seq_along(x))
    y <- nv_convert(x, d)
    expect_identical(y, x)
    y[1] <- y[length(y)]
    expect_identical(x, nv_convert(x, d))
    expect_true(ambiguous(nv_convert(x, d, TRUE)))
  }
  x <- nv_tensor(matrix(c(1, NA, 3, 4), 2, dimnames = list(c("a", "b"), NULL)), "f64")
  expect_identical(nv_convert(x, "f64"), x)
})

test_that("a tensor has the dtype it was made with", {
  for (d in dtypes()) {
    expect_true(dtype(sample_tensor(d)) == d)
    expect_identical(as_dtype(d), dtype(sample_tensor(d)))
    expect_identical(format(as_dtype(sample_tensor(d))), d)
  }
})

test_that("dtype_info() gives the limits that IEEE 754 and two's complement define", {
  for (d in dtypes()) {
    info <- dtype_info(d)
    expect_identical(format(info$dtype), d)
    expect_identical(info$kind, kind_of(d))
    expect_identical(as.numeric(info$bits), if (d == "bool") 1 else width_of(d))
    expect_identical(as.numeric(info$bytes), storage_of(d) / 8)
    for (style in names(info$names)) {
      expect_identical(info$names[[style]], format(as_dtype(d), style))
    }
    real <- if (kind_of(d) == "complex") part_of(d) else d
    expect_identical(format(info$real), real)
    expect_identical(format(dtype(info$min)), real)
    if (info$kind %in% c("float", "complex")) {
      expect_identical(as_array(info$max), float_max(real))
      least <- if (has_zero(real)) -float_max(real) else float_min_subnormal(real)
      expect_identical(as_array(info$min), least)
      expect_identical(info$eps, 2^(1 - float_spec(real)$digits))
      expect_identical(info$smallest, float_min_subnormal(real))
      expect_identical(as.numeric(info$digits), float_spec(real)$digits)
    } else {
      bits <- as.numeric(info$bits)
      signed <- info$kind == "int"
      expect_true(is.na(info$eps) && is.na(info$smallest))
      expect_identical(as.numeric(info$digits), bits - signed)
      ends <- if (bits < 64) {
        limits <- c(if (signed) -2^(bits - 1) else 0, 2^(bits - signed) - 1)
        format(limits, scientific = FALSE, trim = TRUE)
      } else if (signed) {
        c("-9223372036854775808", "9223372036854775807")
      } else {
        c("0", "18446744073709551615")
      }
      got <- c(as_array(info$min, "character"), as_array(info$max, "character"))
      expect_identical(got, if (d == "bool") c("FALSE", "TRUE") else ends)
    }
    x <- nv_scalar(sample_values(d, 1), d)
    expect_identical(dtype_info(x)$dtype, info$dtype)
  }
  expect_error(dtype_info("f12"), class = "joist_dtype_error")
  expect_identical(dtype_info("bf16")$npy, "V2")
  expect_true(is.na(dtype_info("bf16")$arrow))
})
