/* .Call entry points for the columns of data frames that the package vctrs cuts and puts together.
 */
#ifndef JOIST_R_COLUMN_H
#define JOIST_R_COLUMN_H

#include "r/base/sexp.h"

SEXP joist_r_column_kind(SEXP x, SEXP y);
SEXP joist_r_column_values(SEXP x, SEXP imaginary);
SEXP joist_r_column_halves(SEXP x);
SEXP joist_r_column_restored(SEXP values, SEXP to);

#endif
