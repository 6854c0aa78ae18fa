/* The headers of NumPy's npy files: formats 1.0, 2.0 and 3.0 (NEP 1, numpy.lib.format). */
#ifndef JOIST_CORE_FILES_NPY_H
#define JOIST_CORE_FILES_NPY_H

#include "core/files/elements.h"

/* The size of a file where more may follow the elements. */
#define JOIST_NPY_OPEN UINT64_MAX

enum {
  JOIST_NPY_PREFIX = 12,  /* bytes that tell how long the header is */
  JOIST_NPY_LONGEST = 576 /* of the headers that are written */
};

/* How long a header is, the prefix included, by the first bytes of a file. */
joist_status joist_npy_length(const unsigned char *bytes, size_t count, size_t *length,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* Reads a header of that length. The elements fill the rest of a file of `size` bytes, or are
 * as many as their shape says if that is JOIST_NPY_OPEN (never bytes with `raw`). They are read as
 * elements of `as`, of the same size, unless that is JOIST_DTYPE_NONE. With `raw`, the elements of
 * a type without a dtype are bytes, see `unit`; otherwise JOIST_ERROR_DTYPE. */
joist_status joist_npy_parse(const unsigned char *header, size_t length, uint64_t size,
                             joist_dtype as, bool raw, struct joist_elements *elements,
                             struct joist_error *error) JOIST_MUST_CHECK;

/* Writes the header of elements and sets their start; returns its length, a multiple of 64. Dtypes
 * that NumPy lacks, such as bf16, have one order in npy files, little-endian, and
 * `swapped` is set so. */
size_t joist_npy_format(struct joist_elements *elements, char header[JOIST_NPY_LONGEST]);

#endif
