/* Reads source references: integers for lines and columns, with the file as an attribute. */
#include "r/source.h"

SEXP joist_r_source_reference(void) {
  enum { MOST = 32 };
  for (int skip = 0; skip < MOST; skip++) {
    SEXP reference = R_GetCurrentSrcref(skip);
    if (TYPEOF(reference) == INTSXP && XLENGTH(reference) >= 4) return reference;
    if (reference == R_NilValue) break;
  }
  return R_NilValue;
}

int joist_r_source_line(SEXP reference) { return INTEGER(reference)[0]; }

const char *joist_r_source_file(SEXP reference) {
  SEXP file = Rf_getAttrib(reference, Rf_install("srcfile")), name = R_NilValue;
  if (TYPEOF(file) == ENVSXP) name = Rf_findVarInFrame(file, Rf_install("filename"));
  if (TYPEOF(name) != STRSXP || XLENGTH(name) != 1) return "";
  const char *const path = CHAR(STRING_ELT(name, 0));
  const char *base = path;
  for (const char *c = path; *c != '\0'; c++)
    if (*c == '/' || *c == '\\') base = c + 1;
  return base;
}
