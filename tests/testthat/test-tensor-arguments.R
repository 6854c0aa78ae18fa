# Odd values for every argument of every exported function, one at a time: each is refused by a
# condition of joist's that is the user's call, without warnings of base R's, or is taken.

checkpoint_file <- normalizePath(test_path("pytorch", "state.pt")) # the tests work elsewhere

# A valid value for every argument, by its name, and by function where it means something else.
valid_arguments <- function() {
  v <- nv_tensor(c(3, 1, 2), "f32")
  i <- nv_tensor(c(3L, 1L, 2L), "i32")
  b <- nv_tensor(c(TRUE, FALSE, TRUE))
  m <- nv_tensor(c(4, 1, 1, 3), "f64", shape = c(2, 2))
  ints <- list(lhs = i, rhs = i, x = i)
  bools <- list(lhs = b, rhs = b, x = b)
  square <- list(lhs = m, rhs = m, x = m, y = m, a = m, b = m)
  by_name <- list(
    lhs = v, rhs = v, x = v, y = v, dims = 1L, dim = 1L, drop = TRUE,
    dtype = "f64", shape = 3L, ambiguous = FALSE, device = "cpu", key = nv_key(1), n = 2L,
    decreasing = FALSE, k = 2L, indices = c(2L, 1L), f = identity, min_val = 1, max_val = 2,
    lower = FALSE, transpose = FALSE, left = TRUE, unit_diag = FALSE,
    full = TRUE, tol = 1e-6, offset = 1, logarithm = TRUE,
    name = "cpu",
    batch_dims = list(integer(), integer()), contracting_dims = list(1L, 1L), value = 0,
    data = 3L, seed = 1, table = c(1, 2), nomatch = 0L, limit = NULL, p = 2, edge_padding_low = 1L,
    edge_padding_high = 1L, interior_padding = 1L, padding_value = 1, probs = 0.5, type = 7,
    min = 0, max = 9, mean = 0, sd = 1, size = 2L, prob = 0.5,
    permutation = 1L, correction = 1, sorted = c(1, 2, 3), values = 2, side = "left",
    threads = 1L, bin = c(1L, 2L), nbins = 3L, sizes = NULL, diagonal = 0, arr.ind = FALSE,
    replace = TRUE, na = "error", na_rm = FALSE, missing = FALSE, pred = b, true = v, false = v,
    start = 1L,
    as = NULL, style = "anvil", rules = "jax", lhs_dtype = "f32", rhs_dtype = "i8",
    lhs_ambiguous = FALSE, rhs_ambiguous = FALSE, static = character(), cache_size = 9L,
    native = "never", what = "c",
    promotion = "jax", on = c(lossy = "ok"), envir = globalenv(), expr = 1, id = "jax",
    integer = "i32", file = "page.html",
    con = raw(24), endian = "little", path = "out.bin", mmap = FALSE, reversed = FALSE, order = "F",
    compress = FALSE, raw = FALSE, block = 2, block_dim = 1L, scale_dtype = "f32",
    metadata = c(a = "b"), names = NULL, digits = 1, double = "f32",
    complex = "c64", versioned = TRUE, ptr = nv_to_dlpack(v), array = list(),
    schema = nv_to_arrow(v)$schema,
    edges = data.frame(from = "i8", to = "f32"), literals = c(integer = "i64"),
    facts = list(sum = c(i8 = "i32")), policy = "wrap",
    in_dims = 1L, out_dims = 1L, mode = "auto", sparse = FALSE, d = 0.5, norm = "ortho",
    refuse = data.frame(lhs = "i8", rhs = "f64"), operation = "divide", rank = FALSE,
    by_value = "none", source = "a note", version = "1", url = "https://example.org",
    quotients = "rounded", mixed = "double", from = "jax", to = "numpy", wrt = NULL,
    index = c(1L, 2L), shift = 1L, dtypes = c(float = "f64", int = "i64"),
    arguments = list(v), cotangents = list(v), tangents = list(v),
    rule = function(cotangent, value, ...) list(cotangent), step = 1e-3, tolerance = 1e-3,
    init = 1, cond = function(state) FALSE, body = function(i, state) state, xs = v,
    reverse = FALSE, true = 1, false = 2, like = v, end = 3, steps = 3L, equation = "i,i",
    accumulate = "f64", rate = 1, alpha = 1, logits = c(0, 1), q = v, lambda = 2, df = 3,
    shape1 = 2, shape2 = 3, mu = 2, log = FALSE, log.p = FALSE, lower.tail = TRUE, a = 2, b = 3,
    exponent = 2L, times = 2, indexing = "ij", nan = 0, posinf = 1, neginf = -1, rtol = 0.1,
    atol = 0.1, equal_nan = TRUE, inverse = TRUE, counts = TRUE,
    breaks = c(1, 2), weights = NULL, density = TRUE, right = TRUE, percent = 50, dx = 1,
    meanlog = 0, sdlog = 1, location = 0, scale = 1, df1 = 1, df2 = 2, m = 3,
    bitorder = "big", count = 3L,
    chunks = 2L, shards = 4L, consolidated = TRUE, cf = FALSE,
    dimnames = list(a = c("x", "y", "z")), fill = 0, codecs = "gzip", dimension_names = "a",
    attributes = list(a = 1),
    overwrite = TRUE, resume = FALSE, retries = 1L, get = function(key) NULL,
    put = function(key, bytes) NULL, list = function(prefix) character(),
    delete = function(key) NULL, exists = function(key) FALSE,
    range = function(key, from, size) NULL,
    stride = 1, padding = 0, dilation = 1, groups = 1, transposed = FALSE, output_padding = 0,
    window = 2, count_padding = TRUE, partial = TRUE, method = "linear", antialias = FALSE,
    xp = 1:3, fp = 1:3, left = 0, right = 1
  )
  named <- list(x = list(a = v, b = i))
  image <- list(x = nv_fill(1, c(1L, 1L, 3L)), kernel = nv_fill(1, c(1L, 1L, 2L)))
  npz <- tempfile(fileext = ".npz")
  if (requireNamespace("zip", quietly = TRUE)) nv_write_npz(named$x, npz)
  safetensors <- tempfile()
  nv_save(named$x, safetensors)
  gguf <- tempfile()
  nv_write_gguf(named$x, gguf)
  promotion_file <- write_promotion_rules("jax", tempfile(fileext = ".csv"))
  npy <- tempfile()
  nv_write_npy(v, npy)
  zarr <- tempfile()
  nv_zarr_create(zarr, "f32", 3L)
  hdf5 <- tempfile()
  file <- hdf5r::H5File$new(hdf5, "w")
  file[["x"]] <- c(1, 2)
  file$close_all()
  # Made anew for each call.
  nowhere <- nv_zarr_store(
    get = function(key) NULL, put = function(key, bytes) NULL, list = function(prefix) character(),
    delete = function(key) NULL, exists = function(key) FALSE
  )
  special <- list(
    nv_one_hot = list(x = c(1L, 2L)), gradient = list(value = FALSE),
    nv_zarr = list(path = zarr, node = ""), nv_hdf5 = list(path = hdf5, node = "x"),
    nv_zarr_create = list(path = nowhere, node = "x"),
    nv_zarr_create_group = list(path = nowhere, node = "x"),
    nv_zarr_store = list(label = "a store"), nv_store = list(path = nowhere, node = "x"),
    nv_save = named, nv_write_safetensors = named, nv_serialize = named, nv_write_npz = named,
    nv_read_npy = list(con = nv_write_npy(v), dtype = NULL),
    nv_read_npz = list(path = npz, names = "b", dtype = NULL),
    nv_quantize = list(dtype = "i8", dims = NULL, type = NULL),
    nv_dequantize = list(values = nv_tensor(1:3), scales = c(1, 1), dtype = "f32"),
    nv_read = list(path = safetensors, names = "a"),
    lattice_edges = list(all = TRUE),
    nv_read_safetensors = list(path = safetensors, names = "a"),
    nv_read_gguf = list(path = gguf, names = "a"), nv_gguf = list(path = gguf),
    nv_write_gguf = c(named, list(metadata = list(a = "b"))),
    nv_read_pt = list(path = checkpoint_file),
    nv_unserialize = list(con = nv_serialize(named$x)),
    nv_share = list(x = nv_read_npy(npy, mmap = TRUE)),
    nv_and = bools, nv_or = bools, nv_xor = bools, nv_not = bools, nv_bitwise_and = ints,
    nv_bitwise_or = ints, nv_bitwise_xor = ints, nv_bitwise_not = ints, nv_shift_left = ints,
    nv_shift_right_arithmetic = ints, nv_shift_right_logical = ints, nv_popcnt = ints,
    nv_gcd = list(x = i, y = i), nv_lcm = list(x = i, y = i), nv_clz = ints, nv_ctz = ints,
    nv_reverse_bits = ints,
    nv_rotate_left = ints, nv_rotate_right = ints, nv_byteswap = ints, nv_packbits = bools,
    nv_trapz = list(x = NULL),
    nv_unique = list(index = TRUE), nv_histogram = list(range = c(0, 1)),
    nv_put_along = list(values = 1), nv_rot90 = list(x = m, dims = 1:2),
    nv_unpackbits = list(x = nv_tensor(1L, "ui8")),
    nv_bitcast_convert = list(dtype = "i32"), nv_apply = square, nv_diag = square,
    nv_chol = square, nv_det = square, nv_determinant = square, nv_eigh = square,
    nv_eig = square, nv_eigvals = square, nv_lu = square, nv_expm = square, nv_lstsq = square,
    nv_pinv = square, nv_matrix_rank = square, nv_matrix_power = square, nv_trace = square,
    nv_cross = list(x = v, y = v), nv_conv = image, nv_conv1d = image,
    nv_max_pool = list(x = image$x), nv_avg_pool = list(x = image$x),
    nv_reduce_window = list(fun = "max"), nv_rolling = list(fun = "mean", k = 2),
    nv_resize = list(size = 2L),
    nv_conv2d = list(x = nv_fill(1, c(1L, 1L, 3L, 3L)), kernel = nv_fill(1, c(1L, 1L, 2L, 2L))),
    nv_conv3d = list(
      x = nv_fill(1, c(1L, 1L, 3L, 3L, 1L)), kernel = nv_fill(1, c(1L, 1L, 2L, 2L, 1L))
    ),
    nv_inv = square, nv_qr = square, nv_svd = square, nv_solve = square,
    nv_triangular_solve = square, nv_matmul = square, nv_crossprod = square,
    nv_tcrossprod = square, nv_dot = square, nv_tril = square, nv_triu = square,
    nv_outer = list(f = nv_mul), nv_randint = list(dtype = "i32"), nv_rbinom = list(dtype = "i32"),
    nv_rbernoulli = list(dtype = "bool"), nv_random_bits = list(dtype = "ui32"),
    nv_rpois = list(dtype = "i32"), nv_rcategorical = list(dtype = "i32"),
    nv_rgeom = list(dtype = "i32"), nv_rhyper = list(dtype = "i32", n = 9),
    nv_rnbinom = list(dtype = "i32", mu = NULL), nv_rmultinom = list(dtype = "i32"),
    nv_rmvnorm = list(mean = c(0, 1), sigma = diag(2)), nv_dmultinom = list(prob = 1:3),
    nv_dmvnorm = list(mean = c(0, 1, 2), sigma = diag(3)),
    nv_sample = list(prob = c(1, 2, 3)), nv_split = square,
    nv_squeeze = list(x = nv_tensor(1:2, shape = 1:2)),
    nv_seq = list(from = 1, to = 9, by = 2), nv_seq_len = list(length = 3L),
    nv_tensor = list(x = 1:3), nv_scalar = list(x = 1), nv_which = list(x = b),
    read_promotion_rules = list(file = promotion_file),
    promotion_rules_new = list(
      table = data.frame(lhs = "i8", rhs = "f32", result = "f32"), base = "jax",
      rule = function(op, args) NULL
    ),
    promotion_table = list(lhs = "f32", rhs = "i8"), as_dtype = list(x = "f32"),
    promotion_lattice = list(id = "mine"), check_lattice = list(nodes = c("i8", "f32")),
    compare_rules = list(f = nv_key, operation = "common"),
    nv_to_arrow = list(as = "pointers"), as_tensor = list(x = 1:3),
    trace_dtypes = list(f = nv_add),
    nv_scatter_add = list(values = 2), nv_scatter_min = list(values = 2),
    nv_scatter_max = list(values = 2), nv_scatter_mul = list(values = 2),
    nv_group = list(keys = 1:3, sort = TRUE, na = "drop"),
    nv_mask = list(missing = b), nv_print = list(label = "a label"),
    nv_while = list(body = function(state) state),
    nv_scan = list(body = function(state, x) list(state, x), length = 3), nv_if = list(pred = TRUE),
    nv_switch = list(index = 1), nv_associative_scan = list(f = nv_add)
  )
  for (name in grep("^nv_segment_", getNamespaceExports("joist"), value = TRUE)) {
    special[[name]] <- list(ids = c(1L, 2L, 2L), count = 2L, weights = 1:3, ties = "min")
  }
  # Elsewhere `na` says what becomes of missing values.
  for (name in c(
    "nv_write_bin", "nv_write_npy", "nv_write_npz", "nv_write_safetensors",
    "nv_write_gguf", "nv_save", "nv_serialize", "nv_store", "nv_to_dlpack", "nv_zarr",
    "nv_zarr_create"
  )) {
    special[[name]]$na <- 0
  }
  list(by_name = by_name, special = special)
}

