/* ulps.h: random arguments for tests of elementary functions of doubles, and the errors of
 * what they give. */
#ifndef JOIST_TESTS_ULPS_H
#define JOIST_TESTS_ULPS_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t random_bits(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static inline double random_unit(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

/* Every other one has any magnitude that fits. */
static inline double random_between(double low, double high) {
  const double even = low + random_unit() * (high - low);
  if (random_bits() >> 63) return even;
  double any;
  const uint64_t bits = random_bits();
  memcpy(&any, &bits, sizeof any);
  return any >= low && any <= high ? any : even;
}

/* valgrind, and some platforms, have no wider type to compare with. */
static inline double slack(void) {
  const volatile long double one = 1, small = 1e-18L;
  return one + small > one ? 0 : 1;
}

/* In units in the last place that the exact result has as a double. */
static inline double error_of(double got, long double want) {
  const double rounded = (double)want;
  if (isnan(got) || isnan(rounded)) return isnan(got) && isnan(rounded) ? 0 : INFINITY;
  if (isinf(got) || isinf(rounded)) return got == rounded ? 0 : INFINITY;
  int exponent;
  frexp(rounded, &exponent);
  if (exponent < -1021 || rounded == 0) exponent = -1021;
  return (double)fabsl(((long double)got - want) / ldexpl(1, exponent - 53));
}

#endif
