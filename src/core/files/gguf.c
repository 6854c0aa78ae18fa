/* Reads the header of GGUF files: pairs of metadata, and where tensors lie. */
#include "core/files/gguf.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/bits.h"
#include "core/types/host.h"

enum { PREFIX = 24, NESTED_MOST = 8, ALIGNMENT_MOST = 1 << 20 };

/* Types of values by their codes; those without a dtype are bool, string and array. */
static const joist_dtype value_dtypes[] = {
    JOIST_UI8,  JOIST_I8,  JOIST_UI16,       JOIST_I16,        JOIST_UI32,
    JOIST_I32,  JOIST_F32, JOIST_DTYPE_NONE, JOIST_DTYPE_NONE, JOIST_DTYPE_NONE,
    JOIST_UI64, JOIST_I64, JOIST_F64};
enum { VALUE_TYPES = sizeof value_dtypes / sizeof *value_dtypes };

/* Types of tensors that are dtypes. */
static const struct {
  const char *name;
  uint32_t code;
  joist_dtype dtype;
} plain[] = {{"F32", 0, JOIST_F32},  {"F16", 1, JOIST_F16},   {"I8", 24, JOIST_I8},
             {"I16", 25, JOIST_I16}, {"I32", 26, JOIST_I32},  {"I64", 27, JOIST_I64},
             {"F64", 28, JOIST_F64}, {"BF16", 30, JOIST_BF16}};
enum { PLAIN = sizeof plain / sizeof *plain };

static joist_status bad(const char *field, const char *what, struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_FILE_FIELD, .name = {"GGUF", field, what});
}

static joist_status bad_key(const char *key, const char *what, struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_FILE_FIELD, .name = {"GGUF", "metadata", what},
                    .text = {joist_quote(key)});
}

static joist_status bad_tensor(const struct joist_gguf_tensor *tensor, const char *field,
                               const char *what, struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_FILE_ENTRY, .name = {"GGUF", field, what},
                    .text = {joist_quote(tensor->name)});
}

static joist_status no_memory(struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
}

void joist_gguf_free(struct joist_gguf *result) {
  free(result->tensors);
  free(result->pairs);
  free(result->text);
  *result = (struct joist_gguf){0};
}

joist_dtype joist_gguf_dtype(uint32_t type) {
  return type < VALUE_TYPES ? value_dtypes[type] : JOIST_DTYPE_NONE;
}

const char *joist_gguf_type(const struct joist_gguf_tensor *tensor) {
  if (tensor->block != JOIST_BLOCK_COUNT) return joist_block_facts(tensor->block)->name;
  for (int k = 0; k < PLAIN; k++)
    if (plain[k].code == tensor->code) return plain[k].name;
  return NULL;
}

int joist_gguf_code(joist_dtype dtype) {
  for (int k = 0; k < PLAIN; k++)
    if (plain[k].dtype == dtype) return (int)plain[k].code;
  return -1;
}

double joist_gguf_bits(const struct joist_gguf_tensor *tensor) {
  if (tensor->dtype != JOIST_DTYPE_NONE) return joist_dtype_bits(tensor->dtype);
  if (tensor->block == JOIST_BLOCK_COUNT) return 0;
  const struct joist_block_facts *const facts = joist_block_facts(tensor->block);
  return 8.0 * facts->bytes / facts->elements;
}

/* ---- numbers ---- */

static uint64_t number(const unsigned char *at, size_t bytes, bool big) {
  uint64_t value = 0;
  for (size_t k = 0; k < bytes; k++) value |= (uint64_t)at[big ? bytes - 1 - k : k] << (8 * k);
  return value;
}

/* Where reading is; `cut` tells that it would go on behind the bytes that are there. */
struct parser {
  const unsigned char *bytes;
  size_t length, at;
  uint64_t size;
  bool cut;
  struct joist_gguf *result;
  size_t used; /* bytes of the result's text */
  uint32_t alignment, pair_room, tensor_room;
};

