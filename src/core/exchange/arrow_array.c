/* Arrays of Arrow: their elements out of them, and arrays of elements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/exchange/arrow.h"
#include "core/types/error.h"

/* ---- reading ---- */

static bool bit(const uint8_t *bits, size_t k) { return bits[k / 8] >> (k % 8) & 1; }

static joist_status wrong(const char *field, int64_t number, const char *wanted,
                          struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_ARROW_FIELD, .name = {field, wanted},
                    .number = {(double)number});
}

/* An array or its child: its own fields, and the bits of what is there. */
static joist_status check_array(const struct ArrowArray *array, int64_t buffers, int64_t children,
                                const uint8_t **bits, struct joist_error *error) {
  if (array == NULL || array->release == NULL)
    return JOIST_FAIL(error, JOIST_E_ARROW_RELEASED, .name = {"array"});
  const char *const of_type = "what an array of its type has";
  if (array->n_buffers != buffers) return wrong("n_buffers", array->n_buffers, of_type, error);
  if (array->n_children != children) return wrong("n_children", array->n_children, of_type, error);
  if (array->length < 0) return wrong("length", array->length, "0 or more", error);
  if (array->offset < 0) return wrong("offset", array->offset, "0 or more", error);
  if (array->offset > PTRDIFF_MAX / 16 - array->length || array->length > PTRDIFF_MAX / 16)
    return wrong("offset", array->offset, "what memory can have", error);
  if (array->null_count < -1 || array->null_count > array->length)
    return wrong("null_count", array->null_count, "-1 to `length`", error);
  if (array->dictionary != NULL)
    return JOIST_FAIL(error, JOIST_E_ARROW_TYPE, .name = {"dictionary"}, .text = {{"*"}});
  if (array->buffers == NULL) return JOIST_FAIL(error, JOIST_E_ARROW_MISSING, .name = {"buffers"});
  *bits = array->buffers[0];
  if (*bits == NULL && array->null_count > 0)
    return JOIST_FAIL(error, JOIST_E_ARROW_MISSING, .name = {"validity buffer"});
  if (children > 0 && (array->children == NULL || array->children[0] == NULL))
    return JOIST_FAIL(error, JOIST_E_ARROW_MISSING, .name = {"children"});
  return JOIST_OK;
}

joist_status joist_arrow_read_array(const struct ArrowArray *array,
                                    const struct joist_arrow_type *type,
                                    struct joist_arrow_part *part, struct joist_error *error) {
  *part = (struct joist_arrow_part){.each = type->each};
  const struct ArrowArray *values = array;
  joist_status status;
  if (type->has_items) {
    status = check_array(array, 1, 1, &part->row_bits, error);
    if (status != JOIST_OK) return status;
    values = array->children[0];
    part->first_row_bit = (size_t)array->offset;
  }
  status = check_array(values, 2, 0, &part->element_bits, error);
  if (status != JOIST_OK) return status;
  part->rows = (size_t)array->length;
  part->count = part->rows;
  if (type->has_items) {
    const size_t last = part->rows + (size_t)array->offset;
    if (type->each != 0 && last > (size_t)values->length / type->each)
      return wrong("length", values->length, "enough for all rows, in the child", error);
    part->count = part->rows * type->each;
    part->first = (size_t)array->offset * type->each;
  }
  part->first += (size_t)values->offset;
  part->first_element_bit = part->first;
  part->values = values->buffers[1];
  if (part->values == NULL && part->count > 0)
    return JOIST_FAIL(error, JOIST_E_ARROW_MISSING, .name = {"buffer of values"});
  return JOIST_OK;
}

/* The first of n bits that is not set, from `k` on; n if all are. */
static size_t first_unset(const uint8_t *bits, size_t first, size_t k, size_t n) {
  if (bits == NULL) return n;
  while (k < n) {
    const bool byte = (first + k) % 8 == 0 && n - k >= 8;
    if (byte && bits[(first + k) / 8] == 0xff) {
      k += 8;
    } else if (bit(bits, first + k)) {
      k++;
    } else {
      return k;
    }
  }
  return n;
}

