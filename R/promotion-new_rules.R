# Rule sets of the user's own: from a table or edges, as text and in files.

#' Promotion rules of your own
#'
#' `promotion_rules_new()` makes promotion rules from a table or from the edges of a lattice, and
#' from what else a system of dtypes says: results of single operations, defaults of R numbers, the
#' values of literals, ranks. Tensors compute by such rules exactly as by built-in ones.
#' `read_promotion_rules()` and `write_promotion_rules()` keep rules in a text file that can be
#' mailed; the built-in rules are such files, in `system.file("promotion", package = "joist")`.
#'
#' A *node* is a dtype (`"i8"`), an ambiguous dtype (`"f32?"`), a number of R without a dtype
#' (`"b*"` for `TRUE`, `"i*"` for `1L`, `"f*"` for `1.5`, `"c*"` for `1i`), or any other name of at
#' most 23 bytes. Such a name is a dtype that joist does not have: tables show it as an operand and
#' as a result, and operations refuse the result with an error that names it. Rules that are printed
#' list these names, which shows typing errors.
#'
#' Operations of two operands that can have a table:
#'
#' | operation | decides |
#' |---|---|
#' | `common` | the common dtype, and every operation without a table |
#' | `add` | `+`, and `-` and `*` without a table |
#' | `subtract`, `multiply` | `-`, `*` |
#' | `divide`, `power`, `integer_divide` | `/`, `^`, `%/%` |
#' | `modulo` | `%%`, [nv_remainder()] |
#' | `combine` | `c()`, `rbind()`, [nv_concatenate()], [nv_ifelse()] |
#' | `assign` | `x[i] <- v`, where `lhs` is `x`: allowed if the result is the dtype of `x` |
#' | `maximum` | `pmax()`, `pmin()`, [nv_max()], [nv_min()] |
#' | `bitwise` | [nv_bitwise_and()], [nv_bitwise_or()], [nv_bitwise_xor()]; not shifts |
#' | `rank_zero` | as `add`, of `lhs` with dimensions and `rhs` without |
#'
#' A table of an operation lists only results that differ from the common dtype, or for `divide`
#' from the fact of that name. Without a table of `assign`, a value can be assigned where its common
#' dtype with `x` is the dtype of `x`. To give an operation of two nodes two results is an error.
#'
#' Operands are converted to the dtype of the result before the operation is computed. An element
#' that does not fit it wraps around, with a warning: where `i64` `%%` `i8` is `i16`, 1000000 first
#' becomes 16960. Rules cannot name another dtype to compute in; only `mixed = "double"` does.
#' Comparisons have no table: floats are compared in the common dtype, so choose it wide enough, and
#' integers exactly, whatever it is; the result is `bool`. Shifts follow `common`, too.
#'
#' Operations of one operand, whose `rhs` is empty or `NA`, are the facts of [promotion_facts()]:
#' `inexact`, `divide`, `angle`, `linalg`, `mean`, `sum`, `prod`, `cumsum`, `power`. Results that
#' are not given follow from the common dtypes: integers take the common dtype with a double, and
#' sums of integers have 64 bits.
#'
#' With `base`, everything that is not given is as in those rules: to change one cell of a built-in
#' system, give its `base` and that cell.
#'
#' @section Rules that are functions:
#' What no table can say, a function can: `rule(op, args)` is asked before the tables. `op` is the
#' name of the operation, of the list below; `"common"` is [common_dtype()], and `"combine"` may
#' have any number of operands. `args` are the nodes of its operands, a character vector in their
#' order: `"f32"`, `"f32?"` for an ambiguous tensor, `"f*"` for an R number. The function returns
#'
#' * a dtype or its name: the operands are converted to it, and it is the dtype of the result, also
#'   where the tables of `base` make another one of the common dtype. `"f32?"` is ambiguous, and
#'   `"-"` undefined. Comparisons, `!` and tests such as `is_nan` give `bool` and positions `i32`
#'   nevertheless: there it is only what floats are compared in. In these and in operations of one
#'   operand, a dtype is an error that drops signs, fractions or imaginary parts of an operand, such
#'   as `"ui8"` for `abs` of `i8`;
#' * a list with one dtype for each operand, `NULL` for those that stay, as anvl's
#'   `promotion_rule()` does: they must come to the same dtype;
#' * `NULL`: the tables decide;
#' * or it stops, and its message is that of a `joist_promotion_error`.
#'
#' It is asked once for each operation and types of operands, so it must not depend on anything
#' else, and it sees neither values nor shapes. `promotion_rules_new()` calls it some hundred times
#' and refuses a function whose answers are invalid or differ when it is asked again. While it runs,
#' the rules in force are those of `base`. Operations that only move elements, and `max()` and
#' `min()` of one tensor, do not ask. [promotion_table()] shows the answers for two operands;
#' [promotion_facts()] knows only those of `base`; files cannot have functions.
#'
#' @eval rule_operations_section()
#'
#' @section Files:
#' Lines `# key: value` with the keys `id`, `source`, `version`, `url`, `literals` (the four
#' default dtypes), `decides by` (`type`; `rank`; or, as the argument `by_value` in its order,
#' `value`, `literal value`, `fitting literal`, `smallest literal`, `signed literal`,
#' `unsigned literal`), `overflow` (`wrap` or `saturate`), `guesses` (`kept` or `default`: two
#' ambiguous dtypes that meet in a number), `other dtypes` (`alone` or `refused`: dtypes without a
#' cell meet themselves or nothing), `whole quotients` (`truncated` or `rounded`, as the argument
#' `quotients`), `mixed arithmetic` (`common` or `double`, as `mixed`), `extremes` (`known`: the
#' maximum of a guess is not a guess), `whole powers` (`base`: `x^2L` has the type of `x`),
#' `guessed products` and `guessed quantiles` (`default`: those of guesses have the default dtype),
#' `derived` (operations of one operand whose results that are not listed follow from the common
#' dtypes, and are undefined otherwise), `dtypes` (those that the library has, which
#' [promotion_facts()] lists; `i*`, `f*` and `c*` are the default dtypes among them), `small dtypes`
#' (`unlisted`: lattices list dtypes of up to a byte only where asked for), `numbers` (what tables
#' call `i*`, `f*` and `c*`) and `order` (of nodes in tables), then a table of comma-separated
#' values with the columns `operation`, `lhs`, `rhs`, `result`. Keys that no argument sets are
#' written into the file. The operation `edge` leads from `lhs` to `rhs`; `published` is what
#' [promotion_table()] shows where a library has changed since its table was published and
#' operations follow `common`. A result `-`, or a pair that `common` does not list, is undefined.
#' The nodes `default i*`, `default f*` and `default c*` are the default dtypes of R numbers, which
#' [promotion_rules()] can change. A name with a comma or a quote is put in quotes,
#' and a quote in it is doubled.
#'
#' @param id the name of the rules in messages, at most 23 bytes.
#' @param table a data frame with the columns `lhs`, `rhs` and `result`, and perhaps `operation`,
#'   which is `"common"` otherwise; or a square character matrix of results with nodes as dimnames,
#'   such as [promotion_table()] gives. `"-"` or `NA` is undefined.
#' @param edges a data frame or matrix with the columns `from` and `to`: the common dtype of two
#'   nodes is the lowest one that both lead to. Give `table`, `edges`, or both.
#' @param literals dtypes that R values become where nothing else decides: a vector with some of the
#'   names `logical`, `integer`, `double`, `complex`. By default `bool`, `i32`, `f32`, `c64`.
#' @param facts a data frame with the columns `fact`, `operand` and `result`, as [promotion_facts()]
#'   gives it, or a list with such names: `list(sum = c(i8 = "i8"))`.
#' @param policy what becomes of integer results that do not fit: `"wrap"` or `"saturate"`.
#' @param refuse a data frame or matrix with two columns: pairs that never meet, in either order,
#'   though `table` or `edges` give them a result.
#' @param rank whether dimensions decide, as in PyTorch: tensors before those of rank 0 before
#'   numbers.
#' @param by_value whose values decide: `"none"`; `"operands"`, R numbers and tensors of rank 0
#'   (NumPy 1.x); `"literals"`, R numbers (CuPy); `"fitting"`, whole R numbers (here those of R's
#'   type integer, as `2L`, which end at 2^31 - 1; `2` counts as a double), which take the integer
#'   dtype that they fit and count as their default or `i64` otherwise (DuckDB);
#'   `"smallest"`, the same, but otherwise the smallest dtype that holds them (Polars);
#'   `"signed"`, R numbers, which are of the smallest signed integer dtype, or of `f32` or `f64`,
#'   that holds them (PyTensor); `"unsigned"`, whole R numbers, which are of the smallest integer
#'   dtype of their sign that holds them (ClickHouse).
#' @param source,version where the rules are written, and what was looked at: a line each.
#' @param url the address of that source, which begins with `https://`; [promotion_explorer()]
#'   links it.
#' @param quotients how `/` rounds where its result is an integer: `"truncated"`, or `"rounded"`
#'   to the nearest, halves away from zero (Octave).
#' @param mixed what `+`, `-`, `*`, `/` and `^` of an integer and a float are computed in where the
#'   result is an integer: the `"common"` dtype, which drops the float's fraction, or `"double"`,
#'   after which the result is rounded to the nearest integer, halves away from zero (Octave).
#'   Results of 64 bits are always computed in the common dtype.
#' @param base promotion rules to start from: an id or a `joist_rules` object. A function is that of
#'   `base` unless `rule` is given. With only a `rule`, `"anvil"`.
#' @param rule a function of two arguments that decides before the tables do, see the section
#'   "Rules that are functions".
#' @return `promotion_rules_new()`, `read_promotion_rules()`: an object of class `joist_rules`.
#'   `write_promotion_rules()`: `file`, invisibly.
#' @section Errors:
#' `joist_promotion_error` for an invalid rule set, with the row of the argument or the line of the
#' file; `joist_value_error` for arguments of another form.
#' @seealso [check_lattice()] says whether the rules are a lattice; [compare_rules()] shows where
#'   they differ from others.
#' @examples
#' # Two dtypes of a sensor and their common dtype.
#' sensor <- promotion_rules_new("sensor",
#'   table = data.frame(
#'     lhs = c("ui8", "ui8", "f32", "ui8", "f32"), rhs = c("ui8", "f32", "f32", "f*", "f*"),
#'     result = c("ui8", "f32", "f32", "f32", "f32")
#'   ),
#'   refuse = data.frame(lhs = "ui8", rhs = "f32"), source = "the laboratory's handbook"
#' )
#' promotion_table(sensor)
#' with_promotion(sensor, nv_tensor(c(1, 2), "ui8") + 0.5)
#'
#' # Tables for single operations, with a dtype that joist does not have.
#' wide <- promotion_rules_new("wide",
#'   table = rbind(
#'     data.frame(operation = "common", lhs = "i8", rhs = c("i8", "big"), result = c("i8", "big")),
#'     data.frame(operation = "add", lhs = "i8", rhs = c("i8", "big"), result = c("i16", "-")),
#'     data.frame(operation = "assign", lhs = "i8", rhs = "big", result = "i8")
#'   )
#' )
#' wide
#' promotion_table(wide, operation = "add")
#' promotion_table(wide, operation = "assign")
#' explain_promotion("i8", "big", rules = wide)
#' # Which cells of a measured table differ?
#' cells <- data.frame(lhs = "i8", rhs = c("i8", "big"), result = c("i16", "big"))
#' add <- promotion_table(wide, operation = "add")
#' cells[add[cbind(cells$lhs, cells$rhs)] != cells$result, ]
#'
#' # NumPy's rules, but for three cells.
#' narrow <- promotion_rules_new("narrow",
#'   table = data.frame(lhs = c("i64", "f32"), rhs = c("f32", "i64"), result = "f32"),
#'   facts = list(sum = c(i8 = "i8")), base = "numpy"
#' )
#' compare_rules(c("i32", "i64", "f16", "f32"), "numpy", narrow)
#'
#' # The limits of nv_clamp() take the dtype of `x`, unless that loses digits of theirs.
#' limits <- promotion_rules_new("limits", base = "numpy", rule = function(op, args) {
#'   if (op != "clamp") return(NULL)
#'   x <- args[2L]
#'   for (limit in args[-2L]) {
#'     if (!grepl("[*]$", limit) && format(common_dtype(x, limit)$dtype) != x) {
#'       stop(limit, " is wider than ", x)
#'     }
#'   }
#'   x
#' })
#' with_promotion(limits, nv_clamp(0, nv_tensor(c(-1, 3), "f16"), 2.5))
#' try(with_promotion(limits, nv_clamp(nv_scalar(0, "f64"), nv_tensor(c(-1, 3), "f16"), 2.5)))
#'
#' file <- tempfile(fileext = ".csv")
#' write_promotion_rules("keras", file)
#' identical(promotion_table(read_promotion_rules(file)), promotion_table("keras"))
#' @export
promotion_rules_new <- function(id, table = NULL, edges = NULL, literals = NULL, facts = NULL,
                                policy = "wrap", refuse = NULL, rank = FALSE, by_value = "none",
                                source = NULL, version = NULL, url = NULL,
                                quotients = "truncated", mixed = "common", base = NULL,
                                rule = NULL) {
  if (is.null(table) && is.null(edges) && is.null(base)) base <- base_of(rule)
  check_rule(rule)
  check_rules_settings(policy, quotients, mixed, rank, by_value)
  about <- list(id = id, source = source, version = version, url = url)
  for (name in names(about)) if (!is.null(about[[name]])) check_text(about[[name]], name)
  former <- if (!is.null(base)) base_parts(base)
  # Settings that are not given come from the base.
  settings <- c(
    "decides by" = if (rank) "rank" else rules_deciders[[by_value]], overflow = policy,
    "whole quotients" = quotients, "mixed arithmetic" = mixed
  )
  decided <- !missing(rank) || !missing(by_value)
  given <- c(decided, !missing(policy), !missing(quotients), !missing(mixed))
  facts <- fact_cells(facts)
  cells <- rbind(edge_cells(edges), table_cells(table), facts)
  own <- cells$operation != "edge" & (is.na(cells$rhs) | cells$rhs == "")
  if (is.null(version) && any(own)) about$version <- "given by the user"
  pairs <- if (is.null(table)) two_columns(edges, "edges", c("from", "to")) else table
  header <- c(
    unlist(about), literals = literals_line(literals, former$header),
    settings[given | is.null(base)], derived = derived_facts(facts, former),
    order = nodes_line(pairs, former$header)
  )
  header <- c(header, former$header[setdiff(names(former$header), names(header))])
  cells <- refuse_cells(with_cells(former$cells, cells), refuse)
  text <- rules_string(header, cells)
  tryCatch(with_rule(text, rule, base), joist_promotion_error = function(e) {
    stop_at_row(e, header, cells)
  })
}

