/* Makes blocks of f32: the bytes that the Python package gguf 0.19 makes on x86-64, where that has
 * an encoder. Each step is rounded to f32 as there. Types without one there, with scales for parts
 * of a block, are fitted by least squares. Where a block cannot be made, because an element or the
 * scale is not finite, the result is false. */
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

/* The largest magnitude; infinite or NaN if there is such an element. */
static float magnitude(int n, const float *x) {
  int32_t most = 0;
  JOIST_VECTORIZE_LOOP
  for (int j = 0; j < n; j++) {
    const int32_t bits = (int32_t)(float_bits(x[j]) & 0x7fffffff);
    most = bits > most ? bits : most;
  }
  return float_from_bits((uint32_t)most);
}

/* The first finite element of the largest magnitude. */
static float extreme(int n, const float *x) {
  const float most = magnitude(n, x);
  int j = 0;
  while (j < n - 1 && fabsf(x[j]) != most) j++;
  return x[j];
}

static float inverse(float scale) { return scale == 0 ? 0 : 1 / scale; }

/* A number cut off to a byte, as a conversion to an integer of 32 bits gives it, and 0 for one that
 * is beyond these, where the inverse of a scale is infinite. */
static int cut(float x, int most) {
  const int byte = fabsf(x) < 0x1p31f ? (int)((uint32_t)(int32_t)x & 255) : 0;
  return byte < most ? byte : most;
}

