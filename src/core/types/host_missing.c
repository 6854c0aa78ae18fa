/* NA of the host's whole numbers as that of its doubles. */
#include "core/types/host.h"

#include <string.h>

void joist_widen_missing(joist_host host, const void *values, size_t n, double *wide) {
  const uint64_t na_bits = UINT64_C(0x7ff00000000007a2);
  double na;
  memcpy(&na, &na_bits, sizeof na);
  if (host == JOIST_HOST_INTEGER64) {
    const int64_t *const integers = values;
    for (size_t i = 0; i < n; i++) wide[i] = integers[i] == INT64_MIN ? na : (double)integers[i];
    return;
  }
  const int32_t *const integers = values;
  const bool truth = host == JOIST_HOST_LOGICAL;
  for (size_t i = 0; i < n; i++) {
    const double value = truth ? integers[i] != 0 : integers[i];
    wide[i] = integers[i] == INT32_MIN ? na : value;
  }
}
