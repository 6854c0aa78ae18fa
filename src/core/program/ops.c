/* The descriptors of operations. */
#include "core/program/ops.h"

#include <string.h>

#include "core/types/error.h"

/* The words of the table. */
enum {
  B = 1 << JOIST_KIND_BOOL,
  BIU = B | 1 << JOIST_KIND_INT | 1 << JOIST_KIND_UINT,
  IU = BIU & ~B,
  F = 1 << JOIST_KIND_FLOAT,
  FC = F | 1 << JOIST_KIND_COMPLEX,
  IUF = IU | F,
  IUFC = IU | FC,
  BIUF = BIU | F,
  BIUFC = BIU | FC
};
enum { ANY = JOIST_OPERANDS_ANY };
enum {
#define ATTRIBUTE(ID, NAME, KIND, OTHERWISE) ID = (int)(1u << JOIST_ATTRIBUTE_##ID),
#include "core/program/attributes.def"
};

/* Attributes are set without a check of their number. */
#define BITS_IN_2(SET) (((SET)&1) + ((SET) >> 1 & 1))
#define BITS_IN_8(SET) \
  (BITS_IN_2(SET) + BITS_IN_2((SET) >> 2) + BITS_IN_2((SET) >> 4) + BITS_IN_2((SET) >> 6))
#define BITS_IN(SET) \
  (BITS_IN_8(SET) + BITS_IN_8((SET) >> 8) + BITS_IN_8((SET) >> 16) + BITS_IN_8((SET) >> 24))
#define HAS_ROOM(NAME, SET) \
  _Static_assert(BITS_IN(SET) <= JOIST_ATTRIBUTES_MAX, "room for the attributes of " NAME);
#define STEP(ID, NAME, CLASS, ATTRIBUTES) HAS_ROOM(NAME, ATTRIBUTES)
#define REDUCTION(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES, GENERIC) HAS_ROOM(NAME, ATTRIBUTES)
#define CUMULATIVE(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES) HAS_ROOM(NAME, ATTRIBUTES)
#define ARRAY(ID, NAME, LEAST, MOST, RESULTS, CLASS, KINDS, ATTRIBUTES, FUNCTION) \
  HAS_ROOM(NAME, ATTRIBUTES)
#define REGIONS(ID, NAME, LEAST, COUNT, ATTRIBUTES) HAS_ROOM(NAME, ATTRIBUTES)
#include "core/program/ops.def"

