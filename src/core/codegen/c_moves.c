/* Operations that move elements, as loops: by the walks that the interpreter takes, too. */
#include "core/codegen/c_moves.h"

#include <stdio.h>

#include "core/base/parallel.h"
#include "core/codegen/c_elements.h"
#include "core/ops/move/move_ops.h"
#include "core/ops/move/walk.h"
#include "core/types/shape.h"

/* A place that elements are read from or written to. */
struct side {
  struct name name; /* a variable, or an array */
  bool scalar;
  const char *type;
};

static struct side side_of(const struct writer *w, uint32_t b, joist_value_id v) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  return (struct side){joist_c_name_of(w, b, v), is_scalar(plan, v), type_of_value(plan, v)};
}

static void add_place(struct writer *w, const struct side *side, const char *array,
                      const int64_t *stride, int rank) {
  if (side->scalar) {
    ADD("%s", side->name.text);
    return;
  }
  ADD("%s[0", array);
  for (int d = 0; d < rank; d++)
    if (stride[d] != 0) ADD(" + i%d * %lld", d, (long long)stride[d]);
  ADD("]");
}

/* `name`, a pointer to the first element. */
static void add_pointer(struct writer *w, const struct side *side, const char *name, bool written) {
  ADD("%s%s *const %s = %s%s;\n", written ? "" : "const ", side->type, name,
      side->scalar ? "&" : "", side->name.text);
}

/* out = the elements of `in`, along a walk; `convert` is a function, or "". */
static void add_walk(struct writer *w, const struct joist_walk *walk, const struct side *in,
                     const struct side *out, const char *convert) {
  if (walk->count == 0) return;
  ADD("{\n");
  if (!in->scalar)
    ADD("const %s *const x = (const %s *)%s + %lld;\n", in->type, in->type, in->name.text,
        (long long)walk->in_base);
  if (!out->scalar)
    ADD("%s *const z = (%s *)%s + %lld;\n", out->type, out->type, out->name.text,
        (long long)walk->out_base);
  for (int d = walk->rank; d-- > 0;)
    ADD("%sfor (ptrdiff_t i%d = 0; i%d < %zu; i%d++)\n", d == 0 ? "JOIST_VECTORIZE_LOOP " : "", d,
        d, walk->extent[d], d);
  add_place(w, out, "z", walk->out_stride, walk->rank);
  ADD(" = %s(", convert);
  add_place(w, in, "x", walk->in_stride, walk->rank);
  ADD(");\n}\n");
}

/* The name of the function that operand k is converted by, or "". */
static struct name conversion(struct writer *w, const struct joist_plan *plan,
                              const struct joist_instruction *i, uint32_t k) {
  const joist_dtype from = plan->program->values[i->operand[k]].type.dtype;
  const joist_dtype to = joist_signature_operand(&i->signature, k);
  struct name name = {""};
  if (from == to) return name;
  joist_c_need_conversion(w, from, to);
  snprintf(name.text, sizeof name.text, "convert_%s_%s", joist_code_dtype(from),
           joist_code_dtype(to));
  return name;
}

static bool keeps_dtype(const struct joist_plan *plan, const struct joist_instruction *i,
                        uint32_t k) {
  return plan->program->values[i->operand[k]].type.dtype ==
         plan->program->values[i->result].type.dtype;
}

/* Whether an operand becomes the dtype of the result, if it is not of it. */
static bool becomes_result(const struct joist_plan *plan, const struct joist_instruction *i,
                           uint32_t k) {
  return joist_signature_operand(&i->signature, k) == plan->program->values[i->result].type.dtype;
}

/* Whether it copies its first operand and then writes elements of the copy, in a form that can be
 * written. No copy is made if both are the same array. */
static bool writes_into(const struct joist_plan *plan, const struct joist_instruction *i) {
  const joist_dtype own = plan->program->values[i->result].type.dtype;
  if (i->op == JOIST_OP_UPDATE) return keeps_dtype(plan, i, 0) && becomes_result(plan, i, 1);
  if (i->op == JOIST_OP_SCATTER_ADD &&
      (!is_scalar(plan, i->operand[1]) || joist_dtype_compute(own) != own))
    return false;
  return (i->op == JOIST_OP_PUT || i->op == JOIST_OP_SCATTER_ADD) && keeps_dtype(plan, i, 0) &&
         becomes_result(plan, i, 2) && plan->program->values[i->operand[1]].type.dtype == JOIST_I64;
}

