/* Running an operation on whole arrays: operands are converted as a whole. */
#ifndef JOIST_CORE_CPU_EXECUTE_H
#define JOIST_CORE_CPU_EXECUTE_H

#include "core/program/call.h"

/* Runs the operation on arrays of a program (one pointer per value), converting operands first
 * where the signature asks for it. */
joist_status joist_execute(const struct joist_program *program,
                           const struct joist_instruction *instruction, void *const *arrays,
                           const struct joist_run *run, struct joist_error *error) JOIST_MUST_CHECK;

#endif
