# Derivatives of loops and branches, beside those of the same operations written out.

expect_same_gradient <- function(loop, plain, ...) {
  expected <- gradient(plain)(...)
  for (f in list(gradient(loop), jit(gradient(loop)))) {
    found <- f(...)
    expect_identical(names(found), names(expected))
    for (k in seq_along(found)) {
      expect_identical(format(dtype(found[[k]])), format(dtype(expected[[k]])))
      expect_identical(ambiguous(found[[k]]), ambiguous(expected[[k]]))
      expect_equal(as_array(found[[k]]), as_array(expected[[k]]), tolerance = 1e-12)
    }
  }
}

x <- nv_tensor(c(0.5, -1.25, 2), "f64")
w <- nv_tensor(c(0.75, 0.3, -0.2), "f64")

test_that("nv_for() has the derivative of what it repeats", {
  for (n in c(0L, 1L, 2L, 5L)) {
    expect_same_gradient(
      function(x, w) sum(nv_for(n, x, function(i, x) sin(x * w) + i * x)),
      function(x, w) {
        for (i in seq_len(n)) x <- sin(x * w) + i * x
        sum(x)
      },
      x = x, w = w
    )
  }
  # The state before and the capture are the same value.
  expect_same_gradient(
    function(x) sum(nv_for(3, x, function(i, y) y * x)), function(x) sum(x^4),
    x = x
  )
  # A state that is not a float, and one that nothing depends on.
  expect_same_gradient(
    function(x) {
      out <- nv_for(4, list(k = nv_scalar(2L), y = x, z = x), function(i, k, y, z) {
        list(k = k + 1L, y = y * k, z = z * y)
      })
      sum(out$y)
    },
    function(x) sum(x * 2 * 3 * 4 * 5),
    x = x
  )
  expect_error(
    jit(gradient(function(x, n) nv_for(n, x, function(i, x) x * 2), wrt = "x"))(nv_scalar(1), 3L),
    "number of iterations is known"
  )
})

test_that("nv_scan() is differentiated by its state, its arrays and captures", {
  xs <- nv_tensor(matrix(c(0.1, 0.4, -0.3, 0.8, 0.2, 0.6), 2), "f64")
  step <- function(h, x, w) nv_tanh(w * h + sum(x))
  for (reverse in c(FALSE, TRUE)) {
    expect_same_gradient(
      function(h, xs, w) {
        out <- nv_scan(h, nv_transpose(xs), function(h, x) {
          h <- step(h, x, w)
          list(h, list(h * h, 2L))
        }, reverse = reverse)
        sum(out$ys[[1]] * nv_tensor(c(1, 2, 3), "f64", c(3, 1))) + sum(out$carry)
      },
      function(h, xs, w) {
        total <- 0
        for (k in if (reverse) 3:1 else 1:3) {
          h <- step(h, xs[, k], w)
          total <- total + sum(h * h) * k
        }
        total + sum(h)
      },
      h = w, xs = xs, w = x
    )
  }
})

test_that("nv_if() has the derivative of the branch that is taken", {
  for (s in c(1, -1)) {
    expect_same_gradient(
      function(x, w) sum(nv_if(s * sum(x) > 0, x * w, exp(w))),
      if (s > 0) function(x, w) sum(x * w) else function(x, w) sum(exp(w)) + sum(0 * x),
      x = x, w = w
    )
  }
  # The branch not taken is not computed, and neither is its derivative.
  root <- function(x) nv_if(x > 0, sqrt(x), nv_scalar(0, "f64"))
  expect_identical(as_array(gradient(root)(nv_scalar(0, "f64"))$x), 0)
  expect_identical(as_array(gradient(root)(nv_scalar(4, "f64"))$x), 0.25)
})

test_that("second derivatives, loops within loops, and checks in f64", {
  f <- function(x) {
    nv_for(3, x, function(i, x) {
      nv_if(x > 1, nv_for(2, x, function(j, y) sin(y) * x + j), x * x + i)
    })
  }
  for (at in c(0.3, 1.2)) expect_lt(max(check_gradient(f, nv_scalar(at, "f64"))$error), 1e-6)
  second <- function(f) gradient(function(x) gradient(f)(x)$x)
  cube <- function(x) nv_for(2, x, function(i, y) y * x)
  expect_equal(as_array(second(cube)(nv_scalar(2, "f64"))$x), 12)
  expect_equal(as_array(jit(second(cube))(nv_scalar(2, "f64"))$x), 12)
  scanned <- function(x) {
    out <- nv_scan(x, nv_tensor(c(1, 2, 3), "f64"), function(s, v) list(s * x, v * s))
    sum(out$ys)
  }
  # x + 2 x^2 + 3 x^3
  expect_equal(as_array(gradient(scanned)(nv_scalar(2, "f64"))$x), 1 + 8 + 36)
  expect_equal(as_array(second(scanned)(nv_scalar(2, "f64"))$x), 4 + 36)
  inner <- function(x) {
    nv_for(2, x, function(i, y) gradient(function(z) z^3 * x)(y)$z)
  }
  # 3 y^2 x twice: 27 x^7
  expect_equal(as_array(gradient(inner)(nv_scalar(1.5, "f64"))$x), 27 * 7 * 1.5^6)
})

