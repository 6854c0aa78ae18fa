/* Sites: loops and groups of a plan and their compiled code. */
#include "core/cpu/native.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/base/tally.h"
#include "core/codegen/c_source.h"
#include "core/codegen/native.h"
#include "core/cpu/native_compile.h"
#include "core/cpu/row_fold.h"
#include "core/cpu/steps.h"
#include "core/kernels/kernels.h"
#include "core/plan/storage.h"
#include "core/types/error.h"

/* About so many nanoseconds of the interpreter are worth a compilation, and FEWER times fewer where
 * another part of the plan is compiled: what runs beside it will run again. While a loop runs, the
 * compiler is not started before LONG_RUN: it slows down what runs beside it, and a short run,
 * which may be the only one, has its result before there is any code. */
enum {
  WORTH = 5000000,
  LONG_RUN = 20 * WORTH,
  PART_WORTH = 4 * WORTH,
  LOOK_WORTH = WORTH / 8,
  FEWER = 20,
  GROUP_COST = 30,
  STEP_COST = 15,
  ELEMENTS_PER_COST = 4
};

/* What the compiled code of a loop is run with. */
struct setting {
  struct joist_nest nest;
  joist_fold *folds[JOIST_C_FOLDS];
  struct joist_row_fold row_folds[JOIST_C_FOLDS];
  struct joist_c_lost lost[JOIST_C_LOST];
  uint32_t lost_count;
};

/* The state of the compiled code of a loop or group. */
struct code {
  size_t work;  /* done by the interpreter */
  bool refused; /* no source can be written */
  struct joist_native_entry *entry;
  void *function; /* NULL before it is compiled */
  size_t kernels; /* number of the instruction set it is compiled for */
};

struct site {
  struct joist_attached attached;
  struct code code;
  size_t turn;             /* of a loop: the cost of one iteration */
  struct setting *setting; /* of a loop: NULL before there is an entry */
};

/* Whether there is compiled code, for the instruction set in use. */
static bool is_compiled(struct code *code) {
  if (code->entry != NULL && code->kernels != joist_kernels_number()) {
    code->entry = NULL;
    code->function = NULL;
  }
  return code->function != NULL;
}

/* The text that the code is compiled from. */
static void set_text(struct code *code, const char *text, bool wide) {
  code->entry = joist_native_entry_of(text, wide);
  code->refused = code->entry == NULL;
  code->kernels = joist_kernels_number();
}

/* Asks for the function of the text, if there is one; with `compile`, it is compiled. */
static joist_status ask(struct code *code, bool compile, const struct joist_run *run,
                        struct joist_error *error) {
  if (code->entry == NULL) return JOIST_OK;
  return joist_native_function(code->entry, compile, run, &code->function, error);
}

static void free_site(struct joist_attached *attached) {
  free(((struct site *)(void *)attached)->setting);
  free(attached);
}

/* The number of iterations of a loop; 1 if it is unknown, or if the instruction is not a loop. */
static size_t turns_of(const struct joist_program *program, const struct joist_instruction *i) {
  if (i->op == JOIST_OP_SCAN) return joist_region_parts(program, i).turns;
  const int64_t turns =
      i->op == JOIST_OP_FOR ? joist_attribute_at(i->attributes, JOIST_ATTRIBUTE_TURNS, 0) : 1;
  return turns < 0 ? 1 : (size_t)turns;
}

static size_t cost_of(const struct joist_plan *plan);

static size_t cost_of_bodies(const struct joist_plan *plan, const struct joist_group *group) {
  const uint32_t regions = plan->program->instructions[group->instruction].region_count;
  size_t cost = 0;
  for (uint32_t r = 0; r < regions; r++) cost += cost_of(plan->bodies[group->first_body + r]);
  return cost;
}

/* About the nanoseconds that the interpreter needs for one run of a plan's groups. A loop counts
 * WORTH at most, which is enough for it to be compiled. */
