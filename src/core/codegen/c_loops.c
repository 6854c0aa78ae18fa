/* Loops and branches, and the bodies of both. */
#include "core/codegen/c_loops.h"

#include <stdio.h>

#include "core/base/bits.h"
#include "core/base/run.h"
#include "core/codegen/c_groups.h"
#include "core/codegen/c_moves.h"
#include "core/plan/storage.h"

static void add_body(struct writer *w, uint32_t b);

/* Sets the entries of the table of body b that are the array of its input k, or of its output. */
static void add_moves(struct writer *w, uint32_t b, bool input, uint32_t k, const char *pointer) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_program *const program = plan->program;
  for (uint32_t v = 0; v < program->value_count; v++) {
    const uint32_t root = plan->root[v];
    const uint32_t own = program->values[root].input;
    if (is_scalar(plan, v) || joist_c_is_local(w, b, v)) continue;
    if (input ? own == k : own == JOIST_NO_INPUT && plan->home[root] == k)
      ADD("A%u[%u] = (void *)(%s);\n", b, v, pointer);
  }
}

/* Input k of body b becomes what `from` names. */
static void add_input(struct writer *w, uint32_t b, uint32_t k, const char *from) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  for (uint32_t v = 0; v < plan->program->value_count; v++)
    if (plan->program->values[v].input == k) {
      if (is_scalar(plan, v))
        ADD("b%u_v%u = %s;\n", b, v, from);
      else if (joist_c_is_local(w, b, v))
        joist_c_add_elements(w, &plan->program->values[v], joist_c_name_of(w, b, v).text, from);
      else
        add_moves(w, b, true, k, from);
      return;
    }
}

static void add_captures(struct writer *w, uint32_t parent, const struct joist_instruction *i,
                         uint32_t b, uint32_t first_operand, uint32_t captures) {
  const uint32_t inputs = w->nest->body[b].plan->program->input_count;
  for (uint32_t k = 0; k < captures; k++)
    add_input(w, b, inputs - captures + k,
              joist_c_name_of(w, parent, i->operand[first_operand + k]).text);
}

/* Output k of body b, which is an array, is at `pointer`. */
static void add_finish(struct writer *w, uint32_t b, uint32_t k, const char *pointer) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_program *const program = plan->program;
  const uint32_t output = program->outputs[k], root = plan->root[output];
  if (program->values[root].input != JOIST_NO_INPUT || plan->home[root] != k)
    ADD("memcpy(%s, %s, %zu);\n", pointer, joist_c_name_of(w, b, output).text,
        joist_value_bytes(&program->values[output]));
}

static const char *type_of_output(const struct writer *w, uint32_t b, uint32_t k) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  return type_of_value(plan, plan->program->outputs[k]);
}

static void add_if(struct writer *w, uint32_t parent, uint32_t g,
                   const struct joist_instruction *i) {
  const struct joist_region_parts parts =
      joist_region_parts(w->nest->body[parent].plan->program, i);
  ADD("if (%s != 0) {\n", joist_c_name_of(w, parent, i->operand[0]).text);
  for (uint32_t r = 0; r < 2; r++) {
    const uint32_t b = joist_nest_find(w->nest, parent, g, r);
    const struct joist_program *const program = w->nest->body[b].plan->program;
    if (r == 1) ADD("} else {\n");
    add_captures(w, parent, i, b, 1 + (r == 0 ? 0 : parts.captures[0]), parts.captures[r]);
    for (uint32_t k = 0; k < program->output_count; k++)
      if (!is_scalar(w->nest->body[b].plan, program->outputs[k]))
        add_moves(w, b, false, k, joist_c_name_of(w, parent, i->result + k).text);
    add_body(w, b);
    for (uint32_t k = 0; k < program->output_count; k++) {
      const struct name result = joist_c_name_of(w, parent, i->result + k);
      if (is_scalar(w->nest->body[b].plan, program->outputs[k]))
        ADD("%s = %s;\n", result.text, joist_c_name_of(w, b, program->outputs[k]).text);
      else
        add_finish(w, b, k, result.text);
    }
  }
  ADD("}\n");
}

/* A loop being written: its carries are c<loop>_<k>, the next arrays of those that are arrays
 * o<loop>_<k>. */
struct loop {
  uint32_t number, parent, body;
  const struct joist_instruction *i;
  struct joist_region_parts parts;
};

/* c<loop>_<k> or o<loop>_<k>. */
static struct name numbered(char letter, const struct loop *l, uint32_t k) {
  struct name name;
  snprintf(name.text, sizeof name.text, "%c%u_%u", letter, l->number, k);
  return name;
}

