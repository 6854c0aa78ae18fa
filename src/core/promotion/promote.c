/* The common type of any number of operands: by type alone, by rank (PyTorch), or by
 * value (NumPy 1.x, CuPy). Reads the dense table of a rule set and nothing else of it. */
#include "core/promotion/promote.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "core/types/error.h"

static int index_of(struct joist_type type) {
  return (int)type.dtype + (type.ambiguous ? JOIST_NODE_AMBIGUOUS : 0);
}

/* The type of an entry of a table, where a weak one is the default of its category. */
static bool read_entry(const struct joist_rules *rules, int node, struct joist_type *type) {
  return node != JOIST_NODE_NONE && joist_rules_type_of_node(rules, node, type);
}

static joist_pair given(const struct joist_rules *rules, joist_pair pair) {
  if (joist_pair_adds(pair) && !rules->has_pairs[pair]) pair = JOIST_PAIR_ADD;
  return rules->has_pairs[pair] ? pair : JOIST_PAIR_COMMON;
}

bool joist_promote_for(const struct joist_rules *rules, joist_pair pair, struct joist_type lhs,
                       struct joist_type rhs, struct joist_type *result) {
  return read_entry(rules, rules->pairs[given(rules, pair)][index_of(lhs)][index_of(rhs)], result);
}

bool joist_promote(const struct joist_rules *rules, struct joist_type lhs, struct joist_type rhs,
                   struct joist_type *result) {
  return joist_promote_for(rules, JOIST_PAIR_COMMON, lhs, rhs, result);
}

int joist_fact_node(const struct joist_rules *rules, joist_fact fact, struct joist_type type) {
  return rules->facts[fact][index_of(type)];
}

bool joist_fact_apply(const struct joist_rules *rules, joist_fact fact, struct joist_type *type,
                      struct joist_promotion_step *step) {
  const struct joist_type own = *type;
  const struct joist_type wanted = {(joist_dtype)rules->literal[JOIST_CATEGORY_FLOAT], true};
  const bool defined = read_entry(rules, rules->facts[fact][index_of(own)], type);
  if (step != NULL && rules->has_facts[fact])
    *step = (struct joist_promotion_step){JOIST_STEP_FACT, defined, own, own, *type};
  else if (step != NULL)
    *step = (struct joist_promotion_step){JOIST_STEP_INEXACT, defined, own, wanted, *type};
  return defined;
}

/* ---- several operands ---- */

typedef const struct joist_operand operand;

static joist_category category(struct joist_type type) { return joist_dtype_category(type.dtype); }

static joist_status undefined(const struct joist_rules *rules, joist_pair pair,
                              struct joist_type lhs, struct joist_type rhs,
                              struct joist_error *error) {
  const int node = rules->pairs[given(rules, pair)][index_of(lhs)][index_of(rhs)];
  if (node != JOIST_NODE_NONE && node >= JOIST_NODE_OWN)
    return JOIST_FAIL(
        error, JOIST_E_UNAVAILABLE, .type = {lhs, rhs},
        .text = {joist_quote(rules->id), joist_quote(joist_rules_node_name(rules, node))});
  return JOIST_FAIL(error, JOIST_E_NO_COMMON_DTYPE, .type = {lhs, rhs},
                    .text = {joist_quote(rules->id)});
}

const char *joist_role_text(joist_role_name role) { return JOIST_TEXTS(JOIST_ROLES)[role]; }

const char *joist_step_text(joist_step_name step) { return JOIST_TEXTS(JOIST_STEPS)[step]; }

static void record_step(struct joist_promotion_record *record, struct joist_promotion_step step) {
  if (record != NULL) record->steps[record->step_count++] = step;
}

static void record_role(struct joist_promotion_record *record, size_t k, joist_role_name name,
                        struct joist_type as) {
  if (record != NULL) record->roles[k] = (struct joist_promotion_role){name, as, false};
}

/* A left fold over the operands of one group. */
struct group {
  bool any;
  struct joist_type type;
};

