# Tables and figures of benchmark.csv and benchmark_machine.csv, which `sh bench/run` writes. One
# row is one case; the columns from `joist` on hold the median seconds of each contestant, or
# bytes where `unit` says so.

contestants <- c(
  joist = "joist", single = "joist, one thread", loop = "C loop", base = "base R",
  bit64 = "bit64", numpy = "NumPy", numexpr = "numexpr", jax = "JAX (jit)", torch = "PyTorch"
)
contestant_colours <- c(
  joist = "#b2182b", single = "#ef8a62", loop = "#777777", base = "#2166ac",
  bit64 = "#67a9cf", numpy = "#1b7837", numexpr = "#a6761d", jax = "#762a83", torch = "#e08214"
)

read_benchmark <- function(folder) {
  table <- utils::read.csv(file.path(folder, "benchmark.csv"), check.names = FALSE)
  facts <- utils::read.csv(file.path(folder, "benchmark_machine.csv"), colClasses = "character")
  list(table = table, machine = stats::setNames(facts$value, facts$fact))
}

rows_of <- function(benchmark, ...) benchmark$table[benchmark$table$group %in% c(...), ]

# The contestants that have a number in any of the rows.
taking_part <- function(rows) Filter(function(who) !all(is.na(rows[[who]])), names(contestants))

# Bytes per second of the plain C loop, measured in the same process as joist.
loop_bandwidth <- function(benchmark) {
  row <- rows_of(benchmark, "judged")
  row <- row[!is.na(row$loop), ][1L, ]
  row$bytes / row$loop
}

time_text <- function(seconds) {
  unit <- ifelse(seconds < 1e-3, "\u00b5s", "ms")
  scaled <- seconds * ifelse(seconds < 1e-3, 1e6, 1e3)
  text <- paste(formatC(scaled, digits = 3, format = "fg"), unit)
  ifelse(is.na(seconds), "", text)
}

count_text <- function(n) {
  if (n >= 1e5) sub("e\\+0?", "e", format(n, scientific = TRUE)) else format(n)
}
count_text <- Vectorize(count_text, USE.NAMES = FALSE)

# Times of all contestants, one column each.
time_table <- function(rows) {
  who <- taking_part(rows)
  times <- lapply(rows[who], time_text)
  out <- data.frame(rows$case, count_text(rows$n), times, row.names = NULL)
  stats::setNames(out, c("case", "n", contestants[who]))
}

# joist's time divided by each peer's: below 1, joist is faster.
ratio_table <- function(rows) {
  who <- setdiff(taking_part(rows), c("joist", "loop"))
  ratios <- lapply(rows[who], function(theirs) {
    ifelse(is.na(theirs), "", formatC(rows$joist / theirs, digits = 2, format = "f"))
  })
  out <- data.frame(rows$case, ratios, row.names = NULL)
  stats::setNames(out, c("case", contestants[who]))
}

# What joist loses, worst first.
slower_table <- function(rows, limit = 1) {
  who <- setdiff(taking_part(rows), c("joist", "loop"))
  parts <- lapply(who, function(peer) {
    ratio <- rows$joist / rows[[peer]]
    lost <- which(ratio > limit)
    data.frame(
      case = rows$case[lost], operands = rows$operands[lost], n = count_text(rows$n[lost]),
      peer = unname(rep(contestants[peer], length(lost))), joist = time_text(rows$joist[lost]),
      theirs = time_text(rows[[peer]][lost]), ratio = round(ratio[lost], 2)
    )
  })
  out <- do.call(rbind, parts)
  out[order(-out$ratio), ]
}

power_axis <- function(side, range, ...) {
  powers <- seq(floor(log10(range[1L])), ceiling(log10(range[2L])))
  graphics::axis(side, at = 10^powers, labels = parse(text = paste0("10^", powers)), ...)
}

legend_above <- function(who) {
  graphics::legend(
    graphics::grconvertX(0.5, "nfc"), graphics::grconvertY(0.995, "nfc"), contestants[who],
    xjust = 0.5, yjust = 1, fill = contestant_colours[who], border = NA, bty = "n",
    horiz = TRUE, xpd = NA
  )
}

