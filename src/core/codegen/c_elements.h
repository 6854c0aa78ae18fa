/* C of the operations on one element. */
#ifndef JOIST_CORE_CODEGEN_C_ELEMENTS_H
#define JOIST_CORE_CODEGEN_C_ELEMENTS_H

#include "core/codegen/c_writer.h"

enum joist_c_form {
  JOIST_C_PLAIN,
  JOIST_C_CHECKED, /* fails where odd_OP_DTYPE() of the second operand holds */
  JOIST_C_REPAIRED /* is mend_OP_DTYPE() where odd_OP_DTYPE() holds; redo_OP_DTYPE() is that */
};

struct joist_c_expression {
  enum joist_c_form form;
  bool select; /* the first operand is a bool */
  int operands;
  const char *text, *condition, *repair;
};

/* The expression of an operation that is computed in `dtype`. Its functions, op_OP_DTYPE() and
 * the functions of the form, are written when it is first asked for. */
const struct joist_c_expression *joist_c_expression_of(struct writer *w, uint32_t op,
                                                       uint32_t dtype);

/* Makes sure of wraps_OP_DTYPE(operands), and of loses_FROM_TO(x): not 0 where a result or a
 * conversion does not fit. True if only the sign bit of the former counts. */
bool joist_c_need_wraps(struct writer *w, uint32_t op, uint32_t dtype);
/* The type of wraps_OP_DTYPE(): that of the operands, or the one of product_wraps_DTYPE(). */
const char *joist_c_wraps_type(uint32_t op, uint32_t dtype);
void joist_c_need_loses(struct writer *w, uint32_t from, uint32_t to);

/* Makes sure of many_OP_DTYPE(n, a, b, z), which computes a repaired operation on n elements and
 * one number. */
void joist_c_need_many(struct writer *w, uint32_t op, uint32_t dtype);

#endif
