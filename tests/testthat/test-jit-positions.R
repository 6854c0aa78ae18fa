# Elements of R vectors and lists at traced positions are those of the plain run.

x <- nv_tensor(c(1, 2, 3), "f64")
n <- nv_scalar(3L, "i32")
w <- c(0.1, 20, 30)
m <- matrix(c(1, 2, 3, 4, 5, 6), 2L)

expect_plain <- function(f, ...) {
  expect_identical(traced_text(jit(f)(...)), traced_text(f(...)), label = deparse1(body(f)))
}

test_that("a counter chooses elements of R vectors as in the plain run", {
  for (w in list(w, 1:3, c(TRUE, FALSE, TRUE), c(1, NA, 3), 1e17 + c(0, 16, 32), NULL)) {
    f <- function(n) {
      s <- 0
      for (k in seq_len(n)) s <- s + sum(w[k])
      s
    }
    if (is.null(w)) {
      expect_error(jit(f)(n), "`w[k]`", fixed = TRUE, class = "joist_error")
      next
    }
    expect_plain(f, n)
    g <- function(n) {
      s <- 0
      for (k in seq_len(n)) s <- s + w[[k]]
      s
    }
    expect_plain(g, n)
  }
})

test_that("a position that a branch decides chooses as in the plain run", {
  for (at in list(2, 3L, 2.7, 1)) {
    f <- function(x) {
      k <- 1
      if (sum(x) > 1) k <- at
      w[k]
    }
    expect_plain(f, x)
  }
  expect_plain(function(x) w[which.max(x)], x)
  expect_plain(function(i) w[i] * 2, nv_tensor(c(3L, 1L)))
  expect_plain(function(i) w[i + 1L], nv_tensor(c(2L, 1L)))
  expect_plain(function(x) {
    k <- 1L
    if (sum(x) > 1) k <- 2L
    list(m[k, 2], sum(m[k, ]), m[[k, 3]], m[2, k])
  }, x)
})

test_that("an element out of range is an error of the program that nothing else uses", {
  for (tab in list(w, list(1, 2, 3), list(c(1, 2), c(3, 4), c(5, 6)))) {
    f <- function(at) {
      function(x) {
        k <- 1
        if (sum(x) > 1) k <- at
        tab[[k]]
        sum(x^2)
      }
    }
    expect_plain(f(3), x)
    for (at in c(4, 0)) {
      expect_error(f(at)(x))
      for (compiled in list(jit(f(at)), gradient(f(at)))) {
        expect_error(
          compiled(x), "`tab[[k]]`: a position is not one of 1 to 3",
          fixed = TRUE, class = "joist_value_error"
        )
      }
    }
    loop <- function(x, n) {
      for (k in seq_len(n)) tab[[k]]
      sum(x)
    }
    expect_plain(loop, x, n)
    expect_error(loop(x, 4L))
    expect_error(jit(loop)(x, 4L), "`tab[[k]]`", fixed = TRUE, class = "joist_value_error")
    expect_equal(
      as_array(nv_vmap(f(3))(nv_tensor(rbind(1:3, 4:6), "f64"))), rowSums(rbind(1:3, 4:6)^2)
    )
  }
})

test_that("an element out of range that decides an unused `if` is an error", {
  f <- function(at) {
    function(x) {
      k <- 1
      if (sum(x) > 1) k <- at
      unused <- if (w[k] > 1) x
      sum(x)
    }
  }
  expect_plain(f(3), x)
  expect_error(f(4)(x), "missing value")
  expect_error(jit(f(4))(x), "`w[k]`", fixed = TRUE, class = "joist_value_error")
})

test_that("one chosen number fits arrays of any rank", {
  y <- nv_tensor(matrix(1:6, 2L), "f64")
  expect_plain(function(x, y) list(y * w[which.max(x)], y + m[2, which.min(x)]), x, y)
  tables <- list(c(1, 2, 3), c(4, 5, 6), c(7, 8, 9))
  expect_plain(function(x, y) y * tables[[which.max(x)]][which.min(x)], x, y)
  expect_plain(function(x, y) {
    k <- c(1, 2)
    if (sum(x) > 1) k <- k * 2
    list(y * k[1], y + k[[2]], k[2:1])
  }, x, y)
  expect_plain(function(x, y) y * sapply(list(x), max) + unlist(list(sum(x))), x, y)
})

test_that("R flags at a traced position are flags", {
  flags <- c(TRUE, FALSE, NA)
  f <- function(n) {
    s <- 0L
    for (k in seq_len(n)) if (flags[k]) s <- s + 1L
    s
  }
  expect_plain(f, nv_scalar(2L))
  expect_error(f(3L), "missing value where TRUE/FALSE needed")
  expect_error(jit(f)(n), "missing value where TRUE/FALSE needed")
})

test_that("a position outside is an error that names the vector", {
  for (at in c(4, 0, -1)) {
    f <- function(x) {
      k <- 1
      if (sum(x) > 1) k <- at
      w[k]
    }
    expect_error(
      jit(f)(x), "`w[k]`: a position is not one of 1 to 3", fixed = TRUE,
      class = "joist_value_error"
    )
  }
  rows <- function(n) {
    s <- 0
    for (k in seq_len(n)) s <- s + m[k, 2]
    s
  }
  expect_error(jit(rows)(n), "`m[k, 2]`: a position is not one of 1 to 2", fixed = TRUE)
})

