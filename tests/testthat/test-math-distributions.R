# Densities, distribution functions and quantiles beside base R's, their dtypes, edges, derivatives.

type_of <- function(x) paste0(format(dtype(x)), if (ambiguous(x)) "?")

# Parameters of each, where digits are lost and found, and numbers to ask them of.
families <- list(
  norm = list(x = c(-37.3, -20, -3, -1.1, -0.9, 0, 1e-10, 0.3, 5, 8), at = list(c(0, 1), c(2, 3))),
  exp = list(x = c(0, 1e-300, 1e-5, 0.4, 3, 200), at = list(1, 0.3)),
  gamma = list(
    x = c(1e-300, 1e-5, 0.3, 1, 3, 17.5, 80, 200),
    at = list(c(0.01, 1), c(0.5, 2), c(1, 1), c(2.5, 0.3), c(80, 1), c(1000, 6))
  ),
  pois = list(x = c(0, 1, 2, 10, 50, 100), at = list(0, 0.1, 3, 50, 400)),
  beta = list(
    x = c(1e-300, 1e-10, 0.1, 0.3, 0.5, 0.9, 1 - 1e-12),
    at = list(c(1, 1), c(0.5, 0.5), c(2, 3), c(1, 4), c(30, 2), c(400, 500))
  ),
  binom = list(
    x = c(0, 1, 2, 10, 50, 100), at = list(c(100, 0.3), c(1, 0.5), c(50, 1), c(1e5, 1e-3))
  ),
  t = list(x = c(-1e10, -50, -2, -0.1, 0, 1e-10, 1, 3, 100), at = list(1, 1.5, 2.2, 30, 1e4, Inf)),
  lnorm = list(x = c(0, 1e-300, 1e-5, 0.4, 1, 3, 200, 1e100), at = list(c(0, 1), c(2, 3))),
  weibull = list(
    x = c(0, 1e-10, 1e-5, 0.4, 1, 3, 20), at = list(c(1, 1), c(0.5, 2), c(3, 0.7), c(20, 4))
  ),
  logis = list(x = c(-700, -20, -1, 0, 1e-10, 0.3, 5, 40), at = list(c(0, 1), c(2, 3))),
  cauchy = list(
    x = c(-1e10, -50, -2, -0.1, 0, 1e-10, 1, 3, 1e100), at = list(c(0, 1), c(2, 0.3))
  ),
  chisq = list(x = c(0, 1e-300, 1e-5, 0.3, 1, 3, 80, 200), at = list(0.5, 1, 2, 7, 90)),
  f = list(
    x = c(0, 1e-200, 1e-5, 0.3, 1, 3, 80, 1e5), at = list(c(1, 1), c(2, 5), c(3.5, 2), c(40, 90))
  ),
  geom = list(x = c(0, 1, 2, 10, 50, 1000), at = list(0.5, 0.01, 0.9, 1)),
  nbinom = list(
    x = c(0, 1, 2, 10, 50, 1000), at = list(c(1, 0.5), c(0.3, 0.02), c(20, 0.4), c(3, 1), c(0, 0.5))
  ),
  hyper = list(
    x = c(0, 1, 2, 3, 10, 49, 50, 100),
    at = list(c(10, 7, 8), c(50, 1000, 60), c(400, 300, 350), c(5, 0, 3), c(3, 4, 0))
  )
)
shares <- c(0, 1e-200, 1e-5, 0.2, 0.5, 0.8, 1 - 1e-9, 1)

of_r <- function(kind, family) {
  own <- get(paste0(kind, family), asNamespace("stats"))
  if (kind == "q" && family == "f") quantile_of_f else own
}
# R's small quantiles of F have lost digits, which their reciprocals have.
quantile_of_f <- function(p, df1, df2, ...) {
  flags <- list(...)
  own <- stats::qf(p, df1, df2, ...)
  flags$lower.tail <- !flags$lower.tail
  turned <- 1 / do.call(stats::qf, c(list(p, df2, df1), flags))
  ifelse(own < 1, turned, own)
}
of_joist <- function(kind, family) getExportedValue("joist", paste0("nv_", kind, family))

