# Base R's functions on tensors: the values that base R computes of the same numbers; and of
# anything else what base R itself gives.

# Small whole numbers, exact in every dtype, of the given extents.
numbers_of <- function(dtype, extents, from = 1) {
  count <- prod(extents)
  v <- (seq_len(count) * 7 + from) %% 5
  if (dtype == "bool") v <- v %% 2
  if (kind_of(dtype) %in% c("int", "float", "complex")) v <- v - 2 * (seq_len(count) %% 3 == 0)
  if (length(extents) > 1L) array(v, extents) else v
}

tensor_of <- function(v, dtype) nv_tensor(v, dtype, shape = if (is.null(dim(v))) length(v))

# Of the narrow dtypes those that hold such numbers and their sums.
roomy_dtypes <- function(limit = 16) dtypes_with(c(-2:5, limit), dtypes())
real_dtypes <- function() setdiff(roomy_dtypes(5), complexes())

as_double <- function(x) as_array(x, "double")

# Eager, and compiled with the tensors as arguments.
expect_both <- function(f, ..., want, label, tolerance = NULL) {
  eager <- f(...)
  for (got in list(eager, jit(f)(...))) {
    expect_s3_class(got, "nv_tensor")
    as <- if (is.complex(want)) "complex" else "double"
    if (is.numeric(want)) storage.mode(want) <- "double"
    got <- as_array(got, as)
    if (is.null(tolerance)) {
      expect_identical(c(got), c(want), label = label)
    } else {
      expect_equal(c(got), c(want), tolerance = tolerance, label = label)
    }
    expect_identical(dim(got), dim(want), label = label)
  }
  expect_identical(type_of(f(...)), type_of(jit(f)(...)), label = label)
}

type_of <- function(x) format(dtype(x))

tolerance_of <- function(d) {
  if (d %in% floats() && is_narrow(d)) {
    return(2^(1 - float_spec(d)$digits))
  }
  switch(d,
    f16 = , bf16 = , c32 = , bc32 = 2^-7, f32 = , c64 = 2^-20, f64 = , c128 = 2^-45, 2^-20
  )
}

test_that("rowSums() and relatives reduce the dimensions that base R reduces", {
  for (extents in list(c(3, 4), c(2, 3, 2), c(2, 1, 3, 2), c(0, 3))) {
    for (dims in seq_len(length(extents) - 1)) {
      for (d in Filter(function(d) !is_narrow(d) || kind_of(d) != "float", roomy_dtypes())) {
        v <- numbers_of(d, extents)
        x <- tensor_of(v, d)
        # bool is counted, as TRUE is 1
        if (kind_of(d) == "complex") v <- v + 0i
        label <- paste(d, deparse1(extents), dims)
        expect_both(function(x) rowSums(x, dims = dims), x, want = base::rowSums(v, dims = dims),
          label = label
        )
        expect_both(function(x) colSums(x, FALSE, dims), x, want = base::colSums(v, dims = dims),
          label = label
        )
        if (any(extents == 0)) next
        expect_both(function(x) rowMeans(x, dims = dims), x, want = base::rowMeans(v, dims = dims),
          label = label, tolerance = tolerance_of(d)
        )
        expect_both(function(x) colMeans(x, dims = dims), x, want = base::colMeans(v, dims = dims),
          label = label, tolerance = tolerance_of(d)
        )
        expect_identical(type_of(rowSums(x, dims = dims)), type_of(nv_reduce_sum(x)))
        expect_identical(type_of(colMeans(x)), type_of(nv_mean(x)))
      }
    }
  }
  expect_refusal(rowSums(nv_tensor(1:3)), "joist_shape_error", "rank 2")
  expect_refusal(colMeans(nv_tensor(diag(2)), dims = 2), "joist_shape_error", "dims")
  expect_identical(shape(rowSums(nv_aval("i8", c(2, 3)))), 2L)
  expect_identical(
    deparse(conditionCall(tryCatch(rowSums(nv_tensor(1:3)), error = identity))),
    "rowSums(nv_tensor(1:3))"
  )
})

