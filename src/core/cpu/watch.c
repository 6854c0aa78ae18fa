/* Looking for values that do not fit. */
#include "core/cpu/watch.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/cpu/bind.h"
#include "core/cpu/steps.h"
#include "core/kernels/stream.h"
#include "core/program/watch.h"
#include "core/types/changed.h"

enum { PIECE = JOIST_MARKS_MOST }; /* elements that are looked through, then computed */

static joist_may_wrap *may_wrap_of(const struct joist_step *step) {
  return (joist_may_wrap *)step->looks[0];
}
static joist_wraps *wraps_of(const struct joist_step *step) {
  return (joist_wraps *)step->looks[1];
}

/* ---- results of integer operations ---- */

/* The bounds of a dtype of fewer bits than a byte. */
struct bounds {
  int low, high;
};

static struct bounds bounds_of(joist_dtype dtype) {
  return (struct bounds){(int)joist_dtype_min_int(dtype), (int)joist_dtype_max_int(dtype)};
}

/* What counts the results of a step that wrap while it computes them; NULL if they must be looked
 * at one by one, as the first must. */
static joist_count_wraps *counter_of(const struct joist_program *program,
                                     const struct joist_step *step, size_t first,
                                     struct joist_tally *tally) {
  const bool plain = step->kind == JOIST_STEP_OPERATION && !step->saturates &&
                     !step->masked_result && step->bounds == JOIST_DTYPE_NONE;
  return plain && joist_tally_has(tally, program, step->instruction, JOIST_FOUND_OVERFLOW, first)
             ? (joist_count_wraps *)step->looks[3]
             : NULL;
}

static bool is_signed(joist_dtype dtype) { return joist_dtype_kind(dtype) == JOIST_KIND_INT; }

static int byte_at(joist_dtype bounds, const void *x, size_t k) {
  return is_signed(bounds) ? ((const int8_t *)x)[k] : ((const uint8_t *)x)[k];
}

/* Whether any of n results has more digits than a dtype of fewer bits than a byte. */
static bool is_beyond(const struct joist_step *step, size_t n, const void *x) {
  return step->bounds != JOIST_DTYPE_NONE &&
         joist_magnitudes_find(joist_dtype_compute(step->bounds))(n, x) >>
                 joist_dtype_digits(step->bounds) !=
             0;
}

/* Adds the elements of a byte that are within its range, but not within the range of `dtype`. */
static void mark_beyond(size_t n, joist_dtype dtype, const void *x, uint8_t *wrapped) {
  const struct bounds bounds = bounds_of(dtype);
  for (size_t k = 0; k < n; k++) {
    const int value = byte_at(dtype, x, k);
    if (wrapped[k] == 0)
      wrapped[k] = value < bounds.low    ? JOIST_WRAPPED_BELOW
                   : value > bounds.high ? JOIST_WRAPPED_ABOVE
                                         : 0;
  }
}

/* The bounds of the dtype in place of results that do not fit. */
static void saturate(size_t n, joist_dtype dtype, const uint8_t *wrapped, char *out) {
  const size_t size = joist_dtype_size(dtype);
  const int64_t low = joist_dtype_min_int(dtype);
  const uint64_t high = joist_dtype_max_int(dtype);
  char bound[3][8];
  joist_convert_find(JOIST_UI64, dtype)(1, &high, bound[JOIST_WRAPPED_ABOVE]);
  joist_convert_find(JOIST_I64, dtype)(1, &low, bound[JOIST_WRAPPED_BELOW]);
  for (size_t k = 0; k < n; k++)
    if (wrapped[k] != 0) memcpy(out + k * size, bound[wrapped[k]], size);
}

/* The step and the tally that a piece belongs to, and its first element. */
struct looking {
  const struct joist_program *program;
  const struct joist_step *step;
  struct joist_tally *tally;
  size_t first;
};

static const uint8_t nowhere[PIECE] = {0};

static size_t first_marked(size_t n, const uint8_t *marks, const uint8_t *missing) {
  size_t first = 0;
  while (first < n && (marks[first] == 0 || missing[first] != 0)) first++;
  return first;
}

