/* From a group of a plan to steps on registers, each of which is written once: what every device
 * that generates code begins with. Knows no device. */
#ifndef JOIST_CORE_CODEGEN_LOWER_H
#define JOIST_CORE_CODEGEN_LOWER_H

#include "core/codegen/steps.h"
#include "core/plan/groups.h"

enum {
  JOIST_CODE_STEPS = 512,
  JOIST_CODE_ARRAYS = 128,
  JOIST_CODE_GATHERS = 32,
  JOIST_CODE_PARTIAL = 1 << 30 /* not the array of a value: partial results of a sink */
};

struct joist_code {
  uint32_t step_count, array_count, gather_count, rank, sink_count, register_count;
  uint32_t flag_count; /* set by steps that watch */
  bool checked;        /* a step can fail */
  bool rows;           /* the sinks have a result per row, not one for all elements */
  struct joist_code_step steps[JOIST_CODE_STEPS];
  uint32_t instruction[JOIST_CODE_STEPS]; /* of KERNEL, FOLD and steps that set flags */
  uint32_t array[JOIST_CODE_ARRAYS];      /* number of a value, or PARTIAL + number of a sink */
  int64_t base[JOIST_CODE_ARRAYS];        /* the element of it that is read as the first */
  int64_t stride[JOIST_CODE_GATHERS][JOIST_RANK_MAX];
  int64_t along[JOIST_CODE_GATHERS]; /* of TAKE */
  uint64_t extent[JOIST_RANK_MAX];
};

/* Registers that a step reads: the first of `in`. And whether it writes one. */
int joist_code_reads(const struct joist_code_step *step);
bool joist_code_writes(const struct joist_code_step *step);

/* How a group is lowered. `given` says of each value whether the parameter has its only element in
 * the place of a pointer; NULL when none is. Where `folds_widen`, a FOLD reads elements of dtype
 * `from` and accumulates in `to`; else its operand is converted first. */
struct joist_code_options {
  const bool *given;
  bool folds_widen;
  bool coarse; /* flags by digits alone, of sums, too; without it, their sinks are watched elsewhere
                */
  bool watches; /* values that do not fit set flags; else groups that are watched are not lowered */
};

/* False when the group is too long for the tables of `code`. */
bool joist_code_lower(const struct joist_plan *plan, const struct joist_group *group,
                      struct joist_code_options options, struct joist_code *code);

#endif
