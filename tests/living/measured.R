# The tables in tests/living/2026, of systems that were asked once, compared with joist's rule sets
# cell by cell, by real operations:
#
#   Rscript tests/living/measured.R PYTHON
#
# Where joist differs is data, tests/living/measured.csv, with a reason for each line; every other
# difference is a failure, and so is a line that is not true any more. JOIST_LIVING_DIFFERENCES
# names a file for all that differ.

suppressPackageStartupMessages(library(joist))
options(warn = -1)

folder <- Sys.getenv("JOIST_LIVING_TESTS", "tests/living")
python <- c(commandArgs(TRUE), "python3")[[1L]]
cells <- read.csv(
  text = system2(python, c(file.path(folder, "measured.py"), "--cells"), stdout = TRUE),
  header = FALSE, col.names = c("rules", "operation", "lhs", "rhs", "theirs"),
  colClasses = "character", na.strings = character()
)

literals <- list(
  "lit:True" = TRUE, "lit:1" = 1L, "lit:-1" = -1L, "lit:1000" = 1000L, "lit:1.5" = 1.5,
  "lit:1j" = 1i
)
operands <- c(lapply(setNames(nm = dtypes()[1:15]), function(x) nv_tensor(c(1, 1), x)), literals)

# greatest() and max2() are maxima, where() and coalesce() what `combine` decides: a table that has
# the former is not asked for the latter, which in ClickHouse is the type of its first argument.
binary <- list(
  "+" = nv_add, "-" = nv_sub, "*" = nv_mul, "/" = nv_div, "//" = nv_floor_div, "%" = nv_mod,
  "**" = nv_pow, "<" = nv_lt, "&" = nv_bitwise_and, max2 = nv_max, maximum = nv_max,
  greatest = nv_max, where = function(x, y) nv_ifelse(nv_tensor(c(TRUE, FALSE)), x, y)
)
unary <- list(
  neg = nv_negate, abs = nv_abs, sqrt = nv_sqrt, exp = nv_exp, floor = nv_floor,
  sum = nv_reduce_sum, prod = nv_reduce_prod, mean = nv_mean, max = nv_reduce_max,
  cumsum = nv_cumsum
)

answer <- function(operation, lhs, rhs) {
  tryCatch(
    format(dtype(
      if (rhs == "") unary[[operation]](operands[[lhs]])
      else binary[[operation]](operands[[lhs]], operands[[rhs]])
    )),
    joist_error = function(e) "-"
  )
}

is_asked <- cells$lhs %in% names(operands) & ifelse(
  cells$rhs == "", cells$operation %in% names(unary),
  cells$operation %in% names(binary) & cells$rhs %in% names(operands) &
    !(cells$lhs %in% names(literals) & cells$rhs %in% names(literals))
)
cells <- cells[is_asked, ]
# What joist does not store, it refuses.
cells$theirs[!cells$theirs %in% dtypes()] <- "-"
cells$ours <- ""
for (rules in unique(cells$rules)) {
  own <- cells$rules == rules
  cells$ours[own] <- with_promotion(
    rules, mapply(answer, cells$operation[own], cells$lhs[own], cells$rhs[own])
  )
}

differ <- cells[cells$ours != cells$theirs, ]
if (nzchar(Sys.getenv("JOIST_LIVING_DIFFERENCES"))) {
  write.csv(differ, Sys.getenv("JOIST_LIVING_DIFFERENCES"), row.names = FALSE)
}
reasons <- read.csv(file.path(folder, "measured.csv"), colClasses = "character")
matches <- function(patterns, x) grepl(paste0("^(", patterns, ")$"), x, perl = TRUE)
cell <- trimws(paste(differ$operation, differ$lhs, differ$rhs))
explained <- logical(nrow(differ))
failed <- 0L
for (k in seq_len(nrow(reasons))) {
  line <- reasons[k, ]
  found <- !explained & matches(line$rules, differ$rules) & matches(line$cell, cell) &
    matches(line$joist, differ$ours) & matches(line$measured, differ$theirs)
  if (sum(found) != as.integer(line$count)) {
    cat("measured.csv, line ", k + 1L, ": ", sum(found), " cells, not ", line$count, "\n", sep = "")
    failed <- failed + 1L
  }
  explained <- explained | found
}
left <- differ[!explained, ]
if (nrow(left) > 0L) {
  cat(sprintf(
    "%s: %s: %s in joist, %s when asked\n", left$rules, cell[!explained], left$ours, left$theirs
  ), sep = "")
}
failed <- failed + nrow(left)
cat(
  "note: ", length(unique(cells$rules)), " systems, ", nrow(cells), " cells, ", sum(explained),
  " differ for a reason\n", "counts: ", nrow(cells) - failed, " ", failed, " 0\n", sep = ""
)
quit(status = as.integer(failed > 0L))
