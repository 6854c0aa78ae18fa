# Times every exported function and every method for tensors beside its counterpart in R, at 1e3,
# 1e5 and 1e6 elements, with and without NA, and lists the calls that are much slower:
#
#   R_LIBS=<library with joist> R --vanilla --no-echo -f bench/cliffs.R [--args names...]
#
# Takes less than ten minutes. A call may take twice the time of its counterpart and 15 us, but for
# the exceptions of bench/cliffs_exceptions.csv; one that seems too slow is timed again, in turns
# with its counterpart, and the least time of each counts. The 15 us are for the call itself, which
# costs the same at every size: dim(), `[[` or diag() look at no array or at little of it, and
# beside R's primitives of 0.1 to 5 us no method can be within twice their time. They hide no loop:
# 1e6 elements that a call looks at needlessly take longer. The times go to
# bench/results/cliffs.csv if all were measured, where those of the last run are what this one is
# compared with. Exit status 1 if a call is too slow, or if a function of NAMESPACE has neither a
# case nor a reason here.
suppressMessages(library(joist))
wanted <- commandArgs(TRUE)
sizes <- c(1e3, 1e5, 1e6)
file <- "bench/results/cliffs.csv"

# ---- what to call: those of NAMESPACE, so that none is forgotten ----

lines <- parse("NAMESPACE")
directive <- vapply(lines, function(line) as.character(line[[1L]]), "")
exports <- unlist(lapply(lines[directive %in% c("export", "exportMethods")], function(line) {
  as.character(line[-1L])
}))
methods <- lapply(lines[directive == "S3method"], function(line) as.character(line[-1L]))
methods <- unlist(lapply(methods, function(m) if (length(m) == 2L && m[2L] == "nv_tensor") m[1L]))
methods <- methods[!grepl("::", methods, fixed = TRUE)]
everything <- sort(unique(c(exports, methods)))

# Cases that the names do not give: a call, and that of R where it is another one. The operands are
# tensors x and y (not 0), shares p, positions i, a matrix m, a small square matrix s, groups g and
# bools l.
given <- read.csv("bench/cliffs_cases.csv", colClasses = "character")

table <- joist:::op_table()
is_function <- function(name) {
  nzchar(name) && (exists(name, baseenv(), mode = "function", inherits = FALSE) ||
    exists(name, asNamespace("stats"), mode = "function", inherits = FALSE))
}
call_text <- function(f, operands) {
  if (make.names(f) != f) f <- paste0("`", f, "`")
  paste0(f, "(", operands, ")")
}

# The calls of a name: of joist and of R, or why there is none.
case_of <- function(name) {
  at <- match(name, given$name)
  if (!is.na(at)) {
    own <- given[at, ]
    return(c(own$joist, if (nzchar(own$base)) own$base else own$joist, own$reason))
  }
  op <- sub("^nv_(reduce_)?", "", name)
  at <- match(op, table$name)
  operands <- if (!is.na(at) && table$least[at] == 2L || name %in% binary) "x, y" else "x"
  base <- if (!is.na(at) && is_function(table$generic[at])) table$generic[at] else op
  if (is_function(base)) c(call_text(name, operands), call_text(base, operands), "") else NULL
}
binary <- c("!=", "%%", "%/%", "&", "|", "*", "+", "-", "/", "<", "<=", "==", ">", ">=", "^",
            "%in%", "atan2", "pmax", "pmin", "match", "c", "cbind", "rbind", "nv_concatenate")

# ---- operands ----

operands_of <- function(n, type, missing) {
  set.seed(n)
  side <- floor(sqrt(n))
  x <- switch(type, f64 = runif(n, 0.1, 0.9), i32 = sample.int(1000L, n, TRUE))
  y <- rev(x)
  p <- if (type == "f64") x else runif(n, 0.1, 0.9)
  if (missing) x[c(2, n %/% 2)] <- p[c(2, n %/% 2)] <- NA
  plain <- list(
    x = x, y = y, p = p, i = sample.int(n), l = rev(y > median(y)), g = sample.int(100L, n, TRUE),
    m = matrix(x[seq_len(side^2)], side), s = crossprod(matrix(runif(40000, 0.1, 1), 200)), n = n
  )
  typed <- lapply(plain, nv_tensor)
  typed[c("x", "y", "m")] <- lapply(plain[c("x", "y", "m")], nv_tensor, dtype = type)
  typed[c("s", "p")] <- lapply(plain[c("s", "p")], nv_tensor, dtype = "f64")
  typed$n <- n
  # From the namespace of stats, functions are R's own, not the generics that joist attaches.
  own <- list2env(plain, parent = asNamespace("stats"))
  list(joist = list2env(typed, parent = globalenv()), base = own)
}

