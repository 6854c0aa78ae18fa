#include "core/plan/steps.h"

#include <string.h>

#include "core/plan/viewed.h"
#include "core/program/watch.h"
#include "core/types/loss.h"

static struct joist_ref new_slot(struct joist_planner *planner, joist_dtype dtype) {
  return (struct joist_ref){false, planner->plan->slot_count++, (uint32_t)joist_dtype_size(dtype),
                            dtype, false};
}

static struct joist_step *add_step(struct joist_planner *planner, joist_step_kind kind,
                                   struct joist_ref in, struct joist_ref out) {
  struct joist_step *const step = &planner->plan->steps[planner->plan->step_count++];
  memset(step, 0, sizeof *step);
  step->kind = kind;
  step->operand_count = 1;
  step->in[0] = in;
  step->out = out;
  return step;
}

static const struct joist_form *find_form(const struct joist_planner *planner, joist_value_id value,
                                          joist_dtype wanted, joist_dtype compute) {
  for (uint32_t k = planner->form_of[value]; k > 0; k = planner->forms[k - 1].next) {
    const struct joist_form *const form = &planner->forms[k - 1];
    if (form->wanted == wanted && form->compute == compute) return form;
  }
  return NULL;
}

static void add_form(struct joist_planner *planner, joist_value_id value, joist_dtype wanted,
                     joist_dtype compute, struct joist_ref ref) {
  planner->forms[planner->form_count++] =
      (struct joist_form){value, wanted, compute, ref, planner->form_of[value]};
  planner->form_of[value] = planner->form_count;
}

void joist_forget_forms(struct joist_planner *planner) {
  for (uint32_t k = 0; k < planner->form_count; k++) planner->form_of[planner->forms[k].value] = 0;
  planner->form_count = 0;
}

static struct joist_ref array_ref(const struct joist_planner *planner, joist_value_id value) {
  const joist_dtype dtype = planner->program->values[value].type.dtype;
  return (struct joist_ref){true, value, (uint32_t)joist_dtype_size(dtype), dtype, false};
}

/* What the steps of an instruction report. */
struct watch {
  uint32_t instruction;
  uint8_t kinds; /* joist_watch */
  bool masked;
  bool ambiguous; /* of an operand: a float */
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
  return own < JOIST_KIND_FLOAT && (other == JOIST_KIND_INT || other == JOIST_KIND_UINT);
}

static struct joist_ref converted(struct joist_planner *planner, struct joist_ref in,
                                  joist_dtype to, const struct watch *watch) {
  const struct joist_ref out = new_slot(planner, to);
  struct joist_step *const step = add_step(planner, JOIST_STEP_CONVERT, in, out);
  const bool loses = may_lose(in.dtype, to);
  step->counts_lost = (watch->kinds & JOIST_WATCH_LOSS) &&
                      joist_conversion_counts((struct joist_type){in.dtype, watch->ambiguous}, to);
  step->only_beyond = watch->ambiguous;
  step->saturates = (watch->kinds & JOIST_WATCH_SATURATE) && loses && is_whole(in.dtype, to);
  if (step->counts_lost) set_watch(step, watch);
  return out;
}

/* The value as an operand of dtype `wanted`, computed in `compute`. */
static struct joist_ref operand_ref(struct joist_planner *planner, joist_value_id value,
                                    joist_dtype wanted, joist_dtype compute,
                                    const struct watch *watch) {
  const struct joist_value *const v = &planner->program->values[value];
  const joist_dtype own = v->type.dtype;
  const struct joist_form *form = find_form(planner, value, wanted, compute);
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
    step->counts_lost =
        (watch->kinds & JOIST_WATCH_LOSS) && joist_conversion_counts(v->type, wanted);
    step->only_beyond = joist_is_ambiguous_float(v->type);
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
      joist_view_of_value(planner, value, view);
      ref = new_slot(planner, own);
      struct joist_step *const step = add_step(
          planner, JOIST_STEP_GATHER, array_ref(planner, joist_viewed_base(planner, value)), ref);
      step->view = view;
      if (view->listed) {
        step->operand_count = 2;
        step->in[1] = array_ref(planner, planner->program->instructions[v->instruction].operand[1]);
      }
      add_form(planner, value, own, own, ref);
    }
    struct watch own_watch = *watch;
    own_watch.ambiguous = joist_is_ambiguous_float(v->type);
    if (own != wanted) ref = converted(planner, ref, wanted, &own_watch);
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
static void plan_bitcast(struct joist_planner *planner, struct joist_ref in, struct joist_ref out) {
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

static struct watch watch_of(struct joist_planner *planner, uint32_t index) {
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
static void plan_rounded(struct joist_planner *planner, struct joist_ref in, struct joist_ref out,
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
void joist_plan_elementwise(struct joist_planner *planner, uint32_t index) {
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
    step->counts_lost = (watch.kinds & (JOIST_WATCH_LOSS | JOIST_WATCH_RANGE)) != 0;
    step->only_beyond = joist_is_ambiguous_float(planner->program->values[i->operand[0]].type);
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
void joist_plan_sink(struct joist_planner *planner, uint32_t index) {
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
