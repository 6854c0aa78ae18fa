# R's own control flow in jit(): functions in plain R, compiled for tensors of dtype f64, give what
# R gives for the same doubles.

as_f64 <- function(x) if (length(x) == 1L) nv_scalar(x, "f64") else nv_tensor(x, "f64")

expect_same_as_r <- function(f, ...) {
  compiled <- jit(f)
  for (arguments in list(...)) {
    wanted <- control_values(do.call(f, arguments))
    got <- control_values(do.call(compiled, lapply(arguments, as_f64)))
    expect_identical(got, wanted)
  }
}

# ---- if ----

test_that("`if` and `else` choose values and assign variables", {
  expect_same_as_r(function(x) if (x > 0) x else -x, list(2), list(-2))
  expect_same_as_r(function(x) {
    y <- 1
    if (x > 0) y <- x
    y
  }, list(2), list(-2))
  expect_same_as_r(function(x) {
    if (x > 0) {
      y <- x * 2
      z <- 1
    } else {
      y <- 0.1
      z <- 1
    }
    y * z
  }, list(0.3), list(-2))
  expect_same_as_r(
    function(x) if (x > 2) 1 else if (x > 1) 2 else if (x > 0) 3 else 4,
    list(3), list(1.5), list(0.5), list(-1)
  )
  expect_same_as_r(function(x) 1 + (if (x > 0) 0.1 else 0.7) * x, list(2), list(-2))
  expect_same_as_r(function(x) {
    if (x[1] > x[2]) x[1] <- 10 else x[3] <- 20
    x
  }, list(c(2, 1, 0)), list(c(1, 2, 0)))
  expect_same_as_r(function(x) {
    t <- x
    if (x > 0) t <- t + 1
    if (t > 2) t <- t * 2
    if (t > 100) t <- 0
    t
  }, list(0.5), list(1.5), list(60), list(-1))
  expect_same_as_r(function(x) {
    x[NULL] <- 5
    if (x[1] > 0) x else -x
  }, list(c(1, 2)), list(c(-1, 2)))
  # A number is TRUE unless it is 0; a vector of one element is one condition.
  expect_same_as_r(function(x) if (x) 1 else 2, list(0), list(3))
  expect_same_as_r(function(x) if (x[2] > 0 && !(x[1] > 0)) 1 else 2, list(c(-1, 1)), list(c(1, 1)))
})

test_that("what one branch alone assigns is an error where it is used, and only there", {
  fine <- function(x) {
    if (x > 0) {
      t <- x * 2
      x <- t + 1
    }
    x
  }
  expect_same_as_r(fine, list(1), list(-1))
  again <- function(x) {
    if (x > 0) t <- x
    t <- 3
    t + x
  }
  expect_same_as_r(again, list(1), list(-1))
  used <- eval(parse(text = "function(x) {\n  if (x > 0) t <- x\n  t\n}", keep.source = TRUE))
  error <- expect_error(jit(used)(as_f64(1)), class = "joist_trace_error")
  expect_s3_class(error, "joist_value_error")
  for (part in c("`t`", "`if (x > 0)`", "TRUE", "line 2")) {
    expect_match(conditionMessage(error), part, fixed = TRUE)
  }
  expect_identical(conditionCall(error)[[1L]], quote(`if`))
  other <- function(x) if (x > 0) NULL else t <- x
  expect_error(jit(function(x) {
    if (x > 0) NULL else t <- x
    t
  })(as_f64(1)), "`t` has a value only if .* is FALSE", class = "joist_trace_error")
})

test_that("branches merge nested lists", {
  expect_same_as_r(function(x) {
    s <- list(a = 1, b = list(c = c(1, 2), d = 0.5))
    if (x > 0) s$b$c[2] <- x else s$a <- x
    s
  }, list(2), list(-2))
  expect_same_as_r(function(x) {
    s <- if (x > 0) list(x, y = 2) else list(0.1, y = 2)
    s[[1]] + s$y
  }, list(2), list(-2))
  # What is the same in both branches remains an R value.
  f <- function(x) {
    config <- list(n = 3, scale = 1)
    if (x > 0) config$scale <- x
    for (k in seq_len(config$n)) x <- x * config$scale
    x
  }
  expect_same_as_r(f, list(2), list(-2))
})

# ---- && and || ----

test_that("`&&` and `||` compute their right side where it is needed", {
  expect_same_as_r(
    function(x, y) if (x > 0 && y > 0) 1 else 2, list(1, 1), list(1, -1), list(-1, 1)
  )
  expect_same_as_r(
    function(x, y) if (x > 0 || y > 0) 1 else 2, list(1, 1), list(1, -1), list(-1, -1)
  )
  expect_same_as_r(function(x, y) {
    n <- 0
    if (x > 0 && {
      n <- n + 1
      y > 0
    }) n <- n + 10
    n
  }, list(1, 1), list(1, -1), list(-1, 1))
  divides <- jit(function(x, y) if (y != 0L && x %/% y > 1L) 1L else 0L)
  expect_identical(as_array(divides(nv_scalar(6L, "i32"), nv_scalar(0L, "i32"))), 0L)
  expect_identical(as_array(divides(nv_scalar(6L, "i32"), nv_scalar(2L, "i32"))), 1L)
  inside <- jit(function(x, k) if (k > 3L || x[k] > 2) 1 else 0)
  x <- nv_tensor(c(1, 5, 1), "f64")
  expect_identical(as_array(inside(x, nv_scalar(9L))), 1)
  expect_identical(as_array(inside(x, nv_scalar(2L))), 1)
  expect_identical(as_array(inside(x, nv_scalar(3L))), 0)
  # R values on one side.
  expect_same_as_r(function(x) if (TRUE && x > 0) 1 else 2, list(1), list(-1))
  expect_same_as_r(function(x) if (x > 0 || FALSE) 1 else 2, list(1), list(-1))
  expect_identical(as_array(jit(function(x) if (FALSE && x[[9]] > 0) 1 else 2)(x)), 2)
})

# ---- while and repeat ----

