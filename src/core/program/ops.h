/* The operations: one descriptor each, derived from ops.def. Knows no memory and no device. */
#ifndef JOIST_CORE_PROGRAM_OPS_H
#define JOIST_CORE_PROGRAM_OPS_H

#include "core/base/status.h"
#include "core/program/attributes.h"

typedef enum {
#define OP(ID, NAME, OPERANDS, CLASS, KINDS, GENERIC) JOIST_OP_##ID,
#define STEP(ID, NAME, CLASS, ATTRIBUTES) JOIST_OP_##ID,
#define REDUCTION(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES, GENERIC) JOIST_OP_##ID,
#define CUMULATIVE(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES) JOIST_OP_##ID,
#define ARRAY(ID, NAME, LEAST, MOST, RESULTS, CLASS, KINDS, ATTRIBUTES, FUNCTION) JOIST_OP_##ID,
#define REGIONS(ID, NAME, LEAST, COUNT, ATTRIBUTES) JOIST_OP_##ID,
#include "core/program/ops.def"
  JOIST_OP_COUNT
} joist_op;

/* How dtypes are decided; see infer.c. */
typedef enum {
  JOIST_CLASS_JOIN,       /* operands and results have the joined dtype, if none is asked for */
  JOIST_CLASS_INEXACT,    /* what the rules make of the join; floats stay */
  JOIST_CLASS_REAL,       /* the operand's dtype; a complex one gives its parts' dtype */
  JOIST_CLASS_ANGLE,      /* inexact, then as REAL */
  JOIST_CLASS_SPECTRUM,   /* inexact, then complex, or real of that */
  JOIST_CLASS_PREDICATE,  /* computed in the operand's dtype, result bool */
  JOIST_CLASS_COMPARE,    /* exact for integers, else in the joined dtype; result bool */
  JOIST_CLASS_LOGICAL,    /* computed in bool, result bool */
  JOIST_CLASS_SELECT,     /* bool condition, joined branches */
  JOIST_CLASS_CONVERT,    /* the dtype asked for */
  JOIST_CLASS_BITCAST,    /* the dtype asked for, same bits */
  JOIST_CLASS_LAYOUT,     /* the first operand's dtype; no operand is converted */
  JOIST_CLASS_ASSIGN,     /* the first operand's dtype, to which the last must join */
  JOIST_CLASS_ACCUMULATE, /* what the rules make of bool and integers; floats stay */
  JOIST_CLASS_EXTREME,    /* the operand's dtype */
  JOIST_CLASS_AVERAGE,    /* inexact */
  JOIST_CLASS_TRUTH,      /* bool */
  JOIST_CLASS_POSITION,   /* read as by COMPARE, i32 out */
  JOIST_CLASS_DRAW,       /* the dtype asked for; operands unconverted */
  JOIST_CLASS_COUNT
} joist_class;

/* How blocks of a result come from blocks of the operands. */
typedef enum {
  JOIST_BLOCKS_NONE,    /* they do not: the operation needs all elements */
  JOIST_BLOCKS_EACH,    /* from those at the same place */
  JOIST_BLOCKS_RESHAPE, /* the same, where extents of 1 come or go */
  JOIST_BLOCKS_PERMUTE, /* from those at the permuted place */
  JOIST_BLOCKS_ALONG,   /* from those that span a dim */
  JOIST_BLOCKS_FOLD,    /* by combining what each block along the reduced dims gives */
  JOIST_BLOCKS_COUNTS,  /* by adding what each block gives */
  JOIST_BLOCKS_PRODUCT  /* from rows and columns of blocks, or by adding their products */
} joist_block_role;

