/* What R code does, found without running it: the names that it reads and assigns, and how it may
 * be left. Code is a call, a name or a constant. */
#ifndef JOIST_R_CODE_H
#define JOIST_R_CODE_H

#include "r/base/sexp.h"

/* Called once, when the package is loaded. */
void joist_r_code_init(void);

/* .Call entry point: whether code is a call, such as `quote` or `~`, whose arguments R does not
 * evaluate in the frame of the function, or not there and then. */
SEXP joist_r_code_quotes(SEXP code);

/* .Call entry points. Each returns a character vector in the order of the code, with one element
 * per occurrence. Unless noted, they skip calls that quote and functions written in the code. */

/* The names of variables and functions that are read, quoted ones and those in functions included.
 * The target of an assignment and the variable of `for` are not read. */
SEXP joist_r_code_reads(SEXP code);
/* The variables that `<-`, `=` and `for` assign, then, if `inner`, those that functions in the code
 * assign by `<<-`. */
SEXP joist_r_code_assigned(SEXP code, SEXP inner);
/* Of the variables that are assigned as a whole: those that are assigned a function written in the
 * code if `literal` is TRUE, otherwise those that are assigned anything else. */
SEXP joist_r_code_whole(SEXP code, SEXP literal);
/* The names of the functions that are called, also in functions; "" for a computed function. */
SEXP joist_r_code_called(SEXP code);
/* The strings, except empty and missing ones; quoted ones, too. */
SEXP joist_r_code_strings(SEXP code);
/* The ways in which the code may be left: "break", "next" and "return". Loops in the code are left
 * by their own `break` and `next`. */
SEXP joist_r_code_escapes(SEXP code);

/* .Call entry point: whether the code is always left by `break`, `next` or return(). */
SEXP joist_r_code_always_escapes(SEXP code);

/* .Call entry point: the value of code in the frame of a function, evaluated as a part of that
 * function: unlike eval(), without a call on R's stack. */
SEXP joist_r_code_run(SEXP code, SEXP frame);
/* .Call entry point: runs parts of code (jit-rewrite.R) as long as their conditions are R's TRUE or
 * FALSE. Returns a list: the kind of the last part that ran, its value, and, if R has to run the
 * next one, the value of its condition and the parts from there on. */
SEXP joist_r_code_parts(SEXP parts, SEXP frame);

#endif
