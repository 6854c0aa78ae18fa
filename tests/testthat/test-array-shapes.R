# Padding, triangles, diagonals, parts, gathers and the generics over them, against base R.

some_dtypes <- c("ui8", "bool", "i16", "f16", "f32", "i32", "f64", "i64", "c64", "c128")

values_of <- function(dtype, extents) {
  v <- rep_len(sample_values(dtype, 6), prod(extents))
  v <- v[sample.int(length(v))]
  if (dtype %in% c("i8", "i16", "i32", "ui8", "ui16")) v <- as.integer(v)
  if (length(extents) > 1L) array(v, extents) else v
}

# The operation, traced, gives the same; and so do its dtype and shape without data.
expect_everywhere <- function(f, x, want, label) {
  got <- f(x)
  ok <- identical(as_array(got), want) && identical(type_of(got), type_of(x))
  if (!ok) fail(paste0(label, ": got ", deparse1(as_array(got)), ", want ", deparse1(want)))
  if (!identical(jit(f)(x), got)) fail(paste("jit:", label))
  abstract <- f(nv_aval(dtype(x), shape(x)))
  if (!identical(shape(abstract), shape(got)) || type_of(abstract) != type_of(got)) {
    fail(paste("nv_aval:", label))
  }
}

# Padding one element at a time: where each element goes, if anywhere.
padded <- function(v, low, high, interior, value) {
  extents <- if (is.null(dim(v))) length(v) else dim(v)
  grown <- low + high + extents + pmax(extents - 1, 0) * interior
  out <- array(value, grown)
  for (k in seq_along(v)) {
    at <- as.vector(arrayInd(k, extents))
    to <- low + (at - 1) * (interior + 1) + 1
    if (all(to >= 1 & to <= grown)) out[matrix(to, 1)] <- v[k]
  }
  if (length(grown) == 1L) as.vector(out) else out
}

test_that("nv_pad() puts values around and between elements, and removes some", {
  set.seed(21)
  for (round in 1:150) {
    d <- sample(some_dtypes, 1)
    rank <- sample(3, 1)
    extents <- sample(0:4, rank, TRUE)
    v <- values_of(d, extents)
    x <- nv_tensor(v, d, shape = extents)
    interior <- sample(0:2, rank, TRUE)
    full <- extents + pmax(extents - 1, 0) * interior
    low <- vapply(full, function(n) sample((-min(n, 2)):3, 1), 1)
    high <- vapply(full + low, function(n) sample((-min(n, 2)):3, 1), 1)
    value <- values_of(d, 1)
    f <- function(x) nv_pad(x, nv_scalar(value, d), low, high, interior_padding = interior)
    expect_everywhere(f, x, padded(v, low, high, interior, value), paste("round", round, d))
  }
  # Edges beyond all elements.
  for (n in 0:3) {
    for (low in -5:5) {
      for (high in max(-5, -n - low):5) {
        found <- as.vector(as_array(nv_pad(nv_tensor(seq_len(n), shape = n), 9L, low, high)))
        expect_identical(found, as.integer(padded(seq_len(n), low, high, 0, 9L)))
      }
    }
  }
  x <- nv_tensor(1:3, "i8")
  expect_identical(as_array(nv_pad(x, 0L, 1, 2)), c(0L, 1:3, 0L, 0L))
  expect_identical(as_array(nv_pad(x, 7L, 1, 0)), c(7L, 1:3))
  expect_identical(as_array(nv_pad(nv_tensor(TRUE, shape = 1L), FALSE, 1, 0)), c(FALSE, TRUE))
  expect_identical(as_array(jit(function(x, v) nv_pad(x, v, 1, 0))(x, 9L)), c(9L, 1:3))
  expect_error(nv_pad(x, 300L, 1, 0), "300", class = "joist_value_error")
  expect_error(nv_pad(x, 0.5, 1, 0), class = "joist_promotion_error")
  expect_error(nv_pad(x, 0L, -2, -2), class = "joist_shape_error")
  expect_error(nv_pad(x, 0L, c(1, 1), 0), "low", class = "joist_shape_error")
  expect_error(nv_pad(x, 0L, 1, 0.5), "high", class = "joist_shape_error")
  expect_error(nv_pad(x, 0L, 1, 1, interior_padding = -1), "interior", class = "joist_shape_error")
  expect_error(nv_pad(x, nv_tensor(1:2, "i8"), 1, 1), class = "joist_shape_error")
})

