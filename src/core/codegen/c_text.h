/* Source text in C, and the table that it refers to. */
#ifndef JOIST_CORE_CODEGEN_C_TEXT_H
#define JOIST_CORE_CODEGEN_C_TEXT_H

#include "core/program/ops.h"
#include "core/types/dtypes.h"

enum { JOIST_C_FOLDS = 64 };

/* A fold that the code calls: entry of joist_native.folds. */
struct joist_c_fold {
  joist_op combine;
  joist_dtype from, accumulator;
};

struct joist_c_source {
  char *text; /* includes core/codegen/c_prelude.h, defines JOIST_NATIVE_NAME; the caller's */
  struct joist_c_fold fold[JOIST_C_FOLDS];
  uint32_t fold_count;
};

#endif
