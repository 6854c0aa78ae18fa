# Results of integer operations that do not fit, and conversions that change values.

quietly <- function(expr) {
  found <- list()
  value <- withCallingHandlers(expr, joist_changed_values_warning = function(w) {
    found[[length(found) + 1L]] <<- w
    invokeRestart("muffleWarning")
  })
  list(value = value, found = found)
}

# The warnings that evaluating `expr` gives, wherever it was evaluated before.
found <- function(expr) {
  local_promotion(NULL, on = c(overflow = "warn", loss = "warn"))
  quietly(expr)$found
}

counts <- function(found) vapply(found, function(w) w$count, 0)
positions <- function(found) vapply(found, function(w) w$position, 0)

test_that("every operation on integers has a decision", {
  table <- as.data.frame(.Call(joist:::joist_r_op_names))
  whole <- grepl("int", table$kinds)
  expect_false(any(table$overflow[whole] == "undecided"))
})

test_that("a result that wraps is warned about once per call site, with count and position", {
  x <- nv_tensor(c(5L, .Machine$integer.max, 1L, .Machine$integer.max), "i32")
  once <- function() x + 1L
  expect_warning(by_default(wrapped <- once()), "2 results of i32, the first at position 2",
    class = "joist_overflow_warning"
  )
  expect_identical(as_array(wrapped, as = "double"), c(6, -2^31, 2, -2^31))
  expect_no_warning(by_default(once()))
  w <- found(x + 1L)[[1L]]
  expect_equal(w[c("kind", "op", "dtype", "count", "position")],
    list(kind = "overflow", op = "add", dtype = "i32", count = 2, position = 2)
  )
  expect_length(found(x - 1L), 0L)
})

test_that("a policy says what happens", {
  x <- nv_tensor(c(5L, .Machine$integer.max), "i32")
  expect_no_warning(with_promotion(NULL, x + 1L, on = c(overflow = "ok")))
  expect_error(with_promotion(NULL, x + 1L, on = c(overflow = "error")),
    class = "joist_overflow_error"
  )
  top <- with_promotion(NULL, x + 1L, on = c(overflow = "saturate"))
  expect_identical(as.vector(top), c(6L, .Machine$integer.max))
  expect_error(with_promotion(NULL, 1, on = c(loss = "saturate")), class = "joist_value_error")
  f <- jit(function(x) x + 1L)
  expect_identical(
    as.vector(with_promotion(NULL, f(x), on = c(overflow = "saturate"))),
    c(6L, .Machine$integer.max)
  )
  expect_error(with_promotion(NULL, f(x), on = c(overflow = "error")),
    class = "joist_overflow_error"
  )
  expect_no_warning(with_promotion(NULL, f(x), on = c(overflow = "ok")))
  expect_equal(counts(found(f(x))), 1)
})

test_that("missing elements do not count", {
  x <- nv_tensor(c(1L, NA, 3L), "i32") # NA is stored as the least integer
  expect_length(found(x - 1L), 0L)
  expect_length(found(-x), 0L)
  f <- jit(function(x) x - 1L)
  expect_length(found(f(x)), 0L)
  y <- nv_tensor(c(NA, -2147483647L, -2147483647L), "i32")
  w <- found(y - 2L)
  expect_equal(c(counts(w), positions(w)), c(2, 2))
  w <- found(f(y - 1L))
  expect_equal(c(counts(w), positions(w)), c(2, 2))
})

bounds_of <- function(dtype) {
  info <- dtype_info(dtype)
  c(as.numeric(info$min), as.numeric(info$max))
}

# Halves away from zero; infinite for a divisor of 0, which 0 / 0 is not.
rounded_quotient <- function(x, y) ifelse(x == 0, 0, sign(x / y) * floor(abs(x / y) + 0.5))

