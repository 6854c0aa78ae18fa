/* Missing values of the host language: its NA. */
#include "core/base/bits.h"
#include "core/base/vectorize.h"
#include "core/types/error.h"
#include "core/types/host.h"
#include "core/types/host_scan.h"

JOIST_VECTORIZE_FILE

/* Counted or marked at a time. */
enum { TASK = 1 << 16, BLOCK = 1 << 10 };

/* A part of a value is NA if its bits among `kept` equal the bits of `na`. NaN has an exponent of
 * ones and a fraction that is not 0; R's NA_real_ is any NaN whose low word is 1954, and NA_FLOAT
 * of the float package any NaN whose low half-word is. */
struct pattern {
  uint64_t kept, na;
  size_t size; /* bytes of a value */
};

static const struct pattern patterns[] = {
    [JOIST_HOST_LOGICAL] = {UINT32_MAX, UINT32_C(1) << 31, 4},
    [JOIST_HOST_INTEGER] = {UINT32_MAX, UINT32_C(1) << 31, 4},
    [JOIST_HOST_DOUBLE] = {UINT64_C(0x7ff00000ffffffff), UINT64_C(0x7ff00000000007a2), 8},
    [JOIST_HOST_COMPLEX] = {UINT64_C(0x7ff00000ffffffff), UINT64_C(0x7ff00000000007a2), 16},
    [JOIST_HOST_RAW] = {0, 1, 1}, /* none is */
    [JOIST_HOST_INTEGER64] = {UINT64_MAX, UINT64_C(1) << 63, 8},
    [JOIST_HOST_FLOAT32] = {UINT32_C(0x7f80ffff), UINT32_C(0x7f8007a2), 4}};

/* R's NA_real_ are all NaN that end in 1954. These have a bit that R's own lacks, and 18 bits of a
 * hash of the integer. Like R's own they are not quiet, as all that is computed of them is: that is
 * lost, too, but is not the integer. */
static const uint64_t lost = UINT64_C(0x7ff40000000007a2), kept = UINT64_C(0xfff40000ffffffff);

static uint64_t lost_of(uint64_t integer) { return lost | (integer * JOIST_GOLDEN >> 46) << 32; }

void joist_set_lost(double *value, uint64_t integer) {
  const uint64_t bits = lost_of(integer);
  memcpy(value, &bits, sizeof bits);
}

bool joist_is_lost(const double *value) {
  uint64_t bits;
  memcpy(&bits, value, sizeof bits);
  return (bits & kept) == lost;
}

bool joist_was_lost(const double *value, uint64_t integer) {
  uint64_t bits;
  memcpy(&bits, value, sizeof bits);
  return bits == lost_of(integer);
}

joist_status joist_check_lost(size_t n, const void *values, struct joist_error *error) {
  for (size_t k = 0; k < n; k++)
    if (joist_is_lost((const double *)values + k))
      return JOIST_FAIL(error, JOIST_E_LOST, .position = k + 1);
  return JOIST_OK;
}

size_t joist_host_size(joist_host host) { return patterns[host].size; }

/* Loops over values of PARTS words each: how many are missing (of fewer than 2^32), and which. The
 * top bit of ~d & (d - 1) is set only if d is 0, which takes fewer instructions than a comparison
 * of words of 64 bits in SSE2. */
#define SEARCH(NAME, WORD, PARTS)                                                             \
  static inline WORD is_na_##NAME(const char *word, WORD kept, WORD na) {                     \
    WORD bits;                                                                                \
    memcpy(&bits, word, sizeof bits);                                                         \
    const WORD difference = (bits & kept) ^ na;                                               \
    return (~difference & (difference - 1)) >> (8 * sizeof(WORD) - 1);                        \
  }                                                                                           \
  static inline WORD is_missing_##NAME(const char *values, size_t i, WORD kept, WORD na) {    \
    const char *const value = values + i * (PARTS) * sizeof(WORD);                            \
    const WORD first = is_na_##NAME(value, kept, na);                                         \
    return (PARTS) == 1 ? first : first | is_na_##NAME(value + sizeof(WORD), kept, na);       \
  }                                                                                           \
  static size_t count_##NAME(const struct pattern *pattern, const char *values, size_t n) {   \
    const WORD kept = (WORD)pattern->kept, na = (WORD)pattern->na;                            \
    WORD count = 0;                                                                           \
    JOIST_VECTORIZE_LOOP                                                                      \
    for (size_t i = 0; i < n; i++) count += is_missing_##NAME(values, i, kept, na);           \
    return (size_t)count;                                                                     \
  }                                                                                           \
  static void mark_##NAME(const struct pattern *pattern, const char *values, size_t n,        \
                          uint8_t *mask) {                                                    \
    const WORD kept = (WORD)pattern->kept, na = (WORD)pattern->na;                            \
    JOIST_VECTORIZE_LOOP                                                                      \
    for (size_t i = 0; i < n; i++) mask[i] = (uint8_t)is_missing_##NAME(values, i, kept, na); \
  }
