/* The C interface of the R package joist, for packages that make or read tensors in C.
 *
 * Such a package has `LinkingTo: joist` and `Imports: joist` in its DESCRIPTION, imports
 * something from joist in its NAMESPACE (so that it is loaded), and includes this file:
 *
 *     #include <string.h>
 *
 *     #include <joist.h>
 *
 *     // The elements in reverse order, of any dtype.
 *     SEXP reversed(SEXP x) {
 *       struct joist_array in;
 *       joist_read_array(x, &in);
 *       struct joist_array out = {.dtype = in.dtype, .ambiguous = in.ambiguous, .rank = in.rank};
 *       memcpy(out.extent, in.extent, sizeof out.extent);
 *       SEXP result = PROTECT(joist_make_array(&out));
 *       const char *from = in.data;
 *       char *to = out.data;
 *       for (size_t i = 0; i < in.count; i++)
 *         memcpy(to + i * in.size, from + (in.count - 1 - i) * in.size, in.size);
 *       UNPROTECT(1);
 *       return result;
 *     }
 *
 * Every function must be called from R's own thread, and may raise an R condition of joist's
 * classes, which jumps out of it. What they return is not protected. */
#ifndef JOIST_H
#define JOIST_H

#include <stddef.h>
#include <stdint.h>

#include <R_ext/Rdynload.h>
#include <Rinternals.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { JOIST_INTERFACE = 1, JOIST_ARRAY_RANK = 32 };

/* A tensor in R's memory. Elements are column-major and of the dtype's own size: bool is a
 * byte (0 or 1), f16 and bf16 are their 16 bits, c64 and c128 are pairs (re, im). A dtype of fewer
 * than 8 bits has a byte, too: an integer as a number of 8 bits, a float its bits as the lowest. */
struct joist_array {
  const char *dtype; /* "bool", "i8", ..., "c128", "i4", ..., as dtypes() lists them in R */
  int ambiguous;     /* whether the dtype is a guess, which yields to a known one */
  int rank;
  uint32_t extent[JOIST_ARRAY_RANK];
  size_t count; /* elements */
  size_t size;  /* bytes of one */
  void *data;   /* valid as long as the tensor is; not to be written to unless it is new */
};

/* What the functions below call. Later versions add members at the end. */
struct joist_functions {
  int version;
  int (*is_array)(SEXP x);
  void (*read_array)(SEXP x, struct joist_array *array);
  SEXP (*make_array)(struct joist_array *array);
  const char *(*common)(SEXP x, SEXP y, int *ambiguous);
};

#ifndef JOIST_IMPLEMENTS_INTERFACE

static inline const struct joist_functions *joist_functions(void) {
  static const struct joist_functions *functions = NULL;
  if (functions == NULL)
    functions = (const struct joist_functions *)R_GetCCallable("joist", "joist_functions")();
  return functions;
}

/* The interface of the joist that is installed: at least JOIST_INTERFACE when everything in
 * this file is there. */
static inline int joist_interface(void) { return joist_functions()->version; }

/* Whether x is a tensor with elements in R's memory: not an abstract one, not one that a
 * function is traced with, not one on another device. */
static inline int joist_is_array(SEXP x) { return joist_functions()->is_array(x); }

/* Describes such a tensor; joist_value_error for anything else, joist_device_error for one on
 * another device. */
static inline void joist_read_array(SEXP x, struct joist_array *array) {
  joist_functions()->read_array(x, array);
}

/* A new tensor of the dtype, ambiguity, rank and extents given; fills in the rest. Its elements
 * are undefined: write to `data` before R sees them. joist_dtype_error, joist_shape_error. */
static inline SEXP joist_make_array(struct joist_array *array) {
  return joist_functions()->make_array(array);
}

/* The name of the dtype that tensors or R values x and y promote to under the rules in force,
 * and whether it is a guess; joist_promotion_error when there is none. */
static inline const char *joist_common(SEXP x, SEXP y, int *ambiguous) {
  return joist_functions()->common(x, y, ambiguous);
}

#endif

#ifdef __cplusplus
}
#endif

#endif
