/* Values of quantized blocks, and products with a matrix of them, which stays packed: each row of
 * blocks is decoded a block at a time for few columns, and in panels of rows for many. Few columns
 * of integers of a byte, i8 or blocks of Q8_0 or Q8_K, are multiplied as integers. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/vectorize.h"

JOIST_VECTORIZE_FILE

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/kernels/kernels.h"
#include "core/ops/linalg/gemm.h"
#include "core/program/call.h"
#include "core/types/error.h"
#include "core/types/narrow.h"

/* Columns that are multiplied one by one; rows of a panel; rows that a thread takes at a time. What
 * an element costs, in additions. */
enum { FEW = 8, PANEL = 256, SOME = 16, WORK = 1, PACKING = 8 };

static joist_block block_of(const struct joist_attributes *attributes) {
  const int64_t code = joist_attribute_value(attributes, JOIST_ATTRIBUTE_K);
  return code < 0 || code > UINT32_MAX ? JOIST_BLOCK_COUNT : joist_block_of_code((uint32_t)code);
}

static joist_status fail(const struct joist_attributes *attributes, const struct joist_shape *shape,
                         struct joist_error *error) {
  const joist_block block = block_of(attributes);
  const bool known = block != JOIST_BLOCK_COUNT;
  return JOIST_FAIL(error, JOIST_E_PACKED_SHAPE, .shape = {*shape},
                    .name = {known ? joist_block_facts(block)->name : "an unknown type"},
                    .count = {known ? joist_block_facts(block)->bytes : 0});
}

joist_status joist_unpack_shape(const struct joist_shape *const *shapes,
                                const struct joist_attributes *attributes,
                                struct joist_shape *result, struct joist_error *error) {
  const joist_block block = block_of(attributes);
  *result = *shapes[0];
  if (block == JOIST_BLOCK_COUNT || result->rank == 0) return fail(attributes, shapes[0], error);
  const struct joist_block_facts *const facts = joist_block_facts(block);
  const uint64_t extent = (uint64_t)result->extent[0] / facts->bytes * facts->elements;
  if (result->extent[0] % facts->bytes != 0 || extent > INT32_MAX)
    return fail(attributes, shapes[0], error);
  result->extent[0] = (uint32_t)extent;
  return JOIST_OK;
}

joist_status joist_pack_shape(const struct joist_shape *const *shapes,
                              const struct joist_attributes *attributes, struct joist_shape *result,
                              struct joist_error *error) {
  const joist_block block = block_of(attributes);
  *result = *shapes[0];
  if (block == JOIST_BLOCK_COUNT || !joist_block_is_made(block) || result->rank == 0 ||
      result->extent[0] % joist_block_facts(block)->elements != 0)
    return JOIST_FAIL(
        error, JOIST_E_PACK_SHAPE, .shape = {*result},
        .name = {block == JOIST_BLOCK_COUNT ? "an unknown type" : joist_block_facts(block)->name},
        .count = {block == JOIST_BLOCK_COUNT ? 0 : joist_block_facts(block)->elements});
  result->extent[0] =
      result->extent[0] / joist_block_facts(block)->elements * joist_block_facts(block)->bytes;
  return JOIST_OK;
}

/* The type of blocks of integers of a byte, of so many bytes for a column of `depth` elements;
 * JOIST_BLOCK_COUNT if there is none. */
static joist_block block_of_column(size_t depth, size_t extent) {
  const joist_block blocks[2] = {JOIST_BLOCK_Q8_0, JOIST_BLOCK_Q8_K};
  for (int k = 0; k < 2; k++) {
    const struct joist_block_facts *const facts = joist_block_facts(blocks[k]);
    if (depth % facts->elements == 0 && depth / facts->elements * facts->bytes == extent)
      return blocks[k];
  }
  return JOIST_BLOCK_COUNT;
}

