/* .Call entry point of colours of the columns of sparse matrices. */
#ifndef JOIST_R_COLOURING_H
#define JOIST_R_COLOURING_H

#include "r/base/sexp.h"

/* The colours, from 1 on, of the columns of a matrix: `start` and `row` are those of its columns,
 * `row_start` and `column` those of its rows. */
SEXP joist_r_colour_columns(SEXP start, SEXP row, SEXP row_start, SEXP column, SEXP alone,
                            SEXP skip);

#endif
