# Arrow arrays, by the pointers of the C Data Interface, by nanoarrow and by R's arrow. Those of
# pyarrow, which runs in the same process, are the subject of tests/arrow.

arrow_dtypes <- c(
  "bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "f32", "f64"
)

there_and_back <- function(x) {
  sent <- nv_to_arrow(x)
  nv_from_arrow(sent$array, sent$schema)
}

test_that("a tensor comes back as it went", {
  for (type in arrow_dtypes) {
    for (extents in list(0L, 1L, 9L, c(3L, 5L), 2:4, c(4L, 0L), c(0L, 3L), c(2L, 1L, 3L, 1L, 2L))) {
      x <- nv_tensor(seq_len(prod(extents)) %% 2, type, extents)
      expect_identical(there_and_back(x), x)
    }
  }
  expect_identical(there_and_back(nv_scalar(2, "f16")), nv_tensor(2, "f16"))
  expect_identical(there_and_back(1:3), nv_tensor(1:3))
  extremes <- nv_tensor(c("-9223372036854775808", "9007199254740993"), "i64")
  expect_identical(there_and_back(extremes), extremes)
  bits <- nv_bitcast_convert(nv_tensor(0:65535, "ui16"), "f16")
  back <- nv_bitcast_convert(there_and_back(bits), "ui16")
  expect_identical(as_array(back), 0:65535) # NaN of every kind among them
  missing <- c(NA, NaN, -0)
  expect_identical(as_array(there_and_back(nv_tensor(missing, "f64"))), missing)
})

# The bytes of the elements, also of those that are missing, and whether each of them is.
elements_of <- function(x) nv_write_bin(.Call(joist_r_with_mask, x, NULL))
missing_in <- function(x) {
  mask <- .Call(joist_r_mask_of, x)
  if (is.null(mask)) logical(length(x)) else as.vector(as_array(mask))
}

# Some elements, none, or all.
draw_missing <- function(n) runif(n) < sample(c(0, 0.1, 0.5, 1), 1L)

test_that("missing values of 1,000 random tensors come back, and nothing else is missing", {
  set.seed(20)
  wrong <- character()
  for (k in 1:1000) {
    type <- arrow_dtypes[k %% length(arrow_dtypes) + 1L]
    extents <- if (runif(1) < 0.3) sample(0:9, sample(2:3, 1L), TRUE) else sample(0:99, 1L)
    missing <- draw_missing(prod(extents))
    values <- sample(0:1, length(missing), TRUE)
    x <- nv_tensor(array(ifelse(missing, NA, values), extents), type)
    back <- there_and_back(x)
    got <- as.vector(as_array(back)) + 0
    good <- identical(missing_in(back), missing) && identical(is.na(got), missing) &&
      identical(got[!missing], values[!missing] + 0) && identical(shape(back), shape(x)) &&
      dtype(back) == type
    if (!good) wrong <- c(wrong, paste(type, paste(extents, collapse = "x")))
  }
  expect_identical(wrong, character())
})

test_that("nulls are missing values, errors or NaN", {
  for (type in arrow_dtypes) {
    read <- function(na) {
      sent <- nv_to_arrow(nv_tensor(c(1, NA, 0), type))
      nv_from_arrow(sent$array, sent$schema, na)
    }
    expect_identical(read("missing"), nv_tensor(c(1, NA, 0), type))
    expect_refusal(read("error"), "joist_value_error", c("null at position 2", "na = \"missing\""))
    if (startsWith(type, "f")) {
      expect_identical(as_array(read("nan")), c(1, NaN, 0))
      expect_identical(missing_in(read("nan")), logical(3))
    } else {
      expect_refusal(read("nan"), "joist_value_error", c("null at position 2", "no NaN"))
    }
    two <- lapply(list(c(1, 0), c(0, NA)), function(v) nv_to_arrow(nv_tensor(v, type)))
    chunks <- lapply(two, `[[`, "array")
    expect_refusal(
      nv_from_arrow(chunks, two[[1]]$schema, "error"), "joist_value_error", "position 4"
    )
    expect_identical(nv_from_arrow(chunks, two[[1]]$schema), nv_tensor(c(1, 0, 0, NA), type))
  }
  # The elements are lent as those without missing values.
  x <- nv_tensor(c(1, NA, 3), "ui16")
  place <- function(x) address_of(.Call(joist_r_with_mask, x, NULL))
  expect_identical(place(there_and_back(x)), place(x))
})

