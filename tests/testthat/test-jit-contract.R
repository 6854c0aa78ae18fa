# What differs between compiled and plain code: a test for each row of the table in ?jit.

x <- nv_tensor(c(1, 2, 3), "f64")

test_that("a result that is an R number or flag is a tensor of its default dtype", {
  results <- jit(function(x) list(1L, 2, TRUE, length(x)))(x)
  expect_identical(lapply(results, as_array), list(1L, 2, TRUE, 3L))
  expect_true(all(vapply(results, is_tensor, NA)))
  expect_identical(dtype(results[[2L]]), dtype(nv_scalar(2)))
})

test_that("an R number in one branch and a tensor in another are a tensor", {
  best <- function(x) {
    best <- 0
    for (v in x) if (v > best) best <- v
    best
  }
  expect_identical(as_array(jit(best)(x)), 3)
  expect_true(is_tensor(jit(best)(-x)))
  asks <- function(x) if (is_tensor(best(x))) 1 else 2
  expect_error(jit(asks)(x), "`is_tensor(best(x))`", fixed = TRUE, class = "joist_trace_error")
})

test_that("a scalar and a vector of one element are a vector of one element", {
  f <- function(x) if (sum(x) > 2) max(x) else x[1]
  expect_identical(shape(jit(f)(x)), 1L)
  expect_identical(as.vector(as_array(jit(f)(x))), as.vector(as_array(f(x))))
})

test_that("the variable of `for` is an element of the tensor", {
  kind <- function(x) {
    for (v in x) kind <- if (is_tensor(v)) 1 else 2
    kind
  }
  expect_identical(as_array(jit(kind)(x)), 1)
  expect_identical(kind(x), 2)
  differences <- function(x) {
    last <- x[[1]]
    for (v in x) {
      change <- v - last
      last <- v
    }
    change
  }
  expect_identical(as_array(jit(differences)(x)), 1)
})

test_that("R integers that overflow, or are divided by 0, are a warning or an error", {
  chosen <- function(x) if (sum(x) > 2) .Machine$integer.max else 0L
  over <- jit(function(x) chosen(x) + 1L, on = c(overflow = "error"))
  expect_error(over(x), "does not fit", class = "joist_error")
  expect_error(jit(function(x) chosen(x) %/% 0L)(x), "division by zero", class = "joist_error")
})

test_that("effects outside of branches happen once for each program", {
  count <- 0
  f <- jit(function(x) {
    count <<- count + 1
    x
  })
  for (k in 1:3) f(x)
  expect_identical(count, 1)
  f(nv_tensor(1:3))
  expect_identical(count, 2)
})

test_that("files are written while the program is recorded", {
  file <- withr::local_tempfile()
  f <- jit(function(x) {
    if (sum(x) > 100) {
      file.create(file)
      x
    } else {
      -x
    }
  })
  f(x)
  expect_true(file.exists(file))
})

test_that("arguments that a branch may read are computed before it", {
  computed <- 0
  f <- function(x, other) if (sum(x) > 100) other else x
  g <- function(x) {
    f(x, {
      computed <<- computed + 1
      x * 2
    })
  }
  expect_error(jit(g)(x), "`computed` is changed by an argument", class = "joist_trace_error")
  h <- function(x) f(x, x * 2)
  expect_identical(as_array(jit(h)(x)), c(1, 2, 3))
})

test_that("functions of R see the class of a tensor where the plain run has a number", {
  f <- function(k) if (inherits(k, "numeric")) 1 else 2
  lists <- function(k) if (get("is.object", baseenv())(k)) 1 else 2
  expect_identical(as_array(jit(lists)(3)), 1)
  expect_identical(lists(3), 2)
  expect_identical(as_array(jit(f)(3)), as.double(f(3)))
})

test_that("sums, products and extremes of R's own numbers are R's", {
  for (f in list(
    function(a, b) sum(a, b), function(a, b) sum(a), function(a, b) prod(a, b),
    function(a, b) max(a, b), function(a, b) range(a, b), function(a, b) any(a, b),
    function(a, b) sum(a, b, na.rm = TRUE), function(a, b) sum(c(a, b))
  )) {
    g <- function(x) {
      a <- sum(x) > 100
      a <- FALSE
      b <- TRUE
      if (sum(x) > 2) a <- TRUE
      f(a, b)
    }
    expect_identical(traced_text(jit(g)(x)), traced_text(g(x)), info = deparse1(f))
  }
})

test_that("a loop over elements that are no numbers of R warns once", {
  total <- function(x) {
    s <- 0L
    for (v in x) s <- s + v
    s
  }
  traced <- jit(total)
  expect_warning(
    traced(nv_tensor(1:3, "ui8")), "`v` is an element of dtype ui8", class = "joist_loop_warning"
  )
  expect_no_warning(jit(total)(nv_tensor(4:6, "ui8")))
  other <- function(x) {
    s <- 0
    for (v in x) s <- s + v
    s
  }
  expect_no_warning(jit(other)(nv_tensor(c(1, 2), "f64")))
})
