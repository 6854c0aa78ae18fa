# Random calls of the operations of the table, for valid.R: each a list of a function `f` of
# tensors and of these `operands`. By the name of the operation, a function that makes one.

operations <- operation_table()
operation_kinds <- strsplit(operations$kinds, " ")
names(operation_kinds) <- operations$name

# An operation on operands, by its own function where it has one.
applied <- function(name, operands, attributes = list()) {
  f <- if (length(attributes) == 0L) get0(paste0("nv_", name), asNamespace("joist"))
  if (is.null(f)) f <- function(...) run_operation(name, list(...), attributes)
  list(f = f, operands = operands)
}

# A tensor that the operation computes on.
operand_of <- function(name, shape = random_shape(), ...) {
  random_tensor(dtype_of(operation_kinds[[name]]), shape, ...)
}
rank_of <- function(x) length(shape(x))
flag <- function() chance(0.5)

# ---- elementwise operations and reductions ----

# R numbers of the kinds of an operation, which are read in the dtype of the others.
literals <- list(bool = list(TRUE), int = list(1L, 2L, 7L), uint = list(1L, 3L),
  float = list(0.5, 2, 1e3), complex = list(1i, 2 - 1i))

transformed <- function(name, f) {
  x <- operand_of(name, pmax(ranked(), 1L))
  dim <- sample.int(rank_of(x), 1L)
  n <- sample.int(9L, 1L)
  list(f = function(x) f(x, n, dim), operands = list(x))
}

scattered <- function(name) {
  x <- operand_of(name, pmax(random_shape(), 1L))
  at <- random_positions(0L, length(x) - 1L, random_shape(1L))
  applied(name, list(x, at, random_tensor(format(dtype(x)), shape(at))))
}

elementwise_call <- function(row) {
  full <- random_shape()
  whole <- sample.int(row$least, 1L)
  style <- random_style()
  operands <- lapply(seq_len(row$least), function(k) {
    own <- if (k > 1L && chance(0.6)) pick(c("positive", "share")) else style
    if (row$least > 1L && k != whole && chance(0.15)) {
      return(pick(literals[[pick(operation_kinds[[row$name]])]]))
    }
    type <- if (row$name == "ifelse" && k == 1L) "bool" else dtype_of(operation_kinds[[row$name]])
    random_tensor(type, if (k == whole) full else narrowed(full), own)
  })
  if (row$least > 1L && chance(0.4)) { # of one dtype
    known <- Filter(is_tensor, operands)
    operands <- lapply(operands, function(x) {
      if (is_tensor(x) && row$name != "ifelse") nv_convert(x, dtype(known[[1L]])) else x
    })
  }
  call <- applied(row$name, operands)
  generic <- row$generic
  if (nzchar(generic) && chance(0.3)) call$f <- match.fun(generic)
  call
}

reduction_call <- function(row) {
  x <- operand_of(row$name)
  attributes <- list(dims = some_dims(rank_of(x)), drop = flag())
  if (grepl("dtype", row$attributes) && chance(0.2)) {
    wide <- switch(kind_of(format(dtype(x))), complex = "c128", float = "f64", c("i64", "f64"))
    attributes$dtype <- pick(wide)
  }
  f <- nv(row$name)
  list(f = function(x) do.call(f, c(list(x), attributes)), operands = list(x))
}

cumulative_call <- function(row) {
  dim <- NULL
  x <- operand_of(row$name)
  if (rank_of(x) > 0L) dim <- some_dim(rank_of(x))
  f <- nv(row$name)
  list(f = function(x) f(x, dim), operands = list(x))
}

# Operations on floats between 0 and 1 that are one number or have the shape of the result; the
# last is a logarithm where that is said.
distribution_call <- function(row) {
  full <- random_shape(sample(0:2, 1L))
  flags <- intersect(c("lower", "logarithm"), strsplit(row$attributes, " ")[[1L]])
  attributes <- stats::setNames(lapply(flags, function(name) flag()), flags)
  type <- pick(c("f16", "bf16", "f32", "f64"))
  operands <- lapply(seq_len(row$least), function(k) {
    random_tensor(type, if (k == row$least || flag()) full else integer(), "share", FALSE)
  })
  if (grepl("inverse|quantile", row$name)) operands[[row$least]] <- -operands[[row$least]]
  list(f = function(...) run_operation(row$name, list(...), attributes), operands = operands)
}

# ---- random numbers ----

