# Searching, matching and counting against base R.

# Few values of a dtype, special ones among them, so that many are equal.
values_to_find <- function(d, n) {
  if (kind_of(d) == "complex") {
    parts <- c(-1, -0, 0, 2.5, NaN)
    return(complex(real = sample(parts, n, TRUE), imaginary = sample(parts, n, TRUE)))
  }
  if (is_narrow(d)) {
    some <- c(-5:5, 0.5, Inf, -Inf, NaN, if (has_minus_zero(d)) -0)
    some <- held_of(some, d)
    return(some[sample.int(length(some), n, TRUE)])
  }
  switch(kind_of(d),
    bool = sample(c(TRUE, FALSE), n, TRUE),
    int = sample(-5:5, n, TRUE),
    uint = sample(0:9, n, TRUE),
    float = sample(c(-2.5, -1, -0, 0, 0.5, 3, Inf, -Inf, NaN), n, TRUE)
  )
}

ordered_dtypes <- function() setdiff(dtypes(), complexes())

test_that("nv_match(), nv_is_in(), match() and %in% are base R's", {
  set.seed(41)
  for (d in dtypes()) {
    for (sizes in list(c(30, 8), c(1, 1), c(0, 4), c(4, 0), c(3000, 50))) {
      v <- values_to_find(d, sizes[1])
      w <- values_to_find(d, sizes[2])
      x <- nv_tensor(v, d)
      table <- nv_tensor(w, d)
      got <- nv_match(x, table)
      expect_identical(type_of(got), "i32")
      expect_identical(as_array(got), match(v, w, nomatch = 0L), label = d)
      expect_identical(as_array(nv_match(x, table, nomatch = -7)), match(v, w, nomatch = -7L))
      expect_identical(as_array(nv_is_in(x, table)), v %in% w, label = d)
      expect_identical(type_of(nv_is_in(x, table)), "bool")
      expect_identical(jit(function(x, y) nv_match(x, y))(x, table), got)
      if (getRversion() >= "4.2.0" && sizes[2] > 0) { # R looks at no method for an empty table
        expect_identical(match(x, table), match(v, w), label = d)
        if (is_narrow(d)) next # R's doubles have no dtype in common with narrow integers
        expect_identical(match(v, table), match(v, w), label = d)
        expect_identical(x %in% w, v %in% w, label = d)
      }
    }
    m <- nv_tensor(values_to_find(d, 6), d, c(2, 3))
    expect_identical(shape(nv_match(m, table)), c(2L, 3L))
    expect_identical(nv_match(nv_aval(d, c(2, 3)), table), nv_aval("i32", c(2, 3)))
  }
})

test_that("NA_real_ is found where NA is, NaN where NaN is", {
  v <- c(NA, NaN, 1)
  x <- nv_tensor(v, "f64")
  expect_identical(as_array(nv_match(x, rev(x))), c(3L, 2L, 1L))
  expect_identical(as_array(nv_match(x, nv_tensor(NaN, "f64"))), c(0L, 1L, 0L))
  expect_identical(duplicated(c(x, x)), duplicated(c(v, v)))
  z <- nv_tensor(complex(real = v, imaginary = 0), "c128")
  expect_identical(as_array(nv_match(z, rev(z))), c(3L, 2L, 1L))
})

test_that("operands are matched in their common dtype, literals as what they are", {
  x <- nv_tensor(1:3, "ui8")
  expect_identical(as_array(nv_match(x, c(300L, 2L, -1L))), c(0L, 2L, 0L))
  expect_identical(as_array(nv_match(x, nv_tensor(c(2.5, 3), "f32"))), c(0L, 0L, 2L))
  expect_identical(as_array(nv_match(1:3, x)), 1:3)
  expect_identical(as_array(jit(function(x) nv_is_in(x, c(300L, 3L)))(x)), c(FALSE, FALSE, TRUE))
  far <- int_tensor(c("9007199254740992", "9007199254740993"), "i64")
  expect_identical(as_array(nv_match(far, far[2])), c(0L, 1L))
  if (getRversion() >= "4.2.0") {
    expect_identical(match(far, far[2]), c(NA, 1L))
    expect_identical(match(nv_tensor(c(1e5, 2), "i64"), c(2, 1e5)), c(2L, 1L))
  }
  with_promotion("array_api", {
    expect_error(nv_match(x, nv_tensor(1, "f32")), class = "joist_promotion_error")
  })
  expect_error(nv_match(x, 1L, nomatch = NA), "NA", class = "joist_value_error")
  expect_error(nv_match(x, 1L, nomatch = 0.5), class = "joist_value_error")
})

