# Explanations in words: as lines, and as a data frame.

#' @rdname explain_promotion
#' @export
format.joist_explanation <- function(x, width = 80L, ...) {
  inner <- lapply(x$inner, function(part) c(format(part, width = width), ""))
  parts <- explanation_parts(x)
  labels <- names(parts)
  column <- max(nchar(labels)) + 2L
  lines <- Map(function(label, text) {
    wrapped <- strwrap(text, width - column - 2L)
    paste0("  ", formatC(c(label, rep("", length(wrapped) - 1L)), width = -column), wrapped)
  }, labels, parts)
  c(
    unlist(inner), strwrap(headline(x), width, exdent = 4L), "", operand_lines(x, width), "",
    unlist(lines, use.names = FALSE)
  )
}

#' @rdname explain_promotion
#' @export
print.joist_explanation <- function(x, width = min(getOption("width"), 80L), ...) {
  lines <- format(x, width = width)
  heads <- headlines(x)
  is_head <- lines %in% heads
  lines <- paint_names(lines)
  lines[is_head] <- style_strong(lines[is_head])
  cat(lines, sep = "\n")
  invisible(x)
}

headlines <- function(x) c(headline(x), unlist(lapply(x$inner, headlines)))

headline <- function(x) {
  what <- x$expression
  if (is.null(what)) {
    names <- x$operands$label
    is_name <- x$operands$is %in% c("dtype", "node")
    names[is_name] <- operand_types(x)[is_name]
    what <- paste(names, collapse = " with ")
  }
  if (!is.null(x$error)) {
    return(paste(what, "is an error"))
  }
  if (is.null(x$result)) {
    lacks <- x$unavailable
    return(if (is.null(lacks)) {
      paste(what, "has no common type")
    } else {
      sprintf("%s is %s, a dtype that joist does not have", what, lacks)
    })
  }
  cell <- if (is.null(x$operation) && identical(x$operands$is[1L], "node")) x$cell
  stands <- !is.null(cell) && cell != x$result
  refused <- any(!is.na(x$operands$problem))
  if (refused) {
    return(paste0(what, " would be ", x$result, ", but is an error"))
  }
  paste0(what, " is ", if (stands) paste0(cell, ", which stands for "), x$result)
}

operand_types <- function(x) {
  named <- x$operands$is == "node" | is.na(x$operands$type)
  ifelse(named & !is.na(x$operands$node), x$operands$node, x$operands$type)
}

# A line or more for each operand: what it is, and its way up or as what it counts.
operand_lines <- function(x, width) {
  labels <- shorten(x$operands$label, 26L)
  first <- format(c(labels), width = max(nchar(labels)))
  second <- format(operand_types(x))
  is <- format(operand_words(x))
  left <- paste0("  ", first, "  ", second, "  ", is, "  ")
  ways <- operand_ways(x)
  lines <- Map(function(start, way) {
    wrapped <- if (nzchar(way)) strwrap(way, width - nchar(start)) else ""
    paste0(c(start, rep(strrep(" ", nchar(start)), length(wrapped) - 1L)), wrapped)
  }, left, ways)
  sub(" +$", "", unlist(lines, use.names = FALSE))
}

shorten <- function(texts, most) {
  long <- nchar(texts) > most
  texts[long] <- paste0(substr(texts[long], 1L, most - 3L), "...")
  texts
}

operand_words <- function(x) {
  operands <- x$operands
  guess <- ifelse(is_guess(operand_types(x)), "guess", "known")
  words <- ifelse(operands$is == "tensor", "tensor", operands$is)
  if (x$rules$policy == "rank") {
    words <- ifelse(operands$role == "tensor", "has dimensions", operands$role)
  }
  paste0(words, ", ", guess)
}

# The way through the lattice; in a table, as what an operand takes part where that is not its type.
operand_ways <- function(x) {
  vapply(seq_len(nrow(x$operands)), function(k) {
    path <- x$operands$path[[k]]
    if (length(path) == 1L) {
      return(if (is.null(x$operation) || nrow(x$operands) > 1L) "already there" else "")
    }
    if (length(path) > 1L) {
      return(paste(path, collapse = " -> "))
    }
    role_words(x$operands[k, ])
  }, "")
}

role_words <- function(x) {
  if (x$idle) {
    return("another number has a higher category")
  }
  switch(x$role,
    smallest = paste0(
      "counts as ", x$as, ", the smallest that holds ", range_words(x$low, x$high)
    ),
    default = paste0("counts as ", x$as, ", the default of its category"),
    ""
  )
}

