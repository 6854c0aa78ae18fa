# Random functions of tensors and R numbers: what they give eagerly and compiled, under a rule set,
# and the smallest part of one that gives something else. They are written with functions that make
# tensors of R numbers, as base R's operators on R numbers do not.

number_words <- list(
  literals = c("1L", "2L", "2L", "100L", "300L", "0.5", "0.1", "2", "pi", "1e5", "TRUE", "1i"),
  binary = c(
    "nv_add(%s, %s)", "nv_sub(%s, %s)", "nv_mul(%s, %s)", "nv_div(%s, %s)", "nv_max(%s, %s)",
    "nv_min(%s, %s)", "nv_pow(%s, %s)", "nv_mod(%s, %s)", "nv_floor_div(%s, %s)",
    "nv_lt(%s, %s)", "nv_eq(%s, %s)", "nv_atan2(%s, %s)", "nv_dot(%s, %s)",
    "nv_concatenate(nv_flatten(%s), nv_flatten(%s))", "nv_searchsorted(nv_flatten(%s), %s)",
    "nv_pad(nv_flatten(%s), %s, 1, 0)", "nv_clamp(0L, %s, %s)"
  ),
  unary = c(
    "nv_negate(%s)", "nv_abs(%s)", "nv_sqrt(%s)", "nv_reduce_sum(%s)", "nv_exp(%s)",
    "nv_convert(%s, \"f32\")", "nv_convert(%s, \"i16\")", "nv_mean(%s)", "nv_reverse(%s)",
    "nv_sort(%s)", "nv_cumsum(%s)", "nv_round(%s)", "nv_signif(%s, 2)", "nv_reduce_max(%s)",
    "nv_flatten(%s)", "nv_transpose(%s)", "nv_sign(%s)", "nv_is_nan(%s)", "nv_cumprod(%s)"
  ),
  choice = c(
    "nv_ifelse(nv_lt(%s, 3L), %s, %s)", "ifelse(nv_lt(%s, 3L), nv_add(0.1, %s), %s)"
  ),
  again = "nv_mul(%s, %s)"
)


random_numbers <- list(1L, 2L, 3L, 300L, 0.5, 0.1, 2, pi, 1e5, TRUE, 2i, c(1, pi), 1:2, -1)

number_input <- function(dtypes) {
  if (runif(1) < 0.4) pick(random_numbers) else random_input(dtypes)
}

# What a function gives: text of dtypes, flags, shapes and bytes of its results, or the class of its
# error.
outcome_under <- function(rules, f, inputs) {
  tryCatch(
    with_promotion(rules, lapply(do.call(f, inputs), function(x) {
      if (!is_tensor(x)) {
        return(x)
      }
      list(
        type_text(x), shape(x), format(device(x)),
        if (length(x) > 0L) nv_write_bin(nv_flatten(x), raw())
      )
    })),
    joist_error = function(e) if (is_refusal(e)) "refused" else class(e)[1L]
  )
}

is_refusal <- function(e) grepl("not known while jit() traces", conditionMessage(e), fixed = TRUE)

# A program that lost a line, or that gives R numbers, is none; nor is one where the rules ask for
# values that a compiled function does not know, which it says. Values are wrong only after dtypes
# are: there a compiled function has another error.
disagrees <- function(program, rules, functions = functions_of(program)) {
  if (is.null(functions)) {
    return(FALSE)
  }
  compiled <- outcome_of(functions$compiled, program, rules)
  if (is_lost(compiled) || identical(compiled, "refused")) {
    return(FALSE)
  }
  eager <- outcome_of(functions$eager, program, rules)
  if (identical(eager, "joist_value_error") && is.character(compiled)) {
    return(FALSE)
  }
  if (identical(eager, "joist_value_error")) {
    eager <- outcome_of(function_of(without_overwritten(program$lines)), program, rules)
  }
  !is_lost(eager) && !identical(eager, compiled)
}