# All pairs of values of small dtypes, against base R's doubles.
test_that("all results of small dtypes that do not fit are counted, and saturate", {
  binary <- list(
    add = list(`+`, `+`), sub = list(`-`, `-`), mul = list(`*`, `*`),
    floor_div = list(`%/%`, `%/%`), shift_left = list(nv_shift_left, function(x, y) x * 2^y),
    pow = list(`^`, `^`),
    round_div = list(function(x, y) run_operation("round_div", list(x, y)), rounded_quotient),
    div = list(function(x, y) with_promotion("arrow", x / y), function(x, y) trunc(x / y))
  )
  unary <- list(negate = list(`-`, `-`), abs = list(abs, abs))
  table <- as.data.frame(.Call(joist:::joist_r_op_names))
  expect_setequal(c(names(binary), names(unary)), table$name[table$overflow == "each"])
  for (dtype in c("i8", "ui8", "i4", "ui4", "i2", "ui2")) {
    bounds <- bounds_of(dtype)
    all <- seq(bounds[1L], bounds[2L])
    pairs <- expand.grid(x = all, y = all)
    check <- function(name, apply, exact, ...) {
      for (compiled in c(FALSE, TRUE)) {
        f <- if (compiled) jit(apply) else apply
        beyond <- which(exact < bounds[1L] | exact > bounds[2L])
        label <- paste(name, dtype, if (compiled) "in jit()")
        w <- found(f(...))
        any <- length(beyond) > 0L
        expect_equal(counts(w), if (any) length(beyond) else numeric(), info = label)
        expect_equal(positions(w), if (any) beyond[1L] else numeric(), info = label)
        kept <- with_promotion(NULL, f(...), on = c(overflow = "saturate"))
        expect_equal(as.numeric(kept), pmin(pmax(exact, bounds[1L]), bounds[2L]), info = label)
      }
    }
    for (name in names(binary)) {
      if (name == "div" && !(dtype %in% c("i8", "ui8"))) next # Arrow has no others
      some <- switch(name,
        floor_div = ,
        div = subset(pairs, y != 0),
        shift_left = subset(pairs, y >= 0 & y <= 40),
        pow = subset(pairs, y >= 0 & y <= 40),
        pairs
      )
      check(
        name, binary[[name]][[1L]], binary[[name]][[2L]](some$x, some$y),
        nv_tensor(some$x, dtype), nv_tensor(some$y, dtype)
      )
    }
    for (name in names(unary)) {
      check(name, unary[[name]][[1L]], unary[[name]][[2L]](all), nv_tensor(all, dtype))
    }
  }
})

test_that("products next to the bounds are counted exactly", {
  ends <- list(
    i32 = list(c(2147483647, -2147483648, 46340, 46341, -65536, 65536, -2147483648, 2147483647),
      c(1, 1, 46341, 46341, 32768, 32768, -1, -1)),
    ui32 = list(c(4294967295, 65536, 65535, 65537, 4294967295, 1), c(1, 65535, 65537, 65535, 2, 0)),
    i16 = list(c(32767, -32768, 181, 182, -256, 256, -32768), c(1, 1, 181, 181, 128, 128, -1)),
    ui16 = list(c(65535, 256, 255, 65535), c(1, 255, 257, 2))
  )
  for (dtype in names(ends)) {
    x <- rep(ends[[dtype]][[1L]], 300)
    y <- rep(ends[[dtype]][[2L]], 300)
    bounds <- bounds_of(dtype)
    beyond <- x * y < bounds[1L] | x * y > bounds[2L]
    for (f in list(`*`, jit(`*`), jit(function(x, y) x * y, native = "wait"))) {
      w <- found(f(nv_tensor(x, dtype), nv_tensor(y, dtype)))
      expect_equal(c(counts(w), positions(w)), c(sum(beyond), which(beyond)[1L]), info = dtype)
      expect_length(found(f(nv_tensor(x[!beyond], dtype), nv_tensor(y[!beyond], dtype))), 0L)
    }
  }
})

test_that("sums, products, matrix products and scatters that do not fit are counted", {
  x <- nv_tensor(c(100, 100, -100, 27, 1), "i8")
  expect_length(found(nv_reduce_sum(x[1:4], dtype = "i8")), 0L) # 127, though not on the way
  expect_equal(counts(found(nv_reduce_sum(x, dtype = "i8"))), 1)
  expect_equal(positions(found(nv_cumsum(x, dtype = "i8"))), 2)
  expect_equal(counts(found(nv_cumsum(x, dtype = "i8"))), 2) # 200, 100, 127, 128
  expect_length(found(sum(x)), 0L)
  big <- nv_tensor(c("9223372036854775807", "1", "-1"), "i64")
  expect_length(found(sum(big)), 0L)
  expect_equal(counts(found(sum(big[1:2]))), 1)
  expect_equal(counts(found(prod(nv_tensor(rep("4294967296", 2), "i64")))), 1)
  expect_length(found(prod(nv_tensor(c("4294967296", "2147483647"), "i64"))), 0L)
  expect_length(found(prod(nv_tensor(c("4294967296", "4294967296", "0"), "i64"))), 0L)
  expect_equal(counts(found(cumprod(nv_tensor(c("4294967296", "4294967296", "0"), "i64")))), 1)
  m <- nv_tensor(matrix(c(100L, 1L, 1L, 1L), 2), "i32")
  huge <- nv_convert(m, "i64") * nv_scalar("40000000000000000", "i64")
  expect_equal(counts(found(m %*% m)), numeric())
  w <- found(huge %*% nv_convert(m, "i64"))
  exact <- (matrix(c(100, 1, 1, 1), 2) * 4e16) %*% matrix(c(100, 1, 1, 1), 2)
  expect_equal(counts(w), sum(abs(exact) >= 2^63))
  most <- nv_tensor(matrix(rep("18446744073709551615", 2), 1), "ui64")
  ones <- nv_tensor(matrix(c("1", "1", "1", "0"), 2), "ui64")
  w <- found(ones %*% t(most)) # sums of two, and of one
  expect_equal(c(counts(w), positions(w)), c(1, 1))
  at <- nv_tensor(c(1, 1, 2), "i64")
  w <- found(nv_scatter_add(nv_tensor(c(100, 0), "i8"), at, nv_tensor(c(20, 20, 5), "i8")))
  expect_equal(c(counts(w), positions(w)), c(1, 1))
  rows <- nv_tensor(matrix(c(100, 100, 1, 2), 2), "i8")
  w <- found(nv_reduce_sum(rows, 1, dtype = "i8"))
  expect_equal(c(counts(w), positions(w)), c(1, 1))
  f <- jit(function(x) sum(x * x))
  expect_equal(counts(found(f(nv_tensor(c("3000000000", "3000000000"), "i64")))), 1)
  expect_length(found(f(nv_tensor(c("2000000000", "2000000000"), "i64"))), 0L)
})

