# Base R without exceptions: functions that do not dispatch see the values of a tensor and give what
# they give for these; functions that dispatch give tensors of the same values.

# The answer for a tensor, as R's numbers, and that for the values.
expect_same_answer <- function(f, x, label, tolerance = 1e-6) {
  values <- as_array(x)
  set.seed(3)
  want <- f(values)
  set.seed(3)
  got <- f(x)
  expect_equal(plain_answer(got), want, tolerance = tolerance, label = label)
}

plain_answer <- function(got) {
  if (is_tensor(got)) {
    return(as_array(got))
  }
  if (is.list(got) && !is.data.frame(got)) got[] <- lapply(got, plain_answer)
  got
}

# Narrow dtypes have no common dtype with numbers of R of another kind.
real_dtypes <- function() wide(setdiff(dtypes(), c("bool", complexes())))

test_that("seq() of 64-bit integers refuses what doubles do not hold", {
  x <- nv_tensor("9007199254740992", "i64")
  expect_error(seq(x, by = 1L, length.out = 3), "beyond 2\\^53", class = "joist_value_error")
  expect_error(seq(nv_tensor(-3L, "i64"), by = -2^52, length.out = 4), class = "joist_value_error")
  expect_identical(seq(x, by = 1, length.out = 1), 2^53)
  expect_identical(seq(nv_tensor(1, "i64"), nv_tensor(9, "ui64"), by = 4L), c(1, 5, 9))
  expect_identical(seq(nv_tensor(2^60, "f64"), by = 2^59, length.out = 2), c(2^60, 2^60 + 2^59))
})

