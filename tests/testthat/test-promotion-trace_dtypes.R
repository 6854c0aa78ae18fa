# Ledgers of functions: their contents, that these are correct, and that they are readable.

test_that("a row says what went in, what came out and what promotion did", {
  f <- function_of(c("function(x, y) {", "h <- x + 1L", "h * y", "}"))
  trace <- trace_dtypes(f, x = nv_scalar(TRUE), y = nv_aval("i16", 10))
  expect_s3_class(trace, c("joist_dtype_trace", "data.frame"), exact = TRUE)
  expect_identical(trace$line, 2:3)
  expect_identical(trace$call, c("x + 1L", "h * y"))
  expect_identical(trace$op, c("add", "mul"))
  expect_identical(trace$operands, c("bool, i32?", "i32?, i16"))
  expect_identical(trace$result, c("i32?", "i16"))
  expect_identical(trace$ambiguous, c(TRUE, FALSE))
  expect_identical(trace$shape, c("{}", "{10}"))
  expect_identical(trace$bytes, c(4, 20))
  expect_identical(trace$known, c(FALSE, TRUE))
  expect_match(trace$marks[2L], "i32? became known: i16", fixed = TRUE)
})

test_that("promotion is marked, casts are not", {
  f <- function(x, y) {
    a <- x + y
    b <- nv_convert(x, "f64")
    b + nv_convert(y, "f64")
  }
  trace <- trace_dtypes(f, nv_aval("f32", 2), nv_aval("f64", 2))
  expect_identical(trace$widening, c(TRUE, FALSE, FALSE, FALSE))
  expect_identical(trace$marks, c("f32 became f64 without a cast", "", "", ""))

  trace <- trace_dtypes(\(x, y) x * y, nv_aval("i32", 2), nv_aval("f32", 2))
  expect_true(trace$int_to_float && trace$lossy && !trace$widening)
  # 2^24 is the last whole number up to which f32 has all.
  expect_match(trace$marks, "i32 became f32 without a cast; may lose whole numbers beyond 2^24",
    fixed = TRUE
  )
  expect_identical(as.vector(nv_convert(nv_scalar(2L^24L + 1L, "i32"), "f32")), 2^24)

  trace <- trace_dtypes(\(x) x + 300L, nv_aval("ui8", 2))
  expect_true(trace$misfit)
  expect_error(nv_tensor(1:2, "ui8") + 300L, class = "joist_value_error")
  trace <- trace_dtypes(\(x) x + 2049, nv_aval("f16", 2))
  expect_true(trace$literal && !trace$misfit)
  expect_identical(as.vector(nv_scalar(0, "f16") + 2049), 2048)
  # Whole numbers compare exactly.
  trace <- trace_dtypes(\(x, y) x == y, nv_aval("i64", 2), nv_aval("ui64", 2), rules = "jax")
  expect_false(trace$lossy)
  # Assignment keeps the dtype of what is assigned to.
  trace <- trace_dtypes(
    function(x, y) {
      x[1L] <- y
      x
    },
    nv_aval("f32", 3), nv_aval("i32")
  )
  expect_identical(trace[c("op", "operands", "result")], data.frame(
    op = "update", operands = "f32, i32", result = "f32"
  ), ignore_attr = TRUE)
  expect_true(trace$lossy)
  expect_identical(trace$call, "x[1L] <- y")
})

test_that("what is repeated is counted", {
  f <- function(x, n) {
    for (i in seq_len(n)) x <- x * 2
    vapply(1:4, function(i) sum(shape(x + i)), 0)
    helper(helper(x))
  }
  helper <- function(x) x - 1
  trace <- trace_dtypes(f, nv_aval("f32", 2), 7)
  expect_identical(trace$count, c(7L, 4L, 2L))
  expect_identical(trace$call, c("x * 2", "x + i", "x - 1"))
  # A call that sees other dtypes in the second iteration gets two rows.
  trace <- trace_dtypes(function(x, y) {
    for (i in 1:3) x <- x * y
    x
  }, nv_aval("f32", 2), nv_aval("f64", 2))
  expect_identical(trace$operands, c("f32, f64", "f64, f64"))
  expect_identical(trace$count, 1:2)
})

