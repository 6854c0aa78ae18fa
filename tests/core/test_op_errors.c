/* Every way in which an operation refuses its operands, its attributes or their values: the code
 * and the facts. */
#include "core/cpu/engine.h"
#include "core/device.h"
#include "core/kernels/kernels.h"
#include "core/ops/linalg/blas.h"
#include "core/plan/plan.h"
#include "core/types/convert.h"

#include "programs.h"
#include "rules.h"

#include <limits.h>
#include <math.h>

/* An array whose elements are these numbers over and over again. */
struct operand {
  joist_dtype dtype;
  struct joist_shape shape;
  double value[4];
};

static const struct joist_shape no_shape = {0};

static void *elements_of(const struct operand *operand) {
  size_t count = 0;
  const size_t size = joist_dtype_size(operand->dtype);
  if (!joist_shape_count(&operand->shape, &count) || count > 100) return NULL;
  char *const elements = malloc(count * size + 1);
  for (size_t k = 0; k < count; k++)
    joist_convert_find(JOIST_F64, operand->dtype)(1, &operand->value[k % 4], elements + k * size);
  return elements;
}

/* Adds an operation to a program and, if that succeeds, runs it; returns the status. */
static joist_status run_op(joist_op op, const struct operand *operands, size_t n,
                           const struct joist_attributes *attributes, struct joist_error *error) {
  enum { MOST = 3, ROOM = 1 << 14 };
  struct joist_program program;
  struct joist_plan *plan = NULL;
  struct joist_inference inference;
  joist_value_id values[MOST], result = 0;
  void *in[MOST] = {NULL}, *out = malloc(ROOM);
  joist_program_init(&program);
  for (size_t k = 0; k < n; k++) {
    values[k] =
        add_input(&program, operands[k].dtype, operands[k].shape.rank, operands[k].shape.extent);
    in[k] = elements_of(&operands[k]);
  }
  joist_status status =
      infer_and_append(&program, op, values, n, attributes, &inference, &result, error);
  if (status == JOIST_OK) status = joist_program_add_output(&program, result, error);
  if (status == JOIST_OK) status = joist_plan_make(&program, &plan, error);
  const struct joist_run run = {.threads = 1};
  if (status == JOIST_OK && CHECK(bytes_of(&program, result) <= ROOM))
    status = joist_plan_run(plan, (const void *const *)in, &out, &run, error);
  joist_plan_free(plan);
  joist_program_clear(&program);
  for (size_t k = 0; k < n; k++) free(in[k]);
  free(out);
  return status;
}

static void check_failure(joist_op op, const struct operand *operands, size_t n,
                          const struct joist_attributes attributes,
                          const struct joist_error *want) {
  struct joist_error error;
  const joist_status status = run_op(op, operands, n, &attributes, &error);
  if (CHECK_ERROR(status, error, want->code)) CHECK_STR(words(&error), words(want));
}

#define OPERANDS(...)                    \
  (const struct operand[]){__VA_ARGS__}, \
      sizeof((const struct operand[]){__VA_ARGS__}) / sizeof(struct operand)
#define WANT(...) \
  &(const struct joist_error) { .code = __VA_ARGS__ }
