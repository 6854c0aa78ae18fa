/* Second operands that are one number over and over, for every instruction set: the powers with
 * formulas of their own against the C library in long double, whole powers and quotients of 32 and
 * 64 bits against C's own arithmetic, and the same bits whether neighbours have the same operand or
 * not. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/kernels/kernels.h"
#include "sets.h"
#include "ulps.h"

enum { N = 3000, MOST_BYTES = 8 };

static const double exponents[] = {1, -1, 2, -2, 3, -3, 0.5, -0.5, 0, 4, 2.5, -1.25};
enum { EXPONENTS = sizeof exponents / sizeof *exponents };

static const double specials[] = {0.0,     -0.0,     1,         -1,      2,        -3,      0.5,
                                  5e-324,  -5e-324,  1e-310,    DBL_MIN, 1e300,    -1e300,  DBL_MAX,
                                  FLT_MIN, FLT_MAX,  1e-45,     -1e-45,  0x1p-126, 0x1p127, 1e-160,
                                  1e160,   INFINITY, -INFINITY, NAN,     0x1p450,  0x1p-451};
enum { SPECIALS = sizeof specials / sizeof *specials };

/* ---- powers of floats ---- */

static double error_in_f32(float got, long double want) {
  return error_in((long double)got, want, (long double)(float)want, FLT_MANT_DIG, FLT_MIN_EXP);
}

static void fill_f64(double *x) {
  for (int i = 0; i < N; i++)
    x[i] = i % 100 == 7 ? specials[i / 100 % SPECIALS]
                        : random_between(i % 3 == 0 ? -DBL_MAX : 0, i % 2 ? DBL_MAX : 10);
  for (int i = 0; i < SPECIALS; i++) x[i] = specials[i];
}

static void check_powers(const char *set, double b) {
  static double x[N], y[N], z[N];
  static float xf[N], yf[N], zf[N];
  const void *in[] = {x, y}, *inf[] = {xf, yf};
  fill_f64(x);
  for (int i = 0; i < N; i++) {
    xf[i] = i < SPECIALS || i % 2 ? (float)x[i] : (float)(random_unit() * 10);
    y[i] = b;
    yf[i] = (float)b;
  }
  CHECK_INT(joist_kernel_find(JOIST_OP_POW, JOIST_F64)(N, in, z), N);
  CHECK_INT(joist_kernel_find(JOIST_OP_POW, JOIST_F32)(N, inf, zf), N);
  /* Zeros have the same sign as from powl(), which is accurate to a few ulps of long double. */
  const bool own = b == 1 || b == -1 || b == 2 || b == 0.5;
  for (int i = 0; i < N; i++) {
    const long double want = powl((long double)x[i], (long double)b);
    const double error = error_of(z[i], want);
    const double most = own || (b == 4 && z[i] >= DBL_MIN) ? 0.5 : b == 4 ? 0.75 : 1.5;
    CHECK_MSG(error <= most + 1e-3 + slack() && (z[i] != 0 || !signbit(z[i]) == !signbit(want)),
              "%s f64 %a^%g: %a, %g ulp", set, x[i], b, z[i], error);
    const long double wantf = powl((long double)xf[i], (long double)b);
    const double errorf = error_in_f32(zf[i], wantf);
    CHECK_MSG(errorf <= 0.51 && (zf[i] != 0 || !signbit(zf[i]) == !signbit(wantf)),
              "%s f32 %a^%g: %a, %g ulp", set, (double)xf[i], b, (double)zf[i], errorf);
  }
}

/* ---- the same bits ---- */

