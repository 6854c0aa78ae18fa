/* Walks from the outputs of a program to its inputs once, and back for each shape of a block. */
#include "core/plan/block_plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/program/blocks.h"
#include "core/program/emit.h"
#include "core/program/watch.h"
#include "core/types/error.h"

#define NONE UINT32_MAX
enum { OPERANDS_MAX = JOIST_ELEMENT_OPERANDS }; /* of operations that have blocks */

/* A value of the program, as some blocks need it. */
struct part {
  joist_value_id value;
  uint32_t next; /* the next part of the same value, NONE for the last */
  int8_t map[JOIST_RANK_MAX];
};

/* An output: its part or, if its blocks are combined from parts, the operands of its operation. */
struct output {
  const struct joist_instruction *combined; /* NULL for others */
  uint32_t part[OPERANDS_MAX];
};

struct joist_block_plan {
  const struct joist_program *program;
  struct part *parts;
  uint32_t *first; /* of each value: its first part, or NONE */
  struct output *outputs;
  uint32_t *read; /* the parts of inputs */
  uint32_t part_count, part_capacity, read_count;
  int rank;
  uint8_t watched;
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

/* Whether results have blocks that are not combined from parts. A space without dims has them all
 * as a whole. */
static bool has_blocks(const struct joist_block_plan *plan, const struct joist_instruction *i) {
  const joist_block_role role = joist_op_block_role(i->op);
  const bool whole = plan->rank == 0 && i->region_count == 0;
  return i->result_count == 1 && i->operand_count <= OPERANDS_MAX &&
         (whole ||
          (role != JOIST_BLOCKS_NONE && role != JOIST_BLOCKS_FOLD && role != JOIST_BLOCKS_COUNTS));
}

static joist_status add_operands(struct joist_block_plan *plan, const struct joist_instruction *i,
                                 struct joist_error *error) {
  struct view view;
  if (plan->first[i->result] == NONE) return JOIST_OK;
  if (!has_blocks(plan, i)) return JOIST_FAIL(error, JOIST_E_NO_BLOCKS, .op = joist_op_name(i->op));
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

/* The map of a value whose dims are the first ones of the space. */
static void map_first(const struct joist_block_plan *plan, int8_t map[JOIST_RANK_MAX]) {
  for (int d = 0; d < JOIST_RANK_MAX; d++) map[d] = d < plan->rank ? (int8_t)d : JOIST_MAP_WHOLE;
}

/* Which part of operand k of a product a block of its space needs: rows, columns and terms. */
static void map_factor(const struct joist_instruction *i, uint32_t k, int8_t map[JOIST_RANK_MAX]) {
  const bool turned = joist_attribute_flag(
      i->attributes, k == 0 ? JOIST_ATTRIBUTE_TRANSPOSE_LHS : JOIST_ATTRIBUTE_TRANSPOSE_RHS);
  const int terms = k == 0 ? !turned : turned;
  map[terms] = 2;
  map[!terms] = (int8_t)k;
}

static joist_status add_output(struct joist_block_plan *plan, uint32_t k, bool parts,
                               struct joist_error *error) {
  const joist_value_id value = plan->program->outputs[k];
  const struct joist_value *const v = &plan->program->values[value];
  struct output *const output = &plan->outputs[k];
  int8_t map[JOIST_RANK_MAX];
  map_first(plan, map);
  *output = (struct output){.combined = NULL};
  if (!parts) {
    output->part[0] = part_of(plan, value, map);
    return output->part[0] == NONE ? JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY) : JOIST_OK;
  }
  const struct joist_instruction *const i = &plan->program->instructions[v->instruction];
  const joist_block_role role = joist_op_block_role(v->input == JOIST_NO_INPUT ? i->op : 0);
  if (role != JOIST_BLOCKS_FOLD && role != JOIST_BLOCKS_COUNTS && role != JOIST_BLOCKS_PRODUCT)
    return JOIST_FAIL(error, JOIST_E_NO_BLOCKS, .op = joist_op_name(i->op));
  output->combined = i;
  for (uint32_t a = 0; a < i->operand_count; a++) {
    if (role == JOIST_BLOCKS_PRODUCT) map_factor(i, a, map);
    output->part[a] = part_of(plan, i->operand[a], map);
    if (output->part[a] == NONE) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  }
  return JOIST_OK;
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

static joist_status fill(struct joist_block_plan *plan, const bool *parts,
                         struct joist_error *error) {
  const struct joist_program *const program = plan->program;
  joist_status status = JOIST_OK;
  for (uint32_t k = 0; k < program->output_count && status == JOIST_OK; k++)
    status = add_output(plan, k, parts[k], error);
  for (uint32_t k = program->instruction_count; k-- > 0 && status == JOIST_OK;)
    status = add_operands(plan, &program->instructions[k], error);
  return status == JOIST_OK ? list_reads(plan, error) : status;
}

joist_status joist_block_plan_make(const struct joist_program *program,
                                   const struct joist_block_space *space,
                                   struct joist_block_plan **made, struct joist_error *error) {
  struct joist_block_plan *const plan = calloc(1, sizeof *plan);
  *made = NULL;
  if (plan == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  plan->program = program;
  plan->rank = space->rank;
  plan->watched = space->watched;
  plan->first = malloc((program->value_count + (size_t)1) * sizeof *plan->first);
  plan->outputs = malloc((program->output_count + (size_t)1) * sizeof *plan->outputs);
  joist_status status = JOIST_OK;
  if (plan->first == NULL || plan->outputs == NULL) {
    status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  } else {
    for (uint32_t v = 0; v < program->value_count; v++) plan->first[v] = NONE;
    status = fill(plan, space->parts, error);
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
  free(plan->outputs);
  free(plan->read);
  free(plan->parts);
  free(plan);
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

/* What is wanted where values of the instruction do not fit. */
static uint8_t wanted_of(const struct joist_block_plan *plan, const struct joist_instruction *i) {
  const bool wraps = (i->watch & JOIST_WATCH_WRAPS) != 0;
  return wraps ? plan->watched & JOIST_WATCH_LOSS : plan->watched;
}

/* What is done there, by its operands as a whole. */
static uint8_t watch_of(const struct joist_block_plan *plan, const struct joist_instruction *i) {
  struct joist_argument arguments[OPERANDS_MAX];
  struct joist_inference inference = {.signature = i->signature};
  const uint8_t wanted = wanted_of(plan, i);
  if (wanted == 0) return 0;
  if (i->watch & JOIST_WATCH_CONVERTS)
    return joist_watch_of_conversion(plan->program->values[i->operand[0]].type,
                                     i->signature.result[0].dtype, false, wanted);
  inference.shape[0] = plan->program->values[i->result].shape;
  for (uint32_t k = 0; k < i->operand_count; k++)
    arguments[k] = joist_argument_of(plan->program, i->operand[k]);
  return joist_watch_of(i->op, arguments, i->operand_count, &inference, i->attributes, wanted);
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
  made.watch = watch_of(plan, i);
  status = joist_program_add(b->program, &made, &inference, error);
  b->ids[number] = made.result;
  return status;
}

/* ---- parts of what is combined ---- */

/* Of a reduction, with all dims: a mean is divided when the sum is known. */
static joist_status append_fold(const struct building *b, const struct joist_instruction *i,
                                joist_value_id operand, joist_value_id *made,
                                struct joist_error *error) {
  const joist_op op = i->op == JOIST_OP_REDUCE_MEAN ? JOIST_OP_REDUCE_SUM : i->op;
  const int last = b->program->values[operand].shape.rank - 1;
  const uint32_t folded = joist_attribute_mask(i->attributes);
  struct joist_attributes attributes = {.count = 0};
  int64_t dims[JOIST_RANK_MAX];
  size_t count = 0;
  for (int d = 0; d <= last; d++)
    if (folded >> (b->reversed ? last - d : d) & 1) dims[count++] = d;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_DIMS, dims, count);
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DROP, false);
  if (joist_op_class(op) == JOIST_CLASS_ACCUMULATE)
    joist_attributes_set_type(
        &attributes,
        (struct joist_type){joist_op_part_dtype(op, i->signature.result[0].dtype), false});
  return joist_program_emit(b->program, op, &operand, 1, &attributes, 0, wanted_of(b->plan, i),
                            made, error);
}

/* Of a product of matrices, in the dtype that it accumulates in; where it is asked what does not
 * fit in the end, of integers in one of 64 bits. The transpose of a product is that of the
 * transposes, the other way round. */
static joist_status append_product(const struct building *b, const struct joist_instruction *i,
                                   joist_value_id *operands, joist_value_id *made,
                                   struct joist_error *error) {
  struct joist_attributes attributes = {.count = 0};
  const joist_dtype own = i->signature.result[0].dtype;
  const joist_kind kind = joist_dtype_kind(own);
  const bool sums = (kind == JOIST_KIND_INT || kind == JOIST_KIND_UINT) &&
                    (wanted_of(b->plan, i) & (JOIST_WATCH_OVERFLOW | JOIST_WATCH_SATURATE)) != 0;
  const joist_dtype wide = joist_op_part_dtype(sums ? JOIST_OP_REDUCE_SUM : i->op, own);
  joist_attributes_set_type(&attributes, (struct joist_type){wide, false});
  for (int k = 0; k < 2; k++) {
    const joist_value_id given = operands[k];
    const joist_status status = joist_program_emit(b->program, JOIST_OP_CONVERT, &given, 1,
                                                   &attributes, 0, 0, &operands[k], error);
    if (status != JOIST_OK) return status;
    const struct joist_value *const converted = &b->program->values[operands[k]];
    if (operands[k] != given)
      b->program->instructions[converted->instruction].watch = joist_watch_of_conversion(
          b->program->values[given].type, wide, false, wanted_of(b->plan, i));
  }
  const bool lhs = joist_attribute_flag(i->attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS);
  const bool rhs = joist_attribute_flag(i->attributes, JOIST_ATTRIBUTE_TRANSPOSE_RHS);
  const joist_value_id turned[] = {operands[b->reversed], operands[!b->reversed]};
  attributes.count = 0;
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS, b->reversed ? rhs : lhs);
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_TRANSPOSE_RHS, b->reversed ? lhs : rhs);
  return joist_program_emit(b->program, i->op, turned, 2, &attributes, 0, wanted_of(b->plan, i),
                            made, error);
}

static joist_status append_output(const struct building *b, const struct output *output,
                                  joist_value_id *made, struct joist_error *error) {
  const struct joist_instruction *const i = output->combined;
  joist_value_id operands[OPERANDS_MAX];
  if (i == NULL) {
    *made = b->ids[output->part[0]];
    return JOIST_OK;
  }
  for (uint32_t k = 0; k < i->operand_count; k++) operands[k] = b->ids[output->part[k]];
  switch (joist_op_block_role(i->op)) {
    case JOIST_BLOCKS_FOLD:
      return append_fold(b, i, operands[0], made, error);
    case JOIST_BLOCKS_PRODUCT:
      return append_product(b, i, operands, made, error);
    default:
      return joist_program_emit(b->program, i->op, operands, i->operand_count, i->attributes, 0,
                                wanted_of(b->plan, i), made, error);
  }
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
  for (uint32_t k = 0; k < plan->program->instruction_count; k++) {
    const struct joist_instruction *const i = &plan->program->instructions[k];
    for (uint32_t p = plan->first[i->result]; p != NONE && status == JOIST_OK;
         p = plan->parts[p].next)
      status = append_part(&building, i, p, error);
  }
  for (uint32_t k = 0; k < plan->program->output_count && status == JOIST_OK; k++)
    status = append_output(&building, &plan->outputs[k], &outputs[k], error);
  free(ids);
  return status;
}
