# What `on` of with_promotion(), local_promotion() and jit() finds, warns about and refuses.

kinds <- c("widening", "int_to_float", "lossy", "literal")
on_all <- function(level) structure(rep(level, length(kinds)), names = kinds)

# ---- kinds, from the names of dtypes and IEEE 754 ----

part_of <- function(dtype) switch(dtype, c64 = "f32", c128 = "f64", dtype)
is_int <- function(dtype) kind_of(dtype) %in% c("int", "uint")
# Of the largest value, and of the least with the sign left out, as powers of two.
int_bits <- function(dtype) width_of(dtype) - (kind_of(dtype) == "int")

int_loses <- function(from, to) {
  signed <- kind_of(from) == "int"
  if (is_int(to)) {
    return(int_bits(from) > int_bits(to) || signed && kind_of(to) == "uint")
  }
  int_bits(from) > with(float_spec(to), min(digits, high + 1))
}

float_loses <- function(from, to) {
  own <- float_spec(from)
  spec <- float_spec(to)
  own$digits > spec$digits || own$high > spec$high ||
    float_min_subnormal(from) < float_min_subnormal(to)
}

loses <- function(from, to) {
  source <- part_of(from)
  target <- part_of(to)
  if (source == "bool" || from == to) {
    return(FALSE)
  }
  if (target == "bool" || source != from && target == to || !is_int(source) && is_int(target)) {
    return(TRUE)
  }
  if (is_int(source)) int_loses(source, target) else float_loses(source, target)
}

expected_kinds <- function(from, to, ambiguous = FALSE) {
  source <- part_of(from)
  target <- part_of(to)
  known <- !ambiguous && from != "bool"
  c(
    if (known && width_of(source) < width_of(target)) "widening",
    if (known && is_int(source) && kind_of(target) == "float") "int_to_float",
    if (loses(from, to)) "lossy"
  )
}

one <- function(dtype, ambiguous = FALSE) {
  nv_tensor(dtype == "bool" || 1, dtype, c(1L, 1L), ambiguous = ambiguous)
}

# The kinds in the warnings that an expression gives.
found_by <- function(code, rules = NULL, on = on_all("warn")) {
  found <- character()
  withCallingHandlers(
    with_promotion(rules, code, on = on),
    joist_promotion_warning = function(w) {
      found <<- c(found, w$kind)
      invokeRestart("muffleWarning")
    }
  )
  sort(unique(found))
}

abstract <- function(x) nv_aval(dtype(x), shape(x), ambiguous(x))

# The three ways to run a function of tensors.
all_ways <- function(f, rules, ...) {
  list(
    eager = found_by(f(...), rules),
    traced = found_by(jit(f)(...), rules),
    abstract = found_by(do.call(f, lapply(list(...), abstract)), rules)
  )
}

rule_sets <- c("anvil", "anvl", "jax", "numpy", "torch", "tensorflow", "option3")

# What an operation promotes its operands to: the dtype of its result, of a comparison the common
# one; without an answer there is nothing to find.
promoted_by <- list(
  nv_add = function(x, y) dtype(nv_add(x, y)),
  nv_div = function(x, y) dtype(nv_div(x, y)),
  nv_eq = function(x, y) result_dtype(x, y)$dtype,
  nv_ifelse = function(x, y) dtype(nv_ifelse(TRUE, x, y)),
  nv_concatenate = function(x, y) dtype(nv_concatenate(x, y)),
  nv_matmul = function(x, y) dtype(nv_matmul(x, y)),
  nv_match = function(x, y) result_dtype(x, y)$dtype
)
functions <- list(nv_ifelse = function(x, y) nv_ifelse(TRUE, x, y))

