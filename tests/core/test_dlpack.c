/* DLPack: what goes out comes in again, layouts against index arithmetic one element at a time,
 * what cannot be read, and counts that threads give back. */
#include <pthread.h>
#include <stdlib.h>

#include "core/exchange/dlpack.h"

#include "arrays.h"
#include "errors.h"

enum { ROUNDS = 300, PLACES = 1 << 12, THREADS = 4, COUNTS = 2000 };

static const struct joist_run run = {.threads = 2, .parallel_from = 1};
static const struct joist_dl_device cpu = {JOIST_DL_CPU, 0};

static struct joist_dl_view view_of(const struct joist_dl_tensor *tensor) {
  struct joist_dl_view view;
  struct joist_error error;
  const joist_status status = joist_dlpack_read(tensor, &view, &error);
  CHECK_MSG(status == JOIST_OK, "%s", status == JOIST_OK ? "" : words(&error));
  return view;
}

/* ---- out, and in again ---- */

static void test_round_trip(void) {
  static const struct joist_shape shapes[] = {{0, {0}},    {1, {5}},       {1, {0}},
                                              {2, {3, 4}}, {3, {2, 0, 4}}, {6, {1, 2, 3, 1, 2, 2}}};
  static int owner;
  double elements[64] = {1, 2, 3};
  for (int dtype = 0; dtype < JOIST_DTYPE_COUNT; dtype++) {
    if (joist_dlpack_check_dtype((joist_dtype)dtype, NULL) != JOIST_OK) continue;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
      struct joist_keep_alive *const keep = joist_keep_alive_new(&owner);
      struct joist_dl_versioned *const lent =
          joist_dlpack_lend(elements, cpu, (joist_dtype)dtype, &shapes[k], keep);
      joist_keep_alive_release(keep);
      CHECK_INT(lent->version.major, 1);
      CHECK(lent->flags == JOIST_DL_READ_ONLY);
      struct joist_dl_view view = view_of(&lent->tensor);
      CHECK_INT(view.dtype, dtype);
      CHECK(joist_shape_equal(&view.shape, &shapes[k]));
      CHECK(view.in_order && !view.in_rows);
      CHECK(view.elements == (view.count > 0 ? (void *)elements : NULL));
      struct joist_dl_versioned *const again = joist_dlpack_again(lent);
      struct joist_dl_managed *const copied = joist_dlpack_copied(lent);
      lent->deleter(lent);
      CHECK(joist_keep_alive_returned() == NULL);
      view = view_of(&again->tensor);
      CHECK(view.elements == (view.count > 0 ? (void *)elements : NULL));
      again->deleter(again);
      CHECK(joist_keep_alive_returned() == &owner);
      CHECK(joist_keep_alive_returned() == NULL);
      view = view_of(&copied->tensor);
      CHECK(view.in_order && (view.count == 0 || view.elements != (void *)elements));
      CHECK(view.count == 0 ||
            memcmp(view.elements, elements, view.count * joist_dtype_size(view.dtype)) == 0);
      copied->deleter(copied);
    }
  }
}

/* The numbers of the published interface. */
static void test_published(void) {
  static const struct {
    joist_dtype dtype;
    int code, bits;
  } published[] = {{JOIST_BOOL, 6, 8},      {JOIST_I8, 0, 8},
                   {JOIST_I64, 0, 64},      {JOIST_UI8, 1, 8},
                   {JOIST_UI64, 1, 64},     {JOIST_F16, 2, 16},
                   {JOIST_BF16, 4, 16},     {JOIST_F32, 2, 32},
                   {JOIST_F64, 2, 64},      {JOIST_C64, 5, 64},
                   {JOIST_C128, 5, 128},    {JOIST_F8E3M4, 7, 8},
                   {JOIST_F8E4M3, 8, 8},    {JOIST_F8E4M3B11FNUZ, 9, 8},
                   {JOIST_F8E4M3FN, 10, 8}, {JOIST_F8E4M3FNUZ, 11, 8},
                   {JOIST_F8E5M2, 12, 8},   {JOIST_F8E5M2FNUZ, 13, 8},
                   {JOIST_F8E8M0FNU, 14, 8}};
  double elements[2] = {0, 0};
  for (size_t k = 0; k < sizeof published / sizeof *published; k++) {
    struct joist_dl_tensor tensor = {
        .data = elements,
        .device = cpu,
        .dtype = {(uint8_t)published[k].code, (uint8_t)published[k].bits, 1}};
    CHECK_INT(view_of(&tensor).dtype, published[k].dtype);
    const struct joist_dl_dtype own = joist_dlpack_dtype(published[k].dtype);
    CHECK(own.code == published[k].code && own.bits == published[k].bits && own.lanes == 1);
  }
}

/* Dtypes of fewer bits than a byte: DLPack packs them. They are read only where the caller knows.
 */
