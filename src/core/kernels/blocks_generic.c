/* Block types for the instruction set that the compiler assumes. */
#include "core/kernels/kernels_table.h"

#if JOIST_X86_KERNELS
#define COMPACT 1 /* most processors run other kernels */
#endif

#define JOIST_BLOCK_TABLE joist_blocks_generic
#define VECTOR_BYTES 16
#include "core/kernels/blocks.inc"
