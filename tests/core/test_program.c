/* Programs: attributes, the arena, instructions that compute the same, numbers of operands, bodies,
 * and how all of it is printed. */
#include "core/program/print.h"

#include "programs.h"
#include "rules.h"

/* ---- attributes ---- */

/* A few of every kind. */
static struct joist_attributes several(bool backwards) {
  static const int64_t start[] = {1, 2, 3}, stop[] = {4, 5, 6};
  const struct joist_shape shape = {2, {7, 8}};
  const struct joist_type type = {JOIST_F16, true};
  struct joist_attributes a = no_attributes;
  for (int k = 0; k < 5; k++) switch (backwards ? 4 - k : k) {
      case 0:
        a = with_list(a, JOIST_ATTRIBUTE_STOP, stop, 3);
        break;
      case 1:
        a = with_type(a, type);
        break;
      case 2:
        a = with_list(a, JOIST_ATTRIBUTE_START, start, 3);
        break;
      case 3:
        a = with(a, JOIST_ATTRIBUTE_DIM, 2);
        break;
      default:
        a = with_shape(a, &shape);
    }
  return a;
}

static void test_reading(void) {
  const struct joist_attributes a = several(false);
  struct joist_shape shape;
  CHECK_INT(a.count, 5);
  for (uint32_t k = 1; k < a.count; k++) CHECK(a.item[k - 1].name < a.item[k].name);
  CHECK_INT(joist_attribute_dim(&a), 2);
  CHECK_INT(joist_attribute_length(&a, JOIST_ATTRIBUTE_STOP), 3);
  CHECK_INT(joist_attribute_at(&a, JOIST_ATTRIBUTE_STOP, 2), 6);
  CHECK_INT(joist_attribute_value(&a, JOIST_ATTRIBUTE_START), 1);
  CHECK(joist_attribute_type(&a).dtype == JOIST_F16 && joist_attribute_type(&a).ambiguous);
  CHECK(joist_attribute_shape(&a, &shape));
  CHECK(joist_shape_equal(&shape, &(struct joist_shape){2, {7, 8}}));
  CHECK(joist_attributes_find(&a, JOIST_ATTRIBUTE_STEP) == NULL);
  CHECK_INT(joist_attributes_find(&a, JOIST_ATTRIBUTE_STOP)->list[1], 5);

  /* What stands for one that is not given. */
  CHECK_INT(joist_attribute_dim(&no_attributes), -1);
  CHECK(joist_attribute_flag(&no_attributes, JOIST_ATTRIBUTE_DROP));
  CHECK(!joist_attribute_flag(&no_attributes, JOIST_ATTRIBUTE_DECREASING));
  CHECK_INT(joist_attribute_at(&no_attributes, JOIST_ATTRIBUTE_STEP, 3), 1);
  CHECK_INT(joist_attribute_at(&a, JOIST_ATTRIBUTE_STOP, 3), 0);
  CHECK_INT(joist_attribute_length(&no_attributes, JOIST_ATTRIBUTE_STOP), 0);
  CHECK_INT(joist_attribute_type(&no_attributes).dtype, JOIST_DTYPE_NONE);
  CHECK(!joist_attribute_shape(&no_attributes, &shape));
  CHECK_INT(shape.rank, 0);
  CHECK(joist_attribute_number(&no_attributes, JOIST_ATTRIBUTE_FROM) == 0);

  struct joist_attributes number = no_attributes;
  joist_attributes_set_number(&number, JOIST_ATTRIBUTE_FROM, -0.1);
  CHECK(joist_attribute_number(&number, JOIST_ATTRIBUTE_FROM) == -0.1);
  const uint32_t mask = UINT32_C(0x80000005);
  const struct joist_attributes dims = with_dims(no_attributes, mask);
  CHECK_INT(joist_attribute_length(&dims, JOIST_ATTRIBUTE_DIMS), 3);
  CHECK_INT(joist_attribute_mask(&dims), mask);
}

static bool same(const struct joist_attributes *a, const struct joist_attributes *b) {
  const bool equal = joist_attributes_equal(a, b);
  CHECK_INT(joist_attributes_equal(b, a), equal);
  CHECK_INT(joist_attributes_hash(a, 7) == joist_attributes_hash(b, 7), equal);
  return equal;
}

