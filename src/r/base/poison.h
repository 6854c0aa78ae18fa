/* What R code does with values that are not known while a function is traced.
 *
 * R asks for a pointer to the elements of a vector with the garbage collector disabled, where no
 * error may be raised. It is given a buffer without values, and the trace is *poisoned*: the next
 * entry into joist, and at the latest the end of the trace, raises an error that names the
 * function that read them. */
#ifndef JOIST_R_POISON_H
#define JOIST_R_POISON_H

#include <stdbool.h>

#include "r/base/sexp.h"

/* Notes that R code reads the elements of `x`, a traced tensor. Returns false if no trace is under
 * way. Never raises an error. */
bool joist_r_poison(SEXP x);
/* The same with the condition of the error. */
void joist_r_poison_by(SEXP condition);
/* Raises the error of a note that has not been raised yet: in each entry into joist. */
void joist_r_poison_check(void);
/* Raises the error of a note again, which a handler of the traced function may have caught: at the
 * end of a trace. */
void joist_r_poison_end(void);
/* .Call: the same, for an error of R that what was read may have led to. */
SEXP joist_r_poison_explain(void);
/* .Call: notes a condition that R code raises by itself, while a trace is under way. */
SEXP joist_r_poison_note(SEXP condition);
/* Forgets all notes: before a function is traced, unless another one is. */
void joist_r_poison_forget(void);

#endif
