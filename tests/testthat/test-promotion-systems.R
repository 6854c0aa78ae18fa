# Rule sets read from systems: every cell, by the operation itself, against the file as R reads it.

files <- list.files(system.file("promotion", package = "joist"), "[.]csv$", full.names = TRUE)
names(files) <- sub("[.]csv$", "", basename(files))

test_that("every file is a rule set, and every rule set a file", {
  expect_setequal(names(files), promotion_rule_sets()$id)
})

files <- files[!names(files) %in% documented_rules()]

cells_in <- function(file) {
  utils::read.csv(file, comment.char = "#", colClasses = "character", na.strings = character())
}

numbers <- list("b*" = TRUE, "i*" = 1L, "f*" = 1, "c*" = 1 + 0i)

operand <- function(node, rank = 1L, zero = TRUE) {
  if (!is.null(numbers[[node]])) return(numbers[[node]])
  # int1 has -1 and 0.
  one <- if (node != "int1") 1 else if (zero) 0 else -1
  dtype <- sub("?", "", node, fixed = TRUE)
  nv_tensor(one, dtype, shape = rep(1L, rank), ambiguous = dtype != node)
}

# What the operation gives: a dtype, with "?" if it is ambiguous, or "-".
result_of <- function(code) {
  type <- tryCatch(suppressWarnings(code), joist_error = function(e) {
    if (inherits(e, "joist_promotion_error")) {
      text <- conditionMessage(e)
      if (grepl("gives? .*, a dtype that joist", text)) {
        return(sub(".* gives? (.*), a dtype that joist.*", "\\1", text))
      }
    }
    if (inherits(e, "joist_dtype_error")) "none" else "-"
  })
  if (is.character(type)) return(type)
  paste0(format(dtype(type)), if (ambiguous(type)) "?")
}

two <- list(
  common = function(x, y) x + y,
  add = function(x, y) x + y,
  subtract = function(x, y) x - y,
  multiply = function(x, y) x * y,
  divide = function(x, y) x / y,
  power = function(x, y) x^y,
  integer_divide = function(x, y) x %/% y,
  modulo = function(x, y) x %% y,
  combine = function(x, y) nv_concatenate(x, y),
  assign = function(x, y) {
    x[1L] <- y
    x
  },
  maximum = function(x, y) nv_max(x, y),
  bitwise = function(x, y) nv_bitwise_and(x, y)
)
one <- list(
  inexact = nv_sqrt, divide = function(x) x / x, mean = mean, sum = sum, prod = prod,
  cumsum = cumsum, power = function(x) x^x
)

# Operations that joist does not have for the dtype of the result.
has_none <- function(operation, result) {
  kind <- kind_of(sub("[?*]$", "", result))
  whole <- kind %in% c("bool", "int", "uint")
  switch(operation,
    mean = , inexact = whole,
    divide = kind == "bool",
    maximum = kind == "complex",
    bitwise = kind %in% c("float", "complex"),
    power = , modulo = , integer_divide = kind %in% c("bool", "complex"),
    sum = , prod = , cumsum = kind == "bool",
    common = , add = kind == "bool",
    FALSE
  )
}

# R itself computes with numbers alone, and numbers have no rank.
is_left_to_r <- function(row) {
  alone <- if (row$rhs == "" || row$operation == "assign") row$lhs else c(row$lhs, row$rhs)
  are_numbers <- alone %in% names(numbers)
  all(are_numbers) || row$operation == "rank_zero" && any(are_numbers)
}

given_by <- function(row) {
  zero <- !row$operation %in% c("divide", "integer_divide", "modulo")
  if (row$rhs == "") {
    result_of(one[[row$operation]](operand(row$lhs)))
  } else if (row$operation == "rank_zero") {
    result_of(operand(row$lhs) + operand(row$rhs, 0L))
  } else {
    result_of(two[[row$operation]](operand(row$lhs), operand(row$rhs, zero = zero)))
  }
}

