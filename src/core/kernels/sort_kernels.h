/* The loops over one long line that is sorted, compiled once per instruction set. */
#ifndef JOIST_CORE_KERNELS_SORT_KERNELS_H
#define JOIST_CORE_KERNELS_SORT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How bits become keys: numbers of `sign` are below the others, floats by their magnitude
 * (`infinity` is 0 for what is no float), and `flip` turns the order around. */
struct joist_order {
  uint64_t sign, infinity, flip;
};

/* What is known of a line: its keys' bounds, the bits that are not the same in all of them,
 * whether one is less than the key before it, and how many elements equal others of other
 * bits. */
struct joist_line {
  uint64_t low, high, differ;
  bool falls;
  size_t nan, minus_zero;
};

/* Two keys of one element. */
struct joist_two_keys {
  uint64_t key, other;
};

/* Items that are dealt into buckets. A bucket is made of small ones, whose numbers items come
 * with. Its items are written in turn, from at[bucket] on, which ends up behind the last one. */
struct joist_dealing {
  size_t buckets;
  const uint16_t *bucket_of; /* of a small bucket */
  uint32_t *at;
  const uint32_t *first; /* at[bucket] as it was before the first item */
  void *lines;           /* JOIST_LINE bytes per bucket, aligned to that */
  void *out;             /* aligned to JOIST_LINE */
  bool past;             /* items go past the caches */
};

/* Deals n items; some stay in the lines until those with `last`, of which there may be none. */
typedef void joist_deal(size_t n, const void *items, const uint32_t *small, bool last,
                        const struct joist_dealing *dealing);

struct joist_sort_kernels {
  /* Adds elements begin .. end - 1 of a line to what is known of it. */
  void (*look)(size_t begin, size_t end, const void *in, struct joist_order order,
               struct joist_line *line);
  /* Counts the elements of each small bucket: 2^shift keys from `low` on are in the first one,
   * and so on. */
  void (*count)(size_t n, const void *in, struct joist_order order, uint64_t low, unsigned shift,
                uint32_t *counts);
  /* Deals the keys of n elements. NULL for elements of 8 and 16 bits. */
  void (*deal_keys)(size_t n, const void *in, struct joist_order order, uint64_t low,
                    unsigned shift, const struct joist_dealing *dealing);
  /* Deals words: the distance of the key from `low` without its `zeros` lowest bits, above
   * `place` bits of the position of the element, which is `position` for the first one. */
  void (*deal_words)(size_t n, const void *in, struct joist_order order, uint64_t low,
                     unsigned shift, unsigned zeros, unsigned place, uint32_t position,
                     const struct joist_dealing *dealing);
  /* Deals keys, and as 32-bit numbers positions. NULL for elements of less than 64 bits. */
  void (*deal_pairs)(size_t n, const void *in, struct joist_order order, uint64_t low,
                     unsigned shift, uint32_t position, const struct joist_dealing *dealing,
                     const struct joist_dealing *positions);
  void (*elements)(size_t n, const void *keys, struct joist_order order, void *out);
  /* Counts keys by their distance from the lowest one. NULL where `deal_keys` is. */
  void (*count_keys)(size_t n, const void *keys, uint64_t low, uint32_t *counts);
  /* Writes elements begin .. end - 1 of a sorted line: those before ends[k] have a key of at
   * most low + k. */
  void (*fill)(size_t begin, size_t end, size_t count, const uint32_t *ends, uint64_t low,
               struct joist_order order, void *out);
};

#endif