test_that("powers of one base by one exponent are watched, of negative bases too", {
  for (dtype in c("i8", "i16", "i32")) {
    bounds <- bounds_of(dtype)
    for (base in c(-128:-2, 2:127)) {
      fit <- base^(0:33) >= bounds[1L] & base^(0:33) <= bounds[2L]
      last <- max(which(fit)) - 1
      for (more in 0:1) {
        power <- function() nv_tensor(c(base, base), dtype)^as.integer(last + more)
        w <- found(power())
        expect_equal(counts(w), if (more) 2 else numeric(), info = paste(dtype, base))
      }
    }
  }
  expect_equal(counts(found(nv_tensor(-10L, "i64")^19L)), 1)
})

test_that("sums and products are exact before they saturate, in any order of their elements", {
  x <- nv_tensor(c(100, 100, -100, 5), "i8")
  saturated <- function(expr) as.numeric(with_promotion(NULL, expr, on = c(overflow = "saturate")))
  expect_equal(saturated(nv_reduce_sum(x, dtype = "i8")), 105)
  expect_equal(saturated(nv_cumsum(x, dtype = "i8")), c(100, 127, 100, 105))
  expect_equal(saturated(nv_reduce_prod(x, dtype = "i8")), -128)
  expect_equal(saturated(nv_reduce_prod(nv_tensor(c(100, 2, -1), "i8"), dtype = "i8")), -128)
  f <- jit(function(x) nv_reduce_sum(x * 2L, dtype = "i8"))
  expect_equal(saturated(f(x)), 127) # of 127, 127, -128, 10
  expect_equal(saturated(nv_segment_sum(x, c(1L, 1L, 1L, 2L), 2L)), c(100, 5))
  added <- function() nv_scatter_add(nv_tensor(c(0, 9), "i8"), c(1L, 1L, 1L, 2L), x)
  expect_equal(saturated(added()), c(100, 14))
  most <- nv_tensor(c("9223372036854775807", "1", "-1"), "i64")
  expect_identical(
    as.character(with_promotion(NULL, sum(most), on = c(overflow = "saturate"))),
    "9223372036854775807"
  )
})

test_that("implicit conversions that change an element are counted", {
  x <- nv_tensor(c("1", "16777217", "123456789", NA, "33554432"), "i64")
  y <- nv_scalar(1, "f32")
  for (f in list(function(x, y) x + y, jit(function(x, y) x + y))) {
    w <- found(f(x, y))
    expect_equal(c(counts(w), positions(w)), c(2, 2))
    expect_s3_class(w[[1L]], "joist_loss_warning")
  }
  expect_length(found(nv_convert(x, "f32") + y), 0L)
  expect_length(found(x + nv_scalar(1, "f64")), 0L)
  expect_length(found(nv_tensor(c(1L, 16777216L), "i32") * y), 0L)
  expect_equal(counts(found(nv_tensor(c(2147483647L, 1L), "i32") * y)), 1)
  expect_no_warning(with_promotion(NULL, x + y, on = c(loss = "ok")))
  expect_error(with_promotion(NULL, x + y, on = c(loss = "error")), class = "joist_loss_error")
  expect_error(
    with_promotion(NULL, nv_tensor(123456789), on = c(loss = "error")),
    class = "joist_loss_error"
  )
  expect_no_warning(with_promotion(NULL, nv_tensor(123456789), on = c(loss = "ok")))
})

