/* Tensors whose data is in the memory of another device. */
#ifndef JOIST_R_DEVICE_PAYLOAD_H
#define JOIST_R_DEVICE_PAYLOAD_H

#include "core/device.h"
#include "r/tensor.h"

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
/* A payload for a device, this process's own included, and where its elements go. */
SEXP joist_r_payload_on(const struct joist_device *device, joist_dtype dtype, size_t n,
                        void **elements);
/* A tensor of such a payload and of extents that are protected, too. */
SEXP joist_r_tensor_on(const struct joist_device *device, SEXP payload, struct joist_type type,
                       SEXP extents);
/* The same data in another type or shape: `value` has data, here or on a device. */
SEXP joist_r_same_payload(const struct joist_r_value *value, struct joist_type type,
                          const struct joist_shape *shape);

/* The device that operands are on; literals are anywhere. Raises joist_device_error when they
 * are on two. NULL when there are only literals. */
const struct joist_device *joist_r_common_device(const struct joist_r_value *values, int n);

/* Makes a payload in R's memory of the first elements of a value on a device, which then
 * reads as one that is not. The result is the payload, to be protected. */
SEXP joist_r_fetch(struct joist_r_value *value, size_t count);
/* The same into R's transient memory (R_alloc()), for elements that are only read; nothing for a
 * value that is not on a device. */
void joist_r_fetch_briefly(struct joist_r_value *value);
/* A tensor with data on a device, itself if it is there already. */
SEXP joist_r_on_device(SEXP tensor, const struct joist_device *device);
/* A tensor that was made here for an operation on `x`, on the device of the latter. */
SEXP joist_r_beside(const struct joist_r_value *x, SEXP made);
/* Elements in R's memory, copied to a new payload on a device. */
SEXP joist_r_upload(const struct joist_device *device, joist_dtype dtype, size_t n,
                    const void *elements);

/* Runs a plan; R's collector runs when memory is out, and then it is tried again. `here` is that of
 * struct joist_run. */
joist_status joist_r_run_plan(const struct joist_device *device, const struct joist_plan *plan,
                              const void *const *inputs, const bool *here, void *const *outputs,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* .Call entry points. */
SEXP joist_r_to(SEXP x, SEXP device);
SEXP joist_r_diagnose(void);
/* Bytes used, kept, available and in all; of a device by its name. */
SEXP joist_r_device_memory(SEXP device);
SEXP joist_r_synchronize(SEXP device);

#endif
