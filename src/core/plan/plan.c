/* From a program to groups of steps. Decides what is fused, what gets an array of
 * its own, and the slots that hold the rest tile by tile. */
#include "core/plan/plan.h"

#include "core/base/bits.h"
#include "core/plan/groups.h"
#include "core/plan/layout.h"
#include "core/plan/storage.h"
#include "core/plan/view.h"
#include "core/program/regions.h"
#include "core/program/watch.h"
#include "core/types/error.h"
#include "core/types/loss.h"

#include <stdlib.h>
#include <string.h>

#define NO_GROUP UINT32_MAX /* no enumerator: ISO C has them fit int */
enum { STEPS_PER_INSTRUCTION = 15, VIEWS_PER_INSTRUCTION = JOIST_REFS_MAX + 1 };

/* One of the forms of a value in the group being planned. */
struct form {
  joist_value_id value;
  joist_dtype wanted, compute;
  struct joist_ref ref;
  uint32_t next; /* another form of the value: 1 + its number, 0 for none */
};

struct planner {
  struct joist_plan *plan;
  const struct joist_program *program;
  uint32_t *group_of;    /* per value: the group that computes it, NO_GROUP for inputs */
  uint32_t *buckets;     /* elementwise groups by level and shape: 1 + the latest of that hash */
  uint32_t bucket_mask;  /* number of buckets, less one */
  uint32_t *same_bucket; /* per group: 1 + the one before it in its bucket */
  uint32_t *first_in;    /* per group: its first instruction ... */
  uint32_t *last_in;     /* ... and its last so far */
  uint32_t *next_in;     /* per instruction: the next of its group, NO_GROUP for none */
  struct form *forms;    /* of the current group */
  uint32_t *form_of;     /* per value: 1 + its latest form there, 0 for none */
  uint32_t form_count;
  bool *viewed; /* per value: a move that groups read through; of its run, checks alone are left */
  struct joist_group *group;
  bool apart; /* nothing is fused */
};

/* Whether the instruction produces its result tile by tile in its own index space. */
static bool is_elementwise(const struct joist_instruction *i) {
  return !joist_op_is_reduction(i->op) && !joist_op_is_array(i->op);
}

static struct joist_ref new_slot(struct planner *planner, joist_dtype dtype) {
  return (struct joist_ref){false, planner->plan->slot_count++, (uint32_t)joist_dtype_size(dtype),
                            dtype, false};
}

static struct joist_step *add_step(struct planner *planner, joist_step_kind kind,
                                   struct joist_ref in, struct joist_ref out) {
  struct joist_step *const step = &planner->plan->steps[planner->plan->step_count++];
  memset(step, 0, sizeof *step);
  step->kind = kind;
  step->operand_count = 1;
  step->in[0] = in;
  step->out = out;
  return step;
}

static const struct form *find_form(const struct planner *planner, joist_value_id value,
                                    joist_dtype wanted, joist_dtype compute) {
  for (uint32_t k = planner->form_of[value]; k > 0; k = planner->forms[k - 1].next) {
    const struct form *const form = &planner->forms[k - 1];
    if (form->wanted == wanted && form->compute == compute) return form;
  }
  return NULL;
}

static void add_form(struct planner *planner, joist_value_id value, joist_dtype wanted,
                     joist_dtype compute, struct joist_ref ref) {
  planner->forms[planner->form_count++] =
      (struct form){value, wanted, compute, ref, planner->form_of[value]};
  planner->form_of[value] = planner->form_count;
}

static void forget_forms(struct planner *planner) {
  for (uint32_t k = 0; k < planner->form_count; k++) planner->form_of[planner->forms[k].value] = 0;
  planner->form_count = 0;
}

static struct joist_ref array_ref(const struct planner *planner, joist_value_id value) {
  const joist_dtype dtype = planner->program->values[value].type.dtype;
  return (struct joist_ref){true, value, (uint32_t)joist_dtype_size(dtype), dtype, false};
}

/* What the steps of an instruction report. */
struct watch {
  uint32_t instruction;
  uint8_t kinds; /* joist_watch */
  bool masked;
  struct joist_ref mask;
};
static const struct watch unwatched = {.kinds = 0};

static void set_watch(struct joist_step *step, const struct watch *watch) {
  step->instruction = watch->instruction;
  if (!watch->masked || step->kind == JOIST_STEP_SPLAT || step->operand_count == JOIST_REFS_MAX)
    return;
  step->masked_result = true;
  step->in[step->operand_count++] = watch->mask;
}

static bool may_lose(joist_dtype from, joist_dtype to) {
  return from != to && joist_conversion_loss(from, to).losses != JOIST_LOSS_NONE;
}

