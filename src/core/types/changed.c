/* Which values another dtype does not hold. */
#include "core/types/changed.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/types/convert.h"
#include "core/types/host.h"

enum { PIECE = 512, LARGEST = 16 }; /* elements looked at together; bytes of the largest */

static bool is_whole(joist_dtype dtype) {
  return joist_dtype_kind(dtype) == JOIST_KIND_INT || joist_dtype_kind(dtype) == JOIST_KIND_UINT;
}

/* Integers as signs and magnitudes. */
struct whole {
  uint64_t magnitude;
  bool negative;
};

static struct whole whole_of(joist_dtype dtype, const void *x) {
  int64_t value = 0;
  joist_convert_find(dtype, JOIST_I64)(1, x, &value);
  const bool negative = joist_dtype_kind(dtype) == JOIST_KIND_INT && value < 0;
  return (struct whole){negative ? 0 - (uint64_t)value : (uint64_t)value, negative};
}

static bool whole_changes(struct whole x, joist_dtype to) {
  if (is_whole(to))
    return x.negative ? x.magnitude > 0 - (uint64_t)joist_dtype_min_int(to)
                      : x.magnitude > joist_dtype_max_int(to);
  if (joist_dtype_kind(to) == JOIST_KIND_BOOL) return x.negative || x.magnitude > 1;
  const joist_dtype real = joist_dtype_real(to);
  if (x.magnitude == 0) return !joist_dtype_has_zero(real);
  if (x.negative && !joist_dtype_has_sign(real)) return true;
  if ((double)x.magnitude > joist_dtype_max_float(real)) return true;
  while (x.magnitude % 2 == 0) x.magnitude /= 2;
  const int digits = joist_dtype_digits(real);
  return digits < 64 && x.magnitude >> digits != 0;
}

/* Whether an integer dtype has the number. Its bounds are powers of two, or one less. */
static bool has_number(joist_dtype dtype, double number) {
  return number == floor(number) && number >= (double)joist_dtype_min_int(dtype) &&
         (joist_dtype_max_int(dtype) >> 53 != 0 ? number < (double)joist_dtype_max_int(dtype)
                                                : number <= (double)joist_dtype_max_int(dtype));
}

bool joist_element_changes(joist_dtype from, joist_dtype to, const void *x) {
  if (is_whole(from)) return whole_changes(whole_of(from, x), to);
  double own[2] = {0, 0}, other[2] = {0, 0}; /* f64 and c128 hold all values that have fractions */
  const bool pair = joist_dtype_kind(from) == JOIST_KIND_COMPLEX;
  joist_convert_find(from, pair ? JOIST_C128 : JOIST_F64)(1, x, own);
  if (is_whole(to)) return own[1] != 0 || !has_number(to, own[0]);
  _Alignas(16) char taken[LARGEST];
  joist_convert_find(from, to)(1, x, taken);
  joist_convert_find(to, JOIST_C128)(1, taken, other);
  for (int p = 0; p < 2; p++)
    if (own[p] != other[p] && !(own[p] != own[p] && other[p] != other[p])) return true;
  return false;
}

/* Whether none of up to PIECE integers changes, seen by the bits of all of them; false where these
 * do not say. */
static bool all_fit(size_t n, const void *in, joist_dtype from, joist_dtype to) {
  if (!is_whole(from) || joist_dtype_kind(to) == JOIST_KIND_BOOL) return false;
  int64_t values[PIECE];
  uint64_t bits = 0, below = 0;
  const bool has_signs = joist_dtype_kind(from) == JOIST_KIND_INT;
  joist_convert_find(from, JOIST_I64)(n, in, values);
  for (size_t k = 0; k < n; k++) {
    const uint64_t sign = has_signs ? (uint64_t)0 - (uint64_t)(values[k] < 0) : 0;
    bits |= (uint64_t)values[k] ^ sign;
    below |= sign;
  }
  if (is_whole(to))
    return bits <= joist_dtype_max_int(to) && (!below || joist_dtype_min_int(to) < 0);
  const joist_dtype real = joist_dtype_real(to);
  const int digits = joist_dtype_digits(real);
  return !below && joist_dtype_has_zero(real) && (digits >= 64 || bits >> digits == 0) &&
         (double)bits <= joist_dtype_max_float(real);
}

/* Marks which of up to PIECE floats change, those that become floats by their values in double;
 * false for other dtypes. */
static bool mark_floats(size_t n, const void *in, joist_dtype from, joist_dtype to,
                        uint8_t *changed) {
  if (joist_dtype_kind(from) != JOIST_KIND_FLOAT) return false;
  double before[PIECE], after[PIECE];
  joist_convert_find(from, JOIST_F64)(n, in, before);
  if (is_whole(to)) {
    for (size_t k = 0; k < n; k++) changed[k] = !has_number(to, before[k]);
    return true;
  }
  if (joist_dtype_kind(to) != JOIST_KIND_FLOAT) return false;
  _Alignas(16) char taken[PIECE * LARGEST];
  joist_convert_find(from, to)(n, in, taken);
  joist_convert_find(to, JOIST_F64)(n, taken, after);
  for (size_t k = 0; k < n; k++)
    changed[k] = (before[k] != after[k]) & !((before[k] != before[k]) & (after[k] != after[k]));
  return true;
}

