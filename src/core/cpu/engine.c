/* Running a plan on the CPU: its groups, one after the other, and their arrays. */
#include "core/cpu/engine.h"

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/cpu/elementwise.h"
#include "core/cpu/execute.h"
#include "core/cpu/reduce.h"
#include "core/plan/fold_space.h"
#include "core/plan/storage.h"
#include "core/program/regions.h"
#include "core/types/convert.h"
#include "core/types/error.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the values that the tiles accumulate for a sink, rounded up so that the next sink's
 * are aligned. */
static size_t accumulated_bytes(const struct joist_group *group, const struct joist_step *fold) {
  const struct joist_fold_space space = group->space;
  const size_t values = space.inner * joist_fold_chunks(space) * space.outer;
  return (values * fold->out.size + JOIST_ELEMENT_MAX) / JOIST_ELEMENT_MAX * JOIST_ELEMENT_MAX;
}

static joist_status run_elementwise(const struct joist_plan *plan, const struct joist_group *group,
                                    void *const *arrays, const struct joist_run *run,
                                    struct joist_error *error) {
  if (group->sink_count == 0) return joist_tiles_run(plan, group, arrays, NULL, run, error);
  enum { FEW = 4, STACK_BYTES = 512 };
  const struct joist_step *const steps = plan->steps + group->first_step;
  size_t total = 0;
  for (uint32_t s = 0; s < group->step_count; s++)
    if (steps[s].kind == JOIST_STEP_FOLD) total += accumulated_bytes(group, &steps[s]);
  _Alignas(16) char stack[STACK_BYTES];
  char *few[FEW];
  char *const block = total <= STACK_BYTES ? stack : joist_scratch_allocate(total);
  char **const sinks = group->sink_count <= FEW ? few : malloc(group->sink_count * sizeof *sinks);
  joist_status status = JOIST_OK;
  if (block == NULL || sinks == NULL) {
    status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  } else {
    size_t used = 0;
    for (uint32_t s = 0; s < group->step_count; s++) {
      if (steps[s].kind != JOIST_STEP_FOLD) continue;
      sinks[steps[s].sink] = block + used;
      used += accumulated_bytes(group, &steps[s]);
    }
    status = joist_tiles_run(plan, group, arrays, sinks, run, error);
    for (uint32_t s = 0; s < group->step_count && status == JOIST_OK; s++) {
      if (steps[s].kind != JOIST_STEP_FOLD) continue;
      const struct joist_instruction *const i = &plan->program->instructions[steps[s].instruction];
      status = joist_reduction_finish(plan->program, i, sinks[steps[s].sink], arrays[i->result],
                                      run, error);
    }
  }
  if (sinks != few) free(sinks);
  if (block != stack) joist_scratch_free(block);
  return status;
}

/* ---- loops and branches ---- */

/* A body that is run turn by turn: where it reads, and where it writes. */
struct body {
  const struct joist_plan *plan;
  struct joist_workspace workspace;
  const void **in;
  void **out;
};

