/* Kinds of implicit promotion: of tensors by the dtypes alone, of R literals by their values. */
#include "core/promotion/change.h"

#include <math.h>

#include "core/base/bits.h"
#include "core/types/convert.h"
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
  if (joist_dtype_bits(source) < joist_dtype_bits(target)) changes |= JOIST_CHANGE_WIDENING;
  if (joist_dtype_category(source) == JOIST_CATEGORY_INTEGER &&
      joist_dtype_category(target) == JOIST_CATEGORY_FLOAT)
    changes |= JOIST_CHANGE_INT_TO_FLOAT;
  return changes;
}

static bool doubles_change(size_t n, const double *values, joist_dtype real) {
  enum { BLOCK = 256 };
  joist_convert_kernel *const take = joist_convert_find(JOIST_F64, real);
  joist_convert_kernel *const widen = joist_convert_find(real, JOIST_F64);
  for (size_t length, first = 0; first < n; first += length) {
    double elements[BLOCK], taken[BLOCK]; /* the former of any real dtype */
    const double *const given = values + first;
    length = joist_smaller(n - first, BLOCK);
    take(length, given, elements);
    widen(length, elements, taken);
    for (size_t k = 0; k < length; k++)
      if (isfinite(given[k]) && taken[k] != given[k] &&
          (given[k] == trunc(given[k]) || !isfinite(taken[k]) || taken[k] == 0))
        return true;
  }
  return false;
}

bool joist_number_vanishes(double value, joist_dtype dtype) {
  double element, taken; /* the former of any float dtype */
  if (value == 0 || joist_dtype_category(dtype) != JOIST_CATEGORY_FLOAT) return false;
  joist_convert_find(JOIST_F64, dtype)(1, &value, &element);
  joist_convert_find(dtype, JOIST_F64)(1, &element, &taken);
  return taken == 0;
}

bool joist_literal_vanishes(const struct joist_operand *literal, joist_dtype dtype) {
  return literal->literal && literal->has_range && !literal->has_nan &&
         literal->low == literal->high && joist_number_vanishes(literal->low, dtype);
}

static bool whole_changes(int64_t value, joist_dtype real) {
  if (value == 0 && !joist_dtype_has_zero(real)) return true;
  if (value < 0 && !joist_dtype_has_sign(real)) return true;
  uint64_t digits = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  if ((double)value < joist_dtype_min_float(real) || (double)digits > joist_dtype_max_float(real))
    return true;
  while (digits != 0 && digits % 2 == 0) digits /= 2;
  return digits >> joist_dtype_digits(real) != 0;
}

bool joist_literal_changes(joist_host host, const void *values, size_t n, joist_dtype dtype) {
  const joist_dtype real = joist_dtype_real(dtype);
  if (joist_dtype_category(real) != JOIST_CATEGORY_FLOAT) return false;
  bool changes = false;
  switch (host) {
    case JOIST_HOST_LOGICAL:
      for (size_t k = 0; k < n && !changes && !joist_dtype_has_zero(real); k++)
        changes = ((const int32_t *)values)[k] == 0;
      break;
    case JOIST_HOST_RAW:
      for (size_t k = 0; k < n && !changes && joist_dtype_digits(real) < 8; k++)
        changes = whole_changes(((const uint8_t *)values)[k], real);
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
      return doubles_change(n, values, real);
    case JOIST_HOST_COMPLEX:
      return doubles_change(2 * n, values, real);
    case JOIST_HOST_FLOAT32:
      for (size_t k = 0; k < n && !changes; k++) {
        const double value = (double)((const float *)values)[k];
        changes = doubles_change(1, &value, real);
      }
      break;
  }
  return changes;
}
