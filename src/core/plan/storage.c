/* Where the arrays of a plan live. A reshaped value is its operand's array. Temporaries share
 * one block of scratch by the time that they are needed, may wait in the array of an output
 * that is written later, and may be written over an operand that is read for the last time. What
 * puts elements into an array is written over that array if it can be, without a copy. */
#include <stdlib.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/plan/storage.h"

#include "core/program/regions.h"
#include "core/types/error.h"

enum { ALIGNMENT = 64 };

/* Groups are numbered in the order in which they run. */
struct lifetime {
  uint32_t birth, death; /* the groups that write it and read it last */
  bool overwritten;      /* another value takes its place in the group of its death */
};

struct storage {
  struct joist_plan *plan;
  const struct joist_program *program;
  struct lifetime *lives; /* per value; the lifetime of an array is its root's */
  uint32_t *placed;       /* temporaries in scratch that are still needed, by their offset */
  uint32_t placed_count;
  uint32_t *written; /* per output: the group that writes it */
  uint32_t open;     /* outputs before this one are written by now */
  uint32_t *waiting; /* temporaries in the arrays of outputs, while they are needed */
  uint32_t waiting_count;
  uint32_t *reserved; /* per value: the output that is made of it by writing over it, or NO_HOME */
};

static size_t bytes_of(const struct joist_program *program, uint32_t value) {
  return joist_value_bytes(&program->values[value]);
}

static size_t rounded_bytes_of(const struct joist_program *program, uint32_t value) {
  return joist_round_up(bytes_of(program, value), ALIGNMENT);
}

/* Whether the array is made by a run and is not an output. */
static bool is_temporary(const struct joist_plan *plan, uint32_t value) {
  return plan->materialized[value] && plan->root[value] == value &&
         plan->program->values[value].input == JOIST_NO_INPUT && plan->home[value] == JOIST_NO_HOME;
}

static void read_in(struct storage *storage, uint32_t value, uint32_t group) {
  struct lifetime *const life = &storage->lives[storage->plan->root[value]];
  if (group > life->death) life->death = group;
}

static void write_in(struct storage *storage, uint32_t value, uint32_t group) {
  storage->lives[value].birth = group;
  read_in(storage, value, group);
}

static void find_lifetimes(struct storage *storage) {
  const struct joist_plan *const plan = storage->plan;
  const struct joist_program *const program = storage->program;
  memset(storage->lives, 0, program->value_count * sizeof *storage->lives);
  for (uint32_t g = 0; g < plan->group_count; g++) {
    const struct joist_group *const group = &plan->groups[g];
    if (group->kind == JOIST_GROUP_ARRAY) {
      const struct joist_instruction *const i = &program->instructions[group->instruction];
      for (uint32_t k = 0; k < joist_reads(i); k++) read_in(storage, joist_read_at(i, k), g);
      for (uint32_t k = 0; k < i->result_count; k++) write_in(storage, i->result + k, g);
    }
    for (uint32_t s = 0; s < group->step_count; s++) {
      const struct joist_step *const step = &plan->steps[group->first_step + s];
      for (uint32_t k = 0; k < step->operand_count; k++)
        if (step->in[k].array) read_in(storage, step->in[k].index, g);
      if (step->kind == JOIST_STEP_FOLD)
        write_in(storage, program->instructions[step->instruction].result, g);
      else if (step->out.array)
        write_in(storage, step->out.index, g);
    }
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    const uint32_t value = plan->root[program->outputs[k]];
    storage->lives[value].death = plan->group_count;
    /* What another output or an input holds is copied at the end. */
    storage->written[k] = plan->home[value] == k ? storage->lives[value].birth : plan->group_count;
  }
}

/* ---- what is written over its operand ---- */

/* The input of the body of a loop that is its first carry: a `for` gives the iteration first. */
static uint32_t first_carry(const struct joist_instruction *loop) {
  return loop->op == JOIST_OP_FOR ? 1 : 0;
}

bool joist_carry_is_in_place(const struct joist_plan *body, const struct joist_instruction *loop,
                             uint32_t k) {
  const struct joist_program *const program = body->program;
  if (k >= program->output_count) return false;
  uint32_t at = body->root[program->outputs[k]];
  if (body->home[at] != k) return false;
  for (uint32_t j = 0; j < program->output_count; j++)
    if (j != k && body->root[program->outputs[j]] == at) return false;
  while (at != JOIST_NO_VALUE && program->values[at].input == JOIST_NO_INPUT) at = body->over[at];
  return at != JOIST_NO_VALUE && program->values[at].input == first_carry(loop) + k;
}

