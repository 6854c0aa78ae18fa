# External pointers by DLPack, without Python.

shapes <- list(
  integer(), 5L, c(2L, 3L), c(2L, 1L, 4L), c(1L, 2L, 3L, 2L), c(2L, 1L, 2L, 1L, 3L),
  c(1L, 2L, 1L, 3L, 1L, 2L), 0L, c(3L, 0L, 2L)
)

random_tensor <- function(type, shape) {
  size <- dtype_info(type)$bytes
  n <- prod(shape) * size
  bytes <- if (type == "bool") sample(0:1, n, TRUE) else sample(0:255, n, TRUE)
  nv_read_bin(as.raw(bytes), type, shape)
}

# Before version 1, dtypes of fewer than 8 bits are packed.
sub_byte <- Filter(function(type) type != "bool" && dtype_info(type)$bits < 8, dtypes())
versions <- function(type) if (type %in% sub_byte) TRUE else c(TRUE, FALSE)

test_that("every dtype and rank comes back with the same bits", {
  set.seed(1)
  for (type in setdiff(dtypes(), "bc32")) { # which DLPack lacks
    for (shape in shapes) {
      x <- random_tensor(type, shape)
      for (versioned in versions(type)) {
        pointer <- nv_to_dlpack(x, versioned)
        expect_identical(class(pointer), "nv_dlpack")
        back <- nv_from_dlpack(pointer)
        expect_identical(dtype(back), dtype(x))
        expect_identical(shape(back), as.integer(shape))
        expect_identical(nv_write_bin(back), nv_write_bin(x))
      }
    }
  }
})

# Code and bits of the types that version 1.1 publishes, but for lanes.
published <- list(
  int1 = c(0L, 1L), i2 = c(0L, 2L), i4 = c(0L, 4L), uint1 = c(1L, 1L), ui2 = c(1L, 2L),
  ui4 = c(1L, 4L), f4E2M1FN = c(17L, 4L), f6E2M3FN = c(15L, 6L), f6E3M2FN = c(16L, 6L)
)
padded <- 4
# The bytes of codes of so many bits, the first in the lowest.
packed <- function(codes, bits) {
  each <- vapply(codes, function(code) intToBits(code)[seq_len(bits)], raw(bits))
  packBits(c(each, raw(-length(each) %% 8L)))
}

test_that("dtypes of fewer bits than a byte are lent with a byte each, and taken packed, too", {
  expect_setequal(names(published), sub_byte)
  set.seed(2)
  for (type in sub_byte) {
    bits <- published[[type]][2L]
    x <- random_tensor(type, c(3L, 2L, 5L))
    expect_equal(call_address("flags_of", nv_to_dlpack(x)), 1 + padded)
    expect_equal(call_address("flags_of", nv_to_dlpack(nv_tensor(1, "f8E5M2"))), 1)
    codes <- as.integer(nv_write_bin(nv_transpose(x))) # as C has them
    forms <- list(
      list(bytes = packed(codes, bits), flags = 0),
      list(bytes = as.raw(codes), flags = padded),
      list(bytes = as.raw(codes + 256 - 2^bits), flags = padded) # other bits are not looked at
    )
    if (startsWith(type, "f")) {
      forms <- c(forms, list(list(bytes = packed(codes, bits), flags = NULL)))
    }
    for (form in forms) {
      before <- call_address("freed_so_far")
      lent <- call_address("lend", form$bytes, c(published[[type]], 1L), shape(x), form$flags)
      expect_identical(nv_from_dlpack(lent), x)
      expect_identical(call_address("freed_so_far"), before + 1L) # as all is copied
    }
    if (!startsWith(type, "f")) {
      lent <- call_address("lend", as.raw(codes), c(published[[type]], 1L), shape(x), NULL)
      expect_refusal(nv_from_dlpack(lent), "joist_dtype_error", c(type, "1.1"))
    }
    expect_refusal(
      nv_to_dlpack(x, versioned = FALSE), "joist_dtype_error",
      c(type, "versioned = TRUE", "nv_bitcast_convert")
    )
    as_bytes <- nv_bitcast_convert(x, "ui8")
    back <- nv_from_dlpack(nv_to_dlpack(as_bytes, versioned = FALSE))
    expect_identical(nv_bitcast_convert(back, type), x)
  }
  # PyTorch has two elements in one.
  pairs <- call_address("lend", as.raw(c(0x10, 0x32, 0x54)), c(17L, 4L, 2L), c(1L, 3L), 0)
  expect_identical(as_array(nv_from_dlpack(pairs)), rbind(c(0, 0.5, 1, 1.5, 2, 3)))
})

