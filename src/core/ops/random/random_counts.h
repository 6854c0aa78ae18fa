/* Random integers and binomial numbers. */
#ifndef JOIST_CORE_OPS_RANDOM_RANDOM_COUNTS_H
#define JOIST_CORE_OPS_RANDOM_RANDOM_COUNTS_H

#include "core/ops/random/random_ops.h"

struct joist_whole;

/* As joist_uniform_check(). */
joist_status joist_integer_check(const struct joist_draw *draw,
                                 struct joist_error *error) JOIST_MUST_CHECK;
joist_status joist_binomial_check(const struct joist_draw *draw,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* What the limits of integers are read as: I64, UI64 or F64, which lose nothing. */
joist_dtype joist_limit_carrier(joist_dtype dtype);
/* The whole numbers up to which a dtype has all of them; see random_element.h. */
struct joist_whole joist_dtype_whole(joist_dtype dtype);
/* The largest count: the size of a binomial number, or a Poisson number. */
double joist_count_most(joist_dtype dtype);

#endif
