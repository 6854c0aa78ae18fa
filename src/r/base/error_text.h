/* The text of an error of the core: what was wrong, where, and what to do instead. The one place
 * that says it in words; knows no SEXP. */
#ifndef JOIST_R_ERROR_TEXT_H
#define JOIST_R_ERROR_TEXT_H

#include "core/types/error.h"

enum { JOIST_R_ERROR_TEXT_SIZE = 2048 /* room for the longest */ };

/* Returns `text`. */
const char *joist_r_error_text(const struct joist_error *error, char text[JOIST_R_ERROR_TEXT_SIZE]);

#endif
