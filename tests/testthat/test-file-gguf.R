# GGUF files and packed tensors. tests/testthat/gguf has files that the Python package gguf 0.19
# wrote, and the values that it makes of them.

gguf_case <- function(name) test_path("gguf", paste0(name, ".gguf"))

# Bit for bit, but for which NaN it is.
expect_same_bits <- function(got, want, label) {
  bits <- function(x) as_array(nv_bitcast_convert(x, "i32"), "double")
  nan <- is.nan(as_array(want))
  expect_identical(is.nan(as_array(got)), nan, label = label)
  expect_identical(bits(got)[!nan], bits(want)[!nan], label = label)
}

test_that("tensors have the values that the Python package gguf makes of them", {
  types <- sub("[.]values[.]npy$", "", list.files(test_path("gguf"), "npy$"))
  expect_gt(length(types), 10L)
  for (type in types) {
    model <- nv_read_gguf(gguf_case(type))
    want <- nv_read_npy(test_path("gguf", paste0(type, ".values.npy")), reversed = TRUE)
    x <- model$x
    got <- if (is_packed(x)) as_tensor(x) else nv_convert(x, "f32")
    expect_same_bits(got, want, type)
    expect_identical(model$one, nv_tensor(c(1.5, -2), "f32"))
    if (is_packed(x)) {
      expect_identical(dim(x), dim(want))
      expect_same_bits(x[3:5, 2, drop = FALSE], want[3:5, 2, drop = FALSE], type)
      expect_same_bits(t(x)[c(3, 1), ], t(want)[c(3, 1), ], type)
      expect_output(print(x), paste0(type, "\\{256x3\\}.* bits per weight"))
      y <- nv_tensor(stats::qnorm(stats::ppoints(512)), "f32", shape = c(256L, 2L))
      if (!anyNA(as_array(want)) && all(is.finite(as_array(want)))) {
        expect_equal(as_array(crossprod(x, y)), as_array(crossprod(want, y)), tolerance = 1e-5)
      }
    }
  }
})

test_that("metadata of every type is read, in either byte order", {
  for (name in c("meta", "big")) {
    listed <- nv_gguf(gguf_case(name))
    expect_identical(attr(listed, "big_endian"), name == "big")
    expect_identical(attr(listed, "version"), 3L)
    expect_identical(listed$type, c("F32", "I16", "F64", "Q8_0"))
    expect_identical(listed$bytes, c(24, 8, 16, 68))
    m <- attr(listed, "metadata")
    expect_identical(m$u8, nv_scalar(255L, "ui8"))
    expect_identical(m$i8, nv_scalar(-128L, "i8"))
    expect_identical(m$u16, nv_scalar(65535L, "ui16"))
    expect_identical(m$i16, nv_scalar(-32768L, "i16"))
    expect_identical(m$u32, nv_scalar(4294967295, "ui32"))
    expect_identical(m$i32, nv_scalar(-2147483648, "i32"))
    expect_identical(m$f32, nv_scalar(0.1, "f32"))
    expect_identical(m$u64, nv_tensor("18446744073709551615", "ui64", integer()))
    expect_identical(m$i64, nv_tensor("-9223372036854775808", "i64", integer()))
    expect_identical(m$f64, nv_scalar(0.1, "f64"))
    expect_identical(m$yes, TRUE)
    expect_identical(m$text, "gr\u00fc\u00df")
    expect_identical(m$numbers, nv_tensor(1:3, "i32"))
    expect_identical(m$words, c("a", "", "bc"))
    model <- nv_read_gguf(gguf_case(name))
    expect_identical(model$a, nv_tensor(matrix(0:5, 3), "f32"))
    expect_identical(model$b, nv_tensor(0:3, "i16"))
    expect_identical(model$c, nv_tensor(c(1.5, 2.5), "f64"))
    expect_identical(dim(model$q), c(32L, 2L))
    expect_true(all(abs(as_array(as_tensor(model$q))) < 5))
    expect_identical(names(nv_read_gguf(gguf_case(name), "b")), "b")
    expect_identical(shape(nv_read_gguf(gguf_case(name), "q", raw = TRUE)$q), c(34L, 2L))
  }
})

