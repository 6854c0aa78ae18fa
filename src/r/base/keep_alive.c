/* The objects that are lent hang on a doubly linked list, so that one of many is let go as fast as
 * one of few. A cell has the one before it as CAR, the one behind it as CDR, the object as TAG. */
#include "r/base/keep_alive.h"

#include "r/base/conditions.h"

static SEXP first(void) {
  static SEXP cell = NULL; /* of no object */
  if (cell == NULL) {
    SEXP made = PROTECT(Rf_cons(R_NilValue, R_NilValue));
    R_PreserveObject(made);
    UNPROTECT(1);
    cell = made;
  }
  return cell;
}

static SEXP keep(SEXP object) {
  SEXP before = first();
  SEXP cell = PROTECT(Rf_cons(before, R_NilValue));
  /* What is behind is read after the allocation: a finalizer may have lent, or let go. */
  SEXP behind = CDR(before);
  SETCDR(cell, behind);
  SET_TAG(cell, object);
  SETCDR(before, cell);
  if (behind != R_NilValue) SETCAR(behind, cell);
  UNPROTECT(1);
  return cell;
}

static void let_go(SEXP cell) {
  SEXP before = CAR(cell), behind = CDR(cell);
  SETCDR(before, behind);
  if (behind != R_NilValue) SETCAR(behind, before);
}

struct joist_keep_alive *joist_r_keep_alive(SEXP object) {
  SEXP cell = keep(object);
  struct joist_keep_alive *const keep = joist_keep_alive_new(cell);
  if (keep == NULL) {
    let_go(cell);
    JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY, .bytes = 0);
  }
  return keep;
}

void joist_r_release_returned(void) {
  SEXP cell;
  while ((cell = joist_keep_alive_returned()) != NULL) let_go(cell);
}
