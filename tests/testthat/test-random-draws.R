# Random tensors: distributions against R's own distribution functions, with fixed keys, so
# that a test always gives the same answer.

test_that("uniform numbers are uniform, in every float dtype", {
  for (d in Filter(has_zero, floats())) {
    # A power of 2, so that all of its multiples are of the dtype.
    steps <- min(2^float_spec(d)$digits, 1 / float_min_subnormal(d))
    x <- draws(nv_runif(60000, dtype = d, key = nv_key(11)))
    expect_true(all(x >= 0 & x < 1 & x * steps == floor(x * steps)), label = d)
    if (steps < 1e4) {
      expect_likely(chisq.test(tabulate(x * steps + 1, steps))$p.value, d)
    } else {
      expect_likely(suppressWarnings(ks.test(x, "punif"))$p.value, d)
      expect_gt(length(unique(x)), 59800)
    }
    low <- nv_scalar(-3, d)
    high <- if (is_narrow(d)) 4 else 5
    y <- draws(nv_runif(60000, low, high, dtype = d, key = nv_key(12)))
    expect_true(all(y >= -3 & y < high), label = d)
    if (is_narrow(d)) next
    expect_lt(abs(mean(y) - 1), 6 * sqrt(64 / 12 / 60000) + 8 / steps)
  }
})

test_that("uniform numbers never reach the upper limit, nor pass the lower one", {
  powers <- draws(nv_runif(2000, 1, 8, dtype = "f8E8M0FNU", key = nv_key(1)))
  expect_true(all(powers %in% c(1, 2, 4)) && length(unique(powers)) > 1L)
  for (d in Filter(has_zero, floats())) {
    ulp <- 2^(1 - float_spec(d)$digits)
    near <- draws(nv_runif(2000, 1, 1 + ulp, dtype = d, key = nv_key(1)))
    expect_identical(unique(near), 1)
    if (holds(1 + 3 * ulp, d) && float_spec(d)$digits > 2) {
      some <- draws(nv_runif(2000, 1, 1 + 3 * ulp, dtype = d, key = nv_key(2)))
      expect_identical(sort(unique(some)), 1 + (0:2) * ulp)
    }
    below <- draws(nv_runif(2000, -1 - 2 * ulp, -1, dtype = d, key = nv_key(2)))
    expect_identical(sort(unique(below)), -1 - (2:1) * ulp)
    expect_identical(draws(nv_runif(3, 2, 2, dtype = d)), c(2, 2, 2))
    smallest <- float_min_subnormal(d)
    expect_identical(unique(draws(nv_runif(50, 0, smallest, dtype = d))), 0)
    negative <- unique(draws(nv_runif(50, -smallest, 0, dtype = d)))
    expect_identical(negative, -smallest)
    wide <- draws(nv_runif(500, -float_max(d), float_max(d), dtype = d, key = nv_key(3)))
    upper <- if (d == "f4E2M1FN") -1 else float_max(d) / 2 # 4 numbers have few steps
    expect_true(all(is.finite(wide)) && min(wide) < 0 && max(wide) > upper, label = d)
  }
  each <- draws(nv_runif(c(2, 3), nv_tensor(matrix(0:5, 2)), matrix(1:6 + 0, 2), key = nv_key(4)))
  expect_true(all(floor(each) == 0:5))
})

