/* Indices by R's rules, against the rules applied to one entry at a time; and masks. */
#include "core/ops/move/index.h"
#include "core/ops/move/mask.h"

#include "arrays.h"

enum { ROUNDS = 3000, MOST = 40 };

/* What an index selects, 0-based; SIZE_MAX for an error. */
static size_t reference(const double *entries, size_t n, size_t extent, size_t *positions) {
  size_t negative = 0, positive = 0, count = 0;
  for (size_t k = 0; k < n; k++) {
    if (isnan(entries[k])) return SIZE_MAX;
    const double entry = trunc(entries[k]);
    negative += entry < 0;
    positive += entry > 0;
    if (fabs(entry) > (double)extent) return SIZE_MAX;
  }
  if (negative > 0 && positive > 0) return SIZE_MAX;
  if (negative == 0) {
    for (size_t k = 0; k < n; k++)
      if (trunc(entries[k]) > 0) positions[count++] = (size_t)entries[k] - 1;
    return count;
  }
  for (size_t at = 0; at < extent; at++) {
    bool left_out = false;
    for (size_t k = 0; k < n; k++) left_out |= trunc(entries[k]) == -(double)(at + 1);
    if (!left_out) positions[count++] = at;
  }
  return count;
}

/* Random entries, most of them a legal index; whole where the kind has no fractions. */
static size_t random_entries(size_t extent, bool whole, double *entries) {
  const size_t n = random_below(MOST), e = extent + 1;
  const int kind = (int)random_below(7);
  const double step = (double)random_below(4), start = (double)random_below(e);
  for (size_t k = 0; k < n; k++) {
    double entry = (double)random_below(e);
    if (kind == 1) entry = -entry;
    if (kind == 2) entry = entry == 0 ? 1 : entry;
    if (kind == 3) entry = start + (double)k * step; /* ranges, also beyond the end */
    if (kind == 4) entry = start - (double)k * step;
    if (kind == 5) entry = -1 - (double)k;
    if (kind == 6) entry = (double)k - (double)extent;
    if (one_in(80)) entry = one_in(2) ? -entry : entry + 3;
    if (!whole && one_in(4)) entry += entry < 0 ? -0.5 : 0.5;
    if (one_in(300)) entry = NAN;
    entries[k] = entry;
  }
  return n;
}

static void test_scan(void) {
  size_t errors = 0, ranges = 0, excluded = 0;
  for (int round = 0; round < ROUNDS; round++) {
    static const joist_index_kind kinds[] = {JOIST_INDEX_I32, JOIST_INDEX_I64, JOIST_INDEX_F64};
    const joist_index_kind kind = kinds[random_below(3)];
    const size_t extent = random_below(25);
    double entries[MOST];
    int32_t i32[MOST];
    int64_t i64[MOST], got[2 * MOST];
    size_t want[2 * MOST];
    const size_t n = random_entries(extent, kind != JOIST_INDEX_F64, entries);
    for (size_t k = 0; k < n; k++) {
      if (kind == JOIST_INDEX_I64 && isnan(entries[k])) entries[k] = 1e9; /* it has no NA */
      i32[k] = isnan(entries[k]) ? INT32_MIN : (int32_t)entries[k];
      i64[k] = isnan(entries[k]) ? 0 : (int64_t)entries[k];
    }
    const void *const vector = kind == JOIST_INDEX_I32   ? (const void *)i32
                               : kind == JOIST_INDEX_I64 ? (const void *)i64
                                                         : (const void *)entries;
    const size_t count = reference(entries, n, extent, want);
    struct joist_index index;
    joist_index_need need;
    struct joist_error error;
    const joist_status status = joist_index_scan(kind, vector, n, extent, 1, &index, &need, &error);
    CHECK_MSG((status != JOIST_OK) == (count == SIZE_MAX), "round %d: status %d", round, status);
    errors += status != JOIST_OK;
    if (status != JOIST_OK || count == SIZE_MAX) continue;
    if (need == JOIST_INDEX_ZEROS) {
      CHECK_INT(index.count, count);
      joist_index_nonzero(&index, n, got);
    } else if (need == JOIST_INDEX_EXCLUDE) {
      uint8_t mask[MOST];
      joist_index_exclude(&index, n, extent, mask);
      joist_mask_positions(mask, extent, got);
      excluded++;
    } else {
      CHECK_INT(index.count, count);
      joist_index_read(&index, 0, count, got);
      ranges += index.kind == JOIST_INDEX_RANGE;
    }
    for (size_t k = 0; k < count; k++)
      CHECK_MSG((size_t)got[k] == want[k], "round %d: position %zu is %lld, not %zu", round, k,
                (long long)got[k], want[k]);
    /* Invalid for what knows positions only. */
    size_t bad = 0;
    while (bad < n && trunc(entries[bad]) >= 1 && trunc(entries[bad]) <= (double)extent) bad++;
    CHECK_INT(joist_index_first_invalid(kind, vector, n, extent), bad);
  }
  CHECK(errors > ROUNDS / 20 && ranges > ROUNDS / 10 && excluded > ROUNDS / 50);
}

