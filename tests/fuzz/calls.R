# Calls each .Call entry with hostile arguments: CALLS SEED, for tests/fuzz/calls, from the root of
# the tree. What is wrong ends R, or is a line of a sanitizer's.
#
# The arguments are those of the calls that the manual's claims make, with something else in place
# of one or all of them, or with one of them changed. A call that ended R is named by its number.
numbers <- as.double(commandArgs(TRUE))
suppressPackageStartupMessages(library(joist))
tests <- normalizePath("tests")
source(file.path(tests, "fuzz", "parts.R"))
setwd(tempdir())
options(warn = -1L)
seed <- numbers[2L]

# Entries that are given an address as a number or text, and the package's namespace once: nothing
# can tell a wrong one.
addresses <- c("joist_r_from_memory", "joist_r_dlpack_pointer", "joist_r_init")
entries <- unclass(getDLLRegisteredRoutines("joist")$.Call)
entries <- entries[setdiff(names(entries), addresses)]

# ---- what joist gives them ----

given <- new.env()
recorder <- getNamespace("joist")$recorder
recorder$record <- function(entry, arguments) {
  name <- entry$name
  kept <- given[[name]]
  if (length(kept) < 60L) assign(name, c(kept, list(arguments)), given)
}
claims <- new.env()
claims$.Call <- getNamespace("joist")$.Call
source(file.path(tests, "faults", "claims.R"))
for (call in calls) try(eval(call, new.env(parent = claims)), silent = TRUE)
recorder$record <- NULL
unseen <- setdiff(names(entries), ls(given))
cat(length(entries), "entries, of which the recorded calls have", length(ls(given)), "\n")
if (length(unseen) > 0L) cat("none recorded:", unseen, "\n")

# ---- what they are given instead ----

tensors <- lapply(dtypes(), function(dtype) nv_convert(nv_tensor(array(0:23 %% 2, 2:4)), dtype))
deep <- NULL
for (k in 1:5000) deep <- list(deep)
plain <- c(tensors, list(
  NULL, NA, TRUE, FALSE, NA_integer_, 0L, 1L, -1L, .Machine$integer.max, -.Machine$integer.max,
  NA_real_, NaN, Inf, -Inf, 0, 0.5, -1, 1, 2, 2^31, 2^31 - 1, 2^32, 2^53, 2^62, 2^63, 1e300,
  1i, NA_complex_, raw(), as.raw(1:255), raw(100), "", "a", NA_character_, "f32", "i8", "anvil",
  "numpy", "add", "error", "float", strrep("x", 5000), "\u00e4\u4e2d", "\xff\xfe", "cpu", "cuda:0",
  character(), logical(), integer(), double(), complex(), list(), list(NULL), list(list()),
  list(1, "a"), list(a = 1, b = NULL), deep, 1:10, 10:1, c(1L, NA), c(0L, -1L), 1:100000 + 0,
  c(1, NA, NaN, Inf), c(2^31, 2^31), rep(65536L, 2), rep(1L, 40), rep(2147483647L, 3),
  letters, c("a", NA), factor(c("x", "y")), data.frame(a = 1:2), matrix(1:6, 2), array(1, c(1, 0)),
  Sys.Date(), as.POSIXlt("2000-01-01"), quote(x), quote(f(x)), expression(a, b), y ~ x,
  globalenv(), new.env(), function(...) NULL, function(...) stop("no"), function(x) x, sum, `if`,
  function(...) gc(), methods::new("numeric"), methods::getClass("numeric"),
  structure(1L, class = "nv_tensor"), structure(list(), class = "nv_tensor"),
  structure("f32", class = "joist_dtype"), structure("f99", class = "joist_dtype"),
  nv_aval("f32", c(2, 3)), nv_aval("i8", c(2^16, 2^16)), nv_tensor(numeric()), nv_scalar(1),
  nv_key(1), as_dtype("f16"), nv_device(), jit(function(x) x + 1), nv_to_dlpack(nv_tensor(1:3)),
  nv_to_arrow(nv_tensor(1:3)), nv_to_arrow(nv_tensor(1:3))$array,
  nv_to_arrow(nv_tensor(1:3))$schema, getDLLRegisteredRoutines("stats")$.Call[[1L]]$address,
  methods::new("externalptr"), structure(as.list(1:10), class = "nv_chunked"),
  bit64::as.integer64(c(1, NA)), structure(1:3, dim = c(3L, 1L)), structure(list(1), names = NA)
))
made <- list()

