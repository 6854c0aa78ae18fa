# Promotion tables as objects, and what plot() draws.

test_that("a promotion table is a character matrix with a class", {
  table <- promotion_table("anvil")
  expect_s3_class(table, "joist_promotion_table")
  expect_true(is.matrix(table))
  expect_true(is.character(table))
  expect_identical(dim(table), c(11L, 11L))
  expect_identical(table["i8", "ui8"], "i16")
  expect_identical(table[["i8", "ui8"]], "i16")
  expect_s3_class(table[1:2, ], "joist_promotion_table")
  expect_identical(dimnames(table[1:2, 3]), NULL)
  expect_identical(names(table["i8", ]), colnames(table))
  expect_s3_class(table["i8", , drop = FALSE], "joist_promotion_table")
  expect_identical(table[table == "f64"], rep("f64", sum(unclass(table) == "f64")))
  expect_identical(class(table == "f64"), c("matrix", "array"))
  expect_identical(table == "f64", unclass(table) == "f64")
  expect_identical(class(t(table)), class(table))
  expect_identical(isSymmetric(unname(table)), TRUE)
  expect_identical(as.vector(table), as.vector(unclass(table)))
  expect_identical(as.data.frame(table)$i8, unname(unclass(table)[, "i8"]))
  table[1, 1] <- "x"
  expect_identical(table["bool", "bool"], "x")
})

test_that("it prints every cell once, without quotes, within the width", {
  for (width in c(40L, 80L, 200L)) {
    withr::local_options(width = width)
    for (rules in c("anvil", "jax", "python")) {
      table <- promotion_table(rules)
      lines <- capture.output(print(table))
      expect_lte(max(nchar(lines)), width)
      words <- strsplit(trimws(lines), " +")
      blocks <- sum(lengths(words) > 0) / (nrow(table) + 1)
      expect_identical(blocks, round(blocks))
      labels <- ncol(table) + as.integer(blocks) * nrow(table)
      expect_identical(sum(lengths(words)), length(table) + labels)
      # Below each other, the blocks' lines of a row are the row.
      per_block <- nrow(table) + 1L
      of_row <- split(words, rep(seq_len(per_block), blocks))
      shown <- t(vapply(of_row[-1], function(w) unlist(lapply(w, `[`, -1)), colnames(table)))
      expect_identical(unname(shown), unname(unclass(table)))
    }
  }
  expect_output(print(promotion_table("anvil")[integer(), ]), "bool")
  skip_if_not_installed("cli")
  plain <- capture.output(print(promotion_table("jax")))
  withr::local_options(cli.num_colors = 256L)
  coloured <- capture.output(print(promotion_table("jax")))
  expect_true(all(cli::ansi_has_any(coloured[2:19])))
  expect_identical(as.character(cli::ansi_strip(coloured)), plain)
})

test_that("in documents it is a table, where cells that differ are marked", {
  skip_if_not_installed("knitr")
  withr::local_options(knitr.in.progress = TRUE)
  table <- promotion_table("numpy")
  plain <- knitr::knit_print(table, list(tab.cap = "NumPy."))
  expect_match(plain, "|ui64 |", fixed = TRUE)
  old <- knitr::opts_knit$get("rmarkdown.pandoc.to")
  on.exit(knitr::opts_knit$set(rmarkdown.pandoc.to = old))
  knitr::opts_knit$set(rmarkdown.pandoc.to = "html")
  html <- knitr::knit_print(table, list(tab.cap = "NumPy.", against = "jax"))
  expect_length(gregexpr("<td", html, fixed = TRUE)[[1]], length(table))
  differs <- table != promotion_table("jax")
  expect_length(gregexpr("background:#fff0b3", html, fixed = TRUE)[[1]], sum(differs))
  caption <- sprintf("NumPy. %d of 324 cells differ from jax's.", sum(differs))
  expect_match(html, caption, fixed = TRUE)
})

# ---- pictures ----

# What is drawn, as calls of the graphics functions.
drawn <- function(code) {
  path <- tempfile(fileext = ".svg")
  grDevices::svg(path)
  on.exit(unlink(path))
  value <- tryCatch(code, finally = grDevices::dev.off())
  text <- paste(readLines(path, warn = FALSE), collapse = "\n")
  # cairo 1.18 writes fill="rgb(1%, 2%, 3%)".
  text <- gsub("fill=\"rgb", "fill:rgb", gsub("%, ", "%,", text, fixed = TRUE), fixed = TRUE)
  list(value = value, text = text)
}

