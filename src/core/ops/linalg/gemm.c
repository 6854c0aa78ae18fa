/* The loops around the kernels of matrix products: blocking, packing, threads. */
#include "core/ops/linalg/gemm.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/kernels/gemm_kernel.h"
#include "core/types/error.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  ALIGNMENT = 64,
  DEPTH = JOIST_GEMM_DEPTH,
  ROW_BLOCK_BYTES = 192 * 1024,     /* a packed block of rows stays in the second-level cache */
  COLUMN_BLOCK_BYTES = 2048 * 1024, /* and one of columns, DEPTH terms deep, in the third */
  COLUMNS_BYTES = 8192 * 1024,      /* as many terms are packed as fit: threads rarely meet */
  TASKS_PER_THREAD = 4              /* for a thread that waits for a processor */
};
static const double POLL_FROM = 1e9; /* multiplications between two polls */
/* A product is split among threads only if a thread's part is worth waking it. */
static const double SMALL_PRODUCT = 1e6;
static const double TINY_PRODUCT = 216; /* multiplications; packing costs more */

static size_t divide_up(size_t n, size_t by) { return n / by + (n % by != 0); }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* How one product is cut. Panels are of kernel->rows rows and kernel->columns columns. */
struct blocking {
  const struct joist_gemm *product;
  const struct joist_gemm_kernel *kernel;
  size_t row_panels, column_panels; /* of the whole product */
  size_t block_columns;             /* panels of columns that are packed at once, and */
  size_t slices;                    /* how many times DEPTH terms of them */
  size_t row_blocks;
  size_t row_panel_bytes, column_panel_bytes;
};

static struct blocking cut(const struct joist_gemm *product, int threads) {
  const struct joist_gemm_kernel *const kernel = joist_gemm_find(product->dtype);
  struct blocking b = {.product = product,
                       .kernel = kernel,
                       .row_panels = divide_up(product->m, kernel->rows),
                       .column_panels = divide_up(product->n, kernel->columns)};
  const size_t depth = smaller(product->k, DEPTH);
  b.row_panel_bytes = divide_up(kernel->rows * depth * kernel->size, ALIGNMENT) * ALIGNMENT;
  b.column_panel_bytes = divide_up(kernel->columns * depth * kernel->size, ALIGNMENT) * ALIGNMENT;
  const size_t block_rows = divide_up(ROW_BLOCK_BYTES, b.row_panel_bytes);
  b.row_blocks = divide_up(b.row_panels, block_rows);
  if (threads > 1)
    b.row_blocks =
        smaller(divide_up(b.row_blocks, (size_t)threads) * (size_t)threads, b.row_panels);
  b.block_columns = smaller(b.column_panels, divide_up(COLUMN_BLOCK_BYTES, b.column_panel_bytes));
  b.slices = smaller(divide_up(product->k, DEPTH),
                     divide_up(COLUMNS_BYTES, b.block_columns * b.column_panel_bytes));
  return b;
}

static size_t first_panel_of(const struct blocking *b, size_t block) {
  return block * b->row_panels / b->row_blocks;
}

static size_t largest_row_block(const struct blocking *b) {
  return divide_up(b->row_panels, b->row_blocks);
}

/* Scratch memory: the packed columns, then a block of rows for every thread. */
static size_t scratch_bytes(const struct blocking *b, int threads) {
  return ALIGNMENT + b->slices * b->block_columns * b->column_panel_bytes +
         (size_t)threads * largest_row_block(b) * b->row_panel_bytes;
}

/* Where we are: product `index`, slices of DEPTH terms, panels of columns. */
struct place {
  size_t index, slice, slices, column_panel, column_panels;
  char *columns, *rows; /* scratch */
};

static const char *element(const struct blocking *b, const void *data, size_t index) {
  return (const char *)data + index * b->kernel->size;
}

static size_t depth_of(const struct blocking *b, size_t slice) {
  return smaller(DEPTH, b->product->k - slice * DEPTH);
}

