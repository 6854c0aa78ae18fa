/* .Call entry points about the process: threads, instruction set, build. */
#ifndef JOIST_R_SESSION_H
#define JOIST_R_SESSION_H

#include "r/joist_r.h"

SEXP joist_r_threads(SEXP threads);
SEXP joist_r_instruction_set(SEXP name);
SEXP joist_r_build(void);
/* A device from its name; raises joist_device_error. */
SEXP joist_r_device(SEXP name);
SEXP joist_r_device_names(void);
SEXP joist_r_memory(SEXP limit);
SEXP joist_r_trim_memory(void);
/* Names; wakes no driver. */
SEXP joist_r_devices_in_use(void);

/* R_unload_joist(): keeps the library mapped while R's memory points into it. */
void joist_r_unload(void);

#endif
