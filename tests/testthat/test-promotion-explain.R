# Explanations against the lattices' edges, by code that shares nothing with the package's, and
# losses by values that are lost.

ways_up <- function(edges) {
  nodes <- unique(c(edges$from, edges$to))
  steps <- matrix(Inf, length(nodes), length(nodes), dimnames = list(nodes, nodes))
  diag(steps) <- 0
  steps[cbind(edges$from, edges$to)] <- 1
  for (via in nodes) steps <- pmin(steps, outer(steps[, via], steps[via, ], `+`))
  steps
}

# The one node above both that is below all others above both.
join_of <- function(steps, a, b) {
  above <- colnames(steps)[is.finite(steps[a, ]) & is.finite(steps[b, ])]
  Filter(function(node) all(is.finite(steps[node, above])), above)
}

# Whether this is a shortest chain of edges from one node to another.
is_way <- function(path, from, to, steps, edge) {
  n <- length(path)
  identical(path[c(1, n)], c(from, to)) && n == steps[from, to] + 1 &&
    all(paste(path[-n], path[-1])[seq_len(n - 1)] %in% edge)
}

expect_ways <- function(rules, nodes) {
  edges <- lattice_edges(rules)
  edge <- paste(edges$from, edges$to)
  steps <- ways_up(edges)
  wrong <- character()
  for (a in nodes) {
    for (b in nodes) {
      x <- explain_promotion(a, b, rules = rules)
      join <- join_of(steps, a, b)
      fine <- identical(x$cell, join) &&
        is_way(x$operands$path[[1]], a, join, steps, edge) &&
        is_way(x$operands$path[[2]], b, join, steps, edge)
      if (!fine) wrong <- c(wrong, paste(a, b))
    }
  }
  expect_identical(wrong, character())
}

test_that("every pair of anvil's and of JAX's lattice is led along its edges to the join", {
  anvil <- unique(unlist(lattice_edges("anvil")))
  expect_length(anvil, 30)
  expect_ways("anvil", anvil)
  jax <- rownames(promotion_table("jax"))
  expect_length(jax, 18)
  expect_ways("jax", jax)
})

test_that("format() shows the path of a promotion", {
  lines <- format(explain_promotion("i32?", "i16"))
  expect_true(any(grepl("i32? -> i64? -> i8 -> i16", lines, fixed = TRUE)))
})

test_that("pairs that stand beside anvil's lattice are not led along its edges", {
  text <- function(...) paste(format(explain_promotion(...), width = 200L), collapse = " ")
  for (lines in c(text("bool", "i4"), text("f8E4M3FN", "f32?"))) {
    expect_match(lines, "beside it, dtypes of up to a byte meet bool", fixed = TRUE)
  }
  expect_match(text("i4", "i4", rules = "jax"), "lowest node above both", fixed = TRUE)
  expect_match(text("f8E4M3FN", "f32"), "Undefined", fixed = TRUE)
})

test_that("dtypes without Inf, NaN, sign or zero say what becomes of these", {
  words <- function(from, to) {
    paste(format(explain_promotion(from, to, rules = "numpy"), width = 500L), collapse = " ")
  }
  expect_match(words("i4", "f4E2M1FN"), "beyond 6 becomes 6", fixed = TRUE)
  expect_match(words("f8E5M2FNUZ", "f8E4M3FN"), "beyond 448 becomes NaN", fixed = TRUE)
  expect_match(words("ui8", "f8E8M0FNU"), "0 becomes NaN", fixed = TRUE)
  expect_match(words("i8", "f8E8M0FNU"), "negative numbers become NaN", fixed = TRUE)
})

# ---- losses ----

power <- function(limit) as.integer(sub("2^", "", limit, fixed = TRUE))

# 2^k + 1 and 2^k as text: no power of two ends with 9.
next_to_power <- function(k) {
  text <- format(2^k, digits = 22, scientific = FALSE)
  paste0(substr(text, 1, nchar(text) - 1), as.integer(substring(text, nchar(text))) + 1)
}

exact_text <- function(x) {
  x <- if (grepl("^c", type_of(x))) Re(x) else x
  if (grepl("f", type_of(x))) sprintf("%.0f", as_array(x)) else as_array(x, "character")
}

