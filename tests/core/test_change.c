/* Kinds of implicit promotion: of every pair of types, against widths and categories written
 * down here, and of some by hand. */
#include "core/promotion/change.h"
#include "core/types/loss.h"

#include "check.h"

struct number {
  int bits;      /* of a value, or of each part of one */
  char category; /* b, i, f */
};
static const struct number numbers[JOIST_DTYPE_COUNT] = {
    [JOIST_BOOL] = {1, 'b'},       [JOIST_I8] = {8, 'i'},         [JOIST_I16] = {16, 'i'},
    [JOIST_I32] = {32, 'i'},       [JOIST_I64] = {64, 'i'},       [JOIST_UI8] = {8, 'i'},
    [JOIST_UI16] = {16, 'i'},      [JOIST_UI32] = {32, 'i'},      [JOIST_UI64] = {64, 'i'},
    [JOIST_F16] = {16, 'f'},       [JOIST_BF16] = {16, 'f'},      [JOIST_F32] = {32, 'f'},
    [JOIST_F64] = {64, 'f'},       [JOIST_C64] = {32, 'f'},       [JOIST_C128] = {64, 'f'},
    [JOIST_INT1] = {1, 'i'},       [JOIST_I2] = {2, 'i'},         [JOIST_I4] = {4, 'i'},
    [JOIST_UINT1] = {1, 'i'},      [JOIST_UI2] = {2, 'i'},        [JOIST_UI4] = {4, 'i'},
    [JOIST_F4E2M1FN] = {4, 'f'},   [JOIST_F6E2M3FN] = {6, 'f'},   [JOIST_F6E3M2FN] = {6, 'f'},
    [JOIST_F8E3M4] = {8, 'f'},     [JOIST_F8E4M3] = {8, 'f'},     [JOIST_F8E4M3B11FNUZ] = {8, 'f'},
    [JOIST_F8E4M3FN] = {8, 'f'},   [JOIST_F8E4M3FNUZ] = {8, 'f'}, [JOIST_F8E5M2] = {8, 'f'},
    [JOIST_F8E5M2FNUZ] = {8, 'f'}, [JOIST_F8E8M0FNU] = {8, 'f'},  [JOIST_C32] = {16, 'f'},
    [JOIST_BC32] = {16, 'f'},
};

static void test_pairs(void) {
  for (int k = 0; k < 2 * JOIST_DTYPE_COUNT; k++) {
    for (int to = 0; to < JOIST_DTYPE_COUNT; to++) {
      const struct joist_type source = {(joist_dtype)(k / 2), k % 2 == 1};
      const struct number a = numbers[source.dtype], b = numbers[to];
      const bool known_number = !source.ambiguous && a.category != 'b';
      unsigned want = 0;
      if (known_number && a.bits < b.bits) want |= JOIST_CHANGE_WIDENING;
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
      {{JOIST_I4, false}, {JOIST_I8, false}, JOIST_CHANGE_WIDENING},
      {{JOIST_BOOL, false}, {JOIST_F8E8M0FNU, false}, JOIST_CHANGE_LOSSY},
      {{JOIST_F4E2M1FN, false}, {JOIST_F8E4M3FN, false}, JOIST_CHANGE_WIDENING},
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
