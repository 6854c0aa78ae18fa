/* Makes blocks of f32: the bytes that the Python package gguf 0.19 makes on x86-64, where that has
 * an encoder. Each step is rounded to f32 as there. Where a block cannot be made, because an
 * element or the scale is not finite, the result is false. */
#include <math.h>
#include <string.h>

#include "core/base/vectorize.h"
#include "core/kernels/blocks.h"

JOIST_VECTORIZE_FILE

#include "core/types/narrow.h"

static void put_half(unsigned char *to, uint16_t bits) {
  to[0] = (unsigned char)(bits & 255);
  to[1] = (unsigned char)(bits >> 8);
}

/* A scale as f16; false if it is not finite. */
static bool put_scale(unsigned char *to, float scale) {
  const uint16_t bits = narrow_f32_to_F16(scale);
  put_half(to, bits);
  return (bits & 0x7c00) != 0x7c00;
}

static bool all_finite(int n, const float *x) {
  bool finite = true;
  for (int j = 0; j < n; j++) finite = finite && isfinite(x[j]);
  return finite;
}

/* The first element of the largest magnitude. */
static float extreme(int n, const float *x) {
  float found = x[0];
  for (int j = 1; j < n; j++)
    if (fabsf(x[j]) > fabsf(found)) found = x[j];
  return found;
}

static float inverse(float scale) { return scale == 0 ? 0 : 1 / scale; }

/* A number cut off to a byte, as a conversion to an integer of 32 bits gives it, and 0 for one that
 * is beyond these, where the inverse of a scale is infinite. */
static int cut(float x, int most) {
  const int byte = fabsf(x) < 0x1p31f ? (int)((uint32_t)(int32_t)x & 255) : 0;
  return byte < most ? byte : most;
}

/* Halves away from zero. */
static int rounded(float x) {
  const float magnitude = fabsf(x);
  if (!(magnitude < 256)) return 0;
  const float whole = floorf(magnitude), away = whole + floorf(2 * (magnitude - whole));
  return (int)(x < 0 ? -away : away);
}

/* Elements j and j + 16 share a byte; a fifth bit of each is apart. */
static void put_codes(const int *codes, unsigned char *high, unsigned char *low) {
  for (int j = 0; j < 16; j++)
    low[j] = (unsigned char)((codes[j] & 15) | (codes[j + 16] & 15) << 4);
  if (high == NULL) return;
  memset(high, 0, 4);
  for (int j = 0; j < 32; j++)
    high[j / 8] = (unsigned char)(high[j / 8] | (codes[j] >> 4 & 1) << j % 8);
}

/* Codes from -most to most - 1 around the extreme, which is -most. */
static bool encode_around(const float *x, int most, unsigned char *high, unsigned char *low,
                          unsigned char *to) {
  const float scale = extreme(32, x) / (float)-most, by = inverse(scale);
  int codes[32];
  for (int j = 0; j < 32; j++) {
    const float scaled = x[j] * by;
    codes[j] = cut(scaled + ((float)most + 0.5f), 2 * most - 1);
  }
  put_codes(codes, high, low);
  return put_scale(to, scale);
}

/* Codes from the least element on. */
static bool encode_from(const float *x, int most, unsigned char *high, unsigned char *low,
                        unsigned char *to) {
  float least = x[0], largest = x[0];
  for (int j = 1; j < 32; j++) {
    if (x[j] < least) least = x[j];
    if (x[j] > largest) largest = x[j];
  }
  const float scale = (largest - least) / (float)most, by = inverse(scale);
  int codes[32];
  for (int j = 0; j < 32; j++) {
    const float above = x[j] - least, scaled = above * by;
    codes[j] = cut(scaled + 0.5f, most);
  }
  put_codes(codes, high, low);
  return put_scale(to, scale) && put_scale(to + 2, least);
}

static bool encode_Q4_0(const float *x, unsigned char *to) {
  return encode_around(x, 8, NULL, to + 2, to);
}

static bool encode_Q5_0(const float *x, unsigned char *to) {
  return encode_around(x, 16, to + 2, to + 6, to);
}

static bool encode_Q4_1(const float *x, unsigned char *to) {
  return encode_from(x, 15, NULL, to + 4, to);
}

