# What joist refuses: the class of the condition and its message.

foreign <- list(
  "as.integer()" = factor(c("a", "b")),
  "as.numeric()" = as.Date("2024-02-29"),
  "as.numeric()" = as.POSIXct(0, origin = "1970-01-01", tz = "UTC"),
  "as.numeric(" = as.POSIXlt(as.POSIXct(0, origin = "1970-01-01", tz = "UTC")),
  "as.numeric(" = as.difftime(5, units = "mins"),
  "as.numeric()" = c("1", "2"),
  "unlist()" = list(1, 2),
  "as.matrix()" = data.frame(a = 1:2),
  "NULL" = NULL,
  "a function" = sum,
  "a function" = function(x) x,
  "symbol" = as.name("x"),
  "environment" = globalenv()
)

test_that("R objects that are not numbers are refused with the call to make first", {
  for (k in seq_along(foreign)) {
    x <- foreign[[k]]
    advice <- names(foreign)[k]
    expect_refusal(nv_tensor(x), "joist_value_error", advice)
    expect_refusal(nv_tensor(x, "f64"), "joist_value_error", advice)
    expect_refusal(nv_scalar(x), "joist_value_error", advice)
    expect_refusal(nv_add(nv_tensor(1:2), x), "joist_value_error", advice)
    expect_refusal(nv_eq(x, nv_tensor(1:2)), "joist_value_error", advice)
    expect_refusal(nv_convert(x, "f32"), "joist_value_error", advice)
    expect_refusal(nv_reduce_sum(x), "joist_value_error", advice)
  }
  expect_refusal(nv_tensor(factor("a")), "joist_value_error", "factor")
  expect_refusal(nv_tensor(Sys.Date()), "joist_value_error", "Date")
  expect_refusal(nv_tensor(Sys.time()), "joist_value_error", "POSIXct")
  expect_refusal(nv_tensor(as.POSIXlt(Sys.time())), "joist_value_error", "POSIXlt")
  expect_refusal(nv_tensor(as.difftime(1, units = "days")), "joist_value_error", "difftime")
  expect_refusal(nv_tensor("a"), "joist_value_error", "character")
  expect_refusal(nv_tensor(structure(1, class = "money")), "joist_value_error", "money")
  expect_refusal(nv_tensor(1:2) + "a", "joist_value_error", "character")
  expect_refusal("a" == nv_tensor(1:2), "joist_value_error", "character")
})

test_that("an integer dtype names value, position and itself when a value is out of range", {
  for (d in ints()) {
    low <- as.numeric(int_min(d))
    high <- as.numeric(int_max(d))
    # The next double outside: 2^63 and 2^64 themselves are the first outside.
    above <- if (width_of(d) < 64) high + 1 else high
    below <- if (!is_signed(d)) -1 else if (width_of(d) < 64) low - 1 else low - 2048
    for (outside in c(above, below, 1e30, -1e30)) {
      digits <- format(outside, digits = 15)
      if (abs(outside) < 1e15) digits <- sprintf("%.0f", outside)
      # R may have rounded the least but 2048 when it read it, which is told first.
      expect_refusal(suppressWarnings(nv_tensor(c(0, low, outside), d)), "joist_value_error",
        c(if (abs(outside) < 1e15) digits, "position 3", d)
      )
    }
    inside <- nv_tensor(c(0, if (width_of(d) < 64) c(low, high) else c(low, 2^62)), d)
    expect_s3_class(inside, "nv_tensor")
    integers <- c(-2147483647L, -70000L, -129L, -9L, -1L, 2L, 16L, 256L, 70000L, 2147483647L)
    three <- as.integer(held(1:3, d))
    x <- nv_tensor(three, d)
    for (outside in integers[integers < low | integers > high]) {
      expect_refusal(nv_tensor(c(three[1], outside), d), "joist_value_error",
        c(as.character(outside), "position 2", d)
      )
      expect_refusal(x + outside, "joist_value_error",
        c(as.character(outside), "position 1", d)
      )
      expect_refusal(outside * x, "joist_value_error",
        c(as.character(outside), d)
      )
      expect_refusal(x - c(three[1:2], outside), "joist_value_error", "position 3")
    }
    expect_refusal(nv_tensor(c(three[1], 1.5), d), "joist_value_error",
      c("1.5", "position 2", d, "nv_convert()")
    )
    expect_refusal(nv_tensor(c(three[1], -0.25, 2), d), "joist_value_error",
      c("-0.25", "position 2")
    )
    for (special in c(NaN, Inf, -Inf)) {
      expect_refusal(nv_tensor(c(three[1:2], special), d), "joist_value_error",
        c(format(special), "position 3", d)
      )
    }
    expect_refusal(nv_tensor(c(three[1] + 0i, 1 + 2i), d), "joist_value_error",
      c("1+2i", "position 2", d, "Re()")
    )
    expect_identical(as_array(nv_tensor(three + 0i, d), "double"), as.numeric(three))
    expect_refusal(nv_fill(low - 1e20, 2, d), "joist_value_error", d)
  }
  expect_refusal(nv_tensor(1:3, "ui8") + 300L, "joist_value_error", c("300", "ui8"))
  expect_refusal(nv_tensor(1:3, "ui8") + -1L, "joist_value_error", c("-1", "ui8"))
  late <- replace(numeric(1e5), 99999, 256)
  expect_refusal(nv_tensor(late, "ui8"), "joist_value_error", "position 99999")
})

