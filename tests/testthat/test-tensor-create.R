# Tensors: making them, and every way back to R.

test_that("R values have the default dtypes of the rules", {
  values <- list(
    integer = 1:3, double = c(1, 2, 3), logical = c(TRUE, FALSE, TRUE),
    complex = c(1i, 2 + 0i, 3i), raw = as.raw(1:3)
  )
  defaults <- list(
    anvil = c("i32", "f32", "bool", "c64", "ui8"),
    anvl = c("i32", "f32", "bool", "c64", "ui8"),
    jax = c("i64", "f64", "bool", "c128", "ui8"),
    jax_x32 = c("i32", "f32", "bool", "c64", "ui8"),
    numpy = c("i64", "f64", "bool", "c128", "ui8"),
    torch = c("i64", "f32", "bool", "c64", "ui8")
  )
  for (rules in names(defaults)) {
    for (k in seq_along(values)) {
      x <- with_promotion(rules, nv_tensor(values[[k]]))
      expect_identical(type_of(x), defaults[[rules]][k], label = paste(rules, names(values)[k]))
      expect_identical(shape(x), 3L)
      expect_identical(format(device(x)), "cpu")
      number <- with_promotion(rules, nv_scalar(values[[k]][2]))
      expect_identical(type_of(number), defaults[[rules]][k])
      expect_identical(shape(number), integer())
    }
  }
  x64 <- promotion_rules("anvil", double = "f64")
  expect_identical(type_of(with_promotion(x64, nv_tensor(1))), "f64")
})

test_that("integer64 is i64 and stays exact", {
  skip_if_not_installed("bit64")
  texts <- c("9007199254740993", "-9223372036854775807", "9223372036854775807", "0", "-1")
  x <- nv_tensor(bit64::as.integer64(texts))
  expect_identical(type_of(x), "i64")
  expect_identical(as_array(x, as = "character"), texts)
  back <- as_array(x, as = "integer64")
  expect_s3_class(back, "integer64")
  expect_identical(as.character(back), texts)
  for (d in setdiff(ints(), "i64")) {
    some <- held(c(1, 2, 100), d)
    small <- nv_tensor(bit64::as.integer64(some), d)
    expect_identical(as_array(small, "double"), some)
    expect_identical(as.character(as_array(small, "integer64")), as.character(some))
  }
  expect_error(nv_tensor(bit64::as.integer64(c("1", NA)), na = "error"), "position 2",
    class = "joist_value_error"
  )
  lowest <- int_tensor("-9223372036854775808", "i64")
  expect_error(as_array(lowest, "integer64"), "-9223372036854775808", class = "joist_value_error")
  sum <- nv_add(nv_tensor(1:2, "i8"), bit64::as.integer64(300))
  expect_identical(type_of(sum), "i64")
  expect_identical(as_array(sum), c(301, 302))
})

test_that("shapes are those of the value, or the ones asked for", {
  a <- array(as.numeric(1:24), c(2, 3, 4))
  expect_identical(shape(nv_tensor(a)), c(2L, 3L, 4L))
  expect_identical(as_array(nv_tensor(a)), a)
  expect_identical(shape(nv_tensor(1:6, shape = c(2, 3))), c(2L, 3L))
  expect_identical(as_array(nv_tensor(1:6, shape = c(2, 3))), matrix(1:6, 2))
  expect_identical(shape(nv_tensor(5)), 1L)
  expect_identical(shape(nv_tensor(5, shape = integer())), integer())
  expect_identical(shape(nv_scalar(5)), integer())
  expect_identical(shape(nv_tensor(matrix(5))), c(1L, 1L))
  expect_identical(shape(nv_tensor(numeric())), 0L)
  expect_identical(shape(nv_tensor(numeric(), shape = c(0, 3))), c(0L, 3L))
  for (bad in list(5, c(2, 2), 0, integer(), c(3, 2, 2))) {
    expect_error(nv_tensor(1:6, shape = bad), class = "joist_shape_error")
  }
  for (bad in list(-1, 1.5, NA, "a", NA_integer_, Inf)) {
    expect_error(nv_tensor(1, shape = bad), class = "joist_shape_error")
  }
  expect_error(nv_scalar(1:2), class = "joist_shape_error")
})

test_that("properties", {
  x <- nv_tensor(matrix(1:6, 2), "i16", ambiguous = TRUE)
  expect_true(is_tensor(x))
  expect_false(is_tensor(1:6))
  expect_identical(dim(x), c(2L, 3L))
  expect_identical(c(nrow(x), ncol(x)), c(2L, 3L))
  expect_identical(length(x), 6L)
  expect_identical(ndims(x), 2L)
  expect_true(ambiguous(x))
  expect_false(ambiguous(nv_tensor(1)))
  expect_true(ambiguous(nv_tensor(x)))
  expect_null(dim(nv_scalar(1)))
  expect_identical(length(nv_scalar(1)), 1L)
  expect_identical(length(nv_tensor(numeric(), shape = c(0, 3))), 0L)
  expect_identical(dim(nv_tensor(numeric(), shape = c(0, 3))), c(0L, 3L))
  expect_identical(length(nv_aval("f32", c(65536, 65536))), 2^32)
  for (f in list(shape, dtype, ndims, ambiguous, device)) {
    expect_error(f(1), "nv_tensor", class = "joist_value_error")
  }
})