# R aligns short vectors to 8 bytes only, and PyTorch reads all elements as aligned to their size.
test_that("elements are aligned to their size", {
  for (type in c("f32", "i64", "c64", "c128")) {
    size <- dtype_info(type)$bytes
    last <- vapply(rep(1:9, 20), function(n) {
      x <- nv_tensor(seq_len(n) + 0, type)
      pointer <- nv_to_dlpack(x, n %% 2 == 0)
      address <- address_of(pointer)
      back <- nv_from_dlpack(pointer)
      expect_identical(back, x)
      expect_identical(address_of(back), address)
      strtoi(substring(address, nchar(address)), 16L)
    }, 0L)
    expect_identical(unique(last %% size), 0L, label = type)
  }
})

test_that("what is lent is not written, on either side", {
  for (type in c("f64", "i32", "c128", "bf16", "bool")) {
    x <- nv_tensor(c(1, 0, 1), type)
    lent <- nv_from_dlpack(nv_to_dlpack(x))
    x[1] <- nv_scalar(0, type)
    expect_identical(as_array(nv_convert(lent, "i32")), c(1L, 0L, 1L))
    own <- lent
    own[2] <- nv_scalar(1, type)
    own[3] <- nv_scalar(0, type)
    expect_identical(as_array(nv_convert(lent, "i32")), c(1L, 0L, 1L))
    expect_identical(as_array(nv_convert(own, "i32")), c(1L, 1L, 0L))
  }
  x <- nv_tensor(c(1, 2, 3), "f64")
  numbers <- as_array(nv_from_dlpack(nv_to_dlpack(x)))
  numbers[1] <- 9
  expect_identical(as_array(x), c(1, 2, 3))
  expect_identical(numbers, c(9, 2, 3))
})

test_that("a borrowed payload is saved, copied and computed with as any other", {
  x <- nv_tensor(matrix(c(1, NaN, 3, 4), 2), "f64")
  lent <- nv_from_dlpack(nv_to_dlpack(x))
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(lent, file)
  expect_identical(as_array(readRDS(file)), as_array(x))
  expect_identical(as_array(lent + lent), 2 * as_array(x))
  expect_identical(as_array(lent[2, ]), c(NaN, 4))
  expect_identical(as_array(jit(function(a) a * 2)(lent)), 2 * as_array(x))
})

test_that("memory is kept while it is read, and freed afterwards", {
  used <- function() {
    gc()
    nv_memory()[["used"]]
  }
  before <- used()
  n <- 2^18 # 2 MiB of f64
  halves <- nv_tensor(seq_len(n) + 0.5, "f64") # in R's memory
  lent <- nv_from_dlpack(nv_to_dlpack(halves + 0))
  expect_gte(used() - before, 8 * n)
  for (k in 1:3) nv_tensor(numeric(n), "f64") + 1
  expect_identical(as_array(lent), seq_len(n) + 0.5)
  rm(lent)
  used() # its owner gives the memory back, which the next collection frees
  expect_lt(used() - before, n)
  for (k in 1:20) nv_to_dlpack(nv_tensor(numeric(n), "f64") + k) # never imported
  used()
  expect_lt(used() - before, n)
})

test_that("missing values are an error, or another value", {
  for (type in setdiff(dtypes(), "bc32")) { # which DLPack lacks
    one <- if (type == "int1") -1 else 1 # the largest of int1 is 0
    x <- nv_convert(nv_tensor(matrix(c(one, NA, 0, NA), 2), "f32"), type)
    want <- nv_convert(nv_tensor(matrix(c(one, one, 0, one), 2), "f32"), type)
    for (versioned in versions(type)) {
      expect_refusal(
        nv_to_dlpack(x, versioned), "joist_value_error", c("2 missing values", "position 2", "na =")
      )
      filled <- nv_from_dlpack(nv_to_dlpack(x, versioned, na = one))
      expect_identical(filled, want)
    }
  }
  x <- nv_tensor(matrix(c(1, NA, 0, NA), 2), "f32")
  expect_identical(as_array(x[1, ]), c(1, 0))
  expect_refusal(nv_to_dlpack(1:3, na = NA), "joist_value_error", "`na`")
})

test_that("values that are not pointers, and pointers already taken, are refused", {
  x <- nv_tensor(1:3)
  pointer <- nv_to_dlpack(x)
  nv_from_dlpack(pointer)
  expect_error(nv_from_dlpack(pointer), "taken only once", class = "joist_value_error")
  expect_error(nv_from_dlpack(x), "`ptr` must be", class = "joist_value_error")
  saved <- unserialize(serialize(nv_to_dlpack(x), NULL))
  expect_error(nv_from_dlpack(saved), class = "joist_value_error")
  expect_error(nv_to_dlpack(nv_aval("f32", 3)), class = "joist_value_error")
  expect_error(jit(nv_to_dlpack)(x), class = "joist_value_error")
  expect_error(nv_to_dlpack(x, NA), "`versioned`", class = "joist_value_error")
})