test_that("what Arrow has no type for is refused", {
  for (type in setdiff(dtypes(), arrow_dtypes)) {
    x <- nv_convert(nv_tensor(1, "f32"), type)
    expect_refusal(nv_to_arrow(x), "joist_dtype_error", c(type, "nv_convert()"))
  }
  expect_refusal(nv_to_arrow(1, "paper"), "joist_value_error", "`as`")
  expect_refusal(nv_to_arrow(nv_aval("f32", 2)), "joist_value_error")
})

test_that("an array is taken over once, a schema as often as one likes", {
  sent <- nv_to_arrow(nv_tensor(1:3))
  x <- nv_from_arrow(sent$array, sent$schema)
  expect_refusal(nv_from_arrow(sent$array, sent$schema), "joist_value_error", "released")
  y <- nv_from_arrow(nv_to_arrow(nv_tensor(4:5))$array, sent$schema)
  expect_identical(as_array(c(x, y)), 1:5)
  several <- lapply(list(1:2, integer(), 3:5), function(part) nv_to_arrow(nv_tensor(part))$array)
  expect_identical(nv_from_arrow(several, sent$schema), nv_tensor(1:5))
  expect_identical(nv_from_arrow(list(), sent$schema), nv_tensor(integer()))
  expect_refusal(nv_from_arrow(1, sent$schema), "joist_value_error", "`array`")
  expect_refusal(nv_from_arrow(sent$array, "i"), "joist_value_error", "`schema`")
  # Pointers to something else, joist's own and those of other packages.
  for (other in list(sent$array, nv_to_dlpack(y), `class<-`(nv_to_arrow(y)$schema, "other"))) {
    expect_refusal(nv_from_arrow(list(), other), "joist_value_error", "`schema`")
  }
  for (other in list(sent$schema, nv_to_dlpack(y))) {
    expect_refusal(nv_from_arrow(other, sent$schema), "joist_value_error", "`array`")
  }
  again <- nv_to_arrow(nv_tensor(1:3))
  expect_refusal(nv_from_arrow(again$array, again$schema, "zero"), "joist_value_error", "`na`")
  wrong <- nv_to_arrow(nv_tensor(matrix(1:6, 2)))
  expect_refusal(nv_from_arrow(wrong$array, again$schema), "joist_value_error", "`n_buffers` is 1")
  expect_identical(nv_from_arrow(wrong$array, wrong$schema), nv_tensor(matrix(1:6, 2)))
})

test_that("a tensor of rank 1 is lent, and stays unchanged while an array uses it", {
  for (type in setdiff(arrow_dtypes, "bool")) {
    for (n in c(3, 1e5)) {
      x <- nv_tensor(seq_len(n) %% 2, type)
      expect_identical(address_of(there_and_back(x)), address_of(x))
    }
  }
  expect_false(address_of(there_and_back(x == 1)) == address_of(x == 1)) # bits
  x <- nv_tensor(as.double(1:1e5), "f64")
  sent <- nv_to_arrow(x)
  lent <- address_of(x)
  x[1] <- 7
  rm(x)
  gc()
  junk <- lapply(1:8, function(k) nv_tensor(numeric(1e5), "f64") + k)
  y <- nv_from_arrow(sent$array, sent$schema)
  expect_identical(address_of(y), lent)
  expect_identical(as_array(y), as.double(1:1e5))
})

test_that("what was lent is given back", {
  # Until it falls no more: what other tests have left goes bit by bit.
  used <- function() {
    least <- Inf
    repeat {
      nv_memory() # lets go of what has come back
      gc()
      now <- nv_memory()[["used"]]
      if (now >= least) {
        return(now)
      }
      least <- now
    }
  }
  x <- nv_tensor(numeric(2^17), "f64") # 1 MiB
  before <- used()
  sent <- lapply(1:10, function(k) nv_to_arrow(x + k))
  expect_gte(used() - before, 10 * 2^20)
  for (one in sent) nv_from_arrow(one$array, one$schema)
  rm(sent, one)
  gc() # of the tensors
  expect_lt(used() - before, 2^20)
  sent <- lapply(1:10, function(k) nv_to_arrow(x + k)) # never imported
  rm(sent)
  gc()
  expect_lt(used() - before, 2^20)
})

test_that("memory of an array is not written to, and lives as long as the tensor", {
  sent <- nv_to_arrow(nv_tensor(as.double(1:1e5), "f64"))
  x <- nv_from_arrow(sent$array, sent$schema)
  rm(sent)
  y <- x
  x[1] <- 7
  gc()
  expect_identical(as_array(y)[1:2], c(1, 2))
  expect_identical(as_array(x)[1:2], c(7, 2))
  values <- as_array(y)
  values[2] <- 9
  expect_identical(as_array(y)[2], 2)
  expect_identical(unserialize(serialize(y, NULL)), y)
  expect_identical(sum(values), 5000050000 + 7)
  rm(y)
  gc()
  expect_identical(values[1:3], c(1, 9, 3))
})

