# Effects in traced branches and loops: assignments of variables wherever they stand, conditions,
# and
# what cannot be traced. The wanted results are those of the same functions called without jit().

six <- nv_tensor(c(1, 2, 3), "f64")

values_of <- function(x) {
  if (is_tensor(x)) {
    return(as.vector(as_array(x)))
  }
  if (is.list(x)) lapply(x, values_of) else as.vector(x)
}

expect_as_plain <- function(f, ..., inputs = list(six, six * 10)) {
  compiled <- jit(f)
  for (x in inputs) expect_identical(values_of(compiled(x, ...)), values_of(f(x, ...)))
}

code_of <- function(text) {
  eval(parse(text = text, keep.source = FALSE), new.env(parent = globalenv()))
}

test_that("a closure that a branch calls changes its variable only there", {
  f <- function(x) {
    k <- 1
    g <- function() k <<- 10
    if (sum(x) > 20) g()
    sum(x) * k
  }
  expect_as_plain(f)
  expect_identical(as_array(gradient(f)(six)$x), c(1, 1, 1))
  expect_identical(as_array(gradient(f)(six * 10)$x), c(10, 10, 10))
})

test_that("a closure that a loop calls counts its iterations", {
  expect_as_plain(function(x) {
    n <- 0
    inc <- function() n <<- n + 1
    while (sum(x) > 1) {
      x <- x / 2
      inc()
    }
    n
  })
  expect_as_plain(function(x) {
    n <- 0
    inc <- function(by) n <<- n + by
    for (e in x) if (e > 2) inc(e)
    n
  })
  expect_as_plain(function(x) {
    n <- 0
    inc <- function(by) n <<- n + by
    repeat {
      inc(1)
      if (n * sum(x) > 50) break
    }
    n
  })
})

test_that("a variable that an iteration assigns its own value settles", {
  expect_as_plain(function(x) {
    m <- cbind(x, x)
    while (sum(x) > 1) {
      x <- x / 2
      m <- t(t(m))
    }
    c(sum(m), x)
  })
})

test_that("generators keep their state", {
  counter <- code_of("function() {
    n <- 0
    list(add = function(k) n <<- n + k, get = function() n)
  }")
  expect_as_plain(function(x) {
    a <- counter()
    b <- counter()
    if (sum(x) > 20) a$add(2) else b$add(3)
    for (e in x) b$add(e)
    c(a$get(), b$get())
  })
  made <- counter()
  expect_error(jit(function(x) {
    if (sum(x) > 3) made$add(1)
    x
  })(six), "`n` is outside of the traced function.*return the value", class = "joist_trace_error")
  expect_identical(made$get(), 0)
})

test_that("environments made in the trace are carried, and others are left as they were", {
  expect_as_plain(function(x) {
    e <- new.env()
    e$n <- 1
    e$list <- list(a = 1, b = 2)
    if (sum(x) > 20) e$n <- 5 else e$list$a <- sum(x)
    e[["n"]] + e$list$a
  })
  set <- code_of("function(e, v) e$n <- v")
  expect_as_plain(function(x) {
    e <- list2env(list(n = 0))
    for (k in x) set(e, e$n + k)
    e$n
  })
  home <- new.env()
  home$n <- 0
  home$inner <- new.env()
  change <- list(
    function(x) if (sum(x) > 3) home$n <- 5 else x,
    function(x) if (sum(x) > 3) home$inner$m <- 5 else x,
    function(x) if (sum(x) > 3) assign("n", 5, envir = home) else x,
    function(x) if (sum(x) > 3) rm("n", envir = home) else x,
    function(x) if (sum(x) > 3) local(n <- 6, envir = home) else x,
    function(x) for (e in x) home$n <- e
  )
  for (f in change) {
    expect_error(jit(f)(six), "is outside of the traced function", class = "joist_trace_error")
    expect_identical(home$n, 0)
    expect_identical(names(home$inner), character())
  }
  expect_error(jit(function(x) {
    e <- new.env()
    if (sum(x) > 3) attr(e, "k") <- 1
    x
  })(six), "attribute of an environment", class = "joist_trace_error")
})

test_that("objects of R6 and reference classes keep their state", {
  skip_if_not_installed("R6")
  Counter <- R6::R6Class("Counter", public = list( # nolint: object_name_linter.
    n = 0, add = function(k) {
      self$n <- self$n + k
      invisible(self)
    }
  ))
  expect_as_plain(function(x) {
    a <- Counter$new()
    if (sum(x) > 20) a$add(3) else a$add(1)$add(1)
    for (e in x) a$add(e)
    a$n
  })
  Log <- setRefClass("Log", list(lines = "ANY"), methods = list( # nolint: object_name_linter.
    write = function(k) {
      lines <<- lines + k
      invisible(.self)
    }
  ), where = new.env())
  expect_as_plain(function(x) {
    a <- Log$new(lines = 1)
    if (sum(x) > 20) a$write(3)
    for (e in x) a$write(e)
    a$lines
  })
})

