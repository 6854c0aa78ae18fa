/* Missing values: results do not depend on the elements under masks, and both masks and elements of
 * results are those that plain loops give by the rules of ops.def. */
#include "formats.h"
#include "missing_cases.h"
#include "rules.h"

/* ---- elements ---- */

static bool is_missing(const struct operand *o, size_t i) { return o->masked && o->mask[i]; }

static const char *element_of(const struct operand *o, size_t i) {
  return o->plain + i * joist_dtype_size(o->dtype);
}

static void read_parts(joist_dtype dtype, const void *element, double parts[2]) {
  joist_convert_find_portable(dtype, JOIST_C128)(1, element, parts);
}

static double real_part(const struct operand *o, size_t i) {
  double parts[2];
  read_parts(o->dtype, element_of(o, i), parts);
  return parts[0];
}

static bool equals(const struct operand *o, size_t i, double real) {
  double parts[2];
  read_parts(o->dtype, element_of(o, i), parts);
  return parts[0] == real && parts[1] == 0;
}

static bool is_nan(const struct operand *o, size_t i) {
  double parts[2];
  read_parts(o->dtype, element_of(o, i), parts);
  return isnan(parts[0]) || isnan(parts[1]);
}

/* Whether element i of a result is missing. */
static bool is_masked(const struct outcome *outcome, int r, size_t i) {
  return outcome->masks[r] != NULL && outcome->masks[r][i];
}

static void print_case(const struct missing_case *c) {
  char text[JOIST_SHAPE_TEXT];
  fprintf(stderr, "  nv_%s(", joist_op_name(c->op));
  for (size_t k = 0; k < c->count; k++)
    fprintf(stderr, " %s%s%s%s%s", joist_dtype_name(c->operand[k].type.dtype),
            c->operand[k].type.ambiguous ? "?" : "", joist_shape_format(&c->operand[k].shape, text),
            c->operand[k].literal ? " literal" : "", c->operand[k].masked ? " masked" : "");
  fprintf(stderr, " )%s\n", c->remove ? " without missing ones" : "");
}

#define CHECK_CASE(ok, ...) \
  if (!CHECK_MSG(ok, __VA_ARGS__) && check_failed_count <= CHECK_MAX_PRINTED) print_case(c)

/* ---- masks by plain loops ---- */

/* Three-valued logic. */
typedef enum { NO, YES, OPEN } truth;

static truth truth_of(const struct operand *o, size_t i) {
  return is_missing(o, i) ? OPEN : equals(o, i, 0) ? NO : YES;
}

/* `decides` gives the answer whatever the other one is. */
static truth joined(truth a, truth b, truth decides) {
  if (a == decides || b == decides) return decides;
  return a == OPEN || b == OPEN ? OPEN : a;
}

static bool want_power(const struct missing_case *c, size_t i, size_t j) {
  const struct operand *const x = &c->operand[0], *const y = &c->operand[1];
  const joist_dtype dtype = c->inference.signature.operand[0];
  const bool is_complex = joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX;
  if (!is_missing(y, j) && equals(y, j, 0)) return false;
  if (!is_complex && !is_missing(x, i) && equals(x, i, 1)) return false;
  return is_missing(x, i) || is_missing(y, j);
}

/* Element i of an elementwise result. */
static bool want_elementwise(const struct missing_case *c, size_t i) {
  size_t at[OPERANDS_MOST];
  bool any = false;
  const struct operand *const o = c->operand;
  for (size_t k = 0; k < c->count; k++) {
    at[k] = source_of(&c->inference.shape[0], i, &o[k].shape);
    any |= is_missing(&o[k], at[k]);
  }
  switch (joist_op_missing_rule(c->op)) {
    case JOIST_MISSING_FALSE:
      return false;
    case JOIST_MISSING_IMAGINARY:
      return any && joist_dtype_kind(o[0].dtype) == JOIST_KIND_COMPLEX;
    case JOIST_MISSING_KLEENE:
      return joined(truth_of(&o[0], at[0]), truth_of(&o[1], at[1]),
                    c->op == JOIST_OP_AND ? NO : YES) == OPEN;
    case JOIST_MISSING_POWER:
      return want_power(c, at[0], at[1]);
    case JOIST_MISSING_SELECT: {
      const size_t chosen = equals(&o[0], at[0], 0) ? 2 : 1;
      return is_missing(&o[0], at[0]) || is_missing(&o[chosen], at[chosen]);
    }
    default:
      return any;
  }
}

/* Where an element goes when the dims of a set are folded. */
static size_t folded(const struct joist_shape *shape, uint32_t dims, size_t i) {
  size_t at = 0, stride = 1;
  for (int d = 0; d < shape->rank; d++) {
    const size_t position = i % shape->extent[d];
    i /= shape->extent[d];
    if (dims >> d & 1) continue;
    at += position * stride;
    stride *= shape->extent[d];
  }
  return at;
}

