# Promotion tables: character matrices that print in colours.

#' Promotion tables
#'
#' `promotion_table()` shows the common types of all pairs of types, by default of all types of a
#' rule set, as a table. [plot()][plot_promotion] draws it.
#'
#' @inheritParams common_dtype
#' @param lhs,rhs character vectors of nodes: dtypes (`"f32"`), ambiguous dtypes
#'   (`"i32?"`), the rule set's own weak types (`"i*"`, `"f*"`, `"c*"`) or other names
#'   of its nodes. By default all nodes of the published table in the published order.
#' @param operation the operation whose results the table shows, of those that
#'   [promotion_rules_new()] lists: `"common"`, the common dtypes as published, or one such as
#'   `"divide"`. Its results are those of the rules' own table for it or, where they have none, what
#'   it makes of the common dtypes that operations use ([promotion_facts()]): of `"assign"` the
#'   dtype of `lhs` where `rhs` can be assigned to its elements, and `"-"` elsewhere.
#' @param x a promotion table.
#' @param i,j,drop as for matrices: what remains a matrix remains a promotion table.
#' @param ... for `[`, other indices, as for matrices; ignored by `print()`.
#' @return A character matrix of class `joist_promotion_table` with `lhs` and `rhs` as dimnames.
#'   `"?"` at the end marks an ambiguous result, `"-"` an undefined one. Comparing it gives a
#'   logical matrix. It prints without quotes; where package cli is installed and the terminal has
#'   colours, in the colours of the kinds of numbers, guesses in italics. In a knitr document it is
#'   a coloured table; there, the chunk option `against` names rules whose differing cells are
#'   marked.
#' @section Errors:
#' `joist_dtype_error` for a name that is not a node; `joist_promotion_error` for unknown rules;
#' `joist_value_error` for an unknown operation.
#' @source The sources of the built-in rule sets are listed by [promotion_rule_sets()];
#'   the tables themselves are in `system.file("extdata", package = "joist")`.
#' @seealso [explain_promotion()] for one of the cells.
#' @examples
#' promotion_table("anvil")
#' promotion_table("anvil", lhs = c("i32?", "f32?"), rhs = c("i8", "f64"))
#' promotion_table("jax")["ui64", ]
#' @export
promotion_table <- function(rules = NULL, lhs = NULL, rhs = NULL, operation = "common") {
  as_promotion_table(.Call(joist_r_promotion_table, rules, lhs, rhs, operation, FALSE))
}

as_promotion_table <- function(cells) {
  structure(cells, class = c("joist_promotion_table", "matrix", "array"))
}

#' @rdname promotion_table
#' @export
`[.joist_promotion_table` <- function(x, i, j, ..., drop = TRUE) {
  picked <- NextMethod()
  if (is.matrix(picked)) as_promotion_table(picked) else picked
}

# Comparisons give plain matrices.
#' @export
Ops.joist_promotion_table <- function(e1, e2) unclass(NextMethod())

#' @rdname promotion_table
#' @export
print.joist_promotion_table <- function(x, ...) {
  if (length(x) == 0L || !is.character(x)) {
    print(unclass(x), quote = FALSE)
    return(invisible(x))
  }
  cells <- unclass(x)
  label <- function(names, n) if (is.null(names)) character(n) else names
  rows <- format(c("", label(rownames(cells), nrow(cells))))
  columns <- label(colnames(cells), ncol(cells))
  widths <- pmax(nchar(columns), apply(nchar(cells), 2L, max))
  # As many columns a block as the line has room for.
  room <- max(getOption("width") - nchar(rows[1L]), max(widths) + 1L)
  block <- integer(length(widths))
  used <- 0L
  for (k in seq_along(widths)) {
    starts <- k == 1L || used + widths[k] + 1L > room
    block[k] <- if (k == 1L) 1L else block[k - 1L] + starts
    used <- if (starts) widths[k] + 1L else used + widths[k] + 1L
  }
  for (columns_shown in split(seq_along(widths), block)) {
    lines <- rows
    for (k in columns_shown) {
      texts <- c(columns[k], cells[, k])
      if (k < max(columns_shown)) texts <- formatC(texts, width = -widths[k])
      lines <- paste(lines, paint_types(texts, c(columns[k], cells[, k])))
    }
    cat(lines, sep = "\n")
  }
  invisible(x)
}

rules_id <- function(rules) .Call(joist_r_rules_info, rules)$id

# The same pairs under other rules. A weak type that these do not have is the default of its kind,
# also in the cells of its row and column, and Python's numbers are weak types.
table_under <- function(x, rules, operation = "common") {
  info <- .Call(joist_r_rules_info, rules)
  weak <- c("b*", "i*", "f*", "c*")
  defaults <- c("bool", paste0(info$literals[-1L], "?"))
  python <- c("int", "float", "complex")
  theirs <- function(names) {
    names <- exchange(names, python, weak[-1L], info$nodes)
    exchange(names, weak, defaults, info$nodes)
  }
  rows <- theirs(rownames(x))
  columns <- theirs(colnames(x))
  cells <- .Call(joist_r_promotion_table, rules, rows, columns, operation, FALSE)
  renamed <- outer(rows != rownames(x), columns != colnames(x), `|`)
  if (any(renamed)) {
    spelled <- outer(rownames(x) %in% python, colnames(x) %in% python, `|`) & renamed
    cells[renamed] <- exchange(cells[renamed], c(defaults[-1L], python), weak[c(2:4, 2:4)])
    cells[spelled] <- exchange(cells[spelled], weak[-1L], python)
    truths <- outer(rownames(x) == "b*", colnames(x) == "b*", `&`) & renamed
    cells[truths] <- exchange(cells[truths], "bool", "b*")
  }
  dimnames(cells) <- dimnames(x)
  cells
}

# Names replaced by others, but for those that are to stay.
exchange <- function(names, from, to, stay = character()) {
  at <- match(names, from)
  ifelse(is.na(at) | names %in% stay, names, to[at])
}
