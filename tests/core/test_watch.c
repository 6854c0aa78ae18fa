/* Results of integer operations that do not fit: the operations whose kernels compute and look at
 * once, of every integer dtype, against exact arithmetic in 128 bits. Values, how many do not fit
 * and the first of them; by one thread and several, through the caches and past them. */
#include "core/base/tally.h"
#include "core/cpu/engine.h"
#include "core/plan/plan.h"

#include "arrays.h"
#include "programs.h"
#include "rules.h"
#include "sets.h"

__extension__ typedef __int128 wide;

static bool looks_at_once(joist_op op) {
  return joist_may_wrap_is_fused(op, JOIST_I8) || joist_may_wrap_is_fused(op, JOIST_UI8);
}

static wide value_at(joist_dtype dtype, const char *x) {
  int64_t value;
  joist_convert_find_portable(dtype, JOIST_I64)(1, x, &value);
  return joist_dtype_kind(dtype) == JOIST_KIND_UINT ? (wide)(uint64_t)value : value;
}

/* Or a number with the same low bits that does not fit either. */
static wide exact(joist_op op, wide a, wide b) {
  const bool large = a > INT64_MAX && b > INT64_MAX;
  switch (op) {
    case JOIST_OP_ADD:
      return a + b;
    case JOIST_OP_SUB:
      return a - b;
    case JOIST_OP_MUL:
      return large ? (wide)((uint64_t)a * (uint64_t)b) + ((wide)1 << 100) : a * b;
    case JOIST_OP_NEGATE:
      return -a;
    case JOIST_OP_ABS:
      return a < 0 ? -a : a;
    default:
      return a * ((wide)1 << b);
  }
}

static bool fits(joist_dtype dtype, wide x) {
  return x >= joist_dtype_min_int(dtype) && x <= (wide)joist_dtype_max_int(dtype);
}

enum { FACTORS = 3 }; /* turns before products close to the bounds */

/* One operand, of which none, few or all elements are so large that a result may not fit. */
static void fill_operand(joist_op op, joist_dtype dtype, bool second, size_t n, int turn, char *x) {
  const size_t size = joist_dtype_size(dtype);
  fill(dtype, n, turn == 2 ? FILL_BITS : FILL_SMALL, x);
  for (size_t k = 0; k < n; k++) {
    const bool shift = second && op == JOIST_OP_SHIFT_LEFT;
    if (turn > 0 && !shift) break;
    uint64_t small = random_below(turn == 0 ? 3 : joist_dtype_size(dtype) > 4 ? 61 : 8);
    if (shift && small >= (uint64_t)joist_dtype_digits(dtype)) small = 0;
    joist_convert_find_portable(JOIST_UI64, dtype)(1, &small, x + k * size);
  }
  for (int k = 0; turn == 1 && op != JOIST_OP_SHIFT_LEFT && k < 3; k++) {
    const size_t at = random_below(n);
    fill(dtype, 1, FILL_EXTREME, x + at * size);
  }
}

/* Factors whose products are close to the bounds, or beyond. */
static void fill_factors(joist_dtype dtype, size_t n, char *x, char *y) {
  const size_t size = joist_dtype_size(dtype);
  const int digits = joist_dtype_digits(dtype);
  const bool has_sign = joist_dtype_kind(dtype) == JOIST_KIND_INT;
  for (size_t k = 0; k < n; k++) {
    const wide a = (wide)random_below((uint64_t)1 << digits / 2) + 1;
    const wide b = ((wide)1 << digits) / a + (wide)random_below(3) - 1;
    const uint64_t first = (uint64_t)(has_sign && random_below(2) ? -a : a);
    const uint64_t second = (uint64_t)(has_sign && random_below(2) ? -b : b);
    joist_convert_find_portable(JOIST_UI64, dtype)(1, &first, x + k * size);
    joist_convert_find_portable(JOIST_UI64, dtype)(1, &second, y + k * size);
  }
}

/* Room for n elements and a byte, at the beginning of a line of memory. */
static char *new_array(joist_dtype dtype, size_t n) {
  enum { LINE = 64 };
  char *const made = aligned_alloc(LINE, (n * joist_dtype_size(dtype) + LINE) / LINE * LINE);
  if (made == NULL) abort();
  return made;
}

