# Random functions with R numbers among their arguments; tests/promotion/random_numbers.R runs more.

test_that("functions of tensors and R numbers give compiled what they give eagerly", {
  wrong <- unlist(lapply(1:80, number_disagreements))
  expect_identical(unname(wrong), character())
})

test_that("what disagrees is made small", {
  lines <- c(
    "function(x1, x2) {", "v1 <- nv_add(x1, nv_mul(x2, 2))", "for (i in 1:2) {",
    "v1 <- nv_mul(v1, x1)", "v2 <- nv_abs(v1)", "}",
    "v3 <- if (tracing()) nv_scalar(1L) else nv_scalar(2L)", "list(v1 = v1, v2 = v2, v3 = v3)", "}"
  )
  lines <- sub("tracing()", "joist:::is_traced(x1)", lines, fixed = TRUE)
  program <- list(lines = lines, inputs = list(x1 = nv_tensor(1:2, "i8"), x2 = 0.5))
  expect_true(disagrees(program, "anvil"))
  small <- shrunk(program, "anvil")
  expect_identical(small$lines[length(small$lines) - 1L], "list(v3 = v3)")
  expect_false(any(grepl("nv_mul|nv_add|nv_abs", small$lines)))
  expect_match(disagreement_text(program, "anvil"), "eager: .*\ncompiled: ")
})
