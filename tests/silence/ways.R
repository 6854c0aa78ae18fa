# All ways that put values of one dtype into another, all pairs of dtypes, and all policies: a value
# is kept, told of or refused.
#
#   R -f tests/silence/ways.R --args [QUESTIONS [SEED [SHOWN]]]
#
# The ways and their oracle are those of tests/testthat/helper-silence.R. The last lines are "note:"
# and "counts:".
suppressMessages(library(joist))
for (name in c("is_complex_dtype", "is_integer_dtype", "warned_places")) {
  assign(name, utils::getFromNamespace(name, "joist"))
}
for (name in c("dtypes", "silence")) source(sprintf("tests/testthat/helper-%s.R", name))
arguments <- suppressWarnings(as.numeric(commandArgs(TRUE)))
given <- function(k, otherwise) if (length(arguments) < k) otherwise else arguments[k]
count <- given(1, 100000)
wrong <- wrong_among(questions(count, given(2, 1)))
writeLines(as.character(utils::head(wrong, given(3, 20))))
cat(sprintf("note: %.0f values put into other dtypes\n", count))
cat(sprintf("counts: %.0f %d 0\n", count - length(wrong), length(wrong)))
quit("no", status = if (length(wrong) > 0L) 1L else 0L)