static void test_equal(void) {
  const struct joist_attributes a = several(false), b = several(true);
  CHECK(same(&a, &b));
  CHECK(same(&no_attributes, &no_attributes));
  CHECK(!same(&a, &no_attributes));
  CHECK(joist_attributes_hash(&a, 7) != joist_attributes_hash(&a, 8));

  /* The same values under another name, and in another list. */
  static const int64_t values[] = {1, 0, 2};
  const struct joist_attributes start = with_list(no_attributes, JOIST_ATTRIBUTE_START, values, 3);
  const struct joist_attributes stop = with_list(no_attributes, JOIST_ATTRIBUTE_STOP, values, 3);
  const struct joist_attributes both = with_list(start, JOIST_ATTRIBUTE_STOP, values, 2);
  const struct joist_attributes shifted = with_list(
      with_list(no_attributes, JOIST_ATTRIBUTE_START, values, 2), JOIST_ATTRIBUTE_STOP, values, 3);
  CHECK(!same(&start, &stop));
  CHECK(!same(&start, &both));
  CHECK(!same(&both, &shifted));

  /* A list of one is one value. */
  const struct joist_attributes one = with(no_attributes, JOIST_ATTRIBUTE_K, -9);
  const struct joist_attributes list =
      with_list(no_attributes, JOIST_ATTRIBUTE_K, (int64_t[]){-9}, 1);
  CHECK(same(&one, &list));
  CHECK_INT(joist_attribute_value(&list, JOIST_ATTRIBUTE_K), -9);
}

/* Lists of any length; each element counts, and where it is. */
static void test_lists(void) {
  enum { LONGEST = 3000 };
  int64_t *const list = malloc(LONGEST * sizeof *list), *const other =
                                                            malloc(LONGEST * sizeof *list);
  if (list == NULL || other == NULL) abort();
  for (size_t n = 0; n <= LONGEST; n = n * 2 + 1) {
    struct joist_attributes a = no_attributes, b = no_attributes, shorter = no_attributes;
    for (size_t k = 0; k < n; k++) list[k] = other[k] = (int64_t)(k * k) - 50;
    joist_attributes_set_list(&a, JOIST_ATTRIBUTE_START, list, n);
    joist_attributes_set_list(&b, JOIST_ATTRIBUTE_START, other, n);
    CHECK(same(&a, &b));
    if (n == 0) continue;
    joist_attributes_set_list(&shorter, JOIST_ATTRIBUTE_START, list, n - 1);
    CHECK(!same(&a, &shorter));
    for (size_t k = 0; k < n; k += 1 + n / 7) {
      other[k] ^= INT64_C(1) << 40;
      CHECK(!same(&a, &b));
      other[k] = list[k];
    }
    if (n == 1) continue;
    other[0] = list[n - 1], other[n - 1] = list[0];
    CHECK(!same(&a, &b));
  }
  free(list);
  free(other);
}

/* ---- the arena ---- */

static void test_arena(void) {
  enum { PIECES = 4000, LARGE = 300000 };
  struct joist_arena arena = {NULL, 0, 0};
  unsigned char *pieces[PIECES];
  size_t sizes[PIECES], wrong = 0, crooked = 0;
  for (size_t k = 0; k < PIECES; k++) {
    sizes[k] = k % 997 == 5 ? LARGE : k * 7919 % 200;
    pieces[k] = joist_arena_allocate(&arena, sizes[k]);
    if (!CHECK(pieces[k] != NULL)) return;
    crooked += (uintptr_t)pieces[k] % _Alignof(max_align_t) != 0;
    memset(pieces[k], (int)(k % 251), sizes[k]);
  }
  for (size_t k = 0; k < PIECES; k++)
    for (size_t i = 0; i < sizes[k]; i++) wrong += pieces[k][i] != k % 251;
  CHECK_INT(wrong, 0);
  CHECK_INT(crooked, 0);
  CHECK(joist_arena_allocate(&arena, SIZE_MAX) == NULL);
  CHECK(joist_arena_allocate(&arena, SIZE_MAX - 8) == NULL);
  const char *const copy = joist_arena_copy(&arena, "copied", 7);
  CHECK_STR(copy, "copied");
  CHECK(joist_arena_copy(&arena, NULL, 0) != NULL);
  joist_arena_clear(&arena);
  CHECK(arena.block == NULL);
  joist_arena_clear(&arena);
  CHECK(joist_arena_allocate(&arena, 1) != NULL);
  joist_arena_clear(&arena);
}