# The error of a line of a text of rules again, with the row of the argument that it comes from.
# Names in the header, of the order of nodes and of derived facts, come from rows, too.
stop_at_row <- function(error, header, cells) {
  pattern <- "line ([0-9]+) of the promotion rules"
  message <- conditionMessage(error)
  if (!grepl(pattern, message)) stop(error)
  line <- as.integer(sub(paste0(".*", pattern, ".*"), "\\1", message))
  if (names(header)[line] %in% c("order", "derived")) {
    rest <- header[-line]
    tryCatch(
      .Call(joist_r_read_rules, rules_string(rest, cells), NULL),
      joist_promotion_error = function(e) stop_at_row(e, rest, cells)
    )
  }
  row <- line - length(header) - 1L
  if (row < 1L) stop(error)
  stop_joist("joist_promotion_error", sub(pattern, cells$at[row], message))
}

# ---- rules that are functions ----

# The names of operations that functions are asked about, for the page.
rule_operations_section <- function() {
  told <- unique(c("common", op_table()$told))
  c(
    "@section Operations that functions are asked about:",
    paste0(toString(paste0("`", told[nzchar(told)], "`")), ".")
  )
}

# The function of rules, NULL without one.
rule_of <- function(rules) attr(rules, "rule", exact = TRUE)