# Digits and the largest value, as these dtypes are defined: of two floats with more of both, one
# has the smaller least value, too.
known_dtypes <- data.frame(
  digits = c(1, 7, 15, 31, 63, 8, 16, 32, 64, 11, 8, 24, 53, 24, 53),
  largest = c(
    1, 2^c(7, 15, 31, 63, 8, 16, 32, 64), 65504, 3.3895e38, 3.4028e38, 1.79e308, 3.4028e38, 1.79e308
  ),
  kind = c("b", rep("i", 4), rep("u", 4), rep("f", 4), "c", "c"),
  row.names = c(
    "bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32", "f64",
    "c64", "c128"
  )
)
# Kinds of numbers that each kind can hold.
holds_kinds <- list(
  b = "b", i = c("b", "i", "u"), u = c("b", "u"), f = c("b", "i", "u", "f"),
  c = c("b", "i", "u", "f", "c")
)
holds <- function(dtype, values) {
  to <- known_dtypes[dtype, ]
  from <- known_dtypes[values, ]
  if (from$kind == "b") {
    return(TRUE)
  }
  enough <- to$digits >= from$digits && to$largest >= from$largest
  enough && from$kind %in% holds_kinds[[to$kind]] && to$kind != "b"
}

expect_loss <- function(what, limit, from, to) {
  label <- paste(from, "to", to, what)
  convert <- function(text) {
    x <- int_tensor(text, from)
    c(exact_text(x), exact_text(nv_convert(x, to)))
  }
  if (what == "whole") {
    beyond <- convert(next_to_power(power(limit)))
    expect_false(beyond[1] == beyond[2], label = label)
    up_to <- convert(format(2^power(limit), digits = 22, scientific = FALSE))
    expect_identical(up_to[1], up_to[2], label = label)
  } else if (what == "infinite") {
    largest <- int_tensor(int_max(from), from)
    expect_identical(as.double(nv_convert(largest, to)), Inf, label = label)
    expect_identical(as.double(limit), known_dtypes[to, "largest"], label = label)
  } else {
    expect_identical(what, "wraps")
    at <- convert(format(2^power(limit), digits = 22, scientific = FALSE))
    expect_false(at[1] == at[2], label = label)
    below <- convert(next_to_power(power(limit) - 1))
    expect_identical(below[1], below[2], label = label)
  }
}

test_that("what may be lost is shown by a value, and silence by range", {
  dtypes <- rownames(known_dtypes)
  for (rules in c("anvil", "jax", "numpy", "torch")) {
    seen <- character()
    for (a in dtypes) {
      for (b in dtypes) {
        x <- explain_promotion(a, b, rules = rules)
        if (is.null(x$result)) next
        for (k in 1:2) {
          from <- x$operands$type[k]
          to <- x$operands$read_as[k]
          losses <- x$operands$losses[[k]]
          expect_identical(to, sub("[?]", "", x$result))
          expect_identical(length(losses) == 0, holds(to, from), label = paste(rules, from, to))
          for (i in seq_along(losses)) {
            key <- paste(from, to, names(losses)[i])
            if (key %in% seen) next
            seen <- c(seen, key)
            expect_loss(names(losses)[i], losses[[i]], from, to)
          }
        }
      }
    }
    if (rules != "numpy") expect_gt(length(seen), 5)
  }
})

test_that("losses of a lattice that narrows", {
  back <- promotion_lattice(data.frame(
    from = c("f64", "f64", "i16", "c64", "f16"), to = c("f32", "f16", "i8", "i32", "bool")
  ))
  of <- function(a, b) explain_promotion(a, b, rules = back)$operands$losses[[1]]
  expect_identical(of("f64", "f32"), c(digits = "24", infinite = "3.40282e+38", small = "2^-126"))
  small <- nv_tensor(c(2^-126 * 1.25, 2^-140 * 1.1), "f64")
  expect_identical(as_array(nv_convert(small, "f32")) == as_array(small), c(TRUE, FALSE))
  expect_identical(of("f64", "f16"), c(digits = "11", infinite = "65504", small = "2^-14"))
  expect_identical(of("i16", "i8"), c(wraps = "2^7"))
  expect_named(of("c64", "i32"), c("saturates", "fraction", "special", "imaginary"))
  expect_identical(of("f16", "bool"), c(value = ""))
  lines <- paste(format(explain_promotion("i16", "i8", rules = back)), collapse = " ")
  expect_match(lines, "from 2^7 on and below -2^7 it wraps around", fixed = TRUE)
})