test_that("functions given to base R's functions change variables", {
  expect_as_plain(function(x) {
    n <- 0
    if (sum(x) > 20) lapply(1:3, function(k) n <<- n + k)
    if (sum(x) > 2) Map(function(a, b) n <<- n + a * b, 1:2, 3:4)
    if (sum(x) < 20) Reduce(function(a, b) {
      n <<- n + 1
      a + b
    }, 1:4)
    n
  })
  expect_as_plain(function(x) {
    n <- 1
    put <- function(v) n <<- v
    if (sum(x) > 20) do.call(put, list(9)) else do.call("put", list(v = 4))
    n
  })
  expect_as_plain(function(x) {
    n <- 1
    up <- function() assign("n", 4, envir = parent.frame())
    if (sum(x) > 20) up()
    n
  })
})

test_that("the right sides of `&&` and `||` change variables where they are computed", {
  expect_as_plain(function(x) {
    n <- 0
    up <- function() {
      n <<- n + 1
      TRUE
    }
    if (sum(x) > 20 && up()) n <- n + 10
    if (sum(x) > 20 || up()) n <- n + 100
    n
  })
})

test_that("arguments with effects are computed before a branch reads them, or are an error", {
  pick <- code_of("function(a, b) if (sum(a) > 20) b else 0")
  expect_error(jit(function(x) {
    n <- 0
    pick(x, {
      n <- 7
      1
    })
    n
  })(six), "`n` is changed by an argument", class = "joist_trace_error")
  expect_as_plain(function(x) {
    n <- 0
    y <- pick(x, sum(x) + 1)
    y + n
  })
})

test_that("R's random numbers in a branch are an error that names joist's", {
  f <- function(x) {
    if (sum(x) > 3) x <- x + rnorm(1)
    x
  }
  expect_error(jit(f)(six), "nv_rnorm\\(\\).*key", class = "joist_trace_error")
  expect_error(jit(function(x) {
    s <- 0
    for (e in x) s <- s + sample(3L, 1L)
    s
  })(six), "nv_rnorm", class = "joist_trace_error")
})

test_that("stop() and stopifnot() raise their errors where the plain run does", {
  raising <- list(
    function(x) {
      if (sum(x) > 20) stop("too large")
      sum(x)
    },
    function(x) {
      if (sum(x) > 20) stop("too large") else y <- 3
      y * x
    },
    function(x) {
      y <- if (sum(x) > 20) stop("too large") else x
      y + 1
    },
    function(x) {
      for (e in x) if (e > 20) stop("too large")
      x
    },
    function(x) {
      if (sum(x) > 20) stop(structure(
        class = c("own", "error", "condition"), list(message = "too large", call = NULL)
      ))
      x
    },
    function(x) {
      if (sum(x) > 20) {
        if (x[1] > 1) stop("too large") else x <- x + 1
      }
      x
    },
    function(x) {
      stopifnot("too large" = sum(x) < 20)
      x
    },
    function(x) {
      if (x[1] > 5) stopifnot("too large" = FALSE)
      x
    }
  )
  for (f in raising) {
    compiled <- jit(f)
    expect_identical(values_of(compiled(six)), values_of(f(six)))
    for (g in list(f, compiled)) {
      error <- expect_error(g(six * 10), "too large")
      expect_identical(conditionMessage(error), "too large")
    }
  }
  expect_s3_class(tryCatch(jit(raising[[5L]])(six * 10), error = identity), "own")
  expect_error(gradient(raising[[1L]])(six * 10), "too large")
  expect_identical(as_array(gradient(raising[[1L]])(six)$x), c(1, 1, 1))
  named <- function(x) {
    stopifnot(all(x > 0), length(x) == 3L)
    x
  }
  expect_identical(values_of(jit(named)(six)), c(1, 2, 3))
  expect_error(jit(named)(-six), "all\\(x > 0\\) is not TRUE")
  expect_error(jit(function(x) {
    tryCatch(if (sum(x) > 3) stop("caught") else 1, error = function(e) 2)
  })(six), "cannot be handled", class = "joist_trace_error")
})