/* Whether so many bytes follow. */
static bool has(struct parser *parser, uint64_t bytes) {
  if (!parser->cut && bytes <= parser->length - parser->at) return true;
  parser->cut = true;
  /* Twice as much as before, so that a long header is read few times. */
  const uint64_t left = parser->size - parser->at;
  if (bytes <= left && parser->result->needed == 0) {
    const uint64_t enough = parser->at + bytes, twice = 2 * (uint64_t)parser->length;
    const uint64_t wanted = enough > twice ? enough : twice;
    parser->result->needed = (size_t)(wanted < parser->size ? wanted : parser->size);
  }
  return false;
}

static bool read_number(struct parser *parser, size_t bytes, uint64_t *value) {
  if (!has(parser, bytes)) return false;
  *value = number(parser->bytes + parser->at, bytes, parser->result->big);
  parser->at += bytes;
  return true;
}

static bool skip_string(struct parser *parser, size_t *start, size_t *length) {
  uint64_t bytes;
  if (!read_number(parser, 8, &bytes) || !has(parser, bytes)) return false;
  *start = parser->at;
  *length = (size_t)bytes;
  parser->at += *length;
  return true;
}

/* A name into the text, which has room for all that are in the header. */
static bool read_name(struct parser *parser, const char **name, bool *has_nul) {
  size_t start, length;
  if (!skip_string(parser, &start, &length)) return false;
  char *const to = parser->result->text + parser->used;
  memcpy(to, parser->bytes + start, length);
  to[length] = '\0';
  *has_nul = memchr(to, '\0', length) != NULL;
  *name = to;
  parser->used += length + 1;
  return true;
}

/* ---- metadata ---- */

static joist_status skip_items(struct parser *parser, const char *key, uint32_t type,
                               uint64_t count, int depth, struct joist_error *error);

static joist_status read_array(struct parser *parser, const char *key, int depth,
                               struct joist_gguf_value *value, struct joist_error *error) {
  uint64_t type, count;
  if (!read_number(parser, 4, &type) || !read_number(parser, 8, &count)) return JOIST_OK;
  *value = (struct joist_gguf_value){(uint32_t)type, true, count, parser->at};
  return skip_items(parser, key, (uint32_t)type, count, depth + 1, error);
}

/* Leaves at once where the bytes end; an item takes some, so that the count is bounded. */
static joist_status skip_items(struct parser *parser, const char *key, uint32_t type,
                               uint64_t count, int depth, struct joist_error *error) {
  if (type >= VALUE_TYPES) return bad_key(key, "has a value of an unknown type", error);
  if (depth > NESTED_MOST) return bad_key(key, "has arrays within arrays, too many", error);
  const joist_dtype dtype = value_dtypes[type];
  if (dtype != JOIST_DTYPE_NONE || type == JOIST_GGUF_BOOL) {
    const size_t size = type == JOIST_GGUF_BOOL ? 1 : joist_dtype_size(dtype);
    if (!has(parser, count > UINT64_MAX / size ? UINT64_MAX : count * size)) return JOIST_OK;
    if (type == JOIST_GGUF_BOOL)
      for (size_t k = 0; k < count; k++)
        if (parser->bytes[parser->at + k] > 1)
          return bad_key(key, "has a bool that is not 0 or 1", error);
    parser->at += (size_t)(count * size);
    return JOIST_OK;
  }
  for (uint64_t k = 0; k < count && !parser->cut; k++) {
    size_t start, length;
    struct joist_gguf_value item;
    if (type == JOIST_GGUF_ARRAY) {
      const joist_status status = read_array(parser, key, depth, &item, error);
      if (status != JOIST_OK) return status;
    } else if (skip_string(parser, &start, &length) &&
               memchr(parser->bytes + start, '\0', length) != NULL) {
      return bad_key(key, "has a string with NUL inside", error);
    }
  }
  return JOIST_OK;
}