static bool is_whole(joist_dtype from, joist_dtype to) {
  const joist_kind own = joist_dtype_kind(from), other = joist_dtype_kind(to);
  return (own == JOIST_KIND_INT || own == JOIST_KIND_UINT) &&
         (other == JOIST_KIND_INT || other == JOIST_KIND_UINT);
}

static struct joist_ref converted(struct planner *planner, struct joist_ref in, joist_dtype to,
                                  const struct watch *watch) {
  const struct joist_ref out = new_slot(planner, to);
  struct joist_step *const step = add_step(planner, JOIST_STEP_CONVERT, in, out);
  const bool loses = may_lose(in.dtype, to);
  step->counts_lost = (watch->kinds & JOIST_WATCH_LOSS) && loses;
  step->saturates = (watch->kinds & JOIST_WATCH_SATURATE) && loses && is_whole(in.dtype, to);
  if (step->counts_lost) set_watch(step, watch);
  return out;
}

/* ---- views: moves that are read through ---- */

/* The value, spread over the space of the group. */
static void view_of_value(const struct planner *planner, joist_value_id value,
                          struct joist_view *view) {
  const struct joist_value *const v = &planner->program->values[value];
  const struct joist_shape *const space = &planner->group->shape;
  if (planner->viewed[value])
    (void)joist_view_of_move(planner->program, &planner->program->instructions[v->instruction],
                             view);
  else
    *view = joist_view_of_array(&v->shape);
  for (int d = 0; d < space->rank; d++)
    if (v->shape.rank == 0 || v->shape.extent[d] == 1) view->stride[d] = view->list_stride[d] = 0;
}

/* The array that holds the value's elements. */
static joist_value_id base_of(const struct planner *planner, joist_value_id value) {
  const struct joist_program *const program = planner->program;
  return planner->viewed[value]
             ? program->instructions[program->values[value].instruction].operand[0]
             : value;
}

/* The most readers of a move that is not made, the most elements of a transposition, which strides
 * through the caches, and the fewest that are taken from listed positions. */
enum { READERS_MOST = 4, TRANSPOSED_MOST = 16384, LISTED_LEAST = 256 };

/* Whether the value is taken from listed positions. */
static bool is_listed(const struct joist_program *program, joist_value_id value) {
  const struct joist_value *const v = &program->values[value];
  return v->input == JOIST_NO_INPUT &&
         joist_view_is_listed(program, &program->instructions[v->instruction]);
}

/* Whether elements that are taken one by one have a size for which compilers make vector code of
 * it.
 */
static bool can_be_taken(const struct joist_program *program, const struct joist_instruction *i) {
  const struct joist_value *const v = &program->values[i->result];
  struct joist_view view;
  int d = 0;
  (void)joist_view_of_move(program, i, &view);
  while (d + 1 < v->shape.rank && v->shape.extent[d] == 1) d++;
  const size_t size = joist_dtype_size(v->type.dtype);
  return view.list_stride[d] == 0 ||
         ((size == 4 || size == 8) && joist_dtype_kind(v->type.dtype) != JOIST_KIND_COMPLEX);
}

/* Operands of one element are not read through: in compiled code, they are not arrays. */
static bool can_be_viewed(const struct joist_program *program, const struct joist_instruction *i) {
  const size_t count = joist_value_count(&program->values[i->result]);
  struct joist_view view;
  for (uint32_t a = 0; a < i->operand_count; a++)
    if (joist_value_count(&program->values[i->operand[a]]) == 1) return false;
  const bool moves =
      i->op == JOIST_OP_SLICE || (i->op == JOIST_OP_PERMUTE && count <= TRANSPOSED_MOST) ||
      (joist_view_is_listed(program, i) && count >= LISTED_LEAST && can_be_taken(program, i));
  return moves && count > 0 && i->held == 0 && joist_view_of_move(program, i, &view);
}

/* How an operand's reader counts. Listed positions are not looked up once more for every element of
 * a larger space. */
static uint32_t weight_of(const struct joist_program *program, const struct joist_instruction *i,
                          joist_value_id operand) {
  const bool sink = joist_op_is_reduction(i->op);
  const struct joist_value *const space = &program->values[sink ? operand : i->result];
  if (joist_op_is_array(i->op)) return READERS_MOST + 1;
  return is_listed(program, operand) &&
                 joist_value_count(space) != joist_value_count(&program->values[operand])
             ? READERS_MOST + 1
             : 1;
}

