/* Slices and what is put into them, against a list of positions per dim that is walked one element
 * at a time: ranks up to 12 and the largest, steps up, down and of 0, empty ones, another shape;
 * and slices that are out of range. */
#include "arrays.h"
#include "rules.h"
#include "single.h"

enum { ROUNDS = 1500, MOST = 32 };

/* Along one dim: the positions, and the attributes that name them. */
struct chosen {
  size_t count, positions[MOST];
  int64_t start, stop, step;
};

static struct chosen choose(size_t extent) {
  struct chosen c = {.step = 1};
  if (extent == 0 || one_in(12)) { /* none: it stops before it starts, by no more than a step */
    c.step = one_in(2) ? 1 + (int64_t)random_below(3) : -1 - (int64_t)random_below(3);
    c.start = (int64_t)random_below(extent + 1);
    const int64_t back = 1 + (int64_t)random_below((size_t)(c.step < 0 ? -c.step : c.step));
    c.stop = c.step < 0 ? c.start + back : c.start - back;
    return c;
  }
  const size_t start = random_below(extent);
  c.start = c.stop = (int64_t)start;
  c.step = (int64_t)random_below(7) - 3;
  const size_t size = (size_t)(c.step < 0 ? -c.step : c.step);
  const size_t room = c.step < 0 ? start : extent - 1 - start;
  c.count = size == 0 ? 1 : 1 + random_below(room / size + 1);
  if (size > 0 && one_in(2)) c.count = 1 + room / size;
  for (size_t k = 0; k < c.count; k++)
    c.positions[k] = c.step < 0 ? start - k * size : start + k * size;
  /* Anywhere before the next position. */
  if (size > 0) {
    const int64_t more = (int64_t)((c.count - 1) * size + random_below(size));
    c.stop += c.step < 0 ? -more : more;
  }
  return c;
}

static struct joist_shape random_shape(int rank) {
  struct joist_shape shape = {rank, {0}};
  size_t room = 6000;
  for (int d = 0; d < rank; d++) {
    uint32_t extent = (uint32_t)(1 + random_below(rank > 6 ? 3 : 9));
    if (one_in(40)) extent = 0;
    if (extent > room) extent = 1;
    shape.extent[d] = extent;
    if (extent > 0) room /= extent;
  }
  return shape;
}

/* Where the next of the chosen positions is; false after the last. */
static bool next_position(const struct joist_shape *shape, const struct chosen *chosen,
                          size_t *index, size_t *at) {
  int d = 0;
  while (d < shape->rank && ++index[d] == chosen[d].count) index[d++] = 0;
  *at = 0;
  for (int e = shape->rank; e-- > 0;) *at = *at * shape->extent[e] + chosen[e].positions[index[e]];
  return d < shape->rank;
}

