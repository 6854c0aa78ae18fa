# Saturating integers beside Octave: sums, differences, products, quotients, negatives and absolute
# values of random integers and extremes, of every dtype that Octave has; of those of up to 32 bits
# also with doubles and singles.
#
#   Rscript tests/living/saturation.R [ELEMENTS]
#
# Exit status 77 if octave-cli is not installed.

suppressPackageStartupMessages(library(joist))

given <- commandArgs(TRUE)
count <- if (length(given) > 0L) as.integer(given[1L]) else 100000L
octave <- Sys.which("octave-cli")
if (!nzchar(octave)) quit(status = 77L)
folder <- tempfile()
dir.create(folder)
kinds <- c("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
operations <- list(
  add = list(function(a, b) a + b, "a + b"), subtract = list(function(a, b) a - b, "a - b"),
  multiply = list(function(a, b) a * b, "a .* b"), divide = list(function(a, b) a / b, "a ./ b"),
  negate = list(function(a, b) -a, "-a"),
  absolute = list(function(a, b) abs(a), "abs(a)")
)
# With floats: the operand that is not an integer is c.
mixed <- list(
  add = list(function(a, c) a + c, "a + c"), subtract = list(function(a, c) c - a, "c - a"),
  multiply = list(function(a, c) a * c, "a .* c"), divide = list(function(a, c) a / c, "a ./ c"),
  invert = list(function(a, c) c / a, "c ./ a"), root = list(function(a, c) a^c, "a .^ c")
)
floats <- c(f64 = "double", f32 = "single")

path <- function(...) file.path(folder, paste(..., sep = "_"))
# A third of them is small, a tenth an end of the dtype.
draw <- function(dtype) {
  info <- dtype_info(dtype)
  file <- path("random")
  writeBin(as.raw(sample(0:255, count * info$bits / 8, replace = TRUE)), file)
  x <- nv_read_bin(file, dtype)
  small <- sample(count, count %/% 3)
  x[small] <- nv_tensor(sample(0:100, length(small), replace = TRUE), dtype)
  for (end in list(info$min, info$max)) x[sample(count, count %/% 20)] <- end
  x
}
# Small numbers with fractions, multiples of 0.5, large numbers, zeros, infinities and NaN.
draw_floats <- function() {
  sort_of <- sample(4L, count, replace = TRUE, prob = c(6, 2, 1, 0.2))
  y <- stats::runif(count, -4, 4)
  halves <- sample(-40:40, count, replace = TRUE) / 2
  y[sort_of == 2L] <- halves[sort_of == 2L]
  y[sort_of == 3L] <- (y * 10^stats::runif(count, 0, 12))[sort_of == 3L]
  y[sort_of == 4L] <- sample(c(0, -0, Inf, -Inf, NaN), sum(sort_of == 4L), replace = TRUE)
  y
}
for (float in names(floats)) nv_write_bin(nv_tensor(draw_floats(), float), path(float, "c"))
operands <- lapply(stats::setNames(nm = kinds), function(dtype) {
  pair <- list(a = draw(dtype), b = draw(dtype))
  for (side in names(pair)) nv_write_bin(pair[[side]], path(dtype, side))
  pair
})
writeLines(c(
  "function x = get(name, class)", "  f = fopen(name);",
  "  x = fread(f, Inf, [class, \"=>\", class]);", "  fclose(f);", "endfunction",
  "function put(name, x)", "  f = fopen(name, \"w\");", "  fwrite(f, x, class(x));", "  fclose(f);",
  "endfunction",
  unlist(lapply(kinds, function(dtype) {
    class <- sub("i", "int", dtype)
    c(
      sprintf("a = get(\"%s\", \"%s\");", path(dtype, "a"), class),
      sprintf("b = get(\"%s\", \"%s\");", path(dtype, "b"), class),
      sprintf("put(\"%s\", %s);", path(dtype, names(operations)), vapply(operations, `[[`, "", 2L)),
      if (!grepl("64", dtype)) {
        lapply(names(floats), function(float) {
          c(
            sprintf("c = get(\"%s\", \"%s\");", path(float, "c"), floats[[float]]),
            sprintf(
              "put(\"%s\", %s);", path(dtype, float, names(mixed)), vapply(mixed, `[[`, "", 2L)
            )
          )
        })
      }
    )
  }))
), path("ask.m"))
if (system2(octave, c("--norc", "--quiet", path("ask.m"))) != 0L) quit(status = 1L)

compared <- 0
wrong <- 0
compare <- function(dtype, name, f, a, b) {
  ours <- with_promotion("octave", f(a, b), on = c(overflow = "saturate"))
  theirs <- nv_read_bin(path(dtype, name), dtype, shape = count)
  differ <- which(as.logical(ours != theirs))
  compared <<- compared + count
  wrong <<- wrong + length(differ)
  if (length(differ) > 0L) {
    k <- differ[1L]
    cat(sprintf(
      "%s %s: %d differ; of %s and %s, %s by Octave, %s by joist\n", dtype, name, length(differ),
      format(a[k]), format(b[k]), format(theirs[k]), format(ours[k])
    ))
  }
}
for (dtype in kinds) {
  pair <- operands[[dtype]]
  for (name in names(operations)) compare(dtype, name, operations[[name]][[1L]], pair$a, pair$b)
  for (float in if (!grepl("64", dtype)) names(floats)) {
    c <- nv_read_bin(path(float, "c"), float, shape = count)
    for (name in names(mixed)) {
      compare(dtype, paste(float, name, sep = "_"), mixed[[name]][[1L]], pair$a, c)
    }
  }
}
cat(sprintf("%d compared with Octave, %d differ\n", compared, wrong))
quit(status = if (wrong > 0) 1L else 0L)