test_that("R's own code sees the values", {
  calls <- list(
    `for` = function(x) {
      sum <- 0
      for (e in x) sum <- sum + e
      sum
    },
    index = function(x) (100:300)[x], letters = function(x) letters[x],
    index2 = function(x) list("a", "b", "c", "d")[[x[2]]],
    `if` = function(x) if (x[1] > 2) "more" else "less",
    `while` = function(x) {
      n <- 0
      while (all(x > n)) n <- n + 1
      n
    },
    and = function(x) x[1] > 1 && x[2] < 9, or = function(x) x[1] > 100 || x[2] == 1,
    isTRUE = function(x) c(isTRUE(all(x > 0)), isFALSE(all(x > 0)), isTRUE(x > 0)),
    stopifnot = function(x) is.null(stopifnot(all(x > 0), x[1] > 1)),
    colon = function(x) 1:x[1], colon2 = function(x) x[1]:9, switch = function(x) {
      switch(as.integer(x[2]), "a", "b", "c")
    },
    seq_len = function(x) seq_len(x[1]), rep = function(x) rep("a", x[2]),
    numeric = function(x) numeric(x[1]), seq = function(x) seq(x[2], x[3]),
    seq_by = function(x) seq(1, x[3], by = 1), matrix = function(x) matrix(0, x[1], 2),
    lengths = lengths, nchar = nchar, cat = function(x) utils::capture.output(cat(x)),
    sprintf = function(x) sprintf("%s", x), sprintf_f = function(x) sprintf("%5.1f", x),
    paste = paste, toString = toString, rnorm = function(x) stats::rnorm(x),
    rnorm_mean = function(x) stats::rnorm(4, x), sample = function(x) sample(x),
    max = function(x) max(1, x), min = function(x) min(9L, x), range = function(x) range(1, x),
    sum = function(x) sum(1L, x), c = function(x) c(1, x), append = function(x) append(0, x),
    unlist = function(x) unlist(list(x, x)), unlist_names = function(x) unlist(list(a = x, b = 1)),
    which = function(x) which(x > 1), which.max = which.max, which.min = which.min,
    tabulate = tabulate, rank = rank, order = order, sort = sort, rev = rev, rle = rle,
    findInterval = function(x) findInterval(x, c(1, 3)), cut = function(x) cut(x, c(0, 2, 9)),
    table = function(x) as.vector(table(x)), useNA = function(x) {
      as.vector(table(x, useNA = "ifany"))
    },
    factor = factor, split = function(x) split(x, c(1, 2, 1, 2)), unique = unique,
    duplicated = duplicated, complete.cases = stats::complete.cases, rowsum = function(x) {
      rowsum(1:4, x)
    },
    tapply = function(x) tapply(x, c("a", "b", "a", "b"), sum),
    aggregate = function(x) stats::aggregate(x, list(c(1, 1, 2, 2)), sum)$x,
    outer = function(x) outer(x, 1:2),
    sapply = function(x) sapply(x, function(e) as.numeric(e) * 2),
    vapply = function(x) vapply(x, function(e) e, x[[1]]),
    vapply_plain = function(x) vapply(x, as.numeric, 1),
    mapply = function(x) mapply(function(a, b) as.numeric(a) + b, x, 1:4),
    Map = function(x) unlist(Map(function(a, b) as.numeric(a), x, 1:4)),
    Reduce = function(x) Reduce(`+`, as.double(x)), Filter = function(x) {
      Filter(function(e) e > 1, x)
    },
    do.call = function(x) do.call(max, as.list(x)), combn = function(x) utils::combn(x, 2),
    head = function(x) head(x, 2), tail = function(x) tail(x, 1), is.element = function(x) {
      is.element(x, 1:2)
    },
    setdiff = function(x) setdiff(x, 1), union = function(x) union(1, x),
    intersect = function(x) intersect(x, 2:9), expand.grid = function(x) {
      as.vector(expand.grid(x, 1:2)[, 2])
    },
    interaction = function(x) interaction(x, 1:4), outer_f = function(x) outer(x, 1:3, "+"),
    strtoi = function(x) strtoi(x), identity = identity, rowSums = function(x) {
      rowSums(cbind(x, x))
    },
    subset = function(x) subset(x, x > 1), ifelse = function(x) ifelse(x > 1, "a", "b"),
    ifelse_plain = function(x) ifelse(c(TRUE, FALSE, TRUE, FALSE), x, 0),
    pmin = function(x) pmin(x, 2), pmax = function(x) pmax(2, x), bitwAnd = function(x) {
      bitwAnd(as.integer(x), 1L)
    },
    is.unsorted = is.unsorted, anyDuplicated = anyDuplicated, formatC = function(x) {
      as.vector(formatC(x))
    },
    encodeString = function(x) as.vector(encodeString(x)), prettyNum = prettyNum,
    rapply = function(x) rapply(list(x), function(e) e[1], how = "unlist"),
    is.numeric = is.numeric, diff = function(x) diff(sort(x)), mean = mean
  )
  for (d in real_dtypes()) {
    x <- nv_tensor(c(3, 1, 2, 1), d)
    for (name in names(calls)) {
      label <- paste(name, d)
      got <- tryCatch(calls[[name]](x), error = identity)
      if (inherits(got, "error")) fail(paste0(label, ": ", conditionMessage(got)))
      if (inherits(got, "error")) next
      expect_same_answer(calls[[name]], x, label)
    }
  }
})