test_that("nanoarrow's arrays are tensors and tensors are its arrays", {
  skip_if_not_installed("nanoarrow")
  ids <- nv_tensor(c("1", "18446744073709551615"), "ui64")
  array <- nanoarrow::as_nanoarrow_array(ids)
  expect_identical(nanoarrow::infer_nanoarrow_schema(ids)$format, "L")
  expect_identical(as_tensor(array), ids)
  expect_identical(as_tensor(array), ids) # it is still there
  expect_identical(as_tensor(nanoarrow::as_nanoarrow_array(c(1.5, 2))), nv_tensor(c(1.5, 2), "f64"))
  expect_identical(
    as_tensor(nanoarrow::as_nanoarrow_array(c(TRUE, FALSE))), nv_tensor(c(TRUE, FALSE))
  )
  # R has no number for the second.
  expect_identical(suppressWarnings(as.vector(array)), c(1, 2^64))
  cube <- nv_tensor(array(1:24, 2:4), "f16")
  made <- nanoarrow::as_nanoarrow_array(cube)
  expect_identical(made$length, 2L)
  expect_identical(as_tensor(made), cube)
  stream <- nanoarrow::as_nanoarrow_array_stream(nanoarrow::as_nanoarrow_array(1:3))
  expect_identical(as_tensor(stream), nv_tensor(1:3))
  frame <- data.frame(n = 1:2)
  frame$id <- ids
  columns <- nanoarrow::as_nanoarrow_array(frame)$children
  expect_identical(as_tensor(columns$id), ids)
})

test_that("nanoarrow's schemas are kept to", {
  skip_if_not_installed("nanoarrow")
  ids <- nv_tensor(c("1", "18446744073709551615"), "ui64")
  expect_refusal(
    nanoarrow::as_nanoarrow_array(ids, schema = nanoarrow::na_int32()), "joist_dtype_error",
    c("ui64", "\"L\"", "\"i\"")
  )
  # Lists of a fixed size, whose format is the same whatever is in them.
  rows <- nv_tensor(matrix(1:6, 2))
  made <- function(schema) nanoarrow::as_nanoarrow_array(rows, schema = schema)
  expect_refusal(
    made(nanoarrow::na_fixed_size_list(nanoarrow::na_double(), 3)), "joist_dtype_error",
    c("\"+w:3\" of \"i\"", "\"+w:3\" of \"g\"")
  )
  own <- nanoarrow::infer_nanoarrow_schema(rows)
  expect_identical(as_tensor(made(own)), rows)
  expect_identical(
    nanoarrow::infer_nanoarrow_schema(made(own))$metadata[["ARROW:extension:metadata"]],
    "{\"shape\":[3]}"
  )
  stored <- made(nanoarrow::na_fixed_size_list(nanoarrow::na_int32(), 3))
  expect_identical(as_tensor(stored), rows)
  expect_null(nanoarrow::infer_nanoarrow_schema(stored)$metadata[["ARROW:extension:name"]])
  turned <- nanoarrow::nanoarrow_schema_modify(own, list(metadata = list(
    "ARROW:extension:name" = "arrow.fixed_shape_tensor",
    "ARROW:extension:metadata" = "{\"shape\":[3,1]}"
  )))
  expect_refusal(made(turned), "joist_dtype_error", "[3,1]")
})

test_that("nanoarrow's streams and vctrs are tensors, unless they were released", {
  skip_if_not_installed("nanoarrow")
  ids <- nv_tensor(c("1", "18446744073709551615", "7"), "ui64")
  expect_identical(as_tensor(nanoarrow::as_nanoarrow_array_stream(ids)), ids)
  vctr <- nanoarrow::as_nanoarrow_vctr(ids)
  expect_identical(as_tensor(vctr), ids)
  expect_identical(as_tensor(vctr[2:3]), ids[2:3])
  parts <- nanoarrow::basic_array_stream(
    lapply(list(1:3, integer(), 4:5), nanoarrow::as_nanoarrow_array)
  )
  expect_identical(as_tensor(parts), nv_tensor(1:5))
  none <- nanoarrow::basic_array_stream(list(), nanoarrow::na_int32())
  expect_identical(as_tensor(none), nv_tensor(integer()))
  for (gone in list(
    nanoarrow::as_nanoarrow_array(ids), nanoarrow::as_nanoarrow_array_stream(ids)
  )) {
    nanoarrow::nanoarrow_pointer_release(gone)
    expect_refusal(as_tensor(gone), "joist_value_error", "released")
  }
})