static size_t cost_of(const struct joist_plan *plan) {
  size_t cost = 0;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    const struct joist_group *const group = &plan->groups[g];
    const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
    cost += GROUP_COST + group->step_count * STEP_COST +
            group->step_count * group->count / ELEMENTS_PER_COST;
    if (i->region_count == 0) continue;
    const size_t bodies = cost_of_bodies(plan, group), turns = turns_of(plan->program, i);
    cost += turns > WORTH / (bodies + 1) ? (size_t)WORTH : turns * bodies;
  }
  return cost;
}

static bool is_loop(const struct joist_plan *plan, const struct joist_group *group) {
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  return i->region_count > 0 && i->op != JOIST_OP_IF;
}

static struct site *site_of(const struct joist_plan *plan, const struct joist_group *group) {
  struct joist_group *const own = &plan->groups[group - plan->groups];
  if (own->attached == NULL) {
    struct site *const made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    made->attached.free = free_site;
    made->turn = cost_of_bodies(plan, group);
    own->attached = &made->attached;
  }
  return (struct site *)(void *)own->attached;
}

/* Writes the source of a loop, if it has one. */
static void write_source(struct site *site, const struct joist_plan *plan,
                         const struct joist_group *group) {
  struct joist_c_source made;
  if (site->setting == NULL) site->setting = malloc(sizeof *site->setting);
  site->code.refused = true;
  if (site->setting == NULL || !joist_nest_make(plan, group, &site->setting->nest)) return;
  if (!joist_c_source_of_loop(&site->setting->nest, &made)) return;
  set_text(&site->code, made.text, false);
  memcpy(site->setting->lost, made.lost, made.lost_count * sizeof *made.lost);
  site->setting->lost_count = made.lost_count;
  for (uint32_t k = 0; k < made.fold_count; k++) {
    const struct joist_c_fold f = made.fold[k];
    site->setting->folds[k] = joist_fold_find(f.combine, f.from, f.accumulator);
    site->setting->row_folds[k] =
        (struct joist_row_fold){joist_rows_find(f.combine, f.from, f.accumulator),
                                joist_kernel_find(f.combine, f.accumulator),
                                joist_dtype_size(f.from), joist_dtype_size(f.accumulator)};
  }
  free(made.text);
}

/* Whether a loop or group has done enough to be compiled. `alone` is what it takes where nothing
 * else of the plan is. */
static bool has_done_enough(const struct joist_plan *plan, const struct code *code, size_t alone) {
  if (code->work >= alone) return true;
  if (code->work < alone / FEWER) return false;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    const struct site *const other = (const struct site *)(const void *)plan->groups[g].attached;
    if (other != NULL && other->code.entry != NULL) return true;
  }
  return false;
}

joist_status joist_native_look(const struct joist_plan *plan, const struct joist_group *group,
                               size_t turns, const struct joist_run *run, bool *ready,
                               struct joist_error *error) {
  *ready = false;
  if (run->native == JOIST_NATIVE_NEVER) return JOIST_OK;
  struct site *const site = site_of(plan, group);
  if (site == NULL || site->code.refused) return JOIST_OK;
  *ready = is_compiled(&site->code);
  if (*ready) return JOIST_OK;
  site->code.work += turns * site->turn;
  const bool waits = run->native == JOIST_NATIVE_WAIT;
  const bool enough = waits || has_done_enough(plan, &site->code, WORTH);
  /* Code that is there already is worth its text before a long run. */
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  if (!enough && turns_of(plan->program, i) < PART_WORTH / (site->turn + 1)) return JOIST_OK;
  if (site->code.entry == NULL && joist_native_is_configured()) write_source(site, plan, group);
  const bool compile = waits || (enough && (turns == 0 || site->code.work >= LONG_RUN));
  const joist_status status = ask(&site->code, compile, run, error);
  *ready = site->code.function != NULL;
  return status;
}

bool joist_native_is_possible(const struct joist_plan *plan, const struct joist_group *group,
                              const struct joist_run *run) {
  if (run->native == JOIST_NATIVE_NEVER) return false;
  const struct site *const site = site_of(plan, group);
  if (site == NULL || site->code.refused) return false;
  return site->code.entry == NULL ? joist_native_is_configured()
                                  : joist_native_may_come(site->code.entry);
}

/* ---- running ---- */