test_that("a cast does what it says, and there is one where a dtype holds both", {
  dtypes <- rownames(known_dtypes)
  for (rules in c("anvil", "jax", "numpy", "tensorflow", "array_api")) {
    for (a in dtypes) {
      for (b in dtypes) {
        x <- explain_promotion(a, b, rules = rules)
        lossy <- is.null(x$result) || any(lengths(x$operands$losses) > 0)
        if (is.null(x$cast)) next
        expect_true(lossy)
        pair <- c(a, b)
        pair[if (x$cast$operand == 0) 1:2 else x$cast$operand] <- x$cast$dtype
        after <- explain_promotion(pair[1], pair[2], rules = rules)
        expect_identical(after$result, x$cast$result)
        if (x$cast$operand != 0) expect_true(holds(x$cast$dtype, c(a, b)[x$cast$operand]))
        if (x$cast$lossless) expect_true(all(lengths(after$operands$losses) == 0))
      }
    }
  }
})

test_that("where a dtype holds both, a cast loses nothing", {
  dtypes <- rownames(known_dtypes)
  # Both rule sets have a common type for all: casting both to what holds both is possible.
  for (rules in c("anvil", "jax")) {
    for (a in dtypes) {
      for (b in dtypes) {
        x <- explain_promotion(a, b, rules = rules)
        if (all(lengths(x$operands$losses) == 0)) next
        possible <- any(vapply(dtypes, function(d) holds(d, a) && holds(d, b), TRUE))
        expect_identical(isTRUE(x$cast$lossless), possible, label = paste(rules, a, b))
      }
    }
  }
  expect_identical(
    explain_promotion("i32", "f32")$cast,
    list(operand = 2L, dtype = "f64", result = "f64", lossless = TRUE)
  )
})

# ---- operands and operations ----

test_that("results are those of result_dtype() under every rule set", {
  operands <- list(
    "i8", "ui64", "f32", "bool", "i32?", "f32?", 1L, 200L, -1L, 2.5, 1e300, TRUE, 1i,
    nv_scalar(7L, "i64"), nv_scalar(300, "f64"), nv_tensor(1:3, "ui8"), nv_tensor(1, "f16"),
    nv_scalar(1L, "i32", ambiguous = TRUE), nv_aval("i16", 2)
  )
  answer <- function(code) {
    tryCatch(code, joist_promotion_error = function(e) NULL)
  }
  name <- function(type) if (!is.null(type)) paste0(format(type$dtype), if (type$ambiguous) "?")
  for (rules in promotion_rule_sets()$id) {
    wrong <- 0L
    for (i in seq_along(operands)) {
      for (j in seq_along(operands)) {
        both <- operands[c(i, j)]
        want <- answer(do.call(result_dtype, c(both, rules = rules)))
        got <- do.call(explain_promotion, c(both, rules = rules))
        wrong <- wrong + !identical(got$join, name(want))
        triple <- operands[c(i, j, (i + j) %% length(operands) + 1L)]
        want <- answer(do.call(result_dtype, c(triple, rules = rules)))
        got <- do.call(explain_promotion, c(triple, rules = rules))
        wrong <- wrong + !identical(got$join, name(want))
      }
    }
    expect_identical(wrong, 0L, label = rules)
  }
})

test_that("operations are explained with the dtype they have", {
  casts <- c("convert", "bitcast_convert")
  table <- operation_table()
  fixed <- table$least == table$most & !nzchar(table$attributes)
  elementwise <- which(table$family == "elementwise" & fixed)
  dtypes <- c("bool", "i8", "ui64", "f16", "f32", "c64")
  for (op in setdiff(table$name[elementwise], casts)) {
    f <- get0(paste0("nv_", op), asNamespace("joist"))
    if (is.null(f)) next # what only other operations compute by
    arity <- table$least[match(op, table$name)]
    for (rules in c("anvil", "numpy", "torch")) {
      for (dtype in dtypes) {
        x <- nv_aval(dtype, 2)
        y <- nv_aval("i32", 2)
        arguments <- list(quote(x), quote(y), quote(x))[seq_len(arity)]
        call <- as.call(c(as.name(paste0("nv_", op)), arguments))
        want <- tryCatch(type_of(with_promotion(rules, eval(call))), joist_error = class)
        got <- do.call(explain_promotion, list(call, rules = rules))
        label <- paste(op, rules, dtype)
        if (is.null(got$result)) {
          expect_identical(want[1], if (is.null(got$error)) {
            "joist_promotion_error"
          } else {
            "joist_dtype_error"
          }, label = label)
        } else {
          expect_identical(got$result, want, label = label)
        }
      }
    }
  }
})