test_that("na.rm leaves out NaN", {
  v <- matrix(c(1, NaN, NaN, 4, NaN, 6, 7, NaN), 2)
  for (d in dtypes_with(c(0:15, NaN), c(floats(), complexes()))) {
    w <- if (kind_of(d) == "complex") v + 0i else v
    x <- nv_tensor(w, d)
    for (f in c("rowSums", "colSums", "rowMeans", "colMeans")) {
      mine <- get(f, asNamespace("joist"))
      expect_both(function(x) mine(x, TRUE), x, want = get(f, baseenv())(w, na.rm = TRUE),
        label = paste(f, d), tolerance = tolerance_of(d)
      )
      expect_identical(type_of(mine(x, na.rm = TRUE)), type_of(mine(x)))
    }
  }
  all_nan <- nv_tensor(matrix(NaN, 2, 2), "f32")
  expect_identical(as_array(rowSums(all_nan, na.rm = TRUE)), c(0, 0))
  expect_identical(as_array(rowMeans(all_nan, na.rm = TRUE)), c(NaN, NaN))
  expect_identical(as_array(rowSums(nv_tensor(diag(2L)), na.rm = TRUE), "double"), c(1, 1))
  expect_refusal(rowSums(all_nan, na.rm = NA), "joist_value_error", "na.rm")
})

test_that("which() gives R's positions", {
  for (extents in list(6, c(2, 3), c(2, 3, 2), c(2, 1, 2, 3), 0, c(0, 2))) {
    v <- numbers_of("i8", extents) > 1
    x <- tensor_of(v, "bool")
    expect_identical(which(x), base::which(v))
    for (names in c(TRUE, FALSE)) {
      expect_identical(which(x, TRUE, names), base::which(v, TRUE, names))
      expect_identical(which(!x, arr.ind = TRUE, useNames = names), base::which(!v, TRUE, names))
    }
  }
  expect_identical(which(nv_scalar(TRUE)), 1L)
  expect_error(which(nv_tensor(1:2)), "not logical")
  expect_error(jit(function(x) which(x))(nv_scalar(TRUE)), "not known", class = "joist_trace_error")
  expect_error(which(nv_aval("bool", 3)), "no values", class = "joist_value_error")
})

test_that("which.min() and which.max() give the first extreme, NaN left out", {
  for (d in real_dtypes()) {
    for (extents in list(7, c(3, 4), c(2, 2, 3))) {
      v <- numbers_of(d, extents)
      x <- tensor_of(v, d)
      expect_identical(which.max(x), base::which.max(v), label = d)
      expect_identical(which.min(x), base::which.min(v), label = d)
    }
  }
  special <- list(
    c(NaN, 1, NaN, 3, 3), c(NaN, -Inf, NaN), c(-Inf, NaN), c(NaN, Inf, 2), c(Inf, Inf),
    c(NaN, -0, 0)
  )
  for (d in floats()) {
    for (v in special) {
      if (!all(holds(v, d))) next
      x <- nv_tensor(v, d)
      expect_identical(which.max(x), base::which.max(v), label = d)
      expect_identical(which.min(x), base::which.min(v), label = d)
      expect_identical(as.vector(jit(function(x) which.max(x))(x)), base::which.max(v), label = d)
    }
  }
  expect_identical(which.max(nv_tensor(numeric())), integer())
  expect_refusal(which.min(nv_tensor(1i)), "joist_dtype_error", "c64")
})