test_that("fill, iota and eye", {
  for (d in dtypes()) {
    value <- sample_values(d, 1)
    filled <- nv_fill(value, c(2, 3), d)
    expect_identical(filled, nv_tensor(rep(value, 6), d, c(2, 3)))
    expect_identical(shape(nv_fill(value, integer(), d)), integer())
    expect_identical(shape(nv_fill(value, c(0, 2), d)), c(0L, 2L))
    if (all(holds(c(0, 1), d))) {
      expect_identical(nv_eye(3, d), nv_tensor(diag(3) * (value^0), d), label = d)
    } else {
      expect_error(nv_eye(3, d), "does not fit", class = "joist_value_error")
    }
    x <- nv_tensor(rep(value, 4), d)
    if (has_zero(d)) expect_identical(diagonal_matrix(x, 4L, longest = 15), nv_diag(x), label = d)
    if (d == "bool") next
    if (all(holds(1:2, d))) {
      expect_identical(nv_iota(1, d, c(2, 3)), nv_tensor(matrix(c(1, 2), 2, 3), d))
    } else {
      expect_error(nv_iota(1, d, c(2, 3)), d, class = "joist_value_error")
    }
    if (all(holds(0:2, d))) {
      expect_identical(nv_iota(2, d, c(2, 3), start = 0), nv_tensor(matrix(0:2, 2, 3, TRUE), d))
    } else {
      expect_error(nv_iota(2, d, c(2, 3), start = 0), d, class = "joist_value_error")
    }
  }
  cube <- aperm(array(5:7, c(3, 2, 4)), c(2, 1, 3))
  expect_identical(as_array(nv_iota(2, "i32", c(2, 3, 4), start = 5)), cube)
  expect_identical(type_of(nv_fill(1L, 2)), "i32")
  expect_true(ambiguous(nv_fill(1L, 2, ambiguous = TRUE)))
  expect_true(ambiguous(nv_iota(1, "i8", 2, ambiguous = TRUE)))
  expect_error(nv_iota(3, "i32", c(2, 3)), class = "joist_shape_error")
  expect_error(nv_iota(0, "i32", c(2, 3)), class = "joist_shape_error")
  expect_error(nv_iota(1, "i8", 200), "128", class = "joist_value_error")
  for (d in c("i64", "ui64")) {
    far <- as_array(nv_iota(1, d, 3, start = 2^60), "character")
    expect_identical(far, c("1152921504606846976", "1152921504606846977", "1152921504606846978"))
    top <- if (d == "i64") 2^63 - 1024 else 2^64 - 2048
    expect_identical(length(nv_iota(1, d, 1024, start = top)), 1024L)
    expect_error(nv_iota(1, d, 3000, start = top), "do not fit", class = "joist_value_error")
    expect_error(nv_iota(1, d, 2, start = 0.5), class = "joist_value_error")
  }
  below <- as_array(nv_iota(1, "i64", 2, start = -2^63), "character")
  expect_identical(below, c("-9223372036854775808", "-9223372036854775807"))
  expect_identical(as_array(nv_iota(1, "i64", 3, start = -1)), c(-1, 0, 1))
  expect_error(nv_fill(300, 2, "ui8"), "300", class = "joist_value_error")
})

# ---- and back ----

natural <- c(
  bool = "logical", i8 = "integer", i16 = "integer", i32 = "integer", i64 = "double",
  ui8 = "integer", ui16 = "integer", ui32 = "double", ui64 = "double", f16 = "double",
  bf16 = "double", f32 = "double", f64 = "double", c64 = "complex", c128 = "complex",
  c32 = "complex", bc32 = "complex"
)
natural[narrow()] <- ifelse(kind_of(narrow()) == "float", "double", "integer")

test_that("as_array() gives the natural type and the same values", {
  expect_setequal(names(natural), dtypes())
  for (d in dtypes()) {
    v <- sample_values(d)
    got <- as_array(nv_tensor(v, d))
    expect_type(got, natural[[d]])
    expect_null(attributes(got))
    expect_true(all(got == v), label = d)
    expect_identical(dim(as_array(nv_tensor(v, d, c(3, 2)))), c(3L, 2L))
    expect_identical(dim(as_array(nv_tensor(v[0], d, c(0, 2)))), c(0L, 2L))
    expect_type(as_array(nv_tensor(v[0], d)), natural[[d]])
    expect_identical(as_array(nv_scalar(v[1], d)), got[1])
  }
})

test_that("extremes of integers come back exactly or not at all", {
  for (d in ints()) {
    text <- c(int_min(d), "0", int_max(d))
    x <- int_tensor(text, d)
    expect_identical(as_array(x, as = "character"), text)
    expect_identical(as_array(x, as = "double"), as.numeric(text))
    expect_identical(as_array(x, as = "complex"), as.numeric(text) + 0i)
    if (width_of(d) < 32 || d == "ui32") expect_equal(as_array(x), as.numeric(text))
    if (width_of(d) < 32) expect_identical(as_array(x, as = "integer"), as.integer(text))
  }
  expect_identical(as_array(nv_tensor(c(-2147483647, 2147483647), "i32")), c(-1L, 1L) * 2147483647L)
  for (as in list(NULL, "integer")) {
    error <- expect_error(as_array(nv_tensor(c(0, -2^31), "i32"), as = as),
      class = "joist_value_error"
    )
    expect_match(conditionMessage(error), "-2147483648 at position 2")
    expect_match(conditionMessage(error), "as = \"double\"", fixed = TRUE)
  }
  expect_identical(as_array(nv_tensor(-2^31, "i32"), as = "double"), -2^31)
  expect_error(as_array(nv_tensor(2^31, "ui32"), "integer"), "2147483648",
    class = "joist_value_error"
  )
})

test_that("64-bit integers beyond 2^53 are an error that names the ways out", {
  for (d in c("i64", "ui64")) {
    inexact <- c("0", "9007199254740993", int_max(d))
    error <- expect_error(as_array(int_tensor(inexact, d)), class = "joist_value_error")
    message <- conditionMessage(error)
    for (part in c("9007199254740993", "position 2", "integer64", "character")) {
      expect_match(message, part, fixed = TRUE)
    }
    exact <- c("9007199254740992", "9007199254740994", "4611686018427387904", "5")
    expect_identical(as_array(int_tensor(exact, d)), as.numeric(exact))
    expect_identical(as_array(int_tensor(inexact, d), "double"), as.numeric(inexact))
    expect_error(as.vector(int_tensor(inexact, d)), class = "joist_value_error")
    expect_error(as_array(int_tensor("3000000000", d), "integer"), class = "joist_value_error")
    expect_identical(as_array(int_tensor(c("7", "8"), d), "integer"), 7:8)
  }
  skip_if_not_installed("bit64")
  expect_error(as_array(int_tensor("9223372036854775808", "ui64"), "integer64"),
    "as = \"character\"",
    fixed = TRUE, class = "joist_value_error"
  )
})

