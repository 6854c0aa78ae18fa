# jit(): the same results as without it, and what tracing may and may not do.

op_table <- operation_table()

# The value of an expression, or the class and message of its error.
result_of <- function(code) {
  tryCatch(code, joist_error = function(e) c(class(e)[1], conditionMessage(e)))
}

programs <- function(f) {
  sub(".*, ([0-9]+) programs?>$", "\\1", utils::capture.output(print(f))[1])
}

test_that("eager and jit agree in dtype, flag, bits and errors for every operation and dtype", {
  moved <- c("convert", "bitcast_convert", "broadcast_to")
  ordinary <- op_table[!op_table$name %in% moved & op_table$family == "elementwise", ]
  for (row in seq_len(nrow(ordinary))) {
    f <- nv(ordinary$name[row])
    compiled <- jit(f)
    for (d in dtypes()) {
      for (ambiguous in c(FALSE, TRUE)) {
        operands <- list(
          sample_tensor(d, ambiguous = ambiguous), nv_tensor(rev(sample_values(d)) != 0),
          sample_tensor("i8")
        )[seq_len(ordinary$least[row])]
        operands[-1] <- lapply(operands[-1], nv_convert, d)
        eager <- result_of(do.call(f, operands))
        traced <- result_of(do.call(compiled, operands))
        if (!identical(traced, eager)) fail(paste(ordinary$name[row], d, ambiguous))
      }
    }
    expect_s3_class(compiled, "joist_jit")
  }
})

test_that("eager and jit agree for reductions, conversions and layout", {
  reductions <- op_table$name[op_table$family == "reduction"]
  for (d in dtypes()) {
    x <- sample_tensor(d, shape = c(2, 3))
    for (name in reductions) {
      for (dims in list(NULL, 1, 2, c(1, 2))) {
        f <- function(x) nv(name)(x, dims = dims, drop = FALSE)
        same <- identical(result_of(jit(f)(x)), result_of(f(x)))
        expect_true(same, label = paste(name, d, deparse1(dims)))
      }
    }
    for (to in partners_of(d)) {
      f <- function(x) nv_convert(x, to)
      g <- function(x) nv_bitcast_convert(x, to)
      expect_true(identical(jit(f)(x), f(x)), label = paste(d, to))
      expect_true(identical(result_of(jit(g)(x)), result_of(g(x))), label = paste(d, to))
    }
    reshape <- function(x) nv_reshape(x, c(3, 2))
    spread <- function(x) nv_broadcast_to(nv_reshape(x, c(2, 3, 1)), c(2, 3, 2))
    expect_identical(jit(reshape)(x), reshape(x))
    expect_identical(jit(spread)(x), spread(x))
  }
})

test_that("fused expressions have the bits of the single operations", {
  set.seed(5)
  for (d in dtypes_of("int", "uint", "float", "complex")) {
    for (e in if (is_narrow(d) || d %in% c("c32", "bc32")) d else c("i8", "f32", "f64")) {
      x <- nv_tensor(rep_len(sample_values(d), 3000), d)
      values <- if (is_narrow(d)) setdiff(few_values(d), 0) else c(3, 1, 2, 7)
      y <- nv_tensor(rep_len(values, 3000), e)
      f <- function(x, y) {
        if (is_narrow(d)) {
          z <- x * y + x
          w <- z * z - x
          return(list(w + y, nv_eq(w, z), nv_reduce_sum(w * y), nv_div(w, y)))
        }
        z <- x * y + 2L
        w <- z * z - x
        list(w + y, nv_eq(w, z), nv_reduce_sum(w * 2L), nv_div(w, y))
      }
      expect_identical(jit(f)(x, y), f(x, y), label = paste(d, e))
    }
  }
})

