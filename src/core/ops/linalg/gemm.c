/* The loops around the kernels of matrix products: blocking, packing, threads. */
#include "core/ops/linalg/gemm.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/by_size.h"
#include "core/base/parallel.h"
#include "core/kernels/kernels.h"
#include "core/types/convert.h"
#include "core/types/error.h"

enum {
  ALIGNMENT = 64,
  DEPTH = JOIST_GEMM_DEPTH,
  ROW_BLOCK_BYTES = 192 * 1024,     /* a packed block of rows stays in the second-level cache */
  COLUMN_BLOCK_BYTES = 2048 * 1024, /* and one of columns, DEPTH terms deep, in the third */
  COLUMNS_BYTES = 8192 * 1024,      /* as many terms are packed as fit: threads rarely meet */
  TASKS_PER_THREAD = 4,             /* for a thread that waits for a processor */
  LARGEST_ELEMENT = 16,             /* bytes, of c128 */
  STAGE_BYTES = 12 * DEPTH * LARGEST_ELEMENT, /* the largest panel, of so many columns */
  FAR_PANELS = 2,        /* of rows, for which columns are not packed whose terms lie apart, */
  NEAR_PANELS = 8,       /* or one behind the other */
  FAR_BYTES = 256 * 1024 /* of all columns whose terms lie apart and that are not packed */
};
/* Multiplications in the time of an addition that waits for memory; how many count as one for the
 * choice of threads, so that a product of a million is shared; and in the time of packing. */
static const double TIMED = 64, COUNTED = 4, PACKING = 1000;
enum { TINY_PRODUCT = 216 }; /* multiplications; packing costs more */

/* Additions' worth of so many multiplications, `per` of which are one. */
static size_t worth(double multiplications, double per) {
  const double additions = multiplications / per + 1;
  return additions < 1e18 ? (size_t)additions : SIZE_MAX;
}

/* How one product is cut. Panels are of kernel->rows rows and kernel->columns columns. */
struct blocking {
  const struct joist_gemm *product;
  const struct joist_gemm_kernel *kernel;
  size_t row_panels, column_panels; /* of the whole product */
  size_t block_columns;             /* panels of columns that are packed at once, and */
  size_t slices;                    /* how many times DEPTH terms of them */
  size_t row_blocks;
  size_t row_panel_bytes, column_panel_bytes;
  bool direct;    /* columns are not packed */
  bool symmetric; /* panels of rows below the diagonal are copied from above it */
};

/* Packed columns pay if they are read often, or from far apart. */
static bool is_direct(const struct joist_gemm *p, const struct joist_gemm_kernel *kernel) {
  if (kernel->direct == NULL || p->rhs_dtype != p->dtype || p->n < kernel->columns) return false;
  if (!p->rhs_transposed) return p->m <= NEAR_PANELS * kernel->rows;
  return p->m <= FAR_PANELS * kernel->rows && p->k <= DEPTH &&
         p->k * p->n * kernel->size <= FAR_BYTES;
}

/* A matrix and itself, one of them transposed. The parts of complex products depend on which factor
 * is the first one, by a rounding. */
static bool is_symmetric(const struct joist_gemm *p, const struct joist_gemm_kernel *kernel) {
  bool same = p->lhs_transposed != p->rhs_transposed && p->lhs_dtype == p->rhs_dtype &&
              p->m == p->n && p->m > kernel->rows + kernel->columns &&
              joist_dtype_kind(p->dtype) != JOIST_KIND_COMPLEX;
  for (size_t j = 0; j < p->count && same; j++) same = p->lhs[j] == p->rhs[j];
  return same;
}

static struct blocking cut(const struct joist_gemm *product, int threads) {
  const struct joist_gemm_kernel *const kernel = joist_gemm_find(product->dtype);
  struct blocking b = {.product = product,
                       .kernel = kernel,
                       .row_panels = joist_divide_up(product->m, kernel->rows),
                       .column_panels = joist_divide_up(product->n, kernel->columns),
                       .direct = is_direct(product, kernel),
                       .symmetric = is_symmetric(product, kernel)};
  const size_t depth = joist_smaller(product->k, DEPTH);
  b.row_panel_bytes = joist_round_up(kernel->rows * depth * kernel->size, ALIGNMENT);
  b.column_panel_bytes = joist_round_up(kernel->columns * depth * kernel->size, ALIGNMENT);
  const size_t block_rows = joist_divide_up(ROW_BLOCK_BYTES, b.row_panel_bytes);
  b.row_blocks = joist_divide_up(b.row_panels, block_rows);
  if (threads > 1)
    b.row_blocks = joist_smaller(joist_round_up(b.row_blocks, (size_t)threads), b.row_panels);
  b.block_columns =
      joist_smaller(b.column_panels, joist_divide_up(COLUMN_BLOCK_BYTES, b.column_panel_bytes));
  b.slices = joist_smaller(joist_divide_up(product->k, DEPTH),
                           joist_divide_up(COLUMNS_BYTES, b.block_columns * b.column_panel_bytes));
  return b;
}