test_that("floats refuse what overflows and imaginary parts", {
  for (d in floats()) {
    expect_refusal(nv_tensor(c(1, 1 + 1i), d), "joist_value_error",
      c("1+1i", "position 2", d, "Re()")
    )
    some <- held(c(1, -2), d)
    expect_identical(as_array(nv_tensor(some + 0i, d)), some)
    for (special in c(Inf, -Inf, NaN, 0, -1)) {
      if (identical(round_to(special, d), special)) {
        expect_identical(as_array(nv_tensor(special, d)), special)
      } else {
        expect_refusal(nv_tensor(c(1, special), d), "joist_value_error", c("position 2", d))
      }
    }
    if (d == "f64") next
    half_ulp <- ulp_of(float_max(d), d) / 2
    rounds_down <- float_max(d) + half_ulp * (1 - 2^-20)
    sign <- if (has_zero(d)) -1 else 1
    expect_identical(as_array(nv_tensor(sign * rounds_down, d)), sign * float_max(d))
    # A tie goes to the even code.
    tie <- float_max(d) + half_ulp
    for (outside in c(if (!identical(round_to(tie, d), float_max(d))) tie, 2 * tie, 1e300)) {
      expect_refusal(nv_tensor(c(1, sign * outside), d), "joist_value_error", c("position 2", d))
    }
    expect_refusal(nv_tensor(1, d) + 1e300, "joist_value_error", c("1e+300", d))
  }
  expect_refusal(nv_tensor(65520, "f16"), "joist_value_error", c("65520", "f16", "65504"))
  expect_refusal(nv_tensor(c(1i, 1e300i), "c64"), "joist_value_error", c("position 2", "c64"))
  expect_refusal(nv_tensor(c(TRUE, NA), na = "error"), "joist_value_error", "position 2")
})

test_that("bool takes 0 and 1 only", {
  expect_identical(as_array(nv_tensor(c(0, 1), "bool")), c(FALSE, TRUE))
  expect_identical(as_array(nv_tensor(0:1, "bool")), c(FALSE, TRUE))
  expect_refusal(nv_tensor(c(1, 2), "bool"), "joist_value_error", c("2", "position 2", "bool"))
  expect_refusal(nv_tensor(c(0.5), "bool"), "joist_value_error", c("0.5", "bool"))
})

test_that("extents end at 2^31 - 1, and shapes at what memory holds", {
  for (f in list(nv_fill, function(value, shape) nv_broadcast_to(value, shape))) {
    expect_refusal(f(1, 2^31), "joist_shape_error", c("2147483648", "2^31 - 1"))
  }
  expect_refusal(nv_aval("f32", 2^31), "joist_shape_error", "2147483648")
  expect_refusal(nv_iota(1, "i32", 2^31), "joist_shape_error", "2147483648")
  expect_identical(shape(nv_aval("f32", 2^31 - 1)), 2147483647L)
  expect_refusal(nv_aval("f32", rep(2^30, 4)), "joist_shape_error", "memory")
  huge <- nv_broadcast_to(nv_aval("i8", c(1, 1)), c(100000, 100000))
  expect_identical(length(huge), 1e10)
  expect_refusal(nv_aval("f32", rep(1, 100)), "joist_shape_error", "dimensions")
})

