# Calls of functions outside the table of operations: compiled functions, gradients, conversions,
# files and chunked tensors, on operands of tests/testthat/helper-operations.R. Returns a list of
# functions without arguments, `calls`, and of the files that they read, `files`, to be removed
# afterwards.
other_calls <- function(operands) {
  v <- operands$v
  w <- operands$w
  m <- operands$m
  n <- length(v)
  floats <- substr(format(dtype(v)), 1L, 1L) %in% c("f", "c")
  compiled <- jit(function(x, y) list((x + y) * x - y, sum(x * y + x)))
  plain <- as_array(v)
  file <- tempfile(fileext = ".safetensors")
  try(nv_save(list(v = v), file), silent = TRUE) # not of c128, which are not read either then
  folder <- tempfile()
  store <- nv_store(v, folder, chunks = max(1L, n %/% 8L))
  calls <- list(
    compiled = function() compiled(v, w),
    traced = function() jit(function(x, y) nv_sort(nv_abs(x * y) + x) + 0L)(w, v),
    gradient = if (floats) function() gradient(function(x) sum(nv_real(x * w * x)))(v),
    from_r = function() nv_tensor(plain),
    to_r = function() as_array(w),
    bytes = function() nv_write_bin(v),
    serialized = function() nv_serialize(list(v = v, w = w)),
    read = function() nv_read(file),
    saved = function() {
      to <- tempfile(fileext = ".safetensors")
      on.exit(unlink(to))
      nv_save(list(v = v, w = w), to)
      nv_read(to)
    },
    chunked = function() nv_compute(store * store + 1L),
    stored = function() {
      to <- tempfile()
      on.exit(unlink(to, recursive = TRUE))
      nv_compute(nv_store(w, to, chunks = max(1L, n %/% 5L)))
    },
    printed = function() format(v), row_sums = function() rowSums(m), pasted = function() c(m, t(m))
  )
  list(calls = Filter(Negate(is.null), calls), files = c(file, folder))
}
