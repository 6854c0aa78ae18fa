# Tensors and arrays of Python, each time in a fresh R: a process has one Python.

# What goes wrong in exchanges of every dtype, rank, layout and byte order: nothing.
exchange_all <- function(python, types) {
  Sys.setenv(RETICULATE_PYTHON = python)
  library(joist)
  main <- reticulate::py_run_string(paste(
    "import numpy as np",
    "def layouts(a):",
    "    wide = np.zeros(tuple(2 * n for n in a.shape), a.dtype, order='C')",
    "    wide[tuple(slice(0, None, 2) for n in a.shape)] = a",
    "    made = {'own': a, 'columns': np.array(a, order='F'), 'rows': np.array(a, order='C'),",
    "            'gaps': wide[tuple(slice(0, None, 2) for n in a.shape)],",
    "            'backwards': a[tuple(slice(None, None, -1) for n in a.shape)],",
    "            'turned': np.array(a, order='C').transpose(),",
    "            'repeated': np.broadcast_to(a, (3,) + a.shape)}",
    "    if a.dtype.type.__module__ == 'numpy':",
    "        made['big'] = a.astype(a.dtype.newbyteorder('>'))",
    "        made['little'] = a.astype(a.dtype.newbyteorder('<'))",
    "        odd = np.zeros(a.nbytes + 1, 'u1')[1:].view(a.dtype).reshape(a.shape)",
    "        odd[...] = a",
    "        made['unaligned'] = odd",
    "    return made",
    "def bits(a):",
    "    if a.dtype.byteorder not in '=|':",
    "        a = a.astype(a.dtype.newbyteorder('='))",
    "    return a.tobytes(order='F').hex()",
    sep = "\n"
  ), convert = FALSE)
  np <- reticulate::import("numpy", convert = FALSE)
  to_r <- reticulate::py_to_r
  hex <- function(x) paste(nv_write_bin(x), collapse = "")
  wrong <- character()
  check <- function(ok, ...) if (!isTRUE(ok)) wrong <<- c(wrong, paste(...))
  set.seed(1)
  checked <- 0
  shapes <- list(
    integer(), 5L, 1L, c(2L, 3L), c(1L, 4L), c(2L, 1L, 4L), c(1L, 2L, 3L, 2L),
    c(2L, 1L, 2L, 1L, 3L), c(1L, 2L, 1L, 3L, 1L, 2L), 0L, c(3L, 0L, 2L)
  )
  for (type in names(types)) {
    size <- length(nv_write_bin(nv_convert(nv_scalar(1, "f32"), type)))
    copied <- grepl("^(u?int[124]|float[46]_.*|bcomplex32)$", types[[type]])
    for (shape in shapes) {
      n <- prod(shape) * size
      bytes <- as.raw(if (type == "bool") sample(0:1, n, TRUE) else sample(0:255, n, TRUE))
      x <- nv_read_bin(bytes, type, shape)
      a <- reticulate::r_to_py(x)
      where <- paste0(type, "{", paste(shape, collapse = "x"), "}")
      check(to_r(a$dtype$name) == types[[type]], where, "dtype")
      check(identical(as.integer(unlist(to_r(a$shape))), as.integer(shape)), where, "shape")
      check(to_r(main$bits(a)) == hex(x), where, "bits in Python")
      check(!to_r(a$flags$writeable), where, "can be written")
      made <- main$layouts(a)
      for (layout in names(to_r(reticulate::py_eval("dict", FALSE)$fromkeys(made, 1L)))) {
        b <- made[[layout]]
        y <- nv_tensor(b)
        check(dtype(y) == type, where, layout, "dtype")
        check(identical(shape(y), as.integer(unlist(to_r(b$shape)))), where, layout, "shape")
        check(hex(y) == to_r(main$bits(b)), where, layout, "bits in R")
        flags <- b$flags
        shared <- to_r(flags$f_contiguous) && to_r(flags$aligned) && to_r(b$dtype$isnative)
        # NumPy gives a number instead of an array of rank 0, with separate memory.
        is_array <- length(shape) > 0L || !layout %in% c("gaps", "backwards")
        if (length(y) > 0L && is_array) {
          is_shared <- to_r(np$shares_memory(b, reticulate::r_to_py(y)))
          check(is_shared == (shared && !copied), where, layout, "shared")
        }
        checked <- checked + 1
      }
    }
  }
  list(wrong = wrong, checked = checked)
}