test_that("functions of stats see the values", {
  square <- function(p) sum((nv_tensor(p, "f64") - c(1, 2))^2)
  near <- function(p) (nv_scalar(p, "f64") - 0.3)^2
  expect_equal(stats::optim(c(0, 0), square, method = "BFGS")$par, c(1, 2), tolerance = 1e-4)
  expect_equal(stats::nlminb(c(0, 0), square)$par, c(1, 2), tolerance = 1e-4)
  expect_equal(stats::nlm(square, c(0, 0))$estimate, c(1, 2), tolerance = 1e-4)
  expect_equal(stats::optimize(near, 0:1)$minimum, 0.3, tolerance = 1e-4)
  root <- stats::uniroot(function(p) nv_scalar(p, "f64") - 0.3, 0:1)$root
  expect_equal(root, 0.3, tolerance = 1e-4)
  expect_equal(stats::integrate(function(p) nv_tensor(p, "f64")^2, 0, 1)$value, 1 / 3)
  calls <- list(
    t.test = function(x) stats::t.test(x)$p.value, ecdf = function(x) stats::ecdf(x)(2),
    fft = stats::fft, combn = function(x) utils::combn(x, 2, FUN = sum),
    zapsmall = zapsmall, jitter = jitter, quantile = function(x) stats::quantile(x, names = FALSE),
    weighted.mean = function(x) stats::weighted.mean(x, 1:4), mad = stats::mad, IQR = stats::IQR,
    fivenum = stats::fivenum, approx = function(x) stats::approx(1:4, x, 2.5)$y,
    spline = function(x) stats::splinefun(1:4, x)(2.5), dist = function(x) {
      as.vector(stats::dist(x))
    },
    density = function(x) stats::density(x)$bw, lowess = function(x) stats::lowess(x)$y,
    filter = function(x) as.vector(stats::filter(x, c(1, 1))),
    cor = function(x) stats::cor(x, c(4, 1, 2, 3)), lm = function(x) {
      unname(stats::coef(stats::lm(x ~ c(1, 5, 2, 2))))
    },
    polyroot = function(x) Mod(polyroot(x)), convolve_plain = function(x) {
      stats::convolve(as.double(x), c(1, 2), type = "open")
    }
  )
  calls <- c(calls, list(
    ks.test = function(x) stats::ks.test(x, "pnorm")$p.value, dnorm = stats::dnorm,
    pexp = stats::pexp, beta = function(x) beta(x, x), choose = function(x) choose(x, 2),
    residuals = function(x) unname(stats::residuals(stats::lm(x ~ c(1, 5, 2, 2)))),
    convolve = function(x) stats::convolve(x, c(1, 2), type = "open")
  ))
  for (d in c("f32", "f64", "i32", "ui8", "i64")) {
    x <- nv_tensor(if (startsWith(d, "f")) c(3, 1, 2.5, 1.5) else c(3, 1, 2, 5), d)
    for (name in names(calls)) {
      label <- paste(name, d)
      got <- tryCatch(calls[[name]](x), error = identity)
      if (inherits(got, "error")) fail(paste0(label, ": ", conditionMessage(got)))
      if (!inherits(got, "error")) expect_same_answer(calls[[name]], x, label, 1e-5)
    }
  }
  x <- nv_tensor(c(3, 1, 2.5, 1.5))
  expect_same_answer(function(x) stats::ave(x, c(1, 1, 2, 2)), x, "ave")
})

test_that("what base R computes in another type is a guess of that type", {
  expect_identical(type_of(stats::dnorm(nv_tensor(1:3, "i8"))), "f64?")
  expect_identical(type_of(stats::fft(nv_tensor(c(1, 2, 4)))), "c128?")
  expect_identical(type_of(choose(nv_tensor(5:7, "i8"), 2)), "f64?")
  expect_identical(type_of(stats::dnorm(nv_tensor(c(1, 2)))), "f32")
  # Written through a pointer by C code, into what showed 64-bit integers.
  fit <- stats::lm(nv_tensor(c(3, 1, 2, 5), "i64") ~ c(1, 5, 2, 2))
  plain <- stats::lm(c(3, 1, 2, 5) ~ c(1, 5, 2, 2))
  expect_equal(stats::coef(fit), stats::coef(plain), ignore_attr = TRUE)
  expect_equal(as.vector(stats::fitted(fit)), unname(stats::fitted(plain)))
})

test_that("what does not work stops", {
  x <- nv_tensor(c(3, 1, 2), "f32")
  # is.vector() is FALSE for what has attributes.
  expect_error(stats::embed(x, 2), "vector")
  expect_error(writeBin(x, raw()), "vector")
  expect_identical(writeBin(as.vector(x), raw()), writeBin(c(3, 1, 2), raw()))
  # R's own errors, of numbers as well.
  expect_error(do.call(sum, x), "list")
  expect_error(as.function(x))
  # An assignment keeps the dtype.
  expect_error(stats::ave(nv_tensor(1:2), c(1, 1)), class = "joist_promotion_error")
})

test_that("zeros of either sign are one level, written as R does", {
  values <- list(c(0, -0, 1, -1, -0), complex(real = c(0, -0, 1, -0), imaginary = c(-0, 0, -0, 2)))
  for (d in c(floats(), complexes())) {
    v <- values[[1 + (kind_of(d) == "complex")]]
    if (is_narrow(d) && !has_minus_zero(d)) next
    x <- nv_tensor(v, d)
    expect_identical(as.character(x), as.character(v), label = d)
    expect_identical(paste(x), paste(v), label = d)
    if (d %in% complexes()) next # which have no order
    expect_identical(as.vector(table(x)), as.vector(table(v)), label = d)
    expect_identical(as.integer(factor(x)), as.integer(factor(v)), label = d)
    expect_identical(levels(factor(x)), levels(factor(v)), label = d)
    expect_identical(match(x, "0"), match(v, "0"), label = d)
  }
})