static void report(const struct looking *at, size_t n, const uint8_t *wrapped,
                   const uint8_t *mask) {
  const uint8_t *const missing = mask != NULL ? mask : nowhere;
  if (at->tally != NULL && !at->step->saturates)
    joist_tally_add(at->tally, at->program, at->step->instruction, JOIST_FOUND_OVERFLOW,
                    joist_count_marks_find()(n, wrapped, missing),
                    at->first + first_marked(n, wrapped, missing));
}

/* The second operand of a piece, which may be one number. */
static const void *second_of(const struct joist_step *step, size_t n, const void *const *in,
                             char *repeated) {
  const size_t size = step->in[1].size;
  for (size_t k = 0; step->by_number && k < n; k++) memcpy(repeated + k * size, in[1], size);
  return step->by_number ? repeated : in[1];
}

/* A piece of an operation, some results of which may not fit; `computed` if they are at `out`
 * already, apart from the operands. */
static size_t run_wrapping(const struct looking *at, size_t n, const void *const *in, void *out,
                           bool computed) {
  const struct joist_step *const step = at->step;
  uint8_t wrapped[PIECE] = {0}, mask[PIECE]; /* the result may be where its mask is */
  char repeated[PIECE * 8];
  const void *const operands[] = {in[0], second_of(step, n, in, repeated)};
  if (step->masked_result) memcpy(mask, in[joist_step_operands(step)], n);
  if (wraps_of(step) != NULL) wraps_of(step)(n, operands, wrapped);
  const size_t done = computed ? n : joist_bound_kernel(step)(n, in, out);
  if (step->bounds != JOIST_DTYPE_NONE) mark_beyond(done, step->bounds, out, wrapped);
  report(at, done, wrapped, step->masked_result ? mask : NULL);
  if (step->saturates)
    saturate(done, step->bounds != JOIST_DTYPE_NONE ? step->bounds : step->out.dtype, wrapped, out);
  return done;
}

/* The value of an integer as a sign and a magnitude. */
static uint64_t magnitude(joist_dtype dtype, const char *x, bool *negative) {
  int64_t value = 0;
  joist_convert_find(dtype, JOIST_I64)(1, x, &value);
  *negative = is_signed(dtype) && value < 0;
  return *negative ? 0 - (uint64_t)value : (uint64_t)value;
}

static uint64_t greatest_magnitude(joist_dtype dtype, size_t n, const void *x) {
  char found[8];
  bool negative;
  joist_fold_find(JOIST_OP_MAX, dtype, dtype)(1, n, x, found);
  const uint64_t most = magnitude(dtype, found, &negative);
  joist_fold_find(JOIST_OP_MIN, dtype, dtype)(1, n, x, found);
  const uint64_t least = magnitude(dtype, found, &negative);
  return most > least ? most : least;
}

/* Whether powers by one exponent may wrap; `known` becomes false if there are several. */
static bool power_may_wrap(const struct joist_step *step, size_t n, const void *const *in,
                           bool *known) {
  const joist_dtype dtype = step->in[0].dtype;
  const size_t size = step->in[1].size;
  uint64_t exponent = 0;
  joist_convert_find(dtype, JOIST_UI64)(1, in[1], &exponent);
  *known = step->by_number || memcmp(in[1], (const char *)in[1] + size, (n - 1) * size) == 0;
  const uint64_t limit = joist_power_limit(dtype, exponent);
  /* the complement of a negative number is less than its magnitude, by one */
  return *known && joist_magnitudes_find(dtype)(n, in[0]) >= limit &&
         greatest_magnitude(dtype, n, in[0]) > limit;
}

