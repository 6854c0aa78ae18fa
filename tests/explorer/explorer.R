# Writes the page of promotion_explorer() and the tables that it must show, and lets Chromium use
# it. Run at the root of the tree:
#   R -f tests/explorer/explorer.R --args FOLDER    for the page, the tables and the pictures
library(joist)
folder <- commandArgs(TRUE)[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
page <- file.path(folder, "explorer.html")
took <- system.time(promotion_explorer(page))
cat("note: ", round(file.size(page) / 1e3), " kB in ", round(sum(took[1:2])), " s\n", sep = "")

# A line for each row of each table, of all dtypes and the nodes that a rule set lists: rules,
# operation, left node, cells. The operation "" has the nodes of the columns.
operations <- c(
  "common", "add", "divide", "power", "integer_divide", "modulo", "combine", "assign", "maximum",
  "bitwise", "rank_zero"
)
lines <- unlist(lapply(promotion_rule_sets()$id, function(rules) {
  nodes <- unique(c(
    rownames(promotion_table(rules)), unlist(lattice_edges(rules)), dtypes(),
    c("i32?", "i64?", "f32?", "f64?", "c64?", "c128?")
  ))
  rows <- lapply(operations, function(operation) {
    cells <- promotion_table(rules, nodes, nodes, operation)
    paste(rules, operation, nodes, apply(cells, 1, paste, collapse = " "), sep = "\t")
  })
  c(paste(rules, "", "", paste(nodes, collapse = " "), sep = "\t"), unlist(rows))
}))
writeLines(enc2utf8(lines), file.path(folder, "tables.txt"), useBytes = TRUE)
quit(status = system2("python3", c("tests/explorer/browse.py", shQuote(folder))))
