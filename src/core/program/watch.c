/* What can go wrong, by dtypes and shapes. */
#include "core/program/watch.h"

#include "core/program/windows.h"
#include "core/promotion/change.h"
#include "core/types/loss.h"

static bool is_integer(joist_dtype dtype) {
  return joist_dtype_kind(dtype) == JOIST_KIND_INT || joist_dtype_kind(dtype) == JOIST_KIND_UINT;
}

static bool is_whole(joist_dtype dtype) { return dtype != JOIST_DTYPE_NONE && is_integer(dtype); }

static bool has_fractions(struct joist_type type) {
  return joist_dtype_category(type.dtype) >= JOIST_CATEGORY_FLOAT &&
         !joist_is_ambiguous_float(type);
}

bool joist_conversion_overflows(const struct joist_program *program,
                                const struct joist_instruction *i) {
  const joist_dtype to =
      i->op == JOIST_OP_CONVERT ? i->signature.result[0].dtype : i->signature.promoted.dtype;
  bool whole = is_whole(to);
  for (uint32_t k = 0; k < i->operand_count; k++)
    whole &= !has_fractions(program->values[i->operand[k]].type);
  return whole;
}

/* The least k with n <= 2^k. */
static int log2_of(size_t n) {
  int k = 0;
  while (k < 63 && (size_t)1 << k < n) k++;
  return k;
}

/* Whether a sum of n numbers of magnitudes up to 2^digits can exceed `made`. */
static bool sum_exceeds(joist_dtype from, int digits, size_t n, joist_dtype made) {
  const bool signs_fit =
      joist_dtype_kind(from) != JOIST_KIND_INT || joist_dtype_kind(made) == JOIST_KIND_INT;
  return !signs_fit || digits + log2_of(n) > joist_dtype_digits(made);
}

static bool can_overflow(joist_op op, const struct joist_argument *arguments, size_t count,
                         const struct joist_inference *inference,
                         const struct joist_attributes *attributes) {
  const joist_dtype made = inference->signature.result[0].dtype;
  if (count == 0 || (!is_integer(made) && made != JOIST_BOOL)) return false;
  const joist_dtype from = arguments[0].operand.type.dtype;
  const int digits = joist_dtype_kind(from) == JOIST_KIND_BOOL ? 1 : joist_dtype_digits(from);
  const joist_overflow_rule rule = joist_op_overflow_rule(op);
  if (rule == JOIST_OVERFLOW_NEVER) return false;
  if (inference->signature.rounds_float) return true;
  size_t n = 0, results = 0;
  if (rule > JOIST_OVERFLOW_NARROW) {
    (void)joist_shape_count(&arguments[0].shape, &n);
    (void)joist_shape_count(&inference->shape[0], &results);
  }
  switch (rule) {
    case JOIST_OVERFLOW_UNDECIDED:
    case JOIST_OVERFLOW_NEVER:
      return false;
    case JOIST_OVERFLOW_EACH:
    case JOIST_OVERFLOW_NARROW:
      return (is_integer(made) && joist_dtype_bits(made) < 8 * joist_dtype_size(made)) ||
             joist_op_wraps(joist_signature_op(&inference->signature, op), joist_dtype_kind(made));
    case JOIST_OVERFLOW_TOTAL:
    case JOIST_OVERFLOW_RUNNING:
      if ((!is_integer(from) && from != JOIST_BOOL) || made == JOIST_BOOL)
        return false; /* a dtype was asked for */
      if (joist_op_combine(op) != JOIST_OP_ADD) return from != JOIST_BOOL;
      if (rule == JOIST_OVERFLOW_TOTAL && results > 0) n /= results;
      return sum_exceeds(from, digits, n, made);
    case JOIST_OVERFLOW_PRODUCT: {
      const size_t inner =
          joist_product_terms(op, &arguments[0].shape, &arguments[count - 1].shape, attributes);
      const joist_dtype other = arguments[count - 1].operand.type.dtype;
      return sum_exceeds(from, digits + joist_dtype_digits(other), inner, made) ||
             (joist_dtype_kind(other) == JOIST_KIND_INT &&
              joist_dtype_kind(made) != JOIST_KIND_INT);
    }
    case JOIST_OVERFLOW_SCATTER:
      return true;
  }
  return false;
}

bool joist_conversion_counts(struct joist_type from, joist_dtype to) {
  const unsigned losses = joist_conversion_loss(from.dtype, to).losses;
  return joist_is_ambiguous_float(from) ? (losses & JOIST_LOSS_RANGE) != 0 : losses != 0;
}

static bool can_lose(joist_op op, const struct joist_argument *arguments, size_t count,
                     const struct joist_signature *signature) {
  for (size_t k = 0; k < count; k++)
    if (!arguments[k].operand.literal &&
        arguments[k].operand.type.dtype != joist_signature_operand(signature, k) &&
        joist_conversion_counts(arguments[k].operand.type, joist_signature_operand(signature, k)) &&
        (joist_operand_changes(op, &arguments[k].operand, k, count, signature) &
         JOIST_CHANGE_LOSSY))
      return true;
  return false;
}