/* Finds the moves that only elementwise operations and reductions read. */
static void find_viewed(struct planner *planner, const bool *needed, uint32_t *readers) {
  const struct joist_program *const program = planner->program;
  memset(planner->viewed, 0, program->value_count * sizeof *planner->viewed);
  if (program->instruction_count < 2 || planner->apart) return;
  memset(readers, 0, program->value_count * sizeof *readers);
  for (uint32_t k = 0; k < program->output_count; k++)
    readers[program->outputs[k]] = READERS_MOST + 1;
  for (uint32_t k = program->instruction_count; k-- > 0;) {
    const struct joist_instruction *const i = &program->instructions[k];
    if (!joist_is_needed(i, needed)) continue;
    if (readers[i->result] <= READERS_MOST && can_be_viewed(program, i))
      planner->viewed[i->result] = true;
    for (uint32_t a = 0; a < joist_reads(i); a++)
      readers[joist_read_at(i, a)] += weight_of(program, i, joist_read_at(i, a));
  }
}

/* ---- steps ---- */

/* The value as an operand of dtype `wanted`, computed in `compute`. */
static struct joist_ref operand_ref(struct planner *planner, joist_value_id value,
                                    joist_dtype wanted, joist_dtype compute,
                                    const struct watch *watch) {
  const struct joist_value *const v = &planner->program->values[value];
  const joist_dtype own = v->type.dtype;
  const struct form *form = find_form(planner, value, wanted, compute);
  if (form != NULL) return form->ref;

  const size_t count = joist_value_count(v);
  const bool viewed = planner->viewed[value];
  struct joist_ref ref;
  if (count == 1 && planner->group->count != 1 && !viewed) {
    ref = new_slot(planner, compute);
    ref.repeats = true;
    struct joist_step *const step =
        add_step(planner, JOIST_STEP_SPLAT, array_ref(planner, value), ref);
    step->through = wanted;
    step->counts_lost = (watch->kinds & JOIST_WATCH_LOSS) && !joist_is_guessed_float(v->type) &&
                        may_lose(own, wanted);
    step->saturates =
        (watch->kinds & JOIST_WATCH_SATURATE) && may_lose(own, wanted) && is_whole(own, wanted);
    if (step->counts_lost) set_watch(step, watch);
  } else {
    form = find_form(planner, value, own, own);
    if (form != NULL) {
      ref = form->ref;
    } else if (count == planner->group->count && !viewed) {
      ref = array_ref(planner, value);
    } else {
      struct joist_view *const view = &planner->plan->views[planner->plan->view_count++];
      view_of_value(planner, value, view);
      ref = new_slot(planner, own);
      struct joist_step *const step =
          add_step(planner, JOIST_STEP_GATHER, array_ref(planner, base_of(planner, value)), ref);
      step->view = view;
      if (view->listed) {
        step->operand_count = 2;
        step->in[1] = array_ref(planner, planner->program->instructions[v->instruction].operand[1]);
      }
      add_form(planner, value, own, own, ref);
    }
    const bool guess = joist_is_guessed_float(v->type);
    if (own != wanted) ref = converted(planner, ref, wanted, guess ? &unwatched : watch);
    if (wanted != compute) ref = converted(planner, ref, compute, &unwatched);
  }
  if (find_form(planner, value, wanted, compute) == NULL)
    add_form(planner, value, wanted, compute, ref);
  return ref;
}

/* A function of f16 or bf16 is one step in that dtype: devices may compute in a wider dtype, or
 * look up the few results that there are. */
static bool is_narrow_function(const struct joist_instruction *i, joist_dtype result) {
  return joist_dtype_is_word(result) && i->operand_count == 1 && i->signature.compute != result &&
         i->signature.operand[0] == result && joist_op_accuracy(i->op).f32 > 0;
}

static bool has_unused_bits(joist_dtype dtype) {
  return dtype != JOIST_BOOL && joist_dtype_bits(dtype) < 8 * joist_dtype_size(dtype);
}

/* The bits of elements as bits of another dtype. Bits of integers with unused bits are taken from
 * and put into bytes by conversions; such floats are made anew, with unused bits cleared. */
static void plan_bitcast(struct planner *planner, struct joist_ref in, struct joist_ref out) {
  const joist_dtype from = in.dtype, to = out.dtype;
  const bool is_float = joist_dtype_kind(to) == JOIST_KIND_FLOAT;
  if (joist_dtype_kind(from) == JOIST_KIND_INT && has_unused_bits(from))
    in = converted(planner, in, joist_dtype_with(JOIST_KIND_UINT, joist_dtype_bits(from)),
                   &unwatched);
  if (!has_unused_bits(to)) {
    add_step(planner, JOIST_STEP_COPY, in, out);
    return;
  }
  struct joist_ref bits = new_slot(planner, is_float ? to : JOIST_UI8);
  add_step(planner, JOIST_STEP_COPY, in, bits);
  if (is_float) bits = converted(planner, bits, joist_dtype_compute(to), &unwatched);
  add_step(planner, JOIST_STEP_CONVERT, bits, out);
}

