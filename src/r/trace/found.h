/* What runs of a compiled program found of values that did not fit: where it was told of, they need
 * not look for it. */
#ifndef JOIST_R_FOUND_H
#define JOIST_R_FOUND_H

#include "core/plan/plan.h"
#include "r/base/findings.h"

/* What runs of a compiled program found, and the program that runs where it was told of. */
struct joist_r_found {
  struct joist_finding findings[JOIST_TALLY_MOST];
  uint32_t count;
  uint32_t told;    /* a bit for each that `program` is not watched for */
  uint32_t running; /* runs of the program that are under way */
  struct joist_arena arena;
  const struct joist_program *program;
  struct joist_plan *plan;
};

/* Notes what a run of `ran` found, which is `program` or found->program, as findings of `program`.
 * `*found` may be NULL, and stays so without memory. */
void joist_r_note_findings(struct joist_r_found **found, const struct joist_program *program,
                           const struct joist_program *ran, struct joist_tally *tally);
/* Whether some of what runs of `program` found was told of at this place, so that found->program
 * gives the same and tells as much. Runs R code. */
bool joist_r_leaves_out(struct joist_r_found *found, const struct joist_program *program,
                        SEXP lines, SEXP policy);
void joist_r_found_free(struct joist_r_found *found);

#endif
