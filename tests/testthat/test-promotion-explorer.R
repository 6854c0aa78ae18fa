# The page of promotion_explorer() without a browser: its parts and its answers.
# tests/explorer uses it in one.

page_of <- function(...) {
  file <- withr::local_tempfile(fileext = ".html")
  expect_identical(promotion_explorer(file, ...), file)
  paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
}

# The data of a page, with functions that read them.
data_of <- function(page) {
  start <- '<script type="application/json" id="data">'
  data <- sub(paste0("^.*", start), "", page)
  data <- jsonlite::fromJSON(sub("</script>.*$", "", data), simplifyVector = FALSE)
  letters <- strsplit(data$letters, "")[[1]]
  names_at <- function(numbers) unlist(data$names)[unlist(numbers) + 1L]
  list(
    data = data, names_at = names_at,
    # An operation without a separate table has that of `+`, which defaults to the common types.
    table = function(set, operation) {
      others <- c(if (operation != "common") "add", "common")
      having <- intersect(c(operation, others), names(set$tables))
      nodes <- names_at(set$nodes)
      cells <- names_at(set$results)[match(strsplit(set$tables[[having[1]]], "")[[1]], letters)]
      matrix(cells, length(nodes), byrow = TRUE, dimnames = list(nodes, nodes))
    },
    # The texts of a pair, its marks replaced.
    texts = function(set, i, j, table) {
      own <- names_at(set$nodes)
      entry <- unlist(data$entries[[set$pairs[[(i - 1) * (set$own + set$more) + j]] + 1]])
      texts <- c(NA, unlist(data$texts))[entry + 2]
      marks <- c(own[i], own[j], table[i, j], set$id)
      for (k in 1:4) texts <- gsub(intToUtf8(0xe000 + k - 1), marks[k], texts, fixed = TRUE)
      texts
    }
  )
}

places_of <- function(rules) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(promotion_rules(rules))
}

operations <- c(
  "common", "add", "divide", "power", "integer_divide", "modulo", "combine", "assign", "maximum",
  "bitwise", "rank_zero"
)

# `sets` have these `ids`.
expect_answers <- function(page, sets, ids = unlist(sets)) {
  read <- data_of(page)
  expect_identical(vapply(read$data$sets, `[[`, "", "id"), ids)
  for (k in seq_along(sets)) {
    set <- read$data$sets[[k]]
    nodes <- read$names_at(set$nodes)
    own <- nodes[seq_len(set$own + set$more)]
    for (operation in operations) {
      cells <- read$table(set, operation)
      expect_identical(cells[own, own], unclass(promotion_table(sets[[k]], own, own, operation)))
    }
    edges <- lattice_edges(sets[[k]])
    if (nrow(edges) == 0) {
      expect_null(set$lattice)
    } else {
      expect_identical(read$names_at(set$lattice$from), edges$from)
      expect_identical(read$names_at(set$lattice$to), edges$to)
      # The places of the picture, as numbers with few digits.
      places <- places_of(sets[[k]])
      expect_identical(read$names_at(set$lattice$nodes), places$node)
      expect_equal(unlist(set$lattice$x), places$x, tolerance = 1e-6)
      expect_equal(unlist(set$lattice$y), places$y, tolerance = 1e-6)
    }
    common <- read$table(set, "common")
    wrong <- 0L
    for (i in seq_along(own)) {
      for (j in seq_along(own)) {
        got <- read$texts(set, i, j, common)
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
  sources <- vapply(data_of(page)$data$sets, `[[`, "", "url")
  expect_match(sources, "^https://")
  expect_setequal(addresses, c("http://www.w3.org/2000/svg", sources))
  expect_no_match(page, "<link|<img|src=|@import|url[(]|fetch[(]|XMLHttpRequest|\\{\\{")
  expect_match(page, "^<!doctype html>")
  for (part in c(
    '<html lang="en">', 'name="viewport"', "prefers-color-scheme", ":focus-visible", "aria-live",
    '<label>Rules <select id="rules">', '<label>Operation <select id="operation">',
    '<label>Left, x <select id="left">',
    '<label>Right, y <select id="right">', '<label>Compare with <select id="other">', 'role="grid"'
  )) {
    expect_match(page, part, fixed = TRUE)
  }
  ids <- regmatches(page, gregexpr(' id="[^"]*"', page))[[1]]
  expect_identical(anyDuplicated(ids), 0L)
})

test_that("its answers are the package's", {
  sets <- c("octave", "duckdb")
  expect_answers(page_of(rules = sets), as.list(sets))
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

test_that("rules of other systems are compared by the same names", {
  read <- data_of(page_of(rules = list("jax", "octave", "anvl", "python")))
  sets <- read$data$sets
  # A number of R that rules lack is the default of its kind, and TRUE is bool.
  jax <- read$table(sets[[1]], "common")
  octave <- read$table(sets[[2]], "common")
  anvl <- read$table(sets[[3]], "common")
  expect_false("b*" %in% rownames(promotion_table("jax")))
  expect_identical(jax["b*", "i8"], "i8")
  expect_identical(jax["b*", "b*"], "b*")
  expect_identical(jax["int", "float"], "float")
  expect_identical(octave["i8", "b*"], promotion_table("octave")["i8", "b*"])
  expect_identical(anvl["i*", "f16"], unclass(promotion_table("anvl", "i32?", "f16"))[1])
  python <- read$table(sets[[4]], "common")
  expect_identical(python["i*", "f*"], "f*")
})

test_that("links lead to the web only", {
  own <- promotion_rules_new(
    "own", matrix("i8", 1, 1, dimnames = list("i8", "i8")), url = "https://example.org/<rules>"
  )
  plain <- promotion_lattice(data.frame(from = "i8", to = "i16"))
  page <- page_of(rules = list(own, plain))
  expect_no_match(page, "org/<rules>", fixed = TRUE)
  sets <- data_of(page)$data$sets
  expect_identical(sets[[1]]$url, "https://example.org/<rules>")
  expect_null(sets[[2]]$url)
  expect_null(sets[[2]]$version)
  expect_refusal(
    promotion_rules_new("own", matrix("i8", 1, 1, dimnames = list("i8", "i8")),
      url = "javascript:alert(1)"
    ), "joist_promotion_error", "https://"
  )
})

# The size of a page of all of them, and each of their cells, are looked at by tests/explorer.
test_that("a page of all built-in sets is asked for by default", {
  expect_identical(eval(formals(promotion_explorer)$rules), promotion_rule_sets()$id)
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
