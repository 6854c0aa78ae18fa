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

# Milliseconds of joist, base R, NumPy and JAX, one group of bars per case: some that base R can
# compute, and some whose types base R lacks.
draw_bars <- function() {
  rows <- rows_of(read_benchmark("bench/results"), "large", "judged")
  shown <- c(
    "x + y f64", "exp f64", "sum f64", "x + y i32", "i32 + f32", "f16 + f16", "ui8 + i8",
    "12 operations f32"
  )
  rows <- rows[rows$n >= 1e6, ]
  rows <- rows[match(shown, rows$case), ]
  who <- c("jax", "numpy", "base", "joist")
  times <- 1e3 * t(as.matrix(rows[rev(seq_len(nrow(rows))), who]))
  graphics::par(mar = c(2.6, 8.5, 0.2, 0.8), las = 1, mgp = c(1.6, 0.4, 0), tcl = -0.2, cex = 0.85)
  at <- graphics::barplot(times,
    beside = TRUE, horiz = TRUE, border = NA, col = contestant_colours[who], space = c(0, 0.6),
    xlim = c(0, 1.15 * max(times, na.rm = TRUE)), names.arg = rev(rows$case),
    xlab = "milliseconds for 2e7 elements, two threads"
  )
  labels <- ifelse(is.na(times), "", sprintf("%.3g", times))
  graphics::text(times, at, labels, pos = 4, offset = 0.2, cex = 0.65, xpd = NA)
  graphics::legend("right", rev(contestants[who]),
    fill = rev(contestant_colours[who]), border = NA, bty = "n"
  )
}

write_svg("lattice.svg", 7, 5, function() plot(promotion_rules("anvil")))
write_svg("benchmark.svg", 7, 4.6, draw_bars)
