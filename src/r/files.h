/* Reads tensors out of open files, and writes them to new ones. */
#ifndef JOIST_R_FILES_H
#define JOIST_R_FILES_H

#include "core/files/elements.h"
#include "r/open_file.h"
#include "r/operands.h"

/* Reads bytes of a file into a raw vector. */
SEXP joist_r_read_head(SEXP pointer, size_t bytes);
/* A tensor of elements in a file or, if that is R_NilValue, in bytes; `map`ped where they lie in
 * the file as in memory. */
SEXP joist_r_read_elements(const struct joist_elements *elements, SEXP pointer,
                           const unsigned char *bytes, bool map);

/* A value to be written, its data in R's memory: the result is to be protected. */
SEXP joist_r_read_to_write(SEXP x, struct joist_r_value *value);
/* Writes a header and tensors to a file, which has its name only when it is whole. */
void joist_r_write_file(SEXP path, const char *header, size_t length,
                        const struct joist_elements *elements, const void *const *data,
                        size_t count);

#endif