static size_t first_panel_of(const struct blocking *b, size_t block) {
  return block * b->row_panels / b->row_blocks;
}

static size_t largest_row_block(const struct blocking *b) {
  return joist_divide_up(b->row_panels, b->row_blocks);
}

/* Scratch memory: the packed columns, then a block of rows for every thread. */
static size_t scratch_bytes(const struct blocking *b, int threads) {
  return ALIGNMENT + b->slices * b->block_columns * b->column_panel_bytes +
         (size_t)threads * largest_row_block(b) * b->row_panel_bytes;
}

/* Where we are: product `index`, slices of DEPTH terms, panels of columns. */
struct place {
  const struct blocking *blocking;
  size_t index, slice, slices, column_panel, column_panels;
  size_t strips;        /* of the panels of columns: each with a block of rows is a task */
  char *columns, *rows; /* scratch */
};

static const char *element(joist_dtype dtype, const void *data, size_t index) {
  return (const char *)data + index * joist_dtype_size(dtype);
}

/* `count` lines of `depth` terms in the dtype of the product: where they are, or converted into
 * `stage`. One of the distances is 1. */
static struct joist_gemm_operand in_product_dtype(joist_dtype from, joist_dtype to, size_t depth,
                                                  size_t count, struct joist_gemm_operand lines,
                                                  char *stage) {
  if (from == to) return lines;
  joist_convert_kernel *const convert = joist_convert_find(from, to);
  const bool whole = lines.along == 1;
  const size_t runs = whole ? count : depth, length = whole ? depth : count;
  const size_t stride = (whole ? lines.across : lines.along) * joist_dtype_size(from);
  for (size_t k = 0; k < runs; k++)
    convert(length, (const char *)lines.data + k * stride,
            stage + k * length * joist_dtype_size(to));
  return (struct joist_gemm_operand){stage, whole ? depth : 1, whole ? 1 : count};
}

static size_t depth_of(const struct blocking *b, size_t slice) {
  return joist_smaller(DEPTH, b->product->k - slice * DEPTH);
}

static char *packed_columns(const struct blocking *b, const struct place *at, size_t slice,
                            size_t panel) {
  return at->columns + (slice * at->column_panels + panel) * b->column_panel_bytes;
}

/* How the rows of lhs, or the columns of rhs, lie. */
static struct joist_gemm_operand rows_of(const struct joist_gemm *p, size_t index) {
  return (struct joist_gemm_operand){p->lhs[index], p->lhs_transposed ? p->k : 1,
                                     p->lhs_transposed ? 1 : p->m};
}

static struct joist_gemm_operand columns_of(const struct joist_gemm *p, size_t index) {
  return (struct joist_gemm_operand){p->rhs[index], p->rhs_transposed ? 1 : p->k,
                                     p->rhs_transposed ? p->n : 1};
}

/* The rows of lhs or the columns of rhs: how many, and how many are a panel. */
struct side {
  struct joist_gemm_operand lines;
  joist_dtype dtype;
  size_t count, width;
  joist_gemm_pack *pack;
};

static void pack_panel(const struct blocking *b, const struct side *side, size_t slice,
                       size_t panel, char *to) {
  const size_t depth = depth_of(b, slice), first = panel * side->width;
  const size_t count = joist_smaller(side->width, side->count - first);
  struct joist_gemm_operand lines = side->lines;
  lines.data = element(side->dtype, lines.data, first * lines.across + slice * DEPTH * lines.along);
  _Alignas(ALIGNMENT) char stage[STAGE_BYTES];
  lines = in_product_dtype(side->dtype, b->product->dtype, depth, count, lines, stage);
  side->pack(depth, count, lines.data, lines.across, lines.along, to);
}

static void pack_columns(const void *context, size_t task, size_t worker) {
  (void)worker;
  const struct place *const at = context;
  const struct joist_gemm *const p = at->blocking->product;
  const struct joist_gemm_kernel *const kernel = at->blocking->kernel;
  const struct side side = {columns_of(p, at->index), p->rhs_dtype, p->n, kernel->columns,
                            kernel->pack_columns};
  const size_t slice = task / at->column_panels, panel = task % at->column_panels;
  pack_panel(at->blocking, &side, at->slice + slice, at->column_panel + panel,
             packed_columns(at->blocking, at, slice, panel));
}

