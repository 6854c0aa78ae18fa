# Random loops and random functions to differentiate, and what is wrong with one of them.

bits_of <- function(x) {
  width <- c(f16 = "ui16", bf16 = "ui16", f32 = "ui32", f64 = "ui64")[format(dtype(x))]
  if (is.na(width)) as_array(x) else as_array(nv_bitcast_convert(x, width), as = "character")
}

describe_state <- function(state) {
  lapply(state, function(x) list(format(dtype(x)), ambiguous(x), joist::shape(x), bits_of(x)))
}

loop_expression <- function(depth) {
  leaf <- list(quote(s[[1]]), quote(s[[2]]), quote(i), quote(w), 2L, 0.5, TRUE)
  if (depth == 0L || runif(1) < 0.15) {
    return(leaf[[sample(length(leaf), 1L)]])
  }
  part <- function() loop_expression(depth - 1L)
  switch(sample(9L, 1L),
    call("+", part(), part()),
    call("*", part(), part()),
    call("nv_min", part(), part()),
    call("nv_max", part(), part()),
    call("nv_sin", part()),
    call("nv_convert", part(), sample(c("i16", "f16", "f32", "i64"), 1L)),
    call("nv_ifelse", call("<", part(), part()), part(), part()),
    call("branch", call("<", call("sum", part()), 1L), call("+", part(), quote(w)), quote(w)),
    call("again", call("+", part(), quote(w)), loop_expression(1L))
  )
}

# Functions of a state of two tensors of the shape of `w`. Each is converted to its type, so that
# every body has a fixed point.
loop_body <- function(types) {
  own <- lapply(1:2, function(k) {
    bquote(nv_convert(nv_broadcast_to(.(loop_expression(3L)), c(3L)), .(types[k]), .(k == 2L)))
  })
  eval(bquote(function(i, s, w, branch, again) list(.(own[[1]]), .(own[[2]]))))
}

loop_parts_of_r <- list(
  branch = function(pred, yes, no) nv_ifelse(pred, yes, no),
  again = function(x, y) {
    for (k in 1:2) x <- nv_convert(x * 0.5 + y, dtype(x), ambiguous(x))
    x
  }
)
loop_parts <- list(
  branch = function(pred, yes, no) nv_if(pred, yes, no),
  again = function(x, y) {
    nv_for(2L, x, function(k, x) nv_convert(x * 0.5 + y, dtype(x), ambiguous(x)))
  }
)

# A body with its types, start, captured tensor and number of turns, and what R's loop makes of it;
# NULL where no program can do that, such as the sum of an operand of another rank.
random_loop <- function() {
  dtypes <- c("i16", "ui8", "i32", "i64", "f16", "bf16", "f32", "f64")
  types <- sample(dtypes, 2L)
  start <- list(
    nv_convert(nv_tensor(c(1, 3, 2)), types[1]), nv_convert(nv_tensor(c(2, 0, 1)), types[2], TRUE)
  )
  w <- nv_convert(nv_tensor(c(1, 2, 3)), sample(dtypes, 1L))
  body <- loop_body(types)
  n <- sample(0:4, 1L)
  turn <- function(i) nv_tensor(i, shape = integer(), ambiguous = TRUE)
  parts <- loop_parts_of_r
  tryCatch(
    {
      state <- start
      body(turn(1L), start, w, parts$branch, parts$again)
      for (i in seq_len(n)) state <- body(turn(i), state, w, parts$branch, parts$again)
      list(body = body, start = start, w = w, n = n, expected = describe_state(state))
    },
    joist_error = function(e) NULL
  )
}

# The same loop written with each of joist's loop functions, as functions of the start, the
# captured tensor and the number of iterations.
loops_of <- function(body) {
  step <- function(i, s, w) body(i, s, w, loop_parts$branch, loop_parts$again)
  list(
    "for" = function(start, w, n) nv_for(n, start, function(i, s) step(i, s, w)),
    "while" = function(start, w, n) {
      nv_while(
        list(i = 1L, s = start), function(i, s) i <= n,
        function(i, s) list(i = i + 1L, s = step(i, s, w))
      )$s
    },
    scan = function(start, w, n) {
      turns <- nv_tensor(seq_len(4L), ambiguous = TRUE)
      out <- nv_scan(list(start, start), turns, function(s, i) {
        s <- list(s[[1]], Map(function(old, new) nv_ifelse(i <= n, new, old), s[[2]],
          step(i, s[[2]], w)
        ))
        list(s, NULL)
      })
      Map(function(x, like) nv_convert(x, dtype(like), ambiguous(like)), out$carry[[2]], start)
    }
  )
}

# The code of those that give something else than R's loop does, eagerly or compiled.
loop_disagreements <- function(seed) {
  set.seed(seed)
  repeat {
    loop <- random_loop()
    if (!is.null(loop)) break
  }
  loops <- loops_of(loop$body)
  wrong <- character()
  for (name in names(loops)) {
    for (f in list(loops[[name]], jit(loops[[name]]))) {
      if (!identical(describe_state(f(loop$start, loop$w, loop$n)), loop$expected)) {
        wrong <- c(wrong, paste(name, paste(deparse(loop$body), collapse = "\n")))
      }
    }
  }
  wrong
}

gradient_words <- list(
  one = c(
    "sin(%s)", "exp(-abs(%s))", "%s * 0.5", "nv_logistic(%s)", "cumsum(%s)", "rev(%s)", "%s^2L",
    "nv_convert(%s, \"f32\")", "nv_convert(%s, \"f16\")", "%s[c(3, 1, 1, 2)]", "sort(%s)"
  ),
  two = c(
    "%s + %s", "%s * %s", "nv_max(%s, %s)", "nv_ifelse(%s > 0, %s, 1)", "%s - sum(%s)",
    "%s / (1 + nv_mean(%s)^2)"
  )
)

