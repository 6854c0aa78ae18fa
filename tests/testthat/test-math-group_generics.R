# R's operators and generics on tensors call the operations of the same name, and those
# that have none fail loudly.

op_table <- operation_table()
message_of <- function(code) conditionMessage(tryCatch(code, error = identity))

test_that("every generic in the table of operations calls its operation", {
  mapped <- op_table[nzchar(op_table$generic), ]
  expect_gt(nrow(mapped), 40)
  for (row in seq_len(nrow(mapped))) {
    op <- nv(mapped$name[row])
    generic <- get(mapped$generic[row], baseenv())
    for (d in dtypes()) {
      # Values that no operation refuses.
      positive <- if (is_narrow(d)) rep_len(setdiff(few_values(d), 0), 3) else c(1, 2, 3)
      if (d %in% c("i2", "i4")) positive <- c(1, 1, 1)
      x <- nv_convert(nv_tensor(positive), d)
      operands <- list(x, nv_convert(nv_tensor(positive[c(3, 1, 2)]), d))
      operands <- operands[seq_len(mapped$least[row])]
      if (d == "int1" && mapped$name[row] == "pow") next # its only power is a negative one
      want <- tryCatch(do.call(op, operands), joist_dtype_error = function(e) class(e))
      got <- tryCatch(do.call(generic, operands), joist_dtype_error = function(e) class(e))
      if (!identical(got, want)) fail(paste(mapped$generic[row], d))
    }
  }
  succeed()
})

test_that("R's whole groups are covered: an operation or an error that names the generic", {
  x <- nv_tensor(c(1, 2, 3))
  groups <- list(
    Ops = unlist(lapply(c("Arith", "Compare", "Logic"), getGroupMembers)),
    Math = getGroupMembers("Math"),
    Summary = getGroupMembers("Summary"), Complex = getGroupMembers("Complex")
  )
  groups$Math <- c(groups$Math, "cospi", "sinpi", "tanpi", "round", "signif", "log1p", "expm1")
  for (group in names(groups)) {
    for (name in groups[[group]]) {
      f <- get(name, baseenv())
      out <- tryCatch(if (group == "Ops") f(x, x) else f(x), error = identity)
      if (inherits(out, "error")) {
        expect_s3_class(out, "joist_error")
        expect_match(conditionMessage(out), name, fixed = TRUE)
      } else {
        expect_s3_class(out, "nv_tensor")
      }
    }
  }
})

test_that("operators take a tensor and an R vector, either way round", {
  v <- c(3, 1, 2)
  x <- nv_tensor(v, "f64")
  w <- c(2, 4, 1)
  operators <- c("+", "-", "*", "/", "^", "%%", "%/%", "==", "!=", "<", "<=", ">", ">=")
  for (name in operators) {
    f <- get(name, baseenv())
    expect_identical(as_array(f(x, w)), f(v, w), label = name)
    expect_identical(as_array(f(w, x)), f(w, v), label = name)
    expect_identical(as_array(f(x, 2)), f(v, 2), label = name)
    expect_identical(as_array(f(2, x)), f(2, v), label = name)
    expect_identical(as_array(f(x, 2L)), f(v, 2L), label = name)
    expect_identical(as_array(f(x, nv_tensor(w, "f64"))), f(v, w), label = name)
  }
  for (name in c("&", "|")) {
    f <- get(name, baseenv())
    expect_identical(as_array(f(x > 1, TRUE)), f(v > 1, TRUE))
    expect_identical(as_array(f(c(TRUE, FALSE, TRUE), x > 1)), f(c(TRUE, FALSE, TRUE), v > 1))
  }
  expect_identical(as_array(!(x > 1)), !(v > 1))
  expect_identical(as_array(-x), -v)
  expect_identical(as_array(+x), v)
  expect_identical(+x, x)
  m <- matrix(1:6, 2)
  expect_identical(as_array(nv_tensor(m) * m), m * m)
  expect_identical(as_array(m - nv_tensor(m)), m - m)
  expect_identical(as_array(nv_tensor(1:3, "ui8") + as.raw(1:3)), c(2L, 4L, 6L))
  expect_identical(as_array(x + TRUE), v + 1)
})

