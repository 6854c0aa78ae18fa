/* Random numbers on a device: bits, keys, uniform, normal and binomial numbers, integers. */
#include "cuda/ops/random_ops.h"

#include <string.h>

#include "core/kernels/random_element.h"
#include "core/ops/random/random_counts.h"
#include "cuda/kernels/draw_kernels.h"

/* One element of any dtype. */
struct element {
  _Alignas(16) char bytes[16];
};

static const struct joist_value *value_of(const struct running *r, joist_value_id value) {
  return &r->plan->program->values[value];
}

/* Whether a parameter is the same for all elements: read here, where its errors are found without
 * a kernel. */
static bool is_one(const struct running *r, const struct joist_instruction *i, int k) {
  return count_of(r->plan->program, i->operand[k]) == 1;
}

/* Waits for the device, unless the element is given. */
static joist_status read_element(const struct running *r, joist_value_id value,
                                 struct element *element, struct joist_error *error) {
  const size_t bytes = bytes_of(r->plan->program, value);
  if (!is_given(r, value))
    return joist_cuda_copy(r->device, element->bytes, r->arrays[value], bytes, JOIST_COPY_TO_HOST,
                           error);
  memcpy(element->bytes, r->arrays[value], bytes);
  return JOIST_OK;
}

/* ---- what parameters are read as ---- */

static joist_dtype carrier_of(const struct running *r, const struct joist_instruction *i, int k) {
  const joist_dtype drawn = value_of(r, i->result)->type.dtype;
  switch (i->op) {
    case JOIST_OP_RUNIF:
      return drawn;
    case JOIST_OP_RNORM:
      return k == 1 && joist_dtype_kind(drawn) == JOIST_KIND_COMPLEX ? JOIST_C128 : JOIST_F64;
    case JOIST_OP_RBINOM:
      return JOIST_F64;
    case JOIST_OP_RANDINT:
      return joist_limit_carrier(value_of(r, i->operand[k])->type.dtype);
    default:
      return JOIST_I64;
  }
}

static joist_status check_parameters(const struct joist_draw *draw, struct joist_error *error) {
  switch (draw->call->instruction->op) {
    case JOIST_OP_RUNIF:
      return joist_uniform_check(draw, error);
    case JOIST_OP_RNORM:
      return joist_normal_check(draw, error);
    case JOIST_OP_RANDINT:
      return joist_integer_check(draw, error);
    case JOIST_OP_RBINOM:
      return joist_binomial_check(draw, error);
    default:
      return JOIST_OK;
  }
}

/* What core makes of parameters that are read here: their errors, and whether they do nothing. */
static joist_status examine(const struct running *r, const struct joist_instruction *i,
                            const struct element *elements, struct joist_draw *draw,
                            struct joist_array_call *call, struct joist_error *error) {
  static const uint32_t no_key[2] = {0, 0};
  *call = (struct joist_array_call){
      .instruction = i, .result = value_of(r, i->result), .in = {no_key}, .run = r->run};
  bool all = true;
  for (int k = 0; k < joist_op_arity(i->op); k++) {
    call->operand[k] = value_of(r, i->operand[k]);
    if (k == 0) continue;
    call->in[k] = elements[k].bytes;
    all = all && is_one(r, i, k);
  }
  const joist_status status = joist_draw_init(draw, call, error);
  return status == JOIST_OK && all ? check_parameters(draw, error) : status;
}

/* Fills in parameter k; a conversion in the device's memory is the caller's to free. */
static joist_status place_parameter(const struct running *r, const struct joist_instruction *i,
                                    int k, const struct joist_parameter *known,
                                    struct joist_cuda_parameter *parameter, void **made,
                                    struct joist_error *error) {
  const joist_dtype carrier = carrier_of(r, i, k);
  parameter->dtype = (uint32_t)carrier;
  if (!is_one(r, i, k))
    return joist_cuda_convert(r, i->operand[k], carrier, &parameter->elements, made, error);
  joist_parameter_read(known, 0, 1, carrier, parameter->one);
  return JOIST_OK;
}

/* Whether all parameters that are in the device's memory fit; waits for it. */
static joist_status check_there(const struct running *r, struct joist_cuda_draw *draw, bool *fits,
                                struct joist_error *error) {
  uint64_t found = UINT64_MAX;
  draw->failure = r->state->failure;
  joist_status status = clear_failure(r, error);
  if (status == JOIST_OK)
    status = joist_cuda_check((cudaError_t)joist_cuda_start_draw_check(draw, r->state->stream),
                              "starting a kernel", error);
  if (status == JOIST_OK) status = read_failure(r, &found, error);
  *fits = status != JOIST_OK || found == UINT64_MAX;
  return status;
}

/* The number that is folded into a key. One that is of an integer dtype and in the device's memory
 * is not waited for. */
