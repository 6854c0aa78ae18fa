/* Building programs. */
#include "core/program/program.h"

#include "core/base/array.h"
#include "core/base/bits.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void joist_program_init(struct joist_program *program) { memset(program, 0, sizeof *program); }

static void clear_regions(const struct joist_instruction *i) {
  for (uint32_t r = 0; r < i->region_count; r++) {
    joist_program_clear(i->regions[r]);
    free(i->regions[r]);
  }
}

void joist_program_clear(struct joist_program *program) {
  for (uint32_t k = 0; k < program->instruction_count; k++)
    clear_regions(&program->instructions[k]);
  free(program->values);
  free(program->instructions);
  free(program->outputs);
  joist_table_clear(&program->same);
  joist_arena_clear(&program->arena);
  joist_program_init(program);
}

static joist_status out_of_memory(struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
}

static joist_status add_value(struct joist_program *program, struct joist_type type,
                              const struct joist_shape *shape, uint32_t input, uint32_t instruction,
                              joist_value_id *value, struct joist_error *error) {
  void *const values = joist_array_grown(program->values, sizeof *program->values,
                                         program->value_count, &program->value_capacity);
  if (values == NULL) return out_of_memory(error);
  program->values = values;
  *value = program->value_count++;
  program->values[*value] = (struct joist_value){
      .type = type, .shape = *shape, .input = input, .instruction = instruction};
  return JOIST_OK;
}

joist_status joist_program_add_input(struct joist_program *program, struct joist_type type,
                                     const struct joist_shape *shape, joist_value_id *value,
                                     struct joist_error *error) {
  const joist_status status =
      add_value(program, type, shape, program->input_count, 0, value, error);
  if (status == JOIST_OK) program->input_count++;
  return status;
}

/* Elementwise operations and reductions have a rule of their family. */
joist_status joist_program_infer_shapes(joist_op op, const struct joist_shape *const *shapes,
                                        size_t count, const struct joist_attributes *attributes,
                                        struct joist_shape *results, struct joist_error *error) {
  if (joist_operation(op)->regions > 0)
    return JOIST_FAIL(error, JOIST_E_BODY, .op = joist_op_name(op));
  if (joist_op_is_array(op)) return joist_operation(op)->shape(shapes, attributes, results, error);
  if (joist_op_is_reduction(op)) {
    joist_shape_reduce(shapes[0], joist_attribute_mask(attributes),
                       joist_attribute_flag(attributes, JOIST_ATTRIBUTE_DROP), results);
    return JOIST_OK;
  }
  if (op != JOIST_OP_BROADCAST) return joist_shape_broadcast(shapes, count, results, error);
  (void)joist_attribute_shape(attributes, results);
  if (joist_shape_broadcasts_to(shapes[0], results)) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_BROADCAST_TO, .shape = {*shapes[0], *results});
}

static joist_status infer_all(const struct joist_rules *rules, joist_op op,
                              const struct joist_operand *operands,
                              const struct joist_shape *const *shapes, size_t count,
                              const struct joist_attributes *attributes,
                              struct joist_inference *inference, struct joist_error *error) {
  joist_status status =
      joist_infer(rules, op, operands, count, attributes, &inference->signature, error);
  const int results = joist_operation(op)->results;
  inference->watch = 0;
  for (int k = 0; k < results; k++) inference->shape[k].rank = 0;
  if (status == JOIST_OK)
    status = joist_program_infer_shapes(op, shapes, count, attributes, inference->shape, error);
  for (int k = 0; k < results && status == JOIST_OK; k++) {
    size_t elements = 0;
    if (!joist_shape_count(&inference->shape[k], &elements))
      status = JOIST_FAIL(error, JOIST_E_ELEMENT_LIMIT, .shape = {inference->shape[k]});
  }
  return status;
}

joist_status joist_program_infer(const struct joist_rules *rules, joist_op op,
                                 const struct joist_argument *arguments, size_t count,
                                 const struct joist_attributes *attributes,
                                 struct joist_inference *inference, struct joist_error *error) {
  enum { FEW = 3 };
  struct joist_operand few[FEW];
  const struct joist_shape *few_shapes[FEW + 1];
  joist_status status = joist_op_check_operands(op, count, error);
  if (status != JOIST_OK) return status;
  void *block = NULL;
  struct joist_operand *operands = few;
  const struct joist_shape **shapes = few_shapes;
  if (count > FEW) {
    block = malloc(count * sizeof *operands + (count + 1) * sizeof *shapes);
    if (block == NULL) return out_of_memory(error);
    operands = block;
    shapes = (const struct joist_shape **)(void *)(operands + count);
  }
  for (size_t k = 0; k < count; k++) {
    operands[k] = arguments[k].operand;
    shapes[k] = &arguments[k].shape;
  }
  shapes[count] = NULL;
  status = infer_all(rules, op, operands, shapes, count, attributes, inference, error);
  free(block);
  return status;
}

