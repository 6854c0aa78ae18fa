# Random dtypes, shapes and tensors, and what they are made of, for valid.R.

pick <- function(x) x[[sample.int(length(x), 1L)]]
chance <- function(p) runif(1L) < p

all_dtypes <- grep("^(bool|[a-z]+(8|16|32|64|128))$", dtypes(), value = TRUE) # no narrow ones
dtype_kinds <- c(
  bool = "bool", i = "int", ui = "uint", f = "float", bf = "float", c = "complex", bc = "complex"
)
dtype_kinds <- vapply(all_dtypes, function(dtype) dtype_kinds[[sub("[0-9]+$", "", dtype)]], "")
dtype_sizes <- ifelse(all_dtypes == "bool", 1, as.integer(sub("^[a-z]+", "", all_dtypes)) / 8)

# One of these kinds; seldom of any.
dtype_of <- function(kinds) {
  if (chance(0.02)) pick(all_dtypes) else pick(all_dtypes[dtype_kinds %in% kinds])
}
kind_of <- function(dtype) dtype_kinds[[match(dtype, all_dtypes)]]

# ---- shapes ----

# Around the lengths of vectors; of rows and of what is taken at once; of tiles, chunks and blocks,
# and of what several threads share.
short <- c(1:9, 15:17, 31:33, 63:65)
long <- c(127:129, 255:257, 511:513, 1023:1025, 2047:2049, 4095:4097)
longest <- c(16383:16385, 32767:32769, 65535:65537, 131073L, 262143:262145, 400000L)

random_shape <- function(rank = NULL) {
  r <- if (is.null(rank)) runif(1L) else 1
  if (r < 0.001) {
    n <- pick(longest)
    return(pick(list(n, c(n %/% 3L, 3L), c(3L, n %/% 3L), c(n %/% 64L, 2L, 32L))))
  }
  if (r < 0.02) {
    n <- pick(long)
    return(pick(list(n, n, c(n, 2L), c(2L, n), c(3L, n, 1L))))
  }
  if (is.null(rank)) rank <- sample(0:5, 1L, prob = c(2, 6, 6, 3, 2, 1))
  extents <- short[sample.int(length(short), rank, TRUE)]
  while (prod(extents) > 400) {
    most <- which.max(extents)
    extents[most] <- extents[most] %/% 2L
  }
  if (rank > 0L && chance(0.06)) extents[sample.int(rank, 1L)] <- 0L
  extents
}

# The shape of something that is repeated to this one.
narrowed <- function(shape) {
  r <- runif(1L)
  if (r < 0.5 || length(shape) == 0L) {
    return(shape)
  }
  if (r < 0.65) {
    return(integer())
  }
  replace(shape, runif(length(shape)) < 0.4, 1L)
}

# Another shape of as many elements.
reshaped <- function(shape) {
  pick(list(prod(shape), rev(shape), c(shape, 1L), c(1L, shape), shape[shape != 1L]))
}

some_dims <- function(rank) {
  if (rank == 0L || chance(0.3)) NULL else sample.int(rank, sample.int(rank, 1L))
}
some_dim <- function(rank) if (rank == 0L || chance(0.3)) NULL else sample.int(rank, 1L)

# ---- elements ----

edges <- c(
  0, -0, 1, -1, 2, 3, 0.5, -0.5, 1.5, 2.5, 7, 8, 31, 32, 63, 64, 65, 127, 128, -128, 255, 256,
  32767, -32768, 65504, 65535, 2^31 - 1, -2^31, 2^32 - 1, 2^53, -2^63, 2^63, 2^64, 1e30, 1e-40,
  1e-320, .Machine$double.xmax, Inf, -Inf, NaN, pi
)

random_numbers <- function(n, style) {
  switch(style,
    whole = sample(-4:9, n, TRUE),
    positive = sample.int(5L, n, TRUE),
    share = runif(n, 0.05, 0.95),
    edge = edges[sample.int(length(edges), n, TRUE)],
    rnorm(n, sd = 3)
  )
}

random_style <- function() sample(c("whole", "positive", "share", "edge", "wide"), 1L)

# Of numbers of a style, or of any bits.
random_tensor <- function(dtype, shape, style = random_style(), ambiguous = chance(0.1)) {
  n <- prod(shape)
  if (style == "whole" && dtype != "bool" && chance(0.2)) {
    bytes <- as.raw(sample.int(256L, n * dtype_sizes[[match(dtype, all_dtypes)]], TRUE) - 1L)
    return(nv_read_bin(bytes, dtype, shape = shape))
  }
  x <- random_numbers(n, style)
  kind <- kind_of(dtype)
  if (kind == "complex") x <- complex(real = x, imaginary = random_numbers(n, style))
  if (style == "share" && kind %in% c("int", "uint")) x <- floor(100 * x)
  if (style == "share" && kind == "bool") x <- x > 0.5
  wide <- if (is.complex(x)) "c128" else if (is.logical(x)) "bool" else "f64"
  nv_convert(nv_tensor(x, wide, shape), dtype, ambiguous)
}

# Whole numbers from low to high, of a dtype that has them.
random_positions <- function(low, high, shape, dtype = "i64") {
  n <- prod(shape)
  nv_convert(nv_tensor(low + sample.int(high - low + 1L, n, TRUE) - 1L, shape = shape), dtype)
}
