/* Headers of safetensors files: those of the library that defined the format, every field of them
 * damaged in turn, those that are written here, and the JSON that they are made of. */
#include "core/files/safetensors.h"

#include "core/files/json.h"
#include "errors.h"

#include <stdlib.h>

/* A file: a header in JSON and so many bytes of data. */
struct sample {
  unsigned char bytes[4096];
  size_t length, size; /* of the header; of all */
};

static struct sample make(const char *text, size_t data) {
  struct sample s = {.length = 8 + strlen(text)};
  for (int k = 0; k < 8; k++) s.bytes[k] = (unsigned char)((uint64_t)strlen(text) >> (8 * k));
  memcpy(s.bytes + 8, text, strlen(text));
  s.size = s.length + data;
  return s;
}

static joist_status parse(const struct sample *s, struct joist_safetensors *result,
                          struct joist_error *error) {
  size_t length;
  *result = (struct joist_safetensors){0};
  const joist_status status = joist_safetensors_length(s->bytes, s->size, s->size, &length, error);
  return status == JOIST_OK ? joist_safetensors_parse(s->bytes, length, s->size, result, error)
                            : status;
}

#define TENSOR(NAME, DTYPE, SHAPE, FROM, TO)                                                   \
  "\"" NAME "\":{\"dtype\":\"" DTYPE "\",\"shape\":" SHAPE ",\"data_offsets\":[" #FROM "," #TO \
  "]"                                                                                          \
  "}"

static void check_tensor(const struct joist_safetensor *tensor, const char *name, joist_dtype dtype,
                         const char *shape, uint64_t start, uint64_t bytes) {
  char text[JOIST_SHAPE_TEXT];
  CHECK_STR(tensor->name, name);
  CHECK_INT(tensor->elements.dtype, dtype);
  CHECK_STR(joist_shape_format(&tensor->elements.shape, text), shape);
  CHECK(tensor->elements.start == start && tensor->bytes == bytes && tensor->elements.c_order);
}

static void test_good(void) {
  struct joist_safetensors result;
  struct joist_error error;
  struct sample s = make("{\"__metadata__\":{\"k\":\"v\",\"\":\"\"}," TENSOR(
                             "b", "I64", "[]", 0, 8) "," TENSOR("a", "F32", "[2,3]", 8, 32) "}   ",
                         32);
  CHECK_INT(parse(&s, &result, &error), JOIST_OK);
  CHECK(result.count == 2 && result.metadata_count == 2);
  check_tensor(&result.tensors[0], "b", JOIST_I64, "{}", s.length, 8);
  check_tensor(&result.tensors[1], "a", JOIST_F32, "{2x3}", s.length + 8, 24);
  CHECK_STR(result.metadata[0].key, "k");
  CHECK_STR(result.metadata[0].value, "v");
  CHECK_STR(result.metadata[1].key, "");
  joist_safetensors_free(&result);
  CHECK(result.tensors == NULL && result.count == 0);
  static const struct {
    const char *name;
    joist_dtype dtype;
    int bytes; /* of two elements */
  } types[] = {{"BOOL", JOIST_BOOL, 2},
               {"I8", JOIST_I8, 2},
               {"I16", JOIST_I16, 4},
               {"I32", JOIST_I32, 8},
               {"I64", JOIST_I64, 16},
               {"U8", JOIST_UI8, 2},
               {"U16", JOIST_UI16, 4},
               {"U32", JOIST_UI32, 8},
               {"U64", JOIST_UI64, 16},
               {"F16", JOIST_F16, 4},
               {"BF16", JOIST_BF16, 4},
               {"F32", JOIST_F32, 8},
               {"F64", JOIST_F64, 16},
               {"C64", JOIST_C64, 16},
               {"F8_E4M3", JOIST_F8E4M3FN, 2},
               {"F8_E5M2", JOIST_F8E5M2, 2},
               {"F8_E8M0", JOIST_F8E8M0FNU, 2},
               {"F8_E4M3FNUZ", JOIST_F8E4M3FNUZ, 2},
               {"F8_E5M2FNUZ", JOIST_F8E5M2FNUZ, 2},
               {"F4", JOIST_F4E2M1FN, 1},
               {"C128", JOIST_DTYPE_NONE, 32},
               {"U3", JOIST_DTYPE_NONE, 1},
               {"new", JOIST_DTYPE_NONE, 6}};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    char text[200];
    snprintf(text, sizeof text, "{\"x\":{\"shape\":[2],\"dtype\":\"%s\",\"data_offsets\":[0,%d]}}",
             types[k].name, types[k].bytes);
    s = make(text, (size_t)types[k].bytes);
    const joist_status status = parse(&s, &result, &error);
    if (CHECK_MSG(status == JOIST_OK && result.count == 1, "%s", text)) {
      CHECK_INT(result.tensors[0].elements.dtype, types[k].dtype);
      CHECK_STR(result.tensors[0].type, types[k].name);
      const bool known = types[k].dtype != JOIST_DTYPE_NONE;
      CHECK_INT(result.tensors[0].elements.unit, known ? 0 : types[k].bytes / 2);
      CHECK_INT(result.tensors[0].elements.packed, strcmp(types[k].name, "F4") == 0 ? 4 : 0);
    }
    joist_safetensors_free(&result);
  }
  static const char *const odd[] = {
      "{}", " {\n} ", "{\"__metadata__\":{}}",
      "{" TENSOR("a", "F32", "[0]", 0, 0) "," TENSOR("b", "F32", "[5,0,7]", 0, 0) "}"};
  for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
    s = make(odd[k], 0);
    CHECK_MSG(parse(&s, &result, &error) == JOIST_OK, "%s", odd[k]);
    joist_safetensors_free(&result);
  }
  /* Data in another order than the header's. */
  s = make("{" TENSOR("a", "U8", "[3]", 5, 8) "," TENSOR("b", "U8", "[5]", 0, 5) "}", 8);
  CHECK_INT(parse(&s, &result, &error), JOIST_OK);
  check_tensor(&result.tensors[0], "a", JOIST_UI8, "{3}", s.length + 5, 3);
  joist_safetensors_free(&result);
}

