# Variance, norm, count, median and quantiles against base R in double, over every subset of
# the dimensions.

dimension_subsets <- function(rank) {
  lapply(seq_len(2^rank - 1), function(k) which(k %/% 2^(seq_len(rank) - 1) %% 2 == 1))
}

# f of the elements that are reduced together; its result comes first if it has several.
over_dims <- function(x, dims, f) {
  extents <- dim(x)
  kept <- setdiff(seq_along(extents), dims)
  if (length(kept) == 0L) {
    return(f(as.vector(x)))
  }
  columns <- matrix(aperm(x, c(dims, kept)), prod(extents[dims]))
  out <- apply(columns, 2, f)
  array(out, c(if (is.matrix(out)) nrow(out), extents[kept]))
}

same_numbers <- function(got, want, dtype, ulps, label) {
  expect_ulps(as.vector(as_array(got)), as.vector(round_to(want, dtype)), dtype, ulps, label)
}

test_that("variance, norms and counts of every float dtype and subset of dimensions", {
  set.seed(1)
  for (d in floats()) {
    ulps <- if (d == "f64") 8 else if (is_narrow(d)) 0 else 1
    for (rank in if (is_narrow(d)) 2 else 1:4) {
      extents <- c(4L, 3L, 5L, 2L)[seq_len(rank)]
      v <- array(round_to(held(rnorm(prod(extents), 3), d), d), extents)
      if (has_zero(d)) v[2] <- 0
      x <- nv_tensor(v, d)
      for (dims in dimension_subsets(rank)) {
        label <- paste(d, rank, deparse1(dims))
        r <- function(f) over_dims(v, dims, f)
        same_numbers(nv_var(x, dims), r(var), d, ulps, paste("var", label))
        population <- function(a) mean((a - mean(a))^2)
        same_numbers(nv_var(x, dims, correction = 0), r(population), d, ulps, label)
        same_numbers(nv_sd(x, dims), r(sd), d, ulps, paste("sd", label))
        same_numbers(nv_norm(x, dims), r(function(a) sqrt(sum(a^2))), d, ulps, label)
        same_numbers(nv_norm(x, dims, p = 1), r(function(a) sum(abs(a))), d, ulps, label)
        same_numbers(nv_norm(x, dims, p = Inf), r(function(a) max(abs(a))), d, 0, label)
        same_numbers(nv_norm(x, dims, p = -Inf), r(function(a) min(abs(a))), d, 0, label)
        same_numbers(nv_norm(x, dims, p = 3), r(function(a) sum(abs(a)^3)^(1 / 3)), d,
          min(ulps * 8, 8), label)
        count <- nv_count_nonzero(x, dims)
        expect_true(all(as_array(count) == as.vector(r(function(a) sum(a != 0)))))
        for (f in list(nv_var, nv_sd, nv_norm, nv_count_nonzero, nv_median)) {
          expect_identical(shape(f(x, dims)), extents[-dims])
          expect_identical(shape(f(x, dims, drop = FALSE)), replace(extents, dims, 1L))
        }
        kept <- setdiff(seq_len(rank), dims)
        if (length(kept)) expect_identical(nv_var(x, -kept), nv_var(x, dims))
      }
      expect_identical(nv_var(x), nv_var(x, seq_len(rank)))
    }
  }
})

test_that("quantiles of every type are base R's", {
  probs <- c(0, 0.125, 0.25, 0.5, 0.75, 0.875, 1)
  for (n in c(1:9, 16)) {
    v <- ((seq_len(n) * 7) %% 17) / 4
    x <- nv_tensor(v, "f64")
    for (type in 1:9) {
      want <- quantile(v, probs, names = FALSE, type = type)
      label <- paste("type", type, "of", n)
      got <- quantile(x, probs, names = FALSE, type = type)
      expect_identical(as_array(got), want, label = label)
      compiled <- jit(function(x) nv_quantile(x, probs, type = type))
      expect_identical(as_array(compiled(x)), want, label = label)
      expect_equal(as_array(nv_quantile(x, c(0.1, 1 / 3, 0.77), type = type)),
        quantile(v, c(0.1, 1 / 3, 0.77), names = FALSE, type = type),
        label = label
      )
      # An infinite element matters only where it is reached.
      w <- replace(v, n, Inf)
      expect_identical(as_array(quantile(nv_tensor(w, "f64"), probs, names = FALSE, type = type)),
        quantile(w, probs, names = FALSE, type = type),
        label = label
      )
    }
  }
  x <- nv_tensor(c(4, NaN, 1, 2), "f32")
  expect_identical(as_array(quantile(x, 0.5, na.rm = TRUE, names = FALSE, type = 1)), 2)
  expect_identical(as_array(quantile(x, 0.5, names = FALSE, type = 1)), NaN)
})

