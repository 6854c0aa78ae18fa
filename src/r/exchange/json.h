/* JSON documents as R objects. */
#ifndef JOIST_R_JSON_H
#define JOIST_R_JSON_H

#include "r/base/sexp.h"

/* .Call entry point. Of a raw vector of UTF-8: objects are lists with names, arrays are lists
 * without, strings are strings, numbers are their text, of class json_number; NULL is null. Raises
 * joist_value_error for invalid JSON, with the position of the first byte that does not fit. */
SEXP joist_r_read_json(SEXP bytes);

#endif