each_form <- function(check) {
  for (family in names(families)) {
    for (parameters in families[[family]]$at) {
      for (log in c(FALSE, TRUE)) {
        own <- as.list(parameters)
        check("d", family, families[[family]]$x, c(own, log = log))
        for (lower in c(TRUE, FALSE)) {
          flags <- list(lower.tail = lower, log.p = log)
          check("p", family, families[[family]]$x, c(own, flags))
          check("q", family, if (log) log(shares) else shares, c(own, flags))
        }
      }
    }
  }
}

test_that("f64 is base R's, to the last digits, of logarithms and of both tails", {
  each_form(function(kind, family, x, more) {
    want <- do.call(of_r(kind, family), c(list(x), more))
    got <- as.double(do.call(of_joist(kind, family), c(list(nv_tensor(x, "f64")), more)))
    # The absolute error of a logarithm is the relative error of the value itself.
    logarithm <- isTRUE(more[["log"]]) || kind == "p" && isTRUE(more[["log.p"]])
    scale <- if (logarithm) pmax(1, abs(want)) else abs(want)
    error <- ifelse(got == want | is.nan(want) & family == "hyper", 0, abs(got - want) / scale)
    error[kind == "q" & abs(want) < 1e-300] <- 0 # where R's quantiles end
    # A median of t is 0, where R has 1e-16, and R's quantiles that far out have two digits.
    error[family == "t" & kind == "q" & (abs(want) < 1e-15 | abs(want) > 1e100)] <- 0
    # R adds up the other tail, takes no logarithm of 0, and stops at the greatest double.
    error[family == "hyper" & kind == "q" & x %in% c(1e-200, log(1e-200), -Inf)] <- 0
    error[family == "f" & kind == "q" & want > 1e300] <- 0
    label <- paste0(kind, family, " ", deparse1(more), ": ", which.max(error))
    expect_lt(max(error), 1e-12, label = label)
  })
})

test_that("other dtypes are f64 rounded once, eagerly and in jit()", {
  each_form(function(kind, family, x, more) {
    f <- of_joist(kind, family)
    for (d in c("f32", "f16", "bf16")) {
      narrow <- nv_tensor(suppressWarnings(round_to(x, d)), d)
      narrow <- nv_ifelse(nv_is_finite(narrow), narrow, 1)
      got <- do.call(f, c(list(narrow), more))
      wide <- do.call(f, c(list(nv_convert(narrow, "f64")), more))
      expect_identical(type_of(got), d)
      expect_identical(got, nv_convert(wide, d))
    }
    compiled <- jit(function(x) do.call(f, c(list(x), more)))
    expect_identical(compiled(narrow), got)
    expect_identical(compiled(nv_convert(narrow, "f64")), wide)
  })
})

test_that("the dtype is that of the tensors and numbers together, which broadcast", {
  x <- nv_tensor(c(0.1, 0.5, 0.9))
  expect_identical(type_of(nv_pnorm(x)), "f32")
  expect_identical(type_of(nv_pnorm(x, nv_scalar(0, "f64"))), "f64")
  expect_identical(type_of(nv_pnorm(x, nv_scalar(0L, "i8"), 2L)), "f32")
  expect_identical(type_of(nv_ppois(nv_tensor(1:3, "ui8"), nv_tensor(2, "f16"))), "f16")
  # Numbers such as 0.25 have no common dtype with narrow integers.
  for (d in dtypes_with(c(0, 1, 0.75, 0.25), setdiff(dtypes(), complexes()))) {
    y <- nv_convert(nv_tensor(c(0, 1, 0)), d)
    expect_identical(type_of(nv_dexp(y)), type_of(nv_exp(nv_add(y, 1))))
    expect_identical(type_of(nv_beta(y, y)), type_of(nv_exp(y)))
    expect_identical(as.double(nv_dbinom(y, 1, 0.25)), c(0.75, 0.25, 0.75))
  }
  # R numbers are exact until they meet a dtype.
  at <- nv_scalar(0.3, "f64")
  expect_identical(as.double(nv_pexp(at, 0.1)), as.double(nv_pexp(at, nv_scalar(0.1, "f64"))))
  column <- nv_tensor(matrix(c(0.2, 0.7), 2), "f64")
  row <- nv_tensor(matrix(c(1, 2, 3), 1), "f64")
  want <- outer(c(0.2, 0.7), 1:3, function(x, a) pbeta(x, a, 2))
  expect_equal(as_array(nv_pbeta(column, row, 2)), want, tolerance = 1e-14)
  expect_equal(as_array(nv_qgamma(column, row)), outer(c(0.2, 0.7), 1:3, qgamma), tolerance = 1e-14)
  expect_error(nv_pbeta(column, nv_tensor(c(1, 2), "f64"), 2), class = "joist_shape_error")
  set.seed(4)
  many <- nv_tensor(rgamma(5000, 3), "f64")
  threads <- nv_get_threads()
  on.exit(nv_set_threads(threads))
  results <- lapply(1:2, function(n) {
    nv_set_threads(n)
    nv_pgamma(many, 3)
  })
  expect_identical(results[[1]], results[[2]])
  empty <- nv_tensor(numeric(), "f64")
  expect_identical(shape(nv_qt(empty, 3)), 0L)
})

