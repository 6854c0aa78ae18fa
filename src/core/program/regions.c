/* Appending operations with bodies. */
#include "core/program/regions.h"

#include <stdlib.h>
#include <string.h>

#include "core/types/error.h"

struct joist_region_parts joist_region_parts(const struct joist_program *program,
                                             const struct joist_instruction *i) {
  struct joist_region_parts parts = {.first = i->op == JOIST_OP_FOR || i->op == JOIST_OP_IF};
  if (i->op == JOIST_OP_SCAN)
    parts.carries = (uint32_t)joist_attribute_value(i->attributes, JOIST_ATTRIBUTE_CARRIES);
  else if (i->op != JOIST_OP_IF)
    parts.carries = i->result_count;
  uint32_t own = parts.carries + (i->op == JOIST_OP_FOR); /* inputs of a body that it is given */
  if (i->op == JOIST_OP_SCAN) {
    /* The inputs of a body are its first values; arrays have one more dim than their slices. */
    const struct joist_program *const body = i->regions[0];
    while (own < i->operand_count && own < body->value_count && body->values[own].input == own &&
           program->values[i->operand[own]].shape.rank == body->values[own].shape.rank + 1)
      own++;
    parts.arrays = own - parts.carries;
    if (parts.arrays > 0) {
      const struct joist_shape *const shape = &program->values[i->operand[parts.carries]].shape;
      parts.turns = shape->extent[shape->rank - 1];
    }
  }
  for (uint32_t r = 0; r < i->region_count; r++) {
    parts.inputs[r] = i->regions[r]->input_count;
    parts.captures[r] = parts.inputs[r] >= own ? parts.inputs[r] - own : 0;
  }
  return parts;
}

bool joist_has_effect(const struct joist_instruction *i) {
  bool any = i->op == JOIST_OP_PRINT;
  for (uint32_t r = 0; r < i->region_count && !any; r++)
    for (uint32_t k = 0; k < i->regions[r]->instruction_count && !any; k++)
      any = joist_has_effect(&i->regions[r]->instructions[k]);
  return any;
}

bool joist_is_needed(const struct joist_instruction *i, const bool *needed) {
  bool any = joist_has_effect(i);
  for (uint32_t r = 0; r < i->result_count; r++) any |= needed[i->result + r];
  return any;
}

void joist_program_mark_needed(const struct joist_program *program, bool *needed) {
  memset(needed, 0, program->value_count * sizeof *needed);
  for (uint32_t k = 0; k < program->output_count; k++) needed[program->outputs[k]] = true;
  for (uint32_t k = program->instruction_count; k-- > 0;) {
    const struct joist_instruction *const i = &program->instructions[k];
    if (!joist_is_needed(i, needed)) continue;
    for (uint32_t a = 0; a < joist_reads(i); a++) needed[joist_read_at(i, a)] = true;
  }
}

/* ---- whether operands and bodies fit ---- */

static bool same_array(const struct joist_value *lhs, const struct joist_value *rhs) {
  return lhs->type.dtype == rhs->type.dtype && joist_shape_equal(&lhs->shape, &rhs->shape);
}

static bool is_scalar(const struct joist_value *value, joist_dtype dtype) {
  return value->type.dtype == dtype && value->shape.rank == 0;
}

/* `value` is a slice of `array`, along a last dim of extent `turns`. */
static bool is_slice(const struct joist_value *value, const struct joist_value *array,
                     size_t turns) {
  struct joist_shape shape = array->shape;
  if (shape.rank == 0 || shape.extent[shape.rank - 1] != turns) return false;
  shape.rank--;
  return value->type.dtype == array->type.dtype && joist_shape_equal(&value->shape, &shape);
}