test_that("files that are written are read again, also in parts", {
  file <- withr::local_tempfile(fileext = ".gguf")
  x <- list(
    w = nv_quantize(matrix(stats::qnorm(stats::ppoints(128)), 64), type = "q4_0"),
    a = nv_tensor(array(1:24, 2:4), "bf16"), b = nv_scalar(2L, "i64"),
    e = nv_tensor(integer(), "i8")
  )
  given <- list(
    name = "x", one = nv_tensor(1L, "ui32"), deep = list(1:2, list("a", TRUE)), d = 0.5,
    flags = c(TRUE, FALSE)
  )
  nv_write_gguf(x, file, given)
  back <- nv_read_gguf(file)
  expect_identical(unclass(back$w), unclass(x$w))
  expect_identical(back[c("a", "b", "e")], x[c("a", "b", "e")], ignore_attr = TRUE)
  m <- attr(back, "metadata")
  expect_identical(m$name, "x")
  expect_identical(m$one, nv_tensor(1L, "ui32"))
  expect_identical(m$deep, list(nv_tensor(1:2, "i32"), list("a", TRUE)))
  expect_identical(m$d, nv_scalar(0.5, "f64"))
  expect_identical(m$flags, c(TRUE, FALSE))
  folder <- withr::local_tempdir()
  parts <- file.path(folder, sprintf("m-%05d-of-00002.gguf", 1:2))
  split <- function(no) {
    list(split.no = nv_scalar(no, "ui16"), split.count = nv_scalar(2L, "ui16"),
      split.tensors.count = 4L)
  }
  nv_write_gguf(x[1:3], parts[1], c(split(0L), given))
  nv_write_gguf(x[4], parts[2], split(1L))
  expect_identical(nv_gguf(parts[2])$name, names(x))
  expect_identical(names(nv_read_gguf(parts[1], c("e", "w"))), c("e", "w"))
  unlink(parts[2])
  expect_error(nv_read_gguf(parts[1]), "is missing", class = "joist_value_error")
  expect_error(nv_write_gguf(list(a = nv_tensor(1, "f8E4M3FN")), file), class = "joist_dtype_error")
  expect_error(nv_write_gguf(list(a = t(x$w)), file), class = "joist_value_error")
  expect_error(
    nv_write_gguf(x, file, list(a = sum)), "^a: this is not", class = "joist_value_error"
  )
})

test_that("base R sees no bytes of packed tensors", {
  w <- nv_quantize(matrix(rnorm(64 * 5), 64), type = "q8_0")
  calls <- expression(
    range(w), max(w), abs(w), cumsum(w), Re(w), unlist(w), sapply(w, identity), unique(w), is.na(w),
    anyNA(w), mean(w), duplicated(w), factor(w), match(1, w), as.numeric(w), paste(w), rep(w, 2),
    as.vector(w), w[[1]], w[1] <- 1, w[1, 1] <- 1, w[[1]] <- 1, w$a <- 1, dim(w) <- 320,
    names(w) <- "a", is.na(w) <- 1, length(w) <- 1, jit(function(w) unique(w))(w), w + 1
  )
  if (getRversion() < "4.2.0") calls <- calls[-14L] # match() has no generic to ask
  for (call in as.list(calls)) {
    expect_error(eval(call), "call as_tensor\\(\\) first", class = "joist_value_error")
  }
  v <- as_tensor(w)
  expect_identical(c(w, 1), c(v, 1))
  expect_identical(c(nv_tensor(1), w), c(nv_tensor(1), v))
  expect_identical(rbind(w, 1, w, deparse.level = 0), rbind(v, 1, v, deparse.level = 0))
  expect_identical(rbind(1, w), rbind(1, v))
  expect_identical(cbind(v, w, deparse.level = 0), cbind(v, v, deparse.level = 0))
  for (m in list(w, t(w))) {
    values <- as_tensor(m)
    expect_identical(m[3, integer()], values[3, integer()])
    expect_identical(m[integer(), , drop = FALSE], values[integer(), , drop = FALSE])
    expect_identical(m[, integer()], values[, integer()])
    expect_identical(m[, 2], values[, 2])
  }
})

