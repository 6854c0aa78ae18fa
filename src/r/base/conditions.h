/* Raising R conditions. */
#ifndef JOIST_R_CONDITIONS_H
#define JOIST_R_CONDITIONS_H

#include "core/types/error.h"
#include "r/base/sexp.h"

/* Raises the condition class that belongs to `status` with the text of the error; the
 * condition's call is the user's function. Does not return, so nothing that is
 * not R's may be held when it is called. */
_Noreturn void joist_r_raise(joist_status status, const struct joist_error *error);
/* The same, unless `status` is JOIST_OK. */
void joist_r_raise_if(joist_status status, const struct joist_error *error);
/* The same for an operation: in place of its name the error has that of the function of joist that
 * the user called, such as nv_solve() for "inverse". */
void joist_r_raise_called_if(joist_status status, struct joist_error *error);
/* The same for what R finds out by itself: JOIST_R_FAIL(JOIST_E_KEY_SHAPE, .shape = {key}). */
#define JOIST_R_FAIL(...) joist_r_fail(&(const struct joist_error){.code = __VA_ARGS__})
_Noreturn void joist_r_fail(const struct joist_error *error);
/* For what only R knows of, with a text. */
_Noreturn void joist_r_stop(joist_status status, const char *format, ...) JOIST_PRINTF(2, 3);

/* The value of a call of one of the package's own functions. */
SEXP joist_r_eval(SEXP call);
/* The same without errors, whose value is R_NilValue. */
SEXP joist_r_try_eval(SEXP call);

/* .Call: remembers the package's namespace, where the conditions are raised. */
SEXP joist_r_init(SEXP namespace_object);

#endif
