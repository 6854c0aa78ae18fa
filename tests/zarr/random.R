# Random programs of chunked tensors beside the same programs of tensors in memory: dtype, flag,
# shape and bits must be the same, and what is an error in one must be one in the other. Where
# fractions are summed, whose sums depend on the blocks, they may differ by the dtype's precision.
#
#   Rscript tests/zarr/random.R [PROGRAMS] [SEED]
#
# Arrays have up to three dims, any dtype, chunks, order and codec. A program that fails is printed.

count <- 1000L
source("tests/promotion/many.R")

chance <- function(p) stats::runif(1L) < p
folder <- tempfile("random")
dir.create(folder)

# ---- values ----
#
# A value is a list: the tensor in memory `kept`, the chunked one `lazy`, the `text` of how it came
# about, and whether its elements are `whole` and small, so that sums are exact.

some_chunks <- function(extents) vapply(pmax(extents, 1L), sample.int, 0L, size = 1L)

new_store <- function(kept, chunks) {
  rank <- length(shape(kept))
  store <- nv_zarr_create(
    tempfile("a", folder), dtype(kept), shape(kept), chunks,
    order = pick(c("C", "F")), codecs = pick(list(character(), "gzip", c("gzip", "crc32c")))
  )
  do.call(`[<-`, c(list(store), rep(list(substitute()), rank), list(value = kept)))
  store
}

new_leaf <- function(extents, dtype) {
  values <- array(sample(-8:8, prod(extents), TRUE), extents)
  if (startsWith(as.character(dtype), "ui")) values <- abs(values)
  if (dtype == "bool") values[] <- values > 0
  kept <- nv_tensor(values, dtype, shape = extents)
  chunks <- some_chunks(extents)
  lazy <- if (chance(0.2)) nv_chunked(kept, chunks) else new_store(kept, chunks)
  text <- sprintf(
    "%s{%s} by %s", as.character(dtype), paste(extents, collapse = "x"),
    paste(chunks, collapse = "x")
  )
  list(kept = kept, lazy = lazy, text = text, whole = TRUE)
}

# ---- steps ----
#
# Functions of one or two values, with a random number `d` from 1 to the rank of the first, and
# whether they sum (`sums`) or may return numbers that are not whole (`broken`).

step <- function(f, sums = FALSE, broken = FALSE) list(f = f, sums = sums, broken = broken)
ones <- list(
  step(function(x, d) -x), step(function(x, d) abs(x)), step(function(x, d) x + 1L),
  step(function(x, d) 2 - x), step(function(x, d) x * 3L), step(function(x, d) x %/% 3L),
  step(function(x, d) x %% 5L), step(function(x, d) x > 0), step(function(x, d) !x),
  step(function(x, d) x / 4, broken = TRUE), step(function(x, d) exp(-abs(x)), broken = TRUE),
  step(function(x, d) sqrt(abs(x)), broken = TRUE), step(function(x, d) x^2L),
  step(function(x, d) nv_convert(x, "f32")), step(function(x, d) nv_convert(x, "i16")),
  step(function(x, d) nv_convert(x, "f64")), step(function(x, d) nv_clamp(-2L, x, 5L)),
  step(function(x, d) nv_ifelse(x > 1, x, -x)), step(function(x, d) is.na(x)),
  step(function(x, d) t(x)), step(function(x, d) nv_transpose(x)),
  step(function(x, d) nv_transpose(x, c(d, seq_along(shape(x))[-d]))),
  step(function(x, d) nv_unsqueeze(x, d)),
  step(function(x, d) nv_reduce_max(x, d)), step(function(x, d) nv_reduce_max(x, d, FALSE)),
  step(function(x, d) nv_reduce_min(x)), step(function(x, d) nv_reduce_any(x > 2, d)),
  step(function(x, d) nv_reduce_all(x < 8, d, FALSE)), step(function(x, d) range(x)),
  step(function(x, d) x - nv_reduce_min(x, d, FALSE)), step(function(x, d) nv_range(x, d)),
  step(function(x, d) nv_argmin(x, d)), step(function(x, d) nv_sort(x, d)),
  step(function(x, d) nv_argsort(x, d, decreasing = TRUE)), step(function(x, d) nv_cummax(x, d)),
  step(function(x, d) nv_top_k(x, 1L, d)$values), step(function(x, d) nv_reverse(x, d)),
  step(function(x, d) nv_take_along(x, nv_argsort(x, d), d)),
  step(function(x, d) nv_cumsum(x, d), TRUE), step(function(x, d) sum(x), TRUE),
  step(function(x, d) nv_reduce_sum(x, d), TRUE), step(function(x, d) nv_mean(x, d), TRUE, TRUE),
  step(function(x, d) nv_reduce_sum(x, d, FALSE), TRUE), step(function(x, d) mean(x), TRUE, TRUE),
  step(function(x, d) nv_sd(x, d), TRUE, TRUE), step(function(x, d) nv_var(x), TRUE, TRUE),
  step(function(x, d) x - nv_mean(x, d, FALSE), TRUE, TRUE),
  step(function(x, d) nv_reduce_prod(nv_sign(x), d), TRUE),
  step(function(x, d) nv_crossprod(x), TRUE), step(function(x, d) x %*% t(x), TRUE),
  step(function(x, d) nv_median(x), FALSE, TRUE), step(function(x, d) nv_tabulate(abs(x), 6L)),
  step(function(x, d) nv_broadcast_to(x, shape(x) * ifelse(shape(x) == 1L, 3L, 1L)))
)
twos <- list(
  step(function(x, y) x + y), step(function(x, y) x - y), step(function(x, y) x * y),
  step(function(x, y) x == y), step(function(x, y) x <= y), step(function(x, y) x %/% y),
  step(function(x, y) x / y, broken = TRUE), step(function(x, y) nv_min(x, y)),
  step(function(x, y) nv_max(x, y)), step(function(x, y) nv_ifelse(x > y, x, y)),
  step(function(x, y) x & y), step(function(x, y) x %*% y, TRUE),
  step(function(x, y) nv_matmul(nv_transpose(x), y), TRUE),
  step(function(x, y) nv_tcrossprod(x, y), TRUE)
)

