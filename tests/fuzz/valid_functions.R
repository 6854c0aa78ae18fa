# Random calls of functions outside the table of operations, for valid.R: subsets and assignments,
# and functions that consist of several operations. As in valid_operations.R; calls that need
# values say that they must not be compiled.

any_tensor <- function(shape = random_shape(), kinds = unique(dtype_kinds), ...) {
  random_tensor(dtype_of(kinds), shape, ...)
}
real_kinds <- c("int", "uint", "float")

# ---- subsets and assignments ----

# An index of n positions: R's kinds of vectors, and tensors.
random_index <- function(n) {
  if (n == 0L) {
    return(pick(list(integer(), logical(), 0L)))
  }
  some <- sample.int(n, sample.int(min(n, 9L), 1L), TRUE)
  switch(sample.int(11L, 1L),
    some, some + 0.7, -some, runif(n) < 0.5, c(TRUE, FALSE)[seq_len(min(n, 2L))], c(0L, some),
    seq.int(sample.int(n, 1L), sample.int(n, 1L)), some[1L],
    nv_convert(nv_tensor(some), pick(c("i32", "i64", "ui8", "ui32"))),
    nv_tensor(runif(n) < 0.5), integer()
  )
}

# Indices of a tensor: one for each dimension, of which some are left out, or one for all.
random_indices <- function(x) {
  extents <- shape(x)
  r <- runif(1L)
  if (length(extents) != 1L && r < 0.15) {
    return(list(random_index(length(x))))
  }
  if (length(extents) > 1L && r < 0.2 && all(extents > 0L)) {
    return(list(sapply(extents, sample.int, 3L, TRUE)))
  }
  if (r < 0.25) {
    return(list(random_tensor("bool", extents, "share", FALSE)))
  }
  lapply(extents, function(n) if (n > 0L && chance(0.25)) TRUE else random_index(n))
}

knows_positions <- function(indices) {
  !any(vapply(indices, is_tensor, NA))
}

subset_call <- function() {
  x <- any_tensor()
  if (rank_of(x) == 0L) {
    return(list(f = function(x) x[], operands = list(x)))
  }
  indices <- random_indices(x)
  drop <- chance(0.8)
  list(
    f = function(x) do.call(`[`, c(list(x), indices, drop = drop)), operands = list(x),
    compiles = knows_positions(indices)
  )
}

element_call <- function() {
  x <- any_tensor(pmax(random_shape(sample.int(3L, 1L)), 1L))
  at <- lapply(shape(x), sample.int, 1L)
  list(f = function(x) do.call(`[[`, c(list(x), at)), operands = list(x))
}

assignment_call <- function() {
  x <- any_tensor(random_shape(sample.int(3L, 1L)))
  indices <- random_indices(x)
  chosen <- do.call(`[`, c(list(x), indices, drop = FALSE))
  value <- if (chance(0.3)) {
    random_tensor(format(dtype(x)), integer())
  } else if (chance(0.2)) {
    1L
  } else {
    random_tensor(format(dtype(x)), shape(chosen))
  }
  twice <- flag()
  list(
    f = function(x, value) {
      x <- do.call(`[<-`, c(list(x), indices, list(value = value)))
      # The new `x` has only one owner, so this assignment is done in place.
      if (twice) x[] <- value[if (length(value) == 1L) 1L else integer()]
      x
    },
    operands = list(x, value), compiles = FALSE
  )
}

in_place_call <- function() {
  x <- any_tensor(pmax(random_shape(sample.int(2L, 1L)), 1L))
  n <- length(x)
  at <- sample.int(n, min(n, 5L))
  list(f = compiler::cmpfun(function(x) {
    y <- nv_flatten(x)
    y[at] <- y[rev(at)]
    y[[1L]] <- y[[n]]
    y[n + 1L] <- y[1L]
    list(x, y)
  }), operands = list(x))
}

# ---- functions of one tensor ----

