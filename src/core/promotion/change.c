/* Kinds of implicit promotion: of tensors by the dtypes alone, of R literals by their values. */
#include "core/promotion/change.h"

#include <math.h>

#include "core/types/half.h"
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

static double rounded(double value, joist_dtype real) {
  switch (real) {
    case JOIST_F16:
      return (double)half_f16_to_f32(half_f64_to_f16(value));
    case JOIST_BF16:
      return (double)half_bf16_to_f32(half_f64_to_bf16(value));
    case JOIST_F32:
      return (double)(float)value;
    default:
      return value;
  }
}

static bool double_changes(double value, joist_dtype real) {
  if (!isfinite(value)) return false;
  const double taken = rounded(value, real);
  return taken != value && (value == trunc(value) || isinf(taken) || taken == 0);
}

static bool whole_changes(int64_t value, joist_dtype real) {
  uint64_t digits = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  if ((double)digits > joist_dtype_max_float(real)) return true;
  while (digits != 0 && digits % 2 == 0) digits /= 2;
  return digits >> joist_dtype_digits(real) != 0;
}

bool joist_literal_changes(joist_host host, const void *values, size_t n, joist_dtype dtype) {
  const joist_dtype real = joist_dtype_real(dtype);
  if (joist_dtype_category(real) != JOIST_CATEGORY_FLOAT) return false;
  bool changes = false;
  switch (host) {
    case JOIST_HOST_LOGICAL:
    case JOIST_HOST_RAW: /* 8 digits at most */
      break;
    case JOIST_HOST_INTEGER:
      for (size_t k = 0; k < n && !changes; k++)
        changes = whole_changes(((const int32_t *)values)[k], real);
      break;
    case JOIST_HOST_INTEGER64:
      for (size_t k = 0; k < n && !changes; k++)
        changes = whole_changes(((const int64_t *)values)[k], real);
      break;
    case JOIST_HOST_DOUBLE:
      for (size_t k = 0; k < n && !changes; k++)
        changes = double_changes(((const double *)values)[k], real);
      break;
    case JOIST_HOST_COMPLEX:
      for (size_t k = 0; k < n && !changes; k++)
        changes = double_changes(((const double *)values)[2 * k], real) ||
                  double_changes(((const double *)values)[2 * k + 1], real);
      break;
    case JOIST_HOST_FLOAT32:
      for (size_t k = 0; k < n && !changes; k++)
        changes = double_changes((double)((const float *)values)[k], real);
      break;
  }
  return changes;
}
