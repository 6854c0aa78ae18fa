# R numbers as arguments of compiled functions: what eager calls give, in dtype, flag and bits.

outcome <- function(f, ...) {
  tryCatch(f(...), joist_error = function(e) conditionMessage(e))
}

expect_same_in_jit <- function(f, ...) {
  expect_identical(outcome(jit(f), ...), outcome(f, ...), label = deparse1(body(f)))
}

x <- nv_tensor(c(1, 2, 3), "f64")
m <- nv_tensor(matrix(c(2, 1, 1, 3), 2), "f64")

test_that("products and solutions with R numbers are as exact as in eager calls", {
  column <- nv_reshape(x, c(3, 1))
  row <- nv_reshape(x, c(1, 3))
  v <- c(pi, 1, 2)
  expect_identical(as_array(jit(function(v) nv_matmul(column, v))(pi)), matrix(c(1, 2, 3) * pi))
  expect_identical(as_array(jit(function(v) nv_pad(x, v, 1, 1))(pi)), c(pi, 1, 2, 3, pi))
  expect_same_in_jit(function(v) nv_matmul(x, v), pi)
  expect_same_in_jit(function(v) nv_matmul(column, v), pi)
  expect_same_in_jit(function(v) nv_matmul(x, v), v)
  expect_same_in_jit(function(v) nv_matmul(v, x), v)
  expect_same_in_jit(function(v) m %*% v, c(pi, 1))
  expect_same_in_jit(function(v) v %*% m, matrix(c(pi, 1), 1))
  expect_same_in_jit(function(v) nv_crossprod(x, v), v)
  expect_same_in_jit(function(v) nv_crossprod(v, x), v)
  expect_same_in_jit(function(v) nv_crossprod(v), v)
  expect_same_in_jit(function(v) nv_tcrossprod(x, v), v)
  expect_same_in_jit(function(v) nv_dot(x, v, contracting_dims = list(1, 1)), v)
  expect_same_in_jit(function(v) nv_dot(row, v, contracting_dims = list(1, 1)), pi)
  expect_same_in_jit(function(v) nv_dot(x, v, contracting_dims = list(1, 2)), matrix(1 / 1:6, 2))
  expect_same_in_jit(
    function(v) nv_dot(v, m, batch_dims = list(2, 1), contracting_dims = list(1, 2)),
    matrix(1 / 1:4, 2)
  )
  expect_same_in_jit(function(v) nv_dot(v, v), pi)
  expect_same_in_jit(function(v) nv_dot(v, v), 2L)
  expect_same_in_jit(function(v, w) nv_dot(v, w, contracting_dims = list(1, 2)), 1:2, 1 / m[] * 0)
  expect_same_in_jit(function(v) nv_solve(m, v), c(pi, 1))
  expect_same_in_jit(function(v) solve(m, v), c(pi, 1))
  expect_same_in_jit(function(v) nv_triangular_solve(m, v, lower = FALSE), c(pi, 1))
  expect_same_in_jit(function(v) nv_pad(x, v, 1, 1), matrix(pi))
  expect_same_in_jit(function(v) nv_pad(v, v, 1, 1), c(pi, 1))
})

test_that("operations that change nothing make tensors of R numbers", {
  identities <- list(
    nv_reverse, nv_flatten, nv_squeeze, nv_transpose, nv_sort, nv_abs, nv_round,
    function(v) nv_signif(v, 30), function(v) nv_reshape(v, integer())
  )
  for (f in identities) {
    for (number in list(2, pi, 2L)) {
      first <- function(v) {
        a <- f(v)
        list(a, a + 1, a + x)
      }
      last <- function(v) {
        a <- f(v)
        list(a + x, a + 1, a)
      }
      expect_same_in_jit(first, number)
      expect_same_in_jit(last, number)
    }
  }
  expect_identical(
    format(dtype(jit(function(v) list(nv_reverse(v), v + 1))(2)[[1]])), "f32"
  )
  expect_true(ambiguous(jit(function(v) list(nv_reverse(v), v + 1))(2)[[1]]))
  expect_true(ambiguous(jit(function(v) list(v + 1, nv_reverse(v)))(2)[[2]]))
})

