# Matrix products against base R's %*%, crossprod() and tcrossprod(), which compute in double.

product_dtypes <- function() setdiff(dtypes(), "bool")

product_extents <- list(
  c(3, 4, 5), c(1, 7, 1), c(33, 60, 13), c(0, 3, 2), c(3, 0, 2), c(2, 3, 0)
)

# Numbers whose products and sums every dtype has exactly.
small_matrix <- function(dtype, rows, columns) {
  values <- sample(0:1, rows * columns, TRUE)
  if (kind_of(dtype) %in% c("int", "float", "complex")) values <- values - sample(0:1, 1)
  if (kind_of(dtype) == "complex") values <- complex(real = values, imaginary = rev(values))
  if (is_narrow(dtype)) values <- sample(c(rep(0, 3), 1, -1), rows * columns, TRUE)
  matrix(if (is_narrow(dtype)) held(values, dtype) else values, rows, columns)
}

# Of the products of narrow dtypes: rounded, or wrapped around.
in_dtype <- function(x, dtype) {
  if (is_narrow(dtype)) array(converted_to(as.vector(x), dtype), dim(x)) else x
}

plain <- function(x) {
  x <- as.matrix(x)
  if (is.complex(x)) x else x + 0
}

test_that("nv_matmul() and cross products equal base R's for every dtype", {
  set.seed(1)
  for (dtype in product_dtypes()) {
    for (extents in product_extents) {
      x <- small_matrix(dtype, extents[1], extents[2])
      y <- small_matrix(dtype, extents[2], extents[3])
      tx <- nv_tensor(x, dtype)
      ty <- nv_tensor(y, dtype)
      label <- paste(dtype, paste(extents, collapse = "x"))
      want <- in_dtype(x %*% y + 0, dtype)
      got <- nv_matmul(tx, ty)
      expect_identical(type_of(got), type_of(tx), label)
      expect_identical(plain(got), want, label = label)
      expect_identical(plain(nv_crossprod(nv_tensor(t(x), dtype), ty)), want, label = label)
      expect_identical(plain(nv_tcrossprod(tx, nv_tensor(t(y), dtype))), want, label = label)
      square <- in_dtype(crossprod(x) + 0, dtype)
      expect_identical(plain(nv_crossprod(tx)), square, label = label)
      square <- in_dtype(tcrossprod(x) + 0, dtype)
      expect_identical(plain(nv_tcrossprod(tx)), square, label = label)
    }
  }
})

test_that("bool is or of and", {
  set.seed(2)
  x <- matrix(sample(c(TRUE, FALSE, FALSE), 60, TRUE), 5)
  y <- matrix(sample(c(TRUE, FALSE, FALSE), 84, TRUE), 12)
  expect_identical(as_array(nv_matmul(x, nv_tensor(y))), x %*% y > 0)
})

test_that("integers wrap", {
  x <- nv_tensor(matrix(c(100, 100, 27, 3), 2), "i8")
  want <- (as_array(x) %*% as_array(x) + 128) %% 256 - 128
  expect_identical(plain(nv_matmul(x, x)), want)
})

test_that("products of doubles are as good as base R's", {
  set.seed(3)
  x <- matrix(rnorm(70 * 300), 70)
  y <- matrix(rnorm(300 * 41), 300)
  expect_equal(as_array(nv_matmul(nv_tensor(x, "f64"), y)), x %*% y, tolerance = 1e-14)
  z <- complex(real = x, imaginary = rev(x))
  dim(z) <- dim(x)
  expect_equal(as_array(nv_matmul(nv_tensor(z, "c128"), y)), z %*% y, tolerance = 1e-14)
  expect_equal(as_array(nv_crossprod(nv_tensor(z, "c128"))), crossprod(z), tolerance = 1e-14)
})

