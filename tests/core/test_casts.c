/* Ledgers of random expressions: inference under the rules they were recorded under gives what was
 * recorded, casts that are found give it under others, and no smaller set does, by trying all. */
#include "core/audit/casts.h"

#include <stdlib.h>

#include "check.h"
#include "core/promotion/builtin_rules.h"
#include "core/types/error.h"
#include "rules.h"

enum { ARGUMENTS = 3, EVENTS = 4, ALL = 512 };

static struct joist_error error;
static uint64_t state = 88172645463325252u;

/* Marsaglia's xorshift. */
static uint32_t below(uint32_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 33) % n;
}

static const joist_op ops[] = {JOIST_OP_ADD, JOIST_OP_MUL, JOIST_OP_DIV, JOIST_OP_MIN};

/* An operand: an argument, an earlier result, or a literal. */
static struct joist_ledger_source source_of(const struct joist_ledger *ledger,
                                            const struct joist_rules *rules, bool may_be_literal,
                                            struct joist_argument *argument) {
  static const double half = 0.5;
  static const int two = 2;
  struct joist_ledger_source source = {.argument = argument, .value = JOIST_LEDGER_NONE};
  *argument = (struct joist_argument){.shape = {.rank = 1, .extent = {4}}};
  argument->operand.rank = 1;
  if (may_be_literal && below(4) == 0) {
    const bool whole = below(2) == 0;
    const joist_category category = whole ? JOIST_CATEGORY_INTEGER : JOIST_CATEGORY_FLOAT;
    argument->operand = (struct joist_operand){
        .type = {(joist_dtype)rules->literal[category], true}, .literal = true};
    argument->shape.rank = 0;
    source.host = whole ? JOIST_HOST_INTEGER : JOIST_HOST_DOUBLE;
    source.data = whole ? (const void *)&two : (const void *)&half;
    source.count = 1;
    return source;
  }
  source.value = below(ledger->value_count);
  argument->operand.type = ledger->values[source.value].type;
  return source;
}

/* False when the operation is undefined. */
static bool add_event(struct joist_ledger *ledger, const struct joist_rules *rules, uint32_t site) {
  const struct joist_attributes none = {.count = 0};
  struct joist_argument arguments[2];
  struct joist_ledger_source sources[2];
  for (int k = 0; k < 2; k++) {
    const bool after_tensor = k == 1 && sources[0].value != JOIST_LEDGER_NONE;
    sources[k] = source_of(ledger, rules, k == 0 || after_tensor, &arguments[k]);
  }
  struct joist_ledger_event event = {
      .op = ops[below(sizeof ops / sizeof *ops)], .site = site, .call = ledger->call_count};
  struct joist_inference inference;
  return joist_program_infer(rules, event.op, arguments, 2, &none, &inference, &error) ==
             JOIST_OK &&
         joist_ledger_add(ledger, &event, sources, 2, &none, &inference, &error) == JOIST_OK;
}

static bool make_ledger(struct joist_ledger *ledger, const struct joist_rules *rules) {
  static const joist_dtype dtypes[] = {JOIST_I8, JOIST_I32, JOIST_UI8, JOIST_F16, JOIST_F32};
  joist_ledger_init(ledger);
  for (uint32_t a = 0; a < ARGUMENTS; a++) {
    uint32_t value;
    const struct joist_type type = {dtypes[below(5)], false};
    if (joist_ledger_add_value(ledger, type, &value, &error) != JOIST_OK) return false;
    ledger->values[value].argument = a;
  }
  const uint32_t sites = 1 + below(EVENTS);
  for (uint32_t site = 0; site < sites; site++)
    if (!add_event(ledger, rules, site)) return false;
  return true;
}

static void given_types(const struct joist_ledger *ledger, struct joist_type *types) {
  for (uint32_t v = 0; v < ledger->value_count; v++) types[v] = ledger->values[v].type;
}

