# Rounding to decimal digits: f64 has base R's bits, other floats those results rounded once more,
# integers are compared with the multiples that limbs of 16 bits give.

expect_rounded <- function(f, x, digits, dtype = "f64", label = "") {
  tensor <- nv_tensor(x, dtype, na = "nan")
  exact <- as_array(tensor)
  want <- round_to(f(exact, digits), dtype)
  label <- paste(label, dtype, digits)
  expect_values(as_array(f(tensor, digits)), want, label)
  expect_values(as_array(jit(function(x) f(x, digits))(tensor)), want, paste("jit", label))
}

corners <- c(
  0, -0, NaN, Inf, -Inf, 0.15, 0.25, 0.35, 2.5, 1.005, -1.005, 2.675, 5.015, 0.285, 55.55, 5e-324,
  2.2e-308, 1e15 + 0.5, 2^53 - 1, 123456789.5, 1e-306, 9.99999999e-307, 1e306, 1e307, 4.4e307,
  .Machine$double.xmax
)

# Numbers around where digits are rounded, ties, and all magnitudes.
spread <- function(digits, n = 60) {
  set.seed(digits + 1000)
  near <- runif(n, 1, 10) * 10^pmin(300, floor(runif(n, -digits - 3, -digits + 17)))
  ties <- (floor(10^runif(n, 0, 15)) + 0.5) * 10^pmin(290, -digits)
  x <- c(near, ties, ties * (1 + 2^-52), 2^runif(n, -1074, 1023))
  x <- x[is.finite(x)]
  c(x, -x)
}

test_that("round(x, digits) of f64 has the bits of base R", {
  skip_if(getRversion() < "4.0.0")
  for (digits in c(-400, -309:-307, -23:-1, 1:25, 100, 300, 307:325, 400)) {
    expect_rounded(round, c(corners, spread(digits)), digits)
  }
  for (digits in c(1.4, 1.6, -0.4, Inf, -Inf)) expect_rounded(round, corners, digits)
  expect_rounded(round, corners, 2L)
})

test_that("signif(x, digits) of f64 has the bits of base R", {
  powers <- 10^(-323:308)
  for (digits in c(-3, 0:24, Inf)) {
    x <- c(corners, spread(min(digits, 24)), powers, powers * (1 - 2^-53), powers * (1 + 2^-52))
    x <- x[is.finite(x)]
    expect_rounded(signif, x[abs(x) < 9.99e306], digits)
  }
  expect_values(as_array(signif(nv_tensor(123456.7, "f64"))), signif(123456.7))
})

# R before 4.6 cuts some of them off.
test_that("signif() next to the largest number gives the right decimal", {
  set.seed(3)
  x <- c(1e307, 9.99e307, 1e308, 1.2e308, 1.5e308, 1.79e308, .Machine$double.xmax)
  x <- c(x, 10^runif(200, 307, 308.25))
  x <- c(x, -x)
  for (digits in 1:12) {
    got <- as_array(nv_signif(nv_tensor(x, "f64"), digits))
    text <- sprintf("%.*e", digits - 1L, x)
    # No double is as large as what the largest ones round to: these are cut off.
    cut <- is.infinite(as.numeric(text))
    expect_identical(sprintf("%.*e", digits - 1L, got)[!cut], text[!cut], label = digits)
    expect_true(all(is.finite(got)))
    expect_true(all(abs(got)[cut] <= abs(x)[cut]))
  }
  expect_identical(as_array(nv_signif(nv_tensor(c(1e308, 1.79e308), "f64"), 1)), c(1e308, 1e308))
  expect_identical(as_array(nv_signif(nv_tensor(1e308, "f64"), 2)), 1e308)
})

test_that("NA_real_ stays NA, and shapes and flags are kept", {
  x <- nv_tensor(matrix(c(NA, 1.25, 3, 4), 2), "f64", ambiguous = TRUE)
  for (y in list(round(x, 1), signif(x, 1))) {
    expect_true(identical(as_array(y)[1], NA_real_))
    expect_identical(type_of(y), "f64?")
    expect_identical(shape(y), c(2L, 2L))
  }
  expect_identical(shape(round(nv_scalar(1.25), 1)), integer())
  expect_identical(shape(signif(nv_tensor(numeric()), 1)), 0L)
  for (d in c(dtypes_of("float"), ints())) {
    aval <- nv_aval(d, c(2, 3), ambiguous = TRUE)
    for (y in list(round(aval, 1), round(aval, -1), signif(aval, 2))) {
      expect_identical(type_of(y), paste0(d, "?"))
      expect_identical(shape(y), c(2L, 3L))
    }
  }
})