static joist_status open_body(const struct joist_plan *plan, struct body *body,
                              struct joist_error *error) {
  const size_t inputs = plan->program->input_count, outputs = plan->program->output_count;
  *body = (struct body){.plan = plan, .in = malloc((inputs + outputs + 1) * sizeof *body->in)};
  if (body->in == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  body->out = (void **)(body->in + inputs);
  return joist_workspace_make(plan, &body->workspace, error);
}

static void close_body(struct body *body) {
  joist_workspace_free(&body->workspace);
  free(body->in);
}

static joist_status run_body(const struct body *body, const struct joist_run *run,
                             struct joist_error *error) {
  return joist_plan_run_in(body->plan, &body->workspace, body->in, body->out, run, error);
}

/* A loop under way. Each carry is in one of two arrays in turn, that of its result and a spare one;
 * before the first turn it is where the operand is, which is only read. */
struct turns {
  const struct joist_program *program;
  const struct joist_instruction *instruction;
  struct joist_region_parts parts;
  void *const *arrays;
  struct body condition, body; /* the former of a `while` */
  const void **current;        /* per carry */
  char *spare;
  size_t *offset;    /* per carry, in `spare` */
  size_t work, done; /* elements of a turn, and since the last poll */
};

static void *result_of(const struct turns *turns, uint32_t k) {
  return turns->arrays[turns->instruction->result + k];
}

static const void *operand_of(const struct turns *turns, uint32_t k) {
  return turns->arrays[turns->instruction->operand[k]];
}

static void read_captures(const struct turns *turns, const struct body *body, uint32_t region,
                          uint32_t first) {
  const uint32_t given = turns->parts.inputs[region] - turns->parts.captures[region];
  for (uint32_t k = 0; k < turns->parts.captures[region]; k++)
    body->in[given + k] = operand_of(turns, first + k);
}

/* A poll takes as long as some hundred elements. */
enum { POLL_AFTER = 1 << 14 };

/* One turn of the body, of which the carries are the inputs from `given` on, to the spare arrays or
 * to the results: in turn, as none is written where it is read. */
static joist_status take_turn(struct turns *turns, uint32_t given, bool to_spare,
                              const struct joist_run *run, struct joist_error *error) {
  for (uint32_t k = 0; k < turns->parts.carries; k++) {
    turns->body.in[given + k] = turns->current[k];
    turns->body.out[k] = to_spare ? turns->spare + turns->offset[k] : result_of(turns, k);
  }
  const joist_status status = run_body(&turns->body, run, error);
  for (uint32_t k = 0; k < turns->parts.carries; k++) turns->current[k] = turns->body.out[k];
  turns->done += turns->work;
  if (status != JOIST_OK || turns->done < POLL_AFTER) return status;
  turns->done = 0;
  return joist_run_poll(run, error);
}

static joist_status run_while(struct turns *turns, const struct joist_run *run,
                              struct joist_error *error) {
  bool goes_on = false, to_spare = false;
  uint8_t holds = 0;
  turns->condition.out[0] = &holds;
  joist_status status;
  do {
    for (uint32_t k = 0; k < turns->parts.carries; k++) turns->condition.in[k] = turns->current[k];
    status = run_body(&turns->condition, run, error);
    goes_on = status == JOIST_OK && holds != 0;
    if (goes_on) status = take_turn(turns, 0, to_spare, run, error);
    to_spare = !to_spare;
  } while (goes_on && status == JOIST_OK);
  return status;
}

/* The last turn writes the results. */
static joist_status run_for(struct turns *turns, const struct joist_run *run,
                            struct joist_error *error) {
  const struct joist_program *const body = turns->body.plan->program;
  int64_t n;
  memcpy(&n, operand_of(turns, 0), sizeof n);
  joist_convert_kernel *const as_index = joist_convert_find(JOIST_I64, body->values[0].type.dtype);
  _Alignas(16) char index[16];
  turns->body.in[0] = index;
  joist_status status = JOIST_OK;
  for (int64_t turn = 1; turn <= n && status == JOIST_OK; turn++) {
    as_index(1, &turn, index);
    status = take_turn(turns, 1, (n - turn) % 2 != 0, run, error);
  }
  return status;
}

static joist_status run_scan(struct turns *turns, const struct joist_run *run,
                             struct joist_error *error) {
  const struct joist_region_parts *const parts = &turns->parts;
  const struct joist_program *const body = turns->body.plan->program;
  const bool reverse =
      joist_attribute_flag(turns->instruction->attributes, JOIST_ATTRIBUTE_REVERSE);
  joist_status status = JOIST_OK;
  for (size_t turn = 0; turn < parts->turns && status == JOIST_OK; turn++) {
    const size_t at = reverse ? parts->turns - 1 - turn : turn;
    for (uint32_t k = 0; k < parts->arrays; k++) {
      const struct joist_value *const array =
          &turns->program->values[turns->instruction->operand[parts->carries + k]];
      turns->body.in[parts->carries + k] = (const char *)operand_of(turns, parts->carries + k) +
                                           at * (joist_value_bytes(array) / parts->turns);
    }
    for (uint32_t k = parts->carries; k < body->output_count; k++)
      turns->body.out[k] =
          (char *)result_of(turns, k) + at * joist_value_bytes(&body->values[body->outputs[k]]);
    status = take_turn(turns, 0, (parts->turns - turn) % 2 == 0, run, error);
  }
  return status;
}

/* What the carries are at the end, where it is not there already. */
static void finish_carries(const struct turns *turns) {
  for (uint32_t k = 0; k < turns->parts.carries; k++) {
    const size_t bytes = joist_value_bytes(&turns->program->values[turns->instruction->result + k]);
    if (turns->current[k] != result_of(turns, k) && bytes > 0)
      memcpy(result_of(turns, k), turns->current[k], bytes);
  }
}

static joist_status run_turns(struct turns *turns, const struct joist_run *run,
                              struct joist_error *error) {
  switch (turns->instruction->op) {
    case JOIST_OP_WHILE:
      return run_while(turns, run, error);
    case JOIST_OP_FOR:
      return run_for(turns, run, error);
    default:
      return run_scan(turns, run, error);
  }
}

static size_t elements_of(const struct joist_program *program) {
  size_t count = 0;
  for (uint32_t v = 0; v < program->value_count; v++)
    count += joist_value_count(&program->values[v]);
  return count;
}

static joist_status run_loop(const struct joist_plan *plan, const struct joist_group *group,
                             struct turns *turns, const struct joist_run *run,
                             struct joist_error *error) {
  const struct joist_region_parts *const parts = &turns->parts;
  struct joist_plan *const *const bodies = plan->bodies + group->first_body;
  const uint32_t carries = parts->carries, last = turns->instruction->region_count - 1;
  size_t bytes = 0;
  turns->current = malloc((carries + 1) * (sizeof *turns->current + sizeof *turns->offset));
  if (turns->current == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  turns->offset = (size_t *)(turns->current + carries);
  for (uint32_t k = 0; k < carries; k++) {
    enum { ALIGNMENT = 64 };
    turns->current[k] = operand_of(turns, parts->first + k);
    turns->offset[k] = bytes;
    bytes += joist_round_up(
        joist_value_bytes(&turns->program->values[turns->instruction->result + k]), ALIGNMENT);
  }
  turns->spare = joist_scratch_allocate(bytes + 1);
  joist_status status = JOIST_OK;
  if (turns->spare == NULL) status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  if (status == JOIST_OK) status = open_body(bodies[last], &turns->body, error);
  if (status == JOIST_OK && last > 0) status = open_body(bodies[0], &turns->condition, error);
  if (status == JOIST_OK) {
    uint32_t captures = parts->first + carries + parts->arrays;
    if (last > 0) read_captures(turns, &turns->condition, 0, captures);
    if (last > 0) captures += parts->captures[0];
    read_captures(turns, &turns->body, last, captures);
    turns->work = 1;
    for (uint32_t r = 0; r <= last; r++) turns->work += elements_of(bodies[r]->program);
    status = run_turns(turns, run, error);
  }
  if (status == JOIST_OK) finish_carries(turns);
  close_body(&turns->body);
  close_body(&turns->condition);
  joist_scratch_free(turns->spare);
  free(turns->current);
  return status;
}

/* Only the branch that is taken. */
static joist_status run_if(const struct joist_plan *plan, const struct joist_group *group,
                           const struct turns *turns, const struct joist_run *run,
                           struct joist_error *error) {
  const uint32_t region = *(const uint8_t *)operand_of(turns, 0) != 0 ? 0 : 1;
  struct body body;
  joist_status status = open_body(plan->bodies[group->first_body + region], &body, error);
  if (status == JOIST_OK) {
    read_captures(turns, &body, region, region == 0 ? 1 : 1 + turns->parts.captures[0]);
    for (uint32_t k = 0; k < turns->instruction->result_count; k++)
      body.out[k] = result_of(turns, k);
    status = run_body(&body, run, error);
  }
  close_body(&body);
  return status;
}

static joist_status run_regions(const struct joist_plan *plan, const struct joist_group *group,
                                void *const *arrays, const struct joist_run *run,
                                struct joist_error *error) {
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  struct turns turns = {.program = plan->program,
                        .instruction = i,
                        .parts = joist_region_parts(plan->program, i),
                        .arrays = arrays};
  return i->op == JOIST_OP_IF ? run_if(plan, group, &turns, run, error)
                              : run_loop(plan, group, &turns, run, error);
}

joist_status joist_group_run(const struct joist_plan *plan, const struct joist_group *group,
                             void *const *arrays, const struct joist_run *run,
                             struct joist_error *error) {
  if (group->kind == JOIST_GROUP_ELEMENTWISE)
    return run_elementwise(plan, group, arrays, run, error);
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  if (i->region_count > 0) return run_regions(plan, group, arrays, run, error);
  return joist_execute(plan->program, i, arrays, run, error);
}

/* ---- plans ---- */

static joist_status run_placed(const struct joist_plan *plan, void *const *arrays,
                               void *const *outputs, const struct joist_run *run,
                               struct joist_error *error) {
  const struct joist_program *const program = plan->program;
  joist_status status = JOIST_OK;
  for (uint32_t g = 0; g < plan->group_count && status == JOIST_OK; g++)
    status = joist_group_run(plan, &plan->groups[g], arrays, run, error);
  /* A value that is several outputs, or an input, is computed once and copied. */
  for (uint32_t k = 0; k < program->output_count && status == JOIST_OK; k++) {
    const joist_value_id v = program->outputs[k];
    const size_t length = joist_value_bytes(&program->values[v]);
    if (arrays[v] != outputs[k] && length > 0) memcpy(outputs[k], arrays[v], length);
  }
  return status;
}

joist_status joist_plan_run(const struct joist_plan *plan, const void *const *inputs,
                            void *const *outputs, const struct joist_run *run,
                            struct joist_error *error) {
  const struct joist_program *const program = plan->program;
  enum { FEW = 16 };
  void *few[FEW];
  const size_t bytes = plan->scratch_bytes;
  char none; /* where arrays without elements are */
  char *const scratch = bytes == 0 ? &none : joist_scratch_allocate(bytes);
  void **const arrays =
      program->value_count <= FEW ? few : malloc(program->value_count * sizeof *arrays);
  joist_status status = JOIST_OK;
  if (arrays == NULL || scratch == NULL) {
    status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  } else {
    joist_plan_place(plan, inputs, outputs, scratch, arrays);
    status = run_placed(plan, arrays, outputs, run, error);
  }
  if (arrays != few) free(arrays);
  if (bytes > 0) joist_scratch_free(scratch);
  return status;
}

joist_status joist_workspace_make(const struct joist_plan *plan, struct joist_workspace *workspace,
                                  struct joist_error *error) {
  const size_t bytes = plan->scratch_bytes + 1;
  workspace->scratch = joist_scratch_allocate(bytes);
  workspace->arrays = malloc((plan->program->value_count + 1) * sizeof *workspace->arrays);
  if (workspace->scratch != NULL && workspace->arrays != NULL) return JOIST_OK;
  joist_workspace_free(workspace);
  return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
}

void joist_workspace_free(struct joist_workspace *workspace) {
  joist_scratch_free(workspace->scratch);
  free(workspace->arrays);
  *workspace = (struct joist_workspace){NULL, NULL};
}

joist_status joist_plan_run_in(const struct joist_plan *plan,
                               const struct joist_workspace *workspace, const void *const *inputs,
                               void *const *outputs, const struct joist_run *run,
                               struct joist_error *error) {
  joist_plan_place(plan, inputs, outputs, workspace->scratch, workspace->arrays);
  return run_placed(plan, workspace->arrays, outputs, run, error);
}
