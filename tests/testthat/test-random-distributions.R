# Draws of further distributions, against R's own distribution functions.

drawn_floats <- list(
  lnorm = list(c(0, 1), c(3, 0.2), c(-20, 9)), weibull = list(c(0.3, 2), c(1, 1), c(7, 0.1)),
  logis = list(c(0, 1), c(5, 30)), cauchy = list(c(0, 1), c(-4, 0.1)),
  t = list(0.3, 1, 7.5, 300, Inf), chisq = list(0.2, 1, 2, 9, 4000),
  f = list(c(0.5, 0.7), c(3, 8), c(200, 1), c(4, Inf), c(Inf, 3)),
  beta = list(c(1, 1), c(0.05, 2), c(0.4, 30), c(5, 2), c(1e5, 3e5))
)
random_function <- function(name) getExportedValue("joist", paste0("nv_r", name))

test_that("floats of further distributions have their distribution", {
  for (name in names(drawn_floats)) {
    for (k in seq_along(drawn_floats[[name]])) {
      own <- as.list(drawn_floats[[name]][[k]])
      label <- paste(c(name, own), collapse = " ")
      p <- get(paste0("p", name), asNamespace("stats"))
      draw <- function(n, d = "f64", key = nv_key(500 + k)) {
        draws(do.call(random_function(name), c(list(n), own, list(dtype = d, key = key))))
      }
      x <- draw(1e5)
      expect_false(anyNA(x), label)
      share <- do.call(p, c(list(x), own))
      expect_likely(suppressWarnings(ks.test(share, "punif"))$p.value, label)
      # Both tails, and neighbours.
      for (tail in c(1e-4, 1e-2)) {
        expect_likely(binom.test(sum(share < tail), 1e5, tail)$p.value, paste(label, "below"))
        upper <- do.call(p, c(list(x), own, list(lower.tail = FALSE)))
        expect_likely(binom.test(sum(upper < tail), 1e5, tail)$p.value, paste(label, "above"))
      }
      expect_lt(abs(cor(share[-1], share[-1e5])), 5 / sqrt(1e5))
      # Rounded once.
      expect_identical(draw(500, "f32"), draws(nv_convert(nv_tensor(draw(500), "f64"), "f32")))
      expect_identical(draw(500)[500] == draw(500, key = nv_key(1))[500], FALSE)
    }
  }
})

drawn_counts <- list(
  geom = list(list(prob = 0.3), list(prob = 0.001), list(prob = 1)),
  nbinom = list(
    list(size = 3, prob = 0.2), list(size = 0.4, mu = 7), list(size = 500, mu = 2000),
    list(size = 1e300, mu = 3)
  ),
  hyper = list(
    list(m = 10, n = 7, k = 8), list(m = 5000, n = 300, k = 900), list(m = 0, n = 4, k = 2)
  )
)

test_that("counts of further distributions have their distribution", {
  for (name in names(drawn_counts)) {
    for (own in drawn_counts[[name]]) {
      label <- paste(c(name, own), collapse = " ")
      f <- function(kind) get(paste0(kind, name), asNamespace("stats"))
      draw <- function(n, d) {
        draws(do.call(random_function(name), c(list(n), own, list(dtype = d, key = nv_key(510)))))
      }
      x <- draw(1e5, "f64")
      expect_true(all(x >= 0 & x == floor(x)), label)
      q <- function(p) do.call(f("q"), c(list(p), own))
      p <- function(q) do.call(f("p"), c(list(q), own))
      if (q(0.99) > q(0.01)) {
        expect_likely(chi_square(x, q, p), label)
      } else {
        expect_identical(unique(x), q(0.5) + 0)
      }
      expect_identical(draw(300, "i32") + 0, draw(300, "f64"))
    }
  }
  expect_error(nv_rhyper(50, 200, 10, 190, "i8", nv_key(1)), "127", class = "joist_value_error")
  expect_error(nv_rgeom(50, 1e-9, "i16", nv_key(1)), class = "joist_value_error")
  expect_error(nv_rnbinom(5, 2), "one of", class = "joist_value_error")
  expect_error(nv_rnbinom(5, 2, 0.1, 3), "one of", class = "joist_value_error")
})

