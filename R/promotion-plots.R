# Pictures of rule sets: the Hasse diagram of a lattice, and a promotion table as coloured cells.

#' Plot promotion rules
#'
#' `plot()` of a rule set that is a lattice draws its Hasse diagram: promotion leads upwards along
#' the lines, and two types meet in the lowest one above both. Kinds of numbers are columns; a node
#' stands as high as the longest way that leads to it. Guesses are grey.
#'
#' `plot()` of a [promotion_table()] draws its cells in the colours of the kinds of numbers.
#'
#' @param x rules that are a lattice ([promotion_rules()], [promotion_lattice()]), or a
#'   [promotion_table()].
#' @param highlight two or more nodes: they are drawn in blue, as are the paths up to their join,
#'   and the join in amber. Without a join, the lowest nodes above all of them are amber.
#' @param mark a data frame of edges, `from` and `to`, to be drawn in orange, or `NULL`.
#' @param against promotion rules: cells that differ under these are marked in yellow, or `NULL`. A
#'   weak type that they do not have is the default dtype of its kind, ambiguous.
#' @param main the title, or `NULL` for none.
#' @param cex the size of texts, relative to the device's; `NULL` for what fits.
#' @param ... ignored.
#' @return Invisibly: of rules, a data frame of the nodes and their places, `node`, `x` and `y`; of
#'   a table, a logical matrix of the cells that differ, or `NULL` without `against`.
#' @section Errors:
#' `joist_promotion_error` for rules that are a table, not a lattice: plot their
#' [promotion_table()]; `joist_dtype_error` for a name that is not a node; `joist_value_error` for a
#' table without cells.
#' @source The layout is that of the figures of JAX's design document JEP 9407
#'   (<https://docs.jax.dev/en/latest/jep/9407-type-promotion.html>), turned upwards.
#' @examples
#' plot(promotion_rules("jax"), highlight = c("i8", "ui8"))
#' plot(promotion_table("numpy"), against = "jax")
#' @name plot_promotion
NULL

#' @rdname plot_promotion
#' @export
plot.joist_rules <- function(x, highlight = NULL, mark = NULL, main = NULL, cex = NULL, ...) {
  edges <- lattice_edges(x)
  if (nrow(edges) == 0L) {
    stop_joist(
      "joist_promotion_error", "the rules '", rules_id(x), "' are a table and no lattice: ",
      "plot(promotion_table()) draws them"
    )
  }
  marked <- highlights(x, highlight)
  nodes <- unique(c(edges$from, edges$to))
  places <- node_places(nodes, edges)
  old <- graphics::par(mar = c(0.4, 0.2, if (is.null(main)) 0.4 else 2, 0.2))
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(
    xlim = range(places$x) + c(-0.4, 0.4), ylim = range(places$y) + c(-0.45, 0.45)
  )
  if (!is.null(main)) graphics::title(main, font.main = 1, cex.main = 1)
  if (is.null(cex)) cex <- fitting_cex(places)
  draw_edges(edges, places, marked, mark)
  draw_nodes(places, marked, cex)
  invisible(places)
}

# What is drawn in colour: operands, their join or the lowest nodes above them, and the ways there.
highlights <- function(rules, nodes) {
  if (is.null(nodes)) {
    return(list())
  }
  if (!is.character(nodes) || length(nodes) < 2L) {
    stop_joist("joist_dtype_error", "`highlight` must be the names of two or more nodes")
  }
  found <- do.call(explain_promotion, c(as.list(nodes), list(rules = rules)))
  ways <- found$operands$path
  top <- if (is.null(found$result)) found$bounds else utils::tail(ways[[1L]], 1L)
  if (is.null(found$result) && length(nodes) == 2L) {
    ways <- lapply(top, function(bound) lapply(nodes, way_up, to = bound, rules = rules))
    ways <- unlist(ways, recursive = FALSE)
  }
  steps <- unlist(lapply(ways, function(way) {
    if (length(way) > 1L) paste(way[-length(way)], way[-1L])
  }))
  list(operands = found$operands$node, top = top, steps = unique(steps))
}

# The way to a node above: where both meet is there.
way_up <- function(from, to, rules) explain_promotion(from, to, rules = rules)$operands$path[[1L]]

# Columns for kinds of numbers, the small floats beside theirs, bool and the weak integer between
# the integers; layers by the longest way up.
node_places <- function(nodes, edges) {
  kind <- kind_of_cells(nodes)
  kind[is_narrow(nodes)] <- "own" # more of a column than have room there
  x <- c(bool = 0.5, ui = 0, i = 1, f = 2, c = 3, own = NA, none = NA)[kind]
  small <- sub("[?]$", "", nodes)
  if (any(small == "bf16")) x <- x + ifelse(small == "bf16", -0.28, ifelse(small == "f16", 0.28, 0))
  if (any(kind == "ui")) x[nodes == "i*"] <- 0.5
  y <- stacked(x, heights(nodes, edges), nodes %in% edges$from)
  if (!anyDuplicated(y)) x[] <- 0
  own <- is.na(x)
  if (any(own)) x[own] <- own_columns(nodes, own, edges, y, x)
  data.frame(node = nodes, x = unname(x), y = unname(y), stringsAsFactors = FALSE)
}

# Nodes with nothing above them give way upwards to others of their layer and column.
stacked <- function(x, y, is_below) {
  for (k in which(!is_below & !is.na(x))) {
    while (any(abs(x[-k] - x[k]) < 0.5 & y[-k] == y[k], na.rm = TRUE)) y[k] <- y[k] + 1
  }
  y
}