test_that("nv_pad() of a large matrix puts values around it on any number of threads", {
  x <- matrix(stats::rnorm(7e5), 700)
  want <- matrix(0, 703, 1005)
  want[2 + 1:700, 3 + 1:1000] <- x
  old <- nv_set_threads(1)
  on.exit(nv_set_threads(old))
  for (threads in 1:3) {
    nv_set_threads(threads)
    expect_identical(as_array(nv_pad(nv_tensor(x, "f64"), 0, c(2, 3), c(1, 2))), want)
  }
})

test_that("triangles and diagonals are those of base R", {
  set.seed(22)
  for (d in some_dtypes) {
    for (extents in list(c(3, 3), c(2, 4), c(4, 2), c(0, 3), c(3, 0), c(3, 3, 2))) {
      v <- values_of(d, extents)
      x <- nv_tensor(v, d)
      offset <- slice.index(v, 2) - slice.index(v, 1)
      none <- as.vector(v, typeof(v))[0]
      none[1] <- as.vector(FALSE, typeof(v))
      for (k in c(-5, -1, 0, 1, 2)) {
        label <- paste(d, deparse1(extents), k)
        expect_everywhere(function(x) nv_tril(x, k), x, replace(v, offset > k, none), label)
        expect_everywhere(function(x) nv_triu(x, k), x, replace(v, offset < k, none), label)
      }
      if (length(extents) != 2L) next
      label <- paste(d, deparse1(extents), "diagonal")
      n <- min(extents)
      expect_everywhere(nv_diag, x, v[cbind(seq_len(n), seq_len(n))], label)
    }
    for (n in 0:4) {
      v <- values_of(d, n)
      want <- array(as.vector(FALSE, typeof(v)), c(n, n))
      want[cbind(seq_len(n), seq_len(n))] <- v
      expect_everywhere(nv_diag, nv_tensor(v, d, shape = n), want, paste(d, n))
    }
  }
  for (rows in list(NULL, c("a", "b"), c("a", "x"))) {
    v <- matrix(1:6, 2, dimnames = list(rows, c("a", "b", "c")))
    for (names in c(TRUE, FALSE)) {
      expect_identical(as_array(diag(nv_tensor(v), names = names)), diag(v, names = names))
    }
    expect_identical(as_array(jit(nv_diag)(nv_tensor(v))), diag(v))
  }
  m <- nv_tensor(matrix(1:6, 2))
  expect_identical(lower.tri(m), lower.tri(matrix(1:6, 2)))
  expect_identical(as_array(m[upper.tri(m)]), c(3L, 5L, 6L))
  # What is left out does not matter, were it NaN.
  expect_identical(as_array(nv_tril(nv_tensor(matrix(NaN, 2, 2)))), matrix(c(NaN, NaN, 0, NaN), 2))
  expect_error(nv_tril(nv_tensor(1:3)), class = "joist_shape_error")
  expect_error(nv_diag(nv_scalar(1)), class = "joist_shape_error")
  expect_error(nv_diag(nv_fill(1, c(2, 2, 2), "f32")), class = "joist_shape_error")
})