static joist_status read_alignment(struct parser *parser, const struct joist_gguf_pair *pair,
                                   struct joist_error *error) {
  if (strcmp(pair->key, "general.alignment") != 0) return JOIST_OK;
  const joist_dtype dtype = joist_gguf_dtype(pair->value.type);
  uint64_t alignment = 0;
  if (dtype == JOIST_UI32 && !pair->value.is_array)
    alignment = number(parser->bytes + pair->value.at, 4, parser->result->big);
  if (alignment == 0 || alignment > ALIGNMENT_MOST || (alignment & (alignment - 1)) != 0)
    return bad_key(pair->key, "is not a power of 2 up to 2^20, of 32 bits", error);
  parser->alignment = (uint32_t)alignment;
  return JOIST_OK;
}

static joist_status read_pair(struct parser *parser, struct joist_error *error) {
  struct joist_gguf *const result = parser->result;
  void *const list = joist_array_grown(result->pairs, sizeof *result->pairs,
                                       (uint32_t)result->pair_count, &parser->pair_room);
  if (list == NULL) return no_memory(error);
  result->pairs = list;
  struct joist_gguf_pair *const pair = &result->pairs[result->pair_count];
  uint64_t type;
  bool has_nul;
  if (!read_name(parser, &pair->key, &has_nul) || !read_number(parser, 4, &type)) return JOIST_OK;
  if (has_nul) return bad_key(pair->key, "has a key with NUL inside", error);
  pair->value = (struct joist_gguf_value){(uint32_t)type, false, 1, parser->at};
  const joist_status status = type == JOIST_GGUF_ARRAY
                                  ? read_array(parser, pair->key, 0, &pair->value, error)
                                  : skip_items(parser, pair->key, (uint32_t)type, 1, 0, error);
  if (status != JOIST_OK || parser->cut) return status;
  result->pair_count++;
  return read_alignment(parser, pair, error);
}

const char *joist_gguf_string(const struct joist_gguf *file, const unsigned char *header,
                              size_t *at, size_t *length) {
  *length = (size_t)number(header + *at, 8, file->big);
  const char *const string = (const char *)header + *at + 8;
  *at += 8 + *length;
  return string;
}

struct joist_gguf_value joist_gguf_array(const struct joist_gguf *file, const unsigned char *header,
                                         size_t *at) {
  struct joist_gguf_value value = {.type = (uint32_t)number(header + *at, 4, file->big),
                                   .is_array = true,
                                   .count = number(header + *at + 4, 8, file->big),
                                   .at = *at + 12};
  const joist_dtype dtype = joist_gguf_dtype(value.type);
  *at = value.at;
  if (dtype != JOIST_DTYPE_NONE || value.type == JOIST_GGUF_BOOL)
    *at += (size_t)value.count * (dtype == JOIST_DTYPE_NONE ? 1 : joist_dtype_size(dtype));
  size_t length;
  for (uint64_t k = 0; dtype == JOIST_DTYPE_NONE && k < value.count; k++) {
    if (value.type == JOIST_GGUF_STRING) (void)joist_gguf_string(file, header, at, &length);
    if (value.type == JOIST_GGUF_ARRAY) (void)joist_gguf_array(file, header, at);
  }
  return value;
}

/* ---- tensors ---- */