# The rules of a text with a function, or that of the rules which they come from.
with_rule <- function(text, rule, base) {
  if (is.null(rule) && !is.null(base)) rule <- rule_of(rules_text(base))
  tables <- .Call(joist_r_read_rules, text, NULL)
  if (is.null(rule)) {
    return(tables)
  }
  try_rule(rule, tables)
  .Call(joist_r_read_rules, text, rule)
}

check_rule <- function(rule) {
  if (!is.null(rule) && (!is.function(rule) || !takes(rule, 2L))) {
    stop_joist("joist_value_error", "`rule` must be a function of two arguments, `op` and `args`")
  }
}

# What a rule changes where nothing else is given.
base_of <- function(rule) {
  if (!is.null(rule)) return("anvil")
  stop_joist(
    "joist_value_error",
    "promotion rules are made from a `table`, from `edges`, from a `base` or by a `rule`"
  )
}

# Whether a function can be called with that many arguments.
takes <- function(f, count) {
  formals <- formals(args(f))
  "..." %in% names(formals) || length(formals) >= count
}

# Called by C: asks a rule about the nodes `args`, under the rules that it modifies. Returns
# c(node, reason for a refusal), or nothing if the tables decide.
ask_rule <- function(rule, op, args, base) {
  tryCatch(rule_answer(rule, op, args, base), error = function(e) c("-", conditionMessage(e)))
}

