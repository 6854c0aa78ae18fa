/* Moves the data of tensors from device to device. */
#include "r/call/transfer.h"

#include "r/base/conditions.h"
#include "r/memory/device_payload.h"
#include "r/memory/devices.h"
#include "r/memory/payload.h"
#include "r/tensor/mask.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"

SEXP joist_r_fetch(struct joist_r_value *value, size_t count) {
  const joist_dtype dtype = value->argument.operand.type.dtype;
  SEXP payload = PROTECT(joist_r_payload(dtype, count));
  joist_r_download(value->payload, count * joist_dtype_size(dtype), joist_r_elements(payload));
  value->form = JOIST_R_CONCRETE;
  value->payload = payload;
  value->exposed = false;
  value->data = joist_r_elements(payload);
  value->count = count;
  if (value->mask != NULL) {
    char *const mask = R_alloc(count + 1, 1);
    joist_r_download(value->missing, count, mask);
    value->mask = (const uint8_t *)mask;
    value->missing = R_NilValue;
  }
  UNPROTECT(1);
  return payload;
}

void joist_r_fetch_briefly(struct joist_r_value *value) {
  if (value->form != JOIST_R_REMOTE) return;
  const size_t bytes = joist_r_remote_bytes(value->payload);
  void *const here = R_alloc(bytes + 1, 1);
  joist_r_download(value->payload, bytes, here);
  value->form = JOIST_R_CONCRETE;
  value->payload = R_NilValue;
  value->data = here;
  if (value->mask == NULL) return;
  char *const mask = R_alloc(value->count + 1, 1);
  joist_r_download(value->missing, value->count, mask);
  value->mask = (const uint8_t *)mask;
  value->missing = R_NilValue;
}

static SEXP moved(struct joist_r_value *value, const struct joist_device *device) {
  const struct joist_type type = value->argument.operand.type;
  const size_t count = value->count;
  int protected = 0;
  /* Between two GPUs by way of the host. */
  if (value->form == JOIST_R_REMOTE) {
    PROTECT(joist_r_fetch(value, count));
    protected++;
  }
  SEXP payload = PROTECT(device->host ? joist_r_shared_payload(value)
                                      : joist_r_upload(device, type.dtype, count, value->data));
  SEXP tensor = PROTECT(joist_r_tensor_with(payload, type, &value->argument.shape, value->dim));
  joist_r_set_names(tensor, value->names, value->argument.shape.rank);
  if (joist_r_has_missing(value)) {
    SEXP mask = device->host ? R_NilValue : joist_r_upload(device, JOIST_BOOL, count, value->mask);
    PROTECT(mask);
    if (device->host)
      joist_r_copy_mask(tensor, value);
    else
      joist_r_set_mask(tensor, mask);
    UNPROTECT(1);
  }
  UNPROTECT(protected + 2);
  return tensor;
}

SEXP joist_r_on_device(SEXP tensor, const struct joist_device *device) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), tensor, &value);
  if (value.form != JOIST_R_CONCRETE && value.form != JOIST_R_REMOTE)
    joist_r_stop(JOIST_ERROR_VALUE, "only a tensor with data can be moved to a device");
  const struct joist_device *const from = joist_r_common_device(&value, 1);
  return from == device ? tensor : moved(&value, device);
}

SEXP joist_r_beside(const struct joist_r_value *x, SEXP made) {
  return x->form == JOIST_R_REMOTE ? joist_r_on_device(made, joist_r_remote_device(x->payload))
                                   : made;
}

SEXP joist_r_made_beside(SEXP made, SEXP x) {
  struct joist_shape shape;
  struct joist_r_value value;
  if (!joist_r_describe(x, NULL, &shape) || TYPEOF(x) == S4SXP) return made;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  return joist_r_beside(&value, made);
}

SEXP joist_r_to(SEXP x, SEXP device) { return joist_r_on_device(x, joist_r_device_named(device)); }
