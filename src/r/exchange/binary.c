/* Makes tensors of bytes, and bytes of tensors, in memory and in files. */
#include "r/exchange/binary.h"

#include "r/arrays/tensor_create.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/tensor_fields.h"
#include "r/exchange/files.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/dtypes.h"

/* What so many bytes are the elements of. */
static struct joist_elements elements_of(SEXP dtype, SEXP shape, SEXP swapped, size_t length) {
  struct joist_elements elements = {.dtype = joist_r_dtype(dtype),
                                    .swapped = joist_r_flag(swapped, "swapped")};
  const size_t size = joist_dtype_size(elements.dtype), n = length / size;
  if (n * size != length)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "%.0f byte%s cannot be read as %s, which has %d in each element", (double)length,
                 length == 1 ? "" : "s", joist_dtype_name(elements.dtype), (int)size);
  elements.count = n;
  elements.shape = (struct joist_shape){.rank = 1, .extent = {(uint32_t)n}};
  if (shape != R_NilValue)
    joist_r_shape(shape, &elements.shape);
  else if (n > INT32_MAX)
    joist_r_stop(JOIST_ERROR_SHAPE, "%.0f elements are too many for one dimension; give a `shape`",
                 (double)n);
  joist_r_check_filled(&elements.shape, n);
  return elements;
}

/* If the bytes need no change, they become the payload without a copy. They do if unused bits are
 * set otherwise than in memory. */
SEXP joist_r_from_bytes(SEXP bytes, SEXP dtype, SEXP shape, SEXP swapped) {
  joist_r_check_raw(bytes);
  const struct joist_elements elements = elements_of(dtype, shape, swapped, (size_t)XLENGTH(bytes));
  const struct joist_type type = {elements.dtype, false};
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  bool as_is = joist_r_payload_type(type.dtype) == RAWSXP && !joist_r_has_attributes(bytes) &&
               (!elements.swapped || joist_dtype_size(type.dtype) == 1);
  if (as_is) {
    const joist_status status =
        joist_check_elements(type.dtype, RAW(bytes), elements.count, &error);
    if (type.dtype == JOIST_BOOL) joist_r_raise_if(status, &error);
    as_is = status == JOIST_OK;
  }
  SEXP payload = PROTECT(as_is ? bytes : joist_r_payload(type.dtype, elements.count));
  if (!as_is)
    joist_r_raise_if(joist_read_bytes(type.dtype, RAW(bytes), elements.count, elements.swapped,
                                      joist_r_elements(payload), &run, &error),
                     &error);
  SEXP tensor = joist_r_tensor(payload, type, &elements.shape);
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_read_bin(SEXP path, SEXP dtype, SEXP shape, SEXP swapped, SEXP map) {
  const bool mmap = joist_r_flag(map, "mmap");
  SEXP pointer = PROTECT(joist_r_open_file(path));
  if (pointer == R_NilValue) {
    UNPROTECT(1);
    return R_NilValue;
  }
  const struct joist_r_input input = {
      .file = pointer, .bytes = R_NilValue, .size = joist_r_file_of(pointer)->file.size};
  if (input.size > PTRDIFF_MAX) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY, .bytes = SIZE_MAX);
  const struct joist_elements elements = elements_of(dtype, shape, swapped, (size_t)input.size);
  SEXP tensor = PROTECT(joist_r_read_elements(&elements, &input, mmap));
  joist_r_close_file(pointer);
  UNPROTECT(2);
  return tensor;
}

SEXP joist_r_write_bin(SEXP x, SEXP path, SEXP swapped) {
  struct joist_r_value value;
  SEXP kept = PROTECT(joist_r_read_to_write(x, &value));
  const struct joist_elements elements = {.dtype = value.argument.operand.type.dtype,
                                          .swapped = joist_r_flag(swapped, "swapped"),
                                          .shape = value.argument.shape,
                                          .count = value.count};
  joist_r_write(path, NULL, 0, &elements, &value.data, 1);
  (void)kept;
  UNPROTECT(1);
  return R_NilValue;
}

/* The payload itself where it is a raw vector of R's own that has the bytes, see
 * joist_r_as_array(). */
SEXP joist_r_to_bytes(SEXP x, SEXP swapped) {
  struct joist_r_value value;
  PROTECT(joist_r_read_to_write(x, &value));
  SEXP payload = value.payload;
  const joist_dtype dtype = value.argument.operand.type.dtype;
  const struct joist_elements elements = {
      .dtype = dtype, .swapped = joist_r_flag(swapped, "swapped"), .count = value.count};
  if (TYPEOF(payload) == RAWSXP && !ALTREP(payload) && !joist_elements_move(&elements) &&
      !value.exposed) {
    UNPROTECT(1);
    return payload;
  }
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)(value.count * joist_dtype_size(dtype))));
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  joist_r_raise_if(
      joist_write_bytes(dtype, value.data, value.count, elements.swapped, RAW(bytes), &run, &error),
      &error);
  UNPROTECT(2);
  return bytes;
}
