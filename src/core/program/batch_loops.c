/* Loops and branches for many slices at once: see batch.h.
 *
 * Where slices part, some run code that they would not run alone. If that code can fail, or end
 * late, they run it with what another slice has, one that does run it. */
#include "core/program/batch_loops.h"

#include <stdlib.h>
#include <string.h>

#include "core/program/batch_flow.h"
#include "core/program/regions.h"
#include "core/types/error.h"

static void fail(struct batching *b) {
  if (b->status == JOIST_OK) b->status = JOIST_FAIL(b->error, JOIST_E_OUT_OF_MEMORY);
}

/* ---- bodies under way ---- */

/* A program that is to be a body, with a builder for it. */
struct body {
  struct batching b;
  joist_value_id *input, *output; /* its inputs, and room for outputs */
  bool *varies;                   /* of the inputs */
  uint32_t inputs;
};

/* Room for so many inputs and outputs; not valid after a failure. */
static void begin(struct body *body, struct batching *outer, size_t inputs, size_t outputs) {
  memset(body, 0, sizeof *body);
  body->b = (struct batching){.batch = outer->batch,
                              .source = outer->source,
                              .status = outer->status,
                              .error = outer->error};
  body->b.program = malloc(sizeof *body->b.program);
  body->input = calloc(inputs + outputs + 1, sizeof *body->input);
  body->varies = calloc(inputs + 1, sizeof *body->varies);
  if (body->b.program != NULL) joist_program_init(body->b.program);
  if (body->b.program == NULL || body->input == NULL || body->varies == NULL) {
    fail(&body->b);
    return;
  }
  body->output = body->input + inputs;
}

/* An input like a value, with a dim of slices besides or without its last dim. */
static joist_value_id add_input(struct body *body, const struct joist_value *like, bool varies,
                                int dims_more) {
  if (body->b.status != JOIST_OK) return 0;
  struct joist_shape shape = like->shape;
  if (dims_more > 0) shape = joist_batch_longer(&body->b, &shape, body->b.batch->extent);
  if (dims_more < 0) shape.rank--;
  joist_value_id made = 0;
  if (body->b.status == JOIST_OK)
    body->b.status =
        joist_program_add_input(body->b.program, like->type, &shape, &made, body->b.error);
  body->varies[body->inputs] = varies;
  body->input[body->inputs++] = made;
  return made;
}

static void add_output(struct body *body, joist_value_id value) {
  if (body->b.status == JOIST_OK)
    body->b.status = joist_program_add_output(body->b.program, value, body->b.error);
}

/* What another program gives for some values here. */
static void batch_into(struct batching *b, const struct joist_program *from,
                       const joist_value_id *inputs, const bool *varies, joist_value_id *outputs,
                       const bool *outputs_vary) {
  if (b->status == JOIST_OK)
    b->status = joist_program_batch(b->program, from, b->batch, inputs, varies, outputs,
                                    outputs_vary, b->error);
}

/* The body as a program, which the caller owns; NULL after a failure, which is passed on. */
static struct joist_program *end(struct body *body, struct batching *outer) {
  struct joist_program *made = body->b.program;
  if (body->b.status != JOIST_OK && made != NULL) {
    joist_program_clear(made);
    free(made);
    made = NULL;
  }
  if (outer->status == JOIST_OK) outer->status = body->b.status;
  free(body->input);
  free(body->varies);
  return made;
}

static void drop(struct joist_program *body) {
  if (body == NULL) return;
  joist_program_clear(body);
  free(body);
}

/* Adds an operation with bodies, which are owned by it from then on; gives its first result. */
static joist_value_id add_bodies(struct batching *b, joist_op op, const joist_value_id *ids,
                                 size_t n, const struct joist_attributes *attributes,
                                 struct joist_program *one, struct joist_program *two) {
  struct joist_program *const bodies[] = {one, two};
  joist_value_id made = 0;
  if (b->status != JOIST_OK || one == NULL || (joist_operation(op)->regions > 1 && two == NULL)) {
    drop(one);
    drop(two);
    fail(b);
    return 0;
  }
  b->status = joist_program_add_regions(b->program, op, ids, n, attributes, b->source, bodies,
                                        &made, b->error);
  return b->status == JOIST_OK ? made : 0;
}

