# Random functions in R's own control flow, as text. They compute with doubles, by operations that
# are exact in the same way in R and in joist, so that jit() has to give what R does, to the bit.

control_choice <- function(x) x[[sample.int(length(x), 1L)]]

# `state` counts loops and statements and has the names in use: `scalars` and the vector `z`.
control_expression <- function(state, depth = 2L) {
  leaf <- function() {
    switch(sample.int(6L, 1L),
      "0.5",
      "1",
      "3",
      sprintf("z[%s]", control_index(state)),
      control_choice(state$scalars),
      control_choice(state$scalars)
    )
  }
  if (depth == 0L || runif(1) < 0.3) {
    return(leaf())
  }
  part <- function() control_expression(state, depth - 1L)
  switch(sample.int(8L, 1L),
    sprintf("(%s + %s)", part(), part()),
    sprintf("(%s - %s)", part(), part()),
    sprintf("(%s * 0.5)", part()),
    sprintf("(%s * %s) * 0.125", part(), part()),
    sprintf("halve(%s)", part()),
    sprintf("abs(%s)", part()),
    sprintf("(if (%s) %s else %s)", control_condition(state, 1L), part(), part()),
    sprintf("cap(%s, %s)", part(), part())
  )
}

control_index <- function(state) {
  if (length(state$counters) > 0L && runif(1) < 0.6) {
    return(sprintf("1 + %s %%%% 4", control_choice(state$counters)))
  }
  as.character(sample.int(4L, 1L))
}

control_condition <- function(state, depth = 2L) {
  if (depth > 0L && runif(1) < 0.3) {
    part <- function() control_condition(state, depth - 1L)
    return(switch(sample.int(3L, 1L),
      sprintf("(%s && %s)", part(), part()),
      sprintf("(%s || %s)", part(), part()),
      sprintf("!(%s)", part())
    ))
  }
  operator <- control_choice(c("<", ">", "<=", ">=", "==", "!="))
  sprintf("%s %s %s", control_expression(state, 1L), operator, control_expression(state, 1L))
}

control_assignment <- function(state) {
  switch(sample.int(6L, 1L),
    sprintf("z[%s] <- %s", control_index(state), control_expression(state)),
    sprintf("s$a <- %s", control_expression(state)),
    sprintf("s$b[2] <- %s", control_expression(state)),
    sprintf("%s <- s$a + s$b[1]", control_choice(state$variables)),
    sprintf("%s <- %s", control_choice(state$variables), control_expression(state)),
    sprintf("%s <- %s", control_choice(state$variables), control_expression(state))
  )
}

# Lines of statements. `loops` is how deep in loops they are.
control_block <- function(state, depth, loops, count = sample.int(3L, 1L)) {
  unlist(lapply(seq_len(count), function(k) control_statement(state, depth, loops)))
}

indented <- function(lines) paste0("  ", lines)

control_leave <- function(state, loops) {
  ways <- c(
    if (loops > 0L) c("break", "next", "break", "next"),
    sprintf("return(list(u, v, %s, z, s))", control_expression(state, 1L))
  )
  control_choice(ways)
}

