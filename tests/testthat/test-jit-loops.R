# Loops and branches, beside R's own loops over the same functions of tensors.

same <- function(x, y) {
  expect_identical(lapply(leaves(x), dtype_of), lapply(leaves(y), dtype_of))
  expect_identical(lapply(leaves(x), joist::shape), lapply(leaves(y), joist::shape))
  expect_identical(lapply(leaves(x), as_array), lapply(leaves(y), as_array))
}
dtype_of <- function(x) paste0(format(dtype(x)), if (ambiguous(x)) "?")
leaves <- function(x) if (is.list(x)) unlist(lapply(x, leaves), recursive = FALSE) else list(x)

test_that("nv_for() is R's for", {
  body <- function(i, x) x * 0.5 + i
  for (dtype in c("f16", "bf16", "f32", "f64", "c64")) {
    x <- nv_tensor(c(1, -2, 3.5), dtype)
    for (n in c(0L, 1L, 2L, 7L)) {
      expected <- x
      for (i in seq_len(n)) {
        expected <- body(nv_tensor(i, shape = integer(), ambiguous = TRUE), expected)
      }
      same(nv_for(n, x, body), expected)
      same(jit(function(x, n) nv_for(n, x, body))(x, n), expected)
      same(jit(function(x) nv_for(n, x, body))(x), expected)
      same(nv_for(nv_scalar(n, "ui8"), x, body), expected)
    }
  }
  same(nv_for(-3, nv_scalar(1), function(i, x) x + 1), nv_scalar(1))
})

test_that("nv_while() is R's while", {
  collatz <- function(state) {
    odd <- state$n %% 2L == 1L
    list(n = nv_ifelse(odd, 3L * state$n + 1L, state$n %/% 2L), steps = state$steps + 1L)
  }
  run <- function(n) {
    nv_while(list(n = n, steps = nv_scalar(0L, "i16")), function(state) state$n != 1L, collatz)
  }
  steps <- function(n) {
    count <- 0L
    while (n != 1) {
      n <- if (n %% 2 == 1) 3 * n + 1 else n / 2
      count <- count + 1L
    }
    count
  }
  compiled <- jit(run)
  for (n in c(1, 2, 7, 27, 97)) {
    expected <- list(n = nv_scalar(1L, "i64"), steps = nv_scalar(steps(n), "i16"))
    same(run(nv_scalar(n, "i64")), expected)
    same(compiled(nv_scalar(n, "i64")), expected)
  }
  expect_output(print(compiled), "^<jit function of \\(n\\), 1 program>")
})

test_that("functions get the elements of a named list one by one", {
  one <- nv_while(
    list(i = 1L, total = 0), function(i, total) i <= 10L,
    function(total, i) list(i = i + 1L, total = total + i)
  )
  whole <- nv_while(
    list(i = 1L, total = 0), function(s) s$i <= 10L,
    function(s) list(i = s$i + 1L, total = s$total + s$i)
  )
  same(one, whole)
  expect_equal(as_array(one$total), 55)
  expect_equal(
    as_array(nv_for(3, list(a = 1, b = 2), function(i, a, b) list(a = b, b = a + i))$b), 5
  )
})

test_that("nv_scan() hands on a state and keeps results", {
  x <- matrix(rnorm(12), 4)
  body <- function(state, x) {
    sum <- state + x
    list(sum, list(sum = sum, twice = list(x * 2)))
  }
  scan <- function(init, xs) nv_scan(init, xs, body)
  for (f in list(scan, jit(scan))) {
    out <- f(nv_tensor(c(0, 0, 0), "f64"), nv_tensor(x, "f64"))
    expect_equal(as_array(out$carry), colSums(x))
    expect_equal(as_array(out$ys$sum), apply(x, 2, cumsum))
    expect_identical(as_array(out$ys$twice[[1]]), x * 2)
  }
  back <- nv_scan(nv_tensor(c(0, 0, 0), "f64"), nv_tensor(x, "f64"), body, reverse = TRUE)
  expect_equal(as_array(back$ys$sum), apply(x[4:1, ], 2, cumsum)[4:1, ])
  none <- nv_scan(nv_scalar(1L), nv_tensor(integer(), "i32"), function(s, x) list(s + x, s))
  same(none, list(carry = nv_scalar(1L), ys = nv_tensor(integer(), "i32")))
  nothing <- nv_scan(nv_scalar(1L), list(nv_tensor(1:3), nv_tensor(4:6)), function(s, x) {
    list(s + x[[1]] * x[[2]], NULL)
  })
  expect_null(nothing$ys)
  expect_identical(as_array(nothing$carry), 33L)
  wide <- nv_scan(nv_scalar(0L), nv_tensor(array(1:24, c(2, 3, 4))), function(s, x) {
    list(s + max(x), t(x))
  })
  expect_identical(as_array(wide$ys), aperm(array(1:24, c(2, 3, 4)), c(1, 3, 2)))
})