/* The dtype an operand is read in: integers of fewer bits than a byte without their sign, if the
 * instruction computes so. */
static joist_dtype bits_read(const struct joist_instruction *i, joist_dtype dtype) {
  return i->signature.compute == JOIST_UI8 && joist_dtype_compute(dtype) == JOIST_I8 &&
                 has_unused_bits(dtype) && joist_op_class(i->op) == JOIST_CLASS_JOIN
             ? joist_dtype_with(JOIST_KIND_UINT, joist_dtype_bits(dtype))
             : dtype;
}

static struct watch watch_of(struct planner *planner, uint32_t index) {
  const struct joist_instruction *const i = &planner->program->instructions[index];
  struct watch watch = {.instruction = index, .kinds = i->watch, .masked = i->missing > 0};
  if (watch.masked)
    watch.mask = operand_ref(planner, i->missing - 1, JOIST_BOOL, JOIST_BOOL, &unwatched);
  return watch;
}

/* Has the step of an integer operation report results that do not fit, if there can be any. */
static void watch_results(struct joist_step *step, const struct joist_instruction *i,
                          joist_dtype own, const struct watch *watch) {
  const joist_kind kind = joist_dtype_kind(i->signature.compute);
  const joist_overflow_rule rule = joist_op_overflow_rule(i->op);
  const bool narrow = has_unused_bits(own) && joist_dtype_kind(own) == kind;
  if (kind > JOIST_KIND_UINT || (rule != JOIST_OVERFLOW_EACH && rule != JOIST_OVERFLOW_NARROW) ||
      !(watch->kinds & (JOIST_WATCH_OVERFLOW | JOIST_WATCH_SATURATE)) ||
      !(narrow || joist_op_wraps(i->op, kind)))
    return;
  set_watch(step, watch);
  step->counts_wrapped = true;
  step->saturates = (watch->kinds & JOIST_WATCH_SATURATE) != 0;
  step->bounds = narrow ? own : JOIST_DTYPE_NONE;
}

/* Converts a float to the integer that is the result, halves away from zero. */
static void plan_rounded(struct planner *planner, struct joist_ref in, struct joist_ref out,
                         const struct watch *watch) {
  const struct joist_ref whole = new_slot(planner, in.dtype);
  struct joist_step *const round = add_step(planner, JOIST_STEP_OPERATION, in, whole);
  round->op = JOIST_OP_ROUND_AWAY;
  round->instruction = watch->instruction;
  struct joist_step *const step = add_step(planner, JOIST_STEP_CONVERT, whole, out);
  step->counts_lost =
      (watch->kinds & (JOIST_WATCH_OVERFLOW | JOIST_WATCH_SATURATE)) == JOIST_WATCH_OVERFLOW;
  if (step->counts_lost) set_watch(step, watch);
}

/* Steps of one elementwise instruction. */
static void plan_elementwise(struct planner *planner, uint32_t index) {
  const struct joist_instruction *const i = &planner->program->instructions[index];
  const joist_dtype own = planner->program->values[i->result].type.dtype;
  const bool narrow = is_narrow_function(i, own);
  const bool as_it_is = narrow || i->op == JOIST_OP_CONVERT || i->op == JOIST_OP_BITCAST ||
                        i->op == JOIST_OP_BROADCAST;
  const struct watch watch = watch_of(planner, index);
  struct joist_ref in[JOIST_REFS_MAX] = {{0}};
  for (uint32_t k = 0; k < i->operand_count; k++) {
    const joist_dtype read = bits_read(i, i->signature.operand[k]);
    in[k] = operand_ref(planner, i->operand[k], read, as_it_is ? read : joist_dtype_compute(read),
                        &watch);
  }
  const struct joist_ref out = planner->plan->materialized[i->result]
                                   ? array_ref(planner, i->result)
                                   : new_slot(planner, own);
  if (i->op == JOIST_OP_CONVERT) {
    struct joist_step *const step = add_step(planner, JOIST_STEP_CONVERT, in[0], out);
    step->counts_lost = (watch.kinds & JOIST_WATCH_LOSS) != 0;
    step->saturates = (watch.kinds & JOIST_WATCH_SATURATE) != 0;
    if (watch.kinds != 0) set_watch(step, &watch);
  } else if (i->op == JOIST_OP_BITCAST) {
    plan_bitcast(planner, in[0], out);
  } else if (i->op == JOIST_OP_BROADCAST) {
    add_step(planner, JOIST_STEP_COPY, in[0], out);
  } else {
    const joist_dtype made = narrow ? own : joist_op_result(i->op, i->signature.compute);
    const struct joist_ref target = made == own ? out : new_slot(planner, made);
    struct joist_step *const step = add_step(planner, JOIST_STEP_OPERATION, in[0], target);
    step->op = i->op;
    step->operand_count = i->operand_count;
    memcpy(step->in, in, sizeof in);
    step->instruction = index;
    watch_results(step, i, own, &watch);
    if (i->signature.rounds_float)
      plan_rounded(planner, target, out, &watch);
    else if (made != own)
      add_step(planner, JOIST_STEP_CONVERT, target, out);
  }
  add_form(planner, i->result, own, own, out);
}