test_that("eager and jit agree under every rule set", {
  f <- function(x, y) list(x + y, x * 2L, y / x, nv_eq(x, y))
  for (rules in promotion_rule_sets()$id) {
    for (d in dtypes()) {
      x <- nv_tensor(held(c(1, 1), d), d)
      y <- if (is_narrow(d)) x else nv_tensor(c(1, 1), "i16")
      eager <- with_promotion(rules, result_of(f(x, y)))
      same <- identical(with_promotion(rules, result_of(jit(f)(x, y))), eager)
      if (!same) fail(paste(rules, d))
      same <- identical(result_of(jit(f, promotion = rules)(x, y)), eager)
      expect_true(same, label = paste("promotion =", rules, d))
    }
  }
})

test_that("nested lists go in and come out, with names and NULL", {
  f <- function(args, extra = NULL) {
    list(
      sum = args$x + args$more[[1]], nothing = NULL, number = 2.5,
      deep = list(list(b = args$more$b * 2L)), missing = is.null(extra)
    )
  }
  args <- list(x = nv_tensor(1:3, "i8"), more = list(nv_scalar(1, "f64"), b = 3L))
  out <- jit(f)(args)
  expect_named(out, c("sum", "nothing", "number", "deep", "missing"))
  expect_identical(as_array(out$sum), c(2, 3, 4))
  expect_identical(type_of(out$sum), "f64")
  expect_null(out$nothing)
  expect_identical(type_of(out$number), "f32?")
  expect_identical(type_of(out$deep[[1]]$b), "i32?")
  expect_identical(as_array(out$deep[[1]]$b), 6L)
  expect_identical(as_array(out$missing), TRUE)
  expect_identical(as_array(jit(f)(args, list())$missing), FALSE)
  expect_null(jit(function() NULL)())
  expect_identical(jit(function() list())(), list())
  expect_identical(jit(function(x) list(x, x, list(x)))(nv_scalar(1)), {
    list(nv_scalar(1), nv_scalar(1), list(nv_scalar(1)))
  })
})

test_that("an argument is passed through unchanged, NA and all", {
  for (d in dtypes()) expect_identical(jit(function(x) x)(sample_tensor(d)), sample_tensor(d))
  x <- nv_tensor(c(1, NA, NaN), "f64")
  expect_identical(as_array(jit(function(x) x)(x)), c(1, NA, NaN))
})

test_that("values that are neither tensors nor numbers are refused", {
  for (bad in list("a", factor("a"), Sys.Date(), sum, list("a"))) {
    expect_error(jit(function(x) x)(bad), class = "joist_value_error")
    expect_error(jit(function() bad)(), class = "joist_value_error")
  }
  expect_error(jit(function(x) x)(nv_aval("f32", 2), nv_aval("f32", 2)), "unused")
})

test_that("a program is recorded once per dtype, shape and structure, not per value", {
  count <- 0
  f <- jit(function(x) {
    count <<- count + 1
    x * 2L
  })
  for (k in 1:5) expect_identical(as_array(f(nv_scalar(k, "i8"))), 2L * k)
  expect_identical(count, 1)
  f(nv_scalar(1, "i16"))
  expect_identical(count, 2)
  f(nv_tensor(1, "i16"))
  f(nv_scalar(1, "i16", ambiguous = TRUE))
  expect_identical(count, 4)
  f(3L)
  f(4L)
  expect_identical(count, 5)
  with_promotion("jax", f(nv_scalar(1, "i8")))
  expect_identical(count, 6)
  f(nv_scalar(9, "i8"))
  expect_identical(count, 6)
  expect_identical(programs(f), "6")
})

