# Arrow arrays of pyarrow as tensors and back, in one process: every type with a dtype, slices,
# chunks, nulls, tensors of ranks 2 to 6, Parquet files, and that nothing is left behind.
#
#   Rscript tests/arrow/round_trips.R PYTHON [ARRAYS]
#
# PYTHON must have pyarrow and numpy; R needs reticulate. ARRAYS is the number of random arrays with
# nulls, 1,000 unless it is given.

suppressPackageStartupMessages(library(joist))

python <- commandArgs(TRUE)[1L]
arrays <- as.integer(c(commandArgs(TRUE), 1000)[2L])
reticulate::use_python(python, required = TRUE)
pa <- reticulate::import("pyarrow", convert = FALSE)
main <- reticulate::py_run_string(
  "
import gc, os, numpy as np, pyarrow as pa, pyarrow.parquet as pq
types = dict(bool=pa.bool_(), i8=pa.int8(), i16=pa.int16(), i32=pa.int32(), i64=pa.int64(),
             ui8=pa.uint8(), ui16=pa.uint16(), ui32=pa.uint32(), ui64=pa.uint64(),
             f16=pa.float16(), f32=pa.float32(), f64=pa.float64())
def numbers(dtype, n):
    'Bits of all kinds; of floats no NaN, which Python would compare as different.'
    random = np.random.default_rng(7)
    if dtype == 'bool':
        return random.integers(0, 2, n).astype(bool)
    t = np.dtype(types[dtype].to_pandas_dtype())
    x = np.frombuffer(random.bytes(n * t.itemsize), t).copy()
    return np.where(np.isnan(x), t.type(-0.0), x) if t.kind == 'f' else x
def array(dtype, n):
    return pa.array(numbers(dtype, n), types[dtype])
def texts(a):
    'Values that R reads without rounding: whole numbers in digits, floats in hexadecimal ones.'
    is_float = pa.types.is_floating(a.type)
    return [float(v).hex() if is_float else str(v) for v in a.to_pylist()]
def text_of(x): return [float(v).hex() if x.dtype.kind == 'f' else str(v) for v in x.ravel()]
def same(a, b): return a.type == b.type and a.equals(b)
def nulls(dtype):
    one, two = (True, False) if dtype == 'bool' else (1, 3)
    return pa.array([one, None, two, None], types[dtype])
",
  convert = FALSE
)

count <- 0L
check <- function(ok, ...) {
  if (!isTRUE(ok)) stop("not so: ", ...)
  count <<- count + 1L
}
int <- function(n) reticulate::r_to_py(as.integer(n))
text <- function(object) as.character(reticulate::py_to_r(object))
refused <- function(code, class, part) {
  condition <- tryCatch(code, error = identity)
  check(
    inherits(condition, class) && grepl(part, conditionMessage(condition), fixed = TRUE),
    class, ", ", part, ": got ", if (inherits(condition, "error")) conditionMessage(condition)
  )
}

# What a tensor holds as text that loses nothing.
exact <- function(x) {
  type <- format(dtype(x))
  if (type == "bool") {
    return(c("False", "True")[as_array(x) + 1L])
  }
  if (startsWith(type, "f")) {
    return(as_array(x, "double"))
  }
  as_array(x, "character")
}
expected <- function(lines, type) if (startsWith(type, "f")) as.numeric(lines) else lines

dtypes <- c(
  "bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "f32", "f64"
)
for (type in dtypes) {
  for (n in c(0L, 1L, 7L, 1000L)) {
    array <- main$array(type, int(n))
    tensor <- as_tensor(array)
    check(identical(format(dtype(tensor)), type), type)
    check(identical(as.vector(exact(tensor)), expected(text(main$texts(array)), type)), type, n)
    check(reticulate::py_to_r(main$same(nv_to_arrow(tensor, "pyarrow"), array)), type, n)
  }
  # Slices: an offset in the array, for bits and nulls one within a byte.
  array <- main$array(type, int(100))
  whole <- as_tensor(array)
  for (at in c(0L, 1L, 7L, 8L, 63L)) {
    part <- as_tensor(array$slice(int(at), int(30)))
    check(identical(part, whole[at + 1:30]), type, " from ", at)
  }
  chunked <- pa$chunked_array(list(array$slice(int(3)), array$slice(int(0), int(9)), array))
  check(identical(as_tensor(chunked), c(whole[4:100], whole[1:9], whole)), type, " in chunks")
  none <- as_tensor(pa$chunked_array(list(), type = main$types[[type]]))
  check(identical(none, whole[integer()]), type, " without chunks")
  nulls <- main$nulls(type)
  values <- if (type == "bool") c(TRUE, NA, FALSE, NA) else c(1, NA, 3, NA)
  check(identical(as_array(as_tensor(nulls)) + 0, values + 0), type, " with nulls")
  back <- nv_to_arrow(as_tensor(nulls), "pyarrow")
  check(reticulate::py_to_r(main$same(back, nulls)), type, " with nulls, back")
  refused(as_tensor(nulls, na = "error"), "joist_value_error", "null at position 2")
  if (startsWith(type, "f")) {
    filled <- as_array(as_tensor(nulls, na = "nan"))
    check(identical(is.nan(filled), is.na(values)), type, " with NaN")
    check(identical(filled[c(1, 3)], c(1, 3)), type, " beside NaN")
  } else {
    refused(as_tensor(nulls, na = "nan"), "joist_value_error", "null at position 2")
  }
  check(length(as_tensor(nulls$slice(int(2), int(1)))) == 1, type, " beside nulls")
}

