# Every dtype through DLPack to whichever of NumPy, JAX, torch, TensorFlow and Paddle is installed,
# and back: the elements are the same, or there is an R error, and R survives.
#
#   R -f tests/living/dlpack.R --args PYTHON [LIBRARIES]
#
# Libraries that cannot be loaded into one process are given one by one, "tensorflow" and "paddle"
# only then, and each dtype is a line: those of 2026/dlpack.csv.
Sys.setenv(RETICULATE_PYTHON = commandArgs(TRUE)[1])
suppressMessages(library(joist))
wanted <- commandArgs(TRUE)[-1]
each <- length(wanted) > 0L
if (!each) wanted <- c("numpy", "jax", "torch")
main <- reticulate::py_run_string("
import importlib, importlib.util, numpy
def capsule_of(x): return x.__dlpack__() if hasattr(x, '__dlpack__') else x
def load(name):
  if not importlib.util.find_spec(name): return None
  library = importlib.import_module(name)
  if name == 'jax':
    library.config.update('jax_enable_x64', True)
    return library.numpy.from_dlpack
  if name == 'tensorflow':
    return lambda x: library.experimental.dlpack.from_dlpack(capsule_of(x))
  if name == 'paddle':
    return lambda x: library.utils.dlpack.from_dlpack(capsule_of(x))
  return library.from_dlpack
consumers = {}
def add(name):
  found = load(name)
  if found: consumers[name] = found
  return bool(found)
def taken(library, x): return consumers[library](x)
def bits(x): return numpy.asarray(x).tobytes().hex()
", convert = FALSE)
libraries <- Filter(function(name) reticulate::py_to_r(main$add(name)), wanted)
passed <- failed <- refused <- 0
for (d in dtypes()) {
  x <- nv_tensor(switch(d, f8E8M0FNU = c(1, 2, 4), int1 = c(0, -1, 0), c(1, 0, 1)), d)
  own <- paste(nv_write_bin(x), collapse = "")
  for (library in libraries) {
    told <- NULL
    y <- tryCatch(main$taken(library, nv_to_dlpack(x)), error = function(e) {
      told <<- conditionMessage(e)
    })
    if (!is.null(told)) {
      refused <- refused + 1
      fine <- nzchar(told)
    } else {
      # torch gives NumPy no bf16
      seen <- tryCatch(reticulate::py_to_r(main$bits(y)), error = function(e) own)
      fine <- seen == own && identical(nv_tensor(y), x)
    }
    if (fine) passed <- passed + 1 else failed <- failed + 1
    if (!fine) cat(d, "by", library, "differs\n")
    if (each) cat(paste0(d, ",", library, ",", if (is.null(told)) "exchanged" else "refused", "\n"))
  }
}
rm(y)
invisible(gc()) # and what was refused is released
cat("note:", paste(libraries, collapse = ", "), "-", refused, "refused\n")
cat("counts:", passed, failed, 0, "\n")