test_that("f16 and bf16 are summed in f32 and rounded once", {
  x <- nv_fill(1, c(1, 4096), "f16")
  y <- nv_fill(0.25, c(4096, 1), "f16")
  expect_identical(as.vector(nv_matmul(x, y)), 1024)
  y <- nv_fill(1, c(1000, 1), "bf16")
  expect_identical(as.vector(nv_crossprod(y)), round_to(1000, "bf16"))
})

test_that("the other dimensions are a batch", {
  set.seed(4)
  x <- array(rnorm(2 * 3 * 4 * 2), c(2, 3, 4, 2))
  y <- array(rnorm(3 * 5 * 4), c(3, 5, 4))
  z <- nv_matmul(nv_tensor(x, "f64"), nv_tensor(y, "f64"))
  expect_identical(shape(z), c(2L, 5L, 4L, 2L))
  for (i in 1:4) for (j in 1:2) expect_equal(as_array(z)[, , i, j], x[, , i, j] %*% y[, , i])
  w <- nv_matmul(y[, 1:3, 1], nv_tensor(x, "f64")[c(1, 2, 1), , 1, , drop = FALSE])
  expect_identical(shape(w), c(3L, 3L, 1L, 2L))
  expect_equal(as_array(w)[, , 1, 2], y[, 1:3, 1] %*% x[c(1, 2, 1), , 1, 2])
})

value_or_error <- function(f, ...) {
  tryCatch(plain(f(...)), joist_shape_error = function(e) "error")
}

test_that("vectors are rows or columns as in base R", {
  operands <- list(1:3, 4:5, 7L, matrix(1:6, 3), matrix(1:6, 2), matrix(1:3, 1), matrix(1:3, 3),
    matrix(9L))
  for (name in c("%*%", "crossprod", "tcrossprod")) {
    ours <- switch(name, `%*%` = nv_matmul, get(paste0("nv_", name)))
    for (x in operands) {
      for (y in operands) {
        label <- paste(deparse1(x), name, deparse1(y))
        want <- tryCatch(get(name)(x, y) + 0, error = function(e) "error")
        # tcrossprod() of R 4.2 takes y for a row only where x has one row.
        if (name == "tcrossprod" && identical(want, "error")) next
        expect_identical(value_or_error(ours, x, nv_tensor(y)), want, label = label)
        expect_identical(value_or_error(ours, nv_tensor(x), nv_tensor(y)), want, label = label)
      }
    }
  }
})

test_that("a literal keeps its value until the dtype is known", {
  x <- nv_tensor(diag(2), "f64")
  expect_identical(as_array(nv_matmul(x, c(0.1, 1 / 3))), matrix(c(0.1, 1 / 3)))
  expect_identical(type_of(nv_matmul(nv_tensor(diag(2), "i16"), 1:2)), "i16")
  expect_error(nv_matmul(nv_tensor(diag(2), "ui8"), c(1L, -1L)), class = "joist_value_error")
})

test_that("products trace, and shapes are checked while tracing and without data", {
  x <- nv_tensor(matrix(1:6, 2), "f32")
  f <- jit(function(a, b) nv_matmul(a, b) + nv_crossprod(b)[1:2, ])
  expect_identical(as_array(f(x, t(x)[, 2:1])), as_array(nv_matmul(x, t(x)[, 2:1]) +
    nv_crossprod(t(x)[, 2:1])[1:2, ]))
  expect_error(jit(nv_matmul)(x, x), class = "joist_shape_error")
  expect_error(nv_matmul(nv_aval("f32", c(2, 3)), x), "2x3", class = "joist_shape_error")
  got <- nv_matmul(nv_aval("i8", c(2, 3, 5)), nv_aval("f32", 3))
  expect_identical(shape(got), c(2L, 1L, 5L))
  expect_identical(type_of(got), "f32")
})