#define TYPE(DTYPE) \
  { JOIST_##DTYPE, false }
#define SHAPE(...)                                              \
  {                                                             \
    sizeof((int[]){__VA_ARGS__}) / sizeof(int), { __VA_ARGS__ } \
  }

static struct joist_attributes in_type(struct joist_attributes attributes, joist_dtype dtype) {
  return with_type(attributes, (struct joist_type){dtype, false});
}

static struct joist_attributes in_shape(struct joist_attributes attributes, int rank,
                                        uint32_t first, uint32_t second) {
  const struct joist_shape shape = {rank, {first, second}};
  return with_shape(attributes, &shape);
}

static struct joist_attributes in_dim(int64_t dim) {
  return with(no_attributes, JOIST_ATTRIBUTE_DIM, dim);
}

static struct joist_attributes list(struct joist_attributes attributes, joist_attribute_name name,
                                    int64_t first, int64_t second) {
  const int64_t values[] = {first, second};
  return with_list(attributes, name, values, 2);
}

static void test_dtypes(void) {
  check_failure(JOIST_OP_CONVERT, OPERANDS({.dtype = JOIST_F32}), no_attributes,
                WANT(JOIST_E_NEEDS_DTYPE, .op = "convert"));
  check_failure(JOIST_OP_ADD, OPERANDS({.dtype = JOIST_F32}), no_attributes,
                WANT(JOIST_E_OPERAND_COUNT, .op = "add", .count = {2, 1}));
  check_failure(JOIST_OP_FLOOR, OPERANDS({.dtype = JOIST_C64}), no_attributes,
                WANT(JOIST_E_NOT_DEFINED, .op = "floor", .type = {TYPE(C64)}));
  check_failure(JOIST_OP_SUB, OPERANDS({.dtype = JOIST_BOOL}, {.dtype = JOIST_BOOL}), no_attributes,
                WANT(JOIST_E_NOT_DEFINED_BOOL, .op = "sub", .type = {TYPE(BOOL)}));
  check_failure(JOIST_OP_POPCNT, OPERANDS({.dtype = JOIST_F16}), no_attributes,
                WANT(JOIST_E_NOT_DEFINED_INTEGERS, .op = "popcnt", .type = {TYPE(F16)}));
  check_failure(JOIST_OP_BITCAST, OPERANDS({.dtype = JOIST_F32}), in_type(no_attributes, JOIST_I16),
                WANT(JOIST_E_BITCAST_SIZE, .type = {TYPE(F32), TYPE(I16)}));
  check_failure(JOIST_OP_BITCAST, OPERANDS({.dtype = JOIST_UI8}),
                in_type(no_attributes, JOIST_BOOL),
                WANT(JOIST_E_BITCAST_BOOL, .type = {TYPE(UI8), TYPE(BOOL)}));
  check_failure(JOIST_OP_REDUCE_MEAN, OPERANDS({.dtype = JOIST_F32, SHAPE(3)}),
                in_type(with_dims(no_attributes, 1), JOIST_I32),
                WANT(JOIST_E_MEAN_DTYPE, .type = {TYPE(I32)}));
  check_failure(JOIST_OP_UPDATE, OPERANDS({.dtype = JOIST_I8, SHAPE(3)}, {.dtype = JOIST_F32}),
                no_attributes,
                WANT(JOIST_E_ASSIGN, .type = {TYPE(F32), TYPE(I8), TYPE(F32)},
                     .text = {joist_quote("anvil")}));
  /* The same for a bare number, which has no dtype yet. */
  const struct joist_operand operands[] = {{.type = TYPE(I8), .rank = 1},
                                           {.type = {JOIST_F32, true}, .literal = true}};
  struct joist_signature signature;
  struct joist_error error;
  CHECK_ERROR(joist_infer(joist_rules_at(0), JOIST_OP_UPDATE, operands, 2, &no_attributes,
                          &signature, &error),
              error, JOIST_E_ASSIGN_WHOLE);
  CHECK_STR(words(&error),
            words(WANT(JOIST_E_ASSIGN_WHOLE, .type = {{JOIST_F32, true}, TYPE(I8), TYPE(F32)},
                       .text = {joist_quote("anvil")})));
}

static void test_shapes(void) {
  const struct joist_shape row = SHAPE(3), table = SHAPE(2, 3), huge = SHAPE(65536, 65536),
                           cube = {3, {2, 3, 4}}, many = {20, {1}};
  check_failure(JOIST_OP_BROADCAST, OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}),
                in_shape(no_attributes, 2, 2, 4),
                WANT(JOIST_E_BROADCAST_TO, .shape = {table, SHAPE(2, 4)}));
  check_failure(JOIST_OP_RESHAPE, OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}),
                in_shape(no_attributes, 2, 2, 2),
                WANT(JOIST_E_RESHAPE, .shape = {table, SHAPE(2, 2)}, .count = {6, 4}));
  check_failure(JOIST_OP_PERMUTE, OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}),
                list(no_attributes, JOIST_ATTRIBUTE_PERMUTATION, 1, 1),
                WANT(JOIST_E_PERMUTATION, .shape = {table}));
  check_failure(JOIST_OP_PERMUTE, OPERANDS({.dtype = JOIST_F32, SHAPE(3)}),
                list(no_attributes, JOIST_ATTRIBUTE_PERMUTATION, 0, 1),
                WANT(JOIST_E_PERMUTATION, .shape = {row}));
  check_failure(JOIST_OP_CONCATENATE,
                OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}, {.dtype = JOIST_F32, SHAPE(3)}),
                in_dim(0), WANT(JOIST_E_SIDE_BY_SIDE, .shape = {table, row}, .dim = 1));
  check_failure(JOIST_OP_CONCATENATE, OPERANDS({.dtype = JOIST_F32, SHAPE(3)}), in_dim(1),
                WANT(JOIST_E_NO_DIMENSION, .number = {2}, .shape = {row}));
  check_failure(JOIST_OP_CONCATENATE,
                OPERANDS({.dtype = JOIST_F32, SHAPE(INT32_MAX)}, {.dtype = JOIST_F32, SHAPE(2)}),
                in_dim(0), WANT(JOIST_E_EXTENT_LIMIT, .dim = 1, .number = {0x1p31 + 1}));
  check_failure(JOIST_OP_SLICE, OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}),
                list(list(no_attributes, JOIST_ATTRIBUTE_START, 0, 1), JOIST_ATTRIBUTE_STOP, 1, 3),
                WANT(JOIST_E_SLICE_RANGE, .number = {2, 4}, .count = {3}, .dim = 2));
  check_failure(
      JOIST_OP_SLICE, OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}),
      in_shape(list(list(no_attributes, JOIST_ATTRIBUTE_START, 0, 0), JOIST_ATTRIBUTE_STOP, 1, 1),
               1, 3, 0),
      WANT(JOIST_E_SELECTION_SHAPE, .count = {4}, .shape = {row}));
  check_failure(JOIST_OP_UPDATE,
                OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}, {.dtype = JOIST_F32, SHAPE(3)}),
                list(list(no_attributes, JOIST_ATTRIBUTE_START, 0, 0), JOIST_ATTRIBUTE_STOP, 1, 1),
                WANT(JOIST_E_REPLACEMENT, .shape = {row}, .count = {4}));
  check_failure(JOIST_OP_PAD,
                OPERANDS({.dtype = JOIST_F32, SHAPE(3)}, {.dtype = JOIST_F32, SHAPE(3)}),
                no_attributes, WANT(JOIST_E_PAD_VALUE, .shape = {row}));
  check_failure(JOIST_OP_PAD, OPERANDS({.dtype = JOIST_F32, SHAPE(3)}, {.dtype = JOIST_F32}),
                list(no_attributes, JOIST_ATTRIBUTE_LOW, 1, 1),
                WANT(JOIST_E_ATTRIBUTE_LENGTH, .name = {"low"}, .count = {2, 1}));
  check_failure(JOIST_OP_PAD, OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}, {.dtype = JOIST_F32}),
                list(no_attributes, JOIST_ATTRIBUTE_INTERIOR, 0, -1),
                WANT(JOIST_E_PAD_INTERIOR, .dim = 2, .number = {-1}));
  check_failure(JOIST_OP_PAD, OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}, {.dtype = JOIST_F32}),
                list(no_attributes, JOIST_ATTRIBUTE_LOW, -3, 0),
                WANT(JOIST_E_EXTENT_LIMIT, .dim = 1, .number = {-1}));
  check_failure(JOIST_OP_GATHER,
                OPERANDS({.dtype = JOIST_F32, {20, {1}}}, {.dtype = JOIST_I32, {20, {1}}}),
                in_dim(0), WANT(JOIST_E_RANK_LIMIT, .count = {39, JOIST_RANK_MAX}));
  check_failure(JOIST_OP_GATHER, OPERANDS({.dtype = JOIST_F32, {20, {1}}}, {.dtype = JOIST_I32}),
                in_dim(20), WANT(JOIST_E_NO_DIMENSION, .number = {21}, .shape = {many}));
  check_failure(JOIST_OP_IOTA, NULL, 0, in_type(in_shape(in_dim(2), 2, 2, 3), JOIST_I32),
                WANT(JOIST_E_NO_DIMENSION, .number = {3}, .shape = {table}));
  check_failure(JOIST_OP_SORT, OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}), in_dim(2),
                WANT(JOIST_E_NO_DIMENSION, .number = {3}, .shape = {table}));
  static const joist_op far[] = {JOIST_OP_SORT,   JOIST_OP_TOP_K,      JOIST_OP_CONCATENATE,
                                 JOIST_OP_GATHER, JOIST_OP_TAKE_ALONG, JOIST_OP_CUMSUM,
                                 JOIST_OP_ARGMAX};
  for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
    const struct operand operands[] = {{.dtype = JOIST_F32, SHAPE(2, 3)},
                                       {.dtype = JOIST_I32, SHAPE(2, 3)}};
    const size_t n = far[k] == JOIST_OP_GATHER || far[k] == JOIST_OP_TAKE_ALONG ? 2 : 1;
    check_failure(far[k], operands, n, with(in_dim(INT_MAX), JOIST_ATTRIBUTE_K, 1),
                  WANT(JOIST_E_NO_DIMENSION, .number = {0x1p31}, .shape = {table}));
  }
  check_failure(JOIST_OP_IOTA, NULL, 0, in_type(in_shape(in_dim(INT_MAX), 2, 2, 3), JOIST_I32),
                WANT(JOIST_E_NO_DIMENSION, .number = {0x1p31}, .shape = {table}));
  check_failure(JOIST_OP_TOP_K, OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}),
                with(in_dim(2), JOIST_ATTRIBUTE_K, 1),
                WANT(JOIST_E_NO_DIMENSION, .number = {3}, .shape = {table}));
  check_failure(JOIST_OP_TOP_K, OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}),
                with(in_dim(1), JOIST_ATTRIBUTE_K, 4),
                WANT(JOIST_E_TOP_K, .dim = 2, .shape = {table}, .count = {4}));
  check_failure(JOIST_OP_TAKE_ALONG,
                OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}, {.dtype = JOIST_I32, SHAPE(3, 3)}),
                in_dim(1), WANT(JOIST_E_TAKE_SHAPES, .shape = {SHAPE(3, 3), table}, .dim = 2));
  check_failure(JOIST_OP_CUMSUM, OPERANDS({.dtype = JOIST_I8, SHAPE(65536, 65536)}), no_attributes,
                WANT(JOIST_E_FLAT_LIMIT, .count = {(size_t)1 << 32}));
  check_failure(JOIST_OP_ARGMAX, OPERANDS({.dtype = JOIST_I8, SHAPE(65536, 65536)}), no_attributes,
                WANT(JOIST_E_POSITION_LIMIT, .count = {(size_t)1 << 32}));
  check_failure(JOIST_OP_MATCH,
                OPERANDS({.dtype = JOIST_I8}, {.dtype = JOIST_I8, SHAPE(65536, 65536)}),
                no_attributes, WANT(JOIST_E_TABLE_LIMIT, .shape = {huge}));
  check_failure(JOIST_OP_TABULATE, OPERANDS({.dtype = JOIST_I8, SHAPE(3)}),
                in_type(in_shape(no_attributes, 2, 2, 3), JOIST_I64),
                WANT(JOIST_E_COUNTS_SHAPE, .shape = {table}));
  const struct joist_attributes in_q8_0 =
      in_type(with(no_attributes, JOIST_ATTRIBUTE_K, 8), JOIST_F32);
  check_failure(JOIST_OP_PACK, OPERANDS({.dtype = JOIST_F32, SHAPE(31)}), in_q8_0,
                WANT(JOIST_E_PACK_SHAPE, .shape = {SHAPE(31)}, .name = {"Q8_0"}, .count = {32}));
  check_failure(JOIST_OP_UNPACK, OPERANDS({.dtype = JOIST_UI8, SHAPE(33)}), in_q8_0,
                WANT(JOIST_E_PACKED_SHAPE, .shape = {SHAPE(33)}, .name = {"Q8_0"}, .count = {34}));
  check_failure(JOIST_OP_SEARCHSORTED,
                OPERANDS({.dtype = JOIST_I8, SHAPE(2, 3)}, {.dtype = JOIST_I8}), no_attributes,
                WANT(JOIST_E_SORTED_RANK, .shape = {table}));
  check_failure(JOIST_OP_BROADCAST, OPERANDS({.dtype = JOIST_F32}),
                in_shape(no_attributes, 2, UINT32_MAX, UINT32_MAX),
                WANT(JOIST_E_ELEMENT_LIMIT, .shape = {SHAPE(UINT32_MAX, UINT32_MAX)}));
  check_failure(JOIST_OP_MATMUL,
                OPERANDS({.dtype = JOIST_F32, SHAPE(3)}, {.dtype = JOIST_F32, SHAPE(2, 3)}),
                no_attributes, WANT(JOIST_E_MATRIX_RANK, .shape = {row}));
  check_failure(JOIST_OP_MATMUL,
                OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}, {.dtype = JOIST_F32, SHAPE(2, 3)}),
                no_attributes,
                WANT(JOIST_E_MATMUL_SHAPES, .shape = {table, table}, .count = {3, 2},
                     .name = {"columns", "rows"}));
  check_failure(
      JOIST_OP_MATMUL,
      OPERANDS({.dtype = JOIST_F32, {3, {2, 3, 4}}}, {.dtype = JOIST_F32, {3, {3, 2, 5}}}),
      no_attributes,
      WANT(JOIST_E_SHAPE_EXTENTS, .shape = {cube, {3, {3, 2, 5}}}, .dim = 3, .count = {4, 5}));
  check_failure(JOIST_OP_MATMUL,
                OPERANDS({.dtype = JOIST_I8, SHAPE(2, 3)}, {.dtype = JOIST_I32, SHAPE(3, 2)}),
                in_type(no_attributes, JOIST_F32),
                WANT(JOIST_E_MATMUL_DTYPE, .type = {TYPE(F32), TYPE(I32)}));
  check_failure(JOIST_OP_CHOL, OPERANDS({.dtype = JOIST_F32, SHAPE(2, 3)}), no_attributes,
                WANT(JOIST_E_NOT_SQUARE, .shape = {table}));
  check_failure(JOIST_OP_SOLVE,
                OPERANDS({.dtype = JOIST_F32, SHAPE(2, 2)}, {.dtype = JOIST_F32, SHAPE(3, 1)}),
                no_attributes,
                WANT(JOIST_E_SOLVE_SHAPES, .shape = {SHAPE(2, 2), SHAPE(3, 1)}, .count = {3, 2}));
  check_failure(JOIST_OP_EIGH, OPERANDS({.dtype = JOIST_F32, SHAPE(65536, 65536)}), no_attributes,
                WANT(JOIST_E_MATRIX_SIZE, .shape = {huge}));
}