test_that("nv_scan() counts where there is nothing to go along", {
  body <- function(s, i) list(s * 2L + i, list(s = s, i = i))
  counted <- function(n) {
    s <- 1L
    all <- integer()
    for (i in seq_len(n)) {
      all <- c(all, s)
      s <- s * 2L + i
    }
    list(carry = s, ys = list(s = all, i = seq_len(n)))
  }
  for (n in c(0, 1, 2, 9)) {
    want <- counted(n)
    ways <- list(
      function(s) nv_scan(s, NULL, body, length = n), function(s) nv_scan(s, n, body),
      function(s) nv_scan(s, as.integer(n), body), function(s) nv_scan(s, seq_len(n), body),
      function(s) nv_scan(s, body = body, length = n), function(s) nv_scan(s, n, body, length = n)
    )
    for (way in c(ways, lapply(ways, jit))) {
      out <- way(nv_scalar(1L))
      expect_identical(as_array(out$carry), want$carry)
      expect_identical(as_array(out$ys$s), want$ys$s)
      expect_identical(as_array(out$ys$i), want$ys$i)
    }
  }
  back <- nv_scan(nv_scalar(0L), 4, function(s, i) list(s * 10L + i, s), reverse = TRUE)
  expect_identical(as_array(back$carry), 4321L)
  expect_identical(as_array(back$ys), c(432L, 43L, 4L, 0L))
  expect_identical(as_array(nv_scan(nv_scalar(1L), -3, body)$carry), 1L)
  pair <- nv_scan(list(a = 1, b = 2), length = 3, body = function(a, b, i) {
    list(list(a = b, b = a + i), NULL)
  })
  expect_equal(vapply(pair$carry, as_array, 1), c(a = 4, b = 5))
  slope <- gradient(function(x) nv_scan(x, 3, function(s, i) list(s * x, s))$carry)
  expect_equal(as_array(slope(nv_scalar(2, "f64"))[[1]]), 4 * 2^3)
  expect_equal(as_array(nv_scan(0, nv_tensor(7), function(s, x) list(s + x, NULL))$carry), 7)
})

test_that("what nv_scan() is to count is checked", {
  body <- function(s, i) list(s, i)
  expect_error(nv_scan(0, body = body), "needs `xs` or `length`", class = "joist_value_error")
  expect_error(
    nv_scan(0, nv_tensor(1:3), body, length = 4), "`length` of nv_scan() is 4, and `xs` has shape",
    fixed = TRUE, class = "joist_value_error"
  )
  expect_error(nv_scan(0, 1.5, body), class = "joist_shape_error")
  for (length in list(1.5, c(1, 2), "3", NA, nv_scalar(3L))) {
    expect_error(nv_scan(0, length = length, body = body), "`length` must be one whole number")
  }
  expect_error(
    jit(function(n) nv_scan(0, length = n, body = body))(3), "static", class = "joist_value_error"
  )
  counts <- jit(function(n) nv_scan(0, length = n, body = body)$ys, static = "n")
  expect_identical(as_array(counts(3)), 1:3)
})

