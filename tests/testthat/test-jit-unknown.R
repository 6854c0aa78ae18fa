# What R code learns of a traced tensor: what the plain run would, or an error.

x <- nv_tensor(c(1, 2, 3), "f64")
named <- nv_tensor(c(a = 1, b = 3, c = 2), "f64")

# A function gives the same in the plain run and compiled, twice, with values and names.
expect_as_plain <- function(f, ...) {
  expected <- traced_text(f(...))
  compiled <- jit(f)
  for (k in 1:2) expect_identical(traced_text(compiled(...)), expected, info = deparse1(body(f)))
}

test_that("questions about a traced tensor are answered by R", {
  gradient_of <- gradient(function(x) if (is.numeric(x)) sum(x^2) else sum(x))
  expect_equal(as_array(gradient_of(x)[[1]]), c(2, 4, 6))
  for (question in list(
    is.numeric, is.double, is.integer, is.character, is.null, is.list, is.function, is.atomic,
    is.object, is.matrix, is.environment, function(x) typeof(x) == "double", isTRUE,
    function(x) mode(x) == "numeric", function(x) NROW(x) == 3L, function(x) is(x, "nv_tensor"),
    function(x) identical(class(x), "nv_tensor"), function(x) identical(x, x),
    function(x) identical(x, 1), function(x) is.null(attr(x, "k")), function(x) is.null(dim(x)),
    function(x) length(attributes(x)) == 2L, function(x) is.vector(unclass(x))
  )) {
    expect_as_plain(function(x) if (question(x)) x + 1 else -x, x)
    expect_as_plain(function(x) if (question(x)) x + 1 else -x, named)
    expect_as_plain(function(x) if (question(x)) x & TRUE else !x, nv_tensor(1:4 > 2))
  }
  i <- nv_tensor(1:2, "i8")
  expect_as_plain(function(i) if (typeof(i) == "integer") i + 1L else i, i)
  z <- nv_tensor(c(1i, 2), "c64")
  expect_as_plain(function(z) if (is.complex(z)) Re(z) else z, z)
})

test_that("S4 generics, reference classes and S3 methods see the class of the plain run", {
  home <- new.env()
  methods::setGeneric("joist_area", function(x, ...) standardGeneric("joist_area"), where = home)
  withr::defer(methods::removeGeneric("joist_area", where = home))
  methods::setMethod("joist_area", "nv_tensor", function(x, ...) sum(x), where = home)
  methods::setMethod("joist_area", "numeric", function(x, ...) -1, where = home)
  expect_as_plain(function(x) home$joist_area(x) * 2, x)
  holder <- methods::setRefClass("joist_holder", fields = list(x = "nv_tensor"), where = home)
  withr::defer(methods::removeClass("joist_holder", where = home))
  expect_as_plain(function(x) holder$new(x = x)$x + 1, x)
})

test_that("reading elements is an error that names the reader", {
  readers <- list(
    "order(unclass(x))" = function(x) order(unclass(x)),
    "unclass(x) > 0" = function(x) unclass(x) > 0,
    "rnorm(3, x)" = function(x) rnorm(3, x), "sprintf" = function(x) sprintf("%f", x),
    "letters[unclass(x)]" = function(x) letters[unclass(x)],
    "serialize" = function(x) serialize(x, NULL),
    "as.vector(x)" = function(x) as.vector(x),
    "base::identical(x, y)" = function(x) {
      y <- x + 1
      base::identical(x, y)
    }
  )
  for (name in names(readers)) {
    error <- suppressWarnings(
      expect_error(jit(readers[[name]])(x), class = "joist_trace_error")
    )
    expect_match(conditionMessage(error), name, fixed = TRUE)
    expect_match(conditionMessage(error), "`x` is a tensor", fixed = TRUE)
  }
})

test_that("a handler in the function does not hide what could not be read", {
  for (f in list(
    function(x) tryCatch(as.vector(x), error = function(e) 0),
    function(x) {
      first <- try(unclass(x)[1], silent = TRUE)
      if (inherits(first, "try-error")) x else -x
    },
    function(x) {
      position <- tryCatch(order(x), error = function(e) 1)
      x * length(position)
    },
    function(x) {
      position <- suppressWarnings(order(unclass(x)))
      x * length(position)
    }
  )) {
    expect_error(
      jit(f)(x), "not known while jit() traces",
      fixed = TRUE, class = "joist_trace_error"
    )
  }
  expect_identical(as_array(jit(function(x) x + 1)(x)), c(2, 3, 4)) # nothing is left behind
})

