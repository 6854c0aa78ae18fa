/* Arrow's structures: every type that there is, nulls and offsets bit by bit, rows that are
 * tensors, and what a hostile library could put into each field. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/exchange/arrow.h"
#include "core/types/error.h"

#include "check.h"

static int released;

static void release_schema(struct ArrowSchema *schema) {
  released++;
  schema->release = NULL;
}
static void release_array(struct ArrowArray *array) {
  released++;
  array->release = NULL;
}

static struct ArrowSchema schema_of(const char *format) {
  return (struct ArrowSchema){.format = format, .release = release_schema};
}

static joist_error_code schema_code(const struct ArrowSchema *schema) {
  struct joist_arrow_type type;
  struct joist_error error;
  return joist_arrow_read_schema(schema, &type, &error) == JOIST_OK ? JOIST_E_COUNT : error.code;
}

/* The letters of the specification. */
static void test_formats(void) {
  static const struct {
    const char *format;
    joist_dtype dtype;
  } numbers[] = {{"b", JOIST_BOOL}, {"c", JOIST_I8},  {"C", JOIST_UI8},  {"s", JOIST_I16},
                 {"S", JOIST_UI16}, {"i", JOIST_I32}, {"I", JOIST_UI32}, {"l", JOIST_I64},
                 {"L", JOIST_UI64}, {"e", JOIST_F16}, {"f", JOIST_F32},  {"g", JOIST_F64}};
  bool known[JOIST_DTYPE_COUNT] = {false};
  struct joist_arrow_type type;
  struct joist_error error;
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    struct ArrowSchema schema = schema_of(numbers[k].format), made;
    CHECK(joist_arrow_read_schema(&schema, &type, &error) == JOIST_OK);
    CHECK(type.dtype == numbers[k].dtype && !type.has_items && type.each == 1);
    known[numbers[k].dtype] = true;
    CHECK(joist_arrow_write_schema(numbers[k].dtype, NULL, &made, &error) == JOIST_OK);
    CHECK_STR(made.format, numbers[k].format);
    made.release(&made);
    CHECK(made.release == NULL);
  }
  for (int dtype = 0; dtype < JOIST_DTYPE_COUNT; dtype++) {
    const joist_status status = joist_arrow_check_dtype((joist_dtype)dtype, &error);
    CHECK(status == (known[dtype] ? JOIST_OK : JOIST_ERROR_DTYPE));
    if (!known[dtype]) CHECK(error.code == JOIST_E_ARROW_NO_TYPE);
  }
  static const char *const others[][2] = {{"n", "null"},
                                          {"u", "utf8"},
                                          {"U", "large_utf8"},
                                          {"z", "binary"},
                                          {"vu", "utf8_view"},
                                          {"d:19,10", "decimal"},
                                          {"w:16", "fixed_size_binary"},
                                          {"tdD", "date32"},
                                          {"tsu:UTC", "timestamp"},
                                          {"tDs", "duration"},
                                          {"tin", "interval"},
                                          {"+l", "list"},
                                          {"+s", "struct"},
                                          {"+m", "map"},
                                          {"+ud:1,2", "dense_union"},
                                          {"+r", "run_end_encoded"},
                                          {"", "unknown"},
                                          {"\x80?", "unknown"}};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    const struct ArrowSchema schema = schema_of(others[k][0]);
    CHECK(joist_arrow_read_schema(&schema, &type, &error) == JOIST_ERROR_DTYPE);
    CHECK(error.code == JOIST_E_ARROW_TYPE);
    CHECK_STR(error.name[0], others[k][1]);
  }
  CHECK(error.text[0].bytes[0] == '?');
}

