# Unique elements, sets, histograms, orders and integrals beside base R.

large <- c("9007199254740993", "9007199254740992", "9007199254740993", "-1", "5")

test_that("unique elements come with their positions and counts", {
  x <- c(3, 1, NA, 3, NaN, -0, 0, NA, 1)
  for (d in c("f16", "f32", "f64")) {
    made <- nv_unique(nv_tensor(x, d), TRUE, TRUE, TRUE)
    values <- unique(c(3, 1, NA, 3, NaN, 0, 0, NA, 1))
    expect_equal(as_array(made$values), values)
    at <- match(x, values)
    expect_identical(as_array(made$inverse), at)
    expect_identical(as_array(made$counts, "double"), as.numeric(tabulate(at, length(values))))
    expect_identical(as_array(made$index), match(values, x))
  }
  whole <- nv_unique(nv_tensor(large, "i64"), counts = TRUE)
  expect_identical(as.character(whole$values), unique(large))
  expect_identical(as_array(whole$counts, "double"), c(2, 1, 1, 1))
  expect_identical(nv_unique(nv_tensor(c(2L, 2L))), nv_tensor(2L))
  expect_identical(shape(nv_unique(nv_tensor(diag(2)), inverse = TRUE)$inverse), c(2L, 2L))
  expect_error(jit(nv_unique)(nv_tensor(1)), class = "joist_value_error")
})

test_that("sets of 64-bit integers are exact", {
  x <- nv_tensor(large, "i64")
  y <- nv_tensor(c("9007199254740992", "7", "5"), "i64")
  text <- function(f) as.character(f(x, y))
  expect_identical(text(nv_union), union(large, as.character(y)))
  expect_identical(text(nv_intersect), intersect(large, as.character(y)))
  expect_identical(text(nv_setdiff), setdiff(large, as.character(y)))
  for (d in c("ui8", "i32", "f32")) {
    a <- c(3, 1, 3, 7)
    b <- c(7, 2, 2)
    for (f in c("union", "intersect", "setdiff")) {
      made <- get(paste0("nv_", f))(nv_tensor(a, d), nv_tensor(b, d))
      expect_identical(as_array(made, "double"), get(f)(a, b))
      expect_true(dtype(made) == d)
    }
  }
  expect_identical(as.character(nv_setdiff(nv_tensor("18446744073709551615", "ui64"), -1L)), {
    "18446744073709551615"
  })
})

test_that("histograms count as hist(), also by weights and as densities", {
  x <- c(1, 2, 2, 3.5, 4, 0.5, NaN, NA, 9)
  breaks <- c(0.5, 1, 2, 4)
  own <- hist(x[x <= 4], breaks, plot = FALSE, right = FALSE, include.lowest = TRUE)
  made <- nv_histogram(nv_tensor(x), breaks)
  expect_identical(as_array(made$counts, "double"), as.numeric(own$counts))
  expect_equal(as_array(made$breaks), breaks)
  density <- nv_histogram(nv_tensor(x), breaks, density = TRUE)
  expect_equal(as_array(density$counts), own$density)
  weights <- nv_tensor(seq_along(x) / 8)
  sums <- nv_histogram(nv_tensor(x), breaks, weights = weights)$counts
  bin <- findInterval(x, breaks, rightmost.closed = TRUE)
  expect_equal(as_array(sums), as.vector(tapply(seq_along(x) / 8, factor(bin, 1:3), sum)))
  plain <- nv_tensor(c(1L, 4L, 4L, 5L, 9L), "ui8")
  equal <- nv_histogram(plain, 4)
  expect_identical(as_array(equal$breaks), c(1, 3, 5, 7, 9))
  expect_identical(as_array(equal$counts, "double"), c(1, 2, 1, 1))
  expect_identical(jit(function(x) nv_histogram(x, 4))(plain), equal)
  expect_identical(as_array(nv_histogram(plain, 2, c(4, 8))$counts, "double"), c(3, 0))
  expect_identical(as_array(nv_histogram(nv_tensor(c(2, 2)), 2)$breaks), c(1.5, 2, 2.5))
  # R's breaks are not rounded to the dtype of the elements.
  whole <- c(16777216, 16777218, 16777220)
  counts <- function(x, breaks) as.vector(nv_histogram(x, breaks)$counts, "double")
  expect_identical(counts(nv_tensor(whole, "f32"), 16777216:16777220 + 0), c(1, 0, 1, 1))
  expect_identical(counts(nv_tensor(c(2048, 2050, 2052), "f16"), 2048:2052 + 0), c(1, 0, 1, 1))
  expect_identical(counts(nv_tensor(c(0.1, 0.7), "f32"), c(0, 0.1, 0.7, 1)), c(0, 2, 0))
  expect_error(nv_histogram(nv_tensor(c(1, Inf)), 3), class = "joist_value_error")
})