/* ---- instructions that compute the same ---- */

/* The k-th of many different slices of x. */
static joist_value_id add_slice(struct joist_program *program, joist_value_id x, int64_t k) {
  const int64_t start[] = {k % 100, k / 100}, stop[] = {k % 100 + 2, k / 100};
  const struct joist_attributes attributes = with_list(
      with_list(no_attributes, JOIST_ATTRIBUTE_START, start, 2), JOIST_ATTRIBUTE_STOP, stop, 2);
  joist_value_id result = 0;
  CHECK(add(program, joist_rules_at(0), JOIST_OP_SLICE, &x, 1, &attributes, &result));
  return result;
}

/* 10,000 different ones between an instruction and its like; they are found, and nothing else. */
static void test_distance(void) {
  enum { MANY = 10000 };
  struct joist_program program;
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_F32, 2, (uint32_t[]){200, 200});
  joist_value_id *const made = malloc(MANY * sizeof *made);
  if (made == NULL) abort();
  for (uint32_t k = 0; k < MANY; k++) made[k] = add_slice(&program, x, (int64_t)k);
  CHECK_INT(program.instruction_count, MANY);
  size_t wrong = 0;
  for (uint32_t k = 0; k < MANY; k++)
    wrong += made[k] != k + 1 || add_slice(&program, x, (int64_t)k) != made[k];
  CHECK_INT(wrong, 0);
  CHECK_INT(program.instruction_count, MANY);

  /* A chain of operations without attributes. */
  joist_value_id last = made[0];
  for (uint32_t k = 0; k < MANY; k++) last = add_simple(&program, JOIST_OP_ADD, last, made[0]);
  CHECK_INT(program.instruction_count, 2 * MANY);
  const joist_value_id again = add_simple(&program, JOIST_OP_ADD, made[0], made[0]);
  CHECK_INT(again, program.instructions[MANY].result);
  CHECK_INT(program.instruction_count, 2 * MANY);
  free(made);
  joist_program_clear(&program);
}

/* The program copies what an instruction refers to. */
static void test_copies(void) {
  struct joist_program program;
  struct joist_inference inference;
  int64_t list[] = {1, 0}, other[] = {0, 1};
  joist_value_id operand, result = 0, second = 0;
  joist_program_init(&program);
  const joist_value_id x = operand = add_input(&program, JOIST_F32, 2, (uint32_t[]){2, 3});
  struct joist_attributes attributes = no_attributes;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_PERMUTATION, list, 2);
  CHECK_INT(infer_and_append(&program, JOIST_OP_PERMUTE, &operand, 1, &attributes, &inference,
                             &result, NULL),
            JOIST_OK);
  operand = 99;
  memcpy(list, other, sizeof list);
  attributes.count = 0;
  const struct joist_instruction *const i = &program.instructions[0];
  CHECK_INT(i->operand[0], x);
  CHECK_INT(i->source, JOIST_NO_SOURCE);
  CHECK_INT(joist_attribute_at(i->attributes, JOIST_ATTRIBUTE_PERMUTATION, 0), 1);
  /* The address sanitizer reports reads of more items than there are. */
  const struct joist_attributes copied = joist_attributes_copied(i->attributes);
  CHECK_INT(copied.count, 1);
  CHECK_INT(joist_attribute_at(&copied, JOIST_ATTRIBUTE_PERMUTATION, 0), 1);
  const struct joist_attributes straight =
      with_list(no_attributes, JOIST_ATTRIBUTE_PERMUTATION, list, 2);
  CHECK_INT(
      infer_and_append(&program, JOIST_OP_PERMUTE, &x, 1, &straight, &inference, &second, NULL),
      JOIST_OK);
  CHECK(second != result);
  joist_program_clear(&program);
}

/* One difference makes another instruction: operation, order of operands, dtypes by another rule
 * set. Where it was written does not. */