static bool carry_is_scalar(const struct writer *w, const struct loop *l, uint32_t k) {
  return is_scalar(w->nest->body[l->parent].plan, l->i->result + k);
}

/* Whether a carry is a separate local array, which inputs and outputs of the body are copied from
 * and to. */
static bool carry_is_local(const struct writer *w, const struct loop *l, uint32_t k) {
  const struct joist_plan *const plan = w->nest->body[l->parent].plan;
  const size_t count = joist_value_count(&plan->program->values[l->i->result + k]);
  return count > 1 && count <= JOIST_C_LOCAL_MOST;
}

/* The input of a body that is the first carry; the body of a `for` has the iteration's number
 * first. */
static uint32_t first_carry(const struct joist_instruction *loop) {
  return loop->op == JOIST_OP_FOR ? 1 : 0;
}

/* Whether a carry is an array that is written to in place. */
static bool is_in_place(const struct writer *w, const struct loop *l, uint32_t k) {
  const struct joist_plan *const plan = w->nest->body[l->body].plan;
  const joist_value_id output = plan->program->outputs[k];
  return !is_scalar(plan, output) && !joist_c_is_local(w, l->body, output) &&
         joist_carry_is_in_place(plan, l->i, k);
}

static size_t spare_of(const struct writer *w, const struct loop *l, uint32_t k) {
  const struct joist_program *const program = w->nest->body[l->parent].plan->program;
  size_t at = w->nest->body[l->body].spare;
  for (uint32_t c = 0; c < k; c++)
    at +=
        joist_round_up(joist_value_bytes(&program->values[l->i->result + c]), JOIST_NEST_ALIGNMENT);
  return at;
}

static void begin_carries(struct writer *w, const struct loop *l) {
  const struct joist_plan *const plan = w->nest->body[l->parent].plan;
  for (uint32_t k = 0; k < l->parts.carries; k++) {
    const struct name from = joist_c_name_of(w, l->parent, l->i->operand[l->parts.first + k]);
    if (carry_is_scalar(w, l, k))
      ADD("%s c%u_%u = %s;\n", type_of_value(plan, l->i->result + k), l->number, k, from.text);
    else if (carry_is_local(w, l, k)) {
      const struct joist_value *const value = &plan->program->values[l->i->result + k];
      ADD("%s c%u_%u[%zu];\n", type_of_value(plan, l->i->result + k), l->number, k,
          joist_value_count(value));
      joist_c_add_elements(w, value, numbered('c', l, k).text, from.text);
    } else
      ADD("void *c%u_%u = %s;\n", l->number, k, from.text);
    if (is_in_place(w, l, k)) {
      const struct name result = joist_c_name_of(w, l->parent, l->i->result + k);
      joist_c_add_copy(w, result.text, numbered('c', l, k).text,
                       joist_value_bytes(&plan->program->values[l->i->result + k]));
      ADD("c%u_%u = %s;\n", l->number, k, result.text);
    }
  }
}

static void add_carries(struct writer *w, const struct loop *l, uint32_t b, uint32_t first) {
  for (uint32_t k = 0; k < l->parts.carries; k++)
    add_input(w, b, first + k, numbered('c', l, k).text);
}

/* One iteration: the body, then its results become the carries. `to_spare` is an expression:
 * whether arrays go to the spare memory. */
static void add_turn(struct writer *w, const struct loop *l, const char *to_spare) {
  const uint32_t given = first_carry(l->i);
  const struct joist_plan *const plan = w->nest->body[l->body].plan;
  add_carries(w, l, l->body, given);
  for (uint32_t k = 0; k < l->parts.carries; k++) {
    if (carry_is_scalar(w, l, k)) continue;
    if (carry_is_local(w, l, k)) {
      /* More elements, of a smaller dtype, may have waited in its array. */
      char spare[64];
      snprintf(spare, sizeof spare, "native->block + %zu", spare_of(w, l, k));
      add_moves(w, l->body, false, k, spare);
      continue;
    }
    const struct name next = numbered('o', l, k);
    if (is_in_place(w, l, k))
      ADD("void *const %s = c%u_%u;\n", next.text, l->number, k);
    else
      ADD("void *const %s = %s ? (void *)(native->block + %zu) : A%u[%u];\n", next.text, to_spare,
          spare_of(w, l, k), l->parent, l->i->result + k);
    add_moves(w, l->body, false, k, next.text);
  }
  add_body(w, l->body);
  for (uint32_t k = 0; k < l->parts.carries; k++)
    if (!carry_is_scalar(w, l, k) && !carry_is_local(w, l, k))
      add_finish(w, l->body, k, numbered('o', l, k).text);
  for (uint32_t k = 0; k < l->parts.carries; k++) {
    if (carry_is_scalar(w, l, k))
      ADD("c%u_%u = %s;\n", l->number, k,
          joist_c_name_of(w, l->body, plan->program->outputs[k]).text);
    else if (carry_is_local(w, l, k))
      joist_c_add_elements(w, &plan->program->values[plan->program->outputs[k]],
                           numbered('c', l, k).text,
                           joist_c_name_of(w, l->body, plan->program->outputs[k]).text);
    else
      ADD("c%u_%u = o%u_%u;\n", l->number, k, l->number, k);
  }
}