test_that("normal numbers are normal, in every float and complex dtype", {
  for (d in floats()) {
    if (is_narrow(d)) { # those of f32, but for numbers half way between two of the dtype
      exact <- round_to(draws(nv_rnorm(1000, dtype = "f32", key = nv_key(21))), d)
      got <- draws(nv_rnorm(1000, dtype = d, key = nv_key(21)))
      expect_gt(mean(mapply(identical, got + 0, exact + 0)), 0.99, label = d)
      next
    }
    x <- draws(nv_rnorm(50000, dtype = d, key = nv_key(21)))
    ulp <- 2^-float_spec(d)$digits
    gap <- suppressWarnings(ks.test(x, "pnorm")$statistic)
    # Rounded numbers have steps in their distribution function.
    expect_lt(gap, 2.4 / sqrt(50000) + ulp)
    y <- draws(nv_rnorm(50000, 10, nv_scalar(2, d), dtype = d, key = nv_key(22)))
    expect_lt(abs(mean(y) - 10), 6 * 2 / sqrt(50000) + ulp)
    expect_lt(abs(sd(y) - 2), 6 * 2 / sqrt(2 * 50000) + 4 * ulp)
  }
  x <- draws(nv_rnorm(2e6, dtype = "f64", key = nv_key(23)))
  n <- length(x)
  expect_lt(abs(mean(x)), 5 / sqrt(n))
  expect_lt(abs(mean(x^2) - 1), 5 * sqrt(2 / n))
  expect_lt(abs(mean(x^3)), 5 * sqrt(15 / n))
  expect_lt(abs(mean(x^4) - 3), 5 * sqrt(96 / n))
  for (limit in c(2, 3, 4, 4.5)) {
    expect_likely(binom.test(sum(x > limit), n, pnorm(-limit))$p.value, paste(limit, "above"))
    expect_likely(binom.test(sum(x < -limit), n, pnorm(-limit))$p.value, paste(limit, "below"))
  }
  # The two numbers of a pair, and neighbours in general, have nothing to do with each other.
  for (lag in 1:4) {
    expect_lt(abs(cor(x[-seq_len(lag)], utils::head(x, -lag))), 5 / sqrt(n))
    expect_lt(abs(cor(x[-seq_len(lag)]^2, utils::head(x, -lag)^2)), 5 / sqrt(n))
  }
  for (d in complexes()) {
    z <- draws(nv_rnorm(50000, dtype = d, key = nv_key(24)))
    for (part in list(Re(z), Im(z))) {
      expect_likely(suppressWarnings(ks.test(part * sqrt(2), "pnorm"))$p.value, d)
    }
    expect_lt(abs(cor(Re(z), Im(z))), 5 / sqrt(50000))
    moved <- draws(nv_rnorm(50000, 3 - 4i, 2, dtype = d, key = nv_key(24)))
    expect_equal(moved, 3 - 4i + 2 * z, tolerance = complex_tolerance(d, 1e-6, 1e-14))
  }
})

test_that("whole numbers are equally likely, in every dtype", {
  for (d in dtypes_with(-7:5, setdiff(dtypes(), "bool"))) {
    signed <- kind_of(d) != "uint"
    low <- if (signed) -7 else 3
    x <- Re(draws(nv_randint(26000, low, low + 12, dtype = d, key = nv_key(31))))
    expect_true(all(x %in% (low + 0:12)), label = d)
    expect_likely(chisq.test(tabulate(x - low + 1, 13))$p.value, d)
  }
  expect_lt(abs(mean(draws(nv_randint(9000, FALSE, TRUE, "bool", nv_key(32)))) - 0.5), 0.03)
  for (d in ints()) {
    lowest <- int_tensor(int_min(d), d, integer())
    highest <- int_tensor(int_max(d), d, integer())
    all <- draws(nv_convert(nv_randint(40000, lowest, highest, d, nv_key(33)), "f64"))
    p <- (all - as.numeric(int_min(d))) / 2^width_of(d)
    if (is_narrow(d)) {
      expect_identical(length(unique(all)), as.integer(2^width_of(d)))
      expect_likely(chisq.test(table(all))$p.value, d)
    } else {
      expect_likely(suppressWarnings(ks.test(p + 2^-width_of(d) * 0.5, "punif"))$p.value, d)
    }
    expect_identical(nv_randint(4, highest, highest, d), nv_broadcast_to(highest, 4))
    expect_identical(nv_randint(4, lowest, lowest, d), nv_broadcast_to(lowest, 4))
  }
  # Three quarters of the range: a remainder or a plain product would be off by a third.
  for (d in c("ui32", "ui64")) {
    top <- 0.75 * 2^width_of(d)
    x <- draws(nv_convert(nv_randint(60000, 0, top - 1024, d, nv_key(34)), "f64")) / top
    expect_likely(ks.test(x, "punif")$p.value, d)
    expect_likely(chisq.test(table(floor(x * 3)))$p.value, d)
  }
  each <- draws(nv_randint(3, c(1, 10, 100), nv_tensor(c(2L, 11L, 101L))))
  expect_true(all((each - c(1, 10, 100)) %in% 0:1))
})

