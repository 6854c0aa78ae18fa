/* Classes of vectors that are alternative representations (ALTREP): families of four, one for each
 * type of vector that holds elements of tensors. */
#ifndef JOIST_R_ALTREP_H
#define JOIST_R_ALTREP_H

#include <stdbool.h>

#include "r/base/sexp.h"
/* Behind R's other headers, which it does not include. */
#include <R_ext/Altrep.h>

enum { JOIST_R_ALTREP_TYPES = 4 };

struct joist_r_altrep {
  R_altrep_class_t classes[JOIST_R_ALTREP_TYPES];
};

/* Makes the classes `name`_raw, `name`_integer and so on: once, when the library is loaded. They
 * belong to no library, as R's own: R takes the methods of a library that it unloads from the
 * vectors that are left, and those of joist keep it mapped (joist_r_unload()). */
struct joist_r_altrep joist_r_altrep(const char *name, R_altrep_Length_method_t length,
                                     R_altvec_Dataptr_method_t data,
                                     R_altvec_Dataptr_or_null_method_t data_or_null);
/* The class of a family for vectors of one of these types: raw for any other. */
R_altrep_class_t joist_r_altrep_class(const struct joist_r_altrep *family, SEXPTYPE type);
/* Sets part `part` of the second datum of x, a list of `parts` once it is made: before, the datum
 * is part `own` alone. Allocates. */
void joist_r_altrep_keep(SEXP x, int parts, int own, int part, SEXP what);
bool joist_r_altrep_has(const struct joist_r_altrep *family, SEXP x);

#endif
