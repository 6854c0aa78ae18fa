/* Whether a part of a file is what it was. */
#ifndef JOIST_CORE_FILES_CHECK_H
#define JOIST_CORE_FILES_CHECK_H

#include "core/base/file.h"

/* A hash of up to 64 blocks of a part of a file, the first and the last among them, evenly spread.
 * Gives 0 or the code of an error, as joist_file_read() does. */
int joist_file_sample(const struct joist_file *file, uint64_t from, uint64_t bytes,
                      uint64_t *sample);

/* Whether all of a part of a file is as in memory. */
int joist_file_compare(const struct joist_file *file, uint64_t from, const void *memory,
                       size_t bytes, bool *same);

#endif