# system.time() would collect garbage each time.
seconds_of <- function(call, frame, times) {
  start <- Sys.time()
  eval(bquote(for (k in seq_len(.(times))) .(call)), frame)
  as.numeric(Sys.time()) - as.numeric(start)
}

# The least time of a call, in us; NA if it is an error.
time_of <- function(call, frame) {
  once <- tryCatch(seconds_of(call, frame, 1L), error = function(e) NA)
  if (is.na(once)) return(NA)
  times <- max(1L, min(500L, as.integer(1e-3 / max(once, 1e-6))))
  repeats <- if (once > 0.05) 1L else 4L
  least <- min(vapply(seq_len(repeats), function(k) seconds_of(call, frame, times) / times, 0))
  1e6 * if (times == 1L) min(once, least) else least
}

# ---- measuring ----

allowed <- function(base_us) 2 * base_us + 15

# The least times, in us, of a call and of its counterpart, or NA where one of them fails.
times_of <- function(calls, both) {
  took <- c(Inf, Inf)
  for (turn in 1:6) {
    took <- base::pmin(took, suppressWarnings(suppressMessages(
      c(time_of(calls[[1L]], both$joist), time_of(calls[[2L]], both$base))
    )))
    if (anyNA(took) || took[1L] <= allowed(took[2L])) break
  }
  took
}

cases <- list()
lacking <- character()
for (name in everything) {
  case <- case_of(name)
  if (is.null(case)) lacking <- c(lacking, name) else if (!nzchar(case[3L])) cases[[name]] <- case
}
if (length(lacking) > 0L) {
  cat("no case and no reason in bench/cliffs_cases.csv:", lacking, fill = 100)
}
if (length(wanted) > 0L) cases <- cases[intersect(wanted, names(cases))]

found <- list()
slow <- character() # at a smaller size already
limit <- as.numeric(Sys.getenv("JOIST_BENCH_SECONDS", "600"))
start <- Sys.time()
for (n in sizes) for (type in c("f64", "i32")) for (missing in c(FALSE, TRUE)) {
  both <- operands_of(n, type, missing)
  for (name in setdiff(names(cases), slow)) {
    if (difftime(Sys.time(), start, units = "secs") > limit) break
    took <- times_of(lapply(cases[[name]][1:2], str2lang), both)
    if (anyNA(took)) next # not for such operands, by one of them
    if (max(took) > 3e5) slow <- c(slow, name)
    found[[length(found) + 1L]] <- data.frame(
      name = name, n = n, dtype = type, missing = missing, joist_us = round(took[1L], 2),
      base_us = round(took[2L], 2)
    )
  }
}
if (length(found) == 0L) quit(status = 1L)
found <- do.call(rbind, found)
never <- setdiff(names(cases), found$name)

# ---- what is too slow ----

found$ratio <- round(found$joist_us / pmax(found$base_us, 0.05), 2)
exceptions <- read.csv("bench/cliffs_exceptions.csv", colClasses = "character")
stopifnot(nrow(exceptions) <= 20L)
bad <- found[found$joist_us > allowed(found$base_us) & !found$name %in% exceptions$name, ]
bad <- bad[order(-bad$ratio), ]
cat(nrow(found), "times of", length(unique(found$name)), "functions;", nrow(bad), "too slow:\n")
print(bad, row.names = FALSE)
if (file.exists(file)) {
  last <- read.csv(file)
  keys <- c("name", "n", "dtype", "missing")
  grown <- merge(found, last[c(keys, "ratio")], by = keys, suffixes = c("", "_before"))
  grown <- grown[grown$ratio > 1.5 * grown$ratio_before & grown$joist_us > 10, ]
  cat(nrow(grown), "have grown by half since the last run:\n")
  print(grown[order(-grown$ratio / grown$ratio_before), ], row.names = FALSE)
}
complete <- difftime(Sys.time(), start, units = "secs") < limit
if (!complete) cat("stopped after", limit, "seconds (JOIST_BENCH_SECONDS)\n")
if (complete && length(wanted) == 0L) write.csv(found, file, row.names = FALSE, quote = FALSE)
if (length(never) > 0L) cat("failed for all operands:", never, fill = 100)
quit(status = as.integer(nrow(bad) > 0L || length(c(lacking, never)) > 0L))