static void test_bad_schemas(void) {
  struct ArrowSchema schema = schema_of("i"), child = schema_of("f"), *children[] = {&child};
  schema.dictionary = &child;
  CHECK(schema_code(&schema) == JOIST_E_ARROW_TYPE);
  schema.dictionary = NULL;
  schema.n_children = 1;
  CHECK(schema_code(&schema) == JOIST_E_ARROW_FIELD);
  schema.n_children = 0;
  schema.format = NULL;
  CHECK(schema_code(&schema) == JOIST_E_ARROW_MISSING);
  schema.release = NULL;
  CHECK(schema_code(&schema) == JOIST_E_ARROW_RELEASED);
  CHECK(schema_code(NULL) == JOIST_E_ARROW_RELEASED);
  schema = schema_of("+w:3");
  schema.n_children = 1;
  CHECK(schema_code(&schema) == JOIST_E_ARROW_MISSING);
  schema.children = children;
  CHECK(schema_code(&schema) == JOIST_E_COUNT);
  schema.n_children = -1;
  CHECK(schema_code(&schema) == JOIST_E_ARROW_FIELD);
  schema.n_children = 1;
  child.format = "u";
  CHECK(schema_code(&schema) == JOIST_E_ARROW_TYPE);
  child.format = "+w:2";
  CHECK(schema_code(&schema) == JOIST_E_ARROW_TYPE);
  child.release = NULL;
  CHECK(schema_code(&schema) == JOIST_E_ARROW_RELEASED);
  child = schema_of("f");
  for (int k = 0; k < 4; k++) {
    schema.format = (const char *[]){"+w:", "+w:-1", "+w:2147483648", "+w:3x"}[k];
    CHECK(schema_code(&schema) == JOIST_E_ARROW_METADATA);
  }
}

/* ---- tensors ---- */

static size_t put(char *to, const char *text) {
  const int32_t length = (int32_t)strlen(text);
  memcpy(to, &length, sizeof length);
  memcpy(to + sizeof length, text, strlen(text));
  return sizeof length + strlen(text);
}

/* A schema of rows of six elements with this metadata. */
static struct ArrowSchema *tensor_schema(const char *json) {
  static struct ArrowSchema child, *children[] = {&child}, schema;
  static char metadata[10000];
  const int32_t pairs = json == NULL ? 2 : 3;
  memcpy(metadata, &pairs, sizeof pairs);
  size_t used = sizeof pairs;
  const char *const texts[] = {
      "other", "", "ARROW:extension:name", "arrow.fixed_shape_tensor", "ARROW:extension:metadata",
      json};
  for (int k = 0; k < 2 * pairs; k++) used += put(metadata + used, texts[k]);
  child = schema_of("l");
  schema = schema_of("+w:6");
  schema.n_children = 1;
  schema.children = children;
  schema.metadata = metadata;
  return &schema;
}

static void test_tensor_types(void) {
  struct joist_arrow_type type;
  struct joist_error error;
  CHECK(joist_arrow_read_schema(tensor_schema("{\"shape\":[2,3]}"), &type, &error) == JOIST_OK);
  CHECK(type.has_items && type.dtype == JOIST_I64 && type.each == 6 && type.item.rank == 2);
  CHECK(type.item.extent[0] == 2 && type.item.extent[1] == 3);
  CHECK(type.permutation[0] == 0 && type.permutation[1] == 1);
  const char *const full =
      " { \"dim_names\" : [\"\\u0043\", \"H\",\"W\"] , \"permutation\":[2,0,1],\"shape\":[1, 2,3]}";
  CHECK(joist_arrow_read_schema(tensor_schema(full), &type, &error) == JOIST_OK);
  CHECK(type.item.rank == 3 && type.permutation[0] == 2 && type.permutation[2] == 1);
  static char long_names[9000] = "{\"shape\":[6],\"dim_names\":[\"";
  const size_t start = strlen(long_names);
  memset(long_names + start, 'a', 8200);
  strcpy(long_names + start + 8200, "\"]}");
  static const char *const bad[] = {
      NULL,
      "",
      "{}",
      "{\"shape\":[2,3]",
      "{\"shape\":[2,4]}",
      "{\"shape\":[2,-3]}",
      "{\"shape\":[2,3],}",
      "{\"shape\":[2,3]}x",
      "{\"shape\":6}",
      "{\"shape\":[2,3],\"more\":1}",
      "{\"shape\":[4294967296,6]}",
      "{\"shape\":[2,3],\"permutation\":[0]}",
      "{\"shape\":[2,3],\"permutation\":[0,0]}",
      "{\"shape\":[2,3],\"permutation\":[0,2]}",
      "{\"shape\":[2,3],\"permutation\":[0,1,2]}",
      "{\"permutation\":[0,1]}",
      "{\"shape\":[6],\"permutation\":[31]}",
      "{\"shape\":[2,3],\"dim_names\":[1]}",
      "{\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2,3]}",
      "{\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2,3]}",
      long_names};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    CHECK_MSG(schema_code(tensor_schema(bad[k])) == JOIST_E_ARROW_METADATA, "taken: %s",
              bad[k] == NULL ? "none" : bad[k]);
  const int32_t negative = -1;
  struct ArrowSchema *const schema = tensor_schema("{\"shape\":[2,3]}");
  for (int k = 0; k < 3; k++) {
    char metadata[32] = {0};
    const int32_t one = 1;
    memcpy(metadata, &one, sizeof one);
    memcpy(metadata + 4 * k, &negative, sizeof negative);
    schema->metadata = metadata;
    CHECK(schema_code(schema) == JOIST_E_ARROW_METADATA);
  }
}