test_that("floats come back with every special value", {
  for (d in floats()) {
    v <- float_values(d)
    x <- nv_tensor(v, d)
    expect_values(as_array(x), v, d)
    # The text tells all values of the dtype apart.
    text <- as_array(x, "character")[is.finite(v)]
    expect_values(round_to(as.numeric(text), d), v[is.finite(v)], d)
    expect_identical(as_array(x, "complex"), complex(real = v, imaginary = 0))
    if (has_zero(d)) {
      negative_zero <- as_array(nv_scalar(-0, d))
      expect_identical(1 / negative_zero, if (has_minus_zero(d)) -Inf else Inf)
    }
    # Whether the bits are right: of 1, the smallest subnormal, the largest.
    bits <- nv_bitcast_convert(nv_tensor(c(1, float_min_subnormal(d), float_max(d)), d),
      paste0("ui", storage_of(d))
    )
    mantissa <- float_spec(d)$digits - 1
    bias <- 1 - float_spec(d)$low
    want <- c(bias * 2^mantissa, 1, (2 * bias + 1) * 2^mantissa - 1)
    if (is_narrow(d)) {
      # Of the codes of positive numbers the last few are infinity and NaN, or only NaN, or neither.
      positive <- 2^(width_of(d) - 1) - 1
      few <- grepl("FN$", d) && width_of(d) == 8
      want[3] <- if (has_infinity(d)) positive - 2^mantissa else positive - few
      if (!has_zero(d)) want <- c(127, 0, 254)
    }
    expect_identical(as_array(bits, "double"), want, label = d)
  }
  for (d in complexes()) {
    v <- complex_values(d)
    expect_values(as_array(nv_tensor(v, d)), v, d)
    odd <- complex(real = c(NaN, Inf, -0), imaginary = c(1, -Inf, NaN))
    expect_values(as_array(nv_tensor(odd, d)), odd, d)
  }
})

test_that("making a float rounds once, half to even", {
  tenth <- c(0.1, 1 / 3, pi, 1e-7, 1e-39, 65519, 2049, 2051, 16777217, 16777219, -0.1)
  for (d in floats()) {
    keep <- abs(tenth) < float_max(d) & (has_zero(d) | tenth > 0)
    expect_values(as_array(nv_tensor(tenth[keep], d)), round_to(tenth[keep], d), d)
  }
  # A value that two roundings, through f32, would get wrong.
  twice <- 1 + 2^-11 + 2^-40
  expect_identical(as_array(nv_tensor(twice, "f16")), 1 + 2^-10)
  expect_identical(as_array(nv_tensor(1 + 2^-8 + 2^-40, "bf16")), 1 + 2^-7)
})

test_that("`as` that a dtype cannot give is an error", {
  for (d in dtypes()) {
    x <- sample_tensor(d)
    v <- sample_values(d)
    gives <- list(
      logical = d == "bool",
      integer = kind_of(d) %in% c("bool", "int", "uint"),
      integer64 = kind_of(d) %in% c("bool", "int", "uint"),
      raw = d %in% c("bool", "ui8"), double = kind_of(d) != "complex", complex = TRUE
    )
    for (as in names(gives)) {
      if (gives[[as]]) {
        expect_identical(class(as_array(x, as = as)), if (as == "double") "numeric" else as)
      } else {
        expect_error(as_array(x, as = as), d, class = "joist_dtype_error")
      }
    }
    expect_identical(as_array(x, "complex"), v + 0i)
    expect_error(as_array(x, as = "list"), "integer64", class = "joist_value_error")
  }
  expect_identical(as_array(nv_tensor(c(0, 255), "ui8"), "raw"), as.raw(c(0, 255)))
  expect_identical(as_array(nv_tensor(c(TRUE, FALSE)), "raw"), as.raw(c(1, 0)))
  expect_error(as_array(1:3), "nv_tensor", class = "joist_value_error")
  expect_error(as_array(nv_aval("f32", 2)), "values", class = "joist_value_error")
})

test_that("i32, f64 and c128 share memory with R until one is written to", {
  for (v in list(1:5000, as.numeric(1:5000), complex(real = 1:5000, imaginary = 1))) {
    v <- v + 0L
    x <- nv_tensor(v, c(integer = "i32", double = "f64", complex = "c128")[[typeof(v)]])
    first_line <- function(object) utils::capture.output(.Internal(inspect(object)))[1]
    address <- function(object) sub(" .*", "", first_line(object))
    payload <- payload_address(first_line(x))
    expect_true(any(grepl(payload, utils::capture.output(.Internal(inspect(as_array(x)))))))
    expect_identical(address(v), payload)
    expect_identical(x, nv_tensor(v, dtype(x))) # base R reads it there
    expect_identical(payload_address(first_line(x)), payload)
  }
})

test_that("base R's conversions", {
  x <- nv_tensor(matrix(c(1, 0, 2, 3), 2), "i16")
  expect_identical(as.double(x), c(1, 0, 2, 3))
  expect_identical(as.numeric(x), c(1, 0, 2, 3))
  expect_identical(as.integer(x), c(1L, 0L, 2L, 3L))
  expect_identical(as.logical(x), c(TRUE, FALSE, TRUE, TRUE))
  expect_identical(as.complex(x), c(1, 0, 2, 3) + 0i)
  expect_identical(as.character(x), c("1", "0", "2", "3"))
  expect_identical(as.vector(x), c(1L, 0L, 2L, 3L))
  expect_identical(as.vector(x, "double"), c(1, 0, 2, 3))
  expect_identical(as.vector(x, "character"), c("1", "0", "2", "3"))
  expect_identical(as.array(x), matrix(c(1L, 0L, 2L, 3L), 2))
  expect_identical(as.array(nv_tensor(1:3)), array(1:3, 3))
  expect_identical(as.matrix(x), matrix(c(1L, 0L, 2L, 3L), 2))
  expect_identical(as.matrix(nv_tensor(1:3)), matrix(1:3, 3))
  expect_identical(as.matrix(nv_tensor(array(1, c(1, 1, 1)))), as.matrix(array(1, c(1, 1, 1))))
  parts <- as.list(x)
  expect_length(parts, 4)
  expect_identical(parts[[3]], nv_scalar(2, "i16"))
  expect_identical(as.vector(x, "list"), parts)
  expect_identical(as.integer(nv_tensor(c(1.9, -1.9))), c(1L, -1L))
  expect_error(as.integer(nv_tensor(1e10)), "1e+10", fixed = TRUE, class = "joist_value_error")
  expect_identical(as.integer(nv_tensor(NaN)), NA_integer_)
  expect_error(as.integer(nv_tensor(1i)), class = "joist_dtype_error")
  expect_error(as.double(nv_tensor(1i)), class = "joist_dtype_error")
  for (d in dtypes()) {
    v <- sample_values(d)
    t <- nv_tensor(v, d)
    expect_identical(as.logical(t), as.logical(v))
    expect_identical(as.complex(t), as.complex(v))
    if (kind_of(d) != "complex") expect_identical(as.double(t), as.double(v))
    expect_identical(lapply(as.list(t), type_of), rep(list(d), 6))
    expect_true(all(as.vector(t) == v))
  }
})