test_that("`while` runs as often as a traced condition says", {
  expect_same_as_r(function(x) {
    while (x < 10) x <- x * 2
    x
  }, list(1), list(11))
  expect_same_as_r(function(x) {
    s <- 0
    while (s < 3) s <- s + x
    s
  }, list(0.3), list(7))
  expect_same_as_r(function(n) {
    steps <- 0
    while (n != 1) {
      n <- if (n %% 2 == 0) n / 2 else 3 * n + 1
      steps <- steps + 1
    }
    steps
  }, list(27), list(1), list(97))
  expect_same_as_r(function(a, b) {
    while (b != 0) {
      r <- a %% b
      a <- b
      b <- r
    }
    a
  }, list(1071, 462), list(5, 0))
  expect_same_as_r(function(x) {
    k <- 0
    while ((d <- x - k) > 0.5) k <- k + 1
    c(k, d)
  }, list(3.2), list(0.1))
  expect_same_as_r(function(x, n) {
    r <- 1
    while (n > 0) {
      if (n %% 2 == 1) r <- r * x
      x <- x * x
      n <- n %/% 2
    }
    r
  }, list(1.5, 13), list(2, 0))
  expect_same_as_r(function(x) {
    while (TRUE) {
      x <- x / 2
      if (x < 1) return(x)
    }
  }, list(100), list(0.5))
})

test_that("`repeat` ends by `break`", {
  expect_same_as_r(function(x) {
    repeat {
      new <- x - (x * x - 2) / (2 * x)
      if (abs(new - x) < 1e-12) break
      x <- new
    }
    new
  }, list(1), list(30))
  expect_same_as_r(function(x) {
    k <- 0
    repeat {
      k <- k + 1
      if (k > 5) break
      if (x > 100) break
      x <- x * 3
    }
    c(k, x)
  }, list(1), list(50))
  expect_same_as_r(function(x) {
    k <- 0
    total <- 0
    repeat {
      k <- k + 1
      if (k %% 2 == 0) next
      if (total > x) break
      total <- total + k
    }
    c(k, total)
  }, list(10), list(-1))
  expect_same_as_r(function(lo, hi) {
    f <- function(x) x^3 - x - 2
    while (hi - lo > 1e-10) {
      mid <- (lo + hi) / 2
      if (f(mid) * f(lo) > 0) lo <- mid else hi <- mid
    }
    (lo + hi) / 2
  }, list(1, 2))
})

# ---- for ----

test_that("`for` goes over the elements of a tensor", { # nolint: cyclocomp_linter.
  expect_same_as_r(function(x) {
    s <- 0
    for (e in x) s <- s + e
    s
  }, list(c(1, 2, 3.5)))
  expect_same_as_r(function(x) {
    s <- 0
    for (e in x) {
      if (e < 0) next
      if (e > 10) break
      s <- s + e
    }
    c(s, e)
  }, list(c(1, -2, 3.5, 11, 5)), list(c(1, 2, 3, 4, 5)))
  expect_same_as_r(function(x) {
    for (e in x) last <- e * 2
    c(last, e)
  }, list(c(1, 2, 3)))
  expect_same_as_r(function(m) {
    s <- 0
    for (e in m) s <- s * 0.5 + e
    s
  }, list(matrix(1:6 + 0, 2)))
  expect_same_as_r(function(x) {
    best <- -Inf
    at <- 0
    k <- 0
    for (e in x) {
      k <- k + 1
      if (e > best) {
        best <- e
        at <- k
      }
    }
    c(best, at)
  }, list(c(3, 7, 2)), list(c(9, 7, 2)))
  expect_same_as_r(function(x) {
    for (e in x) for (g in x) if (g * e > 5) return(c(e, g))
    c(-1, -1)
  }, list(c(1, 2, 3.5, 11)), list(c(1, 1, 1)))
  # The first iteration gives the variable its type.
  expect_same_as_r(function(x) {
    best <- NULL
    for (e in x) if (is.null(best) || e > best) best <- e
    best
  }, list(c(3, 7, 2)), list(c(8, 7, 2)))
  expect_same_as_r(function(x) {
    last <- NULL
    for (e in x) {
      if (is.null(last)) last <- e
      if (e > last * 2) break
      last <- e
    }
    last
  }, list(c(3, 7, 2)), list(c(3, 5, 2)))
})

test_that("`for` over a sequence of joist has i32 numbers and records its body once", {
  f <- jit(function(x) {
    out <- numeric(5)
    for (t in nv_seq_len(5)) out[t] <- x * t
    out
  })
  expect_identical(as_array(f(as_f64(0.3))), 0.3 * 1:5)
  ops <- as.data.frame(program(f))$op
  expect_identical(sum(ops == "scan"), 1L)
  g <- jit(function(x) {
    for (i in nv_seq(2, 4)) x <- x + i
    list(x, i)
  })
  out <- g(as_f64(0.5))
  expect_identical(as_array(out[[1L]]), 9.5)
  expect_identical(as_array(out[[2L]]), 4L)
  expect_identical(format(dtype(out[[2L]])), "i32")
  # No iteration leaves variables, the loop's own included, as they were.
  none <- jit(function(x) {
    i <- 7
    for (i in nv_seq_len(0)) x <- x + i
    x + i
  })
  expect_identical(as_array(none(as_f64(1))), 8)
})

test_that("`for` counts to a traced number", {
  expect_same_as_r(function(n) {
    s <- 0
    for (i in seq_len(n)) s <- s + i * i
    s
  }, list(5), list(1), list(0), list(2.7))
  expect_same_as_r(function(n) {
    s <- 0
    for (i in 1:n) s <- s * 0.5 + i
    c(s, i)
  }, list(5), list(1), list(0), list(-3), list(2.7))
  expect_same_as_r(function(a, b) {
    s <- 0
    for (i in a:b) {
      if (i == 3) next
      if (s > 20) break
      s <- s + i
    }
    c(s, i)
  }, list(1, 5), list(5, 1), list(2.5, 9), list(7, 7), list(0.5, -4))
  expect_same_as_r(function(n, x) {
    for (i in seq_len(n)) {
      x <- x / 2
      if (x < 1) return(c(x, i))
    }
    c(x, 0)
  }, list(3, 100), list(30, 100), list(0, 7))
  expect_same_as_r(function(n, m) {
    out <- numeric(4)
    for (i in seq_len(n)) for (j in i:m) out[i] <- out[i] + j * i
    out
  }, list(3, 4), list(4, 2))
})