# Nothing, or in words how the result of an operation differs from the file.
difference_of <- function(row, id) {
  if (is_left_to_r(row)) return()
  got <- given_by(row)
  want <- row$result
  # A weak result is the default dtype of its kind, ambiguous.
  if (want %in% names(numbers)) {
    default <- format(result_dtype(numbers[[want]], rules = id)$dtype)
    want <- if (want == "b*") default else paste0(default, "?")
  }
  lacks <- got == "none" && (want == "-" || has_none(row$operation, want))
  if (lacks || identical(got, want)) return()
  paste(row$operation, row$lhs, row$rhs, "is", got, "but", want, "in the file")
}

# What Octave says: int8(5) == single(5.4) is false, int64(2^53) + 1 > 2^53 true.
test_that("under Octave's rules, integers and floats are compared as numbers", {
  local_promotion("octave")
  whole <- nv_tensor(c("9007199254740993", "5", "-3"), "i64")
  floats <- nv_tensor(c(9007199254740992, 5.4, -3), "f64")
  numbers <- c(9007199254740992, 5.4, -3)
  compared <- jit(function(x, y) list(x == y, x < y, x > y))
  for (code in list(function(x, y) list(x == y, x < y, x > y), compared)) {
    got <- code(whole, floats)
    expect_identical(as.vector(got[[1L]]), c(FALSE, FALSE, TRUE))
    expect_identical(as.vector(got[[2L]]), c(FALSE, TRUE, FALSE))
    expect_identical(as.vector(got[[3L]]), c(TRUE, FALSE, FALSE))
    for (dtype in c("i8", "i16", "i32", "ui8", "ui16", "ui32", "ui64")) {
      got <- code(nv_tensor(5L, dtype), nv_tensor(5.4, "f32"))
      expect_identical(vapply(got, as.vector, NA), c(FALSE, TRUE, FALSE))
    }
  }
  expect_identical(as.vector(whole == numbers), c(FALSE, FALSE, TRUE))
  expect_identical(as.vector(floats < whole), c(TRUE, FALSE, FALSE))
  expect_identical(as.vector(nv_tensor(5L, "i8") != NaN), TRUE)
})

# Sets whose tables tests/living/measured.R compares cell by cell.
measured <- c(
  "numba", "numba_scalar", "numexpr", "pandas", "pandas_nullable", "pandas_arrow", "clickhouse",
  "datafusion", "pytensor", "taichi", "halide", "blosc2", "postgresql", "onnxscript", "ndonnx",
  "onnx", "openvino", "awkward", "sparse", "dask", "sqlite"
)

test_that("every cell is what its operation gives", {
  set.seed(5)
  for (id in names(files)) {
    rows <- cells_in(files[[id]])
    if ("add" %in% rows$operation) rows <- rows[rows$operation != "common", ]
    if (id %in% measured) rows <- rows[sample(nrow(rows), 100L), ]
    local_promotion(id)
    wrong <- unlist(lapply(seq_len(nrow(rows)), function(k) difference_of(rows[k, ], id)))
    expect_null(wrong, label = id)
  }
})

test_that("the files name every system once, and where it was read", {
  sets <- promotion_rule_sets()
  expect_true(all(names(files) %in% sets$id))
  expect_identical(anyDuplicated(sets$id), 0L)
  for (id in c(
    "tf_numpy_all", "tf_numpy_safe", "tf_numpy_legacy", "tf_numpy_prefer32", "tensorflow_2",
    "keras", "mlx", "tinygrad", "paddle", "octave", "base_r", "julia", "triton", "c", "arrow",
    "polars", "duckdb", "anvl_2026_09", "jax_strict", "jax_default", "array_api_2025", measured
  )) {
    expect_true(id %in% sets$id, label = id)
    expect_identical(format(promotion_rules(id)), paste0("<joist_rules> ", id, sub(
      "^[^,]*", "", format(promotion_rules(id))
    )))
  }
})

test_that("rules of one's own compute as the file they were written to", {
  file <- tempfile(fileext = ".csv")
  for (id in c("octave", "duckdb", "jax", "torch", "numpy_legacy")) {
    write_promotion_rules(id, file)
    read <- read_promotion_rules(file)
    for (operation in c("common", "add", "divide", "combine")) {
      used <- as_living(id, promotion_table(id, operation = operation))
      if (!id %in% c("torch", "numpy_legacy")) {
        expect_identical(
          unclass(promotion_table(read, operation = operation)), unclass(used)
        )
      }
    }
    x <- nv_tensor(1:3, "ui8")
    y <- nv_scalar(300L, "i16")
    for (f in list(
      function() x + y, function() x + 300L, function() x / 2L, function() c(x, y),
      function() sum(x), function() mean(x)
    )) {
      outcome <- function(rules) {
        tryCatch(with_promotion(rules, f()), joist_error = function(e) class(e))
      }
      expect_identical(outcome(read), outcome(id))
    }
  }
})