/* What becomes of missing values: see missing.h. */
typedef enum {
  JOIST_MISSING_NONE,      /* no rule: a fault of the table */
  JOIST_MISSING_ANY,       /* missing where an operand is */
  JOIST_MISSING_IMAGINARY, /* where a complex operand is; the part of a real one is 0 */
  JOIST_MISSING_FALSE,     /* FALSE where an operand is missing */
  JOIST_MISSING_KLEENE,    /* three-valued logic */
  JOIST_MISSING_POWER,     /* ANY, but x^0 and 1^x are 1 */
  JOIST_MISSING_SELECT,    /* where the condition is missing, or the element that it chooses */
  JOIST_MISSING_ALONG,     /* the mask goes where the elements go */
  JOIST_MISSING_FOLD,      /* where any element that is folded is missing, or without those */
  JOIST_MISSING_SCAN,      /* from the first missing element on */
  JOIST_MISSING_ORDER,     /* missing elements come last and equal one another */
  JOIST_MISSING_MATRIX,    /* where any element of the matrix is */
  JOIST_MISSING_LINE,      /* where any element of the line along the dim is */
  JOIST_MISSING_PRODUCT,   /* where an element of the row or the column is missing */
  JOIST_MISSING_WINDOW,    /* where an element that is multiplied by another one is missing */
  JOIST_MISSING_REFUSE     /* an error */
} joist_missing_rule;

/* What of an operation on integers may not fit its dtype. */
typedef enum {
  JOIST_OVERFLOW_UNDECIDED, /* no rule: a fault of the table */
  JOIST_OVERFLOW_NEVER,     /* everything fits, or what does not was asked for */
  JOIST_OVERFLOW_EACH,      /* an element, by its WRAPS lines */
  JOIST_OVERFLOW_NARROW,    /* an element of a dtype of fewer bits than it is computed in */
  JOIST_OVERFLOW_TOTAL,     /* a sum or a product */
  JOIST_OVERFLOW_RUNNING,   /* one so far */
  JOIST_OVERFLOW_PRODUCT,   /* an element of a matrix product or a convolution */
  JOIST_OVERFLOW_SCATTER    /* an element that was added to */
} joist_overflow_rule;

/* What gradient() makes of an operation. */
typedef enum {
  JOIST_DERIVATIVE_RULE, /* a rule of its own */
  JOIST_DERIVATIVE_ZERO, /* results are piecewise constant, not numbers, or random */
  JOIST_DERIVATIVE_NONE  /* an error: no operation gives it */
} joist_derivative;

/* What an operation becomes for many slices at once, which lie along a last dim: see batch.h. */
typedef enum {
  JOIST_BATCH_EACH,     /* the same, with one dim more */
  JOIST_BATCH_FULL,     /* the same, of operands that are scalars or have all extents */
  JOIST_BATCH_TRAIL,    /* the same, in the dims before the last one */
  JOIST_BATCH_MATRICES, /* the same, for more matrices */
  JOIST_BATCH_JOIN,     /* TRAIL, where scalars get extents */
  JOIST_BATCH_UPDATE,   /* TRAIL, where the second operand has as many elements as a slice */
  JOIST_BATCH_PAD,      /* TRAIL, where what is put around may be another number for each slice */
  JOIST_BATCH_TAKE,     /* positions in each slice */
  JOIST_BATCH_PUT,
  JOIST_BATCH_GATHER,
  JOIST_BATCH_TABLE, /* EACH, for one table */
  JOIST_BATCH_FIRST, /* of the first operand */
  JOIST_BATCH_APART, /* a loop over slices */
  JOIST_BATCH_WHILE,
  JOIST_BATCH_FOR,
  JOIST_BATCH_SCAN,
  JOIST_BATCH_IF
} joist_batch_rule;

/* About how much an operation costs per element. */
typedef enum {
  JOIST_WORK_UNSTATED,
  JOIST_WORK_MOVE,     /* operations on whole arrays that compute nothing */
  JOIST_WORK_ADDITION, /* an addition */
  JOIST_WORK_DIVISION, /* as long as a load from memory */
  JOIST_WORK_FUNCTION  /* an exponential */
} joist_work;

/* What runs an operation. */
typedef enum {
  JOIST_FAMILY_ELEMENTWISE, /* kernels, tile by tile; fused with its neighbours */
  JOIST_FAMILY_REDUCTION,   /* the end of such a group */
  JOIST_FAMILY_ARRAY,       /* its own function, on whole arrays */
  JOIST_FAMILY_REGIONS      /* its bodies, on whole arrays */
} joist_family;

