#include "r/call/lower.h"

#include "r/base/conditions.h"
#include "r/tensor/mask.h"
#include "r/trace/recorded.h"

static void input(struct joist_program *program, struct joist_type type,
                  const struct joist_shape *shape, joist_value_id *id) {
  struct joist_error error;
  joist_r_raise_if(joist_program_add_input(program, type, shape, id, &error), &error);
}

static void output(struct joist_program *program, joist_value_id value) {
  struct joist_error error;
  joist_r_raise_if(joist_program_add_output(program, value, &error), &error);
}

/* The first operand whose mask the k-th has, too: values that are computed from one another share
 * their mask, and nothing is to be combined then. */
static size_t first_with_mask(const struct joist_r_value *values, size_t k) {
  for (size_t j = 0; j < k; j++)
    if (values[j].missing != R_NilValue && values[j].missing == values[k].missing &&
        joist_shape_equal(&values[j].argument.shape, &values[k].argument.shape))
      return j;
  return k;
}

bool joist_r_has_own_mask(const struct joist_r_call *call, size_t k) {
  return joist_r_has_missing(&call->values[k]) && first_with_mask(call->values, k) == k;
}

static void add_inputs(const struct joist_r_call *call, joist_value_id *operands,
                       struct joist_r_lowered *lowered) {
  const struct joist_r_value *const values = call->values;
  for (size_t k = 0; k < call->count; k++) {
    struct joist_type type = values[k].argument.operand.type;
    if (values[k].form == JOIST_R_LITERAL)
      type = (struct joist_type){joist_signature_operand(&call->inference.signature, k), false};
    input(lowered->program, type, &values[k].argument.shape, &operands[k]);
  }
  for (size_t k = 0; k < call->count; k++) {
    lowered->masks[k] = JOIST_NO_MASK;
    const size_t first = first_with_mask(values, k);
    if (first < k)
      lowered->masks[k] = lowered->masks[first];
    else if (joist_r_has_missing(&values[k]))
      input(lowered->program, joist_r_mask_type, &values[k].argument.shape, &lowered->masks[k]);
  }
}

size_t joist_r_operand_with(const struct joist_r_call *call, const struct joist_r_lowered *lowered,
                            joist_value_id mask) {
  size_t k = 0;
  while (k < call->count && lowered->masks[k] != mask) k++;
  return k;
}

/* The results, and their masks if these are computed. */
static void add_outputs(const struct joist_r_call *call, const struct joist_r_lowered *lowered,
                        const joist_value_id *results) {
  const int count = joist_operation(call->op)->results;
  const joist_value_id *const masks = lowered->result_masks;
  for (int r = 0; r < count; r++) output(lowered->program, results[r]);
  for (int r = 0; r < count; r++)
    if (masks[r] != JOIST_NO_MASK && (r == 0 || masks[r] != masks[0]) &&
        joist_r_operand_with(call, lowered, masks[r]) == call->count)
      output(lowered->program, masks[r]);
}

SEXP joist_r_lower(const struct joist_r_call *call, struct joist_r_lowered *lowered) {
  for (int r = 0; r < JOIST_RESULTS_MAX; r++) lowered->result_masks[r] = JOIST_NO_MASK;
  lowered->owner = R_NilValue;
  if (!call->masked) return R_NilValue;
  const size_t n = call->count;
  joist_value_id *const operands = (joist_value_id *)R_alloc(2 * n + 1, (int)sizeof *operands);
  joist_value_id results[JOIST_RESULTS_MAX];
  lowered->masks = operands + n;
  lowered->owner = PROTECT(joist_r_program_new(&lowered->program));
  add_inputs(call, operands, lowered);
  const struct joist_missing missing = {.op = call->op,
                                        .inference = &call->inference,
                                        .attributes = &call->plain,
                                        .count = n,
                                        .operands = operands,
                                        .masks = lowered->masks,
                                        .remove = call->remove,
                                        .source = JOIST_NO_SOURCE};
  struct joist_error error;
  joist_r_raise_called_if(
      joist_missing_add(lowered->program, &missing, results, lowered->result_masks, &error),
      &error);
  add_outputs(call, lowered, results);
  UNPROTECT(1);
  return lowered->owner;
}

void joist_r_lowered_free(const struct joist_r_lowered *lowered) {
  if (lowered->owner != R_NilValue) joist_r_program_free(lowered->owner);
}