test_that("multinomial counts are those of dmultinom()", {
  prob <- c(3, 0, 1, 6)
  x <- as_array(nv_rmultinom(40000, 3, prob, "i32", nv_key(520)))
  expect_identical(dim(x), c(40000L, 4L))
  expect_true(all(rowSums(x) == 3 & x >= 0 & x[, 2] == 0))
  kinds <- as.matrix(subset(expand.grid(a = 0:3, c = 0:3, d = 0:3), a + c + d == 3))
  want <- apply(kinds, 1, function(k) dmultinom(c(k[1], 0, k[2:3]), 3, prob))
  code <- function(m) as.vector(m %*% c(1, 10, 100))
  seen <- table(factor(code(x[, -2]), code(kinds)))
  expect_likely(chisq.test(seen, p = want)$p.value, "multinomial")
  # Of many draws, and sizes for each.
  y <- as_array(nv_rmultinom(c(2, 5), matrix(c(1e6, 10), 2, 5), 1:3, "f64", nv_key(521)))
  expect_identical(dim(y), c(2L, 5L, 3L))
  expect_identical(apply(y, 1:2, sum), matrix(c(1e6, 10), 2, 5))
  expect_true(all(abs(y[1, , 3] / 1e6 - 0.5) < 5 * sqrt(0.25 / 1e6)))
  expect_identical(shape(nv_rmultinom(integer(), 5, c(1, 1), key = nv_key(1))), 2L)
  expect_identical(as.vector(nv_rmultinom(2, 7, 5, "i32", nv_key(1))), c(7L, 7L))
  # What is drawn again is compiled.
  draws <- lapply(1:3, function(k) as.vector(nv_rmultinom(7, 9, prob, "i32", nv_key(2))))
  expect_length(unique(draws), 1L)

  counts <- rbind(c(2, 0, 1, 0), c(0, 0, 0, 3), c(0, 1, 1, 1), c(50, 0, 2, 400), c(1.5, 0, 1, 0))
  got <- nv_dmultinom(nv_tensor(counts, "f64"), prob, log = TRUE)
  want <- apply(counts[-5, ], 1, dmultinom, prob = prob, log = TRUE)
  expect_equal(as.vector(got), c(want, -Inf), tolerance = 1e-13)
  expect_equal(as.vector(nv_dmultinom(c(2, 0, 1, 0), prob)), exp(want[1]), tolerance = 1e-7)
  expect_silent(check_gradient(
    function(p) nv_dmultinom(nv_tensor(c(2, 5, 1), "f64"), p, log = TRUE), c(0.2, 0.5, 0.3)
  ))
})

test_that("normal vectors have their covariance and density", {
  sigma <- matrix(c(4, 1, -1, 1, 2, 0.5, -1, 0.5, 1), 3)
  mean <- c(1, -2, 30)
  x <- as_array(nv_rmvnorm(c(100, 1000), mean, sigma, "f64", nv_key(530)))
  expect_identical(dim(x), c(100L, 1000L, 3L))
  dim(x) <- c(1e5, 3)
  expect_true(all(abs(colMeans(x) - mean) < 5 * sqrt(diag(sigma) / 1e5)))
  spread <- sqrt((sigma^2 + outer(diag(sigma), diag(sigma))) / 1e5)
  expect_true(all(abs(cov(x) - sigma) < 5 * spread))
  # The squared distance is a chi-squared number.
  far <- mahalanobis(x, mean, sigma)
  expect_likely(ks.test(far, "pchisq", 3)$p.value, "distance")
  want <- -far / 2 - log(det(2 * pi * sigma)) / 2
  got <- nv_dmvnorm(nv_tensor(x, "f64"), mean, sigma, log = TRUE)
  expect_equal(as.vector(got), want, tolerance = 1e-13)
  one <- nv_dmvnorm(nv_tensor(x[7, ], "f32"), mean, sigma)
  expect_identical(type_of(one), "f32")
  expect_equal(as.double(one), exp(want[7]), tolerance = 1e-6)
  expect_identical(shape(nv_dmvnorm(array(0, c(2, 5, 3)), mean, sigma)), c(2L, 5L))
  at <- nv_tensor(x[1:4, ], "f64")
  expect_silent(check_gradient(function(m, s) {
    s <- (s + nv_transpose(s)) / 2
    sum(nv_dmvnorm(at, m, s, log = TRUE)) + sum(nv_rmvnorm(2, m, s, "f64", nv_key(3))^2)
  }, mean, sigma))
  expect_identical(as_array(nv_is_na(nv_dmvnorm(nv_tensor(c(1, NA, 3)), mean, sigma))), TRUE)
  for (wrong in list(matrix(1:4, 2), matrix(1, 2, 2), matrix(c(1, NaN, NaN, 1), 2))) {
    expect_error(nv_rmvnorm(2, c(0, 0), wrong), class = "joist_value_error")
  }
  expect_error(nv_rmvnorm(2, c(0, 0), sigma), class = "joist_shape_error")
  expect_error(nv_dmvnorm(c(1, 2), mean, sigma), class = "joist_shape_error")
  expect_error(nv_rmvnorm(2, mean, sigma[1:2, ]), class = "joist_shape_error")
})

