/* Compiled code, as R sees it. */
#include "r/memory/native.h"

#include <string.h>

#include "core/cpu/native_compile.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/memory/run.h"

static const char *const names[] = {"auto", "never", "wait"};

joist_native_policy joist_r_native_policy_of(SEXP native) {
  const char *const name = joist_r_string(native, "native");
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strcmp(name, names[k]) == 0) return (joist_native_policy)k;
  joist_r_stop(JOIST_ERROR_VALUE, "`native` must be \"auto\", \"never\" or \"wait\"");
}

SEXP joist_r_native_setup(SEXP script, SEXP folder, SEXP why, SEXP policy) {
  joist_r_set_native_policy(joist_r_native_policy_of(policy));
  joist_native_configure(script == R_NilValue ? NULL : joist_r_string(script, "script"),
                         joist_r_string(folder, "folder"),
                         why == R_NilValue ? NULL : joist_r_string(why, "why"));
  return R_NilValue;
}

SEXP joist_r_native_figures(void) {
  static const char *fields[] = {"policy", "compiled", "compiling", "failed", "why", ""};
  const struct joist_native_figures figures = joist_native_figures();
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(out, 0, Rf_mkString(names[joist_r_native_policy()]));
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal((double)figures.compiled));
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)figures.compiling));
  SET_VECTOR_ELT(out, 3, Rf_ScalarReal((double)figures.failed));
  SET_VECTOR_ELT(out, 4, Rf_mkString(figures.why));
  UNPROTECT(1);
  return out;
}

SEXP joist_r_native_stop(void) {
  joist_native_stop();
  return R_NilValue;
}