joist_status joist_packed_product_shape(const struct joist_shape *const *shapes,
                                        const struct joist_attributes *attributes,
                                        struct joist_shape *result, struct joist_error *error) {
  struct joist_shape matrix;
  const joist_status status = joist_unpack_shape(shapes, attributes, &matrix, error);
  if (status != JOIST_OK) return status;
  if (matrix.rank != 2 || shapes[1]->rank != 2 ||
      (shapes[1]->extent[0] != matrix.extent[0] &&
       block_of_column(matrix.extent[0], shapes[1]->extent[0]) == JOIST_BLOCK_COUNT))
    return JOIST_FAIL(error, JOIST_E_MATMUL_SHAPES, .shape = {matrix, *shapes[1]},
                      .count = {matrix.extent[0], shapes[1]->extent[0]}, .name = {"rows", "rows"});
  *result = (struct joist_shape){2, {matrix.extent[1], shapes[1]->extent[1]}};
  return JOIST_OK;
}

/* Rows of blocks: columns of the matrix. */
struct rows {
  joist_block block;
  size_t blocks, bytes, depth; /* of a row; elements */
  const unsigned char *packed;
  const float *x;
  const struct joist_byte_column *bytes_of_x; /* NULL, or the same columns, but those with -128 */
  size_t count, columns;
  float *out;
};

static struct rows rows_of(const struct joist_call *call) {
  const joist_block block = block_of(joist_call_attributes(call));
  const struct joist_block_facts *const facts = joist_block_facts(block);
  const size_t bytes = call->operand[0]->shape.extent[0];
  return (struct rows){.block = block,
                       .blocks = bytes / facts->bytes,
                       .bytes = bytes,
                       .depth = bytes / facts->bytes * facts->elements,
                       .packed = call->in[0],
                       .count = bytes == 0 ? 0 : joist_value_count(call->operand[0]) / bytes,
                       .out = call->out[0]};
}

/* The first operand and the result are these; a second one is f32, i8, or blocks of
 * Q8_0 or Q8_K. */
static joist_status check_dtypes(const struct joist_call *call, joist_dtype first,
                                 joist_dtype result, struct joist_error *error) {
  const size_t operands = call->instruction->operand_count;
  const joist_dtype *const given = call->instruction->signature.operand;
  bool fits = given[0] == first && call->result->type.dtype == result;
  if (operands == 2) {
    const size_t extent = call->operand[1]->shape.extent[0], depth = rows_of(call).depth;
    fits &= given[1] == JOIST_UI8
                ? block_of_column(depth, extent) != JOIST_BLOCK_COUNT
                : extent == depth && (given[1] == JOIST_F32 || given[1] == JOIST_I8);
  }
  if (fits) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_PACKED_DTYPE,
                    .type = {{given[0], false}, {given[operands - 1], false}, call->result->type});
}

static void decode_some(const void *context, size_t task, size_t worker) {
  const struct rows *const r = context;
  const struct joist_part part = joist_strip_of(r->count, SOME, task);
  (void)worker;
  joist_block_kernels()->decode[r->block](part.n * r->blocks, r->packed + part.first * r->bytes,
                                          r->out + part.first * r->depth);
}

static void multiply_some(const void *context, size_t task, size_t worker) {
  const struct rows *const r = context;
  const struct joist_part part = joist_strip_of(r->count, SOME, task);
  (void)worker;
  const struct joist_block_table *const kernels = joist_block_kernels();
  for (size_t k = part.first; k < part.first + part.n; k++) {
    const unsigned char *const row = r->packed + k * r->bytes;
    float *const to = r->out + k;
    if (r->bytes_of_x == NULL)
      kernels->dot[r->block](r->blocks, row, r->columns, r->x, r->depth, to, r->count);
    for (size_t c = 0; c < r->columns && r->bytes_of_x != NULL; c++) {
      float *const result = to + c * r->count;
      *result = NAN;
      if (r->bytes_of_x[c].level != NULL)
        kernels->dot_bytes[r->block](r->blocks, row, &r->bytes_of_x[c], result);
      if (!isfinite(*result)) /* of a column alone */
        kernels->dot[r->block](r->blocks, row, 1, r->x + c * r->depth, r->depth, result, r->count);
    }
  }
}

static void run_some(const struct rows *rows, joist_task *task, size_t work,
                     const struct joist_run *run) {
  const size_t tasks = joist_divide_up(rows->count, SOME);
  joist_parallel(joist_threads_for(run, work, tasks), tasks, task, rows);
}

