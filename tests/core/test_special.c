/* The error and gamma functions against values computed with 60 digits (special_values.def),
 * against the C library in long double, and digamma() against its asymptotic series. Errors are in
 * units in the last place of the exact result; the bounds are those that the functions promise. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/kernels/kernels.h"
#include "references.h"
#include "ulps.h"

/* One element by the kernel in use. */
static double run_f64(joist_op op, double x) {
  const void *const in[] = {&x};
  double out;
  CHECK(joist_kernel_find(op, JOIST_F64)(1, in, &out) == 1);
  return out;
}

static float run_f32(joist_op op, float x) {
  const void *const in[] = {&x};
  float out;
  CHECK(joist_kernel_find(op, JOIST_F32)(1, in, &out) == 1);
  return out;
}

static double erf_f64(double x) { return run_f64(JOIST_OP_ERF, x); }
static double erfc_f64(double x) { return run_f64(JOIST_OP_ERFC, x); }
static double lgamma_f64(double x) { return run_f64(JOIST_OP_LGAMMA, x); }
static double gamma_f64(double x) { return run_f64(JOIST_OP_GAMMA, x); }
static double digamma_f64(double x) { return run_f64(JOIST_OP_DIGAMMA, x); }
static float erf_f32(float x) { return run_f32(JOIST_OP_ERF, x); }
static float erfc_f32(float x) { return run_f32(JOIST_OP_ERFC, x); }
static float lgamma_f32(float x) { return run_f32(JOIST_OP_LGAMMA, x); }
static float gamma_f32(float x) { return run_f32(JOIST_OP_GAMMA, x); }
static float digamma_f32(float x) { return run_f32(JOIST_OP_DIGAMMA, x); }

/* Every instruction set gives the bits of the baseline, in vectors as for one element. */
static void check_sets(void) {
  enum { N = 4001 };
  static const joist_op ops[] = {JOIST_OP_ERF, JOIST_OP_ERFC, JOIST_OP_GAMMA, JOIST_OP_LGAMMA,
                                 JOIST_OP_DIGAMMA};
  static const char *const sets[] = {"generic", "avx2", "avx512"};
  static double in[N], out[N];
  static float narrow[N], got[N];
  for (int k = 0; k < N; k++) {
    in[k] = (k - 1700) * 0.0913;
    narrow[k] = (float)in[k];
  }
  for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
      if (!joist_kernels_select(sets[s])) continue;
      CHECK(joist_kernel_find(ops[o], JOIST_F64)(N, (const void *[]){in}, out) == N);
      CHECK(joist_kernel_find(ops[o], JOIST_F32)(N, (const void *[]){narrow}, got) == N);
      CHECK(joist_kernels_select("generic"));
      for (int k = 0; k < N; k++) {
        const double want = run_f64(ops[o], in[k]);
        const float want_narrow = run_f32(ops[o], narrow[k]);
        CHECK(memcmp(&want, &out[k], sizeof want) == 0 || (want != want && out[k] != out[k]));
        CHECK(memcmp(&want_narrow, &got[k], sizeof want_narrow) == 0 ||
              (want_narrow != want_narrow && got[k] != got[k]));
      }
    }
}

enum function { ERF, ERFC, LGAMMA, GAMMA, DIGAMMA, FUNCTIONS };
static const struct {
  const char *name;
  double (*f64)(double);
  float (*f32)(float);
  long double (*reference)(long double);
  joist_op op;
} functions[FUNCTIONS] = {
    [ERF] = {"erf", erf_f64, erf_f32, erfl, JOIST_OP_ERF},
    [ERFC] = {"erfc", erfc_f64, erfc_f32, erfcl, JOIST_OP_ERFC},
    [LGAMMA] = {"lgamma", lgamma_f64, lgamma_f32, lgammal, JOIST_OP_LGAMMA},
    [GAMMA] = {"gamma", gamma_f64, gamma_f32, tgammal, JOIST_OP_GAMMA},
    [DIGAMMA] = {"digamma", digamma_f64, digamma_f32, digammal, JOIST_OP_DIGAMMA},
};

static double ulp_of(double value) {
  int exponent;
  frexp(value, &exponent);
  return ldexp(1, (value == 0 || exponent < -1021 ? -1021 : exponent) - 53);
}

/* What f64 errors are measured in. lgamma() and digamma() of negative numbers are differences:
 * near their zeros they are as exact as a number near 1, or near ln |x|, can be. */
static double unit_of(enum function f, double x, double value) {
  double size = fabs(value);
  if (x < 0 && f == LGAMMA) size = fmax(size, 1);
  if (x < 0 && f == DIGAMMA) size = fmax(size, fmax(1, log(-x)));
  return ulp_of(size);
}

