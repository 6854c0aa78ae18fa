# Random functions of tensors, as text: statements that give names to expressions of what there is
# so far, now and then in a loop, and a list of all names at the end. Their dtypes are asked of
# joist itself, an expression at a time, without a recording.

pick <- function(x) x[[sample(length(x), 1L)]]

random_dtypes <- function() {
  # Narrow dtypes have no common dtype with most others, so that little would be computed.
  pool <- setdiff(wide(dtypes()), c("bool", complexes()))
  c(sample(pool, 3L), if (runif(1) < 0.3) pick(c("bool", "c64", "c128")))
}

random_input <- function(dtypes) {
  dtype <- pick(dtypes)
  vector <- runif(1) < 0.7
  values <- sample(if (dtype == "bool") 0:1 else 1:4, if (vector) 2L else 1L, TRUE)
  x <- nv_tensor(values, "i32", if (vector) 2L else integer())
  nv_convert(x, dtype) # narrow dtypes do not hold all of these numbers
}

random_words <- list(
  literals = c("1L", "2L", "2L", "100L", "300L", "0.5", "2", "2", "1e5", "TRUE"),
  binary = c(
    "%s + %s", "%s * %s", "%s * %s", "%s/%s", "nv_add(%s, %s)", "%s < %s", "%s == %s"
  ),
  unary = c(
    "-%s", "abs(%s)", "sqrt(%s)", "nv_reduce_sum(%s)", "sum(%s)", "exp(%s)",
    "nv_convert(%s, \"f32\")", "nv_convert(%s, \"i16\")", "mean(%s)"
  ),
  choice = "nv_ifelse(%s < 3L, %s, %s)",
  again = "%s * %s"
)

# Of a name, or of something in it.
random_operand <- function(names, depth, words) {
  if (depth == 0L || runif(1) < 0.6) {
    return(pick(names))
  }
  paste0("(", random_call(names, depth - 1L, words), ")")
}

random_call <- function(names, depth, words) {
  if (runif(1) < 0.25) {
    return(sprintf(pick(words$unary), random_operand(names, depth, words)))
  }
  if (runif(1) < 0.08) {
    return(sprintf(
      pick(words$choice), pick(names), random_operand(names, depth, words), pick(names)
    ))
  }
  x <- random_operand(names, depth, words)
  y <- if (runif(1) < 0.35) pick(words$literals) else random_operand(names, depth, words)
  do.call(sprintf, as.list(c(pick(words$binary), if (runif(1) < 0.5) c(x, y) else c(y, x))))
}

# A list of the lines of a function, and its arguments.
random_function <- function(words = random_words, input = random_input) {
  dtypes <- random_dtypes()
  inputs <- replicate(sample(2:4, 1L), input(dtypes), FALSE)
  names(inputs) <- paste0("x", seq_along(inputs))
  names <- names(inputs)
  lines <- character()
  for (k in seq_len(sample(2:6, 1L))) {
    name <- paste0("v", k)
    code <- paste(deparse(parse(text = random_call(names, 2L, words))[[1L]], 500L), collapse = " ")
    # The code of one sum() on a line is found, that of several is not.
    if (lengths(gregexpr("\\bsum\\(", code, perl = TRUE)) > 1L) {
      code <- gsub("\\bsum\\(", "nv_reduce_sum(", code, perl = TRUE)
    }
    line <- paste(name, "<-", code)
    if (k > 1L && runif(1) < 0.15) {
      again <- pick(setdiff(names, names(inputs)))
      more <- paste(again, "<-", sprintf(words$again, again, pick(names)))
      line <- c("for (i in 1:2) {", more, line, "}")
    }
    lines <- c(lines, line)
    names <- c(names, name)
  }
  made <- setdiff(names, names(inputs))
  result <- paste0("list(", paste(made, "=", made, collapse = ", "), ")")
  head <- paste0("function(", toString(names(inputs)), ") {")
  list(lines = c(head, lines, result, "}"), inputs = inputs)
}

# The function, with its source or without.
function_of <- function(lines, keep = TRUE) {
  eval(parse(text = lines, keep.source = keep), new.env(parent = environment(random_function)))
}

type_text <- function(x) paste0(format(dtype(x)), if (ambiguous(x)) "?")