test_that("var() is that of a vector, and of a matrix the covariances", {
  for (d in wide(real_dtypes())) {
    tolerance <- tolerance_of(d)
    v <- numbers_of(d, c(7, 3))
    w <- numbers_of(d, c(7, 2), 3)
    x <- tensor_of(v, d)
    y <- tensor_of(w, d)
    both <- function(f, ..., want) {
      expect_both(f, ..., want = want, label = d, tolerance = tolerance)
    }
    both(function(x) var(x), x, want = stats::var(v))
    both(function(x, y) var(x, y), x, y, want = stats::var(v, w))
    both(function(x) var(x, w), x, want = stats::var(v, w))
    both(function(y) var(v, y), y, want = stats::var(v, w))
    both(function(x) var(x), x[, 2], want = stats::var(v[, 2]))
    both(function(x, y) var(x, y), x[, 1], y[, 2], want = stats::var(v[, 1], w[, 2]))
    both(function(x, y) var(x, y), x, y[, 2], want = stats::var(v, w[, 2]))
    both(function(x, y) var(x, y), x[, 2], y, want = stats::var(v[, 2], w))
    expect_identical(type_of(var(x)), type_of(nv_mean(x)))
    expect_identical(type_of(var(x[, 1])), type_of(nv_mean(x)))
  }
  cube <- array(c(3, 1, 4, 1, 5, 9, 2, 6), c(2, 2, 2))
  expect_equal(as_array(var(nv_tensor(cube, "f64"))), stats::var(cube))
  frame <- data.frame(a = c(1, 2, 4), b = c(3, 3, 1))
  column <- nv_tensor(c(1, 5, 2), "f64")
  expect_equal(as_array(var(frame, column)), stats::var(frame, c(1, 5, 2)))
  expect_identical(var(frame), stats::var(frame))
  x <- nv_tensor(c(1, 2, 4))
  expect_identical(as_array(var(x, na.rm = FALSE, use = "everything")), as_array(nv_var(x)))
  expect_refusal(var(x, 1:2), "joist_shape_error", c("3", "2"))
  expect_refusal(var(nv_tensor(1i)), "joist_dtype_error", "nv_var")
  expect_identical(shape(var(nv_aval("f32", c(5, 3)))), c(3L, 3L))
})

test_that("rle() gives the runs of tensors, and inverse.rle() takes them", {
  v <- c(0, 0, 1, 1, 1, 0, 2, 2)
  for (d in dtypes_with(0:2)) {
    x <- nv_tensor(if (d == "bool") v > 0 else v, d)
    runs <- rle(x)
    want <- base::rle(as.vector(x))
    expect_s3_class(runs, "rle")
    expect_identical(runs$lengths, want$lengths)
    expect_identical(type_of(runs$values), d)
    expect_identical(as.vector(runs$values), want$values)
    expect_identical(inverse.rle(runs), x)
  }
  runs <- rle(nv_tensor(c(NaN, NaN, 1)))
  expect_identical(runs$lengths, c(1L, 1L, 1L)) # as base R
  none <- rle(nv_tensor(numeric()))
  expect_identical(none$lengths, integer())
  expect_identical(shape(none$values), 0L)
  expect_output(print(rle(nv_tensor(c(1L, 1L), "i8"))), "CPUi8")
  expect_refusal(rle(nv_tensor(diag(2))), "joist_shape_error", "nv_flatten")
  expect_refusal(jit(function(x) rle(x)$values)(nv_tensor(1:3)), "joist_value_error", "rle")
})

test_that("base R's rank(), called without the method, takes what it compares at once", {
  small <- c(1, NA, 0, 1, 0)
  for (d in setdiff(dtypes_with(0:1), complexes())) {
    values <- as_array(nv_tensor(small, d))
    for (named in c(FALSE, TRUE)) {
      x <- nv_tensor(small, d)
      if (named) names(x) <- names(values) <- letters[1:5]
      for (ties in c("average", "first", "last", "max", "min")) {
        for (last in list(TRUE, FALSE, NA, "keep")) {
          expect_identical(
            base::rank(x, last, ties), base::rank(values, last, ties), label = paste(d, ties, last)
          )
        }
      }
    }
  }
  far <- nv_tensor(c("9007199254740993", "9007199254740992", NA, "9007199254740994"), "i64")
  expect_identical(base::rank(far, "keep"), c(2, 1, NA, 3))
  # By pairs these take minutes.
  many <- nv_tensor(as.double(1e5:1), "f32")
  expect_identical(base::rank(many), as.double(1e5:1))
  taken <- (function(ties.method) many[rep(TRUE, 1e5)])(1) # nolint: object_name_linter.
  expect_identical(dtype(taken), dtype(many))
})