test_that("shapes that do not fit are errors that show them", {
  for (op in list(nv_add, nv_eq, nv_and, nv_div, nv_atan2, nv_min)) {
    expect_refusal(op(nv_tensor(1:3), nv_tensor(1:4)), "joist_shape_error",
      c("{3}", "{4}", "dimension 1")
    )
    expect_refusal(op(nv_tensor(1:3), nv_tensor(matrix(1:3, 1))), "joist_shape_error",
      c("{3}", "{1x3}", "rank", "nv_unsqueeze()", "drop = FALSE")
    )
    expect_refusal(op(nv_tensor(1:3), integer()), "joist_shape_error", c("{3}", "{0}"))
  }
  expect_refusal(nv_tensor(matrix(1:6, 2)) + matrix(1:6, 3), "joist_shape_error",
    c("{2x3}", "{3x2}")
  )
  expect_refusal(nv_tensor(1:4) + 1:2, "joist_shape_error", "{2}") # no recycling
  expect_refusal(nv_ifelse(nv_tensor(c(TRUE, FALSE)), 1:3, 2), "joist_shape_error", "{3}")
  expect_refusal(nv_clamp(1:2, nv_tensor(1:3), 3L), "joist_shape_error", "{2}")
  expect_refusal(nv_reshape(nv_tensor(1:6), c(4, 2)), "joist_shape_error", c("{6}", "{4x2}"))
  expect_refusal(nv_broadcast_to(nv_tensor(1:2), 3), "joist_shape_error", c("{2}", "{3}"))
  expect_refusal(nv_broadcast_to(nv_tensor(1:2), c(2, 2)), "joist_shape_error", "{2}")
  expect_refusal(nv_reduce_sum(nv_tensor(1:2), dims = 2), "joist_shape_error", "2")
  expect_refusal(nv_reduce_sum(nv_tensor(1:2), dims = 0), "joist_shape_error", "0")
  expect_refusal(nv_reduce_sum(nv_tensor(1:2), dims = c(1, 1)), "joist_shape_error", "twice")
})

test_that("devices that are not there", {
  for (name in list("tpu", "cuda:99", "", NA_character_, 1, c("cpu", "cpu"))) {
    expect_refusal(nv_device(name), "joist_device_error")
    expect_refusal(nv_tensor(1, device = name), "joist_device_error")
    expect_refusal(nv_fill(1, 2, device = name), "joist_device_error")
    expect_refusal(nv_iota(1, "i8", 2, device = name), "joist_device_error")
    expect_refusal(jit(function(x) x, device = name), "joist_device_error")
  }
  expect_refusal(nv_device("tpu"), "joist_device_error", c("tpu", "cpu"))
})

test_that("an undefined promotion names both dtypes, the rules and a way out", {
  x <- nv_tensor(1:2, "i8")
  y <- nv_tensor(c(1, 2), "f32")
  expect_refusal(with_promotion("array_api", x + y), "joist_promotion_error",
    c("i8", "f32", "array_api", "nv_convert()", "with_promotion()")
  )
  expect_refusal(with_promotion("anvl", nv_tensor(1, "ui64") + nv_tensor(1L, "i32")),
    "joist_promotion_error", c("ui64", "i32", "anvl")
  )
})

test_that("flags, options and arguments are checked", {
  for (bad in list(NA, "yes", c(TRUE, FALSE), NULL, 2)) {
    if (!is.null(bad)) {
      expect_refusal(nv_tensor(1, ambiguous = bad), "joist_value_error", "ambiguous")
    }
    expect_refusal(nv_aval("f32", 1, ambiguous = bad), "joist_value_error", "ambiguous")
    expect_refusal(nv_convert(1, "f32", ambiguous = bad), "joist_value_error", "ambiguous")
    expect_refusal(nv_reduce_sum(nv_tensor(1), drop = bad), "joist_value_error", "drop")
  }
  expect_refusal(as_array(nv_tensor(1), as = "float"), "joist_value_error", "float")
  expect_refusal(as_array(nv_tensor(1), as = 1), "joist_value_error")
})