test_that("tensors are split into parts that concatenate to the whole, and into groups", {
  v <- array(1:24, c(2, 6, 2))
  x <- nv_tensor(v, "i16")
  for (n in c(1, 2, 3, 6)) {
    parts <- nv_split(x, n, dim = 2)
    expect_length(parts, n)
    expect_identical(do.call(nv_concatenate, c(parts, dim = 2)), x)
    expect_identical(jit(function(x) nv_split(x, n, 2))(x), parts)
  }
  parts <- nv_split(x, dim = 2, sizes = c(0, 1, 0, 5))
  expect_identical(lapply(parts, as_array), list(
    v[, integer(), ], v[, 1, , drop = FALSE], v[, integer(), ], v[, 2:6, ]
  ))
  expect_refusal(
    nv_split(x, 3, 2, sizes = c(1, 5)), "joist_value_error", c("`n`", "`sizes`", "2 elements")
  )
  expect_identical(nv_split(x, 2, 2, sizes = c(1, 5)), nv_split(x, dim = 2, sizes = c(1, 5)))
  whole <- expect_refusal(nv_tril(x, "a"), "joist_shape_error", "`diagonal` must be a whole number")
  expect_no_match(conditionMessage(whole), "dimensions")
  expect_error(nv_split(x, dim = 2, sizes = "a"), "whole numbers$", class = "joist_shape_error")
  expect_error(nv_split(x, 4, 2), "no 4 equal parts", class = "joist_shape_error")
  expect_error(nv_split(x, 0, 2), class = "joist_shape_error")
  expect_error(nv_split(x, dim = 2, sizes = c(1, 4)), "add up", class = "joist_shape_error")
  expect_error(nv_split(x, 2, 4), class = "joist_shape_error")
  y <- nv_tensor(c(5, 1, 4, 2), "f16")
  f <- factor(c("b", "a", "b", "a"), levels = c("a", "b", "c"))
  for (drop in c(TRUE, FALSE)) {
    want <- split(c(5, 1, 4, 2), f, drop = drop)
    expect_identical(lapply(split(y, f, drop = drop), as.vector), want)
  }
  expect_identical(split(y, nv_tensor(c(1L, 2L, 1L, 2L))), split(y, c(1, 2, 1, 2)))
})

test_that("arrays are broadcast to their common shape", {
  a <- nv_tensor(matrix(1:2, 2), "i8")
  b <- nv_tensor(matrix(c(0.5, 1, 2), 1), "f16")
  got <- nv_broadcast_arrays(a, b, TRUE)
  expect_identical(as_array(got[[1]]), matrix(1:2, 2, 3))
  expect_identical(as_array(got[[2]]), matrix(c(0.5, 1, 2), 2, 3, byrow = TRUE))
  expect_identical(as_array(got[[3]]), matrix(TRUE, 2, 3))
  expect_identical(vapply(got, type_of, ""), c("i8", "f16", "bool"))
  expect_identical(jit(function(a, b) nv_broadcast_arrays(a, b))(a, b), got[1:2])
  expect_identical(nv_broadcast_arrays(), list())
  expect_error(nv_broadcast_arrays(a, nv_tensor(1:2)), "nv_unsqueeze",
    class = "joist_shape_error"
  )
  expect_error(nv_broadcast_arrays(a, nv_tensor(matrix(1:3, 3))), class = "joist_shape_error")
})

test_that("nv_outer() is outer()", {
  for (x in list(1:3, matrix(1:4, 2))) {
    for (y in list(c(2L, -1L), array(1:8, c(2, 2, 2)), 5:6)) {
      want <- outer(x, y)
      got <- nv_outer(nv_tensor(x), nv_tensor(y))
      expect_identical(as_array(got), array(as.integer(want), dim(want)))
      expect_identical(jit(function(x, y) nv_outer(x, y))(nv_tensor(x), nv_tensor(y)), got)
      expect_identical(as_array(nv_outer(nv_tensor(x), nv_tensor(y), "-")), outer(x, y, "-"))
    }
  }
  expect_identical(type_of(nv_outer(nv_tensor(1:2, "i8"), nv_tensor(1, "f16"))), "f16")
  expect_identical(shape(nv_outer(nv_scalar(2), nv_tensor(1:3, "f32"))), 3L)
})

