/* Inference of a ledger under other rules, and the search for casts. */
#include "core/audit/casts.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/types/error.h"

/* ---- inference ---- */

static const struct joist_cast *find_cast(const struct joist_cast *casts, size_t count,
                                          joist_cast_kind kind, uint32_t at, uint32_t operand) {
  for (size_t c = 0; c < count; c++)
    if (casts[c].kind == kind && casts[c].at == at && casts[c].operand == operand) return &casts[c];
  return NULL;
}

/* A ledger whose operations are inferred again. */
struct pass {
  const struct joist_ledger *ledger;
  const struct joist_rules *rules;
  const struct joist_cast *casts;
  size_t count;
  struct joist_type *types;       /* of each value */
  struct joist_operand *operands; /* room for the operands of one event */
};

/* An operand as event e finds it. */
static struct joist_operand operand_of(const struct pass *pass,
                                       const struct joist_ledger_event *event, uint32_t k) {
  const struct joist_ledger_operand *const own = &event->operand[k];
  struct joist_operand operand = own->operand;
  if (own->value != JOIST_LEDGER_NONE)
    operand.type = pass->types[own->value];
  else if (operand.literal)
    operand.type.dtype =
        (joist_dtype)pass->rules->literal[joist_dtype_category(operand.type.dtype)];
  /* R's TRUE and FALSE are numbers of their own under some rules. */
  if (own->value == JOIST_LEDGER_NONE && operand.type.dtype == JOIST_BOOL)
    operand.literal = joist_rules_tell_truths(pass->rules);
  const struct joist_cast *const cast =
      find_cast(pass->casts, pass->count, JOIST_CAST_OPERAND, event->site, k);
  if (cast == NULL) return operand;
  operand.type = (struct joist_type){cast->dtype, false};
  operand.literal = false;
  return operand;
}

/* Rules that look at values cannot decide by one that is not known; a bare R value that its dtype
 * does not hold is an error when it is read. */
static bool decidable(const struct pass *pass, const struct joist_ledger_event *event) {
  if (pass->rules->policy != JOIST_BY_VALUE || event->operand_count < 2) return true;
  for (uint32_t k = 0; k < event->operand_count; k++)
    if (pass->operands[k].rank == 0 && !pass->operands[k].has_range &&
        !pass->operands[k].type.ambiguous && event->operand[k].value != JOIST_LEDGER_NONE)
      return false;
  return true;
}

static bool literals_fit(const struct pass *pass, const struct joist_ledger_event *event,
                         const struct joist_signature *signature) {
  for (uint32_t k = 0; k < event->operand_count; k++)
    if (joist_operand_promoted(event->op, k, event->operand_count, signature) &&
        joist_literal_beyond(&pass->operands[k], joist_signature_operand(signature, k)))
      return false;
  return true;
}

/* The type of what event e gives, before it is cast; dtype JOIST_DTYPE_NONE where it is undefined.
 */
static struct joist_type infer_event(const struct pass *pass, uint32_t e) {
  const struct joist_ledger_event *const event = &pass->ledger->events[e];
  const struct joist_type undefined = {JOIST_DTYPE_NONE, false};
  if (event->pinned) return pass->ledger->values[event->result].type;
  for (uint32_t k = 0; k < event->operand_count; k++)
    pass->operands[k] = operand_of(pass, event, k);
  struct joist_attributes attributes = {.count = 0};
  if (event->requested.dtype != JOIST_DTYPE_NONE)
    joist_attributes_set_type(&attributes, event->requested);
  struct joist_signature signature;
  if (!decidable(pass, event) ||
      joist_infer(pass->rules, event->op, pass->operands, event->operand_count, &attributes,
                  &signature, NULL) != JOIST_OK ||
      !literals_fit(pass, event, &signature))
    return undefined;
  return signature.result[0];
}

/* The type that a result has for those who read it: its cast's, where there is one. */
static struct joist_type after_cast(const struct pass *pass, const struct joist_ledger_event *event,
                                    struct joist_type type) {
  const struct joist_cast *const cast =
      event->last ? find_cast(pass->casts, pass->count, JOIST_CAST_RESULT, event->site, 0) : NULL;
  return cast != NULL && type.dtype != JOIST_DTYPE_NONE ? (struct joist_type){cast->dtype, false}
                                                        : type;
}

