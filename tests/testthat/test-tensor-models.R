# R's models and optimizers on tensors, beside the same calls on R vectors of the same values.

set.seed(7)
model_values <- list(
  x = c(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), y = c(3, 2, 6, 4, 9, 7, 12, 8, 11, 15),
  z = c(0, 1, 0, 0, 1, 1, 0, 1, 1, 1), w = c(1, 2, 1, 3, 1, 2, 1, 1, 2, 1)
)

model_frames <- function(d) {
  columns <- if (d == "bool") lapply(model_values, function(v) v %% 2) else model_values
  tensors <- lapply(columns, function(v) nv_tensor(v, d))
  group <- factor(rep(c("a", "b"), 5))
  list(
    tensor = data.frame(tensors, g = group),
    plain = data.frame(lapply(tensors, as_array), g = group)
  )
}

# Floats are as exact as their dtype where a model computes with its response itself.
tolerance_of <- function(d) {
  switch(d,
    f16 = 2e-2,
    bf16 = 2e-1,
    f64 = 1e-10,
    1e-5
  )
}

# What models compute in floats of few bits is far off, and narrow integers have no common dtype
# with the doubles that they compute with.
real_dtypes <- function() wide(setdiff(dtypes(), complexes()))

test_that("lm() has the coefficients of R vectors", {
  formulas <- list(
    y ~ x, y ~ x + z, y ~ g, x ~ y + g, y ~ x:g, y ~ poly(x, 2), y ~ I(x^2), y ~ 0 + x,
    x ~ offset(w)
  )
  for (d in setdiff(real_dtypes(), "bool")) {
    frames <- model_frames(d)
    for (formula in formulas) {
      label <- paste(d, deparse(formula))
      # What a formula computes with a tensor is rounded to its dtype.
      near <- if (grepl("I(", label, fixed = TRUE)) tolerance_of(d) else 1e-8
      got <- lm(formula, frames$tensor)
      want <- lm(formula, frames$plain)
      expect_equal(coef(got), coef(want), tolerance = near, label = label)
      expect_equal(unname(as.vector(residuals(got))), unname(residuals(want)),
        tolerance = max(near, tolerance_of(d)), label = label
      )
      expect_equal(unname(as.vector(fitted(got))), unname(fitted(want)),
        tolerance = max(near, tolerance_of(d)), label = label
      )
      expect_equal(as.vector(predict(got, frames$tensor[3:5, ])),
        as.vector(predict(want, frames$plain[3:5, ])), tolerance = max(near, 1e-6), label = label
      )
    }
  }
})

test_that("integers as a response give exact residuals, whatever their dtype", {
  for (d in c("bool", dtypes_with(1:15, ints()))) {
    frames <- model_frames(d)
    got <- lm(y ~ x, frames$tensor)
    want <- lm(y ~ x, frames$plain)
    expect_equal(coef(got), coef(want), label = d)
    # The view of 64 bits is already one of doubles, and y - residuals is rounded as literals are.
    expect_equal(as.vector(residuals(got)), unname(residuals(want)), label = d)
    expect_equal(as.vector(deviance(got)), deviance(want), label = d)
    # Residuals that are all whole numbers and negative, too.
    whole <- nv_tensor(c(1, 3, 0, 2), if (d == "bool") "ui8" else d)
    balanced <- data.frame(y = whole, g = c(1, 1, 2, 2))
    exact <- lm(y ~ factor(g), balanced)
    expect_equal(unname(as.vector(residuals(exact))), c(-1, 1, -1, 1), label = d)
    expect_equal(unname(as.vector(fitted(exact))), c(2, 2, 1, 1), label = d)
  }
})

as_matrix_of <- function(x) if (is_tensor(x)) as_array(x) else x

test_that("summary() and anova() of models are those of R vectors", {
  for (d in setdiff(real_dtypes(), "bool")) {
    frames <- model_frames(d)
    models <- lapply(frames, function(df) lm(y ~ x + z, df))
    near <- tolerance_of(d)
    tables <- lapply(models, function(m) unname(unclass(as_matrix_of(coef(summary(m))))))
    expect_equal(tables$tensor, tables$plain, tolerance = near, label = d)
    expect_equal(as.vector(summary(models$tensor)$r.squared), summary(models$plain)$r.squared,
      tolerance = near, label = d
    )
    if (!d %in% c("f16", "bf16", "f32")) { # the table has NA, in the dtype of the residuals
      expect_equal(as.vector(anova(models$tensor)[["Sum Sq"]]), anova(models$plain)[["Sum Sq"]],
        tolerance = near, label = d
      )
    }
    expect_output(print(summary(models$tensor)), "Multiple R-squared", label = d)
    expect_output(print(models$tensor), "Coefficients", label = d)
    expect_equal(unname(confint(models$tensor)), unname(confint(models$plain)), tolerance = near)
    aov <- lapply(frames, function(df) summary(aov(y ~ g, df))[[1L]][["F value"]][1L])
    expect_equal(as.vector(aov$tensor), aov$plain, tolerance = near, label = d)
  }
})

