/* Programs as text: a line per instruction, with dtypes (`?` where ambiguous), shapes and
 * attributes by name:
 *
 *   %4: f32{2x3} = slice(%1, start = 1 4, stop = 2 6)
 *
 * Values are %1, %2, ... in each program; the bodies of an instruction follow it, indented. */
#ifndef JOIST_CORE_PROGRAM_PRINT_H
#define JOIST_CORE_PROGRAM_PRINT_H

#include "core/base/text.h"
#include "core/program/program.h"

/* What only the builder of a program knows. `constant` and `origin` may be NULL. */
struct joist_print_words {
  /* Writes the value of an input that is a scalar constant; false when it is none. */
  bool (*constant)(const void *context, uint32_t input, struct joist_text *text);
  /* Where an input comes from: "argument 1". */
  void (*origin)(const void *context, uint32_t input, struct joist_text *text);
  /* Where an instruction was written; JOIST_NO_SOURCE is never asked for. */
  void (*source)(const void *context, uint32_t source, struct joist_text *text);
  const void *context;
  bool exact; /* writes all that joist_program_read() needs: see read.h */
};

/* `words` may be NULL: then every input is a line, without its origin. */
void joist_print_program(const struct joist_program *program, const struct joist_print_words *words,
                         struct joist_text *text);

/* The parts of a line: %4, or the value of a constant; f32?{2x3}; start = 1 4, stop = 2 6. */
void joist_print_operand(const struct joist_program *program, joist_value_id value,
                         const struct joist_print_words *words, struct joist_text *text);
void joist_print_type(struct joist_type type, struct joist_text *text);
/* If `exact`, attributes that have their usual value are written, and all digits of numbers. */
void joist_print_attributes(const struct joist_attributes *attributes, bool exact,
                            struct joist_text *text);

#endif
