/* R's headers, without the names that they define for functions that begin with Rf_. */
#ifndef JOIST_R_SEXP_H
#define JOIST_R_SEXP_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

#endif