test_that("nv_gather() takes positions of any integer dtype along any dimension", {
  set.seed(23)
  for (round in 1:100) {
    d <- sample(some_dtypes, 1)
    rank <- sample(3, 1)
    extents <- sample(4, rank, TRUE)
    v <- values_of(d, extents)
    x <- nv_tensor(v, d, shape = extents)
    dim <- sample(rank, 1)
    n <- sample(0:5, 1)
    i <- sample(extents[dim], n, TRUE)
    types <- Filter(function(d) all(holds(i, d)), ints())
    index <- nv_tensor(i, sample(types, 1), shape = n)
    arguments <- rep(list(TRUE), rank)
    arguments[[dim]] <- i
    want <- do.call(`[`, c(list(array(v, extents)), arguments, list(drop = FALSE)))
    if (rank == 1L) want <- as.vector(want)
    label <- paste("round", round, d)
    expect_everywhere(function(x) nv_gather(x, index, dim), x, want, label)
    expect_identical(jit(nv_gather, static = "dim")(x, index, dim = dim), nv_gather(x, index, dim))
  }
  m <- nv_tensor(matrix(1:6, 2))
  expect_identical(as_array(nv_gather(m, 3, -1)), c(5L, 6L))
  expect_identical(as_array(nv_gather(m, c(2, 1))), matrix(c(2L, 1L, 4L, 3L, 6L, 5L), 2))
  expect_identical(shape(nv_gather(m, nv_tensor(matrix(1:2, 2, 2)), 2)), c(2L, 2L, 2L))
  expect_identical(as_array(jit(function(m, i) nv_gather(m, i, 2))(m, 2)), c(3L, 4L))
  late <- function(code, pattern) expect_error(code, pattern, class = "joist_shape_error")
  late(nv_gather(m, c(1, 2, 4), 2), "index 4 at position 3 of dimension 2")
  late(nv_gather(m, 0), "index 0 at position 1")
  late(jit(function(m, i) nv_gather(m, i))(m, nv_tensor(-1L)), "index -1 at position 1")
  late(nv_gather(m, nv_tensor(255, "ui8")), "index 255")
  expect_error(nv_gather(m, 1.5), "1.5", class = "joist_value_error")
  expect_error(nv_gather(m, nv_tensor(1, "f32")), class = "joist_dtype_error")
  expect_error(nv_gather(m, nv_tensor(TRUE)), class = "joist_dtype_error")
  expect_error(nv_gather(m, 1, 3), class = "joist_shape_error")
})

test_that("diff(), scale() and sweep() are those of base R", {
  set.seed(24)
  for (v in list(c(1, 4, 9, 16, 30), matrix(c(3, 1, 4, 1, 5, 9, 2, 6), 4), 7)) {
    x <- nv_tensor(v, "f64")
    for (lag in 1:2) {
      for (times in 1:3) {
        want <- diff(v, lag, times)
        got <- diff(x, lag, times)
        expect_identical(as.vector(got), as.vector(want))
        expect_identical(jit(function(x) diff(x, lag, times))(x), got)
      }
    }
  }
  expect_identical(as_array(diff(nv_tensor(c(3, 1), "ui8"))), 254L)
  expect_error(diff(nv_tensor(c(TRUE, FALSE))), class = "joist_dtype_error")
  expect_error(diff(nv_tensor(1:3), 0), class = "joist_shape_error")
  expect_error(diff(nv_scalar(1)), class = "joist_shape_error")
  v <- matrix(rnorm(12), 4)
  x <- nv_tensor(v, "f64")
  bare <- function(m) {
    attributes(m) <- attributes(m)["dim"]
    m
  }
  for (center in list(TRUE, FALSE, c(1, 2, 3))) {
    for (scale in list(TRUE, FALSE, c(2, 4, 8))) {
      want <- bare(scale(v, center, scale))
      got <- scale(x, center, scale)
      expect_equal(as_array(got), want, tolerance = 1e-14)
      expect_identical(jit(function(x) scale(x, center, scale))(x), got)
    }
  }
  v <- matrix(c(1, 2, NaN, 4, 6, 7, NaN, NaN, 3), 3)
  for (d in floats()) {
    if (!all(holds(v, d))) next
    x <- nv_tensor(v, d)
    tolerance <- if (d == "f64") 1e-13 else 2^(2 - min(float_spec(d)$digits, 9))
    for (center in list(TRUE, FALSE)) {
      want <- bare(scale(v, center))
      expect_equal(as_array(scale(x, center)), want, tolerance = tolerance, label = d)
      expect_identical(jit(function(x) scale(x, center))(x), scale(x, center))
    }
  }
  expect_true(all(is.finite(as_array(scale(nv_tensor(matrix(c(300, 400, 500), 3), "f16"), FALSE)))))
  expect_error(scale(x, c(1, 2)), "center", class = "joist_shape_error")
  expect_error(scale(nv_fill(1, c(2, 2, 2))), class = "joist_shape_error")
  column <- nv_tensor(c(1, 2, 6), "f64")
  expect_equal(as_array(scale(column)), scale(c(1, 2, 6)), ignore_attr = TRUE)
  x <- nv_tensor(v, "f64")
  expect_identical(as_array(sweep(x, 2, c(1, 2, 3))), sweep(v, 2, c(1, 2, 3)))
  expect_identical(as_array(sweep(x, 1, 1:3, "*")), sweep(v, 1, 1:3, "*"))
})

