/* Reads and writes the header of npy files, which is a dictionary in Python's notation. */
#include "core/files/npy.h"

#include <stdio.h>
#include <string.h>

#include "core/base/bits.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, ALIGNMENT = 64 };

static struct joist_quote shown(const char *text, size_t length) {
  char plain[sizeof(struct joist_quote)];
  size_t used = 0;
  for (size_t k = 0; k < length && used + 1 < sizeof plain; k++)
    plain[used++] = (char)(text[k] >= 32 && text[k] < 127 ? text[k] : '?');
  plain[used] = '\0';
  return joist_quote(plain);
}

static joist_status bad(const char *field, const char *what, const char *text, size_t length,
                        struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_FILE_FIELD, .name = {"npy", field, what},
                    .text = {shown(text, length)});
}

/* What NumPy has no type for, such as ml_dtypes' bfloat16 and int4, it writes as bytes: a V and how
 * many there are. That is the code of one dtype only where our table has it. */
static bool is_of_bytes(joist_dtype dtype) {
  const char *const code = joist_dtype_code(dtype, JOIST_FORMAT_NPY);
  return code == NULL || code[0] == 'V';
}

static bool is_little_endian(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 1;
}

joist_status joist_npy_length(const unsigned char *bytes, size_t count, size_t *length,
                              struct joist_error *error) {
  if (count < MAGIC || memcmp(bytes, magic, MAGIC) != 0)
    return bad("magic string", "is not that of npy", "", 0, error);
  if (count < JOIST_NPY_PREFIX) return bad("header length", "is cut off", "", 0, error);
  const unsigned major = bytes[6], minor = bytes[7];
  if (major < 1 || major > 3 || minor != 0) {
    char version[16];
    const int n = snprintf(version, sizeof version, "%u.%u", major, minor);
    return bad("version", "is none of 1.0, 2.0 and 3.0", version, (size_t)n, error);
  }
  if (major == 1)
    *length = 10 + ((size_t)bytes[8] | (size_t)bytes[9] << 8);
  else
    *length = 12 + ((size_t)bytes[8] | (size_t)bytes[9] << 8 | (size_t)bytes[10] << 16 |
                    (size_t)bytes[11] << 24);
  /* NumPy itself reads no longer ones unless it is told to; a rank of 32 takes 450 bytes. */
  if (*length > 1 << 20) return bad("header length", "is beyond 1 MiB", "", 0, error);
  if (*length < JOIST_NPY_PREFIX) return bad("header length", "is too small", "", 0, error);
  return JOIST_OK;
}

/* ---- the dictionary ---- */

struct cursor {
  const char *at, *end;
};

static void skip_space(struct cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r'))
    c->at++;
}

/* Whether this character comes next, which it then passes. */
static bool take(struct cursor *c, char what) {
  skip_space(c);
  if (c->at == c->end || *c->at != what) return false;
  c->at++;
  return true;
}

static bool take_word(struct cursor *c, const char *word) {
  skip_space(c);
  const size_t length = strlen(word);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
  c->at += length;
  return true;
}

struct slice {
  const char *text;
  size_t length;
};

static bool same(struct slice slice, const char *text) {
  return strlen(text) == slice.length && memcmp(text, slice.text, slice.length) == 0;
}

/* A string between single or double quotes, without escapes. */
static bool take_string(struct cursor *c, struct slice *string) {
  skip_space(c);
  if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
  const char quote = *c->at++;
  string->text = c->at;
  while (c->at < c->end && *c->at != quote && *c->at != '\\') c->at++;
  if (c->at == c->end || *c->at != quote) return false;
  string->length = (size_t)(c->at++ - string->text);
  return true;
}

/* What stands here, for a message. */
static struct slice rest_of(const struct cursor *c) {
  return (struct slice){c->at, (size_t)(c->end - c->at) < 40 ? (size_t)(c->end - c->at) : 40};
}

static joist_status bad_here(const char *field, const char *what, const struct cursor *c,
                             struct joist_error *error) {
  const struct slice rest = rest_of(c);
  return bad(field, what, rest.text, rest.length, error);
}

static joist_status no_dtype(struct slice descr, struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_FILE_DTYPE, .name = {"npy"},
                    .text = {shown(descr.text, descr.length)});
}

