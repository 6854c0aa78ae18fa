/* Compares parts of files, wholly or by samples. */
#include "core/files/check.h"

#include <string.h>

#include "core/base/bits.h"

enum { BLOCK = 4096, BLOCKS = 64 };

/* FNV-1a: <http://www.isthe.com/chongo/tech/comp/fnv/>. */
static uint64_t hash(uint64_t so_far, const unsigned char *bytes, size_t n) {
  for (size_t k = 0; k < n; k++) so_far = (so_far ^ bytes[k]) * UINT64_C(0x100000001b3);
  return so_far;
}

int joist_file_sample(const struct joist_file *file, uint64_t from, uint64_t bytes,
                      uint64_t *sample) {
  unsigned char block[BLOCK];
  *sample = UINT64_C(0xcbf29ce484222325);
  if (bytes <= (uint64_t)BLOCK * BLOCKS) {
    for (uint64_t done = 0; done < bytes; done += BLOCK) {
      const size_t n = bytes - done < BLOCK ? (size_t)(bytes - done) : BLOCK;
      const int code = joist_file_read(file, from + done, block, n);
      if (code != 0) return code;
      *sample = hash(*sample, block, n);
    }
    return 0;
  }
  const uint64_t step = (bytes - BLOCK) / (BLOCKS - 1);
  for (uint64_t k = 0; k < BLOCKS; k++) {
    const uint64_t place = k == BLOCKS - 1 ? bytes - BLOCK : k * step;
    const int code = joist_file_read(file, from + place, block, BLOCK);
    if (code != 0) return code;
    *sample = hash(*sample, block, BLOCK);
  }
  return 0;
}

int joist_file_compare(const struct joist_file *file, uint64_t from, const void *memory,
                       size_t bytes, bool *same) {
  unsigned char block[16 * BLOCK];
  *same = true;
  for (size_t done = 0; done < bytes && *same; done += sizeof block) {
    const size_t n = joist_smaller(bytes - done, sizeof block);
    const int code = joist_file_read(file, from + done, block, n);
    if (code != 0) return code;
    *same = memcmp(block, (const char *)memory + done, n) == 0;
  }
  return 0;
}
