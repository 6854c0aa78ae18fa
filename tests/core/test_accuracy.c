/* Every elementwise function of floats is as exact as ops.def says.
 *
 *   test_accuracy                              a sample of the floats
 *   test_accuracy STRIDE COUNT [operation]     every STRIDE-th float, COUNT arguments of f64
 *   make accuracy                              every float, 10^7 arguments of f64
 *
 * f32 is compared with the C library in double, f64 in long double, and the bits of f32 with those
 * of the generic kernels, which have no fused multiply-add. Each function has a line in the output,
 * which bench/accuracy.Rmd reads: its largest errors in units in the last place, and where they
 * are. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/kernels/kernels.h"
#include "references.h"
#include "sets.h"
#include "ulps.h"

enum { BATCH = 4096 };

/* ---- what is measured ---- */

/* clang-format off */
#define FUNCTIONS(X) \
  X(EXP, exp) X(EXPM1, expm1) X(LOG, log) X(LOG2, log2) X(LOG10, log10) X(LOG1P, log1p) \
  X(SIN, sin) X(COS, cos) X(TAN, tan) X(ASIN, asin) X(ACOS, acos) X(ATAN, atan) \
  X(SINPI, sin_pi) X(COSPI, cos_pi) X(TANPI, tan_pi) \
  X(SINH, sinh) X(COSH, cosh) X(TANH, tanh) X(ASINH, asinh) X(ACOSH, acosh) X(ATANH, atanh) \
  X(SQRT, sqrt) X(RSQRT, rsqrt) X(CBRT, cbrt) X(LOGISTIC, logistic) \
  X(ERF, erf) X(ERFC, erfc) X(GAMMA, gamma_or_nan) X(LGAMMA, lgamma) X(DIGAMMA, digamma)
/* clang-format on */

/* The loops are a function's own, so that its calls are direct. */
#define LOOPS(OP, NAME)                                               \
  static void narrow_##OP(size_t n, const float *x, double *y) {      \
    for (size_t k = 0; k < n; k++) y[k] = NAME((double)x[k]);         \
  }                                                                   \
  static void wide_##OP(size_t n, const double *x, long double *y) {  \
    for (size_t k = 0; k < n; k++) y[k] = NAME##l((long double)x[k]); \
  }
FUNCTIONS(LOOPS)

static const struct function {
  joist_op op;
  void (*narrow)(size_t n, const float *x, double *y);
  void (*wide)(size_t n, const double *x, long double *y);
} functions[] = {
#define ENTRY(OP, NAME) {JOIST_OP_##OP, narrow_##OP, wide_##OP},
    FUNCTIONS(ENTRY)};
enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

struct worst {
  double error, at, and;
  size_t differ; /* from the bits of the generic kernel */
};

static void note(struct worst *worst, double error, double at, double and) {
  if (error > worst->error) *worst = (struct worst){error, at, and, worst->differ};
}

/* IEEE 754 rounds what has no line in ops.def. */
static double bound_of(double stated) { return stated == 0 ? 0.5 : stated; }

/* What the references themselves may be off, as a share of an ulp. */
static double reference_slack(bool narrow) { return narrow ? 1e-6 : 0.01 + 4096 * slack(); }

static void report(const char *set, joist_op op, const char *dtype, struct worst worst,
                   double stated, bool narrow) {
  const double bound = bound_of(stated);
  printf("%-8s %-4s %-8s %.4f of %.4g at %a", joist_op_name(op), dtype, set, worst.error, bound,
         worst.at);
  if (worst.and != 0) printf(", %a", worst.and);
  printf("\n");
  fflush(stdout);
  CHECK_MSG(worst.error <= bound + reference_slack(narrow), "%s %s %s(%a, %a): %g ulp, not %g", set,
            dtype, joist_op_name(op), worst.at, worst.and, worst.error, bound);
}

/* An error in units of `want`, in those that ops.def has for negative operands. */
static double in_units(joist_unit unit, double x, double error, long double want) {
  if (unit == JOIST_UNIT_OWN || !(x < 0) || !isfinite(error)) return error;
  const double least = unit == JOIST_UNIT_LOG ? fmax(1, log(-x)) : 1;
  if (fabsl(want) >= (long double)least) return error;
  int own, other;
  frexpl(want, &own), frexp(least, &other);
  return ldexp(error, own - other);
}

/* ---- f32, all of them ---- */

/* As error_in(), by the bits of the exponent. */
static double error_of_float(float got, double want) {
  const float rounded = (float)want;
  if (!(fabsf(rounded) <= FLT_MAX) || !(fabsf(got) <= FLT_MAX))
    return isnan(got)       ? (isnan(rounded) ? 0 : (double)INFINITY)
           : got == rounded ? 0
                            : (double)INFINITY;
  uint64_t exponent = bits_of_double((double)rounded) >> 52 & 2047;
  if (exponent < 1023 - 126) exponent = 1023 - 126;
  return fabs((double)got - want) * double_of((2046 + 23 - exponent) << 52);
}