test_that("lines are those of the source, and calls do without", {
  lines <- c(
    "function(x) {", "  a <- x + 1L", "", "  b <- exp(", "    a)", "  nv_add(a * 2L, b)", "}"
  )
  with_source <- trace_dtypes(function_of(lines), nv_aval("i32", 2))
  expect_identical(with_source$line, c(2L, 4L, 6L, 6L))
  without <- trace_dtypes(function_of(lines, FALSE), nv_aval("i32", 2))
  expect_identical(without$line, rep(NA_integer_, 4L))
  expect_identical(without$call, c("x + 1L", "exp(a)", "a * 2L", "nv_add(a * 2L, b)"))
  expect_identical(without$call, with_source$call)
  file <- withr::local_tempfile(lines = c("g <- function(x)", "  x / 2L"), fileext = ".R")
  sys.source(file, envir <- new.env(), keep.source = TRUE)
  trace <- trace_dtypes(envir$g, nv_aval("i32", 2))
  expect_identical(trace$file, basename(file))
  # A compiled function has its lines, too.
  compiled <- compiler::cmpfun(function_of(lines))
  expect_identical(trace_dtypes(compiled, nv_aval("i32", 2))$line, c(2L, 4L, 6L, 6L))
})

test_that("functions of joist and base R can be traced, and so can jitted ones", {
  expect_identical(trace_dtypes(exp, nv_aval("i32", 2))$call, "exp(x)")
  trace <- trace_dtypes(nv_var, nv_aval("f16", 5))
  expect_identical(unique(trace$call), "nv_var(x = x)")
  expect_identical(trace$dtype[trace$last], "f16")

  f <- jit(function(x, y) x + y * 2L, promotion = "jax")
  f(nv_aval("i8", 2), nv_aval("i32", 2))
  trace <- trace_dtypes(f, nv_aval("i8", 2), nv_aval("i32", 2))
  expect_identical(trace$operands, c("i32, i64?", "i8, i32"))
  # A jitted function in a function is followed, whether it has a program or not.
  inner <- jit(function(x) x * 2)
  inner(nv_aval("f16", 3))
  expect_identical(trace_dtypes(\(x) inner(x) + 1, nv_aval("f16", 3))$op, c("mul", "add"))
  # And leaves no trace of itself.
  expect_identical(format(dtype(inner(nv_tensor(1:3, "f16")))), "f16")
})

test_that("errors are those of the function, and recording ends with them", {
  expect_error(
    trace_dtypes(\(x, y) x + y, nv_aval("i32", 2), nv_aval("f32", 2), rules = "array_api"),
    class = "joist_promotion_error"
  )
  expect_error(trace_dtypes(\(x) stop("own"), 1), "own")
  expect_error(trace_dtypes("no such function"), class = "joist_value_error")
  expect_error(trace_dtypes(\(x) x, 1, rules = "none"), class = "joist_promotion_error")
  expect_identical(getOption("joist.promotion"), NULL)
  expect_identical(attributes(nv_aval("f32", 2) + 1), attributes(nv_aval("f32", 2)))
  # Rules that look at values need them.
  expect_error(
    trace_dtypes(\(x, y) x * y, nv_aval("f32", 2), nv_aval("f64"), rules = "numpy_legacy"),
    "value of a rank-0 tensor"
  )
  trace <- trace_dtypes(
    \(x, y) x * y, nv_aval("f32", 2), nv_scalar(2, "f64"),
    rules = "numpy_legacy"
  )
  expect_identical(trace$dtype, "f32")
})

test_that("arguments and values may be nested lists", {
  f <- function(p, ...) list(p$w * p[[2L]]$b, list(..1 + 1L))
  trace <- trace_dtypes(f, list(w = nv_aval("f32"), list(b = nv_aval("f16"))), nv_aval("ui8"))
  expect_identical(trace$dtype, c("f32", "ui8"))
})

test_that("a function that does nothing with tensors has an empty ledger", {
  trace <- trace_dtypes(\(x) x, nv_aval("f32"))
  expect_identical(nrow(trace), 0L)
  expect_output(print(trace), "0 operations")
  expect_match(summary(trace)[1L], "No dtype becomes wider")
})

# ---- reading it ----