# Tensors: an element has the same indices on both sides.
for (type in dtypes) {
  for (extents in list(3:2, 4:2, c(2, 1, 3, 2), c(2, 3, 1, 2, 2), c(2, 1, 3, 2, 1, 2))) {
    if (type == "bool") next # pyarrow makes no tensors of bits
    values <- main$numbers(type, int(prod(extents)))$reshape(as.integer(extents))
    array <- pa$FixedShapeTensorArray$from_numpy_ndarray(values)
    tensor <- as_tensor(array)
    check(identical(shape(tensor), as.integer(extents)), type)
    rows <- exact(nv_transpose(tensor)) # in NumPy's order
    check(identical(as.vector(rows), expected(text(main$text_of(values)), type)), type)
    back <- nv_to_arrow(tensor, "pyarrow")
    check(reticulate::py_to_r(main$same(back, array)), type, " back")
    rest <- nv_reshape(tensor, c(extents[1L], prod(extents[-1L])))[-1, , drop = FALSE]
    rest <- nv_reshape(rest, c(extents[1L] - 1, extents[-1L]))
    check(identical(as_tensor(array$slice(int(1))), rest), type, " from the second row on")
  }
}
bits <- nv_tensor(matrix(c(TRUE, FALSE, TRUE, TRUE, FALSE, FALSE), 2))
check(identical(as_tensor(nv_to_arrow(bits, "pyarrow")), bits), "bits of tensors")
permuted <- reticulate::py_run_string(
  "
def tensors(order):
  t = pa.fixed_shape_tensor(pa.int16(), [2, 3, 4], permutation=order, dim_names=['C', 'H', 'W'])
  return pa.ExtensionArray.from_storage(
    t, pa.array(np.arange(5 * 24).reshape(5, 24).tolist(), pa.list_(pa.int16(), 24)))
def meant(order):
  # As the specification has it. What pyarrow 26 gives is that only where a permutation is its own
  # inverse: for the others the strides of its to_numpy_ndarray() overlap.
  x = np.arange(5 * 24).reshape(5, 2, 3, 4).transpose([0] + [1 + k for k in order])
  assert [order[k] for k in order] != [0, 1, 2] or (x == tensors(order).to_numpy_ndarray()).all()
  return [str(k) for k in x.shape] + [str(v) for v in x.ravel()]
l = pa.array([[1.5, 2], [3, 4]], pa.list_(pa.float32(), 2))
",
  convert = FALSE
)
for (order in list(0:2, c(0L, 2L, 1L), c(2L, 1L, 0L), c(2L, 0L, 1L), c(1L, 2L, 0L))) {
  tensor <- as_tensor(permuted$tensors(order))
  meant <- as.integer(text(permuted$meant(order)))
  check(identical(shape(tensor), meant[1:4]), "shape of a permutation")
  check(identical(as.vector(as_array(nv_transpose(tensor))), meant[-(1:4)]), "permutation")
}
lists <- as_tensor(permuted$l)
check(identical(as_array(lists), rbind(c(1.5, 2), c(3, 4))), "lists of a fixed size")