static bool is_left_out(const struct missing_case *c, size_t i) {
  const struct operand *const o = &c->operand[0];
  return is_missing(o, i) || (c->remove && is_nan(o, i));
}

static void want_reduction(const struct missing_case *c, uint8_t *want) {
  const struct operand *const o = &c->operand[0];
  const uint32_t dims = joist_attribute_mask(&c->attributes);
  const bool is_float = joist_dtype_kind(o->dtype) == JOIST_KIND_FLOAT;
  /* That of no floats is infinite. */
  const bool extreme = (c->op == JOIST_OP_REDUCE_MIN || c->op == JOIST_OP_REDUCE_MAX) && !is_float;
  const size_t n = result_count(c, 0);
  const truth decides = c->op == JOIST_OP_REDUCE_ANY ? YES : NO;
  for (size_t i = 0; i < n; i++) want[i] = extreme && c->remove;
  if (joist_op_missing_rule(c->op) == JOIST_MISSING_KLEENE) {
    for (size_t i = 0; i < n; i++) want[i] = decides == YES ? NO : YES;
    for (size_t j = 0; j < o->count; j++) {
      uint8_t *const at = &want[folded(&o->shape, dims, j)];
      if (!c->remove || !is_left_out(c, j)) *at = (uint8_t)joined(*at, truth_of(o, j), decides);
    }
    for (size_t i = 0; i < n; i++) want[i] = want[i] == OPEN;
    return;
  }
  for (size_t j = 0; j < o->count; j++) {
    uint8_t *const at = &want[folded(&o->shape, dims, j)];
    if (c->remove && extreme && !is_left_out(c, j)) *at = false;
    if (!c->remove && is_missing(o, j)) *at = true;
  }
}

static void want_scan(const struct missing_case *c, uint8_t *want) {
  const struct operand *const o = &c->operand[0];
  const struct joist_lines lines =
      joist_shape_lines(&o->shape, joist_attribute_dim(&c->attributes));
  for (size_t i = 0; i < o->count; i++) {
    const bool first = i / lines.inner % lines.middle == 0;
    if (c->remove)
      want[i] = is_left_out(c, i);
    else
      want[i] = is_missing(o, i) || (!first && want[i - lines.inner]);
  }
}

/* Whether a row of the first matrix, or a column of the second, of this product of a batch has a
 * missing element. */
static bool want_line(const struct missing_case *c, int k, size_t line, size_t batch) {
  const struct operand *const o = &c->operand[k];
  const struct joist_shape *const shape = &o->shape, *const result = &c->inference.shape[0];
  const bool transposed = joist_attribute_flag(
      &c->attributes, k == 0 ? JOIST_ATTRIBUTE_TRANSPOSE_LHS : JOIST_ATTRIBUTE_TRANSPOSE_RHS);
  const bool along_rows = transposed == (k == 0); /* summed over the first dim */
  size_t first = 0, stride = (size_t)shape->extent[0] * shape->extent[1];
  for (int d = 2; d < result->rank; d++) {
    if (d < shape->rank && shape->extent[d] > 1) first += batch % result->extent[d] * stride;
    if (d < shape->rank) stride *= shape->extent[d];
    batch /= result->extent[d];
  }
  bool any = false;
  for (size_t j = 0; j < shape->extent[along_rows ? 0 : 1]; j++)
    any |= is_missing(
        o, first + (along_rows ? j + line * shape->extent[0] : line + j * shape->extent[0]));
  return any;
}

static void want_product(const struct missing_case *c, uint8_t *want) {
  const struct joist_shape *const shape = &c->inference.shape[0];
  for (size_t i = 0; i < result_count(c, 0); i++) {
    const size_t row = i % shape->extent[0], rest = i / shape->extent[0];
    const size_t batch = rest / shape->extent[1];
    want[i] = want_line(c, 0, row, batch) || want_line(c, 1, rest % shape->extent[1], batch);
  }
}

/* An element of a convolution: of the batch, of channels, at a position, of those of a batch behind
 * them. */
static size_t channel_element(const struct joist_shape *shape, int dims, size_t first,
                              size_t second, const int64_t *at, size_t batch) {
  size_t index = 0;
  for (int d = dims - 1; d >= 0; d--) index = index * shape->extent[2 + d] + (size_t)at[d];
  size_t each = (size_t)shape->extent[0] * shape->extent[1];
  index = (index * shape->extent[1] + second) * shape->extent[0] + first;
  for (int d = 0; d < dims; d++) each *= shape->extent[2 + d];
  return index + (shape->rank > 2 + dims ? batch * each : 0);
}

/* The next of all positions; false after the last. */
static bool advance(int64_t *at, const uint32_t *extents, int dims) {
  for (int d = 0; d < dims; d++) {
    if (++at[d] < extents[d]) return true;
    at[d] = 0;
  }
  return false;
}

/* Every product of x, a kernel and y marks its result if the element of the first operand is
 * missing; a missing element of the second marks all results of its channel. */
