/* Reads and writes the header of safetensors files: a length and a JSON object. */
#include "core/files/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/bits.h"
#include "core/base/text.h"
#include "core/files/json.h"
#include "core/types/host.h"

/* The library that defined the format reads no longer headers. It lets elements begin at a multiple
 * of 8; where a line of the caches begins, they are copied faster, and can be mapped. */
enum { HEADER_MOST = 100000000, ALIGNMENT = 64 };

static const char metadata_name[] = "__metadata__";

/* Bits of an element that shares its bytes with others, or 0. The format packs floats of 4 and 6
 * bits; it says how many bits an element has and that a tensor fills whole bytes, but not which
 * bits come first (https://github.com/safetensors/safetensors/pull/611). For F4, what PyTorch
 * writes is `float4_e2m1fn_x2`, which has the first of two elements in the low bits, as CUDA's
 * `__nv_fp4x2_e2m1`. For 6 bits the same order is assumed: the order of the bits of one number,
 * little end first. */
static unsigned packed_bits(joist_dtype dtype) {
  return joist_has_unused_bits(dtype) ? joist_dtype_bits(dtype) : 0;
}

static joist_status bad(const char *field, const char *what, struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_FILE_FIELD, .name = {"safetensors", field, what});
}

static joist_status bad_entry(const struct joist_safetensor *tensor, const char *field,
                              const char *what, const char *text, struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_FILE_ENTRY, .name = {"safetensors", field, what},
                    .text = {joist_quote(tensor->name), joist_quote(text)});
}

static joist_status no_memory(struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
}

static bool is_big_endian(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 0;
}

joist_status joist_safetensors_length(const unsigned char *bytes, size_t count, uint64_t size,
                                      size_t *length, struct joist_error *error) {
  if (count < JOIST_SAFETENSORS_PREFIX || size < JOIST_SAFETENSORS_PREFIX)
    return bad("header length", "is cut off", error);
  uint64_t header = 0;
  for (int k = 0; k < JOIST_SAFETENSORS_PREFIX; k++) header |= (uint64_t)bytes[k] << (8 * k);
  if (header > HEADER_MOST) return bad("header length", "is beyond 100,000,000 bytes", error);
  if (header > size - JOIST_SAFETENSORS_PREFIX)
    return bad("header length", "is more than the file has", error);
  *length = JOIST_SAFETENSORS_PREFIX + (size_t)header;
  return JOIST_OK;
}

void joist_safetensors_free(struct joist_safetensors *result) {
  free(result->tensors);
  free(result->metadata);
  free(result->text);
  *result = (struct joist_safetensors){0};
}

/* ---- reading ---- */

struct parser {
  struct joist_json json;
  struct joist_safetensors *result;
  size_t used; /* bytes of the result's text */
  uint32_t tensor_room, metadata_room;
  uint64_t data; /* where the data begins */
};

/* A string into the text, which has room for all that are in the header. */
static bool read_string(struct parser *parser, const char **string) {
  size_t length;
  char *const to = parser->result->text + parser->used;
  if (!joist_json_string(&parser->json, to, &length)) return false;
  *string = to;
  parser->used += length + 1;
  return true;
}

static joist_status read_metadata(struct parser *parser, struct joist_error *error) {
  struct joist_safetensors *const result = parser->result;
  if (!joist_json_take(&parser->json, '{')) return bad(metadata_name, "is not an object", error);
  if (joist_json_take(&parser->json, '}')) return JOIST_OK;
  do {
    void *const list = joist_array_grown(result->metadata, sizeof *result->metadata,
                                         (uint32_t)result->metadata_count, &parser->metadata_room);
    if (list == NULL) return no_memory(error);
    result->metadata = list;
    struct joist_safetensors_pair *const pair = &result->metadata[result->metadata_count];
    if (!read_string(parser, &pair->key) || !joist_json_take(&parser->json, ':') ||
        !read_string(parser, &pair->value))
      return bad(metadata_name, "has an entry that is not a string", error);
    result->metadata_count++;
  } while (joist_json_take(&parser->json, ','));
  return joist_json_take(&parser->json, '}') ? JOIST_OK : bad(metadata_name, "has no end", error);
}