test_that("an operation on two dtypes shows the kinds that their sizes say", {
  wrong <- character()
  count <- 0L
  for (rules in rule_sets) {
    for (name in names(promoted_by)) {
      f <- functions[[name]]
      if (is.null(f)) f <- get(name, asNamespace("joist"))
      left <- c("bool", "i8", "ui16", "i32", "f16", "f32", "c64")
      if (name == "nv_add") left <- dtypes()
      pairs <- expand.grid(x = left, y = dtypes(), guess = c(FALSE, TRUE), stringsAsFactors = FALSE)
      pairs <- pairs[pairs$x != "bool" | !pairs$guess, ]
      if (name != "nv_add") pairs <- pairs[seq(match(rules, rule_sets), nrow(pairs), 5L), ]
      for (k in seq_len(nrow(pairs))) {
        x <- one(pairs$x[k], pairs$guess[k])
        y <- one(pairs$y[k])
        to <- tryCatch(
          format(with_promotion(rules, promoted_by[[name]](x, y))),
          joist_error = function(e) NULL
        )
        if (is.null(to)) next
        want <- sort(unique(c(
          expected_kinds(pairs$x[k], to, pairs$guess[k]), expected_kinds(pairs$y[k], to)
        )))
        if (is.null(want)) want <- character()
        got <- if (name == "nv_add" && k %% 4L > 0L) {
          list(eager = found_by(f(x, y), rules))
        } else {
          all_ways(f, rules, x, y)
        }
        count <- count + length(want)
        bad <- !vapply(got, identical, NA, want)
        if (any(bad)) {
          wrong <- c(wrong, sprintf(
            "%s %s(%s%s, %s) -> %s, %s: want %s, got %s", rules, name, pairs$x[k],
            if (pairs$guess[k]) "?" else "", pairs$y[k], to, names(got)[bad][1L],
            paste(want, collapse = " "), paste(got[bad][[1L]], collapse = " ")
          ))
        }
      }
    }
  }
  expect_identical(wrong, character())
  expect_gt(count, 1000L)
})

test_that("functions that turn integers into floats show it, sums and tests do not", {
  calls <- list(
    exp = exp, sqrt = sqrt, mean = mean, atan2 = function(x) nv_atan2(x, x),
    var = function(x) nv_var(x, correction = 0), rowMeans = rowMeans, Arg = Arg,
    solve = function(x) nv_solve(x, x)
  )
  for (rules in c("anvil", "jax", "numpy", "torch")) {
    # Under the rules of PyTorch ui64 meets nothing else.
    for (dtype in c("i8", "i32", if (rules != "torch") "ui64", "f16", "f32", "f64")) {
      x <- one(dtype)
      for (name in names(calls)) {
        to <- format(dtype(with_promotion(rules, calls[[name]](x))))
        want <- sort(expected_kinds(dtype, to))
        if (is.null(want)) want <- character()
        got <- all_ways(calls[[name]], rules, x)
        expect_identical(unname(unique(got)), list(want), info = paste(rules, name, dtype, to))
      }
      expect_silent(with_promotion(rules, on = on_all("error"), {
        sum(x)
        prod(x)
        cumsum(x)
        x & TRUE
        !x
        nv_reduce_any(nv_convert(x, "bool"))
        max(x)
        abs(x)
        nv_ifelse(x, x, x)
        sort(x)
        order(x)
        x[1L, 1L]
        x + x
        x == x
        nv_convert(x, "c128")
        nv_mean(x, dtype = "f64")
        nv_reduce_sum(x, dtype = "f64")
        nv_runif(1L, 0, 1, "f64", nv_key(1))
      }))
    }
  }
})

test_that("a value is assigned in the dtype of the tensor", {
  for (own in c("i32", "f32", "f64", "c64")) {
    for (dtype in c("i8", "i32", "f32", "f64", "bool")) {
      put <- function(x, v) {
        x[1L, 1L] <- v
        x
      }
      for (v in list(one(dtype), one(dtype, dtype != "bool"))) {
        if (inherits(try(put(one(own), v[1L, 1L]), silent = TRUE), "try-error")) next
        want <- sort(expected_kinds(dtype, own, ambiguous(v)))
        if (is.null(want)) want <- character()
        x <- one(own)
        expect_identical(found_by(put(x, v[1L, 1L])), want, info = paste(dtype, own))
        expect_identical(found_by(jit(put)(x, v[1L, 1L])), want, info = paste(dtype, own))
      }
    }
  }
  x <- nv_tensor(1:3, "f32")
  expect_identical(found_by({
    x[2L] <- 16777217
    x[x > 2] <- 16777219
  }), "literal")
  before <- nv_tensor(1:3, "f64")
  after <- before
  expect_error(
    with_promotion(NULL, after[2L] <- nv_scalar(1, "f32"), on = c(widening = "error")),
    class = "joist_widening_error"
  )
  expect_identical(after, before)
  padding <- nv_scalar(1L, "i64")
  expect_identical(found_by(nv_pad(before, 1L, 1L, padding)), c("int_to_float", "lossy"))
})