/* Steps of a reduction. A sum widens elements of most dtypes while it folds them. */
static void plan_sink(struct planner *planner, uint32_t index) {
  const struct joist_instruction *const i = &planner->program->instructions[index];
  const joist_dtype own = planner->program->values[i->operand[0]].type.dtype;
  const joist_dtype accumulator = i->signature.operand[0];
  const bool widens = joist_op_combine(i->op) == JOIST_OP_ADD && joist_dtype_compute(own) == own &&
                      joist_op_part_dtype(i->op, own) == accumulator;
  const joist_dtype read = widens ? own : accumulator;
  const struct watch watch = {.instruction = index, .kinds = i->watch};
  const struct joist_ref in = operand_ref(planner, i->operand[0], read, read, &watch);
  struct joist_step *const step = add_step(planner, JOIST_STEP_FOLD, in, in);
  step->out.dtype = accumulator;
  step->out.size = (uint32_t)joist_dtype_size(accumulator);
  step->instruction = index;
  const joist_dtype made = i->signature.result[0].dtype;
  step->bounds = made;
  step->counts_wrapped = joist_op_overflow_rule(i->op) == JOIST_OVERFLOW_TOTAL &&
                         (i->watch & (JOIST_WATCH_OVERFLOW | JOIST_WATCH_SATURATE)) != 0;
  step->signs_differ = joist_dtype_kind(own) != joist_dtype_kind(made);
  step->sink = planner->group->sink_count++;
}

/* Whether the group is one sink of bools over all elements, and nothing else that its run
 * leaves behind, arrays or errors. */
static bool is_decidable(const struct joist_plan *plan, const struct joist_group *group) {
  const struct joist_step *const steps = plan->steps + group->first_step;
  if (group->sink_count != 1 || group->space.inner != 1 || group->space.outer != 1) return false;
  for (uint32_t s = 0; s < group->step_count; s++) {
    const struct joist_step *const step = &steps[s];
    const bool fold = step->kind == JOIST_STEP_FOLD;
    if (fold && (step->out.dtype != JOIST_BOOL || s + 1 < group->step_count)) return false;
    if (!fold && step->out.array) return false;
    if (step->kind == JOIST_STEP_OPERATION &&
        joist_can_fail(&plan->program->instructions[step->instruction]))
      return false;
  }
  return true;
}

/* How the first pass of a reduction sees its operand. */
static struct joist_fold_space space_of_sink(const struct joist_program *program,
                                             const struct joist_instruction *i) {
  const struct joist_fold_dims dims =
      joist_fold_dims(&program->values[i->operand[0]].shape, i->dims);
  struct joist_fold_space space;
  (void)joist_fold_next(&dims, &space);
  return space;
}

static uint32_t *bucket_of(const struct planner *planner, const struct joist_shape *shape,
                           uint32_t level) {
  uint64_t hash = joist_hash_word(level, (uint64_t)shape->rank);
  for (int d = 0; d < shape->rank; d++) hash = joist_hash_word(hash, shape->extent[d]);
  return &planner->buckets[hash & planner->bucket_mask];
}

/* The first group that an instruction, other than an array operation, can join; NO_GROUP if there
 * is none. The sinks of a group fold the same space. */
static uint32_t find_group(const struct planner *planner, const struct joist_instruction *i,
                           const struct joist_shape *shape, uint32_t level) {
  const struct joist_plan *const plan = planner->plan;
  const bool sink = joist_op_is_reduction(i->op);
  const struct joist_fold_space space =
      sink ? space_of_sink(planner->program, i) : (struct joist_fold_space){0, 0, 0};
  uint32_t found = NO_GROUP;
  for (uint32_t g = *bucket_of(planner, shape, level); g > 0; g = planner->same_bucket[g - 1]) {
    const struct joist_group *const group = &plan->groups[g - 1];
    if (group->level == level && joist_shape_equal(&group->shape, shape) &&
        (!sink || group->space.inner == 0 || memcmp(&group->space, &space, sizeof space) == 0))
      found = g - 1;
  }
  return found;
}