static joist_status read_type(struct parser *parser, struct joist_safetensor *tensor,
                              struct joist_error *error) {
  if (!read_string(parser, &tensor->type))
    return bad_entry(tensor, "dtype", "is not a string", "", error);
  const joist_dtype dtype = joist_dtype_of_code(tensor->type, JOIST_FORMAT_SAFETENSORS);
  tensor->elements.dtype = dtype;
  if (dtype != JOIST_DTYPE_NONE) tensor->elements.packed = packed_bits(dtype);
  return JOIST_OK;
}

/* [2,3]; what no tensor can have is found later, with the type. */
static joist_status read_shape(struct parser *parser, struct joist_safetensor *tensor,
                               struct joist_error *error) {
  struct joist_shape *const shape = &tensor->elements.shape;
  struct joist_json *const json = &parser->json;
  if (!joist_json_take(json, '[')) return bad_entry(tensor, "shape", "is not an array", "", error);
  if (joist_json_take(json, ']')) return JOIST_OK;
  do {
    uint64_t extent;
    if (!joist_json_whole(json, &extent))
      return bad_entry(tensor, "shape", "has an extent that is not a whole number", "", error);
    if (extent > INT32_MAX)
      return bad_entry(tensor, "shape", "has an extent beyond 2^31 - 1", "", error);
    if (shape->rank == JOIST_RANK_MAX)
      return bad_entry(tensor, "shape", "has more than 32 dimensions", "", error);
    shape->extent[shape->rank++] = (uint32_t)extent;
  } while (joist_json_take(json, ','));
  return joist_json_take(json, ']') ? JOIST_OK
                                    : bad_entry(tensor, "shape", "is not an array", "", error);
}

static joist_status read_offsets(struct parser *parser, struct joist_safetensor *tensor,
                                 struct joist_error *error) {
  struct joist_json *const json = &parser->json;
  uint64_t begin, end;
  if (!joist_json_take(json, '[') || !joist_json_whole(json, &begin) ||
      !joist_json_take(json, ',') || !joist_json_whole(json, &end) || !joist_json_take(json, ']'))
    return bad_entry(tensor, "data_offsets", "are not two whole numbers", "", error);
  if (end < begin) return bad_entry(tensor, "data_offsets", "go backwards", "", error);
  if (begin > UINT64_MAX - parser->data)
    return bad_entry(tensor, "data_offsets", "are beyond the end of the file", "", error);
  tensor->elements.start = parser->data + begin;
  tensor->bytes = end - begin;
  return JOIST_OK;
}

/* As many bytes as the type and the shape say; of a type that is not known, the same number for
 * each element, or any number where that is not whole. */
static joist_status check_bytes(struct joist_safetensor *tensor, struct joist_error *error) {
  struct joist_elements *const elements = &tensor->elements;
  if (!joist_shape_count(&elements->shape, &elements->count))
    return bad_entry(tensor, "shape", "has more elements than memory can hold", "", error);
  const size_t count = elements->count;
  if (elements->dtype == JOIST_DTYPE_NONE) {
    if (count > 0 && tensor->bytes % count == 0 && tensor->bytes / count <= INT32_MAX)
      elements->unit = (size_t)(tensor->bytes / count);
    return JOIST_OK;
  }
  if (count % 8 * elements->packed % 8 != 0 || joist_elements_bytes(elements) != tensor->bytes)
    return bad_entry(tensor, "data_offsets", "do not fit its dtype and shape", "", error);
  return JOIST_OK;
}

static const char *const fields[] = {"dtype", "shape", "data_offsets"};
enum { FIELDS = sizeof fields / sizeof *fields };