test_that("what is outside, infinite, or no parameter gives what base R gives, without a warning", {
  f64 <- function(x) nv_tensor(x, "f64")
  odd <- c(-Inf, -1, 0, 0.5, 1, 2, Inf, NaN)
  same <- function(kind, family, x, ...) {
    want <- suppressWarnings(of_r(kind, family)(x, ...))
    got <- as.double(of_joist(kind, family)(f64(x), ...))
    expect_equal(got, want, tolerance = 1e-12, label = deparse1(list(kind, family, ...)))
  }
  bad <- list(
    norm = list(c(0, -1), c(NaN, 1), c(0, NaN), c(1, 0)), exp = list(-1, NaN),
    gamma = list(c(-1, 1), c(2, -1), c(NaN, 1), c(2, NaN), c(0, 1)), pois = list(-1, NaN, 0),
    beta = list(c(-1, 1), c(1, -1), c(NaN, 1), c(1, NaN)),
    binom = list(c(-1, 0.5), c(3, -0.1), c(3, 1.1), c(3, NaN), c(0, 0.5), c(3, 0)),
    t = list(0, -1, NaN)
  )
  for (family in names(bad)) {
    for (parameters in c(bad[[family]], families[[family]]$at[1])) {
      for (kind in c("d", "p", "q")) {
        # R has the ends of the support for quantiles of 0 and 1 of no distribution, too.
        asked <- if (kind == "q") 0.5 else odd
        do.call(same, c(list(kind, family, asked), as.list(parameters)))
      }
    }
  }
  for (f in list(nv_dbinom, nv_pbinom, nv_qbinom)) {
    expect_identical(as.double(f(f64(0.5), 2.5, 0.5)), NaN)
  }
  whole <- f64(c(2, 2 + 1e-9, 2.5, -1e-9))
  expect_equal(as.double(nv_dpois(whole, 3)), c(dpois(2, 3), dpois(2, 3), 0, dpois(0, 3)))
  expect_identical(as.double(nv_dpois(f64(NA), 3)), NA_real_)
  expect_identical(as.double(nv_pnorm(f64(NA))), NA_real_)
  expect_identical(as.double(nv_qt(f64(0.5), NA_real_)), NA_real_)
  far <- as.double(nv_pt(f64(c(-1e300, -1e200)), 0.1, log.p = TRUE))
  expect_equal(far, pt(c(-1e300, -1e200), 0.1, log.p = TRUE), tolerance = 1e-14)
  expect_equal(as.double(nv_qt(f64(1e-300), 1)), qt(1e-300, 1), tolerance = 1e-13)
  # Near the greatest double; by mpmath, and by the tail that falls as a power.
  far <- nv_qt(f64(-1.5941686504617625e-17), 0.053431081877950599, lower.tail = FALSE, log.p = TRUE)
  expect_equal(as.double(far), -6.5217448e307, tolerance = 1e-7)
  for (q in c(1e307, 7.4e307, 1.7e308)) {
    for (df in c(0.01, 0.5, 1)) {
      tail <- -df * log(q) + df / 2 * log(df) - log(df) - lbeta(df / 2, 0.5)
      expect_equal(as.double(nv_qt(f64(tail), df, log.p = TRUE)), -q, tolerance = 1e-12)
      share <- pf(q, df, df, lower.tail = FALSE, log.p = TRUE)
      seen <- nv_qf(f64(share), df, df, lower.tail = FALSE, log.p = TRUE)
      expect_equal(as.double(seen), q, tolerance = 1e-11)
    }
  }
  # dgamma(x, a, r) is r^a x^(a - 1) / gamma(a) for a small product of r and x.
  small <- as.double(nv_dgamma(f64(c(1e-320, 0)), 0.5, 1e-10))
  expect_equal(small, c(sqrt(1e-10 / pi) / sqrt(1e-320), Inf), tolerance = 1e-12)
})