static joist_status place_number(const struct running *r, const struct joist_instruction *i,
                                 struct joist_cuda_draw *parameter, void **made,
                                 struct joist_error *error) {
  const joist_dtype dtype = value_of(r, i->operand[1])->type.dtype;
  struct element elements[JOIST_ARITY_MAX];
  struct joist_array_call call;
  struct joist_draw draw;
  int64_t number = 0;
  parameter->split = i->parameter[0] != 0;
  if (!is_given(r, i->operand[1]) && joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT)
    return joist_cuda_convert(r, i->operand[1], JOIST_I64, &parameter->lhs.elements, made, error);
  joist_status status = read_element(r, i->operand[1], &elements[1], error);
  if (status == JOIST_OK) status = examine(r, i, elements, &draw, &call, error);
  if (status == JOIST_OK) status = joist_fold_number(&draw, &number, error);
  memcpy(parameter->lhs.one, &number, sizeof number);
  return status;
}

/* ---- which, and running it ---- */

bool joist_cuda_draws(const struct running *r, const struct joist_instruction *i) {
  switch (i->op) {
    case JOIST_OP_RNORM:
      if (joist_dtype_kind(value_of(r, i->operand[2])->type.dtype) == JOIST_KIND_COMPLEX)
        return false;
      break;
    case JOIST_OP_FOLD_IN:
      if (value_of(r, i->result)->type.dtype != JOIST_UI32) return false;
      break;
    case JOIST_OP_RANDOM_BITS:
    case JOIST_OP_RUNIF:
    case JOIST_OP_RANDINT:
    case JOIST_OP_RBINOM:
      break;
    default:
      return false;
  }
  return value_of(r, i->operand[0])->type.dtype == JOIST_UI32;
}

bool joist_cuda_reads_on_host(joist_op op, int operand) {
  return operand > 0 && (op == JOIST_OP_FOLD_IN || op == JOIST_OP_RUNIF || op == JOIST_OP_RNORM ||
                         op == JOIST_OP_RANDINT || op == JOIST_OP_RBINOM);
}

/* What becomes of the operands behind the key: in the parameter, or in memory that is to be freed
 * when the kernels have been started. */
static joist_status place_parameters(const struct running *r, const struct joist_instruction *i,
                                     struct joist_cuda_draw *parameter, void **made, bool *all_here,
                                     struct joist_error *error) {
  struct joist_cuda_parameter *const places[] = {&parameter->lhs, &parameter->rhs};
  const struct joist_parameter *known[2];
  struct element elements[JOIST_ARITY_MAX];
  struct joist_array_call call;
  struct joist_draw draw;
  const int count = joist_op_arity(i->op) - 1;
  joist_status status = JOIST_OK;
  *all_here = true;
  for (int k = 1; k <= count && status == JOIST_OK; k++) {
    *all_here = *all_here && is_one(r, i, k);
    if (is_one(r, i, k)) status = read_element(r, i->operand[k], &elements[k], error);
  }
  if (status == JOIST_OK) status = examine(r, i, elements, &draw, &call, error);
  known[0] = &draw.lhs;
  known[1] = &draw.rhs;
  for (int k = 0; k < count && status == JOIST_OK; k++)
    status = place_parameter(r, i, k + 1, known[k], places[k], &made[k], error);
  if (status != JOIST_OK || !*all_here) return status;
  if (i->op == JOIST_OP_RUNIF) parameter->standard = joist_uniform_is_unit(&draw);
  if (i->op == JOIST_OP_RNORM) parameter->standard = joist_normal_is_standard(&draw);
  return JOIST_OK;
}

joist_status joist_cuda_draw(const struct running *r, const struct joist_instruction *i, bool *fits,
                             struct joist_error *error) {
  const joist_dtype dtype = value_of(r, i->result)->type.dtype;
  const struct joist_whole whole = joist_dtype_whole(dtype);
  struct joist_cuda_draw parameter = {.count = count_of(r->plan->program, i->result),
                                      .key = r->arrays[i->operand[0]],
                                      .out = r->arrays[i->result],
                                      .smallest = whole.smallest,
                                      .largest = whole.largest,
                                      .most = joist_binomial_most(dtype),
                                      .op = (uint32_t)i->op,
                                      .dtype = (uint32_t)dtype,
                                      .size = (uint32_t)joist_dtype_size(dtype)};
  void *made[2] = {NULL, NULL};
  bool all_here = true;
  *fits = true;
  if (parameter.count == 0) return JOIST_OK;
  joist_status status = i->op == JOIST_OP_FOLD_IN
                            ? place_number(r, i, &parameter, &made[0], error)
                            : place_parameters(r, i, &parameter, made, &all_here, error);
  if (status == JOIST_OK && !all_here) status = check_there(r, &parameter, fits, error);
  if (status == JOIST_OK && *fits)
    status = joist_cuda_check((cudaError_t)joist_cuda_start_draw(&parameter, r->state->stream),
                              "starting a kernel", error);
  for (int k = 0; k < 2; k++) joist_cuda_free(r->device, made[k]);
  return status;
}
