# Rules that are functions: what they answer is what operations give, asked once, and refused where
# they are invalid.

# Rules by a function that writes down what it was asked.
logged <- function(decide, base = "numpy") {
  log <- new.env()
  log$asked <- character()
  rules <- promotion_rules_new("logged", base = base, rule = function(op, args) {
    log$asked <- c(log$asked, paste(c(op, args), collapse = " "))
    decide(op, args)
  })
  log$asked <- character()
  list(rules = rules, asked = function() log$asked)
}

type_name <- function(x) paste0(format(dtype(x)), if (ambiguous(x)) "?")
under <- function(rules, code) type_name(with_promotion(rules, code))

test_that("a function that decides nothing leaves every cell of its base", {
  for (base in c("anvil", "numpy", "torch", "clickhouse", "duckdb")) {
    rules <- promotion_rules_new("same", base = base, rule = function(op, args) NULL)
    plain <- promotion_rules_new("same", base = base)
    for (operation in c("common", "add", "divide", "combine", "rank_zero")) {
      expect_identical(
        promotion_table(rules, operation = operation),
        promotion_table(plain, operation = operation)
      )
    }
    expect_identical(check_lattice(rules)[-1L], check_lattice(plain)[-1L])
  }
})

test_that("a function that is a table gives what the table gives, in tables and in operations", {
  nodes <- c("bool", "i8", "ui8", "i64", "ui64", "f16", "bf16", "f32", "f64", "c64")
  for (system in c("numpy", "jax", "octave", "anvil")) {
    cells <- promotion_table(system, nodes, nodes)
    cells[] <- sub("f*", "f32?", cells, fixed = TRUE)
    rules <- promotion_rules_new("table", base = "taichi", rule = function(op, args) {
      if (length(args) == 2L && all(args %in% nodes)) cells[args[1L], args[2L]]
    })
    expect_identical(unclass(promotion_table(rules, nodes, nodes)), unclass(cells))
    for (lhs in nodes) {
      for (rhs in nodes) {
        got <- tryCatch(
          under(rules, nv_tensor(1L, lhs) + nv_tensor(1L, rhs)),
          joist_promotion_error = function(e) "-"
        )
        expect_identical(got, cells[lhs, rhs])
        got <- tryCatch(
          format(common_dtype(lhs, rhs, rules = rules)$dtype),
          joist_promotion_error = function(e) "-"
        )
        expect_identical(got, sub("[?]", "", cells[lhs, rhs]))
      }
    }
  }
})

test_that("a function is told operations and operands, and asked once for each", {
  log <- logged(function(op, args) NULL)
  x <- nv_tensor(c(1, 4), "f32")
  with_promotion(log$rules, {
    for (turn in 1:3) x + 1L
    x - x
    nv_clamp(0, x, 2.5)
    c(x, x, x, x)
    x / nv_tensor(1, "f64", ambiguous = TRUE)
    x & TRUE
    sqrt(x)
    sum(x)
    -x
    x[1L] <- 2
    nv_ifelse(x > 1, x, 0)
  })
  expect_identical(anyDuplicated(log$asked()), 0L)
  want <- c(
    "add f32 i*", "subtract f32 f32", "clamp f* f32 f*", "combine f32 f32 f32 f32",
    "divide f32 f64?", "sqrt f32", "reduce_sum f32", "negate f32", "assign f32 f*", "combine f32 f*"
  )
  expect_identical(setdiff(want, log$asked()), character())
  # More operands than are asked about without allocating.
  many <- logged(function(op, args) if (length(args) > 20L) "f64")
  expect_identical(under(many$rules, do.call(c, rep(list(x), 40L))), "f64")
})

test_that("an answer is the dtype of the result, also where a table makes another one of it", {
  rules <- promotion_rules_new("own", base = "numpy", rule = function(op, args) {
    switch(op, divide = "f32", reduce_sum = args, sqrt = dtype(nv_tensor(1, "f16")), mean = "bf16",
      negate = "i64", add = if (any(args == "f*")) "f64?", max = , clamp = list("f32", NULL, "f32")
    )
  })
  i8 <- nv_tensor(c(4L, 16L), "i8")
  expect_identical(under(rules, i8 / i8), "f32")
  expect_identical(under(rules, sum(i8)), "i8")
  expect_identical(under(rules, sqrt(i8)), "f16")
  expect_identical(as.vector(with_promotion(rules, sqrt(i8))), c(2, 4))
  expect_identical(under(rules, mean(i8)), "bf16")
  expect_identical(under(rules, -i8), "i64")
  expect_identical(under(rules, nv_tensor(1, "f32") + 1.5), "f64?")
  expect_identical(under(rules, nv_clamp(0, nv_tensor(1, "f32"), 2)), "f32")
  expect_error(
    with_promotion(rules, nv_clamp(0, nv_tensor(1, "f64"), 2)), "different dtypes, f32, f64",
    class = "joist_promotion_error"
  )
  expect_error(with_promotion(rules, cumsum(i8)), NA)
})