# One line of dots per case, on a scale where equal ratios have equal distances.
plot_ratios <- function(rows) {
  who <- setdiff(taking_part(rows), c("joist", "loop"))
  ratios <- as.matrix(rows$joist / rows[who])
  range <- range(ratios, 0.5, 2, na.rm = TRUE)
  height <- rev(seq_len(nrow(rows)))
  old <- graphics::par(mar = c(4, 14, 2.5, 1), las = 1)
  on.exit(graphics::par(old))
  plot(NULL,
    xlim = range, ylim = c(0.5, nrow(rows) + 0.5), log = "x", yaxt = "n", xaxt = "n",
    xlab = "joist's time / peer's time (left of 1: joist is faster)", ylab = ""
  )
  ticks <- c(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
  graphics::axis(1, at = ticks, labels = as.character(ticks))
  graphics::abline(h = height, col = "#eeeeee")
  graphics::abline(v = 1, col = "#777777")
  graphics::axis(2, at = height, labels = rows$case, tick = FALSE)
  for (peer in who) {
    graphics::points(ratios[, peer], height, pch = 19, cex = 1.3, col = contestant_colours[peer])
  }
  legend_above(who)
}

# Share of the C loop's bandwidth: 1 when the bytes move as fast as that loop moves them.
plot_bandwidth <- function(rows, bandwidth) {
  who <- setdiff(taking_part(rows), "loop")
  share <- t(as.matrix(rows$bytes / rows[who] / bandwidth))
  colnames(share) <- rows$case
  old <- graphics::par(mar = c(4, 14, 2.5, 1), las = 1)
  on.exit(graphics::par(old))
  share <- share[rev(seq_along(who)), rev(seq_len(ncol(share))), drop = FALSE]
  graphics::barplot(share,
    beside = TRUE, horiz = TRUE, border = NA, col = contestant_colours[rev(who)],
    xlab = "bytes of operands and result / time, as a share of the C loop's bandwidth",
    space = c(0, 0.8)
  )
  graphics::abline(v = 1, col = "#777777")
  legend_above(who)
}

plot_growth <- function(rows) {
  who <- taking_part(rows)
  nanoseconds <- 1e9 * rows[who] / rows$n
  old <- graphics::par(mar = c(4, 5, 1, 1), las = 1)
  on.exit(graphics::par(old))
  plot(NULL,
    xlim = range(rows$n), ylim = range(nanoseconds, na.rm = TRUE), log = "xy", xaxt = "n",
    yaxt = "n", xlab = "elements", ylab = "nanoseconds per element"
  )
  power_axis(1, range(rows$n))
  power_axis(2, range(nanoseconds, na.rm = TRUE))
  for (peer in who) {
    graphics::lines(rows$n, nanoseconds[[peer]],
      type = "b", pch = 19, col = contestant_colours[peer]
    )
  }
  graphics::legend("topright", contestants[who],
    col = contestant_colours[who], pch = 19, lty = 1, bty = "n"
  )
}

# Speed with more threads relative to joist's own on one.
plot_threads <- function(rows) {
  cases <- unique(rows$case)
  colours <- grDevices::hcl.colors(length(cases), "Dark 3")
  old <- graphics::par(mar = c(4, 4, 1, 1), las = 1)
  on.exit(graphics::par(old))
  most <- max(rows$threads)
  speeds <- lapply(cases, function(case) {
    seconds <- rows$joist[rows$case == case]
    seconds[1L] / seconds
  })
  loop <- rows[!is.na(rows$loop), ]
  plot(c(1, most), c(1, most),
    type = "l", lty = 3, xlab = "threads", ylab = "speed relative to one thread", xaxt = "n",
    ylim = c(0, max(most, unlist(speeds), na.rm = TRUE))
  )
  graphics::axis(1, at = unique(rows$threads))
  for (i in seq_along(cases)) {
    graphics::lines(rows$threads[rows$case == cases[i]], speeds[[i]],
      type = "b", pch = 19, col = colours[i]
    )
  }
  graphics::lines(loop$threads, loop$loop[1L] / loop$loop,
    type = "b", pch = 1, col = contestant_colours["loop"]
  )
  graphics::legend("bottomright", c(cases, "C loop, x + y f32"),
    col = c(colours, contestant_colours["loop"]), pch = c(rep(19, length(cases)), 1), lty = 1,
    bty = "n"
  )
}

# Every operation and dtype: blue where joist is faster than NumPy, red where it is slower,
# grey where one of the two has no such operation.
plot_matrix <- function(rows) {
  sizes <- sort(unique(rows$n))
  dtype_of <- sub(".* ", "", rows$operands)
  dtypes <- unique(dtype_of)
  operations <- rev(unique(c(rows$case[dtype_of == "f32"], rows$case)))
  steps <- c(-Inf, -3, -2, -1, -0.14, 0.14, 1, 2, 3, Inf) # powers of 2; within 10% is equal
  colours <- grDevices::hcl.colors(9, "Blue-Red 3")
  graphics::layout(matrix(seq_along(sizes), 1L), widths = c(1.45, rep(1, length(sizes) - 1L)))
  old <- graphics::par(las = 1, cex = 0.8)
  on.exit({
    graphics::par(old)
    graphics::layout(1)
  })
  for (n in sizes) {
    first <- n == sizes[1L]
    graphics::par(mar = c(4, if (first) 8 else 0.5, 4.5, 0.5))
    here <- rows$n == n
    where <- cbind(match(dtype_of[here], dtypes), match(rows$case[here], operations))
    level <- matrix(NA_real_, length(dtypes), length(operations))
    level[where] <- as.numeric(cut(log2(rows$joist[here] / rows$numpy[here]), steps))
    plot(NULL,
      xlim = c(0.5, length(dtypes) + 0.5), ylim = c(0.5, length(operations) + 0.5),
      xaxs = "i", yaxs = "i", axes = FALSE, xlab = "", ylab = ""
    )
    box <- graphics::par("usr")
    graphics::rect(box[1L], box[3L], box[2L], box[4L], col = "#cccccc", border = NA)
    graphics::image(seq_along(dtypes), seq_along(operations), level,
      zlim = c(1, 9), col = colours, add = TRUE
    )
    graphics::abline(v = seq_along(dtypes) - 0.5, h = seq_along(operations) - 0.5, col = "white")
    graphics::axis(3, seq_along(dtypes), dtypes, tick = FALSE, las = 2, line = -0.8)
    if (first) graphics::axis(2, seq_along(operations), operations, tick = FALSE, line = -0.8)
    graphics::title(main = paste("n =", count_text(n)), line = 3.2)
  }
  labels <- c(
    "8x faster", "4x", "2x", "faster", "equal", "slower", "2x", "4x", "8x slower"
  )
  graphics::legend(
    graphics::grconvertX(0.5, "ndc"), graphics::grconvertY(0.035, "ndc"), labels,
    xjust = 0.5, yjust = 0.5, fill = colours, bty = "n", horiz = TRUE, xpd = NA
  )
}
