/* What C code of other packages does with R vectors: reads them in every way there is, writes to
 * them through pointers, keeps the pointers. Compiled by test-tensor-view.R. */
#include <string.h>

#include <R.h>
#include <Rinternals.h>

static size_t size_of(SEXP x) {
  return TYPEOF(x) == REALSXP   ? sizeof(double)
         : TYPEOF(x) == CPLXSXP ? sizeof(Rcomplex)
                                : sizeof(int);
}

static void *pointer_to(SEXP x) {
  switch (TYPEOF(x)) {
    case LGLSXP:
      return LOGICAL(x);
    case INTSXP:
      return INTEGER(x);
    case REALSXP:
      return REAL(x);
    case CPLXSXP:
      return COMPLEX(x);
    default:
      Rf_error("not a vector of numbers");
  }
}

static const void *read_only(SEXP x) {
  switch (TYPEOF(x)) {
    case LGLSXP:
      return LOGICAL_RO(x);
    case INTSXP:
      return INTEGER_RO(x);
    case REALSXP:
      return REAL_RO(x);
    case CPLXSXP:
      return COMPLEX_RO(x);
    default:
      Rf_error("not a vector of numbers");
  }
}

static SEXP copy_of(SEXP like, const void *values, R_xlen_t n) {
  SEXP copy = PROTECT(Rf_allocVector(TYPEOF(like), n));
  if (n > 0) memcpy(pointer_to(copy), values, (size_t)n * size_of(copy));
  UNPROTECT(1);
  return copy;
}

/* ---- reading ---- */

SEXP by_pointer(SEXP x) { return copy_of(x, pointer_to(x), XLENGTH(x)); }
SEXP by_read_only(SEXP x) { return copy_of(x, read_only(x), XLENGTH(x)); }

/* NULL if there is no pointer without work. */
SEXP by_pointer_or_null(SEXP x) {
  const void *const values = DATAPTR_OR_NULL(x);
  return values == NULL ? R_NilValue : copy_of(x, values, XLENGTH(x));
}

SEXP by_element(SEXP x) {
  const R_xlen_t n = XLENGTH(x);
  SEXP copy = PROTECT(Rf_allocVector(TYPEOF(x), n));
  for (R_xlen_t k = 0; k < n; k++) switch (TYPEOF(x)) {
      case LGLSXP:
        LOGICAL(copy)[k] = LOGICAL_ELT(x, k);
        break;
      case INTSXP:
        INTEGER(copy)[k] = INTEGER_ELT(x, k);
        break;
      case REALSXP:
        REAL(copy)[k] = REAL_ELT(x, k);
        break;
      default:
        COMPLEX(copy)[k] = COMPLEX_ELT(x, k);
    }
  UNPROTECT(1);
  return copy;
}

static R_xlen_t region(SEXP x, R_xlen_t start, R_xlen_t n, void *out) {
  switch (TYPEOF(x)) {
    case LGLSXP:
      return LOGICAL_GET_REGION(x, start, n, out);
    case INTSXP:
      return INTEGER_GET_REGION(x, start, n, out);
    case REALSXP:
      return REAL_GET_REGION(x, start, n, out);
    default:
      return COMPLEX_GET_REGION(x, start, n, out);
  }
}

/* The elements that a request of `n` from `start` (from 0) gets; what lies behind them must stay as
 * it was. */
SEXP by_region(SEXP x, SEXP start, SEXP n) {
  enum { ROOM = 4096, MARK = 0x5a };
  char buffer[ROOM];
  memset(buffer, MARK, sizeof buffer);
  const R_xlen_t got = region(x, (R_xlen_t)REAL(start)[0], (R_xlen_t)REAL(n)[0], buffer);
  if (got < 0 || (size_t)got * size_of(x) > sizeof buffer) Rf_error("%.0f elements", (double)got);
  for (size_t k = (size_t)got * size_of(x); k < sizeof buffer; k++)
    if (buffer[k] != MARK) Rf_error("written behind the region");
  return copy_of(x, buffer, got);
}

/* ---- writing ---- */

static void put(SEXP x, void *pointer, SEXP at, SEXP values) {
  for (R_xlen_t k = 0; k < XLENGTH(at); k++)
    memcpy((char *)pointer + (size_t)(REAL(at)[k] - 1) * size_of(x),
           (const char *)read_only(values) + (size_t)k * size_of(x), size_of(x));
}

/* Writes values of the same type at positions, in place. */
SEXP poke(SEXP x, SEXP at, SEXP values) {
  if (TYPEOF(x) != TYPEOF(values)) Rf_error("values of type %s", Rf_type2char(TYPEOF(x)));
  put(x, pointer_to(x), at, values);
  return x;
}

/* Keeps a pointer, which can be written through, with the object. */
SEXP hold(SEXP x) { return R_MakeExternalPtr(pointer_to(x), R_NilValue, x); }
/* The same, to read through. */
SEXP hold_read_only(SEXP x) {
  return R_MakeExternalPtr((void *)(size_t)read_only(x), R_NilValue, x);
}

SEXP held(SEXP pointer) {
  SEXP x = R_ExternalPtrProtected(pointer);
  return copy_of(x, R_ExternalPtrAddr(pointer), XLENGTH(x));
}

SEXP poke_held(SEXP pointer, SEXP at, SEXP values) {
  put(R_ExternalPtrProtected(pointer), R_ExternalPtrAddr(pointer), at, values);
  return R_NilValue;
}

/* ---- copying ---- */

SEXP deep(SEXP x) { return Rf_duplicate(x); }
SEXP shallow(SEXP x) { return Rf_shallow_duplicate(x); }
SEXP is_altrep(SEXP x) { return Rf_ScalarLogical(ALTREP(x)); }

/* A copy that C code makes element by element: an ordinary vector with the same attributes. */
SEXP by_hand(SEXP x) {
  SEXP copy = PROTECT(copy_of(x, read_only(x), XLENGTH(x)));
  SHALLOW_DUPLICATE_ATTRIB(copy, x);
  UNPROTECT(1);
  return copy;
}

/* Calls a function between taking a pointer and writing through it, as code with callbacks does. */
SEXP write_after(SEXP x, SEXP call, SEXP at, SEXP values, SEXP frame) {
  void *const pointer = pointer_to(x);
  SEXP result = PROTECT(Rf_eval(call, frame));
  put(x, pointer, at, values);
  UNPROTECT(1);
  return result;
}