# A compiled function does not compute values of a loop's first iteration that the second
# overwrites: errors of such values are ignored here, too.
without_overwritten <- function(lines) {
  inside <- cumsum(grepl("^for ", lines)) > cumsum(lines == "}")
  made <- inside & !grepl("^for ", lines)
  lines[made] <- sub(
    "^(\\w+) <- (.*)$",
    "\\1 <- tryCatch(\\2, joist_value_error = function(e) if (i == 2L) stop(e))", lines[made]
  )
  lines
}

functions_of <- function(program) {
  eager <- tryCatch(function_of(program$lines), error = function(e) NULL)
  if (is.null(eager)) NULL else list(eager = eager, compiled = jit(eager))
}

outcome_of <- function(f, program, rules) {
  tryCatch(outcome_under(rules, f, program$inputs), error = function(e) {
    if (is_refusal(e)) "refused" else conditionMessage(e)
  })
}

is_lost <- function(outcome) {
  if (is.list(outcome)) {
    return(!all(vapply(outcome, is.list, NA)))
  }
  grepl("object '.*' not found", outcome)
}

# ---- the smallest that still disagrees ----

# Every call with one of the calls in it put in its place, and every call with one that is simpler.
simpler_calls <- function(code) {
  if (!is.call(code)) {
    return(list())
  }
  parts <- as.list(code)[-1L]
  # Base R's own ifelse() of R numbers is another thing.
  if (identical(code[[1L]], quote(ifelse))) parts[[1L]] <- NULL
  first <- length(code) - length(parts)
  inside <- lapply(seq_along(parts), function(k) {
    lapply(simpler_calls(parts[[k]]), function(part) {
      code[[first + k]] <- part
      code
    })
  })
  c(parts, unlist(inside, FALSE))
}

simpler_programs <- function(program) {
  lines <- program$lines
  last <- length(lines) - 1L
  result <- as.list(parse(text = lines[last])[[1L]])[-1L]
  with_line <- function(line, text) {
    lines[line] <- text
    list(lines = lines, inputs = program$inputs)
  }
  fewer <- if (length(result) > 1L) {
    lapply(names(result), function(name) with_line(last, sprintf("list(%s = %s)", name, name)))
  }
  body <- if (last > 2L) seq(2L, last - 1L)
  shorter <- lapply(body, function(line) {
    list(lines = lines[-line], inputs = program$inputs)
  })
  statements <- grep("<-", lines[body], fixed = TRUE)
  calls <- unlist(lapply(body[statements], function(line) {
    code <- parse(text = lines[line])[[1L]]
    lapply(simpler_calls(code[[3L]]), function(part) {
      with_line(line, paste(code[[2L]], "<-", paste(deparse(part, 500L), collapse = " ")))
    })
  }), FALSE)
  c(fewer, shorter, calls)
}

shrunk <- function(program, rules) {
  repeat {
    smaller <- Find(function(one) disagrees(one, rules), simpler_programs(program))
    if (is.null(smaller)) {
      return(program)
    }
    program <- smaller
  }
}

# What differs, as text: the smallest program, its inputs, and both outcomes.
disagreement_text <- function(program, rules) {
  program <- shrunk(program, rules)
  functions <- functions_of(program)
  show <- function(f) paste(deparse(outcome_of(f, program, rules), 500L), collapse = " ")
  inputs <- vapply(program$inputs, function(x) {
    if (is_tensor(x)) {
      paste(type_text(x), paste(deparse(as_array(x)), collapse = " "))
    } else {
      deparse1(x)
    }
  }, "")
  paste(c(
    paste("under", rules), program$lines, paste(names(inputs), "is", inputs),
    paste("eager:", show(functions$eager)), paste("compiled:", show(functions$compiled))
  ), collapse = "\n")
}

# The disagreements of one random function under all rule sets.
number_disagreements <- function(seed, sets = promotion_rule_sets()$id) {
  set.seed(seed)
  program <- random_function(number_words, number_input)
  functions <- functions_of(program)
  wrong <- Filter(function(rules) disagrees(program, rules, functions), sets)
  vapply(wrong, function(rules) disagreement_text(program, rules), "")
}