static uint32_t add_group(struct planner *planner, uint32_t index, const struct joist_shape *shape,
                          uint32_t level) {
  struct joist_plan *const plan = planner->plan;
  struct joist_group *const made = &plan->groups[plan->group_count];
  memset(made, 0, sizeof *made);
  made->kind = joist_op_is_array(planner->program->instructions[index].op)
                   ? JOIST_GROUP_ARRAY
                   : JOIST_GROUP_ELEMENTWISE;
  made->level = level;
  made->shape = *shape;
  made->instruction = index;
  (void)joist_shape_count(shape, &made->count);
  planner->first_in[plan->group_count] = NO_GROUP;
  if (made->kind == JOIST_GROUP_ELEMENTWISE) {
    uint32_t *const bucket = bucket_of(planner, shape, level);
    planner->same_bucket[plan->group_count] = *bucket;
    *bucket = plan->group_count + 1;
  }
  return plan->group_count++;
}

/* Puts the instruction at the end of the group's list. */
static void join_group(struct planner *planner, uint32_t group, uint32_t index) {
  planner->next_in[index] = NO_GROUP;
  if (planner->first_in[group] == NO_GROUP)
    planner->first_in[group] = index;
  else
    planner->next_in[planner->last_in[group]] = index;
  planner->last_in[group] = index;
}

/* The level after everything that the instruction reads; `fused` when an operand is computed
 * on that level, in the same space. Level 0 has the constants, which read nothing: an instruction
 * that reads one is fused with those that read inputs alone. */
static uint32_t level_of(const struct planner *planner, const struct joist_instruction *i,
                         const struct joist_shape *shape, bool *fused) {
  const struct joist_program *const program = planner->program;
  uint32_t level = i->operand_count > 0 ? 1 : 0;
  *fused = false;
  for (uint32_t a = 0; a < joist_reads(i); a++) {
    const joist_value_id read = joist_read_at(i, a);
    const uint32_t from = planner->group_of[read];
    if (from == NO_GROUP) continue;
    const struct joist_value *const v = &program->values[read];
    const bool joins = !planner->apart && !joist_op_is_array(i->op) && !planner->viewed[read] &&
                       !(i->watch != 0 && i->op == JOIST_OP_REDUCE_PROD) &&
                       is_elementwise(&program->instructions[v->instruction]) &&
                       joist_shape_equal(&v->shape, shape);
    const uint32_t at = planner->plan->groups[from].level + (joins ? 0 : 1);
    if (at > level) *fused = false;
    if (at >= level) *fused |= joins;
    if (at > level) level = at;
  }
  const uint32_t before = i->held > 0 ? planner->group_of[i->held - 1] : NO_GROUP;
  if (before != NO_GROUP && planner->plan->groups[before].level > level) {
    level = planner->plan->groups[before].level;
    *fused = false;
  }
  return level;
}

/* The first levels after all effects, and after all that can fail, among the instructions so far.
 */
struct sequence {
  uint32_t after_effects, after_failures;
};

/* What has effects runs in the order of the program, and so does what can fail among them. */
static uint32_t in_sequence(struct sequence *sequence, const struct joist_instruction *i,
                            uint32_t level) {
  const bool effect = joist_has_effect(i);
  const bool fails = joist_op_is_array(i->op) || joist_can_fail(i);
  if ((effect || fails) && level < sequence->after_effects) level = sequence->after_effects;
  if (effect && level < sequence->after_failures) level = sequence->after_failures;
  if (effect) sequence->after_effects = level + 1;
  if (fails && level >= sequence->after_failures) sequence->after_failures = level + 1;
  return level;
}