test_that("runs and ranks of one tensor need no common dtype of the rules", {
  for (d in dtypes_with(0:1)) {
    x <- nv_tensor(c(1, 1, 0, 1), d, ambiguous = TRUE)
    for (rules in promotion_rule_sets()$id) {
      runs <- with_promotion(rules, rle(x))
      expect_identical(runs$lengths, c(2L, 1L, 1L), label = paste(rules, d))
      if (kind_of(d) == "complex") next
      expect_equal(with_promotion(rules, rank(x)), c(3, 3, 1, 3), label = paste(rules, d))
    }
  }
})

test_that("`split<-` undoes split()", {
  x <- nv_tensor(c(3, 1, 4, 1, 5, 9), "f16")
  put_back <- function(parts, by) {
    whole <- do.call(if (is.data.frame(parts[[1]])) rbind else c, unname(parts))
    split(whole, by) <- parts
    if (is.data.frame(whole)) row.names(whole) <- NULL
    whole
  }
  pairs <- list(c("a", "b", "b", "a", "b", "a"), c(1, 1, 2, 2, 2, 1))
  for (by in list(c(2, 1, 2, 1, 1, 2), factor(c("u", "v", "w")[c(1, 3, 1, 3, 3, 1)]), pairs)) {
    expect_identical(put_back(split(x, by), by), x)
    expect_identical(as_array(jit(function(x) put_back(split(x, by), by))(x)), as_array(x))
  }
  frame <- data.frame(a = x, b = letters[1:6])
  expect_identical(put_back(split(frame, c(2, 1, 2, 1, 1, 2)), c(2, 1, 2, 1, 1, 2)), frame)
})

test_that("ave() is base R's, in the common dtype of the operand and what the function gives", {
  set.seed(5)
  numbers <- sample.int(20L, 40L, TRUE)
  g <- sample.int(5L, 40L, TRUE)
  h <- sample(c("a", "b"), 40L, TRUE)
  groups <- list(list(), list(g), list(h), list(g, h))
  for (type in c("i8", "i32", "i64", "ui16", "f32", "f64")) {
    x <- nv_tensor(numbers, type)
    for (f in list(mean, sum, max, length, rev, function(v) v - min(v))) {
      for (by in groups) {
        want <- suppressWarnings(do.call(ave, c(list(as.double(numbers)), by, FUN = f)))
        got <- do.call(ave, c(list(x), by, FUN = f))
        expect_s3_class(got, "nv_tensor")
        expect_equal(as.double(got), want, tolerance = 1e-6)
      }
    }
    expect_identical(dtype(ave(x, g, FUN = max)), dtype(x))
    expect_identical(dtype(ave(x, g, FUN = length)), dtype(x))
    expect_identical(dtype(ave(x, g, FUN = sum)), dtype(c(x, sum(x))))
    expect_identical(as.integer(ave(x[1:4], c(1, NA, 1, 2), FUN = max)), c(
      max(numbers[c(1L, 3L)]), numbers[2L], max(numbers[c(1L, 3L)]), numbers[4L]
    ))
  }
  expect_identical(ave(nv_tensor(integer(), "i8"), integer()), nv_tensor(integer(), "i8"))
  ids <- nv_tensor(c("9007199254740993", "9007199254740992", "9007199254740993"), "i64")
  expect_identical(as.integer(ave(nv_tensor(1:3), ids, FUN = max)), c(3L, 2L, 3L))
})