/* The bytes by type and shape, where the type is known. */
static joist_status find_type(struct joist_gguf_tensor *tensor, struct joist_error *error) {
  tensor->dtype = JOIST_DTYPE_NONE;
  for (int k = 0; k < PLAIN; k++)
    if (plain[k].code == tensor->code) tensor->dtype = plain[k].dtype;
  tensor->block = joist_block_of_code(tensor->code);
  if (!joist_shape_count(&tensor->shape, &tensor->count))
    return bad_tensor(tensor, "shape", "has more elements than memory can hold", error);
  if (tensor->dtype != JOIST_DTYPE_NONE)
    tensor->bytes = (uint64_t)tensor->count * joist_dtype_size(tensor->dtype);
  if (tensor->block != JOIST_BLOCK_COUNT) {
    const struct joist_block_facts *const facts = joist_block_facts(tensor->block);
    if (tensor->shape.rank == 0 || tensor->shape.extent[0] % facts->elements != 0)
      return bad_tensor(tensor, "shape", "does not have whole blocks along its first dimension",
                        error);
    tensor->bytes = (uint64_t)tensor->count / facts->elements * facts->bytes;
  }
  return JOIST_OK;
}

static joist_status read_tensor(struct parser *parser, struct joist_error *error) {
  struct joist_gguf *const result = parser->result;
  void *const list = joist_array_grown(result->tensors, sizeof *result->tensors,
                                       (uint32_t)result->count, &parser->tensor_room);
  if (list == NULL) return no_memory(error);
  result->tensors = list;
  struct joist_gguf_tensor *const tensor = &result->tensors[result->count];
  uint64_t rank, code;
  bool has_nul;
  *tensor = (struct joist_gguf_tensor){0};
  if (!read_name(parser, &tensor->name, &has_nul) || !read_number(parser, 4, &rank))
    return JOIST_OK;
  if (has_nul) return bad_tensor(tensor, "name", "has NUL inside", error);
  if (rank > JOIST_RANK_MAX)
    return bad_tensor(tensor, "shape", "has more than 32 dimensions", error);
  tensor->shape.rank = (int)rank;
  for (uint64_t d = 0; d < rank; d++) {
    uint64_t extent;
    if (!read_number(parser, 8, &extent)) return JOIST_OK;
    if (extent > INT32_MAX)
      return bad_tensor(tensor, "shape", "has an extent beyond 2^31 - 1", error);
    tensor->shape.extent[d] = (uint32_t)extent;
  }
  if (!read_number(parser, 4, &code) || !read_number(parser, 8, &tensor->start)) return JOIST_OK;
  tensor->code = (uint32_t)code;
  const joist_status status = find_type(tensor, error);
  if (status == JOIST_OK) result->count++;
  return status;
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(const struct joist_gguf_tensor *const *)a)->name,
                (*(const struct joist_gguf_tensor *const *)b)->name);
}

static int by_place(const void *a, const void *b) {
  const struct joist_gguf_tensor *const x = *(const struct joist_gguf_tensor *const *)a;
  const struct joist_gguf_tensor *const y = *(const struct joist_gguf_tensor *const *)b;
  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* empty ones first */
}

static int by_key(const void *a, const void *b) {
  return strcmp(((const struct joist_gguf_pair *)a)->key, ((const struct joist_gguf_pair *)b)->key);
}

static joist_status check_keys(struct joist_gguf *result, struct joist_error *error) {
  const size_t n = result->pair_count;
  if (n < 2) return JOIST_OK;
  struct joist_gguf_pair *const sorted = malloc(n * sizeof *sorted);
  if (sorted == NULL) return no_memory(error);
  memcpy(sorted, result->pairs, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, by_key);
  joist_status status = JOIST_OK;
  for (size_t k = 1; k < n && status == JOIST_OK; k++)
    if (strcmp(sorted[k].key, sorted[k - 1].key) == 0)
      status = bad_key(sorted[k].key, "has a key twice", error);
  free(sorted);
  return status;
}