one <- list(
  round = function(x, d) nv_round(x, d - 2L), signif = function(x, d) nv_signif(x, d),
  median = function(x, d) nv_median(x), quantile = function(x, d) nv_quantile(x, c(0, 0.3, 1)),
  var = function(x, d) nv_var(x, d), sd = function(x, d) nv_sd(x, d),
  norm = function(x, d) nv_norm(x, d), norm1 = function(x, d) nv_norm(x, p = 1),
  count = function(x, d) nv_count_nonzero(x, d), range = function(x, d) nv_range(x, d),
  softmax = function(x, d) nv_softmax(x, d), log_softmax = function(x, d) nv_log_softmax(x, d),
  logsumexp = function(x, d) nv_logsumexp(x, d), softplus = function(x, d) nv_softplus(x),
  gelu = function(x, d) nv_gelu(x), erf_inv = function(x, d) nv_erf_inv(x),
  polygamma = function(x, d) nv_polygamma(d, x), roll = function(x, d) nv_roll(x, d * 3L),
  roll_dim = function(x, d) nv_roll(x, -1L, d), tril = function(x, d) nv_tril(x, d - 2L),
  triu = function(x, d) nv_triu(x), diag = function(x, d) nv_diag(x),
  reverse = function(x, d) nv_reverse(x, d), rev = function(x, d) rev(x), t = function(x, d) t(x),
  squeeze = function(x, d) nv_squeeze(x), unsqueeze = function(x, d) nv_unsqueeze(x, d),
  flatten = function(x, d) nv_flatten(x), rep = function(x, d) rep(x, d),
  each = function(x, d) rep(x, each = d), head = function(x, d) head(x, d),
  tail = function(x, d) tail(x, d), diff = function(x, d) diff(x, d),
  scale = function(x, d) scale(x), row_sums = function(x, d) rowSums(x, dims = d),
  col_sums = function(x, d) colSums(x, dims = d), row_means = function(x, d) rowMeans(x, dims = d),
  col_means = function(x, d) colMeans(x, dims = d), cov = function(x, d) nv_cov(x),
  cor = function(x, d) nv_cor(x), crossprod = function(x, d) nv_crossprod(x),
  tcrossprod = function(x, d) nv_tcrossprod(x), trace = function(x, d) nv_einsum("ii->i", x),
  einsum = function(x, d) nv_einsum("ij,kj->ik", x, x), split = function(x, d) nv_split(x, 1L, d),
  stack = function(x, d) nv_stack(x, x, dim = d), rbind = function(x, d) rbind(x, x),
  cbind = function(x, d) cbind(x, 1L, x), c = function(x, d) c(x, x, 1L),
  outer = function(x, d) nv_outer(nv_flatten(x), nv_flatten(x)[seq_len(min(3L, length(x)))]),
  zeros = function(x, d) nv_zeros_like(x), full = function(x, d) nv_fill_like(x, 1L),
  apply = function(x, d) nv_apply(x, d, nv_reduce_sum), is_in = function(x, d) nv_is_in(x, x),
  segments = function(x, d) nv_segment_sum(x, rep_len(seq_len(d), shape(x)[1L]), d),
  sum = function(x, d) sum(x), max = function(x, d) max(x), mean = function(x, d) mean(x),
  cumall = function(x, d) cumsum(x), rounded = function(x, d) round(x, d),
  log2 = function(x, d) log(x, 2), normal = function(x, d) nv_pnorm(x),
  density = function(x, d) nv_dnorm(x), qnorm = function(x, d) nv_qnorm(x),
  gamma = function(x, d) nv_pgamma(x, 1.5, 2), qgamma = function(x, d) nv_qgamma(x, 1.5),
  beta = function(x, d) nv_pbeta(x, 0.5, 2), qbeta = function(x, d) nv_qbeta(x, 2, 3),
  binom = function(x, d) nv_dbinom(x, 5, 0.3), pois = function(x, d) nv_ppois(x, 3),
  t_share = function(x, d) nv_pt(x, 4), exponential = function(x, d) nv_qexp(x, 2),
  lbeta = function(x, d) nv_lbeta(x, 2)
)

