/* The inside of a plan: groups of steps, and where arrays live. Private to plan/, cpu/ and the
 * devices. */
#ifndef JOIST_CORE_PLAN_GROUPS_H
#define JOIST_CORE_PLAN_GROUPS_H

#include "core/plan/fold_space.h"
#include "core/plan/view.h"
#include "core/program/program.h"

enum { JOIST_TILE_DIRECT = 16384 }; /* elements of a tile of a group without slots */
enum { JOIST_REFS_MAX = JOIST_ELEMENT_OPERANDS, JOIST_ELEMENT_MAX = 16 };

/* Where a step reads or writes: a whole array (number of its value; the tile's part is
 * used) or a slot of the thread's arena. */
struct joist_ref {
  bool array;
  uint32_t index;
  uint32_t size; /* bytes per element */
  joist_dtype dtype;
  bool repeats; /* a slot that JOIST_STEP_SPLAT fills */
};

typedef enum {
  JOIST_STEP_OPERATION, /* one elementwise operation */
  JOIST_STEP_CONVERT,   /* elements converted to another dtype */
  JOIST_STEP_COPY,      /* the same bytes */
  JOIST_STEP_GATHER,    /* a broadcast or moved operand, laid out along the tile */
  JOIST_STEP_SPLAT,     /* a scalar operand, converted and repeated; once per thread */
  JOIST_STEP_FOLD       /* a tile folded to partial results of a sink */
} joist_step_kind;

/* A function that runs a step; a device that has such functions knows their types. */
typedef void joist_bound(void);

struct joist_step {
  joist_step_kind kind;
  joist_op op;         /* OPERATION */
  joist_dtype through; /* SPLAT: converted to this dtype first, then to the dtype of `out` */
  uint32_t operand_count;
  struct joist_ref in[JOIST_REFS_MAX];
  struct joist_ref out;          /* FOLD: its dtype is the accumulator's, the rest is unused */
  uint32_t instruction;          /* for errors; FOLD: the reduction */
  const struct joist_view *view; /* GATHER; in[1] has its positions, if they are listed */
  uint32_t sink;                 /* FOLD: number of the sink within its group */
  /* What a run reports to its tally: */
  bool counts_wrapped; /* OPERATION, FOLD: results that do not fit */
  bool counts_lost;    /* CONVERT, SPLAT: elements that change; if it converts a rounded result,
                        * they count as results that do not fit */
  bool only_beyond;    /* only those beyond the range of the dtype, as of an ambiguous float */
  bool saturates;      /* OPERATION, CONVERT, SPLAT: such results become the bounds of the dtype */
  bool masked_result;  /* its last operand is the mask of the result, whose elements do not count */
  bool signs_differ;   /* FOLD: of integers with a sign to ones without */
  joist_dtype
      bounds;  /* OPERATION: of the result, if it has fewer bits than it is computed in; FOLD */
  bool leaves; /* what it writes is not read again by its group, and costs little */
  /* Set by a device's bind pass; all 0 in a new plan. */
  joist_bound *bound[4], *looks[4];
  bool fused;                 /* looks[0] writes the results */
  bool passed_over;           /* a fold does its work */
  bool by_number;             /* it reads one element of its second operand */
  bool drops_nan;             /* FOLD with `masked`: NaN is masked, too */
  struct joist_ref masked[3]; /* FOLD with bound[3]: mask, value for what is masked, elements */
};

/* Of the operation itself. */
static inline uint32_t joist_step_operands(const struct joist_step *step) {
  return step->operand_count - step->masked_result;
}

/* Reductions are sinks of elementwise groups. */
typedef enum { JOIST_GROUP_ELEMENTWISE, JOIST_GROUP_ARRAY } joist_group_kind;

/* The head of what a device keeps for a group; the plan frees it. */
struct joist_attached {
  void (*free)(struct joist_attached *attached);
};

struct joist_group {
  joist_group_kind kind;
  uint32_t level;
  struct joist_shape shape; /* of the index space that is looped over */
  size_t count;             /* its elements */
  uint32_t instruction;     /* the first; the one of an ARRAY group */
  uint32_t first_body;      /* of an operation with bodies: its first one's plan */
  uint32_t first_step, step_count;
  uint32_t sink_count;
  struct joist_fold_space space; /* of all its sinks */
  bool bound;                    /* a bind pass has set what its steps are bound to */
  bool decidable;                /* it computes one bool, which one element can decide */
  uint32_t work;                 /* cost of one element, an addition being 1 */
  size_t tile;                   /* elements per tile */
  size_t room;                   /* elements per slot: tile rounded up, so that slots are aligned */
  size_t arena_bytes;            /* per thread */
  struct joist_attached *attached; /* by a device, NULL for nothing */
};

struct joist_plan {
  const struct joist_program *program;
  struct joist_group *groups;
  struct joist_step *steps;
  struct joist_view *views;
  uint32_t view_count;
  uint32_t *slot_offset; /* of every slot: bytes per tile element before it */
  uint32_t group_count, step_count, slot_count;
  struct joist_plan **bodies; /* of operations with bodies, the bodies of each side by side */
  uint32_t body_count;
  /* Per value: whether it has an array, and where; see storage.c. */
  bool *materialized;
  uint32_t *root; /* the value whose array it is: another value if reshaped */
  uint32_t *home; /* number of the output whose array it is in, JOIST_NO_HOME for scratch */
  bool *waits;    /* that output is another value, written later */
  uint32_t *over; /* the array that its group writes it over, where both are in one place; else
                   * JOIST_NO_VALUE: see joist_carry_is_in_place() */
  size_t *offset; /* in scratch */
  size_t scratch_bytes;
};
#define JOIST_NO_HOME UINT32_MAX

#endif