test_that("dtypes, custom gradients and stops hold in bodies", {
  for (dtype in c("f16", "bf16", "f32")) {
    slope <- gradient(function(w, x) sum(nv_for(2, x, function(i, x) x * w)))
    out <- slope(w = nv_tensor(c(2, 1), dtype), x = nv_tensor(c(1, 3), "f64"))
    expect_identical(format(dtype(out$w)), dtype)
    expect_equal(as_array(out$w), 2 * c(2, 1) * c(1, 3))
    expect_identical(format(dtype(out$x)), "f64")
  }
  stopped <- function(x) nv_for(2, x, function(i, y) y * nv_stop_gradient(y))
  expect_equal(as_array(gradient(stopped)(nv_scalar(3, "f64"))$x), 3 * 9)
  through <- custom_gradient(nv_round, function(g, value, x) list(g * 10))
  rounded <- function(x) nv_for(2, x, function(i, y) through(y) + x)
  expect_equal(as_array(gradient(rounded)(nv_scalar(1.2, "f64"))$x), 100 + 10 + 1)
  expect_error(
    gradient(function(x) nv_while(x, function(x) x < 3, function(x) x * 2))(nv_scalar(1)),
    "nv_while() has no derivative",
    fixed = TRUE, class = "joist_value_error"
  )
})

# The expressions for the next state of three tensors, the second of integers.
random_step <- function() {
  expressions <- c(
    "nv_tanh(s[[1]] * w + x)", "exp(-abs(s[[1]])) * x", "nv_logistic(s[[3]] + x)", "s[[3]]",
    "s[[1]] * s[[3]]", "sqrt(1 + s[[1]]^2L)", "nv_tanh(s[[1]] * w + x) * s[[3]]", "cumsum(s[[1]])",
    "nv_ifelse(s[[2]] > 2L, s[[1]], sin(x))", "s[[1]] / (1 + nv_mean(s[[3]])^2L)", "w",
    "nv_stop_gradient(nv_tanh(s[[1]])) * w", "nv_for(2L, s[[1]], function(i, y) nv_tanh(y * w + i))"
  )
  count <- c("s[[2]] + 1L", "s[[2]]", "s[[2]] * 2L")
  first <- sample(expressions, 1L)
  third <- if (runif(1) < 0.2) first else sample(expressions, 1L)
  kept <- sample(c(expressions, "s[[2]]"), 1L)
  text <- sprintf(
    "function(s, x, w) list(list(%s, %s, %s), %s)", first, sample(count, 1L), third, kept
  )
  eval(parse(text = text))
}

test_that("scans of random bodies have the derivatives of their turns written out", {
  xs <- nv_tensor(matrix(sin(1:12), 3), "f64")
  for (seed in 1:40) {
    set.seed(seed)
    step <- random_step()
    reverse <- runif(1) < 0.3
    total <- function(s, kept) sum(s[[1]]) + sum(s[[3]] * s[[2]]) + kept
    loop <- function(h, xs, w) {
      start <- list(h, nv_scalar(1L), h * 0.5)
      out <- nv_scan(start, nv_transpose(xs), function(s, x) step(s, x, w), reverse = reverse)
      total(out$carry, sum(out$ys))
    }
    plain <- function(h, xs, w) {
      s <- list(h, nv_scalar(1L), h * 0.5)
      kept <- 0
      for (k in if (reverse) 4:1 else 1:4) {
        out <- step(s, xs[, k], w)
        s <- out[[1]]
        kept <- kept + sum(out[[2]])
      }
      total(s, kept)
    }
    squared <- function(f) {
      function(h, xs, w) Reduce(`+`, lapply(gradient(f)(h, xs, w), function(g) sum(g * g)))
    }
    expect_same_gradient(loop, plain, h = x, xs = xs, w = w)
    expect_same_gradient(squared(loop), squared(plain), h = x, xs = xs, w = w)
  }
})

# How often the bodies of a gradient's program have an operation.
count_inside <- function(f, op, ...) {
  table <- as.data.frame(program(gradient(f), ...))
  sum(table$op == op & table$depth > 0)
}
count_loops <- function(f, ...) {
  table <- as.data.frame(program(f, ...))
  sum(table$op %in% c("scan", "for") & table$depth == 0)
}