# The arguments of a valid call; what goes into `...` is unnamed.
valid_call <- function(name, valid) {
  own <- valid$special[[name]]
  arguments <- list()
  for (argument in names(formals(getExportedValue("joist", name)))) {
    if (argument == "...") {
      takes <- !name %in% c("nv_apply", "compare_rules", "as_tensor")
      operands <- if (takes) unname(valid$by_name[c("x", "x")])
      arguments <- c(arguments, operands)
    } else if (argument %in% names(own)) {
      arguments[argument] <- own[argument]
    } else {
      if (!argument %in% names(valid$by_name)) {
        stop("no valid value is known for `", argument, "` of ", name, "()")
      }
      arguments[argument] <- valid$by_name[argument]
    }
  }
  arguments
}

# What no argument takes, but for those named.
never <- list(
  builtin = sum, closure = function(x, ...) x, environment = globalenv(), symbol = quote(a),
  call = quote(a + b), list = list(1), nested = list(1, list(2)), factor = factor("a"),
  date = as.Date("2024-02-29"), money = structure(1, class = "money"),
  "data frame" = data.frame(a = 1), text = "no such thing", "NA text" = NA_character_,
  formula = a ~ b
)
takes_anything <- list(
  f = c("builtin", "closure"), rule = c("builtin", "closure"), body = c("builtin", "closure"),
  true = "builtin", false = "builtin", init = c("list", "nested"), expr = names(never),
  in_dims = c("list", "nested", "text", "NA text"), arguments = "list",
  out_dims = c("list", "nested", "text", "NA text"),
  envir = "environment", id = "text", source = "text", version = "text", edges = "data frame",
  con = "text", file = "text",
  keys = c("list", "factor", "date", "money", "data frame", "text", "NA text"),
  path = "text", node = "text", label = "text", dimension_names = c("text", "NA text"),
  get = c("builtin", "closure"), put = c("builtin", "closure"), list = c("builtin", "closure"),
  delete = c("builtin", "closure"), exists = c("builtin", "closure"),
  range = c("builtin", "closure")
)