struct run {
  struct joist_native native; /* the first member: callbacks get its address */
  const struct setting *setting;
  joist_group_runner *run_group;
  const struct joist_run *settings;
  struct joist_error *error;
  joist_status status;
};

static int poll(struct joist_native *native) {
  struct run *const run = (struct run *)(void *)native;
  run->status = joist_run_poll(run->settings, run->error);
  return run->status != JOIST_OK;
}

static int call_group(struct joist_native *native, uint32_t body, uint32_t group) {
  struct run *const run = (struct run *)(void *)native;
  const struct joist_plan *const plan = run->setting->nest.body[body].plan;
  run->status =
      run->run_group(plan, &plan->groups[group], native->tables[body], run->settings, run->error);
  return run->status != JOIST_OK;
}

static void fold_rows(struct joist_native *native, uint32_t fold, size_t inner, size_t middle,
                      size_t outer, const void *in, void *out) {
  const struct run *const run = (const struct run *)(const void *)native;
  joist_row_fold_run(&run->setting->row_folds[fold],
                     (struct joist_fold_space){.inner = inner, .middle = middle, .outer = outer},
                     in, out);
}

/* Reports what compiled code counted. */
static void add_lost(const struct setting *setting, const struct joist_native *native,
                     struct joist_tally *tally) {
  for (uint32_t k = 0; k < setting->lost_count && tally != NULL; k++)
    joist_tally_add(tally, setting->nest.body[setting->lost[k].body].plan->program,
                    setting->lost[k].instruction,
                    setting->lost[k].converts ? JOIST_FOUND_LOSS : JOIST_FOUND_OVERFLOW,
                    native->lost[k], native->first[k] == SIZE_MAX ? 0 : native->first[k]);
}

/* Enters the values whose place in the block does not change. */
static void place(const struct joist_nest_body *body, char *block, void **table) {
  const struct joist_plan *const plan = body->plan;
  const struct joist_program *const program = plan->program;
  char *const slots = block + body->slots;
  for (uint32_t v = 0; v < program->value_count; v++) {
    const uint32_t root = plan->root[v], home = plan->home[root];
    const bool made = program->values[root].input == JOIST_NO_INPUT;
    table[v] = NULL;
    if (joist_nest_is_scalar(plan, v))
      table[v] = slots + (size_t)root * JOIST_NEST_SLOT;
    else if (made && home == JOIST_NO_HOME && plan->materialized[root])
      table[v] = block + body->scratch + plan->offset[root];
    else if (made && home != JOIST_NO_HOME && joist_nest_is_scalar(plan, program->outputs[home]))
      table[v] = slots + (size_t)plan->root[program->outputs[home]] * JOIST_NEST_SLOT; /* waits */
  }
}

joist_status joist_native_run(const struct joist_plan *plan, const struct joist_group *group,
                              void *const *arrays, const void *const *current, int64_t first_turn,
                              joist_group_runner *run_group, const struct joist_run *settings,
                              struct joist_error *error) {
  struct site *const site = site_of(plan, group);
  const struct joist_nest *const nest = &site->setting->nest;
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  const struct joist_region_parts parts = joist_region_parts(plan->program, i);
  size_t values = 0, lost[JOIST_C_LOST] = {0}, first[JOIST_C_LOST];
  memset(first, 0xff, sizeof first);
  for (uint32_t b = 0; b < nest->count; b++) values += nest->body[b].plan->program->value_count;
  void **const entries = malloc((values + nest->count + 1) * sizeof *entries);
  char *const block = joist_scratch_allocate(nest->bytes + 1);
  struct run run = {.setting = site->setting,
                    .run_group = run_group,
                    .settings = settings,
                    .error = error,
                    .status = JOIST_OK};
  if (entries == NULL || block == NULL) {
    run.status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = nest->bytes);
  } else {
    void ***const tables = (void ***)(void *)(entries + values);
    void **next = entries;
    for (uint32_t b = 0; b < nest->count; b++) {
      tables[b] = next;
      next += nest->body[b].plan->program->value_count;
      if (b > 0) place(&nest->body[b], block, tables[b]);
    }
    memcpy(tables[0], arrays, plan->program->value_count * sizeof *arrays);
    for (uint32_t k = 0; current != NULL && k < parts.carries; k++)
      memcpy(&tables[0][i->operand[parts.first + k]], &current[k], sizeof *tables[0]);
    run.native = (struct joist_native){.tables = (void **const *)tables,
                                       .block = block,
                                       .first_turn = first_turn,
                                       .poll = poll,
                                       .group = call_group,
                                       .folds = site->setting->folds,
                                       .fold_rows = fold_rows,
                                       .lost = lost,
                                       .first = first};
    joist_native_loop *function;
    memcpy(&function, &site->code.function, sizeof function);
    if (function(&run.native) != 0 && run.status == JOIST_OK)
      run.status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
    if (run.native.wrapped != 0 && settings->tally != NULL) joist_tally_suspect(settings->tally);
    add_lost(run.setting, &run.native, settings->tally);
  }
  free(entries);
  joist_scratch_free(block);
  return run.status;
}