test_that("Math generics are base R's functions", {
  v <- c(0.1, 0.5, 0.9)
  x <- nv_tensor(v, "f64")
  for (name in c("abs", "sign", "sqrt", "floor", "ceiling", "trunc")) {
    f <- get(name, baseenv())
    expect_identical(as_array(f(x)), f(v), label = name)
  }
  for (name in c(
    "exp", "log", "expm1", "log1p", "log2", "log10", "cos", "sin", "tan", "acos", "asin", "atan",
    "cosh", "sinh", "tanh", "asinh", "atanh", "cospi", "sinpi"
  )) {
    f <- get(name, baseenv())
    expect_ulps(as_array(f(x)), f(v), "f64", 5, name)
  }
  expect_ulps(as_array(acosh(x + 1)), acosh(v + 1), "f64", 5, "acosh")
  expect_identical(as_array(round(x)), round(v))
  expect_identical(as_array(round(x, 0)), round(v))
  expect_identical(as_array(round(x, digits = 0)), round(v))
  expect_equal(as_array(log(x, 2)), log(v, 2), tolerance = 1e-15)
  expect_equal(as_array(log(x, base = 10)), log(v, 10), tolerance = 1e-15)
  expect_identical(as_array(log(nv_tensor(1:3, "i8"))), round_to(log(1:3), "f32"))
})

test_that("Summary generics reduce all of their arguments", {
  v <- c(3, 1, 2)
  x <- nv_tensor(v, "f64")
  y <- nv_tensor(c(10, -5), "f64")
  for (name in c("sum", "prod", "min", "max")) {
    f <- get(name, baseenv())
    expect_identical(as_array(f(x)), f(v), label = name)
    expect_identical(as_array(f(x, y)), f(v, c(10, -5)), label = name)
    expect_identical(as_array(f(x, 100)), f(v, 100), label = name)
    expect_identical(shape(f(x)), integer())
  }
  flags <- nv_tensor(c(TRUE, FALSE))
  expect_identical(as_array(any(flags)), TRUE)
  expect_identical(as_array(all(flags)), FALSE)
  expect_identical(as_array(any(nv_not(flags), nv_tensor(FALSE))), TRUE)
  expect_identical(as_array(mean(x)), 2)
  expect_error(mean(x, trim = 0.1), class = "joist_value_error")
  expect_identical(mean(x, na.rm = FALSE), mean(x))
  expect_identical(mean(na.omit(c(x, nv_scalar(NaN, dtype(x))))), mean(x))
})