test_that("tensors are made of R numbers among the arguments", {
  expect_same_in_jit(function(v) nv_fill(v, 3), 2.5)
  expect_same_in_jit(function(v) nv_fill(v, 3, "f64"), pi)
  expect_same_in_jit(function(v) nv_fill(v, 3, ambiguous = TRUE) + x, pi)
  expect_same_in_jit(function(v) nv_scalar(v), pi)
  expect_same_in_jit(function(v) nv_scalar(v, "f64"), pi)
  expect_same_in_jit(function(v) nv_tensor(v), pi)
  expect_same_in_jit(function(v) nv_tensor(v, "f64"), c(pi, 2))
  expect_same_in_jit(function(v) nv_tensor(v, "i64", c(2, 1)), c(3, 4))
  expect_same_in_jit(function(v) nv_tensor(v, "i8"), 2.5)
  expect_same_in_jit(function(v) nv_tensor(v, "ui8"), 300L)
  expect_same_in_jit(function(v) nv_tensor(v, "f32"), NA_real_)
  expect_same_in_jit(function(v) nv_tensor(v, "f32", na = "nan"), NA_real_)
  expect_same_in_jit(function(v) nv_searchsorted(v, x), 2.5)
  expect_same_in_jit(function(v) nv_searchsorted(v, x, side = "right"), 2)
  expect_same_in_jit(function(v) nv_searchsorted(v, x), NaN)
  expect_same_in_jit(function(v) nv_searchsorted(x, v), 2.5)
  leaked <- NULL
  jit(function(v) {
    leaked <<- v
    v + 1
  })(2)
  expect_error(nv_scalar(leaked, "f64"), "has ended", class = "joist_value_error")
})

test_that("a compiled ifelse() of R numbers is as exact as base R's", {
  test <- nv_tensor(c(1, 3))
  for (rules in c("anvil", "jax")) {
    with_promotion(rules, for (d in c("f32", "f64")) {
      y <- nv_tensor(1, d)
      want <- ifelse(c(1, 3) > 2, 0.1, 0.2)
      f <- function(x, y) ifelse(x > 2, 0.1, 0.2) + y
      expect_identical(dtype(jit(f)(test, y)), dtype(y), label = paste(rules, d))
      expect_same_in_jit(f, test, y)
      expect_same_in_jit(function(x, y, v) ifelse(x > 2, v, 0.2) + y, test, y, 0.1)
      if (d == "f64") expect_identical(as_array(jit(f)(test, y)), want + 1)
    })
  }
})

test_that("ifelse() of R numbers takes the dtype of a tensor it meets, where guesses yield", {
  for (rules in c("anvil", "anvl", "jax", "tensorflow")) {
    f <- jit(function(x, y) ifelse(x > 2, 0.1, 0.2) + y)
    got <- with_promotion(rules, tryCatch(
      f(nv_tensor(c(1, 3), "f32"), nv_tensor(1, "f32")),
      joist_promotion_error = function(e) NULL
    ))
    if (!is.null(got)) expect_identical(format(dtype(got)), "f32", label = rules)
  }
})

test_that("a product of nothing is 0 inside a compiled function", {
  f <- function(a) nv_matmul(a, nv_transpose(a))
  expect_identical(as_array(jit(f)(nv_fill(0, c(2, 0)))), matrix(0, 2, 2))
  expect_identical(shape(jit(f)(nv_fill(0, c(0, 2)))), c(0L, 0L))
})

# ---- R's own numbers, in branches and loops ----

