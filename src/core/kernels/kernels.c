/* Choice of instruction set and kernel look-up. */
#include "core/kernels/kernels.h"

#include <string.h>

#include "core/kernels/kernels_table.h"
#include "core/kernels/wraps.h"
#include "core/types/convert.h"

#define FLAGS_AVX2 "-mavx2 -mfma -mf16c -mbmi -mbmi2 -mpopcnt"

static const struct {
  const char *name;
  const struct joist_kernel_table *table;
  const struct joist_kernel_table *rest; /* has what `table` leaves out */
  const struct joist_gemm_table *gemm;
  const struct joist_fft_table *fft;
  const struct joist_block_table *blocks;
  const char *flags;
} instruction_sets[] = {
#if JOIST_X86_KERNELS
    {"avx512", &joist_kernels_avx512, &joist_kernels_avx2, &joist_gemm_avx512, &joist_fft_avx512,
     &joist_blocks_avx512,
     "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mprefer-vector-width=512 " FLAGS_AVX2},
    {"avx2", &joist_kernels_avx2, &joist_kernels_avx2, &joist_gemm_avx2, &joist_fft_avx2,
     &joist_blocks_avx2, FLAGS_AVX2},
#endif
    {"generic", &joist_kernels_generic, &joist_kernels_generic, &joist_gemm_generic,
     &joist_fft_generic, &joist_blocks_generic, ""},
};
enum { INSTRUCTION_SETS = sizeof instruction_sets / sizeof *instruction_sets };
_Static_assert((int)INSTRUCTION_SETS <= (int)JOIST_INSTRUCTION_SETS_MAX, "room for each");

