# Random R programs that ask and do, as text: functions of tensors, R numbers, flags and strings
# with R's control flow, questions about values (`is.numeric()`, `names()`, `identical()`), and
# effects (`<<-`, `e$n <-`, counters, helpers). The plain run and jit() must agree in values,
# dtypes, names and effects, or jit() raises an error of joist that names a function or variable of
# the program.
#
# A program is made from a seed. The types of its expressions are
#   vector  f64 tensor of 3 elements      scalar  f64 tensor of rank 0
#   ints    i32 tensor of 3 elements      number  R number
#   flag    R flag                        test    traced condition, or a flag
#   string  R string                      matrix  f64 tensor of 2 x 3
# `state` has the names in use by type, and counts what was made.

traced_pick <- function(...) {
  choices <- c(...)
  choices[[sample.int(length(choices), 1L)]]
}

# One of the arguments, unevaluated until it is chosen.
traced_one <- function(...) {
  code <- as.list(substitute(list(...)))[-1L]
  eval(code[[sample.int(length(code), 1L)]], parent.frame())
}

traced_state <- function() {
  list2env(list(
    vector = c("x", "y"), scalar = "s", ints = "i", number = "k", flag = "ok", string = "w",
    matrix = "m", loops = 0L, effects = FALSE, in_loop = FALSE, made = 0L, budget = 30L,
    objects = runif(1) < 0.5
  ))
}

traced_name <- function(state, type) {
  if (length(state[[type]]) > 1L && runif(1) < 0.6) {
    return(traced_pick(state[[type]]))
  }
  state$made <- state$made + 1L
  paste0(substr(type, 1L, 1L), state$made)
}

# ---- objects that the program makes: closures, environments, S3, S4 and reference classes ----

traced_objects <- c(
  "acc <- make_account(0)", "en <- new.env()", "en$n <- 1", "en$v <- x",
  "ob <- structure(list(v = y, n = 1), class = \"thing\")", "ac <- Traced_account$new(total = 0)"
)

# R vectors and lists that positions choose from.
traced_tables <- c(
  "tab <- c(0.5, 2, 3)", "whole <- c(1L, 4L, 2L)", "marks <- c(TRUE, FALSE, NA)",
  "parts <- list(1, 2, 5)", "tables <- list(c(1, 2, 3), c(4, 5, 6), c(7, 8, 9))", "spot <- 1L"
)

# An expression of that type with one of the objects, or with one of the functions that call others;
# NULL for most expressions.
traced_with_objects <- function(state, type) {
  if (!state$objects || runif(1) > 0.15) {
    return(NULL)
  }
  leaf <- function(type) {
    switch(type,
      vector = traced_vector(state, 0L), scalar = traced_scalar(state, 0L),
      number = traced_number(state, 0L), any = traced_any(state, 0L)
    )
  }
  of_numbers <- function() traced_one("rev", "sort", "cumsum", "cummax", "rank", "round")
  switch(type,
    number = traced_one(
      "acc$count()", "en$n", "ob$n", "ac$count", "get(\"n\", envir = en)", "length(ob)",
      "length(ls(en))", sprintf("acc$grow(%s)$count()", leaf("number")),
      sprintf("sum(vapply(1:3, function(p) p * %s, 1))", leaf("number")),
      sprintf("sum(mapply(function(p, q) p + q * %s, 1:3, 4:6))", leaf("number")),
      sprintf("vapply(list(%s, %s), length, 1L)[2L]", leaf("any"), leaf("any")),
      sprintf("length(Filter(is.numeric, list(%s, %s)))", leaf("any"), leaf("any")),
      sprintf("size_of(%s)", leaf("number")), sprintf("describe(%s)", leaf("number")),
      sprintf("%s(c(%s, 1))[2L]", of_numbers(), leaf("number")),
      sprintf("%s(c(%s, 1, 3))", traced_one("mean", "median", "sd"), leaf("number"))
    ),
    scalar = traced_one(
      "sum(en$v)", "sum(ob$v)", sprintf("size_of(%s)", leaf("vector")),
      sprintf("(s + ac$total)"), sprintf("(s + acc$total())"),
      sprintf("mapply(function(p, q) sum(p) * q, list(%s), %s)", leaf("vector"), leaf("number")),
      sprintf("Map(function(p, q) sum(p) - q, list(%s), %s)[[1L]]", leaf("vector"), leaf("scalar")),
      sprintf("vapply(list(%s), sum, 1)", leaf("vector")),
      sprintf("sum(sapply(list(%s, %s), sum))", leaf("vector"), leaf("vector")),
      sprintf("sum(do.call(rbind, list(%s, %s)))", leaf("vector"), leaf("vector")),
      sprintf("tryCatch(sum(%s), error = function(cond) s)", leaf("vector"))
    ),
    vector = traced_one(
      "en$v", "ob$v", sprintf("grown(ob, %s)$v", leaf("number")),
      sprintf("Reduce(`+`, Map(`*`, list(%s, %s), list(1, 2)))", leaf("vector"), leaf("vector")),
      sprintf("describe(%s)", leaf("vector")),
      sprintf("vapply(1:3, function(p) p * %s, 1) + %s", leaf("number"), leaf("vector")),
      sprintf("unlist(lapply(1:3, function(p) %s[p]))", leaf("vector")),
      sprintf("do.call(c, lapply(1:3, function(p) %s[[p]]))", leaf("vector")),
      sprintf("Reduce(`+`, list(%s, %s), accumulate = TRUE)[[2L]]", leaf("vector"), leaf("vector")),
      sprintf("with(list(z = %s), z * 2)", leaf("vector")),
      sprintf("(%s(c(%s, 2, 1)) + %s)", of_numbers(), leaf("number"), leaf("vector"))
    ),
    flag = traced_one(
      "exists(\"v\", envir = en)", "inherits(ob, \"thing\")", "is.environment(en)", "is(ac)",
      sprintf("isVirtualClass(\"%s\")", "Traced_account"), "is.null(en$none)", "is.null(ob$v)",
      sprintf("all(sapply(list(%s, %s), is.numeric))", leaf("any"), leaf("any")),
      sprintf("identical(en$v, %s)", leaf("vector"))
    )
  )
}

