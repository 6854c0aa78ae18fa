/* See half_tables.h. */
#include "core/kernels/half_tables.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/kernels/kernels.h"
#include "core/types/convert.h"

enum {
  VALUES = 1 << 16,
  PART = 1024,       /* elements that are computed at once */
  MADE_FROM = VALUES /* elements that pay for a table */
};

/* The narrow dtypes, and the number of one; NARROW_COUNT for others. */
enum {
#define X(ID, KIND, T, FACTS, A, B) NARROW_##ID,
  JOIST_DTYPES_NARROW(X, , )
#undef X
      NARROW_COUNT
};

static size_t which(joist_dtype dtype) {
#define X(ID, KIND, T, FACTS, A, B) \
  if (dtype == JOIST_##ID && sizeof(T) == sizeof(uint16_t)) return NARROW_##ID;
  JOIST_DTYPES_NARROW(X, , )
#undef X
  return NARROW_COUNT;
}

typedef _Atomic(uint16_t *) table;
static table tables[JOIST_INSTRUCTION_SETS_MAX][NARROW_COUNT][JOIST_OP_COUNT];

/* Tests compare instruction sets, so each has its own. */
static table *place_of(joist_op op, joist_dtype half) {
  return &tables[joist_kernels_number()][which(half)][op];
}

static void compute(joist_op op, joist_dtype half, size_t n, const uint16_t *in, uint16_t *out) {
  joist_convert_kernel *const widen = joist_convert_find(half, JOIST_F32);
  joist_convert_kernel *const narrow = joist_convert_find(JOIST_F32, half);
  joist_kernel *const kernel = joist_kernel_find(op, JOIST_F32);
  float part[PART];
  for (size_t k = 0; k < n; k += PART) {
    const size_t m = joist_smaller(PART, n - k);
    widen(m, in + k, part);
    (void)kernel(m, (const void *[]){part}, part); /* one of floats does not fail */
    narrow(m, part, out + k);
  }
}

/* Returns NULL if allocation fails. If two threads make a table, the first thread's is kept. */
static const uint16_t *table_of(joist_op op, joist_dtype half) {
  table *const at = place_of(op, half);
  uint16_t *known = atomic_load_explicit(at, memory_order_acquire);
  if (known != NULL) return known;
  uint16_t *const made = malloc(VALUES * sizeof *made);
  if (made == NULL) return NULL;
  for (size_t k = 0; k < VALUES; k++) made[k] = (uint16_t)k;
  compute(op, half, VALUES, made, made);
  if (atomic_compare_exchange_strong(at, &known, made)) return made;
  free(made);
  return known;
}

/* Four at a time: the loads of a table are what takes time, not the loads of its indices. */
static size_t look_up(joist_op op, joist_dtype half, size_t n, const void *in, void *out) {
  const uint16_t *const results = table_of(op, half);
  const uint16_t *const from = in;
  uint16_t *const to = out;
  if (results == NULL) {
    compute(op, half, n, from, to);
    return n;
  }
  size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    uint16_t four[4];
    memcpy(four, from + k, sizeof four);
    for (size_t j = 0; j < 4; j++) four[j] = results[four[j]];
    memcpy(to + k, four, sizeof four);
  }
  for (; k < n; k++) to[k] = results[from[k]];
  return n;
}

/* A kernel has no argument that says which operation it is. Those that are not exact take long. */
#define LOOK_UP(DTYPE, KIND, T, FACTS, ID, B)                                    \
  static size_t DTYPE##_##ID(size_t n, const void *const *in, void *out) {       \
    return look_up(JOIST_OP_##ID, JOIST_##DTYPE, n, in[0], out);                 \
  }                                                                              \
  static size_t few_##DTYPE##_##ID(size_t n, const void *const *in, void *out) { \
    compute(JOIST_OP_##ID, JOIST_##DTYPE, n, in[0], out);                        \
    return n;                                                                    \
  }
#define ACCURACY(ID, F32, F64) JOIST_DTYPES_NARROW(LOOK_UP, ID, )
#include "core/program/ops.def"

static joist_kernel *const kernels[JOIST_OP_COUNT][NARROW_COUNT][2] = {
#define ENTRY(DTYPE, KIND, T, FACTS, ID, B) [NARROW_##DTYPE] = {few_##DTYPE##_##ID, DTYPE##_##ID},
#define ACCURACY(ID, F32, F64) [JOIST_OP_##ID] = {JOIST_DTYPES_NARROW(ENTRY, ID, )},
#include "core/program/ops.def"
};

joist_kernel *joist_half_kernel_find(joist_op op, joist_dtype half, size_t count) {
  const size_t dtype = which(half);
  if (dtype == NARROW_COUNT) return NULL;
  if (joist_operation(op)->most != 1) return NULL;
  return kernels[op][dtype][count >= MADE_FROM || atomic_load(place_of(op, half)) != NULL];
}

void joist_half_tables_forget(void) {
  for (size_t set = 0; set < JOIST_INSTRUCTION_SETS_MAX; set++)
    for (size_t half = 0; half < NARROW_COUNT; half++)
      for (size_t op = 0; op < JOIST_OP_COUNT; op++)
        free(atomic_exchange(&tables[set][half][op], NULL));
}
