/* What the files that write C share. Private to them. */
#ifndef JOIST_CORE_CODEGEN_C_WRITER_H
#define JOIST_CORE_CODEGEN_C_WRITER_H

#include "core/base/text.h"
#include "core/codegen/lower.h"
#include "core/codegen/names.h"
#include "core/codegen/nest.h"

struct joist_c_source;

struct writer {
  const struct joist_nest *nest; /* NULL for a part of a group */
  struct joist_text helpers, variables, code;
  struct joist_c_source *made;
  struct joist_code *lowered;     /* the group at hand */
  const struct joist_step *steps; /* of the plan: of a part */
  uint32_t step_count;
  uint32_t loops; /* so far: numbers names */
  bool is_filled; /* the next group, a pad, has its elements in place already */
  bool failed;
  bool calls[JOIST_NEST_MAX]; /* per body: the interpreter runs one of its groups */
  bool has_op[JOIST_OP_COUNT][JOIST_DTYPE_COUNT];
  bool has_wraps[JOIST_OP_COUNT][JOIST_DTYPE_COUNT];
  bool has_loses[JOIST_DTYPE_COUNT][JOIST_DTYPE_COUNT];
  bool has_many[JOIST_OP_COUNT][JOIST_DTYPE_COUNT];
  bool has_conversion[JOIST_DTYPE_COUNT][JOIST_DTYPE_COUNT];
};

#define ADD(...) joist_text_add(&w->code, __VA_ARGS__)

static inline const char *type_of_value(const struct joist_plan *plan, joist_value_id v) {
  return joist_code_type(plan->program->values[v].type.dtype);
}

static inline bool is_scalar(const struct joist_plan *plan, joist_value_id v) {
  return joist_nest_is_scalar(plan, v);
}

/* Arrays of few elements that no other body shares are variables, too, whose elements compilers
 * keep in registers: temporaries, and what a loop carries. */
enum { JOIST_C_LOCAL_MOST = 8 };
bool joist_c_is_local(const struct writer *w, uint32_t b, joist_value_id v);

/* Of a value of a body, an expression: the variable or the array. */
struct name {
  char text[64];
};
struct name joist_c_name_of(const struct writer *w, uint32_t b, joist_value_id v);

/* Makes sure of the function convert_FROM_TO. */
void joist_c_need_conversion(struct writer *w, uint32_t from, uint32_t to);

/* A variable to its place in memory, and back; nothing for arrays. */
void joist_c_spill(struct writer *w, uint32_t b, joist_value_id v);
void joist_c_reload(struct writer *w, uint32_t b, joist_value_id v);

/* Copies an array of so many bytes, unless both are one. */
void joist_c_add_copy(struct writer *w, const char *to, const char *from, size_t bytes);

/* Copies an array of the shape and dtype of a value, one of them being local, element by element.
 */
void joist_c_add_elements(struct writer *w, const struct joist_value *value, const char *to,
                          const char *from);

/* Has the interpreter run a group. */
void joist_c_add_call(struct writer *w, uint32_t b, uint32_t g);

#endif
