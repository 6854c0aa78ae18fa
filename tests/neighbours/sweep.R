# Functions of other packages on tensors, beside the same on R's vectors.
#
#   R -f tests/neighbours/sweep.R [--args n]
#
# With n, only every n-th call.
# calls.csv has the calls. Those that only select or order elements are also made with whole numbers
# beyond 2^53, of which the call on small numbers says which are right. A call that gives something
# else fails, unless exceptions.csv has a line for it: "error" or "differs", and its reason.
# A line of exceptions.csv that nothing needs fails, too, if all packages are there and all calls
# are made. Packages that are missing are skipped. The last lines are "note:" and "counts:".
suppressMessages(library(joist))
folder <- "tests/neighbours"
calls <- read.csv(file.path(folder, "calls.csv"))
exceptions <- read.csv(file.path(folder, "exceptions.csv"))
every <- c(as.integer(commandArgs(TRUE)), 1L)[1L]
dtypes <- c("f32", "f64", "bf16", "i64", "far", "ui8", "bool")
present <- vapply(unique(calls$package), requireNamespace, NA, quietly = TRUE)

# ---- vectors ----

# Both as a tensor and in R's own type. Far numbers are odd, so that no double has their values.
far_of <- function(k) sprintf("9007199254741%03d", as.integer(2 * k + 1))
vectors <- function(dtype, missing, named) {
  values <- if (dtype == "bool") c(TRUE, FALSE, FALSE, TRUE, TRUE, FALSE) else c(3, 1, 2, 2, 1, 4)
  if (dtype == "ui8") values <- as.integer(values)
  if (missing) values[2L] <- NA
  tensor <- if (dtype == "far") {
    nv_tensor(ifelse(is.na(values), NA, far_of(values)), "i64")
  } else {
    nv_tensor(values, dtype)
  }
  if (named) names(tensor) <- names(values) <- letters[1:6]
  list(tensor = tensor, plain = values)
}

# ---- comparison ----

# Digits for far numbers, and R's numbers otherwise; of attributes only names and dim.
in_r <- function(x, far, read) {
  if (is_tensor(x)) {
    x <- if (far) as_array(x, if (is_int64(x)) "character" else "double") else as_array(x)
  }
  if (is.factor(x)) x <- as.character(x)
  if (is.list(x)) return(lapply(unclass(x), in_r, far, read))
  if (isS4(x) || is.function(x)) return(x)
  if (is.numeric(x) || is.logical(x)) {
    x <- structure(as.double(x), names = names(x), dim = dim(x))
  }
  x
}
is_int64 <- function(x) as.character(dtype(x)) %in% c("i64", "i64?")
# Where `got` has digits, `want` has small numbers for them; counts and places are the same.
same <- function(got, want, far, tolerance) {
  if (is.list(want) && is.list(got)) {
    return(length(got) == length(want) && identical(names(got), names(want)) &&
      all(mapply(same, got, want, MoreArgs = list(far = far, tolerance = tolerance))))
  }
  if (far && is.character(got) && is.numeric(want)) {
    numbers <- want
    want <- structure(far_of(numbers), names = names(numbers), dim = dim(numbers))
    want[is.na(numbers)] <- NA
  }
  if (far && is.character(got) && is.character(want)) {
    small <- grepl("^[0-9]$", want)
    want[small] <- far_of(as.integer(want[small]))
  }
  isTRUE(all.equal(got, want, tolerance = tolerance, check.attributes = TRUE))
}

# ---- calls ----

# What `call` gives, in R's types, and whether joist has warned. What base R lost of numbers beyond
# 2^53 it tells at its next call, or when the result is read.
outcome <- function(call, x, far = FALSE) {
  set.seed(1)
  where <- list2env(list(x = x, g = c("a", "b", "a", "b", "a", "b")), parent = globalenv())
  told <- FALSE
  value <- tryCatch(withCallingHandlers(
    {
      # Warnings are given once per place: these are all at one.
      with_promotion(NULL, on = c(overflow = "warn"), {
        out <- eval(str2lang(call), where)
        nv_scalar(TRUE)
        if (is_tensor(out)) utils::capture.output(print(out)) # whatever attributes were copied
        in_r(out, far)
      })
    },
    warning = function(w) {
      if (inherits(w, "joist_warning")) told <<- TRUE
      invokeRestart("muffleWarning")
    },
    message = function(m) invokeRestart("muffleMessage")
  ), error = identity)
  list(value = value, told = told)
}
# One row, or none where R's vectors give an error: then there is nothing to compare with.
compared <- function(entry, dtype, missing, named) {
  far <- dtype == "far"
  if (far && entry$selects != "yes") return()
  x <- vectors(dtype, missing, named)
  want <- outcome(entry$call, x$plain)$value
  if (inherits(want, "error")) return()
  answer <- outcome(entry$call, x$tensor, far)
  got <- answer$value
  failed <- inherits(got, "error")
  tolerance <- switch(dtype, bf16 = 2^-7, f64 = 1e-12, 1e-5) # means are f32
  what <- if (failed) "error" else if (same(got, want, far, tolerance)) "same" else
    if (answer$told) "told" else "differs"
  shown <- if (failed) conditionMessage(got) else deparse(got)[1L]
  data.frame(entry, dtype = dtype, missing = missing, named = named, what = what, got = shown)
}
results <- list()
for (k in which(present[calls$package] & seq_len(nrow(calls)) %% every == 0L)) {
  for (dtype in dtypes) for (missing in c(FALSE, TRUE)) for (named in c(FALSE, TRUE)) {
    results[[length(results) + 1L]] <- compared(calls[k, ], dtype, missing, named)
  }
}
results <- do.call(rbind, results)
listed <- function(row) {
  any(exceptions$call == row$call & exceptions$what == row$what &
    vapply(exceptions$dtypes, grepl, NA, row$dtype))
}
wrong <- results[!results$what %in% c("same", "told"), ]
known <- vapply(seq_len(nrow(wrong)), function(k) listed(wrong[k, ]), NA)
for (k in which(!known)) {
  row <- wrong[k, ]
  cat(sprintf("%s | %s%s%s | %s: %s\n", row$call, row$dtype, if (row$missing) " NA" else "",
    if (row$named) " named" else "", row$what, substr(row$got, 1, 120)))
}
absent <- names(present)[!present]
if (length(absent) > 0L) cat("skipped, not installed:", absent, "\n")
needed <- paste(exceptions$call, exceptions$what) %in% paste(wrong$call, wrong$what)
stale <- exceptions$call[!needed & every == 1L & length(absent) == 0L]
cat(sprintf("%s | no exception any more\n", stale), sep = "")
cat(sprintf(
  "note: %d calls of %d packages (%d missing): %d same, %d told, %d listed, %d errors, %d differ\n",
  nrow(results), sum(present), sum(!present), sum(results$what == "same"),
  sum(results$what == "told"), sum(known),
  sum(wrong$what[!known] == "error"), sum(wrong$what[!known] == "differs")
))
cat(sprintf("counts: %d %d 0\n", sum(results$what == "same"), sum(!known) + length(stale)))
quit("no", status = if (any(!known) || length(stale) > 0L) 1L else 0L)
