#include "r/tensor/mask.h"

#include <string.h>

#include "r/memory/device_payload.h"
#include "r/memory/payload.h"
#include "r/tensor/view.h"

/* A payload of the mask, on the device of the elements. */
static SEXP mask_payload(const struct joist_r_value *value) {
  if (value->missing != R_NilValue) return value->missing;
  SEXP payload = joist_r_payload(JOIST_BOOL, value->count);
  if (value->count > 0) memcpy(joist_r_elements(payload), value->mask, value->count);
  return payload;
}

SEXP joist_r_mask_value(const struct joist_r_value *value, struct joist_r_value *mask) {
  *mask = (struct joist_r_value){
      .form = value->form,
      .argument = {.operand = {.type = joist_r_mask_type, .rank = value->argument.shape.rank},
                   .shape = value->argument.shape},
      .count = value->count,
      .object = value->object,
      .payload = R_NilValue,
      .missing = R_NilValue,
      .dim = R_NilValue,
      .names = R_NilValue};
  if (value->form == JOIST_R_ABSTRACT) return R_NilValue;
  SEXP payload = mask_payload(value);
  mask->payload = payload;
  if (value->form == JOIST_R_LITERAL) mask->form = JOIST_R_CONCRETE;
  mask->data =
      value->form == JOIST_R_REMOTE ? joist_r_remote_memory(payload) : joist_r_elements(payload);
  return payload;
}

/* Whether a payload of bools has TRUE. */
static bool any_true(SEXP mask) {
  if (TYPEOF(mask) != EXTPTRSXP)
    return XLENGTH(mask) > 0 && memchr(RAW_RO(mask), 1, (size_t)XLENGTH(mask)) != NULL;
  const void *const vmax = vmaxget();
  const size_t n = joist_r_remote_bytes(mask);
  char *const here = R_alloc(n + 1, 1);
  joist_r_download(mask, n, here);
  const bool any = memchr(here, 1, n) != NULL;
  vmaxset(vmax);
  return any;
}

void joist_r_set_mask(SEXP tensor, SEXP mask) {
  if (!any_true(mask)) return;
  MARK_NOT_MUTABLE(mask); /* several tensors may have it */
  joist_r_view_set_mask(tensor, mask);
}

void joist_r_copy_mask(SEXP tensor, const struct joist_r_value *value) {
  if (!joist_r_has_missing(value)) return;
  SEXP mask = PROTECT(mask_payload(value));
  joist_r_set_mask(tensor, mask);
  UNPROTECT(1);
}

const void *joist_r_zeroed(const struct joist_r_value *value) {
  if (value->mask == NULL) return value->data;
  const size_t size = joist_dtype_size(value->argument.operand.type.dtype);
  char *const zeroed = R_alloc(value->count + 1, (int)size);
  if (value->count > 0) memcpy(zeroed, value->data, value->count * size);
  for (size_t k = 0; k < value->count; k++)
    if (value->mask[k]) memset(zeroed + k * size, 0, size);
  return zeroed;
}

void joist_r_find_masks(struct joist_r_call *call) {
  const struct joist_attributes *const attributes = call->attributes;
  call->remove = joist_attribute_flag(attributes, JOIST_ATTRIBUTE_NA_RM);
  call->masked = call->remove;
  for (size_t k = 0; k < call->count; k++) call->masked |= joist_r_has_missing(&call->values[k]);
  call->plain.count = 0;
  for (uint32_t k = 0; k < attributes->count; k++)
    if (attributes->item[k].name != JOIST_ATTRIBUTE_NA_RM)
      call->plain.item[call->plain.count++] = attributes->item[k];
}