test_that("nv_searchsorted() counts as findInterval() does", {
  set.seed(42)
  for (d in ordered_dtypes()) {
    for (n in c(0, 1, 2, 7, 100)) {
      v <- sort(values_to_find(d, n), na.last = TRUE)
      w <- values_to_find(d, 50)
      x <- nv_tensor(w, d, c(5, 10))
      keys <- ifelse(is.nan(v), Inf, as.numeric(v)) # NaN is larger than Inf
      counts <- function(less) {
        vapply(w, function(value) sum(less(value)), 1L)
      }
      left <- counts(function(value) if (is.nan(value)) !is.nan(v) else !is.nan(v) & v < value)
      right <- counts(function(value) is.nan(value) | (!is.nan(v) & v <= value))
      for (side in c("left", "right")) {
        got <- nv_searchsorted(nv_tensor(v, d), x, side)
        want <- if (side == "left") left else right
        expect_identical(type_of(got), "i32")
        expect_identical(as_array(got), matrix(as.integer(want), 5), label = paste(d, n, side))
        expect_identical(jit(function(v, x) nv_searchsorted(v, x, side))(nv_tensor(v, d), x), got)
      }
      if (!anyNA(v) && !anyNA(w)) {
        right <- nv_searchsorted(nv_tensor(v, d), x, "right")
        expect_identical(as.vector(right), findInterval(as.numeric(w), as.numeric(v)))
      }
    }
    expect_identical(nv_searchsorted(nv_aval(d, 3), nv_aval(d, c(2, 2))), nv_aval("i32", c(2, 2)))
  }
  x <- nv_tensor(c(3, 1))
  far <- nv_searchsorted(nv_tensor(1:3, "ui8"), c(-5L, 2L, 300L))
  expect_identical(as_array(far), c(0L, 1L, 3L))
  expect_error(nv_searchsorted(x, 1), "element 2", class = "joist_value_error")
  expect_error(nv_searchsorted(nv_tensor(matrix(1:4, 2)), 1L), class = "joist_shape_error")
  expect_error(nv_searchsorted(nv_tensor(1i), 1i), class = "joist_dtype_error")
  expect_error(nv_searchsorted(x, 1, "middle"), class = "joist_value_error")
})

test_that("nv_top_k() finds the first of long lines that are sorted, or all the same", {
  n <- 2e5
  for (d in c("i32", "f64", "ui16")) {
    x <- nv_tensor(pmin(seq_len(n), 60000), d)
    for (k in c(1, 7, 5000)) {
      from <- function(start, by) as.integer(seq(start, by = by, length.out = k))
      expect_identical(as_array(nv_top_k(x, k)$indices), from(60000, 1), label = d)
      expect_identical(as_array(nv_top_k(x, k, decreasing = FALSE)$indices), from(1, 1))
      expect_identical(as_array(nv_top_k(nv_reverse(x), k)$indices), from(1, 1))
      last <- nv_top_k(nv_reverse(x), k, decreasing = FALSE)$indices
      expect_identical(as_array(last), from(n, -1))
    }
  }
})

test_that("nv_top_k() takes missing elements after those with the last values there are", {
  set.seed(47)
  for (d in ordered_dtypes()) {
    x <- nv_concatenate(nv_tensor(values_to_find(d, 40L), d), dtype_info(d)$max, dtype_info(d)$min)
    if (dtype_kind(d) == "float") x <- nv_concatenate(x, nv_convert(c(Inf, -Inf, NaN), d))
    x <- nv_convert(x, d)[sample(length(x))]
    x <- nv_reshape(nv_mask(x, nv_tensor(seq_along(x) %% 3 == 0)), c(length(x), 1L))
    for (decreasing in c(TRUE, FALSE)) {
      order <- as.vector(nv_argsort(x, 1L, decreasing))
      for (k in c(1L, 20L, length(x) - 2L, length(x))) {
        got <- nv_top_k(x, k, 1L, decreasing)
        expect_identical(as.vector(got$indices), order[seq_len(k)], label = paste(d, k))
        expect_identical(got$values, x[order[seq_len(k)], , drop = FALSE])
      }
    }
  }
})

