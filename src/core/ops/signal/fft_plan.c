#include "core/ops/signal/fft_plan.h"

#include <math.h>
#include <stdlib.h>

enum { WHOLE = 4096 }; /* so many powers are in one table, which spares products and roundings */

/* 2 pi, and what its double lacks. */
static const double TWO_PI = 6.283185307179586476925, TWO_PI_REST = 2.44929359829470635445e-16;

/* Taylor's coefficients of the sine, from the fifth power on, and of the cosine, from the fourth
 * on, last first. */
static const double SINE[] = {
    1 / 355687428096000.0, -1 / 1307674368000.0, 1 / 6227020800.0, -1 / 39916800.0,
    1 / 362880.0,          -1 / 5040.0,          1 / 120.0};
static const double COSINE[] = {
    -1 / 6402373705728000.0, 1 / 20922789888000.0, -1 / 87178291200.0, 1 / 479001600.0,
    -1 / 3628800.0,          1 / 40320.0,          -1 / 720.0,         1 / 24.0};

/* Cosine and sine of angle + rest, within an eighth of the circle. The powers of the first 17 bits
 * of it have no error, so only the last sums round what counts: by at most 0.55 units in the last
 * place. */
static void cosine_and_sine(double angle, double rest, double *cosine, double *sine) {
  const double split = 0x1.8p35, sixth = 1.0 / 6;
  const double high = (angle + split) - split, low = (angle - high) + rest;
  const double square = high * high, cube = square * high, x = square + low * (2 * high + low);
  const double half = square / 2, third = cube * sixth, c = 1 - half, s = high - third;
  const double third_rest = ((cube - 4 * third) - 2 * third) * sixth;
  double evens = COSINE[0], odds = SINE[0];
  for (size_t k = 1; k < sizeof COSINE / sizeof *COSINE; k++) evens = evens * x + COSINE[k];
  for (size_t k = 1; k < sizeof SINE / sizeof *SINE; k++) odds = odds * x + SINE[k];
  *cosine = c + (((1 - c) - half) + (x * x * evens - low * (high + low / 2)));
  *sine = s + (((high - s) - third) + (low + (x * x * angle * odds - third_rest -
                                              low * (square + low * (high + low / 3)) / 2)));
}

/* exp(-2 pi i k / n), by an angle within an eighth of the circle and what its rounding lost. */
static void turn_of(uint64_t k, uint64_t n, double *to) {
  uint64_t x = 8 * k;
  const bool lower = x >= 4 * n;
  if (lower) x = 8 * n - x;
  const bool left = x >= 2 * n;
  if (left) x -= 2 * n;
  const bool steep = x >= n;
  if (steep) x = 2 * n - x;
  const double part = (double)x / (double)(8 * n), angle = TWO_PI * part;
  const double rest = fma(-part, (double)(8 * n), (double)x) / (double)(8 * n);
  const double lost = fma(TWO_PI, part, -angle) + (TWO_PI_REST * part + TWO_PI * rest);
  double c, s;
  cosine_and_sine(angle, lost, &c, &s);
  if (steep) {
    const double before = c;
    c = s;
    s = before;
  }
  if (left) {
    const double before = c;
    c = -s;
    s = before;
  }
  to[0] = c;
  to[1] = lower ? s : -s;
}

bool joist_turns_make(size_t n, struct joist_turns *turns) {
  *turns = (struct joist_turns){.n = n, .bits = 0};
  const bool whole = n <= WHOLE;
  while (((size_t)1 << turns->bits << (whole ? 0 : turns->bits)) < n) turns->bits++;
  const size_t fine = (size_t)1 << turns->bits, coarse = n / fine + 1;
  turns->mask = fine - 1;
  turns->fine = malloc(2 * (fine + coarse) * sizeof(double));
  if (turns->fine == NULL) return false;
  turns->coarse = turns->fine + 2 * fine;
  for (size_t k = 0; k < fine; k++) turn_of(k % n, n, turns->fine + 2 * k);
  for (size_t k = 0; k < coarse; k++) turn_of((k << turns->bits) % n, n, turns->coarse + 2 * k);
  return true;
}