# The calls in the body with the dtypes they give when they are run one by one: rows "line call
# dtype", or the class of the error that ends them.
run_by_calls <- function(lines, inputs, rules) {
  rows <- character()
  local_promotion(rules)
  values <- list2env(inputs, parent = environment(random_function))
  inside <- function(code, line) {
    if (!is.call(code)) {
      return(invisible())
    }
    for (part in as.list(code)[-1L]) inside(part, line)
    value <- eval(code, values)
    if (is_tensor(value) && !identical(code[[1L]], quote(`(`))) {
      text <- paste(deparse(code, 500L), collapse = " ")
      rows <<- c(rows, paste(line, text, type_text(value)))
    }
  }
  statement <- function(line) {
    code <- parse(text = lines[line])[[1L]]
    inside(code[[3L]], line)
    values[[as.character(code[[2L]])]] <- eval(code[[3L]], values)
  }
  line <- 2L
  error <- tryCatch(
    {
      while (line < length(lines) - 1L) {
        if (startsWith(lines[line], "for")) {
          body <- line + seq_len(which(lines[-seq_len(line)] == "}")[1L] - 1L)
          for (turn in 1:2) for (at in body) statement(at)
          line <- max(body) + 2L
        } else {
          statement(line)
          line <- line + 1L
        }
      }
      NULL
    },
    joist_error = function(e) class(e)[1L]
  )
  if (is.null(error)) list(rows = sort(rows)) else list(error = error)
}

# The same, as trace_dtypes() has it.
traced_by_calls <- function(f, inputs, rules) {
  trace <- tryCatch(do.call(trace_dtypes, c(list(f), inputs, list(rules = rules))),
    joist_error = function(e) e
  )
  if (inherits(trace, "error")) {
    return(list(error = class(trace)[1L]))
  }
  trace <- as.data.frame(trace[trace$last, ])
  list(rows = sort(rep(paste(trace$line, trace$call, trace$result), trace$count)))
}

# The lines with the casts that compare_rules() gives, put in as text: each `code` in the place of
# its `call`, the longer ones first, as they may have shorter ones in them.
with_casts <- function(lines, casts, names) {
  inner <- casts[casts$kind != "argument", ]
  inner <- inner[!duplicated(inner[c("line", "call")]), ]
  inner <- inner[order(-nchar(inner$call)), ]
  for (line in unique(inner$line)) {
    own <- inner[inner$line == line, ]
    marks <- sprintf("<%d>", seq_len(nrow(own)))
    replace_all <- function(text, from = 1L) {
      for (k in seq_len(nrow(own))[seq_len(nrow(own)) >= from]) {
        code <- paste0("(?<![A-Za-z_.0-9])\\Q", own$call[k], "\\E")
        text <- gsub(code, marks[k], text, perl = TRUE)
      }
      text
    }
    codes <- character(nrow(own))
    for (k in seq_len(nrow(own))) {
      codes[k] <- own$code[k]
      if (k < nrow(own)) codes[k] <- replace_all(codes[k], k + 1L)
    }
    text <- replace_all(lines[line])
    for (k in seq_len(nrow(own))) text <- gsub(marks[k], codes[k], text, fixed = TRUE)
    lines[line] <- text
  }
  c(lines[1L], casts$code[casts$kind == "argument"], lines[-1L])
}

# The dtypes of what the function returns, or the class of its error.
output_dtypes_of <- function(f, inputs, rules) {
  tryCatch(
    with_promotion(rules, vapply(do.call(f, inputs), function(x) format(dtype(x)), "")),
    joist_error = function(e) class(e)[1L]
  )
}

# What is wrong with the casts of a comparison from one rule set to others, as text; `counts` adds
# up how many pairs there were, how many needed casts, and how many of these got them, the fewest.
check_casts <- function(program, comparison, counts) {
  from <- comparison$rules[1L]
  wanted <- output_dtypes_of(function_of(program$lines), program$inputs, from)
  rows <- run_by_calls(program$lines, program$inputs, from)$rows
  used <- unique(c(
    sub("[?]$", "", sub(".* ", "", rows)),
    vapply(program$inputs, function(x) format(dtype(x)), "")
  ))
  wrong <- character()
  for (to in names(comparison$found)) {
    counts$pairs <- counts$pairs + 1L
    casts <- comparison$casts[comparison$casts$rules == to, ]
    if (comparison$found[[to]] && nrow(casts) > 0L) {
      counts$casts <- counts$casts + 1L
      counts$fewest <- counts$fewest + comparison$fewest[[to]]
    }
    if (!comparison$found[[to]]) {
      counts$without <- counts$without + 1L
      if (has_dtypes(to, used)) {
        text <- c(paste("no casts from", from, "to", to), program$lines)
        wrong <- c(wrong, paste(text, collapse = "\n"))
      }
      next
    }
    lines <- with_casts(program$lines, casts)
    given <- output_dtypes_of(function_of(lines), program$inputs, to)
    if (identical(given, wanted) && isTRUE(comparison$checked[[to]])) next
    wrong <- c(wrong, paste(c(
      paste("from", from, "to", to, ": wanted", toString(wanted), "but got", toString(given)),
      program$lines, "with casts:", lines
    ), collapse = "\n"))
  }
  wrong
}

# Whether operations within each of the dtypes are defined, so that casts can help.
has_dtypes <- function(rules, dtypes) {
  all(vapply(dtypes, function(dtype) {
    !inherits(try(common_dtype(dtype, dtype, rules = rules), TRUE), "try-error")
  }, NA))
}

new_counts <- function() {
  list2env(list(pairs = 0L, casts = 0L, fewest = 0L, without = 0L))
}
