# What the vignettes' pages have in common.

table_style <- knitr::asis_output("<style>
body { max-width: 760px; }
pre, pre code, pre > code.sourceCode { white-space: pre-wrap !important; }
</style>")

# A matrix of types other than a promotion table, in the same colours; `differs` marks cells.
types_html <- function(cells, differs, caption) {
  knitr::asis_output(paste0("\n\n", joist:::table_html(cells, differs, caption), "\n\n"))
}