static char *packed_columns(const struct blocking *b, const struct place *at, size_t slice,
                            size_t panel) {
  return at->columns + (slice * at->column_panels + panel) * b->column_panel_bytes;
}

static void pack_columns(const struct blocking *b, const struct place *at, size_t slice,
                         size_t panel) {
  const struct joist_gemm *const p = b->product;
  const size_t across = p->rhs_transposed ? 1 : p->k, along = p->rhs_transposed ? p->n : 1;
  const size_t first = (at->column_panel + panel) * b->kernel->columns;
  const size_t term = (at->slice + slice) * DEPTH;
  b->kernel->pack_columns(depth_of(b, at->slice + slice), smaller(b->kernel->columns, p->n - first),
                          element(b, p->rhs[at->index], first * across + term * along), across,
                          along, packed_columns(b, at, slice, panel));
}

static void pack_rows(const struct blocking *b, const struct place *at, size_t slice, size_t panel,
                      char *to) {
  const struct joist_gemm *const p = b->product;
  const size_t across = p->lhs_transposed ? p->k : 1, along = p->lhs_transposed ? 1 : p->m;
  const size_t first = panel * b->kernel->rows, term = (at->slice + slice) * DEPTH;
  b->kernel->pack_rows(depth_of(b, at->slice + slice), smaller(b->kernel->rows, p->m - first),
                       element(b, p->lhs[at->index], first * across + term * along), across, along,
                       to);
}

/* A slice of one block of rows times the packed panels of columns begin .. end - 1. */
static void multiply_slice(const struct blocking *b, const struct place *at, size_t block,
                           size_t slice, size_t begin, size_t end, char *rows) {
  const struct joist_gemm *const p = b->product;
  const struct joist_gemm_kernel *const kernel = b->kernel;
  const size_t first = first_panel_of(b, block), last = first_panel_of(b, block + 1);
  char *const result = (char *)p->result + at->index * p->m * p->n * kernel->size;
  for (size_t i = first; i < last; i++)
    pack_rows(b, at, slice, i, rows + (i - first) * b->row_panel_bytes);
  for (size_t j = begin; j < end; j++) {
    const size_t column = (at->column_panel + j) * kernel->columns;
    for (size_t i = first; i < last; i++) {
      const size_t row = i * kernel->rows;
      kernel->multiply(depth_of(b, at->slice + slice), rows + (i - first) * b->row_panel_bytes,
                       packed_columns(b, at, slice, j), at->slice + slice > 0,
                       smaller(kernel->rows, p->m - row), smaller(kernel->columns, p->n - column),
                       result + (column * p->m + row) * kernel->size, p->m);
    }
  }
}

static int thread_number(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

/* All rows times the panels of columns at hand. */
static joist_status multiply_columns(const struct blocking *b, const struct place *at, int threads,
                                     const struct joist_run *run, struct joist_error *error) {
  const size_t chunks =
      smaller(divide_up((size_t)(threads > 1 ? threads * TASKS_PER_THREAD : 1), b->row_blocks),
              at->column_panels);
  const size_t tasks = b->row_blocks * chunks;
  const size_t row_bytes = largest_row_block(b) * b->row_panel_bytes;
  const double work = (double)b->product->m * (double)at->column_panels *
                      (double)b->kernel->columns * DEPTH * (double)at->slices / (double)tasks;
  const size_t round = work >= POLL_FROM ? (size_t)threads : (size_t)(POLL_FROM / work) + 1;
  for (size_t begin = 0; begin < tasks; begin += round) {
    const size_t end = smaller(begin + round, tasks);
    if (begin > 0 && joist_run_poll(run, error) != JOIST_OK) return JOIST_INTERRUPTED;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic, 1)
#endif
    for (size_t task = begin; task < end; task++) {
      const size_t chunk = task / b->row_blocks;
      for (size_t slice = 0; slice < at->slices; slice++)
        multiply_slice(b, at, task % b->row_blocks, slice, chunk * at->column_panels / chunks,
                       (chunk + 1) * at->column_panels / chunks,
                       at->rows + (size_t)thread_number() * row_bytes);
    }
  }
  return JOIST_OK;
}