/* The first operand where the result is. */
static void add_copy(struct writer *w, uint32_t b, const struct joist_instruction *i) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct side in = side_of(w, b, i->operand[0]), out = side_of(w, b, i->result);
  if (in.scalar)
    ADD("%s = %s;\n", out.name.text, in.name.text);
  else if (joist_c_is_local(w, b, i->operand[0]) || joist_c_is_local(w, b, i->result))
    joist_c_add_elements(w, &plan->program->values[i->result], out.name.text, in.name.text);
  else
    joist_c_add_copy(w, out.name.text, in.name.text,
                     joist_value_bytes(&plan->program->values[i->result]));
}

static void add_concatenate(struct writer *w, uint32_t b, const struct joist_instruction *i) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_value *const values = plan->program->values;
  const struct side out = side_of(w, b, i->result);
  size_t first = 0;
  for (uint32_t k = 0; k < i->operand_count; k++) {
    struct joist_walk walk;
    const struct side in = side_of(w, b, i->operand[k]);
    first += joist_walk_part(&values[i->result].shape, &values[i->operand[k]].shape,
                             joist_attribute_dim(i->attributes), first, &walk);
    add_walk(w, &walk, &in, &out, conversion(w, plan, i, k).text);
  }
}

static void add_pad(struct writer *w, uint32_t b, const struct joist_instruction *i) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_value *const values = plan->program->values;
  const struct side in = side_of(w, b, i->operand[0]), fill = side_of(w, b, i->operand[1]);
  const struct side out = side_of(w, b, i->result);
  const struct joist_shape *const from = &values[i->operand[0]].shape;
  const struct joist_shape *const to = &values[i->result].shape;
  struct joist_walk walk;
  for (int edge = 0; joist_walk_pad_edge(from, to, i->attributes, edge, &walk); edge++)
    add_walk(w, &walk, &fill, &out, conversion(w, plan, i, 1).text);
  joist_walk_pad(from, to, i->attributes, &walk);
  if (!w->is_filled) add_walk(w, &walk, &in, &out, "");
  w->is_filled = false;
}

/* Whether nothing but group g reads the array of a value from that group on, and that once. */
static bool is_read_last(const struct joist_plan *plan, uint32_t root, uint32_t g) {
  const struct joist_program *const program = plan->program;
  uint32_t readers = 0;
  for (uint32_t h = g; h < plan->group_count; h++) {
    const struct joist_group *const group = &plan->groups[h];
    const struct joist_instruction *const i = &program->instructions[group->instruction];
    const struct joist_step *const steps = plan->steps + group->first_step;
    for (uint32_t k = 0; group->kind == JOIST_GROUP_ARRAY && k < i->operand_count; k++)
      readers += plan->root[i->operand[k]] == root;
    for (uint32_t s = 0; s < group->step_count; s++)
      for (uint32_t k = 0; k < steps[s].operand_count; k++)
        readers += steps[s].in[k].array && plan->root[steps[s].in[k].index] == root;
  }
  for (uint32_t k = 0; k < program->output_count; k++)
    readers += plan->root[program->outputs[k]] == root ? 2 : 0;
  return readers == 1;
}

/* Whether the arrays of two values can share memory. Those of outputs and inputs are apart from
 * what a body keeps for itself. */
static bool shares_memory(const struct joist_plan *plan, joist_value_id v, joist_value_id other) {
  const struct joist_value *const values = plan->program->values;
  const uint32_t a = plan->root[v], b = plan->root[other];
  const bool scratch = values[a].input == JOIST_NO_INPUT && plan->home[a] == JOIST_NO_HOME;
  if (!scratch) return true;
  if (values[b].input != JOIST_NO_INPUT || plan->home[b] != JOIST_NO_HOME) return false;
  return plan->offset[a] < plan->offset[b] + joist_value_bytes(&values[b]) &&
         plan->offset[b] < plan->offset[a] + joist_value_bytes(&values[a]);
}

