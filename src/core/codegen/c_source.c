/* Writing C: whole functions.
 *
 * Values of one element are variables b<body>_v<value>; arrays are found in the tables A<body>. */
#include "core/codegen/c_source.h"

#include <stdlib.h>
#include <string.h>

#include "core/codegen/c_loops.h"
#include "core/codegen/c_runs.h"
#include "core/codegen/native.h"

/* Whether the value of body 0 is an operand or a result of the loop. */
static bool is_outside(const struct writer *w, joist_value_id v) {
  const struct joist_plan *const plan = w->nest->body[0].plan;
  const struct joist_group *const group = &plan->groups[w->nest->body[1].group];
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  bool found = v >= i->result && v < i->result + i->result_count;
  for (uint32_t k = 0; k < i->operand_count; k++) found |= plan->root[i->operand[k]] == v;
  return found;
}

/* A variable for every value of one element that is an array of the plan, or an input. */
static void declare(struct writer *w, uint32_t b) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_program *const program = plan->program;
  joist_text_add(&w->variables, "void **const A%u = native->tables[%u];\n(void)A%u;\n", b, b, b);
  for (uint32_t v = 0; v < program->value_count; v++)
    if (is_scalar(plan, v) && plan->root[v] == v && (b > 0 || is_outside(w, v)) &&
        (plan->materialized[v] || program->values[v].input != JOIST_NO_INPUT))
      joist_text_add(&w->variables, "%s b%u_v%u = 0;\n(void)b%u_v%u;\n", type_of_value(plan, v), b,
                     v, b, v);
}

/* The local arrays of a body. The interpreter finds them in the table. */
static void declare_locals(struct writer *w, uint32_t b) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_program *const program = plan->program;
  for (uint32_t v = 0; v < program->value_count; v++) {
    if (is_scalar(plan, v) || !joist_c_is_local(w, b, v)) continue;
    const uint32_t root = plan->root[v];
    if (root == v)
      joist_text_add(&w->variables, "%s L%u_%u[%zu];\n(void)L%u_%u;\n", type_of_value(plan, v), b,
                     v, joist_value_count(&program->values[v]), b, v);
    if (w->calls[b]) joist_text_add(&w->variables, "A%u[%u] = L%u_%u;\n", b, v, b, root);
  }
}

/* The text with its blocks indented. */
static void add_indented(struct joist_text *to, const char *text) {
  int depth = 0;
  while (*text != '\0') {
    const char *const end = strchr(text, '\n');
    const int length = (int)(end == NULL ? (ptrdiff_t)strlen(text) : end - text);
    const int own = depth - (*text == '}');
    joist_text_add(to, "%*s%.*s\n", 2 * (own > 0 ? own : 0), "", length, text);
    for (int k = 0; k < length; k++) depth += (text[k] == '{') - (text[k] == '}');
    text += length + (end != NULL);
  }
}

static bool finish(struct writer *w, const char *head, bool wide) {
  struct joist_text whole = {0}, body = {0};
  const bool full = w->failed || w->helpers.failed || w->variables.failed || w->code.failed;
  if (!full) {
    joist_text_add(&body, "%s{\n%s%s", head, w->variables.data == NULL ? "" : w->variables.data,
                   w->code.data);
    joist_text_add(&whole, "%s#include \"core/codegen/c_prelude.h\"\n%s",
                   wide ? "#define JOIST_WIDE\n" : "",
                   w->helpers.data == NULL ? "" : w->helpers.data);
    if (body.failed)
      whole.failed = true;
    else
      add_indented(&whole, body.data);
  }
  joist_text_free(&body);
  if (whole.failed) joist_text_free(&whole);
  joist_text_free(&w->helpers);
  joist_text_free(&w->variables);
  joist_text_free(&w->code);
  free(w->lowered);
  w->made->text = whole.data;
  return whole.data != NULL;
}

static bool start(struct writer *w, struct joist_c_source *made) {
  made->text = NULL;
  made->fold_count = made->lost_count = 0;
  w->made = made;
  w->lowered = malloc(sizeof *w->lowered);
  return w->lowered != NULL;
}