/* Product `index`, in scratch memory for `threads`. */
static joist_status multiply(const struct blocking *b, size_t index, char *scratch, int threads,
                             const struct joist_run *run, struct joist_error *error) {
  struct place at = {.index = index, .columns = scratch};
  at.rows = scratch + b->slices * b->block_columns * b->column_panel_bytes;
  const size_t slices = divide_up(b->product->k, DEPTH);
  for (; at.column_panel < b->column_panels; at.column_panel += b->block_columns) {
    at.column_panels = smaller(b->block_columns, b->column_panels - at.column_panel);
    for (at.slice = 0; at.slice < slices; at.slice += b->slices) {
      at.slices = smaller(b->slices, slices - at.slice);
      if (at.column_panel + at.slice > 0 && joist_run_poll(run, error) != JOIST_OK)
        return JOIST_INTERRUPTED;
      const size_t packs = at.slices * at.column_panels;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
      for (size_t k = 0; k < packs; k++)
        pack_columns(b, &at, k / at.column_panels, k % at.column_panels);
      const joist_status status = multiply_columns(b, &at, threads, run, error);
      if (status != JOIST_OK) return status;
    }
  }
  return JOIST_OK;
}

/* Many products, each by one thread. */
static joist_status multiply_many(const struct blocking *b, char *scratch, size_t stride,
                                  int threads, const struct joist_run *run,
                                  struct joist_error *error) {
  const struct joist_gemm *const p = b->product;
  const struct joist_run silent = {.threads = 1};
  const double work = (double)p->m * (double)p->n * (double)p->k + 1000;
  const size_t enough = (size_t)(POLL_FROM / work) + 1;
  const size_t round = enough < (size_t)threads ? (size_t)threads : enough;
  for (size_t begin = 0; begin < p->count; begin += round) {
    const size_t end = smaller(begin + round, p->count);
    if (joist_run_poll(run, error) != JOIST_OK) return JOIST_INTERRUPTED;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (size_t j = begin; j < end; j++) {
      /* Cannot fail: nobody is asked to stop it, and the memory is there. */
      const joist_status ignored =
          multiply(b, j, scratch + (size_t)thread_number() * stride, 1, &silent, NULL);
      (void)ignored;
    }
  }
  return JOIST_OK;
}

/* ---- products that packing does not pay for ---- */

/* How the rows of lhs, or the columns of rhs, lie. */
static struct joist_gemm_operand rows_of(const struct joist_gemm *p, size_t index) {
  return (struct joist_gemm_operand){p->lhs[index], p->lhs_transposed ? p->k : 1,
                                     p->lhs_transposed ? 1 : p->m};
}

static struct joist_gemm_operand columns_of(const struct joist_gemm *p, size_t index) {
  return (struct joist_gemm_operand){p->rhs[index], p->rhs_transposed ? 1 : p->k,
                                     p->rhs_transposed ? p->n : 1};
}

/* Products `begin` .. `end` - 1, all of them tiny. */
static void multiply_tiny(const struct joist_gemm *p, const struct joist_gemm_kernel *kernel,
                          size_t begin, size_t end) {
  for (size_t j = begin; j < end; j++) {
    const struct joist_gemm_operand lhs = rows_of(p, j), rhs = columns_of(p, j);
    kernel->tiny(p->m, p->n, p->k, &lhs, &rhs, (char *)p->result + j * p->m * p->n * kernel->size);
  }
}