/* Extension types that joist does not know are refused, also as items of fixed-size lists. */
static void test_extension_types(void) {
  static const char name[] = "arrow.bool8";
  char metadata[64];
  const int32_t one = 1;
  memcpy(metadata, &one, sizeof one);
  put(metadata + sizeof one + put(metadata + sizeof one, "ARROW:extension:name"), name);
  struct joist_arrow_type type;
  struct joist_error error;
  struct ArrowSchema child = schema_of("c"), *children[] = {&child}, schema = schema_of("+w:6");
  schema.n_children = 1;
  schema.children = children;
  CHECK(joist_arrow_read_schema(&schema, &type, &error) == JOIST_OK);
  CHECK(joist_arrow_read_schema(&child, &type, &error) == JOIST_OK);
  child.metadata = metadata;
  struct ArrowSchema *const both[] = {&child, &schema};
  for (int k = 0; k < 2; k++) {
    CHECK(schema_code(both[k]) == JOIST_E_ARROW_TYPE);
    CHECK(joist_arrow_read_schema(both[k], &type, &error) == JOIST_ERROR_DTYPE);
    CHECK_STR(error.text[0].bytes, name);
  }
  child.metadata = NULL;
  schema.metadata = metadata;
  CHECK(schema_code(&schema) == JOIST_E_ARROW_TYPE);
}

/* What is written is read as it was, and a child that was moved outlives its parent. */
static void test_tensor_round_trip(void) {
  const struct joist_shape items[] = {{0},
                                      {.rank = 1, .extent = {3}},
                                      {.rank = 3, .extent = {2, 3, 4}},
                                      {.rank = 2, .extent = {0, 5}}};
  struct joist_error error;
  for (size_t k = 0; k < sizeof items / sizeof *items; k++) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct joist_arrow_type type;
    struct joist_arrow_part part;
    struct joist_arrow_owned owned;
    size_t each;
    int16_t values[5 * 24];
    for (int16_t i = 0; i < 5 * 24; i++) values[i] = (int16_t)(i * 271);
    CHECK(joist_shape_count(&items[k], &each));
    CHECK(joist_arrow_write_schema(JOIST_I16, &items[k], &schema, &error) == JOIST_OK);
    CHECK(joist_arrow_own_copy(JOIST_I16, values, 5 * each, &owned, &error) == JOIST_OK);
    CHECK((uintptr_t)owned.elements % 64 == 0);
    CHECK(joist_arrow_write_array(5, &items[k], owned, &array, &error) == JOIST_OK);
    CHECK(joist_arrow_read_schema(&schema, &type, &error) == JOIST_OK);
    CHECK(type.has_items && joist_shape_equal(&type.item, &items[k]));
    array.offset = 2;
    array.length = 3;
    CHECK(joist_arrow_read_array(&array, &type, &part, &error) == JOIST_OK);
    CHECK(part.rows == 3 && part.count == 3 * each);
    int16_t got[3 * 24];
    CHECK(joist_arrow_copy(&part, JOIST_I16, JOIST_ARROW_ERROR, 0, got, NULL, &error) == JOIST_OK);
    CHECK(memcmp(got, values + 2 * each, 3 * each * sizeof *got) == 0);
    array.length = 4;
    CHECK(joist_arrow_read_array(&array, &type, &part, &error) ==
          (each == 0 ? JOIST_OK : JOIST_ERROR_VALUE));
    struct ArrowArray child = *array.children[0];
    struct ArrowSchema child_schema = *schema.children[0];
    array.children[0]->release = NULL;
    schema.children[0]->release = NULL;
    array.release(&array);
    schema.release(&schema);
    CHECK(array.release == NULL && schema.release == NULL);
    CHECK(memcmp(child.buffers[1], values, 5 * each * sizeof *values) == 0);
    CHECK_STR(child_schema.format, "s");
    child.release(&child);
    child_schema.release(&child_schema);
  }
  const struct joist_shape huge = {.rank = 2, .extent = {65536, 65536}};
  struct ArrowSchema schema;
  CHECK(joist_arrow_write_schema(JOIST_I8, &huge, &schema, &error) == JOIST_ERROR_SHAPE);
}