test_that("quantiles far out are where the logarithm of the tail is what was asked for", {
  logs <- -10^c(-12, -5, 0, 1, 2, 3, 5)
  back <- function(family, lower, ...) {
    more <- list(..., lower.tail = lower, log.p = TRUE)
    z <- do.call(of_joist("q", family), c(list(nv_tensor(logs, "f64")), more))
    got <- as.double(do.call(of_joist("p", family), c(list(z), more)))
    expect_equal(got / logs, rep(1, length(logs)), tolerance = 1e-11, label = family)
  }
  back("norm", TRUE)
  back("norm", FALSE)
  back("exp", FALSE)
  back("gamma", FALSE, 3)
  back("gamma", FALSE, 0.2)
  back("gamma", TRUE, 2000)
  back("beta", TRUE, 800, 700)
  back("t", TRUE, 2000)
  back("t", FALSE, 400.5)
  # The logarithm of an upper tail of gamma is (a - 1) log(x) - x - lgamma(a) there.
  for (a in c(0.5, 2, 1000)) {
    for (p in -c(1e9, 1e12, 1e100, 1e300)) {
      x <- -p
      for (k in 1:9) x <- (a - 1) * log(x) - p - lgamma(a)
      got <- nv_qgamma(nv_tensor(p, "f64"), a, lower.tail = FALSE, log.p = TRUE)
      expect_equal(as.double(got) / x, 1, tolerance = 1e-14)
    }
  }
  far <- c(-1e308, -1e200, -1e120)
  expect_equal(as.double(nv_pt(nv_tensor(far, "f64"), 0.1)), pt(far, 0.1), tolerance = 1e-12)
  # Counts: the least one that is enough.
  p <- c(1e-10, 0.01, 0.3, 0.5, 0.99, 1 - 1e-12)
  for (lambda in c(0.2, 7, 1234)) {
    k <- as.double(nv_qpois(nv_tensor(p, "f64"), lambda))
    expect_true(all(ppois(k, lambda) >= p * (1 - 1e-13)))
    expect_true(all(ppois(k - 1, lambda) < p))
  }
})

test_that("the beta function keeps its digits where gamma functions overflow", {
  pairs <- expand.grid(
    a = c(1e-300, 1e-5, 0.3, 1, 2.5, 20, 400, 1e6, 1e15), b = c(1e-3, 1, 7, 150, 1e5, 1e100)
  )
  got <- as.double(nv_lbeta(nv_tensor(pairs$a, "f64"), nv_tensor(pairs$b, "f64")))
  want <- lbeta(pairs$a, pairs$b)
  expect_lt(max(abs(got - want) / pmax(1, abs(want))), 16 * 2^-52)
  value <- as.double(nv_beta(nv_tensor(pairs$a, "f64"), nv_tensor(pairs$b, "f64")))
  want <- beta(pairs$a, pairs$b)
  expect_lt(max(ifelse(value == want, 0, abs(value - want) / want)), 2e-13)
  edges <- nv_tensor(c(0, -1, Inf, NaN), "f64")
  expect_identical(as.double(nv_lbeta(edges, 2)), c(Inf, NaN, -Inf, NaN))
  expect_identical(as.double(nv_beta(edges, 2)), c(Inf, NaN, 0, NaN))
})

