# Calls of all functions of base and stats on a traced tensor, beside the plain run: each gives
# what the plain run gives, or an error. Left out are functions that do something to the session, to
# files or to the search path, or wait.

traced_left_out <- paste0("^(", paste(c(
  "q", "quit", "browser.*", "readline", "readLines", "scan", "Sys[.].*", "system.*", "shell.*",
  "file.*", "dir[.].*", "unlink", "setwd", "list[.](files|dirs)", "open.*", "close.*", "sink.*",
  "socket.*", "url.*", "pipe", "fifo", "gz.*", "bz.*", "xz.*", "unz.*", "raw(Connection.*)",
  "std.*", "textConnection.*", "getConnection", "showConnections", "isatty", "nsl",
  "serverSocket", "pushBack.*", "clearPushBack", "flush.*", "seek.*", "truncate.*", "write.*",
  "read.*", "save.*", "load.*", "sys[.].*", "source", "dump.*", "dput", "dget", "cat", "print.*",
  "message", "warning.*", "stop", "signalCondition", "invokeRestart.*", "computeRestarts",
  "withCallingHandlers", "globalCallingHandlers", "tryInvokeRestart", "on[.]exit", "options",
  "rm", "remove", "attach.*", "detach", "library.*", "require.*", "use", "unloadNamespace",
  "register.*", "assign", "delayedAssign", "makeActiveBinding", "lock.*", "unlock.*",
  "environment<-", "env[.].*", "gc.*", "mem.*", "tracemem", "untracemem", "retracemem", "trace.*",
  "untrace", "debug.*", "undebug", "isdebugged", "set[.]seed", "RNG.*", "repeat", "while", "for",
  "if", "function", "break", "next", "return", "Recall", "eval.*", "taskCallback.*",
  "addTaskCallback", "removeTaskCallback.*", "reg[.]finalizer", "bindtextdomain",
  "closeAllConnections", "date", "proc[.]time", "system[.]time", "[.].*", "enableJIT",
  "compilePKGS", "Rprof.*", "setTimeLimit", "setSessionTimeLimit", "suspendInterrupts",
  "allowInterrupts", "interaction[.]plot", "plot.*", "biplot", "heatmap", "screeplot", "termplot",
  "scatter[.]smooth", "lag[.]plot", "monthplot", "ts[.]plot", "cpgram", "tsdiag", "ecdf", "R_.*",
  "r[a-z]+", "sample.*", "tempfile", "tempdir", "Cstack_info", "La_.*", "chkDots",
  "extSoftVersion", "libcurl.*", "curlGetHeaders", "search.*", "loadedNamespaces", "dyn[.].*",
  "libpcre.*", "pcre_config", "l10n_info", "icu.*", "Negate", "Vectorize", "commandArgs",
  "conflicts.*", "ls", "objects", "builtins", "nargs", "parent[.].*", "topenv", "version", "T",
  "F", "as[.]environment", "list2env", "pos[.]to[.]env", "emptyenv", "globalenv", "new[.]env",
  "getNamespace.*", "asNamespace", "attachNamespace", "Date", "mapply", "bindingIs.*", "kernel",
  "packageEvent", "setHook", "getHook", "packageStartupMessage", "UseMethod", "NextMethod",
  "standardGeneric", "forceAndCall", "missing", "match[.]arg", "match[.]call", "Exec",
  "balancePOSIXlt"
), collapse = "|"), ")$")

traced_functions <- function() {
  names <- sort(unique(c(ls(baseenv()), getNamespaceExports("stats"))))
  names <- names[!grepl(traced_left_out, names) & !grepl("<-", names, fixed = TRUE)]
  Filter(function(name) is.function(get(name)), names)
}

# Calls of one and of two arguments.
traced_calls <- function() {
  unlist(lapply(traced_functions(), function(name) {
    f <- as.name(name)
    list(call("(", as.call(list(f, quote(x)))), call("(", as.call(list(f, quote(x), 2))))
  }))
}

holds_traced <- function(value) {
  if (is.call(value)) value <- as.list(value)
  joist:::is_traced(value) || is.list(value) && any(vapply(unclass(value), holds_traced, NA))
}

# NULL if the call on a traced tensor gives what the plain run gives, or is an error; otherwise what
# differs.
traced_call_difference <- function(call, x) {
  old <- options() # table() leaves others behind, after an error
  on.exit(options(old))
  quietly <- function(expr) {
    suppressWarnings(suppressMessages(tryCatch(expr, error = function(e) e)))
  }
  is_result <- function(value) {
    is_tensor(value) || joist:::is_traced(value) || is.list(value) && !is.object(value)
  }
  captured <- NULL
  f <- eval(bquote(function(x) {
    value <- .(call)
    captured <<- list(value)
    if (is_result(value)) value else x
  }))
  utils::capture.output(expected <- quietly(eval(call, list(x = x))))
  utils::capture.output(got <- quietly(jit(f)(x)))
  value <- captured[[1L]]
  # unclass(x), data frames: nothing has read the elements.
  unread <- !is_tensor(value) && holds_traced(value)
  if (inherits(expected, "error") || inherits(got, "error") || unread) {
    return(NULL)
  }
  if (!joist:::is_traced(value) && !is_result(expected)) got <- value
  texts <- vapply(list(expected, got), function(value) {
    text <- tryCatch(traced_text(value), error = function(e) deparse(value))
    paste(text, collapse = " ")
  }, "")
  if (identical(got, expected) || identical(texts[1L], texts[2L])) {
    return(NULL)
  }
  texts <- substr(texts, 1L, 80L)
  paste0(deparse1(call), ": ", texts[1L], "; traced: ", texts[2L])
}
