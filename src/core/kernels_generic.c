/* Kernels for the instruction set that the compiler assumes. */
#define JOIST_KERNEL_TABLE joist_kernels_generic
#include "core/kernels.inc"