test_that("operators, generics and nested calls are operations", {
  x <- nv_tensor(1:3, "i32")
  y <- nv_scalar(2L, "i16")
  type <- function(call) do.call(explain_promotion, list(call))$result
  expect_identical(type(quote(exp(x))), "f32?")
  expect_identical(type(quote(-x)), "i32")
  expect_identical(type(quote(x - y)), "i32")
  expect_identical(type(quote(!x)), "bool")
  expect_identical(type(quote(sum(x))), "i64")
  expect_identical(type(quote(mean(x))), "f32?")
  expect_identical(type(quote(nv_reduce_sum(x, dims = 1L, dtype = "f64"))), "f64")
  expect_identical(type(quote(joist::nv_ifelse(false = x, x > 1L, true = 2.5))), "f32?")
  expect_identical(type(quote(nv_concatenate(x, nv_tensor(1, "f64")))), "f64")

  nested <- explain_promotion((nv_scalar(TRUE) + 1L) * y)
  expect_length(nested$inner, 1L)
  expect_identical(nested$inner[[1]]$result, "i32?")
  expect_identical(nested$result, "i16")
  expect_identical(nested$certainty, "gives way")
  lines <- paste(format(nested), collapse = "\n")
  for (part in c(
    "nv_scalar(TRUE) + 1L is i32?", "bool -> i8? -> i16? -> i32?",
    "(nv_scalar(TRUE) + 1L) * y is i16", "i32? -> i64? -> i8 -> i16",
    "i32? is a guess and gives way to what is known, i16"
  )) {
    expect_match(lines, part, fixed = TRUE)
  }
  expect_identical(as.data.frame(nested)$expression, rep(c(
    "nv_scalar(TRUE) + 1L", "(nv_scalar(TRUE) + 1L) * y"
  ), each = 2))
})

test_that("operands are evaluated once, in the caller's environment, and the call is not", {
  count <- 0L
  once <- function() {
    count <<- count + 1L
    nv_tensor(1:2, "i8")
  }
  expect_identical(explain_promotion((once() + 1L) * once())$result, "i8")
  expect_identical(count, 2L)
  inner <- function(value) explain_promotion(value + 1L)
  expect_identical(inner(nv_tensor(1:2, "ui8"))$result, "ui8")
  # 200 does not fit i8: the sum is refused, its explanation is not.
  refused <- explain_promotion(once() + 200L)
  expect_match(refused$operands$problem[2], "200", fixed = TRUE)
  expect_match(format(refused)[1], "is an error", fixed = TRUE)
  place <- list2env(list(x = nv_tensor(1, "f64")))
  expect_identical(explain_promotion(x + 1, envir = place)$result, "f64")
})

test_that("ranks and values are what decides", {
  by_value <- explain_promotion(nv_tensor(1:3, "i8") + 200L, rules = "numpy_legacy")
  expect_identical(by_value$operands$role, c("type", "smallest"))
  expect_identical(by_value$operands$as, c("i8", "ui8"))
  expect_match(paste(format(by_value), collapse = " "), "counts as ui8, the smallest that")
  fits <- explain_promotion(nv_tensor(1:3, "i8") + 100L, rules = "numpy_legacy")
  expect_identical(fits$operands$as, c("i8", "i8"))
  by_rank <- explain_promotion(nv_tensor(1:3, "i8") + nv_scalar(1L, "i64"), rules = "torch")
  expect_identical(by_rank$operands$role, c("tensor", "rank 0"))
  expect_identical(by_rank$steps$how, "higher")
  expect_identical(by_rank$result, "i8")
  higher <- explain_promotion(nv_tensor(1:3, "i8") + nv_scalar(1, "f64"), rules = "torch")
  expect_identical(higher$steps$how, "category")
  idle <- explain_promotion(nv_aval("i8", 2), 1L, 2.5, rules = "torch")
  expect_identical(idle$operands$idle, c(FALSE, TRUE, FALSE))
  expect_identical(idle$result, "f32")
})