SEARCH(4, uint32_t, 1)
SEARCH(8, uint64_t, 1)
SEARCH(16, uint64_t, 2)

static size_t count_some(const struct pattern *pattern, const char *values, size_t n) {
  switch (pattern->size) {
    case 4:
      return count_4(pattern, values, n);
    case 8:
      return count_8(pattern, values, n);
    case 16:
      return count_16(pattern, values, n);
    default:
      return 0;
  }
}

struct counting {
  const struct pattern *pattern;
  const char *values;
  size_t n;
  _Atomic size_t *count;
};

static void count_task(const void *context, size_t task, size_t worker) {
  const struct counting *const c = context;
  const size_t first = task * TASK;
  (void)worker;
  const size_t count = count_some(c->pattern, c->values + first * c->pattern->size,
                                  joist_smaller(TASK, c->n - first));
  if (count > 0) atomic_fetch_add_explicit(c->count, count, memory_order_relaxed);
}

size_t joist_missing_count(joist_host host, const void *values, size_t n,
                           const struct joist_run *run) {
  const struct pattern *const pattern = &patterns[host];
  if (host == JOIST_HOST_RAW) return 0;
  if (n <= TASK) return count_some(pattern, values, n);
  _Atomic size_t count = 0;
  const struct counting counting = {pattern, values, n, &count};
  const size_t tasks = joist_divide_up(n, TASK);
  joist_parallel(run == NULL ? 1 : joist_threads_for(run, n, tasks), tasks, count_task, &counting);
  return count;
}

void joist_missing_mask(joist_host host, const void *values, size_t n, uint8_t *mask) {
  const struct pattern *const pattern = &patterns[host];
  switch (pattern->size) {
    case 4:
      mark_4(pattern, values, n, mask);
      break;
    case 8:
      mark_8(pattern, values, n, mask);
      break;
    case 16:
      mark_16(pattern, values, n, mask);
      break;
    default:
      if (n > 0) memset(mask, 0, n);
  }
}

/* Most blocks have no missing value, and are not written. */
#define PUT(WORD)                                                          \
  do {                                                                     \
    WORD word;                                                             \
    memcpy(&word, na, sizeof word);                                        \
    for (size_t first = 0; first < n; first += BLOCK) {                    \
      WORD *const at = (WORD *)values + first;                             \
      const uint8_t *const flags = mask + first;                           \
      const size_t length = joist_smaller(BLOCK, n - first);               \
      if (memchr(flags, 1, length) == NULL) continue;                      \
      JOIST_VECTORIZE_LOOP                                                 \
      for (size_t i = 0; i < length; i++) at[i] = flags[i] ? word : at[i]; \
    }                                                                      \
  } while (0)

void joist_missing_put(joist_host host, const uint8_t *mask, size_t n, const void *na,
                       void *values) {
  const size_t size = patterns[host].size;
  if (size == sizeof(uint32_t))
    PUT(uint32_t);
  else if (size == sizeof(uint64_t))
    PUT(uint64_t);
  else
    for (size_t i = 0; i < n; i++)
      if (mask[i]) memcpy((char *)values + i * size, na, size);
}

/* The first value that is not missing, or 0. */
static void find_present(joist_host host, const char *values, size_t n, char *present) {
  const size_t size = joist_host_size(host);
  uint8_t mask[BLOCK];
  memset(present, 0, size);
  for (size_t first = 0; first < n; first += BLOCK) {
    const size_t length = joist_smaller(BLOCK, n - first);
    joist_missing_mask(host, values + first * size, length, mask);
    const uint8_t *const at = memchr(mask, 0, length);
    if (at == NULL) continue;
    memcpy(present, values + (first + (size_t)(at - mask)) * size, size);
    return;
  }
}

void joist_missing_filled(joist_host host, const void *values, size_t n, void *filled) {
  enum { LARGEST = 16 };
  const size_t size = joist_host_size(host);
  char present[LARGEST];
  uint8_t mask[BLOCK];
  find_present(host, values, n, present);
  for (size_t first = 0; first < n; first += BLOCK) {
    const size_t length = joist_smaller(BLOCK, n - first);
    const char *const from = (const char *)values + first * size;
    char *const to = (char *)filled + first * size;
    joist_missing_mask(host, from, length, mask);
    memcpy(to, from, length * size);
    for (size_t i = 0; i < length; i++)
      if (mask[i]) memcpy(to + i * size, present, size);
  }
}