static void test_errors(void) {
  static const int32_t far[] = {1, 2, 9}, mixed[] = {1, -1}, missing[] = {1, INT32_MIN};
  struct joist_index index;
  joist_index_need need;
  struct joist_error error;
  CHECK_ERROR(joist_index_scan(JOIST_INDEX_I32, far, 3, 5, 2, &index, &need, &error), error,
              JOIST_E_INDEX_RANGE);
  CHECK(error.number[0] == 9 && error.position == 3 && error.dim == 2 && error.count[0] == 5);
  CHECK_STR(words(&error), "index 9 at position 3 of dimension 2 is out of range (1 to 5)");
  CHECK_ERROR(joist_index_scan(JOIST_INDEX_I32, mixed, 2, 5, 0, &index, &need, &error), error,
              JOIST_E_INDEX_SIGNS);
  CHECK_STR(words(&error), "the index mixes positive and negative numbers");
  CHECK_ERROR(joist_index_scan(JOIST_INDEX_I32, missing, 2, 5, 0, &index, &need, &error), error,
              JOIST_E_INDEX_NA);
  CHECK(error.position == 2 && error.dim == 0);
}

static void test_logical(void) {
  for (int round = 0; round < 200; round++) {
    const size_t extent = random_below(30), n = random_below(extent + 1);
    int32_t logical[30];
    uint8_t chosen[30];
    for (size_t k = 0; k < n; k++) logical[k] = one_in(2) ? 0 : 1;
    CHECK_INT(joist_index_logical(logical, n, extent, 0, chosen, NULL), JOIST_OK);
    for (size_t k = 0; k < extent; k++) CHECK_INT(chosen[k], n == 0 ? 0 : logical[k % n]);
  }
  const int32_t missing[] = {1, INT32_MIN}, few[] = {1, 0};
  uint8_t chosen[2];
  CHECK_INT(joist_index_logical(missing, 2, 2, 0, chosen, NULL), JOIST_ERROR_VALUE);
  CHECK_INT(joist_index_logical(few, 2, 1, 0, chosen, NULL), JOIST_ERROR_SHAPE);
}

/* Every element size; lengths around the words and blocks that masks are read in. */
static void test_masks(void) {
  static const size_t sizes[] = {1, 2, 4, 8, 16};
  static const size_t lengths[] = {0, 1, 7, 8, 9, 255, 257, 2040, 2041, 32768, 32769, 100001};
  for (size_t s = 0; s < 5; s++)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
      for (int threads = 1; threads <= 3; threads += 2) {
        const struct joist_run run = {.threads = threads, .parallel_from = 1};
        const size_t size = sizes[s], n = lengths[l], often = 1 + random_below(4);
        uint8_t *const mask = malloc(n + 1);
        char *const in = malloc(n * size + 1), *const out = malloc(n * size + 1);
        char *const want = malloc(n * size + 1);
        int64_t *const positions = malloc((n + 1) * sizeof *positions);
        size_t *const before = malloc((joist_mask_blocks(n) + 1) * sizeof *before);
        if (!mask || !in || !out || !want || !positions || !before) abort();
        size_t count = 0;
        for (size_t k = 0; k < n * size; k++) in[k] = (char)random_bits();
        for (size_t k = 0; k < n; k++) {
          mask[k] = one_in(often);
          if (mask[k]) memcpy(want + count++ * size, in + k * size, size);
        }
        CHECK_INT(joist_mask_count(mask, n, before, &run, NULL), JOIST_OK);
        CHECK_INT(before[joist_mask_blocks(n)], count);
        CHECK_INT(joist_mask_take(size, mask, n, before, in, out, &run, NULL), JOIST_OK);
        CHECK(memcmp(out, want, count * size) == 0);
        joist_mask_positions(mask, n, positions);
        for (size_t k = 0; k < count; k++)
          CHECK(memcmp(in + (size_t)positions[k] * size, want + k * size, size) == 0);
        /* What was taken goes back to its place; then one value for all. */
        memset(out, 0x5a, n * size);
        CHECK_INT(joist_mask_put(size, mask, n, before, want, false, out, &run, NULL), JOIST_OK);
        bool right = true;
        for (size_t k = 0; k < n * size; k++) right &= out[k] == (mask[k / size] ? in[k] : 0x5a);
        CHECK(right);
        if (n > 0)
          CHECK_INT(joist_mask_put(size, mask, n, before, in, true, out, &run, NULL), JOIST_OK);
        for (size_t k = 0; k < n * size; k++)
          right &= out[k] == (mask[k / size] ? in[k % size] : 0x5a);
        CHECK(right);
        free(mask);
        free(in);
        free(out);
        free(want);
        free(positions);
        free(before);
      }
}

int main(void) {
  test_scan();
  test_errors();
  test_logical();
  test_masks();
  return check_report("index");
}
