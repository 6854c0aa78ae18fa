/* Interrupts, time limits and whatever else R wants to do while the core computes. */
#include "r/base/interrupt.h"

#include <setjmp.h>

/* What R needs to continue a jump: made once, as a poll must not fail, and used again, as no poll
 * is made while one has jumped. */
static SEXP token = NULL;

void joist_r_interrupt_init(void) {
  SEXP made = PROTECT(R_MakeUnwindCont());
  R_PreserveObject(made);
  UNPROTECT(1);
  token = made;
}

static SEXP look(void *unused) {
  (void)unused;
  R_CheckUserInterrupt();
  return R_NilValue;
}

static void leave(void *there, Rboolean jumps) {
  if (jumps) longjmp(*(jmp_buf *)there, 1);
}

bool joist_r_jumps(SEXP (*compute)(void *), void *data) {
  jmp_buf here;
  if (setjmp(here) != 0) return true;
  R_UnwindProtect(compute, data, leave, &here, token);
  return false;
}

bool joist_r_poll(void *unused) {
  (void)unused;
  return joist_r_jumps(look, NULL);
}

_Noreturn void joist_r_go_on_jumping(void) { R_ContinueUnwind(token); }
