/* Headers of GGUF files: what is read, what is not valid, and every byte damaged in turn. */
#include "core/files/gguf.h"

#include "errors.h"

#include <stdlib.h>

struct sample {
  unsigned char bytes[4096];
  size_t size;
};

static void add(struct sample *s, uint64_t number, size_t bytes) {
  for (size_t k = 0; k < bytes; k++) s->bytes[s->size++] = (unsigned char)(number >> (8 * k));
}

static void add_string(struct sample *s, const char *text) {
  add(s, strlen(text), 8);
  memcpy(s->bytes + s->size, text, strlen(text));
  s->size += strlen(text);
}

static void begin(struct sample *s, uint32_t version, uint64_t tensors, uint64_t pairs) {
  *s = (struct sample){.bytes = "GGUF", .size = 4};
  add(s, version, 4);
  add(s, tensors, 8);
  add(s, pairs, 8);
}

static void add_tensor(struct sample *s, const char *name, uint64_t rows, uint64_t columns,
                       uint32_t type, uint64_t offset) {
  add_string(s, name);
  add(s, 2, 4);
  add(s, rows, 8);
  add(s, columns, 8);
  add(s, type, 4);
  add(s, offset, 8);
}

static void add_data(struct sample *s, size_t bytes) {
  while (s->size % 32 != 0) s->bytes[s->size++] = 0;
  s->size += bytes;
}

/* Two tensors, F32 of 2 x 3 and Q8_0 of 32 x 2, and a pair of each kind. */
static struct sample good(void) {
  struct sample s;
  begin(&s, 3, 2, 4);
  add_string(&s, "n");
  add(&s, 4, 4);
  add(&s, 7, 4);
  add_string(&s, "s");
  add(&s, JOIST_GGUF_STRING, 4);
  add_string(&s, "text");
  add_string(&s, "a");
  add(&s, JOIST_GGUF_ARRAY, 4);
  add(&s, JOIST_GGUF_ARRAY, 4);
  add(&s, 1, 8);
  add(&s, JOIST_GGUF_STRING, 4);
  add(&s, 2, 8);
  add_string(&s, "x");
  add_string(&s, "");
  add_string(&s, "b");
  add(&s, JOIST_GGUF_BOOL, 4);
  add(&s, 1, 1);
  add_tensor(&s, "w", 2, 3, 0, 0);
  add_tensor(&s, "q", 32, 2, 8, 32);
  add_data(&s, 32 + 68);
  return s;
}

static joist_status parse(const struct sample *s, struct joist_gguf *file,
                          struct joist_error *error) {
  return joist_gguf_parse(s->bytes, s->size, s->size, file, error);
}

static void test_good(void) {
  const struct sample s = good();
  struct joist_gguf file;
  struct joist_error error;
  CHECK_INT(parse(&s, &file, &error), JOIST_OK);
  CHECK(file.version == 3 && file.count == 2 && file.pair_count == 4 && file.needed == 0);
  CHECK_STR(file.tensors[0].name, "w");
  CHECK(file.tensors[0].dtype == JOIST_F32 && file.tensors[0].bytes == 24);
  CHECK(file.tensors[0].start == s.size - 100);
  CHECK(file.tensors[1].block == JOIST_BLOCK_Q8_0 && file.tensors[1].bytes == 68);
  CHECK_STR(joist_gguf_type(&file.tensors[1]), "Q8_0");
  CHECK(joist_gguf_bits(&file.tensors[1]) == 8.5 && joist_gguf_bits(&file.tensors[0]) == 32);
  CHECK_STR(file.pairs[2].key, "a");
  size_t at = file.pairs[2].value.at, length;
  const struct joist_gguf_value inner = joist_gguf_array(&file, s.bytes, &at);
  CHECK(inner.type == JOIST_GGUF_STRING && inner.count == 2);
  size_t item = inner.at;
  CHECK(joist_gguf_string(&file, s.bytes, &item, &length)[0] == 'x' && length == 1);
  (void)joist_gguf_string(&file, s.bytes, &item, &length);
  CHECK(length == 0 && item == at);
  joist_gguf_free(&file);
}

/* Each part of a header asks for more, and is read in the end. */
static void test_parts(void) {
  const struct sample s = good();
  struct joist_gguf file;
  struct joist_error error;
  for (size_t length = 0; length < s.size; length++) {
    size_t there = length;
    for (int round = 0; there > 0 || round == 0; round++) {
      CHECK_INT(joist_gguf_parse(s.bytes, there, s.size, &file, &error), JOIST_OK);
      CHECK(file.needed == 0 || (file.needed > there && file.needed <= s.size));
      there = file.needed;
      joist_gguf_free(&file);
    }
    CHECK(joist_gguf_parse(s.bytes, length, length, &file, &error) != JOIST_OK || length >= s.size);
    joist_gguf_free(&file);
  }
}