test_that("nulls and Arrow's other types are refused by name", {
  skip_if_not_installed("nanoarrow")
  expect_array_refused <- function(x, class, parts, ...) {
    expect_refusal(as_tensor(nanoarrow::as_nanoarrow_array(x), ...), class, parts)
  }
  expect_array_refused(c(1, NA), "joist_value_error", "position 2", na = "error")
  expect_array_refused(c(1L, 2L, NA), "joist_value_error", "position 3", na = "nan")
  expect_array_refused(c("a", "b"), "joist_dtype_error", "utf8")
  expect_array_refused(factor("a"), "joist_dtype_error", "dictionary")
  expect_array_refused(as.POSIXct("2024-02-29", tz = "UTC"), "joist_dtype_error", "timestamp")
  expect_array_refused(Sys.Date(), "joist_dtype_error", "date32")
  expect_array_refused(data.frame(a = 1), "joist_dtype_error", "struct")
  flags <- nanoarrow::as_nanoarrow_array(nv_tensor(0:1, "i8"))
  type <- nanoarrow::na_extension(nanoarrow::na_int8(), "arrow.bool8")
  nanoarrow::nanoarrow_array_set_schema(flags, type)
  expect_refusal(as_tensor(flags), "joist_dtype_error", c("extension", "arrow.bool8"))
  filled <- as_tensor(nanoarrow::as_nanoarrow_array(c(1, NA)), na = "nan")
  expect_identical(as_array(filled), c(1, NaN))
})

test_that("nulls of nanoarrow are missing values, and missing values its nulls", {
  skip_if_not_installed("nanoarrow")
  values <- list(c(TRUE, NA), c(3L, NA, -1L), c(NA, 1.5, Inf), rep(NA_real_, 9))
  for (v in values) {
    x <- as_tensor(nanoarrow::as_nanoarrow_array(v))
    expect_identical(as_array(x), v)
    expect_identical(missing_in(x), is.na(v))
    made <- nanoarrow::as_nanoarrow_array(x)
    expect_identical(as.vector(made), v)
    expect_identical(made$null_count, sum(missing_in(x)))
  }
  small <- nv_tensor(c(1, NA, 255), "ui8")
  expect_identical(as.vector(nanoarrow::as_nanoarrow_array(small)), c(1L, NA, 255L))
  expect_identical(as_tensor(nanoarrow::as_nanoarrow_array(small)), small)
  expect_identical(as_tensor(nanoarrow::as_nanoarrow_vctr(small)), small)
  stream <- nanoarrow::basic_array_stream(
    lapply(list(c(1L, NA), integer(), NA, 4:5), function(v) {
      nanoarrow::as_nanoarrow_array(as.integer(v))
    })
  )
  expect_identical(as_tensor(stream), nv_tensor(c(1L, NA, NA, 4L, 5L)))
  frame <- data.frame(n = 1:3)
  frame$small <- small
  expect_identical(as_tensor(nanoarrow::as_nanoarrow_array(frame)$children$small), small)
  # Rows: missing elements are nulls of the child.
  rows <- nv_tensor(matrix(c(1, NA, 3, NA, 5, 6), 2), "i16")
  made <- nanoarrow::as_nanoarrow_array(rows)
  expect_identical(c(made$null_count, made$children[[1L]]$null_count), c(0L, 2L))
  expect_identical(as.vector(made$children[[1L]]), c(1L, 3L, 5L, NA, NA, 6L))
  expect_identical(as_tensor(made), rows)
})

# Bits as Arrow has them, the first in the lowest place.
bits_of <- function(x) packBits(c(x, logical(-length(x) %% 8L)))

nanoarrow_names <- c(
  bool = "bool", i8 = "int8", i16 = "int16", i32 = "int32", i64 = "int64", ui8 = "uint8",
  ui16 = "uint16", ui32 = "uint32", ui64 = "uint64", f16 = "half_float", f32 = "float",
  f64 = "double"
)

# An array with these buffers; without a validity buffer, `bits` is NULL.
array_from <- function(type, length, offset, bits, ...) {
  nanoarrow::nanoarrow_array_modify(nanoarrow::nanoarrow_array_init(type), list(
    length = length, null_count = if (is.null(bits)) 0L else -1L, offset = offset, ...
  ))
}

