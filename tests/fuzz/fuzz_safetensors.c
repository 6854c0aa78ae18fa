/* safetensors files: tensors of what is taken are read, and a header written anew means the same.
 */
#include "core/files/safetensors.h"
#include "fuzz.h"

static void write_again(struct joist_safetensors *read) {
  for (size_t k = 0; k < read->count; k++)
    if (read->tensors[k].elements.dtype == JOIST_DTYPE_NONE) return;
  struct joist_safetensor *const tensors = malloc((read->count + 1) * sizeof *tensors);
  size_t *const order = malloc((read->count + 1) * sizeof *order), length;
  char *header;
  struct joist_error error;
  HOLDS(tensors != NULL && order != NULL);
  if (read->count > 0) memcpy(tensors, read->tensors, read->count * sizeof *tensors);
  HOLDS(joist_safetensors_format(tensors, read->count, read->metadata, read->metadata_count, order,
                                 &header, &length, &error) == JOIST_OK);
  uint64_t size = length;
  for (size_t k = 0; k < read->count; k++) size += tensors[k].bytes;
  struct joist_safetensors again;
  HOLDS(joist_safetensors_parse((unsigned char *)header, length, size, &again, &error) == JOIST_OK);
  HOLDS(again.count == read->count && again.metadata_count == read->metadata_count);
  for (size_t k = 0; k < read->count; k++) {
    const struct joist_elements *const a = &again.tensors[k].elements;
    const struct joist_elements *const b = &read->tensors[k].elements;
    HOLDS(strcmp(again.tensors[k].name, read->tensors[k].name) == 0);
    HOLDS(a->dtype == b->dtype && joist_shape_equal(&a->shape, &b->shape));
    HOLDS(a->start % joist_dtype_size(a->dtype) == 0);
  }
  for (size_t k = 0; k < read->metadata_count; k++)
    HOLDS(strcmp(again.metadata[k].key, read->metadata[k].key) == 0 &&
          strcmp(again.metadata[k].value, read->metadata[k].value) == 0);
  joist_safetensors_free(&again);
  free(header);
  free(tensors);
  free(order);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  struct joist_safetensors result;
  struct joist_error error;
  size_t length;
  if (joist_safetensors_length(data, size, size, &length, &error) != JOIST_OK) return 0;
  if (joist_safetensors_parse(data, length, size, &result, &error) == JOIST_OK) {
    for (size_t k = 0; k < result.count; k++)
      if (result.tensors[k].elements.dtype != JOIST_DTYPE_NONE)
        read_and_write(result.tensors[k].elements, data, size);
    write_again(&result);
  }
  joist_safetensors_free(&result);
  return 0;
}
