/* Random numbers on a device: bits, keys, uniform, normal and binomial numbers, integers. */
#include <string.h>

#include "core/kernels/random_element.h"
#include "core/ops/random/random_counts.h"
#include "cuda/kernels/draw_kernels.h"
#include "cuda/ops/on_cpu.h"
#include "cuda/ops/operations.h"

/* One element of any dtype. */
struct element {
  _Alignas(16) char bytes[16];
};

static const struct joist_value *value_of(const struct running *r, joist_value_id value) {
  return &r->plan->program->values[value];
}

/* Whether a parameter is the same for all elements: read here, where its errors are found without
 * a kernel. */
static bool is_one(const struct running *r, const struct joist_instruction *i, uint32_t k) {
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

/* ---- parameters ---- */

static joist_dtype carrier_of(const struct running *r, const struct joist_instruction *i,
                              uint32_t k) {
  const joist_dtype drawn = value_of(r, i->result)->type.dtype;
  switch (joist_cuda_operation(i->op)->carrier[k - 1]) {
    case JOIST_CUDA_AS_DRAWN:
      return drawn;
    case JOIST_CUDA_AS_CENTRE:
      return joist_dtype_kind(drawn) == JOIST_KIND_COMPLEX ? JOIST_C128 : JOIST_F64;
    case JOIST_CUDA_AS_NUMBER:
      break;
    case JOIST_CUDA_AS_LIMIT:
      return joist_limit_carrier(value_of(r, i->operand[k])->type.dtype);
  }
  return JOIST_F64;
}

/* The operands of a draw as core sees them: those read here, no key. */
struct seen {
  struct element elements[JOIST_ELEMENT_OPERANDS];
  const struct joist_value *values[JOIST_ELEMENT_OPERANDS];
  const void *in[JOIST_ELEMENT_OPERANDS];
  struct joist_call call;
  struct joist_draw draw;
  bool all_here; /* there is one of each parameter */
};

/* What core makes of parameters that are read here: their errors, and whether they do nothing. */
static joist_status examine(const struct running *r, const struct joist_instruction *i,
                            struct seen *seen, struct joist_error *error) {
  static const uint32_t no_key[2] = {0, 0};
  const struct joist_cuda_operation *const operation = joist_cuda_operation(i->op);
  joist_status status = JOIST_OK;
  seen->call = (struct joist_call){.instruction = i,
                                   .operand = seen->values,
                                   .result = value_of(r, i->result),
                                   .in = seen->in,
                                   .run = r->run};
  seen->all_here = true;
  for (uint32_t k = 0; k < i->operand_count && status == JOIST_OK; k++) {
    seen->values[k] = value_of(r, i->operand[k]);
    seen->in[k] = k == 0 ? (const void *)no_key : seen->elements[k].bytes;
    if (k == 0) continue;
    seen->all_here = seen->all_here && is_one(r, i, k);
    if (is_one(r, i, k)) status = read_element(r, i->operand[k], &seen->elements[k], error);
  }
  if (status == JOIST_OK) status = joist_draw_init(&seen->draw, &seen->call, error);
  return status == JOIST_OK && seen->all_here && operation->check != NULL
             ? operation->check(&seen->draw, error)
             : status;
}

/* Fills in parameter k; a conversion in the device's memory is the caller's to free. */
static joist_status place_parameter(const struct running *r, const struct joist_instruction *i,
                                    uint32_t k, const struct joist_parameter *known,
                                    struct joist_cuda_parameter *parameter, void **made,
                                    struct joist_error *error) {
  const joist_dtype carrier = carrier_of(r, i, k);
  parameter->dtype = (uint32_t)carrier;
  if (!is_one(r, i, k))
    return joist_cuda_convert(r, i->operand[k], carrier, &parameter->elements, made, error);
  joist_parameter_read(known, 0, 1, carrier, parameter->one);
  return JOIST_OK;
}

/* What becomes of the operands behind the key: in the parameter, or in memory that is to be freed
 * when the kernels have been started. */
static joist_status place_parameters(const struct running *r, const struct joist_instruction *i,
                                     struct joist_cuda_draw *draw, void **made, bool *all_here,
                                     struct joist_error *error) {
  struct joist_cuda_parameter *const places[] = {&draw->lhs, &draw->rhs};
  const struct joist_cuda_operation *const operation = joist_cuda_operation(i->op);
  struct seen seen;
  joist_status status = examine(r, i, &seen, error);
  const struct joist_parameter *const known[] = {&seen.draw.lhs, &seen.draw.rhs};
  for (uint32_t k = 1; k < i->operand_count && status == JOIST_OK; k++)
    status = place_parameter(r, i, k, known[k - 1], places[k - 1], &made[k - 1], error);
  *all_here = seen.all_here;
  if (status == JOIST_OK && seen.all_here && operation->is_standard != NULL)
    draw->standard = operation->is_standard(&seen.draw);
  return status;
}

/* The number that is folded into a key. One that is of an integer dtype and in the device's memory
 * is not waited for. */
static joist_status place_number(const struct running *r, const struct joist_instruction *i,
                                 struct joist_cuda_parameter *parameter, void **made,
                                 struct joist_error *error) {
  const joist_dtype dtype = value_of(r, i->operand[1])->type.dtype;
  struct seen seen;
  int64_t number = 0;
  if (!is_given(r, i->operand[1]) && joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT)
    return joist_cuda_convert(r, i->operand[1], JOIST_I64, &parameter->elements, made, error);
  joist_status status = examine(r, i, &seen, error);
  if (status == JOIST_OK) status = joist_fold_number(&seen.draw, &number, error);
  memcpy(parameter->one, &number, sizeof number);
  return status;
}

/* ---- which, and running it ---- */

bool joist_cuda_can_draw(const struct running *r, const struct joist_instruction *i) {
  return value_of(r, i->operand[0])->type.dtype == JOIST_UI32;
}

/* A deviation is real. */
bool joist_cuda_can_draw_normal(const struct running *r, const struct joist_instruction *i) {
  return joist_cuda_can_draw(r, i) &&
         joist_dtype_kind(value_of(r, i->operand[2])->type.dtype) != JOIST_KIND_COMPLEX;
}

bool joist_cuda_can_fold(const struct running *r, const struct joist_instruction *i) {
  return joist_cuda_can_draw(r, i) && value_of(r, i->result)->type.dtype == JOIST_UI32;
}

static struct joist_cuda_draw draw_of(const struct running *r, const struct joist_instruction *i) {
  const joist_dtype dtype = value_of(r, i->result)->type.dtype;
  const struct joist_whole whole = joist_dtype_whole(dtype);
  return (struct joist_cuda_draw){.count = count_of(r->plan->program, i->result),
                                  .key = r->arrays[i->operand[0]],
                                  .out = r->arrays[i->result],
                                  .smallest = whole.smallest,
                                  .largest = whole.largest,
                                  .most = joist_count_most(dtype),
                                  .op = (uint32_t)i->op,
                                  .dtype = (uint32_t)dtype,
                                  .size = (uint32_t)joist_dtype_size(dtype),
                                  .wide = joist_dtype_size(joist_dtype_real(dtype)) == 8};
}

static joist_status start_draw(const struct running *r, const struct joist_cuda_draw *draw,
                               struct joist_error *error) {
  return joist_cuda_check((cudaError_t)joist_cuda_start_draw(draw, r->state->stream),
                          "starting a kernel", error);
}

joist_status joist_cuda_fold(const struct running *r, const struct joist_instruction *i,
                             struct joist_error *error) {
  struct joist_cuda_draw draw = draw_of(r, i);
  void *made = NULL;
  draw.split = joist_attribute_flag(i->attributes, JOIST_ATTRIBUTE_SPLIT);
  joist_status status = place_number(r, i, &draw.lhs, &made, error);
  if (status == JOIST_OK) status = start_draw(r, &draw, error);
  joist_cuda_free(r->device, made);
  return status;
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

/* With a parameter that does not fit, the CPU's engine says what is wrong. */
joist_status joist_cuda_draw(const struct running *r, const struct joist_instruction *i,
                             struct joist_error *error) {
  struct joist_cuda_draw draw = draw_of(r, i);
  void *made[2] = {NULL, NULL};
  bool all_here = true, fits = true;
  if (draw.count == 0) return JOIST_OK;
  joist_status status = place_parameters(r, i, &draw, made, &all_here, error);
  if (status == JOIST_OK && !all_here) status = check_there(r, &draw, &fits, error);
  if (status == JOIST_OK && fits) status = start_draw(r, &draw, error);
  for (int k = 0; k < 2; k++) joist_cuda_free(r->device, made[k]);
  return fits ? status : joist_cuda_run_on_cpu(r, error);
}