static joist_status read_field(int field, struct parser *parser, struct joist_safetensor *tensor,
                               struct joist_error *error) {
  return field == 0   ? read_type(parser, tensor, error)
         : field == 1 ? read_shape(parser, tensor, error)
                      : read_offsets(parser, tensor, error);
}

static joist_status read_tensor(struct parser *parser, struct joist_safetensor *tensor,
                                struct joist_error *error) {
  bool found[FIELDS] = {false};
  if (!joist_json_take(&parser->json, '{'))
    return bad_entry(tensor, "entry", "is not an object", "", error);
  if (!joist_json_take(&parser->json, '}')) {
    do {
      const char *name;
      int field = 0;
      if (!read_string(parser, &name) || !joist_json_take(&parser->json, ':'))
        return bad_entry(tensor, "entry", "is not an object", "", error);
      while (field < FIELDS && strcmp(name, fields[field]) != 0) field++;
      if (field == FIELDS)
        return bad_entry(tensor, "entry", "has a field unknown to the format", name, error);
      if (found[field]) return bad_entry(tensor, fields[field], "is there twice", "", error);
      found[field] = true;
      const joist_status status = read_field(field, parser, tensor, error);
      if (status != JOIST_OK) return status;
    } while (joist_json_take(&parser->json, ','));
    if (!joist_json_take(&parser->json, '}'))
      return bad_entry(tensor, "entry", "is not an object", "", error);
  }
  for (int field = 0; field < FIELDS; field++)
    if (!found[field]) return bad_entry(tensor, fields[field], "is missing", "", error);
  return check_bytes(tensor, error);
}

static joist_status read_entry(struct parser *parser, bool *has_metadata,
                               struct joist_error *error) {
  struct joist_safetensors *const result = parser->result;
  const char *name;
  if (!read_string(parser, &name) || !joist_json_take(&parser->json, ':'))
    return bad("header", "is not a JSON object", error);
  if (strcmp(name, metadata_name) == 0) {
    if (*has_metadata) return bad(metadata_name, "is there twice", error);
    *has_metadata = true;
    return read_metadata(parser, error);
  }
  void *const list = joist_array_grown(result->tensors, sizeof *result->tensors,
                                       (uint32_t)result->count, &parser->tensor_room);
  if (list == NULL) return no_memory(error);
  result->tensors = list;
  struct joist_safetensor *const tensor = &result->tensors[result->count];
  *tensor = (struct joist_safetensor){
      .name = name,
      .elements = {.dtype = JOIST_DTYPE_NONE, .swapped = is_big_endian(), .c_order = true}};
  const joist_status status = read_tensor(parser, tensor, error);
  if (status == JOIST_OK) result->count++;
  return status;
}

static joist_status read_entries(struct parser *parser, struct joist_error *error) {
  bool has_metadata = false;
  if (!joist_json_take(&parser->json, '{')) return bad("header", "is not a JSON object", error);
  if (!joist_json_take(&parser->json, '}')) {
    do {
      const joist_status status = read_entry(parser, &has_metadata, error);
      if (status != JOIST_OK) return status;
    } while (joist_json_take(&parser->json, ','));
    if (!joist_json_take(&parser->json, '}')) return bad("header", "is not a JSON object", error);
  }
  return joist_json_is_done(&parser->json) ? JOIST_OK
                                           : bad("header", "goes on behind its object", error);
}

/* ---- checks of all tensors together ---- */

static int by_name(const void *a, const void *b) {
  const struct joist_safetensor *const *const x = a, *const *const y = b;
  return strcmp((*x)->name, (*y)->name);
}

/* Those of no bytes first where several begin at one place. */
static int by_place(const void *a, const void *b) {
  const struct joist_safetensor *const *const x = a, *const *const y = b;
  const uint64_t left = (*x)->elements.start, right = (*y)->elements.start;
  if (left != right) return left < right ? -1 : 1;
  return ((*x)->bytes > (*y)->bytes) - ((*x)->bytes < (*y)->bytes);
}