static void check_bad(const struct sample *s, joist_error_code code, const char *field,
                      const char *what) {
  struct joist_safetensors result;
  struct joist_error error = {.code = JOIST_E_FILE};
  const joist_status status = parse(s, &result, &error);
  joist_safetensors_free(&result);
  if (!CHECK_MSG(status != JOIST_OK, "%s is taken", what)) return;
  CHECK_MSG(error.code == code && strcmp(error.name[1], field) == 0, "%s: %s, want %s", what,
            words(&error), field);
  CHECK_INT(parse(s, &result, NULL), status);
  joist_safetensors_free(&result);
}

static void test_bad(void) {
  static const struct {
    const char *text;
    joist_error_code code;
    const char *field;
  } cases[] = {
      {"", JOIST_E_FILE_FIELD, "header"},
      {"[]", JOIST_E_FILE_FIELD, "header"},
      {"{", JOIST_E_FILE_FIELD, "header"},
      {"{\"a\"}", JOIST_E_FILE_FIELD, "header"},
      {"{\"a\":1}", JOIST_E_FILE_ENTRY, "entry"},
      {"{\"a\":{}}", JOIST_E_FILE_ENTRY, "dtype"},
      {"{\"a\":{\"x\":1}}", JOIST_E_FILE_ENTRY, "entry"},
      {"{" TENSOR("a", "F32", "[6]", 0, 24) "} x", JOIST_E_FILE_FIELD, "header"},
      {"{" TENSOR("a", "F32", "[6]", 0, 24) ",}", JOIST_E_FILE_FIELD, "header"},
      {"{" TENSOR("a", "F32", "[6]", 0, 24), JOIST_E_FILE_FIELD, "header"},
      {"{" TENSOR("a\\u0000", "F32", "[6]", 0, 24) "}", JOIST_E_FILE_FIELD, "header"},
      {"{" TENSOR("a\xff", "F32", "[6]", 0, 24) "}", JOIST_E_FILE_FIELD, "header"},
      {"{" TENSOR("a", "F32", "[3]", 0, 12) "," TENSOR("a", "F32", "[3]", 12, 24) "}",
       JOIST_E_FILE_ENTRY, "name"},
      {"{\"a\":{\"dtype\":1,\"shape\":[6],\"data_offsets\":[0,24]}}", JOIST_E_FILE_ENTRY, "dtype"},
      {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", JOIST_E_FILE_ENTRY, "dtype"},
      {"{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,24]}}", JOIST_E_FILE_ENTRY, "shape"},
      {"{\"a\":{\"dtype\":\"U8\",\"shape\":[24]}}", JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F32", "6", 0, 24) "}", JOIST_E_FILE_ENTRY, "shape"},
      {"{" TENSOR("a", "F32", "[6", 0, 24) "}", JOIST_E_FILE_ENTRY, "shape"},
      {"{" TENSOR("a", "F32", "[-6]", 0, 24) "}", JOIST_E_FILE_ENTRY, "shape"},
      {"{" TENSOR("a", "F32", "[6.0]", 0, 24) "}", JOIST_E_FILE_ENTRY, "shape"},
      {"{" TENSOR("a", "F32", "[06]", 0, 24) "}", JOIST_E_FILE_ENTRY, "shape"},
      {"{" TENSOR("a", "F32", "[\"6\"]", 0, 24) "}", JOIST_E_FILE_ENTRY, "shape"},
      {"{" TENSOR("a", "F32", "[6,]", 0, 24) "}", JOIST_E_FILE_ENTRY, "shape"},
      {"{" TENSOR("a", "F32", "[2147483648]", 0, 24) "}", JOIST_E_FILE_ENTRY, "shape"},
      {"{" TENSOR("a", "F32", "[18446744073709551622]", 0, 24) "}", JOIST_E_FILE_ENTRY, "shape"},
      {"{" TENSOR("a", "U8", "[2147483647,2147483647,2147483647]", 0, 24) "}", JOIST_E_FILE_ENTRY,
       "shape"},
      {"{" TENSOR("a", "F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6]",
                  0, 24) "}",
       JOIST_E_FILE_ENTRY, "shape"},
      {"{" TENSOR("a", "F32", "[6]", 0, 23) "}", JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F32", "[5]", 0, 24) "}", JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F32", "[6]", 24, 0) "}", JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F32", "[6]", 1, 25) "}", JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F32", "[7]", 0, 28) "}", JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F32", "[6]", 18446744073709551615, 18446744073709551615) "}",
       JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F32", "[6]", 18446744073709551592, 18446744073709551616) "}",
       JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[0]}}", JOIST_E_FILE_ENTRY,
       "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[0,24,24]}}", JOIST_E_FILE_ENTRY,
       "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":\"0,24\"}}", JOIST_E_FILE_ENTRY,
       "data_offsets"},
      {"{" TENSOR("a", "F4", "[3]", 0, 2) "}", JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F4", "[24]", 0, 24) "}", JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F6_E2M3", "[31]", 0, 24) "}", JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F6_E3M2", "[33]", 0, 24) "}", JOIST_E_FILE_ENTRY, "data_offsets"},
      /* An overlap, a gap, and bytes of no tensor. */
      {"{" TENSOR("a", "F32", "[4]", 0, 16) "," TENSOR("b", "F32", "[4]", 8, 24) "}",
       JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F32", "[6]", 0, 24) "," TENSOR("b", "F32", "[6]", 0, 24) "}",
       JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F32", "[2]", 0, 8) "," TENSOR("b", "F32", "[2]", 16, 24) "}",
       JOIST_E_FILE_ENTRY, "data_offsets"},
      {"{" TENSOR("a", "F32", "[5]", 0, 20) "}", JOIST_E_FILE_FIELD, "data"},
      {"{}", JOIST_E_FILE_FIELD, "data"},
      {"{\"__metadata__\":1," TENSOR("a", "F32", "[6]", 0, 24) "}", JOIST_E_FILE_FIELD,
       "__metadata__"},
      {"{\"__metadata__\":{\"a\":1}," TENSOR("a", "F32", "[6]", 0, 24) "}", JOIST_E_FILE_FIELD,
       "__metadata__"},
      {"{\"__metadata__\":{\"a\":\"b\"", JOIST_E_FILE_FIELD, "__metadata__"},
      {"{\"__metadata__\":{},\"__metadata__\":{}," TENSOR("a", "F32", "[6]", 0, 24) "}",
       JOIST_E_FILE_FIELD, "__metadata__"},
      {"{\"__metadata__\":{\"k\":\"1\",\"l\":\"\",\"k\":\"2\"}," TENSOR("a", "F32", "[6]", 0,
                                                                        24) "}",
       JOIST_E_FILE_FIELD, "__metadata__"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const struct sample s = make(cases[k].text, 24);
    check_bad(&s, cases[k].code, cases[k].field, cases[k].text);
  }
  const char *const good = "{" TENSOR("a", "F32", "[6]", 0, 24) "}";
  struct sample s = make(good, 24);
  for (size_t size = 0; size < s.length; size++) {
    struct sample cut = s;
    cut.size = size;
    check_bad(&cut, JOIST_E_FILE_FIELD, "header length", "a cut header");
  }
  for (size_t size = s.length; size < s.size; size++) {
    struct sample cut = s;
    cut.size = size;
    check_bad(&cut, JOIST_E_FILE_ENTRY, "data_offsets", "cut data");
  }
  s.size++;
  check_bad(&s, JOIST_E_FILE_FIELD, "data", "one byte more");
  for (int k = 1; k < 8; k++) {
    s = make(good, 24);
    s.bytes[k] = 255;
    check_bad(&s, JOIST_E_FILE_FIELD, "header length", "a length");
  }
  struct joist_safetensors result;
  struct joist_error error;
  s = make(good, 24);
  CHECK_ERROR(joist_safetensors_parse(s.bytes, s.length - 1, s.size, &result, &error), error,
              JOIST_E_FILE_FIELD);
  joist_safetensors_free(&result);
}