test_that("an R number is found where its value changes, and only there", {
  values <- list(
    1, 0.1, -0.1, 255L, 257L, 2049, 2049L, 65504, 16777216, 16777217, 16777217L, c(0.5, 2^24 + 1),
    1e-9, 1e-46, 2^53 - 1, NA_real_, NaN, Inf, TRUE, 16777217 + 0i, 1 + 2049i, 1e22, 5e-324
  )
  changes <- function(value, dtype) {
    parts <- if (is.complex(value)) c(Re(value), Im(value)) else as.double(value)
    parts <- parts[is.finite(parts)]
    taken <- round_to(parts, part_of(dtype))
    any(taken != parts & (parts == trunc(parts) | taken == 0))
  }
  seen <- 0L
  for (dtype in c(floats(), complexes())) {
    x <- one(dtype)
    for (value in values) {
      if (inherits(try(x + value, silent = TRUE), "try-error")) next
      to <- format(dtype(x + value))
      want <- if (changes(value, to)) "literal" else character()
      seen <- seen + length(want)
      info <- paste(dtype, deparse(value))
      on <- c(literal = "warn")
      add <- function(x, value) x + value
      expect_identical(found_by(x + value, on = on), want, info = info)
      expect_identical(found_by(jit(function(x) x + value)(x), on = on), want, info = info)
      f <- jit(add)
      expect_identical(found_by(f(x, value), on = on), want, info = info)
      f(x, if (is.complex(value)) 0i else if (is.integer(value)) 0L else 0)
      expect_identical(found_by(f(x, value), on = on), want, info = info)
    }
  }
  expect_gt(seen, 25L)
  expect_identical(found_by(nv_scalar(2^24 + 1)), "literal")
  expect_identical(found_by(nv_tensor(16777217:16777218, "f32")), character())
  # An R number beyond the dtype that it would be compared in is compared exactly.
  expect_identical(found_by(nv_tensor(1:3, "ui8") < 300L), character())
  expect_error(
    with_promotion(NULL, nv_scalar(1, "f32") * 16777217, on = c(literal = "error")),
    class = "joist_literal_error"
  )
})

test_that("each kind is allowed, warned about and refused on its own", {
  x <- one("i32")
  y <- one("f64")
  z <- one("f32")
  cases <- list(
    widening = function() z + y, int_to_float = function() exp(x),
    lossy = function() x + z, literal = function() z + 16777217
  )
  for (kind in kinds) {
    for (f in list(cases[[kind]], function() jit(cases[[kind]])())) {
      expect_silent(with_promotion(NULL, f(), on = c(widening = "ok")))
      expect_silent(with_promotion(NULL, f(), on = character()))
      warned <- structure("warn", names = kind)
      refused <- structure("error", names = kind)
      class <- sprintf("joist_%s_%s", kind, c("warning", "error"))
      expect_warning(with_promotion(NULL, f(), on = warned), class = class[1L])
      e <- expect_error(with_promotion(NULL, f(), on = refused), class = class[2L])
      expect_identical(e$kind, kind)
    }
  }
  # An error goes before a warning, and one condition tells all kinds.
  e <- expect_error(
    with_promotion(NULL, nv_scalar(1L, "i64") + z, on = c(lossy = "error", int_to_float = "warn")),
    class = "joist_lossy_error"
  )
  expect_identical(e$kind, "lossy")
  w <- expect_warning(with_promotion(NULL, x + y, on = on_all("warn")))
  expect_identical(w$kind, c("widening", "int_to_float"))
})

# ---- conditions ----

source_of <- function(...) {
  path <- tempfile(fileext = ".R")
  on.exit(unlink(path))
  writeLines(c(...), path)
  home <- new.env(parent = globalenv())
  source(path, local = home, keep.source = TRUE)
  list(home = home, file = basename(path))
}

