#' Compare rule sets
#'
#' `compare_rules()` shows what changes when code moves from one set of promotion rules to another:
#' which lines give other dtypes, what that does to the results, and which casts keep the dtypes as
#' they were.
#'
#' `compare_rules()` judges R functions that are written with joist. It does not read Python: to see
#' what a change of NumPy does to a program, write it with joist's operations, which promote as
#' NumPy's do under the rules `"numpy_legacy"` and `"numpy"`.
#'
#' The function is run once under each rule set, as by [trace_dtypes()], and the operations are put
#' side by side. An error under one of them, such as a promotion that is undefined there, is
#' reported as the result of its line.
#'
#' @section Casts:
#' For each rule set in `to`, `compare_rules()` looks for the smallest set of casts with which every
#' call in the code gives the dtype that it gives under `from` (whether the dtype is ambiguous does
#' not count). A cast may be put on an argument of `f`, before its first line, on an operand of a
#' call or on its result, in `f` and in the functions that it calls by name. Then the functions are
#' edited and run under `to`: `checked` is `TRUE` when that gave the dtypes.
#'
#' The first set is built one cast at a time; then smaller ones are searched for, within a limit.
#' `fewest` is `TRUE` when that search was completed: then no smaller set of such casts exists,
#' provided that two operands of one call are cast only where no single cast helps. Casts keep
#' dtypes, not always every bit: where the result of a call is cast, it was computed in the dtype
#' that `to` gives.
#'
#' @param f A function, jitted or not; or a pair of dtypes, such as `c("i32", "f32")`, or more
#'   dtypes, whose pairs are all compared by their common dtypes.
#' @param from,to Promotion rules as in [common_dtype()]; `to` may be several ids, or a list of
#'   rules.
#' @param ... Arguments of `f`, as in [trace_dtypes()]: by name if they have the name of an argument
#'   of `compare_rules()`.
#' @param operation Of dtypes, the operation whose results are compared, as in
#'   [promotion_table()].
#' @param x A result of `compare_rules()`.
#' @param row.names,optional Ignored.
#' @return An object of class `joist_rules_comparison`, a list of
#'   * `rules`: the ids of `from` and `to`;
#'   * `lines`: a data frame with a row for each place whose dtype differs, with `line`, `file`,
#'     `call`, `starts` (whether it differs by itself under one of `to`, and not only because its
#'     operands do), `count` and a column for each rule set with the dtype of the result (`NA` where
#'     it is undefined, or was not reached);
#'   * `outputs`: the same for the tensors that `f` returns, by the code that selects them;
#'   * `errors`: a data frame of `rules`, `line`, `call` and `message`;
#'   * `casts`: a data frame of `rules`, `line`, `file`, `call`, `kind` (`"argument"`, `"operand"`
#'     or `"result"`), `dtype` and `code`, what to write instead of the call, with all of its casts;
#'   * `found`, `fewest`, `checked`: for each of `to`, see the section Casts; `NA` if the code fails
#'     under `from`.
#'
#'   `as.data.frame()` gives `lines`. For a pair of dtypes: a data frame of `rules` and `dtype`.
#'   For more of them: a data frame of the pairs that differ, with `lhs`, `rhs` and a column for
#'   each rule set.
#' @section Errors: `joist_promotion_error` for unknown rules; `joist_dtype_error` for an unknown
#'   dtype; `joist_value_error` if `f` is neither a function nor a pair. Errors of `f` are results.
#' @source NumPy's change from 1 to 2 is NEP 50
#'   (<https://numpy.org/neps/nep-0050-scalar-promotion.html>).
#' @seealso [trace_dtypes()], `vignette("porting")`.
#' @examples
#' f <- function(x, y) {
#'   brighter <- x + 300L
#'   brighter * y
#' }
#' compare_rules(f, "numpy_legacy", "numpy", x = nv_aval("ui8", 10), y = nv_aval("f32", 10))
#' compare_rules(f, "jax", c("numpy", "torch"), nv_aval("i32", 10), nv_aval("f32", 10))
#' compare_rules(c("i32", "f32"), "jax", c("numpy", "array_api"))
#' compare_rules(c("i8", "ui8", "f16"), "anvil", c("jax", "numpy", "torch", "octave", "julia"))
#' @export
compare_rules <- function(f, from = "numpy_legacy", to = "numpy", ..., operation = "common") {
  check_text(operation, "operation")
  if (operation != "common" && !is.character(f)) {
    stop_joist("joist_value_error", "`operation` is for dtypes")
  }
  if (inherits(to, "joist_rules")) to <- list(to)
  if (!(is.character(to) || is.list(to)) || length(to) == 0L) {
    stop_joist("joist_value_error", "`to` must be one or more rule sets: ids, or a list of them")
  }
  rules <- lapply(c(list(from), as.list(to)), promotion_rules)
  names(rules) <- make.unique(vapply(rules, rules_id, ""))
  if (is.character(f) && length(f) == 2L && operation == "common") {
    return(compare_pair(f, rules))
  }
  if (is.character(f) && length(f) > 1L) {
    return(compare_cells(f, rules, operation))
  }
  label <- function_label(substitute(f))
  f <- unjitted(as_function(match.fun(f), "f"))$f
  recorded <- lapply(rules, function(set) record_operations(f, list(...), set, label))
  comparison <- compare_recordings(f, recorded)
  comparison$label <- label
  comparison
}