static bool element_is_beyond(joist_dtype from, joist_dtype to, const void *x) {
  if (is_whole(from) && is_whole(to)) return whole_changes(whole_of(from, x), to);
  const bool pair = joist_dtype_kind(from) == JOIST_KIND_COMPLEX;
  const bool fractions = joist_dtype_kind(to) >= JOIST_KIND_FLOAT;
  double own[2] = {0, 0};
  joist_convert_find(from, pair ? JOIST_C128 : JOIST_F64)(1, x, own);
  for (int p = 0; p < 2; p++) {
    if (own[p] != own[p]) own[p] = NAN; /* not R's NA */
    if (!fractions) own[p] = trunc(own[p]);
  }
  return !joist_import_fits(pair ? JOIST_HOST_COMPLEX : JOIST_HOST_DOUBLE, own, 1, to);
}

typedef bool element_test(joist_dtype from, joist_dtype to, const void *x);

static size_t count_where(element_test *test, size_t n, const void *in, joist_dtype from,
                          joist_dtype to, const uint8_t *mask, size_t *first) {
  const size_t size = joist_dtype_size(from);
  const char *const elements = in;
  size_t count = 0;
  for (size_t at = 0; at < n; at += PIECE) {
    const size_t m = n - at < PIECE ? n - at : PIECE;
    const char *const piece = elements + at * size;
    uint8_t changed[PIECE];
    if (all_fit(m, piece, from, to)) continue;
    const bool marked = mark_floats(m, piece, from, to, changed);
    for (size_t k = 0; k < m; k++) {
      if ((mask != NULL && mask[at + k] != 0) || (marked && changed[k] == 0)) continue;
      /* What does not change is not beyond. */
      if ((!marked || test != joist_element_changes) && !test(from, to, piece + k * size)) continue;
      if (count++ == 0) *first = at + k;
    }
  }
  return count;
}

size_t joist_count_changed(size_t n, const void *in, joist_dtype from, joist_dtype to,
                           const uint8_t *mask, size_t *first) {
  return count_where(joist_element_changes, n, in, from, to, mask, first);
}

size_t joist_count_beyond(size_t n, const void *in, joist_dtype from, joist_dtype to,
                          const uint8_t *mask, size_t *first) {
  return count_where(element_is_beyond, n, in, from, to, mask, first);
}

void joist_saturate_changed(size_t n, const void *in, joist_dtype from, joist_dtype to, void *out) {
  if (joist_dtype_kind(from) >= JOIST_KIND_FLOAT || !is_whole(to)) return;
  const size_t size = joist_dtype_size(from), made = joist_dtype_size(to);
  const int64_t low = joist_dtype_min_int(to);
  const uint64_t high = joist_dtype_max_int(to);
  for (size_t k = 0; k < n; k++) {
    const struct whole x = whole_of(from, (const char *)in + k * size);
    if (!whole_changes(x, to)) continue;
    if (x.negative)
      joist_convert_find(JOIST_I64, to)(1, &low, (char *)out + k * made);
    else
      joist_convert_find(JOIST_UI64, to)(1, &high, (char *)out + k * made);
  }
}

/* Of an integer dtype or bool. */
static bool are_whole(joist_dtype dtype, const double *values, size_t n) {
  const double low = (double)joist_dtype_min_int(dtype);
  const double end = (double)joist_dtype_max_int(dtype) + 1;
  for (size_t k = 0; k < n; k++)
    if (values[k] < low || values[k] >= end || values[k] != trunc(values[k]))
      if (!isnan(values[k])) return false;
  return true;
}

/* Of a float dtype, or parts, of fewer than 32 bits, for up to PIECE values, or what dput()
 * writes of them. */
static bool are_narrow(joist_dtype dtype, const double *values, size_t n) {
  double elements[PIECE], back[PIECE];
  joist_convert_find(JOIST_F64, dtype)(n, values, elements);
  joist_convert_find(dtype, JOIST_F64)(n, elements, back);
  for (size_t k = 0; k < n; k++)
    if (back[k] != values[k] && !(fabs(back[k] - values[k]) <= 5e-15 * fabs(values[k])) &&
        !isnan(values[k]))
      return false;
  return true;
}

/* Of f32, which rounds fractions but no whole numbers, nor the whole parts of others. */
static bool are_single(joist_dtype dtype, const double *values, size_t n) {
  (void)dtype;
  for (size_t k = 0; k < n; k++) {
    const double size = fabs(values[k]);
    if (size > 0x1p24 && size <= 0x1p53 && fabs((double)(float)size - size) > 5e-15 * size)
      return false;
  }
  return true;
}

bool joist_holds(joist_dtype dtype, joist_host host, const void *values, size_t n) {
  const bool whole = joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT;
  if (host == JOIST_HOST_INTEGER && dtype == JOIST_I32) return true;
  const bool single = dtype == JOIST_F32;
  if (!whole && !single && joist_dtype_digits(dtype) >= 24) return true;
  for (size_t k = 0; k < n; k += PIECE) {
    const size_t m = n - k < PIECE ? n - k : PIECE;
    double numbers[PIECE];
    if (host == JOIST_HOST_INTEGER)
      for (size_t j = 0; j < m; j++) {
        const int number = ((const int *)values)[k + j];
        numbers[j] = number == INT_MIN ? (double)NAN : (double)number;
      }
    const double *const part = host == JOIST_HOST_INTEGER ? numbers : (const double *)values + k;
    if (!(whole ? are_whole : single ? are_single : are_narrow)(dtype, part, m)) return false;
  }
  return true;
}
