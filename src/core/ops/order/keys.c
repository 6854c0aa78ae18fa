/* Keys by which elements are matched. */
#include "core/ops/order/keys.h"

#include <string.h>

enum { NA_LOW_WORD = 1954 }; /* of R's NA_real_: R's arithmetic.c */
static const uint64_t nan_key = UINT64_MAX, na_key = UINT64_MAX - 1;

size_t joist_match_parts(joist_dtype dtype) { return dtype == JOIST_C128 ? 2 : 1; }

static uint64_t nan_key_of(uint64_t bits) {
  return (bits & UINT32_MAX) == NA_LOW_WORD ? na_key : nan_key;
}

static void match_c64(size_t n, const void *in, uint64_t *keys) {
  const char *const from = in;
  for (size_t i = 0; i < n; i++) {
    uint64_t part[2];
    joist_order_keys(JOIST_F32, false, 2, from + i * sizeof(joist_c64), part);
    keys[i] = part[0] << 32 | part[1];
  }
}

static void match_c128(size_t n, const void *in, uint64_t *keys) {
  const char *const from = in;
  for (size_t i = 0; i < n; i++) {
    uint64_t part[2], bits[2];
    memcpy(bits, from + i * sizeof bits, sizeof bits);
    joist_order_keys(JOIST_F64, false, 2, bits, part);
    for (size_t p = 0; p < 2; p++)
      keys[p * n + i] = part[p] == nan_key ? nan_key_of(bits[p]) : part[p];
  }
}

void joist_match_keys(joist_dtype dtype, size_t n, const void *in, uint64_t *keys) {
  if (dtype == JOIST_C64) {
    match_c64(n, in, keys);
  } else if (dtype == JOIST_C128) {
    match_c128(n, in, keys);
  } else {
    joist_order_keys(dtype, false, n, in, keys);
    if (dtype != JOIST_F64) return;
    const uint64_t *const bits = in;
    for (size_t i = 0; i < n; i++)
      if (keys[i] == nan_key) keys[i] = nan_key_of(bits[i]);
  }
}
