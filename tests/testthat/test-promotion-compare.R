# What changes between rule sets, and the casts that keep it from changing.

test_that("lines that differ are listed, with the results", {
  f <- function_of(c(
    "function(x, y) {", "brighter <- x + 300L", "kept <- x * 2L", "brighter * y", "}"
  ))
  compared <- compare_rules(f, "numpy_legacy", "numpy", nv_aval("ui8", 4), nv_aval("f16", 4))
  expect_s3_class(compared, "joist_rules_comparison")
  expect_identical(compared$rules, c("numpy_legacy", "numpy"))
  # NEP 50: 300 makes ui8 ui16 in NumPy 1 and is an error in NumPy 2, and ui16 with f16 is f32.
  expect_identical(compared$lines$line, c(2L, 4L))
  expect_identical(compared$lines$numpy_legacy, c("ui16", "f32"))
  expect_identical(as.data.frame(compared), compared$lines)
  expect_identical(nrow(compared$errors), 0L)
  expect_true(compared$found && compared$fewest && compared$checked)
  expect_identical(compared$casts$code, "nv_convert(x, \"ui16\") + 300L")
  # With data it is an error.
  compared <- compare_rules(
    f, "numpy_legacy", "numpy", nv_tensor(1:4, "ui8"), nv_tensor(1:4, "f16")
  )
  expect_identical(compared$errors$rules, "numpy")
  expect_identical(compared$errors$line, 2L)
  expect_identical(compared$errors$call, "x + 300L")
  expect_identical(compared$outputs$numpy, NA_character_)
  expect_true(compared$checked)
})

test_that("rank-0 tensors lose their values' say in NumPy 2", {
  f <- function(x, s) x * s
  compared <- compare_rules(
    f, "numpy_legacy", "numpy", nv_tensor(1:3, "f32"), nv_scalar(3, "f64")
  )
  expect_identical(unlist(compared$outputs[-1L]), c(numpy_legacy = "f32", numpy = "f64"))
  # Two casts of arguments, or one of an operand or the result: one is the fewest.
  expect_identical(nrow(compared$casts), 1L)
  expect_true(compared$fewest && compared$checked)
})

test_that("one cast of an argument is better than one on each line", {
  f <- function_of(c(
    "function(x, n) {", "a <- x * n", "b <- x - n", "c <- a / n", "list(a, b, c)", "}"
  ))
  compared <- compare_rules(f, "jax", "numpy", nv_aval("f32", 3), nv_aval("i32", 3))
  expect_identical(compared$casts$kind, "argument")
  expect_identical(compared$casts$code, "n <- nv_convert(n, \"f32\")")
  expect_true(compared$fewest && compared$checked)
  # Not where the argument is also a result.
  f <- function_of(c("function(x, n) {", "a <- x * n", "list(a, n)", "}"))
  compared <- compare_rules(f, "jax", "numpy", nv_aval("f32", 3), nv_aval("i32", 3))
  expect_identical(compared$casts$kind, "operand")
  expect_identical(compared$casts$code, "x * nv_convert(n, \"f32\")")
  # An element of a list is cast in its place.
  f <- function_of(c("function(p) {", "list(p$x * p$n, p$x + p$n)", "}"))
  compared <- compare_rules(f, "jax", "numpy", list(x = nv_aval("f32", 3), n = nv_aval("i32", 3)))
  expect_identical(compared$casts$code, "p$n <- nv_convert(p$n, \"f32\")")
  expect_true(compared$checked)
})

test_that("undefined promotion is an error of its line, and casts define it", {
  f <- function_of(c("function(x, n) {", "y <- x + 1L", "y * n", "}"))
  compared <- compare_rules(f, "jax", "array_api", nv_aval("f32", 3), nv_aval("i32", 3))
  expect_identical(compared$errors$rules, "array_api")
  expect_match(compared$errors$message, "no common dtype")
  expect_true(is.na(compared$lines$array_api[1L]))
  expect_true(compared$found && compared$checked)
  expect_identical(nrow(compared$casts), 2L)
  # An error under `from` leaves nothing to keep.
  compared <- compare_rules(f, "array_api", "jax", nv_aval("f32", 3), nv_aval("i32", 3))
  expect_identical(compared$errors$rules, "array_api")
  expect_null(compared$casts)
  expect_output(print(compared), "Error under array_api, line 2")
})