static joist_status add(struct group *group, const struct joist_rules *rules, joist_pair pair,
                        struct joist_type type, struct joist_promotion_record *record,
                        struct joist_error *error) {
  const struct joist_type before = group->type;
  if (!group->any) {
    group->any = true;
    group->type = type;
    return JOIST_OK;
  }
  const bool defined = joist_promote_for(rules, pair, before, type, &group->type);
  record_step(record,
              (struct joist_promotion_step){JOIST_STEP_TABLE, defined, before, type, group->type});
  return defined ? JOIST_OK : undefined(rules, pair, before, type, error);
}

/* ---- by type ---- */

/* The smallest dtype of a kind that holds low to high; JOIST_DTYPE_NONE if none does. */
static joist_dtype smallest_of(joist_kind kind, double low, double high) {
  for (unsigned bits = 8; bits <= 64; bits *= 2) {
    const joist_dtype dtype = joist_dtype_with(kind, bits);
    if (low >= (double)joist_dtype_min_int(dtype) && high < 1 + (double)joist_dtype_max_int(dtype))
      return dtype;
  }
  return JOIST_DTYPE_NONE;
}

/* What a whole literal beside an integer dtype counts as: nothing but a number if it fits. */
static struct joist_type beside(const struct joist_rules *rules, operand *x, joist_dtype other) {
  const joist_kind kind = joist_dtype_kind(other);
  const bool integers = kind == JOIST_KIND_INT || kind == JOIST_KIND_UINT;
  if (!x->literal || !x->has_range || !integers || category(x->type) != JOIST_CATEGORY_INTEGER)
    return x->type;
  if (x->low >= (double)joist_dtype_min_int(other) &&
      x->high < 1 + (double)joist_dtype_max_int(other))
    return (struct joist_type){other, false};
  joist_dtype dtype = JOIST_DTYPE_NONE;
  if (rules->policy == JOIST_BY_FITTING) {
    const joist_dtype usual = (joist_dtype)rules->literal[JOIST_CATEGORY_INTEGER];
    const bool fits = x->low >= (double)joist_dtype_min_int(usual) &&
                      x->high <= (double)joist_dtype_max_int(usual);
    dtype = fits ? usual : JOIST_I64;
  } else if (x->low >= 0 || kind == JOIST_KIND_INT) {
    dtype = smallest_of(kind, x->low, x->high);
  } else {
    const unsigned bits = joist_dtype_bits(other);
    dtype = joist_dtype_with(JOIST_KIND_INT, bits < 64 ? 2 * bits : bits);
  }
  return dtype == JOIST_DTYPE_NONE ? x->type : (struct joist_type){dtype, false};
}

/* The common type of a fitting literal and the only other operand. */
static joist_status by_fit(const struct joist_rules *rules, joist_pair pair, operand *operands,
                           struct joist_promotion_record *record, struct joist_type *result,
                           struct joist_error *error) {
  struct group both = {false, operands[0].type};
  for (size_t i = 0; i < 2; i++) {
    operand *x = &operands[i], *other = &operands[1 - i];
    /* The power of a number is of the number's own dtype, where powers have a table. */
    const bool is_base = i == 0 && pair == JOIST_PAIR_POWER && rules->has_pairs[pair];
    const struct joist_type type =
        other->literal || is_base ? x->type : beside(rules, x, other->type.dtype);
    const bool is_own = type.dtype == x->type.dtype && type.ambiguous == x->type.ambiguous;
    record_role(record, i, is_own ? JOIST_ROLE_TYPE : JOIST_ROLE_SMALLEST, type);
    /* Polars takes the next signed dtype of a negative number as the result. */
    if (!is_own && rules->policy == JOIST_BY_SMALLEST && x->low < 0 &&
        joist_dtype_kind(other->type.dtype) == JOIST_KIND_UINT) {
      *result = type;
      return JOIST_OK;
    }
    const joist_status status = add(&both, rules, pair, type, record, error);
    if (status != JOIST_OK) return status;
  }
  *result = both.type;
  return JOIST_OK;
}

/* An operand's type, where R's TRUE and FALSE may be numbers of a type of their own, and others
 * may have the type that holds their values. */