static void want_window(const struct missing_case *c, uint8_t *want) {
  const struct joist_attributes *const own = &c->attributes;
  const bool input = c->op == JOIST_OP_CONV_INPUT, kernel = c->op == JOIST_OP_CONV_KERNEL;
  const struct joist_shape *const made = &c->inference.shape[0];
  const struct joist_shape *const x = input ? made : &c->operand[0].shape;
  const struct joist_shape *const k = kernel ? made : &c->operand[1].shape;
  const struct joist_shape *const y = input    ? &c->operand[0].shape
                                      : kernel ? &c->operand[1].shape
                                               : made;
  const int dims = (int)joist_attribute_length(own, JOIST_ATTRIBUTE_SHAPE);
  const size_t groups = (size_t)joist_attribute_value(own, JOIST_ATTRIBUTE_K);
  const size_t batches = made->rank > 2 + dims ? 2 : 1, outputs = k->extent[0] / groups;
  const size_t n = result_count(c, 0);
  memset(want, 0, n);
  if (n == 0) return;
  for (size_t batch = 0; batch < batches; batch++)
    for (size_t image = 0; image < x->extent[0]; image++)
      for (size_t o = 0; o < k->extent[0]; o++)
        for (size_t i = 0; i < k->extent[1]; i++) {
          const size_t channel = o / outputs * k->extent[1] + i;
          int64_t tap[3] = {0}, place[3] = {0}, z[3] = {0};
          bool none = false;
          for (int d = 0; d < dims; d++) none |= y->extent[2 + d] == 0 || k->extent[2 + d] == 0;
          if (none) continue;
          do do {
              bool inside = true;
              for (int d = 0; d < dims; d++) {
                z[d] = place[d] * joist_attribute_at(own, JOIST_ATTRIBUTE_STEP, d) +
                       tap[d] * (1 + joist_attribute_at(own, JOIST_ATTRIBUTE_INTERIOR, d)) -
                       joist_attribute_at(own, JOIST_ATTRIBUTE_LOW, d);
                inside &= z[d] >= 0 && z[d] < x->extent[2 + d];
              }
              const size_t in_k = channel_element(k, dims, o, i, tap, batch);
              const size_t in_y = channel_element(y, dims, image, o, place, batch);
              const size_t in_x = inside ? channel_element(x, dims, image, channel, z, batch) : 0;
              const size_t first = input ? in_y : in_x;
              const size_t result = input ? in_x : kernel ? in_k : in_y;
              if (inside && is_missing(&c->operand[0], first)) want[result] = 1;
              if (!is_missing(&c->operand[1], kernel ? in_y : in_k)) continue;
              const size_t marked = kernel ? o : input ? channel : o;
              const size_t each = n / batches;
              for (size_t r = batch * each; r < (batch + 1) * each; r++)
                if ((kernel ? r % made->extent[0] : r / made->extent[0] % made->extent[1]) ==
                    marked)
                  want[r] = 1;
            } while (advance(place, y->extent + 2, dims));
          while (advance(tap, k->extent + 2, dims));
        }
}

/* Whether the operand has a missing element that differs from element i of the result along the
 * dim, or the dims, only. */
static bool any_along(const struct missing_case *c, size_t i) {
  const struct joist_shape *const from = &c->operand[0].shape, *const to = &c->inference.shape[0];
  const uint32_t along =
      joist_attribute_mask(&c->attributes) | 1u << joist_attribute_dim(&c->attributes);
  for (size_t k = 0; k < c->operand[0].count; k++) {
    if (!is_missing(&c->operand[0], k)) continue;
    size_t a = k, b = i;
    bool same = true;
    for (int d = 0; d < from->rank; d++) {
      same &= (along >> d & 1) != 0 || a % from->extent[d] == b % to->extent[d];
      a /= from->extent[d];
      b /= to->extent[d];
    }
    if (same) return true;
  }
  return false;
}

/* Whether element i of the result is read by a missing index. */
static bool by_missing_index(const struct missing_case *c, size_t i) {
  const struct operand *const index = &c->operand[1];
  if (c->op == JOIST_OP_TAKE || c->op == JOIST_OP_TAKE_ALONG) return is_missing(index, i);
  if (c->op != JOIST_OP_GATHER) return false;
  const int dim = joist_attribute_dim(&c->attributes);
  for (int d = 0; d < dim; d++) i /= c->inference.shape[0].extent[d];
  return is_missing(index, i % (index->count > 0 ? index->count : 1));
}

