/* single.h: programs with one output, for the tests of single operations. */
#ifndef JOIST_TESTS_SINGLE_H
#define JOIST_TESTS_SINGLE_H

#include "core/cpu/engine.h"
#include "core/plan/plan.h"
#include "core/promotion/builtin_rules.h"

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

/* What the one output of a program is; the caller frees it. NULL if planning or running fails. */
static inline void *run_output(const struct joist_program *program, const void *const *inputs,
                               int threads, joist_status *status) {
  struct joist_plan *plan = NULL;
  const struct joist_run run = {.threads = threads, .parallel_from = 1};
  void *out = malloc(bytes_of(program, program->outputs[0]) + 1);
  if (out == NULL) abort();
  *status = joist_plan_make(program, &plan, NULL);
  if (*status == JOIST_OK) *status = joist_plan_run(plan, inputs, &out, &run, NULL);
  joist_plan_free(plan);
  if (*status == JOIST_OK) return out;
  free(out);
  return NULL;
}

static inline void end_single(struct single *s) {
  joist_plan_free(s->plan);
  joist_program_clear(&s->program);
}

#endif