/* Roughly how many elements one iteration of a loop computes. */
static size_t work_of(const struct joist_plan *plan, const struct joist_instruction *loop) {
  size_t work = 1;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    const struct joist_group *const group = &plan->groups[g];
    const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
    work += group->kind == JOIST_GROUP_ELEMENTWISE ? group->count
                                                   : joist_elements_written(plan, loop, i->result);
  }
  return work;
}

static void add_poll(struct writer *w, const struct loop *l) {
  size_t work = work_of(w->nest->body[l->body].plan, l->i);
  if (work > JOIST_POLL_AFTER) work = JOIST_POLL_AFTER;
  ADD("if ((work += %zu) >= %d) {\nwork = 0;\nif (native->poll(native) != 0) return 1;\n}\n", work,
      JOIST_POLL_AFTER);
}

static void end_carries(struct writer *w, const struct loop *l) {
  const struct joist_program *const program = w->nest->body[l->parent].plan->program;
  for (uint32_t k = 0; k < l->parts.carries; k++) {
    const struct name result = joist_c_name_of(w, l->parent, l->i->result + k);
    if (carry_is_scalar(w, l, k))
      ADD("%s = c%u_%u;\n", result.text, l->number, k);
    else if (carry_is_local(w, l, k))
      joist_c_add_elements(w, &program->values[l->i->result + k], result.text,
                           numbered('c', l, k).text);
    else
      joist_c_add_copy(w, result.text, numbered('c', l, k).text,
                       joist_value_bytes(&program->values[l->i->result + k]));
  }
}

static const char *first_turn(const struct loop *l, const char *otherwise) {
  return l->parent == 0 ? "native->first_turn" : otherwise;
}

static void add_for(struct writer *w, const struct loop *l) {
  const struct joist_program *const body = w->nest->body[l->body].plan->program;
  char text[64];
  add_captures(w, l->parent, l->i, l->body, 1 + l->parts.carries, l->parts.captures[0]);
  ADD("const int64_t n%u = %s;\n", l->number, joist_c_name_of(w, l->parent, l->i->operand[0]).text);
  ADD("for (int64_t turn%u = %s; turn%u <= n%u; turn%u++) {\n", l->number, first_turn(l, "1"),
      l->number, l->number, l->number);
  joist_dtype index = JOIST_I64;
  for (uint32_t v = 0; v < body->value_count; v++)
    if (body->values[v].input == 0) index = body->values[v].type.dtype;
  joist_c_need_conversion(w, JOIST_I64, index);
  snprintf(text, sizeof text, "convert_I64_%s(turn%u)", joist_code_dtype(index), l->number);
  add_input(w, l->body, 0, text);
  snprintf(text, sizeof text, "(n%u - turn%u) %% 2 != 0", l->number, l->number);
  add_turn(w, l, text);
  add_poll(w, l);
  ADD("}\n");
}

static void add_while(struct writer *w, const struct loop *l, uint32_t condition) {
  const struct joist_program *const test = w->nest->body[condition].plan->program;
  char text[64];
  const uint32_t first = l->parts.carries;
  add_captures(w, l->parent, l->i, condition, first, l->parts.captures[0]);
  add_captures(w, l->parent, l->i, l->body, first + l->parts.captures[0], l->parts.captures[1]);
  ADD("for (int spare%u = 0;; spare%u = !spare%u) {\n", l->number, l->number, l->number);
  add_carries(w, l, condition, 0);
  add_body(w, condition);
  ADD("if (%s == 0) break;\n", joist_c_name_of(w, condition, test->outputs[0]).text);
  snprintf(text, sizeof text, "spare%u", l->number);
  add_turn(w, l, text);
  add_poll(w, l);
  ADD("}\n");
}