# ---- NA ----

test_that("NA is an error that names the first position where that was asked for", {
  for (d in dtypes()) {
    refused <- function(x, position) {
      expect_refusal(nv_tensor(x, d, na = "error"), "joist_value_error", c("NA", position))
    }
    if (!all(holds(c(0, 1), d))) {
      refused(c(sample_values(d, 1), NA, NA), "position 2")
      next
    }
    refused(c(1L, NA, NA), "position 2")
    refused(c(TRUE, TRUE, NA), "position 3")
    refused(c(NA, 1L), "position 1")
    refused(c(0, 1, NA), "position 3")
  }
  for (d in c("f16", "bf16", "f32", "f64")) {
    expect_identical(as_array(nv_tensor(c(0, 1, NA), d, na = "nan")), c(0, 1, NaN))
  }
  expect_true(is.nan(Re(as_array(nv_tensor(c(1i, NA), "c64", na = "nan"))[2])))
  expect_error(nv_tensor(c(1i, NA), "c64", na = "error"), "position 2", class = "joist_value_error")
  expect_error(nv_tensor(1, na = "omit"), "nan", class = "joist_value_error")
  late <- replace(numeric(100000), 77777, NA)
  expect_error(nv_tensor(late, "f32", na = "error"), "position 77777", class = "joist_value_error")
  expect_identical(which(is.na(nv_tensor(late, "f32"))), 77777L)
})

test_that("NA and NaN stay apart", {
  v <- c(1, NA, NaN, Inf)
  x <- nv_tensor(v, "f64")
  expect_identical(as_array(x), v)
  expect_identical(is.na(as_array(x)) & !is.nan(as_array(x)), c(FALSE, TRUE, FALSE, FALSE))
  z <- complex(real = c(1, NA, NaN), imaginary = c(NA, 0, 1))
  expect_identical(is.na(nv_tensor(z, "c128")), is.na(z))
  # A double NA also survives being copied.
  copied <- nv_reshape(nv_tensor(c(v, 0, 0), "f64", c(2, 3)), c(3, 2))
  expect_identical(as.vector(copied), c(v, 0, 0))
  narrow <- as_array(nv_convert(x, "f32"))
  expect_identical(is.nan(narrow), c(FALSE, FALSE, TRUE, FALSE))
  expect_identical(is.na(narrow), c(FALSE, TRUE, TRUE, FALSE))
  expect_identical(is.na(x), c(FALSE, TRUE, TRUE, FALSE))
  expect_true(anyNA(x))
  expect_false(anyNA(nv_tensor(1:3)))
})

# ---- values, not references ----

test_that("nothing changes its argument", {
  v <- c(1, 2, 3)
  x <- nv_tensor(v, "f64")
  v[1] <- 100
  expect_identical(as_array(x), c(1, 2, 3))
  out <- as_array(x)
  out[2] <- -1
  expect_identical(as_array(x), c(1, 2, 3))
  out <- unclass(x)
  out[3] <- 0
  expect_identical(as_array(x), c(1, 2, 3))
  for (d in dtypes()) {
    x <- sample_tensor(d)
    before <- bytes_of(x) # a copy of the bytes
    y <- x
    op_results <- list(
      x + x, nv_eq(x, x), nv_reshape(x, c(2, 3)), nv_convert(x, "f64"), nv_reduce_sum(x),
      as_array(x), nv_conj(x), jit(function(a) list(a, a * a))(x), as.list(x)
    )
    expect_length(op_results, 9)
    expect_identical(bytes_of(x), before)
    expect_identical(x, y)
  }
})

test_that("equal tensors are identical, others are not", {
  for (d in dtypes()) {
    expect_identical(sample_tensor(d), sample_tensor(d))
    expect_false(identical(sample_tensor(d), sample_tensor(d, ambiguous = TRUE)))
    expect_false(identical(sample_tensor(d), sample_tensor(d, shape = c(2, 3))))
    expect_false(identical(sample_tensor(d), sample_tensor(d, 5)))
  }
  expect_false(identical(nv_tensor(1, "i8"), nv_tensor(1, "ui8")))
})

# ---- files, processes ----

test_that("every dtype survives saveRDS(), serialize() and copies", {
  file <- tempfile()
  on.exit(unlink(file))
  for (d in dtypes()) {
    for (x in list(sample_tensor(d), sample_tensor(d, shape = c(2, 3)),
      nv_scalar(sample_values(d, 1), d),
      nv_tensor(sample_values(d, 0), d, c(0, 2)), sample_tensor(d, ambiguous = TRUE)
    )) {
      saveRDS(x, file)
      expect_identical(readRDS(file), x)
      expect_identical(unserialize(serialize(x, NULL)), x)
      expect_identical(bytes_of(unserialize(serialize(x, NULL, ascii = TRUE))), bytes_of(x))
    }
    restored <- unserialize(serialize(sample_tensor(d), NULL))
    expect_identical(restored + restored, sample_tensor(d) + sample_tensor(d))
  }
})

# What R does with vectors of 20000 elements: reading, and writing, which copies what is shared.
uses_of_vectors <- list(
  length, rev, unique, is.na, as.character, as.list, utils::object.size,
  function(x) x[c(20000L, 1L, NA, 7L)],
  function(x) x[c(20000, 1, 3.7, NA)],
  function(x) x[c(2, 19999.9)],
  function(x) x[19990:20010],
  function(x) x[20000:1],
  function(x) x[0],
  function(x) x[-(2:19990)],
  function(x) x[x == x[8]],
  function(x) vapply(1:99, function(k) as.character(x[[k]]), ""),
  function(x) c(x, x),
  function(x) replace(x, 3, x[20000]),
  function(x) {
    x[[length(x) + 5L]] <- x[1]
    x
  },
  function(x) {
    y <- x
    y[1] <- x[2]
    list(x, y)
  },
  function(x) {
    dim(x) <- c(100L, 200L)
    t(x)[1:3, ]
  },
  function(x) {
    names(x) <- x
    x[5:6]
  },
  function(x) {
    length(x) <- 10L
    x
  },
  function(x) serialize(x, NULL),
  function(x) unserialize(serialize(x, NULL)),
  function(x) unserialize(serialize(x, NULL, ascii = TRUE))
)

