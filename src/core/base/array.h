/* Arrays on the heap that grow by one element at a time. */
#ifndef JOIST_CORE_BASE_ARRAY_H
#define JOIST_CORE_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The array with room for one element more than `count`, moved where `*capacity` was too small.
 * NULL when memory is out; the array then stays as it was, and the caller still owns it. */
static inline void *joist_array_grown(void *array, size_t size, uint32_t count,
                                      uint32_t *capacity) {
  if (count < *capacity) return array;
  if (*capacity > UINT32_MAX / 4) return NULL;
  const uint32_t larger = *capacity == 0 ? 8 : *capacity * 2;
  void *const moved = realloc(array, larger * size);
  if (moved != NULL) *capacity = larger;
  return moved;
}

#endif
