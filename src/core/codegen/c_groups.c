/* Elementwise groups, and what their sinks make. */
#include "core/codegen/c_groups.h"

#include "core/base/parallel.h"
#include "core/codegen/c_runs.h"
#include "core/codegen/c_text.h"
#include "core/kernels/kernels.h"

enum {
  FOLDED_BYTES = 32 * 1024,   /* of a group's elements that are kept for its sinks */
  CHECKED_MOST = REPAIR_CHUNK /* elements of a group that can fail: it runs again from its
                                       start */
};

/* The number of a fold in the table of the run. */
static uint32_t fold_number(struct writer *w, const struct joist_code_step *step) {
  struct joist_c_source *const made = w->made;
  const struct joist_c_fold fold = {(joist_op)step->op, (joist_dtype)step->from,
                                    (joist_dtype)step->to};
  for (uint32_t k = 0; k < made->fold_count; k++)
    if (made->fold[k].combine == fold.combine && made->fold[k].from == fold.from &&
        made->fold[k].accumulator == fold.accumulator)
      return k;
  if (made->fold_count == JOIST_C_FOLDS) {
    w->failed = true;
    return 0;
  }
  made->fold[made->fold_count] = fold;
  return made->fold_count++;
}

/* Whether one call of a fold, and no other pass, gives the results of the group's sinks. */
static bool folds_at_once(const struct joist_plan *plan, const struct joist_group *group) {
  const struct joist_fold_space space = group->space;
  if (space.middle > joist_fold_strip(space) || space.inner > group->tile ||
      space.inner > JOIST_ROWS_WIDTH)
    return false;
  const struct joist_step *const steps = plan->steps + group->first_step;
  for (uint32_t s = 0; s < group->step_count; s++) {
    if (steps[s].kind != JOIST_STEP_FOLD) continue;
    const struct joist_instruction *const i = &plan->program->instructions[steps[s].instruction];
    struct joist_fold_dims dims =
        joist_fold_dims(&plan->program->values[i->operand[0]].shape, i->dims);
    struct joist_fold_space next;
    const int d = joist_fold_next(&dims, &next);
    if (d >= 0) dims.extent[d] = 1;
    if (joist_fold_next(&dims, &next) >= 0) return false;
    if (group->count * steps[s].in[0].size > FOLDED_BYTES) return false;
  }
  return true;
}

/* After the elements of a group: each sink's results. */
static void add_folds(struct writer *w, const struct place *at, const struct joist_group *group) {
  const struct joist_program *const program = at->plan->program;
  const size_t inner = group->space.inner, length = group->space.middle;
  const size_t results = inner * group->space.outer;
  for (uint32_t s = 0; s < w->lowered->step_count; s++) {
    const struct joist_code_step *const fold = &w->lowered->steps[s];
    if (fold->kind != JOIST_CODE_FOLD) continue;
    const struct joist_instruction *const i = &program->instructions[w->lowered->instruction[s]];
    const uint32_t result = i->signature.result[0].dtype;
    const char *const type = joist_code_type(fold->to);
    joist_c_need_conversion(w, fold->from, fold->to);
    joist_c_need_conversion(w, fold->to, result);
    ADD("%s t%u[%zu];\n", type, fold->out, results);
    if (group->count == 1)
      ADD("t%u[0] = convert_%s_%s(f%u);\n", fold->out, joist_code_dtype(fold->from),
          joist_code_dtype(fold->to), fold->out);
    else if (inner == 1)
      ADD("native->folds[%u](%zu, %zu, ", fold_number(w, fold), results, length);
    else
      ADD("native->fold_rows(native, %u, %zu, %zu, %zu, ", fold_number(w, fold), inner, length,
          group->space.outer);
    if (group->count > 1 && joist_c_is_direct(w, fold))
      ADD("x%u, t%u);\n", joist_c_loaded_by(w, fold)->in[0], fold->out);
    else if (group->count > 1)
      ADD("f%u, t%u);\n", fold->out, fold->out);
    const bool mean = i->op == JOIST_OP_REDUCE_MEAN && length > 1;
    const bool one = is_scalar(at->plan, i->result);
    if (one)
      ADD("b%u_v%u = ", at->body, at->plan->root[i->result]);
    else
      ADD("for (size_t k = 0; k < %zu; k++) ((%s *)%s)[k] = ", results, joist_code_type(result),
          joist_c_name_of(w, at->body, i->result).text);
    ADD("convert_%s_%s(t%u[%s]", joist_code_dtype(fold->to), joist_code_dtype(result), fold->out,
        one ? "0" : "k");
    if (mean) ADD(" / (double)%zu", length);
    ADD(");\n");
  }
}

