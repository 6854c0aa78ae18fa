/* Names that are references: those of traced tensors, which may be others at each call.
 *
 * A tensor has as many names while jit() traces as the plain run would have, and they are an ALTREP
 * character vector that knows where they come from: "along dim 1 of argument 2, the first three".
 * The compiled program resolves them at each call. R code that reads one of them while the function
 * is traced gets the name of the arguments at hand, and makes these names a part of the key:
 * arguments with other names have a program of their own. */
#ifndef JOIST_R_NAME_REFERENCES_H
#define JOIST_R_NAME_REFERENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "r/base/sexp.h"

/* The names along dim d of an argument, whose names now are `names`; `asked`, a logical of length
 * 1, becomes TRUE when one of them is read. */
SEXP joist_r_names_of_argument(uint32_t leaf, int d, SEXP names, SEXP asked);
bool joist_r_are_references(SEXP names);
/* The names themselves: asks for them. */
SEXP joist_r_plain_names(SEXP names);

/* Selections of names and joined names: references if any of what they are made of is. */
SEXP joist_r_names_range(SEXP names, int64_t start, int64_t step, size_t count);
/* At positions from 1 on, doubles; an empty name where there is none. */
SEXP joist_r_names_at(SEXP names, SEXP positions);
/* At the positions in a traced tensor. */
SEXP joist_r_names_gathered(SEXP names, SEXP index, size_t count);
/* `parts` is a list with R_NilValue for parts without names, `counts` are doubles. */
SEXP joist_r_names_joined(SEXP parts, SEXP counts);
/* Names, or none, that a traced condition decides: `condition` is the error of code that reads them
 * and of a result that has them. */
SEXP joist_r_names_undecided(SEXP condition, R_xlen_t count);
/* The condition of undecided names that `names` are made of; R_NilValue for others. */
SEXP joist_r_undecided_by(SEXP names);

/* Whether two objects are the same names at each call. */
bool joist_r_same_names(SEXP x, SEXP y);
/* How a call with other arguments finds names: those along a dim of an argument, and positions, as
 * doubles, that are an output of the program. */
struct joist_r_name_sources {
  SEXP (*along)(uint32_t leaf, int d, const void *context);
  SEXP (*positions)(int output, const void *context);
  const void *context;
};
/* `names` are those of a tensor: a character vector, a list of dimnames or R_NilValue. */
SEXP joist_r_resolve_names(SEXP names, const struct joist_r_name_sources *sources);
/* Makes the traced positions in names outputs: `output` gives their numbers. */
void joist_r_output_positions(SEXP names, int (*output)(SEXP index, void *context), void *context);

/* Makes the class: once, when the library is loaded. */
void joist_r_name_references_init(void);

#endif
