/* Operands: what R passes to an operation, tensors and bare R values, read once. */
#ifndef JOIST_R_OPERANDS_H
#define JOIST_R_OPERANDS_H

#include "core/promotion/promote.h"
#include "core/types/host.h"
#include "r/tensor/tensor.h"

/* What can be an operand. Points into R objects that the caller keeps protected. */
struct joist_r_value {
  joist_r_form form;
  struct joist_argument argument; /* dtype, ambiguity, shape; a traced value's number */
  bool leaf; /* traced: a bare R value among the arguments, whose number this then is */
  size_t count;
  SEXP object; /* the R value itself */
  /* Concrete or remote: the payload, R_NilValue for the plain form; traced: the trace. */
  SEXP payload;
  bool exposed;    /* a caller may write to the elements: do not share the payload */
  bool dying;      /* unshared, and its caller is done with it */
  bool by_generic; /* of one of R's own operators or functions, which compute with R numbers as such
                    */
  SEXP dim;        /* the dim attribute; R_NilValue if there is none */
  /* The mask of missing values. Concrete or remote: a payload of bools, or R_NilValue where it is
   * in memory that .Call frees; traced: a traced tensor; abstract: any object that is not NULL. */
  SEXP missing;
  const uint8_t *mask; /* the bytes of the mask, as `data`; NULL if there is none */
  SEXP names;      /* names for rank 1, dimnames for a higher rank; R_NilValue if there are none */
  joist_host host; /* literal */
  /* Literal or concrete: the elements, see joist_r_present(); remote: their address there. */
  const void *data;
};

/* Reads an operand. Literals get the default dtype of the rules (NULL: those in force). Raises
 * joist_value_error for what cannot be an operand (factors, dates, strings, lists ...). */
void joist_r_read(const struct joist_rules *rules, SEXP x, struct joist_r_value *value);
/* The same, for callers that know what to do with missing values, which the others refuse with a
 * joist_value_error. */
void joist_r_read_missing(const struct joist_rules *rules, SEXP x, struct joist_r_value *value);
/* The same for a caller that reads a few elements of a tensor whose values another caller may
 * write to, as joist_r_view_peek() reads them; false, and nothing is read, for any other object. */
bool joist_r_read_shown(SEXP x, struct joist_r_value *value, const void **values);
/* Brings n elements that were read so, and their mask, up to date; false if a value is none of the
 * dtype. */
bool joist_r_refresh(const struct joist_r_value *value, const void *values, size_t n,
                     void *elements, uint8_t *mask);
static inline bool joist_r_has_missing(const struct joist_r_value *value) {
  return value->missing != R_NilValue || value->mask != NULL;
}
/* The values of a literal, with others in the places of NA. */
const void *joist_r_present(const struct joist_r_value *value);
/* Raises joist_value_error if values are missing. */
void joist_r_needs_present(const struct joist_r_value *value);
/* The same, for callers that know what to do with a tensor on another device, which
 * joist_r_read() refuses with a joist_device_error. */
void joist_r_read_any(const struct joist_rules *rules, SEXP x, struct joist_r_value *value);
/* Whether the rules look at the values of literals. */
bool joist_r_by_value(const struct joist_rules *rules);
/* Fills the range of a literal or rank-0 operand, for rules that look at values and for
 * comparisons. */
void joist_r_read_range(struct joist_r_value *value);
/* Raises joist_promotion_error where rules that look at values would need one of that form, which
 * is not known: `which` completes the message "... the value of a rank-0 tensor, which ...". */
void joist_r_needs_values(const struct joist_rules *rules, const struct joist_r_value *values,
                          size_t n, joist_r_form form, const char *which);
/* Raises joist_value_error unless there are elements to read. */
void joist_r_needs_data(const struct joist_r_value *value);

/* The elements of a literal in the dtype that an operation reads it in. Only logical operations
 * and the test of nv_ifelse() read numbers as bool: they ask whether these are zero. */
joist_status joist_r_import(const struct joist_r_value *value, joist_dtype dtype, void *out,
                            struct joist_error *error) JOIST_MUST_CHECK;
/* The same, where a number other than 0 and 1 is not a bool. */
joist_status joist_r_import_exact(const struct joist_r_value *value, joist_dtype dtype, void *out,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* An operand of a promotion: a tensor or an R value, under the current rules. */
void joist_r_operand(SEXP x, struct joist_operand *out);

bool joist_r_is_tensor(SEXP x);
/* The dtype and shape of a tensor; false if x is not a tensor. Values that a caller may have
 * written are compared with the dtype; not for the shape alone, where `type` is NULL. */
bool joist_r_describe(SEXP x, struct joist_type *type, struct joist_shape *shape);

/* A payload of the elements that another object may hold, too: that of the value, or a copy where
 * there is none or a caller may write to it. For a value with elements, here or on a device. */
SEXP joist_r_shared_payload(const struct joist_r_value *value);

/* Whether the payload is in the memory of this process and only this tensor has it. */
bool joist_r_is_own(const struct joist_r_value *value);
/* Whether a result of that type and shape can be written over the elements: the value is dying, and
 * its payload is memory that joist may write to. */
bool joist_r_is_reusable(const struct joist_r_value *value, joist_dtype dtype,
                         const struct joist_shape *shape);

/* The device that operands are on; literals are anywhere. Raises joist_device_error when they
 * are on two. NULL when there are only literals. */
const struct joist_device *joist_r_common_device(const struct joist_r_value *values, int n);
/* The dim attribute that one of n values of this shape has, to be shared with it; R_NilValue if
 * there is none. */
SEXP joist_r_dim_among(const struct joist_shape *shape, const struct joist_r_value *values, int n);

#endif
