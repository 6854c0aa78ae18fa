/* NA of R's logicals and integers. */
#ifndef JOIST_R_MISSING_H
#define JOIST_R_MISSING_H

#include "r/operands.h"

/* After an import of a literal that gave `status` and `error`: where it failed for an NA that is
 * no double and the dtype has one, or takes NaN for it, imports the literal as doubles. Else it
 * gives `status` back. */
joist_status joist_r_import_missing(joist_status status, const struct joist_r_value *value,
                                    joist_dtype dtype, joist_na na, void *out,
                                    struct joist_error *error) JOIST_MUST_CHECK;

#endif