/* Any single byte of a header, changed to any other, is read without harm. */
static void test_bytes(void) {
  const struct sample good =
      make("{\"__metadata__\":{\"k\":\"\\u00e9\"}," TENSOR("b", "I8", "[4]", 24, 28) "," TENSOR(
               "a", "F32", "[2,3]", 0, 24) "}",
           28);
  long taken = 0;
  for (size_t at = 0; at < good.length; at++)
    for (int byte = 0; byte < 256; byte++) {
      struct sample s = good;
      struct joist_safetensors result;
      struct joist_error error;
      s.bytes[at] = (unsigned char)byte;
      const joist_status status = parse(&s, &result, &error);
      taken += status == JOIST_OK;
      uint64_t bytes = 0;
      for (size_t k = 0; k < result.count && status == JOIST_OK; k++)
        bytes += result.tensors[k].bytes;
      if (status == JOIST_OK) CHECK_INT(bytes, 28);
      joist_safetensors_free(&result);
    }
  CHECK_MSG(taken > (long)good.length, "%ld are taken", taken);
}

static void test_writing(void) {
  struct joist_safetensor tensors[] = {
      {.name = "flag", .elements = {.dtype = JOIST_BOOL, .shape = {1, {3}}}},
      {.name = "a \"q\" \\ \n \xc3\xa9", .elements = {.dtype = JOIST_F64, .shape = {2, {2, 1}}}},
      {.name = "half", .elements = {.dtype = JOIST_F16}},
      {.name = "c", .elements = {.dtype = JOIST_C64, .shape = {1, {1}}}}};
  const struct joist_safetensors_pair metadata[] = {{"k", "v\t"}, {"", "\xe2\x82\xac"}};
  size_t order[4], length;
  char *header;
  struct joist_error error;
  CHECK_INT(joist_safetensors_format(tensors, 4, metadata, 2, order, &header, &length, &error),
            JOIST_OK);
  static const char want[] =
      "{\"__metadata__\":{\"k\":\"v\\u0009\",\"\":\"\xe2\x82\xac\"},"
      "\"flag\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[26,29]},"
      "\"a \\\"q\\\" \\\\ \\u000a "
      "\xc3\xa9\":{\"dtype\":\"F64\",\"shape\":[2,1],\"data_offsets\":[0,"
      "16]},"
      "\"half\":{\"dtype\":\"F16\",\"shape\":[],\"data_offsets\":[24,26]},"
      "\"c\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[16,24]}}";
  CHECK_MSG(strncmp(header + 8, want, sizeof want - 1) == 0, "%s", header + 8);
  CHECK(length % 64 == 0 && length - sizeof want - 7 < 64);
  for (size_t k = 8 + sizeof want - 1; k < length; k++) CHECK_INT(header[k], ' ');
  CHECK(order[0] == 1 && order[1] == 3 && order[2] == 2 && order[3] == 0);
  struct joist_safetensors result;
  CHECK_INT(joist_safetensors_parse((unsigned char *)header, length, length + 29, &result, &error),
            JOIST_OK);
  for (size_t k = 0; k < 4; k++) CHECK_STR(result.tensors[k].name, tensors[k].name);
  CHECK_STR(result.metadata[0].value, "v\t");
  joist_safetensors_free(&result);
  free(header);
  CHECK_INT(joist_safetensors_format(tensors, 0, metadata, 0, order, &header, &length, &error),
            JOIST_OK);
  CHECK(length == 64 && memcmp(header, "\x38\0\0\0\0\0\0\0{}      ", 16) == 0);
  free(header);
  tensors[2].elements.dtype = JOIST_C128;
  CHECK_ERROR(joist_safetensors_format(tensors, 4, NULL, 0, order, &header, &length, &error), error,
              JOIST_E_FILE_NO_TYPE);
}

