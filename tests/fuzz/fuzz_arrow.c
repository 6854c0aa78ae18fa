/* Arrow's structures: a schema of the strings that the bytes are, and an array with their numbers,
 * whose buffers are as long as it says. What is taken is read, and its schema written anew means
 * the same.
 *
 * The bytes: one of flags; length, offset and number of nulls of the array, length and offset of
 * its child, 16 bits each; then, with NULs between them, the format, that of the child, and keys
 * and values of metadata, the last of which has all the rest. */
#include "core/exchange/arrow.h"
#include "core/types/error.h"
#include "fuzz.h"

enum { NUMBERS = 5, START = 1 + 2 * NUMBERS };
enum { FORMAT, CHILD_FORMAT, FIRST_KEY, TEXTS = FIRST_KEY + 6 };
enum {
  CHILDREN = 3, /* their number */
  NO_CHILD = 1 << 2,
  DICTIONARY = 1 << 3,
  NO_METADATA = 1 << 4,
  NEGATIVE = 1 << 5, /* the last length in the metadata */
  NO_VALUES = 1 << 6,
  ALL_THERE = 1 << 7 /* without bits of nulls */
};

struct text {
  const unsigned char *bytes;
  size_t length;
};

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_array(struct ArrowArray *array) { array->release = NULL; }

static char *string(struct text text) {
  char *const copy = exact(text.length + 1);
  if (text.length > 0) memcpy(copy, text.bytes, text.length);
  copy[text.length] = '\0';
  return copy;
}

static size_t put(char *metadata, size_t at, const void *bytes, int32_t length, int32_t written) {
  memcpy(metadata + at, &written, sizeof written);
  memcpy(metadata + at + sizeof written, bytes, (size_t)length);
  return at + sizeof written + (size_t)length;
}

/* Pairs of lengths and bytes, as the interface has them. */
static char *metadata_of(const struct text *texts, int count, bool negative) {
  const int32_t pairs = count / 2;
  size_t bytes = sizeof pairs, at = sizeof pairs;
  for (int k = 0; k < 2 * pairs; k++) bytes += sizeof(int32_t) + texts[k].length;
  char *const metadata = exact(bytes);
  memcpy(metadata, &pairs, sizeof pairs);
  for (int k = 0; k < 2 * pairs; k++) {
    const int32_t length = (int32_t)texts[k].length;
    const bool last = k == 2 * pairs - 1;
    at = put(metadata, at, texts[k].bytes, length, last && negative ? -1 - length : length);
  }
  return metadata;
}

static void write_again(const struct joist_arrow_type *type) {
  struct ArrowSchema schema;
  struct joist_arrow_type again;
  struct joist_error error;
  size_t each = 1;
  HOLDS(!type->has_items || joist_shape_count(&type->item, &each));
  HOLDS(type->dtype < JOIST_DTYPE_COUNT && each == type->each);
  HOLDS(joist_arrow_write_schema(type->dtype, type->has_items ? &type->item : NULL, &schema,
                                 &error) == JOIST_OK);
  HOLDS(joist_arrow_read_schema(&schema, &again, &error) == JOIST_OK);
  HOLDS(again.dtype == type->dtype && again.has_items == type->has_items);
  HOLDS(again.each == type->each && joist_shape_equal(&again.item, &type->item));
  uint32_t dims = 0;
  for (int d = 0; d < type->item.rank; d++) dims |= UINT32_C(1) << type->permutation[d];
  HOLDS(!type->has_items || dims == (UINT32_C(1) << type->item.rank) - 1);
  schema.release(&schema);
}

struct buffers {
  const void *pointers[2];
};

/* Of an array that says it is so long: bits of nulls, a third of them unset, and values. */
static struct buffers make_buffers(const int16_t *numbers, size_t bits, int flags) {
  const size_t n = (size_t)(numbers[0] < 0 ? 0 : numbers[0]) + (numbers[1] < 0 ? 0 : numbers[1]);
  const size_t there = (n + 7) / 8, bytes = (n * bits + 7) / 8;
  unsigned char *const validity = flags & ALL_THERE ? NULL : exact(there);
  unsigned char *const values = flags & NO_VALUES ? NULL : exact(bytes);
  if (validity != NULL) memset(validity, 0x6d, there);
  if (values != NULL) memset(values, 0x35, bytes);
  return (struct buffers){{validity, values}};
}

static void free_buffers(struct buffers buffers) {
  free((void *)buffers.pointers[0]);
  free((void *)buffers.pointers[1]);
}

static struct ArrowArray array_of(const int16_t *numbers, int64_t nulls, int64_t count,
                                  struct buffers *buffers) {
  return (struct ArrowArray){.length = numbers[0],
                             .offset = numbers[1],
                             .null_count = nulls,
                             .n_buffers = count,
                             .buffers = buffers->pointers,
                             .release = release_array};
}

