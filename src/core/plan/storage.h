/* Where the arrays of a planned program live: in inputs, outputs or scratch. */
#ifndef JOIST_CORE_PLAN_STORAGE_H
#define JOIST_CORE_PLAN_STORAGE_H

#include "core/plan/groups.h"

/* Decides where arrays live, when the groups are in their order; `root` is given, and bodies have
 * been planned. */
joist_status joist_storage_plan(struct joist_plan *plan,
                                struct joist_error *error) JOIST_MUST_CHECK;

/* Whether carry k of a loop is written over in each iteration, so that its input and output of the
 * `body` can be one array: the input is read for the last time by what writes into it, and so on
 * up to the output. */
bool joist_carry_is_in_place(const struct joist_plan *body, const struct joist_instruction *loop,
                             uint32_t k);

/* How many elements of a value of a body of the loop are written when it is computed; 0 if it is
 * written over what it is made of. */
size_t joist_elements_written(const struct joist_plan *body, const struct joist_instruction *loop,
                              joist_value_id value);

/* Which of the pointers to inputs and outputs is that to the array of a value; NULL for one in
 * scratch, or without. */
const void *joist_plan_source(const struct joist_plan *plan, uint32_t value,
                              const void *const *inputs, void *const *outputs);

/* The array of every value that has one: in inputs, outputs or `scratch`, of scratch_bytes. */
void joist_plan_place(const struct joist_plan *plan, const void *const *inputs,
                      void *const *outputs, char *scratch, void **arrays);

/* When all groups have run: a value that is several outputs, or an input, is computed once, and
 * copied here. */
void joist_plan_finish(const struct joist_plan *plan, void *const *arrays, void *const *outputs);

#endif