test_that("what a function stops with is the error, and other answers are errors", {
  rules <- promotion_rules_new("strict", base = "numpy", rule = function(op, args) {
    if (op == "subtract") stop("no differences here")
    if (op == "multiply") return("-")
    if (op == "power") return(1:3)
    if (op == "modulo") return("no_dtype")
  })
  x <- nv_tensor(1:2, "i32")
  error <- function(code) {
    tryCatch(with_promotion(rules, code), joist_promotion_error = conditionMessage)
  }
  expect_match(error(x - x), "'strict' for subtract: no differences here")
  expect_match(error(x * x), "have no common dtype")
  expect_match(error(x^x), "must give a dtype, a list .* and gives 1:3")
  expect_match(error(x %% x), "'no_dtype', which is not a node")
  expect_identical(promotion_table(rules, "i8", "i8", operation = "subtract")[[1L]], "-")
  refused <- tryCatch(
    promotion_rules_new("bad", rule = function(op, args) if (op == "add") 1),
    joist_promotion_error = conditionMessage
  )
  expect_match(refused, "asked about \"add\" of b[*], b[*]: it must give a dtype")
  expect_error(
    promotion_rules_new("bad", rule = function(op, args) "i9"), class = "joist_dtype_error"
  )
  flips <- local({
    n <- 0L
    function(op, args) {
      n <<- n + 1L
      if (n %% 2L == 0L) "f32" else "f64"
    }
  })
  expect_error(promotion_rules_new("flips", rule = flips), "two answers to one question")
  expect_error(promotion_rules_new("bad", rule = "f32"), class = "joist_value_error")
  expect_error(promotion_rules_new("bad", rule = function(x) NULL), class = "joist_value_error")
  expect_error(promotion_rules_new("bad"), class = "joist_value_error")
})

test_that("while a function runs, its base is in force", {
  rules <- promotion_rules_new("wider", base = "numpy", rule = function(op, args) {
    if (op == "add" && !any(grepl("[*]$", args))) common_dtype(args[1L], args[2L])$dtype
  })
  with_promotion("torch", {
    expect_identical(under(rules, nv_tensor(1L, "i32") + nv_tensor(1, "f32")), "f64")
    expect_identical(under("torch", nv_tensor(1L, "i32") + nv_tensor(1, "f32")), "f32")
  })
})

test_that("jit(), gradient(), compare_rules() and explain_promotion() ask the function", {
  half <- function(op, args) if (op %in% c("multiply", "add")) "f16"
  double <- function(op, args) if (op %in% c("multiply", "add")) "f64"
  first <- promotion_rules_new("own", base = "numpy", rule = half)
  second <- promotion_rules_new("own", base = "numpy", rule = double)
  f <- jit(function(x, y) x * y + 1)
  x <- nv_tensor(c(1, 2), "f32")
  # The function is a part of the key: the text of both is the same.
  for (turn in 1:2) {
    expect_identical(under(first, f(x, x)), "f16")
    expect_identical(under(second, f(x, x)), "f64")
    expect_identical(under("numpy", f(x, x)), "f32")
  }
  g <- gradient(function(x) sum(x * x))
  expect_identical(as.vector(with_promotion(first, g(x))[[1L]]), c(2, 4))
  compared <- compare_rules(function(x) x * 2, "numpy", list(first, second), nv_aval("f32", 2))
  expect_identical(unlist(compared$lines[c("numpy", "own", "own.1")], use.names = FALSE),
    c("f32", "f16", "f64"))
  always <- promotion_rules_new("always", rule = function(op, args) "c64")
  expect_identical(compare_rules(c("i8", "f32"), "numpy", always)$dtype, c("f32", "c64"))
  text <- format(with_promotion(first, explain_promotion(x * x)))
  expect_match(text, "Rule +the function of own gives f16", all = FALSE)
  expect_match(text, "a function that is asked before", all = FALSE)
  refuses <- promotion_rules_new("never", rule = function(op, args) stop("not today"))
  expect_match(format(explain_promotion(x + x, rules = refuses)), "not today", all = FALSE)
  expect_match(format(explain_promotion("i8", "f32", rules = refuses)), "not today", all = FALSE)
})