/* ---- slices that do not run code ---- */

/* Whether slices must not run it with what they have. */
static bool is_unsafe(const struct joist_program *body) {
  for (uint32_t k = 0; k < body->instruction_count; k++) {
    const struct joist_instruction *const i = &body->instructions[k];
    if (i->op == JOIST_OP_WHILE || joist_can_fail(i)) return true;
    for (uint32_t r = 0; r < i->region_count; r++)
      if (is_unsafe(i->regions[r])) return true;
    switch (i->op) {
      case JOIST_OP_MATMUL:
      case JOIST_OP_SORT:
      case JOIST_OP_ARGSORT:
      case JOIST_OP_TOP_K:
      case JOIST_OP_ARGMIN:
      case JOIST_OP_ARGMAX:
        continue;
      default:
        break;
    }
    const bool array = joist_operation(i->op)->family == JOIST_FAMILY_ARRAY;
    if (array && (joist_op_work(i->op) != JOIST_WORK_MOVE || i->op == JOIST_OP_PRINT)) return true;
  }
  return false;
}

/* For each slice the number of one for which a flag holds: its own, if that does. */
static joist_value_id stand_ins(struct batching *b, joist_value_id flags) {
  const struct joist_type type = {JOIST_I32, false};
  const uint32_t extent = b->batch->extent;
  struct joist_attributes attributes = joist_batch_none;
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, 0);
  const joist_value_id any =
      joist_batch_converted(b, joist_batch_emit(b, JOIST_OP_ARGMAX, &flags, 1, &attributes), type);
  const joist_value_id choice[] = {flags, joist_batch_numbers(b, JOIST_I32, 1, 1, extent), any};
  return joist_batch_emit(b, JOIST_OP_IFELSE, choice, 3, &joist_batch_none);
}

/* In place of values with slices what those have that are at positions. */
static void stand_in(struct batching *b, joist_value_id at, joist_value_id *values,
                     const bool *varies, size_t n) {
  for (size_t k = 0; k < n && b->status == JOIST_OK; k++)
    if (varies[k])
      values[k] = joist_batch_gathered(b, values[k], at, batch_value(b, values[k])->shape.rank - 1);
}

/* ---- loops ---- */

/* The operands of an instruction as they are for slices: carries as its results are. */
static void operands_of(struct batching *b, const struct joist_instruction *i, uint32_t first,
                        uint32_t carries, joist_value_id *ids) {
  for (uint32_t k = 0; k < i->operand_count; k++) {
    const joist_value_id v = i->operand[k];
    const bool carry = k >= first && k < first + carries && b->varies[i->result + k - first];
    ids[k] = carry ? joist_batch_varying(b, v) : b->value[v];
  }
}

/* A body of a loop for slices: with inputs for `given` operands from `first` on, the first
 * `carries` of which vary as results do, and captures from `capture` on. */
static struct joist_program *loop_body(struct batching *b, const struct joist_instruction *i,
                                       const struct joist_region_parts *parts, uint32_t r,
                                       uint32_t capture, const joist_value_id *ids,
                                       const bool *outputs_vary) {
  const struct joist_program *const from = i->regions[r];
  struct body body;
  begin(&body, b, from->input_count, from->output_count);
  if (i->op == JOIST_OP_FOR) (void)add_input(&body, &from->values[0], false, 0);
  for (uint32_t k = 0; k < parts->carries + parts->arrays; k++) {
    const bool carry = k < parts->carries;
    const bool varies = b->varies[carry ? i->result + k : i->operand[parts->first + k]];
    (void)add_input(&body, batch_value(b, ids[parts->first + k]), varies, carry ? 0 : -1);
  }
  for (uint32_t k = 0; k < parts->captures[r]; k++)
    (void)add_input(&body, batch_value(b, ids[capture + k]), b->varies[i->operand[capture + k]], 0);
  batch_into(&body.b, from, body.input, body.varies, body.output, outputs_vary);
  for (uint32_t k = 0; k < from->output_count; k++) add_output(&body, body.output[k]);
  return end(&body, b);
}

