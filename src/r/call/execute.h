/* Running a program for R: of one operation, of one that missing values made several, or a compiled
 * one. */
#ifndef JOIST_R_EXECUTE_H
#define JOIST_R_EXECUTE_H

#include "core/plan/plan.h"
#include "r/memory/run.h"
#include "r/tensor/operands.h"
#include "r/trace/found.h"

struct joist_r_execution {
  const struct joist_device *device;
  const struct joist_program *program;
  const struct joist_plan *plan; /* of a compiled program; NULL to plan it for this run */
  const void *const *inputs;     /* the elements of each input, on the device */
  struct joist_run run;
  bool watched;
  struct joist_r_found **found; /* of a compiled program; NULL for others */
  /* A list with an element for each output, which the caller protects: NULL, or a payload to write
   * to. The first `tensors` of them become tensors, with the dim attribute of one of `values`. */
  SEXP outputs;
  uint32_t tensors;
  const struct joist_r_value *values;
  size_t value_count;
  /* Called with tensors in `outputs`, before anything is told: gives them their names. */
  void (*finish)(const struct joist_r_execution *execution, const void *context);
  const void *context;
  SEXP lines, policy; /* as joist_r_tell_findings() needs them */
};

/* Allocates the outputs, runs the program, makes tensors of the outputs, and tells of values that
 * did not fit. May run R code. */
void joist_r_execute(const struct joist_r_execution *execution);

#endif
