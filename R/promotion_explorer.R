# A page that answers every question about pairs of types under several rule sets. The answers are
# computed here; the page only looks them up.

#' Explore promotion in a browser
#'
#' Writes one HTML file that needs no network and no R: choose a rule set and two types and see
#' their common type, the explanation ([explain_promotion()]), the cell of the table, the way
#' through the lattice where the rules are one, and what differs under a second rule set. It can be
#' used by keyboard (in the table, the arrow keys, Home and End), on a phone, and in dark mode.
#'
#' @param file the path of the file to write; one that exists is replaced.
#' @param rules ids of built-in rule sets, or a list of ids and `joist_rules` objects; by default
#'   all built-in ones. They need different ids.
#' @return `file`, invisibly. [utils::browseURL()] opens it.
#' @section Errors:
#' `joist_value_error` for a `file` that is not a path or cannot be written, for an argument that is
#' not a rule set, for no rule sets at all, and for two with the same id; `joist_promotion_error`
#' for unknown rules.
#' @seealso [plot()][plot_promotion], [promotion_table()]
#' @examples
#' page <- promotion_explorer(tempfile(fileext = ".html"), rules = c("jax", "numpy"))
#' file.size(page)
#' if (interactive()) browseURL(page)
#' @export
promotion_explorer <- function(file, rules = promotion_rule_sets()$id) {
  if (!is.character(file) || length(file) != 1L || is.na(file) || !nzchar(file)) {
    stop_joist("joist_value_error", "`file` must be the path of a file")
  }
  if (inherits(rules, "joist_rules")) rules <- list(rules)
  if (!is.character(rules) && !(is.list(rules) && !is.object(rules))) {
    stop_joist("joist_value_error", "`rules` must be ids of rule sets, or a list of rules")
  }
  sets <- lapply(as.list(rules), promotion_rules)
  ids <- vapply(sets, rules_id, "")
  if (length(ids) == 0L) stop_joist("joist_value_error", "`rules` names no rules")
  if (anyDuplicated(ids)) {
    twice <- ids[anyDuplicated(ids)]
    stop_joist("joist_value_error", "`rules` has two sets of the id '", twice, "'")
  }
  page <- fill_page(c(
    STYLE = explorer_part("explorer.css"), COLOURS = explorer_colours(),
    DATA = as_json(explorer_data(sets)), SCRIPT = explorer_part("explorer.js")
  ))
  written <- tryCatch(writeLines(page, file, useBytes = TRUE), error = identity, warning = identity)
  if (inherits(written, "condition")) {
    stop_joist("joist_value_error", "'", file, "' can not be written: ", conditionMessage(written))
  }
  invisible(file)
}

explorer_part <- function(name) {
  path <- system.file("explorer", name, package = "joist", mustWork = TRUE)
  paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n")
}

# The template, each place in braces replaced by its part.
fill_page <- function(parts) {
  page <- explorer_part("explorer.html")
  for (name in names(parts)) {
    place <- paste0("{{", name, "}}")
    at <- regexpr(place, page, fixed = TRUE)
    page <- paste0(
      substr(page, 1L, at - 1L), parts[[name]], substring(page, at + nchar(place))
    )
  }
  page
}

explorer_colours <- function() {
  rule <- function(colours) {
    paste0("--", names(colours), ":", colours, ";", collapse = "")
  }
  paste0(
    ":root{", rule(kind_colours), "}\n@media (prefers-color-scheme:dark){:root{",
    rule(dark_kind_colours), "}}"
  )
}

# ---- the answers ----

# Texts are kept once, in `texts`, and referred to by number (from 0; -1 is none).
explorer_data <- function(sets) {
  seen <- new.env()
  number <- function(texts) {
    vapply(texts, function(text) {
      if (is.na(text)) {
        return(-1L)
      }
      key <- paste0("=", text)
      if (is.null(seen[[key]])) assign(key, length(seen), envir = seen)
      seen[[key]]
    }, 0L, USE.NAMES = FALSE)
  }
  nodes <- lapply(sets, explorer_nodes)
  all_nodes <- unique(unlist(nodes))
  described <- Map(function(rules, own) {
    explorer_set(rules, own, all_nodes, number)
  }, sets, nodes)
  all_nodes <- number(all_nodes)
  keys <- ls(seen, all.names = TRUE, sorted = FALSE)
  texts <- character(length(keys))
  texts[vapply(keys, function(key) seen[[key]], 0L) + 1L] <- substring(keys, 2L)
  list(
    texts = texts, nodes = all_nodes, kinds = kind_of_cells(texts[all_nodes + 1L]),
    sets = unname(described)
  )
}

# The nodes of the table; a table of guesses has those of R values as well.
explorer_nodes <- function(rules) {
  info <- .Call(joist_r_rules_info, rules)
  nodes <- info$nodes
  if (!any(is_guess(nodes)) && info$kind == "table") {
    nodes <- c(nodes, paste0(info$literals[-1L], "?"))
  }
  nodes
}

explorer_set <- function(rules, nodes, all_nodes, number) {
  info <- .Call(joist_r_rules_info, rules)
  pairs <- lapply(nodes, function(lhs) {
    lapply(nodes, function(rhs) explorer_pair(explain_promotion(lhs, rhs, rules = rules), number))
  })
  list(
    id = json_one(info$id), kind = json_one(info$kind), source = json_one(info$source),
    nodes = number(nodes), pairs = pairs, table = explorer_table(rules, all_nodes, number),
    lattice = explorer_lattice(rules, number)
  )
}

# The headline, the common node, both ways, then a label and a text each.
explorer_pair <- function(x, number) {
  parts <- explanation_parts(x)
  way <- vapply(x$operands$path, function(path) {
    if (length(path) > 0L) paste(path, collapse = " \u2192 ") else NA_character_
  }, "")
  top <- if (is.null(x$result)) NA_character_ else x$cell
  number(c(headline(x), top, way, rbind(names(parts), parts)))
}

# Row by row: the cells of all nodes of the page, NA where the rules do not know a name.
explorer_table <- function(rules, nodes, number) {
  known <- vapply(nodes, function(node) {
    x <- as_promotion_table(matrix("", 1L, 1L, dimnames = list(node, node)))
    !inherits(tryCatch(table_under(x, rules), joist_dtype_error = identity), "condition")
  }, TRUE)
  blank <- matrix("", sum(known), sum(known), dimnames = list(nodes[known], nodes[known]))
  cells <- matrix(NA_character_, length(nodes), length(nodes))
  cells[known, known] <- table_under(as_promotion_table(blank), rules)
  number(t(cells))
}

explorer_lattice <- function(rules, number) {
  edges <- lattice_edges(rules)
  if (nrow(edges) == 0L) {
    return(NULL)
  }
  places <- node_places(unique(c(edges$from, edges$to)), edges)
  list(
    nodes = number(places$node), x = places$x, y = places$y, from = number(edges$from),
    to = number(edges$to)
  )
}