test_that("warnings and messages of a branch are signaled when the program runs", {
  f <- jit(function(x) {
    if (sum(x) > 20) warning("large")
    for (e in x) if (e > 25) message("very large")
    sum(x)
  })
  expect_silent(f(six))
  expect_message(expect_warning(f(six * 10), "large"), "very large")
  expect_message(expect_warning(f(six * 10), "large"), "very large")
  quiet <- jit(function(x) {
    suppressWarnings(if (sum(x) > 20) {
      warning("large")
      1
    } else {
      2
    })
  })
  expect_silent(quiet(six * 10))
})

test_that("what reads a clock or prints in a branch is an error", {
  for (f in list(
    function(x) if (sum(x) > 3) Sys.time() else 1, function(x) if (sum(x) > 3) cat("a\n") else 1,
    function(x) for (e in x) print(e)
  )) {
    expect_error(jit(f)(six), "cannot depend on a traced condition", class = "joist_trace_error")
  }
})

test_that("a branch or loop that only prints is kept", {
  f <- jit(function(x) {
    if (sum(x) > 20) nv_print(x[1], "first")
    for (e in x) if (e > 25) nv_print(e, "element")
    sum(x)
  })
  expect_output(f(six * 10), "first.*element")
  expect_silent(f(six))
})

test_that("local() has variables, assignments and a return() of its own", {
  counter <- 0
  programs <- list(
    function(x, y) {
      z <- local(return(y + 1))
      sum(x) * z
    },
    function(x, y) {
      z <- local({
        if (sum(x) > 3) return(y)
        x <- x * 2
        sum(x)
      })
      x * z
    },
    function(x, y) {
      local({
        t <- abs(y) + 4
        while (t > 1) {
          t <- t / 2
          x <<- x + t
        }
      })
      x
    },
    function(x, y) switch("a", a = local(return(x)), y),
    function(x, y) {
      local <- function(code) 2
      x * local(return(y))
    },
    function(x, y) {
      eval(quote(return(y)), new.env())
      x
    }
  )
  for (f in programs) {
    for (x in list(c(1, 2, 3), c(-1, -2, -3))) {
      x <- nv_tensor(x, "f64")
      y <- nv_scalar(2, "f64")
      expect_identical(as_array(jit(f)(x, y)), as_array(f(x, y)), info = deparse1(f))
    }
  }
})

test_that("arms of switch() may return on traced conditions", {
  f <- function(x, m) {
    switch(m,
      a = ,
      b = {
        if (sum(x) > 3) return(x)
        x <- x * 2
      },
      c = return(-x),
      if (sum(x) > 3) return(x + 1)
    )
    x + 10
  }
  one <- function(x, m) switch(m, a = if (sum(x) > 3) return(x) else x * 2)
  for (x in list(c(1, 2, 3), c(-1, -2, -3))) {
    x <- nv_tensor(x, "f64")
    for (m in c("a", "b", "c", "d")) {
      expect_identical(as_array(jit(f, static = "m")(x, m)), as_array(f(x, m)), info = m)
    }
    expect_identical(as_array(jit(one, static = "m")(x, "a")), as_array(one(x, "a")))
    expect_null(jit(one, static = "m")(x, "b"))
  }
  expect_null(jit(function(x) repeat break)(x))
})

test_that("errors in a branch are raised if it is taken", {
  f <- function(x, w) {
    if (sum(x) > 3) x else switch(w[3L], a = x, match.arg("p", c("q", "r")), x[[7]] + log("a"))
  }
  x <- nv_tensor(c(1, 2, 3), "f64")
  compiled <- jit(f, static = "w")
  expect_identical(as_array(compiled(x, character())), c(1, 2, 3))
  expect_error(compiled(-x, character()))
  shapes <- jit(function(x) if (sum(x) > 3) x[1:2] else x + nv_tensor(c(1, 2)))
  expect_identical(as_array(shapes(x)), c(1, 2))
  expect_error(shapes(-x), class = "joist_shape_error")
})

test_that("arguments of functions of R stay uncomputed", {
  # local() never computes its argument, which would change `t` of the function.
  f <- function(x) {
    t <- 1
    y <- local({
      t <- 5
      if (sum(x) > 3) t <- t + 1
      t
    })
    c(t, y) * x[1]
  }
  x <- nv_tensor(c(1, 2, 3), "f64")
  expect_identical(as_array(jit(f)(x)), as_array(f(x)))
})

