/* Groups of equal elements beside groups found by comparing all pairs, and functions of them. */
#include "core/ops/search/group.h"
#include "core/types/error.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static uint64_t state = 1;

static uint64_t draw(uint64_t below) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (state >> 33) % below;
}

enum { MOST = 3000, KEYS = 3 };

static int64_t elements[KEYS][MOST];
static uint8_t masks[KEYS][MOST];

/* In columns of 8 bytes, of which narrow dtypes use the first n elements. */
static void fill(joist_dtype dtype, void *out, size_t n, uint64_t different) {
  for (size_t i = 0; i < n; i++) {
    const uint64_t x = draw(different);
    if (dtype == JOIST_I64) ((int64_t *)out)[i] = INT64_MIN + (int64_t)(x << 40);
    if (dtype == JOIST_UI64) ((uint64_t *)out)[i] = UINT64_MAX - x;
    if (dtype == JOIST_I32) ((int32_t *)out)[i] = (int32_t)x - 5;
    if (dtype == JOIST_UI8) ((uint8_t *)out)[i] = (uint8_t)x;
    if (dtype == JOIST_F64) ((double *)out)[i] = (double)x / 3;
  }
}

static bool equal(const struct joist_group_key *key, size_t i, size_t j) {
  const size_t size = joist_dtype_size(key->dtype);
  const char *const in = key->in;
  if (key->missing != NULL && (key->missing[i] || key->missing[j]))
    return key->missing[i] == key->missing[j];
  return memcmp(in + i * size, in + j * size, size) == 0;
}

/* Dealt to its group, each element comes behind those before it, and collecting reverses that. */
static void check_parts(size_t n, const int32_t *numbers, size_t groups) {
  static size_t sizes[MOST + 1], steps[MOST + 1];
  static int32_t in[MOST], dealt[MOST + 1], back[MOST];
  static char *to[MOST + 1];
  static const char *from[MOST + 1];
  size_t wrong = 0, before = 0;
  memset(sizes, 0, sizeof sizes);
  joist_group_sizes(n, numbers, groups, sizes);
  for (size_t g = 0; g < groups; g++) {
    from[g] = to[g] = (char *)(dealt + before);
    steps[g] = sizeof *dealt;
    before += sizes[g];
  }
  for (size_t i = 0; i < n; i++) in[i] = (int32_t)i;
  joist_group_deal(sizeof *in, n, numbers, groups, in, to);
  joist_group_collect(sizeof *in, n, numbers, from, steps, back);
  for (size_t i = 0; i + 1 < n; i++)
    wrong += numbers[dealt[i]] > numbers[dealt[i + 1]] ||
             (numbers[dealt[i]] == numbers[dealt[i + 1]] && dealt[i] >= dealt[i + 1]);
  CHECK_INT((long long)before, (long long)n);
  CHECK_INT((long long)wrong, 0);
  CHECK_INT(memcmp(in, back, n * sizeof *in), 0);
}

static void check_groups(size_t n, size_t count, uint64_t different, int threads) {
  static const joist_dtype dtypes[] = {JOIST_I64, JOIST_UI64, JOIST_I32, JOIST_UI8, JOIST_F64};
  const struct joist_run run = {.threads = threads, .parallel_from = 1};
  struct joist_group_key keys[KEYS];
  struct joist_error error;
  int32_t got[MOST], firsts[MOST];
  size_t groups = 0, want = 0, wrong = 0;
  for (size_t k = 0; k < count; k++) {
    const joist_dtype dtype = dtypes[draw(sizeof dtypes / sizeof *dtypes)];
    const bool masked = draw(2) == 0;
    fill(dtype, elements[k], n, different);
    for (size_t i = 0; i < n; i++) masks[k][i] = draw(9) == 0;
    keys[k] = (struct joist_group_key){dtype, elements[k], masked ? masks[k] : NULL};
  }
  CHECK_INT(joist_group(keys, count, n, got, &groups, &run, &error), JOIST_OK);
  joist_group_firsts(n, got, firsts);
  for (size_t i = 0; i < n; i++) {
    size_t j = 0;
    bool same = false;
    for (; j < want && !same; j++) {
      same = true;
      for (size_t k = 0; k < count && same; k++) same = equal(&keys[k], i, (size_t)firsts[j] - 1);
      if (same) break;
    }
    if (!same) {
      want++;
      wrong += want > groups || firsts[want - 1] != (int32_t)i + 1;
      j = want - 1;
    }
    wrong += got[i] != (int32_t)j + 1;
  }
  CHECK_INT((long long)groups, (long long)want);
  CHECK_INT((long long)wrong, 0);
  check_parts(n, got, groups);
}

int main(void) {
  for (int round = 0; round < 300; round++) {
    const size_t n = draw(4) == 0 ? draw(4) : draw(round % 10 == 0 ? MOST : 200);
    check_groups(n, 1 + draw(KEYS), 1 + draw(1 + draw(2000)), 1 + (int)draw(3));
  }
  return check_report("groups");
}