joist_status joist_unpack_run(const struct joist_call *call, struct joist_error *error) {
  const joist_status status = check_dtypes(call, JOIST_UI8, JOIST_F32, error);
  if (status != JOIST_OK) return status;
  struct rows rows = rows_of(call);
  if (rows.count < SOME) { /* few rows: a block is a row, too */
    rows.count *= rows.blocks;
    rows.bytes = joist_block_facts(rows.block)->bytes;
    rows.depth = joist_block_facts(rows.block)->elements;
    rows.blocks = 1;
  }
  run_some(&rows, decode_some, rows.count * rows.depth * WORK, call->run);
  return JOIST_OK;
}

struct packing {
  joist_block block;
  size_t blocks; /* of all */
  const float *x;
  unsigned char *out;
  _Atomic bool *failed;
};

static void pack_some(const void *context, size_t task, size_t worker) {
  const struct packing *const p = context;
  const struct joist_block_facts *const facts = joist_block_facts(p->block);
  const struct joist_part part = joist_strip_of(p->blocks, SOME, task);
  (void)worker;
  if (joist_block_encode(p->block, part.n, p->x + part.first * facts->elements,
                         p->out + part.first * facts->bytes) < part.n)
    atomic_store_explicit(p->failed, true, memory_order_relaxed);
}

joist_status joist_pack_run(const struct joist_call *call, struct joist_error *error) {
  const joist_status status = check_dtypes(call, JOIST_F32, JOIST_UI8, error);
  if (status != JOIST_OK) return status;
  const joist_block block = block_of(joist_call_attributes(call));
  const struct joist_block_facts *const facts = joist_block_facts(block);
  const size_t n = joist_value_count(call->operand[0]);
  _Atomic bool failed = false;
  const struct packing packing = {block, n / facts->elements, call->in[0], call->out[0], &failed};
  const size_t tasks = joist_divide_up(packing.blocks, SOME);
  joist_parallel(joist_threads_for(call->run, n * PACKING, tasks), tasks, pack_some, &packing);
  if (!failed) return JOIST_OK;
  const size_t made = joist_block_encode(block, packing.blocks, packing.x, packing.out);
  return JOIST_FAIL(error, JOIST_E_PACK_VALUE, .name = {facts->name},
                    .count = {made * facts->elements + 1, (made + 1) * facts->elements});
}