test_that("the same bits for any number of threads", {
  before <- nv_get_threads()
  on.exit(nv_set_threads(before))
  set.seed(5)
  x <- nv_tensor(matrix(rnorm(301 * 517), 301), "f32")
  nv_set_threads(1)
  one <- bytes_of(nv_tcrossprod(x))
  nv_set_threads(2)
  expect_identical(bytes_of(nv_tcrossprod(x)), one)
})

test_that("nv_dot() sums over the dimensions asked for", {
  set.seed(6)
  x <- array(sample(-9:9, 2 * 3 * 4 * 2, TRUE), c(2, 3, 4, 2))
  y <- array(sample(-9:9, 4 * 5 * 3, TRUE), c(4, 5, 3))
  got <- nv_dot(nv_tensor(x), nv_tensor(y), list(3, 1), list(2, 3))
  expect_identical(shape(got), c(2L, 2L, 5L, 4L))
  want <- array(0L, c(2, 2, 5, 4))
  for (a in 1:2) for (b in 1:2) for (c in 1:5) for (d in 1:4) {
    want[a, b, c, d] <- sum(x[a, , d, b] * y[d, c, ])
  }
  expect_identical(as_array(got), want)
  expect_identical(as_array(nv_dot(x, nv_tensor(y), list(3, 1), list(2, 3))), want)
  expect_identical(as.vector(nv_dot(nv_tensor(x), x, contracting_dims = list(1:4, 1:4))),
    as.integer(sum(x^2)))
  expect_identical(shape(nv_dot(nv_tensor(1:3), 1:2)), c(3L, 2L))
  expect_error(nv_dot(nv_tensor(x), y, list(1, 1)), class = "joist_shape_error")
  expect_error(nv_dot(nv_tensor(x), y, list(9, 1)), class = "joist_shape_error")
  expect_error(nv_dot(nv_tensor(x), y, list(c(1, 2), 1)), class = "joist_shape_error")
})

# Elements of a dtype, as the doubles that they are.
elements_of <- function(dtype, rows, columns) {
  x <- switch(kind_of(dtype),
    bool = sample(0:1, rows * columns, TRUE),
    uint = sample(c(0:9, 255), rows * columns, TRUE),
    int = sample(c(-128, -9:9, 127), rows * columns, TRUE),
    sample(-64:64, rows * columns, TRUE) / 64
  )
  matrix(x, rows, columns)
}

test_that("accumulate = sums products in a dtype that holds the operands", {
  set.seed(41)
  # Extents around the panels of the kernels; products of vectors, and ones without terms.
  extents <- list(
    c(1, 1, 1), c(3, 4, 5), c(1, 300, 7), c(40, 600, 1), c(65, 513, 33), c(3, 0, 2), c(70, 300, 100)
  )
  types <- list(
    c("i8", "i8", "i32"), c("i8", "ui8", "i64"), c("ui8", "ui8", "ui32"), c("bool", "i8", "i32"),
    c("bool", "bool", "i64"), c("i16", "i8", "f64"), c("f16", "bf16", "f64"),
    c("f32", "f32", "f64"), c("ui8", "f16", "f64")
  )
  products <- list(nv_matmul, nv_crossprod, nv_tcrossprod)
  for (n in extents) {
    for (type in types) {
      x <- elements_of(type[1], n[1], n[2])
      y <- elements_of(type[2], n[2], n[3])
      # Whole numbers and multiples of 2^-12 below 2^31, which doubles hold.
      want <- nv_tensor(x %*% y, type[3])
      given <- function(x, k) nv_convert(nv_tensor(x, "f64"), type[k])
      operands <- list(list(x, y), list(t(x), y), list(x, t(y)))
      for (k in seq_along(products)) {
        f <- products[[k]]
        lhs <- given(operands[[k]][[1]], 1)
        rhs <- given(operands[[k]][[2]], 2)
        label <- paste(c(n, type, k), collapse = " ")
        expect_identical(f(lhs, rhs, accumulate = type[3]), want, label = label)
      }
    }
  }
  # Sums that the operands' dtypes cannot hold: 600 * 127^2 is too large for i8 and for f16.
  long <- nv_fill(127, c(1, 600), "i8")
  expect_identical(as.double(nv_tcrossprod(long, accumulate = "i32")), 600 * 127^2)
  long <- nv_fill(127, c(1, 600), "f16")
  expect_identical(as.double(nv_tcrossprod(long, accumulate = "f32")), 600 * 127^2)
  batch <- array(sample(-128:127, 24, TRUE), c(2, 3, 4))
  by <- c(100, -100, 7)
  batched <- nv_tensor(batch, "i8")
  got <- nv_matmul(batched, nv_tensor(by, "i8", c(3, 1)), "i32")
  expect_identical(as.integer(got), as.integer(apply(batch, 3, function(m) m %*% by)))
  expect_identical(got, jit(function(x) nv_matmul(x, by, "i32"))(batched))
  expect_identical(nv_matmul(nv_aval("i8", c(2, 3)), 1:3, "i64"), nv_aval("i64", c(2, 1)))
  narrower <- list(
    c("i32", "i16"), c("i32", "f32"), c("f32", "i64"), c("f16", "bf16"), c("i8", "ui32"),
    c("ui32", "i32"), c("c64", "f64"), c("i8", "bool"), c("i64", "f64")
  )
  for (wrong in narrower) {
    x <- nv_fill(1, c(2, 2), wrong[1])
    expect_error(nv_matmul(x, x, wrong[2]), wrong[1], class = "joist_dtype_error")
  }
})