test_that("casts are put into functions that are called, and into closures", {
  env <- new.env(parent = environment(random_function))
  env$helper <- function(a) a * nv_tensor(1:3, "i32")
  f <- function(x) vapply(1:2, function(i) length(helper(x) + i), 0L)
  g <- function(x) {
    lapply(1:2, function(i) helper(x))
    helper(x)
  }
  environment(g) <- env
  compared <- compare_rules(g, "jax", "numpy", nv_aval("f32", 3))
  expect_identical(compared$casts$code, "a * nv_convert(nv_tensor(1:3, \"i32\"), \"f32\")")
  expect_true(compared$checked)
  expect_identical(compared$lines$count, 3L)
  h <- function(x) lapply(1:2, function(i) x / nv_tensor(1:3, "i32"))
  compared <- compare_rules(h, "jax", "numpy", nv_aval("f32", 3))
  expect_identical(compared$casts$kind, "operand")
  expect_true(compared$checked)
  # The functions themselves are as they were.
  expect_identical(body(env$helper), quote(a * nv_tensor(1:3, "i32")))
})

test_that("assignment, sums and functions without source are handled", {
  f <- function(x, n) {
    x[1:2] <- n
    sum(x * n)
  }
  for (keep in c(TRUE, FALSE)) {
    f <- function_of(c("function(x, n) {", "x[1:2] <- n", "sum(x[1:2] * n)", "}"), keep)
    compared <- compare_rules(f, "jax", "array_api", nv_aval("f32", 4), nv_aval("i32", 2))
    expect_true(compared$found && compared$checked)
    expect_identical(compared$casts$code, "n <- nv_convert(n, \"f32\")")
    expect_identical(compared$errors$call, "x[1:2] <- n")
  }
})

test_that("an assigned value is cast at the assignment if the argument must stay unchanged", {
  f <- function_of(c("function(x, n) {", "x[1:2] <- n", "list(x, n)", "}"))
  compared <- compare_rules(f, "jax", "array_api", nv_aval("f32", 4), nv_aval("i32", 2))
  expect_identical(compared$casts$kind, "operand")
  expect_identical(compared$casts$code, "x[1:2] <- nv_convert(n, \"f32\")")
  expect_true(compared$fewest && compared$checked)
})

test_that("calls of a package's function and odd assignments are read", {
  f <- function(x) {
    kept <- list(1)
    base::attr(kept, "note") <- "an assignment whose function is not a name"
    joist::nv_mul(x, nv_tensor(1:3, "i32"))
  }
  compared <- compare_rules(f, "jax", "numpy", nv_aval("f32", 3))
  expect_identical(
    compared$casts$code, "joist::nv_mul(x, nv_convert(nv_tensor(1:3, \"i32\"), \"f32\"))"
  )
  expect_true(compared$checked)
  # A function whose code is a name.
  expect_output(
    print(compare_rules(function(x) x, "jax", "numpy", nv_aval("f32", 4))), "No casts are needed"
  )
})

test_that("code that cannot be edited leaves no casts, which is said", {
  several <- list(function(a, n) a * n)
  f <- function(x) several[[1]](x, nv_tensor(1:3, "i32"))
  compared <- compare_rules(f, "jax", "numpy", nv_aval("f32", 3))
  expect_false(compared$found)
  expect_identical(compared$lines$numpy, "f64")
  expect_output(
    print(compared), "No casts were found that give the dtypes of jax under numpy.", fixed = TRUE
  )
})

test_that("lines may differ where the results do not", {
  f <- function(x, n) nv_convert(x * n, "f32")
  compared <- compare_rules(f, "jax", "numpy", nv_aval("f32", 3), nv_aval("i32", 3))
  expect_identical(compared$lines$numpy, "f64")
  expect_output(print(compared), "The results have the same dtypes.", fixed = TRUE)
})

test_that("an operand and the result of one call are cast together", {
  for (f in list(function(x) sum(x), function(x) nv_reduce_sum(x))) {
    compared <- compare_rules(f, "jax_x32", "array_api_2024", nv_tensor(c(TRUE, FALSE)))
    expect_true(compared$found && compared$checked && compared$fewest)
    expect_setequal(compared$casts$kind, c("operand", "result"))
    expect_identical(compared$casts$dtype, c("i32", "i32"))
  }
})