static void test_differences(void) {
  struct joist_program program;
  struct joist_inference inference;
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_I32, 1, (uint32_t[]){3});
  const joist_value_id y = add_input(&program, JOIST_I32, 1, (uint32_t[]){3});
  const joist_value_id forwards[] = {x, y};
  joist_value_id first = 0, second = 0;
  first = add_simple(&program, JOIST_OP_SUB, x, y);
  CHECK(add_simple(&program, JOIST_OP_SUB, y, x) != first);
  CHECK(add_simple(&program, JOIST_OP_ADD, x, y) != first);
  CHECK_INT(add_simple(&program, JOIST_OP_SUB, x, y), first);
  CHECK(
      add(&program, joist_rules_find("anvil"), JOIST_OP_DIV, forwards, 2, &no_attributes, &first));
  CHECK(
      add(&program, joist_rules_find("numpy"), JOIST_OP_DIV, forwards, 2, &no_attributes, &second));
  CHECK(first != second);
  CHECK_INT(infer(&program, joist_rules_find("anvil"), JOIST_OP_DIV, forwards, 2, &no_attributes,
                  &inference, NULL),
            JOIST_OK);
  struct joist_instruction elsewhere =
      joist_instruction_of(JOIST_OP_DIV, &inference, forwards, 2, &no_attributes, 0);
  elsewhere.source = 5;
  CHECK_INT(joist_program_add(&program, &elsewhere, &inference, NULL), JOIST_OK);
  CHECK_INT(elsewhere.result, first);
  CHECK_INT(program.instruction_count, 5);
  joist_program_clear(&program);
}

/* A value that is transposed there and back is itself. */
static void test_transposed_back(void) {
  static const int64_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  int back = 0;
  for (int p = 0; p < 6; p++)
    for (int q = 0; q < 6; q++) {
      struct joist_program program;
      joist_program_init(&program);
      const joist_value_id x = add_input(&program, JOIST_F32, 3, (uint32_t[]){2, 3, 4});
      const struct joist_attributes there =
          with_list(no_attributes, JOIST_ATTRIBUTE_PERMUTATION, orders[p], 3);
      const struct joist_attributes then =
          with_list(no_attributes, JOIST_ATTRIBUTE_PERMUTATION, orders[q], 3);
      joist_value_id middle = 0, last = 0;
      CHECK(add(&program, joist_rules_at(0), JOIST_OP_PERMUTE, &x, 1, &there, &middle));
      CHECK(add(&program, joist_rules_at(0), JOIST_OP_PERMUTE, &middle, 1, &then, &last));
      CHECK(middle != x);
      /* The extents differ, so they tell the dims. */
      uint32_t extents[3], moved[3];
      for (int d = 0; d < 3; d++) extents[d] = program.values[x].shape.extent[orders[p][d]];
      for (int d = 0; d < 3; d++) moved[d] = extents[orders[q][d]];
      CHECK_INT(last == x, memcmp(moved, program.values[x].shape.extent, sizeof moved) == 0);
      CHECK_INT(program.instruction_count, last == x ? 1 : 2);
      back += last == x;
      joist_program_clear(&program);
    }
  CHECK_INT(back, 6);
}

/* Copies of bodies are appended without a look for what computes the same, however many. What is
 * added then is found again. */
static void test_appended(void) {
  struct joist_program program;
  struct joist_inference inference;
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_F32, 1, (uint32_t[]){3});
  joist_value_id operands[] = {add_simple(&program, JOIST_OP_ADD, x, x), x};
  CHECK_INT(infer(&program, joist_rules_at(0), JOIST_OP_MUL, operands, 2, &no_attributes,
                  &inference, NULL),
            JOIST_OK);
  const struct joist_value result = program.values[operands[0]];
  for (int k = 0; k < 1000; k++) {
    struct joist_instruction copy =
        joist_instruction_of(JOIST_OP_MUL, &inference, operands, 2, &no_attributes, 0);
    CHECK_INT(joist_program_append(&program, &copy, &result, NULL), JOIST_OK);
    operands[0] = copy.result;
  }
  const joist_value_id last = add_simple(&program, JOIST_OP_SUB, operands[0], x);
  CHECK_INT(program.instruction_count, 1002);
  CHECK_INT(add_simple(&program, JOIST_OP_SUB, operands[0], x), last);
  CHECK_INT(add_simple(&program, JOIST_OP_MUL, operands[0], x), last + 1);
  CHECK_INT(program.instruction_count, 1003);
  joist_program_clear(&program);
}