test_that("binomial numbers have their distribution, whatever the size and probability", {
  cases <- list(
    c(2, 0.5), c(9, 0.3), c(19, 0.5), c(20, 0.5), c(40, 0.3), c(40, 0.7), c(100, 0.0999),
    c(100, 0.1001), c(1000, 0.9), c(1000, 0.995), c(1e6, 1e-5), c(1e6, 0.25), c(2^31 - 1, 0.4),
    c(2^40, 1e-10), c(1e12, 0.5), c(2^53, 0.3)
  )
  for (k in seq_along(cases)) {
    size <- cases[[k]][1]
    prob <- cases[[k]][2]
    x <- draws(nv_rbinom(1e5, size, prob, dtype = "f64", key = nv_key(40 + k)))
    expect_true(all(x >= 0 & x <= size & x == floor(x)))
    p <- chi_square(x, function(p) qbinom(p, size, prob), function(q) pbinom(q, size, prob))
    expect_likely(p, paste("size", size, "probability", prob))
  }
  for (d in dtypes()) {
    size <- if (d == "bool") 1 else 100
    if (is_narrow(d)) size <- if (all(holds(0:2, d))) 2 else 0
    if (!has_zero(d)) next
    x <- nv_rbinom(50, size, 0.4, d, nv_key(5))
    expect_identical(type_of(x), d)
    expect_equal(Re(draws(x)) + 0, draws(nv_rbinom(50, size, 0.4, "f64", nv_key(5))))
  }
  expect_identical(draws(nv_rbinom(4, c(0, 5, 7, 1000), c(0.3, 0, 1, 1))), c(0L, 0L, 7L, 1000L))
  # One value, or the same for each element; single trials among others.
  one <- draws(nv_rbinom(3000, 1, 0.3, key = nv_key(7)))
  many <- draws(nv_rbinom(3000, 50, 0.3, key = nv_key(7)))
  mixed <- draws(nv_rbinom(3000, rep(c(1, 50), 1500), 0.3, key = nv_key(7)))
  expect_identical(mixed, ifelse(rep(c(TRUE, FALSE), 1500), one, many))
  prob <- c(0, 0.1, 0.5, 0.9, 1)
  x <- as_array(nv_rbernoulli(c(5, 20000), nv_tensor(matrix(prob, 5), "f64"), key = nv_key(6)))
  expect_type(x, "logical")
  expect_identical(rowMeans(x)[c(1, 5)], c(0, 1))
  expect_true(all(abs(rowMeans(x) - prob) <= 5 * sqrt(prob * (1 - prob) / 20000)))
})

test_that("all bits are random", {
  for (d in ints()) {
    bits <- nv_random_bits(20000, d, nv_key(51))
    expect_identical(type_of(bits), d)
    # Copies of the sign fill the byte of a narrow integer.
    counts <- rowSums(matrix(as.integer(rawToBits(bytes_of(bits))), storage_of(d)))
    counts <- counts[seq_len(width_of(d))]
    values <- as_array(nv_convert(bits, "f64"))
    expect_true(all(values >= as.numeric(int_min(d)) & values <= as.numeric(int_max(d))))
    expect_true(all(abs(counts - 10000) < 5 * sqrt(5000)), label = d)
  }
})

