/* sin, cos and tan of finite numbers of any size: the multiple of pi / 2 is found with as many
 * digits of 2 / pi as count (M. H. Payne and R. N. Hanek, Radian reduction for trigonometric
 * functions, SIGNUM Newsletter 18, 1983). One element at a time, for what the vector code leaves.
 */
#ifndef JOIST_CORE_KERNELS_LARGE_ANGLE_H
#define JOIST_CORE_KERNELS_LARGE_ANGLE_H

#include "core/kernels/element.h"
#include "core/kernels/math_f64.h"

/* 192 bits of 2 / pi from `bit` on, of which bit 64 has the weight 1/2. */
JOIST_DEVICE static inline void two_over_pi(unsigned bit, uint64_t part[3]) {
  static const uint64_t words[] = {0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
                                   0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
                                   0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                   0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
                                   0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
                                   0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
                                   0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
  const unsigned at = bit / 64, shift = bit % 64;
  for (unsigned k = 0; k < 3; k++) {
    const uint64_t next = shift == 0 ? 0 : words[at + k + 1] >> (64 - shift);
    part[k] = words[at + k] << shift | next;
  }
}

JOIST_DEVICE static inline unsigned leading_zeros(uint64_t x) {
  unsigned count = 0;
  for (unsigned step = 32; step > 0; step /= 2)
    if (x >> (64 - step) == 0) x <<= step, count += step;
  return count;
}

/* For x >= 1: x = n pi / 2 + r + low, |r| <= pi / 4; gives n modulo 4. */
JOIST_DEVICE static inline uint64_t reduce_large(double x, double *r, double *low) {
  const uint64_t bits = bits_of(x);
  const uint64_t m = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x0010000000000000);
  const int exponent = (int)(bits >> 52) - 1075; /* x = m 2^exponent */
  uint64_t w[3];
  two_over_pi((unsigned)(exponent + 62), w);
  /* m w modulo 2^192 is x 2 / pi modulo 4 in units of 2^-190. */
  const uint64_t first = m * w[2], middle = m * w[1] + product_high(m, w[2]);
  const uint64_t carry = product_high(m, w[1]) + (middle < m * w[1]);
  const uint64_t last = m * w[0] + carry;
  uint64_t high = last << 2 | middle >> 62, next = middle << 2 | first >> 62, rest = first << 2;
  const bool up = high >> 63;
  if (up) high = ~high, next = ~next, rest = ~rest; /* less than 2^-190 off */
  unsigned zeros = leading_zeros(high);
  if (zeros == 64) high = next, next = rest, zeros += leading_zeros(high);
  const unsigned shift = zeros % 64;
  if (shift > 0) high = high << shift | next >> (64 - shift), next = next << shift;
  const double scale = power_of_two(-53.0 - zeros), tail_scale = scale * 0x1p-53;
  const double part = (double)(high >> 11) * scale;
  const double tail = (double)((high & 2047) << 42 | next >> 22) * tail_scale;
  /* times pi / 2 in two doubles */
  const double p = leading_f64(part), q = part - p, c = 0x1.921fb5p+0, d = 0x1.110b46p-26;
  const double product = part * 0x1.921fb54442d18p+0;
  const double lost = ((p * c - product) + p * d + q * c) + q * d;
  const double sign = up ? -1.0 : 1.0,
               below = lost + (part * 0x1.1a62633145c07p-54 + tail * 1.5707963267948966);
  *r = sign * (product + below);
  *low = sign * ((product - (product + below)) + below);
  return (last >> 62) + up;
}

JOIST_DEVICE static inline double large_sin(double x) {
  double r, low;
  if (x - x != 0) return x - x;
  const uint64_t n = reduce_large(fabs(x), &r, &low);
  const double value = (n & 1) != 0 ? cos_of_f64(r, low) : sin_of_f64(r, low);
  return ((n & 2) != 0) != (x < 0) ? -value : value;
}

JOIST_DEVICE static inline double large_cos(double x) {
  double r, low;
  if (x - x != 0) return x - x;
  const uint64_t n = reduce_large(fabs(x), &r, &low) + 1;
  const double value = (n & 1) != 0 ? cos_of_f64(r, low) : sin_of_f64(r, low);
  return (n & 2) != 0 ? -value : value;
}

JOIST_DEVICE static inline double large_tan(double x) {
  double r, low;
  if (x - x != 0) return x - x;
  const uint64_t n = reduce_large(fabs(x), &r, &low);
  const double s = sin_of_f64(r, low), c = cos_of_f64(r, low);
  const double value = (n & 1) != 0 ? -c / s : s / c;
  return x < 0 ? -value : value;
}

#endif