test_that("promotion_rules_new() makes what its arguments say", {
  cells <- data.frame(
    operation = c("common", "common", "common", "divide"),
    lhs = "i8", rhs = c("i8", "i*", "f*", "i8"),
    result = c("i8", "i8", NA, "f16")
  )
  rules <- promotion_rules_new("mine", cells,
    facts = list(sum = c(i8 = "i32")), literals = c(integer = "i64"), source = "a note",
    version = "1"
  )
  x <- nv_tensor(1:3, "i8")
  expect_identical(dtype(with_promotion(rules, x + 1L)), as_dtype("i8"))
  expect_identical(dtype(with_promotion(rules, x / x)), as_dtype("f16"))
  expect_identical(dtype(with_promotion(rules, sum(x))), as_dtype("i32"))
  expect_error(with_promotion(rules, x + 1.5), class = "joist_promotion_error")
  expect_identical(format(result_dtype(1L, rules = rules)$dtype), "i64")
  expect_output(print(rules), "a note")
  # A matrix, edges, and pairs that never meet.
  expect_identical(
    unclass(promotion_table(promotion_rules_new("again", promotion_table("jax")))),
    unclass(promotion_table("jax"))
  )
  refused <- promotion_rules_new("edges",
    edges = cbind(c("i8", "i16", "i32"), c("i16", "i32", "i64")), refuse = cbind("i8", "i64")
  )
  expect_identical(promotion_table(refused)["i8", "i32"], "i32")
  expect_identical(promotion_table(refused)["i8", "i64"], "-")
  expect_identical(promotion_table(refused)["i64", "i8"], "-")
  # A lattice without other facts gives what promotion_lattice() gives.
  edges <- lattice_edges("anvil")
  expect_identical(
    unclass(promotion_table(promotion_rules_new("a", edges = edges))),
    unclass(promotion_table(promotion_lattice(edges, "a")))
  )
  by_rank <- promotion_rules_new("ranks", promotion_table("torch"), rank = TRUE)
  expect_identical(
    dtype(with_promotion(by_rank, nv_tensor(1:2, "i8") + nv_scalar(1L, "i64"))), as_dtype("i8")
  )
  for (wrong in list(
    quote(promotion_rules_new("a")), quote(promotion_rules_new("a", 1)),
    quote(promotion_rules_new("a", cells, facts = 1)),
    quote(promotion_rules_new("a", cells, literals = "i8")),
    quote(promotion_rules_new("a", cells, rank = TRUE, by_value = "fitting")),
    quote(promotion_rules_new("a", edges = data.frame(a = "i8")))
  )) {
    expect_error(eval(wrong), class = "joist_value_error")
  }
  expect_error(promotion_rules_new(strrep("a", 24), cells), class = "joist_promotion_error")
})

# What a rule set decides: common dtypes, tables of operations, facts.
decided <- function(rules, dtypes) {
  outcome <- function(op, ...) {
    tryCatch({
      made <- op(..., rules = rules)
      paste0(format(made$dtype), if (made$ambiguous) "?")
    }, joist_error = function(e) class(e)[1])
  }
  one <- function(f, dtype) {
    tryCatch({
      made <- with_promotion(rules, f(nv_aval(dtype, 2L)))
      paste0(format(dtype(made)), if (ambiguous(made)) "?")
    }, joist_error = function(e) class(e)[1])
  }
  pairs <- expand.grid(lhs = dtypes, rhs = dtypes, stringsAsFactors = FALSE)
  two <- list(`+` = `+`, `/` = `/`, `^` = `^`, `%/%` = `%/%`, c = c)
  list(
    common = mapply(function(l, r) outcome(result_dtype, l, r), pairs$lhs, pairs$rhs),
    numbers = vapply(dtypes, function(d) {
      paste(outcome(result_dtype, d, 1L), outcome(result_dtype, d, 1.5))
    }, ""),
    two = lapply(two, function(f) {
      vapply(seq_len(nrow(pairs)), function(k) {
        one(function(x) f(x, nv_aval(pairs$rhs[k], 2L)), pairs$lhs[k])
      }, "")
    }),
    facts = lapply(list(sum, prod, cumsum, mean, nv_exp, nv_sqrt), function(f) {
      vapply(dtypes, one, "", f = f)
    })
  )
}

