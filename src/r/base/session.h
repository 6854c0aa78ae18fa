/* What is current: the trace and the recording under way, the promotion rules, and what is done
 * about implicit promotion. Sessions are a stack: an R function pushes one that differs from the
 * one before, and pops it when it exits, also after an error or an interrupt. The number of threads
 * is not part of a session, as it belongs to the core. */
#ifndef JOIST_R_SESSION_H
#define JOIST_R_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "r/base/sexp.h"

/* What is done about implicit promotion, and about values that do not fit: kinds of joist_change,
 * or'ed. */
struct joist_r_policy {
  uint8_t warned, refused;
  uint8_t saturated; /* JOIST_CHANGE_OVERFLOW, or 0 */
  uint8_t named;     /* kinds that a user has spoken of */
};

struct joist_r_session {
  SEXP trace;                  /* the trace or the body under way; R_NilValue for none */
  bool in_body;                /* `trace` is a body, which all operations go to */
  int frame;                   /* number of the R frame that the traced function runs above */
  SEXP recording;              /* the latest recording under way; R_NilValue for none */
  SEXP rules;                  /* promotion rules; R_NilValue for those of R's option */
  SEXP policy;                 /* as joist_r_set_promotion() was given it; R_NilValue for none */
  struct joist_r_policy asked; /* what `policy` asks for */
  bool strict;                 /* whether it names a kind of promotion: all that most look at */
  int depth;                   /* how many sessions are below */
};

void joist_r_session_init(void);

/* The current session. Valid until it is popped. */
const struct joist_r_session *joist_r_session(void);
void joist_r_push_session(struct joist_r_session next);
/* Replaces the current session, for good if it is the lowest one. */
void joist_r_change_session(struct joist_r_session next);

/* .Call entry points. */
/* A list of the depth, the trace, and so on. */
SEXP joist_r_session_view(void);
/* Pops all sessions above this depth. */
SEXP joist_r_pop_sessions(SEXP depth);

#endif