numpy_names <- c(
  bool = "bool", i8 = "int8", i16 = "int16", i32 = "int32", i64 = "int64", ui8 = "uint8",
  ui16 = "uint16", ui32 = "uint32", ui64 = "uint64", f16 = "float16", f32 = "float32",
  f64 = "float64", c64 = "complex64", c128 = "complex128"
)

ml_dtypes_names <- c(
  bf16 = "bfloat16", int1 = "int1", i2 = "int2", i4 = "int4", uint1 = "uint1", ui2 = "uint2",
  ui4 = "uint4", f4E2M1FN = "float4_e2m1fn", f6E2M3FN = "float6_e2m3fn",
  f6E3M2FN = "float6_e3m2fn", f8E3M4 = "float8_e3m4", f8E4M3 = "float8_e4m3",
  f8E4M3B11FNUZ = "float8_e4m3b11fnuz", f8E4M3FN = "float8_e4m3fn",
  f8E4M3FNUZ = "float8_e4m3fnuz", f8E5M2 = "float8_e5m2", f8E5M2FNUZ = "float8_e5m2fnuz",
  f8E8M0FNU = "float8_e8m0fnu"
)

ml_dtypes_halves <- c(c32 = "complex32", bc32 = "bcomplex32")

test_that("every dtype, rank, layout and byte order of NumPy: bits, and what is shared", {
  python <- python_with("numpy")
  expect_setequal(names(c(numpy_names, ml_dtypes_names, ml_dtypes_halves)), dtypes())
  got <- in_fresh_r(exchange_all, python, numpy_names)
  expect_identical(got$wrong, character())
  expect_gte(got$checked, 14 * 11 * 8)
})

test_that("dtypes that NumPy lacks are those of ml_dtypes", {
  python <- python_with("numpy", "ml_dtypes")
  got <- in_fresh_r(exchange_all, python, c(ml_dtypes_names, ml_dtypes_halves))
  expect_identical(got$wrong, character())
  expect_gte(got$checked, 18 * 11 * 7)
})

# All bytes, in ml_dtypes' eyes and in joist's; and what there is to say without ml_dtypes.
try_bytes <- function(python, types) {
  Sys.setenv(RETICULATE_PYTHON = python)
  library(joist)
  main <- reticulate::py_run_string(paste(
    "import numpy as np, ml_dtypes, sys",
    "def bytes_as(name, most):",
    "    return (np.arange(256) % most).astype(np.uint8).view(getattr(ml_dtypes, name))",
    "def numbers(a):",
    "    return a.astype(np.float64)",
    "def without():",
    "    sys.modules['ml_dtypes'] = None",
    sep = "\n"
  ), convert = FALSE)
  wrong <- character()
  for (type in names(types)) {
    # Of floats with unused bits set, ml_dtypes takes the sign from these.
    bits <- as.integer(sub("^[a-z]+([0-9]).*", "\\1", types[[type]]))
    a <- main$bytes_as(types[[type]], if (grepl("int", types[[type]])) 256L else as.integer(2^bits))
    x <- nv_tensor(a)
    values <- as_array(nv_tensor(main$numbers(a)))
    own <- as_array(nv_tensor(main$numbers(reticulate::r_to_py(x))))
    same <- format(dtype(x)) == type && identical(as_array(nv_convert(x, "f64")), values) &&
      identical(own, values)
    if (!same) wrong <- c(wrong, type)
  }
  main$without()
  refused <- tryCatch(reticulate::r_to_py(x), joist_value_error = conditionMessage)
  list(wrong = wrong, refused = refused)
}

test_that("all bytes have the values of ml_dtypes", {
  python <- python_with("numpy", "ml_dtypes")
  got <- in_fresh_r(try_bytes, python, ml_dtypes_names[-1L])
  expect_identical(got$wrong, character())
  expect_match(got$refused, "ml_dtypes")
})

# ---- values, writing, refusals ----