test_that("a base is kept, but for what is given", {
  dtypes <- c("bool", "i8", "ui8", "i64", "ui64", "f16", "f32", "f64")
  for (id in promotion_rule_sets()$id) {
    copy <- promotion_rules_new("copy", base = id)
    before <- decided(id, dtypes)
    expect_identical(decided(copy, dtypes), before, info = id)
    # One sum, and one common dtype where pairs decide it.
    changed <- promotion_rules_new("changed", facts = list(sum = c(i8 = "i16")), base = id)
    after <- decided(changed, dtypes)
    expect_identical(after$facts[[1]][["i8"]], "i16", info = id)
    after$facts[[1]]["i8"] <- before$facts[[1]]["i8"]
    expect_identical(after, before, info = id)
  }
  cells <- data.frame(lhs = c("i64", "f32"), rhs = c("f32", "i64"), result = "f32")
  narrow <- promotion_rules_new("narrow", cells, base = "numpy", quotients = "rounded")
  differs <- compare_rules(dtypes, "numpy", narrow)
  expect_identical(paste(differs$lhs, differs$rhs), c("f32 i64", "i64 f32"))
  expect_identical(differs$narrow, c("f32", "f32"))
  expect_output(print(narrow), "numpy, changed")
  expect_identical(
    format(result_dtype(1L, rules = promotion_rules_new("a", base = "octave"))$dtype),
    format(result_dtype(1L, rules = "octave")$dtype)
  )
  file <- tempfile()
  write_promotion_rules(promotion_rules_new("a", base = "octave"), file)
  expect_true(all(c("# overflow: saturate", "# whole quotients: rounded") %in% readLines(file)))
  # Another node comes last.
  more <- promotion_rules_new("more", data.frame(lhs = "i4", rhs = "i8", result = "i8"),
    base = "numpy"
  )
  expect_identical(tail(rownames(promotion_table(more)), 1), "i4")
})

test_that("results of one operand that are not given follow from the common dtypes", {
  dtypes <- c("bool", "i8", "ui8", "i64", "ui64", "f16", "f32", "f64")
  table <- promotion_table("numpy")
  plain <- decided(promotion_rules_new("plain", table), dtypes)
  given <- promotion_rules_new("given", table,
    facts = list(sum = c(i8 = "i8"), mean = c(i8 = NA, ui8 = "f16"))
  )
  want <- plain
  want$facts[[1]]["i8"] <- "i8"
  want$facts[[4]][c("i8", "ui8")] <- c("joist_promotion_error", "f16")
  got <- decided(given, dtypes)
  got$facts[[4]]["i8"] <- sub("joist_dtype_error", "joist_promotion_error", got$facts[[4]]["i8"])
  expect_identical(got, want)
  file <- tempfile(fileext = ".csv")
  for (facts in list(
    list(sum = c(i8 = "i8"), mean = c(i8 = NA, ui8 = "f16")), list(mean = c(i8 = NA)),
    list(divide = stats::setNames(rep(NA, 8), dtypes))
  )) {
    rules <- promotion_rules_new("mine", table, facts = facts)
    write_promotion_rules(rules, file)
    expect_identical(read_promotion_rules(file), rules)
  }
  # A fact that is undefined everywhere stays so.
  for (id in c("torch", "array_api_2024", "jax_lax")) {
    write_promotion_rules(id, file)
    expect_identical(decided(read_promotion_rules(file), dtypes)$facts, decided(id, dtypes)$facts)
  }
  writeLines(c("# derived: sums", "common,i8,i8,i8"), file)
  expect_error(read_promotion_rules(file), "sums", class = "joist_promotion_error")
})