/* What is correctly rounded is not looked at. */
static struct worst worst_floats(const struct function *f, joist_kernel *kernel,
                                 joist_kernel *generic, uint64_t from, uint64_t to,
                                 uint64_t stride) {
  const joist_unit unit = joist_op_accuracy(f->op).below;
  struct worst worst = {.error = 0.5};
  float x[BATCH], y[BATCH], other[BATCH];
  double want[BATCH];
  for (uint64_t bits = from; bits < to;) {
    size_t n = 0;
    for (; n < BATCH && bits < to; bits += stride) x[n++] = float_of((uint32_t)bits);
    const void *in[1] = {x};
    kernel(n, in, y);
    generic(n, in, other);
    f->narrow(n, x, want);
    for (size_t k = 0; k < n; k++)
      worst.differ += bits_of_float(y[k]) != bits_of_float(other[k]) && !isnan(y[k]);
    for (size_t k = 0; k < n; k++)
      if (y[k] != (float)want[k]) {
        const double error = error_of_float(y[k], want[k]);
        note(&worst, in_units(unit, (double)x[k], error, (long double)want[k]), (double)x[k], 0);
      }
  }
  return worst;
}

static void check_floats(const char *set, const struct function *f, uint64_t stride) {
  joist_kernels_select("generic");
  joist_kernel *const generic = joist_kernel_find(f->op, JOIST_F32);
  joist_kernels_select(set);
  joist_kernel *const kernel = joist_kernel_find(f->op, JOIST_F32);
  struct worst worst = {0};
  enum { PARTS = 1024 };
  const uint64_t part = (UINT64_C(1) << 32) / PARTS;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic)
#endif
  for (int p = 0; p < PARTS; p++) {
    const uint64_t from = (uint64_t)p * part;
    const struct worst own = worst_floats(f, kernel, generic, from, from + part, stride);
#ifdef _OPENMP
#pragma omp critical
#endif
    {
      note(&worst, own.error, own.at, own.and);
      worst.differ += own.differ;
    }
  }
  CHECK_MSG(worst.differ == 0, "%s %s: %zu differ from generic", set, joist_op_name(f->op),
            worst.differ);
  report(set, f->op, "f32", worst, joist_op_accuracy(f->op).f32, true);
}

/* ---- f64 where errors are large ---- */

static double few_steps(double x) {
  return double_of(bits_of_double(x) + (random_bits() >> 59) - 16);
}

static double any_sign(double x) { return random_bits() >> 63 ? x : -x; }

/* Where formulas change, overflow and underflow, and what is nearest to a multiple of pi / 2. */
static double threshold(void) {
  static const double values[] = {0.5,
                                  1,
                                  1.5,
                                  2,
                                  2.5,
                                  0.41421356237309503,
                                  2.414213562373095,
                                  0.46875,
                                  0.70710678118654757,
                                  1.4142135623730951,
                                  3.75,
                                  5.921587,
                                  20,
                                  22,
                                  26.54,
                                  27.22,
                                  36.7,
                                  40,
                                  50,
                                  88.72,
                                  103.97,
                                  171.6243,
                                  170.5,
                                  178.5,
                                  184.5,
                                  350,
                                  700,
                                  708.39,
                                  709.09,
                                  709.78271289338397,
                                  710.47586007394386,
                                  745.13,
                                  750,
                                  800000,
                                  100000,
                                  0x1p27,
                                  0x1p28,
                                  0x1p-27,
                                  0x1p-28,
                                  0x1p-54,
                                  0x1p53,
                                  0x1p54,
                                  0x1p60,
                                  6381956970095103 * 0x1p797,
                                  1.6,
                                  1.4616321449683622,
                                  2.4142,
                                  0.7853981633974483,
                                  0.25,
                                  0.75,
                                  DBL_MIN,
                                  DBL_MAX,
                                  0x1p-500,
                                  0x1p500,
                                  0.34657359027997264,
                                  1.0397207708399179,
                                  2.55e305};
  return values[random_bits() % (sizeof values / sizeof *values)];
}

static double adversary(void) {
  switch (random_bits() >> 60) {
    case 0:
    case 1:
      return double_of(random_bits());
    case 2:
      return few_steps(any_sign(ldexp(1, (int)(random_bits() % 2098) - 1074)));
    case 3:
      return few_steps((double)((long double)(random_bits() >> (24 + random_bits() % 40)) *
                                1.570796326794896619231321691639751442L));
    case 4:
    case 5:
      return few_steps(any_sign(threshold()));
    case 6:
      return any_sign(double_of(random_bits() >> 12)); /* subnormal */
    case 7:
    case 8:
      return any_sign(random_unit());
    case 9:
      return any_sign(1 - ldexp(random_unit(), -(int)(random_bits() % 53)));
    case 10:
      return any_sign(1 + ldexp(random_unit(), -(int)(random_bits() % 53)));
    case 11:
      return any_sign(40 * random_unit());
    case 12:
      return any_sign(800 * random_unit());
    case 13:
      return any_sign(exp2(2 * random_unit() - 1));
    case 14: /* near a whole number */
      return any_sign((double)(random_bits() >> 56) +
                      ldexp(random_unit(), -(int)(random_bits() % 53)));
    default:
      return any_sign(4 * random_unit());
  }
}

