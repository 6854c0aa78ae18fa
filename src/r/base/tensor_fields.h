/* How the fields of tensors are read and written: the attributes of their R objects. */
#ifndef JOIST_R_TENSOR_FIELDS_H
#define JOIST_R_TENSOR_FIELDS_H

#include <stdbool.h>

#include "r/base/sexp.h"

/* The fields of a tensor (see tensor.h). */
typedef enum {
  JOIST_R_PAYLOAD,
  JOIST_R_DTYPE,
  JOIST_R_SHAPE,
  JOIST_R_AMBIGUOUS
} joist_r_field_name;

/* The symbol of a field. */
SEXP joist_r_field_symbol(joist_r_field_name name);
/* R_NilValue for a field that is missing; promises nothing of the type of one that is not. */
SEXP joist_r_field(SEXP x, joist_r_field_name name);
/* The fields up to the flag at once; R_NilValue for a missing one. */
void joist_r_read_fields(SEXP x, SEXP fields[JOIST_R_AMBIGUOUS + 1]);

/* The attributes of a vector that is a tensor; R_NilValue for a missing one. */
struct joist_r_marks {
  SEXP class, dtype, rank, dim, dimnames, names;
};
void joist_r_read_marks(SEXP x, struct joist_r_marks *marks);
/* Sets the last of the attributes of a vector, which is `symbol`. */
void joist_r_set_last_mark(SEXP x, SEXP symbol, SEXP value);
/* The symbols of those that are joist's own. */
SEXP joist_r_dtype_symbol(void);
SEXP joist_r_rank_symbol(void);

/* The class if it is the first attribute, as in objects that this package made; R_NilValue
 * otherwise. */
SEXP joist_r_first_class(SEXP x);
bool joist_r_has_attributes(SEXP x);

#endif