/* Runs the operation on the numbers of the elements, counted through all operands. */
static void want_along(const struct missing_case *c, uint8_t *want) {
  struct missing_case numbered = *c;
  const void *inputs[OPERANDS_MOST];
  joist_dtype dtypes[OPERANDS_MOST];
  struct joist_type type = {JOIST_I64, false};
  size_t first = 0, firsts[OPERANDS_MOST];
  char *places[JOIST_RESULTS_MAX];
  const size_t n = result_count(c, 0);
  numbered.rules = joist_rules_at(0);
  for (size_t k = 0; k < c->count; k++) {
    struct operand *const o = &numbered.operand[k];
    firsts[k] = first;
    dtypes[k] = o->dtype;
    inputs[k] = o->plain;
    if (o->contents == HOLDS_POSITIONS) continue;
    int64_t *const numbers = allocate(o->count * sizeof *numbers);
    for (size_t i = 0; i < o->count; i++) numbers[i] = (int64_t)(first + i);
    o->type = type;
    o->literal = false;
    dtypes[k] = JOIST_I64;
    inputs[k] = numbers;
    first += o->count;
  }
  CHECK_CASE(infer_case(&numbered), "nv_%s() of positions is not defined", joist_op_name(c->op));
  const joist_status status = run_plain(&numbered, inputs, dtypes, places);
  const bool nothing = c->count > 1 && c->operand[1].contents == HOLDS_POSITIONS &&
                       c->operand[1].low > c->operand[1].high;
  CHECK_CASE(status == JOIST_OK || nothing, "nv_%s() of positions fails", joist_op_name(c->op));
  for (size_t i = 0; i < n; i++) {
    want[i] = by_missing_index(c, i);
    if (status != JOIST_OK) continue;
    const size_t place = (size_t)((const int64_t *)(const void *)places[0])[i];
    for (size_t k = 0; k < c->count; k++)
      if (c->operand[k].contents != HOLDS_POSITIONS && place >= firsts[k] &&
          place < firsts[k] + c->operand[k].count)
        want[i] |= is_missing(&c->operand[k], place - firsts[k]);
  }
  free(places[0]);
  for (size_t k = 0; k < c->count; k++)
    if (c->operand[k].contents != HOLDS_POSITIONS) free((void *)(uintptr_t)inputs[k]);
}

static bool is_scatter(joist_op op) {
  return op == JOIST_OP_SCATTER_ADD || op == JOIST_OP_SCATTER_MIN || op == JOIST_OP_SCATTER_MAX ||
         op == JOIST_OP_SCATTER_MUL;
}

static void want_scatter(const struct missing_case *c, uint8_t *want) {
  const struct operand *const x = &c->operand[0], *const index = &c->operand[1];
  const struct operand *const value = &c->operand[2];
  const int64_t *const positions = (const int64_t *)(const void *)index->plain;
  for (size_t i = 0; i < x->count; i++) want[i] = is_missing(x, i);
  for (size_t k = 0; k < index->count; k++)
    want[positions[k]] |= is_missing(value, value->count == 1 ? 0 : k);
}

/* ---- order ---- */

/* -1, 0 or 1 for numbers; NaN is equal to itself and beyond all of them. */
static int compare(const struct operand *o, size_t i, size_t j) {
  const char *const a = element_of(o, i), *const b = element_of(o, j);
  if (o->dtype == JOIST_UI64) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
  }
  if (joist_dtype_category(o->dtype) < JOIST_CATEGORY_FLOAT) {
    int64_t x, y;
    joist_convert_find_portable(o->dtype, JOIST_I64)(1, a, &x);
    joist_convert_find_portable(o->dtype, JOIST_I64)(1, b, &y);
    return (x > y) - (x < y);
  }
  const double x = real_part(o, i), y = real_part(o, j);
  if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
  return (x > y) - (x < y);
}

static bool comes_before(const struct operand *o, bool decreasing, size_t i, size_t j) {
  if (is_missing(o, i) || is_missing(o, j)) return is_missing(o, j) && !is_missing(o, i);
  const bool numbers = !is_nan(o, i) && !is_nan(o, j);
  return decreasing && numbers ? compare(o, i, j) > 0 : compare(o, i, j) < 0;
}

/* The first element of line l. */
static size_t start_of(const struct joist_lines *lines, size_t l) {
  return l / lines->inner * lines->inner * lines->middle + l % lines->inner;
}