test_that("nv_if() computes the branch that is taken, in the common dtype", {
  f <- function(p, x, y) nv_if(p, x, list(y)[[1]])
  for (types in list(c("i8", "f32"), c("f16", "bf16"), c("ui8", "i8"), c("i32", "i32"))) {
    x <- nv_tensor(c(1, 2), types[1])
    y <- nv_tensor(c(3, 4), types[2])
    for (p in c(TRUE, FALSE)) {
      expected <- nv_ifelse(nv_scalar(p), x, y)
      same(f(p, x, y), expected)
      same(f(nv_scalar(p), x, y), expected)
      same(jit(f)(nv_scalar(p), x, y), expected)
    }
    same(jit(f)(nv_scalar(TRUE), x, nv_tensor(c(1, 1), types[2])), nv_ifelse(TRUE, x, y))
  }
  x <- nv_tensor(c(1L, 2L))
  zero <- nv_tensor(c(0L, 0L))
  expect_error(x %/% zero, class = "joist_value_error")
  guarded <- function(x, y) nv_if(all(y != 0L), x %/% y, function() x)
  same(guarded(x, zero), x)
  same(jit(guarded)(x, zero), x)
  same(jit(guarded)(x, x), nv_tensor(c(1L, 1L)))
  expect_error(jit(function(x, y) nv_if(all(y == 0L), x %/% y, x))(x, zero), "division by zero")
  # R numbers are exact until they meet a dtype.
  exact <- function(p, x) nv_if(p, 0.1, x)
  same(exact(TRUE, nv_scalar(1, "f64")), nv_scalar(0.1, "f64"))
  same(jit(exact)(nv_scalar(TRUE), nv_scalar(1, "f64")), nv_scalar(0.1, "f64"))
  expect_error(exact(TRUE, nv_tensor(c(1, 2))), class = "joist_shape_error")
  expect_error(nv_if(TRUE, list(a = 1), list(b = 1)), "lacks `true$a`", fixed = TRUE)
  expect_error(nv_if(1, 1, 2), "scalar of dtype bool")
  expect_error(nv_if(TRUE, function(x) x, 2), "without arguments", class = "joist_value_error")
})

test_that("an ambiguous state takes the known dtype that the body gives it", {
  tenth <- nv_scalar(0.1, "f64")
  add <- function(i, x) x + tenth
  three <- nv_scalar(0.1 + 0.1 + 0.1, "f64")
  same(nv_for(2, 0.1, add), three)
  same(jit(function(x) nv_for(2, x, function(i, y) y + tenth))(0.1), three)
  # One after the other: b takes its dtype from a, c from b.
  chain <- nv_for(4, list(a = 0L, b = 0L, c = 0L), function(i, a, b, c) {
    list(a = a + nv_scalar(1L, "i8"), b = b + a, c = c + b)
  })
  expect_identical(unname(sapply(chain, dtype_of)), c("i8", "i8", "i8"))
  expect_identical(as_array(chain$c), 4L)
  expect_identical(dtype_of(nv_for(2, 1L, function(i, x) x * 2L)), "i32?")
  # A known one keeps its dtype, and ambiguous results take it, R numbers exactly.
  same(nv_for(2, nv_scalar(1, "f64"), function(i, x) 0.1), nv_scalar(0.1, "f64"))
  expect_error(
    nv_for(2, list(a = 1L, b = list(nv_scalar(1, "f32"))), function(i, s) {
      list(a = s$a, b = list(nv_convert(s$b[[1]], "f64")))
    }),
    "`init$b[[1]]` of nv_for() is f32, and the body makes it f64",
    fixed = TRUE, class = "joist_promotion_error"
  )
  expect_error(
    jit(function(x) nv_while(x, function(x) x < 3, function(x) x + 0.5))(nv_scalar(1L)),
    "`init` of nv_while() is i32, and the body makes it f32?",
    fixed = TRUE, class = "joist_promotion_error"
  )
  # No fixed point: known is not what both have in common.
  expect_error(
    nv_for(2, 0.5, function(i, x) nv_convert(x, "i32")), "is f32?, and the body makes it i32",
    fixed = TRUE
  )
  for (rules in setdiff(promotion_rule_sets()$id, c("numpy_legacy", "cupy", "dask_legacy"))) {
    with_promotion(rules, {
      x <- nv_tensor(c(1, 2), "f32")
      body <- function(i, s) list(s[[1]] + x, s[[2]])
      out <- tryCatch(nv_for(3, list(0.5, 1L), body), joist_error = conditionMessage)
      compiled <- jit(function() nv_for(3, list(0.5, 1L), body))
      both <- tryCatch(compiled(), joist_error = conditionMessage)
      if (is.character(out)) expect_identical(out, both) else same(out, both)
    })
  }
})