/* Packs a slice of one block of rows. */
static void pack_rows(const struct blocking *b, const struct place *at, size_t block, size_t slice,
                      char *rows) {
  const struct joist_gemm *const p = b->product;
  const size_t first = first_panel_of(b, block), last = first_panel_of(b, block + 1);
  const struct side side = {rows_of(p, at->index), p->lhs_dtype, p->m, b->kernel->rows,
                            b->kernel->pack_rows};
  for (size_t i = first; i < last; i++)
    pack_panel(b, &side, at->slice + slice, i, rows + (i - first) * b->row_panel_bytes);
}

/* Up to `last`, the panel of rows after those that are multiplied by a panel of columns. */
static size_t end_of_rows(const struct blocking *b, size_t column_panel, size_t last) {
  const size_t end = (column_panel + 1) * b->kernel->columns;
  return b->symmetric ? joist_smaller(joist_divide_up(end, b->kernel->rows), last) : last;
}

/* A slice of one block of rows times some of the packed panels of columns. */
static void multiply_slice(const struct blocking *b, const struct place *at, size_t block,
                           size_t slice, struct joist_part columns, char *rows) {
  const struct joist_gemm *const p = b->product;
  const struct joist_gemm_kernel *const kernel = b->kernel;
  const size_t first = first_panel_of(b, block), last = first_panel_of(b, block + 1);
  char *const result = (char *)p->result + at->index * p->m * p->n * kernel->size;
  pack_rows(b, at, block, slice, rows);
  for (size_t j = columns.first; j < columns.first + columns.n; j++) {
    const size_t column = (at->column_panel + j) * kernel->columns;
    const size_t end = end_of_rows(b, at->column_panel + j, last);
    for (size_t i = first; i < end; i++) {
      const size_t row = i * kernel->rows;
      kernel->multiply(depth_of(b, at->slice + slice), rows + (i - first) * b->row_panel_bytes,
                       packed_columns(b, at, slice, j), at->slice + slice > 0,
                       joist_smaller(kernel->rows, p->m - row),
                       joist_smaller(kernel->columns, p->n - column),
                       result + (column * p->m + row) * kernel->size, p->m);
    }
  }
}

/* The same for columns where they are. The last panel is a full one: it has some columns of the
 * panel before it, which it skips. */
static void multiply_direct(const struct blocking *b, const struct place *at, size_t block,
                            size_t slice, struct joist_part columns, char *rows) {
  const struct joist_gemm *const p = b->product;
  const struct joist_gemm_kernel *const kernel = b->kernel;
  const struct joist_gemm_operand right = columns_of(p, at->index);
  const size_t first = first_panel_of(b, block), last = first_panel_of(b, block + 1);
  char *const result = (char *)p->result + at->index * p->m * p->n * kernel->size;
  pack_rows(b, at, block, slice, rows);
  const size_t term = (at->slice + slice) * DEPTH * right.along;
  for (size_t j = columns.first; j < columns.first + columns.n; j++) {
    const size_t own = (at->column_panel + j) * kernel->columns;
    const size_t column = joist_smaller(own, p->n - kernel->columns);
    const size_t end = end_of_rows(b, at->column_panel + j, last);
    for (size_t i = first; i < end; i++) {
      const size_t row = i * kernel->rows;
      kernel->direct(depth_of(b, at->slice + slice), rows + (i - first) * b->row_panel_bytes,
                     element(p->dtype, right.data, column * right.across + term), right.across,
                     right.along, at->slice + slice > 0, joist_smaller(kernel->rows, p->m - row),
                     own - column, result + (column * p->m + row) * kernel->size, p->m);
    }
  }
}

static void multiply_block(const void *context, size_t task, size_t worker) {
  const struct place *const at = context;
  const struct blocking *const b = at->blocking;
  const struct joist_part columns =
      joist_share_of(at->column_panels, at->strips, task / b->row_blocks);
  char *const rows = at->rows + worker * largest_row_block(b) * b->row_panel_bytes;
  const size_t first = first_panel_of(b, task % b->row_blocks);
  if (end_of_rows(b, at->column_panel + columns.first + columns.n - 1, SIZE_MAX) <= first) return;
  for (size_t slice = 0; slice < at->slices; slice++)
    (b->direct ? multiply_direct : multiply_slice)(b, at, task % b->row_blocks, slice, columns,
                                                   rows);
}