test_that("static arguments are values; a program is recorded for each", {
  count <- 0
  power <- jit(function(x, n, label = "a") {
    count <<- count + 1
    out <- x
    for (k in seq_len(n - 1)) out <- out * x
    if (label == "double") out * 2L else out
  }, static = c("n", "label"))
  x <- nv_tensor(c(2, 3), "f64")
  expect_identical(as_array(power(x, 2)), c(4, 9))
  expect_identical(as_array(power(x, 3)), c(8, 27))
  expect_identical(as_array(power(x, 3)), c(8, 27))
  expect_identical(count, 2)
  expect_identical(as_array(power(x, 3, "double")), c(16, 54))
  expect_identical(as_array(power(x, n = 3, label = "double")), c(16, 54))
  expect_identical(count, 3)
  # Values that are equal but not identical are different.
  expect_identical(as_array(power(x, 3L)), c(8, 27))
  expect_identical(count, 4)
  apply_function <- jit(function(f, x) f(x), static = "f")
  expect_identical(as_array(apply_function(function(x) x + 1, x)), c(3, 4))
  expect_identical(as_array(apply_function(function(x) x - 1, x)), c(1, 2))
  expect_error(jit(function(x) x, static = "y"), "y", class = "joist_value_error")
})

test_that("the least recently used program goes first", {
  traced <- character()
  f <- jit(function(x) {
    traced <<- c(traced, format(dtype(x)))
    x
  }, cache_size = 2)
  for (d in c("i8", "i16", "i8", "i32", "i8", "i16")) f(nv_scalar(1, d))
  expect_identical(traced, c("i8", "i16", "i32", "i16"))
  expect_identical(programs(f), "2")
  for (bad in list(0, -1, NA)) {
    expect_error(jit(function(x) x, cache_size = bad), "cache_size", class = "joist_value_error")
  }
})

test_that("defaults, missing arguments and dots work as in R", {
  f <- jit(function(x, y = x * 2L, ...) {
    extra <- list(...)
    if (length(extra)) x + y + extra[[1]] else x + y
  })
  x <- nv_scalar(5, "i16")
  expect_identical(as_array(f(x)), 15L)
  expect_identical(as_array(f(x, 1L)), 6L)
  expect_identical(as_array(f(y = 1L, x = x)), 6L)
  expect_identical(as_array(f(x, 1L, 100L)), 106L)
  g <- jit(function(x, y) if (missing(y)) x else x + y)
  expect_identical(as_array(g(x)), 5L)
  expect_identical(as_array(g(x, 2L)), 7L)
  expect_identical(names(formals(f)), c("x", "y", "..."))
})

test_that("constants are those of the time of tracing", {
  k <- 2L
  f <- jit(function(x) x * k)
  x <- nv_scalar(3, "i8")
  expect_identical(as_array(f(x)), 6L)
  k <- 10L
  expect_identical(as_array(f(x)), 6L)
  expect_identical(as_array(f(nv_tensor(3, "i8"))), 30L)
  tensor <- nv_tensor(c(1, 2), "f64")
  g <- jit(function(x) x + tensor)
  g(1)
  before <- as_array(tensor)
  expect_identical(as_array(g(1)), c(2, 3))
  expect_identical(as_array(tensor), before)
  vector <- c(1, 2)
  h <- jit(function(x) x + vector)
  y <- nv_tensor(c(0, 0), "f64")
  expect_identical(as_array(h(y)), c(1, 2))
  vector[1] <- 50
  expect_identical(as_array(h(y)), c(1, 2))
})

test_that("compiled functions call compiled functions, and can be compiled again", {
  inner <- jit(function(x) x + 1L)
  outer <- jit(function(x, y) inner(x) * inner(y))
  x <- nv_scalar(2, "i8")
  y <- nv_scalar(3, "f64")
  expect_identical(as_array(outer(x, y)), 12)
  expect_identical(type_of(outer(x, y)), "f64")
  expect_identical(as_array(jit(inner)(x)), 3L)
  expect_identical(as_array(jit(jit(jit(function(x) x * x)))(x)), 4L)
  expect_identical(jit(nv_add)(x, y), x + y)
  expect_identical(jit("nv_add")(x, y), x + y)
  expect_identical(as_array(jit(sqrt)(nv_scalar(4, "f64"))), 2)
})