# A statement that changes one of the objects.
traced_change <- function(state) {
  traced_one(
    sprintf("acc$add(%s)", traced_number(state, 1L)),
    sprintf("acc$add(%s)", traced_scalar(state, 0L)),
    sprintf("en$n <- en$n + %s", traced_number(state, 0L)),
    sprintf("en$v <- %s", traced_vector(state, 1L)),
    sprintf("assign(\"n\", %s, envir = en)", traced_number(state, 1L)),
    sprintf("ob$v <- %s", traced_vector(state, 1L)), "ob$n <- ob$n + 1",
    sprintf("ob <- grown(ob, %s)", traced_number(state, 0L)),
    sprintf("ac$add(%s)", traced_scalar(state, 0L)),
    sprintf("ac$add(%s)", traced_number(state, 0L)), "ac$count <- ac$count + 1",
    sprintf("invisible(Map(acc$add, c(1, %s)))", traced_number(state, 0L)),
    sprintf("invisible(mapply(function(p) en$n <- en$n + p, 1:2))"),
    sprintf("local(en$n <- %s)", traced_number(state, 1L)),
    sprintf("en$w[[\"a\"]] <- %s", traced_scalar(state, 0L)),
    sprintf("with(en, n <- n + %s)", traced_number(state, 0L)),
    sprintf("change(en, %s)", traced_scalar(state, 0L))
  )
}

# ---- expressions ----

traced_number <- function(state, depth) {
  own <- traced_with_objects(state, "number")
  if (!is.null(own)) {
    return(own)
  }
  part <- function() traced_number(state, depth - 1L)
  if (depth <= 0L || runif(1) < 0.4) {
    return(traced_one(
      traced_pick("0.5", "1", "2", "3"), traced_pick(state$number), traced_pick(state$number)
    ))
  }
  traced_one(
    sprintf("(%s + %s)", part(), part()), sprintf("(%s - %s)", part(), part()),
    sprintf("(%s * 0.5)", part()), sprintf("length(%s)", traced_any(state, depth - 1L)),
    sprintf("sqrt(abs(%s))", part()), sprintf("NROW(%s)", traced_vector(state, depth - 1L)),
    sprintf("ncol(%s)", traced_pick(state$matrix)), sprintf("nchar(%s)", traced_pick(state$string)),
    sprintf("(if (%s) %s else %s)", traced_test(state, depth - 1L), part(), part()),
    sprintf("sum(dim(%s))", traced_pick(state$matrix)), "e$n", "counter",
    sprintf("length(attributes(%s))", traced_any(state, 0L)), "length(l)",
    sprintf("nlevels(%s)", traced_any(state, 0L)), sprintf("half(%s)", part()),
    sprintf("%s[%s]", traced_pick("tab", "whole", "c(0.5, 2, 7)"), traced_position(state)),
    sprintf("%s[[%s]]", traced_pick("tab", "whole", "parts"), traced_position(state)),
    sprintf("tables[[%s]][%s]", traced_position(state), traced_position(state)),
    if (runif(1) < 0.2) traced_pick("NA_real_", "NA") else "(if (is.na(k)) 1 else k)",
    traced_pick("0L", "length(tab)"),
    traced_pick("(whole[2] + 1000L)", "(.Machine$integer.max - whole[1])", "(whole[1] * 2L)"),
    sprintf("sum(%s)", traced_pick("whole", "tab", "outer(1:2, c(1, k))", "seq(1, 3, by = 0.5)")),
    sprintf("(%s %s %s)", part(), traced_pick("%%", "%/%"), traced_pick("2", "3L")),
    sprintf("match(\"b\", names(%s), 0L)", traced_vector(state, 0L))
  )
}

