/* Elements of a dtype back into values of the host language. Checks a block, then
 * converts it. */
#include "core/base/vectorize.h"
#include "core/types/convert.h"
#include "core/types/error.h"
#include "core/types/host.h"
#include "core/types/host_scan.h"
#include "core/types/loss.h"

JOIST_VECTORIZE_FILE

FIRST_OUTSIDE(int32_t)
FIRST_OUTSIDE(uint32_t)
FIRST_OUTSIDE(int64_t)
FIRST_OUTSIDE(uint64_t)

static const struct {
  const char *name;
  joist_dtype layout; /* the dtype whose elements look like the host's values */
} hosts[] = {
    [JOIST_HOST_LOGICAL] = {"logical", JOIST_I32},
    [JOIST_HOST_INTEGER] = {"integer", JOIST_I32},
    [JOIST_HOST_DOUBLE] = {"double", JOIST_F64},
    [JOIST_HOST_COMPLEX] = {"complex", JOIST_C128},
    [JOIST_HOST_RAW] = {"raw", JOIST_UI8},
    [JOIST_HOST_INTEGER64] = {"integer64", JOIST_I64},
    [JOIST_HOST_FLOAT32] = {"float32", JOIST_F32},
};

static bool can_export(joist_dtype dtype, joist_host host, bool lossy) {
  const joist_category category = joist_dtype_category(dtype);
  switch (host) {
    case JOIST_HOST_LOGICAL:
      return dtype == JOIST_BOOL;
    case JOIST_HOST_INTEGER:
    case JOIST_HOST_INTEGER64:
      return category == JOIST_CATEGORY_BOOL || category == JOIST_CATEGORY_INTEGER;
    case JOIST_HOST_RAW:
      return dtype == JOIST_BOOL || dtype == JOIST_UI8;
    case JOIST_HOST_DOUBLE:
      return category != JOIST_CATEGORY_COMPLEX;
    case JOIST_HOST_COMPLEX:
      return true;
    case JOIST_HOST_FLOAT32:
      break;
  }
  if (category == JOIST_CATEGORY_COMPLEX) return false;
  return lossy || joist_conversion_loss(dtype, JOIST_F32).losses == JOIST_LOSS_NONE;
}

/* An integer is exact in double when what is left without its trailing zeros has at most
 * 53 bits. */
static bool exact_in_double(uint64_t magnitude) {
  const uint64_t lowest_bit = magnitude & (0 - magnitude);
  return magnitude == 0 || magnitude / lowest_bit <= UINT64_C(1) << 53;
}

size_t joist_first_inexact(joist_dtype dtype, size_t n, const void *elements) {
  const int64_t limit = INT64_C(1) << 53;
  const int64_t *integers = elements;
  const uint64_t *naturals = elements;
  const bool is_signed = dtype == JOIST_I64;
  size_t i = is_signed ? first_outside_int64_t(n, integers, -limit, limit)
                       : first_outside_uint64_t(n, naturals, 0, (uint64_t)limit);
  while (i < n &&
         exact_in_double(is_signed && integers[i] < 0 ? 0 - (uint64_t)integers[i] : naturals[i]))
    i++;
  return i;
}

/* Index of the first element that the host type cannot hold, n if there is none. */
static size_t first_misfit(joist_dtype dtype, size_t n, const void *elements, joist_host host,
                           bool lossy) {
  const bool is_signed = joist_dtype_kind(dtype) == JOIST_KIND_INT;
  const size_t size = joist_dtype_size(dtype);
  /* The most negative value is NA in R's integer types. */
  const int64_t limit = host == JOIST_HOST_INTEGER64 ? INT64_MAX : INT32_MAX;
  if ((host == JOIST_HOST_DOUBLE || host == JOIST_HOST_COMPLEX) && !lossy &&
      joist_dtype_category(dtype) == JOIST_CATEGORY_INTEGER && size == sizeof(int64_t))
    return joist_first_inexact(dtype, n, elements);
  if (host != JOIST_HOST_INTEGER && host != JOIST_HOST_INTEGER64) return n;
  if (size == sizeof(int64_t))
    return is_signed ? first_outside_int64_t(n, elements, -limit, limit)
                     : first_outside_uint64_t(n, elements, 0, (uint64_t)limit);
  if (host == JOIST_HOST_INTEGER64 || size < sizeof(int32_t)) return n;
  return is_signed ? first_outside_int32_t(n, elements, -INT32_MAX, INT32_MAX)
                   : first_outside_uint32_t(n, elements, 0, INT32_MAX);
}

static joist_status report(joist_dtype dtype, const void *element, size_t position, joist_host host,
                           struct joist_error *error) {
  const joist_error_code code = host == JOIST_HOST_INTEGER64   ? JOIST_E_EXPORT_INTEGER64
                                : host != JOIST_HOST_INTEGER   ? JOIST_E_EXPORT_INEXACT
                                : joist_dtype_size(dtype) == 8 ? JOIST_E_EXPORT_INTEGER_WIDE
                                                               : JOIST_E_EXPORT_INTEGER;
  char text[JOIST_TEXT_SIZE];
  joist_format_element(dtype, element, 0, text);
  return JOIST_FAIL(error, code, .text = {joist_quote(text)}, .position = position,
                    .type = {{dtype, false}});
}

joist_status joist_export(joist_dtype dtype, const void *elements, size_t n, joist_host host,
                          bool lossy, void *out, const struct joist_run *run,
                          struct joist_error *error) {
  if (!can_export(dtype, host, lossy))
    return JOIST_FAIL(error, JOIST_E_NO_EXPORT, .type = {{dtype, false}},
                      .name = {hosts[host].name});
  const size_t size = joist_dtype_size(dtype);
  const size_t host_size = joist_dtype_size(hosts[host].layout);
  joist_convert_kernel *convert = joist_convert_find(dtype, hosts[host].layout);
  for (size_t start = 0; start < n; start += EXCHANGE_BLOCK) {
    if (is_interrupted(start, run, error)) return JOIST_INTERRUPTED;
    const size_t count = joist_smaller(n - start, EXCHANGE_BLOCK);
    const char *block = (const char *)elements + start * size;
    const size_t misfit = first_misfit(dtype, count, block, host, lossy);
    if (misfit < count)
      return report(dtype, block + misfit * size, start + misfit + 1, host, error);
    convert(count, block, (char *)out + start * host_size);
  }
  return JOIST_OK;
}
