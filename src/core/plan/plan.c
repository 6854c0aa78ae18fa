/* From a program to groups of steps. Decides what is fused and what gets an array. */
#include "core/plan/plan.h"

#include "core/base/bits.h"
#include "core/plan/groups.h"
#include "core/plan/layout.h"
#include "core/plan/planner.h"
#include "core/plan/steps.h"
#include "core/plan/storage.h"
#include "core/plan/viewed.h"
#include "core/program/regions.h"
#include "core/types/error.h"

#include <stdlib.h>
#include <string.h>

#define NO_GROUP UINT32_MAX /* no enumerator: ISO C has them fit int */
enum { STEPS_PER_INSTRUCTION = 15, VIEWS_PER_INSTRUCTION = JOIST_REFS_MAX + 1 };

/* Whether the instruction produces its result tile by tile in its own index space. */
static bool is_elementwise(const struct joist_instruction *i) {
  return !joist_op_is_reduction(i->op) && !joist_op_is_array(i->op);
}

/* Whether the group is one sink of bools over all elements, and nothing else that its run
 * leaves behind, arrays or errors. */
static bool is_decidable(const struct joist_plan *plan, const struct joist_group *group) {
  const struct joist_step *const steps = plan->steps + group->first_step;
  if (group->sink_count != 1 || group->space.inner != 1 || group->space.outer != 1) return false;
  for (uint32_t s = 0; s < group->step_count; s++) {
    const struct joist_step *const step = &steps[s];
    const bool fold = step->kind == JOIST_STEP_FOLD;
    if (fold && (step->out.dtype != JOIST_BOOL || s + 1 < group->step_count)) return false;
    if (!fold && step->out.array) return false;
    if (step->kind == JOIST_STEP_OPERATION &&
        joist_can_fail(&plan->program->instructions[step->instruction]))
      return false;
  }
  return true;
}

/* How the first pass of a reduction sees its operand. */
static struct joist_fold_space space_of_sink(const struct joist_program *program,
                                             const struct joist_instruction *i) {
  const struct joist_fold_dims dims =
      joist_fold_dims(&program->values[i->operand[0]].shape, i->dims);
  struct joist_fold_space space;
  (void)joist_fold_next(&dims, &space);
  return space;
}

static uint32_t *bucket_of(const struct joist_planner *planner, const struct joist_shape *shape,
                           uint32_t level) {
  uint64_t hash = joist_hash_word(level, (uint64_t)shape->rank);
  for (int d = 0; d < shape->rank; d++) hash = joist_hash_word(hash, shape->extent[d]);
  return &planner->buckets[hash & planner->bucket_mask];
}

/* The first group that an instruction, other than an array operation, can join; NO_GROUP if there
 * is none. The sinks of a group fold the same space. */
static uint32_t find_group(const struct joist_planner *planner, const struct joist_instruction *i,
                           const struct joist_shape *shape, uint32_t level) {
  const struct joist_plan *const plan = planner->plan;
  const bool sink = joist_op_is_reduction(i->op);
  const struct joist_fold_space space =
      sink ? space_of_sink(planner->program, i) : (struct joist_fold_space){0, 0, 0};
  uint32_t found = NO_GROUP;
  for (uint32_t g = *bucket_of(planner, shape, level); g > 0; g = planner->same_bucket[g - 1]) {
    const struct joist_group *const group = &plan->groups[g - 1];
    if (group->level == level && joist_shape_equal(&group->shape, shape) &&
        (!sink || group->space.inner == 0 || memcmp(&group->space, &space, sizeof space) == 0))
      found = g - 1;
  }
  return found;
}

static uint32_t add_group(struct joist_planner *planner, uint32_t index,
                          const struct joist_shape *shape, uint32_t level) {
  struct joist_plan *const plan = planner->plan;
  struct joist_group *const made = &plan->groups[plan->group_count];
  memset(made, 0, sizeof *made);
  made->kind = joist_op_is_array(planner->program->instructions[index].op)
                   ? JOIST_GROUP_ARRAY
                   : JOIST_GROUP_ELEMENTWISE;
  made->level = level;
  made->shape = *shape;
  made->instruction = index;
  (void)joist_shape_count(shape, &made->count);
  planner->first_in[plan->group_count] = NO_GROUP;
  if (made->kind == JOIST_GROUP_ELEMENTWISE) {
    uint32_t *const bucket = bucket_of(planner, shape, level);
    planner->same_bucket[plan->group_count] = *bucket;
    *bucket = plan->group_count + 1;
  }
  return plan->group_count++;
}

