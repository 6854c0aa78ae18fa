# A page that answers every question about pairs of types under several rule sets. The answers are
# computed here; the page only looks them up.

#' Explore promotion in a browser
#'
#' `promotion_explorer()` writes one HTML file that needs no network and no R: choose a rule set, an
#' operation and two types and see the type of the result, why ([explain_promotion()]), the answers
#' of all rule sets on the page, the cell of the table, the path through the lattice where the rules
#' are one, and the source of the rules, with a link where it is on the web. A second rule set marks
#' and counts the cells in which both differ.
#'
#' The operations are those that have results of their own in a rule set: division where it gives
#' floats, `c()` where it joins other types than `+`. The table shows the nodes of
#' [promotion_table()]; dtypes that the rules know but their document leaves out, most of them of up
#' to a byte, are added if asked for.
#'
#' The page fits any width, has a dark mode and can be used by keyboard (in the table, the arrow
#' keys, Home, End, PageUp and PageDown) and with a screen reader. Its address keeps what is chosen:
#' `page.html#jax/i8/ui8/numpy/divide` opens with the difference between two rule sets in division.
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
  # Ids stay ids: these are looked up faster than objects are checked.
  sets <- lapply(as_rules_list(rules), function(x) {
    if (is.character(x) && !is.object(x)) rules_id(x) else promotion_rules(x)
  })
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

# Operations that may have tables, and how the page writes them.
explorer_operations <- c(
  common = "x with y", add = "x + y", divide = "x / y", power = "x ^ y",
  integer_divide = "x %/% y", modulo = "x %% y", combine = "c(x, y)", assign = "x[i] <- y",
  maximum = "pmax(x, y)", bitwise = "nv_bitwise_and(x, y)",
  rank_zero = "x + y, y without dimensions"
)

# The letters of tables: each stands for a result. None is special in JSON or HTML.
explorer_letters <- function() {
  codes <- setdiff(c(33:126, 192:591), utf8ToInt("\"\\<>&"))
  strsplit(intToUtf8(codes), "")[[1L]]
}

# `names` are those of nodes and results. Sets refer by number (from 0) to names, and to `entries`,
# the explanations, which are lists of numbers of `texts` (-1 is none).
explorer_data <- function(sets) {
  shown <- lapply(sets, explorer_nodes)
  asked <- unique(unlist(lapply(shown, unlist)))
  tables <- Map(explorer_tables, sets, shown, list(asked))
  names <- unique(c(asked, unlist(lapply(tables, `[[`, "results"))))
  pairs <- explorer_explanations(sets, shown)
  described <- Map(function(rules, own, table, entries) {
    explorer_set(rules, own, table, entries, names)
  }, sets, shown, tables, pairs$entries_of)
  list(
    names = names, kinds = kind_of_cells(names), letters = json_one(letters_used(tables)),
    operations = data.frame(id = names(explorer_operations), form = unname(explorer_operations)),
    texts = pairs$texts, entries = pairs$entries, sets = unname(described)
  )
}

letters_used <- function(tables) {
  paste(explorer_letters()[seq_len(max(lengths(lapply(tables, `[[`, "results"))))], collapse = "")
}

# The nodes of the table (one of guesses has those of R values as well), and other dtypes that the
# rules know, most of them of up to a byte.
explorer_nodes <- function(rules) {
  info <- .Call(joist_r_rules_info, rules)
  nodes <- info$nodes
  if (!any(is_guess(nodes)) && info$kind == "table") {
    nodes <- c(nodes, paste0(info$literals[-1L], "?"))
  }
  more <- setdiff(dtypes(), nodes)
  cells <- .Call(joist_r_promotion_table, rules, more, c(nodes, more), "common", FALSE)
  list(own = nodes, more = more[rowSums(cells != "-") > 0])
}

# Tables of all nodes of the page that the rules know, one for each operation that has results of
# its own: rows one after the other, a letter for each cell.
explorer_tables <- function(rules, shown, asked) {
  own <- unlist(shown, use.names = FALSE)
  others <- Filter(function(node) knows_node(rules, node), setdiff(asked, own))
  nodes <- c(own, others)
  blank <- matrix("", length(nodes), length(nodes), dimnames = list(nodes, nodes))
  cells <- lapply(names(explorer_operations), function(operation) {
    t(table_under(as_promotion_table(blank), rules, operation))
  })
  names(cells) <- names(explorer_operations)
  # Names that meet nothing are as good as unknown.
  lives <- rowSums(cells$common != "-") > 0 | nodes %in% own
  cells <- lapply(cells, function(x) x[lives, lives])
  # What has no table here is as `+`, and that as the common types.
  if (identical(cells$add, cells$common)) cells$add <- NULL
  as_others <- if (is.null(cells$add)) cells$common else cells$add
  others <- setdiff(names(cells), c("common", "add"))
  cells[others[vapply(cells[others], identical, TRUE, as_others)]] <- NULL
  results <- unique(unlist(cells))
  letters <- explorer_letters()[seq_along(results)]
  list(
    nodes = nodes[lives], results = results,
    tables = lapply(cells, function(x) {
      json_one(paste(letters[match(x, results)], collapse = ""))
    })
  )
}