test_that("floats that become integers by promotion are counted", {
  local_promotion("octave")
  x <- nv_tensor(c(7L, 100L, -3L), "i8")
  y <- nv_tensor(c(2, 2.5, 0.5), "f64")
  assign_all <- function(x, y) {
    x[1:3] <- y
    x
  }
  for (f in list(nv_concatenate, assign_all, jit(nv_concatenate), jit(assign_all))) {
    w <- found(f(x, y))
    expect_length(w, 1L)
    expect_equal(w[[1L]][c("kind", "dtype", "count", "position")],
      list(kind = "loss", dtype = "i8", count = 2, position = 2)
    )
    far <- nv_tensor(c(1, -1, 300), "f64")
    if ("x" %in% names(formals(f))) {
      expect_error(found(f(x, far)), "position 3 does not fit i8", class = "joist_overflow_error")
    } else {
      expect_equal(counts(found(f(x, far))), 1)
    }
    expect_length(found(f(x, nv_tensor(c(1, -1, 2), "f64"))), 0L)
    expect_error(with_promotion(NULL, f(x, y), on = c(loss = "error")), class = "joist_loss_error")
  }
  expect_identical(as.vector(assign_all(x, nv_tensor(c(1, -1, 2), "f64"))), c(1L, -1L, 2L))
  # 64 bits, which doubles do not hold, are not computed in double.
  wide <- nv_convert(x, "i64")
  expect_equal(counts(found(wide + y)), 2)
  expect_error(wide * 2.5, class = "joist_value_error")
})

test_that("results of integers and floats that are rounded are counted where they do not fit", {
  local_promotion("octave")
  x <- nv_tensor(c(7L, 100L, -3L, NA, 64L), "i8")
  y <- nv_tensor(c(2.5, 2.5, NaN, 1e9, 1.992), "f64")
  for (f in list(`*`, jit(`*`), jit(`*`, native = "wait"))) {
    w <- found(f(x, y))
    expect_equal(w[[1L]][c("kind", "dtype", "count", "position")],
      list(kind = "overflow", dtype = "i8", count = 2, position = 2)
    )
    expect_match(conditionMessage(w[[1L]]), "do not fit and become the nearest number that does")
    expect_identical(as.vector(suppressWarnings(f(x, y))), c(18L, 127L, 0L, NA, 127L))
    expect_identical(
      as.vector(with_promotion(NULL, f(x, y), on = c(overflow = "saturate"))),
      c(18L, 127L, 0L, NA, 127L)
    )
    expect_error(with_promotion(NULL, f(x, y), on = c(overflow = "error")),
      class = "joist_overflow_error"
    )
    expect_length(found(f(x[c(1, 4, 5)], y[c(1, 2, 5)])), 0L)
  }
})

test_that("loops and machine code report the same", {
  for (native in c("never", "wait")) {
    f <- jit(function(n) {
      total <- nv_scalar(1L, "i32")
      while (n > 0L) {
        total <- total * 3L
        n <- n - 1L
      }
      total
    }, native = native)
    expect_length(found(f(nv_scalar(19L, "i32"))), 0L)
    w <- found(f(nv_scalar(21L, "i32")))
    expect_equal(counts(w), 2, info = native)
    g <- jit(function(x, y) (x + y) * x - y, native = native)
    x <- nv_tensor(rep(c(1L, 46341L, 5L, -46341L), 500), "i32")
    w <- found(for (k in 1:3) g(x, nv_tensor(rep(0L, 2000), "i32")))
    expect_equal(c(counts(w), positions(w)), rep(c(1000, 2), c(1, 1)), info = native)
  }
})

test_that("arrays of many tiles are counted in all forms, where results replace operands, too", {
  n <- 50000L
  x <- (seq_len(n) * 7919) %% 65536 - 32768
  y <- ifelse(seq_len(n) > 20000, (seq_len(n) * 104729) %% 65536 - 32768, 0)
  x[seq_len(20000)] <- x[seq_len(20000)] %% 50
  steps <- list()
  wrapped <- function(v) {
    beyond <- which(v < -32768 | v > 32767)
    steps[[length(steps) + 1L]] <<- c(length(beyond), beyond[1L])
    (v + 32768) %% 65536 - 32768
  }
  sum_of <- wrapped(x + y)
  product <- wrapped(sum_of * 3)
  a <- wrapped(product - y)
  b <- wrapped(wrapped(a - 5) * 7)
  last <- wrapped(b + max(a))
  f <- function(x, y) {
    a <- (x + y) * 3L - y
    b <- (a - 5L) * 7L
    b + nv_reduce_max(a)
  }
  x <- nv_tensor(x, "i16")
  y <- nv_tensor(y, "i16")
  forms <- list(f, jit(f, native = "never"), jit(f, native = "wait"))
  for (form in forms) {
    w <- found(for (k in 1:2) result <- form(x, y))
    told <- lapply(w, function(one) c(one$count, one$position))
    # The same operation in one function tells once for each line that has it.
    expect_true(all(told %in% steps))
    expect_setequal(unique(told), steps)
    expect_identical(as.vector(result), as.integer(last))
  }
})