test_that("median and quantiles are base R's of type 7", {
  set.seed(2)
  probs <- c(0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1)
  for (d in setdiff(dtypes(), complexes())) {
    to <- if (kind_of(d) == "float") d else "f32"
    for (rank in if (is_narrow(d)) 2 else 1:4) {
      extents <- c(4L, 3L, 5L, 2L)[seq_len(rank)]
      values <- if (d == "bool") 0:1 else if (kind_of(d) == "uint") 0:50 else -50:50
      if (is_narrow(d)) values <- few_values(d)
      v <- array(as.numeric(sample(values, prod(extents), TRUE)), extents)
      x <- nv_tensor(v, d)
      for (dims in dimension_subsets(rank)) {
        label <- paste(d, rank, deparse1(dims))
        same_numbers(nv_median(x, dims), over_dims(v, dims, median), to, 1, label)
        want <- over_dims(v, dims, function(a) quantile(a, probs, names = FALSE))
        got <- nv_quantile(x, probs, dims)
        same_numbers(got, want, to, 1, label)
        expect_identical(shape(got), c(length(probs), extents[-dims]))
        expect_identical(
          shape(nv_quantile(x, 0.5, dims, drop = FALSE)), c(1L, replace(extents, dims, 1L))
        )
      }
      expect_identical(as_array(quantile(x, names = FALSE)), as_array(nv_quantile(x)))
      expect_identical(median(x), nv_median(x))
    }
  }
  infinite <- c(-Inf, 1, 2, Inf)
  for (p in list(c(1, 2, 3), c(1, 2, 3, 4))) {
    x <- nv_tensor(infinite[p], "f64")
    expect_identical(as_array(median(x)), median(infinite[p]))
  }
  expect_identical(as_array(nv_quantile(nv_tensor(c(1, Inf, Inf)), 0.9)), Inf)
  expect_identical(as_array(nv_median(nv_tensor(c(1.7e308, 1.7e308), "f64"))), 1.7e308)
})

test_that("NaN goes through, and no elements give NaN", {
  for (d in Filter(function(d) has_nan(d) && has_zero(d), floats())) {
    x <- nv_tensor(matrix(c(1, NaN, 3, 4, 5, 6), 2), d)
    for (f in list(nv_var, nv_sd, nv_norm, nv_median)) {
      expect_identical(is.nan(as_array(f(x, 1))), c(TRUE, FALSE, FALSE))
      expect_true(is.nan(as_array(f(x))))
    }
    expect_identical(as_array(nv_quantile(x, c(0, 1), 1)), cbind(NaN, 3:4, 5:6)[c(1, 2), ])
    expect_identical(as_array(nv_count_nonzero(x, 1)), c(2, 2, 2))
    none <- nv_tensor(numeric(), d, c(0, 2))
    for (f in list(nv_var, nv_sd, nv_median)) {
      expect_identical(as_array(f(none, 1)), c(NaN, NaN))
      expect_identical(shape(f(none, 2)), 0L)
    }
    expect_identical(as_array(nv_norm(none, 1)), c(0, 0))
    expect_identical(as_array(nv_quantile(none, c(0, 1), 1)), matrix(NaN, 2, 2))
    expect_identical(as_array(nv_count_nonzero(none)), 0)
    expect_error(nv_norm(none, 1, p = Inf), class = "joist_value_error")
    one <- nv_scalar(2, d)
    expect_identical(as_array(nv_var(one)), NaN)
    expect_identical(as_array(nv_var(one, correction = 0)), 0)
    expect_identical(as_array(nv_median(one)), 2)
    expect_identical(as_array(nv_var(nv_tensor(c(1, 2), d), correction = 3)), round_to(Inf, d))
  }
  for (d in Filter(Negate(has_nan), floats())) {
    none <- nv_tensor(numeric(), d, c(0, 2))
    for (f in list(nv_var, nv_sd, nv_median)) expect_identical(as_array(f(none, 1)) + 0, c(0, 0))
    expect_identical(as_array(nv_var(nv_tensor(c(1, 2), d), correction = 3)), float_max(d))
  }
})