rule_answer <- function(rule, op, args, base) {
  answer <- in_session(set_promotion(base, NULL), rule(op, args))
  if (is.null(answer)) character() else c(answered_node(answer, args), "")
}

answered_node <- function(answer, args) {
  if (is.list(answer) && length(answer) == length(args)) {
    each <- Map(function(one, arg) if (is.null(one)) arg else answered_node(one, arg), answer, args)
    answer <- unique(unlist(each))
    if (length(answer) > 1L) {
      stop("it gives operands different dtypes, ", paste(answer, collapse = ", "))
    }
  }
  if (inherits(answer, "joist_dtype")) return(format(answer))
  if (!is.character(answer) || length(answer) != 1L) {
    stop_rule(
      "it must give a dtype, a list of a dtype for each operand, or NULL, and gives ",
      deparse(answer, nlines = 1L)
    )
  }
  if (is.na(answer) || answer == "-") stop("these have no common dtype", call. = FALSE)
  unname(answer)
}

# An invalid answer, not one that refuses.
stop_rule <- function(...) {
  stop(errorCondition(paste0(...), class = "joist_invalid_answer"))
}

# Asks a function about one to three operands of some operations, each twice.
try_rule <- function(rule, base) {
  nodes <- c("b*", "i*", "f*", "bool", "i8", "ui8", "i32", "i64", "f16", "f32", "f32?", "f64")
  questions <- expand.grid(x = nodes, y = nodes, op = c("common", "add", "divide", "clamp", "sqrt"))
  given <- character()
  for (k in seq(1L, nrow(questions), by = 2L)) {
    asked <- vapply(questions[k, ], as.character, "")
    args <- unname(switch(asked[3L], clamp = asked[c(2L, 1L, 2L)], sqrt = asked[1L], asked[1:2]))
    about <- sprintf("\"%s\" of %s", asked[3L], paste(args, collapse = ", "))
    answers <- lapply(1:2, function(time) try_question(rule, asked[[3L]], args, base, about))
    if (!identical(answers[[1L]], answers[[2L]])) {
      stop_joist("joist_promotion_error", "`rule` gives two answers to one question, ", about)
    }
    given <- c(given, setdiff(answers[[1L]][1L], c(given, "-", NA, "b*", "i*", "f*", "c*")))
  }
  for (node in given) {
    tryCatch(promotion_table(base, node, node), joist_dtype_error = function(e) {
      stop_joist(
        "joist_dtype_error", "`rule` gives an unknown name: ",
        sub("^[^:]*: ", "", conditionMessage(e))
      )
    })
  }
}