struct joist_instruction joist_instruction_of(joist_op op, const struct joist_inference *inference,
                                              const joist_value_id *operands, size_t count,
                                              const struct joist_attributes *attributes,
                                              joist_value_id result) {
  return (struct joist_instruction){
      .op = joist_signature_op(&inference->signature, op),
      .operand_count = (uint32_t)count,
      .result_count = joist_operation(op)->results,
      .operand = operands,
      .result = result,
      .attributes = attributes,
      .signature = inference->signature,
      .watch = inference->watch,
      .dims = joist_op_is_reduction(op) ? joist_attribute_mask(attributes) : 0,
      .source = JOIST_NO_SOURCE};
}

/* ---- instructions that compute the same ---- */

static uint64_t hash_of(const struct joist_instruction *i) {
  uint64_t hash = joist_hash_word((uint64_t)i->op, i->operand_count);
  for (uint32_t k = 0; k < i->operand_count; k++) hash = joist_hash_word(hash, i->operand[k]);
  return joist_attributes_hash(i->attributes, hash);
}

static bool same_types(const struct joist_signature *lhs, const struct joist_signature *rhs) {
  bool same = true;
  for (int k = 0; k < JOIST_ELEMENT_OPERANDS; k++) same &= lhs->operand[k] == rhs->operand[k];
  for (int k = 0; k < JOIST_RESULTS_MAX; k++)
    same &= lhs->result[k].dtype == rhs->result[k].dtype &&
            lhs->result[k].ambiguous == rhs->result[k].ambiguous;
  return same;
}

static bool computes_same(const struct joist_instruction *lhs,
                          const struct joist_instruction *rhs) {
  return lhs->op == rhs->op && lhs->operand_count == rhs->operand_count && lhs->region_count == 0 &&
         (lhs->operand_count == 0 ||
          memcmp(lhs->operand, rhs->operand, lhs->operand_count * sizeof *lhs->operand) == 0) &&
         lhs->missing == rhs->missing && lhs->watch == rhs->watch &&
         same_types(&lhs->signature, &rhs->signature) &&
         joist_attributes_equal(lhs->attributes, rhs->attributes);
}

/* The place in the table of `i`, or of one that computes the same. */
static uint32_t *place_of(const struct joist_program *program, const struct joist_instruction *i) {
  uint64_t at = hash_of(i);
  for (;; at++) {
    uint32_t *const place = joist_table_place(&program->same, at);
    if (*place == 0 || computes_same(&program->instructions[*place - 1], i)) return place;
  }
}

/* Some instructions may have been appended without an entry. */
static bool grow_table(struct joist_program *program) {
  bool grown;
  if (!joist_table_reserve(&program->same, program->instruction_count, &grown)) return false;
  for (uint32_t k = 0; grown && k < program->instruction_count; k++)
    *place_of(program, &program->instructions[k]) = k + 1;
  return true;
}

/* Attributes whose lists are the arena's. NULL when memory is out. */
static const struct joist_attributes *keep_attributes(struct joist_program *program,
                                                      const struct joist_attributes *attributes) {
  static const struct joist_attributes none = {.count = 0};
  if (attributes->count == 0) return &none;
  const size_t bytes =
      offsetof(struct joist_attributes, item) + attributes->count * sizeof(struct joist_attribute);
  struct joist_attributes *const kept = joist_arena_copy(&program->arena, attributes, bytes);
  for (uint32_t k = 0; kept != NULL && k < kept->count; k++) {
    struct joist_attribute *const item = &kept->item[k];
    if (item->list == NULL) continue;
    item->list = joist_arena_copy(&program->arena, item->list, item->count * sizeof *item->list);
    if (item->list == NULL) return NULL;
  }
  return kept;
}

joist_status joist_program_append(struct joist_program *program,
                                  struct joist_instruction *instruction,
                                  const struct joist_value *results, struct joist_error *error) {
  void *const instructions =
      joist_array_grown(program->instructions, sizeof *program->instructions,
                        program->instruction_count, &program->instruction_capacity);
  if (instructions == NULL) return out_of_memory(error);
  program->instructions = instructions;
  struct joist_instruction added = *instruction;
  added.attributes = keep_attributes(program, instruction->attributes);
  added.operand = joist_arena_copy(&program->arena, instruction->operand,
                                   added.operand_count * sizeof *added.operand);
  if (added.attributes == NULL || added.operand == NULL) return out_of_memory(error);
  for (uint32_t k = 0; k < added.result_count; k++) {
    joist_value_id made = 0;
    const joist_status status = add_value(program, results[k].type, &results[k].shape,
                                          JOIST_NO_INPUT, program->instruction_count, &made, error);
    if (status != JOIST_OK) return status;
    if (k == 0) added.result = made;
  }
  instruction->result = added.result;
  program->instructions[program->instruction_count++] = added;
  return JOIST_OK;
}