/* A while or for whose number of turns is one for all slices, or a scan. */
static void loop(struct batching *b, const struct joist_instruction *i,
                 const struct joist_region_parts *parts, joist_value_id *ids) {
  struct joist_program *bodies[2] = {NULL, NULL};
  uint32_t capture = parts->first + parts->carries + parts->arrays;
  operands_of(b, i, parts->first, parts->carries, ids);
  for (uint32_t k = 0; k < parts->arrays; k++) {
    const uint32_t at = parts->first + parts->carries + k;
    if (b->varies[i->operand[at]]) ids[at] = joist_batch_turned(b, ids[at]);
  }
  for (uint32_t r = 0; r < i->region_count; r++) {
    const bool condition = i->op == JOIST_OP_WHILE && r == 0;
    bodies[r] = loop_body(b, i, parts, r, capture, ids, condition ? NULL : b->varies + i->result);
    capture += parts->captures[r];
  }
  const joist_value_id made =
      add_bodies(b, i->op, ids, i->operand_count, i->attributes, bodies[0], bodies[1]);
  for (uint32_t k = 0; k < i->result_count && b->status == JOIST_OK; k++) {
    b->value[i->result + k] = made + k;
    if (i->op == JOIST_OP_SCAN && k >= parts->carries && b->varies[i->result + k])
      b->value[i->result + k] = joist_batch_turned(b, made + k);
  }
}

/* The condition of a loop that runs while a flag of a slice holds; the flags are its first carry.
 */
static struct joist_program *any_left(struct batching *b, const joist_value_id *carries,
                                      uint32_t n) {
  struct body body;
  begin(&body, b, n, 1);
  for (uint32_t k = 0; k < n; k++) (void)add_input(&body, batch_value(b, carries[k]), true, 0);
  add_output(&body, joist_batch_fold(&body.b, JOIST_OP_REDUCE_ANY, body.input[0]));
  return end(&body, b);
}

/* A while or for whose end is another one for each slice. Its carries are flags of the slices that
 * go on, the number of turns so far of a for, and those of the loop; its captures are those of the
 * loop and the number of turns. */
struct parting {
  const struct joist_instruction *i;
  const struct joist_region_parts *parts;
  bool counts;        /* a for */
  uint32_t lead;      /* carries before those of the loop */
  uint32_t condition; /* captures of the condition */
};

/* Which slices go on, with a state of theirs; `captures` has those of the condition. */
static joist_value_id go_on(struct batching *b, const struct parting *p, joist_value_id turn,
                            const joist_value_id *state, const joist_value_id *captures,
                            const bool *captured) {
  if (p->counts) return joist_batch_emit2(b, JOIST_OP_LT, turn, captures[0]);
  const struct joist_program *const condition = p->i->regions[0];
  const uint32_t n = p->parts->carries;
  joist_value_id *const inputs = calloc(condition->input_count + 1, sizeof *inputs), holds = 0;
  bool *const varies = calloc(condition->input_count + 1, sizeof *varies);
  static const bool yes = true;
  if (inputs == NULL || varies == NULL) fail(b);
  for (uint32_t k = 0; k < condition->input_count && b->status == JOIST_OK; k++) {
    inputs[k] = k < n ? state[k] : captures[k - n];
    varies[k] = k < n || captured[k - n];
  }
  batch_into(b, condition, inputs, varies, &holds, &yes);
  free(inputs);
  free(varies);
  return holds;
}

