/* Leaving out what was told. */
#include "r/trace/found.h"

#include <stdlib.h>

#include "core/program/watch.h"
#include "core/types/error.h"

/* The program or body that `copy` has the copy `wanted` of. */
static const struct joist_program *original(const struct joist_program *program,
                                            const struct joist_program *copy, const void *wanted) {
  const struct joist_program *found = copy == wanted ? program : NULL;
  for (uint32_t k = 0; k < program->instruction_count && found == NULL; k++)
    for (uint32_t r = 0; r < program->instructions[k].region_count && found == NULL; r++)
      found =
          original(program->instructions[k].regions[r], copy->instructions[k].regions[r], wanted);
  return found;
}

void joist_r_note_findings(struct joist_r_found **found, const struct joist_program *program,
                           const struct joist_program *ran, struct joist_tally *tally) {
  if (*found == NULL) *found = calloc(1, sizeof **found);
  struct joist_r_found *const f = *found;
  for (size_t k = 0; f != NULL && k < tally->count; k++) {
    struct joist_finding *const new = &tally->found[k];
    new->program = original(program, ran, new->program);
    uint32_t at = 0;
    while (at < f->count &&
           (f->findings[at].program != new->program || f->findings[at].kind != new->kind ||
            f->findings[at].instruction != new->instruction))
      at++;
    if (at < JOIST_TALLY_MOST) f->findings[at] = *new;
    if (at == f->count && at < JOIST_TALLY_MOST) f->count++;
  }
}

static void clear(struct joist_r_found *f) {
  joist_plan_free(f->plan);
  joist_arena_clear(&f->arena);
  f->plan = NULL;
  f->told = 0;
}

bool joist_r_leaves_out(struct joist_r_found *f, const struct joist_program *program, SEXP lines,
                        SEXP asked) {
  struct joist_finding left_out[JOIST_TALLY_MOST];
  const uint32_t told = f != NULL ? joist_r_told_among(f->findings, f->count, lines, asked) : 0;
  uint32_t count = 0;
  for (uint32_t k = 0; told != 0 && k < f->count; k++)
    if ((told >> k & 1) != 0) left_out[count++] = f->findings[k];
  if (count == 0 || (f->told & ~told) != 0) return false;
  if (f->told == told || f->running > 0) return f->told != 0;
  clear(f);
  struct joist_error error;
  f->program = joist_program_unwatched(program, left_out, count, &f->arena);
  if (f->program == NULL || joist_plan_make(f->program, &f->plan, &error) != JOIST_OK) return false;
  f->told = told;
  return true;
}

void joist_r_found_free(struct joist_r_found *f) {
  if (f != NULL) clear(f);
  free(f);
}
