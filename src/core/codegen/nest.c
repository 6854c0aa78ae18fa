/* Laying out a nest. */
#include "core/codegen/nest.h"

#include "core/base/bits.h"

/* Adds the bodies of a group, and those inside them. */
static bool add_bodies(struct joist_nest *nest, uint32_t parent, uint32_t group) {
  const struct joist_plan *const plan = nest->body[parent].plan;
  const struct joist_group *const own = &plan->groups[group];
  const struct joist_instruction *const i = &plan->program->instructions[own->instruction];
  for (uint32_t r = 0; r < i->region_count; r++) {
    if (nest->count == JOIST_NEST_MAX) return false;
    const uint32_t number = nest->count++;
    struct joist_nest_body *const body = &nest->body[number];
    const struct joist_plan *const inner = plan->bodies[own->first_body + r];
    const struct joist_program *const program = inner->program;
    *body = (struct joist_nest_body){
        .plan = inner, .parent = parent, .group = group, .region = r, .slots = nest->bytes};
    for (uint32_t v = 0; v < program->value_count; v++)
      if (joist_value_count(&program->values[v]) == 0) return false;
    nest->bytes +=
        joist_round_up((size_t)program->value_count * JOIST_NEST_SLOT, JOIST_NEST_ALIGNMENT);
    body->scratch = nest->bytes;
    nest->bytes += joist_round_up(inner->scratch_bytes, JOIST_NEST_ALIGNMENT);
    body->spare = nest->bytes;
    if (i->op != JOIST_OP_IF && r + 1 == i->region_count)
      for (uint32_t k = 0; k < joist_region_parts(plan->program, i).carries; k++)
        nest->bytes += joist_round_up(joist_value_bytes(&plan->program->values[i->result + k]),
                                      JOIST_NEST_ALIGNMENT);
    for (uint32_t g = 0; g < inner->group_count; g++)
      if (!add_bodies(nest, number, g)) return false;
  }
  return true;
}

bool joist_nest_make(const struct joist_plan *plan, const struct joist_group *group,
                     struct joist_nest *nest) {
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  nest->count = 1;
  nest->bytes = 0;
  nest->body[0] = (struct joist_nest_body){.plan = plan};
  for (uint32_t k = 0; k < i->operand_count; k++)
    if (joist_value_count(&plan->program->values[i->operand[k]]) == 0) return false;
  return add_bodies(nest, 0, (uint32_t)(group - plan->groups));
}

bool joist_nest_is_known(const struct joist_nest *nest, uint32_t body, joist_value_id value,
                         double *number) {
  for (;;) {
    const struct joist_nest_body *const own = &nest->body[body];
    const struct joist_value *const known = &own->plan->program->values[own->plan->root[value]];
    *number = known->number;
    if (known->known || body == 0 || known->input == JOIST_NO_INPUT) return known->known;
    const struct joist_plan *const outer = nest->body[own->parent].plan;
    const struct joist_instruction *const i =
        &outer->program->instructions[outer->groups[own->group].instruction];
    const struct joist_region_parts parts = joist_region_parts(outer->program, i);
    const uint32_t given = parts.inputs[own->region] - parts.captures[own->region];
    if (known->input < given) return false;
    value = i->operand[parts.first + parts.carries + parts.arrays +
                       (own->region == 0 ? 0 : parts.captures[0]) + known->input - given];
    body = own->parent;
  }
}

uint32_t joist_nest_find(const struct joist_nest *nest, uint32_t parent, uint32_t group,
                         uint32_t region) {
  uint32_t found = 0;
  for (uint32_t b = 1; b < nest->count; b++)
    if (nest->body[b].parent == parent && nest->body[b].group == group &&
        nest->body[b].region == region)
      found = b;
  return found;
}