test_that("promotion = is the function's own, also inside others", {
  f <- function(x) x / 3L
  x <- nv_scalar(1, "i32")
  expect_identical(type_of(jit(f)(x)), "f32?")
  expect_identical(type_of(jit(f, promotion = "numpy")(x)), "f64")
  expect_identical(as_array(jit(f, promotion = "numpy")(x)), 1 / 3)
  expect_identical(type_of(f(x)), "f32?")
  compiled <- jit(f, promotion = "numpy")
  expect_identical(type_of(with_promotion("anvil", compiled(x))), "f64")
  both <- jit(function(x) list(compiled(x), f(x)))(x)
  expect_identical(vapply(both, type_of, ""), c("f64", "f32?"))
  undefined <- jit(function(x) x + nv_tensor(c(1, 1)), promotion = "array_api")
  expect_error(undefined(nv_tensor(1:2)), "array_api", class = "joist_promotion_error")
  expect_error(jit(f, promotion = "nonesuch")(x), class = "joist_promotion_error")
  expect_null(getOption("joist.promotion"))
})

test_that("abstract tensors give abstract tensors", {
  f <- jit(function(x, y) list(total = nv_reduce_sum(x * y, dims = 1), mean = mean(x)))
  out <- f(nv_aval("i8", c(3, 2)), nv_aval("f32", c(1, 2)))
  expect_s3_class(out$total, "nv_aval")
  expect_identical(type_of(out$total), "f32")
  expect_identical(shape(out$total), 2L)
  expect_identical(type_of(out$mean), "f32?")
  expect_error(f(nv_aval("i8", c(3, 2)), nv_aval("f32", c(4, 2))), class = "joist_shape_error")
  expect_identical(shape(jit(nv_add)(nv_aval("f32", c(40000, 40000)), 1L)), c(40000L, 40000L))
})

test_that("functions of R that need the value of a traced tensor say what to do", {
  x <- nv_scalar(1, "f32")
  others <- list(
    ":" = function(n) 1:n, seq_len = function(n) seq_len(n), matrix = function(n) matrix(0, n),
    cat = function(n) cat(n)
  )
  for (keyword in names(others)) {
    f <- jit(others[[keyword]])
    error <- expect_error(f(2L), "`n` is a tensor", class = "joist_trace_error")
    expect_s3_class(error, "joist_value_error")
    expect_match(conditionMessage(error), "static argument", info = keyword)
    expect_identical(as.character(conditionCall(error)[[1L]]), keyword)
    expect_match(conditionMessage(error), "needs values, which are not known", fixed = TRUE)
  }
  # Of stats, with what to call instead.
  for (f in list(
    function(x) plogis(x), function(x) stats::plogis(2 * x), function(x) {
      y <- x + 1
      plogis(y)
    }
  )) {
    expect_error(jit(f)(x), "nv_logistic()", fixed = TRUE, class = "joist_trace_error")
  }
  expect_error(
    jit(function(x) nv_for(2L, x, function(i, x) dnorm(x)))(x), "call nv_dnorm\\(\\)$",
    class = "joist_trace_error"
  )
  expect_error(jit(function(x) psigamma(x, 2))(x), "call nv_polygamma()", fixed = TRUE)
  # Conditions on known values work, and other errors keep their messages.
  expect_identical(as_array(jit(function(x) if (dtype(x) == "f32") x + 1 else x)(x)), 2)
  expect_error(jit(function(x) if (NULL) x)(x), "length zero")
  error <- expect_error(jit(function(x) stop("mine"))(x), "^mine$")
  expect_identical(conditionCall(error), quote(jitted(x = x)))
})

test_that("the part of a result that is not a tensor is named", {
  x <- nv_scalar(1)
  expect_error(jit(function(x) "a")(x), "^the result of the function", class = "joist_value_error")
  expect_error(
    jit(function(x) list(x, NULL, list(y = 1, z = dtype(x))))(x), "the result[[3]]$z of",
    fixed = TRUE, class = "joist_value_error"
  )
})