test_that("counters of traced loops are numbers of R", {
  sums <- list(
    function(x, i) 1 - 0.9^(i + 0.5), function(x, i) i * pi,
    function(x, i) sqrt(i), function(x, i) 1 / i,
    function(x, i) 2L^i, function(x, i) -i %/% 2L + i %% 3L,
    function(x, i) if (sum(x) > i / 3) i * 0.1 else 1 / i, function(x, i) max(i / 3, 0.1 * i, 1),
    function(x, i) sum(c(i / 7, 1)), function(x, i) (i / 3 > 0.7) + (i > 1)
  )
  loops <- list(
    function(n) seq_len(n), function(n) nv_seq_len(n), function(n) 2:n, function(n) n:2
  )
  for (term in sums) {
    for (values in loops) {
      f <- eval(bquote(function(x, n) {
        s <- x * 0
        for (i in .(body(values))) s <- s + .(body(term))
        s
      }))
      expect_same_in_jit(f, x, 5L)
      g <- eval(bquote(function(x, n) {
        s <- 0
        for (i in .(body(values))) s <- s + .(body(term))
        x + s
      }))
      expect_same_in_jit(g, x, 5L)
    }
  }
  h <- nv_tensor(1:3, "i8")
  expect_same_in_jit(function(h, n) {
    for (i in seq_len(n)) h <- h + i
    h
  }, h, 3L)
})

test_that("functions of R numbers are as exact as R's, of counters as of doubles", {
  of_numbers <- expression(
    log(v[1]), log(v, 7), log2(v), trigamma(v), digamma(v), atan2(v, 3), atan2(0.3, v), exp(-v),
    0.9^v, v^0.3, mean(v), sd(v), var(v), mad(v), median(v) / 7, scale(v)[1:2, ], prop.table(v),
    weighted.mean(v, c(0.1, 0.2, 0.3)), cor(v, c(0.1, 0.7, 0.3)), cov(v, c(1L, 7L, 3L)),
    unname(quantile(v, c(0.1, 0.3))), v %*% c(0.1, 0.2, 0.3), crossprod(v) / 7, tcrossprod(v, 0.1),
    solve(rbind(v[1:2], c(1, 9))), det(rbind(v[1:2], c(1L, 9L))) / 7, rowMeans(cbind(v, 2L)),
    qr.solve(rbind(v[1:2], c(1L, 9L)), c(1, 2)), chol(rbind(c(9L, 1L), c(1L, 9L)) + v[1]),
    colMeans(cbind(v, v)), ifelse(v > 3, 0.1, v), pmax(v, 3.1), outer(1:3, v, "/"), v[2:3] / 7,
    rep(v, 2) / 7, rev(v) * 0.1, cumsum(v) / 7, cumprod(v)[2] / 7, diff(v) / 7, sort(v) * 0.1,
    sapply(v, function(j) log(j)), vapply(v, sqrt, 0), Reduce(function(a, b) a / b, v),
    unlist(Map(function(a, b) a / b, v, 3)), sum(v / 7), prod(v / 7)
  )
  for (vector in expression(c(k, 2L, 7L), c(k / 3, 2L, 7L))) {
    for (term in of_numbers) {
      f <- eval(bquote(function(x, n) {
        s <- x
        for (k in 2:n) {
          v <- .(vector)
          s <- s + sum(.(term))
        }
        s
      }))
      want <- f(x[1L], 4L)
      got <- jit(f)(x[1L], 4L)
      expect_identical(dtype(got), dtype(want), label = deparse1(term))
      expect_equal(as_array(got), as_array(want), tolerance = 1e-14, label = deparse1(term))
    }
  }
})

