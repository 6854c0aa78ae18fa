/* npy files: what is taken is read, and its header written anew means the same. */
#include "core/files/npy.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  struct joist_elements elements, again;
  struct joist_error error;
  const joist_dtype none = JOIST_DTYPE_NONE;
  size_t length;
  if (joist_npy_length(data, size, &length, &error) != JOIST_OK) return 0;
  const size_t there = length < size ? length : size;
  if (joist_npy_parse(data, there, size, JOIST_I4, false, &elements, &error) == JOIST_OK)
    HOLDS(elements.dtype == JOIST_I4 && elements.start + elements.count == size);
  if (joist_npy_parse(data, there, size, none, true, &elements, &error) == JOIST_OK)
    HOLDS(elements.start + joist_elements_bytes(&elements) == size);
  if (joist_npy_parse(data, there, size, none, false, &elements, &error) != JOIST_OK) return 0;
  read_and_write(elements, data, size);
  char header[JOIST_NPY_LONGEST];
  again = elements;
  const size_t written = joist_npy_format(&again, header);
  const size_t bytes = elements.count * joist_dtype_size(elements.dtype);
  HOLDS(joist_npy_parse((unsigned char *)header, written, written + bytes, elements.dtype, false,
                        &again, &error) == JOIST_OK);
  HOLDS(again.dtype == elements.dtype && again.count == elements.count &&
        again.c_order == elements.c_order && joist_shape_equal(&again.shape, &elements.shape));
  HOLDS(again.swapped == elements.swapped || joist_dtype_size(elements.dtype) == 1);
  return 0;
}
