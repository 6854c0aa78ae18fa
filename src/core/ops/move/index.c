/* Reading index vectors. */
#include "core/ops/move/index.h"

#include <math.h>
#include <string.h>

#include "core/base/vectorize.h"
#include "core/types/error.h"

JOIST_VECTORIZE_FILE

enum { STRIP = 512, WHERE = 32 };
#define NOT_AVAILABLE INT64_MIN

struct joist_index joist_index_all(size_t extent) {
  return (struct joist_index){.kind = JOIST_INDEX_RANGE, .count = extent, .step = 1};
}

struct joist_index joist_index_of(const int64_t *positions, size_t count) {
  const int64_t step = count > 1 ? positions[1] - positions[0] : 1;
  size_t k = 1;
  while (k < count && positions[k] - positions[k - 1] == step) k++;
  if (k >= count && step != 0)
    return (struct joist_index){.kind = JOIST_INDEX_RANGE,
                                .count = count,
                                .start = count > 0 ? positions[0] : 0,
                                .step = step};
  return (struct joist_index){.kind = JOIST_INDEX_I64, .count = count, .list = positions};
}

void joist_index_read(const struct joist_index *index, size_t k, size_t n, int64_t *positions) {
  const int64_t base = index->base;
  switch (index->kind) {
    case JOIST_INDEX_RANGE:
      for (size_t j = 0; j < n; j++) positions[j] = index->start + (int64_t)(k + j) * index->step;
      break;
    case JOIST_INDEX_I32: {
      const int32_t *const list = (const int32_t *)index->list + k;
      for (size_t j = 0; j < n; j++) positions[j] = list[j] - base;
      break;
    }
    case JOIST_INDEX_I64: {
      const int64_t *const list = (const int64_t *)index->list + k;
      for (size_t j = 0; j < n; j++) positions[j] = list[j] - base;
      break;
    }
    case JOIST_INDEX_F64: {
      const double *const list = (const double *)index->list + k;
      for (size_t j = 0; j < n; j++) positions[j] = (int64_t)list[j] - base;
      break;
    }
  }
}

int64_t joist_index_at(const struct joist_index *index, size_t k) {
  int64_t position = -1;
  joist_index_read(index, k, 1, &position);
  return position;
}

/* ---- index vectors ---- */

joist_status joist_index_out_of_range(double entry, size_t position, size_t extent, int dim,
                                      struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_INDEX_RANGE, .number = {entry}, .position = position + 1,
                    .dim = dim, .count = {extent});
}

static joist_status not_available(size_t position, int dim, struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_INDEX_NA, .position = position + 1, .dim = dim);
}

/* Entry k as a whole number; NOT_AVAILABLE for NA; beyond every extent for what no int64 is. */
static int64_t entry_at(joist_index_kind kind, const void *vector, size_t k) {
  switch (kind) {
    case JOIST_INDEX_I32: {
      const int32_t entry = ((const int32_t *)vector)[k];
      return entry == INT32_MIN ? NOT_AVAILABLE : entry;
    }
    case JOIST_INDEX_I64: {
      const int64_t entry = ((const int64_t *)vector)[k];
      return entry == INT64_MIN ? -INT64_MAX : entry;
    }
    case JOIST_INDEX_F64: {
      const double entry = ((const double *)vector)[k];
      if (isnan(entry)) return NOT_AVAILABLE;
      return entry >= 0x1p62 ? INT64_MAX : entry <= -0x1p62 ? -INT64_MAX : (int64_t)entry;
    }
    case JOIST_INDEX_RANGE:
      break;
  }
  return NOT_AVAILABLE;
}

/* Whether an entry k of begin .. end - 1 is none of 1 .. extent, in loops that vectorize. */
static bool has_invalid(joist_index_kind kind, const void *vector, size_t begin, size_t end,
                        size_t extent) {
  int bad = 0;
  if (kind == JOIST_INDEX_I32) {
    const int32_t *const entries = vector;
    const int32_t most = extent < INT32_MAX ? (int32_t)extent : INT32_MAX;
    for (size_t k = begin; k < end; k++) bad |= (entries[k] < 1) | (entries[k] > most);
  } else if (kind == JOIST_INDEX_I64) {
    const int64_t *const entries = vector;
    for (size_t k = begin; k < end; k++) bad |= (entries[k] < 1) | (entries[k] > (int64_t)extent);
  } else {
    const double *const entries = vector;
    const double limit = (double)extent + 1;
    for (size_t k = begin; k < end; k++) bad |= !((entries[k] >= 1) & (entries[k] < limit));
  }
  return bad != 0;
}

size_t joist_index_first_invalid(joist_index_kind kind, const void *vector, size_t n,
                                 size_t extent) {
  for (size_t begin = 0; begin < n; begin += STRIP) {
    const size_t end = n - begin < STRIP ? n : begin + STRIP;
    if (!has_invalid(kind, vector, begin, end, extent)) continue;
    size_t k = begin;
    while (!has_invalid(kind, vector, k, k + 1, extent)) k++;
    return k;
  }
  return n;
}