compare_pair <- function(pair, rules) {
  dtypes <- vapply(rules, function(set) {
    common <- tryCatch(result_dtype(pair[1L], pair[2L], rules = set),
      joist_promotion_error = function(e) NULL
    )
    if (is.null(common)) NA_character_ else paste0(format(common$dtype), "?"[common$ambiguous])
  }, "")
  data.frame(rules = names(rules), dtype = unname(dtypes), stringsAsFactors = FALSE)
}

# The pairs of dtypes whose common dtypes are not the same under all rules.
compare_cells <- function(dtypes, rules, operation) {
  tables <- lapply(rules, function(set) {
    .Call(joist_r_promotion_table, set, dtypes, dtypes, operation, TRUE)
  })
  columns <- lapply(tables, as.vector)
  names(columns) <- names(rules)
  first <- tables[[1L]]
  cells <- data.frame(
    lhs = rownames(first)[row(first)], rhs = colnames(first)[col(first)], columns,
    stringsAsFactors = FALSE, check.names = FALSE
  )
  differs <- Reduce(`|`, lapply(columns[-1L], function(x) x != columns[[1L]]), FALSE)
  cells <- cells[differs, ]
  rownames(cells) <- NULL
  cells
}

# `recorded` is a named list, the first one that to be kept.
compare_recordings <- function(f, recorded) {
  from <- recorded[[1L]]
  dtypes <- lapply(recorded, dtypes_under, from = from)
  casts <- list()
  if (is.null(from$error)) {
    homes <- editable_homes(from, f)
    casts <- Map(
      function(to, given) casts_to(f, from, to, given, homes), recorded[-1L], dtypes[-1L]
    )
  }
  status <- function(field) vapply(casts, `[[`, NA, field)
  rows <- lapply(names(casts), function(id) {
    table <- casts[[id]]$table
    cbind(rules = rep_len(id, nrow(table)), table, stringsAsFactors = FALSE)
  })
  structure(
    list(
      rules = names(recorded), lines = differing_lines(recorded, dtypes),
      outputs = compare_outputs(recorded), errors = list_errors(recorded),
      casts = do.call(rbind, rows), found = status("found"), fewest = status("fewest"),
      checked = status("checked")
    ),
    class = "joist_rules_comparison"
  )
}

# The dtypes of the operations of `from` under other rules: as they were recorded there, or, where
# the function ended in an error or took another way, as the rules have it.
dtypes_under <- function(to, from) {
  if (identical(to, from)) {
    return(from$events$dtype)
  }
  if (is.null(to$error) && same_operations(from, to)) {
    return(to$events$dtype)
  }
  .Call(joist_r_ledger_infer, from$ledger, to$ledger, to$rules, TRUE)
}

same_operations <- function(x, y) {
  identical(x$events$op, y$events$op) && identical(x$events$site, y$events$site)
}

# One row for each place and combination of dtypes, of what calls give and what has no dtype.
differing_lines <- function(recorded, dtypes) {
  from <- recorded[[1L]]
  events <- from$events
  # Where a line differs though what goes into it is the same.
  starts <- Reduce(`|`, lapply(recorded[-1L], function(to) {
    alone <- .Call(joist_r_ledger_infer, from$ledger, to$ledger, to$rules, FALSE)
    is.na(alone) | alone != events$dtype
  }), FALSE)
  table <- as.data.frame(dtypes, stringsAsFactors = FALSE, optional = TRUE)
  differs <- Reduce(`|`, lapply(table[-1L], function(x) is.na(x) | x != table[[1L]]), FALSE)
  undefined <- Reduce(`|`, lapply(table, is.na), FALSE)
  at <- which(differs & (events$last | undefined))
  key <- do.call(paste, c(list(events$site[at]), table[at, , drop = FALSE], sep = "\r"))
  first <- at[!duplicated(key)]
  counts <- tabulate(match(key, unique(key)), length(first))
  out <- cbind(
    place_columns(from$sites[events$site[first]]),
    starts = starts[first], count = counts, table[first, , drop = FALSE]
  )
  rownames(out) <- NULL
  out
}