test_that("R numbers that are computed meet tensors exactly, and in the dtypes of the plain run", {
  y <- nv_tensor(c(0.1, 0.2, 0.7), "f64")
  square <- nv_tensor(matrix(c(0.1, 0.2, 0.3, 0.4), 2), "f64")
  ids <- nv_tensor(1:3, "i32")
  half <- nv_tensor(c(0.5, 1, 2), "f16")
  meet <- expression(
    replace(y, 1, v), { y[[2]] <- v; y }, { square[1, ] <- v; square }, { y[y > 0.15] <- v; y }, # nolint
    { diag(square) <- v; square }, nv_convert(v, "f64"), nv_scalar(v, "f64"), nv_tensor(v), # nolint
    nv_tensor(c(v, 1), "f32"), nv_fill(v, 3L, "f64"), nv_fill_like(y, v), nv_ifelse(y > 0.15, v, y),
    nv_pad(y, v, 1, 1), c(y, v), c(ids, v), c(half, v), nv_concatenate(y, v),
    nv_concatenate(ids, v), append(y, v), rbind(y, v), nv_reshape(v, 1L), nv_stack(v, v),
    nv_sqrt(v),
    nv_add(y, v), nv_add(ids, v), nv_max(half, v), nv_dnorm(y, v, 1), nv_pnorm(y, v), y^v, y * v,
    ids * v, nv_hypot(y, v),
    nv_interp(v, y, y * 2), crossprod(y, c(v, v, v)), square %*% c(v, v),
    solve(square, c(v, 1)), scale(square, center = c(v, v)), { y[2:3] <- c(v, 1); y }, # nolint
    ifelse(y > 0.15, v, y), atan2(y, v), nv_log(c(v, 1))
  )
  for (value in expression(k / 3, sum(c(k / 3, 0.1)), if (sum(y) > 0) k / 3 else 1)) {
    for (code in meet) {
      f <- eval(bquote(function(y, square, ids, half, k) {
        v <- .(value)
        .(code)
      }))
      want <- f(y, square, ids, half, 0.7)
      got <- jit(f)(y, square, ids, half, 0.7)
      expect_identical(type_of(got), type_of(want), label = deparse1(code))
      expect_equal(as_array(got), as_array(want), tolerance = 1e-14, label = deparse1(code))
    }
  }
})

test_that("R numbers that branches and loops hand on are as exact as R's", {
  expect_same_in_jit(function(x, k) {
    z <- k * 0.1
    if (sum(x) > 1) x <- x * (z * 3)
    x
  }, x, 3)
  expect_same_in_jit(function(x) {
    k <- 1L
    while (sum(x) > 1) {
      x <- x / 2
      k <- k + 1L
    }
    x * (1 / k + k / 3)
  }, x)
  expect_same_in_jit(function(x, k) {
    if (sum(x) > 1) k <- k / 3
    x * (k * 0.1) + k
  }, x, 0.1)
  expect_same_in_jit(function(x, k) {
    for (i in seq_len(k)) if (sum(x) > i) x <- x * (0.1 * i + 1 / k)
    x
  }, x, 4L)
  expect_same_in_jit(function(x, k) x * max(k, 0.1) + min(k / 3, 1), x, 0.01)
  expect_same_in_jit(function(x, k) x * c(k, 0.1, k / 3), x, 0.01)
  expect_same_in_jit(function(x, k) x * ifelse(k > 0, 0.1, k / 3), x, 0.01)
})

test_that("R numbers are compared as R has them", {
  expect_same_in_jit(function(x, k) {
    x > 0 & c(k * 3 == 0.3, k * 3 > 0.3, k / 3 <= 0.1)
  }, x, 0.1)
  expect_same_in_jit(function(x, k) if (k * 3 > 0.3) x else -x, x, 0.1)
})

test_that("flags of R count, and powers of R's integers are doubles", {
  flags <- list(
    function(x, a, b) a + b, function(x, a, b) -a, function(x, a, b) a * b - a,
    function(x, a, b) a / 3, function(x, a, b) (a + b) / 3, function(x, a, b) a * 2L,
    function(x, a, b) a %/% (b + 1L), function(x, a, b) 2L^a, function(x, a, b) (a == b) + (a > b)
  )
  for (count in flags) {
    f <- eval(bquote(function(x) {
      a <- FALSE
      b <- TRUE
      if (sum(x) > 1) a <- TRUE else b <- FALSE
      list(x * .(body(count)), x + .(body(count)))
    }))
    expect_same_in_jit(f, x)
    expect_same_in_jit(f, nv_tensor(c(1, 2), "f16"))
    body(count) <- bquote(x * .(body(count)))
    expect_same_in_jit(count, x, TRUE, TRUE)
  }
  expect_same_in_jit(function(x) {
    found <- FALSE
    n <- 0L
    while (n < 5L) {
      n <- n + 1L + found
      if (sum(x) > n) found <- TRUE
    }
    x * (n + found)
  }, x)
  expect_same_in_jit(function(x, k) x + k^2L, x, 100000L)
  expect_same_in_jit(function(k) k + k, nv_scalar(TRUE))
})