thirty_lines <- c(
  "function(x, w, b, rate) {",
  "  centered <- x - mean(x)",
  "  scale <- sqrt(mean(centered * centered))",
  "  z <- centered / (scale + 1e-5)",
  "  h1 <- z * w",
  "  h1 <- h1 + b",
  "  h1 <- nv_max(h1, 0)",
  "  gate <- 1 / (1 + exp(-h1))",
  "  h2 <- gate * h1",
  "  h2 <- h2 * w",
  "  h2 <- h2 + b",
  "  h2 <- nv_max(h2, 0)",
  "  loss <- h2 * h2",
  "  penalty <- sum(abs(w)) * 0.01",
  "  total <- sum(loss) + penalty",
  "  step <- w * rate",
  "  decay <- 1 - rate",
  "  w <- w * decay - step",
  "  half <- b / 2",
  "  b <- b - half * decay",
  "  momentum <- nv_scalar(0.9, \"f64\")",
  "  velocity <- w * momentum",
  "  w <- w - velocity",
  "  norm <- sqrt(sum(w * w))",
  "  w <- w / norm",
  "  spread <- max(w) - min(w)",
  "  score <- total / spread",
  "  kept <- w > 0",
  "  list(w = w, b = b, score = score, kept = kept)",
  "}"
)

test_that("the line that made a function of 30 lines f64 is found from what is printed", {
  f <- function_of(thirty_lines)
  arguments <- c(rep(list(nv_aval("f32", 8)), 3L), list(nv_aval("f32")))
  trace <- do.call(trace_dtypes, c(list(f), arguments))
  shown <- capture.output(print(trace))
  expect_true(all(nchar(shown) <= 80L))
  first <- grep("f32 became f64 without a cast", shown)[1L]
  expect_match(shown[first - 1L], "^ *22  w \\* momentum +f32, f64 -> f64")
  expect_false(any(grepl("f64", shown[seq_len(first - 2L)])))
  said <- capture.output(print(summary(trace)))
  expect_match(said[1L], "line 22, `w * momentum`: f32 became f64", fixed = TRUE)
  expect_length(summary(trace), 3L)
})

test_that("wide calls and many marks fit 80 columns", {
  long <- strrep("long", 20)
  f <- function_of(c(
    sprintf("function(%s, y) {", long), sprintf("%s + y * (%s - 1L) / %s", long, long, long), "}"
  ))
  trace <- trace_dtypes(f, nv_aval("i64", 3), nv_aval("f16", 3))
  expect_true(all(nchar(capture.output(print(trace))) <= 80L))
  expect_true(all(nchar(capture.output(print(summary(trace)))) <= 80L))
  expect_output(print(trace[c("op", "result")]), "result")
  expect_output(print(trace, n = 1), "more rows")
})

# ---- truth ----

test_that("random functions have the dtypes that their calls have one by one", {
  set.seed(41)
  for (k in 1:20) {
    program <- random_function()
    f <- function_of(program$lines, keep = TRUE)
    for (rules in promotion_rule_sets()$id) {
      expect_identical(
        traced_by_calls(f, program$inputs, rules),
        run_by_calls(program$lines, program$inputs, rules)
      )
    }
  }
})

test_that("abstract arguments give the same ledger as tensors", {
  set.seed(42)
  abstract <- function(x) nv_aval(dtype(x), shape(x), ambiguous(x))
  same <- 0L
  for (k in 1:40) {
    program <- random_function()
    f <- function_of(program$lines)
    for (rules in c("anvil", "jax", "numpy", "torch")) {
      concrete <- traced_by_calls(f, program$inputs, rules)
      if (!is.null(concrete$error)) next
      expect_identical(traced_by_calls(f, lapply(program$inputs, abstract), rules), concrete)
      same <- same + 1L
    }
  }
  expect_gt(same, 50L)
})

test_that("a call that is several operations is one row, and an assignment is as it was written", {
  f <- function(x) {
    x[1] <- 2L
    nv_softmax(x) + var(x)
  }
  traced <- trace_dtypes(utils::removeSource(f), nv_tensor(1:3, "f32"))
  calls <- as.data.frame(traced)$call
  expect_gt(sum(calls == "var(x)"), 5L)
  shown <- utils::capture.output(print(traced))
  row_of <- function(call) grep(paste0("^ +", call, " {2}"), shown, value = TRUE)
  expect_match(row_of("x\\[1\\] <- 2L"), "f32, i32[?] -> f32 +12$")
  expect_match(row_of("var\\(x\\)"), "f32 -> f32 +4$")
  expect_match(row_of("nv_softmax\\(x\\)"), "f32 -> f32 +12$")
  expect_match(row_of("nv_softmax\\(x\\) \\+ var\\(x\\)"), "f32, f32 -> f32 +12$")
})
