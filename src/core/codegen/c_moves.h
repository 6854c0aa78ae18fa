/* C of the operations that move elements. */
#ifndef JOIST_CORE_CODEGEN_C_MOVES_H
#define JOIST_CORE_CODEGEN_C_MOVES_H

#include "core/codegen/c_writer.h"

/* Writes a group that moves elements. False, and nothing written, for one that the interpreter
 * runs. */
bool joist_c_add_move(struct writer *w, uint32_t b, uint32_t g);

/* Whether the instruction writes into a copy of its first operand, which is none where both are in
 * the same array, and joist_c_add_move() writes it. */
bool joist_c_writes_into(const struct joist_plan *plan, const struct joist_instruction *i);

#endif
