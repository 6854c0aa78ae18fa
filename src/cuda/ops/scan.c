/* Cumulative operations on a device: how an array is cut into units, segments and tiles, by its
 * shape alone, and what dtypes are converted before and after. */
#include "cuda/kernels/scan_kernels.h"
#include "cuda/ops/operations.h"

enum {
  WIDEST = 64,             /* columns of a slab that a block takes at once */
  ENOUGH = 1 << 10,        /* blocks that keep a device busy */
  SEGMENTS_MOST = 1 << 12, /* blocks of few units */
  ALONE = 4                /* tiles that one block scans before others would have started */
};

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t divided(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

static bool is_float(joist_dtype dtype) { return joist_dtype_kind(dtype) == JOIST_KIND_FLOAT; }
static bool is_complex(joist_dtype dtype) { return joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX; }

static joist_cuda_scan_kind kind_of(joist_op combine, joist_dtype accumulator) {
  const bool product = combine == JOIST_OP_MUL, sum = combine == JOIST_OP_ADD;
  if (is_complex(accumulator))
    return product ? JOIST_CUDA_SCAN_PRODUCT_C128 : JOIST_CUDA_SCAN_SUM_C128;
  if (!is_float(accumulator)) return product || sum ? JOIST_CUDA_SCAN_WRAP : JOIST_CUDA_SCAN_ORDER;
  if (product) return JOIST_CUDA_SCAN_PRODUCT_F64;
  if (sum) return JOIST_CUDA_SCAN_SUM_F64;
  return accumulator == JOIST_F64 ? JOIST_CUDA_SCAN_ORDER_F64 : JOIST_CUDA_SCAN_ORDER_F32;
}

/* Whether a kernel of this kind has elements of a dtype: reads, or else writes them. */
static bool has(joist_cuda_scan_kind kind, joist_dtype dtype, bool reads) {
  switch (kind) {
    case JOIST_CUDA_SCAN_WRAP:
      return reads ? !is_float(dtype) && !is_complex(dtype)
                   : joist_dtype_category(dtype) == JOIST_CATEGORY_INTEGER &&
                         joist_dtype_size(dtype) == 8;
    case JOIST_CUDA_SCAN_ORDER:
      return !is_float(dtype) && !is_complex(dtype);
    case JOIST_CUDA_SCAN_ORDER_F32:
      return joist_dtype_compute(dtype) == JOIST_F32;
    case JOIST_CUDA_SCAN_ORDER_F64:
      return dtype == JOIST_F64;
    case JOIST_CUDA_SCAN_SUM_F64:
    case JOIST_CUDA_SCAN_PRODUCT_F64:
      return is_float(dtype);
    case JOIST_CUDA_SCAN_SUM_C128:
    case JOIST_CUDA_SCAN_PRODUCT_C128:
    case JOIST_CUDA_SCANS:
      break;
  }
  return is_complex(dtype);
}

/* False when there are more blocks than a launch can have. */
static bool cut(joist_cuda_scan_kind kind, const struct joist_lines *lines,
                struct joist_cuda_scan *scan) {
  const uint64_t most = joist_cuda_scan_run(kind);
  scan->inner = lines->inner;
  scan->middle = lines->middle;
  scan->outer = lines->outer;
  const uint64_t pieces = divided(scan->inner, WIDEST), width = divided(scan->inner, pieces);
  /* Slabs whose columns are short enough lie in one tile together. */
  const uint64_t threads = divided(scan->middle, most) * width;
  const bool small = pieces == 1 && threads <= JOIST_CUDA_BLOCK / 2;
  const uint64_t slabs = small ? least(JOIST_CUDA_BLOCK / threads, scan->outer) : 1;
  const uint64_t runs = JOIST_CUDA_BLOCK / (slabs * width);
  /* A tile's elements are less than 2^32 apart. */
  const uint64_t near = scan->inner < UINT32_MAX ? UINT32_MAX / scan->inner : 1;
  const uint64_t rows = least(least(scan->middle, runs * most), near);
  const uint64_t units = divided(scan->outer, slabs) * pieces;
  const uint64_t tiles = divided(scan->middle, rows);
  uint64_t segments = 1;
  if (units < ENOUGH && tiles > ALONE) segments = least(tiles, divided(SEGMENTS_MOST, units));
  scan->width = (uint32_t)width;
  scan->pieces = (uint32_t)pieces;
  scan->slabs = (uint32_t)slabs;
  scan->rows = (uint32_t)rows;
  scan->run = (uint32_t)divided(rows, runs) | 1;
  scan->runs = (uint32_t)divided(rows, scan->run);
  scan->units = (uint32_t)units;
  scan->tiles = (uint32_t)divided(tiles, segments);
  scan->segments = (uint32_t)divided(tiles, scan->tiles);
  return units <= INT32_MAX;
}

static struct joist_lines lines_of(const struct running *r, const struct joist_instruction *i) {
  return joist_shape_lines(&r->plan->program->values[i->operand[0]].shape,
                           joist_attribute_dim(i->attributes));
}

bool joist_cuda_can_accumulate(const struct running *r, const struct joist_instruction *i) {
  struct joist_cuda_scan scan;
  const struct joist_lines lines = lines_of(r, i);
  return lines.inner == 0 || lines.middle == 0 || lines.outer == 0 ||
         cut(kind_of(joist_op_combine(i->op), i->signature.operand[0]), &lines, &scan);
}

static joist_status run_scan(const struct running *r, joist_cuda_scan_kind kind,
                             struct joist_cuda_scan *scan, struct joist_error *error) {
  cudaError_t result = cudaSuccess;
  scan->totals = NULL;
  scan->only_totals = 0;
  if (scan->segments > 1) {
    const size_t count = (size_t)scan->units * scan->segments * scan->width;
    const joist_status status =
        allocate(r, count * joist_cuda_scan_total(kind), &scan->totals, error);
    if (status != JOIST_OK) return status;
    scan->only_totals = 1;
    result = (cudaError_t)joist_cuda_start_scan(kind, scan, r->state->stream);
    if (result == cudaSuccess)
      result = (cudaError_t)joist_cuda_start_carry(kind, scan, r->state->stream);
    scan->only_totals = 0;
  }
  if (result == cudaSuccess)
    result = (cudaError_t)joist_cuda_start_scan(kind, scan, r->state->stream);
  joist_cuda_free(r->device, scan->totals);
  return joist_cuda_check(result, "starting a kernel", error);
}

/* What a kernel cannot read or write is converted from and to the accumulator's dtype, in memory
 * that the scan reads and writes in place. */
joist_status joist_cuda_accumulate(const struct running *r, const struct joist_instruction *i,
                                   struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const joist_dtype accumulator = i->signature.operand[0];
  const joist_dtype own = program->values[i->operand[0]].type.dtype;
  const joist_dtype result = program->values[i->result].type.dtype;
  const joist_cuda_scan_kind kind = kind_of(joist_op_combine(i->op), accumulator);
  const bool reads = has(kind, own, true), writes = has(kind, result, false);
  const uint64_t count = count_of(program, i->result);
  const struct joist_lines lines = lines_of(r, i);
  const void *const in = r->arrays[i->operand[0]];
  void *const out = r->arrays[i->result];
  void *made = NULL;
  struct joist_cuda_scan scan;
  if (count == 0) return JOIST_OK;
  (void)cut(kind, &lines, &scan); /* it can be, as joist_cuda_can_accumulate() said */
  joist_status status = JOIST_OK;
  if (!reads || !writes) status = allocate(r, count * joist_dtype_size(accumulator), &made, error);
  if (status == JOIST_OK && !reads) status = convert(r, count, own, in, accumulator, made, error);
  scan.in = reads ? in : made;
  scan.out = writes ? out : made;
  scan.from = (uint32_t)(reads ? own : accumulator);
  scan.to = (uint32_t)(writes ? result : accumulator);
  scan.second = i->op == JOIST_OP_CUMPROD || i->op == JOIST_OP_CUMMAX;
  if (status == JOIST_OK) status = run_scan(r, kind, &scan, error);
  if (status == JOIST_OK && !writes)
    status = convert(r, count, accumulator, made, result, out, error);
  joist_cuda_free(r->device, made);
  return status;
}