range_words <- function(low, high) {
  if (is.na(low)) {
    return("0")
  }
  ends <- unique(format(c(low, high), digits = 7L, trim = TRUE))
  paste(ends, collapse = " to ")
}

# Named texts, each a label and what stands beside it.
explanation_parts <- function(x) {
  parts <- c(
    Rules = rules_words(x), Operation = operation_words(x), decision_words(x),
    certainty_words(x), Computed = computed_words(x), undefined_words(x)
  )
  problems <- x$operands$problem[!is.na(x$operands$problem)]
  c(
    parts, stats::setNames(problems, rep("Error", length(problems))), loss_words(x), cast_words(x)
  )
}

rules_words <- function(x) {
  rules <- x$rules
  # The lattice of anvil has no dtypes of up to a byte.
  beside <- rules$id == "anvil" && any(is_narrow(x$operands$type)) && !is.null(x$result)
  how <- if (rules$kind == "lattice" && beside) {
    "beside it, dtypes of up to a byte meet bool, themselves and guesses of their category"
  } else if (rules$kind == "lattice") {
    "types meet at the lowest node above both"
  } else {
    switch(rules$policy,
      type = "each pair of types has a cell",
      rank = paste(
        "tensors with dimensions come first, then those of rank 0, then numbers; a later",
        "group counts only where its category (bool, integer, float, complex) is higher"
      ),
      value = "values of R numbers and of tensors of rank 0 count, next to tensors with dimensions",
      "literal value" = "values of R numbers count, next to tensors",
      "fitting literal" = "a whole R number takes the integer type beside it if it fits",
      "smallest literal" = "a whole R number takes the smallest integer type that holds it",
      "signed literal" = "an R number is of the smallest signed type that holds it",
      "unsigned literal" = "a whole R number is of the smallest type of its sign that holds it"
    )
  }
  asked <- if (isTRUE(rules$rule)) ", and a function that is asked before"
  paste0(rules$id, ", a ", rules$kind, asked, ": ", how, ".")
}

operation_words <- function(x) {
  if (is.null(x$operation) || is.null(x$join)) {
    return(NULL)
  }
  op <- x$operation
  read <- unique(x$operands$read_as)
  switch(x$class,
    compare = ,
    position = sprintf(
      "%s compares in %s%s; its result is %s.", op, paste(read, collapse = " and "),
      if (any(read != sub("[?]$", "", x$join))) {
        paste0(
          " rather than ", x$join, ", which does not hold ",
          if (any(x$operands$is == "R value")) "the number" else "all values of both"
        )
      } else {
        ""
      }, x$result
    ),
    predicate = sprintf("%s looks at its operand as it is; its result is %s.", op, x$result),
    logical = ,
    truth = sprintf("%s asks which elements are not 0; its result is bool.", op),
    assign = sprintf("assignment keeps %s.", x$result),
    select = sprintf("%s asks which elements of the first are not 0; the others join.", op),
    inexact = ,
    angle = ,
    average = if (x$join != x$result) {
      sprintf("%s has no integers for results: %s", op, inexact_words(x))
    },
    real = if (x$join != x$result) {
      sprintf("%s of complex numbers has the dtype of their parts, %s.", op, x$result)
    },
    accumulate = sprintf(
      "%s accumulates in %s; the result is %s.", op, paste(read, collapse = " and "), x$result
    )
  )
}

# Where a system does not compute in the type that it gives the result, as measured.
computed_words <- function(x) {
  if (is.null(x$operation) || is.null(x$result)) return(NULL)
  known <- utils::read.csv(
    system.file("extdata", "computed.csv", package = "joist"), colClasses = "character"
  )
  nodes <- ifelse(is.na(x$operands$node), x$operands$type, x$operands$node)
  fits <- function(patterns, text) vapply(paste0("^(", patterns, ")$"), grepl, NA, x = text)
  row <- known[known$rules == x$rules$id & fits(known$operation, x$operation) &
    fits(known$operands, paste(nodes, collapse = " ")), ]
  if (nrow(row) == 0L) return(NULL)
  sprintf(
    "the system calls it %s and computes it in %s: %s. joist computes in %s.", x$result,
    row$computed[1L], row$differs[1L], x$result
  )
}