test_that("nested loops count to traced numbers, in i32 where nv_seq_len() does", {
  expect_same_as_r(function(n) {
    found <- 0
    for (i in 2:n) {
      prime <- TRUE
      for (j in seq_len(i)) if (j > 1 && j < i && i %% j == 0) prime <- FALSE
      if (prime) found <- found + 1
    }
    found
  }, list(20), list(3))
  f <- jit(function(n) {
    i <- 9L
    s <- 0L
    for (i in nv_seq_len(n)) s <- s + i
    list(s, i)
  })
  expect_identical(lapply(f(nv_scalar(4L)), as_array), list(10L, 4L))
  expect_identical(lapply(f(nv_scalar(0L)), as_array), list(0L, 9L))
  expect_identical(format(dtype(f(nv_scalar(4L, "i8"))[[2L]])), "i32")
  expect_identical(sum(as.data.frame(program(f))$op == "while"), 1L)
})

test_that("a random walk assigns to a traced position", {
  walk <- function(x, e, positions) {
    for (t in positions) x[t] <- if (t > 1) x[t - 1] + e[t] else e[t]
    x
  }
  e <- c(1, -1, 2, 3, -2, 1)
  expect_identical(
    as_array(jit(function(x, e) walk(x, e, nv_seq_len(6)))(as_f64(numeric(6)), as_f64(e))),
    cumsum(e)
  )
})

test_that("R vectors and conditions are R's, and unrolled", {
  f <- jit(function(x) {
    for (k in 1:3) x <- x * k
    for (name in c("a", "b")) if (name == "b") x <- x + 1
    for (part in list(1, "text")) if (is.character(part)) x <- x * 2
    while (FALSE) x <- x * 100
    x
  })
  expect_identical(as_array(f(as_f64(2))), 26)
  expect_false(any(c("for", "scan", "while", "if") %in% as.data.frame(program(f))$op))
  expect_same_as_r(function(x) {
    for (i in 1:20) {
      step <- (x * x * x - 5) / (3 * x * x)
      x <- x - step
      if (abs(step) < 1e-9) break
    }
    c(x, i)
  }, list(2), list(50))
  expect_same_as_r(function(x) {
    for (i in 1:5) {
      if (x > 10) return(c(i, x))
      if (x < 0) next
      x <- x * 2
    }
    c(-1, x)
  }, list(1), list(0.1), list(20), list(-1))
})

# ---- functions ----

test_that("return() ends the function from within branches and loops", {
  expect_same_as_r(function(x) {
    if (x > 3) return(1)
    y <- x * 2
    if (y > 3) return(y)
    -y
  }, list(5), list(2), list(1))
  expect_same_as_r(function(x) {
    if (x > 0) {
      if (x > 10) return(list(0.1, 1))
      x <- x + 1
    } else {
      x <- -x
    }
    list(x, 2)
  }, list(20), list(3), list(-3))
  expect_same_as_r(function(x) {
    for (e in x) {
      k <- 0
      while (k < e) {
        k <- k + 1
        if (k * e > 11) return(c(k, e))
      }
    }
    c(0, 0)
  }, list(c(1, 2, 3, 4)), list(c(1, 1, 2, 1)))
  expect_same_as_r(function(x) return(if (x > 1) 2 else 3), list(1), list(2))
})