static int by_key(const void *a, const void *b) {
  const struct joist_safetensors_pair *const x = a, *const y = b;
  return strcmp(x->key, y->key);
}

static joist_status check_together(const struct joist_safetensors *result, uint64_t data,
                                   uint64_t size, struct joist_error *error) {
  if (result->count == 0)
    return data == size ? JOIST_OK : bad("data", "belongs to no tensor", error);
  const struct joist_safetensor **const sorted = malloc(result->count * sizeof *sorted);
  if (sorted == NULL) return no_memory(error);
  for (size_t k = 0; k < result->count; k++) sorted[k] = &result->tensors[k];
  joist_status status = JOIST_OK;
  qsort(sorted, result->count, sizeof *sorted, by_name);
  for (size_t k = 1; k < result->count && status == JOIST_OK; k++)
    if (strcmp(sorted[k]->name, sorted[k - 1]->name) == 0)
      status = bad_entry(sorted[k], "name", "is there twice", "", error);
  qsort(sorted, result->count, sizeof *sorted, by_place);
  uint64_t place = data;
  for (size_t k = 0; k < result->count && status == JOIST_OK; k++) {
    const uint64_t start = sorted[k]->elements.start;
    if (start != place)
      status = bad_entry(sorted[k], "data_offsets",
                         start < place ? "overlap those of another" : "leave a gap", "", error);
    else if (sorted[k]->bytes > size - place)
      status = bad_entry(sorted[k], "data_offsets", "are beyond the end of the file", "", error);
    place += sorted[k]->bytes;
  }
  free(sorted);
  if (status == JOIST_OK && place != size) status = bad("data", "belongs to no tensor", error);
  return status;
}

static joist_status check_keys(struct joist_safetensors *result, struct joist_error *error) {
  const size_t n = result->metadata_count;
  if (n < 2) return JOIST_OK;
  struct joist_safetensors_pair *const sorted = malloc(n * sizeof *sorted);
  if (sorted == NULL) return no_memory(error);
  memcpy(sorted, result->metadata, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, by_key);
  bool twice = false;
  for (size_t k = 1; k < n; k++) twice = twice || strcmp(sorted[k].key, sorted[k - 1].key) == 0;
  free(sorted);
  return twice ? bad(metadata_name, "has a key twice", error) : JOIST_OK;
}

joist_status joist_safetensors_parse(const unsigned char *header, size_t length, uint64_t size,
                                     struct joist_safetensors *result, struct joist_error *error) {
  *result = (struct joist_safetensors){0};
  size_t wanted = 0;
  joist_status status = joist_safetensors_length(header, length, size, &wanted, error);
  if (status != JOIST_OK) return status;
  if (wanted != length) return bad("header length", "is more than the file has", error);
  result->text = malloc(length + 1);
  if (result->text == NULL) return no_memory(error);
  const char *const bytes = (const char *)header;
  struct parser parser = {
      .json = {bytes + JOIST_SAFETENSORS_PREFIX, bytes + length}, .result = result, .data = length};
  status = read_entries(&parser, error);
  if (status == JOIST_OK) status = check_keys(result, error);
  return status == JOIST_OK ? check_together(result, length, size, error) : status;
}

/* ---- writing ---- */

static void add_string(struct joist_text *text, const char *string) {
  joist_text_add(text, "\"");
  for (const char *c = string; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      joist_text_add(text, "\\%c", *c);
    else if ((unsigned char)*c < 0x20)
      joist_text_add(text, "\\u%04x", (unsigned)*c);
    else
      joist_text_add(text, "%c", *c);
  }
  joist_text_add(text, "\"");
}

