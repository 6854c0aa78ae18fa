/* Payloads on devices: external pointers that own a struct held, whose finalizer frees it. */
#include "r/device_payload.h"

#include <stdlib.h>

#include "r/operations.h"
#include "r/payload.h"

struct held {
  const struct joist_device *device;
  void *memory;
  size_t bytes;
};

static SEXP remote_tag(void) {
  static SEXP tag = NULL; /* symbols stay */
  if (tag == NULL) tag = Rf_install("joist_remote_payload");
  return tag;
}

bool joist_r_is_remote(SEXP payload) {
  return TYPEOF(payload) == EXTPTRSXP && R_ExternalPtrTag(payload) == remote_tag();
}

static void finalize(SEXP payload) {
  struct held *const held = R_ExternalPtrAddr(payload);
  if (held == NULL) return;
  R_ClearExternalPtr(payload);
  held->device->free(held->device, held->memory);
  free(held);
}

static const struct held *held_of(SEXP payload) {
  const struct held *const held = joist_r_is_remote(payload) ? R_ExternalPtrAddr(payload) : NULL;
  if (held == NULL)
    joist_r_stop(JOIST_ERROR_DEVICE,
                 "the data of this tensor was on a GPU and is gone: saveRDS() and other processes "
                 "do not get it; call nv_to(x, \"cpu\") before saving or sending a tensor");
  return held;
}

const struct joist_device *joist_r_remote_device(SEXP payload) { return held_of(payload)->device; }
void *joist_r_remote_memory(SEXP payload) { return held_of(payload)->memory; }
size_t joist_r_remote_bytes(SEXP payload) { return held_of(payload)->bytes; }

/* ---- allocating ---- */

/* R does not see a device's memory, so it collects when much of it was handed out. How much
 * that is, is asked once: the answer takes as long as an operation. */
static void make_room(const struct joist_device *device, size_t bytes) {
  static const struct joist_device *known = NULL;
  static size_t allocated = 0, limit = 0;
  if (known != device) {
    limit = device->figures(device).total / 16;
    known = limit > 0 ? device : NULL; /* 0 when it cannot be opened */
  }
  allocated += bytes;
  if (limit == 0 || allocated < limit) return;
  allocated = 0;
  joist_r_collect(false);
}

static _Noreturn void out_of_memory(const struct joist_device *device, size_t bytes) {
  const struct joist_device_figures figures = device->figures(device);
  joist_r_stop(JOIST_ERROR_DEVICE,
               "the memory of %s is out: %.0f bytes are wanted, %.0f of %.0f are free and tensors "
               "hold %.0f; remove tensors that you do not need, or compute in parts",
               device->name, (double)bytes, (double)(figures.available + figures.kept),
               (double)figures.total, (double)figures.used);
}

SEXP joist_r_remote_payload(const struct joist_device *device, joist_dtype dtype, size_t n) {
  const size_t bytes = n * joist_dtype_size(dtype);
  make_room(device, bytes);
  /* The finalizer first, so that an allocation that fails leaks nothing. */
  SEXP payload = PROTECT(R_MakeExternalPtr(NULL, remote_tag(), R_NilValue));
  joist_r_finalize_with(payload, finalize, false);
  struct held *const held = malloc(sizeof *held);
  if (held == NULL) joist_r_stop(JOIST_ERROR_MEMORY, "out of memory");
  *held = (struct held){device, NULL, bytes};
  R_SetExternalPtrAddr(payload, held);
  held->memory = device->allocate(device, bytes);
  if (held->memory == NULL) {
    /* What an earlier operation did is reported as such. */
    struct joist_error error;
    const joist_status status = device->synchronize(device, &error);
    if (status != JOIST_OK) joist_r_raise(status, &error);
    joist_r_collect(true);
    device->trim(device);
    held->memory = device->allocate(device, bytes);
  }
  if (held->memory == NULL) out_of_memory(device, bytes);
  UNPROTECT(1);
  return payload;
}

