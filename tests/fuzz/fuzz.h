/* What the harnesses share. A property that does not hold ends the process, which the fuzzer
 * reports. */
#ifndef JOIST_TESTS_FUZZ_H
#define JOIST_TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files/elements.h"

#define HOLDS(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                  \
    }                                                                           \
  } while (0)

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Memory of exactly this size, which the sanitizer guards. */
static inline void *exact(size_t bytes) {
  void *const memory = malloc(bytes == 0 ? 1 : bytes);
  HOLDS(memory != NULL);
  return memory;
}

/* Elements that a header promised: read into memory of exactly their size, in both orders of dims,
 * and written back to the same bytes. */
static void read_and_write(struct joist_elements elements, const unsigned char *data, size_t size) {
  const struct joist_run run = {.threads = 1};
  const size_t bytes = elements.count * joist_dtype_size(elements.dtype);
  HOLDS(elements.start <= size && bytes <= size - elements.start);
  for (int turn = 0; turn < 2; turn++) {
    unsigned char *const memory = malloc(bytes), *const back = malloc(bytes);
    struct joist_error error;
    HOLDS(bytes == 0 || (memory != NULL && back != NULL));
    const joist_status status = joist_elements_read(&elements, NULL, data, memory, &run, &error);
    HOLDS(status == JOIST_OK ||
          (status == JOIST_ERROR_VALUE && error.code == JOIST_E_BYTE_NOT_BOOL));
    if (status == JOIST_OK) {
      HOLDS(joist_elements_write(&elements, memory, NULL, back, &run, &error) == JOIST_OK);
      HOLDS(bytes == 0 || memcmp(back, data + elements.start, bytes) == 0);
    }
    free(memory);
    free(back);
    joist_elements_reverse(&elements);
  }
}

#endif
