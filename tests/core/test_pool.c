/* The pool: blocks do not overlap, keep their contents, are aligned, and are given back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/base/pool.h"

enum { BLOCKS = 48, ROUNDS = 4000 };

static uint32_t state = 1;

static uint32_t next_random(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

/* Marks the ends and the middle of a block with its number. */
static void mark(unsigned char *block, size_t size, unsigned char number) {
  memset(block, number, 64);
  memset(block + size / 2, number, 64);
  memset(block + size - 64, number, 64);
}

static int marked(const unsigned char *block, size_t size, unsigned char number) {
  for (size_t k = 0; k < 64; k++)
    if (block[k] != number || block[size / 2 + k] != number || block[size - 64 + k] != number)
      return 0;
  return 1;
}

/* With bounds on what is kept, `bound` and more, so that parts of mappings are given back. */
static void test_random(size_t bound) {
  const size_t limit = joist_pool_figures().limit;
  unsigned char *block[BLOCKS] = {NULL};
  size_t size[BLOCKS] = {0}, used = 0;
  for (int round = 0; round < ROUNDS; round++) {
    const uint32_t k = next_random() % BLOCKS;
    if (bound != 0 && round % 64 == 0) joist_pool_set_limit(bound * (1 + next_random() % 16));
    if (block[k] == NULL) {
      const uint32_t most[] = {6000000, 300000, 40000};
      size[k] = 1000 + next_random() % most[round % 3];
      block[k] = joist_pool_allocate(size[k]);
      if (!CHECK(block[k] != NULL)) return;
      CHECK((uintptr_t)block[k] % JOIST_POOL_ALIGNMENT == 0);
      mark(block[k], size[k], (unsigned char)k);
      used += size[k];
    } else {
      CHECK_MSG(marked(block[k], size[k], (unsigned char)k), "block %u was overwritten", k);
      joist_pool_free(block[k]);
      used -= size[k];
      block[k] = NULL;
    }
    CHECK(joist_pool_figures().used >= used);
    CHECK(joist_pool_figures().kept <= joist_pool_figures().limit);
  }
  for (uint32_t k = 0; k < BLOCKS; k++) {
    if (block[k] != NULL) CHECK(marked(block[k], size[k], (unsigned char)k));
    joist_pool_free(block[k]);
  }
  CHECK_INT(joist_pool_figures().used, 0);
  joist_pool_set_limit(limit);
}

/* Small blocks that are freed in any order become one again, where memory can be mapped. */
static void test_merging(void) {
#if defined(__unix__) || defined(__APPLE__)
  enum { SMALL = 200, BYTES = 30000 };
  joist_pool_trim();
  void *block[SMALL];
  for (int k = 0; k < SMALL; k++) block[k] = joist_pool_allocate(BYTES);
  const size_t mapped = joist_pool_figures().used + joist_pool_figures().kept;
  for (int left = SMALL; left > 0; left--) {
    const int k = (int)(next_random() % (uint32_t)left);
    joist_pool_free(block[k]);
    block[k] = block[left - 1];
  }
  void *const all = joist_pool_allocate((size_t)SMALL * BYTES);
  CHECK_INT(joist_pool_figures().used + joist_pool_figures().kept, mapped);
  joist_pool_free(all);
#endif
}

static void test_reuse(void) {
  joist_pool_trim();
  CHECK_INT(joist_pool_figures().kept, 0);
  void *const first = joist_pool_allocate(20000000);
  joist_pool_free(first);
  void *const second = joist_pool_allocate(20000000);
  CHECK_MSG(first == second, "a freed block is used again");
  joist_pool_free(second);
  /* Two neighbours become one block that holds both. */
  void *const a = joist_pool_allocate(9000000), *const b = joist_pool_allocate(9000000);
  joist_pool_free(a);
  joist_pool_free(b);
  const size_t kept = joist_pool_figures().kept;
  void *const both = joist_pool_allocate(19000000);
  CHECK_MSG(joist_pool_figures().kept < kept, "neighbours were merged");
  joist_pool_free(both);
}

static void test_limit(void) {
  const size_t limit = joist_pool_figures().limit;
  void *const block = joist_pool_allocate(50000000);
  joist_pool_set_limit(10000000);
  joist_pool_free(block);
  CHECK(joist_pool_figures().kept <= 10000000);
  joist_pool_set_limit(0);
  CHECK_INT(joist_pool_figures().kept, 0);
  joist_pool_set_limit(limit);
  CHECK(joist_pool_allocate(SIZE_MAX) == NULL);
  joist_pool_free(NULL);
  CHECK_INT(joist_pool_trim(), 0);
}

int main(void) {
  test_random(0);
  test_random(100000);
  test_merging();
  test_reuse();
  test_limit();
  return check_report("pool");
}
