/* Values, conversions, calls of the interpreter. */
#include "core/codegen/c_writer.h"

#include <stdio.h>

bool joist_c_is_local(const struct writer *w, uint32_t b, joist_value_id v) {
  const struct joist_nest_body *const body = &w->nest->body[b];
  const struct joist_plan *const plan = body->plan;
  const uint32_t root = plan->root[v], home = plan->home[root];
  const uint32_t input = plan->program->values[root].input;
  const size_t count = joist_value_count(&plan->program->values[v]);
  if (b == 0 || count < 2 || count > JOIST_C_LOCAL_MOST) return false;
  if (input == JOIST_NO_INPUT && home == JOIST_NO_HOME) return plan->materialized[root];
  const struct joist_plan *const outside = w->nest->body[body->parent].plan;
  const struct joist_instruction *const i =
      &outside->program->instructions[outside->groups[body->group].instruction];
  if (i->op == JOIST_OP_IF) return false;
  const bool turns = body->region + 1 == i->region_count; /* not the condition of a `while` */
  const uint32_t carries = joist_region_parts(outside->program, i).carries;
  const uint32_t first = i->op == JOIST_OP_FOR ? 1 : 0;
  return input == JOIST_NO_INPUT ? turns && home < carries
                                 : input >= first && input < first + carries;
}

struct name joist_c_name_of(const struct writer *w, uint32_t b, joist_value_id v) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  struct name name;
  if (is_scalar(plan, v))
    snprintf(name.text, sizeof name.text, "b%u_v%u", b, plan->root[v]);
  else if (joist_c_is_local(w, b, v))
    snprintf(name.text, sizeof name.text, "L%u_%u", b, plan->root[v]);
  else
    snprintf(name.text, sizeof name.text, "A%u[%u]", b, v);
  return name;
}

void joist_c_need_conversion(struct writer *w, uint32_t from, uint32_t to) {
  if (w->has_conversion[from][to]) return;
  w->has_conversion[from][to] = true;
  if (from == to)
    joist_text_add(&w->helpers, "JOIST_INLINE %s convert_%s_%s(%s x) { return x; }\n",
                   joist_code_type(to), joist_code_dtype(from), joist_code_dtype(to),
                   joist_code_type(from));
  else
    joist_text_add(&w->helpers,
                   "JOIST_INLINE %s convert_%s_%s(%s x) {\n"
                   "  return STORE_%s(%s, %s, load_%s(x));\n}\n",
                   joist_code_type(to), joist_code_dtype(from), joist_code_dtype(to),
                   joist_code_type(from), joist_code_kind(to), joist_code_dtype(to),
                   joist_code_type(to), joist_code_dtype(from));
}

void joist_c_spill(struct writer *w, uint32_t b, joist_value_id v) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  if (is_scalar(plan, v))
    ADD("*(%s *)A%u[%u] = b%u_v%u;\n", type_of_value(plan, v), b, v, b, plan->root[v]);
}

void joist_c_reload(struct writer *w, uint32_t b, joist_value_id v) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  if (is_scalar(plan, v))
    ADD("b%u_v%u = *(const %s *)A%u[%u];\n", b, plan->root[v], type_of_value(plan, v), b, v);
}

void joist_c_add_copy(struct writer *w, const char *to, const char *from, size_t bytes) {
  ADD("if (%s != %s) memcpy(%s, %s, %zu);\n", to, from, to, from, bytes);
}

void joist_c_add_elements(struct writer *w, const struct joist_value *value, const char *to,
                          const char *from) {
  const char *const type = joist_code_type(value->type.dtype);
  for (size_t k = 0; k < joist_value_count(value); k++)
    ADD("((%s *)%s)[%zu] = ((const %s *)%s)[%zu];\n", type, to, k, type, from, k);
}

void joist_c_add_call(struct writer *w, uint32_t b, uint32_t g) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_group *const group = &plan->groups[g];
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  const struct joist_step *const steps = plan->steps + group->first_step;
  w->calls[b] = true;
  if (group->kind == JOIST_GROUP_ARRAY)
    for (uint32_t k = 0; k < i->operand_count; k++) joist_c_spill(w, b, i->operand[k]);
  for (uint32_t s = 0; s < group->step_count; s++)
    for (uint32_t k = 0; k < steps[s].operand_count; k++)
      if (steps[s].in[k].array) joist_c_spill(w, b, steps[s].in[k].index);
  ADD("if (native->group(native, %u, %u) != 0) return 1;\n", b, g);
  if (group->kind == JOIST_GROUP_ARRAY)
    for (uint32_t k = 0; k < i->result_count; k++) joist_c_reload(w, b, i->result + k);
  for (uint32_t s = 0; s < group->step_count; s++) {
    if (steps[s].kind == JOIST_STEP_FOLD)
      joist_c_reload(w, b, plan->program->instructions[steps[s].instruction].result);
    else if (steps[s].out.array)
      joist_c_reload(w, b, steps[s].out.index);
  }
}