SEXP joist_r_payload_on(const struct joist_device *device, joist_dtype dtype, size_t n,
                        void **elements) {
  SEXP payload =
      device->host ? joist_r_payload(dtype, n) : joist_r_remote_payload(device, dtype, n);
  *elements = device->host ? joist_r_elements(payload) : joist_r_remote_memory(payload);
  return payload;
}

SEXP joist_r_tensor_on(const struct joist_device *device, SEXP payload, struct joist_type type,
                       SEXP extents) {
  static const struct joist_device *latest = NULL;
  static SEXP object = NULL; /* of that one */
  if (device->host) return joist_r_tensor_with(payload, type, extents);
  SEXP tensor = PROTECT(joist_r_tensor_with(payload, type, extents));
  if (latest != device) {
    if (object != NULL) R_ReleaseObject(object);
    object = joist_r_device_object(device->name);
    R_PreserveObject(object);
    latest = device;
  }
  joist_r_set_field(tensor, JOIST_R_DEVICE, object);
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_same_payload(const struct joist_r_value *value, struct joist_type type,
                          const struct joist_shape *shape) {
  SEXP extents = PROTECT(joist_r_shape_among(shape, value, 1));
  SEXP tensor = joist_r_tensor_on(joist_r_common_device(value, 1), value->payload, type, extents);
  UNPROTECT(1);
  return tensor;
}

/* ---- moving ---- */

SEXP joist_r_upload(const struct joist_device *device, joist_dtype dtype, size_t n,
                    const void *elements) {
  SEXP payload = PROTECT(joist_r_remote_payload(device, dtype, n));
  struct joist_error error;
  const joist_status status =
      device->copy(device, joist_r_remote_memory(payload), elements, n * joist_dtype_size(dtype),
                   JOIST_COPY_TO_DEVICE, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  UNPROTECT(1);
  return payload;
}

SEXP joist_r_fetch(struct joist_r_value *value, size_t count) {
  const struct joist_device *const device = joist_r_remote_device(value->payload);
  const joist_dtype dtype = value->argument.operand.type.dtype;
  SEXP payload = PROTECT(joist_r_payload(dtype, count));
  struct joist_error error;
  const joist_status status =
      device->copy(device, joist_r_elements(payload), joist_r_remote_memory(value->payload),
                   count * joist_dtype_size(dtype), JOIST_COPY_TO_HOST, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  value->form = JOIST_R_CONCRETE;
  value->payload = payload;
  value->data = joist_r_elements(payload);
  value->count = count;
  UNPROTECT(1);
  return payload;
}

void joist_r_fetch_briefly(struct joist_r_value *value) {
  if (value->form != JOIST_R_REMOTE) return;
  const struct joist_device *const device = joist_r_remote_device(value->payload);
  const size_t bytes = joist_r_remote_bytes(value->payload);
  void *const here = R_alloc(bytes + 1, 1);
  struct joist_error error;
  const joist_status status = device->copy(device, here, joist_r_remote_memory(value->payload),
                                           bytes, JOIST_COPY_TO_HOST, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  value->form = JOIST_R_CONCRETE;
  value->data = here;
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
  SEXP payload = value->payload;
  if (!device->host) payload = joist_r_upload(device, type.dtype, count, value->data);
  PROTECT(payload);
  SEXP extents = PROTECT(joist_r_shape_among(&value->argument.shape, value, 1));
  SEXP tensor = joist_r_tensor_on(device, payload, type, extents);
  UNPROTECT(protected + 2);
  return tensor;
}

SEXP joist_r_on_device(SEXP tensor, const struct joist_device *device) {
  struct joist_r_value value;
  joist_r_read_any(joist_r_rules(R_NilValue), tensor, &value);
  if (value.form != JOIST_R_CONCRETE && value.form != JOIST_R_REMOTE)
    joist_r_stop(JOIST_ERROR_VALUE, "only a tensor with data can be moved to a device");
  const struct joist_device *const from = joist_r_common_device(&value, 1);
  return from == device ? tensor : moved(&value, device);
}

SEXP joist_r_beside(const struct joist_r_value *x, SEXP made) {
  return x->form == JOIST_R_REMOTE ? joist_r_on_device(made, joist_r_remote_device(x->payload))
                                   : made;
}

SEXP joist_r_to(SEXP x, SEXP device) {
  const char *const name = joist_r_string(device, "device");
  const struct joist_device *const found = joist_device_find(name);
  if (found == NULL)
    joist_r_stop(JOIST_ERROR_DEVICE, "there is no device \"%s\" in this build of joist", name);
  return joist_r_on_device(x, found);
}

/* ---- running ---- */

const struct joist_device *joist_r_common_device(const struct joist_r_value *values, int n) {
  const struct joist_device *device = NULL;
  for (int k = 0; k < n; k++) {
    if (values[k].form != JOIST_R_CONCRETE && values[k].form != JOIST_R_REMOTE) continue;
    const struct joist_device *const own = values[k].form == JOIST_R_REMOTE
                                               ? joist_r_remote_device(values[k].payload)
                                               : joist_device_at(0);
    if (device != NULL && device != own)
      joist_r_stop(JOIST_ERROR_DEVICE,
                   "operands are on two devices, %s and %s; move one of them with nv_to()",
                   device->name, own->name);
    device = own;
  }
  return device;
}

/* An interrupt must not jump over a caller that holds a plan. */
static void collect_all(void *unused) {
  (void)unused;
  joist_r_collect(true);
}

joist_status joist_r_run_plan(const struct joist_device *device, const struct joist_plan *plan,
                              const void *const *inputs, const bool *here, void *const *outputs,
                              struct joist_error *error) {
  struct joist_run run = joist_r_run();
  run.here = here;
  joist_status status = device->run(device, plan, inputs, outputs, &run, error);
  if (status != JOIST_ERROR_MEMORY || device->host) return status;
  R_ToplevelExec(collect_all, NULL);
  device->trim(device);
  status = device->run(device, plan, inputs, outputs, &run, error);
  return status == JOIST_ERROR_MEMORY ? JOIST_ERROR_DEVICE : status;
}

/* ---- facts ---- */

SEXP joist_r_diagnose(void) {
  struct joist_diagnosis rows[JOIST_DIAGNOSES];
  const size_t n = joist_device_diagnose(rows);
  static const char *names[] = {"item", "found", "detail", ""};
  SEXP table = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP item = Rf_allocVector(STRSXP, (R_xlen_t)n);
  SET_VECTOR_ELT(table, 0, item);
  SEXP found = Rf_allocVector(LGLSXP, (R_xlen_t)n);
  SET_VECTOR_ELT(table, 1, found);
  SEXP detail = Rf_allocVector(STRSXP, (R_xlen_t)n);
  SET_VECTOR_ELT(table, 2, detail);
  for (size_t k = 0; k < n; k++) {
    SET_STRING_ELT(item, (R_xlen_t)k, Rf_mkChar(rows[k].item));
    LOGICAL(found)[k] = rows[k].found;
    SET_STRING_ELT(detail, (R_xlen_t)k, Rf_mkCharCE(rows[k].detail, CE_UTF8));
  }
  UNPROTECT(1);
  return table;
}

static const struct joist_device *ready_device(SEXP name) {
  const struct joist_device *const device = joist_device_find(joist_r_string(name, "device"));
  struct joist_error error;
  if (device == NULL) joist_r_stop(JOIST_ERROR_DEVICE, "there is no such device");
  const joist_status status = device->ready(device, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  return device;
}

SEXP joist_r_device_memory(SEXP name) {
  const struct joist_device *const device = ready_device(name);
  const struct joist_device_figures figures = device->figures(device);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, 4));
  REAL(out)[0] = (double)figures.used;
  REAL(out)[1] = (double)figures.kept;
  REAL(out)[2] = (double)figures.available;
  REAL(out)[3] = (double)figures.total;
  UNPROTECT(1);
  return out;
}

SEXP joist_r_synchronize(SEXP name) {
  const struct joist_device *const device = ready_device(name);
  struct joist_error error;
  const joist_status status = device->synchronize(device, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  return R_NilValue;
}
