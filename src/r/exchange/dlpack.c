/* External pointers to DLPack's structs. */
#include "r/exchange/dlpack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/dlpack.h"
#include "core/ops/move/walk.h"
#include "core/types/host.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/base/keep_alive.h"
#include "r/memory/device_payload.h"
#include "r/memory/foreign.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/operands.h"
#include "r/tensor/rules.h"

/* ---- pointers ---- */

static SEXP tag_of(bool versioned) {
  return Rf_install(versioned ? "dltensor_versioned" : "dltensor");
}

static bool is_versioned(SEXP pointer) { return R_ExternalPtrTag(pointer) == tag_of(true); }

static void finalize(SEXP pointer) {
  void *const memory = R_ExternalPtrAddr(pointer);
  if (memory == NULL) return;
  R_ClearExternalPtr(pointer);
  if (is_versioned(pointer)) {
    struct joist_dl_versioned *const own = memory;
    if (own->deleter != NULL) own->deleter(own);
  } else {
    struct joist_dl_managed *const own = memory;
    if (own->deleter != NULL) own->deleter(own);
  }
}

/* One without a struct yet: it cannot fail once it has one. */
static SEXP new_pointer(SEXP tag) {
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, tag, R_NilValue));
  joist_r_finalize_with(pointer, finalize, false);
  Rf_classgets(pointer, PROTECT(Rf_mkString("nv_dlpack")));
  UNPROTECT(2);
  return pointer;
}

/* Sets `flags` to those of the struct, or to NULL before version 1. */
static const struct joist_dl_tensor *tensor_of(SEXP pointer, const uint64_t **flags) {
  const bool tagged = TYPEOF(pointer) == EXTPTRSXP &&
                      (is_versioned(pointer) || R_ExternalPtrTag(pointer) == tag_of(false));
  if (!tagged)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "`ptr` must be an external pointer whose tag is dltensor_versioned or dltensor");
  void *const memory = R_ExternalPtrAddr(pointer);
  if (memory == NULL)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "what this external pointer had is gone: it is taken only once, and neither saved "
                 "nor sent to other processes");
  *flags = NULL;
  if (!is_versioned(pointer)) return &((struct joist_dl_managed *)memory)->tensor;
  const struct joist_dl_versioned *const own = memory;
  if (own->version.major != JOIST_DL_MAJOR)
    joist_r_stop(JOIST_ERROR_VALUE, "this is DLPack of version %u.%u; joist reads version 1",
                 (unsigned)own->version.major, (unsigned)own->version.minor);
  *flags = &own->flags;
  return &own->tensor;
}

/* ---- out ---- */

/* A copy of the elements without other references, on the device of the value. */
static SEXP copy_of(const struct joist_r_value *value, const struct joist_device *device,
                    void **elements) {
  const joist_dtype dtype = value->argument.operand.type.dtype;
  const size_t size = joist_dtype_size(dtype);
  SEXP payload = PROTECT(joist_r_payload_on(device, dtype, value->count, elements));
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  joist_r_raise_if(
      device->host ? joist_copy_elements(size, value->count, value->data, *elements, &run, &error)
                   : device->copy(device, *elements, value->data, value->count * size,
                                  JOIST_COPY_WITHIN, &error),
      &error);
  UNPROTECT(1);
  return payload;
}

/* Others read elements as aligned to their size, which those of 16 bytes in a short vector of R may
 * not be: a copy that is, in a raw vector that is longer. */
static SEXP aligned_copy(size_t size, size_t count, void **elements) {
  SEXP owner = Rf_allocVector(RAWSXP, (R_xlen_t)((count + 1) * size));
  unsigned char *const start = RAW(owner);
  unsigned char *const to = start + (size - (uintptr_t)start % size);
  memcpy(to, *elements, count * size);
  *elements = to;
  return owner;
}

SEXP joist_r_to_dlpack(SEXP x, SEXP versioned) {
  struct joist_r_value value;
  const bool read_only = joist_r_flag(versioned, "versioned");
  joist_r_release_returned();
  joist_r_read_any(joist_r_rules(R_NilValue), x, &value);
  joist_r_needs_data(&value);
  if (value.form == JOIST_R_LITERAL) joist_r_stop(JOIST_ERROR_VALUE, "`x` must be a tensor");
  struct joist_error error;
  const joist_dtype dtype = value.argument.operand.type.dtype;
  joist_r_raise_if(joist_dlpack_check(dtype, !read_only, &error), &error);
  const struct joist_device *const device = joist_r_common_device(&value, 1);
  SEXP pointer = PROTECT(new_pointer(tag_of(read_only)));
  SEXP payload = PROTECT(joist_r_shared_payload(&value));
  void *elements = device->host ? joist_r_elements(payload) : joist_r_remote_memory(payload);
  if (!read_only) payload = copy_of(&value, device, &elements);
  PROTECT(payload);
  const size_t size = joist_dtype_size(dtype);
  if (device->host && value.count > 0 && (uintptr_t)elements % size != 0)
    payload = aligned_copy(size, value.count, &elements);
  PROTECT(payload);
  if (!device->host) joist_r_raise_if(device->synchronize(device, &error), &error);
  MARK_NOT_MUTABLE(payload);
  struct joist_keep_alive *const keep = joist_r_keep_alive(payload);
  const struct joist_dl_device where = {device->host ? JOIST_DL_CPU : JOIST_DL_CUDA,
                                        device->host ? 0 : device->ordinal};
  const struct joist_shape *const shape = &value.argument.shape;
  if (value.count == 0) elements = NULL;
  R_SetExternalPtrAddr(pointer,
                       read_only ? (void *)joist_dlpack_lend(elements, where, dtype, shape, keep)
                                 : (void *)joist_dlpack_give(elements, where, dtype, shape, keep));
  joist_keep_alive_release(keep);
  if (R_ExternalPtrAddr(pointer) == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY, .bytes = 0);
  UNPROTECT(4);
  return pointer;
}