/* A panel of rows after the other, as f32, times x. */
static joist_status multiply_panels(const struct rows *all, const struct joist_run *run,
                                    struct joist_error *error) {
  const size_t most = joist_smaller(all->count, PANEL);
  float *const panel = malloc(most * (all->depth + all->columns) * sizeof *panel + 1);
  if (panel == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  float *const made = panel + most * all->depth;
  joist_status status = JOIST_OK;
  for (size_t first = 0; first < all->count && status == JOIST_OK; first += most) {
    struct rows rows = *all;
    rows.count = joist_smaller(most, all->count - first);
    rows.packed += first * all->bytes;
    rows.out = panel;
    run_some(&rows, decode_some, rows.count * rows.depth * WORK, run);
    const void *const lhs = panel, *const rhs = all->x;
    const struct joist_gemm product = {.dtype = JOIST_F32,
                                       .lhs_dtype = JOIST_F32,
                                       .rhs_dtype = JOIST_F32,
                                       .m = rows.count,
                                       .n = all->columns,
                                       .k = all->depth,
                                       .count = 1,
                                       .lhs_transposed = true,
                                       .lhs = &lhs,
                                       .rhs = &rhs,
                                       .result = made};
    status = joist_gemm_run(&product, run, error);
    for (size_t c = 0; c < all->columns && status == JOIST_OK; c++)
      memcpy(all->out + c * all->count + first, made + c * rows.count, rows.count * sizeof *made);
  }
  free(panel);
  return status;
}

static joist_status multiply(struct rows *rows, const struct joist_run *run,
                             struct joist_error *error) {
  if (rows->columns > FEW) return multiply_panels(rows, run, error);
  run_some(rows, multiply_some, rows->count * rows->depth * rows->columns * WORK, run);
  return JOIST_OK;
}

/* Levels that share a scale: a block of Q8_0, or a part of one of Q8_K. */
enum { LEVELS = 32 };

/* The columns of i8, or of blocks of a type, as f32, and as integers with scales if there are
 * few. */
static joist_status multiply_bytes(struct rows *rows, const struct joist_call *call,
                                   struct joist_error *error) {
  const bool blocks = call->instruction->signature.operand[1] == JOIST_UI8;
  const joist_block type =
      blocks ? block_of_column(rows->depth, call->operand[1]->shape.extent[0]) : JOIST_BLOCK_COUNT;
  const bool whole = type == JOIST_BLOCK_Q8_K;
  const size_t n = rows->columns * rows->depth, parts = n / LEVELS, each = parts / rows->columns;
  /* The scale comes first in a block. */
  const size_t scale_bytes = !blocks ? 0 : whole ? 4 : 2, of_block = whole ? 8 : 1;
  const size_t block_bytes = blocks ? joist_block_facts(type)->bytes : LEVELS;
  float *const x = n > SIZE_MAX / 8 ? NULL : malloc(n * sizeof *x + 6 * parts * sizeof *x + n);
  if (x == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  float *const scale = x + n, *const sum = scale + parts, *const half = sum + parts;
  float *const of_256 = half + 2 * parts;
  int16_t *const whole_half = (int16_t *)(of_256 + parts);
  int8_t *const level = (int8_t *)(whole_half + 2 * parts);
  struct joist_byte_column columns[FEW];
  const size_t few = rows->columns <= FEW ? rows->columns : 0;
  for (size_t c = 0; c < few; c++)
    columns[c] = (struct joist_byte_column){level + c * rows->depth,
                                            scale + c * each,
                                            sum + c * each,
                                            half + 2 * c * each,
                                            whole ? of_256 + c * each / 8 : NULL,
                                            whole_half + 2 * c * each};
  const unsigned char *const from = call->in[1];
  if (blocks) joist_block_kernels()->decode[type](parts / of_block, from, x);
  for (size_t k = 0; k < parts; k++) {
    const unsigned char *const block = from + k / of_block * block_bytes;
    int8_t *const to = level + k * LEVELS;
    memcpy(to, block + scale_bytes + k % of_block * LEVELS, LEVELS);
    scale[k] = 1;
    uint32_t bits = 0;
    for (size_t b = 0; b < scale_bytes; b++) bits |= (uint32_t)block[b] << 8 * b;
    if (blocks) scale[k] = whole ? float_from_bits(bits) : narrow_F16_to_f32((uint16_t)bits);
    of_256[k / of_block] = scale[k];
    bool wide = false;
    int total[2] = {0};
    JOIST_VECTORIZE_LOOP
    for (size_t j = 0; j < LEVELS / 2; j++) {
      wide |= (to[j] == INT8_MIN) | (to[j + LEVELS / 2] == INT8_MIN);
      total[0] += to[j];
      total[1] += to[j + LEVELS / 2];
    }
    for (size_t j = 0; j < LEVELS && !blocks; j++) x[k * LEVELS + j] = to[j];
    if (wide && few > 0) columns[k / each].level = NULL;
    for (size_t h = 0; h < 2; h++) {
      whole_half[2 * k + h] = (int16_t)total[h];
      half[2 * k + h] = scale[k] * (float)total[h];
    }
    sum[k] = scale[k] * (float)(total[0] + total[1]);
  }
  rows->x = x;
  if (few > 0) rows->bytes_of_x = columns;
  const joist_status status = multiply(rows, call->run, error);
  free(x);
  return status;
}

joist_status joist_packed_product_run(const struct joist_call *call, struct joist_error *error) {
  const joist_status status = check_dtypes(call, JOIST_UI8, JOIST_F32, error);
  if (status != JOIST_OK) return status;
  struct rows rows = rows_of(call);
  rows.columns = call->result->shape.extent[1];
  if (joist_value_count(call->result) == 0) return JOIST_OK;
  if (rows.depth == 0) {
    memset(rows.out, 0, joist_value_count(call->result) * sizeof *rows.out);
    return JOIST_OK;
  }
  if (call->instruction->signature.operand[1] != JOIST_F32)
    return multiply_bytes(&rows, call, error);
  rows.x = call->in[1];
  return multiply(&rows, call->run, error);
}