/* A value that is assigned must be within the range of the dtype, or saturate. */
static uint8_t range_watch(joist_dtype from, joist_dtype to, uint8_t wanted) {
  const unsigned within = JOIST_LOSS_DIGITS | JOIST_LOSS_SMALL | JOIST_LOSS_FRACTION;
  const bool saturates = is_whole(to) && (wanted & JOIST_WATCH_SATURATE);
  return !saturates && (joist_conversion_loss(from, to).losses & ~within) ? JOIST_WATCH_RANGE : 0;
}

uint8_t joist_watch_of(joist_op op, const struct joist_argument *arguments, size_t count,
                       const struct joist_inference *inference,
                       const struct joist_attributes *attributes, uint8_t wanted) {
  const uint8_t overflow = wanted & (JOIST_WATCH_OVERFLOW | JOIST_WATCH_SATURATE);
  uint8_t watch = 0;
  if (overflow && can_overflow(op, arguments, count, inference, attributes)) watch |= overflow;
  bool whole = true;
  for (size_t k = 0; k < count; k++)
    whole &= arguments[k].operand.literal || !has_fractions(arguments[k].operand.type);
  whole = whole && is_whole(inference->signature.promoted.dtype);
  const uint8_t asked =
      wanted & (whole ? JOIST_WATCH_OVERFLOW | JOIST_WATCH_SATURATE : JOIST_WATCH_LOSS);
  if (asked && can_lose(op, arguments, count, &inference->signature))
    watch |= asked & JOIST_WATCH_SATURATE ? JOIST_WATCH_SATURATE : JOIST_WATCH_LOSS;
  if (op == JOIST_OP_REDUCE_MEAN && is_integer(arguments[0].operand.type.dtype) &&
      joist_dtype_digits(arguments[0].operand.type.dtype) > joist_dtype_digits(JOIST_F64))
    watch |= JOIST_WATCH_LOSS; /* it is computed exactly, whatever is lost elsewhere or asked for */
  if (joist_op_class(op) == JOIST_CLASS_ASSIGN && !arguments[count - 1].operand.literal)
    watch |= range_watch(arguments[count - 1].operand.type.dtype,
                         joist_signature_operand(&inference->signature, count - 1), wanted);
  return watch;
}

uint8_t joist_watch_of_conversion(struct joist_type from, joist_dtype to, bool assigns,
                                  uint8_t wanted) {
  if (joist_conversion_loss(from.dtype, to).losses == JOIST_LOSS_NONE) return 0;
  const uint8_t range = assigns ? range_watch(from.dtype, to, wanted) : 0;
  if (joist_dtype_kind(from.dtype) >= JOIST_KIND_FLOAT || !is_whole(to))
    return range | (joist_conversion_counts(from, to) ? wanted & JOIST_WATCH_LOSS : 0);
  return range | (wanted & JOIST_WATCH_SATURATE   ? JOIST_WATCH_SATURATE
                  : wanted & JOIST_WATCH_OVERFLOW ? JOIST_WATCH_LOSS
                                                  : 0);
}

bool joist_mean_is_exact(const struct joist_program *program, const struct joist_instruction *i) {
  return i->op == JOIST_OP_REDUCE_MEAN && (i->watch & JOIST_WATCH_LOSS) &&
         is_integer(program->values[i->operand[0]].type.dtype);
}

uint8_t joist_program_watch(const struct joist_program *program) {
  uint8_t watch = 0;
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    watch |= i->watch;
    for (uint32_t r = 0; r < i->region_count; r++) watch |= joist_program_watch(i->regions[r]);
  }
  return watch;
}

/* What an instruction need not be watched for if it is known to have such a finding. */
static uint8_t watch_for(const struct joist_finding *finding, const struct joist_program *program,
                         uint32_t k) {
  const struct joist_instruction *const i = &program->instructions[k];
  if (finding->program != program || finding->instruction != k ||
      finding->kind == JOIST_FOUND_BEYOND || joist_mean_is_exact(program, i))
    return 0;
  return i->signature.rounds_float               ? JOIST_WATCH_OVERFLOW | JOIST_WATCH_LOSS
         : finding->kind == JOIST_FOUND_OVERFLOW ? JOIST_WATCH_OVERFLOW
                                                 : JOIST_WATCH_LOSS;
}

struct joist_program *joist_program_unwatched(const struct joist_program *program,
                                              const struct joist_finding *findings, size_t count,
                                              struct joist_arena *arena) {
  struct joist_program *const made = joist_arena_copy(arena, program, sizeof *program);
  struct joist_instruction *const own = joist_arena_copy(
      arena, program->instructions, program->instruction_count * sizeof *program->instructions);
  if (made == NULL || own == NULL) return NULL;
  made->instructions = own;
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    for (size_t f = 0; f < count; f++)
      own[k].watch &= (uint8_t)~watch_for(&findings[f], program, k);
    if (own[k].region_count == 0) continue;
    struct joist_program **const regions =
        joist_arena_allocate(arena, own[k].region_count * sizeof(*regions));
    if (regions == NULL) return NULL;
    for (uint32_t r = 0; r < own[k].region_count; r++) {
      regions[r] = joist_program_unwatched(own[k].regions[r], findings, count, arena);
      if (regions[r] == NULL) return NULL;
    }
    own[k].regions = regions;
  }
  return made;
}

bool joist_sum_may_exceed(uint64_t bits, size_t n, joist_dtype dtype) {
  int digits = 0;
  while (digits < 64 && bits >> digits != 0) digits++;
  return digits + log2_of(n) > joist_dtype_digits(dtype);
}