static void set_results(const struct pass *pass, const struct joist_ledger_event *event,
                        struct joist_type type) {
  for (uint32_t r = 0; r < event->result_count; r++) pass->types[event->result + r] = type;
}

static void cast_arguments(const struct pass *pass) {
  for (uint32_t v = 0; v < pass->ledger->value_count; v++) {
    const uint32_t argument = pass->ledger->values[v].argument;
    if (argument == JOIST_LEDGER_NONE) continue;
    const struct joist_cast *const cast =
        find_cast(pass->casts, pass->count, JOIST_CAST_ARGUMENT, argument, 0);
    if (cast != NULL) pass->types[v] = (struct joist_type){cast->dtype, false};
  }
}

static struct joist_operand *room_for_operands(const struct joist_ledger *ledger) {
  uint32_t most = 1;
  for (uint32_t e = 0; e < ledger->event_count; e++)
    if (ledger->events[e].operand_count > most) most = ledger->events[e].operand_count;
  return malloc(most * sizeof(struct joist_operand));
}

joist_status joist_ledger_infer(const struct joist_ledger *ledger, const struct joist_rules *rules,
                                const struct joist_cast *casts, size_t count, bool follow,
                                struct joist_type *types, joist_dtype *result,
                                struct joist_error *error) {
  const struct pass pass = {ledger, rules, casts, count, types, room_for_operands(ledger)};
  if (pass.operands == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  cast_arguments(&pass);
  for (uint32_t e = 0; e < ledger->event_count; e++) {
    const struct joist_ledger_event *const event = &ledger->events[e];
    const struct joist_type given = infer_event(&pass, e);
    result[e] = given.dtype;
    set_results(&pass, event,
                given.dtype == JOIST_DTYPE_NONE || !follow ? ledger->values[event->result].type
                                                           : after_cast(&pass, event, given));
  }
  free(pass.operands);
  return JOIST_OK;
}

/* ---- how far a set of casts gets ---- */

struct progress {
  uint32_t first; /* event that is not as wanted; the number of events when there is none */
  uint32_t wrong; /* how many are not */
  uint64_t hash;  /* of the types of all values up to there */
};

enum { SEEN = 1 << 13 };

struct search {
  const struct joist_ledger *ledger;
  const struct joist_castable *castable;
  const struct joist_type *given; /* types of values that no event made */
  struct pass pass;
  struct joist_cast cast[JOIST_CASTS_MAX];
  size_t effort;
  uint64_t seen[SEEN];       /* hashes of what did not help, at the place that they name; 0: none */
  joist_dtype_set occurring; /* dtypes of the recorded run */
  bool crowded;              /* there were more candidates than fit */
};

/* A wrong result counts once: the events that read it get the type that is wanted. */
static struct progress run(struct search *search, size_t count) {
  const struct joist_ledger *const ledger = search->ledger;
  struct pass *const pass = &search->pass;
  pass->count = count;
  memcpy(pass->types, search->given, ledger->value_count * sizeof *pass->types);
  cast_arguments(pass);
  struct progress progress = {ledger->event_count, 0, 0};
  for (uint32_t v = 0; v < ledger->value_count; v++)
    if (ledger->values[v].argument != JOIST_LEDGER_NONE)
      progress.hash = joist_hash_word(progress.hash, (uint64_t)pass->types[v].dtype);
  for (uint32_t e = 0; e < ledger->event_count; e++) {
    const struct joist_ledger_event *const event = &ledger->events[e];
    const joist_dtype wanted = ledger->values[event->result].type.dtype;
    struct joist_type type = after_cast(pass, event, infer_event(pass, e));
    if (type.dtype == JOIST_DTYPE_NONE || (event->last && type.dtype != wanted)) {
      if (progress.wrong++ == 0) progress.first = e;
      type = (struct joist_type){wanted, false};
    }
    set_results(pass, event, type);
    progress.hash =
        joist_hash_word(progress.hash, 2 * (uint64_t)type.dtype + (type.ambiguous ? 1 : 0));
  }
  progress.hash = joist_hash_word(progress.hash, progress.first);
  if (search->effort > 0) search->effort--;
  return progress;
}

/* The types that event `e` finds, with the casts of the latest run(). */
static bool fits_with(struct search *search, uint32_t e, size_t count) {
  search->pass.count = count;
  const struct joist_ledger_event *const event = &search->ledger->events[e];
  const struct joist_type type = infer_event(&search->pass, e);
  if (!event->last) return type.dtype != JOIST_DTYPE_NONE;
  return type.dtype == search->ledger->values[event->result].type.dtype;
}

/* ---- candidates ---- */

enum { CANDIDATES = 96, TOGETHER = 2 };

/* One cast, or two that help only together. */
struct candidate {
  struct joist_cast cast[TOGETHER];
  size_t count;
  struct progress progress;
};

struct candidates {
  struct candidate item[CANDIDATES];
  size_t count;
};

/* Dtypes of up to a byte are tried only where the recorded run has them. */
static bool is_tried(const struct search *search, joist_dtype dtype) {
  return joist_dtype_is_in(JOIST_DTYPES_DOCUMENTED | search->occurring, (int)dtype);
}

/* The dtypes to try, those that keep the values of the recorded run first; returns their number. */
static int order_dtypes(const struct search *search, joist_dtype first, joist_dtype second,
                        joist_dtype order[JOIST_DTYPE_COUNT]) {
  int n = 0;
  order[n++] = first;
  if (second != first) order[n++] = second;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    if ((joist_dtype)d != first && (joist_dtype)d != second && is_tried(search, (joist_dtype)d))
      order[n++] = (joist_dtype)d;
  return n;
}

/* Keeps what gets further than event `at`, or anything where `partly`, one of each outcome. */
static bool consider(struct search *search, struct candidates *candidates, size_t depth,
                     size_t added, uint32_t at, bool partly) {
  const struct progress progress = run(search, depth + added);
  if (progress.first <= at && !partly) return false;
  for (size_t c = 0; c < candidates->count; c++)
    if (candidates->item[c].progress.hash == progress.hash && candidates->item[c].count <= added)
      return true;
  search->crowded |= candidates->count == CANDIDATES;
  if (candidates->count == CANDIDATES) return false;
  struct candidate *const item = &candidates->item[candidates->count++];
  memcpy(item->cast, search->cast + depth, added * sizeof *item->cast);
  item->count = added;
  item->progress = progress;
  return true;
}

static void cast_operands(struct search *search, struct candidates *candidates, size_t depth,
                          uint32_t at) {
  const struct joist_ledger_event *const event = &search->ledger->events[at];
  const uint32_t allowed = search->castable->operand[event->site];
  const joist_dtype wanted = search->ledger->values[event->result].type.dtype;
  bool any = false;
  joist_dtype order[JOIST_DTYPE_COUNT];
  struct joist_cast *const first = &search->cast[depth], *const second = first + 1;
  for (uint32_t k = 0; k < event->operand_count && k < 32; k++) {
    if (!(allowed >> k & 1) ||
        find_cast(search->cast, depth, JOIST_CAST_OPERAND, event->site, k) != NULL)
      continue;
    const int count = order_dtypes(search, event->operand[k].taken, wanted, order);
    for (int d = 0; d < count; d++) {
      *first = (struct joist_cast){JOIST_CAST_OPERAND, event->site, k, order[d]};
      run(search, depth);
      if (fits_with(search, at, depth + 1))
        any |= consider(search, candidates, depth, 1, at, false);
    }
  }
  if (any || search->castable->result[event->site]) {
    run(search, depth);
    if (any || infer_event(&search->pass, at).dtype != JOIST_DTYPE_NONE) return;
  }
  if (depth + TOGETHER > JOIST_CASTS_MAX) return;
  for (uint32_t k = 0; k < event->operand_count && k < 32; k++)
    for (uint32_t j = k + 1; j < event->operand_count && j < 32; j++) {
      if (!(allowed >> k & allowed >> j & 1)) continue;
      *first = (struct joist_cast){JOIST_CAST_OPERAND, event->site, k, event->operand[k].taken};
      *second = (struct joist_cast){JOIST_CAST_OPERAND, event->site, j, event->operand[j].taken};
      consider(search, candidates, depth, 2, at, false);
    }
  if (!event->last || !search->castable->result[event->site]) return;
  *second = (struct joist_cast){JOIST_CAST_RESULT, event->site, 0, wanted};
  for (uint32_t k = 0; k < event->operand_count && k < 32; k++) {
    if (!(allowed >> k & 1)) continue;
    const int count = order_dtypes(search, wanted, event->operand[k].taken, order);
    for (int d = 0; d < count; d++) {
      *first = (struct joist_cast){JOIST_CAST_OPERAND, event->site, k, order[d]};
      consider(search, candidates, depth, 2, at, false);
    }
  }
}

static void cast_result(struct search *search, struct candidates *candidates, size_t depth,
                        uint32_t at) {
  const struct joist_ledger_event *const event = &search->ledger->events[at];
  if (!search->castable->result[event->site] || !event->last ||
      find_cast(search->cast, depth, JOIST_CAST_RESULT, event->site, 0) != NULL)
    return;
  search->cast[depth] = (struct joist_cast){JOIST_CAST_RESULT, event->site, 0,
                                            search->ledger->values[event->result].type.dtype};
  consider(search, candidates, depth, 1, at, false);
}

/* Arguments of one event may have to be cast together, and one that is cast may need an operand
 * cast back before, so one that gets no further counts, too. They are cast to dtypes of the
 * recorded run. */
static void cast_each_argument(struct search *search, struct candidates *candidates, size_t depth,
                               uint32_t at) {
  const struct joist_ledger *const ledger = search->ledger;
  const struct joist_ledger_event *const event = &ledger->events[at];
  const joist_dtype wanted = ledger->values[event->result].type.dtype;
  joist_dtype order[JOIST_DTYPE_COUNT];
  const int count = order_dtypes(search, wanted, wanted, order);
  for (uint32_t v = 0; v < ledger->value_count; v++) {
    const uint32_t argument = ledger->values[v].argument;
    if (argument == JOIST_LEDGER_NONE || !search->castable->argument[argument] ||
        find_cast(search->cast, depth, JOIST_CAST_ARGUMENT, argument, 0) != NULL)
      continue;
    bool read = false;
    for (uint32_t k = 0; k < event->operand_count; k++) read |= event->operand[k].value == v;
    for (int d = 0; d < count; d++) {
      if (!joist_dtype_is_in(search->occurring, (int)order[d])) continue;
      search->cast[depth] = (struct joist_cast){JOIST_CAST_ARGUMENT, argument, 0, order[d]};
      consider(search, candidates, depth, 1, at, read);
    }
  }
}

/* An ambiguous dtype that becomes known decides in what comes after it. */
static void make_known(struct search *search, struct candidates *candidates, size_t depth,
                       uint32_t at) {
  for (uint32_t e = 0; e < at; e++) {
    const struct joist_ledger_event *const event = &search->ledger->events[e];
    if (!event->last || !search->castable->result[event->site] ||
        find_cast(search->cast, depth, JOIST_CAST_RESULT, event->site, 0) != NULL)
      continue;
    run(search, depth);
    const struct joist_type type = search->pass.types[event->result];
    if (!type.ambiguous) continue;
    search->cast[depth] = (struct joist_cast){JOIST_CAST_RESULT, event->site, 0, type.dtype};
    consider(search, candidates, depth, 1, at, false);
  }
}

static void find_candidates(struct search *search, struct candidates *candidates, size_t depth,
                            uint32_t at) {
  candidates->count = 0;
  if (depth + 1 > JOIST_CASTS_MAX) return;
  cast_operands(search, candidates, depth, at);
  cast_each_argument(search, candidates, depth, at);
  cast_result(search, candidates, depth, at);
  make_known(search, candidates, depth, at);
}

static void take(struct search *search, size_t depth, const struct candidate *candidate) {
  memcpy(search->cast + depth, candidate->cast, candidate->count * sizeof *candidate->cast);
}

/* ---- search ---- */

/* Adds candidates one at a time, always the one with the fewest wrong events plus casts. */
static bool greedy(struct search *search, struct candidates *candidates, size_t *count,
                   uint32_t *failed) {
  *count = 0;
  for (;;) {
    const struct progress before = run(search, *count);
    *failed = before.first;
    if (before.wrong == 0) return true;
    find_candidates(search, candidates, *count, before.first);
    const struct candidate *best = NULL;
    for (size_t c = 0; c < candidates->count; c++) {
      const struct candidate *const item = &candidates->item[c];
      if (item->progress.first <= before.first) continue;
      if (best == NULL || item->progress.wrong + item->count < best->progress.wrong + best->count)
        best = item;
    }
    if (best == NULL) return false;
    take(search, *count, best);
    *count += best->count;
  }
}

/* Whether a cast of this place to some dtype is enough. */
static bool helps(struct search *search, joist_cast_kind kind, uint32_t at, uint32_t operand) {
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    if (!is_tried(search, (joist_dtype)d)) continue;
    search->cast[0] = (struct joist_cast){kind, at, operand, (joist_dtype)d};
    if (run(search, 1).wrong == 0) return true;
  }
  return false;
}

