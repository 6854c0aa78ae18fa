/* C of the operations that move elements. */
#ifndef JOIST_CORE_CODEGEN_C_MOVES_H
#define JOIST_CORE_CODEGEN_C_MOVES_H

#include "core/codegen/c_writer.h"

/* Writes a group that moves elements. False, and nothing written, for one that the interpreter
 * runs. */
bool joist_c_add_move(struct writer *w, uint32_t b, uint32_t g);

/* Whether the instruction copies its first operand and then writes elements of the copy, in a form
 * that joist_c_add_move() can write. No copy is made if both are the same array. */
bool joist_c_writes_into(const struct joist_plan *plan, const struct joist_instruction *i);

#endif