try_question <- function(rule, op, args, base, about) {
  answer <- tryCatch(rule_answer(rule, op, args, base), error = identity)
  if (!inherits(answer, "error")) return(answer)
  words <- conditionMessage(answer)
  if (inherits(answer, "joist_invalid_answer")) {
    stop_joist("joist_promotion_error", "`rule`, asked about ", about, ": ", words)
  }
  c("-", words)
}

# The values of `by_value`, and what files call them.
rules_deciders <- c(
  none = "type", operands = "value", literals = "literal value", fitting = "fitting literal",
  smallest = "smallest literal", signed = "signed literal", unsigned = "unsigned literal"
)

check_rules_settings <- function(policy, quotients, mixed, rank, by_value) {
  check_choice(policy, "policy", c("wrap", "saturate"))
  check_choice(quotients, "quotients", c("truncated", "rounded"))
  check_choice(mixed, "mixed", c("common", "double"))
  check_flag(rank, "rank")
  check_choice(by_value, "by_value", names(rules_deciders))
  if (rank && by_value != "none") {
    stop_joist("joist_value_error", "promotion rules cannot decide by rank and by value")
  }
}

# The facts of which some cells are given, and of the base some or none; NULL without any.
derived_facts <- function(facts, former) {
  known <- former$cells$operation[former$cells$rhs == ""]
  found <- setdiff(facts$operation[is.na(facts$rhs)], known)
  found <- c(found, former$header[names(former$header) == "derived"])
  if (length(found) > 0L) paste(found, collapse = ", ")
}

