# Cumulative operations and positions of extremes against base R along every dimension.

cumulative <- list(
  nv_cumsum = cumsum, nv_cumprod = cumprod, nv_cummin = cummin, nv_cummax = cummax
)

along_in_r <- function(x, dim, f) {
  extents <- dim(x)
  if (length(x) == 0L) {
    return(x)
  }
  order <- c(dim, setdiff(seq_along(extents), dim))
  lines <- matrix(aperm(x, order), extents[dim])
  done <- array(apply(lines, 2, f), extents[order])
  aperm(done, order(order))
}

position_in_r <- function(x, dim, f) {
  extents <- dim(x)
  order <- c(dim, setdiff(seq_along(extents), dim))
  at <- apply(matrix(aperm(x, order), extents[dim]), 2, f)
  if (length(extents) > 2L) array(at, extents[-dim]) else as.vector(at)
}

# Small whole numbers that every dtype but bool holds, products included for a short line.
whole_array <- function(dtype, extents) {
  values <- if (dtype == "bool") 0:1 else if (kind_of(dtype) == "uint") 0:3 else -2:2
  values <- held_of(values, dtype)
  array(as.numeric(values[sample.int(length(values), prod(extents), TRUE)]), extents)
}

test_that("every dtype, rank and dimension, as in base R", {
  set.seed(1)
  for (d in setdiff(dtypes(), complexes())) {
    for (rank in if (is_narrow(d)) 2 else 1:4) {
      v <- whole_array(d, c(3L, 2L, 5L, 2L)[seq_len(rank)])
      x <- nv_tensor(v, d)
      in_dtype <- function(x) if (d %in% floats()) round_to(x, d) else x
      for (name in names(cumulative)) {
        f <- getExportedValue("joist", name)
        # Integers have one zero.
        zero <- if (kind_of(d) == "float") -0 else 0
        everything <- as_array(f(x), "double")
        want <- in_dtype(cumulative[[name]](as.vector(v)) + zero)
        expect_values(everything, want, paste(name, d, rank))
        for (dim in seq_len(rank)) {
          want <- in_dtype(along_in_r(v, dim, cumulative[[name]]) + zero)
          if (rank == 1L) want <- as.vector(want)
          expect_values(as_array(f(x, dim), "double"), want, paste(name, d, rank, dim))
          expect_identical(f(x, dim - rank - 1L), f(x, dim))
        }
      }
    }
  }
})

test_that("complex sums and products", {
  for (d in complexes()) {
    v <- matrix(complex_values(d)[2:7], 2)
    x <- nv_tensor(v, d)
    digits <- complex_tolerance(d, 1e-6, 1e-14)
    expect_equal(as_array(cumsum(x)), cumsum(v), tolerance = digits)
    expect_equal(as_array(cumprod(x)), cumprod(v), tolerance = digits)
    expect_equal(as_array(nv_cumsum(x, 2)), along_in_r(v, 2, cumsum), tolerance = digits)
    expect_error(nv_cummax(x), d, class = "joist_dtype_error")
    expect_error(nv_argmin(x), d, class = "joist_dtype_error")
  }
})

test_that("base R's generics go over all elements", {
  v <- matrix(c(3, 1, 2, 1, 4, 6), 2)
  for (d in dtypes_with(v, floats())) {
    x <- nv_tensor(v, d)
    expect_identical(as_array(cumsum(x)), round_to(cumsum(v), d))
    expect_identical(as_array(cumprod(x)), round_to(cumprod(v), d))
    expect_identical(as_array(cummin(x)), cummin(v))
    expect_identical(as_array(cummax(x)), cummax(v))
  }
})

test_that("dtypes are those of the reductions", {
  for (d in dtypes()) {
    for (flag in c(FALSE, TRUE)) {
      x <- nv_aval(d, c(2, 3), ambiguous = flag)
      expect_identical(type_of(nv_cumsum(x)), type_of(nv_reduce_sum(x)))
      expect_identical(type_of(nv_cumprod(x, 1)), type_of(nv_reduce_prod(x)))
      if (kind_of(d) == "complex") next
      expect_identical(type_of(nv_cummin(x)), type_of(nv_reduce_min(x)))
      expect_identical(type_of(nv_argmax(x)), "i32")
    }
    for (to in setdiff(partners_of(d), "bool")) {
      if (kind_of(d) == "complex" || !has_zero(d)) next
      values <- if (d == "bool") c(1, 0, 1, 1) else held(c(1, 0, 1, 1), d)
      got <- nv_cumsum(nv_tensor(values, d), dtype = to)
      expect_identical(type_of(got), to)
      if (d == "int1" && kind_of(to) == "uint") next
      want <- if (kind_of(to) == "complex") cumsum(values) else converted_to(cumsum(values), to)
      expect_true(all(as_array(got) == want), label = paste(d, to))
    }
  }
  x <- nv_tensor(c(100, 100, 100), "i8")
  expect_identical(as_array(nv_cumsum(x, dtype = "i8")), c(100L, -56L, 44L))
  expect_identical(as_array(nv_cumsum(c(0.1, 0.2))), round_to(c(0.1, 0.1 + 0.2), "f32"))
})

