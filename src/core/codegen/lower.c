/* Lowering: slots and arrays of a plan become registers. */
#include "core/codegen/lower.h"

#include <stdlib.h>
#include <string.h>

#define NOT_YET UINT16_MAX

struct lowering {
  const struct joist_plan *plan;
  const struct joist_group *group;
  struct joist_code_options options;
  struct joist_code *code;
  uint16_t *of_slot, *of_value; /* the register that holds it, or NOT_YET */
  uint16_t registers;
  bool full; /* it does not fit, or has no kernel: what is added from now on is lost */
  struct joist_code_step unused; /* where that goes */
};

static struct joist_code_step *add_step(struct lowering *low, uint16_t kind, joist_dtype from) {
  if (low->code->step_count == JOIST_CODE_STEPS) {
    low->full = true;
    return &low->unused;
  }
  struct joist_code_step *const step = &low->code->steps[low->code->step_count++];
  memset(step, 0, sizeof *step);
  step->kind = kind;
  step->from = step->to = (uint16_t)from;
  return step;
}

static uint16_t array_number(struct lowering *low, uint32_t array, int64_t base) {
  struct joist_code *const code = low->code;
  for (uint32_t k = 0; k < code->array_count; k++)
    if (code->array[k] == array && code->base[k] == base) return (uint16_t)k;
  if (code->array_count == JOIST_CODE_ARRAYS) {
    low->full = true;
    return 0;
  }
  code->array[code->array_count] = array;
  code->base[code->array_count] = base;
  return (uint16_t)code->array_count++;
}

/* A step that reads an array, into a new register. */
static uint16_t read_array(struct lowering *low, uint16_t kind, struct joist_ref ref,
                           int64_t base) {
  if (low->options.given != NULL && low->options.given[ref.index]) kind = JOIST_CODE_GIVEN;
  struct joist_code_step *const step = add_step(low, kind, ref.dtype);
  step->in[0] = array_number(low, ref.index, base);
  return step->out = low->registers++;
}

static uint16_t register_of(struct lowering *low, struct joist_ref ref) {
  if (!ref.array) return low->of_slot[ref.index];
  if (low->of_value[ref.index] == NOT_YET)
    low->of_value[ref.index] = read_array(low, JOIST_CODE_LOAD, ref, 0);
  return low->of_value[ref.index];
}

/* The register is what `ref` asked for. */
static void define(struct lowering *low, struct joist_ref ref, uint16_t number) {
  if (!ref.array) {
    low->of_slot[ref.index] = number;
    return;
  }
  low->of_value[ref.index] = number;
  struct joist_code_step *const step = add_step(low, JOIST_CODE_STORE, ref.dtype);
  step->in[0] = number;
  step->out = array_number(low, ref.index, 0);
}

static uint16_t converted(struct lowering *low, uint16_t in, joist_dtype from, joist_dtype to) {
  if (from == to) return in;
  struct joist_code_step *const step = add_step(low, JOIST_CODE_CONVERT, from);
  step->to = (uint16_t)to;
  step->in[0] = in;
  return step->out = low->registers++;
}

static uint16_t add_gather(struct lowering *low, const int64_t *stride, int64_t along) {
  struct joist_code *const code = low->code;
  if (code->gather_count == JOIST_CODE_GATHERS) {
    low->full = true;
    return 0;
  }
  memcpy(code->stride[code->gather_count], stride, sizeof code->stride[0]);
  code->along[code->gather_count] = along;
  return (uint16_t)code->gather_count++;
}

/* A step that sets a flag, of operands in registers. The mask is the last operand of the plan's. */
static void lower_watch(struct lowering *low, const struct joist_step *from, uint16_t kind,
                        uint16_t op, joist_dtype dtype, uint16_t first, uint16_t second) {
  const uint16_t mask =
      from->masked_result ? register_of(low, from->in[from->operand_count - 1]) : first;
  struct joist_code_step *const step = add_step(low, kind, dtype);
  step->op = op;
  step->to = from->masked_result;
  step->in[0] = first;
  step->in[1] = second;
  step->in[2] = mask;
  step->out = (uint16_t)low->code->flag_count++;
  if (!low->full) low->code->instruction[step - low->code->steps] = from->instruction;
}

/* An operand that its conversion may change. Where flags are coarse: which has more digits. */
static void lower_loses(struct lowering *low, const struct joist_step *from, joist_dtype own,
                        joist_dtype to, uint16_t number) {
  const joist_kind kind = joist_dtype_kind(own), target = joist_dtype_kind(to);
  const bool whole = kind == JOIST_KIND_INT || kind == JOIST_KIND_UINT;
  low->full |= from->only_beyond; /* interpreted */
  if (!low->options.coarse) {
    lower_watch(low, from, JOIST_CODE_LOSES, (uint16_t)to, own, number, number);
    return;
  }
  if (!whole || (target != JOIST_KIND_FLOAT && target != kind)) low->full = true;
  lower_watch(low, from, JOIST_CODE_LARGE, (uint16_t)joist_dtype_digits(to), own, number, number);
}

