# What the vignettes draw with: promotion tables as HTML, lattices as Hasse diagrams.

table_style <- knitr::asis_output("<style>
body { max-width: 760px; }
pre, pre code, pre > code.sourceCode { white-space: pre-wrap !important; }
table.promotion { border-collapse: collapse; margin: 1em auto; width: auto;
  font: 11px/1.5 monospace; }
table.promotion caption { caption-side: top; text-align: left; color: #444;
  font: 13px/1.4 sans-serif; padding: 0 0 5px 0; }
table.promotion th, table.promotion td { border: 1px solid #d8dee4; padding: 2px 5px;
  text-align: center; }
table.promotion th { background: #f6f8fa; color: #24292f; }
table.promotion th.row { text-align: right; }
table.promotion td.bool { color: #57606a; }
table.promotion td.ui { color: #7a3fc4; }
table.promotion td.i { color: #0550ae; }
table.promotion td.f { color: #116329; }
table.promotion td.c { color: #a0111f; }
table.promotion td.none { color: #8c959f; }
table.promotion td.guess { font-style: italic; }
table.promotion td.differs { background: #fff0b3; font-weight: bold; }
table.promotion.wide { font-size: 10px; }
table.promotion.wide th, table.promotion.wide td { padding: 2px 3px; }
</style>")

cell_class <- function(cells) {
  kind <- sub("^(bool|ui|i|bf|f|c).*$", "\\1", cells)
  kind[kind == "bf"] <- "f"
  kind[cells == "-"] <- "none"
  guess <- ifelse(grepl("[?*]$", cells), " guess", "")
  paste0(kind, guess)
}

# A character matrix with dimnames as HTML; `differs` marks cells.
promotion_html <- function(cells, differs = NULL, caption = NULL) {
  cells <- unclass(cells)
  classes <- cell_class(cells)
  if (!is.null(differs)) classes <- paste0(classes, ifelse(differs, " differs", ""))
  shown <- ifelse(cells == "-", "&ndash;", cells)
  body <- matrix(sprintf('<td class="%s">%s</td>', classes, shown), nrow(cells))
  rows <- sprintf(
    '<tr><th class="row">%s</th>%s</tr>', rownames(cells), apply(body, 1, paste, collapse = "")
  )
  head <- paste0("<tr><th></th>", paste0("<th>", colnames(cells), "</th>", collapse = ""), "</tr>")
  knitr::asis_output(paste0(
    '\n\n<table class="promotion', if (ncol(cells) > 14) " wide", '">',
    if (!is.null(caption)) paste0("<caption>", caption, "</caption>"),
    head, paste(rows, collapse = ""), "</table>\n\n"
  ))
}

# For the chunk option `render`: a promotion table is shown as HTML.
render_table <- function(x, options, ...) {
  promotion_html(x, caption = options$tab.cap)
}

# Where a node stands: one lane for each kind of number.
lane <- function(nodes) {
  kind <- sub("[0-9]*[?*]?$", "", nodes)
  lanes <- c(bool = 0.5, ui = 0, i = 1, bf = 1.72, f = 2, c = 3)[kind]
  lanes[grepl("^f16", nodes) & any(kind == "bf")] <- 2.28
  lanes[nodes == "i*"] <- 0.5
  lanes[is.na(lanes)] <- 0
  unname(lanes)
}

above <- function(node, edges) {
  found <- node
  repeat {
    more <- union(found, edges$to[edges$from %in% found])
    if (length(more) == length(found)) return(found)
    found <- more
  }
}

# Height of a node: the longest path that leads to it.
height <- function(nodes, edges) {
  high <- stats::setNames(numeric(length(nodes)), nodes)
  repeat {
    raised <- high
    for (k in seq_len(nrow(edges))) {
      raised[edges$to[k]] <- max(raised[edges$to[k]], raised[edges$from[k]] + 1)
    }
    if (identical(raised, high)) return(high)
    high <- raised
  }
}

# A Hasse diagram: promotion leads upwards. Two `operands` are marked with their common
# upper bounds and the lowest of these; `new` marks edges.
draw_lattice <- function(edges, title = NULL, operands = NULL, new = NULL, cex = 0.9) {
  nodes <- unique(c(edges$from, edges$to))
  x <- stats::setNames(lane(nodes), nodes)
  y <- height(nodes, edges)
  old <- graphics::par(mar = c(0.4, 0.2, if (is.null(title)) 0.4 else 2, 0.2))
  on.exit(graphics::par(old))
  span <- range(x)
  if (diff(span) == 0) span <- span + c(-1, 1)
  graphics::plot.new()
  graphics::plot.window(xlim = span + c(-0.35, 0.35), ylim = range(y) + c(-0.4, 0.4))
  if (!is.null(title)) graphics::title(title, font.main = 1, cex.main = 1)
  is_new <- paste(edges$from, edges$to) %in% paste(new$from, new$to)
  graphics::segments(
    x[edges$from], y[edges$from], x[edges$to], y[edges$to],
    col = ifelse(is_new, "#bf5b00", "#8c959f"), lwd = ifelse(is_new, 2, 1.2)
  )
  fill <- stats::setNames(rep("white", length(nodes)), nodes)
  border <- stats::setNames(rep("#57606a", length(nodes)), nodes)
  fill[grepl("[?*]$", nodes)] <- "#f0f1f3"
  if (!is.null(operands)) {
    bounds <- Reduce(intersect, lapply(operands, above, edges = edges))
    higher <- lapply(bounds, function(u) setdiff(above(u, edges), u))
    lowest <- setdiff(bounds, unlist(higher))
    fill[bounds] <- "#fff3c9"
    fill[lowest] <- "#f2a93b"
    fill[setdiff(operands, lowest)] <- "#a9cbf5"
    border[c(operands, bounds)] <- "#24292f"
  }
  half_width <- max(graphics::strwidth(nodes, cex = cex)) / 2 * 1.25
  half_height <- graphics::strheight("M", cex = cex) * 1.15
  graphics::rect(
    x - half_width, y - half_height, x + half_width, y + half_height,
    col = fill, border = border
  )
  graphics::text(x, y, nodes, cex = cex)
}
