/* Reads the arguments of .Call entry points. */
#include "r/base/arguments.h"

#include <limits.h>
#include <math.h>

#include "r/base/conditions.h"

bool joist_r_flag(SEXP x, const char *what) {
  if (TYPEOF(x) != LGLSXP || XLENGTH(x) != 1 || LOGICAL(x)[0] == NA_LOGICAL)
    joist_r_stop(JOIST_ERROR_VALUE, "`%s` must be TRUE or FALSE", what);
  return LOGICAL(x)[0] != 0;
}

double joist_r_number(SEXP x) {
  const bool number = (TYPEOF(x) == INTSXP || TYPEOF(x) == REALSXP) && !Rf_isObject(x);
  return number && XLENGTH(x) == 1 ? Rf_asReal(x) : R_NaN;
}

const char *joist_r_string(SEXP x, const char *what) {
  if (TYPEOF(x) != STRSXP || XLENGTH(x) != 1 || STRING_ELT(x, 0) == NA_STRING)
    joist_r_stop(JOIST_ERROR_VALUE, "`%s` must be a single string", what);
  return Rf_translateCharUTF8(STRING_ELT(x, 0));
}

R_xlen_t joist_r_list_length(SEXP x, const char *what) {
  if (TYPEOF(x) != VECSXP) joist_r_stop(JOIST_ERROR_VALUE, "%s must be a list", what);
  return XLENGTH(x);
}

void joist_r_check_raw(SEXP bytes) {
  if (TYPEOF(bytes) != RAWSXP) joist_r_stop(JOIST_ERROR_VALUE, "`bytes` must be a raw vector");
}

void joist_r_vector_shape(R_xlen_t n, struct joist_shape *shape) {
  if (n > INT32_MAX)
    joist_r_stop(JOIST_ERROR_SHAPE,
                 "a vector of %.0f elements is too long for one dimension (the largest extent is "
                 "2^31 - 1); give it dimensions with dim<- or `shape`",
                 (double)n);
  shape->rank = 1;
  shape->extent[0] = (uint32_t)n;
}

void joist_r_shape(SEXP x, struct joist_shape *shape) {
  const R_xlen_t rank = Rf_xlength(x);
  if (Rf_inherits(x, "nv_tensor"))
    joist_r_stop(JOIST_ERROR_SHAPE,
                 "a shape must be an integer vector of extents, not a tensor; call as.integer() "
                 "first, or make it a static argument of jit()");
  if ((TYPEOF(x) != INTSXP && TYPEOF(x) != REALSXP && x != R_NilValue) ||
      (Rf_isObject(x) && TYPEOF(x) != NILSXP))
    joist_r_stop(JOIST_ERROR_SHAPE, "a shape must be an integer vector of extents, not %s",
                 Rf_type2char(TYPEOF(x)));
  if (rank > JOIST_RANK_MAX)
    JOIST_R_FAIL(JOIST_E_RANK_LIMIT, .count = {(size_t)rank, JOIST_RANK_MAX});
  shape->rank = (int)rank;
  for (int d = 0; d < shape->rank; d++) {
    const double extent = TYPEOF(x) == REALSXP          ? REAL(x)[d]
                          : INTEGER(x)[d] == NA_INTEGER ? NA_REAL
                                                        : INTEGER(x)[d];
    if (!(extent >= 0) || extent != floor(extent))
      joist_r_stop(JOIST_ERROR_SHAPE, "extent %d of a shape must be a whole number, 0 or more",
                   d + 1);
    if (extent > INT32_MAX) JOIST_R_FAIL(JOIST_E_EXTENT_LIMIT, .dim = d + 1, .number = {extent});
    shape->extent[d] = (uint32_t)extent;
  }
}

int joist_r_dim(SEXP dim, const struct joist_shape *shape) {
  const double given = joist_r_number(dim);
  const double at = given < 0 ? shape->rank + 1 + given : given;
  if (isnan(given) || at != floor(at))
    joist_r_stop(JOIST_ERROR_SHAPE, "a dimension must be a single whole number");
  if (!(at >= 1 && at <= shape->rank))
    JOIST_R_FAIL(JOIST_E_NO_DIMENSION, .number = {given}, .shape = {*shape});
  return (int)at - 1;
}

SEXP joist_r_is_whole(SEXP x) {
  bool whole = !Rf_isObject(x) && (TYPEOF(x) == INTSXP || TYPEOF(x) == REALSXP);
  for (R_xlen_t k = 0; whole && k < XLENGTH(x); k++) {
    if (TYPEOF(x) == INTSXP) {
      whole = INTEGER_ELT(x, k) != NA_INTEGER;
    } else {
      const double value = REAL_ELT(x, k);
      whole = fabs(value) <= INT_MAX && value == trunc(value);
    }
  }
  return Rf_ScalarLogical(whole);
}