odd <- list(
  null = NULL, na = NA, "NA_real_" = NA_real_, "NA_integer_" = NA_integer_, empty = list(),
  true = TRUE, "1e10" = 1e10, "-1" = -1, "0" = 0, "1.5" = 1.5, nan = NaN, inf = Inf,
  "-Inf" = -Inf, "character()" = character(), "numeric()" = numeric(), scalar = nv_scalar(1L),
  tensor = nv_tensor(c(1.5, 2.5)), aval = nv_aval("f32", 3L), long = seq_len(300L),
  complex = 1i, raw = raw(1), "two" = c(1, 2), huge = 1e300, matrix = matrix(1:4, 2)
)

# Arguments that must refuse TRUE, except in nv_linspace(), counts and distributions, where they may
# be tensors.
of_tensors <- "^nv_(rbinom|rnbinom|rhyper|rmultinom|linspace|[dpq][a-z]+)$"
numbers <- c(
  "dims", "dim", "n", "k", "size", "sizes", "threads", "limit", "start", "probs",
  "seed", "p", "correction", "edge_padding_low", "edge_padding_high",
  "interior_padding", "diagonal", "nomatch", "nbins",
  "permutation", "shape", "steps", "batch_dims", "contracting_dims", "cache_size"
)

outcome <- function(name, arguments) {
  warned <- NULL
  condition <- withCallingHandlers(
    tryCatch(
      {
        do.call(name, arguments, quote = TRUE)
        NULL
      },
      error = identity
    ),
    warning = function(w) {
      warned <<- conditionMessage(w)
      invokeRestart("muffleWarning")
    }
  )
  if (!is.null(warned)) {
    return(paste("warns:", warned))
  }
  if (is.null(condition)) {
    return("taken")
  }
  ours <- inherits(condition, "joist_error") &&
    identical(conditionCall(condition)[[1L]], as.name(name))
  if (ours) "refused" else paste(class(condition)[1L], conditionMessage(condition))
}

