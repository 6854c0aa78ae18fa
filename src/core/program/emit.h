/* Adding operations to a program by the dtypes of their operands alone. */
#ifndef JOIST_CORE_PROGRAM_EMIT_H
#define JOIST_CORE_PROGRAM_EMIT_H

#include "core/program/program.h"

/* The value of a program as an operand. */
struct joist_argument joist_argument_of(const struct joist_program *program, joist_value_id value);

/* Infers an operation on values of dtypes that need no promotion, and adds it, watched for kinds in
 * `watched`. */
joist_status joist_program_emit(struct joist_program *program, joist_op op,
                                const joist_value_id *operands, size_t count,
                                const struct joist_attributes *attributes, uint32_t source,
                                uint8_t watched, joist_value_id *result,
                                struct joist_error *error) JOIST_MUST_CHECK;

#endif