try_values <- function(python) {
  Sys.setenv(RETICULATE_PYTHON = python)
  np <- reticulate::import("numpy", convert = FALSE)
  to_r <- reticulate::py_to_r
  single <- np$array(list(1L, 2L), dtype = "float32")
  without <- to_r(single)
  library(joist)
  refusal <- function(expr) {
    tryCatch(list(expr), joist_error = function(e) c(class(e)[1L], conditionMessage(e)))
  }
  run <- function(code) reticulate::py_run_string(code, convert = FALSE)
  values <- function(a) unlist(to_r(a$tolist()))
  got <- list()
  big <- np$array(list("9007199254740993", "-9223372036854775807"), dtype = "int64")
  got$ids <- as_array(nv_tensor(big), as = "character")
  got$one <- as_array(nv_scalar(np$uint64("18446744073709551615")), as = "character")
  got$wide <- as_array(nv_tensor(np$array(list(3e9, 1), dtype = "uint32")))
  # Writing, in both directions.
  a <- np$array(list(1, 2, 3))
  x <- nv_tensor(a)
  x[1] <- 9
  numbers <- as_array(nv_tensor(a))
  numbers[2] <- 9
  a_after <- values(a)
  y <- nv_tensor(c(1, 2, 3), "f64")
  b <- reticulate::r_to_py(y)
  y[1] <- 9
  got$unwritten <- list(a_after, as_array(x), numbers, values(b), as_array(y))
  got$frozen <- inherits(tryCatch(b$fill(0), error = identity), "error")
  np$put(a, 0L, 7)
  got$seen <- as_array(nv_tensor(a))[1]
  # Two arrays that are there at once have the same elements, as none is a copy.
  y <- nv_tensor(c(1, 2, 3), "f64")
  lent <- list(reticulate::r_to_py(y), reticulate::r_to_py(y))
  places <- vapply(lent, function(a) as.character(reticulate::py_str(a$ctypes$data)), "")
  got$place <- places[1L] == places[2L]
  # What Python gets as arguments and variables; what reticulate itself makes of arrays.
  got$argument <- to_r(np$sum(nv_tensor(1:4, "ui8"))$item())
  main <- reticulate::import_main(convert = FALSE)
  reticulate::py_set_attr(main, "t", nv_tensor(1:2, "f16"))
  got$variable <- to_r(reticulate::py_eval("t.dtype.name", convert = FALSE))
  got$own <- identical(to_r(single), without) || identical(class(without), class(to_r(single)))
  # DLPack, of the version that this NumPy asks for.
  z <- nv_tensor(matrix(1:6, 2), "f32")
  got$dlpack <- as_array(nv_tensor(np$from_dlpack(reticulate::r_to_py(nv_to_dlpack(z)))))
  copy <- np$from_dlpack(reticulate::r_to_py(nv_to_dlpack(z, versioned = FALSE)))
  got$copy <- list(as_array(nv_tensor(copy)), to_r(np$shares_memory(copy, reticulate::r_to_py(z))))
  # An object with nothing but __dlpack__(), with and without the arguments of version 1.
  maker <- run(paste(
    "class Old:",
    "    def __init__(self, x): self.x = x",
    "    def __dlpack__(self): return self.x.__dlpack__()",
    "class New(Old):",
    "    def __dlpack__(self, max_version=None): return self.x.__dlpack__(max_version=max_version)",
    sep = "\n"
  ))
  again <- function(kind) nv_tensor(maker[[kind]](reticulate::r_to_py(nv_to_dlpack(z))))
  got$protocols <- lapply(c("Old", "New"), function(kind) as_array(again(kind)))
  # Masked arrays, in every dtype.
  hidden <- list(FALSE, TRUE, TRUE, FALSE)
  names_in_numpy <- vapply(dtypes(), function(type) format(as_dtype(type), style = "numpy"), "")
  numpy_types <- dtypes()[grepl("^[a-z][0-9]+$", names_in_numpy)]
  got$masked <- lapply(numpy_types, function(type) {
    values <- np$array(list(1L, 0L, 1L, 0L), dtype = format(as_dtype(type), style = "numpy"))
    x <- nv_tensor(np$ma$masked_array(values, mask = hidden))
    list(format(dtype(x)), as_array(x) + 0)
  })
  got$present <- lapply(numpy_types, function(type) {
    list(type, if (startsWith(type, "c")) c(1 + 0i, NA, NA, 0i) else c(1, NA, NA, 0))
  })
  two <- np$arange(1L, 7L)$reshape(2L, 3L)$astype("int32")
  got$rows <- as_array(nv_tensor(np$ma$masked_where(np$equal(np$remainder(two, 5L), 1L), two)))
  got$nothing <- as_array(nv_tensor(np$ma$masked))
  got$unmasked <- as_array(nv_tensor(np$ma$masked_array(list(1, 2), mask = FALSE)))
  got$refused <- lapply(
    expression(
      nv_tensor(np$array(list("a"))), nv_tensor(np$array("2024-01-01", dtype = "datetime64[D]")),
      nv_tensor(reticulate::import("builtins", convert = FALSE)$int(3L)),
      reticulate::r_to_py(nv_tensor(c(1, NA, 3, NA), "ui8")),
      nv_tensor(np$array(list(2L), dtype = "uint8")$view("bool")),
      nv_tensor(a, "f32"), reticulate::r_to_py(nv_aval("f32", 3)),
      nv_tensor(np$ones(reticulate::tuple(as.list(rep(1L, 32L)))))
    ),
    function(call) refusal(eval(call))
  )
  got
}

