/* Values of the host language into a dtype. Checks a block, then converts it with the
 * kernels of convert.h, which cannot lose anything once the check has passed. */
#include "core/base/vectorize.h"
#include "core/types/convert.h"
#include "core/types/error.h"
#include "core/types/host.h"
#include "core/types/host_scan.h"

#include <float.h>
#include <math.h>

JOIST_VECTORIZE_FILE

FIRST_OUTSIDE(int32_t)
FIRST_OUTSIDE(int64_t)

typedef enum { FITS, IS_NA, NOT_FINITE, FRACTIONAL, OUT_OF_RANGE, IMAGINARY, NO_TRUTH } problem;

struct import {
  joist_host host;
  joist_dtype dtype;
  bool truth;                        /* all that counts is whether a value is zero */
  bool integer_target;               /* bool or integer dtype */
  int64_t low_integer, high_integer; /* what integer hosts may hold */
  double low, high;                  /* what a double for an integer dtype may be */
  double overflow;                   /* smallest magnitude that a float dtype cannot hold */
  bool positive;                     /* it holds no other numbers */
};

static struct import import_rules(joist_host host, joist_dtype dtype) {
  struct import rules = {.host = host, .dtype = dtype, .overflow = INFINITY};
  const joist_category category = joist_dtype_category(dtype);
  /* The most negative value is NA in R's integer types. */
  const int64_t widest = host == JOIST_HOST_INTEGER64 ? INT64_MAX : INT32_MAX;
  rules.low_integer = -widest;
  rules.high_integer = widest;
  rules.integer_target = category == JOIST_CATEGORY_BOOL || category == JOIST_CATEGORY_INTEGER;
  if (rules.integer_target) {
    const int64_t min = joist_dtype_min_int(dtype);
    const uint64_t max = joist_dtype_max_int(dtype);
    /* A logical is TRUE or FALSE, whatever number it is, and fits all dtypes that have a 1. */
    if (host != JOIST_HOST_LOGICAL || max == 0) {
      if (min > rules.low_integer) rules.low_integer = min;
      if (max < (uint64_t)rules.high_integer) rules.high_integer = (int64_t)max;
    }
    rules.low = (double)min;
    rules.high = (double)(max - (max >> DBL_MANT_DIG)); /* rounding down: exact */
  } else {
    rules.overflow = joist_dtype_overflow(dtype);
    if (rules.overflow < (double)widest && host != JOIST_HOST_LOGICAL) {
      rules.high_integer = (int64_t)ceil(rules.overflow) - 1;
      rules.low_integer = -rules.high_integer;
    }
    rules.positive = !joist_dtype_has_zero(dtype);
    if (rules.positive) rules.low_integer = 1;
  }
  return rules;
}

/* Into bool, asking only whether a value is zero. */
static struct import truth_rules(joist_host host) {
  struct import rules = import_rules(host, JOIST_BOOL);
  const int64_t widest = host == JOIST_HOST_INTEGER64 ? INT64_MAX : INT32_MAX;
  rules.truth = true;
  rules.integer_target = false;
  rules.low_integer = -widest;
  rules.high_integer = widest;
  return rules;
}

static problem double_problem(const struct import *rules, double value) {
  if (rules->truth) return is_na_real(value) ? IS_NA : isnan(value) ? NO_TRUTH : FITS;
  if (is_na_real(value)) return joist_dtype_real(rules->dtype) == JOIST_F64 ? FITS : IS_NA;
  if (isnan(value) || isinf(value)) {
    const bool has =
        isnan(value) ? joist_dtype_has_nan(rules->dtype) : joist_dtype_has_infinity(rules->dtype);
    return rules->integer_target || !has ? NOT_FINITE : FITS;
  }
  if (rules->positive && value <= 0) return OUT_OF_RANGE;
  if (!rules->integer_target) return fabs(value) < rules->overflow ? FITS : OUT_OF_RANGE;
  if (value != trunc(value) && rules->dtype != JOIST_BOOL) return FRACTIONAL;
  if (value != trunc(value) || value < rules->low || value > rules->high) return OUT_OF_RANGE;
  return FITS;
}

