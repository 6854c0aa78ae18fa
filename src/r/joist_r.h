/* What the files of src/r share: reading arguments, raising conditions, wrapping
 * results. The only headers that see SEXP are in this folder. */
#ifndef JOIST_R_JOIST_R_H
#define JOIST_R_JOIST_R_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

#include "core/promotion/rule_set.h"
#include "core/types/dtypes.h"
#include "core/types/error.h"

/* Raises the condition class that belongs to `status` with the message; the
 * condition's call is the user's function. Does not return, so nothing that is
 * not R's may be held when it is called. */
_Noreturn void joist_r_raise(joist_status status, const struct joist_error *error);
/* The same from a format. */
_Noreturn void joist_r_stop(joist_status status, const char *format, ...) JOIST_PRINTF(2, 3);

/* A dtype from an R value: a `joist_dtype`, a tensor, or a string that names one in
 * the style anvil. Raises joist_dtype_error. */
joist_dtype joist_r_dtype(SEXP x);
/* The same, with strings read in another style. */
joist_dtype joist_r_dtype_styled(SEXP x, joist_style style);
/* The `joist_dtype` object of a dtype: a shared, never collected constant. */
SEXP joist_r_dtype_object(joist_dtype dtype);

/* The rule set of an R argument: NULL is the current one, a string an id, a
 * `joist_rules` object itself. The result stays valid as long as `x` is protected.
 * Raises joist_promotion_error for an unknown id. */
const struct joist_rules *joist_r_rules(SEXP x);

/* .Call: remembers the package's namespace, where the conditions are raised. */
SEXP joist_r_init(SEXP namespace_object);

/* The fields of a tensor (see tensor.h). Reading gives R_NilValue for one that is missing and
 * promises nothing of its type; setting is for a tensor that was just made, with a value that
 * is protected. */
typedef enum {
  JOIST_R_PAYLOAD,
  JOIST_R_DTYPE,
  JOIST_R_SHAPE,
  JOIST_R_AMBIGUOUS,
  JOIST_R_DEVICE,
  JOIST_R_VALUE
} joist_r_field_name;
SEXP joist_r_field(SEXP x, joist_r_field_name name);
void joist_r_set_field(SEXP x, joist_r_field_name name, SEXP value);

/* R_RegisterCFinalizerEx() for a function of this package. */
void joist_r_finalize_with(SEXP pointer, R_CFinalizer_t finalize, bool at_exit);

/* TRUE or FALSE argument; raises joist_value_error naming `what`. */
bool joist_r_flag(SEXP x, const char *what);
/* The one R number in `x`, which has no class; NaN for anything else. */
double joist_r_number(SEXP x);
/* One string argument (CHAR); raises joist_value_error naming `what`. */
const char *joist_r_string(SEXP x, const char *what);

#endif
