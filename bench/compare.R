# Runs the benchmark: every case of bench/cases.csv and bench/matrix.csv by all contestants
# that take part in it, in turns, and checks that they agree. Called by bench/run:
#
#   R -f bench/compare.R --args MODE THREADS PYTHON RESULTS
#
# MODE is full, quick (few repetitions) or judged (only the cases of bench/cases.csv).
# RESULTS is a folder; benchmark.csv and benchmark_machine.csv are written there.
arguments <- commandArgs(TRUE)
mode <- arguments[1]
threads <- as.integer(arguments[2])
results <- arguments[4]
effort <- if (mode == "quick") {
  list(turns = 4L, samples = 3L, goal = 2e-3, matrix_turns = 3L, matrix_goal = 5e-3)
} else {
  list(turns = 7L, samples = 3L, goal = 1e-2, matrix_turns = 5L, matrix_goal = 2e-2)
}

statistic <- if (nzchar(Sys.getenv("JOIST_BENCH_BEST"))) min else stats::median

library(joist)
source("bench/joist.R")
dyn.load(file.path(results, "..", paste0("baseline", .Platform$dynlib.ext)))
nv_set_threads(threads)
peers <- start_peers(arguments[3], threads, file.path(results, "..", "peers.log"))
has_bit64 <- requireNamespace("bit64", quietly = TRUE)
in_this_process <- c("joist", "single", "base", if (has_bit64) "bit64", "loop")
all_contestants <- c(
  "joist", "single", "loop", "base", "bit64", "numpy", "numexpr", "jax", "torch"
)
available <- intersect(all_contestants, c(in_this_process, names(peers$versions)))

eps <- c(f16 = 2^-10, bf16 = 2^-7, f32 = 2^-23, c64 = 2^-23, f64 = 2^-52, c128 = 2^-52)

bytes_of <- c(
  bool = 1, i8 = 1, i16 = 2, i32 = 4, i64 = 8, ui8 = 1, ui16 = 2, ui32 = 4, ui64 = 8,
  f16 = 2, bf16 = 2, f32 = 4, f64 = 8, c64 = 8, c128 = 16
)

# "" when the sampled values agree: integers exactly, floats within 16 units of the coarser
# dtype, or what the rounding errors of summing n numbers in any order may come to.
disagreement <- function(ours, theirs, dtypes, n, summed = length(ours) <= 2L) {
  if (length(ours) != length(theirs)) return("another number of values")
  unit <- max(0, eps[dtypes], na.rm = TRUE)
  allowed <- unit * if (summed) max(16, 4 * sqrt(n)) else 16
  same <- ours == theirs | (is.nan(ours) & is.nan(theirs))
  off <- abs(ours - theirs) / pmax(1, abs(ours))
  worst <- max(0, off[!(same %in% TRUE)])
  if (is.na(worst) || worst > allowed) sprintf("off by %.2g", worst) else ""
}

# Which side a reduction that disagrees is wrong on: distances from base R's result in double.
explain_reduction <- function(case, ours, theirs, who) {
  exact <- tryCatch(
    eval(str2lang(case$joist), lapply(get_operands("joist"), joist::as_array), baseenv()),
    error = function(e) NULL
  )
  if (!is.numeric(exact)) return(NULL)
  off <- abs(c(ours, theirs) - exact) / max(1, abs(exact))
  if (!isTRUE(off[1] < off[2])) return(NULL)
  sprintf("%s is off by %.1g, joist by %.1g", who, off[2], off[1])
}

build_all <- function(contestants, case, n) {
  built_dtypes <- character()
  problems <- character()
  for (who in contestants) {
    dtype <- tryCatch(
      if (who == "loop") {
        .C("baseline_prepare", as.double(n))
        "f32"
      } else if (who %in% in_this_process) {
        build(who, case$joist, case$mode)
      } else {
        ask(peers, "build", who, case$python)
      },
      error = function(e) {
        problems <<- c(problems, paste0(who, ": ", sub("\n.*", "", conditionMessage(e))))
        NULL
      }
    )
    if (!is.null(dtype)) built_dtypes[who] <- dtype
  }
  list(dtypes = built_dtypes, problems = problems)
}

