/* The two tables of errors: every code of the core has a text of all its facts, and is the subject
 * of a test. */
#include <stdlib.h>

#include "core/types/errors.def"
#include "errors.h"
#include "r/base/error_texts.def"

static const struct {
  const char *code, *facts;
} errors[] = {
#define X(CODE, STATUS, FACTS) {#CODE, FACTS},
    JOIST_ERRORS(X)
#undef X
};

/* The texts, by their own order. */
static const struct {
  joist_error_code code;
  const char *text;
} texts[] = {
#define X(CODE, TEXT) {JOIST_E_##CODE, TEXT},
    JOIST_R_ERROR_TEXTS(X)
#undef X
};
enum { TEXTS = sizeof texts / sizeof *texts };

/* Which codes the tests of this folder name; written by the Makefile. */
static const bool tested[JOIST_E_COUNT + 1] = {
#include "tested_errors.def"
};

/* Whether `words`, separated by spaces, has the one of that length. */
static bool has_word(const char *words, const char *word, size_t length) {
  for (const char *start = words; *start != '\0';) {
    const size_t size = strcspn(start, " ");
    if (size == length && memcmp(start, word, size) == 0) return true;
    start += size + (start[size] == ' ');
  }
  return false;
}

/* The fact that braces ask for, which may be told in another way. */
static size_t fact_of(const char *braced, const char **fact) {
  *fact = strncmp(braced, "range", 5) == 0    ? "type"
          : strncmp(braced, "rank", 4) == 0   ? "shape"
          : strncmp(braced, "matrix", 6) == 0 ? "batch"
          : strncmp(braced, "caller", 6) == 0 ? "op"
                                              : braced;
  return strcspn(*fact, " }");
}

static void check_text(joist_error_code code, const char *text) {
  char used[200] = "";
  for (const char *open = text; (open = strchr(open, '{')) != NULL; open++) {
    const char *fact;
    const size_t length = fact_of(open + 1, &fact);
    CHECK_MSG(has_word(errors[code].facts, fact, length), "%s has no {%.*s}", errors[code].code,
              (int)length, fact);
    strncat(used, fact, length);
    strcat(used, " ");
  }
  for (const char *fact = errors[code].facts; *fact != '\0';) {
    const size_t length = strcspn(fact, " ");
    CHECK_MSG(has_word(used, fact, length), "%s does not say {%.*s}", errors[code].code,
              (int)length, fact);
    fact += length + (fact[length] == ' ');
  }
}

static void test_tables(void) {
  CHECK_INT(TEXTS, JOIST_E_COUNT);
  for (int code = 0; code < JOIST_E_COUNT; code++) {
    int count = 0;
    for (int k = 0; k < TEXTS; k++) count += (int)texts[k].code == code;
    CHECK_MSG(count == 1, "%s has %d texts", errors[code].code, count);
    CHECK_MSG(tested[code], "no test of %s", errors[code].code);
  }
  for (int k = 0; k < TEXTS; k++) check_text(texts[k].code, texts[k].text);
}

/* With all facts given no brace is left, and without any no part that needs one. */
static void test_formatting(void) {
  struct joist_error error = {.dim = 3,
                              .op = "add",
                              .name = {"one", "two"},
                              .type = {{JOIST_F16, false}, {JOIST_I8, true}},
                              .shape = {{2, {4, 5}}, {1, {6}}},
                              .position = 7,
                              .batch = 8,
                              .bytes = 1536 << 20,
                              .count = {9, 10},
                              .number = {0.5, -1},
                              .text = {joist_quote("here"), joist_quote("there")}};
  for (int code = 0; code < JOIST_E_COUNT; code++) {
    error.code = (joist_error_code)code;
    const struct joist_error bare = {.code = error.code};
    CHECK_MSG(strpbrk(words(&error), "<>") == NULL, "%s", words(&error));
    CHECK_MSG(strpbrk(words(&bare), "<>") == NULL, "%s", words(&bare));
  }
  error.code = JOIST_E_SHAPE_EXTENTS;
  CHECK_STR(words(&error),
            "shapes {4x5} and {6} do not match: dimension 3 has extents 9 and 10 "
            "(extents must be equal, or one of them 1)");
  error.code = JOIST_E_OUT_OF_RANGE;
  CHECK_STR(words(&error), "here at position 7 does not fit f16 (-65504 to 65504)");
  error.code = JOIST_E_OUT_OF_MEMORY;
  CHECK_STR(words(&error), "out of memory: cannot allocate 1.5 GiB");
  error.bytes = 9999;
  CHECK_STR(words(&error), "out of memory: cannot allocate 9999 bytes");
  error.code = JOIST_E_NO_DIMENSION;
  CHECK_STR(words(&error), "there is no dimension 0.5; the tensor has 2 dimensions");
  error.shape[0].rank = 1;
  CHECK_STR(words(&error), "there is no dimension 0.5; the tensor has 1 dimension");
}

/* A text of `ascii` letters, followed by more copies of `character` than fit. */
static void check_cut(size_t ascii, const char *character) {
  enum { ROOM = sizeof(struct joist_quote) - 4 };
  static char text[4 * ROOM];
  const size_t size = strlen(character);
  memset(text, 'a', ascii);
  size_t used = ascii;
  for (; used < 2 * ROOM; used += size) memcpy(text + used, character, size);
  text[used] = '\0';
  const struct joist_quote copy = joist_quote(text);
  const size_t want = ascii + (ROOM - ascii) / size * size;
  CHECK_INT(strlen(copy.bytes), want + 3);
  CHECK_MSG(memcmp(copy.bytes, text, want) == 0 && strcmp(copy.bytes + want, "...") == 0,
            "%zu letters and %s", ascii, character);
}

static void test_copies(void) {
  static const char *const characters[] = {"z", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  for (size_t ascii = 0; ascii < 8; ascii++)
    for (int c = 0; c < 4; c++) check_cut(ascii, characters[c]);
  char text[sizeof(struct joist_quote) + 1];
  memset(text, 'a', sizeof text);
  text[sizeof text - 2] = '\0';
  CHECK_STR(joist_quote(text).bytes, text);
  CHECK_STR(joist_quote("caf\xc3\xa9").bytes, "caf\xc3\xa9");
  CHECK_STR(joist_quote("").bytes, "");
}

int main(void) {
  test_tables();
  test_formatting();
  test_copies();
  struct joist_error error;
  CHECK_ERROR(JOIST_FAIL(&error, JOIST_E_NO_DIMENSION, .dim = 2), error, JOIST_E_NO_DIMENSION);
  CHECK(error.dim == 2 && error.position == 0);
  CHECK_INT(JOIST_FAIL(NULL, JOIST_E_NO_DIMENSION, .dim = 2), JOIST_ERROR_SHAPE);
  return check_report("errors");
}