static struct joist_program *parting_body(struct batching *b, const struct parting *p,
                                          const joist_value_id *ids, const bool *varies,
                                          uint32_t count) {
  const struct joist_program *const from = p->i->regions[p->i->region_count - 1];
  const uint32_t n = p->parts->carries, own = from->input_count - n - p->counts;
  const joist_value_id *state;
  struct body body;
  begin(&body, b, count, from->output_count);
  for (uint32_t k = 0; k < count; k++) (void)add_input(&body, batch_value(b, ids[k]), varies[k], 0);
  joist_value_id *const given = calloc(2 * (size_t)from->input_count + 2, sizeof *given);
  bool *const flags = calloc(2 * (size_t)from->input_count + 2, sizeof *flags);
  if (given == NULL || flags == NULL) fail(&body.b);
  if (body.b.status == JOIST_OK) {
    const joist_value_id going = body.input[0];
    const joist_value_id turn =
        p->counts ? joist_batch_emit2(&body.b, JOIST_OP_ADD, body.input[1],
                                      joist_batch_number(&body.b, batch_value(b, ids[1])->type, 1))
                  : 0;
    state = body.input + p->lead;
    const joist_value_id *const captures = state + n + p->condition;
    bool *const all = flags + from->input_count + 1;
    for (uint32_t k = 0; k < n; k++) all[k] = true;
    if (p->counts) given[0] = joist_batch_converted(&body.b, turn, from->values[0].type);
    memcpy(given + p->counts, state, n * sizeof *given);
    memcpy(given + p->counts + n, captures, own * sizeof *given);
    for (uint32_t k = 0; k < n; k++) flags[p->counts + k] = true;
    for (uint32_t k = 0; k < own; k++)
      flags[p->counts + n + k] = body.varies[p->lead + n + p->condition + k];
    if (is_unsafe(from))
      stand_in(&body.b, stand_ins(&body.b, going), given, flags, from->input_count);
    batch_into(&body.b, from, given, flags, body.output, all);
    for (uint32_t k = 0; k < n; k++)
      body.output[k] = joist_batch_either(&body.b, going, body.output[k], state[k]);
    const joist_value_id next =
        go_on(&body.b, p, turn, body.output, state + n, body.varies + p->lead + n);
    add_output(&body, joist_batch_emit2(&body.b, JOIST_OP_AND, going, next));
    if (p->counts) add_output(&body, turn);
    for (uint32_t k = 0; k < n; k++) add_output(&body, body.output[k]);
  }
  free(given);
  free(flags);
  return end(&body, b);
}

static void parting_loop(struct batching *b, const struct joist_instruction *i,
                         const struct joist_region_parts *parts, joist_value_id *ids) {
  const bool counts = i->op == JOIST_OP_FOR;
  const struct parting p = {i, parts, counts, 1 + counts, counts ? 1 : parts->captures[0]};
  const uint32_t n = parts->carries, captures = i->operand_count - parts->first - n + counts;
  const uint32_t count = p.lead + n + captures;
  joist_value_id *const own = calloc(count + 1, sizeof *own);
  bool *const varies = calloc(count + 1, sizeof *varies);
  if (own == NULL || varies == NULL) fail(b);
  if (b->status == JOIST_OK) {
    const struct joist_type whole = {JOIST_I64, false};
    operands_of(b, i, parts->first, n, ids);
    memcpy(own + p.lead, ids + parts->first, n * sizeof *own);
    for (uint32_t k = 0; k < p.lead + n; k++) varies[k] = !(counts && k == 1);
    if (counts) own[1] = joist_batch_number(b, whole, 0);
    if (counts) own[p.lead + n] = ids[0];
    varies[p.lead + n] = counts;
    for (uint32_t k = counts; k < captures; k++) {
      own[p.lead + n + k] = ids[parts->first + n + k - counts];
      varies[p.lead + n + k] = b->varies[i->operand[parts->first + n + k - counts]];
    }
    own[0] = go_on(b, &p, own[1], own + p.lead, own + p.lead + n, varies + p.lead + n);
    struct joist_program *const condition = any_left(b, own, p.lead + n);
    struct joist_program *const body = parting_body(b, &p, own, varies, count);
    const joist_value_id made =
        add_bodies(b, JOIST_OP_WHILE, own, count, &joist_batch_none, condition, body);
    for (uint32_t k = 0; k < i->result_count && b->status == JOIST_OK; k++)
      b->value[i->result + k] = made + p.lead + k;
  }
  free(own);
  free(varies);
}

