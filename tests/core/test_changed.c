/* Which values another dtype does not hold, beside numbers of 64 digits that hold all of them. */
#include <math.h>
#include <string.h>

#include "core/cpu/watch.h"
#include "core/types/changed.h"
#include "core/types/convert.h"

#include "check.h"

enum { MOST = 1 << 12 };

static bool is_complex(joist_dtype dtype) { return joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX; }
static bool is_whole(joist_dtype dtype) {
  return joist_dtype_kind(dtype) == JOIST_KIND_INT || joist_dtype_kind(dtype) == JOIST_KIND_UINT;
}

static long double value_of(joist_dtype dtype, const void *x) {
  int64_t whole = 0;
  double number[2];
  if (is_whole(dtype)) {
    joist_convert_find(dtype, JOIST_I64)(1, x, &whole);
    return joist_dtype_kind(dtype) == JOIST_KIND_UINT ? (long double)(uint64_t)whole
                                                      : (long double)whole;
  }
  joist_convert_find(dtype, is_complex(dtype) ? JOIST_C128 : JOIST_F64)(1, x, number);
  return number[0];
}

/* Bit patterns of a dtype: all of 8 bits, and around powers of two. */
static size_t patterns_of(joist_dtype dtype, char *out) {
  static const int64_t near[] = {-2, -1, 0, 1, 2};
  const size_t size = joist_dtype_size(dtype);
  size_t n = 0;
  for (int bit = 0; bit < 64; bit++)
    for (size_t k = 0; k < sizeof near / sizeof *near; k++)
      for (int sign = -1; sign <= 1; sign += 2, n++) {
        const int64_t whole =
            (int64_t)((uint64_t)sign * ((UINT64_C(1) << bit) + (uint64_t)near[k]));
        const double number = (double)sign * ((double)(UINT64_C(1) << bit) + (double)near[k] / 2);
        if (is_whole(dtype))
          joist_convert_find(JOIST_I64, dtype)(1, &whole, out + n * size);
        else
          joist_convert_find(JOIST_F64, dtype)(1, &number, out + n * size);
      }
  return n;
}

/* 1 if a number is beyond the dtype, 0 if it is not, -1 if it depends on how the largest is rounded
 * to. */
static int beyond(joist_dtype from, long double x, joist_dtype to) {
  if (is_complex(from) || is_complex(to)) return -1;
  if (joist_dtype_kind(to) == JOIST_KIND_BOOL) return -1;
  if (x != x) return is_whole(to) || !joist_dtype_has_nan(to);
  if (is_whole(to)) {
    x = truncl(x);
    return x < (long double)joist_dtype_min_int(to) || x > (long double)joist_dtype_max_int(to);
  }
  const long double largest = joist_dtype_max_float(to);
  if (isinf(x)) return !joist_dtype_has_infinity(to) || (x < 0 && !joist_dtype_has_sign(to));
  if (x == 0) return !joist_dtype_has_zero(to);
  if (x < 0 && !joist_dtype_has_sign(to)) return 1;
  return fabsl(x) <= largest ? 0 : fabsl(x) >= 2 * largest ? 1 : -1;
}

/* What a run reports to its tally of a conversion: by kernels, where the dtype has some. */
static void check_tally(size_t n, const void *in, joist_dtype from, joist_dtype to,
                        const uint8_t *mask, size_t want, size_t want_first) {
  enum { OFFSET = 100 };
  struct joist_instruction instruction = {.op = JOIST_OP_ADD, .watch = JOIST_WATCH_LOSS};
  const struct joist_program program = {.instructions = &instruction, .instruction_count = 1};
  struct joist_tally tally;
  joist_tally_init(&tally, false);
  joist_watch_converted(&program, 0, n, in, from, to, false, mask, OFFSET, &tally);
  CHECK_INT(tally.count, want > 0);
  if (tally.count == 0) return;
  CHECK_INT(tally.found[0].count, want);
  CHECK_INT(tally.found[0].first, OFFSET + want_first);
  CHECK_INT(tally.found[0].kind, JOIST_FOUND_LOSS);
}

int main(void) {
  static _Alignas(16) char in[MOST * 16];
  static uint8_t mask[MOST];
  for (int from = 0; from < JOIST_DTYPE_COUNT; from++) {
    const joist_dtype own = (joist_dtype)from;
    const size_t n = patterns_of(own, in), size = joist_dtype_size(own);
    for (int to = 0; to < JOIST_DTYPE_COUNT; to++) {
      const joist_dtype other = (joist_dtype)to;
      size_t want = 0, want_first = 0, first = 0, unmasked = 0, unmasked_first = 0;
      for (size_t k = n; k-- > 0;) {
        _Alignas(16) char made[16];
        joist_convert_find(own, other)(1, in + k * size, made);
        const long double before = value_of(own, in + k * size), after = value_of(other, made);
        const bool same = before == after || (before != before && after != after);
        CHECK_INT(joist_element_changes(own, other, in + k * size), !same);
        const int far = beyond(own, before, other);
        size_t unused = 0;
        if (far >= 0)
          CHECK_INT(joist_count_beyond(1, in + k * size, own, other, NULL, &unused), (size_t)far);
        mask[k] = k % 3 == 0;
        want += !same;
        unmasked += !same && !mask[k];
        if (!same) want_first = k;
        if (!same && !mask[k]) unmasked_first = k;
      }
      CHECK_INT(joist_count_changed(n, in, own, other, NULL, &first), want);
      CHECK_INT(first, want_first);
      CHECK_INT(joist_count_changed(n, in, own, other, mask, &first), unmasked);
      check_tally(n, in, own, other, NULL, want, want_first);
      check_tally(n, in, own, other, mask, unmasked, unmasked_first);
      /* One after the other, in the places of others: small ones hide nothing. */
      for (size_t k = 0; k < n; k += 7)
        check_tally(1, in + k * size, own, other, NULL,
                    joist_element_changes(own, other, in + k * size), 0);
    }
  }
  return check_report("changed");
}
