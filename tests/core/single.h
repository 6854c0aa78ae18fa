/* single.h: programs of one operation with one operand, for the tests of such operations. */
#ifndef JOIST_TESTS_SINGLE_H
#define JOIST_TESTS_SINGLE_H

#include "core/plan/plan.h"

#include "programs.h"

struct single {
  struct joist_program program;
  struct joist_plan *plan;
  size_t elements, results;
  joist_dtype from, to, accumulator;
};

/* What inference says; nothing is made unless that is JOIST_OK. */
static inline joist_status begin_single(struct single *s, joist_op op, joist_dtype dtype,
                                        const struct joist_shape *shape,
                                        const struct joist_attributes *attributes) {
  struct joist_inference inference;
  struct joist_error error;
  joist_value_id result = 0;
  memset(s, 0, sizeof *s);
  joist_program_init(&s->program);
  const joist_value_id input = add_input(&s->program, dtype, shape->rank, shape->extent);
  const joist_status status =
      infer_and_append(&s->program, op, &input, 1, attributes, &inference, &result, &error);
  if (status != JOIST_OK) {
    joist_program_clear(&s->program);
    return status;
  }
  CHECK_INT(joist_program_add_output(&s->program, result, &error), JOIST_OK);
  CHECK_INT(joist_plan_make(&s->program, &s->plan, &error), JOIST_OK);
  CHECK(joist_shape_count(shape, &s->elements));
  CHECK(joist_shape_count(&inference.shape[0], &s->results));
  s->from = dtype;
  s->to = inference.signature.result[0].dtype;
  s->accumulator = inference.signature.operand[0];
  return JOIST_OK;
}

static inline void end_single(struct single *s) {
  joist_plan_free(s->plan);
  joist_program_clear(&s->program);
}

#endif