/* `same[k]` is of n elements x and the k-th operand, all in one call for each; mixed in another. */
static void check_bits(const char *set, joist_op op, joist_dtype dtype, const void *x,
                       const void *operands, int count) {
  const size_t size = joist_dtype_size(dtype);
  static char y[N * MOST_BYTES], mixed[N * MOST_BYTES], same[N * MOST_BYTES];
  joist_kernel *const kernel = joist_kernel_find(op, dtype);
  const void *in[] = {x, y};
  for (int i = 0; i < N; i++)
    memcpy(y + (size_t)i * size, (const char *)operands + (size_t)(i % count) * size, size);
  CHECK_INT(kernel(N, in, mixed), N);
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < N; i++)
      memcpy(y + (size_t)i * size, (const char *)operands + (size_t)k * size, size);
    CHECK_INT(kernel(N, in, same), N);
    joist_kernel *const by_number = joist_kernel_by_number_find(op, dtype);
    const void *number[] = {x, (const char *)operands + (size_t)k * size};
    char *const alone = malloc(N * size);
    if (!CHECK(by_number != NULL && alone != NULL)) exit(1);
    CHECK_INT(by_number(N, number, alone), N);
    CHECK_MSG(memcmp(alone, same, N * size) == 0, "%s %s of %s: another result by number %d", set,
              joist_op_name(op), joist_dtype_name(dtype), k);
    free(alone);
    for (int i = k; i < N; i += count)
      CHECK_MSG(memcmp(same + (size_t)i * size, mixed + (size_t)i * size, size) == 0,
                "%s %s of %s: element %d differs", set, joist_op_name(op), joist_dtype_name(dtype),
                i);
  }
  /* In place, and one at a time. */
  memcpy(mixed, x, N * size);
  const void *own[] = {mixed, y};
  CHECK_INT(kernel(N, own, mixed), N);
  CHECK_INT(memcmp(mixed, same, N * size), 0);
  for (int i = 0; i < N; i += 37) {
    const void *one[] = {(const char *)x + (size_t)i * size, y};
    char result[MOST_BYTES];
    CHECK_INT(kernel(1, one, result), 1);
    CHECK_INT(memcmp(result, same + (size_t)i * size, size), 0);
  }
}

static void check_float_bits(const char *set) {
  static double x[N];
  static float xf[N], exponentsf[EXPONENTS];
  fill_f64(x);
  for (int i = 0; i < N; i++) xf[i] = (float)x[i];
  for (int k = 0; k < EXPONENTS; k++) exponentsf[k] = (float)exponents[k];
  check_bits(set, JOIST_OP_POW, JOIST_F64, x, exponents, EXPONENTS);
  check_bits(set, JOIST_OP_POW, JOIST_F32, xf, exponentsf, EXPONENTS);
}

/* ---- integers ---- */

static void check_whole_powers(const char *set, joist_dtype dtype) {
  const size_t size = joist_dtype_size(dtype);
  static char x[N * MOST_BYTES], y[N * MOST_BYTES], z[N * MOST_BYTES];
  char several[6 * MOST_BYTES];
  for (size_t i = 0; i < N * size; i++) x[i] = (char)random_bits();
  for (uint64_t b = 0; b < 6; b++) {
    memcpy(several + b * size, whole_bytes(&b, size), size);
    const void *in[] = {x, y};
    for (size_t i = 0; i < N; i++) memcpy(y + i * size, whole_bytes(&b, size), size);
    CHECK_INT(joist_kernel_find(JOIST_OP_POW, dtype)(N, in, z), N);
    for (size_t i = 0; i < N; i++) {
      uint64_t value = 0, product = 1, got = 0;
      memcpy(whole_bytes(&value, size), x + i * size, size);
      memcpy(whole_bytes(&got, size), z + i * size, size);
      for (uint64_t k = 0; k < b; k++) product *= value;
      if (size < 8) product &= (UINT64_C(1) << 8 * size) - 1;
      CHECK_MSG(got == product, "%s %s: %llx^%llu", set, joist_dtype_name(dtype),
                (unsigned long long)value, (unsigned long long)b);
    }
  }
  check_bits(set, JOIST_OP_POW, dtype, x, several, 6);
}

static uint64_t some_divisor(int k) {
  if (k < 130) return k % 2 ? (UINT64_C(1) << k / 2 % 64) : (UINT64_C(1) << k / 2 % 64) - 1;
  if (k < 195) return (UINT64_C(1) << k % 64) + 1;
  return random_bits() >> k % 64;
}