static void test_values(void) {
  struct joist_attributes far = in_type(in_shape(in_dim(0), 1, 1100, 0), JOIST_I64);
  joist_attributes_set_number(&far, JOIST_ATTRIBUTE_FROM, 0x1p63 - 1024);
  check_failure(JOIST_OP_FLOORDIV,
                OPERANDS({.dtype = JOIST_I32, SHAPE(3), {1, 2, 3}},
                         {.dtype = JOIST_I32, SHAPE(3), {1, 0, 0}}),
                no_attributes, WANT(JOIST_E_DIVISION_BY_ZERO, .position = 2, .op = "floor_div"));
  check_failure(JOIST_OP_POW, OPERANDS({.dtype = JOIST_I32}, {.dtype = JOIST_I32, no_shape, {-1}}),
                no_attributes, WANT(JOIST_E_NEGATIVE_POWER, .position = 1, .op = "pow"));
  check_failure(JOIST_OP_REDUCE_MIN, OPERANDS({.dtype = JOIST_F32, {1, {0}}}),
                with_dims(no_attributes, 1), WANT(JOIST_E_NO_ELEMENTS, .op = "reduce_min"));
  check_failure(JOIST_OP_REQUIRE, OPERANDS({.dtype = JOIST_F32, SHAPE(2)}, {.dtype = JOIST_BOOL}),
                no_attributes, WANT(JOIST_E_REQUIRED));
  check_failure(JOIST_OP_REQUIRE, OPERANDS({.dtype = JOIST_F32}, {.dtype = JOIST_BOOL, SHAPE(2)}),
                no_attributes, WANT(JOIST_E_RESHAPE, .shape = {SHAPE(2)}, .count = {2, 1}));
  check_failure(JOIST_OP_ARGMIN, OPERANDS({.dtype = JOIST_F32, {1, {0}}}), in_dim(0),
                WANT(JOIST_E_NO_ELEMENTS, .op = "argmin"));
  check_failure(
      JOIST_OP_IOTA, NULL, 0, far,
      WANT(JOIST_E_IOTA_RANGE, .count = {1100}, .number = {0x1p63 - 1024}, .type = {TYPE(I64)}));
  check_failure(JOIST_OP_TAKE,
                OPERANDS({.dtype = JOIST_F32, SHAPE(3)}, {.dtype = JOIST_I64, SHAPE(2), {0, 3}}),
                no_attributes,
                WANT(JOIST_E_INDEX_RANGE, .number = {4}, .position = 2, .count = {3}));
  check_failure(
      JOIST_OP_SCATTER_ADD,
      OPERANDS({.dtype = JOIST_F32, SHAPE(3)}, {.dtype = JOIST_I64, SHAPE(2), {2, -1}},
               {.dtype = JOIST_F32}),
      no_attributes,
      WANT(JOIST_E_INDEX_RANGE, .number = {0}, .position = 2, .count = {3}, .op = "scatter_add"));
  check_failure(JOIST_OP_TAKE,
                OPERANDS({.dtype = JOIST_F32, SHAPE(3)}, {.dtype = JOIST_I32, SHAPE(2)}),
                no_attributes, WANT(JOIST_E_POSITIONS_DTYPE, .type = {TYPE(I32), TYPE(I64)}));
  check_failure(JOIST_OP_GATHER,
                OPERANDS({.dtype = JOIST_F32, SHAPE(3)}, {.dtype = JOIST_I32, SHAPE(2), {1, 4}}),
                in_dim(0),
                WANT(JOIST_E_INDEX_RANGE, .number = {4}, .position = 2, .dim = 1, .count = {3},
                     .op = "gather"));
  check_failure(JOIST_OP_GATHER, OPERANDS({.dtype = JOIST_F32, SHAPE(3)}, {.dtype = JOIST_F32}),
                in_dim(0), WANT(JOIST_E_INDICES_DTYPE, .type = {TYPE(F32)}));
  check_failure(
      JOIST_OP_TAKE_ALONG,
      OPERANDS({.dtype = JOIST_F32, SHAPE(3)}, {.dtype = JOIST_I32, SHAPE(2), {1, -4}}), in_dim(0),
      WANT(JOIST_E_INDEX_RANGE, .number = {-4}, .position = 2, .count = {3}, .op = "take_along"));
  check_failure(JOIST_OP_TAKE_ALONG,
                OPERANDS({.dtype = JOIST_F32, SHAPE(3)}, {.dtype = JOIST_I64, SHAPE(2)}), in_dim(0),
                WANT(JOIST_E_POSITIONS_DTYPE, .type = {TYPE(I64), TYPE(I32)}));
  check_failure(JOIST_OP_SEARCHSORTED,
                OPERANDS({.dtype = JOIST_F32, SHAPE(3), {1, 3, 2}}, {.dtype = JOIST_F32}),
                no_attributes, WANT(JOIST_E_NOT_SORTED, .position = 3));
  check_failure(JOIST_OP_TABULATE, OPERANDS({.dtype = JOIST_I8, SHAPE(3)}),
                in_type(in_shape(no_attributes, 1, 2, 0), JOIST_I32),
                WANT(JOIST_E_COUNTS_DTYPE, .type = {TYPE(I32)}));
  const struct joist_attributes in_q8_0 = with(no_attributes, JOIST_ATTRIBUTE_K, 8);
  check_failure(JOIST_OP_UNPACK, OPERANDS({.dtype = JOIST_I8, SHAPE(34)}),
                in_type(in_q8_0, JOIST_F32),
                WANT(JOIST_E_PACKED_DTYPE, .type = {TYPE(I8), TYPE(I8), TYPE(F32)}));
  check_failure(JOIST_OP_PACK, OPERANDS({.dtype = JOIST_F32, SHAPE(64), {1, INFINITY}}),
                in_type(in_q8_0, JOIST_UI8),
                WANT(JOIST_E_PACK_VALUE, .name = {"Q8_0"}, .count = {1, 32}));
}

