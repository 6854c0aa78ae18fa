/* Kernels for the instruction set that the compiler assumes. */
#include "core/kernels/kernels_table.h"

#if JOIST_X86_KERNELS
#define COMPACT 1 /* most processors run other kernels */
#define STREAM(in, out) \
  _mm_stream_si128((__m128i *)(void *)(out), _mm_load_si128((const __m128i *)(const void *)(in)))
enum { STREAM_BYTES = 16 };
#endif
#define JOIST_KERNEL_TABLE joist_kernels_generic
#include "core/kernels/kernels.inc"
