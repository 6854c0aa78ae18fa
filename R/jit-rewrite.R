# The form in which functions are traced: a list of *parts*, which run one after the other
# (jit-traced_branches.R). A statement that may end more than itself, by `break`, `next` or
# `return()`, is a part of its own. Everything else is code that R evaluates in the function's
# frame;
# its conditions, loops and assignments call the functions of jit-control_flow.R, with a *site*: an
# environment with the code and what is known of it before anything runs.

# ---- which functions are rewritten ----

# R's own packages, and some that look into the code they are given.
packages_left_alone <- c(
  "base", "boot", "class", "cluster", "codetools", "compiler", "covr", "datasets", "foreign",
  "graphics", "grDevices", "grid", "KernSmooth", "knitr", "lattice", "MASS", "Matrix",
  "methods", "mgcv", "nlme", "nnet", "parallel", "rlang", "rpart", "spatial", "splines", "stats",
  "stats4", "survival", "tcltk", "testthat", "tools", "utils"
)

is_users <- function(f) {
  if (typeof(f) != "closure" || isS4(f) || inherits(f, "joist_jit")) {
    return(FALSE)
  }
  if (identical(environment(f), topenv(matchThisEnv = NULL))) {
    return(FALSE)
  }
  is_users_home(topenv(environment(f), matchThisEnv = NULL))
}

# S4 generics.
is_users_generic <- function(f) {
  if (!isS4(f) || !methods::is(f, "standardGeneric")) {
    return(FALSE)
  }
  home <- topenv(environment(f), matchThisEnv = NULL)
  !identical(home, topenv()) && is_users_home(home)
}

is_users_home <- function(home) {
  if (isNamespace(home)) {
    return(match(getNamespaceName(home), packages_left_alone, 0L) == 0L)
  }
  !identical(home, baseenv())
}

# The words for which a function is rewritten.
statement_words <- c(
  "if", "while", "for", "repeat", "&&", "||", "switch", "UseMethod", "Recall", "local", "[<-",
  "<<-", "[", "[[", "c", "max", "min", "sum", "prod", "range", "any", "all", "exists",
  "get0", "ls", "objects", "length", "stopifnot", "print", "cat", "writeLines", "Sys.time",
  "Sys.Date", "date", "proc.time", "sapply", "vapply", "mapply", "unlist", "Reduce", "deparse",
  "deparse1"
)

# Code that was rewritten before, by its address: a closure is rewritten once, however often it is
# traced.
rewritten_code <- new.env(parent = emptyenv())

# A function in the form that is traced, with the source and the frame of `f`.
rewritten <- function(f) {
  if (!is_users(f) || !is.null(attr(body(f), "joist_rewritten"))) {
    return(f)
  }
  code <- body(f)
  known <- if (is.call(code)) known_code(code)
  if (is.null(known) || !identical(known$defaults, formals(f))) {
    known <- rewrite_closure(f)
    if (is.call(code)) keep_code(code, known)
  }
  names <- known$names
  around <- environment(f)
  functions <- users_functions(names, around)
  named <- setdiff(intersect(names, number_functions), functions)
  changed <- known$changed || length(functions) > 0L
  if (!changed && length(named) == 0L) {
    return(f)
  }
  frame <- if (changed) shim(around, functions) else new.env(parent = around)
  for (name in named) {
    found <- get0(name, envir = around)
    if (is.function(found)) assign(name, keeps_numbers(found, name), envir = frame)
  }
  made <- as.function(c(known$formals, list(known$code)), envir = frame)
  attributes(made) <- attributes(f)
  if (isdebugged(f)) debug(made)
  made
}

known_code <- function(code) {
  if (is.null(rewritten_code$table)) NULL else rewritten_code$table[[code]]
}

# utils::hashtab() came with R 4.2; before, functions are rewritten in each trace.
keeps_code <- getRversion() >= "4.2.0"

keep_code <- function(code, made) {
  if (!keeps_code) {
    return()
  }
  full <- !is.null(rewritten_code$table) && utils::numhash(rewritten_code$table) >= 1000L
  if (is.null(rewritten_code$table) || full) {
    rewritten_code$table <- utils::hashtab("address")
  }
  utils::sethash(rewritten_code$table, code, made)
}