test_that("names are those of the plain run, whatever they are at each call", {
  for (f in list(
    function(x) x + 1, function(x) x[2:3], function(x) x["b"], function(x) x[c("c", "a")],
    function(x) x[["b"]], function(x) sort(x), function(x) rev(x), function(x) rep(x, 2),
    function(x) c(x, z = 1), function(x) if (sum(x) > 3) x else -x, function(x) x[nv_argsort(x)],
    function(x) {
      names(x) <- c("p", "q", "r")
      x * 2
    },
    function(x) {
      names(x)[2] <- "q"
      x * 2
    },
    function(x) if (is.null(names(x))) -x else x, function(x) if (names(x)[1] == "a") x else -x,
    function(x) {
      for (i in 1:3) x <- x + 1
      x
    },
    function(x) {
      for (i in nv_seq_len(3)) x <- x + 1
      x
    },
    function(x) {
      while (sum(x) < 10) x <- x + 1
      x
    },
    function(x) unname(x), function(x) setNames(x, c("u", "v", "w")), function(x) pmax(x, 2),
    function(x) if ("b" %in% names(x)) x["b"] else x[1], function(x) attr(x, "names")[1] == "a",
    function(x) stats::setNames(as.list(x), NULL), function(x) as.list(x), function(x) cumsum(x),
    function(x) head(x, 2), function(x) ifelse(x > 1, x, 0), function(x) outer_names(x)
  )) {
    outer_names <- function(x) length(unique(names(x))) * x
    expect_as_plain(f, named)
  }
  # The program that is kept follows other names; those that were asked for have one of their own.
  other <- setNames(named, c("b", "a", "z"))
  follows <- jit(function(x) x[3:2] + 1)
  asks <- jit(function(x) if (names(x)[1] == "a") x else -x)
  for (k in 1:2) {
    expect_named(follows(named), c("c", "b"))
    expect_named(follows(other), c("z", "a"))
    expect_identical(as_array(asks(named)), c(a = 1, b = 3, c = 2))
    expect_identical(as_array(asks(other)), c(b = -1, a = -3, z = -2))
  }
  expect_match(capture.output(print(follows))[1], "1 program", fixed = TRUE)
  expect_match(capture.output(print(asks))[1], "2 programs", fixed = TRUE)
  expect_null(names(follows(x)))
})

test_that("dimnames and the names of dimensions are known while a function is traced", {
  m <- nv_tensor(matrix(1:6, 2, dimnames = list(time = c("p", "q"), place = letters[1:3])), "f64")
  for (f in list(
    function(m) m["q", ], function(m) m[, c("c", "a")], function(m) t(m), function(m) rowSums(m),
    function(m) nv_reduce_sum(m, "time"), function(m) m * 2, function(m) m[2, , drop = FALSE],
    function(m) if (is.null(colnames(m))) m else -m, function(m) m %*% t(m),
    function(m) cbind(m, z = 1),
    function(m) if (identical(names(dimnames(m)), c("time", "place"))) m else -m,
    function(m) {
      dimnames(m) <- list(NULL, c("u", "v", "w"))
      m
    }
  )) {
    expect_as_plain(f, m)
  }
})

test_that("names that differ between branches or iterations are an error where they are used", {
  for (f in list(
    function(x) if (sum(x) > 0) x else unname(x), function(x) if (sum(x) > 0) sum(x) else x[1]
  )) {
    expect_error(jit(f)(named), "other names", class = "joist_trace_error")
  }
  expect_error(
    jit(function(x) {
      y <- x
      while (sum(y) < 10) y <- unname(y) + 1
      y
    })(named), "`y` has other names before than after", class = "joist_trace_error"
  )
})