test_that("derivatives by shapes and degrees of freedom are differences of base R's functions", {
  x <- c(0.02, 0.3, 0.5, 0.97)
  a <- c(0.4, 1, 3, 40)
  h <- 1e-4
  # By Richardson's extrapolation, which leaves an error of h^4.
  slope <- function(f) {
    difference <- function(h) (f(a + h * a) - f(a - h * a)) / (2 * h * a)
    (4 * difference(h) - difference(2 * h)) / 3
  }
  cases <- list(
    list(nv_pgamma, pgamma, function(f, a, ...) f(x * 8, a, ...)),
    list(nv_pgamma, pgamma, function(f, a, ...) f(x * 80, a, 2, ...)),
    list(nv_qgamma, qgamma, function(f, a, ...) f(x, a, ...)),
    list(nv_pbeta, pbeta, function(f, a, ...) f(x, a, 2.5, ...)),
    list(nv_pbeta, pbeta, function(f, a, ...) f(x, 2.5, a, ...)),
    list(nv_qbeta, qbeta, function(f, a, ...) f(x, a, 2, ...)),
    list(nv_qbeta, qbeta, function(f, a, ...) f(x, 0.7, a, ...)),
    list(nv_pt, pt, function(f, a, ...) f(x * 6 - 3, a, ...)),
    list(nv_pt, pt, function(f, a, ...) f((x - 0.5) * 40, a, ...)),
    list(nv_qt, qt, function(f, a, ...) f(x, a, ...))
  )
  for (k in seq_along(cases)) {
    case <- cases[[k]]
    is_quantile <- k %in% c(3, 6, 7, 10)
    for (lower in c(TRUE, FALSE)) {
      for (log in c(FALSE, TRUE)) {
        if (is_quantile && log) next
        own <- function(a) sum(case[[3]](case[[1]], a, lower.tail = lower, log.p = log))
        want <- slope(function(a) case[[3]](case[[2]], a, lower.tail = lower, log.p = log))
        got <- as.double(gradient(own)(nv_tensor(a, "f64"))$a)
        off <- abs(got - want) / pmax(abs(want), 1e-4)
        expect_lt(max(off), 1e-6, label = paste("case", k, lower, log))
        expect_identical(as.double(jit(gradient(own))(nv_tensor(a, "f64"))$a), got)
      }
    }
  }
  p <- log(x)
  want <- slope(function(a) qgamma(p, a, log.p = TRUE))
  got <- gradient(function(a) sum(nv_qgamma(p, a, log.p = TRUE)))(nv_tensor(a, "f64"))$a
  expect_lt(max(abs(as.double(got) / want - 1)), 1e-6)
})

test_that("derivatives that are not known are errors that name the parameter; counts have none", {
  x <- nv_tensor(c(0.2, 0.7), "f64")
  a <- nv_tensor(c(2, 3), "f64")
  no <- function(f, text) {
    second <- function(a) sum(gradient(function(a) sum(f(x, a)))(a)$a)
    expect_error(gradient(second)(a), text, class = "joist_value_error")
    by_x <- function(x) sum(gradient(function(x) sum(f(x, a)))(x)$x)
    expect_true(all(is.finite(as.double(gradient(by_x)(x)$x))))
  }
  no(nv_pgamma, "no second derivative by its shape")
  no(nv_qgamma, "no second derivative by its shape")
  no(function(x, a) nv_pbeta(x, a, 2), "no second derivative by its shapes")
  no(nv_pt, "no second derivative by its shapes")
  expect_identical(as.double(gradient(function(x) sum(nv_qpois(x, 3)))(x)$x), c(0, 0))
  expect_identical(as.double(gradient(function(a) sum(nv_dpois(a, 3)))(a)$a), c(0, 0))
  # Outside of the support, and where a slope is infinite next to it.
  out <- nv_tensor(c(-1, 2), "f64")
  for (f in list(nv_dexp, nv_pexp, function(x) nv_dgamma(x, 3), function(x) nv_pgamma(x, 3))) {
    expect_identical(as.double(gradient(function(x) sum(f(x)))(out)$x)[1], 0)
  }
  expect_identical(as.double(gradient(function(x) sum(nv_dbeta(x, 2, 2)))(out)$x), c(0, 0))
  expect_identical(as.double(gradient(function(x) sum(nv_pbeta(x, 0.5, 2)))(out)$x), c(0, 0))
  half <- gradient(function(x, a) sum(nv_dgamma(x, a)))(nv_tensor(c(1, 2), "f16"), a)
  expect_identical(type_of(half$x), "f16")
})

test_that("strings are refused as operands, not read as dtypes", {
  usual <- conditionMessage(expect_refusal(nv_erf("a"), "joist_value_error", "character vector"))
  calls <- list(
    quote(nv_dnorm("a")), quote(nv_dnorm(1, "a")), quote(nv_dnorm("f32")), quote(nv_lbeta("a", 1)),
    quote(nv_pgamma(1, "a")), quote(nv_qbinom("a", 1, 1)), quote(nv_pt(nv_tensor(1), "f32"))
  )
  for (call in calls) {
    error <- tryCatch(eval(call), error = identity)
    expect_s3_class(error, "joist_value_error")
    expect_identical(conditionMessage(error), usual)
  }
})