test_that("nv_top_k() gives the first k of nv_argsort()", {
  set.seed(43)
  for (d in ordered_dtypes()) {
    for (extents in list(9L, c(4L, 7L), c(3L, 5L, 4L), c(600L, 2L))) {
      x <- nv_tensor(values_to_find(d, prod(extents)), d, extents)
      for (dim in seq_along(extents)) {
        for (decreasing in c(TRUE, FALSE)) {
          for (k in unique(c(0L, 1L, 2L, extents[dim]))) {
            order <- as.array(nv_argsort(x, dim, decreasing))
            order <- aperm(order, order(seq_along(extents) != dim))
            first <- array(order, c(extents[dim], length(x) / extents[dim]))
            first <- first[seq_len(k), , drop = FALSE]
            top <- nv_top_k(x, k, dim, decreasing)
            got <- aperm(as.array(top$indices), order(seq_along(extents) != dim))
            expect_identical(as.vector(got), as.vector(first), label = paste(d, deparse1(extents)))
            expect_identical(type_of(top$indices), "i32")
            expect_identical(type_of(top$values), d)
            if (k == extents[dim]) expect_identical(top$values, nv_sort(x, dim, decreasing))
          }
        }
      }
      expect_identical(jit(function(x) nv_top_k(x, 2))(x), nv_top_k(x, 2))
    }
    want <- list(values = nv_aval(d, c(4, 2)), indices = nv_aval("i32", c(4, 2)))
    expect_identical(nv_top_k(nv_aval(d, c(4, 7)), 2), want)
  }
  x <- nv_tensor(c(2, NaN, 7, 7))
  expect_identical(as_array(nv_top_k(x, 4)$indices), c(3L, 4L, 1L, 2L))
  expect_identical(as_array(nv_top_k(nv_scalar(5L), 1)$values), 5L)
  expect_error(nv_top_k(x, 5), class = "joist_shape_error")
  expect_error(nv_top_k(x, 1, dim = 2), class = "joist_shape_error")
  expect_error(nv_top_k(x, -1), class = "joist_value_error")
  expect_error(nv_top_k(x, 1.5), class = "joist_value_error")
  expect_error(nv_top_k(nv_tensor(1i), 1), class = "joist_dtype_error")
})

test_that("nv_take_along() takes elements at positions along a dimension", {
  for (d in dtypes()) {
    x <- sample_tensor(d, 6, shape = c(2, 3))
    v <- as_array(x)
    index <- matrix(c(2L, 1L, 2L, 2L, 1L, 1L, 1L, 2L), 2)[, 1:3]
    want <- matrix(v[cbind(as.vector(index), rep(1:3, each = 2))], 2)
    expect_identical(as_array(nv_take_along(x, nv_tensor(index), 1)), want, label = d)
    expect_identical(jit(function(x, i) nv_take_along(x, i, 1))(x, nv_tensor(index)),
      nv_take_along(x, nv_tensor(index), 1)
    )
    long <- matrix(c(3L, 1L, 1L, 2L, 2L, 3L, 3L, 3L), 2)
    want <- matrix(v[cbind(rep(1:2, 4), as.vector(long))], 2)
    expect_identical(as_array(nv_take_along(x, nv_tensor(long), -1)), want, label = d)
  }
  for (bad in c(0L, 4L, -1L)) {
    expect_error(nv_take_along(x, nv_tensor(matrix(c(1L, bad), 2)), 2), "position 2",
      class = "joist_shape_error"
    )
  }
  expect_error(nv_take_along(x, nv_tensor(1:2), 1), class = "joist_shape_error")
  expect_error(nv_take_along(x, nv_tensor(matrix(1, 2, 3)), 1), class = "joist_dtype_error")
})

test_that("unique() and its like refuse MARGIN", {
  m <- nv_tensor(matrix(c(1L, 2L, 1L, 3L, 4L, 3L), 3))
  for (f in list(unique, duplicated, anyDuplicated)) {
    expect_refusal(f(m, MARGIN = 1), "joist_value_error", "takes no `MARGIN`")
  }
})

test_that("unique(), duplicated() and anyDuplicated() are base R's, from either end", {
  set.seed(44)
  for (d in dtypes()) {
    for (n in c(0, 1, 2, 40, 3000)) {
      v <- values_to_find(d, n)
      x <- nv_tensor(v, d)
      for (last in c(FALSE, TRUE)) {
        expect_identical(duplicated(x, fromLast = last), duplicated(v, fromLast = last), label = d)
        expect_identical(anyDuplicated(x, fromLast = last), anyDuplicated(v, fromLast = last))
        want <- nv_tensor(v[!duplicated(v, fromLast = last)], d)
        expect_identical(unique(x, fromLast = last), want, label = d)
      }
      other <- values_to_find(d, 2)
      if (is_narrow(d)) next
      expect_identical(duplicated(x, incomparables = other), duplicated(v, incomparables = other))
    }
  }
  # Distinct numbers with many equal bits.
  for (d in c("i32", "ui64", "f64")) {
    v <- 2^(0:30)
    expect_identical(duplicated(nv_tensor(c(v, rev(v)), d)), rep(c(FALSE, TRUE), each = 31))
  }
  m <- nv_tensor(matrix(c(1L, 2L, 2L, 1L), 2))
  expect_identical(unique(m), nv_tensor(1:2))
  for (f in list(unique, duplicated, anyDuplicated)) {
    expect_error(jit(function(x) f(x))(m), class = "joist_value_error")
    expect_error(f(nv_aval("f32", 2)), class = "joist_value_error")
  }
})