static void check_sorted(const struct missing_case *c, const struct outcome *got) {
  const struct operand *const o = &c->operand[0];
  const struct joist_lines lines =
      joist_shape_lines(&o->shape, joist_attribute_dim(&c->attributes));
  const bool decreasing = joist_attribute_flag(&c->attributes, JOIST_ATTRIBUTE_DECREASING);
  const size_t size = joist_dtype_size(o->dtype);
  const size_t kept = c->inference.shape[0].extent[joist_attribute_dim(&c->attributes)];
  size_t *const order = allocate(lines.middle * sizeof *order), wrong = 0;
  for (size_t l = 0; l < lines.inner * lines.outer; l++) {
    const size_t from = start_of(&lines, l);
    for (size_t k = 0; k < lines.middle; k++) {
      const size_t at = from + k * lines.inner;
      size_t place = k;
      for (; place > 0 && comes_before(o, decreasing, at, order[place - 1]); place--)
        order[place] = order[place - 1];
      order[place] = at;
    }
    const size_t to = l / lines.inner * lines.inner * kept + l % lines.inner;
    for (size_t k = 0; k < kept; k++) {
      const size_t at = to + k * lines.inner;
      if (c->op != JOIST_OP_SORT) {
        const int32_t position = ((const int32_t *)(const void *)got->elements[0])[at];
        wrong += (size_t)position != (order[k] - from) / lines.inner + 1 || is_masked(got, 0, at);
        continue;
      }
      wrong += is_masked(got, 0, at) != is_missing(o, order[k]);
      if (is_missing(o, order[k])) continue;
      wrong += !same_element(o->dtype, got->elements[0] + at * size, element_of(o, order[k]));
    }
  }
  free(order);
  CHECK_CASE(wrong == 0, "nv_%s(): %zu wrong", joist_op_name(c->op), wrong);
}

static void check_extremes(const struct missing_case *c, const struct outcome *got) {
  const struct operand *const o = &c->operand[0];
  const struct joist_lines lines =
      joist_shape_lines(&o->shape, joist_attribute_dim(&c->attributes));
  const int32_t *const positions = (const int32_t *)(const void *)got->elements[0];
  size_t wrong = 0;
  for (size_t l = 0; l < lines.inner * lines.outer; l++) {
    const size_t from = start_of(&lines, l);
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < lines.middle; k++) {
      const size_t at = from + k * lines.inner;
      if (is_missing(o, at)) continue;
      if (best == SIZE_MAX ||
          (!is_nan(o, best) &&
           (is_nan(o, at) ||
            (c->op == JOIST_OP_ARGMIN ? compare(o, at, best) < 0 : compare(o, at, best) > 0))))
        best = at;
    }
    wrong += is_masked(got, 0, l) != (best == SIZE_MAX);
    if (best == SIZE_MAX) continue;
    wrong += (size_t)positions[l] != (best - from) / lines.inner + 1;
  }
  CHECK_CASE(wrong == 0, "nv_%s(): %zu wrong", joist_op_name(c->op), wrong);
}

static bool matches(const struct operand *x, size_t i, const struct operand *y, size_t j) {
  if (is_missing(x, i) || is_missing(y, j)) return is_missing(x, i) && is_missing(y, j);
  double a[2], b[2];
  read_parts(x->dtype, element_of(x, i), a);
  read_parts(y->dtype, element_of(y, j), b);
  if (isnan(a[0]) || isnan(b[0])) return isnan(a[0]) && isnan(b[0]);
  return a[0] == b[0] && a[1] == b[1];
}

static void check_match(const struct missing_case *c, const struct outcome *got) {
  const struct operand *const x = &c->operand[0], *const table = &c->operand[1];
  const int64_t nomatch = joist_attribute_value(&c->attributes, JOIST_ATTRIBUTE_NOMATCH);
  size_t wrong = 0;
  for (size_t i = 0; i < x->count; i++) {
    size_t j = 0;
    while (j < table->count && !matches(x, i, table, j)) j++;
    const int64_t want = j < table->count ? (int64_t)j + 1 : nomatch;
    wrong += ((const int32_t *)(const void *)got->elements[0])[i] != want || is_masked(got, 0, i);
  }
  CHECK_CASE(wrong == 0, "nv_match(): %zu wrong", wrong);
}

static void check_counts(const struct missing_case *c, const struct outcome *got) {
  const struct operand *const o = &c->operand[0];
  for (size_t bin = 0; bin < result_count(c, 0); bin++) {
    int64_t count = 0;
    for (size_t i = 0; i < o->count; i++) {
      int64_t number;
      joist_convert_find_portable(o->dtype, JOIST_I64)(1, element_of(o, i), &number);
      count += !is_missing(o, i) && number == (int64_t)bin + 1;
    }
    CHECK_CASE(
        ((const int64_t *)(const void *)got->elements[0])[bin] == count && !is_masked(got, 0, bin),
        "nv_tabulate(): bin %zu", bin + 1);
  }
}

/* ---- elements of results ---- */

/* Folds of the elements that are left of those that give one result. */
struct rest {
  size_t n;
  long double sum[2], product[2], least, most;
  bool any, all;
};

static void add_to_rest(const struct operand *o, size_t i, struct rest *rest) {
  double parts[2];
  read_parts(o->dtype, element_of(o, i), parts);
  const long double product = rest->product[0];
  rest->n++;
  rest->sum[0] += parts[0];
  rest->sum[1] += parts[1];
  rest->product[0] = product * parts[0] - rest->product[1] * parts[1];
  rest->product[1] = product * parts[1] + rest->product[1] * parts[0];
  if (parts[0] < rest->least) rest->least = parts[0];
  if (parts[0] > rest->most) rest->most = parts[0];
  rest->any |= parts[0] != 0 || parts[1] != 0;
  rest->all &= parts[0] != 0 || parts[1] != 0;
}