# A position, mostly one of 1 to 3.
traced_position <- function(state) {
  traced_one(
    traced_pick("1", "2", "3"), traced_pick(state$number),
    sprintf("(1 + abs(%s) %%%% 3)", traced_number(state, 0L)),
    sprintf("which.max(%s)", traced_pick(state$vector)),
    "spot", "spot", "(spot %% 3L + 1L)"
  )
}

traced_string <- function(state) {
  traced_one(
    traced_pick(state$string), "\"a\"", "\"b\"", sprintf("typeof(%s)", traced_any(state, 1L)),
    sprintf("class(%s)[1L]", traced_any(state, 1L)), sprintf("mode(%s)", traced_any(state, 1L)),
    sprintf("names(%s)[2L]", traced_vector(state, 1L)),
    sprintf("format(dtype(%s))", traced_vector(state, 1L)),
    sprintf("paste0(%s, \"!\")", traced_pick(state$string)),
    sprintf("rownames(%s)[1L]", traced_pick(state$matrix)),
    sprintf("storage.mode(%s)", traced_any(state, 1L))
  )
}

# A value of any type, for questions.
traced_any <- function(state, depth = 1L) {
  traced_one(
    traced_vector(state, depth), traced_vector(state, depth), traced_scalar(state, depth),
    traced_number(state, depth), traced_pick(state$flag), traced_pick(state$matrix),
    traced_pick(state$ints), "l", "l$a", "l$none", "r", "e", "half", traced_pick(state$string),
    sprintf("names(%s)", traced_pick(state$vector)),
    sprintf("attr(%s, \"k\")", traced_pick(state$vector))
  )
}

traced_flag <- function(state, depth) {
  own <- traced_with_objects(state, "flag")
  if (!is.null(own)) {
    return(own)
  }
  any <- function() traced_any(state, depth - 1L)
  questions <- c(
    "is.numeric", "is.double", "is.integer", "is.logical", "is.character", "is.null", "is.list",
    "is.function", "is.environment", "is.atomic", "is.matrix", "is.array", "is.object", "is.vector",
    "is.factor", "is.complex", "is_tensor", "isTRUE", "isFALSE", "is.element(1, 1) && is.recursive",
    "is.symbol", "is.primitive", "is.data.frame"
  )
  traced_one(
    traced_pick(state$flag), sprintf("%s(%s)", traced_pick(questions), any()),
    sprintf("%s(%s)", traced_pick(questions), any()),
    sprintf("identical(%s, %s)", any(), traced_pick("TRUE", "NULL", "1", "3L", any(), any())),
    sprintf("is.null(names(%s))", traced_vector(state, 1L)),
    sprintf("is.null(dim(%s))", traced_vector(state, 1L)),
    sprintf("is.null(dimnames(%s))", traced_pick(state$matrix)),
    sprintf("\"a\" %%in%% names(%s)", traced_vector(state, 1L)),
    sprintf("inherits(%s, \"%s\")", any(), traced_pick("nv_tensor", "numeric", "list", "function")),
    sprintf("%s %s %s", traced_number(state, 1L), traced_pick("<", ">", "==", "!="),
      traced_number(state, 1L)),
    sprintf("%s == \"%s\"", traced_string(state), traced_pick("a", "double", "numeric", "b")),
    sprintf("length(%s) %s 2L", any(), traced_pick("<", ">", "==")),
    sprintf("is.null(attr(%s, \"k\"))", traced_pick(state$vector)),
    sprintf("is(%s, \"nv_tensor\")", any()), sprintf("methods::is(%s, \"numeric\")", any()),
    sprintf("exists(\"%s\")", traced_pick("x", "zzz", "counter")), "e$seen",
    sprintf("exists(\"%s\", inherits = FALSE)", traced_pick("n1", "s1", "v1", "v2", "x", "r")),
    sprintf("\"%s\" %%in%% ls(%s)", traced_pick("n1", "s1", "v1", "n"), traced_pick("", "e")),
    sprintf("is.null(get0(\"%s\"))", traced_pick("n1", "s1", "v2", "k")), "length(ls(e)) > 3L",
    sprintf("%s[%s]", traced_pick("c(TRUE, FALSE, TRUE)", "marks"), traced_position(state)),
    traced_pick("!is.na(ok)", "!is.na(k)", "is.na(ok)", "anyNA(k)", "(NA || ok)", "(ok && NA)"),
    sprintf("!%s", traced_pick(state$flag)), sprintf("is.na(%s)", traced_number(state, 0L)),
    # Base R compares environments of functions without end.
    sub(
      "equal(half,", "equal(x,", sprintf("isTRUE(all.equal(%s, %s))", any(), any()), fixed = TRUE
    ),
    sprintf("(%s && %s)", traced_flag_leaf(state), traced_flag_leaf(state)),
    sprintf("kind_of(%s) == \"tensor\"", any()), "is.null(r)", "identical(ok, TRUE)"
  )
}