static joist_status check_places(const struct parser *parser, struct joist_gguf_tensor **sorted,
                                 uint64_t data, struct joist_error *error) {
  const size_t n = parser->result->count;
  uint64_t end = 0; /* of the tensors so far, from the beginning of the data */
  const uint64_t left = parser->size > data ? parser->size - data : 0;
  qsort(sorted, n, sizeof *sorted, by_place);
  for (size_t k = 0; k < n; k++) {
    struct joist_gguf_tensor *const tensor = sorted[k];
    if (tensor->start % parser->alignment != 0)
      return bad_tensor(tensor, "offset", "is not a multiple of the alignment", error);
    if (tensor->start < end) return bad_tensor(tensor, "offset", "overlaps another", error);
    if (tensor->start > left || tensor->bytes > left - tensor->start)
      return bad_tensor(tensor, "offset", "is beyond the end of the file", error);
    if (tensor->dtype == JOIST_DTYPE_NONE && tensor->block == JOIST_BLOCK_COUNT)
      tensor->bytes =
          (k + 1 < n ? joist_smaller(sorted[k + 1]->start, left) : left) - tensor->start;
    end = tensor->start + tensor->bytes;
  }
  /* Empty ones may be said to lie behind the end. */
  for (size_t k = 0; k < n; k++)
    sorted[k]->start = sorted[k]->bytes == 0 ? 0 : sorted[k]->start + data;
  return JOIST_OK;
}

static joist_status check_together(const struct parser *parser, struct joist_error *error) {
  struct joist_gguf *const result = parser->result;
  joist_status status = check_keys(result, error);
  if (status != JOIST_OK || result->count == 0) return status;
  struct joist_gguf_tensor **const sorted = malloc(result->count * sizeof *sorted);
  if (sorted == NULL) return no_memory(error);
  for (size_t k = 0; k < result->count; k++) sorted[k] = &result->tensors[k];
  qsort(sorted, result->count, sizeof *sorted, by_name);
  for (size_t k = 1; k < result->count && status == JOIST_OK; k++)
    if (strcmp(sorted[k]->name, sorted[k - 1]->name) == 0)
      status = bad_tensor(sorted[k], "name", "is there twice", error);
  if (status == JOIST_OK)
    status = check_places(parser, sorted, joist_round_up(parser->at, parser->alignment), error);
  free(sorted);
  return status;
}

/* ---- the header ---- */

static joist_status read_prefix(struct parser *parser, uint64_t *tensors, uint64_t *pairs,
                                struct joist_error *error) {
  struct joist_gguf *const result = parser->result;
  if (parser->size < PREFIX) return bad("header", "is cut off", error);
  if (!has(parser, PREFIX)) return JOIST_OK;
  if (memcmp(parser->bytes, "GGUF", 4) != 0) return bad("magic number", "is not GGUF", error);
  parser->at = 4;
  const uint64_t version = number(parser->bytes + 4, 4, false);
  result->big = (version & 0xffff) == 0;
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  result->swapped = result->big != (first == 0);
  uint64_t as_written = 0;
  (void)read_number(parser, 4, &as_written);
  result->version = (uint32_t)as_written;
  if (result->version != 2 && result->version != 3) return bad("version", "is not 2 or 3", error);
  (void)read_number(parser, 8, tensors);
  (void)read_number(parser, 8, pairs);
  return JOIST_OK;
}

joist_status joist_gguf_parse(const unsigned char *header, size_t length, uint64_t size,
                              struct joist_gguf *result, struct joist_error *error) {
  *result = (struct joist_gguf){0};
  struct parser parser = {.bytes = header,
                          .length = length,
                          .size = size,
                          .result = result,
                          .alignment = JOIST_GGUF_ALIGNMENT};
  uint64_t tensors = 0, pairs = 0;
  result->text = malloc(length + 1);
  if (result->text == NULL) return no_memory(error);
  joist_status status = read_prefix(&parser, &tensors, &pairs, error);
  for (uint64_t k = 0; k < pairs && status == JOIST_OK && !parser.cut; k++)
    status = read_pair(&parser, error);
  for (uint64_t k = 0; k < tensors && status == JOIST_OK && !parser.cut; k++)
    status = read_tensor(&parser, error);
  if (status != JOIST_OK) return status;
  if (parser.cut) return result->needed > 0 ? JOIST_OK : bad("header", "is cut off", error);
  return check_together(&parser, error);
}
