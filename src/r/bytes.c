/* Makes tensors of bytes, and bytes of tensors. */
#include "r/bytes.h"

#include "r/arguments.h"
#include "r/conditions.h"
#include "r/dtypes.h"
#include "r/operands.h"
#include "r/payload.h"
#include "r/rules.h"
#include "r/run.h"
#include "r/tensor_create.h"
#include "r/tensor_fields.h"
#include "r/transfer.h"

static void copy(joist_dtype dtype, const void *from, size_t n, bool swapped, void *to) {
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  const joist_status status = joist_copy_bytes(dtype, from, n, swapped, to, &run, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
}

/* The bytes become the payload themselves where they are as they are to be. */
SEXP joist_r_from_bytes(SEXP bytes, SEXP dtype, SEXP shape, SEXP swapped) {
  if (TYPEOF(bytes) != RAWSXP) joist_r_stop(JOIST_ERROR_VALUE, "`bytes` must be a raw vector");
  const struct joist_type type = {joist_r_dtype(dtype), false};
  const size_t size = joist_dtype_size(type.dtype), length = (size_t)XLENGTH(bytes);
  const size_t n = length / size;
  if (n * size != length)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "%.0f byte%s cannot be read as %s, which has %d in each element", (double)length,
                 length == 1 ? "" : "s", joist_dtype_name(type.dtype), (int)size);
  struct joist_shape extents = {.rank = 1, .extent = {(uint32_t)n}};
  if (shape != R_NilValue)
    joist_r_shape(shape, &extents);
  else if (n > INT32_MAX)
    joist_r_stop(JOIST_ERROR_SHAPE, "%.0f elements are too many for one dimension; give a `shape`",
                 (double)n);
  joist_r_check_filled(&extents, n);
  const bool other = joist_r_flag(swapped, "swapped");
  const bool as_is = joist_r_payload_type(type.dtype) == RAWSXP && !joist_r_has_attributes(bytes) &&
                     (!other || size == 1);
  SEXP payload = PROTECT(as_is ? bytes : joist_r_payload(type.dtype, n));
  copy(type.dtype, RAW(bytes), n, other, as_is ? NULL : joist_r_elements(payload));
  SEXP tensor = joist_r_tensor(payload, type, &extents);
  UNPROTECT(1);
  return tensor;
}

/* The payload itself where it is a raw vector of R's own, see joist_r_as_array(). */
SEXP joist_r_to_bytes(SEXP x, SEXP swapped) {
  struct joist_r_value value;
  joist_r_read_any(joist_r_rules(R_NilValue), x, &value);
  joist_r_needs_data(&value);
  SEXP here = PROTECT(value.form == JOIST_R_REMOTE ? joist_r_fetch(&value, value.count) : x);
  SEXP payload = here == x ? value.payload : here;
  const joist_dtype dtype = value.argument.operand.type.dtype;
  const bool other = joist_r_flag(swapped, "swapped");
  if (TYPEOF(payload) == RAWSXP && !ALTREP(payload) && !other) {
    UNPROTECT(1);
    return payload;
  }
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)(value.count * joist_dtype_size(dtype))));
  copy(dtype, value.data, value.count, other, RAW(bytes));
  UNPROTECT(2);
  return bytes;
}
