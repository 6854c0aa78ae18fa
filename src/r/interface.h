/* What other packages' C code can call; see inst/include/joist.h. */
#ifndef JOIST_R_INTERFACE_H
#define JOIST_R_INTERFACE_H

/* Registers the functions with R. */
void joist_r_interface_init(void);

#endif
