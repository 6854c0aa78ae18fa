/* Kinds of implicit promotion, by the dtypes alone. */
#include "core/promotion/change.h"

#include "core/types/loss.h"

static const char *const names[JOIST_CHANGE_COUNT] = {
#define X(ID, NAME) NAME,
    JOIST_CHANGES(X)
#undef X
};

const char *joist_change_name(joist_change_index change) { return names[change]; }

unsigned joist_promotion_changes(struct joist_type from, struct joist_type to) {
  unsigned changes = 0;
  if (joist_conversion_loss(from.dtype, to.dtype).losses != JOIST_LOSS_NONE)
    changes |= JOIST_CHANGE_LOSSY;
  const joist_dtype source = joist_dtype_real(from.dtype), target = joist_dtype_real(to.dtype);
  if (from.ambiguous || source == JOIST_BOOL) return changes;
  if (joist_dtype_size(source) < joist_dtype_size(target)) changes |= JOIST_CHANGE_WIDENING;
  if (joist_dtype_category(source) == JOIST_CATEGORY_INTEGER &&
      joist_dtype_category(target) == JOIST_CATEGORY_FLOAT)
    changes |= JOIST_CHANGE_INT_TO_FLOAT;
  return changes;
}
