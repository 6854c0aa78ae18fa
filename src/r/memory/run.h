/* Running what the core computes from R. */
#ifndef JOIST_R_RUN_H
#define JOIST_R_RUN_H

#include "core/base/run.h"
#include "core/device.h"

/* Threads, interrupt polling and prints for a run of the engine. */
struct joist_run joist_r_run(void);

/* Sets what runs call for a print: the print of struct joist_run. */
typedef bool joist_r_print(void *context, const struct joist_call *call);
void joist_r_print_by(joist_r_print *function);

/* Whether programs are compiled unless jit(native =) says otherwise. */
joist_native_policy joist_r_native_policy(void);
void joist_r_set_native_policy(joist_native_policy policy);

/* Runs a plan; R's collector runs when memory is out, and then it is tried again. */
joist_status joist_r_run_plan(const struct joist_device *device, const struct joist_plan *plan,
                              const void *const *inputs, void *const *outputs, struct joist_run run,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* The same where instructions are watched: what they report is in `tally`. What a run of fused or
 * compiled code only suspects not to fit, a second run counts. */
joist_status joist_r_run_watched(const struct joist_device *device, const struct joist_plan *plan,
                                 const struct joist_program *program, const void *const *inputs,
                                 void *const *outputs, struct joist_run run,
                                 struct joist_tally *tally,
                                 struct joist_error *error) JOIST_MUST_CHECK;

#endif