static struct joist_type own_type(const struct joist_rules *rules, operand *x) {
  if (rules->has_truths && x->literal && x->type.dtype == JOIST_BOOL)
    return (struct joist_type){JOIST_BOOL, true};
  const bool is_signed = rules->policy == JOIST_BY_SIGNED;
  if (!x->literal || !x->has_range || !(is_signed || rules->policy == JOIST_BY_UNSIGNED))
    return x->type;
  joist_dtype dtype = JOIST_DTYPE_NONE;
  if (category(x->type) == JOIST_CATEGORY_INTEGER)
    dtype =
        smallest_of(is_signed || x->low < 0 ? JOIST_KIND_INT : JOIST_KIND_UINT, x->low, x->high);
  else if (is_signed && category(x->type) == JOIST_CATEGORY_FLOAT)
    dtype = (float)x->low == x->low && (float)x->high == x->high ? JOIST_F32 : JOIST_F64;
  return dtype == JOIST_DTYPE_NONE ? x->type : (struct joist_type){dtype, false};
}

/* An operand with dims and one without, which is not a number, in the order of their table. */
static bool is_rank_zero(const struct joist_rules *rules, joist_pair pair, operand *operands,
                         size_t count) {
  const bool has = rules->has_pairs[JOIST_PAIR_RANK_ZERO] && count == 2;
  return has && (pair == JOIST_PAIR_ADD || !rules->has_pairs[pair]) && !operands[0].literal &&
         !operands[1].literal && (operands[0].rank == 0) != (operands[1].rank == 0);
}

static joist_status by_type(const struct joist_rules *rules, joist_pair pair, operand *operands,
                            size_t count, struct joist_promotion_record *record,
                            struct joist_type *result, struct joist_error *error) {
  struct group all = {false, operands[0].type};
  const bool rank_zero = is_rank_zero(rules, pair, operands, count);
  const bool turned = rank_zero && operands[0].rank == 0;
  if (rank_zero) pair = JOIST_PAIR_RANK_ZERO;
  for (size_t k = 0; k < count; k++) {
    const size_t i = turned ? count - 1 - k : k;
    const struct joist_type type = own_type(rules, &operands[i]);
    const bool is_own = type.dtype == operands[i].type.dtype;
    record_role(record, i, is_own ? JOIST_ROLE_TYPE : JOIST_ROLE_SMALLEST, type);
    const joist_status status = add(&all, rules, pair, type, record, error);
    if (status != JOIST_OK) return status;
  }
  *result = all.type;
  return JOIST_OK;
}

/* Whether a value has no fixed dtype. R's TRUE counts as a number here, though its dtype is
 * known; integer64 and raw vectors count as tensors of their dtype. */
static bool is_number(operand *x) {
  return x->type.ambiguous || (x->literal && x->type.dtype == JOIST_BOOL);
}

/* combine_categories() of PyTorch's ATen/native/TypeProperties.cpp: a lower group
 * counts only where its category is higher. */
static joist_status combine(const struct joist_rules *rules, joist_pair pair, struct group higher,
                            struct group lower, struct joist_promotion_record *record,
                            struct group *result, struct joist_error *error) {
  if (!higher.any || !lower.any) {
    *result = higher.any ? higher : lower;
    return JOIST_OK;
  }
  struct joist_type join = higher.type;
  const bool stays = category(lower.type) <= category(higher.type);
  const joist_step_name name = stays ? JOIST_STEP_HIGHER : JOIST_STEP_CATEGORY;
  /* Not every integer has a common dtype with a complex one, whose kind decides alone here. */
  const bool alone = category(lower.type) == JOIST_CATEGORY_COMPLEX &&
                     category(higher.type) <= JOIST_CATEGORY_INTEGER;
  bool defined = stays || joist_promote_for(rules, pair, higher.type, lower.type, &join);
  if (!defined && alone) {
    join = lower.type;
    defined = true;
  }
  if (!defined) {
    record_step(record,
                (struct joist_promotion_step){name, false, higher.type, lower.type, higher.type});
    return undefined(rules, pair, higher.type, lower.type, error);
  }
  if (category(higher.type) == JOIST_CATEGORY_FLOAT) {
    const struct joist_type number = {(joist_dtype)rules->literal[JOIST_CATEGORY_COMPLEX], true};
    join.dtype = joist_dtype_complex(higher.type.dtype);
    (void)joist_promote_for(rules, pair, higher.type, number, &join);
  }
  *result = higher;
  if (!stays) result->type = join;
  record_step(record,
              (struct joist_promotion_step){name, true, higher.type, lower.type, result->type});
  return JOIST_OK;
}