# A random array, which of its elements are missing, and the bytes of each element in a column. Some
# have rows, which may be null.
random_array <- function(k) {
  type <- names(nanoarrow_names)[k %% length(nanoarrow_names) + 1L]
  size <- length(nv_write_bin(nv_scalar(0, type)))
  each <- if (runif(1) < 0.3) sample(1:5, 1L) else 0L
  offset <- sample(0:20, 1L)
  length <- sample(0:60, 1L)
  n <- (offset + length) * max(each, 1L)
  bytes <- as.raw(sample(if (type == "bool") 0:1 else 0:255, n * size, TRUE))
  missing <- draw_missing(n)
  data <- if (type == "bool") bits_of(bytes == 1) else bytes
  # Half of those where nothing is missing have no validity buffer.
  bits <- function(x) if (any(x) || runif(1) < 0.5) bits_of(!x)
  item <- getExportedValue("nanoarrow", paste0("na_", nanoarrow_names[[type]]))()
  if (each == 0L) {
    valid <- bits(missing)
    array <- array_from(item, length, offset, valid, buffers = list(valid, data))
  } else {
    without <- draw_missing(offset + length)
    valid <- bits(missing)
    inner <- array_from(item, n, 0L, valid, buffers = list(valid, data))
    missing <- missing | rep(without, each = each)
    valid <- bits(without)
    array <- array_from(
      nanoarrow::na_fixed_size_list(item, each), length, offset, valid,
      buffers = list(valid), children = list(inner)
    )
  }
  kept <- offset * max(each, 1L) + seq_len(length * max(each, 1L))
  bytes <- matrix(bytes, size)[, kept, drop = FALSE]
  list(array = array, type = type, rows = each > 0L, missing = missing[kept], bytes = bytes)
}

# Whether a tensor has these elements and missing values.
has_elements <- function(x, made) {
  if (made$rows) x <- nv_transpose(x)
  got <- matrix(elements_of(x), nrow(made$bytes))
  there <- !made$missing
  dtype(x) == made$type && identical(missing_in(x), made$missing) &&
    identical(got[, there], made$bytes[, there])
}

# Whether an array has these validity bits, or none where nothing is missing.
has_validity <- function(array, made) {
  own <- if (made$rows) array$children[[1L]] else array
  bits <- own$buffers[[1L]]
  own$null_count == sum(made$missing) && if (any(made$missing)) {
    identical(as.vector(bits)[seq_along(made$missing)], !made$missing)
  } else {
    bits$size_bytes == 0
  }
}

test_that("1,000 random arrays of bytes and bits are read, from any offset", {
  skip_if_not_installed("nanoarrow")
  set.seed(21)
  wrong <- character()
  for (k in 1:1000) {
    made <- random_array(k)
    x <- as_tensor(made$array)
    back <- nanoarrow::as_nanoarrow_array(x)
    good <- has_elements(x, made) && has_validity(back, made) && has_elements(as_tensor(back), made)
    if (!good) wrong <- c(wrong, paste(k, made$type))
  }
  expect_identical(wrong, character())
})

# ---- R's arrow ----

arrow_names <- c(
  bool = "bool", i8 = "int8", i16 = "int16", i32 = "int32", i64 = "int64", ui8 = "uint8",
  ui16 = "uint16", ui32 = "uint32", ui64 = "uint64", f16 = "halffloat", f32 = "float",
  f64 = "double"
)

# Values at the ends of each dtype, which R's numbers cannot all hold.
extremes <- function() {
  list(
    bool = c(TRUE, FALSE, TRUE, TRUE, FALSE), i8 = c(-128, 127, 0, 1, -1),
    i16 = c(-32768, 32767, 0, 1, -1), i32 = c(-2^31, 2^31 - 1, 0, 1, -1),
    i64 = c("-9223372036854775808", "9223372036854775807", "9007199254740993", "0", "-1"),
    ui8 = c(0, 255, 1, 2, 3), ui16 = c(0, 65535, 1, 2, 3), ui32 = c(0, 4294967295, 3e9, 2^31, 1),
    ui64 = c("18446744073709551615", "9223372036854775808", "9007199254740993", "0", "1"),
    f16 = c(65504, 2^-24, 0.5, -1, 0), f32 = c(2^-149, -2^127, 0.5, -1, 0),
    f64 = c(2^-1074, -2^1023, 0.1, -1, NaN)
  )
}

extreme_columns <- function() {
  values <- extremes()
  columns <- lapply(names(values), function(type) nv_tensor(values[[type]], type))
  frame <- data.frame(row = seq_along(values[[1L]]))
  frame[names(values)] <- columns
  frame
}

expect_columns <- function(table, frame) {
  for (type in arrow_dtypes) expect_identical(as_tensor(table[[type]]), frame[[type]], info = type)
}