traced_flag_leaf <- function(state) {
  traced_one(
    traced_pick(state$flag), sprintf("is.null(%s)", traced_any(state, 0L)),
    sprintf("is.numeric(%s)", traced_any(state, 0L))
  )
}

traced_test <- function(state, depth) {
  part <- function() traced_test(state, depth - 1L)
  compare <- traced_pick("<", ">", "<=", ">=", "!=")
  if (depth > 0L && runif(1) < 0.25) {
    return(traced_one(
      sprintf("(%s && %s)", part(), part()), sprintf("(%s || %s)", part(), part()),
      sprintf("!(%s)", part()), sprintf("isTRUE(%s)", traced_flag(state, depth - 1L))
    ))
  }
  traced_one(
    sprintf("%s %s %s", traced_scalar(state, 1L), compare, traced_number(state, 1L)),
    sprintf("any(%s %s %s)", traced_vector(state, 1L), compare, traced_number(state, 0L)),
    sprintf("all(%s %s %s)", traced_vector(state, 1L), compare, traced_scalar(state, 0L)),
    sprintf("sum(%s) %s %s", traced_vector(state, 1L), compare, traced_number(state, 0L)),
    traced_flag(state, max(depth, 1L)), traced_flag(state, max(depth, 1L))
  )
}

# Code that looks for an element by a name that the vector may not have.
traced_named <- function(state, code, otherwise) {
  x <- traced_pick(state$vector)
  sprintf("(if (all(c(\"b\", \"c\") %%in%% names(%s))) %s else %s)", x, sprintf(code, x), otherwise)
}

traced_scalar <- function(state, depth) {
  own <- traced_with_objects(state, "scalar")
  if (!is.null(own)) {
    return(own)
  }
  part <- function() traced_scalar(state, depth - 1L)
  vector <- function() traced_vector(state, depth - 1L)
  if (depth <= 0L || runif(1) < 0.2) {
    return(traced_pick(state$scalar))
  }
  traced_one(
    sprintf("sum(%s)", vector()), sprintf("max(%s)", vector()), sprintf("mean(%s)", vector()),
    sprintf("%s[%d]", vector(), sample.int(3L, 1L)), sprintf("(%s + %s)", part(), part()),
    sprintf("(%s * %s)", part(), traced_number(state, 1L)), sprintf("sin(%s)", part()),
    sprintf("(if (%s) %s else %s)", traced_test(state, 1L), part(), part()),
    sprintf("half(%s)", part()), traced_named(state, "%s[[\"b\"]]", "s"),
    sprintf("Reduce(function(p, q) p + q, list(%s, %s))", part(), part()),
    sprintf("do.call(sum, list(%s))", vector()), sprintf("sum(%s)", traced_pick(state$matrix)),
    sprintf("m[%d, %d]", sample.int(2L, 1L), sample.int(3L, 1L)), sprintf("counted(%s)", part())
  )
}

traced_vector <- function(state, depth) {
  own <- traced_with_objects(state, "vector")
  if (!is.null(own)) {
    return(own)
  }
  part <- function() traced_vector(state, depth - 1L)
  if (depth <= 0L || runif(1) < 0.25) {
    return(traced_one(traced_pick(state$vector), traced_pick(state$vector), "l$a"))
  }
  traced_one(
    sprintf("(%s %s %s)", part(), traced_pick("+", "-", "*"), part()), sprintf("-%s", part()),
    sprintf("(%s * %s)", part(), traced_number(state, depth - 1L)), sprintf("rev(%s)", part()),
    sprintf("(%s + %s)", traced_scalar(state, depth - 1L), part()), sprintf("abs(%s)", part()),
    sprintf("%s[c(3, 1, 2)]", part()), sprintf("sort(%s)", part()), sprintf("half(%s)", part()),
    sprintf("(if (%s) %s else %s)", traced_test(state, 1L), part(), part()),
    sprintf("ifelse(%s > %s, %s, %s)", part(), traced_number(state, 0L), part(), part()),
    sprintf("pmax(%s, %s)", part(), traced_number(state, 0L)), sprintf("unname(%s)", part()),
    sprintf("setNames(%s, c(\"b\", \"c\", \"d\"))", part()), sprintf("cumsum(%s)", part()),
    sprintf("(function(p) p + %s)(%s)", traced_number(state, 0L), part()),
    sprintf("switch(%s, a = %s, b = %s, %s)", traced_pick(state$string), part(), part(), part()),
    sprintf("Reduce(`+`, lapply(1:2, function(p) %s * p))", part()), sprintf("clamp(%s)", part()),
    sprintf("m[%d, ]", sample.int(2L, 1L)), sprintf("c(%s[1:2], z = %s[1])", part(), part()),
    traced_named(state, "%s[c(\"c\", \"b\", \"c\")]", "y"), "(i * 1.5)",
    sprintf("by_kind(%s)", part()),
    "(if (\"p\" %in% rownames(m)) m[\"p\", ] else m[1, ])", sprintf("counted(%s)", part()),
    sprintf("colSums(%s)", traced_pick(state$matrix))
  )
}