test_that("a number that is an R integer or a double by a condition has no type of its own", {
  x <- nv_tensor(c(1, 2, 3), "f64")
  i <- nv_tensor(1:3)
  refused <- list(
    function(x, i, k) k, function(x, i, k) list(a = x, b = k + 1L), function(x, i, k) i * k,
    function(x, i, k) typeof(k) == "double", function(x, i, k) if (is.integer(k)) x else -x,
    function(x, i, k) if (identical(k, 1)) x else -x, function(x, i, k) sum(k)
  )
  agreed <- list(
    function(x, i, k) x * k, function(x, i, k) i * (k / 2), function(x, i, k) x + (k + 0.5),
    function(x, i, k) if (is.numeric(x) && k > 0) x else -x, function(x, i, k) x[k + 2L]
  )
  joins <- list(
    function(x) if (sum(x) > 2) 1 else 0L,
    function(x) {
      k <- 0L
      while (sum(x) > 5 + k) k <- k + 1
      k
    }
  )
  for (join in joins) {
    for (f in refused) {
      environment(f) <- globalenv() # the helpers of these tests have their own identical()
      g <- function(x, i) f(x, i, join(x))
      expect_error(jit(g)(x, i), "R integer", class = "joist_trace_error")
    }
    for (f in agreed) {
      expect_same_in_jit(function(x, i) f(x, i, join(x)), x, i)
      expect_same_in_jit(function(x, i) f(x, i, join(x)), -x, i)
    }
  }
  # A loop that has an iteration leaves what the iteration gives.
  counted <- function(x) {
    k <- 0L
    for (v in x) k <- k + 1
    k
  }
  expect_identical(dtype(jit(counted)(x)), dtype(nv_scalar(3, "f64")))
})

test_that("whether a value is a tensor is an error if a condition decides that", {
  x <- nv_tensor(c(1, 2, 3), "f64")
  best <- function(x) {
    best <- 0
    for (v in x) if (v > best) best <- v
    best
  }
  expect_identical(as_array(jit(best)(x)), 3)
  for (ask in list(
    function(b) is_tensor(b), function(b) class(b)[1] == "numeric", function(b) is.object(b)
  )) {
    g <- function(x) if (ask(best(x))) 1 else 2
    expect_error(jit(g)(x), "a tensor, which a traced condition decides")
  }
})

test_that("identical() and isTRUE() compare flags and numbers that a branch has changed", {
  f <- function(x) {
    ok <- FALSE
    k <- 1
    if (sum(x) > 2) {
      ok <- TRUE
      k <- NaN
    }
    c(isTRUE(ok), isFALSE(ok), identical(ok, TRUE), identical(k, 1), identical(k, NaN), is.na(k),
      identical(ok, 1), isTRUE(k), isTRUE(sum(x) > 2))
  }
  environment(f) <- globalenv()
  for (x in list(c(1, 2), c(-1, 2))) {
    x <- nv_tensor(x, "f64")
    expect_identical(as.vector(as_array(jit(f)(x))), as.vector(f(x)))
  }
})