test_that("arrays that compiled loops update are counted as by the interpreter", {
  bodies <- list(
    function(i, s, k, r) s * k, function(i, s, k, r) s + s - k * r,
    function(i, s, k, r) -abs(s) * k - r,
    function(i, s, k, r) nv_shift_left(s, k - k + 1L) + r,
    function(i, s, k, r) nv_convert(s * 0.5 + k, dtype(s)) + k,
    function(i, s, k, r) nv_transpose(nv_transpose(s) * k) + r[1L, , drop = FALSE],
    function(i, s, k, r) s + nv_reduce_max(s) * k
  )
  for (dtype in c("i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64")) {
    for (rows in c(3L, 401L)) {
      x <- (seq_len(2 * rows) * 7919) %% (if (endsWith(dtype, "i8")) 127 else 30000) + 1
      s <- nv_tensor(matrix(x, rows), dtype)
      r <- nv_tensor(matrix(rev(x), rows), dtype)
      k <- nv_scalar(3L, dtype)
      for (body in bodies) {
        run <- function(native) {
          loop <- function(s, k, r) nv_for(9L, s, function(i, s) body(i, s, k, r))
          form <- jit(loop, native = native)
          told <- found(result <- form(s, k, r))
          told <- vapply(told, function(w) paste(w$kind, w$op, w$dtype, w$count, w$position), "")
          list(sort(told), result)
        }
        expect_identical(run("wait"), run("never"), info = paste(dtype, rows, deparse1(body)))
      }
    }
  }
})

test_that("kernels count what wraps as one result at a time does", {
  operations <- list(
    add = list(`+`, exact = `+`), sub = list(`-`, exact = `-`), mul = list(`*`, exact = `*`),
    negate = list(function(x, y) -x, exact = function(x, y) -x),
    abs = list(function(x, y) abs(x), exact = function(x, y) abs(x)),
    shift = list(function(x, y) nv_shift_left(x, nv_bitwise_and(y, nv_scalar(3L, dtype(y)))),
      exact = function(x, y) x * 2^(y %% 4))
  )
  n <- 20000L
  for (dtype in c("i8", "ui8", "i16", "ui16", "i32", "ui32")) {
    bounds <- bounds_of(dtype)
    span <- bounds[2L] - bounds[1L] + 1
    x <- (seq_len(n) * 1299709 * 15485863) %% span + bounds[1L]
    y <- (seq_len(n) * 611953 * 7368787) %% span + bounds[1L]
    x[seq_len(5000)] <- 1
    y[seq_len(5000)] <- 0
    for (name in names(operations)) {
      if (name == "abs" && bounds[1L] == 0) next
      exact <- operations[[name]]$exact(x, y)
      beyond <- exact < bounds[1L] | exact > bounds[2L]
      w <- found(operations[[name]][[1L]](nv_tensor(x, dtype), nv_tensor(y, dtype)))
      want <- if (any(beyond)) c(sum(beyond), which(beyond)[1L]) else numeric()
      expect_equal(c(counts(w), positions(w)), want, info = paste(name, dtype))
    }
  }
})

test_that("what becomes infinite of ambiguous floats is a loss, and nothing else of them", {
  h <- nv_tensor(c(1, 2, 3), "f16")
  a <- nv_tensor(c(0.1, 70000, -1e9), ambiguous = TRUE)
  one <- nv_tensor(70000, ambiguous = TRUE)
  ways <- list(
    function(h, a) h * a, function(h, a) c(h, a)[4:6], function(h, a) nv_ifelse(h > 5, h, a),
    function(h, a) (h * a - h) * 2,
    function(h, a) nv_matmul(nv_reshape(h, c(3L, 1L)), nv_reshape(a, c(1L, 3L)))
  )
  for (way in ways) {
    for (f in list(way, jit(way), jit(way, native = "wait"))) {
      w <- found(f(h, a))
      expect_equal(w[[1L]][c("kind", "count")], list(kind = "loss", count = 2))
      expect_length(w, 1L)
      expect_length(found(f(h, nv_tensor(c(0.1, 65504, NaN), ambiguous = TRUE))), 0L)
      expect_error(
        with_promotion(NULL, f(h, a), on = c(loss = "error")),
        class = "joist_loss_error"
      )
    }
  }
  expect_equal(counts(found(h * one)), 1)
  expect_equal(counts(found(jit(function(h, a) h * a)(h, one))), 1)
  expect_length(found(h * nv_tensor(0.1, ambiguous = TRUE)), 0L)
  expect_length(found(h * nv_tensor(Inf, ambiguous = TRUE)), 0L)
})

test_that("each place warns once where functions have no source references", {
  here <- new.env()
  text <- "
    f <- function(x) x + 1L
    g <- function(x) { y <- 5; x + 1L }
    h <- jit(function(x, y) list(x * 2L, y * 3L))
  "
  eval(parse(text = text, keep.source = FALSE), here)
  x <- nv_tensor(c(127L, 100L), "i8")
  local_promotion(NULL, on = c(overflow = "warn"))
  told <- function(expr) length(quietly(expr)$found)
  expect_identical(told(here$f(x)), 1L)
  expect_identical(told(here$f(x)), 0L)
  expect_identical(told(here$g(x)), 1L)
  expect_identical(told(here$h(x, x)), 2L)
  expect_identical(told(here$h(x, x)), 0L)
})

