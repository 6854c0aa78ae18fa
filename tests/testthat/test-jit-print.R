# nv_print(): what compiled code prints, against the output of print() on the values that the same
# code of R gives.

printed <- function(expr) utils::capture.output(invisible(expr))

# What nv_print(value, label) is to print.
lines_of <- function(value, label = NULL) {
  c(if (!is.null(label)) paste0(label, ":"), printed(print(value)))
}

# Replaces what shows values until the caller returns.
showing_by <- function(show) {
  own <- utils::getFromNamespace("show_value", "joist")
  utils::assignInNamespace("show_value", show, "joist")
  restore <- bquote(utils::assignInNamespace("show_value", .(own), "joist"))
  do.call(on.exit, list(restore), envir = parent.frame())
}

test_that("nv_print() prints and returns its tensor", {
  x <- nv_tensor(c(1.5, -2, 1e6))
  expect_identical(printed(nv_print(x)), printed(print(x)))
  expect_identical(printed(nv_print(x, "x")), c("x:", printed(print(x))))
  utils::capture.output(out <- withVisible(nv_print(x)))
  expect_identical(out, list(value = x, visible = FALSE))
  expect_identical(printed(nv_print(2, "two")), lines_of(nv_scalar(2, ambiguous = TRUE), "two"))
  for (label in list(1, c("a", "b"), NA_character_)) {
    expect_error(nv_print(x, label), "`label` must be one string", class = "joist_value_error")
    expect_error(jit(function(x) nv_print(x, label))(x), class = "joist_value_error")
  }
  expect_error(nv_print(list(x)), class = "joist_value_error")
})

test_that("compiled code prints in each call, in the order of the program", {
  f <- jit(function(x) {
    y <- nv_print(x + 1, "first")
    nv_print(sum(y), "second")
    nv_print(x, "third")
    nv_print(x + 1, "first")
    nv_print(y)
    y * 2
  })
  for (value in list(1:3, c(-1, 0.5), 7)) {
    x <- nv_tensor(value)
    y <- x + 1
    want <- c(
      lines_of(y, "first"), lines_of(sum(y), "second"), lines_of(x, "third"), lines_of(y, "first"),
      lines_of(y)
    )
    for (k in 1:2) {
      expect_identical(printed(out <- f(x)), want)
      expect_identical(out, y * 2)
    }
  }
})

test_that("every dtype, shape and mask is printed", {
  f <- jit(function(x) {
    nv_print(x)
    0
  })
  for (d in dtypes()) {
    for (n in list(integer(), 0L, 3L, c(2L, 3L), c(2L, 1L, 2L))) {
      x <- nv_convert(nv_tensor(array(rep_len(0:2, prod(n)), c(n, 1))), d)
      x <- nv_reshape(x, n)
      expect_identical(printed(f(x)), printed(print(x)))
    }
  }
  x <- nv_tensor(c(1, NA, 3), "i16")
  expect_identical(printed(f(x)), printed(print(x)))
  expect_true(any(grepl("NA", printed(f(x)))))
  g <- jit(function(x) nv_print(x + 1L, "sum"))
  expect_identical(printed(g(x)), lines_of(x + 1L, "sum"))
  utils::capture.output(out <- g(x))
  expect_identical(out, x + 1L)
})

test_that("loops print in each iteration and branches if they are taken", {
  x <- nv_tensor(c(4, 2), "f64")
  run <- function(x) {
    out <- nv_for(3, x, function(i, x) {
      nv_print(i, "i")
      nv_print(x / 2)
    })
    nv_if(sum(out) > 0, function() nv_print(out, "positive"), function() nv_print(-out, "negative"))
  }
  want <- function(x) {
    lines <- character()
    for (i in 1:3) {
      x <- x / 2
      lines <- c(lines, lines_of(nv_scalar(i, "i32", ambiguous = TRUE), "i"), lines_of(x))
    }
    sign <- as_array(sum(x)) > 0
    c(lines, lines_of(if (sign) x else -x, if (sign) "positive" else "negative"))
  }
  for (f in list(run, jit(run))) {
    expect_identical(printed(f(x)), want(x))
    expect_identical(printed(f(-x)), want(-x))
  }
  count <- function(n) {
    nv_while(n, function(n) nv_print(n > 0L, "on"), function(n) {
      nv_print(n)
      n - 1L
    })
  }
  lines <- character()
  for (n in 2:0) {
    n <- nv_scalar(n, "i32")
    lines <- c(lines, lines_of(n > 0L, "on"), if (as_array(n) > 0L) lines_of(n))
  }
  for (f in list(count, jit(count))) expect_identical(printed(f(nv_scalar(2L))), lines)
  # Nothing reads what the loop gives.
  unused <- jit(function(x) {
    nv_scan(x, 2, function(s, i) list(nv_for(2, s, function(i, s) nv_print(s + 1)), NULL))
    x
  })
  x <- nv_scalar(0)
  expect_identical(
    printed(expect_identical(unused(x), x)), unlist(lapply(1:4, function(k) lines_of(x + k)))
  )
})

