# Exponential, gamma and Poisson numbers and categories, against R's own distribution functions.

test_that("exponential numbers have their distribution", {
  for (rate in c(0.01, 1, 250)) {
    x <- draws(nv_rexp(1e5, rate, "f64", nv_key(81)))
    expect_true(all(x >= 0))
    expect_likely(ks.test(x, "pexp", rate)$p.value, rate)
    # The moments 1 / rate and 2 / rate^2 have variances of 1 and 20, over these squared.
    expect_lt(abs(mean(x) * rate - 1), 5 / sqrt(1e5))
    expect_lt(abs(mean(x^2) * rate^2 - 2), 5 * sqrt(20 / 1e5))
  }
  x <- draws(nv_rexp(2e6, dtype = "f64", key = nv_key(82)))
  for (limit in c(8, 10, 12)) {
    expect_likely(binom.test(sum(x > limit), 2e6, exp(-limit))$p.value, paste("above", limit))
    expect_likely(binom.test(sum(x < exp(-limit)), 2e6, pexp(exp(-limit)))$p.value, "near 0")
  }
  for (d in floats()) {
    narrow <- draws(nv_rexp(5e4, dtype = d, key = nv_key(83)))
    wide <- nv_rexp(5e4, dtype = "f64", key = nv_key(83))
    expect_identical(narrow, draws(nv_convert(wide, d)))
  }
  each <- draws(nv_rexp(4, c(0, Inf, 1, 2), "f64", nv_key(1)))
  expect_identical(each[1:2], c(Inf, 0))
  expect_identical(each[4], draws(nv_rexp(4, 2, "f64", nv_key(1)))[4])
})

test_that("gamma numbers have their distribution, whatever their shape", {
  for (alpha in c(0.02, 0.1, 0.5, 0.999, 1, 1.001, 1.5, 3, 30, 900, 1e4, 1e7, 1e12)) {
    x <- draws(nv_rgamma(1e5, alpha, 3, "f64", nv_key(84)))
    expect_true(all(x >= 0))
    expect_likely(suppressWarnings(ks.test(x, "pgamma", alpha, 3))$p.value, alpha)
    z <- (x * 3 - alpha) / sqrt(alpha)
    expect_lt(abs(mean(z)), 5 / sqrt(1e5))
    # The fourth moment of a standardized gamma number is 3 + 6 / alpha.
    expect_lt(abs(mean(z^2) - 1), 6 * sqrt((2 + 6 / alpha) / 1e5))
  }
  # The tails: numbers that are accepted without a logarithm, and others.
  for (alpha in c(0.4, 2, 50)) {
    x <- draws(nv_rgamma(2e6, alpha, dtype = "f64", key = nv_key(85)))
    for (p in c(1e-5, 1e-4, 1e-3)) {
      low <- sum(x < qgamma(p, alpha))
      high <- sum(x > qgamma(p, alpha, lower.tail = FALSE))
      expect_likely(binom.test(low, 2e6, p)$p.value, paste(alpha, "below", p))
      expect_likely(binom.test(high, 2e6, p)$p.value, paste(alpha, "above", p))
    }
    for (lag in 1:2) {
      expect_lt(abs(cor(x[-seq_len(lag)], utils::head(x, -lag))), 5 / sqrt(2e6))
    }
  }
  odd <- draws(nv_rgamma(6, c(0, Inf, 1, 1, 0, Inf), c(1, 1, 0, Inf, 0, Inf), "f64", nv_key(1)))
  expect_identical(odd, c(0, Inf, Inf, 0, 0, 0))
  each <- draws(nv_rgamma(2000, rep(c(0.5, 7), 1000), dtype = "f64", key = nv_key(2)))
  half <- draws(nv_rgamma(2000, 0.5, dtype = "f64", key = nv_key(2)))
  seven <- draws(nv_rgamma(2000, nv_scalar(7, "bf16"), dtype = "f64", key = nv_key(2)))
  expect_identical(each, ifelse(rep(c(TRUE, FALSE), 1000), half, seven))
  expect_identical(draws(nv_rgamma(2000, 7, 4, "f64", nv_key(2))), seven / 4)
})

