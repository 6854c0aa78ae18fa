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

static struct joist_dl_view view_with(const struct joist_dl_tensor *tensor, const uint64_t *flags) {
  struct joist_dl_view view;
  struct joist_error error;
  const joist_status status = joist_dlpack_read(tensor, flags, &view, &error);
  CHECK_MSG(status == JOIST_OK, "%s", status == JOIST_OK ? "" : words(&error));
  return view;
}

static struct joist_dl_view view_of(const struct joist_dl_tensor *tensor) {
  return view_with(tensor, NULL);
}

static bool is_sub_byte(joist_dtype dtype) {
  return dtype != JOIST_BOOL && joist_dtype_bits(dtype) < 8;
}

/* ---- out, and in again ---- */

static void test_round_trip(void) {
  static const struct joist_shape shapes[] = {{0, {0}},    {1, {5}},       {1, {0}},
                                              {2, {3, 4}}, {3, {2, 0, 4}}, {6, {1, 2, 3, 1, 2, 2}}};
  static int owner;
  double elements[64] = {1, 2, 3};
  for (int dtype = 0; dtype < JOIST_DTYPE_COUNT; dtype++) {
    const bool padded = is_sub_byte((joist_dtype)dtype);
    struct joist_error error;
    if (dtype == JOIST_BC32) {
      CHECK_ERROR(joist_dlpack_check((joist_dtype)dtype, false, &error), error,
                  JOIST_E_DLPACK_CODE);
      continue;
    }
    const joist_status given = joist_dlpack_check((joist_dtype)dtype, true, &error);
    CHECK_INT(given, padded ? JOIST_ERROR_DTYPE : JOIST_OK);
    CHECK(!padded || (error.code == JOIST_E_DLPACK_PACKED && (int)error.type[0].dtype == dtype));
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
      struct joist_keep_alive *const keep = joist_keep_alive_new(&owner);
      struct joist_dl_versioned *const lent =
          joist_dlpack_lend(elements, cpu, (joist_dtype)dtype, &shapes[k], keep);
      joist_keep_alive_release(keep);
      CHECK_INT(lent->version.major, 1);
      CHECK_INT(lent->version.minor, 1);
      CHECK_INT(lent->flags, padded ? 5 : 1); /* bit 0: read-only, bit 2: padded */
      struct joist_dl_view view = view_with(&lent->tensor, &lent->flags);
      CHECK_INT(view.dtype, dtype);
      CHECK(joist_shape_equal(&view.shape, &shapes[k]));
      CHECK(view.in_order && !view.in_rows && view.packed == 0);
      CHECK(joist_dlpack_bytes(&view) == view.count * joist_dtype_size((joist_dtype)dtype));
      CHECK(view.elements == (view.count > 0 ? (void *)elements : NULL));
      struct joist_dl_versioned *const again = joist_dlpack_again(lent);
      struct joist_dl_managed *const copied = padded ? NULL : joist_dlpack_copied(lent);
      lent->deleter(lent);
      CHECK(joist_keep_alive_returned() == NULL);
      CHECK_INT(again->flags, padded ? 5 : 1);
      view = view_with(&again->tensor, &again->flags);
      CHECK(view.elements == (view.count > 0 ? (void *)elements : NULL));
      again->deleter(again);
      CHECK(joist_keep_alive_returned() == &owner);
      CHECK(joist_keep_alive_returned() == NULL);
      if (padded) continue;
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
  } published[] = {{JOIST_BOOL, 6, 8},       {JOIST_I8, 0, 8},
                   {JOIST_I64, 0, 64},       {JOIST_UI8, 1, 8},
                   {JOIST_UI64, 1, 64},      {JOIST_F16, 2, 16},
                   {JOIST_BF16, 4, 16},      {JOIST_F32, 2, 32},
                   {JOIST_F64, 2, 64},       {JOIST_C64, 5, 64},
                   {JOIST_C128, 5, 128},     {JOIST_F8E3M4, 7, 8},
                   {JOIST_F8E4M3, 8, 8},     {JOIST_F8E4M3B11FNUZ, 9, 8},
                   {JOIST_F8E4M3FN, 10, 8},  {JOIST_F8E4M3FNUZ, 11, 8},
                   {JOIST_F8E5M2, 12, 8},    {JOIST_F8E5M2FNUZ, 13, 8},
                   {JOIST_F8E8M0FNU, 14, 8}, {JOIST_F6E2M3FN, 15, 6},
                   {JOIST_F6E3M2FN, 16, 6},  {JOIST_F4E2M1FN, 17, 4},
                   {JOIST_I4, 0, 4},         {JOIST_I2, 0, 2},
                   {JOIST_INT1, 0, 1},       {JOIST_UI4, 1, 4},
                   {JOIST_UI2, 1, 2},        {JOIST_UINT1, 1, 1}};
  static const uint64_t none = 0;
  double elements[2] = {0, 0};
  for (size_t k = 0; k < sizeof published / sizeof *published; k++) {
    struct joist_dl_tensor tensor = {
        .data = elements,
        .device = cpu,
        .dtype = {(uint8_t)published[k].code, (uint8_t)published[k].bits, 1}};
    const struct joist_dl_view view = view_with(&tensor, &none);
    CHECK_INT(view.dtype, published[k].dtype);
    CHECK_INT(view.packed, is_sub_byte(view.dtype) ? published[k].bits : 0);
    const struct joist_dl_dtype own = joist_dlpack_dtype(published[k].dtype);
    CHECK(own.code == published[k].code && own.bits == published[k].bits && own.lanes == 1);
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

/* ---- fewer bits than a byte ---- */

/* Element `at` of packed ones, one bit after another. */
static unsigned packed_bits(const unsigned char *bytes, int64_t at, unsigned bits) {
  unsigned element = 0;
  for (unsigned b = 0; b < bits; b++) {
    const int64_t bit = at * bits + b;
    element |= (bytes[bit / 8] >> bit % 8 & 1u) << b;
  }
  return element;
}

/* The bytes end where the farthest element does, so a sanitizer sees reads behind it. */
static void test_packed(void) {
  static const uint64_t none = JOIST_DL_READ_ONLY;
  for (int round = 0; round < 4 * ROUNDS; round++) {
    const joist_dtype dtype = (joist_dtype)(round % JOIST_DTYPE_COUNT);
    if (!is_sub_byte(dtype)) continue;
    const unsigned bits = joist_dtype_bits(dtype);
    int64_t extents[6], strides[6], last = 0;
    size_t first;
    struct joist_dl_tensor tensor = {.device = cpu,
                                     .rank = (int32_t)random_below(6),
                                     .dtype = joist_dlpack_dtype(dtype),
                                     .shape = extents,
                                     .strides = strides};
    random_layout(extents, strides, tensor.rank, &first);
    first = (first + 7) / 8 * 8; /* the first element begins a byte */
    for (int d = 0; d < tensor.rank; d++)
      if (strides[d] > 0 && extents[d] > 0) last += (extents[d] - 1) * strides[d];
    const size_t bytes = ((first + (size_t)last + 1) * bits + 7) / 8;
    unsigned char *const places = malloc(bytes), *const out = malloc(PLACES);
    for (size_t k = 0; k < bytes; k++) places[k] = (unsigned char)random_bits();
    tensor.data = places;
    tensor.byte_offset = first * bits / 8;
    const bool is_float = joist_dtype_kind(dtype) == JOIST_KIND_FLOAT;
    const struct joist_dl_view view = view_with(&tensor, is_float && one_in(2) ? NULL : &none);
    CHECK(view.dtype == dtype && view.packed == bits);
    CHECK(joist_dlpack_bytes(&view) == (view.count * bits + 7) / 8);
    CHECK(joist_dlpack_gather(&view, out, &run, NULL) == JOIST_OK);
    bool same = true;
    for (size_t k = 0; k < view.count; k++) {
      int64_t at = (int64_t)first;
      size_t rest = k;
      for (int d = 0; d < tensor.rank; d++) {
        at += (int64_t)(rest % (size_t)extents[d]) * strides[d];
        rest /= (size_t)extents[d];
      }
      same &= out[k] == packed_bits(places, at, bits);
    }
    CHECK_MSG(same, "rank %d, %u bits", (int)tensor.rank, bits);
    free(places);
    free(out);
  }
}

/* Which are packed: those that no flag says are padded. */
static void test_flags(void) {
  static const uint64_t padded = 4, both = 5;
  unsigned char elements[6] = {0, 1, 0, 1, 0, 1};
  int64_t extent = 6;
  struct joist_error error;
  struct joist_dl_view view;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_dtype dtype = (joist_dtype)d;
    if (!is_sub_byte(dtype)) continue;
    struct joist_dl_tensor tensor = {.data = elements,
                                     .device = cpu,
                                     .rank = 1,
                                     .dtype = joist_dlpack_dtype(dtype),
                                     .shape = &extent};
    CHECK(view_with(&tensor, &padded).packed == 0 && view_with(&tensor, &both).packed == 0);
    if (joist_dtype_kind(dtype) == JOIST_KIND_FLOAT)
      CHECK_INT(view_of(&tensor).packed, joist_dtype_bits(dtype));
    else
      CHECK_ERROR(joist_dlpack_read(&tensor, NULL, &view, &error), error, JOIST_E_DLPACK_UNPACKED);
    CHECK_INT(joist_dlpack_read_as(&tensor, dtype, &view, &error), JOIST_OK);
    CHECK(view.dtype == dtype && view.packed == 0 && view.in_order && view.elements == elements);
  }
  static const struct joist_dl_dtype unknown[] = {{0, 3, 1},  {1, 6, 1},  {15, 8, 1}, {16, 4, 1},
                                                  {17, 8, 1}, {17, 6, 1}, {18, 4, 1}, {10, 8, 4},
                                                  {10, 4, 1}, {17, 4, 0}};
  for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++) {
    struct joist_dl_tensor tensor = {
        .data = elements, .device = cpu, .rank = 1, .dtype = unknown[k], .shape = &extent};
    CHECK_ERROR(joist_dlpack_read(&tensor, &both, &view, &error), error, JOIST_E_DLPACK_DTYPE);
  }
}