test_that("arguments reach the function whatever they are called and are", {
  apply <- jit(function(jitted, g) g(jitted), static = "g")
  expect_identical(as_array(apply(nv_scalar(4), sqrt)), 2)
  expect_identical(as_array(jit(function(...) ..1 - ..2)(nv_scalar(4), nv_scalar(1))), 3)
  expect_identical(as_array(jit(function(...) list(...)$a)(2L, a = nv_scalar(4))), 4)
  count <- jit(function(x, q) x + length(q), static = "q")
  expect_identical(as_array(count(nv_scalar(1), quote(a + b))), 4)
  expect_identical(as_array(count(nv_scalar(1), quote(a))), 2)
  expect_identical(as_array(count(nv_scalar(1), NULL)), 1)
})

test_that("values are not known while tracing", {
  x <- nv_tensor(c(1, 2), "f32")
  readers <- list(
    as_array, as.vector, as.double, as.integer, as.logical, as.character,
    function(x) as.matrix(x), anyNA, is.na
  )
  for (reader in readers) {
    expect_error(jit(function(x) {
      reader(x)
      x
    })(x), class = "joist_value_error")
  }
  expect_error(jit(function(x) as_array(x))(x), "static")
  # Properties are.
  seen <- NULL
  jit(function(x) {
    seen <<- list(shape(x), dim(x), length(x), ndims(x), format(dtype(x)), ambiguous(x))
    x
  })(x)
  expect_identical(seen, list(2L, NULL, 2L, 1L, "f32", FALSE))
})

test_that("a traced tensor that escapes is an error, not a wrong number", {
  kept <- NULL
  jit(function(x) {
    kept <<- x + 1
    kept
  })(nv_scalar(1))
  for (use in list(
    function() kept + 1, function() as_array(kept), function() jit(function(y) y + kept)(1),
    function() nv_reduce_sum(kept)
  )) {
    expect_error(use(), class = "joist_value_error")
  }
  expect_output(print(kept), "f32")
  after <- jit(function(x) x + 1)(nv_scalar(1))
  expect_identical(as_array(after), 2)
})

test_that("an error while tracing leaves nothing behind", {
  fail_once <- TRUE
  f <- jit(function(x) {
    if (fail_once) stop("not yet")
    x * 2L
  })
  expect_error(f(nv_scalar(1L)), "not yet")
  fail_once <- FALSE
  expect_identical(as_array(f(nv_scalar(1L))), 2L)
  g <- jit(function(x, y) x %/% y)
  expect_error(g(nv_tensor(1:3), nv_tensor(c(1L, 0L, 1L))), "position 2",
    class = "joist_value_error"
  )
  expect_identical(as_array(g(nv_tensor(1:3), nv_tensor(c(1L, 2L, 1L)))), c(1L, 1L, 3L))
})

test_that("a program prints one line per instruction, with ? where a dtype is a guess", {
  f <- jit(function(x, y) {
    z <- x + 1L
    z * y
  })
  expect_identical(programs(f), "0")
  f(nv_scalar(TRUE), nv_scalar(2L, "i16"))
  out <- utils::capture.output(print(f))
  expect_match(out[1], "(x, y), 1 program>", fixed = TRUE)
  body <- out[-1]
  add <- grep("add(", body, fixed = TRUE, value = TRUE)
  mul <- grep("mul(", body, fixed = TRUE, value = TRUE)
  expect_length(add, 1)
  expect_length(mul, 1)
  expect_match(add, "i32?{}", fixed = TRUE)
  expect_match(mul, "i16{}", fixed = TRUE)
  expect_false(grepl("i16?", mul, fixed = TRUE))
  expect_match(body[length(body) - 1], "return")
  expect_length(grep("argument", body), 2)
})

