/* Unsigned keys of elements that compare as the elements do, for sorting and searching. */
#ifndef JOIST_CORE_OPS_ORDER_KEYS_H
#define JOIST_CORE_OPS_ORDER_KEYS_H

#include "core/base/bits.h"
#include "core/kernels/sort_kernels.h"
#include "core/types/dtypes.h"

/* How the bits of a dtype become keys. Not of complex dtypes. */
struct joist_order joist_order_of(joist_dtype dtype, bool decreasing);

/* Keys in the order of the elements, or with `decreasing` in the opposite one. Both zeros have
 * one key; every NaN has the largest, which no number has. Not for complex dtypes. */
void joist_order_keys(joist_dtype dtype, bool decreasing, size_t n, const void *in, uint64_t *keys);

/* What is known of n elements of `size` bytes as a line, read by up to `threads` threads. Where
 * keys rise and fall, and span `enough` or more, what more there is to know may be left out; if
 * `enough` is 0, it is not. */
struct joist_line joist_look(size_t size, struct joist_order order, size_t n, const void *in,
                             uint64_t enough, int threads);

/* Keys that are equal where elements are: both zeros, and all NaN except R's NA_real_ in f64
 * and c128, which equals only itself; complex numbers part by part. Elements have
 * joist_match_parts() keys, the second ones from keys + n on. */
void joist_match_keys(joist_dtype dtype, size_t n, const void *in, uint64_t *keys);
size_t joist_match_parts(joist_dtype dtype);

/* Two keys, the second ones from keys + n on, of elements that are compared with elements of
 * another dtype: f64 or c128 with i64 or ui64, or these with each other. Equal where the elements
 * are, and for numbers that are not complex in their order. Every NaN is the largest. */
void joist_exact_keys(joist_dtype dtype, size_t n, const void *in, uint64_t *keys);

/* The finalizer of MurmurHash3 (A. Appleby, public domain) spreads every bit of a key over all;
 * `other` is the second key, or 0. */
static inline uint64_t joist_match_hash(uint64_t key, uint64_t other) {
  key ^= other * JOIST_GOLDEN;
  key ^= key >> 33;
  key *= UINT64_C(0xff51afd7ed558ccd);
  key ^= key >> 33;
  key *= UINT64_C(0xc4ceb9fe1a85ec53);
  return key ^ key >> 33;
}

#endif
