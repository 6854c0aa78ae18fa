# Sums of products by their indices, against loops over all of them.

# Every combination of the indices, one after the other: `inputs` are vectors of letters.
loop_einsum <- function(inputs, output, arrays, extents) {
  indices <- unique(c(unlist(inputs), output))
  counts <- extents[indices]
  result <- array(0, c(extents[output], 1L))
  for (k in seq_len(prod(counts))) {
    at <- stats::setNames(as.vector(arrayInd(k, counts)), indices)
    product <- 1
    for (n in seq_along(inputs)) {
      # Extents of 1 are repeated.
      place <- pmin(at[inputs[[n]]], dim(arrays[[n]])[seq_along(inputs[[n]])])
      product <- product * arrays[[n]][rbind(c(place, 1L))]
    }
    place <- rbind(c(at[output], 1L))
    result[place] <- result[place] + product
  }
  as.vector(result)
}

# An equation of up to four operands with up to three of five indices each.
random_equation <- function() {
  extents <- c(i = sample(1:3, 1), j = sample(1:4, 1), k = 2L, A = 3L, b = sample(1:2, 1))
  inputs <- lapply(seq_len(sample(4, 1)), function(n) {
    sample(names(extents), sample(0:3, 1), replace = TRUE)
  })
  own <- unique(unlist(inputs))
  written <- runif(1) < 0.7
  once <- as.character(names(which(table(unlist(inputs)) == 1L)))
  output <- if (!written) {
    sort(once, method = "radix")
  } else {
    own[sample(length(own), sample(0:length(own), 1))]
  }
  shapes <- lapply(inputs, function(indices) {
    once <- !indices %in% indices[duplicated(indices)]
    replace(extents[indices], once & runif(length(indices)) < 0.1, 1L)
  })
  list(
    inputs = inputs, output = output, shapes = shapes, extents = extents,
    text = paste0(
      paste(vapply(inputs, paste, "", collapse = ""), collapse = ","),
      if (written) paste0("->", paste(output, collapse = ""))
    )
  )
}

# The extents that there are, where all operands may have been given 1.
actual_extents <- function(equation) {
  indices <- unlist(equation$inputs)
  all <- unlist(equation$shapes)
  vapply(stats::setNames(nm = names(equation$extents)), function(index) {
    max(1L, all[indices == index])
  }, 0L)
}

as_operands <- function(x, shape) nv_tensor(as.vector(x), "f64", shape)

test_that("300 random equations are what loops over all indices give", {
  set.seed(17)
  types <- c("f64", "f64", "i32", "i8", "ui64", "f32", "bool", "c128")
  for (n in 1:300) {
    equation <- random_equation()
    type <- types[(n - 1) %% length(types) + 1]
    arrays <- lapply(equation$shapes, function(shape) {
      array(if (type == "bool") sample(0:1, prod(shape), TRUE) else sample(0:3, prod(shape), TRUE),
        c(shape, 1L)
      )
    })
    exact <- loop_einsum(equation$inputs, equation$output, arrays, actual_extents(equation))
    if (type == "bool") exact <- exact > 0
    if (type == "i8") exact <- (exact + 128) %% 256 - 128
    operands <- Map(as_operands, arrays, equation$shapes)
    operands <- lapply(operands, nv_convert, type)
    got <- do.call(nv_einsum, c(list(equation$text), operands))
    expect_identical(type_of(got), type, label = equation$text)
    expect_equal(as.vector(Re(as_array(got, "complex"))), exact + 0,
      tolerance = 0, label = equation$text
    )
    expect_identical(
      shape(got), as.integer(actual_extents(equation)[equation$output]),
      label = equation$text
    )
  }
})

test_that("equations of fractions are right up to rounding, traced ones the same", {
  set.seed(18)
  for (n in 1:60) {
    equation <- random_equation()
    arrays <- lapply(equation$shapes, function(shape) {
      array(rnorm(prod(shape)), c(shape, 1L))
    })
    exact <- loop_einsum(equation$inputs, equation$output, arrays, actual_extents(equation))
    operands <- Map(as_operands, arrays, equation$shapes)
    got <- do.call(nv_einsum, c(list(equation$text), operands))
    expect_equal(as.vector(got), exact, tolerance = 1e-12, label = equation$text)
    traced <- do.call(jit(function(...) nv_einsum(equation$text, ...)), operands)
    expect_identical(traced, got, label = equation$text)
  }
})