test_that("unsplit() gives back what split() took apart", {
  f <- c(1, 2, 1)
  for (d in dtypes_with(1:3, setdiff(dtypes(), "bool"))) {
    x <- nv_tensor(c(3, 1, 2), d)
    expect_identical(unsplit(split(x, f), f), x)
  }
})

test_that("generics on `...` leave vectors of R to base R's function, without a dispatch", {
  for (name in c("pmin", "pmax", "complete.cases")) {
    called <- all.names(body(get(name, "package:joist")))
    home <- if (name == "complete.cases") "stats" else "base"
    expect_identical(called[which(called == "::") + 1:2], c(home, name), info = name)
  }
})

test_that("a tensor is repeated over the columns of an R matrix, and of no tensor", {
  m <- matrix(c(1, 2, 3, 4, 5, 6), 3)
  v <- nv_tensor(c(10, 20, 30))
  for (f in list(`+`, `-`, `*`, `/`, `^`, `%%`, `%/%`, `<`, `==`)) {
    expect_equal(as_array(f(m, v)), f(m, c(10, 20, 30)), tolerance = 1e-6)
    expect_equal(as_array(f(v, m)), f(c(10, 20, 30), m), tolerance = 1e-6)
    expect_error(f(nv_tensor(m), v), class = "joist_shape_error")
    expect_error(jit(f)(m, v), class = "joist_shape_error")
  }
})

test_that("pmin() and pmax() repeat operands as base R does, with its warning", {
  v <- nv_tensor(c(1, 5, 3))
  for (f in list(pmin, pmax)) {
    for (g in list(f, jit(f))) {
      expect_warning(odd <- g(v, 1:2), "an argument will be fractionally recycled", fixed = TRUE)
      expect_identical(as.vector(odd), suppressWarnings(f(c(1, 5, 3), 1:2)))
    }
    expect_silent(even <- f(v, 1:6))
    expect_identical(as.vector(even), f(c(1, 5, 3), 1:6))
  }
})

test_that("pmin() and pmax() give tensors, whichever operand is one", {
  set.seed(5)
  for (d in real_dtypes()) {
    number <- if (d %in% ints()) as.integer else as.double
    a <- nv_tensor(c(3, 1, 2, 1), d)
    b <- nv_tensor(c(1, 2, 2, 3), d)
    for (f in list(pmin, pmax)) {
      want <- nv_tensor(f(c(3, 1, 2, 1), c(1, 2, 2, 3)), d)
      expect_identical(f(a, b), want)
      expect_identical(f(a, number(c(1, 2, 2, 3))), want)
      expect_identical(f(number(c(3, 1, 2, 1)), b), want)
      expect_identical(f(a, number(2)), nv_tensor(f(c(3, 1, 2, 1), 2), d))
      expect_identical(f(number(2), a), nv_tensor(f(2, c(3, 1, 2, 1)), d))
      expect_identical(f(a, 1:2), nv_tensor(f(c(3, 1, 2, 1), 1:2), d))
      expect_identical(f(a, b, number(2)), nv_tensor(f(c(3, 1, 2, 1), c(1, 2, 2, 3), 2), d))
      expect_identical(shape(f(a, number(NULL))), 0L)
      expect_identical(jit(f)(a, b), want)
    }
  }
  m <- nv_tensor(matrix(c(1, 5, 3, 2), 2))
  expect_identical(as_array(pmax(m, 2)), pmax(matrix(c(1, 5, 3, 2), 2), 2))
  expect_identical(as_array(pmax(m, c(2, 4))), pmax(matrix(c(1, 5, 3, 2), 2), c(2, 4)))
  expect_identical(as_array(pmax(c(2, 4), m)), pmax(c(2, 4), matrix(c(1, 5, 3, 2), 2)))
  # NaN and names are those of base R.
  v <- c(NaN, 1, NaN, 4)
  w <- c(2, NaN, NaN, 3)
  for (f in list(pmin, pmax)) {
    for (remove in c(FALSE, TRUE)) {
      want <- f(v, w, na.rm = remove)
      expect_identical(as_array(f(nv_tensor(v), nv_tensor(w), na.rm = remove)), want)
      expect_identical(as_array(f(nv_tensor(v), w, na.rm = remove)), want)
      expect_identical(as_array(f(v, nv_tensor(w), na.rm = remove)), want)
    }
    named <- c(a = 1, b = 3)
    expect_identical(names(f(nv_tensor(named), 2)), c("a", "b"))
    expect_null(names(f(2, nv_tensor(named))))
    expect_identical(names(f(named, nv_tensor(c(x = 5, y = 0)))), c("a", "b"))
  }
  far <- nv_tensor(c("9007199254740993", "5"), "i64")
  expect_identical(as_array(pmax(far, 7L), "character"), c("9007199254740993", "7"))
  expect_error(pmax(far, 1, na.rm = NA), "na.rm", class = "joist_value_error")
  # Others pass.
  expect_identical(pmax(c(a = 1, b = 5), 2), c(a = 2, b = 5))
  expect_identical(pmin(as.Date("2024-05-01"), as.Date("2024-04-01")), as.Date("2024-04-01"))
  expect_identical(pmax("a", c("b", "A")), base::pmax("a", c("b", "A")))
})

