/* Finds what is in memory, what has blocks, and what waits for values that are combined from parts.
 */
#include "core/plan/block_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "core/program/regions.h"
#include "core/types/error.h"

enum { OPERANDS_MAX = JOIST_ELEMENT_OPERANDS };

typedef enum { IN_MEMORY, IN_BLOCKS, WAITING } state;

struct schedule {
  const struct joist_block_program *run;
  const struct joist_program *program;
  joist_value_id output;
  struct joist_blocks *blocks; /* of each value */
  state *states;
  bool *needed;
};

static const struct joist_block_source *source_of(const struct schedule *s, joist_value_id v) {
  const uint32_t input = s->program->values[v].input;
  return input == JOIST_NO_INPUT ? NULL : &s->run->sources[input];
}

static const struct joist_instruction *instruction_of(const struct schedule *s, joist_value_id v) {
  return &s->program->instructions[s->program->values[v].instruction];
}

/* What `v` is combined from: operands, or the value that an input says. */
static uint32_t combined_from(const struct schedule *s, joist_value_id v,
                              const joist_value_id **operands) {
  const struct joist_block_source *const source = source_of(s, v);
  *operands = source != NULL ? &source->of : instruction_of(s, v)->operand;
  return source == NULL ? instruction_of(s, v)->operand_count : source->of != JOIST_NO_INPUT;
}

static bool is_combined(const struct schedule *s, joist_value_id v) {
  const struct joist_block_source *const source = source_of(s, v);
  return source != NULL ? source->of != JOIST_NO_INPUT : s->blocks[v].parts;
}

static joist_status find_blocks(struct schedule *s, const struct joist_instruction *i,
                                struct joist_error *error) {
  const struct joist_shape *shapes[OPERANDS_MAX];
  const uint32_t *chunks[OPERANDS_MAX];
  if (i->operand_count > OPERANDS_MAX || i->result_count != 1)
    return JOIST_FAIL(error, JOIST_E_NO_BLOCKS, .op = joist_op_name(i->op));
  for (uint32_t k = 0; k < i->operand_count; k++) {
    const struct joist_block_source *const source = source_of(s, i->operand[k]);
    shapes[k] = &s->program->values[i->operand[k]].shape;
    chunks[k] = source != NULL && source->chunks == NULL ? NULL : s->blocks[i->operand[k]].chunks;
  }
  const struct joist_blocked blocked = {
      i->op, i->attributes, i->operand_count, shapes, chunks, &s->program->values[i->result].shape};
  if (joist_blocks_of(&blocked, &s->blocks[i->result])) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_NO_BLOCKS, .op = joist_op_name(i->op));
}

static void find_source(struct schedule *s, joist_value_id v) {
  const struct joist_block_source *const source = source_of(s, v);
  const size_t rank = (size_t)s->program->values[v].shape.rank;
  s->states[v] = source->chunks == NULL || s->run->known[v] ? IN_MEMORY
                 : source->of != JOIST_NO_INPUT             ? WAITING
                                                            : IN_BLOCKS;
  if (source->chunks != NULL && rank > 0)
    memcpy(s->blocks[v].chunks, source->chunks, rank * sizeof *source->chunks);
}

static void find_state(struct schedule *s, joist_value_id v) {
  const struct joist_instruction *const i = instruction_of(s, v);
  bool memory = true, waits = s->blocks[v].parts;
  for (uint32_t k = 0; k < i->operand_count; k++) {
    memory = memory && s->states[i->operand[k]] == IN_MEMORY;
    waits = waits || s->states[i->operand[k]] == WAITING;
  }
  s->states[v] = s->run->known[v] || memory ? IN_MEMORY : waits ? WAITING : IN_BLOCKS;
}

/* Sets which values the output needs that are not known. */
static void find_needed(struct schedule *s) {
  s->needed[s->output] = true;
  for (bool more = true; more;) {
    more = false;
    for (joist_value_id v = s->program->value_count; v-- > 0;) {
      const joist_value_id *operands;
      if (!s->needed[v] || s->run->known[v]) continue;
      for (uint32_t k = combined_from(s, v, &operands); k-- > 0;) {
        more = more || (!s->needed[operands[k]] && operands[k] > v);
        s->needed[operands[k]] = true;
      }
    }
  }
}

static joist_status find_all(struct schedule *s, struct joist_error *error) {
  for (joist_value_id v = 0; v < s->program->value_count; v++) {
    if (source_of(s, v) != NULL) {
      find_source(s, v);
      continue;
    }
    const joist_status status = find_blocks(s, instruction_of(s, v), error);
    if (status != JOIST_OK) return status;
    find_state(s, v);
  }
  find_needed(s);
  return JOIST_OK;
}

