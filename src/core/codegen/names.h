/* The names that generated source text uses: the names of dtypes.def and ops.def. */
#ifndef JOIST_CORE_CODEGEN_NAMES_H
#define JOIST_CORE_CODEGEN_NAMES_H

#include <stdint.h>

/* Of a joist_dtype: its C type, its ID, its kind. */
const char *joist_code_type(uint32_t dtype);
const char *joist_code_dtype(uint32_t dtype);
const char *joist_code_kind(uint32_t dtype);

/* The ID of a joist_op that kernels compute. */
const char *joist_code_op(uint32_t op);

#endif