test_that("values arrive exactly or are refused, and writing does not change what others read", {
  python <- python_with("numpy")
  got <- in_fresh_r(try_values, python)
  expect_identical(got$ids, c("9007199254740993", "-9223372036854775807"))
  expect_identical(got$one, "18446744073709551615")
  expect_identical(got$wide, c(3e9, 1))
  expect_identical(
    got$unwritten, list(c(1, 2, 3), c(9, 2, 3), c(1, 9, 3), c(1, 2, 3), c(9, 2, 3))
  )
  expect_true(got$frozen)
  expect_identical(got$seen, 7)
  expect_true(got$place)
  expect_equal(got$argument, 10)
  expect_identical(got$variable, "float16")
  expect_true(got$own)
  expect_identical(got$dlpack, matrix(c(1, 2, 3, 4, 5, 6), 2))
  expect_identical(got$copy, list(matrix(c(1, 2, 3, 4, 5, 6), 2), FALSE))
  expect_identical(got$protocols, rep(list(matrix(c(1, 2, 3, 4, 5, 6), 2)), 2))
  classes <- vapply(got$refused[1:7], function(refusal) refusal[[1L]], "")
  expect_identical(classes, paste0("joist_", c(
    "dtype", "dtype", "value", "value", "value", "dtype", "value"
  ), "_error"))
  expect_match(got$refused[[1]][2], "str32")
  expect_match(got$refused[[3]][2], "type int is not an array")
  expect_match(got$refused[[4]][2], "2 missing values, the first at position 2.*pyarrow")
  expect_identical(got$masked, got$present)
  expect_identical(got$rows, rbind(c(NA, 2L, 3L), c(4L, 5L, NA)))
  expect_identical(got$nothing, NA_real_)
  expect_identical(got$unmasked, c(1, 2))
  expect_type(got$refused[[8]], "list")
})

# ---- lifetimes ----

