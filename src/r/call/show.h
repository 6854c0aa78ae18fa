/* Prints the values of programs while they run. */
#ifndef JOIST_R_SHOW_H
#define JOIST_R_SHOW_H

/* Called once, when the package is loaded: from then on runs hand copies of what they print to
 * show_value() of R. */
void joist_r_show_init(void);

#endif