test_that("narrower floats are rounded as doubles, and then to their precision", {
  for (d in setdiff(floats(), "f64")) {
    for (digits in if (is_narrow(d)) c(-1, 0, 1, 3) else c(-3:5, 9)) {
      x <- Filter(function(v) is.finite(v) && abs(v) < float_max(d) / 2, c(corners, spread(digits)))
      if (!has_zero(d)) x <- x[x > 0]
      expect_rounded(round, x, digits, d)
      expect_rounded(signif, x, max(1, digits), d)
    }
  }
  expect_identical(as_array(round(nv_tensor(65504, "f16"), -3)), Inf) # 66000 is beyond f16
})

# 10^k in limbs.
limbs_power <- function(k) limbs(paste0(c("1", rep("0", k)), collapse = ""))

# The nearest multiple of 10^k to whole numbers given as text, ties to even, modulo 2^64.
nearest_multiple <- function(text, k) {
  vapply(text, function(number) {
    digits <- sub("^-", "", number)
    if (nchar(digits) < k) {
      return("0")
    }
    kept <- substr(digits, 1, nchar(digits) - k)
    lost <- substr(digits, nchar(digits) - k + 1, nchar(digits))
    half <- paste0(c("5", rep("0", k - 1)), collapse = "")
    last <- if (nzchar(kept)) as.numeric(substr(kept, nchar(kept), nchar(kept))) else 0
    up <- lost > half || lost == half && last %% 2 == 1
    kept <- if (nzchar(kept)) limbs(kept) else limbs("0")
    multiple <- limbs_mul(if (up) limbs_add(kept, limbs("1")) else kept, limbs_power(k))
    limbs_text(if (startsWith(number, "-")) limbs_negate(multiple) else multiple, FALSE)
  }, "", USE.NAMES = FALSE)
}

test_that("integers are rounded to multiples of powers of 10, exactly", {
  old <- Sys.setlocale("LC_COLLATE", "C") # digits are compared as text
  on.exit(Sys.setlocale("LC_COLLATE", old))
  for (d in ints()) {
    highest <- int_max(d)
    text <- c("5", "15", "25", "95", substr(highest, 1, nchar(highest) - 1))
    text <- c(int_values(d), text[holds(as.numeric(text), d)])
    x <- int_tensor(text, d)
    expect_identical(as_array(round(x, 3), "character"), as_array(x, "character"))
    for (k in 1:nchar(highest)) {
      want <- wrap_text(limbs(nearest_multiple(text, k)), d)
      label <- paste(d, -k)
      expect_values(as_array(round(x, -k), "character"), want, label)
      expect_values(as_array(jit(function(x) round(x, -k))(x), "character"), want, label)
      digits <- nchar(sub("^-", "", text))
      want <- vapply(seq_along(text), function(j) {
        lost <- digits[j] - k
        if (lost < 1) text[j] else wrap_text(limbs(nearest_multiple(text[j], lost)), d)
      }, "")
      expect_values(as_array(signif(x, k), "character"), want, paste("signif", label))
    }
    expect_identical(as.vector(round(x, -25), "double"), numeric(length(x)))
    expect_identical(type_of(round(x, -1)), d)
  }
  small <- nv_tensor(-1200:1200, "i16")
  for (k in 1:3) {
    expect_identical(as.vector(round(small, -k), "double"), round(-1200:1200, -k) + 0)
    expect_identical(as.vector(signif(small, k), "double"), signif(-1200:1200, k) + 0)
  }
  expect_identical(as_array(round(nv_tensor(c(TRUE, FALSE)), -1)), c(FALSE, FALSE))
})

test_that("R numbers are rounded before they get a dtype", {
  expect_identical(type_of(nv_round(2.675, 2)), type_of(nv_round(2.675)))
  expect_identical(as_array(nv_round(2.675, 2)), round_to(round(2.675, 2), "f32"))
  expect_identical(type_of(nv_round(15L, -1)), type_of(nv_round(15L)))
  expect_identical(as_array(nv_round(c(15L, 25L), -1)), c(20L, 20L))
  expect_identical(as_array(nv_signif(1234L, 2)), 1200L)
})