/* Puts the instruction at the end of the group's list. */
static void join_group(struct joist_planner *planner, uint32_t group, uint32_t index) {
  planner->next_in[index] = NO_GROUP;
  if (planner->first_in[group] == NO_GROUP)
    planner->first_in[group] = index;
  else
    planner->next_in[planner->last_in[group]] = index;
  planner->last_in[group] = index;
}

/* The level after everything that the instruction reads; `fused` when an operand is computed
 * on that level, in the same space. Level 0 has the constants, which read nothing: an instruction
 * that reads one is fused with those that read inputs alone. */
static uint32_t level_of(const struct joist_planner *planner, const struct joist_instruction *i,
                         const struct joist_shape *shape, bool *fused) {
  const struct joist_program *const program = planner->program;
  uint32_t level = i->operand_count > 0 ? 1 : 0;
  *fused = false;
  for (uint32_t a = 0; a < joist_reads(i); a++) {
    const joist_value_id read = joist_read_at(i, a);
    const uint32_t from = planner->group_of[read];
    if (from == NO_GROUP) continue;
    const struct joist_value *const v = &program->values[read];
    const bool joins = !planner->apart && !joist_op_is_array(i->op) && !planner->viewed[read] &&
                       !(i->watch != 0 && i->op == JOIST_OP_REDUCE_PROD) &&
                       is_elementwise(&program->instructions[v->instruction]) &&
                       joist_shape_equal(&v->shape, shape);
    const uint32_t at = planner->plan->groups[from].level + (joins ? 0 : 1);
    if (at > level) *fused = false;
    if (at >= level) *fused |= joins;
    if (at > level) level = at;
  }
  const uint32_t before = i->held > 0 ? planner->group_of[i->held - 1] : NO_GROUP;
  if (before != NO_GROUP && planner->plan->groups[before].level > level) {
    level = planner->plan->groups[before].level;
    *fused = false;
  }
  return level;
}

/* The first levels after all effects, and after all that can fail, among the instructions so far.
 */
struct sequence {
  uint32_t after_effects, after_failures;
};

/* What has effects runs in the order of the program, and so does what can fail among them. */
static uint32_t in_sequence(struct sequence *sequence, const struct joist_instruction *i,
                            uint32_t level) {
  const bool effect = joist_has_effect(i);
  const bool fails = joist_op_is_array(i->op) || joist_can_fail(i);
  if ((effect || fails) && level < sequence->after_effects) level = sequence->after_effects;
  if (effect && level < sequence->after_failures) level = sequence->after_failures;
  if (effect) sequence->after_effects = level + 1;
  if (fails && level >= sequence->after_failures) sequence->after_failures = level + 1;
  return level;
}

/* Assigns every instruction that is needed to a group. */
static void make_groups(struct joist_planner *planner, const bool *needed) {
  const struct joist_program *const program = planner->program;
  struct joist_plan *const plan = planner->plan;
  struct sequence sequence = {0, 0};
  for (uint32_t v = 0; v < program->value_count; v++) {
    planner->group_of[v] = NO_GROUP;
    plan->root[v] = v;
  }
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    if (!joist_is_needed(i, needed)) continue;
    if (i->op == JOIST_OP_RESHAPE) {
      plan->root[i->result] = plan->root[i->operand[0]];
      plan->materialized[i->operand[0]] = plan->materialized[i->result] = true;
      planner->group_of[i->result] = planner->group_of[i->operand[0]];
      continue;
    }
    if (planner->viewed[i->result] && !joist_is_listed(program, i->result)) {
      planner->group_of[i->result] = planner->group_of[i->operand[0]];
      continue;
    }
    const bool sink = joist_op_is_reduction(i->op);
    const struct joist_shape *const shape =
        &program->values[sink ? i->operand[0] : i->result].shape;
    bool fused;
    const uint32_t earliest = level_of(planner, i, shape, &fused);
    uint32_t level = in_sequence(&sequence, i, earliest), group = NO_GROUP;
    fused &= level == earliest;
    if (!joist_op_is_array(i->op) && !planner->apart) group = find_group(planner, i, shape, level);
    /* A sink that does not fit in the group that computes its operand runs after it. */
    if (sink && fused && group == NO_GROUP) group = find_group(planner, i, shape, ++level);
    if (group == NO_GROUP) group = add_group(planner, k, shape, level);
    if (sink) plan->groups[group].space = space_of_sink(program, i);
    join_group(planner, group, k);
    for (uint32_t r = 0; r < i->result_count; r++) planner->group_of[i->result + r] = group;
    /* An operand that could have been fused, had not another operand been later. */
    for (uint32_t a = 0; a < joist_reads(i); a++) {
      const uint32_t from = planner->group_of[joist_read_at(i, a)];
      if (from != NO_GROUP && from != group)
        plan->materialized[joist_viewed_base(planner, joist_read_at(i, a))] = true;
    }
    for (uint32_t r = 0; r < i->result_count && !is_elementwise(i); r++)
      plan->materialized[i->result + r] |= !planner->viewed[i->result + r];
  }
}