/* Whether any single cast is enough, wherever it stands. */
static bool one_is_enough(struct search *search) {
  const struct joist_ledger *const ledger = search->ledger;
  for (uint32_t v = 0; v < ledger->value_count; v++) {
    const uint32_t argument = ledger->values[v].argument;
    if (argument != JOIST_LEDGER_NONE && search->castable->argument[argument] &&
        helps(search, JOIST_CAST_ARGUMENT, argument, 0))
      return true;
  }
  for (uint32_t e = 0; e < ledger->event_count && search->effort > 0; e++) {
    const struct joist_ledger_event *const event = &ledger->events[e];
    if (!event->last) continue;
    if (search->castable->result[event->site] && helps(search, JOIST_CAST_RESULT, event->site, 0))
      return true;
    for (uint32_t k = 0; k < event->operand_count && k < 32; k++)
      if ((search->castable->operand[event->site] >> k & 1) &&
          helps(search, JOIST_CAST_OPERAND, event->site, k))
        return true;
  }
  return false;
}

/* Whether these types with `left` more casts have been tried; they are from now on. The same casts
 * in another order give the same types. */
static bool seen_before(struct search *search, uint64_t types, size_t left) {
  const uint64_t hash = joist_hash_word(types, left) | 1;
  uint64_t *const place = &search->seen[hash >> 20 & (SEEN - 1)];
  if (*place == hash) return true;
  *place = hash;
  return false;
}

