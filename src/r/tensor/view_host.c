/* The types that R sees elements of dtypes in. */
#include "core/types/host.h"
#include "r/tensor/view.h"

joist_host joist_r_view_host(joist_dtype dtype) {
  switch (joist_dtype_kind(dtype)) {
    case JOIST_KIND_BOOL:
      return JOIST_HOST_LOGICAL;
    case JOIST_KIND_INT:
    case JOIST_KIND_UINT:
      return joist_dtype_max_int(dtype) <= INT32_MAX ? JOIST_HOST_INTEGER : JOIST_HOST_DOUBLE;
    case JOIST_KIND_FLOAT:
      return JOIST_HOST_DOUBLE;
    case JOIST_KIND_COMPLEX:
      break;
  }
  return JOIST_HOST_COMPLEX;
}

SEXPTYPE joist_r_view_type(joist_dtype dtype) {
  switch (joist_r_view_host(dtype)) {
    case JOIST_HOST_LOGICAL:
      return LGLSXP;
    case JOIST_HOST_INTEGER:
      return INTSXP;
    case JOIST_HOST_COMPLEX:
      return CPLXSXP;
    default:
      return REALSXP;
  }
}