# The frame around a rewritten function: the functions that its code calls, and in the place of
# the user's functions that it names their rewritten forms, made when they are looked for.
shim <- function(around, functions) {
  frame <- list2env(control_functions, parent = around)
  # Variables of the user that have such a name, such as `class`, are the user's.
  names <- names_of_base
  nothing <- list(NULL)
  found <- tryCatch(
    mget(names, envir = around, inherits = TRUE, ifnotfound = nothing),
    error = function(e) lapply(names, function(name) tryCatch(get0(name, around), error = identity))
  )
  if (is.null(rewritten_code$asked)) {
    rewritten_code$asked <- lapply(names, function(name) {
      switch(name,
        is_tensor = is_tensor, dtype = dtype, ambiguous = ambiguous, is = methods::is,
        get(name, baseenv())
      )
    })
  }
  if (!identical(unname(found), rewritten_code$asked)) {
    own <- !mapply(identical, found, rewritten_code$asked)
    rm(list = names[own], envir = frame)
  }
  for (name in functions) makeActiveBinding(name, users_function(name, around), frame)
  frame
}

users_function <- function(name, around) {
  force(name)
  force(around)
  last <- NULL
  made <- NULL
  function(value) {
    if (!missing(value)) {
      # `<<-` changes the variable itself.
      assign(name, value, envir = variable_home(name, around))
      return(invisible(value))
    }
    found <- get(name, envir = around)
    if (!is.function(found)) {
      return(found)
    }
    if (!identical(found, last)) {
      made <<- if (isS4(found)) generic_of_plain(found) else rewritten(found)
      last <<- found
    }
    made
  }
}

variable_home <- function(name, around) {
  while (!identical(around, emptyenv()) && !exists(name, envir = around, inherits = FALSE)) {
    around <- parent.env(around)
  }
  if (identical(around, emptyenv())) globalenv() else around
}

# Those of `names` that are functions of the user, and the methods of these.
users_functions <- function(names, around) {
  names <- setdiff(names, names(control_functions))
  theirs <- Filter(function(name) {
    found <- get0(name, envir = around, mode = "function")
    is.function(found) && (is_users(found) || is_users_generic(found))
  }, names)
  generics <- Filter(function(name) {
    "UseMethod" %of% all.names(body(get(name, envir = around, mode = "function")))
  }, theirs)
  methods <- unlist(lapply(generics, function(name) {
    home <- variable_home(name, around)
    start <- paste0(name, ".")
    unique(c(
      Filter(function(other) startsWith(other, start), ls(around)),
      Filter(function(other) startsWith(other, start), ls(home))
    ))
  }))
  unique(c(theirs, methods))
}

# ---- what code does ----

head_of <- function(code) {
  head <- code[[1L]]
  if (is.name(head)) as.character(head) else if (is.character(head)) head[1L] else ""
}

is_empty <- function(part) identical(part, quote(expr = )) # nolint: spaces_inside_linter.

loop_heads <- c("for", "while", "repeat")

# The ways in which evaluation of code may leave it: "break", "next", "return".
escapes <- function(code) unique(.Call(joist_r_code_escapes, code))

# Variables of the frame that code assigns; functions in the code assign them by `<<-`.
assigned_in <- function(code, inner = TRUE) unique(.Call(joist_r_code_assigned, code, inner))

# How often each variable is read.
reads_in <- function(code) {
  names <- .Call(joist_r_code_reads, code)
  each <- unique(names)
  stats::setNames(tabulate(match(names, each), length(each)), each)
}

# Those in `all` that are read more often than in `part`.
read_elsewhere <- function(all, part) {
  own <- part[names(all)]
  own[is.na(own)] <- 0L
  names(all)[all > own]
}

# ---- rewriting ----

rewrite_closure <- function(f) {
  code <- body(f)
  defaults <- formals(f)
  whole <- as.call(c(quote(list), unname(as.list(defaults)), code))
  names <- unique(c(all.names(whole), .Call(joist_r_code_strings, whole)))
  words <- c(names, if (any(c("<-", "=") %of% names) && any(c("[", "[[") %of% names)) "[<-")
  # Functions that the code does not find by name: arguments, elements.
  changed <- any(flow_words %of% words) ||
    any(.Call(joist_r_code_called, code) %of% c("", names(defaults)))
  made <- if (changed) {
    rewrite_function(defaults, code, attr(f, "srcref"), NULL)
  } else {
    list(formals = defaults, code = code)
  }
  c(made, list(names = names, defaults = defaults, changed = changed))
}

