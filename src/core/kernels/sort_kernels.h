/* The loops of sorting and of dealing items into buckets, compiled once per instruction set. */
#ifndef JOIST_CORE_KERNELS_SORT_KERNELS_H
#define JOIST_CORE_KERNELS_SORT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How bits become keys: numbers of `sign` are below the others, floats by their magnitude, which
 * is at most `infinity` unless they are NaN (0 for other dtypes), and `flip` turns the order
 * around. NaN, which `nan` is as well whatever its magnitude, has `nan_key`. */
struct joist_order {
  uint64_t sign, infinity, flip, nan, nan_key;
};

/* What is known of a line: its keys' bounds, the bits that are not the same in all of them,
 * whether one is more, or less, than the key before it, and how many elements equal others of
 * other bits. */
struct joist_line {
  uint64_t low, high, differ;
  bool rises, falls;
  size_t nan, minus_zero;
};

/* An item of two parts. */
struct joist_two {
  uint64_t first, second;
};

/* Items that are dealt into buckets. A bucket is made of numbers, which items come with. Its items
 * are written in turn, from at[bucket] on, which ends up behind the last one. */
struct joist_dealing {
  size_t buckets;
  const uint16_t *bucket_of; /* of a number */
  uint32_t *at;
  const uint32_t *first; /* at[bucket] as it was before the first item */
  void *lines;           /* JOIST_LINE bytes per bucket, aligned to that */
  void *out;             /* aligned to JOIST_LINE */
  bool past;             /* items go past the caches */
};

/* Deals n items; some stay in the lines until those with `last`, of which there may be none. */
typedef void joist_deal(size_t n, const void *items, const uint32_t *numbers, bool last,
                        const struct joist_dealing *dealing);

/* Sorts n keys in place; `scratch` has room for as many, which are overwritten. False when the
 * keys are such that it would take long; they are then in another order. */
typedef bool joist_vector_sort(size_t n, void *keys, void *scratch);

/* For elements of one width; their keys have 64 bits if they have, or else 32. */
struct joist_sort_kernels {
  size_t key; /* bytes */
  /* The keys of elements. */
  void (*keys)(size_t n, const void *in, struct joist_order order, void *keys);
  /* Adds elements begin .. end - 1 of a line to what is known of it, and writes their keys,
   * unless `keys`, the key of element `begin`, is NULL. */
  void (*look)(size_t begin, size_t end, const void *in, struct joist_order order, void *keys,
               struct joist_line *line);
  /* The keys of elements, and how many times 2^shift they are above `low`. */
  void (*numbers)(size_t n, const void *in, struct joist_order order, uint64_t low, unsigned shift,
                  void *keys, uint32_t *numbers);
  /* Words: the distance of the key from `low` without its `drop` lowest bits, above `place` bits
   * of the position of the element, which is `position` for the first one. */
  void (*words)(size_t n, const void *keys, uint64_t low, unsigned drop, unsigned place,
                uint64_t position, uint64_t *words);
  /* The elements of keys; `out` may be `keys` if both have one width. */
  void (*elements)(size_t n, const void *keys, struct joist_order order, void *out);
  /* Writes elements begin .. end - 1 of a sorted line: those before ends[k] have a key of at
   * most low + k. */
  void (*fill)(size_t begin, size_t end, size_t count, const uint32_t *ends, uint64_t low,
               struct joist_order order, void *out);
  /* Puts equal elements of a sorted line whose bits differ, zeros and NaNs, in the order of the
   * line `in`, of which `line` is known. */
  void (*restore)(size_t n, const void *in, struct joist_order order, const struct joist_line *line,
                  void *out);
  joist_vector_sort *sort; /* of keys; NULL where there is none */
};

#endif
