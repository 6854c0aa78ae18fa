/* ulps.h: random arguments for tests of elementary functions of doubles, and the errors of
 * what they give. */
#ifndef JOIST_TESTS_ULPS_H
#define JOIST_TESTS_ULPS_H

#include <float.h>
#include <math.h>

#include "patterns.h"

static inline double random_unit(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

/* Every other one has any magnitude that fits. */
static inline double random_between(double low, double high) {
  const double even = low + random_unit() * (high - low);
  if (random_bits() >> 63) return even;
  const double any = double_of(random_bits());
  return any >= low && any <= high ? any : even;
}

/* valgrind, and some platforms, have no wider type to compare with. */
static inline double slack(void) {
  const volatile long double one = 1, small = 1e-18L;
  return one + small > one ? 0 : 1;
}

/* In units in the last place that the exact result has in a format of so many digits, where it is
 * `rounded`; `least` is the exponent of the smallest normal number as frexp() gives it. */
static inline double error_in(long double got, long double want, long double rounded, int digits,
                              int least) {
  if (isnan(got) || isnan(rounded)) return isnan(got) && isnan(rounded) ? 0 : INFINITY;
  if (isinf(want) || (isinf(rounded) && isinf(got))) return got == rounded ? 0 : INFINITY;
  /* The largest for what is just beyond the range: in its units. */
  if (isinf(rounded)) rounded = got;
  /* Infinite for what is just within the range: as the number that would come next. */
  if (isinf(got)) got = copysignl(ldexpl(1, 3 - least), got);
  int exponent;
  frexpl(rounded, &exponent);
  if (exponent < least || rounded == 0) exponent = least;
  return (double)fabsl((got - want) / ldexpl(1, exponent - digits));
}

static inline double error_of(double got, long double want) {
  return error_in((long double)got, want, (long double)(double)want, DBL_MANT_DIG, DBL_MIN_EXP);
}

#endif
