/* Sorting of keys by their digits: what does not depend on their width. */
#include "core/ops/order/sort_radix.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/base/parallel.h"
#include "core/base/vectorize.h"
#include "core/kernels/sort_avx512.h"
#include "core/types/error.h"

JOIST_VECTORIZE_FILE

enum {
  FEW = 24,               /* keys that are sorted by insertion */
  VECTOR_BYTES = 1 << 19, /* keys that are left to a vector sort, if there is one */
  VECTOR_BITS = 10,       /* of a digit where smaller buckets need none */
  BITS = 11,              /* of a digit at most; the buckets' ends stay in the second-level cache */
  SHARED_BITS = 11,       /* the same for a digit that all threads sort by */
  FILL = 3,               /* a digit leaves about 2^FILL keys per bucket at least */
  SHARED = 1 << 16,       /* keys from which on several threads pay */
  BLOCK = 1 << 24,        /* keys between two calls of poll */
  COUNTS = JOIST_SORT_COUNTS
};
/* Digits of one key are taken from 64 bits, so all levels together have at most six digits
 * of 11 bits. */
_Static_assert(6 * (1 << BITS) <= COUNTS, "room for the counts of all levels");

struct bounds {
  uint64_t low, high;
  bool sorted;
};

struct digit {
  uint64_t low;
  unsigned shift, bits;
};

struct team {
  int threads;
  const struct joist_run *run;
  joist_vector_sort *vector;
};

static struct bounds bounds_of_both(struct bounds a, struct bounds b) {
  return (struct bounds){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high,
                         a.sorted && b.sorted};
}

/* The leading digit of keys within the bounds. */
static struct digit digit_of(struct bounds bounds, size_t n, unsigned most) {
  const unsigned length = joist_bit_length(bounds.high - bounds.low);
  unsigned bits = joist_bit_length(n) - FILL;
  if (bits > most) bits = most;
  if (bits > length) bits = length;
  return (struct digit){bounds.low, length - bits, bits};
}

#define KEY uint32_t
#define NAME(function) function##_key32
#define VECTOR joist_vector_sort_key32()
#include "core/ops/order/sort_radix.inc"

#define KEY uint64_t
#define NAME(function) function##_key64
#define VECTOR joist_vector_sort_key64()
#include "core/ops/order/sort_radix.inc"
