/* Values of the host language, read into a dtype without loss and written back.
 *
 * R's vectors come as plain C arrays with a host type. NA is a value of the host
 * only: reading one is an error (f64 and c128 keep its bits), writing never invents
 * one. Knows no R header; owns no memory. */
#ifndef JOIST_CORE_TYPES_HOST_H
#define JOIST_CORE_TYPES_HOST_H

#include "core/base/status.h"
#include "core/types/dtypes.h"

struct joist_run; /* asked now and then whether to stop; NULL for what is short */

typedef enum {
  JOIST_HOST_LOGICAL,   /* int, NA is INT_MIN */
  JOIST_HOST_INTEGER,   /* int, NA is INT_MIN */
  JOIST_HOST_DOUBLE,    /* double, NA is the NaN with low word 1954 */
  JOIST_HOST_COMPLEX,   /* two doubles */
  JOIST_HOST_RAW,       /* unsigned char */
  JOIST_HOST_INTEGER64, /* int64_t, NA is INT64_MIN */
  JOIST_HOST_FLOAT32    /* float: the float package, NA is a NaN with low half-word 1954 */
} joist_host;

/* Converts n host values to `dtype`. Nothing is lost silently: a fractional value,
 * NaN or Inf for an integer dtype, a value out of the dtype's range (a finite value
 * that would become infinite included), a non-zero imaginary part for a real dtype,
 * and NA are JOIST_ERROR_VALUE, with value, position and dtype. Rounding to a float
 * dtype's precision is not a loss. NA_real_ reaches f64 and c128 unchanged (the NA of FLOAT32
 * becomes NA_real_ there). `out` must not overlap `values`. When it fails, or is JOIST_INTERRUPTED,
 * `out` may be written in part. */
joist_status joist_import(joist_host host, const void *values, size_t n, joist_dtype dtype,
                          void *out, const struct joist_run *run,
                          struct joist_error *error) JOIST_MUST_CHECK;

/* The same for bool as logical operations read it: any number but zero is TRUE, while NA and
 * NaN are neither TRUE nor FALSE and errors. */
joist_status joist_import_truth(joist_host host, const void *values, size_t n, void *out,
                                const struct joist_run *run,
                                struct joist_error *error) JOIST_MUST_CHECK;

size_t joist_host_size(joist_host host); /* bytes of a value */

/* How many of n values are missing: NA, not NaN; of complex numbers in either part. `run` may be
 * NULL for one thread. */
size_t joist_missing_count(joist_host host, const void *values, size_t n,
                           const struct joist_run *run);
/* Writes whether each value is missing. */
void joist_missing_mask(joist_host host, const void *values, size_t n, uint8_t *mask);
/* Writes `na`, a value, in the places that the mask has. */
void joist_missing_put(joist_host host, const uint8_t *mask, size_t n, const void *na,
                       void *values);
/* Copies the values, those that are missing as one that is not, or as 0. */
void joist_missing_filled(joist_host host, const void *values, size_t n, void *filled);

/* The NA of doubles in the place of an integer that they do not hold: its bits, which copies keep,
 * tell it from a missing value. The latter fails with JOIST_ERROR_VALUE if it is among n values. */
void joist_set_lost(double *value, uint64_t integer);
bool joist_is_lost(const double *value);
/* Whether it may be that of this integer: of 2^18 others, about one is taken for it. */
bool joist_was_lost(const double *value, uint64_t integer);
joist_status joist_check_lost(size_t n, const void *values,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* A whole number as the bits of an integer dtype: decimal digits or, after 0x, hexadecimal ones,
 * with or without a sign. Anything else, or a number beyond the dtype's range, is
 * JOIST_ERROR_VALUE with text and position. */
joist_status joist_parse_integer(const char *text, size_t position, joist_dtype dtype,
                                 uint64_t *value, struct joist_error *error) JOIST_MUST_CHECK;

/* The host type and category a literal of that host type has. */
joist_category joist_host_category(joist_host host);

/* True when joist_import() would succeed: every value can be
 * represented, and NA only by f64 and c128. */
bool joist_import_fits(joist_host host, const void *values, size_t n, joist_dtype dtype);

/* The values of a literal, for value-based promotion and comparisons: the range of the finite ones
 * (of the parts, if complex), or of the infinite ones if none is finite; low > high if all are NaN.
 * `whole` is true if all are whole numbers, and false for complex values. */
struct joist_host_values {
  double low, high;
  bool whole, has_infinity, has_nan;
};
/* False if n == 0, for NA, and if some are NaN. */
bool joist_host_range(joist_host host, const void *values, size_t n,
                      struct joist_host_values *found);

/* The first of n elements of a 64-bit integer dtype that no double equals, n if there is none. */
size_t joist_first_inexact(joist_dtype dtype, size_t n, const void *elements);

/* Converts n elements of `dtype` to host values: LOGICAL from bool; INTEGER from
 * bool and integer dtypes (a value that is not an int, INT_MIN included, is an error);
 * DOUBLE from all but complex (an integer that is not exact in double is an error that
 * names integer64 and character); COMPLEX from all; RAW from ui8 and bool; INTEGER64
 * from bool and integers (INT64_MIN and values above INT64_MAX are errors); FLOAT32 from
 * bool, f16, bf16, f32 and integers of 8 and 16 bits. With `lossy` true, DOUBLE, COMPLEX
 * and FLOAT32 round instead of failing, FLOAT32 then from all but complex. A dtype that
 * cannot be exported so is JOIST_ERROR_DTYPE, a value JOIST_ERROR_VALUE. */
joist_status joist_export(joist_dtype dtype, const void *elements, size_t n, joist_host host,
                          bool lossy, void *out, const struct joist_run *run,
                          struct joist_error *error) JOIST_MUST_CHECK;

/* Whether elements have fewer bits than the bytes that hold them: true for integers and floats of
 * fewer than 8 bits. In memory such an integer with a sign is extended by it, and the unused bits
 * of all others are 0; as bytes of a file, the unused bits of all are 0. */
bool joist_has_unused_bits(joist_dtype dtype);

/* Checks that n elements in memory are ones of the dtype: a bool is 0 or 1, and unused bits are as
 * above. JOIST_ERROR_VALUE if not. */
joist_status joist_check_elements(joist_dtype dtype, const void *elements, size_t n,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* Reads n elements out of bytes in this machine's order or, `swapped`, the other; the bytes may lie
 * anywhere, and be `to` itself. Unused bits may be anything; a byte that is not a bool is
 * JOIST_ERROR_VALUE. */
joist_status joist_read_bytes(joist_dtype dtype, const void *from, size_t n, bool swapped, void *to,
                              const struct joist_run *run,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* Writes n elements as such bytes. */
joist_status joist_write_bytes(joist_dtype dtype, const void *from, size_t n, bool swapped,
                               void *to, const struct joist_run *run,
                               struct joist_error *error) JOIST_MUST_CHECK;

enum { JOIST_TEXT_SIZE = 64 };

/* Writes one element as text: integers in full, floats with the fewest significant
 * digits that read back as the same value of that dtype (`digits` 0; a whole number
 * in fixed notation has all its digits), or with
 * at most `digits` significant digits (trailing zeros are left out, and the notation is
 * chosen, as R does). NaN, Inf and -Inf as R spells them, NA_real_ as NA,
 * complex as 1+2i, bool as TRUE or FALSE. Returns the length. */
size_t joist_format_element(joist_dtype dtype, const void *element, int digits,
                            char text[JOIST_TEXT_SIZE]);

#endif