place_columns <- function(sites) {
  data_frame(list(
    line = vapply(sites, `[[`, 0L, "line"), file = vapply(sites, `[[`, "", "file"),
    call = vapply(sites, function(site) call_text(site$shown), "")
  ))
}

# Of columns of one length, without what data.frame() checks.
data_frame <- function(columns) {
  structure(columns, class = "data.frame", row.names = .set_row_names(length(columns[[1L]])))
}

compare_outputs <- function(recorded) {
  texts <- lapply(recorded, function(one) {
    stats::setNames(
      vapply(one$outputs, function(leaf) format(dtype(leaf$tensor)), ""),
      vapply(one$outputs, function(leaf) call_text(leaf$path), "")
    )
  })
  values <- unique(unlist(lapply(texts, names)))
  columns <- lapply(texts, function(x) {
    if (length(x) > 0L) unname(x[values]) else rep(NA_character_, length(values))
  })
  data.frame(
    c(list(output = as.character(values)), columns),
    stringsAsFactors = FALSE, check.names = FALSE
  )
}

list_errors <- function(recorded) {
  failed <- Filter(function(one) !is.null(one$error), recorded)
  places <- lapply(failed, function(one) {
    place <- one$error$place
    if (is.null(place)) {
      call <- conditionCall(one$error$condition)
      return(list(line = NA_integer_, file = NA_character_, shown = call))
    }
    restore_calls(list(place), one$homes)[[1L]]
  })
  cbind(
    rules = as.character(names(failed)), place_columns(unname(places)),
    message = as.character(vapply(failed, function(one) conditionMessage(one$error$condition), "")),
    stringsAsFactors = FALSE
  )
}

# ---- casts ----

# How many inferences of a whole function the search for a smaller set may take.
most_inferences <- 20000

no_casts <- function() {
  data_frame(list(
    kind = character(), at = integer(), operand = integer(), dtype = character()
  ))
}

casts_to <- function(f, from, to, given, homes) {
  if (!anyNA(given) && all((given == from$events$dtype)[from$events$last])) {
    return(casts_result(from, no_casts(), TRUE, TRUE, TRUE))
  }
  for (operands in c(TRUE, FALSE)) {
    casts <- .Call(
      joist_r_ledger_casts, from$ledger, to$ledger, to$rules, castable(from, homes, operands),
      most_inferences
    )
    table <- data_frame(casts[1:4])
    checked <- casts$found && casts_hold(f, from, homes, to$rules, table)
    if (checked) break
  }
  casts_result(from, table, casts$found, casts$fewest && operands, checked)
}

# Whether the function with the casts in it gives under `rules` what it gave in the recording.
casts_hold <- function(f, from, homes, rules, casts) {
  again <- run_recorded(edited_function(f, from, homes, casts), from$given, rules)
  is.null(again$error) && identical(written_dtypes(again), written_dtypes(from)) &&
    identical(output_dtypes(again), output_dtypes(from))
}

output_dtypes <- function(recorded) {
  lapply(recorded$outputs, function(leaf) format(dtype(leaf$tensor)))
}

# The dtype of each call of the code as its author wrote it: a cast that was added to its result
# counts as part of it.
written_dtypes <- function(recorded) {
  heads <- vapply(recorded$sites, function(site) {
    if (is.name(site$call[[1L]])) as.character(site$call[[1L]]) else ""
  }, "")[recorded$events$site]
  on_operand <- heads == "cast_operand"
  dtypes <- recorded$events$dtype[recorded$events$last & !on_operand]
  on_result <- heads[recorded$events$last & !on_operand] == "cast_result"
  at <- which(on_result)
  dtypes[at - 1L] <- dtypes[at]
  if (length(at) > 0L) dtypes[-at] else dtypes
}

casts_result <- function(from, casts, found, fewest, checked) {
  inner <- casts$kind != "argument"
  places <- lapply(seq_len(nrow(casts)), function(k) {
    if (inner[k]) {
      return(from$sites[[casts$at[k]]])
    }
    list(line = NA_integer_, file = NA_character_, shown = from$arguments[[casts$at[k]]]$path)
  })
  code <- vapply(seq_len(nrow(casts)), function(k) {
    if (!inner[k]) {
      return(call_text(cast_argument(places[[k]]$shown, casts$dtype[k])))
    }
    own <- casts[inner & casts$at == casts$at[k], ]
    call_text(cast_code(places[[k]]$shown, own))
  }, "")
  table <- data_frame(c(
    unclass(place_columns(places))[1:3], unclass(casts)[c("kind", "dtype")], list(code = code)
  ))
  list(table = table, found = found, fewest = fewest, checked = checked)
}