test_that("arrow's arrays are tensors and tensors are its arrays", {
  skip_if_not_installed("arrow")
  for (type in arrow_dtypes) {
    for (extents in list(0L, 1L, 9L, c(3L, 5L), c(4L, 0L), c(0L, 3L))) {
      x <- nv_tensor(seq_len(prod(extents)) %% 2, type, extents)
      array <- arrow::as_arrow_array(x)
      name <- arrow_names[[type]]
      if (length(extents) == 2L) name <- sprintf("fixed_size_list<item: %s>[%d]", name, extents[2L])
      expect_identical(array$type$ToString(), name)
      expect_true(arrow::infer_type(x) == array$type)
      expect_true(arrow::Array$create(x)$Equals(array))
      expect_true(nv_to_arrow(x, "arrow")$Equals(array))
      array$Validate()
      expect_identical(as_tensor(array), x)
    }
    if (type != "bool") {
      x <- nv_tensor(c(1, 0, 1), type)
      values <- as.vector(arrow::as_arrow_array(x)$cast(arrow::float64()))
      expect_identical(values, c(1, 0, 1))
    }
  }
  # Digits, which arrow reads and writes itself.
  for (type in c("i64", "ui64")) {
    digits <- extremes()[[type]]
    array <- arrow::as_arrow_array(nv_tensor(digits, type))
    expect_identical(as.vector(array$cast(arrow::utf8())), digits)
    other <- arrow::Array$create(digits)$cast(arrow::infer_type(nv_tensor(0, type)))
    expect_identical(as_array(as_tensor(other), "character"), digits)
  }
  rows <- arrow::as_arrow_array(nv_tensor(matrix(1:6, 2)))
  expect_identical(lapply(as.vector(rows), as.vector), list(c(1L, 3L, 5L), c(2L, 4L, 6L)))
  lists <- arrow::Array$create(
    list(c(1, 3, 5), c(2, 4, 6)),
    type = arrow::fixed_size_list_of(arrow::float64(), 3L)
  )
  expect_identical(as_tensor(lists), nv_tensor(matrix(as.double(1:6), 2), "f64"))
  # A type asked for is a cast of arrow, which is exact or stops.
  expect_identical(
    as_tensor(arrow::as_arrow_array(nv_tensor(1:3), type = arrow::float16())), nv_tensor(1:3, "f16")
  )
  expect_error(arrow::as_arrow_array(nv_tensor(300L), type = arrow::int8()), "300")
})

test_that("an array of arrow and a tensor share memory that neither changes", {
  skip_if_not_installed("arrow")
  x <- nv_tensor(as.double(1:1e5), "f64")
  array <- arrow::as_arrow_array(x)
  lent <- address_of(x)
  x[1] <- 7
  rm(x)
  gc()
  y <- as_tensor(array)
  expect_identical(address_of(y), lent)
  y[2] <- 7
  rm(array)
  gc()
  expect_identical(as_array(y), c(1, 7, 3:1e5))
})

test_that("columns arrive exactly from Tables, RecordBatches and files", {
  skip_if_not_installed("arrow")
  frame <- extreme_columns()
  table <- arrow::as_arrow_table(frame)
  expect_columns(table, frame)
  expect_columns(arrow::record_batch(frame), frame)
  expect_columns(stats::setNames(arrow::as_arrow_array(frame)$Flatten(), names(frame)), frame)
  expect_columns(table$Slice(1, 3), frame[2:4, ])
  expect_columns(arrow::record_batch(frame)$Slice(1, 3), frame[2:4, ])
  expect_columns(arrow::concat_tables(table, table$Slice(3)), frame[c(1:5, 4:5), ])
  expect_columns(table[table$row == 4L, ], frame[4, ])
  expect_columns(table$Slice(5), frame[0L, ])
  without <- arrow::arrow_table(schema = table$schema)
  expect_identical(without$f16$num_chunks, 0L)
  expect_columns(without, frame[0L, ])
  for (format in c("parquet", "feather", "ipc_stream")) {
    if (format == "parquet" && !arrow::arrow_with_parquet()) next
    write <- getExportedValue("arrow", paste0("write_", format))
    read <- getExportedValue("arrow", paste0("read_", format))
    file <- tempfile()
    write(frame, file)
    expect_columns(read(file, as_data_frame = FALSE), frame)
  }
  arrow::write_feather(frame, file, chunk_size = 2)
  read <- arrow::read_feather(file, as_data_frame = FALSE)
  expect_identical(read$ui64$num_chunks, 3L)
  expect_columns(read, frame)
  expect_columns(read$Slice(1, 3), frame[2:4, ])
})