static void check_slice(joist_dtype dtype, const struct joist_shape *shape, bool reshaped) {
  struct chosen chosen[JOIST_RANK_MAX];
  int64_t list[3][JOIST_RANK_MAX];
  struct joist_shape selected = {shape->rank, {0}};
  bool stepped = false;
  for (int d = 0; d < shape->rank; d++) {
    chosen[d] = choose(shape->extent[d]);
    list[0][d] = chosen[d].start, list[1][d] = chosen[d].stop, list[2][d] = chosen[d].step;
    selected.extent[d] = (uint32_t)chosen[d].count;
    stepped |= chosen[d].step != 1;
  }
  const size_t rank = (size_t)shape->rank, size = joist_dtype_size(dtype);
  const size_t n = elements_in(&selected), all = elements_in(shape);
  struct joist_attributes attributes =
      with_list(no_attributes, JOIST_ATTRIBUTE_STOP, list[1], rank);
  if (stepped) attributes = with_list(attributes, JOIST_ATTRIBUTE_STEP, list[2], rank);
  attributes = with_list(attributes, JOIST_ATTRIBUTE_START, list[0], rank);
  const struct joist_shape flat = {1, {(uint32_t)n}}, wrong = {1, {(uint32_t)n + 1}};
  const struct joist_attributes shaped = with_shape(attributes, &flat);
  const struct joist_attributes misshaped = with_shape(attributes, &wrong);
  const bool one = one_in(3);

  struct joist_program slice, update;
  struct joist_inference inference;
  joist_value_id result = 0;
  joist_program_init(&slice);
  joist_program_init(&update);
  joist_value_id x = add_input(&slice, dtype, shape->rank, shape->extent);
  CHECK_INT(infer(&slice, joist_rules_at(0), JOIST_OP_SLICE, &x, 1, &misshaped, &inference, NULL),
            JOIST_ERROR_SHAPE);
  if (CHECK(add(&slice, joist_rules_at(0), JOIST_OP_SLICE, &x, 1, reshaped ? &shaped : &attributes,
                &result))) {
    CHECK(joist_shape_equal(&slice.values[result].shape, reshaped ? &flat : &selected));
    add_output(&slice, result);
  }
  const joist_value_id operands[2] = {
      add_input(&update, dtype, shape->rank, shape->extent),
      one ? add_input(&update, dtype, 0, NULL)
          : add_input(&update, dtype, selected.rank, selected.extent)};
  if (CHECK(add(&update, joist_rules_at(0), JOIST_OP_UPDATE, operands, 2, &attributes, &result))) {
    CHECK(joist_shape_equal(&update.values[result].shape, shape));
    add_output(&update, result);
  }

  char *const in = malloc(all * size + 1), *const value = malloc((n + 1) * size);
  char *const want = malloc(n * size + 1), *const updated = malloc(all * size + 1);
  if (in == NULL || value == NULL || want == NULL || updated == NULL) abort();
  fill(dtype, all, FILL_BITS, in);
  fill(dtype, n + 1, FILL_BITS, value);
  memcpy(updated, in, all * size);
  size_t index[JOIST_RANK_MAX] = {0}, k = 0, at = 0;
  for (int e = shape->rank; n > 0 && e-- > 0;) at = at * shape->extent[e] + chosen[e].positions[0];
  if (n > 0) do {
      memcpy(want + k * size, in + at * size, size);
      memcpy(updated + at * size, value + (one ? 0 : k) * size, size);
      k++;
    } while (next_position(shape, chosen, index, &at));
  CHECK_INT(k, n);
  char text[JOIST_SHAPE_TEXT];
  for (int threads = 1; threads <= 2 && slice.output_count + update.output_count == 2; threads++) {
    joist_status status;
    char *got = run_output(&slice, (const void *[]){in}, threads, &status);
    CHECK_INT(status, JOIST_OK);
    CHECK_MSG(got != NULL && memcmp(got, want, n * size) == 0, "slice of %s{%s}",
              joist_dtype_name(dtype), joist_shape_format(shape, text));
    free(got);
    got = run_output(&update, (const void *[]){in, value}, threads, &status);
    CHECK_INT(status, JOIST_OK);
    CHECK_MSG(got != NULL && memcmp(got, updated, all * size) == 0, "update of %s{%s}",
              joist_dtype_name(dtype), joist_shape_format(shape, text));
    free(got);
  }
  free(in);
  free(value);
  free(want);
  free(updated);
  joist_program_clear(&slice);
  joist_program_clear(&update);
}

static void test_slices(void) {
  for (int round = 0; round < ROUNDS; round++) {
    const struct joist_shape shape = random_shape(round % 3 == 0 ? 12 : (int)random_below(13));
    check_slice((joist_dtype)random_below(JOIST_DTYPE_COUNT), &shape, round % 2 == 0);
  }
  struct joist_shape largest = {JOIST_RANK_MAX, {0}};
  for (int d = 0; d < JOIST_RANK_MAX; d++) largest.extent[d] = d % 4 == 1 ? 3 : 1;
  for (int round = 0; round < 50; round++) check_slice(JOIST_F32, &largest, false);
}

