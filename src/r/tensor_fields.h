/* How the fields of tensors are read and written. */
#ifndef JOIST_R_TENSOR_FIELDS_H
#define JOIST_R_TENSOR_FIELDS_H

#include "r/joist_r.h"

/* The fields up to the flag at once; R_NilValue for a missing one. */
void joist_r_read_fields(SEXP x, SEXP fields[JOIST_R_AMBIGUOUS + 1]);
/* Sets the first fields of a copy of a pattern, without the payload if it has none. */
void joist_r_write_fields(SEXP x, const SEXP fields[JOIST_R_SHAPE + 1], bool has_payload);
/* The symbol of a field. */
SEXP joist_r_field_symbol(joist_r_field_name name);

/* The class where it is the first of the attributes, as it is in what this package made;
 * R_NilValue otherwise. */
SEXP joist_r_first_class(SEXP x);
bool joist_r_has_attributes(SEXP x);

#endif
