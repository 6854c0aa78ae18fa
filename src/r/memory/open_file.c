/* Opens files for reading. */
#include "r/memory/open_file.h"

#include "core/files/elements.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"

const char *joist_r_path_as_it_is(SEXP string) {
#ifdef _WIN32
  return Rf_translateCharUTF8(string);
#else
  return Rf_translateChar(string);
#endif
}

const char *joist_r_path(SEXP path) {
  if (TYPEOF(path) != STRSXP || XLENGTH(path) != 1 || STRING_ELT(path, 0) == NA_STRING)
    joist_r_stop(JOIST_ERROR_VALUE, "a path must be a single string");
  return R_ExpandFileName(joist_r_path_as_it_is(STRING_ELT(path, 0)));
}

/* ---- open files ---- */

struct joist_r_file *joist_r_file_of(SEXP pointer) {
  return R_ExternalPtrAddr(pointer);
}

SEXP joist_r_path_of(SEXP pointer) { return R_ExternalPtrTag(pointer); }

const char *joist_r_path_text(SEXP path) { return Rf_translateCharUTF8(STRING_ELT(path, 0)); }

static void close_now(SEXP pointer) {
  struct joist_r_file *open = joist_r_file_of(pointer);
  if (open == NULL) return;
  R_ClearExternalPtr(pointer);
  if (open->memory != NULL) joist_file_unmap(&open->file, open->memory);
  joist_file_close(&open->file);
  R_Free(open);
}

void joist_r_close_file(SEXP pointer) {
  const struct joist_r_file *open = joist_r_file_of(pointer);
  if (open != NULL && open->memory == NULL) close_now(pointer);
}

_Noreturn void joist_r_file_stop(const char *verb, SEXP path, int code) {
  struct joist_error error;
  const joist_status status = joist_file_fail(verb, joist_r_path_text(path), code, &error);
  joist_r_raise(status, &error);
}

_Noreturn void joist_r_no_file(SEXP path) { joist_r_file_stop("read", path, JOIST_FILE_SPECIAL); }

SEXP joist_r_open_file(SEXP path) {
  const char *const name = joist_r_path(path);
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, path, R_NilValue));
  joist_r_finalize_with(pointer, close_now, false);
  struct joist_r_file *open = R_Calloc(1, struct joist_r_file);
  const int code = joist_file_open(name, &open->file);
  if (code != 0) {
    R_Free(open);
    UNPROTECT(1);
    if (code == JOIST_FILE_SPECIAL) return R_NilValue;
    joist_r_file_stop("open", path, code);
  }
  R_SetExternalPtrAddr(pointer, open);
  UNPROTECT(1);
  return pointer;
}