/* What is null is written and read again. */
static void write_nulls(const uint8_t *mask, size_t n) {
  const struct joist_arrow_type type = {.dtype = JOIST_I8, .each = 1};
  struct joist_arrow_owned owned;
  struct joist_arrow_part part;
  struct ArrowArray array;
  struct joist_error error;
  HOLDS(joist_arrow_own_copy(JOIST_I8, mask, n, &owned, &error) == JOIST_OK);
  HOLDS(joist_arrow_own_mask(mask, n, &owned, &error) == JOIST_OK);
  HOLDS(joist_arrow_write_array(n, NULL, owned, &array, &error) == JOIST_OK);
  HOLDS(array.null_count > 0);
  HOLDS(joist_arrow_read_array(&array, &type, &part, &error) == JOIST_OK && part.count == n);
  uint8_t *const again = exact(n);
  joist_arrow_mask(&part, again);
  HOLDS(memcmp(mask, again, n) == 0);
  free(again);
  array.release(&array);
}

static void read_array(const struct joist_arrow_type *type, const int16_t *numbers, int flags) {
  const struct joist_run run = {.threads = 1};
  const size_t size = joist_dtype_size(type->dtype);
  const size_t bits = type->dtype == JOIST_BOOL ? 1 : 8 * size;
  const int16_t *const with = type->has_items ? numbers + 3 : numbers;
  struct buffers values = make_buffers(with, bits, flags);
  struct buffers rows = make_buffers(numbers, 0, flags);
  struct ArrowArray child = array_of(with, -1, 2, &values), *children[] = {&child};
  struct ArrowArray array = array_of(numbers, numbers[2], 2, &values);
  if (type->has_items) {
    array = array_of(numbers, numbers[2], 1, &rows);
    array.n_children = flags & CHILDREN;
    array.children = flags & NO_CHILD ? NULL : children;
  }
  struct joist_arrow_part part;
  struct joist_error error;
  if (joist_arrow_read_array(&array, type, &part, &error) == JOIST_OK && part.count < 1 << 20) {
    HOLDS(part.count == part.rows * type->each && joist_arrow_first_null(&part) <= part.count);
    const unsigned char *const elements = joist_arrow_elements(&part, type->dtype);
    unsigned char *const copy = exact(part.count * size);
    const size_t null = joist_arrow_first_null(&part);
    for (int policy = JOIST_ARROW_MISSING; policy <= JOIST_ARROW_NAN; policy++) {
      const joist_status status =
          joist_arrow_copy(&part, type->dtype, (joist_arrow_nulls)policy, 0, copy, &run, &error);
      HOLDS(status == JOIST_OK || (null < part.count && policy != JOIST_ARROW_MISSING));
      HOLDS(elements == NULL || null < part.count ||
            memcmp(copy, elements, part.count * size) == 0);
    }
    free(copy);
    uint8_t *const mask = exact(part.count);
    joist_arrow_mask(&part, mask);
    const uint8_t *const first = part.count == 0 ? NULL : memchr(mask, 1, part.count);
    HOLDS(null == (first == NULL ? part.count : (size_t)(first - mask)));
    if (first != NULL) write_nulls(mask, part.count);
    free(mask);
  }
  free_buffers(values);
  free_buffers(rows);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  struct text texts[TEXTS] = {{0}};
  int16_t numbers[NUMBERS];
  if (size < START) return 0;
  const int flags = data[0];
  memcpy(numbers, data + 1, sizeof numbers);
  int count = 0;
  for (size_t at = START; at <= size && count < TEXTS; count++) {
    const unsigned char *const end = count == TEXTS - 1 ? NULL : memchr(data + at, '\0', size - at);
    texts[count] = (struct text){data + at, end == NULL ? size - at : (size_t)(end - data) - at};
    at += texts[count].length + 1;
  }
  char *const format = string(texts[FORMAT]), *const child_format = string(texts[CHILD_FORMAT]);
  char *const metadata =
      metadata_of(texts + FIRST_KEY, count < FIRST_KEY ? 0 : count - FIRST_KEY, flags & NEGATIVE);
  struct ArrowSchema child = {.format = child_format, .release = release_schema};
  struct ArrowSchema *children[CHILDREN] = {&child, &child, &child};
  if (flags & NO_CHILD) children[0] = NULL;
  const struct ArrowSchema schema = {.format = format,
                                     .metadata = flags & NO_METADATA ? NULL : metadata,
                                     .n_children = flags & CHILDREN,
                                     .children = flags & CHILDREN ? children : NULL,
                                     .dictionary = flags & DICTIONARY ? &child : NULL,
                                     .release = release_schema};
  struct joist_arrow_type type;
  struct joist_error error;
  if (joist_arrow_read_schema(&schema, &type, &error) == JOIST_OK) {
    write_again(&type);
    read_array(&type, numbers, flags);
  }
  free(format);
  free(child_format);
  free(metadata);
  return 0;
}
