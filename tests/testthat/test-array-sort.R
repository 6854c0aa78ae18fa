# Sorting against base R, and what R's sort() leaves open.

ordered_dtypes <- function() setdiff(dtypes(), complexes())

# Few values of a dtype, so that many are equal.
values_with_ties <- function(d, n) {
  if (is_narrow(d)) {
    some <- c(-2.5, -1, 0, 1, 0.5, 3, Inf, -Inf, NaN, if (has_minus_zero(d)) -0)
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

sorted_numbers <- function(v, decreasing) {
  as.numeric(v)[order(v, decreasing = decreasing, method = "radix")]
}

test_that("nv_sort() and nv_argsort() along every dim are base R's along that dim", {
  set.seed(31)
  for (d in ordered_dtypes()) {
    for (extents in list(7L, c(5L, 6L), c(3L, 1L, 4L), c(2L, 3L, 2L, 3L), c(0L, 3L), c(3L, 0L))) {
      v <- values_with_ties(d, prod(extents))
      x <- nv_tensor(v, d, extents)
      v <- array(v, extents)
      for (dim in seq_along(extents)) {
        for (decreasing in c(FALSE, TRUE)) {
          label <- paste(d, deparse1(extents), "dim", dim, "decreasing", decreasing)
          along <- function(f) {
            if (length(v) == 0L) {
              return(array(numeric(), extents))
            }
            others <- seq_along(extents)[-dim]
            if (length(others) == 0L) {
              return(array(f(v), extents))
            }
            lines <- array(apply(v, others, f), c(extents[dim], extents[others]))
            aperm(lines, order(c(dim, others)))
          }
          got <- nv_sort(x, dim, decreasing)
          expect_identical(type_of(got), d)
          want <- along(function(line) sorted_numbers(line, decreasing))
          expect_values(as.array(nv_convert(got, "f64")), want, label)
          positions <- nv_argsort(x, dim, decreasing)
          expect_identical(type_of(positions), "i32")
          want <- along(function(line) order(line, decreasing = decreasing, method = "radix"))
          expect_identical(as.numeric(as.array(positions)), as.numeric(want), label = label)
          from_last <- dim - length(extents) - 1L
          expect_identical(nv_sort(x, from_last, decreasing), got)
        }
      }
      expect_values(as_array(nv_convert(nv_sort(x), "f64")), sorted_numbers(v, FALSE), d)
      expect_identical(as_array(nv_argsort(x)), order(v, method = "radix"))
    }
  }
})

test_that("64-bit integers beyond 2^53 are sorted by all of their bits", {
  for (d in c("i64", "ui64")) {
    values <- int_values(d)
    x <- int_tensor(values, d)
    order <- as_array(nv_argsort(x))
    expect_identical(as_array(nv_sort(x), "character"), values[order])
    expect_true(all(as_array(nv_sort(x)[-1L] >= nv_sort(x)[-length(x)])))
    expect_identical(order(x), order)
    expect_identical(order(x, decreasing = TRUE), as_array(nv_argsort(x, decreasing = TRUE)))
  }
})

test_that("NaN come behind numbers, and missing values behind NaN", {
  v <- c(NaN, 1, NA, NaN, 0)
  x <- nv_tensor(v, "f64")
  for (decreasing in c(FALSE, TRUE)) {
    got <- as_array(nv_sort(x, decreasing = decreasing))
    expect_identical(got[1:2], sort(c(1, 0), decreasing))
    expect_identical(is.na(got), c(FALSE, FALSE, TRUE, TRUE, TRUE))
    expect_identical(is.nan(got), c(FALSE, FALSE, TRUE, TRUE, FALSE))
    order <- as.vector(nv_argsort(x, decreasing = decreasing))
    expect_identical(order[3:5], c(1L, 4L, 3L))
  }
})

test_that("sort() leaves NaN out, or puts it first or last", {
  v <- c(2, NaN, 1, NaN, 3)
  x <- nv_tensor(v, "f32")
  for (decreasing in c(FALSE, TRUE)) {
    for (last in c(NA, TRUE, FALSE)) {
      expect_identical(as_array(sort(x, decreasing, na.last = last)), sort(v, decreasing, last))
    }
  }
  expect_identical(as_array(sort(x[c(2, 4)], na.last = FALSE)), c(NaN, NaN))
  expect_length(sort(x[c(2, 4)]), 0L)
  expect_identical(sort(nv_tensor(1:3, "i8")), nv_tensor(1:3, "i8"))
  expect_identical(jit(function(x) sort(x))(x), nv_sort(x))
  expect_identical(sort(nv_aval("bf16", c(2, 3))), nv_aval("bf16", 6))
})

test_that("sorting traces, and needs no data for dtype and shape", {
  set.seed(32)
  for (d in ordered_dtypes()) {
    x <- nv_tensor(values_with_ties(d, 24), d, c(4, 6))
    for (f in list(nv_sort, nv_argsort)) {
      for (dim in list(NULL, 1, 2, -1)) {
        expect_identical(jit(function(x) f(x, dim, TRUE))(x), f(x, dim, TRUE))
        want <- f(x, dim)
        expect_identical(f(nv_aval(d, c(4, 6)), dim), nv_aval(dtype(want), shape(want)))
      }
    }
  }
  expect_identical(type_of(nv_sort(c(3, 1))), "f32?")
  expect_identical(as_array(nv_sort(nv_scalar(3L))), 3L)
  x <- nv_tensor(c(3, 1, 2))
  expect_identical(as_array(jit(function(x) nv_sort(x + 1) * 2)(x)), c(4, 6, 8))
})

test_that("what cannot be sorted says so", {
  x <- nv_tensor(matrix(1:6, 2))
  expect_error(nv_sort(x, 3), class = "joist_shape_error")
  expect_error(nv_argsort(x, 0), class = "joist_shape_error")
  expect_error(jit(function(x) nv_sort(x, 3))(x), class = "joist_shape_error")
  expect_error(nv_sort(x, decreasing = NA), "decreasing", class = "joist_value_error")
  for (d in complexes()) {
    for (f in list(nv_sort, nv_argsort, sort, order)) {
      expect_error(f(nv_tensor(1i, d)), d, class = "joist_dtype_error")
    }
  }
  expect_error(jit(function(x) order(x))(x), "nv_argsort", class = "joist_value_error")
  expect_error(order(nv_aval("f32", 3)), "nv_argsort", class = "joist_value_error")
})

test_that("sort() and rank() refuse an invalid `na.last`", {
  for (x in list(nv_tensor(c(2, 1)), nv_tensor(c(b = 2, a = 1)))) {
    for (last in list("a", c(TRUE, FALSE), NULL, 1)) {
      expect_silent(expect_refusal(sort(x, na.last = last), "joist_value_error", "`na.last`"))
      expect_silent(expect_refusal(rank(x, na.last = last), "joist_value_error", "`na.last`"))
    }
    expect_refusal(sort(x, na.last = "keep"), "joist_value_error", "`na.last`")
  }
  expect_identical(rank(nv_tensor(c(2, NA, 1)), "keep"), rank(c(2, NA, 1), "keep"))
})

test_that("sort() gives positions where they are wanted, as base R's", {
  for (values in list(c(2, 1, 3, 1), c(2, NA, 1), integer(), c(TRUE, FALSE))) {
    for (down in c(TRUE, FALSE)) {
      x <- nv_tensor(values)
      wanted <- sort(values, decreasing = down, index.return = TRUE)
      sorted <- sort(x, decreasing = down, index.return = TRUE)
      expect_identical(list(x = as_array(sorted$x), ix = sorted$ix), wanted)
      expect_identical(dtype(sorted$x), dtype(x))
    }
  }
  traced <- jit(function(x) sort(x, index.return = TRUE)$x)
  expect_refusal(traced(nv_tensor(2:1)), "joist_trace_error", "nv_argsort")
  expect_identical(as_array(sort(nv_tensor(2:1), index.return = FALSE)), 1:2)
})

test_that("base R's order() and rank() go by what xtfrm() gives, for every dtype", {
  for (dtype in setdiff(dtypes(), complexes())) {
    for (v in list(c(3, 1, 2, 1, 0), numeric(), 5, c(1, 1, 1))) {
      x <- nv_convert(nv_tensor(v), dtype)
      numbers <- as.double(nv_convert(x, "f64"))
      expect_identical(order(x), order(numbers))
      expect_identical(order(x, decreasing = TRUE), order(numbers, decreasing = TRUE))
      expect_identical(rank(x), rank(numbers))
    }
  }
  x <- nv_tensor(c(2, NaN, -0, 0, Inf, -Inf, NA), "f64")
  expect_identical(order(x), order(c(2, NaN, -0, 0, Inf, -Inf, NA)))
  expect_identical(order(c(1, 1, 2, 2), nv_tensor(matrix(4:1, 2))), c(2L, 1L, 4L, 3L))
  large <- nv_tensor(c("9007199254740993", "9007199254740992", "9007199254740993"), "i64")
  expect_identical(xtfrm(large), c(2L, 1L, 2L))
  expect_error(xtfrm(nv_tensor(1i)), class = "joist_dtype_error")
})

test_that("dimensions along which elements stay keep their names", {
  names <- list(R = c("a", "b", "c"), C = c("x", "y", "z"))
  m <- nv_tensor(matrix(c(4, 1, 0, 1, 3, 1, 0, 1, 2), 3, dimnames = names), "f64")
  v <- nv_tensor(c(u = 1, v = 2, w = 3), "f64")
  columns <- list(NULL, C = names$C)
  ones <- nv_tensor(matrix(1L, 1L, 3L))
  whole <- list(
    chol = chol, tril = nv_tril, triu = nv_triu, mask = function(m) nv_mask(m, m > 1),
    put = function(m) nv_put_along(m, ones, 0, 1)
  )
  lines <- list(
    sort = function(m) nv_sort(m, 1), order = function(m) nv_argsort(m, 1),
    top = function(m) nv_top_k(m, 2, 1)$values, take = function(m) nv_take_along(m, ones, 1),
    sum = function(m) nv_segment_sum(m, c(1, 1, 2), 2)
  )
  for (run in list(identity, jit)) {
    for (f in names(whole)) expect_identical(dimnames(run(whole[[f]])(m)), names, label = f)
    for (f in names(lines)) {
      found <- dimnames(run(lines[[f]])(m))
      expect_identical(unname(found), unname(columns), label = f)
      expect_identical(names(found)[2L], "C", label = f)
    }
  }
  expect_identical(dimnames(nv_roll(m, 1, 1)), list(R = c("c", "a", "b"), C = names$C))
  expect_identical(dimnames(nv_tile(m, c(1, 2)))$R, names$R)
  expect_identical(dimnames(nv_apply(m, 1, function(x) x * 2)), rev(names))
  base <- as_array(m)
  y <- as_array(v)
  expect_identical(names(solve(m, v)), names(solve(base, y)))
  expect_identical(names(qr.fitted(qr(m), v)), names(qr.fitted(qr(base), y)))
  expect_identical(names(qr.coef(qr(m), v)), names(qr.coef(qr(base), y)))
})