static void want_rest(const struct missing_case *c, const struct rest *rest, long double want[2]) {
  const long double n = rest->n;
  want[1] = 0;
  switch (c->op) {
    case JOIST_OP_REDUCE_SUM:
      want[0] = rest->sum[0];
      want[1] = rest->sum[1];
      break;
    case JOIST_OP_REDUCE_MEAN:
      want[0] = rest->n == 0 ? (long double)NAN : rest->sum[0] / n;
      if (joist_dtype_kind(result_dtype(c, 0)) == JOIST_KIND_COMPLEX)
        want[1] = rest->n == 0 ? (long double)NAN : rest->sum[1] / n;
      break;
    case JOIST_OP_REDUCE_PROD:
      want[0] = rest->product[0];
      want[1] = rest->product[1];
      break;
    case JOIST_OP_REDUCE_MIN:
      want[0] = rest->least;
      break;
    case JOIST_OP_REDUCE_MAX:
      want[0] = rest->most;
      break;
    case JOIST_OP_REDUCE_ANY:
      want[0] = rest->any;
      break;
    default:
      want[0] = rest->all;
  }
}

/* Elements are small numbers, so that sums are exact. */
static void check_rest(const struct missing_case *c, const struct outcome *got) {
  const struct operand *const o = &c->operand[0];
  const uint32_t dims = joist_attribute_mask(&c->attributes);
  const joist_dtype dtype = result_dtype(c, 0), real = joist_dtype_real(dtype);
  const bool inexact = joist_dtype_category(dtype) >= JOIST_CATEGORY_FLOAT;
  const long double largest =
      inexact ? (long double)joist_dtype_max_float(dtype) : (long double)joist_dtype_max_int(dtype);
  const long double least = inexact ? -largest : (long double)joist_dtype_min_int(dtype);
  const long double range = largest - least + 1;
  if (joist_attribute_type(&c->attributes).dtype != JOIST_DTYPE_NONE) return;
  if (o->contents == HOLDS_NUMBERS && c->fill != FILL_SMALL) return;
  for (size_t i = 0; i < result_count(c, 0); i++) {
    struct rest rest = {.product = {1, 0}, .least = INFINITY, .most = -INFINITY, .all = true};
    long double want[2];
    double parts[2];
    if (is_masked(got, 0, i)) continue;
    for (size_t j = 0; j < o->count; j++)
      if (folded(&o->shape, dims, j) == i && !is_left_out(c, j)) add_to_rest(o, j, &rest);
    want_rest(c, &rest, want);
    /* Parts of a long product may overflow. */
    if (c->op == JOIST_OP_REDUCE_PROD && (rest.n > 100 || hypotl(want[0], want[1]) * 2 > largest))
      continue;
    /* Sums that do not fit are taken modulo 2^bits. */
    if (!inexact && (want[0] > largest || want[0] < least))
      want[0] -= floorl((want[0] - least) / range) * range;
    read_parts(dtype, got->elements[0] + i * joist_dtype_size(dtype), parts);
    const struct byte_format *const format = byte_format_of(dtype);
    /* Without infinities, the extreme of nothing is the end of the dtype. */
    const bool ends = isinf(want[0]) && !joist_dtype_has_infinity(dtype) &&
                      c->op != JOIST_OP_REDUCE_SUM && c->op != JOIST_OP_REDUCE_PROD;
    if (ends) want[0] = want[0] > 0 ? joist_dtype_max_float(dtype) : joist_dtype_min_float(dtype);
    if (format != NULL) want[0] = byte_value(format, byte_nearest(format, want[0]));
    const long double unit = inexact ? (long double)half_unit(real) : 0;
    const long double size = isnan(want[0]) ? 0 : hypotl(want[0], want[1]);
    const bool product = c->op == JOIST_OP_REDUCE_PROD;
    const long double allowed =
        (1.01L * unit + (product ? 1e-12L : 0)) * size + (inexact && product ? 1e-7L : 0);
    for (int part = 0; part < 2; part++)
      CHECK_CASE(isnan(want[part])
                     ? isnan(parts[part])
                     : parts[part] == want[part] || fabsl(parts[part] - want[part]) <= allowed,
                 "nv_%s(): element %zu of the rest is %g, want %Lg", joist_op_name(c->op), i,
                 parts[part], want[part]);
  }
}