/* Draws of three elements, of dtype `dtype`. */
static void check_draw(joist_op op, joist_dtype dtype, const struct operand lhs,
                       const struct operand rhs, const struct joist_error *want) {
  check_failure(op, OPERANDS({.dtype = JOIST_UI32, SHAPE(2)}, lhs, rhs),
                in_type(in_shape(no_attributes, 1, 3, 0), dtype), want);
}

static void test_draws(void) {
  const struct operand zero = {.dtype = JOIST_F32}, one = {.dtype = JOIST_F32, no_shape, {1}},
                       row = {.dtype = JOIST_F32, SHAPE(3), {1, 1, -1}};
  const struct joist_attributes bits = in_type(in_shape(no_attributes, 1, 3, 0), JOIST_UI32);
  const struct joist_attributes key = in_type(no_attributes, JOIST_UI32);
  check_failure(JOIST_OP_RANDOM_BITS, OPERANDS({.dtype = JOIST_UI32, SHAPE(3)}), bits,
                WANT(JOIST_E_KEY_SHAPE, .shape = {SHAPE(3)}));
  check_failure(JOIST_OP_RANDOM_BITS, OPERANDS({.dtype = JOIST_I32, SHAPE(2)}), bits,
                WANT(JOIST_E_KEY_DTYPE, .type = {TYPE(I32)}));
  check_failure(JOIST_OP_FOLD_IN, OPERANDS({.dtype = JOIST_UI32, SHAPE(2)}, {.dtype = JOIST_I32}),
                in_type(no_attributes, JOIST_I32), WANT(JOIST_E_KEY_DTYPE, .type = {TYPE(I32)}));
  check_failure(JOIST_OP_FOLD_IN,
                OPERANDS({.dtype = JOIST_UI32, SHAPE(2)}, {.dtype = JOIST_I32, SHAPE(3)}), key,
                WANT(JOIST_E_FOLD_SHAPE, .shape = {SHAPE(3)}));
  check_failure(JOIST_OP_FOLD_IN,
                OPERANDS({.dtype = JOIST_UI32, SHAPE(2)}, {.dtype = JOIST_F32, no_shape, {0.5}}),
                key, WANT(JOIST_E_FOLD_NUMBER, .number = {0.5}));
  check_draw(JOIST_OP_RUNIF, JOIST_F32, (struct operand){.dtype = JOIST_F32, SHAPE(2)}, one,
             WANT(JOIST_E_PARAMETER_SHAPE, .op = "runif", .shape = {SHAPE(2), SHAPE(3)}));
  check_draw(JOIST_OP_RUNIF, JOIST_F32, (struct operand){.dtype = JOIST_C64}, one,
             WANT(JOIST_E_DRAW_COMPLEX, .op = "runif", .type = {TYPE(F32)}));
  check_draw(JOIST_OP_RUNIF, JOIST_F32, zero, row,
             WANT(JOIST_E_RUNIF_RANGE, .type = {TYPE(F32)}, .number = {0, -1}, .position = 3));
  check_draw(JOIST_OP_RANDINT, JOIST_I32, one, row,
             WANT(JOIST_E_RANDINT_RANGE, .number = {1, -1}, .position = 3, .type = {TYPE(I32)}));
  check_draw(JOIST_OP_RNORM, JOIST_C64, one, (struct operand){.dtype = JOIST_C64},
             WANT(JOIST_E_RNORM_DTYPE, .type = {TYPE(C64)}));
  check_draw(JOIST_OP_RNORM, JOIST_F32, one, row,
             WANT(JOIST_E_RNORM_SD, .number = {-1}, .position = 3));
  check_draw(JOIST_OP_RBINOM, JOIST_I8, row, one,
             WANT(JOIST_E_RBINOM_SIZE, .number = {-1, 127}, .position = 3, .type = {TYPE(I8)}));
  check_draw(JOIST_OP_RBINOM, JOIST_I8, one, row,
             WANT(JOIST_E_RBINOM_PROB, .number = {-1}, .position = 3));
  check_draw(JOIST_OP_RGAMMA, JOIST_F32, row, one,
             WANT(JOIST_E_RGAMMA_SHAPE, .number = {-1}, .position = 3));
  check_draw(JOIST_OP_RGAMMA, JOIST_F32, one, row,
             WANT(JOIST_E_RGAMMA_RATE, .number = {-1}, .position = 3));
  check_failure(JOIST_OP_RGAMMA_SLOPE, OPERANDS(row, {.dtype = JOIST_F32, SHAPE(2)}), no_attributes,
                WANT(JOIST_E_PARAMETER_SHAPE, .op = "rgamma_slope", .shape = {SHAPE(2), SHAPE(3)}));
  const struct joist_attributes three = in_type(in_shape(no_attributes, 1, 3, 0), JOIST_I8);
  const struct operand own_key = {.dtype = JOIST_UI32, SHAPE(2)};
  const struct operand many = {.dtype = JOIST_F32, SHAPE(1, 200)};
  check_failure(JOIST_OP_REXP, OPERANDS(own_key, row),
                in_type(in_shape(no_attributes, 1, 3, 0), JOIST_F32),
                WANT(JOIST_E_REXP_RATE, .number = {-1}, .position = 3));
  check_failure(JOIST_OP_RPOIS, OPERANDS(own_key, row), three,
                WANT(JOIST_E_RPOIS_RATE, .number = {-1}, .position = 3, .type = {TYPE(I8)}));
  check_failure(JOIST_OP_RCATEGORICAL, OPERANDS(own_key, row), three,
                WANT(JOIST_E_WEIGHT, .number = {-1}, .position = 3));
  check_failure(JOIST_OP_RCATEGORICAL, OPERANDS(own_key, {.dtype = JOIST_F32, SHAPE(3)}), three,
                WANT(JOIST_E_NO_WEIGHT, .position = 1));
  check_failure(JOIST_OP_RCATEGORICAL, OPERANDS(own_key, {.dtype = JOIST_F32, SHAPE(2, 3)}), three,
                WANT(JOIST_E_WEIGHTS_SHAPE, .shape = {SHAPE(2, 3), SHAPE(3)}));
  check_failure(JOIST_OP_RCATEGORICAL, OPERANDS(own_key, many),
                in_type(in_shape(no_attributes, 1, 1, 0), JOIST_I8),
                WANT(JOIST_E_CATEGORIES, .count = {200}, .type = {TYPE(I8)}));
}