/* Dtypes that the format packs: whole bytes are written, and what is left over is an error. */
static void test_packed(void) {
  static const struct {
    joist_dtype dtype;
    uint32_t each; /* elements that fill bytes */
    uint64_t bytes;
  } packed[] = {{JOIST_F4E2M1FN, 2, 1}, {JOIST_F6E2M3FN, 4, 3}, {JOIST_F6E3M2FN, 4, 3}};
  size_t order[2], length;
  char *header;
  struct joist_error error;
  int written = 0;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    written += joist_dtype_code((joist_dtype)d, JOIST_FORMAT_SAFETENSORS) != NULL;
  CHECK_INT(written, 22);
  for (size_t k = 0; k < 3; k++)
    for (uint32_t n = 0; n < 17; n++) {
      struct joist_safetensor tensors[] = {
          {.name = "a", .elements = {.dtype = packed[k].dtype, .shape = {2, {n, 1}}}},
          {.name = "b", .elements = {.dtype = JOIST_I16, .shape = {1, {1}}}}};
      const joist_status status =
          joist_safetensors_format(tensors, 2, NULL, 0, order, &header, &length, &error);
      if (n % packed[k].each != 0) {
        CHECK(status == JOIST_ERROR_VALUE && error.code == JOIST_E_FILE_PART_OF_BYTE);
        CHECK_STR(error.text[0].bytes, "a");
        CHECK(error.count[0] == packed[k].each);
        continue;
      }
      CHECK_INT(status, JOIST_OK);
      const uint64_t bytes = n / packed[k].each * packed[k].bytes;
      CHECK(tensors[0].bytes == bytes && tensors[0].elements.start == 2);
      struct joist_safetensors read;
      CHECK_INT(joist_safetensors_parse((unsigned char *)header, length, length + 2 + bytes, &read,
                                        &error),
                JOIST_OK);
      CHECK_INT(read.tensors[0].elements.count, n);
      CHECK_INT(read.tensors[0].elements.packed, tensors[0].elements.packed);
      joist_safetensors_free(&read);
      free(header);
    }
}

