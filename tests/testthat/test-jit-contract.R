# What differs between compiled and plain code: a test for each row of the table in ?jit.

x <- nv_tensor(c(1, 2, 3), "f64")

as_plain <- function(x) if (is_tensor(x)) as_array(x) else x

test_that("a result that is an R number or flag is a tensor of its default dtype", {
  results <- jit(function(x) list(1L, 2, TRUE, length(x)))(x)
  expect_identical(lapply(results, as_array), list(1L, 2, TRUE, 3L))
  expect_true(all(vapply(results, is_tensor, NA)))
  expect_identical(dtype(results[[2L]]), dtype(nv_scalar(2)))
  expect_identical(jit(function(h) h / 3)(1), nv_tensor(1 / 3, "f64", integer(), ambiguous = TRUE))
  expect_identical(as_array(jit(function(h) h)(0.1)), 0.1)
  numbers <- list(0.1, c(a = 0.5, b = NA), matrix(c(0.1, NaN), 1L), 1e300)
  kept <- jit(function() numbers)()
  expect_identical(lapply(kept, as_array), numbers)
  expect_identical(vapply(kept, function(x) format(dtype(x)), ""), c("f64", "f32", "f64", "f64"))
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

test_that("R integers that overflow, or are divided by 0, are an error", {
  chosen <- function(x) if (sum(x) > 2) .Machine$integer.max else 1L
  programs <- list(
    function(x) chosen(x) + 1L, function(x) chosen(x) * 2L, function(x) -2L - chosen(x),
    function(x) sum(chosen(x), 2L),
    function(x) {
      s <- 1L
      for (v in x) s <- s * 100000L
      s
    },
    function(x) {
      s <- chosen(x) - 2L
      t <- 0
      while (t < sum(x)) {
        s <- s + 1L
        t <- t + 1
      }
      s
    }
  )
  for (f in programs) {
    # Each time, and under any policy.
    traced <- jit(f)
    for (k in 1:2) expect_error(traced(x), "fit", class = "joist_error")
    expect_error(jit(f, on = c(overflow = "ok"))(x), "fit", class = "joist_error")
  }
  expect_error(jit(function(x) chosen(x) + 1L)(x), "where R has NA", class = "joist_error")
  expect_identical(as_array(jit(function(x) chosen(x) + 1L)(-x)), 2L)
  expect_identical(as_array(jit(function(x) sum(chosen(x), 0L))(x)), .Machine$integer.max)
  expect_error(jit(function(x) chosen(x) %/% 0L)(x), "division by zero", class = "joist_error")
  expect_error(jit(function(x) chosen(x) %% 0L)(x), "division by zero", class = "joist_error")
})

test_that("a missing condition is the error of R", { # nolint: cyclocomp_linter.
  flag <- function(x) {
    k <- TRUE
    if (sum(x) > 1) k <- NA
    k
  }
  number <- function(x) {
    k <- 1
    if (sum(x) > 1) k <- NA
    k
  }
  programs <- list(
    function(x) if (flag(x)) 1 else 2, function(x) if (number(x) > 0) 1 else 2,
    function(x) if (flag(x) && sum(x) > -100) 1 else 2,
    function(x) if (sum(x) > -100 && flag(x)) 1 else 2,
    function(x) if (sum(x) > 100 || flag(x)) 1 else 2, function(x) if (NA && flag(x)) 1 else 2,
    function(x) {
      n <- 0
      k <- 1
      while (k > 0) {
        n <- n + 1
        if (n > 3) k <- if (sum(x) > 1) NA else 0
      }
      n
    },
    function(x) {
      n <- 0
      repeat {
        n <- n + 1
        if (n > 3 && flag(x)) break
      }
      n
    }
  )
  for (f in programs) {
    for (g in list(f, jit(f))) {
      expect_error(g(x), "^missing value where TRUE/FALSE needed$", class = "simpleError")
    }
  }
  for (f in programs[-6L]) expect_identical(traced_text(jit(f)(-x)), traced_text(f(-x)))
  # Also where nothing depends on the condition.
  idle <- function(x) {
    if (flag(x)) k <- 2
    1
  }
  for (g in list(idle, jit(idle))) expect_error(g(x), "missing value where TRUE/FALSE needed")
  # Three values, as in R.
  open <- list(
    function(x) if (flag(x) && sum(x) > 100) 1 else 2, function(x) if (flag(x) || TRUE) 1 else 2,
    function(x) if (sum(x) > 100 && flag(x)) 1 else 2, function(x) if (NA || sum(x) > 1) 1 else 2,
    function(x) if (flag(x) || { sum(x) > 1 }) 1 else 2,
    function(x) if (flag(x) && is.na(number(x) + sum(x)) && sum(x) > 9) 1 else 2
  )
  for (f in open) expect_identical(traced_text(jit(f)(x)), traced_text(f(x)))
  y <- nv_tensor(c(1, NA), "f64")
  first <- function(y) if (y[1] > 0) y * 2 else y
  expect_identical(jit(first)(y), first(y))
  expect_error(jit(function(y) if (y[2] > 0) y else -y)(y), "missing value where TRUE/FALSE needed")
  expect_error(jit(function(y) stopifnot(y[2] > 0))(y), "y[2] > 0 is not TRUE", fixed = TRUE)
  expect_identical(jit(function(y) {
    stopifnot(y[1] > 0)
    y
  })(y), y)
})

test_that("R numbers that may be missing keep R's precision", {
  f <- function(x) {
    k <- 1 / 3
    if (sum(x) > 1) k <- NA
    if (is.na(k)) k <- 1e-9
    k <- (k + 1) * 3
    list(k + x, k > 3)
  }
  for (y in list(x, -x)) expect_identical(lapply(jit(f)(y), as_array), lapply(f(y), as_plain))
})

test_that("comparisons of R doubles that are NaN are FALSE", {
  f <- function(x) {
    k <- 1
    if (sum(x) > 1) k <- NaN
    if (k > 0) 1 else 2
  }
  expect_error(f(x), "missing value")
  expect_identical(as_array(jit(f)(x)), 2)
})

test_that("a correlation of equal R numbers is NA, and R's own functions do not warn", {
  f <- function(x) {
    k <- if (sum(x) > 2) 1 else 5
    list(cor(c(k, 1, 1), c(1, 2, 3)), cor(c(k, Inf, 1), c(1, 2, 4)), sqrt(-k))
  }
  plain <- suppressWarnings(lapply(f(x), as_plain))
  expect_identical(plain[[1L]], NA_real_)
  expect_no_warning(traced <- jit(f)(x))
  expect_identical(lapply(traced, as_array), plain)
  expect_equal(as_array(jit(f)(-x)[[1L]]), cor(c(5, 1, 1), c(1, 2, 3)))
})

test_that("a number that only a loop has assigned is an R number", {
  f <- function(x) {
    while (sum(x) > 1) {
      x <- x / 2
      k <- sum(dim(x), 2L)
    }
    list(is_tensor(k), k + 0.25, if (is_tensor(k)) 1 else 2)
  }
  expect_identical(lapply(jit(f)(x), as_array), lapply(f(x), as_plain))
  expect_error(jit(f)(x / 100), "`k`", fixed = TRUE)
})

test_that("whether a variable exists that one branch makes is an error that names it", {
  made <- function(ask) {
    function(x) {
      if (sum(x) > 100) own <- 3
      ask(environment())
    }
  }
  programs <- list(
    function(x) {
      if (sum(x) > 100) own <- 3
      exists("own", inherits = FALSE)
    },
    function(x) {
      if (sum(x) > 100) own <- 3
      length(ls())
    },
    function(x) {
      e <- new.env()
      if (sum(x) > 100) e$own <- 3
      list(exists("own", envir = e), length(ls(e)), length(e), is.null(names(e)))
    },
    function(x) {
      own <- 1
      if (sum(x) > 100) rm(own)
      exists("own", inherits = FALSE)
    },
    function(x) {
      for (k in seq_len(nv_convert(sum(x), "i32") - 6L)) own <- k
      exists("own", inherits = FALSE)
    },
    function(x) {
      while (sum(x) > 100) {
        own <- x
        x <- x / 2
      }
      is.null(get0("own", inherits = FALSE))
    },
    made(function(e) length(e)), made(function(e) length(ls(e))), made(function(e) names(e)),
    made(function(e) exists("own", envir = e))
  )
  for (f in programs) {
    expect_error(jit(f)(x), "`own`", class = "joist_trace_error", label = deparse1(body(f)))
  }
  # What both branches make, or none does, is known.
  known <- function(x) {
    if (sum(x) > 100) own <- 3 else own <- "a"
    e <- new.env()
    e$other <- x
    if (sum(x) > 1) e$other <- 2 * x
    list(
      exists("own", inherits = FALSE), exists("none", inherits = FALSE), length(ls(e)),
      exists("other", e), exists("other", where = e), length(e)
    )
  }
  expect_identical(traced_text(jit(known)(x)), traced_text(known(x)))
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

test_that("variables and functions of the user with names of base R's functions are the user's", {
  length <- 3
  objects <- c(1, 2, 3)
  max <- function(...) 7
  unlist <- function(x) x[[1L]]
  f <- function(x) if (sum(x) > 1) x * length + objects + max(x, 2) else unlist(list(x, 1))
  expect_identical(as_array(jit(f)(x)), as_array(f(x)))
})

test_that("single numbers that sapply() and the like collect are R's vectors", {
  i <- nv_tensor(c(4L, 5L))
  programs <- list(
    function(x, i) sapply(x, function(v) v * 2), function(x, i) sapply(list(x, i), max),
    function(x, i) vapply(list(x, 2 * x), sum, 1), function(x, i) vapply(i, function(v) 2L * v, 1L),
    function(x, i) vapply(list(i, i), max, 1), function(x, i) vapply(1:3, function(k) x[[k]], 0),
    function(x, i) mapply(function(p, q) p * q, x, 3:1),
    function(x, i) unlist(list(x, i, 2L, TRUE)),
    function(x, i) unlist(lapply(1:3, function(k) x[k] * k)), function(x, i) 1 / sapply(i, max),
    function(x, i) Reduce(`+`, as.list(x), accumulate = TRUE),
    function(x, i) Reduce("+", list(sum(x), 2L, max(i)), accumulate = TRUE, right = TRUE),
    function(x, i) Reduce(function(p, q) p * q, x, 1L, accumulate = TRUE),
    function(x, i) Reduce(`+`, list(x, x, 1), accumulate = TRUE)[[3L]],
    function(x, i) {
      Reduce(function(p, q) if (p > 2) p else p + q, as.list(x), accumulate = TRUE)
    },
    function(x, i) unlist(list(i, i > 4L)), function(x, i) sum(sapply(x, function(v) v > 1)),
    function(x, i) {
      s <- 0
      if (sum(x) > 1) s <- sum(vapply(x, function(v) v^2, 0))
      s
    }
  )
  for (f in programs) {
    expect_identical(traced_text(jit(f)(x, i)), traced_text(f(x, i)), label = deparse1(body(f)))
  }
  named <- nv_tensor(c(a = 1, b = 2, c = 3), "f64")
  for (f in list(
    function(x) unlist(lapply(1:3, function(k) x[k])), function(x) unlist(list(x, 1, sum(x))),
    function(x) sapply(2:3, function(k) x[k]), function(x) vapply(1:3, function(k) x[k], 1),
    function(x) Reduce(`+`, list(x[1L], x[2L]), accumulate = TRUE),
    function(x) if (identical(names(unlist(list(x, 2))), c("a", "b", "c", ""))) x else -x
  )) {
    expect_identical(traced_text(jit(f)(named)), traced_text(f(named)), label = deparse1(body(f)))
  }
  for (f in list(
    function(x, i) sapply(list(x, x), function(v) v * 2),
    function(x, i) sapply(list(a = x), sum), function(x, i) unlist(list(a = x)),
    function(x, i) sapply(c("a", "b"), function(name) sum(x)),
    function(x, i) Reduce(`+`, list(c(a = 1), x[2L]), accumulate = TRUE),
    function(x, i) unlist(list(nv_convert(i, "i64"))), function(x, i) unlist(list(x, "a"))
  )) {
    expect_error(jit(f)(x, i), "unlist|sapply|Reduce", class = "joist_error")
  }
})

test_that("errors and deparse() show the code of the user, not what is traced", {
  k <- 2
  said <- function(p) stop("bad ", deparse1(substitute(p)))
  inner <- function(p) if (k > 1 && p[[1]] > 0) p else return(2)
  programs <- list(
    function(x) said(if (k > 1) x[[k]] else 3), function(x) said(is.numeric(x) && k > 3),
    function(x) if (k > 1) said(c(1, 2)[[k]]), function(x) said(local(if (k > 1) x)),
    function(x) said(function(a) if (a) return(x)), function(x) said(x[1] <- x[[k]]),
    function(x) said(while (k > 3) k <- k - 1), function(x) said(for (j in 1:2) if (j > 1) break),
    function(x) (if (k > 1) x else 2) + "a", function(x) stop(deparse(inner)),
    function(x) if (sum(x) > 1) said(if (k > 1) x[[1]] else 3) else x
  )
  for (f in programs) {
    want <- tryCatch(f(x), error = identity)
    got <- tryCatch(jit(f)(x), error = identity)
    expect_identical(conditionMessage(got), conditionMessage(want))
    if (called_name(conditionCall(want)) != "f") {
      expect_identical(deparse(conditionCall(got)), deparse(conditionCall(want)))
    }
  }
})

test_that("calls that traced code prints are the user's", {
  k <- 2
  own <- function(p) deparse(sys.call())
  matched <- function(p) deparse(match.call())
  printed <- function(f, x) capture.output(invisible(f(x)))
  for (f in list(
    function(x) cat(own(if (k > 1) x else 3)), function(x) cat(matched(x[[k]] && TRUE)),
    function(x) length(print(own(x[[k]]))), function(x) writeLines(deparse(sys.call()[-1L]))
  )) {
    expect_identical(printed(jit(f), x), printed(f, x))
  }
})