size_t joist_elements_written(const struct joist_plan *body, const struct joist_instruction *loop,
                              joist_value_id value) {
  const struct joist_value *const values = body->program->values;
  const uint32_t over = body->over[value];
  const size_t count = joist_value_count(&values[value]);
  if (over == JOIST_NO_VALUE || values[over].input == JOIST_NO_INPUT)
    return over == JOIST_NO_VALUE ? count : 0;
  const uint32_t input = values[over].input, first = first_carry(loop);
  return input >= first && joist_carry_is_in_place(body, loop, input - first) ? 0 : count;
}

/* The operand that result r of an operation on whole arrays can be written over: the one that it
 * puts elements into, or the carry of a loop. JOIST_NO_VALUE if there is none. */
static joist_value_id written_into(const struct joist_plan *plan, const struct joist_group *group,
                                   uint32_t r) {
  const struct joist_program *const program = plan->program;
  const struct joist_instruction *const i = &program->instructions[group->instruction];
  if (i->region_count > 0 && i->op != JOIST_OP_IF) {
    const struct joist_region_parts parts = joist_region_parts(program, i);
    const struct joist_plan *const body = plan->bodies[group->first_body + i->region_count - 1];
    return r < parts.carries && joist_carry_is_in_place(body, i, r) ? i->operand[parts.first + r]
                                                                    : JOIST_NO_VALUE;
  }
  /* Sums that may not fit are found once more, exactly. */
  const bool compares = joist_op_overflow_rule(i->op) > JOIST_OVERFLOW_NARROW &&
                        (i->watch & (JOIST_WATCH_OVERFLOW | JOIST_WATCH_SATURATE)) != 0;
  return joist_op_class(i->op) == JOIST_CLASS_ASSIGN && i->op != JOIST_OP_PAD && !compares &&
                 program->values[i->operand[0]].type.dtype == program->values[i->result].type.dtype
             ? i->operand[0]
             : JOIST_NO_VALUE;
}

/* Finds what is written over operands that nothing else reads from then on. */
static void find_over(struct storage *storage) {
  struct joist_plan *const plan = storage->plan;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    const struct joist_group *const group = &plan->groups[g];
    const struct joist_instruction *const i = &storage->program->instructions[group->instruction];
    for (uint32_t r = 0; group->kind == JOIST_GROUP_ARRAY && r < i->result_count; r++) {
      const joist_value_id operand = written_into(plan, group, r);
      if (operand == JOIST_NO_VALUE || storage->lives[plan->root[operand]].death != g) continue;
      uint32_t reads = 0;
      for (uint32_t k = 0; k < joist_reads(i); k++)
        reads += plan->root[joist_read_at(i, k)] == plan->root[operand];
      if (reads == 1) plan->over[i->result + r] = plan->root[operand];
    }
  }
}

/* Reserves the array of an output that is written over other arrays for these. */
static void reserve_outputs(struct storage *storage) {
  const struct joist_plan *const plan = storage->plan;
  for (uint32_t v = 0; v < storage->program->value_count; v++) storage->reserved[v] = JOIST_NO_HOME;
  for (uint32_t k = 0; k < storage->program->output_count; k++) {
    uint32_t v = plan->root[storage->program->outputs[k]];
    if (plan->home[v] != k || plan->over[v] == JOIST_NO_VALUE) continue;
    for (; v != JOIST_NO_VALUE; v = plan->over[v]) storage->reserved[v] = k;
  }
}

/* ---- what is computed tile by tile ---- */

/* Whether a group may write `value` tile by tile where it reads `operand`. */
static bool can_overwrite(const struct storage *storage, const struct joist_group *group,
                          uint32_t value, uint32_t operand) {
  const struct joist_plan *const plan = storage->plan;
  uint32_t last_read = UINT32_MAX, write = UINT32_MAX;
  bool fails = false;
  if (group->kind != JOIST_GROUP_ELEMENTWISE) return false;
  for (uint32_t s = 0; s < group->step_count; s++) {
    const struct joist_step *const step = &plan->steps[group->first_step + s];
    for (uint32_t k = 0; k < step->operand_count; k++) {
      if (!step->in[k].array || plan->root[step->in[k].index] != operand) continue;
      if (step->kind == JOIST_STEP_GATHER || step->kind == JOIST_STEP_SPLAT) return false;
      /* A sum that may not fit is found once more, exactly. */
      if (step->kind == JOIST_STEP_FOLD && step->counts_wrapped) return false;
      last_read = s;
    }
    if (step->kind == JOIST_STEP_OPERATION)
      fails |= joist_can_fail(&plan->program->instructions[step->instruction]);
    if (step->kind != JOIST_STEP_FOLD && step->out.array && step->out.index == value) write = s;
  }
  if (last_read == UINT32_MAX || write == UINT32_MAX || last_read > write) return false;
  /* Only operations allow their result to be an operand. */
  if (last_read == write && plan->steps[group->first_step + write].kind != JOIST_STEP_OPERATION)
    return false;
  /* Rows of which an element fails are read again from the start. */
  return !(fails && group->sink_count > 0 && group->space.inner > 1);
}

