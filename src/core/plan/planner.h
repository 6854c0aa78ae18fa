/* What planning a program keeps track of. */
#ifndef JOIST_CORE_PLAN_PLANNER_H
#define JOIST_CORE_PLAN_PLANNER_H

#include "core/plan/groups.h"

/* One of the forms of a value in the group being planned. */
struct joist_form {
  joist_value_id value;
  joist_dtype wanted, compute;
  struct joist_ref ref;
  uint32_t next; /* another form of the value: 1 + its number, 0 for none */
};

struct joist_planner {
  struct joist_plan *plan;
  const struct joist_program *program;
  uint32_t *group_of;       /* per value: the group that computes it, NO_GROUP for inputs */
  uint32_t *buckets;        /* elementwise groups by level and shape: 1 + the latest of that hash */
  uint32_t bucket_mask;     /* number of buckets, less one */
  uint32_t *same_bucket;    /* per group: 1 + the one before it in its bucket */
  uint32_t *first_in;       /* per group: its first instruction ... */
  uint32_t *last_in;        /* ... and its last so far */
  uint32_t *next_in;        /* per instruction: the next of its group, NO_GROUP for none */
  struct joist_form *forms; /* of the current group */
  uint32_t *form_of;        /* per value: 1 + its latest form there, 0 for none */
  uint32_t form_count;
  bool *viewed; /* per value: a move that groups read through; of its run, checks alone are left */
  struct joist_group *group;
  bool apart; /* nothing is fused */
};
#endif