try_lifetimes <- function(python, cycles) {
  Sys.setenv(RETICULATE_PYTHON = python)
  library(joist)
  np <- reticulate::import("numpy", convert = FALSE)
  to_r <- reticulate::py_to_r
  main <- reticulate::py_run_string(paste(
    "import gc, threading, weakref",
    "import numpy as np",
    "kept = []",
    "def keep(a): kept.append(a)",
    "def total(): return float(sum(a.sum() for a in kept))",
    "def drop():",
    "    kept.clear()",
    "    gc.collect()",
    "def drop_in_threads(n):",
    "    def work(mine):",
    "        while mine: mine.pop()",
    "    shares = [kept[k::n] for k in range(n)]",
    "    kept.clear()",
    "    threads = [threading.Thread(target=work, args=(share,)) for share in shares]",
    "    del shares",
    "    for t in threads: t.start()",
    "    for t in threads: t.join()",
    "class Watched(np.ndarray): pass",
    "alive = []",
    "def watched(n):",
    "    a = Watched((int(n),))",
    "    a[:] = np.arange(float(n))",
    "    alive.append(weakref.ref(a))",
    "    return a",
    "def objects(): return len(gc.get_objects())",
    "def living(): return sum(r() is not None for r in alive)",
    sep = "\n"
  ), convert = FALSE)
  n <- 2^17 # 1 MiB of f64
  used <- function() {
    nv_memory() # lets go of what has come back
    gc()
    nv_memory()[["used"]]
  }
  # A sum that cannot be written over its operand, which is in R's memory.
  pooled <- function(value) {
    x <- nv_tensor(rep(value, n), "f64")
    x + 0
  }
  junk <- function() for (k in 1:8) nv_tensor(numeric(n), "f64") + k
  got <- list(n = n)
  # Python keeps what R has forgotten.
  before <- used()
  for (k in 1:10) main$keep(pooled(k + 0.5))
  got$lent <- used() - before
  junk()
  got$total <- to_r(main$total())
  main$drop()
  got$dropped <- used() - before
  for (k in 1:10) main$keep(pooled(k + 0.5))
  got$lent_again <- used() - before
  main$drop_in_threads(4L)
  got$dropped_in_threads <- used() - before
  # Capsules that are never imported, of tensors that are not kept.
  for (k in 1:10) {
    lent <- reticulate::r_to_py(nv_to_dlpack(nv_tensor(numeric(n), "f64") + k))
    lent$`__dlpack__`(max_version = reticulate::tuple(1L, 0L))
    lent$`__dlpack__`()
  }
  rm(lent)
  gc() # of reticulate's references
  got$capsules <- used() - before
  # R keeps what Python has forgotten.
  hold <- function() {
    x <- nv_tensor(main$watched(1000L))
    gc()
    reticulate::py_run_string("gc.collect(); junk = [np.ones(1000) for k in range(100)]")
    list(to_r(main$living()), as_array(x) + 0)
  }
  got$held <- hold()
  gc()
  got$dead <- to_r(main$living())
  # Again and again.
  resident <- function() {
    if (!file.exists("/proc/self/statm")) {
      return(0)
    }
    gc()
    scan("/proc/self/statm", quiet = TRUE)[2L] * 4096
  }
  a <- np$zeros(1000L)
  cycle <- function(times) {
    for (k in seq_len(times)) {
      main$keep(nv_tensor(a) + k)
      nv_tensor(reticulate::r_to_py(nv_tensor(c(1, 2, k), "f64")))
      if (k %% 100 == 0) main$drop()
    }
  }
  # What is lost is lost each time; what is kept for reuse is not.
  grown <- function(round) {
    start <- resident()
    cycle(cycles)
    resident() - start
  }
  got$growth <- min(vapply(1:4, grown, 0))
  # Objects: a list that something stays on would grow by one in each cycle.
  objects <- function() {
    main$drop()
    gc() # of reticulate's references
    nv_memory() # lets go of what has come back
    c(R = gc()[1L, 1L], Python = to_r(main$objects()))
  }
  start <- objects()
  cycle(cycles)
  got$objects <- objects() - start
  got
}

test_that("memory lives as long as R or Python reads it, and is given back from any thread", {
  python <- python_with("numpy")
  got <- in_fresh_r(try_lifetimes, python, 2000)
  bytes <- 8 * got$n
  expect_gte(got$lent, 10 * bytes)
  expect_identical(got$total, sum(1:10 + 0.5) * got$n)
  expect_lt(got$dropped, bytes)
  expect_gte(got$lent_again, 10 * bytes)
  expect_lt(got$dropped_in_threads, bytes)
  expect_lt(got$capsules, bytes)
  expect_equal(got$held, list(1, 0:999))
  expect_equal(got$dead, 0)
  # 2000 arrays of 8000 bytes that stay would be 16 MB.
  expect_lt(got$growth, 4e6)
  expect_lt(got$objects[["R"]], 1500)
  expect_lt(got$objects[["Python"]], 1500)
})

# ---- JAX ----

try_jax <- function(python) {
  Sys.setenv(RETICULATE_PYTHON = python, JAX_PLATFORMS = "cpu")
  library(joist)
  jnp <- reticulate::import("jax.numpy", convert = FALSE)
  got <- list(types = character())
  for (type in c("bool", "int8", "int32", "uint16", "uint32", "bfloat16", "float16", "float32")) {
    a <- jnp$arange(6L)$astype(type)
    x <- nv_tensor(a)
    got$types[type] <- format(dtype(x), style = "jax")
    got$values[[type]] <- as_array(nv_convert(x, "f64"))
    b <- jnp$from_dlpack(reticulate::r_to_py(nv_to_dlpack(nv_reshape(x, c(2L, 3L)))))
    got$back[[type]] <- as_array(nv_convert(nv_tensor(b), "f64"))
  }
  x <- nv_tensor(jnp$arange(6L)$reshape(2L, 3L))
  got$rows <- as_array(x)
  four <- nv_tensor(jnp$arange(6L)$reshape(2L, 3L)$astype(jnp$float4_e2m1fn)) # which JAX packs
  refused <- tryCatch(
    jnp$from_dlpack(reticulate::r_to_py(nv_to_dlpack(nv_tensor(1:3, "i4")))),
    error = conditionMessage
  )
  got$refused <- if (is.character(refused)) refused
  got$four <- list(format(dtype(four)), as_array(four))
  got
}