test_that("gamma numbers have derivatives by their shape", {
  # How the quantile of the same probability changes, by differences of base R's qgamma(), which
  # takes the nearer tail.
  change_of <- function(x, alpha, rate) {
    lower <- pgamma(x, alpha, rate) < 0.5
    p <- pgamma(x, alpha, rate, lower.tail = lower)
    at <- function(alpha) qgamma(p, alpha, rate, lower.tail = lower)
    h <- 2e-3 * pmin(alpha, sqrt(alpha))
    (8 * (at(alpha + h) - at(alpha - h)) - (at(alpha + 2 * h) - at(alpha - 2 * h))) / (12 * h)
  }
  draw_sum <- function(alpha, rate, key) sum(nv_rgamma(60, alpha, rate, "f64", key))
  slopes <- gradient(draw_sum, wrt = c("alpha", "rate"))
  compiled <- jit(slopes)
  for (alpha in c(0.3, 1, 2.5, 40, 800, 999.9, 1000, 5e4, 1e8)) {
    each <- nv_fill(alpha, 60, "f64")
    rate <- nv_fill(2, 60, "f64")
    x <- draws(nv_rgamma(60, each, rate, "f64", nv_key(8)))
    slope <- slopes(each, rate, nv_key(8))
    expect_equal(draws(slope$alpha), change_of(x, rep(alpha, 60), 2), tolerance = 1e-7)
    expect_equal(draws(slope$rate), -x / 2, tolerance = 1e-15)
    expect_identical(compiled(each, rate, nv_key(8)), slope)
  }
  # The mean of gamma numbers is alpha / rate: of all together, the derivative is 1 / rate.
  many <- function(alpha) nv_mean(nv_rgamma(2e5, alpha, 4, "f64", nv_key(9)))
  for (alpha in c(0.2, 3, 2000)) {
    slope <- gradient(many)(nv_scalar(alpha, "f32"))$alpha
    expect_identical(type_of(slope), "f32")
    expect_equal(as.double(slope), 1 / 4, tolerance = 0.03)
  }
})

test_that("Poisson counts have their distribution, whatever their rate", {
  for (rate in c(0.01, 0.3, 2, 5, 9.99, 10, 10.01, 12, 20, 50, 333, 1e4, 1e6, 1e9)) {
    x <- draws(nv_rpois(1e5, rate, "f64", nv_key(86)))
    expect_true(all(x >= 0 & x == floor(x)))
    expect_lt(abs(mean(x) - rate), 5 * sqrt(rate / 1e5))
    # The variance of (x - rate)^2 is rate (1 + 2 rate).
    expect_lt(abs(mean((x - rate)^2) - rate), 5 * sqrt(rate * (1 + 2 * rate) / 1e5))
    if (rate > 0.3) {
      p <- chi_square(x, function(p) qpois(p, rate), function(q) ppois(q, rate))
      expect_likely(p, rate)
    }
  }
  x <- draws(nv_rpois(1e6, 14, "f64", nv_key(87)))
  expect_likely(binom.test(sum(x >= 30), 1e6, ppois(29, 14, FALSE))$p.value, "30 and more of 14")
  expect_likely(binom.test(sum(x <= 2), 1e6, ppois(2, 14))$p.value, "2 and less of 14")
  # Beyond what chisq.test() has cells for: standardized numbers are normal.
  x <- draws(nv_rpois(1e5, 1e15, "f64", nv_key(88)))
  expect_likely(suppressWarnings(ks.test((x - 1e15) / sqrt(1e15), "pnorm"))$p.value, "1e15")
  for (d in c(ints(), floats())) {
    if (is_narrow(d)) { # some counts are not whole numbers that it holds
      expect_error(nv_rpois(60, 15, d, nv_key(5)), class = "joist_value_error")
      next
    }
    wide <- draws(nv_rpois(60, 15, "f64", nv_key(5)))
    expect_identical(draws(nv_rpois(60, 15, d, nv_key(5))) + 0, wide)
  }
  expect_identical(draws(nv_rpois(2, 0)), c(0L, 0L))
  each <- draws(nv_rpois(2000, rep(c(3, 70), 1000), key = nv_key(2)))
  few <- draws(nv_rpois(2000, 3, key = nv_key(2)))
  many <- draws(nv_rpois(2000, 70, key = nv_key(2)))
  expect_identical(each, ifelse(rep(c(TRUE, FALSE), 1000), few, many))
  # The largest rate that i8 has room for.
  expect_lte(max(draws(nv_rpois(1e6, 25, "i8", nv_key(3)))), 70)
  for (rate in list(-1, NaN, Inf, 2^53, c(1, -1))) {
    expect_error(nv_rpois(2, rate, "f64"), class = "joist_value_error")
  }
  expect_error(nv_rpois(2, 26, "i8"), "i8", class = "joist_value_error")
})

