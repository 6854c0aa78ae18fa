/* Reads source references: integers for lines and columns, with the file as an attribute. */
#include "r/base/source.h"

#include <Rversion.h>
#include <string.h>

#include "r/base/conditions.h"

/* Where the function that calls C was called: up to R 4.4 it counted from the code under way. */
enum { CALL_OF_FUNCTION = R_VERSION >= R_Version(4, 5, 0) ? 0 : 1 };

SEXP joist_r_source_reference(void) {
  /* Known where R interprets the caller; R's own functions know more, and take their time. */
  SEXP reference = R_GetCurrentSrcref(CALL_OF_FUNCTION);
  if (TYPEOF(reference) == INTSXP && XLENGTH(reference) >= 4) return reference;
  reference = joist_r_eval(PROTECT(Rf_lang1(Rf_install("source_reference"))));
  UNPROTECT(1);
  return reference;
}

bool joist_r_same_source(SEXP one, SEXP other) {
  SEXP symbol = Rf_install("srcfile");
  return one == other || (memcmp(INTEGER(one), INTEGER(other), 4 * sizeof(int)) == 0 &&
                          Rf_getAttrib(one, symbol) == Rf_getAttrib(other, symbol));
}

int joist_r_source_line(SEXP reference) { return INTEGER(reference)[0]; }

static SEXP in_frame(SEXP frame, SEXP symbol) {
#if R_VERSION >= R_Version(4, 5, 0)
  return R_getVarEx(symbol, frame, FALSE, R_NilValue);
#else
  return Rf_findVarInFrame(frame, symbol);
#endif
}

const char *joist_r_source_file(SEXP reference) {
  SEXP file = Rf_getAttrib(reference, Rf_install("srcfile")), name = R_NilValue;
  if (TYPEOF(file) == ENVSXP) name = in_frame(file, Rf_install("filename"));
  if (TYPEOF(name) != STRSXP || XLENGTH(name) != 1) return "";
  const char *const path = CHAR(STRING_ELT(name, 0));
  const char *base = path;
  for (const char *c = path; *c != '\0'; c++)
    if (*c == '/' || *c == '\\') base = c + 1;
  return base;
}