/* ---- lent elements ---- */

enum { ARRAYS = 500, THREADS = 4 };

static void *release_arrays(void *arrays) {
  for (struct ArrowArray *array = arrays; array < (struct ArrowArray *)arrays + ARRAYS; array++)
    array->release(array);
  return NULL;
}

/* The elements are where they were, and come back once, whichever thread releases the array. */
static void test_lent(void) {
  static struct ArrowArray arrays[THREADS][ARRAYS];
  static int32_t values[THREADS][ARRAYS][6];
  static int seen[THREADS][ARRAYS];
  const struct joist_shape pairs = {.rank = 1, .extent = {2}};
  struct joist_error error;
  for (int t = 0; t < THREADS; t++)
    for (int k = 0; k < ARRAYS; k++) {
      struct joist_keep_alive *const keep = joist_keep_alive_new(&seen[t][k]);
      CHECK(keep != NULL);
      const bool items = k % 2 == 1;
      CHECK(joist_arrow_write_array(items ? 3 : 6, items ? &pairs : NULL,
                                    joist_arrow_own_keep_alive(values[t][k], keep), &arrays[t][k],
                                    &error) == JOIST_OK);
      const struct ArrowArray *const with = items ? arrays[t][k].children[0] : &arrays[t][k];
      CHECK(with->buffers[1] == values[t][k] && with->length == 6);
    }
  CHECK(joist_keep_alive_returned() == NULL);
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; t++)
    CHECK_INT(pthread_create(&threads[t], NULL, release_arrays, arrays[t]), 0);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  for (int *owner; (owner = joist_keep_alive_returned()) != NULL;) ++*owner;
  bool once = true;
  for (int t = 0; t < THREADS; t++)
    for (int k = 0; k < ARRAYS; k++) once &= seen[t][k] == 1 && arrays[t][k].release == NULL;
  CHECK(once);
}

/* ---- elements ---- */

static struct ArrowArray array_of(const void **buffers, int64_t length) {
  return (struct ArrowArray){.length = length,
                             .null_count = -1,
                             .n_buffers = 2,
                             .buffers = buffers,
                             .release = release_array};
}

static const struct joist_arrow_type f32_type = {.dtype = JOIST_F32, .each = 1};

/* Every offset and length of up to 40 bits, against a loop. */
static void test_bits_and_nulls(void) {
  uint8_t bits[5], there[6];
  double values[40];
  for (int k = 0; k < 5; k++) bits[k] = (uint8_t)(k * 97 + 11);
  for (int k = 0; k < 40; k++) values[k] = k + 0.5;
  const struct joist_arrow_type of_bool = {.dtype = JOIST_BOOL, .each = 1},
                                of_f64 = {.dtype = JOIST_F64, .each = 1};
  for (int null = -1; null < 40; null++)
    for (int64_t offset = 0; offset < 20; offset++)
      for (int64_t length = 1; length <= 40 - offset; length += 3) {
        struct joist_arrow_part part;
        struct joist_error error;
        uint8_t got[40];
        const void *bool_buffers[] = {NULL, bits}, *buffers[] = {there, values};
        struct ArrowArray array = array_of(bool_buffers, length);
        array.offset = offset;
        bool same = joist_arrow_read_array(&array, &of_bool, &part, &error) == JOIST_OK &&
                    joist_arrow_elements(&part, JOIST_BOOL) == NULL &&
                    joist_arrow_copy(&part, JOIST_BOOL, JOIST_ARROW_ERROR, 0, got, NULL, &error) ==
                        JOIST_OK;
        for (int64_t k = 0; k < length && same; k++)
          same = got[k] == (bits[(offset + k) / 8] >> (offset + k) % 8 & 1);
        CHECK(same);
        memset(there, 0xff, sizeof there);
        if (null >= 0) there[null / 8] = (uint8_t)(there[null / 8] & ~(1 << null % 8));
        array = array_of(buffers, length);
        array.offset = offset;
        if (null < 0) array.null_count = 0;
        const bool hit = null >= offset && null < offset + length;
        double out[40];
        CHECK(joist_arrow_read_array(&array, &of_f64, &part, &error) == JOIST_OK);
        CHECK(joist_arrow_elements(&part, JOIST_F64) == values + offset);
        CHECK(joist_arrow_first_null(&part) == (size_t)(hit ? null - offset : length));
        const joist_status status =
            joist_arrow_copy(&part, JOIST_F64, JOIST_ARROW_ERROR, 7, out, NULL, &error);
        CHECK(status == (hit ? JOIST_ERROR_VALUE : JOIST_OK));
        if (hit) {
          CHECK(error.code == JOIST_E_ARROW_NULL_ELEMENT);
          CHECK_INT(error.position, 7 + null - offset + 1);
        }
        CHECK(joist_arrow_copy(&part, JOIST_F64, JOIST_ARROW_NAN, 0, out, NULL, &error) ==
              JOIST_OK);
        uint8_t mask[40];
        joist_arrow_mask(&part, mask);
        bool right = true;
        for (int64_t k = 0; k < length; k++) right = right && mask[k] == (offset + k == null);
        for (int64_t k = 0; k < length; k++)
          right = right && (offset + k == null ? out[k] != out[k] : out[k] == values[offset + k]);
        CHECK(right);
      }
}

