/* Reads and writes npy files. */
#include "r/npy.h"

#include <string.h>

#include "core/files/npy.h"
#include "r/arguments.h"
#include "r/conditions.h"
#include "r/files.h"
#include "r/run.h"

SEXP joist_r_read_npy(SEXP path, SEXP bytes, SEXP reversed, SEXP map) {
  const bool turned = joist_r_flag(reversed, "reversed"), mmap = joist_r_flag(map, "mmap");
  const bool is_file = path != R_NilValue;
  struct joist_elements elements;
  struct joist_error error;
  if (!is_file && TYPEOF(bytes) != RAWSXP)
    joist_r_stop(JOIST_ERROR_VALUE, "`bytes` must be a raw vector");
  SEXP pointer = PROTECT(is_file ? joist_r_open_file(path) : R_NilValue);
  if (is_file && pointer == R_NilValue) joist_r_no_file(path);
  SEXP head = PROTECT(is_file ? joist_r_read_head(pointer, JOIST_NPY_PREFIX) : bytes);
  const uint64_t size = is_file ? joist_r_file_of(pointer)->file.size : (uint64_t)XLENGTH(bytes);
  size_t length;
  joist_r_raise_if(joist_npy_length(RAW(head), (size_t)XLENGTH(head), &length, &error), &error);
  if (is_file) head = joist_r_read_head(pointer, length);
  PROTECT(head);
  const size_t there = (size_t)XLENGTH(head) < length ? (size_t)XLENGTH(head) : length;
  joist_r_raise_if(joist_npy_parse(RAW(head), there, size, &elements, &error), &error);
  if (turned) joist_elements_reverse(&elements);
  SEXP tensor =
      PROTECT(joist_r_read_elements(&elements, pointer, is_file ? NULL : RAW(bytes), mmap));
  if (is_file) joist_r_close_file(pointer);
  UNPROTECT(4);
  return tensor;
}

SEXP joist_r_write_npy(SEXP x, SEXP path, SEXP c_order, SEXP swapped) {
  struct joist_r_value value;
  SEXP kept = PROTECT(joist_r_read_to_write(x, &value));
  struct joist_elements elements = {.dtype = value.argument.operand.type.dtype,
                                    .swapped = joist_r_flag(swapped, "swapped"),
                                    .c_order = joist_r_flag(c_order, "c_order"),
                                    .shape = value.argument.shape,
                                    .count = value.count};
  char header[JOIST_NPY_LONGEST];
  const size_t length = joist_npy_format(&elements, header);
  SEXP result = R_NilValue;
  if (path != R_NilValue) {
    joist_r_write_file(path, header, length, &elements, &value.data, 1);
  } else {
    const size_t bytes = elements.count * joist_dtype_size(elements.dtype);
    result = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)(length + bytes)));
    memcpy(RAW(result), header, length);
    const struct joist_run run = joist_r_run();
    struct joist_error error;
    joist_r_raise_if(
        joist_elements_write(&elements, value.data, NULL, RAW(result) + length, &run, &error),
        &error);
    UNPROTECT(1);
  }
  (void)kept;
  UNPROTECT(1);
  return result;
}
