/* Missing values of the host language: its NA. */
#include "core/base/vectorize.h"
#include "core/types/host.h"
#include "core/types/host_scan.h"

JOIST_VECTORIZE_FILE

/* R's NA_FLOAT of the float package is a NaN whose low half-word is 1954. */
static inline bool is_na_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return value != value && (bits & 0xffffu) == 1954;
}

static bool has_nan(const double *values, size_t n) {
  size_t nan = 0;
  JOIST_VECTORIZE_LOOP
  for (size_t i = 0; i < n; i++) nan += values[i] != values[i];
  return nan > 0;
}

static size_t count_smallest(const int32_t *values, size_t n) {
  size_t count = 0;
  JOIST_VECTORIZE_LOOP
  for (size_t i = 0; i < n; i++) count += values[i] == INT32_MIN;
  return count;
}

static bool is_missing(joist_host host, const void *values, size_t i) {
  switch (host) {
    case JOIST_HOST_LOGICAL:
    case JOIST_HOST_INTEGER:
      return ((const int32_t *)values)[i] == INT32_MIN;
    case JOIST_HOST_DOUBLE:
      return is_na_real(((const double *)values)[i]);
    case JOIST_HOST_COMPLEX:
      return is_na_real(((const double *)values)[2 * i]) ||
             is_na_real(((const double *)values)[2 * i + 1]);
    case JOIST_HOST_INTEGER64:
      return ((const int64_t *)values)[i] == INT64_MIN;
    case JOIST_HOST_FLOAT32:
      return is_na_float(((const float *)values)[i]);
    case JOIST_HOST_RAW:
      break;
  }
  return false;
}

static size_t count_block(joist_host host, const void *values, size_t start, size_t n) {
  const size_t parts = host == JOIST_HOST_COMPLEX ? 2 : 1;
  if (host == JOIST_HOST_LOGICAL || host == JOIST_HOST_INTEGER)
    return count_smallest((const int32_t *)values + start, n);
  if (parts == 2 || host == JOIST_HOST_DOUBLE)
    if (!has_nan((const double *)values + start * parts, n * parts)) return 0;
  size_t count = 0;
  for (size_t i = start; i < start + n; i++) count += is_missing(host, values, i);
  return count;
}

struct counting {
  joist_host host;
  const void *values;
  size_t n, each;
  _Atomic size_t *count;
};

static void count_task(const void *context, size_t task, size_t worker) {
  const struct counting *const c = context;
  const size_t end = joist_smaller(c->n, (task + 1) * c->each);
  size_t count = 0;
  (void)worker;
  for (size_t start = task * c->each; start < end; start += EXCHANGE_BLOCK)
    count += count_block(c->host, c->values, start, joist_smaller(EXCHANGE_BLOCK, end - start));
  if (count > 0) atomic_fetch_add_explicit(c->count, count, memory_order_relaxed);
}

size_t joist_missing_count(joist_host host, const void *values, size_t n,
                           const struct joist_run *run) {
  enum { EACH = 1 << 16 };
  if (host == JOIST_HOST_RAW) return 0;
  if (n <= EXCHANGE_BLOCK) return count_block(host, values, 0, n);
  _Atomic size_t count = 0;
  const struct counting counting = {host, values, n, EACH, &count};
  const size_t tasks = (n + EACH - 1) / EACH;
  const int threads = run == NULL ? 1 : joist_threads_for(run, n, tasks);
  joist_parallel(threads, tasks, count_task, &counting);
  return count;
}

void joist_missing_mask(joist_host host, const void *values, size_t n, uint8_t *mask) {
  for (size_t i = 0; i < n; i++) mask[i] = is_missing(host, values, i);
}

size_t joist_host_size(joist_host host) {
  static const size_t sizes[] = {
      [JOIST_HOST_LOGICAL] = 4,  [JOIST_HOST_INTEGER] = 4, [JOIST_HOST_DOUBLE] = 8,
      [JOIST_HOST_COMPLEX] = 16, [JOIST_HOST_RAW] = 1,     [JOIST_HOST_INTEGER64] = 8,
      [JOIST_HOST_FLOAT32] = 4};
  return sizes[host];
}

void joist_missing_filled(joist_host host, const void *values, size_t n, void *filled) {
  const size_t size = joist_host_size(host);
  char with[16] = {0}, *const out = filled;
  size_t first = 0;
  while (first < n && is_missing(host, values, first)) first++;
  if (first < n) memcpy(with, (const char *)values + first * size, size);
  memcpy(out, values, n * size);
  for (size_t i = 0; i < n; i++)
    if (is_missing(host, values, i)) memcpy(out + i * size, with, size);
}

void joist_widen_missing(joist_host host, const void *values, size_t n, double *wide) {
  const uint64_t na_bits = UINT64_C(0x7ff00000000007a2);
  double na;
  memcpy(&na, &na_bits, sizeof na);
  if (host == JOIST_HOST_INTEGER64) {
    const int64_t *const integers = values;
    for (size_t i = 0; i < n; i++) wide[i] = integers[i] == INT64_MIN ? na : (double)integers[i];
    return;
  }
  const int32_t *const integers = values;
  const bool truth = host == JOIST_HOST_LOGICAL;
  for (size_t i = 0; i < n; i++) {
    const double value = truth ? integers[i] != 0 : integers[i];
    wide[i] = integers[i] == INT32_MIN ? na : value;
  }
}