static bool encode_Q5_1(const float *x, unsigned char *to) {
  return encode_from(x, 31, to + 4, to + 8, to);
}

static bool encode_Q8_0(const float *x, unsigned char *to) {
  const float scale = fabsf(extreme(32, x)) / 127, by = inverse(scale);
  for (int j = 0; j < 32; j++) to[2 + j] = (unsigned char)(rounded(x[j] * by) & 255);
  return put_scale(to, scale);
}

/* -1, 0, 1 as 0, 1, 2 for all 256 elements. */
static bool ternary_codes(const float *x, int *codes, unsigned char *scale) {
  const float largest = fabsf(extreme(256, x)), by = inverse(largest);
  for (int j = 0; j < 256; j++) codes[j] = rounded(x[j] * by) + 1;
  return put_scale(scale, largest);
}

/* Five codes, or the first four, as a fraction of 256 by their digits base 3. */
static void put_ternary(const int *codes, int n, int digits, unsigned char *to) {
  for (int m = 0; m < n; m++) {
    int number = 0;
    for (int k = 0; k < 5; k++) number = 3 * number + (k < digits ? codes[k * n + m] : 0);
    to[m] = (unsigned char)((number * 256 + 242) / 243);
  }
}

static bool encode_TQ1_0(const float *x, unsigned char *to) {
  int codes[256];
  const bool fits = ternary_codes(x, codes, to + 52);
  put_ternary(codes, 32, 5, to);
  put_ternary(codes + 160, 16, 5, to + 32);
  put_ternary(codes + 240, 4, 4, to + 48);
  return fits;
}

static bool encode_TQ2_0(const float *x, unsigned char *to) {
  int codes[256];
  const bool fits = ternary_codes(x, codes, to + 64);
  memset(to, 0, 64);
  for (int j = 0; j < 256; j++) {
    unsigned char *const byte = to + j / 128 * 32 + j % 32;
    *byte = (unsigned char)(*byte | codes[j] << 2 * (j % 128 / 32));
  }
  return fits;
}

/* The nearest of the values that a code may have, the first of equal distances. */
static int nearest(float x, float scale, const int8_t *values) {
  int best = 0;
  float least = INFINITY;
  for (int k = 0; k < 16; k++) {
    const float value = scale * (float)values[k], error = fabsf(value - x);
    if (error < least) {
      least = error;
      best = k;
    }
  }
  return best;
}

/* A scale less than the format has is its least, where gguf makes one of the largest. */
static bool encode_MXFP4(const float *x, unsigned char *to) {
  static const int8_t values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const float largest = fabsf(extreme(32, x));
  const float exponent = largest > 0 ? floorf((float)log2((double)largest)) + 125 : 0;
  const uint32_t e = exponent > 0 ? (uint32_t)exponent : 0;
  const float scale = float_from_bits(e < 2 ? 0x00200000u << e : (e - 1) << 23);
  int codes[32];
  for (int j = 0; j < 32; j++) codes[j] = nearest(x[j], scale, values);
  to[0] = (unsigned char)e;
  put_codes(codes, NULL, to + 1);
  return true;
}

typedef bool encode_block(const float *x, unsigned char *to);
static encode_block *const encoders[JOIST_BLOCK_COUNT] = {
    [JOIST_BLOCK_Q4_0] = encode_Q4_0,   [JOIST_BLOCK_Q4_1] = encode_Q4_1,
    [JOIST_BLOCK_Q5_0] = encode_Q5_0,   [JOIST_BLOCK_Q5_1] = encode_Q5_1,
    [JOIST_BLOCK_Q8_0] = encode_Q8_0,   [JOIST_BLOCK_TQ1_0] = encode_TQ1_0,
    [JOIST_BLOCK_TQ2_0] = encode_TQ2_0, [JOIST_BLOCK_MXFP4] = encode_MXFP4,
};

bool joist_block_is_made(joist_block block) { return encoders[block] != NULL; }

size_t joist_block_encode(joist_block block, size_t n, const float *from, unsigned char *to) {
  const struct joist_block_facts *const facts = joist_block_facts(block);
  for (size_t k = 0; k < n; k++) {
    const float *const x = from + k * facts->elements;
    if (!all_finite((int)facts->elements, x) || !encoders[block](x, to + k * facts->bytes))
      return k;
  }
  return n;
}
