#include "core/ops/order/sort_keys.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/vectorize.h"
#include "core/kernels/kernels.h"

JOIST_VECTORIZE_FILE

enum {
  FEW = 24,               /* keys that are sorted by insertion */
  VECTOR_BYTES = 1 << 19, /* keys that are left to a vector sort, if there is one */
  VECTOR_BITS = 10,       /* of a digit where smaller buckets need none */
  BITS = 11,              /* of a digit at most; the buckets' ends stay in the second-level cache */
  FILL = 3                /* a digit leaves about 2^FILL keys per bucket at least */
};
/* Digits of one key are taken from 64 bits, so all levels together have at most six digits
 * of 11 bits. */
_Static_assert(6 * (1 << BITS) <= JOIST_SORT_COUNTS, "room for the counts of all levels");

struct joist_line joist_look_at_keys(size_t size, size_t n, const void *keys) {
  struct joist_line known = {.low = UINT64_MAX};
  joist_sort_kernels(size)->look(0, n, keys, (struct joist_order){0}, NULL, &known);
  return known;
}

#define KEY uint32_t
#define NAME(function) function##_key32
#include "core/ops/order/sort_keys.inc"

#define KEY uint64_t
#define NAME(function) function##_key64
#include "core/ops/order/sort_keys.inc"

void joist_sort_keys(size_t size, size_t n, void *keys, void *scratch, uint32_t *counts) {
  joist_vector_sort *const vector = joist_sort_kernels(size)->sort;
  if (size == sizeof(uint32_t))
    sort_key32(n, keys, scratch, false, counts, vector);
  else
    sort_key64(n, keys, scratch, false, counts, vector);
}