/* ---- parts of groups ---- */

/* Groups of fewer steps, and those that write past the caches, are as fast by kernels. */
enum { PART_STEPS_MIN = 3, PART_COUNT_MIN = 512, ELEMENTS_PER_WORK = 4 };

static bool is_worth_a_part(const struct joist_plan *plan, const struct joist_group *group,
                            size_t stream_from) {
  const struct joist_step *const steps = plan->steps + group->first_step;
  uint32_t computing = 0;
  if (group->count < PART_COUNT_MIN) return false;
  for (uint32_t s = 0; s < group->step_count; s++) {
    if (steps[s].passed_over || joist_step_streams(group, &steps[s], stream_from)) return false;
    computing += steps[s].kind != JOIST_STEP_FOLD && steps[s].kind != JOIST_STEP_SPLAT;
  }
  return computing >= PART_STEPS_MIN;
}

/* Writes the source of a group, if it has one. */
static void write_part(struct code *code, const struct joist_plan *plan,
                       const struct joist_group *group) {
  struct joist_c_source made;
  code->refused = true;
  if (!joist_c_source_of_part(plan, group, &made)) return;
  set_text(code, made.text, true);
  free(made.text);
}

joist_status joist_native_find_part(const struct joist_plan *plan, const struct joist_group *group,
                                    const struct joist_run *run, joist_native_part **part,
                                    struct joist_error *error) {
  *part = NULL;
  if (run->native == JOIST_NATIVE_NEVER || !is_worth_a_part(plan, group, joist_stream_from(run)))
    return JOIST_OK;
  struct site *const site = site_of(plan, group);
  if (site == NULL || site->code.refused) return JOIST_OK;
  joist_status status = JOIST_OK;
  if (!is_compiled(&site->code)) {
    const size_t own = group->count / ELEMENTS_PER_WORK * group->work;
    site->code.work += own;
    const bool waits = run->native == JOIST_NATIVE_WAIT;
    /* Once is never worth it; code that is there already is worth its text. */
    if (!waits && (site->code.work == own || !has_done_enough(plan, &site->code, LOOK_WORTH)))
      return JOIST_OK;
    if (site->code.entry == NULL && joist_native_is_configured())
      write_part(&site->code, plan, group);
    status = ask(&site->code, waits || has_done_enough(plan, &site->code, PART_WORTH), run, error);
  }
  memcpy(part, &site->code.function, sizeof *part);
  return status;
}

void joist_native_source(const struct joist_plan *plan, struct joist_text *text) {
  struct joist_nest *const nest = malloc(sizeof *nest);
  for (uint32_t g = 0; g < plan->group_count && nest != NULL; g++) {
    const struct joist_group *const group = &plan->groups[g];
    struct joist_c_source made = {.text = NULL};
    if (is_loop(plan, group) && joist_nest_make(plan, group, nest))
      (void)joist_c_source_of_loop(nest, &made);
    else if (group->kind == JOIST_GROUP_ELEMENTWISE && is_worth_a_part(plan, group, SIZE_MAX))
      (void)joist_c_source_of_part(plan, group, &made);
    if (made.text != NULL) joist_text_add(text, "%s%s", text->length > 0 ? "\n" : "", made.text);
    free(made.text);
  }
  text->failed |= nest == NULL;
  free(nest);
}
