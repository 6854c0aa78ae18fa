/* The inside of a plan; private to plan.c, engine.c, reduce.c and the devices. */
#ifndef JOIST_CORE_PLAN_H
#define JOIST_CORE_PLAN_H

#include "core/convert.h"
#include "core/engine.h"
#include "core/kernels.h"

enum { JOIST_REFS_MAX = JOIST_ARITY_MAX, JOIST_ELEMENT_MAX = 16 };

/* Where a step reads or writes: a whole array (number of its value; the tile's part is
 * used) or a slot of the thread's arena. */
struct joist_ref {
  bool array;
  uint32_t index;
  uint32_t size; /* bytes per element */
  joist_dtype dtype;
};

typedef enum {
  JOIST_STEP_KERNEL,  /* one elementwise kernel */
  JOIST_STEP_CONVERT, /* one conversion kernel */
  JOIST_STEP_COPY,    /* the same bytes */
  JOIST_STEP_GATHER,  /* a broadcast operand, laid out along the tile */
  JOIST_STEP_SPLAT,   /* a scalar operand, converted and repeated; once per thread */
  JOIST_STEP_FOLD     /* a tile folded to partial results of a sink */
} joist_step_kind;

struct joist_step {
  joist_step_kind kind;
  joist_kernel *kernel; /* FOLD: joins two rows */
  joist_fold *fold;
  joist_rows *rows;
  joist_convert_kernel *convert[2]; /* SPLAT has two, NULL for none */
  joist_dtype through;              /* SPLAT: the dtype between the two */
  uint32_t operand_count;
  struct joist_ref in[JOIST_REFS_MAX];
  struct joist_ref out; /* FOLD: its dtype is the accumulator's, the rest is unused */
  uint32_t instruction; /* for messages; FOLD: the reduction */
  uint32_t sink;        /* FOLD: number of the sink within its group */
  bool leaves;          /* what it writes is not read again by its group, and costs little */
};

/* Reductions are sinks of elementwise groups. */
typedef enum { JOIST_GROUP_ELEMENTWISE, JOIST_GROUP_ARRAY } joist_group_kind;

/* What the sinks of a group make of its index space: element (i, m, o) of (inner, middle,
 * outer), column-major, goes into result (i, o). `middle` is cut into chunks whose length
 * depends on the space alone; each gives a result of its own, and a reduction over what is
 * left of the dims joins them. */
struct joist_fold_space {
  size_t inner, middle, outer;
};

struct joist_group {
  joist_group_kind kind;
  uint32_t level;
  struct joist_shape shape; /* of the index space that is looped over */
  size_t count;             /* its elements */
  uint32_t instruction;     /* the first; the one of an ARRAY group */
  uint32_t first_step, step_count;
  uint32_t sink_count;
  struct joist_fold_space space; /* of all its sinks */
  bool decidable;                /* it computes one bool, which one element can decide */
  uint32_t work;                 /* cost of one element, an addition being 1 */
  size_t tile;                   /* elements per tile */
  size_t room;                   /* elements per slot: tile rounded up, so that slots are aligned */
  size_t arena_bytes;            /* per thread */
};

struct joist_plan {
  const struct joist_program *program;
  struct joist_group *groups;
  struct joist_step *steps;
  uint32_t *slot_offset; /* of every slot: bytes per tile element before it */
  uint32_t group_count, step_count, slot_count;
  /* Per value: whether it has an array, and where; see storage.c. */
  bool *materialized;
  uint32_t *root; /* the value whose array it is: another one for a reshaped value */
  uint32_t *home; /* number of the output whose array it is in, JOIST_NO_HOME for scratch */
  bool *waits;    /* that output is another value, written later */
  size_t *offset; /* in scratch */
  size_t scratch_bytes;
};
#define JOIST_NO_HOME UINT32_MAX

/* Decides where arrays live, when the groups are in their order; `root` is given. */
joist_status joist_storage_plan(struct joist_plan *plan,
                                struct joist_error *error) JOIST_MUST_CHECK;

/* The array of every value that has one: in inputs, outputs or `scratch`, of scratch_bytes. */
void joist_plan_place(const struct joist_plan *plan, const void *const *inputs,
                      void *const *outputs, char *scratch, void **arrays);

/* Runs one group on arrays in memory, one per value that has one. */
joist_status joist_group_run(const struct joist_plan *plan, const struct joist_group *group,
                             void *const *arrays, const struct joist_run *run,
                             struct joist_error *error) JOIST_MUST_CHECK;

/* Runs the steps of an elementwise group over its index space. `accumulated` has, per sink,
 * room for one value of the accumulator's dtype per inner x chunk x outer; NULL without sinks. */
joist_status joist_tiles_run(const struct joist_plan *plan, const struct joist_group *group,
                             void *const *arrays, char *const *accumulated,
                             const struct joist_run *run,
                             struct joist_error *error) JOIST_MUST_CHECK;

/* The tile for sinks of a space, from one that would do for elements alone. */
size_t joist_fold_tile(struct joist_fold_space space, size_t tile);
/* Number of elements along `middle` that are joined before anything else. */
size_t joist_fold_chunk(struct joist_fold_space space);
size_t joist_fold_chunks(struct joist_fold_space space);

/* What a failing element of an instruction is reported as; `position` counts from 0. */
joist_status joist_value_error(const struct joist_program *program, uint32_t instruction,
                               size_t position, struct joist_error *error);

/* How the first pass of a reduction sees its operand. */
struct joist_fold_space joist_reduction_space(const struct joist_program *program,
                                              const struct joist_instruction *instruction);

/* From what the first pass left, (inner, chunks, outer) values of the accumulator's dtype, to
 * the result. `accumulated` is overwritten. */
joist_status joist_reduction_finish(const struct joist_program *program,
                                    const struct joist_instruction *instruction, char *accumulated,
                                    void *out, const struct joist_run *run,
                                    struct joist_error *error) JOIST_MUST_CHECK;

#endif
