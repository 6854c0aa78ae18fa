/* Quantized blocks on a device: their values, and products with columns of f32. */
#include "core/kernels/blocks.h"
#include "cuda/kernels/packed_kernels.h"
#include "cuda/ops/operations.h"

static joist_block block_of(const struct joist_instruction *i) {
  return joist_block_of_code((uint32_t)joist_attribute_value(i->attributes, JOIST_ATTRIBUTE_K));
}

bool joist_cuda_can_unpack(const struct running *r, const struct joist_instruction *i) {
  const struct joist_value *const values = r->plan->program->values;
  const joist_dtype *const given = i->signature.operand;
  return joist_cuda_has_packed(block_of(i)) && given[0] == JOIST_UI8 &&
         (i->operand_count == 1 || given[1] == JOIST_F32) &&
         values[i->result].type.dtype == JOIST_F32;
}

joist_status joist_cuda_unpack(const struct running *r, const struct joist_instruction *i,
                               struct joist_error *error) {
  const struct joist_value *const values = r->plan->program->values;
  const struct joist_block_facts *const facts = joist_block_facts(block_of(i));
  const uint32_t bytes = values[i->operand[0]].shape.extent[0];
  struct joist_cuda_packed packed = {.out = r->arrays[i->result],
                                     .row_bytes = bytes,
                                     .depth = bytes / facts->bytes * facts->elements};
  const void *operand[2] = {NULL, NULL};
  void *made[2] = {NULL, NULL};
  if (count_of(r->plan->program, i->result) == 0) return JOIST_OK;
  joist_status status = JOIST_OK;
  for (uint32_t k = 0; k < i->operand_count && status == JOIST_OK; k++)
    status =
        joist_cuda_convert(r, i->operand[k], i->signature.operand[k], &operand[k], &made[k], error);
  packed.packed = operand[0];
  packed.x = operand[1];
  packed.rows = i->operand_count == 2 ? values[i->result].shape.extent[0]
                                      : count_of(r->plan->program, i->result) / packed.depth;
  packed.columns = i->operand_count == 2 ? values[i->result].shape.extent[1] : 1;
  if (status == JOIST_OK)
    status = joist_cuda_check(
        (cudaError_t)joist_cuda_start_packed((int)block_of(i), &packed, r->state->stream),
        "starting a kernel", error);
  for (int k = 0; k < 2; k++) joist_cuda_free(r->device, made[k]);
  return status;
}
