/* Runs loops, one iteration at a time, and branches. */
#include "core/cpu/control_flow.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/base/run.h"
#include "core/cpu/native.h"
#include "core/cpu/prepared.h"
#include "core/plan/storage.h"
#include "core/program/regions.h"
#include "core/types/convert.h"
#include "core/types/error.h"

enum { ALIGNMENT = 64 };
#define IN_PLACE SIZE_MAX

/* ---- bodies ---- */

/* An array whose address changes between iterations, and the entry of `in` or `out` that has it. */
struct moving {
  void **array;
  const void *from;
};

/* A body that is run once per iteration: where it reads, and where it writes. */
struct body {
  const struct joist_plan *plan;
  joist_group_runner *run_group;
  const void **in;
  void **out;
  void **arrays;         /* per value of its program */
  struct moving *moving; /* in the same memory */
  size_t moving_count;
  bool copies; /* an output is computed elsewhere */
  char *scratch;
  struct joist_prepared **prepared; /* per group, NULL for one that is not */
};

static void close_body(struct body *body) {
  for (uint32_t g = 0; body->prepared != NULL && g < body->plan->group_count; g++)
    joist_prepared_free(body->prepared[g]);
  free(body->prepared);
  free(body->arrays);
  free(body->in);
  joist_scratch_free(body->scratch);
}

/* Lists what moves: all inputs before `given`, and outputs. The rest has been placed by now. */
static void list_moving(struct body *body, uint32_t given) {
  const struct joist_plan *const plan = body->plan;
  const struct joist_program *const program = plan->program;
  for (uint32_t v = 0; v < program->value_count; v++) {
    const uint32_t input = program->values[plan->root[v]].input;
    const void *const from = joist_plan_source(plan, v, body->in, body->out);
    if (from != NULL && (input == JOIST_NO_INPUT || input < given))
      body->moving[body->moving_count++] = (struct moving){&body->arrays[v], from};
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    const uint32_t root = plan->root[program->outputs[k]];
    body->copies |= program->values[root].input != JOIST_NO_INPUT || plan->home[root] != k;
  }
}

/* Only captures are the same in all iterations: the inputs from `given` on, known by now. */
static joist_status make_prepared(struct body *body, uint32_t given, const struct joist_run *run,
                                  struct joist_error *error) {
  const struct joist_plan *const plan = body->plan;
  const struct joist_program *const program = plan->program;
  bool *const fixed = malloc(program->value_count + 1);
  body->prepared = calloc(plan->group_count + 1, sizeof(struct joist_prepared *));
  joist_status status = JOIST_OK;
  if (fixed == NULL || body->prepared == NULL) status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (uint32_t v = 0; v < program->value_count && status == JOIST_OK; v++) {
    const uint32_t input = program->values[plan->root[v]].input;
    fixed[v] = input != JOIST_NO_INPUT && input >= given;
  }
  for (uint32_t g = 0; g < plan->group_count && status == JOIST_OK; g++)
    status = joist_prepared_make(plan, &plan->groups[g], body->arrays, fixed, run,
                                 &body->prepared[g], error);
  free(fixed);
  return status;
}

static joist_status run_body(const struct body *body, const struct joist_run *run,
                             struct joist_error *error) {
  const struct joist_plan *const plan = body->plan;
  for (size_t k = 0; k < body->moving_count; k++)
    memcpy(body->moving[k].array, body->moving[k].from, sizeof(void *));
  joist_status status = JOIST_OK;
  for (uint32_t g = 0; g < plan->group_count && status == JOIST_OK; g++)
    status = body->prepared[g] != NULL
                 ? joist_prepared_run(body->prepared[g], error)
                 : body->run_group(plan, &plan->groups[g], body->arrays, run, error);
  if (status == JOIST_OK && body->copies) joist_plan_finish(plan, body->arrays, body->out);
  return status;
}

/* ---- iterations ---- */

/* A loop in progress. Each carry alternates between two arrays: its result's and a spare one.
 * Before the first iteration it is in the array of the operand, which is never written. A carry
 * that is written to in place starts as a copy of its operand in the result's array and stays
 * there. */