test_that("several rule sets, and rules of one's own", {
  own <- promotion_rules("anvil", double = "f64")
  compared <- compare_rules(
    \(x) x + 1.5, "anvil", list("jax", own), nv_aval("i32", 2)
  )
  expect_identical(compared$rules, c("anvil", "jax", "anvil.1"))
  expect_identical(compared$lines[["jax"]], "f64")
  expect_identical(compared$lines[["anvil.1"]], "f64")
  expect_true(all(compared$checked))
  alone <- compare_rules(\(x) x + 1.5, "anvil", own, nv_aval("i32", 2))
  expect_identical(alone$rules, c("anvil", "anvil.1"))
  expect_identical(alone$lines[["anvil.1"]], "f64")
  same <- compare_rules(\(x) x + 1, "anvil", "jax", nv_aval("f32", 2))
  expect_identical(nrow(same$lines), 0L)
  expect_output(print(same), "Every call gives the same dtype")
})

test_that("a pair of dtypes is compared", {
  pair <- compare_rules(c("i32", "f32"), "jax", c("numpy", "array_api"))
  expect_identical(pair, data.frame(
    rules = c("jax", "numpy", "array_api"), dtype = c("f32", "f64", NA)
  ))
  expect_error(compare_rules(c("i32", "x32"), "jax", "numpy"), class = "joist_dtype_error")
  # Several are compared as each pair is, also where a library has moved on since its table.
  some <- c("i32", "ui16", "bf16", "f16", "f32")
  for (to in c("torch", "jax", "anvil")) {
    table <- compare_rules(some, "numpy", to)
    pairs <- expand.grid(lhs = some, rhs = some, stringsAsFactors = FALSE)
    differs <- vapply(seq_len(nrow(pairs)), function(k) {
      one <- compare_rules(unlist(pairs[k, ]), "numpy", to)$dtype
      !identical(one[1], one[2])
    }, NA)
    expect_identical(paste(table$lhs, table$rhs), paste(pairs$lhs, pairs$rhs)[differs])
  }
  expect_error(compare_rules(\(x) x, "none", "numpy", 1), class = "joist_promotion_error")
})

test_that("an error under the first rules is not called the same dtype", {
  refusing <- promotion_rules_new("refusing", base = "numpy", refuse = cbind("i64", "ui64"))
  text <- capture.output(print(
    compare_rules(\(x, y) x + y, refusing, "numpy", nv_aval("i64", 2), nv_aval("ui64", 2))
  ))
  expect_false(any(grepl("same dtype", text)))
  expect_true(any(grepl("Error under refusing", text)))
})

test_that("a comparison fits 80 columns", {
  f <- function(x, n) {
    a_long_name_for_a_value <- nv_clamp(0, x * n + n * x, 100) / (x + n + x + n + x + n)
    sum(a_long_name_for_a_value)
  }
  compared <- compare_rules(
    f, "jax", c("numpy", "torch", "tensorflow"), nv_aval("f32", 4), nv_aval("i32", 4)
  )
  shown <- capture.output(print(compared))
  expect_true(all(nchar(shown) <= 80L))
  expect_match(shown, "With 1 cast, numpy gives the dtypes of jax (the fewest, checked):",
    fixed = TRUE, all = FALSE
  )
})

test_that("memory that runs out in any of the runs is an error", {
  runs <- 0
  full <- 0
  f <- function(x, y) {
    runs <<- runs + 1
    if (runs == full) {
      stop(errorCondition("no memory", class = c("joist_memory_error", "joist_error")))
    }
    (x + 300L) * y
  }
  compare <- function(full_at) {
    runs <<- 0
    full <<- full_at
    compare_rules(f, "numpy_legacy", "numpy", nv_aval("ui8", 4), nv_aval("f16", 4))
  }
  expect_true(compare(0)$fewest)
  # Under each of the two, and with the casts.
  expect_identical(runs, 3)
  for (k in 1:3) expect_error(compare(k), class = "joist_memory_error")
})

test_that("casts of random functions do what they say under every pair of rule sets", {
  set.seed(43)
  # Other systems lack operations for dtypes in ways that has_dtypes() does not know.
  sets <- documented_rules()
  counts <- new_counts()
  for (k in 1:30) {
    program <- random_function()
    f <- function_of(program$lines)
    from <- pick(sets)
    compared <- do.call(compare_rules, c(list(f, from, setdiff(sets, from)), program$inputs))
    if (from %in% compared$errors$rules) next
    expect_identical(check_casts(program, compared, counts), character())
  }
  expect_gt(counts$casts, 100L)
  expect_gt(counts$fewest, 0.9 * counts$casts)
})
