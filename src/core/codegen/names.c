/* Columns of dtypes.def and ops.def as text. */
#include "core/codegen/names.h"

#include "core/program/ops.h"

#define TYPE_TEXT(ID, KIND, T, FACTS, A, B) #T,
#define ID_TEXT(ID, KIND, T, FACTS, A, B) #ID,
#define KIND_TEXT(ID, KIND, T, FACTS, A, B) #KIND,

const char *joist_code_type(uint32_t dtype) {
  static const char *const texts[JOIST_DTYPE_COUNT] = {JOIST_DTYPES(TYPE_TEXT, , )};
  return texts[dtype];
}

const char *joist_code_dtype(uint32_t dtype) {
  static const char *const texts[JOIST_DTYPE_COUNT] = {JOIST_DTYPES(ID_TEXT, , )};
  return texts[dtype];
}

const char *joist_code_kind(uint32_t dtype) {
  static const char *const texts[JOIST_DTYPE_COUNT] = {JOIST_DTYPES(KIND_TEXT, , )};
  return texts[dtype];
}

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