test_that("products with packed matrices are those with their values", {
  set.seed(1)
  x <- matrix(rnorm(512 * 20), 512)
  types <- c("q4_0", "q5_1", "q8_0", "mxfp4", "tq2_0", "q2_k", "q3_k", "q4_k", "q6_k", "iq4_xs")
  for (type in types) {
    w <- nv_quantize(matrix(rnorm(512 * 7), 512), type = type)
    plain <- as_array(as_tensor(w))
    for (n in c(1, 3, 20)) {
      part <- x[, seq_len(n), drop = FALSE]
      want <- crossprod(plain, part)
      expect_equal(as_array(crossprod(w, part)), want, tolerance = 1e-5)
      expect_equal(as_array(t(w) %*% part), want, tolerance = 1e-5)
      expect_equal(as_array(t(part) %*% w), t(want), tolerance = 1e-5)
      expect_equal(as_array(jit(function(w, x) crossprod(w, x))(w, nv_tensor(part, "f32"))), want,
        tolerance = 1e-5
      )
    }
    expect_equal(as_array(w %*% (1:7)), plain %*% (1:7), tolerance = 1e-5)
    expect_equal(as_array(nv_matmul(t(w), x[, 1])), crossprod(plain, x[, 1]), tolerance = 1e-5)
    # The other operand has a derivative.
    y <- nv_tensor(x[, 1:2], "f32")
    slope <- gradient(function(y) sum(crossprod(w, y)^2))(y)[[1]]
    expect_equal(as_array(slope), 2 * plain %*% crossprod(plain, x[, 1:2]), tolerance = 1e-4)
  }
  # Types of equal bytes have programs of their own.
  f <- jit(function(w, x) crossprod(w, x))
  q1 <- new_packed(nv_tensor(matrix(60L, 18, 2), "ui8"), "Q1_0")
  q2 <- new_packed(nv_tensor(matrix(60L, 18, 2), "ui8"), "Q2_0")
  expect_identical(shape(f(q1, nv_fill(1, c(128, 1)))), c(2L, 1L))
  expect_identical(shape(f(q2, nv_fill(1, c(64, 1)))), c(2L, 1L))
  expect_error(q1 + 1, class = "joist_error")
})

# Blocks of a type whose numbers are finite: nine of them along 3 lines.
some_blocks <- function(type) {
  bytes <- sample(c(0:59, 128:187), 9L * block_facts(type)$bytes, TRUE)
  new_packed(nv_tensor(matrix(bytes, ncol = 3L), "ui8"), type)
}

# Products in double, and near them as sums of so many terms in f32 are.
expect_product <- function(got, w, x, label) {
  want <- crossprod(w, x)
  near <- abs(as_array(got) - want) <= 2e-6 * max(abs(w)) * max(colSums(abs(x)))
  expect_identical(dim(got), dim(want), label = label)
  expect_true(all(near), label = label)
}

test_that("products with integers of 8 bits are those with their values", {
  set.seed(2)
  for (type in block_types()) {
    w <- some_blocks(type)
    plain <- as_array(as_tensor(w), "double")
    x <- matrix(rnorm(20 * nrow(plain)), nrow(plain))
    for (n in c(1L, 8L, 20L, if (nrow(x) %% 256 == 0) -(1:2))) {
      columns <- x[, seq_len(abs(n)), drop = FALSE]
      q <- nv_quantize(columns, type = if (n < 0) "q8_k" else "q8_0")
      values <- as_array(as_tensor(q), "double")
      expect_product(crossprod(w, q), plain, values, type)
      expect_product(t(t(q) %*% w), plain, values, type)
      expect_product(tcrossprod(t(w), t(q)), plain, values, type)
      expect_product(jit(function(w, q) t(w) %*% q)(w, q), plain, values, type)
      for (least in c(-127L, -128L)) {
        levels <- nv_tensor(sample(least:127, length(values), TRUE), "i8", shape = dim(values))
        levels[1, 1] <- nv_scalar(least, "i8")
        expect_product(crossprod(w, levels), plain, as_array(levels, "double"), type)
      }
    }
    one <- as.matrix(as_array(levels[, 1], "double"))
    expect_product(nv_matmul(t(w), levels[, 1, drop = FALSE]), plain, one, type)
  }
})