test_that("the promotion rules do not matter", {
  x <- nv_tensor(c(15L, -25L), "i32")
  for (rules in setdiff(promotion_rule_sets()$id, "python")) {
    with_promotion(rules, {
      expect_identical(as_array(round(x, -1)), c(20L, -20L))
      expect_identical(as_array(jit(function(x) signif(x, 1))(x)), c(20L, -20L))
      expect_identical(as_array(signif(nv_tensor(0.125, "f64"), 2)), 0.12)
    })
  }
})

test_that("an invalid number of digits is refused", {
  x <- nv_tensor(c(1.5, 2))
  for (digits in list(NA, "1", 1:2, NULL, TRUE, numeric(), NaN, x)) {
    expect_refusal(round(x, digits), "joist_value_error", "digits")
    expect_refusal(signif(x, digits), "joist_value_error", "digits")
  }
  expect_refusal(round(nv_tensor(1i), 1), "joist_dtype_error", "c64")
  expect_refusal(signif(nv_tensor(1i), 1), "joist_dtype_error", "c64")
})

test_that("R integers are rounded in the default dtype of the rules", {
  for (rules in c("anvil", "numpy", "torch")) {
    with_promotion(rules, {
      default <- dtype(nv_tensor(2L))
      tens <- function(x) nv_round(x, -1)
      for (f in list(nv_signif, function(x) nv_signif(x, 1), nv_round, tens)) {
        expect_identical(dtype(f(2L)), default, label = rules)
        expect_true(ambiguous(f(2L)), label = rules)
        expect_identical(jit(f)(2L), f(2L), label = rules)
      }
    })
  }
})

# A whole number as text, rounded to `places` zeros at its end, halves to even: digit by digit.
rounded_text <- function(text, places) {
  sign <- if (startsWith(text, "-")) "-" else ""
  digits <- c(rep(0L, places + 1L), as.integer(strsplit(sub("-", "", text), "")[[1L]]))
  n <- length(digits)
  kept <- digits[seq_len(n - places)]
  cut <- digits[seq(n - places + 1L, n)]
  half <- c(5L, rep(0L, places - 1L))
  apart <- which(cut != half)
  first <- apart[1L]
  up <- if (length(apart) == 0L) kept[length(kept)] %% 2L == 1L else cut[first] > half[first]
  k <- length(kept)
  while (up) {
    kept[k] <- (kept[k] + 1L) %% 10L
    up <- kept[k] == 0L
    k <- k - 1L
  }
  whole <- sub("^0+", "", paste(kept, collapse = ""))
  if (whole == "") "0" else paste0(sign, whole, strrep("0", places))
}

test_that("rounded integers that do not fit follow the policy", {
  ok <- function(expr) with_promotion(NULL, expr, on = c(overflow = "ok"))
  warned <- function(expr) with_promotion(NULL, expr, on = c(overflow = "warn"))
  for (d in setdiff(ints(), "bool")) {
    x <- int_tensor(int_values(d), d)
    for (digits in c(-1, -2, -9, -18, -19, -20)) {
      # in text, by Python's rule of halves to even on the magnitude
      exact <- vapply(as.character(x), rounded_text, "", places = -digits)
      fits <- vapply(exact, function(text) {
        !inherits(try(nv_tensor(text, "i64"), TRUE), "try-error") ||
          !inherits(try(nv_tensor(text, "ui64"), TRUE), "try-error")
      }, NA)
      held <- fits
      wide <- if (startsWith(d, "u")) "ui64" else "i64"
      held[fits] <- vapply(exact[fits], function(text) {
        one <- try(nv_tensor(text, wide), TRUE)
        !inherits(one, "try-error") && as.vector(nv_convert(nv_convert(one, d), wide) == one)
      }, NA)
      at <- unname(which(held))
      if (length(at) > 0L) {
        expect_silent(got <- warned(round(x[at], digits)))
        expect_identical(as.character(got), unname(exact[at]), label = paste(d, digits))
      }
      beyond <- unname(which(!held))
      if (length(beyond) > 0L) {
        expect_warning(warned(round(x[beyond], digits)), class = "joist_overflow_warning")
        expect_error(
          with_promotion(NULL, round(x[beyond], digits), on = c(overflow = "error")),
          class = "joist_overflow_error"
        )
        expect_silent(ok(round(x[beyond], digits)))
      }
    }
  }
  expect_warning(warned(signif(nv_tensor(127L, "i8"), 2)), class = "joist_overflow_warning")
  expect_identical(
    with_promotion(NULL, round(nv_tensor(c(127L, -128L), "i8"), -1), on = c(overflow = "saturate")),
    nv_tensor(c(127L, -128L), "i8")
  )
})
