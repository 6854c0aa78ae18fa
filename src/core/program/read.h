/* Reading programs that joist_print_program() wrote with `exact` words: the values have the same
 * numbers, and the instructions the same fields, except for the places where they were written.
 *
 *   %4: f32{2x3} = slice(%1, start = 1 4, stop = 2 6) in f32 none none none f32
 *
 * After `in` are the dtypes that operands are converted to, the promoted type and the dtype of the
 * kernel; then, if they are set, `rounds`, `rounds_float`, `again`, `watch 1`, `held %2` and
 * `missing %3`. */
#ifndef JOIST_CORE_PROGRAM_READ_H
#define JOIST_CORE_PROGRAM_READ_H

#include "core/program/program.h"

/* Appends what the text says to an empty program. JOIST_ERROR_VALUE, with the line, if the text is
 * not such a program: operands come before their readers, shapes are what the operations give. The
 * dtypes are taken as they are. */
joist_status joist_program_read(const char *text, struct joist_program *program,
                                struct joist_error *error) JOIST_MUST_CHECK;

#endif
