/* How gamma numbers change with their shape, at a fixed probability of a smaller one. */
#include <math.h>

#include "core/base/parallel.h"
#include "core/base/vectorize.h"
#include "core/ops/random/random_ops.h"
#include "core/types/error.h"

JOIST_VECTORIZE_FILE
#include "core/kernels/random_element.h" /* below the pragma: functions of other options are not inlined */
#include "core/kernels/special_f64.h"

joist_status joist_random_gamma_slope_shape(const struct joist_shape *const *shapes,
                                            const struct joist_attributes *attributes,
                                            struct joist_shape *result, struct joist_error *error) {
  (void)attributes;
  *result = *shapes[0];
  if (joist_shape_equal(shapes[0], shapes[1])) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_PARAMETER_SHAPE, .op = "rgamma_slope",
                    .shape = {*shapes[1], *shapes[0]});
}

/* From the terms of the incomplete gamma function's series and their derivatives. */
static double slope_by_series(double shape, double x) {
  double term = 1, sum = 1, change = 0, inverse = 0;
  for (double n = 1;; n++) {
    term *= x / (shape + n);
    inverse += 1.0 / (shape + n);
    sum += term;
    change -= term * inverse;
    /* Where x is very small, both sides become 0. */
    if (x < shape + n && term * (1.0 + inverse) <= 0x1p-60 * (sum < -change ? sum : -change)) break;
  }
  return -(x / shape) * (sum * (log_fine(x) - digamma_next_f64(shape)) + change);
}

/* Of numbers far above the shape, from the series of the share above them over the density, and its
 * derivative: NIST DLMF 8.11.2, whose terms become small enough there. */
static double slope_above(double shape, double x) {
  double term = 1, by_shape = 0, sum = 1, change = 0;
  for (int k = 1; k < 200; k++) {
    const double n = k;
    by_shape = (by_shape * (shape - n) + term) / x;
    term *= (shape - n) / x;
    sum += term;
    change += by_shape;
    if (fabs(term) + fabs(by_shape) < 0x1p-60) break;
  }
  return sum * (log_fine(x) - digamma_next_f64(shape) + 1.0 / shape) + change;
}

/* x as a series in a normal number z of the same probability: G. A. Campbell, "Probability curves
 * showing Poisson's exponential summation", Bell System Technical Journal 2 (1923). */
static double slope_by_normal(double shape, double x) {
  const double root = sqrt(shape);
  double z = (x - shape) / root;
  for (int k = 0; k < 4; k++) {
    const double q = z * z;
    const double at = shape + root * z + (q - 1.0) / 3 + z * (q - 7.0) / (36.0 * root) -
                      ((3.0 * q + 7.0) * q - 16.0) / (810.0 * shape) +
                      z * ((9.0 * q + 256.0) * q - 433.0) / (38880.0 * shape * root) +
                      (((12.0 * q - 243.0) * q - 923.0) * q + 1472.0) / (204120.0 * shape * shape);
    z -= (at - x) / (root + z * (2.0 / 3) + (3.0 * q - 7.0) / (36.0 * root));
  }
  const double q = z * z;
  return 1.0 + z / (2.0 * root) - z * (q - 7.0) / (72.0 * shape * root) +
         ((3.0 * q + 7.0) * q - 16.0) / (810.0 * shape * shape) -
         z * ((9.0 * q + 256.0) * q - 433.0) / (25920.0 * shape * shape * root) -
         (((12.0 * q - 243.0) * q - 923.0) * q + 1472.0) / (102060.0 * shape * shape * shape);
}

static double gamma_slope(double shape, double x) {
  if (x < 0x1p-1022) return 0;
  if (!(x < (double)INFINITY) || !(shape > 0)) return NAN;
  /* No draw is as large: the series would take x terms, which overflow. */
  if (shape < 1000 && x > 2 * shape + 300) return slope_above(shape, x);
  return shape < 1000 ? slope_by_series(shape, x) : slope_by_normal(shape, x);
}

enum { BLOCK = 256 };

static void find_slopes(const void *context, size_t block, size_t worker) {
  (void)worker;
  const struct joist_call *const call = context;
  const joist_dtype *const dtype = call->instruction->signature.operand;
  const joist_dtype result = call->result->type.dtype;
  const struct joist_part part = joist_strip_of(joist_value_count(call->result), BLOCK, block);
  double shape[BLOCK], x[BLOCK];
  joist_convert_find(dtype[0], JOIST_F64)(
      part.n, (const char *)call->in[0] + part.first * joist_dtype_size(dtype[0]), shape);
  joist_convert_find(dtype[1], JOIST_F64)(
      part.n, (const char *)call->in[1] + part.first * joist_dtype_size(dtype[1]), x);
  for (size_t k = 0; k < part.n; k++) x[k] = gamma_slope(shape[k], x[k]);
  joist_convert_find(JOIST_F64, result)(
      part.n, x, (char *)call->out[0] + part.first * joist_dtype_size(result));
}

joist_status joist_random_gamma_slope_run(const struct joist_call *call,
                                          struct joist_error *error) {
  const size_t blocks = joist_divide_up(joist_value_count(call->result), BLOCK);
  return joist_tasks_run(call->run, blocks, BLOCK * 256, find_slopes, call, error);
}