# What is known of the function that code is in: `reads` and `locals`.
rewrite_function <- function(defaults, code, reference, up) {
  names <- names(defaults)
  # Variables that only functions written in the code are assigned to.
  literal <- setdiff(.Call(joist_r_code_whole, code, TRUE), .Call(joist_r_code_whole, code, FALSE))
  fun <- list(
    reads = reads_in(code),
    locals = union(setdiff(c(names, assigned_in(code)), literal), up$locals)
  )
  # R wants UseMethod() to be called by the function itself.
  native <- "UseMethod" %of% .Call(joist_r_code_called, code)
  context <- list(fun = fun, ref = reference, needed = TRUE, loops = 0L, native = native)
  if (native && length(names) > 0L) {
    context$dispatched <- as.name(if (names[1L] == "...") "..1" else names[1L])
  }
  code <- if (native || length(escapes(code)) == 0L) {
    expression_code(code, context)
  } else {
    parts <- list(parts = parts_of(code, context), call = code)
    call(".joist_run", list2env(parts, parent = emptyenv()))
  }
  if (is.call(code)) attr(code, "joist_rewritten") <- TRUE
  formals <- as.list(defaults)
  context$native <- TRUE
  for (k in seq_along(formals)) {
    if (is.call(formals[[k]])) formals[[k]] <- expression_code(formals[[k]], context)
  }
  list(formals = formals, code = code)
}

new_site <- function(kind, code, context) {
  reads <- reads_in(code)
  live <- read_elsewhere(context$fun$reads, reads)
  if (context$loops > 0L) live <- union(live, names(reads))
  # Parts of a loop that are branches are followed by further iterations.
  merged <- if (kind %of% loop_heads) union(live, names(reads)) else live
  list2env(list(
    kind = kind, call = code, ref = context$ref, needed = context$needed, live = live,
    merged = merged, escapes = escapes(code), dots = "..." %of% names(reads)
  ), parent = emptyenv())
}

# Code as one part, even if it has ways out.
one_part <- function(code, context) {
  own <- with_line(expression_code(code, context), context$ref)
  list(new_part("code", own))
}

# The parts of a statement. Neighbours without ways out are one part.
parts_of <- function(code, context) {
  if (length(escapes(code)) == 0L) {
    return(one_part(code, context))
  }
  if (head_of(code) != "{") {
    return(list(statement_part(code, context)))
  }
  leaves <- vapply(code, function(part) length(escapes(part)) > 0L, NA)[-1L]
  runs <- split(seq_along(leaves) + 1L, cumsum(leaves | c(TRUE, leaves[-length(leaves)])))
  unlist(unname(lapply(runs, function(at) {
    own <- context
    own$needed <- context$needed && length(code) %of% at
    if (!leaves[at[1L] - 1L]) {
      return(one_part(part_of_block(code, at), own))
    }
    references <- attr(code, "srcref")
    if (length(references) >= at) own$ref <- references[[at]]
    parts_of(code[[at]], own)
  })), recursive = FALSE)
}

part_of_block <- function(code, at) {
  part <- code[c(1L, at)]
  references <- attr(code, "srcref")
  if (length(references) >= max(at)) attr(part, "srcref") <- references[c(1L, at)]
  part
}

ways_out <- c("break", "next", "return")

part_kinds <- c("code", ways_out, "if", "loop", "inner")
if_kind <- 4L

# C knows the first four fields. The code of an `if` is its condition; `inner` code has ways out.
new_part <- function(kind, code, site = NULL) {
  list(
    kind = match(kind, part_kinds) - 1L, code = code, yes = site$yes, no = site$no, site = site
  )
}

statement_part <- function(code, context) {
  head <- head_of(code)
  if (head == "if") {
    site <- branch(code, context)
    return(new_part("if", site$condition, site))
  }
  if (head %of% loop_heads) {
    return(new_part("loop", NULL, loop(code, context)))
  }
  if (head == "switch" && is.name(code[[1L]]) && is_switch(code)) {
    return(new_part("loop", NULL, chosen_arm(code, context)))
  }
  if (head %of% ways_out) {
    value <- if (length(code) > 1L) valued(code[[2L]], context)
    return(new_part(head, with_line(value, context$ref)))
  }
  new_part("inner", with_line(expression_code(code, context), context$ref))
}