static void test_sub_byte(void) {
  unsigned char elements[6] = {0, 1, 0, 1, 0, 1};
  int64_t extent = 6;
  struct joist_error error;
  struct joist_dl_view view;
  int lacking = 0;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_dtype dtype = (joist_dtype)d;
    const joist_status status = joist_dlpack_check_dtype(dtype, &error);
    const bool narrow = dtype != JOIST_BOOL && joist_dtype_bits(dtype) < 8;
    CHECK_INT(status, narrow ? JOIST_ERROR_DTYPE : JOIST_OK);
    if (!narrow) continue;
    lacking++;
    CHECK(error.code == JOIST_E_DLPACK_NO_TYPE && error.type[0].dtype == dtype);
    struct joist_dl_tensor tensor = {.data = elements,
                                     .device = cpu,
                                     .rank = 1,
                                     .dtype = joist_dlpack_dtype(dtype),
                                     .shape = &extent};
    CHECK_ERROR(joist_dlpack_read(&tensor, &view, &error), error, JOIST_E_DLPACK_DTYPE);
    CHECK_INT(joist_dlpack_read_as(&tensor, dtype, &view, &error), JOIST_OK);
    CHECK(view.dtype == dtype && view.count == 6 && view.in_order && view.elements == elements);
  }
  CHECK_INT(lacking, 9);
  /* What others publish: integers of 2 and 4 bits, and the floats that version 1.1 has added. */
  static const struct joist_dl_dtype packed[] = {{0, 4, 1},  {1, 4, 1},  {0, 2, 1},  {1, 1, 1},
                                                 {15, 6, 1}, {16, 6, 1}, {17, 4, 1}, {17, 4, 2},
                                                 {10, 8, 4}, {10, 4, 1}};
  for (size_t k = 0; k < sizeof packed / sizeof *packed; k++) {
    struct joist_dl_tensor tensor = {
        .data = elements, .device = cpu, .rank = 1, .dtype = packed[k], .shape = &extent};
    CHECK_ERROR(joist_dlpack_read(&tensor, &view, &error), error, JOIST_E_DLPACK_DTYPE);
  }
}

/* ---- layouts ---- */

/* A random layout within PLACES elements: strides of any sign, 0, or those of rows or columns. */
static void random_layout(int64_t *extents, int64_t *strides, int rank, size_t *first) {
  int64_t low = 0;
  for (int d = 0; d < rank; d++) {
    extents[d] = (int64_t)random_below(4) + (one_in(8) ? 0 : 1);
    strides[d] = (int64_t)random_below(40) - (one_in(2) ? 20 : 0);
    const int64_t end = (extents[d] - 1) * strides[d];
    if (end < 0) low += end;
  }
  if (one_in(2)) {
    low = 0;
    int64_t stride = 1;
    const bool rows = one_in(2);
    for (int k = 0; k < rank; k++) {
      const int d = rows ? rank - 1 - k : k;
      strides[d] = stride;
      stride *= extents[d];
    }
  }
  *first = (size_t)(-low);
}

static void check_gathered(size_t size, const char *places, const struct joist_dl_tensor *tensor,
                           const struct joist_dl_view *view, const char *out) {
  bool same = true;
  for (size_t k = 0; k < view->count; k++) {
    int64_t at = 0;
    size_t rest = k;
    for (int d = 0; d < tensor->rank; d++) {
      at += (int64_t)(rest % (size_t)tensor->shape[d]) * tensor->strides[d];
      rest /= (size_t)tensor->shape[d];
    }
    same &= memcmp(out + k * size, places + (int64_t)tensor->byte_offset + at * (int64_t)size,
                   size) == 0;
    if (view->in_order) same &= at == (int64_t)k;
  }
  CHECK_MSG(same, "rank %d, %zu bytes", (int)tensor->rank, size);
}

static void test_layouts(void) {
  static const joist_dtype dtypes[] = {JOIST_UI8, JOIST_BF16, JOIST_F32, JOIST_I64, JOIST_C128};
  char *const places = malloc(PLACES * 16), *const out = malloc(PLACES * 16);
  for (size_t k = 0; k < PLACES * 16; k++) places[k] = (char)random_bits();
  for (int round = 0; round < ROUNDS; round++) {
    const joist_dtype dtype = dtypes[round % 5];
    const size_t size = joist_dtype_size(dtype);
    int64_t extents[6], strides[6];
    size_t first;
    struct joist_dl_tensor tensor = {.data = places,
                                     .device = cpu,
                                     .rank = (int32_t)random_below(6),
                                     .dtype = {JOIST_DL_INT, (uint8_t)(8 * size), 1},
                                     .shape = extents,
                                     .strides = strides};
    if (dtype != JOIST_I64) tensor.dtype.code = JOIST_DL_FLOAT;
    if (dtype == JOIST_UI8) tensor.dtype.code = JOIST_DL_UINT;
    if (dtype == JOIST_BF16) tensor.dtype.code = JOIST_DL_BFLOAT;
    if (dtype == JOIST_C128) tensor.dtype.code = JOIST_DL_COMPLEX;
    random_layout(extents, strides, tensor.rank, &first);
    tensor.byte_offset = first * size;
    const struct joist_dl_view view = view_of(&tensor);
    CHECK_INT(view.dtype, dtype);
    CHECK(joist_dlpack_gather(&view, out, &run, NULL) == JOIST_OK);
    check_gathered(size, places, &tensor, &view, out);
  }
  free(places);
  free(out);
}