heights <- function(nodes, edges) {
  high <- stats::setNames(numeric(length(nodes)), nodes)
  repeat {
    raised <- high
    for (k in seq_len(nrow(edges))) {
      raised[edges$to[k]] <- max(raised[edges$to[k]], raised[edges$from[k]] + 1)
    }
    if (identical(raised, high)) {
      return(high)
    }
    high <- raised
  }
}

# Names of the user's: the nodes of a layer side by side, in the order of what is below them.
own_columns <- function(nodes, own, edges, y, x) {
  x <- stats::setNames(x, nodes)
  start <- if (all(own)) 0 else max(x, na.rm = TRUE) + 1
  for (layer in sort(unique(y[own]))) {
    here <- nodes[own & y == layer]
    below <- vapply(here, function(node) {
      mean(x[edges$from[edges$to == node]], na.rm = TRUE)
    }, 0)
    here <- here[order(below)]
    x[here] <- start + seq_along(here) - (length(here) + 1) / 2
  }
  shift <- if (all(own)) 0 else start - min(x[nodes[own]])
  x[nodes[own]] + shift
}

node_size <- function(places, cex) {
  c(
    max(graphics::strwidth(places$node, cex = cex)) / 2 * 1.3,
    graphics::strheight("M", cex = cex) * 1.15
  )
}

# The largest size at which no two nodes touch.
fitting_cex <- function(places) {
  size <- node_size(places, 1)
  apart_x <- outer(places$x, places$x, function(a, b) abs(a - b))
  apart_y <- outer(places$y, places$y, function(a, b) abs(a - b))
  other <- row(apart_x) != col(apart_x)
  if (!any(other)) {
    return(1)
  }
  fits <- pmax(apart_x[other] / (2.2 * size[1L]), apart_y[other] / (2.8 * size[2L]))
  max(0.3, min(1, fits))
}

draw_edges <- function(edges, places, marked, mark) {
  from <- match(edges$from, places$node)
  to <- match(edges$to, places$node)
  names <- paste(edges$from, edges$to)
  is_way <- names %in% marked$steps
  is_marked <- names %in% paste(mark$from, mark$to)
  draw <- function(which, colour, width) {
    graphics::segments(
      places$x[from[which]], places$y[from[which]], places$x[to[which]], places$y[to[which]],
      col = colour, lwd = width
    )
  }
  draw(!is_way & !is_marked, "#8c959f", 1.2)
  draw(is_way, "#0969da", ifelse(is_marked, 6, 2.5)[is_way])
  draw(is_marked, "#bf5b00", 2)
}

draw_nodes <- function(places, marked, cex) {
  fill <- ifelse(is_guess(places$node), "#e9ebee", "white")
  border <- rep("#57606a", nrow(places))
  fill[places$node %in% marked$operands] <- "#a9cbf5"
  fill[places$node %in% marked$top] <- "#f2a93b"
  lit <- places$node %in% c(marked$operands, marked$top)
  border[lit] <- "#24292f"
  size <- node_size(places, cex)
  graphics::rect(
    places$x - size[1L], places$y - size[2L], places$x + size[1L], places$y + size[2L],
    col = fill, border = border
  )
  colour <- kind_colours[kind_of_cells(places$node)]
  colour[lit] <- "#24292f"
  graphics::text(places$x, places$y, places$node, cex = cex, col = colour)
}

#' @rdname plot_promotion
#' @export
plot.joist_promotion_table <- function(x, against = NULL, main = NULL, cex = NULL, ...) {
  cells <- unclass(x)
  differs <- if (!is.null(against)) x != table_under(x, against)
  if (length(cells) == 0L) stop_joist("joist_value_error", "there are no cells to plot")
  old <- graphics::par(mar = c(0.3, 0.3, if (is.null(main)) 0.3 else 2, 0.3))
  on.exit(graphics::par(old))
  rows <- nrow(cells)
  columns <- ncol(cells)
  graphics::plot.new()
  graphics::plot.window(c(-0.5, columns + 0.5), c(rows + 0.5, -0.5), xaxs = "i", yaxs = "i")
  if (!is.null(main)) graphics::title(main, font.main = 1, cex.main = 1)
  texts <- c(cells, dimnames(cells)[[1L]], dimnames(cells)[[2L]])
  if (is.null(cex)) {
    widest <- max(graphics::strwidth(texts, cex = 1, font = 2))
    tallest <- abs(graphics::strheight("M", cex = 1))
    cex <- min(1.2, 0.88 / widest, 0.5 / tallest)
  }
  at_x <- col(cells)
  at_y <- row(cells)
  kinds <- kind_of_cells(cells)
  fill <- grDevices::adjustcolor(kind_colours[kinds], 0.1)
  fill[kinds == "none"] <- "white"
  if (!is.null(differs)) fill[differs] <- "#ffe066"
  graphics::rect(at_x - 0.5, at_y - 0.5, at_x + 0.5, at_y + 0.5, col = fill, border = "#d0d7de")
  bold <- if (is.null(differs)) FALSE else differs
  font <- ifelse(is_guess(cells), 3L, 1L) + ifelse(bold, 1L, 0L) # 2 is bold, 3 italic, 4 both
  for (style in unique(as.vector(font))) {
    these <- font == style
    graphics::text(
      at_x[these], at_y[these], cells[these],
      col = kind_colours[kinds[these]], cex = cex, font = style
    )
  }
  graphics::text(0, seq_len(rows), rownames(cells), cex = cex, font = 2)
  graphics::text(seq_len(columns), 0, colnames(cells), cex = cex, font = 2)
  invisible(differs)
}
