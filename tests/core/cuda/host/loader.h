/* loader.c beyond what src/cuda asks of it. */
#ifndef JOIST_TESTS_LOADER_H
#define JOIST_TESTS_LOADER_H

#include <stdbool.h>
#include <stddef.h>

/* Compiles the kernels that were asked for since the last call. */
bool host_compile_all(void);
size_t host_kernel_count(void);
/* Returns one source with kernels first .. end - 1, each with a unique name; free() it. */
char *host_sources(size_t first, size_t end);

#endif
