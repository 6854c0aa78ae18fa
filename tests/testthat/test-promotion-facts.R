# What rule sets say besides joins, against what the libraries themselves gave: library_facts.csv
# has a row for each fact, "-" for an error and "." where the library has no such dtype.

living <- utils::read.csv(
  system.file("extdata", "library_facts.csv", package = "joist", mustWork = TRUE),
  colClasses = "character", na.strings = character()
)

# One row per cell: rules, fact, operand, want.
living_cells <- do.call(rbind, lapply(seq_len(nrow(living)), function(k) {
  row <- living[k, ]
  want <- unlist(row[dtypes()])
  data.frame(
    rules = row$rules, fact = row$fact, weak = row$operands == "weak", dtype = dtypes(),
    operand = paste0(dtypes(), if (row$operands == "weak") "?"), want = unname(want)
  )[want != ".", ]
}))

# Where a library divides small integers as integers, joist has an error.
divides <- living_cells$fact %in% c("divide", "linalg", "mean") &
  grepl("^(i|ui|int|uint)[124]$", living_cells$want)
living_cells$want[divides] <- "-"

expect_no_rows <- function(cells, got) {
  wrong <- cells$want != got
  expect_identical(
    sprintf("%s %s(%s): want %s, got %s", cells$rules, cells$fact, cells$operand, cells$want, got)[
      wrong
    ], character()
  )
}

test_that("the facts of a rule set are those of the living library", {
  expect_gt(nrow(living_cells), 800L)
  said <- do.call(rbind, lapply(unique(living$rules), promotion_facts))
  said <- said[is.na(said$other), ]
  at <- match(
    with(living_cells, paste(rules, fact, operand)), with(said, paste(rules, fact, operand))
  )
  expect_false(anyNA(at))
  said <- said[at, ]
  got <- ifelse(is.na(said$result), "-", paste0(said$result, ifelse(said$ambiguous, "?", "")))
  expect_no_rows(living_cells, got)
  version <- sub("[,;].*", "", c(said$source, living$source))
  expect_setequal(unique(version[seq_len(nrow(said))]), unique(version[-seq_len(nrow(said))]))
})

calls <- list(
  inexact = list(nv_sqrt, nv_exp, nv_sin, nv_log1p, nv_gamma),
  divide = list(function(x) nv_div(x, x)),
  angle = list(Arg), mean = list(nv_mean, mean),
  linalg = list(function(x) nv_qr(x)[[1L]], function(x) nv_solve(x, x)),
  sum = list(nv_reduce_sum, sum, nv_reduce_prod),
  cumsum = list(nv_cumsum, function(x) nv_cumprod(x, dim = 1L)),
  power = list(function(x) x^x)
)

test_that("operations do what the facts say, now and in jit()", {
  result <- function(f, x) {
    tryCatch(type_of(f(x)),
      joist_promotion_error = function(e) "-",
      joist_dtype_error = function(e) {
        if (grepl("not defined for", conditionMessage(e))) "-" else stop(e)
      }
    )
  }
  # Functions that joist lacks for complex numbers, and real functions of complex matrices.
  lacks <- living_cells$dtype %in% c("c64", "c128") & living_cells$fact %in% c("linalg", "inexact")
  cells <- living_cells[!lacks & living_cells$dtype %in% documented_dtypes, ]
  for (fact in names(calls)) {
    of <- cells[cells$fact == fact, ]
    for (f in calls[[fact]]) {
      run <- function(f) {
        vapply(seq_len(nrow(of)), function(k) {
          x <- one(of$dtype[k], of$weak[k])
          with_promotion(of$rules[k], result(f, x))
        }, "")
      }
      expect_no_rows(of, run(f))
      expect_no_rows(of, run(function(x) jit(f)(x)))
      expect_no_rows(of, run(function(x) f(abstract(x))))
    }
  }
})

test_that("sums end where the rules say, modulo the dtype's size", {
  x <- nv_tensor(c(100L, 100L, 100L), "i8")
  expect_identical(as_array(with_promotion("jax", nv_cumsum(x))), c(100L, -56L, 44L))
  expect_identical(as_array(with_promotion("numpy", nv_cumsum(x))), c(100, 200, 300))
  wide <- with_promotion("jax", nv_cumsum(x, dtype = "i16"))
  expect_identical(as_array(wide), c(100L, 200L, 300L))
  big <- nv_tensor(c(2147483647, 1), "i32")
  expect_identical(as_array(with_promotion("jax_x32", sum(big)), as = "double"), -2147483648)
  expect_identical(type_of(with_promotion("torch", sum(nv_tensor(1:3, "ui8")))), "i64")
})

