/* Types of Arrow as dtypes, and dtypes as types of Arrow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/arrow.h"
#include "core/files/json.h"
#include "core/types/error.h"

static const char tensor_name[] = "arrow.fixed_shape_tensor";
static const char name_key[] = "ARROW:extension:name";
static const char metadata_key[] = "ARROW:extension:metadata";

/* ---- reading ---- */

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static const char *type_name(const char *format) {
  static const struct {
    const char *format, *name;
  } types[] = {
      {"n", "null"},
      {"z", "binary"},
      {"Z", "large_binary"},
      {"vz", "binary_view"},
      {"u", "utf8"},
      {"U", "large_utf8"},
      {"vu", "utf8_view"},
      {"d:", "decimal"},
      {"w:", "fixed_size_binary"},
      {"tdD", "date32"},
      {"tdm", "date64"},
      {"tts", "time32"},
      {"ttm", "time32"},
      {"ttu", "time64"},
      {"ttn", "time64"},
      {"ts", "timestamp"},
      {"tD", "duration"},
      {"ti", "interval"},
      {"+w:", "fixed_size_list of no numbers"},
      {"+l", "list"},
      {"+L", "large_list"},
      {"+vl", "list_view"},
      {"+vL", "large_list_view"},
      {"+s", "struct"},
      {"+m", "map"},
      {"+ud", "dense_union"},
      {"+us", "sparse_union"},
      {"+r", "run_end_encoded"},
  };
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    if (begins(format, types[k].format)) return types[k].name;
  return "unknown";
}

/* What others wrote, without characters that would spoil a message. */
static struct joist_quote quoted(const char *text) {
  struct joist_quote quote = joist_quote(text);
  for (char *c = quote.bytes; *c != '\0'; c++)
    if (*c < ' ' || *c > '~') *c = '?';
  return quote;
}

static joist_status no_dtype(const char *name, const char *format, struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_ARROW_TYPE, .name = {name}, .text = {quoted(format)});
}

static joist_status check_schema(const struct ArrowSchema *schema, struct joist_error *error) {
  if (schema == NULL || schema->release == NULL)
    return JOIST_FAIL(error, JOIST_E_ARROW_RELEASED, .name = {"schema"});
  if (schema->format == NULL) return JOIST_FAIL(error, JOIST_E_ARROW_MISSING, .name = {"format"});
  if (schema->dictionary != NULL) return no_dtype("dictionary", schema->format, error);
  return JOIST_OK;
}

/* A number of bytes that is written before them; false for a negative one. */
static bool read_length(const char **at, size_t *length) {
  int32_t number;
  memcpy(&number, *at, sizeof number);
  *at += sizeof number;
  *length = (size_t)number;
  return number >= 0;
}

/* The value of a key: a number of pairs, each of two lengths with bytes behind them. */
static joist_status find_metadata(const char *metadata, const char *key, const char **value,
                                  size_t *length, struct joist_error *error) {
  *value = NULL;
  if (metadata == NULL) return JOIST_OK;
  size_t pairs, key_length;
  bool valid = read_length(&metadata, &pairs);
  for (; valid && pairs > 0 && *value == NULL; pairs--) {
    valid = read_length(&metadata, &key_length);
    if (!valid) break;
    const bool found = key_length == strlen(key) && memcmp(metadata, key, key_length) == 0;
    metadata += key_length;
    valid = read_length(&metadata, length);
    if (!valid) break;
    if (found) *value = metadata;
    metadata += *length;
  }
  if (!valid)
    return JOIST_FAIL(error, JOIST_E_ARROW_METADATA, .name = {"a negative length in `metadata`"});
  return JOIST_OK;
}

/* Numbers in brackets, as many as there may be; -1 if there is something else. */
static int read_numbers(struct joist_json *json, uint64_t most, uint32_t numbers[JOIST_RANK_MAX]) {
  int count = 0;
  if (!joist_json_take(json, '[')) return -1;
  if (joist_json_take(json, ']')) return 0;
  do {
    uint64_t number;
    if (count == JOIST_RANK_MAX || !joist_json_whole(json, &number) || number > most) return -1;
    numbers[count++] = (uint32_t)number;
  } while (joist_json_take(json, ','));
  return joist_json_take(json, ']') ? count : -1;
}

static bool skip_names(struct joist_json *json, char *buffer) {
  size_t length;
  if (!joist_json_take(json, '[')) return false;
  if (joist_json_take(json, ']')) return true;
  do {
    if (!joist_json_string(json, buffer, &length)) return false;
  } while (joist_json_take(json, ','));
  return joist_json_take(json, ']');
}

enum { METADATA_MOST = 8191 }; /* bytes: 32 dimensions with their names */