# ---- statements ----

traced_expression <- function(state, type, depth = 2L) {
  switch(type,
    vector = traced_vector(state, depth),
    scalar = traced_scalar(state, depth),
    number = traced_number(state, depth),
    flag = traced_flag(state, depth),
    string = traced_string(state),
    matrix = traced_one(
      sprintf("(m * %s)", traced_number(state, 1L)), "-m", "t(t(m))",
      sprintf("rbind(%s, %s)", traced_vector(state, 1L), traced_vector(state, 0L))
    ),
    ints = traced_one("(i + 1L)", "rev(i)", "i[c(2, 3, 1)]")
  )
}

traced_types <- c(
  "vector", "vector", "scalar", "scalar", "number", "number", "flag", "flag", "string", "matrix",
  "ints"
)

traced_assignment <- function(state, known_only = FALSE) {
  type <- traced_pick(traced_types)
  name <- if (known_only) traced_pick(state[[type]]) else traced_name(state, type)
  code <- sprintf("%s <- %s", name, traced_expression(state, type))
  if (!known_only) state[[type]] <- union(state[[type]], name)
  code
}

traced_effect <- function(state) {
  if (state$objects && runif(1) < 0.75) {
    return(traced_change(state))
  }
  state$effects <- TRUE
  number <- traced_number(state, 1L)
  traced_one(
    "inc()", "inc()", sprintf("counter <<- counter + %s", number),
    sprintf("e$n <- e$n + %s", number), sprintf("e$n <- %s", number), "e$seen <- TRUE",
    sprintf("e$last <- %s", traced_scalar(state, 1L)),
    sprintf("note(%s)", number), "assign(\"n\", 5, envir = e)", "counter <<- 10",
    sprintf("for (p in 1:2) inc()"), "invisible(lapply(1:2, function(p) inc()))",
    sprintf("lapply(1:2, function(p) e$n <- e$n + p)"), "attr(e, \"k\") <- 2", "self$add(1)",
    sprintf("%s && { inc(); TRUE }", traced_test(state, 0L)), "local({ counter <<- counter * 2 })",
    "log <<- c(log, \"seen\")", "e[[\"n\"]] <- e[[\"n\"]] * 2", "Map(function(p) inc(), 1:3)",
    "held <<- s"
  )
}

traced_statement <- function(state, depth) {
  state$budget <- state$budget - 1L
  block <- function(extra = NULL) traced_block(state, depth - 1L, extra)
  if (depth <= 0L || state$budget < 0L || runif(1) < 0.4) {
    return(traced_one(
      traced_assignment(state, depth < 2L), traced_assignment(state, depth < 2L),
      traced_effect(state),
      sprintf(
        "%s[%d] <- %s", traced_pick(state$vector), sample.int(3L, 1L), traced_scalar(state, 1L)
      ),
      sprintf(
        "names(%s) <- c(\"a\", \"b\", \"%s\")", traced_pick(state$vector), traced_pick("c", "d")
      ),
      sprintf("names(%s) <- NULL", traced_pick(state$vector)),
      sprintf("l$a <- %s", traced_vector(state, 1L)),
      sprintf("l$b <- %s", traced_number(state, 1L)),
      sprintf("attr(%s, \"k\") <- %s", traced_pick(state$vector), traced_number(state, 0L)),
      "spot <- 3L", "spot <- (spot %% 3L) + 1L",
      if (runif(1) < 0.3) traced_pick("rm(r)", "ok <- NA", "k <- NA") else "k <- 1",
      sprintf("spot <- if (%s) 2L else 1L", traced_test(state, 1L)),
      {
        state$effects <- TRUE
        "e$new <- 1"
      },
      sprintf("tab[%s] <- %s", traced_position(state), traced_number(state, 0L)),
      "ok <- TRUE", "ok <- FALSE", "r <- NULL", sprintf("r <- %s", traced_scalar(state, 1L)),
      sprintf("r <- %s", traced_number(state, 1L)), "k <- k + 1", "k <- NULL; k <- 2", "w <- \"b\"",
      sprintf("stopifnot(%s)", traced_test(state, 1L)),
      sprintf("stopifnot(%s || TRUE)", traced_test(state, 1L)),
      if (state$in_loop) {
        sprintf("if (%s) %s", traced_test(state, 1L), traced_pick("break", "next"))
      } else {
        sprintf("if (%s) return(%s)", traced_test(state, 1L), traced_vector(state, 1L))
      }
    ))
  }
  state$loops <- state$loops + 1L
  number <- state$loops
  within <- function(in_loop, code) {
    old <- state$in_loop
    on.exit(state$in_loop <- old)
    state$in_loop <- in_loop
    code
  }
  looping <- function(code) within(TRUE, code)
  apart <- function(code) within(FALSE, code)
  values <- c(
    "1:3", "seq_len(3L)", "nv_seq_len(3L)", "x", "seq_along(x)", "c(0.5, 2)", "i", "names(x)",
    "list(x, y)"
  )
  numbered <- function(code, ...) sprintf(gsub("@", number, code, fixed = TRUE), ...)
  traced_one(
    sprintf("if (%s) {\n%s\n}", traced_test(state, 2L), block()),
    sprintf("if (%s) {\n%s\n} else {\n%s\n}", traced_test(state, 2L), block(), block()),
    sprintf("if (%s) {\n%s\n} else {\n%s\n}", traced_test(state, 2L), block(), block()),
    looping(numbered("for (j@ in %s) {\n%s\n}", traced_pick(values), block())),
    looping(numbered("t@ <- abs(s) + 4\nwhile (t@ > 1) {\nt@ <- t@ / 2\n%s\n}", block())),
    looping(numbered("t@ <- 0\nwhile (t@ < 3) {\nt@ <- t@ + 1\n%s\n}", block())),
    looping(numbered(
      "t@ <- sum(abs(x)) + 3\nrepeat {\nt@ <- t@ * 0.5\nif (t@ < 1) break\n%s\n}", block()
    )),
    apart(sprintf(
      "%s <- local({\n%s\n%s\n})", traced_pick(state$vector), block(), traced_vector(state, 1L)
    )),
    apart(sprintf("invisible(lapply(1:2, function(p) {\n%s\n}))", block())),
    apart(sprintf(
      "%s <- Reduce(function(p, q) {\n%s\np + q\n}, list(%s, %s))", traced_pick(state$vector),
      block(), traced_vector(state, 1L), traced_vector(state, 1L)
    )),
    sprintf("switch(%s, a = {\n%s\n}, {\n%s\n})", traced_string(state), block(), block())
  )
}