test_that("rules with a function keep it where rules are changed, and are not written to files", {
  rules <- promotion_rules_new("own", base = "numpy", rule = function(op, args) {
    if (op == "add") "f64"
  })
  x <- nv_tensor(1, "f32")
  for (kept in list(
    promotion_rules(rules, double = "f32"), promotion_rules_new("more", base = rules, rank = TRUE),
    unserialize(serialize(rules, NULL))
  )) {
    expect_identical(under(kept, x + x), "f64")
    expect_identical(under(kept, x * x), "f32")
  }
  expect_match(paste(capture.output(print(rules)), collapse = "\n"), "rule: +a function")
  expect_error(write_promotion_rules(rules, tempfile()), class = "joist_value_error")
})

test_that("a session keeps hundreds of rule sets with a function", {
  text <- unclass(promotion_rules_new("own", base = "jax"))
  rule <- function(op, args) if (op == "add") "f64"
  sets <- lapply(1:260, function(k) { # each under its own name
    named <- sub("own", paste0("own", k), text, fixed = TRUE)
    structure(named, class = "joist_rules", rule = rule)
  })
  x <- nv_tensor(1, "f32")
  for (rules in sets) expect_identical(under(rules, x + x), "f64")
})

test_that("answers do not change what comparisons and operations of one operand are about", {
  rules <- promotion_rules_new("narrow", base = "numpy", rule = function(op, args) {
    if (op %in% c("lt", "eq", "not", "is_nan", "abs", "sign", "negate", "floor")) "ui8"
  })
  signed <- nv_tensor(c(-1L, 2L), "i8")
  fraction <- nv_tensor(c(1.5, 2), "f32")
  byte <- nv_tensor(c(1L, 2L), "ui8")
  with_promotion(rules, {
    for (call in expression(
      signed < signed, !signed, abs(signed), sign(signed), -signed, fraction == 1.5, !fraction,
      floor(fraction), nv_is_nan(fraction), byte < signed
    )) {
      expect_error(eval(call), "it gives ui8, which does not hold the values of (i8|f32)",
        class = "joist_promotion_error"
      )
    }
    expect_identical(as.vector(byte < 2L), c(TRUE, FALSE))
    expect_identical(under(rules, byte == byte), "bool")
    expect_identical(as.vector(!byte), c(FALSE, FALSE))
    expect_identical(under(rules, abs(byte)), "ui8")
    expect_identical(under(rules, abs(nv_tensor(c(TRUE, FALSE)))), "ui8")
  })
})

test_that("the operations that functions are asked about are listed", {
  listed <- c("common", op_table()$told)
  expect_true(all(c("clamp", "sqrt", "reduce_sum", "shift_left", "assign", "matmul") %in% listed))
  expect_false(any(c("convert", "reshape", "reduce_max", "reduce_any", "runif") %in% listed))
  log <- logged(function(op, args) NULL)
  x <- nv_tensor(c(1.5, 4), "f32")
  m <- nv_tensor(c(2, 1, 1, 2), "f32", shape = c(2L, 2L))
  with_promotion(log$rules, {
    for (name in setdiff(op_table()$name[op_table()$family == "elementwise"], "broadcast_to")) {
      f <- get0(paste0("nv_", name), asNamespace("joist"))
      count <- op_fact(name, "least")
      if (is.function(f)) try(do.call(f, rep(list(x), count)), silent = TRUE)
    }
    list(solve(m), m %*% m, sum(x), mean(x), cumsum(x), sort(x), order(x), c(x, 1L), max(x))
  })
  asked <- unique(sub(" .*", "", log$asked()))
  expect_gt(length(asked), 60L)
  expect_identical(setdiff(asked, listed), character())
  elementwise <- op_table()$told[op_table()$family == "elementwise"]
  internal <- c("", "round_div", "round_away")
  expect_identical(setdiff(elementwise, c(asked, internal)), character())
})

test_that("only operands that a conversion changes are named where it wraps", {
  rules <- promotion_rules_new("own",
    table = data.frame(operation = "modulo", lhs = "i64", rhs = "i8", result = "i16"),
    base = "numpy"
  )
  expect_error(
    with_promotion(rules, nv_tensor(1000000L, "i64") %% nv_tensor(7L, "i8"), c(overflow = "error")),
    "wraps 1 element of i64 to i16", class = "joist_overflow_error"
  )
})
