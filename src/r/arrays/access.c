#include "r/arrays/access.h"

#include <Rversion.h>

#include "r/arrays/assign.h"
#include "r/arrays/subset.h"
#include "r/base/conditions.h"
#include "r/base/sexp.h"
#include "r/tensor/unknown.h"

/* The `...` of a call, R_NilValue if it is empty. */
static SEXP dots_of(SEXP frame) {
#if R_VERSION >= R_Version(4, 5, 0)
  /* R_getVarEx() fails if there is nothing in it. */
  static SEXP length = NULL;
  if (length == NULL) R_PreserveObject(length = Rf_lang1(Rf_install("...length")));
  if (Rf_asInteger(Rf_eval(length, frame)) == 0) return R_NilValue;
  SEXP dots = R_getVarEx(R_DotsSymbol, frame, FALSE, R_NilValue);
#else
  SEXP dots = Rf_findVarInFrame(frame, R_DotsSymbol);
#endif
  return TYPEOF(dots) == DOTSXP ? dots : R_NilValue;
}

/* Names of an index mean nothing. */
static bool is_plain(SEXP index) {
  if (TYPEOF(index) != INTSXP && TYPEOF(index) != REALSXP && TYPEOF(index) != LGLSXP) return false;
  return !joist_r_has_attributes(index) ||
         (!Rf_isObject(index) && Rf_getAttrib(index, R_DimSymbol) == R_NilValue);
}

/* The indices in the frame of `[` or its kin, if they are plain vectors of numbers or logicals: a
 * list with one for each of the dims of x, or the only index as it is. R_NilValue otherwise. */
static SEXP plain_indices(SEXP frame, SEXP x) {
  SEXP dots = dots_of(frame);
  const int n = Rf_length(dots);
  SEXP dim = n > 1 ? Rf_getAttrib(x, R_DimSymbol) : R_NilValue;
  if (n == 0 || (n > 1 && Rf_length(dim) != n)) return R_NilValue;
  SEXP indices = PROTECT(n > 1 ? Rf_allocVector(VECSXP, n) : R_NilValue);
  for (int d = 0; d < n; d++, dots = CDR(dots)) {
    SEXP index = CAR(dots);
    if (index == R_MissingArg && n > 1) continue;
    if (TYPEOF(index) == PROMSXP) index = Rf_eval(index, frame);
    const bool plain = is_plain(index);
    if (!plain || n == 1) {
      UNPROTECT(1);
      return plain ? index : R_NilValue;
    }
    SET_VECTOR_ELT(indices, d, index);
  }
  UNPROTECT(1);
  return indices;
}

/* The argument after `*args`. */
static SEXP next_argument(SEXP *args) {
  *args = CDR(*args);
  return CAR(*args);
}

/* Whether base R's rank() has called `[`, in whose frame we are: it would compare each pair of the
 * elements by calls of `[`, `==` and `>`. */
static bool is_called_by_rank(SEXP frame) {
  static SEXP caller_of = NULL, ties = NULL;
  if (caller_of == NULL) {
    ties = Rf_install("ties.method");
    R_PreserveObject(caller_of = Rf_lang1(Rf_install("parent.frame")));
  }
  SEXP caller = PROTECT(Rf_eval(caller_of, frame));
  bool is = R_existsVarInFrame(caller, ties);
  if (is) {
    SEXP test = PROTECT(Rf_lang2(Rf_install("is_frame_of_base"), caller));
    is = Rf_asLogical(joist_r_eval(test)) == TRUE;
    UNPROTECT(1);
  }
  UNPROTECT(1);
  return is;
}

SEXP joist_r_take(SEXP call, SEXP op, SEXP args, SEXP frame) {
  (void)call;
  (void)op;
  static SEXP drop_symbol = NULL, yes = NULL;
  if (yes == NULL) {
    drop_symbol = Rf_install("drop");
    R_PreserveObject(yes = Rf_ScalarLogical(TRUE));
  }
  SEXP x = next_argument(&args), single = next_argument(&args);
  if (TYPEOF(x) == S4SXP) return R_NilValue;
  /* Of R numbers that are traced, R code takes what R has. */
  if (joist_r_is_unknown(x)) {
    SEXP asked = joist_r_eval(PROTECT(Rf_lang2(Rf_install("is_r_number"), x)));
    UNPROTECT(1);
    if (Rf_asLogical(asked)) return R_NilValue;
  }
  SEXP indices = PROTECT(plain_indices(frame, x)), drop = yes;
  if (TYPEOF(indices) == VECSXP && LOGICAL(single)[0] != TRUE)
    drop = Rf_ScalarLogical(Rf_asLogical(Rf_eval(drop_symbol, frame)));
  PROTECT(drop);
  SEXP taken = indices == R_NilValue ? indices : joist_r_subset(x, indices, drop, single);
  if (taken != R_NilValue && TYPEOF(indices) == LGLSXP && is_called_by_rank(frame)) {
    PROTECT(taken);
    taken = joist_r_eval(PROTECT(Rf_lang2(Rf_install("xtfrm"), taken)));
    UNPROTECT(2);
  }
  UNPROTECT(2);
  return taken;
}

/* Whether a number is the position behind the last of n elements. */
static bool is_next(SEXP index, R_xlen_t n) {
  return (TYPEOF(index) == INTSXP && XLENGTH(index) > 0 && INTEGER_ELT(index, 0) == n + 1) ||
         (TYPEOF(index) == REALSXP && XLENGTH(index) > 0 && REAL_ELT(index, 0) == (double)n + 1);
}

SEXP joist_r_put(SEXP call, SEXP op, SEXP args, SEXP frame) {
  (void)call;
  (void)op;
  static SEXP in_place = NULL;
  if (in_place == NULL) in_place = Rf_install("*tmp*");
  SEXP x = next_argument(&args), value = next_argument(&args), expression = next_argument(&args);
  SEXP single = next_argument(&args);
  const SEXPTYPE type = (SEXPTYPE)TYPEOF(value);
  if (TYPEOF(x) == S4SXP || joist_r_is_unknown(x)) return R_NilValue;
  if (type != INTSXP && type != REALSXP && type != CPLXSXP && type != LGLSXP) return R_NilValue;
  if (TYPEOF(x) == LGLSXP && type != LGLSXP) return R_NilValue;
  SEXP indices = PROTECT(plain_indices(frame, x)), done = R_NilValue;
  if (indices != R_NilValue && TYPEOF(indices) != VECSXP) {
    if (is_next(indices, XLENGTH(x))) indices = R_NilValue;
    SEXP list = R_NilValue;
    if (indices != R_NilValue) {
      list = Rf_allocVector(VECSXP, 1);
      SET_VECTOR_ELT(list, 0, indices);
    }
    UNPROTECT(1);
    PROTECT(indices = list);
  }
  SEXP reuse = Rf_ScalarLogical(expression == in_place);
  if (indices != R_NilValue) done = joist_r_assign(x, indices, value, reuse, single);
  UNPROTECT(1);
  return done;
}