control_statement <- function(state, depth, loops) {
  if (depth == 0L || runif(1) < 0.35) {
    return(control_assignment(state))
  }
  inner <- function(more = 0L, names = character(), counters = character()) {
    below <- state
    below$scalars <- c(state$scalars, names, counters)
    below$counters <- c(state$counters, counters)
    below$number <- state$number * 10L + sample.int(9L, 1L)
    lines <- control_block(below, depth - 1L, loops + more)
    if (runif(1) < 0.25 && loops + more > 0L || runif(1) < 0.1) {
      condition <- control_condition(below, 1L)
      leaving <- sprintf("if (%s) %s", condition, control_leave(below, loops + more))
      at <- sample.int(length(lines) + 1L, 1L) - 1L
      # Not within a statement of several lines.
      if (at == 0L || at == length(lines)) lines <- append(lines, leaving, at)
    }
    indented(lines)
  }
  number <- state$number * 10L + sample.int(9L, 1L)
  counter <- paste0("k", number)
  switch(sample.int(8L, 1L),
    c(sprintf("if (%s) {", control_condition(state)), inner(), "}"),
    c(sprintf("if (%s) {", control_condition(state)), inner(), "} else {", inner(), "}"),
    c(
      sprintf("if (%s) {", control_condition(state)),
      indented(c(control_block(state, 0L, loops, 1L), control_leave(state, loops))), "}"
    ),
    c(
      sprintf("%s <- 0", counter),
      sprintf("while (%s < 4 && %s) {", counter, control_condition(state, 1L)),
      sprintf("  %s <- %s + 1", counter, counter), inner(1L, counters = counter), "}"
    ),
    c(
      # `next` must not lead around the end.
      sprintf("%s <- 0", counter), "repeat {", sprintf("  %s <- %s + 1", counter, counter),
      sprintf("  if (%s > 3 || %s) break", counter, control_condition(state, 1L)),
      inner(1L, counters = counter), "}"
    ),
    c(sprintf("for (e%d in z) {", number), inner(1L, names = paste0("e", number)), "}"),
    c(
      sprintf("for (%s in c(1, 2, 3)) {", counter), inner(1L, counters = counter), "}",
      if (runif(1) < 0.3) sprintf("%s <- %s + 1", control_choice(state$variables), counter)
    ),
    c(
      sprintf("for (e%d in z) {", number),
      sprintf("  t%d <- e%d + %s", number, number, control_choice(state$scalars)),
      inner(1L, names = paste0(c("e", "t"), number)), "}"
    )
  )
}

random_control <- function(depth = 3L) {
  state <- list(
    scalars = c("x", "y", "u", "v"), variables = c("u", "v", "x"), counters = character(),
    number = 0L
  )
  body <- control_block(state, depth, 0L, sample(2:4, 1L))
  start <- control_choice(c("0", "1", "x", "y * 0.5"))
  c(
    "function(x, y, z) {",
    "  halve <- function(a) if (a > 1) a * 0.5 else a",
    "  cap <- function(a, top) {", "    if (a > top) return(top)", "    a", "  }",
    sprintf("  u <- %s", start), "  v <- 2", "  s <- list(a = 1, b = c(0.25, 4))",
    indented(body), "  list(u, v, x, z, s)", "}"
  )
}

control_values <- function(x) {
  if (is_tensor(x)) {
    return(as.vector(as_array(x)))
  }
  if (is.list(x)) lapply(x, control_values) else as.vector(x)
}

# What is wrong with the compiled form of a random function, as text; NULL where nothing is.
control_difference <- function(seed, depth = 3L) {
  set.seed(seed)
  lines <- random_control(depth)
  f <- eval(parse(text = lines), new.env(parent = globalenv()))
  wrong <- NULL
  compiled <- jit(f)
  for (trial in 1:3) {
    x <- sample(seq(-3, 3, by = 0.5), 1L)
    y <- sample(seq(-2, 4, by = 0.5), 1L)
    z <- sample(seq(-4, 4, by = 0.25), 4L)
    wanted <- f(x, y, z)
    got <- tryCatch(
      compiled(nv_scalar(x, "f64"), nv_scalar(y, "f64"), nv_tensor(z, "f64")),
      error = function(e) structure(conditionMessage(e), class = "failure")
    )
    if (inherits(got, "failure")) {
      wrong <- paste("error:", unclass(got))
    } else if (!identical(control_values(got), control_values(wanted))) {
      wrong <- paste(
        "x =", x, ", y =", y, ", z =", toString(z), ": wanted",
        deparse1(control_values(wanted)), ", got", deparse1(control_values(got))
      )
    }
    if (!is.null(wrong)) {
      return(paste(c(paste("seed", seed), wrong, lines), collapse = "\n"))
    }
  }
}
