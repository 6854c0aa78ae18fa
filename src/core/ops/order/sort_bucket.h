/* Sorting a long line: what its buckets are, and sorting those. Private to sort_long.c. */
#ifndef JOIST_CORE_OPS_ORDER_SORT_BUCKET_H
#define JOIST_CORE_OPS_ORDER_SORT_BUCKET_H

#include "core/base/run.h"
#include "core/base/status.h"
#include "core/kernels/sort_kernels.h"

/* What is dealt: keys alone, where elements are sorted. Where positions are, these are below the
 * distance of the key in a word, or by themselves where a word has no room for both. */
enum joist_items { JOIST_KEYS, JOIST_WORDS, JOIST_PAIRS };

struct joist_sorting {
  const struct joist_sort_kernels *kernels;
  size_t size, n; /* bytes of an element; elements */
  const char *in;
  struct joist_order order;
  int threads;
  const struct joist_run *run;
  struct joist_line line;
  unsigned shift; /* of small buckets */
  size_t small;   /* small buckets */
  enum joist_items what;
  size_t item; /* bytes of one */
  /* Of a word: the lowest bits of a key's distance, which are 0 and left out, and the bits of a
   * position. */
  unsigned zeros, place;
  char *items, *out;
  uint32_t *positions; /* of pairs; the items are their keys */
  uint32_t *counts;    /* JOIST_SORT_COUNTS per thread */
  uint64_t *room;      /* joist_bucket_room() per item of a bucket */
};

/* A bucket: its items, and its small buckets. */
struct joist_bucket {
  size_t begin, end, small, small_end;
};

/* Numbers of room that an item needs. */
size_t joist_bucket_room(const struct joist_sorting *s);

/* The items of a bucket become sorted elements, or their positions. */
void joist_sort_bucket(const struct joist_sorting *s, const struct joist_bucket *bucket,
                       uint32_t *counts, uint64_t *room);

/* The same by all threads. Fails with JOIST_ERROR_MEMORY or JOIST_INTERRUPTED. */
joist_status joist_share_bucket(const struct joist_sorting *s, const struct joist_bucket *bucket,
                                struct joist_error *error) JOIST_MUST_CHECK;

#endif
