/* Memory that the threads of a block share. */
#ifndef JOIST_CUDA_SHARED_CUH
#define JOIST_CUDA_SHARED_CUH

struct alignas(16) joist_shared_word {
  uint64_t part[2];
};

/* As many as the launch asks for. */
extern __shared__ joist_shared_word joist_shared[];

#endif
