/* Headers of npy files: those that NumPy writes, every field of them damaged in turn, and those
 * that are written here, read as text. */
#include "core/files/npy.h"

#include "errors.h"

#include <stdlib.h>

static bool is_little_endian(void) {
  const uint16_t one = 1;
  return *(const unsigned char *)&one == 1;
}

/* A file: a header of that version with the dictionary in `text`, and so many bytes of data. */
struct sample {
  unsigned char bytes[2048];
  size_t length, size; /* of the header; of all */
};

static struct sample make(int version, const char *text, size_t data) {
  struct sample s = {.bytes = "\x93NUMPY"};
  const size_t prefix = version == 1 ? 10 : 12, body = strlen(text) + 1;
  s.bytes[6] = (unsigned char)version;
  s.bytes[8] = (unsigned char)(body & 0xff);
  s.bytes[9] = (unsigned char)(body >> 8);
  memcpy(s.bytes + prefix, text, body - 1);
  s.bytes[prefix + body - 1] = '\n';
  s.length = prefix + body;
  s.size = s.length + data;
  return s;
}

static joist_status parse_as(const struct sample *s, joist_dtype as, bool raw,
                             struct joist_elements *elements, struct joist_error *error) {
  size_t length;
  const joist_status status = joist_npy_length(s->bytes, s->size, &length, error);
  if (status != JOIST_OK) return status;
  return joist_npy_parse(s->bytes, length < s->size ? length : s->size, s->size, as, raw, elements,
                         error);
}

static joist_status parse(const struct sample *s, struct joist_elements *elements,
                          struct joist_error *error) {
  return parse_as(s, JOIST_DTYPE_NONE, false, elements, error);
}

static void check_good(int version, const char *text, joist_dtype dtype, bool big, bool c_order,
                       const char *shape, size_t count) {
  const struct sample s = make(version, text, count * joist_dtype_size(dtype));
  struct joist_elements elements;
  struct joist_error error = {.code = JOIST_E_FILE};
  char shape_text[JOIST_SHAPE_TEXT];
  const joist_status status = parse(&s, &elements, &error);
  if (!CHECK_MSG(status == JOIST_OK, "%s: %s", text, words(&error))) return;
  CHECK_MSG(elements.dtype == dtype, "%s is %s", text, joist_dtype_name(elements.dtype));
  if (joist_dtype_size(dtype) > 1)
    CHECK_MSG(elements.swapped == (big == is_little_endian()), "order of %s", text);
  CHECK_INT(elements.c_order, c_order);
  CHECK_STR(joist_shape_format(&elements.shape, shape_text), shape);
  CHECK_INT(elements.count, count);
  CHECK_INT(elements.start, s.length);
}

static void test_good(void) {
#define HEADER(DESCR, ORDER, SHAPE) \
  "{'descr': '" DESCR "', 'fortran_order': " ORDER ", 'shape': " SHAPE ", }   "
  static const struct {
    const char *text;
    joist_dtype dtype;
    bool big;
  } types[] = {{HEADER("|b1", "False", "(2, 3)"), JOIST_BOOL, false},
               {HEADER("|i1", "False", "(2, 3)"), JOIST_I8, false},
               {HEADER("<i2", "False", "(2, 3)"), JOIST_I16, false},
               {HEADER(">i4", "False", "(2, 3)"), JOIST_I32, true},
               {HEADER("<i8", "False", "(2, 3)"), JOIST_I64, false},
               {HEADER("|u1", "False", "(2, 3)"), JOIST_UI8, false},
               {HEADER(">u2", "False", "(2, 3)"), JOIST_UI16, true},
               {HEADER("<u4", "False", "(2, 3)"), JOIST_UI32, false},
               {HEADER(">u8", "False", "(2, 3)"), JOIST_UI64, true},
               {HEADER("<f2", "False", "(2, 3)"), JOIST_F16, false},
               {HEADER("<V2", "False", "(2, 3)"), JOIST_BF16, false},
               {HEADER("|V2", "False", "(2, 3)"), JOIST_BF16, false},
               {HEADER("bfloat16", "False", "(2, 3)"), JOIST_BF16, false},
               {HEADER("<f1", "False", "(2, 3)"), JOIST_F8E5M2, false},
               {HEADER("int4", "False", "(2, 3)"), JOIST_I4, false},
               {HEADER("float8_e8m0fnu", "False", "(2, 3)"), JOIST_F8E8M0FNU, false},
               {HEADER("<f4", "False", "(2, 3)"), JOIST_F32, false},
               {HEADER(">f8", "False", "(2, 3)"), JOIST_F64, true},
               {HEADER(">c8", "False", "(2, 3)"), JOIST_C64, true},
               {HEADER("<c16", "False", "(2, 3)"), JOIST_C128, false}};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    for (int version = 1; version <= 3; version++)
      check_good(version, types[k].text, types[k].dtype, types[k].big, true, "{2x3}", 6);
  check_good(1, HEADER("<f4", "True", "(2, 3)"), JOIST_F32, false, false, "{2x3}", 6);
  check_good(1, HEADER("<f4", "True", "()"), JOIST_F32, false, false, "{}", 1);
  check_good(1, HEADER("<f4", "True", "(0,)"), JOIST_F32, false, false, "{0}", 0);
  check_good(1, HEADER("<f4", "True", "(3, 0, 2147483647,)"), JOIST_F32, false, false,
             "{3x0x2147483647}", 0);
  check_good(2, "{\"shape\":(5L,),\"fortran_order\":True,\"descr\":\">i2\"}", JOIST_I16, true,
             false, "{5}", 5);
  check_good(2, "\n{ 'shape' : ( 1 , 2 ) ,'fortran_order' :False,\t'descr':'<i2'}\n\n", JOIST_I16,
             false, true, "{1x2}", 2);
}

