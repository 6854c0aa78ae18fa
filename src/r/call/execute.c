/* The one place where programs are run for R. */
#include "r/call/execute.h"

#include "core/program/watch.h"
#include "r/base/conditions.h"
#include "r/memory/device_payload.h"
#include "r/memory/payload.h"

/* Where the outputs are written. */
static void allocate(const struct joist_r_execution *x, void **out) {
  for (uint32_t k = 0; k < x->program->output_count; k++) {
    SEXP payload = VECTOR_ELT(x->outputs, k);
    const struct joist_value *const value = &x->program->values[x->program->outputs[k]];
    if (payload == R_NilValue)
      SET_VECTOR_ELT(
          x->outputs, k,
          joist_r_payload_on(x->device, value->type.dtype, joist_value_count(value), &out[k]));
    else
      out[k] = joist_r_elements(payload);
  }
}

/* Runs the program, or what is left to look for where some of it was told. */
static void run(const struct joist_r_execution *x, bool watched, struct joist_r_found *left,
                void *const *out, struct joist_tally *tally) {
  const struct joist_program *const program = left != NULL ? left->program : x->program;
  const struct joist_plan *plan = left != NULL ? left->plan : x->plan;
  struct joist_plan *made = NULL;
  struct joist_error error;
  joist_status status = JOIST_OK;
  if (plan == NULL) {
    status = joist_plan_make(program, &made, &error);
    plan = made;
  }
  if (left != NULL) left->running++;
  if (status == JOIST_OK)
    status = watched ? joist_r_run_watched(x->device, plan, program, x->inputs, out, x->run, tally,
                                           &error)
                     : joist_r_run_plan(x->device, plan, x->inputs, out, x->run, &error);
  if (left != NULL) left->running--;
  joist_plan_free(made);
  if (x->plan == NULL) joist_r_raise_called_if(status, &error);
  joist_r_raise_if(status, &error);
}

void joist_r_execute(const struct joist_r_execution *x) {
  enum { FEW = 4 };
  const void *const vmax = vmaxget();
  const uint32_t count = x->program->output_count;
  void *few[FEW];
  void **const out = count <= FEW ? few : (void **)R_alloc(count, sizeof *out);
  struct joist_tally tally;
  allocate(x, out);
  bool watched = x->watched;
  if (watched && x->found == NULL) watched = !joist_r_were_told(x->program, x->lines, x->policy);
  struct joist_r_found *left = NULL;
  if (watched && x->found != NULL &&
      joist_r_leaves_out(*x->found, x->program, x->lines, x->policy)) {
    left = *x->found;
    watched = joist_program_watch(left->program) != 0;
  }
  run(x, watched, left, out, &tally);
  vmaxset(vmax);
  for (uint32_t k = 0; k < x->tensors; k++) {
    const struct joist_value *const value = &x->program->values[x->program->outputs[k]];
    SEXP dim = joist_r_dim_among(&value->shape, x->values, (int)x->value_count);
    SET_VECTOR_ELT(x->outputs, k,
                   joist_r_tensor_with(VECTOR_ELT(x->outputs, k), value->type, &value->shape, dim));
  }
  x->finish(x, x->context);
  if (!watched || tally.count == 0) return;
  if (x->found != NULL)
    joist_r_note_findings(x->found, x->program, left != NULL ? left->program : x->program, &tally);
  joist_r_tell_findings(&tally, x->lines, x->policy);
}