/* ---- JSON ---- */

static bool string_is(const char *json, const char *want) {
  char text[200];
  size_t length = 0;
  struct joist_json at = {json, json + strlen(json)};
  const bool read = joist_json_string(&at, text, &length);
  if (want == NULL) return !read;
  return read && length == strlen(want) && strcmp(text, want) == 0 && joist_json_is_done(&at);
}

static void test_json(void) {
  static const char *const good[][2] = {
      {"\"\"", ""},
      {" \n\t\r\"a b\"", "a b"},
      {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
      {"\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac"},
      {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80"},
      {"\"\\uDBFF\\uDFFF\"", "\xf4\x8f\xbf\xbf"},
      {"\"\xc2\x80\xed\x9f\xbf\xf4\x8f\xbf\xbf\x7f\"", "\xc2\x80\xed\x9f\xbf\xf4\x8f\xbf\xbf\x7f"}};
  for (size_t k = 0; k < sizeof good / sizeof *good; k++)
    CHECK_MSG(string_is(good[k][0], good[k][1]), "%s", good[k][0]);
  static const char *const bad[] = {"",
                                    "a",
                                    "\"",
                                    "\"a",
                                    "\"\\\"",
                                    "\"\\",
                                    "\"\\x\"",
                                    "\"\\u12\"",
                                    "\"\\u12g4\"",
                                    "\"\\u0000\"",
                                    "\"\\ud83d\"",
                                    "\"\\ud83dx\"",
                                    "\"\\ud83d\\n\"",
                                    "\"\\ud83d\\u0041\"",
                                    "\"\\ude00\\ud83d\"",
                                    "\"\n\"",
                                    "\"\x1f\"",
                                    "\"\x80\"",
                                    "\"\xc1\x81\"",
                                    "\"\xc3\"",
                                    "\"\xc3(\"",
                                    "\"\xe0\x80\x80\"",
                                    "\"\xed\xa0\x80\"",
                                    "\"\xf0\x80\x80\x80\"",
                                    "\"\xf4\x90\x80\x80\"",
                                    "\"\xf5\x80\x80\x80\"",
                                    "\"\xe2\x82"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    CHECK_MSG(string_is(bad[k], NULL), "%s", bad[k]);
  static const struct {
    const char *text;
    uint64_t number;
    bool good;
  } numbers[] = {{"0", 0, true},
                 {" 12 ", 12, true},
                 {"18446744073709551615", UINT64_MAX, true},
                 {"18446744073709551616", 0, false},
                 {"99999999999999999999", 0, false},
                 {"", 0, false},
                 {"-1", 0, false},
                 {"+1", 0, false},
                 {"01", 0, false},
                 {"00", 0, false},
                 {"x", 0, false}};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    struct joist_json at = {numbers[k].text, numbers[k].text + strlen(numbers[k].text)};
    uint64_t number;
    const bool read = joist_json_whole(&at, &number);
    CHECK_MSG(read == numbers[k].good && (!read || number == numbers[k].number), "%s",
              numbers[k].text);
  }
  static const struct {
    const char *text;
    size_t length; /* of the number; 0 for none */
  } texts[] = {{"0", 1},    {"-0", 2},     {"12,", 2},  {"-1.50e+07]", 9}, {"1E5", 3},
               {"0.1", 3},  {"1e-400", 6}, {" 7", 1},   {"", 0},           {"-", 0},
               {"01", 0},   {"-01", 0},    {"1.", 0},   {".5", 0},         {"1e", 0},
               {"1e+", 0},  {"+1", 0},     {"NaN", 0},  {"Infinity", 0},   {"-Infinity", 0},
               {"1.e5", 0}, {"x", 0},      {"0x10", 1}, {"1 2", 1},        {"00", 0}};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    struct joist_json at = {texts[k].text, texts[k].text + strlen(texts[k].text)};
    const char *number;
    size_t length = 0;
    const bool read = joist_json_number(&at, &number, &length);
    CHECK_MSG(read == (texts[k].length > 0) && length == texts[k].length, "%s", texts[k].text);
    CHECK(!read || at.at == number + length);
  }
  static const char run_together[] = " truefalsnull", brace[] = " {x";
  struct joist_json words = {run_together, run_together + 13};
  CHECK(!joist_json_word(&words, "null") && joist_json_word(&words, "true"));
  CHECK(!joist_json_word(&words, "false") && !joist_json_word(&words, "falsenullx"));
  CHECK(joist_json_word(&words, "fals") && joist_json_word(&words, "null"));
  CHECK(joist_json_is_done(&words) && !joist_json_word(&words, "null"));
  struct joist_json at = {brace, brace + 3};
  CHECK(!joist_json_take(&at, 'x') && joist_json_take(&at, '{') && !joist_json_is_done(&at) &&
        joist_json_take(&at, 'x') && joist_json_is_done(&at) && !joist_json_take(&at, 'x'));
}

int main(void) {
  test_good();
  test_bad();
  test_bytes();
  test_writing();
  test_packed();
  test_json();
  return check_report("safetensors");
}