/* Floor, of C's quotient, which truncates. */
static int64_t floor_of(int64_t a, int64_t b) {
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static void check_quotients(const char *set) {
  static uint64_t x[N], y[N], quotient[N], rest[N];
  const void *in[] = {x, y};
  static const uint64_t extremes[] = {0,
                                      1,
                                      2,
                                      UINT64_MAX,
                                      UINT64_MAX - 1,
                                      INT64_MAX,
                                      (uint64_t)INT64_MAX + 1,
                                      (uint64_t)INT64_MAX + 2};
  for (int k = 0; k < 600; k++) {
    const uint64_t d = some_divisor(k);
    if (d == 0) continue;
    for (size_t i = 0; i < N; i++) {
      x[i] = i < 8      ? extremes[i]
             : i < 1000 ? random_bits() >> i % 64
                        : d * (random_bits() >> i % 64);
      x[i] -= i % 3 == 0 && i > 1000;
      y[i] = d;
    }
    CHECK_INT(joist_kernel_find(JOIST_OP_FLOORDIV, JOIST_UI64)(N, in, quotient), N);
    CHECK_INT(joist_kernel_find(JOIST_OP_MOD, JOIST_UI64)(N, in, rest), N);
    for (size_t i = 0; i < N; i++)
      CHECK_MSG(quotient[i] == x[i] / d && rest[i] == x[i] % d, "%s %llu and %llu", set,
                (unsigned long long)x[i], (unsigned long long)d);
    const int64_t s = (int64_t)d;
    CHECK_INT(joist_kernel_find(JOIST_OP_FLOORDIV, JOIST_I64)(N, in, quotient), N);
    CHECK_INT(joist_kernel_find(JOIST_OP_MOD, JOIST_I64)(N, in, rest), N);
    for (size_t i = 0; i < N; i++) {
      const int64_t a = (int64_t)x[i], want = floor_of(a, s);
      CHECK_MSG((int64_t)quotient[i] == want && rest[i] == x[i] - (uint64_t)want * d,
                "%s %lld and %lld", set, (long long)a, (long long)s);
    }
  }
}

static void check_short_quotients(const char *set) {
  static uint32_t x[N], y[N], quotient[N], rest[N];
  const void *in[] = {x, y};
  static const uint32_t extremes[] = {
      0, 1, 2, UINT32_MAX, UINT32_MAX - 1, INT32_MAX, (uint32_t)INT32_MAX + 1, INT32_MAX - 1};
  for (int k = 0; k < 600; k++) {
    const uint32_t d = (uint32_t)some_divisor(k);
    if (d == 0) continue;
    for (size_t i = 0; i < N; i++) {
      const uint32_t random = (uint32_t)random_bits() >> i % 32;
      x[i] = (i < 8 ? extremes[i] : i < 1000 ? random : d * random) - (i % 3 == 0 && i > 1000);
      y[i] = d;
    }
    CHECK_INT(joist_kernel_find(JOIST_OP_FLOORDIV, JOIST_UI32)(N, in, quotient), N);
    CHECK_INT(joist_kernel_find(JOIST_OP_MOD, JOIST_UI32)(N, in, rest), N);
    for (size_t i = 0; i < N; i++)
      CHECK_MSG(quotient[i] == x[i] / d && rest[i] == x[i] % d, "%s %u and %u", set, x[i], d);
    const int32_t s = (int32_t)d;
    CHECK_INT(joist_kernel_find(JOIST_OP_FLOORDIV, JOIST_I32)(N, in, quotient), N);
    CHECK_INT(joist_kernel_find(JOIST_OP_MOD, JOIST_I32)(N, in, rest), N);
    for (size_t i = 0; i < N; i++) {
      const int64_t a = (int32_t)x[i], want = floor_of(a, s);
      CHECK_MSG(quotient[i] == (uint32_t)want && rest[i] == (uint32_t)(a - want * s),
                "%s %d and %d", set, (int)a, s);
    }
  }
}

int main(void) {
  const char *sets[MAX_SETS];
  const int count = find_sets(sets);
  for (int k = 0; k < count; k++) {
    if (!CHECK(joist_kernels_select(sets[k]))) continue;
    for (int e = 0; e < EXPONENTS; e++) check_powers(sets[k], exponents[e]);
    check_float_bits(sets[k]);
    for (int d = JOIST_I8; d <= JOIST_UI64; d++) check_whole_powers(sets[k], (joist_dtype)d);
    check_quotients(sets[k]);
    check_short_quotients(sets[k]);
  }
  return check_report("uniform");
}