test_that("scalars and vectors of one element join where the rules do not tell them apart", {
  x <- nv_tensor(c(1, 2, 3), "f64")
  f <- function(x) if (sum(x) > 2) x[2] else max(x)
  expect_identical(as.vector(as_array(jit(f)(x))), 2)
  expect_identical(as.vector(as_array(jit(f)(-x))), -1)
  with_promotion("torch", expect_error(jit(f)(x), "shape {1}", fixed = TRUE))
})

test_that("generics choose the method of the plain run for R numbers", {
  described <- function(p, ...) UseMethod("described")
  described.default <- function(p, ...) 100 # nolint: object_name_linter.
  described.numeric <- function(p, ...) p + 1 # nolint: object_name_linter.
  described.integer <- function(p, ...) p + 1000L # nolint: object_name_linter.
  described.nv_tensor <- function(p, ...) sum(p) * 2
  second <- function(p, q) UseMethod("described", q)
  home <- topenv()
  methods::setGeneric("traced_size", function(p, q) standardGeneric("traced_size"), where = home)
  on.exit(methods::removeGeneric("traced_size", where = home))
  methods::setMethod("traced_size", "numeric", function(p, q) p + 1, where = home)
  methods::setMethod("traced_size", "nv_tensor", function(p, q) sum(p), where = home)
  methods::setMethod(
    "traced_size", methods::signature("numeric", "nv_tensor"), function(p, q) sum(q) + p,
    where = home
  )
  traced_size <- get("traced_size", home)
  x <- nv_tensor(c(1, 2, 3), "f64")
  for (f in list(
    function(x, k) described(k), function(x, k) described(x), function(x, k) second(k, x),
    function(x, k) second(x, k), function(x, k) traced_size(k), function(x, k) traced_size(x),
    function(x, k) traced_size(k, x), function(x, k) traced_size(q = x, p = k)
  )) {
    for (start in list(1, 1L)) {
      whole <- function(x) {
        k <- start
        if (sum(x) > 2) k <- k + start
        f(x, k)
      }
      expect_equal(as_array(jit(whole)(x)), as.numeric(whole(x)))
    }
  }
  expect_error(
    jit(function(x) {
      k <- 1L
      if (sum(x) > 2) k <- 2
      described(k)
    })(x), "`described(k)` depends on whether", fixed = TRUE, class = "joist_trace_error"
  )
})

test_that("what depends on the type of a number in a loop is named", {
  expect_error(
    jit(function(x) {
      s <- 0L
      for (v in x) s <- if (v > 1) s + 1 else s
      is.integer(s)
    })(nv_tensor(c(1, 2), "f64")), "`is.integer(s)` depends on whether",
    fixed = TRUE, class = "joist_trace_error"
  )
})

test_that("the larger and smaller of R numbers are R numbers", {
  x <- nv_tensor(c(1, 2, 3), "f32")
  f <- function(x, k) {
    for (v in 1:3) if (sum(x) > v) k <- k + 0.1
    list(
      pmax(k, 2), pmin(c(a = k, b = 2), 3), pmax(c(k, 1), NA, na.rm = TRUE), pmax(1L, 2L),
      pmax(k, x)
    )
  }
  expect_identical(traced_text(jit(f)(x, 1)), traced_text(f(x, 1)))
  g <- function(x, k) {
    if (sum(x) > 1) k <- k + 1
    dtype(pmax(unlist(lapply(1:2, function(p) k)), 1))
  }
  expect_error(g(x, 1), "expected a tensor", class = "joist_value_error")
  expect_error(jit(g)(x, 1), "expected a tensor", class = "joist_error")
})