test_that("statistics need no values where rules look at them", {
  x <- nv_tensor(c(1, 2, 4), "f32")
  for (rules in c("numpy_legacy", "dask_legacy", "cupy")) {
    with_promotion(rules, {
      expect_equal(as_array(nv_var(x)), var(c(1, 2, 4)), tolerance = 1e-6)
      expect_equal(as_array(nv_sd(x)), sd(c(1, 2, 4)), tolerance = 1e-6)
      expect_equal(as_array(nv_norm(x, p = 3)), 73^(1 / 3), tolerance = 1e-6)
      expect_equal(as_array(nv_median(x)), 2)
      # A rank-0 tensor of another dtype still needs them.
      wide <- nv_scalar(2, "f64")
      mix <- jit(function(x, y) x * y)
      if (rules != "cupy") expect_error(mix(x, wide), "value of a rank-0 tensor")
    })
  }
})

test_that("numbers that are not zero are counted in i64 under all rules", {
  x <- nv_tensor(matrix(c(0, 1, 2, NaN, 0, -3), 2))
  for (rules in promotion_rule_sets()$id) {
    counts <- with_promotion(rules, nv_count_nonzero(x, dims = 1))
    expect_identical(as_array(counts), c(1, 2, 1), info = rules)
    expect_identical(format(dtype(counts)), "i64", info = rules)
  }
})

test_that("dtypes are those of the mean", {
  for (d in dtypes()) {
    for (flag in c(FALSE, TRUE)) {
      x <- nv_aval(d, c(2, 3), ambiguous = flag)
      mean_type <- type_of(nv_real(nv_mean(x)))
      for (f in list(nv_var, nv_sd, nv_norm)) expect_identical(type_of(f(x, 1)), mean_type)
      expect_identical(type_of(nv_count_nonzero(x)), "i64")
      if (kind_of(d) == "complex") {
        expect_error(nv_median(x), d, class = "joist_dtype_error")
        next
      }
      expect_identical(type_of(nv_median(x)), mean_type)
      expect_identical(type_of(nv_quantile(x)), mean_type)
    }
    x <- sample_tensor(d)
    expect_identical(type_of(nv_var(x)), type_of(nv_var(nv_aval(d, 6))))
  }
  for (rules in c("jax", "numpy")) {
    with_promotion(rules, {
      expect_identical(type_of(nv_var(nv_tensor(1:3, "i8"))), type_of(nv_mean(nv_aval("i8", 3))))
    })
  }
  # PyTorch has no mean of integers.
  with_promotion("torch", {
    expect_error(nv_var(nv_tensor(1:3, "i8")), class = "joist_promotion_error")
    expect_error(nv_mean(nv_aval("i8", 3)), class = "joist_promotion_error")
  })
  expect_identical(as_array(nv_var(nv_tensor(c(TRUE, FALSE, TRUE)), correction = 0)),
    round_to(2 / 9, "f32")
  )
})

test_that("variances of infinite numbers are base R's, with and without what is missing", {
  for (v in list(c(Inf, -Inf, 1), c(Inf, 1, 1), c(-Inf, NaN, 1, 2), c(Inf, NA, 1), c(NA, 1, 4))) {
    x <- nv_tensor(v, "f64")
    want <- var(v, na.rm = TRUE)
    expect_identical(as_array(nv_var(x, na_rm = TRUE)), want, label = toString(v))
    expect_identical(as_array(nv_sd(nv_stack(x, x, dim = 2), 1, na_rm = TRUE)), sqrt(c(want, want)))
    expect_identical(as_array(nv_rolling(x, length(v), "var", na_rm = TRUE)), want)
  }
  x <- nv_tensor(c(5, Inf, -Inf, 1, 1, 1), "f64")
  expect_identical(as_array(nv_rolling(x, 3, "var")), c(NaN, NaN, NaN, 0))
})

test_that("complex numbers: the variance is real", {
  for (d in complexes()) {
    v <- complex_values(d)
    x <- nv_tensor(v, d)
    want <- c(
      var(Re(v)) + var(Im(v)), sqrt(sum(Mod(v)^2)), sum(Mod(v)), max(Mod(v)), sum(v != 0)
    )
    got <- list(nv_var(x), nv_norm(x), nv_norm(x, p = 1), nv_norm(x, p = Inf), nv_count_nonzero(x))
    expect_equal(vapply(got, as_array, 1), want, tolerance = complex_tolerance(d, 1e-6, 1e-14))
    expect_identical(type_of(nv_var(x)), part_of(d))
  }
})

