/* Writing past the caches. */
#ifndef JOIST_CORE_KERNELS_STREAM_H
#define JOIST_CORE_KERNELS_STREAM_H

#include <stddef.h>

/* Copies `lines` blocks of JOIST_LINE bytes, both ends aligned to that, past the caches: the
 * processor does not read what is overwritten. Other threads see it after joist_stream_end(). */
typedef void joist_stream_lines(size_t lines, const void *in, void *out);
enum { JOIST_LINE = 64 };

static inline void joist_stream_end(void) {
#if defined(__GNUC__) && defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

#endif