/* ---- in ---- */

/* R does not see the memory of others, so it collects when much of it was taken. */
static void make_room(size_t bytes) {
  static size_t taken = 0;
  static const size_t limit = (size_t)1 << 30;
  taken += bytes < limit ? bytes : limit;
  if (taken < limit) return;
  taken = 0;
  joist_r_collect(false);
}

/* Whether a tensor reads elements of the host where they are. */
static bool is_shared(const struct joist_dl_view *view) {
  return view->in_order && view->count > 0 && !joist_has_unused_bits(view->dtype);
}

/* The elements where they are, or a copy in R's order, and with unused bits as joist has them. */
static SEXP payload_of(const struct joist_dl_view *view, SEXP owner) {
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  const bool unused = joist_has_unused_bits(view->dtype), as_is = is_shared(view);
  const SEXPTYPE type = joist_r_payload_type(view->dtype);
  make_room(joist_dlpack_bytes(view));
  SEXP payload = PROTECT(
      as_is ? joist_r_foreign(type, view->elements,
                              type == RAWSXP ? joist_dlpack_bytes(view) : view->count, owner)
            : joist_r_payload(view->dtype, view->count));
  if (!as_is)
    joist_r_raise_if(joist_dlpack_gather(view, joist_r_elements(payload), &run, &error), &error);
  void *const elements = joist_r_elements(payload);
  joist_r_raise_if(
      unused ? joist_read_bytes(view->dtype, elements, view->count, false, elements, &run, &error)
             : joist_check_elements(view->dtype, elements, view->count, &error),
      &error);
  UNPROTECT(1);
  return payload;
}

static SEXP on_host(const struct joist_dl_view *view, SEXP owner) {
  SEXP payload = PROTECT(payload_of(view, owner));
  SEXP tensor = joist_r_tensor(payload, (struct joist_type){view->dtype, false}, &view->shape);
  UNPROTECT(1);
  return tensor;
}

/* Elements of fewer bits than a byte pass through the host, where their unused bits are set. */
static SEXP through_host(const struct joist_dl_view *view, const struct joist_device *device,
                         const char *name) {
  struct joist_error error;
  struct joist_dl_view copy = *view;
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)joist_dlpack_bytes(view)));
  if (view->count > 0)
    joist_r_raise_if(device->copy(device, RAW(bytes), view->elements, joist_dlpack_bytes(view),
                                  JOIST_COPY_TO_HOST, &error),
                     &error);
  copy.elements = RAW(bytes);
  SEXP tensor = PROTECT(on_host(&copy, bytes));
  SEXP call = PROTECT(Rf_lang3(Rf_install("nv_to"), tensor, PROTECT(Rf_mkString(name))));
  SEXP moved = joist_r_eval(call);
  UNPROTECT(4);
  return moved;
}

/* Rows are read as columns, and then transposed. */
static SEXP on_gpu(const struct joist_dl_view *view, int ordinal, SEXP owner) {
  char name[32];
  snprintf(name, sizeof name, "cuda:%d", ordinal);
  const struct joist_device *const device = joist_device_find(name);
  if (device == NULL)
    joist_r_stop(JOIST_ERROR_DEVICE,
                 "this DLPack tensor is on %s, which this build does not support", name);
  struct joist_error error;
  joist_r_raise_if(device->ready(device, &error), &error);
  if (!view->in_order && !view->in_rows)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "the elements of this DLPack tensor on %s have gaps between them: make a "
                 "contiguous copy where it comes from",
                 name);
  if (joist_has_unused_bits(view->dtype)) return through_host(view, device, name);
  struct joist_shape shape = view->shape;
  for (int d = 0; d < shape.rank && view->in_rows; d++)
    shape.extent[d] = view->shape.extent[shape.rank - 1 - d];
  SEXP payload =
      PROTECT(view->count == 0 ? joist_r_remote_payload(device, view->dtype, 0)
                               : joist_r_remote_foreign(device, view->elements,
                                                        joist_dlpack_bytes(view), owner));
  SEXP tensor = PROTECT(joist_r_tensor(payload, (struct joist_type){view->dtype, false}, &shape));
  if (view->in_rows) tensor = joist_r_eval(PROTECT(Rf_lang2(Rf_install("nv_transpose"), tensor)));
  UNPROTECT(view->in_rows ? 3 : 2);
  return tensor;
}

