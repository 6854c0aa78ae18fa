/* The f64 functions against the C library in long double, for every instruction set: errors in
 * units in the last place of the exact result, special values, exact powers, and the same bits
 * everywhere. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/kernels/kernels.h"
#include "references.h"
#include "sets.h"
#include "ulps.h"

enum { BATCH = 4096, BATCHES = 12 };

/* `low` and `high` bound the arguments; those over many magnitudes have either sign. */
static const struct {
  joist_op op;
  long double (*reference)(long double);
  double low, high;
} functions[] = {
    {JOIST_OP_EXP, expl, -745.2, 709.8},
    {JOIST_OP_EXP, expl, -1, 1},
    {JOIST_OP_EXPM1, expm1l, -40, 709.8},
    {JOIST_OP_EXPM1, expm1l, -1, 1},
    {JOIST_OP_EXPM1, expm1l, 0.34657, 0.37},
    {JOIST_OP_LOG, logl, 0, 3},
    {JOIST_OP_LOG, logl, 0, DBL_MAX},
    {JOIST_OP_LOG2, log2l, 0, 3},
    {JOIST_OP_LOG2, log2l, 0, DBL_MAX},
    {JOIST_OP_LOG10, log10l, 0, 3},
    {JOIST_OP_LOG10, log10l, 0, DBL_MAX},
    {JOIST_OP_LOG1P, log1pl, -1, 3},
    {JOIST_OP_LOG1P, log1pl, 0, DBL_MAX},
    {JOIST_OP_SIN, sinl, -10, 10},
    {JOIST_OP_SIN, sinl, -1e6, 1e6},
    {JOIST_OP_COS, cosl, -10, 10},
    {JOIST_OP_COS, cosl, -1e6, 1e6},
    {JOIST_OP_TAN, tanl, -10, 10},
    {JOIST_OP_TAN, tanl, -1e6, 1e6},
    {JOIST_OP_ATAN, atanl, -4, 4},
    {JOIST_OP_ATAN, atanl, -1e300, 1e300},
    {JOIST_OP_ASIN, asinl, -1, 1},
    {JOIST_OP_ASIN, asinl, 0.499, 0.501},
    {JOIST_OP_ASIN, asinl, 0.9999, 1},
    {JOIST_OP_ACOS, acosl, -1, 1},
    {JOIST_OP_ACOS, acosl, 0.499, 0.501},
    {JOIST_OP_ACOS, acosl, -0.501, -0.499},
    {JOIST_OP_ACOS, acosl, 0.9999, 1},
    {JOIST_OP_SINH, sinhl, -3, 3},
    {JOIST_OP_SINH, sinhl, -710.5, 710.5},
    {JOIST_OP_COSH, coshl, -3, 3},
    {JOIST_OP_COSH, coshl, -710.5, 710.5},
    {JOIST_OP_TANH, tanhl, -25, 25},
    {JOIST_OP_TANH, tanhl, -1, 1},
    {JOIST_OP_LOGISTIC, logisticl, -700, 50},
    {JOIST_OP_ASINH, asinhl, -3, 3},
    {JOIST_OP_ASINH, asinhl, 2e8, 4e8},
    {JOIST_OP_ASINH, asinhl, -DBL_MAX, DBL_MAX},
    {JOIST_OP_ACOSH, acoshl, 1, 1.001},
    {JOIST_OP_ACOSH, acoshl, 1, 5},
    {JOIST_OP_ACOSH, acoshl, 2e8, 4e8},
    {JOIST_OP_ACOSH, acoshl, 1, DBL_MAX},
    {JOIST_OP_ATANH, atanhl, -1, 1},
    {JOIST_OP_ATANH, atanhl, 0.249, 0.251},
    {JOIST_OP_ATANH, atanhl, 0.4, 0.5},
    {JOIST_OP_ATANH, atanhl, -1, -0.9999},
    {JOIST_OP_CBRT, cbrtl, -8, 8},
    {JOIST_OP_CBRT, cbrtl, -DBL_MAX, DBL_MAX},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void check_sample(const char *set) {
  static double x[BATCH], y[BATCH];
  const void *in[1] = {x};
  for (size_t f = 0; f < FUNCTIONS; f++) {
    joist_kernel *const kernel = joist_kernel_find(functions[f].op, JOIST_F64);
    double worst = 0, at = 0;
    for (int b = 0; b < BATCHES; b++) {
      for (size_t k = 0; k < BATCH; k++) x[k] = random_between(functions[f].low, functions[f].high);
      kernel(BATCH, in, y);
      for (size_t k = 0; k < BATCH; k++) {
        const double error = error_of(y[k], functions[f].reference((long double)x[k]));
        if (error > worst) worst = error, at = x[k];
      }
    }
    CHECK_MSG(worst <= joist_op_accuracy(functions[f].op).f64 + slack(), "%s %s(%a): %g ulp", set,
              joist_op_name(functions[f].op), at, worst);
  }
}

/* Next to multiples of pi / 2 nearly all bits of the argument cancel. */
static void check_cancellation(const char *set) {
  for (int n = 1; n < 500000; n += 7) {
    double x[3], y[3];
    const void *in[1] = {x};
    x[1] = (double)(n * 1.570796326794896619231321691639751442L);
    x[0] = nextafter(x[1], 0);
    x[2] = nextafter(x[1], INFINITY);
    joist_kernel_find(JOIST_OP_SIN, JOIST_F64)(3, in, y);
    double worst = 0;
    for (int k = 0; k < 3; k++) worst = fmax(worst, error_of(y[k], sinl((long double)x[k])));
    joist_kernel_find(JOIST_OP_COS, JOIST_F64)(3, in, y);
    for (int k = 0; k < 3; k++) worst = fmax(worst, error_of(y[k], cosl((long double)x[k])));
    CHECK_MSG(worst <= 1 + 1e9 * slack(), "%s near %d pi / 2: %g ulp", set, n, worst);
  }
}

static void check_special(const char *set) {
  static const double values[] = {
      0.0,       -0.0,      1.0,      -1.0,   INFINITY, -INFINITY, NAN,    5e-324, -5e-324, DBL_MIN,
      -DBL_MIN,  DBL_MAX,   -DBL_MAX, 709.78, 709.79,   710.4,     710.5,  -708.5, -745.1,  -745.2,
      -746,      0.5,       2,        8e5,    800001,   1e300,     -1e22,  3e-17,  -3e-17,  1e-8,
      1 - 1e-16, 1 + 1e-15, -0.5,     0.25,   -0.25,    0x1p28,    0x1p-28};
  enum { N = sizeof values / sizeof *values };
  for (size_t f = 0; f < FUNCTIONS; f++) {
    double y[N];
    const void *in[1] = {values};
    joist_kernel_find(functions[f].op, JOIST_F64)(N, in, y);
    for (size_t k = 0; k < N; k++) {
      const long double want = functions[f].reference((long double)values[k]);
      CHECK_MSG(error_of(y[k], want) <= joist_op_accuracy(functions[f].op).f64 + slack(),
                "%s %s(%g): want %Lg, got %g", set, joist_op_name(functions[f].op), values[k], want,
                y[k]);
      if (want == 0)
        CHECK_MSG(!signbit(y[k]) == !signbit(want), "%s %s(%g): sign of zero", set,
                  joist_op_name(functions[f].op), values[k]);
    }
  }
}

/* Functions that are x near 0 keep each x, subnormal ones, too. */
static void check_tiny(const char *set) {
  static const joist_op odd[] = {JOIST_OP_SIN,   JOIST_OP_TAN,  JOIST_OP_ASIN,  JOIST_OP_ATAN,
                                 JOIST_OP_SINH,  JOIST_OP_TANH, JOIST_OP_ASINH, JOIST_OP_ATANH,
                                 JOIST_OP_EXPM1, JOIST_OP_LOG1P};
  for (size_t f = 0; f < sizeof odd / sizeof *odd; f++)
    for (int n = -1074; n < -54; n++) {
      const double x[2] = {ldexp(1, n), -nextafter(ldexp(1, n), 1)};
      double y[2];
      const void *in[1] = {x};
      joist_kernel_find(odd[f], JOIST_F64)(2, in, y);
      CHECK_MSG(y[0] == x[0] && y[1] == x[1], "%s %s near 2^%d: %a, %a", set, joist_op_name(odd[f]),
                n, y[0], y[1]);
    }
}

static double power_of(double x, double y) {
  double z;
  const void *in[2] = {&x, &y};
  joist_kernel_find(JOIST_OP_POW, JOIST_F64)(1, in, &z);
  return z;
}

static void check_power(const char *set) {
  static const double special[] = {0.0,  -0.0,   1.0,     -1.0,           2.0,       0.5, 3.0, -2.0,
                                   -3.0, 5e-324, 1e300,   INFINITY,       -INFINITY, NAN, 0.1, -0.1,
                                   1e20, 1e-300, DBL_MAX, 1 + DBL_EPSILON};
  enum { N = sizeof special / sizeof *special };
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      const double z = power_of(special[i], special[j]), want = pow(special[i], special[j]);
      CHECK_MSG(error_of(z, (long double)want) <= 2, "%s pow(%g, %g): got %g, want %g", set,
                special[i], special[j], z, want);
    }
  for (int k = 0; k < 60000; k++) {
    const double x = random_between(0, k % 2 ? DBL_MAX : 10);
    const double y = (random_unit() * 2 - 1) * (k % 3 ? 20 : 750 / fabs(log(x)));
    /* powl() itself is accurate to a few ulps of long double. */
    const double error = error_of(power_of(x, y), powl((long double)x, (long double)y));
    CHECK_MSG(error <= joist_op_accuracy(JOIST_OP_POW).f64 + slack(), "%s pow(%a, %a): %g ulp", set,
              x, y, error);
  }
  /* Powers that a double holds are exact. */
  for (int base = 2; base < 500; base++) {
    double product = 1;
    for (int exponent = 0; product < 0x1p53; exponent++, product *= base) {
      const double z = power_of(base, exponent);
      CHECK_MSG(z == product, "%s %d^%d: %.17g", set, base, exponent, z);
    }
  }
}

