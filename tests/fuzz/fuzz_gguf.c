/* GGUF files: tensors of what is taken are read or decoded, and multiplied; metadata is walked, and
 * cut files ask for more. */
#include "core/files/gguf.h"
#include "core/kernels/kernels.h"
#include "fuzz.h"

static void walk(const struct joist_gguf *file, const unsigned char *data, size_t size,
                 struct joist_gguf_value value) {
  size_t at = value.at, length;
  const joist_dtype dtype = joist_gguf_dtype(value.type);
  HOLDS(value.at <= size);
  if (dtype != JOIST_DTYPE_NONE || value.type == JOIST_GGUF_BOOL) {
    const size_t each = dtype == JOIST_DTYPE_NONE ? 1 : joist_dtype_size(dtype);
    HOLDS(value.count <= (size - value.at) / each);
    return;
  }
  for (uint64_t k = 0; k < value.count; k++) {
    if (value.type == JOIST_GGUF_STRING) {
      const char *const string = joist_gguf_string(file, data, &at, &length);
      HOLDS(at <= size && string + length <= (const char *)data + size);
    } else {
      walk(file, data, size, joist_gguf_array(file, data, &at));
    }
  }
  HOLDS(at <= size);
}

/* Blocks in memory of exactly their size: their values, and products with columns. */
static void decode(joist_block block, const unsigned char *from, size_t bytes) {
  const struct joist_block_facts *const facts = joist_block_facts(block);
  const struct joist_block_table *const kernels = joist_block_kernels();
  const size_t n = bytes / facts->bytes, count = n * facts->elements;
  unsigned char *const blocks = memcpy(exact(bytes), from, bytes);
  float *const values = exact(count * sizeof *values), product[3];
  int8_t *const level = memset(exact(count), 3, count);
  float *const one = exact(count / 16 * sizeof *one);
  HOLDS(n * facts->bytes == bytes);
  int16_t *const sum = exact(count / 16 * sizeof *sum);
  for (size_t k = 0; k < count / 16; k++) sum[k] = (int16_t)(one[k] = 1);
  kernels->decode[block](n, blocks, values);
  for (size_t k = 0; k < count; k++) values[k] = (float)(k % 7);
  kernels->dot[block](n, blocks, 1, values, count, product, 1);
  struct joist_byte_column column = {level, one, one, one, NULL, sum};
  kernels->dot_bytes[block](n, blocks, &column, &product[1]);
  column.scale_of_256 = one;
  if (count % 256 == 0) kernels->dot_bytes[block](n, blocks, &column, &product[2]);
  joist_block_swap(block, n, blocks);
  free(blocks);
  free(values);
  free(level);
  free(one);
  free(sum);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  struct joist_gguf whole, part;
  struct joist_error error;
  if (joist_gguf_parse(data, size, size, &whole, &error) == JOIST_OK) {
    HOLDS(whole.needed == 0);
    for (size_t k = 0; k < whole.pair_count; k++) walk(&whole, data, size, whole.pairs[k].value);
    for (size_t k = 0; k < whole.count; k++) {
      const struct joist_gguf_tensor *const tensor = &whole.tensors[k];
      HOLDS(tensor->start <= size && tensor->bytes <= size - tensor->start);
      const struct joist_elements elements = {.dtype = tensor->dtype,
                                              .swapped = whole.swapped,
                                              .shape = tensor->shape,
                                              .count = tensor->count,
                                              .start = tensor->start};
      if (tensor->dtype != JOIST_DTYPE_NONE) read_and_write(elements, data, size);
      if (tensor->block != JOIST_BLOCK_COUNT)
        decode(tensor->block, data + tensor->start, tensor->bytes);
    }
    /* A part of the header asks for more, until it is all there. */
    size_t there = size / 2;
    do {
      HOLDS(joist_gguf_parse(data, there, size, &part, &error) == JOIST_OK);
      HOLDS(part.needed == 0 || (part.needed > there && part.needed <= size));
      there = part.needed;
      if (there == 0) HOLDS(part.count == whole.count && part.pair_count == whole.pair_count);
      joist_gguf_free(&part);
    } while (there > 0);
  }
  joist_gguf_free(&whole);
  return 0;
}