test_that("a key decides, set.seed() decides without one, and every call gives others", {
  set.seed(9)
  first <- nv_runif(5)
  second <- nv_runif(5)
  own <- runif(1)
  set.seed(9)
  expect_identical(nv_runif(5), first)
  expect_identical(nv_runif(5), second)
  expect_identical(runif(1), own)
  expect_false(identical(first, second))
  set.seed(9)
  expect_identical(nv_runif(5, key = nv_key()), first)
  key <- nv_key(3)
  before <- .Random.seed
  expect_identical(nv_rnorm(5, key = key), nv_rnorm(5, key = key))
  expect_identical(.Random.seed, before)
  # A longer result begins with a shorter one.
  expect_identical(nv_rnorm(7, key = key), nv_rnorm(c(11, 3), key = key)[1:7])
})

test_that("keys are made of whole numbers and differ", {
  words <- function(key) draws(key)
  expect_identical(words(nv_key(42)), c(42, 0))
  expect_identical(words(nv_key(2^53)), c(0, 2^21))
  expect_identical(words(nv_key(-1)), c(2^32 - 1, 2^32 - 1))
  expect_identical(type_of(nv_key(1L)), "ui32")
  key <- nv_key(7)
  keys <- c(
    nv_key_split(key, 500), lapply(0:499, function(k) nv_fold_in(key, k)), list(key),
    nv_key_split(nv_key(8), 500)
  )
  expect_identical(anyDuplicated(lapply(keys, words)), 0L)
  expect_identical(nv_fold_in(key, 5), nv_fold_in(key, nv_scalar(5L, "ui8")))
  expect_identical(nv_fold_in(key, -5L), nv_fold_in(key, -5))
  expect_identical(nv_key_split(key, 3), nv_key_split(key, 5)[1:3])
  # Draws of different keys are independent, as are the keys' own bits.
  samples <- vapply(keys[1:30], function(k) draws(nv_rnorm(4000, key = k)), numeric(4000))
  correlation <- cor(samples)
  expect_lt(max(abs(correlation[upper.tri(correlation)])), 5 / sqrt(4000))
  expect_likely(ks.test(unlist(lapply(keys, words)) / 2^32, "punif")$p.value, "words of keys")
  expect_error(nv_key(1.5), class = "joist_value_error")
  expect_error(nv_key(c(1, 2)), class = "joist_value_error")
  expect_error(nv_key(NA_real_), class = "joist_value_error")
  expect_error(nv_key(Inf), class = "joist_value_error")
  expect_error(nv_key("1"), class = "joist_value_error")
  expect_error(nv_fold_in(key, 0.5), class = "joist_value_error")
  expect_error(nv_fold_in(key, nv_tensor(1:2)), class = "joist_shape_error")
  expect_error(nv_key_split(key, -1), class = "joist_value_error")
  expect_identical(nv_key_split(key, 0), list())
})

