/* The f32 functions against the C library in double, over a dense sample of all bit
 * patterns, for every instruction set: errors in units in the last place of the correctly
 * rounded result, special values, and the same bits everywhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/kernels/kernels.h"
#include "patterns.h"
#include "references.h"
#include "sets.h"

enum { BATCH = 4096, STRIDE = 509, CLOSE = 61 };

static const struct {
  joist_op op;
  double (*reference)(double);
} functions[] = {
    {JOIST_OP_EXP, exp},     {JOIST_OP_EXPM1, expm1},       {JOIST_OP_LOG, log},
    {JOIST_OP_LOG2, log2},   {JOIST_OP_LOG10, log10},       {JOIST_OP_LOG1P, log1p},
    {JOIST_OP_SIN, sin},     {JOIST_OP_COS, cos},           {JOIST_OP_TAN, tan},
    {JOIST_OP_SINH, sinh},   {JOIST_OP_COSH, cosh},         {JOIST_OP_TANH, tanh},
    {JOIST_OP_SQRT, sqrt},   {JOIST_OP_LOGISTIC, logistic}, {JOIST_OP_ASIN, asin},
    {JOIST_OP_ACOS, acos},   {JOIST_OP_ATAN, atan},         {JOIST_OP_ASINH, asinh},
    {JOIST_OP_ACOSH, acosh}, {JOIST_OP_ATANH, atanh},       {JOIST_OP_CBRT, cbrt},
    {JOIST_OP_RSQRT, rsqrt},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Floats in order, as integers: their distance is the error in ulp. */
static int64_t ordinal(float x) {
  const int32_t bits = (int32_t)bits_of_float(x);
  return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

static int64_t distance(float got, double want) {
  const float rounded = (float)want;
  if (isnan(got) || isnan(rounded)) return isnan(got) && isnan(rounded) ? 0 : INT64_MAX;
  return llabs(ordinal(got) - ordinal(rounded));
}

static int64_t worst_of(joist_kernel *kernel, double (*reference)(double), const float *x,
                        size_t n) {
  static float y[BATCH];
  const void *in[1] = {x};
  int64_t worst = 0;
  kernel(n, in, y);
  for (size_t k = 0; k < n; k++) {
    const int64_t d = distance(y[k], reference((double)x[k]));
    if (d > worst) worst = d;
  }
  return worst;
}

static void check_sample(const char *set) {
  static float x[BATCH];
  for (size_t f = 0; f < FUNCTIONS; f++) {
    joist_kernel *const kernel = joist_kernel_find(functions[f].op, JOIST_F32);
    int64_t worst = 0;
    size_t n = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STRIDE) {
      x[n++] = float_of((uint32_t)bits);
      if (n < BATCH && bits + STRIDE <= UINT32_MAX) continue;
      const int64_t d = worst_of(kernel, functions[f].reference, x, n);
      if (d > worst) worst = d;
      n = 0;
    }
    CHECK_MSG(worst <= 1, "%s %s: %lld ulp", set, joist_op_name(functions[f].op), (long long)worst);
  }
}

static void check_special(const char *set) {
  static const float values[] = {
      0.0f,    -0.0f,        1.0f,    -1.0f,     INFINITY,  -INFINITY,   NAN,         1e-45f,
      -1e-45f, 1.17549e-38f, 3.4e38f, -3.4e38f,  88.72283f, 88.72284f,   -87.3366f,   -103.97f,
      -104.0f, 0.5f,         1e5f,    100001.0f, 1e30f,     3.14159274f, 1.57079637f, 2.0f};
  enum { N = sizeof values / sizeof *values };
  for (size_t f = 0; f < FUNCTIONS; f++) {
    joist_kernel *const kernel = joist_kernel_find(functions[f].op, JOIST_F32);
    float y[N];
    const void *in[1] = {values};
    kernel(N, in, y);
    for (size_t k = 0; k < N; k++) {
      const double want = functions[f].reference((double)values[k]);
      CHECK_MSG(distance(y[k], want) <= 1, "%s %s(%g): want %g, got %g", set,
                joist_op_name(functions[f].op), (double)values[k], want, (double)y[k]);
      if (want == 0)
        CHECK_MSG(!signbit(y[k]) == !signbit(want), "%s %s(%g): sign of zero", set,
                  joist_op_name(functions[f].op), (double)values[k]);
    }
  }
}

static void check_binary(const char *set, joist_op op, double (*reference)(double, double)) {
  static const float special[] = {0.0f,  -0.0f,  1.0f,  -1.0f,    2.0f,      0.5f, 3.0f, -2.0f,
                                  -3.0f, 1e-40f, 1e30f, INFINITY, -INFINITY, NAN,  0.1f, -0.1f};
  enum { N = sizeof special / sizeof *special };
  joist_kernel *const kernel = joist_kernel_find(op, JOIST_F32);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      float z;
      const void *in[2] = {&special[i], &special[j]};
      kernel(1, in, &z);
      CHECK_MSG(distance(z, reference((double)special[i], (double)special[j])) <= 1,
                "%s %s(%g, %g): got %g", set, joist_op_name(op), (double)special[i],
                (double)special[j], (double)z);
    }
  uint32_t state = 12345;
  for (int k = 0; k < 300000; k++) {
    state = state * 1664525u + 1013904223u;
    const float x = float_of(state >> 1);
    state = state * 1664525u + 1013904223u;
    const float y = (float)((double)state / 2147483648.0 - 1.0) * (k % 3 == 0 ? 4.0f : 40.0f);
    float z;
    const void *in[2] = {&x, &y};
    if (isnan(x)) continue;
    kernel(1, in, &z);
    CHECK_MSG(distance(z, reference((double)x, (double)y)) <= 1, "%s %s(%a, %a): got %a", set,
              joist_op_name(op), (double)x, (double)y, (double)z);
  }
}

/* The bits must not depend on the instruction set: every CLOSE-th sample is compared. */
static void check_same_bits(const char *set) {
  for (size_t f = 0; f < FUNCTIONS; f++) {
    size_t differences = 0;
    static float x[BATCH], ours[BATCH], generic[BATCH];
    const void *in[1] = {x};
    for (uint32_t part = 0; part < 64; part++) {
      for (uint32_t k = 0; k < BATCH; k++)
        x[k] = float_of((part * (UINT32_C(1) << 26)) + k * CLOSE * 257);
      joist_kernel_find(functions[f].op, JOIST_F32)(BATCH, in, ours);
      if (!joist_kernels_select("generic")) return;
      joist_kernel_find(functions[f].op, JOIST_F32)(BATCH, in, generic);
      if (!joist_kernels_select(set)) return;
      for (size_t k = 0; k < BATCH; k++)
        differences += memcmp(&ours[k], &generic[k], sizeof(float)) != 0 &&
                       !(isnan(ours[k]) && isnan(generic[k]));
    }
    CHECK_MSG(differences == 0, "%s %s: %zu differ from generic", set,
              joist_op_name(functions[f].op), differences);
  }
}

int main(void) {
  const char *sets[MAX_SETS];
  const int count = find_sets(sets);
  for (int k = 0; k < count; k++) {
    joist_kernels_select(sets[k]);
    if (k == 0 || k == count - 1) check_sample(sets[k]);
    check_special(sets[k]);
    check_binary(sets[k], JOIST_OP_POW, pow);
    check_binary(sets[k], JOIST_OP_ATAN2, atan2);
    check_same_bits(sets[k]);
  }
  return check_report("math_f32");
}
