/* Functions of one element, of the expressions of ops.def as text. */
#include "core/codegen/c_elements.h"

static const struct joist_c_expression expressions[JOIST_OP_COUNT][JOIST_KIND_COMPLEX + 1] = {
/* The other words have another length. */
#define IS_SELECT(RESULT) (sizeof #RESULT == sizeof "SELECT")
#define KERNEL(ID, KIND, OPERANDS, RESULT, EXPRESSION) \
  [JOIST_OP_##ID][JOIST_KIND_##KIND] = {               \
      JOIST_C_PLAIN, IS_SELECT(RESULT), OPERANDS, #EXPRESSION, NULL, NULL},
#define COMBINE(ID, KIND, EXPRESSION) \
  [JOIST_OP_##ID][JOIST_KIND_##KIND] = {JOIST_C_PLAIN, false, 2, #EXPRESSION, NULL, NULL},
#define CHECKED(ID, KIND, FAILURE, EXPRESSION) \
  [JOIST_OP_##ID][JOIST_KIND_##KIND] = {JOIST_C_CHECKED, false, 2, #EXPRESSION, #FAILURE, NULL},
#define REPAIRED(ID, KIND, OPERANDS, EXPRESSION, CONDITION, REPAIR)             \
  [JOIST_OP_##ID][JOIST_KIND_##KIND] = {JOIST_C_REPAIRED, false,      OPERANDS, \
                                        #EXPRESSION,      #CONDITION, #REPAIR},
#include "core/program/ops.def"
};

static void add_parameters(struct joist_text *text, const struct joist_c_expression *e,
                           const char *type) {
  static const char names[] = "abc";
  for (int k = 0; k < e->operands; k++)
    joist_text_add(text, "%sconst %s %c", k > 0 ? ", " : "", e->select && k == 0 ? "uint8_t" : type,
                   e->select && k == 0 ? 'p' : names[k]);
}

static void add_unused(struct joist_text *text, const struct joist_c_expression *e) {
  static const char names[] = "abc";
  for (int k = e->select ? 1 : 0; k < e->operands; k++)
    joist_text_add(text, "  (void)%c;\n", names[k]);
}

/* NAME_OP_DTYPE(operands), a call. */
static void add_call(struct joist_text *text, const struct joist_c_expression *e, const char *name,
                     uint32_t op, uint32_t dtype) {
  static const char *const names[] = {"a", "a, b", "a, b, c"};
  joist_text_add(text, "%s_%s_%s(%s)", name, joist_code_op(op), joist_code_dtype(dtype),
                 names[e->operands - 1]);
}

/* Repairs one element, in a separate function, because it is rarely called. */
static void add_redo(struct writer *w, const struct joist_c_expression *e, uint32_t op,
                     uint32_t dtype, const char *result) {
  joist_text_add(&w->helpers, "JOIST_APART %s redo_%s_%s(", result, joist_code_op(op),
                 joist_code_dtype(dtype));
  add_parameters(&w->helpers, e, joist_code_type(dtype));
  joist_text_add(&w->helpers, ") {\n  return ");
  add_call(&w->helpers, e, "odd", op, dtype);
  joist_text_add(&w->helpers, " ? ");
  add_call(&w->helpers, e, "mend", op, dtype);
  joist_text_add(&w->helpers, " : ");
  add_call(&w->helpers, e, "op", op, dtype);
  joist_text_add(&w->helpers, ";\n}\n");
}

/* static inline RESULT NAME_OP_DTYPE(operands) { typedef T; return EXPRESSION; } */
static void add_function(struct writer *w, const char *name, uint32_t op, uint32_t dtype,
                         const char *result, const char *expression) {
  const struct joist_c_expression *const e = &expressions[op][joist_dtype_kind((joist_dtype)dtype)];
  const char *const type = joist_code_type(dtype);
  joist_text_add(&w->helpers, "JOIST_INLINE %s %s_%s_%s(", result, name, joist_code_op(op),
                 joist_code_dtype(dtype));
  add_parameters(&w->helpers, e, type);
  joist_text_add(&w->helpers, ") {\n  typedef %s T;\n", type);
  add_unused(&w->helpers, e);
  joist_text_add(&w->helpers, "  return (%s)(%s);\n}\n", result, expression);
}

const struct joist_c_expression *joist_c_expression_of(struct writer *w, uint32_t op,
                                                       uint32_t dtype) {
  const struct joist_c_expression *const e = &expressions[op][joist_dtype_kind((joist_dtype)dtype)];
  if (e->text == NULL) {
    w->failed = true;
    return e;
  }
  if (w->has_op[op][dtype]) return e;
  w->has_op[op][dtype] = true;
  const char *const made = joist_code_type(joist_op_result((joist_op)op, (joist_dtype)dtype));
  add_function(w, "op", op, dtype, made, e->text);
  if (e->condition != NULL) add_function(w, "odd", op, dtype, "int", e->condition);
  if (e->repair != NULL) {
    add_function(w, "mend", op, dtype, made, e->repair);
    add_redo(w, e, op, dtype, made);
  }
  return e;
}

void joist_c_need_many(struct writer *w, uint32_t op, uint32_t dtype) {
  if (w->has_many[op][dtype]) return;
  w->has_many[op][dtype] = true;
  (void)joist_c_expression_of(w, op, dtype);
  const char *const o = joist_code_op(op), *const d = joist_code_dtype(dtype);
  const char *const from = joist_code_type(dtype);
  const char *const made = joist_code_type(joist_op_result((joist_op)op, (joist_dtype)dtype));
  joist_text_add(&w->helpers,
                 "JOIST_APART void many_%s_%s(size_t n, const %s *a, %s b, %s *z) {\n"
                 "  int odd = 0;\n"
                 "  JOIST_VECTORIZE_LOOP for (size_t k = 0; k < n; k++) {\n"
                 "    z[k] = op_%s_%s(a[k], b);\n    odd |= odd_%s_%s(a[k], b);\n  }\n"
                 "  if (!odd) return;\n"
                 "  for (size_t k = 0; k < n; k++) z[k] = redo_%s_%s(a[k], b);\n}\n",
                 o, d, from, from, made, o, d, o, d, o, d);
}

/* What WRAPS says. */
struct wrapping {
  const char *wraps, *may;
  bool sign;
};

static struct wrapping wrapping_of(uint32_t op, uint32_t dtype) {
#define IN_SIGN(BITS) BITS, true
#define IN_ANY(BITS) BITS, false
#define IN_PRODUCT(BITS) "PRODUCT_HOLDS(" BITS ")", false
  static const struct wrapping stated[JOIST_OP_COUNT][JOIST_KIND_COMPLEX + 1] = {
#define WRAPS(ID, KIND, OPERANDS, HOW, TEST, MAY, WRAP, BELOW) \
  [JOIST_OP_##ID][JOIST_KIND_##KIND] = {#WRAP, IN_##TEST(#MAY)},
#include "core/program/ops.def"
  };
  struct wrapping made = stated[op][joist_dtype_kind((joist_dtype)dtype)];
  /* Quick code that says nothing but that something may wrap would have the program run again. */
  if (op == JOIST_OP_POW || op == JOIST_OP_MUL) made.may = made.wraps;
  return made;
}

const char *joist_c_wraps_type(uint32_t op, uint32_t dtype) {
  if (op != JOIST_OP_MUL) return joist_code_type(dtype);
  return joist_dtype_size((joist_dtype)dtype) > sizeof(int16_t) ? "int64_t" : "int16_t";
}

bool joist_c_need_wraps(struct writer *w, uint32_t op, uint32_t dtype) {
  const struct wrapping wrapping = wrapping_of(op, dtype);
  if (w->has_wraps[op][dtype]) return wrapping.sign;
  w->has_wraps[op][dtype] = true;
  add_function(w, "wraps", op, dtype, joist_c_wraps_type(op, dtype), wrapping.may);
  return wrapping.sign;
}

void joist_c_need_loses(struct writer *w, uint32_t from, uint32_t to) {
  if (w->has_loses[from][to]) return;
  w->has_loses[from][to] = true;
  const joist_kind kind = joist_dtype_kind((joist_dtype)from);
  const joist_kind target = joist_dtype_kind((joist_dtype)to);
  const bool whole = kind == JOIST_KIND_INT || kind == JOIST_KIND_UINT;
  joist_c_need_conversion(w, from, to);
  joist_c_need_conversion(w, to, from);
  const char *const f = joist_code_dtype(from), *const t = joist_code_dtype(to);
  const char *const type = joist_code_type(from), *const other = joist_code_type(to);
  if (kind == JOIST_KIND_COMPLEX || target == JOIST_KIND_COMPLEX) w->failed = true;
  joist_text_add(&w->helpers,
                 "JOIST_INLINE int loses_%s_%s(%s x) {\n  const %s y = convert_%s_%s(x);\n"
                 "  const %s back = convert_%s_%s(y);\n",
                 f, t, type, other, f, t, type, t, f);
  if (!whole)
    joist_text_add(&w->helpers, "  return back != x && x == x;\n}\n");
  else if (target != JOIST_KIND_FLOAT)
    joist_text_add(&w->helpers, "  return back != x || (x < 0) != (y < 0);\n}\n");
  else if (joist_dtype_digits((joist_dtype)to) < joist_dtype_digits((joist_dtype)from))
    /* The greatest integer is rounded up, and back again. */
    joist_text_add(&w->helpers, "  return back != x || x == (%s)%lluu;\n}\n", type,
                   (unsigned long long)joist_dtype_max_int((joist_dtype)from));
  else
    joist_text_add(&w->helpers, "  return back != x;\n}\n");
}