/* Looks through the operands of an operation that is not fused. */
static bool may_wrap_apart(const struct looking *at, size_t n, const void *const *in) {
  const struct joist_step *const step = at->step;
  if (may_wrap_of(step) == NULL) return false;
  if (step->op == JOIST_OP_POW) {
    bool known = false;
    if (!power_may_wrap(step, n, in, &known) && known) return false;
  } else if (step->by_number) {
    int64_t divisor = 0;
    joist_convert_find(step->in[1].dtype, JOIST_I64)(1, in[1], &divisor);
    if (divisor != -1) return false;
  }
  char repeated[PIECE * 8];
  const void *const operands[] = {in[0], second_of(step, n, in, repeated)};
  return may_wrap_of(step)(n, operands, NULL);
}

static size_t run_piece(const struct looking *at, size_t n, const void *const *in, void *out) {
  const struct joist_step *const step = at->step;
  if (step->fused) {
    char made[PIECE * 8]; /* the result may be where an operand is */
    if (may_wrap_of(step)(n, in, made) || is_beyond(step, n, made))
      return run_wrapping(at, n, in, out, false);
    memcpy(out, made, n * joist_dtype_size(joist_dtype_compute(step->out.dtype)));
    return n;
  }
  if (may_wrap_apart(at, n, in)) return run_wrapping(at, n, in, out, false);
  const size_t done = joist_bound_kernel(step)(n, in, out);
  /* operands of such dtypes are not written over */
  return is_beyond(step, done, out) ? run_wrapping(at, done, in, out, false) : done;
}

/* Whether operands, and the mask, are still there when results have been written. */
static bool is_apart(const struct joist_step *step, const void *const *in, const void *out) {
  for (uint32_t k = 0; k < step->operand_count; k++)
    if (out == in[k]) return false;
  return true;
}

/* ---- conversions ---- */

/* The integers that a dtype holds; false for one without zero. */
static bool find_held(joist_dtype dtype, struct joist_held *held) {
  const joist_dtype real = joist_dtype_real(dtype);
  if (joist_dtype_kind(dtype) == JOIST_KIND_BOOL) {
    *held = (struct joist_held){.above = 1};
  } else if (joist_dtype_kind(dtype) < JOIST_KIND_FLOAT) {
    *held = (struct joist_held){.above = joist_dtype_max_int(dtype),
                                .below = 0 - (uint64_t)joist_dtype_min_int(dtype)};
  } else {
    const double most = joist_dtype_max_float(real), all = 18446744073709551616.0;
    *held = (struct joist_held){.above = most < all ? (uint64_t)most : UINT64_MAX,
                                .rounds = joist_dtype_digits(real) < 64,
                                .digits = joist_dtype_digits(real)};
    if (joist_dtype_has_sign(real)) held->below = held->above;
    return joist_dtype_has_zero(real);
  }
  return true;
}

/* Whether any of n integers may not be held, by the bits of all: of the complement of a negative
 * one, whose magnitude is one more. */
static bool may_change(size_t n, joist_dtype from, const void *in, const struct joist_held *held) {
  const uint64_t bits = joist_magnitudes_find(from)(n, in);
  return bits > held->above || (is_signed(from) && bits >= held->below) ||
         (held->rounds && bits >> held->digits != 0);
}

/* The elements of a piece, with zeros where they are missing. */
static const void *without_missing(size_t n, joist_dtype dtype, const uint8_t *mask, const void *in,
                                   char *made) {
  static const uint64_t zeros[PIECE] = {0};
  if (mask == NULL) return in;
  (void)joist_kernel_find(JOIST_OP_IFELSE, dtype)(n, (const void *[]){mask, zeros, in}, made);
  return made;
}

/* As joist_count_changed(), of integers by the kernels of the instruction set. */
static size_t count_changed(size_t n, const void *in, joist_dtype from, joist_dtype to,
                            const uint8_t *mask, bool seen, size_t *first) {
  joist_changes *const changes = joist_changes_find(from);
  struct joist_held held;
  if (changes == NULL || !find_held(to, &held))
    return joist_count_changed(n, in, from, to, mask, first);
  size_t count = 0;
  for (size_t k = 0; k < n; k += PIECE) {
    const size_t m = joist_smaller(n - k, PIECE);
    const char *const piece = (const char *)in + k * joist_dtype_size(from);
    /* Where some change, more do. */
    if (count == 0 && !seen && !may_change(m, from, piece, &held)) continue;
    const uint8_t *const missing = mask == NULL ? NULL : mask + k;
    char kept[PIECE * 8];
    size_t found = changes(m, without_missing(m, from, missing, piece, kept), &held);
    if (found > 0 && count == 0 && !seen) {
      found = joist_count_changed(m, piece, from, to, missing, first);
      *first += k;
    }
    count += found;
  }
  return count;
}