static void check_operation(joist_op op, joist_dtype dtype, size_t n, int turn) {
  enum { RUNS = 6 };
  const size_t size = joist_dtype_size(dtype), count = joist_operation(op)->least;
  const uint32_t extent = (uint32_t)n;
  struct joist_program program;
  struct joist_inference inference;
  struct joist_error error;
  struct joist_plan *plan = NULL;
  joist_value_id ids[2] = {0};
  char *in[2] = {NULL}, *const want = new_array(dtype, n), *const out = new_array(dtype, n);
  joist_program_init(&program);
  for (size_t k = 0; k < count; k++) {
    ids[k] = add_input(&program, dtype, 1, &extent);
    in[k] = new_array(dtype, n);
    fill_operand(op, dtype, k == 1, n, turn, in[k]);
  }
  if (turn == FACTORS) fill_factors(dtype, n, in[0], in[1]);
  CHECK_INT(infer(&program, joist_rules_at(0), op, ids, count, &no_attributes, &inference, &error),
            JOIST_OK);
  CHECK_INT(inference.signature.result[0].dtype, dtype);
  struct joist_instruction i = joist_instruction_of(op, &inference, ids, count, &no_attributes, 0);
  i.watch = JOIST_WATCH_OVERFLOW;
  CHECK_INT(joist_program_add(&program, &i, &inference, &error), JOIST_OK);
  add_output(&program, i.result);
  CHECK_INT(joist_plan_make(&program, &plan, &error), JOIST_OK);
  size_t wrapped = 0, first = n;
  for (size_t k = n; k-- > 0;) {
    const wide b = count > 1 ? value_at(dtype, in[1] + k * size) : 0;
    const wide result = exact(op, value_at(dtype, in[0] + k * size), b);
    const uint64_t low = (uint64_t)result;
    joist_convert_find_portable(JOIST_UI64, dtype)(1, &low, want + k * size);
    if (fits(dtype, result)) continue;
    wrapped++;
    first = k;
  }
  for (int r = 0; r < RUNS; r++) {
    struct joist_tally tally;
    const struct joist_run run = {.threads = r % 3 + 1,
                                  .parallel_from = 64,
                                  .stream_from = r < 3 ? 1 : SIZE_MAX,
                                  .native = JOIST_NATIVE_NEVER,
                                  .tally = &tally};
    void *outputs[] = {out};
    joist_tally_init(&tally, false);
    memset(out, 0x5a, n * size + 1);
    CHECK_INT(joist_plan_run(plan, (const void *const *)in, outputs, &run, &error), JOIST_OK);
    const size_t wrong = first_difference(dtype, n, out, want);
    const struct joist_finding none = {.first = n};
    const struct joist_finding *const f = tally.count > 0 ? &tally.found[0] : &none;
    CHECK_MSG(wrong == n, "nv_%s of %zu %s, run %d: element %zu", joist_op_name(op), n,
              joist_dtype_name(dtype), r, wrong);
    CHECK_MSG(f->count == wrapped && f->first == first,
              "nv_%s of %zu %s, run %d: %zu wrap, the first at %zu; found %zu, the first at %zu",
              joist_op_name(op), n, joist_dtype_name(dtype), r, wrapped, first, f->count, f->first);
    CHECK_MSG(out[n * size] == 0x5a, "written past the end");
  }
  joist_plan_free(plan);
  free(out);
  free(want);
  for (size_t k = 0; k < count; k++) free(in[k]);
  joist_program_clear(&program);
}

int main(void) {
  static const size_t lengths[] = {1, 64, 129, 1000, 5003};
  const char *sets[MAX_SETS];
  const int set_count = find_sets(sets);
  use_rules();
  for (int s = 0; s < set_count; s++) {
    joist_kernels_select(sets[s]);
    for (int op = 0; op < JOIST_OP_COUNT; op++)
      for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
        const joist_kind kind = joist_dtype_kind((joist_dtype)d);
        if (!looks_at_once((joist_op)op)) continue;
        if (kind != JOIST_KIND_INT && kind != JOIST_KIND_UINT) continue;
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
          for (int turn = 0; turn < (op == JOIST_OP_MUL ? FACTORS + 1 : FACTORS); turn++)
            check_operation((joist_op)op, (joist_dtype)d, lengths[l], turn);
      }
  }
  return check_report("watch");
}