test_that("values whose names a branch or loop decides can be computed with", {
  halved <- function(x) {
    y <- x
    if (sum(x) > 2) y <- unname(y) * 2
    y
  }
  looped <- function(x) {
    while (sum(x) > 2) {
      x <- x / 2
      names(x) <- c("u", "v", "w")
    }
    x
  }
  for (f in list(
    function(x) sum(halved(x)), function(x) unname(halved(x)) + 1, function(x) x * halved(x),
    function(x) setNames(halved(x), c("u", "v", "w")), function(x) halved(x)[[2]],
    function(x) sum(looped(x)), function(x) sum(if (sum(x) > 2) x else unname(x)),
    function(x) {
      l <- list(a = x)
      if (sum(x) > 2) l$a <- unname(x)
      max(l$a)
    }
  )) {
    expect_as_plain(f, named)
  }
  for (question in list(
    quote(y), quote(names(y)), quote(is.null(names(y))), quote(length(attributes(y))),
    quote(attr(y, "names")), quote(y["a"]), quote(rev(y)), quote(y * x), quote(unname(x) * y),
    quote(c(y, z = 1)), quote(identical(y, x)), quote(base::names(y)), quote(list(p = y)),
    quote(lapply(list(y), function(p) is.null(names(p))))
  )) {
    f <- eval(bquote(function(x) {
      y <- x
      if (sum(x) > 2) y <- unname(y) * 2
      .(question)
    }))
    expect_error(
      jit(f)(named), "`y` has other names if TRUE than if FALSE after `if (sum(x) > 2)`",
      fixed = TRUE, class = "joist_trace_error"
    )
  }
  rows <- nv_tensor(matrix(1:4, 2, dimnames = list(c("p", "q"), NULL)), "f64")
  for (question in list(quote(rownames(m)), quote(m["p", ]), quote(is.null(dimnames(m))))) {
    f <- eval(bquote(function(m) {
      if (sum(m) > 2) m <- unname(m)
      .(question)
    }))
    expect_error(jit(f)(rows), "other names", class = "joist_trace_error")
  }
  expect_equal(as_array(gradient(function(x) sum(halved(x)^2))(named)$x), 8 * as_array(named),
    ignore_attr = TRUE
  )
})

test_that("sort() of a tensor with missing values has no length while a function is traced", {
  missing <- nv_tensor(c(2, NA, 1), "f64")
  expect_error(jit(function(x) sort(x))(missing), "sort(x, na.last = TRUE)", fixed = TRUE)
  expect_as_plain(function(x) sort(x, na.last = TRUE), missing)
})

test_that("tensors without elements need no memory for them", {
  x <- nv_aval("f64", c(3e4, 3e4, 1e3))
  expect_identical(length(x), 9e11)
  expect_true(is.numeric(x))
  expect_identical(dim(x + 1), c(30000L, 30000L, 1000L))
  expect_error(unclass(x)[1], "no values", class = "joist_value_error")
  restored <- unserialize(serialize(nv_aval("i8", c(2, 3), missing = TRUE), NULL))
  expect_identical(restored, nv_aval("i8", c(2, 3), missing = TRUE))
  expect_false(is.null(attr(restored, "dim")))
})

test_that("calls of base and stats on a traced tensor give what the plain run gives, or an error", {
  skip_on_cran()
  calls <- traced_calls()
  expect_gt(length(calls), 1000L)
  differences <- unlist(lapply(calls, traced_call_difference, x = named))
  expect_identical(differences, NULL)
})