test_that("conditions say what happened, and where", {
  code <- source_of(
    "mix <- function(x, y) {", "  z <- x * 2L", "", "  z + y", "}",
    "loop <- function(x, y) {", "  for (k in 1:3) {", "    z <- x", "    z <- x + y", "  }", "  z",
    "}"
  )
  x <- nv_tensor(1:3, "i32")
  y <- nv_tensor(1:3, "f32")
  for (f in list(code$home$mix, jit(code$home$mix), compiler::cmpfun(code$home$mix))) {
    e <- expect_error(with_promotion(NULL, f(x, y), on = c(lossy = "error")), class = "joist_error")
    expect_s3_class(e, c(
      "joist_lossy_error", "joist_implicit_promotion", "joist_promotion_error", "joist_error",
      "error", "condition"
    ), exact = TRUE)
    expect_identical(e$operands, c("i32", "f32"))
    expect_identical(c(e$kind, e$result, e$op), c("lossy", "f32", "add"))
    expect_identical(conditionCall(e), quote(z + y))
    expect_identical(list(e$file, e$line), list(code$file, 4L))
    expect_match(conditionMessage(e), paste0(code$file, ", line 4"), fixed = TRUE)
    expect_match(conditionMessage(e), "operand 1 from i32 to f32 (lossy)", fixed = TRUE)
  }
  for (f in list(code$home$loop, jit(code$home$loop))) {
    w <- expect_warning(with_promotion(NULL, f(x, y), on = c(lossy = "warn")))
    expect_s3_class(w, c(
      "joist_lossy_warning", "joist_implicit_promotion", "joist_promotion_warning", "warning",
      "condition"
    ), exact = TRUE)
    expect_identical(w$line, 9L)
  }
  without <- eval(parse(text = "function(x, y) x + y", keep.source = FALSE), globalenv())
  w <- expect_warning(with_promotion(NULL, jit(without)(x, y), on = c(lossy = "warn")))
  expect_identical(list(w$file, w$line), list(NA_character_, NA_integer_))
})

count_warnings <- function(code) {
  count <- 0L
  withCallingHandlers(code, joist_promotion_warning = function(w) {
    count <<- count + 1L
    invokeRestart("muffleWarning")
  })
  count
}

test_that("a call site is warned about once in a scope", {
  x <- nv_tensor(1:3, "i32")
  y <- nv_tensor(1:3, "f32")
  on <- c(lossy = "warn")
  f <- function() {
    for (k in 1:4) z <- x + y
    for (k in 1:4) z <- y + x
    x * y
  }
  expect_identical(count_warnings(with_promotion(NULL, f(), on = on)), 3L)
  expect_identical(count_warnings(with_promotion(NULL, for (k in 1:2) f(), on = on)), 3L)
  expect_identical(count_warnings(for (k in 1:2) with_promotion(NULL, f(), on = on)), 6L)
  expect_identical(count_warnings(with_promotion(NULL, jit(f)(), on = on)), 3L)
  # What a handler jumped out of has not been told.
  expect_identical(with_promotion(NULL, on = on, vapply(1:3, function(k) {
    tryCatch(as_array(x + y)[1L], warning = function(w) -1)
  }, 0)), c(-1, -1, -1))
  # A compiled program does not warn again; a function with a policy of its own warns in each trace.
  g <- jit(function(a, b) a + b, on = on)
  expect_identical(count_warnings(for (k in 1:3) g(x, y)), 1L)
  expect_identical(count_warnings(for (k in 1:3) g(x[1:2], y[1:2])), 1L)
  expect_identical(count_warnings(for (k in 1:3) g(x, y)), 0L)
})

# ---- scopes ----