test_that("complete.cases() is base R's, also of data frames, and exact", {
  numbers <- c(1, NA, 3, 4, NA)
  frame <- data.frame(a = numbers, b = c("x", NA, "y", "z", "w"))
  for (type in c("bool", "i8", "i32", "i64", "f32", "f64")) {
    x <- nv_tensor(numbers > 0, type)
    mine <- frame
    mine$a <- x
    expect_identical(complete.cases(x), complete.cases(numbers))
    expect_identical(complete.cases(x, x), complete.cases(numbers))
    expect_identical(complete.cases(x, 5:1), complete.cases(numbers))
    expect_identical(complete.cases(mine), complete.cases(frame))
    expect_identical(complete.cases(mine, x), complete.cases(frame))
    m <- nv_tensor(matrix(numbers[1:4] > 0, 2L), type)
    expect_identical(complete.cases(m), complete.cases(matrix(numbers[1:4], 2L)))
  }
  expect_identical(complete.cases(nv_tensor(c(NaN, 1))), c(FALSE, TRUE))
  large <- nv_tensor(c("9007199254740993", "1"), "i64")
  expect_identical(complete.cases(large), c(TRUE, TRUE))
  expect_identical(complete.cases(data.frame(u = c(NA, 1), large = large)), c(FALSE, TRUE))
  expect_error(complete.cases(nv_tensor(1:2), 1:3), "same length")
})

test_that("integers are the text that base R makes of them", {
  for (type in c("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")) {
    numbers <- c(b = 100L, a = 0L, c = NA, d = 7L)
    if (startsWith(type, "i")) numbers["a"] <- -3L
    x <- nv_tensor(numbers, type)
    expect_identical(as.character(x), as.character(numbers))
    expect_identical(as_array(x, "character"), `names<-`(as.character(numbers), names(numbers)))
    expect_identical(factor(x), factor(numbers))
    expect_identical(c(table(x)), c(table(numbers)))
  }
  expect_identical(as.character(nv_tensor(c(-2^31, 1), "i32")), c("-2147483648", "1"))
  large <- c("9007199254740993", "1")
  expect_identical(as.character(nv_tensor(large, "i64")), large)
})

test_that("ifelse() of a tensor chooses", {
  for (d in Filter(function(d) !is_narrow(d) || kind_of(d) == "int", roomy_dtypes(5))) {
    for (extents in list(6, c(2, 3), c(3, 2, 1), c(2, 1, 3, 2))) {
      a <- numbers_of(d, extents)
      b <- numbers_of(d, extents, 4)
      if (kind_of(d) == "complex") a <- a + 0i
      test <- a != 1
      x <- tensor_of(a, d)
      y <- tensor_of(b, d)
      expect_both(function(x, y) ifelse(x != 1L, x, y), x, y, want = base::ifelse(test, a, b),
        label = d
      )
      expect_both(function(x) ifelse(x != 1L, x, 0L), x, want = base::ifelse(test, a, 0),
        label = d
      )
    }
  }
  x <- nv_tensor(c(1, 2, 3))
  expect_identical(ifelse(x > 1, "a", "b"), c("b", "a", "a"))
  expect_identical(ifelse(x > 1, NA, 0), c(0, NA, NA))
  expect_identical(as_array(jit(function(x) ifelse(x > 1, 1, 0))(x)), c(0, 1, 1))
  expect_identical(shape(ifelse(nv_aval("bool", 3), 1, 0)), 3L)
  expect_refusal(ifelse(nv_scalar(TRUE), x, 0), "joist_shape_error", c("{}", "{3}"))
  # Base R does not ask what `yes` and `no` are, and evaluates neither in vain.
  expect_identical(ifelse(c(TRUE, FALSE, TRUE), x, 0), c(1, 0, 3))
  expect_identical(ifelse(TRUE, "yes", stop("no")), "yes")
})

