# Operators write their results over temporary operands. No variable, list element, argument or
# constant may change by that, in compiled and in interpreted code.

n <- 5000L # beyond what lies in R's small vectors
a <- seq_len(n) / 4
b <- rev(a) + 1
x <- nv_tensor(a)
y <- nv_tensor(b)
product <- as_array(nv_mul(x, y))

# Each gives, after an operation that must not change it, the product of x and y.
holders <- list(
  list = function() {
    l <- list(x * y)
    l[[1]] + 1
    l[[1]]
  },
  environment = function() {
    e <- new.env()
    e$v <- x * y
    e$v + 1
    e$v
  },
  assigned = function() {
    (q <- x * y) + 1
    q
  },
  for_loop = function() {
    l <- list(x * y)
    for (t in l) t + 1
    l[[1]]
  },
  lapply = function() {
    l <- list(x * y)
    lapply(l, function(t) t + 1)
    l[[1]]
  },
  attribute = function() {
    o <- structure(list(), t = x * y)
    attr(o, "t") + 1
    attr(o, "t")
  },
  argument = function() {
    f <- function(u) {
      u + 1
      u
    }
    f(x * y)
  },
  default = function() {
    f <- function(u, w = u + 1) {
      w
      u
    }
    f(x * y)
  },
  dots = function() {
    f <- function(...) {
      ..1 + 1
      ..1
    }
    f(x * y)
  },
  do_call = function() {
    l <- list(x * y, 1)
    do.call("+", l)
    l[[1]]
  },
  reduce = function() Reduce(`+`, list(x * y, x, y), accumulate = TRUE)[[1]],
  delayed = function() {
    delayedAssign("p", x * y)
    p + 1
    p
  },
  closure = function() {
    f <- (function() {
      t <- x * y
      function() t
    })()
    f() + 1
    f()
  },
  tried = function() {
    z <- tryCatch(x * y, error = identity)
    z + 1
    z
  },
  active = function() {
    held <- x * y
    makeActiveBinding("v", function() held, environment())
    v + 1
    v
  },
  reshaped = function() {
    z <- x * y
    nv_reshape(z, c(50, 100)) + 1
    z
  },
  converted = function() {
    z <- x * y
    nv_tensor(z) + 1
    nv_convert(z, "f32") + 1
    z
  },
  quoted = function() {
    code <- bquote(.(x * y) + 0)
    eval(code)
    eval(code)
  },
  constant = function() {
    f <- eval(bquote(function() .(x * y) + 0))
    f()
    f <- compiler::cmpfun(f)
    f()
    f()
  },
  recorded = function() {
    z <- NULL
    explain_promotion((z <- x * y) + 1)
    z
  }
)

expect_unchanged <- function() {
  for (name in names(holders)) {
    expect_identical(as_array(holders[[name]]()), product, label = name)
    expect_identical(as_array(x), a, label = name)
    expect_identical(as_array(y), b, label = name)
  }
  expect_true(all(-(x * y) == -product))
  expect_true(all(2 - (x * y) == 2 - product))
  expect_equal(as_array((x * y + 1) / (x + 2)), (product + 1) / (a + 2), tolerance = 1e-6)
  expect_equal(as_array((x + 1) - (y * 2)), (a + 1) - (b * 2), tolerance = 1e-6)
  expect_equal(as_array(sqrt(x * y)), sqrt(product), tolerance = 1e-6)
  expect_identical(as_array(x), a)
}

test_that("operators change nothing that is held elsewhere", {
  expect_unchanged()
})

test_that("neither does interpreted code", {
  old <- compiler::enableJIT(0)
  on.exit(compiler::enableJIT(old))
  for (name in names(holders)) body(holders[[name]]) <- body(holders[[name]])
  expect_unchanged()
})

test_that("a payload of R's own, and one that R has read, is not written over", {
  values <- a + 0
  z <- nv_tensor(values, "f64")
  w <- nv_tensor(values, "f64") + 1
  expect_identical(values, a)
  out <- as_array(z)
  z + 1
  expect_identical(out, a)
  expect_identical(as_array(w), a + 1)
})

test_that("an expression needs as many payloads as are in use at once", {
  bytes <- 4.5e6 # of one, as the pool rounds them
  u <- nv_tensor(as.numeric(1:1000000))
  chain <- compiler::cmpfun(function() u * u + u - 1 + u - u / 2)
  two <- compiler::cmpfun(function() (u * u + 1) / (u - 2))
  for (f in list(chain, two)) {
    f()
    gc()
    before <- nv_memory()[["used"]]
    f()
    expect_lte(nv_memory()[["used"]] - before, 2 * bytes)
  }
})