/* ---- a LAPACK that finds fault with everything ---- */

static double reciprocal_found;
static int fault; /* what the routines say */
static double wanted_work;

static void stub_getrf(const int *m, const int *n, void *a, const int *lda, int *pivots,
                       int *info) {
  (void)m, (void)n, (void)a, (void)lda, (void)pivots;
  *info = fault;
}

static void stub_gecon(const char *norm, const int *n, const void *a, const int *lda,
                       const double *norm_a, double *reciprocal, void *work, void *integers,
                       int *info, size_t length) {
  (void)norm, (void)n, (void)a, (void)lda, (void)norm_a, (void)work, (void)integers, (void)length;
  *reciprocal = reciprocal_found;
  *info = 0;
}

static void stub_trtrs(const char *uplo, const char *transpose, const char *diagonal, const int *n,
                       const int *columns, const void *a, const int *lda, void *b, const int *ldb,
                       int *info, size_t x, size_t y, size_t z) {
  (void)uplo, (void)transpose, (void)diagonal, (void)n, (void)columns, (void)a, (void)lda, (void)b;
  (void)ldb, (void)x, (void)y, (void)z;
  *info = fault;
}

static void stub_gesdd(const char *job, const int *m, const int *n, double *a, const int *lda,
                       double *s, double *u, const int *ldu, double *vt, const int *ldvt,
                       double *work, const int *work_size, int *integers, int *info,
                       size_t length) {
  (void)job, (void)m, (void)n, (void)a, (void)lda, (void)s, (void)u, (void)ldu, (void)vt;
  (void)ldvt, (void)integers, (void)length;
  if (*work_size == -1) *work = wanted_work;
  *info = *work_size == -1 ? 0 : fault;
}