/* Adding and subtracting 2^52 rounds a smaller magnitude to an integer. The function
 * trunc() is a call on baseline x86 and would keep the loop from vectorising, but the
 * trick needs arithmetic in double, which the x87 unit does not offer. */
static inline double rounded_magnitude(double value) {
#if FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 1
  return (fabs(value) + 0x1p52) - 0x1p52;
#else
  return trunc(fabs(value));
#endif
}

/* Doubts are collected as the bits of doubles: a select between doubles and an `or` are
 * what vectorises, a count of comparisons is not. */
static inline uint64_t double_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint64_t any_not_below(size_t n, const double *values, double limit) {
  uint64_t doubts = 0;
  for (size_t i = 0; i < n; i++) doubts |= double_bits(fabs(values[i]) < limit ? 0.0 : 1.0);
  return doubts;
}

/* Also doubts some integers above 2^52. */
static uint64_t any_not_integer(size_t n, const double *values, double low, double high) {
  uint64_t doubts = 0;
  for (size_t i = 0; i < n; i++) {
    double doubt = values[i] >= low ? 0.0 : 1.0;
    doubt = values[i] <= high ? doubt : 1.0;
    doubt = rounded_magnitude(values[i]) == fabs(values[i]) ? doubt : 1.0;
    doubts |= double_bits(doubt);
  }
  return doubts;
}

static size_t first_double_misfit(const struct import *rules, size_t n, const double *values,
                                  problem *found) {
  if (joist_dtype_real(rules->dtype) == JOIST_F64) return n;
  const uint64_t doubts = rules->integer_target
                              ? any_not_integer(n, values, rules->low, rules->high)
                              : any_not_below(n, values, rules->overflow);
  if (doubts == 0 && !rules->positive) return n;
  for (size_t i = 0; i < n; i++)
    if ((*found = double_problem(rules, values[i])) != FITS) return i;
  return n;
}

static problem complex_problem(const struct import *rules, const double value[2]) {
  if (value[1] == 0 || is_na_real(value[0])) return double_problem(rules, value[0]);
  return is_na_real(value[1]) ? IS_NA : IMAGINARY;
}

/* Complex values for a real dtype: leaves the real parts in `real`. */
static size_t first_complex_misfit(const struct import *rules, size_t n, const double *values,
                                   double *real, problem *found) {
  uint64_t imaginary = 0; /* as above */
  for (size_t i = 0; i < n; i++) {
    real[i] = values[2 * i];
    imaginary |= double_bits(values[2 * i + 1] == 0 ? 0.0 : 1.0);
  }
  if (imaginary == 0) return first_double_misfit(rules, n, real, found);
  for (size_t i = 0; i < n; i++)
    if ((*found = complex_problem(rules, values + 2 * i)) != FITS) return i;
  return n;
}

/* The float package's NA, a NaN with low half-word 1954, becomes R's. */
static void widen_float32(size_t n, const float *values, double *wide) {
  const uint64_t na_bits = UINT64_C(0x7ff00000000007a2);
  joist_convert_find(JOIST_F32, JOIST_F64)(n, values, wide);
  uint64_t nan = 0;
  for (size_t i = 0; i < n; i++) nan |= double_bits(wide[i] == wide[i] ? 0.0 : 1.0);
  if (nan == 0) return;
  for (size_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, values + i, sizeof bits);
    if (wide[i] != wide[i] && (bits & 0xffffu) == 1954) memcpy(wide + i, &na_bits, sizeof *wide);
  }
}

/* One block: returns the index of its first misfit, n if there is none, and sets
 * `elements` (in `scratch` or the values themselves) and their dtype. */
