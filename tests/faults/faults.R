# Fails every allocation of src/core and src/r that the calls below reach, TIMES times each, and
# looks at what is left: for tests/faults/run, from the root of the tree.
#
# A failure must end in a condition of joist's (C memory) or an error of R's (R memory) or, where
# there is another way, in the same value as without. Then the arguments are what they were, the
# blocks in use and the bytes of the pool as many as before, and the same call works.
options(warn = 1L, keep.source = TRUE)
times <- as.integer(c(commandArgs(TRUE), 3L)[1L])
faults <- dyn.load(Sys.getenv("JOIST_FAULTS"))
suppressPackageStartupMessages(library(joist))

count <- .C("faults_count", 0L)[[1L]]
full_names <- vapply(seq_len(count), function(k) {
  .C("faults_name", k, strrep(" ", 200L))[[2L]]
}, "")
names_of <- sub("^.*/src/", "", full_names)
arm <- function(site = 0L, hit = 0L) invisible(.C("faults_arm", as.integer(site), as.integer(hit)))
hits <- function() .C("faults_hits", integer(count))[[1L]]
fired <- function() .C("faults_fired", 0L)[[1L]] > 0L
blocks <- function() .C("faults_in_use", 0)[[1L]]
in_r <- !grepl(" (malloc|calloc|realloc|realpath|strdup|mmap)$", names_of)
tests <- normalizePath("tests")

# ---- the calls ----

claims <- new.env()
source(file.path(tests, "faults", "claims.R"))

# ---- one call, and what is left of it ----

run <- function(call) {
  set.seed(1)
  sink(nullfile())
  on.exit(sink())
  frame <- new.env(parent = claims)
  value <- suppressWarnings(suppressMessages(tryCatch(eval(call, frame), error = identity)))
  if (inherits(value, "error")) {
    return(list(error = class(value)[1L], message = conditionMessage(value)))
  }
  plain <- try(serialize(value, NULL), silent = TRUE)
  list(value = if (inherits(plain, "try-error")) NULL else plain, unproven = unproven(value))
}
# An error in the function that compare_rules() proves its casts by is one of the casts.
unproven <- function(value) {
  inherits(value, "joist_rules_comparison") && !all(value$checked, value$fewest)
}
collect <- function() {
  invisible(gc(full = TRUE))
  nv_memory()[["used"]]
}
# Values that tell of errors as results, as those of compare_rules() do: its lines, or its casts.
tells <- function(got, site) {
  length(grepRaw("as a test wanted|memory", got$value)) > 0L || (in_r[site] && got$unproven)
}
operands <- Filter(function(name) !is.function(claims[[name]]), ls(claims))
arguments <- function() serialize(mget(operands, envir = claims), NULL)

failed <- integer(count)
tried <- integer(count)
problems <- character()
problem <- function(call, site, hit, ...) {
  text <- paste0(deparse1(call), "\n    ", names_of[site], " (", hit, "): ", ...)
  problems <<- c(problems, text)
  cat(text, "\n")
}
before <- arguments()

try_site <- function(call, want, same, site, hit) {
  used <- collect()
  held <- blocks()
  arm(site, hit)
  got <- run(call)
  was_fired <- fired()
  arm()
  if (!was_fired) {
    return()
  }
  tried[site] <<- tried[site] + 1L
  failed[site] <<- failed[site] + 1L
  if (!is.null(got$error)) {
    known <- identical(got, want) || startsWith(got$error, "joist_") ||
      (in_r[site] && grepl("as a test wanted", got$message, fixed = TRUE))
    if (!known) problem(call, site, hit, got$error, ": ", got$message)
  } else if (same && !identical(got, want) && !tells(got, site)) {
    problem(call, site, hit, "another value")
  }
  if (!identical(arguments(), before)) problem(call, site, hit, "an argument changed")
  now <- collect()
  if (now > used) problem(call, site, hit, "bytes in the pool: ", now - used)
  if (blocks() > held) problem(call, site, hit, "blocks in use: ", blocks() - held)
  again <- run(call)
  if (same && !identical(again, want)) problem(call, site, hit, "afterwards another value")
  if (!identical(names(again), names(want))) problem(call, site, hit, "afterwards it fails")
}

# What the first run of each call reaches is made once per session.
cold <- list(hits()) # by loading
for (k in seq_along(calls)) {
  arm()
  run(calls[[k]])
  cold[[k + 1L]] <- hits()
}

for (call in calls) {
  want <- run(call)
  arm()
  same <- identical(run(call), want)
  reached <- hits()
  for (site in which(reached > 0L & failed < times)) {
    for (hit in unique(c(1L, reached[site]))) try_site(call, want, same, site, hit)
  }
}

# ---- what is made once: in a fresh R, where it fails the first time ----

fresh <- function(site, k) {
  call <- if (k > 0L) calls[[k]]
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(c(
    "joist <- try(suppressPackageStartupMessages(loadNamespace(\"joist\")), silent = TRUE)",
    "if (inherits(joist, \"try-error\")) loadNamespace(\"joist\")",
    "library(joist)",
    "claims <- new.env()",
    sprintf("read <- function() sys.source(%s, claims)", deparse1(paths[1L])),
    "tryCatch(read(), error = function(e) read())",
    sprintf("sys.source(%s, claims)", deparse1(paths[2L])),
    "run <- function() {",
    "  value <- tryCatch(suppressWarnings(eval(call, new.env(parent = claims))), error = identity)",
    "  if (inherits(value, \"error\")) conditionMessage(value) else class(value)",
    "}",
    "call <- quote(", deparse(call), ")",
    "first <- run()", "invisible(gc())", "junk <- as.list(runif(1e5))", "second <- run()",
    "rm(junk)", "invisible(gc())",
    "cat(\"\\nfirst:\", first, \"\\nsecond:\", second, \"\\nthird:\", run(), \"\\n\")"
  ), script)
  Sys.setenv(JOIST_FAULT = full_names[site])
  on.exit(Sys.unsetenv("JOIST_FAULT"), add = TRUE)
  said <- suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), c("--vanilla", script), stdout = TRUE, stderr = TRUE
  ))
  tried[site] <<- tried[site] + 1L
  failed[site] <<- failed[site] + 1L
  second <- sub("^second: ", "", grep("^second: ", said, value = TRUE))
  third <- sub("^third: ", "", grep("^third: ", said, value = TRUE))
  if (length(third) != 1L || second != third || grepl("as a test wanted", third)) {
    problem(call, site, 1L, "in a fresh R: ", paste(said, collapse = "\n    "))
  }
}
if (times == 0L) tried <- Reduce(`+`, cold) # only what there is, and what is never reached
for (site in which(tried == 0L)) {
  first <- which(vapply(cold, function(reached) reached[site] > 0L, TRUE))
  if (length(first) > 0L) fresh(site, first[1L] - 1L)
}

never <- names_of[tried == 0L]
cat(sprintf(
  "faults: %d sites, %d of them in C memory; %d failures; %d sites never failed\n", count,
  sum(!in_r), sum(failed), length(never)
))
writeLines(paste(" ", never))
cat(length(problems), "problems\n")
quit("no", status = if (length(problems) > 0L) 1L else 0L)
