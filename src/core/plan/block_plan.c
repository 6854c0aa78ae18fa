/* Walks from the outputs of a program to its inputs once, and back for each shape of a block. */
#include "core/plan/block_plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/program/blocks.h"
#include "core/types/error.h"

#define NONE UINT32_MAX
enum { OPERANDS_MAX = JOIST_ELEMENT_OPERANDS }; /* of operations that have blocks */

/* A value of the program, as some blocks need it. */
struct part {
  joist_value_id value;
  uint32_t next; /* the next part of the same value, NONE for the last */
  int8_t map[JOIST_RANK_MAX];
};

struct joist_block_plan {
  const struct joist_program *program;
  struct part *parts;
  uint32_t *first;  /* of each value: its first part, or NONE */
  uint32_t *output; /* the part of each output */
  uint32_t *read;   /* the parts of inputs */
  uint32_t instruction_count, part_count, part_capacity, output_count, read_count;
  int rank;
};

static int rank_of(const struct joist_block_plan *plan, joist_value_id value) {
  return plan->program->values[value].shape.rank;
}

/* The number of the part with this map; it is added unless it is there. NONE when memory is out. */
static uint32_t part_of(struct joist_block_plan *plan, joist_value_id value, const int8_t *map) {
  const size_t rank = (size_t)rank_of(plan, value);
  for (uint32_t k = plan->first[value]; k != NONE; k = plan->parts[k].next)
    if (rank == 0 || memcmp(plan->parts[k].map, map, rank) == 0) return k;
  void *const parts =
      joist_array_grown(plan->parts, sizeof *plan->parts, plan->part_count, &plan->part_capacity);
  if (parts == NULL) return NONE;
  plan->parts = parts;
  struct part *const made = &plan->parts[plan->part_count];
  *made = (struct part){.value = value, .next = plan->first[value]};
  if (rank > 0) memcpy(made->map, map, rank);
  plan->first[value] = plan->part_count;
  return plan->part_count++;
}

/* An instruction as the facts of blocks see it. */
struct view {
  struct joist_blocked blocked;
  const struct joist_shape *shapes[OPERANDS_MAX];
};

static void view_instruction(const struct joist_program *program, const struct joist_instruction *i,
                             struct view *view) {
  for (uint32_t k = 0; k < i->operand_count; k++)
    view->shapes[k] = &program->values[i->operand[k]].shape;
  view->blocked = (struct joist_blocked){.op = i->op,
                                         .attributes = i->attributes,
                                         .count = i->operand_count,
                                         .shapes = view->shapes,
                                         .result = &program->values[i->result].shape};
}

static joist_status add_operands(struct joist_block_plan *plan, const struct joist_instruction *i,
                                 struct joist_error *error) {
  struct view view;
  if (plan->first[i->result] == NONE) return JOIST_OK;
  view_instruction(plan->program, i, &view);
  for (uint32_t p = plan->first[i->result]; p != NONE; p = plan->parts[p].next)
    for (uint32_t k = 0; k < i->operand_count; k++) {
      int8_t map[JOIST_RANK_MAX];
      joist_blocks_map(&view.blocked, k, plan->parts[p].map, map);
      if (part_of(plan, i->operand[k], map) == NONE)
        return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
    }
  return JOIST_OK;
}

static bool has_blocks(const struct joist_instruction *i) {
  const joist_block_role role = joist_op_block_role(i->op);
  return i->result_count == 1 && i->operand_count <= OPERANDS_MAX && role != JOIST_BLOCKS_NONE &&
         role != JOIST_BLOCKS_FOLD && role != JOIST_BLOCKS_COUNTS;
}

