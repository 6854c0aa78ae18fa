/* Linear algebra through LAPACK, one matrix of a batch at a time and always in f64: operands
 * are converted to it and results rounded once. Private to linalg*.c. */
#ifndef JOIST_CORE_OPS_LINALG_LINALG_H
#define JOIST_CORE_OPS_LINALG_LINALG_H

#include "core/program/call.h"

/* One matrix of a batch. */
struct joist_problem {
  const struct joist_attributes *attributes; /* of the operation, see ops.def */
  int m, n;                                  /* rows and columns of `a` */
  int columns;                               /* of `b` */
  double *a, *b; /* copies that may be overwritten; `b` is NULL without one */
  double *out;   /* all results, one after the other */
  size_t batch;  /* for errors: which of several matrices, from 1 */
};

/* Solves a problem without zero extents. JOIST_ERROR_VALUE when it has no solution. */
typedef joist_status joist_solver(const struct joist_problem *problem, struct joist_error *error);

joist_solver joist_solve_chol, joist_solve_linear, joist_solve_triangular, joist_solve_det,
    joist_solve_determinant, joist_solve_qr, joist_solve_svd, joist_solve_eigh;

/* Scratch memory: `doubles` numbers, then `integers`; freed by free(). */
double *joist_scratch(size_t doubles, size_t integers, int **first_integer);

joist_status joist_no_memory(struct joist_error *error);

/* JOIST_ERROR_VALUE with the position of the first element that is no finite number. */
joist_status joist_check_finite(const struct joist_problem *problem, struct joist_error *error);

#endif