/* Assigns every instruction that is needed to a group. */
static void make_groups(struct planner *planner, const bool *needed) {
  const struct joist_program *const program = planner->program;
  struct joist_plan *const plan = planner->plan;
  struct sequence sequence = {0, 0};
  for (uint32_t v = 0; v < program->value_count; v++) {
    planner->group_of[v] = NO_GROUP;
    plan->root[v] = v;
  }
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    if (!joist_is_needed(i, needed)) continue;
    if (i->op == JOIST_OP_RESHAPE) {
      plan->root[i->result] = plan->root[i->operand[0]];
      plan->materialized[i->operand[0]] = plan->materialized[i->result] = true;
      planner->group_of[i->result] = planner->group_of[i->operand[0]];
      continue;
    }
    if (planner->viewed[i->result] && !is_listed(program, i->result)) {
      planner->group_of[i->result] = planner->group_of[i->operand[0]];
      continue;
    }
    const bool sink = joist_op_is_reduction(i->op);
    const struct joist_shape *const shape =
        &program->values[sink ? i->operand[0] : i->result].shape;
    bool fused;
    const uint32_t earliest = level_of(planner, i, shape, &fused);
    uint32_t level = in_sequence(&sequence, i, earliest), group = NO_GROUP;
    fused &= level == earliest;
    if (!joist_op_is_array(i->op) && !planner->apart) group = find_group(planner, i, shape, level);
    /* A sink that does not fit in the group that computes its operand runs after it. */
    if (sink && fused && group == NO_GROUP) group = find_group(planner, i, shape, ++level);
    if (group == NO_GROUP) group = add_group(planner, k, shape, level);
    if (sink) plan->groups[group].space = space_of_sink(program, i);
    join_group(planner, group, k);
    for (uint32_t r = 0; r < i->result_count; r++) planner->group_of[i->result + r] = group;
    /* An operand that could have been fused, had not another operand been later. */
    for (uint32_t a = 0; a < joist_reads(i); a++) {
      const uint32_t from = planner->group_of[joist_read_at(i, a)];
      if (from != NO_GROUP && from != group)
        plan->materialized[base_of(planner, joist_read_at(i, a))] = true;
    }
    for (uint32_t r = 0; r < i->result_count && !is_elementwise(i); r++)
      plan->materialized[i->result + r] |= !planner->viewed[i->result + r];
  }
}

static void plan_groups(struct planner *planner) {
  struct joist_plan *const plan = planner->plan;
  const struct joist_program *const program = planner->program;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    struct joist_group *const group = &plan->groups[g];
    planner->group = group;
    forget_forms(planner);
    group->first_step = plan->step_count;
    if (group->kind != JOIST_GROUP_ELEMENTWISE) continue;
    const uint32_t first_slot = plan->slot_count;
    for (uint32_t k = planner->first_in[g]; k != NO_GROUP; k = planner->next_in[k]) {
      const struct joist_instruction *const i = &program->instructions[k];
      if (is_elementwise(i))
        plan_elementwise(planner, k);
      else if (joist_op_is_reduction(i->op))
        plan_sink(planner, k);
    }
    group->step_count = plan->step_count - group->first_step;
    group->decidable = is_decidable(plan, group);
    joist_group_lay_out(plan, group, first_slot, planner->group_of + program->value_count);
  }
}

/* Plans of the bodies of operations that have them. */
static joist_status plan_bodies(struct joist_plan *plan, bool apart, struct joist_error *error) {
  const struct joist_instruction *const instructions = plan->program->instructions;
  uint32_t count = 0;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    plan->groups[g].first_body = count;
    count += instructions[plan->groups[g].instruction].region_count;
  }
  if (count == 0) return JOIST_OK;
  plan->bodies = malloc(count * sizeof *plan->bodies);
  joist_status status = JOIST_OK;
  if (plan->bodies == NULL) status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (uint32_t g = 0; g < plan->group_count && status == JOIST_OK; g++) {
    const struct joist_instruction *const i = &instructions[plan->groups[g].instruction];
    for (uint32_t r = 0; r < i->region_count && status == JOIST_OK; r++) {
      status = apart ? joist_plan_make_apart(i->regions[r], &plan->bodies[plan->body_count], error)
                     : joist_plan_make(i->regions[r], &plan->bodies[plan->body_count], error);
      plan->body_count += status == JOIST_OK;
    }
  }
  return status;
}

/* Groups run level by level; within a level their order does not matter. */
static int by_level(const void *lhs, const void *rhs) {
  const uint32_t a = ((const struct joist_group *)lhs)->level;
  const uint32_t b = ((const struct joist_group *)rhs)->level;
  if (a != b) return a < b ? -1 : 1;
  /* The first of two failing groups is reported on every platform. */
  const uint32_t first = ((const struct joist_group *)lhs)->instruction;
  const uint32_t second = ((const struct joist_group *)rhs)->instruction;
  return (first > second) - (first < second);
}

/* Carves `count` elements of `size` bytes off a block. */
static void *carve(char **block, size_t count, size_t size) {
  void *const part = *block;
  *block += count * size;
  return part;
}

/* What planning needs besides the plan, in one block. NULL when memory is out; behind group_of is
 * the room that lay_out() uses. */
