# What gradients keep, and recompute.

layer <- function(x) sin(x / sum(x * x))
repeated <- function(f, n) {
  function(x) {
    for (k in seq_len(n)) x <- f(x)
    x
  }
}
chain <- function(n) function(x) sum(repeated(layer, n)(x)^2)
kept_each <- function(n, m) {
  step <- nv_checkpoint(repeated(layer, m))
  function(x) sum(repeated(step, n / m)(x)^2)
}
temporaries <- function(f, x) summary(program(gradient(f), x))[["temporaries"]]

test_that("a program says how many bytes it needs", {
  got <- summary(program(function(x, y) sum(x) * (y + 1), nv_aval("f32", 100), nv_aval("f64", 7)))
  expect_identical(names(got), c("arguments", "constants", "results", "temporaries", "peak"))
  expect_identical(got[["arguments"]], 456)
  expect_identical(got[["results"]], 56)
  expect_identical(got[["peak"]], sum(got[1:4]))
  # A sum that is read by every element of the result stands between two loops.
  expect_gte(got[["temporaries"]], 4)
  expect_identical(summary(program(function(x) sin(cos(x)), nv_aval("f32", 9)))[["temporaries"]], 0)
})

test_that("a program says which results get an array", {
  kept <- function(f, ...) {
    table <- as.data.frame(program(f, ...))
    structure(table$kept, names = table$op)
  }
  x <- nv_aval("f32", 1000)
  expect_identical(kept(function(x) sin(cos(x)), x), c(cos = 0, sin = 4000))
  # What an operation on whole arrays reads is in an array; what is reshaped in that of its operand.
  expect_identical(
    kept(function(x) nv_reshape(exp(x), c(10, 100)) %*% x[1:100], x)[c("exp", "reshape")],
    c(exp = 4000, reshape = 0)
  )
  # The layers before the last are read when their derivatives are.
  found <- kept(gradient(chain(8)), x)
  expect_gte(sum(found[names(found) %in% c("div", "sin")] == 4000), 7)
  expect_lte(summary(program(gradient(chain(8)), x))[["temporaries"]], sum(found))
  # Those of a body follow their loop.
  inside <- kept(function(x) nv_for(9L, x, function(i, x) sin(x / sum(x))), x)
  expect_identical(inside[["sin"]], 4000)
  expect_identical(inside[["reduce_sum"]], 4)
})

test_that("elementwise chains keep nothing, and others in proportion to their length", {
  x <- nv_aval("f32", 10000)
  for (n in c(10, 40)) {
    expect_identical(temporaries(function(x) sum(repeated(function(x) sin(x * 2), n)(x)), x), 0)
  }
  lengths <- c(8, 16, 32)
  kept <- vapply(lengths, function(n) temporaries(chain(n), x), 0)
  expect_true(all(kept >= 40000 * lengths))
  recomputed <- vapply(lengths, function(n) temporaries(kept_each(n, 4), x), 0)
  expect_true(all(recomputed < kept / 2))
  expect_lt(recomputed[3], kept[3] / 5)
})

test_that("recomputing changes no bit, of second derivatives only the order of sums", {
  x <- nv_tensor(sin(1:60), "f32")
  for (m in c(1, 2, 4, 8)) {
    expect_identical(value_and_gradient(kept_each(8, m))(x), value_and_gradient(chain(8))(x))
    compiled <- jit(gradient(kept_each(8, m)))
    expect_identical(compiled(x), gradient(chain(8))(x))
  }
  expect_identical(kept_each(8, 4)(x), chain(8)(x))
  y <- nv_tensor(c(0.4, -0.2, 0.9), "f64")
  slope <- function(f) function(x) sum(gradient(f)(x)$x^2)
  check_gradient(jit(slope(kept_each(4, 2))), y, tolerance = 1e-5)
})

test_that("functions that are recomputed have lists, constants, and tensors from outside", {
  f <- function(part) {
    function(x, w, n) {
      y <- exp(x)
      z <- sin(y * w)
      inner <- part(function(p, n) tanh(p$a * z + y) / (p$b[[1]] + n))
      sum(inner(list(a = x * w, b = list(y, NULL)), n) * z)
    }
  }
  x <- nv_tensor(c(0.3, -0.6, 1.1), "f64")
  w <- nv_tensor(c(2, 0.5, -1), "f64")
  want <- gradient(f(identity), c("x", "w"))(x, w, 3)
  got <- gradient(f(nv_checkpoint), c("x", "w"))(x, w, 3)
  for (name in names(want)) expect_equal(as.double(got[[name]]), as.double(want[[name]]))
  check_gradient(f(nv_checkpoint), x, w, 3, wrt = 1:2)
  nested <- nv_checkpoint(function(x) nv_checkpoint(sin)(x) * x)
  check_gradient(function(x) sum(nested(x)^2), x)
  check_gradient(function(x) nv_checkpoint(function() sum(sin(x)))(), x)
  expect_identical(nv_checkpoint(sin)(x), sin(x))
  expect_error(nv_checkpoint(1), class = "joist_value_error")
  expect_error(
    gradient(nv_checkpoint(function(x) list(x)))(x), "one tensor", class = "joist_value_error"
  )
})

test_that("within bodies it gives values and derivatives of its function", {
  x <- nv_tensor(c(0.5, -1, 2), "f64")
  turn <- function(s, w) nv_tanh(s * w)
  for (f in list(
    function(step) function(w) sum(nv_for(4L, x, function(i, s) step(s, w))),
    function(step) function(w) sum(nv_scan(x, w, function(s, v) list(step(s, w), NULL))$carry),
    function(step) function(w) sum(nv_if(sum(w) > 0, step(x, w), w)),
    function(step) {
      function(w) sum(nv_for(2L, x, function(i, s) gradient(function(s) sum(step(s, w)))(s)$s))
    }
  )) {
    expected <- gradient(f(turn))(x)$w
    expect_identical(as_array(gradient(f(nv_checkpoint(turn)))(x)$w), as_array(expected))
    expect_identical(as_array(jit(gradient(f(nv_checkpoint(turn))))(x)$w), as_array(expected))
  }
})
