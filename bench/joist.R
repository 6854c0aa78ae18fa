# The R side of the benchmark: operands and contestants in this process (joist, base R, bit64,
# the C loop), and the conversation with bench/peers.py, which times the others.

# The value of --name=VALUE among the arguments of the script.
option <- function(name, otherwise) {
  found <- grep(paste0("^--", name, "="), commandArgs(TRUE), value = TRUE)
  if (length(found) > 0L) sub("^[^=]*=", "", found[1L]) else otherwise
}

period <- 1000003 # as in peers.py

# Numbers in [0, 1), the same as in peers.py.
pattern <- function(position, n) {
  i <- seq_len(min(n, period)) - 1
  (i * 7919 + 104729 * position) %% period / period
}

spec_extents <- function(spec) as.integer(strsplit(sub(".*:", "", spec), "x")[[1]])
spec_count <- function(spec, n) {
  if (lengths(strsplit(spec, ":")) == 4L) prod(spec_extents(spec)) else n
}

# The values of an operand such as "f32:-10:10" as an R vector; "f32:-10:10:4000x5000" has
# these extents, which NumPy has in the reverse order.
operand_values <- function(spec, position, n) {
  part <- strsplit(spec, ":", fixed = TRUE)[[1]]
  n <- spec_count(spec, n)
  low <- as.numeric(part[2])
  high <- as.numeric(part[3])
  if (startsWith(part[1], "ui")) low <- max(low, 0)
  values <- low + (high - low) * pattern(position, n)
  if (part[1] == "bool") {
    values <- pattern(position, n) < 0.5
  } else if (grepl("^u?i", part[1])) {
    values <- floor(values)
  } else if (startsWith(part[1], "c")) {
    values <- complex(real = values, imaginary = low + (high - low) * pattern(position + 10, n))
  }
  values <- rep_len(values, n)
  if (length(part) == 4L) dim(values) <- spec_extents(spec)
  list(dtype = part[1], values = values)
}

r_operand <- function(spec, position, n, contestant) {
  operand <- operand_values(spec, position, n)
  switch(contestant,
    joist = joist::nv_tensor(operand$values, operand$dtype),
    bit64 = bit64::as.integer64(operand$values),
    base = if (operand$dtype == "i32") as.integer(operand$values) else operand$values
  )
}

# ---- contestants of this process ----

models <- new.env(parent = asNamespace("joist"))
for (file in c("bench/learn.R", "bench/files.R")) sys.source(file, models)

operands <- new.env() # one entry per operand, kept while n stays the same
built <- new.env()

forget_operands <- function() {
  rm(list = ls(operands, all.names = TRUE), envir = operands)
  rm(list = ls(built), envir = built)
}

set_operands <- function(n, specs) {
  if (!identical(operands$.n, n)) forget_operands()
  operands$.n <- n
  operands$.specs <- specs
  rm(list = ls(built), envir = built)
}

get_operands <- function(contestant) {
  specs <- operands$.specs
  if (contestant == "single") contestant <- "joist"
  values <- lapply(seq_along(specs), function(i) {
    key <- paste(contestant, specs[i], i)
    if (is.null(operands[[key]])) {
      assign(key, r_operand(specs[i], i, operands$.n, contestant), operands)
    }
    operands[[key]]
  })
  stats::setNames(values, c("a", "b", "c")[seq_along(specs)])
}

# A contestant is a byte-compiled function of the number of repetitions with the expression
# written into its loop, as Python's timeit does it.
build <- function(contestant, expression, mode) {
  values <- get_operands(contestant)
  ours <- contestant %in% c("joist", "single")
  scope <- list2env(values, parent = if (ours) models else asNamespace("stats"))
  call <- str2lang(expression)
  if (mode == "jit") {
    f <- function() NULL
    formals(f) <- lapply(values, function(x) NULL)
    body(f) <- call
    environment(f) <- scope
    scope$f <- joist::jit(f)
    call <- as.call(c(quote(f), lapply(names(values), as.name)))
  }
  loop <- as.function(list(count = NULL, bquote({
    start <- Sys.time()
    for (i in seq_len(count)) .(call)
    as.numeric(Sys.time()) - as.numeric(start)
  })), scope)
  run <- as.function(list(call), scope)
  result <- run()
  entry <- list(loop = compiler::cmpfun(loop), run = compiler::cmpfun(run), length = length(result))
  assign(contestant, entry, built)
  if (joist::is_tensor(result)) format(joist::dtype(result)) else class(result)[1]
}

time_here <- function(contestant, samples, goal) {
  loop <- built[[contestant]]$loop
  once <- loop(1) # also the warm-up of this turn
  count <- 1
  while (once * count < goal) {
    count <- max(2 * count, floor(goal / max(once, 1e-9)))
    once <- loop(count) / count
  }
  vapply(seq_len(samples), function(i) loop(count) / count, 0)
}

time_loop <- function(samples, threads) {
  .C("baseline_add", threads, as.integer(samples + 1), seconds = double(samples + 1))$seconds[-1]
}

sampled_values <- function(contestant) {
  result <- built[[contestant]]$run()
  values <- if (joist::is_tensor(result)) {
    # As Python's float() does, 64-bit integers may be rounded here.
    wide <- format(joist::dtype(result)) %in% c("i64", "ui64")
    joist::as_array(result, if (wide) "double")
  } else {
    result
  }
  n <- length(values)
  k <- seq_len(min(n, 1000)) - 1
  picked <- values[(k * (n - 1)) %/% max(length(k) - 1, 1) + 1]
  if (is.complex(picked)) c(Re(picked), Im(picked)) else as.numeric(picked)
}

status_bytes <- function(field) {
  line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}

# Bytes that one call adds to the largest resident size, from an empty pool.
peak_here <- function(contestant) {
  run <- built[[contestant]]$run
  gc()
  joist::nv_trim_memory()
  writeLines("5", "/proc/self/clear_refs")
  before <- status_bytes("VmRSS")
  result <- run()
  after <- status_bytes("VmHWM")
  force(result)
  after - before
}

# ---- contestants of the Python process ----

start_peers <- function(python, threads, log, script = "bench/peers.py") {
  port <- 20000L + Sys.getpid() %% 20000L
  server <- serverSocket(port)
  on.exit(close(server))
  system2(python, c(script, port, threads), stdout = log, stderr = log, wait = FALSE)
  connection <- tryCatch(
    socketAccept(server, blocking = TRUE, open = "r+", timeout = 600),
    error = function(e) stop("the Python process did not start; see ", log, call. = FALSE)
  )
  hello <- strsplit(strsplit(readLines(connection, 1L), " ")[[1]], "=", fixed = TRUE)
  versions <- stats::setNames(vapply(hello, `[`, "", 2L), vapply(hello, `[`, "", 1L))
  list(connection = connection, versions = versions, log = log)
}

ask <- function(peers, ...) {
  writeLines(paste(..., sep = "\t"), peers$connection)
  answer <- readLines(peers$connection, 1L)
  if (length(answer) == 0L) stop("the Python process ended; see ", peers$log, call. = FALSE)
  if (startsWith(answer, "error: ")) stop(answer, call. = FALSE)
  answer
}

ask_numbers <- function(...) as.numeric(strsplit(ask(...), " ", fixed = TRUE)[[1]])