test_that("functions of base R, stats and utils make R numbers of R numbers", {
  x <- nv_tensor(c(1, 2, 3), "f32")
  made <- expression(
    rev(v), sort(v), ifelse(x > k, v, 2), cumsum(v), cumprod(v), cummax(v), mean(v), diff(v),
    rep(v, 2), rep_len(v, 5),
    head(v, 2), tail(v, 2), append(v, 1), ifelse(v > 2, v, 2), quantile(v, names = FALSE),
    median(v), var(v), sd(v), t(v), crossprod(v), v %*% v, v[[2]], v[2:3], v[-1], round(v, 1),
    signif(v, 2), which.max(v), replace(v, 1, 5), split(v, 1:3)[[1]], Reduce(`+`, v),
    Map(function(e) e, v)[[1]], lapply(v, identity)[[2]], rowSums(cbind(v, v)), rbind(v, v),
    log(v), weighted.mean(v, c(1, 2, 3)), diag(v), solve(diag(v)), Mod(v), v[c(TRUE, FALSE, TRUE)],
    prop.table(v), rev(v)[1], pmax(v, 1)
  )
  for (code in as.list(made)) {
    f <- eval(bquote(function(x, k) {
      if (sum(x) > 1) k <- k + 0.1
      v <- c(k * 0.1, 2, 3)
      made <- .(code)
      list(is_tensor(made), unname(made), sum(x) * sum(made))
    }))
    expect_equal(lapply(jit(f)(x, 1), as_array), lapply(f(x, 1), function(part) {
      part <- as_array(joist:::as_operand(part))
    }), tolerance = 1e-6, label = deparse1(code))
    expect_false(as.vector(jit(f)(x, 1)[[1L]]), label = deparse1(code))
    expect_identical(dtype(jit(f)(x, 1)[[3L]]), dtype(f(x, 1)[[3L]]), label = deparse1(code))
  }
  bound <- function(x, k) {
    if (sum(x) > 1) k <- k + 1
    v <- c(k, 2)
    list(cbind(v, w = v + 1), rbind(a = v, v), cbind(v, 1), cbind(v, v, deparse.level = 0))
  }
  expect_identical(lapply(jit(bound)(x, 1), dimnames), lapply(bound(x, 1), dimnames))
  first <- function(x) list(is_tensor(which.max(x)), which.max(unname(x)))
  expect_identical(lapply(jit(first)(x), as_array), first(x))
  expect_error(
    jit(function(x) names(which.max(x)))(nv_tensor(c(a = 1, b = 2))),
    "the name of a position depends on values", class = "joist_trace_error"
  )
  of_tensors <- function(x, k) {
    if (sum(x) > 1) k <- k + 1
    list(rev(x), cor(x, c(k, 1, 2)), ifelse(x > k, x, 1), lapply(c(k, 2), function(e) e * x)[[2]])
  }
  expect_identical(lapply(jit(of_tensors)(x, 1), dtype), lapply(of_tensors(x, 1), dtype))
  rev <- function(v) "the user's"
  expect_identical(jit(function(x, k) if (rev(k) == "the user's") x else -x)(x, 1), x)
  log <- character()
  invisible(jit(function(x) {
    log <<- c(log, "seen")
    x
  })(x))
  expect_identical(log, "seen")
})

test_that("behind an R number and in R vectors, tensors are R numbers as in the plain run", {
  half <- nv_scalar(2.5, "f16")
  bytes <- nv_tensor(c(200L, 7L), "ui8")
  large <- nv_tensor(c(2049L, 5L))
  into <- function(start) {
    function(b) {
      start[2] <- b
      start
    }
  }
  cases <- list(
    list(function(x, b) x * c(1, b), large, half), list(function(x, b) x * max(1, b), large, half),
    list(function(x, b) x * range(1, b), large, half),
    list(function(x, b) x * prod(2, b), large, half),
    list(function(u, n) max(1L, n) + u, bytes, nv_scalar(7L, "i32")),
    list(function(x) x / max(1e-8, sum(x)), bytes), list(function(b) max(2049, b), half),
    list(function(b) c(2049, b), half), list(function(x) max(200L, x), nv_tensor(100L, "i8")),
    list(function(x) sum(1L, x > 3), large), list(into(c(0.1, 2)), half),
    list(into(c(70000, 2)), half), list(into(c(16777217L, 2L)), half),
    list(function(u, n) {
      y <- c(1L, 2L)
      y[[2]] <- n
      u + y
    }, nv_tensor(c(20L, 7L), "ui8"), nv_scalar(7L, "i16"))
  )
  local_promotion(NULL, on = c(overflow = "ok"))
  for (case in cases) {
    plain <- do.call(case[[1L]], case[-1L])
    compiled <- do.call(jit(case[[1L]]), case[-1L])
    expect_identical(as.vector(compiled), as.vector(plain))
    if (is_tensor(plain)) {
      expect_identical(dtype(compiled), dtype(plain))
    } else {
      expect_true(ambiguous(compiled))
    }
  }
})