test_that("functions of the user are treated the same, however they are called", {
  home <- new.env(parent = globalenv())
  code <- function(text) eval(parse(text = text), home)
  home$clamp <- code("function(x, lo = 0, hi = 1) {
    if (x < lo) return(lo)
    if (x > hi) return(hi)
    x
  }")
  home$fact <- code("function(n, x) if (n == 0) x else if (x > 100) x else fact(n - 1, x * n)")
  home$area <- code("function(shape, x) UseMethod('area')")
  home$area.square <- code("function(shape, x) if (x > 0) x * x else 0 * x")
  home$bisect <- code("function(f, lo, hi) {
    while (hi - lo > 1e-8) {
      mid <- (lo + hi) / 2
      if (f(lo) * f(mid) <= 0) hi <- mid else lo <- mid
    }
    lo
  }")
  expect_same_as_r(code("function(x) clamp(x) + clamp(hi = 3, x)"), list(-1), list(0.5), list(9))
  expect_same_as_r(code("function(x) {
    for (i in seq_along(x)) x[i] <- clamp(x[i])
    x
  }"), list(c(-1, 0.5, 2)))
  expect_same_as_r(code("function(x) fact(4, x)"), list(1), list(3))
  expect_same_as_r(
    code("function(x) area(structure(list(), class = 'square'), x)"), list(2), list(-2)
  )
  expect_same_as_r(code("function(a) bisect(function(x) x * x - a, 0, 10)"), list(7))
  expect_same_as_r(code("function(x) {
    fs <- list(clamp, function(y) if (y > 1) 1 else y)
    fs[[1]](x) + fs[[2]](x) + do.call(clamp, list(x)) + do.call('clamp', list(x, hi = 2))
  }"), list(-1), list(0.5), list(9))
  expect_same_as_r(
    code("function(x) Reduce(function(a, b) if (b > a) b else a, list(x[1], x[2], x[3]))"),
    list(c(1, 3, 2))
  )
  expect_same_as_r(code("function(x) {
    parts <- lapply(1:3, function(k) if (x > k) x * k else x)
    parts[[1]] + parts[[2]] * parts[[3]]
  }"), list(2.5), list(0))
  static <- jit(function(f, x) f(x), static = "f")
  expect_identical(as_array(static(home$clamp, as_f64(5))), 1)
  expect_identical(as_array(static(function(y) if (y > 9) 1 else 2, as_f64(5))), 2)
})

test_that("arguments, defaults, missing(), `...`, on.exit() and Recall() are R's", {
  expect_same_as_r(function(x, y = if (x > 0) x else 1) x + y, list(2), list(-2), list(2, 3))
  expect_same_as_r(function(x, y) if (missing(y)) x else x + y, list(2), list(2, 3))
  f <- function(...) {
    parts <- list(...)
    if (..1 > 0) return(parts[[1]] * ...length())
    parts[[2]]
  }
  expect_same_as_r(f, list(2, 3), list(-2, 3))
  expect_same_as_r(function(x) {
    g <- function(n, y) if (n == 0) y else Recall(n - 1, y * 2)
    g(3, x)
  }, list(1.5))
  notes <- character()
  g <- jit(function(x) {
    on.exit(notes <<- c(notes, "left"))
    if (x > 0) return(x)
    -x
  })
  expect_identical(as_array(g(as_f64(-3))), 3)
  expect_identical(notes, "left")
  expect_same_as_r(function(x) {
    y <- tryCatch(if (x > 0) x else -x, error = function(e) 100)
    z <- switch("b", a = 1, b = if (y > 1) 2 else 3)
    suppressWarnings(if (y > z) y else z)
  }, list(5), list(1), list(-0.5))
  # An argument that nothing has looked at yet.
  late <- function(x, y) {
    z <- if (x > 0) y else x
    z + y
  }
  expect_same_as_r(function(x) late(x, x * 3), list(1), list(-1))
})

test_that("`<<-` assigns variables of the traced functions around", {
  expect_same_as_r(function(x) {
    total <- 0
    add <- function(v) if (v > 1) total <<- total + v
    for (k in 1:3) add(x * k)
    total
  }, list(0.5), list(2))
  expect_same_as_r(function(x) {
    total <- 0
    sapply(1:3, function(k) {
      total <<- total + k
      NULL
    })
    if (x > 0) lapply(1:2, function(k) total <<- total * x)
    total
  }, list(0.5), list(-2))
  home <- new.env(parent = globalenv())
  f <- eval(quote(function(x) if (x > 0) kept <<- x else x), home)
  expect_error(jit(f)(as_f64(1)), "`kept` is outside of the traced", class = "joist_trace_error")
})

# ---- algorithms ----

test_that("algorithms give what they give in R", { # nolint: cyclocomp_linter.
  expect_same_as_r(function(a, b) {
    out <- numeric(length(a) + length(b) - 1)
    for (i in seq_along(a)) for (j in seq_along(b)) {
      out[i + j - 1] <- out[i + j - 1] + a[i] * b[j]
    }
    out
  }, list(c(1, 2, 3), c(0.5, 1, 2, 1)))
  convolve <- jit(function(a, b) {
    out <- numeric(6)
    for (i in nv_seq_len(3)) for (j in nv_seq_len(4)) {
      out[i + j - 1L] <- out[i + j - 1L] + a[i] * b[j]
    }
    out
  })
  a <- c(1, 2, 3)
  b <- c(0.5, 1, 2, 1)
  wanted <- round(stats::convolve(a, rev(b), type = "open"), 9)
  expect_identical(as_array(convolve(as_f64(a), as_f64(b))), wanted)
  mandel <- function(re, im) {
    x <- 0
    y <- 0
    n <- 0
    for (k in 1:30) {
      if (x * x + y * y > 4) break
      t <- x * x - y * y + re
      y <- 2 * x * y + im
      x <- t
      n <- n + 1
    }
    n
  }
  expect_same_as_r(mandel, list(-0.5, 0.5), list(0.5, 0.5), list(2, 2))
  expect_same_as_r(function(n) {
    a <- 0
    b <- 1
    k <- 0
    while (k < n) {
      t <- a + b
      a <- b
      b <- t
      k <- k + 1
    }
    a
  }, list(30), list(0))
  expect_same_as_r(function(x) {
    n <- length(x)
    repeat {
      swapped <- FALSE
      for (i in seq_len(n - 1)) {
        if (x[i] > x[i + 1]) {
          t <- x[i]
          x[i] <- x[i + 1]
          x[i + 1] <- t
          swapped <- TRUE
        }
      }
      if (!swapped) break
    }
    x
  }, list(c(5, 2, 9, 1, 3)), list(c(1, 2, 3, 4, 5)))
  expect_same_as_r(function(x) {
    count <- 0
    for (k in x) {
      prime <- k > 1
      d <- 2
      while (d * d <= k) {
        if (k %% d == 0) {
          prime <- FALSE
          break
        }
        d <- d + 1
      }
      if (prime) count <- count + 1
    }
    count
  }, list(1:30 + 0))
  life <- function(b) {
    n <- nrow(b)
    new <- b
    for (i in 1:n) for (j in 1:n) {
      s <- 0
      for (di in -1:1) for (dj in -1:1) if (di != 0 || dj != 0) {
        row <- i + di
        column <- j + dj
        if (row >= 1 && row <= n && column >= 1 && column <= n) s <- s + b[row, column]
      }
      new[i, j] <- if (b[i, j] == 1 && (s == 2 || s == 3) || b[i, j] == 0 && s == 3) 1 else 0
    }
    new
  }
  board <- matrix(0, 4, 4)
  board[2, 2:4] <- 1
  expect_same_as_r(life, list(board))
  viterbi <- function(start, move, emit) {
    n <- ncol(emit)
    m <- nrow(emit)
    score <- matrix(0, m, n)
    back <- matrix(0, m, n)
    for (s in 1:m) score[s, 1] <- start[s] + emit[s, 1]
    for (t in 2:n) for (s in 1:m) {
      best <- -Inf
      from <- 0
      for (r in 1:m) {
        v <- score[r, t - 1] + move[r, s]
        if (v > best) {
          best <- v
          from <- r
        }
      }
      score[s, t] <- best + emit[s, t]
      back[s, t] <- from
    }
    path <- numeric(n)
    best <- -Inf
    for (s in 1:m) if (score[s, n] > best) {
      best <- score[s, n]
      path[n] <- s
    }
    for (t in (n - 1):1) path[t] <- back[path[t + 1], t + 1]
    list(path, score)
  }
  set.seed(1)
  expect_same_as_r(
    viterbi, list(round(runif(3), 2), matrix(round(runif(9), 2), 3), matrix(round(runif(15), 2), 3))
  )
})

test_that("random functions give what they give in R, to the bit", {
  for (seed in 1:60) expect_null(control_difference(seed, 2L))
})

# ---- carries ----

test_that("R numbers become carries of the dtype that the body gives, and stay exact", {
  sum_of <- function(x) {
    s <- 0
    for (e in x) s <- s + e
    s
  }
  for (dtype in c("f16", "f32", "f64")) {
    expect_identical(format(dtype(jit(sum_of)(nv_tensor(c(1, 2), dtype)))), dtype)
  }
  halves <- function(n) {
    s <- 0.1
    while (n > 0) {
      s <- s * 0.3
      n <- n - 1
    }
    s
  }
  expect_same_as_r(halves, list(3), list(0))
  counter <- jit(function(x) {
    k <- 0L
    while (x > 1) {
      x <- x / 2
      k <- k + 1L
    }
    k
  })
  out <- counter(as_f64(100))
  expect_identical(as_array(out), 7L)
  expect_identical(type_text(out), "i32?")
  # A scalar and a vector of one element are the same carry.
  expect_same_as_r(function(x) {
    m <- x[1]
    s <- 0
    for (i in seq_along(x)) if (x[i] > m) m <- x[i]
    for (e in x) m <- m + x[1] * e
    m
  }, list(c(1, 5, 2)))
  # A temporary may have any type.
  expect_same_as_r(function(x) {
    d <- "text"
    while (x < 10) {
      d <- x * 2
      x <- x + d
    }
    x
  }, list(1), list(20))
  expect_same_as_r(function(x) {
    s <- list(top = 0, sum = 0, last = c(0, 0, 0))
    for (e in x) {
      s$top <- e
      s$sum <- s$sum + e
      s$last <- c(s$last[2:3], e)
    }
    s
  }, list(c(1, 2, 3, 4)))
})

test_that("missing values may come and go in a loop", {
  f <- jit(function(x) {
    last <- 0
    for (e in x) last <- e
    last
  })
  expect_identical(as_array(f(nv_tensor(c(1, NA), "f64"))), NA_real_)
  expect_error(
    jit(function(x) if (x > 0) 1 else 2)(nv_tensor(NA, "f64", integer())),
    "missing value where TRUE/FALSE needed"
  )
})

# ---- errors ----

line_error <- function(lines, ..., class = "joist_trace_error") {
  f <- eval(parse(text = lines, keep.source = TRUE), new.env(parent = globalenv()))
  expect_error(jit(f)(...), class = class)
}

test_that("what changes its type in a loop is an error with the variable and the line", {
  cases <- list(
    list("x <- c(x, x)", "`x` has shape {} before and {2} after", "joist_shape_error"),
    list("x <- nv_convert(x, \"f32\")", "`x` is f64 before and f32 after", "joist_promotion_error"),
    list("x <- \"text\"", "`x` is f64{} before and of class character after", "joist_value_error"),
    list("x <- list(x)", "`x` is f64{} before and a list of 1 after", "joist_value_error")
  )
  for (case in cases) {
    lines <- c("function(x, y) {", "  y <- y * 2", "  while (sum(y) < 9) {", "    y <- y + x",
      paste0("    ", case[[1L]]), "  }", "  y", "}"
    )
    error <- line_error(lines, as_f64(1), as_f64(1), class = case[[3L]])
    expect_s3_class(error, "joist_trace_error")
    for (part in c(case[[2L]], "`while (sum(y) < 9)`", "line 3")) {
      expect_match(conditionMessage(error), part, fixed = TRUE)
    }
    expect_identical(conditionCall(error)[[1L]], quote(`while`))
  }
  # Without its source the function is named by its code.
  f <- eval(parse(text = "function(x) { while (x < 3) x <- c(x, 1)\n x }", keep.source = FALSE))
  error <- expect_error(jit(f)(as_f64(1)), class = "joist_trace_error")
  expect_no_match(conditionMessage(error), "line")
  expect_match(conditionMessage(error), "`while (x < 3)`", fixed = TRUE)
})

test_that("conditions that are not one TRUE or FALSE are errors with the line", {
  for (code in c("if (x > 0) 1 else 2", "while (x > 0) x <- 1", "x > 0 && TRUE", "x > 0 || TRUE")) {
    error <- line_error(c("function(x) {", "  x <- x + 1", code, "}"), as_f64(c(1, 2)))
    expect_s3_class(error, "joist_value_error")
    for (part in c("{2}", "line 3", "any()")) {
      expect_match(conditionMessage(error), part, fixed = TRUE)
    }
  }
  # Errors of R values are R's.
  expect_error(jit(function(x) if (NULL) x)(as_f64(1)), "length zero")
  error <- expect_error(jit(function(x) if (NA) x)(as_f64(1)), "missing value")
  expect_identical(conditionCall(error), quote(if (NA) x))
})

test_that("branches without a common value are errors where the value is used", {
  error <- line_error(
    c("function(x) {", "  y <- if (x > 0) c(1, 2) else 1:3", "  y", "}"), as_f64(1)
  )
  expect_match(conditionMessage(error), "shape {2} if TRUE and {3} if FALSE", fixed = TRUE)
  expect_match(conditionMessage(error), "line 2", fixed = TRUE)
  error <- line_error(c("function(x) {", "  if (x > 0) x", "}"), as_f64(1))
  expect_match(conditionMessage(error), "add `else`", fixed = TRUE)
  error <- line_error(
    c("function(x) {", "  y <- 1", "  if (x > 0) y <- \"a\"", "  y", "}"), as_f64(1)
  )
  expect_match(conditionMessage(error), "`y` is of class character if TRUE", fixed = TRUE)
  expect_match(conditionMessage(error), "line 3", fixed = TRUE)
  # A value that nothing uses need not be one.
  expect_same_as_r(function(x) {
    if (x > 0) "text" else c(1, 2)
    x
  }, list(1))
})

test_that("a variable of an iteration is an error after a loop that had none", {
  code <- c("function(x) {", "  while (x < 3) {", "    v <- x", "    x <- x + 1", "  }", "  v", "}")
  f <- eval(parse(text = code, keep.source = TRUE), new.env(parent = globalenv()))
  compiled <- jit(f)
  expect_identical(as_array(compiled(as_f64(1))), f(1))
  error <- expect_error(compiled(as_f64(5)), class = "joist_value_error")
  for (part in c("`v`", "`while (x < 3)`", "line 2", "assign `v` before")) {
    expect_match(conditionMessage(error), part, fixed = TRUE)
  }
  # Text is not carried.
  error <- line_error(sub("v <- x", "v <- \"x\"", code), as_f64(1))
  for (part in c("`v`", "`while (x < 3)`", "line 2", "assign it before")) {
    expect_match(conditionMessage(error), part, fixed = TRUE)
  }
  for (native in c("never", "wait")) {
    compiled <- jit(function(n, x) {
      for (i in seq_len(n)) {
        while (x < 3 * i) {
          v <- list(a = x, b = c(x, i))
          x <- x + 1
        }
        x <- x - v$a + v$b[2]
      }
      x
    }, native = native)
    expect_identical(as_array(compiled(as_f64(2), as_f64(0))), 3)
    expect_error(compiled(as_f64(2), as_f64(5)), "`v` has no value", class = "joist_value_error")
  }
  # A variable that is not read afterwards does not need an iteration.
  unused <- jit(function(x) {
    while (x < 3) {
      v <- x
      x <- x + 1
    }
    list(x, if (FALSE) v)
  })
  expect_identical(as_array(unused(as_f64(5))[[1L]]), 5)
})

test_that("a later loop may assign what an earlier one has left without a value", {
  expect_same_as_r(function(x, y) {
    while (x < 3) {
      v <- x
      x <- x + 1
    }
    while (y < 3) {
      v <- y * 2
      y <- y + v + 1
    }
    list(x, y, v)
  }, list(0, 0), list(5, 0))
  # The second loop reads what the first one has assigned.
  expect_same_as_r(function(x, y) {
    while (x < 3) {
      v <- x
      x <- x + 1
    }
    while (y < 3) {
      y <- y + v + 1
      v <- y * 2
    }
    list(x, y, v)
  }, list(0, 0), list(0, 5))
})

test_that("bounds of `for` that are not one number are errors with the line", {
  loop <- function(values) {
    c("function(n) {", "  s <- 0", sprintf("  for (i in %s) s <- s + i", values), "  s", "}")
  }
  for (values in c("nv_seq_len(n)", "seq_len(n)", "1:n", "n:3")) {
    error <- line_error(loop(values), nv_tensor(1:2), class = "joist_shape_error")
    for (part in c("line 3", values, "{2}")) {
      expect_match(conditionMessage(error), part, fixed = TRUE)
    }
    line_error(loop(values), nv_scalar(1i), class = "joist_dtype_error")
    line_error(loop(values), nv_scalar(NA, "f64"))
  }
  expect_error(jit(function(n) {
    if (n > 2) n <- 2
    seq_len(n)
  })(as_f64(1)), "`n` decides about a shape", class = "joist_value_error")
  negative <- jit(function(n) {
    for (i in seq_len(n)) n <- n + i
    n
  })
  expect_identical(as_array(negative(as_f64(0))), 0)
  expect_error(negative(as_f64(-1)), "is negative", class = "joist_value_error")
  expect_error(jit(gradient(function(x) {
    for (i in 1:x) x <- x * i
    x
  }))(as_f64(3)), "seq_len", class = "joist_value_error")
})

test_that("what cannot depend on a traced condition is an error that says so", {
  error <- line_error(c("function(x) {", "  switch(x, 1, 2)", "}"), as_f64(1))
  expect_match(conditionMessage(error), "switch\\(\\).*line 2")
  error <- line_error(c("function(x) {", "  if (x > 0) on.exit(NULL)", "  x", "}"), as_f64(1))
  expect_match(conditionMessage(error), "on.exit\\(\\).*line 2")
  error <- line_error(
    c("function(x) {", "  y <- 1 + (if (x > 0) return(2) else 3)", "  y", "}"), as_f64(1)
  )
  expect_match(conditionMessage(error), "part of an expression.*line 2")
  error <- line_error(
    c("f <- function(n) if (n < 1) n else f(n - 1)", "function(n) f(n)"), as_f64(9)
  )
  expect_match(conditionMessage(error), "calls itself")
  expect_error(
    gradient(function(x) {
      while (x < 10) x <- x * x
      x
    })(as_f64(1.5)), "no derivative",
    class = "joist_value_error"
  )
})

test_that("a long unrolled loop is mentioned once", {
  f <- jit(function(x) {
    for (k in 1:600) x <- x * 0.5 + k
    for (k in 1:600) x <- x * 0.5 + k
    x
  })
  messages <- list()
  count <- function(expr) {
    withCallingHandlers(expr, joist_unrolled_message = function(m) {
      messages <<- c(messages, list(m))
      invokeRestart("muffleMessage")
    })
  }
  count(f(as_f64(1)))
  count(f(as_f64(c(1, 2))))
  expect_length(messages, 1L)
  expect_s3_class(messages[[1L]], "joist_message")
  expect_match(conditionMessage(messages[[1L]]), "for (k in 1:600)", fixed = TRUE)
  expect_silent(jit(function(x) {
    for (k in 1:100) x <- x * 0.5 + k
    x
  })(as_f64(1)))
})

# ---- derivatives ----

test_that("gradients go through `if` and `for` over a tensor", {
  f <- function(x) {
    s <- 0
    for (e in x) s <- if (e > 1) s + e^2 else s * e + e
    s
  }
  x <- c(0.5, 2, 0.25)
  step <- 1e-6
  slopes <- vapply(1:3, function(k) {
    d <- step * (1:3 == k)
    (f(x + d) - f(x - d)) / (2 * step)
  }, 0)
  expect_equal(as_array(gradient(f)(as_f64(x))$x), slopes, tolerance = 1e-8)
  expect_equal(as_array(jit(gradient(f))(as_f64(x))$x), slopes, tolerance = 1e-8)
  power <- function(x) {
    for (i in nv_seq_len(3)) if (x > 0) x <- x * x else x <- -x
    x
  }
  expect_equal(as_array(gradient(power)(as_f64(1.1))$x), 8 * 1.1^7)
  put <- function(x) {
    out <- numeric(3)
    for (i in nv_seq_len(3)) out[i] <- x * i
    sum(out * out)
  }
  expect_equal(as_array(gradient(put)(as_f64(2))$x), 2 * 2 * 14)
})

test_that("bodies of joist's loops have R's control flow, too", {
  x <- as_f64(1)
  expect_identical(as_array(nv_for(5L, x, function(i, s) if (s > 8) s else s * 3)), 9)
  expect_identical(as_array(nv_while(
    list(s = x, n = 0), function(s, n) s < 10 && n < 100, function(s, n) {
      while (s < 5) s <- s + 1
      list(s = s * 2, n = n + 1)
    }
  )$s), 10)
  expect_identical(as_array(nv_if(x > 0, function() if (x > 2) 1 else 2, 3)), 2)
})

# ---- the function itself ----

test_that("the function keeps its source, its lines and its frame", {
  path <- tempfile(fileext = ".R")
  on.exit(unlink(path))
  writeLines(c(
    "f <- function(x) {", "  while (x < 10) {", "    x <- x * 2", "    if (x > 5) {",
    "      x <- exp(x)", "    }", "  }", "  for (k in 1) {", "    x <- sqrt(x)", "  }", "  x", "}"
  ), path)
  home <- new.env(parent = globalenv())
  source(path, local = home, keep.source = TRUE)
  text <- utils::capture.output(print(program(home$f, nv_aval("f64", integer()))))
  traced <- rewritten(home$f)
  expect_identical(attr(traced, "srcref"), attr(home$f, "srcref"))
  shown <- utils::capture.output(print(traced))[1:12]
  expect_identical(shown, sub("f <- ", "", readLines(path), fixed = TRUE))
  expect_identical(formals(traced), formals(home$f))
  table <- as.data.frame(program(home$f, nv_aval("f64", integer())))
  expect_identical(table$source[table$op == "sqrt"], paste0(basename(path), ", line 9"))
  expect_true(any(grepl("exp", text)))
  # Nothing but the traced call sees another function.
  expect_identical(home$f(3), sqrt(exp(6)))
  error <- expect_error(jit(function(x) {
    if (x > 0) y <- "a" + 1 else y <- 2
    y
  })(as_f64(1)), "non-numeric")
  expect_identical(conditionCall(error), quote("a" + 1))
})

test_that("a function that is debugged is traced, and stays debugged", {
  f <- function(x) {
    for (k in 1:3) if (x > k) x <- x * 2
    x
  }
  debug(f)
  expect_true(isdebugged(rewritten(f)))
  undebug(f)
  expect_false(isdebugged(rewritten(f)))
})

test_that("code is rewritten once, and again if the function changes", {
  home <- new.env(parent = globalenv())
  home$g <- eval(quote(function(x) if (x > 0) 1 else 2), home)
  f <- eval(quote(function(x) g(x)), home)
  expect_identical(as_array(jit(f)(as_f64(1))), 1)
  home$g <- eval(quote(function(x) if (x > 0) 3 else 4), home)
  expect_identical(as_array(jit(f)(as_f64(1))), 3)
  h <- function(x) if (x > 0) x else -x
  expect_identical(body(rewritten(h)), body(rewritten(h)))
  again <- rewritten(h)
  expect_identical(rewritten(again), again)
  # Functions of R and of joist are not rewritten.
  for (f in list(sum, stats::sd, nv_add, jit(h))) expect_identical(rewritten(f), f)
})

test_that("positions that are assigned are checked when the program runs", {
  x <- nv_tensor(matrix(1:6 + 0, 2), "f64")
  put <- jit(function(x, i, j) {
    x[i, j] <- 9
    x
  })
  wanted <- matrix(1:6 + 0, 2)
  wanted[2, 3] <- 9
  expect_identical(as_array(put(x, nv_scalar(2L), nv_scalar(3L))), wanted)
  expect_error(put(x, nv_scalar(3L), nv_scalar(1L)), "range", class = "joist_shape_error")
  expect_error(put(x, nv_scalar(0L), nv_scalar(1L)), "range", class = "joist_shape_error")
  row <- jit(function(x, i, v) {
    x[i, ] <- v
    x[[i, 1L]] <- 0
    x
  })
  wanted <- matrix(1:6 + 0, 2)
  wanted[2, ] <- c(7, 8, 9)
  wanted[2, 1] <- 0
  expect_identical(as_array(row(x, nv_scalar(2L), nv_tensor(c(7, 8, 9), "f64"))), wanted)
  some <- jit(function(x, i) {
    x[i] <- c(10, 20)
    x
  })
  expect_identical(as_array(some(nv_tensor(1:4 + 0, "f64"), nv_tensor(c(4L, 1L)))), c(20, 2, 3, 10))
})

test_that("functions that look at their first argument alone see a traced tensor behind it", {
  expect_same_as_r(function(x) max(0, x) + min(5, x, 2) + sum(1, x) + prod(2, x), list(3), list(-3))
  expect_same_as_r(function(x) {
    out <- c()
    for (k in 1:3) out <- c(out, x * k)
    c(0.1, out)
  }, list(2))
  expect_same_as_r(function(x) {
    out <- c()
    other <- numeric(0)
    for (k in 1:3) {
      out[k] <- x * k
      other[k] <- if (x > k) x else k
    }
    c(out, other)
  }, list(2))
  expect_same_as_r(function(x) range(1, x), list(3), list(0))
})

test_that("named vectors are made in branches and loops", {
  one <- nv_scalar(1)
  f <- function(x) if (x > 0) sum(c(a = x, b = 1)) else x
  expect_identical(as_array(jit(f)(one)), 2)
  expect_identical(as_array(nv_if(nv_scalar(TRUE), c(a = one), c(a = one + 1))), c(a = 1))
  g <- function(x, v) {
    for (k in nv_seq_len(2)) x <- x + quantile(v, 0.5)[[1]]
    x
  }
  expect_identical(as_array(jit(g)(one, nv_tensor(c(1, 2)))), 4)
  expect_identical(as_array(gradient(function(x) {
    if (x > 0) sum(c(a = x, b = x)^2) else x
  })(one)$x), 4)
  for (d in dtypes()) {
    x <- if (startsWith(d, "c")) nv_fill(1 + 2i, 2L, d) else rep(dtype_info(d)$max, 2L)
    made <- jit(function(x) c(a = x, b = x))(x)
    expect_identical(names(made), c("a1", "a2", "b1", "b2"), label = d)
    expect_identical(as_array(unname(made), "character"), as_array(c(x, x), "character"), label = d)
  }
})

# ---- dtypes of branches ----

test_that("branches that are joined tell which values they change", {
  x <- nv_tensor(c(1, 2))
  choose <- function(x, a, b) if (sum(x) > 0) a else b
  local_promotion(NULL, on = c(overflow = "warn", loss = "warn"))
  big <- nv_scalar("9007199254740993", "i64")
  all_ones <- nv_scalar("18446744073709551615", "ui64")
  one <- nv_scalar(-1L, "i64")
  expect_warning(jit(choose)(-x, one, all_ones), "`if`.*wraps 1 element of ui64 to i64")
  expect_warning(nv_if(nv_scalar(FALSE), one, all_ones), "wraps 1 element of ui64 to i64")
  expect_no_warning(jit(choose)(x, one, all_ones))
  expect_warning(jit(function(x, a) choose(x, a, 0.5))(x, big), "rounds 1 element of i64 to f64")
  expect_warning(nv_if(nv_scalar(TRUE), big, 0.5), "rounds 1 element of i64")
  local_promotion(NULL, on = c(overflow = "error"))
  expect_error(jit(choose)(-x, one, all_ones), class = "joist_value_error")
})

test_that("branches of one dtype keep it, under all rules", {
  choose <- function(first, a, b) if (first) a else b
  yes <- nv_scalar(TRUE)
  for (rules in promotion_rule_sets()$id) {
    for (d in c("i64", "i8", "f16", "f64")) {
      a <- nv_scalar(3, d)
      b <- nv_scalar(4, d)
      expect_identical(with_promotion(rules, jit(choose)(yes, a, b)), a, label = paste(rules, d))
      expect_identical(with_promotion(rules, nv_if(nv_scalar(FALSE), a, b)), b)
    }
  }
})

test_that("assignment in traced functions gives the dtype and flag of the plain run", {
  put <- function(y, v) {
    y[1] <- nv_reduce_max(v)
    y
  }
  row <- function(y, v) {
    y[1, , ] <- nv_reduce_max(v)
    y
  }
  expect_same_or_error <- function(f, ...) {
    made <- tryCatch(jit(f)(...), joist_promotion_error = function(e) NULL)
    if (!is.null(made)) expect_identical(made, f(...))
  }
  for (rules in c("jax", "anvil", "numpy", "torch")) {
    with_promotion(rules, for (d in c("i2", "i8", "i32", "f32")) {
      for (flags in list(c(TRUE, TRUE), c(TRUE, FALSE), c(FALSE, TRUE), c(FALSE, FALSE))) {
        y <- nv_tensor(c(0, 1, 0), d, ambiguous = flags[1L])
        v <- nv_tensor(c(1, 0), d, ambiguous = flags[2L])
        expect_same_or_error(put, y, v)
        expect_same_or_error(row, nv_reshape(y, c(1, 3, 1)), v)
      }
    })
  }
})

test_that("a bool tensor keeps its dtype in assignment, and base R's ifelse() fills others", {
  put <- function(y, v) {
    y[1] <- v
    y
  }
  y <- nv_tensor(c(TRUE, FALSE))
  for (f in list(put, jit(put))) {
    expect_identical(f(y, FALSE), nv_tensor(c(FALSE, FALSE)))
    for (v in list(5L, 0.5, nv_scalar(1L, "i8"))) {
      expect_error(f(y, v), "bool", class = "joist_promotion_error")
    }
  }
  expect_identical(as_array(ifelse(y, nv_tensor(c(5, 6)), 0.5)), c(5, 0.5))
})

# ---- messages ----

test_that("lists of two branches that differ by names or attributes are told apart", {
  x <- nv_tensor(c(1, 2))
  named <- jit(function(x) {
    if (sum(x) > 0) l <- list(1, x) else l <- list(a = 1, b = x)
    l
  })
  expect_error(
    named(x), "a list of 2 without names if TRUE and a list of 2 with the names `a`, `b` if FALSE",
    class = "joist_trace_error"
  )
  marked <- jit(function(x) {
    if (sum(x) > 0) l <- list(1, x) else l <- structure(list(1, x), unit = "m")
    l
  })
  expect_error(
    marked(x), "without attributes if TRUE and a list of 2 with the attributes `unit` if FALSE",
    class = "joist_trace_error"
  )
})

# ---- growth ----

test_that("long loops of R are traced in linear time", {
  x <- nv_scalar(1, "f64")
  seconds <- function(f, n) {
    compiled <- jit(f, static = "n")
    system.time(suppressMessages(compiled(x, n)))[["elapsed"]]
  }
  numbers <- function(x, n) {
    for (i in seq_len(n)) x <- x * 0.5 + i
    x
  }
  kept <- function(x, n) {
    l <- list()
    for (i in seq_len(n)) l[[i]] <- x * i
    l[[n]]
  }
  for (f in list(numbers, kept)) {
    ratios <- vapply(1:3, function(k) seconds(f, 20000L) / seconds(f, 2000L), 0)
    # 10 and what the garbage collector adds; 50 to 130 where each iteration looked at all others.
    expect_lt(min(ratios), 20)
  }
})

test_that("NULL becomes a list where a traced value is assigned by a name", {
  by_name <- function(s) {
    e <- new.env()
    e$w[["a"]] <- s
    l <- NULL
    l[["b"]] <- s
    name <- "c"
    l[[name]] <- 2 * s
    c(e$w, l)
  }
  x <- nv_scalar(2, "f64")
  expect_identical(lapply(jit(by_name)(x), as.vector), lapply(by_name(x), as.vector))
})