static void lower_kernel(struct lowering *low, const struct joist_step *from) {
  const struct joist_instruction *const i = &low->plan->program->instructions[from->instruction];
  const joist_dtype made_in = joist_dtype_compute(from->out.dtype);
  uint16_t in[JOIST_REFS_MAX] = {0};
  low->full |= joist_is_mixed(i); /* unsupported: the group then runs on the CPU */
  const uint32_t operands = joist_step_operands(from);
  for (uint32_t k = 0; k < operands; k++) in[k] = register_of(low, from->in[k]);
  /* A function of f16 or bf16 is computed in f32. */
  if (made_in != from->out.dtype) in[0] = converted(low, in[0], from->in[0].dtype, made_in);
  const uint32_t at = low->code->step_count;
  struct joist_code_step *const step = add_step(low, JOIST_CODE_KERNEL, i->signature.compute);
  step->op = (uint16_t)from->op;
  step->to = (uint16_t)made_in;
  memcpy(step->in, in, sizeof step->in);
  /* Unused operands repeat the first, so that the interpreter reads registers in use. */
  for (uint32_t k = operands; k < JOIST_REFS_MAX; k++) step->in[k] = in[0];
  const uint16_t made = step->out = low->registers++;
  if (!low->full) low->code->instruction[at] = from->instruction;
  low->code->checked |= joist_op_can_fail(from->op, i->signature.compute);
  if (from->counts_wrapped && joist_op_wraps(from->op, joist_dtype_kind(i->signature.compute)))
    lower_watch(low, from, JOIST_CODE_WRAPS, (uint16_t)from->op, i->signature.compute, in[0],
                operands > 1 ? in[1] : in[0]);
  if (from->counts_wrapped && from->bounds != JOIST_DTYPE_NONE)
    lower_watch(low, from, JOIST_CODE_BEYOND, (uint16_t)from->bounds, made_in, made, made);
  define(low, from->out, converted(low, made, made_in, from->out.dtype));
}

/* Flags elements with which a sum of so many may not fit. */
static void lower_large(struct lowering *low, const struct joist_step *from,
                        const struct joist_instruction *i, uint16_t in) {
  const struct joist_value *const values = low->plan->program->values;
  const size_t results = joist_value_count(&values[i->result]);
  const size_t n = low->group->count / (results > 0 ? results : 1);
  int digits = joist_dtype_digits(from->bounds);
  for (size_t most = 1; most < n && digits > 0; most *= 2) digits--;
  if (joist_op_combine(i->op) != JOIST_OP_ADD || from->signs_differ) low->full = true;
  lower_watch(low, from, JOIST_CODE_LARGE, (uint16_t)digits, from->in[0].dtype, in, in);
}

static void lower_fold(struct lowering *low, const struct joist_step *from) {
  const struct joist_instruction *const i = &low->plan->program->instructions[from->instruction];
  uint16_t in = register_of(low, from->in[0]);
  const joist_dtype accumulator = from->out.dtype;
  if (from->counts_wrapped && low->options.coarse) lower_large(low, from, i, in);
  if (!low->options.folds_widen) in = converted(low, in, from->in[0].dtype, accumulator);
  const uint32_t at = low->code->step_count;
  struct joist_code_step *const step =
      add_step(low, JOIST_CODE_FOLD, low->options.folds_widen ? from->in[0].dtype : accumulator);
  step->to = (uint16_t)accumulator;
  step->op = (uint16_t)joist_op_combine(i->op);
  step->in[0] = in;
  step->in[1] = array_number(low, JOIST_CODE_PARTIAL + from->sink, 0);
  step->out = (uint16_t)from->sink;
  if (!low->full) low->code->instruction[at] = from->instruction;
  low->code->sink_count++;
}

/* Elements at places that a view gives: into a new register. */
static uint16_t read_view(struct lowering *low, struct joist_ref ref, int64_t offset,
                          const int64_t *stride) {
  const uint16_t gather = add_gather(low, stride, 0);
  const uint32_t at = low->code->step_count;
  const uint16_t number = read_array(low, JOIST_CODE_GATHER, ref, offset);
  if (!low->full) low->code->steps[at].in[1] = gather;
  return number;
}

static uint16_t lower_view(struct lowering *low, const struct joist_step *from) {
  const struct joist_view *const view = from->view;
  const struct joist_ref array = from->in[0];
  if (!view->listed || (low->options.given != NULL && low->options.given[array.index]))
    return read_view(low, array, view->offset, view->stride);
  const uint16_t position = converted(low, read_view(low, from->in[1], 0, view->list_stride),
                                      from->in[1].dtype, JOIST_I64);
  const uint16_t gather = add_gather(low, view->stride, view->along);
  struct joist_code_step *const step = add_step(low, JOIST_CODE_TAKE, array.dtype);
  step->op = (uint16_t)view->first;
  step->in[0] = position;
  step->in[1] = gather;
  step->in[2] = array_number(low, array.index, view->offset);
  return step->out = low->registers++;
}