static void *make_scratch(struct planner *planner, size_t steps, bool **needed) {
  const size_t n = planner->program->instruction_count, values = planner->program->value_count;
  size_t buckets = 1;
  while (buckets < n) buckets *= 2;
  const size_t numbers = 2 * values + 2 * steps + buckets + 4 * n;
  char *const scratch = malloc(steps * sizeof(struct form) + numbers * sizeof(uint32_t) +
                               2 * values * sizeof(bool) + 1);
  if (scratch == NULL) return NULL;
  char *rest = scratch;
  planner->forms = carve(&rest, steps, sizeof *planner->forms);
  planner->group_of = carve(&rest, values + 2 * steps, sizeof(uint32_t));
  planner->form_of = carve(&rest, values, sizeof(uint32_t));
  planner->buckets = carve(&rest, buckets, sizeof(uint32_t));
  planner->same_bucket = carve(&rest, n, sizeof(uint32_t));
  planner->first_in = carve(&rest, n, sizeof(uint32_t));
  planner->last_in = carve(&rest, n, sizeof(uint32_t));
  planner->next_in = carve(&rest, n, sizeof(uint32_t));
  *needed = carve(&rest, values, sizeof(bool));
  planner->viewed = carve(&rest, values, sizeof(bool));
  planner->bucket_mask = (uint32_t)(buckets - 1);
  memset(planner->form_of, 0, values * sizeof(uint32_t));
  memset(planner->buckets, 0, buckets * sizeof(uint32_t));
  return scratch;
}

static joist_status make_plan(const struct joist_program *program, bool apart,
                              struct joist_plan **made, struct joist_error *error) {
  const size_t n = program->instruction_count, values = program->value_count;
  const size_t steps = n * STEPS_PER_INSTRUCTION;
  /* One block: the plan and all its arrays, the largest alignment first. */
  const size_t value_bytes = sizeof(size_t) + 2 * sizeof(uint32_t) + 2 * sizeof(bool);
  char *const block =
      malloc(sizeof(struct joist_plan) + n * sizeof(struct joist_group) +
             n * VIEWS_PER_INSTRUCTION * sizeof(struct joist_view) +
             steps * (sizeof(struct joist_step) + sizeof(uint32_t)) + values * value_bytes);
  struct planner planner = {.program = program, .apart = apart};
  bool *needed;
  void *const scratch = make_scratch(&planner, steps, &needed);
  if (block == NULL || scratch == NULL) {
    free(block);
    free(scratch);
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  }
  char *rest = block;
  struct joist_plan *const plan = planner.plan = carve(&rest, 1, sizeof *plan);
  memset(plan, 0, sizeof *plan);
  plan->program = program;
  plan->views = carve(&rest, n * VIEWS_PER_INSTRUCTION, sizeof *plan->views);
  plan->steps = carve(&rest, steps, sizeof *plan->steps);
  plan->groups = carve(&rest, n, sizeof *plan->groups);
  plan->offset = carve(&rest, values, sizeof *plan->offset);
  plan->slot_offset = carve(&rest, steps, sizeof *plan->slot_offset);
  plan->root = carve(&rest, values, sizeof *plan->root);
  plan->home = carve(&rest, values, sizeof *plan->home);
  plan->waits = carve(&rest, values, sizeof *plan->waits);
  plan->materialized = carve(&rest, values, sizeof *plan->materialized);
  memset(plan->materialized, 0, values * sizeof(bool));

  for (uint32_t k = 0; k < program->output_count; k++)
    plan->materialized[program->outputs[k]] = true;
  joist_program_mark_needed(program, needed);
  find_viewed(&planner, needed, planner.group_of);
  make_groups(&planner, needed);
  plan_groups(&planner);
  if (plan->group_count > 1) qsort(plan->groups, plan->group_count, sizeof *plan->groups, by_level);
  free(scratch);
  joist_status status = joist_storage_plan(plan, error);
  if (status == JOIST_OK) status = plan_bodies(plan, apart, error);
  if (status != JOIST_OK) {
    joist_plan_free(plan);
    return status;
  }
  *made = plan;
  return JOIST_OK;
}

joist_status joist_plan_make(const struct joist_program *program, struct joist_plan **made,
                             struct joist_error *error) {
  return make_plan(program, false, made, error);
}

joist_status joist_plan_make_apart(const struct joist_program *program, struct joist_plan **made,
                                   struct joist_error *error) {
  return make_plan(program, true, made, error);
}

void joist_plan_free(struct joist_plan *plan) {
  if (plan == NULL) return;
  for (uint32_t k = 0; k < plan->body_count; k++) joist_plan_free(plan->bodies[k]);
  free(plan->bodies);
  for (uint32_t g = 0; g < plan->group_count; g++)
    if (plan->groups[g].attached != NULL) plan->groups[g].attached->free(plan->groups[g].attached);
  free(plan);
}

size_t joist_plan_group_count(const struct joist_plan *plan) { return plan->group_count; }

size_t joist_plan_temporary_bytes(const struct joist_plan *plan) { return plan->scratch_bytes; }