# ---- running ----

tried <- function(expression) tryCatch(expression, joist_error = identity)
failed <- function(x) inherits(x, "error")
has_words <- function(x, words) failed(x) && grepl(words, conditionMessage(x), fixed = TRUE)
said <- function(x) if (failed(x)) paste0(class(x)[1L], ": ", conditionMessage(x)) else "a value"

# What the two sides make of a step: a value, or NULL where there is none that programs go on with.
# `disagree` is called with what is wrong.
after <- function(one, f, text, values, number = NULL, disagree) {
  own <- c(lapply(values, function(v) v$kept), number)
  kept <- tried(do.call(f, own))
  lazy <- tried(do.call(f, c(lapply(values, function(v) v$lazy), number)))
  if (has_words(lazy, "call nv_compute() first")) {
    return(NULL)
  }
  if (has_words(kept, "at least one element")) {
    lazy <- tried(nv_compute(lazy)) # found when it runs, or another mistake before
    if (!failed(lazy)) disagree(text, "an error in memory alone")
    return(NULL)
  }
  if (failed(kept) || failed(lazy)) {
    if (failed(kept) && !failed(lazy)) lazy <- tried(nv_compute(lazy))
    if (!(failed(kept) && failed(lazy) && identical(class(kept), class(lazy)))) {
      disagree(text, paste("in memory", said(kept), "- by blocks", said(lazy)))
    }
    return(NULL)
  }
  whole <- all(vapply(values, function(v) v$whole, TRUE))
  list(
    kept = kept, lazy = lazy, text = text, whole = whole && !one$broken,
    exact = !one$sums || whole && !one$broken
  )
}

same <- function(lazy, kept, exact) {
  if (!identical(list(dtype(lazy), shape(lazy), ambiguous(lazy)),
    list(dtype(kept), shape(kept), ambiguous(kept)))) {
    return("its type is another")
  }
  if (identical(lazy, kept)) {
    return(NULL)
  }
  a <- as_array(nv_convert(lazy, "f64"))
  b <- as_array(nv_convert(kept, "f64"))
  near <- if (exact) {
    identical(a, b) # NaN is NaN
  } else {
    precision <- switch(as.character(dtype(kept)), f64 = 1e-12, f32 = 1e-4, bf16 = 0.1, 0.01)
    fine <- is.finite(a) & is.finite(b)
    all(fine | a == b | is.na(a) & is.na(b), na.rm = TRUE) &&
      all(abs(a - b)[fine] <= precision * (1 + max(0, abs(b[fine]))))
  }
  if (!near) paste("by blocks", toString(format(a)), "- in memory", toString(format(b)))
}

run_program <- function(disagree) {
  # Narrow dtypes hold few of the numbers that are drawn.
  holds_them <- function(d) dtype_info(d)$bytes > 1L || dtype_info(d)$compute == d
  dtypes <- Filter(holds_them, setdiff(dtypes(), c("c64", "c128")))
  extents <- sample(c(1:5, sample(0:1, 1L)), sample.int(3L, 1L), TRUE)
  values <- list()
  for (k in seq_len(sample.int(3L, 1L))) {
    own <- replace(extents, stats::runif(length(extents)) < 0.15, 1L)
    values[[k]] <- new_leaf(own, pick(dtypes))
  }
  for (k in seq_len(sample.int(6L, 1L))) {
    x <- pick(values)
    if (chance(0.4)) {
      one <- pick(twos)
      y <- pick(values)
      text <- sprintf("(%s)(%s, %s)", deparse1(one$f), x$text, y$text)
      new <- after(one, one$f, text, list(x, y), disagree = disagree)
    } else {
      one <- pick(ones)
      d <- sample.int(max(1L, length(shape(x$kept))), 1L)
      text <- sprintf("(%s)(%s, %d)", deparse1(one$f), x$text, d)
      new <- after(one, one$f, text, list(x), d, disagree)
    }
    if (is.null(new)) next
    compared <<- compared + 1L
    got <- tried(nv_compute(new$lazy))
    wrong <- if (failed(got)) conditionMessage(got) else same(got, new$kept, new$exact)
    if (is.null(wrong) && length(shape(new$kept)) > 0L && chance(0.2)) {
      stored <- nv_store(new$lazy, tempfile("b", folder), chunks = some_chunks(shape(new$kept)),
        order = pick(c("C", "F")))
      wrong <- same(nv_compute(stored), nv_convert(new$kept, dtype(new$kept)), new$exact)
    }
    if (!is.null(wrong)) disagree(text, wrong)
    if (new$exact) values[[length(values) + 1L]] <- new
  }
}

wrong <- 0L
compared <- 0L
for (k in seq_len(count)) {
  set.seed(seed * 100003L + k)
  run_program(function(text, what) {
    wrong <<- wrong + 1L
    cat("program ", k, ": ", text, "\n  ", what, "\n", sep = "")
  })
  unlink(list.files(folder, full.names = TRUE), recursive = TRUE)
}
unlink(folder, recursive = TRUE)
cat(sprintf(
  "%d programs of chunked tensors, %d results, %d disagreements\n", count, compared, wrong
))
cat(sprintf("counts: %d %d 0\n", compared, wrong))
if (wrong > 0L) quit("no", status = 1L)