/* All rows times the panels of columns at hand. */
static joist_status multiply_columns(struct place *at, int threads, const struct joist_run *run,
                                     struct joist_error *error) {
  const struct blocking *const b = at->blocking;
  const size_t wanted = threads > 1 ? (size_t)threads * TASKS_PER_THREAD : 1;
  at->strips = joist_smaller(joist_divide_up(wanted, b->row_blocks), at->column_panels);
  const size_t tasks = b->row_blocks * at->strips;
  const double work = (double)b->product->m * (double)at->column_panels *
                      (double)b->kernel->columns * (double)DEPTH * (double)at->slices /
                      (double)tasks;
  if (!b->direct) joist_parallel(threads, at->slices * at->column_panels, pack_columns, at);
  return joist_tasks_run_on(run, threads, tasks, worth(work, TIMED), multiply_block, at, error);
}

/* The elements below the diagonal of n columns, from those above it. */
enum { MIRRORED = 32 }; /* rows and columns at once */
#define MIRROR(T)                                                                      \
  static void mirror_##T(size_t n, size_t first, size_t last, void *result) {          \
    T *const z = result;                                                               \
    for (size_t block = first; block < n; block += MIRRORED)                           \
      for (size_t j = first; j < last; j++)                                            \
        for (size_t i = block > j ? block : j + 1; i < n && i < block + MIRRORED; i++) \
          z[j * n + i] = z[i * n + j];                                                 \
  }
MIRROR(uint8_t)
MIRROR(uint16_t)
MIRROR(uint32_t)
MIRROR(uint64_t)
MIRROR(sixteen)

static void mirror(const void *context, size_t task, size_t worker) {
  (void)worker;
  const struct place *const at = context;
  const struct joist_gemm *const p = at->blocking->product;
  const struct joist_part columns = joist_strip_of(p->n, MIRRORED, task);
  const size_t size = at->blocking->kernel->size, n = p->n;
  JOIST_BY_SIZE(size, mirror, n, columns.first, columns.first + columns.n,
                (char *)p->result + at->index * n * n * size);
}

/* Product `index`, in scratch memory for `threads`. */
static joist_status multiply(const struct blocking *b, size_t index, char *scratch, int threads,
                             const struct joist_run *run, struct joist_error *error) {
  struct place at = {.blocking = b, .index = index, .columns = scratch};
  at.rows = scratch + b->slices * b->block_columns * b->column_panel_bytes;
  const size_t slices = joist_divide_up(b->product->k, DEPTH);
  for (; at.column_panel < b->column_panels; at.column_panel += b->block_columns) {
    at.column_panels = joist_smaller(b->block_columns, b->column_panels - at.column_panel);
    for (at.slice = 0; at.slice < slices; at.slice += b->slices) {
      at.slices = joist_smaller(b->slices, slices - at.slice);
      if (at.column_panel + at.slice > 0 && joist_run_poll(run, error) != JOIST_OK)
        return JOIST_INTERRUPTED;
      const joist_status status = multiply_columns(&at, threads, run, error);
      if (status != JOIST_OK) return status;
    }
  }
  if (b->symmetric) joist_parallel(threads, joist_divide_up(b->product->n, MIRRORED), mirror, &at);
  return JOIST_OK;
}

/* Many products, each by one thread. */
struct many {
  const struct blocking *blocking;
  char *scratch; /* `stride` bytes for every worker */
  size_t stride;
};

static void multiply_one(const void *context, size_t index, size_t worker) {
  const struct many *const many = context;
  const struct joist_run silent = {.threads = 1};
  /* Cannot fail: no poll can stop it, and the memory is allocated. */
  const joist_status ignored =
      multiply(many->blocking, index, many->scratch + worker * many->stride, 1, &silent, NULL);
  (void)ignored;
}

/* ---- products that packing does not pay for ---- */

enum { TINY_PRODUCTS = 1 << 10, VECTOR_ROWS = 1024, VECTOR_WORK = 1 << 16 }; /* of a task */

/* All elements of an operand in the dtype of the product. */
static const void *in_one_run(joist_dtype from, joist_dtype to, size_t count, const void *data,
                              char *stage) {
  if (from == to) return data;
  joist_convert_find(from, to)(count, data, stage);
  return stage;
}