test_that("tables of operations are what the operations give, in all rule sets", {
  known <- dtypes()
  kernels <- c("integer_divide", "modulo", "maximum")
  symbols <- c(
    add = "add", divide = "div", power = "pow", integer_divide = "floor_div", modulo = "mod",
    maximum = "max"
  )
  wrong <- list()
  for (id in promotion_rule_sets()$id) {
    common <- promotion_table(id, known, known)
    nodes <- known[rowSums(common != "-") > 0]
    for (operation in names(symbols)) {
      table <- unclass(promotion_table(id, nodes, nodes, operation))
      given <- outer(nodes, nodes, Vectorize(function(x, y) {
        result <- .Call(joist_r_explain, list(x, y), symbols[[operation]], NULL, id)$result
        if (is.null(result)) "-" else result
      }))
      # A weak result is the default of its kind; what joist has no kernels for is an error.
      weak <- table %in% names(numbers)
      table[weak] <- vapply(table[weak], function(node) {
        paste0(format(result_dtype(numbers[[node]], rules = id)$dtype), "?")
      }, "")
      table[!sub("[?]$", "", table) %in% known] <- "-"
      lacks <- given == "-" & (operation %in% kernels & grepl("^b?c", table) |
        table == "bool" & operation != "add")
      at <- which(table != given & !lacks)
      if (length(at) > 0) wrong[[paste(id, operation)]] <- cbind(table[at], given[at])
    }
  }
  expect_identical(wrong, list())
})

test_that("quotients of integers are truncated where the rules say that they are integers", {
  x <- c(7, -7, 127, -128, 5, 0)
  y <- c(2, 2, -3, 7, -9, 4)
  for (dtype in c("i8", "i16", "i32", "i64")) {
    for (rules in c("c", "arrow", "jax_lax", "anvl_2026_09")) {
      quotient <- with_promotion(rules, nv_tensor(x, dtype) / nv_tensor(y, dtype))
      promoted <- if (rules == "c" && dtype %in% c("i8", "i16")) "i32" else dtype # 6.3.1.1
      expect_identical(format(dtype(quotient)), promoted)
      expect_identical(as.numeric(as_array(quotient)), trunc(x / y))
    }
  }
  whole <- nv_tensor(c(250, 3), "ui8")
  expect_identical(
    as.numeric(as_array(with_promotion("arrow", jit(\(a, b) a / b)(whole, nv_tensor(7, "ui8"))))),
    c(35, 0)
  )
  none <- nv_tensor(c(NA, 6L), "i32") # a missing quotient does not fail
  expect_identical(as_array(with_promotion("arrow", none / nv_tensor(c(0, 4), "i32"))), c(NA, 1L))
  expect_error(with_promotion("arrow", whole / nv_tensor(c(1, 0), "ui8")),
    "integer division by zero at position 2 in nv_div()",
    fixed = TRUE, class = "joist_value_error"
  )
  least <- nv_tensor(-128, "i8")
  expect_warning(
    wrapped <- with_promotion("arrow", least / nv_tensor(-1, "i8"), on = c(overflow = "warn")),
    "does not fit and wraps",
    class = "joist_overflow_warning"
  )
  expect_identical(as.numeric(as_array(wrapped)), -128)
})