/* A kind that ops.def says an operation has must have its kernel, and the other way round. */
enum {
#define KERNEL(ID, KIND, OPERANDS, RESULT, EXPRESSION) HAS_##ID##_##KIND,
#define CHECKED(ID, KIND, FAILURE, EXPRESSION) HAS_##ID##_##KIND,
#define REPAIRED(ID, KIND, OPERANDS, EXPRESSION, CONDITION, REPAIR) HAS_##ID##_##KIND,
#include "core/program/ops.def"
  KERNEL_LINES
};
#define NEED_B(ID) HAS_##ID##_BOOL
#define NEED_IU(ID) (HAS_##ID##_INT + HAS_##ID##_UINT)
#define NEED_F(ID) HAS_##ID##_FLOAT
#define NEED_FC(ID) (NEED_F(ID) + HAS_##ID##_COMPLEX)
#define NEED_BIU(ID) (NEED_B(ID) + NEED_IU(ID))
#define NEED_IUF(ID) (NEED_IU(ID) + NEED_F(ID))
#define NEED_IUFC(ID) (NEED_IU(ID) + NEED_FC(ID))
#define NEED_BIUF(ID) (NEED_BIU(ID) + NEED_F(ID))
#define NEED_BIUFC(ID) (NEED_BIU(ID) + NEED_FC(ID))
enum { COUNT_B = 1, COUNT_IU = 2, COUNT_F = 1, COUNT_FC = 2, COUNT_BIU = 3, COUNT_IUF = 3 };
enum { COUNT_IUFC = 4, COUNT_BIUF = 4, COUNT_BIUFC = 5 };
#define OP(ID, NAME, OPERANDS, CLASS, KINDS, GENERIC)        \
  _Static_assert(NEED_##KINDS(ID) >= 0, "kernels of " NAME); \
  _Static_assert((int)JOIST_OP_##ID < (int)KERNEL_OPS, "a row of " NAME);
#include "core/program/ops.def"
#define OP(ID, NAME, OPERANDS, CLASS, KINDS, GENERIC) +COUNT_##KINDS
_Static_assert(KERNEL_LINES == 0
#include "core/program/ops.def"
               ,
               "a kernel of a kind that its operation is not said to have");

static size_t selected = INSTRUCTION_SETS - 1;

static bool supported(const char *name) {
#if JOIST_X86_KERNELS
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("popcnt");
  if (strcmp(name, "avx2") == 0) return avx2;
  if (strcmp(name, "avx512") == 0)
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
#endif
  return strcmp(name, "generic") == 0;
}

bool joist_kernels_select(const char *name) {
  for (size_t i = 0; i < INSTRUCTION_SETS; i++) {
    if (name != NULL && strcmp(name, instruction_sets[i].name) != 0) continue;
    if (!supported(instruction_sets[i].name)) continue;
    selected = i;
    return true;
  }
  return false;
}

const char *joist_kernels_name(void) { return instruction_sets[selected].name; }

const char *joist_kernels_flags(void) { return instruction_sets[selected].flags; }

size_t joist_kernels_number(void) { return selected; }

/* An entry of a row of the table that has a column for each dtype that kernels compute in. */
#define ENTRY(ROW, DTYPE) (joist_dtype_is_word(DTYPE) ? MEMBER(ROW[DTYPE]) : NULL)
#define MEMBER(OF)                                                                      \
  (instruction_sets[selected].table->OF != NULL  ? instruction_sets[selected].table->OF \
   : instruction_sets[selected].rest->OF != NULL ? instruction_sets[selected].rest->OF  \
                                                 : joist_kernels_generic.OF)
#define OP_ENTRY(OF, ROWS, OP, DTYPE) ENTRY(OF[row_of[OP].ROWS], DTYPE)
static const struct {
  uint8_t COMBINES, WRAPS, UNIFORM;
} row_of[JOIST_OP_COUNT] = {
    [JOIST_OP_ADD] = {COMBINES_ADD, WRAPS_ADD, 0},
    [JOIST_OP_SUB] = {0, WRAPS_SUB, 0},
    [JOIST_OP_MUL] = {COMBINES_MUL, WRAPS_MUL, 0},
    [JOIST_OP_DIV] = {0, WRAPS_DIV, 0},
    [JOIST_OP_ROUND_DIV] = {0, WRAPS_ROUND_DIV, 0},
    [JOIST_OP_POW] = {0, WRAPS_POW, UNIFORM_POW},
    [JOIST_OP_FLOORDIV] = {0, WRAPS_FLOORDIV, UNIFORM_FLOORDIV},
    [JOIST_OP_MOD] = {0, 0, UNIFORM_MOD},
    [JOIST_OP_MIN] = {COMBINES_MIN, 0, 0},
    [JOIST_OP_MAX] = {COMBINES_MAX, 0, 0},
    [JOIST_OP_NEGATE] = {0, WRAPS_NEGATE, 0},
    [JOIST_OP_ABS] = {0, WRAPS_ABS, 0},
    [JOIST_OP_AND] = {COMBINES_AND, 0, 0},
    [JOIST_OP_OR] = {COMBINES_OR, 0, 0},
    [JOIST_OP_SHIFT_LEFT] = {0, WRAPS_SHIFT_LEFT, 0},
};

joist_kernel *joist_kernel_find(joist_op op, joist_dtype compute) {
  joist_kernel *const uniform = OP_ENTRY(uniform, UNIFORM, op, compute);
  if (uniform != NULL) return uniform;
  return (int)op < (int)KERNEL_OPS ? ENTRY(kernel[op], compute) : NULL;
}

joist_kernel *joist_kernel_by_number_find(joist_op op, joist_dtype compute) {
  return OP_ENTRY(by_number, UNIFORM, op, compute);
}

joist_may_wrap *joist_may_wrap_find(joist_op op, joist_dtype compute) {
  return OP_ENTRY(may_wrap, WRAPS, op, compute);
}

joist_may_wrap *joist_stream_wrap_find(joist_op op, joist_dtype compute) {
  return OP_ENTRY(stream_wrap, WRAPS, op, compute);
}

bool joist_may_wrap_is_fused(joist_op op, joist_dtype compute) {
  enum { FUSED = true, APART = false };
  const joist_kind kind = joist_dtype_kind(compute);
#define WRAPS(ID, KIND, OPERANDS, HOW, TEST, MAY, WRAP, BELOW) \
  if (op == JOIST_OP_##ID && kind == JOIST_KIND_##KIND) return HOW;
#include "core/program/ops.def"
  return false;
}

uint64_t joist_power_limit(joist_dtype compute, uint64_t exponent) {
  switch (joist_dtype_digits(compute)) {
#define X(DIGITS) \
  case DIGITS:    \
    return power_limit_##DIGITS[exponent < DIGITS ? exponent : DIGITS];
    JOIST_POWER_DIGITS(X)
#undef X
    default:
      return 0; /* unreachable: integers are computed in these */
  }
}

joist_wraps *joist_wraps_find(joist_op op, joist_dtype compute) {
  return OP_ENTRY(wraps, WRAPS, op, compute);
}

joist_count_wraps *joist_count_wraps_find(joist_op op, joist_dtype compute) {
  return OP_ENTRY(count_wraps, WRAPS, op, compute);
}

joist_magnitudes *joist_magnitudes_find(joist_dtype dtype) { return ENTRY(magnitudes, dtype); }

joist_changes *joist_changes_find(joist_dtype dtype) { return ENTRY(changes, dtype); }

joist_count_marks *joist_count_marks_find(void) { return MEMBER(count_marks); }

const struct joist_fft_kernel *joist_fft_find(bool wide) {
  return &instruction_sets[selected].fft->kernel[wide];
}

const struct joist_gemm_kernel *joist_gemm_find(joist_dtype dtype) {
  if (!joist_dtype_is_word(dtype)) return NULL;
  const struct joist_gemm_kernel *const kernel = &instruction_sets[selected].gemm->kernel[dtype];
  return kernel->multiply != NULL ? kernel : NULL;
}

const struct joist_block_table *joist_block_kernels(void) {
  return instruction_sets[selected].blocks;
}

/* Whether there are kernels that add elements in a wider dtype. */
static bool adds_in(joist_op combine, joist_dtype from, joist_dtype accumulator) {
  return combine == JOIST_OP_ADD && joist_dtype_is_word(from) &&
         joist_kernels_generic.sum_in[from] == accumulator;
}

joist_fold *joist_fold_find(joist_op combine, joist_dtype from, joist_dtype accumulator) {
  if (from == accumulator) return OP_ENTRY(fold, COMBINES, combine, from);
  return adds_in(combine, from, accumulator) ? ENTRY(wide_sum, from) : NULL;
}

joist_masked_fold *joist_masked_fold_find(joist_op combine, joist_dtype from,
                                          joist_dtype accumulator) {
  return adds_in(combine, from, accumulator) ? ENTRY(masked_sum, from) : NULL;
}

joist_rows *joist_rows_find(joist_op combine, joist_dtype from, joist_dtype accumulator) {
  if (from == accumulator) return OP_ENTRY(rows, COMBINES, combine, from);
  return adds_in(combine, from, accumulator) ? ENTRY(wide_rows, from) : NULL;
}

joist_scan *joist_scan_find(joist_op combine, joist_dtype dtype) {
  return OP_ENTRY(scan, COMBINES, combine, dtype);
}

const struct joist_random_kernels *joist_random_kernels(void) {
  return &instruction_sets[selected].table->random;
}

const struct joist_sort_kernels *joist_sort_kernels(size_t size) {
  const int which = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  return instruction_sets[selected].table->sort[which];
}

joist_deal *joist_deal_find(size_t size) {
  return instruction_sets[selected].table->deal[size == 4 ? 0 : size == 8 ? 1 : 2];
}

joist_stream_lines *joist_stream_find(void) { return instruction_sets[selected].table->stream; }

bool joist_identity(joist_op combine, joist_dtype dtype, void *out) {
  uint8_t value;
  switch (combine) {
    case JOIST_OP_ADD:
    case JOIST_OP_OR:
      value = 0;
      break;
    case JOIST_OP_MUL:
    case JOIST_OP_AND:
      value = 1;
      break;
    default:
      return false;
  }
  joist_convert_find(JOIST_BOOL, dtype)(1, &value, out);
  return true;
}

char joist_absorbing(joist_op combine) { return combine == JOIST_OP_OR || combine == JOIST_OP_MAX; }