test_that("shapes, structures and arguments are checked before the first iteration", {
  x <- nv_tensor(1:2)
  grow <- function(i, x) c(x, x)
  for (f in list(function(x) nv_for(3, x, grow), jit(function(x) nv_for(3, x, grow)))) {
    expect_error(f(x), "`init` of nv_for() has shape {2}, and the body gives it shape {4}",
      fixed = TRUE, class = "joist_shape_error"
    )
  }
  expect_error(nv_for(0, x, grow), class = "joist_shape_error")
  expect_error(
    nv_for(1, list(a = x), function(i, a) list(b = a)), "it lacks `init$a`",
    fixed = TRUE
  )
  expect_error(nv_for(1, list(), function(i, s) s), "has no tensor")
  expect_error(nv_for(1.5, x, function(i, s) s), "whole number")
  expect_error(nv_for(nv_scalar(1), x, function(i, s) s), "integer dtype")
  expect_error(nv_for(x, x, function(i, s) s), "scalar of an integer dtype")
  expect_error(nv_while(x, function(x) x > 0L, function(x) x), "scalar of dtype bool, not bool{2}",
    fixed = TRUE
  )
  expect_error(nv_scan(1, nv_scalar(1), function(s, x) list(s, x)), class = "joist_shape_error")
  expect_error(
    nv_scan(1, list(a = x, b = nv_tensor(1:3)), function(s, x) list(s, x)), "`xs$b`",
    fixed = TRUE, class = "joist_shape_error"
  )
  expect_error(nv_scan(1, x, function(s, x) s), "list of two")
  expect_error(nv_scan(1, list(), function(s, x) list(s, x)), "has no tensor")
  expect_error(nv_scan(1, x, function(s, x) list(s, x), reverse = NA), "TRUE or FALSE")
  expect_error(nv_for(2, x, function(i, x) if (x > 0L) x else -x), class = "joist_trace_error")
  expect_error(nv_for(2, x, "no function at all"), class = "joist_value_error")
})

test_that("loops within loops and branches read what is around them", {
  f <- function(x, h) {
    outside <- x * 2L
    nv_for(3, x, function(i, a) {
      inside <- a + i
      nv_if(sum(a) > 20L, nv_for(i, a, function(j, b) b + inside * j + outside * h), a + outside)
    })
  }
  plain <- function(x, h) {
    a <- x
    for (i in 1:3) {
      inside <- a + i
      if (sum(a) > 20L) {
        for (j in seq_len(i)) a <- a + inside * j + x * 2L * h
      } else {
        a <- a + x * 2L
      }
    }
    a
  }
  for (x in list(c(1L, 2L), c(20L, 3L), c(7L, 6L))) {
    expected <- nv_tensor(plain(x, 3L))
    same(f(nv_tensor(x), 3L), expected)
    same(jit(f)(nv_tensor(x), 3L), expected)
  }
})

test_that("loops within loops and branches hand missing values on", {
  x <- c(1, NA, 3, NaN)
  step <- function(x) x * 2 + c(0, 1, NA, 1)
  wanted <- x
  for (k in 1:6) wanted <- step(wanted)
  in_loops <- function(x) {
    nv_for(2L, x, function(i, x) {
      nv_scan(x, length = 3L, body = function(x, k) list(step(x), k))$carry
    })
  }
  in_branches <- function(x, n) {
    nv_for(n, x, function(i, x) {
      k <- nv_scalar(0L)
      nv_while(list(x = x, k = k), function(x, k) k < 3L, function(x, k) {
        list(x = nv_if(k < 100L, function() step(x), function() x), k = k + 1L)
      })$x
    })
  }
  t <- nv_tensor(x, "f64")
  expect_identical(as_array(in_loops(t)), wanted)
  expect_identical(as_array(jit(in_loops)(t)), wanted)
  expect_identical(as_array(jit(in_branches)(t, nv_scalar(2L))), wanted)
  written <- jit(function(x, n) {
    for (i in seq_len(n)) {
      k <- 0
      while (k < 3) {
        x <- step(x)
        k <- k + 1
      }
    }
    x
  })
  expect_identical(as_array(written(t, nv_scalar(2L))), wanted)
})