test_that("every argument of every function refuses what it cannot mean", {
  threads <- nv_get_threads()
  memory <- nv_memory()[["limit"]]
  old <- options(joist.promotion = NULL)
  here <- setwd(tempdir()) # where files are written
  on.exit({
    setwd(here)
    nv_set_threads(threads)
    nv_memory(memory)
    options(old)
  })
  valid <- valid_arguments()
  # What has the name of a function of base R leaves everything but tensors to it, and so do
  # nv_merge(), nv_na_omit() and to_r(); is_tensor() is of anything; what program() and
  # check_gradient() get is for `f`; expect_equal_tensor() fails as expectations do;
  # lint_promotion() starts another R, so its own test is of few values.
  bases <- c(ls(baseenv()), getNamespaceExports("stats"))
  others <- c(
    "is_tensor", "nv_merge", "nv_na_omit", "program", "check_gradient", "expect_equal_tensor",
    "lint_promotion", "to_r"
  )
  functions <- setdiff(own_exports(), c(bases, others))
  if (!requireNamespace("zip", quietly = TRUE)) {
    functions <- setdiff(functions, c("nv_read_npz", "nv_write_npz"))
  }
  for (name in functions) {
    arguments <- valid_call(name, valid)
    if (length(arguments) == 0L) next
    expect_identical(outcome(name, arguments), "taken", label = name)
    options(joist.promotion = NULL)
    for (k in seq_along(arguments)) {
      argument <- c(names(arguments)[k], "")[1L]
      for (value in names(c(never, odd))) {
        given <- arguments
        given[k] <- c(never, odd)[value]
        must <- value %in% names(never) && !value %in% unlist(takes_anything[argument]) ||
          value == "true" && argument %in% numbers && !grepl(of_tensors, name)
        seen <- outcome(name, given)
        options(joist.promotion = NULL)
        if (seen == "refused" || seen == "taken" && !must) next
        fail(paste0(name, "(", argument, " = <", value, ">): ", seen))
      }
    }
  }
  succeed()
})

