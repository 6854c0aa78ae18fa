/* A product of ggml for packed.R: a matrix of quantized blocks times a vector, by .C(). */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ggml-cpu.h"
#include "ggml.h"

static struct ggml_context *context;
static struct ggml_tensor *result;
static struct ggml_cgraph *graph;
static struct ggml_cplan plan;
static struct ggml_threadpool *pool;

/* Keeps a matrix of `extents` elements along its blocks and across, and a vector. */
void packed_keep(const int *type, const int *extents, const int *threads,
                 const unsigned char *blocks, const unsigned char *x) {
  const size_t bytes = (size_t)extents[0] * (size_t)extents[1] * 5 + ((size_t)64 << 20);
  if (context != NULL) {
    ggml_threadpool_free(pool);
    free(plan.work_data);
    ggml_free(context);
  }
  context = ggml_init((struct ggml_init_params){bytes, NULL, false});
  struct ggml_tensor *const w =
      ggml_new_tensor_2d(context, (enum ggml_type) * type, extents[0], extents[1]);
  struct ggml_tensor *const column = ggml_new_tensor_2d(context, GGML_TYPE_F32, extents[0], 1);
  memcpy(w->data, blocks, ggml_nbytes(w));
  memcpy(column->data, x, ggml_nbytes(column));
  result = ggml_mul_mat(context, w, column);
  graph = ggml_new_graph(context);
  ggml_build_forward_expand(graph, result);
  struct ggml_threadpool_params wanted = ggml_threadpool_params_default(*threads);
  pool = ggml_threadpool_new(&wanted);
  plan = ggml_graph_plan(graph, *threads, pool);
  plan.work_data = malloc(plan.work_size + 1);
}

/* The least time of some products, in seconds, and the last one's bytes. */
void packed_multiply(const int *turns, double *least, unsigned char *out) {
  for (int k = 0; k < *turns; k++) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    ggml_graph_compute(graph, &plan);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double took =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    if (took < *least) *least = took;
  }
  memcpy(out, result->data, ggml_nbytes(result));
}
