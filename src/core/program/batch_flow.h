/* Which values of a program differ between slices. */
#ifndef JOIST_CORE_PROGRAM_BATCH_FLOW_H
#define JOIST_CORE_PROGRAM_BATCH_FLOW_H

#include "core/program/program.h"

/* Sets a flag for each value; those of the inputs are given. */
joist_status joist_batch_flow(const struct joist_program *program, bool *varies,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* The flags of the outputs of a body, by those of its inputs. */
joist_status joist_batch_flow_body(const struct joist_program *body, const bool *inputs,
                                   bool *outputs, struct joist_error *error) JOIST_MUST_CHECK;

#endif