/* Whether `left` more casts are enough; `room` has candidates for each depth. */
static bool deepen(struct search *search, struct candidates *room, size_t depth, size_t left) {
  const struct progress progress = run(search, depth);
  if (progress.wrong == 0) {
    search->pass.count = depth;
    return true;
  }
  if (left == 0 || search->effort == 0 || seen_before(search, progress.hash, left)) return false;
  find_candidates(search, room, depth, progress.first);
  for (size_t c = 0; c < room->count && search->effort > 0; c++) {
    if (room->item[c].count > left ||
        (left == room->item[c].count && room->item[c].progress.wrong > 0))
      continue;
    take(search, depth, &room->item[c]);
    if (deepen(search, room + 1, depth + room->item[c].count, left - room->item[c].count))
      return true;
  }
  return false;
}

joist_status joist_find_casts(const struct joist_ledger *ledger, const struct joist_rules *rules,
                              const struct joist_castable *castable, struct joist_type *types,
                              size_t effort, struct joist_casts *casts, struct joist_error *error) {
  enum { DEPTH = 9 };
  struct joist_type *const own = malloc((ledger->value_count + 1) * sizeof *own);
  struct candidates *const room = malloc(DEPTH * sizeof *room);
  struct search *const search = malloc(sizeof *search);
  struct joist_operand *const operands = room_for_operands(ledger);
  joist_status status = JOIST_OK;
  if (own == NULL || room == NULL || search == NULL || operands == NULL) {
    status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  } else {
    *search = (struct search){.ledger = ledger, .castable = castable, .given = types};
    for (uint32_t v = 0; v < ledger->value_count; v++)
      search->occurring |= (joist_dtype_set)1 << ledger->values[v].type.dtype;
    search->pass = (struct pass){ledger, rules, search->cast, 0, own, operands};
    casts->found = greedy(search, room, &casts->count, &casts->failed);
    memcpy(casts->cast, search->cast, casts->count * sizeof *casts->cast);
    search->effort = effort;
    for (size_t n = 1; casts->found && n < casts->count && n < DEPTH; n++) {
      const bool enough = n == 1 ? one_is_enough(search) : deepen(search, room, 0, n);
      if (!enough) continue;
      if (n == 1) search->pass.count = 1;
      casts->count = search->pass.count;
      memcpy(casts->cast, search->cast, casts->count * sizeof *casts->cast);
    }
    const bool whole = search->effort > 0 && !search->crowded && casts->count <= DEPTH;
    casts->fewest = casts->found && (casts->count <= 1 || whole);
  }
  free(own);
  free(room);
  free(search);
  free(operands);
  return status;
}
