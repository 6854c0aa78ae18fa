# The page of promotion_explorer() without a browser: its parts and its answers.
# tests/explorer uses it in one.

page_of <- function(...) {
  file <- withr::local_tempfile(fileext = ".html")
  expect_identical(promotion_explorer(file, ...), file)
  paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
}

data_of <- function(page) {
  start <- '<script type="application/json" id="data">'
  data <- sub(paste0("^.*", start), "", page)
  data <- jsonlite::fromJSON(sub("</script>.*$", "", data), simplifyVector = FALSE)
  text <- function(k) if (k < 0) NA_character_ else data$texts[[k + 1]]
  texts <- function(numbers) vapply(numbers, text, "")
  list(data = data, texts = texts)
}

places_of <- function(rules) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(promotion_rules(rules))
}

# `sets` have these `ids`.
expect_answers <- function(page, sets, ids = unlist(sets)) {
  read <- data_of(page)
  texts <- read$texts
  nodes <- texts(read$data$nodes)
  expect_identical(vapply(read$data$sets, `[[`, "", "id"), ids)
  for (k in seq_along(sets)) {
    set <- read$data$sets[[k]]
    own <- texts(set$nodes)
    cells <- matrix(texts(set$table), length(nodes), byrow = TRUE, dimnames = list(nodes, nodes))
    expect_identical(cells[own, own], unclass(promotion_table(sets[[k]], own, own)))
    edges <- lattice_edges(sets[[k]])
    if (nrow(edges) == 0) {
      expect_null(set$lattice)
    } else {
      expect_identical(texts(set$lattice$from), edges$from)
      expect_identical(texts(set$lattice$to), edges$to)
      expect_setequal(texts(set$lattice$nodes), unlist(edges))
      # The places of the picture, as numbers with few digits.
      places <- places_of(sets[[k]])
      expect_identical(texts(set$lattice$nodes), places$node)
      expect_equal(unlist(set$lattice$x), places$x, tolerance = 1e-6)
      expect_equal(unlist(set$lattice$y), places$y, tolerance = 1e-6)
    }
    wrong <- 0L
    for (i in seq_along(own)) {
      for (j in seq_along(own)) {
        got <- texts(set$pairs[[i]][[j]])
        x <- explain_promotion(own[i], own[j], rules = sets[[k]])
        lines <- paste(trimws(format(x, width = 10000)), collapse = "\n")
        said <- paste(got[-(1:4)][c(FALSE, TRUE)])
        wrong <- wrong + (got[1] != format(x, width = 10000)[1]) +
          !all(vapply(said, grepl, TRUE, x = lines, fixed = TRUE)) +
          (x$cell != "-") * !identical(got[2], if (is.null(x$result)) NA_character_ else x$cell)
      }
    }
    expect_identical(wrong, 0L)
  }
}

test_that("the page is one file that asks for nothing", {
  page <- page_of(rules = c("jax", "numpy"))
  addresses <- regmatches(page, gregexpr("https?://[^\"' )<]*", page))[[1]]
  expect_identical(unique(addresses), "http://www.w3.org/2000/svg")
  expect_no_match(page, "<link|<img|src=|@import|url[(]|fetch[(]|XMLHttpRequest|\\{\\{")
  expect_match(page, "^<!doctype html>")
  for (part in c(
    '<html lang="en">', 'name="viewport"', "prefers-color-scheme", ":focus-visible", "aria-live",
    '<label>Rules <select id="rules">', '<label>Left, x <select id="left">',
    '<label>Right, y <select id="right">', '<label>Compare with <select id="other">', 'role="grid"'
  )) {
    expect_match(page, part, fixed = TRUE)
  }
  ids <- regmatches(page, gregexpr(' id="[^"]*"', page))[[1]]
  expect_identical(anyDuplicated(ids), 0L)
})

test_that("its answers are the package's", {
  expect_answers(page_of(rules = c("numpy_legacy", "jax")), list("numpy_legacy", "jax"))
  own <- promotion_lattice(
    data.frame(from = c("a<b", 'c"d\\', "i8"), to = c("\u00fcber", "\u00fcber", "i16")),
    id = "</script>"
  )
  page <- page_of(rules = list(own, "python"))
  expect_answers(page, list(own, "python"), c("</script>", "python"))
  # What an answer is made of can not end the element that it stands in.
  expect_length(gregexpr("</script>", page, fixed = TRUE)[[1]], 2L)
  expect_answers(page_of(rules = own), list(own), "</script>")
})

test_that("all built-in sets fit into a page that loads at once", {
  file <- withr::local_tempfile()
  promotion_explorer(file)
  expect_lt(file.size(file), 1e6)
  ids <- vapply(data_of(paste(readLines(file), collapse = "\n"))$data$sets, `[[`, "", "id")
  expect_identical(ids, promotion_rule_sets()$id)
})

test_that("what can not be written is refused", {
  for (file in list(1, NA_character_, "", c("a", "b"), character())) {
    expect_refusal(promotion_explorer(file), "joist_value_error", "file")
  }
  nowhere <- file.path(tempfile(), "page.html")
  expect_refusal(promotion_explorer(nowhere, "python"), "joist_value_error", "can not be written")
  expect_refusal(promotion_explorer(tempfile(), "none"), "joist_promotion_error", "none")
  for (rules in list(character(), NULL, sum, 1)) {
    expect_refusal(promotion_explorer(tempfile(), rules), "joist_value_error", "rules")
  }
  expect_refusal(promotion_explorer(tempfile(), c("jax", "jax")), "joist_value_error", "jax")
})

# The page's JSON is read above; that of Zarr's metadata is written by the same functions, of any
# values.
test_that("JSON says what R has", {
  json <- function(...) {
    folder <- withr::local_tempfile()
    nv_zarr_create(folder, "ui8", rep(1L, 7L), ...)
    paste(readLines(file.path(folder, "zarr.json"), encoding = "UTF-8"), collapse = "\n")
  }
  of_value <- function(x) json(attributes = list(value = x))
  back <- function(x) jsonlite::fromJSON(of_value(x))$attributes$value
  strings <- c("a\"b", "c\\d", "</script>", "tab\tline\n", "\u00fc\u2028\u2192", "", NA)
  expect_identical(jsonlite::fromJSON(json(dimension_names = strings))$dimension_names, strings)
  expect_identical(back(strings), strings)
  named <- stats::setNames(list(1L), strings[1L])
  expect_identical(jsonlite::fromJSON(json(attributes = named))$attributes, named)
  expect_no_match(of_value(strings), "<|\u2028")
  line_ends <- function(x) nchar(gsub("[^\n]", "", x)) # those between fields
  expect_identical(line_ends(of_value(strings)), line_ends(of_value("a")))
  expect_identical(back(c(1L, NA, -3L)), c(1L, NA, -3L))
  expect_identical(back(c(0.5, -2.25, 1e6, NA)), c(0.5, -2.25, 1e6, NA))
  expect_identical(back(c(TRUE, NA)), c(TRUE, NA))
  expect_match(of_value(list()), "\"value\":[]", fixed = TRUE)
  expect_match(of_value(list(a = 1L, b = list("x", NULL))),
    "\"value\":{\"a\":1,\"b\":[\"x\",null]}", fixed = TRUE)
})