test_that("elements in the pool are a vector like R's own", {
  n <- 20000L
  own <- list(
    i32 = seq_len(n) + 0L, f64 = seq_len(n) / 4,
    c128 = complex(real = seq_len(n), imaginary = -1), ui8 = as.raw(seq_len(n) %% 256L)
  )
  uses_of_numbers <- list(sum, range, mean, sort, order, cumsum, function(x) x + 1L, which.max)
  for (d in names(own)) {
    plain <- own[[d]]
    natural <- typeof(plain)
    # Once the payload of a tensor still, once of none any more.
    tensor <- nv_tensor(rev(plain), d)[n:1]
    shared <- function() as_array(tensor, as = natural)
    alone <- function() as_array(nv_tensor(rev(plain), d)[n:1], as = natural)
    expect_identical(shared(), plain)
    for (f in c(uses_of_vectors, if (is.numeric(plain)) uses_of_numbers)) {
      expect_true(identical(f(alone()), f(plain)), label = paste(d, deparse1(f)))
      expect_true(identical(f(shared()), f(plain)), label = paste(d, deparse1(f)))
    }
    # Functions that wrote to it wrote to a copy.
    expect_identical(shared(), plain)
  }
})

test_that("the memory of tensors comes back, also from vectors that R still had", {
  for (k in 1:4) invisible(gc()) # what finalizers of other tests hold
  before <- nv_memory()[["used"]]
  x <- nv_fill(1, 1e5, "f64")
  v <- as_array(x)
  expect_gte(nv_memory()[["used"]] - before, 8e5)
  rm(x)
  invisible(gc())
  # From R 4.6 on, v is a copy.
  expect_gte(nv_memory()[["used"]] - before, if (getRversion() < "4.6.0") 8e5 else 0)
  expect_identical(sum(v), 1e5)
  rm(v)
  invisible(gc())
  expect_lte(nv_memory()[["used"]], before)
})

test_that("functions of reg.finalizer() read large tensors, whichever came first", {
  read <- list()
  # The object has its function before it has the tensor, or the other way around.
  finalized <- function(name, early, at_last) {
    e <- new.env()
    if (early) reg.finalizer(e, at_last)
    e$x <- nv_fill(1, 1e5, "f64")
    e$name <- name
    if (!early) reg.finalizer(e, at_last)
    invisible()
  }
  total <- function(e) read[[e$name]] <<- tryCatch(as_array(sum(e$x)), error = conditionMessage)
  finalized("early", TRUE, total)
  finalized("late", FALSE, total)
  finalized("busy", TRUE, function(e) {
    for (k in 1:40) y <- nv_fill(k, 1e5, "f64") # more than what makes joist collect
    gc()
    total(e)
  })
  finalized("last", TRUE, total)
  invisible(gc())
  expect_identical(read[c("early", "late", "busy", "last")],
                   list(early = 1e5, late = 1e5, busy = 1e5, last = 1e5))
  # What is garbage is freed also if one of them kept a tensor that it read.
  before <- nv_memory()[["used"]]
  finalized("kept", TRUE, function(e) {
    total(e)
    kept <<- e$x
  })
  kept <- NULL
  invisible(gc())
  for (k in 1:80) y <- nv_fill(k, 1e5, "f64")
  invisible(gc())
  invisible(nv_memory())
  expect_identical(read$kept, 1e5)
  expect_identical(as_array(kept + kept)[c(1, 1e5)], c(2, 2))
  kept <- y <- NULL
  for (k in 1:2) invisible(gc())
  nv_memory()
  invisible(gc())
  expect_lte(nv_memory()[["used"]], before)
})

test_that("the bytes of a large tensor are an R vector like any other", {
  values <- rep_len(c(0, 7, 255), 1e5)
  x <- nv_tensor(values, "ui8")
  bytes <- as_array(x, "raw")
  expect_identical(bytes, as.raw(values))
  bytes[1] <- as.raw(1)
  expect_identical(as_array(x[1:2]), c(0L, 7L))
  expect_identical(as.raw(x), as.raw(values))
})

test_that("forked workers compute, also after threads were used", {
  skip_on_os("windows")
  n <- 200000L
  x <- nv_tensor(as.numeric(seq_len(n)), "f64")
  total <- as.double(sum(x * 2)) # may start threads in this process
  expect_identical(total, n * (n + 1))
  work <- function(k) {
    y <- x * k
    list(sum = as.double(sum(y)), tensor = nv_tensor(k, "i8"), threads = nv_get_threads())
  }
  results <- parallel::mclapply(1:3, work, mc.cores = 2)
  for (k in 1:3) {
    expect_identical(results[[k]]$sum, k * n * (n + 1) / 2)
    expect_identical(results[[k]]$tensor, nv_tensor(k, "i8"))
    expect_identical(results[[k]]$threads, 1L)
  }
  expect_identical(as.double(sum(x * 2)), total)
})

test_that("a process loads the package to read a tensor", {
  skip_on_cran()
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(nv_tensor(c(1.5, 2), "f32"), file)
  read <- sprintf("x <- readRDS('%s'); ", gsub("\\\\", "/", file))
  out <- run_in_fresh_r(paste0(read, "print('joist' %in% loadedNamespaces()); print(x)"))
  expect_identical(out[1], "[1] TRUE")
  expect_identical(utils::tail(out, 2), c("[1] 1.5 2.0", "[ CPUf32{2} ]"))
})

# ---- printing ----

