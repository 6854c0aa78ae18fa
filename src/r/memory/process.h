/* .Call entry points about the process: threads, instruction set, build, memory. */
#ifndef JOIST_R_PROCESS_H
#define JOIST_R_PROCESS_H

#include "r/base/sexp.h"

SEXP joist_r_threads(SEXP threads);
SEXP joist_r_instruction_set(SEXP name);
SEXP joist_r_build(void);
SEXP joist_r_memory(SEXP limit);
SEXP joist_r_trim_memory(void);

/* R_unload_joist(): keeps the library mapped while R's memory points into it. */
void joist_r_unload(void);

#endif
