# What counts as implicit promotion, by kind, operation and rule set, eagerly and in jit(); see
# `on` of with_promotion().

# What an operation promotes its operands to: the dtype of its result, of a comparison with floats
# the common one (integers are compared exactly); without an answer there is nothing to find.
promoted_by <- list(
  nv_add = function(x, y) dtype(nv_add(x, y)),
  nv_div = function(x, y) dtype(nv_div(x, y)),
  nv_eq = function(x, y) result_dtype(x, y)$dtype,
  nv_ifelse = function(x, y) dtype(nv_ifelse(TRUE, x, y)),
  nv_concatenate = function(x, y) dtype(nv_concatenate(x, y)),
  nv_matmul = function(x, y) dtype(nv_matmul(x, y)),
  nv_match = function(x, y) result_dtype(x, y)$dtype
)
functions <- list(nv_ifelse = function(x, y) nv_ifelse(TRUE, x, y))

# The kinds that a function of x, which may be a guess, and y shows.
wanted_kinds <- function(name, x, y, to, guess) {
  whole <- grepl("^(bool|u?i[0-9]+)$", c(x, y))
  if (name %in% c("nv_eq", "nv_match") && all(whole)) {
    return(character())
  }
  kinds <- sort(unique(c(expected_kinds(x, to, guess), expected_kinds(y, to))))
  if (is.null(kinds)) character() else kinds
}

test_that("an operation on two dtypes shows the kinds that their sizes say", {
  wrong <- character()
  count <- 0L
  for (rules in rule_sets) {
    for (name in names(promoted_by)) {
      f <- functions[[name]]
      if (is.null(f)) f <- get(name, asNamespace("joist"))
      left <- c("bool", "i8", "ui16", "i32", "f16", "f32", "c64")
      if (name == "nv_add") left <- documented_dtypes
      pairs <- expand.grid(
        x = left, y = documented_dtypes, guess = c(FALSE, TRUE), stringsAsFactors = FALSE
      )
      pairs <- pairs[pairs$x != "bool" | !pairs$guess, ]
      if (name != "nv_add") pairs <- pairs[seq(match(rules, rule_sets), nrow(pairs), 5L), ]
      for (k in seq_len(nrow(pairs))) {
        x <- one(pairs$x[k], pairs$guess[k])
        y <- one(pairs$y[k])
        to <- tryCatch(
          format(with_promotion(rules, promoted_by[[name]](x, y))),
          joist_error = function(e) NULL
        )
        if (is.null(to)) next
        want <- wanted_kinds(name, pairs$x[k], pairs$y[k], to, pairs$guess[k])
        got <- if (name == "nv_add" && k %% 4L > 0L) {
          list(eager = found_by(f(x, y), rules))
        } else {
          all_ways(f, rules, x, y)
        }
        count <- count + length(want)
        bad <- !vapply(got, identical, NA, want)
        if (any(bad)) {
          wrong <- c(wrong, sprintf(
            "%s %s(%s%s, %s) -> %s, %s: want %s, got %s", rules, name, pairs$x[k],
            if (pairs$guess[k]) "?" else "", pairs$y[k], to, names(got)[bad][1L],
            paste(want, collapse = " "), paste(got[bad][[1L]], collapse = " ")
          ))
        }
      }
    }
  }
  expect_identical(wrong, character())
  expect_gt(count, 1000L)
})

test_that("functions that turn integers into floats show it, sums and tests do not", {
  calls <- list(
    exp = exp, sqrt = sqrt, mean = mean, atan2 = function(x) nv_atan2(x, x),
    var = function(x) nv_var(x, correction = 0), rowMeans = rowMeans, Arg = Arg,
    solve = function(x) nv_solve(x, x)
  )
  for (rules in c("anvil", "jax", "numpy", "torch")) {
    for (dtype in c("i8", "i32", "ui64", "f16", "f32", "f64")) {
      x <- one(dtype)
      # PyTorch has no means of integers, and no matrices of them.
      means <- rules == "torch" && is_int(dtype)
      for (name in if (means) c("exp", "sqrt", "atan2", "Arg") else names(calls)) {
        to <- format(dtype(with_promotion(rules, calls[[name]](x))))
        want <- sort(expected_kinds(dtype, to))
        if (is.null(want)) want <- character()
        got <- all_ways(calls[[name]], rules, x)
        expect_identical(unname(unique(got)), list(want), info = paste(rules, name, dtype, to))
      }
      expect_silent(with_promotion(rules, on = on_all("error"), {
        sum(x)
        prod(x)
        cumsum(x)
        x & TRUE
        !x
        nv_reduce_any(nv_convert(x, "bool"))
        max(x)
        abs(x)
        nv_ifelse(x, x, x)
        sort(x)
        order(x)
        x[1L, 1L]
        x + x
        x == x
        nv_convert(x, "c128")
        nv_mean(x, dtype = "f64")
        nv_reduce_sum(x, dtype = "f64")
        nv_runif(1L, 0, 1, "f64", nv_key(1))
      }))
    }
  }
})