/* ---- branches ---- */

/* A branch in a body of its own, for the slices whose flag holds: `ids` has what it captures, and
 * then the flags. */
static struct joist_program *some_branch(struct batching *b, const struct joist_program *from,
                                         const joist_value_id *ids, const bool *varies,
                                         const bool *outputs_vary) {
  const uint32_t n = from->input_count;
  struct body body;
  begin(&body, b, n + 1, from->output_count);
  for (uint32_t k = 0; k < n; k++) (void)add_input(&body, batch_value(b, ids[k]), varies[k], 0);
  const joist_value_id flags = add_input(&body, batch_value(b, ids[n]), true, 0);
  if (body.b.status == JOIST_OK)
    stand_in(&body.b, stand_ins(&body.b, flags), body.input, body.varies, n);
  batch_into(&body.b, from, body.input, body.varies, body.output, outputs_vary);
  for (uint32_t k = 0; k < from->output_count; k++) add_output(&body, body.output[k]);
  return end(&body, b);
}

/* Numbers in place of what a branch gives. */
static struct joist_program *no_branch(struct batching *b, const struct joist_program *from) {
  struct body body;
  begin(&body, b, 0, 0);
  for (uint32_t k = 0; k < from->output_count && body.b.status == JOIST_OK; k++) {
    const struct joist_value *const like = &from->values[from->outputs[k]];
    const struct joist_shape all = joist_batch_longer(&body.b, &like->shape, b->batch->extent);
    const joist_value_id one = joist_batch_number(&body.b, like->type, 1);
    add_output(&body, joist_batch_broadcast(&body.b, one, &all));
  }
  return end(&body, b);
}

/* What a branch gives for the slices whose flag holds, and anything for others. */
static void run_branch(struct batching *b, const struct joist_program *from, joist_value_id *ids,
                       bool *varies, joist_value_id flags, const bool *outputs_vary,
                       joist_value_id *outputs) {
  if (!is_unsafe(from)) {
    batch_into(b, from, ids, varies, outputs, outputs_vary);
    return;
  }
  const uint32_t n = from->input_count;
  joist_value_id *const operands = calloc(n + 2, sizeof *operands);
  if (operands == NULL) fail(b);
  if (b->status == JOIST_OK) {
    operands[0] = joist_batch_fold(b, JOIST_OP_REDUCE_ANY, flags);
    memcpy(operands + 1, ids, n * sizeof *ids);
    operands[n + 1] = flags;
    struct joist_program *const yes = some_branch(b, from, operands + 1, varies, outputs_vary);
    struct joist_program *const no = no_branch(b, from);
    const joist_value_id made =
        add_bodies(b, JOIST_OP_IF, operands, n + 2, &joist_batch_none, yes, no);
    for (uint32_t k = 0; k < from->output_count; k++) outputs[k] = made + k;
  }
  free(operands);
}