bool joist_c_source_of_loop(const struct joist_nest *nest, struct joist_c_source *made) {
  struct writer *const w = calloc(1, sizeof *w);
  const struct joist_plan *const plan = nest->body[0].plan;
  const uint32_t g = nest->body[1].group;
  const struct joist_instruction *const i =
      &plan->program->instructions[plan->groups[g].instruction];
  bool well = w != NULL && start(w, made);
  if (well) {
    w->nest = nest;
    for (uint32_t b = 0; b < nest->count; b++) declare(w, b);
    ADD("uint32_t work = native->work;\n");
    for (uint32_t k = 0; k < i->operand_count; k++) joist_c_reload(w, 0, i->operand[k]);
    joist_c_add_region(w, 0, g);
    for (uint32_t k = 0; k < i->result_count; k++) joist_c_spill(w, 0, i->result + k);
    for (uint32_t b = 1; b < nest->count; b++) declare_locals(w, b);
    ADD("native->work = work;\nreturn 0;\n}\n");
    well = finish(w,
                  "JOIST_EXPORT int joist_generated(struct joist_native *native);\n"
                  "int joist_generated(struct joist_native *native) ",
                  false);
  }
  free(w);
  return well;
}

/* Whether all elements that the sinks fold are still there after the part has run: not if it writes
 * arrays that a sink reads, nor if two sinks read slots at the same place. */
static bool can_fold_after(const struct joist_plan *plan, const struct joist_group *group) {
  const struct joist_step *const steps = plan->steps + group->first_step;
  bool reads = false, writes = false;
  for (uint32_t s = 0; s < group->step_count; s++)
    for (uint32_t t = 0; t < s; t++)
      if (steps[s].kind == JOIST_STEP_FOLD && steps[t].kind == JOIST_STEP_FOLD &&
          !steps[s].in[0].array && !steps[t].in[0].array &&
          steps[s].in[0].index != steps[t].in[0].index &&
          plan->slot_offset[steps[s].in[0].index] == plan->slot_offset[steps[t].in[0].index])
        return false;
  for (uint32_t s = 0; s < group->step_count; s++) {
    reads |= steps[s].kind == JOIST_STEP_FOLD && steps[s].in[0].array;
    writes |= steps[s].kind != JOIST_STEP_FOLD && steps[s].out.array;
  }
  return !(reads && writes);
}

/* The constants of a part: its scalars, and where the elements of its sinks go. */
static void add_part_head(struct writer *w) {
  for (uint32_t s = 0; s < w->lowered->step_count; s++) {
    const struct joist_code_step *const step = &w->lowered->steps[s];
    const char *const type = joist_code_type(step->from);
    bool first = step->kind == JOIST_CODE_SCALAR;
    for (uint32_t t = 0; t < s; t++)
      first &= w->lowered->steps[t].kind != JOIST_CODE_SCALAR ||
               w->lowered->steps[t].in[0] != step->in[0];
    if (first)
      ADD("const %s c%u = *(const %s *)A0[%u];\n", type, step->in[0], type,
          w->lowered->array[step->in[0]]);
  }
  for (uint32_t s = 0; s < w->step_count; s++)
    if (w->steps[s].kind == JOIST_STEP_FOLD && !w->steps[s].in[0].array)
      ADD("%s *const f%u = folded[%u];\n", joist_code_type(w->steps[s].in[0].dtype),
          w->steps[s].sink, w->steps[s].sink);
}

bool joist_c_source_of_part(const struct joist_plan *plan, const struct joist_group *group,
                            struct joist_c_source *made) {
  const struct joist_code_options options = {.folds_widen = true, .watches = true};
  struct writer *const w = calloc(1, sizeof *w);
  bool well = w != NULL && start(w, made);
  if (well) {
    const struct place at = {.plan = plan, .manner = JOIST_C_RUN};
    w->steps = plan->steps + group->first_step;
    w->step_count = group->step_count;
    w->failed = group->sink_count > JOIST_NATIVE_SINKS || !can_fold_after(plan, group) ||
                !joist_code_lower(plan, group, options, w->lowered) ||
                joist_c_has_form(w, &at, JOIST_C_CHECKED, false);
    if (!w->failed) {
      ADD("const size_t last = first + n;\n");
      add_part_head(w);
      joist_c_begin_flags(w);
      joist_c_add_pointers(w, &at);
      if (joist_c_has_form(w, &at, JOIST_C_REPAIRED, false)) ADD("int any = 0;\n");
      joist_c_add_runs(w, &at);
      joist_c_end_flags(w, &at, "*wrapped");
    }
    ADD("}\n");
    well = finish(w,
                  "JOIST_EXPORT void joist_generated(size_t first, size_t n, void *const *A0, "
                  "void *const *folded, uint8_t *wrapped);\n"
                  "void joist_generated(size_t first, size_t n, void *const *A0, "
                  "void *const *folded, uint8_t *wrapped) ",
                  true);
  }
  free(w);
  return well;
}