static joist_status by_rank(const struct joist_rules *rules, joist_pair pair, operand *operands,
                            size_t count, struct joist_promotion_record *record,
                            struct joist_type *result, struct joist_error *error) {
  struct group tensors = {false, operands[0].type}, rank_zero = tensors, numbers = tensors;
  size_t number = 0;
  for (size_t i = 0; i < count; i++) {
    operand *x = &operands[i];
    /* A dtype that the library lacks, which no other one would be asked about. */
    struct joist_type own;
    if (!is_number(x) && !joist_promote(rules, x->type, x->type, &own))
      return undefined(rules, pair, x->type, operands[i == 0 ? count - 1 : 0].type, error);
    if (is_number(x)) {
      /* Of numbers next to tensors only the highest category counts. */
      const bool counts = !numbers.any || category(x->type) > category(numbers.type);
      record_role(record, i, JOIST_ROLE_NUMBER, x->type);
      if (record != NULL) record->roles[counts ? number : i].idle = numbers.any;
      if (counts) {
        numbers = (struct group){true, x->type};
        number = i;
      }
      continue;
    }
    record_role(record, i, x->rank > 0 ? JOIST_ROLE_TENSOR : JOIST_ROLE_RANK_ZERO, x->type);
    const joist_status status =
        add(x->rank > 0 ? &tensors : &rank_zero, rules, pair, x->type, record, error);
    if (status != JOIST_OK) return status;
  }
  if (!tensors.any && !rank_zero.any)
    return by_type(rules, pair, operands, count, record, result, error);
  joist_status status = combine(rules, pair, rank_zero, numbers, record, &rank_zero, error);
  if (status == JOIST_OK)
    status = combine(rules, pair, tensors, rank_zero, record, &tensors, error);
  if (status == JOIST_OK) *result = tensors.type;
  return status;
}

/* What NumPy's result_type() compares before it looks at values: bool 0, integers 1,
 * floats and complex 2. */
static int kind_order(joist_dtype dtype) {
  const joist_category kind = joist_dtype_category(dtype);
  return kind == JOIST_CATEGORY_COMPLEX ? (int)JOIST_CATEGORY_FLOAT : (int)kind;
}

/* The signed dtype of an unsigned one's size. */
static joist_dtype signed_like(joist_dtype dtype) {
  return joist_dtype_with(JOIST_KIND_INT, joist_dtype_bits(dtype));
}

/* The smallest dtype of a scalar's kind that holds low .. high: np.min_scalar_type().
 * `fits_signed` is set when that is unsigned and the signed dtype of the same size
 * holds the values as well. Limits of the floats as in NumPy's
 * core/src/multiarray/convert_datatype.c. */
