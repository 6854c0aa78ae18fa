/* Payloads of tensors whose data is in the memory of another device. */
#ifndef JOIST_R_DEVICE_PAYLOAD_H
#define JOIST_R_DEVICE_PAYLOAD_H

#include "core/device.h"
#include "r/base/sexp.h"

/* Whether an external pointer is the payload of a tensor on a device. */
bool joist_r_is_remote(SEXP payload);
/* The device that has it, its memory there, and how much that is. Raises joist_device_error
 * when the memory is gone, as after saveRDS(). */
const struct joist_device *joist_r_remote_device(SEXP payload);
void *joist_r_remote_memory(SEXP payload);
size_t joist_r_remote_bytes(SEXP payload);

/* A new payload on a device, contents undefined: R's collector runs before memory is out.
 * Raises joist_device_error. */
SEXP joist_r_remote_payload(const struct joist_device *device, joist_dtype dtype, size_t n);
/* A payload in memory of a device that is valid as long as `owner`, a protected object. */
SEXP joist_r_remote_foreign(const struct joist_device *device, const void *memory, size_t bytes,
                            SEXP owner);
/* A payload for a device, this process's own included, and where its elements go. */
SEXP joist_r_payload_on(const struct joist_device *device, joist_dtype dtype, size_t n,
                        void **elements);

/* Elements in R's memory, copied to a new payload on a device. */
SEXP joist_r_upload(const struct joist_device *device, joist_dtype dtype, size_t n,
                    const void *elements);
/* The first `bytes` of a payload, copied here. */
void joist_r_download(SEXP payload, size_t bytes, void *out);

/* The same two without errors, for callers that must not jump: 0, and false, if the memory is gone
 * or cannot be read. */
size_t joist_r_remote_size(SEXP payload);
bool joist_r_try_download(SEXP payload, size_t bytes, void *out);

#endif
