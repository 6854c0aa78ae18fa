/* Kinds of implicit promotion: of every pair of types, against widths and categories written
 * down here, and of some by hand. */
#include "core/promotion/change.h"
#include "core/types/loss.h"

#include "check.h"

struct number {
  int bytes;     /* of a value, or of each part of one */
  char category; /* b, i, f */
};
static const struct number numbers[JOIST_DTYPE_COUNT] = {
    [JOIST_BOOL] = {1, 'b'}, [JOIST_I8] = {1, 'i'},   [JOIST_I16] = {2, 'i'},
    [JOIST_I32] = {4, 'i'},  [JOIST_I64] = {8, 'i'},  [JOIST_UI8] = {1, 'i'},
    [JOIST_UI16] = {2, 'i'}, [JOIST_UI32] = {4, 'i'}, [JOIST_UI64] = {8, 'i'},
    [JOIST_F16] = {2, 'f'},  [JOIST_BF16] = {2, 'f'}, [JOIST_F32] = {4, 'f'},
    [JOIST_F64] = {8, 'f'},  [JOIST_C64] = {4, 'f'},  [JOIST_C128] = {8, 'f'},
};

static void test_pairs(void) {
  for (int k = 0; k < 2 * JOIST_DTYPE_COUNT; k++) {
    for (int to = 0; to < JOIST_DTYPE_COUNT; to++) {
      const struct joist_type source = {(joist_dtype)(k / 2), k % 2 == 1};
      const struct number a = numbers[source.dtype], b = numbers[to];
      const bool known_number = !source.ambiguous && a.category != 'b';
      unsigned want = 0;
      if (known_number && a.bytes < b.bytes) want |= JOIST_CHANGE_WIDENING;
      if (known_number && a.category == 'i' && b.category == 'f') want |= JOIST_CHANGE_INT_TO_FLOAT;
      if (joist_conversion_loss(source.dtype, (joist_dtype)to).losses != 0)
        want |= JOIST_CHANGE_LOSSY;
      for (int guess = 0; guess < 2; guess++) {
        const struct joist_type target = {(joist_dtype)to, guess == 1};
        CHECK_MSG(joist_promotion_changes(source, target) == want, "%s%s to %s: want %u, got %u",
                  joist_dtype_name(source.dtype), source.ambiguous ? "?" : "",
                  joist_dtype_name(target.dtype), want, joist_promotion_changes(source, target));
      }
    }
  }
}

static void test_by_hand(void) {
  const struct {
    struct joist_type from, to;
    unsigned changes;
  } cases[] = {
      {{JOIST_F32, false}, {JOIST_F64, false}, JOIST_CHANGE_WIDENING},
      {{JOIST_F32, true}, {JOIST_F64, false}, 0},
      {{JOIST_F64, false}, {JOIST_C64, false}, JOIST_CHANGE_LOSSY},
      {{JOIST_F32, false}, {JOIST_C64, false}, 0},
      {{JOIST_I32, false}, {JOIST_F32, false}, JOIST_CHANGE_INT_TO_FLOAT | JOIST_CHANGE_LOSSY},
      {{JOIST_I16, false}, {JOIST_F32, true}, JOIST_CHANGE_WIDENING | JOIST_CHANGE_INT_TO_FLOAT},
      {{JOIST_I64, true}, {JOIST_F32, false}, JOIST_CHANGE_LOSSY},
      {{JOIST_BOOL, false}, {JOIST_C128, false}, 0},
      {{JOIST_UI64, false}, {JOIST_I64, false}, JOIST_CHANGE_LOSSY},
      {{JOIST_I8, false}, {JOIST_I8, false}, 0},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    CHECK_INT(joist_promotion_changes(cases[k].from, cases[k].to), cases[k].changes);
  CHECK_STR(joist_change_name(JOIST_CHANGE_WIDENING_INDEX), "widening");
  CHECK_STR(joist_change_name(JOIST_CHANGE_INT_TO_FLOAT_INDEX), "int_to_float");
  CHECK_STR(joist_change_name(JOIST_CHANGE_LOSSY_INDEX), "lossy");
  CHECK_STR(joist_change_name(JOIST_CHANGE_LITERAL_INDEX), "literal");
}

int main(void) {
  test_pairs();
  test_by_hand();
  return check_report("change");
}