test_that("rep() repeats as base R does", {
  v <- c(3L, 1L, 2L)
  x <- nv_tensor(v, "i16")
  same <- function(...) {
    expect_identical(as_array(rep(x, ...)), rep(v, ...))
    expect_identical(jit(function(x) rep(x, ...))(x), rep(x, ...))
  }
  same()
  same(3)
  same(0)
  same(times = 2)
  same(each = 2)
  same(each = 2, times = 2)
  same(length.out = 7)
  same(len = 2)
  same(length.out = 0)
  same(each = 2, length.out = 5)
  same(c(1, 0, 4))
  same(c(1, 0, 4, 1, 1, 2), each = 2)
  expect_identical(as_array(rep(nv_tensor(matrix(1:4, 2)), 2)), rep(1:4, 2))
  expect_identical(as_array(rep(nv_scalar(5), 2)), c(5, 5))
  expect_identical(as_array(rep_len(x, 4)), c(v, 3L))
  expect_identical(shape(rep(nv_tensor(integer()), 3)), 0L)
  expect_error(rep(nv_tensor(integer()), length.out = 3), class = "joist_value_error")
})

test_that("split() leaves out elements whose code is no level of the factor", {
  damaged <- structure(c(1L, 5000L, 2L, -1L, 0L), levels = c("p", "q"), class = "factor")
  for (x in list(nv_tensor(c(a = 1, b = 2, c = 3, d = 4, e = 5)), nv_tensor(1:5))) {
    expect_identical(split(x, damaged), list(p = x[1], q = x[3]))
  }
})

test_that("split() takes 64-bit integers that doubles do not tell apart", {
  ids <- nv_tensor(c("9007199254740993", "9007199254740992", "9007199254740993"), "i64")
  parts <- split(nv_tensor(1:3, "ui8"), ids)
  expect_identical(names(parts), c("9007199254740992", "9007199254740993"))
  expect_identical(as_array(parts[[2]]), c(1L, 3L))
})

