/* .Call: the lines that a compiled program prints. */
#ifndef JOIST_R_PROGRAM_TEXT_H
#define JOIST_R_PROGRAM_TEXT_H

#include "r/sexp.h"

SEXP joist_r_program_text(SEXP compiled);

#endif