# The cells of a base, with `cells` in place of those for the same operation and operands.
with_cells <- function(former, cells) {
  if (is.null(former)) return(cells)
  key <- function(x) paste(x$operation, x$lhs, ifelse(is.na(x$rhs), "", x$rhs))
  rbind(former[!key(former) %in% key(cells), ], cells)
}

# The keys and cells of a base's text, without its URL, which does not describe the changed rules.
base_parts <- function(base) {
  text <- rules_text(base)
  if (!is.null(rule_of(text))) base <- .Call(joist_r_read_rules, text, NULL)
  lines <- strsplit(text, "\n", fixed = TRUE)[[1L]]
  keys <- grep("^# *[^:]*:", lines, value = TRUE)
  names <- c("operation", "lhs", "rhs", "result")
  cells <- utils::read.csv(
    text = c(paste(names, collapse = ","), lines[!grepl("^#|^operation,", lines)]),
    colClasses = "character", na.strings = character(), strip.white = TRUE
  )
  cells$at <- "a cell of `base`"
  header <- stats::setNames(trimws(sub("^[^:]*:", "", keys)), sub("^# *([^:]*):.*", "\\1", keys))
  info <- .Call(joist_r_rules_info, base)
  header[c("id", "source", "version")] <- c(
    info$id, paste0(info$id, ", changed: ", info$source), info$version
  )
  header[["literals"]] <- paste(info$literals, collapse = ", ")
  if (is.na(header["order"])) header[["order"]] <- nodes_line(promotion_table(base), NULL)
  # A table to which edges are added is still one whose other dtypes meet nothing.
  if (is.na(header["other dtypes"]) && info$kind == "table") header[["other dtypes"]] <- "refused"
  kept <- setdiff(names(header), c("url", "dtypes", "small dtypes", "numbers"))
  header <- header[kept]
  list(header = header, cells = differing(header, cells[cells$operation != "published", ]))
}