test_that("a far mean costs no digits", {
  set.seed(3)
  v <- 1e9 + rnorm(1e5)
  expect_equal(as_array(nv_var(nv_tensor(v, "f64"))), var(v), tolerance = 1e-13)
  narrow <- round_to(1e4 + rnorm(1e5), "f32")
  same_numbers(nv_var(nv_tensor(narrow, "f32")), var(narrow), "f32", 1, "f32")
  # Squares beyond the dtype's range, though the result is not.
  wide <- c(-200, 200, 200)
  same_numbers(nv_sd(nv_tensor(wide * 100, "f16")), sd(wide * 100), "f16", 1, "f16")
  expect_identical(as_array(nv_norm(nv_tensor(c(3e30, 4e30), "f32"))), round_to(5e30, "f32"))
})

test_that("R vectors keep their values", {
  v <- c(0.1, 0.7, 0.35)
  same_numbers(nv_var(v), var(v), "f32", 0, "var")
  same_numbers(nv_norm(matrix(v, 1), 2), sqrt(sum(v^2)), "f32", 0, "norm")
  expect_identical(as_array(nv_count_nonzero(c(1e300, 0, -1))), 2)
  expect_identical(as_array(nv_median(c(5L, 1L, 2L))), 2)
})

test_that("compiled functions give the same", {
  set.seed(4)
  v <- matrix(rnorm(60), 6)
  f <- function(x) {
    list(
      nv_var(x * 2, 1), nv_sd(x), nv_norm(x, 2), nv_norm(x, p = Inf), nv_count_nonzero(x > 0, 1),
      nv_median(x, 2), nv_quantile(x - 1, c(0.2, 0.7), 1), median(x)
    )
  }
  for (d in floats()) {
    if (!all(holds(0:2, d))) next # f has zero and 2 as constants
    x <- nv_tensor(if (is_narrow(d)) array(held(v, d), dim(v)) else v, d)
    expect_identical(jit(f)(x), f(x))
  }
  expect_error(jit(function(x) nv_var(x, 3))(x), class = "joist_shape_error")
  expect_error(jit(function(x) nv_median(x, 3))(x), class = "joist_shape_error")
})

test_that("what does not fit is refused", {
  x <- nv_tensor(matrix(c(3, 1, 2, 5), 2))
  for (f in list(nv_var, nv_sd, nv_norm, nv_count_nonzero, nv_median)) {
    expect_error(f(x, 3), "3", class = "joist_shape_error")
    expect_error(f(x, c(1, 1)), "twice", class = "joist_shape_error")
    expect_error(f(x, drop = NA), "drop", class = "joist_value_error")
    expect_error(f("a"), class = "joist_value_error")
  }
  expect_error(nv_quantile(x, 0.5, 3), class = "joist_shape_error")
  for (bad in list(2, -0.1, NA, "a", NULL)) {
    expect_error(nv_quantile(x, bad), "probs", class = "joist_value_error")
  }
  expect_error(nv_var(x, correction = NA), "correction", class = "joist_value_error")
  for (bad in list(0, -1, NA, "2", 1:2)) {
    expect_error(nv_norm(x, p = bad), "`p`", class = "joist_value_error")
  }
  expect_error(median(x, na.rm = NA), "na.rm", class = "joist_value_error")
  expect_error(quantile(x, na.rm = "yes"), "na.rm", class = "joist_value_error")
  for (bad in list(0, 10, 2.5, NA, "7", 1:2, NULL)) {
    expect_error(quantile(x, type = bad), "type", class = "joist_value_error")
  }
  expect_identical(stats::var(x), stats::var(as_array(x)))
})

