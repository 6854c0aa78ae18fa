# Prints the results in a folder and draws their figures there:
#
#   R -f bench/report.R --args RESULTS
results <- commandArgs(TRUE)[1]
source("bench/tables.R")
benchmark <- read_benchmark(results)
options(width = 160)

show <- function(title, table) {
  cat("\n== ", title, "\n", sep = "")
  print(table, row.names = FALSE, right = FALSE)
}

figure <- function(name, rows, draw, width = 1000, height = 600, ...) {
  if (nrow(rows) == 0L) return(invisible())
  grDevices::png(file.path(results, name), width, height, res = 110)
  on.exit(grDevices::dev.off())
  draw(rows, ...)
}

large <- rows_of(benchmark, "judged", "large")
bandwidth <- loop_bandwidth(benchmark)
cat(paste0(format(names(benchmark$machine)), "  ", benchmark$machine), sep = "\n")
cat(sprintf("\nC loop: %.1f GB/s\n", bandwidth / 1e9))
reported <- rows_of(benchmark, "judged", "large", "small", "arrays", "learn", "files", "busy")
show("Times", time_table(reported))
show("joist's time / peer's time", ratio_table(reported))

# The project's own aims.
aims <- utils::read.csv("bench/aims.csv")
measured <- reported
aims$is <- vapply(seq_len(nrow(aims)), function(i) {
  row <- measured[measured$case == aims$case[i] & measured$n == aims$n[i], ]
  if (aims$peer[i] == "microseconds") 1e6 * row$joist else row$joist / row[[aims$peer[i]]]
}, 0)
aims$is <- round(aims$is, 2)
aims$met <- ifelse(aims$is <= aims$most, "yes", "NO")
show("Aims", aims)

matrix <- rows_of(benchmark, "matrix")
if (nrow(matrix) > 0L) {
  ratio <- matrix$joist / matrix$numpy
  cat("\n== Matrix: joist's time / NumPy's, quantiles by n\n")
  print(round(do.call(rbind, tapply(ratio, matrix$n, stats::quantile, na.rm = TRUE)), 2))
  slower <- slower_table(matrix, 1.1)
  show(
    paste(nrow(slower), "of", nrow(matrix), "cases slower than NumPy by over 10%, the worst"),
    utils::head(slower, 60)
  )
  utils::write.csv(slower, file.path(results, "slower.csv"), row.names = FALSE)
}
peak <- rows_of(benchmark, "peak")
if (nrow(peak) > 0L) {
  who <- taking_part(peak)
  show(
    "Peak memory of one call, in results",
    cbind(peak["case"], round(peak[who] / (4 * peak$n), 2))
  )
}
wrong <- benchmark$table[grepl("DIFFERS|joist: ", benchmark$table$remark), ]
if (nrow(wrong) > 0L) {
  show("Failures and results that differ", wrong[c("group", "case", "operands", "n", "remark")])
}

figure("ratios.png", large, plot_ratios)
judged <- rows_of(benchmark, "judged")
figure("bandwidth.png", judged, plot_bandwidth, height = 900, bandwidth = bandwidth)
figure("growth.png", rows_of(benchmark, "growth"), plot_growth)
figure("threads.png", rows_of(benchmark, "threads"), plot_threads)
figure("matrix.png", matrix, plot_matrix, width = 1500, height = 1500)
cat("\nTables and figures are in", results, "\n")
