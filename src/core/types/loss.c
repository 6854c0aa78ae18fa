/* Ranges and digits of the dtypes, compared. */
#include "core/types/loss.h"

static bool is_float(joist_dtype dtype) { return joist_dtype_kind(dtype) == JOIST_KIND_FLOAT; }

static unsigned whole_to_whole(joist_dtype from, joist_dtype to) {
  unsigned losses = JOIST_LOSS_NONE;
  if (joist_dtype_max_int(from) > joist_dtype_max_int(to)) losses |= JOIST_LOSS_RANGE;
  if (joist_dtype_min_int(from) < joist_dtype_min_int(to))
    losses |= joist_dtype_min_int(to) == 0 ? JOIST_LOSS_SIGN : JOIST_LOSS_RANGE;
  return losses;
}

static unsigned whole_to_float(joist_dtype from, joist_dtype to) {
  unsigned losses = JOIST_LOSS_NONE;
  if (joist_dtype_digits(from) > joist_dtype_digits(to)) losses |= JOIST_LOSS_DIGITS;
  if ((double)joist_dtype_max_int(from) > joist_dtype_max_float(to)) losses |= JOIST_LOSS_RANGE;
  return losses;
}

static unsigned float_to_float(joist_dtype from, joist_dtype to) {
  unsigned losses = JOIST_LOSS_NONE;
  if (joist_dtype_digits(from) > joist_dtype_digits(to)) losses |= JOIST_LOSS_DIGITS;
  if (joist_dtype_max_float(from) > joist_dtype_max_float(to)) losses |= JOIST_LOSS_RANGE;
  if (joist_dtype_least_exponent(from) < joist_dtype_least_exponent(to)) losses |= JOIST_LOSS_SMALL;
  return losses;
}

struct joist_loss_facts joist_conversion_loss(joist_dtype from, joist_dtype to) {
  const bool from_complex = joist_dtype_kind(from) == JOIST_KIND_COMPLEX;
  const joist_dtype source = joist_dtype_real(from), target = joist_dtype_real(to);
  struct joist_loss_facts facts = {JOIST_LOSS_NONE, 0};
  if (source == JOIST_BOOL) return facts;
  if (target == JOIST_BOOL) {
    facts.losses = JOIST_LOSS_VALUE;
    return facts;
  }
  if (from_complex && to == target) facts.losses |= JOIST_LOSS_IMAGINARY;
  if (is_float(source) && is_float(target)) {
    facts.losses |= float_to_float(source, target);
  } else if (is_float(source)) {
    facts.losses |= JOIST_LOSS_FRACTION | JOIST_LOSS_SPECIAL;
    if (joist_dtype_max_float(source) > (double)joist_dtype_max_int(target))
      facts.losses |= JOIST_LOSS_RANGE;
    if (joist_dtype_min_int(target) == 0) facts.losses |= JOIST_LOSS_SIGN;
  } else if (is_float(target)) {
    facts.losses |= whole_to_float(source, target);
    if (facts.losses & JOIST_LOSS_DIGITS) facts.whole_digits = joist_dtype_digits(target);
  } else {
    facts.losses |= whole_to_whole(source, target);
  }
  return facts;
}
