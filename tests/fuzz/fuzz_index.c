/* Index vectors, logical ones, masks, and walks over what they select, against R's rules applied to
 * one entry at a time.
 *
 * The bytes: kind of the vector, rank and extents; then for each dim the number of entries and
 * the entries, 16 bits each, some of which stand for NaN, infinity or numbers far away. */
#include <math.h>

#include "bytes.h"
#include "core/ops/move/index.h"
#include "core/ops/move/mask.h"
#include "core/ops/move/walk.h"
#include "core/types/error.h"
#include "fuzz.h"

enum { RANK = 3, ENTRIES = 200, EXTENT = 700 };

static const struct joist_run run = {.threads = 1};

/* ---- one vector ---- */

static double entry_of(struct bytes *bytes, joist_index_kind kind) {
  static const double far[] = {0x1p31,  -0x1p31 + 1, 0x1p53, 0x1p62, -0x1p62,  0x1p63,
                               -0x1p63, 0x1p64,      1e300,  -1e300, INFINITY, -INFINITY,
                               NAN,     1e-300,      -0.5,   0.5};
  const int16_t entry = take_short(bytes);
  if (entry < -1000) return far[(size_t)(-entry) % (sizeof far / sizeof *far)];
  return kind == JOIST_INDEX_F64 && entry > 10000 ? (entry - 10000) / 16.0 : entry;
}

/* As an element of the vector, and then what R reads there. */
static double put_entry(joist_index_kind kind, void *vector, size_t k, double entry) {
  if (kind == JOIST_INDEX_F64) {
    ((double *)vector)[k] = entry;
    return entry;
  }
  if (kind == JOIST_INDEX_I32) {
    const bool missing = isnan(entry) || fabs(entry) >= 0x1p31;
    ((int32_t *)vector)[k] = missing ? INT32_MIN : (int32_t)entry;
    return missing ? NAN : trunc(entry);
  }
  const int64_t whole = isnan(entry) || entry <= -0x1p63 ? INT64_MIN
                        : entry >= 0x1p63                ? INT64_MAX
                                                         : (int64_t)entry;
  ((int64_t *)vector)[k] = whole;
  return (double)whole;
}

/* Positions that the entries select, in order; SIZE_MAX where they are refused. */
static size_t selected(const double *entries, size_t n, size_t extent, int64_t *positions) {
  bool positive = false, negative = false;
  size_t count = 0;
  for (size_t k = 0; k < n; k++) {
    const double entry = trunc(entries[k]);
    if (isnan(entry) || fabs(entry) > (double)extent) return SIZE_MAX;
    positive |= entry > 0;
    negative |= entry < 0;
  }
  if (positive && negative) return SIZE_MAX;
  for (size_t k = 0; k < n && !negative; k++)
    if (entries[k] >= 1) positions[count++] = (int64_t)entries[k] - 1;
  for (size_t at = 0; at < extent && negative; at++) {
    bool left_out = false;
    for (size_t k = 0; k < n; k++) left_out |= trunc(entries[k]) == -(double)at - 1;
    if (!left_out) positions[count++] = (int64_t)at;
  }
  return count;
}

static size_t element_size(joist_index_kind kind) { return kind == JOIST_INDEX_I32 ? 4 : 8; }

/* The positions by the core, in memory of exactly their number; NULL where the vector is refused.
 */
static int64_t *scan(joist_index_kind kind, const void *vector, size_t n, size_t extent,
                     size_t want, bool missing) {
  struct joist_index index;
  joist_index_need need;
  struct joist_error error;
  const joist_status status = joist_index_scan(kind, vector, n, extent, 1, &index, &need, &error);
  HOLDS((status == JOIST_OK) == (want != SIZE_MAX));
  if (status != JOIST_OK) {
    HOLDS(status == (missing ? JOIST_ERROR_VALUE : JOIST_ERROR_SHAPE) && error.dim == 1);
    return NULL;
  }
  int64_t *const positions = exact(want * sizeof *positions);
  if (need == JOIST_INDEX_READY) {
    HOLDS(index.count == want);
    for (size_t k = 0; k < want; k += 7)
      joist_index_read(&index, k, want - k < 7 ? want - k : 7, positions + k);
    for (size_t k = 0; k < want; k++) HOLDS(joist_index_at(&index, k) == positions[k]);
  } else if (need == JOIST_INDEX_ZEROS) {
    HOLDS(index.count == want);
    joist_index_nonzero(&index, n, positions);
  } else {
    uint8_t *const chosen = exact(extent);
    joist_index_exclude(&index, n, extent, chosen);
    joist_mask_positions(chosen, extent, positions);
    free(chosen);
  }
  return positions;
}