test_that("bodies are one program for every number of turns, and are printed", {
  f <- jit(function(x, n) nv_for(n, x, function(i, y) y * 2 + x))
  for (n in c(3L, 50L, 2000L)) f(nv_scalar(0.5, "f64"), n)
  expect_output(print(f), "1 program")
  lines <- utils::capture.output(program(f))
  expect_match(lines, "= for\\(%[0-9]+, %1, 2:f64, %1\\)", all = FALSE)
  expect_match(lines, "^    %[0-9]+: f64\\{\\} = mul\\(", all = FALSE)
  table <- as.data.frame(program(f))
  expect_identical(table$op, c("for", "mul", "add"))
  expect_identical(table$depth, c(0L, 1L, 1L))
})

test_that("nv_aval() goes through loops", {
  f <- function(x) nv_scan(0, x, function(s, x) list(s + x, s > 1))
  out <- jit(f)(nv_aval("f64", 5))
  expect_identical(dtype_of(out$carry), "f64")
  expect_identical(joist::shape(out$ys), 5L)
  expect_identical(format(dtype(f(nv_aval("bf16", 7))$carry)), "bf16")
})

test_that("recordings list the operations in loops and gradients when these are traced", {
  f <- function(x, n) {
    y <- nv_for(3, x, function(i, y) y * n)
    gradient(function(w) sum(w * n))(y)
  }
  x <- nv_tensor(c(1, 2))
  n <- nv_tensor(1:2, "i32")
  trace <- trace_dtypes(f, x, n)
  expect_identical(trace$count[trace$call == "y * n"], 1L)
  expect_identical(trace$operands[trace$call == "w * n"], "f32, i32")
  # What is computed is what it was.
  expect_identical(as.vector(f(x, n)$w), c(1, 2))
  compared <- compare_rules(f, "jax", "numpy", x, n)
  expect_true(all(c("y * n", "w * n") %in% c(compared$lines$call, compared$errors$call)))
})

test_that("a loop that never ends can be stopped", {
  for (f in list(identity, jit)) {
    f <- f(function(x) nv_while(x, function(x) x > 0L, function(x) x))
    expect_error(
      {
        setTimeLimit(elapsed = 0.3, transient = TRUE)
        f(nv_scalar(1L))
      },
      "time limit"
    )
  }
  same(nv_for(2, nv_scalar(1L), function(i, x) x + 1L), nv_scalar(3L))
})

test_that("an error within a body leaves nothing behind", {
  expect_error(nv_for(2, nv_scalar(1), function(i, x) stop("mine")), "mine")
  same(nv_scalar(1) + nv_scalar(2), nv_scalar(3))
  f <- jit(function(x) {
    y <- tryCatch(nv_for(2, x, function(i, x) stop("mine")), error = function(e) x + 1)
    y * 2
  })
  same(f(nv_scalar(1)), nv_scalar(4))
  kept <- NULL
  keep <- function(i, x) {
    kept <<- x
    x
  }
  expect_error(nv_for(2, nv_scalar(1), keep), "`kept` is outside", class = "joist_trace_error")
  expect_error(jit(function(x) nv_for(2, x, keep))(nv_scalar(1)), "`kept` is outside")
  expect_null(kept)
})

test_that("a jitted function and constants work in a body", {
  double <- jit(function(x) x * 2)
  same(nv_for(3, nv_scalar(1), function(i, x) double(x)), nv_scalar(8))
  same(
    nv_for(3, nv_scalar(1), function(i, x) {
      x + double(nv_scalar(2)) + sum(cumsum(nv_tensor(c(1, 1))))
    }),
    nv_scalar(1 + 3 * (4 + 3))
  )
})

