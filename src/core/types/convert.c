/* Conversion for any processor, and the choice of the kernels. */
#include "core/types/convert.inc"

#include "core/types/convert_f16c.h"

#if JOIST_HAVE_F16C
#include <cpuid.h>
#include <stdatomic.h>

static bool processor_has_f16c(void) {
  /* Asking costs microseconds on a virtual machine. Threads may race to ask; they get
   * the same answer. */
  static atomic_int answer = -1;
  int known = atomic_load_explicit(&answer, memory_order_relaxed);
  if (known < 0) {
    unsigned eax, ebx, ecx = 0, edx;
    /* avx2 covers the operating system's part too; compilers before gcc 11 do not know
     * the name f16c. */
    known = __builtin_cpu_supports("avx2") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) &&
            (ecx & bit_F16C) != 0;
    atomic_store_explicit(&answer, known, memory_order_relaxed);
  }
  return known != 0;
}
#endif

joist_convert_kernel *joist_convert_find_portable(joist_dtype from, joist_dtype to) {
  return find_in_table(from, to);
}

joist_convert_kernel *joist_convert_find(joist_dtype from, joist_dtype to) {
#if JOIST_HAVE_F16C
  if (processor_has_f16c()) return joist_convert_find_f16c(from, to);
#endif
  return find_in_table(from, to);
}
