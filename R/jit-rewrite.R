# The form in which functions are traced: their control flow calls the functions of control_flow.R
# instead of R's. A condition, loop or assignment becomes a *site*, an environment with its code and
# what is known about that before anything runs. On R values the code does what it did before, in
# its own frame; a traced condition runs the *nodes* of a site, its statements one by one.

# ---- which functions are rewritten ----

# R's own packages, and some that look into the code they are given.
packages_left_alone <- c(
  "base", "boot", "class", "cluster", "codetools", "compiler", "covr", "datasets", "foreign",
  "graphics", "grDevices", "grid", "KernSmooth", "knitr", "lattice", "MASS", "Matrix",
  "methods", "mgcv", "nlme", "nnet", "parallel", "rlang", "rpart", "spatial", "splines", "stats",
  "stats4", "survival", "tcltk", "testthat", "tools", "utils"
)

is_users <- function(f) {
  if (typeof(f) != "closure" || inherits(f, "joist_jit")) {
    return(FALSE)
  }
  if (identical(environment(f), topenv(matchThisEnv = NULL))) {
    return(FALSE)
  }
  home <- topenv(environment(f), matchThisEnv = NULL)
  if (isNamespace(home)) {
    return(match(getNamespaceName(home), packages_left_alone, 0L) == 0L)
  }
  !identical(home, baseenv())
}