# A call of switch() that has its value first.
is_switch <- function(code) {
  length(code) > 2L && (is.null(names(code)) || names(code)[2L] %of% c("", "EXPR")) &&
    !is_empty(code[[2L]]) && !any(vapply(code, identical, NA, quote(...)))
}

# R's switch() chooses the number of an arm, `chosen`.
chosen_arm <- function(code, context) {
  site <- new_site("switch", code, context)
  at <- Filter(function(k) !is_empty(code[[k]]), seq_along(code)[-(1:2)])
  site$arms <- lapply(at, function(k) parts_of(code[[k]], context))
  code[[2L]] <- call(".joist_switch", site, valued(code[[2L]], context))
  code[at] <- seq_along(at)
  site$chosen <- with_line(code, context$ref)
  site
}

# Code in braces, with the line of the source that R notes for what is evaluated.
with_line <- function(code, reference) {
  if (is.null(reference)) code else in_braces(reference, code)
}

in_braces <- function(reference, ...) {
  braces <- as.call(list(quote(`{`), ...))
  if (!is.null(reference)) attr(braces, "srcref") <- rep(list(reference), length(braces))
  braces
}

block <- function(code, context) {
  references <- attr(code, "srcref")
  for (k in seq_along(code)[-1L]) {
    own <- context
    if (length(references) >= k) own$ref <- references[[k]]
    own$needed <- context$needed && k == length(code)
    part <- expression_code(code[[k]], own)
    if (!is.null(part)) code[[k]] <- part
  }
  code
}


valued <- function(code, context) {
  context$needed <- TRUE
  if (is.call(code)) expression_code(code, context) else code
}

branch <- function(code, context, parts = parts_of) {
  site <- new_site("if", code, context)
  site$yes <- parts(code[[3L]], context)
  site$no <- if (length(code) > 3L) parts(code[[4L]], context) else list()
  site$yes_always <- .Call(joist_r_code_always_escapes, code[[3L]])
  site$leaves <- site$yes_always ||
    length(code) > 3L && .Call(joist_r_code_always_escapes, code[[4L]])
  site$condition <- with_line(valued(code[[2L]], context), context$ref)
  site
}

native_branch <- function(code, context) {
  site <- branch(code, context, one_part)
  no <- if (length(site$no) > 0L) site$no[[1L]]$code else quote(.joist_nothing())
  call(
    "switch", call(".joist_if", site, site$condition), site$yes[[1L]]$code, no,
    quote(.joist_value())
  )
}

loop <- function(code, context, parts = parts_of) {
  head <- head_of(code)
  site <- new_site(head, code, context)
  at <- switch(head, "for" = 4L, "while" = 3L, "repeat" = 2L)
  site$assigned <- assigned_in(code)
  site$direct <- assigned_in(code, FALSE)
  site$ways <- ways_in(code)
  site$endless <- FALSE
  inner <- context
  inner$needed <- FALSE
  inner$loops <- context$loops + 1L
  site$body <- parts(code[[at]], inner)
  if (head == "for") {
    site$variable <- as.character(code[[2L]])
    values <- valued(code[[3L]], context)
    if (is.call(values) && head_of(values) == ":") {
      values <- as.call(c(quote(.joist_range), site, as.list(values)[-1L]))
    }
    site$values <- with_line(values, context$ref)
    site$counted <- is_counting(code[[3L]])
  } else {
    condition <- if (head == "while") code[[2L]] else TRUE
    site$given <- assigned_in(condition)
    site$condition <- with_line(valued(condition, context), context$ref)
    site$endless <- isTRUE(condition)
  }
  site
}

# The ways to leave a loop that are in it.
ways_in <- function(code) unique(unlist(lapply(as.list(code)[-1L], escapes)))

# A loop as an expression. One with ways out runs its parts; R itself runs others over R values.
native_loop <- function(code, context) {
  ways <- ways_in(code)
  if (length(ways) > 0L && !context$native) {
    run <- call(".joist_loop", loop(code, context))
    left <- native_leave(quote(return(.joist_value())), "return", context)
    nothing <- quote(.joist_nothing())
    return(as.call(c(quote(switch), run, nothing, if ("return" %of% ways) left)))
  }
  site <- loop(code, context, one_part)
  site$stuck <- length(ways) > 0L
  head <- head_of(code)
  turns <- switch(head,
    "for" = call("for", code[[2L]], quote(.joist_taken()), site$body[[1L]]$code),
    "while" = call("while", call(".joist_while", site, site$condition), site$body[[1L]]$code),
    "repeat" = call("repeat", site$body[[1L]]$code)
  )
  finish <- call(".joist_end", site)
  if (head == "for") {
    turns <- in_braces(context$ref, turns, finish)
    return(call("switch", call(".joist_for", site, site$values), turns, quote(.joist_nothing())))
  }
  in_braces(context$ref, call(".joist_start", site), turns, finish)
}