# The cells without those of single operations on dtypes that say what follows anyway: these results
# change with the common dtypes.
differing <- function(header, cells) {
  for (operation in setdiff(cells$operation[cells$rhs != ""], c("common", "edge"))) {
    own <- which(cells$operation == operation & cells$rhs != "")
    own <- own[!grepl("[*]$", cells$lhs[own]) & !grepl("[*]$", cells$rhs[own])]
    if (length(own) == 0L) next
    rest <- .Call(joist_r_read_rules, rules_string(header, cells[-own, ]), NULL)
    of <- cells[own, ]
    adds <- operation == "rank_zero" && "add" %in% cells$operation
    follows <- promotion_table(rest, unique(of$lhs), unique(of$rhs), if (adds) "add" else operation)
    same <- unclass(follows)[cbind(of$lhs, of$rhs)] == of$result
    if (all(same)) same[1L] <- FALSE # a table that differs nowhere keeps one cell
    if (any(same)) cells <- cells[-own[same], ]
  }
  cells
}

rules_string <- function(header, cells) {
  lines <- c(sprintf("# %s: %s", names(header), gsub("[\r\n]+", " ", header)), rules_lines(cells))
  enc2utf8(paste0(lines, "\n", collapse = ""))
}

#' @param file a path.
#' @rdname promotion_rules_new
#' @export
read_promotion_rules <- function(file) {
  check_text(file, "file")
  if (!file.exists(file)) stop_joist("joist_value_error", "\"", file, "\" does not exist")
  lines <- readLines(file, warn = FALSE, encoding = "UTF-8")
  .Call(joist_r_read_rules, paste0(lines, "\n", collapse = ""), NULL)
}

#' @param rules promotion rules: an id, a `joist_rules` object, or `NULL` for the current set.
#' @rdname promotion_rules_new
#' @export
write_promotion_rules <- function(rules, file) {
  check_text(file, "file")
  text <- rules_text(rules)
  if (!is.null(rule_of(text))) {
    stop_joist(
      "joist_value_error", "the rules \"", rules_id(text), "\" have a function, which a file ",
      "cannot hold; keep the code that makes them, or saveRDS() them"
    )
  }
  connection <- file(file, "wb")
  on.exit(close(connection))
  writeLines(text, connection, sep = "", useBytes = TRUE)
  invisible(file)
}

# ---- cells: operation, lhs, rhs, result ----

cells_of <- function(operation, lhs, rhs, result, argument = "table") {
  data.frame(
    operation = as.character(operation), lhs = as.character(lhs), rhs = as.character(rhs),
    result = as.character(result), at = sprintf("row %d of `%s`", seq_along(lhs), argument)
  )
}

edge_cells <- function(edges) {
  if (is.null(edges)) return(NULL)
  edges <- two_columns(edges, "edges", c("from", "to"))
  if (length(edges[[1L]]) == 0L || anyNA(unlist(edges))) {
    stop_joist("joist_value_error", "`edges` must have at least one row, and names without NA")
  }
  cells_of("edge", edges[[1L]], edges[[2L]], "", "edges")
}

two_columns <- function(x, name, columns) {
  if (is.null(x)) return(NULL)
  if (!is.data.frame(x) && !is.matrix(x)) {
    stop_joist("joist_value_error", "`", name, "` must be a data frame or a matrix of node names")
  }
  x <- as.data.frame(x, stringsAsFactors = FALSE)
  if (all(columns %in% names(x))) x <- x[columns]
  if (length(x) != 2L) stop_joist("joist_value_error", "`", name, "` must have two columns")
  lapply(x, as.character)
}

table_cells <- function(table) {
  if (is.null(table)) return(NULL)
  if (is.matrix(table) && is.character(table) && !is.null(rownames(table)) &&
        !is.null(colnames(table))) {
    lhs <- rownames(table)[row(table)]
    rhs <- colnames(table)[col(table)]
    cells <- cells_of("common", lhs, rhs, as.vector(table))
    cells$at <- sprintf("`table`[\"%s\", \"%s\"]", lhs, rhs)
    return(cells)
  }
  if (!is.data.frame(table) || !all(c("lhs", "rhs", "result") %in% names(table))) {
    stop_joist(
      "joist_value_error", "`table` must be a data frame with the columns lhs, rhs and result, or ",
      "a character matrix with dimnames"
    )
  }
  operation <- if (is.null(table$operation)) "common" else table$operation
  cells_of(operation, table$lhs, table$rhs, table$result)
}