test_that("bool to the power of bool is the small integer that the library makes of it", {
  a <- nv_tensor(c(TRUE, TRUE, FALSE, FALSE))
  b <- nv_tensor(c(TRUE, FALSE, TRUE, FALSE))
  for (rules in c("numpy", "jax")) {
    expect_identical(as_array(with_promotion(rules, a^b)), c(1L, 1L, 0L, 1L))
    expect_identical(as_array(with_promotion(rules, jit(\(a, b) a^b)(a, b))), c(1L, 1L, 0L, 1L))
  }
  for (rules in c("anvil", "torch", "array_api_2024")) {
    expect_error(with_promotion(rules, a^b), class = "joist_dtype_error")
  }
})

test_that("an operation without a float for integers is an error that names the way", {
  error <- expect_error(
    with_promotion("torch", nv_mean(nv_tensor(1:3, "i32"))),
    class = "joist_promotion_error"
  )
  for (part in c("nv_mean()", "i32", "torch", "nv_convert()", "with_promotion()")) {
    expect_match(conditionMessage(error), part, fixed = TRUE)
  }
  expect_identical(
    type_of(with_promotion("torch", nv_mean(nv_tensor(1:3, "i32"), dtype = "f64"))), "f64"
  )
})

test_that("a step that the library takes is explained", {
  x <- nv_tensor(1:3, "i32")
  why <- explain_promotion(sqrt(x), rules = "numpy")
  expect_match(paste(format(why), collapse = " "), "i32 becomes f64", fixed = TRUE)
})

test_that("PyTorch's wide unsigned integers meet themselves, floats and numbers", {
  # torch.result_type() of PyTorch 2.15.0; its published table has none of them.
  type <- function(...) {
    tryCatch(
      {
        common <- result_dtype(..., rules = "torch")
        paste0(format(common$dtype), if (common$ambiguous) "?")
      },
      joist_promotion_error = function(e) "-"
    )
  }
  for (wide in c("ui16", "ui32", "ui64")) {
    for (float in intersect(floats(), documented_dtypes)) {
      expect_identical(c(type(wide, float), type(float, wide)), c(float, float))
    }
    for (other in setdiff(c("bool", ints(), complexes()), wide)) {
      expect_identical(c(type(wide, other), type(other, wide)), c("-", "-"))
    }
    expect_identical(
      c(type(wide, wide), type(wide, 1L), type(wide, 1.5), type(wide, 1i), type(wide, TRUE)),
      c(wide, wide, "f32", "c64", wide)
    )
    expect_identical(type(wide, nv_scalar(1L, "i8")), wide)
    expect_identical(type("i8", nv_scalar(1, wide)), "i8")
    expect_identical(type("bool", nv_scalar(1, wide)), "-")
  }
  expect_identical(c(type(1.5, 2.5), type(1i, 2i), type(1L, 2.5)), c("f32", "c64", "f32"))
  expect_identical(unique(c(promotion_table("torch", "ui16"))), "-")
})

test_that("array_api_2024 is the standard with Python's numbers, complex and bool", {
  # result_type() of array-api-strict 2.6.1 with version 2024.12 of the standard.
  cells <- promotion_table("array_api_2024")
  real <- c("f32", "f64")
  ints <- intersect(ints(), documented_dtypes)
  number <- c(ints, real, "c64", "c128")
  want <- matrix("-", length(number) + 4L, length(number) + 4L)
  dimnames(want) <- rep(list(c("bool", number, "i*", "f*", "c*")), 2L)
  ours <- promotion_table("array_api", ints, ints)
  want[ints, ints] <- ours
  inexact <- c(real, "c64", "c128")
  want[inexact, inexact] <- promotion_table("numpy", inexact, inexact)
  want["bool", "bool"] <- "bool"
  want[number, "i*"] <- want["i*", number] <- number
  want[inexact, "f*"] <- want["f*", inexact] <- inexact
  parts <- c("c64", "c128", "c64", "c128")
  want[inexact, "c*"] <- want["c*", inexact] <- parts
  weak <- c("i*", "f*", "c*")
  want[weak, weak] <- weak[outer(1:3, 1:3, pmax)]
  expect_setequal(rownames(cells), rownames(want))
  at <- as.matrix(expand.grid(rownames(want), colnames(want), stringsAsFactors = FALSE))
  expect_identical(unclass(cells)[at], want[at])
  expect_error(
    with_promotion("array_api_2024", nv_tensor(TRUE) + 1L),
    class = "joist_promotion_error"
  )
  expect_identical(type_of(with_promotion("array_api_2024", nv_tensor(1, "f32") + 1i)), "c64")
})

