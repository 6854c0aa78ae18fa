# Where implicit promotion is warned about or refused: conditions and their places, scopes,
# functions of jit().

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
  # A compiled program does not warn again; a function with its own policy warns in each trace.
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
    expect_silent(with_promotion(NULL, x + y, on = c(widening = "ok")))
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

test_that("an invalid policy is refused before anything happens", {
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
    # The option is what the handler set, which is the default of code outside with_promotion().
    set <- if (identical(handler, handlers[[1L]])) promotion_rules("jax")
    expect_identical(getOption("joist.promotion"), set)
    options(joist.promotion = NULL)
    expect_null(joist:::session()$rules)
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
