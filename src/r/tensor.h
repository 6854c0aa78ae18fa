/* Tensors as R objects: their layout, and making them.
 *
 * A tensor is an object of R's type for objects that are no vectors (S4SXP, "object" from R 4.4
 * on), but without the mark of S4: S3 methods are all it has, and functions of base R that
 * have none for it find nothing to take for numbers or for a list. Its fields are its attributes,
 * beside the class nv_tensor: payload, dtype and shape; ambiguous only where it is TRUE; device
 * only where it is not the CPU. Each costs time in every operation. The payload of a CPU tensor
 * is an R vector without attributes. A traced tensor (nv_traced) has the trace for a payload and
 * its value there as one more field; an abstract one (nv_aval) has no payload. */
#ifndef JOIST_R_TENSOR_H
#define JOIST_R_TENSOR_H

#include "core/device.h"
#include "r/tensor_fields.h"

typedef enum {
  JOIST_R_LITERAL,  /* a bare R value */
  JOIST_R_CONCRETE, /* a tensor with data in R's memory */
  JOIST_R_REMOTE,   /* a tensor with data in the memory of another device */
  JOIST_R_ABSTRACT, /* nv_aval(): dtype and shape only */
  JOIST_R_TRACED    /* stands for a value of a trace */
} joist_r_form;

/* The class attribute that tensors of a form are made with. */
SEXP joist_r_class(joist_r_form form);

SEXP joist_r_shape_object(const struct joist_shape *shape);

/* A CPU tensor of a payload, which must be protected. */
SEXP joist_r_tensor(SEXP payload, struct joist_type type, const struct joist_shape *shape);
/* The same with extents that were protected, too. */
SEXP joist_r_tensor_with(SEXP payload, struct joist_type type, SEXP extents);
/* A tensor of a payload on any device, and of extents that are protected, too. */
SEXP joist_r_tensor_on(const struct joist_device *device, SEXP payload, struct joist_type type,
                       SEXP extents);
SEXP joist_r_aval(struct joist_type type, const struct joist_shape *shape);
SEXP joist_r_traced(SEXP trace, joist_value_id value, bool literal, struct joist_type type,
                    const struct joist_shape *shape);

#endif
