/* Tensors without elements as R vectors: ALTREP classes that have the type and length of the vector
 * that a tensor with elements is (see view.h).
 *
 * They are the traced tensors, which stand for values of a trace, and the abstract ones of
 * nv_aval(). R itself answers what does not depend on the elements: is.numeric(), typeof(),
 * length(), dispatch. To read an element is an error; a pointer to the elements, which R asks for
 * where no error may be raised, leads to NA, and poisons the trace (see poison.h). */
#ifndef JOIST_R_UNKNOWN_H
#define JOIST_R_UNKNOWN_H

#include <stdbool.h>

#include "r/base/sexp.h"

struct joist_r_unknown {
  SEXP trace;   /* R_NilValue for an abstract tensor */
  int number;   /* traced: of the value in its trace; negative for an R value among the arguments */
  SEXP missing; /* see struct joist_r_value */
  SEXP note;    /* an object that only this tensor and its copies have */
};

/* A vector without attributes. */
SEXP joist_r_unknown(SEXP trace, int number, SEXPTYPE type, double count);
/* Reads such a vector, or a wrapper that R put around one; false for any other object. */
bool joist_r_unknown_read(SEXP x, struct joist_r_unknown *unknown);
bool joist_r_is_unknown(SEXP x);
/* Whether both stand for the same value of a trace, or are abstract. */
bool joist_r_same_value(const struct joist_r_unknown *a, const struct joist_r_unknown *b);
/* For a tensor that was just made. */
void joist_r_unknown_set_missing(SEXP x, SEXP missing);
/* Makes a copy a tensor of its own, by another note. */
void joist_r_unknown_renew(SEXP x);

/* Raises the error for reading an element. */
_Noreturn void joist_r_unknown_refuse(SEXP x);

/* Makes the classes: once, when the library is loaded. */
void joist_r_unknown_init(void);

#endif
