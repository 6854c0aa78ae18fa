/* Values of a trace that have got other numbers since their tensors were made: the results of an
 * instruction that another one replaces. */
#ifndef JOIST_R_MOVED_H
#define JOIST_R_MOVED_H

#include "core/program/program.h"
#include "r/base/sexp.h"

/* `count` values from `from` on are those from `to` on by now. */
struct joist_r_move {
  joist_value_id from, to;
  uint32_t count;
};

/* The first member of a trace, in the order in which values moved. */
struct joist_r_moves {
  struct joist_r_move *move;
  uint32_t count, capacity;
};

/* The tag of the external pointers to traces. */
SEXP joist_r_trace_tag(void);

/* The number that a value has by now. `pointer` may be any external pointer. */
joist_value_id joist_r_moved(SEXP pointer, joist_value_id value);

#endif