# The words for which a function is rewritten.
flow_words <- c(
  "if", "while", "for", "repeat", "&&", "||", "switch", "UseMethod", "Recall", "[<-", "<<-", "c",
  "max", "min", "sum", "prod", "range", "any", "all"
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
  if (!known$changed && length(functions) == 0L) {
    return(f)
  }
  made <- as.function(c(known$formals, list(known$code)), envir = shim(around, functions))
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
      made <<- rewritten(found)
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
    is.function(found) && is_users(found)
  }, names)
  generics <- Filter(function(name) {
    "UseMethod" %in% all.names(body(get(name, envir = around, mode = "function")))
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
assigned_in <- function(code) unique(.Call(joist_r_code_assigned, code))

# What `<<-` assigns, outside of functions written in the code.
super_assigned <- function(code) unique(.Call(joist_r_code_super_assigned, code))

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
  words <- c(names, if (any(c("<-", "=") %in% names) && any(c("[", "[[") %in% names)) "[<-")
  # Functions that the code does not find by name: arguments, elements.
  changed <- any(flow_words %in% words) ||
    any(.Call(joist_r_code_called, code) %in% c("", names(defaults)))
  made <- if (changed) {
    rewrite_function(defaults, code, attr(f, "srcref"), NULL)
  } else {
    list(formals = defaults, code = code)
  }
  c(made, list(names = names, defaults = defaults, changed = changed))
}

# What is known of the function that code is in: `reads`, `locals`, and its `arguments`.
rewrite_function <- function(defaults, code, reference, up) {
  names <- names(defaults)
  # Variables that only functions written in the code are assigned to.
  literal <- setdiff(.Call(joist_r_code_whole, code, TRUE), .Call(joist_r_code_whole, code, FALSE))
  fun <- list2env(list(
    reads = reads_in(code), arguments = union(names, up$arguments), loops = 0L,
    locals = union(setdiff(c(names, assigned_in(code)), literal), up$locals)
  ), parent = emptyenv())
  context <- list(
    fun = fun, ref = reference, needed = TRUE, loops = 0L,
    chain = list(nodes = list(), loop = NULL, up = NULL)
  )
  code <- statement(code, context)$native
  if (is.call(code)) attr(code, "joist_rewritten") <- TRUE
  formals <- as.list(defaults)
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
  merged <- if (kind %in% loop_heads) union(live, names(reads)) else live
  list2env(list(
    kind = kind, call = code, ref = context$ref, needed = context$needed, live = live,
    merged = merged,
    forced = intersect(names(reads), context$fun$arguments), escapes = escapes(code),
    chain = context$chain, start = NULL
  ), parent = emptyenv())
}

# A statement as R evaluates it, `native`, and as a list of nodes.
statement <- function(code, context) {
  if (!is.call(code)) {
    return(leaf(code, code, context))
  }
  head <- head_of(code)
  leaves <- escapes(code)
  if (head == "{") {
    return(block(code, context))
  }
  made <- switch(head,
    "if" = branch(code, context),
    "for" = ,
    "while" = ,
    "repeat" = loop(code, context),
    "break" = ,
    "next" = list(native = code, nodes = list(flow_node(head, code))),
    "return" = {
      value <- if (length(code) > 1L) expression_code(code[[2L]], context)
      native <- code
      if (length(code) > 1L) native[[2L]] <- value
      node <- flow_node("return", code, code = with_line(value, context$ref))
      list(native = native, nodes = list(node))
    },
    NULL
  )
  if (is.null(made)) {
    return(leaf(expression_code(code, context), code, context))
  }
  if (length(leaves) == 0L) leaf(made$native, code, context) else made
}

leaf <- function(native, code, context) {
  own <- if (length(escapes(code)) > 0L) left_by_call(native) else native
  head <- if (is.call(code)) head_of(code) else ""
  node <- flow_node(
    "leaf", code,
    code = with_line(own, context$ref), ref = context$ref, raises = head == "stop",
    exits = head == "on.exit"
  )
  list(native = native, nodes = list(node))
}

# A statement of a body: variables that it assigns, in the frame and (`supers`) around it, and what
# its type needs.
flow_node <- function(type, source, ...) {
  list(type = type, ..., assigned = assigned_in(source), supers = super_assigned(source))
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

# `break`, `next` and `return()` within an expression, for code that is evaluated by a node.
left_by_call <- function(code, loops = FALSE) {
  if (!is.call(code)) {
    return(code)
  }
  head <- head_of(code)
  if (head == "function" || .Call(joist_r_code_quotes, code)) {
    return(code)
  }
  if (head %in% c("break", "next")) {
    return(if (loops) code else bquote(return(.joist_leave(.(head)))))
  }
  inner <- loops || head %in% loop_heads
  for (k in seq_along(code)) {
    if (is.call(code[[k]])) code[[k]] <- left_by_call(code[[k]], inner)
  }
  if (head == "return") {
    value <- if (length(code) > 1L) code[[2L]]
    return(bquote(return(.joist_leave("return", .(value)))))
  }
  code
}

block <- function(code, context) {
  references <- attr(code, "srcref")
  natives <- code
  nodes <- list()
  for (k in rev(seq_along(code)[-1L])) {
    own <- context
    if (length(references) >= k) own$ref <- references[[k]]
    own$needed <- context$needed && k == length(code)
    if (!is.null(own$chain)) own$chain$nodes <- c(nodes, own$chain$nodes)
    made <- statement(code[[k]], own)
    if (!is.null(made$native)) natives[[k]] <- made$native
    nodes <- c(made$nodes, nodes)
  }
  list(native = natives, nodes = nodes)
}

branch <- function(code, context) {
  site <- new_site("if", code, context)
  made <- list(statement(code[[3L]], context))
  if (length(code) > 3L) made[[2L]] <- statement(code[[4L]], context)
  site$yes <- made[[1L]]$nodes
  site$no <- if (length(made) > 1L) made[[2L]]$nodes else list()
  site$yes_always <- .Call(joist_r_code_always_escapes, code[[3L]])
  site$no_always <- length(code) > 3L && .Call(joist_r_code_always_escapes, code[[4L]])
  condition <- expression_code(code[[2L]], context)
  site$condition <- with_line(condition, context$ref)
  arms <- list(
    made[[1L]]$native, if (length(made) > 1L) made[[2L]]$native else quote(.joist_nothing()),
    quote(.joist_value())
  )
  if (length(site$escapes) > 0L && !is.null(context$chain)) {
    in_loop <- !is.null(context$chain$loop)
    arms <- c(arms, quote(return(.joist_value())), if (in_loop) quote(break))
  }
  native <- as.call(c(quote(switch), call(".joist_if", site, condition), arms))
  list(native = native, nodes = list(flow_node("if", code, site = site)))
}

loop <- function(code, context) {
  head <- head_of(code)
  site <- new_site(head, code, context)
  site$endless <- FALSE
  at <- switch(head, "for" = 4L, "while" = 3L, "repeat" = 2L)
  ways <- unique(unlist(lapply(as.list(code)[-1L], escapes)))
  returns <- "return" %in% ways
  inner <- context
  inner$needed <- FALSE
  inner$loops <- context$loops + 1L
  inner$chain <- list(nodes = list(), loop = site, up = if (returns) context$chain)
  site$ways <- ways
  body <- statement(code[[at]], inner)
  site$body <- body$nodes
  site$assigned <- assigned_in(code)
  site$supers <- super_assigned(code)
  finish <- call(".joist_end", site)
  if (returns) finish <- bquote(switch(.(finish), return(.joist_value()), .joist_nothing()))
  native <- if (head == "for") {
    native_for(code, site, body$native, finish, context)
  } else {
    condition <- if (head == "while") code[[2L]] else TRUE
    site$endless <- isTRUE(condition)
    site$given <- assigned_in(condition)
    condition <- expression_code(condition, context)
    site$condition <- with_line(condition, context$ref)
    turns <- if (head == "while") {
      call("while", call(".joist_while", site, condition), body$native)
    } else {
      call("repeat", body$native)
    }
    in_braces(context$ref, call(".joist_start", site), turns, finish)
  }
  list(native = native, nodes = list(flow_node("loop", code, site = site)))
}

native_for <- function(code, site, body, finish, context) {
  site$variable <- as.character(code[[2L]])
  values <- expression_code(code[[3L]], context)
  if (is.call(values) && head_of(values) == ":") {
    values <- as.call(c(quote(.joist_range), site, as.list(values)[-1L]))
  }
  site$values <- with_line(values, context$ref)
  site$counted <- is_counting(code[[3L]])
  if (length(site$ways) > 0L) {
    context$fun$loops <- context$fun$loops + 1L
    site$record <- paste0(".joist_loop_", context$fun$loops)
    body <- in_braces(context$ref, call(".joist_turn", as.name(site$record)), body)
  }
  turns <- in_braces(context$ref, call("for", code[[2L]], quote(.joist_taken()), body), finish)
  arms <- list(turns, quote(.joist_nothing()), quote(return(.joist_value())))
  as.call(c(quote(switch), call(".joist_for", site, values), arms))
}

# A call of nv_seq_len() or seq_len().
is_counting <- function(code) {
  name <- if (is.call(code)) code[[1L]]
  if (is.call(name) && head_of(name) %in% c("::", ":::")) name <- name[[3L]]
  is.name(name) && as.character(name) %in% c("nv_seq_len", "seq_len")
}

# Code of an expression, whose `break`, `next` and `return()` leave more than itself.
expression_code <- function(code, context) {
  if (!is.call(code)) {
    return(code)
  }
  head <- head_of(code)
  if (.Call(joist_r_code_quotes, code)) {
    return(code)
  }
  context$chain <- NULL
  context$needed <- TRUE
  switch(head,
    "function" = inner_function(code, context),
    "{" = block(code, context)$native,
    "if" = branch(code, context)$native,
    "for" = ,
    "while" = ,
    "repeat" = loop(code, context)$native,
    "&&" = ,
    "||" = lazy_operator(code, head, context),
    "$" = ,
    "@" = {
      code[[2L]] <- expression_code(code[[2L]], context)
      code
    },
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

call_code <- function(code, head, context) {
  for (k in seq_along(code)[-1L]) {
    if (is.call(code[[k]])) code[[k]] <- expression_code(code[[k]], context)
  }
  if (head == "") {
    if (is.call(code[[1L]]) && !is_known_function(code[[1L]])) {
      code[[1L]] <- call(".joist_function", expression_code(code[[1L]], context))
    }
  } else if (head %in% context$fun$locals && !is.primitive(get0(head, baseenv()))) {
    code[[1L]] <- call(".joist_function", code[[1L]])
  }
  code
}

# pkg::f of a package whose functions are left alone.
is_known_function <- function(code) {
  head_of(code) %in% c("::", ":::") && as.character(code[[2L]]) %in% packages_left_alone
}

lazy_operator <- function(code, head, context) {
  site <- new_site(head, code, context)
  right <- expression_code(code[[3L]], context)
  node <- flow_node("leaf", code[[3L]], code = with_line(right, context$ref), exits = FALSE)
  site$right <- list(node)
  site$simple <- is_harmless(code[[3L]])
  call(".joist_lazy", site, expression_code(code[[2L]], context), right)
}

# Code that computes a bool without an error and at little cost, so that it may always run.
is_harmless <- function(code) {
  if (!is.call(code)) {
    return(TRUE)
  }
  head <- head_of(code)
  harmless <- c("(", "!", "<", ">", "<=", ">=", "==", "!=", "+", "-", "*", "&", "|", "&&", "||")
  head %in% harmless && all(vapply(as.list(code)[-1L], is_harmless, NA))
}

assignment <- function(code, context) {
  target <- code[[2L]]
  value <- if (is.call(code[[3L]])) expression_code(code[[3L]], context) else code[[3L]]
  if (is.call(target)) {
    target <- target_code(target, context)
    if (head_of(target) %in% c("[", "[[")) {
      site <- new_site("assign", code, context)
      site$target <- target[[2L]]
      site$index <- Filter(is_plain_index, as.list(target)[-(1:2)])
      value <- call(".joist_fit", site, value)
    }
    code[[2L]] <- target
  }
  if (!is.null(value)) code[[3L]] <- value
  code
}

target_code <- function(target, context) {
  if (is.call(target[[2L]])) target[[2L]] <- target_code(target[[2L]], context)
  if (!head_of(target) %in% c("$", "@")) {
    for (k in seq_along(target)[-(1:2)]) {
      if (is.call(target[[k]])) target[[k]] <- expression_code(target[[k]], context)
    }
  }
  target
}

# Indices that may be evaluated twice.
is_plain_index <- function(code) {
  if (is_empty(code)) {
    return(FALSE)
  }
  if (!is.call(code)) {
    return(is.name(code))
  }
  head_of(code) %in% c("(", "+", "-", "*", "c", "[", "[[", "$", ":", "length", "nv_convert") &&
    !any(vapply(as.list(code)[-1L], is_empty, NA))
}