static double unit_of_f32(double value) {
  int exponent;
  frexp(value, &exponent);
  return ldexp(1, (value == 0 || exponent < -125 ? -125 : exponent) - 24);
}

static struct { double positive, below, f32; } worst[FUNCTIONS];

/* The exact value is `value` and `rest` units in its last place. */
static void check_f64(enum function f, double x, double value, double rest) {
  const double got = functions[f].f64(x), unit = unit_of(f, x, value);
  const double error = fabs((got - value) / unit - rest * (ulp_of(value) / unit));
  const struct joist_accuracy stated = joist_op_accuracy(functions[f].op);
  const double bound = x < 0 ? stated.f64_below : stated.f64;
  CHECK_MSG(isinf(value) ? got == value : error <= bound, "%s(%a): want %a, got %a, %g ulp",
            functions[f].name, x, value, got, error);
  double *const most = x < 0 ? &worst[f].below : &worst[f].positive;
  if (!isinf(value) && error > *most) *most = error;
}

static void check_f32(enum function f, float x, double value) {
  const float got = functions[f].f32(x), rounded = (float)value;
  const double error = fabs((double)got - value) / unit_of_f32(value);
  CHECK_MSG(
      isinf(rounded) ? got == rounded : error <= joist_op_accuracy(functions[f].op).f32 + slack(),
      "%s(%af): want %a, got %a, %g", functions[f].name, (double)x, value, (double)got, error);
  if (!isinf(rounded) && error > worst[f].f32) worst[f].f32 = error;
}

static const struct {
  enum function f;
  double x, value, rest;
} values[] = {
#define VALUE(F, X, V, REST) {F, X, V, REST},
#include "special_values.def"
};

static void check_values(void) {
  size_t floats[FUNCTIONS] = {0};
  for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
    const float narrow = (float)values[k].x;
    check_f64(values[k].f, values[k].x, values[k].value, values[k].rest);
    if ((double)narrow != values[k].x) continue;
    check_f32(values[k].f, narrow, values[k].value);
    floats[values[k].f]++;
  }
  for (int f = 0; f < FUNCTIONS; f++) CHECK_MSG(floats[f] >= 20, "%zu floats", floats[f]);
}

enum { SAMPLE = 40000 };
static const struct {
  enum function f;
  double low, high;
} ranges[] = {
    {ERF, -1, 1},         {ERF, -6, 6},         {ERF, 0.9, 1.1},       {ERFC, -6, 0.5},
    {ERFC, 0.4, 1},       {ERFC, 1, 26.5},      {ERFC, 26, 27.3},      {LGAMMA, 0, 0.5},
    {LGAMMA, 0.5, 1.5},   {LGAMMA, 1.5, 2.5},   {LGAMMA, 2.5, 100},    {LGAMMA, 1e15, 2.5e305},
    {LGAMMA, -10, 0},     {LGAMMA, -1000, -10}, {GAMMA, 0, 1},         {GAMMA, 1, 3},
    {GAMMA, 3, 171.6},    {GAMMA, -10, 0},      {GAMMA, -184, -10},    {DIGAMMA, 0, 1.4},
    {DIGAMMA, 1.55, 2.5}, {DIGAMMA, 2.5, 100},  {DIGAMMA, 100, 1e300}, {DIGAMMA, -10, 0},
    {DIGAMMA, -1000, -10}};

/* Where long double is wider than double, it has 11 bits to spare, though not next to the zero of
 * digamma(). */
static void check_sample(enum function f, double low, double high) {
  for (int k = 0; k < SAMPLE; k++) {
    const double x = random_between(low, high);
    const float narrow = (float)x;
    if (x != floor(x) && slack() == 0) {
      const long double want = functions[f].reference((long double)x);
      const double value = (double)want;
      const long double off = isinf(value) ? 0 : want - (long double)value;
      check_f64(f, x, value, (double)(off / (long double)ulp_of(value)));
    }
    if (narrow != floorf(narrow))
      check_f32(f, narrow, (double)functions[f].reference((long double)narrow));
  }
}

static bool same(double got, double want) {
  return isnan(want) ? isnan(got) : got == want && !signbit(got) == !signbit(want);
}