/* Whether all calls give what was recorded. */
static bool gives(const struct joist_ledger *ledger, const struct joist_rules *rules,
                  const struct joist_cast *casts, size_t count) {
  struct joist_type types[ARGUMENTS + EVENTS];
  joist_dtype result[EVENTS];
  given_types(ledger, types);
  if (joist_ledger_infer(ledger, rules, casts, count, true, types, result, &error) != JOIST_OK)
    return false;
  for (uint32_t e = 0; e < ledger->event_count; e++) {
    const uint32_t value = ledger->events[e].result;
    if (result[e] == JOIST_DTYPE_NONE || types[value].dtype != ledger->values[value].type.dtype)
      return false;
  }
  return true;
}

/* Every cast there is. */
static size_t all_casts(const struct joist_ledger *ledger, struct joist_cast *casts) {
  size_t n = 0;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_dtype dtype = (joist_dtype)d;
    for (uint32_t a = 0; a < ARGUMENTS; a++)
      casts[n++] = (struct joist_cast){JOIST_CAST_ARGUMENT, a, 0, dtype};
    for (uint32_t e = 0; e < ledger->event_count; e++) {
      for (uint32_t k = 0; k < 2; k++)
        casts[n++] = (struct joist_cast){JOIST_CAST_OPERAND, e, k, dtype};
      casts[n++] = (struct joist_cast){JOIST_CAST_RESULT, e, 0, dtype};
    }
  }
  return n;
}

/* Whether `count` casts are enough, by trying all sets of them. */
static bool enough(const struct joist_ledger *ledger, const struct joist_rules *rules,
                   const struct joist_cast *all, size_t n, struct joist_cast *chosen, size_t have,
                   size_t count, size_t from) {
  if (have == count) return gives(ledger, rules, chosen, count);
  for (size_t c = from; c < n; c++) {
    chosen[have] = all[c];
    if (enough(ledger, rules, all, n, chosen, have + 1, count, c + 1)) return true;
  }
  return false;
}

static long found_count, needed_count, larger_count;

static void test_pair(const struct joist_ledger *ledger, const struct joist_rules *from,
                      const struct joist_rules *to) {
  const bool argument[ARGUMENTS] = {true, true, true}, result[EVENTS] = {true, true, true, true};
  const uint32_t operand[EVENTS] = {3, 3, 3, 3};
  const struct joist_castable castable = {argument, operand, result};
  struct joist_type types[ARGUMENTS + EVENTS];
  struct joist_casts casts;
  given_types(ledger, types);
  if (joist_find_casts(ledger, to, &castable, types, 200000, &casts, &error) != JOIST_OK) abort();
  if (!casts.found) return;
  found_count++;
  CHECK_MSG(gives(ledger, to, casts.cast, casts.count), "%s to %s: %zu casts do not help", from->id,
            to->id, casts.count);
  if (casts.count == 0) return;
  needed_count++;
  CHECK_MSG(casts.fewest, "%s to %s: %zu casts not shown to be the fewest", from->id, to->id,
            casts.count);
  static struct joist_cast all[ALL], chosen[ALL];
  const size_t n = all_casts(ledger, all);
  if (casts.count > 3) return;
  larger_count += casts.count > 1;
  CHECK_MSG(!enough(ledger, to, all, n, chosen, 0, casts.count - 1, 0),
            "%s to %s: %zu casts, where fewer are enough", from->id, to->id, casts.count);
}

static void test_random(void) {
  for (int turn = 0; turn < 400; turn++) {
    const struct joist_rules *const from = joist_rules_at(below((uint32_t)joist_rules_count()));
    struct joist_ledger ledger;
    if (make_ledger(&ledger, from)) {
      CHECK(gives(&ledger, from, NULL, 0));
      for (int k = 0; k < 3; k++)
        test_pair(&ledger, from, joist_rules_at(below((uint32_t)joist_rules_count())));
    }
    joist_ledger_clear(&ledger);
  }
  CHECK_MSG(needed_count > 100 && larger_count > 20, "only %ld sets of casts, %ld of several",
            needed_count, larger_count);
}

int main(void) {
  use_rules();
  test_random();
  return check_report("casts");
}