static size_t element_size(const struct storage *storage, uint32_t value) {
  return joist_dtype_size(storage->program->values[value].type.dtype);
}

/* Whether `value` can wait in the array of output `k` until that is written. */
static bool fits_output(const struct storage *storage, uint32_t value, uint32_t k) {
  const struct joist_plan *const plan = storage->plan;
  const struct lifetime *const life = &storage->lives[value];
  const uint32_t output = storage->program->outputs[k];
  if (storage->reserved[plan->root[output]] == k) return false;
  if (bytes_of(storage->program, output) < bytes_of(storage->program, value) ||
      element_size(storage, output) < element_size(storage, value))
    return false;
  if (life->death < storage->written[k]) return true;
  return life->death == storage->written[k] && life->death < plan->group_count &&
         element_size(storage, output) == element_size(storage, value) &&
         can_overwrite(storage, &plan->groups[life->death], plan->root[output], value);
}

static bool overlap_in_time(const struct lifetime *a, const struct lifetime *b) {
  return a->birth <= b->death && b->birth <= a->death;
}

static void wait_in_output(struct storage *storage, uint32_t value, uint32_t k) {
  storage->plan->home[value] = k;
  storage->plan->waits[value] = true;
  storage->waiting[storage->waiting_count++] = value;
}

/* An output's array that is free all the time that `value` lives. */
static bool place_in_output(struct storage *storage, uint32_t value) {
  const struct joist_plan *const plan = storage->plan;
  if (storage->reserved[value] != JOIST_NO_HOME) {
    wait_in_output(storage, value, storage->reserved[value]);
    return true;
  }
  for (uint32_t k = storage->open; k < storage->program->output_count; k++) {
    if (!fits_output(storage, value, k)) continue;
    bool taken = false;
    for (uint32_t w = 0; w < storage->waiting_count && !taken; w++)
      taken = plan->home[storage->waiting[w]] == k &&
              overlap_in_time(&storage->lives[storage->waiting[w]], &storage->lives[value]);
    if (taken) continue;
    wait_in_output(storage, value, k);
    return true;
  }
  return false;
}

static void insert_placed(struct storage *storage, uint32_t value, size_t offset) {
  struct joist_plan *const plan = storage->plan;
  uint32_t at = storage->placed_count++;
  for (; at > 0 && plan->offset[storage->placed[at - 1]] > offset; at--)
    storage->placed[at] = storage->placed[at - 1];
  storage->placed[at] = value;
  plan->offset[value] = offset;
  const size_t end = offset + rounded_bytes_of(storage->program, value);
  if (end > plan->scratch_bytes) plan->scratch_bytes = end;
}

/* Over an operand that dies where `value` is born. */
static bool place_over_operand(struct storage *storage, uint32_t value) {
  const struct joist_plan *const plan = storage->plan;
  const uint32_t birth = storage->lives[value].birth;
  for (uint32_t k = 0; k < storage->placed_count; k++) {
    const uint32_t operand = storage->placed[k];
    struct lifetime *const life = &storage->lives[operand];
    if (life->death != birth || life->birth == birth || life->overwritten ||
        element_size(storage, operand) != element_size(storage, value) ||
        (plan->over[value] != operand &&
         !can_overwrite(storage, &plan->groups[birth], value, operand)))
      continue;
    life->overwritten = true;
    insert_placed(storage, value, plan->offset[operand]);
    return true;
  }
  return false;
}

/* At the lowest offset where nothing else lives at the same time. */
static void place_in_scratch(struct storage *storage, uint32_t value) {
  const struct joist_plan *const plan = storage->plan;
  const size_t bytes = rounded_bytes_of(storage->program, value);
  size_t offset = 0;
  for (uint32_t k = 0; k < storage->placed_count; k++) {
    const uint32_t other = storage->placed[k];
    if (!overlap_in_time(&storage->lives[other], &storage->lives[value])) continue;
    if (plan->offset[other] >= offset + bytes) break;
    const size_t end = plan->offset[other] + rounded_bytes_of(storage->program, other);
    if (end > offset) offset = end;
  }
  insert_placed(storage, value, offset);
}

/* Temporaries are placed in the order of their birth: what is dead by then does not matter. */
static uint32_t still_needed(const struct storage *storage, uint32_t *values, uint32_t count,
                             uint32_t group) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < count; k++)
    if (storage->lives[values[k]].death >= group) values[kept++] = values[k];
  return kept;
}

/* Sorts the temporaries by birth; returns their number. `starts` has room for a number per group
 * and one more. Values are numbered in program order, which need not be the groups' order. */