test_that("what was printed before an error is seen, and nothing behind it", {
  f <- jit(function(x, y) {
    nv_print(y, "before")
    z <- x %/% y
    nv_print(x, "behind")
    z
  })
  x <- nv_tensor(1:3)
  y <- nv_tensor(c(1L, 0L, 1L))
  out <- printed(expect_error(f(x, y), class = "joist_value_error"))
  expect_identical(out, lines_of(y, "before"))
  g <- jit(function(x, y) {
    z <- x %/% y
    nv_print(x, "behind")
    z
  })
  expect_identical(printed(expect_error(g(x, y), class = "joist_value_error")), character())
  loop <- jit(function(x) {
    nv_for(5, x, function(i, x) {
      nv_print(x)
      nv_tensor(6L) %/% (x - 1L)
    })
  })
  # 3, 6 %/% 2 = 3, ... ; 4, 2, 6, 1, and then 6 %/% 0
  values <- lapply(c(4L, 2L, 6L, 1L), nv_tensor)
  out <- printed(expect_error(loop(nv_tensor(4L)), class = "joist_value_error"))
  expect_identical(out, unlist(lapply(values, lines_of)))
})

test_that("an error while a value is printed leaves the program", {
  x <- nv_tensor(c(1, 2))
  f <- jit(function(x) nv_for(3, x, function(i, x) nv_print(x + 1)))
  failing <- function() {
    calls <- 0
    showing_by(function(x, number) {
      calls <<- calls + 1
      if (calls == 2) stop("no paper")
    })
    for (k in 1:3) {
      calls <- 0
      expect_error(f(x), "no paper")
      expect_identical(calls, 2)
      calls <- 0
      expect_identical(tryCatch(f(x), error = function(e) "out"), "out")
    }
  }
  failing()
  expect_identical(printed(f(x)), unlist(lapply(1:3, function(k) lines_of(x + k))))
})

test_that("compiled code can run within the printing of a value", {
  x <- nv_tensor(c(1, 2))
  inner <- jit(function(x) sum(x * 2))
  f <- jit(function(x) nv_for(3, x, function(i, x) nv_print(x + 1)))
  seen <- list()
  within <- function() {
    showing_by(function(x, number) {
      gc()
      seen[[length(seen) + 1L]] <<- as_array(inner(x))
    })
    f(x)
  }
  expect_identical(within(), x + 3)
  expect_equal(unlist(seen), 2 * c(5, 7, 9))
})

test_that("errors go through compiled code that prints within printing", {
  x <- nv_tensor(c(1, 2))
  inner <- jit(function(x) nv_print(x * 2))
  f <- jit(function(x) nv_for(3, x, function(i, x) nv_print(x + 1)))
  depth <- 0
  run <- function(at_once) {
    showing_by(function(x, number) {
      depth <<- depth + 1
      on.exit(depth <<- depth - 1)
      if (depth > 1) stop("deep")
      at_once(inner(x))
    })
    tryCatch(f(x), error = conditionMessage)
  }
  for (k in 1:3) expect_identical(run(identity), "deep")
  expect_identical(depth, 0)
  expect_identical(run(function(expr) tryCatch(expr, error = function(e) NULL)), x + 3)
})

test_that("loops that are compiled to machine code print the same", {
  loops <- list(
    function(x) nv_for(4, x, function(i, x) nv_print(nv_print(x, "x") / 2 + i)),
    function(x) {
      nv_for(3, x, function(i, x) {
        old <- x
        x[2] <- i * 1.5
        nv_print(old, "old")
        x
      })
    },
    function(x) nv_scan(0, x, function(s, v) list(nv_print(s + v), nv_if(v > 2, nv_print(v), v))),
    function(x) {
      nv_for(2, x, function(i, x) {
        nv_while(x, function(x) sum(x) < 20, function(x) nv_print(x + i))
      })
    }
  )
  x <- nv_tensor(c(4, 2, 1, 3))
  for (loop in loops) {
    compiled <- lapply(c("never", "wait"), function(native) jit(loop, native = native))
    lines <- lapply(compiled, function(f) printed(f(x)))
    expect_gt(length(lines[[1L]]), 3)
    expect_identical(lines[[2L]], lines[[1L]])
  }
})

test_that("gradients go through nv_print(), which prints once", {
  f <- function(x) sum(nv_print(x * x, "square"))
  x <- nv_tensor(c(1, -3), "f64")
  for (slope in list(gradient(f), jit(gradient(f)))) {
    expect_identical(printed(g <- slope(x)), lines_of(x * x, "square"))
    expect_identical(as_array(g[[1]]), c(2, -6))
  }
  loop <- function(x) {
    sum(nv_for(2, x, function(i, s) nv_print(s * x)))
  }
  expect_identical(printed(g <- gradient(loop)(x)), c(lines_of(x^2), lines_of(x^3)))
  expect_equal(as_array(g[[1]]), 3 * c(1, -3)^2)
  branch <- function(x) nv_if(sum(x) > 0, sum(x), sum(nv_print(x * x)))
  expect_identical(printed(g <- gradient(branch)(x)), lines_of(x * x))
  expect_equal(as_array(g[[1]]), c(2, -6))
  again <- function(x) sum(nv_checkpoint(function(x) nv_print(sin(x), "sin"))(x))
  expect_identical(printed(g <- gradient(again)(x)), lines_of(sin(x), "sin"))
  expect_equal(as_array(g[[1]]), cos(c(1, -3)))
  second <- function(x) sum(gradient(f)(x)[[1]]^2)
  expect_identical(printed(g <- gradient(second)(x)), lines_of(x * x, "square"))
  expect_equal(as_array(g[[1]]), 8 * c(1, -3))
})
