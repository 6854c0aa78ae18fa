/* Repeated elements. Of keys in order, neighbours are compared; where keys lie close together,
 * there is a bit for each that says whether it has been seen; a few different ones fit a table. */
#include "core/ops/search/duplicated.h"

#include <string.h>

#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/base/vectorize.h"
#include "core/ops/search/duplicated_hash.h"
#include "core/types/error.h"

JOIST_VECTORIZE_FILE

enum {
  WORK = 16,
  CHUNK = JOIST_DISTINCT_CHUNK,
  SPAN = 1 << 16, /* keys that lie close together in any case */
  SPREAD = 4,     /* the same per element, up to THREADS threads */
  THREADS = 16,
  FEW = 1 << 10, /* different keys, whose table stays in a near cache */
  FEW_SLOTS = 8 * FEW,
  BLOCK = 1 << 24 /* elements between two calls of poll */
};

/* Elements of 8 and 16 bits: one look-up each. */
static joist_status look_up(const struct joist_elements *x, uint8_t *repeated,
                            struct joist_error *error) {
  uint8_t *const seen = joist_pool_allocate(SPAN);
  uint64_t keys[CHUNK];
  if (seen == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = SPAN);
  memset(seen, 0, SPAN);
  for (size_t first = 0; first < x->n; first += CHUNK) {
    const size_t length = joist_chunk_length(first, x->n);
    joist_make_keys(x, first, length, keys);
    for (size_t i = 0; i < length; i++) {
      repeated[first + i] = seen[keys[i]];
      seen[keys[i]] = 1;
    }
  }
  joist_pool_free(seen);
  return JOIST_OK;
}

/* Elements of one key each: what is known of their keys. */
struct looked {
  uint64_t low, high;
  bool rises, falls; /* is there a key above, or below the one before it? */
};

/* Looks at a thread's share, and at the key before it; not at all of it when keys are in no order
 * and `span` or more lie between them. */
static struct looked look_at(const struct joist_elements *x, int thread, uint64_t span) {
  struct looked looked = {UINT64_MAX, 0, false, false};
  const size_t end = joist_share(x, thread + 1);
  uint64_t keys[CHUNK + 1];
  size_t first = joist_share(x, thread);
  if (first < end) joist_make_keys(x, first > 0 ? first - 1 : 0, 1, keys);
  for (size_t n; first < end; first += n) {
    uint64_t low = looked.low, high = looked.high, rises = 0, falls = 0;
    n = joist_chunk_length(first, end);
    joist_make_keys(x, first, n, keys + 1);
    for (size_t i = 1; i <= n; i++) {
      const uint64_t key = keys[i];
      low = key < low ? key : low;
      high = key > high ? key : high;
      rises |= key > keys[i - 1];
      falls |= key < keys[i - 1];
    }
    keys[0] = keys[n];
    looked = (struct looked){low, high, looked.rises || rises != 0, looked.falls || falls != 0};
    if (looked.rises && looked.falls && high - low >= span) break;
  }
  return looked;
}

static struct looked look_at_all(const struct joist_elements *x, uint64_t span) {
  struct looked all = {UINT64_MAX, 0, false, false};
#ifdef _OPENMP
#pragma omp parallel for num_threads(x->threads) if (x->threads > 1)
#endif
  for (int t = 0; t < x->threads; t++) {
    const struct looked own = look_at(x, t, span);
#ifdef _OPENMP
#pragma omp critical(joist_repeated)
#endif
    {
      if (own.low < all.low) all.low = own.low;
      if (own.high > all.high) all.high = own.high;
      all.rises |= own.rises;
      all.falls |= own.falls;
    }
  }
  return all;
}

static void compare_neighbours(const struct joist_elements *x, int thread, uint8_t *repeated) {
  const size_t begin = joist_share(x, thread), end = joist_share(x, thread + 1);
  uint64_t keys[CHUNK + 1];
  if (begin < end) joist_make_keys(x, begin > 0 ? begin - 1 : 0, 1, keys);
  for (size_t n, first = begin; first < end; first += n) {
    n = joist_chunk_length(first, end);
    joist_make_keys(x, first, n, keys + 1);
    for (size_t i = 0; i < n; i++) repeated[first + i] = keys[i] == keys[i + 1];
    keys[0] = keys[n];
  }
  if (begin == 0 && end > 0) repeated[0] = 0;
}

/* Sets the bits of the keys of a thread's share, and says which repeat others of it. */
static void set_bits(const struct joist_elements *x, int thread, uint64_t low, uint8_t *bits,
                     uint8_t *repeated) {
  const size_t end = joist_share(x, thread + 1);
  uint64_t keys[CHUNK];
  for (size_t n, first = joist_share(x, thread); first < end; first += n) {
    n = joist_chunk_length(first, end);
    joist_make_keys(x, first, n, keys);
    for (size_t i = 0; i < n; i++) {
      const uint64_t key = keys[i] - low;
      const uint8_t seen = bits[key / 8], bit = (uint8_t)(1u << key % 8);
      repeated[first + i] = (seen & bit) != 0;
      bits[key / 8] = seen | bit;
    }
  }
}

