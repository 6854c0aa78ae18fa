/* Programs that R owns, and their text.
 *
 * The program of a chunked tensor is a string: the text of a program (see core/program/read.h) that
 * is written when R or a file asks for it. Until then the string refers to the first instructions
 * of a program which later operations may continue, and which is only read here. */
#ifndef JOIST_R_RECORDED_H
#define JOIST_R_RECORDED_H

#include "core/program/program.h"
#include "r/base/sexp.h"

/* An object that owns an empty program, which R frees if joist_r_program_free() does not. */
SEXP joist_r_program_new(struct joist_program **program);
/* The program of a text, which the returned object owns; raises joist_value_error for another
 * object or text. */
SEXP joist_r_program_owner(SEXP text, struct joist_program **program);
/* Raises joist_value_error. */
_Noreturn void joist_r_chunked_damaged(void);
/* Clears a program, whose owner is of no use then. */
void joist_r_program_free(SEXP owner);

/* The program as text. */
SEXP joist_r_program_string(const struct joist_program *program);

/* The instructions so far as text, with a value as the output. */
SEXP joist_r_recorded_string(SEXP owner, joist_value_id value);
/* Finds the program of such a text: gives `recorded` the instructions that were there, which belong
 * to the program whose owner is returned; R_NilValue for any other object. */
SEXP joist_r_recorded_program(SEXP text, struct joist_program *recorded);

/* Makes the class of such strings: once, when the library is loaded. */
void joist_r_recorded_init(void);

#endif
