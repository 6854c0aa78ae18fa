/* A loop with the bodies inside it, and where their values live while generated code runs them.
 *
 * Body 0 is the program that contains the loop; the others are numbered depth first. Values of one
 * element are variables of the code, with a place in memory for the groups that the interpreter
 * runs. Arrays are where the plan of their body puts them. */
#ifndef JOIST_CORE_CODEGEN_NEST_H
#define JOIST_CORE_CODEGEN_NEST_H

#include "core/plan/groups.h"
#include "core/program/regions.h"

enum { JOIST_NEST_MAX = 48 };

struct joist_nest_body {
  const struct joist_plan *plan;
  uint32_t parent, group, region; /* that has it; unused for body 0 */
  size_t slots;                   /* place of its values of one element */
  size_t scratch;                 /* of the scratch of its plan */
  size_t spare;                   /* of second arrays for the carries */
};

struct joist_nest {
  uint32_t count;
  size_t bytes;
  struct joist_nest_body body[JOIST_NEST_MAX];
};

enum { JOIST_NEST_SLOT = 16, JOIST_NEST_ALIGNMENT = 64 };

/* False for a nest that is not generated: of too many bodies, or with values of no element. */
bool joist_nest_make(const struct joist_plan *plan, const struct joist_group *group,
                     struct joist_nest *nest);

/* The body of a region of a group of body `parent`. */
uint32_t joist_nest_find(const struct joist_nest *nest, uint32_t parent, uint32_t group,
                         uint32_t region);

/* Whether a value of a body is the same number in each run: an input, or captured from one. */
bool joist_nest_is_known(const struct joist_nest *nest, uint32_t body, joist_value_id value,
                         double *number);

static inline bool joist_nest_is_scalar(const struct joist_plan *plan, joist_value_id value) {
  return joist_value_count(&plan->program->values[value]) == 1;
}

#endif