test_that("a value is assigned in the dtype of the tensor", {
  for (own in c("i32", "f32", "f64", "c64")) {
    for (dtype in c("i8", "i32", "f32", "f64", "bool")) {
      put <- function(x, v) {
        x[1L, 1L] <- v
        x
      }
      for (v in list(one(dtype), one(dtype, dtype != "bool"))) {
        if (inherits(try(put(one(own), v[1L, 1L]), silent = TRUE), "try-error")) next
        want <- sort(expected_kinds(dtype, own, ambiguous(v)))
        if (is.null(want)) want <- character()
        x <- one(own)
        expect_identical(found_by(put(x, v[1L, 1L])), want, info = paste(dtype, own))
        expect_identical(found_by(jit(put)(x, v[1L, 1L])), want, info = paste(dtype, own))
      }
    }
  }
  x <- nv_tensor(1:3, "f32")
  expect_identical(found_by({
    x[2L] <- 16777217
    x[x > 2] <- 16777219
  }), "literal")
  before <- nv_tensor(1:3, "f64")
  after <- before
  expect_error(
    with_promotion(NULL, after[2L] <- nv_scalar(1, "f32"), on = c(widening = "error")),
    class = "joist_widening_error"
  )
  expect_identical(after, before)
  padding <- nv_scalar(1L, "i64")
  expect_identical(found_by(nv_pad(before, padding, 1L, 1L)), c("int_to_float", "lossy"))
})

test_that("an R number is found where its value changes, and only there", {
  values <- list(
    1, 0.1, -0.1, 255L, 257L, 2049, 2049L, 65504, 16777216, 16777217, 16777217L, c(0.5, 2^24 + 1),
    1e-9, 1e-46, 2^53 - 1, NA_real_, NaN, Inf, TRUE, 16777217 + 0i, 1 + 2049i, 1e22, 5e-324
  )
  changes <- function(value, dtype) {
    parts <- if (is.complex(value)) c(Re(value), Im(value)) else as.double(value)
    parts <- parts[is.finite(parts)]
    taken <- round_to(parts, part_of(dtype))
    any(taken != parts & (parts == trunc(parts) | taken == 0))
  }
  seen <- 0L
  for (dtype in c(wide(floats()), complexes())) {
    x <- one(dtype)
    for (value in values) {
      if (inherits(try(x + value, silent = TRUE), "try-error")) next
      to <- format(dtype(x + value))
      want <- if (changes(value, to)) "literal" else character()
      seen <- seen + length(want)
      info <- paste(dtype, deparse(value))
      on <- c(literal = "warn")
      add <- function(x, value) x + value
      expect_identical(found_by(x + value, on = on), want, info = info)
      expect_identical(found_by(jit(function(x) x + value)(x), on = on), want, info = info)
      f <- jit(add)
      expect_identical(found_by(f(x, value), on = on), want, info = info)
      f(x, if (is.complex(value)) 0i else if (is.integer(value)) 0L else 0)
      expect_identical(found_by(f(x, value), on = on), want, info = info)
    }
  }
  expect_gt(seen, 25L)
  expect_warning(
    expect_identical(found_by(nv_scalar(2^24 + 1)), "literal"),
    class = "joist_rounding_warning"
  )
  expect_identical(found_by(nv_tensor(16777217:16777218, "f32")), character())
  # Fractions of numbers whose whole part is rounded
  expect_warning(nv_tensor(c(0.1, 1700000050.5)), "1700000050.5 at position 2 is rounded to f32",
    class = "joist_rounding_warning"
  )
  expect_error(
    with_promotion(NULL, nv_tensor(1700000050.5), on = c(loss = "error")),
    class = "joist_value_error"
  )
  expect_silent(nv_tensor(c(100.5, 0.1, 1e30)))
  # An R number beyond the dtype that it would be compared in is compared exactly.
  expect_identical(found_by(nv_tensor(1:3, "ui8") < 300L), character())
  expect_error(
    with_promotion(NULL, nv_scalar(1, "f32") * 16777217, on = c(literal = "error")),
    class = "joist_literal_error"
  )
})