inexact_words <- function(x) {
  at <- match("inexact", x$steps$how)
  if (is.na(at)) {
    return(sprintf("%s becomes %s.", x$join, x$result))
  }
  step <- x$steps[at, ]
  sprintf("%s meets the default float %s, which makes %s.", step$lhs, step$rhs, step$result)
}

# What decided, in a table: its cells, or the step between groups.
decision_words <- function(x) {
  at <- which(!x$steps$how %in% c("inexact", "fact") & x$steps$defined)
  is_function <- x$steps$how[at] == "function"
  if (x$rules$kind == "lattice") at <- at[is_function]
  if (length(at) == 0L) {
    return(NULL)
  }
  words <- vapply(at, function(k) {
    step <- lapply(x$steps, `[`, k)
    switch(step$how,
      "function" = sprintf("the function of %s gives %s.", x$rules$id, step$result),
      table = sprintf("row %s, column %s: %s.", step$lhs_node, step$rhs_node, step$result),
      higher = sprintf(
        "%s is of a later group and no higher category: %s stays.", step$rhs, step$lhs
      ),
      category = sprintf(
        "%s is of a later group but a higher category than %s: %s.", step$rhs, step$lhs, step$result
      )
    )
  }, "")
  labels <- c(table = "Table", higher = "Rank", category = "Category", "function" = "Rule")
  label <- labels[x$steps$how[at]]
  stats::setNames(words, ifelse(duplicated(label), "", label))
}

certainty_words <- function(x) {
  if (is.null(x$certainty)) {
    return(NULL)
  }
  types <- operand_types(x)
  if (identical(x$class, "select")) types <- types[-1L]
  types <- unique(types)
  guesses <- paste(types[is_guess(types)], collapse = " and ")
  known <- paste(types[!is_guess(types)], collapse = " and ")
  many <- nrow(x$operands) > 1L
  lattice <- x$rules$kind == "lattice"
  node <- utils::tail(x$steps$node, 1L)
  stands <- if (length(node) == 1L && !is.na(node) && node != x$result && lattice) {
    sprintf(" (%s stands for the default, %s)", node, x$result)
  } else {
    ""
  }
  words <- switch(x$certainty,
    operation = sprintf("the result of %s is %s whatever its operands are.", x$operation, x$result),
    "all known" = if (many) "so are all operands." else "so is the operand.",
    "gives way" = sprintf("%s is a guess and gives way to what is known, %s.", guesses, known),
    rules = sprintf("%s gives the guess %s a known type.", x$rules$id, guesses),
    "all guesses" = sprintf(
      "so %s; it gives way to a known type later.",
      if (many) "are all operands" else "is the operand"
    ),
    stays = sprintf(
      "%s %s the guess %s, which therefore stays a guess%s.", known,
      if (lattice) "is known, but lies below" else "is known, but yields to", guesses, stands
    ),
    made = sprintf("known types meet in %s, which is a guess%s.", x$result, stands),
    default = sprintf("the default float %s is a guess, and stays one.", x$result)
  )
  stats::setNames(words, if (is_guess(x$result)) "Ambiguous" else "Known")
}

undefined_words <- function(x) {
  if (!is.null(x$error)) {
    return(c(Error = x$error))
  }
  if (!is.null(x$result)) {
    return(NULL)
  }
  lacks <- x$unavailable
  if (!is.null(lacks)) {
    return(c("Not available" = sprintf("joist has no dtype %s to compute in.", lacks)))
  }
  step <- lapply(x$steps, utils::tail, 1L)
  pair <- sprintf("%s and %s", step$lhs, step$rhs)
  if (x$rules$kind == "lattice") {
    missing <- c(step$lhs, step$rhs)[is.na(c(step$lhs_node, step$rhs_node))]
    words <- if (length(missing) > 0L) {
      sprintf("%s is not a node of the lattice.", paste(missing, collapse = " and "))
    } else if (length(x$bounds) == 0L) {
      sprintf("no node lies above both %s.", pair)
    } else {
      sprintf(
        "%s both lead up to %s, and none of these leads up to the others.", pair,
        paste(x$bounds, collapse = " and to ")
      )
    }
  } else {
    words <- sprintf("the table of %s has no common type for %s.", x$rules$id, pair)
  }
  c(Undefined = words)
}