/* ---- stages ---- */

static struct joist_block_stage *add_stage(struct joist_block_round *round, joist_value_id v,
                                           joist_block_role role) {
  struct joist_block_stage *const stage = &round->stages[round->count++];
  *stage = (struct joist_block_stage){.role = role, .first = v};
  return stage;
}

static const uint32_t *chunks_of(const struct schedule *s, joist_value_id v) {
  return v == s->output ? s->run->chunks : s->blocks[v].chunks;
}

static void set_space(struct joist_block_stage *stage, const struct joist_shape *shape,
                      const uint32_t *chunks) {
  stage->rank = shape->rank;
  for (int d = 0; d < shape->rank; d++) {
    stage->extents[d] = shape->extent[d];
    stage->chunks[d] = chunks[d];
  }
}

/* The space of a value that is combined from the parts of `from`: along dims that are not folded,
 * its blocks are those of the value. */
static void set_folded(const struct schedule *s, struct joist_block_stage *stage, joist_value_id v,
                       joist_value_id from) {
  const struct joist_block_source *const source = source_of(s, v);
  const struct joist_attributes *const attributes =
      source == NULL ? instruction_of(s, v)->attributes : NULL;
  const bool drop =
      source != NULL ? source->drop : joist_attribute_flag(attributes, JOIST_ATTRIBUTE_DROP);
  set_space(stage, &s->program->values[from].shape, s->blocks[from].chunks);
  stage->inner = source != NULL ? source->folded : joist_attribute_mask(attributes);
  for (int d = 0, to = 0; d < stage->rank; d++) {
    const bool inner = stage->inner >> d & 1;
    if (!inner) stage->chunks[d] = chunks_of(s, v)[to];
    to += !(inner && drop);
  }
}

static bool same_space(const struct joist_block_stage *a, const struct joist_block_stage *b) {
  const size_t bytes = (size_t)a->rank * sizeof *a->extents;
  return a->role == b->role && a->rank == b->rank && a->inner == b->inner &&
         memcmp(a->extents, b->extents, bytes) == 0 && memcmp(a->chunks, b->chunks, bytes) == 0;
}

/* Adds a value that is combined from parts. Reductions over the same blocks are one stage. */
static void add_combined(const struct schedule *s, struct joist_block_round *round,
                         joist_value_id v) {
  const joist_value_id *operands;
  const struct joist_shape *const shape = &s->program->values[v].shape;
  const bool all_here = combined_from(s, v, &operands) == 1 && s->states[operands[0]] == IN_MEMORY;
  if (all_here) {
    add_stage(round, v, JOIST_BLOCKS_NONE);
    return;
  }
  const joist_block_role role =
      source_of(s, v) != NULL ? JOIST_BLOCKS_FOLD : joist_op_block_role(instruction_of(s, v)->op);
  struct joist_block_stage *const stage = add_stage(round, v, role);
  if (role == JOIST_BLOCKS_PRODUCT) {
    set_space(stage, shape, chunks_of(s, v));
    stage->extents[stage->rank] = s->blocks[v].terms;
    stage->chunks[stage->rank] = s->blocks[v].step;
    stage->inner = UINT32_C(1) << stage->rank++;
  } else if (role == JOIST_BLOCKS_COUNTS) {
    const struct joist_shape *const own = &s->program->values[operands[0]].shape;
    set_space(stage, own, s->blocks[operands[0]].chunks);
    stage->inner = own->rank == 32 ? UINT32_MAX : (UINT32_C(1) << own->rank) - 1;
  } else {
    set_folded(s, stage, v, operands[0]);
    for (uint32_t k = 0; k + 1 < round->count; k++) {
      if (!same_space(&round->stages[k], stage)) continue;
      joist_value_id last = round->stages[k].first;
      while (round->next[last] != JOIST_NO_INPUT) last = round->next[last];
      round->next[last] = v;
      round->count--;
      return;
    }
  }
}

/* Values in memory that are not computed yet, and that others or the output need. */
static void add_in_memory(const struct schedule *s, struct joist_block_round *round) {
  joist_value_id *place = NULL;
  for (joist_value_id v = 0; v < s->program->value_count; v++) {
    bool read = v == s->output;
    if (s->states[v] != IN_MEMORY || (s->run->known[v] && !read)) continue;
    if (source_of(s, v) != NULL && !read) continue;
    for (joist_value_id w = 0; w < s->program->value_count && !read; w++) {
      const joist_value_id *operands;
      if (!s->needed[w] || s->states[w] == IN_MEMORY) continue;
      for (uint32_t k = combined_from(s, w, &operands); k-- > 0;) read = read || operands[k] == v;
    }
    if (!read) continue;
    if (place == NULL)
      (void)add_stage(round, v, JOIST_BLOCKS_NONE);
    else
      *place = v;
    place = &round->next[v];
  }
}