/* Inputs are the first values of a body: what it is given comes before anything is computed. */
static bool inputs_fit(const struct joist_program *program, const struct joist_instruction *i,
                       const struct joist_region_parts *parts, uint32_t region, uint32_t captures) {
  const struct joist_program *const body = i->regions[region];
  const uint32_t given = parts->inputs[region] - parts->captures[region];
  const joist_value_id *const carries = i->operand + parts->first;
  uint32_t k = 0;
  for (uint32_t v = 0; v < body->value_count; v++) {
    const struct joist_value *const value = &body->values[v];
    if (value->input == JOIST_NO_INPUT) continue;
    if (value->input != k) return false;
    const uint32_t at = k++;
    bool fits;
    if (at >= given)
      fits = same_array(value, &program->values[i->operand[captures + at - given]]);
    else if (i->op == JOIST_OP_FOR && at == 0)
      fits = value->shape.rank == 0;
    else if (i->op == JOIST_OP_FOR)
      fits = same_array(value, &program->values[carries[at - 1]]);
    else if (at < parts->carries)
      fits = same_array(value, &program->values[carries[at]]);
    else
      fits = is_slice(value, &program->values[carries[at]], parts->turns);
    if (!fits) return false;
  }
  return true;
}

static bool carries_fit(const struct joist_program *program, const struct joist_instruction *i,
                        const struct joist_region_parts *parts) {
  const struct joist_program *const body = i->regions[i->region_count - 1];
  if (body->output_count < parts->carries) return false;
  for (uint32_t k = 0; k < parts->carries; k++)
    if (!same_array(&body->values[body->outputs[k]],
                    &program->values[i->operand[parts->first + k]]))
      return false;
  return i->op == JOIST_OP_SCAN || body->output_count == parts->carries;
}

static bool branches_fit(const struct joist_instruction *i) {
  const struct joist_program *const yes = i->regions[0], *const no = i->regions[1];
  if (yes->output_count != no->output_count) return false;
  for (uint32_t k = 0; k < yes->output_count; k++)
    if (!same_array(&yes->values[yes->outputs[k]], &no->values[no->outputs[k]])) return false;
  return true;
}

static bool all_fits(const struct joist_program *program, const struct joist_instruction *i) {
  const struct joist_region_parts parts = joist_region_parts(program, i);
  uint32_t captures = parts.first + parts.carries + parts.arrays;
  if (captures + parts.captures[0] + parts.captures[1] != i->operand_count) return false;
  if (i->op == JOIST_OP_SCAN && parts.arrays == 0) return false;
  for (uint32_t r = 0; r < i->region_count; r++) {
    if (!inputs_fit(program, i, &parts, r, captures)) return false;
    captures += parts.captures[r];
  }
  const struct joist_value *const first = &program->values[i->operand[0]];
  if (i->op == JOIST_OP_IF) return is_scalar(first, JOIST_BOOL) && branches_fit(i);
  if (i->op == JOIST_OP_FOR && !is_scalar(first, JOIST_I64)) return false;
  const struct joist_program *const condition = i->regions[0];
  if (i->op == JOIST_OP_WHILE &&
      (condition->output_count != 1 ||
       !is_scalar(&condition->values[condition->outputs[0]], JOIST_BOOL)))
    return false;
  return carries_fit(program, i, &parts);
}

/* ---- appending ---- */

/* The types and shapes of the results, from the outputs of a body. */
static joist_status make_results(const struct joist_program *program,
                                 const struct joist_instruction *i, struct joist_value *results,
                                 struct joist_error *error) {
  const struct joist_program *const body =
      i->regions[i->op == JOIST_OP_IF ? 0 : i->region_count - 1];
  const struct joist_region_parts parts = joist_region_parts(program, i);
  for (uint32_t k = 0; k < i->result_count; k++) {
    results[k] = body->values[body->outputs[k]];
    if (i->op != JOIST_OP_SCAN || k < parts.carries) continue;
    struct joist_shape *const shape = &results[k].shape;
    size_t elements;
    if (shape->rank == JOIST_RANK_MAX)
      return JOIST_FAIL(error, JOIST_E_RANK_LIMIT, .count = {JOIST_RANK_MAX + 1, JOIST_RANK_MAX});
    shape->extent[shape->rank++] = (uint32_t)parts.turns;
    if (!joist_shape_count(shape, &elements))
      return JOIST_FAIL(error, JOIST_E_ELEMENT_LIMIT, .shape = {*shape});
  }
  return JOIST_OK;
}

static void drop(struct joist_program *const *bodies, uint32_t from, uint32_t count) {
  for (uint32_t r = from; r < count; r++) {
    joist_program_clear(bodies[r]);
    free(bodies[r]);
  }
}

