/* Which positions of one dim, or of a whole array, an index selects, by R's rules: positive,
 * negative, zero, logical, recycled. Index vectors are read in place; a list of positions
 * is made only where an index has to be inverted. Owns no memory. */
#ifndef JOIST_CORE_OPS_MOVE_INDEX_H
#define JOIST_CORE_OPS_MOVE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"

typedef enum {
  JOIST_INDEX_RANGE, /* start, start + step, ... */
  JOIST_INDEX_I32,   /* entries of an array, each less `base` */
  JOIST_INDEX_I64,
  JOIST_INDEX_F64 /* fractions are cut off */
} joist_index_kind;

/* Positions that count from 0 and are valid. */
struct joist_index {
  joist_index_kind kind;
  size_t count;
  int64_t start, step; /* RANGE */
  const void *list;    /* the others; the caller's memory */
  int64_t base;
};

/* All positions of a dim. */
struct joist_index joist_index_all(size_t extent);
/* Positions that are known to be valid and count from 0; a range when they are one. */
struct joist_index joist_index_of(const int64_t *positions, size_t count);

/* The k-th position; and n of them from the k-th on. */
int64_t joist_index_at(const struct joist_index *index, size_t k);
void joist_index_read(const struct joist_index *index, size_t k, size_t n, int64_t *positions);

/* What has to be done before an index vector selects positions. */
typedef enum {
  JOIST_INDEX_READY,  /* nothing */
  JOIST_INDEX_ZEROS,  /* zeros are left out: joist_index_nonzero() */
  JOIST_INDEX_EXCLUDE /* negative: joist_index_exclude() */
} joist_index_need;

/* Reads n numbers (an I32, I64 or F64 array with JOIST_INDEX_* `kind`) that count from 1 as an
 * index into `extent` positions. INT32_MIN of I32 and NaN of F64 are NA. `dim` counts from 1
 * and is for errors, 0 for a whole array. `index` is complete when the need is READY, else
 * its list is the vector and its count what the result will have (ZEROS). Fails with
 * JOIST_ERROR_SHAPE for a number out of range or mixed signs, JOIST_ERROR_VALUE for NA. */
joist_status joist_index_scan(joist_index_kind kind, const void *vector, size_t n, size_t extent,
                              int dim, struct joist_index *index, joist_index_need *need,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* The first of n entries that is not one of 1 .. extent; n when all of them are. */
size_t joist_index_first_invalid(joist_index_kind kind, const void *vector, size_t n,
                                 size_t extent);

/* The positions of the entries that are not zero, index->count of them; n entries in all. */
void joist_index_nonzero(const struct joist_index *index, size_t n, int64_t *positions);
/* Sets chosen[0 .. extent - 1] to 1, and to 0 at the n negative entries. */
void joist_index_exclude(const struct joist_index *index, size_t n, size_t extent, uint8_t *chosen);

/* n logicals of R to bytes 0 and 1, recycled to `extent`. Fails for NA and for n > extent. */
joist_status joist_index_logical(const int32_t *logical, size_t n, size_t extent, int dim,
                                 uint8_t *chosen, struct joist_error *error) JOIST_MUST_CHECK;

/* The error of an index that is out of range. */
joist_status joist_index_out_of_range(double entry, size_t position, size_t extent, int dim,
                                      struct joist_error *error);

#endif