static void plan_groups(struct joist_planner *planner) {
  struct joist_plan *const plan = planner->plan;
  const struct joist_program *const program = planner->program;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    struct joist_group *const group = &plan->groups[g];
    planner->group = group;
    joist_forget_forms(planner);
    group->first_step = plan->step_count;
    if (group->kind != JOIST_GROUP_ELEMENTWISE) continue;
    const uint32_t first_slot = plan->slot_count;
    for (uint32_t k = planner->first_in[g]; k != NO_GROUP; k = planner->next_in[k]) {
      const struct joist_instruction *const i = &program->instructions[k];
      if (is_elementwise(i))
        joist_plan_elementwise(planner, k);
      else if (joist_op_is_reduction(i->op))
        joist_plan_sink(planner, k);
    }
    group->step_count = plan->step_count - group->first_step;
    group->decidable = is_decidable(plan, group);
    joist_group_lay_out(plan, group, first_slot, planner->group_of + program->value_count);
  }
}

/* Plans of the bodies of operations that have them. */
static joist_status plan_bodies(struct joist_plan *plan, bool apart, struct joist_error *error) {
  const struct joist_instruction *const instructions = plan->program->instructions;
  uint32_t count = 0;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    plan->groups[g].first_body = count;
    count += instructions[plan->groups[g].instruction].region_count;
  }
  if (count == 0) return JOIST_OK;
  plan->bodies = malloc(count * sizeof *plan->bodies);
  joist_status status = JOIST_OK;
  if (plan->bodies == NULL) status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (uint32_t g = 0; g < plan->group_count && status == JOIST_OK; g++) {
    const struct joist_instruction *const i = &instructions[plan->groups[g].instruction];
    for (uint32_t r = 0; r < i->region_count && status == JOIST_OK; r++) {
      status = apart ? joist_plan_make_apart(i->regions[r], &plan->bodies[plan->body_count], error)
                     : joist_plan_make(i->regions[r], &plan->bodies[plan->body_count], error);
      plan->body_count += status == JOIST_OK;
    }
  }
  return status;
}

/* Groups run level by level; within a level their order does not matter. */
static int by_level(const void *lhs, const void *rhs) {
  const uint32_t a = ((const struct joist_group *)lhs)->level;
  const uint32_t b = ((const struct joist_group *)rhs)->level;
  if (a != b) return a < b ? -1 : 1;
  /* The first of two failing groups is reported on every platform. */
  const uint32_t first = ((const struct joist_group *)lhs)->instruction;
  const uint32_t second = ((const struct joist_group *)rhs)->instruction;
  return (first > second) - (first < second);
}

/* Carves `count` elements of `size` bytes off a block. */
static void *carve(char **block, size_t count, size_t size) {
  void *const part = *block;
  *block += count * size;
  return part;
}

/* What planning needs besides the plan, in one block. NULL when memory is out; behind group_of is
 * the room that lay_out() uses. */