test_that("functions given to nv_while() and the like have no effects", {
  count <- 0
  counted <- function(x) {
    count <<- count + 1
    x * 2
  }
  counter <- jit(counted)
  within <- function(call) {
    f <- eval(bquote(function(x) {
      k <- 0
      add <- function(x) {
        k <<- k + 1
        x * 2
      }
      y <- .(call)
      list(k, y)
    }))
    jit(f)(six)
  }
  for (call in expression(
    nv_while(x, function(x) sum(x) < 20, add), nv_for(3, x, function(i, x) add(x)),
    nv_scan(0, x, function(s, v) list(add(v), NULL)), nv_if(sum(x) > 0, add(x), x)
  )) {
    expect_error(within(call), "`k` is changed within `nv_", class = "joist_trace_error")
  }
  for (call in expression(
    nv_for(3, x, function(i, x) counted(x)), nv_if(sum(x) > 0, counter(x), x),
    if (sum(x) > 0) counter(x) else x
  )) {
    expect_error(within(call), "`count` is outside", class = "joist_trace_error")
  }
  expect_error(nv_for(3, six, function(i, x) counted(x)), "`count` is outside")
  expect_identical(count, 0)
  expect_error(within(quote(nv_for(2, x, function(i, x) x * rnorm(1)))), "nv_rnorm()", fixed = TRUE)
  expect_error(within(quote(nv_for(2, x, function(i, x) {
    cat("x")
    x
  }))), "cat()", fixed = TRUE)
  # Variables for a result are not effects.
  doubled <- nv_if(nv_scalar(TRUE), {
    twice <- six * 2
    twice + 1
  }, six)
  expect_identical(values_of(doubled), c(3, 5, 7))
})

test_that("attributes that a branch or loop sets are an error where the value is used", {
  branch <- function(x) {
    if (sum(x) > 3) attr(x, "k") <- 1
    is.null(attr(x, "k"))
  }
  number <- function(x) {
    k <- 1
    if (sum(x) > 3) attr(k, "k") <- 1 else k <- 2
    x * k
  }
  loop <- function(x) {
    y <- x
    while (sum(y) > 3) {
      y <- y / 2
      attr(y, "k") <- 1
    }
    is.null(attr(y, "k"))
  }
  for (f in list(branch, number, loop)) {
    expect_error(jit(f)(six), "an attribute `k`", class = "joist_trace_error")
  }
  expect_as_plain(function(x) {
    attr(x, "k") <- 2
    if (sum(x) > 3) y <- sum(x) else y <- 2 * max(x)
    attr(x, "k") * sum(y)
  }, inputs = list(six))
})

test_that("`<<-` of functions in a loop is for the variable that R finds", {
  counter <- 0
  once <- function(x) {
    for (v in x) {
      local({
        counter <<- counter + 1
      })
    }
    x
  }
  expect_error(jit(once)(nv_tensor(c(1, 2), "f64")), "`counter`", class = "joist_trace_error")
  expect_identical(counter, 0)
  own <- function(x) {
    total <- 0
    for (v in x) {
      local({
        total <<- total + v
      })
    }
    total
  }
  expect_equal(as_array(jit(own)(nv_tensor(c(1, 2), "f64"))), 3)
})

test_that("environments that a loop does not replace are looked at within it", {
  x <- nv_tensor(c(1, 2, 3), "f64")
  for (f in list(
    function(x) {
      e <- new.env()
      e$n <- 1
      total <- sum(x)
      repeat {
        total <- total * 0.5
        if (total < 1) break
        e$n <- e$n + 2
      }
      e$n
    },
    function(x) {
      e <- new.env()
      e$n <- 1
      while (sum(x) > 1) {
        x <- x * 0.5
        if (sum(x) > 2) e$n <- e$n + 2
      }
      e$n
    }
  )) {
    expect_equal(as_array(jit(f)(x)), f(x))
  }
})

test_that("the errors of branches show code as it was written", {
  x <- nv_tensor(c(1, 2, 3), "f64")
  expect_error(
    jit(function(x) {
      stopifnot(sum(x) > 100 && x[1] > 0)
      x
    })(x), "sum(x) > 100 && x[1] > 0 is not TRUE", fixed = TRUE
  )
  expect_error(
    jit(function(x) if (sum(x) > 1) "a" else "b")(x), "is \"a\" if TRUE and \"b\" if FALSE",
    fixed = TRUE
  )
  expect_error(
    jit(function(x, i) x[i])(x, nv_tensor(4L)),
    "index 4 at position 1 of dimension 1 is out of range (1 to 3)", fixed = TRUE
  )
})

test_that("a loop that only raises conditions is not left out", {
  raising <- function(x) {
    while (sum(x) > 1) stop("above one")
    2
  }
  for (f in list(raising, jit(raising))) {
    expect_error(f(nv_tensor(c(1, 2))), "above one")
    expect_identical(as.numeric(f(nv_tensor(c(0, 0)))), 2)
  }
})