# ---- printing ----

#' @rdname compare_rules
#' @export
as.data.frame.joist_rules_comparison <- function(x, row.names = NULL, optional = FALSE, ...) { # nolint
  x$lines
}

#' @rdname compare_rules
#' @export
print.joist_rules_comparison <- function(x, ...) {
  cat(x$label, "() under the rules ", paste(x$rules, collapse = ", "), "\n", sep = "")
  if (nrow(x$lines) == 0L) {
    if (nrow(x$errors) == 0L) cat("Every call gives the same dtype.\n")
  } else {
    cat(table_lines(x$lines, x$rules), sep = "\n")
    if (!all(x$lines$starts)) {
      cat("(* differs by itself, the others because of what they are given)\n")
    }
  }
  for (k in seq_len(nrow(x$errors))) {
    row <- x$errors[k, ]
    text <- paste0("Error under ", row$rules, ", ", where_text(row), ": ", row$message)
    cat(strwrap(text, 80L, exdent = 2L), sep = "\n")
  }
  changed <- x$outputs[differs_between(x$outputs[x$rules]), ]
  if (nrow(changed) > 0L) {
    cat("Results:\n")
    cells <- paste0("  ", format(changed$output), "  ", side_by_side(changed, x$rules))
    cat(sub(" +$", "", cells), sep = "\n")
  } else if (nrow(x$lines) > 0L && nrow(x$outputs) > 0L) {
    cat("The results have the same dtypes.\n")
  }
  for (id in names(x$found)) cat(paste0(cast_lines(x, id), "\n"), sep = "")
  invisible(x)
}

differs_between <- function(columns) {
  Reduce(`|`, lapply(columns[-1L], function(x) {
    is.na(x) != is.na(columns[[1L]]) | (!is.na(x) & !is.na(columns[[1L]]) & x != columns[[1L]])
  }), FALSE)
}

side_by_side <- function(rows, rules) {
  cells <- lapply(rules, function(id) ifelse(is.na(rows[[id]]), "-", rows[[id]]))
  cells <- Map(function(cell, id) formatC(cell, width = -nchar(id)), cells, rules)
  do.call(paste, c(unname(cells), sep = "  "))
}

table_lines <- function(x, rules) {
  several <- length(unique(stats::na.omit(x$file[nzchar(x$file)]))) > 1L
  at <- ifelse(is.na(x$line), "", paste0(if (several) paste0(x$file, ":"), x$line))
  at <- paste0(ifelse(x$starts, "*", ""), at)
  at_width <- min(24L, max(nchar(at), 4L))
  types <- side_by_side(x, rules)
  head <- paste(rules, collapse = "  ")
  calls <- paste0(x$call, ifelse(x$count > 1L, paste0(" (", x$count, " times)"), ""))
  call_width <- max(16L, min(80L - at_width - 4L - nchar(head), max(nchar(calls))))
  c(
    paste(
      formatC("line", width = at_width), formatC("call", width = -call_width), head,
      sep = "  "
    ),
    sub(" +$", "", paste(
      formatC(cut_text(at, at_width), width = at_width),
      formatC(cut_text(calls, call_width), width = -call_width), types,
      sep = "  "
    ))
  )
}

cast_lines <- function(x, id) {
  if (!x$found[[id]]) {
    return(paste0("No casts were found that give the dtypes of ", x$rules[1L], " under ", id, "."))
  }
  rows <- x$casts[x$casts$rules == id, ]
  if (nrow(rows) == 0L) {
    return(paste0("No casts are needed under ", id, "."))
  }
  where <- ifelse(rows$kind == "argument", "first",
    ifelse(is.na(rows$line), paste0("`", rows$call, "`"), paste("line", rows$line))
  )
  lines <- unique(paste0("  ", where, ": ", rows$code))
  quality <- c(
    if (x$fewest[[id]]) "the fewest", if (x$checked[[id]]) "checked" else "not checked"
  )
  c(
    paste0(
      "With ", nrow(rows), " cast", if (nrow(rows) > 1L) "s", ", ", id, " gives the dtypes of ",
      x$rules[1L], " (", toString(quality), "):"
    ),
    unlist(lapply(lines, strwrap, width = 80L, exdent = 4L, indent = 2L))
  )
}