/* Without strides the last dim runs first. */
static void test_rows(void) {
  int64_t extents[] = {2, 3};
  int32_t elements[] = {1, 2, 3, 4, 5, 6}, out[6];
  static const int32_t wanted[] = {1, 4, 2, 5, 3, 6};
  struct joist_dl_tensor tensor = {
      .data = elements, .device = cpu, .rank = 2, .dtype = {JOIST_DL_INT, 32, 1}, .shape = extents};
  struct joist_dl_view view = view_of(&tensor);
  CHECK(view.in_rows && !view.in_order);
  CHECK(joist_dlpack_gather(&view, out, &run, NULL) == JOIST_OK);
  CHECK(memcmp(out, wanted, sizeof wanted) == 0);
  extents[0] = 1; /* one row is one column of the other order */
  view = view_of(&tensor);
  CHECK(view.in_order && !view.in_rows);
}

/* ---- what cannot be read ---- */

static void test_refused(void) {
  int64_t extents[] = {2, 3}, strides[] = {1, 2}, many[40];
  double elements[8];
  for (size_t k = 0; k < 40; k++) many[k] = 1;
  const struct joist_dl_tensor good = {.data = elements,
                                       .device = cpu,
                                       .rank = 2,
                                       .dtype = {JOIST_DL_FLOAT, 64, 1},
                                       .shape = extents,
                                       .strides = strides};
  struct joist_dl_view view;
  struct joist_error error;
#define REFUSED(CODE, ...)                                            \
  do {                                                                \
    struct joist_dl_tensor bad = good;                                \
    __VA_ARGS__;                                                      \
    CHECK_ERROR(joist_dlpack_read(&bad, &view, &error), error, CODE); \
  } while (0)
  CHECK(joist_dlpack_read(&good, &view, &error) == JOIST_OK);
  REFUSED(JOIST_E_DLPACK_DTYPE, bad.dtype.bits = 128);
  REFUSED(JOIST_E_DLPACK_DTYPE, bad.dtype.lanes = 4);
  REFUSED(JOIST_E_DLPACK_DTYPE, bad.dtype.code = 10);
  REFUSED(JOIST_E_DLPACK_DAMAGED, bad.rank = -1);
  REFUSED(JOIST_E_DLPACK_DAMAGED, bad.shape = NULL);
  REFUSED(JOIST_E_DLPACK_DAMAGED, bad.data = NULL);
  REFUSED(JOIST_E_DLPACK_DAMAGED, strides[1] = 3; bad.byte_offset = 3);
  REFUSED(JOIST_E_DLPACK_DAMAGED, strides[1] = INT64_MAX / 8);
  REFUSED(JOIST_E_DLPACK_DAMAGED, strides[1] = INT64_MIN);
  REFUSED(JOIST_E_RANK_LIMIT, bad.rank = 40; bad.shape = many);
  REFUSED(JOIST_E_EXTENT_LIMIT, extents[0] = INT64_C(1) << 31);
  REFUSED(JOIST_E_DLPACK_DAMAGED, extents[0] = -2);
  REFUSED(JOIST_E_ELEMENT_LIMIT, for (int d = 0; d < 3; d++) many[d] = INT32_MAX; bad.rank = 3;
          bad.shape = many; bad.strides = NULL);
}

/* ---- counts ---- */

static void *give_back(void *counts) {
  for (size_t k = 0; k < COUNTS; k++)
    joist_keep_alive_release(((struct joist_keep_alive **)counts)[k]);
  return NULL;
}

/* Each is held once by every thread, and comes back once, while others still do. */
static void test_threads(void) {
  static int owners[COUNTS], seen[COUNTS];
  static struct joist_keep_alive *counts[COUNTS];
  for (size_t k = 0; k < COUNTS; k++) {
    counts[k] = joist_keep_alive_new(&owners[k]);
    for (int t = 1; t < THREADS; t++) joist_keep_alive_hold(counts[k]);
  }
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; t++)
    CHECK_INT(pthread_create(&threads[t], NULL, give_back, counts), 0);
  int *owner;
  for (size_t k = 0; k < COUNTS; k++)
    if ((owner = joist_keep_alive_returned()) != NULL) seen[owner - owners]++;
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  while ((owner = joist_keep_alive_returned()) != NULL) seen[owner - owners]++;
  bool once = true;
  for (size_t k = 0; k < COUNTS; k++) once &= seen[k] == 1;
  CHECK(once);
}

int main(void) {
  test_round_trip();
  test_published();
  test_sub_byte();
  test_layouts();
  test_rows();
  test_refused();
  test_threads();
  return check_report("dlpack");
}
