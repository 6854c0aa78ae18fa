/* Reads and writes npy files. */
#include "r/exchange/npy.h"

#include "core/files/npy.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/exchange/files.h"
#include "r/tensor/dtypes.h"

static joist_dtype dtype_asked(SEXP dtype) {
  return dtype == R_NilValue ? JOIST_DTYPE_NONE : joist_r_dtype(dtype);
}

SEXP joist_r_read_npy(SEXP path, SEXP bytes, SEXP dtype, SEXP raw, SEXP reversed, SEXP map) {
  const joist_dtype as = dtype_asked(dtype);
  const bool with_bytes = joist_r_flag(raw, "raw");
  const bool turned = joist_r_flag(reversed, "reversed"), mmap = joist_r_flag(map, "mmap");
  struct joist_r_input input;
  struct joist_elements elements;
  struct joist_error error;
  size_t length;
  PROTECT(joist_r_open_input(path, bytes, &input));
  SEXP head = PROTECT(joist_r_read_head(&input, JOIST_NPY_PREFIX));
  joist_r_raise_if(joist_npy_length(RAW(head), (size_t)XLENGTH(head), &length, &error), &error);
  head = PROTECT(joist_r_read_head(&input, length));
  const size_t there = (size_t)XLENGTH(head) < length ? (size_t)XLENGTH(head) : length;
  joist_r_raise_if(joist_npy_parse(RAW(head), there, input.size, as, with_bytes, &elements, &error),
                   &error);
  if (turned) joist_elements_reverse(&elements);
  SEXP tensor = PROTECT(joist_r_read_elements(&elements, &input, mmap));
  joist_r_close_input(&input);
  UNPROTECT(4);
  return tensor;
}

SEXP joist_r_npy_size(SEXP head, SEXP dtype) {
  const unsigned char *const bytes = RAW(head);
  const size_t there = (size_t)XLENGTH(head);
  struct joist_elements elements;
  struct joist_error error;
  size_t length;
  joist_r_raise_if(joist_npy_length(bytes, there, &length, &error), &error);
  if (there < length) return Rf_ScalarReal((double)length);
  joist_r_raise_if(
      joist_npy_parse(bytes, there, JOIST_NPY_OPEN, dtype_asked(dtype), false, &elements, &error),
      &error);
  return Rf_ScalarReal((double)length + (double)joist_elements_bytes(&elements));
}

SEXP joist_r_write_npy(SEXP x, SEXP path, SEXP c_order, SEXP swapped) {
  struct joist_r_value value;
  SEXP kept = PROTECT(joist_r_read_to_write(x, &value));
  struct joist_elements elements = joist_r_elements_of(&value, c_order, swapped);
  char header[JOIST_NPY_LONGEST];
  const size_t length = joist_npy_format(&elements, header);
  SEXP result = joist_r_write(path, header, length, &elements, &value.data, 1);
  (void)kept;
  UNPROTECT(1);
  return result;
}