loss_words <- function(x) {
  operands <- x$operands
  if (is.null(x$result) || any(!is.na(operands$problem))) {
    return(NULL)
  }
  # An average is computed in double and rounded.
  kept <- operands$read_as
  if (identical(x$class, "average")) kept[] <- sub("[?]$", "", x$result)
  words <- unlist(lapply(seq_len(nrow(operands)), function(k) {
    losses <- operands$losses[[k]]
    if (length(losses) == 0L) {
      return(NULL)
    }
    sprintf(
      "%s as %s: %s.", operand_name(x, k), kept[k],
      paste(one_loss(names(losses), losses, operands$type[k], kept[k]), collapse = "; ")
    )
  }))
  if (length(words) == 0L) {
    if (all(is.na(operands$type))) {
      return(NULL)
    }
    return(c("May lose" = "nothing."))
  }
  stats::setNames(words, c("May lose", rep("", length(words) - 1L)))
}

operand_name <- function(x, k) {
  label <- shorten(x$operands$label[k], 40L)
  if (x$operands$is[k] %in% c("dtype", "node")) operand_types(x)[k] else label
}

# What may be lost, in words: vectors of kinds and of limits.
one_loss <- function(what, limits, from, to) {
  signed <- grepl("^i", from) && grepl("^i", to)
  unname(mapply(function(what, limit) {
    switch(what,
      whole = sprintf("whole numbers beyond %s are rounded", limit),
      digits = sprintf("rounded to %s binary digits", limit),
      wraps = paste0(
        "from ", limit, " on", if (signed) paste0(" and below -", limit), " it wraps around"
      ),
      infinite = sprintf("beyond %s becomes Inf", limit),
      nan = sprintf("beyond %s becomes NaN", limit),
      largest = sprintf("beyond %s becomes %s", limit, limit),
      saturates = sprintf("beyond %s becomes the last integer", limit),
      sign = if (grepl("^i", from)) "negative numbers wrap around" else "negative numbers become 0",
      small = sprintf("other than 0 but below %s loses digits or becomes 0", limit),
      fraction = "what is after the point is dropped",
      special = "NaN becomes 0 and Inf the last integer",
      "no sign" = "negative numbers become NaN",
      "no zero" = "0 becomes NaN",
      "no Inf" = "Inf becomes NaN",
      "no NaN" = "NaN becomes 0 and Inf the largest number",
      imaginary = "the imaginary part is dropped",
      value = "only whether it is 0 remains"
    )
  }, what, limits))
}

cast_words <- function(x) {
  lossy <- any(lengths(x$operands$losses) > 0L)
  if (is.null(x$cast)) {
    if (is.null(x$result) && is.null(x$error) && !anyNA(x$operands$type)) {
      return(c("Way out" = "none by one cast; see with_promotion() for other rules."))
    }
    return(if (lossy) c(Avoid = "no dtype holds all values of the operands."))
  }
  cast <- x$cast
  which <- if (cast$operand == 0L) seq_len(nrow(x$operands)) else cast$operand
  labels <- x$operands$label[which]
  calls <- sprintf('nv_convert(%s, "%s")', shorten(labels, 40L), cast$dtype)
  words <- sprintf(
    "%s %s %s%s.", paste(calls, collapse = " and "), if (length(calls) > 1L) "give" else "gives",
    cast$result,
    if (cast$lossless) {
      ", and nothing is lost"
    } else if (is.null(x$result)) {
      ", which does not hold all values"
    } else {
      ", which loses less"
    }
  )
  stats::setNames(words, if (is.null(x$result)) "Way out" else "Avoid")
}

# ---- tables ----

#' @rdname explain_promotion
#' @export
as.data.frame.joist_explanation <- function(x, row.names = NULL, optional = FALSE, ...) { # nolint
  operands <- x$operands
  loses <- vapply(seq_len(nrow(operands)), function(k) {
    losses <- operands$losses[[k]]
    paste(
      one_loss(names(losses), losses, operands$type[k], operands$read_as[k]),
      collapse = "; "
    )
  }, "")
  own <- data.frame(
    expression = if (is.null(x$expression)) NA_character_ else x$expression,
    operand = operands$label, is = operands$is, type = operand_types(x), path = operand_ways(x),
    read_as = operands$read_as, loses = loses,
    result = if (is.null(x$result)) NA_character_ else x$result,
    stringsAsFactors = FALSE
  )
  do.call(rbind, c(lapply(x$inner, as.data.frame), list(own)))
}