static bool is_code(struct slice text, joist_dtype dtype) {
  const char *const code = joist_dtype_code(dtype, JOIST_FORMAT_NPY);
  return (code != NULL && same(text, code)) ||
         (is_of_bytes(dtype) && same(text, joist_dtype_format(dtype, JOIST_STYLE_NUMPY)));
}

/* A header while it is read, and the layout of its elements. */
struct reading {
  struct joist_elements *elements;
  joist_dtype as;
  bool raw;
  struct slice descr; /* of a type without a dtype, if only its bytes are wanted */
};

static const char objects[] = "which are Python objects; these are never read";

static joist_status no_bytes(struct slice descr, const char *why, struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_FILE_RAW, .name = {"npy", why},
                    .text = {shown(descr.text, descr.length)});
}

/* A list of fields, up to its last bracket. */
static joist_status pass_fields(struct cursor *c, struct reading *reading,
                                struct joist_error *error) {
  const struct slice start = rest_of(c);
  int depth = 0;
  do {
    struct slice string;
    skip_space(c);
    if (c->at == c->end) return bad_here("descr", "has no end", c, error);
    const char next = *c->at;
    if (next == '\'' || next == '"') {
      if (!take_string(c, &string)) return bad_here("descr", "has no end", c, error);
      if (same(string, "|O")) return no_bytes(start, objects, error);
      continue;
    }
    depth += (next == '[' || next == '(') - (next == ']' || next == ')');
    c->at++;
  } while (depth > 0);
  reading->descr = start;
  return JOIST_OK;
}

/* The bytes of an element of one of NumPy's types, such as M8[s] and U4; 0 if it is unknown. */
static size_t bytes_of(struct slice code) {
  size_t bytes = 0, k = 1;
  for (; k < code.length && code.text[k] >= '0' && code.text[k] <= '9' && bytes < 1 << 20; k++)
    bytes = 10 * bytes + (size_t)(code.text[k] - '0');
  if (k < code.length && code.text[k] != '[') return 0;
  return code.text[0] == 'U' ? 4 * bytes : bytes;
}

/* Elements of a type as elements of the dtype that the caller names. */
static joist_status read_as(struct slice code, joist_dtype dtype, struct joist_error *error) {
  const size_t bytes = bytes_of(code);
  if (bytes == joist_dtype_size(dtype)) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_FILE_TYPE_SIZE, .name = {"npy"}, .type = {{dtype, false}},
                    .number = {(double)bytes}, .text = {shown(code.text, code.length)});
}

/* A type without a dtype. */
static joist_status read_other(struct slice descr, struct slice code, struct reading *reading,
                               struct joist_error *error) {
  bool known = strchr("?biufcmMOSaUVW", code.text[0]) != NULL;
  for (size_t k = 1; k < code.length && code.text[k] != '['; k++)
    known = known && code.text[k] >= '0' && code.text[k] <= '9';
  if (!known) return bad("descr", "is not a NumPy type", descr.text, descr.length, error);
  if (code.text[0] == 'O') return no_bytes(descr, objects, error);
  if (reading->raw) {
    reading->descr = descr;
    return JOIST_OK;
  }
  /* ml_dtypes writes W for all complex numbers of two narrow floats. */
  const bool halves = same(code, "V4") || same(code, "W4");
  if (!halves && !same(code, "V1")) return no_dtype(descr, error);
  return JOIST_FAIL(error, JOIST_E_FILE_UNTYPED, .name = {"npy"}, .number = {halves ? 4 : 1},
                    .text = {shown(descr.text, descr.length)});
}