test_that("parameters are checked, in programs too", {
  key <- nv_key(1)
  wrong <- list(
    function(v) nv_rlnorm(3, 0, v, key = key), function(v) nv_rweibull(3, v, key = key),
    function(v) nv_rlogis(3, 0, v, key = key), function(v) nv_rcauchy(3, 0, v, key = key),
    function(v) nv_rt(3, v, key = key), function(v) nv_rchisq(3, v, key = key),
    function(v) nv_rf(3, 2, v, key = key), function(v) nv_rbeta(3, 1, v, key = key),
    function(v) nv_rgeom(3, v, key = key), function(v) nv_rnbinom(3, 2, mu = v, key = key),
    function(v) nv_rhyper(3, 5, 5, v, key = key), function(v) nv_rmultinom(1, 5, v, key = key)
  )
  for (f in wrong) {
    for (bad in c(-1, NaN, NA)) {
      v <- nv_tensor(c(1, 1, bad), "f64")
      expect_error(f(v), "position 3", class = "joist_value_error")
      expect_error(jit(f)(v), "must be|missing", class = "joist_value_error")
    }
  }
  expect_error(nv_rhyper(1, 5, 5, 11, key = key), "m [+] n", class = "joist_value_error")
  expect_error(nv_rmultinom(1, 5, c(0, 0), key = key), class = "joist_value_error")
  expect_identical(nv_qhyper(nv_aval("f64", 3), 3, 4, 5), nv_aval("f64", 3))
  expect_error(nv_rt(3, nv_tensor(1:2), key = key), class = "joist_shape_error")
})

test_that("derivatives are those of the same draw", {
  key <- nv_key(540)
  for (name in c("lnorm", "weibull", "logis", "cauchy")) {
    f <- function(a, b) sum(random_function(name)(6, a, b, "f64", key)^2)
    expect_silent(check_gradient(f, 1.3, 0.7))
  }
  # The mean a / (a + b) of beta numbers, and df2 / (df2 - 2) of F.
  slope <- gradient(function(a, b) nv_mean(nv_rbeta(2e5, a, b, "f64", key)))(
    nv_scalar(2, "f64"), nv_scalar(3, "f64")
  )
  expect_equal(c(as.double(slope$a), as.double(slope$b)), c(3, -2) / 25, tolerance = 0.03)
  slope <- gradient(function(d) nv_mean(nv_rf(2e5, 3, d, "f64", key)))(nv_scalar(20, "f64"))$d
  expect_equal(as.double(slope), -2 / 18^2, tolerance = 0.1)
  expect_identical(
    as.double(gradient(function(m) sum(nv_rnbinom(5, 2, mu = m, dtype = "f64", key = key)))(
      nv_scalar(3, "f64")
    )$m), 0
  )
})

test_that("draws of parameters that were checked before are those of new ones", {
  key <- nv_key(3)
  draws <- function(location, scale) nv_rlogis(5, location, scale, "f64", key)
  given <- list(c(1, 2), c(1, 2), c(0, 0), c(-0, 0), c(1, 2), c(1.5, 2), c(1, 2))
  for (p in given) {
    for (k in 1:2) {
      expect_identical(
        1 / as.vector(draws(p[1], p[2])),
        1 / as.vector(draws(nv_scalar(p[1], "f64"), nv_scalar(p[2], "f64")))
      )
    }
  }
  expect_error(draws(1, -2), class = "joist_value_error")
  compiled <- jit(function(key) nv_rlogis(5, 1, 2, "f64", key))
  expect_identical(as.vector(compiled(key)), as.vector(draws(1, 2)))
})

test_that("complex parameters and missing means are errors", {
  z <- nv_tensor(1 + 2i, "c128")
  key <- nv_key(1)
  for (draw in list(
    function() nv_rlnorm(2, z, key = key), function() nv_rbeta(2, z, 1, key = key),
    function() nv_rmultinom(1, z, c(1, 1), key = key), function() nv_rlnorm(2, 1i, key = key),
    function() nv_rcategorical(2, nv_tensor(c(1i, 0)), key = key),
    function() nv_sample(nv_tensor(1:3), 2, prob = nv_tensor(c(1i, 1, 1)), key = key),
    function() nv_rmvnorm(1, nv_tensor(c(1i, 0)), diag(2), key = key)
  )) {
    expect_error(draw(), "real numbers", class = "joist_dtype_error")
  }
  missing <- function() nv_rmvnorm(1, nv_tensor(c(NA, 0)), diag(2), key = key)
  expect_error(missing(), "`mean` is NA", class = "joist_value_error")
})

test_that("nv_dmultinom() of missing and NaN counts is missing and NaN, not 0", {
  counts <- nv_tensor(matrix(c(1, NA, 2, 3), 2), "f64")
  expect_equal(as_array(nv_dmultinom(counts, c(1, 1))), c(0.375, NA))
  expect_identical(as_array(nv_dmultinom(nv_tensor(c(NaN, 1), "f64"), c(1, 1))), NaN)
})