test_that("rules that look at values see the values of literals", {
  f <- jit(function(x, y) x + y, promotion = "numpy_legacy")
  x <- nv_tensor(c(1, 2), "i8")
  expect_identical(type_of(f(x, 100L)), "i8")
  expect_identical(type_of(f(x, 1000L)), "i16")
  expect_identical(type_of(f(x, 100000L)), "i32")
  expect_identical(as_array(f(x, 1000L)), c(1001L, 1002L))
  expect_identical(as_array(f(x, 50L)), c(51L, 52L))
})

test_that("a compiled function survives saveRDS()", {
  f <- jit(function(x, n) x * n, static = "n", cache_size = 3)
  x <- nv_tensor(c(1, 2), "f64")
  f(x, 2)
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(f, file)
  g <- readRDS(file)
  expect_identical(as_array(g(x, 2)), c(2, 4))
  expect_identical(as_array(g(x, 3)), c(3, 6))
  expect_identical(programs(g), "2")
  expect_identical(as_array(f(x, 2)), c(2, 4))
})

test_that("compiled functions leave their arguments and each other's results alone", {
  f <- jit(function(x) x + 1)
  x <- nv_tensor(c(1, 2, 3), "f64")
  first <- f(x)
  second <- f(first)
  expect_identical(as_array(x), c(1, 2, 3))
  expect_identical(as_array(first), c(2, 3, 4))
  expect_identical(as_array(second), c(3, 4, 5))
  v <- c(1, 2, 3)
  out <- jit(function(x) x)(nv_tensor(v, "f64"))
  v[1] <- 9
  expect_identical(as_array(out), c(1, 2, 3))
})

test_that("unused work and repeated results are fine", {
  f <- jit(function(x) {
    waste <- exp(x)
    y <- x + 1
    list(y, y, x, waste - waste)
  })
  x <- nv_tensor(c(1, 2), "f64")
  out <- f(x)
  expect_identical(out[[1]], out[[2]])
  expect_identical(out[[3]], x)
  expect_identical(as_array(out[[4]]), c(0, 0))
  many <- jit(function(x) {
    for (k in 1:200) x <- x + k
    x
  })
  expect_identical(as_array(many(x)), c(1, 2) + sum(1:200))
  wide <- jit(function(x) lapply(1:60, function(k) x * k))
  expect_identical(vapply(wide(nv_scalar(1, "f64")), as_array, 1), as.numeric(1:60))
})

test_that("defaults belong to the function", {
  scaled <- local({
    factor <- 3
    function(x, lower = FALSE, by = factor, n = nrow(x)) if (lower) x else x * by + n
  })
  x <- nv_tensor(matrix(1:6, 2), "f64")
  f <- jit(scaled)
  expect_identical(as_array(f(x)), matrix(1:6, 2) * 3 + 2)
  expect_identical(as_array(f(x, by = 4)), matrix(1:6, 2) * 4 + 2)
  expect_identical(as_array(f(x, n = 4)), matrix(1:6, 2) * 3 + 4)
  expect_identical(as_array(f(x, TRUE)), matrix(1:6, 2) + 0)
  expect_identical(as_array(f(x, FALSE)), matrix(1:6, 2) * 3 + 2)
  difference <- jit(function(...) list(...)$a - list(...)$b)
  expect_identical(as_array(difference(a = x, b = x * 2)), -matrix(1:6, 2) + 0)
  expect_identical(as_array(difference(b = x, a = x * 2)), matrix(1:6, 2) + 0)
  product <- nv_matmul(t(x), x) + nv_eye(3L, "f64")
  expect_identical(as_array(jit(nv_chol)(product)), as_array(nv_chol(product)))
  expect_identical(as_array(jit(nv_concatenate)(x, x)), as_array(nv_concatenate(x, x)))
})