test_that("intervals are those of findInterval() and cut(), exact beyond 2^53", {
  x <- c(0.5, 1, 2, 3, 3.5, NA)
  breaks <- c(1, 2, 3)
  for (right in c(FALSE, TRUE)) {
    made <- as_array(nv_digitize(nv_tensor(x), breaks, right))
    expect_identical(made, findInterval(x, breaks, left.open = right))
    for (lowest in c(FALSE, TRUE)) {
      whole <- nv_tensor(c(0:4, NA), "i64")
      expect_identical(
        cut(whole, breaks, include.lowest = lowest, right = right),
        cut(c(0:4, NA), breaks, include.lowest = lowest, right = right)
      )
    }
  }
  expect_identical(cut(nv_tensor(1:3, "i64"), 1:3, FALSE), cut(1:3, 1:3, FALSE))
  expect_identical(cut(nv_tensor(1:3, "i64"), 1:3, c("a", "b"), ordered_result = TRUE), {
    cut(1:3, 1:3, c("a", "b"), ordered_result = TRUE)
  })
  exact <- nv_tensor(c("9007199254740992", "9007199254740993", "9007199254740994"), "i64")
  expect_identical(as.integer(cut(exact, exact)), c(NA, 1L, 2L))
  expect_identical(levels(cut(exact, exact, include.lowest = TRUE))[1], {
    "[9007199254740992,9007199254740993]"
  })
})

test_that("bins add up weights, in their dtype", {
  bin <- c(2L, 3L, 2L, 0L, 9L, NA)
  for (d in c("f32", "f64", "i16", "ui64")) {
    made <- nv_tabulate(nv_tensor(bin), 3, nv_tensor(c(1, 2, 4, 8, 16, 32), d))
    expect_identical(as_array(made, "double"), c(0, 5, 2))
    expect_true(dtype(made) == if (d == "i16") "i64" else d)
  }
  slopes <- gradient(function(w) sum(nv_tabulate(nv_tensor(bin), 3, w) * c(1, 2, 3)))
  expect_identical(as_array(slopes(nv_tensor(numeric(6) + 1))$w), c(2, 3, 2, 0, 0, 0))
  expect_error(nv_tabulate(1:2, 3, nv_tensor(1:3)), class = "joist_shape_error")
})

test_that("several keys sort as order(), and few elements are sorted before the others", {
  set.seed(1)
  a <- sample(3, 40, TRUE)
  b <- sample(4, 40, TRUE) / 2
  both <- nv_lexsort(nv_tensor(a, "i8"), nv_tensor(b))
  expect_identical(as_array(both), order(a, b))
  turned <- nv_lexsort(nv_tensor(a), nv_tensor(b), decreasing = c(TRUE, FALSE))
  expect_identical(as_array(turned), order(-a, b))
  expect_identical(jit(nv_lexsort)(nv_tensor(a, "i8"), nv_tensor(b)), both)
  keys <- list(matrix(a, 8), matrix(b, 8))
  along <- as_array(nv_lexsort(nv_tensor(keys[[1]]), nv_tensor(keys[[2]]), dim = 2))
  expect_identical(along, t(sapply(1:8, function(i) order(keys[[1]][i, ], keys[[2]][i, ]))))
  expect_error(nv_lexsort(), class = "joist_value_error")
  expect_error(nv_lexsort(1:2, 1:3), class = "joist_shape_error")
  x <- sample(40) / 4
  for (k in c(0, 1, 7, 40)) {
    made <- as_array(nv_partition(nv_tensor(x), k))
    expect_identical(made, c(sort(x)[seq_len(k)], x[!x %in% sort(x)[seq_len(k)]]))
  }
  rows <- as_array(nv_partition(nv_tensor(matrix(x, 8)), 2, dim = 2, decreasing = TRUE))
  expect_identical(rows[, 1:2], t(apply(matrix(x, 8), 1, sort, decreasing = TRUE))[, 1:2])
  expect_identical(apply(rows, 1, sort), apply(matrix(x, 8), 1, sort))
})

test_that("elements are put where nv_take_along() takes them", {
  x <- nv_tensor(matrix(as.numeric(1:12), 3))
  for (dim in 1:2) {
    at <- nv_argsort(x, dim, TRUE)
    taken <- nv_take_along(x, at, dim)
    expect_identical(nv_put_along(x * 0, at, taken, dim), x)
    expect_identical(jit(function(x, at) nv_put_along(x, at, 5, dim))(x, at), x * 0 + 5)
  }
  one <- nv_put_along(x, nv_tensor(matrix(c(3L, 1L, 2L, 2L), 1)), c(0, -1, -2, -3), 1)
  want <- as_array(x)
  want[cbind(c(3, 1, 2, 2), 1:4)] <- c(0, -1, -2, -3)
  expect_identical(as_array(one), want)
  expect_error(nv_put_along(x, nv_tensor(matrix(1L)), 0, 1), class = "joist_shape_error")
})