/* NaN for nulls of floats; other dtypes have none. A mask for all. */
static void test_missing(void) {
  uint8_t there[] = {0x5}, row_there[] = {0x2};
  uint64_t zeros[8] = {0};
  const void *buffers[] = {there, zeros}, *row_buffers[] = {row_there};
  struct joist_arrow_part part;
  struct joist_error error;
  uint64_t out[4];
  for (int dtype = 0; dtype < JOIST_DTYPE_COUNT; dtype++) {
    if (joist_arrow_check_dtype((joist_dtype)dtype, NULL) != JOIST_OK) continue;
    struct ArrowArray array = array_of(buffers, 3);
    const struct joist_arrow_type type = {.dtype = (joist_dtype)dtype, .each = 1};
    CHECK(joist_arrow_read_array(&array, &type, &part, &error) == JOIST_OK);
    const joist_status status =
        joist_arrow_copy(&part, type.dtype, JOIST_ARROW_NAN, 0, out, NULL, &error);
    const bool is_float = joist_dtype_kind(type.dtype) == JOIST_KIND_FLOAT;
    CHECK(status == (is_float ? JOIST_OK : JOIST_ERROR_VALUE));
    if (!is_float) {
      CHECK(error.code == JOIST_E_ARROW_NULL_NOT_NAN);
      CHECK_INT(error.position, 2);
    }
    if (dtype == JOIST_F64) {
      double numbers[3];
      memcpy(numbers, out, sizeof numbers);
      CHECK(isnan(numbers[1]) && numbers[0] == 0 && numbers[2] == 0);
      CHECK((out[1] & 0xffffffff) != 1954); /* not the NA of R */
    }
    CHECK(joist_arrow_copy(&part, type.dtype, JOIST_ARROW_MISSING, 0, out, NULL, &error) ==
          JOIST_OK);
    if (dtype == JOIST_BOOL)
      for (int k = 0; k < 3; k++) CHECK(((uint8_t *)out)[k] == 0);
  }
  /* Rows that are null, of which the first is, and elements of rows. */
  struct ArrowArray child = array_of(buffers, 4), *children[] = {&child};
  child.offset = 0;
  struct ArrowArray array = array_of(row_buffers, 2);
  array.n_buffers = array.n_children = 1;
  array.children = children;
  const struct joist_arrow_type type = {
      .dtype = JOIST_F32, .has_items = true, .each = 2, .item = {.rank = 1, .extent = {2}}};
  CHECK(joist_arrow_read_array(&array, &type, &part, &error) == JOIST_OK);
  CHECK_INT(joist_arrow_first_null(&part), 0);
  float got[4];
  CHECK(joist_arrow_copy(&part, JOIST_F32, JOIST_ARROW_NAN, 0, got, NULL, &error) == JOIST_OK);
  CHECK(got[0] != got[0] && got[1] != got[1] && got[2] == 0 && got[3] != got[3]);
  uint8_t mask[4];
  joist_arrow_mask(&part, mask);
  CHECK(mask[0] == 1 && mask[1] == 1 && mask[2] == 0 && mask[3] == 1);
  array.buffers = (const void *[]){NULL};
  CHECK(joist_arrow_read_array(&array, &type, &part, &error) == JOIST_OK);
  CHECK_INT(joist_arrow_first_null(&part), 1);
}