joist_status joist_program_add_regions(struct joist_program *program, joist_op op,
                                       const joist_value_id *operands, size_t count,
                                       const struct joist_attributes *attributes, uint32_t source,
                                       struct joist_program *const *bodies, joist_value_id *first,
                                       struct joist_error *error) {
  const uint32_t regions = joist_operation(op)->regions;
  struct joist_instruction i = {.op = op,
                                .operand_count = (uint32_t)count,
                                .operand = operands,
                                .attributes = attributes,
                                .source = source,
                                .regions = bodies,
                                .region_count = regions};
  i.result_count = bodies[op == JOIST_OP_IF ? 0 : regions - 1]->output_count;
  for (int k = 0; k < JOIST_ELEMENT_OPERANDS; k++) i.signature.operand[k] = JOIST_DTYPE_NONE;
  i.signature.promoted.dtype = JOIST_DTYPE_NONE;
  struct joist_value *const results = calloc(i.result_count + 1, sizeof *results);
  joist_status status = joist_op_check_operands(op, count, error);
  if (status == JOIST_OK && results == NULL) status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  if (status == JOIST_OK && !all_fits(program, &i))
    status = JOIST_FAIL(error, JOIST_E_BODY, .op = joist_op_name(op));
  if (status == JOIST_OK) status = make_results(program, &i, results, error);
  if (status == JOIST_OK) {
    i.regions = NULL;
    i.region_count = 0;
    if (i.result_count > 0) i.signature.result[0] = results[0].type;
    status = joist_program_append(program, &i, results, error);
    *first = i.result;
  }
  free(results);
  uint32_t owned = 0;
  while (owned < regions && status == JOIST_OK)
    status = joist_program_add_region(program, bodies[owned++], error);
  drop(bodies, owned, regions);
  return status;
}

/* ---- copies ---- */

/* A new program with the inputs of `from` and with the outputs of it that `chosen` has flags
 * for, or all if it is NULL. */
static joist_status copy_body(const struct joist_program *from, const bool *chosen,
                              struct joist_program **made, struct joist_error *error);

/* The results of an instruction that its copy has: the results of a scan that are needed, and its
 * carries. `results` is room for them; `chosen` has a flag for each output of the body. */
static uint32_t results_of_copy(const struct joist_program *from, const struct joist_instruction *i,
                                const bool *needed, struct joist_value *results, bool *chosen) {
  const bool all = needed == NULL || i->op != JOIST_OP_SCAN;
  const uint32_t carries = all ? 0 : joist_region_parts(from, i).carries;
  uint32_t count = 0;
  for (uint32_t r = 0; r < i->result_count; r++) {
    chosen[r] = all || r < carries || needed[i->result + r];
    if (chosen[r]) results[count++] = from->values[i->result + r];
  }
  return count;
}

/* Room for a copy of any instruction. */
struct copying {
  joist_value_id *operands;
  struct joist_value *results;
  bool *chosen;
};

static bool make_room(const struct joist_program *from, struct copying *room) {
  uint32_t operands = 0, results = 0;
  for (uint32_t k = 0; k < from->instruction_count; k++) {
    const struct joist_instruction *const i = &from->instructions[k];
    if (i->operand_count > operands) operands = i->operand_count;
    if (i->result_count > results) results = i->result_count;
  }
  char *const block = malloc((results + 1) * sizeof *room->results +
                             (operands + 1) * sizeof *room->operands + results * sizeof(bool));
  if (block == NULL) return false;
  room->results = (struct joist_value *)(void *)block;
  room->operands = (joist_value_id *)(void *)(room->results + results + 1);
  room->chosen = (bool *)(room->operands + operands + 1);
  return true;
}

/* `needed` has a flag for each value of `from`; NULL if all are needed. */
static joist_status append_copy(struct joist_program *program, const struct joist_program *from,
                                const struct joist_instruction *original, const bool *needed,
                                joist_value_id *values, const struct copying *room,
                                struct joist_error *error) {
  if (original->op == JOIST_OP_PRINT) return JOIST_OK;
  struct joist_instruction i = *original;
  i.operand = room->operands;
  for (uint32_t k = 0; k < i.operand_count; k++) room->operands[k] = values[original->operand[k]];
  if (i.missing > 0)
    i.missing = values[i.missing - 1] == JOIST_NO_VALUE ? 0 : values[i.missing - 1] + 1;
  i.regions = NULL;
  i.region_count = 0;
  i.result_count = results_of_copy(from, original, needed, room->results, room->chosen);
  const bool pruned = i.result_count < original->result_count;
  joist_status status = joist_program_append(program, &i, room->results, error);
  for (uint32_t k = 0, r = 0; k < original->result_count; k++)
    if (room->chosen[k]) values[original->result + k] = i.result + r++;
  for (uint32_t r = 0; r < original->region_count && status == JOIST_OK; r++) {
    struct joist_program *body = NULL;
    status = copy_body(original->regions[r], pruned ? room->chosen : NULL, &body, error);
    if (status == JOIST_OK) status = joist_program_add_region(program, body, error);
  }
  return status;
}