static joist_dtype minimal_dtype(joist_dtype dtype, double low, double high, bool *fits_signed) {
  *fits_signed = false;
  switch (joist_dtype_category(dtype)) {
    case JOIST_CATEGORY_INTEGER:
      for (unsigned bits = 8; bits <= 64; bits *= 2) {
        const joist_dtype is_signed = joist_dtype_with(JOIST_KIND_INT, bits);
        const joist_dtype is_unsigned = joist_dtype_with(JOIST_KIND_UINT, bits);
        const bool in_signed = low >= (double)joist_dtype_min_int(is_signed) &&
                               high <= (double)joist_dtype_max_int(is_signed);
        if (low < 0 && in_signed) return is_signed;
        if (low >= 0 && high <= (double)joist_dtype_max_int(is_unsigned)) {
          *fits_signed = in_signed;
          return is_unsigned;
        }
      }
      return dtype;
    case JOIST_CATEGORY_FLOAT:
      if (joist_dtype_compute(dtype) != dtype) return dtype;
      if (!isfinite(low) || !isfinite(high) || (low > -65000 && high < 65000)) return JOIST_F16;
      return low > -3.4e38 && high < 3.4e38 ? JOIST_F32 : dtype;
    case JOIST_CATEGORY_COMPLEX:
      return dtype == JOIST_C128 && low > -3.4e38 && high < 3.4e38 ? JOIST_C64 : dtype;
    case JOIST_CATEGORY_BOOL:
    case JOIST_CATEGORY_COUNT:
      break;
  }
  return dtype;
}

/* The roles of operands in value-based promotion. */
struct roles {
  bool rank_zero_is_array;
  bool use_values;
};

static bool is_array(operand *x, struct roles roles) {
  if (x->literal || x->type.ambiguous) return false;
  return x->rank > 0 || !x->has_range || roles.rank_zero_is_array;
}

static struct roles find_roles(const struct joist_rules *rules, operand *operands, size_t count) {
  struct roles roles = {rules->policy == JOIST_BY_LITERAL_VALUE, false};
  bool any_array = false, any_guess = false;
  for (size_t i = 0; i < count; i++) {
    any_array = any_array || is_array(&operands[i], roles);
    any_guess = any_guess || (operands[i].type.ambiguous && !operands[i].literal);
  }
  /* Two tensors always follow the published table, so next to an ambiguous tensor one of
   * rank 0 is what gives the dtype. */
  if (!any_array && any_guess) roles.rank_zero_is_array = true;
  int array_order = -1, scalar_order = -1;
  for (size_t i = 0; i < count; i++) {
    int *highest = is_array(&operands[i], roles) ? &array_order : &scalar_order;
    const int order = kind_order(operands[i].type.dtype);
    if (order > *highest) *highest = order;
  }
  roles.use_values = array_order >= 0 && array_order >= scalar_order;
  return roles;
}

static joist_status by_value(const struct joist_rules *rules, joist_pair pair, operand *operands,
                             size_t count, struct joist_promotion_record *record,
                             struct joist_type *result, struct joist_error *error) {
  const struct roles roles = find_roles(rules, operands, count);
  struct group all = {false, operands[0].type};
  bool all_fit_signed = false;
  for (size_t i = 0; i < count; i++) {
    operand *x = &operands[i];
    struct joist_type type = {x->type.dtype, false};
    /* An ambiguous type has no dtype but its category's default, and no value but zero. */
    if (x->type.ambiguous) type.dtype = (joist_dtype)rules->literal[category(x->type)];
    bool fits_signed = false;
    joist_role_name role = x->type.ambiguous ? JOIST_ROLE_DEFAULT : JOIST_ROLE_TYPE;
    if (roles.use_values && !is_array(x, roles)) {
      role = JOIST_ROLE_SMALLEST;
      const bool by_its_value = x->has_range && (x->literal || !x->type.ambiguous);
      type.dtype = minimal_dtype(type.dtype, by_its_value ? x->low : 0, by_its_value ? x->high : 0,
                                 &fits_signed);
    }
    if (!all.any) {
      all_fit_signed = fits_signed;
    } else {
      /* A small non-negative value next to anything but bool and unsigned counts as
       * signed, so that i8 with 100 stays i8. */
      const bool other_signed = joist_dtype_kind(all.type.dtype) != JOIST_KIND_BOOL &&
                                joist_dtype_kind(all.type.dtype) != JOIST_KIND_UINT;
      const bool this_signed = joist_dtype_kind(type.dtype) != JOIST_KIND_BOOL &&
                               joist_dtype_kind(type.dtype) != JOIST_KIND_UINT;
      const bool both_fit = fits_signed && all_fit_signed;
      if (fits_signed && other_signed) type.dtype = signed_like(type.dtype);
      if (all_fit_signed && this_signed) all.type.dtype = signed_like(all.type.dtype);
      all_fit_signed = both_fit;
    }
    const struct joist_type before = all.type;
    record_role(record, i, role, type);
    if (record != NULL && i == 1) record->roles[0].as = before;
    if (add(&all, rules, pair, type, record, NULL) != JOIST_OK)
      return undefined(rules, pair, i == 1 ? operands[0].type : before, x->type, error);
  }
  *result = all.type;
  return JOIST_OK;
}