/* One field at a time. */
static void test_bad_arrays(void) {
  static const float values[4] = {1, 2, 3, 4};
  const void *buffers[] = {NULL, values}, *none[] = {NULL, NULL};
  struct joist_arrow_part part;
  struct joist_error error;
  struct ArrowArray array = array_of(buffers, 4);
#define REFUSED(CODE, NAME)                                                             \
  CHECK(joist_arrow_read_array(&array, &f32_type, &part, &error) == JOIST_ERROR_VALUE); \
  CHECK(error.code == (CODE));                                                          \
  CHECK_STR(error.name[0], NAME);                                                       \
  array = array_of(buffers, 4)
  array.n_buffers = 3;
  REFUSED(JOIST_E_ARROW_FIELD, "n_buffers");
  array.n_buffers = -1;
  REFUSED(JOIST_E_ARROW_FIELD, "n_buffers");
  array.n_children = 1;
  REFUSED(JOIST_E_ARROW_FIELD, "n_children");
  array.length = -1;
  REFUSED(JOIST_E_ARROW_FIELD, "length");
  array.length = INT64_MAX;
  REFUSED(JOIST_E_ARROW_FIELD, "offset");
  array.offset = -1;
  REFUSED(JOIST_E_ARROW_FIELD, "offset");
  array.offset = INT64_MAX;
  REFUSED(JOIST_E_ARROW_FIELD, "offset");
  array.null_count = -2;
  REFUSED(JOIST_E_ARROW_FIELD, "null_count");
  array.null_count = 5;
  REFUSED(JOIST_E_ARROW_FIELD, "null_count");
  array.null_count = 1;
  REFUSED(JOIST_E_ARROW_MISSING, "validity buffer");
  array.buffers = NULL;
  REFUSED(JOIST_E_ARROW_MISSING, "buffers");
  array.buffers = none;
  REFUSED(JOIST_E_ARROW_MISSING, "buffer of values");
  array.release = NULL;
  REFUSED(JOIST_E_ARROW_RELEASED, "array");
  struct ArrowArray dictionary = array_of(buffers, 1);
  array.dictionary = &dictionary;
  CHECK(joist_arrow_read_array(&array, &f32_type, &part, &error) == JOIST_ERROR_DTYPE);
  array = array_of(none, 0);
  CHECK(joist_arrow_read_array(&array, &f32_type, &part, &error) == JOIST_OK);
  CHECK(joist_arrow_copy(&part, JOIST_F32, JOIST_ARROW_ERROR, 0, NULL, NULL, &error) == JOIST_OK);
  const struct joist_arrow_type rows = {.dtype = JOIST_F32, .has_items = true, .each = 2};
  array = array_of(buffers, 2);
  array.n_buffers = array.n_children = 1;
  CHECK(joist_arrow_read_array(&array, &rows, &part, &error) == JOIST_ERROR_VALUE);
  CHECK(error.code == JOIST_E_ARROW_MISSING);
  struct ArrowArray child = array_of(buffers, 3), *children[] = {&child};
  array.children = children;
  CHECK(joist_arrow_read_array(&array, &rows, &part, &error) == JOIST_ERROR_VALUE);
  CHECK(error.code == JOIST_E_ARROW_FIELD);
}

/* An array of an odd address is copied. */
static void test_alignment(void) {
  char memory[3 * sizeof(float) + 1 + sizeof(float)];
  const size_t odd = 1 + (sizeof(float) - (uintptr_t)memory % sizeof(float)) % sizeof(float);
  const float values[3] = {1.5f, -2, 8};
  memcpy(memory + odd, values, sizeof values);
  const void *buffers[] = {NULL, memory + odd};
  struct ArrowArray array = array_of(buffers, 3);
  struct joist_arrow_part part;
  float got[3];
  CHECK(joist_arrow_read_array(&array, &f32_type, &part, NULL) == JOIST_OK);
  CHECK(joist_arrow_elements(&part, JOIST_F32) == NULL);
  CHECK(joist_arrow_copy(&part, JOIST_F32, JOIST_ARROW_ERROR, 0, got, NULL, NULL) == JOIST_OK);
  CHECK(memcmp(got, values, sizeof values) == 0);
}