static void add_tensor(struct joist_text *text, const struct joist_safetensor *tensor) {
  const struct joist_shape *const shape = &tensor->elements.shape;
  add_string(text, tensor->name);
  joist_text_add(text, ":{\"dtype\":\"%s\",\"shape\":[", tensor->type);
  for (int d = 0; d < shape->rank; d++)
    joist_text_add(text, "%s%lu", d > 0 ? "," : "", (unsigned long)shape->extent[d]);
  const unsigned long long start = tensor->elements.start, bytes = tensor->bytes;
  joist_text_add(text, "],\"data_offsets\":[%llu,%llu]}", start, start + bytes);
}

/* Places behind each other, elements of 8 bytes first. */
static void place_tensors(struct joist_safetensor *tensors, size_t count, size_t *order) {
  uint64_t place = 0;
  size_t done = 0;
  for (size_t size = 16; size > 0; size /= 2)
    for (size_t k = 0; k < count; k++) {
      if (joist_dtype_size(tensors[k].elements.dtype) != size) continue;
      tensors[k].elements.start = place;
      place += tensors[k].bytes;
      order[done++] = k;
    }
}

joist_status joist_safetensors_format(struct joist_safetensor *tensors, size_t count,
                                      const struct joist_safetensors_pair *metadata,
                                      size_t metadata_count, size_t *order, char **header,
                                      size_t *length, struct joist_error *error) {
  for (size_t k = 0; k < count; k++) {
    struct joist_elements *const elements = &tensors[k].elements;
    const joist_dtype dtype = elements->dtype;
    tensors[k].type = joist_dtype_code(dtype, JOIST_FORMAT_SAFETENSORS);
    if (tensors[k].type == NULL)
      return JOIST_FAIL(error, JOIST_E_FILE_NO_TYPE, .name = {"safetensors"},
                        .type = {{dtype, false}});
    if (!joist_shape_count(&elements->shape, &elements->count))
      return JOIST_FAIL(error, JOIST_E_ELEMENT_LIMIT, .shape = {elements->shape});
    elements->swapped = is_big_endian();
    elements->c_order = true;
    elements->packed = packed_bits(dtype);
    if (elements->count % 8 * elements->packed % 8 != 0)
      return JOIST_FAIL(error, JOIST_E_FILE_PART_OF_BYTE, .name = {"safetensors"},
                        .type = {{dtype, false}}, .text = {joist_quote(tensors[k].name)},
                        .shape = {elements->shape}, .count = {elements->packed == 4 ? 2 : 4});
    tensors[k].bytes = joist_elements_bytes(elements);
  }
  place_tensors(tensors, count, order);
  struct joist_text text = {0};
  joist_text_add(&text, "%8s{", "");
  if (metadata_count > 0) {
    joist_text_add(&text, "\"%s\":{", metadata_name);
    for (size_t k = 0; k < metadata_count; k++) {
      if (k > 0) joist_text_add(&text, ",");
      add_string(&text, metadata[k].key);
      joist_text_add(&text, ":");
      add_string(&text, metadata[k].value);
    }
    joist_text_add(&text, "}%s", count > 0 ? "," : "");
  }
  for (size_t k = 0; k < count; k++) {
    if (k > 0) joist_text_add(&text, ",");
    add_tensor(&text, &tensors[k]);
  }
  joist_text_add(&text, "}");
  while (!text.failed && text.length % ALIGNMENT != 0) joist_text_add(&text, " ");
  if (text.failed) {
    joist_text_free(&text);
    return no_memory(error);
  }
  if (text.length - JOIST_SAFETENSORS_PREFIX > HEADER_MOST) {
    joist_text_free(&text);
    return bad("header length", "would be beyond 100,000,000 bytes", error);
  }
  const uint64_t bytes = text.length - JOIST_SAFETENSORS_PREFIX;
  for (int k = 0; k < JOIST_SAFETENSORS_PREFIX; k++)
    text.data[k] = (char)(unsigned char)(bytes >> (8 * k) & 0xff);
  *header = text.data;
  *length = text.length;
  return JOIST_OK;
}
