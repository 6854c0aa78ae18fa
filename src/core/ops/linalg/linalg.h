/* Linear algebra through LAPACK, one matrix of a batch at a time and always in f64 or c128:
 * operands are converted to it and results rounded once. Private to linalg*.c. */
#ifndef JOIST_CORE_OPS_LINALG_LINALG_H
#define JOIST_CORE_OPS_LINALG_LINALG_H

#include "core/program/call.h"

/* One matrix of a batch. */
struct joist_problem {
  const struct joist_attributes *attributes; /* of the operation, see ops.def */
  int m, n;                                  /* rows and columns of `a` */
  int columns;                               /* of `b` */
  int pairs;     /* 1 if the elements of `a` and `b` are pairs of real and imaginary part, else 0 */
  double *a, *b; /* copies that may be overwritten; `b` is NULL without one */
  double *out;   /* all results, one after the other; those of complex dtypes are pairs */
  size_t batch;  /* for errors: which of several matrices, from 1 */
};

/* Solves a problem without zero extents. JOIST_ERROR_VALUE when it has no solution. */
typedef joist_status joist_solver(const struct joist_problem *problem, struct joist_error *error);

joist_solver joist_solve_chol, joist_solve_linear, joist_solve_triangular, joist_solve_det,
    joist_solve_determinant, joist_solve_lu, joist_solve_qr, joist_solve_svd,
    joist_solve_singular_values, joist_solve_eigh, joist_solve_eig, joist_solve_eigvals;

/* Of real matrices with at most JOIST_SMALL rows: the same as joist_solve_linear() and
 * joist_solve_det() without calls of LAPACK, from several threads at once. False if the matrix may
 * be singular, or has elements that are not finite: then `out` is undefined, and `a` lost. */
enum { JOIST_SMALL = 16 };
/* The reciprocal condition number from which equations are solved. */
double joist_least_condition(const struct joist_problem *problem);
typedef bool joist_small_solver(const struct joist_problem *problem);
joist_small_solver joist_small_linear, joist_small_det;

/* Scratch memory: `doubles` numbers, then `integers`; freed by free(). */
double *joist_scratch(size_t doubles, size_t integers, int **first_integer);

joist_status joist_no_memory(struct joist_error *error);

/* JOIST_ERROR_VALUE with the position of the first element that is not finite. */
joist_status joist_check_finite(const struct joist_problem *problem, struct joist_error *error);

#endif