static void check_bad(const struct sample *s, const char *field, const char *what) {
  struct joist_gguf file;
  struct joist_error error = {0};
  CHECK_INT(parse(s, &file, &error), JOIST_ERROR_VALUE);
  CHECK_STR(error.name[1], field);
  CHECK_STR(error.name[2], what);
  joist_gguf_free(&file);
}

static void test_fields(void) {
  struct sample s = good();
  s.bytes[0] = 'g';
  check_bad(&s, "magic number", "is not GGUF");
  begin(&s, 1, 0, 0);
  check_bad(&s, "version", "is not 2 or 3");
  begin(&s, 3, UINT64_MAX, 0);
  check_bad(&s, "header", "is cut off");
  begin(&s, 3, 0, 1);
  add_string(&s, "k");
  add(&s, 13, 4);
  check_bad(&s, "metadata", "has a value of an unknown type");
  begin(&s, 3, 0, 1);
  add_string(&s, "k");
  add(&s, JOIST_GGUF_ARRAY, 4);
  add(&s, 12, 4);
  add(&s, UINT64_MAX / 4, 8); /* whose size overflows */
  check_bad(&s, "header", "is cut off");
  begin(&s, 3, 0, 2);
  for (int k = 0; k < 2; k++) {
    add_string(&s, "k");
    add(&s, 0, 4);
    add(&s, 0, 1);
  }
  check_bad(&s, "metadata", "has a key twice");
  begin(&s, 3, 0, 1);
  add_string(&s, "k");
  add(&s, JOIST_GGUF_ARRAY, 4);
  for (int k = 0; k < 20; k++) {
    add(&s, JOIST_GGUF_ARRAY, 4);
    add(&s, 1, 8);
  }
  check_bad(&s, "metadata", "has arrays within arrays, too many");
  begin(&s, 3, 0, 1);
  add_string(&s, "general.alignment");
  add(&s, 4, 4);
  add(&s, 24, 4);
  check_bad(&s, "metadata", "is not a power of 2 up to 2^20, of 32 bits");
}

static void test_tensors(void) {
  static const struct {
    uint64_t rows, columns, offset;
    uint32_t type;
    const char *field, *what;
  } cases[] = {
      {2, 3, 4, 0, "offset", "is not a multiple of the alignment"},
      {2, 3, 96, 0, "offset", "is beyond the end of the file"},
      {2, 3, UINT64_MAX - 31, 0, "offset", "is beyond the end of the file"},
      {INT32_MAX, INT32_MAX, 0, 28, "shape", "has more elements than memory can hold"},
      {UINT64_C(1) << 31, 1, 0, 24, "shape", "has an extent beyond 2^31 - 1"},
      {33, 1, 0, 8, "shape", "does not have whole blocks along its first dimension"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct sample s;
    begin(&s, 3, 1, 0);
    add_tensor(&s, "w", cases[k].rows, cases[k].columns, cases[k].type, cases[k].offset);
    add_data(&s, 96);
    check_bad(&s, cases[k].field, cases[k].what);
  }
  struct sample s;
  begin(&s, 3, 2, 0);
  add_tensor(&s, "w", 8, 2, 0, 0);
  add_tensor(&s, "v", 2, 2, 0, 32);
  add_data(&s, 96);
  check_bad(&s, "offset", "overlaps another");
  begin(&s, 3, 2, 0);
  for (uint64_t k = 0; k < 2; k++) add_tensor(&s, "w", 2, 2, 0, 32 * k);
  add_data(&s, 96);
  check_bad(&s, "name", "is there twice");
  /* A type that is not known has the bytes up to the next tensor. */
  struct joist_gguf file;
  struct joist_error error;
  begin(&s, 2, 2, 0);
  add_tensor(&s, "w", 7, 2, 1000, 0);
  add_tensor(&s, "v", 2, 2, 0, 64);
  add_data(&s, 96);
  CHECK_INT(parse(&s, &file, &error), JOIST_OK);
  CHECK(file.tensors[0].bytes == 64 && joist_gguf_type(&file.tensors[0]) == NULL);
  joist_gguf_free(&file);
}

/* Damage gives an error or another valid file, never a place outside. */
static void test_damage(void) {
  for (size_t at = 0; at < good().size; at++)
    for (int bit = 0; bit < 8; bit++) {
      struct sample s = good();
      struct joist_gguf file;
      struct joist_error error;
      s.bytes[at] ^= (unsigned char)(1 << bit);
      if (parse(&s, &file, &error) == JOIST_OK)
        for (size_t k = 0; k < file.count; k++)
          CHECK(file.tensors[k].start <= s.size &&
                file.tensors[k].bytes <= s.size - file.tensors[k].start);
      joist_gguf_free(&file);
    }
}

int main(void) {
  test_good();
  test_parts();
  test_fields();
  test_tensors();
  test_damage();
  return check_report("GGUF");
}