test_that("scalars in compiled loops wrap at the bounds, and nowhere else", {
  operations <- list(`+`, `-`, `*`)
  for (dtype in c("i8", "i16", "i32", "ui8", "ui16", "ui32")) {
    bounds <- bounds_of(dtype)
    ends <- c(bounds, bounds - sign(bounds), bounds %/% 2, 0, 1, if (bounds[1L] < 0) -1)
    pairs <- expand.grid(x = unique(ends), y = unique(ends))
    pairs <- pairs[pairs$x >= bounds[1L] & pairs$y >= bounds[1L], ]
    x <- nv_tensor(pairs$x, dtype)
    y <- nv_tensor(pairs$y, dtype)
    for (operation in operations) {
      exact <- operation(pairs$x, pairs$y)
      beyond <- exact < bounds[1L] | exact > bounds[2L]
      f <- jit(function(x, y) {
        nv_for(length(x), x, function(i, z) {
          z[i] <- operation(x[[i]], y[[i]])
          z
        })
      }, native = "wait")
      w <- found(z <- f(x, y))
      expect_equal(counts(w), sum(beyond), info = dtype)
      span <- bounds[2L] - bounds[1L] + 1
      wrapped <- (exact - bounds[1L]) %% span + bounds[1L]
      fits <- abs(exact) < 2^53
      expect_equal(as.numeric(z)[fits], wrapped[fits], info = dtype)
      expect_length(found(f(x[!beyond], y[!beyond])), 0L)
    }
  }
  for (dtype in c("i64", "ui64")) {
    least <- if (dtype == "i64") "-9223372036854775808" else "0"
    most <- if (dtype == "i64") "9223372036854775807" else "18446744073709551615"
    f <- jit(function(x, y) {
      nv_for(length(x), x, function(i, z) {
        z[i] <- (x[[i]] + y[[i]]) - (x[[i]] * y[[i]])
        z
      })
    }, native = "wait")
    w <- found(f(nv_tensor(c(least, most), dtype), nv_tensor(c("0", "0"), dtype)))
    expect_length(w, 0L)
    w <- found(f(nv_tensor(most, dtype), nv_tensor("1", dtype)))
    expect_equal(sort(counts(w)), c(1, 1), info = dtype)
    w <- found(f(nv_tensor(most, dtype), nv_tensor("2", dtype)))
    expect_gte(length(w), 2L)
  }
})

test_that("numbers that are computed of R numbers alone are computed in double", {
  x <- nv_tensor(c(1, 2, 3), "f64")
  f <- function(x, h) x * (h / 3)
  expect_identical(as.vector(jit(f)(x, 0.1)), as.vector(f(x, 0.1)))
  g <- function(x, h, n) x + exp(h) * 3 - n / 7
  expect_identical(as.vector(jit(g)(x, 0.1, 5L)), as.vector(g(x, 0.1, 5L)))
  y <- nv_tensor(c(1, 2, 3), "f32")
  expect_identical(as.vector(jit(f)(y, 0.1)), as.vector(f(y, 0.1)))
  expect_identical(dtype(jit(f)(y, 0.1)), as_dtype("f32"))
})

test_that("sums that do not fit are counted exactly, whatever computes what they read", {
  withr::local_seed(7)
  counted <- function(expr) unlist(lapply(found(expr), function(w) c(w$count, w$position)))
  # Halves of 64 bits, whose sums doubles hold.
  beyond <- function(high, low) {
    carried <- high + floor(low / 2^32)
    odd <- which(carried < -2^31 | carried >= 2^31)
    if (length(odd) > 0L) as.numeric(c(length(odd), odd[1L]))
  }
  sums <- list(
    all = list(NULL, sum), runs = list(1L, colSums), rows = list(2L, rowSums),
    middle = list(2L, function(x) apply(x, c(1L, 3L), sum)),
    two = list(c(1L, 3L), function(x) apply(x, 2L, sum))
  )
  check <- function(name, size, dim) {
    dims <- sums[[name]][[1L]]
    total <- sums[[name]][[2L]]
    high <- array(floor(runif(prod(dim), -2^size / 3, 2^size)), dim)
    low <- array(floor(runif(prod(dim), 0, 2^32)), dim)
    missing <- array(runif(prod(dim)) < 0.1, dim)
    wide <- nv_tensor(high, "i64") * nv_scalar("4294967296", "i64") + nv_tensor(low, "i64")
    some <- nv_ifelse(nv_tensor(missing), nv_scalar(NA, "i64"), wide)
    kept <- beyond(total(high), total(low))
    left <- beyond(total(ifelse(missing, 0, high)), total(ifelse(missing, 0, low)))
    note <- paste(name, size, toString(dim))
    expect_identical(counted(nv_reduce_sum(wide, dims)), kept, info = note)
    expect_identical(counted(nv_reduce_sum(some, dims, na_rm = TRUE)), left, info = note)
    for (native in c("never", "wait")) {
      f <- jit(\(x) nv_reduce_sum(nv_bitwise_xor(nv_bitwise_xor(x, 77L), 77L), dims),
        native = native
      )
      for (k in 1:3) expect_identical(counted(f(wide)), kept, info = note)
    }
  }
  for (dim in list(c(7L, 5L, 3L), c(40L, 300L, 2L), c(1100L, 9L, 3L))) {
    for (size in c(10, 27, 30.999)) {
      for (name in c("all", "middle", "two")) check(name, size, dim)
      for (name in c("runs", "rows")) check(name, size, dim[1:2])
    }
  }
})

