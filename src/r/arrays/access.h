/* `[`, `[[` and assignment to them by plain indices, read in the frames of these functions: what
 * programs call for each element cannot afford R code. */
#ifndef JOIST_R_ACCESS_H
#define JOIST_R_ACCESS_H

#include "r/base/sexp.h"

/* .External2(x, single): in function(x, ..., drop), what x has there: NULL if an index is not a
 * plain vector of numbers or logicals, or has NA. */
SEXP joist_r_take(SEXP call, SEXP op, SEXP args, SEXP frame);

/* .External2(x, value, substitute(x), single): in function(x, ..., value), x with `value` there, in
 * place where the third is R's `*tmp*`. NULL if an index or the value is not plain, if x grows, or
 * if it is traced. */
SEXP joist_r_put(SEXP call, SEXP op, SEXP args, SEXP frame);

#endif
