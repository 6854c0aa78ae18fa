#include "core/plan/viewed.h"

#include <string.h>

#include "core/program/regions.h"

/* The value, spread over the space of the group. */
void joist_view_of_value(const struct joist_planner *planner, joist_value_id value,
                         struct joist_view *view) {
  const struct joist_value *const v = &planner->program->values[value];
  const struct joist_shape *const space = &planner->group->shape;
  if (planner->viewed[value])
    (void)joist_view_of_move(planner->program, &planner->program->instructions[v->instruction],
                             view);
  else
    *view = joist_view_of_array(&v->shape);
  for (int d = 0; d < space->rank; d++)
    if (v->shape.rank == 0 || v->shape.extent[d] == 1) view->stride[d] = view->list_stride[d] = 0;
}

/* The array that holds the value's elements. */
joist_value_id joist_viewed_base(const struct joist_planner *planner, joist_value_id value) {
  const struct joist_program *const program = planner->program;
  return planner->viewed[value]
             ? program->instructions[program->values[value].instruction].operand[0]
             : value;
}

/* The most readers of a move that is not made, the most elements of a transposition, which strides
 * through the caches, and the fewest that are taken from listed positions. */
enum { READERS_MOST = 4, TRANSPOSED_MOST = 16384, LISTED_LEAST = 256 };

/* Whether the value is taken from listed positions. */
bool joist_is_listed(const struct joist_program *program, joist_value_id value) {
  const struct joist_value *const v = &program->values[value];
  return v->input == JOIST_NO_INPUT &&
         joist_view_is_listed(program, &program->instructions[v->instruction]);
}

/* Whether elements that are taken one by one have a size for which compilers make vector code of
 * it.
 */
static bool can_be_taken(const struct joist_program *program, const struct joist_instruction *i) {
  const struct joist_value *const v = &program->values[i->result];
  struct joist_view view;
  int d = 0;
  (void)joist_view_of_move(program, i, &view);
  while (d + 1 < v->shape.rank && v->shape.extent[d] == 1) d++;
  const size_t size = joist_dtype_size(v->type.dtype);
  return view.list_stride[d] == 0 ||
         ((size == 4 || size == 8) && joist_dtype_kind(v->type.dtype) != JOIST_KIND_COMPLEX);
}

/* Operands of one element are not read through: in compiled code, they are not arrays. */
static bool can_be_viewed(const struct joist_program *program, const struct joist_instruction *i) {
  const size_t count = joist_value_count(&program->values[i->result]);
  struct joist_view view;
  for (uint32_t a = 0; a < i->operand_count; a++)
    if (joist_value_count(&program->values[i->operand[a]]) == 1) return false;
  const bool moves =
      i->op == JOIST_OP_SLICE || (i->op == JOIST_OP_PERMUTE && count <= TRANSPOSED_MOST) ||
      (joist_view_is_listed(program, i) && count >= LISTED_LEAST && can_be_taken(program, i));
  return moves && count > 0 && i->held == 0 && joist_view_of_move(program, i, &view);
}

/* How an operand's reader counts. Listed positions are not looked up once more for every element of
 * a larger space. */
static uint32_t weight_of(const struct joist_program *program, const struct joist_instruction *i,
                          joist_value_id operand) {
  const bool sink = joist_op_is_reduction(i->op);
  const struct joist_value *const space = &program->values[sink ? operand : i->result];
  if (joist_op_is_array(i->op)) return READERS_MOST + 1;
  return joist_is_listed(program, operand) &&
                 joist_value_count(space) != joist_value_count(&program->values[operand])
             ? READERS_MOST + 1
             : 1;
}

/* Finds the moves that only elementwise operations and reductions read. */
void joist_find_viewed(struct joist_planner *planner, const bool *needed, uint32_t *readers) {
  const struct joist_program *const program = planner->program;
  memset(planner->viewed, 0, program->value_count * sizeof *planner->viewed);
  if (program->instruction_count < 2 || planner->apart) return;
  memset(readers, 0, program->value_count * sizeof *readers);
  for (uint32_t k = 0; k < program->output_count; k++)
    readers[program->outputs[k]] = READERS_MOST + 1;
  for (uint32_t k = program->instruction_count; k-- > 0;) {
    const struct joist_instruction *const i = &program->instructions[k];
    if (!joist_is_needed(i, needed)) continue;
    if (readers[i->result] <= READERS_MOST && can_be_viewed(program, i))
      planner->viewed[i->result] = true;
    for (uint32_t a = 0; a < joist_reads(i); a++)
      readers[joist_read_at(i, a)] += weight_of(program, i, joist_read_at(i, a));
  }
}