/* PyTorch's two elements in one byte are elements side by side in the dim without a stride. */
static void test_lanes(void) {
  static const uint64_t none = 0;
  unsigned char bytes[6] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba}, out[12];
  int64_t extents[] = {2, 3}, rows[] = {3, 1}, columns[] = {1, 2}, apart[] = {6, 2};
  struct joist_error error;
  struct joist_dl_view view;
  struct joist_dl_tensor tensor = {
      .data = bytes, .device = cpu, .rank = 2, .dtype = {17, 4, 2}, .shape = extents};
  for (int k = 0; k < 2; k++) {
    tensor.strides = k == 0 ? NULL : rows;
    view = view_with(&tensor, &none);
    CHECK(view.dtype == JOIST_F4E2M1FN && view.count == 12 && view.in_rows);
    CHECK(view.shape.extent[0] == 2 && view.shape.extent[1] == 6);
    CHECK(joist_dlpack_gather(&view, out, &run, NULL) == JOIST_OK);
    for (int i = 0; i < 12; i++) CHECK_INT(out[i], i % 2 * 6 + i / 2);
  }
  tensor.strides = columns;
  view = view_with(&tensor, &none);
  CHECK(view.shape.extent[0] == 4 && view.shape.extent[1] == 3 && view.in_order);
  CHECK(joist_dlpack_gather(&view, out, &run, NULL) == JOIST_OK);
  for (int i = 0; i < 12; i++) CHECK_INT(out[i], i);
  tensor.strides = apart;
  CHECK_ERROR(joist_dlpack_read(&tensor, &none, &view, &error), error, JOIST_E_DLPACK_DTYPE);
  tensor.rank = 0;
  CHECK_ERROR(joist_dlpack_read(&tensor, &none, &view, &error), error, JOIST_E_DLPACK_DTYPE);
  tensor.rank = 2;
  tensor.strides = rows;
  rows[0] = INT64_MIN;
  CHECK_ERROR(joist_dlpack_read(&tensor, &none, &view, &error), error, JOIST_E_DLPACK_DAMAGED);
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
#define REFUSED(CODE, ...)                                                  \
  do {                                                                      \
    struct joist_dl_tensor bad = good;                                      \
    __VA_ARGS__;                                                            \
    CHECK_ERROR(joist_dlpack_read(&bad, NULL, &view, &error), error, CODE); \
  } while (0)
  CHECK(joist_dlpack_read(&good, NULL, &view, &error) == JOIST_OK);
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
  test_layouts();
  test_rows();
  test_packed();
  test_flags();
  test_lanes();
  test_refused();
  test_threads();
  return check_report("dlpack");
}
