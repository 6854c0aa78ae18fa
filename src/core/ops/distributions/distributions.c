/* The operations of distributions: element by element, in f64. An operand is one number for all
 * elements, or has the shape of the result. */
#include <stddef.h>

#include "core/base/parallel.h"
#include "core/ops/distributions/mass.h"
#include "core/ops/distributions/quantile.h"
#include "core/ops/distributions/tail.h"
#include "core/program/call.h"
#include "core/types/convert.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

enum { BLOCK = 256, WORK = 1000, MOST_OPERANDS = 3 };

struct form {
  bool lower, logarithm;
};

typedef double distribution_function(const double *x, struct form form);

static double log_beta(const double *x, struct form form) {
  (void)form;
  return joist_log_beta(x[0], x[1]);
}
static double log_poisson(const double *x, struct form form) {
  (void)form;
  return joist_log_poisson(x[0], x[1]);
}
static double log_binomial(const double *x, struct form form) {
  (void)form;
  return joist_log_binomial(x[0], x[1], x[2], 1 - x[2]);
}
static double incomplete_gamma(const double *x, struct form form) {
  return joist_incomplete_gamma(x[0], x[1], form.lower, form.logarithm);
}
static double incomplete_beta(const double *x, struct form form) {
  return joist_incomplete_beta(x[0], x[1], x[2], form.lower, form.logarithm);
}
static double inverse_gamma(const double *x, struct form form) {
  return joist_inverse_gamma(x[0], x[1], form.lower);
}
static double inverse_beta(const double *x, struct form form) {
  return joist_inverse_beta(x[0], x[1], x[2], form.lower);
}
static double poisson_quantile(const double *x, struct form form) {
  return joist_poisson_quantile(x[0], x[1], form.lower);
}
static double binomial_quantile(const double *x, struct form form) {
  return joist_binomial_quantile(x[0], x[1], x[2], form.lower);
}

struct work {
  const struct joist_call *call;
  distribution_function *function;
  struct form form;
  uint32_t operands;
};

static void compute_block(const void *context, size_t block, size_t worker) {
  (void)worker;
  const struct work *const w = context;
  const struct joist_call *const call = w->call;
  const joist_dtype dtype = call->result->type.dtype;
  const struct joist_part part = joist_chunk_of(joist_value_count(call->result), BLOCK, block);
  const size_t size = joist_dtype_size(dtype);
  double in[MOST_OPERANDS][BLOCK], out[BLOCK], x[MOST_OPERANDS];
  for (uint32_t k = 0; k < w->operands; k++) {
    const bool single = call->operand[k]->shape.rank == 0;
    const char *const elements = (const char *)call->in[k] + (single ? 0 : part.first * size);
    joist_convert_find(dtype, JOIST_F64)(single ? 1 : part.n, elements, in[k]);
    for (size_t i = 1; single && i < part.n; i++) in[k][i] = in[k][0];
  }
  for (size_t i = 0; i < part.n; i++) {
    for (uint32_t k = 0; k < w->operands; k++) x[k] = in[k][i];
    out[i] = w->function(x, w->form);
  }
  joist_convert_find(JOIST_F64, dtype)(part.n, out, (char *)call->out[0] + part.first * size);
}

static joist_status run(const struct joist_call *call, distribution_function *function,
                        struct joist_error *error) {
  const struct joist_attributes *const given = joist_call_attributes(call);
  const struct work w = {
      .call = call,
      .function = function,
      .form = {.lower = joist_attribute_flag(given, JOIST_ATTRIBUTE_LOWER),
               .logarithm = joist_attribute_flag(given, JOIST_ATTRIBUTE_LOGARITHM)},
      .operands = call->instruction->operand_count};
  const size_t blocks = joist_divide_up(joist_value_count(call->result), BLOCK);
  return joist_tasks_run(call->run, blocks, BLOCK * WORK, compute_block, &w, error);
}

static joist_status common_shape(joist_op op, const struct joist_shape *const *shapes,
                                 struct joist_shape *result, struct joist_error *error) {
  size_t count = 0;
  while (shapes[count] != NULL) count++;
  const joist_status status = joist_shape_broadcast(shapes, count, result, error);
  if (status != JOIST_OK) return status;
  for (size_t k = 0; k < count; k++)
    if (shapes[k]->rank > 0 && !joist_shape_equal(shapes[k], result))
      return JOIST_FAIL(error, JOIST_E_PARAMETER_SHAPE, .op = joist_op_name(op),
                        .shape = {*shapes[k], *result});
  return JOIST_OK;
}

#define OPERATION(NAME, OP)                                                                   \
  joist_status joist_##NAME##_shape(const struct joist_shape *const *shapes,                  \
                                    const struct joist_attributes *attributes,                \
                                    struct joist_shape *result, struct joist_error *error) {  \
    (void)attributes;                                                                         \
    return common_shape(JOIST_OP_##OP, shapes, result, error);                                \
  }                                                                                           \
  joist_status joist_##NAME##_run(const struct joist_call *call, struct joist_error *error) { \
    return run(call, NAME, error);                                                            \
  }
OPERATION(log_beta, LOG_BETA)
OPERATION(log_poisson, LOG_POISSON)
OPERATION(log_binomial, LOG_BINOMIAL)
OPERATION(incomplete_gamma, INCOMPLETE_GAMMA)
OPERATION(incomplete_beta, INCOMPLETE_BETA)
OPERATION(inverse_gamma, INVERSE_GAMMA)
OPERATION(inverse_beta, INVERSE_BETA)
OPERATION(poisson_quantile, POISSON_QUANTILE)
OPERATION(binomial_quantile, BINOMIAL_QUANTILE)