/* Suspects a mean whose accumulator may round the sum of integers; false for other operations. */
static bool watch_mean(const struct joist_program *program, const struct joist_instruction *i,
                       size_t n, const void *in, struct joist_tally *tally) {
  if (!joist_mean_is_exact(program, i)) return false;
  const struct joist_value *const x = &program->values[i->operand[0]];
  const size_t results = joist_value_count(&program->values[i->result]);
  const uint64_t bits = joist_magnitudes_find(x->type.dtype)(n, in);
  if (results > 0 && joist_sum_may_exceed(bits, joist_value_count(x) / results, JOIST_F64))
    joist_tally_suspect(tally);
  return true;
}

void joist_watch_converted(const struct joist_program *program, uint32_t instruction, size_t n,
                           const void *in, joist_dtype from, joist_dtype to, bool only_beyond,
                           const uint8_t *mask, size_t offset, struct joist_tally *tally) {
  const struct joist_instruction *const i = &program->instructions[instruction];
  const bool range = (i->watch & JOIST_WATCH_RANGE) != 0;
  size_t first = 0, count = 0;
  if (watch_mean(program, i, n, in, tally)) return;
  if (range || only_beyond) count = joist_count_beyond(n, in, from, to, mask, &first);
  joist_tally_add(tally, program, instruction, range ? JOIST_FOUND_BEYOND : JOIST_FOUND_LOSS, count,
                  offset + first);
  if (i->watch == JOIST_WATCH_RANGE || only_beyond || count > 0) return;
  const joist_found kind = i->signature.rounds_float ? JOIST_FOUND_OVERFLOW : JOIST_FOUND_LOSS;
  const bool seen = joist_tally_has(tally, program, instruction, kind, offset);
  count = count_changed(n, in, from, to, mask, seen, &first);
  joist_tally_add(tally, program, instruction, kind, count, offset + first);
}

static void convert_tile(const struct looking *at, size_t n, const void *const *in, void *out) {
  const struct joist_step *const step = at->step;
  const joist_dtype from = step->in[0].dtype, to = step->out.dtype;
  joist_bound_convert(step, 0)(n, in[0], out);
  if (step->saturates) {
    joist_saturate_changed(n, in[0], from, to, out);
    return;
  }
  if (at->tally == NULL) return;
  joist_watch_converted(at->program, step->instruction, n, in[0], from, to, step->only_beyond,
                        step->masked_result ? in[1] : NULL, at->first, at->tally);
}

/* ---- steps ---- */

/* All pieces of a tile; `computed` as for run_wrapping(). By pointer: a struct that was just
 * written is copied only when all stores before it are done, those past the caches among them. */
static size_t run_pieces(struct looking *at, size_t n, const void *const *in, void *out,
                         bool computed) {
  const struct joist_step *const step = at->step;
  if (step->kind == JOIST_STEP_CONVERT) {
    convert_tile(at, n, in, out);
    return n;
  }
  for (size_t k = 0; k < n; k += PIECE, at->first += PIECE) {
    const size_t m = joist_smaller(n - k, PIECE);
    const void *part[JOIST_REFS_MAX] = {NULL};
    for (uint32_t j = 0; j < step->operand_count; j++)
      part[j] = (const char *)in[j] + (step->by_number && j == 1 ? 0 : k * step->in[j].size);
    char *const to = (char *)out + k * step->out.size;
    const size_t done = computed ? run_wrapping(at, m, part, to, true) : run_piece(at, m, part, to);
    if (done < m) return k + done;
  }
  return n;
}