test_that("integrals are those of the trapezoids, percentages are probabilities", {
  y <- matrix(c(1, 4, 9, 16, 25, 36), 3)
  x <- c(0, 1, 3)
  rule <- function(y, x) sum(diff(x) * (utils::head(y, -1) + y[-1]) / 2)
  expect_equal(as_array(nv_trapz(nv_tensor(y), nv_tensor(x))), apply(y, 2, rule, x))
  expect_equal(as_array(nv_trapz(nv_tensor(y), dx = 2, dim = 2)), apply(y, 1, rule, c(0, 2)))
  expect_equal(as_array(nv_trapz(nv_tensor(c(200L, 250L), "ui8"))), 225)
  expect_equal(as_array(nv_trapz(nv_tensor(c(1i, 3)))), 1.5 + 0.5i)
  expect_equal(as_array(nv_trapz(nv_tensor(5))), 0)
  check_gradient(function(y, x) sum(nv_trapz(y, x)^2), y[, 1], x)
  expect_error(nv_trapz(nv_tensor(y), 1:2), class = "joist_shape_error")
  z <- nv_tensor(c(1, 5, 2))
  expect_identical(nv_percentile(z, c(10, 50)), nv_quantile(z, c(0.1, 0.5)))
  expect_error(nv_percentile(z, 101), class = "joist_value_error")
})

test_that("nv_unique() keeps integer64", {
  key <- as_array(nv_tensor(c("123456789", "9007199254740993", "123456789"), "i64"), "integer64")
  expect_identical(nv_unique(key), nv_tensor(c("123456789", "9007199254740993"), "i64"))
  expect_identical(as.vector(nv_unique(key, counts = TRUE)$counts), c(2, 1))
})

test_that("R numbers that do not fit the dtype are an error in nv_union()", {
  x <- nv_tensor(c(44, 1), "ui8")
  expect_error(nv_union(x, c(300L, 1L)), "does not fit ui8", class = "joist_value_error")
  expect_error(nv_union(300L, x), "does not fit ui8", class = "joist_value_error")
  expect_identical(nv_union(x, c(30L, 1L)), nv_tensor(c(44, 1, 30), "ui8"))
})

test_that("integrals are of sums in the dtype of the result", {
  y <- c(0.5, 2.5, -3, 1e10, 7, 0.25)
  for (d in c("f32", "f64")) for (e in setdiff(c("f32", "f64"), if (d == "f32") "f32")) {
    made <- nv_trapz(nv_tensor(y, d), nv_tensor(0:5, e))
    expect_identical(as.vector(made), sum((y[-1] + y[-6]) / 2))
  }
})

test_that("no two R doubles of a set become one", {
  x <- c(0.1, 0.1 + 1e-12, 16777216, 16777217, 0.1)
  expect_identical(as_array(nv_unique(x)), unique(x))
  expect_identical(as_array(nv_unique(x, inverse = TRUE)$values), unique(x))
  expect_identical(as_array(nv_union(x, rev(x) + 1)), union(x, rev(x) + 1))
  expect_identical(as_array(nv_intersect(x, x[3:4])), x[3:4])
  expect_identical(as_array(nv_setdiff(x, nv_tensor(3, "f32"))), unique(x))
  expect_identical(type_of(nv_unique(x) * nv_tensor(1, "f32")), "f32")
})

test_that("sets of R's complex numbers keep these in full", {
  x <- c(1 + 1e-10 + 0i, 1 + 0i)
  expect_length(nv_unique(x), 2L)
  expect_length(nv_union(x[1], x[2]), 2L)
  expect_identical(as_array(nv_setdiff(x, x[2])), x[1])
  expect_identical(dtype(nv_union(nv_tensor(1i, "c64"), 2 + 0i)), as_dtype("c64"))
})

test_that("weights of a histogram may have the shape of the elements", {
  m <- matrix(1:6, 3)
  found <- nv_histogram(nv_tensor(m), c(0, 3, 7), weights = nv_tensor(m, "f64"))$counts
  expect_identical(as_array(found), c(3, 18))
  expect_identical(as_array(nv_histogram(m, c(0, 3, 7), weights = m * 1)$counts), c(3, 18))
  expect_error(nv_histogram(m, 2, weights = t(m)), class = "joist_shape_error")
})