static void *make_scratch(struct joist_planner *planner, size_t steps, bool **needed) {
  const size_t n = planner->program->instruction_count, values = planner->program->value_count;
  size_t buckets = 1;
  while (buckets < n) buckets *= 2;
  const size_t numbers = 2 * values + 2 * steps + buckets + 4 * n;
  char *const scratch = malloc(steps * sizeof(struct joist_form) + numbers * sizeof(uint32_t) +
                               2 * values * sizeof(bool) + 1);
  if (scratch == NULL) return NULL;
  char *rest = scratch;
  planner->forms = carve(&rest, steps, sizeof *planner->forms);
  planner->group_of = carve(&rest, values + 2 * steps, sizeof(uint32_t));
  planner->form_of = carve(&rest, values, sizeof(uint32_t));
  planner->buckets = carve(&rest, buckets, sizeof(uint32_t));
  planner->same_bucket = carve(&rest, n, sizeof(uint32_t));
  planner->first_in = carve(&rest, n, sizeof(uint32_t));
  planner->last_in = carve(&rest, n, sizeof(uint32_t));
  planner->next_in = carve(&rest, n, sizeof(uint32_t));
  *needed = carve(&rest, values, sizeof(bool));
  planner->viewed = carve(&rest, values, sizeof(bool));
  planner->bucket_mask = (uint32_t)(buckets - 1);
  memset(planner->form_of, 0, values * sizeof(uint32_t));
  memset(planner->buckets, 0, buckets * sizeof(uint32_t));
  return scratch;
}

static joist_status make_plan(const struct joist_program *program, bool apart,
                              struct joist_plan **made, struct joist_error *error) {
  const size_t n = program->instruction_count, values = program->value_count;
  const size_t steps = n * STEPS_PER_INSTRUCTION;
  /* One block: the plan and all its arrays, the largest alignment first. */
  const size_t value_bytes = sizeof(size_t) + 3 * sizeof(uint32_t) + 2 * sizeof(bool);
  char *const block =
      malloc(sizeof(struct joist_plan) + n * sizeof(struct joist_group) +
             n * VIEWS_PER_INSTRUCTION * sizeof(struct joist_view) +
             steps * (sizeof(struct joist_step) + sizeof(uint32_t)) + values * value_bytes);
  struct joist_planner planner = {.program = program, .apart = apart};
  bool *needed;
  void *const scratch = make_scratch(&planner, steps, &needed);
  if (block == NULL || scratch == NULL) {
    free(block);
    free(scratch);
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  }
  char *rest = block;
  struct joist_plan *const plan = planner.plan = carve(&rest, 1, sizeof *plan);
  memset(plan, 0, sizeof *plan);
  plan->program = program;
  plan->views = carve(&rest, n * VIEWS_PER_INSTRUCTION, sizeof *plan->views);
  plan->steps = carve(&rest, steps, sizeof *plan->steps);
  plan->groups = carve(&rest, n, sizeof *plan->groups);
  plan->offset = carve(&rest, values, sizeof *plan->offset);
  plan->slot_offset = carve(&rest, steps, sizeof *plan->slot_offset);
  plan->root = carve(&rest, values, sizeof *plan->root);
  plan->home = carve(&rest, values, sizeof *plan->home);
  plan->over = carve(&rest, values, sizeof *plan->over);
  plan->waits = carve(&rest, values, sizeof *plan->waits);
  plan->materialized = carve(&rest, values, sizeof *plan->materialized);
  memset(plan->materialized, 0, values * sizeof(bool));

  for (uint32_t k = 0; k < program->output_count; k++)
    plan->materialized[program->outputs[k]] = true;
  joist_program_mark_needed(program, needed);
  joist_find_viewed(&planner, needed, planner.group_of);
  make_groups(&planner, needed);
  plan_groups(&planner);
  if (plan->group_count > 1) qsort(plan->groups, plan->group_count, sizeof *plan->groups, by_level);
  free(scratch);
  joist_status status = plan_bodies(plan, apart, error);
  if (status == JOIST_OK) status = joist_storage_plan(plan, error);
  if (status != JOIST_OK) {
    joist_plan_free(plan);
    return status;
  }
  *made = plan;
  return JOIST_OK;
}

joist_status joist_plan_make(const struct joist_program *program, struct joist_plan **made,
                             struct joist_error *error) {
  return make_plan(program, false, made, error);
}

joist_status joist_plan_make_apart(const struct joist_program *program, struct joist_plan **made,
                                   struct joist_error *error) {
  return make_plan(program, true, made, error);
}

void joist_plan_free(struct joist_plan *plan) {
  if (plan == NULL) return;
  for (uint32_t k = 0; k < plan->body_count; k++) joist_plan_free(plan->bodies[k]);
  free(plan->bodies);
  for (uint32_t g = 0; g < plan->group_count; g++)
    if (plan->groups[g].attached != NULL) plan->groups[g].attached->free(plan->groups[g].attached);
  free(plan);
}

size_t joist_plan_group_count(const struct joist_plan *plan) { return plan->group_count; }

size_t joist_plan_temporary_bytes(const struct joist_plan *plan) { return plan->scratch_bytes; }