enum {
  JOIST_ELEMENT_OPERANDS = 3, /* at most, of an elementwise operation */
  JOIST_RESULTS_MAX = 3,
  JOIST_OPERANDS_ANY = 255
};

struct joist_shape;
struct joist_call;
struct joist_error;

/* The shapes of the results. `shapes` ends with NULL; the results' shapes are all rank 0 before.
 * JOIST_ERROR_SHAPE when the operands do not fit. */
typedef joist_status joist_shape_function(const struct joist_shape *const *shapes,
                                          const struct joist_attributes *attributes,
                                          struct joist_shape *results, struct joist_error *error);

/* Writes every element of the results. Fails with JOIST_ERROR_VALUE, JOIST_ERROR_MEMORY or
 * JOIST_INTERRUPTED. */
typedef joist_status joist_run_function(const struct joist_call *call, struct joist_error *error);

/* What an error of f64 for negative operands is measured in: see ops.def. */
typedef enum { JOIST_UNIT_OWN, JOIST_UNIT_ONE, JOIST_UNIT_LOG } joist_unit;

/* The largest errors of elementwise operations on floats, in units in the last place. */
struct joist_accuracy {
  double f32, f64, f64_below;
  joist_unit below;
};

struct joist_operation {
  const char *name;
  const char *generic; /* R's, or "" */
  joist_family family;
  joist_class class;
  uint8_t least, most; /* operands; at most JOIST_OPERANDS_ANY is any number */
  uint8_t results;     /* with regions 0: their outputs */
  uint8_t regions;
  uint8_t kinds;               /* bit k: computes in dtypes of joist_kind k */
  uint32_t attributes;         /* bit k: takes the joist_attribute_name k */
  joist_op combine;            /* reductions and scans: joins partial results; itself otherwise */
  joist_shape_function *shape; /* arrays */
  joist_run_function *run;     /* arrays: on the CPU */
};

/* Of the operations' own files. */
#define ARRAY(ID, NAME, LEAST, MOST, RESULTS, CLASS, KINDS, ATTRIBUTES, FUNCTION) \
  joist_shape_function joist_##FUNCTION##_shape;                                  \
  joist_run_function joist_##FUNCTION##_run;
#include "core/program/ops.def"
joist_shape_function joist_scan_shape;
joist_run_function joist_scan_run;

const struct joist_operation *joist_operation(joist_op op);

/* 0 but for elementwise operations that are not exact. */
struct joist_accuracy joist_op_accuracy(joist_op op);

joist_block_role joist_op_block_role(joist_op op);
const char *joist_block_role_name(joist_block_role role);

joist_missing_rule joist_op_missing_rule(joist_op op);
const char *joist_missing_rule_name(joist_missing_rule rule);

joist_overflow_rule joist_op_overflow_rule(joist_op op);
const char *joist_overflow_rule_name(joist_overflow_rule rule);

joist_derivative joist_op_derivative(joist_op op);
joist_batch_rule joist_op_batch_rule(joist_op op);
joist_work joist_op_work(joist_op op);
/* Whether results of the operation can overflow in dtypes of this kind. */
bool joist_op_wraps(joist_op op, joist_kind kind);

const char *joist_op_name(joist_op op);
joist_class joist_op_class(joist_op op);
bool joist_op_is_reduction(joist_op op);
/* Whether it runs on whole arrays. */
bool joist_op_is_array(joist_op op);
/* Whether its kernel for `compute` checks its operands. */
bool joist_op_can_fail(joist_op op, joist_dtype compute);
joist_op joist_op_combine(joist_op op);
/* The dtype that an elementwise operation computed in `compute` gives: bool for predicates and
 * comparisons, the parts' dtype where a complex operand gives a real result, else `compute`. */
joist_dtype joist_op_result(joist_op op, joist_dtype compute);
/* JOIST_OP_COUNT when there is no such name. */
joist_op joist_op_parse(const char *name);

/* Whether the operation is defined for dtypes that are computed in `compute`. */
bool joist_op_has(joist_op op, joist_dtype compute);

/* JOIST_ERROR_VALUE unless the operation takes so many operands. */
joist_status joist_op_check_operands(joist_op op, size_t count,
                                     struct joist_error *error) JOIST_MUST_CHECK;

#endif