test_that("NaN goes on to the end; the first NaN is the extreme", {
  for (d in Filter(has_nan, floats())) {
    for (n in if (is_narrow(d)) 600 else c(5, 600, 5000)) {
      for (at in unique(c(1, n %/% 2 + 1, n))) {
        v <- replace(held(as.numeric(seq_len(n) %% 7), d), at, NaN)
        x <- nv_tensor(v, d)
        want <- v
        want[seq_len(at - 1)] <- cummax(v[seq_len(at - 1)])
        want[at:n] <- NaN
        expect_values(as_array(cummax(x)), want, paste("cummax", d, n, at))
        expect_true(all(is.nan(as_array(cumsum(x))[at:n])))
        x[[1]] <- NaN
        expect_identical(as_array(nv_argmin(x)), 1L)
        y <- nv_tensor(matrix(c(v, v), ncol = 2), d)
        expect_identical(as_array(nv_argmax(y, 1)), c(as.integer(at), as.integer(at)))
        expect_identical(as_array(nv_argmin(t(y), 2)), c(as.integer(at), as.integer(at)))
      }
    }
    if (!has_infinity(d)) next
    infinite <- nv_tensor(c(1, Inf, -Inf, 0), d)
    expect_identical(as_array(cumsum(infinite)), c(1, Inf, NaN, NaN))
    expect_identical(as_array(nv_argmax(infinite)), 2L)
    expect_identical(as_array(nv_argmin(infinite)), 3L)
  }
})

test_that("positions are those of which.min() and which.max(), the first of equals", {
  set.seed(2)
  for (d in setdiff(dtypes(), complexes())) {
    for (rank in if (is_narrow(d)) 3 else 1:4) {
      v <- whole_array(d, c(4L, 3L, 2L, 3L)[seq_len(rank)])
      x <- nv_tensor(v, d)
      expect_identical(as_array(nv_argmin(x)), which.min(v))
      expect_identical(as_array(nv_argmax(x)), which.max(v))
      expect_identical(shape(nv_argmax(x, drop = FALSE)), rep(1L, rank))
      for (dim in seq_len(rank)) {
        got <- nv_argmax(x, dim)
        expect_values(as_array(got), position_in_r(v, dim, which.max), paste(d, rank, dim))
        expect_values(as_array(nv_argmin(x, dim)), position_in_r(v, dim, which.min), d)
        kept <- nv_argmax(x, dim, drop = FALSE)
        expect_identical(shape(kept), replace(dim(v), dim, 1L))
        expect_identical(nv_reshape(kept, shape(got)), got)
      }
    }
  }
  v <- matrix(round(rnorm(3e5), 2), 1000)
  for (d in c("f64", "f32", "i32")) {
    if (d == "i32") v <- round(100 * v)
    x <- nv_tensor(v, d)
    expect_identical(as_array(nv_argmax(x, 1)), apply(v, 2, which.max))
    expect_identical(as_array(nv_argmin(x, 2)), apply(v, 1, which.min))
    expect_identical(as_array(nv_argmin(x)), which.min(v))
  }
})

test_that("no elements", {
  for (d in dtypes()) {
    none <- nv_tensor(sample_values(d, 0), d, c(0, 3))
    expect_identical(shape(nv_cumsum(none, 2)), c(0L, 3L))
    expect_identical(shape(nv_cumprod(none)), 0L)
    if (kind_of(d) == "complex") next
    expect_identical(shape(nv_cummax(none, 1)), c(0L, 3L))
    expect_identical(shape(nv_argmax(none, 2)), 0L)
    expect_error(nv_argmax(none, 1), "at least one element", class = "joist_value_error")
    expect_error(nv_argmin(none), "at least one element", class = "joist_value_error")
  }
  expect_identical(as_array(nv_cumsum(nv_scalar(3))), 3)
  expect_identical(as_array(nv_argmax(nv_scalar(3))), 1L)
})

test_that("what does not fit is refused, also before there is data", {
  x <- nv_tensor(matrix(1:6, 2))
  expect_error(nv_cumsum(x, 3), "3", class = "joist_shape_error")
  expect_error(nv_argmax(x, 0), class = "joist_shape_error")
  expect_error(nv_argmax(x, drop = NA), "drop", class = "joist_value_error")
  expect_error(nv_cumsum(x, dtype = "f33"), class = "joist_dtype_error")
  huge <- nv_aval("i8", c(65536, 65536))
  expect_error(nv_cumsum(huge), "dim", class = "joist_shape_error")
  expect_error(nv_argmax(huge), "i32", class = "joist_shape_error")
  expect_identical(shape(nv_argmax(huge, 1)), 65536L)
  expect_error(jit(function(x) nv_cumsum(x, 3))(x), class = "joist_shape_error")
})

test_that("compiled functions give the same", {
  set.seed(3)
  v <- matrix(round(rnorm(60), 2), 6)
  f <- function(x) {
    list(
      nv_cumsum(x * 2, 2), cumprod(x), nv_cummax(x, 1) - 1, nv_argmin(x, 2), nv_argmax(-x),
      nv_cumsum(x, 1, dtype = "f64")
    )
  }
  # i4 has no common dtype with the doubles in f.
  for (d in dtypes_with(0:2, setdiff(dtypes_of("float", "int"), c("i64", "i4")))) {
    values <- if (kind_of(d) == "int") round(v) else v
    x <- nv_tensor(if (is_narrow(d)) array(held(values, d), dim(v)) else values, d)
    expect_identical(jit(f)(x), f(x))
  }
})

test_that("the bits do not depend on the number of threads", {
  old <- nv_set_threads(1)
  on.exit(nv_set_threads(old))
  set.seed(4)
  v <- rnorm(1.2e6)
  compute <- function(threads) {
    nv_set_threads(threads)
    lapply(c("f32", "f64", "c64"), function(d) {
      m <- nv_tensor(v, d, c(1000, 1200))
      list(cumsum(m), nv_cumsum(m, 1), nv_cumsum(m, 2), cumprod(m), nv_argmax(abs(m)))
    })
  }
  one <- compute(1)
  expect_identical(compute(2), one)
  expect_identical(compute(64), one)
})