test_that("categories have their probabilities, and those of -Inf are never drawn", {
  p <- c(0.1, 0, 0.3, 0.05, 0, 0.55)
  x <- draws(nv_rcategorical(1e5, log(p) + 700, key = nv_key(89)))
  expect_identical(sort(unique(x)), which(p > 0))
  expect_likely(chisq.test(table(x), p = p[p > 0])$p.value, "one distribution")
  # Separate probabilities for each element.
  own <- rbind(p, rev(p), c(1, 0, 0, 0, 0, 0))
  logits <- log(own[rep(1:3, 20000), ])
  y <- draws(nv_rcategorical(60000, logits, key = nv_key(90)))
  for (k in 1:2) {
    counts <- tabulate(y[seq(k, 60000, 3)], 6)
    expect_identical(counts > 0, own[k, ] > 0)
    some <- own[k, ] > 0
    expect_likely(chisq.test(counts[some], p = own[k, some])$p.value, "each its own")
  }
  expect_true(all(y[seq(3, 60000, 3)] == 1))
  # The same, whether they are given once or for each.
  expect_identical(
    nv_rcategorical(500, log(p), key = nv_key(1)),
    nv_rcategorical(500, log(own[rep(1, 500), ]), key = nv_key(1))
  )
  expect_identical(shape(nv_rcategorical(c(2, 3), array(0, c(2, 3, 4)))), c(2L, 3L))
  expect_identical(shape(nv_rcategorical(c(0, 3), c(1, 2))), c(0L, 3L))
  logits <- nv_tensor(log(p), "f64")
  f <- function(logits, key) nv_rcategorical(9, logits, key = key)
  expect_identical(jit(f)(logits, nv_key(3)), f(logits, nv_key(3)))
  expect_error(nv_rcategorical(2, c(1, NaN)), "position 2", class = "joist_value_error")
  expect_error(nv_rcategorical(2, nv_scalar(3)), class = "joist_shape_error")
  expect_error(nv_rcategorical(2, numeric()), class = "joist_shape_error")
  expect_error(nv_rcategorical(2, rep(0, 300), "i8"), "300", class = "joist_value_error")
})

test_that("nv_sample() draws by weights as sample() does", {
  x <- nv_tensor(c(10L, 20L, 30L, 40L), "i16")
  w <- c(5, 0, 1, 2)
  again <- draws(nv_sample(x, 40000, replace = TRUE, prob = w, key = nv_key(91)))
  expect_identical(sort(unique(again)), c(10L, 30L, 40L))
  expect_likely(chisq.test(table(again), p = w[w > 0] / 8)$p.value, "with replacement")
  # Pairs without replacement: the second by the weights that the first has left.
  pairs <- vapply(1:4000, function(k) draws(nv_sample(x, 2, prob = w, key = nv_key(k))), c(0L, 0L))
  at <- function(a, b) sum(pairs[1, ] == a & pairs[2, ] == b)
  counts <- c(at(10, 30), at(10, 40), at(30, 10), at(30, 40), at(40, 10), at(40, 30))
  expect_identical(sum(counts), 4000L)
  p <- c(5 / 8 * 1 / 3, 5 / 8 * 2 / 3, 1 / 8 * 5 / 7, 1 / 8 * 2 / 7, 2 / 8 * 5 / 6, 2 / 8 * 1 / 6)
  expect_likely(chisq.test(counts, p = p)$p.value, "without replacement")
  f <- function(x, w, key) nv_sample(x, 3, prob = w, key = key)
  expect_identical(jit(f)(x, nv_tensor(w), nv_key(7)), f(x, nv_tensor(w), nv_key(7)))
  expect_identical(draws(nv_sample(3, 3, TRUE, prob = c(0, 7, 0), key = nv_key(1))), c(2L, 2L, 2L))
  expect_error(nv_sample(x, 4, prob = w), "3 elements with positive", class = "joist_value_error")
  expect_error(nv_sample(x, 2, prob = 1:3), class = "joist_shape_error")
  for (wrong in list(c(1, 2, -1, 0), c(1, NaN, 1, 1), c(1, Inf, 1, 1), rep(0, 4))) {
    expect_error(nv_sample(x, 2, prob = wrong), class = "joist_value_error")
    expect_error(nv_sample(x, 2, TRUE, prob = wrong), class = "joist_value_error")
  }
  expect_identical(shape(nv_sample(nv_tensor(integer()), prob = numeric())), 0L)
})