test_that("tensors print their values and end in the footer", {
  printed <- function(x, ...) utils::capture.output(print(x, ...))
  expect_identical(utils::tail(printed(nv_tensor(matrix(1:6, 2), "f32")), 1), "[ CPUf32{2x3} ]")
  expect_identical(printed(nv_scalar(4L, ambiguous = TRUE)), c("[1] 4", "[ CPUi32?{} ]"))
  expect_identical(printed(nv_scalar(TRUE)), c("[1] TRUE", "[ CPUbool{} ]"))
  expect_identical(
    printed(nv_tensor(matrix(1:4, 2), "i16")),
    c("     [,1] [,2]", "[1,]    1    3", "[2,]    2    4", "[ CPUi16{2x2} ]")
  )
  for (d in dtypes()) {
    x <- sample_tensor(d)
    expect_identical(utils::tail(printed(x), 1), paste0("[ CPU", d, "{6} ]"))
    utils::capture.output(shown <- withVisible(print(x)))
    expect_identical(shown, list(value = x, visible = FALSE))
    none <- nv_tensor(sample_values(d, 0), d, c(0, 2))
    expect_identical(printed(none), paste0("[ CPU", d, "{0x2} ]"))
    expect_length(format(x), 6)
    expect_identical(dim(format(sample_tensor(d, shape = c(2, 3)))), c(2L, 3L))
  }
  expect_identical(format(nv_tensor(c(1.5, NaN, -Inf))), c(" 1.5", " NaN", "-Inf"))
  expect_identical(format(nv_scalar(pi, "f64"), digits = 3), "3.14")
  expect_identical(format(nv_scalar(pi, "f64"), digits = 17), format(pi, digits = 17))
  expect_identical(format(nv_tensor(c(1, NA), "f64")), c(" 1", "NA"))
  expect_identical(format(int_tensor(int_max("ui64"), "ui64")), int_max("ui64"))
  expect_identical(printed(nv_aval("f32", c(2, 3), TRUE)), "[ AVALf32?{2x3} ]")
})

test_that("long tensors print a head and say how much is left out", {
  out <- utils::capture.output(print(nv_tensor(seq_len(5000), "i32"), max = 5))
  expect_identical(out, c("[1] 1 2 3 4 5", " ... 4,995 more", "[ CPUi32{5000} ]"))
  out <- utils::capture.output(print(nv_tensor(rep(7L, 100000), "i32")))
  head <- out[seq_len(length(out) - 2)]
  expect_lt(length(head), 200)
  printed <- lengths(regmatches(head, gregexpr("\\b7\\b(?!\\])", head, perl = TRUE)))
  left <- paste(format(100000 - sum(printed), big.mark = ","), "more")
  expect_match(out[length(out) - 1], left, fixed = TRUE)
  expect_identical(out[length(out)], "[ CPUi32{100000} ]")
})

# What is printed of a tensor is what R prints of the same array.
test_that("arrays of every dtype print as R's, of large ones the first rows and columns", {
  printed <- function(x, ...) utils::capture.output(print(x, ...))
  for (d in dtypes()) {
    for (extents in list(c(2, 3), c(1, 1), c(2, 3, 2), c(2, 1, 2, 1))) {
      values <- as_array(nv_tensor(sample_values(d, prod(extents)), d, extents))
      out <- printed(nv_tensor(values, d))
      # R pads integers of 64 bits, which joist has as text, as it pads numbers.
      expect_identical(out[-length(out)], printed(values), info = d)
    }
    large <- nv_tensor(rep_len(sample_values(d, 6), 1200), d, c(300, 4))
    out <- printed(large)
    expect_identical(out[seq_len(51)], printed(as_array(large)[1:50, ]), info = d)
    expect_identical(out[52:53], c(" ... 1,000 more", paste0("[ CPU", d, "{300x4} ]")))
  }
  corner <- function(extents, shown, ...) {
    all <- array(as.double(seq_len(prod(extents))), extents)
    kept <- do.call(`[`, c(list(all), lapply(shown, seq_len), drop = FALSE))
    out <- printed(nv_tensor(all, "i32"), ...)
    expect_identical(out[seq_len(length(out) - 2)], printed(kept))
    left <- format(length(all) - length(kept), big.mark = ",")
    expect_identical(out[length(out) - 1], paste0(" ... ", left, " more"))
  }
  corner(c(4, 300), c(4, 50))
  corner(c(100, 100), c(14, 14))
  corner(c(20, 11), c(18, 11))
  corner(c(5, 6, 50), c(5, 6, 6))
  corner(c(2, 2, 10, 10), c(2, 2, 10, 5))
  corner(c(1, 1, 500), c(1, 1, 200))
  corner(c(3, 3), c(1, 1), max = 1)
  corner(c(3, 3), c(2, 2), max = 4)
})

test_that("integers print with all of their digits, as R prints integers", {
  printed <- function(x, ...) utils::capture.output(print(x, ...))
  for (value in c(100000L, 1000000001L, 2000000000L)) {
    for (d in c("i32", "ui32", "i64", "ui64")) {
      out <- printed(nv_tensor(c(value, 1L), d))
      expect_identical(out[1], printed(c(value, 1L)), info = d)
      expect_identical(format(nv_tensor(c(value, 1L), d)), format(c(value, 1L)), info = d)
      out <- printed(nv_tensor(matrix(c(value, 1L, 2L, value), 2), d))
      expect_identical(out[1:3], printed(matrix(c(value, 1L, 2L, value), 2)), info = d)
      expect_match(utils::capture.output(print(data.frame(x = nv_tensor(value, d))))[2],
        format(value),
        info = d
      )
    }
  }
  expect_identical(printed(nv_tensor(-2^31, "i32"))[1], "[1] -2147483648")
  expect_identical(printed(nv_tensor(4000000001, "ui32"))[1], "[1] 4000000001")
  expect_identical(printed(nv_tensor(1:3), max = 0), c(" ... 3 more", "[ CPUi32{3} ]"))
})