test_that("dots stand for the dimensions without a name", {
  set.seed(19)
  x <- array(rnorm(24), c(4, 2, 3))
  y <- array(rnorm(24), c(4, 3, 2))
  got <- as_array(nv_einsum("...ij,...jk", nv_tensor(x, "f64"), nv_tensor(y, "f64")))
  products <- simplify2array(lapply(1:4, function(k) x[k, , ] %*% y[k, , ]))
  expect_equal(got, aperm(products, c(3, 1, 2)))
  # Those that are missing come first, and extents of 1 are repeated.
  z <- nv_tensor(array(1:6, c(2, 3)), "i32")
  wide <- matrix(c(1L, 10L, 100L), 2, 3, TRUE)
  expect_identical(nv_einsum("...,...", z, wide[1, ]), z * wide)
  expect_identical(nv_einsum("...,...", z, matrix(c(1L, 10L))), z * matrix(c(1L, 10L), 2, 3))
  expect_identical(nv_einsum("a...,...->...a", nv_tensor(5:6), z), nv_einsum("a,bc->bca", 5:6, z))
  expect_identical(nv_einsum("...->...", z), z)
  expect_identical(nv_einsum("i...->...", z), nv_convert(nv_reduce_sum(z, 1), "i32"))
  traces <- nv_einsum("...ii", nv_tensor(x[, , 1:2], "f64"))
  expect_identical(as_array(traces), x[, 1, 1] + x[, 2, 2])
  expect_identical(nv_einsum("...i->i...", z), t(z))
  expect_error(nv_einsum("...i->i", z), "lacks", class = "joist_value_error")
})

test_that("the cheapest products come first, without copies of operands that are in order", {
  shapes <- list(c(100L, 3L), c(3L, 50L), c(50L, 4L))
  f <- jit(function(a, b, c) nv_einsum("ij,jk,kl->il", a, b, c))
  do.call(f, lapply(shapes, function(shape) nv_aval("f32", shape)))
  text <- paste(utils::capture.output(program(f)), collapse = "\n")
  expect_match(text, "3x4", fixed = TRUE)
  expect_no_match(text, "100x50", fixed = TRUE)
  expect_no_match(text, "transpose(", fixed = TRUE)
})

test_that("products of operands have a common dtype, and derivatives", {
  x <- nv_tensor(matrix(c(0.5, 2, -1, 3), 2), "f64")
  v <- nv_tensor(c(1, -2), "f64")
  check_gradient(function(x, v) sum(nv_einsum("i,ij,kj,k->j", v, x, x, v)^2), x, v)
  check_gradient(function(x) nv_einsum("ii", x) * nv_einsum("ij->", x), x)
  expect_identical(type_of(nv_einsum("i,j", nv_tensor(1:2, "i8"), nv_tensor(1, "f16"))), "f16")
  expect_true(ambiguous(nv_einsum("i,i", c(1, 2), c(3, 4))))
  expect_identical(nv_einsum("i,i", nv_tensor(0.1, "f64"), 0.1), nv_scalar(0.1 * 0.1, "f64"))
  expect_identical(nv_einsum("->", nv_scalar(3)), nv_scalar(3))
  expect_identical(nv_einsum("", nv_scalar(3)), nv_scalar(3))
  expect_identical(as_array(nv_einsum(",ij->ij", 2, x)), as_array(x) * 2)
  none <- nv_einsum("ij,jk", nv_fill(1, c(2, 0)), nv_fill(1, c(0, 3)))
  expect_identical(as_array(none), matrix(0, 2, 3))
  expect_error(
    with_promotion(NULL, nv_einsum("i,i", v, nv_tensor(1:2)), on = c(int_to_float = "error")),
    class = "joist_promotion_error"
  )
})

test_that("equations that are wrong say which index is", {
  x <- nv_fill(1, c(2, 3))
  fails <- function(text, ...) expect_error(nv_einsum(...), text, class = "joist_error")
  fails("index `j` has extent 3 in operand 1 and 2 in operand 2", "ij,jk", x, x)
  fails("index `i` has extent 2 in operand 1 and 3 in operand 1", "ii", x)
  fails("index `i` has extent 2 in operand 1 and 1 in operand 1", "ii", nv_fill(1, c(2, 1)))
  fails("index `i` has extent 1 in operand 2 and 2 in operand 2", "ij,ii", x, nv_fill(1, 1:2))
  fails("operand 2 has rank 2, but `k` names 1", "ij,k", x, x)
  fails("result has index `z`, which no operand has", "ij->z", x)
  fails("result has index `i` twice", "ij->ii", x)
  fails("is of 2 operands, but there is 1", "ij,jk", x)
  fails("not an equation", "ij->i->j", x)
  fails("not an equation", "i1", x)
  fails("one string", c("ij", "ij"), x)
})

test_that("an index keeps the names that the first operand with it has", {
  m <- matrix(1:6, 2, dimnames = list(R = c("a", "b"), C = c("x", "y", "z")))
  for (d in c("i32", "f64")) {
    x <- nv_tensor(m, d)
    for (f in list(nv_einsum, jit(nv_einsum, static = "equation"))) {
      expect_identical(names(f("rc->r", x)), c("a", "b"))
      expect_identical(names(f("rc,r", x, nv_tensor(1:2, d))), c("x", "y", "z"))
      expect_identical(dimnames(f("rc,c->cr", x, c(u = 1, v = 2, w = 3))), rev(dimnames(m)))
      expect_identical(dimnames(f("rc,dc->rd", x, x)), dimnames(m %*% t(m)))
      expect_identical(dimnames(f("i,j", nv_tensor(c(k = 2), d), x[1, ])), list("k", colnames(m)))
      expect_null(names(f("rc->", x)))
    }
  }
})