test_that("arrays of JAX come and go by DLPack", {
  python <- python_with("numpy", "jax")
  got <- in_fresh_r(try_jax, python)
  expect_identical(unname(got$types), names(got$types))
  for (type in names(got$types)) {
    want <- if (type == "bool") as.numeric(0:5 > 0) else as.numeric(0:5)
    expect_identical(got$values[[type]], want, label = type)
    expect_identical(got$back[[type]], matrix(want, 2), label = type)
  }
  expect_identical(got$rows, matrix(0:5, 2, byrow = TRUE))
  expect_match(got$refused, "need DLPack 1.1", fixed = TRUE)
  # 5 is a tie between 4 and 6, of which 4 is even.
  expect_identical(got$four, list("f4E2M1FN", matrix(c(0:4, 4), 2, byrow = TRUE)))
})

# ---- PyTorch ----

# What goes wrong in exchanges of every dtype, rank and layout: nothing. `compiled` is the
# library of address_library().
try_torch <- function(python, types, compiled) {
  Sys.setenv(RETICULATE_PYTHON = python)
  library(joist)
  torch <- reticulate::import("torch", convert = FALSE)
  to_r <- reticulate::py_to_r
  main <- reticulate::py_run_string(paste(
    "import gc, threading, torch",
    "def layouts(a):",
    "    turned = tuple(range(a.dim()))[::-1]",
    "    wide = torch.zeros([2 * n for n in a.shape], dtype=a.dtype)",
    "    part = wide[tuple(slice(0, None, 2) for n in a.shape)]",
    "    part.copy_(a)",
    "    rows = a.contiguous()",
    "    return {'own': a, 'rows': rows, 'turned': rows.permute(turned),",
    "            'columns': rows.permute(turned).contiguous().permute(turned),",
    "            'gaps': part, 'repeated': a.expand((3,) + tuple(a.shape))}",
    "def rows(a):",
    "    own = a.clone(memory_format=torch.contiguous_format)",
    "    return own.reshape(-1).view(torch.uint8).numpy().tobytes().hex()",
    "def shape(a): return list(a.shape)",
    "def place(a): return format(a.data_ptr(), 'x')",
    "def drop_in_thread():",
    "    thread = threading.Thread(target=kept.clear)",
    "    thread.start()",
    "    thread.join()",
    "kept = []",
    "def keep(a): kept.append(a)",
    "signs = torch.tensor([1 + 2j, 3 - 4j]).conj()",
    "fours = torch.arange(6, dtype=torch.uint8).view(2, 3) * 17 + 16",
    "fours = fours.view(torch.float4_e2m1fn_x2) if hasattr(torch, 'float4_e2m1fn_x2') else None",
    sep = "\n"
  ), convert = FALSE)
  hex <- function(x) paste(nv_write_bin(nv_transpose(x)), collapse = "")
  symbol <- getNativeSymbolInfo("address_of", dyn.load(compiled))
  place <- function(x) .Call(symbol, nv_to_dlpack(x))
  send <- function(x) torch$from_dlpack(reticulate::r_to_py(nv_to_dlpack(x)))
  wrong <- character()
  check <- function(ok, ...) if (!isTRUE(ok)) wrong <<- c(wrong, paste(...))
  set.seed(1)
  checked <- 0
  shapes <- list(
    integer(), 5L, c(2L, 3L), c(2L, 1L, 4L), c(3L, 2L, 3L, 2L), c(2L, 3L, 2L, 1L, 3L),
    c(1L, 2L, 1L, 3L, 1L, 2L), 0L, c(3L, 0L, 2L)
  )
  for (type in names(types)) {
    size <- length(nv_write_bin(nv_convert(nv_scalar(1, "f32"), type)))
    for (shape in shapes) {
      n <- prod(shape) * size
      bytes <- as.raw(if (type == "bool") sample(0:1, n, TRUE) else sample(0:255, n, TRUE))
      x <- nv_read_bin(bytes, type, shape)
      a <- send(x)
      where <- paste0(type, "{", paste(shape, collapse = "x"), "}")
      check(as.character(a$dtype) == paste0("torch.", types[[type]]), where, "dtype")
      check(to_r(main$rows(a)) == hex(x), where, "bits in Python")
      lends <- n > if (type == "c128") 128 else 0
      check(!lends || to_r(main$place(a)) == place(x), where, "is copied to Python")
      made <- main$layouts(a)
      for (layout in c("own", "rows", "turned", "columns", "gaps", "repeated")) {
        b <- made[[layout]]
        y <- nv_tensor(b)
        check(dtype(y) == type, where, layout, "dtype")
        check(identical(shape(y), as.integer(unlist(to_r(main$shape(b))))), where, layout, "shape")
        check(hex(y) == to_r(main$rows(b)), where, layout, "bits in R")
        shared <- n > 0 && layout %in% c("own", "columns")
        check(!shared || to_r(main$place(b)) == place(y), where, layout, "is copied to R")
        checked <- checked + 1
      }
    }
  }
  used <- function() {
    gc() # of reticulate's references
    nv_memory() # lets go of what has come back
    gc()
    nv_memory()[["used"]]
  }
  x <- nv_tensor(numeric(2^17), "f64") # 1 MiB
  before <- used()
  for (k in 1:10) main$keep(send(x + k))
  lent <- used() - before
  main$drop_in_thread()
  refused <- tryCatch(
    nv_tensor(torch$ones(2L, requires_grad = TRUE)),
    joist_value_error = conditionMessage
  )
  fours <- if (!is.null(to_r(main$fours))) nv_tensor(main$fours)
  list(
    fours = fours, wrong = wrong, checked = checked, lent = lent, dropped = used() - before,
    conjugate = as_array(nv_tensor(main$signs)), imaginary = as_array(nv_tensor(main$signs$imag)),
    refused = refused
  )
}