/* The type of the elements: an order, a letter and a number of bytes. */
static joist_status read_descr(struct cursor *c, struct reading *reading,
                               struct joist_error *error) {
  struct joist_elements *const elements = reading->elements;
  struct slice descr;
  skip_space(c);
  if (c->at < c->end && *c->at == '[')
    return reading->raw ? pass_fields(c, reading, error) : no_dtype(rest_of(c), error);
  if (!take_string(c, &descr)) return bad_here("descr", "is not a string", c, error);
  char order = '|';
  struct slice code = descr;
  if (code.length > 0 && strchr("<>|=", code.text[0]) != NULL) {
    order = *code.text++;
    code.length--;
  }
  if (code.length == 0) return bad("descr", "is empty", descr.text, descr.length, error);
  elements->swapped = order == (is_little_endian() ? '>' : '<');
  for (int d = 0; d < JOIST_DTYPE_COUNT && elements->dtype == JOIST_DTYPE_NONE; d++)
    if (is_code(code, (joist_dtype)d)) elements->dtype = (joist_dtype)d;
  const bool of_bytes =
      elements->dtype == JOIST_DTYPE_NONE ? code.text[0] == 'V' : is_of_bytes(elements->dtype);
  if (of_bytes) {
    if (order == '>') return no_dtype(descr, error); /* NumPy has no order for these */
    elements->swapped = !is_little_endian();
  }
  if (reading->as != JOIST_DTYPE_NONE && code.text[0] != 'O') {
    elements->dtype = reading->as;
    return read_as(code, reading->as, error);
  }
  return elements->dtype != JOIST_DTYPE_NONE ? JOIST_OK : read_other(descr, code, reading, error);
}

static joist_status read_extent(struct cursor *c, struct joist_shape *shape,
                                struct joist_error *error) {
  const struct cursor start = *c;
  uint64_t extent = 0;
  if (c->at == c->end || *c->at < '0' || *c->at > '9')
    return bad_here("shape", "has an extent that is not a number", c, error);
  for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
    extent = 10 * extent + (uint64_t)(*c->at - '0');
    if (extent > INT32_MAX)
      return bad_here("shape", "has an extent beyond 2^31 - 1", &start, error);
  }
  if (c->at < c->end && *c->at == 'L') c->at++; /* Python 2 */
  if (shape->rank == JOIST_RANK_MAX)
    return bad_here("shape", "has more than 32 dimensions", &start, error);
  shape->extent[shape->rank++] = (uint32_t)extent;
  return JOIST_OK;
}

/* A tuple: (), (2,), (2, 3) */
static joist_status read_shape(struct cursor *c, struct joist_shape *shape,
                               struct joist_error *error) {
  shape->rank = 0;
  if (!take(c, '(')) return bad_here("shape", "is not a tuple", c, error);
  bool comma = true;
  while (!take(c, ')')) {
    if (!comma) return bad_here("shape", "has no comma between extents", c, error);
    const joist_status status = read_extent(c, shape, error);
    if (status != JOIST_OK) return status;
    comma = take(c, ',');
  }
  /* (2) is a number in Python. */
  return shape->rank == 1 && !comma ? bad_here("shape", "is not a tuple", c, error) : JOIST_OK;
}

static joist_status read_fortran_order(struct cursor *c, struct joist_elements *elements,
                                       struct joist_error *error) {
  elements->c_order = take_word(c, "False");
  return elements->c_order || take_word(c, "True")
             ? JOIST_OK
             : bad_here("fortran_order", "is neither True nor False", c, error);
}

static const char *const keys[] = {"descr", "fortran_order", "shape"};
enum { KEYS = sizeof keys / sizeof *keys };

static joist_status read_value(int key, struct cursor *c, struct reading *reading,
                               struct joist_error *error) {
  return key == 0   ? read_descr(c, reading, error)
         : key == 1 ? read_fortran_order(c, reading->elements, error)
                    : read_shape(c, &reading->elements->shape, error);
}

static joist_status read_entries(struct cursor *c, struct reading *reading,
                                 struct joist_error *error) {
  bool found[KEYS] = {false}, comma = true;
  if (!take(c, '{')) return bad_here("header", "is not a dictionary", c, error);
  while (!take(c, '}')) {
    struct slice name;
    int key = 0;
    if (!comma || !take_string(c, &name) || !take(c, ':'))
      return bad_here("header", "is not a dictionary", c, error);
    while (key < KEYS && !same(name, keys[key])) key++;
    if (key == KEYS)
      return bad("header", "has a key unknown to npy", name.text, name.length, error);
    if (found[key]) return bad(keys[key], "is there twice", "", 0, error);
    found[key] = true;
    const joist_status status = read_value(key, c, reading, error);
    if (status != JOIST_OK) return status;
    comma = take(c, ',');
  }
  for (int key = 0; key < KEYS; key++)
    if (!found[key]) return bad(keys[key], "is missing", "", 0, error);
  skip_space(c);
  return c->at == c->end ? JOIST_OK : bad_here("header", "goes on behind the dictionary", c, error);
}

