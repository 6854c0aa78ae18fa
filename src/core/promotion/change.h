/* What promotion does to an operand, sorted into the kinds that a user may allow, be warned of or
 * refuse. Owns no memory, cannot fail. */
#ifndef JOIST_CORE_PROMOTION_CHANGE_H
#define JOIST_CORE_PROMOTION_CHANGE_H

#include "core/promotion/promote.h"
#include "core/types/dtypes.h"
#include "core/types/host.h"

/* Kinds of implicit promotion, as bits: one operand may see several. X(ID, name) */
#define JOIST_CHANGES(X)                                                                    \
  X(WIDENING, "widening")         /* a known number dtype became one of more bits */        \
  X(INT_TO_FLOAT, "int_to_float") /* a known integer dtype became float or complex */       \
  X(LOSSY, "lossy")       /* a tensor's dtype became one that cannot hold all its values */ \
  X(LITERAL, "literal")   /* an R literal's whole value was rounded, or became Inf or 0 */  \
  X(OVERFLOW, "overflow") /* the result of an integer operation did not fit */              \
  X(LOSS, "loss")         /* an element was not the same after an implicit conversion */

typedef enum {
#define X(ID, NAME) JOIST_CHANGE_##ID##_INDEX,
  JOIST_CHANGES(X)
#undef X
      JOIST_CHANGE_COUNT
} joist_change_index;

typedef enum {
#define X(ID, NAME) JOIST_CHANGE_##ID = 1u << JOIST_CHANGE_##ID##_INDEX,
  JOIST_CHANGES(X)
#undef X
} joist_change;

/* What depends on values that are computed: found by runs, not by promotion. */
enum { JOIST_CHANGES_OF_VALUES = JOIST_CHANGE_OVERFLOW | JOIST_CHANGE_LOSS };

const char *joist_change_name(joist_change_index change);

/* What converting a tensor of one type to the common type is; never JOIST_CHANGE_LITERAL. The
 * bits of a complex dtype are the bits of its parts. */
unsigned joist_promotion_changes(struct joist_type from, struct joist_type to);

/* Whether an R literal of n values sees JOIST_CHANGE_LITERAL when it is taken in `dtype`: a whole
 * value is rounded, a finite one becomes Inf, or one other than 0 becomes 0; of a complex value,
 * either part. That 0.1 is rounded does not count. False for integer dtypes, which take a value as
 * it is or not at all. */
bool joist_literal_changes(joist_host host, const void *values, size_t n, joist_dtype dtype);

/* Whether a number that is not 0 becomes 0 in a float dtype. */
bool joist_number_vanishes(double value, joist_dtype dtype);
/* The same of an R literal of one value. */
bool joist_literal_vanishes(const struct joist_operand *literal, joist_dtype dtype);

#endif