test_that("a compiled function that has told of some values still tells of others", {
  x <- nv_tensor(c("6000000000", "6000000000"), "i64")
  for (native in c("never", "wait")) {
    f <- jit(function(x) {
      doubled <- x * x
      nv_for(2L, sum(doubled), function(k, y) y + max(doubled))
    }, native = native)
    small <- nv_tensor(c("3", "4"), "i64")
    g <- jit(function(x) sum(x * 1536000000L), native = native)
    local_promotion(NULL, on = c(overflow = "warn"))
    call <- function(f, x) quietly(f(x))
    ops <- function(call) vapply(call$found, function(w) w$op, "")
    expect_identical(ops(call(f, small)), character())
    for (k in 1:4) {
      found <- ops(call(g, x))
      expect_identical(found, if (k == 1L) "reduce_sum" else character())
    }
    # The product does not fit, which is new here.
    for (k in 1:4) {
      found <- ops(call(g, x * 2L))
      expect_identical(found, if (k == 1L) "mul" else character())
    }
    expect_identical(as.vector(call(g, small)$value), 7 * 1536000000)
    # Elsewhere, and under another policy, nothing was told.
    expect_identical(ops(quietly(g(x))), "reduce_sum")
    expect_error(with_promotion(NULL, call(g, x), on = c(overflow = "error")),
      class = "joist_overflow_error"
    )
    expect_identical(ops(call(f, x)), "mul")
    expect_identical(ops(call(f, nv_tensor(c("3037000499", "3"), "i64"))), "add")
    expect_identical(ops(call(f, x)), character())
  }
})

test_that("functions that wrap on the way do not warn", {
  for (dtype in c("i8", "i32", "i64", "ui64")) {
    x <- nv_tensor(c(15, 27, 104), dtype)
    if (dtype != "ui64") x <- nv_concatenate(x, -x)
    for (f in list(function(x) round(x, -1), function(x) signif(x, 2))) {
      expect_length(found(f(x)), 0L)
      expect_length(found(jit(f)(x)), 0L)
    }
  }
})

test_that("a sum of flags that is more than one of them is reported", {
  x <- nv_tensor(c(TRUE, TRUE, FALSE, NA))
  y <- nv_tensor(c(TRUE, FALSE, FALSE, TRUE))
  warned <- function(expr) with_promotion(NULL, expr, on = c(overflow = "warn"))
  m <- nv_tensor(matrix(TRUE, 2, 2))
  one <- nv_tensor(diag(2) == 1)
  sums <- list(
    function() x + y, function() nv_add(x, y), function() Reduce(`+`, list(x, y, FALSE)),
    function() jit(function(x, y) x + y)(x, y), function() x + TRUE, function() m %*% m,
    function() crossprod(m), function() outer(x, y, "+"),
    function() jit(function(a) nv_matmul(a, a))(m), function() jit(function(x, y) !(x + y))(x, y)
  )
  for (f in sums) {
    expect_warning(warned(f()), "1 + 1 does not fit bool", fixed = TRUE,
      class = "joist_overflow_warning"
    )
    expect_error(with_promotion(NULL, f(), on = c(overflow = "error")),
      class = "joist_overflow_error"
    )
    for (level in c("ok", "saturate")) {
      expect_silent(with_promotion(NULL, f(), on = c(overflow = level)))
    }
  }
  for (f in list(
    function() x + FALSE, function() x & y, function() x * y, function() one %*% m,
    function() crossprod(one), function() sum(x, na.rm = TRUE), function() cumsum(y),
    function() x[3:4] + y[3:4], function() mean(y), function() x | y
  )) {
    expect_silent(warned(f()))
  }
  expect_identical(as.vector(x + y), c(TRUE, TRUE, FALSE, NA))
  n <- 5000L
  set.seed(1)
  a <- sample(c(TRUE, FALSE), n, TRUE)
  b <- sample(c(TRUE, FALSE), n, TRUE)
  seen <- tryCatch(warned(nv_tensor(a) + nv_tensor(b)), warning = identity)
  expect_identical(seen$count, as.double(sum(a & b)))
  expect_identical(seen$position, as.double(which(a & b)[1]))
})