size_t joist_arrow_first_null(const struct joist_arrow_part *part) {
  if (part->count == 0) return 0;
  const size_t row = first_unset(part->row_bits, part->first_row_bit, 0, part->rows);
  const size_t n = row * part->each; /* elements before that row */
  return first_unset(part->element_bits, part->first_element_bit, 0, n);
}

const void *joist_arrow_elements(const struct joist_arrow_part *part, joist_dtype dtype) {
  if (dtype == JOIST_BOOL || part->count == 0) return NULL;
  const size_t size = joist_dtype_size(dtype);
  const char *const elements = (const char *)part->values + part->first * size;
  return (uintptr_t)elements % size == 0 ? elements : NULL;
}

static void unpack(const uint8_t *bits, size_t first, size_t n, uint8_t *to) {
  for (size_t k = 0; k < n; k++) to[k] = bit(bits, first + k);
}

/* Copies one element of `size` bytes to each that is null. */
static void fill_nulls(const struct joist_arrow_part *part, const void *element, size_t size,
                       char *to) {
  for (size_t k = 0;; k++) {
    k = first_unset(part->element_bits, part->first_element_bit, k, part->count);
    if (k == part->count) break;
    memcpy(to + k * size, element, size);
  }
  for (size_t row = 0;; row++) {
    row = first_unset(part->row_bits, part->first_row_bit, row, part->rows);
    if (row == part->rows) break;
    for (size_t k = row * part->each; k < (row + 1) * part->each; k++)
      memcpy(to + k * size, element, size);
  }
}

void joist_arrow_mask(const struct joist_arrow_part *part, uint8_t *mask) {
  const uint8_t missing = 1;
  if (part->count == 0) return;
  memset(mask, 0, part->count);
  fill_nulls(part, &missing, 1, (char *)mask);
}

static joist_status fill_nan(const struct joist_arrow_part *part, joist_dtype dtype, char *to,
                             struct joist_error *error) {
  const double nan = NAN;
  char element[16];
  const joist_status status = joist_import(JOIST_HOST_DOUBLE, &nan, 1, dtype, element, NULL, error);
  if (status == JOIST_OK) fill_nulls(part, element, joist_dtype_size(dtype), to);
  return status;
}

joist_status joist_arrow_copy(const struct joist_arrow_part *part, joist_dtype dtype,
                              joist_arrow_nulls nulls, size_t before, void *to,
                              const struct joist_run *run, struct joist_error *error) {
  if (part->count == 0) return JOIST_OK;
  const size_t size = joist_dtype_size(dtype);
  const size_t null = nulls == JOIST_ARROW_MISSING ? part->count : joist_arrow_first_null(part);
  const bool is_float = joist_dtype_kind(dtype) == JOIST_KIND_FLOAT;
  if (null < part->count && (nulls == JOIST_ARROW_ERROR || !is_float))
    return JOIST_FAIL(
        error, nulls == JOIST_ARROW_ERROR ? JOIST_E_ARROW_NULL_ELEMENT : JOIST_E_ARROW_NULL_NOT_NAN,
        .position = before + null + 1, .type = {{dtype, false}});
  if (dtype == JOIST_BOOL) {
    unpack(part->values, part->first, part->count, to);
    return JOIST_OK;
  }
  const joist_status status = joist_read_bytes(
      dtype, (const char *)part->values + part->first * size, part->count, false, to, run, error);
  return status != JOIST_OK || null == part->count ? status : fill_nan(part, dtype, to, error);
}

/* ---- writing ---- */

enum { ALIGNMENT = 64 /* bytes, as Arrow recommends */ };

/* The first aligned byte of a block that is longer by ALIGNMENT. */
static char *aligned(char *block) { return block + ALIGNMENT - (uintptr_t)block % ALIGNMENT; }

/* Memory for so many bytes from aligned(block) on; NULL if allocation fails. */
static char *new_block(size_t bytes) { return malloc(bytes + ALIGNMENT); }