static joist_status run_tiny(const struct joist_gemm *p, const struct joist_gemm_kernel *kernel,
                             int threads, const struct joist_run *run, struct joist_error *error) {
  enum { CHUNK = 1 << 10, ROUND = 1 << 10 }; /* products of a task, tasks between two polls */
  const size_t chunks = divide_up(p->count, CHUNK);
  (void)threads;
  for (size_t begin = 0; begin < chunks; begin += ROUND) {
    const size_t end = smaller(begin + ROUND, chunks);
    if (begin > 0 && joist_run_poll(run, error) != JOIST_OK) return JOIST_INTERRUPTED;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (size_t k = begin; k < end; k++)
      multiply_tiny(p, kernel, k * CHUNK, smaller((k + 1) * CHUNK, p->count));
  }
  return JOIST_OK;
}

/* A matrix times a vector on either side: a vector on the left is multiplied by the transposed
 * matrix. The rows are cut the same way for any number of threads. */
static joist_status run_vector(const struct joist_gemm *p, const struct joist_gemm_kernel *kernel,
                               int threads, const struct joist_run *run,
                               struct joist_error *error) {
  enum { ROWS = 1024 };
  const size_t rows = p->n == 1 ? p->m : p->n, blocks = divide_up(rows, ROWS);
  (void)threads;
  for (size_t j = 0; j < p->count; j++) {
    const struct joist_gemm_operand matrix = p->n == 1 ? rows_of(p, j) : columns_of(p, j);
    const void *const vector = p->n == 1 ? p->rhs[j] : p->lhs[j];
    char *const result = (char *)p->result + j * rows * kernel->size;
    if (j > 0 && joist_run_poll(run, error) != JOIST_OK) return JOIST_INTERRUPTED;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic, 1)
#endif
    for (size_t k = 0; k < blocks; k++) {
      const size_t first = k * ROWS;
      const char *const from = (const char *)matrix.data + first * matrix.across * kernel->size;
      kernel->vector(smaller(ROWS, rows - first), p->k, from, matrix.across, matrix.along, vector,
                     result + first * kernel->size);
    }
  }
  return JOIST_OK;
}

joist_status joist_gemm_run(const struct joist_gemm *product, const struct joist_run *run,
                            struct joist_error *error) {
  const struct joist_gemm *const p = product;
  if (p->m == 0 || p->n == 0 || p->count == 0) return JOIST_OK;
  if (p->k == 0) {
    memset(p->result, 0, p->m * p->n * p->count * joist_dtype_size(p->dtype));
    return JOIST_OK;
  }
  const double work = (double)p->m * (double)p->n * (double)p->k;
  const size_t from = run->parallel_from > 0 ? run->parallel_from : (size_t)SMALL_PRODUCT;
  const double total = work * (double)p->count;
  const int wanted = total >= (double)from ? run->threads : 1;
  const struct joist_gemm_kernel *const kernel = joist_gemm_find(p->dtype);
  if (work <= TINY_PRODUCT) return run_tiny(p, kernel, wanted, run, error);
  if ((p->m == 1 || p->n == 1) && kernel->vector != NULL)
    return run_vector(p, kernel, work < (double)from ? 1 : wanted, run, error);
  const bool apart = p->count > 1 && (work < (double)from || p->count >= 4 * (size_t)wanted);
  int threads = wanted;
  if (apart && p->count < (size_t)threads) threads = (int)p->count;
  if (!apart && work < (double)from) threads = 1;
  const struct blocking b = cut(p, apart ? 1 : threads);
  const size_t bytes = scratch_bytes(&b, apart ? 1 : threads);
  const size_t stride = divide_up(bytes, ALIGNMENT) * ALIGNMENT;
  char *const block = malloc(ALIGNMENT + (apart ? stride * (size_t)threads : bytes));
  if (block == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  char *const scratch = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
  joist_status status = JOIST_OK;
  if (apart) status = multiply_many(&b, scratch, stride, threads, run, error);
  for (size_t j = 0; j < p->count && !apart && status == JOIST_OK; j++)
    status = multiply(&b, j, scratch, threads, run, error);
  free(block);
  return status;
}