static void check_exact(const char *set) {
  for (int n = -1074; n < 1024; n++) {
    const double x = ldexp(1, n);
    double y;
    const void *in[1] = {&x};
    joist_kernel_find(JOIST_OP_LOG2, JOIST_F64)(1, in, &y);
    CHECK_MSG(y == n, "%s log2(2^%d): %.17g", set, n, y);
  }
  double x = 1;
  for (int n = 0; n <= 22; n++, x *= 10) {
    double y;
    const void *in[1] = {&x};
    joist_kernel_find(JOIST_OP_LOG10, JOIST_F64)(1, in, &y);
    CHECK_MSG(y == n, "%s log10(1e%d): %.17g", set, n, y);
  }
}

/* Roots of whole numbers' cubes. */
static void check_cubes(const char *set) {
  for (int n = 1; n < 208063; n += 13) {
    const double x[2] = {(double)n * n * n, ldexp(-(double)n * n * n, -1074 + 3 * (n % 300))};
    double y[2];
    const void *in[1] = {x};
    joist_kernel_find(JOIST_OP_CBRT, JOIST_F64)(2, in, y);
    CHECK_MSG(y[0] == n && (n % 300 < 53 || y[1] == ldexp(-n, -358 + n % 300)),
              "%s cbrt(%d^3): %.17g, %a", set, n, y[0], y[1]);
  }
}