# Random arrays with nulls: values, which are missing, and what pyarrow gets back. One in four has
# rows, of which some are null.
random <- reticulate::py_run_string(
  "
rng = np.random.default_rng(11)
def share(): return rng.choice([0, 0.1, 0.5, 1])
def nullable(dtype, n):
  x = numbers(dtype, n)
  return pa.array(x, types[dtype], mask=rng.random(n) < share())
def draw(dtype, each):
  n, start = int(rng.integers(0, 100)), int(rng.integers(0, 30))
  if each == 0:
    return nullable(dtype, start + n).slice(start)
  gone = pa.array(rng.random(start + n) < share(), pa.bool_())
  return pa.FixedSizeListArray.from_arrays(
    nullable(dtype, (start + n) * each), each, mask=gone).slice(start)
def elements(a):
  # Those of rows in their order: None in the place of a null.
  flat = a.to_pylist()
  if not pa.types.is_fixed_size_list(a.type):
    return flat
  return [v for row in flat for v in (row if row is not None else [None] * a.type.list_size)]
def hidden(a): return ' '.join('0' if v is None else '1' for v in elements(a))
def shown(a):
  of_float = pa.types.is_floating(a.type.value_type if hasattr(a.type, 'value_type') else a.type)
  return ' '.join(float(v).hex() if of_float else str(v) for v in elements(a) if v is not None)
def returned(b, a):
  b.validate(full=True)
  if isinstance(b, pa.ExtensionArray):
    b = b.storage
    assert b.null_count == 0
    # Rows that were null are rows of nulls.
    return elements(b) == elements(a)
  return b.equals(a) and b.null_count == a.null_count
",
  convert = FALSE
)
missing_in <- function(x) {
  mask <- .Call(joist:::joist_r_mask_of, x)
  if (is.null(mask)) logical(length(x)) else as.vector(as_array(mask))
}
words <- function(object) {
  text <- strsplit(text(object), " ", fixed = TRUE)[[1L]]
  text[nzchar(text)]
}
for (k in seq_len(arrays)) {
  type <- dtypes[k %% length(dtypes) + 1L]
  round <- k %/% length(dtypes)
  each <- if (round %% 4L == 0L) round %/% 4L %% 5L + 1L else 0L
  array <- random$draw(type, int(each))
  tensor <- as_tensor(array)
  rows <- if (each > 0L) nv_transpose(tensor) else tensor
  there <- words(random$hidden(array)) == "1"
  check(identical(missing_in(rows), !there), type, ": nulls of array ", k)
  values <- exact(rows)[there]
  check(identical(values, expected(words(random$shown(array)), type)), type, ": array ", k)
  back <- nv_to_arrow(tensor, "pyarrow")
  check(reticulate::py_to_r(random$returned(back, array)), type, ": array ", k, " back")
}

# Parquet, as other tools write it.
file <- tempfile(fileext = ".parquet")
parquet <- reticulate::py_run_string(sprintf(
  "
table = pa.table({
  'half': pa.array(np.array([0.1, 65504, -0.0, 6e-8], np.float16)),
  'count': pa.array([0, 3000000000, 4294967295, 1], pa.uint32()),
  'id': pa.array([0, 2**53 + 1, -2**63, 2**63 - 1], pa.int64()),
  'hash': pa.array([0, 2**53 + 1, 2**63, 2**64 - 1], pa.uint64()),
  'few': pa.array([None, 255, None, 0], pa.uint8()),
  'flag': pa.array([True, None, False, None]),
  'name': pa.array(['a', 'b', 'c', 'd']),
  'kind': pa.array(['a', 'b', 'a', 'b']).dictionary_encode(),
  'when': pa.array([1, 2, 3, 4], pa.timestamp('us', 'UTC'))})
pq.write_table(table, '%s', row_group_size=2)
read = pq.read_table('%s')
", file, file
), convert = FALSE)
column <- function(name) parquet$read$column(name)
check(identical(
  as_array(as_tensor(column("half"))), c(0.0999755859375, 65504, 0, 2^-24)
), "f16 of Parquet")
check(identical(1 / as_array(as_tensor(column("half")))[3], -Inf), "a negative zero")
check(identical(as_array(as_tensor(column("count"))), c(0, 3e9, 4294967295, 1)), "ui32 of Parquet")
check(identical(as_array(as_tensor(column("id")), "character"), c(
  "0", "9007199254740993", "-9223372036854775808", "9223372036854775807"
)), "i64 of Parquet")
check(identical(as_array(as_tensor(column("hash")), "character"), c(
  "0", "9007199254740993", "9223372036854775808", "18446744073709551615"
)), "ui64 of Parquet")
check(identical(as_array(as_tensor(column("few"))) + 0, c(NA, 255, NA, 0)), "nulls of ui8")
check(identical(as_array(as_tensor(column("flag"))), c(TRUE, NA, FALSE, NA)), "nulls of bool")
again <- reticulate::py_run_string(sprintf(
  "
def again(few, flag):
  pq.write_table(pa.table({'few': few, 'flag': flag}), '%s')
  t = pq.read_table('%s')
  return t.equals(read.select(['few', 'flag']).combine_chunks()) or str(t)
", file, file
), convert = FALSE)$again(
  nv_to_arrow(as_tensor(column("few")), "pyarrow"),
  nv_to_arrow(as_tensor(column("flag")), "pyarrow")
)
check(isTRUE(reticulate::py_to_r(again)), "missing values in Parquet: ", text(again))
refused(as_tensor(column("name")), "joist_dtype_error", "utf8")
refused(as_tensor(column("kind")), "joist_dtype_error", "dictionary")
refused(as_tensor(column("when")), "joist_dtype_error", "timestamp")