static void add_stages(const struct schedule *s, struct joist_block_round *round) {
  const joist_value_id output = s->output;
  add_in_memory(s, round);
  round->last = s->states[output] == IN_MEMORY;
  if (round->count > 0) return;
  for (joist_value_id v = 0; v < s->program->value_count; v++) {
    const joist_value_id *operands;
    if (v == output || !s->needed[v] || s->states[v] != WAITING || !is_combined(s, v)) continue;
    bool ready = true;
    for (uint32_t k = combined_from(s, v, &operands); k-- > 0;)
      ready = ready && s->states[operands[k]] != WAITING;
    if (ready) add_combined(s, round, v);
  }
  if (round->count > 0) return;
  round->last = true;
  if (is_combined(s, output))
    add_combined(s, round, output);
  else
    set_space(add_stage(round, output, JOIST_BLOCKS_EACH), &s->program->values[output].shape,
              s->run->chunks);
}

joist_status joist_block_round_make(const struct joist_block_program *run,
                                    struct joist_block_round *round, struct joist_error *error) {
  const size_t n = run->program->value_count;
  *round = (struct joist_block_round){.last = false};
  struct schedule s = {.run = run, .program = run->program, .output = run->program->outputs[0]};
  s.blocks = calloc(n, sizeof *s.blocks);
  s.states = calloc(n, sizeof *s.states);
  s.needed = calloc(n, sizeof *s.needed);
  round->stages = malloc(n * sizeof *round->stages);
  round->next = malloc(n * sizeof *round->next);
  joist_status status = JOIST_OK;
  if (s.blocks == NULL || s.states == NULL || s.needed == NULL || round->stages == NULL ||
      round->next == NULL)
    status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  if (status == JOIST_OK) status = find_all(&s, error);
  for (size_t v = 0; v < n && status == JOIST_OK; v++) round->next[v] = JOIST_NO_INPUT;
  if (status == JOIST_OK) add_stages(&s, round);
  free(s.blocks);
  free(s.states);
  free(s.needed);
  if (status != JOIST_OK) joist_block_round_free(round);
  return status;
}

void joist_block_round_free(struct joist_block_round *round) {
  free(round->stages);
  free(round->next);
  *round = (struct joist_block_round){.last = false};
}

/* ---- the program of a stage ---- */

joist_status joist_block_stage_program(const struct joist_block_program *run,
                                       const struct joist_block_round *round,
                                       const struct joist_block_stage *stage,
                                       struct joist_program *program, joist_value_id *inputs,
                                       struct joist_error *error) {
  const struct joist_program *const from = run->program;
  const size_t n = from->value_count;
  joist_value_id *const values = malloc(2 * n * sizeof *values);
  bool *const needed = malloc(n * sizeof *needed);
  joist_status status =
      values == NULL || needed == NULL ? JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY) : JOIST_OK;
  joist_value_id *const wanted = values + n;
  size_t count = 0;
  for (joist_value_id v = stage->first; v != JOIST_NO_INPUT && status == JOIST_OK;
       v = round->next[v]) {
    const uint32_t input = from->values[v].input;
    const bool of = input != JOIST_NO_INPUT && run->sources[input].of != JOIST_NO_INPUT;
    wanted[count++] = of && !run->known[v] ? run->sources[input].of : v;
  }
  if (status == JOIST_OK) {
    for (size_t v = 0; v < n; v++)
      values[v] = run->known[v] || from->values[v].input != JOIST_NO_INPUT ? 0 : JOIST_NO_VALUE;
    joist_program_needs(from, values, wanted, count, needed);
  }
  for (joist_value_id v = 0; v < n && status == JOIST_OK; v++) {
    if (!needed[v] || values[v] == JOIST_NO_VALUE) continue;
    inputs[program->input_count] = v;
    status = joist_program_add_input(program, from->values[v].type, &from->values[v].shape,
                                     &values[v], error);
  }
  if (status == JOIST_OK) status = joist_program_copy_needed(program, from, needed, values, error);
  for (size_t k = 0; k < count && status == JOIST_OK; k++)
    status = joist_program_add_output(program, values[wanted[k]], error);
  free(values);
  free(needed);
  return status;
}
