/* atan2 of f64, and what is made of the parts of complex numbers (abs, arg, sign), against the
 * C library in long double, for every instruction set: errors in units in the last place,
 * C's special values (C11, annex F and G), exact results, and the same bits everywhere. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "core/kernels/kernels.h"
#include "sets.h"
#include "ulps.h"

enum { BATCH = 4096, BATCHES = 20, PAIRS = 6 };
static const double infinity = INFINITY;

/* Pairs of like size, of any, of small ratios, where sums of squares overflow, where they are
 * subnormal, and around the ratios at which the reduction changes. */
static void make_pair(int kind, double *y, double *x) {
  static const double ratios[] = {0.375, 0.5, 0.75, 1, 4.0 / 3, 8.0 / 3};
  const double most = kind == 3 ? DBL_MAX : kind == 4 ? 0x1p-1000 : 1;
  *x = kind == 1 ? random_between(-DBL_MAX, DBL_MAX) : (2 * random_unit() - 1) * most;
  *y = kind == 1 ? random_between(-DBL_MAX, DBL_MAX) : (2 * random_unit() - 1) * most;
  if (kind == 2) *y = *x * ldexp(1 + random_unit() * 1e-3, (int)(random_bits() >> 58) - 32);
  if (kind == 4) *x = ldexp(*x, -(int)(random_bits() >> 58));
  if (kind == 5) *y = *x * ratios[random_bits() % 6] * (1 + 1e-9 * random_unit());
}

static double atan2_of(double y, double x) {
  double z;
  const void *in[2] = {&y, &x};
  joist_kernel_find(JOIST_OP_ATAN2, JOIST_F64)(1, in, &z);
  return z;
}

static double part_of(joist_op op, double re, double im) {
  const double parts[2] = {re, im};
  double z;
  const void *in[1] = {parts};
  joist_kernel_find(op, JOIST_C128)(1, in, &z);
  return z;
}

static bool same(double a, double b) {
  return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static void check_sample(const char *set) {
  static double y[BATCH], x[BATCH], angle[BATCH], parts[2 * BATCH], size[BATCH], turn[BATCH];
  const void *pair[2] = {y, x}, *both[1] = {parts};
  for (int b = 0; b < BATCHES * PAIRS; b++) {
    double worst = 0, worst_size = 0, size_at[2] = {0, 0}, at[2] = {0, 0};
    for (size_t k = 0; k < BATCH; k++) {
      make_pair(b % PAIRS, &y[k], &x[k]);
      parts[2 * k] = x[k], parts[2 * k + 1] = y[k];
    }
    joist_kernel_find(JOIST_OP_ATAN2, JOIST_F64)(BATCH, pair, angle);
    joist_kernel_find(JOIST_OP_ABS, JOIST_C128)(BATCH, both, size);
    joist_kernel_find(JOIST_OP_ARG, JOIST_C128)(BATCH, both, turn);
    for (size_t k = 0; k < BATCH; k++) {
      const double error = error_of(angle[k], atan2l((long double)y[k], (long double)x[k]));
      const double off = error_of(size[k], hypotl((long double)x[k], (long double)y[k]));
      if (error > worst) worst = error, at[0] = y[k], at[1] = x[k];
      if (off > worst_size) worst_size = off, size_at[0] = x[k], size_at[1] = y[k];
    }
    CHECK_MSG(worst <= 1 + slack(), "%s atan2(%a, %a): %g ulp", set, at[0], at[1], worst);
    CHECK_MSG(worst_size <= 1 + slack(), "%s abs(%a + %ai): %g ulp", set, size_at[0], size_at[1],
              worst_size);
    CHECK_MSG(memcmp(angle, turn, sizeof angle) == 0, "%s arg is not atan2", set);
  }
}

/* C leaves no special value of these open but the sign of NaN. */
static void check_special(const char *set) {
  static const double special[] = {0.0,   -0.0,    1.0,      -1.0,     2.0,       0.375,   -0.5,
                                   0.75,  3.0,     5e-324,   -5e-324,  DBL_MIN,   DBL_MAX, -DBL_MAX,
                                   1e300, -1e-300, 0x1p1000, 0x1p-900, 0x1p500,   0x1p600, 0x1p-400,
                                   NAN,   1e-310,  1e10,     INFINITY, -INFINITY, -NAN};
  enum { N = sizeof special / sizeof *special };
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      const double a = special[i], b = special[j], angle = atan2_of(a, b);
      const double want = atan2(a, b), size = part_of(JOIST_OP_ABS, a, b);
      CHECK_MSG(error_of(angle, atan2l((long double)a, (long double)b)) <= 1 + slack() &&
                    (want != 0 || same(angle, want)),
                "%s atan2(%g, %g): got %g, want %g", set, a, b, angle, want);
      CHECK_MSG(
          error_of(size, hypotl((long double)a, (long double)b)) <= 1 + slack() && !signbit(size),
          "%s abs(%g + %gi): got %g", set, a, b, size);
      if (isinf(a) || isinf(b)) CHECK_MSG(size == infinity, "%s abs(%g + %gi)", set, a, b);
    }
}

