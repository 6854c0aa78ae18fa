#include "r/tensor/view_values.h"

#include <string.h>

#include "r/base/vector.h"
#include "r/base/view_losses.h"
#include "r/memory/payload.h"
#include "r/tensor/view.h"

void joist_r_set_missing(SEXPTYPE type, void *out) {
  if (type == INTSXP || type == LGLSXP) *(int *)out = NA_INTEGER;
  if (type == REALSXP) *(double *)out = NA_REAL;
  if (type == CPLXSXP) *(Rcomplex *)out = (Rcomplex){.r = NA_REAL, .i = NA_REAL};
}

size_t joist_r_value_size(SEXPTYPE type) {
  return type == LGLSXP ? sizeof(int) : joist_r_element_size(type);
}

size_t joist_r_convert_values(joist_dtype dtype, const void *elements, const uint8_t *mask,
                              size_t n, void *out, const struct joist_run *run) {
  const SEXPTYPE type = joist_r_view_type(dtype);
  const joist_host host = joist_r_view_host(dtype);
  struct joist_error error;
  size_t missing = 0;
  if (joist_export(dtype, elements, n, host, false, out, run, &error) == JOIST_OK) {
    Rcomplex na;
    joist_r_set_missing(type, &na);
    if (mask != NULL) joist_missing_put(host, mask, n, &na, out);
    return 0;
  }
  for (size_t k = 0; k < n; k++) {
    if (mask != NULL && mask[k]) {
      joist_r_set_missing(type, (char *)out + k * joist_r_value_size(type));
      continue;
    }
    const char *const element = (const char *)elements + k * joist_dtype_size(dtype);
    void *const value = (char *)out + k * joist_r_value_size(type);
    if (joist_export(dtype, element, 1, host, false, value, NULL, &error) == JOIST_OK) continue;
    if (type == REALSXP) {
      uint64_t bits;
      memcpy(&bits, element, sizeof bits); /* only integers of 64 bits are not exact */
      joist_set_lost(value, bits);
    } else {
      joist_r_set_missing(type, value);
    }
    missing++;
  }
  return missing;
}

size_t joist_r_merge_values(joist_dtype dtype, const char *values, const char *shown, size_t n,
                            char *to, uint8_t *mask, struct joist_error *error) {
  const size_t each = joist_r_value_size(joist_r_view_type(dtype)), size = joist_dtype_size(dtype);
  const joist_host host = joist_r_view_host(dtype);
  for (size_t k = 0; k < n; k++) {
    if (memcmp(values + k * each, shown + k * each, each) == 0) continue;
    if (host == JOIST_HOST_DOUBLE && joist_check_lost(1, values + k * each, error) != JOIST_OK)
      return k + 1;
    mask[k] = joist_missing_count(host, values + k * each, 1, NULL) > 0;
    if (mask[k]) continue;
    if (joist_import(host, values + k * each, 1, dtype, to + k * size, NULL, error) != JOIST_OK)
      return k + 1;
  }
  return 0;
}

bool joist_r_refresh_values(joist_dtype dtype, const void *values, size_t n, void *elements,
                            uint8_t *mask) {
  enum { BLOCK = 64 };
  const size_t each = joist_r_value_size(joist_r_view_type(dtype)), size = joist_dtype_size(dtype);
  if (values == NULL) {
    joist_missing_mask(joist_r_view_host(dtype), elements, n, mask);
    return true;
  }
  Rcomplex shown[BLOCK];
  struct joist_error error;
  size_t misfit = 0;
  for (size_t start = 0; start < n && misfit == 0; start += BLOCK) {
    const size_t count = n - start < BLOCK ? n - start : BLOCK;
    char *const to = (char *)elements + start * size;
    (void)joist_r_convert_values(dtype, to, mask + start, count, shown, NULL);
    misfit = joist_r_merge_values(dtype, (const char *)values + start * each, (const char *)shown,
                                  count, to, mask + start, &error);
  }
  return misfit == 0;
}