/* Which field an error names. */
static void check_bad(const struct sample *s, joist_error_code code, const char *field,
                      const char *what) {
  struct joist_elements elements;
  struct joist_error error = {.code = JOIST_E_FILE};
  const joist_status status = parse(s, &elements, &error);
  if (!CHECK_MSG(status != JOIST_OK, "%s is taken", what)) return;
  CHECK_MSG(error.code == code, "%s: %s", what, words(&error));
  if (code == JOIST_E_FILE_FIELD)
    CHECK_MSG(strcmp(error.name[1], field) == 0, "%s: %s, want %s", what, words(&error), field);
  CHECK_MSG(parse(s, &elements, NULL) == status, "%s", what);
}

static void check_bad_text(const char *text, const char *field) {
  const struct sample s = make(1, text, 24);
  check_bad(&s, JOIST_E_FILE_FIELD, field, text);
}

static void test_dictionary(void) {
  static const struct {
    const char *text, *field;
  } cases[] = {{"", "header length"},
               {"    ", "header"},
               {"{", "header"},
               {"{'descr'", "header"},
               {"{'descr':", "descr"},
               {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), ", "header"},
               {"{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3), }", "header"},
               {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x", "header"},
               {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}", "header"},
               {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'descr': 1}", "descr"},
               {"{'fortran_order': False, 'shape': (2, 3), }", "descr"},
               {"{'descr': '<f4', 'shape': (2, 3), }", "fortran_order"},
               {"{'descr': '<f4', 'fortran_order': False, }", "shape"},
               {HEADER("", "False", "(2, 3)"), "descr"},
               {HEADER("<", "False", "(2, 3)"), "descr"},
               {HEADER("f4<", "False", "(2, 3)"), "descr"},
               {HEADER("<q4", "False", "(2, 3)"), "descr"},
               {HEADER("<f4'", "False", "(2, 3)"), "header"},
               {HEADER("<\\f4", "False", "(2, 3)"), "descr"},
               {"{'descr': 4, 'fortran_order': False, 'shape': (2, 3), }", "descr"},
               {"{'descr': '<f4, }", "descr"},
               {HEADER("<f4", "false", "(2, 3)"), "fortran_order"},
               {HEADER("<f4", "0", "(2, 3)"), "fortran_order"},
               {HEADER("<f4", "'True'", "(2, 3)"), "fortran_order"},
               {HEADER("<f4", "Truely", "(2, 3)"), "header"},
               {HEADER("<f4", "False", "(2 3)"), "shape"},
               {HEADER("<f4", "False", "(6)"), "shape"},
               {HEADER("<f4", "False", "[2, 3]"), "shape"},
               {HEADER("<f4", "False", "(2, -3)"), "shape"},
               {HEADER("<f4", "False", "(2, 3.0)"), "shape"},
               {HEADER("<f4", "False", "(,)"), "shape"},
               {HEADER("<f4", "False", "(2, 'a')"), "shape"},
               {HEADER("<f4", "False", "(2, 2147483648)"), "shape"},
               {HEADER("<f4", "False", "(99999999999999999999999999,)"), "shape"},
               {HEADER("<f4", "False",
                       "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                       "1,1,6)"),
                "shape"},
               {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", "shape"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    check_bad_text(cases[k].text, cases[k].field);
  /* Types that NumPy has. */
  static const char *const others[] = {HEADER("<f16", "False", "(3,)"),
                                       HEADER("<c32", "False", "(3,)"),
                                       HEADER("|S8", "False", "(3,)"),
                                       HEADER("<U2", "False", "(3,)"),
                                       HEADER("<M8[ns]", "False", "(3,)"),
                                       HEADER("<m8", "False", "(3,)"),
                                       HEADER("<V3", "False", "(8,)"),
                                       HEADER(">V2", "False", "(12,)"),
                                       "{'descr': [('a', '<i4'), ('b', '<i4')], 'shape': (3,)}"};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    const struct sample s = make(1, others[k], 24);
    check_bad(&s, JOIST_E_FILE_DTYPE, "", others[k]);
  }
}

/* ---- types that the caller names, and bytes of those without a dtype ---- */

static void test_named(void) {
  struct joist_elements elements;
  struct joist_error error;
  static const struct {
    const char *descr;
    size_t size;
    bool swapped; /* from the order of a little machine */
  } types[] = {{"<V1", 1, false},    {"|V1", 1, false},    {"<f1", 1, false}, {"|u1", 1, false},
               {"<V2", 2, false},    {"<u2", 2, false},    {">u2", 2, true},  {"|S4", 4, false},
               {"<M8[s]", 8, false}, {">m8[ns]", 8, true}, {"<U2", 8, false}, {"|V16", 16, false},
               {"<V3", 3, false},    {"<U1", 4, false}};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    char text[100];
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3)}",
             types[k].descr);
    const struct sample s = make(1, text, 6 * types[k].size);
    for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
      const joist_dtype dtype = (joist_dtype)d;
      const size_t size = joist_dtype_size(dtype);
      const joist_status status = parse_as(&s, dtype, false, &elements, &error);
      if (size != types[k].size) {
        CHECK(status == JOIST_ERROR_DTYPE && error.code == JOIST_E_FILE_TYPE_SIZE);
        CHECK(error.number[0] == (double)types[k].size);
      } else if (CHECK_MSG(status == JOIST_OK, "%s as %s", types[k].descr,
                           joist_dtype_name(dtype))) {
        CHECK_INT(elements.dtype, dtype);
        CHECK(elements.unit == 0 && elements.count == 6);
        if (size > 1) CHECK_INT(elements.swapped, types[k].swapped == is_little_endian());
      }
    }
  }
  const struct sample v1 = make(1, HEADER("<V1", "False", "(2, 3)"), 6);
  CHECK_ERROR(parse(&v1, &elements, &error), error, JOIST_E_FILE_UNTYPED);
  CHECK_STR(error.text[0].bytes, "<V1");
  const struct sample objects = make(1, HEADER("|O", "False", "(3,)"), 24);
  CHECK_ERROR(parse_as(&objects, JOIST_I64, false, &elements, &error), error, JOIST_E_FILE_RAW);
  CHECK_ERROR(parse(&objects, &elements, &error), error, JOIST_E_FILE_RAW);
  const struct sample fields = make(1, "{'descr': [('a', '<i4')], 'shape': (3,)}", 12);
  CHECK_ERROR(parse_as(&fields, JOIST_I32, false, &elements, &error), error, JOIST_E_FILE_DTYPE);
}

