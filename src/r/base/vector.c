/* R vectors, whatever their type. */
#include "r/base/vector.h"

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

size_t joist_r_element_size(SEXPTYPE type) {
  switch (type) {
    case INTSXP:
      return sizeof(int);
    case REALSXP:
      return sizeof(double);
    case CPLXSXP:
      return sizeof(Rcomplex);
    case RAWSXP:
      return 1;
    default:
      return 0;
  }
}