fact_cells <- function(facts) {
  if (is.null(facts)) return(NULL)
  if (is.list(facts) && !is.data.frame(facts) && !is.null(names(facts))) {
    facts <- data.frame(
      fact = rep(names(facts), lengths(facts)),
      operand = unlist(lapply(facts, names), use.names = FALSE),
      result = unlist(facts, use.names = FALSE)
    )
  }
  if (!is.data.frame(facts) || !all(c("fact", "operand", "result") %in% names(facts))) {
    stop_joist(
      "joist_value_error", "`facts` must be a data frame with the columns fact, operand and result"
    )
  }
  other <- if (is.null(facts$other)) NA else facts$other
  uncertain <- if (is.null(facts$ambiguous)) FALSE else facts$ambiguous %in% TRUE
  result <- paste0(facts$result, ifelse(uncertain, "?", ""))
  result[is.na(facts$result)] <- NA
  cells_of(facts$fact, facts$operand, other, result, "facts")
}

# Pairs that never meet lose their cells, and in a lattice get one that says so.
refuse_cells <- function(cells, refuse) {
  if (is.null(refuse)) return(cells)
  refuse <- two_columns(refuse, "refuse", c("lhs", "rhs"))
  pairs <- c(paste(refuse[[1L]], refuse[[2L]]), paste(refuse[[2L]], refuse[[1L]]))
  cells <- cells[cells$operation == "edge" | !paste(cells$lhs, cells$rhs) %in% pairs, ]
  refused <- unique(data.frame(lhs = unlist(refuse), rhs = unlist(refuse[2:1])))
  rbind(cells, cells_of("common", refused$lhs, refused$rhs, "-", "refuse"))
}

rules_lines <- function(cells) {
  cells$at <- NULL
  cells[is.na(cells)] <- ""
  undefined <- cells$result == "" & cells$operation != "edge"
  cells$result[undefined] <- "-"
  c("operation,lhs,rhs,result", do.call(paste, c(unname(lapply(cells, quoted)), sep = ",")))
}

quoted <- function(names) {
  ifelse(grepl("[\",]|^ | $", names), paste0("\"", gsub("\"", "\"\"", names), "\""), names)
}

# The nodes in the order in which those of a base, then cells or edges name them.
nodes_line <- function(pairs, former) {
  nodes <- if (is.null(pairs)) {
    character()
  } else if (is.matrix(pairs)) {
    unlist(dimnames(pairs))
  } else {
    columns <- if (is.null(pairs$lhs)) pairs else pairs[c("lhs", "rhs")]
    as.character(rbind(as.character(columns[[1L]]), as.character(columns[[2L]])))
  }
  if (!is.null(former)) {
    order <- scan(text = former[["order"]], what = "", sep = ",", quiet = TRUE, strip.white = TRUE)
    nodes <- c(order, nodes)
  }
  nodes <- unique(nodes[!is.na(nodes) & nodes != ""])
  paste(quoted(nodes), collapse = ", ")
}

literals_line <- function(literals, former) {
  all <- c(logical = "bool", integer = "i32", double = "f32", complex = "c64")
  if (!is.null(former)) all[] <- strsplit(former[["literals"]], ", ", fixed = TRUE)[[1L]]
  if (!is.null(literals) && (!has_names(literals) || !all(names(literals) %in% names(all)))) {
    stop_joist(
      "joist_value_error", "`literals` must be dtypes named logical, integer, double or complex"
    )
  }
  all[names(literals)] <- vapply(as.list(literals), format, "")
  paste(all, collapse = ", ")
}