# Of code that a node evaluates; a native function has no nodes.
native_leave <- function(code, head, context) {
  value <- if (length(code) > 1L) valued(code[[2L]], context)
  if (!context$native) {
    return(call("return", call(".joist_leave", head, value)))
  }
  if (!is.null(value)) code[[2L]] <- value
  code
}

# A call of nv_seq_len() or seq_len().
is_counting <- function(code) {
  name <- if (is.call(code)) code[[1L]]
  if (is.call(name) && head_of(name) %of% c("::", ":::")) name <- name[[3L]]
  is.name(name) && as.character(name) %of% c("nv_seq_len", "seq_len")
}

# Code of an expression.
expression_code <- function(code, context) {
  if (!is.call(code)) {
    return(code)
  }
  head <- head_of(code)
  if (head == "on.exit") {
    return(call("{", call(".joist_exit", new_site(head, code, context)), code))
  }
  if (.Call(joist_r_code_quotes, code)) {
    return(code)
  }
  if (head == "{") {
    return(block(code, context))
  }
  if (!head %of% c("if", loop_heads)) context$needed <- TRUE
  switch(head,
    "function" = inner_function(code, context),
    "if" = native_branch(code, context),
    "for" = ,
    "while" = ,
    "repeat" = native_loop(code, context),
    "break" = ,
    "next" = ,
    "return" = native_leave(code, head, context),
    "UseMethod" = dispatching(call_code(code, head, context), context),
    "local" = if (length(code) == 2L) local_code(code, context) else call_code(code, head, context),
    "&&" = ,
    "||" = lazy_operator(code, head, context),
    "$" = ,
    "@" = {
      code[[2L]] <- expression_code(code[[2L]], context)
      code
    },
    "[" = ,
    "[[" = part_code(code, head, context),
    "switch" = {
      code <- call_code(code, head, context)
      if (length(code) > 1L) {
        code[[2L]] <- call(".joist_switch", new_site("switch", code, context), code[[2L]])
      }
      code
    },
    "<-" = ,
    "=" = ,
    "<<-" = assignment(code, context),
    call_code(code, head, context)
  )
}

inner_function <- function(code, context) {
  defaults <- as.list(code[[2L]])
  made <- rewrite_function(defaults, code[[3L]], context$ref, context$fun)
  if (length(defaults) > 0L) code[[2L]] <- as.pairlist(made$formals)
  if (!is.null(made$code)) code[[3L]] <- made$code
  code
}

local_code <- function(code, context) {
  body <- as.call(list(quote(`function`), NULL, code[[2L]]))
  call(".joist_local", inner_function(body, context), call_code(code, "local", context))
}

call_code <- function(code, head, context) {
  for (k in seq_along(code)[-1L]) {
    if (is.call(code[[k]])) code[[k]] <- expression_code(code[[k]], context)
  }
  if (head == "") {
    if (is_asked_of_package(code[[1L]])) {
      code[[1L]] <- as.name(paste0(".joist_", code[[1L]][[3L]]))
    } else if (is.call(code[[1L]]) && !is_known_function(code[[1L]])) {
      code[[1L]] <- call(".joist_function", expression_code(code[[1L]], context))
    }
  } else if (head %of% context$fun$locals && !is.primitive(get0(head, baseenv()))) {
    code[[1L]] <- call(".joist_function", code[[1L]])
  }
  code
}

# A part of what may be a vector of R, at positions that may be traced: these are evaluated twice
# where all of them are repeatable, and otherwise once.
part_code <- function(code, head, context) {
  positions <- Filter(Negate(is_empty), as.list(code)[-(1:2)])
  looked <- is.null(names(code)) && length(positions) > 0L && is_repeatable(code[[2L]]) &&
    all(vapply(c(list(code[[2L]]), positions), is_plain_part, NA))
  repeatable <- all(vapply(positions, is_repeatable, NA))
  code <- call_code(code, head, context)
  if (!looked) {
    return(code)
  }
  part <- as.name(if (repeatable) ".joist_part" else ".joist_part_once")
  as.call(c(part, code, code[[2L]], Filter(Negate(is_empty), as.list(code)[-(1:2)])))
}