test_that("elements of lists are chosen if they are of one kind", {
  numbers <- list(1, 2, 4)
  tensors <- list(x, x * 2, x - 1)
  vectors <- list(c(1, 2), c(3, 4), c(5, 6))
  total <- function(l) {
    function(n) {
      s <- 0
      for (k in seq_len(n)) s <- s + sum(l[[k]])
      s
    }
  }
  for (l in list(numbers, tensors, vectors)) expect_plain(total(l), n)
  for (l in list(list(1, 2L, 3), list(x, 1, 2), list(x, x[1:2], x), list("a", "b", "c"))) {
    expect_error(
      jit(total(l))(n), "`l[[k]]`", fixed = TRUE, class = "joist_trace_error"
    )
  }
})

test_that("text, names and masks that a traced position would choose are named", {
  words <- c("a", "b", "c")
  named <- c(a = 1, b = 2, c = 3)
  first <- function(x) {
    k <- 1
    if (sum(x) > 1) k <- 2
    k
  }
  f <- function(x) {
    k <- first(x)
    words[k]
  }
  expect_error(
    jit(f)(x), "`words[k]` is of type character", fixed = TRUE, class = "joist_trace_error"
  )
  g <- function(x) {
    k <- first(x)
    named[k]
  }
  expect_error(jit(g)(x), "`named[k]`", fixed = TRUE, class = "joist_trace_error")
  expect_plain(function(x) {
    k <- first(x)
    named[[k]] + sum(named[k])
  }, x)
  expect_error(jit(function(x) w[x > 1])(x), "`w[x > 1]`", fixed = TRUE, class = "joist_error")
})

test_that("values that may be missing at a traced position are named", {
  put <- function(x) {
    tab <- w
    k <- NA
    if (sum(x) > 1) k <- 2
    tab[which.max(x)] <- k
    tab
  }
  expect_error(jit(put)(x), "`tab[which.max(x)] <- k`", fixed = TRUE, class = "joist_trace_error")
})

test_that("derivatives go through values that a position has chosen", {
  f <- function(x) {
    s <- 0
    for (k in nv_seq_len(3L)) s <- s + w[k] * x[k]^2
    sum(s)
  }
  expect_equal(as_array(gradient(f)(x)[[1L]]), 2 * w * c(1, 2, 3))
})

test_that("assignment at a traced position stays within the vector, or is an error that names it", {
  f <- function(at) {
    function(x) {
      tab <- w
      k <- 2
      if (sum(x) > 1) k <- at
      tab[k] <- 1
      tab
    }
  }
  expect_plain(f(3), x)
  expect_error(
    jit(f(5))(x), "`tab`: a position is not one of 1 to 3",
    fixed = TRUE, class = "joist_value_error"
  )
})

test_that("an R number that a branch changes has no dtype, as in the plain run", {
  f <- function(x) {
    k <- 1
    if (sum(x) > 1) k <- 2
    if (format(dtype(k)) == "f64") x else -x
  }
  expect_error(f(x), "expected a tensor", class = "joist_value_error")
  expect_error(jit(f)(x), "expected a tensor", class = "joist_value_error")
})

test_that("code in a position runs once, known or traced", {
  l <- as.list(w)
  log <- NULL
  h <- function(k) {
    log <<- c(log, "h")
    k
  }
  codes <- expression(
    w[1 + h(k)], w[(h(k))], l[[1 + h(k)]], c(TRUE, FALSE, TRUE)[1 + abs(h(k)) %% 3],
    m[-1 + 2 * h(k), 1 + h(k)], m[1 + h(one), k], x[h(k)], x[[1 + h(k)]],
    {
      w[1 + h(k)] <- 5
      x * w
    },
    {
      w[1 * h(k)] <- h(x[1])
      x * w
    },
    {
      m[0 + h(k), 1 + h(one)] <- x[2]
      m
    },
    {
      x[1 + h(k)] <- 5
      x
    },
    {
      p <- list(w, w)
      p[[one]][1 + h(k)] <- x[1]
      x * p[[1]]
    },
    {
      p <- list(1, 2)
      p[[1 + h(one)]] <- x
      p[[2]]
    },
    {
      for (j in 1:3) w[1 * h(j)] <- w[1 + h(one)] + x[1]
      x * w
    }
  )
  for (code in codes) {
    for (k in list(1, nv_scalar(1L))) {
      f <- eval(call("function", as.pairlist(alist(x = , k = , y = x + 1, one = 1)), code))
      for (traced in list(f, function(x, k) f(x, 1))) {
        log <- NULL
        plain <- traced_text(traced(x, k))
        once <- log
        log <- NULL
        expect_identical(traced_text(jit(traced)(x, k)), plain, label = deparse1(code))
        expect_identical(log, once, label = deparse1(code))
      }
    }
  }
  f <- function(x) {
    p <- list(w, w)
    p[[h(1)]][2] <- x[1]
    p
  }
  expect_error(jit(f)(x), class = "joist_trace_error")
  # An error between the two leaves nothing for the next run of the same place.
  f <- function(x, k, v) {
    p <- c(1, 2, 3)
    p[1 * h(k)] <- v
    p
  }
  g <- jit(f, static = "k")
  expect_error(g(x, 1, nv_tensor(c(NA, 1))), class = "error")
  expect_identical(traced_text(g(x, 2, x[1])), traced_text(f(x, 2, x[1])))
})