test_that("format() is that of base R, with its arguments and options", {
  settings <- list(
    list(), list(digits = 3), list(nsmall = 2), list(width = 12), list(trim = TRUE),
    list(big.mark = ","), list(scientific = TRUE), list(justify = "left"), list(na.encode = FALSE)
  )
  old <- options(digits = 7)
  on.exit(options(old))
  same_as_base <- function() {
    for (d in dtypes()) {
      values <- if (d == "bool") {
        c(TRUE, FALSE, TRUE)
      } else if (d %in% ints()) {
        c(100, 7, 0)
      } else {
        c(2.5, 512, -0.25)
      }
      if (d %in% c("ui32", "i64", "ui64")) values <- c(1000000001, 7, 0)
      if (is_narrow(d)) values <- sample_values(d, 3)
      x <- nv_tensor(values, d)
      plain <- as.vector(x)
      if (d %in% ints()) plain <- as.integer(plain)
      for (arguments in settings) {
        # R shows integers in scientific notation where it is asked for; these have all digits.
        if (d %in% ints() && !is.null(arguments$scientific)) next
        want <- do.call(format, c(list(plain), arguments))
        got <- do.call(format, c(list(x), arguments))
        expect_identical(got, want, info = paste(d, deparse1(arguments)))
        expect_identical(dim(format(nv_reshape(x, c(1, 3)))), c(1L, 3L))
      }
    }
  }
  same_as_base()
  options(OutDec = ",", digits = 3)
  suppressWarnings(same_as_base()) # both marks are commas
  options(old)
  options(scipen = 20, OutDec = ".")
  on.exit(options(scipen = 0), add = TRUE)
  same_as_base()
  expect_identical(format(nv_tensor(1e10, "f64")), "10000000000")
  far <- nv_scalar(2^53, "i64") + nv_tensor(c(1, -2^53), "i64")
  expect_identical(format(far, big.mark = ","), c("9,007,199,254,740,993", "                    0"))
  expect_identical(format(nv_tensor(numeric(), "f64")), character())
  expect_identical(format(nv_tensor(integer(), "i64")), character())
})

test_that("a decimal comma does not change the counts in prints, and gives no warning", {
  old <- options(OutDec = ",")
  on.exit(options(old))
  expect_warning(shown <- capture.output(print(nv_iota(1L, "i32", 20000L), max = 10)), NA)
  expect_true(" ... 19,990 more" %in% shown)
  expect_warning(capture.output(print(summary(nv_fill(1, 20000L)))), NA)
})

test_that("str() and summary()", {
  out <- utils::capture.output(str(nv_tensor(1:3, "i8")))
  expect_match(out, "[ CPUi8{3} ] 1 2 3", fixed = TRUE)
  out <- utils::capture.output(str(list(a = nv_tensor(seq_len(100)))))
  expect_match(out[2], "CPUi32{100}", fixed = TRUE)
  expect_match(out[2], "...", fixed = TRUE)
  out <- utils::capture.output(print(summary(nv_tensor(c(1, 4, 7)))))
  expect_identical(out, c(utils::capture.output(print(summary(c(1, 4, 7)))), "[ CPUf32{3} ]"))
  for (d in dtypes()) {
    expect_output(print(summary(sample_tensor(d))), d, fixed = TRUE)
    expect_output(print(summary(nv_tensor(sample_values(d, 0), d))), d, fixed = TRUE)
    expect_output(str(sample_tensor(d)), d, fixed = TRUE)
  }
})

test_that("all.equal() says what differs", {
  x <- nv_tensor(c(1, 2, 3))
  expect_true(all.equal(x, x))
  expect_true(all.equal(x, nv_tensor(c(1, 2, 3 + 1e-6))))
  expect_match(all.equal(x, nv_tensor(c(1, 2, 4))), "difference")
  expect_match(all.equal(x, nv_tensor(c(1, 2, 3), "f64"))[1], "f32 and f64")
  expect_match(all.equal(x, nv_tensor(c(1, 2, 3), ambiguous = TRUE)), "ambiguous")
  expect_match(all.equal(x, nv_tensor(c(1, 2))), "{3} and {2}", fixed = TRUE)
  expect_match(all.equal(x, c(1, 2, 3)), "numeric")
  expect_true(all.equal(x, x + 0.1, tolerance = 1))
  for (d in dtypes()) {
    expect_true(all.equal(sample_tensor(d), sample_tensor(d)))
    expect_type(all.equal(sample_tensor(d), nv_not(sample_tensor(d))), "character")
  }
  expect_false(isTRUE(all.equal(nv_tensor(1:2), nv_tensor(c(1L, 3L)))))
})

test_that("a tensor that was taken apart is an error, not a crash", {
  x <- nv_tensor(1:3, "i16")
  for (dtype in list(list("x"), NULL, "x", c("i16", "i16"), 3, NA_character_, "i16??")) {
    broken <- x
    attr(broken, "dtype") <- dtype
    expect_error(broken + 1L, class = "joist_error")
  }
  # R keeps dims, names and rank in line with the elements, or refuses them; other ranks are none.
  expect_error(dim(x) <- c(1000L, 1000L))
  expect_error(names(x) <- 1:4)
  for (rank in list(0L, 7, "0", list())) {
    broken <- x
    attr(broken, "rank") <- rank
    expect_identical(shape(broken), 3L)
    expect_identical(as.vector(broken + 1L), 2:4)
  }
  # With another dtype its integers are elements of that.
  for (d in dtypes()) {
    whole <- if (d == "bool") c(0L, 1L, 1L) else as.integer(held(c(0, 1, 1), d))
    other <- nv_tensor(whole, "i32")
    attr(other, "dtype") <- d
    same <- nv_convert(nv_tensor(whole, "i32"), d)
    # Integers of R with this dtype are not elements of bool but numbers.
    if (d == "bool") same <- nv_tensor(whole, "i32", ambiguous = TRUE)
    expect_identical(other + other, same + same, label = d)
    attr(other, "dtype") <- as_dtype("i32")
    expect_identical(as_array(other), whole)
  }
  other <- nv_tensor(c(0L, 300L), "i32")
  attr(other, "dtype") <- "ui8"
  expect_refusal(as_array(other), "joist_value_error", c("300", "ui8"))
  for (object in list(list(), "a", as.raw(1:3), quote(f(x)), function(x) x)) {
    expect_error(structure(object, class = "nv_tensor", dtype = "i16") + 1L, class = "joist_error")
  }
  expect_error(structure(list(), class = "nv_tensor") + 1L, class = "joist_error")
})

