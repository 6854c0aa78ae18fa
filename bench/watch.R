# What it costs to watch for values that change: first and later runs of a place beside `"ok"`.
#
#   Rscript bench/watch.R [--results=FOLDER] [--threads=2] [--turns=9] [--n=10000000] [--only=TEXT]
#
# In each case values are rounded or wrapped. A first run is told of, later ones of the same place
# are not; `"ok"` watches nothing. Prints the medians of milliseconds over `turns` turns, in which
# the three alternate, with their ratios, and writes watch.csv to FOLDER.
source("bench/joist.R")
results <- option("results", tempdir())
turns <- as.integer(option("turns", "9"))
n <- as.integer(option("n", "1e7"))
only <- option("only", "")

library(joist)
invisible(compiler::enableJIT(0L)) # which compiles a function of R while it runs
nv_set_threads(as.integer(option("threads", "2")))

k <- seq_len(n)
i32 <- nv_tensor(k + 2^24 + 1, "i32")
x <- list(
  i32 = i32, f32 = nv_tensor(k %% 1000 / 2, "f32"),
  i64 = nv_convert(i32, "i64") * nv_scalar(2^35, "i64") + 1L,
  ui8 = nv_tensor(k %% 200, "ui8"), i16 = nv_tensor(k %% 4000, "i16"),
  short = nv_tensor(seq_len(1000), "i32")
)
zeros <- lapply(x, nv_zeros_like)
cases <- list(
  "i32 + f32" = function(x) x$i32 + x$f32,
  "ui8 - ui8" = function(x) x$ui8 - 100L,
  "i16 * i16" = function(x) x$i16 * x$i16,
  "i32 * i32" = function(x) x$i32 * x$i32,
  "i32 to f32" = function(x) nv_convert(x$i32, "f32"),
  "i32 to i16" = function(x) nv_convert(x$i32, "i16"),
  "i64 to f64" = function(x) nv_convert(x$i64, "f64"),
  "sum of i32" = function(x) sum(x$i32),
  "chain of i32" = function(x) (x$i32 * x$i32 + x$i32) * 3L - x$i32,
  "chain of i32, jit" = function(x) (x$i32 * x$i32 + x$i32) * 3L - x$i32,
  "chain of ui8, jit" = function(x) (x$ui8 * x$ui8 + x$ui8) * 3L - x$ui8,
  "loop over 1,000, jit" = function(x) {
    nv_for(1000L, x$short, function(i, s) s * s + i)
  }
)
cases <- cases[grep(only, names(cases))]

# A function whose place is a new one: its body has another number in it.
places <- 0
at_new_place <- function(f, jitted) {
  places <<- places + 1
  body(f) <- call("{", places, body(f))
  if (jitted) jit(f) else f
}

# Memory for results is there before, all of it written once, and no garbage.
milliseconds <- function(f, x) {
  results <- lapply(1:3, function(k) -x$i64)
  rm(results)
  gc(FALSE)
  start <- as.numeric(Sys.time())
  suppressWarnings(f(x))
  1e3 * (as.numeric(Sys.time()) - start)
}

measure_case <- function(name) {
  jitted <- endsWith(name, "jit")
  ok <- at_new_place(cases[[name]], jitted)
  quietly <- function(x) with_promotion(NULL, ok(x), on = c(overflow = "ok", loss = "ok"))
  for (turn in 1:3) milliseconds(quietly, x)
  times <- replicate(turns, {
    first <- at_new_place(cases[[name]], jitted)
    milliseconds(first, zeros) # traces it, and has nothing to tell
    c(milliseconds(quietly, x), milliseconds(first, x), milliseconds(first, x))
  })
  middle <- apply(times, 1L, stats::median)
  row <- data.frame(
    case = name, ok = middle[1L], first = middle[2L], later = middle[3L],
    first_ratio = middle[2L] / middle[1L], later_ratio = middle[3L] / middle[1L]
  )
  print(format(row, digits = 3L), row.names = FALSE)
  row
}

rows <- lapply(names(cases), measure_case)
utils::write.csv(do.call(rbind, rows), file.path(results, "watch.csv"), row.names = FALSE)
