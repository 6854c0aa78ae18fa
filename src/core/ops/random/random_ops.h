/* What the array operations that draw random numbers share.
 *
 * A draw is a function of the key and of the position of an element: it is computed block
 * by block, in any order and by any number of threads. Private to random_*.c and to
 * devices. */
#ifndef JOIST_CORE_OPS_RANDOM_RANDOM_OPS_H
#define JOIST_CORE_OPS_RANDOM_RANDOM_OPS_H

#include "core/kernels/philox.h"
#include "core/program/call.h"
#include "core/types/convert.h"

/* Elements that are drawn at a time. A multiple of 16, so that a block of random bits
 * never serves two of them. */
enum { JOIST_DRAW_BLOCK = 1024 };

/* An operand of a distribution: one value for all elements, or one for each. */
struct joist_parameter {
  joist_dtype dtype;
  const char *elements;
  size_t count;
  bool single;
};

struct joist_draw {
  const struct joist_call *call;
  struct joist_stream stream; /* of dense bits */
  joist_dtype dtype;
  struct joist_parameter lhs, rhs;
  const double *sums; /* of the weights of categories, if all elements have the same */
  void (*run)(const struct joist_draw *draw, size_t first, size_t n, void *out);
  size_t work; /* of one element, in additions */
};

/* Reads the key and the parameters; JOIST_ERROR_DTYPE if the first operand is not a key. */
joist_status joist_draw_init(struct joist_draw *draw, const struct joist_call *call,
                             struct joist_error *error) JOIST_MUST_CHECK;
/* Calls draw->run for every block of the result. */
joist_status joist_draw_all(const struct joist_draw *draw,
                            struct joist_error *error) JOIST_MUST_CHECK;

/* `bits` random bits for each of the elements from `first` on, a multiple of
 * JOIST_DRAW_BLOCK; low words first. */
void joist_draw_words(const struct joist_draw *draw, int bits, size_t first, size_t n,
                      uint32_t *words);

/* n values of a parameter as `dtype`, from element `first` on. */
void joist_parameter_read(const struct joist_parameter *parameter, size_t first, size_t n,
                          joist_dtype dtype, void *out);
/* How many values differ: 1, or as many as there are elements. */
size_t joist_parameter_count(const struct joist_draw *draw);

/* Whether every parameter is one; JOIST_ERROR_VALUE says which is the first that is not. */
joist_status joist_uniform_check(const struct joist_draw *draw,
                                 struct joist_error *error) JOIST_MUST_CHECK;
joist_status joist_normal_check(const struct joist_draw *draw,
                                struct joist_error *error) JOIST_MUST_CHECK;

/* The number that is folded into a key. */
joist_status joist_fold_number(const struct joist_draw *draw, int64_t *number,
                               struct joist_error *error) JOIST_MUST_CHECK;

/* Whether all are numbers from 0 to 1, or of mean 0 and standard deviation 1. */
bool joist_uniform_is_unit(const struct joist_draw *draw);
bool joist_normal_is_standard(const struct joist_draw *draw);

#endif
