/* C of elementwise groups. Private to the files that write C. */
#ifndef JOIST_CORE_CODEGEN_C_GROUPS_H
#define JOIST_CORE_CODEGEN_C_GROUPS_H

#include "core/codegen/c_writer.h"

/* Group g of body b. */
void joist_c_add_group(struct writer *w, uint32_t b, uint32_t g);

#endif