test_that("a matrix of 8 bits is multiplied by its blocks only where they lie along the sum", {
  set.seed(3)
  w <- nv_quantize(matrix(rnorm(64 * 32), 64), type = "q4_0")
  values <- function(x) as_array(as_tensor(x), "double")
  q <- nv_quantize(matrix(rnorm(64 * 32), 64), type = "q8_0", block_dim = 2)
  expect_product(crossprod(w, q), values(w), values(q), "turned")
  expect_product(w %*% q[1:32, ], t(values(w)), as_array(q[1:32, ], "double"), "of w")
  both <- nv_quantize(matrix(rnorm(64 * 2), 64), type = "q8_0")
  expect_product(crossprod(q, both), values(q), values(both), "turned, both of 8 bits")
  expect_product(t(crossprod(both, both)), values(both), values(both), "both of 8 bits")
  expect_identical(nv_to(t(w), "cpu"), t(w))
  expect_error(crossprod(w, nv_quantize(1:32, type = "q8_0")), class = "joist_shape_error")
  expect_error(crossprod(w, nv_tensor(1:5, "i8")), class = "joist_shape_error")
  expect_error(nv_crossprod(w, q, accumulate = "f64"), "in f32", class = "joist_dtype_error")
  expect_identical(nv_crossprod(w, both, accumulate = "f32"), crossprod(w, both))
  # Scales that are not finite.
  bytes <- unclass(both)[[1L]]
  bytes[1:2, 2] <- nv_tensor(c(0L, 124L), "ui8")
  wild <- crossprod(w, new_packed(bytes, "Q8_0"))
  expect_false(any(is.finite(as_array(wild)[, 2])))
  expect_identical(as_array(wild)[, 1], as_array(crossprod(w, both))[, 1])
  # Steps have no slope.
  f <- function(x) sum(crossprod(w, nv_quantize(x, type = "q8_0")))
  x <- nv_fill(0.5, c(64L, 2L), "f32")
  expect_identical(gradient(f)(x)[[1L]], nv_fill(0, c(64L, 2L), "f32"))
  expect_identical(jit(gradient(f))(x)[[1L]], nv_fill(0, c(64L, 2L), "f32"))
})

# What quantize_row_q8_K_ref() of ggml computes, in double, which rounds none of these.
test_that("Q8_K has the bytes of ggml's encoder", {
  set.seed(4)
  lines <- list(
    rep(c(-127, 5.5, 6.5, -1.5, 0.5, 0, 126.5, 127), 32), rep(c(-3, 3), 128) * 2^-100,
    sample(-254:254, 256) / 2, rep(0, 256)
  )
  for (x in lines) {
    most <- x[which.max(abs(x))]
    level <- if (most == 0) x else round(x * (-127 / most))
    of_parts <- colSums(matrix(level, 16))
    q <- nv_quantize(x, type = "q8_k")
    scale <- if (most == 0) 0 else 1 / as.numeric(nv_tensor(-127, "f32") / nv_tensor(most, "f32"))
    want <- c(
      writeBin(scale, raw(), size = 4), writeBin(as.integer(level), raw(), size = 1),
      writeBin(as.integer(of_parts), raw(), size = 2)
    )
    expect_identical(as.raw(as_array(unclass(q)[[1L]])), want)
    expect_lte(max(abs(as.numeric(as_tensor(q)) - x)), 0.51 * abs(scale))
  }
  tiny <- c(3, -127, 2, rep(0, 253)) * 2^-149
  expect_identical(as.numeric(as_tensor(nv_quantize(tiny, type = "q8_k"))), tiny)
  near <- c(190, -190, 2, rep(0, 253)) * 2^-149
  expect_lte(max(abs(as.numeric(as_tensor(nv_quantize(near, type = "q8_k"))) - near)), 63 * 2^-149)
  w <- nv_quantize(matrix(rnorm(256 * 3), 256), type = "q4_0")
  q <- nv_quantize(matrix(rnorm(256)), type = "q8_k")
  plain <- lapply(list(w, q), function(x) as.matrix(as_array(as_tensor(x), "double")))
  expect_product(crossprod(w, q), plain[[1L]], plain[[2L]], "Q4_0 and Q8_K")
})