struct turns {
  const struct joist_plan *plan;
  const struct joist_group *group;
  const struct joist_program *program;
  const struct joist_instruction *instruction;
  struct joist_region_parts parts;
  void *const *arrays;
  const void *const *operands;
  joist_group_runner *run_group;
  struct body condition, body; /* the former of a `while` */
  const void **current;        /* per carry */
  char *spare;
  size_t *offset;          /* per carry, in `spare`; IN_PLACE for one without */
  size_t work, done;       /* elements of an iteration, and since the last poll */
  struct joist_run inside; /* the settings of the bodies */
  size_t since;            /* iterations since then */
  bool compiled;           /* there is compiled code for the rest */
};

static joist_status open_body(const struct turns *turns, const struct joist_plan *plan,
                              uint32_t region, const void *const *captures, struct body *body,
                              const struct joist_run *run, struct joist_error *error) {
  const struct joist_region_parts *const parts = &turns->parts;
  const struct joist_program *const program = plan->program;
  const uint32_t inputs = program->input_count, given = inputs - parts->captures[region];
  *body = (struct body){
      .plan = plan,
      .run_group = turns->run_group,
      .in = calloc(inputs + program->output_count + 1, sizeof *body->in),
      .arrays = malloc((program->value_count + 1) * (sizeof *body->arrays + sizeof *body->moving)),
      .scratch = joist_scratch_allocate(plan->scratch_bytes + 1)};
  if (body->in == NULL || body->arrays == NULL || body->scratch == NULL)
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = plan->scratch_bytes);
  body->out = (void **)(body->in + inputs);
  body->moving = (struct moving *)(void *)(body->arrays + program->value_count + 1);
  for (uint32_t k = 0; k < parts->captures[region]; k++) body->in[given + k] = captures[k];
  joist_plan_place(plan, body->in, body->out, body->scratch, body->arrays);
  list_moving(body, given);
  return make_prepared(body, given, run, error);
}

static void *result_of(const struct turns *turns, uint32_t k) {
  return turns->arrays[turns->instruction->result + k];
}

/* Runs one iteration of the body, whose inputs from `given` on are the carries. Writes to the spare
 * arrays or to the results, alternately, so that no carry is written where it is read. */
static joist_status take_turn(struct turns *turns, uint32_t given, bool to_spare,
                              const struct joist_run *run, struct joist_error *error) {
  for (uint32_t k = 0; k < turns->parts.carries; k++) {
    turns->body.in[given + k] = turns->current[k];
    turns->body.out[k] = to_spare && turns->offset[k] != IN_PLACE ? turns->spare + turns->offset[k]
                                                                  : result_of(turns, k);
  }
  const joist_status status = run_body(&turns->body, &turns->inside, error);
  for (uint32_t k = 0; k < turns->parts.carries; k++) turns->current[k] = turns->body.out[k];
  turns->done += turns->work;
  turns->since++;
  if (status != JOIST_OK || turns->done < JOIST_POLL_AFTER) return status;
  const size_t since = turns->since;
  turns->done = turns->since = 0;
  const joist_status polled = joist_run_poll(run, error);
  return polled != JOIST_OK
             ? polled
             : joist_native_look(turns->plan, turns->group, since, run, &turns->compiled, error);
}

/* Runs the remaining iterations by compiled code, on copies of the carries: the arrays of the
 * results are written. */
static joist_status run_compiled(struct turns *turns, int64_t turn, const struct joist_run *run,
                                 struct joist_error *error) {
  const uint32_t carries = turns->parts.carries;
  size_t total = 0;
  for (uint32_t k = 0; k < carries; k++)
    total += joist_value_bytes(&turns->program->values[turns->instruction->result + k]) + ALIGNMENT;
  char *const copies = joist_scratch_allocate(total + 1), *next = copies;
  if (copies == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = total);
  for (uint32_t k = 0; k < carries; k++) {
    const size_t bytes = joist_value_bytes(&turns->program->values[turns->instruction->result + k]);
    if (bytes > 0) memcpy(next, turns->current[k], bytes);
    turns->current[k] = next;
    next += joist_round_up(bytes, ALIGNMENT);
  }
  const joist_status status = joist_native_run(turns->plan, turns->group, turns->arrays,
                                               turns->current, turn, turns->run_group, run, error);
  for (uint32_t k = 0; k < carries; k++) turns->current[k] = result_of(turns, k);
  joist_scratch_free(copies);
  return status;
}