test_that("glm() has the coefficients of R vectors", {
  for (d in setdiff(real_dtypes(), "bool")) {
    frames <- model_frames(d)
    near <- tolerance_of(d)
    fit <- function(formula, family) {
      coefs <- lapply(frames, function(df) coef(glm(formula, family, df)))
      expect_equal(coefs$tensor, coefs$plain, tolerance = near,
        label = paste(d, deparse(formula), family$family)
      )
    }
    # It converges when its deviance, which is of the dtype of the response, no longer changes.
    digits <- if (d %in% c("f16", "bf16")) suppressWarnings else identity
    digits(fit(y ~ x, poisson()))
    digits(fit(z ~ x, binomial()))
    digits(fit(y ~ x, gaussian()))
    if (d == "f64") fit(y ~ x, Gamma("log"))
    weighted <- lapply(frames, function(df) coef(lm(y ~ x, df, weights = w)))
    expect_equal(weighted$tensor, weighted$plain, tolerance = near, label = d)
  }
  for (response in list(nv_tensor(model_values$z == 1), nv_tensor(model_values$z, "ui8"))) {
    df <- data.frame(z = response, x = model_values$x)
    want <- coef(glm(z ~ x, binomial(), data.frame(z = model_values$z, x = model_values$x)))
    expect_equal(coef(glm(z ~ x, binomial(), df)), want, tolerance = 1e-5)
  }
})

test_that("nls(), loess() and tests take tensors", {
  for (d in c("f64", "i32", "ui8")) {
    frames <- model_frames(d)
    nls_of <- function(df) coef(nls(y ~ a * x + b, df, start = list(a = 1, b = 1)))
    # Numeric derivatives need more digits than f32 has.
    if (d == "f64") expect_equal(nls_of(frames$tensor), nls_of(frames$plain))
    loess_of <- function(df) as.vector(predict(loess(y ~ x, df), data.frame(x = c(2, 5))))
    expect_equal(loess_of(frames$tensor), loess_of(frames$plain))
    spline_of <- function(df) smooth.spline(df$x, df$y)$fit$coef
    expect_equal(spline_of(frames$tensor), spline_of(frames$plain))
  }
  gradient <- deriv(~ a * x + b, c("a", "b"), function(a, b, x) NULL)
  by_gradient <- function(df) {
    coef(nls(y ~ gradient(a, b, x), df, start = list(a = 1, b = 1), control = list(tol = 1e-4)))
  }
  frames <- model_frames("f32")
  expect_equal(by_gradient(frames$tensor), by_gradient(frames$plain), tolerance = 1e-5)
  for (d in setdiff(real_dtypes(), c("bool", "f16", "bf16"))) {
    frames <- model_frames(d)
    for (f in list(
      function(df) t.test(df$x, df$y), function(df) t.test(y ~ g, df),
      function(df) wilcox.test(df$x, df$y, exact = FALSE), function(df) cor.test(df$x, df$y),
      function(df) var.test(df$x, df$y), function(df) ks.test(df$x, "pnorm", 5, 3),
      function(df) shapiro.test(df$y), function(df) chisq.test(table(df$z, df$w)),
      function(df) kruskal.test(y ~ g, df), function(df) bartlett.test(y ~ g, df)
    )) {
      got <- suppressWarnings(f(frames$tensor))
      want <- suppressWarnings(f(frames$plain))
      label <- paste(d, deparse1(body(f)))
      expect_equal(unname(as.vector(got$p.value)), unname(want$p.value),
        tolerance = 1e-4, label = label
      )
      expect_equal(unname(as.vector(got$statistic)), unname(want$statistic),
        tolerance = 1e-4, label = label
      )
      expect_output(print(got), "p-value", label = label)
    }
  }
})

