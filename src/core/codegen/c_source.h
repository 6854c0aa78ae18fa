/* C source text of loops and of elementwise groups: what each computes has the bits of the
 * interpreter's, as the same expressions are computed in the same order. */
#ifndef JOIST_CORE_CODEGEN_C_SOURCE_H
#define JOIST_CORE_CODEGEN_C_SOURCE_H

#include "core/codegen/c_text.h"
#include "core/codegen/nest.h"

/* A joist_native_loop of the nest. False when memory is out or a table is full; the text is NULL
 * then. */
bool joist_c_source_of_loop(const struct joist_nest *nest, struct joist_c_source *made);

/* A joist_native_part of an elementwise group. False, too, for a group that can fail, or whose
 * sinks read what it writes over. */
bool joist_c_source_of_part(const struct joist_plan *plan, const struct joist_group *group,
                            struct joist_c_source *made);

#endif
