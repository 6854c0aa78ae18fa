#include "core/ops/order/keys.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/vectorize.h"
#include "core/kernels/kernels.h"

JOIST_VECTORIZE_FILE

enum {
  STRIP = 512,
  LOOK = 1 << 14,    /* elements that are looked at before asking if that is enough */
  SHARES = 64,       /* at most */
  NA_LOW_WORD = 1954 /* of R's NA_real_: R's arithmetic.c */
};
static const uint64_t nan_key = UINT64_MAX, na_key = UINT64_MAX - 1;

struct joist_order joist_order_of(joist_dtype dtype, bool decreasing) {
  const joist_kind kind = joist_dtype_kind(dtype);
  const bool is_float = kind == JOIST_KIND_FLOAT;
  /* Integers fill their storage, with copies of the sign. */
  const size_t bits = is_float ? joist_dtype_bits(dtype) : 8 * joist_dtype_size(dtype);
  const uint64_t all = UINT64_MAX >> (64 - bits), sign = all - all / 2;
  const bool has_sign = kind == JOIST_KIND_INT || (is_float && joist_dtype_has_sign(dtype));
  const uint64_t infinity = joist_dtype_greatest_bits(dtype);
  /* Where no magnitude is NaN, or the least number has the key 0, for lack of a sign, numbers may
   * have all keys of so many bits. */
  const bool all_keys = infinity == sign - 1 || (is_float && !has_sign);
  return (struct joist_order){.sign = has_sign ? sign : 0,
                              .infinity = infinity,
                              .flip = decreasing ? all : 0,
                              .nan = joist_dtype_nan_bits(dtype),
                              .nan_key = all_keys ? 2 * all + 1 : all};
}

void joist_order_keys(joist_dtype dtype, bool decreasing, size_t n, const void *in,
                      uint64_t *keys) {
  const size_t size = joist_dtype_size(dtype);
  const struct joist_sort_kernels *const kernels = joist_sort_kernels(size);
  const struct joist_order order = joist_order_of(dtype, decreasing);
  const char *const from = in;
  if (kernels->key == sizeof *keys) {
    kernels->keys(n, in, order, keys);
    return;
  }
  for (size_t length, first = 0; first < n; first += length) {
    uint32_t narrow[STRIP];
    length = joist_smaller(n - first, STRIP);
    kernels->keys(length, from + first * size, order, narrow);
    uint64_t *const to = keys + first;
    JOIST_VECTORIZE_LOOP
    for (size_t i = 0; i < length; i++) to[i] = narrow[i];
  }
}

struct looking {
  const struct joist_sort_kernels *kernels;
  struct joist_order order;
  size_t n, shares;
  const void *in;
  uint64_t enough;
  struct joist_line *known; /* of shares */
};

static void look_at_share(const void *context, size_t share, size_t worker) {
  const struct looking *const l = context;
  const struct joist_part part = joist_share_of(l->n, l->shares, share);
  const size_t end = part.first + part.n;
  struct joist_line known = {.low = UINT64_MAX};
  (void)worker;
  for (size_t n, first = part.first; first < end; first += n) {
    n = joist_smaller(end - first, LOOK);
    l->kernels->look(first, first + n, l->in, l->order, NULL, &known);
    if (l->enough > 0 && known.rises && known.falls && known.high - known.low >= l->enough) break;
  }
  l->known[share] = known;
}

struct joist_line joist_look(size_t size, struct joist_order order, size_t n, const void *in,
                             uint64_t enough, int threads) {
  struct joist_line known[SHARES], all = {.low = UINT64_MAX};
  const size_t shares = joist_smaller((size_t)threads, SHARES);
  const struct looking looking = {joist_sort_kernels(size), order, n, shares, in, enough, known};
  joist_parallel(threads, shares, look_at_share, &looking);
  for (size_t k = 0; k < shares; k++) {
    all.low = known[k].low < all.low ? known[k].low : all.low;
    all.high = known[k].high > all.high ? known[k].high : all.high;
    all.differ |= known[k].differ;
    all.rises |= known[k].rises;
    all.falls |= known[k].falls;
    all.nan += known[k].nan;
    all.minus_zero += known[k].minus_zero;
  }
  return all;
}

size_t joist_match_parts(joist_dtype dtype) {
  return joist_dtype_size(dtype) > sizeof(uint64_t) ? 2 : 1;
}

static uint64_t nan_key_of(uint64_t bits) {
  return (bits & UINT32_MAX) == NA_LOW_WORD ? na_key : nan_key;
}

/* Complex numbers: the keys of both parts, in one word of c64. */
static void match_complex(joist_dtype dtype, size_t n, const void *in, uint64_t *keys) {
  const bool wide = joist_match_parts(dtype) > 1;
  const char *const from = in;
  for (size_t length, first = 0; first < n; first += length) {
    const char *const x = from + first * joist_dtype_size(dtype);
    uint64_t part[2 * STRIP];
    length = joist_smaller(n - first, STRIP);
    joist_order_keys(joist_dtype_real(dtype), false, 2 * length, x, part);
    for (size_t i = 0; i < length && !wide; i++)
      keys[first + i] = part[2 * i] << 32 | part[2 * i + 1];
    for (size_t i = 0; i < 2 * length && wide; i++) {
      uint64_t bits;
      memcpy(&bits, x + i * sizeof bits, sizeof bits);
      keys[i % 2 * n + first + i / 2] = part[i] == nan_key ? nan_key_of(bits) : part[i];
    }
  }
}

void joist_match_keys(joist_dtype dtype, size_t n, const void *in, uint64_t *keys) {
  const uint64_t *const bits = in;
  if (joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX) {
    match_complex(dtype, n, in, keys);
    return;
  }
  joist_order_keys(dtype, false, n, in, keys);
  for (size_t i = 0; i < n && dtype == JOIST_F64; i++)
    if (keys[i] == nan_key) keys[i] = nan_key_of(bits[i]);
}

/* Whether an integer is less than its nearest double, equal to it, or more, and by how much: keys
 * that no part of a complex number has, but for the key of 0. */
static uint64_t remainder_key(int64_t remainder) {
  enum { LARGEST = 1024 };
  if (remainder == 0) return UINT64_C(1) << 63;
  return (remainder < 0 ? (uint64_t)LARGEST : na_key - LARGEST - 1) + (uint64_t)remainder;
}

void joist_exact_keys(joist_dtype dtype, size_t n, const void *in, uint64_t *keys) {
  if (dtype == JOIST_C128) {
    joist_match_keys(dtype, n, in, keys);
    return;
  }
  for (size_t length, first = 0; first < n; first += length) {
    double nearest[STRIP];
    length = joist_smaller(n - first, STRIP);
    for (size_t i = 0; i < length; i++) {
      int64_t remainder = 0;
      if (dtype == JOIST_I64) {
        const int64_t x = ((const int64_t *)in)[first + i];
        nearest[i] = (double)x;
        remainder = nearest[i] < 0x1p63 ? x - (int64_t)nearest[i] : x - INT64_MAX - 1;
      } else if (dtype == JOIST_UI64) {
        const uint64_t x = ((const uint64_t *)in)[first + i];
        nearest[i] = (double)x;
        /* modulo 2^64, where 2^64 is 0 */
        remainder = (int64_t)(x - (nearest[i] < 0x1p64 ? (uint64_t)nearest[i] : 0));
      } else {
        nearest[i] = ((const double *)in)[first + i];
      }
      keys[n + first + i] = remainder_key(remainder);
    }
    joist_order_keys(JOIST_F64, false, length, nearest, keys + first);
  }
}
