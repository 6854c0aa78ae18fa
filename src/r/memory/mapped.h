/* Payloads that lie in a mapped file, as alternative representations of vectors (ALTREP). What is
 * written to them is private to this process and never reaches the file. */
#ifndef JOIST_R_MAPPED_H
#define JOIST_R_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "r/base/sexp.h"

/* A vector of n elements that begin at a place in an open file (see open_file.h), which it keeps
 * open; R_NilValue where the file cannot be mapped. */
SEXP joist_r_map(SEXP pointer, SEXPTYPE type, uint64_t from, size_t n);
bool joist_r_is_mapped(SEXP payload);
/* Notes that a payload, if it is such a vector, may differ from the file from now on. */
void joist_r_map_touch(SEXP payload);
/* Whether a payload is such a vector of a file that was truncated since. */
bool joist_r_map_is_gone(SEXP payload);
/* Raises joist_value_error if it is. */
void joist_r_map_check(SEXP payload);
/* Makes the classes: once, when the library is loaded. */
void joist_r_map_init(void);

/* A copy of such a vector with its own map, which is saved by path; itself if it is one already. */
SEXP joist_r_map_share(SEXP payload);
/* A character vector that tells the file of such a vector and the place in it; R_NilValue if it may
 * differ from the file. */
SEXP joist_r_map_place(SEXP payload);

#endif
