/* The dtype attribute of tensors of i32 and of 64-bit integers. R sees the latter as doubles, and
 * all integers that no double equals as NA, as it sees the i32 -2^31. This attribute tells them
 * apart: an ALTREP vector of strings, of the name of the dtype alone unless there are such
 * integers, and otherwise of their digits, too, or of the positions of -2^31. It is made of the
 * payload when R asks for it, as identical() does, digest() and files of earlier formats. */
#ifndef JOIST_R_EXACT_MARK_H
#define JOIST_R_EXACT_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/types/dtypes.h"
#include "core/types/host.h"
#include "r/base/sexp.h"

/* Whether tensors of the dtype have this attribute. */
bool joist_r_has_exact_mark(joist_dtype dtype);

/* One for a tensor of this payload, without a mask; `plain` names the dtype. */
SEXP joist_r_exact_mark(SEXP plain, SEXP payload);

/* The string that names the dtype, of any dtype attribute. */
SEXP joist_r_plain_mark(SEXP mark);

/* Brings the attribute of a tensor up to date, if it has one: it has another payload or mask, or
 * other elements in it. */
void joist_r_renew_mark(SEXP x, SEXP payload, SEXP mask);

/* Whether the tensor alone refers to its payload. If so, its attribute lets go of it. */
bool joist_r_is_sole_owner(SEXP x, SEXP payload);

/* The attribute that was read from a file just before the elements of its tensor gets these. */
void joist_r_adopt_mark(SEXP payload, SEXP mask);

/* An error if R has NA for an integer that no double equals. */
void joist_r_refuse_lost(joist_host host, const void *values, size_t n);

/* Puts the integers of the attribute of an ordinary vector where R has NA for them; an error if
 * they are not those of these values. */
void joist_r_restore_exact(SEXP mark, joist_dtype dtype, const void *values, size_t n,
                           void *elements, uint8_t *mask);

void joist_r_exact_mark_init(void);

#endif