# Every function with a key, in a dtype.
with_key <- list(
  runif = function(key, d) nv_runif(c(5, 41), -1, 3, dtype = d, key = key),
  rnorm = function(key, d) nv_rnorm(c(5, 41), 1, 2, dtype = d, key = key),
  randint = function(key, d) nv_randint(c(5, 41), 0, 1, dtype = d, key = key),
  rbinom = function(key, d) nv_rbinom(c(5, 41), 1, 0.3, dtype = d, key = key),
  bits = function(key, d) nv_random_bits(c(5, 41), dtype = d, key = key),
  rexp = function(key, d) nv_rexp(c(5, 41), 2, dtype = d, key = key),
  rgamma = function(key, d) nv_rgamma(c(5, 41), 0.7, 2, dtype = d, key = key),
  rpois = function(key, d) nv_rpois(c(5, 41), 12, dtype = d, key = key),
  rcategorical = function(key, d) nv_rcategorical(c(5, 41), c(1, 2, 3), dtype = d, key = key),
  rlnorm = function(key, d) nv_rlnorm(c(5, 41), -1, 0.5, dtype = d, key = key),
  rweibull = function(key, d) nv_rweibull(c(5, 41), 2, 3, dtype = d, key = key),
  rlogis = function(key, d) nv_rlogis(c(5, 41), 1, 0.2, dtype = d, key = key),
  rcauchy = function(key, d) nv_rcauchy(c(5, 41), dtype = d, key = key),
  rt = function(key, d) nv_rt(c(5, 41), 9, dtype = d, key = key),
  rchisq = function(key, d) nv_rchisq(c(5, 41), 9, dtype = d, key = key),
  rf = function(key, d) nv_rf(c(5, 41), 9, 30, dtype = d, key = key),
  rbeta = function(key, d) nv_rbeta(c(5, 41), 2, 3, dtype = d, key = key),
  rgeom = function(key, d) nv_rgeom(c(5, 41), 0.9, dtype = d, key = key),
  rnbinom = function(key, d) nv_rnbinom(c(5, 41), 3, mu = 2, dtype = d, key = key),
  rhyper = function(key, d) nv_rhyper(c(5, 41), 4, 5, 3, dtype = d, key = key),
  rmultinom = function(key, d) nv_rmultinom(5, 7, 1:41, dtype = d, key = key),
  rmvnorm = function(key, d) nv_rmvnorm(5, rep(0, 41), diag(41), dtype = d, key = key)
)
key_dtypes <- list(
  runif = floats(), rnorm = c(floats(), complexes()), randint = dtypes(), rbinom = dtypes(),
  bits = ints(), rexp = floats(), rgamma = floats(), rpois = c(ints(), floats()),
  rcategorical = c(ints(), floats())
)
counted <- c("rgeom", "rnbinom", "rhyper", "rmultinom")
for (name in setdiff(names(with_key), names(key_dtypes))) {
  key_dtypes[[name]] <- if (name %in% counted) c(ints(), floats()) else floats()
}

# What a dtype must hold for them.
drawn_numbers <- list(
  runif = c(-1, 0, 3), randint = 0:1, rbinom = 0:1, rpois = 0:60, rcategorical = 1:3,
  rgeom = 0:60, rnbinom = 0:60, rhyper = 0:4, rmultinom = 0:7, rcauchy = c(-1e4, 1e4)
)

test_that("jit() gives the same numbers, nv_aval() the same type, other dtypes an error", {
  for (name in names(with_key)) {
    f <- with_key[[name]]
    for (d in dtypes()) {
      key <- nv_key(61)
      if (!d %in% key_dtypes[[name]]) {
        expect_error(f(key, d), paste("not defined for", d), class = "joist_dtype_error")
        expect_error(jit(f, static = "d")(key, d), class = "joist_dtype_error")
        next
      }
      if (!all(holds(drawn_numbers[[name]], d)) || !has_zero(d)) next
      want <- f(key, d)
      expect_identical(type_of(want), d)
      expect_identical(shape(want), c(5L, 41L))
      expect_identical(jit(f, static = "d")(key, d), want)
      expect_identical(f(nv_aval("ui32", 2), d), nv_aval(d, c(5, 41)))
    }
  }
  # Parameters that are traced, and numbers that are: exact as in an eager call.
  g <- function(key, a, b) {
    list(
      nv_runif(7, a, b, dtype = "f64", key = key), nv_rnorm(7, a, b, dtype = "f64", key = key),
      nv_randint(7, 1L, 9L, key = nv_fold_in(key, 3L)), nv_key_split(key, 2)
    )
  }
  for (parameters in list(list(0.1, 0.7), list(nv_scalar(1L, "i8"), nv_tensor(2:8, "f32")))) {
    expect_identical(
      jit(g)(nv_key(62), parameters[[1]], parameters[[2]]),
      g(nv_key(62), parameters[[1]], parameters[[2]])
    )
  }
  step <- jit(function(key, i) nv_fold_in(key, i))
  expect_identical(step(nv_key(1), 4L), nv_fold_in(nv_key(1), 4L))
})

