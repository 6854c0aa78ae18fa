/* What a conversion between dtypes may lose, by the ranges and digits of the two. Looks at no
 * value; owns no memory, cannot fail. */
#ifndef JOIST_CORE_TYPES_LOSS_H
#define JOIST_CORE_TYPES_LOSS_H

#include "core/types/dtypes.h"

/* Ways to lose, as bits. What none of them says comes through unchanged, but for the sign of a
 * zero, which integers and some floats lack. */
typedef enum {
  JOIST_LOSS_NONE = 0,
  JOIST_LOSS_DIGITS = 1,     /* values within the range are rounded */
  JOIST_LOSS_RANGE = 2,      /* there are values beyond the largest or the least of the target */
  JOIST_LOSS_SIGN = 4,       /* negative values, where the target has none */
  JOIST_LOSS_SMALL = 8,      /* values other than zero that become zero or lose digits */
  JOIST_LOSS_FRACTION = 16,  /* what stands after the point */
  JOIST_LOSS_SPECIAL = 32,   /* NaN or infinities */
  JOIST_LOSS_IMAGINARY = 64, /* the imaginary part */
  JOIST_LOSS_VALUE = 128,    /* all but zero or not */
  JOIST_LOSS_ZERO = 256      /* zero, where the target has none */
} joist_loss;

struct joist_loss_facts {
  unsigned losses;  /* of joist_loss, or'ed */
  int whole_digits; /* with JOIST_LOSS_DIGITS from integers: whole numbers of a magnitude up to
                     * 2^whole_digits are all exact, 2^whole_digits + 1 is not */
};

struct joist_loss_facts joist_conversion_loss(joist_dtype from, joist_dtype to);

#endif