test_that("each kind is allowed, warned about and refused on its own", {
  x <- one("i32")
  y <- one("f64")
  z <- one("f32")
  cases <- list(
    widening = function() z + y, int_to_float = function() exp(x),
    lossy = function() x + z, literal = function() z + 16777217
  )
  for (kind in kinds) {
    for (f in list(cases[[kind]], function() jit(cases[[kind]])())) {
      expect_silent(with_promotion(NULL, f(), on = c(widening = "ok")))
      expect_silent(with_promotion(NULL, f(), on = character()))
      warned <- structure("warn", names = kind)
      refused <- structure("error", names = kind)
      class <- sprintf("joist_%s_%s", kind, c("warning", "error"))
      expect_warning(with_promotion(NULL, f(), on = warned), class = class[1L])
      e <- expect_error(with_promotion(NULL, f(), on = refused), class = class[2L])
      expect_identical(e$kind, kind)
    }
  }
  # An error goes before a warning, and one condition tells all kinds.
  e <- expect_error(
    with_promotion(NULL, nv_scalar(1L, "i64") + z, on = c(lossy = "error", int_to_float = "warn")),
    class = "joist_lossy_error"
  )
  expect_identical(e$kind, "lossy")
  w <- expect_warning(with_promotion(NULL, x + y, on = on_all("warn")))
  expect_identical(w$kind, c("widening", "int_to_float"))
})

test_that("kinds that a nested policy does not name keep their setting", {
  x <- one("f32")
  y <- one("f64")
  nested <- list(
    function() with_promotion(NULL, x + y, on = c(overflow = "saturate")),
    function() {
      local_promotion(on = c(lossy = "warn"))
      x + y
    },
    function() with_promotion("jax", x + y, on = character())
  )
  for (f in nested) {
    expect_error(
      with_promotion(NULL, f(), on = c(widening = "error")), class = "joist_widening_error"
    )
    expect_silent(f())
  }
  expect_silent(with_promotion(
    NULL, with_promotion(NULL, x + y, on = c(widening = "ok")), on = c(widening = "error")
  ))
  # The policy of a compiled function replaces the caller's.
  own <- jit(function(x, y) x + y, on = c(lossy = "error"))
  expect_silent(with_promotion(NULL, own(x, y), on = c(widening = "error")))
})

test_that("a place warns once for each dtype", {
  add <- function(x, y) x + y
  texts <- testthat::capture_warnings(with_promotion(NULL, {
    for (d in list(c("f32", "f64"), c("f32", "f64"), c("f16", "f32"), c("f16", "f32"))) {
      add(one(d[1]), one(d[2]))
    }
  }, on = c(widening = "warn")))
  expect_length(texts, 2L)
  expect_match(texts, "f32 to f64|f16 to f32")
})

test_that("distributions of integers are judged as exp() of them is", {
  ids <- nv_tensor(c("9007199254740993", "1"), "i64")
  fs <- list(
    nv_dnorm, nv_pnorm, nv_qexp, function(x) nv_pbinom(x, 3L, 0.5), function(x) nv_dpois(x, 2.5),
    jit(nv_dnorm)
  )
  for (x in list(ids, nv_tensor(1:3, "i32"))) {
    for (f in fs) {
      suppressWarnings(f(x)) # compiled without the policy
      for (kind in c("int_to_float", "lossy")) {
        refused <- expect_error(
          with_promotion(NULL, f(x), on = stats::setNames("error", kind)),
          "nv_[dpq].*operand 1", class = paste0("joist_", kind, "_error")
        )
        expect_no_match(conditionMessage(refused), "operand 2")
      }
    }
  }
  # R numbers are exact.
  x <- nv_tensor(c(16777216, 16777218), "f64")
  got <- with_promotion(NULL, nv_dnorm(x, 16777217), on = c(literal = "error", lossy = "error"))
  expect_equal(as_array(got), stats::dnorm(c(-1, 1)))
})