test_that("the call of a condition is the user's call", {
  call_of <- function(code) deparse1(conditionCall(tryCatch(code, error = identity)))
  x <- nv_tensor(1:3, "ui8")
  y <- nv_tensor(1:4, "ui8")
  expect_identical(call_of(nv_tensor("a")), "nv_tensor(\"a\")")
  expect_identical(call_of(nv_scalar("a")), "nv_scalar(\"a\")")
  expect_identical(call_of(nv_fill(300, 2, "ui8")), "nv_fill(300, 2, \"ui8\")")
  expect_identical(call_of(nv_add(x, y)), "nv_add(x, y)")
  expect_identical(call_of(x + y), "x + y")
  expect_identical(call_of(x %/% 0L), "x%/%0L")
  expect_identical(call_of(x + 300L), "x + 300L")
  expect_identical(call_of(-nv_tensor(TRUE)), "-nv_tensor(TRUE)")
  expect_identical(call_of(sum(nv_tensor(1i)) < 1), "sum(nv_tensor(0+1i)) < 1")
  expect_identical(call_of(nv_device("tpu")), "nv_device(\"tpu\")")
  expect_identical(call_of(as_array(nv_aval("f32", 1))), "as_array(nv_aval(\"f32\", 1))")
  expect_identical(call_of(nv_reduce_sum(x, dims = 3)), "nv_reduce_sum(x, dims = 3)")
  helper <- function(a) nv_mul(a, y)
  expect_identical(call_of(helper(x)), "nv_mul(a, y)")
  expect_identical(call_of(lapply(list(x), function(a) a - y)), "a - y")
  expect_identical(call_of(common_dtype("f32", "f33")), "common_dtype(\"f32\", \"f33\")")
  # Values that R itself puts into the call are not deparsed.
  expect_identical(call_of(max(nv_tensor(numeric()))), "max(tensor, na.rm = FALSE)")
  expect_identical(call_of(do.call(nv_add, list(x, y))), "nv_add(tensor, tensor)")
  expect_identical(call_of(x[1] <- y), "`[<-`(`*tmp*`, 1, value = y)")
  expect_identical(call_of(x[1] <- nv_tensor(1.5)), "`[<-`(`*tmp*`, 1, value = nv_tensor(1.5))")
  expect_identical(call_of(x[, 1]), "x[, 1]")
})

test_that("an error in a promise whose function has returned is raised", {
  on.exit(setTimeLimit())
  late <- function(f) {
    x <- nv_tensor(1:3, "ui8")
    delayedAssign("value", f(x))
    function() value
  }
  for (f in list(function(x) x + 300L, function(x) lapply(1, function(k) mean(x, "a")))) {
    setTimeLimit(elapsed = 60, transient = TRUE)
    expect_refusal(late(f)(), "joist_value_error")
    get <- late(f)
    expect_refusal(lapply(1, function(k) get()), "joist_value_error")
  }
  delayed <- late(function(x) x + 300L)
  condition <- tryCatch(delayed(), error = identity)
  expect_identical(deparse1(conditionCall(condition)), "x + 300L")
})

test_that("dimensions are whole R numbers, for every function that takes them", {
  x <- nv_tensor(matrix(c(3, 1, 2, 5, 4, 7), 2))
  no_dimension <- list("1", 1.5, 0, 3, -3, 1e10, Inf, NaN, NA, NA_integer_, list(1), sum,
    nv_tensor(1L), factor("a")
  )
  several <- list(
    nv_reduce_sum, nv_reduce_max, nv_range, nv_mean, nv_var, nv_norm, nv_median,
    nv_count_nonzero, nv_reduce_all
  )
  one <- list(
    nv_cumsum, nv_argmax, nv_sort, nv_argsort,
    function(x, dim) nv_gather(x, 1, dim), function(x, dim) nv_top_k(x, 1, dim)
  )
  for (dim in no_dimension) {
    for (f in c(several, one)) {
      expect_warning(expect_refusal(f(x, dim), "joist_shape_error"), NA)
    }
    if (!identical(dim, 3)) expect_refusal(nv_unsqueeze(x, dim), "joist_shape_error")
  }
  expect_refusal(nv_transpose(x, "a"), "joist_shape_error", "permutation")
})

test_that("NULL cannot be an operand of a matrix product", {
  x <- nv_tensor(matrix(1:4, 2))
  expect_refusal(nv_matmul(x, NULL), "joist_value_error", "NULL")
  expect_refusal(nv_crossprod(NULL), "joist_value_error", "NULL")
  expect_refusal(nv_dot(x, NULL), "joist_value_error", "NULL")
  expect_refusal(nv_solve(nv_eye(2), sum), "joist_value_error", "a function")
})

test_that("messages are valid strings however long and in whichever encoding what they quote is", {
  latin1 <- iconv("\u00e9t\u00e9", "UTF-8", "latin1")
  quoting <- list(
    function(text) as_dtype(text),
    function(text) result_dtype(text),
    function(text) promotion_rules(text),
    function(text) nv_tensor(structure(1, class = text))
  )
  for (quote in quoting) {
    for (n in 0:2) {
      text <- paste0(strrep("a", n), strrep("\u00e9", 2000))
      message <- tryCatch(quote(text), error = conditionMessage)
      expect_true(validUTF8(message))
      expect_match(message, "\u00e9\u00e9", fixed = TRUE)
    }
    message <- tryCatch(quote(latin1), error = conditionMessage)
    expect_true(validUTF8(message))
    expect_match(message, enc2utf8(latin1), fixed = TRUE)
  }
})