static void test_raw(void) {
  static const struct {
    const char *descr;
    size_t unit;
  } types[] = {{"'<V1'", 1},
               {"'<V3'", 3},
               {"'|S8'", 8},
               {"'<U2'", 8},
               {"'<M8[ns]'", 8},
               {"'<f16'", 16},
               {"[('a', '<i4'), ('b (', '|S3')]", 7},
               {"[(('title', 'a'), [('b', '<i2', (2, 2))])]", 8}};
  struct joist_elements elements;
  struct joist_error error;
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    for (int order = 0; order < 2; order++) {
      char text[200];
      const char *const fortran = order == 0 ? "True" : "False";
      snprintf(text, sizeof text, "{'shape': (2, 3), 'descr': %s, 'fortran_order': %s, }",
               types[k].descr, fortran);
      struct sample s = make(1, text, 6 * types[k].unit);
      if (!CHECK_MSG(parse_as(&s, JOIST_DTYPE_NONE, true, &elements, &error) == JOIST_OK, "%s",
                     text))
        continue;
      CHECK(elements.dtype == JOIST_UI8 && elements.unit == types[k].unit);
      CHECK(elements.count == 6 && elements.shape.rank == 2 && elements.c_order == (order == 1));
      CHECK(joist_elements_bytes(&elements) == 6 * types[k].unit);
      s.size++;
      CHECK_ERROR(parse_as(&s, JOIST_DTYPE_NONE, true, &elements, &error), error, JOIST_E_FILE_RAW);
      s.size = s.length;
      CHECK_ERROR(parse_as(&s, JOIST_DTYPE_NONE, true, &elements, &error), error, JOIST_E_FILE_RAW);
    }
  static const char *const refused[] = {HEADER("|O", "False", "(3,)"),
                                        "{'descr': [('a', '<i4'), ('b', '|O')], 'shape': (3,)}",
                                        HEADER("<M8[s]", "False", "(0,)")};
  for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
    const struct sample s = make(1, refused[k], k == 2 ? 0 : 24);
    CHECK_ERROR(parse_as(&s, JOIST_DTYPE_NONE, true, &elements, &error), error, JOIST_E_FILE_RAW);
  }
  static const char *const endless[] = {"{'descr': [", "{'descr': [('a', '<i4'", "{'descr': [('a"};
  for (size_t k = 0; k < sizeof endless / sizeof *endless; k++) {
    const struct sample s = make(1, endless[k], 24);
    CHECK_ERROR(parse_as(&s, JOIST_DTYPE_NONE, true, &elements, &error), error, JOIST_E_FILE_FIELD);
  }
  /* A dtype is read as ever. */
  const struct sample known = make(1, HEADER("<f4", "False", "(2, 3)"), 24);
  CHECK_INT(parse_as(&known, JOIST_DTYPE_NONE, true, &elements, &error), JOIST_OK);
  CHECK(elements.dtype == JOIST_F32 && elements.unit == 0);
}

