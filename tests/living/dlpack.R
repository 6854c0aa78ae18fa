# Every dtype through DLPack to NumPy, JAX and torch, as far as they are installed, and back: the
# elements are the same, or there is an R error, and R survives.
#
#   R -f tests/living/dlpack.R --args PYTHON
Sys.setenv(RETICULATE_PYTHON = commandArgs(TRUE)[1])
suppressMessages(library(joist))
main <- reticulate::py_run_string("
import importlib.util
consumers = {}
import numpy
consumers['numpy'] = numpy.from_dlpack
if importlib.util.find_spec('jax'):
  import jax
  jax.config.update('jax_enable_x64', True)
  consumers['jax'] = jax.numpy.from_dlpack
if importlib.util.find_spec('torch'):
  import torch
  consumers['torch'] = torch.from_dlpack
names = list(consumers)
def taken(library, x): return consumers[library](x)
def bits(x): return numpy.asarray(x).tobytes().hex()
", convert = FALSE)
libraries <- reticulate::py_to_r(main$names)
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
  }
}
rm(y)
invisible(gc()) # and what was refused is released
cat("note:", paste(libraries, collapse = ", "), "-", refused, "refused\n")
cat("counts:", passed, failed, 0, "\n")