test_that("what takes long to compute is computed once, and the loop runs forward once", {
  recurrent <- function(x, w) {
    nv_scan(x, length = 5, body = function(s, i) {
      h <- nv_tanh(nv_matmul(s, w))
      list(exp(h) * s, sum(h))
    })
  }
  total <- function(x, w) {
    out <- recurrent(x, w)
    sum(out$carry) + sum(out$ys)
  }
  x <- nv_tensor(matrix(sin(1:6), 2), "f64")
  w <- nv_tensor(matrix(cos(1:9), 3), "f64")
  # One product forward; its two derivatives.
  expect_identical(count_inside(total, "matmul", x, w), 3L)
  for (op in c("tanh", "exp")) expect_identical(count_inside(total, op, x, w), 1L)
  expect_identical(count_loops(value_and_gradient(total), x, w), 2L)
  both <- value_and_gradient(total)(x, w)
  expect_identical(both$value, jit(total)(x, w))
  expect_identical(both$grad, gradient(total)(x, w))
  counted <- function(x) sum(nv_for(4, x, function(i, x) nv_tanh(x * i)))
  expect_identical(count_inside(counted, "tanh", x), 1L)
  expect_identical(count_loops(value_and_gradient(counted), x), 2L)
  # Squares are cheap: only the state is kept.
  squares <- function(x) sum(nv_for(4, x, function(i, x) x * x * 0.5))
  forward <- as.data.frame(program(gradient(squares), x))
  expect_identical(sum(forward$op == "scan"), 2L)
  expect_length(grep("^scan$", forward$op), 2L)
  # The inner loop is kept, too.
  nested <- function(x) {
    sum(nv_for(3, x, function(i, x) nv_for(2, x, function(j, x) nv_tanh(x * j))))
  }
  expect_identical(count_inside(nested, "tanh", x), 1L)
  # A loop that prints stays, for its prints.
  printed <- function(x) sum(nv_for(2, x, function(i, x) nv_tanh(nv_print(x))))
  out <- utils::capture.output(value <- value_and_gradient(printed)(nv_tensor(1, "f64"))$value)
  expect_identical(length(grep("tensor|[0-9]", out)) > 0, TRUE)
  expect_equal(as_array(value), tanh(tanh(1)), tolerance = 1e-15)
})

test_that("what is kept has a limit, which nv_checkpoint() does not use", {
  deep <- function(x, functions) {
    nv_for(50, x, function(i, x) {
      for (k in seq_len(functions)) x <- nv_sin(x)
      x
    })
  }
  few <- function(x) sum(deep(x, 4))
  many <- function(x) sum(deep(x, 40))
  large <- nv_aval("f64", 1e6)
  # Without a limit, cos() of every sin(): one sin() each.
  expect_identical(count_inside(few, "sin", large), 4L)
  expect_identical(count_inside(many, "sin", nv_aval("f64", 10)), 40L)
  # The state alone is kept, and all but the last are computed again.
  expect_identical(count_inside(many, "sin", large), 79L)
  x <- nv_tensor(c(0.3, -2), "f64")
  again <- function(x) {
    sum(nv_for(5, x, function(i, x) nv_checkpoint(function(x) nv_tanh(nv_sin(x) * i))(x)))
  }
  plain <- function(x) sum(nv_for(5, x, function(i, x) nv_tanh(nv_sin(x) * i)))
  expect_identical(count_inside(plain, "tanh", x), 1L)
  expect_identical(count_inside(again, "tanh", x), 2L)
  expect_identical(value_and_gradient(again)(x), value_and_gradient(plain)(x))
})

test_that("values of a loop are the same before and after its derivative was taken", {
  f <- function(x, w) sum(nv_for(3, x, function(i, y) nv_tanh(y * w) + x))
  x <- nv_tensor(c(0.5, -1, 2), "f64")
  w <- nv_tensor(c(1.5, 0.2, -1), "f64")
  both <- function(f) {
    function(x, w) {
      got <- value_and_gradient(f)(x, w)
      got$value * got$value + sum(got$grad$x * got$grad$w)
    }
  }
  written_out <- function(x, w) {
    y <- x
    for (i in 1:3) y <- nv_tanh(y * w) + x
    sum(y)
  }
  expect_same_gradient(both(f), both(written_out), x = x, w = w)
  # The loop is read by what comes before and after the first of two gradients.
  twice <- function(f) {
    function(x, w) {
      y <- f(x, w)
      first <- gradient(function(v) f(v, w) * y)(x)$v
      y + sum(first) * y
    }
  }
  expect_same_gradient(twice(f), twice(written_out), x = x, w = w)
  kept <- nv_checkpoint(function(x, w) f(x, w) * f(w, x))
  product <- function(x, w) written_out(x, w) * written_out(w, x)
  expect_same_gradient(kept, product, x = x, w = w)
})

test_that("states with missing values are replaced with their masks", {
  x <- nv_tensor(c(0.5, NA, 2), "f64")
  f <- function(x) {
    out <- nv_scan(x, length = 3, body = function(s, i) list(nv_tanh(s * i), s))
    sum(out$carry, na.rm = TRUE) + sum(out$ys, na.rm = TRUE)
  }
  plain <- function(x) {
    total <- 0
    for (i in 1:3) {
      total <- total + sum(x, na.rm = TRUE)
      x <- nv_tanh(x * i)
    }
    total + sum(x, na.rm = TRUE)
  }
  expect_same_gradient(f, plain, x = x)
  got <- value_and_gradient(f)(x)
  expect_identical(got$value, jit(f)(x))
  unknown <- value_and_gradient(function(x) sum(nv_for(2, x, function(i, x) x * x)))(x)
  expect_identical(as_array(unknown$value), NA_real_)
})