# What plot() highlights: nodes in the colours of operands and of joins, and edges in that of ways.
lit <- function(rules, nodes) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  grDevices::dev.control("enable")
  places <- plot(promotion_rules(rules), highlight = nodes)
  calls <- lapply(grDevices::recordPlot()[[1L]], function(call) as.list(call[[2L]]))
  of <- function(name) Filter(function(call) call[[1L]]$name == name, calls)
  node_at <- function(x, y) {
    near <- Map(function(x, y) which.min((places$x - x)^2 + (places$y - y)^2), x, y)
    places$node[as.integer(near)]
  }
  boxes <- of("C_rect")[[1L]]
  at <- node_at((boxes[[2L]] + boxes[[4L]]) / 2, (boxes[[3L]] + boxes[[5L]]) / 2)
  ways <- Filter(function(lines) identical(lines[[6L]], "#0969da"), of("C_segments"))
  steps <- unlist(lapply(ways, function(lines) {
    paste(node_at(lines[[2L]], lines[[3L]]), node_at(lines[[4L]], lines[[5L]]))
  }))
  list(
    operands = at[boxes[[6L]] == "#a9cbf5"], top = at[boxes[[6L]] == "#f2a93b"],
    steps = as.character(steps)
  )
}
count_of <- function(pattern, text) sum(gregexpr(pattern, text, fixed = TRUE)[[1]] > 0)

test_that("every lattice has a picture in which edges lead upwards and no nodes touch", {
  sets <- promotion_rule_sets()
  for (id in sets$id[sets$kind == "lattice"]) {
    picture <- drawn(plot(promotion_rules(id)))
    places <- picture$value
    edges <- lattice_edges(id)
    expect_setequal(places$node, unlist(edges))
    y <- setNames(places$y, places$node)
    expect_true(all(y[edges$to] > y[edges$from]), label = id)
    expect_identical(anyDuplicated(places[c("x", "y")]), 0L)
    same_row <- outer(places$y, places$y, `==`) & row(diag(nrow(places))) != col(diag(nrow(places)))
    apart <- abs(outer(places$x, places$x, `-`))
    expect_true(all(apart[same_row] >= 0.5), label = id)
    # A box for each node.
    expect_gte(count_of("<path", picture$text), nrow(places) + nrow(edges))
  }
})

test_that("highlighted are operands, the ways up and the join", {
  jax <- lit("jax", c("i8", "ui8"))
  expect_setequal(jax$operands, c("i8", "ui8"))
  expect_identical(jax$top, "i16")
  expect_setequal(jax$steps, c("i8 i16", "ui8 i16"))
  expect_identical(lit("jax", c("ui64", "i64"))$top, "f*")
  three <- lit("anvil", c("i8", "f16", "c64"))
  expect_setequal(three$operands, c("i8", "f16"))
  expect_identical(three$top, "c64")
  crossed <- promotion_lattice(rbind(c("A", "C"), c("A", "D"), c("B", "C"), c("B", "D")))
  none <- lit(crossed, c("A", "B"))
  expect_setequal(none$top, c("C", "D"))
  expect_setequal(none$steps, c("A C", "A D", "B C", "B D"))
  apart <- lit("option0", c("i8", "f16"))
  expect_setequal(apart$operands, c("i8", "f16"))
  expect_identical(apart$top, character())
  amber <- "fill:rgb(94.901961%,66.27451%,23.137255%)"
  picture <- drawn(plot(promotion_rules("jax"), highlight = c("i8", "ui8"), main = "JAX"))$text
  expect_identical(count_of(amber, picture), 1L)
  expect_identical(count_of(amber, drawn(plot(promotion_rules("jax")))$text), 0L)
  expect_refusal(plot(promotion_rules("jax"), highlight = c("i8", "i9")), "joist_dtype_error", "i9")
  expect_refusal(plot(promotion_rules("jax"), highlight = "i8"), "joist_dtype_error", "highlight")
})

test_that("plots of rules without a lattice, and of empty tables, say what to plot", {
  expect_refusal(plot(promotion_rules("numpy")), "joist_promotion_error", "promotion_table")
  expect_refusal(plot(promotion_table("jax", character(), "i8")), "joist_value_error")
})

test_that("a plot of a table marks the cells that differ", {
  table <- promotion_table("numpy")
  picture <- drawn(plot(table, against = "jax", main = "NumPy"))
  expect_identical(picture$value, table != promotion_table("jax"))
  yellow <- "fill:rgb(100%,87.843137%,40%)"
  expect_identical(count_of(yellow, picture$text), sum(picture$value))
  expect_null(drawn(plot(table))$value)
  # Under anvil, a bare number is its default dtype.
  anvil <- table
  anvil["i8", "i*"] <- "i8"
  anvil["bool", "i*"] <- "i*"
  anvil["i8", "f*"] <- "f*"
  known <- setdiff(rownames(table), c("i*", "f*", "c*"))
  anvil[known, known] <- promotion_table("anvil", known, known)
  differs <- drawn(plot(anvil, against = "anvil"))$value
  expect_identical(dimnames(differs), dimnames(table))
  expect_false(differs["i8", "i*"] || differs["bool", "i*"] || differs["i8", "f*"])
  expect_false(any(differs[known, known]))
  anvil[] <- "x"
  expect_true(all(drawn(plot(anvil, against = "anvil"))$value))
  python <- drawn(plot(promotion_table("python"), against = "jax"))$value
  expect_identical(dim(python), c(3L, 3L))
  expect_false(any(python))
})
