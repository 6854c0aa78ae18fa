/* Compiled programs as R sees them: printed lines, and a table of instructions. */
#ifndef JOIST_R_PROGRAM_VIEW_H
#define JOIST_R_PROGRAM_VIEW_H

#include "r/base/sexp.h"

/* .Call entry points. */
SEXP joist_r_program_text(SEXP compiled);
/* The C source of its loops; "" without any. */
SEXP joist_r_program_c(SEXP compiled);
/* A list with one element per column, one row per instruction. */
SEXP joist_r_program_table(SEXP compiled);
SEXP joist_r_program_bytes(SEXP compiled);

#endif