/* Elements that are not missing are those of the plain operation. */
static void check_plain(const struct missing_case *c, const struct outcome *got) {
  const void *inputs[OPERANDS_MOST];
  joist_dtype dtypes[OPERANDS_MOST];
  char *plain[JOIST_RESULTS_MAX] = {NULL};
  const bool predicate = joist_op_missing_rule(c->op) == JOIST_MISSING_FALSE;
  for (size_t k = 0; k < c->count; k++) {
    inputs[k] = c->operand[k].plain;
    dtypes[k] = c->operand[k].dtype;
  }
  const bool runs = run_plain(c, inputs, dtypes, plain) == JOIST_OK;
  for (int r = 0; r < joist_operation(c->op)->results; r++) {
    const joist_dtype dtype = result_dtype(c, r);
    const size_t size = joist_dtype_size(dtype);
    for (size_t i = 0; runs && i < result_count(c, r); i++) {
      const uint8_t no = 0;
      const bool by_mask = predicate && is_missing(&c->operand[0], i);
      const void *const want = by_mask ? (const void *)&no : plain[r] + i * size;
      if (is_masked(got, r, i)) continue;
      CHECK_CASE(same_element(dtype, got->elements[r] + i * size, want),
                 "nv_%s() of %s: element %zu is not that of the plain operation",
                 joist_op_name(c->op), joist_dtype_name(c->operand[0].dtype), i);
    }
    free(plain[r]);
  }
}

static void check_mask(const struct missing_case *c, const struct outcome *got) {
  const joist_missing_rule rule = joist_op_missing_rule(c->op);
  for (int r = 0; r < joist_operation(c->op)->results; r++) {
    const size_t n = result_count(c, r);
    uint8_t *const want = allocate(n);
    if (joist_op_is_reduction(c->op))
      want_reduction(c, want);
    else if (rule == JOIST_MISSING_SCAN)
      want_scan(c, want);
    else if (rule == JOIST_MISSING_PRODUCT)
      want_product(c, want);
    else if (rule == JOIST_MISSING_WINDOW)
      want_window(c, want);
    else if (is_scatter(c->op))
      want_scatter(c, want);
    else if (rule == JOIST_MISSING_ALONG)
      want_along(c, want);
    else
      for (size_t i = 0; i < n; i++)
        want[i] = rule == JOIST_MISSING_ORDER  ? is_missing(&c->operand[1], i)
                  : rule == JOIST_MISSING_LINE ? any_along(c, i)
                                               : want_elementwise(c, i);
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) wrong += is_masked(got, r, i) != want[i];
    CHECK_CASE(wrong == 0, "nv_%s() of %s: %zu of %zu elements of the mask are wrong",
               joist_op_name(c->op), joist_dtype_name(c->operand[0].dtype), wrong, n);
    free(want);
  }
}

static void check_rules(const struct missing_case *c, const struct outcome *got) {
  switch (c->op) {
    case JOIST_OP_SORT:
    case JOIST_OP_ARGSORT:
    case JOIST_OP_TOP_K:
      check_sorted(c, got);
      return;
    case JOIST_OP_ARGMIN:
    case JOIST_OP_ARGMAX:
      check_extremes(c, got);
      return;
    case JOIST_OP_MATCH:
      check_match(c, got);
      return;
    case JOIST_OP_TABULATE:
      check_counts(c, got);
      return;
    default:
      check_mask(c, got);
      if (c->remove && joist_op_is_reduction(c->op))
        check_rest(c, got);
      else if (!c->remove)
        check_plain(c, got);
  }
}

/* ---- random cases ---- */

static bool is_refused(const struct missing_case *c) {
  const bool index = c->op == JOIST_OP_PUT || is_scatter(c->op) || c->op == JOIST_OP_REQUIRE;
  return (index && c->operand[1].masked) ||
         (c->op == JOIST_OP_SEARCHSORTED && c->operand[0].masked);
}

/* Two runs agree in the masks, and in the elements that are not missing. */
static void check_same(const struct missing_case *c, const struct outcome *a,
                       const struct outcome *b) {
  for (int r = 0; r < joist_operation(c->op)->results; r++) {
    const joist_dtype dtype = result_dtype(c, r);
    const size_t size = joist_dtype_size(dtype);
    size_t masks = 0, elements = 0;
    for (size_t i = 0; i < result_count(c, r); i++) {
      masks += is_masked(a, r, i) != is_masked(b, r, i);
      elements += !is_masked(a, r, i) &&
                  !same_element(dtype, a->elements[r] + i * size, b->elements[r] + i * size);
    }
    CHECK_CASE(masks == 0, "nv_%s() of %s: %zu elements of the mask depend on missing ones",
               joist_op_name(c->op), joist_dtype_name(c->operand[0].dtype), masks);
    CHECK_CASE(elements == 0, "nv_%s() of %s: %zu elements depend on missing ones",
               joist_op_name(c->op), joist_dtype_name(c->operand[0].dtype), elements);
  }
}

/* Positions, divisors and ascending numbers are of dtypes that hold them, and so are the operands
 * that a guess among them may be converted to. */
static bool has_room(const struct missing_case *c) {
  bool numbers = true, words_only = true;
  for (size_t k = 0; k < c->count; k++) {
    numbers &= c->operand[k].contents == HOLDS_NUMBERS;
    words_only &= joist_dtype_is_word(c->operand[k].type.dtype);
  }
  return numbers || words_only;
}