static void multiply_tiny(const void *context, size_t task, size_t worker) {
  (void)worker;
  const struct joist_gemm *const p = context;
  const struct joist_gemm_kernel *const kernel = joist_gemm_find(p->dtype);
  const struct joist_part part = joist_strip_of(p->count, TINY_PRODUCTS, task);
  _Alignas(ALIGNMENT) char stage[2][TINY_PRODUCT * LARGEST_ELEMENT];
  for (size_t j = part.first; j < part.first + part.n; j++) {
    struct joist_gemm_operand lhs = rows_of(p, j), rhs = columns_of(p, j);
    lhs.data = in_one_run(p->lhs_dtype, p->dtype, p->m * p->k, lhs.data, stage[0]);
    rhs.data = in_one_run(p->rhs_dtype, p->dtype, p->k * p->n, rhs.data, stage[1]);
    kernel->tiny(p->m, p->n, p->k, &lhs, &rhs, (char *)p->result + j * p->m * p->n * kernel->size);
  }
}

/* Of a matrix whose rows lie one behind the other: few long rows are work for many, too. */
static size_t vector_rows(const struct joist_gemm *p) {
  const bool in_rows = p->n == 1 ? p->lhs_transposed : !p->rhs_transposed;
  return in_rows ? joist_smaller(joist_divide_up(VECTOR_WORK, p->k), VECTOR_ROWS) : VECTOR_ROWS;
}

/* Some rows of a matrix times a vector on either side: a vector on the left is multiplied by the
 * transposed matrix. */
static void multiply_vector(const void *context, size_t task, size_t worker) {
  (void)worker;
  const struct joist_gemm *const p = context;
  const struct joist_gemm_kernel *const kernel = joist_gemm_find(p->dtype);
  const size_t rows = p->m * p->n, each = vector_rows(p), blocks = joist_divide_up(rows, each);
  const size_t j = task / blocks;
  const struct joist_part part = joist_strip_of(rows, each, task % blocks);
  const struct joist_gemm_operand matrix = p->n == 1 ? rows_of(p, j) : columns_of(p, j);
  const char *const from = (const char *)matrix.data + part.first * matrix.across * kernel->size;
  kernel->vector(part.n, p->k, from, matrix.across, matrix.along, p->n == 1 ? p->rhs[j] : p->lhs[j],
                 (char *)p->result + (j * rows + part.first) * kernel->size);
}

joist_status joist_gemm_run(const struct joist_gemm *product, const struct joist_run *run,
                            struct joist_error *error) {
  const struct joist_gemm *const p = product;
  if (p->m == 0 || p->n == 0 || p->count == 0) return JOIST_OK;
  if (p->k == 0) {
    memset(p->result, 0, p->m * p->n * p->count * joist_dtype_size(p->dtype));
    return JOIST_OK;
  }
  const bool converts = p->lhs_dtype != p->dtype || p->rhs_dtype != p->dtype;
  const bool vector =
      (p->m == 1 || p->n == 1) && !converts && joist_gemm_find(p->dtype)->vector != NULL;
  const double work = (double)p->m * (double)p->n * (double)p->k;
  /* Each element of a matrix that is multiplied by a vector is read for one multiplication. */
  const size_t all = worth(work * (double)p->count, vector ? 1 : COUNTED);
  const int wanted = joist_threads_for(run, all, SIZE_MAX);
  if (work <= (double)TINY_PRODUCT)
    return joist_tasks_run_on(run, wanted, joist_divide_up(p->count, TINY_PRODUCTS),
                              TINY_PRODUCTS * p->m * p->n * p->k, multiply_tiny, p, error);
  if (vector)
    return joist_tasks_run_on(run, wanted, p->count * joist_divide_up(p->m * p->n, vector_rows(p)),
                              joist_smaller(p->m * p->n, vector_rows(p)) * p->k, multiply_vector, p,
                              error);
  /* Threads for one product, if they take one after the other. */
  const int each = joist_threads_for(run, worth(work, COUNTED), SIZE_MAX);
  const bool apart = p->count >= 4 * (size_t)wanted || (p->count > 1 && each < wanted);
  const int threads = apart ? (int)joist_smaller(p->count, (size_t)wanted) : each;
  const struct blocking b = cut(p, apart ? 1 : threads);
  const size_t bytes = scratch_bytes(&b, apart ? 1 : threads);
  const size_t stride = joist_round_up(bytes, ALIGNMENT);
  char *const block = malloc(ALIGNMENT + stride * (apart ? (size_t)threads : 1));
  if (block == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  char *const scratch = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
  joist_status status = JOIST_OK;
  if (apart) {
    const struct many many = {&b, scratch, stride};
    status = joist_tasks_run_on(run, threads, p->count, worth(work + PACKING, TIMED), multiply_one,
                                &many, error);
  }
  for (size_t j = 0; j < p->count && !apart && status == JOIST_OK; j++)
    status = multiply(&b, j, scratch, threads, run, error);
  free(block);
  return status;
}