/* ---- logical vectors and masks ---- */

static void check_mask(const uint8_t *mask, size_t n, size_t size) {
  const size_t blocks = joist_mask_blocks(n);
  size_t *const before = exact((blocks + 1) * sizeof *before), count = 0;
  struct joist_error error;
  HOLDS(joist_mask_count(mask, n, before, &run, &error) == JOIST_OK);
  for (size_t k = 0; k < n; k++) count += mask[k];
  HOLDS(before[blocks] == count);
  unsigned char *const in = exact(n * size), *const out = exact(n * size);
  unsigned char *const taken = exact(count * size);
  int64_t *const positions = exact(count * sizeof *positions);
  for (size_t k = 0; k < n * size; k++) in[k] = (unsigned char)(k * 7 + k / 256);
  memset(out, 0x5a, n * size);
  HOLDS(joist_mask_take(size, mask, n, before, in, taken, &run, &error) == JOIST_OK);
  joist_mask_positions(mask, n, positions);
  HOLDS(joist_mask_put(size, mask, n, before, taken, false, out, &run, &error) == JOIST_OK);
  for (size_t k = 0, used = 0; k < n; k++) {
    if (mask[k]) {
      HOLDS(positions[used] == (int64_t)k);
      HOLDS(memcmp(taken + used++ * size, in + k * size, size) == 0);
      HOLDS(memcmp(out + k * size, in + k * size, size) == 0);
    } else {
      for (size_t b = 0; b < size; b++) HOLDS(out[k * size + b] == 0x5a);
    }
  }
  if (count > 0) {
    HOLDS(joist_mask_put(size, mask, n, before, in, true, out, &run, &error) == JOIST_OK);
    for (size_t k = 0; k < n; k++) HOLDS(!mask[k] || memcmp(out + k * size, in, size) == 0);
  }
  free(before);
  free(in);
  free(out);
  free(taken);
  free(positions);
}

static void check_logical(const double *entries, size_t n, size_t extent, size_t size) {
  int32_t *const logical = exact(n * sizeof *logical);
  uint8_t *const chosen = exact(extent);
  struct joist_error error;
  bool missing = false;
  for (size_t k = 0; k < n; k++) {
    logical[k] = isnan(entries[k]) ? INT32_MIN : fmod(entries[k], 2) != 0 ? 1 + (int)k : 0;
    missing |= isnan(entries[k]);
  }
  const joist_status status = joist_index_logical(logical, n, extent, 0, chosen, &error);
  HOLDS(status == (missing ? JOIST_ERROR_VALUE : n > extent ? JOIST_ERROR_SHAPE : JOIST_OK));
  if (status == JOIST_OK) {
    for (size_t k = 0; k < extent; k++) HOLDS(chosen[k] == (n > 0 && logical[k % n] != 0));
    check_mask(chosen, extent, size);
  }
  free(logical);
  free(chosen);
}

/* ---- walks ---- */

struct selection {
  int rank;
  size_t extent[RANK], count[RANK], n[RANK];
  int64_t *positions[RANK];
  struct joist_index index[RANK];
};

/* Where the element is that comes k-th. */
static size_t place_of(const struct selection *s, size_t k) {
  size_t at = 0, stride = 1;
  for (int d = 0; d < s->rank; d++) {
    at += (size_t)s->positions[d][k % s->count[d]] * stride;
    k /= s->count[d];
    stride *= s->extent[d];
  }
  return at;
}