traced_block <- function(state, depth, extra = NULL) {
  # Names that a block makes are its own.
  kept <- mget(unique(traced_types), state)
  lines <- replicate(sample.int(3L, 1L), traced_statement(state, depth))
  for (type in names(kept)) state[[type]] <- kept[[type]]
  paste(c(lines, extra), collapse = "\n")
}

# A program: its code, and a function that makes it: a list of `f`, and of `state()`, which is what
# effects have changed.
traced_program <- function(seed) {
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  state <- traced_state()
  lines <- character()
  for (n in seq_len(sample(2:6, 1L))) lines <- c(lines, traced_statement(state, 2L))
  result <- traced_one(
    traced_vector(state, 2L), traced_scalar(state, 2L), traced_number(state, 2L),
    sprintf("list(%s, p = %s)", traced_pick(state$vector), traced_pick(state$scalar)),
    sprintf("list(%s, %s)", traced_pick(state$number), traced_pick(state$vector)),
    sprintf("list(p = l, q = %s)", traced_pick(state$matrix)),
    sprintf("if (%s) %s else %s", traced_test(state, 2L), traced_scalar(state, 1L),
      traced_scalar(state, 1L)),
    sprintf("if (%s) 1 else 2", traced_flag(state, 2L))
  )
  if (state$objects) {
    lines <- c(traced_objects, lines)
    result <- sprintf("list(p = {%s}, t = acc$total(), n = en$n, o = ob$n, c = ac$count)", result)
  }
  code <- parse(text = c(
    "{", "l <- list(a = x, b = k)", "r <- NULL", traced_tables, lines, result, "}"
  ))[[1L]]
  traced_made(seed, code, state$effects)
}

traced_made <- function(seed, code, effects) {
  f <- as.call(list(quote(`function`), as.pairlist(alist(
    x = , y = , s = , i = , m = , k = 2, ok = FALSE, w = "a"
  )), code))
  text <- paste(c("f <-", deparse(f, 500L)), collapse = "\n")
  all <- parse(text = paste0("{", traced_helpers, text, "\n", traced_ending, "}"))
  # Helpers in expressions have effects, too.
  effects <- effects || any(c("counted", "inc", "note") %in% all.names(code))
  list(
    seed = seed, effects = effects, code = code, f = text,
    make = as.function(list(all[[1L]]), envir = globalenv())
  )
}

