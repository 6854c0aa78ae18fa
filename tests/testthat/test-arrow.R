# Arrow arrays, by the pointers of the C Data Interface and by nanoarrow. Those of pyarrow, which
# runs in the same process, are the subject of tests/arrow.

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

test_that("what Arrow has no type for is refused", {
  for (type in setdiff(dtypes(), arrow_dtypes)) {
    expect_refusal(nv_to_arrow(nv_tensor(1, type)), "joist_dtype_error", c(type, "nv_convert()"))
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

# Where the elements of a tensor are, as text.
address_of <- function(x) {
  taken <- .Call(joist:::joist_r_dlpack_take, nv_to_dlpack(x))
  .Call(joist:::joist_r_dlpack_pointer, taken[[1L]], taken[[5L]]) # given back by its finalizer
  taken[[2L]]
}

test_that("a tensor of rank 1 is lent, and stays as it is while an array has it", {
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
  sent <- lapply(1:10, function(k) nv_to_arrow(x + k)) # nobody takes them
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
  expect_refusal(
    nanoarrow::as_nanoarrow_array(ids, schema = nanoarrow::na_int32()), "joist_dtype_error",
    c("ui64", "\"L\"", "\"i\"")
  )
})

test_that("nulls and Arrow's other types are refused by name", {
  skip_if_not_installed("nanoarrow")
  expect_array_refused <- function(x, class, parts, ...) {
    expect_refusal(as_tensor(nanoarrow::as_nanoarrow_array(x), ...), class, parts)
  }
  expect_array_refused(c(1, NA), "joist_value_error", c("position 2", "na = \"nan\""))
  expect_array_refused(c(1L, 2L, NA), "joist_value_error", "position 3", na = "nan")
  expect_array_refused(c("a", "b"), "joist_dtype_error", "utf8")
  expect_array_refused(factor("a"), "joist_dtype_error", "dictionary")
  expect_array_refused(as.POSIXct("2024-02-29", tz = "UTC"), "joist_dtype_error", "timestamp")
  expect_array_refused(Sys.Date(), "joist_dtype_error", "date32")
  expect_array_refused(data.frame(a = 1), "joist_dtype_error", "struct")
  filled <- as_tensor(nanoarrow::as_nanoarrow_array(c(1, NA)), na = "nan")
  expect_identical(as_array(filled), c(1, NA))
})
