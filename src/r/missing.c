/* NA of R's logicals and integers. */
#include "r/missing.h"

#include "r/run.h"

joist_status joist_r_import_missing(joist_status status, const struct joist_r_value *value,
                                    joist_dtype dtype, joist_na na, void *out,
                                    struct joist_error *error) {
  if (status != JOIST_ERROR_VALUE || error->code != JOIST_E_NA_NOT_DOUBLE) return status;
  if (joist_dtype_real(dtype) != JOIST_F64 && na != JOIST_NA_NAN) return status;
  const struct joist_run run = joist_r_run();
  const void *const vmax = vmaxget();
  double *const wide = (double *)R_alloc(value->count, (int)sizeof *wide);
  joist_widen_missing(value->host, value->data, value->count, wide);
  status = joist_import(JOIST_HOST_DOUBLE, wide, value->count, dtype, na, out, &run, error);
  vmaxset(vmax);
  return status;
}
