/* The arena of a group: which slots share a place in it, and how long a tile is. */
#include "core/plan/layout.h"

#include "core/base/bits.h"

#define NO_SLOT UINT32_MAX /* no enumerator: ISO C has them fit int */
enum { TILE_BYTES = 24 * 1024, TILE_MAX = 8192, TILE_MIN = 256 };
enum { STREAMED_WORK = 16 }; /* one exponential hides the time of its stores */
enum { NARROW_WORK = 4 };    /* a function of f16 or bf16, which may be looked up */

/* About how many additions one element costs. */
static uint32_t work_of(joist_op op, joist_dtype result) {
  if (joist_dtype_compute(result) != result) return NARROW_WORK;
  const joist_work work = joist_op_work(op);
  return work == JOIST_WORK_FUNCTION ? 16 : work == JOIST_WORK_DIVISION ? 2 : 1;
}

/* Whether the step is a power of one number, which may be a square or a root: as cheap as that. */
static bool is_power_of_number(const struct joist_step *step) {
  return step->kind == JOIST_STEP_OPERATION && step->op == JOIST_OP_POW && step->in[1].repeats;
}

/* The operands that a step reads in any case: an operation looks at the mask of its result where
 * results may not fit, which is rare. */
static uint32_t operands_read(const struct joist_step *step) {
  return step->kind == JOIST_STEP_OPERATION ? joist_step_operands(step) : step->operand_count;
}

/* Finds the steps whose result may be written past the caches without slowing anything down:
 * nothing reads it in the same group, and the group does little besides moving bytes. */
static void mark_leaving(const struct joist_plan *plan, const struct joist_group *group) {
  struct joist_step *const steps = plan->steps + group->first_step;
  uint32_t work = group->work;
  for (uint32_t s = 0; s < group->step_count; s++)
    if (is_power_of_number(&steps[s])) work -= work_of(JOIST_OP_POW, steps[s].out.dtype) - 1;
  for (uint32_t s = 0; s < group->step_count; s++) {
    const bool writes = steps[s].kind == JOIST_STEP_OPERATION ||
                        steps[s].kind == JOIST_STEP_CONVERT || steps[s].kind == JOIST_STEP_COPY;
    steps[s].leaves = writes && steps[s].out.array && work < STREAMED_WORK;
    for (uint32_t t = s + 1; t < group->step_count && steps[s].leaves; t++)
      for (uint32_t k = 0; k < operands_read(&steps[t]); k++)
        if (steps[t].in[k].array &&
            plan->root[steps[t].in[k].index] == plan->root[steps[s].out.index])
          steps[s].leaves = false;
  }
}

/* Places in the arena that nothing lives in any more, by the size of an element. */
struct free_places {
  uint32_t first[JOIST_ELEMENT_MAX + 1]; /* slots: the latest that left its place, or NO_SLOT */
  uint32_t *next;                        /* per slot */
};

/* After step s, the slot's place is free if the step was the last to use it. */
static void leave_place(struct free_places *places, uint32_t *last, uint32_t slot, uint32_t size,
                        uint32_t s) {
  if (last[slot] != s) return;
  last[slot] = UINT32_MAX;
  places->next[slot] = places->first[size];
  places->first[size] = slot;
}

/* Per slot, the last step that uses it. */
static void find_last_uses(const struct joist_step *steps, uint32_t count, uint32_t first_slot,
                           uint32_t *last) {
  for (uint32_t s = 0; s < count; s++) {
    for (uint32_t k = 0; k < steps[s].operand_count; k++)
      if (!steps[s].in[k].array) last[steps[s].in[k].index - first_slot] = s;
    if (!steps[s].out.array) last[steps[s].out.index - first_slot] = s;
  }
  /* filled once, read by every tile */
  for (uint32_t s = 0; s < count; s++)
    if (steps[s].kind == JOIST_STEP_SPLAT) last[steps[s].out.index - first_slot] = UINT32_MAX;
}

/* Gives every slot a place in the arena, that of one whose last reader has run if there is one of
 * the same size. Returns the bytes of all places, per element of a tile. */
static uint32_t place_slots(const struct joist_step *steps, uint32_t count, uint32_t first_slot,
                            uint32_t *last, struct free_places *places, uint32_t *offset) {
  uint32_t bytes = 0;
  for (uint32_t s = 0; s < count; s++) {
    const struct joist_ref *const out = &steps[s].out;
    const bool makes = steps[s].kind != JOIST_STEP_FOLD && !out->array;
    if (makes) {
      uint32_t *const first = &places->first[out->size];
      const bool reused = steps[s].kind != JOIST_STEP_SPLAT && *first != NO_SLOT;
      offset[out->index] = reused ? offset[first_slot + *first] : bytes;
      if (reused)
        *first = places->next[*first];
      else
        bytes += out->size;
    }
    for (uint32_t k = 0; k < steps[s].operand_count; k++) {
      const struct joist_ref *const in = &steps[s].in[k];
      if (!in->array) leave_place(places, last, in->index - first_slot, in->size, s);
    }
    if (makes) leave_place(places, last, out->index - first_slot, out->size, s);
  }
  return bytes;
}

void joist_group_lay_out(struct joist_plan *plan, struct joist_group *group, uint32_t first_slot,
                         uint32_t *scratch) {
  const uint32_t slots = plan->slot_count - first_slot;
  const struct joist_step *const steps = plan->steps + group->first_step;
  uint32_t *const last = scratch;
  struct free_places places = {.next = last + slots};
  for (int k = 0; k <= JOIST_ELEMENT_MAX; k++) places.first[k] = NO_SLOT;
  find_last_uses(steps, group->step_count, first_slot, last);
  const size_t bytes =
      place_slots(steps, group->step_count, first_slot, last, &places, plan->slot_offset);
  size_t direct = 0;
  for (uint32_t s = 0; s < group->step_count; s++) {
    for (uint32_t k = 0; k < steps[s].operand_count; k++)
      if (steps[s].in[k].array) direct += steps[s].in[k].size;
    if (steps[s].kind != JOIST_STEP_FOLD && steps[s].out.array) direct += steps[s].out.size;
  }
  size_t tile = JOIST_TILE_DIRECT;
  if (bytes > 0) {
    tile = TILE_BYTES / (bytes + direct) / 64 * 64;
    if (tile > TILE_MAX) tile = TILE_MAX;
    if (tile < TILE_MIN) tile = TILE_MIN;
  }
  if (group->count < tile) tile = joist_round_up(group->count, 64); /* a small arena */
  group->tile = group->sink_count > 0 ? joist_fold_tile(group->space, tile) : tile;
  group->room = joist_round_up(group->tile, 64);
  group->work = 0;
  for (uint32_t s = 0; s < group->step_count; s++)
    group->work +=
        steps[s].kind == JOIST_STEP_OPERATION
            ? work_of(plan->program->instructions[steps[s].instruction].op, steps[s].out.dtype)
            : 1;
  group->arena_bytes = bytes * group->room;
  mark_leaving(plan, group);
}