test_that("dplyr's verbs on a Table keep dtypes", {
  skip_if_not_installed("arrow")
  suppressWarnings(skip_if_not_installed("dplyr")) # arrow misses the verbs of newer ones
  skip_if_not(arrow::arrow_with_dataset())
  frame <- extreme_columns()
  table <- arrow::as_arrow_table(frame)
  some <- dplyr::filter(table, row != 3L)
  expect_refusal(as_tensor(some), "joist_value_error", "compute()")
  expect_columns(dplyr::compute(some), frame[-3, ])
  expect_columns(dplyr::compute(dplyr::filter(table, row > 9L)), frame[0L, ])
  expect_columns(dplyr::compute(dplyr::arrange(table, dplyr::desc(row))), frame[5:1, ])
  ids <- dplyr::pull(dplyr::arrange(table, ui64), ui64, as_vector = FALSE)
  expect_identical(
    as_array(as_tensor(ids), "character"),
    c("0", "1", "9007199254740993", "9223372036854775808", "18446744073709551615")
  )
  by_bool <- dplyr::summarise(dplyr::group_by(table, bool), most = max(ui64))
  most <- dplyr::compute(dplyr::arrange(by_bool, bool))$most
  expect_identical(
    as_tensor(most), nv_tensor(c("9223372036854775808", "18446744073709551615"), "ui64")
  )
  folder <- tempfile()
  arrow::write_dataset(table, folder, format = "feather", partitioning = "row")
  expect_refusal(as_tensor(arrow::open_dataset(folder, format = "feather")), "joist_value_error")
  set <- dplyr::arrange(arrow::open_dataset(folder, format = "feather"), row)
  expect_columns(dplyr::compute(set), frame)
})

test_that("columns without R's attributes are plain numbers for those who have no joist", {
  skip_if_not_installed("arrow")
  frame <- extreme_columns()
  table <- do.call(arrow::arrow_table, lapply(frame, arrow::as_arrow_array))
  expect_length(table$metadata, 0)
  expect_columns(table, frame)
  expect_identical(as.data.frame(table)$ui32, extremes()$ui32)
})

test_that("arrow's scalars are tensors of rank 0", {
  skip_if_not_installed("arrow")
  ids <- arrow::as_arrow_array(nv_tensor(c("1", "18446744073709551615"), "ui64"))
  expect_identical(as_tensor(max(ids)), nv_scalar("18446744073709551615", "ui64"))
  expect_identical(as_tensor(arrow::Scalar$create(1.5)), nv_scalar(1.5, "f64"))
  missing <- arrow::Scalar$create(NA_real_)
  expect_identical(as_tensor(missing), nv_scalar(NA, "f64"))
  expect_refusal(as_tensor(missing, na = "error"), "joist_value_error", "null at position 1")
  expect_identical(as_array(as_tensor(missing, na = "nan")), NaN)
  expect_refusal(as_tensor(arrow::Scalar$create("a")), "joist_dtype_error", "utf8")
})

test_that("nulls of arrow are missing values, and errors or NaN on request", {
  skip_if_not_installed("arrow")
  array <- arrow::Array$create(c(1, NA, NaN))
  expect_identical(as_array(as_tensor(array)), c(1, NA, NaN))
  expect_refusal(as_tensor(array, na = "error"), "joist_value_error", "position 2")
  expect_identical(as_array(as_tensor(array, na = "nan")), c(1, NaN, NaN))
  expect_identical(as_array(as_tensor(array$Slice(2))), NaN)
  half <- as_tensor(array$cast(arrow::float16()), na = "nan")
  expect_identical(as_array(half), c(1, NaN, NaN))
  chunked <- arrow::chunked_array(c(1, 2), c(3, NA))
  expect_refusal(as_tensor(chunked, na = "error"), "joist_value_error", "position 4")
  expect_identical(as_array(as_tensor(chunked)), c(1, 2, 3, NA))
  expect_identical(as_array(as_tensor(chunked$Slice(1, 2))), c(2, 3))
  expect_refusal(
    as_tensor(arrow::Array$create(c(1L, NA)), na = "nan"), "joist_value_error", "position 2"
  )
  rows <- arrow::Array$create(
    list(c(1, 2), NULL),
    type = arrow::fixed_size_list_of(arrow::float64(), 2L)
  )
  expect_refusal(as_tensor(rows, na = "error"), "joist_value_error", "position 3")
  expect_identical(as_array(as_tensor(rows)), rbind(c(1, 2), c(NA, NA)))
})