/* The bytes of an element are the bytes of the file, divided by the number of elements. */
static joist_status find_unit(const struct reading *reading, uint64_t size,
                              struct joist_error *error) {
  struct joist_elements *const elements = reading->elements;
  elements->dtype = JOIST_UI8;
  if (!joist_shape_count(&elements->shape, &elements->count))
    return bad("shape", "has more elements than memory can hold", "", 0, error);
  if (elements->count == 0)
    return no_bytes(reading->descr, "and none of them, so that their size is unknown", error);
  const uint64_t bytes = size - elements->start;
  if (bytes == 0 || bytes % elements->count != 0 || bytes / elements->count > INT32_MAX)
    return no_bytes(reading->descr, "and not the same number of bytes for each", error);
  elements->unit = (size_t)(bytes / elements->count);
  return JOIST_OK;
}

joist_status joist_npy_parse(const unsigned char *header, size_t length, uint64_t size,
                             joist_dtype as, bool raw, struct joist_elements *elements,
                             struct joist_error *error) {
  size_t wanted = 0;
  joist_status status = joist_npy_length(header, length, &wanted, error);
  if (status != JOIST_OK) return status;
  if (wanted != length || length > size)
    return bad("header length", "is more than the file has", "", 0, error);
  *elements = (struct joist_elements){.dtype = JOIST_DTYPE_NONE, .start = length};
  struct reading reading = {.elements = elements, .as = as, .raw = raw};
  struct cursor c = {(const char *)header + (header[6] == 1 ? 10 : 12),
                     (const char *)header + length};
  status = read_entries(&c, &reading, error);
  if (status != JOIST_OK) return status;
  return elements->dtype == JOIST_DTYPE_NONE
             ? find_unit(&reading, size, error)
             : joist_elements_check("npy", elements, size, size != JOIST_NPY_OPEN, error);
}

/* ---- writing ---- */

size_t joist_npy_format(struct joist_elements *elements, char header[JOIST_NPY_LONGEST]) {
  const joist_dtype dtype = elements->dtype;
  const size_t size = joist_dtype_size(dtype);
  if (is_of_bytes(dtype)) elements->swapped = !is_little_endian();
  const bool little = is_little_endian() != elements->swapped;
  /* NumPy gives its own types of a byte no order, and types of ml_dtypes the machine's order. */
  const bool unordered = size == 1 && !is_of_bytes(dtype) && dtype != JOIST_F8E5M2;
  const char order = unordered ? '|' : little || size == 1 ? '<' : '>';
  const char *code = joist_dtype_code(dtype, JOIST_FORMAT_NPY);
  char bytes[8];
  snprintf(bytes, sizeof bytes, "V%u", (unsigned)size);
  if (code == NULL) code = bytes;
  int used = 10;
  used += snprintf(header + used, (size_t)(JOIST_NPY_LONGEST - used),
                   "{'descr': '%c%s', 'fortran_order': %s, 'shape': (", order, code,
                   elements->c_order ? "False" : "True");
  for (int d = 0; d < elements->shape.rank; d++)
    used += snprintf(header + used, (size_t)(JOIST_NPY_LONGEST - used), "%s%lu", d > 0 ? ", " : "",
                     (unsigned long)elements->shape.extent[d]);
  used += snprintf(header + used, (size_t)(JOIST_NPY_LONGEST - used), "%s), }",
                   elements->shape.rank == 1 ? "," : "");
  const size_t length = joist_divide_up((size_t)used + 1, ALIGNMENT) * ALIGNMENT;
  memset(header + used, ' ', length - (size_t)used);
  header[length - 1] = '\n';
  memcpy(header, magic, MAGIC);
  header[6] = 1;
  header[7] = 0;
  header[8] = (char)((length - 10) & 0xff);
  header[9] = (char)((length - 10) >> 8);
  elements->start = length;
  return length;
}
