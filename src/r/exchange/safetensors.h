/* .Call entry points of safetensors files. */
#ifndef JOIST_R_SAFETENSORS_H
#define JOIST_R_SAFETENSORS_H

#include "r/base/sexp.h"

/* A named list of the tensors in the file at `path` or, where that is NULL, in `bytes`; those of
 * `names` in their order, or all where that is NULL. Metadata is an attribute. */
SEXP joist_r_read_safetensors(SEXP path, SEXP bytes, SEXP names, SEXP raw, SEXP reversed, SEXP map);
/* Writes a named list of tensors and metadata, a named character vector or NULL, to a file, or
 * gives its bytes where `path` is NULL. */
SEXP joist_r_write_safetensors(SEXP tensors, SEXP metadata, SEXP path);

#endif