static uint32_t by_birth(const struct storage *storage, uint32_t *starts, uint32_t *order) {
  const struct joist_plan *const plan = storage->plan;
  const uint32_t values = storage->program->value_count;
  memset(starts, 0, (plan->group_count + 1) * sizeof *starts);
  for (uint32_t v = 0; v < values; v++)
    if (is_temporary(plan, v)) starts[storage->lives[v].birth + 1]++;
  for (uint32_t g = 0; g < plan->group_count; g++) starts[g + 1] += starts[g];
  const uint32_t count = starts[plan->group_count];
  for (uint32_t v = 0; v < values; v++)
    if (is_temporary(plan, v)) order[starts[storage->lives[v].birth]++] = v;
  return count;
}

/* Whether any group may write over its operand. */
static bool any_over(const struct joist_plan *plan) {
  bool any = false;
  for (uint32_t g = 0; g < plan->group_count && !any; g++) {
    const struct joist_group *const group = &plan->groups[g];
    const uint32_t results = plan->program->instructions[group->instruction].result_count;
    for (uint32_t r = 0; group->kind == JOIST_GROUP_ARRAY && r < results; r++)
      any |= written_into(plan, group, r) != JOIST_NO_VALUE;
  }
  return any;
}

joist_status joist_storage_plan(struct joist_plan *plan, struct joist_error *error) {
  const struct joist_program *const program = plan->program;
  for (uint32_t v = 0; v < program->value_count; v++) {
    plan->home[v] = JOIST_NO_HOME;
    plan->waits[v] = false;
    plan->over[v] = JOIST_NO_VALUE;
  }
  for (uint32_t k = program->output_count; k-- > 0;) {
    const uint32_t value = plan->root[program->outputs[k]];
    if (program->values[value].input == JOIST_NO_INPUT) plan->home[value] = k;
  }
  bool any = any_over(plan);
  for (uint32_t v = 0; v < program->value_count; v++) any |= is_temporary(plan, v);
  if (!any) return JOIST_OK;
  const size_t values = program->value_count;
  struct lifetime *const lives =
      malloc(values * (sizeof *lives + 4 * sizeof(uint32_t)) +
             (program->output_count + plan->group_count + 1) * sizeof(uint32_t));
  if (lives == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  struct storage storage = {.plan = plan, .program = program, .lives = lives};
  storage.placed = (uint32_t *)(void *)(lives + values);
  storage.waiting = storage.placed + values;
  uint32_t *const order = storage.waiting + values;
  storage.reserved = order + values;
  storage.written = storage.reserved + values;
  find_lifetimes(&storage);
  find_over(&storage);
  reserve_outputs(&storage);
  const uint32_t count = by_birth(&storage, storage.written + program->output_count, order);
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t v = order[k], birth = lives[v].birth;
    storage.placed_count = still_needed(&storage, storage.placed, storage.placed_count, birth);
    storage.waiting_count = still_needed(&storage, storage.waiting, storage.waiting_count, birth);
    while (storage.open < program->output_count && storage.written[storage.open] < birth)
      storage.open++;
    if (!place_in_output(&storage, v) && !place_over_operand(&storage, v))
      place_in_scratch(&storage, v);
  }
  free(lives);
  return JOIST_OK;
}

const void *joist_plan_source(const struct joist_plan *plan, uint32_t value,
                              const void *const *inputs, void *const *outputs) {
  const uint32_t root = plan->root[value], input = plan->program->values[root].input;
  if (input != JOIST_NO_INPUT) return &inputs[input];
  return plan->home[root] != JOIST_NO_HOME ? &outputs[plan->home[root]] : NULL;
}

void joist_plan_place(const struct joist_plan *plan, const void *const *inputs,
                      void *const *outputs, char *scratch, void **arrays) {
  for (uint32_t v = 0; v < plan->program->value_count; v++) {
    const uint32_t root = plan->root[v];
    const void *const source = joist_plan_source(plan, v, inputs, outputs);
    arrays[v] = NULL;
    if (source != NULL) /* inputs are only read: their pointers lose const to share the table */
      memcpy(&arrays[v], source, sizeof arrays[v]);
    else if (plan->materialized[root] && scratch != NULL) /* none where no element is */
      arrays[v] = scratch + plan->offset[root];
  }
}

void joist_plan_finish(const struct joist_plan *plan, void *const *arrays, void *const *outputs) {
  const struct joist_program *const program = plan->program;
  for (uint32_t k = 0; k < program->output_count; k++) {
    const joist_value_id v = program->outputs[k];
    if (arrays[v] == outputs[k]) continue;
    const size_t length = joist_value_bytes(&program->values[v]);
    if (length > 0) memcpy(outputs[k], arrays[v], length);
  }
}