static void parting_branches(struct batching *b, const struct joist_instruction *i,
                             const struct joist_region_parts *parts) {
  const uint32_t n = i->result_count;
  joist_value_id *const ids = calloc(i->operand_count + 2 * (size_t)n + 1, sizeof *ids);
  bool *const varies = calloc(i->operand_count + 1, sizeof *varies);
  if (ids == NULL || varies == NULL) fail(b);
  if (b->status == JOIST_OK) {
    joist_value_id *const yes = ids + i->operand_count, *const no = yes + n;
    for (uint32_t k = 0; k < i->operand_count; k++) {
      ids[k] = b->value[i->operand[k]];
      varies[k] = b->varies[i->operand[k]];
    }
    const uint32_t second = 1 + parts->captures[0];
    const bool *const all = b->varies + i->result; /* they all do */
    const joist_value_id flags = ids[0];
    const joist_value_id others = joist_batch_emit1(b, JOIST_OP_NOT, flags);
    run_branch(b, i->regions[0], ids + 1, varies + 1, flags, all, yes);
    run_branch(b, i->regions[1], ids + second, varies + second, others, all, no);
    for (uint32_t k = 0; k < n && b->status == JOIST_OK; k++)
      b->value[i->result + k] = joist_batch_either(b, flags, yes[k], no[k]);
  }
  free(ids);
  free(varies);
}

void joist_batch_bodies(struct batching *b, const struct joist_instruction *i) {
  const struct joist_region_parts parts = joist_region_parts(b->from, i);
  joist_value_id *const ids = calloc(i->operand_count + 1, sizeof *ids);
  bool *const room = calloc(i->operand_count + i->result_count + 2, sizeof *room);
  bool parts_ways = parts.first > 0 && b->varies[i->operand[0]];
  if (ids == NULL || room == NULL) fail(b);
  if (i->op == JOIST_OP_WHILE && b->status == JOIST_OK) {
    for (uint32_t k = 0; k < parts.inputs[0]; k++)
      room[k] = k < parts.carries ? b->varies[i->result + k] : b->varies[i->operand[k]];
    b->status = joist_batch_flow_body(i->regions[0], room, &parts_ways, b->error);
  }
  if (b->status == JOIST_OK && parts_ways && i->op == JOIST_OP_IF)
    parting_branches(b, i, &parts);
  else if (b->status == JOIST_OK && parts_ways)
    parting_loop(b, i, &parts, ids);
  else if (b->status == JOIST_OK)
    loop(b, i, &parts, ids);
  free(ids);
  free(room);
}

/* ---- one slice after the other ---- */

joist_value_id joist_batch_apart(struct batching *b, const struct joist_instruction *i) {
  const uint32_t n = i->operand_count;
  joist_value_id *const ids = calloc(2 * (size_t)n + 1, sizeof *ids), made = 0;
  if (ids == NULL) fail(b);
  if (b->status == JOIST_OK) {
    struct body body;
    uint32_t arrays = 0, at = 0;
    begin(&body, b, n, 0);
    for (uint32_t k = 0; k < n; k++) arrays += b->varies[i->operand[k]];
    for (uint32_t k = 0; k < n; k++) {
      const bool varies = b->varies[i->operand[k]];
      if (varies) ids[at++] = b->value[i->operand[k]];
      if (varies) ids[n + k] = add_input(&body, batch_value(b, ids[at - 1]), false, -1);
    }
    for (uint32_t k = 0; k < n; k++) {
      if (b->varies[i->operand[k]]) continue;
      ids[at++] = b->value[i->operand[k]];
      ids[n + k] = add_input(&body, batch_value(b, ids[at - 1]), false, 0);
    }
    struct joist_instruction own = *i;
    own.missing = 0; /* its mask is outside */
    const joist_value_id first = joist_batch_apply(&body.b, &own, ids + n, i->attributes);
    for (uint32_t r = 0; r < i->result_count; r++) add_output(&body, first + r);
    struct joist_attributes attributes = joist_batch_none;
    joist_attributes_set(&attributes, JOIST_ATTRIBUTE_CARRIES, 0);
    struct joist_program *const scanned = end(&body, b);
    made = add_bodies(b, JOIST_OP_SCAN, ids, n, &attributes, scanned, NULL);
  }
  free(ids);
  return made;
}