test_that("64-bit integers match exactly", {
  texts <- list(
    i64 = c("9007199254740993", "17", "-9223372036854775808", "9007199254740992", "100000"),
    ui64 = c("9007199254740993", "17", "18446744073709551615", "9007199254740992", "100000")
  )
  for (d in names(texts)) {
    text <- texts[[d]]
    x <- nv_tensor(text, d)
    expect_identical(x %in% "17", text %in% "17")
    expect_identical(match("9007199254740993", x), 1L)
    for (k in 1:5) {
      expect_identical(x %in% text[k], text == text[k])
      expect_identical(match(text[k], x), k)
      expect_identical(x %in% x[k], text == text[k])
      expect_identical(match(x[k], x), k)
    }
    expect_identical(match(text, x), 1:5)
    expect_identical(match(x, rev(text)), 5:1)
    expect_identical(x %in% 1e5, text == "100000")
    expect_identical(match(c(17, 1e5), x), c(2L, 5L))
    expect_identical(x %in% 9007199254740992, text == "9007199254740992")
    expect_identical(match(factor("17"), x), 2L)
    # What other packages call.
    expect_identical(base::match(x, x), 1:5)
    expect_identical(base::match("9007199254740993", x), 1L)
    expect_identical(base::match(c(17, 1e5), x), c(2L, 5L))
    expect_identical(base::match(x[5:4], x), 5:4)
    expect_identical(base::`%in%`(x, x[1]), c(TRUE, rep(FALSE, 4)))
    many <- x[c(1, 4, 1, 2)]
    expect_identical(duplicated(many), c(FALSE, FALSE, TRUE, FALSE))
    expect_identical(as_array(unique(many), "character"), text[c(1, 4, 2)])
    expect_identical(levels(factor(many)), text[c(2, 4, 1)])
    expect_identical(as.vector(table(many)), c(1L, 1L, 2L))
    expect_identical(names(split(1:4, many)), text[c(2, 4, 1)])
    left <- data.frame(id = I(1:2), a = 1:2)
    left$id <- x[c(1, 2)]
    right <- data.frame(b = 3:4)
    right$id <- x[c(4, 1)]
    expect_identical(merge(left, right, by = "id")$b, 4L)
  }
})

