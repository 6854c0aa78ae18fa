# Random groupings by nv_group() beside data.table, dplyr and Python's dictionaries, which group the
# keys as text; and sums, sizes and first rows by group beside data.table's.
#
#   R -f tests/verbs/random_groups.R --args [GROUPINGS [SEED]]
#
# One to four keys of any dtype, strings, factors or R's numbers, with NA, NaN, -0 and 64-bit
# integers beyond 2^53; no rows, one group, all distinct. Python is skipped where there is none. The
# last lines are "note:" and "counts:".
suppressMessages({
  library(joist)
  library(data.table)
})
arguments <- suppressWarnings(as.numeric(commandArgs(TRUE)))
groupings <- c(arguments, 1000)[1L]
set.seed(c(arguments[-1L], 1)[1L])

# The values of each dtype as text, of which equal values have one: those that it holds.
far <- c("9007199254740992", "9007199254740993", "9223372036854775807")
pools <- list(whole = c("0", "1", "2", "3"), far = far, float = c("0", "-0", "NaN", "0.5", "-2"))
pool_of <- function(d) {
  info <- dtype_info(d)
  if (d == "bool") return(c("0", "1"))
  if (info$kind == "complex") return(c("0", "1", "2"))
  if (info$kind == "float" && info$bits >= 16) return(pools$float)
  if (info$kind == "float") return(c("0.5", "1", "2"))
  if (info$bits == 64) return(c(pools$whole, far))
  if (info$bits >= 8) pools$whole else c("0", "1")
}
narrow <- vapply(dtypes(), function(d) dtype_info(d)$bits < 8 && d != "bool", NA)
kinds <- c(dtypes()[!narrow], "strings", "factor", "doubles", "integers")

# A key, and the text that equal values have in common.
drawn_key <- function(n) {
  kind <- sample(kinds, 1L)
  pool <- if (kind %in% dtypes()) pool_of(kind) else if (kind == "doubles") pools$float else
    pools$whole
  distinct <- runif(1) < 0.1 && kind %in% c("i32", "i64", "ui64", "f64", "strings", "integers")
  if (distinct) pool <- as.character(sample.int(10L * n + 1L))
  if (runif(1) < 0.1) pool <- pool[1L]
  text <- if (distinct) pool[seq_len(n)] else sample(pool, n, TRUE)
  if (runif(1) < 0.4) text[runif(n) < 0.2] <- NA
  key <- switch(kind,
    strings = text, factor = factor(text), doubles = as.double(text),
    integers = as.integer(text),
    bool = nv_tensor(as.logical(as.integer(text)), "bool"),
    if (kind %in% c("i64", "ui64")) nv_tensor(text, kind) else nv_tensor(as.double(text), kind)
  )
  text[text %in% "-0"] <- "0"
  if (kind == "strings" || kind == "factor") text <- paste(text)
  list(key = key, text = paste(text), kind = kind)
}

failed <- 0L
texts <- ids <- vector("list", groupings)
for (k in seq_len(groupings)) {
  n <- sample(c(0L, 1L, 2L, 7L, 30L, 200L), 1L)
  drawn <- lapply(seq_len(sample.int(4L, 1L)), function(j) drawn_key(n))
  keys <- lapply(drawn, `[[`, "key")
  text <- do.call(paste, c(lapply(drawn, `[[`, "text"), sep = "/"))
  values <- as.double(sample.int(100L, n, TRUE))
  group <- nv_group(if (length(keys) == 1L && runif(1) < 0.5) keys[[1L]] else keys)
  got <- as.vector(group$ids)
  table <- data.table(text, values)[, .(s = sum(values), n = .N, f = .I[1L]), by = text]
  right <- c(
    ids = identical(got, as.integer(vctrs::vec_group_id(text))),
    count = group$count == nrow(table), sizes = identical(as.integer(group$sizes), table$n),
    first = identical(as.integer(as.vector(group$first)), table$f),
    sums = identical(as.vector(nv_segment_sum(nv_tensor(values, "f64"), group)), table$s)
  )
  if (!all(right)) {
    failed <- failed + 1L
    if (failed <= 5L) {
      cat(k, vapply(drawn, `[[`, "", "kind"), n, "rows:", names(right)[!right], "\n")
    }
  }
  texts[[k]] <- text
  ids[[k]] <- got
}

# The same in one run of Python.
python <- Sys.which("python3")
if (nzchar(python)) {
  file <- tempfile()
  shown <- vapply(seq_along(texts), function(k) {
    paste(c(paste(ids[[k]], collapse = " "), paste(texts[[k]], collapse = "\t")), collapse = "|")
  }, "")
  writeLines(shown, file)
  code <- c(
    "import sys", "wrong = 0", "for line in open(sys.argv[1]):",
    "    ids, text = line.rstrip('\\n').split('|')", "    found = {}",
    "    rows = text.split('\\t') if ids else []",
    "    got = [found.setdefault(t, len(found) + 1) for t in rows]",
    "    wrong += got != [int(i) for i in ids.split()]", "print(wrong)"
  )
  script <- tempfile(fileext = ".py")
  writeLines(code, script)
  wrong <- as.integer(system2(python, c(script, file), stdout = TRUE))
  if (wrong > 0L) cat(wrong, "groupings are not those of Python\n")
  failed <- failed + wrong
}
cat(sprintf("note: %d groupings, %d differ\n", groupings, failed))
cat(sprintf("counts: %d %d 0\n", groupings, failed))
quit("no", status = if (failed > 0L) 1L else 0L)