is_single <- function(x) is_tensor(x) && format(dtype(x)) == "f32"

values_of <- function(x) {
  if (is_tensor(x)) list(dtype(x), as_array(x)) else if (is.list(x)) lapply(x, values_of) else x
}

# A valid call that asks for no dtype, of floats that are f32.
single_call <- function(name, valid) {
  arguments <- valid_call(name, valid)
  for (d in intersect(names(arguments), c("dtype", "ambiguous"))) {
    if (is.null(formals(getExportedValue("joist", name))[[d]])) arguments[d] <- list(NULL)
  }
  lapply(arguments, function(x) if (is_tensor(x) && is_float_dtype(x)) nv_convert(x, "f32") else x)
}

test_that("an R number that the dtype beside it rounds is refused where the policy says so", {
  valid <- valid_arguments()
  on <- c(literal = "error", loss = "error")
  # Distributions and means by group are computed in double; the others are counts and positions.
  double <- "^nv_([dpqr][a-z]+|segment_mean|merge|na_omit)$|^[^n]|^n[^v]"
  functions <- grep(double, own_exports(), invert = TRUE, value = TRUE)
  numbers <- c(
    "x", "y", "value", "nan", "posinf", "neginf", "weights", "na", "min_val", "max_val", "lhs",
    "rhs", "padding_value", "true", "false", "values", "fp"
  )
  told <- character()
  for (name in functions) {
    arguments <- single_call(name, valid)
    floats <- vapply(arguments, is_single, NA)
    for (k in which(names(arguments) %in% numbers)) {
      given <- arguments
      if (length(given[[1L]]) > 1L && floats[[1L]] && k > 1L) given[[1L]][2:3] <- c(NaN, NA)
      if (!any(floats[-k]) || !(is.numeric(given[[k]]) || floats[[k]])) next
      run <- function(number) {
        given[[k]] <- replace(as.vector(given[[k]]) + 0, length(given[[k]]), number)
        with_promotion(NULL, values_of(do.call(name, given, quote = TRUE)), on = on)
      }
      near <- tryCatch(run(2^24), error = function(e) NULL)
      if (is.null(near) || identical(near, run(2^25))) next
      odd <- tryCatch(run(2^24 + 1), error = function(e) class(e)[1L])
      if (is.character(odd)) told <- c(told, name)
      expect_false(identical(near, odd), label = paste0(name, "(", names(given)[k], ")"))
    }
  }
  expect_gt(length(told), 20L)
})

