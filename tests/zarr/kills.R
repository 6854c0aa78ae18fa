# Processes that are killed (SIGKILL) at a random moment of a run: the result has the same bits, or
# there is one error of joist's that names the block or chunk; a store that was begun has nothing
# wrong in it, and is finished by `resume = TRUE` with the same bits.
#
#   Rscript tests/zarr/kills.R [RUNS] [SEED]
#
# In turn one of two workers is killed, both of them at different moments, and the process that they
# work for. Blocks are tried again twice or not at all. What was not finished is resumed here. Ends
# with counts, and fails where a run is none of these. RUNS is 200; those that ended before the kill
# are not counted.

suppressPackageStartupMessages(library(joist))

given <- as.integer(commandArgs(TRUE))
runs <- if (length(given) > 0L) given[1L] else 200L
set.seed(if (length(given) > 1L) given[2L] else 1L)
folder <- tempfile("kills")
dir.create(folder)
source_path <- file.path(folder, "x")

x <- nv_zarr_create(source_path, "f32", c(1500, 400), c(100, 50), codecs = "gzip")
x[] <- nv_rnorm(c(1500L, 400L), key = nv_key(5), dtype = "f32")
programs <- list(
  elementwise = function(x) exp(sin(x)) / (1 + x * x),
  standardized = function(x) (x - nv_mean(x, 1, FALSE)) / nv_sd(x, 1, FALSE),
  cumulative = function(x) nv_cumsum(x, 1),
  gram = function(x) nv_crossprod(x),
  product = function(x) x %*% nv_transpose(x[1:300, ]),
  sums = function(x) nv_reduce_sum(exp(x), 2),
  mean = function(x) nv_mean(x * x)
)
chunks <- c(120L, 60L)
wanted <- lapply(programs, function(f) nv_compute(f(x)))
values <- as_array(x[], "double")
stopifnot(
  isTRUE(all.equal(as_array(wanted$elementwise, "double"), exp(sin(values)) / (1 + values^2),
    tolerance = 1e-6)),
  isTRUE(all.equal(as_array(wanted$gram, "double"), crossprod(values), tolerance = 1e-5)),
  isTRUE(all.equal(as_array(wanted$sums, "double"), rowSums(exp(values)), tolerance = 1e-5))
)

# ---- one run ----

# How long a run took, of each program: moments are drawn from that.
seconds <- stats::setNames(rep(3, length(programs)), names(programs))

target_chunks <- function(name) {
  extents <- shape(wanted[[name]])
  if (length(extents) == 2L) pmin(extents, chunks) else pmin(extents, 250L)
}
kill_later <- function(pid, seconds) {
  system2("sh", c("-c", shQuote(sprintf("sleep %.3f; kill -9 %d", seconds, pid))), wait = FALSE,
    stdout = FALSE, stderr = FALSE)
}
same <- function(got, name) identical(got, wanted[[name]])

# Chunks that are there have the right bits, those that are not are none.
what_is_there <- function(path, name) {
  if (!file.exists(file.path(path, "zarr.json"))) {
    return("nothing")
  }
  y <- nv_zarr(path)
  extents <- shape(y)
  own <- target_chunks(name)
  counts <- ceiling(extents / own)
  there <- 0L
  for (k in seq_len(prod(counts))) {
    at <- arrayInd(k, counts)[1L, ] - 1L
    if (!file.exists(file.path(path, paste(c("c", at), collapse = "/")))) next
    there <- there + 1L
    index <- Map(function(i, chunk, extent) seq(i * chunk + 1L, min(extent, (i + 1L) * chunk)),
      at, own, extents)
    got <- do.call(`[`, c(list(y), index, drop = FALSE))
    all <- do.call(`[`, c(list(wanted[[name]]), index, drop = FALSE))
    if (!identical(got, all)) {
      return("WRONG")
    }
  }
  if (there == prod(counts)) "all" else if (there == 0L) "no chunk" else "a part"
}

outcome <- function(result, name) {
  if (inherits(result, "joist_value_error")) {
    text <- conditionMessage(result)
    if (grepl("block [0-9]|chunk \"", text)) "clear error" else paste("UNCLEAR:", text)
  } else if (inherits(result, "error")) {
    paste("UNCLEAR:", conditionMessage(result))
  } else if (same(result, name)) {
    "same bits"
  } else {
    "WRONG BITS"
  }
}