test_that("na.rm = TRUE leaves out NaN and NA", {
  summaries <- c("sum", "prod", "min", "max", "range", "any", "all", "mean")
  for (d in dtypes()) {
    v <- if (d %in% floats()) held(c(2, NaN, -4, 3, NaN), d) else sample_values(d, 5)
    x <- nv_tensor(v, d)
    for (name in c(summaries, "median", "quantile")) {
      f <- get(name)
      fails <- tryCatch(is.null(f(x)), joist_dtype_error = function(e) TRUE)
      if (fails) {
        expect_error(f(x, na.rm = TRUE), class = "joist_dtype_error")
        next
      }
      got <- f(x, na.rm = TRUE)
      expect_identical(type_of(got), type_of(f(x)), label = paste(name, d))
      expect_identical(got, f(nv_tensor(v[!is.nan(v)], d)), label = paste(name, d))
      if (name %in% summaries) {
        expect_identical(jit(function(x) f(x, na.rm = TRUE))(x), got, label = paste(name, d))
        expect_identical(type_of(f(nv_aval(d, 5), na.rm = TRUE)), type_of(f(nv_aval(d, 5))))
      }
    }
  }
  v <- c(1.5, NA, -2, NaN)
  x <- nv_tensor(v, "f64")
  for (name in setdiff(summaries, c("any", "all"))) {
    f <- get(name)
    expect_identical(as_array(f(x, na.rm = TRUE)), f(v, na.rm = TRUE), label = name)
    expect_error(f(x, na.rm = NA), "na.rm", class = "joist_value_error")
    if (name == "mean") next
    expect_identical(as_array(f(x, c(NA, 7), NaN, na.rm = TRUE)), f(v, 7, na.rm = TRUE))
  }
  expect_identical(as_array(median(x, na.rm = TRUE)), median(v, na.rm = TRUE))
  expect_identical(as_array(max(nv_tensor(NaN), na.rm = TRUE)), -Inf)
  expect_identical(as_array(mean(nv_tensor(NaN), na.rm = TRUE)), NaN)
  z <- nv_tensor(c(1i, complex(real = NaN, imaginary = 0), 2), "c128")
  expect_identical(as_array(sum(z, na.rm = TRUE)), 2 + 1i)
  expect_error(jit(function(x) median(x, na.rm = TRUE))(x), class = "joist_value_error")
})

test_that("Complex generics", {
  v <- c(3 + 4i, -1i, 2 + 0i)
  x <- nv_tensor(v, "c128")
  expect_ulps(as_array(Arg(x)), Arg(v), "f64", 1, "Arg")
  for (name in c("Re", "Im", "Mod", "Arg", "Conj")) {
    f <- get(name, baseenv())
    if (name != "Arg") expect_identical(as_array(f(x)), f(v), label = name)
    real <- nv_tensor(c(-2, 3), "f64")
    expect_identical(as_array(f(real)), f(c(-2, 3)), label = name)
  }
})

test_that("predicates of base R", {
  v <- c(1, NaN, Inf, -Inf)
  special <- v
  for (d in floats()) {
    v <- held_of(special, d)
    x <- nv_tensor(v, d)
    expect_identical(as_array(is.nan(x)), is.nan(v))
    expect_identical(as_array(is.finite(x)), is.finite(v))
    expect_identical(as_array(is.infinite(x)), is.infinite(v))
    expect_identical(is.na(x), is.na(v))
  }
})

test_that("range(finite = TRUE) leaves out what is infinite or NaN", {
  v <- c(3, NaN, -Inf, 1, Inf, 2)
  for (d in dtypes_with(c(v, 7), floats())) {
    x <- nv_tensor(v, d)
    expect_identical(as_array(range(x, finite = TRUE)), c(1, 3))
    expect_identical(as_array(jit(function(x) range(x, finite = TRUE))(x)), c(1, 3))
    expect_identical(as_array(range(x, c(7, Inf, NA), finite = TRUE)), c(1, 7))
    expect_identical(as_array(range(x, finite = FALSE, na.rm = TRUE)), c(-Inf, Inf))
    expect_identical(as_array(range(x, finite = FALSE)), c(NaN, NaN))
    expect_identical(type_of(range(x, finite = TRUE)), d)
  }
  expect_identical(as_array(range(nv_tensor(3:1, "i8"), finite = TRUE)), c(1L, 3L))
  expect_error(range(x, finite = NA), "finite", class = "joist_value_error")
})

