/* What other packages' C code can call; see inst/include/joist.h. */
#ifndef JOIST_R_C_API_H
#define JOIST_R_C_API_H

/* Registers the functions with R. */
void joist_r_c_api_init(void);

#endif