workers_killed <- function(name, path, both) {
  suppressWarnings(gc()) # closes connections to workers that died: R has 128
  options(joist.alone = 0) # nothing is computed here
  old <- future::plan(future::multisession, workers = 2L)
  on.exit(future::plan(old))
  start <- lapply(1:2, function(k) {
    future::future(
      {
        Sys.sleep(0.2)
        Sys.getpid()
      },
      packages = "joist", seed = NULL
    )
  })
  pids <- vapply(start, future::value, 0L)
  stopifnot(pids[1L] != pids[2L])
  victims <- if (both) pids else sample(pids, 1L)
  for (pid in victims) kill_later(pid, stats::runif(1, 0, 0.7 * seconds[[name]]))
  setTimeLimit(elapsed = 300)
  began <- proc.time()[[3L]]
  on.exit(setTimeLimit(), add = TRUE)
  retries <- sample(c(0L, 2L), 1L)
  result <- tryCatch(suppressWarnings({
    lazy <- programs[[name]](x)
    if (is.null(path)) {
      nv_compute(lazy, retries = retries)
    } else {
      nv_store(lazy, path, chunks = target_chunks(name), retries = retries)
    }
  }), error = identity)
  if (!inherits(result, "error")) seconds[[name]] <<- proc.time()[[3L]] - began
  dead <- !vapply(victims, is_alive, TRUE)
  if (inherits(result, "error") && !is.null(path)) {
    return(paste(outcome(result, name), resumed(path, name), sep = ", then "))
  }
  if (!is.null(path) && !inherits(result, "error")) result <- nv_compute(nv_zarr(path))
  what <- outcome(result, name)
  if (what == "same bits" && !any(dead)) "too late" else what
}

# False for processes that have ended, including zombies.
is_alive <- function(pid) {
  line <- tryCatch(
    readLines(file.path("/proc", pid, "stat")),
    error = function(e) "", warning = function(w) ""
  )
  nzchar(line) && !grepl("\\) Z ", line)
}

resumed <- function(path, name) {
  there <- what_is_there(path, name)
  if (there %in% c("WRONG", "all")) {
    return(there)
  }
  result <- tryCatch(
    nv_store(programs[[name]](x), path, chunks = target_chunks(name), resume = TRUE),
    error = identity
  )
  if (!inherits(result, "error")) result <- nv_compute(nv_zarr(path))
  paste0(outcome(result, name), ", resumed from ", there)
}

# Another process computes and is killed; here it is resumed.
owner_killed <- function(name, path) {
  script <- tempfile(fileext = ".R")
  program <- paste(deparse(programs[[name]]), collapse = "\n")
  writeLines(c(
    "suppressPackageStartupMessages(library(joist))",
    "options(joist.alone = 0)",
    if (stats::runif(1) < 0.5) "future::plan(future::multisession, workers = 2L)",
    sprintf("x <- nv_zarr(\"%s\")", source_path),
    sprintf("f <- %s", program),
    "cat('ready\\n')",
    sprintf("y <- nv_store(f(x), \"%s\", chunks = %s)", path, deparse(target_chunks(name)))
  ), script)
  ready <- tempfile()
  command <- sprintf(
    paste(
      "%s --vanilla %s >%s 2>&1 & pid=$!; until grep -q ready %s || ! kill -0 $pid;",
      "do sleep 0.02; done; sleep %.3f; kill -9 $pid"
    ),
    shQuote(file.path(R.home("bin"), "Rscript")), script, ready, ready,
    stats::runif(1, 0, 0.7 * seconds[[name]])
  )
  system2("sh", c("-c", shQuote(command)), stdout = FALSE, stderr = FALSE)
  what <- resumed(path, name)
  if (what == "all") "too late" else what
}

# ---- all runs ----

results <- character()
k <- 0L
while (sum(results != "too late") < runs) {
  k <- k + 1L
  who <- c("a worker", "both workers", "the owner")[(k - 1L) %% 3L + 1L]
  storable <- setdiff(names(programs), "mean")
  stored <- who == "the owner" || stats::runif(1) < 0.6
  name <- sample(if (stored) storable else names(programs), 1L)
  path <- if (stored) file.path(folder, k)
  what <- if (who == "the owner") {
    owner_killed(name, path)
  } else {
    workers_killed(name, path, who == "both workers")
  }
  results[k] <- if (what == "too late") {
    what
  } else {
    paste0(who, if (stored) ", stored: " else ", computed: ", what)
  }
  cat(sprintf("%4d  %-12s %s\n", k, name, results[k]))
  unlink(file.path(folder, k), recursive = TRUE)
}
counts <- table(results)
cat(sprintf("%5d  %s\n", counts, names(counts)), sep = "")
unlink(folder, recursive = TRUE)
good <- grepl("same bits|clear error|too late", results) & !grepl("WRONG|UNCLEAR", results)
cat(sprintf("counts: %d %d 0\n", sum(good & results != "too late"), sum(!good)))
if (!all(good)) quit(status = 1L)