static void test_frame(void) {
  const char *const text = HEADER("<f4", "False", "(2, 3)");
  struct sample s = make(1, text, 24);
  for (size_t size = 0; size < s.size; size++) {
    struct sample cut = s;
    cut.size = size;
    check_bad(&cut, size < s.length ? JOIST_E_FILE_FIELD : JOIST_E_FILE_SIZE,
              size < 6 ? "magic string" : "header length", "a cut file");
  }
  s.size++;
  check_bad(&s, JOIST_E_FILE_SIZE, "", "one byte more");
  for (int k = 0; k < 6; k++) {
    s = make(1, text, 24);
    s.bytes[k] ^= 1;
    check_bad(&s, JOIST_E_FILE_FIELD, "magic string", "magic");
  }
  static const unsigned char versions[][2] = {{0, 0}, {4, 0}, {1, 1}, {255, 0}, {3, 9}};
  for (int k = 0; k < 5; k++) {
    s = make(1, text, 24);
    memcpy(s.bytes + 6, versions[k], 2);
    check_bad(&s, JOIST_E_FILE_FIELD, "version", "version");
  }
  s = make(1, text, 24);
  s.bytes[9] = 255;
  check_bad(&s, JOIST_E_FILE_FIELD, "header length", "length");
  s.bytes[8] = s.bytes[9] = 0;
  check_bad(&s, JOIST_E_FILE_FIELD, "header length", "length");
  s = make(1, text, 24);
  s.bytes[8]--;
  check_bad(&s, JOIST_E_FILE_SIZE, "", "length");
  s.bytes[8] = (unsigned char)(s.bytes[8] - 20);
  check_bad(&s, JOIST_E_FILE_FIELD, "header", "length within the dictionary");
  for (int k = 10; k < 12; k++) {
    s = make(2, text, 24);
    s.bytes[k] = 255;
    check_bad(&s, JOIST_E_FILE_FIELD, "header length", "length");
  }
  /* Sizes that do not fit. */
  s = make(1, HEADER("<f8", "False", "(2147483647, 2147483647, 2147483647)"), 24);
  check_bad(&s, JOIST_E_FILE_FIELD, "shape", "overflow");
  s = make(1, HEADER("<f8", "False", "(2147483647, 268435455)"), 24);
  check_bad(&s, JOIST_E_FILE_SIZE, "", "large");
}

