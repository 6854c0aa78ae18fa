/* Sorting unsigned keys by AVX-512: lines that fit the second-level cache. */
#ifndef JOIST_CORE_KERNELS_SORT_AVX512_H
#define JOIST_CORE_KERNELS_SORT_AVX512_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sorts n keys in place; `scratch` has room for as many, which are
 * overwritten. False when the keys are such that it would take long; they are then in another
 * order. */
typedef bool joist_vector_sort(size_t n, void *keys, void *scratch);

/* NULL where the processor or the build lacks AVX-512, or its kernels are not selected. */
joist_vector_sort *joist_vector_sort_key32(void);
joist_vector_sort *joist_vector_sort_key64(void);

#endif