traced_helpers <- '
e <- new.env(); e$n <- 1; e$seen <- FALSE; e$last <- 0
counter <- 0; log <- character(); held <- NULL
inc <- function() counter <<- counter + 1
note <- function(p) { e$n <- e$n + p; invisible(p) }
half <- function(p) p / 2
clamp <- function(p) if (max(p) > 2) p / max(p) else p
counted <- function(p) { counter <<- counter + 1; p }
kind_of <- function(p) {
  if (is.null(p)) return("null")
  if (is_tensor(p)) "tensor" else if (is.numeric(p)) "number" else "other"
}
by_kind <- function(p) if (is.numeric(p)) p + 1 else p - 1
make_account <- function(total) {
  count <- 0
  self <- list(
    add = function(p) {
      total <<- total + p
      count <<- count + 1
      invisible(total)
    },
    grow = function(p) {
      count <<- count + p
      self
    },
    count = function() count, total = function() total
  )
  self
}
change <- function(env, p) env$n <- p
describe <- function(p, ...) UseMethod("describe")
describe.default <- function(p, ...) length(p)
describe.numeric <- function(p, ...) p + 1
describe.nv_tensor <- function(p, ...) p * 2
grown <- function(p, by) UseMethod("grown")
grown.thing <- function(p, by) {
  p$n <- p$n + by
  if (sum(p$v) > 1) p$v <- p$v * by
  p
}
self <- local({
  total <- 0
  list(add = function(p) { total <<- total + p; invisible() }, total = function() total)
})
'

# Classes are made once.
traced_classes <- function() {
  if (methods::isGeneric("size_of", globalenv())) {
    return(invisible())
  }
  account <- methods::setRefClass("Traced_account",
    fields = list(total = "ANY", count = "ANY"), where = globalenv(),
    methods = list(
      initialize = function(...) {
        count <<- 0
        initFields(...)
      },
      add = function(p) {
        total <<- total + p
        count <<- count + 1
        invisible(.self)
      }
    )
  )
  assign("Traced_account", account, globalenv())
  methods::setGeneric("size_of", function(p) standardGeneric("size_of"), where = globalenv())
  methods::setMethod("size_of", "numeric", function(p) p + 1, where = globalenv())
  methods::setMethod("size_of", "nv_tensor", function(p) sum(p), where = globalenv())
}

traced_ending <- '
list(f = f, state = function() {
  list(n = e$n, seen = e$seen, last = e$last, k = attr(e, "k"), counter = counter, log = log,
    held = held, total = self$total())
})
'

# Arguments of the same dtypes and shapes; the second has other values, and other names or none.
traced_arguments <- function(seed) {
  set.seed(seed + 500000L)
  numbers <- function(n) sample(seq(-2, 3, by = 0.25), n, TRUE)
  named <- runif(3) < 0.5
  once <- function(letters, named) {
    x <- numbers(3L)
    y <- numbers(3L)
    m <- matrix(numbers(6L), 2L)
    if (named[1L]) names(x) <- letters
    if (named[2L]) names(y) <- rev(letters)
    if (named[3L]) dimnames(m) <- list(c("p", "q"), letters)
    list(
      x = nv_tensor(x, "f64"), y = nv_tensor(y, "f64"), s = nv_scalar(numbers(1L), "f64"),
      i = nv_tensor(sample(-2:5, 3L, TRUE), "i32"), m = nv_tensor(m, "f64")
    )
  }
  list(
    once(c("a", "b", "c"), named),
    once(
      traced_one(c("a", "b", "c"), c("c", "b", "z")),
      if (runif(1) < 0.5) named else runif(3) < 0.5
    )
  )
}

# ---- comparing ----

# Values as text: of tensors, dtype, shape, names and values of a few digits, or 11 in f64; an R
# number as the tensor that jit() makes of it. A scalar is a vector of one element, which branches
# make of both.
traced_text <- function(x) {
  if (is.null(x)) {
    return("NULL")
  }
  if (is.list(x) && !is.object(x)) {
    parts <- vapply(x, traced_text, "")
    return(paste0("list(", paste(names(x), parts, collapse = ", "), ")"))
  }
  if (is.character(x) || is.environment(x) || is.function(x)) {
    return(paste(class(x)[1L], if (is.character(x)) deparse(x)))
  }
  if (!is_tensor(x)) x <- number_in_full(x)
  names <- if (ndims(x) < 2L) names(x) else dimnames(x)
  if (length(x) == 1L && ambiguous(x)) names <- NULL # a scalar has none
  values <- suppressWarnings(as.vector(as_array(x)))
  values[which(values == 0)] <- 0 # not -0
  # R numbers that are computed are f64.
  dtype <- format(dtype(x))
  if (ambiguous(x)) dtype <- sub("f32", "f64", dtype, fixed = TRUE)
  paste(
    dtype, paste0("{", if (!identical(shape(x), 1L)) paste(shape(x), collapse = "x"), "}"),
    paste(format(signif(values, if (dtype == "f64") 11 else 5), digits = 11), collapse = " "),
    if (!is.null(names)) paste(deparse(names), collapse = "")
  )
}

number_in_full <- function(x) if (is.double(x)) joist:::in_full(x) else joist:::as_operand(x)

traced_outcome <- function(f, state, arguments) {
  setTimeLimit(cpu = 5, transient = TRUE)
  on.exit(setTimeLimit())
  value <- tryCatch(
    suppressMessages(suppressWarnings(traced_text(do.call(f, arguments)))),
    error = function(e) e
  )
  effects <- tryCatch(traced_text(state()), error = function(e) e)
  list(value = value, effects = effects)
}

