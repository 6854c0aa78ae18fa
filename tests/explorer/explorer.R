# Writes the page of promotion_explorer() and the tables that it must show, and lets Chromium use
# it. Run at the root of the tree:
#   R -f tests/explorer/explorer.R --args FOLDER    for the page, the tables and the pictures
library(joist)
folder <- commandArgs(TRUE)[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
promotion_explorer(file.path(folder, "explorer.html"))
for (rules in c("anvil", "jax", "numpy")) {
  nodes <- if (rules == "anvil") unique(unlist(lattice_edges("anvil")))
  write.csv(unclass(promotion_table(rules, nodes, nodes)), file.path(folder, paste0(rules, ".csv")))
}
quit(status = system2("python3", c("tests/explorer/browse.py", shQuote(folder))))
