/* Tensors as R objects: their layout, reading them and other operands, making them.
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

#include "core/program/program.h"
#include "core/types/host.h"
#include "r/joist_r.h"

typedef enum {
  JOIST_R_LITERAL,  /* a bare R value */
  JOIST_R_CONCRETE, /* a tensor with data in R's memory */
  JOIST_R_REMOTE,   /* a tensor with data in the memory of another device */
  JOIST_R_ABSTRACT, /* nv_aval(): dtype and shape only */
  JOIST_R_TRACED    /* stands for a value of a trace */
} joist_r_form;

/* What can be an operand. Points into R objects that the caller keeps protected. */
struct joist_r_value {
  joist_r_form form;
  struct joist_argument argument; /* dtype, ambiguity, shape; a traced value's number */
  bool leaf; /* traced: a bare R value among the arguments, whose number this then is */
  size_t count;
  SEXP object;      /* the R value itself */
  SEXP payload;     /* concrete or remote: the payload; traced: the trace */
  joist_host host;  /* literal */
  const void *data; /* literal or concrete: the elements; remote: their address there */
};

/* Reads an operand. Literals get the rule set's default dtype. Raises
 * joist_value_error for what is no operand (factors, dates, strings, lists ...). */
void joist_r_read(const struct joist_rules *rules, SEXP x, struct joist_r_value *value);
/* The same, for callers that know what to do with a tensor on another device, which
 * joist_r_read() refuses with a joist_device_error. */
void joist_r_read_any(const struct joist_rules *rules, SEXP x, struct joist_r_value *value);
/* Whether the rules look at the values of literals. */
bool joist_r_by_value(const struct joist_rules *rules);
/* Fills the range of a literal or rank-0 operand, for rules that look at values and for
 * comparisons. */
void joist_r_read_range(struct joist_r_value *value);

/* The elements of a literal in the dtype that an operation reads it in. Only logical operations
 * and the test of nv_ifelse() read numbers as bool: they ask whether these are zero. */
joist_status joist_r_import(const struct joist_r_value *value, joist_dtype dtype, void *out,
                            struct joist_error *error) JOIST_MUST_CHECK;

/* An operand of a promotion: a tensor or an R value, under the current rules. */
void joist_r_operand(SEXP x, struct joist_operand *out);

/* A new payload of n elements (contents undefined), its elements, and a CPU tensor made
 * of one. The payload must be protected. */
SEXPTYPE joist_r_payload_type(joist_dtype dtype);
SEXP joist_r_payload(joist_dtype dtype, size_t n);
void *joist_r_elements(SEXP payload);
SEXP joist_r_tensor(SEXP payload, struct joist_type type, const struct joist_shape *shape);
/* The same with extents that were protected, too. */
SEXP joist_r_tensor_with(SEXP payload, struct joist_type type, SEXP extents);
SEXP joist_r_aval(struct joist_type type, const struct joist_shape *shape);
SEXP joist_r_traced(SEXP trace, joist_value_id value, bool literal, struct joist_type type,
                    const struct joist_shape *shape);

/* The `joist_device` object of a device of this build. */
SEXP joist_r_device_object(const char *name);

/* A shape from an R vector of extents; raises joist_shape_error. */
void joist_r_shape(SEXP x, struct joist_shape *shape);
SEXP joist_r_shape_object(const struct joist_shape *shape);
/* The same, or the extents of one of n values that has this shape, to be shared with it. */
SEXP joist_r_shape_among(const struct joist_shape *shape, const struct joist_r_value *values,
                         int n);

/* Raises joist_shape_error unless a shape has so many elements, and joist_value_error unless there
 * are elements to read. */
void joist_r_check_filled(const struct joist_shape *shape, size_t count);
void joist_r_needs_data(const struct joist_r_value *value);

/* .Call entry points. */
SEXP joist_r_make(SEXP x, SEXP dtype, SEXP shape, SEXP ambiguous, SEXP na, SEXP rules);
SEXP joist_r_make_aval(SEXP dtype, SEXP shape, SEXP ambiguous);
SEXP joist_r_iota(SEXP dim, SEXP dtype, SEXP shape, SEXP start, SEXP ambiguous);
SEXP joist_r_with_shape(SEXP x, SEXP shape);
SEXP joist_r_as_array(SEXP x, SEXP as, SEXP lossy, SEXP first);
SEXP joist_r_format(SEXP x, SEXP digits, SEXP first);
/* Elements as a raw vector and back, `swapped` in the other byte order than this machine's. */
SEXP joist_r_from_bytes(SEXP bytes, SEXP dtype, SEXP shape, SEXP swapped);
SEXP joist_r_to_bytes(SEXP x, SEXP swapped);
SEXP joist_r_dtype_size(SEXP dtype);
SEXP joist_r_as_dtype(SEXP x, SEXP style);
SEXP joist_r_format_dtype(SEXP x, SEXP style);
/* The kind of a dtype, or of a tensor's. */
SEXP joist_r_dtype_kind(SEXP x);
SEXP joist_r_dtype_names(void);

#endif