test_that("arrays of PyTorch come and go by DLPack, in every dtype", {
  python <- python_with("numpy", "torch")
  types <- c(
    bool = "bool", i8 = "int8", i16 = "int16", i32 = "int32", i64 = "int64", ui8 = "uint8",
    ui16 = "uint16", ui32 = "uint32", ui64 = "uint64", f16 = "float16", bf16 = "bfloat16",
    f32 = "float32", f64 = "float64", c64 = "complex64", c128 = "complex128",
    f8E4M3FN = "float8_e4m3fn", f8E5M2 = "float8_e5m2", f8E4M3FNUZ = "float8_e4m3fnuz",
    f8E5M2FNUZ = "float8_e5m2fnuz", f8E8M0FNU = "float8_e8m0fnu"
  )
  got <- in_fresh_r(try_torch, python, types, address_library())
  expect_identical(got$wrong, character())
  expect_equal(got$checked, length(types) * 9 * 6)
  expect_gte(got$lent, 10 * 2^20)
  expect_lt(got$dropped, 2^20)
  expect_identical(got$conjugate, c(1 - 2i, 3 + 4i))
  expect_identical(got$imaginary, c(-2, 4))
  expect_match(got$refused, "detach")
  if (!is.null(got$fours)) {
    codes <- rbind(c(0, 1, 1, 2, 2, 3), c(3, 4, 4, 5, 5, 6)) # two a byte, the first lowest
    expect_identical(format(dtype(got$fours)), "f4E2M1FN")
    expect_identical(array(as.numeric(nv_write_bin(got$fours)), c(2, 6)), codes)
  }
})

