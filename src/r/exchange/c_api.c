/* The functions behind inst/include/joist.h. */
#include "r/exchange/c_api.h"

#include <string.h>

#include "core/promotion/promote.h"
#include "r/base/conditions.h"
#include "r/memory/payload.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/operands.h"
#include "r/tensor/rules.h"

#define JOIST_IMPLEMENTS_INTERFACE
#include "../../../inst/include/joist.h"

_Static_assert((int)JOIST_ARRAY_RANK == (int)JOIST_RANK_MAX, "both are the largest rank");

static int is_array(SEXP x) {
  if (!Rf_inherits(x, "nv_tensor")) return 0;
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  return value.form == JOIST_R_CONCRETE;
}

static void read_array(SEXP x, struct joist_array *array) {
  struct joist_r_value value;
  joist_r_read(joist_r_rules(R_NilValue), x, &value);
  if (value.form != JOIST_R_CONCRETE)
    joist_r_stop(JOIST_ERROR_VALUE, "a tensor with data is needed; make one with nv_tensor()");
  const struct joist_type type = value.argument.operand.type;
  memset(array, 0, sizeof *array);
  array->dtype = joist_dtype_name(type.dtype);
  array->ambiguous = type.ambiguous;
  array->rank = value.argument.shape.rank;
  memcpy(array->extent, value.argument.shape.extent, (size_t)array->rank * sizeof *array->extent);
  array->count = value.count;
  array->size = joist_dtype_size(type.dtype);
  array->data = (void *)(uintptr_t)value.data;
}

static SEXP make_array(struct joist_array *array) {
  const joist_dtype dtype = joist_r_dtype(PROTECT(Rf_mkString(array->dtype)));
  if (array->rank < 0 || array->rank > JOIST_RANK_MAX)
    joist_r_stop(JOIST_ERROR_SHAPE, "the rank of a tensor must be 0 to %d, not %d", JOIST_RANK_MAX,
                 array->rank);
  struct joist_shape shape = {.rank = array->rank};
  for (int d = 0; d < shape.rank; d++) {
    shape.extent[d] = array->extent[d];
    if (array->extent[d] > INT32_MAX)
      JOIST_R_FAIL(JOIST_E_EXTENT_LIMIT, .dim = d + 1, .number = {array->extent[d]});
  }
  if (!joist_shape_count(&shape, &array->count))
    JOIST_R_FAIL(JOIST_E_ELEMENT_LIMIT, .shape = {shape});
  array->size = joist_dtype_size(dtype);
  SEXP payload = PROTECT(joist_r_payload(dtype, array->count));
  array->data = joist_r_elements(payload);
  SEXP tensor = joist_r_tensor(payload, (struct joist_type){dtype, array->ambiguous != 0}, &shape);
  UNPROTECT(2);
  return tensor;
}

static const char *common(SEXP x, SEXP y, int *ambiguous) {
  struct joist_operand operands[2];
  struct joist_type result;
  struct joist_error error;
  joist_r_operand(x, &operands[0]);
  joist_r_operand(y, &operands[1]);
  const joist_status status =
      joist_common_type(joist_r_rules(R_NilValue), JOIST_PAIR_COMMON, operands, 2, &result, &error);
  joist_r_raise_if(status, &error);
  *ambiguous = result.ambiguous;
  return joist_dtype_name(result.dtype);
}

static void *functions(void) {
  static struct joist_functions table = {JOIST_INTERFACE, is_array, read_array, make_array, common};
  return &table;
}

void joist_r_c_api_init(void) { R_RegisterCCallable("joist", "joist_functions", functions); }