test_that("functions of base R that need values say what to write, and the others give the same", {
  m <- nv_tensor(matrix(1:6, 2, dimnames = list(c("p", "q"), letters[1:3])), "f64")
  w <- c(10, 20, 30)
  g <- c(1, 2, 1)
  n <- nv_scalar(3L)
  i <- nv_tensor(c(2L, 1L, 3L))
  refused <- list(
    "nv_stack()" = quote(sapply(x, function(v) c(v, v))),
    "nv_stack()" = quote(vapply(x, function(v) c(v, v), c(0, 0))),
    "nv_stack()" = quote(mapply(function(a, b) c(a, b), x, x)),
    "do.call(c, ...)" = quote(unlist(list(a = x, b = x))),
    "nv_segment_sum()" = quote(tapply(x, g, sum)), "nv_outer()" = quote(outer(x, x)),
    "nv_cumsum()" = quote(Reduce(`+`, list(c(a = 1), x[2]), accumulate = TRUE)),
    "nv_outer()" = quote(x %o% x),
    "nv_reshape()" = quote(matrix(x, 1)), "nv_reshape()" = quote(array(x, c(1, 3))),
    "nv_convert(x, \"i32\")" = quote(as.integer(x)), "nv_flatten()" = quote(as.vector(x)),
    "nv_is_na(x)" = quote(anyNA(x)), "seq_len(n)" = quote(seq(0, 1, by = n)),
    "w[x > 1]" = quote(w[x > 1]), "l[n]" = quote({
      l <- as.list(w)
      l[n]
    }),
    "nv_apply()" = quote(apply(m, 1, sum)), "nv_argsort()" = quote(order(x)),
    "nv_ifelse()" = quote(na.omit(x)), "nv_match()" = quote(match(2, x))
  )
  for (k in seq_along(refused)) {
    f <- eval(bquote(function(x, m, n, i) .(refused[[k]])))
    error <- expect_error(jit(f)(named, m, n, i), class = "joist_trace_error")
    expect_match(conditionMessage(error), names(refused)[k], fixed = TRUE)
  }
  for (f in list(
    function(x, m) lapply(x, function(v) v + 1), function(x, m) Map(function(a, b) a + b, x, x),
    function(x, m) Reduce(`+`, x), function(x, m) do.call(rbind, list(x, x)),
    function(x, m) nv_apply(m, 1, function(r) r * 2), function(x, m) rowsum(x, g),
    function(x, m) rep(x, each = 2), function(x, m) sort(x, decreasing = TRUE),
    function(x, m) split(x, g), function(x, m) append(x, 4, after = 1), function(x, m) scale(m),
    function(x, m) prop.table(x), function(x, m) colMeans(m), function(x, m) quantile(x),
    function(x, m) Filter(function(v) TRUE, as.list(x)),
    function(x, m) vapply(1:2, function(k) k * 2, 1),
    function(x, m) {
      m["p", "b"] <- 0
      x["b"] <- 5
      m + x[["b"]]
    }
  )) {
    expect_as_plain(f, named, m)
  }
})

test_that("R numbers among the arguments have the class that R numbers have", {
  for (question in list(
    function(h) inherits(h, "numeric"), function(h) class(h) == "numeric", function(h) is.object(h),
    function(h) is.null(attributes(h)), function(h) is.vector(h), function(h) is_tensor(h),
    function(h) methods::is(h, "numeric"), function(h) base::is.double(h),
    function(h) identical(h, NULL), function(h) identical(h, 2L), function(h) is.null(oldClass(h))
  )) {
    body(question) <- bquote(if (.(body(question))) 1L else 2L)
    environment(question) <- globalenv() # the helpers of these tests have their own identical()
    expect_identical(as_array(jit(question)(2)), question(2), info = deparse1(body(question)))
    computed <- eval(bquote(function(g) {
      h <- g * 2
      .(body(question))
    }), globalenv())
    expect_identical(as_array(jit(computed)(2)), computed(2), info = deparse1(body(question)))
  }
  asks <- function(h) c(identical(h, 2), identical(h, NaN), isTRUE(h > 1), is.na(h))
  environment(asks) <- globalenv()
  for (h in list(2, 3, NaN)) expect_identical(as_array(jit(asks)(h)), asks(h))
  truth <- jit(function(x) c(isTRUE(all(x > 1)), isFALSE(all(x > 1))))
  for (v in list(c(2, 3), c(1, 3), c(2, NA), c(0, NA))) {
    plain <- c(isTRUE(all(v > 1)), isFALSE(all(v > 1)))
    expect_identical(as.vector(truth(nv_tensor(v, "f64"))), plain)
  }
  asks <- function(h) identical(h, c(2, 3))
  environment(asks) <- globalenv()
  error <- expect_error(jit(asks)(c(2, 4)), class = "joist_trace_error")
  expect_match(conditionMessage(error), "identical(h, c(2, 3))", fixed = TRUE)
  own <- function(x) {
    class <- function(y) "mine"
    if (class(x) == "mine") x + 1 else x
  }
  expect_as_plain(own, x)
})

test_that("a function that reads values is named where its result becomes a part of a list", {
  y <- nv_tensor(c(1, -2, 3), "f64")
  f <- function(y) {
    w <- list()
    w[["a"]] <- vapply(list(y), range, c(0, 1))
    y
  }
  g <- function(y) {
    e <- new.env()
    e$w[["a"]] <- vapply(list(y), range, c(0, 1))
    y
  }
  for (read in list(f, g)) {
    expect_refusal(jit(read)(y), "joist_trace_error", c("vapply(list(y), range, c(0, 1))", "`y`"))
  }
})