SEXP joist_r_from_dlpack(SEXP pointer) {
  const uint64_t *flags;
  const struct joist_dl_tensor *const tensor = tensor_of(pointer, &flags);
  struct joist_dl_view view;
  struct joist_error error;
  joist_r_release_returned();
  joist_r_raise_if(joist_dlpack_read(tensor, flags, &view, &error), &error);
  const struct joist_dl_device device = tensor->device;
  const bool host = device.type == JOIST_DL_CPU || device.type == JOIST_DL_CUDA_HOST;
  if (!host && device.type != JOIST_DL_CUDA)
    joist_r_stop(JOIST_ERROR_DEVICE,
                 "this DLPack tensor is on a device of type %d; joist reads CPU and CUDA memory",
                 (int)device.type);
  SEXP own = PROTECT(new_pointer(R_ExternalPtrTag(pointer)));
  SEXP result = PROTECT(host ? on_host(&view, own) : on_gpu(&view, device.id, own));
  /* Taken once nothing can fail any more. */
  R_SetExternalPtrAddr(own, R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
  if (host ? !is_shared(&view) : joist_has_unused_bits(view.dtype)) finalize(own); /* copied */
  UNPROTECT(2);
  return result;
}

/* ---- for Python ---- */

static SEXP address_text(uintptr_t address) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIxPTR, address);
  return Rf_mkChar(text);
}

static void *address_of(SEXP text) {
  return (void *)(uintptr_t)strtoull(joist_r_string(text, "address"), NULL, 16);
}

SEXP joist_r_dlpack_take(SEXP pointer) {
  const uint64_t *flags;
  const struct joist_dl_tensor *const tensor = tensor_of(pointer, &flags);
  SEXP taken = PROTECT(Rf_allocVector(STRSXP, 6));
  SET_STRING_ELT(taken, 0, address_text((uintptr_t)R_ExternalPtrAddr(pointer)));
  SET_STRING_ELT(taken, 1, address_text((uintptr_t)tensor->data));
  SET_STRING_ELT(taken, 2, address_text((uintptr_t)tensor->device.type));
  SET_STRING_ELT(taken, 3, address_text((uintptr_t)tensor->device.id));
  SET_STRING_ELT(taken, 4, PRINTNAME(R_ExternalPtrTag(pointer)));
  SET_STRING_ELT(taken, 5, address_text(flags == NULL ? 0 : (uintptr_t)*flags));
  R_ClearExternalPtr(pointer);
  UNPROTECT(1);
  return taken;
}

SEXP joist_r_dlpack_pointer(SEXP address, SEXP name) {
  void *const memory = address_of(address);
  SEXP pointer = PROTECT(new_pointer(Rf_install(joist_r_string(name, "name"))));
  R_SetExternalPtrAddr(pointer, memory);
  UNPROTECT(1);
  return pointer;
}

SEXP joist_r_from_memory(SEXP address, SEXP dtype, SEXP shape, SEXP strides, SEXP owner) {
  int64_t extents[JOIST_RANK_MAX], steps[JOIST_RANK_MAX];
  struct joist_shape checked;
  joist_r_release_returned();
  joist_r_shape(shape, &checked);
  for (int d = 0; d < checked.rank; d++) {
    extents[d] = checked.extent[d];
    steps[d] = (int64_t)REAL(strides)[d];
  }
  const struct joist_dl_tensor tensor = {.data = address_of(address),
                                         .device = {JOIST_DL_CPU, 0},
                                         .rank = checked.rank,
                                         .shape = extents,
                                         .strides = steps};
  struct joist_dl_view view;
  struct joist_error error;
  joist_r_raise_if(joist_dlpack_read_as(&tensor, joist_r_dtype(dtype), &view, &error), &error);
  return on_host(&view, owner);
}

SEXP joist_r_dlpack_functions(void) {
  const uintptr_t functions[] = {(uintptr_t)joist_dlpack_end, (uintptr_t)joist_dlpack_again,
                                 (uintptr_t)joist_dlpack_copied, (uintptr_t)joist_dlpack_connect,
                                 (uintptr_t)joist_dlpack_drop};
  enum { COUNT = sizeof functions / sizeof *functions };
  SEXP addresses = PROTECT(Rf_allocVector(STRSXP, COUNT));
  for (int k = 0; k < COUNT; k++) SET_STRING_ELT(addresses, k, address_text(functions[k]));
  UNPROTECT(1);
  return addresses;
}