test_that("rowsum() adds the rows of each group", {
  v <- matrix(c(1:5, 3, 1, 4, 1, 5), 5)
  for (d in dtypes_with(c(0:9, 15), setdiff(dtypes(), c("bool", complexes())))) {
    x <- nv_tensor(v, d)
    for (group in list(c(2, 1, 2, 3, 1), c("b", "a", "b", "c", "a"), factor(c(9, 9, 1, 1, 1)))) {
      for (reorder in c(TRUE, FALSE)) {
        want <- rowsum(v, group, reorder)
        got <- rowsum(x, group, reorder)
        expect_identical(as_array(got, "double"), want, label = d)
        expect_identical(type_of(got), type_of(sum(x)))
        expect_identical(jit(function(x) rowsum(x, group, reorder))(x), got)
      }
    }
  }
  x <- nv_tensor(c(1, NaN, 3), "f32")
  by <- nv_tensor(c(1L, 1L, 2L))
  v <- c(1, NaN, 3)
  expect_identical(as_array(rowsum(x, by)), rowsum(v, c(1L, 1L, 2L)))
  expect_identical(as_array(rowsum(x, by, na.rm = TRUE)), rowsum(v, c(1L, 1L, 2L), na.rm = TRUE))
  expect_identical(as_array(rowsum(x, c(1, NA, 1))), suppressWarnings(rowsum(v, c(1, NA, 1))))
  named <- matrix(1:4, 2, dimnames = list(NULL, c("p", "q")))
  sums <- rowsum(nv_tensor(named), c(7, 7))
  expect_identical(as_array(sums, "double"), rowsum(named + 0, c(7, 7)))
  expect_identical(shape(rowsum(nv_tensor(matrix(0, 0, 2)), numeric())), c(0L, 2L))
  expect_error(rowsum(x, 1:2), "3 rows", class = "joist_shape_error")
  expect_error(rowsum(nv_fill(0, c(1, 1, 1)), 1), "rank 3", class = "joist_shape_error")
})

test_that("rowsum() by 64-bit integers is exact", {
  ids <- c("9007199254740993", "9007199254740992", "9007199254740993", NA, "17", NA)
  rows <- c("17", "9007199254740992", "9007199254740993", NA) # in the order of the numbers
  v <- c(1, 2, 4, 8, 16, 32)
  for (x in list(v, cbind(p = v, q = -v), c(1, NA, 4, 8, 16, 32))) {
    for (d in c("i64", "ui64")) {
      by <- nv_tensor(ids, d)
      for (na.rm in c(TRUE, FALSE)) { # nolint: object_name_linter.
        want <- suppressWarnings(rowsum(x, ids, na.rm = na.rm))
        want <- want[match(rows, rownames(want)), , drop = FALSE]
        expect_warning(got <- rowsum(x, by, na.rm = na.rm), "missing values for 'group'")
        expect_identical(got, want)
        expect_identical(as_array(rowsum(nv_tensor(x, "f64"), by, na.rm = na.rm)), want)
      }
      expect_warning(got <- rowsum(x, by, reorder = FALSE), "missing values for 'group'")
      expect_identical(got, suppressWarnings(rowsum(x, ids, reorder = FALSE)))
    }
  }
  frame <- data.frame(v = v, n = 1:6)
  want <- suppressWarnings(rowsum(frame, ids))
  got <- suppressWarnings(rowsum(frame, nv_tensor(ids, "i64")))
  expect_identical(as.list(got), as.list(want[match(rows, attr(want, "row.names")), ]))
  expect_identical(attr(got, "row.names"), rows)
  expect_silent(plain <- rowsum(1:3, nv_tensor(c(5L, 4L, 5L), "i16")))
  expect_identical(plain, rowsum(1:3, c(5L, 4L, 5L)))
})

test_that("what no tensor has fails loudly, and names the generic", {
  x <- nv_tensor(c(3, 1, 2))
  for (name in c("exp", "sinpi", "cumsum")) {
    f <- get(name, baseenv())
    expect_error(f(x, 2))
  }
  expect_error(trunc(x, 2), NA)
})

