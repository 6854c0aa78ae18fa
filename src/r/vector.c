/* R vectors, whatever their type. */
#include "r/vector.h"

void *joist_r_elements(SEXP payload) {
  switch (TYPEOF(payload)) {
    case INTSXP:
      return INTEGER(payload);
    case REALSXP:
      return REAL(payload);
    case CPLXSXP:
      return COMPLEX(payload);
    default:
      return RAW(payload);
  }
}
