/* The stack of sessions: a list of R, which keeps what sessions refer to. A cell has the bytes of a
 * struct joist_r_session as its tag. */
#include "r/base/session.h"

#include <string.h>

#include "core/promotion/change.h"

static SEXP stack = NULL; /* of no session, with the current one behind it; preserved */
static const struct joist_r_session *current = NULL;

const struct joist_r_session *joist_r_session(void) { return current; }

static void put(SEXP cell, const struct joist_r_session *session) {
  SETCAR(cell, Rf_list4(session->trace, session->recording, session->rules,
                        session->policy)); /* may fail */
  memcpy(RAW(TAG(cell)), session, sizeof *session);
}

static void look_at_top(void) {
  current = (const struct joist_r_session *)(const void *)RAW_RO(TAG(CDR(stack)));
}

void joist_r_push_session(struct joist_r_session next) {
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)sizeof next));
  SEXP cell = PROTECT(Rf_cons(R_NilValue, R_NilValue));
  next.depth = current == NULL ? 0 : current->depth + 1;
  SET_TAG(cell, bytes);
  put(cell, &next);
  SETCDR(cell, CDR(stack));
  SETCDR(stack, cell);
  look_at_top();
  UNPROTECT(2);
}

void joist_r_change_session(struct joist_r_session next) { put(CDR(stack), &next); }

void joist_r_session_init(void) {
  stack = Rf_cons(R_NilValue, R_NilValue);
  R_PreserveObject(stack);
  joist_r_push_session((struct joist_r_session){.trace = R_NilValue,
                                                .recording = R_NilValue,
                                                .rules = R_NilValue,
                                                .policy = R_NilValue,
                                                .asked = {.warned = JOIST_CHANGES_OF_VALUES}});
}

SEXP joist_r_session_view(void) {
  static const char *names[] = {"depth",  "trace", "in_body", "frame",
                                "strict", "rules", "loss",    ""};
  SEXP view = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(view, 0, Rf_ScalarInteger(current->depth));
  SET_VECTOR_ELT(view, 1, current->trace);
  SET_VECTOR_ELT(view, 2, Rf_ScalarLogical(current->in_body));
  SET_VECTOR_ELT(view, 3, Rf_ScalarInteger(current->frame));
  SET_VECTOR_ELT(view, 4, Rf_ScalarLogical(current->strict));
  SET_VECTOR_ELT(view, 5, current->rules);
  const bool refused = current->asked.refused & JOIST_CHANGE_LOSS;
  const bool warned = current->asked.warned & JOIST_CHANGE_LOSS;
  SET_VECTOR_ELT(view, 6, Rf_mkString(refused ? "error" : warned ? "warn" : "ok"));
  UNPROTECT(1);
  return view;
}

SEXP joist_r_pop_sessions(SEXP depth) {
  const int kept = Rf_asInteger(depth);
  while (current->depth > 0 && current->depth > kept) {
    SETCDR(stack, CDDR(stack));
    look_at_top();
  }
  return R_NilValue;
}