test_that("optimizers take functions that return tensors", {
  square <- function(d) function(p) sum((nv_tensor(p, d) - 3)^2)
  for (d in c("f32", "f64")) {
    expect_equal(optim(c(1, 1), square(d))$par, c(3, 3), tolerance = 1e-2)
    expect_equal(optim(c(1, 1), square(d), method = "BFGS")$par, c(3, 3), tolerance = 1e-2)
    expect_equal(optimize(square(d), c(0, 10))$minimum, 3, tolerance = 1e-2)
    expect_equal(uniroot(function(p) sum(nv_tensor(p, d)) - 2, c(0, 5))$root, 2, tolerance = 1e-3)
  }
  start <- nv_tensor(c(1, 1), "f64")
  expect_equal(as.vector(optim(start, function(p) sum((p - 3)^2))$par), c(3, 3), tolerance = 1e-2)
  expect_equal(nlm(square("f64"), c(1, 1))$estimate, c(3, 3), tolerance = 1e-4)
  expect_equal(nlminb(c(1, 1), square("f64"))$par, c(3, 3), tolerance = 1e-4)
  expect_equal(integrate(function(p) as.vector(nv_tensor(p, "f64")^2), 0, 1)$value, 1 / 3)
  expect_equal(integrate(function(p) nv_tensor(p, "f64")^2, 0, 1)$value, 1 / 3)
})

test_that("multivariate functions take data frames and matrices of tensors", {
  for (d in setdiff(real_dtypes(), "bool")) {
    frames <- lapply(model_frames(d), `[`, 1:4)
    for (f in list(
      function(df) abs(prcomp(df)$rotation), function(df) as.matrix(dist(df)), function(df) cov(df),
      function(df) hclust(dist(df))$merge, function(df) cmdscale(dist(df))^2,
      function(df) mahalanobis(df, colMeans(df), cov(df)), function(df) cutree(hclust(dist(df)), 3)
    )) {
      expect_equal(f(frames$tensor), f(frames$plain), label = paste(d, deparse1(body(f))))
    }
    expect_equal(f(frames$tensor), f(frames$plain), label = d)
    x <- frames$tensor$x
    v <- frames$plain$x
    expect_equal(approx(x, frames$tensor$y, 2.5)$y, approx(v, frames$plain$y, 2.5)$y, label = d)
    expect_lt(max(Mod(as.vector(fft(x)) - fft(v))), 1e-12)
    expect_equal(ecdf(x)(3), ecdf(v)(3), label = d)
    expect_equal(density(x)$y, density(v)$y, label = d)
    expect_equal(hist(x, plot = FALSE)$counts, hist(v, plot = FALSE)$counts, label = d)
  }
})

test_that("what R has converted itself is of R's types", {
  for (d in c("bool", dtypes_with(0:1, small_ints()))) {
    x <- nv_tensor(c(0, 1, 1), d)
    storage.mode(x) <- if (d == "ui32") "complex" else "double"
    expect_identical(type_of(x), if (d == "ui32") "c128?" else "f64?", label = d)
    zero <- if (d == "ui32") 0i else 0
    expect_identical(as_array(x - 0.5), c(0, 1, 1) - 0.5 + zero)
  }
  for (d in c("ui32", "i64", "ui64")) {
    x <- nv_tensor(0:2, d)
    density <- dnorm(x)
    expect_identical(type_of(density), "f64?", label = d)
    expect_identical(as_array(density), dnorm(0:2), label = d)
    expect_equal(as_array(sum(density)), sum(dnorm(0:2)), label = d)
    expect_output(print(density), "f64?", fixed = TRUE)
    expect_identical(as.vector(dpois(x, 1)[2:3]), dpois(1:2, 1), label = d)
  }
  x <- nv_tensor(c(0, 2.5), "f32")
  storage.mode(x) <- "logical"
  expect_identical(as_array(x), c(FALSE, TRUE))
  expect_identical(type_of(x), "bool")
})

test_that("models of 16-bit floats have the residuals that base R computes", {
  set.seed(1)
  x <- 1:100
  y <- round(3 * x + stats::rnorm(100, 0, 40)) # exact in f16 and, halved until they are, bf16
  for (d in c("f16", "bf16")) {
    column <- nv_tensor(y, d)
    plain <- data.frame(x = x, y = as.double(column))
    fit <- stats::lm(y ~ x, data.frame(x = x, y = column))
    want <- stats::lm(y ~ x, plain)
    expect_equal(as.vector(stats::residuals(fit)), as.vector(stats::residuals(want)))
    # The sum of squares of the model, an ambiguous f64, is infinite in f16.
    expect_warning(own <- summary(fit), if (d == "f16") "nv_add\\(\\) rounds 1 element" else NA)
    coefficients <- lapply(list(own, summary(want)), function(x) as.vector(stats::coef(x)))
    expect_equal(coefficients[[1]], coefficients[[2]])
  }
  # With a value that f16 cannot hold, the result is an f64.
  expect_equal(as_array(choose(nv_tensor(60000, "f16"), 2)), choose(60000, 2))
  expect_identical(format(dtype(stats::qunif(nv_tensor(0.5, "f16"), 0, 1e6))), "f64")
})