bool joist_c_is_padded(const struct writer *w, uint32_t b, uint32_t g, joist_value_id v,
                       struct joist_walk *walk) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_value *const values = plan->program->values;
  if (g + 1 == plan->group_count || plan->groups[g + 1].kind != JOIST_GROUP_ARRAY) return false;
  const struct joist_instruction *const i =
      &plan->program->instructions[plan->groups[g + 1].instruction];
  if (i->op != JOIST_OP_PAD || i->watch != 0 || plan->root[i->operand[0]] != v ||
      !keeps_dtype(plan, i, 0) || !becomes_result(plan, i, 1) || !is_read_last(plan, v, g + 1) ||
      joist_c_is_local(w, b, v) || is_scalar(plan, i->result) || !plan->materialized[i->result])
    return false;
  joist_walk_pad(&values[i->operand[0]].shape, &values[i->result].shape, i->attributes, walk);
  for (uint32_t a = 0; a < w->lowered->array_count; a++) {
    const joist_value_id other = w->lowered->array[a];
    if (other < JOIST_CODE_PARTIAL && !is_scalar(plan, other) &&
        shares_memory(plan, i->result, other))
      return false;
  }
  return walk->count == joist_value_count(&values[v]) && walk->out_stride[0] == 1;
}

static void add_update(struct writer *w, uint32_t b, const struct joist_instruction *i) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_value *const values = plan->program->values;
  const struct side in = side_of(w, b, i->operand[1]), out = side_of(w, b, i->result);
  struct joist_walk walk;
  add_copy(w, b, i);
  joist_walk_update(&values[i->operand[0]].shape, i->attributes,
                    joist_value_count(&values[i->operand[1]]) == 1, &walk);
  add_walk(w, &walk, &in, &out, conversion(w, plan, i, 1).text);
}

static void add_slice(struct writer *w, uint32_t b, const struct joist_instruction *i) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct side in = side_of(w, b, i->operand[0]), out = side_of(w, b, i->result);
  struct joist_walk walk;
  joist_walk_slice(&plan->program->values[i->operand[0]].shape, i->attributes, &walk);
  add_walk(w, &walk, &in, &out, "");
}

static void add_permute(struct writer *w, uint32_t b, const struct joist_instruction *i) {
  const struct joist_program *const program = w->nest->body[b].plan->program;
  const struct joist_shape *const shape = &program->values[i->result].shape;
  const struct side in = side_of(w, b, i->operand[0]), out = side_of(w, b, i->result);
  const struct joist_view to = joist_view_of_array(shape);
  struct joist_view from;
  struct joist_walk walk;
  (void)joist_view_of_move(program, i, &from);
  joist_walk_init(&walk, false);
  for (int d = 0; d < shape->rank; d++)
    joist_walk_add(&walk, shape->extent[d], from.stride[d], to.stride[d], NULL);
  add_walk(w, &walk, &in, &out, "");
}

/* The pointer q to n positions that count from `base`. The interpreter says which of them is out of
 * range. */
static void add_positions(struct writer *w, uint32_t b, uint32_t g, const struct side *positions,
                          size_t n, size_t extent, int base) {
  add_pointer(w, positions, "q", false);
  ADD("int odd = 0;\n");
  ADD("for (size_t k = 0; k < %zu; k++) odd |= (uint64_t)q[k] - %d >= %zu;\n", n, base, extent);
  ADD("if (odd) {\n");
  joist_c_add_call(w, b, g);
  ADD("return 1;\n}\n");
}

static void add_take(struct writer *w, uint32_t b, uint32_t g, const struct joist_instruction *i) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_value *const values = plan->program->values;
  const struct side in = side_of(w, b, i->operand[0]), at = side_of(w, b, i->operand[1]);
  const struct side out = side_of(w, b, i->result);
  const size_t n = joist_value_count(&values[i->result]);
  ADD("{\n");
  add_positions(w, b, g, &at, n, joist_value_count(&values[i->operand[0]]), 0);
  if (!plan->materialized[i->result]) {
    ADD("}\n");
    return;
  }
  add_pointer(w, &in, "x", false);
  add_pointer(w, &out, "z", true);
  ADD("for (size_t k = 0; k < %zu; k++) z[k] = x[q[k]];\n}\n", n);
}