test_that("a policy ends with its scope, also by an error, and scopes are nested", {
  x <- nv_tensor(1:3, "f32")
  y <- nv_scalar(1, "f64")
  refuse <- c(widening = "error")
  expect_error(with_promotion(NULL, x + y, on = refuse), class = "joist_widening_error")
  expect_silent(x + y)
  expect_error(with_promotion(NULL, stop("no"), on = refuse), "no")
  expect_silent(x + y)
  local({
    local_promotion(on = refuse)
    expect_error(x + y, class = "joist_widening_error")
    expect_silent(with_promotion(NULL, x + y, on = character()))
    expect_warning(with_promotion(NULL, x + y, on = c(widening = "warn")))
    # Without `on` the policy stays, without rules they do.
    expect_error(with_promotion("jax", x + y), class = "joist_widening_error")
    with_promotion("numpy", on = character(), {
      expect_identical(format(result_dtype("i32", "f32")$dtype), "f64")
    })
    expect_error(x + y, class = "joist_widening_error")
    expect_error(with_promotion(NULL, stop("no"), on = character()), "no")
    expect_error(x + y, class = "joist_widening_error")
  })
  expect_silent(x + y)
  outer <- function() {
    inner()
    x + y
  }
  inner <- function() local_promotion(on = refuse, envir = parent.frame())
  expect_error(outer(), class = "joist_widening_error")
  expect_silent(x + y)
  expect_null(getOption("joist.promotion"))
})

test_that("a policy that is none is refused before anything happens", {
  touched <- FALSE
  bad <- list(
    c(wide = "error"), c(lossy = "no"), "error", c(lossy = NA), 1, list(lossy = "warn"),
    c(lossy = "ok", lossy = "warn"), c(lossy = NA_character_), quote(lossy), TRUE,
    c(lossy = "ok", "warn")
  )
  for (on in bad) {
    expect_error(with_promotion(NULL, touched <- TRUE, on = on), class = "joist_value_error")
    expect_error(local_promotion(on = on), class = "joist_value_error")
    expect_error(jit(identity, on = on), class = "joist_value_error")
  }
  expect_error(with_promotion("none", touched <- TRUE, on = c(lossy = "error")),
    class = "joist_promotion_error"
  )
  expect_false(touched)
  expect_silent(nv_scalar(1L, "i32") + nv_scalar(1, "f32"))
})

test_that("nothing is computed or recorded for what is refused", {
  x <- nv_tensor(1:3, "f32")
  y <- nv_scalar(1, "f64")
  f <- function(x, y) {
    z <- tryCatch(
      with_promotion(NULL, x + y, on = c(widening = "error")),
      joist_widening_error = function(e) x * 2
    )
    z - 1
  }
  expect_identical(as.data.frame(program(f, x, y))$op, c("mul", "sub"))
  expect_equal(as_array(jit(f)(x, y)), c(1, 3, 5))
  old <- options(warn = 2)
  on.exit(options(old))
  g <- jit(function(x, y) x + y, on = c(widening = "warn"))
  expect_error(g(x, y), "converted from warning")
  expect_error(g(x, y), "converted from warning")
  options(warn = 0)
  expect_warning(g(x, y), class = "joist_widening_warning")
  expect_identical(as_array(g(x, y)), c(2, 3, 4))
})

test_that("a jitted function keeps its policy, or takes the one in force when it is called", {
  x <- nv_tensor(1:3, "f32")
  y <- nv_scalar(1, "f64")
  add <- function(x, y) x + y
  own <- jit(add, on = c(widening = "error"))
  free <- jit(add, on = character())
  open <- jit(add)
  expect_error(own(x, y), class = "joist_widening_error")
  expect_error(with_promotion(NULL, own(x, y), on = character()), class = "joist_widening_error")
  expect_silent(with_promotion(NULL, free(x, y), on = c(widening = "error")))
  expect_silent(open(x, y))
  expect_error(with_promotion(NULL, open(x, y), on = c(widening = "error")),
    class = "joist_widening_error"
  )
  expect_silent(open(x, y))
  # Rules and policy are independent of each other.
  both <- jit(add, promotion = "numpy", on = c(int_to_float = "error"))
  i <- nv_tensor(1:3, "i32")
  e <- expect_error(both(i, x), class = "joist_int_to_float_error")
  expect_identical(e$result, "f64")
  expect_error(with_promotion("numpy", jit(add, on = c(int_to_float = "error"))(i, x)),
    class = "joist_int_to_float_error"
  )
  # One in another.
  nested <- jit(function(x, y) free(x, y) + open(x, x), on = c(widening = "error"))
  expect_error(nested(x, y), class = "joist_widening_error")
  cast <- function(x, y) nv_convert(free(x, y), "f32") + open(x, x)
  nested <- jit(cast, on = c(widening = "error"))
  expect_identical(as_array(nested(x, y)), c(4, 7, 10))
  path <- tempfile()
  on.exit(unlink(path))
  saveRDS(own, path)
  expect_error(readRDS(path)(x, y), class = "joist_widening_error")
  expect_identical(as_array(readRDS(path)(x, x)), c(2, 4, 6))
})