test_that("a place is a call in a function, also where R keeps no source references", {
  make <- function(text) eval(parse(text = text, keep.source = FALSE))
  f <- make("function(x, y) x + y")
  g <- make("function(x, y) { z <- 1L; x + y }")
  x <- nv_tensor(200L, "ui8")
  local_promotion(NULL, on = c(overflow = "warn"))
  expect_warning(f(x, x), class = "joist_overflow_warning")
  expect_silent(f(x, x))
  expect_warning(g(x, x), class = "joist_overflow_warning")
  expect_silent(g(x, x))
  # the same function by another name is the same place
  h <- f
  expect_silent(h(x, x))
  expect_silent(for (k in 1:3) make("function(x, y) x + y")(x, x))
  expect_warning(lapply(1:3, make("function(k) x * x")), class = "joist_overflow_warning")
  expect_silent(lapply(1:3, make("function(k) x * x")))
})

test_that("sums at positions are watched while they are added: random ones beside exact sums", {
  withr::local_seed(5)
  for (type in c("i8", "ui8", "i16", "ui16", "i32", "ui32", "i64")) {
    bounds <- dtype_info(type)
    low <- as.numeric(as.character(bounds$min))
    high <- min(as.numeric(as.character(bounds$max)), 2^52)
    for (turn in 1:12) {
      # many values for each sum, few values, and sums that come back into the range on the way
      n <- c(3L, 40L, 600L)[turn %% 3L + 1L]
      values <- sample(c(20L, 700L, 20000L), 1L)
      share <- high / c(2, 50, 1e5)[turn %% 3L + 1L]
      x <- trunc(runif(n, if (low < 0) -share else 0, share))
      v <- trunc(runif(values, if (low < 0) -share else 0, share))
      at <- sample(n, values, TRUE)
      exact <- x
      sums <- tapply(v, at, sum)
      exact[as.integer(names(sums))] <- exact[as.integer(names(sums))] + sums
      odd <- which(exact < low | exact > if (type == "i64") Inf else high)
      found <- NULL
      got <- withCallingHandlers(
        with_promotion(NULL, nv_scatter_add(nv_tensor(x, type), at, nv_tensor(v, type)),
          on = c(overflow = "warn")
        ),
        joist_overflow_warning = function(w) {
          found <<- c(w$count, w$position)
          invokeRestart("muffleWarning")
        }
      )
      fits <- setdiff(seq_len(n), odd)
      expect_identical(as_array(got, as = "double")[fits], exact[fits])
      expect_equal(found, if (length(odd) > 0L) c(length(odd), odd[1L]))
    }
  }
})

test_that("an intermediate value beyond the range does not count as overflow if the result fits", {
  far <- "9000000000000000000"
  x <- nv_tensor(c(paste0("-", far), far, far), "i64")
  y <- nv_tensor(c(far, far, paste0("-", far)), "i64")
  small <- nv_tensor(c(100L, 100L, -100L), "i8")
  for (level in c("error", "saturate")) {
    on <- c(overflow = level)
    sums <- with_promotion(NULL, nv_segment_cumsum(x, c(1, 1, 1), 1), on = on)
    expect_identical(format(sums), format(nv_tensor(c(paste0("-", far), "0", far), "i64")))
    products <- with_promotion(NULL, on = on, {
      nv_segment_cumprod(nv_tensor(c(0, 1e10, 1e10, NA), "i64"), rep(1, 4), 1)
    })
    expect_identical(as.vector(products), c(0, 0, 0, NA))
    windows <- with_promotion(NULL, nv_rolling(y, 3, "sum"), on = on)
    expect_identical(format(windows), far)
    windows <- with_promotion("jax_x32", nv_rolling(small, 3, "sum"), on = on)
    expect_identical(type_of(windows), with_promotion("jax_x32", type_of(nv_reduce_sum(small))))
    expect_identical(as.vector(windows), 100L)
    none <- with_promotion(NULL, nv_gcd(nv_tensor(NA, "i16"), nv_tensor(-32768, "i16")), on = on)
    expect_true(is.na(none))
  }
  saturated <- with_promotion("jax", nv_segment_cumsum(small, c(1, 1, 1), 1), on = on)
  expect_identical(as.vector(saturated), c(100L, 127L, 100L))
  expect_error(
    with_promotion(NULL, nv_rolling(y, 2, "sum"), on = c(overflow = "error")),
    "nv_rolling(): 1 result of i64, at position 1",
    fixed = TRUE, class = "joist_overflow_error"
  )
})