test_that("functions are found by name where they are asked for", {
  mine <- function(x, ...) x * 2L
  x <- nv_tensor(1:4, shape = c(2, 2))
  expect_identical(as_array(nv_apply(x, 1L, "mine")), 2L * matrix(c(1L, 3L, 2L, 4L), 2))
  expect_identical(as_array(jit("mine")(x)), 2L * matrix(1:4, 2))
  expect_error(nv_apply(x, 1L, "no_such_function"), class = "joist_value_error")
  expect_error(nv_outer(x, 1:3, mine), "\\{2x2x3\\}", class = "joist_shape_error")
  expect_error(nv_gather(x, 1L, NULL), class = "joist_shape_error")
  expect_error(nv_take_along(x, x, NULL), class = "joist_shape_error")
  expect_error(jit(mine, promotion = "nonsense"), class = "joist_promotion_error")
  expect_error(nv_reduce_sum(x, TRUE), class = "joist_shape_error")
})

test_that("whole numbers are those that R's integers have", {
  whole <- list(3L, 3, -0, c(1, 2^31 - 1), -(2^31 - 1), integer(), numeric(), 1:10, diag(2))
  other <- list(
    NA, NA_integer_, NaN, Inf, 2^31, 0.5, c(1, NA), "1", TRUE, NULL, list(1), 1i, factor(1),
    nv_tensor(1L), as.Date(1, origin = "1970-01-01")
  )
  for (x in whole) expect_true(is_whole(x))
  for (x in other) expect_false(is_whole(x))
})