static joist_status list_reads(struct joist_block_plan *plan, struct joist_error *error) {
  const struct joist_program *const program = plan->program;
  plan->read = malloc((plan->part_count + (size_t)1) * sizeof *plan->read);
  if (plan->read == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (uint32_t v = 0; v < program->value_count; v++)
    for (uint32_t p = plan->first[v]; p != NONE; p = plan->parts[p].next)
      if (program->values[v].input != JOIST_NO_INPUT) plan->read[plan->read_count++] = p;
  return JOIST_OK;
}

static joist_status fill(struct joist_block_plan *plan, const struct joist_block_output *outputs,
                         struct joist_error *error) {
  const struct joist_program *const program = plan->program;
  for (uint32_t k = 0; k < plan->output_count; k++) {
    plan->output[k] = part_of(plan, outputs[k].value, outputs[k].map);
    if (plan->output[k] == NONE) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  }
  for (uint32_t k = program->instruction_count; k-- > 0;) {
    const struct joist_instruction *const i = &program->instructions[k];
    if (!has_blocks(i)) return JOIST_FAIL(error, JOIST_E_NO_BLOCKS, .op = joist_op_name(i->op));
    const joist_status status = add_operands(plan, i, error);
    if (status != JOIST_OK) return status;
  }
  return list_reads(plan, error);
}

joist_status joist_block_plan_make(const struct joist_program *program,
                                   const struct joist_block_output *outputs, uint32_t count,
                                   int rank, struct joist_block_plan **made,
                                   struct joist_error *error) {
  struct joist_block_plan *const plan = calloc(1, sizeof *plan);
  *made = NULL;
  if (plan == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  plan->program = program;
  plan->instruction_count = program->instruction_count;
  plan->rank = rank;
  plan->output_count = count;
  plan->first = malloc((program->value_count + (size_t)count + 1) * sizeof *plan->first);
  joist_status status = JOIST_OK;
  if (plan->first == NULL) {
    status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  } else {
    plan->output = plan->first + program->value_count;
    for (uint32_t v = 0; v < program->value_count; v++) plan->first[v] = NONE;
    status = fill(plan, outputs, error);
  }
  if (status == JOIST_OK)
    *made = plan;
  else
    joist_block_plan_free(plan);
  return status;
}

void joist_block_plan_free(struct joist_block_plan *plan) {
  if (plan == NULL) return;
  free(plan->first);
  free(plan->read);
  free(plan->parts);
  free(plan);
}

uint32_t joist_block_plan_outputs(const struct joist_block_plan *plan) {
  return plan->output_count;
}

uint32_t joist_block_plan_reads(const struct joist_block_plan *plan) { return plan->read_count; }

joist_value_id joist_block_plan_read(const struct joist_block_plan *plan, uint32_t k,
                                     const int8_t **map) {
  const struct part *const part = &plan->parts[plan->read[k]];
  *map = part->map;
  return part->value;
}

/* ---- the program of a block ---- */

/* What the parts are in the program of a block. */
struct building {
  const struct joist_block_plan *plan;
  const uint32_t *extents; /* of the block, in the space */
  bool reversed;
  struct joist_program *program;
  joist_value_id *ids;
};

/* The shape of a part of a block. */
static void shape_of_part(const struct building *b, const struct part *part,
                          struct joist_shape *shape) {
  const struct joist_block_plan *const plan = b->plan;
  const struct joist_shape *const whole = &plan->program->values[part->value].shape;
  const int last = whole->rank - 1;
  shape->rank = whole->rank;
  for (int d = 0; d <= last; d++) {
    const int8_t at = part->map[d];
    shape->extent[b->reversed ? last - d : d] =
        at == JOIST_MAP_WHOLE ? whole->extent[d]
                              : b->extents[b->reversed ? plan->rank - 1 - at : at];
  }
}

static joist_status append_part(const struct building *b, const struct joist_instruction *i,
                                uint32_t number, struct joist_error *error) {
  const struct joist_block_plan *const plan = b->plan;
  const struct part *const part = &plan->parts[number];
  const bool swaps = b->reversed && joist_op_block_role(i->op) == JOIST_BLOCKS_PRODUCT;
  struct joist_shape block;
  struct view view;
  view_instruction(plan->program, i, &view);
  shape_of_part(b, part, &block);
  joist_value_id operands[OPERANDS_MAX];
  const struct joist_shape *shapes[OPERANDS_MAX + 1] = {NULL};
  for (uint32_t k = 0; k < i->operand_count; k++) {
    int8_t map[JOIST_RANK_MAX];
    joist_blocks_map(&view.blocked, k, part->map, map);
    uint32_t p = plan->first[i->operand[k]];
    const size_t rank = (size_t)view.shapes[k]->rank;
    while (rank > 0 && memcmp(plan->parts[p].map, map, rank) != 0) p = plan->parts[p].next;
    const uint32_t at = swaps ? i->operand_count - 1 - k : k;
    operands[at] = b->ids[p];
    shapes[at] = &b->program->values[operands[at]].shape;
  }
  struct joist_attributes attributes;
  int64_t room[JOIST_RANK_MAX];
  joist_blocks_attributes(&view.blocked, &block, b->reversed, &attributes, room);
  struct joist_inference inference = {.signature = i->signature};
  joist_status status = joist_program_infer_shapes(i->op, shapes, i->operand_count, &attributes,
                                                   inference.shape, error);
  if (status != JOIST_OK) return status;
  struct joist_instruction made =
      joist_instruction_of(i->op, &inference, operands, i->operand_count, &attributes, 0);
  made.watch = i->watch;
  status = joist_program_add(b->program, &made, &inference, error);
  b->ids[number] = made.result;
  return status;
}

joist_status joist_block_plan_append(const struct joist_block_plan *plan, const uint32_t *extents,
                                     bool reversed, const joist_value_id *reads,
                                     struct joist_program *program, joist_value_id *outputs,
                                     struct joist_error *error) {
  joist_value_id *const ids = malloc((plan->part_count + (size_t)1) * sizeof *ids);
  if (ids == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  const struct building building = {plan, extents, reversed, program, ids};
  joist_status status = JOIST_OK;
  for (uint32_t k = 0; k < plan->read_count; k++) ids[plan->read[k]] = reads[k];
  for (uint32_t k = 0; k < plan->instruction_count; k++) {
    const struct joist_instruction *const i = &plan->program->instructions[k];
    for (uint32_t p = plan->first[i->result]; p != NONE && status == JOIST_OK;
         p = plan->parts[p].next)
      status = append_part(&building, i, p, error);
  }
  for (uint32_t k = 0; k < plan->output_count && status == JOIST_OK; k++)
    outputs[k] = ids[plan->output[k]];
  free(ids);
  return status;
}
