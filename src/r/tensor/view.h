/* Tensors as R vectors: ALTREP classes that show the elements of a payload to R as logicals,
 * integers, doubles or complex numbers.
 *
 * joist works on the payload; R sees its values where it does not dispatch. The payload of i32, f64
 * and c128 is itself the vector that R sees. Other dtypes are converted element by element, or all
 * at once when R asks for a pointer; the vector made for that (the view) is kept.
 *
 * A tensor with missing values has a mask, and R sees NA where it is TRUE, in a converted vector
 * for every dtype.
 *
 * Once a caller has a writable pointer, what it wrote is the truth: joist_r_view_read() takes the
 * elements from it, and duplicates and serialized states hold them. NA that it wrote is missing.
 *
 * The methods raise no error except where R itself does, when memory is exhausted: R calls them
 * with the garbage collector disabled. A value that R's type cannot represent is NA there; the next
 * entry into joist warns about it (joist_r_view_warn() of view_losses.h). */
#ifndef JOIST_R_VIEW_H
#define JOIST_R_VIEW_H

#include <stdbool.h>

#include "core/types/dtypes.h"
#include "core/types/host.h"
#include "r/base/sexp.h"

/* The type of the values that R sees of a dtype, as a host type and as R's. */
joist_host joist_r_view_host(joist_dtype dtype);
SEXPTYPE joist_r_view_type(joist_dtype dtype);

/* A vector without attributes of a payload, which must be protected: of the CPU, or an external
 * pointer to one on a device. */
SEXP joist_r_view(SEXP payload, joist_dtype dtype);

struct joist_r_viewed {
  SEXP payload; /* owned by the vector, as the mask is */
  SEXP mask;    /* a payload of bools, TRUE where a value is missing; R_NilValue if none is */
  joist_dtype dtype;
  bool exposed; /* a caller may write through a pointer to the values: do not share the payload */
};

/* Reads a vector made by joist_r_view(), or a wrapper that R put around one. Returns false for any
 * other object. Brings the payload up to date if a caller may have written to the values; raises
 * joist_value_error if what was written does not fit the dtype, or if the elements were in a file
 * that was truncated. */
bool joist_r_view_read(SEXP x, struct joist_r_viewed *viewed);

/* The same for a caller that reads a few elements of a vector that another caller may write to;
 * false for any other vector. R's code takes writable pointers for much that it only reads, and
 * whether it wrote shows only in a comparison of all values with the payload. That is done once
 * after each pointer (until then this is false). From then on a few elements are read as the
 * payload and the mask had them, with `values`, what R sees now, and joist_r_refresh_values()
 * brings them up to date. `values` is NULL if R sees the payload.
 *
 * That is right even if the caller kept its pointer and wrote later, since R's values are the
 * truth: each of these elements becomes what a comparison of all would make of it. Only a value
 * elsewhere that does not fit the dtype, written by a kept pointer, is not noticed here; the first
 * operation on the whole finds it. */
bool joist_r_view_peek(SEXP x, struct joist_r_viewed *viewed, const void **values);

/* Gives a vector made by joist_r_view() a mask, on the same device, or takes it away: R_NilValue.
 * At least one value is missing. */
void joist_r_view_set_mask(SEXP x, SEXP mask);

/* Whether x itself, not a wrapper around it, was made by joist_r_view(). */
bool joist_r_view_is(SEXP x);
/* The values that R sees of it, without a warning of those that it cannot see; NULL of any other
 * vector. */
const void *joist_r_view_values(SEXP x);
/* Whether a caller may have written to the values of an ALTREP vector. */
bool joist_r_view_exposed(SEXP x);
/* Replaces the payload of such a vector, or forgets the values converted from it when the payload
 * has changed in place. */
void joist_r_view_changed(SEXP x);

/* Detaches the payload of an unused vector, which is empty afterwards. */
void joist_r_view_empty(SEXP x);

/* Makes the classes: once, when the library is loaded. */
void joist_r_view_init(void);

#endif
