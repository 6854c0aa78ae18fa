/* Files that are open for reading, as external pointers. */
#ifndef JOIST_R_OPEN_FILE_H
#define JOIST_R_OPEN_FILE_H

#include "core/base/file.h"
#include "r/base/sexp.h"

/* What the external pointer of an open file leads to; its tag is the path. */
struct joist_r_file {
  struct joist_file file;
  void *memory; /* of all of it, once it is mapped */
};

/* A path, absolute where a map is to be found again, as the system takes it: transient memory,
 * until the next path. */
const char *joist_r_path(SEXP path);
/* The same of a string whose `~` R has expanded, for as long as the .Call goes on. */
const char *joist_r_path_as_it_is(SEXP string);
/* Opens a file for reading. An external pointer, whose finalizer closes it, or R_NilValue for a
 * device or a pipe; raises joist_value_error. */
SEXP joist_r_open_file(SEXP path);
/* Closes it now, unless it is mapped. */
void joist_r_close_file(SEXP pointer);
/* NULL once it is closed. */
struct joist_r_file *joist_r_file_of(SEXP pointer);
/* The path that it was opened by, and how messages show one. */
SEXP joist_r_path_of(SEXP pointer);
const char *joist_r_path_text(SEXP path);
/* Raises joist_value_error for a path that is not a file of known size. */
_Noreturn void joist_r_no_file(SEXP path);
/* Raises joist_value_error for an error of the system: what failed ("read") and its code. */
_Noreturn void joist_r_file_stop(const char *verb, SEXP path, int code);

#endif