draw_call <- function(row) {
  full <- random_shape()
  type <- dtype_of(operation_kinds[[row$name]])
  one <- function(low, high) {
    x <- nv_tensor(runif(prod(full), low, high), "f64", full)
    if (chance(0.7)) runif(1L, low, high) else x
  }
  own <- switch(row$name,
    random_bits = list(), runif = list(one(-2, 0), one(1, 3)),
    rnorm = list(one(-1, 1), one(0.1, 2)),
    randint = list(0L, if (kind_of(type) == "bool") 1L else 100L),
    rbinom = list(if (kind_of(type) == "bool") 1L else pick(c(1L, 5L, 60L)), one(0.1, 0.9)),
    rexp = list(one(0.1, 3)), rgamma = list(one(0.1, 3), one(0.5, 2)),
    rpois = list(pick(list(one(0.1, 30), 3)))
  )
  f <- nv(row$name)
  tensors <- own[vapply(own, is_tensor, NA)]
  list(f = function(key, ...) {
    parts <- own
    parts[vapply(own, is_tensor, NA)] <- list(...)
    do.call(f, c(list(full), parts, list(dtype = type, key = key)))
  }, operands = c(list(nv_key(sample.int(1e6L, 1L))), tensors))
}

# ---- matrices ----

batch_of <- function() if (chance(0.7)) integer() else sample(0:3, sample.int(2L, 1L), TRUE)
float_dtype <- function() pick(c("f16", "bf16", "f32", "f64", "f32", "f64"))

square <- function(n, batch = batch_of(), type = float_dtype()) {
  x <- random_tensor(type, c(n, n, batch), "share", FALSE)
  x + nv_reshape(nv_eye(n, type) * nv_scalar(n, type), c(n, n, rep(1L, length(batch))))
}

definite <- function(n) {
  x <- square(n)
  nv_crossprod(x)
}

extent <- function() pick(c(0L, 1L, 2L, 3L, 4L, 5L, 7L, 8L, 9L, 16L, 17L))