static void check_exact(const char *set) {
  const double pi = 3.14159265358979323846;
  for (int n = -1070; n < 1020; n++) {
    const double x = ldexp(1, n);
    CHECK_MSG(part_of(JOIST_OP_ABS, 3 * x, -4 * x) == 5 * x &&
                  part_of(JOIST_OP_ABS, -21 * x, 20 * x) == 29 * x,
              "%s abs of (3 - 4i) 2^%d", set, n);
    CHECK_MSG(part_of(JOIST_OP_ABS, 0, -x) == x && part_of(JOIST_OP_ABS, -x, 5e-324) >= x,
              "%s abs of -2^%d i", set, n);
    CHECK_MSG(atan2_of(x, x) == pi / 4 && atan2_of(-x, x) == -pi / 4 &&
                  atan2_of(x, -x) == 3 * pi / 4 && atan2_of(x, 0) == pi / 2 &&
                  atan2_of(-0.0, -x) == -pi,
              "%s atan2 of 2^%d", set, n);
  }
}

/* z / |z| has that angle and size. */
static void check_sign(const char *set) {
  for (int k = 0; k < 20000; k++) {
    double z[2], unit[2];
    const void *in[1] = {z};
    make_pair(k % 2 ? 0 : 2, &z[0], &z[1]);
    joist_kernel_find(JOIST_OP_SIGN, JOIST_C128)(1, in, unit);
    const long double size = hypotl((long double)z[0], (long double)z[1]);
    const double re = error_of(unit[0], (long double)z[0] / size);
    const double im = error_of(unit[1], (long double)z[1] / size);
    CHECK_MSG(re <= 2.5 + slack() && im <= 2.5 + slack(), "%s sign(%a + %ai): %g, %g ulp", set,
              z[0], z[1], re, im);
  }
}

/* Of every operation here, on f64 and c128 and on f32 and c64. */
static void check_same_bits(const char *set) {
  static const joist_op ops[] = {JOIST_OP_ATAN2, JOIST_OP_ABS, JOIST_OP_ARG, JOIST_OP_SIGN};
  static double wide[2][2 * BATCH], ours[2 * BATCH], generic[2 * BATCH];
  static float narrow[2][2 * BATCH];
  for (int kind = 0; kind < PAIRS; kind++)
    for (size_t f = 0; f < 2 * sizeof ops / sizeof *ops; f++) {
      const joist_op op = ops[f / 2];
      const bool real = op == JOIST_OP_ATAN2;
      for (size_t k = 0; k < 2 * BATCH; k++) {
        make_pair(kind, &wide[0][k], &wide[1][k]);
        narrow[0][k] = (float)wide[0][k], narrow[1][k] = (float)wide[1][k];
      }
      const joist_dtype dtype =
          f % 2 ? (real ? JOIST_F32 : JOIST_C64) : (real ? JOIST_F64 : JOIST_C128);
      const void *in[2] = {f % 2 ? (const void *)narrow[0] : wide[0],
                           f % 2 ? (const void *)narrow[1] : wide[1]};
      const size_t bytes =
          BATCH * joist_dtype_size(op == JOIST_OP_SIGN ? dtype : joist_dtype_real(dtype));
      joist_kernel_find(op, dtype)(BATCH, in, ours);
      if (!joist_kernels_select("generic")) return;
      joist_kernel_find(op, dtype)(BATCH, in, generic);
      if (!joist_kernels_select(set)) return;
      CHECK_MSG(memcmp(ours, generic, bytes) == 0, "%s %s of %s differs from generic", set,
                joist_op_name(op), joist_dtype_name(dtype));
    }
}

static void check_single(const char *set) {
  for (int k = 0; k < 300000; k++) {
    double a, b;
    make_pair(k % 3, &a, &b);
    float z[2] = {(float)a, (float)b}, size, angle;
    if (k % 3 == 1)
      z[0] = ldexpf(z[0] == 0 ? 1 : 0x1.8p0f, k % 250 - 140), z[1] = z[0] * (float)(k % 7);
    const void *in[1] = {z};
    joist_kernel_find(JOIST_OP_ABS, JOIST_C64)(1, in, &size);
    joist_kernel_find(JOIST_OP_ARG, JOIST_C64)(1, in, &angle);
    const float want = (float)hypot((double)z[0], (double)z[1]);
    const float turn = (float)atan2((double)z[1], (double)z[0]);
    CHECK_MSG(size >= nextafterf(want, 0) && size <= nextafterf(want, INFINITY),
              "%s abs of c64 (%a, %a): %a, want %a", set, (double)z[0], (double)z[1], (double)size,
              (double)want);
    CHECK_MSG(angle >= nextafterf(turn, -4) && angle <= nextafterf(turn, 4),
              "%s arg of c64 (%a, %a): %a, want %a", set, (double)z[0], (double)z[1], (double)angle,
              (double)turn);
  }
  static const float special[] = {0.0f,  -0.0f, 1.0f,     -1.0f,    1e-45f,
                                  3e38f, NAN,   INFINITY, -INFINITY};
  enum { N = sizeof special / sizeof *special };
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      const float z[2] = {special[i], special[j]};
      float size;
      const void *in[1] = {z};
      joist_kernel_find(JOIST_OP_ABS, JOIST_C64)(1, in, &size);
      CHECK_MSG(same((double)size, (double)(float)hypot((double)z[0], (double)z[1])),
                "%s abs of c64 (%g, %g): %g", set, (double)z[0], (double)z[1], (double)size);
    }
}

int main(void) {
  const char *sets[MAX_SETS];
  const int count = find_sets(sets);
  for (int k = 0; k < count; k++) {
    joist_kernels_select(sets[k]);
    check_sample(sets[k]);
    check_special(sets[k]);
    check_exact(sets[k]);
    check_sign(sets[k]);
    check_single(sets[k]);
    check_same_bits(sets[k]);
  }
  return check_report("inverse_f64");
}