/* ---- by a function ---- */

static int node_told(operand *x) {
  const struct joist_type type = x->type;
  if (x->literal && type.dtype == JOIST_BOOL) return JOIST_NODE_TRUTH;
  return x->literal && type.ambiguous ? joist_node_of_category(category(type)) : index_of(type);
}

/* Operands that are asked about without allocating. */
enum { TOLD = 16 };

static joist_status by_function(const struct joist_rules *rules, const char *op, operand *operands,
                                size_t count, struct joist_promotion_record *record, bool *answered,
                                struct joist_type *result, struct joist_error *error) {
  uint8_t few[TOLD] = {0}, *const nodes = count <= TOLD ? few : malloc(count);
  *answered = false;
  if (nodes == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = count);
  for (size_t k = 0; k < count; k++) nodes[k] = (uint8_t)node_told(&operands[k]);
  int node;
  const char *refusal = NULL;
  *answered = joist_rules_ask(rules, op, nodes, count, &node, &refusal);
  if (nodes != few) free(nodes);
  if (!*answered) return JOIST_OK;
  const struct joist_type first = operands[0].type, last = operands[count - 1].type;
  const bool defined = read_entry(rules, node, result);
  for (size_t k = 0; k < count; k++) record_role(record, k, JOIST_ROLE_TYPE, operands[k].type);
  record_step(record,
              (struct joist_promotion_step){JOIST_STEP_FUNCTION, defined, first, last, *result});
  if (defined) return JOIST_OK;
  if (node != JOIST_NODE_NONE)
    return JOIST_FAIL(
        error, JOIST_E_UNAVAILABLE, .type = {first, last},
        .text = {joist_quote(rules->id), joist_quote(joist_rules_node_name(rules, node))});
  return JOIST_FAIL(error, JOIST_E_RULE_REFUSES, .op = op,
                    .text = {joist_quote(rules->id), joist_quote(refusal)});
}

joist_status joist_common_type_recorded(const struct joist_rules *rules, const char *op,
                                        joist_pair pair, operand *operands, size_t count,
                                        struct joist_promotion_record *record, bool *answered,
                                        struct joist_type *result, struct joist_error *error) {
  *answered = false;
  if (rules->function != NULL) {
    const joist_status status =
        by_function(rules, op, operands, count, record, answered, result, error);
    if (status != JOIST_OK || *answered) return status;
  }
  if (count == 1) {
    record_role(record, 0, JOIST_ROLE_TYPE, operands[0].type);
    *result = operands[0].type;
    return JOIST_OK;
  }
  switch (rules->policy) {
    case JOIST_BY_RANK:
      return by_rank(rules, pair, operands, count, record, result, error);
    case JOIST_BY_VALUE:
    case JOIST_BY_LITERAL_VALUE:
      return by_value(rules, pair, operands, count, record, result, error);
    case JOIST_BY_FITTING:
    case JOIST_BY_SMALLEST:
      if (count == 2) return by_fit(rules, pair, operands, record, result, error);
      break;
    case JOIST_BY_SIGNED:
    case JOIST_BY_UNSIGNED:
    case JOIST_BY_TYPE:
    case JOIST_POLICY_COUNT:
      break;
  }
  return by_type(rules, pair, operands, count, record, result, error);
}

joist_status joist_common_type(const struct joist_rules *rules, joist_pair pair, operand *operands,
                               size_t count, struct joist_type *result, struct joist_error *error) {
  bool answered;
  return joist_common_type_recorded(rules, joist_pair_name(pair), pair, operands, count, NULL,
                                    &answered, result, error);
}