test_that("base functions that read a vector read the values of every dtype", {
  readers <- list(
    stats::median, stats::var, stats::quantile, paste, base::tabulate, base::which.max,
    base::which.min, rank, function(x) cut(x, c(0, 1.5, 2.5, 3.5)), function(x) outer(x, x),
    function(x) crossprod(x), function(x) unlist(list(x, 4)), function(x) sapply(x, identity),
    function(x) stats::cor(x, c(1, 5, 2)), function(x) table(x), function(x) base::mean.default(x)
  )
  plain <- function(out) as.vector(if (is_tensor(out)) as_array(out) else out)
  for (d in dtypes_with(c(1:6, 9), setdiff(dtypes(), c("bool", complexes())))) {
    x <- nv_tensor(c(3, 1, 2), d)
    for (f in readers) {
      expect_equal(plain(f(x)), plain(f(c(3, 1, 2))), label = paste(d, deparse1(body(f))))
    }
    # That of an unsigned dtype wraps where it is negative.
    expect_equal(plain(diff(sort(x))), c(1, 1))
  }
  for (d in c("bool", complexes())) {
    x <- nv_tensor(c(TRUE, FALSE, TRUE), d)
    for (f in list(paste, rev, function(x) unlist(list(x, 4)), function(x) sapply(x, identity))) {
      want <- plain(f(plain(x)))
      expect_equal(plain(f(x)), want, label = paste(d, deparse1(body(f))))
    }
  }
})

test_that("indexing, combining and transposing work or fail loudly", {
  x <- nv_tensor(c(3, 1, 2), "f32")
  m <- nv_tensor(matrix(1:6, 2), "i16")
  # Either the tensor of these elements, or an error of joist's.
  expect_tensor_or_error <- function(code, want, label) {
    out <- tryCatch(code, error = identity)
    if (inherits(out, "error")) {
      expect_true(inherits(out, "joist_error"), label = paste(label, "is a joist_error"))
    } else {
      is_right <- is_tensor(out) && isTRUE(all.equal(as_array(out), want))
      expect_true(is_right, label = paste(label, "is the right tensor"))
    }
  }
  expect_tensor_or_error(x[2:3], c(1, 2), "x[2:3]")
  expect_tensor_or_error(x[[2]], 1, "x[[2]]")
  expect_tensor_or_error(m[2, ], c(2L, 4L, 6L), "m[2, ]")
  expect_tensor_or_error(c(x, x), c(3, 1, 2, 3, 1, 2), "c(x, x)")
  expect_tensor_or_error(rev(x), c(2, 1, 3), "rev(x)")
  expect_tensor_or_error(rep(x, 2), c(3, 1, 2, 3, 1, 2), "rep(x, 2)")
  expect_tensor_or_error(t(m), t(matrix(1:6, 2)), "t(m)")
  expect_tensor_or_error(cbind(x, x), cbind(x = c(3, 1, 2), x = c(3, 1, 2)), "cbind(x, x)")
  expect_tensor_or_error(rbind(x, x), rbind(x = c(3, 1, 2), x = c(3, 1, 2)), "rbind(x, x)")
  expect_tensor_or_error(unique(x), c(3, 1, 2), "unique(x)")
  expect_tensor_or_error(aperm(m), t(matrix(1:6, 2)), "aperm(m)")
  expect_tensor_or_error(head(x, 2), c(3, 1), "head(x, 2)")
  expect_tensor_or_error(range(x), c(1, 3), "range(x)")
  expect_tensor_or_error(
    {
      x[2] <- 10
      x
    },
    c(3, 10, 2), "x[2] <- 10"
  )
  expect_tensor_or_error(
    {
      dim(m) <- c(3, 2)
      m
    },
    matrix(1:6, 3), "dim(m) <- c(3, 2)"
  )
})

test_that("extremes without missing values pass over operands that have no others", {
  none <- nv_tensor(NA, "i32")
  some <- nv_tensor(c(3L, 9L), "i16")
  expect_identical(as_array(max(some, none, na.rm = TRUE)), 9L)
  expect_identical(as_array(min(none, some, na.rm = TRUE)), 3L)
  expect_identical(dtype(max(some, none, na.rm = TRUE)), as_dtype("i32"))
  expect_identical(as_array(range(none, some, na.rm = TRUE)), c(3L, 9L))
  expect_true(is.na(max(none, none, na.rm = TRUE)))
  parts <- as.list(nv_tensor(c(3L, NA, 9L), "i32"))
  expect_identical(as_array(Reduce(function(a, b) max(a, b, na.rm = TRUE), parts)), 9L)
})

