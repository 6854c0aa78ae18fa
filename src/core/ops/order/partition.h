/* Dealing items into buckets: they are counted by number, placed by prefix sums, and scattered,
 * past the caches where these would not keep them. What is done with a bucket is the caller's.
 *
 * Numbers are often spread unevenly, the numbers of floats for instance. So there are many of them,
 * and neighbouring ones are put together until a bucket has enough items. Items of a bucket stay in
 * order, for any number of threads. Knows no dtype. */
#ifndef JOIST_CORE_OPS_ORDER_PARTITION_H
#define JOIST_CORE_OPS_ORDER_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/bits.h"
#include "core/base/run.h"
#include "core/base/status.h"

enum { JOIST_PARTITION_STRIP = 512, JOIST_PARTITION_NUMBERS = 1 << 16 };

/* Writes the numbers of elements first .. first + n - 1, at most JOIST_PARTITION_STRIP, and their
 * items, unless `items` is NULL. */
typedef void joist_partition_source(const void *context, size_t first, size_t n, uint32_t *numbers,
                                    void *items);

/* Items begin .. end - 1, whose numbers are low .. high. */
struct joist_bucket {
  size_t begin, end, low, high;
};

struct joist_partition {
  size_t n;       /* elements, fewer than 2^32 */
  size_t item;    /* bytes of an item: 4, 8 or 16 */
  size_t numbers; /* at most JOIST_PARTITION_NUMBERS */
  size_t least;   /* items that a bucket may have before another number is put into it */
  int threads;
  const struct joist_run *run;
  joist_partition_source *source;
  const void *context;
  /* Owned, from here on. Tables of each thread's share: */
  uint32_t *counts;     /* of every number */
  uint32_t *at, *first; /* of every bucket: where its next item goes, and where its first one is */
  char *lines;          /* of every bucket: items that are not written yet */
  /* Those of all: */
  void *items;
  struct joist_bucket *bucket;
  size_t buckets, most; /* those there are, and those that the tables have room for */
  uint16_t *bucket_of;  /* every number */
  bool *left;           /* of buckets: is there something left to do? */
};

/* Counts the elements of each number. */
joist_status joist_partition_count(struct joist_partition *p,
                                   struct joist_error *error) JOIST_MUST_CHECK;

/* Turns counts into what is all there is to know where items of a number are alike: elements up
 * to each number, in counts[number]. */
void joist_partition_ends(struct joist_partition *p);

/* Deals the items, which have been counted, into buckets. */
joist_status joist_partition_deal(struct joist_partition *p,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* Slots of a hash table for the items of a bucket: a power of 2, and more than twice as many. */
static inline size_t joist_bucket_slots(struct joist_bucket bucket) {
  return (size_t)2 << joist_bit_length(bucket.end - bucket.begin);
}

/* What is done with a bucket: by one of the threads, or, where that says that it cannot, by the
 * calling one with the help of all. */
typedef bool joist_bucket_task(const void *context, struct joist_bucket bucket, size_t worker);
typedef joist_status joist_bucket_rest(const void *context, struct joist_bucket bucket,
                                       struct joist_error *error);
joist_status joist_partition_each(const struct joist_partition *p, joist_bucket_task *task,
                                  joist_bucket_rest *rest, const void *context,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* What is known of every item, `size` bytes each, 1 or 4, goes back to where elements came from,
 * once. */
void joist_partition_return(struct joist_partition *p, size_t size, const void *of_items,
                            void *of_elements);

void joist_partition_free(struct joist_partition *p);

#endif
