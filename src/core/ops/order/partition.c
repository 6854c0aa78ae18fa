#include "core/ops/order/partition.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/kernels/kernels.h"
#include "core/types/error.h"

enum { STRIP = JOIST_PARTITION_STRIP, BUCKETS = 1 << 10 /* at most */ };

static void *allocate(size_t bytes, struct joist_error *error) {
  void *const memory = joist_pool_allocate(bytes);
  if (memory == NULL) (void)JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  return memory;
}

/* ---- counts ---- */

static void count_share(const void *context, size_t share, size_t worker) {
  const struct joist_partition *const p = context;
  const struct joist_part part = joist_share_of(p->n, (size_t)p->threads, share);
  uint32_t *const counts = p->counts + share * p->numbers, numbers[STRIP];
  (void)worker;
  memset(counts, 0, p->numbers * sizeof *counts);
  for (size_t done = 0, n; done < part.n; done += n) {
    n = joist_smaller(part.n - done, STRIP);
    p->source(p->context, part.first + done, n, numbers, NULL);
    for (size_t i = 0; i < n; i++) counts[numbers[i]]++;
  }
}

joist_status joist_partition_count(struct joist_partition *p, struct joist_error *error) {
  p->counts = allocate((size_t)p->threads * p->numbers * sizeof *p->counts, error);
  if (p->counts == NULL) return JOIST_ERROR_MEMORY;
  joist_parallel(p->threads, (size_t)p->threads, count_share, p);
  return joist_run_poll(p->run, error);
}

/* In all shares. */
static size_t count_of(const struct joist_partition *p, size_t number) {
  size_t count = 0;
  for (size_t t = 0; t < (size_t)p->threads; t++) count += p->counts[t * p->numbers + number];
  return count;
}

void joist_partition_ends(struct joist_partition *p) {
  size_t before = 0;
  for (size_t k = 0; k < p->numbers; k++) {
    before += count_of(p, k);
    p->counts[k] = (uint32_t)before;
  }
}

/* ---- offsets ---- */

/* Any two buckets in turn have more than `least` items, so that there are never too many. */
static void make_buckets(struct joist_partition *p) {
  const size_t few = p->numbers <= BUCKETS ? 0 : p->n / (BUCKETS / 2) + 1;
  const size_t least = few > p->least ? few : p->least;
  struct joist_bucket *last = p->bucket;
  *last = (struct joist_bucket){0, 0, 0, 0};
  for (size_t k = 0; k < p->numbers; k++) {
    const size_t count = count_of(p, k), own = last->end - last->begin;
    if (own > 0 && count > 0 && own + count > least) {
      last[1] = (struct joist_bucket){last->end, last->end, k, k};
      last++;
    }
    if (count > 0) last->high = k;
    last->end += count;
    p->bucket_of[k] = (uint16_t)(last - p->bucket);
  }
  p->buckets = (size_t)(last - p->bucket) + 1;
}

/* Where the first item of every share goes in every bucket. */
static void place_shares(const struct joist_partition *p) {
  const size_t threads = (size_t)p->threads;
  memset(p->at, 0, threads * p->most * sizeof *p->at);
  for (size_t t = 0; t < threads; t++)
    for (size_t k = 0; k < p->numbers; k++)
      p->at[t * p->most + p->bucket_of[k]] += p->counts[t * p->numbers + k];
  for (size_t b = 0; b < p->buckets; b++) {
    uint32_t before = (uint32_t)p->bucket[b].begin;
    for (size_t t = 0; t < threads; t++) {
      uint32_t *const at = &p->at[t * p->most + b];
      const uint32_t own = *at;
      *at = before;
      before += own;
    }
  }
  memcpy(p->first, p->at, threads * p->most * sizeof *p->at);
}

/* ---- items ---- */

