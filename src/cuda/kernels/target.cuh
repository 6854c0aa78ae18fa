/* What the headers of core are compiled for here. Comes before any of them. */
#ifndef JOIST_CUDA_TARGET_CUH
#define JOIST_CUDA_TARGET_CUH

#define JOIST_DEVICE __device__
#define JOIST_OUTLINE __noinline__
#define JOIST_UNROLL _Pragma("unroll")
#define JOIST_ROLLED _Pragma("unroll 1")

#endif