static void stub_potrf(const char *uplo, const int *n, void *a, const int *lda, int *info,
                       size_t length) {
  (void)uplo, (void)n, (void)a, (void)lda, (void)length;
  *info = fault;
}

static void test_lapack(void) {
  const struct operand one = {.dtype = JOIST_F64,
                              SHAPE(2, 2),
                              {1, 2, 2, 4}}, /* singular: LAPACK has to say */
      two = {.dtype = JOIST_F64, {3, {2, 2, 2}}, {1, 2, 3, 4}},
                       bad = {.dtype = JOIST_F64, SHAPE(2, 2), {1, 2, NAN, 4}};
  check_failure(JOIST_OP_CHOL, &one, 1, no_attributes, WANT(JOIST_E_NO_LAPACK, .op = "chol"));
  joist_lapack = (struct joist_lapack){.potrf = {stub_potrf},
                                       .getrf = {stub_getrf},
                                       .gecon = {stub_gecon},
                                       .trtrs = {stub_trtrs},
                                       .gesdd = stub_gesdd};
  fault = 2;
  wanted_work = 100;
  check_failure(JOIST_OP_CHOL, &two, 1, no_attributes,
                WANT(JOIST_E_NOT_POSITIVE_DEFINITE, .count = {2}, .batch = 1));
  check_failure(JOIST_OP_INVERSE, &one, 1, no_attributes, WANT(JOIST_E_SINGULAR, .count = {2}));
  check_failure(JOIST_OP_INVERSE, &bad, 1, no_attributes,
                WANT(JOIST_E_MATRIX_NOT_FINITE, .number = {NAN}, .count = {1, 2}));
  check_failure(JOIST_OP_TRIANGULAR_SOLVE, OPERANDS(one, one), no_attributes,
                WANT(JOIST_E_SINGULAR_TRIANGLE, .count = {2}));
  check_failure(
      JOIST_OP_SVD, &two, 1, no_attributes,
      WANT(JOIST_E_NOT_CONVERGED, .name = {"singular values"}, .number = {2}, .batch = 1));
  wanted_work = 0x1p40;
  check_failure(JOIST_OP_SVD, &one, 1, no_attributes, WANT(JOIST_E_WORK_SIZE));
  fault = 0;
  reciprocal_found = 1e-20;
  check_failure(JOIST_OP_INVERSE, &one, 1, no_attributes,
                WANT(JOIST_E_NEARLY_SINGULAR, .number = {1e-20}));
  joist_lapack = (struct joist_lapack){.potrf = {NULL}};
}