/* As joist_count_wraps, beside a second operand that may be one number. */
static size_t count_tile(const struct joist_step *step, joist_count_wraps *count, size_t n,
                         const void *const *in, char *out) {
  if (!step->by_number) return count(n, in, out);
  char repeated[PIECE * 8];
  const char *const x = in[0], *const y = second_of(step, joist_smaller(n, PIECE), in, repeated);
  size_t wrapped = 0;
  for (size_t k = 0; k < n; k += PIECE)
    wrapped += count(joist_smaller(n - k, PIECE), (const void *[]){x + k * step->in[0].size, y},
                     out + k * step->out.size);
  return wrapped;
}

size_t joist_watch_run(const struct joist_program *program, const struct joist_step *step,
                       size_t first, size_t n, const void *const *in, void *out,
                       struct joist_tally *tally) {
  struct looking at = {program, step, tally, first};
  if (tally == NULL && !step->saturates) return joist_step_run(step, n, in, out);
  joist_count_wraps *const count = counter_of(program, step, first, tally);
  if (count != NULL) {
    joist_tally_add(tally, program, step->instruction, JOIST_FOUND_OVERFLOW,
                    count_tile(step, count, n, in, out), first);
    return n;
  }
  /* The whole tile at once, and then only what may not fit. */
  const bool computed = step->fused && is_apart(step, in, out);
  if (computed && !may_wrap_of(step)(n, in, out) && !is_beyond(step, n, out)) return n;
  return run_pieces(&at, n, in, out, computed);
}

/* As joist_count_wraps, of whole lines of memory that are written past the caches. */
static size_t count_streamed(const struct joist_step *step, joist_count_wraps *count, size_t n,
                             const void *const *in, char *out) {
  enum { BYTES = 4096 }; /* so that calls cost little beside them */
  _Alignas(JOIST_LINE) char piece[BYTES];
  joist_stream_lines *const lines = joist_stream_find();
  const size_t some = BYTES / step->out.size;
  size_t wrapped = 0;
  for (size_t k = 0; k < n; k += some) {
    const size_t m = joist_smaller(n - k, some);
    const void *part[JOIST_REFS_MAX] = {NULL};
    for (uint32_t j = 0; j < step->operand_count; j++)
      part[j] = (const char *)in[j] + (step->by_number && j == 1 ? 0 : k * step->in[j].size);
    wrapped += count_tile(step, count, m, part, piece);
    lines(m * step->out.size / JOIST_LINE, piece, out + k * step->out.size);
  }
  return wrapped;
}

size_t joist_watch_stream(const struct joist_program *program, const struct joist_step *step,
                          size_t first, size_t n, const void *const *in, void *out,
                          struct joist_tally *tally) {
  struct looking at = {program, step, tally, first};
  joist_may_wrap *const stream = (joist_may_wrap *)step->looks[2];
  if ((tally == NULL && !step->saturates) || stream == NULL || step->bounds != JOIST_DTYPE_NONE ||
      !is_apart(step, in, out))
    return 0;
  const size_t whole = n - n % (JOIST_LINE / step->out.size);
  joist_count_wraps *const count = counter_of(program, step, first, tally);
  if (count != NULL) {
    joist_tally_add(tally, program, step->instruction, JOIST_FOUND_OVERFLOW,
                    count_streamed(step, count, whole, in, out), first);
    return whole;
  }
  if (stream(whole, in, out)) (void)run_pieces(&at, whole, in, out, true);
  return whole;
}

void joist_watch_splat(const struct joist_program *program, const struct joist_step *step,
                       const void *in, struct joist_tally *tally) {
  size_t first = 0;
  if (tally != NULL && step->counts_lost &&
      !watch_mean(program, &program->instructions[step->instruction], 1, in, tally) &&
      (step->only_beyond
           ? joist_count_beyond(1, in, step->in[0].dtype, step->through, NULL, &first) > 0
           : joist_element_changes(step->in[0].dtype, step->through, in)))
    joist_tally_add(tally, program, step->instruction, JOIST_FOUND_LOSS, 1, 0);
}
