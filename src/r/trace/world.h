/* The environments that code may change: what they have before a branch or body is traced, and
 * which of their variables are others afterwards. */
#ifndef JOIST_R_WORLD_H
#define JOIST_R_WORLD_H

#include "r/base/sexp.h"

/* .Call entry point: the environments that can be reached from `roots`, a list, by way of
 * variables, lists, functions and the environments around them, without those of packages, whose
 * names are `packages`, and those in `known`. What promises and active bindings lead to is not
 * followed. */
SEXP joist_r_world(SEXP roots, SEXP packages, SEXP known);

/* .Call entry point: which of the calls under way are of joist: of functions whose environment is
 * `home`, of functions within these, and of functions of base R that those call. `callers` has the
 * places of their callers among them, from 0 on. */
SEXP joist_r_world_own(SEXP home, SEXP functions, SEXP frames, SEXP callers);

/* .Call entry point: what each of a list of environments has: a list of the names, the values, and
 * the attributes of the environment. The value of a variable that is a promise is its code. For the
 * first `forced` environments, but for those in the list `lazy`, promises are computed: behind the
 * attributes are lists of one, the values of what may be promises, or NULL. As long as the list is
 * there, R changes no value in place. */
SEXP joist_r_world_look(SEXP environments, SEXP forced, SEXP lazy);

/* .Call entry point: whether computing what is forced in such a list may have changed variables. */
SEXP joist_r_world_unsure(SEXP looked);

/* .Call entry point: of each environment the names of the variables that are others in `after` than
 * in `before`, two results of joist_r_world_look(); an empty string if its attributes are. */
SEXP joist_r_world_changes(SEXP before, SEXP after);

#endif