test_that("a missing common type is explained", {
  crossed <- promotion_lattice(rbind(c("A", "C"), c("A", "D"), c("B", "C"), c("B", "D")))
  expect_identical(explain_promotion("A", "B", rules = crossed)$bounds, c("C", "D"))
  expect_identical(explain_promotion("C", "D", rules = crossed)$bounds, character())
  expect_identical(explain_promotion("A", "C", rules = crossed)$result, "C")
  undefined <- explain_promotion("f16", "i8", rules = "array_api")
  expect_null(undefined$result)
  expect_match(paste(format(undefined), collapse = " "), 'nv_convert(y, "f16")', fixed = TRUE)
  outside <- explain_promotion("bf16", "i8", rules = "option3")
  expect_match(paste(format(outside), collapse = " "), "bf16 is not a node of the lattice")
})

test_that("calls without a promotion, and invalid arguments, are refused", {
  x <- nv_tensor(1:3, "i8")
  for (call in expression(x[1], x, 1L + 2L, nv_convert(x, "f32"), foo(x), t(x), (x), "i8")) {
    expect_refusal(do.call(explain_promotion, list(call)), "joist_value_error")
  }
  expect_refusal(explain_promotion(), "joist_value_error")
  expect_refusal(explain_promotion("i8", "i9"), "joist_dtype_error", "i9")
  expect_refusal(explain_promotion("i8", "i8", rules = "none"), "joist_promotion_error")
  expect_refusal(explain_promotion(x + 1L, envir = 1), "joist_value_error", "envir")
  expect_error(explain_promotion(x + nobody), "nobody")
  expect_refusal(explain_promotion(x), "joist_value_error", "`x` is a tensor, which does not know")
  expect_refusal(explain_promotion(nv_tensor(0.1)), "joist_value_error", "default dtype")
  expect_identical(explain_promotion(y <- x + 1L)$expression, "x + 1L")
  expect_false(exists("y", inherits = FALSE))
})

test_that("what a mean loses is what its result cannot hold", {
  # A float loses what has more digits.
  for (rules in c("anvil", "numpy", "jax")) {
    for (d in documented_dtypes) {
      x <- nv_aval(d, 2L)
      mean <- with_promotion(rules, tryCatch(dtype(nv_mean(x)), joist_error = function(e) NULL))
      if (is.null(mean)) next
      found <- explain_promotion(nv_mean(x), rules = rules)
      loses <- dtype_info(d)$digits > dtype_info(mean)$digits
      expect_identical(length(found$operands$losses[[1]]) > 0L, loses, info = paste(rules, d))
      if (!loses) expect_null(found$cast, info = paste(rules, d))
    }
  }
  x <- nv_tensor(16777217L, "i32")
  expect_identical(as_array(nv_mean(x, dtype = "f64")), 16777217)
  lines <- paste(format(explain_promotion(mean(x))), collapse = " ")
  expect_match(lines, "x as f32: whole numbers beyond 2^24 are rounded", fixed = TRUE)
  expect_match(lines, 'nv_convert(x, "f64")', fixed = TRUE)
})

test_that("lines fit, with colours as without", {
  for (pair in list(c("i32", "f32"), c("bool", "c128"), c("ui64", "i8"), c("i8?", "c64?"))) {
    for (rules in c("anvil", "jax", "torch", "numpy_legacy")) {
      x <- explain_promotion(pair[1], pair[2], rules = rules)
      plain <- format(x)
      expect_lte(max(nchar(plain)), 80L)
      expect_lte(max(nchar(format(x, width = 60))), 60L)
      expect_output(print(x), plain[1], fixed = TRUE)
    }
  }
  skip_if_not_installed("cli")
  x <- explain_promotion("i32", "f32")
  plain <- capture.output(print(x))
  withr::local_options(cli.num_colors = 256L)
  coloured <- capture.output(print(x))
  expect_true(any(cli::ansi_has_any(coloured)))
  expect_identical(as.character(cli::ansi_strip(coloured)), plain)
  skip_if_not_installed("knitr")
  text <- knitr::knit_print(x)
  expect_s3_class(text, "knit_asis")
  expect_match(text, "| `x` | i32 |", fixed = TRUE)
})