is_plain_part <- function(code) !is.language(code) || is_plain_index(code)

# UseMethod() looks at what the plain run has; methods get the arguments themselves.
dispatching <- function(code, context) {
  if (length(code) == 2L && !is.null(context$dispatched)) code[[3L]] <- context$dispatched
  if (length(code) == 3L) code[[3L]] <- call(".joist_dispatched", code[[3L]])
  code
}

# Questions about R numbers are answered alike with and without the name of their package.
is_asked_of_package <- function(code) {
  is.call(code) && head_of(code) %of% c("::", ":::") &&
    as.character(code[[2L]]) %of% c("base", "methods", "joist") &&
    as.character(code[[3L]]) %of% setdiff(names(questions_of_numbers), "identical")
}

# pkg::f of a package whose functions are left alone.
is_known_function <- function(code) {
  head_of(code) %of% c("::", ":::") && as.character(code[[2L]]) %of% packages_left_alone
}

lazy_operator <- function(code, head, context) {
  site <- new_site(head, code, context)
  site$right <- one_part(code[[3L]], context)
  site$simple <- is_harmless(code[[3L]])
  call(
    ".joist_lazy", site, expression_code(code[[2L]], context), expression_code(code[[3L]], context)
  )
}

# Code that computes a bool without an error and at little cost, so that it may always run.
is_harmless <- function(code) {
  if (!is.call(code)) {
    return(TRUE)
  }
  head <- head_of(code)
  harmless <- c("(", "!", "<", ">", "<=", ">=", "==", "!=", "+", "-", "*", "&", "|", "&&", "||")
  head %of% harmless && all(vapply(as.list(code)[-1L], is_harmless, NA))
}

assignment <- function(code, context) {
  target <- code[[2L]]
  value <- if (is.call(code[[3L]])) expression_code(code[[3L]], context) else code[[3L]]
  if (is.call(target)) {
    target <- target_code(target, context)
    if (head_of(target) %of% c("[", "[[") && is_repeatable_target(target[[2L]])) {
      site <- new_site("assign", code, context)
      site$target <- target[[2L]]
      if (head_of(target) == "[[" && !is.call(target[[3L]])) site$one <- target[[3L]]
      for (k in seq_along(target)[-(1:2)]) {
        if (!is_plain_index(target[[k]])) next
        index <- target[[k]]
        site$index <- c(site$index, list(index))
        if (is_repeatable(index)) next
        site$once <- c(site$once, length(site$index))
        target[[k]] <- call(".joist_at", site, length(site$index), index)
      }
      value <- call(".joist_fit", site, value)
    }
    code[[2L]] <- target
  }
  if (!is.null(value)) code[[3L]] <- value
  code
}

target_code <- function(target, context) {
  if (is.call(target[[2L]])) target[[2L]] <- target_code(target[[2L]], context)
  if (!head_of(target) %of% c("$", "@")) {
    for (k in seq_along(target)[-(1:2)]) {
      if (is.call(target[[k]])) target[[k]] <- expression_code(target[[k]], context)
    }
  }
  target
}

# Whether an index may be evaluated twice: nothing in it calls other functions.
is_repeatable <- function(code) {
  !is.call(code) || is_plain_index(code) && all(vapply(as.list(code)[-1L], is_repeatable, NA))
}

is_repeatable_target <- function(code) {
  !is.call(code) || is_repeatable_target(code[[2L]]) &&
    all(vapply(as.list(code)[-(1:2)], is_repeatable, NA))
}

# Indices that are looked at.
is_plain_index <- function(code) {
  if (is_empty(code)) {
    return(FALSE)
  }
  if (!is.call(code)) {
    return(is.name(code))
  }
  harmless <- c(
    "(", "+", "-", "*", "%/%", "%%", "<", ">", "<=", ">=", "==", "!=", "!", "&", "|", "c", "[",
    "[[", "$", ":", "length", "abs", "floor", "max", "min", "which.max", "which.min", "nv_convert"
  )
  head_of(code) %of% harmless && !any(vapply(as.list(code)[-1L], is_empty, NA))
}