/* A temporary that no machine has room for. */
static void test_memory(void) {
  struct joist_program program;
  struct joist_plan *plan = NULL;
  struct joist_error error;
  joist_value_id large = 0, turned = 0;
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_I8, 0, NULL);
  const struct joist_attributes shape = in_shape(no_attributes, 2, INT32_MAX, 1 << 20);
  const struct joist_attributes order = list(no_attributes, JOIST_ATTRIBUTE_PERMUTATION, 1, 0);
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_BROADCAST, &x, 1, &shape, &large));
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_PERMUTE, &large, 1, &order, &turned));
  add_output(&program, add_simple(&program, JOIST_OP_REDUCE_SUM, turned, turned));
  CHECK_INT(joist_plan_make(&program, &plan, &error), JOIST_OK);
  const int8_t in = 1;
  int64_t out;
  const struct joist_run run = {.threads = 1};
  CHECK_ERROR(joist_plan_run(plan, (const void *[]){&in}, (void *[]){&out}, &run, &error), error,
              JOIST_E_OUT_OF_MEMORY);
  CHECK(error.bytes >= (size_t)INT32_MAX << 20);
  joist_plan_free(plan);
  joist_program_clear(&program);
}

/* What is there of CUDA in a build without it. */
static void test_no_cuda(void) {
  struct joist_diagnosis rows[JOIST_DIAGNOSES];
  CHECK_INT(joist_device_diagnose(rows), 1);
  CHECK(!rows[0].found);
  CHECK_INT(rows[0].why.code, JOIST_E_NO_CUDA);
}

int main(void) {
  use_rules();
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  test_dtypes();
  test_shapes();
  test_values();
  test_draws();
  test_lapack();
  test_memory();
  test_no_cuda();
  return check_report("errors of operations");
}
