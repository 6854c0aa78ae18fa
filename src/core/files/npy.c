/* Reads and writes the header of npy files, which is a dictionary in Python's notation. */
#include "core/files/npy.h"

#include <stdio.h>
#include <string.h>

#include "core/base/bits.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, ALIGNMENT = 64 };

static joist_status bad(const char *field, const char *what, const char *text, size_t length,
                        struct joist_error *error) {
  char shown[sizeof(struct joist_quote)];
  size_t used = 0;
  for (size_t k = 0; k < length && used + 1 < sizeof shown; k++)
    shown[used++] = (char)(text[k] >= 32 && text[k] < 127 ? text[k] : '?');
  shown[used] = '\0';
  return JOIST_FAIL(error, JOIST_E_FILE_FIELD, .name = {"npy", field, what},
                    .text = {joist_quote(shown)});
}

/* What NumPy has no type for, such as ml_dtypes' bfloat16, it writes as bytes. */
static bool is_of_bytes(joist_dtype dtype) {
  const char *const code = joist_dtype_code(dtype, JOIST_FORMAT_NPY);
  return code != NULL && code[0] == 'V';
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
  struct joist_error facts = {.code = JOIST_E_FILE_DTYPE};
  const joist_status status = bad("descr", "", descr.text, descr.length, &facts);
  (void)status;
  facts =
      (struct joist_error){.code = JOIST_E_FILE_DTYPE, .name = {"npy"}, .text = {facts.text[0]}};
  return joist_fail_with(error, &facts);
}

static bool is_code(struct slice text, joist_dtype dtype) {
  const char *const code = joist_dtype_code(dtype, JOIST_FORMAT_NPY);
  return (code != NULL && same(text, code)) ||
         (is_of_bytes(dtype) && same(text, joist_dtype_format(dtype, JOIST_STYLE_NUMPY)));
}

/* The type of the elements: an order, a letter and a number of bytes. */
static joist_status read_descr(struct cursor *c, struct joist_elements *elements,
                               struct joist_error *error) {
  struct slice descr;
  skip_space(c);
  if (c->at < c->end && *c->at == '[') return no_dtype(rest_of(c), error); /* of fields */
  if (!take_string(c, &descr)) return bad_here("descr", "is no string", c, error);
  char order = '|';
  struct slice code = descr;
  if (code.length > 0 && strchr("<>|=", code.text[0]) != NULL) {
    order = *code.text++;
    code.length--;
  }
  if (code.length == 0) return bad("descr", "is empty", descr.text, descr.length, error);
  elements->swapped = order == (is_little_endian() ? '>' : '<');
  elements->dtype = JOIST_DTYPE_NONE;
  for (int d = 0; d < JOIST_DTYPE_COUNT && elements->dtype == JOIST_DTYPE_NONE; d++)
    if (is_code(code, (joist_dtype)d)) elements->dtype = (joist_dtype)d;
  if (elements->dtype != JOIST_DTYPE_NONE && is_of_bytes(elements->dtype)) {
    if (order == '>') return no_dtype(descr, error); /* NumPy has no order for these */
    elements->swapped = !is_little_endian();
  }
  if (elements->dtype != JOIST_DTYPE_NONE) return JOIST_OK;
  bool known = strchr("?biufcmMOSaUV", code.text[0]) != NULL;
  for (size_t k = 1; k < code.length && code.text[k] != '['; k++)
    known = known && code.text[k] >= '0' && code.text[k] <= '9';
  return known ? no_dtype(descr, error)
               : bad("descr", "is no type of NumPy's", descr.text, descr.length, error);
}

static joist_status read_extent(struct cursor *c, struct joist_shape *shape,
                                struct joist_error *error) {
  const struct cursor start = *c;
  uint64_t extent = 0;
  if (c->at == c->end || *c->at < '0' || *c->at > '9')
    return bad_here("shape", "has an extent that is no number", c, error);
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
  if (!take(c, '(')) return bad_here("shape", "is no tuple", c, error);
  bool comma = true;
  while (!take(c, ')')) {
    if (!comma) return bad_here("shape", "has no comma between extents", c, error);
    const joist_status status = read_extent(c, shape, error);
    if (status != JOIST_OK) return status;
    comma = take(c, ',');
  }
  /* (2) is a number in Python. */
  return shape->rank == 1 && !comma ? bad_here("shape", "is no tuple", c, error) : JOIST_OK;
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

static joist_status read_value(int key, struct cursor *c, struct joist_elements *elements,
                               struct joist_error *error) {
  return key == 0   ? read_descr(c, elements, error)
         : key == 1 ? read_fortran_order(c, elements, error)
                    : read_shape(c, &elements->shape, error);
}

static joist_status read_entries(struct cursor *c, struct joist_elements *elements,
                                 struct joist_error *error) {
  bool found[KEYS] = {false}, comma = true;
  if (!take(c, '{')) return bad_here("header", "is no dictionary", c, error);
  while (!take(c, '}')) {
    struct slice name;
    int key = 0;
    if (!comma || !take_string(c, &name) || !take(c, ':'))
      return bad_here("header", "is no dictionary", c, error);
    while (key < KEYS && !same(name, keys[key])) key++;
    if (key == KEYS)
      return bad("header", "has a key that npy has not", name.text, name.length, error);
    if (found[key]) return bad(keys[key], "is there twice", "", 0, error);
    found[key] = true;
    const joist_status status = read_value(key, c, elements, error);
    if (status != JOIST_OK) return status;
    comma = take(c, ',');
  }
  for (int key = 0; key < KEYS; key++)
    if (!found[key]) return bad(keys[key], "is missing", "", 0, error);
  skip_space(c);
  return c->at == c->end ? JOIST_OK : bad_here("header", "goes on behind the dictionary", c, error);
}

joist_status joist_npy_parse(const unsigned char *header, size_t length, uint64_t size,
                             struct joist_elements *elements, struct joist_error *error) {
  size_t wanted = 0;
  joist_status status = joist_npy_length(header, length, &wanted, error);
  if (status != JOIST_OK) return status;
  if (wanted != length || length > size)
    return bad("header length", "is more than the file has", "", 0, error);
  *elements = (struct joist_elements){.start = length};
  struct cursor c = {(const char *)header + (header[6] == 1 ? 10 : 12),
                     (const char *)header + length};
  status = read_entries(&c, elements, error);
  return status == JOIST_OK ? joist_elements_check("npy", elements, size, true, error) : status;
}

/* ---- writing ---- */

size_t joist_npy_format(struct joist_elements *elements, char header[JOIST_NPY_LONGEST]) {
  if (is_of_bytes(elements->dtype)) elements->swapped = !is_little_endian();
  const bool little = is_little_endian() != elements->swapped;
  const char *const code = joist_dtype_code(elements->dtype, JOIST_FORMAT_NPY);
  if (code == NULL) return 0;
  const char order = joist_dtype_size(elements->dtype) == 1 ? '|' : little ? '<' : '>';
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