# Errors are those of the encoders of ggml in the Python package ctransformers 0.2.27.
test_that("parts with scales of their own are as near as ggml makes them", {
  of_ggml <- c(
    q2_k = 0.8006889631323625, q3_k = 0.27460569380264377, q4_k = 0.14210483874892618,
    q5_k = 0.07537724696100478, q6_k = 0.03439784028725896, iq4_nl = NA, iq4_xs = NA
  )
  k <- as.numeric(1:(256 * 64))
  x <- nv_tensor((((k * 7919) %% 1009 - 504) / 64)^3 / 100, "f32", shape = c(256L, 64L))
  values <- function(x) as_array(as_tensor(nv_quantize(x, type = type)))
  distance <- function(x, y) sqrt(mean((x - y)^2))
  type <- "q4_0"
  of_q4 <- distance(values(x), as_array(x))
  for (type in names(of_ggml)) {
    error <- distance(values(x), as_array(x))
    expect_lt(error, if (is.na(of_ggml[type])) 0.9 * of_q4 else of_ggml[type])
    for (v in list(0, -3, 3, 6e4)) {
      expect_equal(unique(c(values(rep(v, 256)))), v, tolerance = 1e-3)
    }
    expect_equal(c(values(rep(c(0, 5), 128))), rep(c(0, 5), 128), tolerance = 1e-2)
    expect_lt(distance(values(values(x)), values(x)), 0.5 * error)
    expect_error(values(rep(1e30, 256)), "elements 1 to", class = "joist_value_error")
  }
})

test_that("blocks that cannot be made are errors", {
  x <- c(rep(1, 40), NaN, rep(2, 23))
  for (type in c("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "mxfp4")) {
    expect_error(nv_quantize(x, type = type), "33 to 64", class = "joist_value_error")
  }
  expect_error(nv_quantize(c(rep(0, 31), 1e30), type = "q8_0"), class = "joist_value_error")
  expect_error(nv_quantize(rep(x, 4), type = "q8_k"), "1 to 256", class = "joist_value_error")
  expect_error(nv_quantize(1:31, type = "q8_0"), class = "joist_shape_error")
  expect_error(nv_quantize(1:32, type = "q9"), class = "joist_value_error")
  w <- nv_quantize(matrix(1, 3, 64), type = "q8_0", block_dim = 2)
  expect_identical(dim(w), c(3L, 64L))
  expect_equal(as_array(w %*% rep(1, 64)), matrix(64, 3, 1), tolerance = 1e-3)
})

test_that("tensors are aligned as the metadata says", {
  path <- withr::local_tempfile(fileext = ".gguf")
  x <- list(a = nv_tensor(1:3, "i8"), b = nv_tensor(4:6, "i16"))
  for (n in c(8, 32, 4096)) {
    nv_write_gguf(x, path, list(general.alignment = nv_scalar(n, "ui32")))
    back <- nv_read_gguf(path)
    expect_identical(back$a, x$a)
    expect_identical(back$b, x$b)
    expect_identical(file.size(path) %% n, 0)
  }
  for (n in list(64L, nv_scalar(3L, "ui32"), nv_scalar(64L, "i64"), nv_tensor(c(8L, 8L), "ui32"))) {
    expect_refusal(
      nv_write_gguf(x, path, list(general.alignment = n)), "joist_value_error", "a power of 2"
    )
  }
})