static const struct joist_operation operations[JOIST_OP_COUNT] = {
#define OP(ID, NAME, OPERANDS, CLASS, KINDS, GENERIC)    \
  [JOIST_OP_##ID] = {.name = NAME,                       \
                     .generic = GENERIC,                 \
                     .family = JOIST_FAMILY_ELEMENTWISE, \
                     .class = JOIST_CLASS_##CLASS,       \
                     .least = OPERANDS,                  \
                     .most = OPERANDS,                   \
                     .results = 1,                       \
                     .kinds = KINDS,                     \
                     .combine = JOIST_OP_##ID},
#define STEP(ID, NAME, CLASS, ATTRIBUTES)                  \
  [JOIST_OP_##ID] = {.name = NAME,                         \
                     .generic = "",                        \
                     .family = JOIST_FAMILY_ELEMENTWISE,   \
                     .class = JOIST_CLASS_##CLASS,         \
                     .least = 1,                           \
                     .most = 1,                            \
                     .results = 1,                         \
                     .kinds = BIUFC,                       \
                     .attributes = (uint32_t)(ATTRIBUTES), \
                     .combine = JOIST_OP_##ID},
#define REDUCTION(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES, GENERIC) \
  [JOIST_OP_##ID] = {.name = NAME,                                      \
                     .generic = GENERIC,                                \
                     .family = JOIST_FAMILY_REDUCTION,                  \
                     .class = JOIST_CLASS_##CLASS,                      \
                     .least = 1,                                        \
                     .most = 1,                                         \
                     .results = 1,                                      \
                     .kinds = KINDS,                                    \
                     .attributes = (uint32_t)(ATTRIBUTES),              \
                     .combine = JOIST_OP_##COMBINE},
#define CUMULATIVE(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES) \
  [JOIST_OP_##ID] = {.name = NAME,                              \
                     .generic = "",                             \
                     .family = JOIST_FAMILY_ARRAY,              \
                     .class = JOIST_CLASS_##CLASS,              \
                     .least = 1,                                \
                     .most = 1,                                 \
                     .results = 1,                              \
                     .kinds = KINDS,                            \
                     .attributes = (uint32_t)(ATTRIBUTES),      \
                     .combine = JOIST_OP_##COMBINE,             \
                     .shape = joist_scan_shape,                 \
                     .run = joist_scan_run},
#define ARRAY(ID, NAME, LEAST, MOST, RESULTS, CLASS, KINDS, ATTRIBUTES, FUNCTION) \
  [JOIST_OP_##ID] = {.name = NAME,                                                \
                     .generic = "",                                               \
                     .family = JOIST_FAMILY_ARRAY,                                \
                     .class = JOIST_CLASS_##CLASS,                                \
                     .least = LEAST,                                              \
                     .most = MOST,                                                \
                     .results = RESULTS,                                          \
                     .kinds = KINDS,                                              \
                     .attributes = (uint32_t)(ATTRIBUTES),                        \
                     .combine = JOIST_OP_##ID,                                    \
                     .shape = joist_##FUNCTION##_shape,                           \
                     .run = joist_##FUNCTION##_run},
#define REGIONS(ID, NAME, LEAST, COUNT, ATTRIBUTES)        \
  [JOIST_OP_##ID] = {.name = NAME,                         \
                     .generic = "",                        \
                     .family = JOIST_FAMILY_REGIONS,       \
                     .class = JOIST_CLASS_LAYOUT,          \
                     .least = LEAST,                       \
                     .most = ANY,                          \
                     .regions = COUNT,                     \
                     .kinds = BIUFC,                       \
                     .attributes = (uint32_t)(ATTRIBUTES), \
                     .combine = JOIST_OP_##ID},
#include "core/program/ops.def"
};

const struct joist_operation *joist_operation(joist_op op) { return &operations[op]; }
const char *joist_op_name(joist_op op) { return operations[op].name; }
joist_class joist_op_class(joist_op op) { return operations[op].class; }
bool joist_op_is_reduction(joist_op op) { return operations[op].family == JOIST_FAMILY_REDUCTION; }
bool joist_op_is_array(joist_op op) { return operations[op].family >= JOIST_FAMILY_ARRAY; }
joist_op joist_op_combine(joist_op op) { return operations[op].combine; }

struct joist_accuracy joist_op_accuracy(joist_op op) {
  static const struct joist_accuracy stated[JOIST_OP_COUNT] = {
#define ACCURACY(ID, F32, F64) [JOIST_OP_##ID] = {F32, F64, F64, JOIST_UNIT_OWN},
#include "core/program/ops.def"
  };
  static const struct {
    double f64;
    joist_unit unit;
  } below[JOIST_OP_COUNT] = {
#define ACCURACY_BELOW(ID, F64, UNIT) [JOIST_OP_##ID] = {F64, JOIST_UNIT_##UNIT},
#include "core/program/ops.def"
  };
  struct joist_accuracy made = stated[op];
  if (below[op].f64 > 0) made.f64_below = below[op].f64, made.below = below[op].unit;
  return made;
}

joist_block_role joist_op_block_role(joist_op op) {
  static const joist_block_role stated[JOIST_OP_COUNT] = {
#define CUMULATIVE(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES) \
  [JOIST_OP_##ID] = JOIST_BLOCKS_ALONG,
#define BLOCKS(ID, ROLE) [JOIST_OP_##ID] = JOIST_BLOCKS_##ROLE,
#include "core/program/ops.def"
  };
  if (stated[op] != JOIST_BLOCKS_NONE) return stated[op];
  return operations[op].family == JOIST_FAMILY_ELEMENTWISE ? JOIST_BLOCKS_EACH
         : operations[op].family == JOIST_FAMILY_REDUCTION ? JOIST_BLOCKS_FOLD
                                                           : JOIST_BLOCKS_NONE;
}

const char *joist_block_role_name(joist_block_role role) {
  static const char *const names[] = {"none",  "each", "reshape", "permute",
                                      "along", "fold", "counts",  "product"};
  return names[role];
}

joist_missing_rule joist_op_missing_rule(joist_op op) {
  static const joist_missing_rule stated[JOIST_OP_COUNT] = {
#define CUMULATIVE(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES) \
  [JOIST_OP_##ID] = JOIST_MISSING_SCAN,
#define MISSING(ID, RULE) [JOIST_OP_##ID] = JOIST_MISSING_##RULE,
#include "core/program/ops.def"
  };
  if (stated[op] != JOIST_MISSING_NONE) return stated[op];
  return operations[op].family == JOIST_FAMILY_ELEMENTWISE ? JOIST_MISSING_ANY
         : operations[op].family == JOIST_FAMILY_REDUCTION ? JOIST_MISSING_FOLD
                                                           : JOIST_MISSING_NONE;
}

const char *joist_missing_rule_name(joist_missing_rule rule) {
  static const char *const names[] = {"none",   "any",     "imaginary", "false", "kleene", "power",
                                      "select", "along",   "fold",      "scan",  "order",  "matrix",
                                      "line",   "product", "window",    "refuse"};
  return names[rule];
}

joist_overflow_rule joist_op_overflow_rule(joist_op op) {
  static const joist_overflow_rule stated[JOIST_OP_COUNT] = {
#define OVERFLOW(ID, RULE) [JOIST_OP_##ID] = JOIST_OVERFLOW_##RULE,
#include "core/program/ops.def"
  };
  if (stated[op] != JOIST_OVERFLOW_UNDECIDED) return stated[op];
  return (operations[op].kinds & IU) == 0 ? JOIST_OVERFLOW_NEVER : JOIST_OVERFLOW_UNDECIDED;
}

const char *joist_overflow_rule_name(joist_overflow_rule rule) {
  static const char *const names[] = {"undecided", "never",   "each",    "narrow",
                                      "total",     "running", "product", "scatter"};
  return names[rule];
}

joist_derivative joist_op_derivative(joist_op op) {
  static const joist_derivative stated[JOIST_OP_COUNT] = {
#define DERIVATIVE(ID, RULE) [JOIST_OP_##ID] = JOIST_DERIVATIVE_##RULE,
#include "core/program/ops.def"
  };
  return stated[op];
}

/* The rules that are stated: arrays and operations with bodies name theirs. */
enum {
#define BATCH(ID, RULE) BATCH_OF_##ID = JOIST_BATCH_##RULE,
#include "core/program/ops.def"
};

joist_batch_rule joist_op_batch_rule(joist_op op) {
  static const joist_batch_rule rules[JOIST_OP_COUNT] = {
#define REDUCTION(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES, GENERIC) \
  [JOIST_OP_##ID] = JOIST_BATCH_TRAIL,
#define CUMULATIVE(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES) [JOIST_OP_##ID] = JOIST_BATCH_TRAIL,
#define ARRAY(ID, NAME, LEAST, MOST, RESULTS, CLASS, KINDS, ATTRIBUTES, FUNCTION) \
  [JOIST_OP_##ID] = (joist_batch_rule)BATCH_OF_##ID,
#define REGIONS(ID, NAME, LEAST, COUNT, ATTRIBUTES) \
  [JOIST_OP_##ID] = (joist_batch_rule)BATCH_OF_##ID,
#include "core/program/ops.def"
  };
  return rules[op];
}

joist_work joist_op_work(joist_op op) {
  static const joist_work stated[JOIST_OP_COUNT] = {
#define WORK(ID, AMOUNT) [JOIST_OP_##ID] = JOIST_WORK_##AMOUNT,
#include "core/program/ops.def"
  };
  if (stated[op] != JOIST_WORK_UNSTATED) return stated[op];
  const joist_class class = operations[op].class;
  return class == JOIST_CLASS_INEXACT || class == JOIST_CLASS_ANGLE ? JOIST_WORK_FUNCTION
                                                                    : JOIST_WORK_ADDITION;
}

bool joist_op_wraps(joist_op op, joist_kind kind) {
#define WRAPS(ID, KIND, OPERANDS, HOW, TEST, MAY, WRAP, BELOW) \
  if (op == JOIST_OP_##ID && kind == JOIST_KIND_##KIND) return true;
#include "core/program/ops.def"
  return false;
}

bool joist_op_can_fail(joist_op op, joist_dtype compute) {
  const joist_kind kind = joist_dtype_kind(compute);
#define CHECKED(ID, KIND, FAILURE, EXPRESSION) \
  if (op == JOIST_OP_##ID && kind == JOIST_KIND_##KIND) return true;
#include "core/program/ops.def"
  return false;
}

joist_dtype joist_op_result(joist_op op, joist_dtype compute) {
  switch (joist_op_class(op)) {
    case JOIST_CLASS_PREDICATE:
    case JOIST_CLASS_COMPARE:
      return JOIST_BOOL;
    case JOIST_CLASS_REAL:
    case JOIST_CLASS_ANGLE:
      return joist_dtype_real(compute);
    default:
      return compute;
  }
}

joist_op joist_op_parse(const char *name) {
  int op = 0;
  while (op < JOIST_OP_COUNT && strcmp(name, operations[op].name) != 0) op++;
  return (joist_op)op;
}

bool joist_op_has(joist_op op, joist_dtype compute) {
  return (operations[op].kinds >> joist_dtype_kind(compute) & 1) != 0;
}

joist_status joist_op_check_operands(joist_op op, size_t count, struct joist_error *error) {
  const struct joist_operation *const o = &operations[op];
  if (count >= o->least && (count <= o->most || o->most == JOIST_OPERANDS_ANY)) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_OPERAND_COUNT, .op = o->name,
                    .count = {(size_t)o->least, count});
}
