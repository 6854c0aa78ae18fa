/* Tensors as R objects: their layout, and making them.
 *
 * A tensor with elements is an R vector of class nv_tensor (see view.h). Its attributes are R's own
 * (dim for a rank of 2 or more, dimnames, names) and two of joist: dtype, a string that ends in "?"
 * if the dtype is ambiguous (64-bit integers: see exact_mark.h), and rank, 0 for a scalar and
 * otherwise missing. An ordinary vector with these attributes, as structure(), dput() and C code
 * make it, is that tensor, too: the plain form.
 *
 * A tensor without elements, traced or abstract (nv_aval()), is such a vector, too, with the same
 * attributes, whose elements cannot be read (see unknown.h). A traced one is of class nv_tensor, as
 * the traced function would see it.
 *
 * Tensors in a store (nv_chunked) are objects of R's type for objects that are not vectors (S4SXP,
 * "object" from R 4.4 on), but not S4 objects. Their fields are attributes: the class, dtype and
 * shape; ambiguous only if TRUE. Tensors saved by earlier versions are such objects, with a vector
 * as their payload, or abstract. */
#ifndef JOIST_R_TENSOR_H
#define JOIST_R_TENSOR_H

#include "core/device.h"
#include "r/base/tensor_fields.h"

typedef enum {
  JOIST_R_LITERAL,  /* a bare R value */
  JOIST_R_CONCRETE, /* a tensor with data in R's memory */
  JOIST_R_REMOTE,   /* a tensor with data in the memory of another device */
  JOIST_R_ABSTRACT, /* nv_aval(): dtype and shape only */
  JOIST_R_TRACED    /* stands for a value of a trace */
} joist_r_form;

/* The class attribute that tensors of a form are made with. */
SEXP joist_r_class(joist_r_form form);

/* The extents as R has them: one for each dim. */
SEXP joist_r_shape_object(const struct joist_shape *shape);

/* A tensor of a payload, which must be protected, on the CPU or a device. */
SEXP joist_r_tensor(SEXP payload, struct joist_type type, const struct joist_shape *shape);
/* The same with the dim attribute that another tensor of this shape has, protected, or R_NilValue.
 */
SEXP joist_r_tensor_with(SEXP payload, struct joist_type type, const struct joist_shape *shape,
                         SEXP dim);
SEXP joist_r_aval(struct joist_type type, const struct joist_shape *shape);
/* An object that is not a vector: a tensor in a store, but for its class and its further fields. */
SEXP joist_r_object(struct joist_type type, const struct joist_shape *shape);
SEXP joist_r_traced(SEXP trace, joist_value_id value, bool literal, struct joist_type type,
                    const struct joist_shape *shape);

/* The type that a dtype attribute names; JOIST_DTYPE_NONE for anything else. */
struct joist_type joist_r_type_of_mark(SEXP mark);

#endif