static void lower_step(struct lowering *low, const struct joist_step *from) {
  const bool watched = from->counts_wrapped || from->counts_lost;
  const bool fold = from->kind == JOIST_STEP_FOLD;
  if (from->saturates || (watched && !fold && !low->options.watches)) low->full = true;
  switch (from->kind) {
    case JOIST_STEP_OPERATION:
      lower_kernel(low, from);
      break;
    case JOIST_STEP_CONVERT: {
      const uint16_t number = register_of(low, from->in[0]);
      if (from->counts_lost) lower_loses(low, from, from->in[0].dtype, from->out.dtype, number);
      define(low, from->out, converted(low, number, from->in[0].dtype, from->out.dtype));
      break;
    }
    case JOIST_STEP_COPY: {
      uint16_t number = register_of(low, from->in[0]);
      if (from->in[0].dtype != from->out.dtype) {
        struct joist_code_step *const step = add_step(low, JOIST_CODE_COPY, from->in[0].dtype);
        step->to = (uint16_t)from->out.dtype;
        step->in[0] = number;
        number = step->out = low->registers++;
      }
      define(low, from->out, number);
      break;
    }
    case JOIST_STEP_GATHER:
      define(low, from->out, lower_view(low, from));
      break;
    case JOIST_STEP_SPLAT: {
      uint16_t number = read_array(low, JOIST_CODE_SCALAR, from->in[0], 0);
      if (from->counts_lost) lower_loses(low, from, from->in[0].dtype, from->through, number);
      number = converted(low, number, from->in[0].dtype, from->through);
      define(low, from->out, converted(low, number, from->through, from->out.dtype));
      break;
    }
    case JOIST_STEP_FOLD:
      lower_fold(low, from);
      break;
  }
}

int joist_code_reads(const struct joist_code_step *step) {
  switch (step->kind) {
    case JOIST_CODE_KERNEL:
    case JOIST_CODE_WRAPS:
    case JOIST_CODE_BEYOND:
    case JOIST_CODE_LOSES:
    case JOIST_CODE_LARGE:
      return JOIST_REFS_MAX;
    case JOIST_CODE_STORE:
    case JOIST_CODE_COPY:
    case JOIST_CODE_CONVERT:
    case JOIST_CODE_TAKE:
    case JOIST_CODE_FOLD:
      return 1;
    default:
      return 0;
  }
}

bool joist_code_writes(const struct joist_code_step *step) {
  return step->kind != JOIST_CODE_STORE && step->kind < JOIST_CODE_FOLD;
}

/* Leaves out dims of extent 1 and joins neighbours that every gather walks through alike. */
static void merge_dims(struct joist_code *code, const struct joist_shape *shape) {
  uint32_t rank = 0;
  for (int d = 0; d < shape->rank && code->gather_count > 0; d++) {
    if (shape->extent[d] == 1) continue;
    bool joined = rank > 0;
    for (uint32_t g = 0; g < code->gather_count && joined; g++)
      joined = code->stride[g][d] == code->stride[g][rank - 1] * (int64_t)code->extent[rank - 1];
    if (joined) {
      code->extent[rank - 1] *= shape->extent[d];
      continue;
    }
    for (uint32_t g = 0; g < code->gather_count; g++) code->stride[g][rank] = code->stride[g][d];
    code->extent[rank++] = shape->extent[d];
  }
  code->rank = rank;
}

static void clear(struct joist_code *code) {
  code->step_count = code->array_count = code->gather_count = code->rank = code->sink_count = 0;
  code->register_count = code->flag_count = 0;
  code->checked = code->rows = false;
}

bool joist_code_lower(const struct joist_plan *plan, const struct joist_group *group,
                      struct joist_code_options options, struct joist_code *code) {
  const size_t values = plan->program->value_count, slots = plan->slot_count;
  /* Every step makes at most three registers besides those that it reads. */
  if ((size_t)group->step_count * (JOIST_REFS_MAX + 3) + 1 >= NOT_YET) return false;
  uint16_t *const of_value = malloc((values + slots + 1) * sizeof *of_value);
  if (of_value == NULL) return false;
  struct lowering low = {.plan = plan,
                         .group = group,
                         .options = options,
                         .code = code,
                         .of_value = of_value,
                         .of_slot = of_value + values};
  for (size_t k = 0; k < values + slots; k++) of_value[k] = NOT_YET;
  clear(code);
  code->rows = group->sink_count > 0 && group->space.inner * group->space.outer != 1;
  for (uint32_t s = 0; s < group->step_count && !low.full; s++)
    lower_step(&low, &plan->steps[group->first_step + s]);
  code->register_count = low.registers;
  if (!low.full) merge_dims(code, &group->shape);
  free(of_value);
  return !low.full;
}
