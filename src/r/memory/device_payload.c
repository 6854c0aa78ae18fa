/* Payloads on devices: external pointers that own a struct held, whose finalizer frees it. */
#include "r/memory/device_payload.h"

#include <stdlib.h>

#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/memory/payload.h"

struct held {
  const struct joist_device *device;
  void *memory;
  size_t bytes;
  bool foreign; /* of an owner that the external pointer protects */
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
  /* The owner of foreign memory, finalized next, does not know what still runs. */
  if (held->foreign)
    (void)held->device->synchronize(held->device, NULL);
  else
    held->device->free(held->device, held->memory);
  free(held);
}

static const struct held *held_of(SEXP payload) {
  const struct held *const held = joist_r_is_remote(payload) ? R_ExternalPtrAddr(payload) : NULL;
  if (held == NULL)
    joist_r_stop(
        JOIST_ERROR_DEVICE,
        "the data of this tensor was on a GPU and is lost: it is not saved by saveRDS() or sent to "
        "other processes; call nv_to(x, \"cpu\") before you save or send a tensor");
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
               "%s is out of memory: %.0f bytes are needed, %.0f of %.0f are free and tensors hold "
               "%.0f; remove tensors that you no longer need, or compute in parts",
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
  if (held == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY, .bytes = sizeof *held);
  *held = (struct held){device, NULL, bytes, false};
  R_SetExternalPtrAddr(payload, held);
  held->memory = device->allocate(device, bytes);
  if (held->memory == NULL) {
    /* What an earlier operation did is reported as such. */
    struct joist_error error;
    const joist_status status = device->synchronize(device, &error);
    joist_r_raise_if(status, &error);
    joist_r_collect(true);
    device->trim(device);
    held->memory = device->allocate(device, bytes);
  }
  if (held->memory == NULL) out_of_memory(device, bytes);
  UNPROTECT(1);
  return payload;
}

SEXP joist_r_remote_foreign(const struct joist_device *device, const void *memory, size_t bytes,
                            SEXP owner) {
  SEXP payload = PROTECT(R_MakeExternalPtr(NULL, remote_tag(), owner));
  joist_r_finalize_with(payload, finalize, false);
  struct held *const held = malloc(sizeof *held);
  if (held == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY, .bytes = sizeof *held);
  *held = (struct held){device, (void *)(uintptr_t)memory, bytes, true};
  R_SetExternalPtrAddr(payload, held);
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

/* ---- copying ---- */

SEXP joist_r_upload(const struct joist_device *device, joist_dtype dtype, size_t n,
                    const void *elements) {
  SEXP payload = PROTECT(joist_r_remote_payload(device, dtype, n));
  struct joist_error error;
  const joist_status status =
      device->copy(device, joist_r_remote_memory(payload), elements, n * joist_dtype_size(dtype),
                   JOIST_COPY_TO_DEVICE, &error);
  joist_r_raise_if(status, &error);
  UNPROTECT(1);
  return payload;
}

void joist_r_download(SEXP payload, size_t bytes, void *out) {
  const struct held *const held = held_of(payload);
  struct joist_error error;
  const joist_status status =
      held->device->copy(held->device, out, held->memory, bytes, JOIST_COPY_TO_HOST, &error);
  joist_r_raise_if(status, &error);
}

size_t joist_r_remote_size(SEXP payload) {
  const struct held *const held = joist_r_is_remote(payload) ? R_ExternalPtrAddr(payload) : NULL;
  return held == NULL ? 0 : held->bytes;
}

bool joist_r_try_download(SEXP payload, size_t bytes, void *out) {
  const struct held *const held = joist_r_is_remote(payload) ? R_ExternalPtrAddr(payload) : NULL;
  struct joist_error error;
  return held != NULL && held->device->copy(held->device, out, held->memory, bytes,
                                            JOIST_COPY_TO_HOST, &error) == JOIST_OK;
}