# The code of a random function whose gradient is another one compiled, has other types than its
# arguments, or comes with another value than the function has.
gradient_disagreements <- function(seed) {
  set.seed(seed)
  names <- c("x", "y")
  lines <- character()
  for (n in seq_len(sample(2:12, 1))) {
    code <- if (runif(1) < 0.5) {
      sprintf(sample(gradient_words$one, 1), sample(names, 1))
    } else {
      sprintf(sample(gradient_words$two, 1), sample(names, 1), sample(names, 1))
    }
    lines <- c(lines, paste0("v", n, " <- ", code))
    names <- c(names, paste0("v", n))
  }
  body <- c(lines, paste0("sum(", paste(names, collapse = ") + sum("), ")"))
  f <- eval(parse(text = c("function(x, y) {", body, "}")))
  floats <- c("f16", "bf16", "f32", "f64")
  x <- nv_tensor(round(rnorm(4), 2), sample(floats, 1), ambiguous = runif(1) < 0.3)
  y <- nv_tensor(round(rnorm(4), 2), sample(floats, 1), ambiguous = runif(1) < 0.3)
  type_of <- function(x) list(format(dtype(x)), ambiguous(x), joist::shape(x))
  eager <- value_and_gradient(f)(x, y)
  wrong <- c(
    "compiled" = !identical(jit(value_and_gradient(f))(x, y), eager),
    "dtypes" = !identical(lapply(eager$grad, type_of), list(x = type_of(x), y = type_of(y))),
    "value" = !identical(eager$value, f(x, y))
  )
  if (any(wrong)) paste(c(toString(names(wrong)[wrong]), body), collapse = "\n") else character()
}

# Random statements on two vectors, a matrix and a number, inside loops: elements and rows are
# replaced, vectors are copied, swapped and used after they were changed.
array_places <- c("i", "(i * 3L) %% 6L + 1L", "7L - i", "2L", "abs(i - 3L) + 1L")
array_number <- function() {
  switch(sample(6L, 1L),
    paste0(sample(c("a", "b"), 1L), "[", sample(array_places, 1L), "]"),
    paste0("m[", sample(array_places, 1L), ", ", sample(3L, 1L), "L]"),
    "h", "0.5", paste0("max(", sample(c("a", "b"), 1L), ")"),
    paste0("(", array_number(), sample(c(" + ", " * ", " - "), 1L), "h)")
  )
}
array_statement <- function(depth) {
  one <- sample(c("a", "b"), 1L)
  other <- setdiff(c("a", "b"), one)
  at <- sample(array_places, 1L)
  switch(sample(if (depth > 0L) 14L else 10L, 1L),
    sprintf("%s[%s] <- %s", one, at, array_number()),
    sprintf("%s[%s] <- %s", one, at, array_number()),
    sprintf("m[%s, ] <- %s[1:3]", at, one),
    sprintf("m[%s, %dL] <- %s", at, sample(3L, 1L), array_number()),
    sprintf("m[, %dL] <- %s", sample(3L, 1L), one),
    sprintf("h <- %s", array_number()),
    sprintf("%s <- %s", one, other),
    "{ t <- a; a <- b; b <- t }",
    sprintf("%s <- scatter(%s, c(2L, 5L, 2L), %s[4:6])", one, one, sample(c(one, other), 1L)),
    sprintf("%s <- %s * 0.5 + %s[c(3, 1, 2, 6, 5, 4)]", one, other, one),
    sprintf("for (j in turns(3L)) {\n%s\n}", gsub("\\bi\\b", "j", array_statements(depth - 1L))),
    sprintf("for (j in turns(2L)) {\n%s\n}", array_statements(depth - 1L)),
    sprintf("if (%s > 0.3) {\n%s\n}", array_number(), array_statements(depth - 1L)),
    sprintf("if (h < %s) {\n%s\n} else %s", array_number(), array_statements(depth - 1L),
      array_statement(0L))
  )
}
array_statements <- function(depth) {
  paste(replicate(sample(3L, 1L), array_statement(depth)), collapse = "\n")
}

# The code of a random function of arrays that gives something else than R does with its vectors.
array_loop_disagreements <- function(seed, natives = c("never", "wait")) {
  set.seed(seed)
  text <- paste0(
    "function(a, b, m, h) {\nfor (i in turns(6L)) {\n", array_statements(2L),
    "\n}\nlist(a, b, m, h)\n}"
  )
  start <- list(runif(6L), runif(6L), matrix(runif(18L), 6L, 3L), runif(1L))
  function_of <- function(turns, scatter) {
    eval(parse(text = text), list(turns = turns, scatter = scatter), globalenv())
  }
  plain <- function_of(seq_len, function(x, at, values) {
    for (k in seq_along(at)) x[at[k]] <- x[at[k]] + values[k]
    x
  })
  expected <- unname(do.call(plain, start))
  arguments <- lapply(start, nv_tensor, "f64")
  wrong <- character()
  for (native in natives) {
    f <- jit(function_of(function(n) nv_seq(1L, n), nv_scatter_add), native = native)
    for (call in 1:2) {
      got <- unname(lapply(do.call(f, arguments), as_array))
      if (!identical(lapply(got, as.vector), lapply(expected, as.vector))) {
        wrong <- c(wrong, paste(native, call, text))
      }
    }
  }
  if (!identical(lapply(arguments, as_array), lapply(lapply(start, nv_tensor, "f64"), as_array))) {
    wrong <- c(wrong, paste("the arguments changed:", text))
  }
  wrong
}