/* Halves away from zero; 0 for what is beyond a byte. */
static inline int rounded(float x) {
  const float given = fabsf(x), magnitude = given < 256 ? given : 0;
  const int whole = (int)magnitude, away = whole + (int)(2 * (magnitude - (float)whole));
  return x < 0 ? -away : away;
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
  JOIST_VECTORIZE_LOOP
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

/* ---- parts with scales of their own ---- */

static float half_value(const unsigned char *at) {
  return narrow_F16_to_f32((uint16_t)(at[0] | at[1] << 8));
}

static int clamped(float x, int least, int most) {
  return !(x > (float)least) ? least : x >= (float)most ? most : (int)floorf(x + 0.5f);
}

/* The code of a number that is divided by the scale: whole, -most to most - 1, or the nearest of 16
 * ascending values. */
static int code_of(float x, int most, const int8_t *values) {
  if (values == NULL) return clamped(x, -most, most - 1);
  int k = 0;
  while (k < 15 && x > (float)(values[k] + values[k + 1]) / 2) k++;
  return k;
}

/* The scale by which codes are nearest to n numbers. For each of some scales that give the extreme
 * about the code -most, the best one for its codes is tried. */
static float scale_around(int n, const float *x, int most, const int8_t *values) {
  const float largest = extreme(n, x);
  double best = 0;
  float found = 0;
  for (int t = -12; t <= 12 && largest != 0; t++) {
    const float by = -((float)most + (values == NULL ? 0.1f : 1) * (float)t) / largest;
    double product = 0, square = 0;
    for (int j = 0; j < n; j++) {
      const int code = code_of(x[j] * by, most, values), level = values ? values[code] : code;
      product += (double)level * (double)x[j];
      square += (double)(level * level);
    }
    /* What the squares of distances are less than those of the numbers. */
    const double gain = square > 0 ? product * product / square : 0;
    if (gain > best) {
      best = gain;
      found = (float)(product / square);
    }
  }
  return found;
}

/* Codes of parts with scales d * s, where s is -steps to steps - 1. */
static bool encode_parts_around(const float *x, int part, int most, const int8_t *values, int steps,
                                int *codes, int *scales, unsigned char *d) {
  float scale[16];
  const int parts = 256 / part;
  for (int p = 0; p < parts; p++) scale[p] = scale_around(part, x + part * p, most, values);
  if (!put_scale(d, extreme(parts, scale) / (float)-steps)) return false;
  const float by = inverse(half_value(d));
  for (int p = 0; p < parts; p++) {
    scales[p] = clamped(scale[p] * by, -steps, steps - 1);
    const float divide = inverse(half_value(d) * (float)scales[p]);
    for (int j = part * p; j < part * (p + 1); j++) codes[j] = code_of(x[j] * divide, most, values);
  }
  return true;
}

/* The scale and the offset by which numbers are nearest to code * scale - offset, neither below 0,
 * with codes from 0 to most. */
static void scale_from(int n, const float *x, int most, float *scale, float *offset) {
  float least = 0, largest = x[0];
  double sum = 0, error = INFINITY;
  for (int j = 0; j < n; j++) {
    if (x[j] < least) least = x[j];
    if (x[j] > largest) largest = x[j];
    sum += (double)x[j];
  }
  *scale = 0;
  *offset = -least;
  for (int t = -10; t <= 20 && largest > least; t++) {
    const float by = ((float)most + 0.1f * (float)t) / (largest - least);
    double codes = 0, squares = 0, product = 0;
    for (int j = 0; j < n; j++) {
      const int code = clamped((x[j] - least) * by, 0, most);
      codes += code;
      squares += code * code;
      product += code * (double)x[j];
    }
    const double spread = n * squares - codes * codes;
    double times = spread > 0 ? (n * product - codes * sum) / spread : 0;
    double less = (times * codes - sum) / n;
    if (less < 0 || times <= 0) {
      less = 0;
      times = squares > 0 && product > 0 ? product / squares : 0;
    }
    /* Squares of distances, less those of the numbers. */
    const double distance = times * times * squares + n * less * less - 2 * times * less * codes -
                            2 * times * product + 2 * less * sum;
    if (distance < error) {
      error = distance;
      *scale = (float)times;
      *offset = (float)less;
    }
  }
}

/* Codes of parts with scales d * s and offsets e * o, where s and o are 0 to steps; d and e follow
 * each other. */
static bool encode_parts_from(const float *x, int part, int most, int steps, int *codes,
                              int *scales, int *offsets, unsigned char *d) {
  float scale[16], offset[16];
  const int parts = 256 / part;
  for (int p = 0; p < parts; p++) scale_from(part, x + part * p, most, &scale[p], &offset[p]);
  if (!put_scale(d, extreme(parts, scale) / (float)steps) ||
      !put_scale(d + 2, extreme(parts, offset) / (float)steps))
    return false;
  const float by = inverse(half_value(d)), by_offset = inverse(half_value(d + 2));
  for (int p = 0; p < parts; p++) {
    scales[p] = clamped(scale[p] * by, 0, steps);
    /* The offset is the best one for codes by the scale that is left, and they for it. */
    const float times = half_value(d) * (float)scales[p], divide = inverse(times);
    float sum = 0;
    for (int j = part * p; j < part * (p + 1); j++)
      sum += times * (float)clamped((x[j] + offset[p]) * divide, 0, most) - x[j];
    offsets[p] = clamped(sum / (float)part * by_offset, 0, steps);
    const float more = half_value(d + 2) * (float)offsets[p];
    for (int j = part * p; j < part * (p + 1); j++)
      codes[j] = clamped((x[j] + more) * divide, 0, most);
  }
  return true;
}

/* The lowest four bits of 256 elements; the two of a byte are `across` apart. */
static void put_nibbles(int across, const int *codes, unsigned char *to) {
  for (int j = 0; j < 128; j++) {
    const int at = j / across * 2 * across + j % across;
    to[j] = (unsigned char)((codes[at] & 15) | (codes[at + across] & 15) << 4);
  }
}

/* Two bits of each of 256 elements, in 64 bytes. */
static void put_pairs(const int *codes, int shift, unsigned char *to) {
  memset(to, 0, 64);
  for (int j = 0; j < 256; j++) {
    unsigned char *const byte = to + j / 128 * 32 + j % 32;
    *byte = (unsigned char)(*byte | (codes[j] >> shift & 3) << 2 * (j % 128 / 32));
  }
}

/* A bit of each of 256 elements, in 32 bytes. */
static void put_bits(const int *codes, int shift, unsigned char *to) {
  memset(to, 0, 32);
  for (int j = 0; j < 256; j++)
    to[j % 32] = (unsigned char)(to[j % 32] | (codes[j] >> shift & 1) << j / 32);
}

static bool encode_TQ2_0(const float *x, unsigned char *to) {
  int codes[256];
  const bool fits = ternary_codes(x, codes, to + 64);
  put_pairs(codes, 0, to);
  return fits;
}

static bool encode_Q2_K(const float *x, unsigned char *to) {
  int codes[256], scales[16], offsets[16];
  const bool fits = encode_parts_from(x, 16, 3, 15, codes, scales, offsets, to + 80);
  for (int p = 0; fits && p < 16; p++) to[p] = (unsigned char)(scales[p] | offsets[p] << 4);
  if (fits) put_pairs(codes, 0, to + 16);
  return fits;
}

static bool encode_Q3_K(const float *x, unsigned char *to) {
  int codes[256], scales[16];
  if (!encode_parts_around(x, 16, 4, NULL, 32, codes, scales, to + 108)) return false;
  for (int j = 0; j < 256; j++) codes[j] += 4;
  put_bits(codes, 2, to);
  put_pairs(codes, 0, to + 32);
  memset(to + 96, 0, 12);
  for (int p = 0; p < 16; p++) {
    const int code = scales[p] + 32;
    to[96 + p % 8] = (unsigned char)(to[96 + p % 8] | (code & 15) << p / 8 * 4);
    to[104 + p % 4] = (unsigned char)(to[104 + p % 4] | code >> 4 << p / 4 * 2);
  }
  return true;
}

/* Eight scales and offsets of six bits each. */
static bool encode_six_bits(const float *x, int most, int *codes, unsigned char *to) {
  int s[8], o[8];
  if (!encode_parts_from(x, 32, most, 63, codes, s, o, to)) return false;
  for (int k = 0; k < 4; k++) {
    to[4 + k] = (unsigned char)(s[k] | s[k + 4] >> 4 << 6);
    to[8 + k] = (unsigned char)(o[k] | o[k + 4] >> 4 << 6);
    to[12 + k] = (unsigned char)((s[k + 4] & 15) | (o[k + 4] & 15) << 4);
  }
  return true;
}

static bool encode_Q4_K(const float *x, unsigned char *to) {
  int codes[256];
  const bool fits = encode_six_bits(x, 15, codes, to);
  if (fits) put_nibbles(32, codes, to + 16);
  return fits;
}

static bool encode_Q5_K(const float *x, unsigned char *to) {
  int codes[256];
  if (!encode_six_bits(x, 31, codes, to)) return false;
  put_bits(codes, 4, to + 16);
  put_nibbles(32, codes, to + 48);
  return true;
}

static bool encode_Q6_K(const float *x, unsigned char *to) {
  int codes[256], scales[16];
  if (!encode_parts_around(x, 16, 32, NULL, 128, codes, scales, to + 208)) return false;
  for (int j = 0; j < 256; j++) codes[j] += 32;
  put_nibbles(64, codes, to);
  put_pairs(codes, 4, to + 128);
  for (int p = 0; p < 16; p++) to[192 + p] = (unsigned char)(scales[p] & 255);
  return true;
}

static bool encode_IQ4_NL(const float *x, unsigned char *to) {
  int codes[32];
  const bool fits = put_scale(to, scale_around(32, x, 127, joist_iq4_values));
  const float by = inverse(half_value(to));
  for (int j = 0; j < 32; j++) codes[j] = code_of(x[j] * by, 127, joist_iq4_values);
  put_codes(codes, NULL, to + 2);
  return fits;
}

static bool encode_IQ4_XS(const float *x, unsigned char *to) {
  int codes[256], scales[8];
  if (!encode_parts_around(x, 32, 127, joist_iq4_values, 32, codes, scales, to)) return false;
  memset(to + 2, 0, 6);
  for (int p = 0; p < 8; p++) {
    const int code = scales[p] + 32;
    to[2 + p / 4] = (unsigned char)(to[2 + p / 4] | code >> 4 << p % 4 * 2);
    to[4 + p / 2] = (unsigned char)(to[4 + p / 2] | (code & 15) << p % 2 * 4);
  }
  put_nibbles(16, codes, to + 8);
  return true;
}

/* Halves to even, by the sum with a number whose last digit is 1. */
static inline int to_even(float x) {
  return (int)(int32_t)(float_bits(x + 0x1.8p23f) - 0x4b400000u);
}

/* The extreme is -127 times the scale; sums of 16 follow. Elements whose inverse scale is infinite
 * are divided. */
static bool encode_Q8_K(const float *x, unsigned char *to) {
  const float most = extreme(256, x), by = -127 / most;
  const bool small = !isfinite(by);
  const float scale = most == 0 ? 0 : small ? most / -127 : 1 / by;
  const uint32_t bits = float_bits(scale);
  put_half(to, (uint16_t)(bits & 65535));
  put_half(to + 2, (uint16_t)(bits >> 16));
  int level[256];
  JOIST_VECTORIZE_LOOP
  for (int j = 0; j < 256; j++) level[j] = to_even(x[j] * by);
  for (int j = 0; j < 256 && small; j++)
    level[j] = scale == 0 ? 0 : to_even(fmaxf(-127, fminf(x[j] / scale, 127)));
  JOIST_VECTORIZE_LOOP
  for (int j = 0; j < 256; j++) to[4 + j] = (unsigned char)(level[j] & 255);
  for (int part = 0; part < 16; part++) {
    int sum = 0;
    JOIST_VECTORIZE_LOOP
    for (int j = 16 * part; j < 16 * part + 16; j++) sum += level[j];
    put_half(to + 260 + 2 * part, (uint16_t)(sum & 65535));
  }
  return true;
}

typedef bool encode_block(const float *x, unsigned char *to);
static encode_block *const encoders[JOIST_BLOCK_COUNT] = {
    [JOIST_BLOCK_Q4_0] = encode_Q4_0,     [JOIST_BLOCK_Q4_1] = encode_Q4_1,
    [JOIST_BLOCK_Q5_0] = encode_Q5_0,     [JOIST_BLOCK_Q5_1] = encode_Q5_1,
    [JOIST_BLOCK_Q8_0] = encode_Q8_0,     [JOIST_BLOCK_TQ1_0] = encode_TQ1_0,
    [JOIST_BLOCK_TQ2_0] = encode_TQ2_0,   [JOIST_BLOCK_MXFP4] = encode_MXFP4,
    [JOIST_BLOCK_Q2_K] = encode_Q2_K,     [JOIST_BLOCK_Q3_K] = encode_Q3_K,
    [JOIST_BLOCK_Q4_K] = encode_Q4_K,     [JOIST_BLOCK_Q5_K] = encode_Q5_K,
    [JOIST_BLOCK_Q6_K] = encode_Q6_K,     [JOIST_BLOCK_IQ4_NL] = encode_IQ4_NL,
    [JOIST_BLOCK_IQ4_XS] = encode_IQ4_XS, [JOIST_BLOCK_Q8_K] = encode_Q8_K,
};

bool joist_block_is_made(joist_block block) { return encoders[block] != NULL; }

size_t joist_block_encode(joist_block block, size_t n, const float *from, unsigned char *to) {
  const struct joist_block_facts *const facts = joist_block_facts(block);
  for (size_t k = 0; k < n; k++) {
    const float *const x = from + k * facts->elements;
    if (!isfinite(magnitude((int)facts->elements, x)) || !encoders[block](x, to + k * facts->bytes))
      return k;
  }
  return n;
}