test_that("match() and %in% compare as == does", {
  x <- nv_tensor(c(0.1, 0.5, NaN))
  expect_identical(x %in% 0.1, c(TRUE, FALSE, FALSE))
  expect_identical(x %in% 0.1, as_array(x == 0.1))
  expect_identical(match(0.1, x), 1L)
  expect_identical(match(c(0.5, 3), x), c(2L, NA))
  expect_identical(match(c(0.5, 3), x, nomatch = 0L), c(2L, 0L))
  expect_identical(match(c(a = 0.5), x), 2L)
  expect_identical(nv_tensor(1:3, "i8") %in% 300, rep(FALSE, 3))
  for (d in real_dtypes()) {
    y <- nv_tensor(c(3, 1, 2, 1), d)
    expect_identical(match(y, c(1, 2)), match(c(3, 1, 2, 1), c(1, 2)))
    expect_identical(match(1:3, y), match(1:3, c(3, 1, 2, 1)))
    expect_identical(y %in% y[2], c(FALSE, TRUE, FALSE, TRUE))
    expect_identical(match(c(2, 1), y, incomparables = 1), c(3L, NA))
    expect_identical(match("a", y), NA_integer_)
    expect_identical(y %in% c("1", "x"), c(FALSE, TRUE, FALSE, TRUE))
    expect_identical(match(y, NULL), rep(NA_integer_, 4))
  }
})

test_that("lists of elements are made at once", {
  x <- nv_tensor(c(a = 3, b = 1))
  parts <- as.list(x)
  expect_identical(names(parts), c("a", "b"))
  expect_identical(parts$b, nv_scalar(1))
  for (d in dtypes()) {
    y <- sample_tensor(d)
    expect_identical(as.list(y), lapply(seq_along(y), function(k) y[[k]]))
  }
  expect_identical(as.list(nv_tensor(numeric())), list())
  expect_identical(as.list(nv_tensor(matrix(1:4, 2)))[[3]], nv_scalar(3L))
  many <- nv_tensor(as.double(1:1e5))
  expect_lt(min(replicate(5, system.time(as.list(many))[["elapsed"]])), 0.25)
})

test_that("integers wrap, as the pages say", {
  x <- nv_tensor(c(0L, 5L, 3L), "ui8")
  expect_identical(order(-x), order(c(0, 251, 253)))
  expect_identical(order(x, decreasing = TRUE), c(2L, 3L, 1L))
  expect_identical(as_array(diff(x)), c(5L, 254L))
  half <- nv_tensor("4611686018427387904", "i64")
  expect_identical(as_array(sum(c(half, half)), "character"), "-9223372036854775808")
})

test_that("integer64 of bit64 is an operand of arithmetic and comparison", {
  skip_if_not_installed("bit64")
  y <- bit64::as.integer64(c("9007199254740993", "2"))
  x <- nv_tensor(1:2, "i64")
  # Which method R takes is asked from R 4.3 on.
  expect_true(chooseOpsMethod.nv_tensor(x, y))
  expect_identical(as_array(nv_add(x, y), "character"), c("9007199254740994", "4"))
  if (getRversion() >= "4.3.0") {
    expect_identical(as_array(x + y, "character"), c("9007199254740994", "4"))
    # In recent versions of bit64 its own method comes first: exact for numbers that doubles hold.
    text <- function(z) if (is_tensor(z)) as_array(z, "character") else as.character(z)
    expect_identical(text(y - x), c("9007199254740992", "0"))
    expect_identical(as.vector(y == x), c(FALSE, TRUE))
  }
})

test_that("methods for traced tensors", {
  x <- nv_tensor(c(3, 1, 2))
  for (f in list(isTRUE, isFALSE)) {
    expect_error(jit(function(x) if (f(all(x > 0))) x else -x)(x), class = "joist_trace_error")
    expect_error(f(nv_aval("bool")), class = "joist_value_error")
    expect_identical(f(nv_scalar(TRUE)), f(TRUE))
    expect_identical(f(nv_tensor(c(TRUE, TRUE))), FALSE)
    expect_identical(f("TRUE"), FALSE)
  }
  traced <- list(
    which.min, which.max, sd, var, function(x) atan2(x, 1), function(x) pmax(x, 2),
    function(x) pmin(2, x), function(x) ifelse(x > 1, x, 0), function(x) rowSums(cbind(x, x))
  )
  for (f in traced) {
    got <- jit(f)(x)
    expect_true(is_tensor(got))
    expect_equal(as_array(got), as.vector(plain_answer(f(x))), tolerance = 1e-6)
  }
  refused <- list(
    which, rank, tabulate, stats::fft, function(x) findInterval(x, 1:2), rle,
    function(x) match(x, 1), function(x) x %in% 1
  )
  for (f in refused) {
    expect_error(jit(f)(x))
  }
})