static joist_status slice_of_five(const struct joist_attributes *attributes) {
  struct joist_program program;
  struct joist_inference inference;
  struct joist_error error = {0};
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_I32, 2, (uint32_t[]){5, 4});
  const joist_status status =
      infer(&program, joist_rules_at(0), JOIST_OP_SLICE, &x, 1, attributes, &inference, &error);
  if (status != JOIST_OK)
    CHECK_INT(error.code, joist_attribute_length(attributes, JOIST_ATTRIBUTE_START) == 2
                              ? JOIST_E_SLICE_RANGE
                              : JOIST_E_ATTRIBUTE_LENGTH);
  joist_program_clear(&program);
  return status;
}

static void check_bounds(int64_t start, int64_t stop, int64_t step, joist_status want) {
  const struct joist_attributes attributes =
      with_list(with_list(with_list(no_attributes, JOIST_ATTRIBUTE_START, (int64_t[]){start, 0}, 2),
                          JOIST_ATTRIBUTE_STOP, (int64_t[]){stop, 3}, 2),
                JOIST_ATTRIBUTE_STEP, (int64_t[]){step, 1}, 2);
  CHECK_MSG(slice_of_five(&attributes) == want, "a slice of 5 from %lld to %lld by %lld",
            (long long)start, (long long)stop, (long long)step);
}

static void test_bounds(void) {
  static const int64_t far = INT64_C(1) << 53;
  check_bounds(0, 4, 1, JOIST_OK);
  check_bounds(4, 0, -1, JOIST_OK);
  check_bounds(0, 5, 1, JOIST_ERROR_SHAPE);
  check_bounds(0, 5, 2, JOIST_OK); /* 0, 2, 4 */
  check_bounds(-1, 3, 1, JOIST_ERROR_SHAPE);
  check_bounds(4, -1, -1, JOIST_ERROR_SHAPE);
  check_bounds(5, 5, 0, JOIST_ERROR_SHAPE);
  check_bounds(2, 3, 0, JOIST_ERROR_SHAPE);
  check_bounds(3, 2, 1, JOIST_OK);
  check_bounds(3, 1, 1, JOIST_ERROR_SHAPE);
  check_bounds(4, 2, 2, JOIST_OK);
  check_bounds(4, 1, 2, JOIST_ERROR_SHAPE);
  check_bounds(1, 3, -2, JOIST_OK);
  check_bounds(0, 3, -2, JOIST_ERROR_SHAPE);
  check_bounds(1, 3, -1, JOIST_ERROR_SHAPE);
  check_bounds(0, far, 1, JOIST_ERROR_SHAPE);
  check_bounds(-far, far, far, JOIST_ERROR_SHAPE);
  check_bounds(0, 3, far, JOIST_OK);
  check_bounds(far, -far, -far, JOIST_ERROR_SHAPE);
}

/* A list has an element for every dim, or is not given. */
static void test_lengths(void) {
  static const joist_attribute_name names[] = {JOIST_ATTRIBUTE_START, JOIST_ATTRIBUTE_STOP,
                                               JOIST_ATTRIBUTE_STEP};
  static const int64_t list[3] = {1, 1, 1};
  for (int k = 0; k < 3; k++)
    for (size_t n = 0; n <= 3; n++) {
      const struct joist_attributes attributes = with_list(
          k == 0 ? with_list(no_attributes, JOIST_ATTRIBUTE_STOP, list, 2) : no_attributes,
          names[k], list, n);
      CHECK_INT(slice_of_five(&attributes), n == 2 ? JOIST_OK : JOIST_ERROR_SHAPE);
    }
}

int main(void) {
  use_rules();
  test_slices();
  test_bounds();
  test_lengths();
  return check_report("slice");
}