test_that("accumulate = gives the same bits for any number of threads, and a derivative", {
  threads <- nv_get_threads()
  on.exit(nv_set_threads(threads))
  x <- nv_rnorm(c(300, 700), dtype = "bf16", key = nv_key(1))
  y <- nv_rnorm(c(700, 200), dtype = "f16", key = nv_key(2))
  nv_set_threads(1)
  want <- nv_matmul(x, y, "f32")
  nv_set_threads(2)
  expect_identical(nv_matmul(x, y, "f32"), want)
  exact <- as_array(x) %*% as_array(y)
  bound <- 700 * 2^-24 * max(abs(as_array(x)) %*% abs(as_array(y)))
  expect_lt(max(abs(as_array(want) - exact)), bound)
  loss <- function(x, y) sum(nv_matmul(x, y, "f32") * 2)
  slope <- gradient(loss)(x[1:3, 1:4], y[1:4, 1:2])
  expect_identical(type_of(slope$x), "bf16")
  expect_identical(type_of(slope$y), "f16")
  sums <- rowSums(as_array(y[1:4, 1:2])) * 2
  expect_identical(slope$x, nv_convert(nv_tensor(matrix(sums, 3, 4, TRUE), "f32"), "bf16"))
})

test_that("products are tensors by R's operators, and those of the values by base R's own", {
  x <- nv_tensor(diag(2))
  expect_identical(as_array(x %*% x), diag(2))
  expect_identical(as_array(crossprod(x)), diag(2))
  y <- nv_tensor(matrix(c(1.5, 2, -3, 0), 2))
  plain <- function(x) if (is_tensor(x)) as_array(x) else x # R dispatches them from 4.3 and 4.4 on
  expect_identical(plain(base::`%*%`(x, y)), as_array(y))
  expect_identical(plain(base::crossprod(y, y)), crossprod(as_array(y)))
  # What the group generic calls, which older versions of R don't have.
  method <- asNamespace("joist")$matrixOps.nv_tensor
  generic <- function(name) {
    environment(method) <- list2env(list(.Generic = name), parent = environment(method))
    method
  }
  expect_identical(as_array(generic("%*%")(x, c(1, 2))), matrix(c(1, 2)))
  expect_identical(as_array(generic("crossprod")(x)), diag(2))
  expect_error(generic("%o%")(x, x), class = "joist_value_error")
})