static joist_status run_while(struct turns *turns, const struct joist_run *run,
                              struct joist_error *error) {
  bool goes_on = false, to_spare = false;
  uint8_t holds = 0;
  turns->condition.out[0] = &holds;
  joist_status status;
  do {
    for (uint32_t k = 0; k < turns->parts.carries; k++) turns->condition.in[k] = turns->current[k];
    status = run_body(&turns->condition, &turns->inside, error);
    goes_on = status == JOIST_OK && holds != 0;
    if (goes_on) status = take_turn(turns, 0, to_spare, run, error);
    to_spare = !to_spare;
  } while (goes_on && status == JOIST_OK && !turns->compiled);
  return goes_on && status == JOIST_OK ? run_compiled(turns, 0, run, error) : status;
}

/* The last iteration writes the results. */
static joist_status run_for(struct turns *turns, const struct joist_run *run,
                            struct joist_error *error) {
  const struct joist_program *const body = turns->body.plan->program;
  int64_t n;
  memcpy(&n, turns->operands[0], sizeof n);
  joist_convert_kernel *const as_index = joist_convert_find(JOIST_I64, body->values[0].type.dtype);
  _Alignas(16) char index[16];
  turns->body.in[0] = index;
  joist_status status = JOIST_OK;
  int64_t turn = 1;
  for (; turn <= n && status == JOIST_OK && !turns->compiled; turn++) {
    as_index(1, &turn, index);
    status = take_turn(turns, 1, (n - turn) % 2 != 0, run, error);
  }
  return status == JOIST_OK && turn <= n ? run_compiled(turns, turn, run, error) : status;
}

/* The bytes of a slice of each array, then of each further result of an iteration. */
static void slice_sizes(const struct turns *turns, size_t *size) {
  const struct joist_region_parts *const parts = &turns->parts;
  const struct joist_program *const body = turns->body.plan->program;
  for (uint32_t k = 0; k < parts->arrays; k++)
    *size++ = joist_value_bytes(
                  &turns->program->values[turns->instruction->operand[parts->carries + k]]) /
              (parts->turns > 0 ? parts->turns : 1);
  for (uint32_t k = parts->carries; k < body->output_count; k++)
    *size++ = joist_value_bytes(&body->values[body->outputs[k]]);
}

