/* Lines of R code: source references, which functions have that kept their source. */
#ifndef JOIST_R_SOURCE_H
#define JOIST_R_SOURCE_H

#include <stdbool.h>

#include "r/base/sexp.h"

/* The line being run in the innermost function that has kept its source, as the package's own
 * functions do not; NULL if there is none. The caller protects it. */
SEXP joist_r_source_reference(void);

/* Whether two of them are the same place. */
bool joist_r_same_source(SEXP one, SEXP other);

/* Of such a line. The file is without its folders, "" when it has none; it lives as long as the
 * reference. */
int joist_r_source_line(SEXP reference);
const char *joist_r_source_file(SEXP reference);

#endif