/* Returns what is wrong with it, or NULL. */
static const char *read_tensor_metadata(const char *text, size_t length,
                                        struct joist_arrow_type *type) {
  if (length > METADATA_MOST) return "more than 8191 bytes";
  char buffer[METADATA_MOST + 1];
  struct joist_json json = {text, text + length};
  int rank = -1, permuted = -1;
  uint32_t order[JOIST_RANK_MAX];
  if (!joist_json_take(&json, '{')) return "no JSON object";
  if (!joist_json_take(&json, '}')) {
    do {
      size_t key;
      if (!joist_json_string(&json, buffer, &key) || !joist_json_take(&json, ':'))
        return "no JSON object";
      if (strcmp(buffer, "shape") == 0) {
        if ((rank = read_numbers(&json, INT32_MAX, type->item.extent)) < 0)
          return "an invalid `shape`";
      } else if (strcmp(buffer, "permutation") == 0) {
        if ((permuted = read_numbers(&json, JOIST_RANK_MAX - 1, order)) < 0)
          return "an invalid `permutation`";
      } else if (strcmp(buffer, "dim_names") == 0) {
        if (!skip_names(&json, buffer)) return "invalid `dim_names`";
      } else {
        return "a key besides `shape`, `permutation` and `dim_names`";
      }
    } while (joist_json_take(&json, ','));
    if (!joist_json_take(&json, '}')) return "no JSON object";
  }
  if (!joist_json_is_done(&json)) return "no JSON object";
  if (rank < 0) return "no `shape`";
  if (rank >= JOIST_RANK_MAX) return "a `shape` of too many dimensions";
  type->item.rank = rank;
  if (permuted >= 0 && permuted != rank) return "a `permutation` that does not fit `shape`";
  uint32_t named = 0;
  for (int d = 0; d < rank; d++) {
    type->permutation[d] = permuted < 0 ? d : (int)order[d];
    named |= UINT32_C(1) << type->permutation[d];
  }
  if (named != (UINT32_C(1) << rank) - 1) return "a `permutation` that does not fit `shape`";
  return NULL;
}

/* Numbers of another extension type than the tensors' mean what only its maker knows: they can
 * be codes or indices, as in a dictionary. */
static joist_status find_extension(const struct ArrowSchema *schema, bool *tensors,
                                   struct joist_error *error) {
  const char *name;
  size_t length;
  *tensors = false;
  const joist_status status = find_metadata(schema->metadata, name_key, &name, &length, error);
  if (status != JOIST_OK || name == NULL) return status;
  *tensors = length == strlen(tensor_name) && memcmp(name, tensor_name, length) == 0;
  if (*tensors) return JOIST_OK;
  char text[80];
  snprintf(text, sizeof text, "%.*s", length < sizeof text ? (int)length : (int)sizeof text, name);
  return no_dtype("extension", text, error);
}

static joist_status read_list(const struct ArrowSchema *schema, struct joist_arrow_type *type,
                              struct joist_error *error) {
  struct joist_json size = {schema->format + 3, schema->format + strlen(schema->format)};
  uint64_t each;
  if (!joist_json_whole(&size, &each) || !joist_json_is_done(&size) || each > INT32_MAX)
    return JOIST_FAIL(error, JOIST_E_ARROW_METADATA,
                      .name = {"`format` with no size of its lists"});
  if (schema->n_children != 1)
    return JOIST_FAIL(error, JOIST_E_ARROW_FIELD, .name = {"n_children", "1"},
                      .number = {(double)schema->n_children});
  if (schema->children == NULL || schema->children[0] == NULL)
    return JOIST_FAIL(error, JOIST_E_ARROW_MISSING, .name = {"children"});
  const struct ArrowSchema *const child = schema->children[0];
  joist_status status = check_schema(child, error);
  if (status != JOIST_OK) return status;
  type->dtype = joist_dtype_of_code(child->format, JOIST_FORMAT_ARROW);
  if (type->dtype == JOIST_DTYPE_NONE) return no_dtype(type_name("+w:"), child->format, error);
  bool tensors;
  status = find_extension(child, &tensors, error);
  if (status != JOIST_OK) return status;
  type->has_items = true;
  type->each = (size_t)each;
  type->item = (struct joist_shape){.rank = 1, .extent = {(uint32_t)each}};
  return JOIST_OK;
}