static void deal_share(const void *context, size_t share, size_t worker) {
  const struct joist_partition *const p = context;
  const struct joist_part part = joist_share_of(p->n, (size_t)p->threads, share);
  const struct joist_dealing dealing = {.buckets = p->buckets,
                                        .bucket_of = p->bucket_of,
                                        .at = p->at + share * p->most,
                                        .first = p->first + share * p->most,
                                        .lines = p->lines + share * p->most * JOIST_LINE,
                                        .out = p->items,
                                        .past = p->n >= joist_stream_from(p->run) / p->item};
  joist_deal *const deal = joist_deal_find(p->item);
  uint64_t items[2 * STRIP];
  uint32_t numbers[STRIP];
  (void)worker;
  for (size_t done = 0, n; done < part.n; done += n) {
    n = joist_smaller(part.n - done, STRIP);
    p->source(p->context, part.first + done, n, numbers, items);
    deal(n, items, numbers, false, &dealing);
  }
  deal(0, items, numbers, true, &dealing);
}

joist_status joist_partition_deal(struct joist_partition *p, struct joist_error *error) {
  p->most = joist_smaller(p->numbers, BUCKETS);
  const size_t rooms = (size_t)p->threads * p->most;
  const size_t item_bytes = joist_round_up(p->n * p->item, JOIST_LINE);
  p->items = allocate(item_bytes + rooms * JOIST_LINE + p->most * sizeof *p->bucket +
                          2 * rooms * sizeof *p->at + p->numbers * sizeof *p->bucket_of + p->most,
                      error);
  if (p->items == NULL) return JOIST_ERROR_MEMORY;
  p->lines = (char *)p->items + item_bytes;
  p->bucket = (struct joist_bucket *)(void *)(p->lines + rooms * JOIST_LINE);
  p->at = (uint32_t *)(void *)(p->bucket + p->most);
  p->first = p->at + rooms;
  p->bucket_of = (uint16_t *)(void *)(p->first + rooms);
  p->left = (bool *)(void *)(p->bucket_of + p->numbers);
  make_buckets(p);
  place_shares(p);
  joist_parallel(p->threads, (size_t)p->threads, deal_share, p);
  return joist_run_poll(p->run, error);
}

struct returning {
  const struct joist_partition *partition;
  size_t size;
  const void *from;
  void *to;
};

static void return_share(const void *context, size_t share, size_t worker) {
  const struct returning *const r = context;
  const struct joist_partition *const p = r->partition;
  const struct joist_part part = joist_share_of(p->n, (size_t)p->threads, share);
  uint32_t *const at = p->first + share * p->most, numbers[STRIP];
  (void)worker;
  for (size_t done = 0, n; done < part.n; done += n) {
    const size_t first = part.first + done;
    n = joist_smaller(part.n - done, STRIP);
    p->source(p->context, first, n, numbers, NULL);
    for (size_t i = 0; i < n && r->size == 1; i++)
      ((uint8_t *)r->to)[first + i] = ((const uint8_t *)r->from)[at[p->bucket_of[numbers[i]]]++];
    for (size_t i = 0; i < n && r->size == 4; i++)
      ((uint32_t *)r->to)[first + i] = ((const uint32_t *)r->from)[at[p->bucket_of[numbers[i]]]++];
  }
}

void joist_partition_return(struct joist_partition *p, size_t size, const void *of_items,
                            void *of_elements) {
  const struct returning returning = {p, size, of_items, of_elements};
  joist_parallel(p->threads, (size_t)p->threads, return_share, &returning);
}

/* ---- buckets ---- */

struct each {
  const struct joist_partition *partition;
  joist_bucket_task *task;
  const void *context;
};

static void run_bucket(const void *context, size_t b, size_t worker) {
  const struct each *const each = context;
  const struct joist_partition *const p = each->partition;
  p->left[b] = !each->task(each->context, p->bucket[b], worker);
}

joist_status joist_partition_each(const struct joist_partition *p, joist_bucket_task *task,
                                  joist_bucket_rest *rest, const void *context,
                                  struct joist_error *error) {
  const struct each each = {p, task, context};
  joist_status status = joist_tasks_run_on(p->run, p->threads, p->buckets, p->n / p->buckets,
                                           run_bucket, &each, error);
  for (size_t b = 0; b < p->buckets && status == JOIST_OK; b++)
    if (p->left[b]) status = rest(context, p->bucket[b], error);
  return status;
}

void joist_partition_free(struct joist_partition *p) {
  joist_pool_free(p->items);
  joist_pool_free(p->counts);
}