# Facts of a block type, of those that can be made or of all.
block_type <- function(all = FALSE) {
  types <- as.data.frame(.Call(joist:::joist_r_block_types))
  made <- c("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "TQ1_0", "TQ2_0", "MXFP4", "Q8_K")
  as.list(types[sample(if (all) seq_len(nrow(types)) else match(made, types$name), 1L), ])
}

# Blocks of small numbers: the bytes of a scale in f16 are not above 0x3f.
random_blocks <- function(type, shape) {
  n <- shape[1L] * type$bytes * shape[2L]
  nv_tensor(array(sample.int(64L, n, TRUE) - 1L, c(shape[1L] * type$bytes, shape[2L])), "ui8")
}

matmul_call <- function(row) {
  extents <- replicate(3L, extent())
  if (chance(0.05)) extents <- sample(c(1L, 3L, 31:33, 63:66, 100L, 129L, 257L), 3L, TRUE)
  if (chance(0.002)) extents <- sample(c(200L, 257L, 385L), 3L, TRUE)
  turned <- c(flag(), flag())
  batch <- batch_of()
  type <- function() dtype_of(operation_kinds$matmul)
  types <- c(type(), type())
  if (chance(0.7)) types[2L] <- types[1L]
  both <- list(extents[1:2], extents[2:3])
  both[turned] <- lapply(both[turned], rev)
  attributes <- list(transpose_lhs = turned[1L], transpose_rhs = turned[2L])
  if (chance(0.2)) attributes$dtype <- pick(c("f32", "f64", "i32", "i64", "c128"))
  list(
    f = function(x, y) run_operation("matmul", list(x, y), attributes),
    operands = Map(function(extents, type) {
      random_tensor(type, c(extents, if (chance(0.9)) batch else replace(batch, TRUE, 1L)))
    }, both, types)
  )
}

conv_call <- function(transposed) {
  rank <- sample.int(3L, 1L)
  groups <- pick(c(1L, 1L, 2L, 3L))
  each <- function(most) sample.int(most, rank, TRUE)
  taps <- each(3L)
  dilation <- each(2L)
  channels <- groups * sample.int(3L, 2L, TRUE)
  extents <- (taps - 1L) * dilation + each(4L)
  if (rank == 1L) extents <- extents + sample(0:40, 1L)
  few <- sample(c(0:5, 16L, 33L), 1L)
  type <- dtype_of(operation_kinds$conv)
  kernel <- c(channels[1L], channels[2L] / groups, taps)
  x <- c(few, channels[if (transposed) 1L else 2L], extents)
  stride <- each(3L)
  padding <- if (transposed) 0 else pick(list(0, 1, "same", "valid"))
  list(
    f = function(x, kernel) {
      nv_conv(x, kernel, stride, padding, dilation, groups, transposed = transposed)
    },
    operands = lapply(list(x, kernel), random_tensor, dtype = type, style = "share",
      ambiguous = FALSE)
  )
}

# ---- loops ----

loop_call <- function(row) {
  x <- operand_of("add", random_shape(sample(0:2, 1L)))
  y <- nv_convert(random_tensor(format(dtype(x)), shape(x), "whole", FALSE), dtype(x), ambiguous(x))
  n <- sample(0:4, 1L)
  reverse <- flag()
  f <- switch(row$name,
    "while" = function(x, y) {
      nv_while(list(0L, x), function(s) s[[1L]] < n, function(s) list(s[[1L]] + 1L, s[[2L]] + y))
    },
    "for" = function(x, y) nv_for(n, x, function(i, z) z * y + x),
    scan = function(x, y) {
      z <- nv_stack(x, y, x)
      nv_scan(x, z, function(s, w) list(s + w, s * w), reverse)
    },
    "if" = function(x, y) nv_if(nv_reduce_any(x != y), x + y, x * y)
  )
  list(f = f, operands = list(x, y))
}

# ---- whole arrays, one by one ----

# The start, stop and step of a slice, by dimension.
random_slice <- function(shape) {
  at <- lapply(shape, function(n) {
    if (n == 0L) {
      return(c(1L, 0L, 1L))
    }
    ends <- sample.int(n, 2L, TRUE)
    step <- sample.int(3L, 1L)
    c(ends, if (ends[1L] <= ends[2L]) step else -step)
  })
  field <- function(k) vapply(at, `[`, 1L, k)
  list(start = field(1L), stop = field(2L), step = field(3L))
}

slice_counts <- function(at) {
  as.integer(ifelse(at$stop == 0L, 0L, (at$stop - at$start) %/% at$step + 1L))
}

ranked <- function() random_shape(sample.int(4L, 1L, prob = c(4, 4, 2, 1)))

own_calls <- list(
  convert = function(row) {
    to <- pick(all_dtypes)
    guess <- chance(0.1)
    list(f = function(x) nv_convert(x, to, guess), operands = list(operand_of("ne")))
  },
  bitcast_convert = function(row) {
    from <- pick(setdiff(all_dtypes, "bool"))
    size <- dtype_sizes[[match(from, all_dtypes)]]
    to <- pick(setdiff(all_dtypes[dtype_sizes == size], "bool"))
    x <- random_tensor(from, random_shape())
    list(f = function(x) nv_bitcast_convert(x, to), operands = list(x))
  },
  broadcast_to = function(row) {
    full <- random_shape()
    list(
      f = function(x) nv_broadcast_to(x, full), operands = list(operand_of("ne", narrowed(full)))
    )
  },
  reshape = function(row) {
    x <- operand_of("ne")
    to <- reshaped(shape(x))
    list(f = function(x) nv_reshape(x, to), operands = list(x))
  },
  iota = function(row) {
    full <- ranked()
    dim <- sample.int(length(full), 1L)
    type <- pick(setdiff(all_dtypes, c("bool", "i8")[c(TRUE, full[dim] > 120L)]))
    start <- sample(0:5, 1L)
    list(f = function() nv_iota(dim, type, full, start), operands = list())
  },
  take = function(row) {
    x <- operand_of("ne", pmax(random_shape(), 1L))
    at <- random_positions(0L, length(x) - 1L, random_shape(1L))
    applied("take", list(x, at))
  },
  put = function(row) {
    x <- operand_of("ne", pmax(random_shape(), 1L))
    at <- random_positions(0L, length(x) - 1L, random_shape(1L))
    value <- random_tensor(format(dtype(x)), if (flag()) shape(at) else integer())
    applied("put", list(x, at, value))
  },
  scatter_add = function(row) scattered("scatter_add"),
  scatter_min = function(row) scattered("scatter_min"),
  scatter_max = function(row) scattered("scatter_max"),
  scatter_mul = function(row) scattered("scatter_mul"),
  concatenate = function(row) {
    full <- ranked()
    dim <- sample.int(length(full), 1L)
    parts <- lapply(seq_len(sample.int(5L, 1L)), function(k) {
      scalar <- k > 1L && chance(0.2)
      operand_of("ne", if (scalar) integer() else replace(full, dim, sample(0:9, 1L)))
    })
    list(f = function(...) nv_concatenate(..., dim = dim), operands = parts)
  },
  transpose = function(row) {
    x <- operand_of("ne")
    order <- sample.int(rank_of(x))
    list(f = function(x) nv_transpose(x, order), operands = list(x))
  },
  slice = function(row) {
    x <- operand_of("ne", ranked())
    at <- random_slice(shape(x))
    list(f = function(x) run_operation("slice", list(x), at), operands = list(x))
  },
  update = function(row) {
    x <- operand_of("ne", ranked())
    at <- random_slice(shape(x))
    value <- random_tensor(format(dtype(x)), if (flag()) slice_counts(at) else integer())
    f <- function(x, value) run_operation("update", list(x, value), at)
    list(f = f, operands = list(x, value))
  },
  pad = function(row) {
    x <- operand_of("ne", ranked())
    each <- function(most) sample(0:most, rank_of(x), TRUE)
    least <- function() -pmin(each(2L), shape(x) %/% 2L)
    low <- if (flag()) each(5L) else least()
    high <- if (flag()) each(5L) else least()
    interior <- if (chance(0.7)) 0L else each(2L)
    value <- random_tensor(format(dtype(x)), integer())
    list(f = function(x, value) nv_pad(x, value, low, high, interior), operands = list(x, value))
  },
  gather = function(row) {
    full <- ranked()
    dim <- sample.int(length(full), 1L)
    if (full[dim] == 0L) full[dim] <- 3L
    type <- pick(c("i64", "i32", "ui32"))
    at <- random_positions(1L, full[dim], random_shape(sample(0:2, 1L)), type)
    list(f = function(x, at) nv_gather(x, at, dim), operands = list(operand_of("ne", full), at))
  },
  alias = function(row) {
    x <- operand_of("ne")
    list(f = function(x) nv_stop_gradient(x), operands = list(x))
  },
  print = function(row) {
    x <- operand_of("ne")
    list(f = function(x) nv_print(x), operands = list(x))
  },
  sort = function(row) ordered_call("sort", nv_sort),
  order = function(row) ordered_call("order", nv_argsort),
  top_k = function(row) {
    x <- operand_of("top_k", ranked())
    dim <- sample.int(rank_of(x), 1L)
    k <- sample(0:max(1L, shape(x)[dim]), 1L)
    down <- flag()
    list(f = function(x) nv_top_k(x, k, dim, down), operands = list(x))
  },
  conv = function(row) conv_call(FALSE),
  conv_input = function(row) conv_call(TRUE),
  conv_kernel = function(row) {
    call <- conv_call(FALSE)
    extents <- shape(call$operands[[2L]])
    f <- function(x, y, kernel) {
      gradient(function(kernel) sum(call$f(x, kernel) * y), "kernel")(kernel)
    }
    type <- pick(c("f16", "bf16", "f32", "f64"))
    x <- nv_convert(call$operands[[1L]], type)
    kernel <- random_tensor(type, extents, "share", FALSE)
    list(f = function(x, y) f(x, y, kernel), operands = list(
      x, random_tensor(type, shape(call$f(x, kernel)), "share", FALSE)
    ))
  },
  fft = function(row) {
    if (stats::runif(1) < 0.5) {
      return(transformed("fft", nv_fft))
    }
    list(f = function(x) nv_fft(x), operands = list(operand_of("fft", pmax(ranked(), 1L))))
  },
  rfft = function(row) transformed("rfft", nv_rfft),
  irfft = function(row) transformed("irfft", nv_irfft),
  take_along = function(row) {
    full <- ranked()
    dim <- sample.int(length(full), 1L)
    full[dim] <- max(full[dim], 1L)
    lines <- replace(full, dim, sample(0:9, 1L))
    at <- random_positions(1L, full[dim], lines, pick(c("i32", "i64")))
    list(f = function(x, at) nv_take_along(x, at, dim), operands = list(operand_of("ne", full), at))
  },
  match = function(row) {
    list(f = nv_match, operands = list(
      operand_of("match"), operand_of("match", random_shape(1L))
    ))
  },
  searchsorted = function(row) {
    side <- pick(c("left", "right"))
    list(
      f = function(x, y) nv_searchsorted(nv_sort(x), y, side),
      operands = list(operand_of("searchsorted", random_shape(1L)), operand_of("searchsorted"))
    )
  },
  tabulate = function(row) {
    n <- sample.int(20L, 1L)
    type <- pick(all_dtypes[dtype_kinds %in% c("int", "uint")])
    x <- random_tensor(type, random_shape(1L), "whole")
    list(f = function(x) nv_tabulate(x, n), operands = list(x))
  },
  matmul = matmul_call,
  pack = function(row) {
    type <- block_type()
    x <- random_tensor("f32", c(type$elements * sample.int(3L, 1L), extent()), "share")
    list(
      f = function(x) run_operation("pack", list(x), list(k = type$code, dtype = "ui8")),
      operands = list(x)
    )
  },
  unpack = function(row) {
    type <- block_type(all = TRUE)
    list(
      f = function(x) run_operation("unpack", list(x), list(k = type$code, dtype = "f32")),
      operands = list(random_blocks(type, c(sample.int(3L, 1L), extent())))
    )
  },
  packed_product = function(row) {
    type <- block_type(all = TRUE)
    count <- sample.int(3L, 1L)
    shape <- c(count * type$elements, extent())
    x <- switch(sample.int(if (shape[1L] %% 256 == 0) 4L else 3L, 1L),
      random_tensor("f32", shape, "share"), random_tensor("i8", shape, "whole"),
      random_blocks(joist:::block_facts("Q8_0"), shape / c(32, 1)),
      random_blocks(joist:::block_facts("Q8_K"), shape / c(256, 1))
    )
    list(
      f = function(b, x) {
        run_operation("packed_product", list(b, x), list(k = type$code, dtype = "f32"))
      },
      operands = list(random_blocks(type, c(count, extent())), x)
    )
  },
  chol = function(row) {
    lower <- flag()
    list(f = function(x) nv_chol(x, lower), operands = list(definite(extent())))
  },
  solve = function(row) solve_call(function(x, y) nv_solve(x, y)),
  triangular_solve = function(row) {
    flags <- c(flag(), flag(), flag())
    solve_call(function(x, y) {
      nv_triangular_solve(x, y, lower = flags[1L], unit_diag = flags[3L], transpose = flags[2L])
    })
  },
  inverse = function(row) list(f = nv_inv, operands = list(square(extent()))),
  det = function(row) list(f = nv_det, operands = list(square(extent()))),
  determinant = function(row) list(f = nv_determinant, operands = list(square(extent()))),
  lu = function(row) factor_call(nv_lu),
  qr = function(row) factor_call(nv_qr),
  svd = function(row) factor_call(nv_svd),
  singular_values = function(row) {
    f <- function(x) joist:::linear_algebra("singular_values", list(x))
    list(f = f, operands = list(square(extent())))
  },
  eigh = function(row) list(f = nv_eigh, operands = list(definite(extent()))),
  eig = function(row) list(f = nv_eig, operands = list(square(extent()))),
  eigvals = function(row) list(f = nv_eigvals, operands = list(square(extent()))),
  argmin = function(row) position_call("argmin"), argmax = function(row) position_call("argmax"),
  fold_in = function(row) {
    list(f = nv_fold_in, operands = list(nv_key(1), random_tensor("i32", integer(), "whole")))
  },
  rgamma_slope = function(row) {
    full <- random_shape(sample(0:2, 1L))
    type <- pick(c("f32", "f64"))
    applied("rgamma_slope", replicate(2L, random_tensor(type, full, "share", FALSE), FALSE))
  },
  rcategorical = function(row) {
    full <- random_shape()
    type <- pick(c("i32", "i64", "ui8", "f32"))
    weights <- nv_tensor(runif(sample.int(9L, 1L)), "f64")
    list(
      f = function(key, x) nv_rcategorical(full, x, type, key), operands = list(nv_key(3), weights)
    )
  }
)

ordered_call <- function(name, f) {
  x <- operand_of(name)
  dim <- some_dim(rank_of(x))
  down <- flag()
  list(f = function(x) f(x, dim, down), operands = list(x))
}

position_call <- function(name) {
  f <- nv(name)
  x <- operand_of(name, pmax(random_shape(), 1L))
  dim <- some_dim(rank_of(x))
  keep <- flag()
  list(f = function(x) f(x, dim, keep), operands = list(x))
}

solve_call <- function(f) {
  n <- extent()
  batch <- batch_of()
  type <- float_dtype()
  right <- if (length(batch) == 0L && flag()) n else c(n, extent(), batch)
  list(f = f, operands = list(square(n, batch, type), random_tensor(type, right, "share", FALSE)))
}

factor_call <- function(f) {
  extents <- c(extent(), extent(), batch_of())
  list(f = f, operands = list(random_tensor(float_dtype(), extents, "share", FALSE)))
}

# A random call of the operation in a row of the table.
operation_call <- function(row) {
  own <- own_calls[[row$name]]
  if (is.null(own)) {
    own <- if (row$family == "elementwise") {
      elementwise_call
    } else if (row$family == "reduction") {
      reduction_call
    } else if (row$family == "regions") {
      loop_call
    } else if (startsWith(row$name, "cum")) {
      cumulative_call
    } else if (startsWith(row$name, "r") && row$least > 1L || row$name == "random_bits") {
      draw_call
    } else {
      distribution_call
    }
  }
  own(row)
}