test_that("findInterval() is base R's, whichever operand is a tensor", {
  sorted <- c(1, 2, 2, 4, 7)
  values <- c(0, 1, 1.5, 2, 3, 4, 7, 8)
  sets <- expand.grid(rightmost = c(FALSE, TRUE), inside = c(FALSE, TRUE), open = c(FALSE, TRUE))
  for (k in seq_len(nrow(sets))) {
    with(sets[k, ], for (vec in list(sorted, sorted[1:2], 3, numeric())) {
      f <- function(x, vec) findInterval(x, vec, rightmost, inside, left.open = open)
      want <- base::findInterval(values, vec, rightmost, inside, open)
      label <- paste(k, deparse1(vec))
      for (d in c(wide(floats()), "f8E4M3FN", "f8E5M2FNUZ")) {
        expect_identical(f(nv_tensor(values, d), nv_tensor(vec, d)), want, label = label)
        expect_identical(f(nv_tensor(values, d), vec), want, label = label)
        expect_identical(f(values, nv_tensor(vec, d)), want, label = label)
      }
    })
  }
  for (d in dtypes_with(0:8, ints())) {
    want <- base::findInterval(0:8, c(1, 2.5, 4))
    expect_identical(findInterval(nv_tensor(0:8, d), c(1, 2.5, 4)), want, label = d)
  }
  expect_error(findInterval(nv_tensor(1:3), c(3, 1)), "sorted")
  # Base R cannot look at values that are not there: loudly.
  expect_error(jit(function(x) findInterval(x, sorted))(nv_tensor(values)))
})

test_that("tabulate() counts", {
  v <- c(2, 3, 3, 5, 0, 2)
  for (d in dtypes_with(v, setdiff(real_dtypes(), "bool"))) {
    expect_identical(tabulate(nv_tensor(v, d)), base::tabulate(v), label = d)
    expect_identical(tabulate(nv_tensor(v, d), 4), base::tabulate(v, 4), label = d)
    expect_identical(tabulate(nbins = 7, nv_tensor(v, d)), base::tabulate(v, 7), label = d)
  }
})

test_that("atan2() and the functions of bits are base R's", {
  a <- c(1, -1, 0, 2, -0, 3)
  b <- c(0.5, -2, 1, 0, -1, 4)
  for (d in dtypes_with(c(a, b), floats())) {
    x <- nv_tensor(a, d)
    y <- nv_tensor(b, d)
    tolerance <- if (is_narrow(d)) 0.3 else tolerance_of(d)
    both <- function(f, ..., want) {
      expect_both(f, ..., want = want, label = d, tolerance = tolerance)
    }
    both(function(x, y) atan2(x, y), x, y, want = base::atan2(a, b))
    both(function(x) atan2(x, 2), x, want = base::atan2(a, 2))
    both(function(y) atan2(x = y, y = 1), y, want = base::atan2(1, b))
  }
  a <- c(12, 10, 7, 0, 100)
  b <- c(10, 3, 7, 5, 64)
  # nv_bitwise_and() and its like take the narrow ones in test-math-elementwise.R
  for (d in wide(ints())) {
    x <- nv_tensor(a, d)
    y <- nv_tensor(b, d)
    for (name in c("bitwAnd", "bitwOr", "bitwXor")) {
      f <- getExportedValue("joist", name)
      want <- get(name, baseenv())(a, b)
      expect_both(function(x, y) f(x, y), x, y, want = want, label = paste(name, d))
      expect_both(function(x) f(x, b), x, want = want, label = paste(name, d))
      expect_both(function(y) f(as.integer(a), y), y, want = want, label = paste(name, d))
      expect_identical(type_of(f(x, y)), d)
    }
    shift <- c(0, 1, 2, 3, 1)
    small <- c(1, 2, 3, 4, 5)
    n <- nv_tensor(shift, d)
    expect_both(function(n) bitwShiftL(nv_tensor(small, d), n), n, label = d,
      want = base::bitwShiftL(small, shift)
    )
    expect_both(function(x) bitwShiftR(x, 2), x, want = base::bitwShiftR(a, 2), label = d)
  }
  negative <- c(-1L, -8L, 5L)
  x <- nv_tensor(negative)
  expect_identical(as_array(bitwNot(x)), base::bitwNot(negative))
  expect_identical(as_array(bitwShiftR(x, 28)), as.integer(base::bitwShiftR(negative, 28)))
  expect_refusal(bitwAnd(x, 1.5), "joist_dtype_error", "f32")
  expect_refusal(bitwNot(nv_tensor(1)), "joist_dtype_error", "f32")
})

