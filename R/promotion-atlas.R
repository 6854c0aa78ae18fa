# All rule sets beside one another: their cells, the laws they keep, how far they are apart.

#' All promotion systems in one table
#'
#' `promotion_atlas()` gives every cell of every rule set as a data frame, to be filtered, counted
#' and joined. `promotion_distances()` says how far the systems are apart, and `plot()` of that
#' draws a map of them.
#'
#' @param rules a vector of ids, or a list of ids and `joist_rules` objects; by default all built-in
#'   rule sets.
#' @param dtypes names of dtypes: those whose pairs are compared. By default the dtypes that the
#'   published documents speak of.
#' @return `promotion_atlas()`: a data frame with a row for each cell and the columns `rules` (the
#'   id), `operation` (as in [promotion_table()] or, with one operand, [promotion_facts()]), `lhs`,
#'   `rhs` (`NA` with one operand), `result` (a node, with `"?"` if ambiguous; `"-"` where it is
#'   undefined), `available` (`FALSE` where the result is a dtype that joist does not have, `NA`
#'   where it is undefined), `source` and `version`.
#'
#'   `promotion_distances()`: an object of class `dist`: for two rule sets, the share of pairs of
#'   `dtypes` in which their common dtypes differ, among the pairs of dtypes that both have; `NA` if
#'   they have none in common. An undefined pair differs from a defined one.
#' @section Errors:
#' `joist_promotion_error` for unknown rules.
#' @seealso [check_lattice()] for the laws that each of them keeps; [promotion_explorer()], a page
#'   with all of it; `vignette("atlas")`.
#' @examples
#' atlas <- promotion_atlas(c("jax", "numpy", "torch", "base_r"))
#' subset(atlas, operation == "common" & lhs == "i8" & rhs == "ui8", c(rules, result))
#' promotion_distances(c("jax", "numpy", "torch"))
#' @export
promotion_atlas <- function(rules = promotion_rule_sets()$id) {
  do.call(rbind, unname(lapply(rules_list(rules), atlas_of)))
}

# A list of ids and objects.
as_rules_list <- function(rules) {
  if (inherits(rules, "joist_rules")) rules <- list(rules)
  if (!is.character(rules) && !(is.list(rules) && !is.object(rules))) {
    stop_joist("joist_value_error", "`rules` must be ids of rule sets, or a list of rules")
  }
  as.list(rules)
}

# Rule sets by id, from ids and objects.
rules_list <- function(rules) {
  sets <- lapply(as_rules_list(rules), promotion_rules)
  names(sets) <- make.unique(vapply(sets, rules_id, ""))
  sets
}

atlas_of <- function(rules) {
  info <- .Call(joist_r_rules_info, rules)
  pairs <- lapply(info$operations, function(operation) {
    cells <- promotion_table(rules, operation = operation)
    data.frame(
      operation = operation, lhs = rownames(cells)[row(cells)], rhs = colnames(cells)[col(cells)],
      result = as.vector(unclass(cells))
    )
  })
  facts <- promotion_facts(rules)
  alone <- facts[is.na(facts$other), ]
  mark <- ifelse(!is.na(alone$ambiguous) & alone$ambiguous, "?", "")
  one <- data.frame(
    operation = alone$fact, lhs = alone$operand, rhs = rep_len(NA_character_, nrow(alone)),
    result = ifelse(is.na(alone$result), "-", paste0(alone$result, mark))
  )
  rows <- do.call(rbind, c(pairs, list(one)))
  numbers <- c("b*", "i*", "f*", "c*", "int", "float", "complex")
  known <- sub("[?]$", "", rows$result) %in% c(dtypes(), numbers)
  known[rows$result == "-"] <- NA
  data.frame(rules = info$id, rows, available = known, source = info$source, version = info$version)
}

#' @rdname promotion_atlas
#' @export
promotion_distances <- function(rules = promotion_rule_sets()$id, dtypes = NULL) {
  sets <- rules_list(rules)
  if (is.null(dtypes)) dtypes <- documented_dtypes
  tables <- lapply(sets, function(set) {
    cells <- unclass(promotion_table(set, dtypes, dtypes))
    cells[diag(cells) == "-", ] <- NA
    cells[, is.na(diag(cells))] <- NA
    cells
  })
  n <- length(sets)
  apart <- matrix(0, n, n, dimnames = list(names(sets), names(sets)))
  for (i in seq_len(n)) {
    for (j in seq_len(i - 1L)) {
      share <- mean(tables[[i]] != tables[[j]], na.rm = TRUE)
      apart[i, j] <- apart[j, i] <- if (is.nan(share)) NA else share
    }
  }
  structure(stats::as.dist(apart), class = c("joist_promotion_distances", "dist"))
}

documented_dtypes <- c(
  "bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32", "f64",
  "c64", "c128"
)