test_that("missing values are nulls of arrow, in arrays, tables and files", {
  skip_if_not_installed("arrow")
  columns <- lapply(arrow_dtypes, function(type) nv_tensor(c(1, NA, 0, NA), type))
  names(columns) <- arrow_dtypes
  for (type in arrow_dtypes) {
    array <- arrow::as_arrow_array(columns[[type]])
    array$Validate()
    expect_identical(array$null_count, 2L)
    expect_identical(as_tensor(array), columns[[type]])
    if (type != "bool") {
      expect_identical(as.vector(array$cast(arrow::float64())), c(1, NA, 0, NA))
    }
  }
  table <- do.call(arrow::arrow_table, lapply(columns, arrow::as_arrow_array))
  expect_columns(table, columns)
  expect_columns(table$Slice(1), lapply(columns, `[`, 2:4))
  expect_columns(arrow::concat_tables(table, table), lapply(columns, function(x) c(x, x)))
  for (format in c("parquet", "feather", "ipc_stream")) {
    if (format == "parquet" && !arrow::arrow_with_parquet()) next
    file <- tempfile()
    getExportedValue("arrow", paste0("write_", format))(table, file)
    read <- getExportedValue("arrow", paste0("read_", format))(file, as_data_frame = FALSE)
    expect_columns(read, columns)
  }
  rows <- nv_tensor(matrix(c(1, NA, 3, NA), 2), "i16")
  expect_identical(as_tensor(arrow::as_arrow_array(rows)), rows)
})

test_that("arrow arrays that do not hold numbers are refused by the name of their type", {
  skip_if_not_installed("arrow")
  expect_array_refused <- function(x, part, ...) {
    expect_refusal(as_tensor(arrow::Array$create(x, ...)), "joist_dtype_error", part)
  }
  expect_array_refused("a", "utf8")
  expect_array_refused(factor("a"), "dictionary")
  expect_array_refused(as.POSIXct("2024-02-29", tz = "UTC"), "timestamp")
  expect_array_refused(as.Date("2024-02-29"), "date32")
  expect_array_refused(as.difftime(1, units = "secs"), "duration")
  expect_array_refused(list(1:2, 3L), "list")
  expect_array_refused(logical(), "null", type = arrow::null())
  expect_array_refused(data.frame(a = 1), "struct")
  decimal <- arrow::Array$create(1.5)$cast(arrow::decimal128(5, 2))
  expect_refusal(as_tensor(decimal), "joist_dtype_error", "decimal")
  codes <- arrow::vctrs_extension_array(3:1)
  expect_refusal(as_tensor(codes), "joist_dtype_error", c("extension", "arrow.r.vctrs"))
  expect_identical(as_tensor(codes$storage()), nv_tensor(3:1))
  table <- arrow::arrow_table(a = 1:2)
  for (other in list(table, arrow::record_batch(a = 1:2), table$schema, arrow::int32())) {
    expect_refusal(as_tensor(other), "joist_value_error", c(class(other)[1L], "as_tensor(x$name)"))
  }
  cube <- nv_tensor(array(1:24, 2:4))
  for (make in c(arrow::as_arrow_array, arrow::infer_type, arrow::Array$create)) {
    expect_refusal(make(cube), "joist_shape_error", "{2x3x4}")
    expect_refusal(make(nv_tensor(1, "bf16")), "joist_dtype_error", "bf16")
  }
  expect_refusal(nv_to_arrow(cube, "arrow"), "joist_shape_error", "nv_reshape()")
  expect_refusal(
    arrow::arrow_table(data.frame(x = nv_tensor(1i))), "joist_dtype_error", "c64"
  )
})

# Not to be printed: arrow ends R when it is asked for the type of such an array.
test_that("arrays of tensors arrive from arrow", {
  skip_if_not_installed("arrow")
  cube <- nv_tensor(array(1:24, 2:4), "f16")
  sent <- nv_to_arrow(cube)
  table <- arrow::arrow_table(x = arrow::Array$import_from_c(sent$array, sent$schema))
  skip_if_not(grepl("fixed_shape_tensor", table$schema$ToString()), "arrow's tensors")
  second <- nv_tensor(array((1:24)[c(FALSE, TRUE)], c(1, 3, 4)), "f16")
  expect_true(identical(as_tensor(table$x), cube))
  expect_true(identical(as_tensor(table$x$Slice(1)), second))
  file <- tempfile()
  arrow::write_feather(table, file)
  read <- arrow::read_feather(file, as_data_frame = FALSE)
  expect_true(identical(as_tensor(read$x), cube))
  without <- arrow::arrow_table(schema = table$schema)
  expect_identical(shape(as_tensor(without$x)), c(0L, 3L, 4L))
})
