/* The instruction sets in which a test runs its kernels: all that the machine supports, only the
 * one named by JOIST_TEST_KERNELS, or only the widest where JOIST_TEST_WIDEST is set: with
 * sanitizers its kernels alone are instrumented. Owns nothing. */
#ifndef JOIST_TESTS_SETS_H
#define JOIST_TESTS_SETS_H

#include <stdlib.h>

#include "check.h"
#include "core/kernels/kernels.h"

enum { MAX_SETS = 3 };

/* Fills `sets` and returns their number; generic is the first, unless another one is named or only
 * the widest is asked for. */
static int find_sets(const char *sets[MAX_SETS]) {
  static const char *const all[MAX_SETS] = {"generic", "avx2", "avx512"};
  const char *const only = getenv("JOIST_TEST_KERNELS");
  int count = 0;
  for (int k = 0; k < MAX_SETS; k++)
    if ((only == NULL || strcmp(only, all[k]) == 0) && joist_kernels_select(all[k])) {
      CHECK_STR(joist_kernels_name(), all[k]);
      sets[count++] = all[k];
    }
  if (count > 0 && getenv("JOIST_TEST_WIDEST") != NULL) {
    sets[0] = sets[count - 1];
    count = 1;
  }
  CHECK(count >= 1);
  return count;
}

#endif
