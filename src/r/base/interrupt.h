/* Interrupts, time limits and whatever else R wants to do while the core computes. */
#ifndef JOIST_R_INTERRUPT_H
#define JOIST_R_INTERRUPT_H

#include <stdbool.h>

#include "r/base/sexp.h"

/* Called once, when the package is loaded. */
void joist_r_interrupt_init(void);

/* Calls `compute`, which may use R, within a run of the core. True when R would jump: as for
 * joist_r_poll(). */
bool joist_r_jumps(SEXP (*compute)(void *), void *data);

/* The poll of struct joist_run: lets R look for interrupts and time limits. True when R would jump
 * (the condition has been signalled, and its handler chosen): the core stops and returns
 * JOIST_INTERRUPTED, and once nothing is held any more joist_r_go_on_jumping() lets the jump go on
 * to where it was going. A calling handler that resumes gives false. Never jumps itself. */
bool joist_r_poll(void *unused);

/* After JOIST_INTERRUPTED of a run. */
_Noreturn void joist_r_go_on_jumping(void);

#endif