test_that("without a key jit() stops, and R's generator stays where it is", {
  set.seed(1)
  before <- .Random.seed
  f <- jit(function(x) x + nv_runif(2))
  expect_error(f(nv_tensor(c(1, 2))), "key", class = "joist_value_error")
  expect_error(jit(function(x) nv_key())(1), class = "joist_value_error")
  expect_error(jit(function(x) nv_sample(x))(nv_tensor(1:3)), class = "joist_value_error")
  expect_identical(.Random.seed, before)
  expect_length(nv_runif(3), 3L)
})

test_that("wrong keys and parameters are refused, with position", {
  expect_error(nv_runif(2, key = 1), "ui32", class = "joist_dtype_error")
  expect_error(nv_runif(2, key = nv_tensor(1:2)), "ui32", class = "joist_dtype_error")
  expect_error(nv_runif(2, key = nv_tensor(1:3, "ui32")), class = "joist_shape_error")
  expect_error(nv_runif(2, key = nv_aval("ui32", c(2, 1))), class = "joist_shape_error")
  expect_error(nv_runif(3, c(0, 5, 0), 1), "position 2", class = "joist_value_error")
  expect_error(nv_runif(3, NaN, 1), class = "joist_value_error")
  expect_error(nv_runif(3, 0, 1e6, "f16"), class = "joist_value_error")
  expect_error(nv_rnorm(3, 0, c(1, 1, -1)), "position 3", class = "joist_value_error")
  expect_error(nv_rnorm(3, 0, Inf), class = "joist_value_error")
  expect_error(nv_rnorm(3, 1i), class = "joist_dtype_error")
  expect_error(nv_rnorm(3, 0, 1i, dtype = "c64"), class = "joist_dtype_error")
  expect_error(nv_randint(3, 2, 1), class = "joist_value_error")
  expect_error(nv_randint(3, 0.5, 1), class = "joist_value_error")
  expect_error(nv_randint(3, 0, 256, "ui8"), class = "joist_value_error")
  expect_error(nv_randint(3, -1, 5, "ui64"), class = "joist_value_error")
  expect_error(nv_randint(3, 0, 4096, "f16"), class = "joist_value_error")
  expect_error(nv_randint(3, 0, 2^64, "ui64"), class = "joist_value_error")
  expect_error(nv_rbinom(3, -1, 0.5), class = "joist_value_error")
  expect_error(nv_rbinom(3, 200, 0.5, "i8"), class = "joist_value_error")
  expect_error(nv_rbinom(3, 1.5, 0.5), class = "joist_value_error")
  expect_error(nv_rbinom(2, 5, c(0.5, 1.5)), "position 2", class = "joist_value_error")
  expect_error(nv_rbinom(2, 5, NaN), class = "joist_value_error")
  expect_error(nv_runif(c(2, 2), nv_tensor(1:3)), class = "joist_shape_error")
  expect_error(nv_runif(-1), class = "joist_shape_error")
  expect_identical(shape(nv_runif(c(0, 3))), c(0L, 3L))
  expect_identical(shape(nv_rbinom(integer(), 5, 0.5)), integer())
})

test_that("nv_sample() of one number samples from 1 to it, as sample() does", {
  draws <- function(x) as.vector(x)
  for (n in list(5, 5L, 5.9, 1, 1L)) {
    expect_identical(sort(draws(nv_sample(n, key = nv_key(1)))), seq_len(n))
    expect_identical(nv_sample(n, key = nv_key(1)), nv_sample(seq_len(n), key = nv_key(1)))
  }
  expect_identical(sort(draws(nv_sample(9, 4, key = nv_key(2))) %in% 1:9), rep(TRUE, 4))
  expect_identical(length(unique(draws(nv_sample(9, 4, key = nv_key(2))))), 4L)
  expect_setequal(draws(nv_sample(3, 200, replace = TRUE, key = nv_key(3))), 1:3)
  # These are elements, for sample(), too.
  for (one in list(0.5, 0, -3, Inf)) expect_identical(draws(nv_sample(one)), as.double(one))
  expect_identical(draws(nv_sample(nv_scalar(5))), 5)
  expect_identical(
    jit(nv_sample, static = "x")(5, key = nv_key(1)), nv_sample(5, key = nv_key(1))
  )
  refused <- expect_error(jit(nv_sample)(5, key = nv_key(1)), class = "joist_value_error")
  expect_match(conditionMessage(refused), "`x`.*static")
})