void joist_turns_free(struct joist_turns *turns) { free(turns->fine); }

void joist_turns_read(const struct joist_turns *turns, uint64_t k, double *to) {
  const double *const a = turns->coarse + 2 * (k >> turns->bits);
  const double *const b = turns->fine + 2 * (k & turns->mask);
  to[0] = a[0] * b[0] - a[1] * b[1];
  to[1] = a[0] * b[1] + a[1] * b[0];
}

/* The least prime factor of n beyond 1, if it has a pass; 0 otherwise. */
static unsigned small_factor(size_t n) {
  for (unsigned p = 2; p <= JOIST_FFT_RADIX_MAX; p++)
    if (n % p == 0) return p;
  return 0;
}

bool joist_fft_is_smooth(size_t n) {
  while (n > 1) {
    const unsigned p = small_factor(n);
    if (p == 0) return false;
    n /= p;
  }
  return true;
}

size_t joist_fft_smooth_from(size_t n) {
  for (;; n++) {
    size_t rest = n;
    for (unsigned p = 2; p <= 7; p++)
      while (rest % p == 0) rest /= p;
    if (rest == 1) return n;
  }
}

size_t joist_fft_divisor(size_t n) {
  size_t best = 1;
  for (size_t d = 2; d <= n / d; d++)
    if (n % d == 0) best = d;
  return best;
}

static unsigned factorize(size_t n, unsigned *factors) {
  unsigned count = 0;
  while (n % 8 == 0) {
    factors[count++] = 8;
    n /= 8;
  }
  if (n % 2 == 0 && n % 4 != 0 && count > 0) {
    factors[count - 1] = 4; /* 8 times 2 */
    n *= 2;
  }
  while (n % 4 == 0) {
    factors[count++] = 4;
    n /= 4;
  }
  while (n > 1) {
    factors[count] = small_factor(n);
    n /= factors[count++];
  }
  return count;
}

void joist_fft_put(void *table, bool wide, size_t k, double re, double im) {
  if (wide) {
    ((double *)table)[2 * k] = re;
    ((double *)table)[2 * k + 1] = im;
  } else {
    ((float *)table)[2 * k] = (float)re;
    ((float *)table)[2 * k + 1] = (float)im;
  }
}

static char *put_turns(const struct joist_turns *turns, const struct joist_fft_pass *pass,
                       bool wide, char *table) {
  const size_t others = pass->radix - 1;
  for (size_t i = 1; i < pass->after; i++)
    for (size_t j = 1; j <= others; j++) {
      double w[2];
      joist_turns_read(turns, (uint64_t)i * j * pass->before, w);
      joist_fft_put(table, wide, (i - 1) * others + j - 1, w[0], w[1]);
    }
  return table + (pass->after - 1) * others * (wide ? 16 : 8);
}

static char *put_roots(unsigned radix, bool wide, char *table) {
  for (unsigned k = 0; k < radix; k++) {
    double w[2];
    turn_of(k, radix, w);
    joist_fft_put(table, wide, k, w[0], w[1]);
  }
  return table + radix * (wide ? 16 : 8);
}

bool joist_fft_passes_make(size_t n, bool wide, struct joist_fft_passes *passes, void **memory) {
  unsigned factors[JOIST_FFT_PASSES_MAX];
  struct joist_turns turns;
  size_t room = 0, before = 1;
  *passes = (struct joist_fft_passes){.n = n, .count = factorize(n, factors)};
  for (unsigned p = 0; p < passes->count; p++) {
    room += factors[p] + n / before;
    before *= factors[p];
  }
  before = 1;
  *memory = malloc(2 * (room + 1) * sizeof(double));
  if (*memory == NULL || !joist_turns_make(n, &turns)) return false;
  char *table = *memory;
  for (unsigned p = 0; p < passes->count; p++) {
    struct joist_fft_pass *const pass = &passes->pass[p];
    pass->radix = factors[p];
    pass->before = before;
    before *= factors[p];
    pass->after = n / before;
    pass->twiddles = table;
    table = put_turns(&turns, pass, wide, table);
    pass->roots = table;
    table = put_roots(pass->radix, wide, table);
  }
  joist_turns_free(&turns);
  return true;
}