test_that("operands without elements do not count", {
  x <- nv_tensor(c(3, 4), "f32")
  expect_identical(as_array(max(x, integer())), max(c(3, 4), integer()))
  expect_identical(as_array(sum(x, NULL)), sum(c(3, 4), NULL))
  expect_identical(as_array(range(x, integer())), c(3, 4))
})

test_that("R numbers beside a tensor keep their value in sums and extremes", {
  zero <- nv_tensor(0, "f64")
  expect_identical(as_array(sum(zero, 123456789)), 123456789)
  expect_identical(as_array(sum(zero, 0.1, 0.2)), 0.1 + 0.2)
  expect_identical(as_array(max(zero, 0.1)), 0.1)
  expect_identical(as_array(range(zero, 0.1)), c(0, 0.1))
  expect_identical(as_array(prod(nv_tensor(3, "f64"), 0.1)), 0.1 * 3)
  expect_identical(as_array(jit(function(x) sum(x, 0.1))(zero)), 0.1)
  expect_identical(as_array(nv_outer(nv_tensor(1, "f64"), 0.1)), array(0.1, c(1L, 1L))[, 1])
  byte <- nv_tensor(5L, "ui8")
  for (wrong in list(quote(max(byte, 300L)), quote(min(byte, -1L)), quote(min(byte, 256L)))) {
    expect_refusal(eval(wrong), "joist_value_error")
  }
  expect_refusal(max(nv_tensor(5, "f16"), 70000), "joist_value_error", "70000")
  expect_identical(as_array(max(byte, 7L, 9L)), 9L)
  expect_identical(as_array(sum(byte, 7L, TRUE)), 13)
  expect_identical(as_array(sum(byte, .Machine$integer.max, 1L)), 5 + 2^31)
  expect_true(as.logical(any(nv_tensor(FALSE), 2)))
  expect_true(is.na(max(byte, NA)))
})

test_that("all.equal() tells 64-bit integers apart that are one double", {
  a <- nv_tensor(c("9007199254740993", NA), "i64")
  b <- nv_tensor(c("9007199254740992", NA), "i64")
  expect_match(all.equal(a, b, tolerance = 0), "Mean relative difference")
  expect_match(all.equal(data.frame(x = a), data.frame(x = b), tolerance = 0), "Mean relative")
  expect_true(all.equal(a, b))
  expect_true(all.equal(a, a, tolerance = 0))
})

test_that("sums and products of several tensors are rounded once", {
  h <- nv_tensor(c(60000, 2.5, 9, 3), "f16")
  y <- nv_tensor(c(1.1, 2), "f64")
  for (f in list(sum, jit(function(x, y) sum(x, y)))) {
    expect_identical(as.vector(f(h, y)), 60000 + 2.5 + 9 + 3 + (1.1 + 2))
  }
  expect_identical(as.vector(prod(nv_tensor(c(300, 300), "f16"), nv_tensor(0.5, "f64"))), 45000)
  one <- nv_tensor(1, "f32")
  expect_identical(sum(nv_tensor(2^24, "f32"), one, one), nv_tensor(2^24 + 2, "f32", integer()))
  expect_identical(type_of(sum(h, nv_tensor(1:3, "i8"))), "f16")
  expect_identical(type_of(sum(nv_tensor(1i), one)), "c64")
})

test_that("sums of several tensors tell of integers that the dtype of the sum rounds", {
  ids <- nv_tensor("9007199254740993", "i64")
  expect_error(
    with_promotion(NULL, sum(ids, nv_tensor(1, "f32")), on = c(loss = "error")),
    class = "joist_loss_error"
  )
})