test_that("positions drawn part by part are the first of all", {
  key <- nv_key(7)
  all <- random_positions(1000, 1000, key, part = 64)
  expect_setequal(draws(all), 1:1000)
  for (size in c(0, 1, 3, 63, 64, 65, 999)) {
    some <- random_positions(1000, size, key, part = 64)
    expect_identical(some, all[seq_len(size)], label = size)
    expect_identical(jit(function(k) random_positions(1000, size, k, part = 64))(key), some)
  }
  often <- unlist(lapply(1:400, function(k) draws(random_positions(50, 3, nv_key(k), part = 8))))
  expect_likely(chisq.test(table(factor(often, 1:50)))$p.value, "parts")
})

test_that("nv_sample() takes every arrangement with the same probability", {
  x <- nv_tensor(c(10L, 20L, 30L, 40L), "i16")
  taken <- vapply(1:4800, function(k) {
    paste(draws(nv_sample(x, key = nv_key(k))), collapse = " ")
  }, "")
  expect_identical(length(unique(taken)), 24L)
  expect_likely(chisq.test(table(taken))$p.value, "permutations")
  pairs <- vapply(1:2400, function(k) {
    paste(draws(nv_sample(x, 2, key = nv_key(k))), collapse = " ")
  }, "")
  expect_identical(length(unique(pairs)), 12L)
  again <- draws(nv_sample(x, 20000, replace = TRUE, key = nv_key(1)))
  expect_likely(chisq.test(table(again))$p.value, "with replacement")
  for (d in dtypes()) {
    v <- sample_tensor(d, 30)
    s <- nv_sample(v, key = nv_key(2))
    expect_identical(type_of(s), d)
    expect_identical(table(as_array(s, as = "character")), table(as_array(v, as = "character")))
    expect_identical(jit(function(x, k) nv_sample(x, 9, key = k))(v, nv_key(2)), s[1:9])
  }
  expect_identical(shape(nv_sample(nv_aval("f32", c(2, 3)), 4, key = nv_key(1))), 4L)
  expect_identical(draws(nv_sample(nv_scalar(5L))), 5L)
  expect_identical(sort(draws(nv_sample(matrix(1:6, 2)))), 1:6)
  expect_error(nv_sample(x, 5), "replace", class = "joist_value_error")
  expect_error(nv_sample(nv_tensor(integer()), 1, replace = TRUE), class = "joist_value_error")
  expect_identical(shape(nv_sample(nv_tensor(integer()), replace = TRUE)), 0L)
})

# tests/core/test_random.c tries the instruction sets.
test_that("the number of threads changes nothing", {
  threads <- nv_get_threads()
  on.exit(nv_set_threads(threads))
  key <- nv_key(71)
  all <- function() {
    list(
      nv_runif(3e5, key = key), nv_runif(3e5, -1, 1, dtype = "f64", key = key),
      nv_rnorm(3e5, key = key), nv_rnorm(3e5, dtype = "c128", key = key),
      nv_randint(3e5, 1, 1e9, key = key), nv_rbinom(3e5, 100, 0.3, key = key),
      nv_rexp(3e5, dtype = "f64", key = key), nv_rgamma(3e5, 0.7, dtype = "f64", key = key),
      nv_rpois(3e5, 20, key = key), nv_rcategorical(3e5, 1:9, key = key),
      nv_rcategorical(1e5, nv_fill(0, c(1e5, 3)), key = key)
    )
  }
  nv_set_threads(1)
  want <- all()
  nv_set_threads(2)
  expect_identical(all(), want)
})
