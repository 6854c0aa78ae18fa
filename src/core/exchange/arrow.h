/* Arrays of Apache Arrow, read and made: numbers, bits, and rows that are tensors of one shape (the
 * extension type arrow.fixed_shape_tensor, or fixed-size lists, which are rows of rank 1). Nothing
 * in a structure from elsewhere is trusted but that its pointers lead to as much as its lengths
 * say, which the interface has no way to check. */
#ifndef JOIST_CORE_EXCHANGE_ARROW_H
#define JOIST_CORE_EXCHANGE_ARROW_H

#include "core/exchange/arrow_abi.h"
#include "core/exchange/keep_alive.h"
#include "core/types/host.h"
#include "core/types/shape.h"

/* An Arrow type that has a dtype. */
struct joist_arrow_type {
  joist_dtype dtype;
  bool has_items;                  /* each row is a tensor */
  struct joist_shape item;         /* as stored: the last dimension varies fastest */
  int permutation[JOIST_RANK_MAX]; /* the stored dimension that is meant as the k-th */
  size_t each;                     /* elements of a row */
};

/* JOIST_ERROR_DTYPE for a type that has none, JOIST_ERROR_VALUE for a damaged schema. */
joist_status joist_arrow_read_schema(const struct ArrowSchema *schema,
                                     struct joist_arrow_type *type,
                                     struct joist_error *error) JOIST_MUST_CHECK;

/* The elements of an array, in its memory. */
struct joist_arrow_part {
  const void *values; /* bits of bool, NULL if it has no elements */
  size_t first;       /* element of `values` where they begin */
  size_t rows, count;
  /* A bit for each row and for each element that is there; NULL for all. */
  const uint8_t *row_bits, *element_bits;
  size_t first_row_bit, first_element_bit, each;
};

joist_status joist_arrow_read_array(const struct ArrowArray *array,
                                    const struct joist_arrow_type *type,
                                    struct joist_arrow_part *part,
                                    struct joist_error *error) JOIST_MUST_CHECK;

/* The first element that is null, from 0; `count` if none is. */
size_t joist_arrow_first_null(const struct joist_arrow_part *part);

/* The elements where they are, elements that are null undefined; NULL if they have to be copied:
 * bits, odd addresses. */
const void *joist_arrow_elements(const struct joist_arrow_part *part, joist_dtype dtype);

/* Writes whether each element is null: as an element, or with its row. */
void joist_arrow_mask(const struct joist_arrow_part *part, uint8_t *mask);

/* What becomes of nulls: an undefined element, for callers that read the mask; an error; or NaN,
 * which is an error in a dtype that is not a float. */
typedef enum { JOIST_ARROW_MISSING, JOIST_ARROW_ERROR, JOIST_ARROW_NAN } joist_arrow_nulls;

/* Copies the elements. An error has the position of a null after the `before` elements. */
joist_status joist_arrow_copy(const struct joist_arrow_part *part, joist_dtype dtype,
                              joist_arrow_nulls nulls, size_t before, void *to,
                              const struct joist_run *run,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* Elements that somebody owns until drop(owner), and which of them are there. */
struct joist_arrow_owned {
  const void *elements; /* bits of bool */
  void (*drop)(void *owner);
  void *owner;
  char *validity; /* a block from malloc() that has the bits; NULL if no element is null */
  size_t nulls;
};

/* A copy of elements, as Arrow has them. */
joist_status joist_arrow_own_copy(joist_dtype dtype, const void *elements, size_t n,
                                  struct joist_arrow_owned *owned,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* The elements where they are, which is never what Arrow has of bool: the array takes over
 * one holder, which it releases from any thread. */
struct joist_arrow_owned joist_arrow_own_keep_alive(const void *elements,
                                                    struct joist_keep_alive *keep);

/* Adds which of n elements are null: those whose byte of the mask is not 0. Drops the elements if
 * it fails. */
joist_status joist_arrow_own_mask(const uint8_t *mask, size_t n, struct joist_arrow_owned *owned,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* Whether Arrow has a type for a dtype: JOIST_ERROR_DTYPE if not. */
joist_status joist_arrow_check_dtype(joist_dtype dtype, struct joist_error *error) JOIST_MUST_CHECK;

/* Fill in a structure whose contents are undefined. `item` is NULL for an array of elements,
 * otherwise the shape of each row, the last dimension varying fastest. The array takes over
 * `owned`, also when it cannot be made. */
joist_status joist_arrow_write_schema(joist_dtype dtype, const struct joist_shape *item,
                                      struct ArrowSchema *schema,
                                      struct joist_error *error) JOIST_MUST_CHECK;
joist_status joist_arrow_write_array(size_t rows, const struct joist_shape *item,
                                     struct joist_arrow_owned owned, struct ArrowArray *array,
                                     struct joist_error *error) JOIST_MUST_CHECK;

#endif