static void check_doubles(const char *set, const struct function *f, long count) {
  const struct joist_accuracy stated = joist_op_accuracy(f->op);
  static double x[BATCH], y[BATCH];
  static long double want[BATCH];
  const void *in[1] = {x};
  struct worst worst = {0}, below = {0};
  for (long done = 0; done < count; done += BATCH) {
    for (size_t k = 0; k < BATCH; k++) x[k] = adversary();
    joist_kernel_find(f->op, JOIST_F64)(BATCH, in, y);
    f->wide(BATCH, x, want);
    for (size_t k = 0; k < BATCH; k++) {
      const double error = want[k] == 0 ? error_of(1 + y[k], 1) : error_of(y[k], want[k]);
      note(x[k] < 0 ? &below : &worst, in_units(stated.below, x[k], error, want[k]), x[k], 0);
    }
  }
  report(set, f->op, "f64", worst, stated.f64, false);
  report(set, f->op, "f64-", below, stated.f64_below, false);
}

/* ---- of two operands ---- */

static void make_pair(double *a, double *b) {
  *a = adversary(), *b = adversary();
  if (random_bits() & 1)
    *b = few_steps(*a * ldexp(1 + random_unit(), (int)(random_bits() >> 58) - 32));
}

static void make_power(double *a, double *b) {
  *a = fabs(adversary());
  *b = random_bits() & 1 ? adversary() : any_sign(750 * random_unit()) / fabs(log(*a));
  if (!(random_bits() & 7)) *b = (double)(random_bits() >> 58) / 4 - 8;
}

static long double modulusl(long double y, long double x) { return hypotl(y, x); }

static const struct pair {
  joist_op op;
  joist_dtype narrow, wide;
  void (*make)(double *a, double *b);
  long double (*reference)(long double, long double);
} pairs[] = {
    {JOIST_OP_POW, JOIST_F32, JOIST_F64, make_power, powl},
    {JOIST_OP_ATAN2, JOIST_F32, JOIST_F64, make_pair, atan2l},
    {JOIST_OP_ABS, JOIST_C64, JOIST_C128, make_pair, modulusl},
    {JOIST_OP_ARG, JOIST_C64, JOIST_C128, make_pair, atan2l},
};

/* The real part is the second argument of atan2(). */
static void check_pairs(const char *set, const struct pair *p, long count) {
  const struct joist_accuracy stated = joist_op_accuracy(p->op);
  const bool parts = p->narrow == JOIST_C64;
  struct worst wide = {0}, narrow = {0};
  for (long k = 0; k < count; k++) {
    double a, b, z;
    p->make(&a, &b);
    const float af = (float)a, bf = (float)b;
    const double both[2] = {b, a};
    const float bothf[2] = {bf, af};
    const void *in[2] = {parts ? (const void *)both : &a, &b};
    const void *inf[2] = {parts ? (const void *)bothf : &af, &bf};
    float zf;
    joist_kernel_find(p->op, p->wide)(1, in, &z);
    joist_kernel_find(p->op, p->narrow)(1, inf, &zf);
    note(&wide, error_of(z, p->reference((long double)a, (long double)b)), a, b);
    note(&narrow, error_of_float(zf, (double)p->reference((long double)af, (long double)bf)),
         (double)af, (double)bf);
  }
  report(set, p->op, "f64", wide, stated.f64, false);
  report(set, p->op, "f32", narrow, stated.f32, true);
}

int main(int count, char **arguments) {
  const uint64_t stride = count > 2 ? strtoull(arguments[1], NULL, 10) : 30011;
  const long doubles = count > 2 ? strtol(arguments[2], NULL, 10) : 50000;
  const char *const only = count > 3 ? arguments[3] : NULL;
  const char *sets[MAX_SETS];
  const int found = find_sets(sets);
  const char *const set = sets[found - 1];
  joist_kernels_select(set);
  printf("tried: %.0f %ld %s\n", (double)stride, doubles, set);
  for (size_t f = 0; f < FUNCTION_COUNT; f++) {
    if (only != NULL && strcmp(only, joist_op_name(functions[f].op)) != 0) continue;
    check_doubles(set, &functions[f], doubles);
    check_floats(set, &functions[f], stride);
  }
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    if (only != NULL && strcmp(only, joist_op_name(pairs[p].op)) != 0) continue;
    check_pairs(set, &pairs[p], doubles);
  }
  return check_report("accuracy");
}
