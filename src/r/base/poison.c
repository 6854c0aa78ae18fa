#include "r/base/poison.h"

#include "r/base/conditions.h"
#include "r/base/session.h"

static SEXP reader = NULL; /* the condition that the first note raises; preserved */
static bool pending = false;

static void note(SEXP condition) {
  reader = condition;
  R_PreserveObject(reader);
}

bool joist_r_poison(SEXP x) {
  static bool noting = false; /* what R evaluates for a note must not make another one */
  if (joist_r_session()->trace == R_NilValue) return false;
  if (noting) return true;
  pending = true;
  if (reader != NULL) return true;
  noting = true;
  SEXP call = PROTECT(Rf_lang2(Rf_install("unknown_values"), x));
  SEXP condition = PROTECT(joist_r_try_eval(call));
  noting = false;
  note(condition);
  UNPROTECT(2);
  return true;
}

void joist_r_poison_by(SEXP condition) {
  if (joist_r_session()->trace == R_NilValue) return;
  pending = true;
  if (reader == NULL) note(condition);
}

static void raise(void) {
  pending = false;
  if (reader == R_NilValue) /* R could not tell who reads them */
    joist_r_stop(JOIST_ERROR_VALUE,
                 "the values of a tensor are not known while jit() traces a function");
  joist_r_eval(PROTECT(Rf_lang2(Rf_install("stop"), reader)));
  UNPROTECT(1);
}

void joist_r_poison_check(void) {
  if (pending && joist_r_session()->trace == R_NilValue) joist_r_poison_forget();
  if (pending) raise();
}

void joist_r_poison_end(void) {
  if (reader != NULL) raise();
}

SEXP joist_r_poison_explain(void) {
  joist_r_poison_end();
  return R_NilValue;
}

SEXP joist_r_poison_note(SEXP condition) {
  if (joist_r_session()->trace != R_NilValue && reader == NULL) note(condition);
  return R_NilValue;
}

void joist_r_poison_forget(void) {
  pending = false;
  if (reader != NULL) R_ReleaseObject(reader);
  reader = NULL;
}
