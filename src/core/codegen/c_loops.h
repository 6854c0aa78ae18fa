/* C of loops and branches. Private to the files that write C. */
#ifndef JOIST_CORE_CODEGEN_C_LOOPS_H
#define JOIST_CORE_CODEGEN_C_LOOPS_H

#include "core/codegen/c_writer.h"

/* Group g of body `parent`, which is a loop or a branch. */
void joist_c_add_region(struct writer *w, uint32_t parent, uint32_t g);

#endif