# A traced tensor that was kept in an environment is an error where it is used.
traced_escapes <- function(e) {
  inherits(e, "joist_error") && grepl("trace that has ended", conditionMessage(e), fixed = TRUE)
}

traced_endless <- function(e) {
  inherits(e, "error") && grepl("time limit", conditionMessage(e), fixed = TRUE)
}

# Whether an error is one of joist, and names a function or variable of the program, in its message
# or its call.
traced_refusal <- function(e, program) {
  own <- c(
    setdiff(all.names(program$code), c("{", "(", "<-", "=", "if", "+", "-", "*", "/")), "result",
    "inc", "note", "half", "clamp", "counted", "kind_of", "by_kind", "self", "counter", "total",
    "count", "grown", "describe", "size_of", "make_account", "change", "p", "n"
  )
  words <- c(strsplit(conditionMessage(e), "[^A-Za-z0-9._]+")[[1L]], all.names(conditionCall(e)))
  inherits(e, "joist_error") && any(c(words, sub("\\(.*", "", words)) %in% own)
}

# What is wrong with a program: `kind` is agree, refused (an error of jit() that names something of
# the program), failing (the plain run fails, and jit() does), silent, or
# unreadable (another error).
traced_verdict <- function(program) {
  given <- traced_arguments(program$seed)
  plain <- program$make()
  expected <- traced_outcome(plain$f, plain$state, given[[1L]])
  compiled <- program$make()
  jitted <- jit(compiled$f, static = c("k", "ok", "w"))
  got <- traced_outcome(jitted, compiled$state, given[[1L]])
  verdict <- function(kind, at = "") {
    list(kind = kind, at = at, expected = expected, got = got)
  }
  failed <- inherits(expected$value, "error")
  if (traced_endless(expected$value)) {
    return(verdict("failing"))
  }
  if (inherits(got$value, "error")) {
    kind <- if (failed) "failing" else if (traced_refusal(got$value, program)) "refused"
    return(verdict(if (is.null(kind)) "unreadable" else kind))
  }
  if (!identical(expected, got) && !traced_escapes(got$effects)) {
    return(verdict("silent"))
  }
  if (program$effects) {
    return(verdict("agree"))
  }
  # The program that was kept, with other values and names.
  again <- program$make()
  expected <- traced_outcome(again$f, again$state, given[[2L]])
  got <- traced_outcome(jitted, compiled$state, given[[2L]])
  fine <- if (inherits(got$value, "error")) {
    inherits(expected$value, "error") || traced_refusal(got$value, program)
  } else {
    identical(expected$value, got$value)
  }
  if (fine) {
    return(verdict("agree"))
  }
  verdict(if (inherits(got$value, "error")) "unreadable" else "silent", "second call, ")
}

traced_report <- function(program, verdict) {
  part <- function(x) {
    if (inherits(x, "error")) paste0("error <", class(x)[1L], "> ", conditionMessage(x)) else x
  }
  show <- function(x) paste0("  ", part(x$value), "\n  effects: ", part(x$effects), "\n")
  paste0(
    verdict$kind, ", ", verdict$at, "seed ", program$seed, "\n", program$f, "\nplain:\n",
    show(verdict$expected), "jit:\n", show(verdict$got)
  )
}

# ---- the smallest part of a program with the same kind of verdict ----

# Each version of code with one statement less, or an `if` or a loop replaced by its body.
traced_smaller <- function(code) {
  if (!is.call(code)) {
    return(list())
  }
  head <- as.character(code[[1L]])[1L]
  out <- list()
  if (head == "{") {
    for (k in seq_along(code)[-1L]) if (length(code) > 2L) out <- c(out, list(code[-k]))
  }
  if (head %in% c("if", "for", "while", "repeat")) {
    bodies <- switch(head, "if" = 3:length(code), "for" = 4L, "while" = 3L, "repeat" = 2L)
    for (k in bodies) out <- c(out, list(code[[k]]))
    if (head == "if" && length(code) == 4L) out <- c(out, list(code[-4L]))
  }
  for (k in seq_along(code)[-1L]) {
    for (part in traced_smaller(code[[k]])) {
      other <- code
      other[[k]] <- part
      out <- c(out, list(other))
    }
  }
  out
}

traced_shrunk <- function(program, verdict, tries = 300L) {
  kind <- verdict$kind
  failed <- function(verdict) inherits(verdict$expected$value, "error")
  repeat {
    smaller <- traced_smaller(program$code)
    found <- FALSE
    for (code in smaller) {
      tries <- tries - 1L
      if (tries < 0L) {
        return(program)
      }
      other <- traced_made(program$seed, code, program$effects)
      now <- traced_verdict(other)
      if (now$kind == kind && now$at == verdict$at && failed(now) == failed(verdict)) {
        program <- other
        found <- TRUE
        break
      }
    }
    if (!found) {
      return(program)
    }
  }
}