test_that("sequences and what infers dtypes work in a body as outside", {
  x <- nv_tensor(c(10, 20, 30))
  makers <- list(
    function() nv_seq(1, 3), function() nv_seq(3L, 1L), function() nv_seq(0, 1, by = 0.5),
    function() nv_linspace(1, 3, 3), function() nv_einsum("i,i->i", nv_tensor(1:3), 2:4),
    function() sort(nv_tensor(c(3, 1, 2)))
  )
  wanted <- list(1:3, 3:1, c(0, 0.5, 1), 1:3, 1:3 * 2:4, 1:3)
  Map(function(make, wanted) {
    body <- function(i, x) x + make()
    for (loop in list(function(x) nv_for(2L, x, body), jit(function(x) nv_for(2L, x, body)))) {
      expect_equal(as.double(loop(x)), c(10, 20, 30) + 2 * wanted)
    }
    chosen <- nv_if(x[[1]] > 0, make(), make())
    expect_identical(list(as_array(chosen), dtype(chosen)), list(as_array(make()), dtype(make())))
  }, makers, wanted)
  expect_error(
    nv_for(2L, x, function(i, x) x + nv_seq(1L, i)), "decides about shapes|not known",
    class = "joist_value_error"
  )
})

test_that("what R does not dispatch in a body is an error that names the way", {
  x <- nv_tensor(c(1, 2, 3))
  fails <- function(code, ...) {
    for (text in c(...)) {
      expect_error(code(), text, fixed = TRUE, class = "joist_trace_error")
    }
  }
  fails(
    function() nv_for(2L, x, function(i, x) sum(1:i) + x),
    "`sum(1:i)` needs values, which are not known while jit() traces",
    "`i` is a tensor: use its shape"
  )
})

test_that("nv_scan() moves no elements of what already runs along the last dimension", {
  body <- function(carry, slice) list(carry + slice, slice * carry)
  moved <- function(f, x) sum(grepl("transpose", utils::capture.output(print(program(jit(f), x)))))
  beside <- function(x) {
    carry <- 0
    for (k in seq_len(nrow(x))) {
      y <- x[k, ] * carry
      carry <- carry + x[k, ]
      x[k, ] <- y
    }
    x
  }
  values <- matrix(c(1, 2, 3, 4, 5, 6, 7, 8), 4)
  scan_rows <- function(x) nv_scan(nv_tensor(c(0, 0)), x, body)$ys
  scan_columns <- function(x) t(scan_rows(t(x)))
  expect_equal(as_array(scan_rows(nv_tensor(values))), beside(values))
  expect_equal(as_array(jit(scan_columns)(nv_tensor(t(values)))), t(beside(values)))
  expect_identical(moved(scan_rows, nv_tensor(values)), 2L)
  expect_lte(moved(scan_columns, nv_tensor(t(values))), 2L)
  # A dimension of extent 1 moves nothing either.
  for (extents in list(c(4, 1), c(4, 1, 1), c(1, 4))) {
    x <- array(values[1:4], extents)
    start <- nv_tensor(array(0, extents[-1]))
    scan_one <- function(x) nv_scan(start, x, body)$ys
    expect_identical(moved(scan_one, nv_tensor(x)), 0L)
    rows <- beside(matrix(x, extents[1]))
    expect_equal(c(as_array(scan_one(nv_tensor(x)))), c(rows))
    expect_equal(dim(as_array(scan_one(nv_tensor(x)))), as.integer(extents))
  }
})

test_that("an inner loop reads a variable that an earlier loop may have left without a value", {
  f <- function(x, changes) {
    r <- NULL
    s <- sum(x)
    while (s > 1) {
      s <- s / 2
      r <- 2
    }
    s <- sum(x)
    ok <- TRUE
    repeat {
      s <- s * 0.5
      if (s < 1) break
      u <- s + 1
      while (u > 1) {
        u <- u / 2
        ok <- is.null(r)
      }
      if (changes) r <- 3
    }
    ok
  }
  x <- nv_tensor(c(1, 2, 3), "f64")
  compiled <- jit(f, static = "changes")
  expect_identical(traced_text(compiled(x, FALSE)), traced_text(f(x, FALSE)))
  expect_error(compiled(x, TRUE), "`r` has a value", class = "joist_trace_error")
})

test_that("powers by one number in a body write within their memory", {
  x <- seq(0.1, 1.2, length.out = 5000)
  double <- nv_tensor(x, "f64")
  for (exponent in list(2, 4, 1.5)) {
    f <- jit(function(x) nv_for(2L, x, function(i, x) x^exponent), native = "never")
    for (k in 1:20) expect_equal(as_array(f(double)), (x^exponent)^exponent)
    expect_identical(as_array(double + 1), x + 1)
  }
})