/* The same for repeating elements of the shares before it, of whose keys the bits are. */
static void get_bits(const struct joist_elements *x, int thread, uint64_t low, const uint8_t *bits,
                     uint8_t *repeated) {
  const size_t end = joist_share(x, thread + 1);
  uint64_t keys[CHUNK];
  for (size_t n, first = joist_share(x, thread); first < end; first += n) {
    n = joist_chunk_length(first, end);
    joist_make_keys(x, first, n, keys);
    for (size_t i = 0; i < n; i++) {
      const uint64_t key = keys[i] - low;
      repeated[first + i] |= (uint8_t)(bits[key / 8] >> key % 8 & 1);
    }
  }
}

static joist_status look_up_bits(const struct joist_elements *x, struct looked looked,
                                 uint8_t *repeated, const struct joist_run *run,
                                 struct joist_error *error) {
  const size_t bytes = (size_t)(looked.high - looked.low) / 8 + 1;
  const size_t threads = (size_t)x->threads;
  uint8_t *const bits = joist_pool_allocate(threads * bytes);
  if (bits == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = threads * bytes);
  memset(bits, 0, threads * bytes);
#ifdef _OPENMP
#pragma omp parallel for num_threads(x->threads) if (x->threads > 1)
#endif
  for (int t = 0; t < x->threads; t++)
    set_bits(x, t, looked.low, bits + (size_t)t * bytes, repeated);
  const joist_status status = joist_run_poll(run, error);
  if (status == JOIST_OK && threads > 1) {
    for (size_t k = 0; k < bytes; k++) {
      uint8_t before = 0;
      for (size_t t = 0; t < threads; t++) {
        const uint8_t own = bits[t * bytes + k];
        bits[t * bytes + k] = before;
        before |= own;
      }
    }
#ifdef _OPENMP
#pragma omp parallel for num_threads(x->threads)
#endif
    for (int t = 1; t < x->threads; t++)
      get_bits(x, t, looked.low, bits + (size_t)t * bytes, repeated);
  }
  joist_pool_free(bits);
  return status;
}

/* Looks through all elements with a small table. Gives up, which costs little unless it happens
 * late, when there are more than FEW different ones. */
static joist_status look_up_few(const struct joist_elements *x, uint8_t *repeated, bool *few,
                                const struct joist_run *run, struct joist_error *error) {
  uint64_t keys[CHUNK], slots[FEW_SLOTS];
  bool taken[FEW_SLOTS] = {false};
  size_t different = 0;
  *few = false;
  for (size_t first = 0; first < x->n; first += CHUNK) {
    const size_t n = joist_chunk_length(first, x->n);
    if (first % BLOCK == 0 && joist_run_poll(run, error) != JOIST_OK) return JOIST_INTERRUPTED;
    joist_make_keys(x, first, n, keys);
    for (size_t i = 0; i < n; i++) {
      size_t slot = (size_t)joist_match_hash(keys[i], 0) % FEW_SLOTS;
      while (taken[slot] && slots[slot] != keys[i]) slot = (slot + 1) % FEW_SLOTS;
      repeated[first + i] = taken[slot];
      if (taken[slot]) continue;
      if (++different > FEW) return JOIST_OK;
      slots[slot] = keys[i];
      taken[slot] = true;
    }
  }
  *few = true;
  return JOIST_OK;
}

joist_status joist_repeated(joist_dtype dtype, size_t n, const void *in, uint8_t *repeated,
                            const struct joist_run *run, struct joist_error *error) {
  const struct joist_elements x = {.dtype = dtype,
                                   .size = joist_dtype_size(dtype),
                                   .n = n,
                                   .parts = joist_match_parts(dtype),
                                   .in = in,
                                   .threads = joist_threads_for(run, n * WORK, n)};
  if (n == 0) return JOIST_OK;
  if (x.size <= 2) return look_up(&x, repeated, error);
  if (x.parts == 1) {
    /* So far apart that the bits of all threads are few bytes per element. */
    const uint64_t most =
        (uint64_t)n * SPREAD / (uint64_t)(x.threads > THREADS ? x.threads / THREADS : 1);
    const uint64_t span = most > SPAN ? most : SPAN;
    const struct looked looked = look_at_all(&x, span);
    const joist_status status = joist_run_poll(run, error);
    if (status != JOIST_OK) return status;
    if (!looked.rises || !looked.falls) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(x.threads) if (x.threads > 1)
#endif
      for (int t = 0; t < x.threads; t++) compare_neighbours(&x, t, repeated);
      return JOIST_OK;
    }
    if (looked.high - looked.low < span) return look_up_bits(&x, looked, repeated, run, error);
    bool few;
    const joist_status found = look_up_few(&x, repeated, &few, run, error);
    if (found != JOIST_OK || few) return found;
  }
  return joist_repeated_deal(&x, repeated, run, error);
}