test_that("nv_which() is which()", {
  set.seed(45)
  for (extents in list(0L, 7L, 100L, c(3L, 5L), c(4L, 0L), c(3L, 4L, 5L))) {
    v <- array(sample(c(TRUE, FALSE), prod(extents), TRUE, prob = c(0.2, 0.8)), extents)
    x <- nv_tensor(v, shape = extents)
    expect_identical(as_array(nv_which(x)), which(as.vector(v)))
    expect_identical(type_of(nv_which(x)), "i32")
    if (length(extents) > 1L) {
      expect_identical(as_array(nv_which(x, arr.ind = TRUE)), unname(which(v, arr.ind = TRUE)))
    }
  }
  expect_identical(shape(nv_which(nv_scalar(TRUE), arr.ind = TRUE)), c(1L, 0L))
  expect_identical(as_array(nv_which(c(FALSE, TRUE))), 2L)
  expect_error(nv_which(nv_tensor(1:3)), "i32", class = "joist_dtype_error")
  expect_error(jit(function(x) nv_which(x))(x), "nv_ifelse", class = "joist_value_error")
  expect_error(nv_which(nv_aval("bool", 3)), class = "joist_value_error")
})

test_that("nv_tabulate() is tabulate()", {
  set.seed(46)
  for (d in c(ints(), floats())) {
    v <- sample(held_of(if (kind_of(d) == "uint") 0:12 else -3:12, d), 100, TRUE)
    x <- nv_tensor(v, d)
    for (nbins in c(0, 1, 9, 12, 20)) {
      got <- nv_tabulate(x, nbins)
      expect_identical(type_of(got), "i64")
      expect_identical(as_array(got), as.numeric(tabulate(v, nbins)), label = d)
      expect_identical(jit(function(x) nv_tabulate(x, nbins))(x), got)
    }
    expect_identical(as_array(nv_tabulate(x)), as.numeric(tabulate(v)))
    expect_identical(nv_tabulate(nv_aval(d, 5), 3), nv_aval("i64", 3))
  }
  expect_identical(as_array(nv_tabulate(nv_tensor(c(2.9, NaN, Inf, -1, 1)), 3)), c(1, 1, 0))
  expect_identical(as_array(nv_tabulate(nv_tensor(integer()))), 0)
  expect_identical(as_array(nv_tabulate(c(1, 2, 2))), c(1, 2))
  expect_identical(as_array(nv_tabulate(int_tensor(int_max("ui64"), "ui64"), 2)), c(0, 0))
  expect_error(jit(function(x) nv_tabulate(x))(x), "nbins", class = "joist_value_error")
  expect_error(nv_tabulate(nv_tensor(1i), 2), class = "joist_dtype_error")
})

test_that("nv_searchsorted() takes one R number", {
  for (d in floats()) {
    values <- c(held(-1, d), 0.1, 0.2, if (has_nan(d)) NaN, 3)
    if (!has_zero(d)) values <- sort(values)
    x <- nv_tensor(values, d)
    held <- as_array(x) # what the dtype made of 0.1
    at <- as_array(nv_tensor(0.1, d))
    if (at == 0) at <- 0.1 # a number that would round to 0 is compared exactly
    for (f in list(nv_searchsorted, jit(nv_searchsorted, static = c("sorted", "side")))) {
      expect_identical(as_array(f(0.1, x)), as.integer(is.nan(held) | held > at), label = d)
      expect_identical(
        as_array(f(0.1, x, side = "right")), as.integer(is.nan(held) | held >= at),
        label = d
      )
    }
  }
  expect_identical(as_array(nv_searchsorted(2L, nv_tensor(1:3, "ui8"))), c(0L, 0L, 1L))
  expect_identical(as_array(nv_searchsorted(300L, nv_tensor(1:3, "ui8"))), c(0L, 0L, 0L))
})

test_that("unique() is without names from either end, and as.array() keeps them", {
  x <- nv_tensor(c(a = 3, b = 1, c = 3, d = 2), "i8")
  expect_identical(unique(x, fromLast = TRUE), nv_tensor(c(1, 3, 2), "i8"))
  expect_identical(dimnames(as.array(x)), list(c("a", "b", "c", "d")))
})
