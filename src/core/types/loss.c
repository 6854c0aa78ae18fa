/* Ranges and digits of the dtypes, compared. */
#include "core/types/loss.h"

#include <math.h>

static bool is_float(joist_dtype dtype) { return joist_dtype_kind(dtype) == JOIST_KIND_FLOAT; }

static unsigned whole_to_whole(joist_dtype from, joist_dtype to) {
  unsigned losses = JOIST_LOSS_NONE;
  if (joist_dtype_max_int(from) > joist_dtype_max_int(to)) losses |= JOIST_LOSS_RANGE;
  if (joist_dtype_min_int(from) < joist_dtype_min_int(to))
    losses |= joist_dtype_min_int(to) == 0 ? JOIST_LOSS_SIGN : JOIST_LOSS_RANGE;
  return losses;
}

/* Of negative numbers and zero: all other dtypes have both. */
static unsigned to_positive(bool has_negative, joist_dtype to) {
  unsigned losses = JOIST_LOSS_NONE;
  if (has_negative && !joist_dtype_has_sign(to)) losses |= JOIST_LOSS_SIGN;
  if (!joist_dtype_has_zero(to)) losses |= JOIST_LOSS_ZERO;
  return losses;
}

static unsigned whole_to_float(joist_dtype from, joist_dtype to) {
  const double least = (double)joist_dtype_min_int(from), most = (double)joist_dtype_max_int(from);
  const double largest = joist_dtype_max_float(to);
  unsigned losses = to_positive(least < 0, to);
  /* A format of a small range holds all whole numbers in it. */
  if (joist_dtype_digits(from) > joist_dtype_digits(to) &&
      ldexp(1, joist_dtype_digits(to)) < largest)
    losses |= JOIST_LOSS_DIGITS;
  if (most > largest || (joist_dtype_has_sign(to) && -least > largest)) losses |= JOIST_LOSS_RANGE;
  return losses;
}

static bool has_special(joist_dtype dtype) {
  return joist_dtype_has_nan(dtype) || joist_dtype_has_infinity(dtype);
}

static unsigned float_to_float(joist_dtype from, joist_dtype to) {
  unsigned losses =
      joist_dtype_has_zero(from) ? to_positive(joist_dtype_has_sign(from), to) : JOIST_LOSS_NONE;
  if (joist_dtype_digits(from) > joist_dtype_digits(to)) losses |= JOIST_LOSS_DIGITS;
  if (joist_dtype_max_float(from) > joist_dtype_max_float(to)) losses |= JOIST_LOSS_RANGE;
  if (joist_dtype_least_exponent(from) < joist_dtype_least_exponent(to)) losses |= JOIST_LOSS_SMALL;
  if ((joist_dtype_has_nan(from) && !joist_dtype_has_nan(to)) ||
      (joist_dtype_has_infinity(from) && !joist_dtype_has_infinity(to)))
    losses |= JOIST_LOSS_SPECIAL;
  return losses;
}

static unsigned float_to_whole(joist_dtype from, joist_dtype to) {
  unsigned losses = JOIST_LOSS_FRACTION;
  if (has_special(from)) losses |= JOIST_LOSS_SPECIAL;
  if (trunc(joist_dtype_max_float(from)) > (double)joist_dtype_max_int(to))
    losses |= JOIST_LOSS_RANGE;
  if (joist_dtype_has_sign(from) && joist_dtype_min_int(to) == 0) losses |= JOIST_LOSS_SIGN;
  return losses;
}

struct joist_loss_facts joist_conversion_loss(joist_dtype from, joist_dtype to) {
  const bool from_complex = joist_dtype_kind(from) == JOIST_KIND_COMPLEX;
  const joist_dtype source = joist_dtype_real(from), target = joist_dtype_real(to);
  struct joist_loss_facts facts = {JOIST_LOSS_NONE, 0};
  if (from == to) return facts;
  if (target == JOIST_BOOL) {
    if (is_float(source) || joist_dtype_min_int(source) < 0 || joist_dtype_max_int(source) > 1)
      facts.losses = JOIST_LOSS_VALUE;
    return facts;
  }
  if (from_complex && to == target) facts.losses |= JOIST_LOSS_IMAGINARY;
  if (is_float(source) && is_float(target)) {
    facts.losses |= float_to_float(source, target);
  } else if (is_float(source)) {
    facts.losses |= float_to_whole(source, target);
  } else if (is_float(target)) {
    facts.losses |= whole_to_float(source, target);
    if (facts.losses & JOIST_LOSS_DIGITS) facts.whole_digits = joist_dtype_digits(target);
  } else {
    facts.losses |= whole_to_whole(source, target);
  }
  return facts;
}
