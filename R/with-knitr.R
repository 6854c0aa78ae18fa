# What knitr shows in documents: explanations and promotion tables as tables.

# A table of the operands, and a list of the rest.
#' @exportS3Method knitr::knit_print
knit_print.joist_explanation <- function(x, ...) {
  cell <- function(text) gsub("|", "\\|", text, fixed = TRUE)
  code <- function(text) paste0("`", gsub("`", "", text, fixed = TRUE), "`")
  frame <- as.data.frame(structure(c(x[names(x) != "inner"], list(inner = list())),
    class = class(x)
  ))
  frame$way <- frame$path
  parts <- explanation_parts(x)
  labels <- names(parts)
  for (k in which(!nzchar(labels))) labels[k] <- labels[k - 1L]
  inner <- lapply(x$inner, function(part) unclass(knit_print.joist_explanation(part)))
  text <- c(
    unlist(inner), "", paste0("**", cell(headline(x)), "**"), "",
    "| operand | type | is | way |", "|:--|:--|:--|:--|",
    sprintf(
      "| %s | %s | %s | %s |", cell(code(frame$operand)), frame$type, operand_words(x),
      cell(gsub(" -> ", " \u2192 ", frame$way, fixed = TRUE))
    ),
    "", sprintf("* **%s:** %s", labels, cell(parts)), ""
  )
  knitr::asis_output(paste(text, collapse = "\n"))
}

# As HTML in the colours of the kinds, elsewhere as a plain table. Chunk options: `tab.cap`, and
# `against`, rules whose differing cells are marked.
#' @exportS3Method knitr::knit_print
knit_print.joist_promotion_table <- function(x, options = list(), ...) {
  differs <- if (!is.null(options$against)) x != table_under(x, options$against)
  caption <- paste(c(options$tab.cap, if (!is.null(differs)) {
    sprintf("%d of %d cells differ from %s's.", sum(differs), length(x), rules_id(options$against))
  }), collapse = " ")
  if (!knitr::is_html_output()) {
    caption <- if (nzchar(caption)) caption
    return(knitr::asis_output(paste(c("", knitr::kable(unclass(x), caption = caption), ""),
      collapse = "\n"
    )))
  }
  knitr::asis_output(paste0("\n\n", table_html(x, differs, caption), "\n\n"))
}

table_html <- function(x, differs = NULL, caption = "") {
  cells <- unclass(x)
  style <- paste0("color:", kind_colours[kind_of_cells(cells)])
  style <- paste0(style, ifelse(is_guess(cells), ";font-style:italic", ""))
  if (!is.null(differs)) {
    style <- paste0(style, ifelse(differs, ";background:#fff0b3;font-weight:bold", ""))
  }
  around <- sprintf("border:1px solid #d8dee4;padding:2px %dpx", if (ncol(cells) > 14L) 3L else 5L)
  body <- matrix(sprintf(
    '<td style="%s;text-align:center;%s">%s</td>', around, style,
    ifelse(cells == "-", "&ndash;", html_text(cells))
  ), nrow(cells))
  head <- function(text, align) {
    style <- paste0(around, ";background:#f6f8fa;text-align:", align)
    sprintf('<th style="%s">%s</th>', style, html_text(text))
  }
  rows <- paste0(
    "<tr>", head(rownames(cells), "right"), apply(body, 1L, paste, collapse = ""), "</tr>"
  )
  columns <- paste(head(c("", colnames(cells)), "center"), collapse = "")
  paste0(
    '<table style="border-collapse:collapse;margin:1em auto;width:auto;font:',
    if (ncol(cells) > 14L) "10px" else "11px", '/1.5 monospace">',
    if (nzchar(caption)) {
      sprintf(
        '<caption style="text-align:left;font:13px/1.4 sans-serif;padding-bottom:5px">%s</caption>',
        caption
      )
    },
    "<tr>", columns, "</tr>", paste(rows, collapse = ""), "</table>"
  )
}

html_text <- function(text) {
  for (pair in list(c("&", "&amp;"), c("<", "&lt;"), c(">", "&gt;"), c('"', "&quot;"))) {
    text <- gsub(pair[1L], pair[2L], text, fixed = TRUE)
  }
  text
}
