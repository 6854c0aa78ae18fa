/* The one function that decides the dtypes of an operation, for eager calls and for traces alike.
 */
#ifndef JOIST_CORE_PROGRAM_INFER_H
#define JOIST_CORE_PROGRAM_INFER_H

#include "core/program/ops.h"
#include "core/promotion/promote.h"

/* What an operation does with its dtypes. */
struct joist_signature {
  struct joist_type result[JOIST_RESULTS_MAX];
  /* The type that the rules give the operands: all but the condition of a SELECT, of an ASSIGN the
   * last. Its dtype is JOIST_DTYPE_NONE where they have no say: the operation takes operands as
   * they are, asks only whether they are zero, or was told the dtype. */
  struct joist_type promoted;
  /* The dtype each operand is converted to before it is computed with (for a reduction, the dtype
   * it accumulates in). f16 and bf16 stand for themselves here. Of an operation with any number of
   * operands, all have the last one: see joist_signature_operand(). Those of a comparison can
   * differ, where no dtype holds both: see kernels/compare.h. */
  joist_dtype operand[JOIST_ELEMENT_OPERANDS];
  /* Whether it is a quotient of integers that the rules round. */
  bool rounds;
  /* Whether the result is computed in f64, and then rounded to the integer that it is. */
  bool rounds_float;
  /* The dtype whose kernel runs: the operands' dtype, f32 for f16 and bf16. */
  joist_dtype compute;
};

static inline joist_dtype joist_signature_operand(const struct joist_signature *signature,
                                                  size_t k) {
  return signature->operand[k < JOIST_ELEMENT_OPERANDS ? k : JOIST_ELEMENT_OPERANDS - 1];
}

/* The operation that computes what was inferred for `op`. */
static inline joist_op joist_signature_op(const struct joist_signature *signature, joist_op op) {
  return signature->rounds ? JOIST_OP_ROUND_DIV : op;
}

/* Decides the dtypes of `op` on `count` operands. The attribute DTYPE is what convert, bitcast,
 * draws and reductions were asked for. Fails with JOIST_ERROR_PROMOTION, or JOIST_ERROR_DTYPE when
 * the operation does not exist for the dtype. */
joist_status joist_infer(const struct joist_rules *rules, joist_op op,
                         const struct joist_operand *operands, size_t count,
                         const struct joist_attributes *attributes,
                         struct joist_signature *signature,
                         struct joist_error *error) JOIST_MUST_CHECK;

/* The table of the rules that joins the operands of an operation. */
joist_pair joist_op_pair(joist_op op);
/* The name by which functions that are rules know an operation: of its table, or its own. */
const char *joist_op_told(joist_op op);
/* Whether they are asked about it at all. */
bool joist_op_asks(joist_op op);

/* The fact of the rules that says what becomes of the joined type; JOIST_FACT_COUNT where the
 * operation has none for it. */
joist_fact joist_op_fact(const struct joist_rules *rules, joist_op op, joist_dtype joined);

/* The dtype that parts of a result are kept in until they are combined: for sums and means the
 * accumulator's, otherwise the dtype of the computation. */
joist_dtype joist_op_part_dtype(joist_op op, joist_dtype result);

/* Whether an R value is known to have elements beyond the range of a dtype. */
bool joist_literal_beyond(const struct joist_operand *operand, joist_dtype dtype);

/* Whether operand k is one that the rules gave the type `promoted`. */
bool joist_operand_promoted(joist_op op, size_t k, size_t count,
                            const struct joist_signature *signature);

/* The kinds of implicit promotion, of joist_change, that operand k sees. Those of a literal depend
 * on its value: joist_literal_changes() in its dtype of the signature. */
unsigned joist_operand_changes(joist_op op, const struct joist_operand *operand, size_t k,
                               size_t count, const struct joist_signature *signature);

#endif