static void check_same_bits(const char *set) {
  static double x[BATCH], z[BATCH], ours[BATCH], generic[BATCH];
  const void *in[2] = {x, z};
  for (size_t f = 0; f <= FUNCTIONS; f++) {
    const bool power = f == FUNCTIONS;
    const joist_op op = power ? JOIST_OP_POW : functions[f].op;
    for (size_t k = 0; k < BATCH; k++) {
      x[k] =
          power ? random_between(0, DBL_MAX) : random_between(functions[f].low, functions[f].high);
      z[k] = random_between(-5, 5);
    }
    joist_kernel_find(op, JOIST_F64)(BATCH, in, ours);
    if (!joist_kernels_select("generic")) return;
    joist_kernel_find(op, JOIST_F64)(BATCH, in, generic);
    if (!joist_kernels_select(set)) return;
    size_t differences = 0;
    for (size_t k = 0; k < BATCH; k++)
      differences += memcmp(&ours[k], &generic[k], sizeof(double)) != 0 &&
                     !(isnan(ours[k]) && isnan(generic[k]));
    CHECK_MSG(differences == 0, "%s %s: %zu differ from generic", set, joist_op_name(op),
              differences);
  }
}

int main(void) {
  const char *sets[MAX_SETS];
  const int count = find_sets(sets);
  for (int k = 0; k < count; k++) {
    joist_kernels_select(sets[k]);
    check_sample(sets[k]);
    check_special(sets[k]);
    check_tiny(sets[k]);
    check_power(sets[k]);
    check_exact(sets[k]);
    check_cubes(sets[k]);
    check_same_bits(sets[k]);
    if (k == 0) check_cancellation(sets[k]);
  }
  return check_report("math_f64");
}