static void test_written_bits(void) {
  uint8_t values[19], got[19];
  for (int k = 0; k < 19; k++) values[k] = k % 3 == 0;
  for (size_t n = 0; n <= 19; n++) {
    struct joist_arrow_owned owned;
    struct joist_arrow_part part;
    struct ArrowArray array;
    const struct joist_arrow_type type = {.dtype = JOIST_BOOL, .each = 1};
    CHECK(joist_arrow_own_copy(JOIST_BOOL, values, n, &owned, NULL) == JOIST_OK);
    CHECK(joist_arrow_write_array(n, NULL, owned, &array, NULL) == JOIST_OK);
    CHECK(array.null_count == 0 && array.n_buffers == 2 && array.length == (int64_t)n);
    CHECK(joist_arrow_read_array(&array, &type, &part, NULL) == JOIST_OK);
    CHECK(joist_arrow_copy(&part, JOIST_BOOL, JOIST_ARROW_ERROR, 0, got, NULL, NULL) == JOIST_OK);
    CHECK(memcmp(got, values, n) == 0);
    array.release(&array);
  }
}

static uint64_t state = 88172645463325252u;
static uint32_t draw(uint32_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 20) % below;
}

/* Random masks, written and read at every offset, as elements and in rows. */
static void test_written_nulls(void) {
  enum { MOST = 70 };
  uint8_t mask[MOST], got[MOST];
  uint16_t values[MOST], elements[MOST];
  for (int round = 0; round < 2000; round++) {
    const bool rows = round % 2 == 1;
    const size_t each = rows ? 1 + draw(5) : 1, n = draw(MOST / (uint32_t)each + 1);
    const uint32_t often = draw(4);
    const struct joist_shape item = {.rank = 1, .extent = {(uint32_t)each}};
    size_t nulls = 0;
    for (size_t k = 0; k < n * each; k++) {
      values[k] = (uint16_t)draw(65536);
      mask[k] = often == 0 ? 0 : often == 1 ? 1 : draw(often * often) == 0;
      nulls += mask[k];
    }
    struct joist_arrow_owned owned;
    struct joist_arrow_part part;
    struct ArrowArray array;
    struct joist_error error;
    const struct joist_arrow_type type = {
        .dtype = JOIST_UI16, .has_items = rows, .each = each, .item = item};
    CHECK(joist_arrow_own_copy(JOIST_UI16, values, n * each, &owned, &error) == JOIST_OK);
    CHECK(joist_arrow_own_mask(mask, n * each, &owned, &error) == JOIST_OK);
    CHECK(joist_arrow_write_array(n, rows ? &item : NULL, owned, &array, &error) == JOIST_OK);
    const struct ArrowArray *const with = rows ? array.children[0] : &array;
    CHECK(with->null_count == (int64_t)nulls && (with->buffers[0] == NULL) == (nulls == 0));
    CHECK((uintptr_t)with->buffers[0] % 64 == 0);
    CHECK(!rows || (array.null_count == 0 && array.buffers[0] == NULL));
    const size_t from = n == 0 ? 0 : draw((uint32_t)n);
    array.offset = (int64_t)from;
    array.length -= array.offset;
    if (!rows) array.null_count = -1;
    CHECK(joist_arrow_read_array(&array, &type, &part, &error) == JOIST_OK);
    CHECK(joist_arrow_copy(&part, JOIST_UI16, JOIST_ARROW_MISSING, 0, elements, NULL, &error) ==
          JOIST_OK);
    joist_arrow_mask(&part, got);
    CHECK(part.count == (n - from) * each);
    if (part.count > 0) {
      CHECK(memcmp(got, mask + from * each, part.count) == 0);
      CHECK(memcmp(elements, values + from * each, part.count * sizeof *values) == 0);
    }
    array.release(&array);
  }
}

int main(void) {
  test_formats();
  test_bad_schemas();
  test_tensor_types();
  test_extension_types();
  test_tensor_round_trip();
  test_lent();
  test_bits_and_nulls();
  test_missing();
  test_bad_arrays();
  test_alignment();
  test_written_bits();
  test_written_nulls();
  CHECK_INT(released, 0); /* reading leaves that to the owner */
  return check_report("test_arrow");
}