test_that("products of matrices are base R's in every version of R", {
  a <- matrix(c(1, 2, 0, 3, 1, 1), 3)
  b <- matrix(c(2, 1, 1, 0, 3, 1, 2, 2, 1), 3)
  for (d in wide(setdiff(dtypes(), "bool"))) { # test-array-matmul.R has products of the narrow ones
    x <- nv_tensor(a, d)
    y <- nv_tensor(b, d)
    u <- if (kind_of(d) == "complex") a + 0i else a
    expect_both(function(x, y) y %*% x, x, y, want = b %*% u, label = d)
    expect_both(function(x) x %*% 1:2, x, want = u %*% 1:2, label = d)
    expect_both(function(x) 1:3 %*% x, x, want = 1:3 %*% u, label = d)
    expect_both(function(x) crossprod(x), x, want = base::crossprod(u), label = d)
    expect_both(function(x, y) crossprod(x, y), x, y, want = base::crossprod(u, b), label = d)
    expect_both(function(x) crossprod(1:3, x), x, want = base::crossprod(1:3, u), label = d)
    expect_both(function(x) tcrossprod(x), x, want = base::tcrossprod(u), label = d)
    expect_both(function(x) tcrossprod(x, a), x, want = base::tcrossprod(u, a), label = d)
  }
})

# ---- arguments other than tensors; see also test-with-attached.R ----

test_that("arguments are evaluated once, and not before base R would", {
  count <- 0
  once <- function(x) {
    count <<- count + 1
    x
  }
  calls <- list(
    quote(rowSums(once(diag(2)))), quote(which(once(TRUE))), quote(var(once(1:3), y = once(3:1))),
    quote(rank(once(1))), quote(match(once(1), once(2))),
    quote(ifelse(once(TRUE), once(1), once(2))),
    quote(findInterval(once(1), once(2))), quote(tabulate(once(1L))),
    quote(bitwAnd(once(1L), once(1L)))
  )
  for (call in calls) {
    count <- 0
    eval(call)
    here <- count
    count <- 0
    name <- as.character(call[[1L]])
    call[[1L]] <- getExportedValue(if (name == "var") "stats" else "base", name)
    eval(call)
    expect_identical(here, count, label = deparse1(call)[1L])
  }
  # Conditions of the arguments keep their classes.
  own <- structure(class = c("own", "condition"), list(message = "", call = NULL))
  expect_identical(tryCatch(rowSums(stop(own)), own = function(e) "own"), "own")
  expect_identical(tryCatch(atan2(1, stop(own)), own = function(e) "own"), "own")
})

test_that("ifelse() keeps the values of integer64", {
  skip_if_not_installed("bit64")
  test <- nv_tensor(c(TRUE, FALSE, NA))
  a <- bit64::as.integer64(c("9007199254740993", "2", "3"))
  expect_identical(as.character(ifelse(test, a, -a)), c("9007199254740993", "-2", NA))
  expect_identical(as.character(ifelse(test, a, 5L)), c("9007199254740993", "5", NA))
  expect_identical(as.character(ifelse(test, 7L, a)), c("7", "2", NA))
})

test_that("cut() compares 64-bit integers with breaks that are not rounded", {
  x <- nv_tensor(c("100000001", "100000000"), "i64")
  for (breaks in list(c(0, 1e8, 2e8), c(2e8, 0, 1e8 + 0.5))) {
    for (dtype in c("i64", "ui64")) {
      expect_identical(cut(nv_convert(x, dtype), breaks, labels = FALSE), 2:1)
    }
  }
})
