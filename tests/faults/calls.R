# Calls that reach the allocations that no call of tests/testthat/documented-claims.R reaches.
# What they are about is defined there, and here.

# Tries once more what failed: it must not have taken over what it was given.
again <- function(f, ...) {
  tryCatch(f(...), error = function(e) {
    tryCatch(f(...), error = function(e) stop("lost: ", conditionMessage(e)))
  })
}
# Entries of C that joist calls for packages and for Python, which may not be installed here, or at
# its load.
entry <- function(name, ...) .Call(getNamespace("joist")[[name]], ...)
many <- nv_tensor(1:4000 %% 100, "f32")
long <- nv_tensor(array(1:60000 %% 7, c(200, 300)), "f32")
rules <- promotion_lattice(
  data.frame(from = c("i8", "i8", "\u00e4"), to = c("f32", "\u00e4", "f64"))
)
mixed <- function(x, y) {
  z <- x * 2 + y
  z * z - x
}
loops <- function(x, y) nv_for(3, x * 1, function(k, z) z + y * k) + nv_if(x[[1]] > 2, y, -y)
several <- function(x) {
  list(x + 1, sum(x), max(x), x * x, exp(x), min(x), nv_cumsum(x), x - 1, x / 2, -x, nv_sort(x))
}

calls <- alist(
  # facts
  joist_info(), nv_memory(), nv_trim_memory(), nv_set_threads(2), nv_get_threads(),
  print(nv_device()), nv_devices(), cuda_diagnostics(),
  dtypes(), promotion_rules(), print(promotion_rules("numpy")), print(rules),
  lattice_edges("anvil"), lattice_edges(rules), promotion_table("jax"), promotion_table(rules),
  check_lattice("anvil"), check_lattice(rules), promotion_facts(), promotion_facts("numpy"),
  format(as_dtype("f32")), format(v), format(long), print(z_matrix),
  # explanations
  format(explain_promotion("i8", "ui8")), format(explain_promotion("i8", "f16", rules = "jax")),
  format(explain_promotion(i + v)), format(explain_promotion(sum(i))),
  format(explain_promotion("i8", "f32", rules = rules)),
  format(explain_promotion("i32", "f32", rules = "array_api")),
  explain_promotion(u + 1L), explain_promotion(i / 2L), explain_promotion(nv_matmul(i, v)),
  compare_rules(mixed, "jax", c("numpy", "torch"), i, v),
  compare_rules(mixed, "anvil", "jax", u, i),
  compare_rules(function(x, y) {
    brighter <- x + 300L
    brighter * y
  }, "numpy_legacy", "numpy", x = nv_aval("ui8", 10), y = nv_aval("f32", 10)),
  compare_rules(function(x) nv_for(2, x, function(i, z) z * 2) / 2L, "jax", "numpy", i),
  compare_rules(c("i8", "f16"), "jax", "torch"),
  format(compare_rules(mixed, "anvil", "jax", i, v)),
  trace_dtypes(mixed, i, v), format(trace_dtypes(mixed, i, v)), trace_dtypes(several, v),
  trace_dtypes(mixed, nv_aval("i16", 3), nv_aval("f32", 3)),
  summary(trace_dtypes(mixed, i, v)), as.data.frame(trace_dtypes(mixed, i, v)),
  with_promotion(NULL, i + v, on = c(int_to_float = "warn")),
  with_promotion(NULL, i + v, on = c(widening = "warn", lossy = "warn")),
  with_promotion(NULL, mixed(i, v), on = c(widening = "warn", int_to_float = "warn")),
  # compiled functions
  jit(mixed)(i, v), jit(several)(v), print(program(several, v)),
  as.data.frame(program(mixed, i, v)),
  program(mixed, i, v), jit(function(...) nv_stack(...))(v, v, v),
  jit(function(x) lapply(1:40, function(k) x + k))(v),
  jit(function(l) Reduce(`+`, l))(lapply(1:40, function(k) v)),
  jit(function(x, n) x^n, static = "n")(v, 2),
  jit(function(x) x + 1L, promotion = "numpy")(i), jit(mixed, on = c(lossy = "warn"))(i, v),
  jit(function(x) nv_runif(3, key = x))(key), jit(function(x) x[2:3] + x[[1]])(v),
  loops(v, v), jit(loops)(v, v), gradient(function(x) sum(loops(x, v)))(v), program(loops, v, v),
  jit(function(x) c(nv_qr(x)$R, nv_svd(x)$d))(s), jit(function(x) which.max(x))(v),
  {
    f <- jit(function(x) x * 3)
    list(f(v), f(i), f(1), f(x), jit(function(y) f(y) + 1)(v))
  },
  gradient(function(x) sum(mixed(x, v)))(v), nv_vjp(several, list(v), several(v)),
  # many operands and results, many elements
  do.call(nv_stack, rep(list(v), 40)), do.call("c", rep(list(i, v), 20)), nv_split(many, 40),
  long %*% t(long), nv_matmul(nv_convert(long, "f16"), t(nv_convert(long, "f16"))),
  nv_matmul(nv_convert(long, "i8"), t(nv_convert(long, "i8"))),
  nv_scatter_add(nv_tensor(numeric(9000), "f16"), rep(1:9000, 3), nv_tensor(rep(1, 27000), "f16")),
  nv_scatter_add(nv_tensor(numeric(20), "bf16"), rep(1:20, 30), nv_tensor(rep(1, 600), "bf16")),
  nv_sort(long), nv_argsort(long), nv_top_k(many, 10), unique(many), nv_cumsum(long, 2),
  nv_argmin(long, 1), nv_match(many, 1:50), nv_quantile(many, c(0.1, 0.9)), nv_median(long, 1),
  nv_rcategorical(100, many), nv_sample(many, 50, prob = many), nv_rgamma(100, 2),
  nv_solve(nv_eye(30) * 2, nv_eye(30)), nv_svd(long), nv_einsum("ij,kj->ik", long, long),
  # elements and their places
  many[many > 5], many[-(1:10)], many[nv_tensor(c(1L, 5L))], many[c(1, 3.5)], x[x > 2], long[3, ],
  long[-1, c(TRUE, FALSE)], x[cbind(1:2, 1:2)], long[nv_tensor(1:3), nv_tensor(c(TRUE, FALSE))],
  {
    y <- many + 0
    y[2:5] <- 1L
    y[y > 50] <- nv_scalar(0)
    y[nv_tensor(1:3)] <- v
    y
  },
  {
    y <- long + 0
    y[1, ] <- 2
    y[, nv_tensor(c(1L, 2L))] <- 3
    y
  },
  nv_take_along(long, nv_tensor(matrix(1L, 1, 300)), 1), nv_gather(long, c(1, 2), 2),
  nv_tensor("18446744073709551615", "ui64"), nv_tensor(c("1", "-3"), "i64"),
  as_array(nv_scalar(2^60, "i64"), as = "character"), as_array(i, as = "integer64"),
  nv_tensor(bit64::as.integer64(1:3)), as_array(z), as.character(v),
  nv_tensor(c(1, NA), na = "nan"),
  nv_tensor(array(1:24, 2:4)), nv_fill(1, c(100, 100)), nv_iota(1, "i32", c(5, 5)), nv_aval("f32"),
  # files, bytes, other libraries
  nv_write_bin(v), nv_write_bin(v, endian = "big"), nv_read_bin(nv_write_bin(many), "f32"),
  nv_serialize(list(a = v, b = i), c(author = "a", other = "b")),
  nv_unserialize(nv_serialize(list(a = v, b = i), c(author = "a", other = "b"))),
  {
    file <- tempfile(fileext = ".safetensors")
    nv_save(list(a = v, b = i, long = long), file, metadata = c(k = "v"))
    list(nv_read(file), nv_read(file, "a"), nv_read(file, mmap = TRUE))
  },
  {
    file <- tempfile()
    nv_write_npy(long, file)
    y <- nv_read_npy(file, mmap = TRUE)
    list(y + 1, unserialize(serialize(y, NULL)))
  },
  {
    y <- nv_store(long, tempfile(), chunks = c(50, 100))
    list(nv_compute(y + 1), nv_compute(sum(y)), as_array(y[1:3, 2]))
  },
  {
    y <- nv_zarr_create(tempfile(), "f32", 1000, chunks = 100, codecs = "zstd")
    y[1:1000] <- many[1:1000]
    nv_compute(y * 2)
  },
  {
    y <- nv_zarr_create(tempfile(), "i16", 1000, chunks = 100, codecs = "blosc")
    y[1:1000] <- 1:1000
    nv_compute(y)
  },
  {
    sent <- nv_to_arrow(v)
    again(nv_from_arrow, sent$array, sent$schema)
  },
  {
    sent <- nv_to_arrow(b)
    again(nv_from_arrow, list(sent$array, nv_to_arrow(b)$array), sent$schema)
  },
  {
    sent <- nv_to_arrow(x)
    again(nv_from_arrow, sent$array, sent$schema)
  },
  {
    sent <- nv_to_dlpack(v)
    again(nv_from_dlpack, sent)
  },
  {
    sent <- nv_to_dlpack(nv_tensor(1:3 + 0i), versioned = FALSE)
    again(nv_from_dlpack, sent)
  },
  as.data.frame(x), data.frame(a = v, b = i), nv_merge(data.frame(k = i), data.frame(k = i, w = v)),
  unique(c(i, i)), duplicated(many), anyDuplicated(v), rle(nv_tensor(c(1, 1, 2))), which(b),
  nv_apply(long, 1, sum), outer(v, v), table(as.vector(i)), quantile(v), range(i), all.equal(v, v),
  dlpack_functions <- entry("joist_r_dlpack_functions"),
  entry("joist_r_dlpack_take", nv_to_dlpack(v)), entry("joist_r_blas", NULL),
  summary(program(several, v)), entry("joist_r_instruction_set", NULL),
  {
    mixed_values <- list(a = TRUE, b = NULL, c = 1.5, d = list("a", list(b = list())))
    folder <- tempfile()
    nv_zarr_create(folder, "f32", 2, attributes = mixed_values)
    attributes(nv_zarr(folder))$zarr_attributes
  },
  entry("joist_r_blas", "blas"), entry("joist_r_blas", "joist"), entry("joist_r_blas", "auto"),
  promotion_rule_sets(),
  promotion_table("jax", as_dtype("i8")), explain_promotion("i8", "\u00e4", rules = rules),
  explain_promotion(i + 1.5), explain_promotion("i64", "f32", rules = "jax"),
  format(explain_promotion("i64", "f16", rules = "numpy")),
  format(explain_promotion("i32", "i*", rules = "jax")),
  with_promotion(rules, nv_tensor(1L, "i8") + nv_tensor(1), on = c(widening = "warn")),
  jit(function(x) lapply(1:40, function(k) sum(x + k)))(v),
  jit(function(l) Reduce(`+`, l))(`names<-`(rep(list(v), 30), paste0(strrep("n", 50), 1:30))),
  {
    f <- jit(function(x, y) x + y)
    list(f(i, 1L), f(i, 300L), f(u, 2L), try(f(u, 300L), silent = TRUE))
  },
  many[nv_tensor(c(1, 2))], many[c(0, 1)],
  nv_gather(many, nv_tensor(1:3, "ui8")), nv_tensor(c(1L, NA), "f32", na = "nan"),
  nv_add(structure(1, class = "a"), v), nv_qr(nv_aval("f32", c(3, 3))),
  sum(nv_fill(1, c(4000, 3000)) + nv_fill(1, c(4000, 3000))),
  for (k in 1:8) nv_fill(k, c(4000, 3000)),
  {
    file <- tempfile()
    nv_write_npy(long, file)
    unserialize(serialize(nv_share(nv_read_npy(file, mmap = TRUE)), NULL))
  },
  lapply(1:9, function(k) nv_to_dlpack(nv_convert(nv_tensor(numeric(k)), "c128"))),
  jit(function(x) x + 1.5, on = c(literal = "warn"))(i),
  jit(function(x) {
    x <- x + 1
    x <- x * 2
    x <- x - 3
    x <- x / 4
    x <- exp(x)
    x <- sin(x)
    x <- cos(x)
    x <- tanh(x)
    x <- abs(x)
    x <- -x
    x^2
  })(v),
  jit(function(x) {
    y <- nv_for(2, x, function(k, z) nv_for(2, z, function(k, w) w + x))
    nv_scan(y, 1:3, function(s, k) list(s + k, s))$ys
  })(v),
  jit(function(x) nv_for(2, x, function(k, z) nv_checkpoint(exp)(z * 0.1)))(v),
  gradient(function(x) sum(nv_checkpoint(function(z) sin(z) * v)(x)))(v),
  gradient(function(x) sum(nv_top_k(x, 2)$values))(v),
  gradient(function(x) {
    sum(nv_for(2, x, function(k, z) nv_for(2, z, function(k, w) w * nv_if(x[[1]] > 2, x, z))))
  })(v),
  {
    f <- jit(function(x) x + 1.5, on = c(literal = "warn"))
    list(f(i), f(i))
  },
  {
    f <- jit(function(x, y) x + y, on = c(literal = "warn"))
    list(f(v, 1), f(v, 16777217))
  },
  gradient(function(x) sum(x * nv_iota(1, "f32", 3)))(v),
  entry("joist_r_arrow_address", nv_to_arrow(v)$array), nv_to(v, "cuda"),
  {
    kept <- new.env()
    y <- nv_zarr_create(nv_zarr_store(
      get = function(key) kept[[key]], put = function(key, bytes) assign(key, bytes, envir = kept)
    ), "ui8", 100, codecs = "zstd")
    y[] <- 1:100
    nv_compute(y)
  },
  entry("joist_r_to_arrow_schema", dtype(v), NULL, entry("joist_r_arrow_pointers")$schema),
  nv_to(v, "cpu"),
  {
    file <- tempfile()
    nv_write_bin(many, file)
    nv_read_bin(file, "f32")
  },
  {
    y <- nv_zarr_create(tempfile(), "f32", 10, chunks = 5, codecs = "gzip")
    y[1:10] <- many[1:10]
    nv_compute(y)
  },
  # an invalid chunk, and one that cannot be written
  {
    y <- nv_zarr_create(folder <- tempfile(), "f32", 10, chunks = 5, codecs = "zstd")
    y[1:10] <- many[1:10]
    writeLines("no chunk", grep("/c/0$", list.files(folder, recursive = TRUE, full.names = TRUE),
      value = TRUE
    ))
    nv_compute(y)
  },
  {
    y <- nv_zarr_create(folder <- tempfile(), "f32", 10, chunks = 5)
    dir.create(file.path(folder, "c", "0"), recursive = TRUE)
    y[1:10] <- many[1:10]
  }
)