test_that("a dtype that a user's lattice lacks joins with itself", {
  mine <- promotion_lattice(data.frame(from = "f16", to = "f32"))
  for (d in documented_dtypes) {
    x <- one(d)
    expect_identical(type_of(with_promotion(mine, nv_concatenate(x, x))), d)
    expect_identical(type_of(with_promotion(mine, jit(nv_concatenate)(x, x))), d)
    expect_identical(promotion_table(mine, d, d)[[1]], d)
  }
  i32 <- nv_tensor(c(1L, 2L), "i32")
  expect_identical(as_array(with_promotion(mine, i32 + i32)), c(2L, 4L))
  expect_error(common_dtype("i32", "i64", rules = mine), class = "joist_promotion_error")
  expect_match(paste(format(explain_promotion(i32 + i32, rules = mine)), collapse = " "), "known")
})

test_that("constructors follow the defaults of the rules", {
  for (rules in promotion_rule_sets()$id) {
    with_promotion(rules, {
      double <- type_of(nv_fill(0, 2L))
      whole <- type_of(nv_fill(0L, 2L))
      key <- nv_key(1)
      expect_identical(type_of(nv_eye(2)), double)
      expect_identical(type_of(nv_runif(2, key = key)), double)
      expect_identical(type_of(nv_rnorm(2, key = key)), double)
      expect_identical(type_of(nv_iota(1, NULL, 3)), whole)
      expect_identical(type_of(nv_randint(2, 1L, 6L, key = key)), whole)
      expect_identical(type_of(nv_rbinom(2, 3, 0.5, key = key)), whole)
      expect_identical(type_of(nv_rexp(2, key = key)), double)
      expect_identical(type_of(nv_rgamma(2, 1, key = key)), double)
      expect_identical(type_of(nv_rpois(2, 3, key = key)), whole)
      expect_identical(type_of(jit(\(k) nv_rnorm(2, key = k))(key)), double)
    })
  }
  # jnp.eye(), np.eye(), torch.eye() of the versions above.
  of <- function(rules) with_promotion(rules, type_of(nv_eye(2)))
  expect_identical(
    c(of("anvil"), of("jax"), of("jax_x32"), of("numpy"), of("torch")),
    c("f32", "f64", "f32", "f64", "f32")
  )
})

test_that("the file of JAX without 64-bit dtypes and its lattice treat ambiguous operands alike", {
  # jnp.max(), jnp.diag(), jnp.median(), `**` and jnp.matmul() of weak arrays, JAX 0.10.2.
  for (rules in c("jax_default", "jax_x32")) {
    with_promotion(rules, {
      whole <- nv_tensor(1:2, "i32", ambiguous = TRUE)
      real <- nv_tensor(matrix(1, 2, 2), "f32", ambiguous = TRUE)
      expect_identical(type_of(max(whole)), "i32")
      expect_identical(type_of(min(real)), "f32")
      expect_identical(type_of(nv_diag(real)), "f32")
      expect_identical(type_of(median(whole)), "f32")
      expect_identical(type_of(whole^2L), "i32?")
      expect_identical(type_of(real %*% real), "f32?")
    })
  }
})

test_that("medians and quantiles of ambiguous dtypes are of JAX's default float", {
  # jnp.median(), jnp.quantile() and jnp.mean() of weak and of other arrays, JAX 0.10.2.
  dtypes <- c("i8", "i32", "i64", "ui16", "f16", "bf16", "f32", "f64")
  known <- c("f32", "f32", "f64", "f32", "f16", "bf16", "f32", "f64")
  of <- list(
    jax = "f64", jax_strict = "f64", jax_x32 = "f32", jax_strict_x32 = "f32", numpy = NULL
  )
  for (rules in names(of)) {
    with_promotion(rules, for (k in seq_along(dtypes)) {
      if (grepl("x32", rules) && dtypes[k] %in% c("i64", "f64")) next
      weak <- nv_tensor(1:3, dtypes[k], ambiguous = TRUE)
      for (f in list(nv_median, median, quantile, jit(nv_median))) {
        want <- if (is.null(of[[rules]])) type_of(nv_mean(weak)) else of[[rules]]
        expect_identical(type_of(f(weak)), want, label = paste(rules, dtypes[k]))
        if (startsWith(rules, "jax")) {
          expect_identical(type_of(f(nv_tensor(1:3, dtypes[k]))), known[k])
        }
      }
      if (startsWith(rules, "jax")) expect_identical(type_of(nv_var(weak)), known[k])
    })
  }
})
