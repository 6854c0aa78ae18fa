/* iota compared with one number after the other: every dtype along every dim, with 64-bit integers
 * that a double cannot hold; numbers that the dtype cannot hold are errors. */
#include "arrays.h"
#include "rules.h"
#include "single.h"

static struct joist_attributes told(joist_dtype dtype, const struct joist_shape *shape, int dim,
                                    double from) {
  struct joist_attributes attributes =
      with_shape(with_type(no_attributes, (struct joist_type){dtype, false}), shape);
  joist_attributes_set_number(&attributes, JOIST_ATTRIBUTE_FROM, from);
  return with(attributes, JOIST_ATTRIBUTE_DIM, dim);
}

/* The elements, for the caller to free; NULL and a status if it fails. */
static void *iota(joist_dtype dtype, const struct joist_shape *shape, int dim, double from,
                  int threads, joist_status *status) {
  struct joist_program program;
  struct joist_inference inference;
  joist_value_id result = 0;
  void *got = NULL;
  const struct joist_attributes attributes = told(dtype, shape, dim, from);
  joist_program_init(&program);
  *status =
      infer_and_append(&program, JOIST_OP_IOTA, NULL, 0, &attributes, &inference, &result, NULL);
  if (*status == JOIST_OK) {
    CHECK(joist_shape_equal(&inference.shape[0], shape));
    CHECK_INT(inference.signature.result[0].dtype, dtype);
    add_output(&program, result);
    got = run_output(&program, NULL, threads, status);
  }
  joist_program_clear(&program);
  return got;
}

static void check_iota(joist_dtype dtype, const struct joist_shape *shape, int dim, double from) {
  const size_t n = elements_in(shape), size = joist_dtype_size(dtype);
  const joist_kind kind = joist_dtype_kind(dtype);
  const struct byte_format *const format = byte_format_of(dtype);
  const double last = from + shape->extent[dim] - 1;
  const bool within =
      format == NULL || (fabs(from) < byte_limit(format) && fabs(last) < byte_limit(format) &&
                         (format->special != POWERS || from > 0));
  const bool fits = kind == JOIST_KIND_FLOAT
                        ? within
                        : kind == JOIST_KIND_COMPLEX ||
                              (from >= (double)joist_dtype_min_int(dtype) && trunc(from) == from &&
                               last <= (double)joist_dtype_max_int(dtype));
  for (int threads = 1; threads <= 3; threads += 2) {
    joist_status status;
    char *const got = iota(dtype, shape, dim, from, threads, &status);
    CHECK_INT(status, fits || n == 0 ? JOIST_OK : JOIST_ERROR_VALUE);
    size_t wrong = 0;
    for (size_t k = 0; got != NULL && k < n; k++) {
      size_t at = k;
      for (int d = 0; d < dim; d++) at /= shape->extent[d];
      const double number = from + (double)(at % shape->extent[dim]);
      char want[16];
      joist_convert_find_portable(JOIST_F64, dtype)(1, &number, want);
      if (format != NULL) *(uint8_t *)want = (uint8_t)byte_nearest(format, number);
      wrong += memcmp(got + k * size, want, size) != 0;
    }
    CHECK_MSG(wrong == 0, "iota of %s from %g: %zu wrong", joist_dtype_name(dtype), from, wrong);
    free(got);
  }
}

static void test_dtypes(void) {
  static const struct joist_shape shapes[] = {
      {1, {1}}, {1, {2}}, {1, {0}}, {2, {0, 3}}, {2, {3, 2}}, {3, {4, 130, 3}}, {1, {100000}}};
  static const double starts[] = {0, 1, -1, -3, 120, 127, 250, 0.25, -0.5, 32760, 65500};
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
      for (size_t f = 0; f < sizeof starts / sizeof *starts; f++)
        for (int dim = 0; dim < shapes[s].rank; dim++) {
          /* Halves past the largest are an error of their own. */
          if (joist_dtype_real((joist_dtype)d) == JOIST_F16 &&
              starts[f] + shapes[s].extent[dim] > 65519)
            continue;
          check_iota((joist_dtype)d, &shapes[s], dim, starts[f]);
        }
}

/* The first number is a double, the others need not be. */
static void check_wide(joist_dtype dtype, double from, uint64_t first, uint32_t n, bool fits) {
  const struct joist_shape shape = {2, {n, 2}};
  joist_status status;
  uint64_t *const got = iota(dtype, &shape, 0, from, 2, &status);
  CHECK_MSG((status == JOIST_OK) == fits && (fits || status == JOIST_ERROR_VALUE),
            "%u numbers from %.0f on as %s: status %d", n, from, joist_dtype_name(dtype), status);
  size_t wrong = 0;
  for (size_t k = 0; got != NULL && k < 2 * (size_t)n; k++) wrong += got[k] != first + k % n;
  CHECK_MSG(wrong == 0, "%u numbers from %.0f on as %s", n, from, joist_dtype_name(dtype));
  free(got);
}

static void test_wide(void) {
  const uint64_t half = UINT64_C(1) << 63;
  check_wide(JOIST_I64, 0x1p53, UINT64_C(1) << 53, 1000, true);
  check_wide(JOIST_UI64, 0x1p53, UINT64_C(1) << 53, 1000, true);
  check_wide(JOIST_I64, -0x1p63, half, 1000, true);
  check_wide(JOIST_I64, -0x1p53, 0 - (UINT64_C(1) << 53), 5, true);
  check_wide(JOIST_I64, -3, 0 - UINT64_C(3), 7, true);
  check_wide(JOIST_I64, 0x1p63 - 1024, half - 1024, 1024, true);
  check_wide(JOIST_I64, 0x1p63 - 1024, 0, 1025, false);
  check_wide(JOIST_I64, 0x1p63, 0, 1, false);
  check_wide(JOIST_UI64, 0x1p63, half, 5, true);
  check_wide(JOIST_UI64, 0x1p64 - 2048, UINT64_MAX - 2047, 2048, true);
  check_wide(JOIST_UI64, 0x1p64 - 2048, 0, 2049, false);
  check_wide(JOIST_UI64, 0x1p64, 0, 1, false);
  check_wide(JOIST_UI64, -1, 0, 2, false);
  check_wide(JOIST_I64, 0.5, 0, 2, false);
  check_wide(JOIST_I64, NAN, 0, 2, false);
}

static void test_refusals(void) {
  static const struct joist_shape shape = {2, {3, 4}}, scalar = {0, {0}}, line = {1, {1000}};
  joist_status status;
  CHECK(iota(JOIST_F32, &shape, -1, 0, 1, &status) == NULL && status == JOIST_ERROR_SHAPE);
  CHECK(iota(JOIST_F32, &shape, 2, 0, 1, &status) == NULL && status == JOIST_ERROR_SHAPE);
  CHECK(iota(JOIST_F32, &scalar, 0, 0, 1, &status) == NULL && status == JOIST_ERROR_SHAPE);
  CHECK(iota(JOIST_DTYPE_NONE, &shape, 0, 0, 1, &status) == NULL && status == JOIST_ERROR_DTYPE);
  CHECK(iota(JOIST_F16, &line, 0, 65000, 1, &status) == NULL && status == JOIST_ERROR_VALUE);
}

int main(void) {
  use_rules();
  test_dtypes();
  test_wide();
  test_refusals();
  return check_report("iota");
}
