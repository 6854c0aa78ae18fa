/* The operations and their dtype classes, derived from ops.def, and the one function
 * that decides the dtypes of an operation for eager calls and for traces alike. */
#ifndef JOIST_CORE_PROGRAM_OPS_H
#define JOIST_CORE_PROGRAM_OPS_H

#include "core/base/status.h"
#include "core/promotion/promote.h"
#include "core/types/dtypes.h"

typedef enum {
#define OP(ID, NAME, ARITY, CLASS, GENERIC) JOIST_OP_##ID,
#define REDUCTION(ID, NAME, CLASS, COMBINE, GENERIC) JOIST_OP_##ID,
#define ARRAY(ID, NAME, ARITY, CLASS, DEFINED, FUNCTION) JOIST_OP_##ID,
#include "core/program/ops.def"
  JOIST_OP_COUNT
} joist_op;

typedef enum {
  JOIST_CLASS_JOIN,       /* operands and result have the joined dtype */
  JOIST_CLASS_INEXACT,    /* the join, joined with the default float if it is no float */
  JOIST_CLASS_REAL,       /* the operand's dtype; a complex one gives its parts' dtype */
  JOIST_CLASS_ANGLE,      /* inexact, then as REAL */
  JOIST_CLASS_PREDICATE,  /* computed in the operand's dtype, result bool */
  JOIST_CLASS_COMPARE,    /* computed in the joined dtype, result bool */
  JOIST_CLASS_LOGICAL,    /* computed in bool, result bool */
  JOIST_CLASS_SELECT,     /* bool condition, joined branches */
  JOIST_CLASS_CONVERT,    /* the dtype asked for */
  JOIST_CLASS_BITCAST,    /* the dtype asked for, same bits */
  JOIST_CLASS_LAYOUT,     /* the first operand's dtype; no operand is converted */
  JOIST_CLASS_ACCUMULATE, /* bool and integers in i64 or ui64; floats keep their dtype */
  JOIST_CLASS_EXTREME,    /* the operand's dtype */
  JOIST_CLASS_AVERAGE,    /* inexact */
  JOIST_CLASS_TRUTH,      /* bool */
  JOIST_CLASS_POSITION,   /* the joined dtype in, i32 out */
  JOIST_CLASS_DRAW        /* the dtype asked for; operands as they are */
} joist_class;

enum { JOIST_ARITY_MAX = 3 };

const char *joist_op_name(joist_op op);
const char *joist_op_generic(joist_op op);
int joist_op_arity(joist_op op);
joist_class joist_op_class(joist_op op);
bool joist_op_is_reduction(joist_op op);
bool joist_op_is_array(joist_op op);
/* Whether some kernel of the operation stops at elements for which it has no value. */
bool joist_op_can_fail(joist_op op);
/* The elementwise operation that joins partial results of a reduction. */
joist_op joist_op_combine(joist_op reduction);
/* JOIST_OP_COUNT when there is no such name. */
joist_op joist_op_parse(const char *name);

/* What an operation does with its dtypes. */
struct joist_signature {
  struct joist_type result;
  /* The dtype each operand is converted to before the kernel (for a reduction, the
   * dtype it accumulates in). f16 and bf16 stand for themselves here. */
  joist_dtype operand[JOIST_ARITY_MAX];
  /* The dtype whose kernel runs: that of the operands, f32 for f16 and bf16. */
  joist_dtype compute;
};

/* Decides the dtypes of `op`. `requested` is the dtype asked for by convert, bitcast
 * and reductions with an explicit dtype (JOIST_DTYPE_NONE otherwise), `ambiguous` goes
 * with it. Fails with JOIST_ERROR_PROMOTION, or JOIST_ERROR_DTYPE when the operation
 * does not exist for the dtype. */
joist_status joist_infer(const struct joist_rules *rules, joist_op op,
                         const struct joist_operand *operands, struct joist_type requested,
                         struct joist_signature *signature,
                         struct joist_error *error) JOIST_MUST_CHECK;

#endif