/* The slice of an array of a scan, or where one of its further results goes. */
static void add_slices(struct writer *w, const struct loop *l) {
  const struct joist_plan *const plan = w->nest->body[l->parent].plan;
  const struct joist_program *const body = w->nest->body[l->body].plan->program;
  const size_t turns = l->parts.turns;
  char text[96];
  for (uint32_t k = 0; k < l->parts.arrays; k++) {
    const joist_value_id array = l->i->operand[l->parts.carries + k];
    const struct joist_value *const value = &plan->program->values[array];
    const size_t bytes = joist_value_bytes(value) / turns;
    if (is_scalar(plan, array))
      snprintf(text, sizeof text, "b%u_v%u", l->parent, plan->root[array]);
    else if (joist_value_count(value) == turns)
      snprintf(text, sizeof text, "((const %s *)%s)[at%u]", type_of_value(plan, array),
               joist_c_name_of(w, l->parent, array).text, l->number);
    else
      snprintf(text, sizeof text, "(char *)%s + at%u * %zu",
               joist_c_name_of(w, l->parent, array).text, l->number, bytes);
    add_input(w, l->body, l->parts.carries + k, text);
  }
  for (uint32_t k = l->parts.carries; k < body->output_count; k++)
    if (!is_scalar(w->nest->body[l->body].plan, body->outputs[k])) {
      ADD("void *const o%u_%u = (char *)%s + at%u * %zu;\n", l->number, k,
          joist_c_name_of(w, l->parent, l->i->result + k).text, l->number,
          joist_value_bytes(&body->values[body->outputs[k]]));
      add_moves(w, l->body, false, k, numbered('o', l, k).text);
    }
}

static void add_collected(struct writer *w, const struct loop *l) {
  const struct joist_plan *const plan = w->nest->body[l->parent].plan;
  const struct joist_plan *const own = w->nest->body[l->body].plan;
  for (uint32_t k = l->parts.carries; k < own->program->output_count; k++) {
    const joist_value_id output = own->program->outputs[k];
    if (!is_scalar(own, output))
      add_finish(w, l->body, k, numbered('o', l, k).text);
    else if (is_scalar(plan, l->i->result + k))
      ADD("%s = %s;\n", joist_c_name_of(w, l->parent, l->i->result + k).text,
          joist_c_name_of(w, l->body, output).text);
    else
      ADD("((%s *)%s)[at%u] = %s;\n", type_of_output(w, l->body, k),
          joist_c_name_of(w, l->parent, l->i->result + k).text, l->number,
          joist_c_name_of(w, l->body, output).text);
  }
}

static void add_scan(struct writer *w, const struct loop *l) {
  const size_t turns = l->parts.turns;
  char text[64];
  add_captures(w, l->parent, l->i, l->body, l->parts.carries + l->parts.arrays,
               l->parts.captures[0]);
  ADD("for (size_t turn%u = %s%s; turn%u < %zu; turn%u++) {\n", l->number,
      l->parent == 0 ? "(size_t)" : "", first_turn(l, "0"), l->number, turns, l->number);
  ADD("const size_t at%u = ", l->number);
  if (joist_attribute_flag(l->i->attributes, JOIST_ATTRIBUTE_REVERSE))
    ADD("%zu - 1 - turn%u;\n(void)at%u;\n", turns, l->number, l->number);
  else
    ADD("turn%u;\n(void)at%u;\n", l->number, l->number);
  add_slices(w, l);
  snprintf(text, sizeof text, "(%zu - turn%u) %% 2 == 0", turns, l->number);
  add_turn(w, l, text);
  add_collected(w, l);
  add_poll(w, l);
  ADD("}\n");
}

void joist_c_add_region(struct writer *w, uint32_t parent, uint32_t g) {
  const struct joist_plan *const plan = w->nest->body[parent].plan;
  const struct joist_instruction *const i =
      &plan->program->instructions[plan->groups[g].instruction];
  if (i->op == JOIST_OP_IF) {
    add_if(w, parent, g, i);
    return;
  }
  const struct loop l = {.number = ++w->loops,
                         .parent = parent,
                         .body = joist_nest_find(w->nest, parent, g, i->region_count - 1),
                         .i = i,
                         .parts = joist_region_parts(plan->program, i)};
  ADD("{\n");
  begin_carries(w, &l);
  if (i->op == JOIST_OP_WHILE)
    add_while(w, &l, joist_nest_find(w->nest, parent, g, 0));
  else if (i->op == JOIST_OP_FOR)
    add_for(w, &l);
  else
    add_scan(w, &l);
  end_carries(w, &l);
  ADD("}\n");
}

static void add_body(struct writer *w, uint32_t b) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    const struct joist_group *const group = &plan->groups[g];
    if (group->kind == JOIST_GROUP_ELEMENTWISE)
      joist_c_add_group(w, b, g);
    else if (plan->program->instructions[group->instruction].region_count > 0)
      joist_c_add_region(w, b, g);
    else if (!joist_c_add_move(w, b, g))
      joist_c_add_call(w, b, g);
  }
}
