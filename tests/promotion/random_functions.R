# Random functions under all built-in rule sets: trace_dtypes() must give the dtypes that their
# calls give when they are run one by one, and the casts of compare_rules(), put into the code as
# text, must make each rule set give the dtypes of each other one. Rule sets under which a function
# does the same count once as `from`.
#
#   Rscript tests/promotion/random_functions.R [functions] [seed] [processes]
#
# 10,000 functions take two processors about 40 minutes. tests/testthat has some hundreds.

count <- 10000L
source("tests/promotion/many.R")
sets <- promotion_rule_sets()$id
record_operations <- getFromNamespace("record_operations", "joist")
compare_recordings <- getFromNamespace("compare_recordings", "joist")

check_function <- function(seed, counts) {
  set.seed(seed)
  program <- random_function()
  f <- function_of(program$lines)
  wrong <- character()
  for (rules in sets) {
    run <- run_by_calls(program$lines, program$inputs, rules)
    counts$runs <- counts$runs + is.null(run$error)
    if (!identical(run, traced_by_calls(f, program$inputs, rules))) {
      wrong <- c(wrong, paste(c(paste("trace under", rules), program$lines), collapse = "\n"))
    }
  }
  names(sets) <- sets
  recorded <- lapply(sets, function(rules) record_operations(f, program$inputs, rules))
  works <- vapply(recorded, function(one) is.null(one$error), NA)
  does <- vapply(recorded, function(one) {
    paste(c(one$events$operands, one$events$result), collapse = " ")
  }, "")
  for (from in sets[works & !duplicated(ifelse(works, does, sets))]) {
    comparison <- compare_recordings(f, c(recorded[from], recorded[setdiff(sets, from)]))
    wrong <- c(wrong, check_casts(program, comparison, counts))
  }
  wrong
}

parts <- in_processes(function(seeds) {
  counts <- new_counts()
  counts$runs <- 0L
  wrong <- unlist(lapply(seeds, check_function, counts))
  list(wrong = wrong, counts = unlist(as.list(counts)))
})

wrong <- unlist(lapply(parts, `[[`, "wrong"))
counted <- c("runs", "pairs", "casts", "fewest", "without")
counts <- Reduce(`+`, lapply(parts, function(part) part$counts[counted]))
cat(utils::head(wrong, 5L), sep = "\n\n")
cat(sprintf(
  paste0(
    "%d functions, %d runs traced, %d pairs of rule sets, %d with casts (%d proved fewest), ",
    "%d without a set of casts, %d wrong\n"
  ),
  count, counts[["runs"]], counts[["pairs"]], counts[["casts"]], counts[["fewest"]],
  counts[["without"]], length(wrong)
))
quit("no", status = if (length(wrong) > 0L || counts[["casts"]] == 0L) 1L else 0L)