test_that("statistics of 64-bit integers do not depend on how large these are", {
  small <- matrix(c(1, 101, 201, 333, 5, 8, 2, 1000), 4)
  shift <- function(dtype, base) nv_tensor(small, dtype) + nv_scalar(base, dtype)
  bases <- list(
    list("i64", "1000000000000000000"), list("i64", "-9223372036854775808"),
    list("i64", "9223372036854774807"), list("ui64", "18446744073709550615")
  )
  for (rules in c("anvil", "numpy")) {
    with_promotion(rules, for (base in bases) {
      x <- shift(base[[1L]], base[[2L]])
      y <- nv_tensor(small, base[[1L]])
      calls <- list(
        nv_var, function(x) nv_sd(x, 1L), nv_cov, nv_cor, function(x) nv_softmax(x, 1L),
        function(x) nv_log_softmax(x, 1L), sd, var, cov, cor, function(x) nv_var(x, na_rm = TRUE)
      )
      for (f in calls) {
        expect_identical(f(x), f(y), label = base[[2L]])
        expect_identical(jit(f)(x), f(y), label = base[[2L]])
      }
      gaps <- c(TRUE, FALSE, FALSE, FALSE, FALSE, FALSE, TRUE, FALSE)
      gaps <- matrix(gaps, 4)
      expect_identical(
        cov(nv_mask(x, gaps), use = "pairwise"), cov(nv_mask(y, gaps), use = "pairwise")
      )
    })
  }
  # the sum of a 64-bit integer and a fraction, rounded once
  with_promotion("numpy", {
    x <- nv_tensor(c("9007199254740993", "9007199254740995", "9007199254740998"), "i64")
    expect_identical(as_array(median(x[1:2])), 9007199254740994)
    expect_identical(as_array(median(x[c(1, 1)])), 9007199254740992)
    # 9007199254740996.5, halfway between no two doubles
    expect_identical(as_array(median(x[2:3])), 9007199254740996)
    expect_identical(as_array(nv_quantile(x, c(0, 0.25, 1))), 9007199254740992 + c(0, 2, 6))
    y <- nv_tensor(c("18446744073709551615", "0", "1"), "ui64")
    expect_identical(as_array(nv_quantile(y, c(0.5, 0.75, 1))), c(1, 2^63, 2^64))
    ends <- nv_tensor(c("9223372036854775807", "-9223372036854775808"), "i64")
    expect_identical(as_array(sd(ends)),
      sqrt(2^127)
    )
  })
})

test_that("nv_median(na_rm = TRUE) leaves out missing values and NaN", {
  m <- matrix(c(3, NA, 1, 7, NaN, 2, NA, NA, NaN, 5, 4, 8), 3, dimnames = list(letters[1:3], NULL))
  for (d in c("f64", "f32", "i16", "i64")) {
    given <- if (startsWith(d, "i")) replace(m, is.nan(m), NA) else m
    x <- nv_tensor(given, d)
    for (dims in list(1, 2, NULL)) {
      run <- function(f) as_array(f(x, dims, na_rm = TRUE), "double")
      want <- if (is.null(dims)) median(m, TRUE) else apply(m, 3 - dims, median, na.rm = TRUE)
      want[is.na(want)] <- NaN
      expect_identical(run(nv_median), want)
      expect_identical(run(jit(nv_median, static = c("dims", "na_rm"))), want)
    }
    expect_identical(type_of(nv_median(x, na_rm = TRUE)), type_of(nv_median(x)))
  }
  expect_identical(shape(nv_median(x, 1, FALSE, TRUE)), c(1L, 4L))
  expect_true(is.nan(as_array(nv_median(nv_tensor(numeric()), na_rm = TRUE))))
  expect_error(nv_median(nv_chunked(x), na_rm = TRUE), class = "joist_value_error")
})

test_that("statistics of 64-bit integers are the same where rules join these to narrower ones", {
  x <- nv_tensor(c(2147483648, 5, -7, 3e9), "i64")
  v <- c(2147483648, 5, -7, 3e9)
  double <- function(x) as_array(nv_convert(x, "f64"))
  for (rules in c("jax_default", "keras", "numpy", "anvil")) {
    local_promotion(rules, on = c(loss = "ok"))
    near <- function(found, want) expect_equal(double(found), want, tolerance = 1e-6, info = rules)
    near(nv_median(x), stats::median(v))
    near(nv_quantile(x, 0.4), stats::quantile(v, 0.4, names = FALSE))
    near(nv_var(x), stats::var(v))
    near(nv_cor(x, nv_tensor(1:4, "i64")), stats::cor(v, 1:4))
    near(nv_logsumexp(x), 3e9)
    near(nv_rolling(x, 2), (v[-1] + v[-4]) / 2)
    near(nv_median(nv_tensor(c(-1L, -1L, -1L), "i64")), -1)
  }
})

test_that("ranks, histograms and interpolation keep fractions under rules that round them", {
  local_promotion("octave")
  ranks <- nv_segment_rank(nv_tensor(c(7, 7, -1, 3), "f32"), rep(1L, 4), 1)
  expect_identical(as_array(ranks), c(3.5, 3.5, 1, 2))
  x <- nv_tensor(c(1L, 2L, 4L), "i32")
  counts <- as_array(nv_convert(nv_histogram(x, c(0, 1.5, 5))$counts, "f64"))
  expect_identical(counts, c(1, 2))
  local_promotion("octave", on = c(loss = "error"))
  expect_error(nv_interp(x, c(-3000, 0, 10000), c(0, 1, 2)), class = "joist_loss_error")
})