hostile <- function() {
  r <- runif(1)
  if (r < 0.65 || length(made) == 0L) {
    return(plain[[sample.int(length(plain), 1L)]])
  }
  if (r < 0.8) {
    return(made[[sample.int(length(made), 1L)]])
  }
  other <- given[[sample(ls(given), 1L)]]
  arguments <- other[[sample.int(length(other), 1L)]]
  if (length(arguments) == 0L) NULL else arguments[[sample.int(length(arguments), 1L)]]
}

# A value that is changed in one place; an error where R lets it not.
changed <- function(x) {
  fields <- names(attributes(x))
  if (length(fields) > 0L && runif(1) < 0.6) {
    field <- sample(fields, 1L)
    value <- if (runif(1) < 0.5) hostile() else changed(attr(x, field))
    attr(x, field) <- value
    return(x)
  }
  if (!is.vector(x) && !is.list(x) && !is.atomic(x) || length(x) == 0L) {
    return(hostile())
  }
  k <- sample.int(length(x), 1L)
  switch(sample.int(6L, 1L),
    x[-k],
    rep(x, length.out = sample(c(0L, 1L, 2L, 3L, 7L, 100L), 1L)),
    replace(x, k, if (is.list(x)) list(changed(x[[k]])) else hostile()[1L]),
    replace(x, k, if (is.list(x)) list(hostile()) else NA),
    unclass(x),
    as.vector(x, sample(c("integer", "double", "character", "list"), 1L))
  )
}

arguments_of <- function(name) {
  n <- entries[[name]]$numParameters
  known <- given[[name]]
  arguments <- if (length(known) > 0L && runif(1) < 0.9) {
    known[[sample.int(length(known), 1L)]]
  } else {
    lapply(seq_len(n), function(k) hostile())
  }
  if (n == 0L) {
    return(arguments)
  }
  for (k in sample.int(n, sample(c(1L, 1L, 1L, 2L, n), 1L) %% (n + 1L))) {
    value <- if (runif(1) < 0.5) {
      hostile()
    } else {
      got <- try(changed(arguments[[k]]), silent = TRUE)
      if (inherits(got, "try-error")) hostile() else got
    }
    arguments[k] <- list(value)
  }
  arguments
}

# ---- each entry in turn ----

call_entry <- function(k) {
  set.seed(seed * 1e6 + k)
  name <- names(entries)[(k - 1) %% length(entries) + 1]
  arguments <- arguments_of(name)
  writeLines(name, entry_at)
  setTimeLimit(elapsed = 20, transient = TRUE)
  got <- tryCatch(
    do.call(base::.Call, c(list(entries[[name]]), arguments), quote = TRUE),
    error = function(e) NULL
  )
  setTimeLimit()
  if (!is.null(got)) made[[length(made) %% 100L + 1L]] <<- got
}
counts <- in_parts(numbers[1L], "calls", function(k) {
  call_entry(k)
  if (k %% 50 == 0) {
    # What a call can set for all that follow.
    base::.Call(entries$joist_r_pop_sessions, 0L)
    base::.Call(entries$joist_r_set_promotion, NULL, FALSE, TRUE)
    base::.Call(entries$joist_r_instruction_set, NULL)
  }
})
quit("no", status = if (counts$ended > 0) 1L else 0L)
