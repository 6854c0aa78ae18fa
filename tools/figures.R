# Writes the pictures of README.md: man/figures/lattice.svg, the default rules as drawn by plot(),
# and man/figures/benchmark.svg, some rows of bench/results. Run in the repository's root with joist
# installed.
library(joist)
source("bench/tables.R", encoding = "UTF-8")

# Without a name that differs from one run to the next.
write_svg <- function(name, width, height, draw) {
  file <- file.path("man", "figures", name)
  grDevices::svg(file, width = width, height = height, family = "sans", bg = "white")
  draw()
  grDevices::dev.off()
  lines <- readLines(file)
  writeLines(gsub("surface[0-9]+", "surface1", lines), file)
}

# Milliseconds of joist, NumPy and JAX, one group of bars per case.
draw_bars <- function() {
  rows <- rows_of(read_benchmark("bench/results"), "judged")
  rows <- rows[!is.na(rows$jax) & rows$n >= 1e6, ]
  who <- c("jax", "numpy", "joist")
  times <- 1e3 * t(as.matrix(rows[rev(seq_len(nrow(rows))), who]))
  graphics::par(mar = c(2.6, 11.5, 0.2, 0.8), las = 1, mgp = c(1.6, 0.4, 0), tcl = -0.2, cex = 0.85)
  at <- graphics::barplot(times,
    beside = TRUE, horiz = TRUE, border = NA, col = contestant_colours[who], space = c(0, 0.6),
    xlim = c(0, 1.1 * max(times)), names.arg = rev(rows$case),
    xlab = "milliseconds for 2e7 elements, two threads"
  )
  graphics::text(times, at, sprintf("%.3g", times), pos = 4, offset = 0.2, cex = 0.75, xpd = NA)
  graphics::legend("bottomright", rev(contestants[who]),
    fill = rev(contestant_colours[who]), border = NA, bty = "n"
  )
}

write_svg("lattice.svg", 7, 5, function() plot(promotion_rules("anvil")))
write_svg("benchmark.svg", 7, 4, draw_bars)
