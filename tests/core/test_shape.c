/* Shapes: counts and their overflow, text, broadcasting and reducing. */
#include "core/types/shape_rules.h"

#include "errors.h"

#include <stdlib.h>

static struct joist_shape shape_of(const char *text) {
  struct joist_shape shape = {0, {0}};
  char *end;
  while (*text != '\0') {
    shape.extent[shape.rank++] = (uint32_t)strtoul(text, &end, 10);
    text = *end == '\0' ? end : end + 1;
  }
  return shape;
}

static void check_count_of(const char *text, bool fits, size_t want) {
  const struct joist_shape shape = shape_of(text);
  size_t count = 12345;
  CHECK_MSG(joist_shape_count(&shape, &count) == fits, "count of {%s}", text);
  if (fits) CHECK_INT(count, want);
}

static void test_count(void) {
  check_count_of("", true, 1);
  check_count_of("0", true, 0);
  check_count_of("2x3x4", true, 24);
  check_count_of("4294967295x4294967295x4294967295x0", true, 0);
  check_count_of("4294967295x0x4294967295x4294967295", true, 0);
  check_count_of("4294967295x4294967295", false, 0);
  check_count_of("2147483647x2147483647x2147483647", false, 0);
#if SIZE_MAX > 0xffffffff
  /* PTRDIFF_MAX / 16 = 2^59 - 1 elements */
  check_count_of("536870912x1073741824", false, 0);
  check_count_of("536870912x1073741823", true, (size_t)536870912 * 1073741823);
  check_count_of("4294967295x2x1", true, (size_t)4294967295 * 2);
#endif
}

static void test_format(void) {
  char text[JOIST_SHAPE_TEXT];
  struct joist_shape shape = shape_of("");
  CHECK_STR(joist_shape_format(&shape, text), "{}");
  shape = shape_of("2x3");
  CHECK_STR(joist_shape_format(&shape, text), "{2x3}");
  /* The longest shape does not fit and is cut, within the buffer. */
  shape.rank = JOIST_RANK_MAX;
  for (int d = 0; d < JOIST_RANK_MAX; d++) shape.extent[d] = UINT32_MAX;
  struct {
    char text[JOIST_SHAPE_TEXT];
    char guard[16];
  } area;
  memset(&area, 0x5a, sizeof area);
  joist_shape_format(&shape, area.text);
  CHECK(memchr(area.text, '\0', sizeof area.text) != NULL);
  for (size_t i = 0; i < sizeof area.guard; i++) CHECK_INT(area.guard[i], 0x5a);
}

static void check_broadcast(const char *a, const char *b, const char *want) {
  const struct joist_shape left = shape_of(a), right = shape_of(b);
  for (int swap = 0; swap < 2; swap++) {
    const struct joist_shape *const both[2] = {swap ? &right : &left, swap ? &left : &right};
    struct joist_shape result;
    struct joist_error error;
    const joist_status status = joist_shape_broadcast(both, 2, &result, &error);
    CHECK_MSG(status == (want == NULL ? JOIST_ERROR_SHAPE : JOIST_OK), "{%s} and {%s}", a, b);
    if (want == NULL) {
      CHECK_ERROR(status, error,
                  left.rank == right.rank ? JOIST_E_SHAPE_EXTENTS : JOIST_E_SHAPE_RANKS);
      CHECK(joist_shape_equal(&error.shape[0], both[0]) &&
            joist_shape_equal(&error.shape[1], both[1]));
      if (left.rank == right.rank)
        CHECK(error.count[0] == both[0]->extent[error.dim - 1] &&
              error.count[1] == both[1]->extent[error.dim - 1] && error.count[0] != error.count[1]);
      CHECK_INT(joist_shape_broadcast(both, 2, &result, NULL), JOIST_ERROR_SHAPE);
    } else {
      const struct joist_shape wanted = shape_of(want);
      CHECK_MSG(joist_shape_equal(&result, &wanted), "{%s} and {%s}", a, b);
      CHECK(joist_shape_broadcasts_to(&left, &result) &&
            joist_shape_broadcasts_to(&right, &result));
    }
  }
}

static void test_broadcast(void) {
  check_broadcast("", "", "");
  check_broadcast("", "2x3", "2x3");
  check_broadcast("2x3", "2x3", "2x3");
  check_broadcast("2x1", "1x3", "2x3");
  check_broadcast("1x1", "4x5", "4x5");
  check_broadcast("0", "1", "0");
  check_broadcast("", "0x3", "0x3");
  check_broadcast("0x1", "1x3", "0x3");
  check_broadcast("0", "2", NULL);
  check_broadcast("2", "3", NULL);
  check_broadcast("2x3", "3", NULL);
  check_broadcast("1", "1x1", NULL);
  const struct joist_shape a = shape_of("2x1"), b = shape_of(""), c = shape_of("1x7");
  const struct joist_shape *const three[3] = {&b, &a, &c};
  struct joist_shape result;
  const struct joist_shape wanted = shape_of("2x7");
  CHECK_INT(joist_shape_broadcast(three, 3, &result, NULL), JOIST_OK);
  CHECK(joist_shape_equal(&result, &wanted));
  const struct joist_shape zero = shape_of("0x3"), one = shape_of("1x3"), two = shape_of("2x3");
  CHECK(joist_shape_broadcasts_to(&one, &zero) && joist_shape_broadcasts_to(&one, &two));
  CHECK(!joist_shape_broadcasts_to(&zero, &one) && !joist_shape_broadcasts_to(&two, &one));
  CHECK(!joist_shape_broadcasts_to(&two, &b) && joist_shape_broadcasts_to(&b, &two));
}

static void test_check_dim(void) {
  const struct joist_shape shape = shape_of("2x3");
  struct joist_error error;
  for (int dim = -1; dim < 2; dim++)
    CHECK_INT(joist_shape_check_dim(&shape, dim, &error), JOIST_OK);
  CHECK_ERROR(joist_shape_check_dim(&shape, 2, &error), error, JOIST_E_NO_DIMENSION);
  CHECK(error.number[0] == 3 && joist_shape_equal(&error.shape[0], &shape));
}

static void test_reduce(void) {
  const struct joist_shape shape = shape_of("2x3x4");
  static const char *const kept[] = {"2x3x4", "1x3x4", "2x1x4", "1x1x4",
                                     "2x3x1", "1x3x1", "2x1x1", "1x1x1"};
  static const char *const dropped[] = {"2x3x4", "3x4", "2x4", "4", "2x3", "3", "2", ""};
  for (uint32_t mask = 0; mask < 8; mask++) {
    struct joist_shape result, wanted = shape_of(kept[mask]);
    joist_shape_reduce(&shape, mask, false, &result);
    CHECK_MSG(joist_shape_equal(&result, &wanted), "mask %u kept", mask);
    wanted = shape_of(dropped[mask]);
    joist_shape_reduce(&shape, mask, true, &result);
    CHECK_MSG(joist_shape_equal(&result, &wanted), "mask %u dropped", mask);
  }
  struct joist_shape full = {JOIST_RANK_MAX, {0}}, result;
  for (int d = 0; d < JOIST_RANK_MAX; d++) full.extent[d] = 2;
  joist_shape_reduce(&full, UINT32_MAX, true, &result);
  CHECK_INT(result.rank, 0);
  joist_shape_reduce(&full, UINT32_C(1) << 31, true, &result);
  CHECK_INT(result.rank, 31);
}

int main(void) {
  test_count();
  test_format();
  test_broadcast();
  test_check_dim();
  test_reduce();
  return check_report("shape");
}