test_that("Octave rounds quotients of integers, and saturates what does not fit", {
  # int8([7 -7 5 -5 1 -1 0 127 -128 -128 100]) ./ int8([2 2 -2 -3 0 0 0 -1 -1 127 8]) of Octave 7.3
  x <- nv_tensor(c(7, -7, 5, -5, 1, -1, 0, 127, -128, -128, 100), "i8")
  y <- nv_tensor(c(2, 2, -2, -3, 0, 0, 0, -1, -1, 127, 8), "i8")
  want <- c(4, -4, -3, 2, 127, -128, 0, -127, 127, -1, 13)
  divide <- function(x, y) x / y
  saturating <- function(code) with_promotion("octave", code, on = c(overflow = "saturate"))
  for (f in list(divide, jit(divide))) {
    expect_identical(as.numeric(as_array(saturating(f(x, y)))), want)
    # The maximum of a dtype is odd: half of it is rounded away from zero.
    for (dtype in c("ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64")) {
      most <- c(as_array(dtype_info(dtype)$max, "character"), "0", "3")
      most <- nv_tensor(if (grepl("64", dtype)) most else as.numeric(most), dtype)
      half <- saturating(f(most, nv_tensor(c(2, 2, 2), dtype)))
      expect_identical(format(dtype(half)), dtype)
      largest <- 2^(dtype_info(dtype)$bits - if (startsWith(dtype, "u")) 1 else 2)
      expect_identical(as.numeric(as_array(half, "character")), c(largest, 0, 2))
      by_zero <- saturating(f(most, nv_tensor(c(0, 0, 0), dtype)))
      expect_identical(as_array(by_zero, "character"), as_array(most[c(1, 2, 1)], "character"))
    }
  }
  expect_identical(as_array(with_promotion("octave", nv_tensor(7, "f64") / 2)), 3.5)
  none <- nv_tensor(c(NA, 7L), "i32")
  expect_identical(as_array(with_promotion("octave", none / nv_tensor(c(0, 2), "i32"))), c(NA, 4L))
  expect_error(
    with_promotion("octave", x / y, on = c(overflow = "error")),
    "nv_div(): 3 results of i8, the first at position 5", fixed = TRUE
  )
})

# Halves away from zero, within the range of the dtype, and 0 for NaN.
as_octave <- function(v, dtype) {
  info <- dtype_info(dtype)
  whole <- sign(v) * (trunc(abs(v)) + (abs(v) - trunc(abs(v)) >= 0.5))
  whole[is.infinite(v)] <- v[is.infinite(v)]
  whole[is.nan(v)] <- 0
  pmin(pmax(whole, as.numeric(info$min)), as.numeric(info$max))
}

test_that("Octave computes integers and floats in double", {
  # int8 (7) * 2.5, 2.5 ^ int8 (3), int8 ([7 8 100]) .^ single (0.5), int8 (5) * NaN of Octave 7.3
  octave <- function(code) with_promotion("octave", code, on = c(overflow = "saturate"))
  seven <- nv_tensor(7L, "i8")
  expect_identical(as.vector(octave(seven * 2.5)), 18L)
  expect_identical(as.vector(octave(2.5^nv_tensor(3L, "i8"))), 16L)
  root <- octave(nv_tensor(c(7, 8, 100), "i8")^nv_tensor(0.5, "f32"))
  expect_identical(as.vector(root), c(3L, 3L, 10L))
  expect_identical(as.vector(octave(nv_tensor(5L, "i8") * NaN)), 0L)
  set.seed(20261127)
  operations <- list(`+`, `-`, `*`, `/`, `^`, function(x, y) y - x, function(x, y) y / x)
  all_of <- function(x, y) lapply(operations, function(f) f(x, y))
  runs <- list(all_of, jit(all_of), jit(all_of, native = "wait"))
  mixed <- function(x, y) (x * y - 1L) / 2.5 + x
  for (dtype in c("i8", "ui8", "i16", "ui16", "i32", "ui32")) {
    ends <- c(as.numeric(dtype_info(dtype)$min), as.numeric(dtype_info(dtype)$max))
    x <- c(ends, 0:7, round(runif(90, ends[1L], ends[2L]))) + 0
    for (other in c("f32", "f64")) {
      some <- c(0.5, 1.5, -2.5, 0, NaN, Inf, -Inf, as.numeric(dtype_info(other)$max))
      y <- nv_tensor(c(sample(some, 50, replace = TRUE), runif(50, -4, 4)), other)
      v <- as.numeric(y)
      exact <- suppressWarnings(all_of(x, v))
      # C has a power of a negative number and an infinite one, which R does not.
      exact[[5L]][is.infinite(v)] <- (abs(x)^v)[is.infinite(v)]
      for (run in if (other == "f64") runs else runs[1L]) {
        made <- octave(run(nv_tensor(x, dtype), y))
        for (k in seq_along(operations)) {
          want <- as_octave(exact[[k]], dtype)
          # The power functions of C libraries differ in the last bit.
          close <- k == 5L & v != 1 & abs(exact[[k]] - floor(exact[[k]]) - 0.5) < 1e-9
          sure <- !(close %in% TRUE)
          expect_identical(format(dtype(made[[k]])), dtype)
          expect_identical(
            as.numeric(made[[k]])[sure] + 0, want[sure] + 0, info = paste(dtype, other, k)
          )
        }
      }
    }
    for (y in c(0.3, -2.5, 7)) {
      product <- as_octave(x * y, dtype)
      quotient <- as_octave(as_octave(product - 1, dtype) / 2.5, dtype)
      for (run in list(mixed, jit(mixed))) {
        made <- octave(run(nv_tensor(x, dtype), y))
        expect_identical(as.numeric(made), as_octave(quotient + x, dtype) + 0)
      }
    }
  }
})