static joist_status run_scan(struct turns *turns, const struct joist_run *run,
                             struct joist_error *error) {
  const struct joist_region_parts *const parts = &turns->parts;
  const uint32_t outputs = turns->body.plan->program->output_count;
  const bool reverse =
      joist_attribute_flag(turns->instruction->attributes, JOIST_ATTRIBUTE_REVERSE);
  size_t *const size = malloc((parts->arrays + outputs + 1) * sizeof *size);
  if (size == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  slice_sizes(turns, size);
  const size_t *const collected = size + parts->arrays - parts->carries;
  joist_status status = JOIST_OK;
  size_t turn = 0;
  for (; turn < parts->turns && status == JOIST_OK && !turns->compiled; turn++) {
    const size_t at = reverse ? parts->turns - 1 - turn : turn;
    for (uint32_t k = 0; k < parts->arrays; k++)
      turns->body.in[parts->carries + k] =
          (const char *)turns->operands[parts->carries + k] + at * size[k];
    for (uint32_t k = parts->carries; k < outputs; k++)
      turns->body.out[k] = (char *)result_of(turns, k) + at * collected[k];
    status = take_turn(turns, 0, (parts->turns - turn) % 2 == 0, run, error);
  }
  free(size);
  return status == JOIST_OK && turn < parts->turns ? run_compiled(turns, (int64_t)turn, run, error)
                                                   : status;
}

/* Copies the carries to the results, unless they are there already. */
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

/* The elements that one run of a body computes. */
static size_t elements_of(const struct joist_plan *body, const struct joist_instruction *loop) {
  size_t count = 0;
  for (uint32_t v = 0; v < body->program->value_count; v++)
    if (body->program->values[v].input == JOIST_NO_INPUT)
      count += joist_elements_written(body, loop, v);
  return count;
}

/* Where the carries are before the first iteration, and from then on. */
static joist_status place_carries(struct turns *turns, const struct joist_plan *body,
                                  struct joist_error *error) {
  const struct joist_region_parts *const parts = &turns->parts;
  size_t bytes = 0;
  turns->current = malloc((parts->carries + 1) * (sizeof *turns->current + sizeof *turns->offset));
  if (turns->current == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  turns->offset = (size_t *)(turns->current + parts->carries);
  for (uint32_t k = 0; k < parts->carries; k++) {
    const size_t own = joist_value_bytes(&turns->program->values[turns->instruction->result + k]);
    turns->current[k] = turns->operands[parts->first + k];
    turns->offset[k] = bytes;
    if (!joist_carry_is_in_place(body, turns->instruction, k)) {
      bytes += joist_round_up(own, ALIGNMENT);
      continue;
    }
    turns->offset[k] = IN_PLACE;
    if (turns->current[k] != result_of(turns, k) && own > 0)
      memcpy(result_of(turns, k), turns->current[k], own);
    turns->current[k] = result_of(turns, k);
  }
  turns->spare = joist_scratch_allocate(bytes + 1);
  return turns->spare == NULL ? JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes) : JOIST_OK;
}

static joist_status run_loop(const struct joist_plan *plan, const struct joist_group *group,
                             struct turns *turns, const struct joist_run *run,
                             struct joist_error *error) {
  const struct joist_region_parts *const parts = &turns->parts;
  bool ready;
  const joist_status looked = joist_native_look(plan, group, 0, run, &ready, error);
  if (looked != JOIST_OK) return looked;
  if (ready)
    return joist_native_run(plan, group, turns->arrays, NULL,
                            turns->instruction->op == JOIST_OP_FOR ? 1 : 0, turns->run_group, run,
                            error);
  turns->inside = *run;
  if (joist_native_is_possible(plan, group, run)) turns->inside.native = JOIST_NATIVE_NEVER;
  struct joist_plan *const *const bodies = plan->bodies + group->first_body;
  const uint32_t carries = parts->carries, last = turns->instruction->region_count - 1;
  const void *const *const captures = turns->operands + parts->first + carries + parts->arrays;
  joist_status status = place_carries(turns, bodies[last], error);
  if (status == JOIST_OK && last > 0)
    status = open_body(turns, bodies[0], 0, captures, &turns->condition, run, error);
  if (status == JOIST_OK)
    status = open_body(turns, bodies[last], last, captures + (last > 0 ? parts->captures[0] : 0),
                       &turns->body, run, error);
  if (status == JOIST_OK) {
    turns->work = 1;
    for (uint32_t r = 0; r <= last; r++) turns->work += elements_of(bodies[r], turns->instruction);
    status = run_turns(turns, run, error);
  }
  if (status == JOIST_OK && turns->since > 0)
    status = joist_native_look(plan, group, turns->since, run, &ready, error);
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
  const uint32_t region = *(const uint8_t *)turns->operands[0] != 0 ? 0 : 1;
  const void *const *const captures =
      turns->operands + 1 + (region == 0 ? 0 : turns->parts.captures[0]);
  struct body body;
  joist_status status = open_body(turns, plan->bodies[group->first_body + region], region, captures,
                                  &body, run, error);
  if (status == JOIST_OK) {
    for (uint32_t k = 0; k < turns->instruction->result_count; k++)
      body.out[k] = result_of(turns, k);
    status = run_body(&body, run, error);
  }
  close_body(&body);
  return status;
}

joist_status joist_control_flow_run(const struct joist_plan *plan, const struct joist_group *group,
                                    void *const *arrays, joist_group_runner *run_group,
                                    const struct joist_run *run, struct joist_error *error) {
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  const void **const operands = malloc((i->operand_count + 1) * sizeof *operands);
  if (operands == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (uint32_t k = 0; k < i->operand_count; k++) operands[k] = arrays[i->operand[k]];
  struct turns turns = {.plan = plan,
                        .group = group,
                        .program = plan->program,
                        .instruction = i,
                        .parts = joist_region_parts(plan->program, i),
                        .operands = operands,
                        .run_group = run_group,
                        .arrays = arrays};
  const joist_status status = i->op == JOIST_OP_IF ? run_if(plan, group, &turns, run, error)
                                                   : run_loop(plan, group, &turns, run, error);
  free(operands);
  return status;
}