test_that("quantiles have the same bits beside tiny shares", {
  p <- nv_tensor(c(1e-290, 1e-20, 0.2, 0.5, 0.999, 1, NA, NaN), "f64")
  tiny <- nv_tensor(c(4.9e-324, 1e-310, 0, 1e-20), "f64")
  beside <- nv_qnorm(c(p, tiny))
  expect_identical(as.vector(nv_qnorm(p)), as.vector(beside)[1:8])
  expect_equal(as.vector(nv_qnorm(tiny)), qnorm(as.vector(tiny)), tolerance = 1e-13)
  q <- nv_log(p)
  beside <- nv_qnorm(c(q, nv_tensor(c(-1e5, -1e-310), "f64")), log.p = TRUE)
  expect_identical(as.vector(nv_qnorm(q, log.p = TRUE)), as.vector(beside)[1:8])
  expect_identical(as.vector(jit(function(p) nv_qnorm(p))(p)), as.vector(nv_qnorm(p)))
  # On both sides of where the formula changes, and with none beyond it.
  for (near in list(c(0.2, 2e-11), c(0.2, 1.9e-11, 1.3e-11), c(0.5, 1 - 2.1e-11, 1 - 1e-12))) {
    p <- nv_tensor(near, "f64")
    beside <- as.vector(nv_qnorm(c(p, tiny)))[seq_along(near)]
    expect_identical(as.vector(nv_qnorm(p)), beside)
    expect_equal(beside, qnorm(near), tolerance = 1e-14)
    q <- nv_log(p)
    beside <- as.vector(nv_qnorm(c(q, nv_tensor(-1e5, "f64")), log.p = TRUE))
    expect_identical(as.vector(nv_qnorm(q, log.p = TRUE)), beside[seq_along(near)])
  }
})

test_that("derivatives of the composed distributions are differences, in all arguments", {
  at <- list(
    lnorm = list(c(0.3, 2), 0.4, 1.3), weibull = list(c(0.3, 2), 1.7, 2), f = list(c(0.4, 3), 3, 5),
    logis = list(c(-0.3, 4), 0.5, 2), cauchy = list(c(-0.3, 4), 0.5, 2), chisq = list(c(0.4, 3), 3)
  )
  for (family in names(at)) {
    for (log in c(FALSE, TRUE)) {
      density <- function(...) sum(of_joist("d", family)(..., log = log) * c(1, 2))
      share <- function(...) sum(of_joist("p", family)(..., FALSE, log) * c(1, 2))
      for (f in list(density, share)) {
        expect_silent(do.call(check_gradient, c(list(f), at[[family]])))
      }
      quantile <- function(...) sum(of_joist("q", family)(..., TRUE, log) * c(1, 2))
      p <- if (log) base::log(c(0.2, 0.7)) else c(0.2, 0.7)
      expect_silent(do.call(check_gradient, c(list(quantile, p), at[[family]][-1])))
    }
  }
  expect_silent(check_gradient(function(p) sum(nv_pgeom(c(1, 4), p) * nv_dgeom(2, p)), 0.3))
  both <- function(n, p) sum(nv_pnbinom(c(1, 4), n, p) * nv_dnbinom(2, n, p))
  expect_silent(check_gradient(both, 3, 0.3))
  x <- nv_tensor(c(0.2, 0.5, NA, NaN, 0.9))
  for (f in list(nv_qhyper, nv_qnbinom)) {
    more <- if (identical(f, nv_qhyper)) list(9, 8, 7) else list(3, 0.4)
    got <- do.call(f, c(list(x), more))
    expect_identical(is.na(as_array(got)), c(FALSE, FALSE, TRUE, TRUE, FALSE))
    expect_identical(is.nan(as_array(got))[4], TRUE)
    rows <- nv_tensor(matrix(c(0.1, 0.2, 0.5, 0.9), 2))
    each <- nv_vmap(function(p) do.call(f, c(list(p), more)))(rows)
    expect_identical(each, do.call(f, c(list(rows), more)))
  }
})
