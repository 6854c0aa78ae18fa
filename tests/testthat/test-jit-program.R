# Programs as values: what they print, and their table.

test_that("program() is that of a jitted function, or of any function of avals", {
  f <- function(x, y) nv_reduce_sum(x * y, 1L)
  jitted <- jit(f)
  for (bad in list(1, "f", NULL, quote(f))) expect_error(program(bad), class = "joist_error")
  expect_error(program(jitted), class = "joist_value_error")
  x <- nv_tensor(matrix(1:6, 2), "i16")
  jitted(x, 2)
  p <- program(jitted)
  expect_s3_class(p, "joist_program")
  expect_identical(capture.output(print(p)), capture.output(print(program(f, x, 2))))
  expect_identical(
    as.data.frame(program(f, nv_aval("i16", c(2, 3)), nv_aval("i16", integer())))$op,
    c("mul", "reduce_sum")
  )
})

test_that("the table has a row per instruction, with what base R says of dtypes and sizes", {
  f <- function(x, y) list(nv_qr(x), sum(x[2:3, ] * y))
  p <- program(f, nv_aval("f32", c(3, 2)), nv_aval("f16", integer(), ambiguous = TRUE))
  table <- as.data.frame(p)
  expect_named(table, c(
    "result", "op", "operands", "operand_dtypes", "attributes", "dtype", "ambiguous", "shape",
    "bytes", "kept", "source", "depth"
  ))
  slice <- table[table$op == "slice" & grepl("start = 2 1", table$attributes), ]
  expect_identical(slice$attributes, "start = 2 1, stop = 3 2")
  expect_identical(slice$dtype, "f32")
  expect_identical(slice$shape, "{2x2}")
  expect_identical(slice$bytes, 4 * 4)
  total <- table[table$op == "reduce_sum", ]
  expect_identical(total$attributes, "dims = 1 2")
  expect_identical(total$operand_dtypes, "f32")
  lines <- capture.output(print(p))
  expect_length(grep(" = slice(%1, start = 2 1, stop = 3 2)", lines, fixed = TRUE), 1L)
})

test_that("instructions know their line when the function has kept its source", {
  path <- tempfile(fileext = ".R")
  on.exit(unlink(path))
  writeLines(c("f <- function(x) {", "  y <- x + 1", "", "  sqrt(y)", "}"), path)
  home <- new.env()
  source(path, local = home, keep.source = TRUE)
  table <- as.data.frame(program(home$f, nv_aval("f32", 3L)))
  expect_identical(table$source[table$op == "add"], paste0(basename(path), ", line 2"))
  expect_identical(table$source[table$op == "sqrt"], paste0(basename(path), ", line 4"))
  source(path, local = home, keep.source = FALSE)
  without <- as.data.frame(program(home$f, nv_aval("f32", 3L)))
  expect_identical(without$op, table$op)
})

test_that("compiled functions and loops know their lines, and no more than the traced function", {
  path <- tempfile(fileext = ".R")
  on.exit(unlink(path))
  writeLines(c(
    "f <- function(x) {", "  for (k in 1:2) {", "    x <- exp(x)", "    x <- g(x)", "  }", "  x",
    "}",
    "traced <- function(f) {", "  joist::program(f, joist::nv_aval(\"f32\", 3L))", "}"
  ), path)
  home <- new.env(parent = globalenv())
  source(path, local = home, keep.source = TRUE)
  home$g <- eval(parse(text = "function(x) mean(x * 2)", keep.source = FALSE), globalenv())
  lines <- paste0(basename(path), ", line ", c(3, 4, 4))
  for (f in list(home$f, compiler::cmpfun(home$f))) {
    table <- as.data.frame(program(f, nv_aval("f32", 3L)))
    expect_identical(table$op, rep(c("exp", "mul", "mean"), 2))
    expect_identical(table$source, rep(lines, 2))
  }
  expect_true(all(is.na(as.data.frame(home$traced(home$g))$source)))
})

test_that("slices of any rank and concatenates of any length run alike, eager and in jit", {
  extents <- c(2L, 1L, 3L, 1L, 2L, 1L, 1L, 2L, 1L, 2L, 1L, 3L)
  values <- array(seq_len(prod(extents)), extents)
  x <- nv_tensor(values, "i32")
  f <- function(x) x[, , 3:1, , 2, , , , , 1:2, , 2:3, drop = FALSE]
  expected <- values[, , 3:1, , 2, , , , , 1:2, , 2:3, drop = FALSE]
  expect_identical(as_array(f(x)), expected)
  expect_identical(as_array(jit(f)(x)), expected)
  expect_identical(as.data.frame(program(f, x))$op, "slice")
  parts <- lapply(seq_len(500), function(k) {
    nv_tensor(seq_len(k %% 7), dtype = c("i8", "i32", "f32")[k %% 3 + 1])
  })
  join <- function(parts) do.call(nv_concatenate, parts)
  together <- unlist(lapply(seq_len(500), function(k) as.double(seq_len(k %% 7))))
  expect_identical(as_array(join(parts)), together)
  expect_identical(as_array(jit(join)(parts)), together)
  table <- as.data.frame(program(join, parts))
  expect_identical(table$op, "concatenate")
  expect_identical(dtype(join(parts)), dtype(jit(join)(parts)))
})

test_that("a literal that occurs often is one constant", {
  f <- function(x) {
    for (k in 1:50) x <- x * 2.5
    x
  }
  lines <- capture.output(print(program(f, nv_aval("f64", 3L))))
  expect_length(grep("mul(", lines, fixed = TRUE), 50L)
  expect_length(grep("constant", lines, fixed = TRUE), 0L)
})

test_that("an instruction whose results are not used is marked, but not one that prints", {
  f <- function(x) {
    unused <- exp(x) + 1
    nv_print(x * 3)
    x * 2
  }
  lines <- capture.output(print(program(f, nv_aval("f32", 3L))))
  marked <- grepl("not run", lines)
  expect_identical(sum(marked), 2L)
  expect_match(lines[marked], "exp\\(|add\\(")
})
