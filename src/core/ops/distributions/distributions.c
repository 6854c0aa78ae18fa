/* The operations of distributions: element by element, in f64. An operand is one number for all
 * elements, or has the shape of the result. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/ops/distributions/mass.h"
#include "core/ops/distributions/quantile.h"
#include "core/ops/distributions/tail.h"
#include "core/program/call.h"
#include "core/types/convert.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

enum { BLOCK = 256, WORK = 1000, MOST_OPERANDS = 4, MOST_RESULTS = 2, RECENT_BITS = 11 };
/* A block that none of so many of its first elements finds among those of late does not look on. */
enum { LOOKED_UP = 16 };

struct form {
  bool lower, logarithm;
};

/* One number, or two, of the operands. */
typedef void distribution_function(const double *x, struct form form, double *out);

#define FUNCTION(NAME, VALUE)                                        \
  static void NAME(const double *x, struct form form, double *out) { \
    (void)form;                                                      \
    *out = VALUE;                                                    \
  }
FUNCTION(log_beta, joist_log_beta(x[0], x[1]))
FUNCTION(log_poisson, joist_log_poisson(x[0], x[1]))
FUNCTION(log_binomial, joist_log_binomial(x[0], x[1], x[2], 1 - x[2]))
FUNCTION(incomplete_gamma, joist_incomplete_gamma(x[0], x[1], form.lower, form.logarithm))
FUNCTION(incomplete_beta, joist_incomplete_beta(x[0], x[1], x[2], form.lower, form.logarithm))
FUNCTION(incomplete_gamma_slope, joist_incomplete_gamma_slope(x[0], x[1], form.lower))
FUNCTION(inverse_gamma, joist_inverse_gamma(x[0], x[1], form.lower))
FUNCTION(poisson_quantile, joist_poisson_quantile(x[0], x[1], form.lower))
FUNCTION(binomial_quantile, joist_binomial_quantile(x[0], x[1], x[2], form.lower))
FUNCTION(negative_binomial_quantile, joist_negative_binomial_quantile(x[0], x[1], x[2], form.lower))
FUNCTION(hypergeometric_share,
         joist_hypergeometric_share(x[0], x[1], x[2], x[3], form.lower, form.logarithm))
FUNCTION(hypergeometric_quantile, joist_hypergeometric_quantile(x[0], x[1], x[2], x[3], form.lower))

static void incomplete_beta_slopes(const double *x, struct form form, double *out) {
  joist_incomplete_beta_slopes(x[0], x[1], x[2], form.lower, out);
}

static void inverse_beta(const double *x, struct form form, double *out) {
  joist_inverse_beta(x[0], x[1], x[2], form.lower, out);
}

struct work {
  const struct joist_call *call;
  distribution_function *function;
  struct form form;
  uint32_t operands, results;
  double low, high; /* what the last operand may be: for others the value is known at once */
};

/* What functions gave of late: counts, what is outside of a support and what is masked are the same
 * for many elements. */
struct value {
  distribution_function *function;
  struct form form;
  uint64_t bits[MOST_OPERANDS]; /* of the operands */
  double y[MOST_RESULTS];
};

static const double *value_of(const struct work *w, const double x[MOST_OPERANDS],
                              struct value *recent, size_t *found) {
  uint64_t bits[MOST_OPERANDS], hash = 0;
  memcpy(bits, x, sizeof bits);
  for (uint32_t k = 0; k < w->operands; k++) hash = joist_hash_word(hash, bits[k]);
  struct value *const v = &recent[hash * JOIST_GOLDEN >> (64 - RECENT_BITS)];
  bool same = v->function == w->function && v->form.lower == w->form.lower &&
              v->form.logarithm == w->form.logarithm;
  for (uint32_t k = 0; k < w->operands; k++) same &= v->bits[k] == bits[k];
  if (same) {
    ++*found;
  } else {
    w->function(x, w->form, v->y);
    v->function = w->function;
    v->form = w->form;
    memcpy(v->bits, bits, sizeof bits);
  }
  return v->y;
}