static joist_status read_extension(const struct ArrowSchema *schema, struct joist_arrow_type *type,
                                   struct joist_error *error) {
  const char *text;
  size_t text_length;
  bool tensors;
  joist_status status = find_extension(schema, &tensors, error);
  if (status != JOIST_OK || !tensors) return status;
  status = find_metadata(schema->metadata, metadata_key, &text, &text_length, error);
  if (status != JOIST_OK) return status;
  const char *wrong = text == NULL ? "no metadata" : read_tensor_metadata(text, text_length, type);
  size_t count;
  if (wrong == NULL && (!joist_shape_count(&type->item, &count) || count != type->each))
    wrong = "a `shape` that does not fit the size of its lists";
  if (wrong != NULL) return JOIST_FAIL(error, JOIST_E_ARROW_METADATA, .name = {wrong});
  return JOIST_OK;
}

joist_status joist_arrow_read_schema(const struct ArrowSchema *schema,
                                     struct joist_arrow_type *type, struct joist_error *error) {
  *type = (struct joist_arrow_type){.each = 1};
  joist_status status = check_schema(schema, error);
  if (status != JOIST_OK) return status;
  if (begins(schema->format, "+w:")) {
    status = read_list(schema, type, error);
    return status != JOIST_OK ? status : read_extension(schema, type, error);
  }
  type->dtype = joist_dtype_of_code(schema->format, JOIST_FORMAT_ARROW);
  if (type->dtype == JOIST_DTYPE_NONE)
    return no_dtype(type_name(schema->format), schema->format, error);
  if (schema->n_children != 0)
    return JOIST_FAIL(error, JOIST_E_ARROW_FIELD, .name = {"n_children", "0"},
                      .number = {(double)schema->n_children});
  bool tensors;
  return find_extension(schema, &tensors, error);
}

/* ---- writing ---- */

/* Owned by a schema with items. The child schema is part of this and owns nothing itself. */
struct item_schema {
  char format[32];
  struct ArrowSchema child, *children[1];
  char metadata[];
};

static void release_schema(struct ArrowSchema *schema) {
  struct item_schema *const owned = schema->private_data;
  if (owned != NULL && owned->child.release != NULL) owned->child.release(&owned->child);
  free(owned);
  schema->release = NULL;
}

static struct ArrowSchema plain_schema(joist_dtype dtype, const char *name) {
  return (struct ArrowSchema){.format = joist_dtype_code(dtype, JOIST_FORMAT_ARROW),
                              .name = name,
                              .flags = ARROW_FLAG_NULLABLE,
                              .release = release_schema};
}

static char *put(char *to, const char *bytes, size_t length) {
  const int32_t number = (int32_t)length;
  memcpy(to, &number, sizeof number);
  memcpy(to + sizeof number, bytes, length);
  return to + sizeof number + length;
}

joist_status joist_arrow_check_dtype(joist_dtype dtype, struct joist_error *error) {
  if (joist_dtype_code(dtype, JOIST_FORMAT_ARROW) != NULL) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_ARROW_NO_TYPE, .type = {{dtype, false}});
}

joist_status joist_arrow_write_schema(joist_dtype dtype, const struct joist_shape *item,
                                      struct ArrowSchema *schema, struct joist_error *error) {
  const joist_status status = joist_arrow_check_dtype(dtype, error);
  if (status != JOIST_OK) return status;
  *schema = plain_schema(dtype, "");
  if (item == NULL) return JOIST_OK;
  char text[16 + 12 * JOIST_RANK_MAX] = "{\"shape\":[";
  size_t length = strlen(text), count;
  if (!joist_shape_count(item, &count) || count > INT32_MAX)
    return JOIST_FAIL(error, JOIST_E_ELEMENT_LIMIT, .shape = {*item});
  for (int d = 0; d < item->rank; d++)
    length += (size_t)snprintf(text + length, sizeof text - length, d == 0 ? "%lu" : ",%lu",
                               (unsigned long)item->extent[d]);
  length += (size_t)snprintf(text + length, sizeof text - length, "]}");
  const size_t bytes =
      5 * sizeof(int32_t) + strlen(name_key) + strlen(tensor_name) + strlen(metadata_key) + length;
  struct item_schema *const owned = malloc(sizeof *owned + bytes);
  if (owned == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  snprintf(owned->format, sizeof owned->format, "+w:%lu", (unsigned long)count);
  owned->child = plain_schema(dtype, "item");
  owned->children[0] = &owned->child;
  const int32_t pairs = 2;
  memcpy(owned->metadata, &pairs, sizeof pairs);
  char *to = put(owned->metadata + sizeof pairs, name_key, strlen(name_key));
  to = put(to, tensor_name, strlen(tensor_name));
  to = put(to, metadata_key, strlen(metadata_key));
  put(to, text, length);
  schema->format = owned->format;
  schema->metadata = owned->metadata;
  schema->n_children = 1;
  schema->children = owned->children;
  schema->private_data = owned;
  return JOIST_OK;
}
