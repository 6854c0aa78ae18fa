#include "r/call/show.h"

#include <string.h>

#include "core/program/call.h"
#include "r/base/conditions.h"
#include "r/base/interrupt.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/mask.h"
#include "r/tensor/tensor.h"

static SEXP payload_of(const struct joist_value *value, const void *elements) {
  const size_t n = joist_value_count(value);
  SEXP payload = joist_r_payload(value->type.dtype, n);
  if (n > 0) memcpy(joist_r_elements(payload), elements, n * joist_dtype_size(value->type.dtype));
  return payload;
}

static SEXP show(void *data) {
  const struct joist_call *const call = (const struct joist_call *)data;
  const struct joist_value *const value = call->operand[0];
  const uint64_t label =
      (uint64_t)joist_attribute_value(joist_call_attributes(call), JOIST_ATTRIBUTE_LABEL);
  SEXP number = PROTECT(Rf_ScalarReal((double)label));
  if (call->instruction->op == JOIST_OP_REQUIRE)
    joist_r_eval(PROTECT(Rf_lang2(Rf_install("stop_required"), number))); /* does not return */
  SEXP payload = PROTECT(payload_of(value, call->in[0]));
  SEXP tensor = PROTECT(joist_r_tensor(payload, value->type, &value->shape));
  if (call->instruction->operand_count > 1) {
    joist_r_set_mask(tensor, PROTECT(payload_of(call->operand[1], call->in[1])));
    UNPROTECT(1);
  }
  joist_r_eval(PROTECT(Rf_lang3(Rf_install("show_value"), tensor, number)));
  UNPROTECT(4);
  return R_NilValue;
}

static bool print(void *unused, const struct joist_call *call) {
  (void)unused;
  return joist_r_jumps(show, (void *)call);
}

void joist_r_show_init(void) { joist_r_print_by(print); }