test_that("an explanation names the type in which a system computes, where it is another", {
  computed <- function(code, rules) {
    lines <- with_promotion(rules, format(code, width = 1000L))
    sub(" *Computed +", "", grep("^ *Computed ", lines, value = TRUE))
  }
  x <- nv_tensor(1, "ui64")
  y <- nv_tensor(1, "i8")
  expect_match(
    computed(explain_promotion(x + 1L), "numba"),
    "calls it f64 and computes it in i64: .* joist computes in f64"
  )
  expect_match(computed(explain_promotion(y / y), "blosc2"), "computes it in integers")
  expect_match(
    computed(explain_promotion(sqrt(y)), "pandas_nullable"), "f32 and computes it in f16"
  )
  expect_match(computed(explain_promotion(sum(x)), "ndonnx"), "computes it in f64")
  expect_identical(computed(explain_promotion(x + 1.5), "numba"), character())
  expect_identical(computed(explain_promotion(x + 1L), "numpy"), character())
})

test_that("results that joist lacks are explained in every operation", {
  cells <- data.frame(
    operation = c("common", "common", "common", "maximum", "combine", "modulo"),
    lhs = c("i8", "i8", "i128", "i8", "i8", "i8"),
    rhs = c("i8", "i128", "i8", "ui64", "ui64", "ui8"),
    result = c("i8", "i128", "i128", "i128", "Variant", "f64")
  )
  facts <- list(cumsum = c(i8 = "-", i16 = "big"))
  rules <- promotion_rules_new("own", table = cells, facts = facts)
  first <- function(...) format(explain_promotion(..., rules = rules))[1L]
  expect_identical(first("i8", "i128"), "i8 with i128 is i128")
  expect_identical(first("i128", "i8"), "i128 with i8 is i128")
  x <- nv_tensor(1:2, "i8")
  y <- nv_tensor(1:2, "ui64")
  lacks <- "is (i128|Variant), a dtype that joist does not have"
  expect_match(first(nv_max(x, y)), lacks)
  expect_match(first(nv_ifelse(TRUE, x, y)), lacks)
  expect_match(first(nv_concatenate(x, y)), lacks)
  expect_match(first(c(x, y)), "c(x, y) is Variant", fixed = TRUE)
  expect_identical(explain_promotion(c(x, y), rules = rules)$unavailable, "Variant")
  expect_match(first(cumsum(nv_tensor(1:2, "i16"))), "is big, a dtype that joist does not have")
  none <- explain_promotion(cumsum(x), rules = rules)
  expect_match(none$error, "cumsum.* of i8 is undefined")
  expect_identical(format(none)[1L], "cumsum(x) is an error")
})

test_that("assignment and comparisons of tensors are explained", {
  x <- nv_tensor(1:2, "i16")
  kept <- explain_promotion(x[1L] <- 3L)
  expect_identical(c(kept$operation, kept$result), c("update", "i16"))
  expect_match(format(kept), "assignment keeps i16", all = FALSE)
  expect_identical(as.vector(x), 1:2)
  refused <- explain_promotion(x[1L] <- nv_scalar(1, "f32"))
  expect_match(refused$error, "f32 cannot be assigned into i16")
  plain <- 1:3
  expect_error(explain_promotion(plain[1L] <- x), "does not know how", class = "joist_value_error")
  beyond <- explain_promotion(x[1L] <- 1e6)
  expect_match(format(beyond)[1L], "error")
  compared <- explain_promotion(nv_tensor(1L, "i64") < nv_tensor(1L, "ui64"))
  expect_match(paste(format(compared), collapse = " "), "which does not hold +all values of both")
})

test_that("advice keeps the category of the result, and tells what it cannot hold", {
  x <- nv_tensor(1L, "i64")
  y <- nv_tensor(1L, "i8")
  table <- data.frame(
    operation = "modulo", lhs = c("i64", "bf16", "f64"), rhs = "i8", result = c("i16", "f64", "f64")
  )
  rules <- promotion_rules_new("own", table = table, base = "numpy")
  cast <- explain_promotion(x %% y, rules = rules)$cast
  expect_identical(cast$result, "i64")
  table <- data.frame(
    operation = "maximum", lhs = c("i8", "i64"), rhs = "ui64", result = c("i128", "ui64")
  )
  rules <- promotion_rules_new("own", table = table)
  z <- nv_tensor(1L, "ui64")
  text <- paste(format(explain_promotion(nv_max(y, z), rules = rules)), collapse = " ")
  expect_no_match(text, "loses less")
  expect_match(text, '"i64"[)] gives ui64, which does not hold all +values')
})