# What base R does for the positions, which `[` then takes.
test_that("groups are split and put together again as by `[` and `[<-`, in every dtype", {
  set.seed(3)
  n <- 60L
  f <- factor(sample(c("a", "b", "c", NA), n, TRUE), levels = c("c", "a", "none", "b"))
  none_missing <- factor(rep_len(c("u", "v", "w"), n), levels = c("w", "u", "none", "v"))
  for (type in dtypes()) {
    v <- sample(c(0, 1), n, TRUE)
    if (type == "bool") v <- v == 1
    plain <- nv_convert(nv_tensor(v), type)
    for (x in list(plain, nv_mask(plain, rep_len(c(FALSE, TRUE, FALSE, FALSE, TRUE), n)))) {
      names(x) <- if (type %in% c("i64", "f16")) paste0("n", seq_len(n))
      for (g in list(f, none_missing)) {
        want <- lapply(split(seq_len(n), g), function(at) x[at])
        expect_identical(split(x, g), want, info = type)
        expect_identical(split(x, g, drop = TRUE), want[names(want) != "none"], info = type)
      }
      parts <- split(x, none_missing)
      expect_identical(unname(unsplit(parts, none_missing)), unname(x), info = type)
      firsts <- lapply(parts, function(part) if (length(part) > 0L) part[[1L]] else part)
      got <- want <- rev(x)
      split(got, none_missing) <- firsts
      for (k in c(1L, 2L, 4L)) want[none_missing == levels(none_missing)[k]] <- firsts[[k]]
      expect_identical(got, want, info = type)
    }
  }
  x <- nv_tensor(1:6, "i16")
  pairs <- list(c(1, 1, 2, 2, 1, 2), c("p", "q", "p", "q", "p", "q"))
  for (given in list(list(pairs), list(pairs, sep = "-"), list(pairs, lex.order = TRUE))) {
    want <- do.call(split, c(list(1:6), given))
    expect_identical(lapply(do.call(split, c(list(x), given)), as_array), want)
  }
  expect_identical(lapply(split(x, 1:2), as_array), split(1:6, 1:2))
  expect_identical(lapply(split(nv_reshape(x, c(2, 3)), 1:2), as_array), split(1:6, 1:2))
  split(x, f[c(1:5, 1)]) <- list(7L, 8L, 9L, 10L) # some are in no group
  want <- 1:6
  split(want, f[c(1:5, 1)]) <- list(7L, 8L, 9L, 10L)
  expect_identical(as_array(x), want)
  split(x, c(1, 1, 1, 2, 2, 2)) <- list(nv_tensor(3L, "i8"), nv_tensor(4:6, "i16"))
  expect_identical(x, nv_tensor(c(3L, 3L, 3L, 4:6), "i16"))
  expect_error(
    split(x, c(1, 1, 1, 2, 2, 2)) <- list(nv_tensor(0.5, "f64"), nv_tensor(0.5, "f64")),
    class = "joist_promotion_error"
  )
  traced <- jit(function(x) split(x, c(1, 2, 1, 2, 1, 2)))(x)
  expect_identical(traced, split(x, c(1, 2, 1, 2, 1, 2)))
  expect_identical(
    jit(function(x) {
      split(x, c(1, 2, 1, 2, 1, 2)) <- list(x[1:3], 0L)
      x
    })(x), nv_tensor(c(3L, 0L, 3L, 0L, 3L, 0L), "i16")
  )
})

test_that("one value for each group is assigned as base R does", {
  groups <- c(3L, NA, 1L, 100000L, -1L, 3L)
  for (values in list(as.list(c(1.5, NA, 3)), list(1.5, 2L), as.list(1:4), 1:2, list(7L))) {
    for (start in list(c(1, 2, NaN, NA, 5, 6), 1:6)) {
      expected <- start
      if (is.integer(start) && !all(vapply(values, is.integer, NA))) next
      split(expected, groups) <- values
      for (by in list(groups, nv_tensor(groups), factor(groups))) {
        made <- nv_tensor(start, if (is.integer(start)) "i32" else "f64")
        split(made, by) <- values
        expect_identical(as.vector(made), expected)
      }
    }
  }
  expect_identical(names(split(nv_tensor(1:6), nv_tensor(groups))), names(split(1:6, groups)))
})

test_that("names stay along dimensions that are kept", {
  labels <- list(NULL, c("A", "B"))
  x <- nv_tensor(matrix(c(3, 1, 2, 6, 4, 5), 3, dimnames = labels), "i16")
  expect_named(nv_median(x, 1), c("A", "B"))
  expect_identical(dimnames(nv_median(x, 1, drop = FALSE)), labels)
  expect_named(nv_squeeze(x[1, , drop = FALSE]), c("A", "B"))
  expect_identical(ave(x[, 1], c(NA, NA, NA)), x[, 1])
})