/* Bits that are set where a byte is 0, or is not. Returns how many of n are not set. */
static size_t pack(const uint8_t *bytes, bool where_zero, size_t n, char *to) {
  size_t unset = 0;
  memset(to, 0, n / 8 + 1);
  for (size_t k = 0; k < n; k++) {
    const bool set = (bytes[k] == 0) == where_zero;
    to[k / 8] = (char)(to[k / 8] | set << k % 8);
    unset += !set;
  }
  return unset;
}

joist_status joist_arrow_own_copy(joist_dtype dtype, const void *elements, size_t n,
                                  struct joist_arrow_owned *owned, struct joist_error *error) {
  const bool packed = dtype == JOIST_BOOL;
  const size_t bytes = packed ? n / 8 + 1 : n * joist_dtype_size(dtype);
  char *const block = new_block(bytes);
  if (block == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  char *const to = aligned(block);
  if (packed)
    pack(elements, false, n, to);
  else if (n > 0)
    memcpy(to, elements, bytes);
  *owned = (struct joist_arrow_owned){.elements = to, .drop = free, .owner = block};
  return JOIST_OK;
}

static void drop_keep_alive(void *keep) { joist_keep_alive_release(keep); }

struct joist_arrow_owned joist_arrow_own_keep_alive(const void *elements,
                                                    struct joist_keep_alive *keep) {
  return (struct joist_arrow_owned){.elements = elements, .drop = drop_keep_alive, .owner = keep};
}

static void drop_all(const struct joist_arrow_owned *owned) {
  owned->drop(owned->owner);
  free(owned->validity);
}

joist_status joist_arrow_own_mask(const uint8_t *mask, size_t n, struct joist_arrow_owned *owned,
                                  struct joist_error *error) {
  const size_t bytes = n / 8 + 1;
  owned->validity = new_block(bytes);
  if (owned->validity == NULL) {
    drop_all(owned);
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  }
  owned->nulls = pack(mask, true, n, aligned(owned->validity));
  return JOIST_OK;
}

struct plain_array {
  const void *buffers[2];
  struct joist_arrow_owned owned;
};

struct item_array {
  const void *buffers[1];
  struct ArrowArray child, *children[1];
};

static void release_plain(struct ArrowArray *array) {
  struct plain_array *const own = array->private_data;
  drop_all(&own->owned);
  free(own);
  array->release = NULL;
}

static void release_items(struct ArrowArray *array) {
  struct item_array *const own = array->private_data;
  if (own->child.release != NULL) own->child.release(&own->child); /* it may have been moved */
  free(own);
  array->release = NULL;
}

static joist_status write_plain(size_t n, struct joist_arrow_owned owned, struct ArrowArray *array,
                                struct joist_error *error) {
  struct plain_array *const own = malloc(sizeof *own);
  if (own == NULL) {
    drop_all(&owned);
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = sizeof *own);
  }
  const char *const present = owned.nulls > 0 ? aligned(owned.validity) : NULL;
  *own = (struct plain_array){{present, owned.elements}, owned};
  *array = (struct ArrowArray){.length = (int64_t)n,
                               .null_count = (int64_t)owned.nulls,
                               .n_buffers = 2,
                               .buffers = own->buffers,
                               .release = release_plain,
                               .private_data = own};
  return JOIST_OK;
}

joist_status joist_arrow_write_array(size_t rows, const struct joist_shape *item,
                                     struct joist_arrow_owned owned, struct ArrowArray *array,
                                     struct joist_error *error) {
  if (item == NULL) return write_plain(rows, owned, array, error);
  size_t each = 0;
  struct item_array *const own = malloc(sizeof *own);
  if (own == NULL || !joist_shape_count(item, &each)) {
    free(own);
    drop_all(&owned);
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = sizeof *own);
  }
  const joist_status status = write_plain(rows * each, owned, &own->child, error);
  if (status != JOIST_OK) {
    free(own);
    return status;
  }
  own->buffers[0] = NULL;
  own->children[0] = &own->child;
  *array = (struct ArrowArray){.length = (int64_t)rows,
                               .n_buffers = 1,
                               .n_children = 1,
                               .buffers = own->buffers,
                               .children = own->children,
                               .release = release_items,
                               .private_data = own};
  return JOIST_OK;
}