test_that("an operation goes on under its rules whatever a handler does to them", {
  x <- nv_tensor(1:3, "i32")
  y <- nv_tensor(1:3, "f32")
  old <- options(joist.promotion = NULL)
  on.exit(options(old))
  handlers <- list(
    function(w) options(joist.promotion = promotion_rules("jax")),
    function(w) with_promotion("numpy", x + y, on = c(lossy = "error")),
    function(w) local_promotion("torch", on = c(widening = "error"))
  )
  for (handler in handlers) {
    sums <- withCallingHandlers(
      with_promotion(promotion_rules("anvil"), on = c(lossy = "warn"), {
        y[2L] <- x[1L]
        nv_concatenate(y, x)
      }),
      warning = function(w) {
        handler(w)
        gc()
        invokeRestart("muffleWarning")
      }
    )
    expect_identical(as_array(sums), c(1, 1, 3, 1, 2, 3))
    expect_identical(format(dtype(sums)), "f32")
    expect_null(getOption("joist.promotion"))
  }
})

test_that("columns that vctrs puts together are operands, too", {
  skip_if_not_installed("vctrs")
  x <- nv_tensor(1:3, "i8")
  y <- nv_tensor(1:3, "i16")
  expect_identical(found_by(vctrs::vec_c(x, y)), "widening")
  expect_identical(found_by(vctrs::vec_c(x, 1L)), character())
  expect_identical(found_by(vctrs::vec_c(x, x)), character())
})

test_that("other processes do not inherit a policy", {
  skip_on_cran()
  skip_if_not_installed("parallel")
  with_promotion(NULL, on = c(widening = "error"), {
    cluster <- parallel::makePSOCKcluster(1L)
    on.exit(parallel::stopCluster(cluster))
    parallel::clusterCall(cluster, .libPaths, .libPaths())
    sums <- parallel::clusterEvalQ(cluster, {
      as.vector(joist::nv_scalar(1, "f32") + joist::nv_scalar(1, "f64"))
    })
  })
  expect_identical(sums, list(2))
})

test_that("what the package does itself on the way is not reported", {
  calls <- expression(
    var(x), sd(x), nv_norm(x), cov(x), cor(x), scale(x), median(x), quantile(x), summary(x),
    round(x, 2), signif(x, 2), sort(x), order(x), rank(x), unique(x), match(x, x), x %in% x,
    diff(x), c(x, 1), cbind(x, 1), rowSums(x), rowMeans(x), nv_solve(square, square), det(square),
    qr(x), svd(x), nv_eigh(square), x %*% t(x), crossprod(x), nv_outer(x[1L, ], x[1L, ]),
    log(x, 3), x[x > 1], x^2, x / 2, x > 1L, nv_clamp(0, x, 1), mean(x, na.rm = TRUE),
    var(x, na.rm = TRUE), nv_sample(x[1L, ], 2L), format(x), x == 0.5, x[2:1, 1L], all.equal(x, x)
  )
  for (rules in rule_sets) {
    for (dtype in c("f16", "f32", "f64")) {
      x <- nv_tensor(matrix(c(1, 3, 2, 5, 4, 6), 2), dtype)
      square <- nv_tensor(matrix(c(2, 1, 1, 3), 2), dtype)
      for (call in calls) {
        reported <- tryCatch(
          {
            with_promotion(rules, eval(call), on = on_all("error"))
            NULL
          },
          joist_implicit_promotion = conditionMessage,
          error = function(e) NULL
        )
        expect_null(reported, info = paste(rules, dtype, deparse1(call)))
      }
    }
  }
})
