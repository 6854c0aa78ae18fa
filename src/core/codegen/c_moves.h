/* C of the operations that move elements. */
#ifndef JOIST_CORE_CODEGEN_C_MOVES_H
#define JOIST_CORE_CODEGEN_C_MOVES_H

#include "core/codegen/c_writer.h"
#include "core/ops/move/walk.h"

/* Writes a group that moves elements. False, and nothing written, for one that the interpreter
 * runs. */
bool joist_c_add_move(struct writer *w, uint32_t b, uint32_t g);

/* Whether the group after g does nothing but pad the array of value v, which nothing else reads, so
 * that group g can write its elements where the padded array has them. Nothing that group g reads
 * or writes is there. */
bool joist_c_is_padded(const struct writer *w, uint32_t b, uint32_t g, joist_value_id v,
                       struct joist_walk *walk);

#endif