/* Several results are numbered one after the other, and found again together. */
static void test_results(void) {
  struct joist_program program;
  struct joist_text text = {NULL, 0, 0, false};
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_F32, 2, (uint32_t[]){5, 3});
  const joist_value_id svd = add_simple(&program, JOIST_OP_SVD, x, x);
  const joist_value_id qr = add_simple(&program, JOIST_OP_QR, x, x);
  const joist_value_id next = add_simple(&program, JOIST_OP_NEGATE, svd + 2, x);
  CHECK_INT(svd, x + 1);
  CHECK_INT(qr, svd + 3);
  CHECK_INT(next, qr + 2);
  CHECK_INT(add_simple(&program, JOIST_OP_SVD, x, x), svd);
  CHECK_INT(program.instruction_count, 3);
  CHECK_INT(program.instructions[0].result_count, 3);
  for (joist_value_id v = svd; v < next; v++) CHECK_INT(program.values[v].instruction, v >= qr);
  add_output(&program, next);
  joist_print_program(&program, NULL, &text);
  CHECK_STR(text.data,
            "  %1: f32{5x3}\n"
            "  %2: f32{3}, %3: f32{5x3}, %4: f32{3x3} = svd(%1)\n"
            "  %5: f32{5x3}, %6: f32{3x3} = qr(%1)  # not run\n"
            "  %7: f32{3x3} = negate(%4)\n"
            "  return %7\n");
  joist_text_free(&text);
  joist_program_clear(&program);
}

/* ---- numbers of operands ---- */

static void test_operand_counts(void) {
  enum { MOST = 300 };
  struct joist_argument *const arguments = calloc(MOST, sizeof *arguments);
  if (arguments == NULL) abort();
  for (int k = 0; k < MOST; k++) {
    arguments[k].operand = (struct joist_operand){.type = {JOIST_F32, false}, .rank = 1};
    arguments[k].shape = (struct joist_shape){1, {2}};
  }
  const struct joist_attributes attributes = with(no_attributes, JOIST_ATTRIBUTE_DIM, 0);
  for (int k = 0; k < JOIST_OP_COUNT; k++) {
    const struct joist_operation *const o = joist_operation((joist_op)k);
    const bool any = o->most == JOIST_OPERANDS_ANY;
    struct joist_error error;
    struct joist_inference inference;
    for (size_t n = 0; n <= MOST; n += n < 5 ? 1 : 59) {
      const bool right = n >= o->least && (any || n <= o->most);
      const joist_status status = joist_op_check_operands((joist_op)k, n, &error);
      if (right)
        CHECK_INT(status, JOIST_OK);
      else if (CHECK_ERROR(status, error, JOIST_E_OPERAND_COUNT))
        CHECK(error.count[1] == n && strcmp(error.op, o->name) == 0);
      /* Nothing is read of operands that are too few or too many. */
      if (!right)
        CHECK_INT(joist_program_infer(joist_rules_at(0), (joist_op)k, n == 0 ? NULL : arguments, n,
                                      &attributes, &inference, &error),
                  JOIST_ERROR_VALUE);
    }
  }
  free(arguments);
}

/* ---- bodies ---- */

/* Returns a program of x + x, to be owned by the program that it is added to. */
static struct joist_program *new_body(void) {
  struct joist_program *const body = malloc(sizeof *body);
  if (body == NULL) abort();
  joist_program_init(body);
  const joist_value_id x = add_input(body, JOIST_F32, 1, (uint32_t[]){3});
  add_output(body, add_simple(body, JOIST_OP_ADD, x, x));
  return body;
}