time_once <- function(who, samples, goal, threads) {
  if (who == "loop") {
    time_loop(samples, threads)
  } else if (who %in% in_this_process) {
    if (who == "single") {
      nv_set_threads(1L)
      on.exit(nv_set_threads(threads))
    }
    time_here(who, samples, goal)
  } else {
    ask_numbers(peers, "time", who, samples, format(goal))
  }
}

# What there is to say about the results: who differs from joist, who gives another dtype.
compare_results <- function(group, case, n, dtypes) {
  compared <- setdiff(names(dtypes), "loop")
  if (!"joist" %in% compared || case$mode == "call") {
    return(character())
  }
  remarks <- character()
  ours <- sampled_values("joist")
  for (who in setdiff(compared, "joist")) {
    here <- who %in% in_this_process
    theirs <- if (here) sampled_values(who) else ask_numbers(peers, "values", who)
    summed <- length(ours) <= 2L || group == "arrays"
    wrong <- disagreement(ours, theirs, dtypes[c("joist", who)], n, summed)
    if (nzchar(wrong)) {
      told <- if (length(ours) == 1L) explain_reduction(case, ours, theirs, who)
      remarks <- c(remarks, if (is.null(told)) paste("DIFFERS:", who, wrong) else told)
    }
  }
  other <- dtypes[setdiff(compared, c("joist", "base", "bit64"))]
  other <- other[other != dtypes["joist"]]
  if (length(other) > 0L) remarks <- c(remarks, paste(names(other), "gives", other))
  remarks
}

# One row of the results: the seconds of each contestant.
measure <- function(group, case, specs, n, contestants, turns, samples, goal, used = threads) {
  set_operands(n, specs)
  ask(peers, "operands", format(n, scientific = FALSE), paste(specs, collapse = "\t"))
  contestants <- intersect(c("joist", contestants), available)
  ready <- build_all(contestants, case, n)
  contestants <- names(ready$dtypes)
  seconds <- stats::setNames(rep(list(numeric()), length(contestants)), contestants)
  for (turn in seq_len(turns)) {
    for (who in if (turn %% 2L) contestants else rev(contestants)) {
      seconds[[who]] <- c(seconds[[who]], time_once(who, samples, goal, used))
    }
  }
  remarks <- c(ready$problems, compare_results(group, case, n, ready$dtypes[contestants]))
  dtypes <- sub(":.*", "", specs)
  result <- unname(ready$dtypes["joist"])
  row <- data.frame(
    group = group, case = case$case, operands = paste(dtypes, collapse = " "), n = n,
    threads = used, unit = "s", result = result,
    bytes = sum(
      vapply(specs, spec_count, 0, n) * bytes_of[dtypes], built$joist$length * bytes_of[result]
    ),
    remark = paste(remarks, collapse = "; ")
  )
  for (who in all_contestants) {
    row[[who]] <- if (length(seconds[[who]]) > 0L) signif(statistic(seconds[[who]]), 4) else NA
  }
  cat(sprintf("%-8s %-26s %-12s %9s  ", group, case$case, row$operands, format(n, big.mark = " ")),
    sprintf("%s %s  ", contestants, time_text(unlist(row[contestants]))), row$remark, "\n",
    sep = ""
  )
  row
}

time_text <- function(s) {
  ifelse(s < 1e-3, sprintf("%.4g us", 1e6 * s), sprintf("%.4g ms", 1e3 * s))
}

words <- function(text) strsplit(text, " ", fixed = TRUE)[[1]]

forget <- function() {
  forget_operands()
  ask(peers, "forget")
  invisible(gc())
}

available_memory <- function() {
  lines <- tryCatch(readLines("/proc/meminfo"), error = function(e) "")
  line <- grep("^MemAvailable:", lines, value = TRUE)
  if (length(line) == 1L) 1024 * as.numeric(gsub("[^0-9]", "", line)) else 4e9
}

run_cases <- function(cases) {
  lapply(seq_len(nrow(cases)), function(i) {
    case <- cases[i, ]
    forget()
    measure(
      case$group, case, words(case$operands), as.numeric(case$n), words(case$contestants),
      effort$turns, effort$samples, effort$goal
    )
  })
}

run_growth <- function(case) {
  sizes <- 10^(0:8)
  lapply(sizes[sizes * 60 < available_memory()], function(n) {
    forget()
    measure(
      "growth", case, words(case$operands), n, c("numpy", "jax", "torch"),
      effort$turns, effort$samples, effort$goal
    )
  })
}