test_that("64-bit integers are read from text, which R has no numbers for", {
  text <- c("0", "-9223372036854775808", "9223372036854775807", "+12", "0x7fffffffffffffff")
  x <- nv_tensor(text, "i64")
  want <- c("0", "-9223372036854775808", "9223372036854775807", "12", "9223372036854775807")
  expect_identical(as_array(x, "character"), want)
  expect_identical(nv_tensor(as_array(x, "character"), "i64"), x)
  top <- nv_scalar("18446744073709551615", "ui64")
  expect_identical(top, nv_bitwise_not(nv_scalar(0L, "ui64")))
  expect_identical(nv_scalar("0xFFFFffffFFFFffff", "ui64"), top)
  expect_identical(shape(nv_tensor(matrix(c("1", "2"), 1), "ui64")), c(1L, 2L))
  expect_identical(shape(nv_tensor(c("1", "2"), "i64", shape = c(2, 1))), c(2L, 1L))
  expect_identical(type_of(nv_tensor("1", "i64", ambiguous = TRUE)), "i64?")
  expect_identical(shape(nv_fill("7", c(2, 3), "ui64")), c(2L, 3L))
  expect_identical(length(nv_tensor(character(), "i64")), 0L)
  for (bad in c("", "-", "0x", "1.5", " 1", "1e3", "12a", "0xg")) {
    expect_error(
      nv_tensor(c("1", bad), "i64"), paste0("\"", bad, "\" at position 2"),
      fixed = TRUE, class = "joist_value_error"
    )
  }
  for (far in c("9223372036854775808", "-9223372036854775809", "99999999999999999999999")) {
    expect_error(nv_tensor(far, "i64"), "does not fit i64", class = "joist_value_error")
  }
  for (far in c("-1", "18446744073709551616", "0x10000000000000000")) {
    expect_error(nv_tensor(far, "ui64"), "does not fit ui64", class = "joist_value_error")
  }
  expect_error(nv_tensor(c("1", NA), "i64", na = "error"), "NA at position 2",
    class = "joist_value_error"
  )
  expect_error(nv_tensor("1", "i64", shape = 2), class = "joist_shape_error")
  for (d in setdiff(dtypes(), c("i64", "ui64"))) {
    expect_error(nv_tensor("1", d), "character vector", class = "joist_value_error")
  }
})

test_that("hashes have the values that others published", {
  # Fowler, Noll, Vo: 64-bit FNV-1a of "hello"; Steele et al.: the first two of SplitMix64.
  hash <- nv_scalar("0xcbf29ce484222325", "ui64")
  for (byte in utf8ToInt("hello")) {
    hash <- nv_bitwise_xor(hash, byte) * nv_scalar("1099511628211", "ui64")
  }
  expect_identical(hash, nv_scalar("0xa430d84680aabd0b", "ui64"))
  factors <- nv_tensor(c("0x9e3779b97f4a7c15", "0xbf58476d1ce4e5b9", "0x94d049bb133111eb"), "ui64")
  fold <- function(z, by) nv_bitwise_xor(z, nv_shift_right_logical(z, by))
  mix <- jit(function(z) fold(fold(fold(z, 30L) * factors[2], 27L) * factors[3], 31L))
  state <- nv_scalar(1234567L, "ui64") + nv_tensor(1:2, "ui64") * factors[1]
  want <- c("6457827717110365317", "3203168211198807973")
  expect_identical(as_array(mix(state), "character"), want)
})

test_that("integers are printed with all their digits", {
  before <- getOption("scipen")
  first_line <- function(x) utils::capture.output(print(x))[1L]
  for (d in c("i32", "ui32", "i64", "ui64")) {
    for (value in c(100000, 2e6, 1000000001, 2147483647)) {
      expect_identical(first_line(nv_tensor(value, d)), paste("[1]", sprintf("%.0f", value)))
    }
    matrix <- utils::capture.output(print(nv_tensor(matrix(c(100000, 1), 2), d)))
    expect_identical(matrix[2:3], c("[1,] 100000", "[2,]      1"))
  }
  expect_identical(first_line(nv_scalar(4200000001, "ui32")), "[1] 4200000001")
  expect_identical(first_line(nv_scalar(-2^31, "i32")), "[1] -2147483648")
  expect_identical(first_line(nv_scalar(1e5)), "[1] 1e+05")
  expect_identical(getOption("scipen"), before)
})

test_that("as.numeric() says that it rounds", {
  x <- nv_tensor(c("9007199254740993", "3", "9007199254740995"), "i64")
  expect_warning(rounded <- as.numeric(x), "as.double() rounds 2 elements of i64 to f64",
    class = "joist_loss_warning", fixed = TRUE
  )
  expect_identical(rounded, c(9007199254740992, 3, 9007199254740996))
  with_promotion(NULL, on = c(loss = "error"), {
    expect_error(as.numeric(x), class = "joist_value_error")
    expect_identical(as.numeric(x[2]), 3)
  })
  with_promotion(NULL, on = c(loss = "ok"), expect_silent(as.numeric(x)))
  expect_silent(as.numeric(nv_mask(x, c(TRUE, FALSE, TRUE))))
  expect_warning(rounded <- as.complex(x), "^as[.]complex\\(\\) rounds 2 elements of i64",
    class = "joist_loss_warning"
  )
  expect_identical(rounded, c(9007199254740992, 3, 9007199254740996) + 0i)
})

test_that("what writes R numbers says that the default dtype rounds them", {
  ways <- list(
    nv_write_npy, function(x) nv_write_npz(list(a = x), withr::local_tempfile()),
    function(x) nv_write_safetensors(list(a = x), withr::local_tempfile()),
    function(x) nv_write_gguf(list(a = x), withr::local_tempfile()),
    function(x) nv_store(x, withr::local_tempdir()), nv_to_dlpack, nv_to_arrow
  )
  for (way in ways) {
    expect_warning(way(c(5, 16777217)), "16777217 at position 2 is rounded to f32",
      class = "joist_loss_warning"
    )
    expect_no_warning(way(c(0.1, 16777218)))
    with_promotion(NULL, on = c(loss = "error"), {
      expect_error(way(c(5, 16777217)), class = "joist_loss_error")
    })
  }
  expect_identical(as.vector(nv_read_npy(nv_write_npy(1:2))), 1:2)
  expect_identical(shape(nv_read_npy(nv_write_npy(0.5))), integer())
})

test_that("the mean of integers is rounded once, and rounds no element", {
  x <- nv_tensor(c("9007199254740993", "3"), "i64")
  expect_silent(mean <- with_promotion("numpy", mean(x)))
  expect_identical(as.vector(mean), 4503599627370498)
})

test_that("summary() and nv_tensor() tell of numbers that they round", {
  x <- nv_tensor(c("9007199254740993", "1"), "i64")
  on <- c(loss = "error")
  expect_error(with_promotion(NULL, summary(x), on = on), "summary", class = "joist_value_error")
  complex <- function() nv_tensor(16777217 + 0i)
  expect_error(with_promotion(NULL, complex(), on = on), "c128", class = "joist_value_error")
})
