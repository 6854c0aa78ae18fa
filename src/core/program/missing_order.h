/* Missing values of operations that sort, search and count. Private to missing*.c. */
#ifndef JOIST_CORE_PROGRAM_MISSING_ORDER_H
#define JOIST_CORE_PROGRAM_MISSING_ORDER_H

#include "core/program/missing_builder.h"

/* The rule ORDER: missing elements come last and equal one another. */
void joist_missing_add_order(struct builder *b, joist_value_id *result, joist_value_id *mask);

#endif