/* Values are put at positions, or added to the only element there. */
static void add_put(struct writer *w, uint32_t b, uint32_t g, const struct joist_instruction *i) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_value *const values = plan->program->values;
  const struct side at = side_of(w, b, i->operand[1]), in = side_of(w, b, i->operand[2]);
  const struct side out = side_of(w, b, i->result);
  const joist_dtype own = values[i->result].type.dtype;
  const size_t n = joist_value_count(&values[i->operand[1]]);
  const struct name convert = conversion(w, plan, i, 2);
  ADD("{\n");
  add_positions(w, b, g, &at, n, joist_value_count(&values[i->operand[0]]), 0);
  add_copy(w, b, i);
  add_pointer(w, &in, "x", false);
  add_pointer(w, &out, "z", true);
  ADD("for (size_t k = 0; k < %zu; k++) z[q[k]] = ", n);
  if (i->op == JOIST_OP_SCATTER_ADD) {
    (void)joist_c_expression_of(w, JOIST_OP_ADD, own);
    ADD("op_ADD_%s(z[q[k]], %s(x[0]));\n}\n", joist_code_dtype(own), convert.text);
  } else {
    ADD("%s(x[%s]);\n}\n", convert.text, in.scalar ? "0" : "k");
  }
}

static void add_gather(struct writer *w, uint32_t b, uint32_t g,
                       const struct joist_instruction *i) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_value *const values = plan->program->values;
  const struct side in = side_of(w, b, i->operand[0]), at = side_of(w, b, i->operand[1]);
  const struct side out = side_of(w, b, i->result);
  const struct joist_lines lines =
      joist_shape_lines(&values[i->operand[0]].shape, joist_attribute_dim(i->attributes));
  const size_t n = joist_value_count(&values[i->operand[1]]);
  ADD("{\n");
  add_positions(w, b, g, &at, n, lines.middle, 1);
  if (!plan->materialized[i->result]) {
    ADD("}\n");
    return;
  }
  add_pointer(w, &in, "x", false);
  add_pointer(w, &out, "z", true);
  ADD("for (size_t o = 0; o < %zu; o++)\nfor (size_t k = 0; k < %zu; k++)\n", lines.outer, n);
  ADD("JOIST_VECTORIZE_LOOP for (size_t r = 0; r < %zu; r++)\n", lines.inner);
  ADD("z[(o * %zu + k) * %zu + r] = x[(o * %zu + (size_t)q[k] - 1) * %zu + r];\n}\n", n,
      lines.inner, lines.middle, lines.inner);
}

static bool is_whole(joist_dtype dtype) {
  const joist_kind kind = joist_dtype_kind(dtype);
  return kind == JOIST_KIND_INT || kind == JOIST_KIND_UINT;
}

/* Whether threads share the work. Elements are put into a large result, too, but few of them. */
static bool is_shared(const struct joist_program *program, const struct joist_instruction *i) {
  return joist_value_count(&program->values[i->result]) >= JOIST_PARALLEL_FROM &&
         (i->op == JOIST_OP_SLICE || i->op == JOIST_OP_PERMUTE || i->op == JOIST_OP_CONCATENATE ||
          i->op == JOIST_OP_GATHER || i->op == JOIST_OP_TAKE);
}

bool joist_c_add_move(struct writer *w, uint32_t b, uint32_t g) {
  const struct joist_plan *const plan = w->nest->body[b].plan;
  const struct joist_instruction *const i =
      &plan->program->instructions[plan->groups[g].instruction];
  bool all = true;
  if (i->watch != 0 || is_shared(plan->program, i)) return false;
  switch (i->op) {
    case JOIST_OP_SLICE:
      add_slice(w, b, i);
      return true;
    case JOIST_OP_PERMUTE:
      add_permute(w, b, i);
      return true;
    case JOIST_OP_CONCATENATE:
      for (uint32_t k = 0; k < i->operand_count; k++) all &= becomes_result(plan, i, k);
      if (all) add_concatenate(w, b, i);
      return all;
    case JOIST_OP_PAD:
      if (!keeps_dtype(plan, i, 0) || !becomes_result(plan, i, 1)) return false;
      add_pad(w, b, i);
      return true;
    case JOIST_OP_UPDATE:
      if (!writes_into(plan, i)) return false;
      add_update(w, b, i);
      return true;
    case JOIST_OP_PUT:
    case JOIST_OP_SCATTER_ADD:
      if (!writes_into(plan, i)) return false;
      add_put(w, b, g, i);
      return true;
    case JOIST_OP_GATHER:
      if (!is_whole(plan->program->values[i->operand[1]].type.dtype)) return false;
      add_gather(w, b, g, i);
      return true;
    case JOIST_OP_TAKE:
      if (plan->program->values[i->operand[1]].type.dtype != JOIST_I64) return false;
      add_take(w, b, g, i);
      return true;
    default: /* of operations: the interpreter runs the others */
      return false;
  }
}
