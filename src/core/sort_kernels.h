/* The loops over one long line that is sorted, compiled once per instruction set. */
#ifndef JOIST_CORE_SORT_KERNELS_H
#define JOIST_CORE_SORT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How bits become keys: numbers of `sign` are below the others, floats by their magnitude
 * (`infinity` is 0 for what is no float), and `flip` turns the order around. */
struct joist_order {
  uint64_t sign, infinity, flip;
};

/* What is known of a line: its keys' bounds, whether one is less than the key before it, and
 * how many elements equal others of other bits. */
struct joist_line {
  uint64_t low, high;
  bool falls;
  size_t nan, minus_zero;
};

/* Where a key belongs, by its distance from the lowest one: small buckets of 2^shift keys each,
 * many of which make up one that items are dealt into. */
struct joist_dealing {
  uint64_t low;
  unsigned shift;
  const uint16_t *bucket_of; /* of a small bucket */
  size_t buckets;
};

struct joist_sort_kernels {
  /* Adds elements begin .. end - 1 of a line to what is known of it. */
  void (*look)(size_t begin, size_t end, const void *in, struct joist_order order,
               struct joist_line *line);
  /* Counts the elements of each small bucket. */
  void (*count)(size_t n, const void *in, struct joist_order order, uint64_t low, unsigned shift,
                uint32_t *counts);
  /* Writes the keys of n elements to `keys`, which is aligned to JOIST_LINE: those of a bucket
   * from at[bucket] on, which ends up behind the last one. `lines` holds JOIST_LINE bytes per
   * bucket, aligned to that, and `first` a number. With `past`, keys go past the caches. NULL
   * for elements of 8 and 16 bits. */
  void (*deal)(size_t n, const void *in, struct joist_order order,
               const struct joist_dealing *dealing, uint32_t *at, uint32_t *first, void *lines,
               bool past, void *keys);
  void (*elements)(size_t n, const void *keys, struct joist_order order, void *out);
  /* Counts keys by their distance from the lowest one. NULL where `deal` is. */
  void (*count_keys)(size_t n, const void *keys, uint64_t low, uint32_t *counts);
  /* Writes elements begin .. end - 1 of a sorted line: those before ends[k] have a key of at
   * most low + k. */
  void (*fill)(size_t begin, size_t end, size_t count, const uint32_t *ends, uint64_t low,
               struct joist_order order, void *out);
};

/* Those of the instruction set in use, for elements of that many bytes. */
const struct joist_sort_kernels *joist_sort_kernels(size_t size);

#endif