joist_status joist_program_inline(struct joist_program *program, const struct joist_program *from,
                                  const joist_value_id *inputs, joist_value_id *outputs,
                                  struct joist_error *error) {
  struct copying room;
  joist_value_id *const values = malloc((from->value_count + 1) * sizeof *values);
  if (values == NULL || !make_room(from, &room)) {
    free(values);
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  }
  for (uint32_t v = 0; v < from->value_count; v++)
    values[v] = from->values[v].input == JOIST_NO_INPUT ? 0 : inputs[from->values[v].input];
  joist_status status = JOIST_OK;
  for (uint32_t k = 0; k < from->instruction_count && status == JOIST_OK; k++)
    status = append_copy(program, from, &from->instructions[k], NULL, values, &room, error);
  for (uint32_t k = 0; k < from->output_count && status == JOIST_OK; k++)
    outputs[k] = values[from->outputs[k]];
  free(values);
  free(room.results);
  return status;
}

void joist_program_needs(const struct joist_program *program, const joist_value_id *known,
                         const joist_value_id *wanted, size_t count, bool *needed) {
  memset(needed, 0, program->value_count * sizeof *needed);
  for (size_t k = 0; k < count; k++) needed[wanted[k]] = true;
  for (uint32_t k = program->instruction_count; k-- > 0;) {
    const struct joist_instruction *const i = &program->instructions[k];
    bool any = false;
    for (uint32_t r = 0; r < i->result_count; r++)
      any |= needed[i->result + r] && known[i->result + r] == JOIST_NO_VALUE;
    for (uint32_t a = 0; a < joist_reads(i) && any; a++) needed[joist_read_at(i, a)] = true;
  }
}

joist_status joist_program_copy_needed(struct joist_program *program,
                                       const struct joist_program *from, const bool *needed,
                                       joist_value_id *values, struct joist_error *error) {
  struct copying room;
  if (!make_room(from, &room)) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  joist_status status = JOIST_OK;
  for (uint32_t k = 0; k < from->instruction_count && status == JOIST_OK; k++) {
    const struct joist_instruction *const i = &from->instructions[k];
    bool any = false;
    for (uint32_t r = 0; r < i->result_count; r++)
      any |= needed[i->result + r] && values[i->result + r] == JOIST_NO_VALUE;
    if (any) status = append_copy(program, from, i, needed, values, &room, error);
  }
  free(room.results);
  return status;
}

static joist_status copy_body(const struct joist_program *from, const bool *chosen,
                              struct joist_program **made, struct joist_error *error) {
  struct joist_program *const copy = malloc(sizeof *copy);
  joist_value_id *const ids = malloc((from->input_count + from->output_count + 1) * sizeof *ids);
  joist_status status = JOIST_OK;
  if (copy != NULL) joist_program_init(copy);
  if (copy == NULL || ids == NULL) status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (uint32_t v = 0; v < from->value_count && status == JOIST_OK; v++) {
    const struct joist_value *const value = &from->values[v];
    if (value->input != JOIST_NO_INPUT)
      status = joist_program_add_input(copy, value->type, &value->shape, &ids[value->input], error);
  }
  if (status == JOIST_OK)
    status = joist_program_inline(copy, from, ids, ids + from->input_count, error);
  for (uint32_t k = 0; k < from->output_count && status == JOIST_OK; k++)
    if (chosen == NULL || chosen[k])
      status = joist_program_add_output(copy, ids[from->input_count + k], error);
  free(ids);
  if (status != JOIST_OK && copy != NULL) {
    joist_program_clear(copy);
    free(copy);
  }
  *made = status == JOIST_OK ? copy : NULL;
  return status;
}