/* Whether the instruction transposes a transposed value back; `value` is that value. */
static bool transposes_back(const struct joist_program *program, const struct joist_instruction *i,
                            joist_value_id *value) {
  if (i->op != JOIST_OP_PERMUTE) return false;
  const struct joist_value *const operand = &program->values[i->operand[0]];
  if (operand->input != JOIST_NO_INPUT) return false;
  const struct joist_instruction *const before = &program->instructions[operand->instruction];
  if (before->op != JOIST_OP_PERMUTE) return false;
  for (int d = 0; d < operand->shape.rank; d++) {
    const int middle = (int)joist_attribute_at(i->attributes, JOIST_ATTRIBUTE_PERMUTATION, d);
    if (joist_attribute_at(before->attributes, JOIST_ATTRIBUTE_PERMUTATION, middle) != d)
      return false;
  }
  const struct joist_type made = i->signature.result[0];
  const struct joist_type first = program->values[before->operand[0]].type;
  if (made.dtype != first.dtype || made.ambiguous != first.ambiguous) return false;
  *value = before->operand[0];
  return true;
}

joist_status joist_program_add(struct joist_program *program, struct joist_instruction *instruction,
                               const struct joist_inference *inference, struct joist_error *error) {
  if (transposes_back(program, instruction, &instruction->result)) return JOIST_OK;
  if (!grow_table(program)) return out_of_memory(error);
  uint32_t *const place = place_of(program, instruction);
  if (*place != 0 && instruction->op != JOIST_OP_PRINT) {
    instruction->result = program->instructions[*place - 1].result;
    return JOIST_OK;
  }
  struct joist_value results[JOIST_RESULTS_MAX];
  memset(results, 0, sizeof results);
  for (uint32_t k = 0; k < instruction->result_count; k++) {
    results[k].type = instruction->signature.result[k];
    results[k].shape = inference->shape[k];
  }
  const joist_status status = joist_program_append(program, instruction, results, error);
  if (status == JOIST_OK) *place = program->instruction_count;
  return status;
}

joist_status joist_program_add_region(struct joist_program *program, struct joist_program *region,
                                      struct joist_error *error) {
  struct joist_instruction *const last = &program->instructions[program->instruction_count - 1];
  struct joist_program **const regions =
      joist_arena_allocate(&program->arena, (last->region_count + 1) * sizeof *regions);
  if (regions == NULL) {
    joist_program_clear(region);
    free(region);
    return out_of_memory(error);
  }
  for (uint32_t k = 0; k < last->region_count; k++) regions[k] = last->regions[k];
  regions[last->region_count++] = region;
  last->regions = regions;
  return JOIST_OK;
}

joist_status joist_program_add_output(struct joist_program *program, joist_value_id value,
                                      struct joist_error *error) {
  void *const outputs = joist_array_grown(program->outputs, sizeof *program->outputs,
                                          program->output_count, &program->output_capacity);
  if (outputs == NULL) return out_of_memory(error);
  program->outputs = outputs;
  program->outputs[program->output_count++] = value;
  return JOIST_OK;
}

/* Whether the latest instruction gives what the earlier one does, and can run at its place. */
static bool can_replace(const struct joist_program *program, uint32_t earlier) {
  const struct joist_instruction *const old = &program->instructions[earlier];
  const struct joist_instruction *const new =
      &program->instructions[program->instruction_count - 1];
  bool fits = old->result_count <= new->result_count;
  for (uint32_t r = 0; r < old->result_count && fits; r++) {
    const struct joist_value *const from = &program->values[old->result + r];
    const struct joist_value *const to = &program->values[new->result + r];
    fits = from->type.dtype == to->type.dtype && from->type.ambiguous == to->type.ambiguous &&
           joist_shape_equal(&from->shape, &to->shape);
  }
  for (uint32_t a = 0; a < joist_reads(new) && fits; a++) {
    const struct joist_value *const operand = &program->values[joist_read_at(new, a)];
    fits = operand->input != JOIST_NO_INPUT || operand->instruction < earlier;
  }
  return fits;
}

