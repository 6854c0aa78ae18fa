/* What a failing function says: a code, whose class is a status, and the facts. The texts are the
 * host's, made of both. Owns no memory. */
#ifndef JOIST_CORE_TYPES_ERROR_H
#define JOIST_CORE_TYPES_ERROR_H

#include "core/base/status.h"
#include "core/types/dtypes.h"
#include "core/types/errors.def"
#include "core/types/shape.h"

typedef enum {
#define X(CODE, STATUS, FACTS) JOIST_E_##CODE,
  JOIST_ERRORS(X)
#undef X
      JOIST_E_COUNT
} joist_error_code;

/* A copy of a string; one that is too long ends in "...". */
struct joist_quote {
  char bytes[160];
};
struct joist_quote joist_quote(const char *string);

/* Facts that the code does not have are 0. */
struct joist_error {
  joist_error_code code;
  int dim;             /* from 1 */
  const char *op;      /* name of the operation */
  const char *name[3]; /* constants, as the names of dtypes are */
  struct joist_type type[3];
  struct joist_shape shape[2];
  size_t position; /* from 1 */
  size_t batch;    /* which matrix of several, from 1 */
  size_t bytes;
  size_t count[2];
  double number[2];
  struct joist_quote text[2];
};

/* Ends a function that fails: `return JOIST_FAIL(error, JOIST_E_FRACTIONAL, .position = k + 1)`.
 * `error` may be NULL. Gives the status of the code. */
#define JOIST_FAIL(error, ...) \
  joist_fail_with((error), &(const struct joist_error){.code = __VA_ARGS__})
joist_status joist_fail_with(struct joist_error *error, const struct joist_error *facts);

joist_status joist_error_status(joist_error_code code);

#endif