static void compute_block(const void *context, size_t block, size_t worker) {
  static _Thread_local struct value recent[1 << RECENT_BITS];
  (void)worker;
  const struct work *const w = context;
  const struct joist_call *const call = w->call;
  const joist_dtype dtype = call->result->type.dtype;
  const struct joist_part part = joist_strip_of(joist_value_count(call->result), BLOCK, block);
  const size_t size = joist_dtype_size(dtype);
  double in[MOST_OPERANDS][BLOCK], out[MOST_RESULTS][BLOCK], x[MOST_OPERANDS] = {0};
  for (uint32_t k = 0; k < w->operands; k++) {
    const bool single = call->operand[k]->shape.rank == 0;
    const char *const elements = (const char *)call->in[k] + (single ? 0 : part.first * size);
    joist_convert_find(dtype, JOIST_F64)(single ? 1 : part.n, elements, in[k]);
    for (size_t i = 1; single && i < part.n; i++) in[k][i] = in[k][0];
  }
  for (size_t i = 0, found = 0; i < part.n; i++) {
    for (uint32_t k = 0; k < w->operands; k++) x[k] = in[k][i];
    const double last = x[w->operands - 1];
    const bool inside = last >= w->low && last <= w->high;
    double own[MOST_RESULTS];
    const double *y = own;
    if (inside && (i < LOOKED_UP || found > 0))
      y = value_of(w, x, recent, &found);
    else
      w->function(x, w->form, own);
    for (uint32_t r = 0; r < w->results; r++) out[r][i] = y[r];
  }
  for (uint32_t r = 0; r < w->results; r++)
    joist_convert_find(JOIST_F64, dtype)(part.n, out[r], (char *)call->out[r] + part.first * size);
}

static joist_status run(const struct joist_call *call, distribution_function *function, double low,
                        double high, struct joist_error *error) {
  const struct joist_attributes *const given = joist_call_attributes(call);
  const struct work w = {
      .call = call,
      .function = function,
      .form = {.lower = joist_attribute_flag(given, JOIST_ATTRIBUTE_LOWER),
               .logarithm = joist_attribute_flag(given, JOIST_ATTRIBUTE_LOGARITHM)},
      .operands = call->instruction->operand_count,
      .results = joist_operation(call->instruction->op)->results,
      .low = low,
      .high = high};
  const size_t blocks = joist_divide_up(joist_value_count(call->result), BLOCK);
  return joist_tasks_run(call->run, blocks, BLOCK * WORK, compute_block, &w, error);
}

static joist_status common_shape(joist_op op, const struct joist_shape *const *shapes,
                                 struct joist_shape *results, struct joist_error *error) {
  size_t count = 0;
  while (shapes[count] != NULL) count++;
  const joist_status status = joist_shape_broadcast(shapes, count, &results[0], error);
  if (status != JOIST_OK) return status;
  for (size_t k = 0; k < count; k++)
    if (shapes[k]->rank > 0 && !joist_shape_equal(shapes[k], &results[0]))
      return JOIST_FAIL(error, JOIST_E_PARAMETER_SHAPE, .op = joist_op_name(op),
                        .shape = {*shapes[k], results[0]});
  for (uint32_t r = 1; r < joist_operation(op)->results; r++) results[r] = results[0];
  return JOIST_OK;
}

#define OPERATION(NAME, OP, LOW, HIGH)                                                        \
  joist_status joist_##NAME##_shape(const struct joist_shape *const *shapes,                  \
                                    const struct joist_attributes *attributes,                \
                                    struct joist_shape *result, struct joist_error *error) {  \
    (void)attributes;                                                                         \
    return common_shape(JOIST_OP_##OP, shapes, result, error);                                \
  }                                                                                           \
  joist_status joist_##NAME##_run(const struct joist_call *call, struct joist_error *error) { \
    return run(call, NAME, LOW, HIGH, error);                                                 \
  }
OPERATION(log_beta, LOG_BETA, -INFINITY, INFINITY)
OPERATION(log_poisson, LOG_POISSON, -INFINITY, INFINITY)
OPERATION(log_binomial, LOG_BINOMIAL, -INFINITY, INFINITY)
OPERATION(incomplete_gamma, INCOMPLETE_GAMMA, -INFINITY, INFINITY)
OPERATION(incomplete_beta, INCOMPLETE_BETA, 0, 1)
OPERATION(incomplete_gamma_slope, INCOMPLETE_GAMMA_SLOPE, -INFINITY, INFINITY)
OPERATION(incomplete_beta_slopes, INCOMPLETE_BETA_SLOPES, 0, 1)
OPERATION(inverse_gamma, INVERSE_GAMMA, -INFINITY, 0)
OPERATION(inverse_beta, INVERSE_BETA, -INFINITY, 0)
OPERATION(poisson_quantile, POISSON_QUANTILE, -INFINITY, 0)
OPERATION(binomial_quantile, BINOMIAL_QUANTILE, -INFINITY, 0)
OPERATION(negative_binomial_quantile, NEGATIVE_BINOMIAL_QUANTILE, -INFINITY, 0)
OPERATION(hypergeometric_share, HYPERGEOMETRIC_SHARE, -INFINITY, INFINITY)
OPERATION(hypergeometric_quantile, HYPERGEOMETRIC_QUANTILE, -INFINITY, 0)