test_that("rules of one's own say what integers and floats are computed in", {
  cells <- data.frame(
    lhs = c("i8", "f32", "i8"), rhs = c("i8", "f32", "f32"), result = c("i8", "f32", "i8")
  )
  cells <- rbind(cells, setNames(cells[3L, c(2, 1, 3)], names(cells)))
  x <- nv_tensor(c(7, -7), "i8")
  y <- nv_tensor(c(2.5, 2.5), "f32")
  for (mixed in c("common", "double")) {
    rules <- promotion_rules_new("mine", cells, mixed = mixed)
    want <- if (mixed == "double") c(18, -18) else c(14, -14)
    file <- tempfile()
    write_promotion_rules(rules, file)
    for (rules in list(rules, read_promotion_rules(file))) {
      expect_identical(as.numeric(with_promotion(rules, x * y, on = c(loss = "ok"))), want)
    }
  }
  expect_error(promotion_rules_new("mine", cells, mixed = "f64"), "mixed",
    class = "joist_value_error"
  )
})

test_that("rules of one's own say how quotients of integers are rounded", {
  x <- nv_tensor(c(7, -7), "i8")
  cells <- data.frame(operation = c("common", "divide"), lhs = "i8", rhs = "i8", result = "i8")
  for (quotients in c("truncated", "rounded")) {
    rules <- promotion_rules_new("mine", cells, quotients = quotients)
    want <- if (quotients == "rounded") c(4, -4) else c(3, -3)
    y <- nv_tensor(c(2, 2), "i8")
    expect_identical(as.numeric(as_array(with_promotion(rules, x / y))), want)
    file <- tempfile()
    write_promotion_rules(rules, file)
    read <- read_promotion_rules(file)
    expect_identical(as.numeric(as_array(with_promotion(read, x / y))), want)
  }
  expect_error(promotion_rules_new("mine", cells, quotients = "floor"), "quotients",
    class = "joist_value_error"
  )
})

test_that("results that joist has no dtype for, fitting numbers and TRUE are explained", {
  lines <- function(...) paste(format(explain_promotion(...), width = 200L), collapse = " ")
  huge <- lines("i8", "ui64", rules = "duckdb")
  expect_match(huge, "i8 with ui64 is HUGEINT, a dtype that joist does not have", fixed = TRUE)
  expect_no_match(huge, "no common type", fixed = TRUE)
  for (rules in promotion_rule_sets()$id) {
    expect_no_match(lines("i32", "i32", rules = rules), "(table|lattice): [.]")
  }
  expect_match(lines("b*", "i8", rules = "octave"), "^b[*] with i8 is i8")
})

test_that("each built-in rule set says where it is on the web", {
  for (rules in promotion_rule_sets()$id) {
    expect_match(.Call(joist_r_rules_info, rules)$url, "^https://")
  }
})

test_that("Numba divides by literals as floats, and remainders of either sign have one dtype", {
  given <- function(x) format(dtype(x))
  x <- nv_tensor(7, "ui32", shape = 1L)
  with_promotion("numba", {
    expect_identical(given(x / TRUE), "f64")
    expect_identical(given(nv_tensor(7, "ui8", shape = 1L) / TRUE), "f32")
    expect_identical(given(x / 2L), "f64")
  })
  with_promotion("numba_scalar", expect_identical(given(x / 2L), "f64"))
  y <- nv_tensor(-7, "i64")
  with_promotion("clickhouse", {
    expect_identical(given(nv_remainder(y, TRUE)), "i16")
    expect_identical(given(y %% TRUE), "i16")
  })
})