/* Has an instruction read other values for `count` values from `from` on: those from `to` on. */
static bool redirect(struct joist_program *program, struct joist_instruction *i,
                     joist_value_id from, uint32_t count, joist_value_id to) {
  joist_value_id *operands = NULL;
  if (i->missing > 0 && i->missing - 1 - from < count)
    i->missing = to + (i->missing - 1 - from) + 1;
  for (uint32_t a = 0; a < i->operand_count; a++) {
    const uint32_t at = i->operand[a] - from;
    if (at >= count) continue;
    if (operands == NULL)
      operands = joist_arena_copy(&program->arena, i->operand, i->operand_count * sizeof *operands);
    if (operands == NULL) return false;
    operands[a] = to + at;
    i->operand = operands;
  }
  return true;
}

joist_status joist_program_replace(struct joist_program *program, uint32_t earlier, bool *done,
                                   struct joist_error *error) {
  *done = earlier + 1 < program->instruction_count && can_replace(program, earlier);
  if (!*done) return JOIST_OK;
  struct joist_instruction new = program->instructions[program->instruction_count - 1];
  const struct joist_instruction old = program->instructions[earlier];
  for (uint32_t k = earlier + 1; k + 1 < program->instruction_count; k++)
    if (!redirect(program, &program->instructions[k], old.result, old.result_count, new.result))
      return out_of_memory(error);
  for (uint32_t k = 0; k < program->output_count; k++)
    if (program->outputs[k] - old.result < old.result_count)
      program->outputs[k] = program->outputs[k] - old.result + new.result;
  for (uint32_t r = 0; r < new.result_count; r++)
    program->values[new.result + r].instruction = earlier;
  new.source = old.source;
  program->instructions[earlier] = new;
  program->instruction_count--;
  clear_regions(&old);
  joist_table_clear(&program->same); /* its numbers are outdated */
  return JOIST_OK;
}

static bool reads_alias(const struct joist_instruction *i, const joist_value_id *stands_for) {
  bool any = false;
  for (uint32_t k = 0; k < i->operand_count; k++) any |= stands_for[i->operand[k]] != i->operand[k];
  return any;
}

/* 1 + the value that readers of this alias wait for; `held` has the values of its operands. */
static uint32_t held_by(const struct joist_instruction *i, const joist_value_id *stands_for,
                        const uint32_t *held) {
  const bool own =
      i->operand_count == 2 && joist_attribute_flag(i->attributes, JOIST_ATTRIBUTE_HELD);
  return own ? stands_for[i->operand[1]] + 1 : held[i->operand[0]];
}

joist_status joist_program_remove_aliases(struct joist_program *program,
                                          struct joist_error *error) {
  bool any = false;
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    any |= i->op == JOIST_OP_ALIAS;
    for (uint32_t r = 0; r < i->region_count; r++) {
      const joist_status status = joist_program_remove_aliases(i->regions[r], error);
      if (status != JOIST_OK) return status;
    }
  }
  if (!any) return JOIST_OK;
  joist_value_id *const stands_for = malloc(2 * program->value_count * sizeof *stands_for);
  if (stands_for == NULL) return out_of_memory(error);
  uint32_t *const held = stands_for + program->value_count;
  for (uint32_t v = 0; v < program->value_count; v++) {
    stands_for[v] = v;
    held[v] = 0;
  }
  uint32_t kept = 0;
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    struct joist_instruction i = program->instructions[k];
    if (i.op == JOIST_OP_ALIAS) {
      held[i.result] = held_by(&i, stands_for, held);
      stands_for[i.result] = stands_for[i.operand[0]];
      continue;
    }
    for (uint32_t a = 0; a < i.operand_count; a++)
      if (held[i.operand[a]] > i.held) i.held = held[i.operand[a]];
    if (i.missing > 0) i.missing = stands_for[i.missing - 1] + 1;
    if (reads_alias(&i, stands_for)) {
      joist_value_id *const operands =
          joist_arena_copy(&program->arena, i.operand, i.operand_count * sizeof *i.operand);
      if (operands == NULL) {
        free(stands_for);
        return out_of_memory(error);
      }
      for (uint32_t a = 0; a < i.operand_count; a++) operands[a] = stands_for[operands[a]];
      i.operand = operands;
    }
    for (uint32_t r = 0; r < i.result_count; r++) program->values[i.result + r].instruction = kept;
    program->instructions[kept++] = i;
  }
  for (uint32_t k = 0; k < program->output_count; k++)
    program->outputs[k] = stands_for[program->outputs[k]];
  program->instruction_count = kept;
  joist_table_clear(&program->same); /* its numbers are outdated */
  free(stands_for);
  return JOIST_OK;
}

joist_status joist_value_error(const struct joist_program *program, uint32_t instruction,
                               size_t position, struct joist_error *error) {
  const joist_op op = program->instructions[instruction].op;
  return JOIST_FAIL(error, op == JOIST_OP_POW ? JOIST_E_NEGATIVE_POWER : JOIST_E_DIVISION_BY_ZERO,
                    .position = position + 1, .op = joist_op_name(op));
}