test_that("R's flags and numbers behind a tensor leave the dtype of its sum and product", {
  for (x in list(nv_tensor(c(200L, 7L), "ui8"), nv_tensor(c(2L, 7L), "i16"))) {
    for (k in list(TRUE, NA, c(TRUE, FALSE), 3L, NA_integer_, 2.5)) {
      for (f in list(function(x, k) sum(x, k), function(x, k) prod(x, k))) {
        expect_identical(jit(f)(x, k), f(x, k), info = paste(deparse1(f), deparse1(k), dtype(x)))
      }
    }
  }
})

test_that("what R rounds or multiplies of R integers has R's type", {
  bytes <- nv_tensor(c(200L, 7L), "ui8")
  code <- c(
    "sign(k)", "round(k)", "trunc(k)", "ceiling(k)", "floor(k)", "signif(k, 2)", "cumprod(c(k, k))",
    "cumsum(c(k, k))"
  )
  functions <- lapply(code, function(part) eval(str2lang(paste("function(x, k) x *", part))))
  local_promotion(NULL, on = c(overflow = "ok"))
  for (f in functions) {
    plain <- f(bytes, 2L)
    compiled <- jit(f)(bytes, 2L)
    expect_identical(dtype(compiled), dtype(plain), info = deparse1(f))
    expect_identical(as.vector(compiled), as.vector(plain), info = deparse1(f))
  }
  expect_error(jit(function(k) cumsum(c(k, k)))(2000000000L), "does not fit R's integers")
})

test_that("R numbers that are computed are refused where they do not fit, and compared exactly", {
  half <- nv_tensor(c(1.5, 2), "f16")
  bytes <- nv_tensor(c(200L, 7L), "ui8")
  by_loop <- function(h) {
    s <- 1
    while (s < 60000 * h[1]) s <- s * 2
    h * s
  }
  refused <- list(
    list(function(h) h * (if (h[1] > 1) 70000 else 2), half), list(by_loop, half / 1.5),
    list(function(h) h * (if (h[1] > 1) 1e300 else 2), nv_convert(half, "f32")),
    list(function(h) ifelse(h > 1.7, 70000, 2) * h, half),
    list(function(x, k) x * (k + 1), half, 70000),
    list(function(x, k) crossprod(x, c(k, 1)), half, 70000),
    list(function(u, h) u + (if (h[1] > 1) 300L else 2L), bytes, half),
    list(function(x, k) x + (k - 5L), bytes, 2L)
  )
  local_promotion(NULL, on = c(loss = "ok", overflow = "ok"))
  for (case in refused) {
    for (f in list(case[[1L]], jit(case[[1L]]))) {
      expect_error(do.call(f, case[-1L]), "does not fit", class = "joist_value_error")
    }
  }
  expect_identical(as.vector(jit(function(x, k) x * abs(k))(half, -Inf)), c(Inf, Inf))
  x <- nv_tensor(c("9007199254740993", "16777217", "3"), "i64")
  compared <- function(x) {
    k <- if (x[3] > 1L) 9007199254740992 else 3
    l <- if (x[3] > 1L) 16777216 else 3
    (x > k) | (x == l)
  }
  expect_identical(as.vector(jit(compared)(x)), c(TRUE, FALSE, FALSE))
  least <- jit(function(k, x) min(k, x))(-1L, nv_tensor(2L, "ui64"))
  expect_identical(as.vector(least), -1)
})
