/* Columns of dtypes.def and ops.def as text. */
#include "core/codegen/names.h"

#include "core/program/ops.h"

#define DTYPE_TEXT(FUNCTION, TEXT)                                                \
  const char *FUNCTION(uint32_t dtype) {                                          \
    static const char *const texts[JOIST_DTYPE_COUNT] = {JOIST_DTYPES(TEXT, , )}; \
    return texts[dtype];                                                          \
  }
#define TYPE_TEXT(ID, KIND, T, FACTS, A, B) #T,
#define ID_TEXT(ID, KIND, T, FACTS, A, B) #ID,
#define KIND_TEXT(ID, KIND, T, FACTS, A, B) #KIND,
DTYPE_TEXT(joist_code_type, TYPE_TEXT)
DTYPE_TEXT(joist_code_dtype, ID_TEXT)
DTYPE_TEXT(joist_code_kind, KIND_TEXT)

const char *joist_code_op(uint32_t op) {
  static const char *const ids[JOIST_OP_COUNT] = {
#define OP(ID, NAME, OPERANDS, CLASS, KINDS, GENERIC) #ID,
#define STEP(ID, NAME, CLASS, ATTRIBUTES) #ID,
#define REDUCTION(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES, GENERIC) #ID,
#define CUMULATIVE(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES) #ID,
#define ARRAY(ID, NAME, LEAST, MOST, RESULTS, CLASS, KINDS, ATTRIBUTES, FUNCTION) #ID,
#define REGIONS(ID, NAME, LEAST, COUNT, ATTRIBUTES) #ID,
#include "core/program/ops.def"
  };
  return ids[op];
}