test_that("columns with missing values come exactly, with masks", {
  skip_if_not_installed("reticulate")
  skip_on_cran()
  python <- python_with("numpy", "pandas", "pyarrow", "polars")
  found <- in_fresh_r(function(python) {
    Sys.setenv(RETICULATE_PYTHON = python)
    library(joist)
    main <- reticulate::py_run_string(paste(
      "import numpy as np, pandas as pd, pyarrow as pa, polars as pl",
      "signed = [9007199254740993, None, -9223372036854775808]",
      "unsigned = [18446744073709551615, None, 9007199254740993]",
      "columns = {",
      "  'Int64': pd.Series(signed, dtype='Int64'),",
      "  'Int64 array': pd.array(signed, dtype='Int64'),",
      "  'UInt64': pd.Series(unsigned, dtype='UInt64'),",
      "  'ArrowDtype': pd.Series(signed, dtype=pd.ArrowDtype(pa.int64())),",
      "  'ArrowDtype array': pd.array(signed, dtype=pd.ArrowDtype(pa.int64())),",
      "  'pyarrow': pa.array(signed, pa.int64()),",
      "  'pyarrow chunks': pa.chunked_array([signed[:1], signed[1:]], pa.int64()),",
      "  'polars': pl.Series(signed, dtype=pl.Int64),",
      "  'polars unsigned': pl.Series(unsigned, dtype=pl.UInt64),",
      "}",
      "names = list(columns)",
      "plain = {'pandas': pd.Series([1.5, float('nan')]),",
      "  'polars': pl.Series([1.5, float('nan')])}",
      "bools = pd.Series([True, None], dtype='boolean')",
      "small = pl.Series([1, None, 255], dtype=pl.UInt8)",
      "frames = [pl.DataFrame({'a': [1, None]}), pl.DataFrame({'a': [1, 2], 'b': [1.5, 2.5]}),",
      "  pd.DataFrame({'a': [2**53 + 1], 'b': [0.5]}),",
      "  pd.DataFrame({'a': pd.array([1], 'Int64')})]",
      "same = pd.DataFrame({'a': [2**53 + 1, 2], 'b': [3, 4]})",
      sep = "\n"
    ), convert = FALSE)
    error_of <- function(expr) tryCatch(format(expr), error = function(e) class(e)[1])
    texts <- list()
    for (name in reticulate::py_to_r(main$names)) {
      column <- main$columns[[name]]
      x <- nv_tensor(column)
      texts[[name]] <- c(format(dtype(x)), as.character(x))
      texts[[paste(name, "error")]] <- error_of(nv_tensor(column, na = "error"))
    }
    list(
      texts = texts,
      plain = lapply(c("pandas", "polars"), function(name) {
        x <- nv_tensor(main$plain[[name]])
        c(format(dtype(x)), as.character(x))
      }),
      bools = as.vector(nv_tensor(main$bools)), small = as.vector(nv_tensor(main$small)),
      frames = vapply(0:3, function(k) error_of(nv_tensor(main$frames[k])), ""),
      same = as.character(nv_tensor(main$same))
    )
  }, python)
  signed <- c("i64", "9007199254740993", NA, "-9223372036854775808")
  unsigned <- c("ui64", "18446744073709551615", NA, "9007199254740993")
  for (name in names(found$texts)) {
    want <- if (endsWith(name, "error")) {
      "joist_value_error"
    } else if (name %in% c("UInt64", "polars unsigned")) {
      unsigned
    } else {
      signed
    }
    expect_identical(found$texts[[name]], want, label = name)
  }
  expect_identical(found$plain, rep(list(c("f64", "1.5", "NaN")), 2))
  expect_identical(found$bools, c(TRUE, NA))
  expect_identical(found$small, c(1L, NA, 255L))
  expect_identical(found$frames, rep("joist_value_error", 4))
  expect_identical(found$same, c("9007199254740993", "2", "3", "4"))
})

test_that("R survives a dtype that NumPy refuses", {
  skip_if_not_installed("reticulate")
  skip_on_cran()
  python <- python_with("numpy")
  found <- in_fresh_r(function(python) {
    Sys.setenv(RETICULATE_PYTHON = python)
    library(joist)
    np <- reticulate::import("numpy", convert = FALSE)
    refused <- character()
    for (d in c("bf16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "i4", "c128", "f32")) {
      x <- nv_convert(nv_tensor(1:3, "f32"), d)
      for (k in 1:3) {
        for (versioned in c(TRUE, FALSE)) {
          made <- tryCatch(
            reticulate::py_to_r(np$from_dlpack(reticulate::r_to_py(nv_to_dlpack(x, versioned)))),
            error = function(e) "refused"
          )
          refused[d] <- if (identical(made, "refused")) "refused" else "taken"
          invisible(gc())
        }
      }
    }
    refused
  }, python)
  expect_identical(found[["bf16"]], "refused")
  expect_identical(found[["f32"]], "taken")
})