/* Sums whose results may not fit are looked at by the interpreter. */
static bool watches_sinks(const struct joist_plan *plan, const struct joist_group *group) {
  bool any = false;
  for (uint32_t s = 0; s < group->step_count; s++) {
    const struct joist_step *const step = &plan->steps[group->first_step + s];
    any |= step->kind == JOIST_STEP_FOLD && step->counts_wrapped;
  }
  return any;
}

/* Whether the rows that the walk writes are those in which the group's operands are read. */
static bool has_runs_of(const struct joist_code *code, const struct joist_walk *walk) {
  if (code->gather_count == 0) return true;
  bool same = code->rank == (uint32_t)walk->rank;
  for (uint32_t d = 0; d < code->rank && same; d++) same = code->extent[d] == walk->extent[d];
  return same;
}

/* Has the group write where the next one pads, if that is all that the next one is for. */
static void find_padded(struct writer *w, struct place *at, uint32_t g, struct joist_walk *walk) {
  struct joist_code *const code = w->lowered;
  bool direct = at->manner == JOIST_C_RUN && !joist_c_has_form(w, at, JOIST_C_REPAIRED, false) &&
                !joist_c_has_form(w, at, JOIST_C_CHECKED, false);
  for (uint32_t s = 0; s < code->step_count; s++)
    direct &= !joist_c_is_uniform_power(w, &code->steps[s]);
  for (uint32_t a = 0; a < code->array_count && direct; a++) {
    if (!joist_c_is_stored(w, a) || !joist_c_is_padded(w, at->body, g, code->array[a], walk))
      continue;
    if (!has_runs_of(code, walk)) return;
    at->padded = walk;
    at->padded_array = a;
    at->padded_to = at->plan->program->instructions[at->plan->groups[g + 1].instruction].result;
    code->rank = (uint32_t)walk->rank;
    for (int d = 0; d < walk->rank; d++) code->extent[d] = walk->extent[d];
    w->is_filled = true;
    return;
  }
}

void joist_c_add_group(struct writer *w, uint32_t b, uint32_t g) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_group *const group = &plan->groups[g];
  const struct joist_code_options options = {.folds_widen = true, .watches = true};
  struct place at = {.body = b,
                     .plan = plan,
                     .manner = group->count == 1 ? JOIST_C_ALONE : JOIST_C_RUN,
                     .count = group->count};
  if (group->count == 0) return;
  if (group->count * group->work >= JOIST_PARALLEL_FROM || /* which threads share */
      !joist_code_lower(plan, group, options, w->lowered) ||
      (group->sink_count > 0 && (!folds_at_once(plan, group) || watches_sinks(plan, group))) ||
      (joist_c_has_form(w, &at, JOIST_C_CHECKED, false) &&
       (group->count > CHECKED_MOST || (w->lowered->gather_count > 0 && w->lowered->rank > 1)))) {
    joist_c_add_call(w, b, g);
    return;
  }
  const struct joist_code *const code = w->lowered;
  const bool checks = joist_c_has_form(w, &at, JOIST_C_CHECKED, false);
  struct joist_walk walk;
  find_padded(w, &at, g, &walk);
  ADD("{\n");
  if (at.manner != JOIST_C_ALONE) {
    joist_c_begin_flags(w);
    joist_c_add_pointers(w, &at);
  }
  bool computes = false;
  for (uint32_t s = 0; s < code->step_count; s++) {
    const struct joist_code_step *const step = &code->steps[s];
    const bool fold = step->kind == JOIST_CODE_FOLD, direct = fold && joist_c_is_direct(w, step);
    computes |= step->kind != JOIST_CODE_LOAD && !direct;
    if (fold && at.manner == JOIST_C_ALONE)
      ADD("%s f%u;\n", joist_code_type(step->from), step->out);
    else if (fold && !direct)
      ADD("%s f%u[%zu];\n", joist_code_type(step->from), step->out, group->count);
  }
  if (at.manner == JOIST_C_ALONE) {
    if (checks) ADD("int odd = 0;\n");
    joist_c_add_steps(w, &at, false);
    if (checks) {
      ADD("if (odd) {\n");
      joist_c_add_call(w, b, g);
      ADD("return 1;\n}\n");
    }
  } else if (computes) {
    ADD("const size_t first = 0, last = %zu;\n", group->count);
    if (joist_c_has_form(w, &at, JOIST_C_REPAIRED, false) || checks) ADD("int any = 0;\n");
    joist_c_add_runs(w, &at);
    if (checks) {
      ADD("if (any) {\n");
      joist_c_add_call(w, b, g);
      ADD("return 1;\n}\n");
    } else if (joist_c_has_form(w, &at, JOIST_C_REPAIRED, false)) {
      ADD("(void)any;\n");
    }
  }
  if (at.manner != JOIST_C_ALONE) joist_c_end_flags(w, &at, "native->wrapped");
  if (group->sink_count > 0) add_folds(w, &at, group);
  ADD("}\n");
}