run_scaling <- function(cases) {
  on.exit(nv_set_threads(threads))
  rows <- list()
  for (i in seq_len(nrow(cases))) {
    forget()
    for (used in seq_len(parallel::detectCores())) {
      nv_set_threads(used)
      rows <- c(rows, list(measure(
        "threads", cases[i, ], words(cases$operands[i]), as.numeric(cases$n[i]),
        if (i == 1L) "loop", effort$turns, effort$samples, effort$goal, used
      )))
    }
  }
  rows
}

# Runs beside processes that do nothing but compute, `each` for every core. joist takes part with
# one thread as well, which is what more threads must not make slower.
run_busy <- function(cases, each, label) {
  busy <- vapply(seq_len(each * parallel::detectCores()), function(i) {
    as.integer(system("while :; do :; done >/dev/null 2>&1 & echo $!", intern = TRUE))
  }, 0L)
  on.exit(tools::pskill(busy))
  cases$case <- paste(cases$case, label, sep = ", ")
  cases$contestants <- "single numpy jax"
  cases$group <- "busy"
  run_cases(cases)
}

# Peak memory of one call beyond what is there before it: bytes in the columns of seconds.
run_peak <- function(cases) {
  lapply(seq_len(nrow(cases)), function(i) {
    case <- cases[i, ]
    forget()
    row <- measure(
      "peak", case, words(case$operands), as.numeric(case$n), words(case$contestants), 1L, 1L, 0
    )
    row$unit <- "byte"
    row$loop <- NA
    for (who in intersect(all_contestants, available)) {
      if (is.na(row[[who]])) next
      row[[who]] <- tryCatch(
        if (who %in% in_this_process) peak_here(who) else ask_numbers(peers, "peak", who),
        error = function(e) NA, warning = function(w) NA
      )
    }
    row
  })
}

kind_of <- function(dtype) {
  kinds <- c(b = "bool", u = "uint", i = "int", f = "float", c = "complex")
  kinds[[substr(dtype, 1, 1)]]
}

run_matrix <- function(operations, sizes) {
  rows <- list()
  for (dtype in setdiff(names(bytes_of), "bf16")) { # NumPy has no bf16
    has_kind <- vapply(operations$kinds, function(kinds) kind_of(dtype) %in% words(kinds), NA)
    here <- operations[has_kind, ]
    for (n in sizes) {
      forget()
      for (i in seq_len(nrow(here))) {
        case <- list(
          case = here$op[i], mode = "eager", joist = here$joist[i], python = here$python[i]
        )
        rows <- c(rows, list(measure(
          "matrix", case, gsub("^T\\b", dtype, words(here$operands[i])), n, "numpy",
          effort$matrix_turns, 1L, effort$matrix_goal
        )))
      }
    }
  }
  rows
}

# joist's pool has memory to reuse once R has collected the results of a few calls.
set_operands(2e7, c("f32:0:1", "f32:0:1"))
build("joist", "a + b", "eager")
for (i in 1:30) built$joist$run()

cases <- utils::read.csv("bench/cases.csv", colClasses = "character")
beside <- cases$group == "busy"
rows <- run_cases(cases[!beside, ])
competed <- cases[beside | cases$group == "judged", ]
rows <- c(rows, run_busy(competed, 1, "busy"), run_busy(competed, 2, "twice busy"))
if (mode != "judged") {
  judged <- cases[cases$group == "judged", ]
  rows <- c(
    rows, run_growth(judged[1L, ]),
    run_scaling(judged[judged$case %in% c("x + y f32", "12 operations f32", "sum f32"), ]),
    run_peak(judged[judged$mode == "jit", ]),
    run_matrix(utils::read.csv("bench/matrix.csv", colClasses = "character"), c(1e3, 1e5, 1e7))
  )
}
forget()
close(peers$connection)
table <- do.call(rbind, rows)
write_table <- function(table, name, quote) {
  file <- file.path(results, name)
  utils::write.csv(table, file, row.names = FALSE, na = "", quote = quote)
}
write_table(table, "benchmark.csv", match(c("case", "remark"), names(table)))
source("bench/machine.R")
write_table(describe_machine(peers$versions, threads, mode), "benchmark_machine.csv", TRUE)