/* False if the operation is not defined for the operands. */
static bool check_case(struct missing_case *c) {
  struct outcome plain, wild;
  if (!infer_case(c) || !has_room(c)) return false;
  fill_case(c);
  run_lowered(c, false, 1, &plain);
  run_lowered(c, true, one_in(4) ? 3 : 1, &wild);
  if (is_refused(c)) {
    CHECK_ERROR(plain.status, plain.error, JOIST_E_MISSING_VALUES);
  } else if (plain.status != JOIST_OK && plain.error.code == JOIST_E_NO_ELEMENTS) {
    CHECK_CASE(c->operand[0].count == 0, "nv_%s(): no elements", joist_op_name(c->op));
    CHECK_ERROR(wild.status, wild.error, JOIST_E_NO_ELEMENTS);
  } else {
    CHECK_CASE(plain.status == JOIST_OK, "%s", words(&plain.error));
    CHECK_CASE(wild.status == JOIST_OK, "missing elements: %s", words(&wild.error));
    if (plain.status == JOIST_OK && wild.status == JOIST_OK) {
      check_same(c, &plain, &wild);
      check_rules(c, &plain);
    }
  }
  free_outcome(&plain);
  free_outcome(&wild);
  free_case(c);
  return true;
}

static void test_operation(joist_op op, joist_dtype dtype) {
  enum { TRIES = 40 };
  size_t cases = 0;
  for (int k = 0; k < TRIES; k++) {
    struct missing_case c;
    make_case(&c, op, dtype);
    const size_t masked = 1 + random_below(((size_t)1 << c.count) - 1);
    for (size_t j = 0; j < c.count; j++) c.operand[j].masked = masked >> j & 1;
    if (c.remove && one_in(4)) c.operand[0].masked = false;
    cases += check_case(&c);
  }
  /* Bins are not complex: their counts are drawn in i64. */
  const bool is_complex = joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX;
  const bool defined =
      op == JOIST_OP_TABULATE ? !is_complex : joist_op_has(op, joist_dtype_compute(dtype));
  CHECK_MSG(cases > 0 || !defined || !joist_dtype_is_word(dtype), "nv_%s() of %s: no case",
            joist_op_name(op), joist_dtype_name(dtype));
}

/* ---- the table ---- */

static void test_table(void) {
  for (int k = 0; k < JOIST_OP_COUNT; k++) {
    const joist_missing_rule rule = joist_op_missing_rule((joist_op)k);
    CHECK_MSG(rule != JOIST_MISSING_NONE, "nv_%s() has no rule", joist_op_name((joist_op)k));
    CHECK(rule <= JOIST_MISSING_REFUSE && strlen(joist_missing_rule_name(rule)) > 0);
  }
}

/* Every operand of an operation that is not defined for missing values. */
static void test_refused(joist_op op) {
  const uint32_t extents[] = {2, 2};
  const size_t count = joist_operation(op)->least;
  for (size_t masked = 0; masked < count; masked++) {
    struct joist_program program;
    struct joist_error error;
    struct joist_inference inference;
    joist_value_id operands[OPERANDS_MOST], masks[OPERANDS_MOST], results[JOIST_RESULTS_MAX],
        made[JOIST_RESULTS_MAX];
    memset(&inference, 0, sizeof inference);
    joist_program_init(&program);
    for (size_t k = 0; k < count; k++) {
      operands[k] = add_input(&program, JOIST_F32, 2, extents);
      masks[k] = k == masked ? add_input(&program, JOIST_BOOL, 2, extents) : JOIST_NO_MASK;
    }
    const struct joist_missing missing = {.op = op,
                                          .inference = &inference,
                                          .attributes = &no_attributes,
                                          .count = count,
                                          .operands = operands,
                                          .masks = masks,
                                          .source = JOIST_NO_SOURCE};
    const joist_status status = joist_missing_add(&program, &missing, results, made, &error);
    CHECK_INT(status, JOIST_ERROR_VALUE);
    CHECK_ERROR(status, error, JOIST_E_MISSING_VALUES);
    CHECK_STR(error.op, joist_op_name(op));
    CHECK_INT(program.instruction_count, 0);
    joist_program_clear(&program);
  }
}

int main(void) {
  use_rules();
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  test_table();
  for (int k = 0; k < JOIST_OP_COUNT; k++) {
    const joist_op op = (joist_op)k;
    if (joist_op_missing_rule(op) == JOIST_MISSING_REFUSE) {
      test_refused(op);
      continue;
    }
    if (joist_operation(op)->least == 0) continue; /* no operand can be missing */
    /* These need LAPACK, which is the host's: test-tensor-missing.R has them. */
    if (joist_op_missing_rule(op) == JOIST_MISSING_MATRIX) continue;
    for (int d = 0; d < JOIST_DTYPE_COUNT; d++) test_operation(op, (joist_dtype)d);
  }
  return check_report("missing");
}