static void check_walks(const struct selection *s, size_t size) {
  struct joist_shape shape = {.rank = s->rank};
  size_t all = 1, some = 1;
  for (int d = 0; d < s->rank; d++) {
    shape.extent[d] = (uint32_t)s->extent[d];
    all *= s->extent[d];
    some *= s->count[d];
  }
  if (all * size > 1 << 20 || some * size > 1 << 20) return;
  unsigned char *const array = exact(all * size), *const taken = exact(some * size);
  unsigned char *const out = exact(all * size), *const want = exact(all * size);
  int64_t *const positions = exact(some * sizeof *positions);
  struct joist_walk walk;
  struct joist_error error;
  for (size_t k = 0; k < all * size; k++) array[k] = (unsigned char)(k * 5 + k / 256);
  memset(out, 0x5a, all * size);
  memset(want, 0x5a, all * size);
  joist_walk_take(&shape, s->index, &walk);
  HOLDS(walk.count == some);
  HOLDS(joist_move(size, &walk, array, taken, &run, &error) == JOIST_OK);
  joist_positions(&shape, s->index, positions);
  for (size_t k = 0; k < some; k++) {
    const size_t place = place_of(s, k);
    HOLDS(positions[k] == (int64_t)place);
    HOLDS(memcmp(taken + k * size, array + place * size, size) == 0);
  }
  /* Other values, so that it shows which of two for one place is last. */
  for (size_t k = 0; k < some * size; k++) taken[k] = (unsigned char)(k * 3 + k / 128);
  for (size_t k = 0; k < some; k++) memcpy(want + place_of(s, k) * size, taken + k * size, size);
  joist_walk_put(&shape, s->index, false, &walk);
  HOLDS(joist_move(size, &walk, taken, out, &run, &error) == JOIST_OK);
  HOLDS(all == 0 || memcmp(out, want, all * size) == 0);
  if (some > 0) {
    for (size_t k = 0; k < some; k++) memcpy(want + place_of(s, k) * size, taken, size);
    joist_walk_put(&shape, s->index, true, &walk);
    HOLDS(joist_move(size, &walk, taken, out, &run, &error) == JOIST_OK);
    HOLDS(memcmp(out, want, all * size) == 0);
  }
  free(array);
  free(taken);
  free(out);
  free(want);
  free(positions);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  static const joist_index_kind kinds[] = {JOIST_INDEX_I32, JOIST_INDEX_I64, JOIST_INDEX_F64};
  static double entries[RANK][ENTRIES];
  struct bytes bytes = {data, data + size};
  struct selection s = {.rank = 1 + (int)take_below(&bytes, RANK)};
  const size_t each = (size_t)1 << take_below(&bytes, 5);
  void *vectors[RANK] = {NULL};
  bool whole = true;
  for (int d = 0; d < s.rank; d++) {
    static int64_t want[ENTRIES + EXTENT];
    const joist_index_kind kind = kinds[take_below(&bytes, 3)];
    bool missing = false;
    s.extent[d] = (uint16_t)take_short(&bytes) % (s.rank == 1 ? EXTENT : 24);
    const size_t n = s.n[d] = take_below(&bytes, ENTRIES);
    vectors[d] = exact(n * element_size(kind));
    for (size_t k = 0; k < n; k++) {
      entries[d][k] = put_entry(kind, vectors[d], k, entry_of(&bytes, kind));
      missing |= isnan(entries[d][k]);
    }
    s.count[d] = selected(entries[d], n, s.extent[d], want);
    s.positions[d] = scan(kind, vectors[d], n, s.extent[d], s.count[d], missing);
    check_logical(entries[d], n, s.extent[d], each);
    if (s.positions[d] == NULL) {
      whole = false;
      continue;
    }
    HOLDS(s.count[d] == 0 || memcmp(want, s.positions[d], s.count[d] * sizeof *want) == 0);
    s.index[d] = joist_index_of(s.positions[d], s.count[d]);
  }
  if (whole) check_walks(&s, each);
  for (int d = 0; d < s.rank; d++) {
    free(vectors[d]);
    free(s.positions[d]);
  }
  return 0;
}