/* Any single byte of a header, changed to any other, is read without harm. */
static void test_bytes(void) {
  const struct sample good = make(1, HEADER("<f4", "False", "(2, 3)"), 24);
  long taken = 0;
  for (size_t at = 0; at < good.length; at++)
    for (int byte = 0; byte < 256; byte++) {
      struct sample s = good;
      struct joist_elements elements;
      struct joist_error error = {.code = JOIST_E_FILE};
      s.bytes[at] = (unsigned char)byte;
      const joist_status status = parse(&s, &elements, &error);
      taken += status == JOIST_OK;
      if (status == JOIST_OK)
        CHECK(elements.count * joist_dtype_size(elements.dtype) == s.size - elements.start);
    }
  CHECK_MSG(taken > (long)good.length, "%ld are taken", taken);
}

static void test_writing(void) {
  static const char *const types[JOIST_DTYPE_COUNT] = {
      [JOIST_BOOL] = "|b1", [JOIST_I8] = "|i1",  [JOIST_I16] = "<i2",   [JOIST_I32] = "<i4",
      [JOIST_I64] = "<i8",  [JOIST_UI8] = "|u1", [JOIST_UI16] = "<u2",  [JOIST_UI32] = "<u4",
      [JOIST_UI64] = "<u8", [JOIST_F16] = "<f2", [JOIST_BF16] = "<V2",  [JOIST_F32] = "<f4",
      [JOIST_F64] = "<f8",  [JOIST_C64] = "<c8", [JOIST_C128] = "<c16", [JOIST_F8E5M2] = "<f1",
      [JOIST_C32] = "<V4",  [JOIST_BC32] = "<V4"};
  int of_a_byte = 0;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    of_a_byte += types[d] == NULL;
    for (int big = 0; big < 2; big++) {
      struct joist_elements elements = {.dtype = (joist_dtype)d,
                                        .swapped = (big == 1) == is_little_endian(),
                                        .c_order = big == 1,
                                        .shape = {2, {2, 3}},
                                        .count = 6};
      char header[JOIST_NPY_LONGEST], want[100];
      const size_t length = joist_npy_format(&elements, header);
      const char *const type = types[d] == NULL ? "<V1" : types[d];
      const bool ordered = type[1] != 'V' && joist_dtype_size(elements.dtype) > 1;
      const int n =
          snprintf(want, sizeof want, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (2, 3), } ",
                   ordered && big == 1 ? '>' : type[0], type + 1, big == 1 ? "False" : "True");
      CHECK_INT(length, 128);
      CHECK(memcmp(header, "\x93NUMPY\x01\x00\x76\x00", 10) == 0);
      CHECK_MSG(memcmp(header + 10, want, (size_t)n) == 0, "%.60s", header + 10);
      CHECK(header[127] == '\n' && elements.start == 128);
    }
  }
  CHECK_INT(of_a_byte, 16); /* without a type of NumPy's */
  static const char *const shapes[] = {"()", "(7,)", "(1, 2, 3)"};
  static const struct joist_shape given[] = {{0, {0}}, {1, {7}}, {3, {1, 2, 3}}};
  for (int k = 0; k < 3; k++) {
    struct joist_elements elements = {.dtype = JOIST_I8, .shape = given[k]};
    char header[JOIST_NPY_LONGEST + 1] = "";
    joist_npy_format(&elements, header);
    CHECK_MSG(strstr(header + 10, shapes[k]) != NULL, "%s", header + 10);
  }
  /* The longest header there is. */
  struct joist_elements elements = {.dtype = JOIST_C128, .c_order = true};
  elements.shape.rank = JOIST_RANK_MAX;
  for (int d = 0; d < JOIST_RANK_MAX; d++) elements.shape.extent[d] = INT32_MAX;
  char header[JOIST_NPY_LONGEST];
  const size_t length = joist_npy_format(&elements, header);
  CHECK(length <= JOIST_NPY_LONGEST && length % 64 == 0 && header[length - 1] == '\n');
}

int main(void) {
  test_good();
  test_dictionary();
  test_named();
  test_raw();
  test_frame();
  test_bytes();
  test_writing();
  return check_report("npy");
}
