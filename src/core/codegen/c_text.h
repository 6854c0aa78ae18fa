/* Source text in C, and the table that it refers to. */
#ifndef JOIST_CORE_CODEGEN_C_TEXT_H
#define JOIST_CORE_CODEGEN_C_TEXT_H

#include "core/program/ops.h"
#include "core/types/dtypes.h"

enum { JOIST_C_FOLDS = 64, JOIST_C_LOST = 64 };

/* A fold that the code calls: entry of joist_native.folds. */
struct joist_c_fold {
  joist_op combine;
  joist_dtype from, accumulator;
};

/* An instruction of a body of the nest whose values that do not fit are counted: entry of
 * joist_native.lost. */
struct joist_c_lost {
  uint32_t body, instruction;
  bool converts; /* what is converted does not fit; otherwise results */
};

struct joist_c_source {
  char *text; /* includes core/codegen/c_prelude.h, defines JOIST_NATIVE_NAME; the caller's */
  struct joist_c_fold fold[JOIST_C_FOLDS];
  uint32_t fold_count;
  struct joist_c_lost lost[JOIST_C_LOST];
  uint32_t lost_count;
};

#endif
