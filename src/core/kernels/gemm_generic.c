/* Matrix products and Fourier transforms for the instruction set that the compiler assumes. */
#include "core/kernels/kernels_table.h"

#if JOIST_X86_KERNELS
#define COMPACT 1 /* most processors run other kernels */
#endif

#define JOIST_GEMM_TABLE joist_gemm_generic
#define VECTOR_BYTES 16
#define COLUMNS 6
#include "core/kernels/gemm.inc"
#define JOIST_FFT_TABLE joist_fft_generic
#include "core/kernels/fft_tables.inc"