# Of values that must be known.
known <- list(
  unique = function(x, d) unique(x), duplicated = function(x, d) duplicated(x),
  which = function(x, d) nv_which(x != 0L), which_max = function(x, d) which.max(x),
  any_duplicated = function(x, d) anyDuplicated(x),
  sample = function(x, d) nv_sample(x, min(d, length(x)), key = nv_key(d)),
  sorted = function(x, d) sort(x), as_array = function(x, d) as_array(x),
  text = function(x, d) as.character(x), format = function(x, d) format(x),
  doubles = function(x, d) as.vector(x, "double"),
  list = function(x, d) as.list(head(nv_flatten(x), 5L)),
  bytes = function(x, d) {
    nv_read_bin(nv_write_bin(x, raw(), if (d > 2L) "big" else "little"), dtype(x), shape(x))
  },
  serialized = function(x, d) unserialize(serialize(x, NULL)),
  saved = function(x, d) nv_unserialize(nv_serialize(list(a = x))),
  arrow = function(x, d) do.call(nv_from_arrow, nv_to_arrow(x)[c("array", "schema")]),
  dlpack = function(x, d) nv_from_dlpack(nv_to_dlpack(x)), quantile = function(x, d) quantile(x),
  rank = function(x, d) rank(x), xtfrm = function(x, d) xtfrm(x),
  table = function(x, d) nv_tabulate(x %% 9L), masked = function(x, d) x[x == x],
  equal = function(x, d) all.equal(x, x), data_frame = function(x, d) data.frame(a = nv_flatten(x)),
  rle = function(x, d) rle(nv_flatten(x)),
  explained = function(x, d) format(explain_promotion(dtype(x), "f32"))
)

# What is made for some tensors only.
shares <- c("normal", "gamma", "qgamma", "beta", "qbeta", "qnorm", "erf_inv", "exponential")
ordered <- c("round", "signif", "rounded", "log2", "sorted", "median", "quantile")
of_matrices <- c(
  "tril", "triu", "diag", "scale", "cov", "cor", "einsum", "crossprod", "tcrossprod", "col_sums",
  "col_means", "row_sums", "row_means", "rbind", "cbind", "t"
)

function_call <- function(table, compiles) {
  name <- pick(names(table))
  f <- table[[name]]
  x <- if (name %in% shares) {
    any_tensor(random_shape(sample(0:2, 1L)), "float", "share")
  } else if (name %in% ordered && chance(0.5)) {
    any_tensor(kinds = real_kinds)
  } else if (name %in% of_matrices) {
    any_tensor(random_shape(2L))
  } else if (name == "segments") {
    any_tensor(ranked())
  } else if (name == "trace") {
    any_tensor(rep(sample(0:9, 1L), 2L))
  } else {
    any_tensor()
  }
  least <- max(1L, rank_of(x))
  d <- sample.int(if (startsWith(name, "row_") || startsWith(name, "col_")) 1L else least, 1L)
  list(f = function(x) f(x, d), operands = list(x), compiles = compiles, name = name)
}

# ---- all of them, with how often each is called ----

other_calls <- list(
  subset = function() subset_call(), element = function() element_call(),
  assignment = function() assignment_call(), in_place = function() in_place_call(),
  one = function() function_call(one, TRUE), known = function() function_call(known, FALSE),
  made = function() {
    type <- dtype_of(real_kinds)
    list(f = function() nv_linspace(0L, 9L, sample.int(20L, 1L), type), operands = list())
  },
  sequence = function() {
    type <- dtype_of(real_kinds)
    n <- sample.int(50L, 1L)
    list(f = function() nv_seq(1L, n, dtype = type), operands = list())
  }
)
other_weights <- c(6, 2, 6, 2, 10, 6, 0.5, 0.5)