static void check_special(void) {
  const struct {
    double x, want[FUNCTIONS];
  } cases[] = {
      {0.0, {0.0, 1, INFINITY, NAN, NAN}},      {-0.0, {-0.0, 1, INFINITY, NAN, NAN}},
      {-7, {-1, 2, INFINITY, NAN, NAN}},        {-40, {-1, 2, INFINITY, NAN, NAN}},
      {-170, {-1, 2, INFINITY, NAN, NAN}},      {-0x1p60, {-1, 2, INFINITY, NAN, NAN}},
      {-FLT_MAX, {-1, 2, INFINITY, NAN, NAN}},  {INFINITY, {1, 0.0, INFINITY, INFINITY, INFINITY}},
      {-INFINITY, {-1, 2, INFINITY, NAN, NAN}}, {NAN, {NAN, NAN, NAN, NAN, NAN}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (int f = 0; f < FUNCTIONS; f++) {
      const double x = cases[k].x, want = cases[k].want[f], got = functions[f].f64(x);
      const double narrow = (double)functions[f].f32((float)x);
      CHECK_MSG(same(got, want), "%s(%g): want %a, got %a", functions[f].name, x, want, got);
      CHECK_MSG(same(narrow, (double)(float)want), "%s(%gf): want %a, got %a", functions[f].name, x,
                want, narrow);
    }
  for (int n = -200; n <= 0; n++) {
    const bool infinite = lgamma_f64(n) == INFINITY && lgamma_f32((float)n) == (float)INFINITY;
    CHECK_MSG(infinite && isnan(gamma_f64(n)) && isnan(gamma_f32((float)n)), "pole at %d", n);
    CHECK_MSG(isnan(digamma_f64(n)) && isnan(digamma_f32((float)n)), "pole at %d", n);
  }
  CHECK(lgamma_f64(1) == 0 && lgamma_f64(2) == 0 && lgamma_f32(1) == 0 && lgamma_f32(2) == 0);
  CHECK(lgamma_f64(DBL_MAX) == INFINITY && gamma_f64(171.625) == INFINITY);
  CHECK(gamma_f64(5e-324) == INFINITY && gamma_f64(-5e-324) == -INFINITY);
  CHECK(digamma_f64(5e-324) == -INFINITY && digamma_f64(-5e-324) == INFINITY);
  CHECK(erfc_f64(27.3) == 0 && erfc_f64(DBL_MAX) == 0 && erfc_f32(10.1f) == 0);
  CHECK(gamma_f64(-190.5) == 0 && gamma_f64(-1000000.5) == 0 && gamma_f32(-50.5f) == 0);
}

/* R's NA is a NaN with a payload. */
static void check_payload(void) {
  const double na = double_of(UINT64_C(0x7ff80000000007a2));
  for (int f = 0; f < FUNCTIONS; f++) {
    const double got = functions[f].f64(na);
    CHECK_MSG(memcmp(&got, &na, sizeof na) == 0, "%s(NA): another NaN", functions[f].name);
  }
}

/* Factorials that a double, or a float, holds are exact. */
static void check_factorials(void) {
  double factorial = 1;
  for (int n = 1; n <= 23; factorial *= n++) {
    CHECK_MSG(gamma_f64(n) == factorial, "gamma(%d): %.17g", n, gamma_f64(n));
    CHECK_MSG(gamma_f32((float)n) == (float)factorial, "gamma(%df)", n);
  }
}

/* Where a function goes from one formula to the next, it stays monotonic. */
static void check_seams(void) {
  static const struct {
    enum function f;
    double x, direction;
  } seams[] = {{ERF, 1, 1},         {ERFC, 0.46875, -1}, {LGAMMA, 0.5, -1}, {LGAMMA, 2.5, 1},
               {LGAMMA, 0x1p60, 1}, {GAMMA, 2.5, 1},     {DIGAMMA, 0.5, 1}, {DIGAMMA, 2.5, 1}};
  for (size_t k = 0; k < sizeof seams / sizeof *seams; k++) {
    const enum function f = seams[k].f;
    const double step = 16 * ulp_of(seams[k].x);
    for (int n = -64; n < 64; n++) {
      const double rise =
          functions[f].f64(seams[k].x + (n + 1) * step) - functions[f].f64(seams[k].x + n * step);
      CHECK_MSG(rise * seams[k].direction >= 0, "%s near %g falls back by %g", functions[f].name,
                seams[k].x, rise);
    }
  }
}

int main(void) {
  check_sets();
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  check_values();
  for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
    check_sample(ranges[k].f, ranges[k].low, ranges[k].high);
  check_special();
  check_payload();
  check_factorials();
  check_seams();
  for (int f = 0; f < FUNCTIONS; f++)
    printf("%s: at most %.2f ulp for x > 0, %.2f for x < 0, f32 %.3f\n", functions[f].name,
           worst[f].positive, worst[f].below, worst[f].f32);
  return check_report("special");
}