test_that("R numbers, and what is computed of them alone, are exact where they meet tensors", {
  f <- function(y, h) y + h / 3
  y <- nv_tensor(1, "f64")
  want <- 1 + 1 / 3
  expect_identical(as_array(jit(f, static = "h")(y, 1)), want)
  expect_identical(as_array(jit(f)(y, nv_scalar(1, "f64"))), want)
  expect_identical(as_array(jit(f)(y, 1)), want)
  expect_identical(jit(function(y, h) y + nv_div(h, 3))(y, 1), y + nv_div(1, 3))
  expect_identical(as_array(jit(function(y, h) (y + h) / 3)(y, pi)), (1 + pi) / 3)
})

test_that("R numbers that no tensor holds are errors, also where nothing else is given", {
  f <- jit(function(x) list(a = x + 1, b = NULL))
  expect_identical(as_array(f(c(1, 2))$a), c(2, 3))
  error <- expect_error(f(1e300), "does not fit f32", class = "joist_value_error")
  expect_identical(conditionCall(error), quote(f(1e300)))
  expect_identical(as_array(jit(function(x) x)(1e300)), 1e300)
  for (x in list(c(1, NA), c(1L, NA), NA)) {
    expect_identical(as.vector(f(x)$a), as.vector(x + 1))
    expect_identical(as.vector(jit(function(x) x)(x)), x)
  }
  # Where the number is not used, or meets a dtype that holds it, there is a result.
  expect_identical(as_array(jit(function(x, y) y)(NA, 2)), 2)
  expect_identical(as_array(jit(function(x, y) x * y)(1e300, nv_scalar(2, "f64"))), 2e300)
  scaled <- jit(function(x, s) x * s)
  expect_identical(as_array(jit(function(x) scaled(x, pi))(nv_scalar(1, "f64"))), pi)
})

test_that("a traced function can only return tensors of its own trace", {
  x <- nv_tensor(1:3, "f32")
  expect_refusal(jit(function(x) nv_aval("f32", 2L))(x), "joist_value_error", "nv_aval()")
  kept <- NULL
  jit(function(x) {
    kept <<- x
    x
  })(x)
  expect_refusal(jit(function(x) kept)(x), "joist_value_error", "another jit() trace")
  expect_refusal(jit(function(x) x + kept)(x), "joist_value_error", "trace that has ended")
  expect_refusal(
    nv_for(2, x, function(k, z) z + nv_aval("f32", 3L)), "joist_value_error", "nv_aval()"
  )
})

test_that("an error in an argument keeps its class where some arguments are static", {
  f <- jit(function(x, n) x + n, static = "n")
  expect_error(f(nv_tensor(1), nv_tensor(1)[[7]]), class = "joist_shape_error")
  expect_error(f(nv_tensor(1)[[7]], 1), class = "joist_shape_error")
})

test_that("a static environment is compared by what is in it", {
  x <- nv_tensor(c(1, 2), "f64")
  e <- new.env()
  e$k <- 2
  e$own <- e
  e$inner <- new.env()
  e$inner$n <- 1
  runs <- 0
  f <- jit(function(x, e) {
    runs <<- runs + 1
    x * e$k + e$inner$n
  }, static = "e")
  expect_identical(as_array(f(x, e)), c(3, 5))
  expect_identical(as_array(f(x, e)), c(3, 5))
  expect_identical(runs, 1)
  e$k <- 5
  expect_identical(as_array(f(x, e)), c(6, 11))
  e$inner$n <- 0
  expect_identical(as_array(f(x, e)), c(5, 10))
  expect_identical(runs, 3)
  e$k <- 2
  e$inner$n <- 1
  expect_identical(as_array(f(x, e)), c(3, 5))
  expect_identical(runs, 3)
  g <- jit(function(x, l) x * l$a$e$k, static = "l")
  l <- list(a = list(e = e))
  expect_identical(as_array(g(x, l)), c(2, 4))
  e$k <- 3
  expect_identical(as_array(g(x, l)), c(3, 6))
})
