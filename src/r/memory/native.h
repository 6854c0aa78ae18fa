/* Settings and state of compiled code. */
#ifndef JOIST_R_NATIVE_H
#define JOIST_R_NATIVE_H

#include "core/base/run.h"
#include "r/base/sexp.h"

/* The policy that an R string names. */
joist_native_policy joist_r_native_policy_of(SEXP native);

/* .Call entry points. */
/* See joist_native_configure(); `policy` is that of the session. */
SEXP joist_r_native_setup(SEXP script, SEXP folder, SEXP why, SEXP policy);
/* A list: how many texts were compiled, are being compiled, have failed, and why the latest did. */
SEXP joist_r_native_figures(void);
SEXP joist_r_native_stop(void);

#endif
