# What the results were measured on, as a data frame of fact and value.
describe_machine <- function(peer_versions, threads, mode) {
  first_line <- function(path, pattern) {
    lines <- tryCatch(readLines(path, warn = FALSE), error = function(e) character())
    sub(pattern, "\\1", grep(pattern, lines, value = TRUE)[1L])
  }
  output <- function(...) {
    tryCatch(system2(..., stdout = TRUE, stderr = FALSE)[1L], error = function(e) NA)
  }
  r_program <- file.path(R.home("bin"), "R")
  compiler <- strsplit(output(r_program, c("CMD", "config", "CC")), " ", fixed = TRUE)[[1L]][1L]
  library_file <- system.file(paste0("libs/joist", .Platform$dynlib.ext), package = "joist")
  version <- function(package) {
    if (!requireNamespace(package, quietly = TRUE)) return(NA)
    as.character(utils::packageVersion(package))
  }
  huge_pages <- first_line("/sys/kernel/mm/transparent_hugepage/enabled", "^(.*)$")
  facts <- c(
    date = format(Sys.Date()),
    processor = first_line("/proc/cpuinfo", "^model name\\s*: *(.*)$"),
    mode = mode,
    cores = parallel::detectCores(),
    threads = threads,
    statistic = if (nzchar(Sys.getenv("JOIST_BENCH_BEST"))) "minimum" else "median",
    memory_bytes = 1024 * as.numeric(first_line("/proc/meminfo", "^MemTotal: *([0-9]+) kB$")),
    huge_pages = sub(".*\\[(.*)\\].*", "\\1", huge_pages),
    system = paste(Sys.info()[c("sysname", "machine")], collapse = " "),
    r = paste(R.version$major, R.version$minor, sep = "."),
    compiler = output(compiler, "--version"),
    joist = version("joist"),
    instruction_set = joist::joist_info()$instruction_set,
    matrix_products = joist::joist_info()$blas,
    bit64 = version("bit64"),
    peer_versions,
    install_seconds = Sys.getenv("JOIST_BENCH_INSTALL_SECONDS", NA),
    library_bytes = file.size(library_file),
    load_seconds = signif(stats::median(replicate(5L, load_seconds(r_program))), 3L)
  )
  facts <- facts[!is.na(facts)]
  data.frame(fact = names(facts), value = unname(facts))
}

# Seconds that library(joist) takes in a fresh R process.
load_seconds <- function(r_program) {
  code <- "cat(system.time(library(joist))[[\"elapsed\"]])"
  as.numeric(system2(r_program, c("--vanilla", "--no-echo", "-e", shQuote(code)), stdout = TRUE))
}