static size_t check_block(const struct import *rules, const void *values, size_t start, size_t n,
                          double *scratch, const void **elements, joist_dtype *from,
                          problem *found) {
  const bool complex_target = rules->truth || joist_dtype_kind(rules->dtype) == JOIST_KIND_COMPLEX;
  size_t misfit = n;
  switch (rules->host) {
    case JOIST_HOST_LOGICAL:
    case JOIST_HOST_INTEGER: {
      const int32_t *integers = (const int32_t *)values + start;
      misfit = first_outside_int32_t(n, integers, (int32_t)rules->low_integer,
                                     (int32_t)rules->high_integer);
      if (misfit < n) *found = integers[misfit] == INT32_MIN ? IS_NA : OUT_OF_RANGE;
      *from = JOIST_I32;
      *elements = integers;
      if (rules->host == JOIST_HOST_LOGICAL) {
        joist_convert_find(JOIST_I32, JOIST_BOOL)(n, integers, scratch);
        *from = JOIST_BOOL;
        *elements = scratch;
      }
      break;
    }
    case JOIST_HOST_INTEGER64: {
      const int64_t *integers = (const int64_t *)values + start;
      misfit = first_outside_int64_t(n, integers, rules->low_integer, rules->high_integer);
      if (misfit < n) *found = integers[misfit] == INT64_MIN ? IS_NA : OUT_OF_RANGE;
      *from = JOIST_I64;
      *elements = integers;
      break;
    }
    case JOIST_HOST_RAW: {
      const uint8_t *bytes = (const uint8_t *)values + start;
      int32_t integers[EXCHANGE_BLOCK];
      joist_convert_find(JOIST_UI8, JOIST_I32)(n, bytes, integers);
      misfit = first_outside_int32_t(n, integers, (int32_t)rules->low_integer,
                                     (int32_t)rules->high_integer);
      if (misfit < n) *found = OUT_OF_RANGE;
      *from = JOIST_UI8;
      *elements = bytes;
      break;
    }
    case JOIST_HOST_DOUBLE: {
      const double *doubles = (const double *)values + start;
      misfit = first_double_misfit(rules, n, doubles, found);
      *from = JOIST_F64;
      *elements = doubles;
      break;
    }
    case JOIST_HOST_COMPLEX: {
      const double *parts = (const double *)values + 2 * start;
      *from = complex_target ? JOIST_C128 : JOIST_F64;
      *elements = complex_target ? parts : scratch;
      misfit = complex_target ? first_double_misfit(rules, 2 * n, parts, found) / 2
                              : first_complex_misfit(rules, n, parts, scratch, found);
      break;
    }
    case JOIST_HOST_FLOAT32: {
      const float *floats = (const float *)values + start;
      const bool wide = joist_dtype_real(rules->dtype) == JOIST_F64;
      widen_float32(n, floats, scratch);
      misfit = first_double_misfit(rules, n, scratch, found);
      *from = wide ? JOIST_F64 : JOIST_F32;
      *elements = wide ? (const void *)scratch : floats;
      break;
    }
  }
  return misfit;
}

/* Imports the elements from `start` to `end`, up to the first misfit, and returns its index, `end`
 * if there is none. Only checks when `out` is NULL. */
static size_t import_until(const struct import *rules, const void *values, size_t start, size_t end,
                           void *out, problem *found) {
  const size_t size = joist_dtype_size(rules->dtype);
  double scratch[EXCHANGE_BLOCK];
  for (; start < end; start += EXCHANGE_BLOCK) {
    const size_t count = joist_smaller(end - start, EXCHANGE_BLOCK);
    const void *elements = NULL;
    joist_dtype from = JOIST_DTYPE_NONE;
    const size_t misfit =
        check_block(rules, values, start, count, scratch, &elements, &from, found);
    if (misfit < count) return start + misfit;
    if (out != NULL)
      joist_convert_find(from, rules->dtype)(count, elements, (char *)out + start * size);
  }
  return end;
}

/* The dtype whose elements look like the values of a host type. */
static joist_dtype host_layout(joist_host host) {
  switch (host) {
    case JOIST_HOST_LOGICAL:
    case JOIST_HOST_INTEGER:
      return JOIST_I32;
    case JOIST_HOST_DOUBLE:
      return JOIST_F64;
    case JOIST_HOST_COMPLEX:
      return JOIST_C128;
    case JOIST_HOST_RAW:
      return JOIST_UI8;
    case JOIST_HOST_INTEGER64:
      return JOIST_I64;
    case JOIST_HOST_FLOAT32:
      break;
  }
  return JOIST_F32;
}