/* Clearing the program frees bodies, and those inside of them: a sanitizer sees what is left. */
static void test_regions(void) {
  struct joist_program program;
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_F32, 1, (uint32_t[]){3});
  const joist_value_id first = add_simple(&program, JOIST_OP_NEGATE, x, x);
  struct joist_program *const body = new_body(), *const inner = new_body(),
                              *const second = new_body();
  CHECK_INT(joist_program_add_region(body, inner, NULL), JOIST_OK);
  CHECK_INT(joist_program_add_region(&program, body, NULL), JOIST_OK);
  CHECK_INT(joist_program_add_region(&program, second, NULL), JOIST_OK);
  CHECK_INT(program.instructions[0].region_count, 2);
  CHECK(program.instructions[0].regions[0] == body && program.instructions[0].regions[1] == second);
  CHECK(body->instructions[0].regions[0] == inner);

  /* Nothing is taken for an instruction that has bodies, however many follow. */
  const joist_value_id like = add_simple(&program, JOIST_OP_NEGATE, x, x);
  CHECK(like != first);
  CHECK_INT(add_simple(&program, JOIST_OP_NEGATE, x, x), like);
  joist_value_id last = like;
  for (int k = 0; k < 100; k++) last = add_simple(&program, JOIST_OP_ADD, last, x);
  CHECK_INT(add_simple(&program, JOIST_OP_NEGATE, x, x), like);
  CHECK_INT(program.instructions[0].region_count, 2);
  joist_program_clear(&program);
  CHECK(program.instructions == NULL && program.arena.block == NULL);
  joist_program_clear(&program);
}

/* ---- printing ---- */

static void test_print(void) {
  struct joist_program program;
  struct joist_text text = {NULL, 0, 0, false};
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, JOIST_F32, 2, (uint32_t[]){4, 6});
  const joist_value_id y = add_input(&program, JOIST_I8, 0, NULL);
  const struct joist_attributes bounds =
      with_list(with_list(no_attributes, JOIST_ATTRIBUTE_STOP, (int64_t[]){1, 5}, 2),
                JOIST_ATTRIBUTE_START, (int64_t[]){0, 3}, 2);
  const struct joist_attributes over =
      with(with_dims(no_attributes, 1), JOIST_ATTRIBUTE_DROP, false);
  const struct joist_attributes dropped =
      with(with_dims(no_attributes, 2), JOIST_ATTRIBUTE_DROP, true);
  struct joist_attributes counted = with_shape(
      with_type(with(no_attributes, JOIST_ATTRIBUTE_DIM, 1), (struct joist_type){JOIST_F64, true}),
      &(struct joist_shape){2, {2, 3}});
  joist_attributes_set_number(&counted, JOIST_ATTRIBUTE_FROM, 0.5);
  joist_value_id slice = 0, sum = 0, sums = 0, iota = 0;
  const struct joist_rules *const rules = joist_rules_find("anvil");
  CHECK(add(&program, rules, JOIST_OP_SLICE, &x, 1, &bounds, &slice));
  CHECK(add(&program, rules, JOIST_OP_REDUCE_SUM, &slice, 1, &over, &sum));
  CHECK(add(&program, rules, JOIST_OP_REDUCE_SUM, &slice, 1, &dropped, &sums));
  CHECK(add(&program, rules, JOIST_OP_IOTA, NULL, 0, &counted, &iota));
  CHECK(add(&program, rules, JOIST_OP_ADD, (joist_value_id[]){sum, y}, 2, &no_attributes, &sum));
  CHECK_INT(joist_program_add_region(&program, new_body(), NULL), JOIST_OK);
  add_output(&program, sum);
  add_output(&program, iota);
  joist_print_program(&program, NULL, &text);
  CHECK(!text.failed);
  CHECK_STR(text.data,
            "  %1: f32{4x6}\n"
            "  %2: i8{}\n"
            "  %3: f32{2x3} = slice(%1, start = 1 4, stop = 2 6)\n"
            "  %4: f32{1x3} = reduce_sum(%3, dims = 1, drop = FALSE)\n"
            "  %5: f32{2} = reduce_sum(%3, dims = 2)  # not run\n"
            "  %6: f64?{2x3} = iota(dim = 2, from = 0.5, shape = {2x3}, dtype = f64?)\n"
            "  %7: f32{1x3} = add(%4, %2)\n"
            "  {\n"
            "    %1: f32{3}\n"
            "    %2: f32{3} = add(%1, %1)\n"
            "    return %2\n"
            "  }\n"
            "  return %7, %6\n");
  joist_text_free(&text);
  joist_program_clear(&program);
}

int main(void) {
  use_rules();
  test_reading();
  test_equal();
  test_lists();
  test_arena();
  test_distance();
  test_copies();
  test_differences();
  test_transposed_back();
  test_appended();
  test_results();
  test_operand_counts();
  test_regions();
  test_print();
  return check_report("program");
}