#' @param x a result of `promotion_distances()`.
#' @param main the title, or `NULL` for none.
#' @param cex the size of the names, relative to the device's.
#' @param ... ignored.
#' @rdname promotion_atlas
#' @export
plot.joist_promotion_distances <- function(x, main = NULL, cex = 0.8, ...) { # nolint
  apart <- as.matrix(x)
  # Systems of other dtypes than all others have no place; two without a pair in common are as far
  # apart as can be.
  has_place <- rowSums(!is.na(apart)) > 1L
  apart <- apart[has_place, has_place, drop = FALSE]
  apart[is.na(apart)] <- 1
  # Those that agree in every cell share a place.
  group <- if (nrow(apart) > 1L) {
    stats::cutree(stats::hclust(stats::as.dist(apart), "complete"), h = 0)
  } else {
    seq_len(nrow(apart))
  }
  first <- which(!duplicated(group))
  places <- if (length(first) > 2L) {
    stats::cmdscale(apart[first, first], k = 2L)
  } else {
    cbind(seq_along(first), 0)
  }
  labels <- vapply(seq_along(first), function(k) {
    paste(rownames(apart)[group == k], collapse = "\n")
  }, "")
  old <- graphics::par(mar = c(0.4, 0.4, if (is.null(main)) 0.4 else 2, 0.4))
  on.exit(graphics::par(old))
  graphics::plot.new()
  span <- apply(places, 2L, range)
  room <- pmax(apply(span, 2L, diff), 0.1) * c(0.18, 0.08)
  graphics::plot.window(span[, 1L] + c(-1, 1) * room[1L], span[, 2L] + c(-1, 1) * room[2L])
  if (!is.null(main)) graphics::title(main, font.main = 1, cex.main = 1)
  heights <- graphics::strheight(labels, cex = cex)
  widths <- graphics::strwidth(labels, cex = cex)
  where <- apart_from_another(places, widths, heights, graphics::strwidth("o", cex = cex))
  graphics::segments(places[, 1L], places[, 2L], where[, 1L], where[, 2L], col = "grey70")
  graphics::points(places, pch = 19, cex = 0.6, col = "#0550ae")
  graphics::rect(
    where[, 1L] - widths / 2, where[, 2L] - heights / 2, where[, 1L] + widths / 2,
    where[, 2L] + heights / 2, col = "white", border = NA
  )
  graphics::text(where, labels, cex = cex)
  invisible(data.frame(rules = rownames(apart), x = places[group, 1L], y = places[group, 2L]))
}

# Places for labels near their points, where none covers another: each is tried in rings around its
# point, the nearest first.
apart_from_another <- function(points, widths, heights, gap) {
  where <- points
  for (k in order(-heights)) {
    done <- setdiff(order(-heights)[seq_len(match(k, order(-heights)))], k)
    found <- FALSE
    for (ring in 0:24) {
      angles <- seq(0, 2 * pi, length.out = 25L)[-25L]
      for (angle in angles) {
        at <- points[k, ] + c(
          cos(angle) * (widths[k] / 2 + (1 + ring) * gap),
          sin(angle) * (heights[k] / 2 + (1 + ring) * min(heights) / 2)
        )
        beside <- abs(at[1L] - where[done, 1L]) < (widths[k] + widths[done]) / 2 &
          abs(at[2L] - where[done, 2L]) < (heights[k] + heights[done]) / 2 * 1.1
        on_point <- abs(at[1L] - points[, 1L]) < widths[k] / 2 &
          abs(at[2L] - points[, 2L]) < heights[k] / 2
        if (!any(beside) && !any(on_point)) {
          found <- TRUE
          break
        }
      }
      if (found) break
    }
    where[k, ] <- at
  }
  where
}

# One row of the table of laws.
laws_of <- function(rules, nodes, operation) {
  check <- check_lattice(rules, nodes, operation)
  cells <- unclass(promotion_table(rules, check$nodes, check$nodes, operation))
  known <- intersect(check$nodes, dtypes())
  part <- cells[known, known, drop = FALSE]
  result <- as.vector(part)
  here <- result %in% dtypes()
  loses <- .Call(joist_r_conversion_loses, row_names(part)[here], result[here]) |
    .Call(joist_r_conversion_loses, col_names(part)[here], result[here])
  counts <- vapply(check[c("existence", "commutativity", "associativity")], `[[`, 0L, "count")
  idempotence <- sum(!diag(cells) %in% "-" & diag(cells) != rownames(cells))
  data.frame(
    rules = check$rules, nodes = length(check$nodes),
    lattice = all(counts == 0L) && idempotence == 0L,
    undefined = counts[["existence"]], idempotence = idempotence,
    commutativity = counts[["commutativity"]], associativity = counts[["associativity"]],
    monotonicity = count_falls(cells), cells = sum(here), lossy = sum(loses)
  )
}

row_names <- function(cells) as.character(rownames(cells)[row(cells)])
col_names <- function(cells) as.character(colnames(cells)[col(cells)])

# x is below y if they have y in common. How many x below y and z are there for which what x and z
# have in common is not below what y and z have?
count_falls <- function(cells) {
  nodes <- rownames(cells)
  n <- length(nodes)
  at <- matrix(match(cells, nodes), n)
  self <- diag(at) == seq_len(n)
  below <- at == col(at) & t(at) == col(at)
  below[is.na(below)] <- FALSE
  diag(below) <- !is.na(self) & self
  falls <- 0L
  for (x in seq_len(n)) {
    for (y in which(below[x, ])) {
      left <- at[x, ]
      right <- at[y, ]
      defined <- !is.na(left) & !is.na(right)
      falls <- falls + sum(!below[cbind(left[defined], right[defined])])
    }
  }
  falls
}
