/* Reads tensors out of open files, and writes them to new ones. */
#ifndef JOIST_R_FILES_H
#define JOIST_R_FILES_H

#include "core/files/elements.h"
#include "r/memory/open_file.h"
#include "r/tensor/operands.h"

/* What is read: a file or, where `file` is R_NilValue, a raw vector. */
struct joist_r_input {
  SEXP file; /* see open_file.h */
  SEXP bytes;
  uint64_t size;
};

/* Opens the file at `path` or, where that is NULL, takes the raw vector `bytes`. Raises
 * joist_value_error; the file that is open is the result, to be protected. */
SEXP joist_r_open_input(SEXP path, SEXP bytes, struct joist_r_input *input);
void joist_r_close_input(const struct joist_r_input *input);
/* A raw vector of the first bytes, at least so many as long as there are more. */
SEXP joist_r_read_head(const struct joist_r_input *input, size_t bytes);
/* A tensor of elements; mapped where they lie in a file as in memory. */
SEXP joist_r_read_elements(const struct joist_elements *elements, const struct joist_r_input *input,
                           bool map);

/* A value to be written, its data in R's memory, and its mask if it has one: the result is to be
 * protected. */
SEXP joist_r_read_here(SEXP x, struct joist_r_value *value);
/* The same for formats without missing values: raises joist_value_error if there are any. */
SEXP joist_r_read_to_write(SEXP x, struct joist_r_value *value);
/* The elements of such a value in the layout of the file. */
struct joist_elements joist_r_elements_of(const struct joist_r_value *value, SEXP c_order,
                                          SEXP swapped);
/* Writes a header and tensors to a file, which has its name only when it is whole; where `path` is
 * NULL, to a raw vector, which is the result. */
SEXP joist_r_write(SEXP path, const char *header, size_t length,
                   const struct joist_elements *elements, const void *const *data, size_t count);

#endif