knows_node <- function(rules, node) {
  x <- as_promotion_table(matrix("", 1L, 1L, dimnames = list(node, node)))
  !inherits(tryCatch(table_under(x, rules), joist_dtype_error = identity), "condition")
}

explorer_set <- function(rules, shown, table, entries, names) {
  info <- .Call(joist_r_rules_info, rules)
  number <- function(x) match(x, names) - 1L
  list(
    id = json_one(info$id), kind = json_one(info$kind), source = json_one(info$source),
    version = json_one(if (info$version != no_version()) info$version else NA_character_),
    url = json_one(if (grepl("^https://", info$url)) info$url else NA_character_),
    defaults = unname(info$literals), nodes = number(table$nodes),
    own = json_one(length(shown$own)), more = json_one(length(shown$more)),
    results = number(table$results), tables = table$tables, pairs = entries,
    lattice = explorer_lattice(rules, number)
  )
}

# What rules without a library have as their version.
no_version <- function() .Call(joist_r_rules_info, "option0")$version

explorer_lattice <- function(rules, number) {
  edges <- lattice_edges(rules)
  nodes <- unique(c(edges$from, edges$to))
  if (nrow(edges) == 0L || anyNA(number(nodes))) {
    return(NULL)
  }
  places <- node_places(nodes, edges)
  list(
    nodes = number(places$node), x = places$x, y = places$y, from = number(edges$from),
    to = number(edges$to)
  )
}

# ---- explanations ----

# All pairs of all sets, each a number of `entries`. Explanations of many pairs differ in names
# only, which stand in their texts as marks: texts and entries are kept once.
explorer_explanations <- function(sets, shown) {
  said <- Map(function(rules, own) set_explanations(rules, unlist(own, use.names = FALSE)),
    sets, shown
  )
  parts <- unlist(lapply(said, `[[`, "parts"), recursive = FALSE)
  flat <- unlist(parts)
  texts <- unique(flat[!is.na(flat)])
  numbers <- match(flat, texts, nomatch = 0L) - 1L
  keys <- vapply(relist_by(numbers, lengths(parts)), paste, "", collapse = " ")
  distinct <- unique(keys)
  sizes <- vapply(said, function(x) length(x$parts), 0L)
  list(
    texts = texts, entries = lapply(strsplit(distinct, " ", fixed = TRUE), as.integer),
    entries_of = relist_by(match(keys, distinct) - 1L, sizes)
  )
}

relist_by <- function(x, sizes) unname(split(x, rep(factor(seq_along(sizes)), sizes)))

# The explanations of all pairs of a set, row by row, with marks for what the page can put in: the
# left type, the right one, the cell and the id of the rules.
set_explanations <- function(rules, nodes) {
  lhs <- rep(nodes, each = length(nodes))
  rhs <- rep(nodes, length(nodes))
  id <- rules_id(rules)
  explained <- Map(function(left, right) {
    explanation(NULL, NULL, list(left, right), c("x", "y"), NULL, rules, list())
  }, lhs, rhs)
  parts <- lapply(explained, pair_texts)
  cells <- vapply(explained, function(x) x$cell, "")
  pair <- rep(seq_along(parts), lengths(parts))
  texts <- unlist(parts)
  texts <- mark_names(texts, lhs[pair], "\ue000")
  texts <- mark_names(texts, rhs[pair], "\ue001")
  texts <- mark_names(texts, cells[pair], "\ue002")
  texts <- mark_names(texts, rep(id, length(texts)), "\ue003")
  list(parts = relist_by(texts, lengths(parts)))
}

# The headline, the common node, both ways, then a label and a text each.
pair_texts <- function(x) {
  parts <- explanation_parts(x)
  way <- vapply(x$operands$path, function(path) {
    if (length(path) > 0L) paste(path, collapse = " \u2192 ") else NA_character_
  }, "")
  top <- if (is.null(x$result)) NA_character_ else x$cell
  c(headline(x), top, way, rbind(names(parts), parts))
}

# Each text with the name that goes with it replaced, where it stands as a word.
mark_names <- function(texts, names, mark) {
  for (name in setdiff(unique(names), "-")) {
    at <- which(names == name)
    at <- at[grepl(name, texts[at], fixed = TRUE)]
    word <- gsub("([^A-Za-z0-9])", "\\\\\\1", name)
    texts[at] <- gsub(
      paste0("(?<![A-Za-z0-9_?*])", word, "(?![A-Za-z0-9_?*])"), mark, texts[at],
      perl = TRUE
    )
  }
  texts
}