/* Whether the entries are first, first + step, ...; stops at the first that is not. */
static bool is_sequence(joist_index_kind kind, const void *vector, size_t n, int64_t step) {
  if (kind == JOIST_INDEX_I32) {
    const int32_t *const entries = vector;
    for (size_t begin = 1; begin < n; begin += STRIP) {
      const size_t end = n - begin < STRIP ? n : begin + STRIP;
      int bad = 0;
      for (size_t k = begin; k < end; k++)
        bad |= (int64_t)entries[k] - (int64_t)entries[k - 1] != step;
      if (bad) return false;
    }
    return true;
  }
  for (size_t k = 1; k < n; k++)
    if ((uint64_t)entry_at(kind, vector, k) - (uint64_t)entry_at(kind, vector, k - 1) !=
        (uint64_t)step)
      return false;
  return true;
}

static bool within(int64_t entry, size_t extent) {
  return entry >= 1 && (uint64_t)entry <= (uint64_t)extent;
}

/* The index as a range, when it is one. */
static bool scan_range(joist_index_kind kind, const void *vector, size_t n, size_t extent,
                       struct joist_index *index) {
  const int64_t first = entry_at(kind, vector, 0), last = entry_at(kind, vector, n - 1);
  if (!within(first, extent) || !within(last, extent)) return false;
  const int64_t second = n > 1 ? entry_at(kind, vector, 1) : first + 1;
  if (!within(second, extent) && n > 1) return false;
  const int64_t step = second - first;
  if (step == 0) return false; /* a repeated position is not a range: threads cannot share it */
  if (!is_sequence(kind, vector, n, step)) return false;
  *index =
      (struct joist_index){.kind = JOIST_INDEX_RANGE, .count = n, .start = first - 1, .step = step};
  return true;
}

/* The index as a range when it leaves out the first positions, or the last, one after the
 * other: x[-1] and the like need no list of what is left. */
static bool scan_ends(joist_index_kind kind, const void *vector, size_t n, size_t extent,
                      struct joist_index *index) {
  const int64_t begin = entry_at(kind, vector, 0), end = entry_at(kind, vector, n - 1);
  if (begin >= 0 || end >= 0 || begin == NOT_AVAILABLE || end == NOT_AVAILABLE) return false;
  const int64_t first = -begin, last = -end;
  if (!within(first, extent) || !within(last, extent)) return false;
  if (!is_sequence(kind, vector, n, first <= last ? -1 : 1)) return false;
  const int64_t low = first < last ? first : last, high = first < last ? last : first;
  if (low != 1 && (uint64_t)high != extent) return false;
  *index = (struct joist_index){.kind = JOIST_INDEX_RANGE, .count = extent - n, .step = 1};
  index->start = low == 1 && index->count > 0 ? high : 0;
  return true;
}

joist_status joist_index_scan(joist_index_kind kind, const void *vector, size_t n, size_t extent,
                              int dim, struct joist_index *index, joist_index_need *need,
                              struct joist_error *error) {
  *need = JOIST_INDEX_READY;
  *index = (struct joist_index){.kind = kind, .count = n, .list = vector, .base = 1};
  if (n == 0) return JOIST_OK;
  if (scan_range(kind, vector, n, extent, index)) return JOIST_OK;
  if (scan_ends(kind, vector, n, extent, index)) return JOIST_OK;
  if (joist_index_first_invalid(kind, vector, n, extent) == n) return JOIST_OK;
  size_t negative = 0, zero = 0, far = n;
  for (size_t k = 0; k < n; k++) {
    const int64_t entry = entry_at(kind, vector, k);
    if (entry == NOT_AVAILABLE) return not_available(k, dim, error);
    negative += entry < 0;
    zero += entry == 0;
    if (far == n && entry != 0 && !within(entry < 0 ? -entry : entry, extent)) far = k;
  }
  if (negative > 0 && negative + zero < n)
    return JOIST_FAIL(error, JOIST_E_INDEX_SIGNS, .dim = dim);
  if (far < n) {
    const double entry = kind == JOIST_INDEX_F64 ? trunc(((const double *)vector)[far])
                                                 : (double)entry_at(kind, vector, far);
    return joist_index_out_of_range(entry, far, extent, dim, error);
  }
  *need = negative > 0 ? JOIST_INDEX_EXCLUDE : JOIST_INDEX_ZEROS;
  index->count = n - zero;
  return JOIST_OK;
}

void joist_index_nonzero(const struct joist_index *index, size_t n, int64_t *positions) {
  for (size_t k = 0, used = 0; k < n; k++) {
    const int64_t entry = entry_at(index->kind, index->list, k);
    if (entry != 0) positions[used++] = entry - 1;
  }
}

void joist_index_exclude(const struct joist_index *index, size_t n, size_t extent,
                         uint8_t *chosen) {
  if (extent > 0) memset(chosen, 1, extent);
  for (size_t k = 0; k < n; k++) {
    const int64_t entry = entry_at(index->kind, index->list, k);
    if (entry != 0) chosen[-entry - 1] = 0;
  }
}

joist_status joist_index_logical(const int32_t *logical, size_t n, size_t extent, int dim,
                                 uint8_t *chosen, struct joist_error *error) {
  for (size_t k = 0; k < n; k++)
    if (logical[k] == INT32_MIN) return not_available(k, dim, error);
  if (n > extent) return joist_index_out_of_range((double)n, n - 1, extent, dim, error);
  for (size_t k = 0; k < n; k++) chosen[k] = logical[k] != 0;
  for (size_t done = n; done < extent && n > 0;) {
    const size_t more = done < extent - done ? done : extent - done;
    memcpy(chosen + done, chosen, more);
    done += more;
  }
  if (n == 0 && extent > 0) memset(chosen, 0, extent);
  return JOIST_OK;
}