# What pyarrow gets of R: the same memory, given back by any of its threads, and never written to.
lent <- reticulate::py_run_string(
  "
import threading
kept = []
def keep(a): kept.append(a)
def total(): return sum(float(np.asarray(a)[-1]) for a in kept)
def drop(n):
  def work(mine):
    while mine: mine.pop()
  threads = [threading.Thread(target=work, args=(kept[k::n],)) for k in range(n)]
  kept.clear()
  for t in threads: t.start()
  for t in threads: t.join()
def address(a): return hex(a.buffers()[-1].address + a.offset * (a.type.bit_width // 8))
def place(a): return hex(a.ctypes.data)
",
  convert = FALSE
)
for (type in setdiff(dtypes, "bool")) {
  for (n in c(3L, 100000L)) {
    tensor <- nv_tensor(seq_len(n) %% 2, type)
    address <- text(lent$address(nv_to_arrow(tensor, "pyarrow")))
    check(address == text(lent$place(reticulate::r_to_py(tensor))), type, " is lent")
  }
}
used <- function() {
  invisible(gc()) # of reticulate's references
  nv_memory() # lets go of what has come back
  invisible(gc())
  nv_memory()[["used"]]
}
million <- nv_tensor(numeric(2^17), "f64") # 1 MiB
before <- used()
for (k in 1:10) lent$keep(nv_to_arrow(million + k, "pyarrow"))
check(used() - before >= 10 * 2^20, "R keeps what pyarrow reads")
for (k in 1:8) million + k
check(identical(reticulate::py_to_r(lent$total()), 55), "pyarrow reads what it got")
invisible(lent$drop(int(4)))
check(used() - before < 2^20, "threads give memory back")
rm(tensor)

# Memory is shared while a tensor lives, given back afterwards, and never written to.
bytes <- function() reticulate::py_to_r(pa$total_allocated_bytes())
settle <- function() {
  invisible(gc())
  reticulate::py_run_string("gc.collect()")
}
settle()
before <- bytes()
large <- main$array("f64", int(1e6))
copied <- pa$concat_arrays(list(large, large)) # in pyarrow's own memory
rm(large)
tensor <- as_tensor(copied)
settle()
check(bytes() - before >= 16e6, "pyarrow keeps what a tensor reads")
first <- as_array(tensor[1])
changed <- tensor
changed[1] <- first + 1
check(identical(reticulate::py_to_r(copied[0L]$as_py()), first), "an assignment stays in R")
rm(copied)
settle()
check(bytes() - before >= 16e6, "a tensor keeps the memory")
check(identical(as_array(tensor[1]), first), "and can read it")
rm(tensor, changed)
settle()
check(bytes() - before < 1e6, "a tensor gives the memory back")
resident <- function() {
  as.numeric(strsplit(readLines("/proc/self/statm"), " ")[[1L]][2L]) * 4096
}
# What is lost, of 80 MB, is lost each time; what is kept for reuse is not.
grown <- function(piece) {
  round <- function(unused) {
    start <- resident()
    for (k in 1:1000) as_tensor(nv_to_arrow(piece, "pyarrow"))
    settle()
    resident() - start
  }
  min(vapply(1:4, round, 0))
}
if (file.exists("/proc/self/statm")) {
  check(grown(nv_tensor(matrix(1:20000, 2), "f32")) < 16e6, "nothing is left of 1000 arrays")
  check(grown(nv_tensor(1:20000, "f32")) < 16e6, "nothing is left of 1000 lent arrays")
}
settle()
check(bytes() - before < 1e6, "nothing is left in pyarrow")
cat("arrow:", count, "passed\n")