static joist_status report(const struct import *rules, const void *values, size_t index,
                           problem found, struct joist_error *error) {
  static const joist_error_code codes[] = {
      [IS_NA] = JOIST_E_NA_VALUE,          [NOT_FINITE] = JOIST_E_NOT_FINITE,
      [FRACTIONAL] = JOIST_E_FRACTIONAL,   [IMAGINARY] = JOIST_E_IMAGINARY,
      [NO_TRUTH] = JOIST_E_NO_TRUTH_VALUE, [OUT_OF_RANGE] = JOIST_E_OUT_OF_RANGE};
  const joist_dtype layout = host_layout(rules->host);
  char text[JOIST_TEXT_SIZE];
  joist_format_element(layout, (const char *)values + index * joist_dtype_size(layout), 0, text);
  return JOIST_FAIL(error, codes[found], .text = {joist_quote(text)}, .position = index + 1,
                    .type = {{rules->dtype, false}});
}

static joist_status import_all(const struct import *rules, const void *values, size_t n, void *out,
                               const struct joist_run *run, struct joist_error *error) {
  for (size_t start = 0; start < n; start += EXCHANGE_POLL) {
    if (is_interrupted(start, run, error)) return JOIST_INTERRUPTED;
    const size_t end = n - start < EXCHANGE_POLL ? n : start + EXCHANGE_POLL;
    problem found = FITS;
    const size_t misfit = import_until(rules, values, start, end, out, &found);
    if (misfit < end) return report(rules, values, misfit, found, error);
  }
  return JOIST_OK;
}

joist_status joist_import(joist_host host, const void *values, size_t n, joist_dtype dtype,
                          void *out, const struct joist_run *run, struct joist_error *error) {
  const struct import rules = import_rules(host, dtype);
  return import_all(&rules, values, n, out, run, error);
}

joist_status joist_import_truth(joist_host host, const void *values, size_t n, void *out,
                                const struct joist_run *run, struct joist_error *error) {
  const struct import rules = truth_rules(host);
  return import_all(&rules, values, n, out, run, error);
}

bool joist_import_fits(joist_host host, const void *values, size_t n, joist_dtype dtype) {
  const struct import rules = import_rules(host, dtype);
  problem found = FITS;
  return import_until(&rules, values, 0, n, NULL, &found) == n;
}

joist_category joist_host_category(joist_host host) {
  if (host == JOIST_HOST_LOGICAL) return JOIST_CATEGORY_BOOL;
  return joist_dtype_category(host_layout(host));
}

static void widen(double value, double *low, double *high) {
  if (value < *low) *low = value;
  if (value > *high) *high = value;
}

bool joist_host_range(joist_host host, const void *values, size_t n,
                      struct joist_host_values *found) {
  const joist_dtype layout = host_layout(host);
  const size_t parts = host == JOIST_HOST_COMPLEX ? 2 : 1;
  const size_t size = joist_dtype_size(layout) / parts;
  joist_convert_kernel *convert = joist_convert_find(joist_dtype_real(layout), JOIST_F64);
  const bool has_integer_na =
      host == JOIST_HOST_LOGICAL || host == JOIST_HOST_INTEGER || host == JOIST_HOST_INTEGER64;
  const double na = (double)(host == JOIST_HOST_INTEGER64 ? INT64_MIN : INT32_MIN);
  double least = (double)INFINITY, most = -(double)INFINITY; /* of the infinite ones */
  *found = (struct joist_host_values){.low = least, .high = most, .whole = parts == 1};
  for (size_t i = 0; i < n * parts; i++) {
    double value;
    convert(1, (const char *)values + i * size, &value);
    if (!isfinite(value)) {
      found->whole = false;
      found->has_nan |= isnan(value);
      found->has_infinity |= isinf(value) != 0;
      widen(value, &least, &most); /* NaN is neither less nor greater */
      continue;
    }
    found->whole &= value == floor(value);
    if (has_integer_na && value == na) {
      /* Rounding to double makes other integer64 values equal to NA's too. */
      int64_t exact;
      joist_convert_find(layout, JOIST_I64)(1, (const char *)values + i * size, &exact);
      if (exact == (host == JOIST_HOST_INTEGER64 ? INT64_MIN : INT32_MIN)) return false;
    }
    widen(host == JOIST_HOST_LOGICAL ? value != 0 : value, &found->low, &found->high);
  }
  if (found->low > found->high) {
    found->low = least;
    found->high = most;
  }
  return n > 0 && !found->has_nan;
}
